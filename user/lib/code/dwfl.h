/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file and its debug files, for elfutils, which gets descriptors of checked files. */
#ifndef KJOULE_DWFL_H
#define KJOULE_DWFL_H

#include <stdbool.h>
#include <elfutils/libdwfl.h>

/* For dwfl_begin(), wherever files are passed as descriptors. */
extern const Dwfl_Callbacks kjoule_dwfl_callbacks;

/**
 * kjoule_dwfl_report() - pass a file to elfutils
 * @fd: the file, of kjoule_elf_file_open(); it is closed here, or by dwfl_end()
 * @base, @is_bias: for dwfl_report_elf()
 * Return: NULL if it cannot be used
 */
Dwfl_Module *kjoule_dwfl_report(Dwfl *dwfl, const char *path, int fd, GElf_Addr base, bool is_bias);

/**
 * kjoule_dwfl_open() - a single file, laid out as it was linked
 * @path: its name: separate debug files are looked for next to it
 * @fd: the file, as for kjoule_dwfl_report()
 * @dwfl: out: for dwfl_end()
 * @mod: out: the file
 *
 * Debug files are looked for by build id and by .gnu_debuglink in the usual places, and downloaded
 * if DEBUGINFOD_URLS is set. They must be root's, ours, or of the same owner as the file.
 *
 * Return: 0, -ENOEXEC, -ENOMEM
 */
int kjoule_dwfl_open(const char *path, int fd, Dwfl **dwfl, Dwfl_Module **mod);

#endif /* KJOULE_DWFL_H */
