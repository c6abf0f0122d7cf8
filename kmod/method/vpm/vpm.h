/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readings of single blocks, for ALEA's variation-aware model (section 3.3.2): a hardware
 * breakpoint on a block's first instruction is armed at random times; its first hit starts a meter,
 * the program continues to the block's end, or not at all, and is paused until the reading is
 * ready. Requested by a session, in addition to its ticks.
 */
#ifndef KJOULE_VPM_H
#define KJOULE_VPM_H

#include <linux/types.h>

struct kjoule_method_ops;
struct kjoule_netlink_method;
struct kjoule_sampler;
struct kjoule_source;
struct kjoule_vpm;
struct kjoule_target;

/* Each more is measured less often: blocks take turns. Part of the ABI; bounds memory. */
#define KJOULE_VPM_BLOCKS	16

/* Mean time between two armings. Not tuned: a user's typing error is to be refused. */
#define KJOULE_VPM_INTERVAL_MAX_NS	(60ULL * 1000 * 1000 * 1000)

/*
 * In sensing intervals: minimum of the mean time between two armings, of which no time is below
 * half. A reading pauses a CPU for one: half of the time at most, on average.
 */
#define KJOULE_VPM_INTERVAL_MIN	2

/**
 * struct kjoule_vpm_stats - statistics of a session's trials
 * @trials:	sum of @readings, @learnt, @no_hit, @no_end, @mismatched, @overrun, @failed and
 *		@aborted
 * @readings:	with a record
 * @learnt:	only found the block's return address, before its first reading
 * @no_hit:	the breakpoint was not hit
 * @no_end:	the task did not get to where it was to be stopped, without a record
 * @mismatched:	hit by another task, or by a call from another place than expected
 * @overrun:	the breakpoint at the block's end was hit too often
 * @unusable:	of @readings, those with KJOULE_READING_DISTURBED or KJOULE_READING_LATE
 * @failed:	the meter, a breakpoint or the ring failed
 * @aborted:	by the session's end
 * @skipped:	not trials: no CPU online, hotplug, or the process had ended
 * @paused_ns:	total pause of CPUs
 * @paused_max_ns:	the longest pause
 */
struct kjoule_vpm_stats {
	u64 trials;
	u64 readings;
	u64 learnt;
	u64 no_hit;
	u64 no_end;
	u64 mismatched;
	u64 overrun;
	u64 unusable;
	u64 failed;
	u64 aborted;
	u64 skipped;
	u64 paused_ns;
	u64 paused_max_ns;
};

/**
 * struct kjoule_vpm_place - where a block is
 * @pid:	process, in the caller's pid namespace
 * @start:	its first instruction
 * @next:	the next instruction
 * @end:	its end, also in a recursive call; 0: the return address of its function
 */
struct kjoule_vpm_place {
	u32 pid;
	u64 start;
	u64 next;
	u64 end;
};

/**
 * struct kjoule_vpm_meter - the meter of a session's readings
 * @name:	of the source
 * @interval_ns: mean time between two armings
 * @ready_ns:	sensing interval
 * @max_uw:	the highest power that it can measure, 0: not known
 * @min_uw:	lowest reading when the session was created
 */
struct kjoule_vpm_meter {
	const char *name;
	u64 interval_ns;
	u64 ready_ns;
	u64 max_uw;
	u64 min_uw;
};

int kjoule_vpm_new(struct kjoule_vpm **vpm, const char *source, u64 interval_ns,
		   const struct kjoule_target *target, struct kjoule_sampler **sampler,
		   unsigned int n, const char **why);
void kjoule_vpm_free(struct kjoule_vpm *v);
int kjoule_vpm_add(struct kjoule_vpm *v, const struct kjoule_vpm_place *place, const char **why);
int kjoule_vpm_run(struct kjoule_vpm *v);
void kjoule_vpm_halt(struct kjoule_vpm *v);
void kjoule_vpm_get_stats(struct kjoule_vpm *v, struct kjoule_vpm_stats *stats);
void kjoule_vpm_get_meter(const struct kjoule_vpm *v, struct kjoule_vpm_meter *meter);

extern const struct kjoule_method_ops kjoule_vpm_method;
extern const struct kjoule_netlink_method kjoule_vpm_netlink;

#endif
