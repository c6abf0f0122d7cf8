// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows in whatever format was asked for; see output.h. Used by all verbs.
 */
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/base/text.h"
#include "output/output.h"
#include "output/table.h"

struct output {
	FILE *file;
	enum output_format format;
	const struct output_column *columns;
	size_t n, at;
	bool first;			/* of the row's CSV cells */
	struct table *table;
	struct json_object *rows, *row;
	const struct output_domain *domains;	/* of the columns, or NULL */
	struct json_object *row_domains,
		*row_domain; /* of the row; the one that was written to last */
	const char *row_domain_name;
};

struct output *output_open(FILE *file, enum output_format format,
			   const struct output_column *columns, size_t n)
{
	struct output *out = calloc(1, sizeof(*out));

	if (!out)
		return NULL;
	out->file = file;
	out->format = format;
	out->columns = columns;
	out->n = n;
	out->first = true;
	switch (format) {
	case OUTPUT_TABLE:
		out->table = table_new(columns, n);
		break;
	case OUTPUT_CSV:
		for (size_t i = 0; i < n; i++) {
			if (!columns[i].name)
				continue;
			if (!out->first)
				fputc(',', file);
			out->first = false;
			output_csv_cell(file, columns[i].name);
		}
		fputs("\r\n", file);
		out->first = true;
		break;
	case OUTPUT_JSON:
		out->rows = json_object_new_array();
		break;
	case OUTPUT_JSON_LINES:
		break;
	}
	return out;
}

void output_quiet(struct output *out)
{
	if (out->format == OUTPUT_TABLE)
		table_quiet(out->table);
}

void output_domains(struct output *out, const struct output_domain *domains)
{
	out->domains = domains;
}

void output_layout(struct output *out, const size_t *order, size_t n, bool titles)
{
	if (out->format == OUTPUT_TABLE)
		table_layout(out->table, order, n, titles);
}

const char *output_half(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") ? "+-" : "\xc2\xb1";
}

void output_identifier(char *text)
{
	for (; *text; text++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
			    *text))
			*text = '_';
}

/* @keep: control characters that stay; @escape: the others as in JSON, not question marks */
static void output_write_text(FILE *file, const char *text, const char *keep, bool escape)
{
	for (;;) {
		size_t n = kjoule_text_safe_len(text);
		uint32_t code;

		fwrite(text, 1, n, file);
		text += n;
		if (!*text)
			return;
		n = kjoule_text_char(text, &code);
		if (n && code < 0x80 && strchr(keep, code))
			fputc(code, file);
		else if (n && escape)
			fprintf(file, "\\u%04" PRIx32, code);
		else
			fprintf(file, "%.*s", n ? (int)n : 1, "????");
		text += n ? n : 1;
	}
}

void output_text(FILE *file, const char *text)
{
	output_write_text(file, text, "", false);
}

static size_t output_count_line_feeds(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

void output_printf(FILE *file, const char *fmt, ...)
{
	size_t before = strspn(fmt, "\n"), after = 0, len = strlen(fmt);
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		fputs("[no memory]\n", file);
		return;
	}
	while (after < len - before && fmt[len - after - 1] == '\n')
		after++;
	/* A string has some as well: of those in the middle it cannot be said whose they are. */
	if (output_count_line_feeds(text) != output_count_line_feeds(fmt))
		for (char *p = text + before; p < text + n - after; p++)
			if (*p == '\n')
				*p = '?';
	output_write_text(file, text, "\n", false);
	free(text);
}

void output_csv_cell(FILE *file, const char *text)
{
	/*
	 * Quotes do not stop a spreadsheet from evaluating a cell; an apostrophe in front does. One
	 * that is the name's own gets another, so that it can be taken off again.
	 */
	bool formula = *text && strchr("=+-@'\t\r\n", *text);
	char *copy, *rest, *part;

	if (!formula && text[0] != ' ' && !text[strcspn(text, "\",\n")]) {
		output_write_text(file, text, "\t\n", false);
		return;
	}
	fputs(formula ? "\"'" : "\"", file);
	copy = rest = strdup(text);
	if (!copy)
		fputc('?', file);	/* without memory: an empty cell would look like a value */
	while ((part = strsep(&rest, "\""))) {
		output_write_text(file, part, "\t\n", false);
		if (rest)
			fputs("\"\"", file);
	}
	free(copy);
	fputc('"', file);
}

void output_json_write(FILE *file, struct json_object *value, int flags)
{
	output_write_text(file, json_object_to_json_string_ext(value, flags), "\n", true);
}

struct json_object *output_json_real(double value)
{
	char text[32];

	if (!isfinite(value))
		return NULL;
	snprintf(text, sizeof(text), "%.9g", value);
	return json_object_new_double_s(value, text);
}

static void output_add_member(struct output *out, size_t column, struct json_object *value)
{
	const struct output_domain *d = out->domains ? &out->domains[column] : NULL;

	if (!out->row)
		out->row = json_object_new_object();
	if (!d || !d->name) {
		json_object_object_add(out->row, out->columns[column].name, value);
		return;
	}
	if (!out->row_domains) {
		out->row_domains = json_object_new_array();
		json_object_object_add(out->row, "domains", out->row_domains);
	}
	if (!out->row_domain || strcmp(out->row_domain_name, d->name)) {
		out->row_domain = json_object_new_object();
		out->row_domain_name = d->name;
		json_object_object_add(out->row_domain, "name", output_json_str(d->name));
		json_object_array_add(out->row_domains, out->row_domain);
	}
	json_object_object_add(out->row_domain, d->member, value);
}

/*
 * A cell as text for table and CSV, as an object (taken over) for JSON. @number: @machine is our
 * own, and its sign no formula
 */
static void output_put_cell(struct output *out, const char *human, const char *machine, bool number,
			    struct json_object *value)
{
	const struct output_column *column;

	if (out->at == out->n) {
		json_object_put(value);
		return;
	}
	column = &out->columns[out->at++];
	if (out->format == OUTPUT_TABLE) {
		table_cell(out->table, human);
	} else if (!column->name) {
		json_object_put(value);
		return;
	} else if (out->format == OUTPUT_CSV) {
		if (!out->first)
			fputc(',', out->file);
		out->first = false;
		if (number)
			fputs(machine, out->file);
		else
			output_csv_cell(out->file, machine);
	} else {
		output_add_member(out, out->at - 1, value);
		return;
	}
	json_object_put(value);
}

static bool output_is_json(const struct output *out)
{
	return out->format == OUTPUT_JSON || out->format == OUTPUT_JSON_LINES;
}

bool output_is_table(const struct output *out)
{
	return out->format == OUTPUT_TABLE;
}

struct json_object *output_json_str(const char *text)
{
	size_t n = kjoule_text_safe_len(text);
	struct json_object *o;
	char *clean;

	if (!text[n])
		return json_object_new_string_len(text, n);
	clean = strdup(text);
	if (!clean)
		return NULL;
	for (char *p = clean + n; *p; p += n) {
		uint32_t code;

		n = kjoule_text_char(p, &code);
		if (!n) {
			*p = '?';
			n = 1;
		}
	}
	o = json_object_new_string(clean);
	free(clean);
	return o;
}

void output_str(struct output *out, const char *text)
{
	output_put_cell(out, text, text, false, output_is_json(out) ? output_json_str(text) : NULL);
}

void output_u64(struct output *out, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	output_put_cell(out, text, text, true,
			output_is_json(out) ? json_object_new_uint64(value) : NULL);
}

void output_i64(struct output *out, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	output_put_cell(out, text, text, true,
			output_is_json(out) ? json_object_new_int64(value) : NULL);
}

void output_bool(struct output *out, bool value)
{
	output_put_cell(out, value ? "yes" : "no", value ? "1" : "0", true,
			output_is_json(out) ? json_object_new_boolean(value) : NULL);
}

void output_real(struct output *out, double value, int digits)
{
	char human[64], machine[32];

	if (!isfinite(value)) {
		output_none(out, "the number is not finite");
		return;
	}
	snprintf(human, sizeof(human), "%.*f", digits, value);
	snprintf(machine, sizeof(machine), "%.9g", value);
	output_put_cell(out, human, machine, true,
			output_is_json(out) ? output_json_real(value) : NULL);
}

void output_known(struct output *out, double value, int digits, const char *why)
{
	if (isnan(value))
		output_none(out, why);
	else
		output_real(out, value, digits);
}

void output_json(struct output *out, const char *text, struct json_object *value)
{
	output_put_cell(out, text, text, false, value);
}

void output_none(struct output *out, const char *why)
{
	if (out->format == OUTPUT_TABLE && out->at < out->n && why &&
	    table_shows_column(out->table, out->at))
		table_reason(out->table, why);
	/* Records of many kinds share a stream's columns: what does not apply is left out. */
	if (out->format == OUTPUT_JSON_LINES)
		out->at++;
	else
		output_put_cell(out, "-", "", true, NULL);
}

void output_emphasis(struct output *out, enum output_emphasis how)
{
	if (out->format == OUTPUT_TABLE)
		table_emphasis(out->table, how);
}

void output_row(struct output *out)
{
	while (out->at < out->n)
		output_put_cell(out, "", "", true, NULL);
	out->at = 0;
	out->row_domains = out->row_domain = NULL;
	switch (out->format) {
	case OUTPUT_TABLE:
		table_row(out->table);
		break;
	case OUTPUT_CSV:
		fputs("\r\n", out->file);
		out->first = true;
		break;
	case OUTPUT_JSON:
		json_object_array_add(out->rows, out->row);
		out->row = NULL;
		break;
	case OUTPUT_JSON_LINES:
		output_json_write(out->file, out->row, JSON_C_TO_STRING_PLAIN |
				  JSON_C_TO_STRING_NOSLASHESCAPE);
		fputc('\n', out->file);
		json_object_put(out->row);
		out->row = NULL;
		break;
	}
}

void output_rule(struct output *out)
{
	if (out->format == OUTPUT_TABLE)
		table_rule(out->table);
}

void output_close(struct output *out, struct json_object *head, const char *rows_name)
{
	struct json_object *document = out->rows;

	if (out->format == OUTPUT_TABLE)
		table_print(out->table, out->file);
	if (out->format == OUTPUT_JSON) {
		if (head) {
			json_object_object_add(head, "format",
					       json_object_new_int(OUTPUT_JSON_FORMAT));
			json_object_object_add(head, rows_name, out->rows);
			document = head;
			head = NULL;
		}
		output_json_write(out->file, document, JSON_C_TO_STRING_PRETTY |
				  JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
		fputc('\n', out->file);
		json_object_put(document);
	}
	json_object_put(head);
	table_free(out->table);
	free(out);
}

char *output_clean(const char *text)
{
	char *copy = strdup(text);

	if (copy)
		kjoule_text_clean(copy);
	return copy;
}
