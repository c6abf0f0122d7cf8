// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The figures of a sweep: each setting's recordings as an average run, its blocks without what the
 * measurement took, and which settings are best for them. See sweep.h; called by cmd_sweep.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cmd.h"
#include "header/series.h"
#include "lib/base/array.h"
#include "sweep/sweep.h"

/*
 * Smaller parts of the whole than this have no frequency of their own: they are over before it has
 * changed.
 */
#define OWN_LEAST	0.01

/* Of an interval that has nothing but a time's. */
#define TIME_FREEDOM	31

/* What was granted may be off what was asked for by so much. */
#define GRANTED		0.05

static const struct value unknown = { NAN, NAN, NAN };

/* What a file cannot tell is left out, and said. Return: 0, -ENOMEM */
static int sweep_add_run(struct sweep *s, struct merge *m, const char *file,
			 struct kjoule_error *err)
{
	char path[4096];
	const char *kept;
	int ret;

	snprintf(path, sizeof(path), "%s/%s", s->plan.folder, file);
	kept = merge_text(&s->names, path);
	ret = kept ? merge_add(m, kept, err) : -ENOMEM;
	if (!ret || ret == -ENOMEM)
		return ret;
	cmd_warn("%s: this run is left out", err->text);
	err->text[0] = '\0';
	s->damaged = true;
	return 0;
}

static int sweep_load_runs(struct sweep *s, struct kjoule_error *err)
{
	int ret = 0;

	for (size_t i = 0; i < s->plan.n_settings && !ret; i++) {
		const struct sweep_setting *setting = &s->plan.settings[i];
		struct merge *m = &s->merges[i];

		merge_new(m, &s->names, s->opt);
		m->execution_order = true;
		m->exits_known = true;	/* else the setting has failed */
		for (size_t k = 0;
		     k < setting->n_runs && !ret && !sweep_setting_has_failed(setting); k++)
			ret = sweep_add_run(s, m, setting->runs[k].file, err);
		if (!ret && m->n)
			ret = merge_outliers(m, false);
		s->damaged |= m->damaged;
	}
	/* when all names are known */
	for (size_t i = 0; i < s->plan.n_settings && !ret; i++)
		if (s->merges[i].n)
			ret = merge_average(&s->merges[i], s->merges[i].n, &s->merges[i].groups);
	return ret;
}

static const char *sweep_text_or_empty(const char *text)
{
	return text ? text : "";
}

/* All settings are of one program, and of one source of energy. */
static int sweep_compare_settings(struct sweep *s, struct kjoule_error *err)
{
	const struct merge *first = NULL;

	for (size_t i = 0; i < s->plan.n_settings; i++) {
		const struct merge *m = &s->merges[i];

		if (!m->n)
			continue;
		if (!first) {
			first = m;
			s->has_energy = m->n_domains;
			continue;
		}
		if (strcmp(sweep_text_or_empty(m->runs[0].build_id),
			   sweep_text_or_empty(first->runs[0].build_id)) ||
		    strcmp(sweep_text_or_empty(m->runs[0].program),
			   sweep_text_or_empty(first->runs[0].program)))
			return kjoule_fail(err, EXDEV, "%s and %s are recordings of different programs or builds: sweep one program at a time; the recordings are all there, and `kjoule diff --force` compares two of them",
					   first->runs[0].path, m->runs[0].path);
		if (!m->n_domains != !first->n_domains ||
		    (m->n_domains && (strcmp(m->domains[0].name, first->domains[0].name) ||
				      strcmp(m->sources[0], first->sources[0]))))
			return kjoule_fail(err, EXDEV, "%s and %s tell of the energy of other sources; choose one that both have with --source",
					   first->runs[0].path, m->runs[0].path);
	}
	return first ? 0 : kjoule_fail(err, ENODATA, "%s: no setting was measured to its end: there is nothing to compare",
				       s->plan.folder);
}

/* The mean over an average's runs of the time by the clock, as sure as the CPUs' time is. */
static struct value sweep_block_delay(const struct merge *m, uint32_t function,
				      const struct profile_group *before)
{
	double sum = 0, scale;
	struct value v;

	for (size_t i = 0; i < m->n; i++)
		if (!m->runs[i].left_out && function < m->runs[i].groups.n_functions)
			sum += m->runs[i].elapsed_s[function];
	v.v = sum / m->kept;
	/* less what ticks and interrupts took of it */
	if (before->time_s.v > 0)
		v.v *= before->net_s.v / before->time_s.v;
	scale = before->net_s.v > 0 ? v.v / before->net_s.v : NAN;
	v.lo = before->net_s.lo * scale;
	v.hi = before->net_s.hi * scale;
	return v;
}

/*
 * How long a run lasted, less what the measurement took of it. Known to a tick; from some runs on
 * by what they differ.
 */
static struct value sweep_run_duration(const struct merge *m, const struct profile_group *before)
{
	double sum = 0, squares = 0, mean, took, half = 1e-9 * m->runs[0].interval_ns;

	for (size_t i = 0; i < m->n; i++)
		sum += m->runs[i].left_out ? 0 : m->runs[i].duration_s;
	mean = sum / m->kept;
	for (size_t i = 0; i < m->n; i++)
		squares += m->runs[i].left_out ? 0 : pow(m->runs[i].duration_s - mean, 2);
	if (m->kept >= RUNS_SPREAD)
		half = fmax(half,
			    interval_t(m->kept - 1) * sqrt(squares / (m->kept - 1) / m->kept));
	/* on several CPUs at once it took the time of one */
	took = (before->time_s.v - before->net_s.v) *
	       fmin(1, before->time_s.v > 0 ? mean / before->time_s.v : 0);
	mean -= took;
	return (struct value){ mean, fmax(mean - half, 0), mean + half };
}

static void sweep_fill_figures(const struct sweep *s, const struct merge *m, uint32_t function,
			       struct sweep_figures *out)
{
	const struct profile_group *g = function == UINT32_MAX ? m->groups.total :
					&m->groups.functions[function];
	struct profile_group net = *g;

	profile_net(&net, m->n_domains);
	out->met = g->time_s.v > 0;
	if (!out->met)
		return;
	out->samples = g->samples;
	out->time_s = net.time_s;
	out->delay_s = function == UINT32_MAX ? sweep_run_duration(m, g) :
						sweep_block_delay(m, function, g);
	out->khz = g->khz.v;
	if (!s->has_energy)
		return;
	out->j = net.energy[0].j;
	/* of a block while it runs on a CPU; of the program as it is paid for, on however many */
	out->w = function == UINT32_MAX ? sweep_power(&out->j, &out->delay_s) : net.energy[0].w;
	out->dof = net.energy[0].dof;
	out->share = isnan(out->j.v) ? NAN : net.energy[0].share;
	out->product = sweep_product(&out->j, &out->delay_s);
}

/*
 * Of the runs where their spread is in the intervals; else the fewest that any of a block's
 * energies has.
 */
static double sweep_degrees_of_freedom(const struct sweep *s, const struct sweep_block *b)
{
	double least = TIME_FREEDOM;

	if (s->dof > 0)
		return s->dof;
	for (size_t i = 0; i < s->plan.n_settings; i++)
		if (b->at[i].dof > 0)
			least = fmin(least, b->at[i].dof);
	return least;
}

static int sweep_block_new(const struct sweep *s, uint32_t function, struct sweep_block *b)
{
	size_t n = s->plan.n_settings;
	struct value *j = calloc(n, sizeof(*j)), *product = calloc(n, sizeof(*product));

	*b = (struct sweep_block){ .function = function, .at = calloc(n, sizeof(*b->at)),
				   .energy_equal = calloc(n, sizeof(bool)),
				   .product_equal = calloc(n, sizeof(bool)) };
	if (!j || !product || !b->at || !b->energy_equal || !b->product_equal) {
		free(product);
		free(j);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		struct sweep_figures *f = &b->at[i];

		*f = (struct sweep_figures){ .time_s = unknown, .delay_s = unknown, .j = unknown,
					     .w = unknown, .product = unknown, .share = NAN,
					     .khz = NAN };
		if (s->merges[i].n)
			sweep_fill_figures(s, &s->merges[i], function, f);
		j[i] = f->j;
		product[i] = f->product;
		b->mixed |= function != UINT32_MAX && f->share < GROUPS_PURE;
	}
	for (size_t i = 0; i < n && b->mixed; i++)
		j[i] = product[i] = unknown;
	b->energy = sweep_least(j, n, sweep_degrees_of_freedom(s, b), b->energy_equal);
	b->product = sweep_least(product, n, sweep_degrees_of_freedom(s, b), b->product_equal);
	free(product);
	free(j);
	return 0;
}

static void sweep_block_free(struct sweep_block *b)
{
	free(b->at);
	free(b->energy_equal);
	free(b->product_equal);
}

/*
 * The largest part of the whole that it has at any setting: of the energy, or of the time without
 * any.
 */
static double sweep_block_share(const struct sweep *s, const struct sweep_block *b)
{
	double most = 0;

	for (size_t i = 0; i < s->plan.n_settings; i++) {
		const struct sweep_figures *f = &b->at[i], *all = &s->all.at[i];

		if (!f->met)
			continue;
		if (!isnan(f->j.v) && all->j.v > 0)
			most = fmax(most, f->j.v / all->j.v);
		else if (all->time_s.v > 0)
			most = fmax(most, f->time_s.v / all->time_s.v);
	}
	return most;
}

static const struct sweep *sort_sweep;

static int sweep_block_by_share(const void *a, const void *b)
{
	const struct sweep_block *x = a, *y = b;
	double p = sweep_block_share(sort_sweep, x), q = sweep_block_share(sort_sweep, y);

	return p != q ? (p > q ? -1 : 1) :
	       (x->function > y->function) - (x->function < y->function);
}

static bool sweep_block_is_wanted(const struct sweep *s, uint32_t function)
{
	const struct blocks *b = &s->names.b;
	const struct blocks_process *p = &b->processes[b->functions[function].process];

	if (p->kind != CPM_BUSY || !attribute_is_wanted(p, s->opt))
		return false;
	for (size_t i = 0; i < s->plan.n_settings; i++)
		if (s->merges[i].n && s->merges[i].groups.functions[function].time_s.v > 0)
			return true;
	return false;
}

static int sweep_gather_blocks(struct sweep *s)
{
	int ret = sweep_block_new(s, UINT32_MAX, &s->all);

	for (uint32_t i = 0; i < s->names.b.n_functions && !ret; i++) {
		struct sweep_block b, *slot;

		if (!sweep_block_is_wanted(s, i))
			continue;
		ret = sweep_block_new(s, i, &b);
		slot = ret ? NULL : kjoule_array_grow(&s->blocks, &s->n_blocks, sizeof(*slot));
		if (slot)
			*slot = b;
		else
			sweep_block_free(&b);
		ret = slot ? 0 : -ENOMEM;
	}
	sort_sweep = s;
	if (!ret && s->n_blocks)
		qsort(s->blocks, s->n_blocks, sizeof(*s->blocks), sweep_block_by_share);
	s->known = s->n_blocks;
	return ret;
}

/*
 * How often a run at the best single setting goes from a block to one that has another frequency
 * then.
 */
static int sweep_count_changes(struct sweep *s)
{
	const struct merge *m = &s->merges[s->saving.single];
	uint32_t *khz = calloc(s->names.b.n_functions + 1, sizeof(*khz));
	double n = 0;

	if (!khz)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->names.b.n_functions; i++)
		khz[i] = s->plan.settings[s->saving.single].khz;
	for (size_t i = 0; i < s->n_blocks; i++)
		if (s->saving.chosen[i] != SWEEP_NONE)
			khz[s->blocks[i].function] = s->plan.settings[s->saving.chosen[i]].khz;
	for (size_t i = 0; i < m->n; i++) {
		for (size_t k = 0; k < m->runs[i].n_steps && !m->runs[i].left_out; k++) {
			const struct execution_step *step = &m->runs[i].steps[k];

			n += khz[step->from] != khz[step->to] ? step->n : 0;
		}
	}
	s->changes = n / m->kept;
	if (s->plan.latency_ns) {
		s->changes_s = s->changes * s->plan.latency_ns * 1e-9;
		s->changes_j = s->changes_s * s->all.at[s->saving.single].w.v;
	}
	free(khz);
	return 0;
}

/* May it have a frequency of its own? */
static bool sweep_block_has_own_khz(const struct sweep *s, const struct sweep_block *b)
{
	return !b->mixed && sweep_block_share(s, b) >= OWN_LEAST;
}

static int sweep_find_saving(struct sweep *s)
{
	size_t n = s->plan.n_settings;
	uint32_t *khz = calloc(n, sizeof(*khz)), *threads = calloc(n, sizeof(*threads));
	struct value *all = calloc(n, sizeof(*all)), *j = calloc(n * s->n_blocks + 1, sizeof(*j));
	struct value *delays = calloc(n * s->n_blocks + 1, sizeof(*delays));
	struct sweep_table t = { .n_settings = n, .n_blocks = s->n_blocks, .khz = khz,
				 .threads = threads, .all_j = all, .j = j, .delay_s = delays };
	int ret = khz && threads && all && j && delays ? 0 : -ENOMEM;
	double least = sweep_degrees_of_freedom(s, &s->all);

	for (size_t b = 0; b < s->n_blocks; b++)
		if (sweep_block_has_own_khz(s, &s->blocks[b]))
			least = fmin(least, sweep_degrees_of_freedom(s, &s->blocks[b]));
	for (size_t i = 0; i < n && !ret; i++) {
		khz[i] = s->plan.settings[i].khz;
		threads[i] = s->plan.settings[i].threads;
		all[i] = s->all.at[i].j;
		for (size_t b = 0; b < s->n_blocks; b++) {
			j[b * n + i] = sweep_block_has_own_khz(s, &s->blocks[b]) ?
				       s->blocks[b].at[i].j : unknown;
			delays[b * n + i] = s->blocks[b].at[i].delay_s;
		}
	}
	s->saving.single = SWEEP_NONE;
	if (!ret)
		ret = sweep_save(&t, least, &s->saving);
	if (ret == -ENODATA) {
		s->saving.single = SWEEP_NONE;
		ret = 0;
	} else if (!ret) {
		ret = sweep_count_changes(s);
	}
	free(khz);
	free(threads);
	free(all);
	free(j);
	free(delays);
	return ret;
}

/*
 * What has no frequency of its own for want of an energy of its own, and what part of the whole
 * that is.
 */
static int sweep_note_mixed(struct sweep *s)
{
	size_t single = s->saving.single;
	double j = 0;

	for (size_t i = 0; i < s->n_blocks; i++) {
		const struct sweep_block *b = &s->blocks[i];

		if (!b->mixed || sweep_block_share(s, b) < OWN_LEAST)
			continue;
		s->mixed++;
		if (single != SWEEP_NONE && b->at[single].j.v > 0)
			j += b->at[single].j.v;
	}
	if (!s->mixed || single == SWEEP_NONE || !(s->all.at[single].j.v > 0))
		return 0;
	return merge_note(&s->notes, "of the blocks of 1 %% of the whole and more %zu, with %.3g %% of the energy at the best single setting, run too shortly between two updates of the energy counter (~): what their neighbours draw is mixed into theirs, so no setting is known to be the least for them, and they have no part in what is saved",
			  s->mixed, 100 * j / s->all.at[single].j.v);
}

static int sweep_note_settings(struct sweep *s)
{
	char label[64];
	int ret = 0;

	for (size_t i = 0; i < s->plan.n_settings && !ret; i++) {
		const struct sweep_setting *p = &s->plan.settings[i];
		double khz = s->all.at[i].khz;

		sweep_label(p, label, sizeof(label));
		if (p->refused)
			ret = merge_note(&s->notes, "%s was not measured: %s", label, p->refused);
		else if (sweep_setting_has_failed(p))
			ret = merge_note(&s->notes, "%s takes no part: the command ended with exit code %d", label,
					 p->runs[p->n_runs - 1].exit_code);
		else if (!s->merges[i].n)
			ret = merge_note(&s->notes, "%s was not measured: %s", label,
					 p->n_runs ? "no recording of it can be read" :
					 "the sweep ended before");
		else if (s->merges[i].kept < s->plan.runs)
			ret = merge_note(&s->notes, "%s has %zu of %u runs", label,
					 s->merges[i].kept, s->plan.runs);
		if (!ret && p->khz && fabs(khz / p->khz - 1) > GRANTED)
			ret = merge_note(&s->notes,
					 "%s: the CPUs were clocked at %.6g MHz on the mean", label,
					 khz / 1e3);
		if (!ret && s->merges[i].n)
			ret = header_series_doubts(&s->merges[i], label, &s->notes);
		for (size_t k = 0; k < s->merges[i].notes.n && !ret; k++)
			ret = merge_note(&s->notes, "%s: %s", label, s->merges[i].notes.list[k]);
	}
	return ret;
}

/* What is below the limit at all settings has its part in the saving, and is not shown. */
static void sweep_hide_small(struct sweep *s)
{
	size_t kept = s->n_blocks;

	while (kept && sweep_block_share(s, &s->blocks[kept - 1]) * 100 < s->opt->percent_limit)
		kept--;
	s->n_hidden = s->n_blocks - kept;
	s->n_blocks = kept;
}

int sweep_figures_new(struct sweep *s, const struct attribute_options *opt,
		      struct kjoule_error *err)
{
	int ret = merge_names_new(MERGE_SAME, &s->names);

	s->opt = opt;
	s->merges = calloc(s->plan.n_settings, sizeof(*s->merges));
	if (!ret && !s->merges)
		ret = -ENOMEM;
	err->text[0] = '\0';
	if (!ret)
		ret = sweep_load_runs(s, err);
	if (!ret)
		ret = sweep_compare_settings(s, err);
	s->runs_least = SIZE_MAX;
	for (size_t i = 0; i < s->plan.n_settings && !ret; i++)
		if (s->merges[i].n && s->merges[i].kept < s->runs_least)
			s->runs_least = s->merges[i].kept;
	s->dof = s->runs_least >= RUNS_SPREAD && s->runs_least != SIZE_MAX ?
		 2 * (double)s->runs_least - 2 : 0;
	if (!ret)
		ret = sweep_gather_blocks(s);
	if (!ret && !s->n_blocks && opt->comm)
		ret = kjoule_fail(err, ESRCH, "--comm %s: no such process at any setting",
				  opt->comm);
	if (!ret)
		ret = sweep_find_saving(s);
	if (!ret)
		ret = sweep_note_settings(s);
	if (!ret)
		ret = sweep_note_mixed(s);
	if (!ret)
		sweep_hide_small(s);
	if (ret && !err->text[0])
		kjoule_fail(err, -ret, "%s: %s", s->plan.folder, strerror(-ret));
	return ret;
}

void sweep_free(struct sweep *s)
{
	for (size_t i = 0; i < s->n_blocks + s->n_hidden; i++)
		sweep_block_free(&s->blocks[i]);
	sweep_block_free(&s->all);
	free(s->blocks);
	free(s->saving.chosen);
	for (size_t i = 0; s->merges && i < s->plan.n_settings; i++)
		merge_free(&s->merges[i]);
	free(s->merges);
	merge_notes_free(&s->notes);
	merge_names_free(&s->names);
	sweep_plan_free(&s->plan);
}

const char *sweep_block_name(const struct sweep *s, const struct sweep_block *b)
{
	return b->function == UINT32_MAX ? "total" : s->names.b.functions[b->function].symbol;
}
