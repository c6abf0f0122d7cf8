// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See dwfl.h. By default elfutils opens every name that an ELF file has for its debug files, also a
 * device or a FIFO. So its callbacks never return a name, and return an empty file if elfutils
 * would look for one itself.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/plain_file.h"
#include "lib/code/buildid.h"
#include "lib/code/debug_file.h"
#include "lib/code/dwfl.h"

/* Where elfutils finds nothing by itself: no user can make a file there. */
static char *no_debug_path = "/proc/self/none";

static int elf_find_none(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			 char **path, Elf **elf)
{
	(void)mod, (void)userdata, (void)name, (void)base, (void)path, (void)elf;
	return -1;
}

/*
 * The shared part of debug information. If none is given, libdw opens the name when it comes to the
 * first string that is in there.
 */
static int debug_alternative_open(const char *file, const char *link, uid_t owner, char **found)
{
	int fd = kjoule_debug_file_open_alternative(file, link, owner, found);

	return fd < 0 ? kjoule_debug_file_empty() : fd;
}

/* elfutils requests both kinds, and has a checksum only for one of them. */
static int debug_find(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		      const char *file, const char *link, GElf_Word crc, char **found)
{
	char hex[KJOULE_BUILD_ID_HEX] = "";
	const uid_t owner = (uintptr_t)*userdata;
	const unsigned char *id;
	GElf_Addr at;
	int len, fd;

	*found = NULL;
	if (link && !crc)
		return debug_alternative_open(file, link, owner, found);
	len = dwfl_module_build_id(mod, &id, &at);
	if (len > 0)
		kjoule_build_id_format(hex, id, len);
	fd = kjoule_debug_file_open(file, hex[0] ? hex : NULL, link, crc, owner, found);
	/* elfutils may still download it */
	if (fd < 0 && hex[0] && getenv("DEBUGINFOD_URLS"))
		fd = dwfl_standard_find_debuginfo(mod, userdata, name, base, NULL, NULL, 0, found);
	return fd < 0 ? -1 : fd;
}

const Dwfl_Callbacks kjoule_dwfl_callbacks = {
	.find_elf = elf_find_none,
	.find_debuginfo = debug_find,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_debug_path,
};

Dwfl_Module *kjoule_dwfl_report(Dwfl *dwfl, const char *path, int fd, GElf_Addr base, bool is_bias)
{
	uid_t uid = 0;
	Dwfl_Module *mod = kjoule_plain_owner(fd, &uid) ?
			   NULL : dwfl_report_elf(dwfl, path, path, fd, base, is_bias);
	void **owner;

	if (!mod) {
		close(fd);
		return NULL;
	}
	dwfl_module_info(mod, &owner, NULL, NULL, NULL, NULL, NULL, NULL);
	*owner = (void *)(uintptr_t)uid;
	return mod;
}

int kjoule_dwfl_open(const char *path, int fd, Dwfl **dwfl, Dwfl_Module **mod)
{
	GElf_Addr bias;

	*dwfl = dwfl_begin(&kjoule_dwfl_callbacks);
	if (!*dwfl) {
		close(fd);
		return -ENOMEM;
	}
	dwfl_report_begin(*dwfl);
	*mod = kjoule_dwfl_report(*dwfl, path, fd, 0, false);
	dwfl_report_end(*dwfl, NULL, NULL);
	if (*mod && dwfl_module_getelf(*mod, &bias))
		return 0;
	dwfl_end(*dwfl);
	*dwfl = NULL;
	return -ENOEXEC;
}
