// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides how fast cores may run. Above its base frequency the chip runs the faster the
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

uint32_t turbo_pstate;

static double mean_uw;
static uint64_t boosted_ns, rested_ns, worked_ns;
static uint32_t why;			/* TURBO_*: what ends the boost now */
static unsigned int at_work;
static uint64_t ran_ns[VCHIP_MAX_CPUS];	/* when each ran last */

void turbo_init(void)
{
	turbo_pstate = chip->pstates - 1;
	mean_uw = 0;
	boosted_ns = rested_ns = worked_ns = 0;
	why = 0;
	at_work = 0;
	for (unsigned int i = 0; i < VCHIP_MAX_CPUS; i++)
		ran_ns[i] = 0;
	page_write(page.pkg->turbo_khz, chip->freq_khz[turbo_pstate]);
}

/* CPUs that halt for a moment are at work all the same. */
static unsigned int count_active(uint64_t now, uint32_t running)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < core_count; i++) {
		if (running & cores[i].bit)
			ran_ns[i] = now;
		n += ran_ns[i] && now - ran_ns[i] <= chip->turbo_hold_ns;
	}
	return n;
}

static bool above(bool is, double value, double limit, double gap)
{
	return value >= limit - (is ? gap : 0);
}

static void weigh_power(uint64_t ns, double uw)
{
	uint64_t tau_us = page_read(page.pkg->limit_tau_us), limit = page_read(page.pkg->limit_pl1_uw);

	tau_us = tau_us ? tau_us : chip->tau_us;
	limit = limit ? limit : chip->pl1_uw;
	mean_uw += (uw - mean_uw) * -expm1(-(double)ns / (1000.0 * (double)tau_us));
	/* energy that is taken back when an instruction faults may be more than was drawn, at the very first */
	mean_uw = fmax(mean_uw, 0);
	page_write(page.pkg->budget_uw, (uint64_t)mean_uw);
	if (above(why & TURBO_POWER, mean_uw, (double)limit, (double)chip->turbo_return_uw))
		why |= TURBO_POWER;
	else
		why &= ~TURBO_POWER;
}

static void watch_temperature(double temp_mc)
{
	if (above(why & TURBO_TEMPERATURE, temp_mc, chip->turbo_trip_mc, chip->turbo_return_mc))
		why |= TURBO_TEMPERATURE;
	else
		why &= ~TURBO_TEMPERATURE;
}

/*
 * The boost's time comes back after a rest, all of it. Work of a moment, as interrupts are, ends no rest, nor does a moment's rest end work.
 * What turns out to be more than a moment counts from its beginning.
 */
static void spend_time(uint64_t ns, unsigned int active)
{
	bool counted = worked_ns > chip->turbo_moment_ns;

	worked_ns = active ? worked_ns + ns : 0;
	if (worked_ns > chip->turbo_moment_ns) {
		rested_ns = 0;
		if (!(why & TURBO_TIME))
			boosted_ns += counted ? ns : worked_ns;
	} else {
		rested_ns += ns;
	}
	if (rested_ns >= chip->turbo_rest_ns)
		boosted_ns = 0;
	if (boosted_ns >= chip->turbo_time_ns)
		why |= TURBO_TIME;
	else
		why &= ~TURBO_TIME;
}

static uint32_t decide(unsigned int active)
{
	uint32_t most = chip->turbo_by_active[active > 1 ? active - 1 : 0];

	if (page_read(page.pkg->turbo_off))
		return chip->base_pstate;
	return why && most > chip->sustained_pstate ? chip->sustained_pstate : most;
}

void turbo_advance(uint64_t now, uint64_t ns, double uw, uint32_t running, double temp_mc)
{
	uint32_t before = turbo_pstate, was = why, most;
	unsigned int active;

	if (!chip->has_turbo)
		return;
	active = count_active(now, running);
	if (chip->turbo_ends & TURBO_POWER)
		weigh_power(ns, uw);
	if (chip->turbo_ends & TURBO_TEMPERATURE)
		watch_temperature(temp_mc);
	if (chip->turbo_ends & TURBO_TIME)
		spend_time(ns, active);
	most = decide(active);
	if (most == before && why == was && active == at_work)
		return;
	at_work = active;
	turbo_pstate = most;
	page_write(page.pkg->turbo_khz, chip->freq_khz[most]);
	log_turbo(now, chip->freq_khz[most], active, why, (uint64_t)mean_uw, (int32_t)temp_mc);
}
