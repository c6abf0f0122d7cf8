/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edge windows: each begins at a move of the energy counter, lets the program run for a
 * random part of the time to the next move, and holds all CPUs of the package until that
 * comes. So the energy of a window is that of what ran and of a known rest, however short
 * the blocks are that ran. A session asks for it; the samplers tick on meanwhile.
 */
#ifndef KJOULE_EDGE_H
#define KJOULE_EDGE_H

#include <linux/types.h>

struct kjoule_edges;
struct kjoule_method_ops;
struct kjoule_sampler;
struct kjoule_source;

/* A counter that moves less often would have CPUs held for too long. */
#define KJOULE_EDGE_PERIOD_MAX_NS	(20 * 1000 * 1000ULL)

/* Thousandths of the time in which the CPUs may be held: at most, and at least. */
#define KJOULE_EDGE_DUTY_MAX		500
#define KJOULE_EDGE_DUTY_MIN		30

/**
 * struct kjoule_edge_stats - what has become of the windows of a session
 * @windows:	that were measured, those of held CPUs alone left out
 * @spins:	in which all CPUs were held from edge to edge
 * @failed:	in which no edge came in time, or a CPU did not
 * @paused_ns:	the CPU that was held for longest in all: for so long, its looking for edges with it
 * @blocked:	times that windows could not begin or go on, but for a CPU that was just on its way:
 *		one that shares the counter is online and not of the session, or the only one that
 *		can read it is away
 * @paused_max_ns:	the longest time that a CPU was held at a time, or looked for an edge
 */
struct kjoule_edge_stats {
	u64 windows;
	u64 spins;
	u64 failed;
	u64 blocked;
	u64 paused_ns;
	u64 paused_max_ns;
};

int kjoule_edges_new(struct kjoule_edges **edges, struct kjoule_source *src, u32 stuck, u32 duty,
		     struct kjoule_sampler **sampler, unsigned int n, const char **why);
void kjoule_edges_free(struct kjoule_edges *edges);
void kjoule_edges_run(struct kjoule_edges *edges);
void kjoule_edges_halt(struct kjoule_edges *edges);
void kjoule_edges_get_stats(struct kjoule_edges *edges, struct kjoule_edge_stats *stats);
u32 kjoule_edges_duty(const struct kjoule_edges *edges);

extern const struct kjoule_method_ops kjoule_edge_method;

#endif /* KJOULE_EDGE_H */
