// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The records of all CPUs and the side band as one line of them, by time; see
 * script.h. Called by cmd_script.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "script/script.h"

static uint32_t script_u32_at(const struct kjoule_record *rec, size_t off)
{
	uint32_t v;

	memcpy(&v, (const char *)rec + off, sizeof(v));
	return v;
}

/*
 * What belongs to the sample that was just read: the records after it, which stay where they are.
 */
static void script_find_callers(struct script_cursor *c)
{
	const struct kjoule_record *rec;
	size_t off = kjoule_records_bytes(c->records);

	memset(&c->callers, 0, sizeof(c->callers));
	/* none where the records are left in the file */
	while (c->stream->records &&
	       kjoule_record_next(c->stream->records, c->stream->len, &off, &rec) > 0) {
		if (rec->type == KJOULE_RECORD_CHAIN)
			c->callers.chain = (const struct kjoule_chain *)rec;
		else if (rec->type == KJOULE_RECORD_STACK)
			c->callers.stack = (const struct kjoule_stack *)rec;
		else if (rec->type != KJOULE_RECORD_DURATION &&
			 (rec->type != KJOULE_RECORD_LOST || (rec->flags & KJOULE_LOST_IN_FILE)))
			return;
	}
}

/* Step to the next record that is to be written. */
static void script_cursor_step(const struct script_reader *r, struct script_cursor *c)
{
	uint32_t late = 0;

	while ((c->error = kjoule_records_next(c->records, &c->rec)) > 0) {
		c->error = 0;
		switch (c->rec->type) {
		case KJOULE_RECORD_TASK:
			c->pid = script_u32_at(c->rec, offsetof(struct kjoule_task, pid));
			c->tgid = script_u32_at(c->rec, offsetof(struct kjoule_task, tgid));
			continue;
		case KJOULE_RECORD_SAMPLE:
			script_find_callers(c);
			/* fall through */
		case KJOULE_RECORD_ENERGY:
			late = script_u32_at(c->rec, offsetof(struct kjoule_sample, delay_ns));
			break;
		case KJOULE_RECORD_GAP:
			break;
		case KJOULE_RECORD_IDLE:
			c->tick += (uint32_t)(script_u32_at(c->rec, 4) - (uint32_t)c->tick) +
				   ((const struct kjoule_idle *)c->rec)->count - 1;
			c->time_ns = ((const struct kjoule_idle *)c->rec)->begin_ns;
			return;
		case KJOULE_RECORD_WINDOW:
			c->time_ns = ((const struct kjoule_window *)c->rec)->begin_ns;
			return;
		case KJOULE_RECORD_READING:
			c->time_ns = ((const struct kjoule_vpm_reading *)c->rec)->hit_ns;
			return;
		case KJOULE_RECORD_VALUE:
			/* a time of its own, and no tick that others go on from */
			c->time_ns = ((const struct kjoule_value *)c->rec)->time_ns;
			return;
		case KJOULE_RECORD_LOST:
			if (c->rec->flags & KJOULE_LOST_IN_FILE)
				return;	/* it has no tick: just after the one before */
			break;
		default:
			continue;
		}
		/* all of them have their tick in the same place */
		c->tick += (uint32_t)(script_u32_at(c->rec, 4) - (uint32_t)c->tick);
		c->time_ns = view_time(r->v, c->tick, late);
		if (c->rec->type == KJOULE_RECORD_GAP)
			c->tick += ((const struct kjoule_gap *)c->rec)->count - 1;
		return;
	}
	c->rec = NULL;
}

static int script_event_by_time(const void *a, const void *b)
{
	const struct kjoule_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->text > y->text) - (x->text < y->text);
}

static int script_add_event(struct script_reader *r, const struct kjoule_event *ev)
{
	struct kjoule_event *slot = kjoule_array_grow(&r->events, &r->n_events, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	*slot = *ev;
	return 0;
}

static int script_read_regions(struct script_reader *r)
{
	const struct kjoule_regions_since *line;
	uint32_t tid;
	size_t n;
	int ret = 0;

	for (size_t i = 0; !ret; i++) {
		n = kjoule_regions_line(r->v->regions, i, &tid, &line);
		if (!line)
			break;
		for (size_t k = 0; k < n && !ret; k++)
			ret = script_add_event(r, &(struct kjoule_event){
				.type = KJOULE_EVENT_REGION, .pid = line[k].pid,
				.tid = tid, .cpu = SCRIPT_NO_CPU, .time_ns = line[k].time_ns,
				.text = r->v->regions->paths[line[k].path].text });
	}
	return ret;
}

static int script_read_events(struct script_reader *r)
{
	struct kjoule_event ev;
	size_t off = 0;
	int ret = 0;

	while (!ret &&
	       kjoule_event_next(r->v->rec.side_band, r->v->rec.side_band_len, &off, &ev) > 0)
		ret = script_add_event(r, &ev);
	if (!ret)
		ret = script_read_regions(r);
	if (ret)
		return ret;
	if (r->n_events)
		qsort(r->events, r->n_events, sizeof(*r->events), script_event_by_time);
	return 0;
}

int script_reader_init(struct script_reader *r, const struct view *v)
{
	int ret;

	memset(r, 0, sizeof(*r));
	r->v = v;
	ret = script_read_events(r);
	if (ret)
		return ret;
	r->cursors = calloc(v->rec.n_streams + 1, sizeof(*r->cursors));
	if (!r->cursors || kjoule_min_heap_init(&r->turns, v->rec.n_streams))
		return -ENOMEM;
	for (r->n_cursors = 0; r->n_cursors < v->rec.n_streams; r->n_cursors++) {
		struct script_cursor *c = &r->cursors[r->n_cursors];

		c->stream = &v->rec.streams[r->n_cursors];
		ret = kjoule_records_open(&v->rec, c->stream, &c->records);
		if (ret)
			return ret;
		c->pid = c->tgid = TIMELINE_NO_TASK;
		c->time_ns = v->rec.meta.session.t0_ns;
		script_cursor_step(r, c);
		r->error = r->error ? r->error : c->error;
		if (c->rec)
			kjoule_min_heap_push(&r->turns, c->time_ns, r->n_cursors);
	}
	return 0;
}

bool script_reader_next(struct script_reader *r, const struct script_cursor **record,
			const struct kjoule_event **event)
{
	const struct kjoule_min_heap_entry *turn;
	struct script_cursor *first;

	if (r->last) {
		script_cursor_step(r, r->last);
		r->error = r->error ? r->error : r->last->error;
		if (r->last->rec)
			kjoule_min_heap_push(&r->turns, r->last->time_ns, r->last - r->cursors);
		r->last = NULL;
	}
	turn = kjoule_min_heap_first(&r->turns);
	first = turn ? &r->cursors[turn->who] : NULL;
	*record = NULL;
	*event = NULL;
	if (r->next_event < r->n_events &&
	    (!first || r->events[r->next_event].time_ns <= first->time_ns)) {
		*event = &r->events[r->next_event++];
		return true;
	}
	if (!first)
		return false;
	kjoule_min_heap_pop(&r->turns);
	*record = r->last = first;
	return true;
}

void script_reader_exit(struct script_reader *r)
{
	kjoule_min_heap_exit(&r->turns);
	for (size_t i = 0; r->cursors && i < r->n_cursors; i++)
		kjoule_records_close(r->cursors[i].records);
	free(r->cursors);
	free(r->events);
}
