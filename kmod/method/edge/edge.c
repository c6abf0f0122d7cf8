// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edge windows of a session; see edge.h. Assigns CPUs to packages, chooses the leaders, starts and
 * stops the windows for netlink.c. The windows are in window.c.
 */
#include <asm/irq_work.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stringify.h>
#include <linux/timekeeping.h>

#include "method/edge/window.h"
#include "sampler/sampler.h"
#include "session/pause.h"

static unsigned int edge_choose_domain(const struct kjoule_source *src, u32 stuck)
{
	unsigned int i, first = src->n_domains;

	for (i = 0; i < src->n_domains; i++) {
		const struct kjoule_domain *d = &src->domains[i];

		if (stuck & BIT(i) || d->quantity != KJOULE_QUANTITY_ENERGY || !d->update_period_ns)
			continue;
		if (d->class == KJOULE_DOMAIN_PACKAGE)
			return i;
		first = min(first, i);
	}
	return first;
}

static bool edge_session_has_cpu(struct kjoule_sampler **sampler, unsigned int n, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (sampler[i]->cpu == cpu)
			return true;
	}
	return false;
}

/* A CPU that runs would spend energy that is attributed to the paused ones. */
static bool edge_covers_all_cpus(struct kjoule_source *src, struct kjoule_sampler **sampler,
				 unsigned int n)
{
	unsigned int cpu, i;

	for_each_online_cpu(cpu) {
		if (edge_session_has_cpu(sampler, n, cpu))
			continue;
		for (i = 0; i < n; i++) {
			if (kjoule_source_package(src, cpu) ==
			    kjoule_source_package(src, sampler[i]->cpu))
				return false;
		}
	}
	return true;
}

/**
 * kjoule_edges_new() - create the edge windows of a session
 * @edges:	result
 * @src:	the session's first source, or NULL; kept
 * @stuck:	its domains that are not updating
 * @duty:	share of the time in which the CPUs may be paused, in thousandths
 * @sampler:	the session's samplers; kept, with the array
 * @n:		their number
 * @why:	set to the reason of an error
 * Context: process, sleeps; the CPU hotplug lock is held.
 * Return: 0, -ERANGE (@duty), -EOPNOTSUPP (no counter that ticks read with a known update period of
 * at most 20 ms; no high-resolution timers), -EINVAL (a CPU of a package is not in the session, or
 * another method of it pauses CPUs), -EBUSY (another session does), -ENOMEM
 */
int kjoule_edges_new(struct kjoule_edges **edges, struct kjoule_source *src, u32 stuck, u32 duty,
		     struct kjoule_sampler **sampler, unsigned int n, const char **why)
{
	struct kjoule_edges *es;
	unsigned int domain, i;
	int err;

	if (duty < KJOULE_EDGE_DUTY_MIN || duty > KJOULE_EDGE_DUTY_MAX) {
		*why = "edge windows may pause the CPUs for " __stringify(KJOULE_EDGE_DUTY_MIN)
		       " to " __stringify(KJOULE_EDGE_DUTY_MAX) " thousandths of the time";
		return -ERANGE;
	}
	if (!src || src->kind != KJOULE_KIND_ENERGY || kjoule_source_is_slow(src)) {
		*why = "edge windows need an energy counter that ticks read, as the first source";
		return -EOPNOTSUPP;
	}
	domain = edge_choose_domain(src, stuck);
	if (domain == src->n_domains ||
	    src->domains[domain].update_period_ns > KJOULE_EDGE_PERIOD_MAX_NS) {
		*why = "edge windows need an energy counter that is updated at least every 20 ms";
		return -EOPNOTSUPP;
	}
	if (hrtimer_resolution != 1 || !arch_irq_work_has_interrupt()) {
		*why = "edge windows need high-resolution timers, and interrupts to oneself";
		return -EOPNOTSUPP;
	}
	if (!edge_covers_all_cpus(src, sampler, n)) {
		*why = "edge windows pause all CPUs of a package: add all of them to the session";
		return -EINVAL;
	}
	err = kjoule_pause_claim(sampler, why);
	if (err)
		return err;
	es = kzalloc(struct_size(es, cpu, n), GFP_KERNEL_ACCOUNT);
	if (es)
		es->edge = kcalloc(n, sizeof(*es->edge), GFP_KERNEL_ACCOUNT);
	if (!es || !es->edge) {
		kfree(es);
		kjoule_pause_release();
		return -ENOMEM;
	}
	es->src = src;
	es->domain = domain;
	es->duty = duty;
	es->seed = get_random_u64();
	es->n = n;
	es->sampler = sampler;
	for (i = 0; i < n; i++) {
		es->edge[i].edges = es;
		es->edge[i].period_ns = src->domains[domain].update_period_ns;
		es->edge[i].margin_ns = es->edge[i].period_ns / 16;
		es->cpu[i].sampler = sampler[i];
	}
	*edges = es;
	return 0;
}

/** kjoule_edges_free() - undo kjoule_edges_new() */
void kjoule_edges_free(struct kjoule_edges *edges)
{
	kfree(edges->edge);
	kfree(edges);
	kjoule_pause_release();
}

static unsigned int edge_scope_of(const struct kjoule_sampler *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (!s->meter[i]->index)
			return s->meter[i]->scope;
	}
	return s->cpu;
}

static bool edge_takes_part(const struct kjoule_sampler *s)
{
	return s->running && !s->suspended;
}

static struct kjoule_edge *edge_find(struct kjoule_edges *edges, const struct kjoule_sampler *s)
{
	int package = kjoule_source_package(edges->src, s->cpu);
	unsigned int i;

	for (i = 0; i < edges->n && edges->edge[i].n; i++) {
		if (edges->edge[i].package == package)
			break;
	}
	if (i == edges->n)
		return NULL;
	if (!edges->edge[i].n) {
		edges->edge[i].package = package;
		edges->edge[i].scope = edge_scope_of(s);
	}
	return &edges->edge[i];
}

static void edge_gather_cpus(struct kjoule_edges *edges)
{
	const struct kjoule_source_ops *ops = edges->src->ops;
	unsigned int i;

	for (i = 0; i < edges->n; i++) {
		edges->edge[i].n = 0;
		edges->edge[i].failures = 0;
	}
	for (i = 0; i < edges->n; i++) {
		struct edge_cpu *c = &edges->cpu[i];
		unsigned int cpu = c->sampler->cpu;
		struct kjoule_edge *e;
		int owner;

		c->edge = edge_takes_part(c->sampler) ? edge_find(edges, c->sampler) : NULL;
		e = c->edge;
		if (!e)
			continue;
		owner = ops->owner ? ops->owner(edges->src, cpu) : -1;
		if (!e->n++ || owner == cpu)
			e->leader = c;
		/* the only CPU that can read the counter is absent */
		e->stopping = owner >= 0 && e->leader->sampler->cpu != owner;
	}
}

static void edge_start_on_cpu(void *data)
{
	kjoule_edge_begin(data);
}

/*
 * kjoule_edges_run() - start the windows, or continue with the current CPUs. There are no windows
 * while a CPU that shares the counter is online outside the session, or during CPU hotplug: it
 * would spend energy without being paused. This is called again after hotplug. Context: process,
 * sleeps; without CPU hotplug.
 */
void kjoule_edges_run(struct kjoule_edges *edges)
{
	bool blocked = false;
	unsigned int i;
	u64 now;

	if (edges->running || !kjoule_pause_is_allowed())
		return;
	if (!edge_covers_all_cpus(edges->src, edges->sampler, edges->n)) {
		WRITE_ONCE(edges->blocked, edges->blocked + 1);
		return;
	}
	edges->running = true;
	edge_gather_cpus(edges);
	now = ktime_get_ns();
	for (i = 0; i < edges->n; i++) {
		struct kjoule_edge *e = &edges->edge[i];

		e->pause_at_ns[(e->released + 1) & 1] =
			now + KJOULE_EDGE_LEAD_PERIODS * e->period_ns;
		blocked |= e->n && e->stopping;
	}
	WRITE_ONCE(edges->blocked, edges->blocked + blocked);
	for (i = 0; i < edges->n; i++) {
		struct edge_cpu *c = &edges->cpu[i];

		/* a CPU that went offline is missed by its leader, or leads an empty set */
		if (!c->edge || !smp_call_function_single(c->sampler->cpu, edge_start_on_cpu, c, 1))
			continue;
		if (c == c->edge->leader)
			WRITE_ONCE(c->edge->stopping, true);
		WRITE_ONCE(c->edge, NULL);
	}
}

/*
 * kjoule_edges_halt() - stop the windows. Paused CPUs are released. The current window is not
 * written. Context: process, sleeps; without CPU hotplug.
 */
void kjoule_edges_halt(struct kjoule_edges *edges)
{
	unsigned int i;

	if (!edges->running)
		return;
	for (i = 0; i < edges->n; i++)
		WRITE_ONCE(edges->edge[i].stopping, true);
	for (i = 0; i < edges->n; i++) {
		struct edge_cpu *c = &edges->cpu[i];

		if (!c->edge)
			continue;
		hrtimer_cancel(&c->timer);
		irq_work_sync(&c->work);
		/* the work may have restarted it before it saw @stopping */
		hrtimer_cancel(&c->timer);
		c->edge = NULL;
	}
	edges->running = false;
}

/**
 * kjoule_edges_get_stats() - statistics of the windows
 * @edges:	running or not
 * @stats:	result; its numbers may be a window apart
 */
void kjoule_edges_get_stats(struct kjoule_edges *edges, struct kjoule_edge_stats *stats)
{
	unsigned int i;

	memset(stats, 0, sizeof(*stats));
	stats->blocked = READ_ONCE(edges->blocked);
	for (i = 0; i < edges->n; i++) {
		const struct kjoule_edge_stats *b = &edges->edge[i].stats;

		stats->windows += READ_ONCE(b->windows);
		stats->spins += READ_ONCE(b->spins);
		stats->failed += READ_ONCE(b->failed);
	}
	for (i = 0; i < edges->n; i++) {
		const struct edge_cpu *c = &edges->cpu[i];

		stats->paused_ns = max(stats->paused_ns, READ_ONCE(c->paused_ns));
		stats->paused_max_ns = max(stats->paused_max_ns, READ_ONCE(c->paused_max_ns));
	}
}

/** kjoule_edges_duty() - share of the time in which CPUs may be paused, in thousandths */
u32 kjoule_edges_duty(const struct kjoule_edges *edges)
{
	return edges->duty;
}
