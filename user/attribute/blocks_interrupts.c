// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How often ticks waited for other interrupts, by block; see blocks_interrupts.h.
 *
 * Each block's count is a draw from a Poisson distribution, whose means have a gamma distribution
 * over the blocks (Efron and Morris, Stein's estimation rule and its competitors, JASA 68, 1973,
 * have the principle): the less blocks differ, the more the mean of all counts for a block, so that
 * chance is not taken for a difference.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "attribute/blocks_costs.h"
#include "attribute/blocks_interrupts.h"

#define LEAST		32	/* samples that define the usual delay */
#define FIRST		8	/* initial room: most blocks have few */
/* so many are as good as all, and faster; a prime: each fourth may be delayed */
#define STRIDE		3
/* usual: the median give or take so many times the distance of the quartiles */
#define REACH		3
#define USUALLY		8	/* or such a part of the median */
#define CLEARLY		3	/* standard deviations of chance */
#define OWN		2	/* times the calibration's: most interrupts are the program's own */
#define SURELY		3	/* standard deviations: that this is so */
#define MOST		0.5	/* of the time: more is not used for corrections */
/* relative standard deviation of interrupts' time between a run and its calibration */
#define UNLIKE		0.15
#define TWICE		2	/* standard errors in an "error" elsewhere */

/* The usual delay, and its range. */
static double delay_find_usual(const struct blocks_delay *l, double *reach)
{
	size_t step = l->n >= LEAST * STRIDE ? STRIDE : 1, n = 0;
	float late[BLOCKS_DELAYS], median;

	/* few, and nearly in order */
	for (size_t i = 0; i < l->n; i += step) {
		size_t at = n++;

		for (; at && late[at - 1] > l->of[i].late; at--)
			late[at] = late[at - 1];
		late[at] = l->of[i].late;
	}
	median = late[n / 2];
	*reach = fmax(REACH * (late[3 * n / 4] - late[n / 4]), median / USUALLY);
	return median;
}

/* @of counts for @n delayed ones, and was delayed so much more than usual. */
static void delay_note_phase(struct blocks *b, const struct blocks_late *of, unsigned int n,
				double over)
{
	if (!b->input.session)
		return;
	blocks_phases_add(&b->phases, timeline_due(b->input.session, of->tick), n);
	if (over > 0) {
		b->phases.over_ns += n * over * of->slowness;
		b->phases.over += n;
	}
}

/* Count the samples of a full batch. */
static void delay_count_batch(struct blocks *b, struct blocks_delay *l)
{
	double reach, usual = delay_find_usual(l, &reach);
	unsigned int n;

	/* an interrupt takes time to be entered: without any the delay is unknown */
	for (size_t i = 0; i < l->n && usual > 0; i++) {
		struct blocks_function *f = &b->functions[l->of[i].block];
		double off = fabs(l->of[i].late - usual);

		f->user++;
		/*
		 * in the interrupt itself it is sooner than usual; and as many as are near to it
		 * have met one, too, and are not seen
		 */
		n = (off > reach) + (off > reach && off <= 2 * reach);
		f->late += n;
		if (n)
			delay_note_phase(b, &l->of[i], n, l->of[i].late - usual);
		f->slowness += l->of[i].slowness;
	}
	l->n = 0;
}

static int delay_add_sample(struct blocks *b, struct blocks_delay *l,
			       const struct blocks_late *late)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : FIRST;
		void *of = realloc(l->of, room * sizeof(*l->of));

		if (!of)
			return -ENOMEM;
		l->of = of;
		l->room = room;
	}
	l->of[l->n++] = *late;
	if (l->n == BLOCKS_DELAYS)
		delay_count_batch(b, l);
	return 0;
}

int blocks_delay_add(struct blocks *b, uint32_t block, const struct timeline_sample *s)
{
	struct blocks_function *f = &b->functions[block];
	struct blocks_late late = { .tick = s->tick, .block = block, .slowness = s->freq_khz ?
				    1e3f / s->freq_khz : 1 };

	/* kernel code with interrupts off delays ticks by itself */
	if (s->flags & (KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_IDLE | KJOULE_SAMPLE_SWITCH))
		return 0;
	/* a sample of unknown frequency cannot be compared to others of its block */
	if (!s->freq_khz && f->clocked)
		return 0;
	f->clocked |= s->freq_khz > 0;
	if (!f->delay) {
		f->delay = calloc(1, sizeof(*f->delay));
		if (!f->delay)
			return -ENOMEM;
	}
	/* cycles, if their frequency is known */
	late.late = s->late_ns / late.slowness;
	return delay_add_sample(b, f->delay, &late);
}

int blocks_delay_end(struct blocks *b)
{
	struct blocks_delay rest = { 0 };
	int ret = 0;

	for (size_t i = 0; i < b->n_functions; i++) {
		struct blocks_delay *l = b->functions[i].delay;

		if (!l)
			continue;
		if (l->n >= LEAST)
			delay_count_batch(b, l);
		/* rare code is compared to all such code */
		for (size_t k = 0; k < l->n && !ret; k++)
			ret = delay_add_sample(b, &rest, &l->of[k]);
		free(l->of);
		free(l);
		b->functions[i].delay = NULL;
	}
	if (rest.n >= LEAST)
		delay_count_batch(b, &rest);
	free(rest.of);
	return ret;
}

/* All samples that are not idle. */
static struct blocks_function delay_sum_blocks(const struct blocks *b)
{
	struct blocks_function all = { 0 };

	for (size_t i = 0; i < b->n_functions; i++) {
		if (b->functions[i].merged)
			continue;
		if (b->processes[b->functions[i].process].kind != CPM_IDLE)
			all.samples += b->functions[i].samples;
		all.user += b->functions[i].user;
		all.late += b->functions[i].late;
		all.slowness += b->functions[i].slowness;
	}
	return all;
}

/* Relative standard deviation of the calibrated part in a run. */
static double interrupts_part_error(double part, double error)
{
	return hypot(UNLIKE, error / TWICE / part);
}

/* The kernel's own interrupts avoid ticks: fewer delayed ones than by chance. */
static bool interrupts_are_hidden(const struct blocks_function *all, double part, double error)
{
	double expected = part * all->user;

	return part > 0 && expected - all->late >
	       CLEARLY * hypot(sqrt(expected), expected * interrupts_part_error(part, error));
}

/*
 * Ticks do not meet the calibrated interrupts, or at few of their phases, and @met of them met
 * others.
 */
static void interrupts_add_hidden(struct blocks *b, const struct blocks_function *all, double part,
				  double error, double met)
{
	b->input.other = fmin(part + met, MOST);
	b->input.other_error = part + met - b->input.other +
			       TWICE * hypot(part * interrupts_part_error(part, error),
					     sqrt(met * all->user + 1) / all->user);
	b->late_scale = (double)all->late / all->user / b->input.other;
}

void blocks_interrupts_find(struct blocks *b, const struct view *v)
{
	struct blocks_function all = delay_sum_blocks(b);
	double part, error, prior = 0, met, more;
	struct blocks_step step;

	blocks_other_interrupts(v, &part, &error);
	b->other_calibrated = part;
	b->other_unsure = error;
	b->input.other = part;
	b->input.other_error = error;
	b->late_scale = 1;
	if (!all.user)
		return;
	step = blocks_phases_step(&b->phases, &v->rec.meta.session, v->tl.end_tick, all.late,
				  all.user);
	if (!(part > 0) && step.met && !step.seen) {
		/* only how often ticks meet what they are in step with is known */
		b->input.other = fmin(step.others, MOST);
		b->input.other_error = fmin(fmax(error, (double)all.late / all.user), 1);
		b->late_scale = 0;
		return;
	}
	if (part > 0 &&
	    (step.met ? !step.seen : step.uneven && interrupts_are_hidden(&all, part, error))) {
		interrupts_add_hidden(b, &all, part, error,
				      step.met ? step.others : (double)all.late / all.user);
		/* ticks in step with interrupts say nothing about single blocks */
		if (step.met)
			b->late_scale = 0;
		return;
	}
	if (step.met)
		b->late_scale = all.late / (step.level * all.user);
	if (part > 0)
		prior = 1 / pow(interrupts_part_error(part, error), 2);
	met = all.user * b->late_scale;
	b->input.other = (prior + all.late) / ((part > 0 ? prior / part : 0) + met);
	more = fmax(b->input.other - MOST, 0);
	b->input.other -= more;
	/* none of a few may be one of more */
	b->input.other_error = more + TWICE * b->input.other / sqrt(prior + all.late + 1) +
			       (all.late ? 0 : 1.0 / met);
}

/* Delayed samples that a block would have at the rate of all others. */
static double late_samples_expected(const struct blocks *b, const struct blocks_function *all,
				    const struct blocks_function *f)
{
	/* at a lower frequency interrupts take longer */
	return b->input.other * b->late_scale * f->slowness * all->user / all->slowness;
}

/* The variance of blocks' rates relative to the mean, beyond chance; 0: none. */
static double late_samples_variance(const struct blocks *b, const struct blocks_function *all)
{
	double sum = 0, chance = 0, squares = 0;

	for (size_t i = 0; i < b->n_functions; i++) {
		double expected = late_samples_expected(b, all, &b->functions[i]),
		       more = b->functions[i].late - expected;

		if (b->functions[i].merged)
			continue;
		sum += more * more - expected;
		chance += 2 * expected * expected + expected;
		squares += expected * expected;
	}
	return sum > CLEARLY * sqrt(chance) ? sum / squares : 0;
}

/* The part of the time that ticks take of the CPUs. */
static double ticks_time_part(const struct blocks *b)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->input.n_streams; i++) {
		if (b->streams[i].shadow)
			continue;
		sum += b->streams[i].tick_ns / b->input.interval_ns;
		n++;
	}
	return n ? sum / n : 0;
}

/* A block's delayed samples beyond those of the calibration's interrupts. */
static double late_samples_excess(const struct blocks *b, const struct blocks_function *all,
				  const struct blocks_function *f, const struct profile_cost *c)
{
	double usual = b->input.other > 0 ? b->other_calibrated / b->input.other : 0;

	return late_samples_expected(b, all, f) * fmax(c->interrupted - usual, 0);
}

/* Are most interrupts the program's own, which the calibration did not have? */
static bool interrupts_are_own(const struct blocks *b, const struct blocks_function *all)
{
	double most = OWN * fmax(b->other_calibrated, b->other_unsure) * all->user * b->late_scale;

	return all->late - most > SURELY * sqrt(all->late);
}

/*
 * A tick delays what it interrupts, and all that follows. If a timer's interrupt ends that, as it
 * ends what runs between two signals, the time of ticks is missing there, and not where they fell:
 * code that the program's own interrupts hit is what they end. This is an assumption.
 */
static void costs_share_ticks(const struct blocks *b, const struct blocks_function *all,
			      struct profile_cost *costs)
{
	double sum = 0, part = ticks_time_part(b), falls;

	for (size_t i = 0; i < b->n_functions; i++)
		sum += b->functions[i].merged ? 0 :
		       late_samples_excess(b, all, &b->functions[i], &costs[i]);
	for (size_t i = 0; i < b->n_functions && sum > 0; i++) {
		const struct blocks_function *f = &b->functions[i];

		if (!f->samples || f->merged || b->processes[f->process].kind == CPM_IDLE)
			continue;
		falls = late_samples_excess(b, all, f, &costs[i]) / sum * all->samples / f->samples;
		costs[i].longer *= falls;
		costs[i].shifted = (falls - 1) * part;
	}
}

bool blocks_interrupts_compare(const struct blocks *b, struct profile_cost *costs)
{
	struct blocks_function all = delay_sum_blocks(b);
	double variance = all.user ? late_samples_variance(b, &all) : 0, other = b->input.other;

	if (!(variance > 0) || !(other > 0) || !(b->late_scale > 0))
		return false;
	for (size_t i = 0; i < b->n_functions; i++) {
		const struct blocks_function *f = &b->functions[i];
		double count = 1 / variance + f->late, error;

		if (f->user) {
			costs[i].interrupted = count /
					       (1 / variance + late_samples_expected(b, &all, f));
			error = TWICE * other * costs[i].interrupted / sqrt(count);
		} else {
			/* nothing was counted: as calibrated, unless all have less */
			costs[i].interrupted = fmin(b->other_calibrated / other, 1);
			error = other * (1 - costs[i].interrupted);
		}
		costs[i].variance = error * error * f->samples;
	}
	if (interrupts_are_own(b, &all))
		costs_share_ticks(b, &all, costs);
	return true;
}
