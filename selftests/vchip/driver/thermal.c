// SPDX-License-Identifier: GPL-2.0-only
/*
 * The package temperature as a thermal zone "vchip". It has no trip points: a chip
 * that a test heats to its limit must throttle, not have the guest powered off.
 */

#include <linux/err.h>
#include <linux/thermal.h>

#include "compat/compat.h"
#include "vchip.h"

static const struct vchip *thermal_chip;
static struct thermal_zone_device *thermal_zone;

static int vchip_thermal_get_temp(struct thermal_zone_device *zone, int *temp_mc)
{
	*temp_mc = READ_ONCE(thermal_chip->pkg->temp_mc);
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

/**
 * vchip_thermal_init() - register and enable the zone
 * @chip:	the chip
 *
 * Return: 0 or -errno.
 */
int vchip_thermal_init(struct vchip *chip)
{
	int ret;

	thermal_chip = chip;
	thermal_zone = thermal_tripless_zone_device_register("vchip", NULL,
							     &vchip_thermal_ops,
							     &vchip_thermal_params);
	if (IS_ERR(thermal_zone))
		return PTR_ERR(thermal_zone);
	ret = thermal_zone_device_enable(thermal_zone);
	if (ret)
		thermal_zone_device_unregister(thermal_zone);
	return ret;
}

/**
 * vchip_thermal_exit() - unregister
 * @chip:	the chip
 */
void vchip_thermal_exit(struct vchip *chip)
{
	thermal_zone_device_unregister(thermal_zone);
}
