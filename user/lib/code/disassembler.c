// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions through Capstone; see disassembler.h. Another machine is a row in machines[] and a
 * function that classifies its jumps.
 */
#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/code/disassembler.h"

static bool insn_is_in_group(const cs_insn *insn, uint8_t group)
{
	for (uint8_t i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

static enum kjoule_insn_kind x86_kind(const cs_insn *insn, uint64_t *target)
{
	const cs_x86 *x86 = &insn->detail->x86;

	switch (insn->id) {
	case X86_INS_HLT:
	case X86_INS_UD0:
	case X86_INS_UD2:
	case X86_INS_UD2B:
	case X86_INS_INT3:
		return KJOULE_INSN_END;
	default:
		break;
	}
	if (insn_is_in_group(insn, CS_GRP_RET) || insn_is_in_group(insn, CS_GRP_IRET))
		return KJOULE_INSN_END;
	if (insn_is_in_group(insn, CS_GRP_CALL) || !insn_is_in_group(insn, CS_GRP_JUMP))
		return KJOULE_INSN_PLAIN;
	if (!x86->op_count || x86->operands[0].type != X86_OP_IMM)
		return KJOULE_INSN_INDIRECT;
	*target = x86->operands[0].imm;
	return insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP ? KJOULE_INSN_JUMP :
	       KJOULE_INSN_BRANCH;
}

static enum kjoule_insn_leave x86_leave(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_INT:
	case X86_INS_INTO:
	case X86_INS_INT1:
		return KJOULE_LEAVE_SYSTEM;
	default:
		break;
	}
	if (insn_is_in_group(insn, CS_GRP_RET) || insn_is_in_group(insn, CS_GRP_IRET))
		return KJOULE_LEAVE_RETURN;
	return insn_is_in_group(insn, CS_GRP_CALL) ? KJOULE_LEAVE_CALL : KJOULE_LEAVE_NOT;
}

static const struct machine {
	unsigned int elf;
	cs_arch arch;
	cs_mode mode;
	enum kjoule_insn_kind (*kind)(const cs_insn *insn, uint64_t *target);
	enum kjoule_insn_leave (*leave)(const cs_insn *insn);
} machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, x86_kind, x86_leave },
};

static const struct machine *machine_open(unsigned int elf, csh *handle, int *err)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].elf != elf)
			continue;
		*err = cs_open(machines[i].arch, machines[i].mode, handle) == CS_ERR_OK ?
		       0 : -ENOMEM;
		return &machines[i];
	}
	*err = -EOPNOTSUPP;
	return NULL;
}

/* A byte that is no instruction is one of its own, which goes nowhere. */
static size_t code_decode_all(csh handle, const struct machine *m, cs_insn *insn,
			      const uint8_t *code, size_t left, uint64_t address,
			      struct kjoule_insn *out)
{
	size_t n = 0;

	while (left) {
		struct kjoule_insn *i = &out[n++];

		*i = (struct kjoule_insn){ .address = address, .size = 1, .kind = KJOULE_INSN_END,
					   .leave = KJOULE_LEAVE_UNKNOWN };
		if (cs_disasm_iter(handle, &code, &left, &address, insn)) {
			i->size = insn->size;
			i->kind = m->kind(insn, &i->target);
			i->leave = m->leave(insn);
		} else {
			code++;
			left--;
			address++;
		}
	}
	return n;
}

int kjoule_disassemble(const void *bytes, size_t len, unsigned int machine, uint64_t address,
		  struct kjoule_insn **insns, size_t *n)
{
	const struct machine *m;
	cs_insn *insn;
	csh handle;
	int ret;

	*insns = NULL;
	*n = 0;
	m = machine_open(machine, &handle, &ret);
	if (ret)
		return ret;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	*insns = calloc(len + 1, sizeof(**insns));
	if (insn && *insns) {
		struct kjoule_insn *less;

		*n = code_decode_all(handle, m, insn, bytes, len, address, *insns);
		less = realloc(*insns, (*n + 1) * sizeof(*less));
		*insns = less ? less : *insns;
	} else {
		free(*insns);
		*insns = NULL;
		ret = -ENOMEM;
	}
	if (insn)
		cs_free(insn, 1);
	cs_close(&handle);
	return ret;
}

int kjoule_disassemble_text(const void *bytes, size_t len, unsigned int machine, uint64_t address,
		       char text[KJOULE_INSN_TEXT])
{
	cs_insn *insn;
	csh handle;
	int ret;

	text[0] = 0;
	if (!machine_open(machine, &handle, &ret) || ret)
		return ret;
	if (cs_disasm(handle, bytes, len, address, 1, &insn) == 1) {
		ret = insn->size;
		snprintf(text, KJOULE_INSN_TEXT, "%s%s%s", insn->mnemonic, insn->op_str[0] ?
			 " " : "", insn->op_str);
		cs_free(insn, 1);
	}
	cs_close(&handle);
	return ret;
}
