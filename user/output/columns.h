/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns of figures with their intervals, as all verbs that print times, energies and powers have them.
 */
#ifndef KJOULE_COLUMNS_H
#define KJOULE_COLUMNS_H

#include "analysis/profile/profile.h"
#include "analysis/stats/interval.h"
#include "output/output.h"

/* Of a column's name or title, domain included. */
#define COLUMNS_TEXT	96
/* diff has most of them */
#define COLUMNS_MOST	(64 + 36 * PROFILE_DOMAINS)

struct columns {
	struct output_column list[COLUMNS_MOST];
	size_t n;
	char text[COLUMNS_MOST][COLUMNS_TEXT];
	size_t n_text;
};

/** columns_new() - none yet. Return: NULL without memory; the caller's to free() */
struct columns *columns_new(void);
/** columns_add() - see struct output_column */
void columns_add(struct columns *c, const char *name, const char *title, bool left);
/** columns_add_time() - a time with its interval, for columns_value() */
void columns_add_time(struct columns *c);
/** columns_add_energy() - "energy_DOMAIN_j" with its interval, for columns_value() */
void columns_add_energy(struct columns *c, const char *domain);
/** columns_add_power() - the same for "power_DOMAIN_w" */
void columns_add_power(struct columns *c, const char *domain);
/**
 * columns_add_domain() - both, and between them its part in percent, in tables of the @first domain only
 * @runs:	also how far the energy differs between runs
 */
void columns_add_domain(struct columns *c, const char *domain, bool first, bool runs);
/** columns_name() - for programs: what, of which domain, in which unit; lives as long as the columns */
const char *columns_name(struct columns *c, const char *what, const char *domain, const char *unit);
/** columns_title() - the same for people, shorter */
const char *columns_title(struct columns *c, const char *domain, const char *unit);
/**
 * columns_value() - a figure, half of its interval, and both ends
 * @why:	it cannot be told, if it cannot
 * @why_vague:	its interval cannot
 */
void columns_value(struct output *out, const struct value *v, double scale, int digits, const char *why,
		   const char *why_vague);
/** columns_none() - so many cells of which there is nothing to tell */
void columns_none(struct output *out, unsigned int n);
/** columns_digits() - after the point, to show five significant ones of the largest figure */
int columns_digits(double largest);

#endif /* KJOULE_COLUMNS_H */
