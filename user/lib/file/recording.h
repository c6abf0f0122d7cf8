/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole data file in memory, for report and script. Damage is left out and reported. */
#ifndef KJOULE_RECORDING_H
#define KJOULE_RECORDING_H

#include "lib/code/buildid.h"
#include "lib/code/jitmap.h"
#include "lib/code/kallsyms.h"
#include "lib/file/datafile.h"
#include "lib/file/meta.h"

/* kjoule_record.flags of a KJOULE_RECORD_LOST for unreadable chunks: an unknown number. */
#define KJOULE_LOST_IN_FILE	0x80

/*
 * kjoule_record.flags of a KJOULE_RECORD_STACK whose memory was left in the file: its data are 8
 * bytes, the number of earlier stacks of that CPU. kjoule_recording_stacks() reads them.
 */
#define KJOULE_STACK_IN_FILE	0x80

/* A chunk of a CPU's records in the file. */
struct kjoule_piece {
	uint64_t offset;
	bool hole;			/* chunks are missing before it */
};

/*
 * A CPU's records, read by kjoule_records_open(). If they are few, or will be pointed at, all of
 * them are at @records, with @len bytes; else they are left in the file.
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
	uint32_t *packages;		/* of each possible CPU, 0 if unknown */
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
	bool callers;			/* there were chains or stacks */
	uint64_t packed_len;		/* of the chunks that they came in */
	bool left_in_file;		/* the records, see struct kjoule_stream */
	uint64_t records_len;		/* of all streams, if not */
	struct kjoule_damage damage;
	uint64_t holes;			/* places where chunks are missing */
	unsigned int unpackable;	/* chunks with invalid content */
};

/**
 * kjoule_recording_load() - read a data file
 * @path: of kjoule_reader_open()
 * Return: 0, even if parts were damaged (see @damage and @ended); -EBADMSG: what was recorded is
 *   unknown; -EFBIG: it grows by more than a recording could; or as kjoule_reader_open()
 */
int kjoule_recording_load(const char *path, struct kjoule_recording *rec,
			  struct kjoule_error *err);
/** kjoule_recording_reopen() - a reader of the same file. Return: as kjoule_reader_open() */
int kjoule_recording_reopen(const struct kjoule_recording *rec, struct kjoule_reader **r);
/** kjoule_recording_load_memory() - the same from a buffer, which must stay */
int kjoule_recording_load_memory(const void *data, size_t len, const char *name,
				 struct kjoule_recording *rec, struct kjoule_error *err);
/**
 * kjoule_recording_stacks() - read the file again for the stacks
 * @sink: gets each, by CPU in order, with its number; ends it by returning other than 0
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
/** kjoule_recording_package() - of a CPU, 0 if unknown */
uint32_t kjoule_recording_package(const struct kjoule_recording *rec, uint32_t cpu);

#endif /* KJOULE_RECORDING_H */
