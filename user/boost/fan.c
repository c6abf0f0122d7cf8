// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A fan's value in sysfs, given back whatever comes; see boost.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
#include "boost/boost.h"
#include "cli/cmd.h"

/* Whatever file the user names: a terminal is not to become ours, nor its end our end. */
static int fan_write_value(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static void fan_restore_value(const void *what)
{
	const struct boost_fan *fan = what;
	int ret = fan_write_value(fan->path, fan->before);

	openlog("kjoule", LOG_PID, LOG_USER);
	if (ret)
		syslog(LOG_ERR, "%s: giving %s back: %s", fan->path, fan->before, strerror(-ret));
	else
		syslog(LOG_WARNING,
		       "%s: %s was given back for a process that was killed or could not",
		       fan->path, fan->before);
}

/* Its value as it is written, without the end of the line; "": none. Return: 0 or -errno */
static int fan_read_value(const char *path, char *value, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), ret;
	ssize_t n;

	value[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, value, len - 1);
	ret = n < 0 ? -errno : 0;
	value[n < 0 ? 0 : n] = '\0';
	close(fd);
	value[strcspn(value, "\n")] = '\0';
	return ret;
}

int boost_fan_open(const char *path, struct boost_fan *fan, struct kjoule_error *err)
{
	int ret = fan_read_value(path, fan->before, sizeof(fan->before));

	fan->guard.fd = -1;
	fan->slowed = false;
	if (ret)
		return kjoule_fail(err, -ret, "--fan %s: %s; it is a value such as /sys/class/hwmon/hwmon0/pwm1",
				   path, strerror(-ret));
	if (!fan->before[0] || fan->before[strspn(fan->before, "0123456789")])
		return kjoule_fail(err, EINVAL, "--fan %s: has no number in it", path);
	if (snprintf(fan->path, sizeof(fan->path), "%s", path) >= (int)sizeof(fan->path))
		return kjoule_fail(err, ENAMETOOLONG, "--fan %s: the name is too long", path);
	return guardian_start(&fan->guard, fan_restore_value, fan, "the fan's speed", err);
}

/*
 * A chip that controls the fan itself takes what is written and does as it likes: then it reads
 * another value.
 */
static int fan_set_value(const struct boost_fan *fan, const char *value, struct kjoule_error *err)
{
	int ret = fan_write_value(fan->path, value);
	char now[32];

	if (ret)
		return kjoule_fail(err, -ret, "--fan %s: writing %s: %s; does it have to be switched to manual control (pwm1_enable = 1)?",
				   fan->path, value, strerror(-ret));
	ret = fan_read_value(fan->path, now, sizeof(now));
	if (ret)
		return kjoule_fail(err, -ret, "--fan %s: reading it after %s was written: %s",
				   fan->path, value, strerror(-ret));
	if (strcmp(now, value))
		return kjoule_fail(err, EBUSY, "--fan %s: %s was written, and it reads %s: switch it to manual control (pwm1_enable = 1); a fan that has few speeds takes no other value (--fan-slow)",
				   fan->path, value, now[0] ? now : "nothing");
	return 0;
}

int boost_fan_set(struct boost_fan *fan, unsigned int value, struct kjoule_error *err)
{
	char text[16], now[32];
	int ret;

	snprintf(text, sizeof(text), "%u", value);
	fan->slowed = true;
	ret = fan_set_value(fan, text, err);
	if (ret == -EBUSY)	/* what the chip makes of that is its own, too */
		fan->slowed = fan_write_value(fan->path, fan->before) < 0;
	else if (ret)
		fan->slowed = fan_read_value(fan->path, now, sizeof(now)) ||
			      strcmp(now, fan->before);
	return ret;
}

int boost_fan_reset(struct boost_fan *fan, struct kjoule_error *err)
{
	int ret = fan->slowed ? fan_set_value(fan, fan->before, err) : 0;

	if (!ret)
		fan->slowed = false;
	return ret;
}

void boost_fan_close(struct boost_fan *fan)
{
	struct kjoule_error err;

	if (boost_fan_reset(fan, &err)) {
		cmd_warn("%s; the process %s tries once more, and tells the system's log", err.text,
			 GUARDIAN);
		guardian_leave(&fan->guard);
		return;
	}
	guardian_end(&fan->guard);
}
