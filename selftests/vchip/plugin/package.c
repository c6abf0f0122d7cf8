// SPDX-License-Identifier: GPL-2.0-only
/*
 * Integrates the package's power over chip time. Owns static power (a base, and
 * each CPU's leakage by its state and voltage), the raw energy counters that move
 * only at update edges, and the books of which tasks ran together.
 * Whoever comes by advances it: a vCPU at the end of a quantum, or the host thread.
 */
#include "package.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "core.h"
#include "grants.h"
#include "meter.h"
#include "random.h"
#include "thermal.h"
#include "turbo.h"

#define BUCKETS	1024

uint32_t package_running_mask __attribute__((aligned(128)));

static int locked __attribute__((aligned(128)));
static bool powered;

static uint64_t last_ns;
static uint64_t static_uw;
static uint64_t static_fj_low;
static struct package_books books;
static struct vector *vectors[BUCKETS];
static struct vector *current;
static uint64_t last_dynamic_pj;

static uint64_t next_edge_ns;
static uint64_t edge_energy_pj;
static uint64_t edge_ns;
static uint64_t rng = 0x2545f4914f6cdd1dULL;

static pthread_t thread;
static bool thread_runs;

void package_lock(void)
{
	unsigned int tries = 0;

	while (!package_trylock()) {
		__builtin_ia32_pause();
		/* The owner may have lost its CPU to us. */
		if (++tries % 256 == 0)
			sched_yield();
	}
}

bool package_trylock(void)
{
	int expected = 0;

	return __atomic_compare_exchange_n(&locked, &expected, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void package_unlock(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

static uint64_t core_static_uw(const struct core *c)
{
	uint64_t leak = (chip->leak_uw * chip->vsq_q16[c->pstate] + 32768) >> 16;

	if (c->running)
		return leak;
	return leak * chip->idle[c->idle_state].leak_permille / 1000;
}

void package_power_changed(void)
{
	uint64_t uw = chip->base_uw;
	uint32_t mask = 0;

	for (unsigned int i = 0; i < core_count; i++) {
		uw += core_static_uw(&cores[i]);
		mask |= cores[i].running ? cores[i].bit : 0;
	}
	static_uw = uw;
	for (unsigned int i = 0; i < core_count; i++)
		__atomic_store_n(&cores[i].static_fj, (uw * cores[i].cycle_fixns) >> FIXNS_SHIFT,
				 __ATOMIC_RELAXED);
	__atomic_store_n(&package_running_mask, mask, __ATOMIC_RELAXED);
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

/* Who has run until now: states change only after an advance, tasks may lag by a quantum. */
static struct vector *present_vector(void)
{
	uint64_t task[VCHIP_MAX_CPUS];

	for (unsigned int i = 0; i < core_count; i++)
		task[i] = cores[i].running ? page_read(cores[i].regs->task) : VECTOR_IDLE;
	if (current && !memcmp(current->task, task, core_count * sizeof(*task)))
		return current;
	current = find_vector(task);
	return current;
}

static void book_static(uint64_t ns, uint64_t pj)
{
	unsigned int count = __builtin_popcount(package_running());

	books.static_pj += pj;
	if (!count) {
		books.idle_ns += ns;
		books.idle_static_pj += pj;
	} else if (count == 1) {
		unsigned int i = __builtin_ctz(package_running());

		books.alone_ns[i] += ns;
		books.alone_static_pj[i] += pj;
	} else {
		books.shared_ns += ns;
		books.shared_static_pj += pj;
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

static void edge(uint64_t now, uint64_t pkg_pj, uint64_t core_pj)
{
	struct vchip_pkg *regs = page.pkg;

	if (now > edge_ns)
		page_write(regs->power_uw, (uint64_t)((double)(pkg_pj - edge_energy_pj) * 1000 /
						      (double)(now - edge_ns)));
	edge_energy_pj = pkg_pj;
	edge_ns = now;
	page_write(regs->energy_pkg_raw, raw(pkg_pj, chip->raw_init_pkg));
	page_write(regs->energy_core_raw, raw(core_pj, chip->raw_init_core));
	page_write(regs->update_chip_ns, now);
	__atomic_store_n(&regs->updates, regs->updates + 1, __ATOMIC_RELEASE);
	draw_edge(next_edge_ns);
	if (next_edge_ns <= now)
		draw_edge(now);
}

void package_advance(uint64_t now)
{
	uint64_t ns, fj, pj, dynamic, before = books.static_pj + last_dynamic_pj;
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
	books.dynamic_pj = dynamic;

	page_write(page.pkg->energy_core_pj, dynamic);
	page_write(page.pkg->energy_pkg_pj, books.static_pj + dynamic);
	page_write(page.pkg->chip_ns, now);
	turbo_advance(now, ns, 1e6 * watt, package_running(), temp_mc);
	meter_advance(now - ns, before, now, books.static_pj + dynamic);
	if (now >= next_edge_ns)
		edge(now, books.static_pj + dynamic, dynamic);
}

uint64_t package_stalled_alone(const struct core *c, uint64_t now, uint64_t ns, uint64_t *static_fj)
{
	int64_t alone_ns, missing_fj;
	uint64_t part;

	package_lock();
	package_advance(now);
	alone_ns = (int64_t)(books.alone_ns[c->index] - (c->alone >> FIXNS_SHIFT));
	missing_fj = (int64_t)(1000 * books.alone_static_pj[c->index] - c->alone_static_fj);
	package_unlock();
	*static_fj = 0;
	if (alone_ns <= 0)
		return 0;
	part = (uint64_t)alone_ns < ns ? (uint64_t)alone_ns : ns;
	if (missing_fj > 0)
		*static_fj = (uint64_t)((double)missing_fj * (double)part / (double)alone_ns);
	return part;
}

/* The lock is held. Return: when something is due next. */
static uint64_t serve(uint64_t now)
{
	uint64_t next;

	package_advance(now);
	next = next_edge_ns < meter_end() ? next_edge_ns : meter_end();
	for (unsigned int i = 0; i < core_count; i++) {
		if (cores[i].running)
			continue;
		grants_poll_halted(&cores[i], now);
		if (cores[i].pending && cores[i].due_ns < next)
			next = cores[i].due_ns;
	}
	return next;
}

void package_poll(uint64_t now)
{
	if (!package_trylock())
		return;
	serve(now);
	package_unlock();
}

void package_start(void)
{
	static uint32_t idt_seq;
	uint32_t seq = __atomic_load_n(&page.idt->seq, __ATOMIC_ACQUIRE);

	package_lock();
	if (seq != idt_seq) {
		idt_seq = seq;
		block_set_vectors(page.idt);
	}
	if (!powered) {
		last_ns = clock_now();
		edge_ns = last_ns;
		thermal_init();
		draw_edge(last_ns);
		package_power_changed();
		powered = true;
	}
	package_unlock();
}

static void *host_thread(void *unused)
{
	struct sched_param param = { .sched_priority = 15 };

	(void)unused;
	/* Without the permission edges come late when both CPUs are busy, nothing worse. */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	while (__atomic_load_n(&thread_runs, __ATOMIC_RELAXED)) {
		uint64_t now = clock_now();
		uint64_t next = now + 1000000;
		struct timespec until;

		if (__atomic_load_n(&powered, __ATOMIC_RELAXED)) {
			if (package_trylock()) {
				uint64_t due = serve(now);

				package_unlock();
				next = due < next ? due : next;
			} else {
				next = now + 20000;
			}
		}
		until.tv_sec = (time_t)(next / 1000000000ULL);
		until.tv_nsec = (long)(next % 1000000000ULL);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	return NULL;
}

int package_thread_start(void)
{
	int err;

	thread_runs = true;
	err = pthread_create(&thread, NULL, host_thread, NULL);
	if (err)
		thread_runs = false;
	return -err;
}

void package_thread_stop(void)
{
	if (!thread_runs)
		return;
	__atomic_store_n(&thread_runs, false, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

void package_books(struct package_books *copy)
{
	*copy = books;
}

struct vector *package_vectors(void)
{
	struct vector *all = NULL;

	for (unsigned int i = 0; i < BUCKETS; i++) {
		for (const struct vector *v = vectors[i]; v; v = v->next) {
			struct vector *copy = malloc(sizeof(*copy));

			if (!copy)
				return all;
			*copy = *v;
			copy->next = all;
			all = copy;
		}
	}
	return all;
}
