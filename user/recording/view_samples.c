// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The samples of a view, CPU by CPU, repeatedly: from the timeline if it has them, else from the
 * file; see view.h. If they are left in the file, their first reader makes the timeline.
 */
#include <errno.h>
#include <stdlib.h>
#include "lib/base/min_heap.h"
#include "recording/view.h"
#include "recording/view_samples.h"

/* Samples that are read from the file at a time. */
#define BATCH	256

struct view_samples {
	const struct timeline_cpu *kept;	/* NULL: they were not */
	size_t next;
	struct kjoule_records *records;
	struct timeline_walk *walk;
	struct timeline nothing;		/* of the walk, when it is repeated */
	/* the file's ticks that are used, counted from the first of them */
	uint64_t from, to;
	int end;	/* 0 or -errno after the batch, 1: there may be more */
	size_t at, n;				/* the next of the batch */
	struct kjoule_sample packed[BATCH];
	struct timeline_sample batch[BATCH];
};

static int view_samples_open_stream(const struct view *v, size_t i, struct timeline *tl,
				    struct view_samples **out)
{
	const struct kjoule_stream *stream = &v->rec.streams[i];
	struct view_samples *s = calloc(1, sizeof(*s));
	int ret = s ? kjoule_records_open(&v->rec, stream, &s->records) : -ENOMEM;

	if (s) {
		s->from = v->cut ? v->cut_from : 0;
		s->to = v->cut ? v->cut_to : UINT64_MAX;
	}
	if (!ret && tl) {
		ret = timeline_walk_new(tl, stream->cpu,
					kjoule_recording_package(&v->rec, stream->cpu), v->max_tick,
					false, &s->walk);
	} else if (!ret) {
		s->nothing.session = v->tl.session;
		ret = timeline_walk_again(&s->nothing, v->max_tick, &s->walk);
	}
	*out = s;
	if (ret) {
		view_samples_close(s);
		*out = NULL;
		return ret;
	}
	s->end = 1;
	return 0;
}

int view_samples_open(const struct view *v, size_t cpu, struct view_samples **s)
{
	if (v->rec.left_in_file)
		return view_samples_open_stream(v, cpu, NULL, s);
	*s = calloc(1, sizeof(**s));
	if (!*s)
		return -ENOMEM;
	(*s)->kept = &v->tl.cpus[cpu];
	return 0;
}

/* Return: 1; 0 at the end; or -errno */
static int view_samples_read_batch(struct view_samples *s)
{
	const struct kjoule_record *rec;
	size_t n;
	int ret = s->end;

	s->at = s->n = 0;
	while (ret > 0 && s->n < BATCH) {
		n = kjoule_records_samples(s->records, s->packed, BATCH - s->n);
		s->n += timeline_walk_samples(s->walk, s->packed, n, s->batch + s->n);
		if (n)
			continue;
		s->end = ret = kjoule_records_next(s->records, &rec);
		if (ret <= 0)
			break;
		ret = timeline_walk_record(s->walk, rec);
		if (ret > 0)
			s->batch[s->n++] = *timeline_walk_sample(s->walk);
		s->end = ret < 0 ? ret : 1;
		ret = s->end;
	}
	return s->n ? 1 : ret;
}

/* The part of the batch between the ends of a cut. */
static void view_samples_cut_batch(struct view_samples *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->batch[i].tick < s->from)
			continue;
		if (s->batch[i].tick >= s->to) {
			s->end = 0;
			break;
		}
		s->batch[n] = s->batch[i];
		s->batch[n++].tick -= s->from;
	}
	s->n = n;
}

/* The next batch, of one sample at least. Return: 1; 0 at the end; or -errno */
static int view_samples_fill_batch(struct view_samples *s)
{
	int ret;

	do {
		ret = view_samples_read_batch(s);
		if (ret > 0 && (s->from || s->to < UINT64_MAX))
			view_samples_cut_batch(s);
	} while (ret > 0 && !s->n);
	return ret;
}

int view_samples_batch(struct view_samples *s, const struct timeline_sample **samples, size_t *n)
{
	int ret = 1;

	if (s->kept) {
		*n = s->kept->n_samples - s->next;
		/* there is no array if there is no sample */
		*samples = *n ? s->kept->samples + s->next : NULL;
		s->next = s->kept->n_samples;
		return *n > 0;
	}
	if (s->at == s->n)
		ret = view_samples_fill_batch(s);
	*samples = s->batch + s->at;
	*n = s->n - s->at;
	s->at = s->n;
	return ret;
}

int view_samples_next(struct view_samples *s, const struct timeline_sample **sample)
{
	int ret;

	if (s->kept) {
		if (s->next == s->kept->n_samples)
			return 0;
		*sample = &s->kept->samples[s->next++];
		return 1;
	}
	if (s->at == s->n) {
		ret = view_samples_fill_batch(s);
		if (ret <= 0)
			return ret;
	}
	*sample = &s->batch[s->at++];
	return 1;
}

void view_samples_close(struct view_samples *s)
{
	if (!s)
		return;
	timeline_walk_end(s->walk);
	timeline_free(&s->nothing);
	kjoule_records_close(s->records);
	free(s);
}

/* The first read of all CPUs' samples: in slices of ticks, because the skew is between CPUs. */
struct view_load {
	struct view *v;
	struct timeline_skew *skew;
	size_t n;
	struct kjoule_min_heap turns;		/* of the CPUs that are not in the slice */
	size_t n_inside, at, *inside;		/* those that are, and the current one */
	bool begun;
	uint64_t from;				/* of the slice */
	uint64_t *last;	/* of each CPU: the tick of the sample before, + 1 */
	struct view_samples **samples;
};

int view_load_open(struct view *v, struct view_load **out)
{
	struct view_load *l = calloc(1, sizeof(*l));
	int ret = l ? 0 : -ENOMEM;

	*out = l;
	if (ret)
		return ret;
	l->v = v;
	l->n = v->rec.n_streams;
	l->skew = timeline_skew_new();
	l->last = calloc(l->n + 1, sizeof(*l->last));
	l->samples = calloc(l->n + 1, sizeof(*l->samples));
	l->inside = calloc(l->n + 1, sizeof(*l->inside));
	ret = kjoule_min_heap_init(&l->turns, l->n);
	if (!l->skew || !l->last || !l->samples || !l->inside)
		ret = -ENOMEM;
	for (size_t i = 0; i < l->n && !ret; i++)
		ret = view_samples_open_stream(v, i, &v->tl, &l->samples[i]);
	return ret;
}

/* Queue it by its next sample, if it has one. Return: 0 or -errno */
static int view_load_wait_turn(struct view_load *l, size_t i)
{
	struct view_samples *s = l->samples[i];
	int ret = s->at == s->n ? view_samples_fill_batch(s) : 0;

	if (ret >= 0 && s->at < s->n)
		kjoule_min_heap_push(&l->turns, s->batch[s->at].tick, i);
	return ret < 0 ? ret : 0;
}

static int view_stream_by_cpu(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Go on to the next slice with a sample. Return: 1; 0: there is none; or -errno */
static int view_load_next_slice(struct view_load *l)
{
	const struct kjoule_min_heap_entry *first;
	int ret = 0;

	if (l->begun && l->n > 1)
		ret = timeline_skew_count(l->skew, &l->v->tl);
	for (size_t i = 0; i < (l->begun ? l->n_inside : l->n) && !ret; i++)
		ret = view_load_wait_turn(l, l->begun ? l->inside[i] : i);
	if (ret)
		return ret;
	l->begun = true;
	l->at = l->n_inside = 0;
	first = kjoule_min_heap_first(&l->turns);
	if (!first)
		return 0;
	l->from = first->when;
	timeline_skew_slice(l->skew, l->from);
	while ((first = kjoule_min_heap_first(&l->turns)) && first->when - l->from < TIMELINE_SLICE)
		l->inside[l->n_inside++] = kjoule_min_heap_pop(&l->turns);
	qsort(l->inside, l->n_inside, sizeof(*l->inside), view_stream_by_cpu);
	return 1;
}

/* The part of the current batch in the slice. */
static size_t view_load_count_in_slice(const struct view_load *l, const struct view_samples *s)
{
	size_t n = s->n - s->at;

	if (n && s->batch[s->n - 1].tick - l->from >= TIMELINE_SLICE)
		for (n = 0; s->batch[s->at + n].tick - l->from < TIMELINE_SLICE; n++)
			;
	return n;
}

int view_load_next(struct view_load *l, size_t *cpu, const struct timeline_sample **samples,
		   size_t *n)
{
	struct view_samples *s;
	size_t i;
	int ret = 1;

	while (ret > 0) {
		if (l->at == l->n_inside) {
			ret = view_load_next_slice(l);
			continue;
		}
		i = l->inside[l->at];
		s = l->samples[i];
		if (s->at == s->n)
			ret = view_samples_fill_batch(s);
		if (ret < 0)
			break;
		ret = 1;
		*n = view_load_count_in_slice(l, s);
		if (!*n) {
			l->at++;
			continue;
		}
		*cpu = i;
		*samples = s->batch + s->at;
		s->at += *n;
		timeline_skew_samples(l->skew, *samples, *n, &l->last[i]);
		return 1;
	}
	return ret;
}

void view_load_close(struct view_load *l)
{
	unsigned int chunks;

	if (!l)
		return;
	for (size_t i = 0; l->samples && i < l->n; i++) {
		struct view_samples *s = l->samples[i];

		if (s) {
			l->v->tl.damaged += kjoule_records_damage(s->records, &chunks);
			l->v->rec.unpackable += chunks;
			l->v->rec.streams[i].len = kjoule_records_bytes(s->records);
		}
		view_samples_close(s);
	}
	timeline_skew_end(l->skew, &l->v->tl);
	kjoule_min_heap_exit(&l->turns);
	free(l->inside);
	free(l->samples);
	free(l->last);
	free(l);
}
