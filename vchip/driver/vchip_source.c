// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual chip as sources of kjoule: "vchip" reads the raw energy counters,
 * "vchip-cycles" the cycles that a CPU really ran and the instruction that time was
 * passing on, "vchip-meter" power and temperature, as if from a meter that takes its
 * time, "vchip-ina" the power from the meter that starts on command, where the profile has one,
 * "vchip-rails" the power as often as a source can, "vchip-hub" the energy for a
 * thread to read. Of several packages the first two know all; the others are of the first. A
 * module of its own, so that the chip works without kjoule. The callbacks
 * of the first two run in kjoule's tick: a few loads from the register page each.
 */

#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/time64.h>

#include <linux/kjoule.h>

#include "compat/compat.h"
#include "source/source.h"
#include "vchip.h"

/* Offered by default before anything that real hardware might have in a guest. */
#define VCHIP_RATING	300

static const struct vchip *source_chip;

static const struct vchip_cpu *this_cpu_regs(void)
{
	return vchip_cpu(source_chip, smp_processor_id());
}

/* The first package's: the one that threads read. */
static struct vchip_pkg *first_pkg(void)
{
	return vchip_pkg(source_chip, 0);
}

static struct vchip_pkg *this_pkg(void)
{
	return vchip_pkg(source_chip, READ_ONCE(this_cpu_regs()->package));
}

static int vchip_read_energy(struct kjoule_source *src, unsigned int domain, u64 *raw)
{
	*raw = vchip_energy_raw(this_pkg(), domain);
	return 0;
}

/* The chip's own, however the emulator arranges its CPUs. */
static int vchip_energy_package(struct kjoule_source *src, unsigned int cpu)
{
	return vchip_package(source_chip, cpu);
}

/* Are the counters updated? Three update periods are enough to see. */
static int vchip_energy_probe(struct kjoule_source *src, char *why, size_t len)
{
	u64 wait_ms = div_u64(3 * source_chip->head->update_period_ns, NSEC_PER_MSEC) + 1;
	u64 updates[VCHIP_MAX_PACKAGES];
	unsigned int i;

	for (i = 0; i < source_chip->packages; i++)
		updates[i] = READ_ONCE(vchip_pkg(source_chip, i)->updates);
	for (i = 0; i < source_chip->packages; i++) {
		while (READ_ONCE(vchip_pkg(source_chip, i)->updates) == updates[i]) {
			if (!wait_ms--) {
				snprintf(why, len, "the chip's energy counters are not updated");
				return -EIO;
			}
			udelay(1000);
			cond_resched();
		}
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
	.package	= vchip_energy_package,
	.probe		= vchip_energy_probe,
};

/* For tests: domains that are stuck; that of "vchip-hub" comes after package and core. */
static unsigned int frozen;

#define HUB_FROZEN	VCHIP_DOMAIN_DRAM	/* with this one, where the chip has it */

static struct kjoule_source vchip_energy_source = {
	.name		= "vchip",
	.kind		= KJOULE_KIND_ENERGY,
	.owner		= THIS_MODULE,
	.ops		= &vchip_energy_ops,
	.rating		= VCHIP_RATING,
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
		[VCHIP_DOMAIN_DRAM] = {
			.name	= "dram",
			.class	= KJOULE_DOMAIN_DRAM,
			.parent	= -1,
		},
	},
};

enum { METER_POWER, METER_TEMPERATURE };

static int vchip_read_meter(struct kjoule_source *src, unsigned int domain, s64 *raw)
{
	usleep_range(500, 600);
	if (domain == METER_POWER)
		*raw = READ_ONCE(first_pkg()->power_uw);
	else
		*raw = READ_ONCE(first_pkg()->temp_mc);
	return 0;
}

static const struct kjoule_source_ops vchip_meter_ops = {
	.read_value	= vchip_read_meter,
};

static struct kjoule_source vchip_meter_source = {
	.name		= "vchip-meter",
	.kind		= KJOULE_KIND_GAUGE,
	.owner		= THIS_MODULE,
	.ops		= &vchip_meter_ops,
	.period_ns	= 20 * NSEC_PER_MSEC,
	.n_domains	= 2,
	.domains	= {
		[METER_POWER] = {
			.name		= "power",
			.class		= KJOULE_DOMAIN_PACKAGE,
			.quantity	= KJOULE_QUANTITY_POWER,
			.unit_mult	= 1,
			.parent		= -1,
		},
		[METER_TEMPERATURE] = {
			.name		= "temperature",
			.quantity	= KJOULE_QUANTITY_TEMPERATURE,
			.unit_mult	= 1,
			.parent		= -1,
		},
	},
};

/*
 * The meter that starts on command. Each start takes a number of its own; who reads looks whether
 * the reading is of the number that it was given. The tick has no part in it.
 */
static DEFINE_RAW_SPINLOCK(ina_lock);	/* for changes of @meter_start and @ina_fast */
static DEFINE_MUTEX(ina_slow);		/* one at a time of those that wait */
static u32 ina_fast;			/* number of the last fast start */

static u32 ina_start_now(void)
{
	struct vchip_pkg *pkg = first_pkg();
	u32 number = READ_ONCE(pkg->meter_start) + 1;

	lockdep_assert_held(&ina_lock);
	WRITE_ONCE(pkg->meter_start, number);
	return number;
}

static int ina_reading(u32 number, s64 *raw)
{
	struct vchip_pkg *pkg = first_pkg();

	if (READ_ONCE(pkg->meter_start) != number)
		return -ECANCELED;
	/* pairs with the chip's store of it, after that of the reading */
	if (smp_load_acquire(&pkg->meter_done) != number)
		return -EAGAIN;
	*raw = READ_ONCE(pkg->meter_uw);
	return 0;
}

static int vchip_start_ina(struct kjoule_source *src, unsigned int domain)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ina_lock, flags);
	ina_fast = ina_start_now();
	raw_spin_unlock_irqrestore(&ina_lock, flags);
	return 0;
}

static int vchip_read_started_ina(struct kjoule_source *src, unsigned int domain, s64 *raw)
{
	return ina_reading(READ_ONCE(ina_fast), raw);
}

/* A reading that begins now. A start of a fast reading has precedence. */
static int vchip_read_ina(struct kjoule_source *src, unsigned int domain, s64 *raw)
{
	unsigned int us = div_u64(src->ready_ns, NSEC_PER_USEC);
	unsigned int tries;
	u32 number;
	int err;

	mutex_lock(&ina_slow);
	raw_spin_lock_irq(&ina_lock);
	number = ina_start_now();
	raw_spin_unlock_irq(&ina_lock);
	usleep_range(us, us + us / 50);
	for (tries = 0; (err = ina_reading(number, raw)) == -EAGAIN && tries < 20; tries++)
		usleep_range(us / 20, us / 10);
	mutex_unlock(&ina_slow);
	return err == -EAGAIN ? -EIO : err;
}

static const struct kjoule_source_ops vchip_ina_ops = {
	.read_value	= vchip_read_ina,
	.start		= vchip_start_ina,
	.read_started	= vchip_read_started_ina,
};

static struct kjoule_source vchip_ina_source = {
	.name		= "vchip-ina",
	.kind		= KJOULE_KIND_GAUGE,
	.owner		= THIS_MODULE,
	.ops		= &vchip_ina_ops,
	.n_domains	= 1,
	.domains	= {
		{
			.name		= "power",
			.class		= KJOULE_DOMAIN_PACKAGE,
			.quantity	= KJOULE_QUANTITY_POWER,
			.unit_mult	= 1,
			.parent		= -1,
		},
	},
};

/* For tests: as many values as a source can have, so that telling of it takes much room. */
static int vchip_read_rail(struct kjoule_source *src, unsigned int domain, s64 *raw)
{
	*raw = READ_ONCE(first_pkg()->power_uw);
	return 0;
}

static const struct kjoule_source_ops vchip_rails_ops = {
	.read_value	= vchip_read_rail,
};

static struct kjoule_source vchip_rails_source = {
	.name		= "vchip-rails",
	.kind		= KJOULE_KIND_GAUGE,
	.owner		= THIS_MODULE,
	.ops		= &vchip_rails_ops,
	.n_domains	= KJOULE_MAX_DOMAINS,
};

/* For tests: a device that does not answer any more. The tick pays nothing for it. */
static int vchip_fail_energy(struct kjoule_source *src, unsigned int domain, u64 *raw)
{
	return -EIO;
}

static const struct kjoule_source_ops vchip_failing_ops = {
	.read_energy	= vchip_fail_energy,
	.package	= vchip_energy_package,
};

static int set_failing(const char *text, const struct kernel_param *param)
{
	bool failing;
	int ret = kstrtobool(text, &failing);

	if (!ret)
		WRITE_ONCE(vchip_energy_source.ops,
			   failing ? &vchip_failing_ops : &vchip_energy_ops);
	vchip_energy_source.stuck = 0;
	return ret;
}

static const struct kernel_param_ops failing_ops = { .set = set_failing };
module_param_cb(failing, &failing_ops, NULL, 0200);
MODULE_PARM_DESC(failing, "1: reading energy fails from now on, 0: it works again");

/* For tests: energy that a thread reads, from a source without a probe. */
static int vchip_read_hub(struct kjoule_source *src, unsigned int domain, s64 *raw)
{
	*raw = READ_ONCE(frozen) & BIT(HUB_FROZEN) ? 4711 :
	       vchip_energy_raw(first_pkg(), VCHIP_DOMAIN_PACKAGE);
	return 0;
}

static const struct kjoule_source_ops vchip_hub_ops = {
	.read_value	= vchip_read_hub,
};

static struct kjoule_source vchip_hub_source = {
	.name		= "vchip-hub",
	.kind		= KJOULE_KIND_ENERGY,
	.owner		= THIS_MODULE,
	.ops		= &vchip_hub_ops,
	.period_ns	= 20 * NSEC_PER_MSEC,
	.n_domains	= 1,
	.domains	= {
		{
			.name	= "hub",
			.class	= KJOULE_DOMAIN_PACKAGE,
			.parent	= -1,
		},
	},
};

/* For tests: a source without a probe, with stuck counters. */
static int vchip_read_frozen(struct kjoule_source *src, unsigned int domain, u64 *raw)
{
	*raw = READ_ONCE(frozen) & BIT(domain) ? 4711 : vchip_energy_raw(this_pkg(), domain);
	return 0;
}

static const struct kjoule_source_ops vchip_frozen_ops = {
	.read_energy	= vchip_read_frozen,
	.package	= vchip_energy_package,
};

static int set_frozen(const char *text, const struct kernel_param *param)
{
	int ret = kstrtouint(text, 0, &frozen);

	if (!ret)
		WRITE_ONCE(vchip_energy_source.ops, frozen ? &vchip_frozen_ops : &vchip_energy_ops);
	vchip_energy_source.stuck = 0;
	return ret;
}

static const struct kernel_param_ops frozen_ops = { .set = set_frozen };
module_param_cb(frozen, &frozen_ops, NULL, 0200);
MODULE_PARM_DESC(frozen, "bits of domains that are stuck from now on, 4: the hub (and dram), 0: none");

/*
 * For tests: a CPU that waits for an update of the package's counter is delayed, once. Ticks do not
 * read one counter twice in so short a time.
 */
#define WAITS_NS	(500 * NSEC_PER_USEC)

static uint stall_ms;
module_param(stall_ms, uint, 0600);
MODULE_PARM_DESC(stall_ms, "for tests: a read of energy right after another one takes so long, once, with stalling");

static int vchip_read_stalling(struct kjoule_source *src, unsigned int domain, u64 *raw)
{
	static u64 last_ns;
	static int last_cpu;
	int cpu = smp_processor_id();
	u64 now = ktime_get_ns();
	uint ms = READ_ONCE(stall_ms);

	if (domain != VCHIP_DOMAIN_PACKAGE)
		return vchip_read_energy(src, domain, raw);
	if (ms && READ_ONCE(last_cpu) == cpu && now - READ_ONCE(last_ns) < WAITS_NS &&
	    cmpxchg(&stall_ms, ms, 0) == ms)
		mdelay(ms);
	WRITE_ONCE(last_cpu, cpu);
	WRITE_ONCE(last_ns, now);
	return vchip_read_energy(src, domain, raw);
}

static const struct kjoule_source_ops vchip_stalling_ops = {
	.read_energy	= vchip_read_stalling,
	.package	= vchip_energy_package,
};

static int set_stalling(const char *text, const struct kernel_param *param)
{
	bool stalling;
	int ret = kstrtobool(text, &stalling);

	if (!ret)
		WRITE_ONCE(vchip_energy_source.ops,
			   stalling ? &vchip_stalling_ops : &vchip_energy_ops);
	return ret;
}

static const struct kernel_param_ops stalling_ops = { .set = set_stalling };
module_param_cb(stalling, &stalling_ops, NULL, 0200);
MODULE_PARM_DESC(stalling, "1: reads of energy can be made to take long from now on, 0: they cannot");

/* For tests: a source that only one CPU can read, which changes. */
static int owner = -1;

static uint owner_ms;
module_param(owner_ms, uint, 0600);
MODULE_PARM_DESC(owner_ms, "for tests: delay of the query which CPU can read energy");

static int vchip_owner(struct kjoule_source *src, unsigned int cpu)
{
	msleep(READ_ONCE(owner_ms));
	return READ_ONCE(owner);
}

static const struct kjoule_source_ops vchip_owned_ops = {
	.read_energy	= vchip_read_energy,
	.package	= vchip_energy_package,
	.owner		= vchip_owner,
	.probe		= vchip_energy_probe,
};

static int set_owner(const char *text, const struct kernel_param *param)
{
	int cpu, ret = kstrtoint(text, 0, &cpu);

	if (ret)
		return ret;
	WRITE_ONCE(owner, cpu);
	WRITE_ONCE(vchip_energy_source.ops, cpu >= 0 ? &vchip_owned_ops : &vchip_energy_ops);
	kjoule_source_owner_changed();
	return 0;
}

static const struct kernel_param_ops owner_ops = { .set = set_owner };
module_param_cb(owner, &owner_ops, NULL, 0200);
MODULE_PARM_DESC(owner, "the only CPU that can read energy from now on, -1: all can");

/* For tests: other packages than the chip's, as far as is known of CPUs that were not there yet. */
static char packages[64];	/* a digit for each CPU; 0 for those beyond */

static int vchip_test_package(struct kjoule_source *src, unsigned int cpu)
{
	return cpu < strlen(packages) ? packages[cpu] - '0' : 0;
}

static const struct kjoule_source_ops vchip_packages_ops = {
	.read_energy	= vchip_read_energy,
	.package	= vchip_test_package,
	.probe		= vchip_energy_probe,
};

static int set_packages(const char *text, const struct kernel_param *param)
{
	size_t len = strspn(text, "0123456789");

	if (len >= sizeof(packages))
		return -EINVAL;
	/* each CPU's by itself: ticks may look meanwhile */
	memcpy(packages, text, len);
	memset(packages + len, 0, sizeof(packages) - len);
	WRITE_ONCE(vchip_energy_source.ops, len ? &vchip_packages_ops : &vchip_energy_ops);
	return 0;
}

static const struct kernel_param_ops packages_ops = { .set = set_packages };
module_param_cb(packages, &packages_ops, NULL, 0200);
MODULE_PARM_DESC(packages, "a digit for each CPU: its package; nothing: the chip's");

/* For tests: a device that was reset, whose counters begin at 0 again. */
static u32 reset_at[VCHIP_MAX_PACKAGES][VCHIP_DOMAINS];

static int vchip_read_reset(struct kjoule_source *src, unsigned int domain, u64 *raw)
{
	unsigned int package = READ_ONCE(this_cpu_regs()->package);

	*raw = (vchip_energy_raw(vchip_pkg(source_chip, package), domain) -
		reset_at[package][domain]) &
	       GENMASK_ULL(src->domains[domain].width - 1, 0);
	return 0;
}

static const struct kjoule_source_ops vchip_reset_ops = {
	.read_energy	= vchip_read_reset,
	.package	= vchip_energy_package,
};

static int set_reset(const char *text, const struct kernel_param *param)
{
	unsigned int i, domain;

	for (i = 0; i < source_chip->packages; i++)
		for (domain = 0; domain < VCHIP_DOMAINS; domain++)
			reset_at[i][domain] = vchip_energy_raw(vchip_pkg(source_chip, i), domain);
	WRITE_ONCE(vchip_energy_source.ops, &vchip_reset_ops);
	return 0;
}

static const struct kernel_param_ops reset_ops = { .set = set_reset };
module_param_cb(reset, &reset_ops, NULL, 0200);
MODULE_PARM_DESC(reset, "anything: the energy counters begin at 0, as after a reset of the chip");

static const struct kjoule_source_ops vchip_cycles_ops = {
	.read_cycles	= vchip_read_cycles,
	.precise_ip	= vchip_precise_ip,
};

/* For tests: the same for cycles. */
static int vchip_fail_cycles(struct kjoule_source *src, struct kjoule_cycles *c)
{
	return -EIO;
}

static const struct kjoule_source_ops vchip_failing_cycles_ops = {
	.read_cycles	= vchip_fail_cycles,
};

static struct kjoule_source vchip_cycles_source = {
	.name		= "vchip-cycles",
	.kind		= KJOULE_KIND_FREQUENCY,
	.owner		= THIS_MODULE,
	.ops		= &vchip_cycles_ops,
	.rating		= VCHIP_RATING,
	.reference_khz	= USEC_PER_SEC,		/* nanoseconds */
};

static int set_failing_cycles(const char *text, const struct kernel_param *param)
{
	bool failing;
	int ret = kstrtobool(text, &failing);

	if (!ret)
		WRITE_ONCE(vchip_cycles_source.ops,
			   failing ? &vchip_failing_cycles_ops : &vchip_cycles_ops);
	return ret;
}

static const struct kernel_param_ops failing_cycles_ops = { .set = set_failing_cycles };
module_param_cb(failing_cycles, &failing_cycles_ops, NULL, 0200);
MODULE_PARM_DESC(failing_cycles, "1: reading cycles fails from now on, 0: it works again");

static int __init register_ina(const struct vchip_head *head)
{
	if (!head->meter_ns)
		return 0;
	/* it is still there in hwmon */
	if (head->meter_ns > KJOULE_READY_MAX_NS) {
		pr_info("vchip_source: the profile's meter takes %llu us; kjoule holds a CPU for %llu us at most, so it is not offered\n",
			head->meter_ns / NSEC_PER_USEC, KJOULE_READY_MAX_NS / NSEC_PER_USEC);
		return 0;
	}
	vchip_ina_source.ready_ns = head->meter_ns;
	vchip_ina_source.domains[0].max_power_uw = 2 * head->pl2_uw;
	WRITE_ONCE(first_pkg()->meter_interval_ns, 0);
	return kjoule_source_register(&vchip_ina_source);
}

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
	vchip_energy_source.n_domains = source_chip->domains;
	for (i = 0; i < VCHIP_DOMAINS; i++) {
		struct kjoule_domain *domain = &vchip_energy_source.domains[i];

		domain->width = head->energy_bits;
		domain->unit_mult = USEC_PER_SEC;	/* microjoule in a joule */
		domain->unit_shift = head->esu;
		domain->update_period_ns = head->update_period_ns;
		domain->max_power_uw = 2 * head->pl2_uw;
	}
	vchip_hub_source.domains[0].width = head->energy_bits;
	vchip_hub_source.domains[0].unit_mult = USEC_PER_SEC;
	vchip_hub_source.domains[0].unit_shift = head->esu;
	for (i = 0; i < KJOULE_MAX_DOMAINS; i++) {
		struct kjoule_domain *domain = &vchip_rails_source.domains[i];

		snprintf(domain->name, sizeof(domain->name), "rail%u", i);
		domain->quantity = KJOULE_QUANTITY_POWER;
		domain->unit_mult = 1;
		domain->parent = -1;
	}
	ret = kjoule_source_register(&vchip_energy_source);
	if (ret)
		return ret;
	ret = kjoule_source_register(&vchip_cycles_source);
	if (ret)
		goto err_energy;
	ret = kjoule_source_register(&vchip_meter_source);
	if (ret)
		goto err_cycles;
	ret = kjoule_source_register(&vchip_rails_source);
	if (ret)
		goto err_meter;
	ret = kjoule_source_register(&vchip_hub_source);
	if (ret)
		goto err_rails;
	ret = register_ina(head);
	if (ret)
		goto err_hub;
	return 0;

err_hub:
	kjoule_source_unregister(&vchip_hub_source);
err_rails:
	kjoule_source_unregister(&vchip_rails_source);
err_meter:
	kjoule_source_unregister(&vchip_meter_source);
err_cycles:
	kjoule_source_unregister(&vchip_cycles_source);
err_energy:
	kjoule_source_unregister(&vchip_energy_source);
	return ret;
}
module_init(vchip_source_init);

static void __exit vchip_source_exit(void)
{
	if (vchip_ina_source.ready_ns)
		kjoule_source_unregister(&vchip_ina_source);
	kjoule_source_unregister(&vchip_hub_source);
	kjoule_source_unregister(&vchip_rails_source);
	kjoule_source_unregister(&vchip_meter_source);
	kjoule_source_unregister(&vchip_cycles_source);
	kjoule_source_unregister(&vchip_energy_source);
}
module_exit(vchip_source_exit);

MODULE_DESCRIPTION("kjoule's virtual chip as an energy and frequency source");
MODULE_LICENSE("GPL");
