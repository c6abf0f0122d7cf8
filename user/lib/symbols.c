// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols of ELF files through elfutils, which also finds separate debug files;
 * see symbols.h. The table is copied and sorted once, because looking one address
 * up through the library walks over all symbols.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <gelf.h>
#include "buildid.h"
#include "dwfl.h"
#include "symbols.h"

struct segment {
	uint64_t offset, len, address;
};

struct entry {
	struct kjoule_symbol symbol;
	uint8_t rank;		/* the lower, the better among aliases */
	bool function;		/* else a label, used where no function is */
};

struct kjoule_elf {
	size_t n_segments;
	struct segment *segments;
	size_t n;
	struct entry *entries;	/* functions and labels, by start */
};

static int read_segments(struct kjoule_elf *elf, Elf *e)
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
static uint8_t rank(const GElf_Sym *sym, const char *name)
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

static int read_symbols(struct kjoule_elf *elf, Dwfl_Module *mod)
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
		entry->symbol.name = strdup(name);
		entry->rank = rank(&sym, name);
		entry->function = type != STT_NOTYPE;
		if (!entry->symbol.name)
			return -ENOMEM;
		elf->n++;
	}
	return elf->n ? 0 : -ENODATA;
}

static int by_start(const void *a, const void *b)
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

/* One symbol an address; those without a size reach to the next one. */
static void tidy(struct kjoule_elf *elf)
{
	size_t out = 0;

	qsort(elf->entries, elf->n, sizeof(*elf->entries), by_start);
	for (size_t i = 0; i < elf->n; i++) {
		struct entry *e = &elf->entries[i];

		if (out && elf->entries[out - 1].symbol.start == e->symbol.start) {
			if (elf->entries[out - 1].symbol.end < e->symbol.end)
				elf->entries[out - 1].symbol.end = e->symbol.end;
			free(e->symbol.name);
			continue;
		}
		elf->entries[out++] = *e;
	}
	elf->n = out;
	for (size_t i = 0; i < elf->n; i++) {
		struct kjoule_symbol *s = &elf->entries[i].symbol;

		if (s->end > s->start)
			continue;
		s->end = i + 1 < elf->n ? elf->entries[i + 1].symbol.start : s->start + 4096;
	}
}

static int read_all(struct kjoule_elf *elf, const char *path)
{
	Dwfl_Module *mod;
	GElf_Addr bias;
	Dwfl *dwfl;
	int ret = kjoule_dwfl_open(path, &dwfl, &mod);

	if (ret)
		return ret;
	ret = read_segments(elf, dwfl_module_getelf(mod, &bias));
	if (!ret)
		ret = read_symbols(elf, mod);
	dwfl_end(dwfl);
	return ret;
}

int kjoule_elf_open(const char *path, const char *build_id, struct kjoule_elf **out)
{
	char hex[KJOULE_BUILD_ID_HEX];
	struct kjoule_elf *elf;
	int ret;

	*out = NULL;
	ret = kjoule_elf_file(path);
	if (ret)
		return ret;
	if (build_id) {
		ret = kjoule_build_id(path, hex);
		if (ret && ret != -ENODATA)
			return ret;
		if (strcmp(hex, build_id))
			return -ESTALE;
	}
	elf = calloc(1, sizeof(*elf));
	if (!elf)
		return -ENOMEM;
	ret = read_all(elf, path);
	if (!ret)
		tidy(elf);
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
		free(elf->entries[i].symbol.name);
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

const struct kjoule_symbol *kjoule_elf_find(const struct kjoule_elf *elf, uint64_t address)
{
	const struct kjoule_symbol *label = NULL;
	size_t lo = 0, hi = elf->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (elf->entries[mid].symbol.start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* A label inside a function must not hide it: look a few symbols back. */
	for (size_t i = lo, seen = 0; i-- > 0 && seen < 64; seen++) {
		const struct entry *e = &elf->entries[i];

		if (address >= e->symbol.end)
			continue;
		if (e->function)
			return &e->symbol;
		if (!label)
			label = &e->symbol;
	}
	return label;
}
