/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variation-aware model of ALEA (section 3.3.2, equations 4 to 6): the power of a block that is shorter than a
 * meter's sensing interval, from readings of a meter that was started at the block's first instruction, half of them
 * with the program held from then on, half with the block run before (kmod/method/vpm/vpm.c). Pure.
 */
#ifndef KJOULE_VPM_H
#define KJOULE_VPM_H

#include <stddef.h>
#include "analysis/stats/interval.h"

enum vpm_kind {
	VPM_UNDELAYED,	/* held from the block's second instruction on */
	VPM_DELAYED,	/* held from its end on */
	VPM_PAUSED,	/* held all the time */
	VPM_KINDS
};

/**
 * struct vpm_reading - one that is of use
 * @ran_s:	from the start of the meter until the program was stopped; 0 with VPM_PAUSED
 * @power_w:	mean over the sensing interval
 * @busy_s:	for which other CPUs were busy meanwhile, all together
 */
struct vpm_reading {
	enum vpm_kind kind;
	double ran_s, power_w, busy_s;
};

/**
 * struct vpm_input - readings of a block
 * @readings:	those of VPM_PAUSED may be of any block: what is held then is the same
 * @interval_s:	the meter's sensing interval
 * @late:	times that the block had not ended when the interval had
 * @moved:	times that its thread slept or changed its CPU in it, or a CPU came or went
 * @idle_w,@peak_w: what the block's power is between; NAN: not known
 * @irq_part:	part of the time of what runs that interrupts take, and @irq_w, their power; NAN: not known
 * @irq_part_error,@irq_w_error: how far off these may be, as half of a 95 % interval
 * @irq_interval_s: in so long there are about two of them, a tick of ours and one of the kernel's, or fewer. In a block
 *		so short that it hardly ever has one, a reading that an interrupt falls into is left out; others have
 *		their part of them
 */
struct vpm_input {
	const struct vpm_reading *readings;
	size_t n;
	double interval_s;
	size_t late, moved;
	double idle_w, peak_w;
	double irq_part, irq_w, irq_interval_s;
	double irq_part_error, irq_w_error;
};

/* Readings of each of the first two kinds, and of the third, that an interval needs. */
#define VPM_LEAST	10
#define VPM_PAUSED_LEAST	3

/*
 * Of delayed readings: when more of them are late, or late or moved, those that are not are the short runs of the block
 * alone, which neither happens to. A few may be by chance: VPM_LEFT_OUT_CHANCE, where some have moved.
 */
#define VPM_LATE_MOST	0.05

/*
 * Of the readings of a kind: when more of them are left out, besides those of a short block that an interrupt falls
 * into, what is left is a choice of them, and intervals reach to what all of them tell. So few may be by chance, however
 * few there are.
 */
#define VPM_LEFT_OUT_MOST	0.1
#define VPM_LEFT_OUT_CHANCE	3

/* Why there is no power. */
enum vpm_why {
	VPM_KNOWN,
	VPM_FEW,	/* too few readings of a kind */
	VPM_LONG,	/* the block takes longer than the sensing interval: constant power is for it */
	VPM_LOST,	/* that, or its thread sleeps or changes its CPU in it: likewise */
	VPM_SHORT,	/* its latency cannot be told from 0 */
	VPM_VAGUE,	/* the interval is no narrower than what is known without any reading */
	VPM_OUTSIDE,	/* all of the interval is outside of the bounds: these or the readings are wrong */
};

/**
 * struct vpm_result - what the readings tell
 * @n:		readings of each kind, without @left_out
 * @left_out:	of each kind, readings that differ from the others of their kind by far more than these among each other
 * @paused_w:	power while the program is held: "idle" of equation 4
 * @latency_s:	of the block
 * @power_w:	of the block (equation 6), between the bounds
 * @energy_j:	of one execution (equation 4), likewise
 * @irq_w:	power of the interrupts that were taken out; NAN: none were
 * @bounded:	power without bounds would be outside of them; it is at the bound, and its interval reaches from there to
 *		the end that it would have had
 * @scattered:	many readings are left out, and all intervals reach to what would be told with these as well
 */
struct vpm_result {
	enum vpm_why why;
	size_t n[VPM_KINDS], left_out[VPM_KINDS];
	struct value paused_w, latency_s, power_w, energy_j;
	double irq_w;
	bool bounded, scattered;
};

/**
 * vpm_solve() - power of a block
 *
 * With the means over the readings of each half, T the sensing interval:
 *
 *	latency = ran(delayed) - ran(undelayed)
 *	energy  = T power(delayed) - T power(undelayed) + held latency		(equation 4)
 *	power   = energy / latency						(equation 6)
 *
 * Before that the work of other CPUs is taken out: a running program's clock tick may wake an idle CPU to balance the
 * load, a held one's never comes, and what the kernel does elsewhere is in few readings. What that draws is the slope of
 * the energies over the others' time in readings of a kind. Its error is in the interval of the power, and so is half of
 * what is taken out: idle times do not have all of a CPU's way into and out of idleness.
 *
 * Of the last two, and of the latency, interrupts' part is taken out, whose own error is in the intervals. What the
 * measurement itself spends is in both halves alike. Intervals are 95 %, from what readings of a kind differ in, longer
 * runs having spent more (a run that takes longer is no error of the power), and from the meter's smallest step where
 * readings are alike. What they differ in is known from the middle half of them. Readings that are LEFT_OUT deviations
 * off, in which something else has happened, are left out, unless they have but an interrupt or two more than others,
 * or less.
 *
 * Return: 0, @r->why says whether there is a power; -ENOMEM
 */
int vpm_solve(const struct vpm_input *in, struct vpm_result *r);

/** vpm_left_out() - readings of all kinds that were left out */
size_t vpm_left_out(const struct vpm_result *r);

/**
 * vpm_energy() - equation 3: power times time, with both intervals; those of a bounded power have it near one end
 * @r:		whose power
 * @off_s:	part of the interval of @time: how far off what interrupts took of it may be
 *
 * With a time T in which they took a part r at a power I, off by dr, the time T (1 - r) is off by -T dr and the power P
 * by dr (P - I) / (1 - r): both come from the same dr. Together they are -T dr I, not the root of the sum of
 * their squares, which is T dr sqrt(P^2 + (P - I)^2); what this is short of where I > P is added.
 */
struct value vpm_energy(const struct vpm_result *r, const struct value *time, double off_s);

#endif /* KJOULE_VPM_H */
