/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule boost run`: the runs (bench.c), what is printed of them (bench_print.c), and
 * drawn or written in the layouts of other benchmark runners (bench_export.c).
 */
#ifndef KJOULE_BOOST_BENCH_H
#define KJOULE_BOOST_BENCH_H

#include "analysis/boost/boost_judge.h"
#include "boost/boost.h"

/**
 * struct boost_bench_run - one run of a command
 * @times:	that it ran to its end, with --equal-duration; 1 else
 * @from_s,@to_s: when it ran, by the watch's clock
 * @known_s:	CPU time meanwhile that was the command's, or ours
 * @as_asked:	the chip's history before was what was asked for
 * @lost_before,@lost: records that were lost until it began, and since, until the next run
 * @differs:	its time is too far from the others of its command
 */
struct boost_bench_run {
	size_t command;
	unsigned int times;
	double from_s, to_s, known_s;
	struct boost_run judged;
	double user_s, system_s, energy_j;
	int exit_code;
	uint64_t lost_before, lost;
	bool as_asked, differs;
};

/**
 * struct boost_bench_mean - a command's runs together
 * @seconds:	mean, with its 95 % interval; of one time of the command
 * @sd,@least,@most,@median: of them; NAN where there are too few
 * @busy:	CPUs
 * @as_sustained,@as_boosted: means of those that could be corrected
 */
struct boost_bench_mean {
	size_t n, corrected;
	struct value seconds, as_sustained, as_boosted;
	double sd, least, most, median, user_s, system_s, busy;
};

struct boost_bench {
	const struct boost_options *opt;
	struct boost_lab lab;
	struct boost_course course;	/* of the load, where it was measured */
	struct boost_speeds speeds;	/* kHz; NAN: not known */
	bool steady;			/* the chip has one speed only */
	double steady_s;		/* for so long, as far as was seen */
	double drained_s;		/* when what had come was taken last */
	struct boost_bench_run *runs;
	size_t n;
	struct boost_bench_mean *means;	/* by command */
	int failed;			/* exit code of the run that failed, 0: none did */
	/* the same of one that could not be executed, as a shell has it */
	int unstarted;
};

/**
 * boost_bench_text() - a command as a shell would be given it, unless that is too long.
 * Return: @buf
 */
const char *boost_bench_text(const struct boost_bench *b, size_t command, char *buf, size_t len);
/**
 * boost_bench_class() - the name of a run's class; on a chip with one speed there is no throttling
 */
const char *boost_bench_class(const struct boost_bench *b, const struct boost_run *r);
/** boost_bench_average() - fill in the means. Return: 0 or -ENOMEM */
int boost_bench_average(struct boost_bench *b);
/** boost_bench_print() - Return: 0 or -ENOMEM */
int boost_bench_print(const struct boost_bench *b);
/**
 * boost_bench_export() - the files that were asked for.
 * Return: 0, or the exit code after a message
 */
int boost_bench_export(const struct boost_bench *b);

#endif /* KJOULE_BOOST_BENCH_H */
