// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the module's selftests need of the machine; see need.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/kjoule.h>

#include "../ktap.h"
#include "guest.h"
#include "caps.h"
#include "module.h"
#include "need.h"
#include "nl.h"

#define MODULE	"/sys/module/kjoule"
#define CLASS	"/sys/class/misc/kjoule"
#define DEBUGFS	"/sys/kernel/debug"

static char reason[256];

static bool read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "r");
	bool got = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

/* One of the two capabilities that the module asks for. */
static bool may_measure(void)
{
	return caps_used() & (CAP(CAP_PERFMON) | CAP(CAP_SYS_ADMIN));
}

/* The device and netlink: either may refuse, for the same causes. */
static int try_module(void)
{
	struct nl_source source;
	int fd, err;
	struct nl nl;

	fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	err = nl_open(&nl);
	if (err)
		return err;
	err = nl_source_dump(&nl, &source, 1);
	nl_close(&nl);
	return err < 0 ? err : 0;
}

const char *lacks_module(void)
{
	char line[128] = "";
	int err, sessions;

	if (access(CLASS, F_OK))
		return "the module is not loaded: modprobe kjoule";
	if (!read_line(CLASS "/abi", line, sizeof(line)) || atoi(line) != KJOULE_ABI_VERSION) {
		snprintf(reason, sizeof(reason), "the module that is loaded speaks ABI %s, these tests %d: "
			 "load the module that was built with them", line, KJOULE_ABI_VERSION);
		return reason;
	}
	if (!may_measure())
		return "no CAP_PERFMON: run as root";
	err = try_module();
	if (err == -EPERM && read_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
	    strstr(line, "[confidentiality]"))
		return "the kernel is locked down: boot without lockdown=confidentiality";
	if (err) {
		snprintf(reason, sizeof(reason), "the module does not let us in (%s): run as root, outside of containers",
			 strerror(-err));
		return reason;
	}
	sessions = session_count();
	if (sessions) {
		snprintf(reason, sizeof(reason), "%d sessions of others run on this machine: end them first", sessions);
		return reason;
	}
	return NULL;
}

void need_module(void)
{
	const char *why = lacks_module();

	if (why)
		ktap_skip_all(why);
}

unsigned int need_second_cpu(const char *what_for)
{
	int second = cpu_second();

	if (second < 0) {
		snprintf(reason, sizeof(reason), "one CPU only, %s: bring another one online", what_for);
		ktap_skip_all(reason);
	}
	return second;
}

unsigned int need_hotplug(void)
{
	unsigned int second = need_second_cpu("none to be taken off");

	if (!cpu_online(second, true)) {
		snprintf(reason, sizeof(reason), "CPU %u cannot be taken off: a kernel with CONFIG_HOTPLUG_CPU, and root, "
			 "are needed", second);
		ktap_skip_all(reason);
	}
	return second;
}

const char *lacks_chip(void)
{
	if (access("/sys/module/vchip_source", F_OK))
		return "this is not the laboratory's virtual chip, whose truth is known: "
		       "run it in a guest of kjoule's tree, selftests/run.sh";
	if (access(DEBUGFS "/vchip/registers", R_OK))
		return "the virtual chip's registers cannot be read: mount -t debugfs debugfs " DEBUGFS;
	return NULL;
}

void need_chip(void)
{
	const char *why = lacks_chip();

	if (why)
		ktap_skip_all(why);
}

static bool is_virtual(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	while (f && !found && getline(&line, &size, f) > 0)
		found = !strncmp(line, "flags", 5) && strstr(line, " hypervisor");
	free(line);
	if (f)
		fclose(f);
	return found;
}

void need_machine(void)
{
	if (access("/sys/module/vchip_source", F_OK) && is_virtual())
		ktap_skip_all("a virtual machine, where an interrupt takes what the host makes of it: "
			      "run it on a machine, or in a guest of kjoule's tree, selftests/run.sh");
}

void need_root(void)
{
	if (geteuid())
		ktap_skip_all("not root, who could become others: run as root");
}

const char *lacks_debugfs(void)
{
	if (access(DEBUGFS "/kjoule/statistics", R_OK) == 0)
		return NULL;
	/* its folder is there, empty, where it is not mounted */
	return "debugfs is not mounted: mount -t debugfs debugfs " DEBUGFS;
}

const char *lacks_reload(void)
{
	DIR *holders = opendir(MODULE "/holders");
	struct dirent *entry;
	bool held = false;

	if (!holders)
		return "the module is built in, or the kernel cannot unload modules";
	while (!held && (entry = readdir(holders))) {
		held = entry->d_name[0] != '.';
		if (held)
			snprintf(reason, sizeof(reason), "%.64s uses the module: rmmod %.64s first",
				 entry->d_name, entry->d_name);
	}
	closedir(holders);
	if (held)
		return reason;
	if (access(module_path(), R_OK) && system("modprobe -n -q kjoule 2>/dev/null"))
		return "the module's file is not known: install it for modprobe, or tell it in KJOULE_KO";
	return NULL;
}
