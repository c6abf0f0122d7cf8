/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time, energy, power and frequency of groups of blocks, with what the
 * measurement itself took set apart. Puts analysis/cpm/cpm.c and analysis/stats/interval.c together. Pure.
 */
#ifndef KJOULE_PROFILE_H
#define KJOULE_PROFILE_H

#include "analysis/edge/edge.h"
#include "analysis/mixture/mixture.h"
#include "analysis/stats/interval.h"

/* How the energy of windows is made powers of blocks. */
enum profile_model {
	PROFILE_CPM,		/* constant power: shares of each window, see analysis/cpm/cpm.h */
	PROFILE_EDGE,		/* from edge windows, see analysis/edge/edge.h */
	PROFILE_MIXTURE,	/* fitted to all windows, see analysis/mixture/mixture.h */
};

#define PROFILE_DOMAINS		8	/* energy domains told side by side */

/*
 * How well a calibration knows at best what interrupts take, of their time and of their energy: half a 95 % interval.
 * The program mix took so much longer when it was recorded, by the virtual chip's oracle, that ticks took 4.2 % more than
 * calibrated (profile quick, seeds 1 to 3), 4.8 % (plain, 1 to 3) and 5.8 % (client, 1), and ticks and other interrupts
 * together 3, 3 and 4 % more. That includes what it took to switch to the recorder, some 1 %.
 */
#define PROFILE_CALIBRATION_ERROR	0.06

/**
 * struct profile_stream - one CPU
 * @freq_khz:	for each tick, 0: not known
 * @tick_ns:	what a tick takes from the code that it interrupts, 0: not known
 * @idle_tick_ns: what it takes where nothing is interrupted
 * @usual_khz:	harmonic mean of @freq_khz: the frequency at which a tick takes @tick_ns and other
 *		interrupts their part; at another they take in proportion. 0: not known
 * @shadow:	no CPU of its own: what ran on one of the others besides their samples
 */
struct profile_stream {
	struct cpm_stream stream;
	const uint32_t *freq_khz;
	double tick_ns, idle_tick_ns;
	double usual_khz;
	bool shadow;
};

/**
 * struct profile_cost - what interrupts take of a block's ticks, by what they take on the average
 * @longer:	how many times as long kjoule's ticks took
 * @interrupted: how many times as much other interrupts took
 * @variance:	of what interrupts took of the time, as a part of it, for each tick: the square of an error times the ticks
 * @shifted:	part of the time by which @longer is more for a reason that is not sure, or less; zero for all together
 */
struct profile_cost {
	float longer, interrupted;
	float variance, shifted;
};

/**
 * struct profile_package - counters, and the CPUs whose energy they count
 * @streams:	indices into profile_input.lanes; NULL: all of them
 * @n_streams:	of these
 * @readings,@n_readings: of each domain; domains whose counters cover other CPUs are in another
 *		one. Packages of one domain have no lane in common
 * @periods_ns:	between moves of each domain's counter, nominal; 0: not known, and it is as it was read
 * @windows,@n_windows: for PROFILE_EDGE, of the domain @window_domain; the others are not known then
 */
struct profile_package {
	const uint32_t *streams;
	size_t n_streams;
	const struct cpm_reading *readings[PROFILE_DOMAINS];
	size_t n_readings[PROFILE_DOMAINS];
	double periods_ns[PROFILE_DOMAINS];
	const struct edge_window *windows;
	size_t n_windows;
	unsigned int window_domain;
};

/**
 * struct profile_input - a recording, reduced to what the models need
 * @interval_ns: between ticks
 * @jitter:	see interval_times()
 * @end_tick:	after the last tick
 * @other:	part of the time, 0 to 1, taken by interrupts that no sample can fall on
 * @other_error: how far off that may be, as a part of the time as well
 * @calibration_error: how far off what interrupts took may be, as a part of it; at least
 *		PROFILE_CALIBRATION_ERROR is assumed
 * @irq_w:	power of each domain while a tick or another interrupt runs; NAN: not known, then
 *		that of the code that it interrupts
 * @tick_less_w: a tick draws so much less, give or take as much
 * @idle_uj:	energy of a tick on an idle CPU, in each domain; NAN: not known, then @irq_w for as
 *		long as the tick sees itself
 * @idle_w:	power while all CPUs are idle, in each domain, for short idle times; NAN or 0: not known
 * @kinds:	enum cpm_kind of each block
 * @costs:	of each block; NULL: all are as on the average
 * @others_busy: ticks at which no block is known ran other code and cost as much as any: idle CPUs
 *		take none
 * @unsampled_block: the block that ticks at which nothing else ran count for
 * @steps:	see cpm_solve()
 * @vectors_room: bytes that what ran together on a package may take; 0: CPM_VECTORS_ROOM
 * @model:	PROFILE_MIXTURE takes one package to a domain, and blocks that can be told apart, see separability.h
 * @one_silence: bystanders are silence, as they are to all models but PROFILE_CPM: for what is looked at before another model is chosen
 * @loose:	of blocks for PROFILE_MIXTURE, see struct fit_input; NULL: none
 * @unknown,@n_unknown: ticks of which nobody knows what ran, see struct mixture_input
 * @session,@paused: for PROFILE_EDGE: when which tick was due, and the block of those of held CPUs
 */
struct profile_input {
	double interval_ns;
	double jitter;
	uint64_t end_tick;
	double other;
	double other_error;
	double calibration_error;
	double irq_w[PROFILE_DOMAINS];
	double tick_less_w[PROFILE_DOMAINS];
	double idle_uj[PROFILE_DOMAINS];
	double idle_w[PROFILE_DOMAINS];
	size_t n_streams;
	const struct profile_stream *streams;
	size_t n_packages;
	const struct profile_package *packages;
	unsigned int n_domains;
	uint32_t n_blocks;
	const uint8_t *kinds;
	const struct profile_cost *costs;
	uint32_t unsampled_block;
	bool others_busy;
	unsigned int steps;
	size_t vectors_room;
	enum profile_model model;
	bool one_silence;
	const bool *loose;
	const struct mixture_range *unknown;
	size_t n_unknown;
	const struct kjoule_session_info *session;
	uint32_t paused;
};

/**
 * struct profile_energy - the energy of a group in one domain, with and (net) without what interrupts spent
 * @j,@net_j:	joules
 * @w,@net_w:	watts
 * @ticks_j,@other_j: parts of @j that kjoule's ticks and other interrupts spent
 * @readings:	distinct ones
 * @share:	see struct cpm_group; NAN: it is no matter with this model, or the energy is not known
 *
 * What the intervals are made of besides the time's, for whoever puts recordings together (analysis/runs/runs.h):
 *
 * @residual_j:	standard deviation of the energy, from how windows differ from the model; NAN: cannot be told
 * @dof:	degrees of freedom of @residual_j; 0: it is 0, and known to be
 * @bias_j:	what further refinement would still move; no deviation: more samples do not shrink it
 * @off_j,@off_w: how far off the calibration may be, likewise
 */
struct profile_energy {
	struct value j, net_j;
	struct value w, net_w;
	double ticks_j, other_j;
	uint64_t readings;
	double share;
	double residual_j, dof;
	double bias_j, off_j, off_w;
};

/**
 * struct profile_group - what is known of a group
 * @samples:	real ones
 * @time_s:	all of its ticks' time
 * @net_s:	that without what interrupts took, which is known to @calibration_error only
 * @idle_ticks:	samples of these that woke an idle CPU
 * @ticks_s:	part of @time_s that kjoule's ticks took
 * @idle_ticks_s: part of @ticks_s on idle CPUs
 * @other_s:	part of @time_s that other interrupts took
 * @exposed_s:	part of @time_s of which they took their part
 * @varied_s2,@shifted_s: sums of profile_cost.variance and @shifted
 * @khz:	mean frequency
 * @count:	the ticks that @time_s is made of
 * @off_s:	how far off the calibration may be, part of the interval of @net_s
 */
struct profile_group {
	uint64_t samples, idle_ticks;
	struct value time_s, net_s;
	double ticks_s, idle_ticks_s, other_s, exposed_s;
	double varied_s2, shifted_s;
	struct value khz;
	struct time_sum count;
	double off_s;
	struct profile_energy energy[PROFILE_DOMAINS];
};

struct profile;

/** profile_new() - solve the model. Return: 0 or -ENOMEM; @in must stay */
int profile_new(const struct profile_input *in, struct profile **p);
/* A grouping: group_of[block] == g, UINT32_MAX: of none; the figures of @n_groups go to @out. */
struct profile_level {
	const uint32_t *group_of;
	uint32_t n_groups;
	struct profile_group *out;
};

/** profile_levels() - profile_groups() for some groupings at once, which is faster. Return: 0 or -ENOMEM */
int profile_levels(const struct profile *p, const struct profile_level *levels, size_t n);
/** profile_groups() - add up: @out[g] for all blocks with group_of[block] == g */
int profile_groups(const struct profile *p, const uint32_t *group_of, uint32_t n_groups,
		   struct profile_group *out);
/**
 * profile_labels() - energy of a domain by labels of the ticks
 * @labels:	of each lane a label for each of its entries
 * @unsampled_label: of ticks at which nothing ran
 * @uj:		@n_labels of them; what interrupts spent is not in it where it was taken out
 * Return: 0; -ENODATA if the domain's energy is not known; -ENOMEM
 */
int profile_labels(const struct profile *p, unsigned int domain, const uint32_t *const *labels,
		   uint32_t unsampled_label, uint32_t n_labels, double *uj);
/** profile_vectors() - what ran together on the CPUs of a package; lives as long as the profile */
const struct cpm_vectors *profile_vectors(const struct profile *p, size_t package);
/** profile_domain() - a counter's windows; NULL if they are not known, or its model could not be solved */
const struct cpm_domain *profile_domain(const struct profile *p, size_t package, unsigned int domain);
/** profile_mixture() - how the mixture model was solved; NULL if it was not */
const struct mixture *profile_mixture(const struct profile *p, size_t package, unsigned int domain);
/** profile_edge() - what the windows of a package say; NULL if nothing */
const struct edge_result *profile_edge(const struct profile *p, size_t package);
/** profile_edge_too_many() - nothing, because there are more than EDGE_TICKS_MOST ticks? */
bool profile_edge_too_many(const struct profile *p, size_t package);
/** profile_cpus() - of a package */
unsigned int profile_cpus(const struct profile *p, size_t package);
/** profile_unknown() - an energy of which nothing is known: no figure of it is a number */
void profile_unknown(struct profile_energy *e);
/** profile_net() - a group less what ticks and other interrupts took of it */
void profile_net(struct profile_group *g, unsigned int n_domains);
/**
 * profile_worst_case() - energies between the product of the lower ends of time and power and that of the
 * upper ends (ALEA, equation 10), as if both were as far off as can be in the same direction; what is wider before stays
 */
void profile_worst_case(struct profile_group *g, unsigned int n_domains);
/** profile_readings() - distinct readings of a domain, all packages */
uint64_t profile_readings(const struct profile *p, unsigned int domain);
/**
 * profile_unmeasured_part() - part of the time, 0 to 1, whose energy in a domain is in no reading: before the counter's first move and
 * after its last, and what ran on CPUs of which no counter tells. NAN: nothing is known of the domain, or it is told by edge windows
 */
double profile_unmeasured_part(const struct profile *p, unsigned int domain);
/**
 * profile_still_s() - for how long a domain's counter was read at the end and said the same, which is taken for no energy; 0:
 * not for much longer than it usually did
 */
double profile_still_s(const struct profile *p, unsigned int domain);
/** profile_parallel() - part of the busy ticks at which several CPUs of a package were busy */
double profile_parallel(const struct profile *p);
/** profile_other_set_part() - part of the busy ticks at which more different blocks ran together than could be kept, see analysis/cpm/cpm.h */
double profile_other_set_part(const struct profile *p);
/** profile_other_set_ticks() - how many ticks those are, all packages */
uint64_t profile_other_set_ticks(const struct profile *p);
void profile_free(struct profile *p);

#endif /* KJOULE_PROFILE_H */
