// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols of ELF files through elfutils, which also finds separate debug files; see symbols.h. The
 * table is copied and sorted once, because the library's own lookup is a linear search.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <gelf.h>
#include "lib/base/array.h"
#include "lib/base/search.h"
#include "lib/code/buildid.h"
#include "lib/code/demangle.h"
#include "lib/code/dwfl.h"
#include "lib/code/symbols.h"

struct segment {
	uint64_t offset, len, address;
};

struct entry {
	struct kjoule_symbol symbol;
	char *linkage;		/* its name in the file, NULL: the same */
	uint8_t rank;		/* rank among aliases, lower is better */
	bool function;		/* else a label, used where no function is */
};

struct kjoule_elf {
	size_t n_segments;
	struct segment *segments;
	size_t n;
	struct entry *entries;	/* functions and labels, by start */
};

static int elf_read_segments(struct kjoule_elf *elf, Elf *e)
{
	size_t n;

	if (elf_getphdrnum(e, &n))
		return -ENOEXEC;
	elf->segments = calloc(n + 1, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(e, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		elf->segments[elf->n_segments++] = (struct segment){
			ph.p_offset, ph.p_filesz, ph.p_vaddr };
	}
	return 0;
}

/* Global before weak before local, and plain names before decorated ones. */
static uint8_t symbol_rank(const GElf_Sym *sym, const char *name)
{
	size_t underscores = strspn(name, "_");
	uint8_t r;

	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
		r = 0;
		break;
	case STB_WEAK:
		r = 64;
		break;
	default:
		r = 128;
	}
	return r + (underscores > 63 ? 63 : underscores);
}

static int elf_read_symbols(struct kjoule_elf *elf, Dwfl_Module *mod)
{
	int n = dwfl_module_getsymtab(mod);
	GElf_Addr bias;

	if (n <= 0 || !dwfl_module_getelf(mod, &bias))
		return -ENODATA;
	elf->entries = calloc(n, sizeof(*elf->entries));
	if (!elf->entries)
		return -ENOMEM;
	for (int i = 1; i < n; i++) {
		struct entry *entry = &elf->entries[elf->n];
		GElf_Word shndx;
		GElf_Addr addr;
		GElf_Sym sym;
		const char *name = dwfl_module_getsym_info(mod, i, &sym, &addr, &shndx, NULL, NULL);
		int type = GELF_ST_TYPE(sym.st_info);

		if (!name || !*name || shndx == SHN_UNDEF || shndx == SHN_ABS || !sym.st_value)
			continue;
		if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
			continue;
		entry->symbol.start = addr - bias;
		entry->symbol.end = addr - bias + sym.st_size;
		entry->symbol.name = kjoule_demangle(name);
		entry->linkage = entry->symbol.name ? strdup(name) : NULL;
		if (!entry->symbol.name)
			entry->symbol.name = strdup(name);
		entry->rank = symbol_rank(&sym, name);
		entry->function = type != STT_NOTYPE;
		if (!entry->symbol.name)
			return -ENOMEM;
		elf->n++;
	}
	return elf->n ? 0 : -ENODATA;
}

static int symbol_by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->symbol.start != y->symbol.start)
		return x->symbol.start < y->symbol.start ? -1 : 1;
	if (x->function != y->function)
		return x->function ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->symbol.name, y->symbol.name);
}

static void entry_free(struct entry *e)
{
	free(e->symbol.name);
	free(e->linkage);
}

/* One symbol an address. */
static void symbols_tidy(struct kjoule_elf *elf)
{
	size_t out = 0;

	if (elf->n)
		qsort(elf->entries, elf->n, sizeof(*elf->entries), symbol_by_start);
	for (size_t i = 0; i < elf->n; i++) {
		struct entry *e = &elf->entries[i];

		if (out && elf->entries[out - 1].symbol.start == e->symbol.start) {
			if (elf->entries[out - 1].symbol.end < e->symbol.end)
				elf->entries[out - 1].symbol.end = e->symbol.end;
			entry_free(e);
			continue;
		}
		elf->entries[out++] = *e;
	}
	elf->n = out;
}

/* What has no size reaches to the next one. */
static void symbols_set_ends(struct kjoule_elf *elf)
{
	for (size_t i = 0; i < elf->n; i++) {
		struct kjoule_symbol *s = &elf->entries[i].symbol;

		if (s->end <= s->start)
			s->end = i + 1 < elf->n ? elf->entries[i + 1].symbol.start :
				 s->start + 4096;
	}
}

/* Limits the answer to where @symbol begins or ends. */
static void range_clip(uint64_t address, uint64_t begin, uint64_t end, uint64_t *low,
		       uint64_t *high)
{
	if (address >= end) {
		*low = end > *low ? end : *low;
		return;
	}
	*low = begin > *low ? begin : *low;
	*high = end < *high ? end : *high;
}

const struct kjoule_symbol *kjoule_elf_find_around(const struct kjoule_elf *elf, uint64_t address,
						   uint64_t *low, uint64_t *high)
{
	const struct kjoule_symbol *label = NULL;
	size_t lo = kjoule_count_members(elf->entries, elf->n, symbol.start, address);

	*low = 0;
	*high = lo < elf->n ? elf->entries[lo].symbol.start : UINT64_MAX;
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct segment *s = &elf->segments[i];

		if (address - s->address < s->len)
			range_clip(address, s->address, s->address + s->len, low, high);
	}
	/* A label inside a function must not hide it: look a few symbols back. */
	for (size_t i = lo, seen = 0; i-- > 0 && seen < 64; seen++) {
		const struct entry *e = &elf->entries[i];

		range_clip(address, i + 1 == lo ? e->symbol.start : 0, e->symbol.end, low, high);
		if (address >= e->symbol.end)
			continue;
		if (e->function)
			return &e->symbol;
		if (!label)
			label = &e->symbol;
	}
	return label;
}

const struct kjoule_symbol *kjoule_elf_find(const struct kjoule_elf *elf, uint64_t address)
{
	uint64_t low, high;

	return kjoule_elf_find_around(elf, address, &low, &high);
}

/* Functions of stripped files: only the unwinding table has them, without a name. */
struct unwinding {
	uint64_t table_at, frames_at;	/* addresses of .eh_frame_hdr and .eh_frame */
	const Elf_Data *table, *frames;
};

static const Elf_Data *section_find(Elf *e, const char *wanted, uint64_t *address)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(e, &names))
		return NULL;
	while ((scn = elf_nextscn(e, scn))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(e, names, sh.sh_name);
		if (!name || strcmp(name, wanted))
			continue;
		*address = sh.sh_addr;
		return elf_rawdata(scn, NULL);
	}
	return NULL;
}

#define SECTIONS_MOST	256

/* The name of the section around an address if that is not where programs are, such as ".plt". */
static char *section_name_at(Elf *e, uint64_t address)
{
	Elf_Scn *scn = NULL;
	char *text = NULL;
	size_t names, n;
	bool look = !elf_getshdrnum(e, &n) && n <= SECTIONS_MOST && !elf_getshdrstrndx(e, &names);

	while (look && (scn = elf_nextscn(e, scn))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
		    address - sh.sh_addr >= sh.sh_size)
			continue;
		name = elf_strptr(e, names, sh.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			return asprintf(&text, "[%s]", name) < 0 ? NULL : text;
	}
	return asprintf(&text, "0x%" PRIx64, address) < 0 ? NULL : text;
}

static uint32_t data_word_at(const Elf_Data *data, uint64_t offset)
{
	uint32_t word;

	memcpy(&word, (const char *)data->d_buf + offset, sizeof(word));
	return word;
}

/*
 * The table's entry @i: where a function begins, and where its unwinding information ends. Both are
 * 4 bytes in the only encodings that linkers write, relative to where they are; another encoding
 * shows as a different begin. Return: false if invalid
 */
static bool unwinding_read_entry(const struct unwinding *u, uint64_t i, uint64_t *start,
				 uint64_t *end)
{
	uint64_t at = u->table_at + (int32_t)data_word_at(u->table, 16 + 8 * i) - u->frames_at;

	*start = u->table_at + (int32_t)data_word_at(u->table, 12 + 8 * i);
	if (u->frames->d_size < 16 || at > u->frames->d_size - 16 || data_word_at(u->frames, at) ==
	    UINT32_MAX || u->frames_at + at + 8 + (int32_t)data_word_at(u->frames, at + 8) !=
	    *start)
		return false;
	*end = *start + data_word_at(u->frames, at + 12);
	return *end > *start;
}

/* Version 1, and the encodings of a binary search table as linkers write it. */
static bool unwinding_find(Elf *e, struct unwinding *u)
{
	static const uint8_t usual[] = { 1, 0x1b, 0x03, 0x3b };

	u->table = section_find(e, ".eh_frame_hdr", &u->table_at);
	u->frames = section_find(e, ".eh_frame", &u->frames_at);
	return u->table && u->frames && u->table->d_buf && u->frames->d_buf &&
	       u->table->d_size >= 12 &&
	       !memcmp(u->table->d_buf, usual, sizeof(usual));
}

static bool symbol_is_function(const struct kjoule_symbol *s)
{
	return ((const struct entry *)((const char *)s - offsetof(struct entry, symbol)))->function;
}

static int elf_add_unnamed(struct kjoule_elf *elf, Elf *e)
{
	struct entry *unnamed = NULL, *all;
	struct unwinding u;
	size_t n = 0;
	int ret = 0;

	if (!unwinding_find(e, &u))
		return 0;
	for (uint64_t i = 0; i < (u.table->d_size - 12) / 8 && !ret; i++) {
		const struct kjoule_symbol *known;
		struct entry *entry;
		uint64_t start, end;
		char *name;

		if (!unwinding_read_entry(&u, i, &start, &end))
			continue;
		known = kjoule_elf_find(elf, start);
		if (known && symbol_is_function(known))
			continue;
		name = section_name_at(e, start);
		entry = name ? kjoule_array_grow(&unnamed, &n, sizeof(*entry)) : NULL;
		if (entry)
			*entry = (struct entry){ .symbol = { start, end, name },
						 .rank = UINT8_MAX };
		else
			free(name);
		ret = entry ? 0 : -ENOMEM;
	}
	all = realloc(elf->entries, (elf->n + n + 1) * sizeof(*all));
	if (all)
		elf->entries = all;
	else
		ret = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (ret)
			free(unnamed[i].symbol.name);
		else
			elf->entries[elf->n++] = unnamed[i];
	}
	free(unnamed);
	return ret;
}

/* Consumes @fd. */
static int elf_read_all(struct kjoule_elf *elf, const char *path, int fd)
{
	Dwfl_Module *mod;
	GElf_Addr bias;
	Dwfl *dwfl;
	Elf *e;
	int ret = kjoule_dwfl_open(path, fd, &dwfl, &mod);

	if (ret)
		return ret;
	e = dwfl_module_getelf(mod, &bias);
	ret = elf_read_segments(elf, e);
	if (!ret)
		ret = elf_read_symbols(elf, mod);
	if (!ret || ret == -ENODATA) {
		symbols_tidy(elf);
		ret = elf_add_unnamed(elf, e);
		symbols_tidy(elf);
		symbols_set_ends(elf);
	}
	dwfl_end(dwfl);
	return ret ? ret : elf->n ? 0 : -ENODATA;
}

int kjoule_elf_open(const char *path, const char *build_id, struct kjoule_elf **out)
{
	char hex[KJOULE_BUILD_ID_HEX];
	struct kjoule_elf *elf;
	int fd, ret;

	*out = NULL;
	fd = kjoule_elf_file_open(path);
	if (fd < 0)
		return fd;
	if (build_id) {
		kjoule_build_id_of(fd, hex);
		if (strcmp(hex, build_id)) {
			close(fd);
			return -ESTALE;
		}
	}
	elf = calloc(1, sizeof(*elf));
	if (!elf) {
		close(fd);
		return -ENOMEM;
	}
	ret = elf_read_all(elf, path, fd);
	if (ret) {
		kjoule_elf_close(elf);
		return ret;
	}
	*out = elf;
	return 0;
}

void kjoule_elf_close(struct kjoule_elf *elf)
{
	if (!elf)
		return;
	for (size_t i = 0; i < elf->n; i++)
		entry_free(&elf->entries[i]);
	free(elf->entries);
	free(elf->segments);
	free(elf);
}

int kjoule_elf_address(const struct kjoule_elf *elf, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct segment *s = &elf->segments[i];

		if (offset - s->offset < s->len) {
			*address = offset - s->offset + s->address;
			return 0;
		}
	}
	return -ENOENT;
}

int kjoule_elf_offset(const struct kjoule_elf *elf, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct segment *s = &elf->segments[i];

		if (address - s->address < s->len) {
			*offset = address - s->address + s->offset;
			return 0;
		}
	}
	return -ENOENT;
}

const struct kjoule_symbol *kjoule_elf_named(const struct kjoule_elf *elf, const char *name,
					     bool *several)
{
	const struct kjoule_symbol *found = NULL, *linked = NULL;
	bool several_linked = false;

	*several = false;
	for (size_t i = 0; i < elf->n; i++) {
		const struct entry *e = &elf->entries[i];

		/* several only for static functions and unnamed namespaces */
		if (e->function && e->linkage && !strcmp(e->linkage, name)) {
			several_linked |= linked && linked->start != e->symbol.start;
			if (!linked)
				linked = &e->symbol;
		}
		if (!e->function || !kjoule_name_is(e->symbol.name, name))
			continue;
		/* what a compiler has split off is a part of the function that has the name */
		if (found && kjoule_name_is_part(e->symbol.name))
			continue;
		*several |= found && !kjoule_name_is_part(found->name);
		if (!found || kjoule_name_is_part(found->name))
			found = &e->symbol;
	}
	if (linked)
		*several = several_linked;
	return linked ? linked : found;
}
