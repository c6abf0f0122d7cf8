// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device that is reset while a session runs begins to count at 0 again. That is no wrap:
 * totals go on from where they were, and the reset is counted as an error.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * timeout: 60
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static struct nl_stats stats[NL_MAX_CPUS];
static uint64_t total;
static bool back;

static void see(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	(void)w;
	(void)tick;
	if (!(e->domains & 1))
		return;
	back |= e->energy_uj[0] < total;
	total = e->energy_uj[0];
}

static uint64_t errors(void)
{
	uint64_t sum = 0;
	int n = nl_stats(&nl, info.id, stats, NL_MAX_CPUS);

	while (n-- > 0)
		sum += stats[n].source_errors;
	return sum;
}

static void watch(unsigned int ms)
{
	uint64_t until = now_ns() + ms * 1000000ULL;

	while (now_ns() < until) {
		drain_map(&d, walk);
		sleep_ms(5);
	}
}

int main(void)
{
	uint64_t before, begun, ending, after, lost = 0;
	struct busy busy;
	unsigned int i;
	int fd;

	need_module();
	need_chip();
	fd = chip_energy();
	/* one CPU reads, so that the records are in one ring */
	busy_start(&busy, 1);
	before = chip_number(fd);
	if (nl_open(&nl) ||
	    !session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
						     .cpus = 1ULL << cpu_first(), .energy = "vchip",
						     .flags = KJOULE_FLAG_WAKE_IDLE },
			   &info, &d, walk)) {
		ktap_not_ok("a session: %s", nl.why);
		return ktap_end();
	}
	begun = chip_number(fd);
	walk[0].on_energy = see;
	watch(300);
	ktap_check_equal(0, errors(), "a counter that goes on is no error");
	for (i = 0; i < 3; i++) {
		lost = total;
		set_parameter("vchip_source", "reset", "1");
		watch(300);
		await(drain_map(&d, walk) >= 0 && total > lost);
		ktap_check(total > lost, "after reset %u energy goes on", i);
	}
	ending = chip_number(fd);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	after = chip_number(fd);
	busy_stop(&busy);
	ktap_check(!back, "the total never steps back");
	if (!ktap_check(total <= after - before + 16, "nothing is reported that the chip has not counted"))
		ktap_diag("%" PRIu64 " uJ reported, %" PRIu64 " counted", total, after - before);
	/* two domains; from one move of the counter to the next is lost with each reset */
	ktap_check_equal(3 * 2, errors(), "each counter's reset is an error in the statistics");
	ktap_check(total >= (ending - begun) / 10 * 7, "little is lost with a reset");
	check_stats("three resets", &nl, &info, &d, walk);
	device_close(&d);
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
