// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Smoothing of run lengths; see changes.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "analysis/stats/changes.h"

/* With fewer runs of a kind its length is unknown. */
#define LENGTHS_LEAST	10

/* Length of a kind's runs. */
struct length {
	size_t n;
	double sum, squares, blur;	/* blur: variance that the ticks add */
	double mean, variance;		/* variance < 0: unknown */
};

/* State of the filter at each change: predicted, updated, smoothed. */
struct state {
	double ahead, ahead_variance;
	double mean, variance;
};

static double change_middle(const struct change *c)
{
	return (c->from + c->to) / 2;
}

static double change_blur(const struct change *c)
{
	return (c->to - c->from) * (c->to - c->from) / 12;
}

static void lengths_learn(const struct change *changes, size_t n, struct length *lengths,
			  uint32_t kinds)
{
	for (size_t i = 0; i + 1 < n; i++) {
		struct length *l = &lengths[changes[i].after];
		double d = change_middle(&changes[i + 1]) - change_middle(&changes[i]);

		l->n++;
		l->sum += d;
		l->squares += d * d;
		l->blur += change_blur(&changes[i]) + change_blur(&changes[i + 1]);
	}
	for (uint32_t k = 0; k < kinds; k++) {
		struct length *l = &lengths[k];

		l->variance = -1;
		if (l->n < LENGTHS_LEAST)
			continue;
		l->mean = l->sum / l->n;
		l->variance = (l->squares - l->sum * l->mean) / (l->n - 1) - l->blur / l->n;
		/* a lower bound keeps the filter responsive */
		l->variance = fmax(l->variance, 1e-3 * l->blur / l->n);
	}
}

/* The place of each change, from those before it and the ticks. */
static void changes_filter(const struct change *changes, size_t n, const struct length *lengths,
			   struct state *states)
{
	for (size_t i = 0; i < n; i++) {
		const struct length *l = i ? &lengths[changes[i - 1].after] : NULL;
		struct state *s = &states[i];
		double r = change_blur(&changes[i]), gain;

		if (!l || l->variance < 0 || r == 0) {
			s->ahead = s->mean = change_middle(&changes[i]);
			s->ahead_variance = INFINITY;
			s->variance = r;
			continue;
		}
		s->ahead = states[i - 1].mean + l->mean;
		s->ahead_variance = states[i - 1].variance + l->variance;
		gain = s->ahead_variance / (s->ahead_variance + r);
		s->mean = s->ahead + gain * (change_middle(&changes[i]) - s->ahead);
		s->variance = (1 - gain) * s->ahead_variance;
	}
}

int changes_smooth(struct change *changes, size_t n, uint32_t kinds)
{
	struct length *lengths = calloc(kinds + 1, sizeof(*lengths));
	struct state *states = calloc(n + 1, sizeof(*states));
	int ret = lengths && states ? 0 : -ENOMEM;

	if (!ret) {
		lengths_learn(changes, n, lengths, kinds);
		changes_filter(changes, n, lengths, states);
	}
	for (size_t i = n; i-- > 0 && !ret;) {
		struct state *s = &states[i];

		if (i + 1 < n && isfinite(states[i + 1].ahead_variance)) {
			const struct state *next = &states[i + 1];
			double gain = s->variance / next->ahead_variance;

			s->mean += gain * (next->mean - next->ahead);
			s->variance += gain * gain * (next->variance - next->ahead_variance);
		}
		changes[i].variance = s->variance;
		/* never outside of its ticks */
		changes[i].at = fmin(fmax(s->mean, changes[i].from), changes[i].to);
	}
	free(lengths);
	free(states);
	return ret;
}
