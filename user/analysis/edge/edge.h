/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edge-synchronised model: the power of blocks shorter than the counter's update period, from
 * windows that begin at an update and end with all CPUs paused until a later one
 * (kmod/method/edge/edge.c). Pure.
 */
#ifndef KJOULE_EDGE_H
#define KJOULE_EDGE_H

#include "analysis/cpm/cpm.h"
#include "analysis/stats/interval.h"

struct kjoule_session_info;

/**
 * struct edge_window - from an update of the counter to a later one
 * @seek_ns: CLOCK_MONOTONIC when the leading CPU began to wait for the first update; @from_ns if it
 *   did not
 * @from_ns,@b_ns: when the CPUs ran
 * @paused_ns: how long they were paused after that
 * @before_ns: and before, from the update until they ran
 * @uj: energy of all of it, by the counter
 * @spin: they were paused all the time
 * @failed: of no use, but the CPUs were paused
 */
struct edge_window {
	uint64_t seek_ns, from_ns, b_ns, paused_ns, before_ns;
	double uj;
	bool spin, failed;
};

/**
 * struct edge_input - windows, and what ran in them
 * @session: has the times of ticks
 * @vectors: of the package, from all of its ticks
 * @windows: in order
 * @tick: part of a busy CPU's time in its ticks, and @other, of the rest, in other interrupts
 * @irq_w: power of interrupts; NAN: unknown, then that of the interrupted code
 * @irq_error: relative uncertainty of these
 * @ticks_most: limit of ticks that are read; 0: EDGE_TICKS_MOST
 */
struct edge_input {
	const struct kjoule_session_info *session;
	const struct cpm_vectors *vectors;
	const struct edge_window *windows;
	size_t n_windows;
	double tick, other;
	double irq_w, irq_error;
	size_t ticks_most;
};

/* Ticks that the model reads, of 16 bytes each: half an hour at 10 kHz. */
#define EDGE_TICKS_MOST	(1u << 24)

/* With fewer windows, or a smaller part of their time, a vector has no power. */
#define EDGE_WINDOWS_LEAST	30

/* Shorter runs, in ticks, are not followed: the power would be the neighbours'. */
#define EDGE_TICKS_LEAST	3.0

/* Why there is no power. */
enum edge_why {
	EDGE_KNOWN,
	EDGE_SCARCE,	/* too few windows, or less than 1 % of their time */
	EDGE_SHORT,	/* runs of fewer than EDGE_TICKS_LEAST ticks */
	EDGE_ALIKE,	/* inseparable: about the same part of each window as others */
};

/**
 * struct edge_result - the solution
 * @spin_w: power while all CPUs are paused
 * @windows,@spins: used, of each kind
 * @wild,@wild_spins: outliers, left out (analysis/stats/outliers.h)
 * @unknown_w: joint power of all vectors without an own one; NAN: none
 * @extra_uj: constant energy of a window: its own interrupts
 * @residual_uj: standard deviation of the windows from the model
 * @n_vectors: as in the vectors
 * @w: power of each vector without interrupts, with its interval; NAN: unknown
 * @own_w,@unknown_own_w: half of the own part of these intervals; the paused power and interrupts
 *   have the same error in all, see edge_irq_off()
 * @why: enum edge_why of each
 * @ticks: mean length of each one's runs, in intervals
 */
struct edge_result {
	struct value spin_w;
	size_t windows, spins, wild, wild_spins;
	struct value unknown_w;
	double unknown_own_w;
	double extra_uj, residual_uj;
	uint32_t n_vectors;
	struct value *w;
	double *own_w;
	uint8_t *why;
	double *ticks;
};

/**
 * edge_solve() - power of the vectors by least squares over the windows
 *
 * For window j: E_j - P_spin paused_j = sum_v P_v t_jv + extra. The times t_jv come from the ticks
 * and the lengths of runs (analysis/stats/changes.h), on a clock that stops while the CPUs are
 * paused, so that the program goes on from one window into the next. Ticks of such sessions are
 * delayed at random by half of the interval or more, so that ticks and blocks do not keep step.
 * Intervals are of the sandwich kind, and include the uncertainty of the paused power and of
 * interrupts.
 *
 * Return: 0; -ENODATA: too few windows, or none with only paused CPUs; -EFBIG: too many ticks;
 *   -ENOMEM
 */
int edge_solve(const struct edge_input *in, struct edge_result *r);
void edge_free(struct edge_result *r);
/** edge_irq_part() - part of a busy CPU's time in interrupts, 0 if their power is unknown */
double edge_irq_part(const struct edge_input *in);
/** edge_irq_off() - error in watts of a power @w because of @irq_error */
double edge_irq_off(const struct edge_input *in, double w);

#endif /* KJOULE_EDGE_H */
