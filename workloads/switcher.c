// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that switches its own CPU's frequency: works for a while at each of the
 * frequencies that cpufreq offers, in turn, the stretches of different lengths.
 * Needs the userspace governor. Used by scripts/bench mean-frequency.
 *
 * usage: switcher SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pace.h"

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"
#define FREQUENCIES 32

__attribute__((noinline, noclone)) static void work(unsigned long rounds)
{
	asm volatile("1: add $1, %%rax; add $1, %%rdx; add $1, %%rcx; dec %0; jnz 1b"
		     : "+r"(rounds) :: "rax", "rdx", "rcx", "cc");
}

static int set_khz(const char *khz)
{
	FILE *f = fopen(CPUFREQ "scaling_setspeed", "w");
	int ok;

	if (!f)
		return -1;
	ok = fputs(khz, f) >= 0;
	return fclose(f) || !ok ? -1 : 0;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0, end;
	char line[512] = "", *khz[FREQUENCIES];
	unsigned int n = 0;
	FILE *f = fopen(CPUFREQ "scaling_available_frequencies", "r");

	if (seconds <= 0 || !f || !fgets(line, sizeof(line), f)) {
		fprintf(stderr, "usage: switcher SECONDS (with cpufreq's userspace governor)\n");
		return 2;
	}
	fclose(f);
	for (char *s = strtok(line, " \n"); s && n < FREQUENCIES; s = strtok(NULL, " \n"))
		khz[n++] = s;
	end = now() + seconds;
	for (unsigned int i = 0; now() < end; i++) {
		double stretch = now() + 0.05 + 0.03 * (i % 5);

		if (set_khz(khz[i * 3 % n])) {
			perror("switcher: scaling_setspeed");
			return 1;
		}
		while (now() < stretch)
			work(20000);
	}
	return 0;
}
