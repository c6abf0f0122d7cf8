// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides how fast the cores of a package may run. Above its base frequency it runs the faster the
 * fewer of its CPUs are at work, for as long as what it draws on the average stays below
 * PL1, its temperature below a limit or the boost's time is not used up, by the profile;
 * then it falls back to a frequency that it can sustain. Owns the weighted mean of the power
 * and the boost's time; grants.c carries out what is decided here. Called by package.c.
 */
#include "turbo.h"

#include <math.h>
#include <stdbool.h>

#include "core.h"
#include "log.h"

void turbo_init(struct turbo *t, unsigned int package)
{
	*t = (struct turbo){ .package = package, .pstate = chip->pstates - 1 };
	page_write(page.pkg[package]->turbo_khz, chip->freq_khz[t->pstate]);
}

/* CPUs that halt for a moment are at work all the same. */
static unsigned int count_active(struct turbo *t, uint64_t now, uint32_t running)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < core_count; i++) {
		if (running & cores[i].bit)
			t->ran_ns[i] = now;
		n += t->ran_ns[i] && now - t->ran_ns[i] <= chip->turbo_hold_ns;
	}
	return n;
}

static bool above(bool is, double value, double limit, double gap)
{
	return value >= limit - (is ? gap : 0);
}

static void weigh_power(struct turbo *t, uint64_t ns, double uw)
{
	struct vchip_pkg *regs = page.pkg[t->package];
	uint64_t tau_us = page_read(regs->limit_tau_us), limit = page_read(regs->limit_pl1_uw);

	tau_us = tau_us ? tau_us : chip->tau_us;
	limit = limit ? limit : chip->pl1_uw;
	t->mean_uw += (uw - t->mean_uw) * -expm1(-(double)ns / (1000.0 * (double)tau_us));
	/*
	 * energy that is taken back when an instruction faults may be more than was drawn, at the
	 * very first
	 */
	t->mean_uw = fmax(t->mean_uw, 0);
	page_write(regs->budget_uw, (uint64_t)t->mean_uw);
	if (above(t->why & TURBO_POWER, t->mean_uw, (double)limit, (double)chip->turbo_return_uw))
		t->why |= TURBO_POWER;
	else
		t->why &= ~TURBO_POWER;
}

static void watch_temperature(struct turbo *t, double temp_mc)
{
	if (above(t->why & TURBO_TEMPERATURE, temp_mc, chip->turbo_trip_mc, chip->turbo_return_mc))
		t->why |= TURBO_TEMPERATURE;
	else
		t->why &= ~TURBO_TEMPERATURE;
}

/*
 * The boost's time comes back after a rest, all of it. Work of a moment, as interrupts are, ends no
 * rest, nor does a moment's rest end work. What turns out to be more than a moment counts from its
 * beginning.
 */
static void spend_time(struct turbo *t, uint64_t ns, unsigned int active)
{
	bool counted = t->worked_ns > chip->turbo_moment_ns;

	t->worked_ns = active ? t->worked_ns + ns : 0;
	if (t->worked_ns > chip->turbo_moment_ns) {
		t->rested_ns = 0;
		if (!(t->why & TURBO_TIME))
			t->boosted_ns += counted ? ns : t->worked_ns;
	} else {
		t->rested_ns += ns;
	}
	if (t->rested_ns >= chip->turbo_rest_ns)
		t->boosted_ns = 0;
	if (t->boosted_ns >= chip->turbo_time_ns)
		t->why |= TURBO_TIME;
	else
		t->why &= ~TURBO_TIME;
}

static uint32_t decide(const struct turbo *t, unsigned int active)
{
	uint32_t most = chip->turbo_by_active[active > 1 ? active - 1 : 0];

	if (page_read(page.pkg[t->package]->turbo_off))
		return chip->base_pstate;
	return t->why && most > chip->sustained_pstate ? chip->sustained_pstate : most;
}

void turbo_advance(struct turbo *t, uint64_t now, uint64_t ns, double uw, uint32_t running,
		   double temp_mc)
{
	uint32_t before = t->pstate, was = t->why, most;
	unsigned int active;

	if (!chip->has_turbo)
		return;
	active = count_active(t, now, running);
	if (chip->turbo_ends & TURBO_POWER)
		weigh_power(t, ns, uw);
	if (chip->turbo_ends & TURBO_TEMPERATURE)
		watch_temperature(t, temp_mc);
	if (chip->turbo_ends & TURBO_TIME)
		spend_time(t, ns, active);
	most = decide(t, active);
	if (most == before && t->why == was && active == t->at_work)
		return;
	t->at_work = active;
	t->pstate = most;
	page_write(page.pkg[t->package]->turbo_khz, chip->freq_khz[most]);
	log_turbo(t, now, (int32_t)temp_mc);
}
