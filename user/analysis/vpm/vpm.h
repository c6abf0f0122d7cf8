/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variation-aware model of ALEA (section 3.3.2, equations 4 to 6): the power of a block shorter
 * than a meter's sensing interval, from readings of a meter that was started at the block's first
 * instruction, half of them with the program paused from then on, half with the block run before
 * (kmod/method/vpm/vpm.c). Pure.
 */
#ifndef KJOULE_VPM_H
#define KJOULE_VPM_H

#include <stddef.h>
#include "analysis/stats/interval.h"

enum vpm_kind {
	VPM_UNDELAYED,	/* paused from the block's second instruction on */
	VPM_DELAYED,	/* paused from its end on */
	VPM_PAUSED,	/* paused all the time */
	VPM_KINDS
};

/**
 * struct vpm_reading - a usable reading
 * @ran_s: from the start of the meter until the program was stopped; 0 with VPM_PAUSED
 * @power_w: mean over the sensing interval
 * @busy_s: sum over other CPUs of their busy time meanwhile
 */
struct vpm_reading {
	enum vpm_kind kind;
	double ran_s, power_w, busy_s;
};

/**
 * struct vpm_input - readings of a block
 * @readings: those of VPM_PAUSED may be of any block
 * @interval_s: the meter's sensing interval
 * @late: runs in which the block was longer than the interval
 * @moved: runs in which its thread slept or changed its CPU, or a CPU came or went
 * @idle_w,@peak_w: bounds of the block's power; NAN: unknown
 * @irq_part: part of running code's time in interrupts, and @irq_w, their power; NAN: unknown
 * @irq_part_error,@irq_w_error: half of a 95 % interval
 * @irq_interval_s: the time of about two of them, a tick of ours and one of the kernel's. In a
 *   block so short that it hardly ever has one, a reading with an interrupt is left out; others
 *   contain their part
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

/* An interval needs so many readings of each of the first two kinds, and of the third. */
#define VPM_LEAST	10
#define VPM_PAUSED_LEAST	3

/*
 * If more of the delayed readings are late, or late or moved, the rest are only the block's short
 * runs, which neither happens to. A few may be by chance: VPM_LEFT_OUT_CHANCE, if some have moved.
 */
#define VPM_LATE_MOST	0.05

/*
 * If more readings of a kind are left out, other than for an interrupt in a short block, the rest
 * may be biased, and intervals extend to the result of all readings. So few may be by chance,
 * however few there are.
 */
#define VPM_LEFT_OUT_MOST	0.1
#define VPM_LEFT_OUT_CHANCE	3

/* Why there is no power. */
enum vpm_why {
	VPM_KNOWN,
	VPM_FEW,	/* too few readings of a kind */
	VPM_LONG,	/* the block takes longer than the sensing interval: use constant power */
	VPM_LOST,	/* that, or its thread sleeps or changes its CPU in it: likewise */
	VPM_SHORT,	/* its latency is not significantly above 0 */
	VPM_VAGUE,	/* the interval is no narrower than the bounds */
	/* all of the interval is outside of the bounds: these or the readings are wrong */
	VPM_OUTSIDE,
};

/**
 * struct vpm_result - the solution
 * @n: readings of each kind, without @left_out
 * @left_out: of each kind, readings that differ far more than the others among each other
 * @paused_w: power while the program is paused: "idle" of equation 4
 * @latency_s: of the block
 * @power_w: of the block (equation 6), between the bounds
 * @energy_j: of one execution (equation 4), likewise
 * @irq_w: power of the interrupts that were taken out; NAN: none were
 * @bounded: the power would be outside of the bounds; it is set to the bound, and its interval
 *   keeps its other end
 * @scattered: many readings are left out, and all intervals extend to the result with these
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
 *  energy  = T power(delayed) - T power(undelayed) + paused latency  (equation 4)
 *	power   = energy / latency						(equation 6)
 *
 * Before that the energy of other CPUs is taken out: a running program's clock tick may wake an
 * idle CPU to balance the load, a paused one's never comes, and what the kernel does elsewhere is
 * in few readings. It is the slope of the energies over the others' time in readings of a kind. Its
 * error is in the interval of the power, and so is half of what is taken out, as a CPU's ways into
 * and out of idleness are not in its busy time.
 *
 * Of the last two, and of the latency, interrupts' part is taken out, whose own error is in the
 * intervals. The cost of the measurement itself is the same in both halves. Intervals are 95 %,
 * from the spread of readings of a kind, corrected for the length of runs (a run that takes longer
 * is no error of the power), and from the meter's smallest step if readings are equal. The spread
 * is that of the middle half. Readings that are LEFT_OUT deviations off are left out, unless they
 * just have an interrupt or two more or less than others.
 *
 * Return: 0, @r->why says whether there is a power; -ENOMEM
 */
int vpm_solve(const struct vpm_input *in, struct vpm_result *r);

/** vpm_left_out() - readings of all kinds that were left out */
size_t vpm_left_out(const struct vpm_result *r);

/**
 * vpm_energy() - equation 3: power times time, with both intervals; a bounded power is near one end
 * of its own
 * @r: whose power
 * @off_s: part of the interval of @time: possible error of interrupts' time
 *
 * With a time T with a part r in interrupts at a power I, off by dr, the time T (1 - r) is off by
 * -T dr and the power P by dr (P - I) / (1 - r): both come from the same dr. Together they are -T
 * dr I, not the root of the sum of their squares, which is T dr sqrt(P^2 + (P - I)^2); the rest is
 * added if I > P.
 */
struct value vpm_energy(const struct vpm_result *r, const struct value *time, double off_s);

#endif /* KJOULE_VPM_H */
