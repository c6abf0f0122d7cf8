// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of sources; see source.h. It keeps the list, asks each source
 * whether it works here, chooses the default and pins what is in use. It never
 * interprets a value.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/topology.h>

#include "source.h"

static DEFINE_MUTEX(sources_lock);
static LIST_HEAD(sources);
static u32 next_id;

static bool source_is_sane(const struct kjoule_source *src)
{
	unsigned int i;

	if (!src->name || !src->ops || strlen(src->name) >= KJOULE_SOURCE_NAME_LEN ||
	    src->n_domains > KJOULE_MAX_DOMAINS)
		return false;
	if (src->kind == KJOULE_KIND_FREQUENCY)
		return src->ops->read_cycles ? src->reference_khz : !!src->ops->read_khz;
	for (i = 0; i < src->n_domains; i++) {
		const struct kjoule_domain *d = &src->domains[i];

		if (!d->unit_mult || d->unit_shift > 64 || !d->width || d->width > 64 ||
		    d->parent >= (int)src->n_domains)
			return false;
	}
	/* without counters it is there only to say why */
	return src->n_domains ? !!src->ops->read_energy : !!src->ops->probe;
}

/**
 * kjoule_source_register() - offer a source
 * @src:	filled in; stays with the caller until kjoule_source_unregister()
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL for an impossible description, -EEXIST for a name that is taken.
 */
int kjoule_source_register(struct kjoule_source *src)
{
	struct kjoule_source *other;
	int err = 0;

	if (!source_is_sane(src))
		return -EINVAL;
	mutex_lock(&sources_lock);
	list_for_each_entry(other, &sources, node) {
		if (!strcmp(other->name, src->name))
			err = -EEXIST;
	}
	if (!err) {
		src->id = ++next_id;
		list_add_tail(&src->node, &sources);
	}
	mutex_unlock(&sources_lock);
	return err;
}
EXPORT_SYMBOL_GPL(kjoule_source_register);

/**
 * kjoule_source_unregister() - withdraw a source
 * @src:	registered before
 *
 * Only from the exit of the module that owns it: sessions pin that module, so that none
 * uses the source then. A device that goes while its module stays must keep its source and
 * have reading it fail.
 *
 * Context: process, sleeps.
 */
void kjoule_source_unregister(struct kjoule_source *src)
{
	mutex_lock(&sources_lock);
	list_del(&src->node);
	mutex_unlock(&sources_lock);
}
EXPORT_SYMBOL_GPL(kjoule_source_unregister);

/* Does it work here? 0 or -errno with the reason in @why. */
static int source_probe(struct kjoule_source *src, char *why)
{
	why[0] = '\0';
	return src->ops->probe ? src->ops->probe(src, why, KJOULE_WHY_LEN) : 0;
}

/* The available source of @kind with the highest rating. */
static struct kjoule_source *source_default(enum kjoule_source_kind kind)
{
	struct kjoule_source *src, *best = NULL;
	char why[KJOULE_WHY_LEN];

	lockdep_assert_held(&sources_lock);
	list_for_each_entry(src, &sources, node) {
		if (src->kind == kind && (!best || src->rating > best->rating) &&
		    !source_probe(src, why))
			best = src;
	}
	return best;
}

/**
 * kjoule_source_get() - choose a source and pin it
 * @kind:	what it has to deliver
 * @name:	which, NULL for the default
 *
 * Context: process, sleeps.
 * Return: the source, to be given back with kjoule_source_put(); or an ERR_PTR: -ENOENT if there
 * is none of that name and kind, -ENODEV if it does not work here.
 */
struct kjoule_source *kjoule_source_get(enum kjoule_source_kind kind, const char *name)
{
	struct kjoule_source *src, *found = NULL;
	char why[KJOULE_WHY_LEN];
	int err = -ENOENT;

	mutex_lock(&sources_lock);
	if (!name) {
		found = source_default(kind);
	} else {
		list_for_each_entry(src, &sources, node) {
			if (src->kind == kind && !strcmp(src->name, name)) {
				err = source_probe(src, why) ? -ENODEV : 0;
				if (!err)
					found = src;
				break;
			}
		}
	}
	if (found && !try_module_get(found->owner)) {
		found = NULL;
		err = -ENODEV;
	}
	mutex_unlock(&sources_lock);
	return found ?: ERR_PTR(err);
}

/**
 * kjoule_source_put() - give back what kjoule_source_get() gave
 * @src:	the source, or NULL
 *
 * Context: any.
 */
void kjoule_source_put(struct kjoule_source *src)
{
	if (src)
		module_put(src->owner);
}

/**
 * kjoule_source_package() - the scope of an energy source's counters
 * @src:	an energy source
 * @cpu:	a CPU
 *
 * Context: any.
 * Return: a number; CPUs with the same number share the counters.
 */
int kjoule_source_package(struct kjoule_source *src, unsigned int cpu)
{
	return src->ops->package ? src->ops->package(src, cpu) : topology_physical_package_id(cpu);
}

/**
 * kjoule_source_for_each() - go through the list
 * @visit:	called for each: the source, 0 or why it does not work here (-errno and words),
 *		whether a session that names none gets it, and @data; returns 0 to go on
 * @data:	for @visit
 *
 * Context: process, sleeps; @visit must not register or choose sources.
 * Return: what the last @visit returned.
 */
int kjoule_source_for_each(int (*visit)(struct kjoule_source *src, int unavailable,
					const char *why, bool is_default, void *data),
			   void *data)
{
	struct kjoule_source *src, *best[2];
	char why[KJOULE_WHY_LEN];
	int err = 0;

	mutex_lock(&sources_lock);
	best[0] = source_default(KJOULE_KIND_ENERGY);
	best[1] = source_default(KJOULE_KIND_FREQUENCY);
	list_for_each_entry(src, &sources, node) {
		int unavailable = source_probe(src, why);

		err = visit(src, unavailable, why, src == best[0] || src == best[1], data);
		if (err)
			break;
	}
	mutex_unlock(&sources_lock);
	return err;
}
