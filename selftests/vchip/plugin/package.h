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

/* @seed: of the counters' jitter. */
void package_init(uint64_t seed);

/* Integrate up to that time; nothing to do when it was there already. */
void package_advance(uint64_t now);

/* What is due now, in the guest's driver coming or going first. Context: all CPUs have reached that time. */
void package_serve(uint64_t now);

/* When the chip's next event is due, after now; UINT64_MAX: none is known. */
uint64_t package_next_event(void);

/* The guest has started the meter. */
void package_meter_start(uint64_t now);

/* A CPU has started, halted or changed its frequency. Context: advanced to now. */
void package_power_changed(void);

/* Static energy of so long, as power is now, in femtojoule. */
uint64_t package_static_fj(uint64_t ns);

/* The CPUs that run, as a mask; read by every block. */
extern uint32_t package_running_mask;

static inline uint32_t package_running(void)
{
	return package_running_mask;
}

/* Energy and time so far. */
extern struct package_books package_books;

/* Call for each vector. */
void package_for_each_vector(void (*call)(const struct vector *v, void *data), void *data);

#endif /* VCHIP_PACKAGE_H */
