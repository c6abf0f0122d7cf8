/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by frequency.c and frequency_state.c: limits of policies, and the state file. */
#ifndef KJOULE_FREQUENCY_STATE_H
#define KJOULE_FREQUENCY_STATE_H

#include "lib/machine/frequency.h"

#define FREQUENCY_PATH	256

/* More than latency sets. A sweep of more notes each again when it comes back to it. */
#define FREQUENCY_MADE	256

/* The original limits of a policy, and all that they were set to since, the last of them. */
struct frequency_kept {
	uint32_t number, min_khz, max_khz, n;
	uint32_t made[FREQUENCY_MADE];
};

/* The state file. Limits may be changed once @n is not 0. */
struct frequency_saved {
	char head[24], boot[40];
	int32_t pid;
	uint32_t n;
	struct frequency_kept kept[];
};

/*
 * @saved: the state file, mapped, while limits are or may be changed; NULL: they are not
 * @fd: of it, locked; or -1
 */
struct kjoule_frequency {
	char *sysfs, *state;
	size_t n;
	struct kjoule_policy *policies;
	struct frequency_saved *saved;
	int fd;
};

/** kjoule_frequency_read() - a number of a policy. Return: 0, -EINVAL, -errno */
int kjoule_frequency_read(const char *sysfs, unsigned int policy, const char *name, uint32_t *khz);
/** kjoule_frequency_write() - one limit. Return: 0 or -errno */
int kjoule_frequency_write(const char *sysfs, unsigned int policy, const char *name, uint32_t khz);
/** kjoule_frequency_limits() - set both. Return: 0 or -errno */
int kjoule_frequency_limits(const char *sysfs, unsigned int policy, uint32_t min_khz,
			    uint32_t max_khz);
/** kjoule_frequency_keep() - save the current limits, if not done yet. Return: 0, -EBUSY, -errno */
int kjoule_frequency_keep(struct kjoule_frequency *f, struct kjoule_error *err);
/** kjoule_frequency_note() - save a limit about to be set */
void kjoule_frequency_note(struct frequency_kept *k, uint32_t khz);
void kjoule_frequency_forget(struct kjoule_frequency *f);

#endif /* KJOULE_FREQUENCY_STATE_H */
