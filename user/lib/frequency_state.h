/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What frequency.c and frequency_state.c share: limits of policies, and the file that tells what they were.
 */
#ifndef KJOULE_FREQUENCY_STATE_H
#define KJOULE_FREQUENCY_STATE_H

#include "frequency.h"

#define FREQUENCY_PATH	256

/* Made before anything is changed: a signal handler has no time for it. */
struct frequency_paths {
	char min[FREQUENCY_PATH], max[FREQUENCY_PATH];
};

/* @fd: of the state, locked, while limits are or may be changed; -1: they are not */
struct kjoule_frequency {
	char *sysfs, *state;
	size_t n;
	struct kjoule_policy *policies;
	struct frequency_paths *paths;
	int fd;
};

int kjoule_frequency_path(const char *sysfs, unsigned int policy, const char *name, char *path, size_t len);
/** kjoule_frequency_read() - a number of a policy. Return: 0, -EINVAL, -errno */
int kjoule_frequency_read(const char *sysfs, unsigned int policy, const char *name, uint32_t *khz);
/** kjoule_frequency_limits() - set both. Return: 0 or -errno */
int kjoule_frequency_limits(const char *sysfs, unsigned int policy, uint32_t min_khz, uint32_t max_khz);
/** kjoule_frequency_keep() - write down what there is, if that was not done yet. Return: 0, -EBUSY, -errno */
int kjoule_frequency_keep(struct kjoule_frequency *f, struct kjoule_error *err);
/** kjoule_frequency_note() - write down what limits become. Return: 0 or -errno */
int kjoule_frequency_note(struct kjoule_frequency *f, unsigned int policy, uint32_t min_khz, uint32_t max_khz);

#endif /* KJOULE_FREQUENCY_STATE_H */
