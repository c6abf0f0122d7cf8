/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holding the CPUs at a frequency, and giving it back. Limits of cpufreq are made one (scaling_min_freq and
 * scaling_max_freq), which every driver and governor keeps to: intel_pstate, amd-pstate and HWP as well, which have no
 * userspace governor. What was there before is kept in a file while it is changed, so that it can be restored for a
 * process that was killed.
 */
#ifndef KJOULE_FREQUENCY_H
#define KJOULE_FREQUENCY_H

#include <stddef.h>
#include <stdint.h>
#include "lib/base/cpus.h"
#include "lib/base/error.h"

/* Where what is to be restored is kept: it is gone with the boot, and so are the limits. */
#define KJOULE_FREQUENCY_STATE	"/run/kjoule-frequency"

/* Frequencies that are offered where a driver has no list of them. */
#define KJOULE_FREQUENCY_STEPS	8

/**
 * struct kjoule_policy - CPUs that cpufreq clocks together
 * @number:	of /sys/devices/system/cpu/cpufreq/policyNUMBER
 * @cpus:	the online ones of them
 * @hardware_min_khz,@hardware_max_khz: cpuinfo_min_freq, cpuinfo_max_freq
 * @min_khz,@max_khz: the limits as they were found
 * @latency_ns:	that the driver says a change takes; 0: it does not say
 * @available:	frequencies that the driver lists, ascending; none where it has any between its ends
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
 * kjoule_frequency_open() - look at what there is; nothing is changed
 * @sysfs:	KJOULE_SYSFS, or a folder that looks like it
 * @state:	KJOULE_FREQUENCY_STATE, or another file
 * Return: 0; -ENODEV: no cpufreq; -errno; with the reason in @err
 */
int kjoule_frequency_open(const char *sysfs, const char *state, struct kjoule_frequency **f, struct kjoule_error *err);
/** kjoule_frequency_close() - after restoring */
void kjoule_frequency_close(struct kjoule_frequency *f);
const struct kjoule_policy *kjoule_frequency_policies(const struct kjoule_frequency *f, size_t *n);
/** kjoule_frequency_latency_ns() - the longest that a driver says a change takes; 0: one does not say */
uint64_t kjoule_frequency_latency_ns(const struct kjoule_frequency *f);
/**
 * kjoule_frequency_list() - frequencies that all CPUs can be held at, kHz, ascending
 * @list:	out: the caller's to free; where drivers have no list, KJOULE_FREQUENCY_STEPS from the lowest to the
 *		highest
 * Return: 0; -ENOENT: there is none that all have; -ENOMEM
 */
int kjoule_frequency_list(const struct kjoule_frequency *f, uint32_t **list, size_t *n);
/**
 * kjoule_frequency_check() - can all CPUs be held at it?
 * Return: 0; -ERANGE with what there is instead in @err
 */
int kjoule_frequency_check(const struct kjoule_frequency *f, uint32_t khz, struct kjoule_error *err);
/**
 * kjoule_frequency_hold() - hold all CPUs at it; what was there before is written down first
 * Return: 0; -EACCES, -EPERM: not permitted; -EBUSY: another process holds one; -ERANGE: it was not taken; -errno.
 * Limits may have been changed all the same: kjoule_frequency_restore()
 */
int kjoule_frequency_hold(struct kjoule_frequency *f, uint32_t khz, struct kjoule_error *err);
/** kjoule_frequency_hold_one() - the same for one policy, by its number; -ENOENT: there is none */
int kjoule_frequency_hold_one(struct kjoule_frequency *f, unsigned int policy, uint32_t khz, struct kjoule_error *err);
/**
 * kjoule_frequency_set() - only that, of a policy that has been held at @khz before: nothing is written down or looked at
 * Return: 0 or -errno
 */
int kjoule_frequency_set(struct kjoule_frequency *f, unsigned int policy, uint32_t khz);
/**
 * kjoule_frequency_restore() - as it was before it was held first. Does nothing if nothing was changed
 * @err:	has words also where 0 is returned and somebody else has changed limits meanwhile, which are left alone
 * Return: 0 or -errno: what could not be restored is left in the file
 */
int kjoule_frequency_restore(struct kjoule_frequency *f, struct kjoule_error *err);
/** kjoule_frequency_restore_now() - the same from a signal handler: what fails is left in the file */
void kjoule_frequency_restore_now(struct kjoule_frequency *f);
/**
 * kjoule_frequency_recover() - restore what a process that was killed has left
 * @said:	out: what was found and done, "" if there was nothing; at least 512 bytes
 * Limits that somebody else has changed since are left alone.
 * Return: 1: it was restored; 0: there was nothing to do; -EBUSY: a process that lives holds a frequency; -errno: of
 * what was found not all could be restored (see @said for what was), and the file stays
 */
int kjoule_frequency_recover(const char *sysfs, const char *state, char *said, size_t len, struct kjoule_error *err);
/**
 * kjoule_frequency_inherit() - the same of the process that has opened @f, for one that was forked from it: @said, Return:
 * as of kjoule_frequency_recover(). Another one that holds frequencies by then has restored them before, and is -EBUSY
 */
int kjoule_frequency_inherit(const struct kjoule_frequency *f, char *said, size_t len, struct kjoule_error *err);

#endif /* KJOULE_FREQUENCY_H */
