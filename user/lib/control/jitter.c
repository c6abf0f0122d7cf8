// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jitter of the sampling grid, as the ABI defines it: readers repeat the module's computation,
 * so that a record needs no absolute time.
 */
#include "lib/control/ring.h"

uint64_t kjoule_jitter(uint64_t seed, uint64_t k, uint64_t jitter_ns)
{
	uint64_t x = (seed + k) * 0x9e3779b97f4a7c15ull;

	if (!jitter_ns)
		return 0;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return ((x >> 32) * (jitter_ns & 0xffffffffu)) >> 32;
}

/*
 * One in so many parts: 126 and the golden section, the number farthest from all fractions. With
 * 127 ticks would meet a period of a millisecond at only 127 phases.
 */
#define OUT_OF_STEP	126.618

uint64_t kjoule_interval_out_of_step(uint64_t interval_ns, const struct kjoule_info *info)
{
	uint64_t slower = interval_ns + (uint64_t)(interval_ns / OUT_OF_STEP);

	return slower <= info->max_interval_ns ? slower : interval_ns;
}
