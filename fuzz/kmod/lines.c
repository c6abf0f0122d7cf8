// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From places in kjoule.ko to lines of its sources, by the module's own line table
 * (libdw) and its calls of KCOV (libelf); see coverage.h, which states the rule.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "coverage.h"

#define CALL_BYTES	5	/* of a call on x86-64: KCOV tells where it returns to */
#define MAX_LINES	8192	/* of a source file */

static bool fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	return false;
}

static struct cover_section *find_section(struct cover *c, const char *name)
{
	unsigned int i;

	for (i = 0; i < c->n; i++) {
		if (!strcmp(c->section[i].name, name))
			return &c->section[i];
	}
	return NULL;
}

static const char *section_name(Elf *elf, Elf_Scn *scn, GElf_Shdr *shdr)
{
	size_t names;

	if (!scn || !gelf_getshdr(scn, shdr) || elf_getshdrstrndx(elf, &names))
		return "";
	return elf_strptr(elf, names, shdr->sh_name) ?: "";
}

/* The calls of KCOV's, by the relocations that name it. */
static void find_sites(struct cover *c, Elf *elf, Elf_Scn *scn, const GElf_Shdr *rela)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols;
	GElf_Shdr of, symtab;
	struct cover_section *s =
		find_section(c, section_name(elf, elf_getscn(elf, rela->sh_info), &of));
	Elf_Scn *symscn = elf_getscn(elf, rela->sh_link);
	GElf_Rela r;
	GElf_Sym sym;
	size_t i;

	if (!s || !data || !symscn || !gelf_getshdr(symscn, &symtab))
		return;
	symbols = elf_getdata(symscn, NULL);
	for (i = 0; gelf_getrela(data, i, &r); i++) {
		const char *name;

		if (!gelf_getsym(symbols, GELF_R_SYM(r.r_info), &sym))
			continue;
		name = elf_strptr(elf, symtab.sh_link, sym.st_name);
		/* the relocation is that of the call's last four bytes */
		if (name && !strcmp(name, "__sanitizer_cov_trace_pc") && r.r_offset + 4 < s->size)
			s->site[r.r_offset + 4] = 1;
	}
}

static void *shared(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

bool cover_load(struct cover *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned int sites = 0, i;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	uint64_t at;
	Elf *elf;

	memset(c, 0, sizeof(*c));
	snprintf(c->path, sizeof(c->path), "%s", path);
	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return fail(path, fd < 0 ? strerror(errno) : elf_errmsg(-1));
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = section_name(elf, scn, &shdr);
		struct cover_section *s = &c->section[c->n];

		if (!(shdr.sh_flags & SHF_EXECINSTR) || !shdr.sh_size || c->n == COVER_SECTIONS)
			continue;
		snprintf(s->name, sizeof(s->name), "%s", name);
		s->size = shdr.sh_size;
		s->site = calloc(1, s->size + 1);
		s->seen = shared(s->size + 1);
		if (!s->site || s->seen == MAP_FAILED)
			return fail(path, "no memory");
		c->n++;
	}
	for (scn = NULL; (scn = elf_nextscn(elf, scn));) {
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_RELA)
			find_sites(c, elf, scn, &shdr);
	}
	elf_end(elf);
	close(fd);
	for (i = 0; i < c->n; i++) {
		for (at = 0; at < c->section[i].size; at++)
			sites += c->section[i].site[at];
	}
	return sites ? true : fail(path, "was not built with KCOV");
}

bool cover_read(struct cover *c, const char *file)
{
	FILE *f = fopen(file, "r");
	unsigned long long at;
	bool good = f;
	char name[32];

	if (!f)
		return fail(file, strerror(errno));
	while (good && fscanf(f, "%31s %llx", name, &at) == 2) {
		struct cover_section *s = find_section(c, name);

		good = s && at < s->size && s->site[at];
		if (good)
			s->seen[at] = 1;
	}
	fclose(f);
	return good || fail(file, "was made with another kjoule.ko");
}

bool cover_write(const struct cover *c, const char *file)
{
	FILE *f = fopen(file, "w");
	unsigned int i;
	uint64_t at;

	if (!f)
		return fail(file, strerror(errno));
	for (i = 0; i < c->n; i++) {
		for (at = 0; at < c->section[i].size; at++) {
			if (c->section[i].seen[at] && c->section[i].site[at])
				fprintf(f, "%s %llx\n", c->section[i].name, (unsigned long long)at);
		}
	}
	return !fclose(f) || fail(file, strerror(errno));
}

/* One file's lines. */
struct table {
	const struct cover *cover;
	const char *file;
	char path[512];			/* of its source */
	uint8_t code[MAX_LINES];
	uint8_t reached[MAX_LINES];
	uint8_t *counted[COVER_SECTIONS];	/* calls of KCOV's that were */
	struct cover_count count;
};

/* The call of KCOV's that a place goes with, as an offset in @s; 0 if there is none. */
static uint64_t site_of(const struct cover_section *s, uint64_t at, uint64_t from, uint64_t to)
{
	uint64_t site;

	for (site = at + CALL_BYTES; site >= from + CALL_BYTES; site--) {
		if (site < s->size && s->site[site])
			return site;
	}
	for (site = at + CALL_BYTES; site < to; site++) {
		if (s->site[site])
			return site;
	}
	return 0;
}

/* The function around @address, as offsets in its section. */
static bool function_at(Dwfl_Module *module, GElf_Addr address, GElf_Addr base, uint64_t *from,
			uint64_t *to)
{
	GElf_Off off;
	GElf_Sym sym;

	if (!dwfl_module_addrinfo(module, address, &off, &sym, NULL, NULL, NULL))
		return false;
	*from = address - off - base;
	*to = *from + sym.st_size;
	return true;
}

static void add_row(struct table *t, Dwfl_Module *module, GElf_Addr address, int line)
{
	GElf_Addr relative = address;
	int index = dwfl_module_relocate_address(module, &relative);
	const char *name = index < 0 ? NULL : dwfl_module_relocation_info(module, index, NULL);
	struct cover_section *s = name ? find_section((struct cover *)t->cover, name) : NULL;
	uint64_t from, to, site;

	if (!s || relative >= s->size ||
	    !function_at(module, address, address - relative, &from, &to))
		return;
	t->code[line] = 1;
	site = site_of(s, relative, from, to);
	if (!site)
		return;
	t->reached[line] |= s->seen[site];
	if (!t->counted[s - t->cover->section][site]) {
		t->counted[s - t->cover->section][site] = 1;
		t->count.blocks++;
		t->count.passed += s->seen[site];
	}
}

/* Does @path name the module's source @file, not one of that name elsewhere? */
static bool is_file(const char *path, const char *file)
{
	size_t path_len = strlen(path), len = strlen(file);

	return path_len > len && !strcmp(path + path_len - len, file) &&
	       path[path_len - len - 1] == '/' &&
	       path_len > len + 7 && !strncmp(path + path_len - len - 8, "/kjoule/", 8);
}

static void add_unit(struct table *t, Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr bias)
{
	Dwarf_Lines *lines;
	size_t n, i;

	if (dwarf_getsrclines(unit, &lines, &n))
		return;
	for (i = 0; i + 1 < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i),
			*next = dwarf_onesrcline(lines, i + 1);
		bool begins = false, ends = false;
		Dwarf_Addr at, after;
		const char *path;
		int line;

		dwarf_linebeginstatement(row, &begins);
		dwarf_lineendsequence(row, &ends);
		path = dwarf_linesrc(row, NULL, NULL);
		if (!begins || ends || !path || !is_file(path, t->file) ||
		    dwarf_lineno(row, &line) || dwarf_lineaddr(row, &at) ||
		    dwarf_lineaddr(next, &after) || at == after)
			continue;
		snprintf(t->path, sizeof(t->path), "%s", path);
		if (line > 0 && line < MAX_LINES)
			add_row(t, module, at + bias, line);
	}
}

static void show_unreached(const struct table *t)
{
	FILE *f = fopen(t->path, "r");
	char text[512];
	int line = 0;

	while (f && fgets(text, sizeof(text), f) && ++line < MAX_LINES) {
		text[strcspn(text, "\n")] = '\0';
		if (t->code[line] && !t->reached[line])
			printf("#   %s:%d: %s\n", t->file, line, text + strspn(text, "\t "));
	}
	if (f)
		fclose(f);
}

struct cover_count cover_lines(const struct cover *c, const char *file, bool show)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	struct cover_count none = { 0 };
	struct table *t = calloc(1, sizeof(*t));
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	unsigned int i;
	int line;

	if (!t || !dwfl)
		return none;
	t->cover = c;
	t->file = file;
	for (i = 0; i < c->n; i++)
		t->counted[i] = calloc(1, c->section[i].size + 1);
	module = dwfl_report_offline(dwfl, "kjoule", c->path, -1);
	dwfl_report_end(dwfl, NULL, NULL);
	while (module && (unit = dwfl_module_nextcu(module, unit, &bias)))
		add_unit(t, module, unit, bias);
	for (line = 0; line < MAX_LINES; line++) {
		t->count.lines += t->code[line];
		t->count.reached += t->code[line] && t->reached[line];
	}
	if (show)
		show_unreached(t);
	none = t->count;
	for (i = 0; i < c->n; i++)
		free(t->counted[i]);
	dwfl_end(dwfl);
	free(t);
	return none;
}
