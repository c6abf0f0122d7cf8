// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction classification on top of Capstone. Owns the mapping from opcodes
 * to classes; what a class costs is the profile's business. Called by block.c
 * at translation time only.
 */
#include "classify.h"

#include <stdbool.h>
#include <string.h>

#include <capstone/capstone.h>

static const char *const names[CLASSES] = {
	[CLASS_INT] = "int", [CLASS_MUL] = "mul", [CLASS_DIV] = "div", [CLASS_LOAD] = "load",
	[CLASS_STORE] = "store", [CLASS_BRANCH] = "branch", [CLASS_FP] = "fp",
	[CLASS_VECTOR] = "vector", [CLASS_FPDIV] = "fpdiv", [CLASS_ATOMIC] = "atomic",
	[CLASS_STRING] = "string", [CLASS_NOP] = "nop", [CLASS_OTHER] = "other",
	[CLASS_SLOW] = "slow", [CLASS_IO] = "io", [CLASS_ENTRY] = "entry",
};

const char *class_name(enum insn_class class)
{
	return names[class];
}

unsigned int raise_of_vector(unsigned int vector)
{
	switch (vector) {
	case 0:
		return RAISE_DIV;
	case 5:
	case 6:
	case 10:
	case 11:
	case 20:
	case 21:
		return RAISE_SYS;
	case 7:
		return RAISE_FP | RAISE_SYS;
	case 16:
	case 19:
		return RAISE_FP;
	case 12:
	case 14:
	case 17:
		return RAISE_MEM;
	case 13:
		return RAISE_MEM | RAISE_SYS;
	default:
		return 0;
	}
}

static bool in_group(const cs_insn *insn, unsigned int group)
{
	for (unsigned int i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

/* Every extension whose instructions work on vector or x87 registers. */
static bool is_vector_or_fp(const cs_insn *insn)
{
	static const unsigned int groups[] = {
		X86_GRP_MMX, X86_GRP_SSE1, X86_GRP_SSE2, X86_GRP_SSE3, X86_GRP_SSSE3,
		X86_GRP_SSE41, X86_GRP_SSE42, X86_GRP_SSE4A, X86_GRP_AVX, X86_GRP_AVX2,
		X86_GRP_AVX512, X86_GRP_FMA, X86_GRP_FMA4, X86_GRP_F16C, X86_GRP_XOP,
		X86_GRP_AES, X86_GRP_PCLMUL, X86_GRP_FPU,
	};

	for (unsigned int i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (in_group(insn, groups[i]))
			return true;
	return false;
}

static bool is_x87(const cs_insn *insn)
{
	uint8_t op = insn->detail->x86.opcode[0];

	return (op >= 0xd8 && op <= 0xdf) || op == 0x9b;
}

/* Packed single and packed double arithmetic: the names end in "ps" and "pd". */
static bool is_packed_fp(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && name[len - 2] == 'p' && (name[len - 1] == 's' || name[len - 1] == 'd') &&
	       !strstr(name, "mov") && !strstr(name, "and") && !strstr(name, "or") &&
	       !strstr(name, "unpck") && !strstr(name, "shuf") && !strstr(name, "blend");
}

static bool is_slow_fp(const char *name)
{
	static const char *const parts[] = {
		"div", "sqrt", "fprem", "fsin", "fcos", "fptan", "fpatan", "f2xm1", "fyl2x",
		"fscale", "dpp", "dpps", "aes", "pclmul", "pcmp", "rsqrt", "rcp", "hadd", "hsub",
	};

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			/* The vector compares are quick; only the string compares are not. */
			return strncmp(parts[i], "pcmp", 4) || strstr(name, "str");
	return false;
}

static bool is_string(unsigned int id)
{
	switch (id) {
	case X86_INS_MOVSB:
	case X86_INS_MOVSW:
	case X86_INS_MOVSQ:
	case X86_INS_STOSB:
	case X86_INS_STOSW:
	case X86_INS_STOSD:
	case X86_INS_STOSQ:
	case X86_INS_LODSB:
	case X86_INS_LODSW:
	case X86_INS_LODSD:
	case X86_INS_LODSQ:
	case X86_INS_SCASB:
	case X86_INS_SCASW:
	case X86_INS_SCASD:
	case X86_INS_SCASQ:
	case X86_INS_CMPSB:
	case X86_INS_CMPSW:
	case X86_INS_CMPSQ:
	case X86_INS_INSB:
	case X86_INS_INSW:
	case X86_INS_INSD:
	case X86_INS_OUTSB:
	case X86_INS_OUTSW:
	case X86_INS_OUTSD:
		return true;
	default:
		return false;
	}
}

/* movsd and cmpsd name both a string and a vector instruction: look at the opcode. */
static bool is_string_opcode(const cs_insn *insn)
{
	uint8_t op = insn->detail->x86.opcode[0];

	if (is_string(insn->id))
		return true;
	return (insn->id == X86_INS_MOVSD && op == 0xa5) ||
	       (insn->id == X86_INS_CMPSD && op == 0xa7);
}

static bool is_nop(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_NOP:
	case X86_INS_PREFETCH:
	case X86_INS_PREFETCHW:
	case X86_INS_PREFETCHNTA:
	case X86_INS_PREFETCHT0:
	case X86_INS_PREFETCHT1:
	case X86_INS_PREFETCHT2:
	case X86_INS_LFENCE:
	case X86_INS_SFENCE:
	case X86_INS_MFENCE:
		return true;
	default:
		return false;
	}
}

/* System instructions by what they ask of a machine; CLASS_INT for what is none. */
static enum insn_class system_class(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_STI:
	case X86_INS_POPFQ:
	case X86_INS_PAUSE:
	case X86_INS_SWAPGS:
	case X86_INS_SGDT:
	case X86_INS_SIDT:
	case X86_INS_SLDT:
	case X86_INS_STR:
	case X86_INS_SMSW:
	case X86_INS_RDFSBASE:
	case X86_INS_RDGSBASE:
	case X86_INS_WRFSBASE:
	case X86_INS_WRGSBASE:
	case X86_INS_XGETBV:
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_CLI:
	case X86_INS_CLTS:
	case X86_INS_MONITOR:
	case X86_INS_MWAIT:
		return CLASS_OTHER;
	case X86_INS_CPUID:
	case X86_INS_RDTSC:
	case X86_INS_RDTSCP:
	case X86_INS_RDPMC:
	case X86_INS_XSAVE:
	case X86_INS_XSAVE64:
	case X86_INS_XSAVEOPT:
	case X86_INS_XSAVEOPT64:
	case X86_INS_XSAVEC:
	case X86_INS_XSAVES:
	case X86_INS_XRSTOR:
	case X86_INS_XRSTOR64:
	case X86_INS_XRSTORS:
	case X86_INS_FXSAVE:
	case X86_INS_FXSAVE64:
	case X86_INS_FXRSTOR:
	case X86_INS_FXRSTOR64:
		return CLASS_SLOW;
	case X86_INS_RDMSR:
	case X86_INS_WRMSR:
	case X86_INS_IN:
	case X86_INS_OUT:
	case X86_INS_LGDT:
	case X86_INS_LIDT:
	case X86_INS_LLDT:
	case X86_INS_LTR:
	case X86_INS_LMSW:
	case X86_INS_INVLPG:
	case X86_INS_INVPCID:
	case X86_INS_WBINVD:
	case X86_INS_INVD:
	case X86_INS_XSETBV:
		return CLASS_IO;
	default:
		return in_group(insn, X86_GRP_PRIVILEGE) || in_group(insn, X86_GRP_VM) ? CLASS_IO :
		       CLASS_INT;
	}
}

/* Moves to and from control, debug and segment registers. */
static bool moves_system_register(const cs_x86 *x86)
{
	for (unsigned int i = 0; i < x86->op_count; i++) {
		unsigned int reg = x86->operands[i].reg;

		if (x86->operands[i].type != X86_OP_REG)
			continue;
		if ((reg >= X86_REG_CR0 && reg <= X86_REG_CR15) ||
		    (reg >= X86_REG_DR0 && reg <= X86_REG_DR15) || reg == X86_REG_DS ||
		    reg == X86_REG_ES || reg == X86_REG_FS || reg == X86_REG_GS ||
		    reg == X86_REG_SS)
			return true;
	}
	return false;
}

static bool is_mul(unsigned int id)
{
	return id == X86_INS_MUL || id == X86_INS_IMUL || id == X86_INS_MULX;
}

static bool is_div(unsigned int id)
{
	return id == X86_INS_DIV || id == X86_INS_IDIV;
}

/* Does the explicit memory operand get written? */
static bool writes_operand(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	switch (insn->id) {
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_BT:
		return false;
	case X86_INS_XCHG:
	case X86_INS_XADD:
	case X86_INS_CMPXCHG8B:
	case X86_INS_CMPXCHG16B:
		return true;
	default:
		break;
	}
	for (unsigned int i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type != X86_OP_MEM)
			continue;
		/* Capstone calls some vector moves to memory reads. */
		if (strstr(insn->mnemonic, "mov"))
			return i == 0;
		if (x86->operands[i].access)
			return x86->operands[i].access & CS_AC_WRITE;
		return i == 0;
	}
	return false;
}

static bool has_memory_operand(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (insn->id == X86_INS_LEA || is_nop(insn))
		return false;
	for (unsigned int i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM)
			return true;
	return false;
}

static struct insn_kind kind_of_string(const cs_insn *insn)
{
	struct insn_kind kind = { .class = CLASS_STRING, .raise = RAISE_MEM };
	uint8_t prefix = insn->detail->x86.prefix[0];

	if (prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE)
		kind.traits |= INSN_REP;
	if (in_group(insn, X86_GRP_PRIVILEGE))
		kind.raise |= RAISE_SYS;
	return kind;
}

static struct insn_kind kind_of_branch(const cs_insn *insn)
{
	struct insn_kind kind = { .class = CLASS_BRANCH };

	if (in_group(insn, X86_GRP_INT) || insn->id == X86_INS_SYSCALL ||
	    insn->id == X86_INS_SYSENTER)
		kind.class = CLASS_SLOW;
	if (in_group(insn, X86_GRP_IRET) || insn->id == X86_INS_IRETQ ||
	    insn->id == X86_INS_SYSRET || insn->id == X86_INS_SYSEXIT) {
		kind.class = CLASS_SLOW;
		kind.traits |= INSN_IRET;
	} else if (insn->id == X86_INS_CALL || insn->id == X86_INS_LCALL) {
		kind.raise = RAISE_MEM;
		kind.traits |= INSN_WRITES;
	} else if (insn->id == X86_INS_RET || has_memory_operand(insn)) {
		kind.raise = RAISE_MEM;
		kind.traits |= INSN_READS;
	}
	return kind;
}

static struct insn_kind kind_of(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	struct insn_kind kind = { .class = CLASS_INT };
	bool memory = has_memory_operand(insn);

	if (is_string_opcode(insn))
		return kind_of_string(insn);
	if (in_group(insn, X86_GRP_JUMP) || in_group(insn, X86_GRP_CALL) ||
	    in_group(insn, X86_GRP_RET) || in_group(insn, X86_GRP_IRET) ||
	    in_group(insn, X86_GRP_INT) || insn->id == X86_INS_SYSCALL ||
	    insn->id == X86_INS_SYSRET || insn->id == X86_INS_SYSENTER ||
	    insn->id == X86_INS_SYSEXIT)
		return kind_of_branch(insn);

	if (memory) {
		kind.raise |= RAISE_MEM;
		kind.traits |= writes_operand(insn) ? INSN_WRITES : INSN_READS;
	}
	switch (insn->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
	case X86_INS_ENTER:
		return (struct insn_kind){ CLASS_STORE, RAISE_MEM, INSN_WRITES };
	case X86_INS_POP:
	case X86_INS_LEAVE:
		kind = (struct insn_kind){ CLASS_LOAD, RAISE_MEM,
					   memory ? INSN_WRITES : INSN_READS };
		return kind;
	default:
		break;
	}

	if (is_nop(insn)) {
		kind.class = CLASS_NOP;
	} else if (system_class(insn) != CLASS_INT || moves_system_register(x86)) {
		kind.class = moves_system_register(x86) ? CLASS_IO : system_class(insn);
		kind.raise |= insn->id == X86_INS_PAUSE ? 0 : RAISE_SYS | RAISE_FP;
		if (insn->id == X86_INS_HLT)
			kind.traits |= INSN_HLT;
		if (insn->id == X86_INS_PAUSE)
			kind.traits |= INSN_PAUSE;
		if (insn->id == X86_INS_RDTSC || insn->id == X86_INS_RDTSCP)
			kind.traits |= INSN_CLOCK;
		if (insn->id == X86_INS_POPFQ) {
			kind.raise |= RAISE_MEM;
			kind.traits |= INSN_READS;
		}
	} else if (x86->prefix[0] == X86_PREFIX_LOCK || (insn->id == X86_INS_XCHG && memory)) {
		kind.class = CLASS_ATOMIC;
	} else if (is_vector_or_fp(insn) || is_x87(insn)) {
		kind.raise |= is_x87(insn) ? RAISE_FP : 0;
		if (is_x87(insn) || is_slow_fp(insn->mnemonic))
			kind.class = CLASS_FPDIV;
		else if (is_packed_fp(insn->mnemonic))
			kind.class = CLASS_VECTOR;
		else if (memory && strstr(insn->mnemonic, "mov"))
			kind.class = kind.traits & INSN_WRITES ? CLASS_STORE : CLASS_LOAD;
		else
			kind.class = CLASS_FP;
	} else if (is_div(insn->id)) {
		kind.class = CLASS_DIV;
		kind.raise |= RAISE_DIV;
	} else if (is_mul(insn->id)) {
		kind.class = CLASS_MUL;
	} else if (memory) {
		kind.class = kind.traits & INSN_WRITES ? CLASS_STORE : CLASS_LOAD;
	}
	return kind;
}

struct insn_kind classify(const uint8_t *bytes, size_t size, uint64_t vaddr)
{
	static _Thread_local csh handle;
	static _Thread_local cs_insn *insn;
	const struct insn_kind unknown = { CLASS_OTHER, RAISE_SYS | RAISE_MEM | RAISE_FP, 0 };

	/* endbr64 is younger than the packaged Capstone. */
	if (size == 4 && bytes[0] == 0xf3 && bytes[1] == 0x0f && bytes[2] == 0x1e &&
	    bytes[3] == 0xfa)
		return (struct insn_kind){ CLASS_NOP, 0, 0 };
	if (!handle) {
		if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
			return unknown;
		cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
		insn = cs_malloc(handle);
	}
	if (!insn || !cs_disasm_iter(handle, &bytes, &size, &vaddr, insn))
		return unknown;
	return kind_of(insn);
}
