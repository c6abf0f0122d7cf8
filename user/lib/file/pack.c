// SPDX-License-Identifier: GPL-2.0-or-later
/* Packs records of a ring, for record, and unpacks them, for readers; see pack.h. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/file/pack.h"

#define IS_SAMPLE	0x80
#define HAS_OTHER	0x40
#define LATE_SHIFT	4
#define FREQ_SHIFT	2

static uint8_t *packed_put_number(uint8_t *out, uint64_t v, unsigned int bytes)
{
	v = htole64(v);
	memcpy(out, &v, bytes);
	return out + bytes;
}

size_t kjoule_pack(struct kjoule_packer *p, const struct kjoule_record *rec, uint8_t *out)
{
	const struct kjoule_sample *s = (const struct kjoule_sample *)rec;
	uint8_t control = IS_SAMPLE, *at = out + 1;
	unsigned int late;
	int64_t ip;
	int32_t freq;

	if (rec->type != KJOULE_RECORD_SAMPLE || rec->size != sizeof(*s)) {
		out[0] = 0;
		memcpy(out + 1, rec, rec->size);
		return rec->size + 1;
	}
	if (rec->flags != p->last.rec.flags || s->tick != p->last.tick + 1) {
		control |= HAS_OTHER;
		*at++ = rec->flags;
		at = packed_put_number(at, s->tick - p->last.tick, 4);
	}
	late = s->delay_ns < 1u << 16 ? s->delay_ns >= 1u << 8 : s->delay_ns < 1u << 24 ? 2 : 3;
	control |= late << LATE_SHIFT;
	at = packed_put_number(at, s->delay_ns, late + 1);

	freq = s->freq_khz - p->last.freq_khz;
	if (freq == (int8_t)freq) {
		control |= (freq != 0) << FREQ_SHIFT;
		at = packed_put_number(at, freq, freq != 0);
	} else if (freq == (int16_t)freq) {
		control |= 2 << FREQ_SHIFT;
		at = packed_put_number(at, freq, 2);
	} else {
		control |= 3 << FREQ_SHIFT;
		at = packed_put_number(at, s->freq_khz, 4);
	}

	ip = s->ip - p->last.ip;
	if (ip == (int16_t)ip) {
		control |= ip != 0;
		at = packed_put_number(at, ip, ip ? 2 : 0);
	} else if (ip == (int32_t)ip) {
		control |= 2;
		at = packed_put_number(at, ip, 4);
	} else {
		control |= 3;
		at = packed_put_number(at, s->ip, 8);
	}
	out[0] = control;
	p->last = *s;
	return at - out;
}

static uint64_t packed_get_number(struct kjoule_unpacker *u, unsigned int bytes)
{
	uint64_t v = 0;

	if ((size_t)(u->end - u->at) < bytes) {
		u->bad = true;
		return 0;
	}
	memcpy(&v, u->at, bytes);
	u->at += bytes;
	return le64toh(v);
}

static const uint8_t freq_bytes[] = { 0, 1, 2, 4 }, ip_bytes[] = { 0, 2, 4, 8 };

static uint64_t number_sign_extend(uint64_t v, unsigned int bytes)
{
	unsigned int shift = 64 - 8 * bytes;

	return bytes ? (uint64_t)((int64_t)(v << shift) >> shift) : 0;
}

/* An item has no more than so many bytes. */
#define ITEM_MOST	24

/* The next bytes, if there are enough for any item. */
static inline uint64_t packed_get_fast(const uint8_t **at, unsigned int bytes)
{
	static const uint64_t masks[] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0, 0, 0,
					  UINT64_MAX };
	uint64_t v;

	memcpy(&v, *at, sizeof(v));
	*at += bytes;
	return le64toh(v) & masks[bytes];
}

/*
 * Most samples: fields are selected by masks, because every branch would be taken half of the
 * times. @at: after the control byte
 */
static inline const uint8_t *sample_unpack_fast(const uint8_t *at, uint8_t control,
						struct kjoule_sample *s)
{
	unsigned int freq = control >> FREQ_SHIFT & 3, ip = control & 3;
	uint64_t v;

	if (control & HAS_OTHER) {
		s->rec.flags = packed_get_fast(&at, 1);
		s->tick += packed_get_fast(&at, 4);
	} else {
		s->tick++;
	}
	s->delay_ns = packed_get_fast(&at, (control >> LATE_SHIFT & 3) + 1);
	v = number_sign_extend(packed_get_fast(&at, freq_bytes[freq]), freq_bytes[freq]);
	s->freq_khz = (freq == 3 ? 0 : s->freq_khz) + v;
	v = number_sign_extend(packed_get_fast(&at, ip_bytes[ip]), ip_bytes[ip]);
	s->ip = (ip == 3 ? 0 : s->ip) + v;
	return at;
}

/* Near the end. */
static void sample_unpack_slow(struct kjoule_unpacker *u, uint8_t control)
{
	unsigned int freq = control >> FREQ_SHIFT & 3, ip = control & 3;
	struct kjoule_sample *s = &u->last;
	uint64_t v;

	if (control & HAS_OTHER) {
		s->rec.flags = packed_get_number(u, 1);
		s->tick += packed_get_number(u, 4);
	} else {
		s->tick++;
	}
	s->delay_ns = packed_get_number(u, (control >> LATE_SHIFT & 3) + 1);
	v = number_sign_extend(packed_get_number(u, freq_bytes[freq]), freq_bytes[freq]);
	s->freq_khz = (freq == 3 ? 0 : s->freq_khz) + v;
	v = number_sign_extend(packed_get_number(u, ip_bytes[ip]), ip_bytes[ip]);
	s->ip = (ip == 3 ? 0 : s->ip) + v;
}

/* A record that was stored as it is, beginning with its size. */
static const struct kjoule_record *packed_raw_record(struct kjoule_unpacker *u)
{
	struct kjoule_record head;

	if ((size_t)(u->end - u->at) < sizeof(head)) {
		u->bad = true;
		return NULL;
	}
	memcpy(&head, u->at, sizeof(head));
	if (head.size < 8 || head.size % 8 || head.size > u->end - u->at) {
		u->bad = true;
		return NULL;
	}
	memcpy(u->record, u->at, head.size);
	u->at += head.size;
	return (const struct kjoule_record *)u->record;
}

void kjoule_unpack_begin(struct kjoule_unpacker *u, const void *data, size_t len)
{
	u->at = data;
	u->end = u->at + len;
	u->bad = false;
	memset(&u->last, 0, sizeof(u->last));
	u->last.rec.type = KJOULE_RECORD_SAMPLE;
	u->last.rec.size = sizeof(u->last);
}

const struct kjoule_record *kjoule_unpack_next(struct kjoule_unpacker *u)
{
	uint8_t control;

	if (u->at == u->end || u->bad)
		return NULL;
	control = *u->at++;
	if (!(control & IS_SAMPLE)) {
		u->bad = control;
		return u->bad ? NULL : packed_raw_record(u);
	}
	if (u->end - u->at >= ITEM_MOST)
		u->at = sample_unpack_fast(u->at, control, &u->last);
	else
		sample_unpack_slow(u, control);
	return u->bad ? NULL : &u->last.rec;
}

size_t kjoule_unpack_samples(struct kjoule_unpacker *u, struct kjoule_sample *out, size_t most)
{
	struct kjoule_sample last = u->last;	/* no other pointer to it exists */
	const uint8_t *at = u->at;
	size_t n = 0;

	while (n < most && u->end - at > ITEM_MOST && *at & IS_SAMPLE) {
		at = sample_unpack_fast(at + 1, *at, &last);
		out[n++] = last;
	}
	u->at = at;
	u->last = last;
	while (n < most && !u->bad && u->at != u->end && *u->at & IS_SAMPLE &&
	       kjoule_unpack_next(u))
		out[n++] = u->last;
	return n;
}

int kjoule_unpack(const uint8_t *data, size_t len, uint8_t **out, size_t *out_len)
{
	struct kjoule_unpacker *u = malloc(sizeof(*u));
	size_t room = 4 * len + sizeof(struct kjoule_sample);
	uint8_t *buf = malloc(room);
	const struct kjoule_record *rec;
	int ret = 0;

	*out = buf;
	*out_len = 0;
	if (!buf || !u) {
		ret = -ENOMEM;
		goto out;
	}
	kjoule_unpack_begin(u, data, len);
	while ((rec = kjoule_unpack_next(u))) {
		if (room - *out_len < rec->size) {
			room += room + rec->size;
			buf = realloc(*out, room);
			if (!buf) {
				ret = -ENOMEM;
				goto out;
			}
			*out = buf;
		}
		memcpy(*out + *out_len, rec, rec->size);
		*out_len += rec->size;
	}
	ret = u->bad ? -EBADMSG : 0;
out:
	free(u);
	if (ret == -ENOMEM) {
		free(*out);
		*out = NULL;
	}
	return ret;
}
