// SPDX-License-Identifier: GPL-2.0-only
#include <linux/thermal.h>

struct thermal_zone_device *probe(const struct thermal_zone_device_ops *ops);
struct thermal_zone_device *probe(const struct thermal_zone_device_ops *ops)
{
	return thermal_tripless_zone_device_register("probe", NULL, ops, NULL);
}
