// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes programs' untrusted rings in a recording to marks of threads; see mark_decoder.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <kjoule/region.h>
#include "lib/base/array.h"
#include "lib/region/mark_decoder.h"

#define NODES		(KJOULE_REGION_PATHS_MAX + 1)
#define NO_NODE		UINT32_MAX

struct ring {
	bool known;			/* @pid and @tid, and what is defined */
	uint32_t pid, tid;
	uint64_t next;			/* unit that comes next */
	uint64_t lost, explained;	/* by the ring, and by its marks */
	uint64_t last_ns;
	uint64_t left_out;
	uint32_t paths[NODES];		/* of nodes; NO_NODE */
};

struct reading {
	struct kjoule_regions *r;
	struct kjoule_marks *marks;
	struct ring *rings;		/* KJOULE_REGION_RINGS of them */
};

int kjoule_marks_add(struct kjoule_marks *m, const struct kjoule_mark *mark)
{
	struct kjoule_mark *slot = kjoule_array_grow(&m->list, &m->n, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	*slot = *mark;
	slot->order = m->n;
	return 0;
}

/* From here on the position of the ring's thread is unknown. */
static int ring_add_lost_mark(struct reading *m, struct ring *ring, uint64_t time_ns)
{
	return kjoule_marks_add(m->marks,
				&(struct kjoule_mark){ .time_ns = time_ns, .pid = ring->pid,
						       .tid = ring->tid,
						       .path = KJOULE_REGIONS_UNKNOWN,
						       .kind = KJOULE_REGION_LOST });
}

static void ring_forget_paths(struct ring *ring)
{
	for (size_t i = 0; i < NODES; i++)
		ring->paths[i] = NO_NODE;
	ring->paths[0] = KJOULE_REGIONS_OUTSIDE;
}

static int ring_define_region(struct reading *m, struct ring *ring,
			      const struct kjoule_region_unit *u)
{
	char name[8 * sizeof(*u)] = "";
	size_t len = (u->units - 1u) * sizeof(*u);
	uint32_t parent = u->parent < NODES ? ring->paths[u->parent] : NO_NODE;

	if (len > sizeof(name) - 1)
		len = sizeof(name) - 1;
	memcpy(name, u + 1, len);
	name[KJOULE_REGION_NAME_MAX] = 0;
	if (!u->node || u->node >= NODES || parent == NO_NODE || !name[0]) {
		m->r->damaged++;
		return 0;
	}
	/* inside of an unknown region everything is unknown */
	if (parent == KJOULE_REGIONS_UNKNOWN) {
		ring->paths[u->node] = KJOULE_REGIONS_UNKNOWN;
		return 0;
	}
	return kjoule_regions_path(m->r, parent, name, &ring->paths[u->node]);
}

static int ring_start_thread(struct reading *m, struct ring *ring,
			     const struct kjoule_region_unit *u)
{
	struct kjoule_region_who who;

	if (u->units != 2) {
		m->r->damaged++;
		return 0;
	}
	memcpy(&who, u + 1, sizeof(who));
	ring_forget_paths(ring);
	ring->known = true;
	ring->pid = who.pid;
	ring->tid = who.tid;
	ring->last_ns = u->time_ns;
	return kjoule_marks_add(m->marks,
				&(struct kjoule_mark){ .time_ns = u->time_ns, .pid = who.pid,
						       .tid = who.tid,
						       .kind = KJOULE_REGION_START });
}

static int ring_decode_unit(struct reading *m, struct ring *ring,
			    const struct kjoule_region_unit *u)
{
	struct kjoule_mark mark = { .time_ns = u->time_ns, .pid = ring->pid, .tid = ring->tid,
				    .kind = u->kind };

	if (u->kind == KJOULE_REGION_START)
		return ring_start_thread(m, ring, u);
	if (!ring->known) {
		m->r->lost++;		/* what came before was in a lost chunk */
		return 0;
	}
	if (u->kind == KJOULE_REGION_DEFINE)
		return ring_define_region(m, ring, u);
	/* a handler came in between, with a negligible difference */
	if (mark.time_ns < ring->last_ns)
		mark.time_ns = ring->last_ns;
	ring->last_ns = mark.time_ns;
	if (u->kind == KJOULE_REGION_LOST) {
		ring->explained += u->node;
		return ring_add_lost_mark(m, ring, mark.time_ns);
	}
	if (u->kind < KJOULE_REGION_BEGIN || u->kind > KJOULE_REGION_CLOSE || u->node >= NODES ||
	    (u->kind == KJOULE_REGION_BEGIN && !u->node)) {
		m->r->damaged++;
		return 0;
	}
	m->r->marks++;
	mark.path = ring->paths[u->node];
	if (mark.path == NO_NODE) {
		m->r->damaged++;
		mark.path = KJOULE_REGIONS_UNKNOWN;
	}
	return kjoule_marks_add(m->marks, &mark);
}

static int ring_decode_batch(struct reading *m, const struct kjoule_region_batch *batch,
			     const struct kjoule_region_unit *units)
{
	struct ring *ring = &m->rings[batch->ring];
	int ret = 0;

	if (batch->first != ring->next) {
		/* a chunk is lost, or the recorder found the ring damaged */
		if (ring->known)
			ret = ring_add_lost_mark(m, ring, ring->last_ns);
		/* a mark takes a unit */
		if (batch->first > ring->next)
			m->r->lost += batch->first - ring->next;
		ring->known = false;
		ring_forget_paths(ring);
	}
	ring->next = batch->first + batch->units;
	ring->lost = batch->lost;
	ring->left_out = batch->left_out;
	for (uint32_t i = 0, n; i < batch->units && !ret; i += n) {
		n = units[i].units;
		if (!n || n > batch->units - i) {
			m->r->damaged++;
			break;
		}
		ret = ring_decode_unit(m, ring, &units[i]);
	}
	return ret;
}

static int batches_decode(struct reading *m, const uint8_t *data, size_t len)
{
	struct kjoule_region_batch batch;
	struct kjoule_region_unit *units = NULL;
	size_t at = 0, bytes;
	int ret = 0;

	while (len - at >= sizeof(batch) && !ret) {
		memcpy(&batch, data + at, sizeof(batch));
		at += sizeof(batch);
		bytes = (size_t)batch.units * sizeof(*units);
		if (batch.ring >= KJOULE_REGION_RINGS || batch.units > KJOULE_REGION_UNITS ||
		    bytes > len - at)
			break;
		if (!units)
			units = malloc(KJOULE_REGION_UNITS * sizeof(*units));
		if (!units)
			return -ENOMEM;
		memcpy(units, data + at, bytes);
		ret = ring_decode_batch(m, &batch, units);
		at += bytes;
	}
	free(units);
	m->r->damaged += at < len;
	for (size_t i = 0; i < KJOULE_REGION_RINGS && !ret; i++) {
		struct ring *ring = &m->rings[i];

		m->r->lost += ring->lost;
		m->r->left_out += ring->left_out;
		/* since when could not be noted any more */
		if (ring->known && ring->lost > ring->explained)
			ret = ring_add_lost_mark(m, ring, ring->last_ns);
	}
	return ret;
}

static int rings_make(struct reading *m)
{
	m->rings = calloc(KJOULE_REGION_RINGS, sizeof(*m->rings));
	for (size_t i = 0; m->rings && i < KJOULE_REGION_RINGS; i++)
		ring_forget_paths(&m->rings[i]);
	return m->rings ? 0 : -ENOMEM;
}

int kjoule_marks_read(struct kjoule_marks *marks, struct kjoule_regions *r, const void *batches,
		      size_t len)
{
	struct reading m = { .r = r, .marks = marks };
	int ret = rings_make(&m);

	if (!ret)
		ret = batches_decode(&m, batches, len);
	free(m.rings);
	return ret;
}
