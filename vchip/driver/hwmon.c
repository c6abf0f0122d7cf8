// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each package's power, energy, temperature and fan as a hwmon device, for sensors(1) and the
 * like. Energy and power are a side channel (CVE-2020-8694): for root only.
 */

#include <linux/err.h>
#include <linux/hwmon.h>
#include <linux/kernel.h>
#include <linux/pci.h>

#include "vchip.h"

#define FAN_RPM		3000	/* at its fastest */
#define PWM_MAX		255

static struct vchip_hwmon {
	const struct vchip *chip;
	struct vchip_pkg *pkg;
	unsigned int package;
	char label[24];
	struct device *dev;
} hwmons[VCHIP_MAX_PACKAGES];

/* Of its speed, in thousandths. */
static unsigned int fan_speed(const struct vchip_hwmon *h)
{
	return 1000 - min(READ_ONCE(h->pkg->fan_slower), 1000U);
}

static umode_t vchip_hwmon_is_visible(const void *data, enum hwmon_sensor_types type,
				      u32 attr, int channel)
{
	if ((type == hwmon_power && attr == hwmon_power_input) ||
	    (type == hwmon_energy && attr == hwmon_energy_input))
		return 0400;
	if (type == hwmon_fan || type == hwmon_pwm) {
		if (!((const struct vchip_hwmon *)data)->chip->head->has_fan)
			return 0;
		return type == hwmon_pwm ? 0644 : 0444;
	}
	return 0444;
}

static int vchip_hwmon_read(struct device *dev, enum hwmon_sensor_types type, u32 attr,
			    int channel, long *value)
{
	const struct vchip_hwmon *h = dev_get_drvdata(dev);

	if (type == hwmon_power && attr == hwmon_power_input)
		*value = READ_ONCE(h->pkg->power_uw);
	else if (type == hwmon_energy && attr == hwmon_energy_input)
		*value = vchip_energy_uj(h->package, VCHIP_DOMAIN_PACKAGE);
	else if (type == hwmon_temp && attr == hwmon_temp_input)
		*value = READ_ONCE(h->pkg->temp_mc);
	else if (type == hwmon_temp && attr == hwmon_temp_crit)
		*value = h->chip->head->tjmax_mc;
	else if (type == hwmon_fan && attr == hwmon_fan_input)
		*value = FAN_RPM * fan_speed(h) / 1000;
	else if (type == hwmon_pwm && attr == hwmon_pwm_input)
		*value = DIV_ROUND_CLOSEST(PWM_MAX * fan_speed(h), 1000);
	else
		return -EOPNOTSUPP;
	return 0;
}

static int vchip_hwmon_write(struct device *dev, enum hwmon_sensor_types type, u32 attr,
			     int channel, long value)
{
	const struct vchip_hwmon *h = dev_get_drvdata(dev);

	if (type != hwmon_pwm || attr != hwmon_pwm_input)
		return -EOPNOTSUPP;
	if (value < 0 || value > PWM_MAX)
		return -EINVAL;
	WRITE_ONCE(h->pkg->fan_slower, 1000 - DIV_ROUND_CLOSEST(1000 * value, PWM_MAX));
	return 0;
}

static int vchip_hwmon_read_string(struct device *dev, enum hwmon_sensor_types type,
				   u32 attr, int channel, const char **str)
{
	const struct vchip_hwmon *h = dev_get_drvdata(dev);

	*str = h->label;
	return 0;
}

static const struct hwmon_channel_info *vchip_hwmon_info[] = {
	HWMON_CHANNEL_INFO(power, HWMON_P_INPUT | HWMON_P_LABEL),
	HWMON_CHANNEL_INFO(energy, HWMON_E_INPUT | HWMON_E_LABEL),
	HWMON_CHANNEL_INFO(temp, HWMON_T_INPUT | HWMON_T_CRIT | HWMON_T_LABEL),
	HWMON_CHANNEL_INFO(fan, HWMON_F_INPUT),
	HWMON_CHANNEL_INFO(pwm, HWMON_PWM_INPUT),
	NULL
};

static const struct hwmon_ops vchip_hwmon_ops = {
	.is_visible	= vchip_hwmon_is_visible,
	.read		= vchip_hwmon_read,
	.write		= vchip_hwmon_write,
	.read_string	= vchip_hwmon_read_string,
};

static const struct hwmon_chip_info vchip_hwmon_chip = {
	.ops	= &vchip_hwmon_ops,
	.info	= vchip_hwmon_info,
};

static void hwmons_unregister(unsigned int n)
{
	while (n--)
		hwmon_device_unregister(hwmons[n].dev);
}

/**
 * vchip_hwmon_init() - register a hwmon device "vchip" for each package
 * @chip:	the chip
 *
 * What they show is labelled "package", or "package-0" and so on where there are several.
 *
 * Return: 0 or -errno.
 */
int vchip_hwmon_init(struct vchip *chip)
{
	unsigned int i;

	for (i = 0; i < chip->packages; i++) {
		struct vchip_hwmon *h = &hwmons[i];

		*h = (struct vchip_hwmon){ .chip = chip, .pkg = vchip_pkg(chip, i), .package = i };
		snprintf(h->label, sizeof(h->label), chip->packages > 1 ? "package-%u" : "package",
			 i);
		h->dev = hwmon_device_register_with_info(&chip->pdev->dev, "vchip", h,
							 &vchip_hwmon_chip, NULL);
		if (IS_ERR(h->dev)) {
			hwmons_unregister(i);
			return PTR_ERR(h->dev);
		}
	}
	return 0;
}

/**
 * vchip_hwmon_exit() - unregister
 * @chip:	the chip
 */
void vchip_hwmon_exit(struct vchip *chip)
{
	hwmons_unregister(chip->packages);
}
