/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pollers: the thread that reads one slow source of a session, with its own period, and writes the
 * values into the rings. Created and ended by the session.
 */
#ifndef KJOULE_POLLER_H
#define KJOULE_POLLER_H

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/wait.h>

#include "counter/counter.h"
#include "source/source.h"

struct kjoule_sampler;

/**
 * struct kjoule_poller_stats - statistics of a poller
 * @reads:	readings of all domains of the source
 * @errors:	values that could not be read or, on a CPU without a ring, not recorded
 * @overruns:	readings that took longer than the period
 */
struct kjoule_poller_stats {
	u64 reads;
	u64 errors;
	u64 overruns;
};

/**
 * struct kjoule_poller - reader of one slow source
 * @src:	the source; the session's
 * @number:	of the source in the session
 * @period_ns:	between two readings
 * @thread:	with a reference, because it may end by itself
 * @joined:	the thread has ended
 * @wait:	waits for the start
 * @running:	it was started
 * @stopping:	it reads once more and ends
 * @done:	it has ended its readings
 * @aborted:	the wait for that has timed out: nothing is written or counted
 * @cpus:	of the session
 * @sampler:	the session's samplers
 * @n:		number of samplers
 * @stats:	written by the thread
 * @failures:	readings in a row with an error
 * @lost_pending: a source-lost event is pending
 * @counter:	of each domain that is a counter
 * @known:	domains with a first raw value
 * @updated_ns:	CLOCK_MONOTONIC of the last update of each
 * @recorded:	value of each domain in its last record
 * @has_recorded:	domains with a record
 */
struct kjoule_poller {
	struct kjoule_source *src;
	u8 number;
	u64 period_ns;
	struct task_struct *thread;
	bool joined;
	wait_queue_head_t wait;
	bool running;
	bool stopping;
	struct completion done;
	bool aborted;
	cpumask_var_t cpus;
	struct kjoule_sampler *const *sampler;
	unsigned int n;
	struct kjoule_poller_stats stats;
	u32 failures;
	bool lost_pending;
	struct kjoule_counter counter[KJOULE_MAX_DOMAINS];
	u32 known;
	u64 updated_ns[KJOULE_MAX_DOMAINS];
	s64 recorded[KJOULE_MAX_DOMAINS];
	u32 has_recorded;
};

struct kjoule_poller *kjoule_poller_create(struct kjoule_source *src, u8 number, u64 period_ns,
					   struct kjoule_sampler *const *sampler, unsigned int n);
void kjoule_poller_start(struct kjoule_poller *p);
void kjoule_poller_finish(struct kjoule_poller *p);
bool kjoule_poller_wait(struct kjoule_poller *p, unsigned long until);
void kjoule_poller_join(struct kjoule_poller *p);
void kjoule_poller_destroy(struct kjoule_poller *p);
int kjoule_poller_get_value(const struct kjoule_poller *p, unsigned int domain, s64 *value);
void kjoule_poller_get_stats(const struct kjoule_poller *p, struct kjoule_poller_stats *stats);

#endif
