/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions: parameters, samplers and state. Front ends create, find and end them; a session does
 * not know which front end uses it.
 */
#ifndef KJOULE_SESSION_H
#define KJOULE_SESSION_H

#include <linux/cpumask.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/kjoule_netlink.h>

#include "sampler/poller.h"
#include "sampler/sampler.h"
#include "session/method.h"
#include "session/event.h"
#include "source/spec.h"

/*
 * The stop of a session waits this long for slow sources, with a lock of netlink that others need
 * (Documentation/design.rst, Sources). Not tuned: only a device that hangs takes all of it.
 */
#define KJOULE_STOP_TIMEOUT_MS	1000

struct nlattr;

/**
 * struct kjoule_session_config - requested parameters of a session
 * @interval_ns:	between ticks
 * @jitter_ns:		see struct kjoule_plan
 * @target:		enum kjoule_target_kind
 * @pid:		for KJOULE_TARGET_PROCESS and _THREAD, in the caller's pid namespace
 * @has_cgroup:		@cgroup_fd is valid
 * @cgroup_fd:		for KJOULE_TARGET_CGROUP, a descriptor of the caller
 * @flags:		KJOULE_FLAG_*
 * @cpus:		its CPUs, or NULL for all: offline ones join when they come online
 * @ring_bytes:		data of each ring, 0 for the default
 * @wakeup_bytes:	0 for a quarter of the ring
 * @energy:		name of the energy source: NULL for the default, "" for none
 * @frequency:		name of the frequency source, likewise
 * @n_specs:		number of sources in addition, or instead if @energy is NULL
 * @specs:		their specifications
 * @words:		of KJOULE_WORDS_LEN: buffer for a formatted error text
 * @kernel_ip:		the caller may see kernel addresses
 * @any_memory:		the caller has no memory limit for rings
 * @admin:		the caller has CAP_SYS_ADMIN
 * @any_stack:		the caller may copy stacks of all processes
 * @chain_depth:	frames of each kind, 0 for the default
 * @stack_bytes:	of the user stack, 0 for the default
 * @may_pause:		the caller may pause CPUs
 * @attrs:		KJOULE_A_SESSION_* of the request, for methods
 */
struct kjoule_session_config {
	u64 interval_ns;
	u64 jitter_ns;
	u32 target;
	u32 pid;
	bool has_cgroup;
	u32 cgroup_fd;
	u64 flags;
	const struct cpumask *cpus;
	u32 ring_bytes;
	u32 wakeup_bytes;
	const char *energy;
	const char *frequency;
	unsigned int n_specs;
	const struct kjoule_spec *specs;
	char *words;
	bool kernel_ip;
	bool any_memory;
	bool admin;
	bool any_stack;
	u32 chain_depth;
	u32 stack_bytes;
	bool may_pause;
	struct nlattr **attrs;
};

/**
 * struct kjoule_session - a session
 * @ref:	one of the list, one of each user
 * @id:		its number outside
 * @owner:	number of its owner, to end it with that
 * @creator:	the user that created it, which alone may read it
 * @counted:	in the list of sessions that count for limits; under the list's lock
 * @quota:	bytes of rings charged to @creator
 * @lock:	protects @state and @attached
 * @state:	enum kjoule_session_state
 * @attached:	it has a reader
 * @stopping:	a stop is in progress
 * @unlisted:	it is not found any more; under the list's lock
 * @ended:	it may not be started any more
 * @over:	nothing more is written, because it has ended
 * @ended_by:	the user that has ended it, if not its owner's socket; else not valid
 * @ending:	finishes the end if that may take long
 * @config:	as requested, with defaults; the pointers in it are not valid
 * @plan:	parameters of the samplers
 * @n_sources:	number of energy sources and gauges
 * @source:	their index is a record's source number
 * @stuck:	domains of each that were not updating when the session was created
 * @poller:	of slow sources, NULL for others
 * @n_meters:	number of @meter
 * @meter:	one for each scope of each source
 * @method:	data of each method, NULL: not requested
 * @sweep:	reads the meters of idle packages in time
 * @pending:	events that its ticks have marked
 * @event_work: posts them
 * @lost_posted:	records lost, as of the last event
 * @lost_posted_ns: CLOCK_MONOTONIC of that event
 * @reader:	where the reader waits
 * @all_cpus:	offline CPUs join it when they come online
 * @stop_ns:	CLOCK_MONOTONIC when it was stopped
 * @n:		number of samplers
 * @sampler:	one for each CPU, ascending
 */
struct kjoule_session {
	struct kref ref;
	u32 id;
	u64 owner;
	kuid_t creator;
	struct list_head counted;
	u64 quota;
	struct mutex lock;	/* see above */
	u32 state;
	bool attached;
	bool stopping;
	bool unlisted;
	bool ended;
	bool over;
	kuid_t ended_by;
	struct work_struct ending;
	struct kjoule_session_config config;
	struct kjoule_plan plan;
	unsigned int n_sources;
	struct kjoule_source *source[KJOULE_METERS_MAX];
	u32 stuck[KJOULE_METERS_MAX];
	struct kjoule_poller *poller[KJOULE_METERS_MAX];
	unsigned int n_meters;
	struct kjoule_meter **meter;
	void *method[KJOULE_METHODS_MAX];
	struct delayed_work sweep;
	struct kjoule_pending pending;
	struct delayed_work event_work;
	u64 lost_posted;
	u64 lost_posted_ns;
	wait_queue_head_t reader;
	bool all_cpus;
	u64 stop_ns;
	unsigned int n;
	struct kjoule_sampler *sampler[];
};

struct kjoule_session *kjoule_session_create(const struct kjoule_session_config *config, u64 owner,
					     const char **why);
void kjoule_session_put(struct kjoule_session *s);
int kjoule_session_start(struct kjoule_session *s, const char **why);
int kjoule_session_stop(struct kjoule_session *s, const char **why);
bool kjoule_session_has_ended(struct kjoule_session *s);
void kjoule_session_end(struct kjoule_session *s);
void kjoule_session_end_by(struct kjoule_session *s, kuid_t user);
void kjoule_session_end_owned(u64 owner);
int kjoule_session_attach(struct kjoule_session *s);
void kjoule_session_detach(struct kjoule_session *s);
void kjoule_session_get_stats(struct kjoule_session *s, struct kjoule_stats *sum);

/* for end.c, and for the module's init */
void kjoule_session_halt(struct kjoule_session *s);
int kjoule_session_end_init(void);
void kjoule_session_end_exit(void);

/* sources.c, for session.c, end.c and list.c */
int kjoule_session_choose_sources(struct kjoule_session *s, const struct kjoule_session_config *c,
				  const struct cpumask *cpus, const char **why);
int kjoule_session_make_meters(struct kjoule_session *s, const struct kjoule_session_config *c,
			       const char **why);
void kjoule_session_update_owners(struct kjoule_session *s);
void kjoule_session_assign_meters(struct kjoule_session *s, struct kjoule_sampler *sampler);
int kjoule_session_make_pollers(struct kjoule_session *s, const struct kjoule_session_config *c,
				const char **why);
void kjoule_session_recheck_sources(struct kjoule_session *s);
void kjoule_session_start_pollers(struct kjoule_session *s);
bool kjoule_session_is_slow(const struct kjoule_session *s);
bool kjoule_session_stop_pollers(struct kjoule_session *s);
void kjoule_session_join_pollers(struct kjoule_session *s);
void kjoule_session_drop_sources(struct kjoule_session *s);

#endif
