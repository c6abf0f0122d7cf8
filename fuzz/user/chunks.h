/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A data file taken apart into chunks whose content can be changed, and put together
 * again with right checksums: what lets mutations get behind them. For the mutator and
 * the makers of seeds; knows the format of lib/file/datafile.h and nothing of what is in a chunk.
 */
#ifndef KJOULE_FUZZ_CHUNKS_H
#define KJOULE_FUZZ_CHUNKS_H

#include "lib/file/datafile.h"

struct chunk {
	struct kjoule_chunk_header head;
	uint8_t *data;
	size_t len;
	bool opaque;		/* @data are bytes of the file in which there is no chunk */
};

struct chunks {
	size_t n, room;
	struct chunk *list;
};

/** chunks_decode() - Return: 0, -EBADMSG if it does not begin as a data file */
int chunks_decode(const uint8_t *file, size_t len, struct chunks *c);
/** chunks_encode() - Return: bytes, 0 if it does not fit into @room */
size_t chunks_encode(const struct chunks *c, uint8_t *out, size_t room);
/** chunks_insert() - a copy of @data as a new chunk before the @at-th */
struct chunk *chunks_insert(struct chunks *c, size_t at, unsigned int type, uint32_t cpu,
			    const void *data, size_t len);
void chunks_remove(struct chunks *c, size_t at);
/** chunk_set() - other content, copied */
void chunk_set(struct chunk *c, const void *data, size_t len);
void chunks_free(struct chunks *c);

#endif /* KJOULE_FUZZ_CHUNKS_H */
