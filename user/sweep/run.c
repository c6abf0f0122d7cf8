// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runs of a sweep: each setting once, then each once more, so that what drifts meanwhile drifts
 * for all of them; the frequencies given back at the end, and by machine/frequency_guard.c if this
 * process ends before. See sweep.h; called by cmd_sweep.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/cmd.h"
#include "cli/signals.h"
#include "command/child_input.h"
#include "lib/base/now.h"
#include "machine/frequency_guard.h"
#include "sweep/sweep.h"

/* What a change of the frequency is given: some times what the driver says, at least this. */
#define SETTLE_NS	10000000ull
#define SETTLE_TIMES	10

/* Of record: the command itself could not be run, which may be a matter of the setting. */
#define NOT_EXECUTABLE	126
#define NO_COMMAND	127

#define THREADS_ENV	"OMP_NUM_THREADS"

/* Of a signal that is pending. 0: there is none */
static int sweep_pending_signal(const sigset_t *ends)
{
	int sig = sigtimedwait(ends, NULL, &(struct timespec){ 0 });

	return sig > 0 ? sig : 0;
}

static void sweep_wait_settled(const struct sweep_plan *p)
{
	uint64_t ns = SETTLE_TIMES * p->latency_ns;

	ns = ns < SETTLE_NS ? SETTLE_NS : ns < 1000000000ull ? ns : 1000000000ull;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, ns - 1 }, NULL);
}

/* What the sweep goes by as it goes. */
struct going {
	struct sweep_plan *plan;
	int folder;
	struct kjoule_frequency *f;
	const struct record_options *opt;
	int (*once)(const struct record_options *opt, struct record_result *result);
	const sigset_t *ends, *mask;
	struct child_input input;
	struct kjoule_calibration *cals;	/* by setting: the first of a frequency has it */
	uint32_t at_khz;			/* 0: none is held */
	unsigned int done;
	uint64_t begin_ns;
	bool progress;
	int signal;
};

static void sweep_show_progress(const struct going *c, const struct sweep_setting *s)
{
	size_t all = c->plan->n_settings * c->plan->runs;
	char label[64];

	if (!c->progress)
		return;
	fputs("\r\033[K", stderr);
	output_printf(stderr, "kjoule: %u of %zu: %s", c->done + 1, all,
		      sweep_label(s, label, sizeof(label)));
	if (c->done)
		fprintf(stderr, "; %.0f s left",
			(kjoule_now_ns() - c->begin_ns) / 1e9 / c->done * (all - c->done));
	fputs(" \r", stderr);
}

static void sweep_hide_progress(const struct going *c)
{
	if (c->progress)
		fputs("\r\033[K", stderr);
}

/* Ticks take another time at another frequency: calibrated once at each. */
static struct kjoule_calibration *sweep_calibration_of(const struct going *c, size_t setting)
{
	for (size_t i = 0; i < setting; i++)
		if (c->plan->settings[i].khz == c->plan->settings[setting].khz)
			return &c->cals[i];
	return &c->cals[setting];
}

/*
 * The command's standard output is no part of ours: it goes to a file next to the recording.
 * Return: 0 or -errno
 */
static int sweep_divert_output(int folder, const char *name, int *saved)
{
	int fd = sweep_folder_create(folder, name), ret = 0;

	if (fd < 0)
		return fd;
	fflush(stdout);
	*saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (dup2(fd, STDOUT_FILENO) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static void sweep_restore_output(int saved)
{
	if (saved < 0) {
		close(STDOUT_FILENO);
		return;
	}
	dup2(saved, STDOUT_FILENO);
	close(saved);
}

static void sweep_set_threads_env(uint32_t threads, const char *before)
{
	char text[16];

	if (threads) {
		snprintf(text, sizeof(text), "%u", threads);
		setenv(THREADS_ENV, text, 1);
	} else if (before) {
		setenv(THREADS_ENV, before, 1);
	} else {
		unsetenv(THREADS_ENV);
	}
}

/* The recording and its command. Return: as record_once(), or -errno */
static int sweep_record_run(struct going *c, const struct sweep_setting *s, size_t setting,
			    const char *path, const char *out, struct record_result *result)
{
	const char *env = getenv(THREADS_ENV);
	struct record_options one = *c->opt;
	struct kjoule_calibration *cal = sweep_calibration_of(c, setting);
	char *before = env ? strdup(env) : NULL;
	int saved = -1, code;

	one.command = sweep_command(c->plan->argc, c->plan->argv, s->threads);
	if (!one.command || (env && !before)) {
		sweep_command_free(one.command);
		free(before);
		return -ENOMEM;
	}
	one.output = path;
	one.output_folder = c->folder;
	one.mask = c->mask;
	one.quiet = true;
	one.cal = cal->ticks ? cal : NULL;
	code = sweep_divert_output(c->folder, strrchr(out, '/') + 1, &saved);
	if (!code) {
		if (s->threads)
			sweep_set_threads_env(s->threads, before);
		code = c->once(&one, result);
		if (s->threads)
			sweep_set_threads_env(0, before);
		sweep_restore_output(saved);
	}
	if (result->cal.ticks)
		*cal = result->cal;
	sweep_command_free(one.command);
	free(before);
	return code;
}

/* "f1200000.t2.03.data"; without what is as it is */
static char *sweep_run_file_name(const struct sweep_plan *p, const struct sweep_setting *s,
				 unsigned int run)
{
	char freq[24] = "", threads[24] = "", *name;
	int digits = snprintf(NULL, 0, "%u", p->runs);

	if (s->khz)
		snprintf(freq, sizeof(freq), "f%u.", s->khz);
	if (s->threads)
		snprintf(threads, sizeof(threads), "t%u.", s->threads);
	return asprintf(&name, "%s%s%0*u.data", freq, threads, digits, run) < 0 ? NULL : name;
}

/*
 * One run at a setting; what fails is noted, and is the setting's alone. Return: 0, or -errno with
 * the reason in @err
 */
static int sweep_run_one(struct going *c, size_t setting, unsigned int run,
			 struct kjoule_error *err)
{
	struct sweep_setting *s = &c->plan->settings[setting];
	struct record_result result = { .exit_code = -1 };
	char *name = sweep_run_file_name(c->plan, s, run), *path = NULL, *out = NULL, label[64];
	int code, ret = 0;

	if (!name || asprintf(&path, "%s/%s", c->plan->folder, name) < 0 ||
	    asprintf(&out, "%s.out", path) < 0) {
		free(name);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	/* what an older sweep has left, or a link, is not written to */
	code = unlinkat(c->folder, name, 0) && errno != ENOENT ? -errno :
	       sweep_record_run(c, s, setting, path, out, &result);
	sweep_label(s, label, sizeof(label));
	if (code < 0)
		ret = kjoule_fail(err, -code, "%s: %s", out, strerror(-code));
	else if (code == result.exit_code && exit_codes_allow(&c->opt->exits, result.exit_code))
		code = EXIT_DONE;
	c->signal = result.signal;
	if (!ret && c->signal)
		unlinkat(c->folder, name, 0);	/* what was recorded until then is no whole run */
	else if (!ret && code && !result.reason && code != NO_COMMAND && code != NOT_EXECUTABLE)
		ret = kjoule_fail(err, ECANCELED, "%s, run %u: the recording could not be made, and the sweep ends here", label, run);
	else if (!ret)
		ret = sweep_plan_add(s, name, code ? SWEEP_FAILED : SWEEP_GOOD,
				     code ? code : result.exit_code);
	if (!ret && code && !c->signal) {
		sweep_hide_progress(c);
		cmd_warn("%s, run %u: ended with exit code %d and takes no part in the sweep, nor does this setting any more%s%s%s%s", label,
			 run, code, result.reason ? "; what it said is in " : "",
			 result.reason ? out : "", result.reason ? " and above" : "",
			 exit_codes_advice(result.exit_code));
	}
	if (ret == -ENOMEM)
		kjoule_fail(err, ENOMEM, "no memory");
	free(out);
	free(path);
	free(name);
	return ret;
}

/*
 * Return: 0: it is held; 1: it cannot be, which was said; -errno if no frequency can, with the
 * reason in @err
 */
static int sweep_hold_frequency(struct going *c, struct sweep_setting *s, struct kjoule_error *err)
{
	int ret;

	if (!c->f || !s->khz || s->khz == c->at_khz)
		return 0;
	c->at_khz = 0;
	ret = kjoule_frequency_hold(c->f, s->khz, err);
	if (ret == -ERANGE || ret == -EINVAL) {
		sweep_hide_progress(c);
		cmd_warn("%s", err->text);
		s->refused = strdup(err->text);
		return s->refused ? 1 : kjoule_fail(err, ENOMEM, "no memory");
	}
	if (ret)
		return ret;
	c->at_khz = s->khz;
	sweep_wait_settled(c->plan);
	return 0;
}

static int sweep_run_all(struct going *c, struct kjoule_error *err)
{
	struct sweep_plan *p = c->plan;
	int ret = 0;

	for (unsigned int run = 1; run <= p->runs && !ret && !c->signal; run++) {
		for (size_t i = 0; i < p->n_settings && !ret && !c->signal;
		     i++, c->done += !c->signal) {
			struct sweep_setting *s = &p->settings[i];

			c->signal = sweep_pending_signal(c->ends);
			if (c->signal || sweep_setting_has_failed(s))
				continue;
			sweep_show_progress(c, s);
			ret = sweep_hold_frequency(c, s, err);
			if (!ret)
				ret = child_input_rewind(&c->input, err);
			if (!ret)
				ret = sweep_run_one(c, i, run, err);
			ret = ret == 1 ? 0 : ret;
			if (!ret)
				ret = sweep_folder_write(p, c->folder, err);
		}
	}
	p->finished = !ret && !c->signal;
	return ret;
}

static bool sweep_has_good(const struct sweep_plan *p)
{
	for (size_t i = 0; i < p->n_settings; i++)
		if (p->settings[i].n_runs && !sweep_setting_has_failed(&p->settings[i]))
			return true;
	return false;
}

int sweep_run(struct sweep_plan *p, int folder, struct kjoule_frequency *f,
	      const struct record_options *opt,
	      int (*once)(const struct record_options *opt, struct record_result *result),
	      int *signal)
{
	struct kjoule_error err = { 0 }, second = { 0 };
	struct guardian guardian = { .fd = -1 };
	sigset_t ends, old;
	struct going c = { .plan = p, .folder = folder, .f = f, .opt = opt, .once = once,
			   .ends = &ends, .mask = &old, .begin_ns = kjoule_now_ns(),
			   .progress = !opt->quiet && isatty(STDERR_FILENO) };
	int ret, code = EXIT_DONE;

	*signal = 0;
	if (child_input_open(&c.input, p->n_settings * p->runs, &err))
		return cmd_failed("%s", err.text);
	/* while there is little that it would have a copy of */
	if (f && frequency_guard_start(&guardian, f, &err))
		return cmd_failed("%s", err.text);
	c.cals = calloc(p->n_settings, sizeof(*c.cals));
	if (!c.cals) {
		frequency_guard_end(&guardian, f, &err);
		return cmd_failed("no memory");
	}
	/* a signal between two runs is the next one's, which has not begun then */
	signals_ends(&ends);
	sigprocmask(SIG_BLOCK, &ends, &old);
	ret = sweep_folder_write(p, folder, &err);
	if (!ret)
		ret = sweep_run_all(&c, &err);
	sweep_hide_progress(&c);
	if (frequency_guard_end(&guardian, f, &second))
		code = cmd_failed("%s", second.text);
	if (ret)
		code = cmd_failed("%s", err.text);
	else if (sweep_folder_write(p, folder, &err))
		code = cmd_failed("%s", err.text);
	*signal = c.signal;
	if (c.signal) {
		cmd_warn("stopped by signal %d after %u of %zu runs; `kjoule sweep --from %s` has what was measured until then",
			 c.signal, c.done, p->n_settings * p->runs, p->folder);
		code = 128 + c.signal;
	} else if (!code && !sweep_has_good(p)) {
		code = cmd_failed("no setting was measured to its end");
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(c.cals);
	return code;
}
