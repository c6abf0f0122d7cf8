// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A fan's value in sysfs, given back whatever comes; see boost_cmd.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
#include "boost_cmd.h"

static int write_value(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static void give_back(const void *what)
{
	const struct boost_fan *fan = what;
	int ret = write_value(fan->path, fan->before);

	openlog("kjoule", LOG_PID, LOG_USER);
	if (ret)
		syslog(LOG_ERR, "%s: giving %s back: %s", fan->path, fan->before, strerror(-ret));
	else
		syslog(LOG_WARNING, "%s: %s was given back for a process that was killed", fan->path, fan->before);
}

int boost_fan_open(const char *path, struct boost_fan *fan, struct kjoule_error *err)
{
	FILE *f = fopen(path, "re");

	fan->guard.fd = -1;
	if (!f)
		return kjoule_fail(err, errno, "--fan %s: %s; it is a value such as /sys/class/hwmon/hwmon0/pwm1", path, strerror(errno));
	if (!fgets(fan->before, sizeof(fan->before), f))
		fan->before[0] = '\0';
	fclose(f);
	fan->before[strcspn(fan->before, "\n")] = '\0';
	if (!fan->before[0] || fan->before[strspn(fan->before, "0123456789")])
		return kjoule_fail(err, EINVAL, "--fan %s: has no number in it", path);
	if (snprintf(fan->path, sizeof(fan->path), "%s", path) >= (int)sizeof(fan->path))
		return kjoule_fail(err, ENAMETOOLONG, "--fan %s: the name is too long", path);
	return guardian_start(&fan->guard, give_back, fan, "the fan's speed", err);
}

static int set(const struct boost_fan *fan, const char *value, struct kjoule_error *err)
{
	int ret = write_value(fan->path, value);

	return ret ? kjoule_fail(err, -ret, "--fan %s: writing %s: %s; does it have to be switched to manual control (pwm1_enable)?",
				 fan->path, value, strerror(-ret)) : 0;
}

int boost_fan_set(const struct boost_fan *fan, unsigned int value, struct kjoule_error *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return set(fan, text, err);
}

int boost_fan_reset(const struct boost_fan *fan, struct kjoule_error *err)
{
	return set(fan, fan->before, err);
}

void boost_fan_close(struct boost_fan *fan)
{
	guardian_end(&fan->guard);
}
