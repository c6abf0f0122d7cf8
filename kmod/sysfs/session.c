// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder for each session in /sys/class/misc/kjoule, with its statistics added up over its CPUs,
 * one number a file, and a folder for each source (session_source.c). A folder knows its session by
 * id only and looks it up at each read, so neither keeps the other alive. No lock is held while
 * they are created and removed.
 */
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/xarray.h>

#include "session/list.h"
#include "session/session.h"
#include "source/notifier.h"
#include "sysfs/sysfs.h"

struct folder {
	struct kobject kobj;
	u32 id;
	struct kobject *uses[KJOULE_SYSFS_USES];
};

struct number {
	struct kobj_attribute attr;
	size_t offset;
};

static struct kobject *parent;
static DEFINE_XARRAY(folders);

static struct kjoule_session *folder_get_session(struct kobject *kobj)
{
	return kjoule_session_get(container_of(kobj, struct folder, kobj)->id);
}

static int folder_get_books(struct kobject *kobj, struct kjoule_stats *b)
{
	struct kjoule_session *s;
	int err = kjoule_sysfs_check();

	if (err)
		return err;
	s = folder_get_session(kobj);
	if (!s)
		return -ENODEV;
	kjoule_session_get_stats(s, b);
	kjoule_session_put(s);
	return 0;
}

static ssize_t session_number_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct number *number = container_of(attr, struct number, attr);
	struct kjoule_stats b;

	return folder_get_books(kobj, &b) ?:
	       sysfs_emit(buf, "%llu\n", *(u64 *)((char *)&b + number->offset));
}

static ssize_t session_consumed_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct kjoule_stats b;

	return folder_get_books(kobj, &b) ?:
	       sysfs_emit(buf, "%llu\n", b.records - b.lost - b.waiting);
}

static struct kobj_attribute consumed = __ATTR(consumed, 0400, session_consumed_show, NULL);

static ssize_t session_state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	static const char * const states[] = {
		[KJOULE_SESSION_NEW] = "new",
		[KJOULE_SESSION_RUNNING] = "running",
		[KJOULE_SESSION_STOPPED] = "stopped",
	};
	struct kjoule_session *s;
	int err = kjoule_sysfs_check();
	u32 state;

	if (err)
		return err;
	s = folder_get_session(kobj);
	if (!s)
		return -ENODEV;
	state = READ_ONCE(s->state);
	kjoule_session_put(s);
	return sysfs_emit(buf, "%s\n", states[state]);
}

static struct kobj_attribute state = __ATTR(state, 0400, session_state_show, NULL);

static struct number due = {
	.attr = __ATTR(due, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, due),
};

static struct number taken = {
	.attr = __ATTR(taken, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, taken),
};

static struct number missed = {
	.attr = __ATTR(missed, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, missed),
};

static struct number skipped = {
	.attr = __ATTR(skipped, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, skipped),
};

static struct number filtered = {
	.attr = __ATTR(filtered, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, filtered),
};

static struct number records = {
	.attr = __ATTR(records, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, records),
};

static struct number lost = {
	.attr = __ATTR(lost, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, lost),
};

static struct number waiting = {
	.attr = __ATTR(waiting, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, waiting),
};

static struct number samples = {
	.attr = __ATTR(samples, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, samples),
};

static struct number tick_ns = {
	.attr = __ATTR(tick_ns, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, tick_ns),
};

static struct number delay_max_ns = {
	.attr = __ATTR(delay_max_ns, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, delay_max_ns),
};

static struct number source_errors = {
	.attr = __ATTR(source_errors, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, source_errors),
};

static struct number stacks_withheld = {
	.attr = __ATTR(stacks_withheld, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, stacks_withheld),
};

static struct number idle_ns = {
	.attr = __ATTR(idle_ns, 0400, session_number_show, NULL),
	.offset = offsetof(struct kjoule_stats, idle_ns),
};

static struct attribute *session_attrs[] = {
	&state.attr,
	&due.attr.attr,
	&taken.attr.attr,
	&missed.attr.attr,
	&skipped.attr.attr,
	&filtered.attr.attr,
	&records.attr.attr,
	&consumed.attr,
	&lost.attr.attr,
	&waiting.attr.attr,
	&samples.attr.attr,
	&tick_ns.attr.attr,
	&delay_max_ns.attr.attr,
	&source_errors.attr.attr,
	&idle_ns.attr.attr,
	&stacks_withheld.attr.attr,
	NULL
};

ATTRIBUTE_GROUPS(session);

static void session_folder_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct folder, kobj));
}

static const struct kobj_type folder_type = {
	.release = session_folder_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = session_groups,
};

/* Waits for readers; open files return -ENODEV from then on. */
static void session_folder_remove(struct folder *f)
{
	kjoule_sysfs_use_remove(f->uses);
	kobject_del(&f->kobj);
	kobject_put(&f->kobj);
}

static int session_folder_add(struct kjoule_session *s)
{
	struct folder *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	int err;

	if (!f)
		return -ENOMEM;
	f->id = s->id;
	err = kobject_init_and_add(&f->kobj, &folder_type, parent, "session%u", s->id);
	if (err) {
		kobject_put(&f->kobj);
		return err;
	}
	err = kjoule_sysfs_use_add(s, &f->kobj, f->uses) ?:
	      xa_err(xa_store(&folders, s->id, f, GFP_KERNEL));
	if (err)
		session_folder_remove(f);
	return err;
}

static void session_folder_unlist(struct kjoule_session *s)
{
	struct folder *f = xa_erase(&folders, s->id);

	if (f)
		session_folder_remove(f);
}

static struct kjoule_notifier notifier = {
	.session_created = session_folder_add,
	.session_ended = session_folder_unlist,
};

/*
 * kjoule_sysfs_session_init() - create a folder for each new session. @folder: parent, before there
 * can be sessions.
 */
void kjoule_sysfs_session_init(struct kobject *folder)
{
	parent = folder;
	kjoule_notifier_add(&notifier);
}

/*
 * kjoule_sysfs_session_exit() - undo kjoule_sysfs_session_init(). Context: process, module exit;
 * there are no sessions.
 */
void kjoule_sysfs_session_exit(void)
{
	kjoule_notifier_remove(&notifier);
	xa_destroy(&folders);
}
