/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readings of single blocks, for ALEA's variation-aware model (section 3.3.2): a hardware
 * breakpoint on a block's first instruction is armed at random instants; at the first hit a meter
 * is started, and the program goes on until the block's end, or not at all, and is held until the
 * reading is ready. A session asks for it; the samplers tick on meanwhile.
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

#define KJOULE_VPM_BLOCKS	16

/* Between two armings, on the average. */
#define KJOULE_VPM_INTERVAL_MAX_NS	(60ULL * 1000 * 1000 * 1000)

/*
 * Two armings are so many sensing intervals apart on the average, or more, and never less than half
 * as many. A reading holds a CPU for one: half of the time at most, on the average.
 */
#define KJOULE_VPM_INTERVAL_MIN	2

/**
 * struct kjoule_vpm_stats - what has become of the rounds of a session
 * @trials:	that are over: @readings, @learnt, @no_hit, @no_end, @mismatched, @overrun, @failed
 *		and @aborted are these; @skipped are none
 * @readings:	that were told by a record
 * @learnt:	that only looked where the block returns to, before there can be a reading of it
 * @no_hit:	nobody came by
 * @no_end:	who came by did not come to where it was to be stopped, and no record tells of it
 * @mismatched:	the block was called from another place than the one whose return was awaited, or it
 *		was not the session's target that came by
 * @overrun:	the block's end was passed too often, before the block began or within it
 * @unusable:	of @readings, those of no use: the program slept meanwhile, or its CPU changed,
 *		or one came or went, or the block took longer than the meter's interval
 * @failed:	the meter, a breakpoint or the ring did not do its part
 * @aborted:	the session's end broke it off
 * @skipped:	times when no CPU of the session was there to be armed, one was on its way, or the
 *		process had just ended
 * @paused_ns:	a CPU was held for so long
 * @paused_max_ns:	and so long at a time
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
 * @next:	the one right behind that
 * @end:	where it has ended, in whichever call of itself; 0: where its function returns to
 */
struct kjoule_vpm_place {
	u32 pid;
	u64 start;
	u64 next;
	u64 end;
};

/**
 * struct kjoule_vpm_meter - what a session's readings are made with
 * @name:	of the source
 * @interval_ns: between two armings, on the average
 * @ready_ns:	sensing interval
 * @max_uw:	the most there is to be measured, 0: not known
 * @min_uw:	the least that was measured when the session was made
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

#endif /* KJOULE_VPM_H */
