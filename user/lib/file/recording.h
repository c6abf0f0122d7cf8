/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole data file in memory, put together from its chunks: what report and
 * script work on. What is damaged is left out and told.
 */
#ifndef KJOULE_RECORDING_H
#define KJOULE_RECORDING_H

#include "lib/code/buildid.h"
#include "lib/code/jitmap.h"
#include "lib/code/kallsyms.h"
#include "lib/file/datafile.h"
#include "lib/file/meta.h"

/*
 * kjoule_record.flags of a KJOULE_RECORD_LOST that stands for chunks of the file
 * which could not be read: how many records they had is not known.
 */
#define KJOULE_LOST_IN_FILE	0x80

/*
 * kjoule_record.flags of a KJOULE_RECORD_STACK whose memory was left in the file: its data are 8
 * bytes, how many stacks of that CPU came before. kjoule_recording_stacks() brings them.
 */
#define KJOULE_STACK_IN_FILE	0x80

/* A chunk of a CPU's records in the file. */
struct kjoule_piece {
	uint64_t offset;
	bool hole;			/* chunks are missing before it */
};

/*
 * A CPU's records: to be read by kjoule_records_open(). As long as they are few, or something will point at them, all
 * of them are at @records, with @len bytes; else they are left in the file.
 */
struct kjoule_stream {
	uint32_t cpu;
	uint8_t *records;
	size_t len, room;
	uint64_t stacks;		/* how many were left in the file */
	size_t n_pieces;
	struct kjoule_piece *pieces;
	bool hole;			/* chunks are missing since the last of them */
	uint64_t holes;			/* of the recording, of which it knows */
};

/* Packed records of more bytes than this are left in the file; for tests to change. */
extern uint64_t kjoule_recording_keep_most;

struct kjoule_recording {
	char *path;			/* NULL: @memory */
	bool unnamed;			/* it is KJOULE_DATA_FILE because no file was named */
	const void *memory;
	size_t memory_len;
	struct kjoule_meta meta;
	uint32_t *packages;		/* of each CPU that there can be, 0 if not told */
	bool ended;			/* it has an end: nothing is missing there */
	struct kjoule_end end;
	struct kjoule_calibration cal;	/* ticks 0: none */
	size_t n_stats;
	struct kjoule_cpu_stats *stats;
	size_t n_streams;
	struct kjoule_stream *streams;	/* by CPU */
	size_t n_wakeups;
	struct kjoule_wakeup *wakeups;
	uint8_t *side_band;
	size_t side_band_len;
	uint8_t *regions;		/* for kjoule_regions_new() */
	size_t regions_len;
	struct kjoule_kallsyms *kallsyms;	/* NULL: not in the file */
	struct kjoule_jitmaps *jitmaps;
	size_t jitmaps_len;			/* of their text */
	struct kjoule_build_ids *build_ids;
	uint8_t *vdso;			/* NULL: not in the file */
	size_t vdso_len;
	uint64_t file_bytes;
	bool callers;			/* chains or stacks were met */
	uint64_t packed_len;		/* of the chunks that they came in */
	bool left_in_file;		/* the records, see struct kjoule_stream */
	uint64_t records_len;		/* of all streams, if not */
	struct kjoule_damage damage;
	uint64_t holes;			/* places where chunks are missing */
	unsigned int unpackable;	/* chunks that did not hold what they should */
};

/**
 * kjoule_recording_load() - read a data file
 * @path:	of kjoule_reader_open()
 * Return: 0, even if parts were damaged (see @damage and @ended); -EBADMSG when there is
 * nothing to go by; -EFBIG when it grows to more than a recording could; or as
 * kjoule_reader_open()
 */
int kjoule_recording_load(const char *path, struct kjoule_recording *rec,
			  struct kjoule_error *err);
/** kjoule_recording_reopen() - a reader of the same file. Return: as kjoule_reader_open() */
int kjoule_recording_reopen(const struct kjoule_recording *rec, struct kjoule_reader **r);
/** kjoule_recording_load_memory() - the same from a buffer, which has to stay */
int kjoule_recording_load_memory(const void *data, size_t len, const char *name,
				 struct kjoule_recording *rec, struct kjoule_error *err);
/**
 * kjoule_recording_stacks() - read the file again for the stacks
 * @sink:	gets each, by CPU in order, with its number; what it returns but 0 ends it
 * Return: 0, or as @sink or kjoule_reader_open()
 */
int kjoule_recording_stacks(const struct kjoule_recording *rec,
			    int (*sink)(void *arg, uint32_t cpu, uint64_t number,
					const struct kjoule_stack *stack),
			    void *arg);
void kjoule_recording_free(struct kjoule_recording *rec);
/** kjoule_recording_source() - the session's source of a kind, or NULL */
const struct kjoule_source_info *kjoule_recording_source(const struct kjoule_recording *rec,
							 uint32_t kind);
/** kjoule_recording_package() - of a CPU, 0 if not told */
uint32_t kjoule_recording_package(const struct kjoule_recording *rec, uint32_t cpu);

#endif /* KJOULE_RECORDING_H */
