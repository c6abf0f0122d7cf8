/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's fault injection for the selftests: in this thread, the allocation or user
 * copy of a given number fails. Needs the debug kernel. Used by tests of failing memory.
 */
#ifndef KJOULE_SELFTESTS_FAIL_H
#define KJOULE_SELFTESTS_FAIL_H

#include <stdbool.h>

/* Write a setting of the kernel. */
bool fail_put(const char *path, const char *value);

/* Set it up; false where the kernel has none. */
bool fail_prepare(void);

/* Between these two the kernel's words about failing allocations are no complaint. */
void fail_begin(void);
void fail_end(void);

/* From now on until fail_stop(), which tells whether it came to that. 0: none. */
void fail_nth(unsigned int nth);
bool fail_stop(void);

#endif
