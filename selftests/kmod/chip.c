// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the guest can see of the virtual chip without kjoule; see chip.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chip.h"

#define CHIP	"/sys/bus/pci/drivers/vchip/*:*/"

int chip_open(const char *pattern, int flags)
{
	int fd = -1;
	glob_t g;

	if (glob(pattern, 0, NULL, &g))
		return -1;
	fd = open(g.gl_pathv[0], flags | O_CLOEXEC);
	globfree(&g);
	return fd;
}

int64_t chip_number(int fd)
{
	char text[64];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return INT64_MIN;
	text[len] = '\0';
	return strtoll(text, NULL, 10);
}

bool chip_read(const char *pattern, int64_t *value)
{
	int fd = chip_open(pattern, O_RDONLY);

	if (fd < 0)
		return false;
	*value = chip_number(fd);
	close(fd);
	return *value != INT64_MIN;
}

int chip_power(void)
{
	return chip_open(CHIP "hwmon/hwmon*/power1_input", O_RDONLY);
}

int chip_energy(void)
{
	return chip_open(CHIP "hwmon/hwmon*/energy1_input", O_RDONLY);
}

int chip_temperature(void)
{
	return chip_open(CHIP "hwmon/hwmon*/temp1_input", O_RDONLY);
}

/* A line of the chip's register dump; 0 if it has none. */
uint64_t chip_register(const char *name)
{
	FILE *f = fopen("/sys/kernel/debug/vchip/registers", "r");
	unsigned long long value = 0;
	char line[256], found[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%127s %llu", found, &value) == 2 && !strcmp(found, name))
			break;
		value = 0;
	}
	if (f)
		fclose(f);
	return value;
}

int pmu_type(const char *name)
{
	char path[128];
	int64_t type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	return chip_read(path, &type) ? type : -1;
}

int test_file(void)
{
	return chip_open(CHIP "test/value", O_RDONLY);
}

static void put(const char *pattern, const char *text)
{
	int fd = chip_open(pattern, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		printf("Bail out! %s: %s\n", pattern, strerror(errno));
		exit(1);
	}
	close(fd);
}

void set_parameter(const char *module, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module, name);
	put(path, text);
}

void test_file_says(const char *text)
{
	put(CHIP "test/value", text);
}

void test_file_waits(unsigned int ms)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", ms);
	put(CHIP "test/delay_ms", text);
}

void test_file_fails(unsigned int error)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", error);
	put(CHIP "test/error", text);
}
