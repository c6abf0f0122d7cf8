// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's energy counters and power limits as a powercap control type, under the
 * names that RAPL has on real machines: intel-rapl:0 is package-0 with the limits PL1
 * (long_term, tau) and PL2 (short_term), intel-rapl:0:0 is the cores, intel-rapl:0:1 the
 * memory where the chip counts that; intel-rapl:1 is package-1.
 */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/powercap.h>

#include "vchip.h"

/* What processors with RAPL usually report for PL2; the chip has no register for it. */
#define SHORT_TERM_WINDOW_US	2440

enum { LONG_TERM, SHORT_TERM, CONSTRAINTS };

static const struct vchip *powercap_chip;
static struct powercap_control_type *powercap_type;

/* Each domain of each package; @registered: it is in the control type. */
static struct vchip_zone {
	struct powercap_zone zone;
	unsigned int package;
	enum vchip_domain domain;
	bool registered;
} powercap_zones[VCHIP_MAX_PACKAGES][VCHIP_DOMAINS];

static struct vchip_zone *to_vchip_zone(struct powercap_zone *zone)
{
	return container_of(zone, struct vchip_zone, zone);
}

static struct vchip_pkg *zone_pkg(struct powercap_zone *zone)
{
	return vchip_pkg(powercap_chip, to_vchip_zone(zone)->package);
}

static int zone_energy_uj(struct powercap_zone *zone, u64 *energy_uj)
{
	const struct vchip_zone *z = to_vchip_zone(zone);

	*energy_uj = vchip_energy_uj(z->package, z->domain);
	return 0;
}

static int max_energy_range_uj(struct powercap_zone *zone, u64 *range_uj)
{
	*range_uj = vchip_energy_range_uj();
	return 0;
}

/* powercap requires one for the owner of the zone's memory; ours is static. */
static int zone_release(struct powercap_zone *zone)
{
	return 0;
}

static const struct powercap_zone_ops zone_ops = {
	.get_energy_uj		 = zone_energy_uj,
	.get_max_energy_range_uj = max_energy_range_uj,
	.release		 = zone_release,
};

static int get_power_limit_uw(struct powercap_zone *zone, int id, u64 *limit_uw)
{
	const struct vchip_head *head = powercap_chip->head;

	if (id == LONG_TERM)
		*limit_uw = READ_ONCE(zone_pkg(zone)->limit_pl1_uw) ?: head->pl1_uw;
	else
		*limit_uw = READ_ONCE(zone_pkg(zone)->limit_pl2_uw) ?: head->pl2_uw;
	return 0;
}

/* 0 brings the profile's limit back. */
static int set_power_limit_uw(struct powercap_zone *zone, int id, u64 limit_uw)
{
	if (id == LONG_TERM)
		WRITE_ONCE(zone_pkg(zone)->limit_pl1_uw, limit_uw);
	else
		WRITE_ONCE(zone_pkg(zone)->limit_pl2_uw, limit_uw);
	return 0;
}

static int get_time_window_us(struct powercap_zone *zone, int id, u64 *window_us)
{
	if (id == LONG_TERM)
		*window_us = READ_ONCE(zone_pkg(zone)->limit_tau_us) ?: powercap_chip->head->tau_us;
	else
		*window_us = SHORT_TERM_WINDOW_US;
	return 0;
}

static int set_time_window_us(struct powercap_zone *zone, int id, u64 window_us)
{
	if (id != LONG_TERM)
		return -EOPNOTSUPP;
	WRITE_ONCE(zone_pkg(zone)->limit_tau_us, window_us);
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

static int zone_register(unsigned int package, enum vchip_domain domain)
{
	struct vchip_zone *z = &powercap_zones[package][domain];
	struct powercap_zone *zone, *parent = NULL;
	const char *name = domain == VCHIP_DOMAIN_CORE ? "core" : "dram";
	char package_name[24];
	int constraints = 0;

	if (domain == VCHIP_DOMAIN_PACKAGE) {
		snprintf(package_name, sizeof(package_name), "package-%u", package);
		name = package_name;
		constraints = CONSTRAINTS;
	} else {
		parent = &powercap_zones[package][VCHIP_DOMAIN_PACKAGE].zone;
	}
	*z = (struct vchip_zone){ .package = package, .domain = domain };
	zone = powercap_register_zone(&z->zone, powercap_type, name, parent, &zone_ops, constraints,
				      &constraint_ops);
	z->registered = !IS_ERR(zone);
	return PTR_ERR_OR_ZERO(zone);
}

static void zone_unregister(struct vchip_zone *z)
{
	if (z->registered)
		powercap_unregister_zone(powercap_type, &z->zone);
	z->registered = false;
}

/**
 * vchip_powercap_exit() - unregister, the children before their parent
 * @chip:	the chip
 */
void vchip_powercap_exit(struct vchip *chip)
{
	unsigned int package, domain;

	for (package = chip->packages; package--;)
		for (domain = chip->domains; domain--;)
			zone_unregister(&powercap_zones[package][domain]);
	powercap_unregister_control_type(powercap_type);
}

/**
 * vchip_powercap_init() - register the control type and its zones
 * @chip:	the chip
 *
 * Return: 0, or -errno; -EEXIST where the kernel's own intel-rapl is loaded.
 */
int vchip_powercap_init(struct vchip *chip)
{
	unsigned int package, domain;
	int ret;

	powercap_chip = chip;
	powercap_type = powercap_register_control_type(NULL, "intel-rapl", NULL);
	if (IS_ERR(powercap_type))
		return PTR_ERR(powercap_type);
	for (package = 0; package < chip->packages; package++) {
		for (domain = 0; domain < chip->domains; domain++) {
			ret = zone_register(package, domain);
			if (ret) {
				vchip_powercap_exit(chip);
				return ret;
			}
		}
	}
	return 0;
}
