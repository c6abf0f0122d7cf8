/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that the kernel maps into every process, "[vdso]": it is in no file, so a recording has a copy of it.
 */
#ifndef KJOULE_VDSO_H
#define KJOULE_VDSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/buildid.h"

/* A copy of more bytes is none. */
#define KJOULE_VDSO_MAX	(1u << 20)

/** kjoule_vdso_is() - is that what a process has mapped so? */
bool kjoule_vdso_is(const char *path);
/** kjoule_vdso_is_native() - by where it is mapped: that of a program of 32 bits on a kernel of 64 is another one */
bool kjoule_vdso_is_native(uint64_t start);
/** kjoule_vdso_image() - this process's, an ELF file; NULL: it has none */
const void *kjoule_vdso_image(size_t *len);
/** kjoule_vdso_file() - a copy as a file. Return: a descriptor, or -errno */
int kjoule_vdso_file(const void *image, size_t len);
/** kjoule_vdso_build_id() - of this process's, in hex. Return: 0 or -errno */
int kjoule_vdso_build_id(char hex[KJOULE_BUILD_ID_HEX]);

#endif /* KJOULE_VDSO_H */
