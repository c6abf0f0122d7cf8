// SPDX-License-Identifier: GPL-2.0-only
/*
 * Integrates the package's power over the machine's time. Owns static power (a base, and
 * each CPU's leakage by its state and voltage), the raw energy counters that move
 * only at their updates, which tasks ran together, and the order of what is due at one time.
 * Called by time.c when all CPUs have come to an event, by core.c when one halts or wakes.
 */
#include "package.h"

#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "grants.h"
#include "meter.h"
#include "random.h"
#include "smi.h"
#include "thermal.h"
#include "time.h"
#include "turbo.h"

#define BUCKETS	1024

/* The turbo's budget and the temperature are looked at so often, at least. */
#define TURBO_STEP_NS	1000000

uint32_t package_running_mask;
struct package_books package_books;

static bool powered, driver_loaded;

static uint64_t last_ns;
static uint64_t static_uw;
static uint64_t static_fj_low;
static struct vector *vectors[BUCKETS];
static struct vector *current;
static uint64_t last_dynamic_pj;

static uint64_t next_edge_ns;
static uint64_t edge_energy_pj;
static uint64_t edge_ns;
static uint64_t rng;

void package_init(uint64_t seed)
{
	rng = random_seed(seed, 100);
}

static uint64_t core_static_uw(const struct core *c)
{
	uint64_t leak = (chip->leak_uw * chip->vsq_q16[c->pstate] + 32768) >> 16;

	if (core_is_running(c))
		return leak;
	return leak * chip->idle[c->idle_state].leak_permille / 1000;
}

void package_power_changed(void)
{
	uint64_t uw = chip->base_uw;
	uint32_t mask = 0;

	for (unsigned int i = 0; i < core_count; i++) {
		uw += core_static_uw(&cores[i]);
		mask |= core_is_running(&cores[i]) ? cores[i].bit : 0;
	}
	static_uw = uw;
	for (unsigned int i = 0; i < core_count; i++)
		cores[i].static_fj = (uw * cores[i].cycle_fixns) >> FIXNS_SHIFT;
	package_running_mask = mask;
}

uint64_t package_static_fj(uint64_t ns)
{
	return static_uw * ns;
}

/* Dynamic energy of all CPUs; a fault can take a little of it back. */
static uint64_t dynamic_pj(void)
{
	uint64_t pj = 0;

	for (unsigned int i = 0; i < core_count; i++)
		pj += page_read(cores[i].regs->energy_pj);
	return pj;
}

static struct vector *find_vector(const uint64_t *task)
{
	uint64_t h = 0;
	struct vector *v;

	for (unsigned int i = 0; i < core_count; i++)
		h = (h ^ task[i]) * 0x9e3779b97f4a7c15ULL;
	h = (h >> 32) % BUCKETS;
	for (v = vectors[h]; v; v = v->next)
		if (!memcmp(v->task, task, core_count * sizeof(*task)))
			return v;
	v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	memcpy(v->task, task, core_count * sizeof(*task));
	v->next = vectors[h];
	vectors[h] = v;
	return v;
}

/* Who has run until now: states change only after an advance, tasks may lag by a turn. */
static struct vector *present_vector(void)
{
	uint64_t task[VCHIP_MAX_CPUS];

	for (unsigned int i = 0; i < core_count; i++)
		task[i] = package_running() & cores[i].bit ? page_read(cores[i].regs->task) : VECTOR_IDLE;
	if (current && !memcmp(current->task, task, core_count * sizeof(*task)))
		return current;
	current = find_vector(task);
	return current;
}

static void book_static(uint64_t ns, uint64_t pj)
{
	unsigned int count = __builtin_popcount(package_running());

	package_books.static_pj += pj;
	if (!count) {
		package_books.idle_ns += ns;
		package_books.idle_static_pj += pj;
	} else if (count == 1) {
		unsigned int i = __builtin_ctz(package_running());

		package_books.alone_ns[i] += ns;
		package_books.alone_static_pj[i] += pj;
	} else {
		package_books.shared_ns += ns;
		package_books.shared_static_pj += pj;
	}
}

static uint32_t raw(uint64_t pj, uint32_t init)
{
	return init + (uint32_t)(((unsigned __int128)pj << chip->esu) / 1000000000000ULL);
}

static void draw_edge(uint64_t after)
{
	int64_t jitter = 0;

	if (chip->update_jitter_ns)
		jitter = (int64_t)random_below(&rng, 2 * chip->update_jitter_ns + 1) -
			 (int64_t)chip->update_jitter_ns;
	next_edge_ns = after + (uint64_t)((int64_t)chip->update_period_ns + jitter);
}

/* Due now. */
static void update_counters(uint64_t now)
{
	struct vchip_pkg *regs = page.pkg;
	uint64_t core_pj = package_books.dynamic_pj, pkg_pj = package_books.static_pj + core_pj;

	if (now > edge_ns)
		page_write(regs->power_uw, (uint64_t)((double)(pkg_pj - edge_energy_pj) * 1000 /
						      (double)(now - edge_ns)));
	edge_energy_pj = pkg_pj;
	edge_ns = now;
	page_write(regs->energy_pkg_raw, raw(pkg_pj, chip->raw_init_pkg));
	page_write(regs->energy_core_raw, raw(core_pj, chip->raw_init_core));
	page_write(regs->update_chip_ns, now);
	__atomic_store_n(&regs->updates, regs->updates + 1, __ATOMIC_RELEASE);
	draw_edge(now);
}

void package_advance(uint64_t now)
{
	uint64_t ns, fj, pj, dynamic;
	struct vector *v;
	double watt, temp_mc;

	if (!powered || now <= last_ns)
		return;
	ns = now - last_ns;
	last_ns = now;
	/* microwatt times nanosecond is femtojoule; the remainder is carried */
	fj = static_uw * ns + static_fj_low;
	pj = fj / 1000;
	static_fj_low = fj % 1000;
	book_static(ns, pj);

	dynamic = dynamic_pj();
	v = present_vector();
	if (v) {
		v->time_ns += ns;
		v->static_pj += pj;
		v->dynamic_pj += (int64_t)(dynamic - last_dynamic_pj);
	}
	watt = ((double)pj + (double)(int64_t)(dynamic - last_dynamic_pj)) / (double)ns / 1000;
	temp_mc = thermal_advance(ns, watt);
	last_dynamic_pj = dynamic;
	package_books.dynamic_pj = dynamic;

	page_write(page.pkg->energy_core_pj, dynamic);
	page_write(page.pkg->energy_pkg_pj, package_books.static_pj + dynamic);
	page_write(page.pkg->chip_ns, now);
	turbo_advance(now, ns, 1e6 * watt, package_running(), temp_mc);
}

/* The first time that the driver comes, energy begins to count. */
static void power_on(uint64_t now)
{
	last_ns = now;
	edge_ns = now;
	thermal_init();
	/* a chip was switched on before the guest looks at it, nobody knows when */
	next_edge_ns = now + 1 + random_below(&rng, chip->update_period_ns);
	powered = true;
}

static void follow_driver(uint64_t now)
{
	bool loaded = page_read(page.head->guest_ready) == 1;

	if (loaded == driver_loaded)
		return;
	driver_loaded = loaded;
	if (loaded)
		block_set_vectors(page.idt);
	if (loaded && !powered)
		power_on(now);
	package_advance(now);
	for (unsigned int i = 0; i < core_count; i++) {
		if (loaded)
			core_start(&cores[i]);
		else
			core_stop(&cores[i]);
	}
	package_power_changed();
}

void package_serve(uint64_t now)
{
	follow_driver(now);
	if (!powered)
		return;
	package_advance(now);
	meter_serve(now, package_books.static_pj + package_books.dynamic_pj);
	if (now >= next_edge_ns)
		update_counters(now);
	for (unsigned int i = 0; driver_loaded && i < core_count; i++) {
		smi_serve(&cores[i]);
		grants_serve(&cores[i], now);
	}
}

static void sooner(uint64_t *next, uint64_t ns)
{
	if (ns < *next)
		*next = ns;
}

uint64_t package_next_event(void)
{
	uint64_t next = NEVER;

	if (!powered)
		return NEVER;
	sooner(&next, next_edge_ns);
	sooner(&next, meter_end());
	if (chip->has_turbo)
		sooner(&next, last_ns + TURBO_STEP_NS);
	for (unsigned int i = 0; driver_loaded && i < core_count; i++) {
		sooner(&next, smi_next(&cores[i]));
		sooner(&next, grants_next(&cores[i]));
	}
	return next;
}

void package_meter_start(uint64_t now)
{
	package_advance(now);
	meter_start(now, package_books.static_pj + package_books.dynamic_pj);
	time_expect(meter_end());
}

void package_for_each_vector(void (*call)(const struct vector *v, void *data), void *data)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (const struct vector *v = vectors[i]; v; v = v->next)
			call(v, data);
}
