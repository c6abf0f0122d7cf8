/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The module's file for the selftests: load it, unload it, keep it in memory. Used by
 * the tests that do that themselves; for the others the guest does it.
 */
#ifndef KJOULE_SELFTESTS_MODULE_H
#define KJOULE_SELFTESTS_MODULE_H

#include <stddef.h>

/* Where it is. */
const char *module_path(void);

/* All return 0 or -errno. */
int module_load(void);
int module_load_image(const void *image, size_t bytes);
int module_unload(void);

/* The file's content, or NULL. */
void *module_image(size_t *bytes);

#endif
