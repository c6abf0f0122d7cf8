// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the profile asks for it, a core stops for a random time at random moments,
 * as it does when firmware takes it for a system management interrupt: nothing tells the
 * guest, interrupts wait, and so does a grant. Owns when that is and for how long;
 * time.c makes the core wait, the log keeps it for tests.
 */
#include "smi.h"

#include <math.h>

#include "log.h"
#include "random.h"
#include "time.h"

/*
 * In time that the CPU runs: if a halted one's came due, it would be there at each wake-up.
 * Exponential, so that nothing can keep step with them.
 */
static void draw_next(struct core *c)
{
	double u = (double)(random_below(&c->whims, 1u << 30) + 1) / (double)(1u << 30);

	c->smi_ref = c->ref + ((uint64_t)(-log(u) * (double)chip->smi_every_ns) << FIXNS_SHIFT);
}

void smi_init(struct core *c)
{
	if (chip->smi_every_ns)
		draw_next(c);
}

void smi_serve(struct core *c)
{
	uint64_t ns;

	if (!chip->smi_every_ns || !c->running || c->ref < c->smi_ref)
		return;
	ns = chip->smi_min_ns + random_below(&c->whims, chip->smi_max_ns - chip->smi_min_ns + 1);
	time_pause(c, ns);
	log_smi(c, time_of(c) + (c->pause >> FIXNS_SHIFT), ns);
	draw_next(c);
}

uint64_t smi_next(const struct core *c)
{
	fixns_t left;

	if (!chip->smi_every_ns || !core_is_running(c) || c->pause)
		return NEVER;
	left = c->smi_ref > c->ref ? c->smi_ref - c->ref : 0;
	return ((c->time + left) >> FIXNS_SHIFT) + 1;
}
