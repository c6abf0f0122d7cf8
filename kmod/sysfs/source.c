// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder for each registered source in /sys/class/misc/kjoule/sources, and in it one for each
 * domain and scope (package-0), or each CPU of a frequency source (cpu0), with one value a file. A
 * value is read when its file is read, on a CPU that can.
 *
 * Lock order: the CPU hotplug lock, then files_lock. No file waits for files_lock, and none is
 * removed under it. A CPU that comes online while a source is added is seen by one of the two,
 * because the source is on the list before it looks at the CPUs.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/kobject.h>
#include <linux/math64.h>
#include <linux/smp.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "source/source.h"
#include "source/notifier.h"
#include "sysfs/sysfs.h"

/* A mean frequency is taken over this time. Part of the ABI (Documentation/abi/sysfs.rst). */
#define FREQUENCY_US	10000

struct source_files {
	struct kobject kobj;
	struct list_head list;
	struct list_head folders;
	struct kjoule_source *src;
};

struct folder {
	struct kobject kobj;
	struct list_head list;
	struct kjoule_source *src;
	unsigned int domain;
	int scope;
	atomic64_t reads;
	atomic64_t errors;
};

static struct kobject *sources_kobj;
static DEFINE_MUTEX(files_lock);
static LIST_HEAD(files);
static int hotplug_state;

static struct folder *to_folder(struct kobject *kobj)
{
	return container_of(kobj, struct folder, kobj);
}

static bool folder_is_frequency(const struct kjoule_source *src)
{
	return src->kind == KJOULE_KIND_FREQUENCY;
}

static int folder_scope_of_cpu(struct kjoule_source *src, unsigned int cpu)
{
	if (kjoule_source_is_slow(src))
		return 0;
	return folder_is_frequency(src) ? cpu : kjoule_source_package(src, cpu);
}

/* A CPU that can read it, or -1. Hotplug is not locked: reading fails if the CPU goes offline. */
static int folder_reading_cpu(const struct folder *f)
{
	unsigned int cpu;
	int owner;

	for_each_online_cpu(cpu) {
		if (folder_scope_of_cpu(f->src, cpu) != f->scope)
			continue;
		owner = f->src->ops->owner ? f->src->ops->owner(f->src, cpu) : -1;
		return owner < 0 ? cpu : owner;
	}
	return -1;
}

/* A read on another CPU, in interrupt context as in a tick. */
struct reading {
	const struct folder *f;
	struct kjoule_cycles cycles;
	u64 raw;	/* a signed value in 64 bits */
	int err;
};

static void folder_read_on_cpu(void *data)
{
	struct reading *r = data;
	struct kjoule_source *src = r->f->src;

	if (src->kind != KJOULE_KIND_FREQUENCY) {
		r->err = src->ops->read_energy(src, r->f->domain, &r->raw);
	} else if (src->ops->read_cycles) {
		r->err = src->ops->read_cycles(src, &r->cycles);
	} else {
		r->raw = src->ops->read_khz(src);
		r->err = r->raw ? 0 : -ENODATA;
	}
}

static int folder_read_once(struct reading *r)
{
	struct kjoule_source *src = r->f->src;
	int cpu;

	/* not updating at the last check: "available" checks again */
	if (READ_ONCE(src->stuck) & BIT(r->f->domain))
		return -ENODEV;
	if (kjoule_source_is_slow(src))
		return src->ops->read_value(src, r->f->domain, (s64 *)&r->raw);
	cpu = folder_reading_cpu(r->f);
	return cpu < 0 ? -ENXIO : smp_call_function_single(cpu, folder_read_on_cpu, r, 1) ?: r->err;
}

static int folder_read_mean(struct reading *r)
{
	struct kjoule_cycles before;
	u64 reference;
	int err = folder_read_once(r);

	if (err)
		return err;
	before = r->cycles;
	usleep_range(FREQUENCY_US, FREQUENCY_US + FREQUENCY_US / 10);
	err = folder_read_once(r);
	if (err)
		return err;
	reference = r->cycles.reference - before.reference;
	if (!reference)
		return -ENODATA;
	r->raw = div64_u64((r->cycles.cycles - before.cycles) * r->f->src->reference_khz,
			   reference);
	return 0;
}

static ssize_t folder_value_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct folder *f = to_folder(kobj);
	struct reading r = { .f = f };
	int err = kjoule_sysfs_check();

	if (err)
		return err;
	atomic64_inc(&f->reads);
	err = folder_is_frequency(f->src) && f->src->ops->read_cycles ? folder_read_mean(&r) :
									 folder_read_once(&r);
	if (err) {
		atomic64_inc(&f->errors);
		return err;
	}
	if (f->src->kind == KJOULE_KIND_GAUGE)
		return sysfs_emit(buf, "%lld\n", (s64)r.raw);
	return sysfs_emit(buf, "%llu\n", r.raw);
}

static ssize_t folder_reads_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	int err = kjoule_sysfs_check();

	return err ?: sysfs_emit(buf, "%lld\n", atomic64_read(&to_folder(kobj)->reads));
}

static ssize_t folder_errors_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	int err = kjoule_sysfs_check();

	return err ?: sysfs_emit(buf, "%lld\n", atomic64_read(&to_folder(kobj)->errors));
}

static ssize_t folder_unit_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct folder *f = to_folder(kobj);

	if (folder_is_frequency(f->src))
		return sysfs_emit(buf, "kHz\n");
	return sysfs_emit(buf, "%s\n", kjoule_sysfs_unit(f->src->domains[f->domain].quantity));
}

/* mult / 2^shift as a decimal number, exactly. */
static ssize_t folder_emit_scale(char *buf, u64 mult, u32 shift)
{
	u64 mask = shift < 64 ? (1ULL << shift) - 1 : U64_MAX, rest = mult & mask;
	int len = sysfs_emit(buf, "%llu", shift < 64 ? mult >> shift : 0);

	if (rest)
		len += sysfs_emit_at(buf, len, ".");
	while (rest) {
		len += sysfs_emit_at(buf, len, "%llu", mul_u64_u64_shr(rest, 10, shift));
		rest = (rest * 10) & mask;
	}
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t folder_scale_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct folder *f = to_folder(kobj);
	const struct kjoule_domain *d = &f->src->domains[f->domain];

	if (folder_is_frequency(f->src))
		return sysfs_emit(buf, "1\n");
	return folder_emit_scale(buf, d->unit_mult, d->unit_shift);
}

static ssize_t folder_range_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct folder *f = to_folder(kobj);
	const struct kjoule_domain *d = &f->src->domains[f->domain];
	u64 highest = d->width && d->width < 64 ? (1ULL << d->width) - 1 : U64_MAX;

	return sysfs_emit(buf, "%llu\n", d->range ?: highest);
}

static ssize_t folder_update_period_ns_show(struct kobject *kobj, struct kobj_attribute *attr,
					    char *buf)
{
	const struct folder *f = to_folder(kobj);

	return sysfs_emit(buf, "%llu\n", f->src->domains[f->domain].update_period_ns);
}

static ssize_t source_requested_only_show(struct kobject *kobj, struct kobj_attribute *attr,
					  char *buf)
{
	return sysfs_emit(buf, "%u\n", to_folder(kobj)->src->requested_only);
}

static struct kobj_attribute value = __ATTR(value, 0400, folder_value_show, NULL);
static struct kobj_attribute reads = __ATTR(reads, 0400, folder_reads_show, NULL);
static struct kobj_attribute errors = __ATTR(errors, 0400, folder_errors_show, NULL);
static struct kobj_attribute unit = __ATTR(unit, 0444, folder_unit_show, NULL);
static struct kobj_attribute scale = __ATTR(scale, 0444, folder_scale_show, NULL);
static struct kobj_attribute range = __ATTR(range, 0444, folder_range_show, NULL);
static struct kobj_attribute update_period_ns = __ATTR(update_period_ns, 0444,
						       folder_update_period_ns_show, NULL);
static struct kobj_attribute requested_only = __ATTR(requested_only, 0444,
						     source_requested_only_show, NULL);

static struct attribute *folder_attrs[] = {
	&value.attr,
	&reads.attr,
	&errors.attr,
	&unit.attr,
	&scale.attr,
	&range.attr,
	&update_period_ns.attr,
	&requested_only.attr,
	NULL
};

static umode_t folder_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	const struct kjoule_source *src = to_folder(kobj)->src;
	bool visible = true;

	if (attr == &range.attr)
		visible = src->kind == KJOULE_KIND_ENERGY;
	else if (attr == &update_period_ns.attr)
		visible = !folder_is_frequency(src);
	else if (attr == &requested_only.attr)
		visible = folder_is_frequency(src);
	return visible ? attr->mode : 0;
}

static const struct attribute_group folder_group = {
	.attrs = folder_attrs,
	.is_visible = folder_visible,
};

static const struct attribute_group *folder_groups[] = { &folder_group, NULL };

static void source_folder_release(struct kobject *kobj)
{
	kfree(to_folder(kobj));
}

static const struct kobj_type folder_type = {
	.release = source_folder_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = folder_groups,
};

static ssize_t source_kind_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	static const char * const kinds[] = {
		[KJOULE_KIND_ENERGY] = "energy",
		[KJOULE_KIND_FREQUENCY] = "frequency",
		[KJOULE_KIND_GAUGE] = "gauge",
	};

	const struct source_files *sf = container_of(kobj, struct source_files, kobj);

	return sysfs_emit(buf, "%s\n", kinds[sf->src->kind]);
}

static ssize_t source_available_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	char why[KJOULE_WHY_LEN];
	int err = kjoule_sysfs_check();

	if (err)
		return err;
	err = kjoule_source_probe(container_of(kobj, struct source_files, kobj)->src, why);
	if (err == -EINTR)
		return err;
	return sysfs_emit(buf, "%u\n", !err);
}

static ssize_t source_errors_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct source_files *sf = container_of(kobj, struct source_files, kobj);
	int err = kjoule_sysfs_check();

	return err ?: sysfs_emit(buf, "%lld\n", atomic64_read(&sf->src->errors));
}

static struct kobj_attribute source_errors = __ATTR(errors, 0400, source_errors_show, NULL);
static struct kobj_attribute kind = __ATTR(kind, 0444, source_kind_show, NULL);
static struct kobj_attribute available = __ATTR(available, 0400, source_available_show, NULL);

static struct attribute *source_attrs[] = {
	&kind.attr,
	&available.attr,
	&source_errors.attr,
	NULL
};

ATTRIBUTE_GROUPS(source);

static void source_files_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct source_files, kobj));
}

static const struct kobj_type source_type = {
	.release = source_files_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = source_groups,
};

static unsigned int folder_count_namesakes(const struct kjoule_source *src, unsigned int domain)
{
	unsigned int i, n = 0;

	for (i = 0; i < domain; i++)
		n += !strcmp(src->domains[i].name, src->domains[domain].name);
	return n;
}

static int source_files_add_folder(struct source_files *sf, unsigned int domain, int scope)
{
	struct folder *f = kzalloc(sizeof(*f), GFP_KERNEL);
	const char *name = sf->src->domains[domain].name;
	unsigned int n;
	int err;

	if (!f)
		return -ENOMEM;
	f->src = sf->src;
	f->domain = domain;
	f->scope = scope;
	n = folder_is_frequency(f->src) ? 0 : folder_count_namesakes(f->src, domain);
	if (folder_is_frequency(f->src))
		err = kobject_init_and_add(&f->kobj, &folder_type, &sf->kobj, "cpu%d", scope);
	else if (n)
		err = kobject_init_and_add(&f->kobj, &folder_type, &sf->kobj, "%s.%u-%d", name,
					   n, scope);
	else
		err = kobject_init_and_add(&f->kobj, &folder_type, &sf->kobj, "%s-%d", name,
					   scope);
	if (err)
		kobject_put(&f->kobj);
	else
		list_add_tail(&f->list, &sf->folders);
	return err;
}

static int source_files_add_scope(struct source_files *sf, unsigned int cpu)
{
	unsigned int n = folder_is_frequency(sf->src) ? 1 : sf->src->n_domains, i;
	int scope = folder_scope_of_cpu(sf->src, cpu), err = 0;
	struct folder *f;

	lockdep_assert_held(&files_lock);
	list_for_each_entry(f, &sf->folders, list) {
		if (f->scope == scope)
			return 0;
	}
	for (i = 0; i < n && !err; i++)
		err = source_files_add_folder(sf, i, scope);
	return err;
}

/* A source works without its folder: log the error only. */
static void source_files_log_error(const struct kjoule_source *src, int err)
{
	if (err)
		pr_warn("kjoule: source %s: not all of its files could be made in sysfs (%d)\n",
			src->name, err);
}

static struct source_files *source_files_add(struct kjoule_source *src)
{
	struct source_files *sf = kzalloc(sizeof(*sf), GFP_KERNEL);
	int err;

	if (!sf)
		return NULL;
	INIT_LIST_HEAD(&sf->folders);
	sf->src = src;
	err = kobject_init_and_add(&sf->kobj, &source_type, sources_kobj, "%s", src->name);
	if (err) {
		kobject_put(&sf->kobj);
		return NULL;
	}
	mutex_lock(&files_lock);
	list_add_tail(&sf->list, &files);
	mutex_unlock(&files_lock);
	return sf;
}

static void source_files_source_added(struct kjoule_source *src)
{
	struct source_files *sf = source_files_add(src);
	unsigned int cpu;
	int err = sf ? 0 : -ENOMEM;

	mutex_lock(&files_lock);
	for_each_online_cpu(cpu) {
		if (!err)
			err = source_files_add_scope(sf, cpu);
	}
	mutex_unlock(&files_lock);
	source_files_log_error(src, err);
}

/* Called after unlisting; waits for readers. */
static void source_files_remove(struct source_files *sf)
{
	struct folder *f, *next;

	list_for_each_entry_safe(f, next, &sf->folders, list) {
		kobject_del(&f->kobj);
		kobject_put(&f->kobj);
	}
	kobject_del(&sf->kobj);
	kobject_put(&sf->kobj);
}

static void source_files_source_gone(struct kjoule_source *src)
{
	struct source_files *sf, *found = NULL;

	mutex_lock(&files_lock);
	list_for_each_entry(sf, &files, list) {
		if (sf->src == src)
			found = sf;
	}
	if (found)
		list_del(&found->list);
	mutex_unlock(&files_lock);
	if (found)
		source_files_remove(found);
}

static struct kjoule_notifier notifier = {
	.source_added = source_files_source_added,
	.source_removed = source_files_source_gone,
};

/* A CPU came online: it may be the first of its scope. Folders stay when CPUs go offline. */
static int source_files_cpu_online(unsigned int cpu)
{
	struct source_files *sf;

	mutex_lock(&files_lock);
	list_for_each_entry(sf, &files, list)
		source_files_log_error(sf->src, source_files_add_scope(sf, cpu));
	mutex_unlock(&files_lock);
	return 0;
}

static void source_files_init_source(struct kjoule_source *src)
{
	if (!source_files_add(src))
		source_files_log_error(src, -ENOMEM);
}

/*
 * kjoule_sysfs_source_init() - create a folder for each source, before other modules can register
 * any.
 */
int kjoule_sysfs_source_init(struct kobject *parent)
{
	sources_kobj = kobject_create_and_add("sources", parent);
	if (!sources_kobj)
		return -ENOMEM;
	kjoule_source_walk(source_files_init_source);
	kjoule_notifier_add(&notifier);
	/* also called for each CPU that is online now */
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kjoule:files",
					  source_files_cpu_online, NULL);
	if (hotplug_state >= 0)
		return 0;
	kjoule_sysfs_source_exit();
	return hotplug_state;
}

/*
 * kjoule_sysfs_source_exit() - undo kjoule_sysfs_source_init(), when no source can be registered
 * any more. Context: process, module exit; no source can be registered any more.
 */
void kjoule_sysfs_source_exit(void)
{
	struct source_files *sf, *next;

	if (hotplug_state >= 0)
		cpuhp_remove_state_nocalls(hotplug_state);
	kjoule_notifier_remove(&notifier);
	list_for_each_entry_safe(sf, next, &files, list) {
		list_del(&sf->list);
		source_files_remove(sf);
	}
	kobject_put(sources_kobj);
}
