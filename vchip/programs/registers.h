/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The chip's registers from user space, for tests in the guest: root maps the
 * device's memory itself and needs no driver for that.
 */
#ifndef VCHIP_PROGRAMS_REGISTERS_H
#define VCHIP_PROGRAMS_REGISTERS_H

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../vchip_page.h"

static char *registers_base;

static int registers_is_chip(const char *folder)
{
	char path[256], vendor[16] = "", device[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/vendor", folder);
	f = fopen(path, "r");
	if (!f || !fgets(vendor, sizeof(vendor), f))
		return 0;
	fclose(f);
	snprintf(path, sizeof(path), "%s/device", folder);
	f = fopen(path, "r");
	if (!f || !fgets(device, sizeof(device), f))
		return 0;
	fclose(f);
	return !strncmp(vendor, "0x1af4", 6) && !strncmp(device, "0x1110", 6);
}

/* Map the page, or say why not and exit. */
static inline void registers_map(void)
{
	glob_t found;
	char path[256];
	int fd;

	if (glob("/sys/bus/pci/devices/*", 0, NULL, &found)) {
		fprintf(stderr, "no PCI devices\n");
		exit(1);
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (!registers_is_chip(found.gl_pathv[i]))
			continue;
		snprintf(path, sizeof(path), "%s/resource2", found.gl_pathv[i]);
		fd = open(path, O_RDWR);
		if (fd < 0) {
			perror(path);
			exit(1);
		}
		registers_base = mmap(NULL, VCHIP_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				      0);
		close(fd);
		if (registers_base == MAP_FAILED) {
			perror("mmap");
			exit(1);
		}
		return;
	}
	fprintf(stderr, "no virtual chip in this machine\n");
	exit(1);
}

static inline volatile struct vchip_head *registers_head(void)
{
	return (void *)(registers_base + VCHIP_OFF_HEAD);
}

static inline volatile struct vchip_pkg *registers_pkg(unsigned int package)
{
	return (void *)(registers_base + VCHIP_OFF_PKG + package * VCHIP_PKG_STRIDE);
}

static inline volatile struct vchip_cpu *registers_cpu(unsigned int cpu)
{
	return (void *)(registers_base + VCHIP_OFF_CPU + cpu * VCHIP_CPU_STRIDE);
}

/* Set the chip's mark and wait for its acknowledgement, as the driver does. */
static inline void registers_mark(const char *label)
{
	FILE *f = fopen("/sys/kernel/debug/vchip/mark", "w");

	if (!f || fputs(label, f) < 0 || fclose(f)) {
		perror("/sys/kernel/debug/vchip/mark");
		exit(1);
	}
}

#endif /* VCHIP_PROGRAMS_REGISTERS_H */
