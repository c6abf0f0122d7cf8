// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code and source lines through elfutils; see code.h.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/hash_index.h"
#include "lib/base/plain_file.h"
#include "lib/code/buildid.h"
#include "lib/code/code.h"
#include "lib/code/dwfl.h"

struct kjoule_code {
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Elf *elf;
	GElf_Addr bias;			/* of elfutils' addresses against the file's own */
	unsigned int machine;
	uid_t owner;
	bool has_function;		/* the last found: addresses come in groups */
	Dwarf_Die function, cu;
	uint32_t looks;			/* at its debug information */
	size_t n_paths;
	char **paths;			/* of source files without a directory */
	struct kjoule_hash_index by_path;
};

int kjoule_code_open(const char *path, struct kjoule_code **out)
{
	struct kjoule_code *code = calloc(1, sizeof(*code));
	GElf_Ehdr ehdr;
	int fd, ret;

	*out = NULL;
	if (!code)
		return -ENOMEM;
	fd = kjoule_elf_file_open(path);
	ret = fd < 0 || kjoule_plain_owner(fd, &code->owner) ? -ENOEXEC : 0;
	if (!ret)
		ret = kjoule_dwfl_open(path, fd, &code->dwfl, &code->mod);
	else if (fd >= 0)
		close(fd);
	if (!ret) {
		code->elf = dwfl_module_getelf(code->mod, &code->bias);
		if (!gelf_getehdr(code->elf, &ehdr))
			ret = -ENOEXEC;
		else
			code->machine = ehdr.e_machine;
	}
	if (ret)
		kjoule_code_close(code);
	else
		*out = code;
	return ret;
}

void kjoule_code_close(struct kjoule_code *code)
{
	if (!code)
		return;
	if (code->dwfl)
		dwfl_end(code->dwfl);
	for (size_t i = 0; i < code->n_paths; i++)
		free(code->paths[i]);
	free(code->paths);
	kjoule_hash_index_free(&code->by_path);
	free(code);
}

uid_t kjoule_code_owner(const struct kjoule_code *code)
{
	return code->owner;
}

unsigned int kjoule_code_machine(const struct kjoule_code *code)
{
	return code->machine;
}

const void *kjoule_code_bytes(struct kjoule_code *code, uint64_t address, size_t *len)
{
	Elf_Scn *scn = NULL;

	*len = 0;
	while ((scn = elf_nextscn(code->elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
		    sh.sh_type != SHT_PROGBITS)
			continue;
		if (address < sh.sh_addr || address - sh.sh_addr >= sh.sh_size)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || data->d_size <= address - sh.sh_addr)
			return NULL;
		*len = data->d_size - (address - sh.sh_addr);
		return (const char *)data->d_buf + (address - sh.sh_addr);
	}
	return NULL;
}

/* A source file's path from the root, if known: some are relative to the compiler's folder. */
static const char *source_whole_path(struct kjoule_code *code, Dwarf_Die *cu, const char *file)
{
	Dwarf_Attribute attr;
	const char *dir;
	size_t probe = 0;
	uint64_t hash;
	uint32_t i;
	char *path, **slot;

	if (!file || file[0] == '/')
		return file;
	dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attr));
	if (!dir)
		return file;
	hash = kjoule_hash_text(kjoule_hash_text(0, dir), file);
	while ((i = kjoule_hash_index_next(&code->by_path, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE) {
		path = code->paths[i];
		if (!strncmp(path, dir, strlen(dir)) && path[strlen(dir)] == '/' &&
		    !strcmp(path + strlen(dir) + 1, file))
			return path;
	}
	if (asprintf(&path, "%s/%s", dir, file) < 0)
		return file;
	slot = kjoule_array_grow(&code->paths, &code->n_paths, sizeof(*slot));
	if (!slot) {
		free(path);
		return file;
	}
	*slot = path;
	/* without memory it is made again */
	kjoule_hash_index_add(&code->by_path, hash, code->n_paths - 1);
	return path;
}

/* The source file of a call, by its number in the list of its compilation unit. */
static const char *call_file(struct kjoule_code *code, Dwarf_Die *cu, Dwarf_Die *inlined)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &number) ||
	    dwarf_getsrcfiles(cu, &files, &n) || number >= n)
		return NULL;
	return source_whole_path(code, cu, dwarf_filesrc(files, number, NULL, NULL));
}

static unsigned int call_line(Dwarf_Die *inlined)
{
	Dwarf_Attribute attr;
	Dwarf_Word line;

	return dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &line) ||
	       line > UINT32_MAX ? 0 : line;
}

/* Limit of nested namespaces, types and blocks. */
#define NESTED_MOST	64

/* A file may contain cycles: so many entries are read altogether. */
#define LOOKS_MOST	(1u << 28)

/* What may contain functions without own code; @deep: some languages nest them. */
static bool die_holds_functions(Dwarf_Die *die, bool deep)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return deep;
	default:
		return false;
	}
}

/* The function around an address. Without recursion: a file may nest to any depth. */
static bool function_look_for(struct kjoule_code *code, Dwarf_Die *cu, Dwarf_Addr pc, bool deep)
{
	Dwarf_Die at[NESTED_MOST];
	unsigned int depth = 0;

	if (dwarf_child(cu, &at[0]))
		return false;
	while (code->looks++ < LOOKS_MOST) {
		if (dwarf_tag(&at[depth]) == DW_TAG_subprogram && dwarf_haspc(&at[depth], pc) ==
		    1) {
			code->cu = *cu;
			code->function = at[depth];
			code->has_function = true;
			return true;
		}
		if (die_holds_functions(&at[depth], deep) && depth + 1 < NESTED_MOST &&
		    !dwarf_child(&at[depth], &at[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&at[depth], &at[depth]))
			if (!depth--)
				return false;
	}
	code->looks = LOOKS_MOST;
	return false;
}

/* Nested functions are looked for only if there is no other: that reads everything. */
static bool function_find(struct kjoule_code *code, Dwarf_Die *cu, Dwarf_Addr pc)
{
	if (code->has_function && code->cu.addr == cu->addr &&
	    dwarf_haspc(&code->function, pc) == 1)
		return true;
	code->has_function = false;
	return function_look_for(code, cu, pc, false) || function_look_for(code, cu, pc, true);
}

/*
 * The part of @die that has the address: a call that was inlined there, or a block of the source.
 */
static bool die_find_inside(struct kjoule_code *code, Dwarf_Die *die, Dwarf_Addr pc,
			    Dwarf_Die *inside)
{
	if (dwarf_child(die, inside))
		return false;
	while (code->looks++ < LOOKS_MOST) {
		int tag = dwarf_tag(inside);

		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(inside, pc) == 1)
			return true;
		if (dwarf_siblingof(inside, inside))
			return false;
	}
	code->looks = LOOKS_MOST;
	return false;
}

/*
 * From the function inwards. Found in that order, they are returned from the innermost outwards:
 * the line itself, then each call's in the function around it. Of too many, calls in the middle are
 * left out.
 */
static size_t calls_find(struct kjoule_code *code, Dwarf_Die *cu, Dwarf_Addr pc,
			 struct kjoule_line *lines)
{
	struct { struct kjoule_line call; const char *function; } found[KJOULE_LINES_MOST];
	Dwarf_Die die = code->function, inside;
	struct kjoule_line line = lines[0];
	size_t n = 1;

	found[0].function = dwarf_diename(&die);
	for (unsigned int depth = 0; depth < NESTED_MOST &&
	     die_find_inside(code, &die, pc, &inside); depth++) {
		die = inside;
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		if (n == KJOULE_LINES_MOST)
			n--;
		found[n].call = (struct kjoule_line){ call_file(code, cu, &die), call_line(&die),
						      NULL };
		found[n++].function = dwarf_diename(&die);
	}
	for (size_t i = 0; i < n; i++) {
		lines[i] = i ? found[n - i].call : line;
		lines[i].function = found[n - 1 - i].function;
	}
	return n;
}

/* The line itself, and the compilation unit. */
static bool line_find(struct kjoule_code *code, uint64_t address, struct kjoule_line *out,
		      Dwarf_Die **cu, Dwarf_Addr *bias)
{
	Dwfl_Line *line = dwfl_module_getsrc(code->mod, address + code->bias);
	int number = 0;

	*out = (struct kjoule_line){ 0 };
	if (!line)
		return false;
	out->file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	out->line = number > 0 ? number : 0;
	*cu = dwfl_module_addrdie(code->mod, address + code->bias, bias);
	if (*cu)
		out->file = source_whole_path(code, *cu, out->file);
	return true;
}

bool kjoule_code_line(struct kjoule_code *code, uint64_t address, struct kjoule_line *line)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu;

	return line_find(code, address, line, &cu, &bias);
}

size_t kjoule_code_lines(struct kjoule_code *code, uint64_t address, struct kjoule_line *lines)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu;

	if (!line_find(code, address, &lines[0], &cu, &bias))
		return 0;
	if (!cu || !function_find(code, cu, address + code->bias - bias))
		return 1;
	return calls_find(code, cu, address + code->bias - bias, lines);
}

/* The rows of a compilation unit's line table. */
static int rows_find(struct kjoule_code *code, Dwarf_Die *cu, Dwarf_Addr bias,
		     bool (*is)(const struct kjoule_line *line, const void *arg), const void *arg,
		     uint64_t **addresses,
		     size_t *n)
{
	Dwarf_Lines *rows;
	size_t n_rows;

	if (dwarf_getsrclines(cu, &rows, &n_rows))
		return 0;
	for (size_t i = 0; i < n_rows; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		struct kjoule_line line = { 0 };
		Dwarf_Addr address;
		uint64_t *slot;
		int number;
		bool end;

		if (dwarf_lineno(row, &number) || number <= 0 || dwarf_lineaddr(row, &address) ||
		    dwarf_lineendsequence(row, &end) || end)
			continue;
		line.line = number;
		line.file = source_whole_path(code, cu, dwarf_linesrc(row, NULL, NULL));
		if (!is(&line, arg))
			continue;
		slot = kjoule_array_grow(addresses, n, sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		*slot = address + bias - code->bias;
	}
	return 0;
}

int kjoule_code_find(struct kjoule_code *code,
		     bool (*is)(const struct kjoule_line *line, const void *arg), const void *arg,
		     uint64_t **addresses, size_t *n)
{
	Dwarf_Die *cu = NULL;
	Dwarf_Addr bias;
	int ret = 0;

	*addresses = NULL;
	*n = 0;
	while (!ret && (cu = dwfl_module_nextcu(code->mod, cu, &bias)))
		ret = rows_find(code, cu, bias, is, arg, addresses, n);
	if (ret) {
		free(*addresses);
		*addresses = NULL;
	}
	return ret;
}
