// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters of a package are read once, however its CPUs come and go, and by a CPU that can
 * read them: a session without that CPU is refused, and notified when it is too late for that.
 *
 * where: guest
 * vm: --profile plain --cpus 4
 * timeout: 120
 */
#include <errno.h>
#include <fcntl.h>
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

static struct nl nl;
static struct nl_session info;

static void check_scopes(const char *when, const uint32_t *want)
{
	unsigned int i;

	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info);
	if (ktap_check(info.use[0].scopes == 4 &&
		       !memcmp(info.use[0].scope, want, 4 * sizeof(*want)), "%s", when))
		return;
	for (i = 0; i < 4; i++)
		ktap_diag("CPU %u shares the counters of CPU %u, not of CPU %u", i,
			  info.use[0].scope[i], want[i]);
}

/* Package 1 is CPUs 1 to 3; of the last one that is not known before it comes. */
static void check_late_cpu(void)
{
	if (!cpu_online(3, false)) {
		ktap_skip("a CPU that comes late shares what its package's others read",
			  "CPU 3 cannot be taken off");
		return;
	}
	set_parameter("vchip_source", "packages", "0117\n");
	if (nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
						     .energy = "vchip" }, &info) ||
	    nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info)) {
		ktap_not_ok("a session: %s", nl.why);
		return;
	}
	check_scopes("a CPU that was not there yet is by itself", (uint32_t[]){ 0, 1, 1, 3 });
	cpu_online(1, false);
	set_parameter("vchip_source", "packages", "0111\n");
	cpu_online(3, true);
	check_scopes("it shares what its package's others read, be the lowest of them offline",
		     (uint32_t[]){ 0, 1, 1, 1 });
	cpu_online(1, true);
	check_scopes("and so does the lowest when it is back", (uint32_t[]){ 0, 1, 1, 1 });
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	set_parameter("vchip_source", "packages", "\n");
}

static void check_refused(const char *what, const struct nl_config *c)
{
	int err = nl_session_new(&nl, c, &info);

	if (!ktap_check(err == -ENXIO && strstr(nl.why, "vchip") && strstr(nl.why, "CPU 2"),
			"%s that only a CPU can read which is not of the session: ENXIO, reported by name", what))
		ktap_diag("%s: %s", err ? strerrorname_np(-err) : "success", nl.why);
	if (!err)
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

static unsigned int records;

static void count(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	(void)w;
	(void)tick;
	(void)e;
	records++;
}

static bool is_read(struct device *d, struct walk *walk)
{
	drain_map(d, walk);
	records = 0;
	return await(drain_map(d, walk) >= 0 && records);
}

/* Energy records of a time in which the chip's counters move ten times. */
static unsigned int records_soon(struct device *d, struct walk *walk)
{
	drain_map(d, walk);
	records = 0;
	sleep_ms(100);
	drain_map(d, walk);
	return records;
}

/* Until none comes any more; the first within so much. */
static unsigned int count_lost(struct nl *from, int first_ms)
{
	unsigned int n_lost = 0;
	struct notice n;

	while (notice_wait(from, &n, n_lost ? 300 : first_ms) == 1)
		n_lost += n.event == KJOULE_EVENT_SOURCE_LOST && n.session == info.id &&
			  !strcmp(n.source, "vchip");
	return n_lost;
}

static uint64_t use_errors(void)
{
	unsigned long long n = 0;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/misc/kjoule/session%u/source0/errors", info.id);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu", &n) != 1)
		ktap_not_ok("%s", path);
	if (f)
		fclose(f);
	return n;
}

/* A source that only CPU 2 can read, and a session on CPU 1 or on both. */
static void check_out_of_reach(void)
{
	const struct nl_spec named =
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_REGISTERED, .name = "vchip" };
	static struct walk walk[NL_MAX_CPUS];
	struct nl_config c = { .interval_ns = INTERVAL_NS, .energy = "vchip", .cpus = 2,
			       .flags = KJOULE_FLAG_WAKE_IDLE };
	struct nl listener;
	struct device d;

	set_parameter("vchip_source", "owner", "2");
	check_refused("an energy source", &c);
	check_refused("a source asked for by name",
		      &(struct nl_config){ .interval_ns = INTERVAL_NS, .cpus = 2,
					   .specs = &named, .n_specs = 1 });
	check_refused("the default source",
		      &(struct nl_config){ .interval_ns = INTERVAL_NS, .cpus = 2 });
	c.cpus = 6;
	if (nl_open(&listener) || notice_listen(&listener) ||
	    !session_begin(&nl, &c, &info, &d, walk)) {
		ktap_not_ok("a session with the CPU that can read: %s", nl.why);
		return;
	}
	walk[0].on_energy = walk[1].on_energy = count;
	ktap_check(is_read(&d, walk) && !count_lost(&listener, 300) && !use_errors(), "with that CPU it is read");
	set_parameter("vchip_source", "owner", "3");
	ktap_check_equal(1, count_lost(&listener, 20000), "a source that moves out of reach is reported as lost, once");
	ktap_check_equal(2, use_errors(), "and each of its counters is an error of the session's");
	ktap_check(!records_soon(&d, walk), "nothing is reported of it then");
	set_parameter("vchip_source", "owner", "0");
	ktap_check(!count_lost(&listener, 300) && use_errors() == 2, "that it moves on out there is no news");
	set_parameter("vchip_source", "owner", "1");
	ktap_check(is_read(&d, walk) && !count_lost(&listener, 300), "it is read again when it is back in reach");
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_stats("out of reach", &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	nl_close(&listener);
	set_parameter("vchip_source", "owner", "-1");
}

int main(void)
{
	need_module();
	need_root();
	need_chip();
	if (nl_open(&nl)) {
		ktap_not_ok("the family");
		return ktap_end();
	}
	check_late_cpu();
	check_out_of_reach();
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
