// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recording itself: one thread that sleeps until a ring has filled up a good
 * part, a fifth of a second has passed, or something has ended, then drains all
 * rings and the side band. It keeps away from the CPUs that are measured where it
 * can. Called by cmd_record.c when everything that can be checked has been.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "cmd.h"
#include "record.h"
#include "sideband.h"

#define DRAIN_BYTES	(256u << 10)
#define SLEEP_MS	200
#define SECOND_NS	1000000000ull

enum { FD_DEVICE, FD_SIGNAL, FD_PROCESS, FD_SIDE_BAND };

struct loop {
	const struct record_options *opt;
	struct kjoule_ctl *ctl;
	struct kjoule_device *dev;
	struct record_writer *w;
	struct kjoule_sideband *sb;
	struct record_child child;
	struct kjoule_calibration cal;
	struct kjoule_session_info session;
	struct kjoule_cpu_stats *stats;
	size_t n_stats;
	struct pollfd *fds;
	unsigned int n_fds;
	uint8_t *buf;
	bool made, started, command_gone;
	bool again;			/* a ring had more than the buffer takes */
	bool progress;
	cpu_set_t allowed;		/* where we may run */
	uint64_t begin_ns;		/* when the command was let go */
	uint64_t start_ns;		/* when the ticks began */
	uint64_t second_ns;		/* when the last flush was */
	uint64_t awake_ns;		/* since when we run */
	const char *reason;		/* why it ends, NULL: it goes on */
	int signal;			/* that ended it */
	struct kjoule_error err;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

/* Run on a CPU that is not in @busy if there is one. */
static void keep_away(const struct loop *l, const struct kjoule_cpus *busy)
{
	cpu_set_t away;

	CPU_ZERO(&away);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &l->allowed) && !kjoule_cpus_has(busy, cpu))
			CPU_SET(cpu, &away);
	sched_setaffinity(0, sizeof(away), CPU_COUNT(&away) ? &away : &l->allowed);
}

/* The target may be anywhere: where did its samples come from in the last second? */
static void follow_target(struct loop *l)
{
	struct kjoule_cpus busy = { 0 };

	if (l->session.target != KJOULE_TARGET_PROCESS)
		return;
	for (unsigned int i = 0; i < kjoule_device_rings(l->dev); i++) {
		unsigned int cpu = kjoule_device_ring(l->dev, i)->cpu;

		if (record_writer_samples(l->w, cpu))
			kjoule_cpus_add(&busy, cpu);
	}
	if (kjoule_cpus_count(&busy))
		keep_away(l, &busy);
}

static int drain(struct loop *l)
{
	int ret = 0;

	l->again = false;
	for (unsigned int i = 0; i < kjoule_device_rings(l->dev) && !ret; i++) {
		struct kjoule_ring_reader *ring = kjoule_device_ring(l->dev, i);
		size_t used;
		int more = kjoule_ring_drain(ring, l->buf, DRAIN_BYTES, &used);

		if (more > 0)
			l->again = true;
		ret = record_writer_ring(l->w, ring->cpu, l->buf, used, &l->err);
	}
	if (!ret) {
		l->err.text[0] = '\0';
		ret = kjoule_sideband_drain(l->sb, record_writer_side_band, l->w);
		if (ret && !l->err.text[0])
			kjoule_fail(&l->err, -ret, "%s: writing the side band: %s", l->opt->output,
				    strerror(-ret));
	}
	return ret;
}

static int read_stats(struct loop *l)
{
	struct kjoule_cpu_stats *stats;
	size_t n;
	int ret = kjoule_stats(l->ctl, l->session.id, &stats, &n, &l->err);

	if (ret)
		return ret;
	free(l->stats);
	l->stats = stats;
	l->n_stats = n;
	return record_writer_stats(l->w, stats, n, &l->err);
}

static uint64_t total(const struct loop *l, size_t offset)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n_stats; i++)
		sum += *(const uint64_t *)((const char *)&l->stats[i] + offset);
	return sum;
}

#define TOTAL(l, member) total(l, offsetof(struct kjoule_cpu_stats, member))

static int every_second(struct loop *l, uint64_t now)
{
	int ret;

	if (now - l->second_ns < SECOND_NS)
		return 0;
	l->second_ns = now;
	ret = record_writer_flush(l->w, &l->err);
	if (!ret)
		ret = read_stats(l);
	if (!ret)
		follow_target(l);
	if (!ret && l->progress)
		fprintf(stderr, "\rkjoule: %.0f s, %" PRIu64 " samples, %" PRIu64 " records lost ",
			(now - l->start_ns) / 1e9, TOTAL(l, samples), TOTAL(l, lost));
	return ret;
}

static int start(struct loop *l)
{
	struct kjoule_session_info info;
	int ret = kjoule_session_start(l->ctl, l->session.id, &info, &l->err);

	if (ret)
		return ret;
	/* What start did not repeat is as it was. */
	l->session.state = info.state;
	l->session.t0_ns = info.t0_ns;
	l->session.seed = info.seed;
	l->started = true;
	l->start_ns = l->second_ns = now_ns();
	return 0;
}

/* The file says what is recorded; the command need not wait for that. */
static int write_start(struct loop *l)
{
	return record_writer_start(l->w, l->opt, &l->session, &l->cal, &l->err);
}

static void on_signal(struct loop *l)
{
	struct signalfd_siginfo si;

	while (read(l->fds[FD_SIGNAL].fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			continue;
		l->reason = "signal";
		l->signal = si.ssi_signo;
		/* A key on the terminal reaches the command as well, kill(1) only us. */
		if (l->child.running && si.ssi_code <= 0)
			kill(l->child.pid, si.ssi_signo);
	}
}

static int sleep_ms(const struct loop *l, uint64_t now)
{
	uint64_t ns = SLEEP_MS * 1000000ull, until;

	if (l->again)
		return 0;
	if (!l->started)
		until = l->begin_ns + l->opt->delay_ns;
	else if (l->opt->duration_ns)
		until = l->start_ns + l->opt->duration_ns;
	else
		return SLEEP_MS;
	if (until <= now)
		return 0;
	if (until - now < ns)
		ns = until - now;
	return (ns + 999999) / 1000000;
}

static void check_ends(struct loop *l, uint64_t now)
{
	if (l->fds[FD_SIGNAL].revents)
		on_signal(l);
	if (l->child.pid && !l->command_gone && record_child_reap(&l->child, false)) {
		l->command_gone = true;
		l->reason = "command ended";
	}
	if (l->fds[FD_PROCESS].revents ||
	    (l->opt->pid && l->fds[FD_PROCESS].fd < 0 && kill(l->opt->pid, 0) && errno == ESRCH))
		l->reason = "process ended";
	if (l->started && l->opt->duration_ns && now - l->start_ns >= l->opt->duration_ns)
		l->reason = "duration";
}

/* What runs beside the target costs energy: note when it was us. */
static void note_awake(struct loop *l, uint64_t now)
{
	int cpu = sched_getcpu();

	if (l->awake_ns && cpu >= 0)
		record_writer_awake(l->w, cpu, l->awake_ns, now);
}

static int loop(struct loop *l)
{
	int ret = 0;

	while (!ret && !l->reason) {
		uint64_t now = now_ns();

		if (!l->started && now - l->begin_ns >= l->opt->delay_ns) {
			ret = start(l);
			if (!ret)
				ret = write_start(l);
		}
		if (ret)
			break;
		note_awake(l, now_ns());
		if (poll(l->fds, l->n_fds, sleep_ms(l, now)) < 0 && errno != EINTR)
			return kjoule_fail(&l->err, errno, "waiting: %s", strerror(errno));
		l->awake_ns = now_ns();
		/* A device that hangs up would keep us awake; time still brings us back. */
		if (l->fds[FD_DEVICE].revents & (POLLERR | POLLHUP | POLLNVAL))
			l->fds[FD_DEVICE].fd = -1;
		for (unsigned int i = FD_SIDE_BAND; i < l->n_fds; i++)
			if (l->fds[i].revents & (POLLERR | POLLHUP | POLLNVAL))
				l->fds[i].fd = -1;
		now = now_ns();
		ret = drain(l);
		if (!ret && l->started)
			ret = every_second(l, now);
		check_ends(l, now);
	}
	return ret;
}

static int finish(struct loop *l)
{
	struct kjoule_session_info info;
	uint64_t damaged = 0;
	int ret = kjoule_session_stop(l->ctl, l->session.id, &info, &l->err);

	if (ret)
		return ret;
	l->session.state = info.state;
	l->session.stop_ns = info.stop_ns;
	note_awake(l, info.stop_ns);
	do
		ret = drain(l);
	while (!ret && l->again);
	if (!ret)
		ret = read_stats(l);
	for (unsigned int i = 0; i < kjoule_device_rings(l->dev); i++)
		damaged += kjoule_device_ring(l->dev, i)->damaged;
	if (!ret)
		ret = record_writer_finish(l->w, &l->session, l->reason,
					   l->child.reaped ? record_child_code(&l->child) : -1,
					   kjoule_sideband_lost(l->sb), damaged, &l->err);
	return ret;
}

/* Everything up to the moment at which the command is let go. @ends: signals that end it. */
static int prepare(struct loop *l, int pidfd, const sigset_t *signals, const sigset_t *ends,
		   const sigset_t *old)
{
	const struct record_options *opt = l->opt;
	struct kjoule_session_params params = {
		.interval_ns = opt->interval_ns,
		.jitter_ns = opt->jitter_ns,
		.target = opt->system ? KJOULE_TARGET_SYSTEM : KJOULE_TARGET_PROCESS,
		.cpus = opt->cpus_given ? &opt->cpus : NULL,
		.ring_bytes = opt->ring_bytes,
		.energy_source = opt->source,
	};
	unsigned int n;
	int ret;

	if (opt->calibrate) {
		int cpu = opt->cpus_given ? kjoule_cpus_next(&opt->cpus, 0) : sched_getcpu();

		ret = kjoule_calibrate(&params, cpu < 0 ? 0 : cpu, ends, &l->cal, &l->err);
		if (ret == -EINTR)
			return ret;
		if (ret) {
			cmd_warn("%s; the report will not know what a tick costs", l->err.text);
			memset(&l->cal, 0, sizeof(l->cal));
		}
	}
	if (opt->command) {
		ret = record_child_start(&l->child, opt->command, old);
		if (ret)
			return kjoule_fail(&l->err, -ret, "starting the command: %s", strerror(-ret));
	}
	params.pid = opt->pid ? opt->pid : (uint32_t)l->child.pid;
	ret = kjoule_sideband_open(opt->system || opt->pid ? 0 : params.pid, &l->sb, &l->err);
	if (ret)
		return ret;
	ret = kjoule_session_new(l->ctl, &params, &l->session, &l->err);
	if (ret)
		return ret;
	l->made = true;
	ret = kjoule_device_attach(l->dev, l->session.id, &l->err);
	if (ret)
		return ret;

	n = kjoule_sideband_poll(l->sb, NULL, 0);
	l->n_fds = FD_SIDE_BAND + n;
	l->fds = calloc(l->n_fds, sizeof(*l->fds));
	l->buf = malloc(DRAIN_BYTES);
	if (!l->fds || !l->buf)
		return kjoule_fail(&l->err, ENOMEM, "no memory");
	l->fds[FD_DEVICE] = (struct pollfd){ kjoule_device_fd(l->dev), POLLIN, 0 };
	l->fds[FD_SIGNAL] = (struct pollfd){ signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK),
					     POLLIN, 0 };
	l->fds[FD_PROCESS] = (struct pollfd){ pidfd, POLLIN, 0 };
	kjoule_sideband_poll(l->sb, l->fds + FD_SIDE_BAND, n);
	if (l->fds[FD_SIGNAL].fd < 0)
		return kjoule_fail(&l->err, errno, "signalfd: %s", strerror(errno));

	/* Also for a command: until it execs it is a copy of us. */
	ret = kjoule_sideband_proc(opt->system ? 0 : params.pid, now_ns(), record_writer_side_band,
				   l->w);
	if (ret == -ESRCH)
		return kjoule_fail(&l->err, ESRCH, "process %u is gone", params.pid);
	if (ret)
		return kjoule_fail(&l->err, -ret, "reading what processes have mapped: %s",
				   strerror(-ret));
	if (opt->cpus_given)
		keep_away(l, &opt->cpus);
	return 0;
}

/* A signal that came before anything was started: nothing is. */
static int give_up_on_signal(struct loop *l, const sigset_t *ends, int ret)
{
	int sig = sigtimedwait(ends, NULL, &(struct timespec){ 0 });

	if (sig <= 0)
		return ret;
	l->signal = sig;
	return kjoule_fail(&l->err, EINTR, "stopped by signal %d before the recording began; nothing was started",
			   sig);
}

static int begin(struct loop *l)
{
	int ret = 0;

	l->begin_ns = l->awake_ns = now_ns();
	if (!l->opt->delay_ns)
		ret = start(l);
	if (!ret && l->child.pid) {
		ret = record_child_go(&l->child);
		if (ret) {
			record_child_reap(&l->child, true);
			return kjoule_fail(&l->err, -ret, "%s: %s", l->opt->command[0],
					   strerror(-ret));
		}
	}
	if (!ret && l->started)
		ret = write_start(l);
	return ret;
}

static void summary(const struct loop *l)
{
	uint64_t produced = TOTAL(l, produced), missed = TOTAL(l, missed), due = TOTAL(l, due);
	double tick = produced ? (double)TOTAL(l, tick_ns) / produced : 0;
	char cost[96] = "";

	if (l->cal.ticks)
		tick += l->cal.entry_ns;
	if (produced)
		snprintf(cost, sizeof(cost), "; a tick took %.1f us (%.2f %%)", tick / 1e3,
			 100 * tick / l->session.interval_ns);
	fprintf(stderr, "%skjoule: %" PRIu64 " samples in %.2f s to %s (%.1f KiB); %" PRIu64
		" of %" PRIu64 " ticks missed, %" PRIu64 " records lost%s\n",
		l->progress ? "\r\033[K" : "", TOTAL(l, samples),
		(l->session.stop_ns - l->session.t0_ns) / 1e9, l->opt->output,
		record_writer_bytes(l->w) / 1024.0, missed, due, TOTAL(l, lost), cost);
	if (!TOTAL(l, samples))
		cmd_warn("there is no sample: the %s did not run at any tick; record for longer or faster (-F)",
			 l->opt->system ? "machine" : "process");
}

int record_run(const struct record_options *opt, struct kjoule_ctl *ctl, struct kjoule_device *dev,
	       struct record_writer *w, int pidfd)
{
	struct loop l = { .opt = opt, .ctl = ctl, .dev = dev, .w = w };
	sigset_t signals, ends, old;
	int ret, code = EXIT_DONE;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	signals = ends;
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &old);
	l.progress = !opt->quiet && isatty(STDERR_FILENO);
	if (sched_getaffinity(0, sizeof(l.allowed), &l.allowed))
		CPU_ZERO(&l.allowed);

	ret = prepare(&l, pidfd, &signals, &ends, &old);
	if (!ret || ret == -EINTR)
		ret = give_up_on_signal(&l, &ends, ret);
	if (!ret)
		ret = begin(&l);
	if (ret) {
		code = l.child.reaped ? record_child_code(&l.child) :
		       l.signal ? 128 + l.signal : EXIT_FAILED;
		record_child_kill(&l.child);
		cmd_warn("%s", l.err.text);
		goto out;
	}
	ret = loop(&l);
	if (ret) {
		cmd_warn("%s%s", l.progress ? "\r\033[K" : "", l.err.text);
		l.reason = "output";
		code = EXIT_FAILED;
	}
	if (l.started) {
		ret = finish(&l);
		if (ret && !code) {
			cmd_warn("%s%s", l.progress ? "\r\033[K" : "", l.err.text);
			code = EXIT_FAILED;
		}
		if (!opt->quiet)
			summary(&l);
	} else if (!code) {
		cmd_warn("nothing was recorded: it ended (%s) before the delay was over", l.reason);
		code = EXIT_FAILED;
	}
	/* End the session before waiting: nothing more is sampled for a command that goes on. */
	kjoule_session_del(ctl, l.session.id, NULL);
	l.made = false;
	if (l.child.running) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		record_child_reap(&l.child, true);
	}
	if (!code && l.child.pid)
		code = record_child_code(&l.child);
out:
	if (l.made)
		kjoule_session_del(ctl, l.session.id, NULL);
	if (l.fds && l.fds[FD_SIGNAL].fd >= 0)
		close(l.fds[FD_SIGNAL].fd);
	kjoule_sideband_close(l.sb);
	free(l.fds);
	free(l.buf);
	free(l.stats);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return code;
}
