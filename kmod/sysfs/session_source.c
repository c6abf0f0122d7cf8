// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder for each source that a session uses, in the session's folder, with the values that it
 * has read: source0, source1, ... by the numbers in records, and frequency. Created and removed by
 * session.c with the session's folder; finds the session by its id.
 */
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "session/list.h"
#include "session/session.h"
#include "sysfs/sysfs.h"

#define FREQUENCY	KJOULE_METERS_MAX

struct use {
	struct kobject kobj;
	u32 session;
	unsigned int index;
	bool slow;
	/* created for the session, with one domain; others are in "sources" too */
	bool own;
};

struct facts {
	char name[KJOULE_SOURCE_NAME_LEN];
	u64 period_ns;
	u64 update_ns;		/* update period, 0 if not known */
	struct kjoule_poller_stats stats;
	enum kjoule_quantity quantity;
	s64 value;
	int no_value;		/* -errno if there is none */
};

static struct use *to_use(struct kobject *kobj)
{
	return container_of(kobj, struct use, kobj);
}

static struct kjoule_source *use_source(const struct kjoule_session *s, unsigned int index)
{
	return index == FREQUENCY ? s->plan.frequency : s->source[index];
}

/* Sum over all CPUs of a source with one domain that ticks read. */
static int use_get_sum(const struct kjoule_session *s, unsigned int index, s64 *sum)
{
	unsigned int i, n = smp_load_acquire(&s->n_meters);	/* pairs with session_add_meter() */
	const struct kjoule_domain *d = &s->source[index]->domains[0];
	int err = -ENODATA;
	u64 value = 0;

	for (i = 0; i < n; i++) {
		const struct kjoule_meter *m = s->meter[i];

		if (m->index != index || !READ_ONCE(m->updated_ns[0]))
			continue;
		value += kjoule_counter_scale(READ_ONCE(m->counter[0].total), d->unit_mult,
					      d->unit_shift);
		err = 0;
	}
	*sum = min_t(u64, value, S64_MAX);
	return err;
}

static int use_get_facts(struct kobject *kobj, struct facts *facts)
{
	const struct use *u = to_use(kobj);
	const struct kjoule_source *src;
	struct kjoule_session *s;
	int err = kjoule_sysfs_check();

	if (err)
		return err;
	s = kjoule_session_get(u->session);
	if (!s)
		return -ENODEV;
	memset(facts, 0, sizeof(*facts));
	src = use_source(s, u->index);
	strscpy(facts->name, src->name, sizeof(facts->name));
	if (u->own) {
		facts->quantity = src->domains[0].quantity;
		facts->update_ns = src->domains[0].update_period_ns;
	}
	if (u->slow) {
		facts->no_value = kjoule_poller_get_value(s->poller[u->index], 0, &facts->value);
		facts->period_ns = s->poller[u->index]->period_ns;
		kjoule_poller_get_stats(s->poller[u->index], &facts->stats);
	} else {
		facts->stats.errors = atomic64_read(&s->pending.errors[u->index]);
		if (u->own)
			facts->no_value = use_get_sum(s, u->index, &facts->value);
	}
	kjoule_session_put(s);
	return 0;
}

static ssize_t use_name_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: sysfs_emit(buf, "%s\n", f.name);
}

static ssize_t use_period_ns_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: sysfs_emit(buf, "%llu\n", f.period_ns);
}

static ssize_t use_reads_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: sysfs_emit(buf, "%llu\n", f.stats.reads);
}

static ssize_t use_errors_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: sysfs_emit(buf, "%llu\n", f.stats.errors);
}

static ssize_t use_overruns_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: sysfs_emit(buf, "%llu\n", f.stats.overruns);
}

static ssize_t use_unit_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: sysfs_emit(buf, "%s\n", kjoule_sysfs_unit(f.quantity));
}

/* Values are in the unit; a registered source has raw counts, in its own folder. */
static ssize_t use_scale_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: sysfs_emit(buf, "1\n");
}

static ssize_t use_update_period_ns_show(struct kobject *kobj, struct kobj_attribute *attr,
					 char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: sysfs_emit(buf, "%llu\n", f.update_ns);
}

static ssize_t use_value_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct facts f;

	return use_get_facts(kobj, &f) ?: f.no_value ?: sysfs_emit(buf, "%lld\n", f.value);
}

static struct kobj_attribute name = __ATTR(name, 0400, use_name_show, NULL);
static struct kobj_attribute errors = __ATTR(errors, 0400, use_errors_show, NULL);
static struct kobj_attribute period_ns = __ATTR(period_ns, 0400, use_period_ns_show, NULL);
static struct kobj_attribute reads = __ATTR(reads, 0400, use_reads_show, NULL);
static struct kobj_attribute overruns = __ATTR(overruns, 0400, use_overruns_show, NULL);

static struct kobj_attribute unit = __ATTR(unit, 0400, use_unit_show, NULL);
static struct kobj_attribute scale = __ATTR(scale, 0400, use_scale_show, NULL);
static struct kobj_attribute update_period_ns =
	__ATTR(update_period_ns, 0400, use_update_period_ns_show, NULL);
static struct kobj_attribute value = __ATTR(value, 0400, use_value_show, NULL);

static struct attribute *use_attrs[] = {
	&name.attr,
	&errors.attr,
	&period_ns.attr,
	&reads.attr,
	&overruns.attr,
	&unit.attr,
	&scale.attr,
	&update_period_ns.attr,
	&value.attr,
	NULL
};

/* Sources that ticks read have no period, and too many reads to count. */
static umode_t use_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	const struct use *u = to_use(kobj);
	bool seen = u->slow;

	if (attr == &name.attr || attr == &errors.attr)
		seen = true;
	else if (attr == &unit.attr || attr == &value.attr || attr == &scale.attr ||
		 attr == &update_period_ns.attr)
		seen = u->own;
	return seen ? attr->mode : 0;
}

static const struct attribute_group use_group = {
	.attrs = use_attrs,
	.is_visible = use_visible,
};

static const struct attribute_group *use_groups[] = { &use_group, NULL };

static void use_release(struct kobject *kobj)
{
	kfree(to_use(kobj));
}

static const struct kobj_type use_type = {
	.release = use_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = use_groups,
};

static int use_add(struct kjoule_session *s, unsigned int index, struct kobject *folder,
		   struct kobject **kobj)
{
	struct use *u = kzalloc(sizeof(*u), GFP_KERNEL_ACCOUNT);
	int err;

	if (!u)
		return -ENOMEM;
	u->session = s->id;
	u->index = index;
	u->slow = index != FREQUENCY && s->poller[index];
	u->own = index != FREQUENCY && s->source[index]->origin != KJOULE_ORIGIN_REGISTERED;
	if (index == FREQUENCY)
		err = kobject_init_and_add(&u->kobj, &use_type, folder, "frequency");
	else
		err = kobject_init_and_add(&u->kobj, &use_type, folder, "source%u", index);
	if (err)
		kobject_put(&u->kobj);
	else
		*kobj = &u->kobj;
	return err;
}

/**
 * kjoule_sysfs_use_add() - create the folders of a session's sources
 * @s:		the session
 * @folder:	the session's
 * @uses:	of KJOULE_SYSFS_USES, set to the folders, or NULL
 * Context: process, sleeps, without locks.
 * Return: 0 or -errno; kjoule_sysfs_use_remove() is called in either case
 */
int kjoule_sysfs_use_add(struct kjoule_session *s, struct kobject *folder, struct kobject **uses)
{
	unsigned int i;
	int err = 0;

	memset(uses, 0, KJOULE_SYSFS_USES * sizeof(*uses));
	for (i = 0; i < s->n_sources && !err; i++)
		err = use_add(s, i, folder, &uses[i]);
	if (!err && s->plan.frequency)
		err = use_add(s, FREQUENCY, folder, &uses[FREQUENCY]);
	return err;
}

/** kjoule_sysfs_use_remove() - undo kjoule_sysfs_use_add(); waits for readers, without locks */
void kjoule_sysfs_use_remove(struct kobject **uses)
{
	unsigned int i;

	for (i = 0; i < KJOULE_SYSFS_USES; i++) {
		if (!uses[i])
			continue;
		kobject_del(uses[i]);
		kobject_put(uses[i]);
		uses[i] = NULL;
	}
}
