// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See vpm.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include "analysis/vpm/vpm.h"

/* Outliers, in standard deviations of a normal distribution with the same middle half. */
#define LEFT_OUT	6.0

/* From the middle half of a normal distribution to its standard deviation. */
#define IQR_SIGMA	1.349

/* Passes of leaving out outliers. */
#define PASSES		4

/* Half of a 95 % interval of a normal distribution, in standard deviations. */
#define NORMAL_95	1.96

/* Of the sensing interval: shorter busy times of other CPUs, known to a microsecond, are none. */
#define BUSY_LEAST	1e-3

/*
 * A CPU draws more than an idle one around its idle times: by so much the energy that is taken out
 * may be larger. A third of it was left where a tick woke the other CPU, see concurrency in
 * Documentation/accuracy.rst.
 */
#define BUSY_UNSEEN	0.5

/* Readings are whole microwatts: smaller differences are none. */
#define ALIKE_W		0.5e-6

/* Interrupts in @irq_interval_s: a tick of ours and one of the kernel's. */
#define IRQS		2

/* Runs of a block may have so many interrupts more than most, or less. */
#define IRQ_INTERVALS	2

/* Readings of one kind: time that the program ran, energy, and busy time of other CPUs. */
struct half {
	size_t n;
	double *ran, *j, *busy, *buf;
	double mean_ran, mean_j, mean_busy;
};

/* Power of a busy CPU above an idle one, its standard error, and the least busy time. */
struct busy {
	double w, error_w, least_s;
};

/*
 * Properties of all readings.
 * @step_j: the meter's smallest step, as an energy
 * @irqs: the block's runs contain interrupts, and readings with fewer or more of them belong to the
 *   others
 * @busy: by what readings were corrected, 0 if they were not
 */
struct known {
	double step_j;
	bool irqs;
	struct busy busy;
};

/* How far readings of a kind may be from most others; @least_j: their least deviation. */
struct usual {
	double ran, j, least_j;
};

static void half_set_means(struct half *h)
{
	h->mean_ran = h->n ? gsl_stats_mean(h->ran, 1, h->n) : NAN;
	h->mean_j = h->n ? gsl_stats_mean(h->j, 1, h->n) : NAN;
	h->mean_busy = h->n ? gsl_stats_mean(h->busy, 1, h->n) : NAN;
}

/*
 * A reading's residual from the mean of its kind, corrected for how long it ran, at @w more than
 * when paused.
 */
static double reading_residual(const struct half *h, size_t i, double w)
{
	return h->j[i] - h->mean_j - w * (h->ran[i] - h->mean_ran);
}

/* Standard deviation of most of a kind's @values, and their @middle. */
static double values_spread(const struct half *h, const double *values, double *middle)
{
	for (size_t i = 0; i < h->n; i++)
		h->buf[i] = values[i];
	gsl_sort(h->buf, 1, h->n);
	*middle = gsl_stats_median_from_sorted_data(h->buf, 1, h->n);
	return (gsl_stats_quantile_from_sorted_data(h->buf, 1, h->n, 0.75) -
		gsl_stats_quantile_from_sorted_data(h->buf, 1, h->n, 0.25)) / IQR_SIGMA;
}

/*
 * Keep readings near most others' values, or no more than @usual from their middle.
 * @least: lower bound of their standard deviation
 * Return: how many are left out
 */
static size_t readings_keep_near(struct half *h, const double *values, double usual, double least)
{
	double middle, spread = fmax(values_spread(h, values, &middle), least);
	size_t out = 0, n = h->n;

	/* readings that are nearly all equal give no spread */
	if (!(spread > 0))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (fabs(values[i] - middle) > fmax(LEFT_OUT * spread, usual))
			continue;
		h->ran[out] = h->ran[i];
		h->busy[out] = h->busy[i];
		h->j[out++] = h->j[i];
	}
	h->n = out;
	return n - out;
}

/* Room for values, and for the same in order before them. */
static double *half_values_room(const struct half *h)
{
	return h->buf + h->n;
}

/* Leave out outliers in time or energy. Return: how many */
static size_t readings_leave_out(struct half *h, double w, const struct usual *usual)
{
	double *values = half_values_room(h);
	size_t left;

	if (h->n < 4)
		return 0;
	for (size_t i = 0; i < h->n; i++)
		values[i] = h->ran[i];
	left = readings_keep_near(h, values, usual->ran, 0);
	half_set_means(h);
	for (size_t i = 0; i < h->n; i++)
		values[i] = reading_residual(h, i, w);
	left += readings_keep_near(h, values, usual->j, usual->least_j);
	half_set_means(h);
	return left;
}

/* Variance of the mean of a kind's residuals. */
static double readings_variance(const struct half *h, double w)
{
	double sum = 0;

	for (size_t i = 0; i < h->n; i++)
		sum += pow(reading_residual(h, i, w), 2);
	return sum / (h->n - 1) / h->n;
}

/*
 * The meter's smallest step: the smallest difference of two readings. If few differ it may be
 * several steps, which is on the safe side.
 * @buf: room for all readings
 */
static double meter_step(const struct vpm_input *in, double *buf)
{
	double step = INFINITY;

	for (size_t i = 0; i < in->n; i++)
		buf[i] = in->readings[i].power_w;
	gsl_sort(buf, 1, in->n);
	for (size_t i = 1; i < in->n; i++)
		if (buf[i] - buf[i - 1] > ALIKE_W)
			step = fmin(step, buf[i] - buf[i - 1]);
	return isfinite(step) ? step : 0;
}

/*
 * Variance of the mean of a kind's energies from the meter's rounding: step^2 / 12 for a reading.
 * Equal readings are all rounded by the same, which nothing shows: a group of them has one error,
 * and the groups' errors are independent.
 */
static double rounding_variance(const struct half *h, double step_j, double alike_j)
{
	double sum = 0;
	size_t from = 0;

	for (size_t i = 0; i < h->n; i++)
		h->buf[i] = h->j[i];
	gsl_sort(h->buf, 1, h->n);
	for (size_t i = 1; i <= h->n; i++) {
		if (i < h->n && h->buf[i] - h->buf[i - 1] <= alike_j)
			continue;
		sum += pow((double)(i - from) / h->n, 2);
		from = i;
	}
	return step_j * step_j / 12 * sum;
}

static double ran_variance(const struct half *h)
{
	return gsl_stats_variance(h->ran, 1, h->n) / h->n;
}

/* Degrees of freedom of the sum of two variances (Welch, Satterthwaite). */
static double variances_dof(double a, size_t n_a, double b, size_t n_b)
{
	double d = a * a / (n_a - 1) + b * b / (n_b - 1);

	return d > 0 ? (a + b) * (a + b) / d : n_a + n_b - 2.0;
}

static struct value value_around(double v, double half)
{
	return (struct value){ v, v - half, v + half };
}

/* Power above the paused one, so far. */
static double halves_slope(const struct half *h)
{
	double latency = h[VPM_DELAYED].mean_ran - h[VPM_UNDELAYED].mean_ran;

	return latency > 0 ? (h[VPM_DELAYED].mean_j - h[VPM_UNDELAYED].mean_j) / latency : 0;
}

/*
 * The slope of energies over the time of other CPUs, in readings of a kind: how long the program
 * ran is in their residuals already. 0 if all of a kind are alike.
 */
static struct busy busy_find_power(const struct half *h)
{
	struct busy busy = { .least_s = INFINITY };
	double w = halves_slope(h), xx = 0, xy = 0, yy = 0;
	size_t n = 0;

	for (int k = 0; k < VPM_KINDS; k++) {
		for (size_t i = 0; i < h[k].n; i++) {
			double x = h[k].busy[i] - h[k].mean_busy,
			y = reading_residual(&h[k], i, k == VPM_PAUSED ? 0 : w);

			busy.least_s = fmin(busy.least_s, h[k].busy[i]);
			xx += x * x;
			xy += x * y;
			yy += y * y;
		}
		n += h[k].n;
	}
	if (xx > 0 && n > VPM_KINDS + 1) {
		busy.w = xy / xx;
		busy.error_w = sqrt(fmax(yy - xy * xy / xx, 0) / (n - VPM_KINDS - 1) / xx);
	}
	return busy;
}

/* Correct as if others had been as idle in all readings as in the best one. */
static void busy_take_out(struct half *h, const struct busy *busy)
{
	if (!(busy->error_w > 0))
		return;
	for (int k = 0; k < VPM_KINDS; k++) {
		for (size_t i = 0; i < h[k].n; i++)
			h[k].j[i] -= busy->w * (h[k].busy[i] - busy->least_s);
		half_set_means(&h[k]);
	}
}

static double power_clamp(double v, const struct vpm_input *in)
{
	if (v < in->idle_w)
		return in->idle_w;
	return v > in->peak_w ? in->peak_w : v;
}

static void power_bound(const struct vpm_input *in, struct vpm_result *r)
{
	struct value *p = &r->power_w;
	double v = power_clamp(p->v, in);

	if (p->lo <= in->idle_w && p->hi >= in->peak_w)
		r->why = VPM_VAGUE;
	else if (p->hi < in->idle_w || p->lo > in->peak_w)
		r->why = VPM_OUTSIDE;
	r->bounded = v != p->v && !r->why;
	*p = (struct value){ v, power_clamp(p->lo, in), power_clamp(p->hi, in) };
}

static struct value value_widened(const struct value *v, double by)
{
	return (struct value){ v->v, v->v - hypot(v->v - v->lo, by),
			       v->v + hypot(v->hi - v->v, by) };
}

size_t vpm_left_out(const struct vpm_result *r)
{
	return r->left_out[VPM_UNDELAYED] + r->left_out[VPM_DELAYED] + r->left_out[VPM_PAUSED];
}

struct value vpm_energy(const struct vpm_result *r, const struct value *time, double off_s)
{
	const struct value *p = &r->power_w;
	double v = p->v * time->v, more = isnan(r->irq_w) ? 0 : 2 * p->v * fmax(r->irq_w - p->v, 0);
	struct value independent = {
		v, v - hypot((p->v - p->lo) * time->v, p->v * (time->v - time->lo)),
		v + hypot((p->hi - p->v) * time->v, p->v * (time->hi - time->v)) };

	return value_widened(&independent, off_s * sqrt(more));
}

/*
 * Take out interrupts: the measured power M is that of a part r of the time at I and the rest at P,
 * so that
 *
 *	P = (M - r I) / (1 - r),	dP/dr = (P - I) / (1 - r),	dP/dI = -r / (1 - r)
 *
 * and the latency L without them is 1 - r of the measured one, dL/dr = -L / (1 - r).
 */
static void interrupts_take_out(const struct vpm_input *in, struct vpm_result *r)
{
	double part = in->irq_part, left = 1 - part, w, off_r, off_i;

	w = (r->power_w.v - part * in->irq_w) / left;
	off_r = in->irq_part_error * (w - in->irq_w) / left;
	off_i = in->irq_w_error * part / left;
	r->power_w = value_around(w, hypot((r->power_w.hi - r->power_w.v) / left,
					   hypot(off_r, off_i)));
	r->latency_s = value_around(r->latency_s.v * left,
				    hypot((r->latency_s.hi - r->latency_s.v) * left,
					  in->irq_part_error * r->latency_s.v));
	r->irq_w = in->irq_w;
}

static bool readings_are_enough(const struct vpm_result *r)
{
	return r->n[VPM_DELAYED] >= VPM_LEAST && r->n[VPM_UNDELAYED] >= VPM_LEAST &&
	       r->n[VPM_PAUSED] >= VPM_PAUSED_LEAST;
}

static void block_estimate(const struct vpm_input *in, struct half *h, const struct known *known,
			   struct vpm_result *r)
{
	double alike_j = ALIKE_W * in->interval_s;
	const struct half *d = &h[VPM_DELAYED], *u = &h[VPM_UNDELAYED], *paused = &h[VPM_PAUSED];
	double w = halves_slope(h), latency = d->mean_ran - u->mean_ran;
	double var_ran_d = ran_variance(d), var_ran_u = ran_variance(u);
	double var_d = readings_variance(d, w), var_u = readings_variance(u, w);
	double var_paused = readings_variance(paused, 0);
	double rounding_paused = rounding_variance(paused, known->step_j, alike_j);
	double rounding_two = rounding_variance(d, known->step_j, alike_j) +
			      rounding_variance(u, known->step_j, alike_j);
	double half, busy, t;

	t = interval_t(paused->n - 1.0);
	half = hypot(t * sqrt(var_paused), NORMAL_95 * sqrt(rounding_paused));
	r->paused_w = value_around(paused->mean_j / in->interval_s, half / in->interval_s);
	t = interval_t(variances_dof(var_ran_d, d->n, var_ran_u, u->n));
	half = t * sqrt(var_ran_d + var_ran_u);
	r->latency_s = value_around(latency, half);
	/* not significantly above 0 */
	if (!(latency > half)) {
		r->why = VPM_SHORT;
		return;
	}
	t = interval_t(variances_dof(var_d, d->n, var_u, u->n));
	half = hypot(t * sqrt(var_d + var_u), NORMAL_95 * sqrt(rounding_two));
	busy = (d->mean_busy - u->mean_busy) / latency +
	       (paused->mean_busy - known->busy.least_s) / in->interval_s;
	r->power_w = value_around(r->paused_w.v + w,
				  hypot(half / latency, r->paused_w.hi - r->paused_w.v));
	if (known->busy.error_w > 0)
		r->power_w = value_widened(&r->power_w,
					   busy * hypot(NORMAL_95 * known->busy.error_w,
							BUSY_UNSEEN * known->busy.w));
	if (known->irqs)
		interrupts_take_out(in, r);
	power_bound(in, r);
	/* of a mean execution: the uncertainty of its latency is added */
	r->energy_j = vpm_energy(r, &r->latency_s, known->irqs ? in->irq_part_error * latency : 0);
}

static void readings_sort_kinds(const struct vpm_input *in, struct half *h)
{
	for (int k = 0; k < VPM_KINDS; k++)
		h[k].n = 0;
	for (size_t i = 0; i < in->n; i++) {
		struct half *of = &h[in->readings[i].kind];

		of->ran[of->n] = in->readings[i].ran_s;
		of->busy[of->n] = in->readings[i].busy_s;
		if (of->busy[of->n] < BUSY_LEAST * in->interval_s)
			of->busy[of->n] = 0;
		of->j[of->n++] = in->readings[i].power_w * in->interval_s;
	}
	for (int k = 0; k < VPM_KINDS; k++)
		half_set_means(&h[k]);
}

/* Are the usable delayed readings only the block's short runs? */
static enum vpm_why readings_judge_lost(const struct vpm_input *in, size_t delayed)
{
	size_t lost = in->late + in->moved;

	if (in->late > VPM_LATE_MOST * (in->late + delayed))
		return VPM_LONG;
	return lost > VPM_LEFT_OUT_CHANCE && lost > VPM_LATE_MOST * (lost + delayed) ?
	       VPM_LOST : VPM_KNOWN;
}

static void value_reach(struct value *v, const struct value *other)
{
	v->lo = fmin(v->lo, other->lo);
	v->hi = fmax(v->hi, other->hi);
}

/*
 * Outliers may have nothing to do with the block, and are in all kinds of readings alike then, as
 * kinds are drawn at random; or they may. If there are many the interval includes both.
 */
static void power_reach_to_all(const struct vpm_input *in, struct half *h,
			       const struct known *known, struct vpm_result *r)
{
	struct vpm_result all = *r;

	readings_sort_kinds(in, h);
	busy_take_out(h, &known->busy);
	block_estimate(in, h, known, &all);
	if (all.why) {
		r->why = all.why;
		return;
	}
	r->scattered = true;
	r->bounded |= all.bounded;
	value_reach(&r->paused_w, &all.paused_w);
	value_reach(&r->latency_s, &all.latency_s);
	value_reach(&r->power_w, &all.power_w);
	value_reach(&r->energy_j, &all.energy_j);
}

/* Distance of interrupts' power from that of the interrupted code. */
static double irq_difference_w(const struct vpm_input *in, const struct half *h)
{
	return fabs(in->irq_w - h[VPM_PAUSED].mean_j / in->interval_s - halves_slope(h));
}

/*
 * Do the block's runs contain interrupts? Those of a very short block hardly ever do, and readings
 * with one are left out, if visible in the time or in the energy.
 */
static bool runs_have_interrupts(const struct vpm_input *in, const struct half *h)
{
	const struct half *d = &h[VPM_DELAYED], *u = &h[VPM_UNDELAYED];
	double one = in->irq_part * in->irq_interval_s / IRQS, ran_d, ran_u, middle, spread,
		*values = half_values_room(d);

	if (isnan(in->irq_w) || !(in->irq_part > 0) || !d->n || !u->n || !h[VPM_PAUSED].n)
		return false;
	spread = values_spread(d, d->ran, &ran_d);
	values_spread(u, u->ran, &ran_u);
	if (IRQS * (ran_d - ran_u) > VPM_LEFT_OUT_MOST * in->irq_interval_s)
		return true;
	if (one > LEFT_OUT * spread)
		return false;
	for (size_t i = 0; i < d->n; i++)
		values[i] = reading_residual(d, i, halves_slope(h));
	return one * irq_difference_w(in, h) <= LEFT_OUT * values_spread(d, values, &middle);
}

/* Interrupts are taken out as a part of all runs, also of those with fewer or more. */
static struct usual half_usual(const struct vpm_input *in, const struct half *h, int kind,
			       const struct known *known)
{
	struct usual usual = { .least_j = known->step_j / 2 };

	if (kind == VPM_PAUSED || !known->irqs)
		return usual;
	usual.ran = IRQ_INTERVALS * in->irq_part * in->irq_interval_s;
	usual.j = usual.ran * irq_difference_w(in, h);
	return usual;
}

/* So many of a kind are left out for an interrupt. */
static double readings_interrupted(const struct vpm_input *in, const struct half *h,
				   const struct known *known, size_t n)
{
	if (isnan(in->irq_w) || !(in->irq_part > 0) || known->irqs)
		return 0;
	return n * IRQS * h->mean_ran / in->irq_interval_s;
}

/*
 * Are so many of any kind left out that the rest may be biased? Those with interrupts do not count.
 */
static bool readings_are_scattered(const struct vpm_input *in, const struct half *h,
				   const struct known *known, const struct vpm_result *r)
{
	for (int k = 0; k < VPM_KINDS; k++) {
		size_t n = r->n[k] + r->left_out[k];

		if (r->left_out[k] > VPM_LEFT_OUT_CHANCE &&
		    r->left_out[k] > VPM_LEFT_OUT_MOST * n +
				     readings_interrupted(in, &h[k], known, n))
			return true;
	}
	return false;
}

static void readings_solve(const struct vpm_input *in, struct half *h, struct vpm_result *r)
{
	struct known known = { .step_j = meter_step(in, h[0].buf) * in->interval_s };
	size_t left = 1;

	readings_sort_kinds(in, h);
	known.busy = busy_find_power(h);
	busy_take_out(h, &known.busy);
	known.irqs = runs_have_interrupts(in, h);
	r->why = readings_judge_lost(in, h[VPM_DELAYED].n);
	for (int pass = 0; pass < PASSES && left; pass++) {
		double w = halves_slope(h);

		left = 0;
		for (int k = 0; k < VPM_KINDS; k++) {
			struct usual usual = half_usual(in, h, k, &known);
			size_t now = readings_leave_out(&h[k], k == VPM_PAUSED ? 0 : w, &usual);

			r->left_out[k] += now;
			left += now;
		}
	}
	for (int k = 0; k < VPM_KINDS; k++)
		r->n[k] = h[k].n;
	if (r->why)
		return;
	if (readings_are_enough(r))
		block_estimate(in, h, &known, r);
	else
		r->why = VPM_FEW;
	if (!r->why && readings_are_scattered(in, h, &known, r))
		power_reach_to_all(in, h, &known, r);
}

int vpm_solve(const struct vpm_input *in, struct vpm_result *r)
{
	static const struct value unknown = { NAN, NAN, NAN };
	struct half h[VPM_KINDS] = { 0 };
	int ret = 0;

	*r = (struct vpm_result){ .paused_w = unknown, .latency_s = unknown, .power_w = unknown,
				  .energy_j = unknown, .irq_w = NAN };
	for (int k = 0; k < VPM_KINDS; k++) {
		/* of the last: values, and the same in order */
		h[k].ran = calloc(in->n + 1, sizeof(*h[k].ran));
		h[k].j = calloc(in->n + 1, sizeof(*h[k].j));
		h[k].busy = calloc(in->n + 1, sizeof(*h[k].busy));
		h[k].buf = calloc(2 * in->n + 2, sizeof(*h[k].buf));
		if (!h[k].ran || !h[k].j || !h[k].busy || !h[k].buf)
			ret = -ENOMEM;
	}
	if (!ret)
		readings_solve(in, h, r);
	if (!ret && r->why)
		r->power_w = r->energy_j = unknown;
	for (int k = 0; k < VPM_KINDS; k++) {
		free(h[k].ran);
		free(h[k].j);
		free(h[k].busy);
		free(h[k].buf);
	}
	return ret;
}
