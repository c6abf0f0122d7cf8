/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model of power: the requested or fitting one, with inseparable blocks merged. */
#ifndef KJOULE_POWER_MODEL_H
#define KJOULE_POWER_MODEL_H

#include "attribute/blocks.h"
#include "attribute/options.h"

/**
 * struct power_model - the model of a report
 * @asked,@used: @used is never MODEL_AUTO
 * @reason: why it was chosen, or why there is none
 * @windows,@left_out,@window_ticks,@reliability: of MODEL_MIXTURE, see struct separation
 * @in_step: ticks were on an even grid
 * @merged: of each old block, the one that it is a part of; NULL: none was merged
 * @fate: enum separability_fate of each merged block
 * @why: of MODEL_EDGE: enum edge_why of each block, EDGE_KNOWN: (nearly) none of it is of unknown
 *   power
 * @read: domains with readings, as bits
 * @windows_of: of MODEL_EDGE: domains with windows, as bits; @solved: these were solved; @too_many:
 *   they have too many ticks for the model
 * @n_inseparable: blocks that could not be separated
 */
struct power_model {
	enum power_model_kind asked, used;
	char reason[560];
	uint64_t windows, left_out;
	double window_ticks, reliability;
	bool in_step;
	uint32_t *merged;
	uint8_t *fate, *why;
	size_t n_merged, n_fates, n_whys, n_inseparable;
	unsigned int windows_of, read;
	bool solved, too_many;
};

/**
 * power_model_new() - choose, and merge inseparable blocks; before callgraph_new()
 * Return: 0; -ENODATA: the requested one cannot be used, see @reason; -ENOMEM
 */
int power_model_new(struct blocks *b, const struct attribute_options *opt, struct power_model *m);

/** power_model_blocks() - find blocks of unknown power, once it was solved. Return: 0 or -ENOMEM */
int power_model_blocks(struct power_model *m, const struct blocks *b, const struct profile *p);

void power_model_free(struct power_model *m);

const char *power_model_name(const struct power_model *m);

const char *power_model_asked(const struct power_model *m);

/** power_model_note() - a remark on a block, or NULL */
const char *power_model_note(const struct power_model *m, uint32_t function);

/** power_model_is_part() - is a block a part of @merged? */
bool power_model_is_part(const struct blocks *b, const struct power_model *m, uint32_t block,
			 uint32_t merged);

#endif /* KJOULE_POWER_MODEL_H */
