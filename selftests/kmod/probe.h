/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes of frequency changes and settings to be restored, through raw netlink (nl.h). All
 * functions return 0 or the kernel's -errno.
 */
#ifndef KJOULE_SELFTESTS_PROBE_H
#define KJOULE_SELFTESTS_PROBE_H

#include <linux/kjoule.h>
#include "nl.h"

/* What a request has; what is 0 is left out unless it is in @zero. */
struct probe_ask {
	uint8_t cmd;
	uint32_t id, cpu, way, adds, from_khz, to_khz, from_lo, from_hi, to_lo, to_hi, lead, loops;
	uint32_t confirm;
	uint64_t timeout_ns, slice_ns;
	bool no_cpu;
};

struct probe_answer {
	uint32_t id, cpu, way, min_khz, max_khz, outcome, count, cut;
	uint64_t asked_ns, request_ns, irqs_off_ns, irqs_off_from_ns, reference_khz;
	char driver[32], counter[32];
	uint8_t cpus;
};

struct probe_loops {
	struct kjoule_loop list[65536];
	unsigned int n;
};

int probe_talk(struct nl *from, const struct probe_ask *ask, struct probe_answer *a);
int probe_new(struct nl *from, uint32_t cpu, uint32_t way, struct probe_answer *a);
int probe_get_loops(struct nl *from, uint32_t id, struct probe_loops *to);
int probe_restore_add(struct nl *from, int fd, const char *value);

#endif
