/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Separate debug files of an ELF file: where they may be, and whether they belong to it. The names
 * come from the ELF file, which is untrusted.
 */
#ifndef KJOULE_DEBUG_FILE_H
#define KJOULE_DEBUG_FILE_H

#include <stdint.h>
#include <sys/types.h>

/**
 * kjoule_debug_file_open() - the file that has the symbols and debug information of another
 * @file: path of the ELF file, or NULL
 * @build_id: of the ELF file, in hex; NULL: it has none
 * @link: the name in its .gnu_debuglink; NULL: it has none. Only a name, no path
 * @crc: the checksum there
 * @owner: of the ELF file
 * @found: out: the path, to be freed
 *
 * Looks in /usr/lib/debug by build id, then next to @file, in .debug there, and in the folder of
 * the same name under /usr/lib/debug. The file must have the same build id or checksum, and be
 * root's, ours or @owner's, for debug information names source files that are shown with our
 * rights.
 *
 * Return: a descriptor, or -ENOENT
 */
int kjoule_debug_file_open(const char *file, const char *build_id, const char *link, uint32_t crc,
			   uid_t owner, char **found);

/**
 * kjoule_debug_file_open_alternative() - the file that several debug files share (dwz)
 * @file: path of the ELF file that names it in .gnu_debugaltlink
 * @link: the name there; looked for only under /usr/lib/debug, or in @file's folder
 * @owner: of @file, as above
 *
 * Return: a descriptor, or -ENOENT
 */
int kjoule_debug_file_open_alternative(const char *file, const char *link, uid_t owner,
				       char **found);

/** kjoule_debug_file_empty() - one without any information. Return: a descriptor, or -errno */
int kjoule_debug_file_empty(void);

#endif /* KJOULE_DEBUG_FILE_H */
