/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up recordings with a known truth, for the tests: records of a program that
 * runs blocks of known power, and data files around them.
 */
#ifndef KJOULE_TEST_SYNTHETIC_H
#define KJOULE_TEST_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>
#include "kjoule.h"
#include "meta.h"

struct buffer {
	uint8_t *data;
	size_t len, room;
};

void put_bytes(struct buffer *b, const void *data, size_t len);
void put_sample(struct buffer *b, uint32_t tick, uint64_t ip, uint32_t flags, uint32_t khz,
		uint32_t late_ns);
void put_task(struct buffer *b, uint32_t pid, uint32_t tgid);
/* domains is a mask; as many values as it has bits */
void put_energy(struct buffer *b, uint32_t tick, uint32_t domains, const uint64_t *uj);
void put_gap(struct buffer *b, uint32_t tick, uint64_t count);
void put_lost(struct buffer *b, uint32_t tick, uint64_t records, uint64_t samples);

/* A meta of @n_cpus CPUs in one package, an energy source "test" with package and core. */
void make_meta(struct kjoule_meta *meta, uint32_t n_cpus, uint64_t interval_ns, uint32_t target);

/*
 * write_recording() - a data file: meta, @n streams (CPU 0 on) in chunks of some
 * kilobytes, side band that maps @exe as process 100, stats, calibration, end.
 */
void write_recording(const char *path, const struct kjoule_meta *meta, const struct buffer *streams,
		     uint32_t n, const char *exe, uint64_t end_tick);

/* A file's content; the caller frees it. */
uint8_t *read_file(const char *path, size_t *len);
void write_file(const char *path, const void *data, size_t len);
/* A name in a directory of the test's own, removed at exit. */
const char *temp_path(const char *name);

/* A small generator of our own: tests must repeat. */
uint64_t rnd(uint64_t *state);
double rnd_unit(uint64_t *state);

#endif /* KJOULE_TEST_SYNTHETIC_H */
