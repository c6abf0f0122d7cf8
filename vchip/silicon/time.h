/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine's time: each CPU's own is the cycles that it has executed over its frequency; what
 * all have reached is the time of everything else. Owns whose turn it is, halts and wake-ups, and
 * the jump to the next event when all CPUs are halted. Called by core.c at each block.
 */
#ifndef VCHIP_TIME_H
#define VCHIP_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "qemu.h"

/* The CPU that may execute, NULL: that is not known; and the time up to which it may. */
extern struct core *time_executing;
extern fixns_t time_limit;
/* CPUs that are not halted. */
extern unsigned int time_running;
/*
 * An interrupt has come for a halted CPU, or from a device: it comes before the next block, however
 * the threads race.
 */
extern volatile bool time_interrupted;

/**
 * time_init() - begin at 0
 * @seed: of the noise that interrupts have
 */
void time_init(uint64_t seed);

/*
 * Take over QEMU's clock. Return: 0 or -errno, with a message. Context: before the first CPU runs.
 */
int time_attach(char *error, unsigned int error_size);

/* The machine's time in ns: what all CPUs have reached. */
uint64_t time_now(void);

/* A CPU's own time in ns. */
static inline uint64_t time_of(const struct core *c)
{
	return c->time >> FIXNS_SHIFT;
}

/* Has the CPU to look up before its next block? */
static inline bool time_is_up(const struct core *c)
{
	return c != time_executing || c->time >= time_limit ||
	       (int64_t)time_of(c) >= qemu_next_timer_ns() ||
	       qemu_device_touched || time_interrupted;
}

/**
 * time_look_up() - events that are due, I/O, and whose turn it is
 * @c: the CPU that is about to execute a block
 * @ra: of the block's callback
 *
 * Returns only if the block is to be executed now; else the CPU leaves it before its first
 * instruction.
 */
void time_look_up(struct core *c, uintptr_t ra);

/*
 * The CPU is about to read the time: those behind come first, so that no CPU reads an earlier time
 * after it has seen what this one did. Context: time_is_up() is asked next.
 */
void time_agree(const struct core *c);

/* The CPU halts, at the end of the block that was entered last. */
void time_halt(struct core *c);

/* Something is due at that time: no CPU is to go beyond. */
void time_expect(uint64_t ns);

/* The CPU does not execute for so long, from now on, and does not take interrupts. */
void time_pause(struct core *c, uint64_t ns);

#endif /* VCHIP_TIME_H */
