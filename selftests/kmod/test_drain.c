// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The records of a session can be had by a netlink dump, to the last one, as the device would
 * have given them: whole, in order, with statistics that agree. A dump takes what was there when
 * it began and ends, however fast the session is; it and the device keep each other out; only
 * the session's own socket may, and only who may see its kernel addresses.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/netlink.h>

#include "../ktap.h"
#include "stats.h"
#include "caps.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

static struct nl nl, other;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static struct nl_stats stats[NL_MAX_CPUS];

/* A running session of all CPUs, without the device. */
static bool begin(const struct nl_config *c)
{
	int err = nl_session_new(&nl, c, &info) ?:
		  nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info);
	int n = err ? 0 : nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	unsigned int i;

	memset(&d, 0, sizeof(d));
	d.fd = -1;
	d.n = n > 0 ? n : 0;
	for (i = 0; i < d.n; i++) {
		d.ring[i].cpu = stats[i].cpu;
		walk_begin(&walk[i], &info, stats[i].cpu);
	}
	if (err)
		ktap_not_ok("a session: %s %s", strerrorname_np(-err), nl.why);
	return !err;
}

static void end(void)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

static uint64_t total(size_t offset)
{
	uint64_t sum = 0;
	unsigned int i;

	nl_stats(&other, info.id, stats, NL_MAX_CPUS);
	for (i = 0; i < d.n; i++)
		sum += *(uint64_t *)((char *)&stats[i] + offset);
	return sum;
}

#define TOTAL(field)	total(offsetof(struct nl_stats, field))

/* Of the CPU that has the fewest. */
static uint64_t least_waiting(void)
{
	uint64_t least = UINT64_MAX;
	unsigned int i;

	nl_stats(&other, info.id, stats, NL_MAX_CPUS);
	for (i = 0; i < d.n; i++)
		least = stats[i].waiting < least ? stats[i].waiting : least;
	return least;
}

static void check_all(void)
{
	unsigned int messages = 0, i, bad = 0;
	uint64_t records = 0, bytes = 0;
	long got;

	if (!begin(&(struct nl_config){ .interval_ns = 500000, .flags = KJOULE_FLAG_WAKE_IDLE }))
		return;
	for (i = 0; i < 10; i++) {
		sleep_ms(100);
		bad += drain_dump(&nl, info.id, &d, walk, &messages) <= 0;
	}
	ktap_check_equal(0, bad, "each dump of a running session brings records");
	await(least_waiting() >= 600);
	messages = 0;
	for (i = 0; i < d.n; i++)
		records -= walk[i].records;
	got = drain_dump(&nl, info.id, &d, walk, &messages);
	for (i = 0; i < d.n; i++) {
		records += walk[i].records;
		bytes += walk[i].bytes;
	}
	/* 600 ticks a CPU are 14 KiB; a page holds 150 */
	if (!ktap_check(got > 0 && messages && records > 100 * messages, "a message holds many records"))
		ktap_diag("%llu records, %ld bytes, in %u messages", (unsigned long long)records,
			  got, messages);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	got = drain_dump(&nl, info.id, &d, walk, NULL);
	check_stats("drained by dumps", &nl, &info, &d, walk);
	messages = 0;
	ktap_check(got >= 0 && !drain_dump(&nl, info.id, &d, walk, &messages) && !messages,
		   "when nothing waits, a dump brings nothing");
	end();
}

/* Small rings that overflow now and then, so that a dump meets pads and losses. */
static void check_overrun(void)
{
	unsigned int i, bad = 0;
	uint64_t losts = 0;

	if (!begin(&(struct nl_config){ .interval_ns = 250000, .flags = KJOULE_FLAG_WAKE_IDLE,
					.ring_bytes = 4096 }))
		return;
	for (i = 0; i < 30; i++) {
		sleep_ms(i % 3 ? 5 : 100);
		bad += drain_dump(&nl, info.id, &d, walk, NULL) < 0;
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	bad += drain_dump(&nl, info.id, &d, walk, NULL) < 0;
	for (i = 0; i < d.n; i++)
		losts += walk[i].losts;
	ktap_check(!bad && losts, "rings that overflow: the dumps tell what was lost");
	check_stats("drained by dumps, with losses", &nl, &info, &d, walk);
	end();
}

/* Begin a dump and leave it there: the kernel goes on only as it is read. */
static bool begin_dump(struct nl *from)
{
	struct nlmsghdr *request = nl_request(from, KJOULE_CMD_RECORDS_GET, NLM_F_DUMP);

	mnl_attr_put_u32(request, KJOULE_A_RECORDS_SESSION, info.id);
	return send(mnl_socket_get_fd(from->socket), request, request->nlmsg_len, 0) > 0;
}

/* Read a dump to its end. Return: its outcome. */
static int end_dump(struct nl *from)
{
	char buffer[1 << 15];
	struct nlmsghdr *m;
	ssize_t got;
	int left;

	for (;;) {
		got = mnl_socket_recvfrom(from->socket, buffer, sizeof(buffer));
		if (got < 0)
			return -errno;
		left = got;
		for (m = (struct nlmsghdr *)buffer; mnl_nlmsg_ok(m, left);
		     m = mnl_nlmsg_next(m, &left)) {
			if (m->nlmsg_type == NLMSG_DONE)
				return *(int *)mnl_nlmsg_get_payload(m);
			if (m->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)mnl_nlmsg_get_payload(m))->error;
		}
	}
}

static void check_bounded(void)
{
	uint64_t there, taken;
	int outcome;

	if (!begin(&(struct nl_config){ .interval_ns = 100000, .flags = KJOULE_FLAG_WAKE_IDLE }))
		return;
	await(TOTAL(records) > 1000);
	if (!begin_dump(&nl)) {
		ktap_not_ok("a dump");
		return;
	}
	there = TOTAL(records);
	await(TOTAL(records) > there + 1000);
	outcome = end_dump(&nl);
	taken = TOTAL(consumed);
	if (!ktap_check(!outcome && taken && taken <= there && TOTAL(records) > there + 1000,
			"a dump ends with what was there when it began"))
		ktap_diag("%llu there, %llu taken, %llu now", (unsigned long long)there,
			  (unsigned long long)taken, (unsigned long long)TOTAL(records));
	end();
}

static void check_refused(int want, int got, const char *what)
{
	if (!ktap_check(got == -want, "%s: %s", what, strerrorname_np(want)))
		ktap_diag("got %s", got ? strerrorname_np(-got) : "success");
}

static void check_readers(void)
{
	struct device dev;
	struct nl maker = nl;

	if (!begin(&(struct nl_config){ .interval_ns = 100000, .flags = KJOULE_FLAG_WAKE_IDLE }))
		return;
	if (device_open(&dev, info.id)) {
		ktap_not_ok("a reader with the device");
		return;
	}
	check_refused(EBUSY, drain_dump(&nl, info.id, &d, walk, NULL), "a dump while the device is open");
	ktap_check(!TOTAL(consumed), "it has taken nothing");
	device_close(&dev);
	check_refused(EPERM, drain_dump(&other, info.id, &d, walk, NULL), "a dump by another socket");
	await(TOTAL(waiting) > 4000);
	if (!begin_dump(&nl)) {
		ktap_not_ok("a dump");
		return;
	}
	ktap_check(TOTAL(waiting) > 500, "a dump that is not read waits");
	check_refused(EBUSY, device_open(&dev, info.id), "the device while a dump is open");
	ktap_check(!end_dump(&nl), "the dump goes on to its end");
	ktap_check(await(!device_open(&dev, info.id)), "afterwards the device may");
	device_close(&dev);
	sleep_ms(100);

	/* the socket is closed with the dump under way */
	if (!begin_dump(&nl)) {
		ktap_not_ok("a dump");
		return;
	}
	nl_close(&nl);
	await(!session_count());
	ktap_check_equal(0, session_count(), "a socket that is closed in the middle of a dump ends its session");
	nl = maker;
	if (nl_open(&nl))
		ktap_not_ok("a new socket");
}

/* Whose capabilities were given up may not see what the session's maker might. */
static void check_kernel_addresses(void)
{
	int status = 1;
	pid_t pid;

	if (!begin(&(struct nl_config){ .interval_ns = 1000000 }))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(!caps_keep(CAP(CAP_SYS_ADMIN)) ? 2 :
		      drain_dump(&nl, info.id, &d, walk, NULL) != -EPERM);
	waitpid(pid, &status, 0);
	ktap_check(!status, "kernel addresses are not dumped to who has neither CAP_PERFMON nor CAP_SYSLOG");
	ktap_check(drain_dump(&nl, info.id, &d, walk, NULL) >= 0, "nor is that the end of the session");
	end();
}

static void check_whole(void)
{
	struct nl_stats sum;
	uint64_t records = 0, due = 0, lost = 0;
	unsigned int i;

	if (!begin(&(struct nl_config){ .interval_ns = 250000, .flags = KJOULE_FLAG_WAKE_IDLE,
					.ring_bytes = 4096 }))
		return;
	await(TOTAL(lost));
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	for (i = 0; i < d.n; i++) {
		records += stats[i].records;
		due += stats[i].due;
		lost += stats[i].lost;
	}
	ktap_check(!nl_stats_total(&nl, info.id, &sum) && sum.cpu == UINT32_MAX &&
		   sum.session == info.id && lost && sum.records == records && sum.due == due &&
		   sum.lost == lost && stats_balance(&sum),
		   "stats-get of a session as a whole is the sum of its CPUs");
	end();
}

int main(void)
{
	struct busy load;

	need_module();
	need_root();
	/* the load first: it would keep the sockets open */
	if (!busy_start(&load, cpu_count()) || nl_open(&nl) || nl_open(&other)) {
		ktap_not_ok("a netlink family, and busy processes");
		return ktap_end();
	}
	check_all();
	check_overrun();
	check_bounded();
	check_whole();
	check_kernel_addresses();
	check_readers();
	busy_stop(&load);
	ktap_check_equal(0, session_count(), "no session is left");
	nl_close(&nl);
	nl_close(&other);
	return ktap_end();
}
