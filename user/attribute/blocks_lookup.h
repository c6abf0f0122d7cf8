/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the block of a sample: internal to blocks.h. */
#ifndef KJOULE_BLOCKS_LOOKUP_H
#define KJOULE_BLOCKS_LOOKUP_H

#include "attribute/blocks.h"

/** blocks_lookup_init() - @v selects. Return: 0 or -ENOMEM */
int blocks_lookup_init(struct blocks *b, const struct view *v);
void blocks_lookup_exit(struct blocks *b);
/** blocks_pseudo() - a row for something that is no program. Return: 0 or -ENOMEM */
int blocks_pseudo(struct blocks *b, const char *name, enum cpm_kind kind, uint32_t *function);
/*
 * An address range: [@start, @start + @len) of the process @tgid is @function's from @from_ns to
 * @until_ns, without an event of any process in between. @len 0: unknown.
 */
struct blocks_near {
	uint64_t start, len;
	uint64_t from_ns, until_ns;
	uint32_t tgid, function;
};

/* Recently used ranges, by address. One for each reader of samples; zeroed at first. */
#define BLOCKS_NEAR	2048

static inline struct blocks_near *blocks_near_slot(struct blocks_near *all,
						   const struct timeline_sample *s)
{
	return &all[((s->ip >> 5) ^ (s->ip >> 16) ^ s->tgid * 37u) % BLOCKS_NEAR];
}

/** blocks_is_near() - is it the function of this sample? The caller then counts one sample more */
static inline bool blocks_is_near(const struct blocks_near *near, const struct timeline_sample *s,
				  uint64_t time_ns)
{
	return s->ip - near->start < near->len && s->tgid == near->tgid &&
	       time_ns >= near->from_ns &&
	       time_ns < near->until_ns &&
	       !(s->flags & (KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_IDLE));
}

/**
 * blocks_of_sample() - the block of a sample, which is counted
 * @near: out: the range around it
 * Return: 0 or -ENOMEM
 */
int blocks_of_sample(struct blocks *b, struct view *v, const struct timeline_sample *s,
		     struct blocks_near *near, uint32_t *function);
/** blocks_reorder() - function i becomes to[i], processes follow. Return: 0 or -ENOMEM */
int blocks_reorder(struct blocks *b, const uint32_t *to);

#endif /* KJOULE_BLOCKS_LOOKUP_H */
