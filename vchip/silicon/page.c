// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owns the mapping of the register page and the chip's identity in its head.
 * Everything that changes later is written by the module that knows it.
 */
#include "page.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct page page;

static_assert(sizeof(struct vchip_head) <= VCHIP_OFF_PKG - VCHIP_OFF_HEAD, "head too large");
static_assert(sizeof(struct vchip_pkg) <= VCHIP_PKG_STRIDE, "pkg too large");
static_assert(VCHIP_MAX_PACKAGES * VCHIP_PKG_STRIDE <= VCHIP_OFF_IDT - VCHIP_OFF_PKG, "too many packages");
static_assert(sizeof(struct vchip_idt) <= VCHIP_OFF_CPU - VCHIP_OFF_IDT, "idt too large");
static_assert(sizeof(struct vchip_cpu) <= VCHIP_CPU_STRIDE, "cpu registers too large");

static void fill_head(const struct profile *profile, unsigned int cpus)
{
	struct vchip_head *head = page.head;

	head->version = VCHIP_VERSION;
	head->cpus = cpus;
	head->pstates = profile->pstates;
	head->idle_states = profile->idle_states;
	head->esu = profile->esu;
	head->energy_bits = 32;
	head->update_period_ns = profile->update_period_ns;
	head->pl1_uw = profile->pl1_uw;
	head->pl2_uw = profile->pl2_uw;
	head->tau_us = profile->tau_us;
	head->clock_scale = profile->clock_scale;
	head->tjmax_mc = profile->tjmax_mc;
	head->transition_ns = profile_max_latency_ns(profile);
	head->meter_ns = profile->meter_ns;
	head->meter_lsb_uw = profile->meter_lsb_uw;
	head->base_khz = profile->has_turbo ? profile->freq_khz[profile->base_pstate] : 0;
	head->has_fan = profile->thermal_off_mc_per_w > profile->thermal_mc_per_w;
	head->packages = profile_package(profile, cpus - 1) + 1;
	head->has_dram = profile->has_dram;
	for (unsigned int i = 0; i < profile->pstates; i++)
		head->freq_khz[i] = profile->freq_khz[i];
	for (unsigned int i = 0; i < profile->idle_states; i++) {
		head->idle_latency_ns[i] = profile->idle[i].latency_ns;
		head->idle_residency_ns[i] = profile->idle[i].residency_ns;
	}
	memcpy(head->name, profile->name, sizeof(head->name));
	head->name[sizeof(head->name) - 1] = '\0';
	/* A, pairs with the guest driver's check of the magic. */
	__atomic_store_n(&head->magic, VCHIP_MAGIC, __ATOMIC_RELEASE);
}

int page_map(const char *path, const struct profile *profile, unsigned int cpus)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	int fd = -1;
	char *base;

	if (path) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			return -errno;
		if (ftruncate(fd, VCHIP_PAGE_SIZE) < 0) {
			int err = -errno;

			close(fd);
			return err;
		}
		flags = MAP_SHARED;
	}
	base = mmap(NULL, VCHIP_PAGE_SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (fd >= 0)
		close(fd);
	if (base == MAP_FAILED)
		return -errno;
	memset(base, 0, VCHIP_PAGE_SIZE);

	page.head = (void *)(base + VCHIP_OFF_HEAD);
	page.idt = (void *)(base + VCHIP_OFF_IDT);
	for (unsigned int i = 0; i < VCHIP_MAX_CPUS; i++)
		page.cpu[i] = (void *)(base + VCHIP_OFF_CPU + i * VCHIP_CPU_STRIDE);
	for (unsigned int i = 0; i < cpus; i++) {
		page.cpu[i]->cur_khz = profile->freq_khz[profile->boot_pstate];
		page.cpu[i]->idle = 1;
		page.cpu[i]->package = profile_package(profile, i);
	}
	for (unsigned int i = 0; i < VCHIP_MAX_PACKAGES; i++) {
		page.pkg[i] = (void *)(base + VCHIP_OFF_PKG + i * VCHIP_PKG_STRIDE);
		page.pkg[i]->energy_pkg_raw = profile->raw_init_pkg;
		page.pkg[i]->energy_core_raw = profile->raw_init_core;
		page.pkg[i]->temp_mc = profile->ambient_mc;
	}
	fill_head(profile, cpus);
	return 0;
}
