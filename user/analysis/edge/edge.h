/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edge-synchronised model: the power of blocks that are shorter than the time between two
 * moves of an energy counter, from windows that begin at a move and end with all CPUs held until
 * a later one (kmod/method/edge/edge.c). Pure.
 */
#ifndef KJOULE_EDGE_H
#define KJOULE_EDGE_H

#include "analysis/cpm/cpm.h"
#include "analysis/stats/interval.h"

struct kjoule_session_info;

/**
 * struct edge_window - from a move of the counter to a later one
 * @seek_ns:	CLOCK_MONOTONIC from which on the CPU that leads looked for the first move; @from_ns if it did not
 * @from_ns,@b_ns: when the CPUs ran
 * @paused_ns:	how long they were held from then on
 * @before_ns:	and before, from the counter's move until they ran
 * @uj:		what the counter says of all of it
 * @spin:	they were held all the time
 * @failed:	of no use, but the CPUs were held
 */
struct edge_window {
	uint64_t seek_ns, from_ns, b_ns, paused_ns, before_ns;
	double uj;
	bool spin, failed;
};

/**
 * struct edge_input - windows, and what ran in them
 * @session:	when which tick was due
 * @vectors:	of the package, from all of its ticks
 * @windows:	in order
 * @tick:	part of a busy CPU's time that its ticks take, and @other, of the rest, other interrupts
 * @irq_w:	power meanwhile; NAN: not known, then that of the code they interrupt
 * @irq_error:	how far off these may be, as a part of them
 * @ticks_most:	that are looked at; 0: EDGE_TICKS_MOST
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

/* Ticks of a recording that the model looks at, of 16 bytes each: half an hour at 10 kHz. */
#define EDGE_TICKS_MOST	(1u << 24)

/* Fewer windows than this with a vector in them, or less of its time, say nothing of its power. */
#define EDGE_WINDOWS_LEAST	30

/* A block of fewer ticks than this at a time is not followed by them: its power would be its neighbours'. */
#define EDGE_TICKS_LEAST	3.0

/* Why there is no power. */
enum edge_why {
	EDGE_KNOWN,
	EDGE_SCARCE,	/* too few windows, or less than 1 % of their time */
	EDGE_SHORT,	/* shorter than EDGE_TICKS_LEAST ticks at a time */
	EDGE_ALIKE,	/* it cannot be told from others: it is about the same part of each window */
};

/**
 * struct edge_result - what the windows tell
 * @spin_w:	power while all CPUs are held
 * @windows,@spins: of each kind that were of use
 * @wild,@wild_spins: left out, because they differ from all others by too much (analysis/stats/outliers.h)
 * @unknown_w:	power of all vectors whose own is not told, together; NAN: there are none
 * @extra_uj:	what a window has besides: its own interrupts
 * @residual_uj: standard deviation of the windows from the model
 * @n_vectors:	as in the vectors
 * @w:		power of each vector without interrupts, with its interval; NAN where it is not known
 * @own_w,@unknown_own_w: half of that of @w and @unknown_w as far as it is its own: what spinning draws is as far off for all
 *		of them, and so are interrupts, see edge_irq_off()
 * @why:	enum edge_why of each
 * @ticks:	mean length of each one's runs, in intervals
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
 * For window j: E_j - P_spin held_j = sum_v P_v t_jv + extra. The times t_jv come from the ticks, and
 * from how long each vector lasts (analysis/stats/changes.h): on a clock that stands while the CPUs are held, the program
 * goes on from one window into the next. Sessions with windows jitter their ticks by half of the
 * interval and more, so that ticks and blocks do not keep step. The intervals are of the sandwich
 * kind, and have in them what is not known of the spinning and of the interrupts.
 *
 * Return: 0; -ENODATA with too few windows, or none of held CPUs alone; -EFBIG with more ticks than are looked at; -ENOMEM
 */
int edge_solve(const struct edge_input *in, struct edge_result *r);
void edge_free(struct edge_result *r);
/** edge_irq_part() - part of a busy CPU's time that interrupts take, 0 where their power is not known */
double edge_irq_part(const struct edge_input *in);
/** edge_irq_off() - watts by which a power of @w is off if interrupts take as much more as they may, see @irq_error */
double edge_irq_off(const struct edge_input *in, double w);

#endif /* KJOULE_EDGE_H */
