/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes each CPU's records to samples with full tick numbers, gaps, losses and energy readings.
 * Pure: works on buffers.
 */
#ifndef KJOULE_TIMELINE_H
#define KJOULE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/kjoule.h>
#include "lib/base/hash_index.h"

#define TIMELINE_NO_TASK	UINT32_MAX	/* the sample was lost */

struct kjoule_session_info;

/* Records that follow a sample; their buffer must stay. */
struct timeline_callers {
	const struct kjoule_chain *chain;	/* NULL: none */
	const struct kjoule_stack *stack;	/* NULL: none */
	uint32_t took_ns;			/* length of the tick, 0: unknown */
};

struct timeline_sample {
	uint64_t tick;
	uint64_t ip;
	uint32_t pid, tgid;
	uint32_t freq_khz;	/* 0: unknown */
	uint32_t late_ns;
	uint32_t callers;	/* index + 1 into those of the CPU, 0: none */
	uint8_t flags;		/* KJOULE_SAMPLE_* */
};

/* Ticks [first, first + count) did not happen. */
struct timeline_gap {
	uint64_t first, count;
	bool offline;		/* because the CPU was */
	bool suspended;		/* because the machine was */
};

/* Ticks [first, first + count) were skipped because the CPU was idle, from @begin_ns to @end_ns. */
struct timeline_skipped {
	uint64_t first, count;
	uint64_t begin_ns, end_ns;
};

/* Records were lost between the ticks @from and @to (both may also have others). */
struct timeline_hole {
	uint64_t from, to;
	uint64_t samples;	/* number of lost samples, if @known */
	bool known;
};

/*
 * @tick is the first one due after the reading: a counter is read before the tick's sample is
 *   taken. The reading divides the ticks before it from the later ones, wherever in the interval it
 *   was made.
 */
struct timeline_reading {
	uint64_t tick;
	uint64_t time_ns;	/* CLOCK_MONOTONIC; 0 without a session */
	int64_t value;		/* in the unit of the domain's quantity */
};

#define TIMELINE_NO_SCOPE	UINT32_MAX	/* without the task that it belongs to */

/* A source's domain in one scope, by the lowest CPU that shares the counters. */
struct timeline_series {
	uint32_t source, domain, scope;
	uint32_t quantity;	/* enum kjoule_quantity */
	size_t n;
	struct timeline_reading *readings;
};

/*
 * A CPU's part in a window from update to update, see struct kjoule_window. It waited for the
 * update from @seek_ns on, ran from @from_ns to @b_ns and was paused then, at @ip, until @c_ns.
 * Energies are the leader's only.
 */
struct timeline_window {
	uint32_t number;
	uint16_t scope, domain;
	uint64_t seek_ns, a_ns, from_ns, b_ns, c_ns;
	uint64_t a_uj, c_uj;
	uint64_t ip;
	uint32_t pid, tgid;
	uint8_t flags;		/* KJOULE_SAMPLE_*, KJOULE_WINDOW_* */
};

/*
 * @samples: of timeline_add(); a walk that does not keep them reads them again
 * @clocked,@slowness: samples with a frequency, and the sum of its inverse
 */
struct timeline_cpu {
	uint32_t cpu, package;
	size_t n_samples, n_gaps, n_skipped, n_holes, n_callers, n_windows, n_readings;
	struct timeline_sample *samples;
	struct timeline_gap *gaps;
	struct timeline_skipped *skipped;
	struct timeline_hole *holes;
	struct timeline_callers *callers;
	struct timeline_window *windows;
	struct kjoule_vpm_reading *readings;
	uint64_t next_tick;	/* after the last that was seen */
	uint64_t clocked;
	double slowness;
};

/* @session: set by the caller before anything is added; NULL: no times, all values are energies */
struct timeline {
	const struct kjoule_session_info *session;
	size_t n_cpus, n_series;
	struct timeline_cpu *cpus;
	struct timeline_series *series;
	struct kjoule_hash_index series_index;	/* by source, domain and scope */
	uint64_t end_tick;	/* after the last that was seen on any CPU */
	uint64_t disorder;	/* records with an impossible tick, left out */
	uint64_t damaged;	/* bytes after content that was no record */
	uint64_t backwards;	/* readings below the one before, left out */
	uint32_t max_late_ns;
	/* difference of delays at one tick between CPUs, of the ticks that two or more took */
	uint64_t skew_ticks;
	uint32_t max_skew_ns, p99_skew_ns;
};

/**
 * timeline_add() - decode a CPU's records; once for each CPU
 * @max_tick: the largest possible tick (from the counters); UINT64_MAX if unknown
 * Return: 0 or -ENOMEM
 */
int timeline_add(struct timeline *tl, uint32_t cpu, uint32_t package, const void *records,
		 size_t len, uint64_t max_tick);

/* Iterates over a CPU's records, for when there are too many to store. */
struct timeline_walk;

/**
 * timeline_walk_new() - begin with a CPU, each once
 * @keep: store samples in the timeline
 * Return: 0 or -ENOMEM
 */
int timeline_walk_new(struct timeline *tl, uint32_t cpu, uint32_t package, uint64_t max_tick,
		      bool keep, struct timeline_walk **w);
/**
 * timeline_walk_again() - for samples only, into a timeline of no other use. Return: 0 or -ENOMEM
 */
int timeline_walk_again(struct timeline *tl, uint64_t max_tick, struct timeline_walk **w);
/** timeline_walk_record() - Return: 1 for a valid sample, else 0 or -ENOMEM */
int timeline_walk_record(struct timeline_walk *w, const struct kjoule_record *rec);
/** timeline_walk_sample() - the last one, unless it was stored */
const struct timeline_sample *timeline_walk_sample(const struct timeline_walk *w);
/**
 * timeline_walk_samples() - a batch of samples of a walk that does not store them
 * @out: room for @n valid ones
 * Return: how many
 */
size_t timeline_walk_samples(struct timeline_walk *w, const struct kjoule_sample *recs, size_t n,
			     struct timeline_sample *out);
/** timeline_walk_end() - after the last record, and before timeline_free() */
void timeline_walk_end(struct timeline_walk *w);

/* Ticks in which the skew is looked for at a time. */
#define TIMELINE_SLICE	1024

/*
 * Differences of delays of CPUs at one tick. For slices of ticks in order: timeline_skew_slice(),
 * timeline_skew_put() for each CPU's samples from there on, timeline_skew_count(), which may fail
 * with -ENOMEM; at the end the timeline gets the figures.
 */
struct timeline_skew;

struct timeline_skew *timeline_skew_new(void);
void timeline_skew_slice(struct timeline_skew *s, uint64_t from);
void timeline_skew_put(struct timeline_skew *s, uint64_t tick, uint32_t late_ns);
/**
 * timeline_skew_samples() - timeline_skew_put() for a batch of a CPU's; @next: the tick after its
 * last, 0 at first
 */
void timeline_skew_samples(struct timeline_skew *s, const struct timeline_sample *samples, size_t n,
			   uint64_t *next);
int timeline_skew_count(struct timeline_skew *s, struct timeline *tl);
void timeline_skew_end(struct timeline_skew *s, struct timeline *tl);
/** timeline_skew_find() - all of it, of stored samples */
void timeline_skew_find(struct timeline *tl);

/** timeline_due() - CLOCK_MONOTONIC at which tick @tick of a session is due, jitter included */
uint64_t timeline_due(const struct kjoule_session_info *s, uint64_t tick);
/** timeline_first() - the first tick that is due at a time or after it */
uint64_t timeline_first(const struct kjoule_session_info *s, uint64_t time_ns);
/** timeline_finish() - after the last CPU: sort readings, find the skew of stored samples */
void timeline_finish(struct timeline *tl);
/**
 * timeline_cut() - keep the ticks [from, to) only, counted from 0 then
 * @session: the timeline's: moved as well
 *
 * Nothing outside counts as recorded, but for totals of the decoding: damage, delays, skew. After
 * timeline_finish(), which is not to be called again.
 */
void timeline_cut(struct timeline *tl, struct kjoule_session_info *session, uint64_t from,
		  uint64_t to);
/** timeline_away() - ticks of a CPU that did not happen: offline, or the machine suspended */
uint64_t timeline_away(const struct timeline_cpu *cpu, bool suspended);
void timeline_free(struct timeline *tl);

#endif /* KJOULE_TIMELINE_H */
