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
	u64 a_ns;
	u64 c_ns;
	bool failed;
};

/**
 * struct edge_cpu - a CPU that takes part
 * @timer:	expires when it is to be held; the leader's also when it looks for the edge before
 * @work:	that is done then, right after
 * @edge:	of its package
 * @sampler:	writes what it has to tell
 * @number:	the window that it takes part in next
 * @from_ns:	it has run since
 * @b_ns:	it was held from then on
 * @ip:		there
 * @flags:	of @ip
 * @arrived:	the last window in which it was held; the leader looks
 * @held_ns:	it was held for so long, looking for edges with it
 * @longest_ns:	and so long at a time
 */
struct edge_cpu {
	struct hrtimer timer;
	struct irq_work work;
	struct kjoule_edge *edge;
	struct kjoule_sampler *sampler;
	u32 number;
	u64 from_ns;
	u64 b_ns;
	u64 ip;
	u8 flags;
	u32 arrived;
	u64 held_ns;
	u64 longest_ns;
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
 * @hold_ns:	when the CPUs are to be held, of this window and the next
 * @failures:	windows in a row that failed
 * @unsure:	when the last edge was is, or the counter was set back before it
 * @raw:	the counter, as read last
 * @counter:	the same, widened
 * @period_ns:	from edge to edge, as measured
 * @margin_ns:	the leader begins to look for an edge so long before it is expected
 * @seek_ns:	the leader has looked for its edge from then on, 0: it is that of the window before
 * @a_ns:	the present window began
 * @a_total:	with that in @counter
 * @seeking:	the edge that it begins with is to be found
 * @books:	for the session's, but for how long CPUs were held; the leader's
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
	u64 hold_ns[2];
	u32 failures;
	bool unsure;
	u64 raw;
	struct kjoule_counter counter;
	u64 period_ns;
	u64 margin_ns;
	u64 seek_ns;
	u64 a_ns;
	u64 a_total;
	bool seeking;
	struct kjoule_edge_books books;
};

/**
 * struct kjoule_edges - the windows of a session
 * @src:	whose counter
 * @domain:	which of its counters
 * @duty:	thousandths of the time in which CPUs are held
 * @seed:	of what is random
 * @running:	timers may be set
 * @paused:	times that it could not be, or not for all packages; see struct kjoule_edge_books
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
	u64 paused;
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
