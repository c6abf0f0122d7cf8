/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that record and sweep have in common: rows of their tables, see cli/options.h.
 */
#ifndef KJOULE_RECORD_OPTIONS_H
#define KJOULE_RECORD_OPTIONS_H

#include "cli/options.h"
#include "command/exit_codes.h"
#include "record/record.h"

#define RECORD_OPT_RATE(opt) \
	{ 'F', "rate", "HZ", "about so many ticks a second: 4kHz (default 1000)", \
	  OPT_RATE(&(opt)->interval_ns), .not_with = "rate interval" }
#define RECORD_OPT_INTERVAL(opt) \
	{ 'i', "interval", "TIME", "time between ticks instead: 500us", \
	  OPT_TIME(&(opt)->interval_ns, 0, 1, UINT64_MAX), \
	  .given = &(opt)->interval_exact, .not_with = "interval" }
#define RECORD_OPT_CPUS(opt) \
	{ 'C', "cpus", "LIST", "only these CPUs: 0-3,8", OPT_CPUS(&(opt)->cpus), \
	  .given = &(opt)->cpus_given }
#define RECORD_OPT_JITTER(opt) \
	{ 0, "jitter", "TIME", "delay ticks by a random time below this", \
	  OPT_TIME(&(opt)->jitter_ns, 1000000000, 0, UINT64_MAX), .given = &(opt)->jitter_given }
#define RECORD_OPT_OVERHEAD(opt, also) \
	{ 0, "overhead", "PERCENT", "as many ticks as take no more of a CPU than that", \
	  OPT_CALL(record_parse_overhead, &(opt)->overhead), \
	  .not_with = "rate interval no-calibrate " also, \
	  .expected = "a percentage above 0 and up to 25 % of the time, like 1% or 0.5" }
#define RECORD_OPT_NO_CALIBRATE(opt) \
	{ 0, "no-calibrate", NULL, "do not measure what a tick costs", \
	  OPT_CLEAR(&(opt)->calibrate) }
#define RECORD_OPT_EXIT_CODE(opt, ...) \
	{ 0, "exit-code", "LIST", "exit codes of the command that are no failure: 10,20", \
	  OPT_CALL(exit_codes_parse, &(opt)->exits), \
	  .expected = "exit codes like 10,20, from 1 to 125", __VA_ARGS__ }
#define RECORD_OPT_USER(opt) \
	{ 0, "user", "NAME", "run the command as this user, without privileges", \
	  OPT_TEXT(&(opt)->user_name) }

/** record_parse_overhead() - the value of --overhead, see OPT_CALL(); @part: a double */
int record_parse_overhead(void *part, const char *arg, const char **why);

#endif /* KJOULE_RECORD_OPTIONS_H */
