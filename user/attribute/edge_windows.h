/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edge windows of a recording, for the model (analysis/edge.c), and when each CPU was held. Between the timeline
 * and the blocks.
 */
#ifndef KJOULE_EDGE_WINDOWS_H
#define KJOULE_EDGE_WINDOWS_H

#include "analysis/edge/edge.h"
#include "analysis/ticks/timeline.h"

/* Those of a counter, by time; none overlaps another. */
struct edge_windows_scope {
	uint32_t scope, domain;
	size_t n;
	struct edge_window *windows;
};

/* A CPU was held from @from_ns until before @to_ns. */
struct edge_windows_pause {
	uint64_t from_ns, to_ns;
};

/* By time; none overlaps another. */
struct edge_windows_cpu {
	size_t n;
	struct edge_windows_pause *pauses;
};

/* @cpus: as those of the timeline; @left_out: windows that make no sense */
struct edge_windows {
	size_t n, n_cpus;
	struct edge_windows_scope *scopes;
	struct edge_windows_cpu *cpus;
	uint64_t left_out;
};

/* No window is longer: of the slowest counter, with all the waits that the module allows itself. */
#define EDGE_WINDOWS_LONGEST_NS	2560000000ull

/**
 * struct edge_windows_cost - what interrupts take around a hold; 0: not known
 * @entry_ns:	entry and exit of one together: half of it passes after the last look at the clock until the
 *		program goes on, half before the first one when it is held again
 * @tick_ns:	a tick: those that were due in the hold come as one, right after it
 * @other:	part of the time that other interrupts take
 * @other_hz:	how many of them there are in a second. After a hold there is at most one: a timer that has expired
 *		several times meanwhile interrupts once
 */
struct edge_windows_cost {
	double entry_ns, tick_ns, other, other_hz;
};

/**
 * edge_windows_new() - put the windows of each counter together
 * @tl:		with its session
 * Return: 0 or -ENOMEM; none is no error
 */
int edge_windows_new(const struct timeline *tl, const struct edge_windows_cost *cost, struct edge_windows *w);
void edge_windows_free(struct edge_windows *w);
/** edge_windows_of() - those that a CPU took part in, NULL if it did not */
const struct edge_windows_scope *edge_windows_of(const struct edge_windows *w, const struct timeline_cpu *cpu);
/**
 * edge_windows_next() - the hold of a CPU that a time is in, or the next one
 * @at:		0 at first; for times that only grow
 * Return: NULL if there is none any more
 */
const struct edge_windows_pause *edge_windows_next(const struct edge_windows_cpu *c, uint64_t time_ns, size_t *at);
/** edge_windows_is_paused() - was the CPU held at a time? @at: as there */
bool edge_windows_is_paused(const struct edge_windows_cpu *c, uint64_t time_ns, size_t *at);

#endif /* KJOULE_EDGE_WINDOWS_H */
