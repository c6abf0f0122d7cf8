// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the recordings that the golden tests look at, of program.s: `recordings PROGRAM BUILD-ID`
 * writes NAME.data for each plan below into the current directory. Numbers come from fixed seeds,
 * so that all runs write the same. Called by selftests/user/test_golden.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include "lib/region/mark_ring.h"
#include "tests/support/synthetic.h"

#define INTERVAL_NS	1000000ull
#define T0_NS		1000000000ull	/* as make_meta() has it */
#define LOADED_AT	0x10000000ull	/* as write_recording() maps it */
#define UPDATE_TICKS	10		/* the counters move every 10 ms */

/* Offsets in the file of program.s. */
static const struct function {
	const char *name;
	uint64_t at[4];		/* where samples fall */
	unsigned int n_at;
	uint64_t callers[2];	/* where it returns to, innermost first */
	unsigned int n_callers;
	double package_w, core_w;
} functions[] = {
	{ "decode", { 0x1016, 0x101a, 0x101c, 0x101e }, 4, { 0x1005 }, 1, 3.0, 1.2 },
	{ "filter", { 0x1026, 0x102a }, 2, { 0x100a }, 1, 5.0, 2.9 },
	{ "store", { 0x102f, 0x1031 }, 2, { 0x100f }, 1, 4.0, 1.8 },
	/* called by filter this time */
	{ "decode", { 0x1016, 0x101a, 0x101c, 0x101e }, 4, { 0x1026, 0x100a }, 2, 3.0, 1.2 },
};

#define FUNCTIONS	(sizeof(functions) / sizeof(functions[0]))
#define KERNEL_W	2.0
#define HOLE_TICKS	100u

/*
 * @ticks:	of the recording
 * @decode:	ticks of a call of decode on the mean; the others have a mean of 120
 * @idle:	a second CPU that is idle, and the target is the system
 * @chains:	samples have call chains
 * @regions:	the program marks its regions
 * @lost:	HOLE_TICKS are missed, and later as many lost
 */
static const struct plan {
	const char *name;
	uint64_t seed;
	uint32_t ticks;
	unsigned int decode;
	bool idle, chains, regions, lost;
} plans[] = {
	{ "run", 1, 6000, 120, .idle = false },
	{ "again", 2, 6000, 120, .idle = false },
	{ "faster", 3, 5000, 60, .idle = false },
	{ "system", 4, 4000, 120, .idle = true },
	{ "callers", 5, 4000, 120, .chains = true },
	{ "regions", 6, 4000, 120, .regions = true },
	{ "lost", 7, 3000, 120, .lost = true },
	{ "short", 8, 4, 120, .idle = false },
};

static void mark_function(struct buffer *units, uint32_t tick, int32_t ended, uint32_t begun)
{
	uint64_t now = T0_NS + tick * INTERVAL_NS - INTERVAL_NS / 2;

	if (ended >= 0)
		put_region_mark(units, KJOULE_REGION_END, now, 1);
	put_region_mark(units, KJOULE_REGION_BEGIN, now + 1, 2 + begun % 3);
}

static void put_function_sample(struct buffer *b, const struct plan *p, const struct function *f,
				uint32_t tick, uint64_t *dice)
{
	uint64_t callers[2];

	put_sample(b, tick, LOADED_AT + f->at[rnd(dice) % f->n_at], 0, 2000000, 100);
	for (unsigned int i = 0; i < f->n_callers; i++)
		callers[i] = LOADED_AT + f->callers[i];
	if (p->chains)
		put_chain(b, 0, 0, f->n_callers, callers);
}

/*
 * The program calls its functions in turn, for some ticks each; every 40th tick or so is in the
 * kernel.
 */
static void make_stream(struct buffer *b, struct buffer *units, const struct plan *p)
{
	uint64_t dice = p->seed;
	double uj[2] = { 0, 0 };
	int32_t which = -1;
	uint32_t until = 0;

	put_task(b, 100, 100);
	for (uint32_t k = 0; k < p->ticks; k++) {
		const struct function *f;

		if (k >= until) {
			uint32_t next = (which + 1) % FUNCTIONS, mean = next % 3 ? 120 : p->decode;

			mark_function(units, k, which, next);
			which = next;
			until = k + mean / 2 + rnd(&dice) % mean;
		}
		f = &functions[which];
		if (p->lost && k == p->ticks / 3)
			put_gap(b, k, HOLE_TICKS);
		if (p->lost && k == p->ticks / 2)
			put_lost(b, k, HOLE_TICKS, HOLE_TICKS);
		if (p->lost && (k - p->ticks / 3 < HOLE_TICKS || k - p->ticks / 2 < HOLE_TICKS)) {
			uj[0] += 1000 * f->package_w;
			uj[1] += 1000 * f->core_w;
			continue;
		}
		if (k % UPDATE_TICKS == 0)
			put_energy(b, k, 3, (uint64_t[]){ uj[0], uj[1] });
		if (rnd(&dice) % 40 == 0) {
			put_sample(b, k, 0xffffffff81000000 + 16 * (rnd(&dice) % 64),
				   KJOULE_SAMPLE_KERNEL, 2000000, 100);
			uj[0] += 1000 * KERNEL_W;
			uj[1] += 400 * KERNEL_W;
			continue;
		}
		put_function_sample(b, p, f, k, &dice);
		uj[0] += 1000 * f->package_w * (0.95 + 0.1 * rnd_unit(&dice));
		uj[1] += 1000 * f->core_w * (0.95 + 0.1 * rnd_unit(&dice));
	}
}

static void make_idle_stream(struct buffer *b, const struct plan *p)
{
	put_task(b, 0, 0);
	for (uint32_t k = 0; k < p->ticks; k++)
		put_sample(b, k, 0xffffffff81200000, KJOULE_SAMPLE_IDLE | KJOULE_SAMPLE_KERNEL, 0,
			   100);
}

static void make_recording(const struct plan *p, const char *program, const char *build_id)
{
	struct buffer streams[2] = { { 0 } }, units = { 0 }, batches = { 0 };
	uint32_t n_cpus = p->idle ? 2 : 1;
	struct kjoule_meta meta;
	char path[64];

	make_meta(&meta, n_cpus, INTERVAL_NS,
		  p->idle ? KJOULE_TARGET_SYSTEM : KJOULE_TARGET_PROCESS);
	if (p->chains)
		meta.session.flags |= KJOULE_FLAG_USER_CHAIN;
	put_region_start(&units, T0_NS - INTERVAL_NS, 100, 100);
	put_region_define(&units, 1, 0, "frame");
	put_region_define(&units, 2, 1, "read");
	put_region_define(&units, 3, 1, "sharpen");
	put_region_define(&units, 4, 1, "write");
	put_region_mark(&units, KJOULE_REGION_BEGIN, T0_NS - INTERVAL_NS, 1);
	make_stream(&streams[0], &units, p);
	if (p->idle)
		make_idle_stream(&streams[1], p);
	if (p->regions) {
		put_region_batch(&batches, 0, 0, &units, 0);
		put_regions(&batches, NULL);
	}
	snprintf(path, sizeof(path), "%s.data", p->name);
	put_program(0, build_id);
	write_recording(path, &meta, streams, n_cpus, program, p->ticks);
	kjoule_session_info_clear(&meta.session);
	free(units.data);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: recordings PROGRAM BUILD-ID\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		make_recording(&plans[i], argv[1], argv[2]);
	return 0;
}
