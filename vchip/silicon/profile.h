/* SPDX-License-Identifier: GPL-2.0-only */
/* A chip's description, read from a text file; see profiles/README. */
#ifndef VCHIP_PROFILE_H
#define VCHIP_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "../vchip_page.h"
#include "classify.h"

struct idle_state {
	uint64_t latency_ns;
	uint64_t residency_ns;
	uint32_t leak_permille;	/* of a running CPU's leakage */
};

/* struct profile.latency_ns: the request comes to nothing. */
#define LATENCY_NEVER	UINT64_MAX

struct profile {
	char name[VCHIP_NAME_LEN];
	uint32_t clock_scale;
	uint32_t packages;
	uint32_t cores;		/* of a package; 0: as many as QEMU has */
	uint32_t threads;	/* of a core */
	uint32_t reset_khz;	/* instructions in a millisecond before the driver is loaded */

	uint32_t pstates;
	uint32_t boot_pstate;
	uint32_t freq_khz[VCHIP_MAX_PSTATES];
	uint32_t voltage_mv[VCHIP_MAX_PSTATES];
	uint32_t vsq_q16[VCHIP_MAX_PSTATES];	/* (V / V of the highest state)^2, 65536 is one */
	uint64_t latency_ns[VCHIP_MAX_PSTATES][VCHIP_MAX_PSTATES];	/* [from][to] */
	uint64_t grant_grid_ns;	/* changes are granted at multiples of this only; 0: at any time */
	uint32_t latency_jitter_percent;
	uint32_t granted[VCHIP_MAX_PSTATES];	/* for the one that is asked for */
	uint64_t step_ns;	/* between the steps of a change upwards; 0: it is made in one */
	uint32_t step_pstates;
	uint64_t pause_ns;

	uint64_t smi_every_ns;	/* mean time between two; 0: there are none */
	uint64_t smi_min_ns;
	uint64_t smi_max_ns;

	uint32_t cycles[CLASSES];
	uint32_t energy_pj[CLASSES];	/* at the voltage of the highest state */

	uint32_t idle_states;
	struct idle_state idle[VCHIP_MAX_IDLE];

	uint64_t base_uw;	/* package, always */
	uint64_t leak_uw;	/* a running CPU, at the voltage of the highest state */

	bool has_dram;
	uint64_t dram_base_uw;	/* of each package, always */
	uint32_t dram_pj[CLASSES];	/* at any voltage */

	uint32_t esu;
	uint32_t raw_init_pkg;
	uint32_t raw_init_core;
	uint64_t update_period_ns;
	uint64_t update_jitter_ns;

	int32_t ambient_mc;
	int32_t tjmax_mc;
	uint32_t thermal_mc_per_w;
	uint32_t thermal_off_mc_per_w;	/* with the fan off; 0: there is none */
	uint64_t thermal_tau_ns;

	uint64_t pl1_uw;
	uint64_t pl2_uw;
	uint64_t tau_us;

	uint64_t meter_ns;		/* of the meter that starts on command; 0: there is none */
	uint64_t meter_lsb_uw;

	bool has_turbo;
	uint32_t base_pstate;		/* without turbo */
	uint32_t sustained_pstate;	/* when a boost has ended */
	/* with so many CPUs at work, less one: a P-state */
	uint32_t turbo_by_active[VCHIP_MAX_CPUS];
	uint32_t turbo_ends;		/* TURBO_* */
	uint64_t turbo_hold_ns;		/* a CPU that has halted counts as at work for so long */
	/* the weighted mean has to fall so far below PL1 for the next boost */
	uint64_t turbo_return_uw;
	int32_t turbo_trip_mc;
	uint32_t turbo_return_mc;	/* the same of the temperature */
	uint64_t turbo_time_ns;		/* of a boost */
	uint64_t turbo_rest_ns;		/* after which there is another one */
	uint64_t turbo_moment_ns;	/* work for so long ends no rest */
};

/**
 * profile_load() - read a profile
 * @path: the file; a line "include = FILE" reads another one of the same folder first
 * @error: a message naming file, line and fault, when it fails
 * Return: 0 or -errno.
 */
int profile_load(struct profile *profile, const char *path, char *error, unsigned int error_size);

/* The largest latency of any change that is made, steps and pause included, in nanoseconds. */
uint64_t profile_max_latency_ns(const struct profile *profile);

/* The state with exactly this frequency, or -1. */
int profile_pstate(const struct profile *profile, uint32_t khz);

/* The package that a CPU belongs to. */
static inline unsigned int profile_package(const struct profile *profile, unsigned int cpu)
{
	return profile->packages > 1 ? cpu / (profile->cores * profile->threads) : 0;
}

/* What one instruction of a class costs in a P-state, in picojoule: the one place that rounds. */
static inline uint64_t profile_energy_pj(const struct profile *profile, enum insn_class class,
					 unsigned int pstate)
{
	return ((uint64_t)profile->energy_pj[class] * profile->vsq_q16[pstate] + 32768) >> 16;
}

#endif /* VCHIP_PROFILE_H */
