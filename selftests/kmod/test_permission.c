// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Energy is a side channel and an instruction pointer breaks KASLR: who has neither
 * CAP_PERFMON nor CAP_SYS_ADMIN is refused every command, the device and the books;
 * either capability is enough, and nothing else is. Kernel addresses are shown with
 * CAP_PERFMON or CAP_SYSLOG only.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/genetlink.h>

#include "../ktap.h"
#include "guest.h"
#include "nl.h"
#include "ring.h"

#define NOBODY	65534
#define BOOKS	"/sys/kernel/debug/kjoule/books"

static struct nl nl;		/* of the privileged parent, shared with the children */
static uint32_t theirs;		/* a session of it */

static const char *const command_name[] = {
	[KJOULE_CMD_SOURCE_GET] = "source-get",
	[KJOULE_CMD_SESSION_NEW] = "session-new",
	[KJOULE_CMD_SESSION_START] = "session-start",
	[KJOULE_CMD_SESSION_STOP] = "session-stop",
	[KJOULE_CMD_SESSION_DEL] = "session-del",
	[KJOULE_CMD_SESSION_GET] = "session-get",
	[KJOULE_CMD_STATS_GET] = "stats-get",
};

/* Keep only these capabilities, in all sets. */
static bool keep_caps(uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps, .inheritable = 0 },
		{ .effective = caps >> 32, .permitted = caps >> 32, .inheritable = 0 },
	};

	return !syscall(SYS_capset, &header, data);
}

#define CAP(x)	(1ULL << (x))
#define ALL	(CAP(CAP_LAST_CAP + 1) - 1)

/* Send a valid command as @who; a dump if @flags say so. */
static int try_command(struct nl *who, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *request = nl_request(who, cmd, flags);

	if (cmd == KJOULE_CMD_SESSION_NEW)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_INTERVAL_NS, 1000000);
	else if (cmd == KJOULE_CMD_STATS_GET)
		mnl_attr_put_u32(request, KJOULE_A_STATS_SESSION, theirs);
	else if (cmd == KJOULE_CMD_SOURCE_GET && !flags)
		mnl_attr_put_u32(request, KJOULE_A_SOURCE_ID, 1);
	else if (cmd != KJOULE_CMD_SOURCE_GET && !flags)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_ID, theirs);
	return nl_talk(who, request, NULL, NULL);
}

static void check_errno(int want, int got, const char *who, const char *what)
{
	if (!ktap_check(got == -want, "%s: %s: %s", who, what, want ? strerrorname_np(want) : "allowed"))
		ktap_diag("got %s", got ? strerrorname_np(-got) : "success");
}

static void check_commands(struct nl *who, const char *name)
{
	char what[64];
	uint8_t cmd;

	for (cmd = KJOULE_CMD_SOURCE_GET; cmd <= KJOULE_CMD_MAX; cmd++) {
		if (cmd != KJOULE_CMD_STATS_GET)
			check_errno(EPERM, try_command(who, cmd, 0), name, command_name[cmd]);
		if (cmd != KJOULE_CMD_SOURCE_GET && cmd != KJOULE_CMD_SESSION_GET && cmd != KJOULE_CMD_STATS_GET)
			continue;
		snprintf(what, sizeof(what), "%s dump", command_name[cmd]);
		check_errno(EPERM, try_command(who, cmd, NLM_F_DUMP), name, what);
	}
}

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Run in a child, so that what it gives up comes back; results are counted here. */
static void in_child(void (*body)(void))
{
	int status, tell[2];
	pid_t pid;
	unsigned int counts[2] = { 0, 0 };

	if (pipe(tell))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		body();
		fflush(stdout);
		counts[0] = ktap_number;
		counts[1] = ktap_failed;
		if (write(tell[1], counts, sizeof(counts)) != sizeof(counts))
			_exit(1);
		_exit(0);
	}
	close(tell[1]);
	if (read(tell[0], counts, sizeof(counts)) == sizeof(counts)) {
		ktap_number = counts[0];
		ktap_failed = counts[1];
	}
	close(tell[0]);
	waitpid(pid, &status, 0);
	if (status)
		ktap_not_ok("the child came to its end");
}

static void as_nobody(void)
{
	struct nl own;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)) {
		ktap_not_ok("becoming nobody");
		return;
	}
	check_errno(0, nl_open(&own), "nobody", "the family can be found");
	check_commands(&own, "nobody");
	check_commands(&nl, "nobody with a socket of root's");
	check_errno(EACCES, try_open(KJOULE_DEVICE, O_RDWR), "nobody", "open of the device");
	check_errno(EACCES, try_open(KJOULE_DEVICE, O_RDONLY), "nobody", "open of the device for reading");
	check_errno(EACCES, try_open(BOOKS, O_RDONLY), "nobody", "open of the books");
	ktap_check(session_count() == 1, "nobody: the number of sessions can be read");

	if (!unshare(CLONE_NEWUSER)) {
		struct nl inside;

		nl_open(&inside);
		check_commands(&inside, "root of a user namespace");
	} else {
		ktap_skip("root of a user namespace", "user namespaces are not allowed here");
	}
}

static void without_both(void)
{
	struct nl own;

	if (!keep_caps(ALL & ~CAP(CAP_PERFMON) & ~CAP(CAP_SYS_ADMIN))) {
		ktap_not_ok("giving up capabilities");
		return;
	}
	check_errno(0, nl_open(&own), "root without capabilities", "the family can be found");
	check_commands(&own, "root without CAP_PERFMON and CAP_SYS_ADMIN");
	check_commands(&nl, "root without both, with a socket of root's");
	check_errno(EPERM, try_open(KJOULE_DEVICE, O_RDWR), "root without both", "open of the device");
	check_errno(EPERM, try_open(BOOKS, O_RDONLY), "root without both", "open of the books");
}

/* Run a session; tell whether kernel samples came and whether their addresses were hidden. */
static bool sample_kernel(struct nl *who, unsigned int *kernel, unsigned int *hidden)
{
	uint64_t end = now_ns() + 3000000000;
	struct nl_session s;
	struct device d;
	unsigned int i;

	*kernel = *hidden = 0;
	if (nl_session_new(who, &(struct nl_config){ .interval_ns = 1000000 }, &s) || device_open(&d, s.id) ||
	    device_map(&d) || nl_session_do(who, KJOULE_CMD_SESSION_START, s.id, &s))
		return false;
	while (*kernel < 20 && now_ns() < end) {
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
				*hidden += (sample->rec.flags & KJOULE_SAMPLE_IP_HIDDEN) && !sample->ip;
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

	if (!keep_caps(caps) || nl_open(&own) || !sample_kernel(&own, &kernel, &hidden)) {
		ktap_not_ok("%s: a session with samples of the kernel", who);
		return;
	}
	if (!ktap_check(shown ? !hidden : hidden == kernel, "%s: kernel addresses are %s", who,
			shown ? "shown" : "hidden"))
		ktap_diag("%u kernel samples, %u of them hidden", kernel, hidden);
}

#define FILES	(CAP(CAP_DAC_OVERRIDE) | CAP(CAP_DAC_READ_SEARCH))

static void with_perfmon(void)
{
	struct nl own;

	if (!keep_caps(CAP(CAP_PERFMON) | FILES))
		return;
	check_errno(0, nl_open(&own), "CAP_PERFMON alone", "the family can be found");
	check_errno(0, try_command(&own, KJOULE_CMD_SESSION_NEW, 0), "CAP_PERFMON alone", "session-new");
	check_errno(0, try_command(&own, KJOULE_CMD_SOURCE_GET, NLM_F_DUMP), "CAP_PERFMON alone", "source-get dump");
	check_errno(0, try_open(KJOULE_DEVICE, O_RDWR), "CAP_PERFMON alone", "open of the device");
	check_errno(0, try_open(BOOKS, O_RDONLY), "CAP_PERFMON alone", "open of the books");
	nl_close(&own);
	check_kernel_address("CAP_PERFMON alone", CAP(CAP_PERFMON) | FILES, true);
}

static void with_admin(void)
{
	struct nl own;

	if (!keep_caps(CAP(CAP_SYS_ADMIN) | CAP(CAP_SYSLOG) | FILES))
		return;
	check_errno(0, nl_open(&own), "CAP_SYS_ADMIN", "the family can be found");
	check_errno(0, try_command(&own, KJOULE_CMD_SESSION_NEW, 0), "CAP_SYS_ADMIN", "session-new");
	check_errno(0, try_open(KJOULE_DEVICE, O_RDWR), "CAP_SYS_ADMIN", "open of the device");
	nl_close(&own);
	check_kernel_address("CAP_SYS_ADMIN and CAP_SYSLOG", CAP(CAP_SYS_ADMIN) | CAP(CAP_SYSLOG) | FILES, true);
	check_kernel_address("CAP_SYS_ADMIN alone", CAP(CAP_SYS_ADMIN) | FILES, false);
}

/* A socket opened without privilege does not gain it from who uses it. */
static void check_borrowed_socket(void)
{
	struct nl weak;
	uid_t root = geteuid();

	if (setresuid(-1, NOBODY, -1) || nl_open(&weak)) {
		ktap_not_ok("a socket of nobody's");
		return;
	}
	if (setresuid(-1, root, -1))
		return;
	check_commands(&weak, "root with a socket of nobody's");
}

static void in_net_namespace(void)
{
	struct nl own;

	if (unshare(CLONE_NEWNET)) {
		ktap_skip("another network namespace", "can not be made here");
		return;
	}
	check_errno(ENOENT, nl_open(&own), "another network namespace", "the family is not there");
}

int main(void)
{
	struct nl_session s;

	if (session_count() < 0)
		ktap_skip_all("the module is not loaded");
	if (nl_open(&nl) || nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000 }, &s)) {
		ktap_not_ok("a session to be refused: %s", nl.why);
		return ktap_end();
	}
	theirs = s.id;
	in_child(as_nobody);
	in_child(without_both);
	in_child(with_perfmon);
	in_child(with_admin);
	in_child(check_borrowed_socket);
	in_child(in_net_namespace);
	ktap_check(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, theirs, &s) && s.state == KJOULE_SESSION_NEW,
		   "the session that was asked for is as it was");
	ktap_check_equal(1, session_count(), "no other session is left");
	nl_close(&nl);
	return ktap_end();
}
