/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edge windows: each begins at an update of the energy counter, lets the program run for a random
 * part of the update period, and pauses all CPUs of the package until the next update. So the
 * energy of a window is that of the code that ran and of a known rest, however short its blocks
 * are. Requested by a session, in addition to its ticks.
 */
#ifndef KJOULE_EDGE_H
#define KJOULE_EDGE_H

#include <linux/types.h>

struct kjoule_edges;
struct kjoule_method_ops;
struct kjoule_sampler;
struct kjoule_source;

/*
 * With a longer period CPUs would be paused for too long: PAUSE_PERIODS (window.c) are 120 ms of
 * this one. The longest that is measured is 18 ms (Documentation/accuracy.rst, profile slow).
 */
#define KJOULE_EDGE_PERIOD_MAX_NS	(20 * 1000 * 1000ULL)

/*
 * Maximum and minimum share of the time in which the CPUs may be paused, in thousandths. By
 * window_gap_periods() windows without gaps take 507, and the mean gap at the minimum is 22 to 39
 * periods; at 10 it would be above GAP_MAX.
 */
#define KJOULE_EDGE_DUTY_MAX		500
#define KJOULE_EDGE_DUTY_MIN		30

/**
 * struct kjoule_edge_stats - statistics of a session's windows
 * @windows:	measured windows, without those of SPIN
 * @spins:	windows in which all CPUs were paused from update to update
 * @failed:	windows without an update in time, or in which a CPU was not paused
 * @paused_ns:	total pause of the CPU that was paused longest, with its polling for updates
 * @blocked:	times that windows could not begin or continue, except during hotplug: a CPU that
 *		shares the counter is online outside the session, or the only CPU that can read it
 *		is absent
 * @paused_max_ns:	the longest pause of a CPU, or its longest polling
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

#endif
