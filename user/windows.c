// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Windows of each scope, as the CPU that reads its counter has told them; see windows.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "grow.h"
#include "windows.h"

static struct windows_scope *scope_of(struct windows *w, uint32_t scope, uint32_t domain)
{
	struct windows_scope *s;

	for (size_t i = 0; i < w->n; i++)
		if (w->scopes[i].scope == scope)
			return &w->scopes[i];
	s = kjoule_grow(&w->scopes, &w->n, sizeof(*s));
	if (s)
		*s = (struct windows_scope){ .scope = scope, .domain = domain };
	return s;
}

static int by_time(const void *a, const void *b)
{
	const struct edge_window *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

int windows_new(const struct timeline *tl, struct windows *w)
{
	memset(w, 0, sizeof(*w));
	for (size_t i = 0; i < tl->n_cpus; i++) {
		for (size_t k = 0; k < tl->cpus[i].n_windows; k++) {
			const struct timeline_window *t = &tl->cpus[i].windows[k];
			struct edge_window *e;
			struct windows_scope *s;

			if (!(t->flags & KJOULE_WINDOW_LEADER))
				continue;
			s = scope_of(w, t->scope, t->domain);
			e = s ? kjoule_grow(&s->windows, &s->n, sizeof(*e)) : NULL;
			if (!e) {
				windows_free(w);
				return -ENOMEM;
			}
			*e = (struct edge_window){
				.seek_ns = t->seek_ns, .from_ns = t->from_ns, .b_ns = t->b_ns,
				/* the rest of it: from the edge until it ran, and from the hold to the edge */
				.held_ns = t->c_ns - t->b_ns, .before_ns = t->from_ns - t->a_ns,
				.uj = t->c_uj - t->a_uj,
				.spin = t->flags & KJOULE_WINDOW_SPIN,
				.failed = t->flags & KJOULE_WINDOW_FAILED };
		}
	}
	/* another CPU may have led after a while; the windows of one never overlap */
	for (size_t i = 0; i < w->n; i++)
		qsort(w->scopes[i].windows, w->scopes[i].n, sizeof(*w->scopes[i].windows), by_time);
	return 0;
}

void windows_free(struct windows *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->scopes[i].windows);
	free(w->scopes);
	memset(w, 0, sizeof(*w));
}

const struct windows_scope *windows_of(const struct windows *w, const struct timeline_cpu *cpu)
{
	for (size_t i = 0; i < w->n && cpu->n_windows; i++)
		if (w->scopes[i].scope == cpu->windows[0].scope)
			return &w->scopes[i];
	return NULL;
}

bool windows_held(const struct windows_scope *s, uint64_t time_ns, size_t *at)
{
	const struct edge_window *w;

	if (!s)
		return false;
	while (*at < s->n && s->windows[*at].b_ns + s->windows[*at].held_ns <= time_ns)
		++*at;
	w = *at < s->n ? &s->windows[*at] : NULL;
	return w && (time_ns >= w->b_ns || (time_ns >= w->seek_ns && time_ns < w->from_ns));
}
