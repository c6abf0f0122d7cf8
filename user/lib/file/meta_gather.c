// SPDX-License-Identifier: GPL-2.0-or-later
/* What a recording notes about its machine. Called by record before it starts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "lib/file/meta.h"

static uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void file_read_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	if (!f)
		return;
	if (!fgets(buf, len, f))
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	fclose(f);
}

static uint32_t cpu_read_package(unsigned int cpu)
{
	char path[128], line[32];

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	file_read_line(path, line, sizeof(line));
	return line[0] && line[0] != '-' ? strtoul(line, NULL, 10) : 0;
}

int kjoule_meta_gather(struct kjoule_meta *meta)
{
	struct kjoule_cpus online;
	struct utsname u;
	int ret, cpu = -1;

	snprintf(meta->version, sizeof(meta->version), "%s", KJOULE_VERSION);
	meta->abi = KJOULE_ABI_VERSION;
	if (!uname(&u)) {
		snprintf(meta->host, sizeof(meta->host), "%.64s", u.nodename);
		snprintf(meta->kernel, sizeof(meta->kernel), "%s %s %s", u.sysname, u.release,
			 u.version);
		snprintf(meta->machine, sizeof(meta->machine), "%.64s", u.machine);
	}
	file_read_line("/proc/sys/kernel/random/boot_id", meta->boot_id, sizeof(meta->boot_id));
	meta->page_size = sysconf(_SC_PAGESIZE);
	meta->recorder_pid = getpid();
	meta->clock_ns = clock_read_ns(CLOCK_MONOTONIC);
	meta->wall_ns = clock_read_ns(CLOCK_REALTIME);
	ret = kjoule_cpus_online(&online);
	if (ret)
		return ret;
	free(meta->places);
	meta->n_places = 0;
	meta->places = calloc(kjoule_cpus_count(&online) + 1, sizeof(*meta->places));
	if (!meta->places)
		return -ENOMEM;
	while ((cpu = kjoule_cpus_next(&online, cpu + 1)) >= 0) {
		meta->places[meta->n_places].cpu = cpu;
		meta->places[meta->n_places++].package = cpu_read_package(cpu);
	}
	return 0;
}
