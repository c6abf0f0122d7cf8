// SPDX-License-Identifier: GPL-2.0-only
/*
 * The package's temperature: one thermal resistance to its surroundings and one capacity. Owns
 * the temperature; the fan's speed is the guest's. Called by package.c.
 */
#include "thermal.h"

#include <math.h>

#include "core.h"

void thermal_init(struct thermal *t, struct vchip_pkg *regs)
{
	*t = (struct thermal){ regs, chip->ambient_mc };
}

double thermal_advance(struct thermal *t, uint64_t ns, double watt)
{
	double resistance = chip->thermal_mc_per_w;
	double slower = page_read(t->regs->fan_slower) / 1000.0;
	double goal, decay, part = 1;

	/* a fan takes heat away; what the chip holds of it is the same */
	if (chip->thermal_off_mc_per_w > chip->thermal_mc_per_w && chip->thermal_mc_per_w)
		part += ((double)chip->thermal_off_mc_per_w / resistance - 1) *
			(slower < 1 ? slower : 1);
	goal = chip->ambient_mc + part * resistance * watt;
	decay = -expm1(-(double)ns / (double)chip->thermal_tau_ns / part);

	t->temp_mc += (goal - t->temp_mc) * decay;
	page_write(t->regs->temp_mc, (int32_t)t->temp_mc);
	return t->temp_mc;
}
