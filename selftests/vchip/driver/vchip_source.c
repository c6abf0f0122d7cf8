// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual chip as sources of kjoule: "vchip" reads the raw energy counters,
 * "vchip-cycles" the cycles that a CPU really ran and the instruction that time was
 * passing on. A module of its own, so that the chip works without kjoule. The
 * callbacks run in kjoule's tick: a few loads from the register page each.
 */

#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/time64.h>

#include <linux/kjoule.h>

#include "compat.h"
#include "source.h"
#include "vchip.h"

/* Offered by default before anything that real hardware might have in a guest. */
#define VCHIP_RATING	300

static const struct vchip *source_chip;

static const struct vchip_cpu *this_cpu_regs(void)
{
	return vchip_cpu(source_chip, smp_processor_id());
}

static int vchip_read_energy(struct kjoule_source *src, unsigned int domain, u64 *raw)
{
	*raw = vchip_energy_raw(source_chip, domain);
	return 0;
}

/* The chip is one package, however the emulator arranges its CPUs. */
static int vchip_package(struct kjoule_source *src, unsigned int cpu)
{
	return 0;
}

/* Does the counter move? Three update periods are enough to see. */
static int vchip_energy_probe(struct kjoule_source *src, char *why, size_t len)
{
	const struct vchip_pkg *pkg = source_chip->pkg;
	u64 updates = READ_ONCE(pkg->updates);
	u64 wait_ms = div_u64(3 * source_chip->head->update_period_ns, NSEC_PER_MSEC) + 1;

	while (READ_ONCE(pkg->updates) == updates) {
		if (!wait_ms--) {
			snprintf(why, len, "the chip's energy counters do not move");
			return -EIO;
		}
		/* busy, because on a counting chip time passes by instructions only */
		udelay(1000);
		cond_resched();
	}
	return 0;
}

static int vchip_read_cycles(struct kjoule_source *src, struct kjoule_cycles *c)
{
	const struct vchip_cpu *regs = this_cpu_regs();

	c->cycles = READ_ONCE(regs->cycles_user) + READ_ONCE(regs->cycles_kernel);
	c->reference = READ_ONCE(regs->ref_ns);
	return 0;
}

/*
 * The chip's record is of the last interrupt entry on this CPU, which is ours unless the
 * task or the mode says otherwise.
 */
static int vchip_precise_ip(struct kjoule_source *src, const struct pt_regs *regs, u64 *ip)
{
	const struct vchip_cpu *cpu = this_cpu_regs();
	u32 flags = READ_ONCE(cpu->irq_flags);

	if (!(flags & VCHIP_IRQ_VALID))
		return -ENODATA;
	if (!(flags & VCHIP_IRQ_KERNEL) != vchip_user_mode(regs))
		return -ENODATA;
	if (READ_ONCE(cpu->irq_task) != READ_ONCE(cpu->task))
		return -ENODATA;
	*ip = READ_ONCE(cpu->irq_ip);
	return 0;
}

static const struct kjoule_source_ops vchip_energy_ops = {
	.read_energy	= vchip_read_energy,
	.package	= vchip_package,
	.probe		= vchip_energy_probe,
};

static struct kjoule_source vchip_energy_source = {
	.name		= "vchip",
	.kind		= KJOULE_KIND_ENERGY,
	.owner		= THIS_MODULE,
	.ops		= &vchip_energy_ops,
	.rating		= VCHIP_RATING,
	.n_domains	= VCHIP_DOMAINS,
	.domains	= {
		[VCHIP_DOMAIN_PACKAGE] = {
			.name	= "package",
			.class	= KJOULE_DOMAIN_PACKAGE,
			.parent	= -1,
		},
		[VCHIP_DOMAIN_CORE] = {
			.name	= "core",
			.class	= KJOULE_DOMAIN_CORE,
			.parent	= VCHIP_DOMAIN_PACKAGE,
		},
	},
};

static const struct kjoule_source_ops vchip_cycles_ops = {
	.read_cycles	= vchip_read_cycles,
	.precise_ip	= vchip_precise_ip,
};

static struct kjoule_source vchip_cycles_source = {
	.name		= "vchip-cycles",
	.kind		= KJOULE_KIND_FREQUENCY,
	.owner		= THIS_MODULE,
	.ops		= &vchip_cycles_ops,
	.rating		= VCHIP_RATING,
	.reference_khz	= USEC_PER_SEC,		/* nanoseconds */
};

static int __init vchip_source_init(void)
{
	const struct vchip_head *head;
	unsigned int i;
	int ret;

	source_chip = vchip_get();
	if (!source_chip) {
		pr_err("vchip_source: this guest has no virtual chip; start it with scripts/vm\n");
		return -ENODEV;
	}
	head = source_chip->head;
	for (i = 0; i < VCHIP_DOMAINS; i++) {
		struct kjoule_domain *domain = &vchip_energy_source.domains[i];

		domain->width = head->energy_bits;
		domain->unit_mult = USEC_PER_SEC;	/* microjoule in a joule */
		domain->unit_shift = head->esu;
		domain->update_period_ns = head->update_period_ns;
		domain->max_power_uw = 2 * head->pl2_uw;
	}
	ret = kjoule_source_register(&vchip_energy_source);
	if (ret)
		return ret;
	ret = kjoule_source_register(&vchip_cycles_source);
	if (ret)
		kjoule_source_unregister(&vchip_energy_source);
	return ret;
}
module_init(vchip_source_init);

static void __exit vchip_source_exit(void)
{
	kjoule_source_unregister(&vchip_cycles_source);
	kjoule_source_unregister(&vchip_energy_source);
}
module_exit(vchip_source_exit);

MODULE_DESCRIPTION("kjoule's virtual chip as an energy and frequency source");
MODULE_LICENSE("GPL");
