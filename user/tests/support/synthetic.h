/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated recordings of known truth, for tests: records of a program that runs blocks of known
 * power, and data files around them.
 */
#ifndef KJOULE_TEST_SYNTHETIC_H
#define KJOULE_TEST_SYNTHETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/control/calibration.h"
#include "lib/control/control.h"
#include "lib/file/meta.h"

struct buffer {
	uint8_t *data;
	size_t len, room;
};

void put_bytes(struct buffer *b, const void *data, size_t len);
void buffer_free(struct buffer *b);
void put_sample(struct buffer *b, uint32_t tick, uint64_t ip, uint32_t flags, uint32_t khz,
		uint32_t late_ns);
void put_task(struct buffer *b, uint32_t pid, uint32_t tgid);
/* domains is a mask; as many values as it has bits */
void put_energy(struct buffer *b, uint32_t tick, uint32_t domains, const uint64_t *uj);
/* of another source than the first, or of the CPUs that @scope is the lowest of */
void put_energy_of(struct buffer *b, uint32_t source, uint32_t scope, uint32_t tick,
		   uint32_t late_ns, uint32_t domains, const uint64_t *uj);
void put_value(struct buffer *b, uint32_t source, uint64_t time_ns, int64_t value);
void put_skipped(struct buffer *b, uint32_t tick, uint64_t count, uint64_t begin_ns,
		 uint64_t end_ns);
void put_gap(struct buffer *b, uint32_t tick, uint64_t count);
void put_lost(struct buffer *b, uint32_t tick, uint64_t records, uint64_t samples);

/* addresses, innermost first: @kernel ones, then @user ones */
void put_chain(struct buffer *b, uint32_t flags, unsigned int kernel, unsigned int user,
	       const uint64_t *ip);
/* a perf record of a process that has mapped a file */
void put_map(struct buffer *b, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t len,
	     uint64_t offset, const char *path);
/* the same, with what the kernel reports of the file */
void put_map_of(struct buffer *b, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t len,
		uint64_t offset, const char *path, const uint8_t *build_id, uint8_t build_id_len);

/*
 * the same: the thread @tid of @pid was forked by @ptid of @ppid, or ended, or executed a program
 */
void put_fork_event(struct buffer *b, uint64_t time_ns, uint32_t ppid, uint32_t ptid, uint32_t pid,
		    uint32_t tid);
void put_exit_event(struct buffer *b, uint64_t time_ns, uint32_t pid, uint32_t tid);
void put_exec_event(struct buffer *b, uint64_t time_ns, uint32_t pid, uint32_t tid);
/*
 * the thread has another name from then on, as prctl(PR_SET_NAME) gives it or, @exec, the program
 * that it executed
 */
void put_name_event(struct buffer *b, uint64_t time_ns, uint32_t pid, uint32_t tid,
		    const char *name, bool exec);

/*
 * units of a program that marks regions, enum kjoule_region_kind; put_region_batch() makes a batch
 * of them
 */
void put_region_start(struct buffer *b, uint64_t time_ns, uint32_t pid, uint32_t tid);
void put_region_define(struct buffer *b, uint32_t node, uint32_t parent, const char *name);
void put_region_mark(struct buffer *b, unsigned int kind, uint64_t time_ns, uint32_t node);
void put_region_batch(struct buffer *b, uint32_t ring, uint64_t first, const struct buffer *units,
		      uint64_t lost);

/* A meta of @n_cpus CPUs in one package, an energy source "test" with package and core. */
void make_meta(struct kjoule_meta *meta, uint32_t n_cpus, uint64_t interval_ns, uint32_t target);

/* One more source with one domain; the frequency source stays the last. */
struct kjoule_source_info *add_source(struct kjoule_meta *meta, const char *name, uint32_t kind,
				      uint32_t quantity, const char *domain);

/* Add a wakeup of the recorder to the next file that is written. */
void put_wakeup(uint32_t cpu, uint64_t begin_ns, uint64_t end_ns);

/* In the next file that is written: marks of regions and more side band, or NULL; it frees both. */
void put_regions(struct buffer *batches, struct buffer *more_side_band);

/*
 * In the next file that is written: another calibration than the usual one, or, without ticks,
 * none.
 */
void put_calibration(const struct kjoule_calibration *cal);

/*
 * In the next file that is written: the program lies here instead of at 0x10000000, and has this
 * build id.
 */
void put_program(uint64_t start, const char *build_id);

/* In the next file that is written: the command ended with this code instead of 0. */
void put_exit_code(int code);

/*
 * In the next file that is written: a copy of the kernel's code in every process, to stay until
 * then.
 */
void put_vdso(const void *image, size_t len);

/*
 * write_recording() - a data file: meta, @n streams (CPU 0 on) in chunks of some kilobytes,
 * sideband that maps @exe as process 100, stats, calibration, end. It frees the streams.
 */
void write_recording(const char *path, const struct kjoule_meta *meta, struct buffer *streams,
		     uint32_t n, const char *exe, uint64_t end_tick);

/* A file's content; the caller frees it. */
uint8_t *read_file(const char *path, size_t *len);
/* The same of a text, which ends with a zero byte. */
char *read_text(const char *path);
/* Texts that are looked at are kept until the end of the program, and not to be freed. */
char *keep_text(char *text);
char *kept_text(const char *path);
void write_file(const char *path, const void *data, size_t len);
/* A name in a directory of the test's own, removed at exit; the path is kept. */
const char *temp_path(const char *name);

/*
 * Standard error goes into a file, from the first to the second, which has the text; it is kept.
 */
void stderr_capture(void);
char *stderr_release(void);
/* The same of standard output. */
void begin_to_read(void);
char *end_to_read(void);

/* A small generator of our own: tests must repeat. */
uint64_t rnd(uint64_t *state);
double rnd_unit(uint64_t *state);

#endif /* KJOULE_TEST_SYNTHETIC_H */
