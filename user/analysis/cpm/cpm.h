/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The constant power model (Mukhanov et al., "ALEA: A Fine-Grained Energy
 * Profiling Tool", ACM TACO 14(1), 2017, equations 1 to 3 and 7 to 9) over what
 * a counter that moves now and then can tell.
 *
 * Ticks are what is counted; multiply by the interval for time. A "block" is
 * whatever the caller wants told apart, numbered from 0. A "vector" is what ran
 * on all CPUs of a package at one tick (equation 7). Pure functions.
 */
#ifndef KJOULE_CPM_H
#define KJOULE_CPM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/ticks/tick_stream.h"
#include "lib/base/min_heap.h"

struct cpm_reading {
	uint64_t tick;		/* the first one after it */
	uint64_t uj;		/* what it said, counted from anywhere */
};

#define CPM_UNSAMPLED	0	/* the vector of ticks at which no block ran */

/* What has less than such a part of its ticks where readings tell of them has no energy. */
#define CPM_KNOWN_LEAST	0.5

/*
 * What vectors may take of the memory, in bytes, and what each of them and each of its members takes about, with all that
 * is known of them while a counter is solved. Twice as much with marginal members: there is its base as well.
 */
#define CPM_VECTORS_ROOM	(256ul << 20)
#define CPM_VECTOR_BYTES	192ul
#define CPM_MEMBER_BYTES	16ul

#define CPM_NO_OTHER_SETS	UINT32_MAX	/* all vectors are kept */

/* From this tick on, so many idle CPUs took no tick. */
struct cpm_untaken {
	uint64_t tick;
	uint32_t cpus;
};

/* How a block takes part in a package's energy. */
enum cpm_kind {
	CPM_BUSY,	/* it pays while it runs; several at once share */
	CPM_IDLE,	/* an idle CPU: never shares with a busy one */
	CPM_MARGINAL,	/* pays what is more because of it: the measurement itself */
	CPM_BYSTANDER,	/* a CPU with somebody who was not asked for: is there only while nobody who was runs, and then once */
};

/**
 * struct cpm_vectors - what ran on a package, tick by tick: see struct cpm_events
 *
 * Where there are more than there is room for, those with the most ticks are kept, and all others with as many members
 * are one vector, a crowd, whose members are not kept: events tell what ran. Vectors of one block are always kept.
 *
 * @first:	vector v has the members [first[v], first[v + 1])
 * @members:	blocks; one that runs on two CPUs is there twice
 * @base:	for each vector, the vector without its marginal members
 * @kinds:	of the blocks, the caller's
 * @ticks:	at which some block ran
 * @multi:	of these, more than one CPU was busy, marginal blocks not counted
 * @bystanders:	other ticks, at which bystanders ran
 * @first_other_set: vectors from this one on are crowds, of 0, 0, 1, 1, 2, 2, ... members that are not marginal, without and with
 *		marginal ones; CPM_NO_OTHER_SETS: none is
 * @other_set_ticks: ticks at which some block ran that are in crowds
 * @untaken:	idle CPUs whose ticks did not happen, by tick
 * @streams,@n_streams: they were made of
 * @slots,@room: finds a vector by its members
 */
struct cpm_vectors {
	size_t n_untaken;
	struct cpm_untaken *untaken;
	uint32_t n_vectors;
	uint32_t *first;
	uint32_t *members;
	uint32_t *base;
	const uint8_t *kinds;
	uint64_t ticks, multi, bystanders;
	uint32_t first_other_set;
	uint64_t other_set_ticks;
	struct cpm_stream *streams;
	size_t n_streams;
	uint32_t *slots, room;
};

/**
 * cpm_vectors_new() - put the CPUs of a package together
 * @kinds:	enum cpm_kind of each block; must stay, as what is in the lanes
 * Return: 0; -ENOMEM; -EOVERFLOW: more blocks than vectors can be numbered
 */
int cpm_vectors_new(const struct cpm_stream *streams, size_t n_streams, const uint8_t *kinds,
		    struct cpm_vectors *v);
void cpm_vectors_free(struct cpm_vectors *v);

/** cpm_is_other_set() - does it stand for many vectors, and has no members of its own? */
static inline bool cpm_is_other_set(const struct cpm_vectors *v, uint32_t vector)
{
	return vector >= v->first_other_set;
}

/** cpm_has_other_sets() - are there vectors that are not kept? */
static inline bool cpm_has_other_sets(const struct cpm_vectors *v)
{
	return v->first_other_set != CPM_NO_OTHER_SETS;
}

/** cpm_other_set_size() - members that are not marginal, of each of the vectors that a crowd stands for */
static inline uint32_t cpm_other_set_size(const struct cpm_vectors *v, uint32_t other_set)
{
	return (other_set - v->first_other_set) / 2;
}

#define CPM_RECENT_BITS	13
#define CPM_RECENT	(1u << CPM_RECENT_BITS)

/* A walk over all CPUs at once; the inside of struct cpm_events. */
struct cpm_walk {
	const uint8_t *kinds;
	struct tick_stream_cursor *at;		/* the lane's entry */
	bool *ended;			/* it has none */
	bool *inside;			/* the walk is inside that entry, not before it */
	/* lanes that are at a block that counts: as long as there are few, the block of each of them */
	uint32_t *running;
	size_t *place;			/* in @active, + 1; 0: not there */
	size_t *active, n_active;
	size_t n_streams;
	uint64_t now;			/* the next edge of all */
	uint64_t *edges;		/* of each lane's entry, as long as there are few lanes */
	struct kjoule_min_heap turns;	/* the same for many */
	uint32_t *blocks;		/* what runs, sorted */
	/* vectors of one or two blocks that were met last */
	struct cpm_recent {
		uint32_t blocks[2], vector;
		bool used;
	} *recent;
};

/*
 * Ticks at which some block ran, in order: the vector @vector at @tick and at what follows, @count of them; @interpolated:
 * what some CPU ran was not seen. They are found anew from the lanes each time: there are too many to be kept. The blocks
 * that ran are the first @n of walk.blocks, until the next one: of a crowd they are known from here only.
 */
struct cpm_events {
	uint64_t tick, count;
	uint32_t vector;
	bool interpolated;
	size_t n;
	const struct cpm_vectors *v;
	struct cpm_walk walk;
};

/** cpm_events_begin() - before the first. Return: 0 or -ENOMEM; cpm_events_end() is due in both cases */
int cpm_events_begin(const struct cpm_vectors *v, struct cpm_events *e);
/** cpm_events_next() - Return: false if there is none */
bool cpm_events_next(struct cpm_events *e);
void cpm_events_end(struct cpm_events *e);

/*
 * @count ticks of a window had this vector; not whole ones where the vector changes at one of its
 * ends, see struct cpm_edges.
 */
struct cpm_part {
	uint32_t vector;
	double count;
};

/**
 * struct cpm_window - between two moves of a counter
 * @from,@to:	ticks [from, to)
 * @uj:		what was spent, 0 if it is not @known: the counter did not tell this one's energy whole
 * @fitted:	the powers were fitted to it: it has what they say, see analysis/mixture/fit.h
 * @parts,@n_parts: what ran in it, until the next window
 */
struct cpm_window {
	uint64_t from, to;
	double uj;
	bool known, fitted;
	const struct cpm_part *parts;
	size_t n_parts;
};

#define CPM_STEPS	3	/* equal shares, then two steps of refinement */

/**
 * struct cpm_edges - what the ticks on both sides of a reading have of each other's windows, as parts of a tick
 * @first:	the first tick after it, of the window before it
 * @last:	the last tick before it, of the window after it
 *
 * A counter moves some time before the tick at which that is seen, and the code changes some time
 * before the tick that finds another. Where both are between the same two ticks, windows have
 * something of both.
 */
struct cpm_edges {
	double first, last;
};

/** cpm_edges_of() - of a counter that moves every @period ticks */
struct cpm_edges cpm_edges_of(double period);

/**
 * struct cpm_domain - one counter of one package, solved
 * @most_parts:	of a window
 * @weights:	for each step, how a tick of each vector weighs in dividing a window
 * @kinds:	of each vector, how it weighs in a window, see cpm_divide.h; NULL: by its weight alone
 * @uj_per_tick: the answer: power of each vector
 * @alone,@n_alone: for each block the vector in which it runs alone, UINT32_MAX if it never does; as all that are beyond
 * @unsampled_known: the power while no block runs is known, from windows of its own or from elsewhere
 * @idle_uj:	what a tick takes at which nothing runs, where no windows tell that: from elsewhere, and no more than any window's; 0: not known
 * @known:	windows whose energy is known: the distinct readings
 */
struct cpm_domain {
	size_t n_windows, known, most_parts;
	uint8_t *windows;		/* packed, see struct cpm_windows */
	size_t windows_len, windows_room;
	const bool *fitted;		/* of each window, the fit's; NULL: as @all_fitted says */
	bool all_fitted;
	uint32_t n_vectors;
	unsigned int steps;
	struct cpm_edges edges;		/* as in its windows' counts */
	uint64_t end_tick;		/* of the recording */
	double *weights[CPM_STEPS];
	uint8_t *kinds;
	double *uj_per_tick;
	uint32_t *alone, n_alone;
	bool unsampled_known;
	double idle_uj;
};

/**
 * struct cpm_irq - what interrupts spend, taken out of every window before it is divided
 * @busy_uj:	on a CPU that runs some block, between two ticks
 * @idle_uj:	on any other that took a tick
 * @n_cpus:	of the package
 * @more_uj:	by block, how much more than @busy_uj where a tick meets it; NULL: as much
 */
struct cpm_irq {
	double busy_uj, idle_uj;
	const float *more_uj;
	unsigned int n_cpus;
};

/**
 * cpm_solve() - the power of each vector
 * @readings:	of the counter, in order
 * @end_tick:	after the last tick of the recording
 * @steps:	1 for equal shares inside a window (equation 2); up to CPM_STEPS, see cpm.c
 * @irq:	may be NULL
 * @edges:	NULL: ticks are whole in their windows
 * @idle_uj:	what a tick takes at which nothing runs, for all that is known from elsewhere; NAN or 0: it is not
 *
 * A sample belongs to the window that encloses it. The energy of a window is divided
 * among its ticks and none is left over.
 *
 * Return: 0, -ENODATA with fewer than two readings or where all say the same, -ENOMEM
 */
int cpm_solve(const struct cpm_vectors *v, const struct cpm_reading *readings, size_t n,
	      uint64_t end_tick, unsigned int steps, const struct cpm_irq *irq, const struct cpm_edges *edges,
	      double idle_uj, struct cpm_domain *d);
/*
 * The same in parts, so that what ran together is found once for several counters: cpm_making_new() for each of
 * them, with vectors that cpm_vectors_collect() will fill in and hand to it; cpm_making_end(); cpm_solve_windows().
 */
struct cpm_making;

/**
 * cpm_making_new() - @edges: NULL: ticks are whole in their windows, for models that take care of these themselves
 * Return: as cpm_solve(); what is made is freed by cpm_making_end()
 */
int cpm_making_new(const struct cpm_vectors *v, const struct cpm_reading *readings, size_t n, uint64_t end_tick,
		   const struct cpm_irq *irq, const struct cpm_edges *edges, struct cpm_domain *d, struct cpm_making **m);
/** cpm_making_event() - @count ticks of a vector from @tick on, after all that were before. Return: 0 or -ENOMEM */
int cpm_making_event(struct cpm_making *m, uint64_t tick, uint64_t count, uint32_t vector);
/** cpm_making_end() - all events were there, or (@ret) something failed. Return: @ret, or -ENOMEM; may be NULL */
int cpm_making_end(struct cpm_making *m, int ret);
/** cpm_solve_windows() - Return: 0 or -ENOMEM, and the domain is freed */
int cpm_solve_windows(const struct cpm_vectors *v, unsigned int steps, double idle_uj, struct cpm_domain *d);
/** cpm_making_restart() - as if none of the events had been there */
void cpm_making_restart(struct cpm_making *m);
/**
 * cpm_vectors_collect() - cpm_vectors_new(), all of whose events are handed to @n of these as well
 * @room:	bytes that vectors may take; 0: CPM_VECTORS_ROOM
 */
int cpm_vectors_collect(const struct cpm_stream *streams, size_t n_streams, const uint8_t *kinds, size_t room,
			struct cpm_vectors *v, struct cpm_making *const *making, size_t n);
void cpm_domain_free(struct cpm_domain *d);

/* The windows one after another: @w is the window, @number of them were before it. */
struct cpm_windows {
	struct cpm_window w;
	size_t number;
	const struct cpm_domain *d;
	const uint8_t *at;
	struct cpm_part *parts;
};

/** cpm_windows_begin() - before the first. Return: 0 or -ENOMEM; cpm_windows_end() is due in both cases */
int cpm_windows_begin(const struct cpm_domain *d, struct cpm_windows *c);
/** cpm_windows_next() - Return: false if there is none */
bool cpm_windows_next(struct cpm_windows *c);
void cpm_windows_end(struct cpm_windows *c);
/** cpm_counts() - ticks of each vector in all windows, added to @counts. Return: 0 or -ENOMEM */
int cpm_counts(const struct cpm_domain *d, uint64_t *counts);

/**
 * struct cpm_group - energy of a group of blocks
 * @uj:		its energy; NAN: the counter stood for so long that no window tells of most of it
 * @variance:	of @uj, from how the windows differ from the model, and how much of it these tell of
 * @dof:	degrees of freedom of @variance; 0: it cannot be told
 * @bias_uj:	what further refinement would still move, added to the half width
 * @readings:	distinct readings that it has a part in
 * @share:	0 to 1: the part of its windows that is its own, averaged over its ticks;
 *		low: its power is mixed with its neighbours'
 */
struct cpm_group {
	double uj;
	double variance;
	double dof;
	double bias_uj;
	uint64_t readings;
	double share;
};

/* A grouping of blocks, as cpm_groups() has it. */
struct cpm_level {
	const uint32_t *group_of;
	uint32_t unsampled_group, n_groups;
	struct cpm_group *out;
};

/** cpm_levels() - cpm_groups() for some groupings at once, which is faster. Return: 0 or -ENOMEM */
int cpm_levels(const struct cpm_vectors *v, const struct cpm_domain *d, const struct cpm_level *levels, size_t n);
/**
 * cpm_groups() - add up blocks
 * @group_of:	group of each block
 * @unsampled_group: of ticks at which no block ran
 * @out:	@n_groups of them
 * Return: 0 or -ENOMEM
 */
int cpm_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
	       uint32_t unsampled_group, uint32_t n_groups, struct cpm_group *out);

/**
 * cpm_vector_groups() - add up vectors: all that was spent while their blocks ran together, nothing is shared out
 * @group_of:	group of each vector, CPM_UNSAMPLED included
 * @out:	@n_groups of them
 * Return: 0 or -ENOMEM
 */
int cpm_vector_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
		      uint32_t n_groups, struct cpm_group *out);

/* A lane, each of its entries with a label. */
struct cpm_labelled {
	struct cpm_stream stream;
	const uint32_t *labels;
};

/**
 * cpm_labels() - add up the energy of ticks by the labels of their entries
 * @streams:	those of cpm_vectors_new(), in the same order
 * @unsampled_label: of ticks at which no block ran
 * @out:	microjoule, added to what is there
 *
 * The labels of all of a block's ticks come to as much as cpm_groups() says of the block.
 *
 * Return: 0 or -ENOMEM
 */
int cpm_labels(const struct cpm_vectors *v, const struct cpm_domain *d,
	       const struct cpm_labelled *streams, size_t n_streams, uint32_t unsampled_label, double *out);

#endif /* KJOULE_CPM_H */
