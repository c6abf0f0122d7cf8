// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows in whatever format was asked for; see output.h. Used by all verbs.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "output.h"
#include "table.h"

struct output {
	FILE *file;
	enum output_format format;
	const struct output_column *columns;
	size_t n, at;
	bool first;			/* of the row's CSV cells */
	struct table *table;
	struct json_object *rows, *row;
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

void output_identifier(char *text)
{
	for (; *text; text++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *text))
			*text = '_';
}

void output_csv_cell(FILE *file, const char *text)
{
	if (!text[strcspn(text, "\",\r\n")] && text[0] != ' ') {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

struct json_object *output_json_real(double value)
{
	char text[32];

	if (!isfinite(value))
		return NULL;
	snprintf(text, sizeof(text), "%.9g", value);
	return json_object_new_double_s(value, text);
}

/* A cell as text for table and CSV, as an object (taken over) for JSON. */
static void cell(struct output *out, const char *human, const char *machine,
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
		output_csv_cell(out->file, machine);
	} else {
		if (!out->row)
			out->row = json_object_new_object();
		json_object_object_add(out->row, column->name, value);
		return;
	}
	json_object_put(value);
}

static bool is_json(const struct output *out)
{
	return out->format == OUTPUT_JSON || out->format == OUTPUT_JSON_LINES;
}

bool output_is_table(const struct output *out)
{
	return out->format == OUTPUT_TABLE;
}

/* Length of the UTF-8 character at @p, 0 if there is none. */
static size_t utf8_len(const unsigned char *p)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 :
		   *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* overlong, surrogates, and beyond the last */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
	    (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

struct json_object *output_json_str(const char *text)
{
	struct json_object *o;
	char *clean = strdup(text);

	if (!clean)
		return NULL;
	for (unsigned char *p = (unsigned char *)clean; *p;) {
		size_t n = utf8_len(p);

		if (!n)
			*p = '?';
		p += n ? n : 1;
	}
	o = json_object_new_string(clean);
	free(clean);
	return o;
}

void output_str(struct output *out, const char *text)
{
	cell(out, text, text, is_json(out) ? output_json_str(text) : NULL);
}

void output_u64(struct output *out, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	cell(out, text, text, is_json(out) ? json_object_new_uint64(value) : NULL);
}

void output_i64(struct output *out, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	cell(out, text, text, is_json(out) ? json_object_new_int64(value) : NULL);
}

void output_bool(struct output *out, bool value)
{
	cell(out, value ? "yes" : "no", value ? "1" : "0",
	     is_json(out) ? json_object_new_boolean(value) : NULL);
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
	cell(out, human, machine, is_json(out) ? output_json_real(value) : NULL);
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
	cell(out, text, text, value);
}

void output_none(struct output *out, const char *why)
{
	if (out->format == OUTPUT_TABLE && out->at < out->n && out->columns[out->at].title && why)
		table_reason(out->table, why);
	/* Records of many kinds share a stream's columns: what does not apply is left out. */
	if (out->format == OUTPUT_JSON_LINES)
		out->at++;
	else
		cell(out, "-", "", NULL);
}

void output_emphasis(struct output *out, enum output_emphasis how)
{
	if (out->format == OUTPUT_TABLE)
		table_emphasis(out->table, how);
}

void output_row(struct output *out)
{
	while (out->at < out->n)
		cell(out, "", "", NULL);
	out->at = 0;
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
		fputs(json_object_to_json_string_ext(out->row, JSON_C_TO_STRING_PLAIN |
						     JSON_C_TO_STRING_NOSLASHESCAPE), out->file);
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
			json_object_object_add(head, rows_name, out->rows);
			document = head;
			head = NULL;
		}
		fputs(json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY |
						     JSON_C_TO_STRING_SPACED |
						     JSON_C_TO_STRING_NOSLASHESCAPE), out->file);
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

	for (unsigned char *p = (unsigned char *)copy; p && *p; p++) {
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
	}
	return copy;
}
