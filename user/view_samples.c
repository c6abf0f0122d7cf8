// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The samples of a view, CPU by CPU and as often as wanted: out of the timeline if it has kept them, else out of the
 * file; see view.h. view_samples_load() makes the timeline of a recording whose samples are left in the file.
 */
#include <errno.h>
#include <stdlib.h>
#include "view.h"
#include "view_samples.h"

struct view_samples {
	const struct timeline_cpu *kept;	/* NULL: they were not */
	size_t next;
	struct kjoule_records *records;
	struct timeline_walk *walk;
	struct timeline nothing;		/* of the walk, when it goes there again */
	/* of the file's ticks those that are looked at, which are counted from the first of them on */
	uint64_t from, to;
	struct timeline_sample inside;
};

static int open_stream(const struct view *v, size_t i, struct timeline *tl, struct view_samples **out)
{
	const struct kjoule_stream *stream = &v->rec.streams[i];
	struct view_samples *s = calloc(1, sizeof(*s));
	int ret = s ? kjoule_records_open(&v->rec, stream, &s->records) : -ENOMEM;

	if (s) {
		s->from = v->cut ? v->cut_from : 0;
		s->to = v->cut ? v->cut_to : UINT64_MAX;
	}
	if (!ret && tl) {
		ret = timeline_walk_new(tl, stream->cpu, kjoule_recording_package(&v->rec, stream->cpu), v->max_tick,
					false, &s->walk);
	} else if (!ret) {
		s->nothing.session = v->tl.session;
		ret = timeline_walk_again(&s->nothing, v->max_tick, &s->walk);
	}
	*out = s;
	if (ret) {
		view_samples_close(s);
		*out = NULL;
	}
	return ret;
}

int view_samples_open(const struct view *v, size_t cpu, struct view_samples **s)
{
	if (v->rec.left_in_file)
		return open_stream(v, cpu, NULL, s);
	*s = calloc(1, sizeof(**s));
	if (!*s)
		return -ENOMEM;
	(*s)->kept = &v->tl.cpus[cpu];
	return 0;
}

int view_samples_next(struct view_samples *s, const struct timeline_sample **sample)
{
	const struct kjoule_record *rec;
	int ret;

	if (s->kept) {
		if (s->next == s->kept->n_samples)
			return 0;
		*sample = &s->kept->samples[s->next++];
		return 1;
	}
	while ((ret = kjoule_records_next(s->records, &rec)) > 0) {
		const struct timeline_sample *now;

		ret = timeline_walk_record(s->walk, rec);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		now = timeline_walk_sample(s->walk);
		if (now->tick >= s->to)
			return 0;
		if (now->tick < s->from)
			continue;
		*sample = now;
		if (s->from) {
			s->inside = *now;
			s->inside.tick -= s->from;
			*sample = &s->inside;
		}
		return 1;
	}
	return ret;
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

/* Where the load is in each stream. */
struct load {
	struct view_samples *samples;
	const struct timeline_sample *now;	/* NULL: none is left */
	uint64_t last;				/* tick of the one before, + 1 */
};

/* Go on to the next sample. Return: 0 or -errno */
static int advance(struct load *l)
{
	int ret;

	l->last = l->now ? l->now->tick + 1 : 0;
	ret = view_samples_next(l->samples, &l->now);
	if (ret <= 0)
		l->now = NULL;
	return ret < 0 ? ret : 0;
}

/* The samples of all CPUs in slices of ticks. */
static int walk_all(struct load *loads, size_t n, struct timeline *tl, struct timeline_skew *skew)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = advance(&loads[i]);
	while (!ret) {
		uint64_t from = UINT64_MAX;

		for (size_t i = 0; i < n; i++)
			if (loads[i].now && loads[i].now->tick < from)
				from = loads[i].now->tick;
		if (from == UINT64_MAX)
			break;
		timeline_skew_slice(skew, from);
		for (size_t i = 0; i < n; i++) {
			struct load *l = &loads[i];

			while (!ret && l->now && l->now->tick - from < TIMELINE_SLICE) {
				/* a tick that a CPU has twice is damage */
				if (l->now->tick + 1 != l->last)
					timeline_skew_put(skew, l->now->tick, l->now->late_ns);
				ret = advance(l);
			}
		}
		if (!ret && n > 1)
			ret = timeline_skew_count(skew, tl);
	}
	return ret;
}

int view_samples_load(struct view *v)
{
	struct load *loads = calloc(v->rec.n_streams + 1, sizeof(*loads));
	struct timeline_skew *skew = timeline_skew_new();
	unsigned int chunks;
	int ret = loads && skew ? 0 : -ENOMEM;

	for (size_t i = 0; i < v->rec.n_streams && !ret; i++)
		ret = open_stream(v, i, &v->tl, &loads[i].samples);
	if (!ret)
		ret = walk_all(loads, v->rec.n_streams, &v->tl, skew);
	for (size_t i = 0; loads && i < v->rec.n_streams; i++) {
		struct view_samples *s = loads[i].samples;

		if (s) {
			v->tl.damaged += kjoule_records_damage(s->records, &chunks);
			v->rec.unpackable += chunks;
			v->rec.streams[i].len = kjoule_records_bytes(s->records);
		}
		view_samples_close(s);
	}
	timeline_skew_end(skew, &v->tl);
	free(loads);
	return ret;
}
