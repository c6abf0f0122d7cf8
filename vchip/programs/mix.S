/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code whose retired instructions are known one by one, for the test that holds the
 * oracle to them. Labels mark the instructions that are looked up.
 */
	.text

/* mix_classes(loops): one instruction of many a class in each turn. rdi: loops */
	.globl mix_classes
	.type mix_classes, @function
	.p2align 6
mix_classes:
	lea	-64(%rsp), %rsi
	mov	$7, %r8d
1:	add	%r8, %rcx
	imul	%r8, %rcx
	mov	(%rsi), %rax
	mov	%rax, 8(%rsi)
	add	$3, %rcx
	xor	%edx, %edx
	mov	$100, %eax
	div	%r8
	addsd	%xmm1, %xmm0
	nop
	lock addq $1, 16(%rsi)
	dec	%rdi
	jnz	1b
	ret
	.size mix_classes, . - mix_classes

/*
 * mix_fault(page, pages): the second access of a block faults, on a fresh page each
 * time; what stands before it in the block retires once, and so does what follows.
 */
	.globl mix_fault, mix_fault_before, mix_fault_store, mix_fault_after
	.type mix_fault, @function
	.p2align 6
mix_fault:
	mov	%rsp, %r8
	mov	$4096, %r9d
mix_fault_before:
	mov	-8(%r8), %rax
	add	$1, %rcx
	add	$1, %rcx
mix_fault_store:
	mov	%rax, 128(%rdi)
mix_fault_after:
	add	$1, %rcx
	add	%r9, %rdi
	dec	%rsi
	jnz	mix_fault_before
	ret
	.size mix_fault, . - mix_fault

/* mix_fetch(target): a complete block whose successor faults at its first byte. */
	.globl mix_fetch, mix_fetch_call
	.type mix_fetch, @function
	.p2align 6
mix_fetch:
	push	%rbp
	mov	%rsp, %rbp
	mov	-8(%rsp), %rax
	add	$1, %rcx
mix_fetch_call:
	call	*%rdi
	pop	%rbp
	ret
	.size mix_fetch, . - mix_fetch

/* mix_rep(buffer, length, turns): one rep stosb of that length each turn. */
	.globl mix_rep, mix_rep_stos
	.type mix_rep, @function
	.p2align 6
mix_rep:
	mov	%rsi, %r8
	mov	%rdi, %r9
	xor	%eax, %eax
1:	mov	%r9, %rdi
	mov	%r8, %rcx
mix_rep_stos:
	rep stosb
	dec	%rdx
	jnz	1b
	ret
	.size mix_rep, . - mix_rep

/* mix_scan(buffer, length, turns): one repne scasb that finds its byte at the end. */
	.globl mix_scan, mix_scan_scas
	.type mix_scan, @function
	.p2align 6
mix_scan:
	mov	%rsi, %r8
	mov	%rdi, %r9
	mov	$1, %eax
1:	mov	%r9, %rdi
	mov	%r8, %rcx
mix_scan_scas:
	repne scasb
	dec	%rdx
	jnz	1b
	ret
	.size mix_scan, . - mix_scan

/* A block of 100 next to one of 3 instructions, in turn. mix_unequal(loops) */
	.globl mix_unequal, mix_unequal_long, mix_unequal_short, mix_unequal_end
	.type mix_unequal, @function
	.p2align 6
mix_unequal:
	xor	%eax, %eax
	.p2align 6
mix_unequal_long:
	.rept 99
	add	$1, %rax
	.endr
	jmp	mix_unequal_short
	.p2align 6
mix_unequal_short:
	add	$1, %rax
	dec	%rdi
	jnz	mix_unequal_long
mix_unequal_end:
	ret
	.size mix_unequal, . - mix_unequal

/*
 * A loop of exactly 1,000 cycles in the plain profile (a branch has 3), in ten equal blocks, on
 * one page: at an instruction that crosses a page the chip's precise address has 2 % of the
 * samples. mix_period(loops)
 */
	.globl mix_period, mix_period_start
	.type mix_period, @function
	.p2align 12
mix_period:
	xor	%eax, %eax
	.p2align 6
mix_period_start:
	.rept 9
	.rept 97
	add	$1, %eax
	.endr
	jmp	2f
2:
	.endr
	.rept 96
	add	$1, %eax
	.endr
	dec	%rdi
	jnz	mix_period_start
	ret
	.size mix_period, . - mix_period

	.section .note.GNU-stack, "", @progbits
