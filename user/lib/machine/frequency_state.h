/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by frequency.c and frequency_state.c: limits of policies, and the state file. */
#ifndef KJOULE_FREQUENCY_STATE_H
#define KJOULE_FREQUENCY_STATE_H

#include "lib/machine/frequency.h"

#define FREQUENCY_PATH	256

/* Made before anything is changed: a signal handler has no time for it. */
struct frequency_paths {
	char min[FREQUENCY_PATH], max[FREQUENCY_PATH];
};

/* The original limits of a policy, and all that they were set to since. */
struct frequency_kept {
	unsigned int number;
	uint32_t min_khz, max_khz;
	size_t n;
	uint32_t *made;
};

/*
 * @kept: @n of them while limits are or may be changed
 * @fd: of the state, locked, while limits are or may be changed; -1: they are not
 */
struct kjoule_frequency {
	char *sysfs, *state;
	size_t n;
	struct kjoule_policy *policies;
	struct frequency_paths *paths;
	struct frequency_kept *kept;
	int fd;
};

int kjoule_frequency_path(const char *sysfs, unsigned int policy, const char *name, char *path,
			  size_t len);
/** kjoule_frequency_read() - a number of a policy. Return: 0, -EINVAL, -errno */
int kjoule_frequency_read(const char *sysfs, unsigned int policy, const char *name, uint32_t *khz);
/** kjoule_frequency_limits() - set both. Return: 0 or -errno */
int kjoule_frequency_limits(const char *sysfs, unsigned int policy, uint32_t min_khz,
			    uint32_t max_khz);
/** kjoule_frequency_keep() - save the current limits, if not done yet. Return: 0, -EBUSY, -errno */
int kjoule_frequency_keep(struct kjoule_frequency *f, struct kjoule_error *err);
/** kjoule_frequency_note() - save the limits about to be set. Return: 0 or -errno */
int kjoule_frequency_note(struct kjoule_frequency *f, unsigned int policy, uint32_t min_khz,
			  uint32_t max_khz);
/**
 * enum frequency_given - result of restoring a policy's limits
 * FREQUENCY_NOTHING: unchanged, or there is no such policy any more
 * FREQUENCY_BACK: restored
 * FREQUENCY_OTHERS: others have changed them, and they are left as they are
 */
enum frequency_given { FREQUENCY_NOTHING, FREQUENCY_BACK, FREQUENCY_OTHERS };

/**
 * kjoule_frequency_give_back() - restore the original limits
 * @at_khz: out: the current upper one
 * Return: enum frequency_given; -errno: there is such a policy, and its limits cannot be read or
 *   written
 */
int kjoule_frequency_give_back(const char *sysfs, const struct frequency_kept *k, uint32_t *at_khz);
void kjoule_frequency_forget(struct kjoule_frequency *f);

#endif /* KJOULE_FREQUENCY_STATE_H */
