/* SPDX-License-Identifier: GPL-2.0-only */
/* The register page as the chip sees it: mapping, identity, whole-word access. */
#ifndef VCHIP_PAGE_MAP_H
#define VCHIP_PAGE_MAP_H

#include <stdint.h>

#include "../vchip_page.h"
#include "profile.h"

struct page {
	struct vchip_head *head;
	struct vchip_pkg *pkg[VCHIP_MAX_PACKAGES];
	struct vchip_idt *idt;
	struct vchip_cpu *cpu[VCHIP_MAX_CPUS];
};

/* The one page of the one chip. Without a page file it is private memory. */
extern struct page page;

/**
 * page_map() - create, map and zero the page, then write the chip's identity
 * @path: file shared with the ivshmem device, or NULL for private memory
 * @profile: what the chip is
 * @cpus: number of CPUs
 * Return: 0 or -errno.
 */
int page_map(const char *path, const struct profile *profile, unsigned int cpus);

/* Registers are single words with one writer each: relaxed is enough, tearing is not. */
#define page_read(field)	__atomic_load_n(&(field), __ATOMIC_RELAXED)
#define page_write(field, v)	__atomic_store_n(&(field), (v), __ATOMIC_RELAXED)

#endif /* VCHIP_PAGE_MAP_H */
