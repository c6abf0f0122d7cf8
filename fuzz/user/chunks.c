// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data files as lists of chunks; see chunks.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "fuzz/user/chunks.h"

#define CONTENT_MOST	(8u << 20)	/* what a mutation works on */

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

struct chunk *chunks_insert(struct chunks *c, size_t at, unsigned int type, uint32_t cpu,
			    const void *data, size_t len)
{
	struct chunk *new;

	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 16;
		c->list = must(realloc(c->list, c->room * sizeof(*c->list)));
	}
	memmove(c->list + at + 1, c->list + at, (c->n - at) * sizeof(*c->list));
	c->n++;
	new = &c->list[at];
	*new = (struct chunk){ .head = { .magic = KJOULE_CHUNK_MAGIC, .type = type, .cpu = cpu,
					 .sequence = at } };
	chunk_set(new, data, len);
	return new;
}

void chunks_remove(struct chunks *c, size_t at)
{
	free(c->list[at].data);
	c->n--;
	memmove(c->list + at, c->list + at + 1, (c->n - at) * sizeof(*c->list));
}

void chunk_set(struct chunk *c, const void *data, size_t len)
{
	uint8_t *copy = must(malloc(len + 1));

	if (len)
		memcpy(copy, data, len);
	free(c->data);
	c->data = copy;
	c->len = len;
}

/* The chunk at the beginning of @file. Return: bytes that it takes, 0 if there is none */
static size_t decode_one(struct chunks *c, const uint8_t *file, size_t len)
{
	struct kjoule_chunk_header h;
	struct chunk *new;
	uint8_t *content;
	size_t n;

	if (len < sizeof(h))
		return 0;
	memcpy(&h, file, sizeof(h));
	if (h.magic != KJOULE_CHUNK_MAGIC || h.stored_len > len - sizeof(h) ||
	    h.raw_len > CONTENT_MOST)
		return 0;
	content = must(malloc(h.raw_len + 1ul));
	n = ZSTD_decompress(content, h.raw_len, file + sizeof(h), h.stored_len);
	if (ZSTD_isError(n)) {
		free(content);
		return 0;
	}
	new = chunks_insert(c, c->n, h.type, h.cpu, content, n);
	new->head = h;
	free(content);
	n = (sizeof(h) + h.stored_len + 7) & ~(size_t)7;
	return n < len ? n : len;
}

int chunks_decode(const uint8_t *file, size_t len, struct chunks *c)
{
	size_t at = sizeof(struct kjoule_file_header), opaque = at;

	memset(c, 0, sizeof(*c));
	if (len < at || memcmp(file, KJOULE_FILE_MAGIC, 8))
		return -EBADMSG;
	while (at < len) {
		size_t before = c->n, n = decode_one(c, file + at, len - at);

		if (!n) {
			at += len - at < 8 ? len - at : 8;
			if (at < len)
				continue;
		}
		/* what was passed over comes before what was found */
		if (opaque < at) {
			size_t end = n ? at : len;

			chunks_insert(c, before, 0, 0, file + opaque, end - opaque)->opaque = true;
		}
		at += n;
		opaque = at;
	}
	return 0;
}

static size_t encode_one(const struct chunk *c, uint8_t *out, size_t room)
{
	size_t bound = ZSTD_compressBound(c->len), n, total;
	struct kjoule_chunk_header h = c->head;
	uint8_t *frame;

	if (c->opaque) {
		if (c->len > room)
			return 0;
		memcpy(out, c->data, c->len);
		return c->len;
	}
	frame = must(malloc(bound));
	n = ZSTD_compress(frame, bound, c->data, c->len, 1);
	total = (sizeof(h) + n + 7) & ~(size_t)7;
	if (ZSTD_isError(n) || total > room) {
		free(frame);
		return 0;
	}
	h.raw_len = c->len;
	h.stored_len = n;
	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_chunk_header, checksum));
	memset(out, 0, total);
	memcpy(out, &h, sizeof(h));
	memcpy(out + sizeof(h), frame, n);
	free(frame);
	return total;
}

size_t chunks_encode(const struct chunks *c, uint8_t *out, size_t room)
{
	struct kjoule_file_header h = {
		.magic = KJOULE_FILE_MAGIC,
		.byte_order = KJOULE_FILE_BYTE_ORDER,
		.major = KJOULE_FILE_MAJOR,
		.minor = KJOULE_FILE_MINOR,
	};
	size_t at = sizeof(h);

	if (room < sizeof(h))
		return 0;
	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_file_header, checksum));
	memcpy(out, &h, sizeof(h));
	for (size_t i = 0; i < c->n; i++) {
		size_t n = encode_one(&c->list[i], out + at, room - at);

		if (!n && (c->list[i].len || !c->list[i].opaque))
			return 0;
		at += n;
	}
	return at;
}

void chunks_free(struct chunks *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->list[i].data);
	free(c->list);
	memset(c, 0, sizeof(*c));
}
