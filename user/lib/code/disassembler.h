/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine code into instructions, as far as control flow needs it: where each begins and goes on.
 */
#ifndef KJOULE_DISASSEMBLER_H
#define KJOULE_DISASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

/* Where control goes from an instruction. */
enum kjoule_insn_kind {
	KJOULE_INSN_PLAIN,	/* to the next one, calls included: they come back */
	KJOULE_INSN_JUMP,	/* to @target */
	KJOULE_INSN_BRANCH,	/* to @target or to the next one */
	KJOULE_INSN_INDIRECT,	/* through a register or memory */
	/* nowhere in this function: a return, a trap, what is no instruction */
	KJOULE_INSN_END,
};

/* What else runs before control comes back, or that it does not. */
enum kjoule_insn_leave {
	KJOULE_LEAVE_NOT,
	KJOULE_LEAVE_CALL,	/* of KJOULE_INSN_PLAIN: a call */
	KJOULE_LEAVE_SYSTEM,	/* the same, of the kernel */
	KJOULE_LEAVE_RETURN,	/* of KJOULE_INSN_END: a return */
	KJOULE_LEAVE_UNKNOWN,	/* the same: no instruction */
};

struct kjoule_insn {
	uint64_t address;
	uint64_t target;	/* of KJOULE_INSN_JUMP and KJOULE_INSN_BRANCH */
	uint8_t size, kind, leave;
};

/**
 * kjoule_disassemble() - all instructions of a piece of code
 * @bytes: the code, @len bytes of it
 * @machine: ELF's e_machine
 * @address: of the first byte; targets are counted alike
 * @insns: out: in order and without holes, the caller's to free; each byte that is no instruction
 *   is a KJOULE_INSN_END
 * @n: out: how many
 * Return: 0; -EOPNOTSUPP: unknown machine; -ENOMEM
 */
int kjoule_disassemble(const void *bytes, size_t len, unsigned int machine, uint64_t address,
		  struct kjoule_insn **insns, size_t *n);

/* Longest text of an instruction. */
#define KJOULE_INSN_TEXT	192

/**
 * kjoule_disassemble_text() - an instruction as assembler text
 * @bytes: from its first byte on, @len are there
 * Return: its size; 0 if it is none; -EOPNOTSUPP; -ENOMEM
 */
int kjoule_disassemble_text(const void *bytes, size_t len, unsigned int machine, uint64_t address,
		       char text[KJOULE_INSN_TEXT]);

#endif /* KJOULE_DISASSEMBLER_H */
