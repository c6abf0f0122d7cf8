// SPDX-License-Identifier: GPL-2.0-only
/*
 * Front end for scripts: plain values, read only. Those of the module are here, in
 * /sys/class/misc/kjoule; sources (source.c) and sessions (session.c) have folders below it.
 */
#include <linux/device.h>
#include <linux/kjoule.h>
#include <linux/sysfs.h>

#include "session/list.h"
#include "sysfs/sysfs.h"

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

static struct attribute *module_attrs[] = {
	&dev_attr_version.attr,
	&dev_attr_abi.attr,
	&dev_attr_sessions.attr,
	NULL
};

static const struct attribute_group module_group = { .attrs = module_attrs };

const struct attribute_group *kjoule_sysfs_groups[] = { &module_group, NULL };

/**
 * kjoule_sysfs_init() - create the folders, before there can be sessions
 * @parent:	the device's; it has the attributes of the module
 * Return: 0 or -errno
 */
int kjoule_sysfs_init(struct kobject *parent)
{
	int err = kjoule_sysfs_source_init(parent);

	if (err)
		return err;
	kjoule_sysfs_session_init(parent);
	return 0;
}

/** kjoule_sysfs_exit() - undo kjoule_sysfs_init() */
void kjoule_sysfs_exit(void)
{
	kjoule_sysfs_session_exit();
	kjoule_sysfs_source_exit();
}
