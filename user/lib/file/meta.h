/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON chunks of a data file: the recording's circumstances, its counters, its calibration and
 * its end. Unknown members are skipped, missing ones are zero: that is how the format grows.
 */
#ifndef KJOULE_META_H
#define KJOULE_META_H

#include "lib/control/calibration.h"
#include "lib/control/control.h"
#include "lib/region/mark_ring.h"

struct kjoule_cpu_place {
	uint32_t cpu;
	uint32_t package;
};

/**
 * struct kjoule_meta - KJOULE_CHUNK_META
 * @argc,@argv: the recorded command, argc 0 for -a and -p
 * @clock_ns,@wall_ns: CLOCK_MONOTONIC and CLOCK_REALTIME at the start
 * @places: the package of each CPU of the machine
 */
struct kjoule_meta {
	char version[32];
	uint32_t abi;
	int argc;
	char **argv;
	char host[80];
	char kernel[200];
	char machine[65];
	char boot_id[64];
	uint32_t page_size;
	uint32_t recorder_pid;
	uint64_t clock_ns, wall_ns;
	uint32_t n_places;
	struct kjoule_cpu_place *places;
	uint32_t overhead_ppm;		/* limit for the ticks' overhead; 0: there was none */
	char cgroup[256];		/* for KJOULE_TARGET_CGROUP, as requested */
	struct kjoule_session_info session;
};

/**
 * struct kjoule_end - KJOULE_CHUNK_END
 * @reason: "command ended", "process ended", "duration", "signal", "output"
 * @start_ns,@stop_ns: CLOCK_MONOTONIC of the session's start and stop
 * @exit_code: of the command, -1 if there was none or it went on
 * @side_band_lost: perf records that were lost
 * @side_band_anew: restarts of a CPU's sideband, because it came back online
 * @ring_damaged: times that a ring's content was invalid
 * @regions: lost marks of regions
 */
struct kjoule_end {
	char reason[64];
	uint64_t start_ns, stop_ns;
	int32_t exit_code;
	uint64_t side_band_lost;
	uint64_t side_band_anew;
	uint64_t ring_damaged;
	struct kjoule_region_counters regions;
};

/** kjoule_meta_gather() - fill in what the machine knows (host, kernel, places, clocks) */
int kjoule_meta_gather(struct kjoule_meta *meta);
void kjoule_meta_free(struct kjoule_meta *meta);

/*
 * Encoders return a string that the caller frees, NULL without memory. Decoders return 0 or
 * -EBADMSG for any @text.
 */
char *kjoule_meta_encode(const struct kjoule_meta *meta);
int kjoule_meta_decode(const char *text, size_t len, struct kjoule_meta *meta);
char *kjoule_stats_encode(const struct kjoule_cpu_stats *stats, size_t n);
int kjoule_stats_decode(const char *text, size_t len, struct kjoule_cpu_stats **stats, size_t *n);
char *kjoule_calibration_encode(const struct kjoule_calibration *cal);
int kjoule_calibration_decode(const char *text, size_t len, struct kjoule_calibration *cal);
char *kjoule_end_encode(const struct kjoule_end *end);
int kjoule_end_decode(const char *text, size_t len, struct kjoule_end *end);
/** kjoule_meta_command_line() - as it could be typed again; the caller's to free, or NULL */
char *kjoule_meta_command_line(const struct kjoule_meta *meta);

#endif /* KJOULE_META_H */
