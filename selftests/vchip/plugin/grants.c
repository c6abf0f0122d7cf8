// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU asks for a frequency by a register and gets it after the latency that the
 * profile gives for that pair; the old one runs until then, then the core may stand
 * still for a moment. Owns the pending change of each CPU. A new request replaces a
 * pending one, and its latency counts anew from the present frequency; a request for
 * the present frequency cancels. Values that are no P-state are ignored.
 */
#include "grants.h"

#include "clock.h"
#include "log.h"
#include "package.h"

static void note_request(struct core *c, uint64_t now)
{
	int target;

	c->seen_req = page_read(c->regs->req_khz);
	target = profile_pstate(chip, c->seen_req);
	if (target < 0)
		return;
	c->pending = (unsigned int)target != c->pstate;
	c->target = target;
	c->requested_ns = now;
	c->due_ns = now + chip->latency_ns[c->pstate][target];
}

/* The package lock is held. */
static void grant(struct core *c, uint64_t now)
{
	uint32_t from = chip->freq_khz[c->pstate];
	uint64_t nominal = c->running ? clock_nominal(c) : now;

	package_advance(now);
	core_set_pstate(c, c->target);
	package_power_changed();
	c->pending = false;
	page_write(c->regs->grant_latency_ns, now - c->requested_ns);
	page_write(c->regs->grant_lag_ns, now > nominal ? now - nominal : 0);
	page_write(c->regs->grants, c->regs->grants + 1);
	log_grant(c, from, c->requested_ns, now);
}

void grants_request(struct core *c)
{
	/* The request is made when the code before it has been executed, not emulated. */
	clock_sync(c);
	note_request(c, clock_now());
	grants_clip_quantum(c);
}

void grants_check(struct core *c, uint64_t now)
{
	if (!c->pending || now < c->due_ns)
		return;
	package_lock();
	grant(c, now);
	package_unlock();
	if (chip->pause_ns)
		clock_pause(c, chip->pause_ns);
}

void grants_clip_quantum(struct core *c)
{
	uint64_t nominal = clock_nominal(c);
	int64_t cycles = 1;

	if (!c->pending)
		return;
	if (c->due_ns > nominal)
		cycles = (int64_t)(((c->due_ns - nominal) << FIXNS_SHIFT) / c->cycle_fixns) + 1;
	if (c->quantum_left > cycles)
		c->quantum_left = cycles;
}

void grants_poll_halted(struct core *c, uint64_t now)
{
	if (page_read(c->regs->req_khz) != c->seen_req)
		note_request(c, now);
	if (c->pending && now >= c->due_ns)
		grant(c, now);
}
