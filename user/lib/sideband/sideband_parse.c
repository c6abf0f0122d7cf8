// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes perf's sideband records as requested by sideband.c: each ends with the thread, the time
 * and the CPU (sample_id_all). Lengths are checked, and that names end.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include "lib/sideband/sideband.h"

#define ID_SIZE		24	/* pid, tid, time, cpu, reserved */

/* In place of a file's device and inode, with PERF_RECORD_MISC_MMAP_BUILD_ID. */
/* its length, three bytes of padding, and then room for the longest */
#define BUILD_ID_AT	40
#define BUILD_ID_MOST	20

/* A zero terminated string inside [@at, @end) of the record. */
static const char *record_text_at(const uint8_t *r, size_t at, size_t end)
{
	if (at >= end || !memchr(r + at, 0, end - at))
		return NULL;
	return (const char *)r + at;
}

static uint32_t record_u32_at(const uint8_t *r, size_t at)
{
	uint32_t v;

	memcpy(&v, r + at, sizeof(v));
	return v;
}

static uint64_t record_u64_at(const uint8_t *r, size_t at)
{
	uint64_t v;

	memcpy(&v, r + at, sizeof(v));
	return v;
}

static int record_parse_map(const struct perf_event_header *h, const uint8_t *r, size_t body,
			    struct kjoule_event *e)
{
	bool two = h->type == PERF_RECORD_MMAP2;
	size_t name = two ? 72 : 40;

	if (body < name)
		return -EBADMSG;
	e->type = KJOULE_EVENT_MAP;
	e->pid = record_u32_at(r, 8);
	e->tid = record_u32_at(r, 12);
	e->start = record_u64_at(r, 16);
	e->len = record_u64_at(r, 24);
	e->offset = record_u64_at(r, 32);
	e->text = record_text_at(r, name, body);
	if (two && h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && r[BUILD_ID_AT] &&
	    r[BUILD_ID_AT] <= BUILD_ID_MOST) {
		e->build_id_len = r[BUILD_ID_AT];
		e->build_id = r + BUILD_ID_AT + 4;
	} else if (two) {
		e->device = (uint64_t)record_u32_at(r, 40) << 32 | record_u32_at(r, 44);
		e->inode = record_u64_at(r, 48);
	}
	return e->text ? 0 : -EBADMSG;
}

static int record_parse_body(const struct perf_event_header *h, const uint8_t *r, size_t body,
			     struct kjoule_event *e)
{
	switch (h->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return record_parse_map(h, r, body, e);
	case PERF_RECORD_COMM:
		if (body < 17)
			return -EBADMSG;
		e->type = KJOULE_EVENT_COMM;
		e->pid = record_u32_at(r, 8);
		e->tid = record_u32_at(r, 12);
		e->exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;
		e->text = record_text_at(r, 16, body);
		return e->text ? 0 : -EBADMSG;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (body < 32)
			return -EBADMSG;
		e->type = h->type == PERF_RECORD_FORK ? KJOULE_EVENT_FORK : KJOULE_EVENT_EXIT;
		e->pid = record_u32_at(r, 8);
		e->ppid = record_u32_at(r, 12);
		e->tid = record_u32_at(r, 16);
		e->ptid = record_u32_at(r, 20);
		return 0;
	case PERF_RECORD_LOST:
		if (body < 24)
			return -EBADMSG;
		e->type = KJOULE_EVENT_LOST;
		e->lost = record_u64_at(r, 16);
		return 0;
	}
	return 0;
}

int kjoule_event_next(const void *buf, size_t len, size_t *off, struct kjoule_event *e)
{
	struct perf_event_header h;
	const uint8_t *r;
	int ret;

	if (*off >= len)
		return 0;
	if (len - *off < sizeof(h))
		return -EBADMSG;
	r = (const uint8_t *)buf + *off;
	memcpy(&h, r, sizeof(h));
	if (h.size < sizeof(h) + ID_SIZE || h.size % 8 || h.size > len - *off)
		return -EBADMSG;
	memset(e, 0, sizeof(*e));
	e->type = KJOULE_EVENT_OTHER;
	e->perf_type = h.type;
	e->pid = record_u32_at(r, h.size - 24);
	e->tid = record_u32_at(r, h.size - 20);
	e->time_ns = record_u64_at(r, h.size - 16);
	e->cpu = record_u32_at(r, h.size - 8);
	ret = record_parse_body(&h, r, h.size - ID_SIZE, e);
	if (ret)
		return ret;
	*off += h.size;
	return 1;
}
