// SPDX-License-Identifier: GPL-2.0-only
/*
 * where: host
 *
 * The chip charges each instruction to the right class and knows how it can fault,
 * how it ends a block, and where a block needs callbacks.
 */
#include <string.h>

#include "../../selftests/ktap.h"
#include "block.h"
#include "classify.h"

struct sample {
	const char *text;
	uint8_t size;
	uint8_t bytes[15];
	uint8_t class;
	uint8_t raise;
	uint8_t traits;
};

#define MEM	RAISE_MEM
#define SYS	(RAISE_SYS | RAISE_FP)

static const struct sample samples[] = {
	{ "add %rax,%rbx", 3, { 0x48, 0x01, 0xc3 }, CLASS_INT, 0, 0 },
	{ "lea 8(%rax),%rbx", 4, { 0x48, 0x8d, 0x58, 0x08 }, CLASS_INT, 0, 0 },
	{ "imul %rax,%rbx", 4, { 0x48, 0x0f, 0xaf, 0xd8 }, CLASS_MUL, 0, 0 },
	{ "div %rcx", 3, { 0x48, 0xf7, 0xf1 }, CLASS_DIV, RAISE_DIV, 0 },
	{ "mov (%rax),%rbx", 3, { 0x48, 0x8b, 0x18 }, CLASS_LOAD, MEM, INSN_READS },
	{ "mov %rbx,(%rax)", 3, { 0x48, 0x89, 0x18 }, CLASS_STORE, MEM, INSN_WRITES },
	{ "movq $1,(%rax)", 7, { 0x48, 0xc7, 0x00, 1, 0, 0, 0 }, CLASS_STORE, MEM, INSN_WRITES },
	{ "add %rbx,(%rax)", 3, { 0x48, 0x01, 0x18 }, CLASS_STORE, MEM, INSN_WRITES },
	{ "add (%rax),%rbx", 3, { 0x48, 0x03, 0x18 }, CLASS_LOAD, MEM, INSN_READS },
	{ "cmp %rbx,(%rax)", 3, { 0x48, 0x39, 0x18 }, CLASS_LOAD, MEM, INSN_READS },
	{ "testb $1,(%rax)", 3, { 0xf6, 0x00, 0x01 }, CLASS_LOAD, MEM, INSN_READS },
	{ "cmpl $1,(%rax)", 3, { 0x83, 0x38, 0x01 }, CLASS_LOAD, MEM, INSN_READS },
	{ "setz (%rax)", 3, { 0x0f, 0x94, 0x00 }, CLASS_STORE, MEM, INSN_WRITES },
	{ "incl (%rax)", 2, { 0xff, 0x00 }, CLASS_STORE, MEM, INSN_WRITES },
	{ "push %rax", 1, { 0x50 }, CLASS_STORE, MEM, INSN_WRITES },
	{ "pop %rax", 1, { 0x58 }, CLASS_LOAD, MEM, INSN_READS },
	{ "leave", 1, { 0xc9 }, CLASS_LOAD, MEM, INSN_READS },
	{ "jmp", 2, { 0xeb, 0x00 }, CLASS_BRANCH, 0, 0 },
	{ "jz", 2, { 0x74, 0x00 }, CLASS_BRANCH, 0, 0 },
	{ "call", 5, { 0xe8, 0, 0, 0, 0 }, CLASS_BRANCH, MEM, INSN_WRITES },
	{ "call *(%rax)", 2, { 0xff, 0x10 }, CLASS_BRANCH, MEM, INSN_WRITES },
	{ "jmp *(%rax)", 2, { 0xff, 0x20 }, CLASS_BRANCH, MEM, INSN_READS },
	{ "jmp *%rax", 2, { 0xff, 0xe0 }, CLASS_BRANCH, 0, 0 },
	{ "ret", 1, { 0xc3 }, CLASS_BRANCH, MEM, INSN_READS },
	{ "iretq", 2, { 0x48, 0xcf }, CLASS_SLOW, 0, INSN_IRET },
	{ "sysretq", 3, { 0x48, 0x0f, 0x07 }, CLASS_SLOW, 0, INSN_IRET },
	{ "syscall", 2, { 0x0f, 0x05 }, CLASS_SLOW, 0, 0 },
	{ "int3", 1, { 0xcc }, CLASS_SLOW, 0, 0 },
	{ "addsd %xmm1,%xmm0", 4, { 0xf2, 0x0f, 0x58, 0xc1 }, CLASS_FP, 0, 0 },
	{ "movaps %xmm1,%xmm0", 3, { 0x0f, 0x28, 0xc1 }, CLASS_FP, 0, 0 },
	{ "paddd %xmm1,%xmm0", 4, { 0x66, 0x0f, 0xfe, 0xc1 }, CLASS_FP, 0, 0 },
	{ "movups (%rax),%xmm0", 3, { 0x0f, 0x10, 0x00 }, CLASS_LOAD, MEM, INSN_READS },
	{ "movsd (%rax),%xmm0", 4, { 0xf2, 0x0f, 0x10, 0x00 }, CLASS_LOAD, MEM, INSN_READS },
	{ "movups %xmm0,(%rax)", 3, { 0x0f, 0x11, 0x00 }, CLASS_STORE, MEM, INSN_WRITES },
	{ "mulps %xmm1,%xmm0", 3, { 0x0f, 0x59, 0xc1 }, CLASS_VECTOR, 0, 0 },
	{ "vaddps %ymm1,%ymm0,%ymm0", 4, { 0xc5, 0xfc, 0x58, 0xc1 }, CLASS_VECTOR, 0, 0 },
	{ "divsd %xmm1,%xmm0", 4, { 0xf2, 0x0f, 0x5e, 0xc1 }, CLASS_FPDIV, 0, 0 },
	{ "pcmpeqb %xmm1,%xmm0", 4, { 0x66, 0x0f, 0x74, 0xc1 }, CLASS_FP, 0, 0 },
	{ "lock add %rax,(%rbx)", 4, { 0xf0, 0x48, 0x01, 0x03 }, CLASS_ATOMIC, MEM, INSN_WRITES },
	{ "xchg %rax,(%rbx)", 3, { 0x48, 0x87, 0x03 }, CLASS_ATOMIC, MEM, INSN_WRITES },
	{ "lock cmpxchg16b (%rax)", 5, { 0xf0, 0x48, 0x0f, 0xc7, 0x08 }, CLASS_ATOMIC, MEM,
	  INSN_WRITES },
	{ "stosq", 2, { 0x48, 0xab }, CLASS_STRING, MEM, 0 },
	{ "movsl", 1, { 0xa5 }, CLASS_STRING, MEM, 0 },
	{ "rep movsb", 2, { 0xf3, 0xa4 }, CLASS_STRING, MEM, INSN_REP },
	{ "rep movsl", 2, { 0xf3, 0xa5 }, CLASS_STRING, MEM, INSN_REP },
	{ "rep stosq", 3, { 0xf3, 0x48, 0xab }, CLASS_STRING, MEM, INSN_REP },
	{ "repne scasb", 2, { 0xf2, 0xae }, CLASS_STRING, MEM, INSN_REP },
	{ "repe cmpsb", 2, { 0xf3, 0xa6 }, CLASS_STRING, MEM, INSN_REP },
	{ "nop", 1, { 0x90 }, CLASS_NOP, 0, 0 },
	{ "nopl 0(%rax,%rax)", 5, { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, CLASS_NOP, 0, 0 },
	{ "pause", 2, { 0xf3, 0x90 }, CLASS_OTHER, 0, INSN_PAUSE },
	{ "rdtsc", 2, { 0x0f, 0x31 }, CLASS_SLOW, RAISE_SYS | RAISE_FP, INSN_CLOCK },
	{ "prefetcht0 (%rax)", 3, { 0x0f, 0x18, 0x08 }, CLASS_NOP, 0, 0 },
	{ "endbr64", 4, { 0xf3, 0x0f, 0x1e, 0xfa }, CLASS_NOP, 0, 0 },
	{ "cli", 1, { 0xfa }, CLASS_OTHER, SYS, 0 },
	{ "popfq", 1, { 0x9d }, CLASS_OTHER, SYS | MEM, INSN_READS },
	{ "hlt", 1, { 0xf4 }, CLASS_OTHER, SYS, INSN_HLT },
	{ "cpuid", 2, { 0x0f, 0xa2 }, CLASS_SLOW, SYS, 0 },
	{ "wrmsr", 2, { 0x0f, 0x30 }, CLASS_IO, SYS, 0 },
	{ "mov %rax,%cr3", 3, { 0x0f, 0x22, 0xd8 }, CLASS_IO, SYS, 0 },
	{ "ud2", 2, { 0x0f, 0x0b }, CLASS_OTHER, SYS, 0 },
	{ "fldl (%rax)", 2, { 0xdd, 0x00 }, CLASS_FPDIV, RAISE_MEM | RAISE_FP, INSN_READS },
	{ "a byte that is no instruction", 1, { 0x06 }, CLASS_OTHER, SYS | MEM, 0 },
};

#define SAMPLES	(sizeof(samples) / sizeof(samples[0]))

static void check_sample(const struct sample *s)
{
	struct insn_kind kind = classify(s->bytes, s->size, 0x400000);
	bool same = kind.class == s->class && kind.raise == s->raise && kind.traits == s->traits;

	ktap_check(same, "%s is %s, raises %u, traits %u", s->text, class_name(s->class), s->raise,
		   s->traits);
	if (!same)
		printf("# got %s, raises %u, traits %u\n", class_name(kind.class), kind.raise,
		       kind.traits);
}

static void check_hooks(const char *what, const uint8_t *code, const uint8_t *sizes,
			unsigned int insns, const uint8_t *want)
{
	struct block_source source[16];
	uint8_t hooks[16];
	uint64_t vaddr = 0x400000;
	struct block *b;

	for (unsigned int i = 0; i < insns; i++) {
		source[i] = (struct block_source){ code, vaddr, sizes[i] };
		code += sizes[i];
		vaddr += sizes[i];
	}
	b = block_get(source, insns, hooks);
	if (!ktap_check(b && !memcmp(hooks, want, insns), "%s", what))
		for (unsigned int i = 0; i < insns; i++)
			printf("# instruction %u: wanted %u, got %u\n", i, want[i], hooks[i]);
	ktap_check(b == block_get(source, insns, hooks), "%s: translated again, the same record", what);
}

int main(void)
{
	static struct profile profile = { .pstates = 1, .vsq_q16 = { 65536 } };

	for (unsigned int i = 0; i < CLASSES; i++)
		profile.cycles[i] = 1;
	block_init(&profile, 1);
	ktap_plan(SAMPLES + 8 + 3);
	for (unsigned int i = 0; i < SAMPLES; i++)
		check_sample(&samples[i]);

	check_hooks("a second access is hooked, and the end of the last",
		    (const uint8_t[]){ 0x48, 0x8b, 0x18, 0x48, 0x89, 0x18, 0x48, 0x01, 0xc3, 0xeb,
				       0x00 },
		    (const uint8_t[]){ 3, 3, 3, 2 }, 4,
		    (const uint8_t[]){ 0, BLOCK_HOOK_BEFORE, BLOCK_HOOK_DONE, 0 });
	check_hooks("a block without accesses has no hooks",
		    (const uint8_t[]){ 0x48, 0x01, 0xc3, 0xeb, 0x00 }, (const uint8_t[]){ 3, 2 }, 2,
		    (const uint8_t[]){ 0, 0 });
	check_hooks("a call at the end is done after its write",
		    (const uint8_t[]){ 0x48, 0x01, 0xc3, 0xe8, 0, 0, 0, 0 },
		    (const uint8_t[]){ 3, 5 }, 2, (const uint8_t[]){ 0, BLOCK_HOOK_WRITE });
	check_hooks("a ret at the end after another access is hooked before and after",
		    (const uint8_t[]){ 0x58, 0xc3 }, (const uint8_t[]){ 1, 1 }, 2,
		    (const uint8_t[]){ 0, BLOCK_HOOK_BEFORE | BLOCK_HOOK_READ });

	ktap_check(raise_of_vector(14) & RAISE_MEM, "vector 14 is a fault of an access");
	ktap_check(!(raise_of_vector(14) & RAISE_DIV), "vector 14 is not a division's");
	ktap_check(!raise_of_vector(3) && !raise_of_vector(32), "breakpoints and interrupts are no faults");
	return ktap_end();
}
