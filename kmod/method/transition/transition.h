/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Duration of frequency changes: probes, each of a CPU's policy, which time loops while the
 * frequency changes (loop.c), and the governor that lets them switch (governor.c). User space
 * evaluates the times.
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

/*
 * Additions of a loop, a cycle each. Below the minimum, some 20 ns at 3 GHz, a loop is mostly the
 * read of the clock; the maximum takes KJOULE_TRANSITION_LOOP_NS at 2 GHz.
 */
#define KJOULE_TRANSITION_ADDS_MIN	64
#define KJOULE_TRANSITION_ADDS_MAX	1000000

/*
 * A loop runs with interrupts off: its maximum, as long as a slice is by default. Part of the ABI
 * (Documentation/abi/netlink.rst), not tuned.
 */
#define KJOULE_TRANSITION_LOOP_NS	500000U

/* Maximum time with interrupts off, except for a loop with a change: a tick of HZ=1000. */
#define KJOULE_TRANSITION_SLICE_NS	1000000U

/* Stored loops, of 24 bytes: 1.5 MiB of a probe. The tool uses half (LATENCY_LOOPS_MOST). */
#define KJOULE_TRANSITION_LOOPS_MAX	65536U

/* Bounds the time that a job keeps its CPU to itself; see Documentation/design.rst, Security. */
#define KJOULE_TRANSITION_TIMEOUT_NS	10000000000ULL

/**
 * struct kjoule_transition_limits - loop times that match a frequency
 * @lo_ns:	minimum
 * @hi_ns:	maximum; 0 if unknown
 */
struct kjoule_transition_limits {
	u32 lo_ns, hi_ns;
};

/**
 * struct kjoule_transition_job - parameters and result of a job
 * @measure:	request @to_khz and find when it is reached; false: time @loops at @to_khz
 * @adds:	dependent additions in a loop
 * @from_khz:	the first frequency
 * @to_khz:	the second one
 * @from:	loops at @from_khz
 * @to:		loops at @to_khz
 * @lead:	minimum of loops before the request; up to twice as many, at random
 * @loops:	maximum of loops after it
 * @confirm:	of these, number from the first one that matched @to_khz
 * @timeout_ns:	maximum time from the request to the change
 * @slice_ns:	maximum time with interrupts off
 * @outcome:	the result
 * @requested_ns:	when the request was made, CLOCK_MONOTONIC
 * @request_ns:	duration of the request
 * @irqs_off_ns: the longest time with interrupts off
 * @irqs_off_from_ns: when that began, CLOCK_MONOTONIC
 * @breaks:	times that interrupts were enabled between loops
 * @count:	loops that were timed
 * @counter:	name of the source of their cycles, "": there is none, or it could not be read all
 *		the time
 * @reference_khz: rate of its reference
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
 * @ref:	one of its owner, one of the governor
 * @node:	in the list of probes
 * @id:		its number
 * @owner:	number of its owner
 * @cpu:	its CPU
 * @way:	how frequencies are requested
 * @lock:	one job at a time, and its loops
 * @ending:	it is to end, with its job
 * @cancel:	the job is to end: its requester is killed
 * @done:	the job is done
 * @governed:	our governor is the policy's: we may switch fast. Read with interrupts off
 * @worker:	bound to @cpu
 * @work:	runs @job
 * @job:	the current job
 * @err:	its result
 * @policy:	during a job
 * @min:	request of a lower limit, during a job
 * @max:	of an upper limit
 * @limited:	these two exist
 * @counter:	during a job: source of cycles, NULL: none
 * @loops:	of the last job
 * @n:		their number
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

extern const struct kjoule_netlink_method kjoule_transition_netlink;

int kjoule_governor_get(const char **why);
void kjoule_governor_exit(void);

#endif
