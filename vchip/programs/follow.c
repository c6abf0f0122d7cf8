// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program in the guest sees of the chip: each change of the frequency after a request, and
 * times in which its CPU was stopped. Everything that happens is on standard output with the
 * time stamp counter, which is chip time: by it follow.py finds it in the oracle's file. Needs
 * root, and a guest booted with iomem=relaxed.
 */
#define _GNU_SOURCE

#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <x86intrin.h>

#include "registers.h"

/* From one request to the next a little longer, so that interrupts do not keep step with them. */
#define SETTLE_NS	300000
#define SETTLE_MORE_NS	370000
#define STAYS_NS	1000000
#define GIVE_UP_NS	4000000000ULL
#define MAX_CHANGES	64
#define MAX_GAPS	16384

/* Chip time, at the end of the block that asks. */
static uint64_t now_ns(void)
{
	return __rdtsc();
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

static int reach(volatile struct vchip_cpu *regs, uint32_t khz, uint64_t settle_ns)
{
	uint64_t give_up = now_ns() + GIVE_UP_NS;

	regs->req_khz = khz;
	while (regs->cur_khz != khz)
		if (now_ns() > give_up)
			return -1;
	for (give_up = now_ns() + settle_ns; now_ns() < give_up;)
		;
	return 0;
}

static uint64_t cycles_of(volatile struct vchip_cpu *regs)
{
	return regs->cycles_user + regs->cycles_kernel;
}

static void follow_one(uint32_t from, uint32_t to, uint64_t ns, uint64_t settle_ns)
{
	volatile struct vchip_cpu *regs = registers_cpu(0);
	struct {
		uint32_t khz;
		uint64_t looked_ns, seen_ns, register_ns;
	} change[MAX_CHANGES];
	unsigned int changes = 0;
	uint64_t begin, before, look, end, cycles, ref, old[3] = { 0 };
	uint32_t khz = from;

	if (reach(regs, from, settle_ns)) {
		printf("stuck %u %u\n", from, regs->cur_khz);
		return;
	}
	cycles = cycles_of(regs);
	begin = now_ns();
	regs->req_khz = to;
	/* an interrupt may last until after the end: there is a look behind it */
	for (before = look = begin; before - begin < ns && changes < MAX_CHANGES;
	     before = look, look = now_ns()) {
		uint64_t ran = cycles_of(regs) - cycles;

		if (regs->cur_khz == from && !changes) {
			old[0] = look;
			old[1] = ran;
			old[2] = now_ns();
		}
		if (regs->cur_khz == khz)
			continue;
		khz = regs->cur_khz;
		change[changes].khz = khz;
		change[changes].looked_ns = before;
		change[changes].seen_ns = now_ns();
		change[changes++].register_ns = regs->grant_latency_ns;
	}
	printf("ask %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", from, to,
	       begin, now_ns(), old[0], old[1], old[2]);
	for (unsigned int i = 0; i < changes; i++)
		printf("change %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", change[i].khz,
		       change[i].looked_ns, change[i].seen_ns, change[i].register_ns);
	cycles = cycles_of(regs);
	ref = regs->ref_ns;
	for (end = now_ns() + STAYS_NS; now_ns() < end;)
		;
	printf("stays %u %" PRIu64 " %" PRIu64 "\n", regs->cur_khz, cycles_of(regs) - cycles,
	       regs->ref_ns - ref);
}

/* Looks at the clock that are further apart than @least. */
static void look_for_gaps(uint64_t ns, uint64_t least)
{
	static struct {
		uint64_t begin_ns, end_ns;
	} gap[MAX_GAPS];
	uint64_t begin = now_ns(), look = begin, gaps = 0;

	while (look - begin < ns && gaps < MAX_GAPS) {
		uint64_t last = look;

		look = now_ns();
		if (look - last < least)
			continue;
		gap[gaps].begin_ns = last;
		gap[gaps++].end_ns = look;
	}
	printf("looked %" PRIu64 " %" PRIu64 "\n", begin, look);
	for (uint64_t i = 0; i < gaps; i++)
		printf("gap %" PRIu64 " %" PRIu64 "\n", gap[i].begin_ns, gap[i].end_ns);
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
			follow_one((uint32_t)number(argv[2]), (uint32_t)number(argv[3]),
				   number(argv[4]) * 1000,
				   SETTLE_NS + i * SETTLE_MORE_NS % 4000000);
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "gaps")) {
		registers_map();
		pin((unsigned int)number(argv[2]));
		look_for_gaps(number(argv[3]) * 1000000, number(argv[4]) * 1000);
		return 0;
	}
	fprintf(stderr, "usage: follow changes FROM TO US N | gaps CPU MS LEAST_US\n");
	return 2;
}
