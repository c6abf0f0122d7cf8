// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's energy counters and power limits as a powercap control type, under the
 * names that RAPL has on real machines: intel-rapl:0 is package-0 with the limits PL1
 * (long_term, tau) and PL2 (short_term), intel-rapl:0:0 is the cores.
 */

#include <linux/err.h>
#include <linux/powercap.h>
#include <linux/slab.h>

#include "vchip.h"

/* What processors with RAPL usually report for PL2; the chip has no register for it. */
#define SHORT_TERM_WINDOW_US	2440

enum { LONG_TERM, SHORT_TERM, CONSTRAINTS };

static const struct vchip *powercap_chip;
static struct powercap_control_type *powercap_type;
static struct powercap_zone *powercap_package, *powercap_core;

static int package_energy_uj(struct powercap_zone *zone, u64 *energy_uj)
{
	*energy_uj = vchip_energy_uj(VCHIP_DOMAIN_PACKAGE);
	return 0;
}

static int core_energy_uj(struct powercap_zone *zone, u64 *energy_uj)
{
	*energy_uj = vchip_energy_uj(VCHIP_DOMAIN_CORE);
	return 0;
}

static int max_energy_range_uj(struct powercap_zone *zone, u64 *range_uj)
{
	*range_uj = vchip_energy_range_uj();
	return 0;
}

static const struct powercap_zone_ops package_ops = {
	.get_energy_uj		 = package_energy_uj,
	.get_max_energy_range_uj = max_energy_range_uj,
};

static const struct powercap_zone_ops core_ops = {
	.get_energy_uj		 = core_energy_uj,
	.get_max_energy_range_uj = max_energy_range_uj,
};

static int get_power_limit_uw(struct powercap_zone *zone, int id, u64 *limit_uw)
{
	const struct vchip *chip = powercap_chip;

	if (id == LONG_TERM)
		*limit_uw = READ_ONCE(chip->pkg->limit_pl1_uw) ?: chip->head->pl1_uw;
	else
		*limit_uw = READ_ONCE(chip->pkg->limit_pl2_uw) ?: chip->head->pl2_uw;
	return 0;
}

/* 0 brings the profile's limit back. */
static int set_power_limit_uw(struct powercap_zone *zone, int id, u64 limit_uw)
{
	if (id == LONG_TERM)
		WRITE_ONCE(powercap_chip->pkg->limit_pl1_uw, limit_uw);
	else
		WRITE_ONCE(powercap_chip->pkg->limit_pl2_uw, limit_uw);
	return 0;
}

static int get_time_window_us(struct powercap_zone *zone, int id, u64 *window_us)
{
	const struct vchip *chip = powercap_chip;

	if (id == LONG_TERM)
		*window_us = READ_ONCE(chip->pkg->limit_tau_us) ?: chip->head->tau_us;
	else
		*window_us = SHORT_TERM_WINDOW_US;
	return 0;
}

static int set_time_window_us(struct powercap_zone *zone, int id, u64 window_us)
{
	if (id != LONG_TERM)
		return -EOPNOTSUPP;
	WRITE_ONCE(powercap_chip->pkg->limit_tau_us, window_us);
	return 0;
}

static int get_max_power_uw(struct powercap_zone *zone, int id, u64 *power_uw)
{
	const struct vchip_head *head = powercap_chip->head;

	*power_uw = id == LONG_TERM ? head->pl1_uw : head->pl2_uw;
	return 0;
}

static const char *constraint_name(struct powercap_zone *zone, int id)
{
	return id == LONG_TERM ? "long_term" : "short_term";
}

/* powercap asks for them even of a zone without constraints. */
static const struct powercap_zone_constraint_ops constraint_ops = {
	.get_power_limit_uw	= get_power_limit_uw,
	.set_power_limit_uw	= set_power_limit_uw,
	.get_time_window_us	= get_time_window_us,
	.set_time_window_us	= set_time_window_us,
	.get_max_power_uw	= get_max_power_uw,
	.get_name		= constraint_name,
};

/**
 * vchip_powercap_init() - register the control type and its zones
 * @chip:	the chip
 *
 * Return: 0, or -errno; -EEXIST where the kernel's own intel-rapl is loaded.
 */
int vchip_powercap_init(struct vchip *chip)
{
	int ret;

	powercap_chip = chip;
	powercap_type = powercap_register_control_type(NULL, "intel-rapl", NULL);
	if (IS_ERR(powercap_type))
		return PTR_ERR(powercap_type);
	powercap_package = powercap_register_zone(NULL, powercap_type, "package-0", NULL,
						  &package_ops, CONSTRAINTS,
						  &constraint_ops);
	if (IS_ERR(powercap_package)) {
		ret = PTR_ERR(powercap_package);
		goto err_type;
	}
	powercap_core = powercap_register_zone(NULL, powercap_type, "core",
					       powercap_package, &core_ops, 0,
					       &constraint_ops);
	if (IS_ERR(powercap_core)) {
		ret = PTR_ERR(powercap_core);
		goto err_package;
	}
	return 0;

err_package:
	powercap_unregister_zone(powercap_type, powercap_package);
err_type:
	powercap_unregister_control_type(powercap_type);
	return ret;
}

/**
 * vchip_powercap_exit() - unregister, the child before its parent
 * @chip:	the chip
 */
void vchip_powercap_exit(struct vchip *chip)
{
	powercap_unregister_zone(powercap_type, powercap_core);
	powercap_unregister_zone(powercap_type, powercap_package);
	powercap_unregister_control_type(powercap_type);
}
