// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's power as two power supplies: "vchip" reports its power, "vchip-cell" only
 * current and voltage, with the current negative while it discharges, as many
 * batteries have it.
 */

#include <linux/err.h>
#include <linux/math64.h>
#include <linux/pci.h>
#include <linux/power_supply.h>

#include "vchip.h"

#define CELL_VOLTAGE_UV	12000000

static const struct vchip *supply_chip;
static struct power_supply *supply, *cell;

/* A supply has all packages behind it. */
static u64 supply_power_uw(void)
{
	unsigned int i;
	u64 uw = 0;

	for (i = 0; i < supply_chip->packages; i++)
		uw += READ_ONCE(vchip_pkg(supply_chip, i)->power_uw);
	return uw;
}

static int supply_get_property(struct power_supply *psy, enum power_supply_property property,
			       union power_supply_propval *val)
{
	if (property != POWER_SUPPLY_PROP_POWER_NOW)
		return -EINVAL;
	val->intval = supply_power_uw();
	return 0;
}

static int cell_get_property(struct power_supply *psy, enum power_supply_property property,
			     union power_supply_propval *val)
{
	switch (property) {
	case POWER_SUPPLY_PROP_CURRENT_NOW:
		val->intval = -(s64)div_u64(supply_power_uw() * 1000000ULL, CELL_VOLTAGE_UV);
		return 0;
	case POWER_SUPPLY_PROP_VOLTAGE_NOW:
		val->intval = CELL_VOLTAGE_UV;
		return 0;
	default:
		return -EINVAL;
	}
}

static const enum power_supply_property supply_properties[] = {
	POWER_SUPPLY_PROP_POWER_NOW,
};

static const enum power_supply_property cell_properties[] = {
	POWER_SUPPLY_PROP_CURRENT_NOW,
	POWER_SUPPLY_PROP_VOLTAGE_NOW,
};

static const struct power_supply_desc supply_desc = {
	.name		= "vchip",
	.type		= POWER_SUPPLY_TYPE_MAINS,
	.properties	= supply_properties,
	.num_properties	= ARRAY_SIZE(supply_properties),
	.get_property	= supply_get_property,
};

static const struct power_supply_desc cell_desc = {
	.name		= "vchip-cell",
	.type		= POWER_SUPPLY_TYPE_BATTERY,
	.properties	= cell_properties,
	.num_properties	= ARRAY_SIZE(cell_properties),
	.get_property	= cell_get_property,
};

/**
 * vchip_supply_init() - register the supplies
 * @chip:	the chip
 *
 * Return: 0 or -errno.
 */
int vchip_supply_init(struct vchip *chip)
{
	struct power_supply_config config = { };

	supply_chip = chip;
	supply = power_supply_register(&chip->pdev->dev, &supply_desc, &config);
	if (IS_ERR(supply))
		return PTR_ERR(supply);
	cell = power_supply_register(&chip->pdev->dev, &cell_desc, &config);
	if (IS_ERR(cell)) {
		power_supply_unregister(supply);
		return PTR_ERR(cell);
	}
	return 0;
}

/**
 * vchip_supply_exit() - unregister
 * @chip:	the chip
 */
void vchip_supply_exit(struct vchip *chip)
{
	power_supply_unregister(cell);
	power_supply_unregister(supply);
}
