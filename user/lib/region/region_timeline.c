// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See region_timeline.h. The marks of programs (mark_decoder.c) and the sideband's events are
 * sorted by time, and replayed with the state of each thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <kjoule/region.h>
#include "lib/base/array.h"
#include "lib/base/hash_index.h"
#include "lib/base/search.h"
#include "lib/region/mark_decoder.h"
#include "lib/sideband/sideband.h"

struct thread {
	uint32_t tid, pid;
	uint32_t path;			/* where it is */
	unsigned int own;		/* enclosing regions that it has begun itself */
	bool marked;			/* it marks itself */
	uint64_t since_ns;
	size_t n;
	struct kjoule_regions_since *line;	/* in order of time */
};

struct kjoule_regions_index {
	struct kjoule_hash_index paths, counts, threads;
	size_t n_threads;
	struct thread *list;
};

struct making {
	struct kjoule_regions *r;
	struct kjoule_marks marks;
	uint64_t begin_ns, end_ns;
};

/*
 * Paths
 */

int kjoule_regions_path(struct kjoule_regions *r, uint32_t parent, const char *name, uint32_t *out)
{
	uint64_t hash = kjoule_hash_text(parent, name);
	struct kjoule_regions_path *p;
	const char *around = parent == KJOULE_REGIONS_OUTSIDE ? "" : r->paths[parent].text;
	size_t probe = 0, len = strlen(around) + strlen(name) + 2;
	char *text;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&r->index->paths, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE) {
		*out = i;
		if (r->paths[i].parent == parent && !strcmp(r->paths[i].name, name))
			return 0;
	}
	*out = KJOULE_REGIONS_UNKNOWN;
	if (r->n_paths == KJOULE_REGIONS_MOST || r->paths[parent].depth ==
	    KJOULE_REGION_DEPTH_MAX) {
		r->left_out++;
		return 0;
	}
	text = malloc(len);
	if (!text || kjoule_hash_index_add(&r->index->paths, hash, r->n_paths)) {
		free(text);
		return -ENOMEM;
	}
	p = kjoule_array_grow(&r->paths, &r->n_paths, sizeof(*p));
	if (!p) {
		free(text);
		return -ENOMEM;
	}
	strcpy(text, around);
	if (around[0])
		strcat(text, "/");
	p->name = text + strlen(text);
	strcat(text, name);
	p->text = text;
	p->parent = parent;
	p->depth = r->paths[parent].depth + 1;
	*out = r->n_paths - 1;
	return 0;
}

bool kjoule_regions_inside(const struct kjoule_regions *r, uint32_t path, const char *name)
{
	const char *text = r->paths[path].text, *at = text;
	size_t len = strlen(name);

	if (path == KJOULE_REGIONS_OUTSIDE || path == KJOULE_REGIONS_UNKNOWN || !len)
		return false;
	while ((at = strstr(at, name))) {
		if ((at == text || at[-1] == '/') && (!at[len] || at[len] == '/'))
			return true;
		at++;
	}
	return false;
}

/*
 * From marks to threads
 */

static int marks_add_events(struct making *m, const void *records, size_t len)
{
	struct kjoule_event ev;
	size_t off = 0;
	int ret = 0;

	while (!ret && kjoule_event_next(records, len, &off, &ev) > 0) {
		struct kjoule_mark mark = { .time_ns = ev.time_ns, .pid = ev.pid, .tid = ev.tid,
					    .path = ev.ptid };

		if (ev.type == KJOULE_EVENT_FORK)
			mark.kind = ev.pid == ev.ppid ? KJOULE_MARK_THREAD : KJOULE_MARK_FORK;
		else if (ev.type == KJOULE_EVENT_COMM && ev.exec)
			mark.kind = KJOULE_MARK_EXEC;
		else if (ev.type == KJOULE_EVENT_EXIT)
			mark.kind = KJOULE_MARK_EXIT;
		else
			continue;
		/* an executed program goes on as the process's first thread */
		if (mark.kind == KJOULE_MARK_EXEC)
			mark.tid = ev.pid;
		ret = kjoule_marks_add(&m->marks, &mark);
	}
	return ret;
}

static struct thread *thread_find(const struct kjoule_regions *r, uint32_t tid)
{
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&r->index->threads, kjoule_hash_text(tid, ""),
					   &probe)) != KJOULE_HASH_INDEX_NONE)
		if (r->index->list[i].tid == tid)
			return &r->index->list[i];
	return NULL;
}

static struct thread *thread_get(struct kjoule_regions *r, uint32_t tid)
{
	struct thread *t = thread_find(r, tid);

	if (t)
		return t;
	if (kjoule_hash_index_add(&r->index->threads, kjoule_hash_text(tid, ""),
				  r->index->n_threads))
		return NULL;
	t = kjoule_array_grow(&r->index->list, &r->index->n_threads, sizeof(*t));
	if (t)
		t->tid = tid;
	return t;
}

static struct kjoule_regions_count *count_find(const struct kjoule_regions *r, uint32_t pid,
					       uint32_t path)
{
	uint64_t hash = kjoule_hash_text((uint64_t)pid << 32 | path, "");
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&r->index->counts, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE)
		if (r->counts[i].pid == pid && r->counts[i].path == path)
			return &r->counts[i];
	return NULL;
}

const struct kjoule_regions_count *kjoule_regions_count(const struct kjoule_regions *r,
							uint32_t pid, uint32_t path)
{
	return count_find(r, pid, path);
}

static struct kjoule_regions_count *count_get(struct kjoule_regions *r, uint32_t pid, uint32_t path)
{
	struct kjoule_regions_count *c = count_find(r, pid, path);

	if (c)
		return c;
	if (kjoule_hash_index_add(&r->index->counts,
				  kjoule_hash_text((uint64_t)pid << 32 | path, ""), r->n_counts))
		return NULL;
	c = kjoule_array_grow(&r->counts, &r->n_counts, sizeof(*c));
	if (c) {
		c->pid = pid;
		c->path = path;
	}
	return c;
}

/* Add its time in the region until now, within the recording. */
static int thread_account_time(struct making *m, struct thread *t, uint64_t until_ns)
{
	uint64_t from = t->since_ns > m->begin_ns ? t->since_ns : m->begin_ns;
	struct kjoule_regions_count *c;

	if (until_ns > m->end_ns)
		until_ns = m->end_ns;
	if (t->path == KJOULE_REGIONS_OUTSIDE || until_ns <= from)
		return 0;
	c = count_get(m->r, t->pid, t->path);
	if (!c)
		return -ENOMEM;
	c->marked_ns += until_ns - from;
	return 0;
}

/* From now on the thread is there. */
static int thread_move_to_path(struct making *m, struct thread *t, uint32_t path, uint64_t time_ns)
{
	struct kjoule_regions_since *s;
	int ret = thread_account_time(m, t, time_ns);

	t->since_ns = time_ns;
	if (ret || t->path == path)
		return ret;
	t->path = path;
	s = kjoule_array_grow(&t->line, &t->n, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct kjoule_regions_since){ time_ns, path, t->pid };
	return 0;
}

/* The thread, or its program, has ended: its regions are unended. */
static int thread_stop(struct making *m, struct thread *t, uint64_t time_ns)
{
	uint32_t path = t->path;
	int ret;

	for (; t->own && path > KJOULE_REGIONS_UNKNOWN; path = m->r->paths[path].parent, t->own--) {
		struct kjoule_regions_count *c = count_get(m->r, t->pid, path);

		if (!c)
			return -ENOMEM;
		c->unended++;
		m->r->unended++;
	}
	t->own = 0;
	ret = thread_move_to_path(m, t, KJOULE_REGIONS_OUTSIDE, time_ns);
	t->marked = false;
	return ret;
}

/* A mark of the thread's own. */
static int thread_apply_mark(struct making *m, struct thread *t, const struct kjoule_mark *mark)
{
	struct kjoule_regions_count *c;

	switch (mark->kind) {
	case KJOULE_REGION_BEGIN:
		t->own++;
		m->r->entered++;
		c = count_get(m->r, mark->pid, mark->path);
		if (!c)
			return -ENOMEM;
		c->entered++;
		break;
	case KJOULE_REGION_END:
		t->own -= t->own > 0;
		break;
	case KJOULE_REGION_UNBEGUN:
		m->r->unbegun++;
		break;
	case KJOULE_REGION_CLOSE:
		return thread_stop(m, t, mark->time_ns);
	}
	/* a region begun while marks were lost is taken for the thread's own */
	if (t->path == KJOULE_REGIONS_UNKNOWN)
		t->own = m->r->paths[mark->path].depth;
	return thread_move_to_path(m, t, mark->path, mark->time_ns);
}

static int mark_apply(struct making *m, const struct kjoule_mark *mark)
{
	struct thread *t, *from;
	uint32_t path = KJOULE_REGIONS_OUTSIDE;
	int ret;

	/* without any mark its children do not matter */
	if (mark->kind >= KJOULE_MARK_FORK && mark->kind != KJOULE_MARK_FORK &&
	    !thread_find(m->r, mark->tid))
		return 0;
	if (mark->kind == KJOULE_MARK_FORK) {
		from = thread_find(m->r, mark->path);
		if (from)
			path = from->path;
		if (path == KJOULE_REGIONS_OUTSIDE && !thread_find(m->r, mark->tid))
			return 0;
	}
	t = thread_get(m->r, mark->tid);
	if (!t)
		return -ENOMEM;
	if (mark->kind >= KJOULE_MARK_FORK || mark->kind == KJOULE_REGION_START) {
		/* a ring begins with a mark at the same time with the thread's position */
		ret = thread_stop(m, t, mark->time_ns);
		t->pid = mark->pid;
		if (mark->kind == KJOULE_REGION_START) {
			m->r->threads += !t->marked;
			t->marked = true;
		}
		return ret ? ret : thread_move_to_path(m, t, path, mark->time_ns);
	}
	t->pid = mark->pid;
	return thread_apply_mark(m, t, mark);
}

static int mark_by_time(const void *a, const void *b)
{
	const struct kjoule_mark *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int marks_walk(struct making *m)
{
	struct kjoule_regions *r = m->r;
	int ret = 0;

	if (m->marks.n)
		qsort(m->marks.list, m->marks.n, sizeof(*m->marks.list), mark_by_time);
	for (size_t i = 0; i < m->marks.n && !ret; i++)
		ret = mark_apply(m, &m->marks.list[i]);
	for (size_t i = 0; i < r->index->n_threads && !ret; i++)
		ret = thread_stop(m, &r->index->list[i], m->end_ns > r->index->list[i].since_ns ?
				  m->end_ns : r->index->list[i].since_ns);
	return ret;
}

/* The two paths that are no region's. */
static int paths_make_fixed(struct kjoule_regions *r)
{
	for (int i = 0; i < 2; i++) {
		struct kjoule_regions_path *p = kjoule_array_grow(&r->paths, &r->n_paths,
								  sizeof(*p));

		if (!p)
			return -ENOMEM;
		p->name = p->text = i ? "[marks lost]" : "[outside of regions]";
	}
	return 0;
}

int kjoule_regions_new(const void *batches, size_t len, const void *side_band, size_t side_band_len,
		       uint64_t begin_ns, uint64_t end_ns, struct kjoule_regions **out)
{
	struct making m = { .begin_ns = begin_ns, .end_ns = end_ns };
	int ret = -ENOMEM;

	*out = NULL;
	m.r = calloc(1, sizeof(*m.r));
	if (m.r)
		m.r->index = calloc(1, sizeof(*m.r->index));
	if (m.r && m.r->index)
		ret = paths_make_fixed(m.r);
	if (!ret && len) {
		ret = kjoule_marks_read(&m.marks, m.r, batches, len);
		if (!ret && m.marks.n)
			ret = marks_add_events(&m, side_band, side_band_len);
		if (!ret)
			ret = marks_walk(&m);
	}
	free(m.marks.list);
	if (ret)
		kjoule_regions_free(m.r);
	else
		*out = m.r;
	return ret;
}

size_t kjoule_regions_line(const struct kjoule_regions *r, size_t i, uint32_t *tid,
			   const struct kjoule_regions_since **line)
{
	static const struct kjoule_regions_since nowhere;
	const struct thread *t = i < r->index->n_threads ? &r->index->list[i] : NULL;

	*line = t ? t->n ? t->line : &nowhere : NULL;
	*tid = t ? t->tid : 0;
	return t ? t->n : 0;
}

uint32_t kjoule_regions_find(const struct kjoule_regions *r, uint32_t tid, uint64_t time_ns)
{
	const struct thread *t = thread_find(r, tid);
	size_t n = t ? kjoule_count_members(t->line, t->n, time_ns, time_ns) : 0;

	return n ? t->line[n - 1].path : KJOULE_REGIONS_OUTSIDE;
}

void kjoule_regions_free(struct kjoule_regions *r)
{
	if (!r)
		return;
	for (size_t i = 2; i < r->n_paths; i++)
		free((char *)r->paths[i].text);
	free(r->paths);
	free(r->counts);
	if (r->index) {
		for (size_t i = 0; i < r->index->n_threads; i++)
			free(r->index->list[i].line);
		free(r->index->list);
		kjoule_hash_index_free(&r->index->paths);
		kjoule_hash_index_free(&r->index->counts);
		kjoule_hash_index_free(&r->index->threads);
	}
	free(r->index);
	free(r);
}
