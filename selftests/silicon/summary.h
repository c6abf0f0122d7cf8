/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What silicon_summary finds out, as its parts hand it to its printer: sources.c asks the
 * module, files.c reads sysfs, ticks.c runs sessions, frequencies.c compares frequencies,
 * print.c and json.c show all of it. Nothing here is printed before everything has been measured.
 */
#ifndef KJOULE_SELFTESTS_SUMMARY_H
#define KJOULE_SELFTESTS_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "../kmod/nl.h"

#define MAX_SOURCES	32
#define MAX_DOMAINS	32	/* bits of a kjoule_energy record */
#define MAX_FILES	256
#define MAX_PERIODS	64
#define MAX_REFERENCES	8

/* Of a distribution. */
struct spread {
	uint64_t n;
	uint64_t p5, p50, p95, p99, max;
};

struct domain {
	bool there;
	char name[32];
	uint32_t class, width, shift;
	uint64_t mult;
	int32_t parent;
	uint64_t period_ns;		/* nominal, 0 if unknown */
};

struct source {
	char name[64];
	char reason[128];
	uint32_t kind;
	int32_t rating;
	bool available, is_default, requested_only;
	uint64_t reference_khz;
	struct domain domain[MAX_DOMAINS];
};

/* A place in sysfs where energy, power or frequency is reported. */
struct file {
	const char *kind;		/* powercap, hwmon, power_supply, perf_pmu, cpufreq */
	char name[64];
	char path[160];
	char value[256];
};

/* How an energy domain of a package moved. */
struct period {
	const struct domain *domain;
	uint32_t cpu;			/* which read it */
	struct spread ns;		/* between two moves */
	uint64_t resolution_ns;		/* ticks were that far apart */
	/* times between moves that were not used: ticks are missing in them */
	uint64_t holes;
	uint64_t back;			/* moves backwards */
	uint64_t energy_uj, time_ns;	/* from the first record to the last */
};

struct ticks {
	bool done;
	char why[320];			/* not done */
	uint32_t cpus, cpus_seen;
	uint64_t interval_ns, due, produced, missed, lost;
	struct spread late_ns;		/* of all ticks */
	struct spread skew_ns;		/* latest less earliest CPU of the same tick */
	double tick_ns;			/* mean of the module's own time in a tick */
};

struct reference {
	const char *name;
	bool measured;			/* the frequency that ran, not the one requested */
	uint64_t khz;			/* 0 if it has nothing to tell */
	char note[320];
};

struct summary {
	char model[96], kernel[96], cpufreq_driver[32], clocksource[32], lockdown[64];
	/* of need.c: why the module cannot be asked; NULL if it can */
	const char *lacks;
	uint32_t cpus;

	struct source source[MAX_SOURCES];
	unsigned int n_sources;
	const struct source *energy, *frequency;	/* the defaults, NULL if there is none */

	struct file file[MAX_FILES];
	unsigned int n_files;

	struct period period[MAX_PERIODS];
	unsigned int n_periods;
	char no_periods[320];		/* why there are none */

	struct ticks idle, loaded;

	struct reference reference[MAX_REFERENCES];
	unsigned int n_references;
	uint32_t reference_cpu;
	uint64_t tsc_khz;		/* measured against CLOCK_MONOTONIC, 0 without one */
};

int sources_ask(struct nl *nl, struct summary *s);
void sources_lack(const struct summary *s, uint32_t kind, char *why, size_t size);
void files_list(struct summary *s);
bool file_read(const char *path, char *text, int size);
void ticks_measure(struct nl *nl, struct summary *s, unsigned int seconds);
void periods_measure(struct nl *nl, struct summary *s, unsigned int seconds);
void references_ask(struct nl *nl, struct summary *s);

struct spread spread_of(uint64_t *values, uint64_t n);
const struct file *file_of(const struct summary *s, const char *kind, unsigned int from);

/* Agreement that print.c shows, in percent. */
#define PERIOD_AGREES	10
#define PERIOD_HOLES	10	/* of the moves; with more than that it is not known */
#define REFERENCE_AGREES	5

const char *source_kind(const struct source *source);
double domain_unit_uj(const struct domain *d);
bool period_told(const struct period *p);
bool period_agrees(const struct period *p);
unsigned int references_measured(const struct summary *s, const struct reference **low,
				 const struct reference **high);
double references_apart(const struct reference *low, const struct reference *high);

int print_ktap(const struct summary *s);
void print_json(const struct summary *s);

#endif
