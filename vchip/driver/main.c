// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual chip as a PCI device: finds the register page (BAR 2 of
 * ivshmem-plain), checks it, and puts it behind one kernel framework after the
 * other. Owns the mapping and the guest_ready register; what the registers mean
 * to a framework is the business of the file named after it.
 */

#include <linux/cpumask.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "vchip.h"

#define VCHIP_PCI_VENDOR	0x1af4
#define VCHIP_PCI_DEVICE	0x1110
#define VCHIP_PCI_BAR		2

/* The one chip of this guest; cpufreq, cpuidle and the others know only one as well. */
static struct vchip vchip;

static const struct vchip_part {
	const char *name;
	int (*init)(struct vchip *chip);
	void (*exit)(struct vchip *chip);
} vchip_parts[] = {
	{ "energy",	vchip_energy_init,	vchip_energy_exit },
	{ "cpufreq",	vchip_cpufreq_init,	vchip_cpufreq_exit },
	{ "powercap",	vchip_powercap_init,	vchip_powercap_exit },
	{ "hwmon",	vchip_hwmon_init,	vchip_hwmon_exit },
	{ "thermal",	vchip_thermal_init,	vchip_thermal_exit },
	{ "supply",	vchip_supply_init,	vchip_supply_exit },
	{ "testfile",	vchip_testfile_init,	vchip_testfile_exit },
	{ "cpuidle",	vchip_cpuidle_init,	vchip_cpuidle_exit },
	{ "pmu",	vchip_pmu_init,		vchip_pmu_exit },
	{ "power pmu",	vchip_power_pmu_init,	vchip_power_pmu_exit },
	{ "pair pmu",	vchip_pair_pmu_init,	vchip_pair_pmu_exit },
	{ "publish",	vchip_publish_init,	vchip_publish_exit },
	{ "debugfs",	vchip_debugfs_init,	vchip_debugfs_exit },
};

/**
 * vchip_get() - the chip of this guest
 *
 * The caller's use of this symbol pins the module, and the device cannot be unbound
 * from it, so what is returned stays valid until the calling module is unloaded.
 *
 * Return: the chip, or NULL if the guest has none.
 * Context: any.
 */
const struct vchip *vchip_get(void)
{
	return vchip.pdev ? &vchip : NULL;
}
EXPORT_SYMBOL_GPL(vchip_get);

/* Is this page a chip that this driver and this guest can work with? */
static int vchip_check(struct device *dev, const struct vchip_head *head)
{
	/* A, pairs with the chip's write of the magic, which is its last one */
	if (smp_load_acquire(&head->magic) != VCHIP_MAGIC) {
		dev_err(dev, "no virtual chip behind this page: magic %llx, not %llx; start QEMU with the chip's plugin\n",
			head->magic, VCHIP_MAGIC);
		return -ENODEV;
	}
	if (head->version != VCHIP_VERSION) {
		dev_err(dev, "the chip's page has version %u, this driver knows %u; rebuild both from one checkout\n",
			head->version, VCHIP_VERSION);
		return -EPROTO;
	}
	if (head->cpus > VCHIP_MAX_CPUS || nr_cpu_ids > head->cpus) {
		dev_err(dev, "the chip has %u CPUs (at most %u), the guest up to %u\n",
			head->cpus, VCHIP_MAX_CPUS, nr_cpu_ids);
		return -EINVAL;
	}
	if (!head->packages || head->packages > VCHIP_MAX_PACKAGES) {
		dev_err(dev, "the chip has %u packages, at most %u are possible\n",
			head->packages, VCHIP_MAX_PACKAGES);
		return -EINVAL;
	}
	if (!head->pstates || head->pstates > VCHIP_MAX_PSTATES ||
	    head->idle_states > VCHIP_MAX_IDLE || head->esu > 31 ||
	    head->energy_bits != 32) {
		dev_err(dev, "the chip's head is not sane: %u frequencies, %u idle states, energy unit 2^-%u J in %u bits\n",
			head->pstates, head->idle_states, head->esu,
			head->energy_bits);
		return -EINVAL;
	}
	return 0;
}

static void vchip_parts_exit(struct vchip *chip, size_t n)
{
	while (n--)
		vchip_parts[n].exit(chip);
}

static int vchip_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct vchip *chip = &vchip;
	size_t i;
	int ret;

	if (chip->pdev) {
		dev_err(&pdev->dev, "one chip is there already; a second one is not supported\n");
		return -EBUSY;
	}
	ret = pci_enable_device(pdev);
	if (ret)
		return ret;
	ret = pci_request_region(pdev, VCHIP_PCI_BAR, KBUILD_MODNAME);
	if (ret)
		goto err_disable;
	if (pci_resource_len(pdev, VCHIP_PCI_BAR) < VCHIP_PAGE_SIZE) {
		dev_err(&pdev->dev, "the page has %llu bytes, not %u\n",
			(u64)pci_resource_len(pdev, VCHIP_PCI_BAR), VCHIP_PAGE_SIZE);
		ret = -EINVAL;
		goto err_release;
	}

	/*
	 * Shared memory of the machine that runs QEMU. Cached where the firmware's MTRRs
	 * let us; the emulator is coherent with any of the three.
	 */
	chip->base = memremap(pci_resource_start(pdev, VCHIP_PCI_BAR), VCHIP_PAGE_SIZE,
			      MEMREMAP_WB | MEMREMAP_WT | MEMREMAP_WC);
	if (!chip->base) {
		ret = -ENOMEM;
		goto err_release;
	}
	chip->head = chip->base + VCHIP_OFF_HEAD;
	chip->idt = chip->base + VCHIP_OFF_IDT;
	ret = vchip_check(&pdev->dev, chip->head);
	if (ret)
		goto err_unmap;
	chip->cpus = chip->head->cpus;
	chip->packages = chip->head->packages;
	chip->domains = chip->head->has_dram ? VCHIP_DOMAINS : VCHIP_DOMAIN_DRAM;
	WRITE_ONCE(chip->head->guest_ready, 0);
	chip->pdev = pdev;

	for (i = 0; i < ARRAY_SIZE(vchip_parts); i++) {
		ret = vchip_parts[i].init(chip);
		if (ret) {
			dev_err(&pdev->dev, "%s: %pe\n", vchip_parts[i].name, ERR_PTR(ret));
			goto err_parts;
		}
	}
	/* B, pairs with the chip's load of guest_ready: requests, tasks and IDT come before */
	smp_store_release(&chip->head->guest_ready, 1);
	dev_info(&pdev->dev, "virtual chip \"%.*s\", %u CPUs, %u to %u kHz\n",
		 VCHIP_NAME_LEN, chip->head->name, chip->cpus, chip->head->freq_khz[0],
		 chip->head->freq_khz[chip->head->pstates - 1]);
	return 0;

err_parts:
	vchip_parts_exit(chip, i);
	chip->pdev = NULL;
err_unmap:
	memunmap(chip->base);
err_release:
	pci_release_region(pdev, VCHIP_PCI_BAR);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void vchip_remove(struct pci_dev *pdev)
{
	struct vchip *chip = &vchip;

	WRITE_ONCE(chip->head->guest_ready, 0);
	vchip_parts_exit(chip, ARRAY_SIZE(vchip_parts));
	chip->pdev = NULL;
	memunmap(chip->base);
	pci_release_region(pdev, VCHIP_PCI_BAR);
	pci_disable_device(pdev);
}

/* Powering off is not measured. */
static void vchip_shutdown(struct pci_dev *pdev)
{
	WRITE_ONCE(vchip.head->guest_ready, 0);
}

static const struct pci_device_id vchip_ids[] = {
	{ PCI_DEVICE(VCHIP_PCI_VENDOR, VCHIP_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, vchip_ids);

static struct pci_driver vchip_driver = {
	.name		= KBUILD_MODNAME,
	.id_table	= vchip_ids,
	.probe		= vchip_probe,
	.remove		= vchip_remove,
	.shutdown	= vchip_shutdown,
	/* vchip_get()'s promise: only unloading the module takes the page away */
	.driver.suppress_bind_attrs = true,
};
module_pci_driver(vchip_driver);

MODULE_DESCRIPTION("Guest driver of kjoule's virtual chip");
MODULE_LICENSE("GPL");
