/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest can see of the virtual chip without kjoule, for tests that compare:
 * files of sysfs, PMUs, and a file that a test may make slow or failing. Used by the
 * tests of sources.
 */
#ifndef KJOULE_SELFTESTS_CHIP_H
#define KJOULE_SELFTESTS_CHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

/* Bits for struct nl_spec.given. */
#define GIVE(name)	(1U << KJOULE_A_SPEC_##name)
#define GIVE_FILE	(GIVE(ORIGIN) | GIVE(NAME) | GIVE(QUANTITY) | GIVE(FD))
#define GIVE_PMU	(GIVE(ORIGIN) | GIVE(NAME) | GIVE(QUANTITY) | GIVE(PERF_TYPE) | \
			 GIVE(PERF_CONFIG))
#define GIVE_NAMED	(GIVE(ORIGIN) | GIVE(NAME))

/* Events of the chip's PMUs. */
#define POWER_ENERGY_CORES	1
#define POWER_ENERGY_PKG	2
#define VCHIP_INSTRUCTIONS	2

/* Descriptors of the first file that matches, or -1. */
int chip_open(const char *pattern, int flags);
bool chip_read(const char *pattern, int64_t *value);
int64_t chip_number(int fd);

int chip_power(void);		/* uW */
int chip_energy(void);		/* uJ of the package */
int chip_temperature(void);	/* thousandths of a degree */
uint64_t chip_register(const char *name);
int pmu_type(const char *name);

/* A parameter of one of the laboratory's modules; without it the test ends. */
void set_parameter(const char *module, const char *name, const char *text);

/* The file for tests; writes fail the program. */
int test_file(void);
void test_file_says(const char *text);
void test_file_waits(unsigned int ms);
void test_file_fails(unsigned int error);

#endif
