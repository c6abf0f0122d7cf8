/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule record`: what was asked (cmd_record.c), the command that is
 * started (record_child.c), the loop that drains (record_loop.c) and what it
 * writes (record_write.c).
 */
#ifndef KJOULE_RECORD_H
#define KJOULE_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "kjoule.h"

struct record_options {
	uint64_t interval_ns;
	bool interval_given, interval_exact;
	uint64_t jitter_ns;
	uint64_t delay_ns;
	uint64_t duration_ns;		/* 0: as long as it takes */
	struct kjoule_cpus cpus;
	bool cpus_given;
	uint32_t ring_bytes;
	const char *source;		/* NULL: the default */
	const char *output;
	bool quiet;
	bool calibrate;
	bool system;			/* -a */
	uint32_t pid;			/* -p */
	char **command;			/* after --, NULL: none */
};

/*
 * The command
 */

struct record_child {
	pid_t pid;			/* 0: none */
	int go;				/* write end: one byte lets it run */
	int failed;			/* read end: errno if exec failed */
	bool running;
	bool reaped;
	int status;			/* of waitpid() */
};

/**
 * record_child_find() - can the command be started?
 * Return: 0, or 127 (no such command), 126 (not executable), with the reason in @err
 */
int record_child_find(const char *name, struct kjoule_error *err);
/** record_child_start() - fork; the child waits, then execs with @mask blocked. Return: 0 or -errno */
int record_child_start(struct record_child *child, char **command, const sigset_t *mask);
/** record_child_go() - let it exec. Return: 0, or -errno of the exec */
int record_child_go(struct record_child *child);
/** record_child_reap() - has it ended? Waits for it if @block. Return: true if it has */
bool record_child_reap(struct record_child *child, bool block);
/** record_child_kill() - it was never let go: end it */
void record_child_kill(struct record_child *child);
/** record_child_code() - what a shell would call its exit code */
int record_child_code(const struct record_child *child);

/*
 * What is written
 */

struct record_writer;

int record_writer_open(const char *path, struct record_writer **w, struct kjoule_error *err);
/** record_writer_start() - the session runs: write who, where and how */
int record_writer_start(struct record_writer *w, const struct record_options *opt,
			const struct kjoule_session_info *session,
			const struct kjoule_calibration *cal, struct kjoule_error *err);
/** record_writer_ring() - records of one CPU, as drained */
int record_writer_ring(struct record_writer *w, unsigned int cpu, const void *records, size_t len,
		       struct kjoule_error *err);
/** record_writer_side_band() - a kjoule_sideband_sink; @arg is the writer */
int record_writer_side_band(void *arg, const void *records, size_t len);
/** record_writer_awake() - note when we ran ourselves, and where */
int record_writer_awake(struct record_writer *w, unsigned int cpu, uint64_t begin_ns,
			uint64_t end_ns);
/** record_writer_flush() - write what waits; at least once a second */
int record_writer_flush(struct record_writer *w, struct kjoule_error *err);
int record_writer_stats(struct record_writer *w, const struct kjoule_cpu_stats *stats, size_t n,
			struct kjoule_error *err);
/** record_writer_finish() - build ids, kernel symbols, how it ended */
int record_writer_finish(struct record_writer *w, const struct kjoule_session_info *session,
			 const char *reason, int exit_code, uint64_t side_band_lost,
			 uint64_t ring_damaged, struct kjoule_error *err);
/** record_writer_samples() - samples of a CPU since the last call */
uint64_t record_writer_samples(struct record_writer *w, unsigned int cpu);
uint64_t record_writer_bytes(const struct record_writer *w);
int record_writer_close(struct record_writer *w, struct kjoule_error *err);

/*
 * The loop
 */

/**
 * record_run() - record as asked; everything was checked and opened before
 * @pidfd: of the process that is watched, -1: none
 * Return: an exit code
 */
int record_run(const struct record_options *opt, struct kjoule_ctl *ctl, struct kjoule_device *dev,
	       struct record_writer *w, int pidfd);

#endif /* KJOULE_RECORD_H */
