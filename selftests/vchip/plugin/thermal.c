// SPDX-License-Identifier: GPL-2.0-only
/*
 * The package's temperature: one thermal resistance to its surroundings and one capacity. Owns
 * the temperature; the fan's speed is the guest's. Called by package.c.
 */
#include "thermal.h"

#include <math.h>

#include "core.h"

static double temp_mc;

void thermal_init(void)
{
	temp_mc = chip->ambient_mc;
}

double thermal_advance(uint64_t ns, double watt)
{
	double resistance = chip->thermal_mc_per_w, slower = page_read(page.pkg->fan_slower) / 1000.0;
	double goal, decay, part = 1;

	/* a fan takes heat away; what the chip holds of it is the same */
	if (chip->thermal_off_mc_per_w > chip->thermal_mc_per_w && chip->thermal_mc_per_w)
		part += ((double)chip->thermal_off_mc_per_w / resistance - 1) * (slower < 1 ? slower : 1);
	goal = chip->ambient_mc + part * resistance * watt;
	decay = -expm1(-(double)ns / (double)chip->thermal_tau_ns / part);

	temp_mc += (goal - temp_mc) * decay;
	page_write(page.pkg->temp_mc, (int32_t)temp_mc);
	return temp_mc;
}
