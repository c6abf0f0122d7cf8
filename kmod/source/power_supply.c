// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources that are a power supply (a battery, a charger, a fuel gauge), by its name. It is looked
 * up for each reading and not held in between: the kernel warns if a driver removes a supply that
 * is held. While it is absent readings fail.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/power_supply.h>
#include <linux/slab.h>

#include "source/spec.h"

/**
 * struct supply - a source that is a power supply
 * @src:	the source
 * @spec:	as requested
 */
struct supply {
	struct kjoule_source src;
	struct kjoule_spec spec;
};

static int supply_read_power(struct power_supply *psy, s64 *uw)
{
	union power_supply_propval power, current_ua, voltage_uv;
	int err;

	if (!power_supply_get_property(psy, POWER_SUPPLY_PROP_POWER_NOW, &power)) {
		*uw = power.intval;
		return 0;
	}
	err = power_supply_get_property(psy, POWER_SUPPLY_PROP_CURRENT_NOW, &current_ua);
	if (!err)
		err = power_supply_get_property(psy, POWER_SUPPLY_PROP_VOLTAGE_NOW, &voltage_uv);
	if (!err)
		*uw = div_s64((s64)current_ua.intval * voltage_uv.intval, 1000000);
	return err;
}

static int supply_read(struct kjoule_source *src, unsigned int domain, s64 *raw)
{
	struct power_supply *psy = power_supply_get_by_name(src->name);
	int err;

	if (!psy)
		return -ENODEV;
	err = supply_read_power(psy, raw);
	power_supply_put(psy);
	return err;
}

static int supply_probe(struct kjoule_source *src, char *why, size_t len)
{
	struct power_supply *psy = power_supply_get_by_name(src->name);
	s64 uw;
	int err;

	if (!psy) {
		strscpy(why, "there is no power supply of that name", len);
		return -ENODEV;
	}
	err = supply_read_power(psy, &uw);
	power_supply_put(psy);
	if (err)
		strscpy(why, "the power supply reports neither its power nor current and voltage",
			len);
	return err ? -ENODEV : 0;
}

static void supply_release(struct kjoule_source *src)
{
	kfree(container_of(src, struct supply, src));
}

static const struct kjoule_source_ops supply_ops = {
	.read_value = supply_read,
	.probe = supply_probe,
	.release = supply_release,
};

/*
 * kjoule_power_supply_create() - create a source of a power supply. Return: the source or an
 * ERR_PTR: -EINVAL for another quantity than power, -ENOMEM
 */
struct kjoule_source *kjoule_power_supply_create(const struct kjoule_spec *spec, char *words)
{
	struct supply *supply;

	if (spec->given & BIT(KJOULE_A_SPEC_QUANTITY) &&
	    spec->quantity != KJOULE_QUANTITY_POWER) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: a power supply's quantity is power",
			 spec->name);
		return ERR_PTR(-EINVAL);
	}
	supply = kzalloc(sizeof(*supply), GFP_KERNEL_ACCOUNT);
	if (!supply)
		return ERR_PTR(-ENOMEM);
	supply->spec = *spec;
	supply->spec.quantity = KJOULE_QUANTITY_POWER;
	kjoule_spec_describe(&supply->spec, &supply->src);
	supply->src.ops = &supply_ops;
	return &supply->src;
}
