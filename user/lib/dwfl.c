// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See dwfl.h.
 */
#include <errno.h>
#include <string.h>
#include "dwfl.h"

static char *debug_path;

/* The name of a debug file is the ELF file's own word: it is a name, not a way to any file. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *debuglink, GElf_Word crc, char **found)
{
	if (debuglink && strchr(debuglink, '/'))
		return -1;
	return dwfl_standard_find_debuginfo(mod, userdata, name, base, file, debuglink, crc, found);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

int kjoule_dwfl_open(const char *path, Dwfl **dwfl, Dwfl_Module **mod)
{
	GElf_Addr bias;

	*dwfl = dwfl_begin(&callbacks);
	if (!*dwfl)
		return -ENOMEM;
	dwfl_report_begin(*dwfl);
	*mod = dwfl_report_elf(*dwfl, path, path, -1, 0, false);
	dwfl_report_end(*dwfl, NULL, NULL);
	if (*mod && dwfl_module_getelf(*mod, &bias))
		return 0;
	dwfl_end(*dwfl);
	*dwfl = NULL;
	return -ENOEXEC;
}
