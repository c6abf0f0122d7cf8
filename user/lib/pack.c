// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs records of a ring and unpacks them; see pack.h. record packs, the loader
 * of recordings unpacks.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "pack.h"

#define IS_SAMPLE	0x80
#define HAS_OTHER	0x40
#define LATE_SHIFT	4
#define FREQ_SHIFT	2

static uint8_t *put(uint8_t *out, uint64_t v, unsigned int bytes)
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
		at = put(at, s->tick - p->last.tick, 4);
	}
	late = s->late_ns < 1u << 16 ? s->late_ns >= 1u << 8 : s->late_ns < 1u << 24 ? 2 : 3;
	control |= late << LATE_SHIFT;
	at = put(at, s->late_ns, late + 1);

	freq = s->freq_khz - p->last.freq_khz;
	if (freq == (int8_t)freq) {
		control |= (freq != 0) << FREQ_SHIFT;
		at = put(at, freq, freq != 0);
	} else if (freq == (int16_t)freq) {
		control |= 2 << FREQ_SHIFT;
		at = put(at, freq, 2);
	} else {
		control |= 3 << FREQ_SHIFT;
		at = put(at, s->freq_khz, 4);
	}

	ip = s->ip - p->last.ip;
	if (ip == (int16_t)ip) {
		control |= ip != 0;
		at = put(at, ip, ip ? 2 : 0);
	} else if (ip == (int32_t)ip) {
		control |= 2;
		at = put(at, ip, 4);
	} else {
		control |= 3;
		at = put(at, s->ip, 8);
	}
	out[0] = control;
	p->last = *s;
	return at - out;
}

/* Where unpacking reads; NULL when it would go past the end. */
struct input {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t get(struct input *in, unsigned int bytes)
{
	uint64_t v = 0;

	if ((size_t)(in->end - in->at) < bytes) {
		in->bad = true;
		return 0;
	}
	memcpy(&v, in->at, bytes);
	in->at += bytes;
	return le64toh(v);
}

static uint64_t get_signed(struct input *in, unsigned int bytes)
{
	unsigned int shift = 64 - 8 * bytes;

	return bytes ? (uint64_t)((int64_t)(get(in, bytes) << shift) >> shift) : 0;
}

static void unpack_sample(struct input *in, uint8_t control, struct kjoule_sample *s)
{
	static const uint8_t freq_bytes[] = { 0, 1, 2, 4 }, ip_bytes[] = { 0, 2, 4, 8 };
	unsigned int freq = control >> FREQ_SHIFT & 3, ip = control & 3;

	if (control & HAS_OTHER) {
		s->rec.flags = get(in, 1);
		s->tick += get(in, 4);
	} else {
		s->tick++;
	}
	s->late_ns = get(in, (control >> LATE_SHIFT & 3) + 1);
	if (freq == 3)
		s->freq_khz = get(in, 4);
	else
		s->freq_khz += get_signed(in, freq_bytes[freq]);
	if (ip == 3)
		s->ip = get(in, 8);
	else
		s->ip += get_signed(in, ip_bytes[ip]);
}

/* A record that was kept as it is: its size is at its beginning. */
static const struct kjoule_record *raw_record(struct input *in, struct kjoule_record *head)
{
	const uint8_t *at = in->at;

	if ((size_t)(in->end - at) < sizeof(*head)) {
		in->bad = true;
		return NULL;
	}
	memcpy(head, at, sizeof(*head));
	if (head->size < 8 || head->size % 8 || head->size > in->end - at) {
		in->bad = true;
		return NULL;
	}
	in->at += head->size;
	return (const struct kjoule_record *)at;
}

int kjoule_unpack(const uint8_t *data, size_t len, uint8_t **out, size_t *out_len)
{
	struct kjoule_sample s = { .rec = { KJOULE_RECORD_SAMPLE, 0, sizeof(s) } };
	struct input in = { data, data + len, false };
	size_t room = 4 * len + sizeof(s);
	uint8_t *buf = malloc(room);

	*out = buf;
	*out_len = 0;
	if (!buf)
		return -ENOMEM;
	while (in.at < in.end && !in.bad) {
		uint8_t control = *in.at++;
		struct kjoule_record head = s.rec;
		const void *rec = &s;

		if (control & IS_SAMPLE)
			unpack_sample(&in, control, &s);
		else if (!control)
			rec = raw_record(&in, &head);
		else
			in.bad = true;
		if (in.bad)
			break;
		if (room - *out_len < head.size) {
			room += room + head.size;
			buf = realloc(*out, room);
			if (!buf) {
				free(*out);
				*out = NULL;
				return -ENOMEM;
			}
			*out = buf;
		}
		memcpy(*out + *out_len, rec, head.size);
		*out_len += head.size;
	}
	return in.bad ? -EBADMSG : 0;
}
