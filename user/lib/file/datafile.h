/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data file: a header and then chunks, each compressed, checksummed and readable by itself, so
 * that what was written before a crash, a kill or a full disk stays good. The content of chunks is
 * meta.h's (JSON), kjoule.h's (records) and lib/sideband/sideband.h's.
 *
 *	file:   struct kjoule_file_header, chunk, chunk, ...
 *	chunk:  struct kjoule_chunk_header, stored_len bytes of a zstd frame (with
 *  its own content checksum), perhaps with a skippable one after it (see
 *		KJOULE_GROWTH_*), zero to seven bytes of padding
 *
 * Readers have limits, because files may be forged, and the writer stays below each of them
 * whatever the recorded programs do: KJOULE_CHUNK_MAX and KJOULE_GROWTH_* below; 8 MiB of a chunk
 * of records or of JSON (chunks are cut at about 1 MiB, a command's arguments at 1 MiB);
 * KJOULE_JITMAPS_MAX of all maps (the rest is counted and reported); KJOULE_VDSO_MAX; 16 MiB of
 * kernel symbols; KJOULE_MAX_CPUS, _SOURCES, _DOMAINS, which the module has as well.
 *
 * All numbers are in the byte order of the recording machine; the header has a byte order mark.
 */
#ifndef KJOULE_DATAFILE_H
#define KJOULE_DATAFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/base/error.h"

#define KJOULE_FILE_MAGIC	"kjoule\r\n"	/* 8 bytes; a text transfer breaks them */
#define KJOULE_FILE_MAJOR	1		/* readers refuse a larger one */
#define KJOULE_FILE_MINOR	0		/* readers of this major can skip what is new */
#define KJOULE_FILE_BYTE_ORDER	0x01020304u
#define KJOULE_CHUNK_MAGIC	0x6b48436bu	/* "kCHk" in little endian */

/* The default name for record and readers. */
#define KJOULE_DATA_FILE	"kjoule.data"

/* The largest content of a chunk that is read. */
#define KJOULE_CHUNK_MAX	(64u << 20)

/*
 * The memory of a file's content is limited by its size, so that a small one cannot fill the
 * memory: so many bytes whatever its size, and so many for each of its own. This is for the chunks'
 * content and for unpacked records. What compresses better is stored longer by the writer, so that
 * this holds wherever a file ends.
 */
#define KJOULE_GROWTH_LEAST	(32u << 20)
#define KJOULE_GROWTH_RATIO	256

enum kjoule_chunk_type {
	KJOULE_CHUNK_META = 1,		/* JSON, see meta.h; the last one counts */
	KJOULE_CHUNK_RING = 2,		/* records of one CPU, beginning with its task; pack.h */
	KJOULE_CHUNK_SIDE_BAND = 3,	/* raw perf records */
	KJOULE_CHUNK_STATS = 4,		/* JSON: the counters of every CPU so far */
	KJOULE_CHUNK_CALIBRATION = 5,	/* JSON */
	KJOULE_CHUNK_KALLSYMS = 6,	/* text: "address type name [module]" */
	KJOULE_CHUNK_BUILD_IDS = 7,	/* JSON */
	KJOULE_CHUNK_WAKEUPS = 9,		/* struct kjoule_wakeup: when the recorder ran */
	KJOULE_CHUNK_END = 8,		/* JSON: how it ended */
	/* text: a process's code made at run time, see lib/code/jitmap.h */
	KJOULE_CHUNK_JITMAP = 10,
	/* struct kjoule_region_batch, each followed by its units; lib/region/mark_ring.h */
	KJOULE_CHUNK_REGIONS = 11,
	KJOULE_CHUNK_VDSO = 12,		/* an ELF file: a copy of the vDSO */
};

struct kjoule_file_header {
	char magic[8];
	uint32_t byte_order;
	uint32_t major;
	uint32_t minor;
	uint32_t checksum;		/* CRC-32 of what is before it */
};

struct kjoule_chunk_header {
	uint32_t magic;
	uint16_t type;			/* enum kjoule_chunk_type; unknown ones are skipped */
	uint16_t flags;			/* 0 */
	uint32_t sequence;		/* 0, 1, 2, ... within the file */
	uint32_t cpu;			/* KJOULE_CHUNK_RING, else 0 */
	uint32_t raw_len;		/* bytes of content */
	uint32_t stored_len;		/* bytes of the zstd frames that follow */
	uint32_t reserved;		/* 0 */
	uint32_t checksum;		/* CRC-32 of what is before it */
};

/* The recorder ran on @cpu: CLOCK_MONOTONIC. */
struct kjoule_wakeup {
	uint64_t begin_ns, end_ns;
	uint32_t cpu;
	uint32_t reserved;		/* 0 */
};

_Static_assert(sizeof(struct kjoule_wakeup) == 24, "awake");
_Static_assert(sizeof(struct kjoule_file_header) == 24, "file header");
_Static_assert(sizeof(struct kjoule_chunk_header) == 32, "chunk header");

/** kjoule_crc32() - CRC-32 (IEEE 802.3) of a buffer */
uint32_t kjoule_crc32(const void *data, size_t len);

/*
 * Writing
 */
struct kjoule_writer;

/**
 * kjoule_writer_open() - a new file, mode 0600, to be called @path
 * An existing file of that name stays until the first chunk is written, and is replaced then;
 * without any chunk there is no new file. See lib/base/output_file.h for what is not replaced.
 * Return: 0 or -errno
 */
int kjoule_writer_open(const char *path, struct kjoule_writer **w, struct kjoule_error *err);
/**
 * kjoule_writer_open_at() - the same in a folder, wherever that is moved to meanwhile
 * @folder: its descriptor, which stays the caller's and open; AT_FDCWD: as kjoule_writer_open()
 * @path: its last part is the file's name in @folder; all of it is for messages
 * Return: the same
 */
int kjoule_writer_open_at(int folder, const char *path, struct kjoule_writer **w,
			  struct kjoule_error *err);
/**
 * kjoule_writer_chunk() - write one chunk, whole, with write(2); the first gives the file its name
 * Return: 0 or -errno. After an error the file is cut back to its last whole chunk and every
 *   further call returns the same error.
 */
int kjoule_writer_chunk(struct kjoule_writer *w, enum kjoule_chunk_type type, uint32_t cpu,
			const void *data, size_t len, struct kjoule_error *err);
/** kjoule_writer_bytes() - size of the file so far */
uint64_t kjoule_writer_bytes(const struct kjoule_writer *w);
/** kjoule_writer_close() - Return: 0 or -errno of close(2) */
int kjoule_writer_close(struct kjoule_writer *w, struct kjoule_error *err);

/*
 * Reading
 */
struct kjoule_reader;

struct kjoule_chunk {
	enum kjoule_chunk_type type;
	uint32_t sequence;
	uint32_t cpu;
	uint64_t offset;		/* in the file */
	const void *data;		/* until the next call */
	size_t len;
};

/* Damage found so far. */
struct kjoule_damage {
	unsigned int chunks;		/* damaged ones that were skipped */
	unsigned int missing;	/* sequence numbers that never came, damaged ones included */
	uint64_t first_offset;		/* of the first damage */
	char first[128];		/* the first damage in words */
	bool shrunk;			/* the file became shorter while it was read */
	bool truncated;			/* the file ends inside a chunk */
	uint64_t truncated_offset;	/* where that chunk begins */
};

/**
 * kjoule_reader_open() - open and check the header
 * @path: NULL: KJOULE_DATA_FILE as the default: another user's than the caller's and root's is
 *   refused with -EPERM, as it may have been planted
 * Return: 0; -ENOENT..; -EBADMSG: not a kjoule file or its header is damaged; -EPROTO: a newer
 *   major version or another byte order
 */
int kjoule_reader_open(const char *path, struct kjoule_reader **r, struct kjoule_error *err);
/** kjoule_reader_open_memory() - the same over a buffer, which must stay */
int kjoule_reader_open_memory(const void *data, size_t len, const char *name,
			      struct kjoule_reader **r, struct kjoule_error *err);
/**
 * kjoule_reader_next() - the next good chunk
 * Return: 1; 0 at the end of the file; -EFBIG if it grows by more than KJOULE_GROWTH_*; -ENOMEM, or
 *   -errno of reading
 */
int kjoule_reader_next(struct kjoule_reader *r, struct kjoule_chunk *chunk);
/**
 * kjoule_reader_at() - the chunk that kjoule_reader_next() of a reader of the same file found at an
 * offset
 * Return: 0; -ESTALE if it is not there any more; -ENOMEM, or -errno of reading
 */
int kjoule_reader_at(struct kjoule_reader *r, uint64_t offset, struct kjoule_chunk *chunk);
const struct kjoule_damage *kjoule_reader_damage(const struct kjoule_reader *r);
/** kjoule_reader_bytes() - size of the file */
uint64_t kjoule_reader_bytes(const struct kjoule_reader *r);
/** kjoule_reader_version() - major and minor of the file */
void kjoule_reader_version(const struct kjoule_reader *r, uint32_t *major, uint32_t *minor);
void kjoule_reader_close(struct kjoule_reader *r);

#endif /* KJOULE_DATAFILE_H */
