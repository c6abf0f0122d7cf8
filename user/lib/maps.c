// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Address spaces and names over time; see maps.h. A fork begins a process with
 * its parent's mappings, an exec throws them away, a new mapping hides older
 * ones. Process ids come back: every fork begins a new process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "grow.h"
#include "maps.h"
#include "sideband.h"

struct name {
	uint32_t tid;
	uint64_t time_ns;
	const char *text;
};

struct process {
	uint32_t pid;
	uint64_t since_ns;		/* of its fork; 0: it was there before */
	const struct process *parent;
	size_t n_maps, n_names, n_execs;
	struct kjoule_map *maps;	/* in order of time, as are the others */
	struct name *names;
	uint64_t *execs;
	struct process *older;		/* the one that had the pid before */
	struct process *next;		/* in its bucket */
};

#define BUCKETS	1024

struct kjoule_maps {
	struct process *buckets[BUCKETS];	/* the youngest of each pid */
	struct process **all;
	size_t n_all;
};

struct parsed {
	struct kjoule_event ev;
	size_t order;
};

static struct process *youngest(const struct kjoule_maps *m, uint32_t pid)
{
	struct process *p = m->buckets[pid % BUCKETS];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static struct process *process_new(struct kjoule_maps *m, uint32_t pid, uint64_t since_ns,
				   const struct process *parent)
{
	struct process **link = &m->buckets[pid % BUCKETS], **slot;
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	slot = kjoule_grow(&m->all, &m->n_all, sizeof(*m->all));
	if (!slot) {
		free(p);
		return NULL;
	}
	*slot = p;
	p->pid = pid;
	p->since_ns = since_ns;
	p->parent = parent;
	while (*link && (*link)->pid != pid)
		link = &(*link)->next;
	if (*link) {
		p->older = *link;
		p->next = (*link)->next;
	}
	*link = p;
	return p;
}

static struct process *process_get(struct kjoule_maps *m, uint32_t pid)
{
	struct process *p = youngest(m, pid);

	return p ? p : process_new(m, pid, 0, NULL);
}

static int add_event(struct kjoule_maps *m, const struct kjoule_event *ev)
{
	struct kjoule_map *map;
	struct process *p;
	struct name *name;
	uint64_t *exec;

	if (ev->type == KJOULE_EVENT_FORK) {
		if (ev->pid == ev->ppid)
			return 0;	/* a thread */
		return process_new(m, ev->pid, ev->time_ns, process_get(m, ev->ppid)) ? 0 : -ENOMEM;
	}
	if (ev->type != KJOULE_EVENT_MAP && ev->type != KJOULE_EVENT_COMM)
		return 0;
	p = process_get(m, ev->pid);
	if (!p)
		return -ENOMEM;
	if (ev->type == KJOULE_EVENT_MAP) {
		map = kjoule_grow(&p->maps, &p->n_maps, sizeof(*map));
		if (!map)
			return -ENOMEM;
		*map = (struct kjoule_map){ ev->start, ev->len, ev->offset, ev->time_ns, ev->text };
		return 0;
	}
	name = kjoule_grow(&p->names, &p->n_names, sizeof(*name));
	if (!name)
		return -ENOMEM;
	*name = (struct name){ ev->tid, ev->time_ns, ev->text };
	if (!ev->exec)
		return 0;
	exec = kjoule_grow(&p->execs, &p->n_execs, sizeof(*exec));
	if (!exec)
		return -ENOMEM;
	*exec = ev->time_ns;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct parsed *x = a, *y = b;

	if (x->ev.time_ns != y->ev.time_ns)
		return x->ev.time_ns < y->ev.time_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

int kjoule_maps_new(const void *records, size_t len, struct kjoule_maps **out, size_t *skipped)
{
	struct kjoule_maps *m = calloc(1, sizeof(*m));
	struct parsed *list = NULL, *item;
	struct kjoule_event ev;
	size_t n = 0, off = 0;
	int ret = m ? 0 : -ENOMEM;

	*out = NULL;
	*skipped = 0;
	while (!ret && kjoule_event_next(records, len, &off, &ev) > 0) {
		item = kjoule_grow(&list, &n, sizeof(*list));
		if (!item) {
			ret = -ENOMEM;
			break;
		}
		item->ev = ev;
		item->order = n;
	}
	if (!ret) {
		*skipped = len - off;
		if (n)
			qsort(list, n, sizeof(*list), by_time);
		for (size_t i = 0; i < n && !ret; i++)
			ret = add_event(m, &list[i].ev);
	}
	free(list);
	if (ret)
		kjoule_maps_free(m);
	else
		*out = m;
	return ret;
}

/* The process that had @pid at @time_ns; the oldest one if all are younger. */
static const struct process *process_at(const struct kjoule_maps *m, uint32_t pid, uint64_t time_ns)
{
	const struct process *p = youngest(m, pid);

	while (p && p->older && p->since_ns > time_ns)
		p = p->older;
	return p;
}

static uint64_t last_exec(const struct process *p, uint64_t time_ns)
{
	for (size_t i = p->n_execs; i-- > 0;)
		if (p->execs[i] <= time_ns)
			return p->execs[i];
	return 0;
}

const struct kjoule_map *kjoule_maps_find(const struct kjoule_maps *m, uint32_t pid,
					  uint64_t time_ns, uint64_t ip)
{
	const struct process *p = process_at(m, pid, time_ns);

	/* Forks of forks: as deep as they go, but never round in circles. */
	for (int depth = 0; p && depth < 64; depth++) {
		uint64_t exec = last_exec(p, time_ns);

		for (size_t i = p->n_maps; i-- > 0;) {
			const struct kjoule_map *map = &p->maps[i];

			if (map->time_ns <= time_ns && map->time_ns >= exec &&
			    ip - map->start < map->len)
				return map;
		}
		if (exec || !p->parent)
			return NULL;
		time_ns = p->since_ns;
		p = p->parent;
	}
	return NULL;
}

const char *kjoule_maps_comm(const struct kjoule_maps *m, uint32_t pid, uint32_t tid,
			     uint64_t time_ns)
{
	const struct process *p = process_at(m, pid, time_ns);

	for (int depth = 0; p && depth < 64; depth++) {
		const char *leader = NULL;

		for (size_t i = p->n_names; i-- > 0;) {
			if (p->names[i].time_ns > time_ns)
				continue;
			if (p->names[i].tid == tid)
				return p->names[i].text;
			/* A thread that has never been named has its process's name. */
			if (!leader && p->names[i].tid == p->pid)
				leader = p->names[i].text;
		}
		if (leader || !p->parent)
			return leader;
		time_ns = p->since_ns;
		p = p->parent;
		tid = p->pid;
	}
	return NULL;
}

void kjoule_maps_free(struct kjoule_maps *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_all; i++) {
		free(m->all[i]->maps);
		free(m->all[i]->names);
		free(m->all[i]->execs);
		free(m->all[i]);
	}
	free(m->all);
	free(m);
}
