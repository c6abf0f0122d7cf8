// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of translation blocks. Owns the records and decides where a block
 * needs callbacks; plugin.c asks for them at translation time.
 */
#include "block.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS	(1u << 16)

static struct block *table[BUCKETS];
static uint32_t block_count;
static struct vchip_idt vectors;
static bool vectors_known;
static const struct profile *chip_profile;

unsigned int block_cpus, block_pstates;

void block_init(const struct profile *profile, unsigned int cpus)
{
	chip_profile = profile;
	block_cpus = cpus;
	block_pstates = profile->pstates;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

static uint64_t hash_source(const struct block_source *source, unsigned int insns)
{
	uint64_t h = mix(insns, source[0].vaddr);

	for (unsigned int i = 0; i < insns; i++) {
		uint64_t word[2] = { 0, 0 };

		memcpy(word, source[i].bytes, source[i].size < 16 ? source[i].size : 16);
		h = mix(mix(h, word[0] ^ source[i].size), word[1]);
	}
	return h;
}

static void add_costs(struct block *b)
{
	unsigned int pstates = block_pstates;

	b->cycles = 0;
	for (unsigned int p = 0; p <= pstates; p++)
		b->tail[block_cpus + p].energy_pj = 0;
	for (unsigned int i = 0; i < b->insns; i++) {
		struct insn *insn = &b->insn[i];

		insn->cycles = chip_profile->cycles[insn->class];
		b->cycles += insn->cycles;
		for (unsigned int p = 0; p < pstates; p++)
			b->tail[block_cpus + p].energy_pj +=
				profile_energy_pj(chip_profile, insn->class, p);
		b->tail[block_cpus + pstates].energy_pj += chip_profile->dram_pj[insn->class];
	}
}

/* Entering a handler costs more than its first instruction. */
static void set_vector(struct block *b)
{
	b->vector = -1;
	b->flags &= ~BLOCK_VECTOR;
	for (unsigned int v = 0; vectors_known && v < VCHIP_VECTORS; v++) {
		if (vectors.entry[v] && vectors.entry[v] == b->vaddr) {
			b->vector = v;
			b->flags |= BLOCK_VECTOR;
			break;
		}
	}
	b->insn[0].class = b->vector < 0 ? b->first_class : CLASS_ENTRY;
	add_costs(b);
}

static struct block *block_new(const struct block_source *source, unsigned int insns)
{
	size_t size = (sizeof(struct block) + (block_cpus + block_pstates + 1) * sizeof(uint64_t) +
		       63) / 64 * 64;
	struct block *b = aligned_alloc(64, size);
	struct insn_kind kind = { 0 };
	unsigned int raising = 0;

	if (!b)
		return NULL;
	memset(b, 0, size);
	b->insn = calloc(insns, sizeof(*b->insn));
	if (!b->insn) {
		free(b);
		return NULL;
	}
	b->vaddr = source[0].vaddr;
	b->insns = insns;
	b->first_raise = insns;
	b->kernel = b->vaddr >> 63;
	for (unsigned int i = 0; i < insns; i++) {
		struct insn *insn = &b->insn[i];

		kind = classify(source[i].bytes, source[i].size, source[i].vaddr);
		if (kind.traits & INSN_CLOCK)
			b->flags |= BLOCK_CLOCK;
		insn->offset = source[i].vaddr - b->vaddr;
		insn->class = kind.class;
		insn->raise = kind.raise;
		b->size += source[i].size;
		if (kind.raise && !raising++)
			b->first_raise = i;
	}
	if (kind.traits & INSN_REP)
		b->flags |= BLOCK_ENDS_REP;
	if (kind.traits & INSN_IRET)
		b->flags |= BLOCK_ENDS_IRET;
	if (kind.traits & INSN_HLT)
		b->flags |= BLOCK_ENDS_HLT;
	if (kind.traits & INSN_PAUSE)
		b->flags |= BLOCK_ENDS_PAUSE;
	if (insns == 1 && kind.raise && !(kind.traits & INSN_REP))
		b->flags |= BLOCK_SINGLE;
	b->first_class = b->insn[0].class;
	set_vector(b);
	return b;
}

/*
 * The position is set to the first instruction that can fault when the block is
 * entered, so that one needs no hook; every later one has a hook before it. What
 * remains is to know that the last one has passed: a hook before its successor,
 * or after its memory access when it has none.
 */
static void place_hooks(const struct block *b, uint8_t *hooks, uint8_t last_traits)
{
	int last = -1;

	memset(hooks, 0, b->insns);
	for (unsigned int i = 0; i < b->insns; i++) {
		if (!b->insn[i].raise)
			continue;
		if (i != b->first_raise)
			hooks[i] |= BLOCK_HOOK_BEFORE;
		last = i;
	}
	if (last < 0)
		return;
	if (last < b->insns - 1)
		hooks[last + 1] |= BLOCK_HOOK_DONE;
	else if (last_traits & INSN_WRITES)
		hooks[last] |= BLOCK_HOOK_WRITE;
	else if (last_traits & INSN_READS)
		hooks[last] |= BLOCK_HOOK_READ;
}

struct block *block_get(const struct block_source *source, unsigned int insns, uint8_t *hooks)
{
	const struct block_source *last = &source[insns - 1];
	uint64_t h = hash_source(source, insns);
	struct block *b;

	for (b = table[h % BUCKETS]; b; b = b->next)
		if (b->hash == h && b->vaddr == source[0].vaddr && b->insns == insns)
			break;
	if (!b) {
		b = block_new(source, insns);
		if (b) {
			b->hash = h;
			b->id = block_count++;
			b->next = table[h % BUCKETS];
			table[h % BUCKETS] = b;
		}
	}
	if (b)
		place_hooks(b, hooks, classify(last->bytes, last->size, last->vaddr).traits);
	return b;
}

void block_set_vectors(const struct vchip_idt *idt)
{
	vectors = *idt;
	vectors_known = true;
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct block *b = table[i]; b; b = b->next)
			set_vector(b);
}
