/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources of energy, cycles and precise instruction pointers. The registry (source.c) lists them;
 * the sampler reads the fast ones, a thread (poller.c) the slow ones; other modules register theirs
 * here. A source does not know its readers.
 *
 * All read callbacks but read_value run with interrupts off, on the CPU that they read: in hard
 * interrupt context; in the thread of a probe that times loops (read_cycles only); in the idle
 * task; and, except read_cycles and read_khz, inside the scheduler with the run queue locked, at
 * switches to and from idle and at due ticks. They must not sleep, take a contended lock, allocate
 * or print, and must not wake anything: no wake_up(), complete(), schedule_work() or queue_work();
 * an irq_work is allowed. A source that sets @ticks_only is not read inside the scheduler.
 *
 * A source with read_value is slow: it may sleep there, and has none of the others. Several threads
 * may call it at once, also for the same domain, from sessions and from sysfs: it locks what it
 * shares.
 *
 * A meter that starts on command is a slow source with @start and @read_started as well: it
 * averages over @ready_ns from its start. Both run with interrupts off, in hard interrupt context
 * or in the exception of a user space breakpoint, on any CPU, under the rules for ticks. A start
 * before the end of the last one restarts the meter. @start and @read_value share one meter: the
 * source makes sure that a reading belongs to the start that asks for it.
 */
#ifndef KJOULE_SOURCE_H
#define KJOULE_SOURCE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>

#include <linux/kjoule.h>
#include <linux/kjoule_netlink.h>

struct module;
struct pt_regs;

/* Longer than a name (31 characters in the specification of netlink). */
#define KJOULE_SOURCE_NAME_LEN	32

/* RAPL has five. Bounds the arrays of a meter; kjoule_energy.domains has room for 16. */
#define KJOULE_MAX_DOMAINS	8

/**
 * struct kjoule_domain - one counter or value of a source
 * @name:		"package", "core", "uncore", "dram", "psys"
 * @class:		KJOULE_DOMAIN_* from the uapi header
 * @width:		valid bits of the raw counter, 1 to 64
 * @range:		slow counters: wraps to 0 after this; 0: as @width says
 * @unit_mult:		one raw count is @unit_mult / 2^@unit_shift of the quantity's unit
 *			(microjoule, microwatt, thousandth of a degree, event); not 0
 * @unit_shift:		see @unit_mult; at most 64
 * @update_period_ns:	nominal time between two counter updates, 0 if unknown
 * @max_power_uw:	maximum power, for the time to a wrap; 0 if unknown
 * @parent:		index of the domain that contains this one, -1 if none: never add up a
 *			domain and its parent
 * @quantity:		enum kjoule_quantity: defines the unit
 */
struct kjoule_domain {
	char name[16];
	u32 class;
	u32 width;
	u64 range;
	u64 unit_mult;
	u32 unit_shift;
	int parent;
	u64 update_period_ns;
	u64 max_power_uw;
	u32 quantity;
};

struct kjoule_cycles {
	u64 cycles;		/* unhalted cycles since some point, wraps at 64 bits */
	u64 reference;		/* counts at source->reference_khz while not halted */
};

struct kjoule_source;

/* Longer than any reason that a source here gives; what is longer is cut. */
#define KJOULE_WHY_LEN	96

/* Package of a CPU without a PMU counter, or not yet. */
#define KJOULE_PACKAGE_NONE	(-1)

/**
 * struct kjoule_source_ops - what a source can do
 * @read_energy:	raw value of a domain of this CPU's package. Returns 0, or -errno (counted
 *			as a read error)
 * @read_cycles:	cycles and reference of this CPU. Returns 0 or -errno
 * @read_khz:		for a frequency source without @read_cycles: the frequency of this CPU, 0 if
 *			unknown
 * @precise_ip:		the instruction during which the current interrupt came, if the hardware
 *			knows it. @regs is the interrupted context. Returns 0 and *@ip, or -ENODATA
 * @read_value:		makes a slow source. Process context, may sleep, called concurrently. Raw
 *			value of a domain: of a counter, or the current one of a gauge. Returns 0 or
 *			-errno (counted)
 * @start:		of a meter that starts on command: start it; its domain is a gauge of power.
 *			Returns 0, or -errno (in use, or no answer)
 * @read_started:	the mean since the last @start, after @ready_ns. Returns 0, -EAGAIN until it
 *			is ready, -ECANCELED if it was restarted by another user, or -errno
 * @package:		optional: the package (scope of the energy counters) of a CPU; the physical
 *			package if left out
 * @owner:		optional: the only CPU that can read the counters of the scope of @cpu, or
 *			-1 if all of them can. May change with CPU hotplug; a source that learns it
 *			later calls kjoule_source_owner_changed(). A session without that CPU is
 *			refused, or gets source-lost
 * @online:		optional, process context, CPU hotplug is locked: @cpu is online again,
 *			before it ticks. Called for each session that uses the source. For a PMU's
 *			counter also once after the session is listed, with any @cpu
 * @offline:		optional, likewise: @cpu goes offline and ticks no more
 * @read_failing:	optional, process context: reading in the tick has failed many times in a
 *			row. Called each second while it fails. Like @online and @offline it must
 *			not call or wait for kjoule_source_owner_changed(), except from a work item
 * @probe:		optional, process context: is the counter updated, is the unit valid?
 *			Returns 0, or -errno with a reason in @why. Called when listed or chosen.
 *			Without it the counters of a fast source are checked for updates: see @stuck
 * @release:		of a source created for one session: frees it
 */
struct kjoule_source_ops {
	int (*read_energy)(struct kjoule_source *src, unsigned int domain, u64 *raw);
	int (*read_cycles)(struct kjoule_source *src, struct kjoule_cycles *c);
	u32 (*read_khz)(struct kjoule_source *src);
	int (*precise_ip)(struct kjoule_source *src, const struct pt_regs *regs, u64 *ip);
	int (*read_value)(struct kjoule_source *src, unsigned int domain, s64 *raw);
	int (*start)(struct kjoule_source *src, unsigned int domain);
	int (*read_started)(struct kjoule_source *src, unsigned int domain, s64 *raw);
	int (*package)(struct kjoule_source *src, unsigned int cpu);
	int (*owner)(struct kjoule_source *src, unsigned int cpu);
	void (*online)(struct kjoule_source *src, unsigned int cpu);
	void (*offline)(struct kjoule_source *src, unsigned int cpu);
	void (*read_failing)(struct kjoule_source *src);
	int (*probe)(struct kjoule_source *src, char *why, size_t len);
	void (*release)(struct kjoule_source *src);
};

/**
 * struct kjoule_source - one source, owned by the module that registers it
 * @name:		unique, shown by "kjoule list", e.g. "rapl-msr"
 * @kind:		what it measures
 * @owner:		pinned while a session, or a job of a probe, uses the source
 * @ops:		callbacks
 * @rating:		the available source of a kind with the highest rating is the default
 * @requested_only:	a frequency source with requested, not measured values
 * @ticks_only:		not read inside the scheduler: @read_energy may wake something
 * @origin:		KJOULE_ORIGIN_REGISTERED for registered sources
 * @period_ns:		slow sources: default time between two readings, 0 for
 *			KJOULE_PERIOD_DEFAULT_NS
 * @ready_ns:		with @start: sensing interval, at most KJOULE_READY_MAX_NS
 * @n_domains:		energy sources and gauges: number of counters or values
 * @domains:		energy sources and gauges: counters or values
 * @reference_khz:	frequency sources: rate of the reference counter
 * @priv:		private to the owner
 * @stuck:		fast energy sources: domains that were not updating when last listed or
 *			chosen; not used until they are. Set by the registry or by @probe
 * @probed_ns:		registry: CLOCK_MONOTONIC of the last probe
 * @probed:		registry: its result, 0 or -errno
 * @why:		registry: the reason, "" if there is none
 * @node:		registry
 * @id:			registry: a number that is not reused
 * @errors:		registry: values that sessions could not read
 */
struct kjoule_source {
	const char *name;
	enum kjoule_source_kind kind;
	struct module *owner;
	const struct kjoule_source_ops *ops;
	int rating;
	bool requested_only;
	bool ticks_only;
	enum kjoule_origin origin;
	u64 period_ns;
	u64 ready_ns;
	unsigned int n_domains;
	struct kjoule_domain domains[KJOULE_MAX_DOMAINS];
	u64 reference_khz;
	void *priv;

	u32 stuck;
	u64 probed_ns;
	int probed;
	char why[KJOULE_WHY_LEN];
	struct list_head node;
	u32 id;
	atomic64_t errors;
};

/*
 * Of a slow source. Not tuned: a source that knows its device's period sets its own default; the
 * minimum keeps a thread from using up its CPU.
 */
#define KJOULE_PERIOD_DEFAULT_NS	(100 * 1000 * 1000ULL)
#define KJOULE_PERIOD_MIN_NS		(1000 * 1000ULL)
#define KJOULE_PERIOD_MAX_NS		(3600ULL * 1000 * 1000 * 1000)

/*
 * Of a meter that starts on command: a CPU is paused for this time for a reading, with interrupts
 * off. That of profile exynos, the longest that is measured (Documentation/accuracy.rst).
 */
#define KJOULE_READY_MAX_NS	(20 * 1000 * 1000ULL)

int kjoule_source_register(struct kjoule_source *src);
void kjoule_source_unregister(struct kjoule_source *src);
void kjoule_source_owner_changed(void);

/* For the module's own use from here. */

struct kjoule_source *kjoule_source_get(enum kjoule_source_kind kind, const char *name, u32 *stuck);
struct kjoule_source *kjoule_source_get_startable(const char *name);
void kjoule_source_put(struct kjoule_source *src);
void kjoule_source_on_owner_change(void (*ask)(void));
bool kjoule_source_is_slow(const struct kjoule_source *src);
bool kjoule_source_is_registered(const char *name);
int kjoule_source_probe(struct kjoule_source *src, char *why);
int kjoule_source_package(struct kjoule_source *src, unsigned int cpu);
void kjoule_source_walk(void (*visit)(struct kjoule_source *src));
int kjoule_source_for_each(int (*visit)(struct kjoule_source *src, int unavailable,
					const char *why, bool is_default, void *data),
			   void *data);

int kjoule_builtin_init(void);
void kjoule_builtin_exit(void);
int kjoule_rapl_init(void);
void kjoule_rapl_exit(void);
int kjoule_aperf_init(void);
void kjoule_aperf_exit(void);
int kjoule_cpufreq_init(void);
void kjoule_cpufreq_exit(void);

#endif
