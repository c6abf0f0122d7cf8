// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sources of a session: chosen when it is created, numbered for its records, the meters of its
 * samplers and the pollers of slow ones. Called by session.c.
 */
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "session/session.h"

static int session_get_source(enum kjoule_source_kind kind, const char *name,
			      struct kjoule_source **src, u32 *stuck, const char **why)
{
	if (name && !*name)
		return 0;
	*src = kjoule_source_get(kind, name, stuck);
	if (!IS_ERR(*src) || *src == ERR_PTR(-EINTR))
		return PTR_ERR_OR_ZERO(*src);
	if (!name) {
		*src = NULL;
		return 0;
	}
	*why = PTR_ERR(*src) == -ENOENT ? "there is no source of that name and kind" :
					  "the source does not work here; source-get says why";
	return PTR_ERR_OR_ZERO(*src);
}

/* Domains that were not updating when chosen stay absent from this session. */
static void session_add_source(struct kjoule_session *s, struct kjoule_source *src, u32 stuck)
{
	s->stuck[s->n_sources] = stuck;
	s->source[s->n_sources++] = src;
}

static int session_add_specs(struct kjoule_session *s, const struct kjoule_session_config *c,
			     const struct cpumask *cpus, const char **why)
{
	unsigned int i;
	u32 stuck;

	if (s->n_sources + c->n_specs > KJOULE_METERS_MAX) {
		*why = "a session uses at most 8 sources";
		return -EINVAL;
	}
	for (i = 0; i < c->n_specs; i++) {
		struct kjoule_source *src = kjoule_spec_get_source(&c->specs[i], cpus, c->words,
								   &stuck);

		if (IS_ERR(src)) {
			if (c->words[0])
				*why = c->words;
			return PTR_ERR(src);
		}
		session_add_source(s, src, stuck);
	}
	return 0;
}

/*
 * kjoule_session_choose_sources() - choose and pin the sources of a session. @s: the session,
 * without sources. Return: 0, -ENOENT, -ENODEV, -EINTR or an error of kjoule_spec_get_source();
 * sources are released by kjoule_session_drop_sources() in any case.
 */
int kjoule_session_choose_sources(struct kjoule_session *s, const struct kjoule_session_config *c,
				  const struct cpumask *cpus, const char **why)
{
	struct kjoule_source *src = NULL;
	u32 stuck = 0;
	int err;

	/* no default if sources are named */
	if (c->energy || !c->n_specs) {
		err = session_get_source(KJOULE_KIND_ENERGY, c->energy, &src, &stuck, why);
		if (err)
			return err;
	}
	if (src) {
		session_add_source(s, src, stuck);
		err = kjoule_spec_check_updates(src, c->words);
		if (err) {
			*why = c->words;
			return err;
		}
	}
	err = session_add_specs(s, c, cpus, why);
	if (err)
		return err;
	src = NULL;
	err = session_get_source(KJOULE_KIND_FREQUENCY, c->frequency, &src, &stuck, why);
	if (!err)
		s->plan.frequency = src;
	return err;
}

static struct kjoule_meter *session_find_meter(struct kjoule_session *s, u32 index,
					       unsigned int cpu)
{
	struct kjoule_source *src = s->source[index];
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		struct kjoule_meter *m = s->meter[i];
		int package = src->origin == KJOULE_ORIGIN_PERF_PMU ? m->package :
			      kjoule_source_package(src, m->scope);

		if (m->index == index && package == kjoule_source_package(src, cpu))
			return m;
	}
	return NULL;
}

/* The sampler of the CPU that owns the meter's counter; NULL if absent, or all CPUs can read it. */
static struct kjoule_sampler *meter_find_keeper(const struct kjoule_session *s,
						const struct kjoule_meter *m)
{
	unsigned int i;

	for (i = 0; i < s->n && m->owner >= 0; i++) {
		if (s->sampler[i]->cpu == m->owner)
			return s->sampler[i];
	}
	return NULL;
}

static void meter_update_keeper(const struct kjoule_session *s, struct kjoule_meter *m)
{
	WRITE_ONCE(m->owner_sampler, meter_find_keeper(s, m));
}

static bool meter_is_reachable(const struct kjoule_meter *m)
{
	return m->owner < 0 || m->owner_sampler;
}

/* A PMU's counter can be created only while its CPU is online, and not on every CPU. */
static bool session_has_counter(const struct kjoule_session *s, u32 index, unsigned int cpu)
{
	struct kjoule_source *src = s->source[index];

	return src->origin != KJOULE_ORIGIN_PERF_PMU ||
	       kjoule_source_package(src, cpu) != KJOULE_PACKAGE_NONE;
}

static bool meter_is_read_in_time(const struct kjoule_session *s, const struct kjoule_meter *m)
{
	return s->plan.interval_ns + s->plan.jitter_ns <= m->wrap_ns / 2;
}

static int session_share_meter(struct kjoule_session *s, u32 index, struct kjoule_sampler *sampler,
			       char *words)
{
	struct kjoule_meter *m = session_find_meter(s, index, sampler->cpu);

	if (!m) {
		m = kjoule_meter_new(s->source[index], index, s->stuck[index], sampler->cpu);
		if (!m)
			return -ENOMEM;
		meter_update_keeper(s, m);
		s->meter[s->n_meters++] = m;
		if (!meter_is_reachable(m)) {
			snprintf(words, KJOULE_WORDS_LEN,
				 "%s: read on CPU %d, which is not of the session; add it",
				 m->src->name, m->owner);
			return -ENXIO;
		}
		if (!meter_is_read_in_time(s, m)) {
			snprintf(words, KJOULE_WORDS_LEN,
				 "%s: may wrap between two ticks; take an interval and jitter of %llu us at most",
				 m->src->name, m->wrap_ns / 2 / NSEC_PER_USEC);
			return -ERANGE;
		}
	}
	m->cpus++;
	sampler->meter[sampler->n_meters++] = m;
	return 0;
}

/*
 * kjoule_session_make_meters() - create the meters of each sampler. @s: the session, with sources
 * and samplers. The scope of an offline CPU may not be known before it comes online: see
 * kjoule_session_assign_meters(). A PMU's counter can only be created then: see
 * kjoule_session_update_owners(). Return: 0, -ENXIO if the only CPU that can read a counter is not
 * in the session, -ERANGE if one may wrap between two ticks, -ENOMEM.
 */
int kjoule_session_make_meters(struct kjoule_session *s, const struct kjoule_session_config *c,
			       const char **why)
{
	unsigned int i, j;
	int err;

	if (!s->n_sources)
		return 0;
	s->meter = kcalloc(s->n_sources * s->n, sizeof(*s->meter), GFP_KERNEL_ACCOUNT);
	if (!s->meter)
		return -ENOMEM;
	for (i = 0; i < s->n_sources; i++) {
		for (j = 0; j < s->n && !kjoule_source_is_slow(s->source[i]); j++) {
			if (!session_has_counter(s, i, s->sampler[j]->cpu))
				continue;
			err = session_share_meter(s, i, s->sampler[j], c->words);
			if (err == -ENXIO || err == -ERANGE)
				*why = c->words;
			if (err)
				return err;
		}
	}
	return 0;
}

static struct kjoule_meter *session_add_meter(struct kjoule_session *s, u32 index, unsigned int cpu)
{
	struct kjoule_meter *m = NULL;

	if (s->n_meters < s->n_sources * s->n)
		m = kjoule_meter_new(s->source[index], index, s->stuck[index], cpu);
	if (!m)
		return NULL;
	meter_update_keeper(s, m);
	s->meter[s->n_meters] = m;
	smp_store_release(&s->n_meters, s->n_meters + 1);	/* pairs with use_get_sum() */
	if (!meter_is_reachable(m))
		kjoule_events_report_unreachable(s, m);
	return m;
}

static struct kjoule_meter *sampler_find_meter(const struct kjoule_sampler *sampler, u32 index)
{
	unsigned int i;

	for (i = 0; i < sampler->n_meters; i++) {
		if (sampler->meter[i]->index == index)
			return sampler->meter[i];
	}
	return NULL;
}

/* Is it the CPU's meter? A PMU may find late that CPUs share a counter. */
static bool meter_covers_cpu(const struct kjoule_meter *m, unsigned int cpu)
{
	return m->src->origin != KJOULE_ORIGIN_PERF_PMU ||
	       m->package == kjoule_source_package(m->src, cpu);
}

/*
 * Add missing meters to CPUs: of a PMU that has found a counter since, or after a failed
 * allocation. Failures are notified and retried next time.
 */
static bool session_add_missing_meters(struct kjoule_session *s, u32 index)
{
	bool added = false;
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		struct kjoule_sampler *sampler = s->sampler[i];
		struct kjoule_meter *m, *old = sampler_find_meter(sampler, index);

		if (!session_has_counter(s, index, sampler->cpu) ||
		    (old && meter_covers_cpu(old, sampler->cpu)))
			continue;
		m = session_find_meter(s, index, sampler->cpu) ?:
		    session_add_meter(s, index, sampler->cpu);
		if (!m) {
			kjoule_events_report_no_meter(s, index, sampler->cpu);
			continue;
		}
		if (old)
			old->cpus--;
		m->cpus++;
		kjoule_sampler_add_meter(sampler, m, old);
		added = true;
	}
	return added;
}

/*
 * kjoule_session_update_owners() - update the CPUs that read the sources. A meter that only a CPU
 * outside the session can read is not read by any tick, so that is notified here. It is read again
 * when it becomes reachable. Context: process, sleeps; the session is locked.
 */
void kjoule_session_update_owners(struct kjoule_session *s)
{
	bool updated = false;
	unsigned int i;

	lockdep_assert_held(&s->lock);
	for (i = 0; i < s->n_meters; i++) {
		struct kjoule_meter *m = s->meter[i];
		bool before = meter_is_reachable(m);

		if (!kjoule_meter_update_owner(m))
			continue;
		meter_update_keeper(s, m);
		updated = true;
		if (before && m->cpus && !meter_is_reachable(m))
			kjoule_events_report_unreachable(s, m);
	}
	for (i = 0; i < s->n_sources && s->state != KJOULE_SESSION_STOPPED; i++) {
		if (!kjoule_source_is_slow(s->source[i]))
			updated |= session_add_missing_meters(s, i);
	}
	/* the new reader may have stopped its tick, the old one need not tick any more */
	for (i = 0; i < s->n && updated && s->state == KJOULE_SESSION_RUNNING; i++)
		kjoule_sampler_owner_changed(s->sampler[i]);
}

/*
 * Does another CPU of @package read it? Any of them: the CPU that it is named after may be offline
 * while others go on. CPUs that were never online are not known.
 */
static bool meter_is_read_in_package(const struct kjoule_session *s, const struct kjoule_meter *m,
				     int package, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		const struct kjoule_sampler *other = s->sampler[i];

		if (other->meters_known && other->cpu != cpu && cpu_online(other->cpu) &&
		    kjoule_source_package(m->src, other->cpu) == package &&
		    kjoule_sampler_shares(other, m))
			return true;
	}
	return false;
}

static struct kjoule_meter *session_meter_for_cpu(struct kjoule_session *s, struct kjoule_meter *m,
						  unsigned int cpu)
{
	struct kjoule_source *src = m->src;
	int package = kjoule_source_package(src, cpu);
	struct kjoule_meter *other;
	unsigned int i;

	/* a PMU notifies later: see session_add_missing_meters() */
	if (src->origin == KJOULE_ORIGIN_PERF_PMU)
		return m;
	for (i = 0; i < s->n_meters; i++) {
		other = s->meter[i];
		if (other->index == m->index && meter_is_read_in_package(s, other, package, cpu))
			return other;
	}
	if (m->scope == cpu || kjoule_source_package(src, m->scope) == package ||
	    s->n_meters == s->n_sources * s->n)
		return m;
	return session_add_meter(s, m->index, cpu);
}

/*
 * kjoule_session_assign_meters() - assign the meters of a CPU that is online, so that its scopes
 * are known. @sampler: of the CPU, not ticking. Before a CPU was online, the kernel may report any
 * package for it. A counter without a meter, for want of memory, is left out until
 * kjoule_session_update_owners() adds one. Context: process, sleeps; the session is locked, and the
 * CPU does not go offline.
 */
void kjoule_session_assign_meters(struct kjoule_session *s, struct kjoule_sampler *sampler)
{
	unsigned int i, n = 0;

	for (i = 0; i < sampler->n_meters; i++) {
		struct kjoule_meter *m = sampler->meter[i];
		struct kjoule_meter *right = session_meter_for_cpu(s, m, sampler->cpu);

		if (right != m)
			m->cpus--;
		if (!right)
			continue;
		if (right != m)
			right->cpus++;
		sampler->meter[n++] = right;
	}
	sampler->n_meters = n;
	sampler->meters_known = true;
}

/* As meter_is_read_in_time(), for a slow source. The rate of events is not known. */
static int source_check_period(const struct kjoule_source *src, u64 period_ns, char *words)
{
	u64 most_ns = U64_MAX;
	unsigned int i;

	for (i = 0; i < src->n_domains; i++) {
		if (src->domains[i].quantity == KJOULE_QUANTITY_ENERGY)
			most_ns = min(most_ns, kjoule_meter_wrap_ns(&src->domains[i]) / 2);
	}
	if (period_ns <= most_ns)
		return 0;
	snprintf(words, KJOULE_WORDS_LEN,
		 "%s: may wrap between two readings; take a period of %llu us at most",
		 src->name, most_ns / NSEC_PER_USEC);
	return -ERANGE;
}

/*
 * kjoule_session_make_pollers() - create the threads of slow sources; they wait for the start. @s:
 * the session, with sources and samplers. Return: 0, -ERANGE if a counter may wrap between two
 * readings, -ENOMEM.
 */
int kjoule_session_make_pollers(struct kjoule_session *s, const struct kjoule_session_config *c,
				const char **why)
{
	/* sources by specification are last */
	unsigned int first = s->n_sources - c->n_specs, i;

	for (i = 0; i < s->n_sources; i++) {
		struct kjoule_source *src = s->source[i];
		struct kjoule_poller *p;
		u64 period_ns;

		if (!kjoule_source_is_slow(src))
			continue;
		period_ns = i >= first ? c->specs[i - first].period_ns : 0;
		period_ns = period_ns ?: src->period_ns ?: KJOULE_PERIOD_DEFAULT_NS;
		if (source_check_period(src, period_ns, c->words)) {
			*why = c->words;
			return -ERANGE;
		}
		p = kjoule_poller_create(src, i, period_ns, s->sampler, s->n);
		if (IS_ERR(p))
			return PTR_ERR(p);
		s->poller[i] = p;
	}
	return 0;
}

/*
 * kjoule_session_recheck_sources() - catch up with CPU hotplug since the session was created. @s:
 * the session, listed. Counters created for the session have missed it. Registered sources follow
 * hotplug themselves while no session uses them, but the CPU that has to read them may have
 * changed.
 */
void kjoule_session_recheck_sources(struct kjoule_session *s)
{
	unsigned int i;

	cpus_read_lock();
	for (i = 0; i < s->n_sources; i++) {
		struct kjoule_source *src = s->source[i];

		if (src->origin == KJOULE_ORIGIN_PERF_PMU)
			src->ops->online(src, s->sampler[0]->cpu);
	}
	mutex_lock(&s->lock);
	kjoule_session_update_owners(s);
	mutex_unlock(&s->lock);
	cpus_read_unlock();
}

/** kjoule_session_start_pollers() - start the slow sources */
void kjoule_session_start_pollers(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < s->n_sources; i++) {
		if (s->poller[i])
			kjoule_poller_start(s->poller[i]);
	}
}

/*
 * kjoule_session_is_slow() - are there sources that a thread reads, for which a stop may have to
 * wait?.
 */
bool kjoule_session_is_slow(const struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < s->n_sources; i++) {
		if (s->poller[i])
			return true;
	}
	return false;
}

/*
 * kjoule_session_stop_pollers() - stop the slow sources, with a last reading. All at once, and for
 * a bounded time: others may wait for the caller. What takes longer is aborted and counted as an
 * error. Context: process, sleeps; without the session's lock and the CPU hotplug lock, because a
 * source may wait for hotplug. Return: true if all have finished.
 */
bool kjoule_session_stop_pollers(struct kjoule_session *s)
{
	unsigned long until = jiffies + msecs_to_jiffies(KJOULE_STOP_TIMEOUT_MS);
	bool all = true;
	unsigned int i;

	for (i = 0; i < s->n_sources; i++) {
		if (s->poller[i])
			kjoule_poller_finish(s->poller[i]);
	}
	for (i = 0; i < s->n_sources; i++) {
		if (s->poller[i])
			all &= kjoule_poller_wait(s->poller[i], until);
	}
	if (!all)
		synchronize_rcu();
	return all;
}

/*
 * kjoule_session_join_pollers() - wait for the threads of stopped pollers, without a time-out. @s:
 * the session; they have been stopped. Context: process, sleeps; a device that hangs blocks the
 * caller.
 */
void kjoule_session_join_pollers(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < s->n_sources; i++) {
		if (s->poller[i])
			kjoule_poller_join(s->poller[i]);
	}
}

/** kjoule_session_drop_sources() - release meters, pollers and sources */
void kjoule_session_drop_sources(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++)
		kjoule_meter_free(s->meter[i]);
	kfree(s->meter);
	for (i = 0; i < s->n_sources; i++) {
		kjoule_poller_destroy(s->poller[i]);
		kjoule_source_put(s->source[i]);
	}
	kjoule_source_put(s->plan.frequency);
}
