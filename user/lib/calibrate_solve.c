// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The arithmetic of the calibration, see calibrate.h. Every round compares phases
 * that lie side by side, and the answer is the median of the rounds: what comes and
 * goes meanwhile, a drift of the clock or a neighbour on the host, spoils a round
 * and not the answer.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate.h"

#define STALL		0.6		/* slots slower than this part of usual: the CPU was away */
#define INTERRUPTED	0.97		/* slots slower than this part of usual had an interrupt */
#define ALL		0.95		/* of a slot lost: the CPU was away, or in one interrupt after another */
#define TO_SIGMA	1.4826		/* a median of distances to a standard deviation, if normal */
#define OF_MEDIAN	1.2533		/* a median's standard error over a mean's, likewise */

/* A figure, NAN: not known at all, and its standard error. */
struct estimate {
	double value, error;
};

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts. NAN with nothing to take it of. */
static double median(double *values, size_t n)
{
	if (!n)
		return NAN;
	qsort(values, n, sizeof(*values), by_double);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The median of @n values and its standard error; values that are NAN do not count. */
static struct estimate estimate(const double *values, size_t n)
{
	struct estimate e = { NAN, INFINITY };
	double known[CALIBRATE_MOST_ROUNDS];
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			known[m++] = values[i];
	/* half of the rounds and less tell nothing */
	if (2 * m <= n)
		return e;
	e.value = median(known, m);
	if (m < 3)
		return e;
	for (size_t i = 0; i < m; i++)
		known[i] = fabs(known[i] - e.value);
	e.error = OF_MEDIAN * TO_SIGMA * median(known, m) / sqrt(m);
	return e;
}

/* The rate of the slot in the middle, by which the others are judged. */
static double middle_rate(const struct kjoule_phase *p)
{
	double *rates = calloc(p->n + 1, sizeof(*rates)), rate;

	if (!rates)
		return NAN;
	memcpy(rates, p->rates, p->n * sizeof(*rates));
	rate = median(rates, p->n);
	free(rates);
	return rate;
}

/* Mean of the slots from @from to @to that are faster than @floor. */
static double mean_above(const struct kjoule_phase *p, size_t from, size_t to, double floor)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		if (p->rates[i] > floor) {
			sum += p->rates[i];
			n++;
		}
	}
	return n ? sum / n : NAN;
}

/* How fast the loop turned: the median of batches, each as long as to have everything in it. */
static double usual_rate(const struct kjoule_phase *p)
{
	double *means = calloc(p->n / p->batch + 1, sizeof(*means));
	double floor = STALL * middle_rate(p), rate;
	size_t n = 0;

	if (!means)
		return NAN;
	for (size_t i = 0; i + p->batch <= p->n; i += p->batch) {
		means[n] = mean_above(p, i, i + p->batch, floor);
		n += !isnan(means[n]);
	}
	rate = median(means, n);
	free(means);
	return rate;
}

/* The rate of a quiet phase's slots that had no interrupt in them. */
static double clean_rate(const struct kjoule_phase *p)
{
	return mean_above(p, 0, p->n, INTERRUPTED * middle_rate(p));
}

/*
 * The part of a quiet phase that interrupts took: how many there were, as counted by
 * the kernel, by what the slots that had one usually lost. What slots have lost in all
 * would be too much, where a host or firmware takes the CPU away.
 */
static double other_part(const struct kjoule_phase *p, double clean)
{
	double *lost = calloc(p->n + 1, sizeof(*lost)), usual;
	size_t n = 0;

	if (!lost)
		return NAN;
	for (size_t i = 0; i < p->n; i++) {
		lost[n] = 1 - p->rates[i] / clean;
		n += lost[n] > 1 - INTERRUPTED && lost[n] < ALL;
	}
	usual = n ? median(lost, n) : 0;
	free(lost);
	return usual * p->irq_hz * CALIBRATE_SLOT_NS * 1e-9;
}

/*
 * With L the loop's power, c a tick's time, e its energy: P = L (1 - c / T) + e / T for
 * a phase with ticks every T. Two of them give L and k = e - c L.
 */
static void solve_power(const struct kjoule_round *rounds, size_t n, unsigned int d,
			struct kjoule_calibration *cal)
{
	double k[CALIBRATE_MOST_ROUNDS], loop[CALIBRATE_MOST_ROUNDS], tick_s = cal->tick_ns * 1e-9;
	struct estimate more;

	for (size_t r = 0; r < n; r++) {
		double slow_hz = 1e9 / rounds[r].slow.interval_ns;
		double fast_hz = 1e9 / rounds[r].fast.interval_ns;

		k[r] = (rounds[r].fast.uw[d] - rounds[r].slow.uw[d]) / (fast_hz - slow_hz);
		loop[r] = rounds[r].slow.uw[d] - slow_hz * k[r];
	}
	more = estimate(k, n);
	cal->loop_uw[d] = estimate(loop, n).value;
	cal->irq_uw[d] = more.value / tick_s + cal->loop_uw[d];
	cal->irq_error_uw[d] = more.error / tick_s;
	/* an energy counter too coarse for this shows in what can not be */
	if (!(cal->irq_uw[d] > 0) || cal->irq_uw[d] > 10 * cal->loop_uw[d])
		cal->irq_uw[d] = NAN;
}

/* What ticks at twice the rate and more add to the power of a CPU that sleeps. */
static double idle_energy(const struct kjoule_round *rounds, size_t n, unsigned int d)
{
	double uj[CALIBRATE_MOST_ROUNDS], idle;
	size_t m = 0;

	for (size_t r = 0; r < n; r++) {
		const struct kjoule_round *round = &rounds[r];

		if (round->doze.ticks && round->nap.ticks)
			uj[m++] = (round->nap.uw[d] - round->doze.uw[d]) /
				  (1e9 / round->nap.interval_ns - 1e9 / round->doze.interval_ns);
	}
	idle = estimate(uj, m).value;
	/* idle has other work as well: an answer below nothing is none */
	return idle >= 0 ? idle : NAN;
}

int kjoule_calibration_solve(const struct kjoule_round *rounds, size_t n,
			     struct kjoule_calibration *cal)
{
	double tick[CALIBRATE_MOST_ROUNDS], other[CALIBRATE_MOST_ROUNDS];
	double handler_ns = 0, squares = 0;
	struct estimate e;
	uint64_t ticks = 0;

	if (!n || n > CALIBRATE_MOST_ROUNDS)
		return -EAGAIN;
	for (size_t r = 0; r < n; r++) {
		const struct kjoule_phase *fast = &rounds[r].fast;
		double quiet = usual_rate(&rounds[r].quiet), clean = clean_rate(&rounds[r].quiet);

		tick[r] = (quiet - usual_rate(fast)) / clean * fast->interval_ns;
		other[r] = other_part(&rounds[r].quiet, clean);
		ticks += fast->ticks;
		handler_ns += fast->handler_ns * fast->ticks;
		squares += fast->handler_ns * fast->handler_ns * fast->ticks;
	}
	if (!ticks)
		return -EAGAIN;
	handler_ns /= ticks;
	squares /= ticks;
	e = estimate(tick, n);
	/* what the tick sees itself is the least that it takes */
	if (!(e.value >= handler_ns) || e.value > 0.9 * rounds[0].fast.interval_ns)
		return -EAGAIN;
	cal->tick_ns = e.value;
	cal->tick_error_ns = e.error;
	cal->ticks = ticks;
	cal->handler_ns = handler_ns;
	cal->handler_spread_ns = sqrt(fmax(squares - handler_ns * handler_ns, 0));
	cal->entry_ns = cal->tick_ns - cal->handler_ns;
	cal->other_part = fmax(estimate(other, n).value, 0);
	cal->n_domains = rounds[0].fast.n_domains;
	for (unsigned int d = 0; d < cal->n_domains; d++) {
		solve_power(rounds, n, d, cal);
		cal->idle_uj[d] = idle_energy(rounds, n, d);
	}
	return 0;
}
