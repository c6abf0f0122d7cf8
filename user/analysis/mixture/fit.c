// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See fit.h. A vector's class is the units of its blocks, without idle CPUs and marginal blocks.
 * Rare ones are pooled: their windows are left out of the fit, and get what the powers of the
 * others leave of these windows' energy. If that would leave out most windows the pool is a class
 * instead.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/cpm/cpm_divide.h"
#include "analysis/mixture/fit.h"

/* The pool is a class if windows without it are less than this part. */
#define LEAST_WINDOWS	0.4

static uint32_t block_unit(const struct fit_input *in, uint32_t block)
{
	return in->unit_of ? in->unit_of[block] : block;
}

static int unit_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The units of each vector, sorted, at the places of its members. */
static uint32_t *vectors_units(const struct fit_input *in)
{
	const struct cpm_vectors *v = in->vectors;
	uint32_t *units = calloc(v->first[v->n_vectors] + 1ul, sizeof(*units));

	if (!units)
		return NULL;
	for (uint32_t i = 0; i < v->n_vectors; i++) {
		for (uint32_t m = v->first[i]; m < v->first[i + 1]; m++)
			units[m] = block_unit(in, v->members[m]);
		qsort(units + v->first[i], v->first[i + 1] - v->first[i], sizeof(*units),
		      unit_by_number);
	}
	return units;
}

/* Ticks of each vector in windows without unknown ticks, of marginal blocks for the base. */
static double *vectors_known_ticks(const struct fit_input *in, double *all)
{
	double *ticks = calloc(in->vectors->n_vectors + 1ul, sizeof(*ticks));
	struct cpm_windows c;
	size_t u = 0;
	int ret = cpm_windows_begin(in->domain, &c);

	*all = 0;
	while (ticks && !ret && cpm_windows_next(&c)) {
		while (u < in->n_unknown && in->unknown[u].to <= c.w.from)
			u++;
		if (!c.w.known || (u < in->n_unknown && in->unknown[u].from < c.w.to))
			continue;
		for (size_t p = 0; p < c.w.n_parts; p++) {
			ticks[in->vectors->base[c.w.parts[p].vector]] += c.w.parts[p].count;
			*all += c.w.parts[p].count;
		}
	}
	cpm_windows_end(&c);
	if (ret) {
		free(ticks);
		return NULL;
	}
	return ticks;
}

/* Vectors with the same units, ordered by their units. */
struct entry {
	const uint32_t *units;
	uint32_t n, vector;
	double ticks;
	bool other_set;		/* all other sets: unlike any other */
};

static int entry_by_units(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->units[i] != y->units[i])
			return x->units[i] < y->units[i] ? -1 : 1;
	return (x->vector > y->vector) - (x->vector < y->vector);
}

static bool entries_are_alike(const struct entry *x, const struct entry *y)
{
	return !x->other_set && !y->other_set && x->n == y->n &&
	       (!x->n || !memcmp(x->units, y->units, x->n * sizeof(*x->units)));
}

static int entry_by_ticks(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a,
		*y = *(const struct entry *const *)b;

	if (x->ticks != y->ticks)
		return x->ticks > y->ticks ? -1 : 1;
	return (x->vector > y->vector) - (x->vector < y->vector);
}

static bool entry_is_loose(const struct fit_input *in, const struct entry *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (in->loose && in->loose[e->units[i]])
			return true;
	return !e->n;
}

/* Make classes of entries sorted by units; @pool: rare ones are one class, else none. */
static int classes_number(const struct fit_input *in, struct entry *entries, size_t n, double all,
			  bool pool, struct fit *f, uint32_t *n_classes)
{
	struct entry **heads = calloc(n + 1, sizeof(*heads));
	size_t n_heads = 0, kept = 0;
	bool pooled = false;

	if (!heads)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!i || !entries_are_alike(heads[n_heads - 1], &entries[i]))
			heads[n_heads++] = &entries[i];
		else
			heads[n_heads - 1]->ticks += entries[i].ticks;
	}
	qsort(heads, n_heads, sizeof(*heads), entry_by_ticks);
	for (uint32_t v = 0; v < f->n_vectors; v++)
		f->class_of[v] = MIXTURE_NONE;
	while (kept < n_heads && kept < FIT_CLASSES && heads[kept]->ticks > 0 &&
	       heads[kept]->ticks >= FIT_LEAST_PART * all) {
		f->loose[kept] = entry_is_loose(in, heads[kept]);
		f->vector[kept] = heads[kept]->vector;
		f->class_of[heads[kept]->vector] = kept;
		kept++;
	}
	for (size_t i = 0; i < n; i++) {
		const struct entry *e = &entries[i];

		if (i && entries_are_alike(e, e - 1))
			f->class_of[e->vector] = f->class_of[e[-1].vector];
		else if (f->class_of[e->vector] == MIXTURE_NONE && pool && e->ticks > 0) {
			f->class_of[e->vector] = kept;
			f->vector[kept] = e->vector;
			pooled = true;
		}
	}
	f->loose[kept] = true;
	*n_classes = kept + pooled;
	free(heads);
	return 0;
}

static int classes_make(const struct fit_input *in, bool pool, struct fit *f, uint32_t *n_classes)
{
	const struct cpm_vectors *v = in->vectors;
	struct entry *entries = calloc(v->n_vectors + 1ul, sizeof(*entries));
	uint32_t *units = vectors_units(in);
	double all, *ticks = vectors_known_ticks(in, &all);
	size_t n = 0;
	int ret = -ENOMEM;

	if (entries && units && ticks) {
		for (uint32_t i = 0; i < v->n_vectors; i++)
			if (v->base[i] == i)
				entries[n++] = (struct entry){ units + v->first[i],
							       v->first[i + 1] - v->first[i], i,
							       ticks[i], cpm_is_other_set(v, i) };
		qsort(entries, n, sizeof(*entries), entry_by_units);
		ret = classes_number(in, entries, n, all, pool, f, n_classes);
	}
	free(entries);
	free(units);
	free(ticks);
	return ret;
}

static double fit_vector_power(const struct fit *f, const struct cpm_vectors *v, uint32_t vector)
{
	uint32_t base = v->base[vector], class = f->class_of[base];
	double uj = class == MIXTURE_NONE ? f->pool_uj : f->m.uj_per_tick[class];

	return base == vector ? uj : uj + f->marginal_uj;
}

/* What the windows left out spent beyond their classes' energy, for those who were in them. */
static int pool_find_power(const struct fit_input *in, struct fit *f)
{
	struct cpm_windows c;
	int ret = cpm_windows_begin(in->domain, &c);
	double pool = 0, pool_ticks = 0, marginal = 0, marginal_ticks = 0, all = 0, all_ticks = 0;

	while (!ret && cpm_windows_next(&c)) {
		double left = c.w.uj, no_class = 0, beside = 0;

		if (!c.w.known)
			continue;
		all += left;
		all_ticks += c.w.to - c.w.from;
		for (size_t p = 0; p < c.w.n_parts; p++) {
			uint32_t vector = c.w.parts[p].vector,
			class = f->class_of[in->vectors->base[vector]];
			double n = c.w.parts[p].count;

			if (in->vectors->base[vector] != vector)
				beside += n;
			if (class == MIXTURE_NONE)
				no_class += n;
			else
				left -= n * f->m.uj_per_tick[class];
		}
		if (no_class > 0 && beside <= 0) {
			pool += left;
			pool_ticks += no_class;
		} else if (beside > 0 && no_class <= 0) {
			marginal += left;
			marginal_ticks += beside;
		}
	}
	f->pool_uj = pool_ticks > 0 ? fmax(pool / pool_ticks, 0) : all_ticks > 0 ?
		     all / all_ticks : 0;
	f->marginal_uj = marginal_ticks > 0 ? fmax(marginal / marginal_ticks, 0) : 0;
	cpm_windows_end(&c);
	return ret;
}

int fit_new(const struct fit_input *in, struct fit *f)
{
	struct mixture_input m = { .vectors = in->vectors, .domain = in->domain,
				   .jitter = in->jitter, .unknown = in->unknown,
				   .n_unknown = in->n_unknown };
	int ret = -ENOMEM;

	memset(f, 0, sizeof(*f));
	f->n_vectors = in->vectors->n_vectors;
	f->class_of = calloc(f->n_vectors + 1ul, sizeof(*f->class_of));
	f->loose = calloc(FIT_CLASSES + 2, sizeof(*f->loose));
	f->vector = calloc(FIT_CLASSES + 2, sizeof(*f->vector));
	if (f->class_of && f->loose && f->vector)
		ret = classes_make(in, false, f, &m.n_classes);
	m.class_of = f->class_of;
	if (!ret)
		ret = mixture_solve(&m, &f->m);
	if (!ret && f->m.windows < LEAST_WINDOWS * (f->m.windows + f->m.left_out)) {
		mixture_free(&f->m);
		ret = classes_make(in, true, f, &m.n_classes);
		if (!ret)
			ret = mixture_solve(&m, &f->m);
	}
	if (!ret && !f->m.why)
		ret = pool_find_power(in, f);
	if (ret)
		fit_free(f);
	return ret;
}

void fit_free(struct fit *f)
{
	mixture_free(&f->m);
	free(f->class_of);
	free(f->loose);
	free(f->vector);
	memset(f, 0, sizeof(*f));
}

void fit_apply(const struct fit *f, const struct cpm_vectors *v, struct cpm_domain *d)
{
	for (uint32_t i = 0; i < d->n_vectors; i++) {
		d->uj_per_tick[i] = fit_vector_power(f, v, i);
		for (unsigned int s = 0; s < d->steps; s++)
			d->weights[s][i] = d->uj_per_tick[i];
	}
	free(d->kinds);	/* each has a power of its own now */
	d->kinds = NULL;
	d->fitted = f->m.used;
	d->unsampled_known = f->class_of[CPM_UNSAMPLED] != MIXTURE_NONE;
}

static void group_add_fit_error(const struct fit *f, const double *ticks, struct cpm_group *g)
{
	g->variance += mixture_variance(&f->m, ticks);
	g->bias_uj = mixture_bias(&f->m, ticks);
	g->dof = g->readings > 1 ? f->m.dof : 0;
	g->share = NAN;
}

int fit_vector_groups(const struct fit *f, const struct cpm_vectors *v, const struct cpm_domain *d,
		      const uint32_t *group_of, uint32_t n_groups, struct cpm_group *groups)
{
	uint32_t n = f->m.n_classes;
	double *ticks = calloc((size_t)n_groups * n + 1, sizeof(*ticks));
	uint64_t *counts = calloc(v->n_vectors + 1ul, sizeof(*counts));
	int ret = ticks && counts ? cpm_counts(d, counts) : -ENOMEM;

	for (uint32_t i = 0; i < v->n_vectors && !ret; i++) {
		uint32_t class = f->class_of[v->base[i]];

		if (class != MIXTURE_NONE)
			ticks[(size_t)group_of[i] * n + class] += counts[i];
	}
	for (uint32_t g = 0; g < n_groups && !ret; g++)
		group_add_fit_error(f, ticks + (size_t)g * n, &groups[g]);
	free(counts);
	free(ticks);
	return ret;
}

/* The same of ticks of all other sets. Marginal blocks have no part of the class. */
static int classes_add_other_sets(const struct fit *f, const struct cpm_vectors *v,
				  const struct cpm_domain *d, const uint32_t *group_of,
				  uint32_t unsampled_group, double *ticks)
{
	uint32_t n = f->m.n_classes;
	struct cpm_events e;
	int ret = cpm_events_begin(v, &e);

	while (!ret && cpm_events_next(&e)) {
		uint32_t base = v->base[e.vector], class = f->class_of[base];
		struct cpm_sharing s;

		if (!cpm_is_other_set(v, e.vector) || class == MIXTURE_NONE)
			continue;
		s = cpm_share_among(v, d, base, e.walk.blocks, e.n, d->uj_per_tick[base]);
		if (!s.others)
			ticks[(size_t)unsampled_group * n + class] += e.count;
		for (size_t m = 0; m < e.n; m++)
			if (v->kinds[e.walk.blocks[m]] != CPM_MARGINAL)
				ticks[(size_t)group_of[e.walk.blocks[m]] * n + class] +=
					e.count * cpm_share_of(v, d, &s, e.walk.blocks[m]);
	}
	cpm_events_end(&e);
	return ret;
}

int fit_groups(const struct fit *f, const struct cpm_vectors *v, const struct cpm_domain *d,
	       const uint32_t *group_of, uint32_t unsampled_group, uint32_t n_groups,
	       struct cpm_group *groups)
{
	uint32_t n = f->m.n_classes;
	double *ticks = calloc((size_t)n_groups * n + 1, sizeof(*ticks));
	uint64_t *counts = calloc(v->n_vectors + 1ul, sizeof(*counts));
	int ret = ticks && counts ? cpm_counts(d, counts) : -ENOMEM;

	/* of each class's ticks, how many are the group's */
	for (uint32_t i = 0; i < v->n_vectors && !ret; i++) {
		uint32_t base = v->base[i], class = f->class_of[base];
		struct cpm_sharing s;

		if (class == MIXTURE_NONE)
			continue;
		if (cpm_is_other_set(v, i))
			continue;
		s = cpm_share(v, d, base, d->uj_per_tick[base]);
		if (!s.n)
			ticks[(size_t)unsampled_group * n + class] += counts[i];
		for (uint32_t m = v->first[base]; m < v->first[base + 1]; m++)
			ticks[(size_t)group_of[v->members[m]] * n + class] +=
				counts[i] * cpm_share_of(v, d, &s, v->members[m]);
	}
	if (!ret && cpm_has_other_sets(v))
		ret = classes_add_other_sets(f, v, d, group_of, unsampled_group, ticks);
	for (uint32_t g = 0; g < n_groups && !ret; g++)
		group_add_fit_error(f, ticks + (size_t)g * n, &groups[g]);
	free(counts);
	free(ticks);
	return ret;
}
