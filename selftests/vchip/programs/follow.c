// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program in the guest sees of a chip that does not do as it is told: each change of
 * the frequency after a request, and times in which its CPU stood still. Everything that
 * happens is on standard output with chip time, by which follow.py finds it in the
 * oracle's file. Needs root, and a guest booted with iomem=relaxed.
 */
#define _GNU_SOURCE

#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

#include "registers.h"

#define SETTLE_NS	300000
#define GIVE_UP_NS	4000000000ULL
#define MAX_CHANGES	64
#define MAX_GAPS	16384

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("follow: sched_setaffinity");
		exit(1);
	}
}

/* The register moves at quanta: what it shows is over; the next value is not long ago. */
static uint64_t chip_ns(void)
{
	volatile struct vchip_pkg *pkg = registers_pkg();
	uint64_t old = pkg->chip_ns, ns;

	do
		ns = pkg->chip_ns;
	while (ns == old);
	return ns;
}

static int reach(volatile struct vchip_cpu *regs, uint32_t khz)
{
	uint64_t give_up = now_ns() + GIVE_UP_NS;

	regs->req_khz = khz;
	while (regs->cur_khz != khz)
		if (now_ns() > give_up)
			return -1;
	for (give_up = now_ns() + SETTLE_NS; now_ns() < give_up;)
		;
	return 0;
}

static void follow_one(uint32_t from, uint32_t to, uint64_t ns)
{
	volatile struct vchip_cpu *regs = registers_cpu(0);
	struct {
		uint32_t khz;
		uint64_t seen_ns, register_ns;
	} change[MAX_CHANGES];
	unsigned int changes = 0;
	uint64_t begin, asked, cycles, ref;
	uint32_t khz = from;

	if (reach(regs, from)) {
		printf("stuck %u %u\n", from, regs->cur_khz);
		return;
	}
	begin = chip_ns();
	asked = now_ns();
	regs->req_khz = to;
	while (now_ns() - asked < ns && changes < MAX_CHANGES) {
		if (regs->cur_khz == khz)
			continue;
		khz = regs->cur_khz;
		change[changes].khz = khz;
		change[changes].seen_ns = now_ns() - asked;
		change[changes++].register_ns = regs->grant_latency_ns;
	}
	printf("ask %u %u %" PRIu64 " %" PRIu64 "\n", from, to, begin, chip_ns());
	for (unsigned int i = 0; i < changes; i++)
		printf("change %u %" PRIu64 " %" PRIu64 "\n", change[i].khz, change[i].seen_ns,
		       change[i].register_ns);
	cycles = regs->cycles_user + regs->cycles_kernel;
	ref = regs->ref_ns;
	for (begin = now_ns(); now_ns() - begin < 5000000;)
		;
	printf("stays %u %" PRIu64 " %" PRIu64 "\n", regs->cur_khz,
	       regs->cycles_user + regs->cycles_kernel - cycles, regs->ref_ns - ref);
}

/* Looks at the clock that are further apart than @least. */
static void look_for_gaps(uint64_t ns, uint64_t least)
{
	static struct {
		uint64_t end_ns, ns;
	} gap[MAX_GAPS];
	uint64_t begin = chip_ns(), start = now_ns(), look = start, gaps = 0;

	while (look - start < ns && gaps < MAX_GAPS) {
		uint64_t last = look;

		look = now_ns();
		if (look - last < least)
			continue;
		gap[gaps].ns = look - last;
		gap[gaps++].end_ns = chip_ns();
		/* to write that down is no gap */
		look = now_ns();
	}
	printf("looked %" PRIu64 " %" PRIu64 "\n", begin, chip_ns());
	for (uint64_t i = 0; i < gaps; i++)
		printf("gap %" PRIu64 " %" PRIu64 "\n", gap[i].end_ns, gap[i].ns);
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "changes")) {
		registers_map();
		pin(0);
		for (uint64_t i = 0; i < number(argv[5]); i++)
			follow_one((uint32_t)number(argv[2]), (uint32_t)number(argv[3]), number(argv[4]) * 1000000);
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "gaps")) {
		registers_map();
		pin((unsigned int)number(argv[2]));
		look_for_gaps(number(argv[3]) * 1000000, number(argv[4]) * 1000);
		return 0;
	}
	fprintf(stderr, "usage: follow changes FROM TO MS N | gaps CPU MS LEAST_US\n");
	return 2;
}
