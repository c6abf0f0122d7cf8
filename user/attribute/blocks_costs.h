/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ticks and other interrupts take on the CPUs of a recording: the inside of blocks.h.
 */
#ifndef KJOULE_BLOCKS_COSTS_H
#define KJOULE_BLOCKS_COSTS_H

#include "attribute/blocks.h"

/**
 * blocks_mean_khz() - harmonic mean of a CPU: what takes so many cycles takes on average so long as at this frequency
 * Return: 0: not known
 */
double blocks_mean_khz(const struct timeline_cpu *cpu);
/** blocks_own_tick_cost() - nanoseconds that a tick sees of itself, on the mean of a CPU */
double blocks_own_tick_cost(const struct view *v, const struct timeline_cpu *cpu);
/** blocks_tick_cost() - nanoseconds that a tick takes of a CPU, as calibrated */
double blocks_tick_cost(const struct view *v, const struct timeline_cpu *cpu);
/**
 * blocks_tick_less() - how much less than calibrated a tick draws on the mean, give or take as much, in watt
 * @irq_w,@idle_w: as calibrated, while an interrupt runs and while the CPU sleeps; NAN: not known
 *
 * Where it takes longer than in the calibration: half of what there is between waiting and doing more.
 */
double blocks_tick_less(const struct view *v, double irq_w, double idle_w);
/**
 * blocks_other_interrupts() - the part of the time that interrupts other than ours take, where no sample can fall
 * @error:	out: how far off that may be: twice the standard error
 */
void blocks_other_interrupts(const struct view *v, double *part, double *error);
/**
 * blocks_costs_compare() - of which blocks interrupts took another part than on the average: b->costs
 * Return: 0 or -ENOMEM
 */
int blocks_costs_compare(struct blocks *b);
/* Without a calibration entry and exit of the interrupt are not known: these have been seen to take as long as all the rest of a tick. */
#define BLOCKS_UNCALIBRATED	1.0

/**
 * blocks_calibration_error() - twice the standard error of what a tick was calibrated to take, and to spend, as a part of that
 * Return: BLOCKS_UNCALIBRATED where there was no calibration
 */
double blocks_calibration_error(const struct view *v, const struct energy_columns *m);

#endif /* KJOULE_BLOCKS_COSTS_H */
