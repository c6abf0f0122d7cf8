// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code for the tests of call chains; see caller.h. Its frames, registers and addresses are
 * what is written here, whatever a compiler would make of it.
 */
#include "caller.h"

/*
 * Code whose addresses are known. recurse(n, fd, buffer, size): n calls of itself with frame
 * pointers, then a loop of one instruction, or of read() from fd.
 */
asm(".text\n"
    ".globl enter, entered, called, spin, left, pointers, pointed, narrow, registers, held\n"
    "enter:		xor %ebp, %ebp\n"
    "		call recurse\n"
    "entered:	hlt\n"
    "recurse:	push %rbp\n"
    "		mov %rsp, %rbp\n"
    "		test %edi, %edi\n"
    "		jz 1f\n"
    "		dec %edi\n"
    "		call recurse\n"
    "called:	pop %rbp\n"
    "		ret\n"
    "1:		mov %esi, %edi\n"
    "		mov %rdx, %rsi\n"
    "		mov %rcx, %rdx\n"
    "		test %edi, %edi\n"
    "		jnz 2f\n"
    "spin:	jmp spin\n"
    "2:		xor %eax, %eax\n"
    "		syscall\n"
    "left:	jmp 2b\n"
    /* pointers(bp, sp): a loop with these */
    "pointers:	mov %rdi, %rbp\n"
    "		mov %rsi, %rsp\n"
    "pointed:	jmp pointed\n"
    /* narrow(to, bp, sp): the same in 32-bit code, to which a far pointer leads */
    "narrow:	mov %rsi, %rbp\n"
    "		mov %rdx, %rsp\n"
    "		ljmp *(%rdi)\n"
    /* registers(sp): each holds its DWARF number */
    "registers:	mov %rdi, %rsp\n"
    "		mov $100, %eax\n"
    "		mov $101, %edx\n"
    "		mov $102, %ecx\n"
    "		mov $103, %ebx\n"
    "		mov $104, %esi\n"
    "		mov $105, %edi\n"
    "		mov $106, %ebp\n"
    "		mov $108, %r8d\n"
    "		mov $109, %r9d\n"
    "		mov $110, %r10d\n"
    "		mov $111, %r11d\n"
    "		mov $112, %r12d\n"
    "		mov $113, %r13d\n"
    "		mov $114, %r14d\n"
    "		mov $115, %r15d\n"
    "held:	jmp held\n");
