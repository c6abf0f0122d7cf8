/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a CPU one after another, whether they are in memory or still in the file.
 */
#ifndef KJOULE_RECORDS_H
#define KJOULE_RECORDS_H

#include "lib/file/recording.h"

struct kjoule_records;

/** kjoule_records_open() - the recording must stay. Return: 0, or as kjoule_reader_open() */
int kjoule_records_open(const struct kjoule_recording *rec, const struct kjoule_stream *stream,
			struct kjoule_records **r);
/**
 * kjoule_records_next() - the next one
 * @out: until the next call if the records are left in the file
 * Return: 1; 0 at the end; -ESTALE if the file has changed; -ENOMEM, or -errno of reading
 */
int kjoule_records_next(struct kjoule_records *r, const struct kjoule_record **out);
/**
 * kjoule_records_samples() - the next successive samples that are in memory
 * @out: room for @most of them
 * Return: how many; 0: kjoule_records_next() returns what comes next, which may be a sample as well
 */
size_t kjoule_records_samples(struct kjoule_records *r, struct kjoule_sample *out, size_t most);
/** kjoule_records_damage() - so far: bytes that were no record, and invalid chunks */
uint64_t kjoule_records_damage(const struct kjoule_records *r, unsigned int *chunks);
/** kjoule_records_bytes() - of the records so far */
uint64_t kjoule_records_bytes(const struct kjoule_records *r);
void kjoule_records_close(struct kjoule_records *r);

#endif /* KJOULE_RECORDS_H */
