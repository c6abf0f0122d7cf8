/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is asked of recordings: which part of them, in which units, by which model, shown how. The verbs that attribute
 * energy to code have these options in common.
 */
#ifndef KJOULE_OPTIONS_H
#define KJOULE_OPTIONS_H

#include "attribute/blocks.h"
#include "attribute/user_blocks.h"
#include "output/output.h"

enum attribute_sort { SORT_ENERGY, SORT_TIME, SORT_POWER, SORT_FREQ, SORT_SAMPLES, SORT_NAME };

/* What is shown of callers. */
enum attribute_callers { CALLERS_NONE, CALLERS_GRAPH, CALLERS_CHILDREN, CALLERS_FOLDED };

/* How energy is divided among blocks. */
enum power_model_kind { MODEL_CPM, MODEL_EDGE, MODEL_MIXTURE, MODEL_VPM, MODEL_AUTO };

enum attribute_weight { WEIGHT_ENERGY, WEIGHT_TIME, WEIGHT_SAMPLES };

struct attribute_options {
	enum output_format format;
	enum attribute_sort sort;
	double percent_limit;		/* of the energy, or of the time without any */
	double callers_limit;		/* the same for the callers below a function */
	bool raw;
	uint32_t pid;			/* 0: all */
	const char *comm;		/* NULL: all */
	const char *source;		/* NULL: the first of the recording */
	enum attribute_callers callers;
	enum attribute_weight weight;	/* of CALLERS_FOLDED */
	double budget_w;		/* what draws more in the first domain is marked; 0: no such */
	bool system;			/* the whole machine was recorded */
	size_t runs;			/* recordings that are one report; 0: it is of one */
	const char *convergence;	/* picture of how sure figures become with more samples; NULL: none */
	bool force;			/* replace the data of a picture */
	enum power_model_kind model;
	bool model_given;
	bool by_given, sort_given;	/* even if it is what happens without */
	bool worst_case;		/* intervals of energies by ALEA's equation 10 */
	bool cut;			/* only a part of the time, from @from_ns to @to_ns */
	uint64_t from_ns, to_ns;
	bool vectors;			/* what ran together, instead of blocks */
	bool units;			/* something else than functions is told apart */
	bool processes;			/* and nothing finer than processes */
	bool by_region;			/* regions are told apart */
	const char *region;		/* only what ran inside of it; NULL: all */
	enum code_unit_kind grain;
	struct user_blocks named;
};

/** attribute_parse_grain() - the value of --by. Return: 0, or the exit code after saying why not */
int attribute_parse_grain(const char *verb, const char *text, struct attribute_options *opt);

/** attribute_parse_block() - the value of --block. Return: the same */
int attribute_parse_block(const char *verb, const char *text, struct attribute_options *opt);

/* Options that report, annotate and diff have in common, as getopt_long() tells them. */
enum attribute_option {
	ATTRIBUTE_OPT_LIMIT = 1024, ATTRIBUTE_OPT_REGION, ATTRIBUTE_OPT_PID, ATTRIBUTE_OPT_COMM, ATTRIBUTE_OPT_SOURCE,
	ATTRIBUTE_OPT_INTERVAL, ATTRIBUTE_OPT_JSON, ATTRIBUTE_OPT_CSV
};

/**
 * attribute_parse_common() - one of these
 * @limit:	of --percent-limit
 * Return: 0; -ENOENT: it is another option; or the exit code after saying what is wrong
 */
int attribute_parse_common(const char *verb, int option, const char *arg, struct attribute_options *opt, double *limit);

/** attribute_is_wanted() - is the process one of those asked for? */
bool attribute_is_wanted(const struct blocks_process *p, const struct attribute_options *opt);

#endif /* KJOULE_OPTIONS_H */
