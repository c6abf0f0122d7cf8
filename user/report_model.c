// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The model of a report: what was asked for or fits, blocks that it can not tell apart made one, and why. See report.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "blocks_units.h"
#include "cmd.h"
#include "edge_groups.h"
#include "model.h"
#include "report.h"

/* Ticks that are delayed by less than this part of the interval may keep step with a program. */
#define FREE_OF_STEP	0.5

/* Edge windows take a while to begin, and end a little before a recording does. */
#define WITHOUT_LEAST	0.1

static const char *const names[] = { [REPORT_CPM] = "cpm", [REPORT_EDGE] = "edge", [REPORT_MIXTURE] = "mixture",
				     [REPORT_VPM] = "vpm", [REPORT_AUTO] = "auto" };

const char *report_held_by(const struct blocks *b)
{
	return b->windows.n ? "--edge" : b->n_readings ? "--vpm" : NULL;
}

const char *report_model_name(const struct report_model *m)
{
	return names[m->used];
}

const char *report_model_asked(const struct report_model *m)
{
	return names[m->asked];
}

int report_model_parse(const char *text, enum report_model_kind *model)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*model = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Why a model was chosen, for people. */
static void tell_choice(const struct blocks *b, const struct model_choice *c, struct report_model *m)
{
	const char *block = c->block < b->n_functions ? b->functions[c->block].symbol : "";
	char runs[160];

	snprintf(runs, sizeof(runs), "%.64s runs for %.1f ticks at a time, and the counter moves every %.0f", block,
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
		snprintf(m->reason, sizeof(m->reason), "there is no energy to be told");
		break;
	case MODEL_PACKAGES:
		snprintf(m->reason, sizeof(m->reason), "several packages have counters, and mixture works with one only, though %s", runs);
		break;
	case MODEL_SLOW_TICKS:
		snprintf(m->reason, sizeof(m->reason), "mixture needs %d ticks between two moves of the counter, better 10, though %s; record at a higher rate",
			 MODEL_TICKS, runs);
		break;
	case MODEL_FEW_WINDOWS:
		snprintf(m->reason, sizeof(m->reason), "mixture needs %d moves of the counter, and there are %" PRIu64 ", though %s; record for longer",
			 MIXTURE_WINDOWS, c->windows, runs);
		break;
	case MODEL_NOTHING_RAN:
		snprintf(m->reason, sizeof(m->reason), "nothing ran for long enough to tell how long at a time");
		break;
	}
}

/* Why the mixture model can not be used. */
static void tell_why(const struct blocks *b, const struct separation *s, struct report_model *m)
{
	switch (s->why) {
	case SEPARATE_DONE:
		break;
	case SEPARATE_NO_ENERGY:
		snprintf(m->reason, sizeof(m->reason), "%s", b->n_domains ?
			 "the energy counter was not seen to move twice; record for longer, or see `kjoule list`" :
			 "there is no energy in the recording: no source was used; see `kjoule list` for those there are");
		break;
	case SEPARATE_PACKAGES:
		snprintf(m->reason, sizeof(m->reason), "it works with one package, and several have counters here; record one with --cpus");
		break;
	case SEPARATE_FEW:
		snprintf(m->reason, sizeof(m->reason), "it needs %d windows of the counter of which all is known, and there are %" PRIu64
			 " (%" PRIu64 " were left out: samples lost or missed in them, or the recorder); record for longer",
			 MIXTURE_WINDOWS, s->windows, s->left_out);
		break;
	case SEPARATE_COARSE:
		snprintf(m->reason, sizeof(m->reason), "it needs %d ticks between two moves of the counter, better 10, and there are %.1f; record at a higher rate",
			 MIXTURE_TICKS, s->window_ticks);
		break;
	case SEPARATE_NOTHING:
		snprintf(m->reason, sizeof(m->reason), "what ran can not be told from the times in which it did not: its runs are too short for the rate, or windows hold always as much of both; record at a higher rate");
		break;
	}
}

static int put_notes(const struct blocks *b, const struct separation *s, struct report_model *m)
{
	m->fate = calloc(b->n_functions + 1, sizeof(*m->fate));
	m->n_fates = b->n_functions;
	if (!m->fate)
		return -ENOMEM;
	/* of a united block what most of it is there for: the worst that happened to one of its blocks */
	for (uint32_t i = 0; i < s->n_blocks; i++) {
		uint32_t to = m->united[i];

		if (to != i && s->fate[i] > m->fate[to])
			m->fate[to] = s->fate[i];
		m->not_told += to != i && s->fate[i] != SEPARATE_LITTLE && b->functions[i].samples;
	}
	return 0;
}

static int use_edges(struct blocks *b, struct report_model *m)
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
	m->used = REPORT_EDGE;
	b->input.model = PROFILE_EDGE;
	return 0;
}

int report_model_new(struct blocks *b, const struct report_options *opt, struct report_model *m)
{
	struct model_choice choice = { .model = PROFILE_MIXTURE };
	struct separation s = { 0 };
	struct profile *p = NULL;
	char beside[160] = "", reason[sizeof(m->reason)];
	uint32_t *pools = NULL;
	int ret;

	memset(m, 0, sizeof(*m));
	m->asked = opt->model;
	m->used = REPORT_CPM;
	if (opt->model == REPORT_CPM)
		return 0;
	if (opt->model == REPORT_VPM) {
		snprintf(m->reason, sizeof(m->reason), "the recording has readings of blocks");
		m->used = REPORT_VPM;
		return 0;
	}
	if (opt->model == REPORT_EDGE || (opt->model == REPORT_AUTO && b->windows.n)) {
		ret = use_edges(b, m);
		if (ret != -ENODATA || opt->model == REPORT_EDGE)
			return ret;
		/* nobody asked for it: another one is told, and why it is not this one */
		snprintf(beside, sizeof(beside), "not edge: %.140s; ", m->reason);
	}
	b->input.one_silence = true;
	ret = profile_new(&b->input, &p);
	if (!ret && opt->model == REPORT_AUTO) {
		ret = model_choose(p, &b->input, &choice);
		if (!ret)
			tell_choice(b, &choice, m);
	}
	if (ret || choice.model == PROFILE_CPM)
		goto out;
	pools = blocks_pools(b);
	ret = pools ? separate_new(p, &b->input, pools, &s) : -ENOMEM;
	if (ret)
		goto out;
	m->windows = s.windows;
	m->left_out = s.left_out;
	m->window_ticks = s.window_ticks;
	m->reliability = s.reliability;
	m->in_step = b->input.jitter < FREE_OF_STEP;
	if (s.why) {
		tell_why(b, &s, m);
		ret = opt->model == REPORT_MIXTURE ? -ENODATA : 0;
		goto out;
	}
	m->used = REPORT_MIXTURE;
	b->input.model = PROFILE_MIXTURE;
	m->n_united = s.n_blocks;
	ret = blocks_unite(b, &s, &m->united);
	if (!ret)
		ret = put_notes(b, &s, m);
out:
	if (beside[0]) {
		memcpy(reason, m->reason, sizeof(reason));
		snprintf(m->reason, sizeof(m->reason), "%s%.*s", beside, (int)(sizeof(reason) - sizeof(beside)), reason);
	}
	b->input.one_silence = false;
	separate_free(&s);
	free(pools);
	profile_free(p);
	return ret;
}

/* Ticks of a block: all, and those of vectors whose power is not told, by the reason. */
struct ticks_of {
	double all, untold[EDGE_ALIKE + 1];
};

static int count_untold(const struct cpm_vectors *v, const struct cpm_domain *d, const struct edge_result *e, struct ticks_of *of)
{
	uint64_t *count = calloc(v->n_vectors + 1ul, sizeof(*count));
	int ret = count ? cpm_counts(d, count) : -ENOMEM;

	for (uint32_t i = 0; i < v->n_vectors && !ret; i++) {
		for (uint32_t k = v->first[i]; k < v->first[i + 1] && !cpm_is_crowd(v, i); k++) {
			of[v->members[k]].all += count[i];
			of[v->members[k]].untold[e->why[i]] += count[i];
		}
	}
	free(count);
	return ret;
}

static uint8_t why_untold(const struct ticks_of *of)
{
	uint8_t why = EDGE_SCARCE;

	if (of->all - of->untold[EDGE_KNOWN] <= EDGE_UNKNOWN_MOST * of->all)
		return EDGE_KNOWN;
	for (uint8_t i = EDGE_SCARCE; i <= EDGE_ALIKE; i++)
		why = of->untold[i] > of->untold[why] ? i : why;
	return why;
}

int report_model_blocks(struct report_model *m, const struct blocks *b, const struct profile *p)
{
	struct ticks_of *of;
	int ret;

	for (unsigned int d = 0; d < b->n_domains; d++)
		m->read |= profile_readings(p, d) ? 1u << d : 0;
	if (m->used != REPORT_EDGE)
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
		ret = count_untold(profile_vectors(p, i), profile_domain(p, i, package->window_domain), profile_edge(p, i), of);
	}
	for (size_t f = 0; f < b->n_functions && !ret; f++)
		/* of ticks at which the CPUs were held the power is that of spinning */
		m->why[f] = f == b->held ? EDGE_KNOWN : why_untold(&of[f]);
	free(of);
	return ret;
}

void report_model_free(struct report_model *m)
{
	free(m->united);
	free(m->fate);
	free(m->why);
}

const char *report_model_note(const struct report_model *m, uint32_t function)
{
	static const char *const notes[] = {
		[SEPARATE_LITTLE] = "too little time for a power of its own",
		[SEPARATE_BRIEF] = "runs too short for the rate",
		[SEPARATE_ALIKE] = "the windows do not tell them apart" };
	static const char *const whys[] = {
		[EDGE_SCARCE] = "too little time, or in too few windows, for a power of its own",
		[EDGE_SHORT] = "runs too short for the rate",
		[EDGE_ALIKE] = "the windows do not tell it apart" };

	if (m->why && function < m->n_whys)
		return whys[m->why[function]];
	return m->fate && function < m->n_fates && m->fate[function] ? notes[m->fate[function]] : NULL;
}

const char *report_model_no_energy(const struct report_model *m, const struct report_row *r, unsigned int domain)
{
	static const char *const whys[] = {
		[EDGE_SCARCE] = "less than 1 % of the time in edge windows, or in fewer than 30 of them: too little for a power of its own",
		[EDGE_SHORT] = "runs of fewer than 3 ticks, which ticks do not follow; record at a higher rate",
		[EDGE_ALIKE] = "about the same part of each edge window as something else: they do not tell the two apart" };

	if (m->used != REPORT_EDGE && m->read & 1u << domain)
		return "no reading tells the energy of most of its time; see the header's line untold";
	if (m->used == REPORT_MIXTURE)
		return "this counter did not move often enough for the mixture model, or there are several of them; see --model cpm";
	if (m->used != REPORT_EDGE)
		return "the energy counter was not seen to move twice; record for longer, or see `kjoule list`";
	if (!(m->windows_of & 1u << domain))
		return "edge windows tell of the domain only that they are of; see --model cpm";
	if (!m->solved)
		return "the edge windows tell nothing: see the header's line windows";
	if (r->kind == ROW_FUNCTION && m->why && r->function < m->n_whys && m->why[r->function])
		return whys[m->why[r->function]];
	return "edge windows do not tell the power of a part of it";
}

/* Part of the time that is before the first window of use or after the last. */
static double without_windows(const struct blocks *b, const struct profile_package *package)
{
	double first = NAN, last = NAN;

	for (size_t i = 0; i < package->n_windows; i++) {
		const struct edge_window *w = &package->windows[i];

		if (w->failed)
			continue;
		first = isnan(first) ? w->seek_ns : first;
		last = w->b_ns + w->held_ns;
	}
	return isnan(last) ? 1 : fmax(1 - (last - first) / (b->input.end_tick * b->input.interval_ns), 0);
}

/* What the windows of a package came to; NULL: nothing could be told from them. */
static void print_edges(const struct blocks *b, const struct profile_package *package, const struct edge_result *e,
			bool too_many)
{
	double without = without_windows(b, package);

	if (!e && too_many) {
		printf("# windows    %zu, with more than %u million ticks in and between them, which is more than the model looks at: --from and --to take a part of the recording\n",
		       package->n_windows, EDGE_TICKS_MOST >> 20);
		return;
	}
	if (!e) {
		printf("# windows    %zu, too few of a kind that agree with each other to tell powers from; record for longer\n", package->n_windows);
		return;
	}
	printf("# windows    %zu, %zu more of held CPUs alone, which draw %.3f W +-%.3f; off the model by %.1f uJ (standard deviation), %.1f uJ in each are its own\n",
	       e->windows, e->spins, e->spin_w.v, e->spin_w.hi - e->spin_w.v, e->residual_uj, e->extra_uj);
	if (without > WITHOUT_LEAST)
		printf("# windows    none in %.1f %% of the time, before the first and after the last: what ran there is taken to draw what it drew in the rest, and figures look surer than they are\n",
		       100 * without);
	if (e->wild + e->wild_spins)
		printf("# windows    %zu and %zu left out, which agree with no other: something else may have had the CPUs there\n",
		       e->wild, e->wild_spins);
}

void report_model_print(const struct report_model *m, const struct blocks *b, const struct profile *p)
{
	if (m->asked == REPORT_CPM)
		return;
	output_printf(stdout, "# model      %s%s%s%s\n", report_model_name(m), m->asked == REPORT_AUTO ? ", chosen" : "",
		      m->reason[0] ? ": " : "", m->reason);
	for (size_t i = 0; m->used == REPORT_EDGE && i < b->input.n_packages; i++)
		if (b->input.packages[i].n_windows)
			print_edges(b, &b->input.packages[i], profile_edge(p, i), profile_edge_too_many(p, i));
	if (m->used != REPORT_MIXTURE)
		return;
	printf("# fit        %" PRIu64 " windows of %.1f ticks, %" PRIu64 " more left out; of what differs between them %.0f %% is no sampling error\n",
	       m->windows, m->window_ticks, m->left_out, 100 * fmax(m->reliability, 0));
	if (m->in_step)
		printf("# fit        ticks were on an even grid: code that repeats itself within two ticks may look slower than it is; record with --jitter of nearly the interval\n");
}

static struct json_object *edge_json(const struct blocks *b, const struct profile_package *package,
				     const struct edge_result *e, bool too_many)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "recorded", json_object_new_uint64(package->n_windows));
	json_object_object_add(o, "time_without_part", output_json_real(without_windows(b, package)));
	json_object_object_add(o, "too_many_ticks", json_object_new_boolean(too_many));
	json_object_object_add(o, "used", json_object_new_uint64(e ? e->windows : 0));
	json_object_object_add(o, "spins", json_object_new_uint64(e ? e->spins : 0));
	json_object_object_add(o, "left_out", json_object_new_uint64(e ? e->wild : 0));
	json_object_object_add(o, "spins_left_out", json_object_new_uint64(e ? e->wild_spins : 0));
	json_object_object_add(o, "spin_w", output_json_real(e ? e->spin_w.v : NAN));
	json_object_object_add(o, "spin_w_lo", output_json_real(e ? e->spin_w.lo : NAN));
	json_object_object_add(o, "spin_w_hi", output_json_real(e ? e->spin_w.hi : NAN));
	json_object_object_add(o, "residual_uj", output_json_real(e ? e->residual_uj : NAN));
	json_object_object_add(o, "extra_uj", output_json_real(e ? e->extra_uj : NAN));
	return o;
}

static bool is_part_of(const struct blocks *b, const struct report_model *m, uint32_t block, uint32_t united)
{
	return m->united && block < m->n_united && m->united[block] == united && block != united && b->functions[block].samples;
}

/* The blocks that a row of several is made of, all of them. */
static struct json_object *united_json(const struct blocks *b, const struct report_model *m)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t u = 0; m->fate && u < m->n_fates; u++) {
		struct json_object *one, *parts;

		if (m->fate[u] == SEPARATE_ALONE)
			continue;
		parts = json_object_new_array();

		for (uint32_t i = 0; i < m->n_united; i++) {
			const struct blocks_function *f = &b->functions[i];

			if (!is_part_of(b, m, i, u))
				continue;
			one = json_object_new_object();
			json_object_object_add(one, "function", output_json_str(f->symbol));
			json_object_object_add(one, "object", output_json_str(f->object));
			json_object_object_add(one, "comm", output_json_str(b->processes[f->process].comm));
			json_object_object_add(one, "pid", json_object_new_int64(b->processes[f->process].pid));
			json_object_object_add(one, "samples", json_object_new_uint64(f->samples));
			json_object_array_add(parts, one);
		}
		if (!json_object_array_length(parts)) {
			json_object_put(parts);
			continue;
		}
		one = json_object_new_object();
		json_object_object_add(one, "function", output_json_str(b->functions[u].symbol));
		json_object_object_add(one, "members", parts);
		json_object_array_add(list, one);
	}
	return list;
}

/* Of a row whose name has no room for all of them. */
static void print_united(const struct blocks *b, const struct report_model *m, uint32_t united)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->n_united; i++)
		n += is_part_of(b, m, i, united);
	if (n <= BLOCKS_UNITED_NAMED)
		return;
	printf("  %zu are one:", n);
	for (uint32_t i = 0; i < m->n_united; i++) {
		if (is_part_of(b, m, i, united))
			output_printf(stdout, " %s%s", b->functions[i].symbol, --n ? "," : "");
	}
	printf("\n");
}

struct json_object *report_model_json(const struct report_model *m, const struct blocks *b, const struct profile *p)
{
	struct json_object *o = json_object_new_object();
	bool fitted = m->used == REPORT_MIXTURE;

	json_object_object_add(o, "name", json_object_new_string(report_model_name(m)));
	json_object_object_add(o, "asked", json_object_new_string(names[m->asked]));
	json_object_object_add(o, "reason", m->reason[0] ? output_json_str(m->reason) : NULL);
	json_object_object_add(o, "windows", fitted ? json_object_new_uint64(m->windows) : NULL);
	json_object_object_add(o, "windows_left_out", fitted ? json_object_new_uint64(m->left_out) : NULL);
	json_object_object_add(o, "window_ticks", fitted ? output_json_real(m->window_ticks) : NULL);
	json_object_object_add(o, "reliability", fitted ? output_json_real(m->reliability) : NULL);
	json_object_object_add(o, "even_grid", fitted ? json_object_new_boolean(m->in_step) : NULL);
	json_object_object_add(o, "not_separable", fitted ? json_object_new_uint64(m->not_told) : NULL);
	json_object_object_add(o, "united", fitted ? united_json(b, m) : NULL);
	if (m->used == REPORT_EDGE) {
		struct json_object *list = json_object_new_array();

		for (size_t i = 0; i < b->input.n_packages; i++)
			if (b->input.packages[i].n_windows)
				json_object_array_add(list, edge_json(b, &b->input.packages[i], profile_edge(p, i),
							   profile_edge_too_many(p, i)));
		json_object_object_add(o, "edge_windows", list);
	}
	return o;
}

void report_model_footnotes(const struct report *r, const struct blocks *b, const struct report_model *m)
{
	bool little = false, one = false;

	for (size_t i = 0; i < r->n_processes; i++) {
		for (size_t k = 0; k < r->processes[i].n_rows; k++) {
			const struct report_row *row = &r->processes[i].rows[k];
			uint8_t fate = row->kind == ROW_FUNCTION && m->fate && row->function < m->n_fates ?
				       m->fate[row->function] : SEPARATE_ALONE;

			little |= fate == SEPARATE_LITTLE;
			one |= fate > SEPARATE_LITTLE;
		}
	}
	if (little)
		printf("\n[others] : blocks of less than 1 %% of the time, too little for a power of their own\n");
	if (!one)
		return;
	printf("\n(not separable) : the counter's windows do not tell these apart, or they run for too few ticks at a time; together they are right\n");
	for (size_t i = 0; i < r->n_processes; i++) {
		for (size_t k = 0; k < r->processes[i].n_rows; k++) {
			const struct report_row *row = &r->processes[i].rows[k];

			if (row->kind == ROW_FUNCTION && m->fate && row->function < m->n_fates && m->fate[row->function] > SEPARATE_LITTLE)
				print_united(b, m, row->function);
		}
	}
}
