// SPDX-License-Identifier: GPL-2.0-or-later
/* Windows of each counter, checked against the other CPUs; see edge_windows.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/edge_windows.h"
#include "lib/base/array.h"
#include "lib/base/cpus.h"
#include "lib/control/control.h"

/* CPUs are paused at the same time, but for such a part of the window. */
#define APART	50

static struct edge_windows_scope *edge_windows_find_scope(struct edge_windows *w, uint32_t scope,
							  uint32_t domain)
{
	struct edge_windows_scope *s;

	for (size_t i = 0; i < w->n; i++)
		if (w->scopes[i].scope == scope && w->scopes[i].domain == domain)
			return &w->scopes[i];
	s = kjoule_array_grow(&w->scopes, &w->n, sizeof(*s));
	if (s)
		*s = (struct edge_windows_scope){ .scope = scope, .domain = domain };
	return s;
}

/* Is it in the recording, and no longer than possible? */
static bool edge_window_is_plausible(const struct timeline *tl, const struct timeline_window *t)
{
	const struct kjoule_session_info *s = tl->session;
	uint64_t begin = t->flags & KJOULE_WINDOW_FAILED ? t->b_ns : t->seek_ns;

	if (!s || !kjoule_cpus_has(&s->cpus, t->scope) || t->c_ns - begin > EDGE_WINDOWS_LONGEST_NS)
		return false;
	return begin + EDGE_WINDOWS_LONGEST_NS >= s->t0_ns &&
	       t->c_ns <= timeline_due(s, tl->end_tick) + EDGE_WINDOWS_LONGEST_NS;
}

static uint64_t edge_windows_limit_ns(double ns, uint64_t most)
{
	return ns < 0 ? 0 : ns > most ? most : ns;
}

/* Interrupts after a pause of so long, until the program goes on. */
static uint64_t edge_windows_late_ns(const struct edge_windows_cost *cost, uint64_t paused_ns)
{
	double pending_ns = cost->other_hz > 0 ? fmin(paused_ns, 1e9 / cost->other_hz) : paused_ns;

	return cost->entry_ns / 2 + cost->tick_ns + cost->other * pending_ns;
}

/* @paused_ns: how long its CPU was paused before it ran, 0: it was not */
static struct edge_window edge_window_convert(const struct timeline_window *t,
					      const struct edge_windows_cost *cost,
					      uint64_t paused_ns)
{
	bool spin = t->flags & KJOULE_WINDOW_SPIN;
	uint64_t ran = t->b_ns - t->from_ns;
	uint64_t last = spin ? 0 : edge_windows_limit_ns(cost->entry_ns / 2, ran / 2);
	uint64_t first = spin || !paused_ns ? 0 :
			 edge_windows_limit_ns(edge_windows_late_ns(cost, paused_ns), ran - last);

	return (struct edge_window){
		.seek_ns = t->seek_ns, .from_ns = t->from_ns + first, .b_ns = t->b_ns - last,
		/* the rest of it: from the update until it ran, and from the pause to the update */
		.paused_ns = t->c_ns - t->b_ns + last, .before_ns = t->from_ns + first - t->a_ns,
		.uj = t->c_uj - t->a_uj,
		.spin = t->flags & KJOULE_WINDOW_SPIN,
		.failed = t->flags & KJOULE_WINDOW_FAILED };
}

static uint64_t edge_windows_end_ns(const struct edge_window *e)
{
	return e->b_ns + e->paused_ns;
}

static int attribute_window_by_time(const void *a, const void *b)
{
	const struct edge_window *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Another CPU may have led after a while; the windows of one never overlap. */
static void edge_windows_sort(struct edge_windows *w, struct edge_windows_scope *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->windows, s->n, sizeof(*s->windows), attribute_window_by_time);
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->windows[i].seek_ns < edge_windows_end_ns(&s->windows[n - 1]))
			w->left_out++;
		else
			s->windows[n++] = s->windows[i];
	}
	s->n = n;
}

static int edge_windows_add_pause(struct edge_windows_cpu *c, uint64_t from_ns, uint64_t to_ns)
{
	struct edge_windows_pause *h;

	if (from_ns >= to_ns)
		return 0;
	h = kjoule_array_grow(&c->pauses, &c->n, sizeof(*h));
	if (!h)
		return -ENOMEM;
	*h = (struct edge_windows_pause){ from_ns, to_ns };
	return 0;
}

static int edge_pause_by_begin(const void *a, const void *b)
{
	const struct edge_windows_pause *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void edge_windows_join_pauses(struct edge_windows_cpu *c)
{
	size_t n = 0;

	if (c->n)
		qsort(c->pauses, c->n, sizeof(*c->pauses), edge_pause_by_begin);
	for (size_t i = 0; i < c->n; i++) {
		struct edge_windows_pause *last = n ? &c->pauses[n - 1] : NULL;

		if (last && c->pauses[i].from_ns <= last->to_ns)
			last->to_ns = c->pauses[i].to_ns > last->to_ns ? c->pauses[i].to_ns :
				      last->to_ns;
		else
			c->pauses[n++] = c->pauses[i];
	}
	c->n = n;
}

/* When a CPU was paused: by its own records, and with all others in windows without code. */
static int edge_windows_gather_pauses(const struct timeline *tl,
				     const struct edge_windows_cost *cost, struct edge_windows *w,
				     size_t cpu)
{
	const struct timeline_cpu *t = &tl->cpus[cpu];
	const struct edge_windows_scope *s = edge_windows_of(w, t);
	struct edge_windows_cpu *c = &w->cpus[cpu];
	int ret = 0;

	for (size_t i = 0; i < t->n_windows && !ret; i++) {
		const struct timeline_window *x = &t->windows[i];

		if (!edge_window_is_plausible(tl, x))
			continue;
		/* of one that failed as well, where the update was found during the pause */
		if (x->from_ns - x->seek_ns <= EDGE_WINDOWS_LONGEST_NS)
			ret = edge_windows_add_pause(c, x->seek_ns, x->from_ns);
		/* with the interrupts around it */
		if (!ret)
			ret = edge_windows_add_pause(
				c, x->b_ns - edge_windows_limit_ns(cost->entry_ns / 2, x->b_ns),
				x->c_ns + edge_windows_late_ns(cost, x->c_ns - x->b_ns));
	}
	for (size_t i = 0; s && i < s->n && !ret; i++)
		if (s->windows[i].spin)
			ret = edge_windows_add_pause(
				c, s->windows[i].b_ns, edge_windows_end_ns(&s->windows[i]) +
				edge_windows_late_ns(cost, s->windows[i].paused_ns));
	edge_windows_join_pauses(c);
	return ret;
}

/* A CPU that was not paused with the others has spent more than a paused one does. */
static void edge_windows_compare_cpu(const struct timeline *tl, struct edge_windows_scope *s,
				     const struct timeline_cpu *cpu)
{
	size_t at = 0;

	for (size_t i = 0; i < cpu->n_windows; i++) {
		const struct timeline_window *t = &cpu->windows[i];
		struct edge_window *e;
		uint64_t apart;

		if (!edge_window_is_plausible(tl, t) || t->flags & KJOULE_WINDOW_LEADER)
			continue;
		while (at < s->n && edge_windows_end_ns(&s->windows[at]) < t->c_ns)
			at++;
		e = at < s->n ? &s->windows[at] : NULL;
		if (!e || e->spin || edge_windows_end_ns(e) != t->c_ns)
			continue;
		apart = t->b_ns > e->b_ns ? t->b_ns - e->b_ns : e->b_ns - t->b_ns;
		e->failed |= (t->flags & KJOULE_WINDOW_FAILED) ||
			     apart > (t->c_ns - t->a_ns) / APART;
	}
}

static int edge_windows_add_leaders(const struct timeline *tl, const struct edge_windows_cost *cost,
				    const struct timeline_cpu *cpu, struct edge_windows *w)
{
	uint64_t c_ns = 0, paused_ns = 0;

	for (size_t k = 0; k < cpu->n_windows; k++) {
		const struct timeline_window *t = &cpu->windows[k];
		struct edge_windows_scope *s;
		struct edge_window *e;

		if (!(t->flags & KJOULE_WINDOW_LEADER))
			continue;
		if (!edge_window_is_plausible(tl, t)) {
			w->left_out++;
			continue;
		}
		s = edge_windows_find_scope(w, t->scope, t->domain);
		e = s ? kjoule_array_grow(&s->windows, &s->n, sizeof(*e)) : NULL;
		if (!e)
			return -ENOMEM;
		/* right after a pause, or after the wait for the update */
		*e = edge_window_convert(t, cost,
					 t->a_ns == c_ns ? paused_ns : t->from_ns - t->seek_ns);
		paused_ns = t->c_ns - (t->flags & KJOULE_WINDOW_SPIN && t->a_ns == c_ns ? t->b_ns -
				       paused_ns : t->b_ns);
		c_ns = t->c_ns;
		/* of a window without an update only its pause is known */
		if (e->failed)
			e->seek_ns = e->from_ns;
	}
	return 0;
}

int edge_windows_new(const struct timeline *tl, const struct edge_windows_cost *cost,
		     struct edge_windows *w)
{
	int ret = 0;

	memset(w, 0, sizeof(*w));
	w->cpus = calloc(tl->n_cpus + 1, sizeof(*w->cpus));
	if (!w->cpus)
		return -ENOMEM;
	w->n_cpus = tl->n_cpus;
	for (size_t i = 0; i < tl->n_cpus && !ret; i++)
		ret = edge_windows_add_leaders(tl, cost, &tl->cpus[i], w);
	for (size_t i = 0; i < w->n && !ret; i++)
		edge_windows_sort(w, &w->scopes[i]);
	for (size_t i = 0; i < tl->n_cpus && !ret; i++) {
		struct edge_windows_scope *s =
		(struct edge_windows_scope *)edge_windows_of(w, &tl->cpus[i]);

		if (s)
			edge_windows_compare_cpu(tl, s, &tl->cpus[i]);
		ret = edge_windows_gather_pauses(tl, cost, w, i);
	}
	if (ret)
		edge_windows_free(w);
	return ret;
}

void edge_windows_free(struct edge_windows *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->scopes[i].windows);
	for (size_t i = 0; i < w->n_cpus; i++)
		free(w->cpus[i].pauses);
	free(w->scopes);
	free(w->cpus);
	memset(w, 0, sizeof(*w));
}

const struct edge_windows_scope *edge_windows_of(const struct edge_windows *w,
						 const struct timeline_cpu *cpu)
{
	for (size_t i = 0; i < w->n && cpu->n_windows; i++)
		if (w->scopes[i].scope == cpu->windows[0].scope &&
		    w->scopes[i].domain == cpu->windows[0].domain)
			return &w->scopes[i];
	return NULL;
}

const struct edge_windows_pause *edge_windows_next(const struct edge_windows_cpu *c,
						   uint64_t time_ns, size_t *at)
{
	while (*at < c->n && c->pauses[*at].to_ns <= time_ns)
		++*at;
	return *at < c->n ? &c->pauses[*at] : NULL;
}

bool edge_windows_is_paused(const struct edge_windows_cpu *c, uint64_t time_ns, size_t *at)
{
	const struct edge_windows_pause *h = edge_windows_next(c, time_ns, at);

	return h && h->from_ns <= time_ns;
}
