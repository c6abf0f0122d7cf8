/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vDSO, which the kernel maps into processes: in no file, so recordings have a copy. */
#ifndef KJOULE_VDSO_H
#define KJOULE_VDSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/buildid.h"

/* A larger copy is refused. */
#define KJOULE_VDSO_MAX	(1u << 20)

/** kjoule_vdso_is() - is a mapping of this name the vDSO? */
bool kjoule_vdso_is(const char *path);
/** kjoule_vdso_is_native() - by its address: a 32-bit program on a 64-bit kernel has another one */
bool kjoule_vdso_is_native(uint64_t start);
/** kjoule_vdso_image() - this process's, an ELF file; NULL: it has none */
const void *kjoule_vdso_image(size_t *len);
/** kjoule_vdso_file() - a copy as a file. Return: a descriptor, or -errno */
int kjoule_vdso_file(const void *image, size_t len);
/** kjoule_vdso_build_id() - of this process's, in hex. Return: 0 or -errno */
int kjoule_vdso_build_id(char hex[KJOULE_BUILD_ID_HEX]);

#endif /* KJOULE_VDSO_H */
