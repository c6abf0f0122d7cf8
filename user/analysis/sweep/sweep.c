// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See sweep.h. Used by sweep/rows.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/sweep/sweep.h"

/* Half of an interval, relative. */
static double interval_relative(double v, double end)
{
	return v > 0 ? fabs(end - v) / v : NAN;
}

static double intervals_combine(double energy, double time)
{
	if (isnan(energy) || isnan(time))
		return NAN;
	return sqrt(fmax(energy * energy - time * time, 0) + 4 * time * time);
}

struct value sweep_product(const struct value *j, const struct value *delay_s)
{
	double v = j->v * delay_s->v;
	double below = intervals_combine(interval_relative(j->v, j->lo),
					 interval_relative(delay_s->v, delay_s->lo));
	double above = intervals_combine(interval_relative(j->v, j->hi),
					 interval_relative(delay_s->v, delay_s->hi));

	return (struct value){ v, fmax(v * (1 - below), isnan(below) ? NAN : 0), v * (1 + above) };
}

struct value sweep_power(const struct value *j, const struct value *delay_s)
{
	double v = delay_s->v > 0 ? j->v / delay_s->v : NAN;
	/*
	 * A longer time is a lower power: its upper end goes with the lower one, and the other way
	 * round. Errors are taken to be independent, which is too wide if runs that differ in time
	 * also differ in energy.
	 */
	double below = hypot(interval_relative(j->v, j->lo),
			     interval_relative(delay_s->v, delay_s->hi));
	double above = hypot(interval_relative(j->v, j->hi),
			     interval_relative(delay_s->v, delay_s->lo));

	return (struct value){ v, fmax(v * (1 - below), isnan(below) ? NAN : 0), v * (1 + above) };
}

/* The least was chosen by the figures themselves: any pair could have been compared. */
static size_t settings_count_pairs(size_t n)
{
	return n < 2 ? 1 : n * (n - 1) / 2;
}

struct sweep_best sweep_least(const struct value *figures, size_t n, double dof, bool *equal)
{
	struct sweep_best b = { .setting = SWEEP_NONE, .next = SWEEP_NONE };

	for (size_t i = 0; i < n; i++) {
		if (equal)
			equal[i] = false;
		if (isnan(figures[i].v))
			continue;
		b.known++;
		if (b.setting == SWEEP_NONE || figures[i].v < figures[b.setting].v)
			b.setting = i;
	}
	for (size_t i = 0; i < n && b.setting != SWEEP_NONE; i++) {
		struct difference d;

		if (i == b.setting) {
			if (equal)
				equal[i] = true;
			continue;
		}
		if (isnan(figures[i].v))
			continue;
		if (b.next == SWEEP_NONE || figures[i].v < figures[b.next].v)
			b.next = i;
		d = difference_of(&figures[b.setting], &figures[i], settings_count_pairs(b.known),
				  dof);
		b.equal += d.sure != DIFFERENCE_SURELY && d.sure != DIFFERENCE_UNKNOWN;
		b.unknown += d.sure == DIFFERENCE_UNKNOWN;
		if (equal)
			equal[i] = d.sure != DIFFERENCE_SURELY;
	}
	return b;
}

static const struct value *table_energy_at(const struct sweep_table *t, size_t block,
					   size_t setting)
{
	return &t->j[block * t->n_settings + setting];
}

static bool value_has_interval(const struct value *v)
{
	return !isnan(v->v) && !isnan(v->lo) && !isnan(v->hi);
}

/* Known with an interval at the single setting, and at all settings of so many threads that ran. */
static bool block_is_known(const struct sweep_table *t, size_t block, size_t single,
			   uint32_t threads)
{
	if (!value_has_interval(table_energy_at(t, block, single)))
		return false;
	for (size_t s = 0; s < t->n_settings; s++)
		if (t->threads[s] == threads && !isnan(t->all_j[s].v) &&
		    !value_has_interval(table_energy_at(t, block, s)))
			return false;
	return true;
}

static size_t block_best_setting(const struct sweep_table *t, size_t block, uint32_t threads)
{
	size_t best = SWEEP_NONE;

	for (size_t s = 0; s < t->n_settings; s++) {
		if (t->threads[s] != threads || isnan(t->all_j[s].v))
			continue;
		if (best == SWEEP_NONE ||
		    table_energy_at(t, block, s)->v < table_energy_at(t, block, best)->v)
			best = s;
	}
	return best;
}

/* With so many threads: the saving, and each block's setting. */
static void saving_compute(const struct sweep_table *t, uint32_t threads, double dof,
			   struct sweep_saving *s)
{
	double squares_lo = 0, squares_hi = 0;

	s->threads = threads;
	for (size_t b = 0; b < t->n_blocks; b++) {
		const struct value *from, *to;
		struct difference d;

		s->chosen[b] = SWEEP_NONE;
		if (!block_is_known(t, b, s->single, threads))
			continue;
		s->chosen[b] = block_best_setting(t, b, threads);
		from = table_energy_at(t, b, s->single);
		s->base_j += from->v;
		if (s->chosen[b] == s->single)
			continue;
		to = table_energy_at(t, b, s->chosen[b]);
		s->moved++;
		s->saved_j.v += from->v - to->v;
		s->delay_s += t->delay_s[b * t->n_settings + s->chosen[b]].v -
			      t->delay_s[b * t->n_settings + s->single].v;
		/* one choice for each block, all compared together */
		d = difference_of(to, from, settings_count_pairs(t->n_settings) * t->n_blocks, dof);
		squares_lo += pow(d.by.v - d.by.lo, 2);
		squares_hi += pow(d.by.hi - d.by.v, 2);
		if (d.sure != DIFFERENCE_SURELY)
			continue;
		s->sure++;
		s->sure_j += from->v - to->v;
	}
	s->saved_j.lo = s->saved_j.v - sqrt(squares_lo);
	s->saved_j.hi = s->saved_j.v + sqrt(squares_hi);
}

int sweep_save(const struct sweep_table *t, double dof, struct sweep_saving *s)
{
	struct sweep_saving one;

	memset(s, 0, sizeof(*s));
	s->single = sweep_least(t->all_j, t->n_settings, dof, NULL).setting;
	if (s->single == SWEEP_NONE)
		return -ENODATA;
	for (size_t i = 0; i < t->n_settings; i++) {
		if (isnan(t->all_j[i].v))
			continue;
		one = (struct sweep_saving){ .single = s->single,
					     .chosen =
					     calloc(t->n_blocks + 1, sizeof(*one.chosen)) };
		if (!one.chosen) {
			free(s->chosen);
			s->chosen = NULL;
			return -ENOMEM;
		}
		saving_compute(t, t->threads[i], dof, &one);
		if (s->chosen && one.saved_j.v <= s->saved_j.v) {
			free(one.chosen);
			continue;
		}
		free(s->chosen);
		*s = one;
	}
	return 0;
}
