/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of a recording's sources a report attributes to code, and whose energy each
 * of their counters is: columns, the CPUs that share a counter, and its readings.
 * The other sources are shown apart (header/unattributed.c), never added.
 */
#ifndef KJOULE_ENERGY_COLUMNS_H
#define KJOULE_ENERGY_COLUMNS_H

#include "analysis/profile/profile.h"
#include "recording/view.h"

/**
 * struct energy_columns - what is attributed
 * @n:		columns, each a domain of a source, or the domains of one name of a meter that
 *		consists of several sources (a zone of powercap for each package)
 * @info:	of the columns; index and parent are numbers of columns here
 * @source:	number of the (first) source of each column
 * @power:	the column is made of power: each reading holds for the time since the one before
 * @calibrated:	which domain of the calibration a column is, -1: none, as of what is not read in
 *		the tick
 * @left_out:	of each source, the domains that found no column: a report has room for so many
 * @packages:	see struct profile_package
 */
struct energy_columns {
	unsigned int n;
	struct kjoule_domain_info info[PROFILE_DOMAINS];
	uint32_t source[PROFILE_DOMAINS];
	bool power[PROFILE_DOMAINS];
	int calibrated[PROFILE_DOMAINS];
	uint16_t left_out[KJOULE_MAX_SOURCES];
	size_t n_packages;
	struct profile_package *packages;
};

/**
 * energy_columns_choose() - which sources of a recording
 * @wanted:	names of sources or meters with commas between; NULL: the first that tells of
 *		energy, with what belongs to the same meter
 * @chosen:	out: one for each source of the session
 *
 * Return: 0; -ENOENT if the recording has no such source, -EINVAL if it tells of no energy,
 * with the reason in @err (may be NULL).
 */
int energy_columns_choose(const struct view *v, const char *wanted, bool chosen[KJOULE_MAX_SOURCES],
		  struct kjoule_error *err);
/** energy_columns_new() - those of view.source. Return: 0 or -ENOMEM */
int energy_columns_new(const struct view *v, struct energy_columns *m);
/** energy_columns_release() - free the timeline's readings that columns were made of */
void energy_columns_release(struct view *v, const struct energy_columns *m);
void energy_columns_free(struct energy_columns *m);
/** energy_columns_uj() - a series of power or energy as growing energy, microjoule, into @uj */
void energy_columns_uj(const struct timeline_series *s, double *uj);

#endif /* KJOULE_ENERGY_COLUMNS_H */
