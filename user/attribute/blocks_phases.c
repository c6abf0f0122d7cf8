// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks in step with other interrupts; see blocks_phases.h.
 *
 * A periodic interrupt is met by ticks that are due at its phase. If ticks do not come at all
 * phases alike, the number that met it is no measure of its time, but the part of those at each
 * phase that did is (Horvitz and Thompson, A generalization of sampling without replacement from a
 * finite universe, JASA 47, 1952).
 */
#include <math.h>
#include <string.h>
#include "analysis/ticks/timeline.h"
#include "attribute/blocks_phases.h"
#include "lib/control/ring.h"

/*
 * Of CONFIG_HZ 1000, 500, 300, 250 and 100. The kernel's ticks are at multiples of it, on all CPUs.
 */
static const uint32_t periods_ns[BLOCKS_PERIODS] = { 1000000, 2000000, 3333333, 4000000, 10000000 };

#define DRAWS		16384	/* ticks that are drawn to find when ticks are due */
/* among at least as many: what only a short recording leaves out is chance */
#define LEAST_TICKS	4096
/*
 * Squared coefficient of variation of the ticks at each phase from which on they are uneven: the
 * squared relative error of an interrupt's time at one phase. An interval of 1 ms with a jitter of
 * 0.7 has 0.43; -F with most rates has less than 0.01.
 */
#define UNEVEN		0.02
/*
 * Length of an interrupt relative to the mean delay of ticks that were due in it: those due in its
 * last part are delayed by half of that in the mean, and those before it are taken within it. 62
 * and 21 us for the kernel's tick at 100 MHz.
 */
#define LENGTH		3
#define CLEARLY		4	/* standard deviations of chance */
#define LEAST_LATE	4	/* that are no chance */
#define RARE		0.25	/* of the mean number of ticks at a phase */
#define MOSTLY		0.75	/* of an interrupt's phases */

static unsigned int phases_bin_of(unsigned int period, uint64_t ns)
{
	return (uint64_t)(ns % periods_ns[period]) * BLOCKS_PHASES / periods_ns[period];
}

void blocks_phases_add(struct blocks_phases *p, uint64_t due_ns, unsigned int n)
{
	for (unsigned int i = 0; i < BLOCKS_PERIODS; i++)
		p->late[i][phases_bin_of(i, due_ns)] += n;
}

/* How many of the drawn ticks are due in each part of each period. */
static void phases_draw_ticks(const struct kjoule_session_info *session, uint64_t end_tick,
			      double due[BLOCKS_PERIODS][BLOCKS_PHASES])
{
	uint64_t n = end_tick > LEAST_TICKS ? end_tick : LEAST_TICKS;

	memset(due, 0, BLOCKS_PERIODS * sizeof(*due));
	for (uint64_t k = 0; k < DRAWS; k++) {
		uint64_t ns =
		timeline_due(session, (uint64_t)(kjoule_jitter(1, k, UINT32_MAX) * 0x1p-32 * n));

		for (unsigned int i = 0; i < BLOCKS_PERIODS; i++)
			due[i][phases_bin_of(i, ns)]++;
	}
}

static double phases_unevenness(const double *due)
{
	const double mean = (double)DRAWS / BLOCKS_PHASES;
	double squares = 0;

	for (unsigned int b = 0; b < BLOCKS_PHASES; b++)
		squares += (due[b] - mean) * (due[b] - mean);
	/* less what the draws have by themselves */
	return (squares / BLOCKS_PHASES - mean) / (mean * mean);
}

/* A part of a period with more delayed ticks than elsewhere. */
struct peak {
	unsigned int first, n;
	double late, due;		/* in it, @due of DRAWS */
	double clear;			/* standard deviations above chance */
};

/* The clearest one as wide as interrupts are long. */
static struct peak phases_find_peak(const uint32_t *late, const double *due, unsigned int n,
				    double all)
{
	struct peak best = { 0 };

	for (unsigned int first = 0; first < BLOCKS_PHASES; first++) {
		struct peak p = { .first = first, .n = n };
		double chance;

		for (unsigned int i = 0; i < n; i++) {
			p.late += late[(first + i) % BLOCKS_PHASES];
			p.due += due[(first + i) % BLOCKS_PHASES];
		}
		chance = all * p.due / DRAWS;
		p.clear = p.due > 0 && p.late >= LEAST_LATE ?
			  (p.late - chance) / sqrt(chance + 1) : 0;
		if (p.clear > best.clear)
			best = p;
	}
	return best;
}

/* Do ticks come at nearly all phases of the peak? */
static bool phases_peak_is_seen(const struct peak *peak, const double *due)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < peak->n; i++)
		n += due[(peak->first + i) % BLOCKS_PHASES] > RARE * DRAWS / BLOCKS_PHASES;
	return n >= MOSTLY * peak->n;
}

/*
 * Time in interrupts: those of no phase as they were met, and those of the peak by the part of
 * ticks there that met them. @width: of interrupts, in parts of the period
 */
static struct blocks_step phases_measure_peak(const struct peak *peak, const uint32_t *late,
					      const double *due, double width, double all_late,
					      double all)
{
	struct blocks_step step = { .uneven = true, .met = true,
				    .seen = phases_peak_is_seen(peak, due) };
	double sum = 0;

	step.others = fmax(all_late - peak->late, 0) /
		      (all * fmax(1 - peak->due / DRAWS, 1.0 / DRAWS));
	for (unsigned int i = 0; i < peak->n; i++) {
		unsigned int b = (peak->first + i) % BLOCKS_PHASES;
		double here = all * due[b] / DRAWS;

		if (here > 0)
			sum += fmin(fmax(late[b] / here - step.others, 0), 1);
	}
	/* a part of the period may be longer than the interrupt */
	step.level = step.others + (width < 1 ? fmin(sum, width) : sum) / BLOCKS_PHASES;
	return step;
}

struct blocks_step blocks_phases_step(const struct blocks_phases *p,
				      const struct kjoule_session_info *session, uint64_t end_tick,
				      double late, double all)
{
	double due[BLOCKS_PERIODS][BLOCKS_PHASES];
	struct blocks_step step = { 0 };
	double best = CLEARLY;

	if (!session || !session->interval_ns || !(all > 0))
		return step;
	phases_draw_ticks(session, end_tick, due);
	for (unsigned int i = 0; i < BLOCKS_PERIODS; i++) {
		double width = p->over ? LENGTH * p->over_ns / p->over / periods_ns[i] *
			       BLOCKS_PHASES : 1;
		struct peak peak;

		if (phases_unevenness(due[i]) < UNEVEN)
			continue;
		step.uneven = true;
		peak = phases_find_peak(p->late[i], due[i],
					fmin(ceil(width) + 1, BLOCKS_PHASES / 4), late);
		if (peak.clear <= best)
			continue;
		best = peak.clear;
		step = phases_measure_peak(&peak, p->late[i], due[i], width, late, all);
	}
	return step;
}
