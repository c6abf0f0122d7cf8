/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the block of a sample: the inside of blocks.h.
 */
#ifndef KJOULE_BLOCKS_LOOKUP_H
#define KJOULE_BLOCKS_LOOKUP_H

#include "attribute/blocks.h"

/** blocks_lookup_init() - @v says what is told apart. Return: 0 or -ENOMEM */
int blocks_lookup_init(struct blocks *b, const struct view *v);
void blocks_lookup_exit(struct blocks *b);
/** blocks_pseudo() - a line for something that is no program, and so is in no region. Return: 0 or -ENOMEM */
int blocks_pseudo(struct blocks *b, const char *name, enum cpm_kind kind, uint32_t *function);
/*
 * A stretch of code: [@start, @start + @len) of the process @tgid is @function's, as long as
 * nothing is told of any process, from @from_ns to @until_ns. @len 0: not known.
 */
struct blocks_near {
	uint64_t start, len;
	uint64_t from_ns, until_ns;
	uint32_t tgid, function;
};

/* Stretches that were met last, by where in them. They are for whoever goes through samples; zeroed at first. */
#define BLOCKS_NEAR	2048

static inline struct blocks_near *blocks_near_slot(struct blocks_near *all, const struct timeline_sample *s)
{
	return &all[((s->ip >> 5) ^ (s->ip >> 16) ^ s->tgid * 37u) % BLOCKS_NEAR];
}

/** blocks_is_near() - is it the function of this sample? A sample more is the caller's to count then */
static inline bool blocks_is_near(const struct blocks_near *near, const struct timeline_sample *s, uint64_t time_ns)
{
	return s->ip - near->start < near->len && s->tgid == near->tgid && time_ns >= near->from_ns &&
	       time_ns < near->until_ns && !(s->flags & (KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_IDLE));
}

/**
 * blocks_of_sample() - the block that a sample is of, which has one sample more then
 * @near:	out: what is around it
 * Return: 0 or -ENOMEM
 */
int blocks_of_sample(struct blocks *b, struct view *v, const struct timeline_sample *s, struct blocks_near *near,
		     uint32_t *function);
/**
 * blocks_reorder() - function i becomes to[i]; processes get the order of their first functions
 * Return: 0 or -ENOMEM
 */
int blocks_reorder(struct blocks *b, const uint32_t *to);

#endif /* KJOULE_BLOCKS_LOOKUP_H */
