/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of a ring in fewer bytes, before zstd: successive samples are similar, so most of one is
 * predicted by the one before. Cheap, because the recorder shares a machine with what it records.
 *
 * A packed stream is a sequence of items:
 *
 *	0x00 record		a record as it is
 *	1 o ll ff ii		a sample (bits of one byte, highest first), then
 *	  o = 1: flags (1 byte), tick as difference to the sample before (4)
 *	  o = 0: flags as before, tick one later
 *	  ll: late_ns in ll + 1 bytes
 *	  ff: freq_khz, difference in 0, 1, 2 bytes (signed), or as it is in 4
 *	  ii: ip, difference in 0, 2, 4 bytes (signed), or as it is in 8
 *
 * Before the first sample all fields are 0. Multi-byte numbers are little endian.
 */
#ifndef KJOULE_PACK_H
#define KJOULE_PACK_H

#include <stdbool.h>
#include "lib/control/control.h"

/* An item takes at most so many bytes more than its record. */
#define KJOULE_PACK_SURPLUS	1

/* A packed byte becomes at most so many of records: the shortest item has two bytes. */
#define KJOULE_PACK_GROWTH	(sizeof(struct kjoule_sample) / 2)

struct kjoule_packer {
	struct kjoule_sample last;
};

/**
 * kjoule_pack() - one record
 * @p: zeroed at the beginning of a stream
 * @out: room for rec->size + KJOULE_PACK_SURPLUS bytes
 * Return: bytes written
 */
size_t kjoule_pack(struct kjoule_packer *p, const struct kjoule_record *rec, uint8_t *out);

/* State of unpacking. */
struct kjoule_unpacker {
	const uint8_t *at, *end;
	bool bad;			/* what came next was invalid */
	struct kjoule_sample last;
	uint64_t record[65536 / 8];	/* one that is no sample */
};

void kjoule_unpack_begin(struct kjoule_unpacker *u, const void *data, size_t len);
/**
 * kjoule_unpack_next() - Return: the next record, valid until the next call; NULL at the end and if
 * @bad
 */
const struct kjoule_record *kjoule_unpack_next(struct kjoule_unpacker *u);
/**
 * kjoule_unpack_samples() - successive samples, which most records are
 * @out: room for @most of them
 * Return: how many. If it is fewer, kjoule_unpack_next() returns what comes next, or the end
 */
size_t kjoule_unpack_samples(struct kjoule_unpacker *u, struct kjoule_sample *out, size_t most);

/**
 * kjoule_unpack() - a whole stream back to records
 * @out: the caller's to free
 * Return: 0, -EBADMSG if it is invalid (what was good before is in @out), -ENOMEM
 */
int kjoule_unpack(const uint8_t *in, size_t len, uint8_t **out, size_t *out_len);

#endif /* KJOULE_PACK_H */
