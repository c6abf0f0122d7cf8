// SPDX-License-Identifier: GPL-2.0-or-later
/* The requested or fitting model, with inseparable blocks merged; see power_model.h. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "analysis/edge/edge_groups.h"
#include "analysis/profile/model.h"
#include "attribute/inseparable.h"
#include "attribute/power_model.h"
#include "cli/cmd.h"

/* Ticks with less random delay than this part of the interval may be in step with a program. */
#define FREE_OF_STEP	0.5

static const char *const names[] = { [MODEL_CPM] = "cpm", [MODEL_EDGE] = "edge",
				     [MODEL_MIXTURE] = "mixture", [MODEL_VPM] = "vpm",
				     [MODEL_AUTO] = "auto" };

const char *power_model_name(const struct power_model *m)
{
	return names[m->used];
}

const char *power_model_asked(const struct power_model *m)
{
	return names[m->asked];
}

/* Why a model was chosen. */
static void power_model_explain_choice(const struct blocks *b, const struct model_choice *c,
				       struct power_model *m)
{
	const char *block = c->block < b->n_functions ? b->functions[c->block].symbol : "";
	char runs[160];

	snprintf(runs, sizeof(runs),
		 "%.64s runs for %.1f ticks at a time, and the counter moves every %.0f", block,
		 c->run_ticks, c->period_ticks);
	switch (c->reason) {
	case MODEL_ALL_COARSE:
		snprintf(m->reason, sizeof(m->reason), "all that runs for long does so for %d update periods at a time or more: %s",
			 MODEL_COARSE, runs);
		break;
	case MODEL_FINE:
		snprintf(m->reason, sizeof(m->reason), "%s", runs);
		break;
	case MODEL_NO_ENERGY:
		snprintf(m->reason, sizeof(m->reason), "there is no energy");
		break;
	case MODEL_PACKAGES:
		snprintf(m->reason, sizeof(m->reason),
			 "several packages have counters, and mixture works with one only, though %s",
			 runs);
		break;
	case MODEL_SLOW_TICKS:
		snprintf(m->reason, sizeof(m->reason), "mixture needs %d ticks between two updates of the counter, better 10, though %s; record at a higher rate",
			 MODEL_TICKS, runs);
		break;
	case MODEL_FEW_WINDOWS:
		snprintf(m->reason, sizeof(m->reason),
			 "mixture needs %d moves of the counter, and there are %" PRIu64
			 ", though %s; record for longer", MIXTURE_WINDOWS, c->windows, runs);
		break;
	case MODEL_NOTHING_RAN:
		snprintf(m->reason, sizeof(m->reason), "no block ran for long enough to know the length of its runs");
		break;
	}
}

/* Why the mixture model cannot be used. */
static void power_model_explain_refusal(const struct blocks *b, const struct separation *s,
					struct power_model *m)
{
	switch (s->why) {
	case SEPARABILITY_DONE:
		break;
	case SEPARABILITY_NO_ENERGY:
		snprintf(m->reason, sizeof(m->reason), "%s", b->n_domains ?
			 "the energy counter was not seen to move twice; record for longer, or see `kjoule list`" :
			 "there is no energy in the recording: no source was used; see `kjoule list` for those there are");
		break;
	case SEPARABILITY_PACKAGES:
		snprintf(m->reason, sizeof(m->reason), "it works with one package, and several have counters here; record one with --cpus");
		break;
	case SEPARABILITY_FEW:
		snprintf(m->reason, sizeof(m->reason), "it needs %d windows of the counter of which all is known, and there are %" PRIu64
			 " (%" PRIu64
			 " were left out: samples lost or missed in them, or the recorder); record for longer",
			 MIXTURE_WINDOWS, s->windows, s->left_out);
		break;
	case SEPARABILITY_COARSE:
		snprintf(m->reason, sizeof(m->reason), "it needs %d ticks between two updates of the counter, better 10, and there are %.1f; record at a higher rate",
			 MIXTURE_TICKS, s->window_ticks);
		break;
	case SEPARABILITY_NOTHING:
		snprintf(m->reason, sizeof(m->reason), "the target cannot be separated from other times: its runs are too short for the rate, or windows always have the same share of it; record at a higher rate");
		break;
	}
}

static int power_model_set_fates(const struct blocks *b, const struct separation *s,
				 struct power_model *m)
{
	m->fate = calloc(b->n_functions + 1, sizeof(*m->fate));
	m->n_fates = b->n_functions;
	if (!m->fate)
		return -ENOMEM;
	/* of a merged block the worst fate of its blocks */
	for (uint32_t i = 0; i < s->n_blocks; i++) {
		uint32_t to = m->merged[i];

		if (to != i && s->fate[i] > m->fate[to])
			m->fate[to] = s->fate[i];
		m->n_inseparable += to != i && s->fate[i] != SEPARABILITY_LITTLE &&
				    b->functions[i].samples;
	}
	return 0;
}

static int power_model_use_edges(struct blocks *b, struct power_model *m)
{
	bool found = false;

	for (size_t i = 0; i < b->input.n_packages; i++)
		found |= b->input.packages[i].n_windows;
	if (!found) {
		snprintf(m->reason, sizeof(m->reason), "%s", b->windows.n ?
			 "the windows are of the recording's first source, and another one was asked for" :
			 "it needs a recording with edge windows: `kjoule record --edge`");
		return -ENODATA;
	}
	snprintf(m->reason, sizeof(m->reason), "the recording has edge windows");
	m->used = MODEL_EDGE;
	b->input.model = PROFILE_EDGE;
	return 0;
}

int power_model_new(struct blocks *b, const struct attribute_options *opt, struct power_model *m)
{
	struct model_choice choice = { .model = PROFILE_MIXTURE };
	struct separation s = { 0 };
	struct profile *p = NULL;
	char others[160] = "", reason[sizeof(m->reason)];
	uint32_t *pools = NULL;
	int ret;

	memset(m, 0, sizeof(*m));
	m->asked = opt->model;
	m->used = MODEL_CPM;
	if (opt->model == MODEL_CPM)
		return 0;
	if (opt->model == MODEL_VPM) {
		snprintf(m->reason, sizeof(m->reason), "the recording has readings of blocks");
		m->used = MODEL_VPM;
		return 0;
	}
	if (opt->model == MODEL_EDGE || (opt->model == MODEL_AUTO && b->windows.n)) {
		ret = power_model_use_edges(b, m);
		if (ret != -ENODATA || opt->model == MODEL_EDGE)
			return ret;
		/* chosen automatically: fall back, and say why */
		snprintf(others, sizeof(others), "not edge: %.140s; ", m->reason);
	}
	b->input.one_silence = true;
	ret = profile_new(&b->input, &p);
	if (!ret && opt->model == MODEL_AUTO) {
		ret = model_choose(p, &b->input, &choice);
		if (!ret)
			power_model_explain_choice(b, &choice, m);
	}
	if (ret || choice.model == PROFILE_CPM)
		goto out;
	pools = blocks_pools(b);
	ret = pools ? separability_new(p, &b->input, pools, &s) : -ENOMEM;
	if (ret)
		goto out;
	m->windows = s.windows;
	m->left_out = s.left_out;
	m->window_ticks = s.window_ticks;
	m->reliability = s.reliability;
	m->in_step = b->input.jitter < FREE_OF_STEP;
	if (s.why) {
		power_model_explain_refusal(b, &s, m);
		ret = opt->model == MODEL_MIXTURE ? -ENODATA : 0;
		goto out;
	}
	m->used = MODEL_MIXTURE;
	b->input.model = PROFILE_MIXTURE;
	m->n_merged = s.n_blocks;
	ret = blocks_merge_inseparable(b, &s, &m->merged);
	if (!ret)
		ret = power_model_set_fates(b, &s, m);
out:
	if (others[0]) {
		memcpy(reason, m->reason, sizeof(reason));
		snprintf(m->reason, sizeof(m->reason), "%s%.*s", others,
			 (int)(sizeof(reason) - sizeof(others)), reason);
	}
	b->input.one_silence = false;
	separability_free(&s);
	free(pools);
	profile_free(p);
	return ret;
}

/* Ticks of a block: all, and those of vectors of unknown power, by the reason. */
struct ticks_of {
	double all, unknown[EDGE_ALIKE + 1];
};

static int power_model_count_unmeasured(const struct cpm_vectors *v, const struct cpm_domain *d,
					const struct edge_result *e, struct ticks_of *of)
{
	uint64_t *count = calloc(v->n_vectors + 1ul, sizeof(*count));
	int ret = count ? cpm_counts(d, count) : -ENOMEM;

	for (uint32_t i = 0; i < v->n_vectors && !ret; i++) {
		for (uint32_t k = v->first[i]; k < v->first[i + 1] && !cpm_is_other_set(v, i);
		     k++) {
			of[v->members[k]].all += count[i];
			of[v->members[k]].unknown[e->why[i]] += count[i];
		}
	}
	free(count);
	return ret;
}

static uint8_t power_model_why_unmeasured(const struct ticks_of *of)
{
	uint8_t why = EDGE_SCARCE;

	if (of->all - of->unknown[EDGE_KNOWN] <= EDGE_UNKNOWN_MOST * of->all)
		return EDGE_KNOWN;
	for (uint8_t i = EDGE_SCARCE; i <= EDGE_ALIKE; i++)
		why = of->unknown[i] > of->unknown[why] ? i : why;
	return why;
}

int power_model_blocks(struct power_model *m, const struct blocks *b, const struct profile *p)
{
	struct ticks_of *of;
	int ret;

	for (unsigned int d = 0; d < b->n_domains; d++)
		m->read |= profile_readings(p, d) ? 1u << d : 0;
	if (m->used != MODEL_EDGE)
		return 0;
	of = calloc(b->n_functions + 1, sizeof(*of));
	m->why = calloc(b->n_functions + 1, sizeof(*m->why));
	m->n_whys = b->n_functions;
	ret = of && m->why ? 0 : -ENOMEM;
	for (size_t i = 0; i < b->input.n_packages && !ret; i++) {
		const struct profile_package *package = &b->input.packages[i];

		m->windows_of |= package->n_windows ? 1u << package->window_domain : 0;
		m->too_many |= profile_edge_too_many(p, i);
		if (!profile_edge(p, i))
			continue;
		m->solved = true;
		ret = power_model_count_unmeasured(profile_vectors(p, i),
						   profile_domain(p, i, package->window_domain),
						   profile_edge(p, i), of);
	}
	for (size_t f = 0; f < b->n_functions && !ret; f++)
		/* the power of ticks in pauses is that of paused CPUs */
		m->why[f] = f == b->paused ? EDGE_KNOWN : power_model_why_unmeasured(&of[f]);
	free(of);
	return ret;
}

void power_model_free(struct power_model *m)
{
	free(m->merged);
	free(m->fate);
	free(m->why);
}

const char *power_model_note(const struct power_model *m, uint32_t function)
{
	static const char *const notes[] = {
		[SEPARABILITY_LITTLE] = "too little time for a power of its own",
		[SEPARABILITY_BRIEF] = "runs too short for the rate",
		[SEPARABILITY_ALIKE] = "the windows do not separate them" };
	static const char *const whys[] = {
		[EDGE_SCARCE] = "too little time, or in too few windows, for a power of its own",
		[EDGE_SHORT] = "runs too short for the rate",
		[EDGE_ALIKE] = "the windows do not separate it" };

	if (m->why && function < m->n_whys)
		return whys[m->why[function]];
	return m->fate && function < m->n_fates && m->fate[function] ?
	       notes[m->fate[function]] : NULL;
}

bool power_model_is_part(const struct blocks *b, const struct power_model *m, uint32_t block,
			 uint32_t merged)
{
	return m->merged && block < m->n_merged && m->merged[block] == merged && block != merged &&
	       b->functions[block].samples;
}
