// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The arithmetic of the calibration, see calibrate.h. Every round compares phases
 * that lie side by side, and the answer is the median of the rounds: what comes and
 * goes meanwhile, a drift of the clock or a neighbour on the host, spoils slots, or a
 * round, and not the answer.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate.h"

#define CLOSEST		3		/* values of which one lies close to others, at least */
#define TOOK_LONG	2		/* times as long as usual */
#define LEAST_PART	2		/* values that can lie close at all */
#define REACH		3		/* from the middle of these, by their width: nearly all, if normal */
#define INTERRUPTED	0.03		/* of a slot lost: there was an interrupt */
#define ALL		0.95		/* of a slot lost: the CPU was away, or in one interrupt after another */
#define AWAY_DIFFERS	0.005		/* parts of two phases, enough to tell a slope by */
#define LEAST_SLOPES	3
#define TO_SIGMA	1.4826		/* a median of distances to a standard deviation, if normal */
#define OF_MEDIAN	1.2533		/* a median's standard error over a mean's, likewise */

/* A figure, NAN: not known at all, and its standard error. */
struct estimate {
	double value, error;
};

/* Of a round: how fast the loop turns where nothing interrupts it, and what a tick takes. */
struct usual {
	double rate, tick_ns;
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

/* The standard deviation of values; those that are NAN do not count. */
static double spread(const double *values, size_t n)
{
	double sum = 0, squares = 0;
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(values[i]))
			continue;
		sum += values[i];
		squares += values[i] * values[i];
		m++;
	}
	return m ? sqrt(fmax(squares / m - sum / m * (sum / m), 0)) : NAN;
}

/*
 * Where values lie closest together: the mean of those around the shortest stretch that holds
 * @part of them, among the lowest @from. Sorts.
 */
static double densest(double *values, size_t n, size_t part, size_t from)
{
	double middle, reach, sum = 0;
	size_t best = 0, m = 0;

	if (part < LEAST_PART || part >= from)
		return NAN;
	qsort(values, n, sizeof(*values), by_double);
	for (size_t i = 1; i + part < from; i++)
		if (values[i + part] - values[i] < values[best + part] - values[best])
			best = i;
	middle = (values[best + part] + values[best]) / 2;
	reach = REACH * (values[best + part] - values[best]);
	for (size_t i = 0; i < n; i++) {
		if (fabs(values[i] - middle) <= reach) {
			sum += values[i];
			m++;
		}
	}
	return sum / m;
}

/*
 * What is usual of values that other interrupts and hosts that take the CPU away make larger,
 * never smaller; it would move a median.
 */
static double usually(double *values, size_t n, double unused)
{
	(void)unused;
	return densest(values, n, n / CLOSEST, (n + 1) / 2);
}

static double mean(double *values, size_t n, double unused)
{
	double sum = 0;

	(void)unused;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return n ? sum / n : NAN;
}

/*
 * What @combine makes, by @count, of what @value makes, by @u, of the slots of a phase. Slots
 * of which it makes NAN do not count.
 */
static double of_slots(const struct kjoule_phase *p,
		       double (*combine)(double *values, size_t n, double count), double count,
		       double (*value)(const struct kjoule_slot *s, const struct usual *u),
		       const struct usual *u)
{
	double *values = calloc(p->n + 1, sizeof(*values)), result;
	size_t n = 0;

	if (!values)
		return NAN;
	for (size_t i = 0; i < p->n; i++) {
		values[n] = value(&p->slots[i], u);
		n += !isnan(values[n]);
	}
	result = combine(values, n, count);
	free(values);
	return result;
}

static double turn_ns(const struct kjoule_slot *s, const struct usual *u)
{
	(void)u;
	return 1 / s->rate;
}

/* What each tick of a slot took, and what else there was. */
static double whole_tick(const struct kjoule_slot *s, const struct usual *u)
{
	return s->ticks ? s->ns * (1 - s->rate / u->rate) / s->ticks : NAN;
}

/* What each tick of a slot saw itself, unless something took the CPU away from one for longer. */
static double seen_by_tick(const struct kjoule_slot *s, const struct usual *u)
{
	return whole_tick(s, u) < TOOK_LONG * u->tick_ns ? s->seen_ns / s->ticks : NAN;
}

/* The time that other interrupts took of a slot, if there were any. */
static double other(const struct kjoule_slot *s, const struct usual *u)
{
	double lost = 1 - s->rate / u->rate;

	return lost > INTERRUPTED && lost < ALL ? s->ns * lost : NAN;
}

/* What @count interrupts usually took, where hosts took more or less in other slots. */
static double usually_of(double *values, size_t n, double count)
{
	return densest(values, n, fmin(count, n) / 2, n);
}

/*
 * The part of a quiet phase that other interrupts took: how many there were, as counted by
 * the kernel, by what slots that had one usually lost. What slots have lost in all
 * would be too much, where a host or firmware takes the CPU away.
 */
static double other_part(const struct kjoule_phase *p, const struct usual *u)
{
	double count = p->irq_hz * p->n * CALIBRATE_SLOT_NS * 1e-9, each_ns;

	if (isnan(count))
		return NAN;
	each_ns = of_slots(p, usually_of, count, other, u);
	return isnan(each_ns) ? 0 : each_ns * p->irq_hz * 1e-9;
}

/* The part of a phase in which the CPU was away, besides ticks and other interrupts. */
static double away_part(const struct kjoule_phase *p, const struct usual *u,
			const struct kjoule_calibration *cal)
{
	double turns = 0, ns = 0, ticks = 0;

	for (size_t i = 0; i < p->n; i++) {
		turns += p->slots[i].rate * p->slots[i].ns;
		ns += p->slots[i].ns;
		ticks += p->slots[i].ticks;
	}
	return 1 - turns / (u->rate * ns) - ticks * cal->tick_ns / ns - cal->other_part;
}

/* Powers of phases of one kind, and the part of them in which the CPU was away. */
struct powers {
	double uw[CALIBRATE_MOST_ROUNDS];
	double away[CALIBRATE_MOST_ROUNDS];
};

/* The slopes between all phases of a kind that differ in how long the CPU was away. Return: how many */
static size_t slopes(const struct powers *p, size_t n, double *slope)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			double by = p->away[i] - p->away[j];

			slope[m] = (p->uw[i] - p->uw[j]) / by;
			m += fabs(by) > AWAY_DIFFERS && !isnan(slope[m]);
		}
	}
	return m;
}

/*
 * The powers as if the CPU had never been away, when it draws another: the median of all
 * slopes (Sen, Estimates of the regression coefficient based on Kendall's tau, JASA 63, 1968).
 */
static void without_away(struct powers *slow, struct powers *fast, size_t n)
{
	double slope[CALIBRATE_MOST_ROUNDS * CALIBRATE_MOST_ROUNDS], by;
	size_t m = slopes(slow, n, slope);

	m += slopes(fast, n, slope + m);
	if (m < LEAST_SLOPES)
		return;
	by = median(slope, m);
	for (size_t r = 0; r < n; r++) {
		slow->uw[r] -= by * slow->away[r];
		fast->uw[r] -= by * fast->away[r];
	}
}

/*
 * With L the loop's power, c a tick's time, e its energy: P = L (1 - c / T) + e / T for
 * a phase with ticks every T. Two of them give L and k = e - c L.
 */
static void solve_power(const struct kjoule_round *rounds, size_t n, const struct usual *u,
			unsigned int d, struct kjoule_calibration *cal)
{
	double k[CALIBRATE_MOST_ROUNDS], loop[CALIBRATE_MOST_ROUNDS], tick_s = cal->tick_ns * 1e-9;
	struct powers slow, fast;
	struct estimate more;

	for (size_t r = 0; r < n; r++) {
		slow.uw[r] = rounds[r].slow.uw[d];
		slow.away[r] = away_part(&rounds[r].slow, &u[r], cal);
		fast.uw[r] = rounds[r].fast.uw[d];
		fast.away[r] = away_part(&rounds[r].fast, &u[r], cal);
	}
	without_away(&slow, &fast, n);
	for (size_t r = 0; r < n; r++) {
		double slow_hz = 1e9 / rounds[r].slow.interval_ns;
		double fast_hz = 1e9 / rounds[r].fast.interval_ns;

		k[r] = (fast.uw[r] - slow.uw[r]) / (fast_hz - slow_hz);
		loop[r] = slow.uw[r] - slow_hz * k[r];
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
	double whole[CALIBRATE_MOST_ROUNDS], seen[CALIBRATE_MOST_ROUNDS];
	double others[CALIBRATE_MOST_ROUNDS];
	struct usual u[CALIBRATE_MOST_ROUNDS];
	struct estimate tick, handler;
	uint64_t ticks = 0;

	if (!n || n > CALIBRATE_MOST_ROUNDS)
		return -EAGAIN;
	for (size_t r = 0; r < n; r++) {
		const struct kjoule_phase *quiet = &rounds[r].quiet, *fast = &rounds[r].fast;

		u[r].rate = 1 / of_slots(quiet, usually, NAN, turn_ns, NULL);
		u[r].tick_ns = of_slots(fast, usually, NAN, whole_tick, &u[r]);
		whole[r] = u[r].tick_ns;
		seen[r] = of_slots(fast, mean, NAN, seen_by_tick, &u[r]);
		others[r] = other_part(quiet, &u[r]);
		ticks += fast->ticks;
	}
	if (!ticks)
		return -EAGAIN;
	tick = estimate(whole, n);
	handler = estimate(seen, n);
	/* what the tick sees itself is the least that it takes */
	if (!(tick.value >= handler.value) || tick.value > 0.9 * rounds[0].fast.interval_ns)
		return -EAGAIN;
	cal->tick_ns = tick.value;
	cal->tick_error_ns = tick.error;
	cal->ticks = ticks;
	cal->handler_ns = handler.value;
	cal->handler_spread_ns = spread(seen, n);
	cal->entry_ns = tick.value - handler.value;
	cal->other_part = fmax(estimate(others, n).value, 0);
	cal->n_domains = rounds[0].fast.n_domains;
	for (unsigned int d = 0; d < cal->n_domains; d++) {
		solve_power(rounds, n, u, d, cal);
		cal->idle_uj[d] = idle_energy(rounds, n, d);
	}
	return 0;
}
