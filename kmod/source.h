/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources: where energy, cycles and precise instruction pointers come from. The
 * registry (source.c) keeps the list; the sampler reads the chosen ones; other
 * modules register theirs here. A source knows its hardware and nothing else:
 * not who reads it, how often, or what becomes of the value.
 *
 * All read callbacks run in hard interrupt context with interrupts off, must not
 * sleep, take a contended lock, allocate or print, and run on the CPU that they
 * are asked about.
 */
#ifndef KJOULE_SOURCE_H
#define KJOULE_SOURCE_H

#include <linux/list.h>
#include <linux/types.h>

#include <linux/kjoule.h>
#include <linux/kjoule_netlink.h>

struct module;
struct pt_regs;

#define KJOULE_SOURCE_NAME_LEN	32
#define KJOULE_MAX_DOMAINS	8

/**
 * struct kjoule_domain - one energy counter of a source
 * @name:		the field's own name: "package", "core", "uncore", "dram", "psys"
 * @class:		KJOULE_DOMAIN_* from the uapi header
 * @width:		valid bits of the raw counter, 1 to 64; above them everything is 64 bits
 * @unit_mult:		energy of one raw count in microjoule is @unit_mult / 2^@unit_shift; not 0
 * @unit_shift:		see @unit_mult; at most 64
 * @update_period_ns:	nominal time between two moves of the counter, 0 if unknown
 * @max_power_uw:	the most the domain can draw, for the time to a wrap; 0 if unknown
 * @parent:		index of the domain that contains this one, -1 if none: never add up
 *			a domain and its parent
 */
struct kjoule_domain {
	char name[16];
	u32 class;
	u32 width;
	u64 unit_mult;
	u32 unit_shift;
	int parent;
	u64 update_period_ns;
	u64 max_power_uw;
};

/* A reading of a frequency source. */
struct kjoule_cycles {
	u64 cycles;		/* unhalted cycles since some point, wraps at 64 bits */
	u64 reference;		/* counts at source->reference_khz while not halted */
};

struct kjoule_source;

/**
 * struct kjoule_source_ops - what a source can do
 * @read_energy:	raw value of a domain of the package that this CPU belongs to.
 *			Gives 0, or -errno (counted as a read error)
 * @read_cycles:	cycles and reference of this CPU. Gives 0 or -errno
 * @read_khz:		for a frequency source without counters: the frequency of this CPU, 0 if
 *			unknown. Used where @read_cycles is NULL
 * @precise_ip:		the instruction on which time was passing when the interrupt that is
 *			being handled came, where the hardware knows it. @regs is what was
 *			interrupted. Gives 0 and *@ip, or -ENODATA
 * @package:		optional: which package (the scope of the energy counters) a CPU belongs to;
 *			the physical package if left out
 * @probe:		optional, process context: does the counter move, is the unit sane?
 *			Gives 0, or -errno with a reason in @why. Called when listed or chosen.
 */
struct kjoule_source_ops {
	int (*read_energy)(struct kjoule_source *src, unsigned int domain, u64 *raw);
	int (*read_cycles)(struct kjoule_source *src, struct kjoule_cycles *c);
	u32 (*read_khz)(struct kjoule_source *src);
	int (*precise_ip)(struct kjoule_source *src, const struct pt_regs *regs, u64 *ip);
	int (*package)(struct kjoule_source *src, unsigned int cpu);
	int (*probe)(struct kjoule_source *src, char *why, size_t len);
};

/**
 * struct kjoule_source - one source, owned by the module that registers it
 * @name:		unique, as shown by "kjoule list", e.g. "rapl-msr"
 * @kind:		what it delivers
 * @owner:		pinned while a session uses the source
 * @ops:		callbacks
 * @rating:		the available source of a kind with the highest rating is the default
 * @requested_only:	a frequency source that tells the request, not what was granted
 * @n_domains:		energy sources: how many counters
 * @domains:		energy sources: the counters
 * @reference_khz:	frequency sources: rate of the reference counter
 * @priv:		the registrant's
 *
 * @node:		the registry's
 * @id:			the registry's: a number that is not given twice
 */
struct kjoule_source {
	const char *name;
	enum kjoule_source_kind kind;
	struct module *owner;
	const struct kjoule_source_ops *ops;
	int rating;
	bool requested_only;
	unsigned int n_domains;
	struct kjoule_domain domains[KJOULE_MAX_DOMAINS];
	u64 reference_khz;
	void *priv;

	struct list_head node;
	u32 id;

};

#define KJOULE_WHY_LEN	96

int kjoule_source_register(struct kjoule_source *src);
void kjoule_source_unregister(struct kjoule_source *src);

/* For the module's own use from here. */

struct kjoule_source *kjoule_source_get(enum kjoule_source_kind kind, const char *name);
void kjoule_source_put(struct kjoule_source *src);
int kjoule_source_package(struct kjoule_source *src, unsigned int cpu);
int kjoule_source_for_each(int (*visit)(struct kjoule_source *src, int unavailable,
					const char *why, bool is_default, void *data),
			   void *data);

int kjoule_rapl_init(void);
void kjoule_rapl_exit(void);
int kjoule_aperf_init(void);
void kjoule_aperf_exit(void);
int kjoule_cpufreq_init(void);
void kjoule_cpufreq_exit(void);

#endif /* KJOULE_SOURCE_H */
