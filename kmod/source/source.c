// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of sources; see source.h: lists them, probes whether they work here, chooses the
 * default and pins those in use. It never interprets a value.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>

#include "source/update.h"
#include "source/source.h"
#include "source/notifier.h"

static DEFINE_MUTEX(sources_lock);
static LIST_HEAD(sources);
static u32 next_id;
static void (*owner_changed)(void);

static bool domain_is_sane(const struct kjoule_source *src, const struct kjoule_domain *d)
{
	bool counter = d->quantity == KJOULE_QUANTITY_ENERGY ||
		       d->quantity == KJOULE_QUANTITY_COUNT;

	if (!d->unit_mult || d->unit_shift > 64 || d->parent >= (int)src->n_domains)
		return false;
	if (src->kind != (counter ? KJOULE_KIND_ENERGY : KJOULE_KIND_GAUGE))
		return false;
	if (counter && (!d->width || d->width > 64))
		return false;
	return !d->range || (counter && kjoule_source_is_slow(src));
}

/* A meter that starts on command has both operations, measures power, and bounds the wait. */
static bool source_start_is_sane(const struct kjoule_source *src)
{
	const struct kjoule_source_ops *ops = src->ops;
	unsigned int i;

	if (!ops->start)
		return !ops->read_started && !src->ready_ns;
	for (i = 0; i < src->n_domains; i++) {
		if (src->domains[i].quantity == KJOULE_QUANTITY_POWER)
			break;
	}
	return ops->read_started && src->kind == KJOULE_KIND_GAUGE && i < src->n_domains &&
	       src->ready_ns && src->ready_ns <= KJOULE_READY_MAX_NS;
}

static bool source_is_sane(const struct kjoule_source *src)
{
	unsigned int i;

	if (!src->name || !src->ops || strlen(src->name) >= KJOULE_SOURCE_NAME_LEN ||
	    src->n_domains > KJOULE_MAX_DOMAINS || src->origin != KJOULE_ORIGIN_REGISTERED ||
	    src->ops->release || !source_start_is_sane(src))
		return false;
	if (src->kind == KJOULE_KIND_FREQUENCY)
		return src->ops->read_cycles ? src->reference_khz : !!src->ops->read_khz;
	for (i = 0; i < src->n_domains; i++) {
		if (!domain_is_sane(src, &src->domains[i]))
			return false;
	}
	if (src->period_ns &&
	    (src->period_ns < KJOULE_PERIOD_MIN_NS || src->period_ns > KJOULE_PERIOD_MAX_NS))
		return false;
	if (!src->n_domains)
		return !!src->ops->probe;
	/* exactly one way to read it; instantaneous values are not for ticks */
	if (kjoule_source_is_slow(src))
		return !src->ops->read_energy;
	return src->kind == KJOULE_KIND_ENERGY && src->ops->read_energy;
}

static struct kjoule_source *source_find(const char *name)
{
	struct kjoule_source *src;

	lockdep_assert_held(&sources_lock);
	list_for_each_entry(src, &sources, node) {
		if (!strcmp(src->name, name))
			return src;
	}
	return NULL;
}

/**
 * kjoule_source_register() - register a source
 * @src:	kept by the caller until kjoule_source_unregister()
 * Return: 0, -EINVAL for an invalid description, -EEXIST for a name in use
 */
int kjoule_source_register(struct kjoule_source *src)
{
	int err;

	if (!source_is_sane(src))
		return -EINVAL;
	mutex_lock(&sources_lock);
	err = source_find(src->name) ? -EEXIST : 0;
	if (!err) {
		src->id = ++next_id;
		list_add_tail(&src->node, &sources);
	}
	mutex_unlock(&sources_lock);
	if (!err)
		kjoule_notify_source_added(src);
	return err;
}
EXPORT_SYMBOL_GPL(kjoule_source_register);

/*
 * kjoule_source_unregister() - unregister a source. @src: registered before. Only from the exit of
 * the module that owns it: sessions and jobs of probes pin that module, so that none uses the
 * source then. If a device is removed while its module stays, the source stays and reading it
 * fails.
 */
void kjoule_source_unregister(struct kjoule_source *src)
{
	kjoule_notify_source_removed(src);
	mutex_lock(&sources_lock);
	list_del(&src->node);
	mutex_unlock(&sources_lock);
}
EXPORT_SYMBOL_GPL(kjoule_source_unregister);

static int source_ask(struct kjoule_source *src, char *why)
{
	why[0] = '\0';
	if (src->ops->probe)
		return src->ops->probe(src, why, KJOULE_WHY_LEN);
	if (src->kind == KJOULE_KIND_ENERGY && !kjoule_source_is_slow(src))
		return kjoule_source_check_updates(src, why);
	return 0;
}

/*
 * Probe a source. Return: 0 or -errno with the reason in its @why; -EINTR: unknown. A probe may
 * take long and probes are serialised: a caller that came before the last probe began shares its
 * result. @since: CLOCK_MONOTONIC at which the caller came.
 */
static int source_probe(struct kjoule_source *src, u64 since)
{
	char why[KJOULE_WHY_LEN];
	u64 now = ktime_get_ns();
	int err;

	lockdep_assert_held(&sources_lock);
	if (src->probed_ns && src->probed_ns >= since)
		return src->probed;
	err = source_ask(src, why);
	if (err == -EINTR)
		return err;
	strscpy(src->why, why, sizeof(src->why));
	src->probed = err;
	src->probed_ns = now;
	return err;
}

/*
 * The available source of @kind with the highest rating; slow ones only by name. NULL: none;
 * -EINTR: the caller is being killed.
 */
static struct kjoule_source *source_default(enum kjoule_source_kind kind, u64 since)
{
	struct kjoule_source *src, *best = NULL;
	int err;

	lockdep_assert_held(&sources_lock);
	list_for_each_entry(src, &sources, node) {
		if (src->kind != kind || kjoule_source_is_slow(src) ||
		    (best && src->rating <= best->rating))
			continue;
		err = source_probe(src, since);
		if (err == -EINTR)
			return ERR_PTR(err);
		if (!err)
			best = src;
	}
	return best;
}

/**
 * kjoule_source_get() - choose a source and pin it
 * @kind:	kind of the source
 * @name:	its name, NULL for the default
 * @stuck:	set to the domains that are not updating; may differ for later callers
 * Return: the source, for kjoule_source_put(); or an ERR_PTR: -ENOENT if there is none of that name
 * and kind, -ENODEV if it does not work here, -EINTR if the caller is being killed
 */
struct kjoule_source *kjoule_source_get(enum kjoule_source_kind kind, const char *name, u32 *stuck)
{
	u64 since = ktime_get_ns();
	struct kjoule_source *src;
	int err;

	if (mutex_lock_killable(&sources_lock))
		return ERR_PTR(-EINTR);
	src = name ? source_find(name) : source_default(kind, since);
	if (IS_ERR_OR_NULL(src) || src->kind != kind) {
		err = PTR_ERR_OR_ZERO(src) ?: -ENOENT;
		goto out;
	}
	err = name ? source_probe(src, since) : 0;
	if (err && err != -EINTR)
		err = -ENODEV;
	if (!err && !try_module_get(src->owner))
		err = -ENODEV;
	*stuck = src->stuck;
out:
	mutex_unlock(&sources_lock);
	return err ? ERR_PTR(err) : src;
}

/**
 * kjoule_source_get_startable() - choose and pin a meter that starts on command
 * @name:	its name, NULL or "" for the first one that works
 * Return: as kjoule_source_get(); -EOPNOTSUPP if the named one does not start on command
 */
struct kjoule_source *kjoule_source_get_startable(const char *name)
{
	struct kjoule_source *src, *found = NULL;
	u64 since = ktime_get_ns();
	bool any = !name || !*name;
	int err = -ENOENT;

	if (mutex_lock_killable(&sources_lock))
		return ERR_PTR(-EINTR);
	list_for_each_entry(src, &sources, node) {
		if (any ? !src->ops->start : strcmp(src->name, name))
			continue;
		err = src->ops->start ? source_probe(src, since) : -EOPNOTSUPP;
		if (!err && !try_module_get(src->owner))
			err = -ENODEV;
		if (err && err != -EINTR && err != -EOPNOTSUPP)
			err = -ENODEV;
		if (!err)
			found = src;
		if (found || !any || err == -EINTR)
			break;
	}
	mutex_unlock(&sources_lock);
	return found ?: ERR_PTR(err);
}

/*
 * kjoule_source_put() - release a source of kjoule_source_get(), or one created for a session.
 * @src: the source, or NULL.
 */
void kjoule_source_put(struct kjoule_source *src)
{
	if (!src)
		return;
	if (src->ops->release)
		src->ops->release(src);
	else
		module_put(src->owner);
}

/*
 * kjoule_source_owner_changed() - the CPU that has to read a source has changed. Context: process,
 * sleeps; without locks that the source's online and offline callbacks take, outside CPU hotplug
 * and its callbacks.
 */
void kjoule_source_owner_changed(void)
{
	typeof(owner_changed) ask = READ_ONCE(owner_changed);

	if (ask)
		ask();
}
EXPORT_SYMBOL_GPL(kjoule_source_owner_changed);

/**
 * kjoule_source_on_owner_change() - set the callback of kjoule_source_owner_changed()
 * @ask:	called to update the owner of each source; NULL for none
 * Context: process, while there are no sessions.
 */
void kjoule_source_on_owner_change(void (*ask)(void))
{
	WRITE_ONCE(owner_changed, ask);
}

/** kjoule_source_is_slow() - is it read by a thread, not by ticks? */
bool kjoule_source_is_slow(const struct kjoule_source *src)
{
	return src->ops->read_value;
}

/** kjoule_source_is_registered() - is there a source of that name? */
bool kjoule_source_is_registered(const char *name)
{
	bool is;

	mutex_lock(&sources_lock);
	is = source_find(name);
	mutex_unlock(&sources_lock);
	return is;
}

/**
 * kjoule_source_probe() - does it work here?
 * @src:	a source
 * @why:	of KJOULE_WHY_LEN: set to the reason why not
 * Return: 0 or -errno; -EINTR if the caller is being killed
 */
int kjoule_source_probe(struct kjoule_source *src, char *why)
{
	u64 since = ktime_get_ns();
	int err;

	if (mutex_lock_killable(&sources_lock))
		return -EINTR;
	err = source_probe(src, since);
	strscpy(why, src->why, KJOULE_WHY_LEN);
	mutex_unlock(&sources_lock);
	return err;
}

/*
 * kjoule_source_package() - number of the scope of an energy source's counters: CPUs with the same
 * share them. @src: an energy source.
 */
int kjoule_source_package(struct kjoule_source *src, unsigned int cpu)
{
	return src->ops->package ? src->ops->package(src, cpu) : topology_physical_package_id(cpu);
}

/*
 * kjoule_source_walk() - call a function for each registered source, working or not. @visit: must
 * not register or choose sources.
 */
void kjoule_source_walk(void (*visit)(struct kjoule_source *src))
{
	struct kjoule_source *src;

	mutex_lock(&sources_lock);
	list_for_each_entry(src, &sources, node)
		visit(src);
	mutex_unlock(&sources_lock);
}

/**
 * kjoule_source_for_each() - call a function for each registered source, with whether it works
 * @visit:	called with the source, 0 or -errno and the reason, whether it is the default, and
 *		@data; returns 0 to continue
 * @data:	for @visit
 * Context: process, sleeps; @visit must not register or choose sources.
 * Return: the last result of @visit, or -EINTR if the caller is being killed
 */
int kjoule_source_for_each(int (*visit)(struct kjoule_source *src, int unavailable,
					const char *why, bool is_default, void *data),
			   void *data)
{
	struct kjoule_source *src, *best[2];
	u64 since = ktime_get_ns();
	int err = 0;

	if (mutex_lock_killable(&sources_lock))
		return -EINTR;
	best[0] = source_default(KJOULE_KIND_ENERGY, since);
	best[1] = source_default(KJOULE_KIND_FREQUENCY, since);
	list_for_each_entry(src, &sources, node) {
		int unavailable = source_probe(src, since);

		err = unavailable == -EINTR ? unavailable :
		      visit(src, unavailable, src->why, src == best[0] || src == best[1], data);
		if (err)
			break;
	}
	mutex_unlock(&sources_lock);
	return err;
}
