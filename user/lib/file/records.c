// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a CPU's records, from memory or chunk by chunk from the file; see records.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/control/ring.h"
#include "lib/file/pack.h"
#include "lib/file/records.h"

struct kjoule_records {
	const struct kjoule_stream *stream;
	size_t off;			/* in memory */
	bool ended;
	uint64_t bytes, damaged;
	/* in the file */
	struct kjoule_reader *reader;	/* NULL: in memory */
	size_t piece;			/* the next one */
	unsigned int chunks;		/* with invalid content */
	struct kjoule_lost lost;
	struct kjoule_unpacker unpacker;
};

int kjoule_records_open(const struct kjoule_recording *rec, const struct kjoule_stream *stream,
			struct kjoule_records **out)
{
	struct kjoule_records *r = calloc(1, sizeof(*r));
	int ret = 0;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->stream = stream;
	r->lost = (struct kjoule_lost){ .rec = { KJOULE_RECORD_LOST, KJOULE_LOST_IN_FILE,
						 sizeof(r->lost) } };
	if (rec->left_in_file)
		ret = kjoule_recording_reopen(rec, &r->reader);
	if (ret) {
		kjoule_records_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

static int records_next_in_memory(struct kjoule_records *r, const struct kjoule_record **out)
{
	int ret = r->ended ? 0 : kjoule_record_next(r->stream->records, r->stream->len,
						    &r->off, out);

	if (ret > 0)
		return ret;
	r->damaged += !r->ended && ret == -EBADMSG ? r->stream->len - r->off : 0;
	r->ended = true;
	return 0;
}

/* The next chunk; a record stands for missing ones. Return: as kjoule_records_next() */
static int records_next_piece(struct kjoule_records *r, const struct kjoule_record **out)
{
	const struct kjoule_piece *p;
	struct kjoule_chunk chunk;
	int ret;

	r->chunks += r->unpacker.bad;
	r->unpacker.bad = false;
	if (r->piece == r->stream->n_pieces) {
		if (!r->stream->hole || r->ended)
			return 0;
		r->ended = true;
		*out = &r->lost.rec;
		return 1;
	}
	p = &r->stream->pieces[r->piece++];
	ret = kjoule_reader_at(r->reader, p->offset, &chunk);
	if (ret)
		return ret;
	if (chunk.type != KJOULE_CHUNK_RING || chunk.cpu != r->stream->cpu)
		return -ESTALE;
	kjoule_unpack_begin(&r->unpacker, chunk.data, chunk.len);
	*out = p->hole ? &r->lost.rec : NULL;
	return 1;
}

int kjoule_records_next(struct kjoule_records *r, const struct kjoule_record **out)
{
	const struct kjoule_record *rec;
	size_t off;
	int ret;

	if (!r->reader)
		return records_next_in_memory(r, out);
	for (;;) {
		rec = kjoule_unpack_next(&r->unpacker);
		if (!rec) {
			ret = records_next_piece(r, &rec);
			if (ret <= 0)
				return ret;
			if (!rec)
				continue;
		}
		/* the packed content is valid */
		if (rec != &r->unpacker.last.rec) {
			off = 0;
			if (kjoule_record_next(rec, rec->size, &off, out) <= 0) {
				r->damaged += rec->size;
				continue;
			}
		}
		r->bytes += rec->size;
		*out = rec;
		return 1;
	}
}

size_t kjoule_records_samples(struct kjoule_records *r, struct kjoule_sample *out, size_t most)
{
	size_t n = r->reader ? kjoule_unpack_samples(&r->unpacker, out, most) : 0;

	r->bytes += n * sizeof(*out);
	return n;
}

uint64_t kjoule_records_damage(const struct kjoule_records *r, unsigned int *chunks)
{
	*chunks = r->chunks + r->unpacker.bad;
	return r->damaged;
}

uint64_t kjoule_records_bytes(const struct kjoule_records *r)
{
	return r->reader ? r->bytes : r->off;
}

void kjoule_records_close(struct kjoule_records *r)
{
	if (!r)
		return;
	kjoule_reader_close(r->reader);
	free(r);
}
