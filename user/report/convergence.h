/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How sure figures become as samples come in (Mukhanov et al., ACM TACO 14(1), 2017, figure 5):
 * `kjoule report --convergence`. Of one recording its beginning counts, longer and longer; of
 * several, more and more of them.
 */
#ifndef KJOULE_CONVERGENCE_H
#define KJOULE_CONVERGENCE_H

#include "attribute/merge.h"

/* Blocks that are followed: all together, and those of the most energy. */
#define CONVERGENCE_BLOCKS	6

/* Parts of a recording that are looked at, and numbers of recordings. */
#define CONVERGENCE_POINTS	48

/**
 * struct convergence_block - what is followed
 * @function:	index into the names; UINT32_MAX: all together
 * @last:	its figures with all samples
 */
struct convergence_block {
	uint32_t function;
	struct profile_group last;
};

/**
 * struct convergence - figures of each block by the number of samples
 * @several:	of recordings; else of the beginnings of one
 * @samples:	at each point, of all blocks together
 * @runs:	at each point
 * @at:		[point * n_blocks + block]
 */
struct convergence {
	const struct blocks *names;
	unsigned int n_domains;		/* 0: there is no energy, or it is not known */
	bool several;
	size_t n_blocks, n_points;
	struct convergence_block blocks[CONVERGENCE_BLOCKS];
	uint64_t samples[CONVERGENCE_POINTS];
	size_t runs[CONVERGENCE_POINTS];
	struct profile_group *at;
};

/**
 * convergence_of_one() - of a recording, whose figures with all samples are @g
 * Return: 0, -ENODATA with too few samples, -ENOMEM
 */
int convergence_of_one(const struct blocks *b, const struct groups *g, struct convergence *c);
/** convergence_of_several() - of recordings whose average is there. Return: 0 or -ENOMEM */
int convergence_of_several(struct merge *m, struct convergence *c);
void convergence_free(struct convergence *c);
/**
 * convergence_write() - rows into a file
 * @head:	of JSON, taken over; may be NULL
 * Return: 0 or -ENOMEM
 */
int convergence_write(const struct convergence *c, FILE *file, enum output_format format,
		      struct json_object *head);
/**
 * convergence_draw() - the data file next to the picture, and the picture
 * @path:	ends in .svg or .png
 * @force:	see picture_open()
 * Return: 0; -errno with the reason in @err
 */
int convergence_draw(const struct convergence *c, const char *path, bool force,
		     struct kjoule_error *err);

/**
 * convergence_show() - both: the picture, and the figures on standard output. @head is taken over
 * Return: 0; -errno with the reason in @err
 */
int convergence_show(const struct convergence *c, const struct attribute_options *opt,
		     struct json_object *head, struct kjoule_error *err);

#endif /* KJOULE_CONVERGENCE_H */
