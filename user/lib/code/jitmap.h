/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code made at run time: the map files that just-in-time compilers write for perf,
 * /tmp/perf-PID.map, a line "START SIZE NAME" for each function, the numbers in hex.
 */
#ifndef KJOULE_JITMAP_H
#define KJOULE_JITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Limit of the text of all processes in a recording. */
#define KJOULE_JITMAPS_MAX	(16u << 20)

struct kjoule_jitmaps;

/* A function; the name lives as long as the maps. */
struct kjoule_jit_symbol {
	uint64_t start, end;
	const char *name;
};

struct kjoule_jitmaps *kjoule_jitmaps_new(void);
void kjoule_jitmaps_free(struct kjoule_jitmaps *maps);
/** kjoule_jitmaps_maybe() - may this mapping be code made at run time? */
bool kjoule_jitmaps_maybe(const char *path);
/**
 * kjoule_jitmaps_add() - a process's functions, from the text of its file
 * Invalid lines are skipped; of functions at the same place the last one counts. A process that is
 * there already is kept.
 * Return: 0 or -ENOMEM
 */
int kjoule_jitmaps_add(struct kjoule_jitmaps *maps, uint32_t pid, const char *text, size_t len);
/** kjoule_jitmaps_owner() - owner of a running process. Return: 0 or -errno */
int kjoule_jitmaps_owner(uint32_t pid, uid_t *owner);
/**
 * kjoule_jitmaps_read() - the same from the process's own file
 * It is looked for in the process's own /tmp, by its number there, while it runs, and in ours. Only
 * root's, our or the process's own files are read, and of all processes together at most
 * KJOULE_JITMAPS_MAX: a file larger than what is left of that is not.
 * @owner: the process's owner when it was seen: it may have ended. NULL: unknown
 * Return: 0; -ENOENT: it has written none; -EPERM, -ELOOP, -EXDEV: untrusted; -ESRCH: unknown
 *   owner; -EFBIG; -errno
 */
int kjoule_jitmaps_read(struct kjoule_jitmaps *maps, uint32_t pid, const uid_t *owner);
/** kjoule_jitmaps_find() - the function around an address, or NULL */
const struct kjoule_jit_symbol *kjoule_jitmaps_find(const struct kjoule_jitmaps *maps, uint32_t pid,
						    uint64_t ip);
/** kjoule_jitmaps_encode() - for a recording; the caller's to free. NULL: no memory; "": none */
char *kjoule_jitmaps_encode(const struct kjoule_jitmaps *maps, uint32_t pid);
/** kjoule_jitmaps_decode() - Return: 0, -EBADMSG, -ENOMEM */
int kjoule_jitmaps_decode(const char *text, size_t len, struct kjoule_jitmaps *maps);

#endif /* KJOULE_JITMAP_H */
