// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters of a package that is idle as a whole are read before they go round: no
 * energy is lost, though no CPU ticks.
 *
 * where: guest
 * vm: --profile narrow --cpus 2
 * timeout: 90
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	250000

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

static uint64_t last_uj;

static void check_idle_package(void)
{
	double wrap_pj;
	uint64_t earlier, before, after, later, seen, all;
	const struct kjoule_record *rec;
	uint64_t at;
	unsigned int i;

	earlier = chip_register("pkg.energy_pkg_pj");
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS }, &info, &d, walk))
		return;
	wrap_pj = ldexp((info.use[0].range + 1.0) * info.use[0].unit_mult,
			-(int)info.use[0].unit_shift) * 1e6;
	/* idle CPUs draw half a watt and more */
	if (wrap_pj <= 0 || wrap_pj > 5e12) {
		ktap_skip("the counter goes round several times",
			  "these counters take too long for that: scripts/vm --profile narrow");
		goto out;
	}
	sleep_ms(20);	/* the first ticks: energies are since then */
	before = chip_register("pkg.energy_pkg_pj");
	sleep_ms(25000);
	after = chip_register("pkg.energy_pkg_pj");
	sleep_ms(100);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	later = chip_register("pkg.energy_pkg_pj");
	for (i = 0; i < d.n; i++) {
		uint64_t head = d.ring[i].head->head;

		for (at = 0; at < head; at += rec->size) {
			rec = (const void *)(d.ring[i].data + (at & (d.ring[i].size - 1)));
			if (rec->type == KJOULE_RECORD_ENERGY &&
			    ((const struct kjoule_energy *)rec)->domains & 1 &&
			    ((const struct kjoule_energy *)rec)->energy_uj[0] > last_uj)
				last_uj = ((const struct kjoule_energy *)rec)->energy_uj[0];
		}
	}
	seen = after - before;
	all = later - earlier;
	ktap_diag("%.3f to %.3f J by the chip, %.3f J by the records, a wrap is %.6f J",
		  seen / 1e12, all / 1e12, last_uj / 1e6, wrap_pj / 1e12);
	ktap_check((double)seen > 3 * wrap_pj, "the counter has gone round several times");
	ktap_check(earlier && last_uj / 1e6 > 0.97 * (seen / 1e12) &&
		   last_uj / 1e6 < 1.01 * (all / 1e12), "and no round was lost");
	drain_map(&d, walk);
	check_stats("idle for long", &nl, &info, &d, walk);
out:
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	device_unmap(&d);
	device_close(&d);
}

/*
 * Where ticks are so far apart that the counter may go round between two of them nothing is known.
 */
static void check_too_slow(void)
{
	const struct nl_config c = { .interval_ns = 4000000000, .energy = "vchip" };
	int err = nl_session_new(&nl, &c, &info);

	if (!ktap_check(err == -ERANGE && strstr(nl.why, "vchip"),
			"an interval in which the counter may go round is refused"))
		ktap_diag("%d: %s", err, nl.why);
	ktap_diag("%s", nl.why);
}

int main(void)
{
	need_module();
	need_chip();
	nl_open(&nl);
	check_too_slow();
	check_idle_package();
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
