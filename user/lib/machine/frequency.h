/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds the CPUs at a frequency, and restores the limits. Both limits of cpufreq (scaling_min_freq
 * and scaling_max_freq) are set to it, which works with every driver and governor: also
 * intel_pstate, amd-pstate and HWP, which have no userspace governor. The previous limits are in a
 * file meanwhile, to be restored for a process that was killed.
 */
#ifndef KJOULE_FREQUENCY_H
#define KJOULE_FREQUENCY_H

#include <stddef.h>
#include <stdint.h>
#include "lib/base/cpus.h"
#include "lib/base/error.h"

/* The state file: it is gone after a boot, as are the limits. */
#define KJOULE_FREQUENCY_STATE	"/run/kjoule-frequency"

/* Frequencies that are offered for a driver without a list. */
#define KJOULE_FREQUENCY_STEPS	8

/**
 * struct kjoule_policy - CPUs that cpufreq clocks together
 * @number: of /sys/devices/system/cpu/cpufreq/policyNUMBER
 * @cpus: the online ones of them
 * @hardware_min_khz,@hardware_max_khz: cpuinfo_min_freq, cpuinfo_max_freq
 * @min_khz,@max_khz: the original limits
 * @latency_ns: of a transition, by the driver; 0: unknown
 * @available: frequencies that the driver lists, ascending; none if any between its ends will do
 */
struct kjoule_policy {
	unsigned int number;
	struct kjoule_cpus cpus;
	char driver[32], governor[32];
	uint32_t hardware_min_khz, hardware_max_khz;
	uint32_t min_khz, max_khz;
	uint64_t latency_ns;
	size_t n_available;
	uint32_t *available;
};

struct kjoule_frequency;

/**
 * kjoule_frequency_open() - read policies; nothing is changed
 * @sysfs: KJOULE_SYSFS, or a folder that looks like it
 * @state: KJOULE_FREQUENCY_STATE, or another file
 * Return: 0; -ENODEV: no cpufreq; -errno; with the reason in @err
 */
int kjoule_frequency_open(const char *sysfs, const char *state, struct kjoule_frequency **f,
			  struct kjoule_error *err);
/** kjoule_frequency_close() - after restoring */
void kjoule_frequency_close(struct kjoule_frequency *f);
const struct kjoule_policy *kjoule_frequency_policies(const struct kjoule_frequency *f, size_t *n);
/** kjoule_frequency_latency_ns() - the drivers' longest transition latency; 0: one is unknown */
uint64_t kjoule_frequency_latency_ns(const struct kjoule_frequency *f);
/**
 * kjoule_frequency_list() - frequencies that all CPUs can be held at, kHz, ascending
 * @list: out: the caller's to free; without lists, KJOULE_FREQUENCY_STEPS from the lowest to the
 *		highest
 * Return: 0; -ENOENT: none in common; -ENOMEM
 */
int kjoule_frequency_list(const struct kjoule_frequency *f, uint32_t **list, size_t *n);
/**
 * kjoule_frequency_check() - can all CPUs be held at it?
 * Return: 0; -ERANGE with the available ones in @err
 */
int kjoule_frequency_check(const struct kjoule_frequency *f, uint32_t khz,
			   struct kjoule_error *err);
/**
 * kjoule_frequency_hold() - hold all CPUs at it; the limits are saved first
 * Return: 0; -EACCES, -EPERM: not permitted; -EBUSY: another process holds one; -ERANGE: not
 *   accepted; -errno. Limits may have been changed all the same: kjoule_frequency_restore()
 */
int kjoule_frequency_hold(struct kjoule_frequency *f, uint32_t khz, struct kjoule_error *err);
/** kjoule_frequency_hold_one() - the same for one policy, by its number; -ENOENT: there is none */
int kjoule_frequency_hold_one(struct kjoule_frequency *f, unsigned int policy, uint32_t khz,
			      struct kjoule_error *err);
/**
 * kjoule_frequency_set() - only set a policy that has been held at @khz before, without saving or
 * checking
 * Return: 0 or -errno
 */
int kjoule_frequency_set(struct kjoule_frequency *f, unsigned int policy, uint32_t khz);
/**
 * kjoule_frequency_restore() - restore the original limits, each that is as it was set here
 * @err: also set with 0 if limits that others have changed meanwhile are left alone, which it names
 * Return: 0 or -errno: what could not be restored stays in the file
 */
int kjoule_frequency_restore(struct kjoule_frequency *f, struct kjoule_error *err);
/**
 * kjoule_frequency_recover() - restore the limits for a process that was killed
 * @said: out: what was found and done, "" if there was nothing; at least 512 bytes
 * A limit that others have changed since is left alone; the other one of its policy is restored.
 * Return: 1: restored; 0: nothing to do; -EBUSY: a running process holds a frequency; -errno: not
 *   all could be restored (see @said for what was), and the file stays
 */
int kjoule_frequency_recover(const char *sysfs, const char *state, char *said, size_t len,
			     struct kjoule_error *err);
/**
 * kjoule_frequency_inherit() - the same in a process forked from the one that has opened @f; @said,
 * Return: as of kjoule_frequency_recover(). Another process that holds frequencies by then has
 * restored them before, and is -EBUSY
 */
int kjoule_frequency_inherit(const struct kjoule_frequency *f, char *said, size_t len,
			     struct kjoule_error *err);

#endif /* KJOULE_FREQUENCY_H */
