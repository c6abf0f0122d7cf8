// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each package's temperature as a thermal zone "vchip". It has no trip points: a chip
 * that a test heats to its limit must throttle, not have the guest powered off.
 */

#include <linux/err.h>
#include <linux/thermal.h>

#include "compat/compat.h"
#include "vchip.h"

static struct thermal_zone_device *thermal_zones[VCHIP_MAX_PACKAGES];

static int vchip_thermal_get_temp(struct thermal_zone_device *zone, int *temp_mc)
{
	const struct vchip_pkg *pkg = thermal_zone_device_priv(zone);

	*temp_mc = READ_ONCE(pkg->temp_mc);
	return 0;
}

/* Not const: older thermal cores add their own callbacks. */
static struct thermal_zone_device_ops vchip_thermal_ops = {
	.get_temp = vchip_thermal_get_temp,
};

/* hwmon.c shows the temperature already. */
static struct thermal_zone_params vchip_thermal_params = {
	.no_hwmon = true,
};

static int thermal_register(unsigned int i, struct vchip_pkg *pkg)
{
	struct thermal_zone_device *zone;
	int ret;

	zone = thermal_tripless_zone_device_register("vchip", pkg, &vchip_thermal_ops,
						     &vchip_thermal_params);
	if (IS_ERR(zone))
		return PTR_ERR(zone);
	ret = thermal_zone_device_enable(zone);
	if (ret)
		thermal_zone_device_unregister(zone);
	thermal_zones[i] = zone;
	return ret;
}

static void thermal_unregister(unsigned int n)
{
	while (n--)
		thermal_zone_device_unregister(thermal_zones[n]);
}

/**
 * vchip_thermal_init() - register and enable the zones
 * @chip:	the chip
 *
 * Return: 0 or -errno.
 */
int vchip_thermal_init(struct vchip *chip)
{
	unsigned int i;
	int ret;

	for (i = 0; i < chip->packages; i++) {
		ret = thermal_register(i, vchip_pkg(chip, i));
		if (ret) {
			thermal_unregister(i);
			return ret;
		}
	}
	return 0;
}

/**
 * vchip_thermal_exit() - unregister
 * @chip:	the chip
 */
void vchip_thermal_exit(struct vchip *chip)
{
	thermal_unregister(chip->packages);
}
