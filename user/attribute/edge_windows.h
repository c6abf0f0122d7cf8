/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edge windows of a recording, for the model (analysis/edge/edge.c), and when each CPU was
 * paused. Between the timeline and the blocks.
 */
#ifndef KJOULE_EDGE_WINDOWS_H
#define KJOULE_EDGE_WINDOWS_H

#include "analysis/edge/edge.h"
#include "analysis/ticks/timeline.h"

/* Those of a counter, by time, without overlap. */
struct edge_windows_scope {
	uint32_t scope, domain;
	size_t n;
	struct edge_window *windows;
};

/* A CPU was paused from @from_ns until before @to_ns. */
struct edge_windows_pause {
	uint64_t from_ns, to_ns;
};

/* By time, without overlap. */
struct edge_windows_cpu {
	size_t n;
	struct edge_windows_pause *pauses;
};

/* @cpus: as those of the timeline; @left_out: impossible windows */
struct edge_windows {
	size_t n, n_cpus;
	struct edge_windows_scope *scopes;
	struct edge_windows_cpu *cpus;
	uint64_t left_out;
};

/* The longest possible window: of the slowest counter, with all waits of the module. */
#define EDGE_WINDOWS_LONGEST_NS	2560000000ull

/**
 * struct edge_windows_cost - cost of interrupts around a pause; 0: unknown
 * @entry_ns: entry and exit of one together: half of it passes between the last read of the clock
 *   and the program, half before the first one of the next pause
 * @tick_ns: a tick: those due in the pause come as one, right after it
 * @other: part of the time in other interrupts
 * @other_hz: their frequency. After a pause there is at most one: a timer that has expired several
 *   times interrupts once
 */
struct edge_windows_cost {
	double entry_ns, tick_ns, other, other_hz;
};

/**
 * edge_windows_new() - find the windows of each counter
 * @tl: with its session
 * Return: 0 or -ENOMEM; none is no error
 */
int edge_windows_new(const struct timeline *tl, const struct edge_windows_cost *cost,
		     struct edge_windows *w);
void edge_windows_free(struct edge_windows *w);
/** edge_windows_of() - those that a CPU took part in, NULL if it did not */
const struct edge_windows_scope *edge_windows_of(const struct edge_windows *w,
						 const struct timeline_cpu *cpu);
/**
 * edge_windows_next() - the pause of a CPU at a time, or the next one
 * @at: 0 at first; for times that only grow
 * Return: NULL at the end
 */
const struct edge_windows_pause *edge_windows_next(const struct edge_windows_cpu *c,
						   uint64_t time_ns, size_t *at);
/** edge_windows_is_paused() - was the CPU paused at a time? @at: as there */
bool edge_windows_is_paused(const struct edge_windows_cpu *c, uint64_t time_ns, size_t *at);

#endif /* KJOULE_EDGE_WINDOWS_H */
