/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources: where energy, cycles and precise instruction pointers come from. The
 * registry (source.c) keeps the list; the sampler reads the fast ones, a thread
 * (poller.c) the slow ones; other modules register theirs here. A source knows its
 * hardware and nothing else: not who reads it, how often, or what becomes of the value.
 *
 * All read callbacks but read_value run with interrupts off, on the CPU that they are asked about,
 * in hard interrupt context, in the thread of a probe that times loops (read_cycles only), in the
 * idle task where one that polls there begins, pauses or is made to read, or, where a CPU falls
 * idle or comes back and where a tick is due as a task is left, inside the scheduler with its run
 * queue locked (never read_cycles and read_khz). They must not sleep, take a
 * contended lock, allocate or print, and must not wake anything: no wake_up(), complete(),
 * schedule_work() or queue_work(); an irq_work is allowed. One that sets @ticks_only is not read
 * inside the scheduler. A source with read_value is slow: it may sleep in there, and has none of
 * the others. It may be called by several at once, the threads of sessions and who reads the file
 * in sysfs, also for the same domain: what it shares it has to lock.
 *
 * A meter that starts on command is a slow source with @start and @read_started besides: it
 * averages over @ready_ns from its start on. These two run with interrupts off, in hard interrupt
 * context or in the exception of a breakpoint in user space, on any CPU; they have all the bounds
 * of those for ticks. A start before the end of the last one starts the meter anew. What is started
 * there and what @read_value starts share one meter: the source sees to it that a reading is of the
 * start that asks for it.
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

#define KJOULE_SOURCE_NAME_LEN	32
#define KJOULE_MAX_DOMAINS	8

/**
 * struct kjoule_domain - one counter or value of a source
 * @name:		the field's own name: "package", "core", "uncore", "dram", "psys"
 * @class:		KJOULE_DOMAIN_* from the uapi header
 * @width:		valid bits of the raw counter, 1 to 64; above them everything is 64 bits
 * @range:		slow counters: from 0 to this and from 0 again; 0: as @width says
 * @unit_mult:		one raw count is @unit_mult / 2^@unit_shift of the quantity's unit
 *			(microjoule, microwatt, thousandth of a degree, event); not 0
 * @unit_shift:		see @unit_mult; at most 64
 * @update_period_ns:	nominal time between two moves of the counter, 0 if unknown
 * @max_power_uw:	the most the domain can draw, for the time to a wrap; 0 if unknown
 * @parent:		index of the domain that contains this one, -1 if none: never add up
 *			a domain and its parent
 * @quantity:		enum kjoule_quantity: what is counted or told; then "microjoule" above is
 *			that quantity's unit
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

/* A reading of a frequency source. */
struct kjoule_cycles {
	u64 cycles;		/* unhalted cycles since some point, wraps at 64 bits */
	u64 reference;		/* counts at source->reference_khz while not halted */
};

struct kjoule_source;

#define KJOULE_WHY_LEN	96

/* Of a CPU on which a PMU's counter was not made, or not yet. */
#define KJOULE_PACKAGE_NONE	(-1)

/**
 * struct kjoule_source_ops - what a source can do
 * @read_energy:	raw value of a domain of the package that this CPU belongs to. Gives 0, or
 *			-errno (counted as a read error)
 * @read_cycles:	cycles and reference of this CPU. Gives 0 or -errno
 * @read_khz:		for a frequency source without counters: the frequency of this CPU, 0 if
 *			unknown. Used where @read_cycles is NULL
 * @precise_ip:		the instruction on which time was passing when the interrupt that is being
 *			handled came, where the hardware knows it. @regs is what was interrupted.
 *			Gives 0 and *@ip, or -ENODATA
 * @read_value:		makes a slow source. Process context, may sleep, several at once. Raw value
 *			of a domain: of a counter, or what a gauge shows now. Gives 0 or -errno
 *			(counted)
 * @start:		of a meter that starts on command: start it now; its domain is a gauge of
 *			power. Gives 0, or -errno (it is in use, or does not answer)
 * @read_started:	the mean since the last @start, when @ready_ns have passed. Gives 0, -EAGAIN
 *			as long as it is not ready, -ECANCELED if it was started by somebody else
 *			since, -errno
 * @package:		optional: which package (the scope of the energy counters) a CPU belongs to;
 *			the physical package if left out
 * @owner:		optional: the only CPU that can read the counters of the scope of @cpu, or
 *			-1 if all of them can. May change with CPU hotplug; a source that knows
 *			later only calls kjoule_source_owner_changed(). A session without that CPU
 *			is refused, or told that the source is lost
 * @online:		optional, process context, CPU hotplug is held off: @cpu is online again,
 *			before it ticks. Called once for each session that uses the source, so not
 *			at all while there is none. Of a PMU's counter also once the session is
 *			listed, for what it has missed until then; @cpu may be any then
 * @offline:		optional, likewise: @cpu goes offline and ticks no more
 * @read_failing:	optional, process context: reading in the tick has failed many times in a
 *			row. Called again each second while it goes on to fail. Like @online and
 *			@offline it must not call or wait for kjoule_source_owner_changed(), but may
 *			leave that to a work item
 * @probe:		optional, process context: does the counter move, is the unit sane? Gives 0,
 *			or -errno with a reason in @why. Called when listed or chosen. The counters
 *			of a fast source without it are watched instead: see @stuck
 * @release:		of a source that was made for one session: called when it is given back
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
 * @name:		unique, as shown by "kjoule list", e.g. "rapl-msr"
 * @kind:		what it delivers
 * @owner:		pinned while a session, or a job of a probe, uses the source
 * @ops:		callbacks
 * @rating:		the available source of a kind with the highest rating is the default
 * @requested_only:	a frequency source that tells the request, not what was granted
 * @ticks_only:		not read when a task is left for another or none, where the scheduler
 *			holds its lock: what @read_energy calls may wake something
 * @origin:		where it comes from; KJOULE_ORIGIN_REGISTERED for whoever registers
 * @period_ns:		slow sources: between two readings unless the session says otherwise, 0
 *			for KJOULE_PERIOD_DEFAULT_NS
 * @ready_ns:		with @start: a reading is ready so long after it, and the mean over that;
 *			at most KJOULE_READY_MAX_NS
 * @n_domains:		energy sources and gauges: how many counters or values
 * @domains:		energy sources and gauges: these
 * @reference_khz:	frequency sources: rate of the reference counter
 * @priv:		the registrant's
 *
 * @stuck:		fast energy sources: domains that were found to stand still when it was last
 *			listed or chosen; they are not there, until they are found to move. The
 *			registry's, or for @probe to set
 * @probed_ns:		the registry's: CLOCK_MONOTONIC at which it was last asked whether it works
 * @probed:		the registry's: 0 or -errno, the answer
 * @why:		the registry's: the reason, "" if there is none
 * @node:		the registry's
 * @id:			the registry's: a number that is not given twice
 * @errors:		the registry's: values that sessions have not got
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

/* Of a slow source. */
#define KJOULE_PERIOD_DEFAULT_NS	(100 * 1000 * 1000ULL)
#define KJOULE_PERIOD_MIN_NS		(1000 * 1000ULL)
#define KJOULE_PERIOD_MAX_NS		(3600ULL * 1000 * 1000 * 1000)

/* Of a meter that starts on command: for so long a CPU is held for a reading. */
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

#endif /* KJOULE_SOURCE_H */
