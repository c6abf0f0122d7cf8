/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Becoming others for the module's selftests: children without capabilities or of another
 * user, and a valid request of each kind for them to send. Static, because results are counted
 * in the program (ktap.h). Used by the tests of who may.
 */
#ifndef KJOULE_SELFTESTS_WHO_H
#define KJOULE_SELFTESTS_WHO_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "caps.h"
#include "nl.h"
#include "notice.h"

#define NOBODY	65534
#define STATISTICS	"/sys/kernel/debug/kjoule/statistics"

static struct nl nl;		/* of the privileged parent, shared with the children */
static uint32_t theirs;		/* a session of it */
static bool has_group;		/* of notices: where the kernel can guard it */

static const char *const command_name[KJOULE_CMD_MAX + 1] = {
	[KJOULE_CMD_SOURCE_GET] = "source-get",
	[KJOULE_CMD_SESSION_NEW] = "session-new",
	[KJOULE_CMD_SESSION_START] = "session-start",
	[KJOULE_CMD_SESSION_STOP] = "session-stop",
	[KJOULE_CMD_SESSION_DEL] = "session-del",
	[KJOULE_CMD_SESSION_GET] = "session-get",
	[KJOULE_CMD_STATS_GET] = "stats-get",
	[KJOULE_CMD_RECORDS_GET] = "records-get",
	[KJOULE_CMD_NOTICE_LISTEN] = "notice-listen",
	[KJOULE_CMD_SESSION_BLOCK] = "session-block",
	[KJOULE_CMD_TRANSITION_NEW] = "transition-new",
	[KJOULE_CMD_TRANSITION_DEL] = "transition-del",
	[KJOULE_CMD_TRANSITION_CALIBRATE] = "transition-calibrate",
	[KJOULE_CMD_TRANSITION_TRY] = "transition-try",
	[KJOULE_CMD_TRANSITION_LOOPS_GET] = "transition-loops-get",
	[KJOULE_CMD_RESTORE_ADD] = "restore-add",
	[KJOULE_CMD_RESTORE_NOW] = "restore-now",
};

#define NO_GROUP	"this kernel cannot guard it, so there is none: it takes 6.1.68, 6.7 or newer"

#define FILES	(CAP(CAP_DAC_OVERRIDE) | CAP(CAP_DAC_READ_SEARCH))

/* Become another user who has these. */
static inline bool become(uid_t uid, uint64_t caps)
{
	return !prctl(PR_SET_KEEPCAPS, 1) && !setresgid(uid, uid, uid) &&
	       !setresuid(uid, uid, uid) && caps_keep(caps);
}

/* Send a valid command as @who; a dump if @flags say so. */
static inline int try_command(struct nl *who, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *request = nl_request(who, cmd, flags);

	if (cmd == KJOULE_CMD_SESSION_NEW)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_INTERVAL_NS, 1000000);
	else if (cmd == KJOULE_CMD_STATS_GET)
		mnl_attr_put_u32(request, KJOULE_A_STATS_SESSION, theirs);
	else if (cmd == KJOULE_CMD_RECORDS_GET)
		mnl_attr_put_u32(request, KJOULE_A_RECORDS_SESSION, theirs);
	else if (cmd == KJOULE_CMD_SOURCE_GET && !flags)
		mnl_attr_put_u32(request, KJOULE_A_SOURCE_ID, 1);
	else if (cmd == KJOULE_CMD_TRANSITION_NEW)
		mnl_attr_put_u32(request, KJOULE_A_TRANSITION_CPU, 0);
	else if (cmd >= KJOULE_CMD_TRANSITION_DEL && cmd <= KJOULE_CMD_TRANSITION_LOOPS_GET)
		mnl_attr_put_u32(request, KJOULE_A_TRANSITION_ID, 1);
	else if (cmd == KJOULE_CMD_RESTORE_ADD)
		mnl_attr_put_u32(request, KJOULE_A_RESTORE_FD, 0);
	else if (cmd != KJOULE_CMD_SOURCE_GET && cmd != KJOULE_CMD_NOTICE_LISTEN &&
		 cmd != KJOULE_CMD_RESTORE_NOW && !flags)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_ID, theirs);
	return nl_talk(who, request, NULL, NULL);
}

static inline void check_errno(int want, int got, const char *who, const char *what)
{
	if (!ktap_check(got == -want, "%s: %s: %s", who, what,
			want ? strerrorname_np(want) : "allowed"))
		ktap_diag("got %s", got ? strerrorname_np(-got) : "success");
}

static inline void check_commands(struct nl *who, const char *name)
{
	char what[64];
	uint8_t cmd;

	for (cmd = KJOULE_CMD_SOURCE_GET; cmd <= KJOULE_CMD_MAX; cmd++) {
		if (cmd == KJOULE_CMD_NOTICE)
			continue;	/* only reported */
		if (!command_name[cmd]) {
			ktap_not_ok("command %u has a name here, to be tried", cmd);
			continue;
		}
		if (cmd != KJOULE_CMD_RECORDS_GET && cmd != KJOULE_CMD_TRANSITION_LOOPS_GET)
			check_errno(EPERM, try_command(who, cmd, 0), name, command_name[cmd]);
		if (cmd != KJOULE_CMD_SOURCE_GET && cmd != KJOULE_CMD_SESSION_GET &&
		    cmd != KJOULE_CMD_STATS_GET && cmd != KJOULE_CMD_RECORDS_GET &&
		    cmd != KJOULE_CMD_TRANSITION_LOOPS_GET)
			continue;
		snprintf(what, sizeof(what), "%s dump", command_name[cmd]);
		check_errno(EPERM, try_command(who, cmd, NLM_F_DUMP), name, what);
	}
}

static inline int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static inline int try_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	char text[64];

	if (fd < 0)
		return -errno;
	if (read(fd, text, sizeof(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static inline bool find_group(void)
{
	struct nl probe;
	bool found = !nl_open(&probe) && !notice_join(&probe);

	nl_close(&probe);
	return found;
}

static inline void check_join(struct nl *with, const char *who)
{
	if (has_group)
		check_errno(EPERM, notice_join(with), who, "joining the group of notices");
	else
		ktap_skip("joining the group of notices", NO_GROUP);
}

/* Run in a child, so that what it gives up comes back; results are counted here. */
static inline void in_child(void (*body)(void))
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

#endif
