// SPDX-License-Identifier: GPL-2.0-only
/*
 * Energy: widens the chip's 32-bit energy counters to 64 bits. A work item looks at
 * them often enough that no wrap is lost even without readers. Used by the
 * powercap, hwmon and perf sides; vchip_source hands out the raw register instead.
 */

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "vchip.h"

#define SWEEP_MIN_MS	10
#define SWEEP_MAX_MS	60000

static const struct vchip *energy_chip;
static u64 energy_counts[VCHIP_MAX_PACKAGES][VCHIP_DOMAINS];	/* under energy_lock */
static DEFINE_RAW_SPINLOCK(energy_lock);
static unsigned long energy_sweep_jiffies;

/**
 * vchip_energy_count() - a domain's energy, 64 bits wide
 * @package:	the package
 * @domain:	the domain
 *
 * Starts at the register's value when the driver was loaded and never goes back.
 *
 * Return: counts of 2^-esu joule.
 * Context: any but NMI.
 */
u64 vchip_energy_count(unsigned int package, enum vchip_domain domain)
{
	unsigned long flags;
	u64 count;

	raw_spin_lock_irqsave(&energy_lock, flags);
	count = energy_counts[package][domain];
	count += (u32)(vchip_energy_raw(vchip_pkg(energy_chip, package), domain) - (u32)count);
	energy_counts[package][domain] = count;
	raw_spin_unlock_irqrestore(&energy_lock, flags);
	return count;
}

/**
 * vchip_energy_uj() - a domain's energy in microjoule
 * @package:	the package
 * @domain:	the domain
 *
 * Return: microjoule, see vchip_energy_count().
 * Context: any but NMI.
 */
u64 vchip_energy_uj(unsigned int package, enum vchip_domain domain)
{
	return mul_u64_u32_shr(vchip_energy_count(package, domain), 1000000,
			       energy_chip->head->esu);
}

/**
 * vchip_energy_range_uj() - what 32 bits hold, as the RAPL powercap driver says it
 *
 * That driver counts with a unit in whole nanojoules, so 2^-14 J gives 262143328850.
 *
 * Return: microjoule.
 */
u64 vchip_energy_range_uj(void)
{
	u64 unit_nj = 1000000000ULL >> energy_chip->head->esu;

	return div_u64(U32_MAX * unit_nj, 1000);
}

static void energy_sweep(struct work_struct *work)
{
	unsigned int package, domain;

	for (package = 0; package < energy_chip->packages; package++)
		for (domain = 0; domain < energy_chip->domains; domain++)
			vchip_energy_count(package, domain);
	schedule_delayed_work(to_delayed_work(work), energy_sweep_jiffies);
}
static DECLARE_DELAYED_WORK(energy_work, energy_sweep);

/**
 * vchip_energy_init() - begin to widen
 * @chip:	the chip
 *
 * Return: 0.
 */
int vchip_energy_init(struct vchip *chip)
{
	/* Four looks in the time of a wrap at twice the short-term limit. */
	u64 power_uw = max_t(u64, 2 * chip->head->pl2_uw, 1);
	u64 sweep_ms;
	unsigned int package, domain;

	energy_chip = chip;
	for (package = 0; package < chip->packages; package++)
		for (domain = 0; domain < chip->domains; domain++)
			energy_counts[package][domain] =
				vchip_energy_raw(vchip_pkg(chip, package), domain);
	sweep_ms = div64_u64(vchip_energy_range_uj() * 1000, 4 * power_uw);
	energy_sweep_jiffies = msecs_to_jiffies(clamp_t(u64, sweep_ms, SWEEP_MIN_MS,
							SWEEP_MAX_MS));
	schedule_delayed_work(&energy_work, energy_sweep_jiffies);
	return 0;
}

/**
 * vchip_energy_exit() - stop
 * @chip:	the chip
 */
void vchip_energy_exit(struct vchip *chip)
{
	cancel_delayed_work_sync(&energy_work);
}
