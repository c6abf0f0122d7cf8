// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A load and what the machine does meanwhile: opened, worked and rested as an experiment wants it,
 * ended by a signal at any time. See boost.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "boost/boost.h"
#include "cli/cmd.h"
#include "cli/signals.h"
#include "lib/base/output_file.h"
#include "lib/control/sources.h"

/* A weighted mean has forgotten all but 0.7 % then. */
#define CLEAN_TAUS	5.0
#define LOAD_TAUS	10.0

/* A time constant of a second or less is that of one limit among others: heat has longer ones. */
#define CLEAN_LEAST_S	10.0
#define LOAD_LEAST_S	60.0

/* Where no time constant is known: the paper's window, and half as much more. */
#define CLEAN_S		120.0
#define LOAD_S		180.0

/* Of a load whose end is looked for. */
#define FIRST_S		0.2	/* the governor has seen it by then */
#define LOOK_EVERY	10	/* looks: each costs the load a little */
#define LOOK_SLICES	10
#define BEHIND_LEAST_S	2.0	/* of what is sustained, or as long as the boost */

/*
 * A chip is slow when it has hardly been faster for so long, and so many slices; a load that is to
 * make it so is given up after so many boosts.
 */
#define SLOW_S		0.3
#define SLOW_SLICES	5
#define SLOW_PART	0.1
#define GIVE_UP		4.0

/* After a load: the last readings of slow sources, and the edge behind its end. */
#define BEHIND_S	0.2

/* Between two looks at what has come: a machine that rests is left alone. */
#define LOOK_S		0.05
#define LOOK_RESTING_S	0.25

static bool lab_pid_is_commands(pid_t pid, const void *command)
{
	return boost_command_load_is(command, pid);
}

int boost_lab_open(const struct boost_options *opt, struct boost_lab *lab)
{
	struct kjoule_error err;
	unsigned int cpus, threads;
	sigset_t blocked;
	int code;

	*lab = (struct boost_lab){ .opt = opt, .limits = boost_limits_read(KJOULE_SYSFS),
				   .progress = !opt->quiet && isatty(STDERR_FILENO) };
	signals_ends(&lab->ends);
	/* of all threads: what one of them has not blocked the others do not see */
	blocked = lab->ends;
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &lab->before);
	/* while there is little that its guardian would have a copy of */
	if (opt->command) {
		lab->command = (struct boost_command_load){ .command = opt->command,
							    .mask = &lab->before,
							    .user = opt->user };
		lab->command.cpus = opt->cpus_given ? &opt->cpus : NULL;
		if (boost_command_load_open(&lab->command, &err))
			return cmd_failed("%s", err.text);
	}
	code = boost_watch_open(&opt->watch, &lab->watch);
	if (code)
		return code;
	lab->cpus = *boost_watch_cpus(lab->watch);
	for (int cpu = kjoule_cpus_next(&opt->cpus, 0); opt->cpus_given && cpu >= 0;
	     cpu = kjoule_cpus_next(&opt->cpus, cpu + 1))
		if (!kjoule_cpus_has(&lab->cpus, cpu))
			return cmd_failed("CPU %d is not online", cpu);
	if (opt->cpus_given)
		lab->cpus = opt->cpus;
	cpus = kjoule_cpus_count(&lab->cpus);
	if (opt->command) {
		boost_watch_mine(lab->watch, lab_pid_is_commands, &lab->command);
		threads = opt->threads ? opt->threads : cpus;
	} else {
		if (cpu_load_new(opt->load, &lab->cpus, opt->threads, &lab->load, &err))
			return cmd_failed("%s", err.text);
		threads = cpu_load_threads(lab->load);
	}
	lab->loaded = threads < cpus ? threads : cpus;
	return 0;
}

/*
 * Reports a signal that has come since as well; what was printed is flushed before it could end us.
 */
static void lab_note_pending_signal(struct boost_lab *lab)
{
	int sig = sigtimedwait(&lab->ends, NULL, &(struct timespec){ 0, 0 });

	fflush(stdout);
	if (sig > 0 && !lab->signal)
		lab->signal = sig;
}

int boost_lab_close(struct boost_lab *lab, int code)
{
	lab_note_pending_signal(lab);
	boost_command_load_close(&lab->command);
	cpu_load_free(lab->load);
	boost_watch_close(lab->watch);
	sigprocmask(SIG_SETMASK, &lab->before, NULL);
	return lab->signal ? 128 + lab->signal : lab->command.failed ? lab->command.failed : code;
}

static void lab_show_progress(const struct boost_lab *lab, const char *what, double left)
{
	if (!lab->progress)
		return;
	fputs("\r\033[K", stderr);
	output_printf(stderr, "kjoule: %s; %.0f s left at most ", what, left);
	fputc('\r', stderr);
}

/* Until there is something to look at. Return: a signal that has come, 0: none */
static int lab_wait_for_signal(const struct boost_lab *lab, double seconds)
{
	struct timespec ts = { .tv_sec = seconds };
	sigset_t wake = lab->ends;
	int sig;

	/* a command that has ended begins again right away */
	if (!lab->load)
		sigaddset(&wake, SIGCHLD);
	ts.tv_nsec = (seconds - ts.tv_sec) * 1e9;
	sig = sigtimedwait(&wake, NULL, &ts);
	return sig > 0 && sig != SIGCHLD ? sig : 0;
}

static int lab_set_load(struct boost_lab *lab, double part, struct kjoule_error *err)
{
	if (!lab->load)
		return boost_command_load_tend(&lab->command, part > 0, err);
	cpu_load_go(lab->load, part);
	return 0;
}

/* What a command does is not counted. */
static int lab_count_work(struct boost_lab *lab, struct kjoule_error *err)
{
	if (lab->load && boost_watch_work(lab->watch, cpu_load_passes(lab->load)))
		return kjoule_fail(err, ENOMEM, "no memory for what was measured");
	return 0;
}

int boost_lab_spend(struct boost_lab *lab, double part, double seconds, const char *what,
		    bool (*enough)(struct boost_lab *lab, double from_s, void *arg), void *arg,
		    double *from_s, double *to_s, struct kjoule_error *err)
{
	double begin, left = seconds, look = part > 0 ? LOOK_S : LOOK_RESTING_S;
	int ret = boost_watch_drain(lab->watch, err), sig;

	begin = boost_watch_now(lab->watch);
	ret = ret ? ret : lab_set_load(lab, part, err);
	while (!ret && left > 0) {
		ret = lab_count_work(lab, err);
		lab_show_progress(lab, what, left);
		sig = ret ? 0 : lab_wait_for_signal(lab, fmin(look, left));
		if (sig) {
			/* one that came before stays what ended it */
			lab->signal = sig;
			ret = kjoule_fail(err, EINTR, "stopped by signal %d", sig);
		}
		if (!ret && !lab->load)
			ret = lab_set_load(lab, part, err);
		if (!ret)
			ret = boost_watch_drain(lab->watch, err);
		left = begin + seconds - boost_watch_now(lab->watch);
		if (!ret && enough && enough(lab, begin, arg))
			break;
	}
	if (from_s)
		*from_s = begin;
	if (to_s)
		*to_s = boost_watch_now(lab->watch);
	if (ret)
		lab_set_load(lab, 0, NULL);
	else
		ret = lab_set_load(lab, 0, err);
	if (lab->progress)
		fputs("\r\033[K", stderr);
	return ret ? ret : lab_count_work(lab, err);
}

double boost_lab_forget_s(const struct boost_lab *lab, double asked_s)
{
	double tau = lab->limits.tau_s;

	return !isnan(asked_s) ? asked_s : isnan(tau) ? CLEAN_S :
	       fmax(CLEAN_TAUS * tau, CLEAN_LEAST_S);
}

int boost_lab_clean(struct boost_lab *lab, struct boost_level *idle, struct kjoule_error *err)
{
	double seconds = boost_lab_forget_s(lab, lab->opt->idle_s), from_s, to_s;
	const struct boost_slice *s;
	size_t n;
	int ret = boost_lab_spend(lab, 0, seconds, "idle, for a clean history", NULL, NULL, &from_s,
				  &to_s, err);

	if (ret)
		return ret;
	if (boost_watch_slices(lab->watch, from_s, INFINITY, &s, &n))
		return kjoule_fail(err, ENOMEM, "no memory");
	/* at the beginning the session itself was made */
	*idle = boost_level(s, n, from_s + (to_s - from_s) / 2, to_s);
	idle->from_s = from_s;
	return 0;
}

/* NAN: nothing is known */
static double lab_mean_speed(const struct boost_slice *s, size_t n, bool by_work)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		double v = by_work ? s[i].work : s[i].khz;

		sum += isnan(v) ? 0 : v;
		known += !isnan(v);
	}
	return known ? sum / known : NAN;
}

static double lab_speed_of(const struct boost_slice *s, size_t n)
{
	double khz = lab_mean_speed(s, n, false);

	return isnan(khz) ? lab_mean_speed(s, n, true) : khz;
}

/* What shows the end of a load. */
struct ending {
	unsigned int looks;
	double first;			/* speed at the beginning; NAN: not yet known */
	double slower_s;		/* since when, after the load's beginning; NAN: not yet */
};

static bool lab_has_settled(struct boost_lab *lab, double from_s, void *arg)
{
	double now = boost_watch_now(lab->watch);
	double len_s = (LOOK_SLICES + 1) * boost_watch_slice_s(lab->watch);
	struct ending *e = arg;
	const struct boost_slice *s;
	size_t n;

	if (++e->looks % LOOK_EVERY)
		return false;
	if (!isnan(e->slower_s))
		return now - from_s >= e->slower_s + fmax(e->slower_s, BEHIND_LEAST_S);
	if (isnan(e->first)) {
		if (!boost_watch_slices(lab->watch, from_s + FIRST_S, INFINITY, &s, &n) &&
		    n >= LOOK_SLICES)
			e->first = lab_speed_of(s, LOOK_SLICES);
	} else if (!boost_watch_slices(lab->watch, now - len_s, INFINITY, &s, &n) &&
		   lab_speed_of(s, n) < (1 - BOOST_LEAST) * e->first) {
		e->slower_s = now - from_s;
	}
	return false;
}

int boost_lab_course(struct boost_lab *lab, struct boost_course *c, double *from_s, double *to_s,
		     struct kjoule_error *err)
{
	double tau = lab->limits.tau_s, asked = lab->opt->duration_s;
	double most = !isnan(asked) ? asked : isnan(tau) ? LOAD_S :
		      fmax(LOAD_TAUS * tau, LOAD_LEAST_S);
	struct ending ending = { .first = NAN, .slower_s = NAN };
	const struct boost_slice *s;
	size_t n;
	int ret;

	ret = boost_lab_spend(lab, 1, most, "loaded", isnan(asked) ? lab_has_settled : NULL,
			      &ending, from_s, to_s, err);
	if (!ret)
		ret = boost_lab_spend(lab, 0, BEHIND_S, "idle", NULL, NULL, NULL, NULL, err);
	if (!ret && (boost_watch_slices(lab->watch, *from_s, INFINITY, &s, &n) ||
		     boost_course(s, n, *from_s, *to_s, lab->loaded, c)))
		ret = kjoule_fail(err, ENOMEM, "no memory");
	return ret;
}

struct boost_speeds boost_speeds_of(const struct boost_course *c)
{
	return (struct boost_speeds){
		.boosted = c->by_work ? c->boost.work.v : c->boost.khz.v,
		.sustained = c->by_work ? c->sustained.work.v : c->sustained.khz.v,
		.tb_s = c->tb_s.v,
		.by_work = c->by_work,
	};
}

/* What shows the end of a chip's boost. */
struct slowing {
	struct boost_speeds v;
	bool slow;			/* it has come */
};

static double lab_slow_window_s(const struct boost_lab *lab)
{
	/* the last slice is still on its way, and one is begun */
	return fmax(SLOW_S, (SLOW_SLICES + 3) * boost_watch_slice_s(lab->watch));
}

static bool lab_is_slow(struct boost_lab *lab, double from_s, void *arg)
{
	struct slowing *e = arg;
	const struct boost_speeds *v = &e->v;
	const struct boost_slice *s;
	double since = boost_watch_now(lab->watch) - lab_slow_window_s(lab), mean;
	size_t n;

	if (since < from_s || boost_watch_slices(lab->watch, since, INFINITY, &s, &n) ||
	    n < SLOW_SLICES)
		return false;
	/* some chips go up and down around what they sustain */
	mean = lab_mean_speed(s, n, v->by_work);
	e->slow = mean - v->sustained < SLOW_PART * (v->boosted - v->sustained);
	return e->slow;
}

int boost_lab_until_slow(struct boost_lab *lab, const struct boost_speeds *speeds, double part,
			 const char *what, double *from_s, double *to_s, double *boost_s,
			 struct kjoule_error *err)
{
	struct slowing e = { .v = *speeds };
	const struct boost_slice *s;
	size_t n;
	int ret = boost_lab_spend(lab, part, GIVE_UP * e.v.tb_s + lab_slow_window_s(lab), what,
				  lab_is_slow, &e, from_s, to_s, err);

	if (ret)
		return ret;
	/* a slice in which the load began counts in part */
	if (boost_watch_slices(lab->watch, *from_s - boost_watch_slice_s(lab->watch), INFINITY, &s,
			       &n))
		return kjoule_fail(err, ENOMEM, "no memory");
	*boost_s = e.slow ?
		   boost_time(s, n, *from_s, *to_s, e.v.boosted, e.v.sustained, e.v.by_work) : NAN;
	return 0;
}

const char *boost_lab_load(const struct boost_lab *lab, char *buf, size_t len)
{
	if (lab->load)
		snprintf(buf, len, "%u thread%s of %s", cpu_load_threads(lab->load),
			 cpu_load_threads(lab->load) == 1 ? "" : "s",
			 cpu_load_names[lab->opt->load]);
	else
		boost_command_text(lab->opt->command, buf, len);
	return buf;
}

void boost_lab_load_json(const struct boost_lab *lab, struct json_object *o)
{
	char text[4096];

	json_object_object_add(o, "load", lab->load ?
			       json_object_new_string(cpu_load_names[lab->opt->load]) :
			       output_json_str(boost_command_text(lab->opt->command, text,
								  sizeof(text))));
	json_object_object_add(o, "threads",
			       json_object_new_uint64(lab->load ? cpu_load_threads(lab->load) :
						      lab->loaded));
	json_object_object_add(o, "starts",
			       json_object_new_uint64(lab->load ? 1 : lab->command.times));
}

int boost_lab_no_boost(const struct boost_lab *lab, const struct boost_course *c)
{
	const char *requested = boost_watch_requested_frequency(lab->watch);

	switch (c->verdict) {
	case BOOST_IDLE:
		return cmd_failed("the load kept only %.0f %% of its CPUs' time: %s, and nothing is known of the chip",
				  100 * c->busy, lab->load ? "something else ran" :
				  "it rests, or uses fewer CPUs (--threads, --cpus), or something else ran");
	case BOOST_LASTS:
		return cmd_failed("one speed for all of the load: the chip does not boost under it, or for longer than that (--duration)");
	case BOOST_RISES:
		return cmd_failed("the load was slower at first: was the chip still throttled (--idle), or does the governor take its time?");
	default:
		return cmd_failed("neither a frequency nor throughput is known for long enough to judge the chip%s",
				  requested ? "; of the frequency there is only what was asked for (see `kjoule list`)" :
				  "");
	}
}

static void lab_write_csv_number(FILE *f, double v)
{
	if (isnan(v))
		fputc(',', f);
	else
		fprintf(f, ",%.9g", v);
}

int boost_lab_save(struct boost_lab *lab, const char *path)
{
	const struct kjoule_cpus *cpus = boost_watch_cpus(lab->watch);
	bool per_cpu = lab->opt->watch.per_cpu;
	struct kjoule_output_file file;
	const struct boost_slice *s;
	struct kjoule_error err;
	FILE *f;
	size_t n;

	if (boost_watch_slices(lab->watch, 0, INFINITY, &s, &n))
		return cmd_failed("no memory");
	if (kjoule_output_file_open(&file, AT_FDCWD, path, 0, &err))
		return cmd_failed("%s", err.text);
	f = file.stream;
	fprintf(f, "time_s,power_w,freq_khz,busy_cpus,load_cpus,celsius,passes_per_s");
	for (int cpu = per_cpu ? kjoule_cpus_next(cpus, 0) : -1; cpu >= 0;
	     cpu = kjoule_cpus_next(cpus, cpu + 1))
		fprintf(f, ",freq_khz_cpu%d", cpu);
	fputc('\n', f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%.6f", s[i].t_s);
		lab_write_csv_number(f, s[i].w);
		lab_write_csv_number(f, s[i].khz);
		lab_write_csv_number(f, s[i].busy);
		lab_write_csv_number(f, s[i].mine);
		lab_write_csv_number(f, s[i].celsius);
		lab_write_csv_number(f, s[i].work);
		for (int cpu = per_cpu ? kjoule_cpus_next(cpus, 0) : -1; cpu >= 0;
		     cpu = kjoule_cpus_next(cpus, cpu + 1))
			lab_write_csv_number(f, boost_watch_cpu_khz(lab->watch, cpu, s[i].t_s,
								    s[i].t_s + s[i].len_s));
		fputc('\n', f);
	}
	return kjoule_output_file_finish(&file, &err) ? cmd_failed("%s", err.text) : 0;
}
