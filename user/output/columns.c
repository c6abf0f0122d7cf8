// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See columns.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "output/columns.h"

static const char half[] = "\xc2\xb1";

struct columns *columns_new(void)
{
	return calloc(1, sizeof(struct columns));
}

void columns_add(struct columns *c, const char *name, const char *title, bool left)
{
	c->list[c->n++] = (struct output_column){ name, title, left };
}

const char *columns_name(struct columns *c, const char *what, const char *domain, const char *unit)
{
	char *text = c->text[c->n_text++];

	/* "energy_" + domain + "_j": characters that no program has to quote */
	snprintf(text, COLUMNS_TEXT, "%s_%.64s_%s", what, domain, unit);
	output_identifier(text);
	return text;
}

const char *columns_title(struct columns *c, const char *domain, const char *unit)
{
	char *text = c->text[c->n_text++];

	snprintf(text, COLUMNS_TEXT, "%.32s %s", domain, unit);
	return text;
}

void columns_add_time(struct columns *c)
{
	columns_add(c, "time_s", "TIME s", false);
	columns_add(c, NULL, half, false);
	columns_add(c, "time_lo_s", NULL, false);
	columns_add(c, "time_hi_s", NULL, false);
}

void columns_add_energy(struct columns *c, const char *domain)
{
	columns_add(c, columns_name(c, "energy", domain, "j"), columns_title(c, domain, "J"), false);
	columns_add(c, NULL, half, false);
	columns_add(c, columns_name(c, "energy_lo", domain, "j"), NULL, false);
	columns_add(c, columns_name(c, "energy_hi", domain, "j"), NULL, false);
}

void columns_add_power(struct columns *c, const char *domain)
{
	columns_add(c, columns_name(c, "power", domain, "w"), "W", false);
	columns_add(c, NULL, half, false);
	columns_add(c, columns_name(c, "power_lo", domain, "w"), NULL, false);
	columns_add(c, columns_name(c, "power_hi", domain, "w"), NULL, false);
}

void columns_add_domain(struct columns *c, const char *domain, bool first, bool runs)
{
	columns_add_energy(c, domain);
	if (runs)
		columns_add(c, columns_name(c, "energy_between", domain, "j"), NULL, false);
	columns_add(c, columns_name(c, "energy_percent", domain, "percent"), first ? "%" : NULL, false);
	columns_add_power(c, domain);
}

void columns_none(struct output *out, unsigned int n)
{
	while (n--)
		output_none(out, NULL);
}

void columns_value(struct output *out, const struct value *v, double scale, int digits, const char *why,
		   const char *why_vague)
{
	if (isnan(v->v)) {
		for (int i = 0; i < 4; i++)
			output_none(out, i == 1 ? NULL : why);
		return;
	}
	output_real(out, v->v * scale, digits);
	if (isnan(v->lo)) {
		output_none(out, why_vague);
		columns_none(out, 2);
		return;
	}
	output_real(out, (v->hi - v->lo) / 2 * scale, digits);
	output_real(out, v->lo * scale, digits);
	output_real(out, v->hi * scale, digits);
}

int columns_digits(double largest)
{
	int d;

	if (!(largest > 0) || !isfinite(largest))
		return 3;
	d = 4 - (int)floor(log10(largest));
	return d < 0 ? 0 : d > 9 ? 9 : d;
}
