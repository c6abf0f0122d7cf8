// SPDX-License-Identifier: GPL-2.0-only
/*
 * Energy source "rapl-msr": RAPL's energy status registers, described in rapl_decode.c. A readable
 * register proves nothing: hypervisors return 0, so a counter is used only if its unit is not zero
 * and it is updated, which the registry checks (update.c).
 */
#include <linux/kjoule.h>
#include <linux/module.h>
#include <asm/msr.h>
#include <asm/processor.h>

#include "compat/compat.h"
#include "source/rapl_decode.h"
#include "source/source.h"

static u32 domain_msr[KJOULE_RAPL_DOMAINS];

static int rapl_read(struct kjoule_source *src, unsigned int domain, u64 *raw)
{
	return rdmsrq_safe(domain_msr[domain], raw);
}

/* Intel counts per die (one package may have two), AMD per package. */
static int rapl_package(struct kjoule_source *src, unsigned int cpu)
{
	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		return topology_physical_package_id(cpu) << 8 | topology_die_id(cpu);
	return topology_physical_package_id(cpu);
}

static int rapl_absent(struct kjoule_source *src, char *why, size_t len)
{
	snprintf(why, len, "no RAPL: %s", (const char *)src->priv);
	return -ENODEV;
}

static const struct kjoule_source_ops rapl_ops = {
	.read_energy = rapl_read,
	.package = rapl_package,
};

static const struct kjoule_source_ops rapl_absent_ops = {
	.probe = rapl_absent,
};

static struct kjoule_source rapl = {
	.name = "rapl-msr",
	.kind = KJOULE_KIND_ENERGY,
	.owner = THIS_MODULE,
	.rating = 200,
};

static const char *rapl_setup(void)
{
	struct kjoule_rapl_domain found[KJOULE_RAPL_DOMAINS];
	enum kjoule_rapl_vendor vendor;
	u64 unit, raw;
	int i, j, n;

	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		vendor = KJOULE_RAPL_INTEL;
		break;
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		vendor = KJOULE_RAPL_AMD;
		break;
	default:
		return "neither an Intel nor an AMD processor";
	}
	if (rdmsrq_safe(kjoule_rapl_unit_msr(vendor), &unit))
		return "the unit register cannot be read";
	n = kjoule_rapl_decode(vendor, boot_cpu_data.x86_model, unit, found);
	if (n < 0)
		return "the unit register reads 0";
	for (i = 0; i < n; i++) {
		struct kjoule_domain *d = &rapl.domains[rapl.n_domains];

		/* updates are checked at first use: a counter at 0 may start later */
		if (rdmsrq_safe(found[i].msr, &raw))
			continue;
		domain_msr[rapl.n_domains] = found[i].msr;
		strscpy(d->name, found[i].name, sizeof(d->name));
		d->class = found[i].class;
		d->width = KJOULE_RAPL_WIDTH;
		d->unit_mult = found[i].unit_mult;
		d->unit_shift = found[i].unit_shift;
		/* about 1 ms: Intel SDM volume 3B, MSR_PKG_ENERGY_STATUS */
		d->update_period_ns = NSEC_PER_MSEC;
		/* found[] holds the parent's class until all are known */
		d->parent = -1;
		found[rapl.n_domains++] = found[i];
	}
	for (i = 0; i < rapl.n_domains; i++) {
		for (j = 0; j < rapl.n_domains; j++) {
			if (found[i].parent && found[j].class == found[i].parent)
				rapl.domains[i].parent = j;
		}
	}
	return rapl.n_domains ? NULL : "no energy counter can be read";
}

/*
 * kjoule_rapl_init() - detect RAPL and register the source. Without RAPL the source is registered
 * as well, with the reason why it cannot be used.
 */
int kjoule_rapl_init(void)
{
	const char *reason = rapl_setup();

	rapl.ops = &rapl_ops;
	if (reason) {
		rapl.ops = &rapl_absent_ops;
		rapl.priv = (void *)reason;
		rapl.n_domains = 0;
	}
	return kjoule_source_register(&rapl);
}

/** kjoule_rapl_exit() - undo kjoule_rapl_init() */
void kjoule_rapl_exit(void)
{
	kjoule_source_unregister(&rapl);
}
