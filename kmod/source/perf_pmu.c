// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources that are a counter of a perf PMU, such as the kernel's "power". User space gives the
 * PMU's type and the counter; perf knows which CPUs share one, and moves a counter of a package to
 * the CPU that reads it. The tick reads on that CPU only, where perf cannot modify the counter
 * meanwhile.
 *
 * A counter stops for good when its CPU goes offline, or the PMU moves it to another CPU, or it
 * gets no hardware counter and stays in error. A CPU that comes online needs a new one. A work item
 * does that after hotplug and failed readings, because creating and releasing a counter may wait
 * for hotplug to end.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "compat/perf.h"
#include "source/spec.h"

/**
 * struct slot - a counter, shared by the CPUs whose @of_cpu points here
 * @event:	the counter, NULL while there is none
 * @owner:	the CPU that has to read it
 * @merged_into:	the slot that these CPUs will share instead, or NULL
 * @base:	counts of the counters before this one
 */
struct slot {
	struct perf_event *event;
	int owner;
	struct slot *merged_into;
	u64 base;
};

/**
 * struct pmu_source - a source that is a counter of a perf PMU
 * @src:	the source
 * @spec:	as requested
 * @cpus:	of the session, online or not
 * @lock:	protects @slot and @of_cpu
 * @repair:	replaces dead counters, and creates those of new CPUs
 * @of_cpu:	slot of each CPU of the session; NULL without a counter, or not yet online
 * @n:		number of @slot
 * @slot:	one for each counter, at most one for each CPU of the session
 */
struct pmu_source {
	struct kjoule_source src;
	struct kjoule_spec spec;
	cpumask_var_t cpus;
	struct mutex lock;	/* see above */
	struct work_struct repair;
	struct slot **of_cpu;
	unsigned int n;
	struct slot slot[];
};

static struct pmu_source *pmu_source_of(struct kjoule_source *src)
{
	return container_of(src, struct pmu_source, src);
}

static struct slot *pmu_slot_of(struct pmu_source *p, unsigned int cpu)
{
	return smp_load_acquire(&p->of_cpu[cpu]);	/* Q, pairs with R in slot_share() */
}

/* The slot whose counter counts for a CPU; sessions see it before ticks read it. */
static struct slot *pmu_counting_slot(struct pmu_source *p, unsigned int cpu)
{
	struct slot *slot = pmu_slot_of(p, cpu);
	struct slot *other = slot ? READ_ONCE(slot->merged_into) : NULL;

	return other ?: slot;
}

static int pmu_read(struct kjoule_source *src, unsigned int domain, u64 *raw)
{
	struct slot *slot = pmu_slot_of(pmu_source_of(src), smp_processor_id());
	struct perf_event *event;

	if (!slot)
		return -ENXIO;
	event = smp_load_acquire(&slot->event);		/* O, pairs with P in slot_repair() */
	/* dead, in error, or moved */
	if (!event || READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE ||
	    READ_ONCE(event->oncpu) != smp_processor_id())
		return -ENODEV;
	event->pmu->read(event);
	*raw = slot->base + local64_read(&event->count);
	return 0;
}

static int pmu_package(struct kjoule_source *src, unsigned int cpu)
{
	struct pmu_source *p = pmu_source_of(src);
	struct slot *slot = pmu_counting_slot(p, cpu);

	return slot ? slot - p->slot : KJOULE_PACKAGE_NONE;
}

static int pmu_owner(struct kjoule_source *src, unsigned int cpu)
{
	struct slot *slot = pmu_counting_slot(pmu_source_of(src), cpu);

	return slot ? READ_ONCE(slot->owner) : -1;
}

/*
 * During hotplug a PMU may not know which CPU reads for a CPU (RAPL's may ask perf for CPU -1), and
 * a counter that perf moves is on neither: lock hotplug to check and create counters. The kernel's
 * own kinds of counters do not move, and creating one may wait for hotplug itself.
 */
static bool pmu_may_move(const struct pmu_source *p)
{
	return p->spec.perf_type >= PERF_TYPE_MAX;
}

static void pmu_lock_cpus(const struct pmu_source *p)
{
	if (pmu_may_move(p))
		cpus_read_lock();
}

static void pmu_unlock_cpus(const struct pmu_source *p)
{
	if (pmu_may_move(p))
		cpus_read_unlock();
}

static struct perf_event *pmu_create_event(const struct kjoule_spec *spec, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = spec->perf_type,
		.size = sizeof(attr),
		.config = spec->perf_config,
		.pinned = 1,	/* always or not at all: no scaling */
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

static void slot_share(struct pmu_source *p, struct slot *slot, unsigned int cpu)
{
	smp_store_release(&p->of_cpu[cpu], slot);	/* R, pairs with Q in pmu_slot_of() */
}

static bool event_is_alive(const struct pmu_source *p, const struct perf_event *event)
{
	int cpu = READ_ONCE(event->cpu);

	return READ_ONCE(event->state) >= PERF_EVENT_STATE_INACTIVE && cpu_online(cpu) &&
	       cpumask_test_cpu(cpu, p->cpus);
}

/* Disabled while perf moves it, in error without a hardware counter: it exists all the same. */
static bool event_exists(const struct perf_event *event)
{
	return READ_ONCE(event->state) > PERF_EVENT_STATE_EXIT &&
	       cpu_online(READ_ONCE(event->cpu));
}

/* The slot, except @but, that counts the same as @event, created for @cpu. */
static struct slot *slot_find_same(struct pmu_source *p, const struct perf_event *event,
				   unsigned int cpu, const struct slot *but)
{
	unsigned int i;
	int reader;

	for (i = 0; i < p->n; i++) {
		struct slot *slot = &p->slot[i];

		if (slot == but || !slot->event || !event_exists(slot->event))
			continue;
		reader = READ_ONCE(slot->event->cpu);
		if (reader == event->cpu || kjoule_pmu_shares(event, cpu, reader))
			return slot;
	}
	return NULL;
}

/* Create a counter for a CPU; find its reader, and the slot except @but that has it already. */
static struct perf_event *pmu_request_event(struct pmu_source *p, unsigned int cpu,
					    const struct slot *but, int *reader, struct slot **same)
{
	struct perf_event *event = ERR_PTR(-ENODEV);

	pmu_lock_cpus(p);
	if (cpu_online(cpu))
		event = pmu_create_event(&p->spec, cpu);
	*same = NULL;
	if (!IS_ERR(event)) {
		*reader = event->cpu;
		*same = slot_find_same(p, event, cpu, but);
	}
	pmu_unlock_cpus(p);
	return event;
}

static int pmu_add_cpu(struct pmu_source *p, unsigned int cpu, char *words)
{
	struct perf_event *event;
	struct slot *slot;
	int reader;

	lockdep_assert_held(&p->lock);
	event = pmu_request_event(p, cpu, NULL, &reader, &slot);
	if (IS_ERR(event)) {
		snprintf(words, KJOULE_WORDS_LEN,
			 "%s: perf type %u has no counter 0x%llx on CPU %u (error %ld)",
			 p->src.name, p->spec.perf_type, p->spec.perf_config, cpu, -PTR_ERR(event));
		return PTR_ERR(event);
	}
	if (slot) {
		perf_event_release_kernel(event);
		slot_share(p, slot, cpu);
		return 0;
	}
	if (!cpumask_test_cpu(reader, p->cpus)) {
		snprintf(words, KJOULE_WORDS_LEN,
			 "%s: read on CPU %d, which is not of the session; add it", p->src.name,
			 reader);
		perf_event_release_kernel(event);
		return -ENXIO;
	}
	slot = &p->slot[p->n];
	slot->owner = reader;
	slot->event = event;
	p->n++;
	slot_share(p, slot, cpu);
	return 0;
}

/*
 * While all CPUs of a package were offline, the first new one could not know its package: merge
 * slots that count the same. Sessions see it by pmu_package(); only then may these CPUs read the
 * new meter, or the old one would add its count again.
 */
static void pmu_merge_slots(struct pmu_source *p)
{
	unsigned int i, cpu;

	lockdep_assert_held(&p->lock);
	for (i = 0; i < p->n; i++) {
		struct slot *slot = &p->slot[i];

		if (!slot->merged_into)
			continue;
		for_each_cpu(cpu, p->cpus) {
			if (pmu_slot_of(p, cpu) == slot)
				slot_share(p, slot->merged_into, cpu);
		}
		slot->merged_into = NULL;
	}
}

/* Does an earlier slot count the same? Slots created together could not know. */
static bool slot_is_duplicate(struct pmu_source *p, const struct slot *slot)
{
	const struct slot *other = slot_find_same(p, slot->event, slot->event->cpu, slot);

	return other && other < slot;
}

/* Does the slot have a live counter of its own? Then update its owner. */
static bool slot_is_good(struct pmu_source *p, struct slot *slot)
{
	bool good;

	pmu_lock_cpus(p);
	good = slot->event && event_is_alive(p, slot->event) && !slot_is_duplicate(p, slot);
	if (good)
		WRITE_ONCE(slot->owner, slot->event->cpu);
	pmu_unlock_cpus(p);
	return good;
}

static void slot_repair(struct pmu_source *p, struct slot *slot)
{
	struct perf_event *event, *dead = slot->event;
	struct slot *other;
	unsigned int cpu;
	int reader;

	lockdep_assert_held(&p->lock);
	if (slot_is_good(p, slot))
		return;
	WRITE_ONCE(slot->event, NULL);
	if (dead) {
		/* no tick uses it any more */
		synchronize_rcu();
		/* perf updated the count when it removed the counter from its CPU */
		slot->base += local64_read(&dead->count);
		perf_event_release_kernel(dead);
	}
	for_each_cpu_and(cpu, p->cpus, cpu_online_mask) {
		if (pmu_slot_of(p, cpu) != slot)
			continue;
		WRITE_ONCE(slot->owner, cpu);
		event = pmu_request_event(p, cpu, slot, &reader, &other);
		if (IS_ERR(event))
			continue;
		if (!cpumask_test_cpu(reader, p->cpus)) {
			perf_event_release_kernel(event);
			continue;
		}
		if (other) {
			perf_event_release_kernel(event);
			WRITE_ONCE(slot->merged_into, other);
			return;
		}
		WRITE_ONCE(slot->owner, reader);
		/* P, pairs with O in pmu_read(): after @base */
		smp_store_release(&slot->event, event);
		return;
	}
}

/* Some PMUs count only on CPUs of one type, or on one CPU. */
static bool pmu_error_is_absent(int err)
{
	return err == -ENOENT || err == -ENODEV || err == -EINVAL || err == -EOPNOTSUPP;
}

/*
 * A CPU came online. If its counter cannot be created its slot stays empty: readers count the
 * errors, post source-lost, and queue a repair.
 */
static void pmu_add_late_cpu(struct pmu_source *p, unsigned int cpu)
{
	char words[KJOULE_WORDS_LEN];	/* not shown */
	int err = pmu_add_cpu(p, cpu, words);
	struct slot *slot;

	if (!err || pmu_error_is_absent(err))
		return;
	slot = &p->slot[p->n++];
	slot->owner = cpu;
	slot_share(p, slot, cpu);
}

static void pmu_repair_work(struct work_struct *work)
{
	struct pmu_source *p = container_of(work, struct pmu_source, repair);
	unsigned int i, cpu;

	/* wait for the hotplug that queued this; the next one queues it again */
	cpus_read_lock();
	cpus_read_unlock();
	mutex_lock(&p->lock);
	for (i = 0; i < p->n; i++)
		slot_repair(p, &p->slot[i]);
	for_each_cpu_and(cpu, p->cpus, cpu_online_mask) {
		if (!pmu_slot_of(p, cpu))
			pmu_add_late_cpu(p, cpu);
	}
	mutex_unlock(&p->lock);
	kjoule_source_owner_changed();
	mutex_lock(&p->lock);
	pmu_merge_slots(p);
	mutex_unlock(&p->lock);
}

static void pmu_cpu_changes(struct kjoule_source *src, unsigned int cpu)
{
	queue_work(system_dfl_wq, &pmu_source_of(src)->repair);
}

/* A counter in error stays so: a new one may get a hardware counter. */
static void pmu_fails(struct kjoule_source *src)
{
	queue_work(system_dfl_wq, &pmu_source_of(src)->repair);
}

static u64 slot_value(struct pmu_source *p, struct slot *slot)
{
	u64 enabled, running, value = 0;

	mutex_lock(&p->lock);
	if (slot->event)
		value = perf_event_read_value(slot->event, &enabled, &running);
	mutex_unlock(&p->lock);
	return value;
}

static int pmu_probe(struct kjoule_source *src, char *why, size_t len)
{
	unsigned long end = jiffies + msecs_to_jiffies(KJOULE_UPDATE_TIMEOUT_MS);
	struct pmu_source *p = pmu_source_of(src);
	unsigned int i;

	if (p->spec.quantity != KJOULE_QUANTITY_ENERGY)
		return 0;
	for (i = 0; i < p->n; i++) {
		/* counts from 0 */
		while (!slot_value(p, &p->slot[i])) {
			if (time_after(jiffies, end) || fatal_signal_pending(current)) {
				snprintf(why, len, "the PMU's counter is stuck on CPU %d",
					 p->slot[i].owner);
				return -ENODEV;
			}
			usleep_range(2000, 2500);
		}
	}
	return 0;
}

static void pmu_release(struct kjoule_source *src)
{
	struct pmu_source *p = pmu_source_of(src);
	unsigned int i;

	cancel_work_sync(&p->repair);
	for (i = 0; i < p->n; i++) {
		if (p->slot[i].event)
			perf_event_release_kernel(p->slot[i].event);
	}
	mutex_destroy(&p->lock);
	kfree(p->of_cpu);
	free_cpumask_var(p->cpus);
	kfree(p);
}

static const struct kjoule_source_ops pmu_ops = {
	.read_energy = pmu_read,
	.package = pmu_package,
	.owner = pmu_owner,
	.online = pmu_cpu_changes,
	.offline = pmu_cpu_changes,
	.read_failing = pmu_fails,
	.probe = pmu_probe,
	.release = pmu_release,
};

/*
 * May the PMU be read with the run queue locked, when a CPU goes idle or comes back? perf does so
 * with PMUs of task events; these only read a register. Some others wake tasks or take locks.
 */
static bool pmu_reads_register(const struct pmu *pmu)
{
	static const char * const known[] = {
		"power", "power_core", "cstate_core", "cstate_module", "cstate_pkg",
	};

	return pmu->task_ctx_nr != perf_invalid_context ||
	       match_string(known, ARRAY_SIZE(known), pmu->name) >= 0;
}

static int pmu_add_cpus(struct pmu_source *p, char *words)
{
	unsigned int cpu;
	int err = -ENODEV;

	mutex_lock(&p->lock);
	for_each_cpu_and(cpu, p->cpus, cpu_online_mask) {
		err = pmu_add_cpu(p, cpu, words);
		if (err && !pmu_error_is_absent(err))
			break;
	}
	mutex_unlock(&p->lock);
	if (err && (!p->n || !pmu_error_is_absent(err)))
		return err;
	words[0] = '\0';
	return 0;
}

/*
 * kjoule_perf_pmu_create() - create a source of a counter of a perf PMU. @cpus: of the session,
 * online or not. perf checks the rights of current, and cannot when a work item recreates a
 * counter. So they are checked here, with an error text. Return: the source or an ERR_PTR: -EPERM,
 * -EINVAL for neither energy nor events, -ENXIO if it is read on a CPU outside the session,
 * -ENOMEM, or the PMU's error if it counts on no online CPU.
 */
struct kjoule_source *kjoule_perf_pmu_create(const struct kjoule_spec *spec,
					     const struct cpumask *cpus, char *words)
{
	struct pmu_source *p;
	int err;

	if (!perfmon_capable()) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: CAP_PERFMON is needed", spec->name);
		return ERR_PTR(-EPERM);
	}
	if (spec->quantity != KJOULE_QUANTITY_ENERGY && spec->quantity != KJOULE_QUANTITY_COUNT) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: a PMU counts energy or events", spec->name);
		return ERR_PTR(-EINVAL);
	}
	p = kzalloc(struct_size(p, slot, cpumask_weight(cpus)), GFP_KERNEL_ACCOUNT);
	if (!p)
		return ERR_PTR(-ENOMEM);
	if (!alloc_cpumask_var(&p->cpus, GFP_KERNEL_ACCOUNT)) {
		kfree(p);
		return ERR_PTR(-ENOMEM);
	}
	p->of_cpu = kcalloc(nr_cpu_ids, sizeof(*p->of_cpu), GFP_KERNEL_ACCOUNT);
	if (!p->of_cpu) {
		free_cpumask_var(p->cpus);
		kfree(p);
		return ERR_PTR(-ENOMEM);
	}
	cpumask_copy(p->cpus, cpus);
	p->spec = *spec;
	kjoule_spec_describe(&p->spec, &p->src);
	p->src.ops = &pmu_ops;
	mutex_init(&p->lock);
	INIT_WORK(&p->repair, pmu_repair_work);
	err = pmu_add_cpus(p, words);
	if (err) {
		pmu_release(&p->src);
		return ERR_PTR(err);
	}
	p->src.ticks_only = !pmu_reads_register(p->slot[0].event->pmu);
	return &p->src;
}
