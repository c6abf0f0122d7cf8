// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer's mutator for data files: changes what is in the chunks, record by record
 * where there are records, and puts the file together again with right checksums. Knows
 * how records are separated, by size, and not what types there are, so that new types
 * need nothing here. Linked into the datafile target only.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "fuzz/user/chunks.h"
#include "fuzz/user/target.h"
#include "lib/file/pack.h"
#include "lib/region/mark_ring.h"

#define TYPES		16	/* record types that are tried: those there are, and some to come */
#define MOST		(4u << 20)	/* bytes of a chunk */

size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t room, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len,
				 uint8_t *out, size_t room, unsigned int seed);

static uint64_t random_state;

static uint64_t any(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint64_t below(uint64_t n)
{
	return n ? any() % n : 0;
}

/* Numbers at which something may go wrong, and others. */
static uint64_t number(void)
{
	static const uint64_t edges[] = { 0, 1, 7, 8, 255, 1000, 65535, 65536, 1000000, 0x7fffffff,
		0x80000000, 0xffffffff, 0x100000000, 1000000000, 1ull << 62, INT64_MAX,
		1ull << 63, UINT64_MAX - 1, UINT64_MAX };

	switch (below(4)) {
	case 0:
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return below(64);
	case 2:
		return any() >> below(64);
	default:
		return -below(64);
	}
}

struct bytes {
	uint8_t *data;
	size_t len, room;
};

static void reserve(struct bytes *b, size_t more)
{
	if (b->room - b->len >= more)
		return;
	b->room = 2 * (b->room + more);
	b->data = realloc(b->data, b->room);
	if (!b->data)
		abort();
}

/* Replace [at, at + len) by @n bytes of @data. */
static void splice(struct bytes *b, size_t at, size_t len, const void *data, size_t n)
{
	uint8_t *copy = malloc(n + 1);

	if (!copy)
		abort();
	if (n)
		memcpy(copy, data, n);	/* @data may be in @b */
	reserve(b, n + 8);
	memmove(b->data + at + n, b->data + at + len, b->len - at - len);
	memcpy(b->data + at, copy, n);
	b->len += n - len;
	free(copy);
}

/* Size of the record at @at as its kind tells it; what is left where that makes no sense. */
typedef size_t (*size_of)(const uint8_t *rec);

static size_t ring_size(const uint8_t *rec)
{
	struct kjoule_record r;

	memcpy(&r, rec, sizeof(r));
	return r.size;
}

static size_t perf_size(const uint8_t *rec)
{
	struct perf_event_header h;

	memcpy(&h, rec, sizeof(h));
	return h.size;
}

static size_t awake_size(const uint8_t *rec)
{
	(void)rec;
	return sizeof(struct kjoule_wakeup);
}

static size_t unit_size(const uint8_t *rec)
{
	(void)rec;
	return sizeof(struct kjoule_region_unit);
}

/* Some record. Return: its size, 0 if there is none */
static size_t pick(const struct bytes *b, size_of size, size_t *at)
{
	size_t off = 0, n = 0, found = 0;

	while (b->len - off >= 8) {
		size_t len = size(b->data + off);

		if (len < 8 || len > b->len - off)
			len = b->len - off;
		if (!below(++n)) {
			*at = off;
			found = len;
		}
		off += len;
	}
	return found;
}

static void change_field(uint8_t *rec, size_t len)
{
	size_t width = 1u << below(4), at = below(len / width) * width;
	uint64_t v = 0;

	if (width > len)
		return;
	memcpy(&v, rec + at, width);
	v = below(3) ? number() : below(2) ? v + number() : v ^ 1ull << below(64);
	memcpy(rec + at, &v, width);
}

/* A record of a type that may not even be there, as large as it likes. */
static void insert_ring_record(struct bytes *b, size_t at)
{
	uint64_t words[64];
	struct kjoule_record rec = { below(TYPES), any(), 8 * (1 + below(below(8) ? 8 : 64)) };

	for (size_t i = 0; i < 64; i++)
		words[i] = below(2) ? number() : 0;
	memcpy(words, &rec, sizeof(rec));
	splice(b, at, 0, words, rec.size);
}

static void insert_perf_record(struct bytes *b, size_t at)
{
	static const uint8_t types[] = { PERF_RECORD_MMAP, PERF_RECORD_LOST, PERF_RECORD_COMM,
		PERF_RECORD_EXIT, PERF_RECORD_FORK, PERF_RECORD_MMAP2, 99 };
	uint32_t words[64] = { 0 };
	struct perf_event_header h = { types[below(sizeof(types))], below(2) ? any() : 0,
				       8 * (4 + below(16)) };

	for (size_t i = 2; i < 64; i++)
		words[i] = below(3) ? 100 + below(3) : number();
	memcpy(words, &h, sizeof(h));
	splice(b, at, 0, words, h.size);
}

/* The record again and again; in a ring the second word, the tick, goes on. */
static void repeat(struct bytes *b, size_t at, size_t len, bool ticks)
{
	/* mostly few: bombs are slow to look at */
	size_t n = 1 + below(1ull << below(below(100) ? 9 : 20));
	uint32_t tick, more = below(2) ? 1 : number();
	uint8_t *many;

	if (n * len > MOST)
		n = MOST / len;
	many = malloc(n * len + 1);
	if (!many)
		abort();
	for (size_t i = 0; i < n; i++) {
		memcpy(many + i * len, b->data + at, len);
		if (!ticks)
			continue;
		memcpy(&tick, b->data + at + 4, 4);
		tick += (i + 1) * more;
		memcpy(many + i * len + 4, &tick, 4);
	}
	splice(b, at + len, 0, many, n * len);
	free(many);
}

static void mutate_records(struct bytes *b, size_of size)
{
	size_t at = 0, len = pick(b, size, &at), other, other_len;

	switch (below(7)) {
	case 0:
		if (size == ring_size)
			insert_ring_record(b, at + len);
		else if (size == perf_size)
			insert_perf_record(b, at + len);
		break;
	case 1:
		splice(b, at, len, NULL, 0);
		break;
	case 2:
		if (len)
			repeat(b, at, len, size == ring_size && below(4));
		break;
	case 3:
		other_len = pick(b, size, &other);
		if (len && other_len)
			splice(b, at, 0, b->data + other, other_len);
		break;
	default:
		if (len)
			change_field(b->data + at, len);
		break;
	}
}

/* Records, as they are before they are packed. */
static void mutate_ring(struct bytes *b)
{
	struct kjoule_packer packer = { 0 };
	const struct kjoule_record *rec;
	uint8_t item[65536 + KJOULE_PACK_SURPLUS + 8];
	struct bytes raw = { 0 };
	size_t off = 0, len;
	uint8_t *records;

	if (kjoule_unpack(b->data, b->len, &records, &len) == -12)
		return;
	splice(&raw, 0, 0, records, len);
	free(records);
	for (unsigned int n = 1 + below(4); n; n--)
		mutate_records(&raw, ring_size);
	b->len = 0;
	for (; raw.len - off >= 8; off += rec->size) {
		rec = (const struct kjoule_record *)(raw.data + off);
		if (rec->size < 8 || rec->size % 8 || rec->size > raw.len - off)
			break;
		len = kjoule_pack(&packer, rec, item);
		splice(b, b->len, 0, item, len);
	}
	free(raw.data);
}

/* The units of some batch of marks, which keeps saying how many there are; or that changes. */
static void mutate_regions(struct bytes *b)
{
	struct kjoule_region_batch batch, found;
	struct bytes units = { 0 };
	size_t at = 0, off = 0, n = 0, len;

	for (; b->len - off >= sizeof(batch); off += sizeof(batch) + len) {
		memcpy(&batch, b->data + off, sizeof(batch));
		len = batch.units * sizeof(struct kjoule_region_unit);
		if (len > b->len - off - sizeof(batch))
			break;
		if (!below(++n)) {
			at = off;
			found = batch;
		}
	}
	if (!n)
		return;
	if (!below(4)) {
		change_field(b->data + at, sizeof(batch));
		return;
	}
	len = found.units * sizeof(struct kjoule_region_unit);
	splice(&units, 0, 0, b->data + at + sizeof(batch), len);
	for (n = 1 + below(4); n; n--)
		mutate_records(&units, unit_size);
	found.units = units.len / sizeof(struct kjoule_region_unit);
	memcpy(b->data + at, &found, sizeof(found));
	splice(b, at + sizeof(batch), len, units.data, units.len);
	free(units.data);
}

/* A number in a text becomes another. */
static void mutate_number(struct bytes *b)
{
	static const char *const texts[] = { "-1", "1e308", "-1e308", "1e-308", "NaN", "Infinity",
		"-Infinity", "0", "null", "true", "\"\"", "{}", "[]", "0.5", "18446744073709551615",
		"-9223372036854775808", "4095", "4096", "999", "1000", "3600000000000",
		"\"\\u001b[2J\"", "\"\\u0000\"", "\"\xff\"" };
	size_t at = 0, n = 0, len;
	char text[32];

	for (size_t i = 0; i < b->len; i++)
		if (strchr("0123456789", b->data[i]) && b->data[i] &&
		    (!i || !strchr("0123456789.-", b->data[i - 1])) && !below(++n))
			at = i;
	if (!n)
		return;
	for (len = 1; at + len < b->len && strchr("0123456789.eE", b->data[at + len]) &&
	     b->data[at + len]; len++)
		;
	if (below(2))
		snprintf(text, sizeof(text), "%llu", (unsigned long long)number());
	else
		strcpy(text, texts[below(sizeof(texts) / sizeof(texts[0]))]);
	splice(b, at, len, text, strlen(text));
}

/* A piece of the text again and again. */
static void repeat_text(struct bytes *b)
{
	size_t at = below(b->len), len = 1 + below(b->len - at < 200 ? b->len - at : 200);

	if (b->len - at >= len && b->len)
		repeat(b, at, len, false);
}

static void mutate_bytes(struct bytes *b)
{
	reserve(b, 4096);
	b->len = LLVMFuzzerMutate(b->data, b->len, b->len + 256);
}

static void mutate_content(struct chunk *c)
{
	struct bytes b = { 0 };

	splice(&b, 0, 0, c->data, c->len);
	switch (c->opaque ? 0 : c->head.type) {
	case KJOULE_CHUNK_RING:
		below(8) ? mutate_ring(&b) : mutate_bytes(&b);
		break;
	case KJOULE_CHUNK_SIDE_BAND:
		below(8) ? mutate_records(&b, perf_size) : mutate_bytes(&b);
		break;
	case KJOULE_CHUNK_REGIONS:
		below(8) ? mutate_regions(&b) : mutate_bytes(&b);
		break;
	case KJOULE_CHUNK_WAKEUPS:
		below(4) ? mutate_records(&b, awake_size) : mutate_bytes(&b);
		break;
	default:
		if (below(2))
			mutate_number(&b);
		else if (below(8) || !b.len)
			mutate_bytes(&b);
		else
			repeat_text(&b);
		break;
	}
	if (b.len <= MOST)
		chunk_set(c, b.data, b.len);
	free(b.data);
}

static void mutate_chunks(struct chunks *c)
{
	size_t at = below(c->n), to = below(c->n + 1);
	struct chunk copy;

	if (!c->n) {
		chunks_insert(c, 0, 1 + below(12), below(4), "", 0);
		return;
	}
	copy = c->list[at];
	switch (below(16)) {
	case 0:
		chunks_remove(c, at);
		break;
	case 1:
		chunks_insert(c, to, copy.head.type, copy.head.cpu, copy.data, copy.len);
		break;
	case 2:
		c->list[at].head.type = below(12);
		break;
	case 3:
		c->list[at].head.cpu = below(2) ? below(8) : number();
		break;
	case 4:
		c->list[at].head.sequence = number();
		break;
	case 5:
		/* another CPU does the same */
		chunks_insert(c, to, KJOULE_CHUNK_RING, below(4), copy.data, copy.len);
		break;
	default:
		mutate_content(&c->list[at]);
		break;
	}
	if (below(8))
		for (size_t i = 0; i < c->n; i++)
			c->list[i].head.sequence = i;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t room, unsigned int seed)
{
	struct chunks c;
	size_t n;

	random_state = seed;
	/* now and then the file's own bytes: damage */
	if (!below(12) || chunks_decode(data, len, &c))
		return LLVMFuzzerMutate(data, len, room);
	for (unsigned int times = 1 + below(3); times; times--)
		mutate_chunks(&c);
	n = chunks_encode(&c, data, room);
	chunks_free(&c);
	return n ? n : LLVMFuzzerMutate(data, len < room ? len : room, room);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len,
				 uint8_t *out, size_t room, unsigned int seed)
{
	struct chunks c, d;
	size_t n;

	random_state = seed;
	if (chunks_decode(a, a_len, &c))
		return 0;
	if (chunks_decode(b, b_len, &d)) {
		chunks_free(&c);
		return 0;
	}
	for (unsigned int times = 1 + below(3); times && d.n; times--) {
		const struct chunk *from = &d.list[below(d.n)];

		chunks_insert(&c, below(c.n + 1), from->head.type, from->head.cpu, from->data,
			      from->len);
	}
	for (size_t i = 0; i < c.n; i++)
		c.list[i].head.sequence = i;
	n = chunks_encode(&c, out, room);
	chunks_free(&c);
	chunks_free(&d);
	return n;
}
