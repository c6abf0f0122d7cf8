// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code and source lines through elfutils; see code.h.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code.h"
#include "dwfl.h"
#include "grow.h"
#include "index.h"

struct kjoule_code {
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Elf *elf;
	GElf_Addr bias;			/* of elfutils' addresses against the file's own */
	unsigned int machine;
	size_t n_paths;
	char **paths;			/* of source files that are told without their directory */
	struct kjoule_index by_path;
};

int kjoule_code_open(const char *path, struct kjoule_code **out)
{
	struct kjoule_code *code = calloc(1, sizeof(*code));
	GElf_Ehdr ehdr;
	int ret;

	*out = NULL;
	if (!code)
		return -ENOMEM;
	ret = kjoule_dwfl_open(path, &code->dwfl, &code->mod);
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
	kjoule_index_free(&code->by_path);
	free(code);
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

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) || sh.sh_type != SHT_PROGBITS)
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

/* A source file's path from the root, as far as the compiler was told: some names are seen from where it ran. */
static const char *whole_path(struct kjoule_code *code, Dwarf_Die *cu, const char *file)
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
	hash = kjoule_index_hash(kjoule_index_hash(0, dir), file);
	while ((i = kjoule_index_next(&code->by_path, hash, &probe)) != KJOULE_INDEX_NONE) {
		path = code->paths[i];
		if (!strncmp(path, dir, strlen(dir)) && path[strlen(dir)] == '/' && !strcmp(path + strlen(dir) + 1, file))
			return path;
	}
	if (asprintf(&path, "%s/%s", dir, file) < 0)
		return file;
	slot = kjoule_grow(&code->paths, &code->n_paths, sizeof(*slot));
	if (!slot) {
		free(path);
		return file;
	}
	*slot = path;
	/* without memory it is only made again */
	kjoule_index_add(&code->by_path, hash, code->n_paths - 1);
	return path;
}

/* The source file that a call was in, by its number in the list of its compilation unit. */
static const char *call_file(struct kjoule_code *code, Dwarf_Die *cu, Dwarf_Die *inlined)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &number) ||
	    dwarf_getsrcfiles(cu, &files, &n) || number >= n)
		return NULL;
	return whole_path(code, cu, dwarf_filesrc(files, number, NULL, NULL));
}

static unsigned int call_line(Dwarf_Die *inlined)
{
	Dwarf_Attribute attr;
	Dwarf_Word line;

	return dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &line) || line > UINT32_MAX ? 0 : line;
}

/* From the innermost function outwards: each call's line follows the function that was inlined there. */
static size_t add_functions(struct kjoule_code *code, Dwarf_Die *cu, Dwarf_Die *scopes, int n_scopes, struct kjoule_line *lines)
{
	size_t n = 1;

	for (int i = 0; i < n_scopes; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		lines[n - 1].function = dwarf_diename(&scopes[i]);
		if (tag == DW_TAG_subprogram || n == KJOULE_LINES_MOST)
			break;
		lines[n++] = (struct kjoule_line){ call_file(code, cu, &scopes[i]), call_line(&scopes[i]),
						     NULL };
	}
	return n;
}

size_t kjoule_code_lines(struct kjoule_code *code, uint64_t address, struct kjoule_line *lines)
{
	Dwarf_Die *cu, *scopes = NULL, *around = NULL;
	Dwfl_Line *line = dwfl_module_getsrc(code->mod, address + code->bias);
	Dwarf_Addr bias;
	int n, number = 0;
	size_t found = 1;

	if (!line)
		return 0;
	lines[0] = (struct kjoule_line){ 0 };
	lines[0].file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	lines[0].line = number > 0 ? number : 0;
	cu = dwfl_module_addrdie(code->mod, address + code->bias, &bias);
	if (!cu)
		return found;
	lines[0].file = whole_path(code, cu, lines[0].file);
	n = dwarf_getscopes(cu, address + code->bias - bias, &scopes);
	if (n > 0) {
		/* outwards by what is around in the machine's code, not in the source */
		n = dwarf_getscopes_die(&scopes[0], &around);
		if (n > 0)
			found = add_functions(code, cu, around, n, lines);
	}
	free(around);
	free(scopes);
	return found;
}
