// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Energy is a side channel and an instruction pointer breaks KASLR: who has neither
 * CAP_PERFMON nor CAP_SYS_ADMIN is refused every command, the device and the statistics;
 * either capability is enough, and nothing else is. Kernel addresses are shown with
 * CAP_PERFMON or CAP_SYSLOG only, and a session's records to the user who made it. Stacks of all
 * processes are only read with CAP_SYS_PTRACE or CAP_SYS_ADMIN.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "../ktap.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"
#include "who.h"

static uint32_t with_stacks;	/* a session of nl's with the stacks of all processes */
static const char *no_debugfs;	/* why there are no statistics to open */

static void check_stats(int want, const char *who)
{
	if (no_debugfs)
		ktap_skip("open of the statistics", no_debugfs);
	else
		check_errno(want, try_open(STATISTICS, O_RDONLY), who, "open of the statistics");
}

static void as_nobody(void)
{
	struct nl own;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)) {
		ktap_not_ok("becoming an ordinary user");
		return;
	}
	check_errno(0, nl_open(&own), "nobody", "the family can be found");
	check_commands(&own, "nobody");
	check_commands(&nl, "an ordinary user with a socket of root's");
	check_errno(EACCES, try_open(KJOULE_DEVICE, O_RDWR), "nobody", "open of the device");
	check_errno(EACCES, try_open(KJOULE_DEVICE, O_RDONLY), "nobody",
		    "open of the device for reading");
	check_stats(EACCES, "nobody");
	ktap_check(session_count() == 1, "an ordinary user: the number of sessions can be read");

	if (!unshare(CLONE_NEWUSER)) {
		struct nl inside;

		nl_open(&inside);
		check_commands(&inside, "root of a user namespace");
	} else {
		ktap_skip("root of a user namespace", NO_USER_NAMESPACE);
	}
}

static void without_both(void)
{
	struct nl own;

	if (!caps_keep(CAP_ALL & ~CAP(CAP_PERFMON) & ~CAP(CAP_SYS_ADMIN))) {
		ktap_not_ok("giving up capabilities");
		return;
	}
	check_errno(0, nl_open(&own), "root without capabilities", "the family can be found");
	check_commands(&own, "root without CAP_PERFMON and CAP_SYS_ADMIN");
	check_commands(&nl, "root without both, with a socket of root's");
	check_errno(EPERM, try_open(KJOULE_DEVICE, O_RDWR), "root without both",
		    "open of the device");
	check_stats(EPERM, "root without both");
}

/* Run a session; tell whether kernel samples came and whether their addresses were hidden. */
static bool sample_kernel(struct nl *who, unsigned int *kernel, unsigned int *hidden)
{
	uint64_t end = now_ns() + 3000000000;
	struct nl_session s;
	struct device d;
	unsigned int i;

	*kernel = *hidden = 0;
	if (nl_session_new(who, &(struct nl_config){ .interval_ns = 1000000 }, &s) ||
	    device_open(&d, s.id) || device_map(&d) ||
	    nl_session_do(who, KJOULE_CMD_SESSION_START, s.id, &s))
		return false;
	while (now_ns() < (*kernel ? end : end + PATIENCE_NS) && *kernel < 20) {
		sleep_ms(20);	/* idle is kernel mode */
		for (i = 0; i < d.n; i++) {
			struct ring *r = &d.ring[i];

			for (; ring_unread(r); r->tail->tail += ((struct kjoule_record *)(r->data +
			     (r->tail->tail & (r->size - 1))))->size) {
				const struct kjoule_sample *sample = (const void *)(r->data +
					(r->tail->tail & (r->size - 1)));

				if (sample->rec.type != KJOULE_RECORD_SAMPLE ||
				    !(sample->rec.flags & KJOULE_SAMPLE_KERNEL))
					continue;
				++*kernel;
				*hidden += (sample->rec.flags & KJOULE_SAMPLE_IP_HIDDEN) &&
					   !sample->ip;
			}
		}
	}
	device_close(&d);
	return !nl_session_do(who, KJOULE_CMD_SESSION_DEL, s.id, NULL) && *kernel;
}

static void check_kernel_address(const char *who, uint64_t caps, bool shown)
{
	unsigned int kernel, hidden;
	struct nl own;

	if (!caps_keep(caps) || nl_open(&own) || !sample_kernel(&own, &kernel, &hidden)) {
		ktap_not_ok("%s: a session with samples of the kernel", who);
		return;
	}
	if (!ktap_check(shown ? !hidden : hidden == kernel, "%s: kernel addresses are %s", who,
			shown ? "shown" : "hidden"))
		ktap_diag("%u kernel samples, %u of them hidden", kernel, hidden);
}


static void with_perfmon(void)
{
	struct nl own;

	if (!caps_keep(CAP(CAP_PERFMON) | FILES))
		return;
	check_errno(0, nl_open(&own), "CAP_PERFMON alone", "the family can be found");
	check_errno(0, try_command(&own, KJOULE_CMD_SESSION_NEW, 0), "CAP_PERFMON alone",
		    "session-new");
	check_errno(0, try_command(&own, KJOULE_CMD_SOURCE_GET, NLM_F_DUMP), "CAP_PERFMON alone",
		    "source-get dump");
	check_errno(0, try_open(KJOULE_DEVICE, O_RDWR), "CAP_PERFMON alone", "open of the device");
	check_stats(0, "CAP_PERFMON alone");
	nl_close(&own);
	check_kernel_address("CAP_PERFMON alone", CAP(CAP_PERFMON) | FILES, true);
}

static void with_admin(void)
{
	struct nl own;

	if (!caps_keep(CAP(CAP_SYS_ADMIN) | CAP(CAP_SYSLOG) | FILES))
		return;
	check_errno(0, nl_open(&own), "CAP_SYS_ADMIN", "the family can be found");
	check_errno(0, try_command(&own, KJOULE_CMD_SESSION_NEW, 0), "CAP_SYS_ADMIN",
		    "session-new");
	check_errno(0, try_open(KJOULE_DEVICE, O_RDWR), "CAP_SYS_ADMIN", "open of the device");
	nl_close(&own);
	check_kernel_address("CAP_SYS_ADMIN and CAP_SYSLOG",
			     CAP(CAP_SYS_ADMIN) | CAP(CAP_SYSLOG) | FILES, true);
	check_kernel_address("CAP_SYS_ADMIN alone", CAP(CAP_SYS_ADMIN) | FILES, false);
}

/* A socket opened without privilege does not gain it from who uses it. */
static void check_borrowed_socket(void)
{
	struct nl weak;
	uid_t root = geteuid();

	if (setresuid(-1, NOBODY, -1) || nl_open(&weak)) {
		ktap_not_ok("a socket of an ordinary user's");
		return;
	}
	if (setresuid(-1, root, -1))
		return;
	check_commands(&weak, "root with a socket of an ordinary user's");
}

static void in_net_namespace(void)
{
	struct nl own;

	if (unshare(CLONE_NEWNET)) {
		ktap_skip("another network namespace", NO_NET_NAMESPACE);
		return;
	}
	check_errno(ENOENT, nl_open(&own), "another network namespace", "the family is not there");
}

/* Attach to the privileged parent's session. */
static int try_attach(void)
{
	struct device d;
	int err = device_open(&d, theirs);

	if (!err)
		device_close(&d);
	return err;
}

/* Sessions belong to users: who may do the same with his own has no business with others'. */
static void as_other_user(void)
{
	struct nl_session s;
	struct device d;
	struct nl own;

	if (!become(NOBODY, CAP(CAP_PERFMON) | FILES) || nl_open(&own)) {
		ktap_not_ok("becoming another user with CAP_PERFMON");
		return;
	}
	check_errno(EACCES, try_attach(), "another user with CAP_PERFMON",
		    "attaching to root's session");
	check_errno(EPERM, try_command(&own, KJOULE_CMD_RECORDS_GET, NLM_F_DUMP), "another user with CAP_PERFMON",
		    "draining root's session");
	check_errno(EPERM, try_command(&own, KJOULE_CMD_SESSION_START, 0), "another user with CAP_PERFMON",
		    "starting root's session");
	check_errno(EPERM, try_command(&own, KJOULE_CMD_SESSION_STOP, 0), "another user with CAP_PERFMON",
		    "stopping root's session");
	check_errno(EPERM, try_command(&own, KJOULE_CMD_SESSION_DEL, 0), "another user with CAP_PERFMON",
		    "ending root's session");
	check_errno(0, nl_session_new(&own, &(struct nl_config){ .interval_ns = 1000000 }, &s),
		    "another user with CAP_PERFMON", "a session of his own");
	check_errno(0, device_open(&d, s.id), "another user with CAP_PERFMON",
		    "attaching to his own");
}

static void as_other_admin(void)
{
	if (become(NOBODY, CAP(CAP_PERFMON) | CAP(CAP_SYS_ADMIN) | FILES))
		check_errno(0, try_attach(), "another user with CAP_SYS_ADMIN besides",
			    "attaching to root's session");
	else
		ktap_not_ok("becoming another user with CAP_SYS_ADMIN");
}

/* The session shows kernel addresses; who would read it may not see them. */
static void without_addresses(void)
{
	if (caps_keep(CAP(CAP_SYS_ADMIN) | CAP(CAP_SYSLOG) | FILES))
		check_errno(0, try_attach(), "root with CAP_SYSLOG",
			    "attaching to a session with kernel addresses");
	if (caps_keep(CAP(CAP_SYS_ADMIN) | FILES))
		check_errno(EPERM, try_attach(), "root without CAP_PERFMON and CAP_SYSLOG",
			    "attaching to a session with kernel addresses");
	else
		ktap_not_ok("giving up CAP_SYSLOG");
}

/* The session copies the stacks of all processes; who would read it may not trace them. */
static void without_stacks(void)
{
	uint32_t made = theirs;

	if (!caps_keep(CAP(CAP_PERFMON) | CAP(CAP_SYS_PTRACE) | FILES)) {
		ktap_not_ok("giving up CAP_SYS_ADMIN");
		return;
	}
	theirs = with_stacks;
	check_errno(0, try_attach(), "root with CAP_SYS_PTRACE",
		    "attaching to a session with all stacks");
	check_errno(0, try_command(&nl, KJOULE_CMD_RECORDS_GET, NLM_F_DUMP), "root with CAP_SYS_PTRACE",
		    "draining a session with all stacks");
	if (!caps_keep(CAP(CAP_PERFMON) | FILES)) {
		ktap_not_ok("giving up CAP_SYS_PTRACE");
		return;
	}
	check_errno(EPERM, try_attach(), "root with CAP_PERFMON alone",
		    "attaching to a session with all stacks");
	check_errno(EPERM, try_command(&nl, KJOULE_CMD_RECORDS_GET, NLM_F_DUMP), "root with CAP_PERFMON alone",
		    "draining a session with all stacks");
	theirs = made;
	check_errno(0, try_attach(), "root with CAP_PERFMON alone",
		    "attaching to a session without");
}

int main(void)
{
	struct nl_session s, stacks;

	need_module();
	need_root();
	no_debugfs = lacks_debugfs();
	if (nl_open(&nl) ||
	    nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000 }, &s)) {
		ktap_not_ok("a session to be refused: %s", nl.why);
		return ktap_end();
	}
	theirs = s.id;
	if (nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000,
						     .flags = KJOULE_FLAG_USER_STACK }, &stacks)) {
		ktap_not_ok("a session with all stacks: %s", nl.why);
		return ktap_end();
	}
	with_stacks = stacks.id;
	in_child(without_stacks);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, with_stacks, NULL);
	in_child(as_nobody);
	in_child(without_both);
	in_child(with_perfmon);
	in_child(with_admin);
	in_child(as_other_user);
	in_child(as_other_admin);
	in_child(without_addresses);
	in_child(check_borrowed_socket);
	in_child(in_net_namespace);
	ktap_check(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, theirs, &s) &&
		   s.state == KJOULE_SESSION_NEW,
		   "the session that was asked for is as it was");
	ktap_check_equal(1, session_count(), "no other session is left");
	nl_close(&nl);
	return ktap_end();
}
