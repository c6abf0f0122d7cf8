// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Windows between updates of a counter, see cpm.h: made from the readings and the events, packed,
 * and iterated. Used by cpm.c, analysis/mixture/fit.c and all models.
 */
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/cpm/cpm_divide.h"
#include "analysis/cpm/cpm_windows_build.h"

/* Ticks that [a, b) and [from, to) have in common. */
static uint64_t ticks_in_common(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	uint64_t low = a > from ? a : from, high = b < to ? b : to;

	return high > low ? high - low : 0;
}

static int window_add_part(struct cpm_making *m, uint32_t vector, uint64_t count)
{
	size_t at = m->n_parts;

	if (m->n_parts == m->room) {
		size_t room = m->room ? 2 * m->room : 64;
		void *p = realloc(m->parts, room * sizeof(*m->parts));

		if (!p)
			return -ENOMEM;
		m->parts = p;
		m->room = room;
	}
	if (at && m->parts[at - 1].vector == vector)
		m->parts[at - 1].count += count;
	else
		m->parts[m->n_parts++] = (struct cpm_whole){ vector, count };
	return 0;
}

static int part_by_vector(const void *a, const void *b)
{
	const struct cpm_whole *x = a, *y = b;

	return (x->vector > y->vector) - (x->vector < y->vector);
}

/* So few are sorted by counting for each how many are smaller, which is free of branches. */
#define FEW_PARTS	48

typedef int32_t quad __attribute__((vector_size(16)));

/* Unsigned numbers as signed ones of the same order. */
static int32_t vector_sort_key(uint32_t v)
{
	return (int32_t)(v ^ 1u << 31);
}

static void parts_sort_few(struct cpm_whole *p, size_t n)
{
	struct cpm_whole sorted[FEW_PARTS];
	quad keys[FEW_PARTS / 4];

	memset(sorted, 0, n * sizeof(*sorted));
	for (size_t i = 0; i < (n + 3) / 4 * 4; i++)
		keys[i / 4][i % 4] = i < n ? vector_sort_key(p[i].vector) : INT32_MAX;
	for (size_t i = 0; i < n; i++) {
		int32_t key = vector_sort_key(p[i].vector);
		quad before = { 0 }, all = { key, key, key, key };
		size_t at;

		for (size_t k = 0; k < (n + 3) / 4; k++)
			before -= keys[k] < all;
		at = before[0] + before[1] + before[2] + before[3];
		/* those of one vector come to the same place, and leave the next ones empty */
		sorted[at].vector = p[i].vector;
		sorted[at].count += p[i].count;
	}
	memcpy(p, sorted, n * sizeof(*p));
}

/* Sort by vector and merge equal ones. */
static void parts_tidy(struct cpm_making *m)
{
	struct cpm_whole *p = m->parts;
	size_t n = 0;

	if (m->n_parts > FEW_PARTS)
		qsort(p, m->n_parts, sizeof(*p), part_by_vector);
	else if (m->n_parts > 1)
		parts_sort_few(p, m->n_parts);
	for (size_t i = 0; i < m->n_parts; i++) {
		if (n && p[n - 1].vector == p[i].vector && p[i].count) {
			p[n - 1].count += p[i].count;
			continue;
		}
		p[n] = p[i];
		n += p[i].count > 0;
	}
	m->n_parts = n;
}

/* Sum of untaken ticks of idle CPUs in a window. */
static double window_untaken_ticks(struct cpm_making *m, const struct cpm_window *w)
{
	const struct cpm_vectors *v = m->v;
	double sum = 0;

	for (; m->untaken < v->n_untaken && v->untaken[m->untaken].tick < w->to; m->untaken++) {
		const struct cpm_untaken *u = &v->untaken[m->untaken];
		uint64_t end = m->untaken + 1 < v->n_untaken ? u[1].tick : UINT64_MAX;

		sum += (double)u->cpus * ticks_in_common(u->tick, end, w->from, w->to);
		if (end > w->to)
			break;
	}
	return sum;
}

/* Blocks of a vector that are not marginal. Its base may not be known yet. */
static uint32_t vector_count_unmarginal(const struct cpm_vectors *v, uint32_t vector)
{
	uint32_t n = 0;

	if (cpm_is_other_set(v, vector))
		return cpm_other_set_size(v, vector);
	for (uint32_t m = v->first[vector]; m < v->first[vector + 1]; m++)
		n += v->kinds[v->members[m]] != CPM_MARGINAL;
	return n;
}

/* Extra energy of interrupts at a tick of a vector, may be negative. Unknown for all other sets. */
static double vector_more_irq_uj(const struct cpm_vectors *v, const float *more_uj, uint32_t vector)
{
	double more = 0;

	if (cpm_is_other_set(v, vector))
		return 0;
	for (uint32_t m = v->first[vector]; m < v->first[vector + 1]; m++)
		if (v->kinds[v->members[m]] != CPM_MARGINAL)
			more += more_uj[v->members[m]];
	return more;
}

/* The energy of a window less that of its interrupts. */
static void window_take_out_irqs(struct cpm_making *m, struct cpm_window *w)
{
	const struct cpm_irq *irq = &m->irq;
	double all = (double)(w->to - w->from) * irq->n_cpus - window_untaken_ticks(m, w);
	double busy = 0, more = 0;

	for (size_t p = 0; p < m->n_parts; p++)
		busy += (double)m->parts[p].count *
			vector_count_unmarginal(m->v, m->parts[p].vector);
	for (size_t p = 0; p < m->n_parts && irq->more_uj; p++)
		more += m->parts[p].count *
			vector_more_irq_uj(m->v, irq->more_uj, m->parts[p].vector);
	w->uj = fmax(w->uj - irq->busy_uj * busy - more - irq->idle_uj * fmax(all - busy, 0), 0);
}

/*
 * Windows are packed, as there may be a hundred million ticks: the number of ticks times four, two
 * more if counts are fractional, one more if the energy is known, which follows; the number of
 * parts; four bits for each part; and for each the difference of its vector to the one before
 * (CPM_UNSAMPLED comes last, beyond all) and its count less one. The four bits are the lengths of
 * these two in bytes, so that decoding does not depend on a number just read.
 */
#define PART_MOST	13
#define WINDOW_MOST	40

/* Parts are read a little beyond their end. */
#define SLACK		8

static const uint8_t count_bytes[] = { 0, 1, 2, 8 };
static const uint64_t count_masks[] = { 0, 0xff, 0xffff, UINT64_MAX };

static uint8_t *window_put_varint(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = v | 0x80;
	*at++ = v;
	return at;
}

/* @units: counts are in CPM_UNITS */
static int window_pack(struct cpm_making *m, const struct cpm_window *w, bool units)
{
	struct cpm_domain *d = m->d;
	size_t most = WINDOW_MOST + PART_MOST * m->n_parts + SLACK;
	uint8_t *at, *bits;
	uint32_t before = 0;

	if (d->windows_room - d->windows_len < most) {
		size_t room = d->windows_room + d->windows_room / 2 + most + 4096;

		at = realloc(d->windows, room);
		if (!at)
			return -ENOMEM;
		d->windows = at;
		d->windows_room = room;
	}
	at = window_put_varint(d->windows + d->windows_len, (w->to - w->from) << 2 | units << 1 |
			       w->known);
	if (w->known) {
		memcpy(at, &w->uj, sizeof(w->uj));
		at += sizeof(w->uj);
	}
	at = window_put_varint(at, m->n_parts);
	bits = at;
	at += (m->n_parts + 1) / 2;
	memset(bits, 0, at - bits);
	for (size_t p = 0; p < m->n_parts; p++) {
		const struct cpm_whole *part = &m->parts[p];
		uint32_t beyond = part->vector - before;	/* modulo 2^32 */
		unsigned int bytes = beyond < 1u << 8 ? 1 : beyond < 1u << 16 ?
				     2 : beyond < 1u << 24 ? 3 : 4;
		uint64_t more = htole64(part->count - 1);
		unsigned int code = part->count == 1 ? 0 : part->count <= 1u << 8 ?
				    1 : part->count <= 1u << 16 ? 2 : 3;

		bits[p / 2] |= (code << 2 | (bytes - 1)) << p % 2 * 4;
		beyond = htole32(beyond);
		memcpy(at, &beyond, sizeof(beyond));
		at += bytes;
		memcpy(at, &more, sizeof(more));
		at += count_bytes[code];
		before = part->vector;
	}
	d->windows_len = at - d->windows;
	d->n_windows++;
	d->known += w->known;
	if (m->n_parts > d->most_parts)
		d->most_parts = m->n_parts;
	return 0;
}

struct cpm_edges cpm_edges_of(double period)
{
	double u = fmin(period, 1);

	/*
	 * With the update at m, as a part of the tick's interval, in (1 - u, 1), and the change of
	 * code at t, in (0, 1), the next tick's code runs before the update for max(m - t, 0), the
	 * last tick's code after it for max(t - m, 0). These are the means; both are 1/6 for a
	 * counter that is updated more seldom.
	 */
	return (struct cpm_edges){ (1 - pow(1 - u, 3)) / (6 * u), u * u / 6 };
}

/* Add to, or take from, a part's count: at most one tick less. */
static int window_add_units(struct cpm_making *m, uint32_t vector, int64_t units)
{
	if (vector == CPM_UNSAMPLED) {
		m->unsampled += units;
		return 0;
	}
	for (size_t p = 0; p < m->n_parts; p++) {
		if (m->parts[p].vector == vector) {
			m->parts[p].count += units;
			return 0;
		}
	}
	return window_add_part(m, vector, units);
}

static bool change_is_shared(const struct cpm_making *m, const struct cpm_change *c)
{
	/* for all other sets only whole ticks are known */
	return c->last != c->first && !cpm_is_other_set(m->v, c->last) &&
	       !cpm_is_other_set(m->v, c->first);
}

/*
 * The changes at both ends of the window, @end at the second, as in struct cpm_edges: what one code
 * gains the other loses. Return: whether any, -ENOMEM
 */
static int window_share_edges(struct cpm_making *m, const struct cpm_change *end)
{
	bool begins = change_is_shared(m, &m->change), ends = change_is_shared(m, end);
	int ret = 0;

	if (!begins && !ends)
		return 0;
	for (size_t p = 0; p < m->n_parts; p++)
		m->parts[p].count *= CPM_UNITS;
	m->unsampled *= CPM_UNITS;
	if (begins) {
		ret = window_add_units(m, m->change.first, -(int64_t)m->last);
		ret = ret ? ret : window_add_units(m, m->change.last, m->last);
	}
	if (ends && !ret) {
		ret = window_add_units(m, end->last, -(int64_t)m->first);
		ret = ret ? ret : window_add_units(m, end->first, m->first);
	}
	parts_tidy(m);
	return ret ? ret : 1;
}

/* The window is over, @next is the vector of the following tick. The unsampled part comes last. */
static int window_close(struct cpm_making *m, uint32_t next)
{
	uint32_t last = m->latest_end >= m->w.to ? m->latest : CPM_UNSAMPLED;
	/* the recording's end is no reading */
	struct cpm_change end = { last, m->w.to < m->end_tick ? next : last };
	int units = 0, ret;

	parts_tidy(m);
	if (m->has_irq)
		window_take_out_irqs(m, &m->w);
	if (m->first || m->last)
		units = window_share_edges(m, &end);
	if (units < 0)
		return units;
	m->change = end;
	ret = m->unsampled ? window_add_part(m, CPM_UNSAMPLED, m->unsampled) : 0;
	return ret ? ret : window_pack(m, &m->w, units);
}

/* The last of the readings at one tick. */
static size_t reading_last_at(const struct cpm_making *m, size_t i)
{
	while (i + 1 < m->n && m->readings[i + 1].tick == m->readings[i].tick)
		i++;
	return i;
}

/* The next window: before the first reading, between two, or after the last. */
static void window_begin_next(struct cpm_making *m)
{
	const struct cpm_reading *r = m->readings;
	uint64_t from = m->w.to;

	m->w = (struct cpm_window){ .from = from, .to = from };
	if (from < r[m->before].tick) {
		m->w.to = r[m->before].tick;
	} else if (m->next < m->n) {
		m->w.to = r[m->next].tick;
		m->w.uj = (double)(r[m->next].uj - r[m->before].uj);
		/*
		 * Before the first reading the counter was last updated at an unknown time: the
		 * energy of the first window is partly from before the recording.
		 */
		m->w.known = !m->initial || m->only;
		m->initial = false;
		m->before = m->next;
		m->next = reading_last_at(m, m->next + 1);
	} else if (m->end_tick > from) {
		m->w.to = m->end_tick;
	}
	m->n_parts = 0;
	m->unsampled = m->w.to - m->w.from;
}

static void windows_begin_first(struct cpm_making *m)
{
	m->before = reading_last_at(m, 0);
	m->next = reading_last_at(m, m->before + 1);
	m->initial = true;
	m->change = (struct cpm_change){ CPM_UNSAMPLED, CPM_UNSAMPLED };
	m->latest = CPM_UNSAMPLED;
	m->latest_end = 0;
	m->only = m->next + 1 >= m->n;
	window_begin_next(m);
}

int cpm_making_event(struct cpm_making *m, uint64_t tick, uint64_t count, uint32_t vector)
{
	uint64_t end = tick + count, n;
	int ret = 0;

	while (!ret && m->w.to > m->w.from) {
		n = ticks_in_common(tick, end, m->w.from, m->w.to);
		if (n) {
			ret = window_add_part(m, vector, n);
			m->latest = vector;
			m->latest_end = tick + count < m->w.to ? end : m->w.to;
		}
		m->unsampled -= n;
		/* the next tick's vector is known with the next event */
		if (end <= m->w.to || ret)
			break;
		/* the next window has the rest */
		ret = window_close(m, tick <= m->w.to ? vector : CPM_UNSAMPLED);
		window_begin_next(m);
	}
	return ret;
}

int cpm_making_new(const struct cpm_vectors *v, const struct cpm_reading *readings, size_t n,
		   uint64_t end_tick, const struct cpm_irq *irq, const struct cpm_edges *edges,
		   struct cpm_domain *d, struct cpm_making **out)
{
	struct cpm_making *m;

	*out = NULL;
	memset(d, 0, sizeof(*d));
	/* a counter that was never updated has no energy */
	if (n < 2 || readings[0].tick == readings[n - 1].tick ||
	    readings[0].uj == readings[n - 1].uj)
		return -ENODATA;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = (struct cpm_making){ .v = v, .d = d, .readings = readings, .n = n,
				  .end_tick = end_tick };
	if (irq) {
		m->irq = *irq;
		m->has_irq = true;
	}
	if (edges) {
		m->first = lround(edges->first * CPM_UNITS);
		m->last = lround(edges->last * CPM_UNITS);
		d->edges = (struct cpm_edges){ (double)m->first / CPM_UNITS,
					       (double)m->last / CPM_UNITS };
	}
	d->end_tick = end_tick;
	windows_begin_first(m);
	*out = m;
	return 0;
}

void cpm_making_restart(struct cpm_making *m)
{
	struct cpm_domain *d = m->d;

	d->windows_len = 0;
	d->n_windows = 0;
	d->known = 0;
	d->most_parts = 0;
	m->w = (struct cpm_window){ 0 };
	m->untaken = 0;
	windows_begin_first(m);
}

int cpm_making_end(struct cpm_making *m, int ret)
{
	while (m && !ret && m->w.to > m->w.from) {
		ret = window_close(m, CPM_UNSAMPLED);
		window_begin_next(m);
	}
	if (m)
		free(m->parts);
	free(m);
	return ret;
}

int cpm_windows_begin(const struct cpm_domain *d, struct cpm_windows *c)
{
	*c = (struct cpm_windows){ .d = d, .at = d->windows, .number = SIZE_MAX };
	c->parts = calloc(d->most_parts + 1, sizeof(*c->parts));
	c->w.parts = c->parts;
	return c->parts ? 0 : -ENOMEM;
}

bool cpm_windows_next(struct cpm_windows *c)
{
	const struct cpm_domain *d = c->d;
	const uint8_t *at = c->at, *bits;
	struct cpm_window *w = &c->w;
	uint32_t vector = 0;
	uint64_t v;
	double unit;

	if (!at || at == d->windows + d->windows_len)
		return false;
	c->number++;
	v = tick_stream_number(&at);
	w->from = w->to;
	w->to += v >> 2;
	unit = v & 2 ? 1. / CPM_UNITS : 1;
	w->known = v & 1;
	w->uj = 0;
	if (w->known) {
		memcpy(&w->uj, at, sizeof(w->uj));
		at += sizeof(w->uj);
	}
	w->fitted = d->fitted ? d->fitted[c->number] : d->all_fitted;
	w->n_parts = tick_stream_number(&at);
	bits = at;
	at += (w->n_parts + 1) / 2;
	for (size_t p = 0; p < w->n_parts; p++) {
		unsigned int code = bits[p / 2] >> p % 2 * 4, bytes = (code & 3) + 1;

		vector += le32toh(tick_stream_u32(at)) & UINT32_MAX >> (32 - 8 * bytes);
		at += bytes;
		memcpy(&v, at, sizeof(v));
		at += count_bytes[code >> 2 & 3];
		c->parts[p] =
			(struct cpm_part){ vector,
					   unit * ((le64toh(v) & count_masks[code >> 2 & 3]) + 1) };
	}
	c->at = at;
	return true;
}

void cpm_windows_end(struct cpm_windows *c)
{
	free(c->parts);
	c->parts = NULL;
}

int cpm_counts(const struct cpm_domain *d, uint64_t *counts)
{
	struct cpm_windows c;
	int ret = cpm_windows_begin(d, &c);

	while (!ret && cpm_windows_next(&c))
		for (size_t p = 0; p < c.w.n_parts; p++)
			counts[c.w.parts[p].vector] += c.w.parts[p].count;
	cpm_windows_end(&c);
	return ret;
}
