// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The multicast group "events" tells what becomes of sessions: started, stopped, ended; a ring
 * that is nearly full, once until it is half empty again; losses, once a second at most, with
 * the true count; a source that cannot be read any more; CPUs that go and come back. Root
 * may join it, who has CAP_PERFMON alone is notified on request if not too many are, and no
 * one else is notified.
 *
 * where: guest
 * vm: --cpus 2
 * timeout: 90
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "caps.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "notice.h"
#include "ring.h"

#define NOBODY	65534
#define FAILING	"/sys/module/vchip_source/parameters/failing"
#define CYCLES	FAILING "_cycles"

static struct nl nl, group;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static struct nl_stats stats[NL_MAX_CPUS];

/* The next notice of the session that is not one of records lost. */
static bool expect(struct nl *from, uint32_t event, struct notice *n)
{
	int got;

	do
		got = notice_wait(from, n, 2000);
	while (got == 1 && (n->session != info.id || n->event == KJOULE_EVENT_RECORDS_LOST) &&
	       n->event != event);
	if (got == 1 && n->event == event && n->session == info.id)
		return true;
	ktap_diag("wanted event %u of session %u, got %s %u of session %u", event, info.id,
		  got == 1 ? "event" : got ? strerrorname_np(-got) : "nothing, after", n->event,
		  n->session);
	return false;
}

static void forget_notices(void)
{
	struct notice n;

	while (notice_wait(&group, &n, 0) == 1)
		;
}

static bool new_session(const struct nl_config *c)
{
	forget_notices();
	if (nl_session_new(&nl, c, &info)) {
		ktap_not_ok("a session: %s", nl.why);
		return false;
	}
	return true;
}

static int command(uint8_t cmd)
{
	return nl_session_do(&nl, cmd, info.id, cmd == KJOULE_CMD_SESSION_DEL ? NULL : &info);
}

static void check_life(void)
{
	uint64_t before = now_ns();
	struct notice n[3];
	bool good;

	if (!new_session(&(struct nl_config){ .interval_ns = 1000000 }))
		return;
	command(KJOULE_CMD_SESSION_START);
	command(KJOULE_CMD_SESSION_STOP);
	command(KJOULE_CMD_SESSION_DEL);
	good = expect(&group, KJOULE_EVENT_SESSION_STARTED, &n[0]) &&
	       expect(&group, KJOULE_EVENT_SESSION_STOPPED, &n[1]) &&
	       expect(&group, KJOULE_EVENT_SESSION_ENDED, &n[2]);
	ktap_check(good, "started, stopped and ended are reported in this order");
	ktap_check(good && before < n[0].time_ns && n[0].time_ns < n[1].time_ns &&
		   n[1].time_ns <= n[2].time_ns && n[2].time_ns < now_ns(), "with their times");
	ktap_check(good && n[0].cpu < 0 && !n[0].source[0] && !n[0].count, "without what they do not have");

	if (!new_session(&(struct nl_config){ .interval_ns = 1000000 }))
		return;
	command(KJOULE_CMD_SESSION_START);
	command(KJOULE_CMD_SESSION_DEL);
	ktap_check(expect(&group, KJOULE_EVENT_SESSION_STARTED, &n[0]) &&
		   expect(&group, KJOULE_EVENT_SESSION_STOPPED, &n[1]) &&
		   expect(&group, KJOULE_EVENT_SESSION_ENDED, &n[2]), "a session that is ended is asked to stop");
}

/* Take records of the first CPU until no more than @percent of its ring wait. */
static void leave(unsigned int percent)
{
	struct ring *r = &d.ring[0];

	while (ring_unread(r) > r->size * percent / 100) {
		const struct kjoule_record *rec =
			(const void *)(r->data + (r->tail->tail & (r->size - 1)));

		__atomic_store_n(&r->tail->tail, r->tail->tail + rec->size, __ATOMIC_RELEASE);
	}
}

/* Let it fill up to so much. */
static bool fill(unsigned int percent)
{
	return await(ring_unread(&d.ring[0]) >= d.ring[0].size * percent / 100);
}

/* How many notices of a ring nearly full there are. */
static unsigned int count_full(struct notice *last)
{
	unsigned int count = 0;
	struct notice n;

	while (notice_wait(&group, &n, 100) == 1) {
		if (n.event != KJOULE_EVENT_RING_NEAR_FULL)
			continue;
		*last = n;
		count++;
	}
	return count;
}

#define RING	65536

static void check_near_full(void)
{
	const struct nl_config c = { .interval_ns = 1000000, .cpus = 1ULL << cpu_first(),
				     .flags = KJOULE_FLAG_WAKE_IDLE, .ring_bytes = RING,
				     .energy = "" };
	struct notice n = { .event = 0 };
	bool good = true;
	cpu_set_t all;

	sched_getaffinity(0, sizeof(all), &all);
	forget_notices();
	/* whoever keeps this from its CPU keeps the ticks from it too */
	pin_to(cpu_first());
	if (!session_begin(&nl, &c, &info, &d, walk))
		return;
	good &= fill(65);	/* and 4 % more while nothing is heard */
	ktap_check(good && !count_full(&n), "a ring that is filled to less than three quarters is not reported");
	good &= fill(82);
	ktap_check(good && count_full(&n) == 1 && n.session == info.id &&
		   n.cpu == (int)cpu_first(), "near full is reported once");
	if (!ktap_check(n.count >= RING * 3 / 4 && n.count <= RING * 9 / 10, "with the bytes that wait"))
		ktap_diag("%llu bytes", (unsigned long long)n.count);
	leave(60);
	good &= fill(82);
	ktap_check(good && !count_full(&n), "not again before it was half empty");
	leave(40);
	fill(45);
	ktap_check(good && fill(82) && count_full(&n) == 1, "again when it was half empty");
	device_close(&d);
	command(KJOULE_CMD_SESSION_DEL);
	sched_setaffinity(0, sizeof(all), &all);
}

/* Without a reader, a small ring loses most of what comes. */
static void check_lost(void)
{
	uint64_t last_ns = 0, least = UINT64_MAX, count = 0, lost = 0, begun, step, longest = 0;
	unsigned int n_notices = 0, backwards = 0, i;
	bool stopped = false;
	struct notice n;

	if (!new_session(&(struct nl_config){ .interval_ns = 250000, .ring_bytes = 4096,
					      .flags = KJOULE_FLAG_WAKE_IDLE }))
		return;
	command(KJOULE_CMD_SESSION_START);
	/* reported as each second ends */
	begun = now_ns();
	for (i = 0; i < 35; i++) {
		step = now_ns();
		sleep_ms(100);
		step = now_ns() - step;
		longest = step > longest ? step : longest;
	}
	begun = now_ns() - begun;
	command(KJOULE_CMD_SESSION_STOP);
	for (i = nl_stats(&nl, info.id, stats, NL_MAX_CPUS); i--;)
		lost += stats[i].lost;
	while (!stopped && notice_wait(&group, &n, 1000) == 1) {
		stopped = n.event == KJOULE_EVENT_SESSION_STOPPED;
		if (n.event != KJOULE_EVENT_RECORDS_LOST)
			continue;
		n_notices++;
		backwards += n.count <= count;
		/* the last one is reported at the stop, and does not wait */
		if (last_ns && n.count < lost && n.time_ns - last_ns < least)
			least = n.time_ns - last_ns;
		last_ns = n.time_ns;
		count = n.count;
	}
	/* the first and the last one at once; where the machine was stopped none was reported */
	if (!ktap_check(stopped && n_notices * 1000000000ULL <= begun + 2000000000 &&
			n_notices * (1000000000ULL + longest) >= begun, "losses are reported about once a second"))
		ktap_diag("%u notices in %llu ns, in which this program slept for %llu ns once", n_notices,
			  (unsigned long long)begun, (unsigned long long)longest);
	if (!ktap_check(least >= 1000000000 && least != UINT64_MAX, "never twice in a second"))
		ktap_diag("%u notices, two within %llu ns", n_notices, (unsigned long long)least);
	ktap_check(!backwards, "with a count that goes on");
	if (!ktap_check(count == lost && lost, "at the stop all that was lost has been reported"))
		ktap_diag("%llu lost, %llu reported", (unsigned long long)lost,
			  (unsigned long long)count);
	command(KJOULE_CMD_SESSION_DEL);
}

static void check_cpus(void)
{
	int second = cpu_second();
	struct notice n;

	if (second < 0 || !cpu_online(second, true)) {
		ktap_skip("a CPU that goes is reported",
			  "no CPU can be taken off: bring a second one online, as root");
		return;
	}
	if (!new_session(&(struct nl_config){ .interval_ns = 1000000 }))
		return;
	command(KJOULE_CMD_SESSION_START);
	cpu_online(second, false);
	ktap_check(expect(&group, KJOULE_EVENT_SESSION_STARTED, &n) &&
		   expect(&group, KJOULE_EVENT_CPU_OFFLINE, &n) &&
		   n.cpu == second, "a CPU that goes is reported");
	cpu_online(second, true);
	ktap_check(expect(&group, KJOULE_EVENT_CPU_ONLINE, &n) && n.cpu == second, "and when it is back");
	command(KJOULE_CMD_SESSION_DEL);
}

static bool set_failing(const char *what, const char *text)
{
	int fd = open(what, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, 1) == 1;

	close(fd);
	return done;
}

/* Notices of a source that is lost, until none comes any more; the first within so much. */
static unsigned int count_source_lost(struct notice *last, int first_ms)
{
	unsigned int count = 0;
	struct notice n;

	while (notice_wait(&group, &n, count ? 300 : first_ms) == 1) {
		if (n.event != KJOULE_EVENT_SOURCE_LOST)
			continue;
		*last = n;
		count++;
	}
	return count;
}

/* So many of each CPU's. */
static void await_ticks(unsigned int ticks)
{
	uint64_t from[NL_MAX_CPUS];
	int n = nl_stats(&nl, info.id, stats, NL_MAX_CPUS), i;

	for (i = 0; i < n; i++)
		from[i] = stats[i].taken;
	for (i = 0; i < n; i++)
		await(nl_stats(&nl, info.id, stats, NL_MAX_CPUS) == n &&
		      stats[i].taken >= from[i] + ticks);
}

static void check_source(void)
{
	struct notice n = { .event = 0 };
	unsigned int i;

	if (access(FAILING, F_OK)) {
		ktap_skip("a source whose reads fail is reported",
			  "needs a source that fails on request: the laboratory's virtual chip");
		return;
	}
	if (!new_session(&(struct nl_config){ .interval_ns = 1000000, .energy = "vchip",
					      .flags = KJOULE_FLAG_WAKE_IDLE }))
		return;
	command(KJOULE_CMD_SESSION_START);
	ktap_check(!count_source_lost(&n, 300), "a source that works is not reported as lost");
	set_failing(FAILING, "1");
	ktap_check(count_source_lost(&n, 20000) == 1 && !strcmp(n.source, "vchip") &&
		   n.session == info.id,
		   "a source whose reads fail one after another is reported once");
	set_failing(FAILING, "0");
	await_ticks(10);
	set_failing(FAILING, "1");
	ktap_check(count_source_lost(&n, 20000) == 1, "again when it had worked in between");
	set_failing(FAILING, "0");
	for (i = nl_stats(&nl, info.id, stats, NL_MAX_CPUS); i--;)
		n.count += stats[i].source_errors;
	ktap_check(n.count > 100, "each failed read is in the statistics");
	command(KJOULE_CMD_SESSION_DEL);
}

static uint64_t source_errors(const char *source)
{
	unsigned long long n = 0;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/misc/kjoule/sources/%s/errors", source);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu", &n) != 1)
		ktap_not_ok("errors of source %s", source);
	if (f)
		fclose(f);
	return n;
}

/*
 * A source that fails before the first tick, too, has as many errors as the statistics of the CPUs.
 */
static void check_same_errors(const char *source, const struct nl_config *c, const char *failing)
{
	uint64_t before, in_stats = 0, of_source;
	unsigned int i;

	if (access(failing, F_OK)) {
		ktap_skip("all errors in the statistics are the source's",
			  "needs a source that fails on request: the laboratory's virtual chip");
		return;
	}
	if (!new_session(c))
		return;
	before = source_errors(source);
	set_failing(failing, "1");
	command(KJOULE_CMD_SESSION_START);
	sleep_ms(100);
	command(KJOULE_CMD_SESSION_STOP);
	set_failing(failing, "0");
	of_source = source_errors(source) - before;
	for (i = nl_stats(&nl, info.id, stats, NL_MAX_CPUS); i--;)
		in_stats += stats[i].source_errors;
	if (!ktap_check(in_stats && of_source == in_stats, "%s fails: all errors in the statistics are the source's", source))
		ktap_diag("%llu in the statistics, %llu of the source",
			  (unsigned long long)in_stats, (unsigned long long)of_source);
	command(KJOULE_CMD_SESSION_DEL);
}

/* Who may listen. Each in a child, with what is left to it. */

/* Bits of what a child could do. */
enum { JOINED = 1, LISTENS = 2, HEARD = 4, TWICE = 8, BROKEN = 128 };

static int try_listening(int ready, int go)
{
	struct notice n;
	struct nl own;
	int can = 0;
	char c = 0;

	if (nl_open(&own))
		return BROKEN;
	can |= notice_join(&own) ? 0 : JOINED;
	if (!can)
		can |= notice_listen(&own) ? 0 : LISTENS;
	if (write(ready, &c, 1) != 1 || read(go, &c, 1) != 1)
		return BROKEN;
	if (notice_wait(&own, &n, 500) == 1)
		can |= HEARD;
	return can;
}

static int as_root(void)
{
	return 0;
}

static int as_nobody(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY);
}

static int as_namespace_root(void)
{
	return as_nobody() || unshare(CLONE_NEWUSER);
}

static int with_perfmon(void)
{
	return !caps_keep(CAP(CAP_PERFMON));
}

static int with_net_admin(void)
{
	return !caps_keep(CAP(CAP_NET_ADMIN));
}

static int with_admin(void)
{
	return !caps_keep(CAP(CAP_SYS_ADMIN));
}

static void check_listener(const char *who, int (*become)(void), int want, const char *promise)
{
	int ready[2], go[2], status = 0;
	char c = 0;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(ready[0]);
		_exit(become() ? BROKEN : try_listening(ready[1], go[0]));
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) == 1 &&
	    new_session(&(struct nl_config){ .interval_ns = 1000000 })) {
		command(KJOULE_CMD_SESSION_START);
		command(KJOULE_CMD_SESSION_DEL);
		status = write(go[1], &c, 1) != 1;
	}
	waitpid(pid, &status, 0);
	close(ready[0]);
	close(go[0]);
	close(go[1]);
	if (WEXITSTATUS(status) == BROKEN && become == as_namespace_root)
		ktap_skip(promise, NO_USER_NAMESPACE);
	else if (!ktap_check(WIFEXITED(status) && WEXITSTATUS(status) == want, "%s: %s", who, promise))
		ktap_diag("could do %#x, status %#x", WEXITSTATUS(status), status);
}

/* Root's socket, asked for by a process without capabilities, and the other way round. */
static void check_borrowed(void)
{
	struct nl weak;
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(as_nobody() ? 2 : notice_listen(&nl) != -EPERM);
	waitpid(pid, &status, 0);
	ktap_check(!status, "an ordinary user cannot listen with a socket of root's");
	if (setresuid(-1, NOBODY, -1) || nl_open(&weak) || setresuid(-1, 0, -1)) {
		ktap_not_ok("a socket of an ordinary user's");
		return;
	}
	ktap_check_equal(-EPERM, notice_listen(&weak), "root cannot listen with a socket of an ordinary user's");
	nl_close(&weak);
}

#define LISTENERS	64

/* So that telling a notice does not take as long as a listener likes. */
static void check_many(void)
{
	static struct nl many[LISTENERS + 1];
	unsigned int i, good = 0;
	struct notice n;

	for (i = 0; i <= LISTENERS; i++)
		good += !nl_open(&many[i]) && !(i < LISTENERS && notice_listen(&many[i]));
	ktap_check_equal(LISTENERS + 1, good, "64 sockets can listen");
	ktap_check(notice_listen(&many[LISTENERS]) == -EUSERS && strstr(many[LISTENERS].why, "64"),
		   "the next one is refused with EUSERS and words");
	ktap_check_equal(0, notice_listen(&many[0]), "who listens may ask again");
	nl_close(&many[0]);
	ktap_check_equal(0, notice_listen(&many[LISTENERS]), "when one of them is closed another one can");
	if (new_session(&(struct nl_config){ .interval_ns = 1000000 })) {
		command(KJOULE_CMD_SESSION_START);
		command(KJOULE_CMD_SESSION_DEL);
	}
	for (i = 1, good = 0; i <= LISTENERS; i++)
		good += notice_wait(&many[i], &n, 500) == 1 && n.session == info.id;
	ktap_check_equal(LISTENERS, good, "all of them are notified");
	for (i = 1; i <= LISTENERS; i++)
		nl_close(&many[i]);
}

int main(void)
{
	struct busy load;

	need_module();
	need_root();
	if (!busy_start(&load, cpu_count()) || nl_open(&nl) || nl_open(&group)) {
		ktap_not_ok("a netlink family, and busy processes");
		return ktap_end();
	}
	ktap_check_equal(0, notice_join(&group), "root joins the group");
	check_life();
	check_near_full();
	check_lost();
	check_cpus();
	check_source();
	check_same_errors("vchip", &(struct nl_config){ .interval_ns = 1000000, .energy = "vchip" },
			  FAILING);
	check_same_errors("vchip-cycles", &(struct nl_config){ .interval_ns = 1000000, .energy = "",
							       .frequency = "vchip-cycles" },
			  CYCLES);
	check_listener("root", as_root, JOINED | HEARD, "joins the group and is notified");
	check_listener("CAP_SYS_ADMIN alone", with_admin, JOINED | HEARD,
		       "joins the group and is notified");
	check_listener("CAP_PERFMON alone", with_perfmon, LISTENS | HEARD,
		       "is notified on request");
	check_listener("CAP_NET_ADMIN alone", with_net_admin, 0, "neither joins nor is notified");
	check_listener("an ordinary user", as_nobody, 0, "neither joins nor is notified");
	check_listener("root of a user namespace", as_namespace_root, 0,
		       "neither joins nor is notified");
	check_borrowed();
	check_many();
	busy_stop(&load);
	nl_close(&group);
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
