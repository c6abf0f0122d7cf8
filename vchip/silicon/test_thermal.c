// SPDX-License-Identifier: GPL-2.0-only
/*
 * where: host
 *
 * How warm the package gets, and how fast, with its fan on and off. Time is the test's own.
 */
#include <math.h>

#include "../../selftests/ktap.h"
#include "core.h"
#include "page.h"
#include "shipped.h"
#include "thermal.h"

struct page page;
const struct profile *chip;

static struct profile profile;
static struct vchip_pkg pkg;
static struct thermal thermal;

/* A chip with a resistance of 2 K/W, 3 with its fan off, and a time constant of 2 s with it on. */
static void start(void)
{
	shipped(&profile, "haswell");
	chip = &profile;
	pkg = (struct vchip_pkg){ 0 };
	thermal_init(&thermal, &pkg);
}

static double draw(double watt, double seconds, uint64_t step_ns)
{
	double celsius = 0;

	for (uint64_t ns = 0; ns < (uint64_t)(seconds * 1e9); ns += step_ns)
		celsius = thermal_advance(&thermal, step_ns, watt) / 1000;
	return celsius;
}

static void check_near(double found, double wanted, const char *what)
{
	if (!ktap_check(fabs(found - wanted) <= 0.01, "%s", what))
		printf("# %g instead of %g degrees\n", found, wanted);
}

int main(void)
{
	double ambient;

	start();
	ambient = chip->ambient_mc / 1000.0;
	check_near(draw(0, 10, 1000000), ambient, "what draws nothing is as warm as its surroundings");
	check_near(draw(15, 2, 1000000), ambient + 2 * 15 * (1 - exp(-1)), "after its time constant it has all but 1/e of the way");
	check_near((double)pkg.temp_mc / 1000, ambient + 2 * 15 * (1 - exp(-1)), "the guest sees the same");
	check_near(draw(15, 60, 1000000), ambient + 2 * 15, "in the end it has what its resistance makes of the power");
	check_near(draw(3, 4, 1000000), ambient + 6 + 24 * exp(-2), "it cools down as fast");
	start();
	check_near(draw(15, 2, 250000000), ambient + 2 * 15 * (1 - exp(-1)), "whatever the steps are");

	start();
	pkg.fan_slower = 1000;
	check_near(draw(15, 3, 1000000), ambient + 3 * 15 * (1 - exp(-1)), "without its fan it gets warmer, by its capacity, which is the same");
	check_near(draw(15, 60, 1000000), ambient + 3 * 15, "to what the other resistance makes of it");
	pkg.fan_slower = 500;
	check_near(draw(15, 60, 1000000), ambient + 2.5 * 15, "a fan at half its speed is in the middle");
	pkg.fan_slower = 5000;
	check_near(draw(15, 60, 1000000), ambient + 3 * 15, "and one cannot be slower than off");
	return ktap_end();
}
