/* SPDX-License-Identifier: GPL-2.0-only */
/* What the CPUs share: power, energy counters and their edges, temperature. */
#ifndef VCHIP_PACKAGE_H
#define VCHIP_PACKAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "page.h"

struct core;

/* Energy and time by what ran together; the tasks of halted CPUs are VECTOR_IDLE. */
#define VECTOR_IDLE	UINT64_MAX

struct vector {
	uint64_t task[VCHIP_MAX_CPUS];
	uint64_t time_ns;
	uint64_t static_pj;
	int64_t dynamic_pj;
	struct vector *next;
};

struct package_books {
	uint64_t static_pj;
	uint64_t dynamic_pj;
	uint64_t idle_ns, idle_static_pj;			/* every CPU halted */
	uint64_t alone_ns[VCHIP_MAX_CPUS], alone_static_pj[VCHIP_MAX_CPUS];	/* only this one ran */
	uint64_t shared_ns, shared_static_pj;			/* two or more ran */
};

/* The guest's driver is loaded: energy begins to count. */
void package_start(void);

/* Start and end the host thread, which goes on when every CPU is halted. */
int package_thread_start(void);
void package_thread_stop(void);

/**
 * package_lock() - own the package's state
 * Context: vCPU threads may wait for it; the host thread must only try, because it has
 * real-time priority and could keep the owner from running.
 */
void package_lock(void);
bool package_trylock(void);
void package_unlock(void);

/* Integrate up to @now, move the counters when an edge is due. Context: the lock is held. */
void package_advance(uint64_t now);

/* Advance and serve halted CPUs if nobody else does so already. */
void package_poll(uint64_t now);

/* A CPU has started, halted or changed its frequency. Context: lock held, advanced to now. */
void package_power_changed(void);

/**
 * package_stalled_alone() - how long of the time for which a CPU stood still no other one ran
 * @now: when it stops standing still
 * @ns: how long it stood still
 * @static_fj: set to the static energy of the time that is returned
 *
 * Others halt and wake meanwhile, and the CPU that stands still does not look. So it is told
 * from the books: what they have of its time alone, less what it has been charged for.
 *
 * Return: nanoseconds, at most @ns.
 * Context: the vCPU's thread; the lock is taken.
 */
uint64_t package_stalled_alone(const struct core *c, uint64_t now, uint64_t ns, uint64_t *static_fj);

/* The CPUs that run, as a mask; written under the lock, read by every block. */
extern uint32_t package_running_mask;

static inline uint32_t package_running(void)
{
	return __atomic_load_n(&package_running_mask, __ATOMIC_RELAXED);
}

/* A copy of the books. Context: the lock is held. */
void package_books(struct package_books *books);

/* A copy of all vectors, to be freed by the caller. Context: the lock is held. */
struct vector *package_vectors(void);

#endif /* VCHIP_PACKAGE_H */
