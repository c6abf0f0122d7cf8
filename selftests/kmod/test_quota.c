// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rings are not memory for nothing: a user without CAP_IPC_LOCK has so much for each CPU in all his
 * sessions together, and what he may lock besides; more is refused with what was asked for and what
 * there is. It comes back when the rings are not held any more, is no other user's
 * business, and is charged to the memory cgroup of who made the session.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ktap.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"
#include "who.h"

#define SOMEBODY	(NOBODY - 1)
#define RING		(2 << 20)	/* so that memory runs out before sessions do: 16 a user */
#define KIB_PER_SESSION	(RING / 1024 + 8)	/* for each CPU */
#define MAX_SESSIONS	32
#define LOCKED_KIB	(4 * KIB_PER_SESSION)	/* of RLIMIT_MEMLOCK, where it is raised */
#define CGROUP		"/tmp/kjoule-quota"

static struct nl_session s[MAX_SESSIONS];
static unsigned int allowed;	/* sessions that have room for each CPU's share */

static long read_long(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	return got > 0 ? atol(text) : -1;
}

static int make(uint32_t ring_bytes, struct nl_session *session)
{
	return nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000,
							.ring_bytes = ring_bytes }, session);
}

/* As many as are let; the errno of the first that is not. */
static int fill(unsigned int *n)
{
	int err = 0;

	for (*n = 0; *n < MAX_SESSIONS && !err; *n += !err)
		err = make(RING, &s[*n]);
	return err;
}

/* What may be locked from now on; root sets up to where it may be raised again. */
static int set_locked(unsigned long kib)
{
	struct rlimit limit =
		{ .rlim_cur = kib * 1024, .rlim_max = LOCKED_KIB * cpu_count() * 1024ul };

	return setrlimit(RLIMIT_MEMLOCK, &limit) ? -errno : 0;
}

static void check_refusal(int err, unsigned int n)
{
	char asked[32], taken[32];

	check_errno(EDQUOT, err, "a user", "a session beyond what he may have");
	ktap_check_equal(allowed, n, "a user: as many sessions as there is room for each CPU");
	snprintf(asked, sizeof(asked), "%u KiB", KIB_PER_SESSION * cpu_count());
	snprintf(taken, sizeof(taken), "%u in use", allowed * KIB_PER_SESSION * cpu_count());
	if (!ktap_check(strstr(nl.why, asked) && strstr(nl.why, taken) && strstr(nl.why, "ulimit -l"),
			"the words tell what was asked for, what is used, and what to do"))
		ktap_diag("\"%s\"", nl.why);
}

static void as_user(void)
{
	struct nl_session more;
	struct device d;
	unsigned int n;
	int err;

	if (set_locked(0) || !become(NOBODY, CAP(CAP_PERFMON) | CAP(CAP_SETUID) | FILES) ||
	    nl_open(&nl)) {
		ktap_not_ok("becoming a user with CAP_PERFMON");
		return;
	}
	check_errno(EDQUOT, make(256 << 20, &more), "a user", "rings of 256 MiB");
	err = fill(&n);
	check_refusal(err, n);
	check_errno(0, setresuid(-1, SOMEBODY, -1) ? -errno : make(RING, &more), "another user",
		    "has his own");
	if (setresuid(-1, NOBODY, -1))
		return;
	check_errno(0, nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s[0].id, NULL), "a user",
		    "ends a session");
	check_errno(0, make(RING, &s[0]), "a user", "has room for another one then");
	/* the reader still has the rings mapped */
	if (device_open(&d, s[1].id) || device_map(&d))
		ktap_not_ok("a reader");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s[1].id, NULL);
	check_errno(EDQUOT, make(RING, &more), "a user", "rings that are still mapped count");
	device_close(&d);
	check_errno(0, make(RING, &s[1]), "a user", "and do no more when they are closed");
	check_errno(0, set_locked(LOCKED_KIB * cpu_count()), "a user", "may lock more");
	err = fill(&n);
	check_errno(EDQUOT, err, "a user who may lock more", "a session beyond that");
	ktap_check_equal(4, n, "a user who may lock more: so many more sessions");
}

/* Once more, after the sockets of the one before were closed. */
static void as_user_again(void)
{
	unsigned int n;

	if (set_locked(0) || !become(NOBODY, CAP(CAP_PERFMON) | FILES) || nl_open(&nl))
		return;
	fill(&n);
	ktap_check_equal(allowed, n, "what a user's sessions took is given back when they end");
}

static void as_root(void)
{
	struct nl_session more;
	unsigned int n;
	int err = nl_open(&nl) ?: set_locked(0);

	for (n = 0; n <= allowed && !err; n++)
		err = make(RING, &more);
	check_errno(0, err, "CAP_IPC_LOCK", "more sessions than that");
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return good;
}

static void charged(void)
{
	struct nl_session more;
	long before, after;

	if (!put(CGROUP "/test/cgroup.procs", "0") || nl_open(&nl)) {
		ktap_not_ok("a child in the cgroup");
		return;
	}
	before = read_long(CGROUP "/test/memory.current");
	check_errno(0, make(4 * RING, &more), "in a memory cgroup", "a session");
	after = read_long(CGROUP "/test/memory.current");
	if (!ktap_check(after - before >= 4l * RING * cpu_count(), "in a memory cgroup: its rings are charged"))
		ktap_diag("%ld bytes before, %ld after", before, after);
}

static void check_cgroup(void)
{
	mkdir(CGROUP, 0700);
	if (mount("none", CGROUP, "cgroup2", 0, NULL)) {
		ktap_skip("in a memory cgroup: its rings are charged", "no cgroup2: mount it");
		return;
	}
	put(CGROUP "/cgroup.subtree_control", "+memory");
	mkdir(CGROUP "/test", 0700);
	if (read_long(CGROUP "/test/memory.current") < 0)
		ktap_skip("in a memory cgroup: its rings are charged",
			  "cgroup2 has no memory controller here");
	else
		in_child(charged);
	rmdir(CGROUP "/test");
	umount(CGROUP);
	rmdir(CGROUP);
}

int main(void)
{
	need_module();
	need_root();
	allowed = read_long("/sys/module/kjoule/parameters/ring_kib_per_cpu") / KIB_PER_SESSION;
	ktap_check(allowed > 1 && allowed <= 16 - 4, "the limit is one that can be tried");
	in_child(as_user);
	in_child(as_user_again);
	in_child(as_root);
	check_cgroup();
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
