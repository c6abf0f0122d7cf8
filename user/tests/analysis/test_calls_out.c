// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which instruction leaves a block's own code: of machine code that is decoded, each byte of it
 * known.
 */
#include <elf.h>
#include <stdlib.h>
#include "analysis/mixture/calls_out.h"
#include "tests/support/unit.h"

#define AT	0x1000

/* Return: how it leaves, at @at */
static int leaves(const char *code, size_t len, bool returns, uint64_t *at)
{
	struct kjoule_insn *insns;
	size_t n;
	int ret;

	assert_int_equal(kjoule_disassemble(code, len, EM_X86_64, AT, &insns, &n), 0);
	ret = calls_out_find(insns, n, returns, at);
	free(insns);
	return ret;
}

/* @code is a string with no end of its own. */
#define CHECK(code, returns, kind, where) do { \
	uint64_t at_; \
	assert_int_equal(leaves(code, sizeof(code) - 1, returns, &at_), kind); \
	assert_int_equal(at_, where); \
} while (0)

#define NOP	"\x90"
#define RET	"\xc3"
#define CALL	"\xe8\x00\x10\x00\x00"
#define CALL_PLT_TABLE	"\xff\x15\x00\x10\x00\x00"	/* call *0x1000(%rip), as -fno-plt has it */
#define SYSCALL	"\x0f\x05"
#define JE_BACK(n)	"\x74" n
#define UD2	"\x0f\x0b"

TEST(what_runs_its_own_code_alone_is_a_leaf)
{
	CHECK(NOP NOP RET, true, CALLS_OUT_NOT, 0);
	/* a loop, and two ways to return */
	CHECK(NOP "\x48\xff\xcf" JE_BACK("\xfb") RET RET, true, CALLS_OUT_NOT, 0);
	CHECK(NOP "\x74\x01" RET RET, true, CALLS_OUT_NOT, 0);
	/* a trap comes back from nowhere; what is behind a return is not come to */
	CHECK(NOP "\x74\x02" UD2 RET, true, CALLS_OUT_NOT, 0);
	CHECK(NOP RET CALL SYSCALL "\x06", true, CALLS_OUT_NOT, 0);
	assert_int_equal(calls_out_find(NULL, 0, true, &(uint64_t){ 1 }), CALLS_OUT_NOT);
}

TEST(other_code_is_found)
{
	CHECK(NOP CALL RET, true, CALLS_OUT_CALL, AT + 1);
	CHECK(NOP CALL_PLT_TABLE RET, true, CALLS_OUT_CALL, AT + 1);
	CHECK(NOP "\xff\xd0" RET, true, CALLS_OUT_CALL, AT + 1);		/* call *%rax */
	CHECK(NOP SYSCALL RET, true, CALLS_OUT_SYSTEM, AT + 1);
	CHECK(NOP "\xcd\x80" RET, true, CALLS_OUT_SYSTEM, AT + 1);		/* int $0x80 */
	CHECK(NOP "\xe9\x00\x10\x00\x00", true, CALLS_OUT_JUMP, AT + 1);	/* jmp out of it */
	CHECK(NOP "\x0f\x84\x00\x10\x00\x00" RET, true, CALLS_OUT_JUMP, AT + 1);
	CHECK(NOP "\x74\x80" RET, true, CALLS_OUT_JUMP, AT + 1);	/* before it begins */
	CHECK(NOP "\xff\xe0", true, CALLS_OUT_INDIRECT, AT + 1);		/* jmp *%rax */
	CHECK(NOP NOP, true, CALLS_OUT_JUMP, AT + 1);			/* into the next function */
	CHECK(NOP "\x06" RET, true, CALLS_OUT_UNREADABLE, AT + 1);
	/* into the middle of dec %rdi */
	CHECK("\x74\x01" "\x48\xff\xcf" RET, true, CALLS_OUT_UNREADABLE, AT);
	/* the first in the code, however it is come to: past a jump over it there is another */
	CHECK("\x74\x07" CALL "\xeb\x02" SYSCALL RET, true, CALLS_OUT_CALL, AT + 2);
	CHECK("\x74\x07" SYSCALL NOP "\xeb\x02" NOP NOP CALL RET, true, CALLS_OUT_SYSTEM, AT + 2);
}

TEST(a_block_ends_behind_its_last_instruction)
{
	CHECK(NOP NOP, false, CALLS_OUT_NOT, 0);
	CHECK(NOP "\x74\x01" NOP, false, CALLS_OUT_NOT, 0);		/* to the very end */
	CHECK(NOP "\x74\x02" NOP, false, CALLS_OUT_JUMP, AT + 1);		/* past it */
	CHECK(NOP "\x74\x01" RET, false, CALLS_OUT_RETURN, AT + 3);
	CHECK(NOP CALL, false, CALLS_OUT_CALL, AT + 1);
}
