/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the recording itself share: the beginning (prepare.c), the
 * loop (loop.c) and the side band of CPUs that come and go (follow.c).
 */
#ifndef KJOULE_RECORD_LOOP_H
#define KJOULE_RECORD_LOOP_H

#include <poll.h>
#include <sched.h>
#include "command/child.h"
#include "lib/region/mark_ring.h"
#include "lib/sideband/sideband.h"
#include "record/record.h"

#define DRAIN_BYTES	(256u << 10)
#define SECOND_NS	1000000000ull

enum { FD_DEVICE, FD_SIGNAL, FD_PROCESS, FD_NOTICES, FD_SIDE_BAND };

struct record_loop {
	const struct record_options *opt;
	struct kjoule_ctl *ctl;
	struct kjoule_device *dev;
	struct record_writer *w;
	struct kjoule_sideband *sb;
	struct kjoule_events *notices;	/* NULL: there are none to be had */
	uint64_t side_band_anew;	/* times that a CPU had to be listened on again */
	uint64_t looked_ns;		/* when the CPUs that are online were looked at */
	uint32_t process;		/* that the side band is wanted of; 0: all */
	struct kjoule_region_area *regions;	/* NULL: there is no command that could mark any */
	uint64_t regions_ns;		/* when they were taken last */
	unsigned int regions_ms;	/* come again so soon, 0: whenever */
	unsigned int last_drains;	/* of regions, since the session was stopped */
	struct child child;
	uint32_t blocks_done;		/* those of @opt->blocks that the module knows, as bits */
	struct kjoule_calibration cal;
	struct kjoule_session_info session;
	struct kjoule_cpu_stats *stats;
	size_t n_stats;
	struct pollfd *fds;
	unsigned int n_fds;
	uint8_t *buf;
	bool made, started, command_gone;
	bool again;			/* a ring had more than the buffer takes */
	bool progress;
	cpu_set_t allowed;		/* where we may run */
	uint64_t begin_ns;		/* when the command was let go */
	uint64_t start_ns;		/* when the ticks began */
	uint64_t flushed_ns;		/* when records were written last */
	uint64_t told_ns;		/* when the module was asked last how it goes */
	uint64_t asleep_ns;		/* since when we last were to sleep, 0: not yet */
	uint64_t ran_ns;		/* CPU time until then */
	double awake_s[CPU_SETSIZE];	/* that we did, by CPU, since the ticks began */
	const char *reason;		/* why it ends, NULL: it goes on */
	int signal;			/* that ended it */
	struct kjoule_error err;
};

/** record_keep_away() - run on a CPU that is not in @busy if there is one */
void record_keep_away(const struct record_loop *l, const struct kjoule_cpus *busy);
/**
 * record_prepare() - everything up to the moment at which the command is let go
 * @ends:	signals that end it
 * Return: 0 or -errno with the reason in @l->err
 */
int record_prepare(struct record_loop *l, const sigset_t *signals, const sigset_t *ends,
		   const sigset_t *old);
/** record_watch_side_band() - poll for as many CPUs as there are now. Return: 0 or -errno */
int record_watch_side_band(struct record_loop *l);
/** record_follow_cpus() - have the side band of CPUs that came back. Return: 0 or -errno */
int record_follow_cpus(struct record_loop *l, uint64_t now);
/**
 * record_check_ends() - set @l->reason if the recording ends now
 *
 * The first of: a signal, which is passed on to the command; the command's end, the process's;
 * the duration.
 */
void record_check_ends(struct record_loop *l, uint64_t now);
/** record_warn_at_end() - say what a report's reader should know, however quiet it was to be */
void record_warn_at_end(const struct record_loop *l);

#endif /* KJOULE_RECORD_LOOP_H */
