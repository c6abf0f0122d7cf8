/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One way to write rows, whatever the format: a table for people, CSV (RFC 4180)
 * or JSON. Cells are filled from left to right; units are in the columns' names.
 */
#ifndef KJOULE_OUTPUT_H
#define KJOULE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

enum output_format {
	OUTPUT_TABLE,
	OUTPUT_CSV,
	OUTPUT_JSON,		/* one document, written by output_close() */
	OUTPUT_JSON_LINES,	/* an object a row, written at once */
};

/* JSON documents have it as "format". It grows when a member changes its meaning or goes. */
#define OUTPUT_JSON_FORMAT	1

/**
 * struct output_column - a column
 * @name:	in CSV and JSON, unit included: "energy_package_j"; table only if NULL
 * @title:	in tables: "ENERGY J"; not in tables if NULL
 * @left:	flush left in the table
 */
struct output_column {
	const char *name;
	const char *title;
	bool left;
};

/**
 * struct output_domain - the domain of energy that a column is of
 * @name:	NULL: of none; else it is a member of the row's "domains": [{"name": ...}] in JSON
 * @member:	its name there, "energy_j"
 */
struct output_domain {
	const char *name, *member;
};

enum output_emphasis { OUTPUT_PLAIN, OUTPUT_WARM, OUTPUT_HOT };

struct output;

/**
 * output_open() - begin
 * @columns:	must stay until output_close()
 * Return: NULL without memory
 */
struct output *output_open(FILE *file, enum output_format format,
			   const struct output_column *columns, size_t n);
/** output_quiet() - no reasons below the table, before output_close() */
void output_quiet(struct output *out);
/** output_domains() - of each column, before the first row; without it no column has one */
void output_domains(struct output *out, const struct output_domain *domains);
/**
 * output_layout() - which columns a table shows, before the first row; without it all that have a
 * title. Names, which are flush left, are cut where the table is wider than the terminal.
 * @order:	their numbers
 * @titles:	begin with a line of titles
 */
void output_layout(struct output *out, const size_t *order, size_t n, bool titles);
/** output_half() - the sign for half of an interval: "+-" where the locale has no UTF-8 */
const char *output_half(void);
/** output_is_table() - is it for people? */
bool output_is_table(const struct output *out);
void output_str(struct output *out, const char *text);
void output_u64(struct output *out, uint64_t value);
void output_i64(struct output *out, int64_t value);
void output_bool(struct output *out, bool value);
/** output_real() - @digits after the point in a table; nine significant ones elsewhere */
void output_real(struct output *out, double value, int digits);
/**
 * output_none() - a value that is not known, and why: "-" in a table, empty in CSV, null in
 *		   JSON, no member in JSON lines; never 0
 */
void output_none(struct output *out, const char *why);
/** output_known() - output_real(), or output_none() of a value that is NAN */
void output_known(struct output *out, double value, int digits, const char *why);
/** output_json() - a value that is no plain one: @value (taken over) in JSON, @text elsewhere */
void output_json(struct output *out, const char *text, struct json_object *value);
/**
 * output_emphasis() - how the row that is being written stands out: by colour, on a terminal only
 */
void output_emphasis(struct output *out, enum output_emphasis how);
void output_row(struct output *out);
/** output_rule() - an empty line in a table, nothing elsewhere */
void output_rule(struct output *out);
/**
 * output_close() - write what is left
 * @head:	JSON only: an object that becomes the document, the rows under @rows_name;
 *		taken over; NULL: the document is the array of rows. It gets a member "format".
 */
void output_close(struct output *out, struct json_object *head, const char *rows_name);

/** output_identifier() - make a column's name of @text: letters, digits, underscores */
void output_identifier(char *text);
/**
 * output_clean() - a copy, cleaned by kjoule_text_clean(), the caller's to free; NULL: no memory
 */
char *output_clean(const char *text);
/** output_text() - write @text, cleaned as by kjoule_text_clean() */
void output_text(FILE *file, const char *text);
/**
 * output_printf() - as fprintf(), cleaned as by kjoule_text_clean()
 *
 * For every line outside of tables that has a string in it. Line feeds of @fmt stay; those of the
 * strings become question marks, so that no name begins a line of its own.
 */
void output_printf(FILE *file, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/**
 * output_csv_cell() - one cell of text
 *
 * Quoted where RFC 4180 asks for it. Cleaned as by kjoule_text_clean(), but tabs and line feeds
 * stay. What a spreadsheet would take for a formula gets an apostrophe in front.
 */
void output_csv_cell(FILE *file, const char *text);
/**
 * output_json_write() - @value as JSON, without a line feed at its end
 * @flags:	of json_object_to_json_string_ext()
 *
 * What kjoule_text_is_safe() refuses is escaped; bytes that are not UTF-8 become question marks.
 */
void output_json_write(FILE *file, struct json_object *value, int flags);
/** output_json_str() - a string, in which bytes that are not UTF-8 become question marks */
struct json_object *output_json_str(const char *text);
/** output_json_real() - a number that prints with nine digits, null if not finite */
struct json_object *output_json_real(double value);

#endif /* KJOULE_OUTPUT_H */
