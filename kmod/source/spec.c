// SPDX-License-Identifier: GPL-2.0-only
/*
 * Specifications; see spec.h. A successful read proves nothing: a counter has to be updated and a
 * gauge to have a value before a session may use it, or absent hardware would show as 0 W.
 */
#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "source/spec.h"

#define GIVEN(name)	BIT(KJOULE_A_SPEC_##name)
#define ALWAYS		(GIVEN(ORIGIN) | GIVEN(NAME))
#define VALUE		(GIVEN(CLASS) | GIVEN(QUANTITY))
#define UNIT		(GIVEN(UNIT_MULT) | GIVEN(UNIT_SHIFT))

static const struct {
	const char *name;
	u32 may;
	u32 must;
} origins[] = {
	[KJOULE_ORIGIN_REGISTERED] = {
		"a registered source", ALWAYS | GIVEN(PERIOD_NS), GIVEN(NAME) },
	[KJOULE_ORIGIN_PERF_PMU] = {
		"a perf PMU", ALWAYS | VALUE | UNIT | GIVEN(PERF_TYPE) | GIVEN(PERF_CONFIG),
		GIVEN(NAME) | GIVEN(PERF_TYPE) },
	[KJOULE_ORIGIN_VALUE_FILE] = {
		"a value file", ALWAYS | VALUE | UNIT | GIVEN(RANGE) | GIVEN(PERIOD_NS) | GIVEN(FD),
		GIVEN(NAME) | GIVEN(FD) },
	[KJOULE_ORIGIN_POWER_SUPPLY] = {
		"a power supply", ALWAYS | VALUE | GIVEN(PERIOD_NS), GIVEN(NAME) },
};

static const char *const attribute[] = {
	[KJOULE_A_SPEC_NAME] = "name",
	[KJOULE_A_SPEC_CLASS] = "class",
	[KJOULE_A_SPEC_QUANTITY] = "quantity",
	[KJOULE_A_SPEC_UNIT_MULT] = "unit-mult",
	[KJOULE_A_SPEC_UNIT_SHIFT] = "unit-shift",
	[KJOULE_A_SPEC_RANGE] = "range",
	[KJOULE_A_SPEC_PERIOD_NS] = "period",
	[KJOULE_A_SPEC_FD] = "descriptor",
	[KJOULE_A_SPEC_PERF_TYPE] = "perf type",
	[KJOULE_A_SPEC_PERF_CONFIG] = "perf config",
};

/* Names are printed, in messages and in files with one line each. */
static bool name_has_control(const char *name)
{
	while (*name && !iscntrl(*name))
		name++;
	return *name;
}

static int spec_check(const struct kjoule_spec *spec, char *words)
{
	u32 surplus = spec->given & ~origins[spec->origin].may;
	u32 lacking = origins[spec->origin].must & ~spec->given;

	if (name_has_control(spec->name)) {
		snprintf(words, KJOULE_WORDS_LEN, "a source's name has a control character");
		return -EINVAL;
	}
	if (surplus || lacking) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: %s %s %s", spec->name,
			 origins[spec->origin].name, lacking ? "needs a" : "takes no",
			 attribute[__ffs(lacking ?: surplus)]);
		return -EINVAL;
	}
	if (!spec->name[0]) {
		snprintf(words, KJOULE_WORDS_LEN, "a source's name is empty");
		return -EINVAL;
	}
	if ((spec->given & GIVEN(UNIT_MULT) && !spec->unit_mult) || spec->unit_shift > 64) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: %s", spec->name,
			 spec->unit_mult ? "the unit's shift is over 64" : "the unit is zero");
		return -EINVAL;
	}
	if (spec->class > KJOULE_DOMAIN_PSYS) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: unknown class", spec->name);
		return -EINVAL;
	}
	if (spec->range && !kjoule_spec_is_counter(spec)) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: a range is for counters", spec->name);
		return -EINVAL;
	}
	if (spec->period_ns && (spec->period_ns < KJOULE_PERIOD_MIN_NS ||
				spec->period_ns > KJOULE_PERIOD_MAX_NS)) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: period is out of range: 1 ms to 1 h",
			 spec->name);
		return -ERANGE;
	}
	return 0;
}

static int spec_check_name(const struct kjoule_spec *spec, char *words)
{
	if (spec->origin != KJOULE_ORIGIN_PERF_PMU && spec->origin != KJOULE_ORIGIN_VALUE_FILE)
		return 0;
	if (!kjoule_source_is_registered(spec->name))
		return 0;
	snprintf(words, KJOULE_WORDS_LEN, "%s: a registered source's name; take another",
		 spec->name);
	return -EEXIST;
}

static int spec_check_domain(struct kjoule_source *src, unsigned int domain, char *words)
{
	unsigned long end = jiffies + msecs_to_jiffies(KJOULE_UPDATE_TIMEOUT_MS);
	s64 first, now;
	int err;

	err = src->ops->read_value(src, domain, &first);
	if (err) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: cannot be read (error %d)", src->name,
			 -err);
		return err == -ENOMEM ? err : -ENODEV;
	}
	/* events may be rare; energy is always updated */
	if (src->domains[domain].quantity != KJOULE_QUANTITY_ENERGY)
		return 0;
	while (time_before(jiffies, end) && !fatal_signal_pending(current)) {
		usleep_range(2000, 2500);
		err = src->ops->read_value(src, domain, &now);
		if (!err && now != first)
			return 0;
	}
	snprintf(words, KJOULE_WORDS_LEN, "%s: the counter is stuck at %lld", src->name, first);
	return -ENODEV;
}

static int spec_check_updates(struct kjoule_source *src, char *words)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < src->n_domains && !err && kjoule_source_is_slow(src); i++)
		err = spec_check_domain(src, i, words);
	return err;
}

static int spec_probe(struct kjoule_source *src, char *words)
{
	char why[KJOULE_WHY_LEN] = "";
	int err = src->ops->probe ? src->ops->probe(src, why, sizeof(why)) : 0;

	if (err)
		snprintf(words, KJOULE_WORDS_LEN, "%s: %s", src->name, why);
	return err ?: spec_check_updates(src, words);
}

/**
 * kjoule_spec_check_updates() - is a registered source readable, and updated?
 * @src:	from kjoule_source_get(), which has checked sources of ticks
 * @words:	set to the reason if not
 * Return: 0, -ENODEV (also if the caller is being killed) or -ENOMEM
 */
int kjoule_spec_check_updates(struct kjoule_source *src, char *words)
{
	return src->ops->probe ? 0 : spec_check_updates(src, words);
}

static struct kjoule_source *spec_get_registered(const struct kjoule_spec *spec, char *words,
						 u32 *stuck)
{
	struct kjoule_source *src = kjoule_source_get(KJOULE_KIND_ENERGY, spec->name, stuck);
	int err = 0;

	if (src == ERR_PTR(-ENOENT))
		src = kjoule_source_get(KJOULE_KIND_GAUGE, spec->name, stuck);
	if (src == ERR_PTR(-ENOENT))
		snprintf(words, KJOULE_WORDS_LEN, "%s: there is no source of that name",
			 spec->name);
	else if (IS_ERR(src))
		snprintf(words, KJOULE_WORDS_LEN, "%s: does not work here; source-get says why",
			 spec->name);
	if (IS_ERR(src))
		return src;
	if (!kjoule_source_is_slow(src) && spec->period_ns) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: is read in the tick, it has no period",
			 spec->name);
		err = -EINVAL;
	} else {
		err = kjoule_spec_check_updates(src, words);
	}
	if (err) {
		kjoule_source_put(src);
		return ERR_PTR(err);
	}
	return src;
}

/**
 * kjoule_spec_get_source() - find or create the specified source, and check that it works
 * @spec:	the specification; the caller's descriptors and rights are used
 * @cpus:	of the session
 * @words:	of KJOULE_WORDS_LEN, set to the reason of an error or left alone
 * @stuck:	set to its domains that are not updating
 * Return: the source, for kjoule_source_put(), or an ERR_PTR: -EINVAL, -ERANGE, -EEXIST (name in
 * use), -ENOENT (no source of that name), -EBADF, -EPERM, -ENODEV (it does not work), -ENXIO (it is
 * read on a CPU outside the session), -ENOMEM, or the PMU's error
 */
struct kjoule_source *kjoule_spec_get_source(const struct kjoule_spec *spec,
					     const struct cpumask *cpus, char *words, u32 *stuck)
{
	struct kjoule_source *src;
	int err;

	err = spec_check(spec, words) ?: spec_check_name(spec, words);
	if (err)
		return ERR_PTR(err);
	switch (spec->origin) {
	case KJOULE_ORIGIN_PERF_PMU:
		src = kjoule_perf_pmu_create(spec, cpus, words);
		break;
	case KJOULE_ORIGIN_VALUE_FILE:
		src = kjoule_value_file_create(spec, words);
		break;
	case KJOULE_ORIGIN_POWER_SUPPLY:
		src = kjoule_power_supply_create(spec, words);
		break;
	default:
		return spec_get_registered(spec, words, stuck);
	}
	*stuck = 0;
	if (IS_ERR(src))
		return src;
	err = spec_probe(src, words);
	if (err) {
		kjoule_source_put(src);
		return ERR_PTR(err);
	}
	return src;
}
