// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file for tests of what reads files, below the chip's PCI device: "test/value" says
 * what was last written to it, byte for byte, as late as "test/delay_ms" and with the
 * errno that "test/error" asks for.
 */

#include <linux/delay.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "vchip.h"

static DEFINE_MUTEX(test_lock);		/* of what follows; not held while late */
static char test_text[64] = "0\n";
static size_t test_len = 2;
static unsigned int test_delay_ms;
static unsigned int test_error;

static ssize_t value_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	ssize_t ret;

	if (READ_ONCE(test_delay_ms))
		msleep(READ_ONCE(test_delay_ms));
	mutex_lock(&test_lock);
	ret = test_len;
	memcpy(buf, test_text, test_len);
	if (test_error)
		ret = -(ssize_t)test_error;
	mutex_unlock(&test_lock);
	return ret;
}

static ssize_t value_store(struct device *dev, struct device_attribute *attr, const char *buf,
			   size_t len)
{
	if (len > sizeof(test_text))
		return -EINVAL;
	mutex_lock(&test_lock);
	memcpy(test_text, buf, len);
	test_len = len;
	mutex_unlock(&test_lock);
	return len;
}
static DEVICE_ATTR_ADMIN_RW(value);

static ssize_t number_store(const char *buf, size_t len, unsigned int max, unsigned int *number)
{
	unsigned int value;
	int ret = kstrtouint(buf, 0, &value);

	if (ret)
		return ret;
	if (value > max)
		return -ERANGE;
	mutex_lock(&test_lock);
	WRITE_ONCE(*number, value);
	mutex_unlock(&test_lock);
	return len;
}

static ssize_t delay_ms_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", test_delay_ms);
}

static ssize_t delay_ms_store(struct device *dev, struct device_attribute *attr,
			      const char *buf, size_t len)
{
	return number_store(buf, len, 5000, &test_delay_ms);
}
static DEVICE_ATTR_ADMIN_RW(delay_ms);

static ssize_t error_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", test_error);
}

static ssize_t error_store(struct device *dev, struct device_attribute *attr, const char *buf,
			   size_t len)
{
	return number_store(buf, len, 133, &test_error);
}
static DEVICE_ATTR_ADMIN_RW(error);

static struct attribute *test_attrs[] = {
	&dev_attr_value.attr,
	&dev_attr_delay_ms.attr,
	&dev_attr_error.attr,
	NULL
};

static const struct attribute_group test_group = {
	.name	= "test",
	.attrs	= test_attrs,
};

/**
 * vchip_testfile_init() - make the files
 * @chip:	the chip
 *
 * Return: 0 or -errno.
 */
int vchip_testfile_init(struct vchip *chip)
{
	return device_add_group(&chip->pdev->dev, &test_group);
}

/**
 * vchip_testfile_exit() - remove them
 * @chip:	the chip
 */
void vchip_testfile_exit(struct vchip *chip)
{
	device_remove_group(&chip->pdev->dev, &test_group);
}
