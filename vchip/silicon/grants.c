// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU asks for a frequency by a register and gets it after the latency that the
 * profile gives for that pair; the old one runs until then, then the core may stop
 * for a moment. Owns the pending change of each CPU. A new request replaces a
 * pending one, and its latency counts anew from the present frequency; a request for
 * the present frequency cancels. Values that are no P-state are ignored.
 *
 * By its profile a chip may grant another frequency or none, go up in steps, and take
 * longer at one time than at another. What the turbo does not allow is not granted, until it is.
 */
#include "grants.h"

#include "log.h"
#include "package.h"
#include "random.h"
#include "time.h"
#include "turbo.h"

/* Uniform around what the profile says. */
static uint64_t draw_latency(struct core *c, uint64_t ns)
{
	uint64_t most = ns * chip->latency_jitter_percent / 100;

	return most ? ns - most + random_below(&c->whims, 2 * most + 1) : ns;
}

/*
 * The package grants changes at certain times only, as Intel's have done every 500 us since
 * Haswell.
 */
static uint64_t on_grid(uint64_t ns)
{
	uint64_t grid = chip->grant_grid_ns;

	return grid ? (ns + grid - 1) / grid * grid : ns;
}

/* What was asked for last is to come, as far as the turbo allows it. */
static void aim(struct core *c, uint64_t now)
{
	uint32_t granted = chip->granted[c->asked];
	uint64_t latency;

	c->ceiling = turbo_ceiling(&c->package->turbo);
	c->pending = false;
	c->target = granted < c->ceiling ? granted : c->ceiling;
	c->requested_ns = now;
	if (c->asked == c->pstate && granted <= c->ceiling)
		return;
	latency = chip->latency_ns[c->pstate][c->target];
	if (c->target == c->pstate) {
		if (granted <= c->ceiling)
			log_refusal(c, "same");
	} else if (latency == LATENCY_NEVER) {
		log_refusal(c, "never");
	} else {
		c->pending = true;
		c->due_ns = on_grid(now + draw_latency(c, latency));
	}
}

static void note_request(struct core *c, uint64_t now)
{
	int asked;

	c->seen_req = page_read(c->regs->req_khz);
	asked = profile_pstate(chip, c->seen_req);
	if (asked < 0)
		return;
	c->asked = asked;
	aim(c, now);
}

/* Steps that a change still takes; only those upwards are made in several. */
static unsigned int steps_left(const struct core *c)
{
	if (c->target <= c->pstate)
		return c->target < c->pstate;
	return chip->step_ns ? (c->target - c->pstate - 1) / chip->step_pstates + 1 : 1;
}

static void grant(struct core *c, uint64_t now)
{
	uint32_t from = chip->freq_khz[c->pstate];
	unsigned int left = steps_left(c) - 1;

	core_set_pstate(c, left ? c->pstate + chip->step_pstates : c->target, now);
	package_power_changed(c->package);
	c->pending = left;
	if (left)
		c->due_ns += draw_latency(c, chip->step_ns);
	page_write(c->regs->grant_latency_ns, now - c->requested_ns);
	page_write(c->regs->grants, c->regs->grants + 1);
	log_grant(c, from, left, now);
	if (chip->pause_ns && c->running)
		time_pause(c, chip->pause_ns);
}

void grants_request(struct core *c, uint64_t now)
{
	note_request(c, now);
	if (c->pending)
		time_expect(c->due_ns);
}

void grants_serve(struct core *c, uint64_t now)
{
	if (page_read(c->regs->req_khz) != c->seen_req && !c->running)
		note_request(c, now);
	else if (c->ceiling != turbo_ceiling(&c->package->turbo))
		aim(c, now);
	/* a core that is paused gets it afterwards */
	if (c->pending && now >= c->due_ns && !c->pause)
		grant(c, now);
}

uint64_t grants_next(const struct core *c)
{
	uint64_t end = (c->time + c->pause + (1u << FIXNS_SHIFT) - 1) >> FIXNS_SHIFT;

	if (!c->pending)
		return NEVER;
	return c->pause && end > c->due_ns ? end : c->due_ns;
}
