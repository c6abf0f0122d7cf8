/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule record`: what was asked (cmd_record.c), one recording (once.c), the loop
 * that drains (loop.c, with files of its own) and what it writes (write.c).
 */
#ifndef KJOULE_RECORD_H
#define KJOULE_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "analysis/profile/overhead.h"
#include "attribute/user_blocks.h"
#include "command/exit_codes.h"
#include "command/run_as.h"
#include "lib/base/cpus.h"
#include "lib/base/error.h"
#include "lib/control/calibration.h"
#include "lib/control/control.h"
#include "lib/control/ring.h"
#include "lib/region/mark_ring.h"
#include "machine/session_sources.h"

struct record_options {
	const char *verb;		/* whose command line it is */
	uint64_t interval_ns;
	bool interval_exact;		/* it is what was asked for, not near a rate */
	uint64_t jitter_ns;
	bool jitter_given;
	uint64_t delay_ns;
	uint64_t duration_ns;		/* 0: as long as it takes */
	struct kjoule_cpus cpus;
	bool cpus_given;
	uint32_t ring_bytes;
	bool ring_given;
	const char *source;		/* NULL: the default */
	const struct session_sources *sources;
	uint64_t flags;			/* enum kjoule_session_flag */
	uint32_t stack_bytes;		/* with KJOULE_FLAG_USER_STACK, 0: the default */
	double overhead;		/* that ticks may be, as a part; 0: the interval is given */
	uint32_t edge_duty;		/* thousandths of the time, 0: no edge windows */
	struct user_blocks blocks;		/* --vpm: of which there are to be readings */
	const char *vpm_source;		/* their meter, NULL: the first that starts on command */
	uint64_t vpm_interval_ns;	/* between two of them, 0: as the module likes */
	uint32_t chain_depth;		/* frames of each kind, 0: the default */
	const char *output;
	/* that it is made in, by the last part of its path; AT_FDCWD: none */
	int output_folder;
	bool quiet;
	bool calibrate;
	bool system;			/* -a */
	uint32_t pid;			/* -p, -t */
	int pidfd;			/* of -p; -1: none */
	bool thread;			/* -t */
	const char *cgroup;		/* --cgroup */
	int cgroup_fd;
	char **command;			/* after --, NULL: none */
	const char *user_name;		/* --user, NULL: not given */
	struct kjoule_user *user;	/* that the command runs as; NULL: who we are */
	unsigned int runs;		/* --runs, 0: not given */
	unsigned int run;		/* of these, from 1 */
	struct exit_codes exits;	/* --exit-code: how the command may end, besides 0 */
	const sigset_t *mask;		/* that the command begins with; NULL: ours */
	const struct kjoule_calibration *cal;	/* of a run before; NULL: to be found out */
};

/**
 * struct record_result - what became of a recording
 * @reason:	why it ended, NULL: it never began
 * @signal:	that ended it, 0: none
 * @exit_code:	of the command, as a shell would call it; -1: there was none, or the recording
 *		itself failed
 * @cal:	what a tick costs; without ticks: not known
 */
struct record_result {
	const char *reason;
	int signal;
	int exit_code;
	struct kjoule_calibration cal;
};

/*
 * What is written
 */

struct record_writer;

/** record_writer_open() - see kjoule_writer_open_at() */
int record_writer_open(int folder, const char *path, struct record_writer **w,
		       struct kjoule_error *err);
/** record_writer_start() - the session runs: write who, where and how */
int record_writer_start(struct record_writer *w, const struct record_options *opt,
			const struct kjoule_session_info *session,
			const struct kjoule_calibration *cal, struct kjoule_error *err);
/** record_writer_ring() - records of one CPU, as drained */
int record_writer_ring(struct record_writer *w, unsigned int cpu, const void *records, size_t len,
		       struct kjoule_error *err);
/** record_writer_side_band() - a kjoule_sideband_sink; @arg is the writer */
int record_writer_side_band(void *arg, const void *records, size_t len);
/** record_writer_regions() - a kjoule_region_sink; @arg is the writer */
int record_writer_regions(void *arg, const struct kjoule_region_batch *batch,
			  const struct kjoule_region_unit *units);
/** record_writer_awake() - note when we ran ourselves, and where */
int record_writer_awake(struct record_writer *w, unsigned int cpu, uint64_t begin_ns,
			uint64_t end_ns);
/** record_writer_flush() - write what waits; at least once a second */
int record_writer_flush(struct record_writer *w, struct kjoule_error *err);
int record_writer_stats(struct record_writer *w, const struct kjoule_cpu_stats *stats, size_t n,
			struct kjoule_error *err);
/**
 * record_writer_finish() - build ids, kernel symbols, how it ended
 * @regions:	what programs could not report of theirs; NULL: none was asked
 */
int record_writer_finish(struct record_writer *w, const struct kjoule_session_info *session,
			 const char *reason, int exit_code, uint64_t side_band_lost,
			 uint64_t side_band_anew, uint64_t ring_damaged,
			 const struct kjoule_region_counters *regions, struct kjoule_error *err);
/**
 * record_writer_kernel_hidden() - the kernel was sampled, but we may not know its functions' names
 */
bool record_writer_kernel_hidden(const struct record_writer *w);
/* Processes whose names of code made at run time are not in the file: why not. */
struct record_jit_left_out {
	/* all maps together would have more than KJOULE_JITMAPS_MAX */
	unsigned int full;
	unsigned int foreign;		/* it is another user's, or no plain file */
	unsigned int gone;		/* whose the process was is not known */
	unsigned int unreadable;
};

struct record_jit_left_out record_writer_jit_left_out(const struct record_writer *w);
/** record_writer_samples() - samples of a CPU since the last call */
uint64_t record_writer_samples(struct record_writer *w, unsigned int cpu);
uint64_t record_writer_bytes(const struct record_writer *w);
int record_writer_close(struct record_writer *w, struct kjoule_error *err);

/*
 * The loop
 */

/**
 * record_run() - record as asked; everything was checked and opened before
 * @result:	out
 * Return: an exit code
 */
int record_run(const struct record_options *opt, struct kjoule_ctl *ctl, struct kjoule_device *dev,
	       struct record_writer *w, struct record_result *result);

/**
 * record_bounded_interval() - the interval that keeps what ticks take below their part of
 * opt->overhead, a little out of step as -F is
 * Return: 0; -ERANGE: none that the module takes does, or jitter has no place in it; with the
 * reason in @err
 */
int record_bounded_interval(const struct record_options *opt, const struct kjoule_calibration *cal,
			    const struct kjoule_info *info, uint64_t *interval_ns,
			    struct kjoule_error *err);
/**
 * record_bounded_sleep() - for how long the recorder has to sleep to keep to its part of
 * opt->overhead
 * @cpus:	that are recorded
 * @awake_s:	for how long it has been awake in the @time_s since the ticks began
 * @least_ms:	without such a bound
 * Return: milliseconds, from @least_ms to @most_ms
 */
unsigned int record_bounded_sleep(const struct record_options *opt, unsigned int cpus,
				  double awake_s, double time_s, unsigned int least_ms,
				  unsigned int most_ms);
/**
 * record_overhead() - what ticks and the recorder took, by counters and calibration: of all CPUs
 * together, as a part
 * @time_s:	of the session
 * @awake_s:	that the recorder was awake, by CPU below CPU_SETSIZE
 * @most:	out: the CPU on which it was most, with cpu UINT32_MAX where there is none
 * @ticks:	out: the part of ticks alone
 * Return: NAN where it is not known
 */
double record_overhead(const struct kjoule_cpu_stats *stats, size_t n,
		       const struct kjoule_calibration *cal, double time_s, const double *awake_s,
		       struct overhead_cpu *most, double *ticks);
/**
 * record_check_jitter() - is it less than the interval?
 * Return: 0, or EXIT_USAGE after saying so
 */
int record_check_jitter(const struct record_options *opt);
/**
 * record_once() - one recording: check, open what it needs, record, close (once.c)
 * @result:	out
 * Return: an exit code
 */
int record_once(const struct record_options *asked, struct record_result *result);

/*
 * Blocks that there are to be readings of (blocks.c)
 */

/**
 * record_block_add() - from the command line: PART or NAME=PART, where PART is a function,
 *			FILE:FROM-TO (lines) or OBJECT:0xFROM-0xTO
 * Return: 0, -EINVAL with the reason in @why, -ENOMEM
 */
int record_block_add(struct user_blocks *blocks, const char *text, const char **why);
/**
 * record_block_resolve() - where a block is in a file, and whether it can be one
 * @path:	the file
 * @place:	out: as the file counts, its end 0 of a function; its pid stays
 * @known:	out: what the recording says of it, but for the process; NULL: not wanted
 * Return: 0 or -errno with the reason in @err
 */
int record_block_resolve(const struct user_block *block, const char *path,
			 struct kjoule_vpm_place *place, struct kjoule_vpm_block *known,
			 struct kjoule_error *err);
/**
 * record_lines_resolve() - a block that is lines of source (lines.c): they have to be one stretch
 *			    of code, which nothing outside jumps into and from which the program
 *			    comes to what is behind it
 * @path:	the file, of which @code is
 * @start,@end:	out: as the file counts
 * Return: 0; -ENOENT: no code is of these lines; -EINVAL: they are no block; -errno; with the
 * reason in @err
 */
int record_lines_resolve(const struct user_block *block, const char *path, struct kjoule_code *code,
			 uint64_t *start, uint64_t *end, struct kjoule_error *err);
/**
 * record_block_relocate() - from addresses as the file counts to those of a process that has it
 * mapped
 * @path:	the file, as /proc has it
 * @name:	of the block, for @err
 * Return: 0 or -errno with the reason in @err
 */
int record_block_relocate(uint32_t pid, const char *path, const char *name,
			  struct kjoule_vpm_place *place, struct kjoule_error *err);
/**
 * record_blocks_place() - tell the module of blocks whose files are mapped by now
 * @pid:	of the process
 * @session:	its vpm.block says which are known; those that are found are added
 * @done:	blocks that are, as bits
 * Return: 0 or -errno with the reason in @err; what is not mapped yet is no error
 */
int record_blocks_place(const struct user_blocks *blocks, struct kjoule_ctl *ctl, uint32_t pid,
			struct kjoule_session_info *session, uint32_t *done,
			struct kjoule_error *err);

/*
 * Many runs (runs.c)
 */

/* Of --runs. */
#define RECORD_RUNS_MOST	9999

/**
 * record_runs_path() - the file of a run: "kjoule.data" becomes "kjoule.3.data", or
 *			"kjoule.03.data" where there are ten or more, so that a shell's wildcard has
 *			them in order
 * @run:	from 1; 0: the wildcard of all, "kjoule.*.data"
 * Return: the caller's to free, NULL without memory
 */
char *record_runs_path(const char *output, unsigned int run, unsigned int runs);
/**
 * record_runs_others() - files that match the same wildcard, but are of no run up to @done
 * @first:	out: one of them, the caller's to free; NULL: none
 * Return: how many
 */
unsigned int record_runs_others(const char *output, unsigned int done, unsigned int runs,
				char **first);
/**
 * record_runs() - one run after another, each into a file of its own
 * @once:	makes one recording. Return: an exit code
 * Return: 0, or the exit code of the first run that failed, which is the last; 128 + N after signal
 * N. Codes of --exit-code are no failure
 */
int record_runs(const struct record_options *opt,
		int (*once)(const struct record_options *opt, struct record_result *result));

#endif /* KJOULE_RECORD_H */
