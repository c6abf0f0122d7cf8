// SPDX-License-Identifier: GPL-2.0-only
/*
 * RAPL's registers; see rapl_decode.h. Addresses and the energy status unit (bits 12:8 of the unit
 * register, one count is 2^-ESU joule) are from Intel's Software Developer's Manual, volume 4, and
 * AMD's processor programming references; exceptions are commented below.
 */
#include "source/rapl_decode.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#else
#include <errno.h>
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

/*
 * MSR_RAPL_POWER_UNIT: Intel SDM volume 3B, RAPL Interfaces; addresses in volume 4. AMD PPR of
 * family 17h, Core::X86::Msr::RAPL_PWR_UNIT. Bits 12:8 of both are the energy status unit.
 */
#define INTEL_UNIT_MSR	0x606
#define AMD_UNIT_MSR	0xc0010299

/* enum kjoule_domain_class of the uapi header */
enum { OTHER, PACKAGE, CORE, UNCORE, DRAM, PSYS };

/* MSR_PKG_, PP0_, PP1_, DRAM_ and PLATFORM_ENERGY_STATUS. */
static const struct kjoule_rapl_domain intel_domains[] = {
	{ .name = "package", .msr = 0x611, .class = PACKAGE, .parent = PSYS },
	{ .name = "core", .msr = 0x639, .class = CORE, .parent = PACKAGE },
	{ .name = "uncore", .msr = 0x641, .class = UNCORE, .parent = PACKAGE },
	{ .name = "dram", .msr = 0x619, .class = DRAM, .parent = PSYS },
	{ .name = "psys", .msr = 0x64d, .class = PSYS },
};

/* The core counter (0xc001029a) is one per core, not per package, and not read here. */
static const struct kjoule_rapl_domain amd_domains[] = {
	{ .name = "package", .msr = 0xc001029b, .class = PACKAGE },
};

/*
 * Server parts whose DRAM counts are 2^-16 J (15.3 uJ) whatever the unit register says: Intel SDM
 * volume 4, MSR_DRAM_ENERGY_STATUS of these models; Linux has the same list.
 */
static const u32 dram_fixed_unit[] = {
	0x3f,		/* Haswell-X */
	0x4f, 0x56,	/* Broadwell-X, Broadwell-D */
	0x55,		/* Skylake-X, Cascade Lake-X */
	0x57, 0x85,	/* Knights Landing, Knights Mill */
	0x6a, 0x6c,	/* Ice Lake-X, Ice Lake-D */
};

/*
 * One psys count is 1 J. DRAM of these parts counts in the unit register's unit again: Linux used
 * 2^-16 J until 6.1, corrected in commits 4c081324df56 (powercap) and 80275ca9e525 (perf/x86/rapl).
 * Granite Rapids is like Sapphire Rapids: turbostat's spr_features. Sierra Forest (0xaf), Grand
 * Ridge (0xb6) and Clearwater Forest (0xdd) are no exceptions: its srf_ and grr_features.
 */
static const u32 psys_joule_unit[] = {
	0x8f, 0xcf,	/* Sapphire Rapids-X, Emerald Rapids-X */
	0xad, 0xae,	/* Granite Rapids-X, Granite Rapids-D */
};

/* Silvermont and Airmont: one count is 2^ESU microjoule. Intel SDM volume 4, their 0x606. */
static const u32 atom_unit[] = { 0x37, 0x4a, 0x4c, 0x5a, 0x5d };

static bool rapl_model_is_listed(const u32 *list, unsigned int n, u32 model)
{
	while (n--) {
		if (*list++ == model)
			return true;
	}
	return false;
}

/** kjoule_rapl_unit_msr() - address of the MSR with the units */
u32 kjoule_rapl_unit_msr(enum kjoule_rapl_vendor vendor)
{
	return vendor == KJOULE_RAPL_AMD ? AMD_UNIT_MSR : INTEL_UNIT_MSR;
}

/**
 * kjoule_rapl_decode() - counters that a processor of this kind may have
 * @vendor:	of the processor
 * @model:	its model number; family 6 for Intel
 * @unit_value:	of the unit register
 * @domains:	result
 *
 * The caller checks whether a counter exists and is updated.
 * Return: number of domains, or -ENODEV if the unit register is 0
 */
int kjoule_rapl_decode(enum kjoule_rapl_vendor vendor, u32 model, u64 unit_value,
		       struct kjoule_rapl_domain domains[KJOULE_RAPL_DOMAINS])
{
	const struct kjoule_rapl_domain *table = intel_domains;
	unsigned int i, n = ARRAY_SIZE(intel_domains);
	u32 esu = (unit_value >> 8) & 0x1f;

	if (!unit_value)
		return -ENODEV;
	if (vendor == KJOULE_RAPL_AMD) {
		table = amd_domains;
		n = ARRAY_SIZE(amd_domains);
	}
	for (i = 0; i < n; i++) {
		struct kjoule_rapl_domain *d = &domains[i];

		*d = table[i];
		d->unit_mult = 1000000;
		d->unit_shift = esu;
		if (vendor == KJOULE_RAPL_AMD)
			continue;
		if (rapl_model_is_listed(atom_unit, ARRAY_SIZE(atom_unit), model)) {
			d->unit_mult = 1ULL << esu;
			d->unit_shift = 0;
		}
		if (d->class == DRAM &&
		    rapl_model_is_listed(dram_fixed_unit, ARRAY_SIZE(dram_fixed_unit), model))
			d->unit_shift = 16;
		if (d->class == PSYS &&
		    rapl_model_is_listed(psys_joule_unit, ARRAY_SIZE(psys_joule_unit), model))
			d->unit_shift = 0;
	}
	return n;
}

/* kjoule_rapl_wrap_ms() - milliseconds to a wrap of a counter. @power_uw: at this power, not 0. */
u64 kjoule_rapl_wrap_ms(const struct kjoule_rapl_domain *domain, u64 power_uw)
{
	unsigned __int128 range_uj = ((unsigned __int128)domain->unit_mult << KJOULE_RAPL_WIDTH) >>
				     domain->unit_shift;

	/* no 128-bit division in the kernel: the range is below 2^52 uJ, times 1000 fits */
	return (u64)range_uj * 1000 / power_uw;
}
