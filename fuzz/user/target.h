/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every fuzz target is: a function over bytes, called by libFuzzer or by replay.c.
 */
#ifndef KJOULE_FUZZ_TARGET_H
#define KJOULE_FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** LLVMFuzzerTestOneInput() - run the code under test on @data. Aborts on a broken promise */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/** target_thorough() - an input is being looked at (KJOULE_FUZZ_THOROUGH): leave nothing out */
static inline bool target_thorough(void)
{
	static int thorough = -1;

	if (thorough < 0)
		thorough = getenv("KJOULE_FUZZ_THOROUGH") != NULL;
	return thorough;
}

#endif /* KJOULE_FUZZ_TARGET_H */
