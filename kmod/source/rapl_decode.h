/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RAPL's registers: which counters a processor has, their units and widths. Pure functions, shared
 * with unit tests in user space; rapl.c reads the registers.
 */
#ifndef KJOULE_RAPL_DECODE_H
#define KJOULE_RAPL_DECODE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
#endif

#define KJOULE_RAPL_DOMAINS	5	/* of the longer table in rapl_decode.c */

enum kjoule_rapl_vendor {
	KJOULE_RAPL_INTEL,
	KJOULE_RAPL_AMD,	/* and Hygon */
};

/**
 * struct kjoule_rapl_domain - one energy status register
 * @name:	package, core, uncore, dram or psys
 * @msr:	its address
 * @class:	KJOULE_DOMAIN_* (numbers of the uapi header)
 * @parent:	class of the domain that contains it, 0 if none
 * @unit_mult:	one count is @unit_mult / 2^@unit_shift microjoule
 * @unit_shift:	see @unit_mult
 */
struct kjoule_rapl_domain {
	const char *name;
	u32 msr;
	u32 class;
	u32 parent;
	u64 unit_mult;
	u32 unit_shift;
};

/*
 * All energy status counters are 32 bits wide; the upper half of the register is reserved. Intel
 * SDM volume 3B, RAPL Interfaces; AMD PPR of family 17h, Core::X86::Msr::PKG_ENERGY_STAT.
 */
#define KJOULE_RAPL_WIDTH	32

u32 kjoule_rapl_unit_msr(enum kjoule_rapl_vendor vendor);
int kjoule_rapl_decode(enum kjoule_rapl_vendor vendor, u32 model, u64 unit_value,
		       struct kjoule_rapl_domain domains[KJOULE_RAPL_DOMAINS]);
u64 kjoule_rapl_wrap_ms(const struct kjoule_rapl_domain *domain, u64 power_uw);

#endif
