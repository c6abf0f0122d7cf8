// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader's side of a ring and the iteration over records, by the layout of
 * include/uapi/linux/kjoule.h. Invalid content is skipped and counted, never followed.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "lib/control/ring.h"

#define ALIGNED(n)	(((n) & 7) == 0)

/* Least size of a record of each type; unknown ones need a header and 8 bytes. */
static size_t record_least_size(unsigned int type)
{
	switch (type) {
	case KJOULE_RECORD_SAMPLE:
		return sizeof(struct kjoule_sample);
	case KJOULE_RECORD_TASK:
		return sizeof(struct kjoule_task);
	case KJOULE_RECORD_ENERGY:
		return sizeof(struct kjoule_energy);
	case KJOULE_RECORD_GAP:
		return sizeof(struct kjoule_gap);
	case KJOULE_RECORD_LOST:
		return sizeof(struct kjoule_lost);
	case KJOULE_RECORD_IDLE:
		return sizeof(struct kjoule_idle);
	case KJOULE_RECORD_VALUE:
		return sizeof(struct kjoule_value);
	case KJOULE_RECORD_CHAIN:
		return sizeof(struct kjoule_chain);
	case KJOULE_RECORD_STACK:
		return sizeof(struct kjoule_stack);
	case KJOULE_RECORD_WINDOW:
		return sizeof(struct kjoule_window);
	case KJOULE_RECORD_READING:
		/* which older ones do not have */
		return offsetof(struct kjoule_vpm_reading, busy_ns);
	case KJOULE_RECORD_DURATION:
		return sizeof(struct kjoule_duration);
	default:
		return 8;
	}
}

/* Checks lengths inside of a record. */
static bool record_holds_content(const struct kjoule_record *r)
{
	const struct kjoule_energy *e = (const struct kjoule_energy *)r;
	const struct kjoule_chain *c = (const struct kjoule_chain *)r;
	const struct kjoule_stack *s = (const struct kjoule_stack *)r;

	switch (r->type) {
	case KJOULE_RECORD_ENERGY:
		return r->size >= sizeof(*e) + 8u * __builtin_popcount(e->domains);
	case KJOULE_RECORD_CHAIN:
		return r->size >= sizeof(*c) + 8u * ((size_t)c->kernel + c->user);
	case KJOULE_RECORD_STACK:
		return r->size - sizeof(*s) >= s->bytes;
	}
	return true;
}

int kjoule_record_next(const void *buf, size_t len, size_t *off, const struct kjoule_record **rec)
{
	const struct kjoule_record *r;

	if (*off >= len)
		return 0;
	if (len - *off < 8)
		return -EBADMSG;
	r = (const struct kjoule_record *)((const char *)buf + *off);
	if (!ALIGNED(r->size) || r->size < record_least_size(r->type) || r->size > len - *off)
		return -EBADMSG;
	if (!record_holds_content(r))
		return -EBADMSG;
	*rec = r;
	*off += r->size;
	return 1;
}

/* Take the pads out of @len bytes of records. Return: bytes left, *@bad if it broke off. */
static size_t records_strip_pads(uint8_t *buf, size_t len, bool *bad)
{
	const struct kjoule_record *rec;
	size_t off = 0, out = 0;
	int ret;

	while ((ret = kjoule_record_next(buf, len, &off, &rec)) > 0) {
		size_t size = rec->size;

		if (rec->type == KJOULE_RECORD_PAD)
			continue;
		if (out != off - size)
			memmove(buf + out, rec, size);
		out += size;
	}
	*bad = ret < 0;
	return out;
}

/*
 * How many of @len bytes are whole records, where the reader has no room for more. Return: bytes,
 * or @len if it breaks off (records_strip_pads() will find out).
 */
static uint64_t records_whole_bytes(const uint8_t *data, uint64_t size, uint64_t pos, uint64_t len)
{
	uint64_t off = 0;

	while (off < len) {
		struct kjoule_record rec;

		if (len - off < sizeof(rec))
			break;
		memcpy(&rec, data + ((pos + off) & (size - 1)), sizeof(rec));
		if (!rec.size || !ALIGNED(rec.size) || rec.size > len - off)
			break;
		off += rec.size;
	}
	return off ? off : len;
}

int kjoule_ring_drain(struct kjoule_ring_reader *ring, void *buf, size_t len, size_t *used)
{
	/* C, pairs with B */
	uint64_t head = __atomic_load_n(&ring->head->head, __ATOMIC_ACQUIRE);
	uint64_t wait = head - ring->pos, n, first;
	bool bad;

	*used = 0;
	if (!wait)
		return 0;
	if (wait > ring->size || !ALIGNED(head) || !ALIGNED(ring->pos)) {
		/* Never seen from our module: start again at its head. */
		ring->damaged++;
		ring->pos = head;
		__atomic_store_n(&ring->tail->tail, head, __ATOMIC_RELEASE);
		return -EBADMSG;
	}
	n = wait;
	if (n > len)
		n = records_whole_bytes(ring->data, ring->size, ring->pos, len & ~7ull);
	first = ring->size - (ring->pos & (ring->size - 1));
	if (first > n)
		first = n;
	memcpy(buf, ring->data + (ring->pos & (ring->size - 1)), first);
	memcpy((char *)buf + first, ring->data, n - first);
	*used = records_strip_pads(buf, n, &bad);
	if (bad) {
		ring->damaged++;
		n = wait;	/* record borders are lost up to the head */
	}
	ring->pos += n;
	/* D, pairs with A */
	__atomic_store_n(&ring->tail->tail, ring->pos, __ATOMIC_RELEASE);
	if (bad)
		return -EBADMSG;
	return n < wait;
}
