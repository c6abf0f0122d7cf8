/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time, energy, power and frequency of groups of blocks, without the cost of the measurement.
 * Combines analysis/cpm/cpm.c and analysis/stats/interval.c. Pure.
 */
#ifndef KJOULE_PROFILE_H
#define KJOULE_PROFILE_H

#include "analysis/edge/edge.h"
#include "analysis/mixture/mixture.h"
#include "analysis/stats/interval.h"

/* How energies of windows become powers of blocks. */
enum profile_model {
	PROFILE_CPM,		/* constant power: shares of each window, see analysis/cpm/cpm.h */
	PROFILE_EDGE,		/* from edge windows, see analysis/edge/edge.h */
	PROFILE_MIXTURE,	/* fitted to all windows, see analysis/mixture/mixture.h */
};

#define PROFILE_DOMAINS		8	/* energy domains in a report */

/*
 * The best accuracy of a calibration for the time and energy of interrupts: half a 95 % interval.
 * By the virtual chip's oracle ticks in the program mix cost 4.2 % more than calibrated (profile
 * quick, seeds 1 to 3), 4.8 % (plain, 1 to 3) and 5.8 % (client, 1), and ticks and other interrupts
 * together 3, 3 and 4 % more. That includes about 1 % for switches to the recorder.
 */
#define PROFILE_CALIBRATION_ERROR	0.06

/**
 * struct profile_stream - one CPU
 * @freq_khz: for each tick, 0: unknown
 * @tick_ns: time that a tick takes from the interrupted code, 0: unknown
 * @idle_tick_ns: time of a tick on an idle CPU
 * @usual_khz: harmonic mean of @freq_khz: the frequency at which a tick takes @tick_ns and other
 *   interrupts their part; times are in proportion at others. 0: unknown
 * @shadow: no CPU of its own: what ran on another one in addition to its samples
 */
struct profile_stream {
	struct cpm_stream stream;
	const uint32_t *freq_khz;
	double tick_ns, idle_tick_ns;
	double usual_khz;
	bool shadow;
};

/**
 * struct profile_cost - cost of interrupts in a block's ticks, relative to the average
 * @longer: factor for kjoule's ticks
 * @interrupted: factor for other interrupts
 * @variance: of the part of the time in interrupts, for each tick: the square of an error times the
 *   ticks
 * @shifted: part of the time by which @longer may be wrong for an uncertain reason; zero for all
 *   together
 */
struct profile_cost {
	float longer, interrupted;
	float variance, shifted;
};

/**
 * struct profile_package - counters, and the CPUs whose energy they count
 * @streams: indices into profile_input.streams; NULL: all of them
 * @n_streams: of these
 * @readings,@n_readings: of each domain; domains whose counters cover other CPUs are in another
 *   package. Packages of one domain have no stream in common
 * @periods_ns: nominal update period of each domain's counter; 0: unknown, and it is as it was read
 * @windows,@n_windows: for PROFILE_EDGE, of the domain @window_domain; other domains are unknown
 *   then
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
 * @jitter: see interval_times()
 * @end_tick: after the last tick
 * @other: part of the time, 0 to 1, in interrupts that samples cannot hit
 * @other_error: half width of that
 * @calibration_error: relative error of interrupts' cost; at least PROFILE_CALIBRATION_ERROR is
 *   assumed
 * @irq_w: power of each domain in ticks and other interrupts; NAN: unknown, then that of the
 *   interrupted code
 * @tick_less_w: a tick draws so much less, give or take as much
 * @idle_uj: energy of a tick on an idle CPU, in each domain; NAN: unknown, then @irq_w for the
 *   tick's own length
 * @idle_w: power while all CPUs are idle, in each domain, for short idle times; NAN or 0: unknown
 * @kinds: enum cpm_kind of each block
 * @costs: of each block; NULL: all are average
 * @others_busy: ticks without a known block ran other code at full cost; idle CPUs take none
 * @unsampled_block: the block of ticks at which nothing else ran
 * @steps: see cpm_solve()
 * @vectors_room: bytes for the co-running sets of a package; 0: CPM_VECTORS_ROOM
 * @model: PROFILE_MIXTURE needs one package to a domain, and separable blocks, see separability.h
 * @one_silence: bystanders are unsampled, as in all models but PROFILE_CPM: to look at a recording
 *   before another model is chosen
 * @loose: of blocks for PROFILE_MIXTURE, see struct fit_input; NULL: none
 * @unknown,@n_unknown: ticks of unknown code, see struct mixture_input
 * @session,@paused: for PROFILE_EDGE: times of ticks, and the block of paused CPUs
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
 * struct profile_energy - the energy of a group in one domain, with and (net) without interrupts
 * @j,@net_j: joules
 * @w,@net_w: watts
 * @ticks_j,@other_j: parts of @j in kjoule's ticks and other interrupts
 * @readings: distinct ones
 * @share: see struct cpm_group; NAN: of no use with this model, or unknown energy
 *
 * Components of the intervals other than the time's, for averages of recordings
 * (analysis/runs/runs.h):
 *
 * @residual_j: standard deviation of the energy, from how windows differ from the model; NAN:
 *   unknown
 * @dof: degrees of freedom of @residual_j; 0: it is 0, and certain
 * @bias_j: what further refinement would still change; more samples do not shrink it
 * @off_j,@off_w: possible error of the calibration, likewise
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
 * struct profile_group - the figures of a group
 * @samples: taken ones
 * @time_s: all of its ticks' time
 * @net_s: without interrupts; accurate to @calibration_error
 * @idle_ticks: samples of these that woke an idle CPU
 * @ticks_s: part of @time_s in kjoule's ticks
 * @idle_ticks_s: part of @ticks_s on idle CPUs
 * @other_s: part of @time_s in other interrupts
 * @exposed_s: part of @time_s that interrupts can hit
 * @varied_s2,@shifted_s: sums of profile_cost.variance and @shifted
 * @khz: mean frequency
 * @count: the ticks of @time_s
 * @off_s: possible error of the calibration, part of the interval of @net_s
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
/*
 * A grouping: group_of[block] == g, UINT32_MAX: in no group; the figures of @n_groups go to @out.
 */
struct profile_level {
	const uint32_t *group_of;
	uint32_t n_groups;
	struct profile_group *out;
};

/** profile_levels() - several groupings in one pass. Return: 0 or -ENOMEM */
int profile_levels(const struct profile *p, const struct profile_level *levels, size_t n);
/** profile_groups() - add up: @out[g] for all blocks with group_of[block] == g */
int profile_groups(const struct profile *p, const uint32_t *group_of, uint32_t n_groups,
		   struct profile_group *out);
/**
 * profile_labels() - energy of a domain by labels of the ticks
 * @labels: of each stream a label for each of its entries
 * @unsampled_label: of ticks at which nothing ran
 * @uj: @n_labels of them; without interrupts' energy if it was taken out
 * Return: 0; -ENODATA if the domain's energy is unknown; -ENOMEM
 */
int profile_labels(const struct profile *p, unsigned int domain, const uint32_t *const *labels,
		   uint32_t unsampled_label, uint32_t n_labels, double *uj);
/** profile_vectors() - the co-running sets of a package; lives as long as the profile */
const struct cpm_vectors *profile_vectors(const struct profile *p, size_t package);
/** profile_domain() - a counter's windows; NULL if unknown, or its model could not be solved */
const struct cpm_domain *profile_domain(const struct profile *p, size_t package,
					unsigned int domain);
/** profile_mixture() - the solved mixture model; NULL if it is not */
const struct mixture *profile_mixture(const struct profile *p, size_t package, unsigned int domain);
/** profile_edge() - the solved edge model of a package; NULL if it is not */
const struct edge_result *profile_edge(const struct profile *p, size_t package);
/** profile_edge_too_many() - is it unsolved because of more than EDGE_TICKS_MOST ticks? */
bool profile_edge_too_many(const struct profile *p, size_t package);
/** profile_cpus() - of a package */
unsigned int profile_cpus(const struct profile *p, size_t package);
/** profile_energy_set_unknown() - an unknown energy: all NAN */
void profile_energy_set_unknown(struct profile_energy *e);
/** profile_net() - take ticks and other interrupts out of a group */
void profile_net(struct profile_group *g, unsigned int n_domains);
/**
 * profile_worst_case() - energies between the product of the lower ends of time and power and that
 * of the upper ends (ALEA, equation 10), as if both had their largest errors in the same direction;
 * a wider interval stays
 */
void profile_worst_case(struct profile_group *g, unsigned int n_domains);
/** profile_readings() - distinct readings of a domain, all packages */
uint64_t profile_readings(const struct profile *p, unsigned int domain);
/**
 * profile_unmeasured_part() - part of the time, 0 to 1, whose energy in a domain is in no reading:
 * before the counter's first update, after its last, and on CPUs without a counter. NAN: the domain
 * is unknown, or from edge windows
 */
double profile_unmeasured_part(const struct profile *p, unsigned int domain);
/**
 * profile_still_s() - how long a domain's counter was stuck at the end, which counts as no energy;
 * 0: not for much longer than its update period
 */
double profile_still_s(const struct profile *p, unsigned int domain);
/** profile_parallel() - part of the busy ticks with several busy CPUs of a package */
double profile_parallel(const struct profile *p);
/** profile_other_set_part() - part of the busy ticks of sets that were not kept */
double profile_other_set_part(const struct profile *p);
/** profile_other_set_ticks() - their number, all packages */
uint64_t profile_other_set_ticks(const struct profile *p);
void profile_free(struct profile *p);

#endif /* KJOULE_PROFILE_H */
