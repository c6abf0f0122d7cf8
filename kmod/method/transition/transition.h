/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a frequency change takes: probes, each of a CPU's policy, which time a loop again and
 * again while the frequency changes (loop.c), and the governor that lets them switch
 * (governor.c). What the times mean is found out in user space.
 */
#ifndef KJOULE_TRANSITION_H
#define KJOULE_TRANSITION_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/pm_qos.h>
#include <linux/types.h>
#include <linux/kjoule.h>
#include <linux/kjoule_netlink.h>

#include "source/source.h"

struct cpufreq_policy;
struct kjoule_netlink_method;

/* Dependent adds in a loop. */
#define KJOULE_TRANSITION_ADDS_MIN	64
#define KJOULE_TRANSITION_ADDS_MAX	1000000

/* A loop is with interrupts off: no more than this. */
#define KJOULE_TRANSITION_LOOP_NS	500000U

/* So long may interrupts be off at a time, but for a loop that a change falls into. */
#define KJOULE_TRANSITION_SLICE_NS	1000000U

#define KJOULE_TRANSITION_LOOPS_MAX	65536U
#define KJOULE_TRANSITION_TIMEOUT_NS	10000000000ULL

/**
 * struct kjoule_transition_limits - what is close to a frequency
 * @lo_ns:	a loop at that frequency takes no less
 * @hi_ns:	nor more; 0 if it is not known
 */
struct kjoule_transition_limits {
	u32 lo_ns, hi_ns;
};

/**
 * struct kjoule_transition_job - something that a probe does
 * @measure:	request @to_khz and look when it is there; false: time @loops at @to_khz
 * @adds:	dependent additions in a loop
 * @from_khz:	the frequency to begin with
 * @to_khz:	the other one
 * @from:	loops at @from_khz
 * @to:		loops at @to_khz
 * @lead:	loops before the request, at least; up to twice as many, at random
 * @loops:	at most so many after it
 * @confirm:	of these, so many from the first one that was as at @to_khz
 * @timeout_ns:	no longer until it is seen, from the request on
 * @slice_ns:	interrupts off for no longer at a time
 * @outcome:	what became of it
 * @requested_ns:	when the request was made, CLOCK_MONOTONIC
 * @request_ns:	how long it took
 * @irqs_off_ns: the longest time with interrupts off
 * @irqs_off_from_ns: when that began, CLOCK_MONOTONIC
 * @breaks:	times that they were let in between loops
 * @count:	loops that were timed
 * @counter:	name of the source that their cycles are from, "": there is none, or it could not be
 *		read all the time
 * @reference_khz: at which its reference counts
 */
struct kjoule_transition_job {
	bool measure;
	u32 adds, from_khz, to_khz;
	struct kjoule_transition_limits from, to;
	u32 lead, loops, confirm;
	u64 timeout_ns, slice_ns;

	enum kjoule_transition_outcome outcome;
	u64 requested_ns, request_ns, irqs_off_ns, irqs_off_from_ns;
	u32 breaks, count;
	char counter[KJOULE_SOURCE_NAME_LEN];
	u64 reference_khz;
};

/**
 * struct kjoule_transition - a probe
 * @ref:	its owner's, and the governor's
 * @node:	among all
 * @id:		its number
 * @owner:	whose it is
 * @cpu:	where it measures
 * @way:	how frequencies are requested
 * @lock:	one job at a time, and its loops
 * @ending:	whatever it does is to come to an end
 * @cancel:	likewise the job that it does: who waits for it is killed
 * @done:	it is done
 * @governed:	our governor is the policy's: fast switching is ours to do. Asked where interrupts
 *		are off
 * @worker:	bound to @cpu
 * @work:	the job that it does
 * @job:	likewise
 * @err:	what it returned
 * @policy:	while a job lasts
 * @min:	request of a lower limit, while a job lasts
 * @max:	of an upper one
 * @limited:	these two are made
 * @counter:	while a job lasts: source of cycles, NULL: none
 * @loops:	times of the last job
 * @n:		so many
 */
struct kjoule_transition {
	struct kref ref;
	struct list_head node;
	u32 id;
	u64 owner;
	unsigned int cpu;
	enum kjoule_transition_way way;
	struct mutex lock;	/* see above */
	bool ending, cancel, governed;
	struct completion done;
	struct kthread_worker *worker;
	struct kthread_work work;
	struct kjoule_transition_job *job;
	int err;
	struct cpufreq_policy *policy;
	struct freq_qos_request min, max;
	bool limited;
	struct kjoule_source *counter;
	struct kjoule_loop *loops;
	u32 n;
};

struct kjoule_transition *kjoule_transition_new(u64 owner, unsigned int cpu, u32 way,
						const char **why);
struct kjoule_transition *kjoule_transition_get(u32 id);
bool kjoule_transition_can_switch(const struct cpufreq_policy *policy);
struct kjoule_transition *kjoule_transition_of(const struct cpufreq_policy *policy);
void kjoule_transition_put(struct kjoule_transition *t);
void kjoule_transition_end(struct kjoule_transition *t);
void kjoule_transition_end_owned(u64 owner);
int kjoule_transition_do(struct kjoule_transition *t, struct kjoule_transition_job *job,
			 const char **why);
void kjoule_transition_exit(void);

int kjoule_transition_run(struct kjoule_transition *t, struct kjoule_transition_job *job);

int kjoule_transition_limit(struct kjoule_transition *t, u32 khz);
extern const struct kjoule_netlink_method kjoule_transition_netlink;

int kjoule_governor_get(const char **why);
void kjoule_governor_exit(void);

#endif /* KJOULE_TRANSITION_H */
