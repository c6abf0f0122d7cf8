/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ticks of a CPU in order, those without a sample as well: missed, parked, lost or
 * silent ones, as runs however many they are.
 */
#ifndef KJOULE_MISSED_TICKS_H
#define KJOULE_MISSED_TICKS_H

#include "analysis/cpm/cpm.h"
#include "analysis/ticks/timeline.h"
#include "attribute/edge_windows.h"
#include "lib/file/datafile.h"

/*
 * So many missed ticks in a row are given to the code next to them: interrupts were off.
 * More are nobody's.
 */
#define MISSED_TICKS_INTERPOLATED_MOST	16

/*
 * One CPU's ticks being written down: packed, or in an array in which every sample has an entry of its own
 * (@apart), for who goes by its callers.
 */
struct missed_ticks_stream {
	bool apart;
	struct tick_stream packed;
	struct cpm_tick *ticks;
	uint32_t *freq;
	size_t n, room;
};

/**
 * struct missed_ticks - how a CPU's ticks are filled up
 * @cpu:	the CPU
 * @gap,@skipped,@hole: the next of each
 * @system:	whatever runs is recorded: who says nothing is idle
 * @idle,@other,@lost,@missed,@offline,@suspended: blocks that stand for no program
 * @bystander:	the block of ticks that somebody had who was not asked for, unless it was the recorder; UINT32_MAX: it has none
 * @wakeups,@n_wakeups: when the recorder was awake, on any CPU; @next_wakeup: the next of them
 * @pauses:	when the CPU was held
 * @session:	when which tick was due
 * @paused:	the block of ticks that were due then
 * @pause:	the next of @pauses
 * @let_go:	the tick after the last at which it was held
 * @later:	which half of an odd gap is the larger one
 * @interpolated:	missed ticks that were given to a neighbour
 * @unattributed:	missed ticks that were not: too many in a row
 * @lost_samples: samples that are known to be lost
 * @lost_unknown: more are, and how many cannot be told
 */
struct missed_ticks {
	const struct timeline_cpu *cpu;
	size_t gap, skipped, hole;
	bool system;
	uint32_t idle, other, lost, missed, offline, suspended, bystander;
	const struct kjoule_wakeup *wakeups;
	size_t n_wakeups, next_wakeup;
	const struct edge_windows_cpu *pauses;
	const struct kjoule_session_info *session;
	uint32_t paused;
	size_t pause;
	uint64_t let_go;
	bool later;
	uint64_t interpolated, unattributed, lost_samples;
	bool lost_unknown;
};

/* The recorder is never awake for so long at a time. */
#define MISSED_TICKS_WAKEUP_MOST_NS	60000000000ull

/** missed_ticks_wakeup_is_sound() - a time at which the recorder can have been awake */
static inline bool missed_ticks_wakeup_is_sound(const struct kjoule_wakeup *w)
{
	return w->begin_ns < w->end_ns && w->end_ns - w->begin_ns <= MISSED_TICKS_WAKEUP_MOST_NS;
}

/** missed_ticks_put() - one entry more. Return: 0 or -ENOMEM */
int missed_ticks_put(struct missed_ticks_stream *l, const struct cpm_tick *tick, uint32_t freq);
/** missed_ticks_seal() - that was the last one. Return: 0 or -ENOMEM */
int missed_ticks_seal(struct missed_ticks_stream *l);
/** missed_ticks_stream() - as analyses want it; @l must stay */
struct cpm_stream missed_ticks_stream(const struct missed_ticks_stream *l);
/** missed_ticks_rename() - block i, of @n, has become to[i]. Return: 0 or -ENOMEM */
int missed_ticks_rename(struct missed_ticks_stream *l, const uint32_t *to, size_t n);
void missed_ticks_free(struct missed_ticks_stream *l);
/** missed_ticks_put_run() - ticks [from, to) without samples, however many: @tick says what is known of them */
int missed_ticks_put_run(struct missed_ticks_stream *l, uint64_t from, uint64_t to, struct cpm_tick tick);
/**
 * missed_ticks_attribute() - ticks [from, to) have no sample
 * @before,@after: the blocks of the samples beside, UINT32_MAX where there is none
 *
 * Each is in a gap, parked, in a hole or silent; what is silent was idle or not the target.
 * Return: 0 or -ENOMEM
 */
int missed_ticks_attribute(struct missed_ticks *f, struct missed_ticks_stream *l, uint64_t from, uint64_t to, uint32_t before,
	       uint32_t after);

/** missed_ticks_put_paused() - ticks [from, to) at which the CPU was held, or busy with what that leaves to be done. Return: 0 or -ENOMEM */
int missed_ticks_put_paused(struct missed_ticks *f, struct missed_ticks_stream *l, uint64_t from, uint64_t to);
/** missed_ticks_is_paused() - was the CPU held when a tick was due? Ticks are asked for in their order */
bool missed_ticks_is_paused(struct missed_ticks *f, uint64_t tick);

#endif /* KJOULE_MISSED_TICKS_H */
