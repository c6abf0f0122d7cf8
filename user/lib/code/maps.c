// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Address spaces and names over time; see maps.h. A fork begins a process with its parent's
 * mappings, an exec drops them, a new mapping hides older ones. Process ids are reused: every fork
 * begins a new process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/hash_index.h"
#include "lib/base/interval_map.h"
#include "lib/base/search.h"
#include "lib/code/maps.h"
#include "lib/sideband/sideband.h"

struct name {
	uint32_t tid;
	uint64_t time_ns;
	const char *text;
};

struct process {
	uint32_t pid;
	uint32_t number;		/* all processes are counted */
	uint32_t first_layout;		/* so are the layouts of all of them */
	uint64_t since_ns;		/* of its fork; 0: it was there before */
	const struct process *parent;
	size_t n_maps, n_names, n_execs;
	struct kjoule_map *maps;	/* in order of time */
	struct kjoule_interval_map *ranges;	/* the same, by address */
	struct name *names;		/* by thread, then in order of time */
	uint64_t *execs;		/* in order of time */
};

/* All that had a pid, one after another. */
struct line {
	uint32_t pid;
	size_t n;
	struct process **processes;
};

struct kjoule_maps {
	uint32_t n_processes;
	struct line *lines;
	size_t n_lines;
	struct kjoule_hash_index by_pid;
	uint64_t *times;		/* of all events, in order */
	size_t n_times;
};

struct parsed {
	struct kjoule_event ev;
	size_t order;
};

static struct line *pid_find_line(const struct kjoule_maps *m, uint32_t pid)
{
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&m->by_pid, kjoule_hash_text(pid, ""), &probe)) !=
	       KJOULE_HASH_INDEX_NONE)
		if (m->lines[i].pid == pid)
			return &m->lines[i];
	return NULL;
}

static struct process *process_new(struct kjoule_maps *m, uint32_t pid, uint64_t since_ns,
				   const struct process *parent)
{
	struct line *line = pid_find_line(m, pid);
	struct process *p, **slot;

	if (!line) {
		if (kjoule_hash_index_add(&m->by_pid, kjoule_hash_text(pid, ""), m->n_lines))
			return NULL;
		line = kjoule_array_grow(&m->lines, &m->n_lines, sizeof(*m->lines));
		if (!line)
			return NULL;
		line->pid = pid;
	}
	p = calloc(1, sizeof(*p));
	slot = p ? kjoule_array_grow(&line->processes, &line->n, sizeof(*line->processes)) : NULL;
	if (!slot) {
		free(p);
		return NULL;
	}
	*slot = p;
	p->number = m->n_processes++;
	p->pid = pid;
	p->since_ns = since_ns;
	p->parent = parent;
	return p;
}

static struct process *process_get(struct kjoule_maps *m, uint32_t pid)
{
	const struct line *line = pid_find_line(m, pid);

	return line ? line->processes[line->n - 1] : process_new(m, pid, 0, NULL);
}

static int maps_add_event(struct kjoule_maps *m, const struct kjoule_event *ev)
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
		map = kjoule_array_grow(&p->maps, &p->n_maps, sizeof(*map));
		if (!map)
			return -ENOMEM;
		*map = (struct kjoule_map){ ev->start, ev->len, ev->offset, ev->time_ns, ev->text };
		return 0;
	}
	name = kjoule_array_grow(&p->names, &p->n_names, sizeof(*name));
	if (!name)
		return -ENOMEM;
	*name = (struct name){ ev->tid, ev->time_ns, ev->text };
	if (!ev->exec)
		return 0;
	exec = kjoule_array_grow(&p->execs, &p->n_execs, sizeof(*exec));
	if (!exec)
		return -ENOMEM;
	*exec = ev->time_ns;
	return 0;
}

static int event_by_time(const void *a, const void *b)
{
	const struct parsed *x = a, *y = b;

	if (x->ev.time_ns != y->ev.time_ns)
		return x->ev.time_ns < y->ev.time_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int name_by_thread(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* at the same time: in the order of the records */
	return (x->text > y->text) - (x->text < y->text);
}

/* After the last event: build the indexes. */
static int process_finish(struct process *p)
{
	struct kjoule_interval *list;
	int ret;

	if (p->n_names)
		qsort(p->names, p->n_names, sizeof(*p->names), name_by_thread);
	if (!p->n_maps)
		return 0;
	list = calloc(p->n_maps, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_maps; i++)
		list[i] = (struct kjoule_interval){ p->maps[i].start, p->maps[i].len };
	ret = kjoule_interval_map_new(list, p->n_maps, &p->ranges);
	free(list);
	return ret;
}

int kjoule_maps_new(const void *records, size_t len, struct kjoule_maps **out, size_t *skipped)
{
	struct kjoule_maps *m = calloc(1, sizeof(*m));
	struct parsed *list = NULL, *item;
	struct kjoule_event ev;
	uint32_t layouts = 1;
	size_t n = 0, off = 0;
	int ret = m ? 0 : -ENOMEM;

	*out = NULL;
	*skipped = 0;
	while (!ret && kjoule_event_next(records, len, &off, &ev) > 0) {
		item = kjoule_array_grow(&list, &n, sizeof(*list));
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
			qsort(list, n, sizeof(*list), event_by_time);
		m->times = calloc(n + 1, sizeof(*m->times));
		ret = m->times ? 0 : -ENOMEM;
		for (size_t i = 0; i < n && !ret; i++) {
			m->times[m->n_times++] = list[i].ev.time_ns;
			ret = maps_add_event(m, &list[i].ev);
		}
		for (size_t i = 0; i < m->n_lines && !ret; i++) {
			for (size_t k = 0; k < m->lines[i].n && !ret; k++) {
				struct process *p = m->lines[i].processes[k];

				ret = process_finish(p);
				p->first_layout = layouts;
				layouts += 1 + p->n_maps + p->n_execs;
			}
		}
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
	const struct line *line = pid_find_line(m, pid);
	size_t lo = 0, hi = line ? line->n : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (line->processes[mid]->since_ns <= time_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return line ? line->processes[lo ? lo - 1 : 0] : NULL;
}

/* Number of execs before @time_ns. */
static size_t process_execs_until(const struct process *p, uint64_t time_ns)
{
	return kjoule_count_values(p->execs, p->n_execs, time_ns);
}

static uint64_t process_last_exec(const struct process *p, uint64_t time_ns)
{
	size_t n = process_execs_until(p, time_ns);

	return n ? p->execs[n - 1] : 0;
}

void kjoule_maps_quiet(const struct kjoule_maps *m, uint64_t time_ns, uint64_t *from,
		       uint64_t *until)
{
	size_t n = kjoule_count_values(m->times, m->n_times, time_ns);

	*from = n ? m->times[n - 1] : 0;
	*until = n < m->n_times ? m->times[n] : UINT64_MAX;
}

/* Number of mappings at @time_ns. */
static size_t process_maps_until(const struct process *p, uint64_t time_ns)
{
	return kjoule_count_members(p->maps, p->n_maps, time_ns, time_ns);
}

const struct kjoule_map *kjoule_maps_find(const struct kjoule_maps *m, uint32_t pid,
					  uint64_t time_ns, uint64_t ip)
{
	const struct process *p = process_at(m, pid, time_ns);

	/* Forks of forks to any depth, but without cycles. */
	for (int depth = 0; p && depth < 64; depth++) {
		uint64_t exec = process_last_exec(p, time_ns);
		size_t i = p->ranges ?
			   kjoule_interval_map_last(p->ranges, ip, process_maps_until(p, time_ns)) :
				       KJOULE_INTERVAL_MAP_NONE;

		if (i != KJOULE_INTERVAL_MAP_NONE && p->maps[i].time_ns >= exec)
			return &p->maps[i];
		if (exec || !p->parent)
			return NULL;
		time_ns = p->since_ns < time_ns ? p->since_ns : time_ns;
		p = p->parent;
	}
	return NULL;
}

uint64_t kjoule_maps_space(const struct kjoule_maps *m, uint32_t pid, uint64_t time_ns)
{
	const struct process *p = process_at(m, pid, time_ns);

	return p ? ((uint64_t)p->number << 32) + (uint32_t)process_execs_until(p, time_ns) + 1 : 0;
}

uint32_t kjoule_maps_layout(const struct kjoule_maps *m, uint32_t pid, uint64_t time_ns)
{
	const struct process *p = process_at(m, pid, time_ns);

	return p ? p->first_layout + process_maps_until(p, time_ns) +
		   process_execs_until(p, time_ns) : 0;
}

const char *kjoule_maps_program(const struct kjoule_maps *m, uint32_t pid)
{
	const struct line *line = pid_find_line(m, pid);
	const struct process *p = line ? line->processes[0] : NULL;
	uint64_t exec = p && p->n_execs ? p->execs[p->n_execs - 1] : 0;

	/* the kernel maps the program first, then its interpreter */
	for (size_t i = 0; p && i < p->n_maps; i++)
		if (p->maps[i].time_ns >= exec && p->maps[i].path[0] == '/')
			return p->maps[i].path;
	return NULL;
}

/* The last name of a thread at @time_ns, or NULL. */
static const char *thread_name_at(const struct process *p, uint32_t tid, uint64_t time_ns)
{
	size_t lo = 0, hi = p->n_names;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct name *name = &p->names[mid];

		if (name->tid < tid || (name->tid == tid && name->time_ns <= time_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && p->names[lo - 1].tid == tid ? p->names[lo - 1].text : NULL;
}

const char *kjoule_maps_comm(const struct kjoule_maps *m, uint32_t pid, uint32_t tid,
			     uint64_t time_ns)
{
	const struct process *p = process_at(m, pid, time_ns);

	for (int depth = 0; p && depth < 64; depth++) {
		const char *name = thread_name_at(p, tid, time_ns);

		/* A thread without a name has its process's. */
		if (!name)
			name = thread_name_at(p, p->pid, time_ns);
		if (name || !p->parent)
			return name;
		time_ns = p->since_ns < time_ns ? p->since_ns : time_ns;
		p = p->parent;
		tid = p->pid;
	}
	return NULL;
}

void kjoule_maps_free(struct kjoule_maps *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_lines; i++) {
		for (size_t k = 0; k < m->lines[i].n; k++) {
			struct process *p = m->lines[i].processes[k];

			kjoule_interval_map_free(p->ranges);
			free(p->maps);
			free(p->names);
			free(p->execs);
			free(p);
		}
		free(m->lines[i].processes);
	}
	free(m->lines);
	free(m->times);
	kjoule_hash_index_free(&m->by_pid);
	free(m);
}
