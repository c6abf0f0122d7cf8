/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Specifications of sources that a session requests in addition to its energy source: by name, as a
 * counter of a perf PMU, as a file or as a power supply. Checks them, and creates the source.
 * Called when a session is created.
 */
#ifndef KJOULE_SPEC_H
#define KJOULE_SPEC_H

#include <linux/cpumask.h>

#include "source/source.h"

/*
 * Formatted error texts. Since 6.3 the kernel passes on only their first 79 characters
 * (NETLINK_MAX_FMTMSG_LEN is 80): the important part comes first.
 */
#define KJOULE_WORDS_LEN	128

/*
 * Long enough for hardware that updates slowly while idle, such as 1 J at 3.3 W. session-new waits
 * for this long, under a lock of netlink, for a stuck domain (Documentation/design.rst, Sources).
 */
#define KJOULE_UPDATE_TIMEOUT_MS	300

/**
 * struct kjoule_spec - specification of a source; see source-spec of the netlink interface
 * @given:	bit KJOULE_A_SPEC_x: the attribute was present
 * @origin:	where the source comes from
 * @name:	of the source, "" if not given
 * @class:	KJOULE_DOMAIN_*
 * @quantity:	of its value
 * @unit_mult:	one raw count is @unit_mult / 2^@unit_shift
 * @unit_shift:	see @unit_mult
 * @range:	of a counter
 * @period_ns:	between two readings, 0 for the default
 * @fd:		of the file, in the caller's table
 * @perf_type:	of the PMU
 * @perf_config: of the counter
 */
struct kjoule_spec {
	u32 given;
	enum kjoule_origin origin;
	char name[KJOULE_SOURCE_NAME_LEN];
	u32 class;
	enum kjoule_quantity quantity;
	u64 unit_mult;
	u32 unit_shift;
	u64 range;
	u64 period_ns;
	u32 fd;
	u32 perf_type;
	u64 perf_config;
};

struct kjoule_source *kjoule_spec_get_source(const struct kjoule_spec *spec,
					     const struct cpumask *cpus, char *words, u32 *stuck);
int kjoule_spec_check_updates(struct kjoule_source *src, char *words);
void kjoule_spec_describe(const struct kjoule_spec *spec, struct kjoule_source *src);

static inline bool kjoule_spec_is_counter(const struct kjoule_spec *spec)
{
	return spec->quantity == KJOULE_QUANTITY_ENERGY ||
	       spec->quantity == KJOULE_QUANTITY_COUNT;
}

/* One for each origin that is not registered. All set @words on error. */
struct kjoule_source *kjoule_value_file_create(const struct kjoule_spec *spec, char *words);
struct kjoule_source *kjoule_power_supply_create(const struct kjoule_spec *spec, char *words);
struct kjoule_source *kjoule_perf_pmu_create(const struct kjoule_spec *spec,
					     const struct cpumask *cpus, char *words);

#endif
