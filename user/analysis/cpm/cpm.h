/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The constant power model (Mukhanov et al., "ALEA: A Fine-Grained Energy Profiling Tool", ACM TACO
 * 14(1), 2017, equations 1 to 3 and 7 to 9) for a counter that is updated now and then.
 *
 * Times are counted in ticks; multiply by the interval. A "block" is whatever the caller separates,
 * numbered from 0. A "vector" (equation 7) is the co-running set: the blocks on all CPUs of a
 * package at one tick. Pure functions.
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
	uint64_t uj;		/* raw counter, from any zero */
};

#define CPM_UNSAMPLED	0	/* the set of ticks at which no block ran */

/* A group with less than this part of its ticks between known readings has no energy. */
#define CPM_KNOWN_LEAST	0.5

/*
 * Memory that sets may take, in bytes, and about how much a set and a member take while a counter
 * is solved. Twice as much with marginal members, for the base.
 */
#define CPM_VECTORS_ROOM	(256ul << 20)
#define CPM_VECTOR_BYTES	192ul
#define CPM_MEMBER_BYTES	16ul

#define CPM_NO_OTHER_SETS	UINT32_MAX	/* all sets are kept */

/* From this tick on, so many idle CPUs took no tick. */
struct cpm_untaken {
	uint64_t tick;
	uint32_t cpus;
};

/* How a block takes part in a package's energy. */
enum cpm_kind {
	CPM_BUSY,	/* pays while it runs; several at once share */
	CPM_IDLE,	/* an idle CPU: never shares with a busy one */
	CPM_MARGINAL,	/* pays what is added by it: the measurement itself */
	CPM_BYSTANDER,	/* other processes: count only while no busy block runs, and then once */
};

/**
 * struct cpm_vectors - the co-running sets of a package, tick by tick: see struct cpm_events
 *
 * If there is no room for all, those with the most ticks are kept, and all other sets with equally
 * many members are one, whose members are not kept: events have them. Sets of one block are always
 * kept.
 *
 * @first: vector v has the members [first[v], first[v + 1])
 * @members: blocks; one that runs on two CPUs is there twice
 * @base: for each vector, the vector without its marginal members
 * @kinds: of the blocks, the caller's
 * @ticks: at which some block ran
 * @multi: of these, with more than one busy CPU, marginal blocks not counted
 * @bystanders: other ticks, at which bystanders ran
 * @first_other_set: from here on vectors are all other sets of 0, 0, 1, 1, 2, 2, ... members that
 *   are not marginal, without and with marginal ones; CPM_NO_OTHER_SETS: none
 * @other_set_ticks: their ticks
 * @untaken: idle CPUs whose ticks did not happen, by tick
 * @streams,@n_streams: input
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
 * cpm_vectors_new() - find the sets that ran on the CPUs of a package
 * @kinds: enum cpm_kind of each block; must stay, as the streams' content
 * Return: 0; -ENOMEM; -EOVERFLOW: more blocks than there are numbers for vectors
 */
int cpm_vectors_new(const struct cpm_stream *streams, size_t n_streams, const uint8_t *kinds,
		    struct cpm_vectors *v);
void cpm_vectors_free(struct cpm_vectors *v);

/** cpm_is_other_set() - does it stand for many sets, without members of its own? */
static inline bool cpm_is_other_set(const struct cpm_vectors *v, uint32_t vector)
{
	return vector >= v->first_other_set;
}

/** cpm_has_other_sets() - are there sets that are not kept? */
static inline bool cpm_has_other_sets(const struct cpm_vectors *v)
{
	return v->first_other_set != CPM_NO_OTHER_SETS;
}

/** cpm_other_set_size() - members of each set that it stands for, marginal ones not counted */
static inline uint32_t cpm_other_set_size(const struct cpm_vectors *v, uint32_t other_set)
{
	return (other_set - v->first_other_set) / 2;
}

#define CPM_RECENT_BITS	13
#define CPM_RECENT	(1u << CPM_RECENT_BITS)

/* A walk over all CPUs at once, for struct cpm_events. */
struct cpm_walk {
	const uint8_t *kinds;
	struct tick_stream_cursor *at;		/* the stream's entry */
	bool *ended;
	bool *inside;			/* inside of that entry, not before it */
	/* streams at a block that counts, and as long as there are few, their blocks */
	uint32_t *running;
	size_t *place;			/* index in @active + 1; 0: not there */
	size_t *active, n_active;
	size_t n_streams;
	uint64_t now;			/* the next edge of all */
	uint64_t *edges;		/* of each stream's entry, as long as there are few */
	struct kjoule_min_heap turns;	/* the same for many */
	uint32_t *blocks;		/* running blocks, sorted */
	/* recently seen vectors of one or two blocks */
	struct cpm_recent {
		uint32_t blocks[2], vector;
		bool used;
	} *recent;
};

/*
 * Ticks at which some block ran, in order: @count ticks of @vector from @tick on; @interpolated:
 * some CPU had no sample. Recomputed from the streams each time, as there are too many to store.
 * The running blocks are the first @n of walk.blocks, until the next event: the only place that has
 * the members of all other sets.
 */
struct cpm_events {
	uint64_t tick, count;
	uint32_t vector;
	bool interpolated;
	size_t n;
	const struct cpm_vectors *v;
	struct cpm_walk walk;
};

/**
 * cpm_events_begin() - before the first. Call cpm_events_end() in any case. Return: 0 or -ENOMEM
 */
int cpm_events_begin(const struct cpm_vectors *v, struct cpm_events *e);
/** cpm_events_next() - Return: false if there is none */
bool cpm_events_next(struct cpm_events *e);
void cpm_events_end(struct cpm_events *e);

/*
 * @count ticks of a window had this vector; fractional where it changes at an end of the window,
 * see struct cpm_edges.
 */
struct cpm_part {
	uint32_t vector;
	double count;
};

/**
 * struct cpm_window - between two updates of a counter
 * @from,@to: ticks [from, to)
 * @uj: its energy, 0 if not @known: readings do not enclose it
 * @fitted: its energy is the fitted powers', see analysis/mixture/fit.h
 * @parts,@n_parts: the sets that ran in it, until the next window
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
 * struct cpm_edges - how much the ticks on both sides of a reading have of each other's windows, in
 * parts of a tick
 * @first: the first tick after it, of the window before it
 * @last: the last tick before it, of the window after it
 *
 * A counter is updated some time before the tick that sees it, and the code changes some time
 * before the tick that finds other code. If both are between the same two ticks, both windows have
 * a part of either code.
 */
struct cpm_edges {
	double first, last;
};

/** cpm_edges_of() - of a counter that is updated every @period ticks */
struct cpm_edges cpm_edges_of(double period);

/**
 * struct cpm_domain - one counter of one package, solved
 * @most_parts: of a window
 * @weights: for each step, the weight of a tick of each vector in dividing a window
 * @kinds: of each vector, see cpm_divide.h; NULL: by its weight alone
 * @uj_per_tick: the result: power of each vector
 * @alone,@n_alone: for each block its vector alone, UINT32_MAX if there is none or beyond
 * @unsampled_known: the power without any block is known, from its own windows or elsewhere
 * @idle_uj: energy of a tick without any block if no windows give it: from elsewhere, at most any
 *   window's; 0: unknown
 * @known: windows of known energy: the distinct readings
 */
struct cpm_domain {
	size_t n_windows, known, most_parts;
	uint8_t *windows;		/* packed, see struct cpm_windows */
	size_t windows_len, windows_room;
	const bool *fitted;		/* of each window; NULL: as @all_fitted */
	bool all_fitted;
	uint32_t n_vectors;
	unsigned int steps;
	struct cpm_edges edges;		/* that its windows' counts include */
	uint64_t end_tick;		/* of the recording */
	double *weights[CPM_STEPS];
	uint8_t *kinds;
	double *uj_per_tick;
	uint32_t *alone, n_alone;
	bool unsampled_known;
	double idle_uj;
};

/**
 * struct cpm_irq - energy of interrupts, taken out of every window before it is divided
 * @busy_uj: on a CPU that runs some block, between two ticks
 * @idle_uj: on any other that took a tick
 * @n_cpus: of the package
 * @more_uj: by block, how much more than @busy_uj where a tick hits it; NULL: no more
 */
struct cpm_irq {
	double busy_uj, idle_uj;
	const float *more_uj;
	unsigned int n_cpus;
};

/**
 * cpm_solve() - the power of each vector
 * @readings: of the counter, in order
 * @end_tick: after the last tick of the recording
 * @steps: 1 for equal shares inside a window (equation 2); up to CPM_STEPS, see cpm.c
 * @irq: may be NULL
 * @edges: NULL: ticks belong to their windows as a whole
 * @idle_uj: energy of a tick without any block, as known from elsewhere; NAN or 0: unknown
 *
 * A sample belongs to the window that encloses it. All energy of a window is divided among its
 * ticks.
 *
 * Return: 0, -ENODATA with fewer than two readings or where all are equal, -ENOMEM
 */
int cpm_solve(const struct cpm_vectors *v, const struct cpm_reading *readings, size_t n,
	      uint64_t end_tick, unsigned int steps, const struct cpm_irq *irq,
	      const struct cpm_edges *edges,
	      double idle_uj, struct cpm_domain *d);
/*
 * The same in parts, so that sets are found once for several counters: cpm_making_new() for each
 * counter, cpm_vectors_collect() fills in vectors and feeds all; cpm_making_end();
 * cpm_solve_windows().
 */
struct cpm_making;

/**
 * cpm_making_new() - @edges: NULL: ticks are whole, for models that handle edges themselves
 * Return: as cpm_solve(); what is made is freed by cpm_making_end()
 */
int cpm_making_new(const struct cpm_vectors *v, const struct cpm_reading *readings, size_t n,
		   uint64_t end_tick, const struct cpm_irq *irq, const struct cpm_edges *edges,
		   struct cpm_domain *d, struct cpm_making **m);
/** cpm_making_event() - @count ticks of a vector from @tick on, in order. Return: 0 or -ENOMEM */
int cpm_making_event(struct cpm_making *m, uint64_t tick, uint64_t count, uint32_t vector);
/**
 * cpm_making_end() - after all events, or after a failure (@ret). May be NULL. Return: @ret, or
 * -ENOMEM
 */
int cpm_making_end(struct cpm_making *m, int ret);
/** cpm_solve_windows() - Return: 0 or -ENOMEM, and the domain is freed */
int cpm_solve_windows(const struct cpm_vectors *v, unsigned int steps, double idle_uj,
		      struct cpm_domain *d);
/** cpm_making_restart() - drop all events */
void cpm_making_restart(struct cpm_making *m);
/**
 * cpm_vectors_collect() - cpm_vectors_new() that feeds its events to @n of these as well
 * @room: bytes that vectors may take; 0: CPM_VECTORS_ROOM
 */
int cpm_vectors_collect(const struct cpm_stream *streams, size_t n_streams, const uint8_t *kinds,
			size_t room, struct cpm_vectors *v, struct cpm_making *const *making,
			size_t n);
void cpm_domain_free(struct cpm_domain *d);

/* The windows in order: the current one @w, with @number before it. */
struct cpm_windows {
	struct cpm_window w;
	size_t number;
	const struct cpm_domain *d;
	const uint8_t *at;
	struct cpm_part *parts;
};

/**
 * cpm_windows_begin() - before the first. Call cpm_windows_end() in any case. Return: 0 or -ENOMEM
 */
int cpm_windows_begin(const struct cpm_domain *d, struct cpm_windows *c);
bool cpm_windows_next(struct cpm_windows *c);
void cpm_windows_end(struct cpm_windows *c);
/** cpm_counts() - add each vector's ticks in all windows to @counts. Return: 0 or -ENOMEM */
int cpm_counts(const struct cpm_domain *d, uint64_t *counts);

/**
 * struct cpm_group - energy of a group of blocks
 * @uj: its energy; NAN: most of it is in no known window
 * @variance: of @uj, by how windows differ from the model, and how much of it is in known windows
 * @dof: degrees of freedom of @variance; 0: unknown
 * @bias_uj: what further refinement would still change, added to the half width
 * @readings: distinct readings that it has a part in
 * @share: 0 to 1: its share of its windows, averaged over its ticks; low: mixed with neighbours
 */
struct cpm_group {
	double uj;
	double variance;
	double dof;
	double bias_uj;
	uint64_t readings;
	double share;
};

/* A grouping of blocks. */
struct cpm_level {
	const uint32_t *group_of;
	uint32_t unsampled_group, n_groups;
	struct cpm_group *out;
};

/** cpm_levels() - several groupings in one pass. Return: 0 or -ENOMEM */
int cpm_levels(const struct cpm_vectors *v, const struct cpm_domain *d,
	       const struct cpm_level *levels, size_t n);
/**
 * cpm_groups() - add up blocks
 * @group_of: group of each block
 * @unsampled_group: of ticks at which no block ran
 * @out: @n_groups of them
 * Return: 0 or -ENOMEM
 */
int cpm_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
	       uint32_t unsampled_group, uint32_t n_groups, struct cpm_group *out);

/**
 * cpm_vector_groups() - add up vectors: all energy while their blocks ran, undivided
 * @group_of: group of each vector, CPM_UNSAMPLED included
 * @out: @n_groups of them
 * Return: 0 or -ENOMEM
 */
int cpm_vector_groups(const struct cpm_vectors *v, const struct cpm_domain *d,
		      const uint32_t *group_of, uint32_t n_groups, struct cpm_group *out);

/* A stream with a label for each of its entries. */
struct cpm_labelled {
	struct cpm_stream stream;
	const uint32_t *labels;
};

/**
 * cpm_labels() - add up the energy of ticks by the labels of their entries
 * @streams: those of cpm_vectors_new(), in the same order
 * @unsampled_label: of ticks at which no block ran
 * @out: microjoule, added to
 *
 * The labels of all of a block's ticks add up to cpm_groups() of the block.
 *
 * Return: 0 or -ENOMEM
 */
int cpm_labels(const struct cpm_vectors *v, const struct cpm_domain *d,
	       const struct cpm_labelled *streams, size_t n_streams, uint32_t unsampled_label,
	       double *out);

#endif /* KJOULE_CPM_H */
