/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control of the module: sources, sessions, their counters, notices (generic netlink). Times are
 * nanoseconds of CLOCK_MONOTONIC, energies microjoules, frequencies kilohertz, unless the name has
 * another unit.
 */
#ifndef KJOULE_CONTROL_H
#define KJOULE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/kjoule.h>
#include <linux/kjoule_netlink.h>
#include "lib/base/cpus.h"
#include "lib/base/error.h"

#define KJOULE_MAX_DOMAINS	16	/* bits of kjoule_energy.domains */
#define KJOULE_MAX_SOURCES	16	/* in use by one session */
#define KJOULE_NAME_LEN		64	/* of a source or a domain */
#define KJOULE_NO_SCOPE		UINT16_MAX	/* a CPU whose energy a source does not count */

struct kjoule_domain_info {
	uint32_t index;			/* bit in kjoule_energy.domains */
	char name[KJOULE_NAME_LEN];
	uint32_t class;			/* enum kjoule_domain_class */
	uint32_t width;			/* bits of the raw counter */
	uint64_t unit_mult;		/* a raw count is unit_mult / 2^unit_shift uJ */
	uint32_t unit_shift;
	int32_t parent;			/* the domain that contains it, -1: none */
	uint64_t update_period_ns;	/* nominal, 0: unknown */
	uint32_t quantity;		/* enum kjoule_quantity */
	uint64_t range;			/* raw values from 0 to this; 0: as wide as @width */
};

/**
 * struct kjoule_source_info - properties of a source
 * @meter: common name of sources that are parts of one: zones of powercap, events of a PMU; empty:
 *   none. User space's knowledge
 * @inside: name of the source that includes its energy; empty: none is known
 * @same_as: name of the source of the same counter; empty: none is known
 * @scopes: see kjoule_scope(); NULL: unknown
 * @ready_ns: of a meter that starts on command: a reading is a mean over so long; 0: it is none
 * @period_ns, @reads, @errors, @overruns: of the thread that reads it, period 0: read in the tick
 */
struct kjoule_source_info {
	uint32_t id;
	char name[KJOULE_NAME_LEN];
	uint32_t kind;			/* enum kjoule_source_kind */
	int32_t rating;
	bool available;
	bool is_default;
	bool requested_only;
	char reason[160];		/* why it is not available */
	uint64_t reference_khz;
	uint64_t ready_ns;
	uint32_t origin;		/* enum kjoule_origin */
	uint64_t period_ns;
	uint64_t reads;
	uint64_t errors;
	uint64_t overruns;
	char meter[KJOULE_NAME_LEN];
	char inside[KJOULE_NAME_LEN];
	char same_as[KJOULE_NAME_LEN];
	uint32_t n_domains;
	struct kjoule_domain_info domains[KJOULE_MAX_DOMAINS];
	struct kjoule_scopes *scopes;
};

/**
 * kjoule_scope() - the lowest CPU of the session that shares counters with @cpu; KJOULE_NO_SCOPE
 */
uint16_t kjoule_scope(const struct kjoule_source_info *src, uint32_t cpu);
/** kjoule_scope_set() - Return: 0, -ENOMEM, -ERANGE */
int kjoule_scope_set(struct kjoule_source_info *src, uint32_t cpu, uint16_t scope);
/** kjoule_scopes_copy() - replace a copied structure's table by its own. Return: 0 or -ENOMEM */
int kjoule_scopes_copy(struct kjoule_source_info *to, const struct kjoule_source_info *from);

/**
 * struct kjoule_source_spec - a source that a session is to use, see source-spec of the netlink
 *			       specification
 * @fd: of the value file; stays the caller's
 */
struct kjoule_source_spec {
	uint32_t origin;		/* enum kjoule_origin */
	char name[KJOULE_NAME_LEN];	/* cut to the module's limit */
	uint32_t class;
	uint32_t quantity;
	uint64_t unit_mult;		/* 0: 1 */
	uint32_t unit_shift;
	uint64_t range;
	uint64_t period_ns;
	int fd;
	uint32_t perf_type;
	uint64_t perf_config;
};

/**
 * struct kjoule_session_params - request for a new session
 * @interval_ns: time between ticks, within the module's limits (struct kjoule_info)
 * @jitter_ns: below @interval_ns
 * @target: enum kjoule_target_kind
 * @pid: for KJOULE_TARGET_PROCESS and KJOULE_TARGET_THREAD
 * @cpus: NULL for all online ones
 * @ring_bytes: per CPU, a power of two, 0 for the default
 * @wakeup_bytes: 0 for a quarter of the ring
 * @energy_source,@frequency_source: a name, "" for none, NULL for the default
 * @flags: enum kjoule_session_flag
 * @cgroup_fd: a directory, for KJOULE_TARGET_CGROUP
 * @specs,@n_specs: additional sources or, without @energy_source, instead of it
 * @chain_depth: frames of each kind, with a chain's flag; 0 for the default
 * @stack_bytes: with KJOULE_FLAG_USER_STACK, a multiple of 8; 0 for the default
 * @edge_duty: edge windows that pause the CPUs for so many thousandths of the time, 30 to 500; 0:
 *   none
 * @vpm: readings of blocks, see kjoule_session_block(), @vpm_interval_ns apart (0: the module's
 *   default) by the meter @vpm_source (NULL: the first that starts on command)
 */
struct kjoule_session_params {
	uint64_t interval_ns;
	uint64_t jitter_ns;
	uint32_t target;
	uint32_t pid;
	const struct kjoule_cpus *cpus;
	uint32_t ring_bytes;
	uint32_t wakeup_bytes;
	const char *energy_source;
	const char *frequency_source;
	uint64_t flags;
	int cgroup_fd;
	const struct kjoule_source_spec *specs;
	size_t n_specs;
	uint32_t chain_depth;
	uint32_t stack_bytes;
	uint32_t edge_duty;
	bool vpm;
	uint64_t vpm_interval_ns;
	const char *vpm_source;
};

/* Blocks of a session with readings. */
#define KJOULE_VPM_BLOCKS	16

/* A block as given to the recorder: user space's knowledge. */
struct kjoule_vpm_block {
	char name[128];
	char part[512];			/* as report's --block takes it */
	char object[256];		/* file that it is in */
	uint64_t start, end;		/* as in that file; @end 0: where the function returns to */
	uint64_t code_end;		/* end of its code; 0: in an older recording */
	uint32_t pid;			/* of its process */
};

/**
 * struct kjoule_vpm_info - readings of blocks; @interval_ns 0: there are none
 * @source: the meter
 * @ready_ns: its sensing interval
 * @peak_uw: the largest possible power, 0: unknown
 * @rest_uw: the least that was measured when the session was made
 * @rounds,@readings,@learnt,@unmet,@unended,@elsewhere,@crowded,@failed,@cut: see the netlink
 *   specification, as for the other counts, @skipped with them; @rounds 0 with others above 0: an
 *   older recording
 * @block: in the order of their numbers
 */
struct kjoule_vpm_info {
	uint64_t interval_ns;
	char source[KJOULE_NAME_LEN];
	uint64_t ready_ns, peak_uw, rest_uw;
	uint64_t rounds, readings, learnt, unmet, unended, elsewhere, crowded, spoilt, failed,
		cut, skipped;
	uint64_t held_ns, longest_ns;
	uint32_t n_blocks;
	struct kjoule_vpm_block block[KJOULE_VPM_BLOCKS];
};

/* Counts of edge windows; see the netlink specification. */
struct kjoule_edge_counters {
	uint64_t windows, spins, failed, paused;
	uint64_t held_ns, longest_ns;
};

/* A session, as reported by the module. */
struct kjoule_session_info {
	uint32_t id;
	uint64_t interval_ns;
	uint64_t jitter_ns;
	uint32_t target;
	uint32_t pid;
	struct kjoule_cpus cpus;
	uint32_t ring_bytes;
	uint32_t wakeup_bytes;
	uint64_t flags;			/* enum kjoule_session_flag */
	uint32_t children;
	uint64_t children_lost;
	uint32_t chain_depth;
	uint32_t stack_bytes;
	uint32_t user;			/* uid of its owner */
	uint32_t edge_duty;		/* 0: no edge windows */
	struct kjoule_edge_counters edge;
	struct kjoule_vpm_info vpm;
	uint32_t state;			/* enum kjoule_session_state */
	uint64_t t0_ns;
	/* tick 0 of a recording's part, which is due at @t0_ns or after it */
	uint64_t first_tick;
	uint64_t seed;
	uint64_t stop_ns;
	uint32_t n_sources;
	struct kjoule_source_info sources[KJOULE_MAX_SOURCES];
};

/*
 * The counters of one CPU: due = produced + missed + parked (skipped while idle), records =
 * consumed + lost + waiting.
 */
struct kjoule_cpu_stats {
	uint32_t cpu;
	uint64_t due, produced, missed, parked, filtered;
	uint64_t records, consumed, lost, waiting;
	uint64_t samples;
	uint64_t tick_ns;		/* time in the tick's own code */
	uint64_t late_max_ns;
	uint64_t source_errors;
	uint64_t idle_ns;		/* time idle with skipped ticks */
	uint64_t stacks_withheld;	/* of tasks that the recorder may not trace */
};

struct kjoule_ctl;

/**
 * kjoule_ctl_open() - a control socket. Sessions made through it end with it.
 * Return: 0; -ENODEV if the module is not loaded; -errno
 */
int kjoule_ctl_open(struct kjoule_ctl **ctl, struct kjoule_error *err);
void kjoule_ctl_close(struct kjoule_ctl *ctl);

/** kjoule_sources() - all sources. @list is the caller's to free. Return: 0, -EPERM, -errno */
int kjoule_sources(struct kjoule_ctl *ctl, struct kjoule_source_info **list, size_t *n,
		   struct kjoule_error *err);

/** kjoule_session_info_clear() - free what the calls below have put into it */
void kjoule_session_info_clear(struct kjoule_session_info *info);

/** kjoule_session_new() - make a session, not running. Return: 0, -EPERM, -ESRCH, -errno */
int kjoule_session_new(struct kjoule_ctl *ctl, const struct kjoule_session_params *params,
		       struct kjoule_session_info *info, struct kjoule_error *err);
/**
 * kjoule_session_try() - would the module make such a session? It is made and ended again
 * @what: for messages
 * Return: 0 or -errno
 */
int kjoule_session_try(const struct kjoule_session_params *params, const char *what,
		       struct kjoule_error *err);
/*
 * Where a block is in a process: see struct kjoule_vpm_place of the module. @end 0: where it
 * returns to.
 */
struct kjoule_vpm_place {
	uint32_t pid;
	uint64_t start, next, end;
};

/**
 * kjoule_session_block() - add a block to a session made for readings
 * @number: out: of the block in the records
 * Return: 0 or -errno with the reason in @err
 */
int kjoule_session_block(struct kjoule_ctl *ctl, uint32_t id, const struct kjoule_vpm_place *place,
			 uint32_t *number, struct kjoule_error *err);
/** kjoule_session_start() - start its ticks; @info (may be NULL) then has t0 and seed. */
int kjoule_session_start(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_session_info *info,
			 struct kjoule_error *err);
/** kjoule_session_stop() - stop its ticks; the rings stay readable. */
int kjoule_session_stop(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_session_info *info,
			struct kjoule_error *err);
/** kjoule_session_del() - end it; with CAP_SYS_ADMIN, also another user's. */
int kjoule_session_del(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_error *err);
/** kjoule_stats() - a session's counters, an entry for each CPU. @list is the caller's to free. */
int kjoule_stats(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_cpu_stats **list, size_t *n,
		 struct kjoule_error *err);

/** kjoule_stats_total() - their sum over CPUs; late_max_ns is the maximum */
int kjoule_stats_total(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_cpu_stats *stats,
		       struct kjoule_error *err);
/** kjoule_sessions() - all sessions. @list is the caller's to free. */
int kjoule_sessions(struct kjoule_ctl *ctl, struct kjoule_session_info **list, size_t *n,
		    struct kjoule_error *err);

/* Whole records of one CPU's ring, pads included. Return: 0, or -errno to stop. */
typedef int kjoule_records_fn(uint32_t cpu, const void *buf, size_t len, void *arg);

/**
 * kjoule_session_records() - take the waiting records, without mapping the rings
 * @ctl: the one that made the session
 * @take: is called with them, CPU after CPU
 *
 * Return: 0; -EBUSY while a device is attached to the session; -EPERM; -errno. What was passed to
 *   @take is consumed; if @take stops early, the rest may be lost.
 */
int kjoule_session_records(struct kjoule_ctl *ctl, uint32_t id, kjoule_records_fn *take, void *arg,
			   struct kjoule_error *err);

/* Notices of what happens to all sessions */

struct kjoule_notice {
	uint32_t event;			/* enum kjoule_notice_event */
	uint64_t time_ns;
	uint32_t session;
	int32_t cpu;			/* -1: of no CPU in particular */
	char source[32];		/* "": of no source */
	uint64_t count;			/* records lost so far, or bytes that wait */
	uint32_t user;	/* uid of who ended another user's session, else UINT32_MAX */
};

struct kjoule_events;

/** kjoule_events_open() - listen from now on. Return: 0, -ENODEV not loaded, -EPERM, -errno */
int kjoule_events_open(struct kjoule_events **ev, struct kjoule_error *err);
void kjoule_events_close(struct kjoule_events *ev);
/** kjoule_events_fd() - to be polled for POLLIN */
int kjoule_events_fd(const struct kjoule_events *ev);
/**
 * kjoule_events_next() - take a notice; does not wait
 * Return: 1 with a notice, 0 when there is none, -ENOBUFS when some were dropped because they were
 *   not read in time (go on), -errno
 */
int kjoule_events_next(struct kjoule_events *ev, struct kjoule_notice *notice,
		       struct kjoule_error *err);
/** kjoule_event_name() - "session-started" and the like; "unknown" */
const char *kjoule_event_name(uint32_t event);

#endif /* KJOULE_CONTROL_H */
