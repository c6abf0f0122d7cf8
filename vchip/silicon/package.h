/* SPDX-License-Identifier: GPL-2.0-only */
/* What the CPUs of a package share: power, energy counters and their edges, turbo, temperature. */
#ifndef VCHIP_PACKAGE_H
#define VCHIP_PACKAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "page.h"
#include "thermal.h"
#include "turbo.h"

/* Energy and time by what ran together; the tasks of halted CPUs are VECTOR_IDLE. */
#define VECTOR_IDLE	UINT64_MAX

struct vector {
	uint64_t task[VCHIP_MAX_CPUS];	/* of the package's CPUs in their order, then 0 */
	uint64_t time_ns;
	uint64_t static_pj;
	int64_t dynamic_pj;
	struct vector *next;
};

struct package_books {
	uint64_t static_pj;
	uint64_t dynamic_pj;
	uint64_t dram_static_pj, dram_dynamic_pj;		/* of the memory, besides */
	uint64_t idle_ns, idle_static_pj;			/* every CPU halted */
	/* only this one ran */
	uint64_t alone_ns[VCHIP_MAX_CPUS], alone_static_pj[VCHIP_MAX_CPUS];
	uint64_t shared_ns, shared_static_pj;			/* two or more ran */
};

#define PACKAGE_BUCKETS	1024

struct package {
	struct vchip_pkg *regs;
	uint32_t cpus;			/* that belong to it, as a mask */
	uint32_t running;		/* of them that run; read by every block */
	fixns_t last_halt;		/* whoever is alone is so since then */
	struct package_books books;	/* energy and time so far */
	struct turbo turbo;
	struct thermal thermal;

	/* package.c's */
	uint64_t last_ns;
	uint64_t static_uw;
	uint64_t static_fj_low, dram_fj_low;
	uint64_t last_dynamic_pj;
	struct vector *vectors[PACKAGE_BUCKETS];
	struct vector *current;
	uint64_t next_edge_ns;
	uint64_t edge_energy_pj;
	uint64_t edge_ns;
	uint64_t rng;
};

extern struct package packages[VCHIP_MAX_PACKAGES];
extern unsigned int package_count;

/* Put the CPUs into their packages. @seed: of the counters' jitter. */
void package_init(uint64_t seed);

/* Integrate up to that time; nothing to do when it was there already. */
void package_advance(struct package *p, uint64_t now);

/* The same of all. */
void package_advance_all(uint64_t now);

/*
 * What is due now, in the guest's driver coming or going first. Context: all CPUs have reached that
 * time.
 */
void package_serve(uint64_t now);

/* When the chip's next event is due, after now; UINT64_MAX: none is known. */
uint64_t package_next_event(void);

/* The guest has started the meter. */
void package_meter_start(uint64_t now);

/* A CPU of it has started, halted or changed its frequency. Context: advanced to now. */
void package_power_changed(struct package *p);

/* Static energy of so long, as power is now, in femtojoule. */
uint64_t package_static_fj(const struct package *p, uint64_t ns);

/* Call for each vector. */
void package_for_each_vector(const struct package *p,
			     void (*call)(const struct package *p, const struct vector *v,
					  void *data), void *data);

#endif /* VCHIP_PACKAGE_H */
