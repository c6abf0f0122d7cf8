/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When one block followed another, more accurate than ticks: edges of runs of constant length
 * determine one another. Pure.
 */
#ifndef KJOULE_CHANGES_H
#define KJOULE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A change from one kind to another, between two ticks. */
struct change {
	uint32_t after;		/* what runs from here on */
	double from, to;	/* the last tick before, the first after */
	double at, variance;	/* out: most likely place, and its variance */
};

/**
 * changes_smooth() - place the changes
 * @kinds: how many kinds there are
 *
 * A change is somewhere between two ticks that are T apart, on average in the middle with a
 * variance of T^2/12. The length of a kind is learnt from all of its runs: mean, and variance less
 * what the ticks add to it. A Kalman filter along the changes and a Rauch-Tung-Striebel smoother
 * back combine both: for runs of varying length the middle remains, for runs of constant length a
 * change is as accurate as the mean of many. The remaining error is nearly independent of the
 * estimate, so that a regression on times between changes is hardly diluted by it.
 *
 * Return: 0 or -ENOMEM
 */
int changes_smooth(struct change *changes, size_t n, uint32_t kinds);

#endif /* KJOULE_CHANGES_H */
