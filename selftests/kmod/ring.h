/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device for the module's selftests: attach, map, read, and a strict reader of
 * the records (struct walk) that keeps statistics of its own and holds everything against
 * the uapi header. Used by the tests that look at records.
 */
#ifndef KJOULE_SELFTESTS_RING_H
#define KJOULE_SELFTESTS_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/kjoule.h>

#include "nl.h"

struct ring {
	uint32_t cpu;
	struct kjoule_ring_head *head;
	const uint8_t *data;
	struct kjoule_ring_tail *tail;
	uint64_t size;
};

struct device {
	int fd;
	unsigned int n;
	bool mapped;
	struct ring ring[NL_MAX_CPUS];
};

/* All return 0 or -errno. */
int device_open(struct device *d, uint32_t session);
int device_map(struct device *d);
void device_unmap(struct device *d);
void device_close(struct device *d);
int device_attach(int fd, uint32_t session, uint32_t *cpus);
uint64_t ring_unread(const struct ring *r);

/*
 * What one CPU's records reported, one after another. The first thing that is wrong stays in
 * @fault; "" if nothing is.
 */
struct walk {
	const struct nl_session *session;
	uint32_t cpu;
	char fault[160];
	uint64_t bytes;
	uint64_t records;	/* pads not counted */
	uint64_t samples;
	uint64_t tasks;
	uint64_t gaps;
	uint64_t gap_ticks;	/* reported by gaps and skipped ticks, or lost with them */
	uint64_t parks;
	uint64_t parked_ticks;
	uint64_t parked_ns;
	uint64_t values;
	uint64_t losts;
	uint64_t lost_records;
	uint64_t lost_samples;
	uint64_t filtered;	/* ticks without a sample, where that is no fault */
	uint64_t next;		/* the tick that is to come */
	uint64_t untold;	/* samples lost, reported by records, not yet seen as a hole */
	bool lost_before;	/* since the last tick that was seen */
	bool timed;
	uint64_t time_ns;	/* of the last tick that was seen */
	uint64_t time_tick;	/* which one that was */
	uint64_t delay_max_ns;
	bool task_known;
	uint32_t pid, tgid;
	void (*on_sample)(struct walk *w, uint64_t tick, const struct kjoule_sample *s);
	void (*on_value)(struct walk *w, const struct kjoule_value *v);
	void (*on_window)(struct walk *w, const struct kjoule_window *v);
	void (*on_reading)(struct walk *w, const struct kjoule_vpm_reading *r);
	void (*on_energy)(struct walk *w, uint64_t tick, const struct kjoule_energy *e);
	uint64_t chains, stacks;
	bool sample_before;	/* the record before was a sample, or what belongs to one */
	bool chain_before;	/* and it had a chain */
	/* ticks that reported how long they lasted, and all of that */
	uint64_t tooks, took_ns;
	uint32_t took_tick;	/* the last of them */
	struct kjoule_sample sample;	/* the last one */
	void (*on_chain)(struct walk *w, const struct kjoule_chain *c);
	void (*on_stack)(struct walk *w, const struct kjoule_stack *s);
	void *data;		/* of these */
};

void walk_begin(struct walk *w, const struct nl_session *session, uint32_t cpu);
void walk_record(struct walk *w, const struct kjoule_record *rec);
uint64_t walk_due_ns(const struct nl_session *session, uint64_t tick);

/* Read what there is; @walk: one for each ring, in their order. Bytes or -errno. */
long drain_map(struct device *d, struct walk *walk);
long drain_read(struct device *d, struct walk *walk);

/*
 * Read for so long, and up to 2 s longer until @counted (by the walks' callbacks) is more than
 * @enough. False if it never is.
 */
bool drain_until(struct device *d, struct walk *walk, unsigned int ms, const uint64_t *counted,
		 uint64_t enough);

/* The same by a dump of netlink. @messages, if not NULL, counts those with records. */
long drain_dump(struct nl *nl, uint32_t session, struct device *d, struct walk *walk,
		unsigned int *messages);

#endif
