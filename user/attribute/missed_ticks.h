/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ticks of a CPU in order, with those that were missed, skipped, lost or unrecorded. */
#ifndef KJOULE_MISSED_TICKS_H
#define KJOULE_MISSED_TICKS_H

#include "analysis/cpm/cpm.h"
#include "analysis/ticks/timeline.h"
#include "attribute/edge_windows.h"
#include "lib/file/datafile.h"

/*
 * At most so many missed ticks in a row are attributed to the code next to them: interrupts were
 * off. Longer gaps are not attributed.
 */
#define MISSED_TICKS_INTERPOLATED_MOST	16

/*
 * One CPU's stream being written: packed, or in an array with an entry for every sample (@apart),
 * to look up its callers.
 */
struct missed_ticks_stream {
	bool apart;
	struct tick_stream packed;
	struct cpm_tick *ticks;
	uint32_t *freq;
	size_t n, room;
};

/**
 * struct missed_ticks - state of filling a CPU's ticks
 * @cpu: the CPU
 * @gap,@skipped,@hole: the next of each
 * @system: the target is the machine: without a record a CPU is idle
 * @idle,@other,@lost,@missed,@offline,@suspended: blocks that stand for no program
 * @bystander: the block of other processes' ticks, but for the recorder's; UINT32_MAX: none
 * @wakeups,@n_wakeups: of the recorder, on any CPU; @next_wakeup: the next of them
 * @pauses: of the CPU
 * @session: has the times of ticks
 * @paused: the block of ticks due in pauses
 * @pause: the next of @pauses
 * @let_go: the tick after the last of a pause
 * @later: which half of an odd gap is the larger one
 * @interpolated: missed ticks that were attributed to a neighbouring sample
 * @unattributed: missed ticks that were not: too many in a row
 * @lost_samples: samples that are known to be lost
 * @lost_unknown: an unknown number more are
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

/* A longer wakeup of the recorder is impossible. */
#define MISSED_TICKS_WAKEUP_MOST_NS	60000000000ull

/** missed_ticks_wakeup_is_sound() - is the wakeup possible? */
static inline bool missed_ticks_wakeup_is_sound(const struct kjoule_wakeup *w)
{
	return w->begin_ns < w->end_ns && w->end_ns - w->begin_ns <= MISSED_TICKS_WAKEUP_MOST_NS;
}

/** missed_ticks_put() - add an entry. Return: 0 or -ENOMEM */
int missed_ticks_put(struct missed_ticks_stream *l, const struct cpm_tick *tick, uint32_t freq);
/** missed_ticks_seal() - after the last one. Return: 0 or -ENOMEM */
int missed_ticks_seal(struct missed_ticks_stream *l);
/** missed_ticks_stream() - for analyses; @l must stay */
struct cpm_stream missed_ticks_stream(const struct missed_ticks_stream *l);
/** missed_ticks_rename() - block i, of @n, becomes to[i]. Return: 0 or -ENOMEM */
int missed_ticks_rename(struct missed_ticks_stream *l, const uint32_t *to, size_t n);
void missed_ticks_free(struct missed_ticks_stream *l);
/** missed_ticks_put_run() - ticks [from, to) without samples: @tick has what is known of them */
int missed_ticks_put_run(struct missed_ticks_stream *l, uint64_t from, uint64_t to,
			 struct cpm_tick tick);
/**
 * missed_ticks_attribute() - ticks [from, to) have no sample
 * @before,@after: the blocks of the neighbouring samples, UINT32_MAX if there is none
 *
 * Each is in a gap, skipped, in a hole or without a record, and then idle or not the target.
 * Return: 0 or -ENOMEM
 */
int missed_ticks_attribute(struct missed_ticks *f, struct missed_ticks_stream *l, uint64_t from,
			   uint64_t to, uint32_t before, uint32_t after);

/** missed_ticks_put_paused() - ticks [from, to) in or after a pause. Return: 0 or -ENOMEM */
int missed_ticks_put_paused(struct missed_ticks *f, struct missed_ticks_stream *l, uint64_t from,
			    uint64_t to);
/**
 * missed_ticks_is_paused() - was the CPU paused when a tick was due? Ticks are requested in order
 */
bool missed_ticks_is_paused(struct missed_ticks *f, uint64_t tick);

#endif /* KJOULE_MISSED_TICKS_H */
