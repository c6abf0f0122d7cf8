/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes of frequency changes: the module times a loop repeatedly on one CPU while it requests
 * another frequency. And values that the module writes back to files of sysfs when this process
 * ends, however it does.
 */
#ifndef KJOULE_TRANSITION_PROBE_H
#define KJOULE_TRANSITION_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/kjoule.h>
#include <linux/kjoule_netlink.h>
#include "lib/base/cpus.h"
#include "lib/base/error.h"
#include "lib/control/control.h"

/**
 * struct kjoule_transition_probe - one, as reported by the module
 * @way: enum kjoule_transition_way
 * @driver: of cpufreq
 * @cpus: of the policy
 * @min_khz,@max_khz: the policy's current limits
 */
struct kjoule_transition_probe {
	uint32_t id, cpu, way;
	char driver[32];
	struct kjoule_cpus cpus;
	uint32_t min_khz, max_khz;
};

/**
 * struct kjoule_transition_probe_try - a request; see the netlink specification
 * @adds: dependent additions in a loop
 * @from_lo_ns,@from_hi_ns: time of a loop at the first frequency
 * @to_lo_ns,@to_hi_ns: and at the second
 * @lead: loops before the request, at least
 * @loops: after it, at most
 * @confirm: of these, after the change
 * @timeout_ns: for the first frequency, and once more for the second
 * @slice_ns: interrupts are off for at most this time
 */
struct kjoule_transition_probe_try {
	uint32_t adds, from_khz, to_khz;
	uint32_t from_lo_ns, from_hi_ns, to_lo_ns, to_hi_ns;
	uint32_t lead, loops, confirm;
	uint64_t timeout_ns, slice_ns;
};

/**
 * struct kjoule_transition_probe_result - its result
 * @outcome: enum kjoule_transition_outcome
 * @count: number of loops
 * @asked_ns: time of the request, CLOCK_MONOTONIC; it took @request_ns
 * @irqs_off_ns: longest time with interrupts off; @irqs_off_from_ns: when that began,
 *   CLOCK_MONOTONIC
 * @cut: times that interrupts were on between loops
 * @min_khz,@max_khz: the policy's limits afterwards
 * @counter: source of the loops' cycles; "": they have none
 * @reference_khz: frequency of its reference
 */
struct kjoule_transition_probe_result {
	uint32_t outcome, count, cut;
	uint64_t asked_ns, request_ns, irqs_off_ns, irqs_off_from_ns, reference_khz;
	uint32_t min_khz, max_khz;
	char counter[32];
};

/**
 * kjoule_transition_probe_new() - make one; it ends with @ctl
 * Return: 0; -EOPNOTSUPP: the driver has no such way; -EBUSY: another probe is there; -ENODEV,
 *   -EINVAL, -errno
 */
int kjoule_transition_probe_new(struct kjoule_ctl *ctl, uint32_t cpu, uint32_t way,
				struct kjoule_transition_probe *p, struct kjoule_error *err);
/**
 * kjoule_transition_probe_calibrate() - set @khz, wait for @wait_ns, and time @loops loops of @adds
 * additions
 * Return: 0; -ERANGE: outside of the limits; -EPERM: another governor; -EDOM: a loop is too long;
 *   -errno
 */
int kjoule_transition_probe_calibrate(struct kjoule_ctl *ctl,
				      const struct kjoule_transition_probe *p, uint32_t adds,
				      uint32_t khz, uint32_t loops, uint64_t wait_ns,
				      uint64_t slice_ns, struct kjoule_transition_probe_result *r,
				      struct kjoule_error *err);
/** kjoule_transition_probe_try() - request a change and time it. Return: as above */
int kjoule_transition_probe_try(struct kjoule_ctl *ctl, const struct kjoule_transition_probe *p,
				const struct kjoule_transition_probe_try *t,
				struct kjoule_transition_probe_result *r, struct kjoule_error *err);
/**
 * kjoule_transition_probe_loops() - the loops of the last of these; @loops: the caller's to free.
 * Return: 0 or -errno
 */
int kjoule_transition_probe_loops(struct kjoule_ctl *ctl, const struct kjoule_transition_probe *p,
				  struct kjoule_loop **loops, size_t *n, struct kjoule_error *err);

/**
 * kjoule_restore_add() - write @value when @ctl is closed, or this process ends
 * @fd: of a file of sysfs, open for writing; may be closed afterwards
 * Return: 0 or -errno
 */
int kjoule_restore_add(struct kjoule_ctl *ctl, int fd, const char *value, struct kjoule_error *err);
/** kjoule_restore_now() - do it now. Return: 0, or -errno if any of it failed */
int kjoule_restore_now(struct kjoule_ctl *ctl, struct kjoule_error *err);

#endif /* KJOULE_TRANSITION_PROBE_H */
