// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session lives as long as the socket that made it: it goes with a consumer that is
 * killed, outlives a device file that is closed, and pins the module. Nothing is left of
 * it afterwards, and the module can be loaded and unloaded as often as one likes.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 90
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "module.h"
#include "nl.h"
#include "ring.h"

#define LOADS	50

static const struct nl_config plain = { .interval_ns = 1000000, .flags = KJOULE_FLAG_WAKE_IDLE };

/* Rings that are allocated, all sessions together. */
static int ring_count(void)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	char line[512];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += !!strstr(line, "kjoule_ring_alloc");
	if (f)
		fclose(f);
	return f ? n : -1;
}

static void check_errno(int want, int got, const char *what)
{
	if (!ktap_check(got == -want, "%s%s%s", what, want ? ": " : "",
			want ? strerrorname_np(want) : ""))
		ktap_diag("got %s", got ? strerrorname_np(-got) : "success");
}

/* A consumer in a process of its own, mapped and reading, until it is killed. */
static pid_t start_consumer(bool read_too)
{
	struct walk walk[NL_MAX_CPUS];
	struct nl_session info;
	unsigned int i;
	int ready[2];
	struct device d;
	struct nl nl;
	pid_t pid;
	char c;

	if (pipe2(ready, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		if (nl_open(&nl) || nl_session_new(&nl, &plain, &info) ||
		    device_open(&d, info.id) || device_map(&d) ||
		    nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info))
			_exit(1);
		for (i = 0; i < d.n; i++)
			walk_begin(&walk[i], &info, d.ring[i].cpu);
		if (write(ready[1], "!", 1) != 1)
			_exit(1);
		while (read_too)
			drain_map(&d, walk);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

static void check_killed(void)
{
	unsigned int i;
	pid_t pid;

	for (i = 0; i < 2; i++) {
		pid = start_consumer(i);
		if (pid < 0) {
			ktap_not_ok("a consumer to kill");
			return;
		}
		ktap_check_equal(1, session_count(), "a consumer has its session");
		sleep_ms(50);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		ktap_check_equal(0, session_count(), i ? "killed while it reads, its session is gone" :
							 "killed while it waits, its session is gone");
		ktap_check_equal(0, ring_count(), "and so are its rings");
	}
}

/* All that may be cut short: killed at random moments of a whole session's life. */
static void check_killed_anywhere(void)
{
	unsigned int i;
	pid_t pid;

	for (i = 0; i < 40; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			for (;;) {
				struct nl_session info;
				struct device d;
				struct nl nl;

				nl_open(&nl);
				nl_session_new(&nl, &plain, &info);
				if (!device_open(&d, info.id)) {
					device_map(&d);
					nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id,
						      &info);
					nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
					device_close(&d);
				}
				nl_close(&nl);
			}
		}
		usleep(500 + i * 531);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	ktap_check_equal(0, session_count(), "killed at 40 moments, no consumer leaves a session");
	ktap_check_equal(0, ring_count(), "nor a ring");
}

/* A device file comes and goes; the session stays, and so does what was not consumed. */
static void check_reattach(void)
{
	struct walk walk[NL_MAX_CPUS];
	uint64_t left = 0, found = 0;
	struct device first, second;
	struct nl_session info;
	unsigned int i;
	struct nl nl;

	if (nl_open(&nl) || nl_session_new(&nl, &plain, &info) || device_open(&first, info.id) ||
	    device_map(&first) || nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info)) {
		ktap_not_ok("a session to attach to twice");
		return;
	}
	for (i = 0; i < first.n; i++)
		walk_begin(&walk[i], &info, first.ring[i].cpu);
	sleep_ms(50);
	drain_map(&first, walk);
	sleep_ms(50);
	check_errno(EBUSY, device_open(&second, info.id), "while the first reader is there, no second one");
	close(first.fd);
	check_errno(EBUSY, device_open(&second, info.id), "nor while only its mapping is");
	for (i = 0; i < first.n; i++)
		left += ring_unread(&first.ring[i]);
	first.fd = -1;
	device_unmap(&first);
	ktap_check_equal(1, session_count(), "the session outlives its reader");
	check_errno(0, device_open(&second, info.id), "and takes another one");
	check_errno(0, device_map(&second), "which can map its rings");
	for (i = 0; i < second.n; i++)
		found += ring_unread(&second.ring[i]);
	ktap_check(left && found >= left, "what was not consumed is still there");
	drain_map(&second, walk);
	sleep_ms(50);
	device_close(&second);
	check_errno(0, device_open(&second, info.id), "and so once more, for who reads");
	drain_read(&second, walk);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_read(&second, walk);
	check_stats("read by three readers", &nl, &info, &second, walk);
	device_close(&second);
	nl_close(&nl);
}

/* The session goes first: its reader keeps what is there, and hears of the end. */
static void check_orphan(bool by_close)
{
	const char *how = by_close ? "its socket closed" : "the session deleted";
	struct walk walk[NL_MAX_CPUS];
	struct pollfd p = { .events = POLLIN };
	struct nl_session info;
	struct device d;
	unsigned int i;
	struct nl nl;
	bool good = true;
	char c[128];

	if (nl_open(&nl) || nl_session_new(&nl, &plain, &info) || device_open(&d, info.id) ||
	    device_map(&d) || nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info)) {
		ktap_not_ok("%s: a session", how);
		return;
	}
	for (i = 0; i < d.n; i++)
		walk_begin(&walk[i], &info, d.ring[i].cpu);
	sleep_ms(50);
	if (by_close)
		nl_close(&nl);
	else
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	ktap_check(session_count() == 0, "%s: it is not counted any more", how);
	p.fd = d.fd;
	ktap_check(poll(&p, 1, 0) == 1 && p.revents == (POLLIN | POLLHUP), "%s: poll tells the end, and what is left", how);
	for (i = 0; i < d.n; i++)
		good &= d.ring[i].head->state == KJOULE_SESSION_STOPPED && ring_unread(&d.ring[i]);
	drain_map(&d, walk);
	for (i = 0; i < d.n; i++) {
		const struct kjoule_ring_head *h = d.ring[i].head;

		good &= walk[i].samples == h->samples && walk[i].records == h->records - h->lost &&
			h->due == h->taken + h->missed + h->skipped && h->due == walk[i].next &&
				!walk[i].fault[0];
	}
	ktap_check(good, "%s: all that was measured can still be read", how);
	ktap_check(read(d.fd, c, sizeof(c)) == 0, "%s: then read tells the end", how);
	check_errno(EWOULDBLOCK, module_unload(), "rmmod with such a reader");
	device_close(&d);
	ktap_check(ring_count() == 0, "%s: the rings go with their last reader", how);
	if (!by_close)
		nl_close(&nl);
}

static void check_unload(void)
{
	struct nl_session info;
	struct nl nl;
	int fd;

	nl_open(&nl);
	nl_session_new(&nl, &plain, &info);
	check_errno(EWOULDBLOCK, module_unload(), "rmmod with a session that was not started");
	nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, NULL);
	check_errno(EWOULDBLOCK, module_unload(), "rmmod with a session that runs");
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, NULL);
	check_errno(EWOULDBLOCK, module_unload(), "rmmod with a session that is stopped");
	ktap_check(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info) &&
		   info.state == KJOULE_SESSION_STOPPED,
		   "the session is as it was");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC);
	check_errno(EWOULDBLOCK, module_unload(), "rmmod with the device open");
	close(fd);
	check_errno(0, module_unload(), "rmmod with a socket open that has no session");
	check_errno(ENOENT, nl_session_do(&nl, KJOULE_CMD_SESSION_GET, 1, NULL), "a request without the module");
	nl_close(&nl);
	check_errno(ENOENT, nl_open(&nl), "the family without the module");
	ktap_check(access(KJOULE_DEVICE, F_OK) && access("/sys/class/misc/kjoule", F_OK) &&
		   access("/sys/kernel/debug/kjoule", F_OK),
		   "device, attributes and debugfs folder go with it");
	check_errno(0, module_load(), "it can be loaded again");
}

/* Loaded, used every other time, unloaded. */
static void check_loads(void)
{
	struct nl_session info;
	unsigned int i, loads = 0, used = 0;
	struct device d;
	struct nl nl;
	int err;

	module_unload();
	for (i = 0; i < LOADS; i++) {
		err = module_load();
		if (err) {
			ktap_diag("load %u: %s", i, strerrorname_np(-err));
			break;
		}
		if (i % 2 == 0 && !nl_open(&nl)) {
			if (!nl_session_new(&nl, &plain, &info) && !device_open(&d, info.id)) {
				nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, NULL);
				sleep_ms(5);
				used += !nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, NULL);
				device_close(&d);
			}
			nl_close(&nl);
		}
		err = module_unload();
		if (err) {
			ktap_diag("unload %u: %s", i, strerrorname_np(-err));
			break;
		}
		loads++;
	}
	ktap_check_equal(LOADS, loads, "50 times loaded and unloaded");
	ktap_check_equal(LOADS / 2, used, "used every other time");
	check_errno(0, module_load(), "and loaded again");
}

/* Sessions are made and ended all the time while the module is asked to go. */
static void check_unload_race(void)
{
	unsigned int gone = 0;
	uint64_t since;
	int err = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (;;) {
			struct nl_session info;
			struct nl nl;

			if (nl_open(&nl))
				continue;
			while (!nl_session_new(&nl, &plain, &info)) {
				nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, NULL);
				nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
			}
			nl_close(&nl);
		}
	}
	for (since = now_ns(); now_ns() < since + PATIENCE_NS && gone < 10; sched_yield()) {
		if (!module_unload()) {
			gone++;
			since = now_ns();
			err = module_load();
			if (err) {
				ktap_diag("load %u: %s", gone, strerrorname_np(-err));
				break;
			}
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ktap_check_equal(10, gone, "unloaded 10 times in the face of new sessions");
	ktap_check_equal(0, session_count(), "none of them is left");
}

int main(void)
{
	const char *lacks;

	need_module();
	lacks = lacks_reload();
	check_killed();
	check_killed_anywhere();
	check_reattach();
	check_orphan(false);
	check_orphan(true);
	if (lacks) {
		ktap_skip("the module is unloaded and loaded again", lacks);
	} else {
		check_unload();
		check_loads();
		check_unload_race();
	}
	ktap_check_equal(0, ring_count(), "no ring is left");
	return ktap_end();
}
