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
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/kjoule_netlink.h>

#include "sampler/poller.h"
#include "sampler/sampler.h"
#include "session/method.h"
#include "session/event.h"
#include "source/spec.h"

/* So long the stop of a session waits for slow sources. */
#define KJOULE_STOP_TIMEOUT_MS	1000

struct nlattr;

/**
 * struct kjoule_session_config - what a session is asked to do
 * @interval_ns:	between ticks
 * @jitter_ns:		see struct kjoule_plan
 * @target:		enum kjoule_target_kind
 * @pid:		for KJOULE_TARGET_PROCESS and _THREAD, in the caller's pid namespace
 * @has_cgroup:		@cgroup_fd was given
 * @cgroup_fd:		for KJOULE_TARGET_CGROUP, one of the caller's descriptors
 * @flags:		KJOULE_FLAG_*
 * @cpus:		which CPUs, or NULL for all: those that are offline join when they come
 * @ring_bytes:		data of each ring, 0 for the default
 * @wakeup_bytes:	0 for a quarter of the ring
 * @energy:		name of the energy source: NULL for the default, "" for none
 * @frequency:		name of the frequency source, likewise
 * @n_specs:		how many sources besides, or where @energy is NULL instead
 * @specs:		these
 * @words:		of KJOULE_WORDS_LEN: where words about a refusal may be written
 * @kernel_ip:		kernel addresses may be shown to this caller
 * @any_memory:		rings may be as large as there is memory
 * @admin:		this caller has CAP_SYS_ADMIN
 * @any_stack:		stacks of all processes may be copied for this caller
 * @chain_depth:	frames of each kind, 0 for the default
 * @stack_bytes:	of the user stack, 0 for the default
 * @may_pause:		this caller may have CPUs held
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
 * @ref:	one for being listed, one for each user
 * @id:		its name outside
 * @owner:	whoever made it, so that it can be ended with its maker
 * @creator:	the user who made it, who alone may read it
 * @counted:	among all that count for a user's limit; under the list's lock
 * @quota:	bytes of rings that are on @creator's account
 * @lock:	held for changes of @state and @attached
 * @state:	enum kjoule_session_state
 * @attached:	it has a reader
 * @stopping:	somebody is about to stop it
 * @unlisted:	it is found no more; under the list's lock
 * @ended:	nobody may start it any more
 * @over:	nothing more is written, because it has ended
 * @ended_by:	who has ended it, if not its owner's socket; else not valid
 * @ending:	what is left to do then, where that may take long
 * @config:	as asked for, defaults filled in; the pointers in it are not valid
 * @plan:	what the samplers follow
 * @n_sources:	how many energy sources and gauges
 * @source:	these; a record's source number is the index here
 * @stuck:	domains of each that are not there, as of the session's making
 * @poller:	of those that are slow, NULL for the others
 * @n_meters:	how many scopes their counters have, together
 * @meter:	these
 * @method:	what each method has made for it, NULL: it does not have that
 * @sweep:	reads the meters of packages that are idle for long
 * @pending:	what its ticks have marked to be told
 * @event_work: tells that
 * @lost_posted:	records lost, as told last
 * @lost_posted_ns: CLOCK_MONOTONIC when that was
 * @reader:	where the reader waits
 * @all_cpus:	CPUs that are offline join it when they come
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
void kjoule_session_end_soon(struct kjoule_session *s);
int kjoule_session_attach(struct kjoule_session *s);
void kjoule_session_detach(struct kjoule_session *s);
void kjoule_session_get_stats(struct kjoule_session *s, struct kjoule_stats *sum);

/* session.c and end.c, for one another and for the module's init */
void kjoule_session_halt(struct kjoule_session *s);
void kjoule_session_end_prepare(struct kjoule_session *s);
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

#endif /* KJOULE_SESSION_H */
