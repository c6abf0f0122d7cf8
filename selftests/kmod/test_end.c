// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session's energy is reported up to its stop, though its CPUs have been idle for long and
 * it is stopped from another one. What is read at the stop is not read before: no
 * idle CPU is woken for it.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * timeout: 90
 */
#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	250000
#define SECONDS		2
#define ROUNDS		3
#define UPDATE_NS	10000000	/* of the chip's counters */

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/* When energy was last read, and how often that was. */
static uint64_t last_reading(unsigned int *n)
{
	const struct kjoule_record *rec;
	uint64_t ns = 0;

	*n = 0;
	for (uint64_t at = 0; at < d.ring[0].head->head; at += rec->size) {
		const struct kjoule_energy *e;

		rec = (const void *)(d.ring[0].data + (at & (d.ring[0].size - 1)));
		e = (const void *)rec;
		if (rec->type != KJOULE_RECORD_ENERGY || !(e->domains & 1))
			continue;
		ns = info.t0_ns + e->tick * info.interval_ns + e->delay_ns;
		++*n;
	}
	return ns;
}

static void check_end(unsigned int cpu)
{
	uint64_t last;
	unsigned int n;

	if (!session_begin(&nl,
			   &(struct nl_config){ .interval_ns = INTERVAL_NS, .cpus = 1ULL << cpu },
			   &info, &d, walk))
		return;
	sleep_ms(SECONDS * 1000);
	last_reading(&n);
	ktap_diag("%u readings of energy before the stop", n);
	ktap_check(n < 100 * SECONDS / 5, "an idle CPU is not woken to read energy");
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	last = last_reading(&n);
	ktap_diag("the last reading %.3f ms before the stop", (info.stop_ns - last) / 1e6);
	ktap_check(last && info.stop_ns - last < 2 * UPDATE_NS, "at the stop its energy is read");
	drain_map(&d, walk);
	check_stats("an idle CPU", &nl, &info, &d, walk);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	device_unmap(&d);
	device_close(&d);
}

int main(void)
{
	unsigned int other;

	need_module();
	need_chip();
	other = need_second_cpu("none to be idle");
	nl_open(&nl);
	pin_to(cpu_first());
	for (unsigned int i = 0; i < ROUNDS; i++)
		check_end(other);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
