/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sideband records: mappings and names of processes, as perf's own records on the same clock as the
 * samples. From a perf event that counts nothing (sideband.c), from /proc for earlier ones
 * (sideband_proc.c), and decoded by sideband_parse.c.
 */
#ifndef KJOULE_SIDEBAND_H
#define KJOULE_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include "lib/base/error.h"

/* Takes some whole perf records. Return: 0 or -errno, which ends the drain. */
typedef int (*kjoule_sideband_sink)(void *arg, const void *records, size_t len);

struct kjoule_sideband;

/**
 * kjoule_sideband_open() - start, on all online CPUs
 * @pid: a process without further threads so far, with all that come out of it; 0: everything on
 *   the machine
 * Return: 0 or -errno
 */
int kjoule_sideband_open(uint32_t pid, struct kjoule_sideband **sb, struct kjoule_error *err);
/**
 * kjoule_sideband_notice() - a CPU is going offline, or (@back) has come back: for one that is
 * offline too shortly to be seen by polling
 */
void kjoule_sideband_notice(struct kjoule_sideband *sb, int cpu, bool back);
/**
 * kjoule_sideband_follow() - restart on CPUs that went offline and came back, and on new ones:
 * perf's events on a CPU end with it. Waiting records are passed on first.
 *
 * Return: number of restarted CPUs: for what happened there meanwhile use kjoule_sideband_proc().
 *   Or the sink's error, -ENOMEM
 */
int kjoule_sideband_follow(struct kjoule_sideband *sb, kjoule_sideband_sink sink, void *arg);
/** kjoule_sideband_drain() - pass on waiting records. Return: 0 or the sink's error */
int kjoule_sideband_drain(struct kjoule_sideband *sb, kjoule_sideband_sink sink, void *arg);
/** kjoule_sideband_lost() - records lost by perf so far; one for a CPU that it cannot follow */
uint64_t kjoule_sideband_lost(const struct kjoule_sideband *sb);
/** kjoule_sideband_poll() - fill in up to @n poll entries. Return: how many there are */
unsigned int kjoule_sideband_poll(const struct kjoule_sideband *sb, struct pollfd *fds,
				  unsigned int n);
void kjoule_sideband_close(struct kjoule_sideband *sb);

/**
 * kjoule_sideband_proc() - existing mappings, as records with the time @time_ns
 * @pid: one process; 0: all of them
 * @since_ns: processes that began after this have records with the time of their beginning instead;
 *   UINT64_MAX: none
 * Return: 0, -ESRCH if @pid has ended, or the sink's error
 */
int kjoule_sideband_proc(uint32_t pid, uint64_t time_ns, uint64_t since_ns,
			 kjoule_sideband_sink sink, void *arg);

enum kjoule_event_type {
	KJOULE_EVENT_COMM,	/* @text is the name; @exec after an exec */
	KJOULE_EVENT_MAP,	/* @text is the file */
	KJOULE_EVENT_FORK,	/* @pid, @tid out of @ppid, @ptid */
	KJOULE_EVENT_EXIT,
	KJOULE_EVENT_LOST,	/* @lost records */
	KJOULE_EVENT_OTHER,
	KJOULE_EVENT_REGION,	/* not perf's: @text is the region that @tid is in from now on */
};

/* One record, decoded; @text points into it. */
struct kjoule_event {
	enum kjoule_event_type type;
	uint32_t perf_type;
	uint32_t pid, tid, ppid, ptid;
	uint32_t cpu;
	uint64_t time_ns;
	bool exec;
	uint64_t start, len, offset;
	uint64_t lost;
	const char *text;
	/*
	 * of a map's file, by the kernel: @build_id_len bytes, or, if that is 0, the number of the
	 * file
	 */
	const uint8_t *build_id;
	unsigned int build_id_len;
	uint64_t device, inode;
};

/**
 * kjoule_event_next() - iterate over a buffer of records
 * Return: 1 for a record, 0 at the end, -EBADMSG for an invalid record
 */
int kjoule_event_next(const void *buf, size_t len, size_t *off, struct kjoule_event *event);

#endif /* KJOULE_SIDEBAND_H */
