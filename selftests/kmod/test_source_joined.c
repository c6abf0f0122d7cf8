// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All CPUs of a package were away, and those that come back bring a counter of which it is not
 * known at first that it is the same package's: in the end they share one, reported by whoever
 * reads it, and nothing that it counts is reported twice, or steps back.
 *
 * where: guest
 * vm: --profile plain --cpus 4
 * timeout: 120
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "notice.h"
#include "ring.h"

#define INTERVAL_NS	1000000
#define CPUS		4	/* two packages of the PMU: 0 and 1, 2 and 3 */

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

static uint64_t total[CPUS];		/* of each scope, in nanoseconds */
static unsigned int told_by[CPUS];
static uint64_t begun_ns;
static bool back;
static unsigned int pairs;		/* the number of the source */

static void see(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	(void)tick;
	if (e->rec.flags != pairs)
		return;
	if (e->scope >= CPUS) {
		ktap_not_ok("a record of scope %u", e->scope);
		return;
	}
	/* rings are read one after the other: what another CPU reported before may come later */
	back |= w->cpu == told_by[e->scope] && e->energy_uj[0] < total[e->scope];
	if (e->energy_uj[0] >= total[e->scope]) {
		total[e->scope] = e->energy_uj[0];
		told_by[e->scope] = w->cpu;
	}
}

static bool grows(unsigned int scope, unsigned int cpu)
{
	uint64_t before;

	drain_map(&d, walk);
	before = total[scope];
	if (await(drain_map(&d, walk) >= 0 && total[scope] > before && told_by[scope] == cpu))
		return true;
	ktap_diag("scope %u: %" PRIu64 " ns, before %" PRIu64 ", reported by CPU %u", scope,
		  total[scope], before, told_by[scope]);
	return false;
}

/* Has each CPU the meter of this scope in the end? */
static bool is_of_scope(unsigned int cpu, unsigned int scope)
{
	if (await(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info) &&
		  info.use[pairs].scope[cpu] == scope))
		return true;
	ktap_diag("CPU %u is of scope %u", cpu, info.use[pairs].scope[cpu]);
	return false;
}

/* While CPU 3 is offline. */
static bool begin(uint64_t flags, const char *energy)
{
	const struct nl_spec spec = { .given = GIVE_PMU, .origin = KJOULE_ORIGIN_PERF_PMU, .name = "pairs",
				      .quantity = KJOULE_QUANTITY_COUNT,
				      .perf_type = pmu_type("vchip_pairs") };

	memset(total, 0, sizeof(total));
	back = false;
	pairs = !!energy;
	begun_ns = now_ns();
	if (!cpu_online(3, false) ||
	    !session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = &spec,
						     .n_specs = 1, .energy = energy, .flags = flags,
						     .ring_bytes = 1 << 22 },
			   &info, &d, walk)) {
		ktap_not_ok("a session while CPU 3 is offline: %s", nl.why);
		return false;
	}
	for (unsigned int i = 0; i < d.n; i++)
		walk[i].on_energy = see;
	return true;
}

static bool begin_apart(uint64_t flags)
{
	if (!begin(flags, NULL))
		return false;
	ktap_check(grows(0, 0) && grows(2, 2), "each package has a counter");
	ktap_check(cpu_online(2, false), "the other CPU of the second package goes");
	drain_map(&d, walk);
	return true;
}

static void end(const char *name)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	ktap_check(!back, "%s: no total ever steps back", name);
	check_stats(name, &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

/*
 * @scope: that both CPUs of the second package share now; @left: what the other one's total has
 * been.
 */
static void end_joined(const char *name, unsigned int scope, unsigned int other, uint64_t left)
{
	uint64_t both, ns;

	ktap_check(is_of_scope(2, scope) && is_of_scope(3, scope), "%s: both CPUs share one counter", name);
	ktap_check(grows(scope, told_by[scope]), "%s: it goes on", name);
	ktap_check(cpu_online(scope, false) && grows(scope, scope ^ 1), "%s: one goes, the other tells it", name);
	ktap_check(cpu_online(scope, true) && grows(scope, told_by[scope]), "%s: and when it is back too", name);
	drain_map(&d, walk);
	if (!ktap_check(left == total[other], "%s: no CPU reports the counter that was given up", name))
		ktap_diag("%" PRIu64 " ns then, %" PRIu64 " now", left, total[other]);
	both = total[2] + total[3];
	ns = now_ns() - begun_ns;
	if (!ktap_check(both <= ns, "%s: nothing is reported twice", name))
		ktap_diag("%" PRIu64 " ns reported of %" PRIu64, both, ns);
	end(name);
}

static void check_joined(uint64_t flags, const char *last, const char *first)
{
	uint64_t left;

	/* who comes first was never there: a counter of its own; who comes last joins it */
	if (!begin_apart(flags))
		return;
	left = total[2];
	ktap_check(cpu_online(3, true) && grows(3, 3), "%s: a CPU comes whose package is away: a counter of its own", last);
	ktap_check(cpu_online(2, true), "%s: the other one comes", last);
	end_joined(last, 3, 2, left);

	/* and the other way round: the counter that was there first is the one that stays */
	if (!begin_apart(flags))
		return;
	ktap_check(cpu_online(3, true) && grows(3, 3) && cpu_online(3, false), "%s: such a CPU comes and goes", first);
	drain_map(&d, walk);
	left = total[3];
	ktap_check(cpu_online(2, true) && grows(2, 2), "%s: the first one comes back", first);
	ktap_check(cpu_online(3, true), "%s: and the other one", first);
	end_joined(first, 2, 3, left);
}

/*
 * Two counters of the same on two CPUs, until one of these goes and its counter moves to the other.
 * That one's own is given up, and it reads the one that has come, when the session knows: which
 * another source, asked before, keeps it from for long. What that one counted before CPU 3 came
 * would show in the total of CPU 3's own.
 */
static void check_second(void)
{
	const char *name = "a counter comes to a CPU that has one";
	uint64_t there_ns;

	set_parameter("vchip_source", "owner", "0");
	set_parameter("vchip", "apart", "1");
	if (!begin(KJOULE_FLAG_WAKE_IDLE, "vchip"))
		return;
	ktap_check(await(drain_map(&d, walk) >= 0 && total[2] > 1000000000), "%s: it has counted for a second", name);
	there_ns = now_ns();
	ktap_check(cpu_online(3, true) && grows(3, 3), "%s: one of its own", name);
	set_parameter("vchip", "apart", "0");
	set_parameter("vchip_source", "owner_ms", "20");
	ktap_check(cpu_online(2, false) && is_of_scope(3, 2), "%s: it has that one then", name);
	drain_map(&d, walk);
	if (!ktap_check(total[3] <= now_ns() - there_ns, "%s: nothing is reported twice", name))
		ktap_diag("%" PRIu64 " ns reported of %" PRIu64, total[3], now_ns() - there_ns);
	set_parameter("vchip_source", "owner_ms", "0");
	ktap_check(grows(2, 3), "%s: and tells it", name);
	ktap_check(cpu_online(2, true), "%s: the other CPU comes back", name);
	end(name);
	set_parameter("vchip_source", "owner", "-1");
}

static int64_t errors_of(void)
{
	char path[80];
	int64_t n = -1;

	snprintf(path, sizeof(path), "/sys/class/misc/kjoule/session%u/source%u/errors", info.id,
		 pairs);
	chip_read(path, &n);
	return n;
}

/*
 * A CPU comes whose counter cannot be made: that is reported, and it is tried again until there is
 * one.
 */
static void check_full(void)
{
	const char *name = "a CPU comes while no counter is left";
	struct notice n = { 0 };
	struct nl listener;
	int64_t errors;

	if (!begin(KJOULE_FLAG_WAKE_IDLE, NULL))
		return;
	nl_open(&listener);
	notice_listen(&listener);
	ktap_check(cpu_online(2, false), "%s: the other one of its package goes", name);
	errors = errors_of();
	set_parameter("vchip", "no_pair", "1");
	ktap_check(cpu_online(3, true) && errors >= 0 && await(errors_of() > errors),
		   "%s: values that are not got are counted", name);
	while (n.event != KJOULE_EVENT_SOURCE_LOST && notice_wait(&listener, &n, 20000) == 1)
		;
	ktap_check(n.event == KJOULE_EVENT_SOURCE_LOST && !strcmp(n.source, "pairs"),
		   "%s: that the source is lost is reported", name);
	nl_close(&listener);
	set_parameter("vchip", "no_pair", "0");
	ktap_check(grows(3, 3), "%s: it has one when there is one again", name);
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info);
	ktap_check(cpu_online(2, true) && is_of_scope(2, info.use[pairs].scope[3]), "%s: which both CPUs share", name);
	end(name);
}

static int64_t asked_in_vain(void)
{
	int64_t n = -1;

	chip_read("/sys/module/vchip/parameters/in_vain", &n);
	return n;
}

/* The last CPU of a package goes while a counter is being made for it. */
static void check_in_vain(void)
{
	int64_t before = asked_in_vain();
	unsigned int i;
	bool good = true;

	if (!begin(KJOULE_FLAG_WAKE_IDLE, NULL))
		return;
	good &= cpu_online(2, false);
	set_parameter("vchip", "init_ms", "200");
	for (i = 0; i < 5; i++) {
		good &= cpu_online(3, true);
		sleep_ms(20);
		good &= cpu_online(3, false);
	}
	set_parameter("vchip", "init_ms", "0");
	ktap_check(good && cpu_online(3, true) && grows(3, 3) && cpu_online(2, true),
		   "CPUs go while counters are made for them: it is counted when they are back");
	ktap_check(before >= 0 && asked_in_vain() == before, "the PMU is not asked while it has no CPU to read on");
	end("CPUs that go at once");
}

int main(void)
{
	struct busy b;

	need_module();
	need_chip();
	if (cpu_online_mask() != 0xf)
		ktap_skip_all("four CPUs are needed, two packages of vchip_pairs: scripts/vm --cpus 4");
	nl_open(&nl);
	check_second();
	check_in_vain();
	check_full();
	check_joined(KJOULE_FLAG_WAKE_IDLE, "the last one joins", "the other one joins");
	if (kernel_full_of_checkers()) {
		ktap_skip("the same with busy threads",
			  "a CPU takes half a minute to come and go then: another kernel");
	} else {
		if (!busy_start(&b, 6))
			ktap_not_ok("busy threads");
		check_joined(0, "busy, the last one joins", "busy, the other one joins");
		busy_stop(&b);
	}
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
