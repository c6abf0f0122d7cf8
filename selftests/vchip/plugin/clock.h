/* SPDX-License-Identifier: GPL-2.0-only */
/* Chip time: quanta, the wait that slows a CPU down to its clock, stalls. */
#ifndef VCHIP_CLOCK_H
#define VCHIP_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "core.h"

/* Chip time is the build machine's CLOCK_MONOTONIC. */
static inline uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* @free_running: charge, but never wait: shows how fast the emulation could go. */
void clock_init(bool free_running);

/* The random length of a quantum: uniform from half to one and a half times the nominal. */
int64_t clock_draw_quantum(struct core *c);

/* The block just charged holds the end of the quantum: wait for the clock, begin the next one. */
void clock_quantum_end(struct core *c);

/* Wait until the wall clock has caught up with what has been charged so far. */
void clock_sync(struct core *c);

/* The CPU halts, or runs again: takes the package lock, resets the clock's reference. */
void clock_halt(struct core *c);
void clock_wake(struct core *c);

/* The CPU stands still for a while on the chip's own account. */
void clock_pause(struct core *c, uint64_t ns);

/* Chip time at which what is charged so far has been executed, at the nominal pace. */
uint64_t clock_nominal(const struct core *c);

#endif /* VCHIP_CLOCK_H */
