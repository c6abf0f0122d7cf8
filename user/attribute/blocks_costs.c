// SPDX-License-Identifier: GPL-2.0-or-later
/* Cost of interrupts, as calibrated and as recorded; see blocks_costs.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "attribute/blocks_costs.h"
#include "attribute/blocks_interrupts.h"

double blocks_mean_khz(const struct timeline_cpu *cpu)
{
	return cpu->clocked ? cpu->clocked / cpu->slowness : 0;
}

double blocks_own_tick_cost(const struct view *v, const struct timeline_cpu *cpu)
{
	for (size_t i = 0; i < v->rec.n_stats; i++)
		if (v->rec.stats[i].cpu == cpu->cpu && v->rec.stats[i].produced)
			return fmin((double)v->rec.stats[i].tick_ns / v->rec.stats[i].produced,
				    v->rec.meta.session.interval_ns);
	return v->rec.cal.handler_ns;
}

/* A tick's own length that differs from the calibration's by more than this means another cost. */
#define SPREADS		3

/* How many times as long as in the calibration everything takes, at the CPU's frequency. */
static double blocks_cpu_slowness(const struct view *v, const struct timeline_cpu *cpu)
{
	double khz = blocks_mean_khz(cpu);

	return v->rec.cal.freq_khz > 0 && khz > 0 ? v->rec.cal.freq_khz / khz : 1;
}

/*
 * A tick's own length less the calibrated one. It may differ mostly because of caches; small
 * differences say nothing: a few microseconds are within the time jitter of a virtual machine.
 */
static double blocks_tick_cost_excess(const struct view *v, const struct timeline_cpu *cpu)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	double scale = blocks_cpu_slowness(v, cpu),
	       more = blocks_own_tick_cost(v, cpu) - cal->handler_ns * scale;

	return fabs(more) < SPREADS * cal->handler_spread_ns * scale ? 0 : more;
}

double blocks_tick_cost(const struct view *v, const struct timeline_cpu *cpu)
{
	const struct kjoule_calibration *cal = &v->rec.cal;

	if (!cal->ticks)
		return blocks_own_tick_cost(v, cpu);
	return fmin(cal->tick_ns * blocks_cpu_slowness(v, cpu) + blocks_tick_cost_excess(v, cpu),
		    v->rec.meta.session.interval_ns);
}

/*
 * A tick that takes longer than calibrated waits, for memory or for a host, and draws little more
 * than a sleeping CPU; or it does more, at the calibrated power. It is unknown which.
 */
double blocks_tick_less(const struct view *v, double irq_w, double idle_w)
{
	double all = 0, longer = 0;

	for (size_t i = 0; i < v->tl.n_cpus && v->rec.cal.ticks; i++) {
		const struct timeline_cpu *cpu = &v->tl.cpus[i];

		for (size_t k = 0; k < v->rec.n_stats; k++) {
			if (v->rec.stats[k].cpu != cpu->cpu)
				continue;
			all += v->rec.stats[k].produced * blocks_tick_cost(v, cpu);
			longer += v->rec.stats[k].produced *
				  fmax(blocks_tick_cost_excess(v, cpu), 0);
		}
	}
	return all > 0 && idle_w > 0 && idle_w < irq_w ? fmin(longer / all, 1) * (irq_w - idle_w) /
	       2 : 0;
}

/* The part of the time in other interrupts, where samples cannot be, and twice its error. */
void blocks_other_interrupts(const struct view *v, double *part, double *error)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	double khz = 0, slower = 1;
	size_t n = 0;

	for (size_t i = 0; i < v->tl.n_cpus; i++) {
		double k = blocks_mean_khz(&v->tl.cpus[i]);

		khz += k;
		n += k > 0;
	}
	if (cal->freq_khz > 0 && n)
		slower = cal->freq_khz / (khz / n);
	*part = cal->other_part * slower;
	*error = isnan(cal->other_error) ? 0 : 2 * cal->other_error * slower;
	/* More than a fifth is not used for corrections, nor is a negative value. */
	if (!(*part >= 0 && *part < 0.2)) {
		*error += fabs(*part);
		*part = 0;
	}
	*error = fmin(fmax(*error, 0), 1);
}

double blocks_calibration_error(const struct view *v, const struct energy_columns *m)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	double time = cal->ticks ? cal->tick_error_ns / cal->tick_ns : 0, energy = 0;

	if (!cal->ticks)
		return BLOCKS_UNCALIBRATED;
	for (unsigned int i = 0; i < m->n; i++) {
		int d = m->calibrated[i];

		if (d >= 0 && cal->irq_uw[d] > 0 && isfinite(cal->irq_error_uw[d]))
			energy = fmax(energy, cal->irq_error_uw[d] / cal->irq_uw[d]);
	}
	return 2 * hypot(time, energy);
}

/*
 * If ticks have lengths: how many times the average of all ticks that is, entry and exit of the
 * interrupt included. Ticks without a sample are among these, and shorter. Return: whether any has
 */
static bool blocks_compare_tick_costs(const struct blocks *b, struct profile_cost *costs)
{
	double tick_ns = 0, own_ns = 0;
	bool any = false;
	size_t n = 0;

	for (size_t i = 0; i < b->input.n_streams; i++) {
		if (b->streams[i].shadow)
			continue;
		tick_ns += b->streams[i].tick_ns;
		own_ns += b->streams[i].idle_tick_ns;
		n++;
	}
	for (uint32_t i = 0; i < b->n_functions && tick_ns > 0; i++) {
		const struct blocks_function *f = &b->functions[i];

		if (!f->timed)
			continue;
		costs[i].longer =
			fmax(1 + (n * (double)f->took_ns / f->timed - own_ns) / tick_ns, 0);
		any = true;
	}
	return any;
}

int blocks_costs_compare(struct blocks *b)
{
	struct profile_cost *costs = malloc((b->n_functions + 1) * sizeof(*costs));
	bool unlike;

	if (!costs)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_functions; i++)
		costs[i] = (struct profile_cost){ .longer = 1, .interrupted = 1 };
	unlike = blocks_compare_tick_costs(b, costs);
	unlike |= blocks_interrupts_compare(b, costs);
	free(b->costs);
	if (!unlike) {
		free(costs);
		costs = NULL;
	}
	b->costs = costs;
	b->input.costs = costs;
	return 0;
}
