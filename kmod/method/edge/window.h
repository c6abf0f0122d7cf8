/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edge windows, from inside: what edge.c (who takes part, and from when until when) and
 * window.c (the windows themselves) share.
 */
#ifndef KJOULE_EDGE_WINDOW_H
#define KJOULE_EDGE_WINDOW_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>

#include "counter/counter.h"
#include "method/edge/edge.h"
#include "source/source.h"

/* Until all CPUs know of the first window, and after one that failed, at least. */
#define KJOULE_EDGE_LEAD_PERIODS	3

/* What is known of a window when it is over. */
struct edge_outcome {
	u64 begin_ns;
	u64 end_ns;
	bool failed;
};

/**
 * struct edge_cpu - a CPU that takes part
 * @timer:	expires when it is to be held; the leader's also when it looks for the edge before
 * @work:	that is done then, right after
 * @edge:	of its package
 * @sampler:	writes what it has to tell
 * @number:	the window that it takes part in next
 * @run_ns:	it has run since
 * @pause_ns:	it was held from then on
 * @ip:		there
 * @flags:	of @ip
 * @arrived:	the last window in which it was held; the leader looks
 * @paused_ns:	it was held for so long, looking for edges with it
 * @paused_max_ns:	and so long at a time
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
 * @stopping:	nobody is to wait any more
 * @released:	the last window that is over
 * @outcome:	of the last two
 * @pause_at_ns:	when the CPUs are to be held, of this window and the next
 * @failures:	windows in a row that failed
 * @unsure:	when the last edge was is, or the counter was set back before it
 * @raw:	the counter, as read last
 * @counter:	the same, widened
 * @period_ns:	from edge to edge, as measured
 * @margin_ns:	the leader begins to look for an edge so long before it is expected
 * @poll_ns:	the leader has looked for its edge from then on, 0: it is that of the window before
 * @begin_ns:	the present window began
 * @begin_total:	with that in @counter
 * @polling:	the edge that it begins with is to be found
 * @stats:	for the session's, but for how long CPUs were held; the leader's
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
 * @duty:	thousandths of the time in which CPUs are held
 * @seed:	of what is random
 * @running:	timers may be set
 * @blocked:	times that it could not be, or not for all packages; see struct kjoule_edge_stats
 * @n:		samplers of the session
 * @sampler:	these
 * @edge:	a package each, as many as there are samplers; those with @n of 0 are of no use
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

/* The session's counter. */
static inline const struct kjoule_domain *edge_domain(const struct kjoule_edges *edges)
{
	return &edges->src->domains[edges->domain];
}

/* window.c, for edge.c */
void kjoule_edge_begin(struct edge_cpu *c);

#endif /* KJOULE_EDGE_WINDOW_H */
