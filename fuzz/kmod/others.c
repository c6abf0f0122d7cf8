// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves around the two front ends: by a child process that has a copy of everything, without
 * rights or with few, and looks at what the module tells in sysfs and debugfs meanwhile.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmod/caps.h"
#include "coverage.h"
#include "fuzz.h"
#include "world.h"

#define OTHER_USER	65534

static void child(struct world *w, unsigned int moves, bool tidy)
{
	struct kcov kcov;
	bool watched;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	w->child = true;
	w->may_fail = false;	/* that is the parent's thread's */
	w->nth = 0;
	/* rings are not inherited, nor are timers */
	memset(w->mapping, 0, sizeof(w->mapping));
	if (!world_begin_child(w))
		_exit(1);
	watched = kcov_begin(&kcov);
	while (moves--) {
		fuzz_move(w);
		if (watched)
			kcov_take(&kcov, fuzz_cover());
	}
	if (tidy)
		world_close(w);
	if (watched)
		kcov_take(&kcov, fuzz_cover());
	_exit(0);
}

/* A process with the same sockets, devices and rights, killed in the middle at times. */
void other_child(struct world *w)
{
	unsigned int moves = 1 + dice_below(&w->dice, 10), wait = dice_below(&w->dice, 20);
	bool tidy = dice_one_in(&w->dice, 2), killed = dice_one_in(&w->dice, 3);
	pid_t pid;

	if (w->child || w->alone)
		return;
	if (w->trace)
		fflush(w->trace);
	pid = fork();
	if (!pid)
		child(w, moves, tidy);
	if (pid < 0)
		return;
	count(&w->tally->children);
	if (killed) {
		usleep(wait * 1000);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, NULL, 0) < 0)
		;
}

/* In this thread alone, which libc's own function does not do. */
static bool become(uid_t user)
{
	return !syscall(SYS_setresuid, -1, user, -1);
}

/*
 * Some moves without rights, or with one of those that the module asks for, as another user at
 * times.
 */
void other_stripped(struct world *w)
{
	static const uint64_t rights[] = { 0, 0, CAP(CAP_PERFMON), CAP(CAP_SYS_ADMIN),
					   CAP(CAP_SYSLOG), CAP(CAP_SYS_ADMIN) | CAP(CAP_SYSLOG) };
	unsigned int moves = 1 + dice_below(&w->dice, 3);
	uint64_t left = rights[dice_below(&w->dice, 6)], bits = dice_bits(&w->dice);
	uid_t user = dice_one_in(&w->dice, 2) ? OTHER_USER : 0;

	if (w->child || w->stripped)
		return;
	if (!become(user) || !caps_use(left))
		abort();
	if (w->trace)
		fprintf(w->trace, "rights %#llx, user %u\n", (unsigned long long)left, user);
	count(&w->tally->stripped);
	w->stripped = true;
	w->may_fail = false;	/* that number cannot be written without rights */
	while (moves--) {
		dice_begin(&w->dice, bits, w->thread, moves);
		fuzz_move(w);
	}
	w->stripped = false;
	if (!become(0) || !caps_use(UINT64_MAX))
		abort();
	w->may_fail = fuzz_may_fail(w);
}

void other_stats(struct world *w)
{
	static const char *const files[] = { "/sys/class/misc/kjoule/sessions",
					     "/sys/kernel/debug/kjoule/statistics",
					     "/sys/kernel/debug/kjoule/delays",
					     "/sys/kernel/debug/kjoule/ticks",
					     "/sys/kernel/debug/kjoule/rings" };
	static const char *const values[] =
		{ "due", "waiting", "state", "consumed", "delay_max_ns" };
	unsigned int which = dice_below(&w->dice, 10);
	uint32_t id = any_session(w);
	char path[128], text[4096];
	int fd;

	if (which < 5)
		snprintf(path, sizeof(path), "%s", files[which]);
	else
		snprintf(path, sizeof(path), "/sys/class/misc/kjoule/session%u/%s", id,
			 values[which - 5]);
	world_arm(w);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
		;
	world_disarm(w);
	if (fd >= 0)
		close(fd);
}
