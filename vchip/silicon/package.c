// SPDX-License-Identifier: GPL-2.0-only
/*
 * Integrates each package's power over the machine's time. Owns static power (a base, and
 * each CPU's leakage by its state and voltage), the memory's, the raw energy counters that move
 * only at their updates, which tasks ran together, and the order of what is due at one time.
 * Called by time.c when all CPUs have come to an event, by core.c when one halts or wakes.
 */
#include "package.h"

#include <stdlib.h>
#include <string.h>

#include "grants.h"
#include "meter.h"
#include "random.h"
#include "smi.h"
#include "time.h"

/* The turbo's budget and the temperature are looked at so often, at least. */
#define TURBO_STEP_NS	1000000

struct package packages[VCHIP_MAX_PACKAGES];
unsigned int package_count;

static bool powered, driver_loaded;

#define for_each_package(p) \
	for (struct package *p = packages; p < packages + package_count; p++)

void package_init(uint64_t seed)
{
	package_count = page.head->packages;
	for (unsigned int i = 0; i < package_count; i++) {
		packages[i].regs = page.pkg[i];
		packages[i].rng = random_seed(seed, 100 + i);
		turbo_init(&packages[i].turbo, i);
	}
	for (unsigned int i = 0; i < core_count; i++) {
		cores[i].package = &packages[profile_package(chip, i)];
		cores[i].package->cpus |= 1u << i;
	}
}

/* The first CPU of a package from @i on; core_count: there is no other. */
static unsigned int next_cpu(const struct package *p, unsigned int i)
{
	while (i < core_count && !(p->cpus & 1u << i))
		i++;
	return i;
}

#define for_each_cpu(p, i) \
	for (unsigned int i = next_cpu(p, 0); i < core_count; i = next_cpu(p, i + 1))

static uint64_t core_static_uw(const struct core *c)
{
	uint64_t leak = (chip->leak_uw * chip->vsq_q16[c->pstate] + 32768) >> 16;

	if (core_is_running(c))
		return leak;
	return leak * chip->idle[c->idle_state].leak_permille / 1000;
}

void package_power_changed(struct package *p)
{
	uint64_t uw = chip->base_uw;
	uint32_t mask = 0;

	for_each_cpu(p, i) {
		uw += core_static_uw(&cores[i]);
		mask |= core_is_running(&cores[i]) ? cores[i].bit : 0;
	}
	p->static_uw = uw;
	for_each_cpu(p, i)
		cores[i].static_fj = (uw * cores[i].cycle_fixns) >> FIXNS_SHIFT;
	p->running = mask;
}

uint64_t package_static_fj(const struct package *p, uint64_t ns)
{
	return p->static_uw * ns;
}

/* Dynamic energy of its CPUs; a fault can take a little of it back. */
static uint64_t dynamic_pj(const struct package *p)
{
	uint64_t pj = 0;

	for_each_cpu(p, i)
		pj += page_read(cores[i].regs->energy_pj);
	return pj;
}

static struct vector *find_vector(struct package *p, const uint64_t *task)
{
	uint64_t h = 0;
	struct vector *v;

	for (int i = 0; i < __builtin_popcount(p->cpus); i++)
		h = (h ^ task[i]) * 0x9e3779b97f4a7c15ULL;
	h = (h >> 32) % PACKAGE_BUCKETS;
	for (v = p->vectors[h]; v; v = v->next)
		if (!memcmp(v->task, task, sizeof(v->task)))
			return v;
	v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	memcpy(v->task, task, sizeof(v->task));
	v->next = p->vectors[h];
	p->vectors[h] = v;
	return v;
}

/* Who has run until now: states change only after an advance, tasks may lag by a turn. */
static struct vector *present_vector(struct package *p)
{
	uint64_t task[VCHIP_MAX_CPUS] = { 0 }, *next = task;

	for_each_cpu(p, i)
		*next++ = p->running & cores[i].bit ? page_read(cores[i].regs->task) : VECTOR_IDLE;
	if (p->current && !memcmp(p->current->task, task, sizeof(task)))
		return p->current;
	p->current = find_vector(p, task);
	return p->current;
}

static void book_static(struct package *p, uint64_t ns, uint64_t pj)
{
	unsigned int count = __builtin_popcount(p->running);
	struct package_books *books = &p->books;

	books->static_pj += pj;
	if (!count) {
		books->idle_ns += ns;
		books->idle_static_pj += pj;
	} else if (count == 1) {
		unsigned int i = __builtin_ctz(p->running);

		books->alone_ns[i] += ns;
		books->alone_static_pj[i] += pj;
	} else {
		books->shared_ns += ns;
		books->shared_static_pj += pj;
	}
}

static void book_dram(struct package *p, uint64_t ns)
{
	uint64_t fj = chip->dram_base_uw * ns + p->dram_fj_low;

	p->books.dram_static_pj += fj / 1000;
	p->dram_fj_low = fj % 1000;
	p->books.dram_dynamic_pj = 0;
	for_each_cpu(p, i)
		p->books.dram_dynamic_pj += cores[i].dram_pj;
	page_write(p->regs->energy_dram_pj, p->books.dram_static_pj + p->books.dram_dynamic_pj);
}

static uint32_t raw(uint64_t pj, uint32_t init)
{
	return init + (uint32_t)(((unsigned __int128)pj << chip->esu) / 1000000000000ULL);
}

static void draw_edge(struct package *p, uint64_t after)
{
	int64_t jitter = 0;

	if (chip->update_jitter_ns)
		jitter = (int64_t)random_below(&p->rng, 2 * chip->update_jitter_ns + 1) -
			 (int64_t)chip->update_jitter_ns;
	p->next_edge_ns = after + (uint64_t)((int64_t)chip->update_period_ns + jitter);
}

/* Due now. */
static void update_counters(struct package *p, uint64_t now)
{
	struct vchip_pkg *regs = p->regs;
	uint64_t core_pj = p->books.dynamic_pj, pkg_pj = p->books.static_pj + core_pj;

	if (now > p->edge_ns)
		page_write(regs->power_uw, (uint64_t)((double)(pkg_pj - p->edge_energy_pj) * 1000 /
						      (double)(now - p->edge_ns)));
	p->edge_energy_pj = pkg_pj;
	p->edge_ns = now;
	page_write(regs->energy_pkg_raw, raw(pkg_pj, chip->raw_init_pkg));
	page_write(regs->energy_core_raw, raw(core_pj, chip->raw_init_core));
	page_write(regs->energy_dram_raw,
		   raw(p->books.dram_static_pj + p->books.dram_dynamic_pj, 0));
	page_write(regs->update_chip_ns, now);
	__atomic_store_n(&regs->updates, regs->updates + 1, __ATOMIC_RELEASE);
	draw_edge(p, now);
}

void package_advance(struct package *p, uint64_t now)
{
	uint64_t ns, fj, pj, dynamic;
	struct vector *v;
	double watt, temp_mc;

	if (!powered || now <= p->last_ns)
		return;
	ns = now - p->last_ns;
	p->last_ns = now;
	/* microwatt times nanosecond is femtojoule; the remainder is carried */
	fj = p->static_uw * ns + p->static_fj_low;
	pj = fj / 1000;
	p->static_fj_low = fj % 1000;
	book_static(p, ns, pj);
	if (chip->has_dram)
		book_dram(p, ns);

	dynamic = dynamic_pj(p);
	v = present_vector(p);
	if (v) {
		v->time_ns += ns;
		v->static_pj += pj;
		v->dynamic_pj += (int64_t)(dynamic - p->last_dynamic_pj);
	}
	watt = ((double)pj + (double)(int64_t)(dynamic - p->last_dynamic_pj)) / (double)ns / 1000;
	temp_mc = thermal_advance(&p->thermal, ns, watt);
	p->last_dynamic_pj = dynamic;
	p->books.dynamic_pj = dynamic;

	page_write(p->regs->energy_core_pj, dynamic);
	page_write(p->regs->energy_pkg_pj, p->books.static_pj + dynamic);
	page_write(p->regs->chip_ns, now);
	turbo_advance(&p->turbo, now, ns, 1e6 * watt, p->running, temp_mc);
}

void package_advance_all(uint64_t now)
{
	for_each_package(p)
		package_advance(p, now);
}

/* The first time that the driver comes, energy begins to count. */
static void power_on(uint64_t now)
{
	for_each_package(p) {
		p->last_ns = now;
		p->edge_ns = now;
		thermal_init(&p->thermal, p->regs);
		/* a chip was switched on before the guest looks at it, it is not known when */
		p->next_edge_ns = now + 1 + random_below(&p->rng, chip->update_period_ns);
	}
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
	package_advance_all(now);
	for (unsigned int i = 0; i < core_count; i++) {
		if (loaded)
			core_start(&cores[i]);
		else
			core_stop(&cores[i]);
	}
	for_each_package(p)
		package_power_changed(p);
}

/* Of the one that the meter is of. */
static uint64_t metered_pj(void)
{
	return packages[0].books.static_pj + packages[0].books.dynamic_pj;
}

void package_serve(uint64_t now)
{
	follow_driver(now);
	if (!powered)
		return;
	package_advance_all(now);
	meter_serve(now, metered_pj());
	for_each_package(p)
		if (now >= p->next_edge_ns)
			update_counters(p, now);
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
	sooner(&next, meter_end());
	for_each_package(p) {
		sooner(&next, p->next_edge_ns);
		if (chip->has_turbo)
			sooner(&next, p->last_ns + TURBO_STEP_NS);
	}
	for (unsigned int i = 0; driver_loaded && i < core_count; i++) {
		sooner(&next, smi_next(&cores[i]));
		sooner(&next, grants_next(&cores[i]));
	}
	return next;
}

void package_meter_start(uint64_t now)
{
	package_advance(&packages[0], now);
	meter_start(now, metered_pj());
	time_expect(meter_end());
}

void package_for_each_vector(const struct package *p,
			     void (*call)(const struct package *p, const struct vector *v,
					  void *data), void *data)
{
	for (unsigned int i = 0; i < PACKAGE_BUCKETS; i++)
		for (const struct vector *v = p->vectors[i]; v; v = v->next)
			call(p, v, data);
}
