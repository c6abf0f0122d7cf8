// SPDX-License-Identifier: GPL-2.0-only
/*
 * The meter that starts on command: it averages the package's power over a sensing interval from
 * the start on. Called by package.c whenever energy has been integrated, about every quantum.
 */
#include "meter.h"

#include "core.h"
#include "page.h"

static uint32_t seen;
static uint64_t begin_ns;
static uint64_t begin_pj;
static uint64_t end_ns = UINT64_MAX;

static void start(uint32_t number, uint64_t now, uint64_t pj)
{
	uint64_t interval = page_read(page.pkg->meter_interval_ns);

	seen = number;
	begin_ns = now;
	begin_pj = pj;
	end_ns = now + (interval ? interval : chip->meter_ns);
}

/* Between two looks, a quantum or so, energy flows evenly. */
static double energy_at(uint64_t ns, uint64_t before_ns, uint64_t before_pj, uint64_t now, uint64_t pj)
{
	if (before_ns < begin_ns) {
		before_ns = begin_ns;
		before_pj = begin_pj;
	}
	if (now <= before_ns)
		return (double)pj;
	return (double)before_pj + (double)(int64_t)(pj - before_pj) * (double)(ns - before_ns) / (double)(now - before_ns);
}

static void finish(uint64_t before_ns, uint64_t before_pj, uint64_t now, uint64_t pj)
{
	double spent = energy_at(end_ns, before_ns, before_pj, now, pj) - (double)begin_pj;
	double uw = 1000 * spent / (double)(end_ns - begin_ns);

	page_write(page.pkg->meter_uw, (uint64_t)(uw / (double)chip->meter_lsb_uw + 0.5) * chip->meter_lsb_uw);
	page_write(page.pkg->meter_begin_ns, begin_ns);
	page_write(page.pkg->meter_end_ns, end_ns);
	/* pairs with the guest's load of it, before that of the reading */
	__atomic_store_n(&page.pkg->meter_done, seen, __ATOMIC_RELEASE);
	end_ns = UINT64_MAX;
}

void meter_advance(uint64_t before_ns, uint64_t before_pj, uint64_t now, uint64_t pj)
{
	uint32_t number;

	if (!chip->meter_ns)
		return;
	if (now >= end_ns)
		finish(before_ns, before_pj, now, pj);
	number = page_read(page.pkg->meter_start);
	if (number != seen)
		start(number, now, pj);
}

uint64_t meter_end(void)
{
	return end_ns;
}
