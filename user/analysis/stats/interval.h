/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 95 % intervals for times, means and sums. Pure functions. */
#ifndef KJOULE_INTERVAL_H
#define KJOULE_INTERVAL_H

#include "analysis/cpm/cpm.h"

/* A figure with its 95 % interval; NAN: unknown. */
struct value {
	double v, lo, hi;
};

/** interval_t() - quantile of Student's t for a two-sided 95 % interval; @dof > 0 */
double interval_t(double dof);

/*
 * The latest runs of a group on a CPU: of @ran ticks up to @end, after a gap of @gap ticks, and one
 * of @before ticks before that.
 */
struct interval_past {
	uint64_t before, gap, ran, end;
};

/**
 * struct time_sum - time of a group of blocks, in ticks
 * @ticks: all its ticks, interpolated ones included
 * @real: samples
 * @fine: edges of runs, or of gaps between them, that are too short for the ticks
 * @coarse: edges between runs and gaps of at least INTERVAL_RESOLVED ticks, or INTERVAL_PIECE
 *   between such ones
 * @variance: of @ticks: see interval_times()
 * @past: while a stream is added
 */
struct time_sum {
	double ticks, real;
	uint64_t fine, coarse;
	double variance;
	struct interval_past past;
};

#define INTERVAL_RESOLVED	4
#define INTERVAL_PIECE		2

/**
 * interval_times() - times of groups of blocks with their variance
 * @end_tick: after the last tick of the recording
 * @jitter: most random delay of ticks, in intervals
 *
 * ALEA's time estimate (equation 1) is a systematic sample: blocks longer than the interval are hit
 * by every tick and only the ends of their runs are uncertain, each uniformly within one tick:
 * variance 1/12 an edge, and that of the tick's own place with jitter, (1 + jitter^2) / 12. Ticks
 * do not resolve runs or gaps of a few ticks; for them half a squared successive difference, which
 * is 1/2 an edge, is right if samples are independent (it then is the binomial variance) and too
 * wide otherwise. Interpolated ticks between two blocks add the variance of where in the gap one
 * followed the other.
 *
 * Return: 0 or -ENOMEM
 */
int interval_times(const struct cpm_stream *streams, size_t n_streams, uint64_t end_tick,
		   double jitter, const uint32_t *group_of, uint32_t n_groups,
		   struct time_sum *out);

/** interval_time() - the interval, in ticks. Poisson's for few samples, all apart */
struct value interval_time(const struct time_sum *t);

/* The same for many groupings at once, and a mean: each stream's entries in order. */

/* A run of ticks of one group on one CPU. */
struct interval_run {
	uint32_t group;
	uint64_t len;
};

/* State for a stream; @sums: of the groups, added to. */
struct interval_stream {
	struct time_sum *sums;
	uint32_t n_groups;
	double coarse_variance;		/* of an edge, in squared ticks */
	struct interval_run now;
	uint64_t interpolated;		/* interpolated ticks in a row so far */
	uint32_t interpolated_group;		/* the group of the first of them */
	bool interpolated_changed;
	uint32_t last;			/* group of the entry before */
	uint64_t next;
};

/**
 * struct interval_entry - an entry of a stream
 * @weight: of its value, 0: it has none
 * @weighted: the value times that
 */
struct interval_entry {
	struct cpm_tick t;
	double weight, weighted;
};

void interval_stream_begin(struct interval_stream *l, struct time_sum *sums, uint32_t n_groups,
			   double jitter);
void interval_stream_add(struct interval_stream *l, const uint32_t *group_of,
			 const struct interval_entry *e, size_t n);
void interval_stream_end(struct interval_stream *l, uint64_t end_tick);

#define INTERVAL_BATCHES	32

/*
 * The mean of a group's values, one for each sampled tick of an entry. Its interval is from the
 * means of up to 32 batches of consecutive samples, because these are not independent. Their number
 * @n must be known in advance.
 */
struct interval_mean {
	uint64_t n, seen, until;
	uint64_t at;			/* current batch: */
	double batch, batch_weight;
	double sum, weight;
	struct {
		double sum, weight;
	} batches[INTERVAL_BATCHES];	/* those before it */
};

/**
 * interval_mean_add() - @n more values, all of them those of @e
 *
 * Each is added by itself: sums do not depend on how they were packed.
 */
void interval_mean_add(struct interval_mean *m, const struct interval_entry *e, uint64_t n);
/** interval_mean() - NAN without any value */
struct value interval_mean(const struct interval_mean *m);

/**
 * interval_weight() - weight of a frequency in a group's mean
 * @lost: of interrupts: @lost / value is the part of a sample's interval that is not the group's
 *   own. They take longer on a slower CPU
 */
double interval_weight(double value, double lost);

#endif /* KJOULE_INTERVAL_H */
