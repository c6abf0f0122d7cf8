// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See columns.h.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "output/columns.h"

static const char half[] = "\xc2\xb1";

struct columns *columns_new(const char *show)
{
	struct columns *c = calloc(1, sizeof(struct columns));

	if (c)
		c->show = show;
	return c;
}

void columns_field(struct columns *c, const char *field)
{
	c->field = field;
}

void columns_add(struct columns *c, const char *name, const char *title, bool left)
{
	assert(c->n < COLUMNS_MOST);
	c->fields[c->n] = c->field;
	c->list[c->n++] = (struct output_column){ name, title, left };
}

const char *columns_text(struct columns *c, const char *fmt, ...)
{
	char *text = c->text[c->n_text++];
	va_list ap;

	assert(c->n_text <= COLUMNS_TEXTS);
	va_start(ap, fmt);
	vsnprintf(text, COLUMNS_TEXT, fmt, ap);
	va_end(ap);
	return text;
}

void columns_add_of(struct columns *c, const char *what, const char *domain, const char *unit,
		    const char *title)
{
	char *name = c->text[c->n_text++];

	assert(c->n_text <= COLUMNS_TEXTS);
	/* "energy_" + domain + "_j": characters that no program has to quote */
	snprintf(name, COLUMNS_TEXT, "%s_%.64s_%s", what, domain, unit);
	output_identifier(name);
	c->domains[c->n] = (struct output_domain){ domain, columns_text(c, "%s_%s", what, unit) };
	columns_add(c, name, title, false);
}

/* Is the name at @at, of @len, one that the list has before it? */
static bool columns_name_is_before(const char *list, const char *at, size_t len)
{
	for (; list < at; list += strcspn(list, ",") + 1)
		if (strcspn(list, ",") == len && !strncmp(list, at, len))
			return true;
	return false;
}

int columns_check_domains(const char *show, const char *const *names, size_t n,
			  struct kjoule_error *err)
{
	char list[256] = "";

	if (!show || !strcmp(show, "all"))
		return 0;
	for (size_t i = 0; i < n; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 names[i]);
	for (const char *at = show; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t len = strcspn(at, ","), i = 0;

		while (i < n && (strlen(names[i]) != len || strncmp(names[i], at, len)))
			i++;
		if (i < n && columns_name_is_before(show, at, len))
			return kjoule_fail(err, EINVAL, "--domain '%.*s': given twice",
					   (int)(len < 64 ? len : 64), at);
		if (i == n)
			return kjoule_fail(err, ENOENT,
					   "--domain '%.*s': there is no such domain; there %s %s",
					   (int)(len < 64 ? len : 64), at, n == 1 ? "is" : "are",
					   n ? list : "none");
	}
	return 0;
}

unsigned int columns_shown_first(const char *show, const char *const *names, size_t n)
{
	size_t len = show ? strcspn(show, ",") : 0;

	for (size_t i = 0; i < n && len; i++)
		if (strlen(names[i]) == len && !strncmp(names[i], show, len))
			return i;
	return 0;
}

bool columns_shows(const struct columns *c, const char *domain, bool first)
{
	const char *at = c->show;
	size_t len = strlen(domain);

	if (!at)
		return first;
	if (!strcmp(at, "all"))
		return true;
	for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, domain, len) && (!at[len] || at[len] == ','))
			return true;
	return false;
}

void columns_add_time(struct columns *c)
{
	columns_field(c, "time");
	columns_add(c, "time_s", "TIME s", false);
	columns_add(c, NULL, half, false);
	columns_add(c, "time_lo_s", NULL, false);
	columns_add(c, "time_hi_s", NULL, false);
}

const char *columns_domain_title(struct columns *c, const char *domain, bool first,
				 const char *what, const char *unit)
{
	if (!columns_shows(c, domain, first))
		return NULL;
	return c->show ? columns_text(c, "%.32s %s", domain, unit) :
			 columns_text(c, "%s %s", what, unit);
}

void columns_add_figure(struct columns *c, const char *what, const char *domain, const char *unit,
			const char *title)
{
	columns_add_of(c, what, domain, unit, title);
	c->domains[c->n].name = domain;
	columns_add(c, NULL, title ? half : NULL, false);
	columns_add_of(c, columns_text(c, "%s_lo", what), domain, unit, NULL);
	columns_add_of(c, columns_text(c, "%s_hi", what), domain, unit, NULL);
}

void columns_add_domain(struct columns *c, const char *domain, bool runs)
{
	const char *energy = columns_domain_title(c, domain, !c->n_domains, "ENERGY", "J");

	columns_field(c, "energy");
	columns_add_figure(c, "energy", domain, "j", energy);
	if (runs)
		columns_add_of(c, "energy_between", domain, "j", NULL);
	columns_field(c, "percent");
	columns_add_of(c, "energy", domain, "percent", energy ? "%" : NULL);
	columns_field(c, "power");
	columns_add_figure(c, "power", domain, "w",
			   columns_domain_title(c, domain, !c->n_domains, "POWER", "W"));
	columns_field(c, NULL);
	c->n_domains++;
}

/* Columns of a field, of this domain only where one is given. */
static size_t columns_add_to_order(const struct columns *c, const char *key, const char *domain,
				   size_t *order, size_t n)
{
	for (size_t i = 0; i < c->n; i++) {
		const char *of = c->domains[i].name;

		if (c->list[i].title && c->fields[i] && !strcmp(c->fields[i], key) &&
		    (!domain || (of && !strcmp(of, domain))))
			order[n++] = i;
	}
	return n;
}

static bool columns_are_of_domains(const struct columns *c, const char *key)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->fields[i] && !strcmp(c->fields[i], key) && c->domains[i].name)
			return true;
	return false;
}

static bool columns_name_new_domain(const struct columns *c, size_t column)
{
	for (size_t i = 0; i < column; i++)
		if (c->domains[i].name && !strcmp(c->domains[i].name, c->domains[column].name))
			return false;
	return true;
}

/* Fields that have each domain and follow each other, domain by domain. */
static size_t columns_order_domains(const struct columns *c, const char **keys, size_t n_keys,
				    size_t *order, size_t n)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0;
		     k < n_keys && c->domains[i].name && columns_name_new_domain(c, i); k++)
			n = columns_add_to_order(c, keys[k], c->domains[i].name, order, n);
	return n;
}

void columns_layout(const struct columns *c, struct output *out, const struct fields *fields,
		    bool titles)
{
	size_t order[COLUMNS_MOST], n = 0;
	const char *keys[FIELDS_MOST];
	size_t n_keys = fields_list(fields, keys);

	output_domains(out, c->domains);
	for (size_t k = 0; k < n_keys; k++) {
		size_t end = k;

		while (end < n_keys && columns_are_of_domains(c, keys[end]))
			end++;
		if (end == k) {
			n = columns_add_to_order(c, keys[k], NULL, order, n);
			continue;
		}
		n = columns_order_domains(c, keys + k, end - k, order, n);
		k = end - 1;
	}
	output_layout(out, order, n, titles);
}

void columns_none(struct output *out, unsigned int n)
{
	while (n--)
		output_none(out, NULL);
}

const char columns_blank[] = "";

/* Why there is no figure. */
static void columns_print_none(struct output *out, const char *why)
{
	if (why == columns_blank && output_is_table(out))
		output_str(out, "");
	else
		output_none(out, why == columns_blank ? NULL : why);
}

void columns_value(struct output *out, const struct value *v, double scale, int digits,
		   const char *why, const char *why_vague)
{
	if (isnan(v->v)) {
		for (int i = 0; i < 4; i++)
			columns_print_none(out, i == 1 && why != columns_blank ? NULL : why);
		return;
	}
	output_real(out, v->v * scale, digits);
	if (isnan(v->lo)) {
		columns_print_none(out, why_vague);
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
