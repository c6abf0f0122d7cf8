/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kjoule latency: how long changes of a CPU's frequency take. cmd_latency.c has what was asked for,
 * run.c the order of things, level.c what a loop takes, engine_kernel.c and engine_user.c two ways
 * to time loops, print.c and plot.c what is shown; analysis/transition.h what the times mean.
 */
#ifndef KJOULE_LATENCY_H
#define KJOULE_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/transition/transition.h"
#include "lib/machine/frequency.h"
#include "machine/frequency_guard.h"
#include "output/output.h"

/* Loops of a calibration, as in the paper. */
#define LATENCY_CALIBRATE	10000

/* Loops before a request, at least. */
#define LATENCY_LEAD		16

/* Loops after a request, at most. */
#define LATENCY_LOOPS_MOST	32768

/* Frequencies of one measurement. */
#define LATENCY_FREQUENCIES	64

enum latency_way { LATENCY_WAY_FAST, LATENCY_WAY_LIMITS };

/**
 * struct latency_options - what was asked for
 * @khz:	frequencies; every one from and to every other. None: all that there are
 * @pair:	only from the first of them to the second
 * @repeats:	good tries of each pair
 * @adds:	in a loop; 0: as many as are needed
 * @way_given:	requests are to be made so; else as the driver can do it
 * @load:	other CPUs are kept busy meanwhile
 * @related:	other CPUs have the same frequencies meanwhile
 * @output:	also write all that was measured there
 * @plot,@plot_series: pictures; NULL: none
 * @force:	their data may replace others
 */
struct latency_options {
	unsigned int cpu;
	uint32_t khz[LATENCY_FREQUENCIES];
	size_t n_khz;
	bool pair;
	uint32_t repeats, adds;
	uint64_t timeout_ns, slice_ns;
	bool way_given, related, quiet;
	unsigned int user_engine, load;	/* 0 or 1 */
	enum latency_way way;
	enum output_format format;
	const char *output, *plot, *plot_series;
	bool force;
};

/*
 * What the CPU's counters said of a loop: its cycles (APERF), and what a reference counted
 * meanwhile (MPERF).
 */
struct latency_counted {
	uint32_t cycles, reference;
};

/**
 * struct latency_loops - loops as they were timed
 * @counted:	of each, NULL: there is no such counter, or it could not be read
 * @counter:	source that these are from; @reference_khz: at which its reference counts
 * @asked_ns:	of the request, CLOCK_MONOTONIC
 * @irqs_off_ns: the longest time with interrupts off, 0: they never were; @irqs_off_from_ns: when
 *               it began, CLOCK_MONOTONIC
 * @done:	all that were wanted
 */
struct latency_loops {
	struct transition_loop *list;
	struct latency_counted *counted;
	char counter[32];
	uint64_t reference_khz;
	size_t n;
	double request_ns;
	uint64_t asked_ns, irqs_off_ns, irqs_off_from_ns;
	uint32_t cut;
	bool done;
};

/* A series to be timed. Times of a loop at either frequency are between these. */
struct latency_ask {
	uint32_t adds, from_khz, to_khz;
	uint32_t from_lo_ns, from_hi_ns, to_lo_ns, to_hi_ns;
	uint32_t lead, loops, confirm;
	uint64_t timeout_ns, slice_ns;
};

struct latency;

/**
 * struct latency_engine - a way to time loops; all return 0 or -errno with the reason in @err
 * @open:	be ready; @l->policy is known
 * @calibrate:	loops at @khz, @wait_ns after it was requested
 * @attempt:	loops around a change
 * @concurrent:	an attempt does not mind what this process does on other CPUs meanwhile
 * @close:	all is as it was before. Return: 0 or -errno: it is not
 */
struct latency_engine {
	const char *name;
	bool concurrent;
	int (*open)(struct latency *l, struct kjoule_error *err);
	int (*calibrate)(struct latency *l, uint32_t adds, uint32_t khz, uint32_t loops,
			 uint64_t wait_ns, struct latency_loops *to, struct kjoule_error *err);
	int (*attempt)(struct latency *l, const struct latency_ask *ask, struct latency_loops *to,
		       struct kjoule_error *err);
	int (*close)(struct latency *l, struct kjoule_error *err);
};

extern const struct latency_engine latency_kernel, latency_user;

/**
 * struct latency_frequency - one, and what loops at it tell
 * @gap_ns:	what usually passes from a loop's end to the next one's start
 * @counted_khz: by cycles of the source @counter; NAN: there are none
 * @why:	there is no level, and why not
 */
struct latency_frequency {
	uint32_t khz;
	struct transition_level level;
	double gap_ns, counted_khz;
	char counter[32];
	const char *why;
};

/**
 * struct latency_pair - a change
 * @tries:	@n of them
 * @series:	of each, with all loops
 * @verdicts:	of each, as the others make it
 * @result:	what they show
 * @apart:	are the two separable?
 * @elsewhere:	loops at them are not in the ratio of the frequencies: one of them is not what runs
 */
struct latency_pair {
	size_t from, to;		/* of struct latency's frequencies */
	struct transition_try *tries;
	struct latency_loops *series;
	enum transition_verdict *verdicts;
	size_t n;
	struct transition_pair result;
	enum transition_apart apart;
	bool elsewhere, measured;
};

/**
 * struct latency - a measurement
 * @policy:	of the CPU
 * @state:	the engine's own
 * @guard:	of limits of sysfs that are changed
 * @load:	of the other CPUs, NULL: none
 * @ahead:	tries while others are looked at, NULL: none
 * @way:	how frequencies are requested, in words
 * @irqs_off_ns: the longest time with interrupts off
 * @stopped:	by this signal; 0: it was not
 */
struct latency {
	const struct latency_options *opt;
	const struct latency_engine *engine;
	struct kjoule_frequency *frequency;
	const struct kjoule_policy *policy;
	void *state;
	struct guardian guard;
	struct cpu_load *load;
	struct latency_ahead *ahead;
	char way[64];
	uint32_t adds;
	struct latency_frequency f[LATENCY_FREQUENCIES];
	size_t n_f;
	struct latency_pair *pairs;
	size_t n_pairs;
	struct transition_trend up, down;
	uint64_t irqs_off_ns;
	double seconds;
	int stopped;
};

/** latency_run() - measure. Return: 0, also if some pairs failed; -errno with the reason in @err */
int latency_run(struct latency *l, struct kjoule_error *err);
void latency_free(struct latency *l);
/** latency_print() - Return: 0 or -errno */
int latency_print(const struct latency *l);
/** latency_why() - why a pair has no number, NULL: it has one */
const char *latency_why(const struct latency *l, const struct latency_pair *p);
/** latency_save() - all that was measured, as JSON. Return: 0 or -errno with the reason in @err */
int latency_save(const struct latency *l, const char *path, struct kjoule_error *err);
/**
 * latency_plot() - delays over the target frequency.
 * Return: 0 or -errno with the reason in @err
 */
int latency_plot(const struct latency *l, const char *path, struct kjoule_error *err);
/** latency_plot_series() - the loops around one change. Return: likewise */
int latency_plot_series(const struct latency *l, const char *path, struct kjoule_error *err);

void latency_loops_free(struct latency_loops *s);

/**
 * latency_level() - calibrate @f->khz with @loops loops of @adds.
 * Return: 0, @f->why if there is no level; -errno with the reason in @err
 */
int latency_level(struct latency *l, struct latency_frequency *f, uint32_t adds, uint32_t loops,
		  struct kjoule_error *err);
/** latency_choose_adds() - how many a loop has to have: @l->adds. Return: likewise */
int latency_choose_adds(struct latency *l, struct kjoule_error *err);
/** latency_is_ended() - has a signal asked for the end? */
bool latency_is_ended(void);

/**
 * latency_ahead_new() - a thread for tries, NULL: the engine does not bear it, or there is none to
 * be had
 */
struct latency_ahead *latency_ahead_new(struct latency *l);
/** latency_ahead_begin() - have a try; @ask stays until latency_ahead_end() */
void latency_ahead_begin(struct latency_ahead *a, const struct latency_ask *ask);
/** latency_ahead_end() - wait for it. Return: as of the engine's attempt */
int latency_ahead_end(struct latency_ahead *a, struct latency_loops *loops,
		      struct kjoule_error *err);
/** latency_ahead_free() - none is under way; @a may be NULL */
void latency_ahead_free(struct latency_ahead *a);
/** latency_load_start() - keep all other CPUs busy. Return: 0 or -errno with the reason in @err */
int latency_load_start(struct latency *l, struct kjoule_error *err);
void latency_load_end(struct latency *l);
/** latency_keep_away() - run on other CPUs than the one that is measured, if there are any */
void latency_keep_away(const struct latency *l);
/**
 * latency_others_at() - hold all other policies at @khz, so that they do not keep a common clock
 * up.
 * Return: likewise
 */
int latency_others_at(struct latency *l, uint32_t khz, struct kjoule_error *err);

#endif /* KJOULE_LATENCY_H */
