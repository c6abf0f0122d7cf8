// SPDX-License-Identifier: GPL-2.0-only
/*
 * The meter that starts on command: it averages the package's power over a sensing interval from
 * the start on. Called by package.c, which knows the energy.
 */
#include "meter.h"

#include "core.h"

uint32_t meter_seen;

static uint64_t begin_ns;
static uint64_t begin_pj;
static uint64_t end_ns = NEVER;

void meter_start(uint64_t now, uint64_t pj)
{
	uint64_t interval = page_read(page.pkg[0]->meter_interval_ns);

	meter_seen = page_read(page.pkg[0]->meter_start);
	if (!chip->meter_ns)
		return;
	begin_ns = now;
	begin_pj = pj;
	end_ns = now + (interval ? interval : chip->meter_ns);
}

void meter_serve(uint64_t now, uint64_t pj)
{
	double uw;

	if (now < end_ns)
		return;
	uw = 1000 * (double)(pj - begin_pj) / (double)(now - begin_ns);
	page_write(page.pkg[0]->meter_uw,
		   (uint64_t)(uw / (double)chip->meter_lsb_uw + 0.5) * chip->meter_lsb_uw);
	page_write(page.pkg[0]->meter_begin_ns, begin_ns);
	page_write(page.pkg[0]->meter_end_ns, now);
	/* pairs with the guest's load of it, before that of the reading */
	__atomic_store_n(&page.pkg[0]->meter_done, meter_seen, __ATOMIC_RELEASE);
	end_ns = NEVER;
}

uint64_t meter_end(void)
{
	return end_ns;
}
