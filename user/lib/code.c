// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code and source lines through elfutils; see code.h.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include "code.h"
#include "dwfl.h"

struct kjoule_code {
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Elf *elf;
	GElf_Addr bias;			/* of elfutils' addresses against the file's own */
	unsigned int machine;
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

/* The source file that a call was in, by its number in the list of its compilation unit. */
static const char *call_file(Dwarf_Die *cu, Dwarf_Die *inlined)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &number) ||
	    dwarf_getsrcfiles(cu, &files, &n) || number >= n)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

static unsigned int call_line(Dwarf_Die *inlined)
{
	Dwarf_Attribute attr;
	Dwarf_Word line;

	return dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &line) || line > UINT32_MAX ? 0 : line;
}

/* From the innermost function outwards: each call's line follows the function that was inlined there. */
static size_t add_functions(Dwarf_Die *cu, Dwarf_Die *scopes, int n_scopes, struct kjoule_line *lines)
{
	size_t n = 1;

	for (int i = 0; i < n_scopes; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		lines[n - 1].function = dwarf_diename(&scopes[i]);
		if (tag == DW_TAG_subprogram || n == KJOULE_LINES_MOST)
			break;
		lines[n++] = (struct kjoule_line){ call_file(cu, &scopes[i]), call_line(&scopes[i]), NULL };
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
	n = dwarf_getscopes(cu, address + code->bias - bias, &scopes);
	if (n > 0) {
		/* outwards by what is around in the machine's code, not in the source */
		n = dwarf_getscopes_die(&scopes[0], &around);
		if (n > 0)
			found = add_functions(cu, around, n, lines);
	}
	free(around);
	free(scopes);
	return found;
}
