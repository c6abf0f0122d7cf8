/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program at several frequencies and numbers of threads: at which setting each of its blocks
 * takes the least energy, or has the least energy-delay product, whether that is significant, and
 * what it would save to run each block at its own frequency (Mukhanov et al., ACM TACO 14(1), 2017,
 * section 7.2 and figure 13). Pure functions.
 *
 * The energy-delay product is E t, with the block's energy E (equation 3) and its elapsed time t.
 * As E = P t, an error of the time is in both: with r_E and r_t for the relative halves of their
 * intervals, and the power's r_P^2 = r_E^2 - r_t^2, that of the product P t^2 is
 *
 *	r^2 = r_P^2 + (2 r_t)^2 = r_E^2 + 3 r_t^2.
 */
#ifndef KJOULE_SWEEP_H
#define KJOULE_SWEEP_H

#include "analysis/runs/difference.h"

#define SWEEP_NONE	SIZE_MAX

/** sweep_product() - energy-delay product in joule seconds, with its interval */
struct value sweep_product(const struct value *j, const struct value *delay_s);
/** sweep_power() - mean power in watts of a program over elapsed time, on any number of CPUs */
struct value sweep_power(const struct value *j, const struct value *delay_s);

/**
 * struct sweep_best - the least of several figures
 * @setting: which one; SWEEP_NONE: none is known
 * @next: the least of the others; SWEEP_NONE: there is none
 * @known: number of known figures
 * @equal: others that do not differ significantly from it: the interval that holds for all pairs of
 *   figures together (Bonferroni; the least is not known beforehand) contains 0
 * @unknown: others without an interval
 */
struct sweep_best {
	size_t setting, next, known, equal, unknown;
};

/**
 * sweep_least() - the least of @n figures
 * @figures: NAN: unknown
 * @dof: see difference_of()
 * @equal: out, @n of them: the least, or not significantly different. May be NULL
 */
struct sweep_best sweep_least(const struct value *figures, size_t n, double dof, bool *equal);

/**
 * struct sweep_table - figures of blocks at settings
 * @khz,@threads: of each setting
 * @all_j: energy of the whole program at each, NAN where it did not run
 * @j,@delay_s: of each block at each setting, [block * n_settings + setting]; NAN: unknown
 */
struct sweep_table {
	size_t n_settings, n_blocks;
	const uint32_t *khz, *threads;
	const struct value *all_j;
	const struct value *j, *delay_s;
};

/**
 * struct sweep_saving - each block at its own frequency, against the best single setting
 * @single: the setting at which the whole program takes the least energy
 * @threads: the number of threads for all blocks
 * @chosen: of each block the setting; SWEEP_NONE: not known with an interval at all of these
 *   settings, and stays at @single
 * @moved: blocks with another setting than @single
 * @base_j: energy at @single of the known blocks
 * @saved_j: saving. The least of several uncertain figures is too low on average, and changing the
 *		frequency costs something: this is an upper bound
 * @sure_j: the part of it from significant differences
 * @sure: number of blocks with these
 * @delay_s: by how much longer the blocks take
 */
struct sweep_saving {
	size_t single;
	uint32_t threads;
	size_t *chosen;
	size_t moved, sure;
	double base_j, sure_j, delay_s;
	struct value saved_j;
};

/**
 * sweep_save() - see struct sweep_saving
 * @dof: see difference_of()
 * @s: @chosen is the caller's to free
 *
 * The number of threads, whichever gives the least, is one for all blocks: a program does not
 * change it while it runs.
 *
 * Return: 0; -ENODATA: the whole program's energy is known nowhere; -ENOMEM
 */
int sweep_save(const struct sweep_table *t, double dof, struct sweep_saving *s);

#endif /* KJOULE_SWEEP_H */
