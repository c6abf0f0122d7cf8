/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by edge.c (which CPUs take part, start and stop) and window.c (the windows). */
#ifndef KJOULE_EDGE_WINDOW_H
#define KJOULE_EDGE_WINDOW_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>

#include "counter/counter.h"
#include "method/edge/edge.h"
#include "source/source.h"

/*
 * Minimum time until all CPUs know of the first window, and after a failed one: the leader polls in
 * the last of these periods. Not tuned: more only delays a window.
 */
#define KJOULE_EDGE_LEAD_PERIODS	3

struct edge_outcome {
	u64 begin_ns;
	u64 end_ns;
	bool failed;
};

/**
 * struct edge_cpu - a CPU that takes part
 * @timer:	expires when the CPU is to be paused; the leader's also to poll for the edge before
 * @work:	runs right after the timer
 * @edge:	of its package
 * @sampler:	writes the CPU's records
 * @number:	the next window that it takes part in
 * @run_ns:	it has run since then
 * @pause_ns:	it was paused at this time
 * @ip:		where it was paused
 * @flags:	of @ip
 * @arrived:	the last window in which it was paused; read by the leader
 * @paused_ns:	its total pause, with polling for edges
 * @paused_max_ns:	its longest pause
 */
struct edge_cpu {
	struct hrtimer timer;
	struct irq_work work;
	struct kjoule_edge *edge;
	struct kjoule_sampler *sampler;
	u32 number;
	u64 run_ns;
	u64 pause_ns;
	u64 ip;
	u8 flags;
	u32 arrived;
	u64 paused_ns;
	u64 paused_max_ns;
};

/**
 * struct kjoule_edge - the windows of one package
 * @edges:	of the session
 * @package:	which, as the source numbers them
 * @scope:	its lowest CPU in the session
 * @n:		how many CPUs take part
 * @leader:	one of them
 * @stopping:	waits end at once
 * @released:	the last window that is over
 * @outcome:	of the last two windows
 * @pause_at_ns:	when the CPUs are to be paused, of this window and the next
 * @failures:	failed windows in a row
 * @unsure:	the time of the last edge is not precise, or the counter was reset before it
 * @raw:	the counter's last raw value
 * @counter:	the counter, widened
 * @period_ns:	measured time from edge to edge
 * @margin_ns:	the leader polls this long before an edge is expected
 * @poll_ns:	the leader has polled for its edge since then, 0: it is that of the window before
 * @begin_ns:	begin of the current window
 * @begin_total:	@counter at that time
 * @polling:	the edge of the begin is to be found
 * @stats:	without the pauses of CPUs; written by the leader
 */
struct kjoule_edge {
	struct kjoule_edges *edges;
	int package;
	unsigned int scope;
	unsigned int n;
	struct edge_cpu *leader;
	bool stopping;
	u32 released;
	struct edge_outcome outcome[2];
	u64 pause_at_ns[2];
	u32 failures;
	bool unsure;
	u64 raw;
	struct kjoule_counter counter;
	u64 period_ns;
	u64 margin_ns;
	u64 poll_ns;
	u64 begin_ns;
	u64 begin_total;
	bool polling;
	struct kjoule_edge_stats stats;
};

/**
 * struct kjoule_edges - the windows of a session
 * @src:	whose counter
 * @domain:	which of its counters
 * @duty:	share of the time in which CPUs may be paused, in thousandths
 * @seed:	of random times
 * @running:	timers may be set
 * @blocked:	see struct kjoule_edge_stats
 * @n:		number of samplers of the session
 * @sampler:	these
 * @edge:	one for each package, as many as samplers; those with @n of 0 are unused
 * @cpu:	one for each sampler
 */
struct kjoule_edges {
	struct kjoule_source *src;
	unsigned int domain;
	u32 duty;
	u64 seed;
	bool running;
	u64 blocked;
	unsigned int n;
	struct kjoule_sampler **sampler;
	struct kjoule_edge *edge;
	struct edge_cpu cpu[];
};

static inline const struct kjoule_domain *edge_domain(const struct kjoule_edges *edges)
{
	return &edges->src->domains[edges->domain];
}

void kjoule_edge_begin(struct edge_cpu *c);

#endif
