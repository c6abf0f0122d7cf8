/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The beginning of a recording as if it had ended there. Pure functions. */
#ifndef KJOULE_PREFIX_H
#define KJOULE_PREFIX_H

#include "analysis/profile/profile.h"

struct prefix {
	struct profile_input in;	/* for profile_new(); the rest must stay as long */
	struct profile_stream *streams;
	struct profile_package *packages;
};

/**
 * prefix_new() - the first ticks of a recording
 * @in: must stay
 * @end_tick: the first one that is left out
 * Return: 0 or -ENOMEM
 */
int prefix_new(const struct profile_input *in, uint64_t end_tick, struct prefix *p);
void prefix_free(struct prefix *p);
/**
 * prefix_tick() - where so many samples have been taken
 * Return: the tick after the first @samples samples of all CPUs, or the end of the recording
 */
uint64_t prefix_tick(const struct profile_input *in, uint64_t samples);
/** prefix_samples() - taken ones before a tick */
uint64_t prefix_samples(const struct profile_input *in, uint64_t end_tick);

#endif /* KJOULE_PREFIX_H */
