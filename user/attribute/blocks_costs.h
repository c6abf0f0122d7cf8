/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost of ticks and other interrupts on the CPUs of a recording: internal to blocks.h. */
#ifndef KJOULE_BLOCKS_COSTS_H
#define KJOULE_BLOCKS_COSTS_H

#include "attribute/blocks.h"

/**
 * blocks_mean_khz() - harmonic mean of a CPU: the frequency at which a number of cycles takes its
 * average time
 * Return: 0: unknown
 */
double blocks_mean_khz(const struct timeline_cpu *cpu);
/** blocks_own_tick_cost() - a tick's own length in nanoseconds, mean of a CPU */
double blocks_own_tick_cost(const struct view *v, const struct timeline_cpu *cpu);
/** blocks_tick_cost() - nanoseconds that a tick takes of a CPU, as calibrated */
double blocks_tick_cost(const struct view *v, const struct timeline_cpu *cpu);
/**
 * blocks_tick_less() - how much less than calibrated a tick draws on average, give or take as much,
 * in watt
 * @irq_w,@idle_w: calibrated powers of interrupts and of a sleeping CPU; NAN: unknown
 *
 * If it takes longer than calibrated: half of the difference between waiting and doing more.
 */
double blocks_tick_less(const struct view *v, double irq_w, double idle_w);
/**
 * blocks_other_interrupts() - the part of the time in interrupts other than ours, which samples
 * cannot hit
 * @error: out: twice the standard error
 */
void blocks_other_interrupts(const struct view *v, double *part, double *error);
/** blocks_costs_compare() - blocks of another cost than average. Return: 0 or -ENOMEM */
int blocks_costs_compare(struct blocks *b);
/*
 * Without a calibration entry and exit of the interrupt are unknown: they were seen to take as long
 * as all the rest of a tick.
 */
#define BLOCKS_UNCALIBRATED	1.0

/**
 * blocks_calibration_error() - twice the relative standard error of a tick's calibrated time and
 * energy
 * Return: BLOCKS_UNCALIBRATED without a calibration
 */
double blocks_calibration_error(const struct view *v, const struct energy_columns *m);

#endif /* KJOULE_BLOCKS_COSTS_H */
