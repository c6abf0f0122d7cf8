/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops of one instruction class each: 32 instructions of the class, then decrement
 * and branch. Their bodies are known to the instruction.
 */
#ifndef VCHIP_PROGRAMS_WORK_H
#define VCHIP_PROGRAMS_WORK_H

#include <stdint.h>

#define R4(x)	x x x x
#define R32(x)	R4(R4(x)) R4(R4(x))

static uint64_t work_memory[4096] __attribute__((aligned(4096)));

#define WORK(name, body)                                                                           \
	static __attribute__((noinline, unused)) void work_##name(uint64_t loops)                  \
	{                                                                                          \
		asm volatile("mov $7, %%ecx\n\tmov $3, %%r8d\n\tpxor %%xmm1, %%xmm1\n\t"           \
			     ".p2align 4\n1:\n\t" R32(body) "dec %0\n\tjnz 1b\n"                   \
			     : "+r"(loops)                                                         \
			     : "r"(work_memory)                                                    \
			     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "xmm0", "xmm1", "memory",  \
			       "cc");                                                              \
	}

WORK(int, "add %%r8, %%rcx\n\t")
WORK(mul, "imul %%r8, %%rcx\n\t")
WORK(div, "xor %%edx, %%edx\n\tmov $100, %%eax\n\tdiv %%r8\n\t")
WORK(load, "mov 64(%1), %%rcx\n\t")
WORK(store, "mov %%rcx, 64(%1)\n\t")
WORK(rmw, "add %%rcx, 64(%1)\n\t")
WORK(branch, "jmp 2f\n2:\n\t")
WORK(fp, "addsd %%xmm1, %%xmm0\n\t")
WORK(fpmul, "mulss %%xmm1, %%xmm0\n\t")
WORK(simdint, "paddd %%xmm1, %%xmm0\n\t")
WORK(fpload, "movups 64(%1), %%xmm0\n\t")
WORK(fpcvt, "cvtsi2sd %%rcx, %%xmm0\n\t")
WORK(vector, "mulps %%xmm1, %%xmm0\n\t")
WORK(vector256, "vaddps %%ymm1, %%ymm0, %%ymm0\n\t")
WORK(fma256, "vfmadd231ps %%ymm1, %%ymm0, %%ymm0\n\t")
WORK(fpdiv, "divsd %%xmm1, %%xmm0\n\t")
WORK(divps, "divps %%xmm1, %%xmm0\n\t")
WORK(sqrtpd, "sqrtpd %%xmm1, %%xmm0\n\t")
WORK(x87, "fldl 64(%1)\n\tfstpl 64(%1)\n\t")
WORK(atomic, "lock addq $1, 64(%1)\n\t")
WORK(xchg, "xchg %%rcx, 64(%1)\n\t")
WORK(string, "mov %1, %%rdi\n\tstosq\n\t")
WORK(movs, "mov %1, %%rdi\n\tmov %1, %%rsi\n\tmovsq\n\t")
WORK(rep, "mov %1, %%rdi\n\tmov $64, %%ecx\n\trep stosb\n\t")
WORK(repmovs, "mov %1, %%rdi\n\tmov %1, %%rsi\n\tmov $64, %%ecx\n\trep movsq\n\t")
WORK(nop, "nop\n\t")
WORK(pushpop, "push %%rcx\n\tpop %%rcx\n\t")
WORK(call, "call 3f\n\tjmp 4f\n3:\n\tret\n4:\n\t")
WORK(rdtsc, "rdtsc\n\t")
WORK(cpuid, "xor %%eax, %%eax\n\tpush %%rbx\n\tcpuid\n\tpop %%rbx\n\t")
WORK(shift, "shl $3, %%rcx\n\t")
WORK(shiftcl, "shl %%cl, %%r8\n\t")
WORK(adc, "adc %%r8, %%rcx\n\t")
WORK(lea, "lea 5(%%rcx,%%r8,4), %%rcx\n\t")
WORK(cmov, "cmp %%r8, %%rcx\n\tcmovz %%r8, %%rcx\n\t")
WORK(bsf, "bsf %%r8, %%rcx\n\t")
WORK(movzx, "movzbl %%cl, %%ecx\n\t")

/* A load from another page each time: 16 pages in turn. */
WORK(stride, "mov (%1,%%rcx), %%rax\n\tadd $4096, %%rcx\n\tand $0x7000, %%ecx\n\t")

struct work {
	const char *name;
	void (*run)(uint64_t loops);
};

#define WORK_ENTRY(name)	{ #name, work_##name }

static const struct work work_table[] __attribute__((unused)) = {
	WORK_ENTRY(int), WORK_ENTRY(shift), WORK_ENTRY(shiftcl), WORK_ENTRY(adc), WORK_ENTRY(lea),
	WORK_ENTRY(cmov), WORK_ENTRY(bsf), WORK_ENTRY(movzx), WORK_ENTRY(mul), WORK_ENTRY(div),
	WORK_ENTRY(load), WORK_ENTRY(stride), WORK_ENTRY(store), WORK_ENTRY(rmw),
	WORK_ENTRY(pushpop), WORK_ENTRY(branch), WORK_ENTRY(call), WORK_ENTRY(fp),
	WORK_ENTRY(fpmul), WORK_ENTRY(fpcvt), WORK_ENTRY(simdint), WORK_ENTRY(fpload),
	WORK_ENTRY(vector), WORK_ENTRY(vector256), WORK_ENTRY(fma256), WORK_ENTRY(fpdiv),
	WORK_ENTRY(divps), WORK_ENTRY(sqrtpd), WORK_ENTRY(x87), WORK_ENTRY(atomic),
	WORK_ENTRY(xchg), WORK_ENTRY(string), WORK_ENTRY(movs), WORK_ENTRY(rep),
	WORK_ENTRY(repmovs), WORK_ENTRY(nop), WORK_ENTRY(rdtsc), WORK_ENTRY(cpuid),
};

#define WORKS	(sizeof(work_table) / sizeof(work_table[0]))

#endif /* VCHIP_PROGRAMS_WORK_H */
