// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See mixture_runs.h, and mixture.c for where the formulas come from.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/mixture/mixture_runs.h"
#include "lib/base/array.h"

/* Edges so many runs apart are taken to be independent. */
#define LAG		16

/* A length's variance is from those within so many ticks of the median, if this part of all. */
#define USUAL_WITHIN	2
#define USUAL_PART	0.75

/* A length with a larger variance (squared ticks) is independent of the grid. */
#define FREE_VARIANCE	0.5

/*
 * Of runs shorter than an interval some are not seen at all. If lengths are spread evenly over the
 * first two intervals, that adds 1/12 for each run that is seen once: a run of length L less than 1
 * varies by L (1 - L), and 1/6 is counted for those, L of all, that are seen. If many runs are that
 * short, several are missed at a time; simulated ones lacked 1.4 to 3 times as much.
 */
#define UNSEEN		(1.5 / 12)

double mixture_covariance(double mean, double variance, double jitter)
{
	double sum = 0;

	if (variance >= FREE_VARIANCE)
		return 0;
	for (int k = 1; k <= 40; k++) {
		double factor = exp(-2 * M_PI * M_PI * k * k * variance) /
				(2 * M_PI * M_PI * k * k);
		double x = M_PI * k * jitter, sinc = x > 0 ? sin(x) / x : 1;

		if (factor < 1e-5)
			break;
		sum += factor * sinc * sinc * cos(2 * M_PI * k * mean);
	}
	return sum;
}

static double edge_variance(double jitter)
{
	return (1 + jitter * jitter) / 12;
}

/*
 * The variance of a length whose counts of ticks vary by @counts: the sum below is monotonic in it.
 */
static double length_true_variance(double mean, double counts, double jitter)
{
	double low = 0, high = counts;

	for (int i = 0; i < 40; i++) {
		double s2 = (low + high) / 2;

		if (s2 + 2 * (edge_variance(jitter) - mixture_covariance(mean, s2, jitter)) >
		    counts)
			high = s2;
		else
			low = s2;
	}
	return low;
}

static int length_by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void length_set_figures(uint64_t *lengths, size_t n, double jitter,
			       struct mixture_length *out)
{
	double sum = 0, squares = 0, all = 0, counts;
	size_t usual = 0;
	uint64_t median;

	*out = (struct mixture_length){ NAN, FREE_VARIANCE, NAN, 0, n };
	if (!n)
		return;
	qsort(lengths, n, sizeof(*lengths), length_by_size);
	median = lengths[n / 2];
	for (size_t i = 0; i < n; i++) {
		double off = (double)lengths[i] - (double)median;

		all += lengths[i];
		out->single += (lengths[i] == 1) / (double)n;
		if (fabs(off) > USUAL_WITHIN)
			continue;
		usual++;
		sum += off;
		squares += off * off;
	}
	out->all_mean = all / n;
	out->mean = median + sum / usual;
	if (n < 2 || usual < USUAL_PART * n)
		return;
	counts = squares / usual - sum / usual * sum / usual;
	out->variance = length_true_variance(out->mean, counts, jitter);
}

static int runs_add_run(struct mixture_runs *r, uint64_t from, uint64_t to, uint32_t class)
{
	struct mixture_run *last = r->n ? &r->runs[r->n - 1] : NULL;

	if (from >= to)
		return 0;
	if (last && last->class == class) {
		last->to = to;
		return 0;
	}
	last = kjoule_array_grow(&r->runs, &r->n, sizeof(*last));
	if (!last)
		return -ENOMEM;
	*last = (struct mixture_run){ from, to, class };
	return 0;
}

/* As runs_add_run(), for unknown ticks in between. */
static int runs_add_known(struct mixture_runs *r, const struct mixture_input *in, size_t *unknown,
			  uint64_t from, uint64_t to, uint32_t class)
{
	int ret = 0;

	while (from < to && !ret) {
		const struct mixture_range *u;
		uint64_t end = to;

		while (*unknown < in->n_unknown && in->unknown[*unknown].to <= from)
			++*unknown;
		u = *unknown < in->n_unknown ? &in->unknown[*unknown] : NULL;
		if (u && u->from <= from) {
			end = u->to < to ? u->to : to;
			ret = runs_add_run(r, from, end, MIXTURE_NONE);
		} else {
			if (u && u->from < to)
				end = u->from;
			ret = runs_add_run(r, from, end, class);
		}
		from = end;
	}
	return ret;
}

static int runs_make(const struct mixture_input *in, struct mixture_runs *r)
{
	const struct cpm_vectors *v = in->vectors;
	struct cpm_windows windows;
	struct cpm_events e;
	uint64_t next = 0;
	size_t unknown = 0;
	int ret = cpm_events_begin(v, &e);

	while (!ret && cpm_events_next(&e)) {
		bool shared = v->base[e.vector] != e.vector;

		if (e.tick > next)
			ret = runs_add_known(r, in, &unknown, next, e.tick,
					     in->class_of[CPM_UNSAMPLED]);
		next = e.tick + e.count;
		if (!ret)
			ret = runs_add_known(r, in, &unknown, e.tick, next,
					     shared ? MIXTURE_NONE : in->class_of[e.vector]);
	}
	cpm_events_end(&e);
	if (ret)
		return ret;
	ret = cpm_windows_begin(in->domain, &windows);
	while (!ret && cpm_windows_next(&windows))
		;
	if (!ret)
		ret = runs_add_known(r, in, &unknown, next, windows.w.to,
				     in->class_of[CPM_UNSAMPLED]);
	cpm_windows_end(&windows);
	return ret;
}

/* Mean and variance of the length of runs and windows. */
static int runs_measure_lengths(const struct mixture_input *in, struct mixture_runs *r)
{
	size_t *first = calloc(r->n_classes + 2, sizeof(*first)), n = 0;
	size_t room = r->n > in->domain->n_windows ? r->n : in->domain->n_windows;
	uint64_t *lengths = calloc(room + 1, sizeof(*lengths));

	struct cpm_windows windows;
	int ret = cpm_windows_begin(in->domain, &windows);

	if (!first || !lengths || ret) {
		cpm_windows_end(&windows);
		free(first);
		free(lengths);
		return -ENOMEM;
	}
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 1; i + 1 < r->n; i++) {
			const struct mixture_run *run = &r->runs[i];

			if (run->class == MIXTURE_NONE || run[-1].class == MIXTURE_NONE ||
			    run[1].class == MIXTURE_NONE)
				continue;
			if (!pass)
				first[run->class + 2]++;
			else
				lengths[first[run->class + 1]++] = run->to - run->from;
		}
		for (uint32_t c = 2; c < r->n_classes + 2 && !pass; c++)
			first[c] += first[c - 1];
	}
	for (uint32_t c = 0; c < r->n_classes; c++)
		length_set_figures(lengths + first[c], first[c + 1] - first[c], r->jitter,
				   &r->lengths[c]);
	while (cpm_windows_next(&windows))
		if (windows.w.known)
			lengths[n++] = windows.w.to - windows.w.from;
	cpm_windows_end(&windows);
	length_set_figures(lengths, n, r->jitter, &r->window);
	free(first);
	free(lengths);
	return 0;
}

int mixture_runs_new(const struct mixture_input *in, struct mixture_runs *r)
{
	int ret;

	memset(r, 0, sizeof(*r));
	r->n_classes = in->n_classes;
	r->jitter = fmin(in->jitter, 1);
	r->lengths = calloc(in->n_classes + 1, sizeof(*r->lengths));
	ret = r->lengths ? runs_make(in, r) : -ENOMEM;
	if (!ret)
		ret = runs_measure_lengths(in, r);
	if (ret)
		mixture_runs_free(r);
	return ret;
}

void mixture_runs_free(struct mixture_runs *r)
{
	free(r->runs);
	free(r->lengths);
	memset(r, 0, sizeof(*r));
}

/* An error that moves @part from what is after it to what is before it. */
static void errors_add_pair(const struct mixture_runs *r, double *s, size_t a, size_t b, double c)
{
	uint32_t n = r->n_classes, from = r->runs[a].class, to = r->runs[a + 1].class;
	uint32_t other_from = r->runs[b].class, other_to = r->runs[b + 1].class;

	s[from * n + other_from] += c;
	s[from * n + other_to] -= c;
	s[to * n + other_from] -= c;
	s[to * n + other_to] += c;
}

/* Sharers at a bound of the window: @inner, or half of the time @outer. */
struct bound {
	uint32_t inner, outer;
	bool hidden;
};

/*
 * A bound of the window may fall between the same two ticks as an edge. Either may have been first;
 * half the time the edge is inside without a tick that shows it. Averaged over all distances of the
 * two the covariance of their errors is that of jitter alone, J^2/12 times the probability (1 +
 * J^2/6, in intervals) of falling between the same ticks.
 */
static void errors_add_bound(const struct mixture_runs *r, const struct bound *b, double *s)
{
	double own = edge_variance(r->jitter), j2 = r->jitter * r->jitter,
		hidden = own - j2 / 12 / (1 + j2 / 6);
	uint32_t n = r->n_classes;

	s[b->inner * n + b->inner] += own;
	if (!b->hidden)
		return;
	s[b->outer * n + b->outer] += hidden;
	s[b->inner * n + b->outer] -= hidden / 2;
	s[b->outer * n + b->inner] -= hidden / 2;
}

/* Both bounds with each other. */
static void errors_add_bounds(const struct mixture_runs *r, const struct bound *a,
			      const struct bound *b, double *s)
{
	double c = mixture_covariance(r->window.mean, r->window.variance, r->jitter) / 4;
	const uint32_t from[2] = { a->inner, a->hidden ? a->outer : a->inner };
	const uint32_t to[2] = { b->inner, b->hidden ? b->outer : b->inner };
	uint32_t n = r->n_classes;

	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 2; k++) {
			s[from[i] * n + to[k]] -= c;
			s[to[k] * n + from[i]] -= c;
		}
	}
}

/* The edges between the runs [first, last], the window's own, and those hidden at these. */
static void errors_add_window(const struct mixture_runs *r, const struct cpm_window *w,
			      size_t first, size_t last, struct mixture_errors *out)
{
	struct bound begin = { .inner = r->runs[first].class },
		end = { .inner = r->runs[last].class };
	double own = edge_variance(r->jitter);
	size_t from = first, to = last;

	if (first && r->runs[first].from == w->from && r->runs[first - 1].class != MIXTURE_NONE) {
		begin.hidden = true;
		begin.outer = r->runs[--from].class;
	}
	if (last + 1 < r->n && r->runs[last].to == w->to && r->runs[last + 1].class !=
	    MIXTURE_NONE) {
		end.hidden = true;
		end.outer = r->runs[++to].class;
	}
	for (size_t i = first + 1; i < last; i++)
		if (r->runs[i].to - r->runs[i].from == 1 && r->lengths[r->runs[i].class].variance >=
		    FREE_VARIANCE)
			errors_add_pair(r, out->unseen, i, i, UNSEEN);
	for (size_t i = from; i < to; i++) {
		double mean = 0, variance = 0, part = i < first || i == last ? 0.5 : 1;

		if (part == 1)
			errors_add_pair(r, out->own, i, i, own);
		for (size_t k = i + 1; k < to && k <= i + LAG; k++) {
			const struct mixture_length *between = &r->lengths[r->runs[k].class];
			double c;

			mean += between->mean;
			variance += between->variance;
			if (!(variance < FREE_VARIANCE))
				break;
			c = part * (k == last ? 0.5 : 1) *
			    mixture_covariance(mean, variance, r->jitter);
			errors_add_pair(r, out->shared, i, k, c);
			errors_add_pair(r, out->shared, k, i, c);
		}
	}
	errors_add_bound(r, &begin, out->own);
	errors_add_bound(r, &end, out->own);
	errors_add_bounds(r, &begin, &end, out->shared);
}

bool mixture_runs_window(const struct mixture_runs *r, const struct cpm_window *w, size_t *at,
			 double *ticks, struct mixture_errors *errors)
{
	size_t last;

	memset(ticks, 0, r->n_classes * sizeof(*ticks));
	while (*at < r->n && r->runs[*at].to <= w->from)
		++*at;
	for (last = *at; last < r->n; last++) {
		const struct mixture_run *run = &r->runs[last];
		uint64_t from = run->from > w->from ? run->from : w->from,
			to = run->to < w->to ? run->to : w->to;

		if (run->class == MIXTURE_NONE)
			return false;
		ticks[run->class] += to - from;
		if (run->to >= w->to)
			break;
	}
	if (last == r->n)
		return false;
	errors_add_window(r, w, *at, last, errors);
	return true;
}
