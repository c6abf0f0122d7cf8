// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recording itself: one thread that sleeps until a ring has filled up a good
 * part, a fifth of a second has passed (more with --overhead), or something has ended, then
 * drains all rings and the side band. It keeps away from the CPUs that are measured where it
 * can. Called by cmd_record.c when everything that can be checked has been.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "cli/cmd.h"
#include "cli/signals.h"
#include "lib/base/now.h"
#include "lib/code/jitmap.h"
#include "output/output.h"
#include "record/loop.h"

#define SLEEP_MS	200
/* --overhead: a ring of regions, which wakes no reader, takes 8,000 marks a second */
#define SLEEP_MOST_MS	2000
#define SLEEP_LEAST_MS	5	/* while programs mark regions so fast that their rings fill up */
#define REGIONS_FULL	0.4	/* of a ring: there is room for what comes faster all of a sudden */
#define LAST_DRAINS	16	/* after the end: what may wait, not what is marked from then on */
#define RECORDER_NICE	(-10)	/* nine tenths of a CPU that all want */

/* The target may be anywhere: where did its samples come from in the last second? */
static void record_loop_follow_target(struct record_loop *l)
{
	struct kjoule_cpus busy = { 0 };

	if (l->session.target == KJOULE_TARGET_SYSTEM)
		return;
	for (unsigned int i = 0; i < kjoule_device_rings(l->dev); i++) {
		unsigned int cpu = kjoule_device_ring(l->dev, i)->cpu;

		if (record_writer_samples(l->w, cpu))
			kjoule_cpus_add(&busy, cpu);
	}
	if (kjoule_cpus_count(&busy))
		record_keep_away(l, &busy);
}

/*
 * Without regions, or a reason to come earlier: all that we do keeps a program waiting that has no
 * other CPU.
 */
static unsigned int record_loop_usual_sleep_ms(const struct record_loop *l, uint64_t now)
{
	double awake_s = 0;

	if (!l->started)
		return SLEEP_MS;
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		awake_s += l->awake_s[cpu];
	return record_bounded_sleep(l->opt, kjoule_device_rings(l->dev), awake_s,
				    (now - l->start_ns) * 1e-9, SLEEP_MS, SLEEP_MOST_MS);
}

/*
 * As fast as rings have filled up since the last time they may be full again before we would come
 * by ourselves.
 */
static unsigned int record_loop_regions_sleep_ms(double fullest, uint64_t ns)
{
	double ms = fullest > 0 ? REGIONS_FULL / fullest * ns / 1e6 : SLEEP_MOST_MS;

	return ms >= SLEEP_MOST_MS ? 0 : ms < SLEEP_LEAST_MS ? SLEEP_LEAST_MS : ms;
}

static int record_loop_drain_regions(struct record_loop *l)
{
	uint64_t now = kjoule_now_ns();
	double fullest;
	int ret;

	if (!l->regions)
		return 0;
	ret = kjoule_region_area_drain(l->regions, record_writer_regions, l->w, &fullest);
	l->regions_ms = record_loop_regions_sleep_ms(fullest, now - l->regions_ns);
	l->regions_ns = now;
	if (ret > 0 && (!l->session.stop_ns || l->last_drains++ < LAST_DRAINS))
		l->again = true;
	return ret < 0 ? kjoule_fail(&l->err, -ret, "%s: keeping regions: %s", l->opt->output,
				     strerror(-ret)) : 0;
}

static int record_loop_drain_rings(struct record_loop *l)
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
	return ret ? ret : record_loop_drain_regions(l);
}

static int record_loop_read_stats(struct record_loop *l)
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

static uint64_t record_loop_sum_stats(const struct record_loop *l, size_t offset)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n_stats; i++)
		sum += *(const uint64_t *)((const char *)&l->stats[i] + offset);
	return sum;
}

#define TOTAL(l, member) record_loop_sum_stats(l, offsetof(struct kjoule_cpu_stats, member))

static int record_loop_do_every_second(struct record_loop *l, uint64_t now)
{
	bool flush = l->flushed_ns <= l->told_ns;
	int ret;

	/* in two pieces, in turn: the program may have no other CPU to run on meanwhile */
	if (now - (flush ? l->flushed_ns : l->told_ns) < SECOND_NS)
		return 0;
	if (flush) {
		l->flushed_ns = now;
		return record_writer_flush(l->w, &l->err);
	}
	l->told_ns = now;
	ret = record_loop_read_stats(l);
	if (!ret)
		record_loop_follow_target(l);
	if (!ret && l->regions)
		kjoule_region_area_reap(l->regions);
	if (ret || !l->progress)
		return ret;
	fputs("\rkjoule: ", stderr);
	if (l->opt->runs)
		fprintf(stderr, "run %u of %u, ", l->opt->run, l->opt->runs);
	fprintf(stderr, "%.0f s, %" PRIu64 " samples, %" PRIu64 " records lost ",
		(now - l->start_ns) / 1e9, TOTAL(l, samples), TOTAL(l, lost));
	return ret;
}

static int record_loop_start_session(struct record_loop *l)
{
	struct kjoule_session_info info;
	int ret = kjoule_session_start(l->ctl, l->session.id, &info, &l->err);

	if (ret)
		return ret;
	/* What start did not repeat is as it was. */
	l->session.state = info.state;
	l->session.t0_ns = info.t0_ns;
	l->session.seed = info.seed;
	kjoule_session_info_clear(&info);
	l->started = true;
	l->start_ns = l->flushed_ns = kjoule_now_ns();
	l->told_ns = l->start_ns - SECOND_NS / 2;
	return 0;
}

/* The file says what is recorded; the command need not wait for that. */
static int record_loop_write_start(struct record_loop *l)
{
	return record_writer_start(l->w, l->opt, &l->session, &l->cal, &l->err);
}

/* What came first counts, of what was noticed at once too: a signal takes the command with it. */
static void record_loop_set_reason(struct record_loop *l, const char *reason)
{
	if (!l->reason)
		l->reason = reason;
}

/*
 * A shell's background job ignores SIGINT, and so does the command that we started from one. kjoule
 * itself stops at SIGINT all the same, and then stops the command by SIGTERM.
 */
static int record_loop_signal_to_forward(int sig)
{
	struct sigaction now;

	return sig == SIGINT && !sigaction(SIGINT, NULL, &now) && now.sa_handler == SIG_IGN ?
	       SIGTERM : sig;
}

static void record_loop_read_signals(struct record_loop *l)
{
	struct signalfd_siginfo si;

	while (read(l->fds[FD_SIGNAL].fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			continue;
		record_loop_set_reason(l, "signal");
		l->signal = si.ssi_signo;
		/* A key on the terminal reaches the command as well, kill(1) only us. */
		if (l->child.running && si.ssi_code <= 0)
			kill(l->child.pid, record_loop_signal_to_forward(si.ssi_signo));
	}
}

static int record_loop_sleep_ms(const struct record_loop *l, uint64_t now)
{
	unsigned int usual_ms = record_loop_usual_sleep_ms(l, now),
		     ms = l->regions_ms ? l->regions_ms : usual_ms;
	uint64_t ns = (ms < usual_ms ? ms : usual_ms) * 1000000ull, until;

	if (l->again)
		return 0;
	if (!l->started)
		until = l->begin_ns + l->opt->delay_ns;
	else if (l->opt->duration_ns)
		until = l->start_ns + l->opt->duration_ns;
	else
		return ns / 1000000;
	if (until <= now)
		return 0;
	if (until - now < ns)
		ns = until - now;
	return (ns + 999999) / 1000000;
}

void record_check_ends(struct record_loop *l, uint64_t now)
{
	if (l->fds[FD_SIGNAL].revents)
		record_loop_read_signals(l);
	if (l->child.pid && !l->command_gone && child_reap(&l->child, false)) {
		l->command_gone = true;
		record_loop_set_reason(l, "command ended");
	}
	if (l->fds[FD_PROCESS].revents ||
	    (l->opt->pid && l->fds[FD_PROCESS].fd < 0 && kill(l->opt->pid, 0) && errno == ESRCH))
		record_loop_set_reason(l, "process ended");
	if (l->started && l->opt->duration_ns && now - l->start_ns >= l->opt->duration_ns)
		record_loop_set_reason(l, "duration");
}

static uint64_t record_loop_cpu_time_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? 0 :
	       t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * What runs next to the target costs energy: note when it was us, for as long as the scheduler
 * counts. Between our own looks at the clock lies less: the kernel's way out of its sleep, and into
 * it, is ours as well.
 */
static void record_loop_note_wakeup(struct record_loop *l, uint64_t now)
{
	uint64_t ran = record_loop_cpu_time_ns(), begin = now - (ran - l->ran_ns);
	int cpu = sched_getcpu();

	l->ran_ns = ran;
	/* the session had been stopped before */
	if (now <= l->asleep_ns)
		return;
	if (begin < l->asleep_ns)
		begin = l->asleep_ns;
	if (l->asleep_ns && cpu >= 0)
		record_writer_awake(l->w, cpu, begin, now);
	if (l->asleep_ns && cpu >= 0 && cpu < CPU_SETSIZE && l->started)
		l->awake_s[cpu] += (now - begin) * 1e-9;
	l->asleep_ns = now;
}

/* Blocks are where their process has mapped them: not before it runs, and of some files later. */
static int record_loop_place_blocks(struct record_loop *l)
{
	uint32_t all = l->opt->blocks.n < 32 ? (1u << l->opt->blocks.n) - 1 : UINT32_MAX;

	if (l->blocks_done == all || !l->started || l->command_gone)
		return 0;
	return record_blocks_place(&l->opt->blocks, l->ctl,
				   l->opt->pid ? l->opt->pid : (uint32_t)l->child.pid, &l->session,
				   &l->blocks_done, &l->err);
}

/* Only we stop it: it has been ended. The module knows by whom. */
static int record_loop_check_session_over(struct record_loop *l)
{
	struct kjoule_cpu_stats books;
	struct kjoule_error why;

	if (!kjoule_stats_total(l->ctl, l->session.id, &books, &why))
		return 0;
	return kjoule_fail(&l->err, ECANCELED,
			   "cannot go on recording: %.300s; '%.100s' has what came before",
			   why.text, l->opt->output);
}

static int record_loop_record_until_end(struct record_loop *l)
{
	bool gone;
	int ret = 0;

	while (!ret && !l->reason) {
		uint64_t now = kjoule_now_ns();

		if (!l->started && now - l->begin_ns >= l->opt->delay_ns) {
			ret = record_loop_start_session(l);
			if (!ret)
				ret = record_loop_write_start(l);
		}
		if (ret)
			break;
		record_loop_note_wakeup(l, kjoule_now_ns());
		if (poll(l->fds, l->n_fds, record_loop_sleep_ms(l, now)) < 0 && errno != EINTR)
			return kjoule_fail(&l->err, errno, "waiting: %s", strerror(errno));
		/* A device that hangs up would keep us awake; time still brings us back. */
		gone = l->fds[FD_DEVICE].revents & (POLLERR | POLLHUP | POLLNVAL);
		if (gone)
			l->fds[FD_DEVICE].fd = -1;
		for (unsigned int i = FD_SIDE_BAND; i < l->n_fds; i++)
			if (l->fds[i].revents & (POLLERR | POLLHUP | POLLNVAL))
				l->fds[i].fd = -1;
		now = kjoule_now_ns();
		ret = record_loop_drain_rings(l);
		if (!ret && gone)
			ret = record_loop_check_session_over(l);
		if (!ret)
			ret = record_follow_cpus(l, now);
		if (!ret && l->started)
			ret = record_loop_do_every_second(l, now);
		record_check_ends(l, now);
		if (!ret && !l->reason)
			ret = record_loop_place_blocks(l);
	}
	return ret;
}

/* The blocks are what we know ourselves. */
static void record_loop_copy_reading_counters(struct kjoule_vpm_info *to,
					      const struct kjoule_vpm_info *from)
{
	to->rounds = from->rounds;
	to->readings = from->readings;
	to->learnt = from->learnt;
	to->unmet = from->unmet;
	to->unended = from->unended;
	to->elsewhere = from->elsewhere;
	to->crowded = from->crowded;
	to->spoilt = from->spoilt;
	to->failed = from->failed;
	to->cut = from->cut;
	to->skipped = from->skipped;
	to->held_ns = from->held_ns;
	to->longest_ns = from->longest_ns;
}

static int record_loop_finish_recording(struct record_loop *l)
{
	struct kjoule_region_counters regions;
	struct kjoule_session_info info;
	uint64_t damaged = 0;
	int ret = kjoule_session_stop(l->ctl, l->session.id, &info, &l->err);

	if (ret)
		return ret;
	l->session.state = info.state;
	l->session.stop_ns = info.stop_ns;
	l->session.children_lost = info.children_lost;
	l->session.edge = info.edge;
	record_loop_copy_reading_counters(&l->session.vpm, &info.vpm);
	for (uint32_t i = 0; i < l->session.n_sources && i < info.n_sources; i++) {
		l->session.sources[i].reads = info.sources[i].reads;
		l->session.sources[i].errors = info.sources[i].errors;
		l->session.sources[i].overruns = info.sources[i].overruns;
	}
	kjoule_session_info_clear(&info);
	record_loop_note_wakeup(l, info.stop_ns);
	ret = record_follow_cpus(l, kjoule_now_ns());
	if (ret)
		return ret;
	do
		ret = record_loop_drain_rings(l);
	while (!ret && l->again);
	if (!ret)
		ret = record_loop_read_stats(l);
	for (unsigned int i = 0; i < kjoule_device_rings(l->dev); i++)
		damaged += kjoule_device_ring(l->dev, i)->damaged;
	if (l->regions) {
		kjoule_region_area_end(l->regions);
		kjoule_region_area_counters(l->regions, &regions);
	}
	if (!ret)
		ret = record_writer_finish(l->w, &l->session, l->reason,
					   child_reap(&l->child, false) ?
					   child_code(&l->child) : -1,
					   kjoule_sideband_lost(l->sb), l->side_band_anew, damaged,
					   l->regions ? &regions : NULL, &l->err);
	return ret;
}

/* A signal that came before anything was started: nothing is. */
static int record_loop_give_up_on_signal(struct record_loop *l, const sigset_t *ends, int ret)
{
	int sig = sigtimedwait(ends, NULL, &(struct timespec){ 0 });

	if (sig <= 0)
		return ret;
	l->signal = sig;
	return kjoule_fail(&l->err, EINTR, "stopped by signal %d before the recording began; nothing was started",
			   sig);
}

/*
 * On a machine where all CPUs are busy half of one may not be enough to keep up, and then
 * records are lost. What there is to do is the same, it is only done sooner. Who may not
 * raise a priority goes on with the one there is; the command has been forked with that.
 */
static void record_loop_raise_priority(void)
{
	if (getpriority(PRIO_PROCESS, 0) > RECORDER_NICE)
		setpriority(PRIO_PROCESS, 0, RECORDER_NICE);
}

/* The command of the next run is to begin as this one's did. */
static void record_loop_restore_priority(const struct record_loop *l, int nice)
{
	if (getpriority(PRIO_PROCESS, 0) != nice)
		setpriority(PRIO_PROCESS, 0, nice);
	if (CPU_COUNT(&l->allowed))
		sched_setaffinity(0, sizeof(l->allowed), &l->allowed);
}

static int record_loop_begin_recording(struct record_loop *l)
{
	int ret = 0;

	l->begin_ns = l->asleep_ns = kjoule_now_ns();
	l->ran_ns = record_loop_cpu_time_ns();
	if (!l->opt->delay_ns)
		ret = record_loop_start_session(l);
	if (!ret && l->child.pid) {
		ret = child_go(&l->child);
		if (ret) {
			child_reap(&l->child, true);
			return kjoule_fail(&l->err, -ret, "%s: %s", l->opt->command[0],
					   ret == -EPIPE ?
					   "the command was killed before it began" :
					   strerror(-ret));
		}
	}
	if (!ret)
		ret = record_loop_place_blocks(l);
	if (!ret && l->started)
		ret = record_loop_write_start(l);
	return ret;
}

/* What ticks took, see record_overhead(). */
static double record_loop_overhead_of(const struct record_loop *l, struct overhead_cpu *most,
				      double *ticks)
{
	return record_overhead(l->stats, l->n_stats, &l->cal,
			       (l->session.stop_ns - l->session.t0_ns) / 1e9, l->awake_s, most,
			       ticks);
}

/*
 * The bound that was asked for was not kept: a calibration before is no promise of what a program
 * meets.
 */
static void record_loop_warn_of_overhead(const struct record_loop *l)
{
	struct overhead_cpu most;
	double ticks, overhead = record_loop_overhead_of(l, &most, &ticks);

	if (!(l->opt->overhead > 0) || !(overhead > l->opt->overhead))
		return;
	if (ticks > l->opt->overhead)
		cmd_warn("--overhead %.6g %% was missed: it was %.3g %%, %.3g %% of it ticks, on CPU %u %.3g %%; ticks cost more than when they were calibrated: ask for %.2g %%",
			 100 * l->opt->overhead, 100 * overhead, 100 * ticks, most.cpu,
			 100 * overhead_part(&most),
			 100 * l->opt->overhead * l->opt->overhead / ticks);
	else
		cmd_warn("--overhead %.6g %% was missed: ticks took %.3g %%, but with what kjoule itself took on CPUs that the program ran on it was %.3g %%; leave it a CPU of its own (taskset)",
			 100 * l->opt->overhead, 100 * ticks, 100 * overhead);
}

static void record_loop_print_summary(const struct record_loop *l)
{
	uint64_t produced = TOTAL(l, produced), missed = TOTAL(l, missed), due = TOTAL(l, due);
	double tick = produced ? (double)TOTAL(l, tick_ns) / produced : 0;
	double held_s = (l->session.edge.held_ns + l->session.vpm.held_ns) * 1e-9, overhead, ticks;
	char cost[128] = "", held[64] = "";
	struct overhead_cpu most;

	if (l->cal.ticks)
		tick += l->cal.entry_ns;
	overhead = record_loop_overhead_of(l, &most, &ticks);
	if (held_s > 0)
		snprintf(held, sizeof(held), ", besides %.2f s for which CPUs were held", held_s);
	if (produced && !isnan(overhead))
		snprintf(cost, sizeof(cost), "; a tick took %.1f us (overhead %.2f %%%s)",
			 tick / 1e3, 100 * overhead, held);
	else if (produced)
		snprintf(cost, sizeof(cost), "; a tick took %.1f us (%.2f %%%s)", tick / 1e3,
			 100 * tick / l->session.interval_ns, held);
	if (l->progress)
		fputs("\r\033[K", stderr);
	output_printf(stderr, "kjoule: %" PRIu64 " samples in %.2f s to %s (%.1f KiB); %" PRIu64
		      " of %" PRIu64 " ticks missed, %" PRIu64 " records lost%s\n",
		      TOTAL(l, samples), (l->session.stop_ns - l->session.t0_ns) / 1e9,
		      l->opt->output, record_writer_bytes(l->w) / 1024.0, missed, due,
		      TOTAL(l, lost), cost);
}

static void record_loop_warn_of_windows(const struct record_loop *l)
{
	if (l->session.edge.paused)
		cmd_warn("--edge: %" PRIu64
			 " times windows could not begin or go on: a CPU that the recording is not of was online, or the only one that can read the counter away; have all CPUs online when it begins, and leave them so",
			 l->session.edge.paused);
}

static void record_loop_warn_of_blocks(const struct record_loop *l)
{
	const struct kjoule_vpm_info *vpm = &l->session.vpm;

	for (size_t i = 0; i < l->opt->blocks.n; i++)
		if (!(l->blocks_done & 1u << i))
			cmd_warn("--vpm %s: the process has not mapped %s",
				 l->opt->blocks.blocks[i].name,
				 l->opt->blocks.blocks[i].parts[0].where);
	if (vpm->n_blocks && !vpm->readings)
		cmd_warn("there is no reading of a block in %" PRIu64 " trials: %" PRIu64
			 " times it was not reached, %" PRIu64
			 " times it was entered and did not end, %" PRIu64
			 " times it was called from elsewhere, %" PRIu64
			 " times its end was passed too often, %" PRIu64
			 " times something failed, %" PRIu64
			 " times it was only seen where it returns to, %" PRIu64
			 " times the recording ended", vpm->rounds, vpm->unmet, vpm->unended,
			 vpm->elsewhere, vpm->crowded, vpm->failed, vpm->learnt, vpm->cut);
	/* once in a while is no matter */
	if (vpm->n_blocks && vpm->skipped > vpm->rounds)
		cmd_warn("--vpm: %" PRIu64 " trials were not begun, and %" PRIu64
			 " were: no CPU of the recording was online, one was on its way, or the program ended",
			 vpm->skipped, vpm->rounds);
}

/* Of which processes the names of code made at run time are missing, and why. */
static void record_loop_warn_of_jits(const struct record_loop *l)
{
	struct record_jit_left_out out = record_writer_jit_left_out(l->w);

	if (out.full)
		cmd_warn("of %u processes the names of code made at run time are left out: all maps together have more than %u MiB",
			 out.full, KJOULE_JITMAPS_MAX >> 20);
	if (out.foreign)
		cmd_warn("of %u processes the names of code made at run time are left out: the map in /tmp is not the process's own, nor yours or root's, or no plain file of that directory",
			 out.foreign);
	if (out.gone)
		cmd_warn("of %u processes the names of code made at run time are left out: they ended before it was seen whose they were, so whether the map in /tmp is theirs is not known",
			 out.gone);
	if (out.unreadable)
		cmd_warn("of %u processes the names of code made at run time are left out: the map in /tmp cannot be read",
			 out.unreadable);
}

void record_warn_at_end(const struct record_loop *l)
{
	if (!TOTAL(l, samples))
		cmd_warn("there is no sample: the %s did not run at any tick; record for longer or faster (-F)",
			 l->opt->system ? "machine" : l->opt->cgroup ? "cgroup" :
			 l->opt->thread ? "thread" : "process");
	if (l->session.children_lost)
		cmd_warn("%" PRIu64 " children could not be followed for want of memory",
			 l->session.children_lost);
	if (TOTAL(l, stacks_withheld))
		cmd_warn("%" PRIu64
			 " stacks were not copied, of processes that you may not trace (setuid programs, other users'); record with sudo to have them",
			 TOTAL(l, stacks_withheld));
	record_loop_warn_of_windows(l);
	record_loop_warn_of_blocks(l);
	record_loop_warn_of_overhead(l);
	session_sources_warn(&l->session, TOTAL(l, source_errors));
	record_loop_warn_of_jits(l);
	if (record_writer_kernel_hidden(l->w))
		cmd_warn("the kernel's functions will be [unknown]: /proc/kallsyms hides their addresses from you; give "
			 "the tool CAP_SYSLOG as well, or set kernel.kptr_restrict to 0 and kernel.perf_event_paranoid to 1");
}

int record_run(const struct record_options *opt, struct kjoule_ctl *ctl, struct kjoule_device *dev,
	       struct record_writer *w, struct record_result *result)
{
	struct record_loop l = { .opt = opt, .ctl = ctl, .dev = dev, .w = w };
	int ret, code = EXIT_DONE, exit_code = -1, nice = getpriority(PRIO_PROCESS, 0);
	const sigset_t *mask = opt->mask;
	sigset_t signals, ends, old;

	signals_ends(&ends);
	signals = ends;
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &old);
	mask = mask ? mask : &old;
	l.progress = !opt->quiet && isatty(STDERR_FILENO);
	if (sched_getaffinity(0, sizeof(l.allowed), &l.allowed))
		CPU_ZERO(&l.allowed);

	ret = record_prepare(&l, &signals, &ends, mask);
	if (!ret || ret == -EINTR)
		ret = record_loop_give_up_on_signal(&l, &ends, ret);
	record_loop_raise_priority();
	if (!ret)
		ret = record_loop_begin_recording(&l);
	if (ret) {
		code = l.child.reaped ? child_code(&l.child) :
		       l.signal ? 128 + l.signal : EXIT_FAILED;
		child_kill(&l.child);
		cmd_warn("%s", l.err.text);
		goto out;
	}
	ret = record_loop_record_until_end(&l);
	if (ret) {
		cmd_warn("%s%s", l.progress ? "\r\033[K" : "", l.err.text);
		l.reason = "output";
		code = EXIT_FAILED;
	}
	if (l.started) {
		ret = record_loop_finish_recording(&l);
		if (ret && !code) {
			cmd_warn("%s%s", l.progress ? "\r\033[K" : "", l.err.text);
			code = EXIT_FAILED;
		}
		/* of a session that could not be stopped there is nothing to sum up */
		if (!opt->quiet && l.session.stop_ns)
			record_loop_print_summary(&l);
		if (l.session.stop_ns)
			record_warn_at_end(&l);
	} else if (!code) {
		cmd_warn("nothing was recorded: it ended (%s) before the delay was over", l.reason);
		code = EXIT_FAILED;
	}
	/* End the session before waiting: nothing more is sampled for a command that goes on. */
	kjoule_session_del(ctl, l.session.id, NULL);
	l.made = false;
	if (l.child.running) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		child_reap(&l.child, true);
	}
	if (!code && l.child.pid)
		code = exit_code = child_code(&l.child);
out:
	if (l.made)
		kjoule_session_del(ctl, l.session.id, NULL);
	if (l.fds && l.fds[FD_SIGNAL].fd >= 0)
		close(l.fds[FD_SIGNAL].fd);
	kjoule_session_info_clear(&l.session);
	kjoule_events_close(l.notices);
	kjoule_sideband_close(l.sb);
	kjoule_region_area_free(l.regions);
	free(l.fds);
	free(l.buf);
	free(l.stats);
	*result = (struct record_result){ l.reason, l.signal, exit_code, l.cal };
	record_loop_restore_priority(&l, nice);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return code;
}
