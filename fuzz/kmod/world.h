/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fuzzing thread knows: its sockets, the sessions made through them, its open
 * devices and mappings, descriptors that are none of these, and what came of all it sent. Its moves
 * are in control.c (netlink), bulk.c (the device) and others.c (children, rights); test_netlink.c
 * chooses among them.
 */
#ifndef KJOULE_FUZZ_WORLD_H
#define KJOULE_FUZZ_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "dice.h"
#include "grammar.h"

#define SOCKETS		6
#define SESSIONS	12	/* known at once */
#define RUNNING		2	/* at once, by moves that mean well: ticks take time here */
#define DEVICES		6
#define MAPPINGS	8
#define STRANGERS	16
#define OPS		32	/* of the specification */

/* How a message differs from what it should be. */
enum shape {
	SHAPE_VALID,
	SHAPE_VALUE,		/* any values in attributes that are well formed */
	/* lengths, types, nesting, duplicates, flags, attributes of others */
	SHAPE_FORM,
	SHAPE_BYTES,		/* cut, longer, bytes changed */
	SHAPES,
};

enum outcome {
	ACCEPTED,
	REFUSED,
	UNANSWERED,		/* not asked for, lost, or read by another thread */
	OUTCOMES,
};

enum ioctl_kind {
	IOCTL_INFO,
	IOCTL_ATTACH,
	IOCTL_RING,
	IOCTL_OTHER,		/* unknown ones, and all that are asked of another file */
	IOCTLS,
};

/* Shared by all threads and children; atomic. */
struct tally {
	uint64_t messages;	/* netlink's and ioctls */
	uint64_t netlink[OPS + 1][SHAPES][OUTCOMES];	/* by command; beyond OPS in the last one */
	uint64_t ioctl[IOCTLS][OUTCOMES];
	uint64_t mmap[2], read[2];	/* done, refused */
	uint64_t faults;	/* allocations that were made to fail */
	uint64_t children, stripped, abandoned, notices, reloads;
};

struct session {
	uint32_t id;		/* 0: none */
	int socket;		/* that made it, -1: not known */
	uint32_t state;		/* enum kjoule_session_state, as far as is known */
};

struct device {
	int fd;
	uint32_t session;	/* attached to, 0: none */
	uint32_t rings;
	uint64_t ring_bytes;	/* 0: not asked yet */
};

struct mapping {
	void *at;
	size_t bytes;
	int prot;
};

/* A session-new that is meant to be accepted: what its attributes have to agree on. */
enum holds { HOLDS_NOBODY, HOLDS_IN_WINDOWS, HOLDS_AT_BLOCKS };

struct plan {
	uint32_t target;
	uint64_t interval_ns, flags;
	bool big;		/* a large ring, and a large stack if any */
	enum holds holds;	/* CPUs, and what for */
	uint64_t block;		/* address of a block's first instruction */
	uint32_t origin, quantity;	/* of the specification that is being put */
};

struct world {
	struct dice dice;
	unsigned int thread;
	uint64_t seed, moves;
	uint64_t path;		/* of what was tried so far: equal for equal seeds */
	bool alone;		/* no children */
	bool child;		/* a process that was forked, soon to end */
	bool stripped;		/* of rights, for some moves */
	bool may_fail;		/* allocations can be made to fail in this thread */
	struct world *peer;	/* another thread, NULL if there is none */
	struct tally *tally;
	FILE *trace;		/* each move is written there, if not NULL */
	uint16_t family;
	uint32_t group;
	uint32_t seq;
	int other_net;		/* a network namespace, -1: none */
	int socket[SOCKETS];	/* -1: closed */
	struct session session[SESSIONS];
	struct device device[DEVICES];
	struct mapping mapping[MAPPINGS];
	int stranger[STRANGERS];
	unsigned int strangers;
	int cgroup_fd;		/* -1: none */
	pid_t tid, busy;	/* busy: a process that only computes */
	struct plan plan;
	int wanted;		/* state of the session that is to be picked, -1: any */
	/* addresses where reading, writing or both fail; the last one's page ends so */
	void *bad[4];
	/* a page, and where it can only be read; nothing is behind it */
	uint8_t *argument, *read_only;
	unsigned int nth;	/* allocation that is to fail in this move, 0: none */
	timer_t timer;		/* interrupts what waits */
};

/* A choice that does not depend on what is there. */
static inline unsigned int chosen(struct world *w, unsigned int choice)
{
	w->path = w->path * 31 + choice + 1;
	return choice;
}

static inline void count(uint64_t *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

/* world.c. Begin and end once in a thread, open and close around each load of the module. */
bool world_begin(struct world *w);
bool world_begin_child(struct world *w);	/* what a fork has not copied */
void world_end(struct world *w);
bool world_open(struct world *w);
void world_close(struct world *w);	/* all that holds the module */
void world_close_sockets(struct world *w);
/*
 * What stays mapped holds the module, which would look like a fault of its: that ends the fuzzer.
 */
void world_unmap(void *at, size_t bytes);
void world_forget_mapping(struct mapping *m);

/* Around a call: an allocation in it may fail; it is interrupted when it waits for long. */
void world_arm(struct world *w);
void world_disarm(struct world *w);
void world_hurry(struct world *w);
void world_relax(struct world *w);

/* Of what is known one, with what the peer has and at times numbers that no one has. */
uint32_t any_session(struct world *w);
int any_fd(struct world *w);
unsigned int sessions_running(const struct world *w);
unsigned int sessions_known(const struct world *w);
struct session *session_find(struct world *w, uint32_t id);
void session_add(struct world *w, uint32_t id, int socket);

/*
 * values.c: a value that an attribute may well have, and whether to put it in a request that is
 * meant well: -1 no, 0 perhaps, 1 yes.
 */
uint64_t value_number(struct world *w, const struct rule_set *set, const struct rule_attr *attr);
const char *value_text(struct world *w, const struct rule_set *set, const struct rule_attr *attr);
size_t value_bytes(struct world *w, const struct rule_attr *attr, uint8_t *to, size_t room);
int value_wanted(struct world *w, const struct rule_set *set, const struct rule_attr *attr);
void value_plan(struct world *w);
void value_plan_spec(struct world *w);

/* Moves. */
void control_message(struct world *w);
void control_batch(struct world *w);
void control_abandon(struct world *w);
void control_socket(struct world *w);
void control_option(struct world *w);
void control_receive(struct world *w);
void bulk_ioctl(struct world *w);
void bulk_open(struct world *w);
void bulk_close(struct world *w);
void bulk_map(struct world *w);
void bulk_unmap(struct world *w);
void bulk_touch(struct world *w);
void bulk_tail(struct world *w);
void bulk_read(struct world *w);
void bulk_poll(struct world *w);
void bulk_file(struct world *w);
void other_child(struct world *w);
void other_stripped(struct world *w);
void other_stats(struct world *w);

#endif
