// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See separability.h. Begins with each block of enough time as its own unit, solves the model, and
 * merges two inseparable units until there are none: first those with runs too short to be sampled,
 * then those that windows do not separate, then those with too wide intervals. This must hold for
 * all domains.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/mixture/fit.h"
#include "analysis/profile/separability.h"

struct work {
	const struct profile *p;
	const struct profile_input *in;
	size_t package;
	struct separation *s;
};

/* Merge two units. */
static void units_merge(struct work *w, uint32_t a, uint32_t b, enum separability_fate fate)
{
	struct separation *s = w->s;

	for (uint32_t i = 0; i < s->n_blocks; i++) {
		if (s->unit_of[i] != a && s->unit_of[i] != b)
			continue;
		if (s->fate[i] == SEPARABILITY_ALONE)
			s->fate[i] = fate;
		s->unit_of[i] = a;
	}
	if (s->pool[a] != s->pool[b])
		s->pool[a] = UINT32_MAX;
	s->loose[a] = s->loose[a] && s->loose[b];
}

/* A unit of one vector that is not in the other one, UINT32_MAX if there is none. */
static uint32_t unit_only_in(const struct work *w, const struct cpm_vectors *v, uint32_t a,
			     uint32_t b)
{
	for (uint32_t i = v->first[a]; i < v->first[a + 1]; i++) {
		uint32_t unit = w->s->unit_of[v->members[i]];
		bool there = false;

		for (uint32_t k = v->first[b]; k < v->first[b + 1]; k++)
			there |= w->s->unit_of[v->members[k]] == unit;
		if (!there)
			return unit;
	}
	return UINT32_MAX;
}

/* Merge units of two classes, which brings them closer. Return: false if there are none */
static bool classes_merge(struct work *w, const struct cpm_vectors *v, const struct fit *f,
			  uint32_t a, uint32_t b, enum separability_fate fate)
{
	uint32_t x = unit_only_in(w, v, f->vector[a], f->vector[b]),
		y = unit_only_in(w, v, f->vector[b], f->vector[a]);

	/* one has all of the other one's, and more */
	if (x == UINT32_MAX && v->first[f->vector[a]] < v->first[f->vector[a] + 1])
		x = w->s->unit_of[v->members[v->first[f->vector[a]]]];
	if (y == UINT32_MAX && v->first[f->vector[b]] < v->first[f->vector[b] + 1])
		y = w->s->unit_of[v->members[v->first[f->vector[b]]]];
	if (x == UINT32_MAX || y == UINT32_MAX || x == y)
		return false;
	units_merge(w, x, y, fate);
	return true;
}

/* The class to merge with @a for which @worth is largest and above 0. @loose: any will do */
static uint32_t class_find_partner(const struct fit *f, uint32_t a, const double *worth, bool loose)
{
	uint32_t best = MIXTURE_NONE;

	for (uint32_t c = 0; c < f->m.n_classes; c++)
		if (c != a && (loose || !f->loose[c]) && worth[c] > 0 &&
		    (best == MIXTURE_NONE || worth[c] > worth[best]))
			best = c;
	return best;
}

/* An equally brief class is preferred, if it borders half as often. */
#define BRIEF_COUNTS	2

/* Return: 1 if something was merged, 0, -ENODATA if there is nothing to merge with, -ENOMEM */
static int classes_merge_brief(struct work *w, const struct cpm_vectors *v, const struct fit *f)
{
	uint32_t n = f->m.n_classes;
	double *worth = calloc(n + 1ul, sizeof(*worth));
	int ret = worth ? 0 : -ENOMEM;

	for (uint32_t c = 0; c < n && worth && ret != 1; c++) {
		uint32_t with;

		if (!f->m.brief[c] || f->loose[c])
			continue;
		for (uint32_t k = 0; k < n; k++)
			worth[k] = f->m.border[(size_t)c * n + k] *
				   (f->m.brief[k] ? BRIEF_COUNTS : 1);
		with = class_find_partner(f, c, worth, false);
		if (with == MIXTURE_NONE)
			with = class_find_partner(f, c, worth, true);
		ret = with != MIXTURE_NONE && classes_merge(w, v, f, c, with, SEPARABILITY_BRIEF) ?
		      1 : -ENODATA;
	}
	free(worth);
	return ret;
}

/*
 * The direction's two largest parts with different signs. Return: as classes_merge_brief(), -ENOMEM
 */
static int classes_merge_alike(struct work *w, const struct cpm_vectors *v, const struct fit *f)
{
	double *up = calloc(f->m.n_classes + 1ul, sizeof(*up)),
		*down = calloc(f->m.n_classes + 1ul, sizeof(*down));
	int ret = up && down ? -ENODATA : -ENOMEM;

	for (uint32_t c = 0; up && down && c < f->m.n_classes; c++) {
		up[c] = f->m.direction[c];
		down[c] = -f->m.direction[c];
	}
	for (int loose = 0; loose < 2 && ret == -ENODATA; loose++) {
		uint32_t a = class_find_partner(f, MIXTURE_NONE, up, loose),
		b = class_find_partner(f, MIXTURE_NONE, down, loose);

		if (a != MIXTURE_NONE && b != MIXTURE_NONE &&
		    classes_merge(w, v, f, a, b, SEPARABILITY_ALIKE))
			ret = 1;
	}
	free(up);
	free(down);
	return ret;
}

/* The most uncertain class, with the one that it is most anticorrelated to. */
static bool classes_merge_unsure(struct work *w, const struct cpm_vectors *v,
				 const struct cpm_domain *d, const struct fit *f)
{
	uint32_t n = f->m.n_classes, worst = MIXTURE_NONE, with;
	double *one = calloc(n + 1ul, sizeof(*one)), uj = 0, ticks = 0, most = 0;
	struct cpm_windows windows;
	int ret = cpm_windows_begin(d, &windows);

	while (!ret && cpm_windows_next(&windows)) {
		uj += windows.w.known ? windows.w.uj : 0;
		ticks += windows.w.known ? windows.w.to - windows.w.from : 0;
	}
	cpm_windows_end(&windows);
	if (!one || !(ticks > 0))
		goto out;
	for (uint32_t c = 0; c < n; c++) {
		double half;

		one[c] = 1;
		half = mixture_half(&f->m, one);
		one[c] = 0;
		if (!f->loose[c] && !(half <= most)) {
			most = half;
			worst = c;
		}
	}
	if (worst == MIXTURE_NONE || most <= SEPARABILITY_SURE * uj / ticks)
		goto out;
	for (uint32_t c = 0; c < n; c++)
		one[c] = -f->m.covariance[worst * n + c] /
			 sqrt(f->m.covariance[c * n + c] + 1e-300);
	with = class_find_partner(f, worst, one, false);
	free(one);
	return with != MIXTURE_NONE && classes_merge(w, v, f, worst, with, SEPARABILITY_ALIKE);
out:
	free(one);
	return false;
}

/* Check a domain. Return: 1 if something was merged, 0, -ENOMEM */
static int domain_merge_classes(struct work *w, unsigned int domain, bool first)
{
	const struct cpm_domain *d = profile_domain(w->p, w->package, domain);
	struct fit_input in = { .vectors = profile_vectors(w->p, w->package), .domain = d,
				.unit_of = w->s->unit_of, .loose = w->s->loose,
				.jitter = w->in->jitter, .unknown = w->in->unknown,
				.n_unknown = w->in->n_unknown };
	struct fit f;
	int ret;

	if (!d)
		return 0;
	ret = fit_new(&in, &f);
	if (ret)
		return ret;
	if (first) {
		w->s->windows = f.m.windows;
		w->s->left_out = f.m.left_out;
		w->s->window_ticks = f.m.window_ticks;
		w->s->why = f.m.why == MIXTURE_FEW_WINDOWS ? SEPARABILITY_FEW :
			    f.m.why == MIXTURE_COARSE ? SEPARABILITY_COARSE : SEPARABILITY_DONE;
	}
	if (f.m.why == MIXTURE_SOLVED || f.m.why == MIXTURE_ALIKE) {
		w->s->reliability = fmin(w->s->reliability, f.m.reliability);
		ret = classes_merge_brief(w, in.vectors, &f);
		if (!ret && (f.m.why == MIXTURE_ALIKE || f.m.reliability < SEPARABILITY_RELIABLE))
			ret = classes_merge_alike(w, in.vectors, &f);
		if (!ret)
			ret = classes_merge_unsure(w, in.vectors, d, &f);
	}
	fit_free(&f);
	if (ret != -ENODATA)
		return ret;
	if (first)
		w->s->why = SEPARABILITY_NOTHING;
	return 0;
}

/* Ticks of the members of each vector, with all other sets. Return: 0 or -ENOMEM */
static int blocks_count_ticks(const struct cpm_vectors *v, const uint64_t *counts, double *ticks,
			      double *all)
{
	struct cpm_events e;
	int ret;

	for (uint32_t i = 0; i < v->n_vectors; i++) {
		*all += counts[i];
		for (uint32_t m = v->first[i]; m < v->first[i + 1]; m++)
			ticks[v->members[m]] += counts[i];
	}
	if (!cpm_has_other_sets(v))
		return 0;
	ret = cpm_events_begin(v, &e);
	while (!ret && cpm_events_next(&e))
		for (size_t m = 0; m < e.n && cpm_is_other_set(v, e.vector); m++)
			ticks[e.walk.blocks[m]] += e.count;
	cpm_events_end(&e);
	return ret;
}

/* Blocks of little time are merged by their pool, pools of little time altogether. */
static int blocks_pool(struct work *w, const uint32_t *pool_of)
{
	const struct cpm_vectors *v = profile_vectors(w->p, w->package);
	const struct cpm_domain *d = profile_domain(w->p, w->package, 0);
	struct separation *s = w->s;
	double *ticks = calloc(s->n_blocks + 1ul, sizeof(*ticks)),
		*pools = calloc(s->n_blocks + 1ul, sizeof(*pools));
	uint32_t *first = malloc((s->n_blocks + 1ul) * sizeof(*first)), last = UINT32_MAX;
	uint64_t *counts = calloc(v->n_vectors + 1ul, sizeof(*counts));
	double all = 0;
	int ret = ticks && pools && first && counts ? cpm_counts(d, counts) : -ENOMEM;

	if (!ret)
		ret = blocks_count_ticks(v, counts, ticks, &all);
	/* pools are numbered like the first of their blocks */
	for (uint32_t i = 0; i < s->n_blocks && !ret; i++) {
		s->unit_of[i] = i;
		s->pool[i] = pool_of[i];
		first[i] = UINT32_MAX;
	}
	for (uint32_t i = 0; i < s->n_blocks && !ret; i++)
		if (ticks[i] > 0 && ticks[i] < FIT_LEAST_PART * all &&
		    w->in->kinds[i] == CPM_BUSY && pool_of[i] < s->n_blocks)
			pools[pool_of[i]] += ticks[i];
	for (uint32_t i = 0; i < s->n_blocks && !ret; i++) {
		uint32_t *to;

		if (!(ticks[i] > 0) || ticks[i] >= FIT_LEAST_PART * all ||
		    w->in->kinds[i] != CPM_BUSY || pool_of[i] >= s->n_blocks)
			continue;
		to = pools[pool_of[i]] >= FIT_LEAST_PART * all ? &first[pool_of[i]] : &last;
		s->fate[i] = SEPARABILITY_LITTLE;
		s->loose[i] = true;
		if (*to == UINT32_MAX) {
			*to = i;
			if (to == &last)
				s->pool[i] = UINT32_MAX;
		}
		s->unit_of[i] = *to;
	}
	free(ticks);
	free(pools);
	free(first);
	free(counts);
	return ret;
}

/* The only package whose counter has the domain. */
static bool package_find_only(struct work *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->in->n_packages; i++) {
		if (!w->in->n_domains || !profile_domain(w->p, i, 0))
			continue;
		w->package = i;
		n++;
	}
	w->s->why = !n ? SEPARABILITY_NO_ENERGY : n > 1 ? SEPARABILITY_PACKAGES : SEPARABILITY_DONE;
	return n == 1;
}

int separability_new(const struct profile *p, const struct profile_input *in,
		     const uint32_t *pool_of, struct separation *s)
{
	struct work w = { .p = p, .in = in, .s = s };
	int ret = 1;

	memset(s, 0, sizeof(*s));
	s->n_blocks = in->n_blocks;
	s->unit_of = calloc(in->n_blocks + 1ul, sizeof(*s->unit_of));
	s->fate = calloc(in->n_blocks + 1ul, sizeof(*s->fate));
	s->loose = calloc(in->n_blocks + 1ul, sizeof(*s->loose));
	s->pool = calloc(in->n_blocks + 1ul, sizeof(*s->pool));
	if (!s->unit_of || !s->fate || !s->loose || !s->pool) {
		separability_free(s);
		return -ENOMEM;
	}
	if (!package_find_only(&w))
		return 0;
	ret = blocks_pool(&w, pool_of);
	for (bool again = true; again && !ret;) {
		s->reliability = 1;
		for (unsigned int d = 0; d < in->n_domains && !ret; d++) {
			ret = domain_merge_classes(&w, d, !d);
			if (s->why)
				break;
		}
		again = ret == 1;
		ret = ret < 0 ? ret : 0;
	}
	if (ret)
		separability_free(s);
	return ret;
}

void separability_free(struct separation *s)
{
	free(s->unit_of);
	free(s->fate);
	free(s->loose);
	free(s->pool);
	memset(s, 0, sizeof(*s));
}
