/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build ids: which file exactly a process had mapped. */
#ifndef KJOULE_BUILDID_H
#define KJOULE_BUILDID_H

#include <stddef.h>
#include <stdint.h>

struct kjoule_event;

#define KJOULE_BUILD_ID_HEX	65	/* up to 32 bytes in hex and a zero */

/**
 * kjoule_elf_file_open() - open a file that a recording names, if it is a plain ELF file
 * Return: a descriptor; -ENOEXEC for what is no ELF file on a disk, -errno
 */
int kjoule_elf_file_open(const char *path);

/** kjoule_build_id() - of an ELF file, in hex. Return: 0, -ENODATA it has none, -errno */
int kjoule_build_id(const char *path, char hex[KJOULE_BUILD_ID_HEX]);
/** kjoule_build_id_of() - of an ELF file that is open. Return: 0, -ENODATA it has none */
int kjoule_build_id_of(int fd, char hex[KJOULE_BUILD_ID_HEX]);
/** kjoule_build_id_format() - in hex, as much of it as is used */
void kjoule_build_id_format(char hex[KJOULE_BUILD_ID_HEX], const unsigned char *id, size_t len);

struct kjoule_build_ids;

/* The list of a recording: path to build id. */
struct kjoule_build_ids *kjoule_build_ids_new(void);
/** kjoule_build_ids_add() - note a path; once is enough. Return: 0 or -ENOMEM */
int kjoule_build_ids_add(struct kjoule_build_ids *ids, const char *path, const char *hex);
/* Build id of a path that was several files, or must not be opened: no file has it. */
#define KJOULE_BUILD_ID_SEVERAL	"several"

/**
 * kjoule_build_ids_meet() - note a file that a process has just mapped: later, or for a process in
 * a container, the path may be another file
 * @map: the kernel reports the build id of a file whose head is in memory, else the file's number:
 *   it is then looked for in the process's root, unless that number is known
 * Return: 0 or -ENOMEM
 */
int kjoule_build_ids_meet(struct kjoule_build_ids *ids, const struct kjoule_event *map);
/** kjoule_build_ids_find() - hex or KJOULE_BUILD_ID_SEVERAL; NULL: unknown */
const char *kjoule_build_ids_find(const struct kjoule_build_ids *ids, const char *path);
/**
 * kjoule_build_ids_encode() - the text of a chunk, and the next one, until all are written
 * @at: 0 at first, SIZE_MAX after the last
 * Return: the caller's to free; NULL: no memory
 */
char *kjoule_build_ids_encode(const struct kjoule_build_ids *ids, size_t *at);
int kjoule_build_ids_decode(const char *text, size_t len, struct kjoule_build_ids *ids);
void kjoule_build_ids_free(struct kjoule_build_ids *ids);

#endif /* KJOULE_BUILDID_H */
