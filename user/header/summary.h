/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three lines that a table begins with, of one recording (header.c) or of several (series.c).
 */
#ifndef KJOULE_HEADER_SUMMARY_H
#define KJOULE_HEADER_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/base/cpus.h"

/**
 * struct summary - what is in them
 * @subject:	the command, its folders left out; or what else was recorded, then @of_command is
 *		false
 * @runs:	0: it is one recording
 * @counted:	there are counters of ticks
 * @lost_samples: that are known to be lost where no record is counted as lost
 * @domain:	NULL: no energy
 * @others:	names of the other domains, @n_others of them
 * @slowdown:	part of the time; NAN: not known
 * @outside_j:	see struct header
 * @warnings:	lines; ""
 * @messages:	more of them follow on standard error
 */
struct summary {
	const char *subject;
	bool of_command;
	size_t runs;
	double duration_s;
	const char *host;
	const struct kjoule_cpus *cpus;
	uint64_t samples, interval_ns;
	bool counted;
	uint64_t lost, lost_samples, missed, due;
	const char *domain, *source;
	uint64_t update_period_ns;
	const char *const *others;
	size_t n_others;
	const char *model;		/* NULL: the default one */
	bool runs_differ;		/* intervals include how runs differ */
	double slowdown, outside_j;
	bool verbose;
	const char *warnings;
	bool messages;
};

void summary_print(const struct summary *s);

/** summary_command() - a command line without the folders of its program; within @text */
const char *summary_command(const char *text);

#endif /* KJOULE_HEADER_SUMMARY_H */
