# SPDX-License-Identifier: GPL-2.0-or-later
# The program that the recordings of the golden tests are of; see recordings.c. Assembled where a
# test runs, and never run itself: no compiler decides what its code is.
	.text
	.globl	main, decode, filter, store
	.type	main, @function
main:
	call	decode
	call	filter
	call	store
	jmp	main
	.size	main, .-main

	.type	decode, @function
decode:
	mov	$64, %ecx
.Lbyte:
	movzbl	(%rsi,%rcx), %eax
	add	%eax, %edx
	dec	%ecx
	jnz	.Lbyte
	ret
	.size	decode, .-decode

	.type	filter, @function
filter:
	call	decode
	mulsd	%xmm1, %xmm0
	addsd	%xmm2, %xmm0
	ret
	.size	filter, .-filter

	.type	store, @function
store:
	mov	%edx, (%rdi)
	add	$4, %rdi
	ret
	.size	store, .-store
