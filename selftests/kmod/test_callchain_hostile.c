// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What user space's memory and registers hold is copied as it is, and where frame and
 * stack pointers lie a chain or a copy ends: nothing that is not the program's own user memory
 * is reported, and nothing comes to harm. The same for 32-bit programs.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 120
 */
#include "caller_sample.h"

/*
 * The stack
 */

struct copy {
	unsigned int seen, good;
	uint64_t sp;
};

static void note_stack(struct walk *w, const struct kjoule_stack *s)
{
	struct copy *c = w->data;
	bool good = s->bytes == w->session->stack_bytes;
	unsigned int i;

	if (w->sample.rec.flags & KJOULE_SAMPLE_KERNEL)
		return;
	for (i = 0; i < 16; i++)
		good &= s->reg[i] == (i == 7 ? c->sp : 100 + i);
	good &= s->reg[16] == (uintptr_t)held && s->reg[16] == w->sample.ip;
	good &= !memcmp(s->data, (void *)(uintptr_t)c->sp, s->bytes);
	c->seen++;
	c->good += good;
}

static void hold_registers(const void *arg)
{
	registers(((const struct copy *)arg)->sp);
}

static void check_stack(void)
{
	struct copy c = { .sp = (uintptr_t)pages + 1000 };
	bool good = sample_child("stack", hold_registers, &c,
				 (struct nl_config){ .flags = STACK, .stack_bytes = 6000 },
				 NULL, note_stack, &c);

	if (!ktap_check(good && c.seen && c.good == c.seen,
			"a stack's copy has the registers by their numbers, and memory as it is"))
		ktap_diag("%u of %u", c.good, c.seen);
}

struct place {
	uint64_t bp, sp;
};

static void point(const void *arg)
{
	const struct place *p = arg;

	pointers(p->bp, p->sp);
}

static void check_hostile_stack(void)
{
	const struct {
		const char *what;
		uint64_t sp;
		unsigned int bytes;
	} cases[] = {
		{ "a stack's copy ends where memory ends", (uintptr_t)pages + 2 * PAGE - 1504,
		  1504 },
		{ "also at an odd byte", (uintptr_t)pages + 2 * PAGE - 1501, 1501 },
		{ "nothing of a stack that is not there", (uintptr_t)pages + 2 * PAGE + 8, 0 },
		{ "nothing of the first page", 8, 0 },
		{ "nothing of the kernel's memory", 0xffffffff81000000, 0 },
		{ "nothing of an address that cannot be", 0x8000000000000000, 0 },
		{ "nothing beyond the end of all addresses", -16ULL, 0 },
		{ "nothing beyond user space", 0x7ffffffff000, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct place p = { .sp = cases[i].sp };
		struct expect e = { .what = cases[i].what, .bytes = cases[i].bytes };

		expect(&e, point, &p, STACK, 0, 8192);
	}
}

/*
 * Frame pointers that lie
 */

static void put_frame(void *at, const void *next, uint64_t ip)
{
	uint64_t frame[2] = { (uintptr_t)next, ip };

	memcpy(at, frame, sizeof(frame));
}

static void check_hostile_frames(void)
{
	uint8_t *a = pages + 512, *b = pages + 1024, *last = pages + 2 * PAGE - 16;
	uint64_t sp = (uintptr_t)pages + 256;
	struct {
		const char *what;
		uint64_t bp;
		const void *next;	/* of the frame at b */
		uint64_t ip;		/* where that one returns */
		unsigned int n;		/* frames reported: 0x1001, 0x1002 */
		bool whole;
	} cases[] = {
		{ "two frames and an end", (uintptr_t)a, NULL, 0x1002, 2, true },
		{ "a frame pointer into the kernel", 0xffffffff81000000, NULL, 0, 0, false },
		{ "a frame pointer that is no address", 0x8000000000000000, NULL, 0, 0, false },
		{ "a frame pointer to the last address", -8ULL, NULL, 0, 0, false },
		{ "a frame pointer to what is not mapped", (uintptr_t)pages + 3 * PAGE, NULL, 0, 0,
		  false },
		{ "a frame pointer below the stack", (uintptr_t)pages + 128, NULL, 0, 0, false },
		{ "a frame pointer that is not aligned", (uintptr_t)a + 4, NULL, 0, 0, false },
		{ "a frame half behind the end of memory", (uintptr_t)last + 8, NULL, 0, 0, false },
		{ "a frame that is its own caller", (uintptr_t)a, b, 0x1002, 2, false },
		{ "frames in a circle", (uintptr_t)a, a, 0x1002, 2, false },
		{ "a next frame in the kernel", (uintptr_t)a, (void *)0xffff888000000000, 0x1002, 2,
		  false },
		{ "a next frame that is not mapped", (uintptr_t)a, pages + 3 * PAGE, 0x1002, 2,
		  false },
		{ "a return into the kernel", (uintptr_t)a, NULL, 0xffffffff81000000, 1, false },
		{ "a return to nowhere", (uintptr_t)a, NULL, 0, 1, false },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct place p = { cases[i].bp, sp };
		struct expect e = { .what = cases[i].what, .ip = { 0x1001, 0x1002 },
				    .n = cases[i].n,
				    .flags = cases[i].whole ? 0 : KJOULE_CHAIN_USER_CUT };

		put_frame(a, b, 0x1001);
		put_frame(b, cases[i].next, cases[i].ip);
		expect(&e, point, &p, CHAINS, 0, 0);
	}
}

/* A ladder of frames through all of memory there is, deeper than can be asked for. */
static void check_deep(void)
{
	struct expect e = { "a chain without end ends at the depth that was asked for", .n = 12,
			    .flags = KJOULE_CHAIN_USER_CUT };
	struct place p = { (uintptr_t)pages, (uintptr_t)pages };
	unsigned long at;
	unsigned int i;

	for (at = 0; at + 32 <= 2 * PAGE; at += 16)
		put_frame(pages + at, pages + at + 16, 0x1001);
	put_frame(pages + at, NULL, 0x1001);
	for (i = 0; i < e.n; i++)
		e.ip[i] = 0x1001;
	expect(&e, point, &p, CHAINS, 12, 0);
}

static void run_narrow(const void *arg)
{
	const struct place *p = arg;

	narrow(low + 256, p->bp, p->sp);
}

static void check_narrow(void)
{
	uint32_t *frame = (uint32_t *)(low + 1024);
	struct place p = { (uintptr_t)frame, (uintptr_t)low + 512 };
	struct expect e = { "frames of a 32-bit program", .ip = { 0x1001, 0x1002 }, .n = 2,
			    .bytes = 8 };
	struct expect odd = { "one whose frame pointer leads out of its memory", .ip = { 0x1001 },
			      .n = 1, .flags = KJOULE_CHAIN_USER_CUT };

	const uint16_t user32_cs = 0x23;
	uint32_t code = (uintptr_t)low;

	memcpy(low, "\xeb\xfe", 2);	/* a loop of one instruction in either mode */
	memcpy(low + 256, &code, 4);
	memcpy(low + 260, &user32_cs, 2);
	frame[0] = (uint32_t)(uintptr_t)(frame + 8);
	frame[1] = 0x1001;
	frame[8] = 0;
	frame[9] = 0x1002;
	expect(&e, run_narrow, &p, CHAINS | STACK, 0, 8);
	frame[0] = 0xfffffffc;
	expect(&odd, run_narrow, &p, CHAINS, 0, 0);
}

int main(void)
{
	caller_begin();
	check_stack();
	check_hostile_stack();
	check_hostile_frames();
	check_deep();
	check_narrow();
	return caller_end();
}
