/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When one block followed another, better than the ticks alone tell: what lasts equally long each time
 * has edges that are known from one another. Pure.
 */
#ifndef KJOULE_CHANGES_H
#define KJOULE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A change from one kind to another, between two ticks. */
struct change {
	uint32_t after;		/* what runs from here on */
	double from, to;	/* the last tick of what was before, the first of what is after */
	double at, variance;	/* out: where it was, most likely, and how sure that is */
};

/**
 * changes_smooth() - place the changes
 * @kinds:	how many kinds there are
 *
 * A change is somewhere between two ticks that are T apart, on the average in the middle with a
 * variance of T^2/12. How long a kind lasts is learnt from all of its runs: mean, and variance less
 * what the ticks add to it. A Kalman filter along the changes and a Rauch-Tung-Striebel smoother
 * back put both together: where runs differ in length the middle remains, where they do not, a change
 * is as well known as many of them. What is left of the error is nearly independent of what is told, so
 * that a regression on times between changes is hardly pulled down by it.
 *
 * Return: 0 or -ENOMEM
 */
int changes_smooth(struct change *changes, size_t n, uint32_t kinds);

#endif /* KJOULE_CHANGES_H */
