/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule boost`: the command line (cmd_boost.c), a load and what the machine does
 * meanwhile (experiment.c), limits that powercap knows (limits.c), and its verbs: trace (trace.c),
 * window (window.c), cause (cause.c, with fan.c), run (bench.c, see bench.h), plan (plan.c).
 */
#ifndef KJOULE_BOOST_CMD_H
#define KJOULE_BOOST_CMD_H

#include <json-c/json.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "analysis/boost/boost.h"
#include "boost/machine_watch.h"
#include "command/child.h"
#include "machine/cpu_load.h"
#include "machine/guardian.h"
#include "output/output.h"

/* What the chip's past is to be like before a run. */
enum boost_history { BOOST_CLEAN, BOOST_SATURATED, BOOST_AS_IS, BOOST_HISTORIES };

/**
 * struct boost_run_options - of run alone
 * @warmup:	runs of each command before, of which nothing is kept
 * @boosted_khz,@sustained_khz: the chip's, so that they need not be measured; 0: they are
 * @pin_khz:	held meanwhile; 0: nothing is
 * @equal_s:	a run is as many of the command as fit into so long; NAN: one
 * @show:	what commands write to their standard output goes to our standard error
 * @json,@csv,@markdown: files, in the layout of benchmark runners; NULL: none
 * @commands:	@n_commands of them, each NULL-terminated
 */
struct boost_run_options {
	enum boost_history history;
	unsigned int warmup;
	uint32_t boosted_khz, sustained_khz, pin_khz;
	double equal_s;
	bool show;
	const char *json, *csv, *markdown;
	char ***commands;
	size_t n_commands;
};

#define BOOST_RATIO_MOST	1000	/* that can be given for plan */
#define BOOST_FROM_MOST		16

/**
 * struct boost_options - what was asked for, of any verb
 * @watch:	how the machine is watched
 * @load,@load_given,@threads,@cpus,@cpus_given: what it is loaded with, and where
 * @command:	what it is loaded with instead, NULL-terminated; NULL: nothing
 * @user_name,@user: --user, and what it stands for: whom commands run as; NULL: who we are
 * @idle_s,@duration_s: before the load, and of it at most; NAN: as the verb likes
 * @output:	all slices, as CSV
 * @plot,@force: a picture of them, whose data may replace others
 * @r,@tb_s,@window_s: of the chip, for plan; NAN: not given
 * @from,@n_from: files with what trace or window have measured of these, for plan; of several the
 *                last that has it counts
 * @bound:	part that a figure may be wrong by
 * @run_s:	length of a run
 * @runs:	of them
 * @fan,@fan_slow: a fan's value in sysfs and what is written to it to slow it down, for cause;
 *                 NULL: there is none
 */
struct boost_options {
	enum output_format format;
	bool quiet;
	struct boost_watch_options watch;
	enum cpu_load_kind load;
	bool load_given;
	char **command;
	const char *user_name;
	struct kjoule_user *user;
	unsigned int threads;
	struct kjoule_cpus cpus;
	bool cpus_given;
	double idle_s, duration_s;
	const char *output, *plot;
	bool force;
	double r, tb_s, window_s, bound, run_s;
	const char *from[BOOST_FROM_MOST];
	unsigned int n_from, runs;
	const char *fan;
	unsigned int fan_slow;
	struct boost_run_options run;
};

/**
 * struct boost_limits - what powercap says of all packages together, as their power is measured;
 * NAN: nothing
 * @pl1_w,@pl2_w: the sums of their long-term and short-term limits; NAN where one of them has none,
 *                or has it switched off
 * @tau_s:	the long-term limit's time window; NAN where packages differ in it
 */
struct boost_limits {
	double pl1_w, pl2_w, tau_s;
};

/** boost_limits_read() - @sysfs: KJOULE_SYSFS, or a folder that looks like it */
struct boost_limits boost_limits_read(const char *sysfs);

/*
 * A command of the user
 */

/** boost_command_find() - can it be started? Return: 0, or the exit code after saying why not */
int boost_command_find(const char *name);
/**
 * boost_command_text() - as a shell takes it, what it would not take as it is in single quotes;
 * "..." at the end: cut.
 * Return: @buf
 */
const char *boost_command_text(char **command, char *buf, size_t len);
/**
 * boost_command_start() - fork; it waits, what it will write to its standard output goes nowhere,
 * or to our standard error
 * @mask:	signals that are blocked for it
 * @user:	see child_start()
 * Return: 0 or -errno with the reason in @err
 */
int boost_command_start(struct child *child, char **command, bool show, const sigset_t *mask,
			const struct kjoule_user *user, struct kjoule_error *err);
/**
 * boost_command_go() - let it exec
 * @code:	out, if it fails: its exit code, 127 or 126
 * Return: the same; if it fails it has been waited for
 */
int boost_command_go(struct child *child, const char *name, int *code, struct kjoule_error *err);
/** boost_command_let_end() - asks it to end and gives it time to clean up. Return: it has ended */
bool boost_command_let_end(struct child *child);

/**
 * struct boost_command_load - a command that runs as long as a load is wanted
 * @user:	whom it runs as; NULL: who we are
 * @cpus:	where it may run; NULL: anywhere
 * @runs:	now
 * @times:	that it was started
 * @failed:	its exit code
 * @guard,@group: who ends it if this process is killed, and what that is, in memory of both: its
 *		process group, 0 while there is none; NULL: no one does
 */
struct boost_command_load {
	char **command;
	const sigset_t *mask;
	const struct kjoule_user *user;
	const struct kjoule_cpus *cpus;
	struct child child;
	bool runs;
	unsigned int times;
	int failed;
	struct guardian guard;
	pid_t *group;
};

/**
 * boost_command_load_open() - have it ended if this process is killed; to be called while that has
 *			       little memory, as the process that does so gets a copy. What is
 *			       started without it goes on then.
 * Return: 0 or -errno with the reason in @err
 */
int boost_command_load_open(struct boost_command_load *l, struct kjoule_error *err);
/** boost_command_load_close() - end it, if it runs, and the guardian, if there is one */
void boost_command_load_close(struct boost_command_load *l);
/**
 * boost_command_load_tend() - see to it that it runs, or that neither it nor anything it has
 * started does
 * Return: 0 or -errno with the reason in @err; -ECHILD if it has failed
 */
int boost_command_load_tend(struct boost_command_load *l, bool work, struct kjoule_error *err);
/** boost_command_load_is() - does a process belong to it? One that is gone, while it runs, did. */
bool boost_command_load_is(const struct boost_command_load *l, pid_t pid);

/*
 * A load and what the machine does meanwhile
 */

/**
 * struct boost_lab - what an experiment works with
 * @signal:	that ended it, 0: none did
 */
struct boost_lab {
	const struct boost_options *opt;
	struct boost_limits limits;
	struct boost_watch *watch;
	struct cpu_load *load;		/* NULL: it is the command */
	struct boost_command_load command;
	struct kjoule_cpus cpus;
	unsigned int loaded;		/* CPUs that the load keeps busy */
	sigset_t ends, before;
	bool progress;
	int signal;
};

/** boost_lab_open() - Return: 0, or the exit code after saying why */
int boost_lab_open(const struct boost_options *opt, struct boost_lab *lab);
/**
 * boost_lab_close() - also of one that was not opened as a whole
 * @code:	the exit code that there would be
 * Return: the exit code: that of a signal that came, or of the command that failed, before @code
 */
int boost_lab_close(struct boost_lab *lab, int code);

/**
 * boost_lab_spend() - let time go by, with or without the load
 * @part:	of the time that the load works, 0: rest
 * @seconds:	at most
 * @what:	is done, for who looks on
 * @enough:	may it end now? NULL: no
 * @from_s,@to_s: out: when that was, by the watch's clock; may be NULL
 * Return: 0, -EINTR after a signal, or -errno with the reason in @err
 */
int boost_lab_spend(struct boost_lab *lab, double part, double seconds, const char *what,
		    bool (*enough)(struct boost_lab *lab, double from_s, void *arg), void *arg,
		    double *from_s, double *to_s, struct kjoule_error *err);

/**
 * boost_lab_load() - what the load is, for people: "2 threads of saxpy", or the command.
 * Return: @buf
 */
const char *boost_lab_load(const struct boost_lab *lab, char *buf, size_t len);
/** boost_lab_load_json() - the same for programs: load, threads, starts */
void boost_lab_load_json(const struct boost_lab *lab, struct json_object *o);
/**
 * boost_lab_forget_s() - how long to idle until what the chip remembers is nothing; @asked_s: if it
 * is not NAN
 */
double boost_lab_forget_s(const struct boost_lab *lab, double asked_s);
/**
 * boost_lab_clean() - idle until what the chip remembers is nothing: --idle, or five time constants
 * of powercap's limit
 * @idle:	out: what the second half of it was like
 * Return: as boost_lab_spend()
 */
int boost_lab_clean(struct boost_lab *lab, struct boost_level *idle, struct kjoule_error *err);
/**
 * boost_lab_course() - load the machine until it has slowed down and stayed so for as long as it
 * was fast
 * Return: as boost_lab_spend()
 */
int boost_lab_course(struct boost_lab *lab, struct boost_course *c, double *from_s, double *to_s,
		     struct kjoule_error *err);

/* The two speeds of a chip, and how long a boost lasts from a clean history. */
struct boost_speeds {
	double boosted, sustained, tb_s;
	bool by_work;			/* speeds are those of the load's work, not frequencies */
};

struct boost_speeds boost_speeds_of(const struct boost_course *c);
/**
 * boost_lab_until_slow() - load the machine until it has been at its sustained speed for a while;
 * four boosts at most
 * @part:	of the time that the load works
 * @boost_s:	out: for how long it was faster; NAN: it never got slow
 * Return: as boost_lab_spend()
 */
int boost_lab_until_slow(struct boost_lab *lab, const struct boost_speeds *speeds, double part,
			 const char *what, double *from_s, double *to_s, double *boost_s,
			 struct kjoule_error *err);

/**
 * boost_lab_no_boost() - say why there is no boost that ends, as far as that is known
 * Return: the exit code
 */
int boost_lab_no_boost(const struct boost_lab *lab, const struct boost_course *c);
/** boost_lab_save() - all slices as CSV. Return: 0, or the exit code after saying why */
int boost_lab_save(struct boost_lab *lab, const char *path);

/**
 * struct boost_drawn - a load in a picture
 * @begin_s:	from when on it is drawn
 * @from_s,@to_s: when it began, which is zero in the picture, and ended
 * @boost_s:	for how long it boosted; NAN: it is not marked
 */
struct boost_drawn {
	const char *name;
	double begin_s, from_s, to_s, boost_s;
};

/**
 * boost_draw() - power, frequency and temperature over their time, with a file of the data
 * @left_s:	where the picture begins
 * Return: 0, or the exit code after saying why
 */
int boost_draw(struct boost_lab *lab, const char *path, const struct boost_drawn *drawn, size_t n,
	       double left_s);
/** boost_draw_slices() - the same of slices, in order. @load: what they are of, for people */
int boost_draw_slices(const char *path, bool force, const char *load, const struct boost_slice *s,
		      size_t n_s, const struct boost_drawn *drawn, size_t n, double left_s);

/*
 * A fan that is slowed down for a while
 */

/**
 * struct boost_fan - one
 * @path:	its value in sysfs, such as hwmon's pwm1; "": there is none
 * @before:	that value
 * @slowed:	it has another one
 */
struct boost_fan {
	struct guardian guard;
	char path[256], before[32];
	bool slowed;
};

/**
 * boost_fan_open() - read its value, and have it given back whatever comes.
 * Return: 0 or -errno with the reason in @err
 */
int boost_fan_open(const char *path, struct boost_fan *fan, struct kjoule_error *err);
/**
 * boost_fan_set() - write it.
 * Return: the same; -EBUSY if the value did not stay: then it is as it was, or as the chip wants it
 */
int boost_fan_set(struct boost_fan *fan, unsigned int value, struct kjoule_error *err);
/** boost_fan_reset() - as it was, if it is not. Return: the same */
int boost_fan_reset(struct boost_fan *fan, struct kjoule_error *err);
/**
 * boost_fan_close() - after that: one that is still slowed down is given back, by the guardian if
 *		       that fails here, which is warned of; also of one that was not opened, with
 *		       guard.fd -1
 */
void boost_fan_close(struct boost_fan *fan);

int boost_trace(const struct boost_options *opt);
int boost_window(const struct boost_options *opt);
int boost_cause(const struct boost_options *opt);
int boost_plan(const struct boost_options *opt);
int boost_run(const struct boost_options *opt);

#endif /* KJOULE_BOOST_CMD_H */
