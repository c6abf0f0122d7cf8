/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From each CPU's records to samples with full tick numbers, gaps, losses and
 * energy readings. Pure: works on buffers, opens and prints nothing.
 */
#ifndef KJOULE_TIMELINE_H
#define KJOULE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/kjoule.h>

#define TIMELINE_NO_TASK	UINT32_MAX	/* whose sample it is was lost */
#define TIMELINE_DOMAINS	32

struct timeline_sample {
	uint64_t tick;
	uint64_t ip;
	uint32_t pid, tgid;
	uint32_t freq_khz;	/* 0: not known */
	uint32_t late_ns;
	uint8_t flags;		/* KJOULE_SAMPLE_* */
};

/* Ticks [first, first + count) did not happen. */
struct timeline_gap {
	uint64_t first, count;
};

/* Records were lost between the ticks @from and @to (both may hold some that were not). */
struct timeline_hole {
	uint64_t from, to;
	uint64_t samples;	/* how many samples are lost, if @known */
	bool known;
};

struct timeline_reading {
	uint64_t tick;
	uint64_t uj;
};

struct timeline_cpu {
	uint32_t cpu, package;
	size_t n_samples, n_gaps, n_holes;
	struct timeline_sample *samples;
	struct timeline_gap *gaps;
	struct timeline_hole *holes;
	uint64_t next_tick;	/* after the last that was seen */
};

struct timeline_package {
	uint32_t package;
	size_t n_readings[TIMELINE_DOMAINS];
	struct timeline_reading *readings[TIMELINE_DOMAINS];
};

struct timeline {
	size_t n_cpus, n_packages;
	struct timeline_cpu *cpus;
	struct timeline_package *packages;
	uint64_t end_tick;	/* after the last that was seen on any CPU */
	uint64_t disorder;	/* records whose tick made no sense, left out */
	uint64_t damaged;	/* bytes behind content that was no record */
	uint64_t backwards;	/* readings below the one before, left out */
	uint32_t max_late_ns;
	uint32_t max_skew_ns;	/* largest difference of lateness at one tick between CPUs */
};

/**
 * timeline_add() - take a CPU's records; each CPU once
 * @max_tick:	no tick can be larger (from the books); UINT64_MAX if not known
 * Return: 0 or -ENOMEM
 */
int timeline_add(struct timeline *tl, uint32_t cpu, uint32_t package, const void *records,
		 size_t len, uint64_t max_tick);
/** timeline_finish() - after the last CPU: order readings, find the skew */
void timeline_finish(struct timeline *tl);
void timeline_free(struct timeline *tl);

#endif /* KJOULE_TIMELINE_H */
