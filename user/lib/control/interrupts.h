/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many interrupts a CPU has taken, from the kernel's own table.
 */
#ifndef KJOULE_INTERRUPTS_H
#define KJOULE_INTERRUPTS_H

#include <stdint.h>
#include <stdio.h>

/**
 * kjoule_interrupts_parse() - a CPU's column of /proc/interrupts, summed
 * @f: the table; CPUs that are offline have no column in it
 * @cpu: its number, as in the table's head
 * @count: out: interrupts of every kind since boot
 * Return: 0, -ENXIO when the table has no such CPU, -ENOMEM
 */
int kjoule_interrupts_parse(FILE *f, unsigned int cpu, uint64_t *count);

/** kjoule_interrupts() - the same of this machine. Return: 0 or -errno */
int kjoule_interrupts(unsigned int cpu, uint64_t *count);

#endif /* KJOULE_INTERRUPTS_H */
