/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file and its separate debug file, as elfutils opens them.
 */
#ifndef KJOULE_DWFL_H
#define KJOULE_DWFL_H

#include <elfutils/libdwfl.h>

/**
 * kjoule_dwfl_open() - a file by itself, laid out as it was linked
 * @dwfl:	out: for dwfl_end()
 * @mod:	out: the file
 *
 * Debug files are looked for by build id and by .gnu_debuglink in the usual places, and downloaded if
 * DEBUGINFOD_URLS says from where.
 *
 * Return: 0, -ENOEXEC, -ENOMEM
 */
int kjoule_dwfl_open(const char *path, Dwfl **dwfl, Dwfl_Module **mod);

#endif /* KJOULE_DWFL_H */
