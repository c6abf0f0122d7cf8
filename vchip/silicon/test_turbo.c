// SPDX-License-Identifier: GPL-2.0-only
/*
 * where: host
 *
 * When a boost ends and when the next one begins, by what the package draws, its temperature and
 * the time, on the chips that are shaped like the Core i7-4500U. Time is the test's own.
 */
#include <math.h>
#include <string.h>

#include "../../selftests/ktap.h"
#include "core.h"
#include "log.h"
#include "page.h"
#include "shipped.h"
#include "turbo.h"

#define STEP_NS	UINT64_C(1000000)
#define BOTH	3u

struct page page;
struct core cores[VCHIP_MAX_CPUS];
unsigned int core_count = 2;
const struct profile *chip;

static struct profile profile;
static struct vchip_pkg pkg;
static struct turbo turbo;
static uint64_t now;

/* A chip that was just switched on. */
static void start(const char *name)
{
	shipped(&profile, name);
	chip = &profile;
	pkg = (struct vchip_pkg){ 0 };
	page.pkg[0] = &pkg;
	for (unsigned int i = 0; i < core_count; i++)
		cores[i].bit = 1u << i;
	turbo_init(&turbo, 0);
}

static uint32_t allowed(void)
{
	return chip->freq_khz[turbo_ceiling(&turbo)];
}

static void draw(double watt, double seconds, uint32_t running, double celsius)
{
	for (uint64_t end = now + (uint64_t)(seconds * 1e9); now < end;) {
		now += STEP_NS;
		turbo_advance(&turbo, now, STEP_NS, 1e6 * watt, running, 1000 * celsius);
	}
}

/* Seconds for which both CPUs boost, of at most 60. */
static double boost(double watt, double celsius)
{
	uint64_t begin = now;

	draw(watt, 0.001, BOTH, celsius);
	while (allowed() == 90000 && now - begin < UINT64_C(60000000000))
		draw(watt, 0.001, BOTH, celsius);
	return (double)(now - begin) / 1e9;
}

static void check_near(double found, double wanted, const char *what)
{
	if (!ktap_check(fabs(found - wanted) <= 0.003 + 0.001 * wanted, "%s", what))
		printf("# %g s instead of %g s\n", found, wanted);
}

static void check_power(void)
{
	const double tau = 2.83;

	start("haswell");
	draw(3, 60, 0, 40);
	check_near(boost(17, 69), tau * log(14 / 2.0), "from idle a boost lasts until the weighted mean is PL1");
	ktap_check(allowed() == 80000, "then it falls back to what it sustains");
	draw(15.02, 60, BOTH, 65);
	ktap_check(allowed() == 80000, "and stays there");
	draw(3, 1, 0, 50);
	check_near(boost(17, 69), tau * log((14 - 12.02 * exp(-1 / tau)) / 2), "after a second of idleness it boosts for less");
	draw(3, 60, 0, 40);
	check_near(boost(16, 69), tau * log(13 / 1.0), "what draws less boosts for longer");
	draw(3, 60, 0, 40);
	check_near(boost(14, 69), 60, "and what draws less than PL1 for ever");
	pkg.limit_pl1_uw = 10000000;
	draw(3, 60, 0, 40);
	check_near(boost(17, 69), tau * log(14 / 7.0), "PL1 is what the guest says");
	pkg.limit_tau_us = 1000000;
	draw(3, 60, 0, 40);
	check_near(boost(17, 69), log(14 / 7.0), "and so is tau");
}

static void check_active(void)
{
	start("haswell");
	draw(3, 60, 0, 40);
	draw(10, 1, 1, 60);
	ktap_check(allowed() == 100000, "one CPU at work gets more");
	draw(10, 0.001, BOTH, 60);
	ktap_check(allowed() == 90000, "both get less");
	draw(10, 0.004, 1, 60);
	ktap_check(allowed() == 90000, "one that halts for a moment counts");
	draw(10, 0.01, 1, 60);
	ktap_check(allowed() == 100000, "and no longer after that");
	pkg.turbo_off = 1;
	draw(10, 0.001, 1, 60);
	ktap_check(allowed() == 60000, "without turbo it gets the base frequency");
	pkg.turbo_off = 0;
	draw(10, 0.001, 1, 60);
	ktap_check(allowed() == 100000, "and with it more again");
}

static void check_temperature(void)
{
	start("haswell_hot");
	draw(3, 60, 0, 40);
	check_near(boost(17, 60), 60, "below its limit the temperature ends nothing");
	draw(17, 0.001, BOTH, 66);
	ktap_check(allowed() == 80000, "at the limit it ends the boost");
	draw(15, 1, BOTH, 64);
	ktap_check(allowed() == 80000, "a little below it there is no other one");
	draw(15, 0.001, BOTH, 62.9);
	ktap_check(allowed() == 90000, "and further below there is");
	start("haswell_both");
	draw(3, 60, 0, 40);
	check_near(boost(17, 69), 2.83 * log(7), "of power and temperature the power ends it");
	draw(3, 60, 0, 40);
	draw(17, 1, BOTH, 70);
	ktap_check(allowed() == 80000, "or the temperature, whichever comes first");
}

static void check_time(void)
{
	start("haswell_timed");
	draw(3, 60, 0, 40);
	check_near(boost(17, 69), 5.5, "time ends a boost");
	draw(3, 11, 0, 40);
	check_near(boost(17, 69), 0.001, "which is not back before it has rested");
	draw(3, 6, 0, 40);
	draw(6, 0.040, 1, 40);
	draw(3, 6, 0, 40);
	check_near(boost(16, 69), 5.5, "a moment of work ends no rest, and power does not matter");
	draw(3, 13, 0, 40);
	draw(17, 2, BOTH, 69);
	draw(3, 5, 0, 40);
	check_near(boost(17, 69), 3.5, "what was left of a boost is left after a short rest");
}

static void check_none(void)
{
	start("haswell_steady");
	draw(3, 60, 0, 40);
	draw(17, 60, BOTH, 90);
	ktap_check(allowed() == 80000, "a chip that does not boost stays where it is");
	start("plain");
	draw(3, 60, 0, 40);
	draw(50, 60, BOTH, 99);
	ktap_check(allowed() == 100000, "one without turbo grants what is asked for");
}

static void write_log(char *text, size_t size)
{
	FILE *file = fmemopen(text, size, "w");

	log_write(file);
	fclose(file);
}

/* All that the log has, and the last line of it. */
static void check_log(void)
{
	static char text[1 << 16];
	char line[128], *last = text;

	start("haswell");
	draw(3, 60, 0, 40);
	boost(17, 69);
	write_log(text, sizeof(text));
	snprintf(line, sizeof(line), "turbo,%llu,80000,2,1,", (unsigned long long)now);
	for (char *p = text; (p = strchr(p, '\n')) && p[1]; p++)
		last = p + 1;
	if (!ktap_check(!strncmp(last, line, strlen(line)), "the log has what ended it, and when"))
		printf("# %s\n", last);
}

int main(void)
{
	check_power();
	check_active();
	check_temperature();
	check_time();
	check_none();
	check_log();
	return ktap_end();
}
