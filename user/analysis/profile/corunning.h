/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Co-running sets: ALEA's vectors of code blocks (Mukhanov et al., ACM TACO 14(1), 2017, section
 * 4.2, equations 7 to 9) with times, energies and powers. Nothing is divided among the blocks or
 * taken out for interrupts: it is what the package spent at those ticks. Powers are those of the
 * profile's model, constant power or mixture. Pure functions.
 */
#ifndef KJOULE_CORUNNING_H
#define KJOULE_CORUNNING_H

#include "analysis/profile/profile.h"

/**
 * struct corunning_vector - a set of blocks that ran at the same ticks
 * @package: on whose CPUs
 * @members: the blocks, sorted; one that ran on two CPUs is there twice
 * @idle: CPUs of the package that ran none of them
 * @others,@other_set_ticks: 0; else this is the rest: so many sets without a row, and so many ticks
 *   of sets that were not kept
 * @ticks: t_v = ticks / all ticks * the recording's time (equation 8)
 * @energy: @net_j and @net_w are not used (equation 9: E_v = P_v * t_v)
 */
struct corunning_vector {
	size_t package;
	uint32_t n;
	const uint32_t *members;
	unsigned int idle;
	uint32_t others;
	uint64_t other_set_ticks;
	uint64_t ticks;
	struct value time_s;
	struct profile_energy energy[PROFILE_DOMAINS];
};

struct corunning {
	size_t n;
	struct corunning_vector *vectors;	/* package by package, most ticks first */
	struct value total_j[PROFILE_DOMAINS];	/* of all of them; NAN: unknown */
};

/**
 * corunning_new() - the co-running sets of a recording
 * @most: rows of each package; the rest is one row. At least 1
 * Return: 0 or -ENOMEM; @p and its input must stay
 */
int corunning_new(const struct profile *p, const struct profile_input *in, uint32_t most,
		  struct corunning *t);
void corunning_free(struct corunning *t);

#endif /* KJOULE_CORUNNING_H */
