// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule boost run: a benchmark runner that knows the chip. Before each run the chip's past is made
 * what was asked for; each run is judged by what was seen of frequency and CPU time meanwhile, and
 * corrected to either speed. See bench.h.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "boost/bench.h"
#include "cli/cmd.h"
#include "command/child.h"
#include "lib/base/array.h"
#include "lib/control/sources.h"
#include "lib/machine/frequency.h"
#include "machine/frequency_guard.h"

/* Between two looks at what has come while a command runs. */
#define LOOK_MS		100

/*
 * What has come is taken at least so often, but not between two runs that are short: the chip would
 * rest.
 */
#define DRAIN_S		0.5

/* A pinned frequency is taken by drivers that are no farther off. */
#define PIN_ROUNDED	0.03

/* Behind the runs: the last tick's records are to come. */
#define BEHIND_MS	100

static double bench_timeval_seconds(const struct timeval *t)
{
	return t->tv_sec + t->tv_usec * 1e-6;
}

/* CPU time of all children that were waited for so far. */
static void bench_children_cpu_s(double *user_s, double *system_s)
{
	struct rusage use;

	getrusage(RUSAGE_CHILDREN, &use);
	*user_s = bench_timeval_seconds(&use.ru_utime);
	*system_s = bench_timeval_seconds(&use.ru_stime);
}

/* Ours, load included. */
static double bench_own_cpu_s(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return bench_timeval_seconds(&use.ru_utime) + bench_timeval_seconds(&use.ru_stime);
}

static int bench_drain_if_due(struct boost_bench *b, struct kjoule_error *err)
{
	double now = boost_watch_now(b->lab.watch);

	if (now < b->drained_s + DRAIN_S)
		return 0;
	b->drained_s = now;
	return boost_watch_drain(b->lab.watch, err);
}

/* Until it ends or a signal comes, which ends it as well. @end_s: out: by the watch's clock */
static int bench_await_child(struct boost_bench *b, struct child *child, double *end_s,
			     struct kjoule_error *err)
{
	const struct timespec look = { 0, LOOK_MS * 1000000l };
	sigset_t wake = b->lab.ends;
	siginfo_t info;
	int ret = 0, sig;

	sigaddset(&wake, SIGCHLD);
	while (!ret) {
		*end_s = boost_watch_now(b->lab.watch);
		if (child_reap(child, false))
			return bench_drain_if_due(b, err);
		sig = sigtimedwait(&wake, &info, &look);
		if (sig > 0 && sig != SIGCHLD) {
			b->lab.signal = sig;
			/* a key on the terminal reaches the command as well, kill(1) only us */
			if (info.si_code <= 0)
				kill(child->pid, sig);
			boost_command_let_end(child);
			ret = kjoule_fail(err, EINTR, "stopped by signal %d", sig);
		} else {
			ret = bench_drain_if_due(b, err);
		}
	}
	child_kill(child);
	return ret;
}

/* It is forked, and waits. Return: 0 or -errno with the reason in @err */
static int bench_fork_command(struct boost_bench *b, char **command, struct child *child,
			      struct kjoule_error *err)
{
	return boost_command_start(child, command, b->opt->run.show, &b->lab.before, b->opt->user,
				   err);
}

/*
 * It is let go, until its end. Return: 0 with the exit code in @code; -errno with the reason in
 * @err
 */
static int bench_finish_command(struct boost_bench *b, char **command, struct child *child,
				double *from_s, double *to_s, int *code, struct kjoule_error *err)
{
	int ret;

	*from_s = *to_s = boost_watch_now(b->lab.watch);
	ret = boost_command_go(child, command[0], &b->unstarted, err);
	if (ret)
		return ret;
	ret = bench_await_child(b, child, to_s, err);
	*code = ret ? 0 : child_code(child);
	return ret;
}

/* As many times as fit; the first one always, whose @child waits. */
static int bench_repeat_command(struct boost_bench *b, struct boost_bench_run *r,
				struct child *child, struct kjoule_error *err)
{
	char **command = b->opt->run.commands[r->command];
	double longest, again_s;
	int ret = bench_finish_command(b, command, child, &r->from_s, &r->to_s, &r->exit_code, err);

	r->times = 1;
	longest = r->to_s - r->from_s;
	while (!ret && !r->exit_code && r->to_s - r->from_s + longest <= b->opt->run.equal_s) {
		ret = bench_fork_command(b, command, child, err);
		if (!ret)
			ret = bench_finish_command(b, command, child, &again_s, &r->to_s,
						   &r->exit_code, err);
		longest = fmax(longest, r->to_s - again_s);
		r->times++;
	}
	return ret;
}

/* The past of the chip. @as_asked: out: it is what it was to be, as far as is known */
static int bench_prepare_history(struct boost_bench *b, bool *as_asked, struct kjoule_error *err)
{
	double window = boost_lab_forget_s(&b->lab, b->opt->window_s), unused[2], boost_s;
	int ret;

	*as_asked = true;
	/* a load that was cut short does not tell that there is nothing to be forgotten */
	if (b->opt->run.history == BOOST_AS_IS || b->opt->run.pin_khz ||
	    (b->steady && isnan(b->opt->duration_s)))
		return 0;
	if (b->opt->run.history == BOOST_CLEAN || b->steady)
		return boost_lab_spend(&b->lab, 0, window, "idle, for a clean history", NULL, NULL, NULL, NULL, err);
	ret = boost_lab_until_slow(&b->lab, &b->speeds, 1, "loaded, for a saturated history",
				   &unused[0], &unused[1], &boost_s, err);
	*as_asked = !isnan(boost_s);
	return ret;
}

/* Who else had the CPUs: what was busy, less the command's time and ours. */
static double bench_others_busy(const struct boost_slice *s, size_t n, double from_s, double to_s,
				double known_s)
{
	double busy_s = 0;

	for (size_t i = 0; i < n; i++) {
		double begin = fmax(s[i].t_s, from_s), end = fmin(s[i].t_s + s[i].len_s, to_s);

		if (end > begin)
			busy_s += s[i].busy * (end - begin);
	}
	return fmax(busy_s - known_s, 0) / (to_s - from_s);
}

/* A speed that was measured has an interval, one that was given has none. */
static struct value bench_reference_khz(const struct value *measured, double khz)
{
	return measured->v == khz ? *measured : (struct value){ khz, NAN, NAN };
}

static int bench_judge_run(struct boost_bench *b, struct boost_bench_run *r)
{
	double slice_s = boost_watch_slice_s(b->lab.watch);
	struct boost_judge by = {
		.boost_khz = bench_reference_khz(&b->course.boost.khz, b->speeds.boosted),
		.sustained_khz = bench_reference_khz(&b->course.sustained.khz, b->speeds.sustained),
		.cpus = kjoule_cpus_count(boost_watch_cpus(b->lab.watch)),
		.tick_s = slice_s / BOOST_WATCH_TICKS,
	};
	const struct boost_slice *s;
	double pinned;
	size_t n;

	if (boost_watch_slices(b->lab.watch, r->from_s - 2 * slice_s, r->to_s + 2 * slice_s, &s,
			       &n))
		return -ENOMEM;
	/* a driver may take the nearest that it has */
	pinned = b->opt->run.pin_khz ? boost_level(s, n, r->from_s, r->to_s).khz.v : NAN;
	if (fabs(pinned / b->opt->run.pin_khz - 1) < PIN_ROUNDED)
		by.boost_khz = by.sustained_khz = (struct value){ pinned, NAN, NAN };
	by.others = bench_others_busy(s, n, r->from_s, r->to_s, r->known_s);
	/* what is missing may be what would tell */
	if (r->lost)
		by.sustained_khz.v = NAN;
	r->judged = boost_run_judge(s, n, r->from_s, r->to_s, &by);
	r->energy_j = r->judged.w * (r->to_s - r->from_s);
	return 0;
}

/* The command waits while the chip is prepared, so that nothing is between that and the run. */
static int bench_measure_run(struct boost_bench *b, size_t command, struct kjoule_error *err)
{
	struct boost_bench_run r = { .command = command }, *kept;
	double before[2], after[2], ours;
	struct child child;
	int ret = bench_fork_command(b, b->opt->run.commands[command], &child, err);

	if (ret)
		return ret;
	ret = bench_prepare_history(b, &r.as_asked, err);
	if (ret) {
		child_kill(&child);
		return ret;
	}
	bench_children_cpu_s(&before[0], &before[1]);
	ours = bench_own_cpu_s();
	r.lost_before = boost_watch_lost(b->lab.watch);
	ret = bench_repeat_command(b, &r, &child, err);
	if (ret)
		return ret;
	bench_children_cpu_s(&after[0], &after[1]);
	r.user_s = after[0] - before[0];
	r.system_s = after[1] - before[1];
	r.known_s = r.user_s + r.system_s + bench_own_cpu_s() - ours;
	kept = kjoule_array_grow(&b->runs, &b->n, sizeof(*kept));
	if (!kept)
		return kjoule_fail(err, ENOMEM, "no memory");
	*kept = r;
	b->failed = r.exit_code;
	return 0;
}

static int bench_warm_up(struct boost_bench *b, struct kjoule_error *err)
{
	struct child child;
	double unused[2];
	int ret = 0;

	for (unsigned int i = 0; i < b->opt->run.warmup && !ret && !b->failed; i++) {
		for (size_t c = 0; c < b->opt->run.n_commands && !ret && !b->failed; c++) {
			ret = bench_fork_command(b, b->opt->run.commands[c], &child, err);
			if (!ret)
				ret = bench_finish_command(b, b->opt->run.commands[c], &child,
							   &unused[0], &unused[1], &b->failed, err);
		}
	}
	return ret;
}

/* What was seen of each, when all is over: judging takes time, in which the chip would rest. */
static int bench_judge_all(struct boost_bench *b, struct kjoule_error *err)
{
	int ret;

	/* whatever signals come: what was measured is printed */
	nanosleep(&(struct timespec){ 0, BEHIND_MS * 1000000l }, NULL);
	ret = boost_watch_drain(b->lab.watch, err);
	/* what was lost while a run lasted may have been taken with a later one */
	for (size_t i = 0; i < b->n; i++)
		b->runs[i].lost = (i + 1 < b->n ? b->runs[i + 1].lost_before :
				   boost_watch_lost(b->lab.watch)) - b->runs[i].lost_before;
	for (size_t i = 0; i < b->n && !ret; i++)
		if (bench_judge_run(b, &b->runs[i]))
			ret = kjoule_fail(err, ENOMEM, "no memory");
	return ret;
}

/* The chip's two speeds, as far as they were given. Return: they were */
static bool bench_use_given_speeds(struct boost_bench *b)
{
	const struct boost_run_options *o = &b->opt->run;

	b->speeds = (struct boost_speeds){ NAN, NAN, b->opt->tb_s, false };
	if (o->pin_khz) {
		b->speeds.sustained = b->speeds.boosted = o->pin_khz;
		b->steady = true;
	} else if (o->sustained_khz) {
		b->speeds.sustained = o->sustained_khz;
		b->speeds.boosted = o->boosted_khz ? o->boosted_khz : NAN;
	}
	return o->pin_khz || o->sustained_khz;
}

/* Them, by a load. */
static int bench_learn_speeds(struct boost_bench *b, struct kjoule_error *err)
{
	struct boost_level idle;
	double from_s, to_s;
	int ret;

	ret = boost_lab_clean(&b->lab, &idle, err);
	if (!ret)
		ret = boost_lab_course(&b->lab, &b->course, &from_s, &to_s, err);
	if (ret)
		return ret;
	if (b->course.by_work)
		return kjoule_fail(err, ENODATA, "no source of frequency can be used, by which runs are judged (see `kjoule list`)");
	if (b->course.verdict == BOOST_ENDS) {
		b->speeds = boost_speeds_of(&b->course);
	} else if (b->course.verdict == BOOST_LASTS) {
		b->steady = true;
		b->steady_s = to_s - from_s;
		b->speeds.sustained = b->speeds.boosted = b->course.boost.khz.v;
	} else {
		return kjoule_fail(err, ENODATA, "what the chip sustains could not be measured (%s): see `kjoule boost trace`, or tell it (--boosted, --sustained)",
				   boost_verdict_name(b->course.verdict));
	}
	return 0;
}

/* One command after the other, so that what drifts meanwhile drifts for all. */
static int bench_run_all(struct boost_bench *b, struct kjoule_error *err)
{
	bool given = bench_use_given_speeds(b), later = b->opt->run.history == BOOST_AS_IS;
	int ret = given || later ? 0 : bench_learn_speeds(b, err);

	if (!ret)
		ret = bench_warm_up(b, err);
	for (unsigned int i = 0; i < b->opt->runs && !ret && !b->failed; i++) {
		for (size_t c = 0; c < b->opt->run.n_commands && !ret && !b->failed; c++) {
			if (b->lab.progress)
				fprintf(stderr, "\r\033[Kkjoule: run %u of %u \r", i + 1,
					b->opt->runs);
			ret = bench_measure_run(b, c, err);
		}
	}
	if (b->lab.progress)
		fputs("\r\033[K", stderr);
	/* a chip whose past is to be as it is is not loaded before */
	if (!ret && !given && later && !b->failed)
		ret = bench_learn_speeds(b, err);
	return ret;
}

static int bench_hold_frequency(uint32_t khz, struct kjoule_frequency **f, struct guardian *guard,
				struct kjoule_error *err)
{
	int ret;

	if (!khz)
		return 0;
	ret = kjoule_frequency_open(KJOULE_SYSFS, KJOULE_FREQUENCY_STATE, f, err);
	if (!ret)
		ret = kjoule_frequency_check(*f, khz, err);
	if (!ret)
		ret = frequency_guard_start(guard, *f, err);
	return ret ? ret : kjoule_frequency_hold(*f, khz, err);
}

static int bench_restore_frequency(struct kjoule_frequency *f, struct guardian *guard)
{
	struct kjoule_error err = { "" };
	int code = 0;

	if (frequency_guard_end(guard, f, &err))
		code = cmd_failed("%s", err.text);
	kjoule_frequency_close(f);
	return code;
}

/* @code: an exit code that there is already. Return: the exit code */
static int bench_print_and_save(struct boost_bench *b, int code)
{
	if (boost_bench_average(b) || boost_bench_print(b))
		return cmd_failed("no memory");
	if (b->n && boost_bench_export(b))
		code = EXIT_FAILED;
	if (b->opt->output && boost_lab_save(&b->lab, b->opt->output))
		code = EXIT_FAILED;
	if (b->failed) {
		cmd_warn("%s ended with exit code %d: no further run was made",
			 b->n ? "a run" : "a warm-up", b->failed);
		code = b->failed;
	}
	return code;
}

static int bench_find_commands(const struct boost_options *opt)
{
	int code = 0;

	for (size_t c = 0; c < opt->run.n_commands && !code; c++)
		code = boost_command_find(opt->run.commands[c][0]);
	return code;
}

int boost_run(const struct boost_options *opt)
{
	struct boost_bench b = { .opt = opt };
	struct guardian guard = { .fd = -1 };
	struct kjoule_frequency *f = NULL;
	struct kjoule_error err;
	int code = bench_find_commands(opt), ret;

	if (code)
		return code;
	/* while there is little that the guardian would have a copy of */
	if (bench_hold_frequency(opt->run.pin_khz, &f, &guard, &err)) {
		cmd_warn("%s", err.text);
		bench_restore_frequency(f, &guard);
		return EXIT_FAILED;
	}
	code = boost_lab_open(opt, &b.lab);
	if (!code) {
		ret = bench_run_all(&b, &err);
		/* what was measured until then is shown */
		if (ret)
			code = cmd_failed("%s", err.text);
		if (b.n && bench_judge_all(&b, &err))
			code = cmd_failed("%s", err.text);
		else if (b.n || !ret)
			code = bench_print_and_save(&b, code);
	}
	if (bench_restore_frequency(f, &guard) && !code)
		code = EXIT_FAILED;
	code = boost_lab_close(&b.lab, b.unstarted ? b.unstarted : code);
	free(b.runs);
	free(b.means);
	return code;
}
