// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The arithmetic of the calibration, see calibrate.h. Every round compares successive phases, and
 * the result is the median of the rounds: temporary disturbances, such as a drift of the clock or
 * another guest of the host, spoil slots, or a round, and not the result.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/control/calibrate.h"

#define CLOSEST		3	/* the part of the slots that must be close together: a third */
#define LEAST_PART	2		/* least number of values to be close */
/* from the middle of these, by their width: nearly all, if normal */
#define REACH		3
#define ROUNDING	1e-9		/* of a value: equal ones are none apart */
#define TOOK_LONG	2		/* times as long as usual: the CPU was away in a tick */
#define LOOKS		1e-3	/* of a slot: error of reading the clock, less than any interrupt */
#define LONG_ONE	3		/* times as long as usual: not the interrupt's own time */
/* interrupts to each of these, at least: a machine that is its own */
#define FEW_GONE	20
/* of a slot lost: the CPU was away, or in one interrupt after another */
#define ALL		0.95
#define AWAY_DIFFERS	0.005		/* least difference of two phases' parts to give a slope */
/* of all time, by which a phase without ticks differs from those with them */
#define UNLIKE		0.01
/* part of the phases with less loss than by interrupts: by chance */
#define LOWEST		8
#define OF_BOUND	3		/* a bound's part that is its standard error */
#define TO_SIGMA	1.4826	/* a median of distances to a standard deviation, if normal */
#define OF_MEDIAN	1.2533		/* a median's standard error over a mean's, likewise */

/* A figure with its standard error, NAN: unknown. */
struct estimate {
	double value, error;
};

/* Values close together: their mean, and the limit of outliers. */
struct dense {
	double value, reach;
};

/* Of a round: time of a turn without interrupts, and cost of a tick. */
struct usual {
	struct dense turn_ns, tick_ns;
};

static int real_by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts. NAN without values. */
static double reals_median(double *values, size_t n)
{
	if (!n)
		return NAN;
	qsort(values, n, sizeof(*values), real_by_size);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The median of @n values and its standard error, NANs ignored. */
static struct estimate rounds_estimate(const double *values, size_t n)
{
	struct estimate e = { NAN, INFINITY };
	double known[CALIBRATE_MOST_ROUNDS];
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			known[m++] = values[i];
	/* half of the rounds or less are not enough */
	if (2 * m <= n)
		return e;
	e.value = reals_median(known, m);
	if (m < 3)
		return e;
	for (size_t i = 0; i < m; i++)
		known[i] = fabs(known[i] - e.value);
	e.error = OF_MEDIAN * TO_SIGMA * reals_median(known, m) / sqrt(m);
	return e;
}

/* The standard deviation of values, NANs ignored. */
static double reals_sd(const double *values, size_t n)
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
 * Where values are densest: the mean of those around the shortest interval with @part of them,
 * among the lowest @from. Sorts.
 */
static struct dense reals_densest(double *values, size_t n, size_t part, size_t from)
{
	struct dense d = { NAN, NAN };
	size_t best = 0, last = part - 1, m = 0;
	double middle, sum = 0;

	if (part < LEAST_PART || part > from)
		return d;
	qsort(values, n, sizeof(*values), real_by_size);
	for (size_t i = 1; i + last < from; i++)
		if (values[i + last] - values[i] < values[best + last] - values[best])
			best = i;
	middle = (values[best + last] + values[best]) / 2;
	d.reach = REACH * (values[best + last] - values[best]) + ROUNDING * fabs(middle);
	for (size_t i = 0; i < n; i++) {
		if (fabs(values[i] - middle) <= d.reach) {
			sum += values[i];
			m++;
		}
	}
	d.value = sum / m;
	return d;
}

/*
 * @value_of the slots of a phase, by @u, NANs ignored. Return: how many; @values is the caller's to
 *   free, NULL without memory.
 */
static size_t slots_values(const struct kjoule_phase *p, const struct usual *u,
			   double (*value_of)(const struct kjoule_slot *s, const struct usual *u),
			   double **values)
{
	size_t n = 0;

	*values = calloc(p->n + 1, sizeof(**values));
	for (size_t i = 0; *values && i < p->n; i++) {
		(*values)[n] = value_of(&p->slots[i], u);
		n += !isnan((*values)[n]);
	}
	return n;
}

/*
 * The usual @value_of. Other interrupts and hosts that take the CPU away make it larger, never
 * smaller: it is in the lower half, and a median would be biased.
 */
static struct dense slots_usual(const struct kjoule_phase *p, const struct usual *u,
				double (*value_of)(const struct kjoule_slot *s,
						   const struct usual *u))
{
	struct dense d = { NAN, NAN };
	double *values;
	size_t n = slots_values(p, u, value_of, &values);

	if (values)
		d = reals_densest(values, n, n / CLOSEST, (n + 1) / 2);
	free(values);
	return d;
}

static double slots_mean(const struct kjoule_phase *p, const struct usual *u,
			 double (*value)(const struct kjoule_slot *s, const struct usual *u))
{
	double *values, sum = 0;
	size_t n = slots_values(p, u, value, &values);

	for (size_t i = 0; values && i < n; i++)
		sum += values[i];
	free(values);
	return n ? sum / n : NAN;
}

static double slot_turn_ns(const struct kjoule_slot *s, const struct usual *u)
{
	(void)u;
	return 1 / s->rate;
}

/* The part of a slot in which the loop did not run. */
static double slot_lost_part(const struct kjoule_slot *s, const struct usual *u)
{
	return 1 - s->rate * u->turn_ns.value;
}

/* The part of a phase in which it did not. */
static double phase_lost_part(const struct kjoule_phase *p, const struct usual *u)
{
	double turns_ns = 0, ns = 0;

	for (size_t i = 0; i < p->n; i++) {
		turns_ns += p->slots[i].rate * p->slots[i].ns * u->turn_ns.value;
		ns += p->slots[i].ns;
	}
	return 1 - turns_ns / ns;
}

/* Cost of each tick of a slot, other losses included. */
static double slot_tick_ns(const struct kjoule_slot *s, const struct usual *u)
{
	return s->ticks ? s->ns * slot_lost_part(s, u) / s->ticks : NAN;
}

/* What each tick of a slot saw itself, unless something took the CPU away from one for longer. */
static double slot_seen_ns(const struct kjoule_slot *s, const struct usual *u)
{
	return slot_tick_ns(s, u) < TOOK_LONG * u->tick_ns.value ? s->seen_ns / s->ticks : NAN;
}

/* The same of slots whose ticks cost the usual. */
static double slot_seen_usual_ns(const struct kjoule_slot *s, const struct usual *u)
{
	return fabs(slot_tick_ns(s, u) - u->tick_ns.value) <= u->tick_ns.reach ?
	       s->seen_ns / s->ticks : NAN;
}

/* The time of other interrupts in a slot, if there were any: it is not a usual one. */
static double slot_other_ns(const struct kjoule_slot *s, const struct usual *u)
{
	double turn = 1 / s->rate, part = slot_lost_part(s, u);

	return turn - u->turn_ns.value > u->turn_ns.reach && part > LOOKS && part < ALL ?
	       s->ns * part : NAN;
}

/*
 * Cost of each of @count interrupts: that of most. Some take longer, and one at the border of two
 * slots is in both: so, what all slots have lost, unless a host or firmware had the CPU in more
 * than a few of them.
 */
static double interrupts_each_ns(const double *lost, size_t n, double count, double usual)
{
	double sum = 0;
	size_t gone = 0;

	for (size_t i = 0; i < n; i++) {
		bool longer = lost[i] > LONG_ONE * usual;

		sum += longer ? usual : lost[i];
		gone += longer;
	}
	return gone <= 1 + count / FEW_GONE ? fmax(sum / count, usual) : usual;
}

/*
 * The part of a quiet phase in other interrupts: their number, as counted by the kernel, times the
 * usual loss of slots that had one. The loss of all slots would be too much if a host or firmware
 * takes the CPU away, which varies. NAN if they cannot be separated; @most is an upper bound then:
 * all that slots have lost, and what an interrupt can take unseen.
 */
static double phase_other_part(const struct kjoule_phase *p, const struct usual *u, double *most)
{
	double each_slot = p->irq_hz * CALIBRATE_SLOT_NS * 1e-9, count = each_slot * p->n,
		each = NAN;
	struct dense d = { NAN, NAN };
	double *values;
	size_t n = slots_values(p, u, slot_other_ns, &values);

	if (values && n >= fmin(count, p->n) / 2)
		d = reals_densest(values, n, fmin(count, n) / CLOSEST, n);
	if (d.reach < d.value && each_slot <= 1)
		each = interrupts_each_ns(values, n, count, d.value);
	else if (d.reach < d.value)
		each = d.value / each_slot;
	free(values);
	*most = fmax(phase_lost_part(p, u), 0) +
		fmin(each_slot, 1) * u->turn_ns.reach / u->turn_ns.value;
	return each * p->irq_hz * 1e-9;
}

/* Of a phase's slots: ticks a second. */
static double phase_tick_hz(const struct kjoule_phase *p)
{
	double ticks = 0, ns = 0;

	for (size_t i = 0; i < p->n; i++) {
		ticks += p->slots[i].ticks;
		ns += p->slots[i].ns;
	}
	return 1e9 * ticks / ns;
}

/*
 * What phases with ticks have lost besides these; all but a few by chance have lost at least the
 * time of other interrupts, and most of them more. NAN if there are none.
 */
static double phases_least_lost(const struct kjoule_round *rounds, size_t n, const struct usual *u,
				double tick_ns)
{
	double lost[2 * CALIBRATE_MOST_ROUNDS];
	size_t m = 0;

	for (size_t i = 0; i < 2 * n; i++) {
		const struct kjoule_round *r = &rounds[i / 2];
		const struct kjoule_phase *p = i % 2 ? &r->fast : &r->slow;

		lost[m] = phase_lost_part(p, &u[i / 2]) - phase_tick_hz(p) * tick_ns * 1e-9;
		m += !isnan(lost[m]);
	}
	qsort(lost, m, sizeof(*lost), real_by_size);
	return m ? fmax(lost[m / LOWEST], 0) : NAN;
}

/*
 * Cost of other interrupts, measured without ticks, which is not how a recording is: on a virtual
 * machine whose host has evicted all of the kernel meanwhile each of them may take several times as
 * long there. If so, it is the least loss of phases with ticks, with that uncertainty. If it is
 * unknown in most rounds it is 0, and its bound is two standard errors then.
 */
static struct estimate rounds_other_interrupts(const struct kjoule_round *rounds, size_t n,
					       const struct usual *u, const struct estimate *tick)
{
	double told[CALIBRATE_MOST_ROUNDS], most[CALIBRATE_MOST_ROUNDS];
	double least = phases_least_lost(rounds, n, u, tick->value);
	double ticks = phase_tick_hz(&rounds[0].fast) * tick->error * 1e-9;
	struct estimate e;

	for (size_t r = 0; r < n; r++) {
		told[r] = phase_other_part(&rounds[r].quiet, &u[r], &most[r]);
	}
	e = rounds_estimate(told, n);
	if (isnan(e.value))
		return (struct estimate){ 0, fmax(rounds_estimate(most, n).value, 0) / 2 };
	e.value = fmax(e.value, 0);
	/* two rounds give no spread */
	e.error = isfinite(e.error) ? e.error : e.value;
	if (e.value - least > UNLIKE + 2 * ticks) {
		e.value = least;
		e.error = fmax(e.error, fmax(least / OF_BOUND, ticks));
	}
	return e;
}

/* Other interrupts a second; 0: unknown. */
static double rounds_other_hz(const struct kjoule_round *rounds, size_t n)
{
	double hz[CALIBRATE_MOST_ROUNDS];
	size_t m = 0;

	for (size_t r = 0; r < n; r++) {
		hz[m] = rounds[r].quiet.irq_hz;
		m += isfinite(hz[m]) && hz[m] > 0;
	}
	return m ? reals_median(hz, m) : 0;
}

/* The part of a phase in which the CPU was away, other than in ticks and interrupts. */
static double phase_away_part(const struct kjoule_phase *p, const struct usual *u,
			      const struct kjoule_calibration *cal)
{
	return phase_lost_part(p, u) - phase_tick_hz(p) * cal->tick_ns * 1e-9 - cal->other_part;
}

/* Powers of phases of one kind, the part of them in which the CPU was away, and their ticks. */
struct powers {
	double uw[CALIBRATE_MOST_ROUNDS];
	double away[CALIBRATE_MOST_ROUNDS];
	double hz[CALIBRATE_MOST_ROUNDS];
};

static double powers_mean_away(const struct powers *p, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += p->away[i] / n;
	return sum;
}

/* The slopes between all phases of a kind with different away times. Return: how many */
static size_t powers_slopes(const struct powers *p, size_t n, double *slope)
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
 * The powers as if the CPU had never been away: the median of all slopes (Sen, Estimates of the
 * regression coefficient based on Kendall's tau, JASA 63, 1968). If only one phase differs, which
 * gives n - 1 slopes, the median of the rounds leaves it out anyway. Return: the standard error of
 * a difference between the two kinds that follows
 */
static double powers_take_out_away(struct powers *slow, struct powers *fast, size_t n)
{
	double slope[CALIBRATE_MOST_ROUNDS * CALIBRATE_MOST_ROUNDS], by;
	size_t m = powers_slopes(slow, n, slope);

	m += powers_slopes(fast, n, slope + m);
	if (m < n)
		return 0;
	by = reals_median(slope, m);
	for (size_t r = 0; r < n; r++) {
		slow->uw[r] -= by * slow->away[r];
		fast->uw[r] -= by * fast->away[r];
	}
	for (size_t i = 0; i < m; i++)
		slope[i] = fabs(slope[i] - by);
	/* of so many slopes no more than there are rounds are independent */
	return fabs(powers_mean_away(fast, n) - powers_mean_away(slow, n)) *
	       OF_MEDIAN * TO_SIGMA * reals_median(slope, m) / sqrt(n);
}

/*
 * With L the loop's power, c a tick's time, e its energy: P = L (1 - c h) + e h for a phase with h
 * ticks a second. Two of them give L and k = e - c L.
 */
static void domain_solve_power(const struct kjoule_round *rounds, size_t n, const struct usual *u,
			       unsigned int d, struct kjoule_calibration *cal)
{
	double k[CALIBRATE_MOST_ROUNDS], loop[CALIBRATE_MOST_ROUNDS], tick_s = cal->tick_ns * 1e-9;
	double error, more_hz = 0;
	struct powers slow, fast;
	struct estimate more;

	for (size_t r = 0; r < n; r++) {
		slow.uw[r] = rounds[r].slow.uw[d];
		slow.away[r] = phase_away_part(&rounds[r].slow, &u[r], cal);
		slow.hz[r] = phase_tick_hz(&rounds[r].slow);
		fast.uw[r] = rounds[r].fast.uw[d];
		fast.away[r] = phase_away_part(&rounds[r].fast, &u[r], cal);
		fast.hz[r] = phase_tick_hz(&rounds[r].fast);
	}
	error = powers_take_out_away(&slow, &fast, n);
	for (size_t r = 0; r < n; r++) {
		k[r] = (fast.uw[r] - slow.uw[r]) / (fast.hz[r] - slow.hz[r]);
		loop[r] = slow.uw[r] - slow.hz[r] * k[r];
		more_hz += (fast.hz[r] - slow.hz[r]) / n;
	}
	more = rounds_estimate(k, n);
	cal->loop_uw[d] = rounds_estimate(loop, n).value;
	cal->irq_uw[d] = more.value / tick_s + cal->loop_uw[d];
	cal->irq_error_uw[d] = hypot(more.error, error / more_hz) / tick_s;
	/* a too coarse energy counter gives impossible values */
	if (!(cal->irq_uw[d] > 0) || cal->irq_uw[d] > 10 * cal->loop_uw[d])
		cal->irq_uw[d] = NAN;
}

/* Energy that ticks at twice the rate and more add to an idle CPU. */
static double domain_idle_energy(const struct kjoule_round *rounds, size_t n, unsigned int d)
{
	double uj[CALIBRATE_MOST_ROUNDS], idle;
	size_t m = 0;

	for (size_t r = 0; r < n; r++) {
		const struct kjoule_round *round = &rounds[r];

		if (round->doze.ticks && round->nap.ticks)
			uj[m++] = (round->nap.uw[d] - round->doze.uw[d]) /
				  (1e9 / round->nap.interval_ns - 1e9 / round->doze.interval_ns);
	}
	idle = rounds_estimate(uj, m).value;
	/* idle CPUs have other work as well: a negative result is none */
	return idle >= 0 ? idle : NAN;
}

/*
 * Power of an idle CPU without its few ticks: the least of the rounds, which was disturbed least.
 */
static double domain_idle_power(const struct kjoule_round *rounds, size_t n, unsigned int d,
				double tick_uj)
{
	double least = NAN;

	for (size_t r = 0; r < n; r++) {
		const struct kjoule_phase *doze = &rounds[r].doze;

		if (doze->ticks)
			least = fmin(least, doze->uw[d] - 1e9 / doze->interval_ns * tick_uj);
	}
	return least > 0 ? least : NAN;
}

int kjoule_calibration_solve(const struct kjoule_round *rounds, size_t n,
			     struct kjoule_calibration *cal)
{
	double ticks_ns[CALIBRATE_MOST_ROUNDS], handlers[CALIBRATE_MOST_ROUNDS];
	double raw[CALIBRATE_MOST_ROUNDS];
	struct usual u[CALIBRATE_MOST_ROUNDS] = { 0 };
	struct estimate tick, handler, others;
	uint64_t ticks = 0;

	if (!n || n > CALIBRATE_MOST_ROUNDS)
		return -EAGAIN;
	for (size_t r = 0; r < n; r++) {
		const struct kjoule_phase *quiet = &rounds[r].quiet, *fast = &rounds[r].fast;

		u[r].turn_ns = slots_usual(quiet, &u[r], slot_turn_ns);
		u[r].tick_ns = slots_usual(fast, &u[r], slot_tick_ns);
		handlers[r] = slots_mean(fast, &u[r], slot_seen_ns);
		/* a few ticks take longer than usual, and see it themselves */
		ticks_ns[r] = u[r].tick_ns.value + handlers[r] -
			      slots_mean(fast, &u[r], slot_seen_usual_ns);
		raw[r] = fast->handler_ns;
		ticks += fast->ticks;
	}
	if (!ticks)
		return -EAGAIN;
	tick = rounds_estimate(ticks_ns, n);
	handler = rounds_estimate(handlers, n);
	/* at least what the tick sees itself */
	if (!(tick.value >= handler.value) || tick.value > 0.9 * rounds[0].fast.interval_ns)
		return -EAGAIN;
	cal->tick_ns = tick.value;
	cal->tick_error_ns = tick.error;
	cal->ticks = ticks;
	cal->handler_ns = handler.value;
	/* of all that they saw, as in a recording's counters */
	cal->handler_spread_ns = reals_sd(raw, n);
	cal->entry_ns = tick.value - handler.value;
	others = rounds_other_interrupts(rounds, n, u, &tick);
	cal->other_part = others.value;
	cal->other_error = others.error;
	cal->other_hz = rounds_other_hz(rounds, n);
	cal->n_domains = rounds[0].fast.n_domains;
	for (unsigned int d = 0; d < cal->n_domains; d++) {
		domain_solve_power(rounds, n, u, d, cal);
		cal->idle_uj[d] = domain_idle_energy(rounds, n, d);
		cal->idle_uw[d] = domain_idle_power(rounds, n, d, cal->idle_uj[d]);
	}
	return 0;
}
