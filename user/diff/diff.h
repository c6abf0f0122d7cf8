/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule diff`: the rows (rows.c), their printing (print.c) and the command line
 * (cmd_diff.c).
 */
#ifndef KJOULE_DIFF_H
#define KJOULE_DIFF_H

#include "analysis/runs/difference.h"
#include "attribute/merge.h"

enum diff_kind { DIFF_BLOCK, DIFF_TICKS, DIFF_INTERRUPTS, DIFF_TOTAL };

enum diff_in { DIFF_BOTH, DIFF_ONLY_A, DIFF_ONLY_B };

/* Times, energies and powers of one block on both sides. */
struct diff_row {
	enum diff_kind kind;
	/* indices into the names; of --by process @function is none */
	uint32_t process, function;
	enum diff_in in;
	uint64_t samples[2];
	size_t seen[2];			/* in how many recordings of the side */
	struct value time_s[2];
	struct value j[PROFILE_DOMAINS][2], w[PROFILE_DOMAINS][2];
	double dof[PROFILE_DOMAINS][2];	/* of their intervals; 0: they have none */
	/* see struct cpm_group; NAN: not met, or no energy is known */
	double share[PROFILE_DOMAINS][2];
	/* below GROUPS_PURE on a side: energy and power are not compared */
	bool mixed[PROFILE_DOMAINS];
	struct difference time;
	struct difference energy[PROFILE_DOMAINS], power[PROFILE_DOMAINS];
};

/**
 * struct diff - two sides compared with each other
 * @domains:	that both have, by name; @place: their columns on each side
 * @n_hidden:	rows below the limit
 * @compared:	rows that were compared, hidden ones included
 *
 * A block that is @mixed has its neighbours' power in its own: what looks like a difference may be
 * theirs, and what is one may be hidden by them. Its energies and powers are DIFFERENCE_UNKNOWN
 * therefore; its times are compared.
 */
struct diff {
	struct merge_names names;
	struct merge sides[2];
	unsigned int n_domains;
	unsigned int shown_first;	/* of them, see struct blocks */
	const char *domains[PROFILE_DOMAINS];
	unsigned int place[PROFILE_DOMAINS][2];
	size_t n, n_hidden, compared;
	struct diff_row *rows;		/* blocks first, as sorted; then ticks, interrupts, total */
	struct merge_notes notes;
};

/**
 * diff_rows() - compare what both sides have; their averages are there
 * Return: 0, -ESRCH if no process has the name that was asked for, -ENOMEM
 */
int diff_rows(struct diff *d, const struct attribute_options *opt);
/** diff_fields_check() - the value of --fields. Return: 0, or -EINVAL with the reason in @err */
int diff_fields_check(const char *chosen, struct kjoule_error *err);
/** diff_print() - header, rows and footnotes. Return: 0 or -ENOMEM */
int diff_print(const struct diff *d, const struct attribute_options *opt);

#endif /* KJOULE_DIFF_H */
