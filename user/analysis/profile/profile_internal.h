/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to profile.h: profile.c solves the models, profile_sums.c adds up times, frequencies and
 * costs of groups, profile_energy.c their energies, profile_cover.c finds what no counter covers.
 */
#ifndef KJOULE_PROFILE_INTERNAL_H
#define KJOULE_PROFILE_INTERNAL_H

#include "analysis/mixture/fit.h"
#include "analysis/profile/profile.h"

/* A package. */
struct solved {
	struct cpm_vectors vectors;
	bool known[PROFILE_DOMAINS];
	struct cpm_domain domain[PROFILE_DOMAINS];
	bool fitted[PROFILE_DOMAINS];
	struct fit fit[PROFILE_DOMAINS];
	bool edged;		/* @edge of @edge_input was solved */
	bool too_many;		/* ticks for it */
	struct edge_input edge_input;
	struct edge_result edge;
};

/* @kinds: as the model has them; NULL: as they are in the input */
struct profile {
	const struct profile_input *in;
	uint8_t *kinds;
	struct solved *packages;
};

/** profile_calibration_error() - relative error of interrupts' cost */
double profile_calibration_error(const struct profile_input *in);
/** profile_n_streams() - of package @p */
size_t profile_n_streams(const struct profile_input *in, size_t p);
/** profile_stream() - stream @i of package @p */
const struct profile_stream *profile_stream(const struct profile_input *in, size_t p, size_t i);

/** profile_sampled_time() - a group's time without interrupts, with the samples' uncertainty */
struct value profile_sampled_time(const struct profile_group *g);
/** profile_uncertain() - widen a value that was corrected for interrupts by their uncertainty */
struct value profile_uncertain(struct value v, double error);
/** profile_other_error() - error of the time in other interrupts, and the ticks' share in it */
double profile_other_error(const struct profile_input *in, const struct profile_group *g);
/* CPUs without a counter (profile_cover.c) */

/* Ticks, and those on CPUs that a domain's counters cover. */
struct profile_ticks {
	uint64_t all, known_ticks;
};

/* Of a block or a group, idle CPUs separate. */
struct profile_covered {
	struct profile_ticks busy, idle;
};

/**
 * profile_cover() - how much of each block a domain's counters cover
 * @out: by block; NULL: all of it, or none at all. The caller's to free
 * Return: 0 or -ENOMEM
 */
int profile_cover(const struct profile *p, unsigned int domain, struct profile_covered **out);
/** profile_cover_groups() - the same by group, added to @groups */
void profile_cover_groups(const struct profile_covered *blocks, const uint32_t *group_of,
			  uint32_t n_blocks, struct profile_covered *groups);
/** profile_known_part() - part of the ticks that counters cover, of idle CPUs' if no others */
double profile_known_part(const struct profile_covered *c);

/** profile_energies() - of all groups of @n levels, whose times are known. Return: 0 or -ENOMEM */
int profile_energies(const struct profile *p, const struct profile_level *levels, size_t n);

#endif /* KJOULE_PROFILE_INTERNAL_H */
