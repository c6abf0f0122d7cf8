/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions: what was asked for, its samplers, its life. Front ends make, find
 * and end them; a session does not know which front end is asking.
 */
#ifndef KJOULE_SESSION_H
#define KJOULE_SESSION_H

#include <linux/cpumask.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include <linux/kjoule_netlink.h>

#include "sampler.h"

/**
 * struct kjoule_session_config - what a session is asked to do
 * @interval_ns:	between ticks
 * @jitter_ns:		see struct kjoule_plan
 * @target:		enum kjoule_target
 * @pid:		for KJOULE_TARGET_PROCESS, in the caller's pid namespace
 * @cpus:		which CPUs, or NULL for all that are online
 * @ring_bytes:		data of each ring, 0 for the default
 * @wakeup_bytes:	0 for a quarter of the ring
 * @energy:		name of the energy source: NULL for the default, "" for none
 * @frequency:		name of the frequency source, likewise
 * @kernel_ip:		kernel addresses may be shown to this caller
 */
struct kjoule_session_config {
	u64 interval_ns;
	u64 jitter_ns;
	u32 target;
	u32 pid;
	const struct cpumask *cpus;
	u32 ring_bytes;
	u32 wakeup_bytes;
	const char *energy;
	const char *frequency;
	bool kernel_ip;
};

/**
 * struct kjoule_session - a session
 * @ref:	one for being listed, one for each user
 * @id:		its name outside
 * @owner:	whoever made it, so that it can be ended with its maker
 * @lock:	held for changes of @state and @attached
 * @state:	enum kjoule_session_state
 * @attached:	it has a reader
 * @ended:	no longer listed
 * @config:	as asked for, defaults filled in; the pointers in it are not valid
 * @plan:	what the samplers follow
 * @reader:	where the reader waits
 * @stop_ns:	CLOCK_MONOTONIC when it was stopped
 * @n:		number of samplers
 * @sampler:	one for each CPU, ascending
 */
struct kjoule_session {
	struct kref ref;
	u32 id;
	u32 owner;
	struct mutex lock;	/* see above */
	u32 state;
	bool attached;
	bool ended;
	struct kjoule_session_config config;
	struct kjoule_plan plan;
	wait_queue_head_t reader;
	u64 stop_ns;
	unsigned int n;
	struct kjoule_sampler *sampler[];
};

int kjoule_session_init(void);
void kjoule_session_exit(void);
struct kjoule_session *kjoule_session_create(const struct kjoule_session_config *config, u32 owner,
					     const char **why);
struct kjoule_session *kjoule_session_get(u32 id);
struct kjoule_session *kjoule_session_get_next(u32 id);
void kjoule_session_put(struct kjoule_session *s);
int kjoule_session_start(struct kjoule_session *s, const char **why);
int kjoule_session_stop(struct kjoule_session *s, const char **why);
void kjoule_session_end(struct kjoule_session *s);
void kjoule_session_end_owned(u32 owner);
unsigned int kjoule_session_count(void);
int kjoule_session_attach(struct kjoule_session *s);
void kjoule_session_detach(struct kjoule_session *s);

#endif /* KJOULE_SESSION_H */
