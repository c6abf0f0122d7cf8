// SPDX-License-Identifier: GPL-2.0-only
/*
 * Front end for scripts: plain values in /sys/class/misc/kjoule (version, abi,
 * sessions) and, for the privileged, the books of every session in debugfs.
 * Reads only; control stays with netlink.c.
 */
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "frontend.h"
#include "session.h"
#include "version.h"

static struct dentry *debug_dir;

static ssize_t version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", KJOULE_VERSION);
}
static DEVICE_ATTR_RO(version);

static ssize_t abi_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", KJOULE_ABI_VERSION);
}
static DEVICE_ATTR_RO(abi);

static ssize_t sessions_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", kjoule_session_count());
}
static DEVICE_ATTR_RO(sessions);

static struct attribute *stats_attrs[] = {
	&dev_attr_version.attr,
	&dev_attr_abi.attr,
	&dev_attr_sessions.attr,
	NULL
};

static const struct attribute_group stats_group = { .attrs = stats_attrs };

const struct attribute_group *kjoule_stats_groups[] = { &stats_group, NULL };

static void show_books(struct seq_file *m, struct kjoule_session *s, struct kjoule_sampler *sampler)
{
	struct kjoule_books b;
	u64 waiting;

	kjoule_sampler_books(sampler, &b);
	waiting = kjoule_ring_waiting(&sampler->ring, b.head, b.records - b.lost);
	seq_printf(m, "%u %u %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
		   s->id, sampler->cpu, b.due, b.produced, b.missed, b.parked, b.filtered,
		   b.records, b.records - b.lost - waiting, b.lost, waiting, b.tick_ns,
		   b.late_max_ns);
}

static int books_show(struct seq_file *m, void *unused)
{
	struct kjoule_session *s;
	unsigned int i;
	u32 id = 0;

	seq_puts(m, "session cpu due produced missed parked filtered records consumed lost waiting tick_ns late_max_ns\n");
	while ((s = kjoule_session_get_next(id))) {
		id = s->id + 1;
		for (i = 0; i < s->n; i++)
			show_books(m, s, s->sampler[i]);
		kjoule_session_put(s);
	}
	return 0;
}

static int books_open(struct inode *inode, struct file *file)
{
	if (!perfmon_capable())
		return -EPERM;
	return single_open(file, books_show, NULL);
}

static const struct file_operations books_fops = {
	.owner = THIS_MODULE,
	.open = books_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * kjoule_stats_init() - make the debugfs files
 *
 * The sysfs attributes come with the device. Without debugfs there are no files; that is no
 * error.
 *
 * Context: process, module init.
 */
void kjoule_stats_init(void)
{
	debug_dir = debugfs_create_dir("kjoule", NULL);
	debugfs_create_file("books", 0400, debug_dir, NULL, &books_fops);
}

/**
 * kjoule_stats_exit() - undo kjoule_stats_init()
 *
 * Context: process, module exit.
 */
void kjoule_stats_exit(void)
{
	debugfs_remove(debug_dir);
}
