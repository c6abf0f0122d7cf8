/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns of figures with their intervals, as all verbs that print times, energies and powers have
 * them.
 */
#ifndef KJOULE_COLUMNS_H
#define KJOULE_COLUMNS_H

#include "analysis/profile/profile.h"
#include "analysis/stats/interval.h"
#include "output/fields.h"
#include "output/output.h"

/* Of a column's name or title, domain included. */
#define COLUMNS_TEXT	96
/* diff has most of them */
#define COLUMNS_MOST	(64 + 36 * PROFILE_DOMAINS)
/* A column has a name, a member's name, a title, and a part of one. */
#define COLUMNS_TEXTS	(3 * COLUMNS_MOST)

/**
 * struct columns - those of a verb's rows
 * @fields:	of each, the field of a table that it belongs to; NULL: none
 * @field:	of those that are added next
 * @show:	domains that tables have, with commas between; NULL: the first, "all"
 * @n_domains:	of energy so far
 */
struct columns {
	struct output_column list[COLUMNS_MOST];
	struct output_domain domains[COLUMNS_MOST];
	const char *fields[COLUMNS_MOST], *field;
	const char *show;
	unsigned int n_domains;
	size_t n;
	char text[COLUMNS_TEXTS][COLUMNS_TEXT];
	size_t n_text;
};

/**
 * columns_new() - none yet
 * @show:	see struct columns
 * Return: NULL without memory; the caller's to free()
 */
struct columns *columns_new(const char *show);
/** columns_field() - the columns that follow belong to a field of tables */
void columns_field(struct columns *c, const char *field);
/** columns_layout() - tell @out of domains, and which columns its table has, see output/fields.h */
void columns_layout(const struct columns *c, struct output *out, const struct fields *fields,
		    bool titles);
/** columns_add() - see struct output_column */
void columns_add(struct columns *c, const char *name, const char *title, bool left);
/** columns_add_time() - a time with its interval, for columns_value() */
void columns_add_time(struct columns *c);
/**
 * columns_add_domain() - energy "energy_DOMAIN_j", its part in percent, and power "power_DOMAIN_w"
 * of a domain, with intervals, for columns_value(); fields "energy", "percent", "power"
 * @runs:	also how far the energy differs between runs
 */
void columns_add_domain(struct columns *c, const char *domain, bool runs);
/** columns_add_of() - "WHAT_DOMAIN_UNIT", in JSON "WHAT_UNIT" of the domain */
void columns_add_of(struct columns *c, const char *what, const char *domain, const char *unit,
		    const char *title);
/**
 * columns_add_figure() - the same with its interval, for columns_value(); @title NULL: not in
 * tables
 */
void columns_add_figure(struct columns *c, const char *what, const char *domain, const char *unit,
			const char *title);
/** columns_text() - a name or title that lives as long as the columns */
const char *columns_text(struct columns *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/**
 * columns_domain_title() - "ENERGY J" of the first domain, "core J" of those that were chosen;
 * NULL: tables have it not
 * @first:	it is the first of all
 */
const char *columns_domain_title(struct columns *c, const char *domain, bool first,
				 const char *what, const char *unit);
/**
 * columns_check_domains() - is each domain of a choice, see struct columns, there?
 * Return: 0, or -ENOENT with the reason in @err
 */
int columns_check_domains(const char *show, const char *const *names, size_t n,
			  struct kjoule_error *err);
/**
 * columns_shown_first() - the number of the domain that tables show first, where
 * columns_check_domains() found all
 */
unsigned int columns_shown_first(const char *show, const char *const *names, size_t n);
/** columns_shows() - do tables have this domain? @first: it is the first of all */
bool columns_shows(const struct columns *c, const char *domain, bool first);
/* A reason of columns_value() for nothing at all in tables. */
extern const char columns_blank[];

/**
 * columns_value() - a figure, half of its interval, and both ends
 * @why:	it is not known, if it is not
 * @why_vague:	its interval cannot
 */
void columns_value(struct output *out, const struct value *v, double scale, int digits,
		   const char *why, const char *why_vague);
/** columns_none() - so many cells of which there is nothing to tell */
void columns_none(struct output *out, unsigned int n);
/** columns_digits() - after the point, to show five significant ones of the largest figure */
int columns_digits(double largest);

#endif /* KJOULE_COLUMNS_H */
