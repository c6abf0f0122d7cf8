// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Basic blocks and loops: of simulated control flow, compared with brute force, and of decoded
 * machine code.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/flow/flow.h"
#include "tests/support/unit.h"

#define MOST	24

/* A function of blocks of one instruction of a byte each, at 0x1000 and on. */
static struct kjoule_insn at(unsigned int i, enum kjoule_insn_kind kind, unsigned int target)
{
	return (struct kjoule_insn){ .address = 0x1000 + i, .size = 1, .kind = kind,
				     .target = 0x1000 + target };
}

TEST(straight_code_is_one_block)
{
	struct kjoule_insn insns[] = { at(0, KJOULE_INSN_PLAIN, 0), at(1, KJOULE_INSN_PLAIN, 0),
				       at(2, KJOULE_INSN_END, 0) };
	struct flow f;

	assert_int_equal(flow_new(insns, 3, &f), 0);
	assert_int_equal(f.n_blocks, 1);
	assert_int_equal(f.blocks[0].start, 0x1000);
	assert_int_equal(f.blocks[0].end, 0x1003);
	assert_int_equal(f.n_loops, 0);
	assert_int_equal(flow_block_at(&f, 0x1002), 0);
	assert_int_equal(flow_block_at(&f, 0x1003), FLOW_NONE);
	assert_int_equal(flow_block_at(&f, 0xfff), FLOW_NONE);
	flow_free(&f);
	assert_int_equal(flow_new(insns, 0, &f), 0);
	assert_int_equal(f.n_blocks, 0);
	flow_free(&f);
}

TEST(loops_are_nested)
{
	/* 0; 1: outer; 2: inner, to itself; 3 back to 1; 4: the end */
	struct kjoule_insn insns[] = { at(0, KJOULE_INSN_PLAIN, 0), at(1, KJOULE_INSN_PLAIN, 0),
				       at(2, KJOULE_INSN_BRANCH, 2), at(3, KJOULE_INSN_BRANCH, 1),
				       at(4, KJOULE_INSN_END, 0) };
	struct flow f;

	assert_int_equal(flow_new(insns, 5, &f), 0);
	assert_int_equal(f.n_blocks, 5);
	assert_int_equal(f.n_loops, 2);
	assert_int_equal(f.loops[0].start, 0x1001);
	assert_int_equal(f.loops[0].end, 0x1004);
	assert_int_equal(f.loops[0].header, 1);
	assert_int_equal(f.loops[0].parent, FLOW_NONE);
	assert_int_equal(f.loops[0].depth, 1);
	assert_int_equal(f.loops[0].blocks, 3);
	assert_int_equal(f.loops[1].start, 0x1002);
	assert_int_equal(f.loops[1].end, 0x1003);
	assert_int_equal(f.loops[1].parent, 0);
	assert_int_equal(f.loops[1].depth, 2);
	assert_int_equal(f.blocks[0].loop, FLOW_NONE);
	assert_int_equal(f.blocks[1].loop, 0);
	assert_int_equal(f.blocks[2].loop, 1);
	assert_int_equal(f.blocks[3].loop, 0);
	assert_int_equal(f.blocks[4].loop, FLOW_NONE);
	flow_free(&f);
}

/* An interpreter: 0 enters; 1 jumps by table; 2, 3, 4 handle and go back; 5 returns. */
TEST(a_jump_by_table_closes_a_loop)
{
	struct kjoule_insn insns[] = { at(0, KJOULE_INSN_PLAIN, 0), at(1, KJOULE_INSN_INDIRECT, 0),
				       at(2, KJOULE_INSN_JUMP, 1), at(3, KJOULE_INSN_JUMP, 1),
				       at(4, KJOULE_INSN_JUMP, 1), at(5, KJOULE_INSN_END, 0) };
	struct flow f;

	assert_int_equal(flow_new(insns, 6, &f), 0);
	assert_int_equal(f.n_loops, 1);
	assert_int_equal(f.loops[0].header, 1);
	assert_int_equal(f.loops[0].blocks, 4);
	assert_int_equal(f.blocks[5].loop, FLOW_NONE);
	flow_free(&f);
	/* threaded: each handler jumps by table itself */
	for (unsigned int i = 2; i < 5; i++)
		insns[i].kind = KJOULE_INSN_INDIRECT;
	assert_int_equal(flow_new(insns, 6, &f), 0);
	assert_int_equal(f.n_loops, 1);
	assert_int_equal(f.loops[0].blocks, 3);
	assert_int_equal(f.loops[0].header, flow_block_at(&f, 0x1002));
	assert_int_equal(f.loops[0].start, 0x1002);
	assert_int_equal(f.loops[0].end, 0x1005);
	flow_free(&f);
}

TEST(what_has_two_entries_is_no_loop)
{
	/* 0 goes to 2 or on to 1; 1 and 2 go round */
	struct kjoule_insn insns[] = { at(0, KJOULE_INSN_BRANCH, 2), at(1, KJOULE_INSN_PLAIN, 0),
				       at(2, KJOULE_INSN_BRANCH, 1), at(3, KJOULE_INSN_END, 0) };
	struct flow f;

	assert_int_equal(flow_new(insns, 4, &f), 0);
	assert_int_equal(f.n_loops, 0);
	flow_free(&f);
}

/* The same answers in another way: who can be reached without whom. */
struct brute {
	unsigned int n;
	bool edge[MOST][MOST];
};

static void reach(const struct brute *g, unsigned int from, unsigned int without, bool *reached)
{
	if (from == without || reached[from])
		return;
	reached[from] = true;
	for (unsigned int to = 0; to < g->n; to++)
		if (g->edge[from][to])
			reach(g, to, without, reached);
}

static bool dominates(const struct brute *g, unsigned int a, unsigned int b)
{
	bool reached[MOST] = { false };

	reach(g, 0, a, reached);
	return a == b || !reached[b];
}

/* Is @x in the natural loop of @header? It gets to a latch without passing the header. */
static bool in_loop(const struct brute *g, unsigned int header, unsigned int x)
{
	bool reached[MOST] = { false };

	if (x != header && !dominates(g, header, x))
		return false;
	if (x != header)
		reach(g, x, header, reached);
	for (unsigned int latch = 0; latch < g->n; latch++)
		if (g->edge[latch][header] && dominates(g, header, latch) &&
		    (x == header || reached[latch]))
			return true;
	return false;
}

static void check(const struct brute *g, const struct flow *f)
{
	unsigned int loops = 0;

	for (unsigned int h = 0; h < g->n; h++) {
		uint32_t loop = FLOW_NONE, members = 0;

		for (uint32_t l = 0; l < f->n_loops; l++)
			if (f->loops[l].header == h)
				loop = l;
		assert_int_equal(in_loop(g, h, h), loop != FLOW_NONE);
		if (loop == FLOW_NONE)
			continue;
		loops++;
		for (unsigned int x = 0; x < g->n; x++) {
			bool inside = false;

			for (uint32_t l = f->blocks[x].loop; l != FLOW_NONE; l = f->loops[l].parent)
				inside |= l == loop;
			assert_int_equal(inside, in_loop(g, h, x));
			members += inside;
		}
		assert_int_equal(members, f->loops[loop].blocks);
	}
	assert_int_equal(loops, f->n_loops);
}

/* Any control flow at all, as long as all of it is reached from the entry. */
TEST(loops_are_those_that_brute_force_finds)
{
	unsigned int judged = 0, with_loops = 0, r = 12345;

	while (judged < 4000) {
		struct kjoule_insn insns[MOST];
		bool reached[MOST] = { false }, all = true;
		struct brute g = { .n = 2 + judged % (MOST - 2) };
		struct flow f;

		for (unsigned int i = 0; i < g.n; i++) {
			unsigned int kind, target;

			r = r * 1103515245 + 12345;
			kind = (r >> 16) % 8;
			r = r * 1103515245 + 12345;
			target = (r >> 16) % g.n;
			insns[i] = at(i, kind < 5 ? KJOULE_INSN_BRANCH : kind < 6 ?
				      KJOULE_INSN_PLAIN : kind < 7 ? KJOULE_INSN_JUMP :
				      KJOULE_INSN_END, target);
			g.edge[i][target] = kind < 5 || kind == 6;
			if (i + 1 < g.n)
				g.edge[i][i + 1] |= kind < 6;
		}
		reach(&g, 0, MOST, reached);
		for (unsigned int i = 0; i < g.n; i++)
			all &= reached[i];
		if (!all)
			continue;
		assert_int_equal(flow_new(insns, g.n, &f), 0);
		if (f.n_blocks == g.n) {	/* none of them joined */
			check(&g, &f);
			judged++;
			with_loops += f.n_loops > 1;
		}
		flow_free(&f);
	}
	assert_true(with_loops > 1000);
}

TEST(deep_nests_are_no_trouble)
{
	size_t n = 400000;
	struct kjoule_insn *insns = calloc(n, sizeof(*insns));
	struct flow f;

	/*
	 * loops inside loops inside loops, 200,000 deep: block i goes on, its partner goes back to
	 * it
	 */
	for (size_t i = 0; i < n; i++)
		insns[i] = i < n / 2 ? at(i, KJOULE_INSN_BRANCH, i + 1) :
			   at(i, KJOULE_INSN_BRANCH, n - 1 - i);
	assert_int_equal(flow_new(insns, n, &f), 0);
	assert_int_equal(f.n_blocks, n);
	assert_int_equal(f.n_loops, n / 2);
	assert_int_equal(f.loops[n / 2 - 1].depth, n / 2);
	assert_int_equal(f.loops[0].blocks, n);
	flow_free(&f);
	free(insns);
}

/* for (i = 0; i < n; i++) sum += p[i]; as gcc makes it, and what else there is. */
static const uint8_t code[] = {
	0x31, 0xc0,			/*  0 xor eax, eax */
	0x31, 0xd2,			/*  2 xor edx, edx */
	0x39, 0xf2,			/*  4 cmp edx, esi */
	0x7d, 0x09,			/*  6 jge 0x11 */
	0x48, 0x03, 0x04, 0xd7,		/*  8 add rax, [rdi + rdx*8] */
	0x48, 0xff, 0xc2,		/*  c inc rdx */
	0xeb, 0xf3,			/*  f jmp 4 */
	0xe8, 0x00, 0x00, 0x00, 0x00,	/* 11 call */
	0xff, 0x24, 0xc5, 0, 0, 0, 0,	/* 16 jmp [rax*8] */
	0x06,				/* 1d no instruction */
	0xc3,				/* 1e ret */
	0x0f, 0x0b,			/* 1f ud2 */
};

TEST(machine_code_becomes_blocks)
{
	static const struct { uint8_t size, kind; uint64_t target; } want[] = {
		{ 2, KJOULE_INSN_PLAIN, 0 }, { 2, KJOULE_INSN_PLAIN, 0 },
		{ 2, KJOULE_INSN_PLAIN, 0 },
		{ 2, KJOULE_INSN_BRANCH, 0x411 }, { 4, KJOULE_INSN_PLAIN, 0 },
		{ 3, KJOULE_INSN_PLAIN, 0 },
		{ 2, KJOULE_INSN_JUMP, 0x404 }, { 5, KJOULE_INSN_PLAIN, 0 },
		{ 7, KJOULE_INSN_INDIRECT, 0 },
		{ 1, KJOULE_INSN_END, 0 }, { 1, KJOULE_INSN_END, 0 }, { 2, KJOULE_INSN_END, 0 },
	};
	char text[KJOULE_INSN_TEXT];
	struct kjoule_insn *insns;
	struct flow f;
	size_t n;

	assert_int_equal(kjoule_disassemble(code, sizeof(code), EM_X86_64, 0x400, &insns, &n), 0);
	assert_int_equal(n, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(insns[i].size, want[i].size);
		assert_int_equal(insns[i].kind, want[i].kind);
		assert_int_equal(insns[i].target, want[i].target);
	}
	assert_int_equal(flow_new(insns, n, &f), 0);
	assert_int_equal(f.n_blocks, 7);
	assert_int_equal(f.n_loops, 1);
	assert_int_equal(f.loops[0].start, 0x404);
	assert_int_equal(f.loops[0].end, 0x411);
	flow_free(&f);
	free(insns);
	assert_int_equal(kjoule_disassemble_text(code + 8, 4, EM_X86_64, 0x408, text), 4);
	assert_string_equal(text, "add rax, qword ptr [rdi + rdx*8]");
	assert_int_equal(kjoule_disassemble_text(code + 0x1d, 1, EM_X86_64, 0x41d, text), 0);
	assert_int_equal(kjoule_disassemble_text(code, 2, EM_S390, 0, text), -EOPNOTSUPP);
	assert_int_equal(kjoule_disassemble(code, sizeof(code), EM_S390, 0, &insns, &n),
			 -EOPNOTSUPP);
	assert_null(insns);
}
