/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest driver's own view of the virtual chip: the mapped register page, the
 * widened energy counters, and the init and exit of each framework that the page
 * is put behind. Included by every file of the driver and by vchip_source.c.
 */
#ifndef VCHIP_H
#define VCHIP_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "vchip_page.h"

struct pci_dev;

/* The energy domains, in the order in which vchip_source offers them. */
enum vchip_domain {
	VCHIP_DOMAIN_PACKAGE,
	VCHIP_DOMAIN_CORE,
	VCHIP_DOMAIN_DRAM,	/* where the chip has_dram; no part of the package */
	VCHIP_DOMAINS,
};

/**
 * struct vchip - the chip as this guest has it
 * @pdev:	the PCI device that carries the register page
 * @base:	the page, mapped cached: it is RAM
 * @head:	what the chip is
 * @idt:	where the guest publishes its interrupt handlers
 * @cpus:	CPUs of the chip, at least as many as the guest can ever have
 * @packages:	packages that they belong to
 * @domains:	energy domains of each
 */
struct vchip {
	struct pci_dev *pdev;
	void *base;
	struct vchip_head *head;
	struct vchip_idt *idt;
	unsigned int cpus;
	unsigned int packages;
	unsigned int domains;
};

/**
 * vchip_cpu() - registers of a CPU
 * @chip:	the chip
 * @cpu:	logical CPU number; the caller vouches that it is below chip->cpus
 *
 * Return: the CPU's part of the register page.
 */
static inline struct vchip_cpu *vchip_cpu(const struct vchip *chip, unsigned int cpu)
{
	return chip->base + VCHIP_OFF_CPU + cpu * VCHIP_CPU_STRIDE;
}

/**
 * vchip_pkg() - registers of a package
 * @chip:	the chip
 * @package:	its number; the caller vouches that it is below chip->packages
 *
 * Return: the package's part of the register page.
 */
static inline struct vchip_pkg *vchip_pkg(const struct vchip *chip, unsigned int package)
{
	return chip->base + VCHIP_OFF_PKG + package * VCHIP_PKG_STRIDE;
}

/* The package that a CPU of the chip belongs to. */
static inline unsigned int vchip_package(const struct vchip *chip, unsigned int cpu)
{
	return READ_ONCE(vchip_cpu(chip, cpu)->package);
}

/**
 * vchip_energy_raw() - an energy register as it is, 32 bits that wrap
 * @pkg:	the package's registers
 * @domain:	which counter
 *
 * Return: counts of 2^-esu joule.
 */
static inline u32 vchip_energy_raw(const struct vchip_pkg *pkg, enum vchip_domain domain)
{
	if (domain == VCHIP_DOMAIN_PACKAGE)
		return READ_ONCE(pkg->energy_pkg_raw);
	if (domain == VCHIP_DOMAIN_CORE)
		return READ_ONCE(pkg->energy_core_raw);
	return READ_ONCE(pkg->energy_dram_raw);
}

/* main.c */
const struct vchip *vchip_get(void);

/* energy.c */
int vchip_energy_init(struct vchip *chip);
void vchip_energy_exit(struct vchip *chip);
u64 vchip_energy_count(unsigned int package, enum vchip_domain domain);
u64 vchip_energy_uj(unsigned int package, enum vchip_domain domain);
u64 vchip_energy_range_uj(void);

/* One pair a framework, called by main.c in this order and in reverse. */
int vchip_cpufreq_init(struct vchip *chip);
void vchip_cpufreq_exit(struct vchip *chip);
int vchip_powercap_init(struct vchip *chip);
void vchip_powercap_exit(struct vchip *chip);
int vchip_hwmon_init(struct vchip *chip);
void vchip_hwmon_exit(struct vchip *chip);
int vchip_thermal_init(struct vchip *chip);
void vchip_thermal_exit(struct vchip *chip);
int vchip_supply_init(struct vchip *chip);
void vchip_supply_exit(struct vchip *chip);
int vchip_testfile_init(struct vchip *chip);
void vchip_testfile_exit(struct vchip *chip);
int vchip_cpuidle_init(struct vchip *chip);
void vchip_cpuidle_exit(struct vchip *chip);
int vchip_pmu_init(struct vchip *chip);
void vchip_pmu_exit(struct vchip *chip);
void vchip_counting_stop(struct perf_event *event, int flags);
int vchip_counting_add(struct perf_event *event, int flags);
void vchip_counting_del(struct perf_event *event, int flags);
int vchip_power_pmu_init(struct vchip *chip);
void vchip_power_pmu_exit(struct vchip *chip);
int vchip_pair_pmu_init(struct vchip *chip);
void vchip_pair_pmu_exit(struct vchip *chip);
int vchip_publish_init(struct vchip *chip);
void vchip_publish_exit(struct vchip *chip);
int vchip_debugfs_init(struct vchip *chip);
void vchip_debugfs_exit(struct vchip *chip);

#endif /* VCHIP_H */
