// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables for people; see table.h. Used by output.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "output/table.h"

struct table {
	const struct output_column *columns;
	size_t n_columns;
	char **cells;		/* rows * n_columns, titles first; a rule is a row of NULLs */
	size_t n_cells, room;
	size_t at;		/* cells in the unfinished row */
	uint8_t *emphasis;	/* of each row that has any, up to @n_emphasis */
	size_t n_emphasis;
	char **reasons;
	size_t n_reasons;
};

static void table_push_cell(struct table *t, char *text)
{
	if (t->n_cells == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		char **cells = realloc(t->cells, room * sizeof(*cells));

		if (!cells) {
			free(text);
			return;
		}
		t->cells = cells;
		t->room = room;
	}
	t->cells[t->n_cells++] = text;
}

struct table *table_new(const struct output_column *columns, size_t n)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = columns;
	t->n_columns = n;
	for (size_t c = 0; c < n; c++)
		table_push_cell(t, output_clean(columns[c].title ? columns[c].title : ""));
	return t;
}

void table_cell(struct table *t, const char *text)
{
	if (t->at == t->n_columns)
		return;
	/* A name with a line break or an escape sequence must not break the table. */
	table_push_cell(t, output_clean(text));
	t->at++;
}

void table_row(struct table *t)
{
	while (t->at < t->n_columns)
		table_cell(t, "");
	t->at = 0;
}

void table_emphasis(struct table *t, enum output_emphasis how)
{
	size_t row = (t->n_cells - t->at) / t->n_columns;
	uint8_t *more = realloc(t->emphasis, row + 1);

	if (!more)
		return;
	t->emphasis = more;
	while (t->n_emphasis < row)
		t->emphasis[t->n_emphasis++] = OUTPUT_PLAIN;
	t->emphasis[row] = how;
	t->n_emphasis = row + 1;
}

void table_rule(struct table *t)
{
	for (size_t i = 0; i < t->n_columns; i++)
		table_push_cell(t, NULL);
}

void table_reason(struct table *t, const char *why)
{
	char **reasons;

	for (size_t i = 0; i < t->n_reasons; i++)
		if (!strcmp(t->reasons[i], why))
			return;
	reasons = realloc(t->reasons, (t->n_reasons + 1) * sizeof(*reasons));
	if (!reasons)
		return;
	t->reasons = reasons;
	t->reasons[t->n_reasons] = strdup(why);
	if (t->reasons[t->n_reasons])
		t->n_reasons++;
}

/* Characters on the terminal: UTF-8 continuation bytes take no room. */
static int table_text_width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void table_print_row(struct table *t, FILE *file, char *const *cells, const int *widths,
			    enum output_emphasis how)
{
	static const char *const colours[] = { [OUTPUT_WARM] = "33", [OUTPUT_HOT] = "1;31" };
	int pending = 0;

	if (how != OUTPUT_PLAIN)
		fprintf(file, "\033[%sm", colours[how]);
	for (size_t c = 0; c < t->n_columns; c++) {
		const char *text = cells[c];
		int pad;

		if (!t->columns[c].title)
			continue;
		pad = widths[c] - table_text_width(text);
		/* spaces only before something: none at the end of a line */
		if (!*text) {
			pending += pad + 2;
		} else if (t->columns[c].left) {
			fprintf(file, "%*s%s", pending, "", text);
			pending = pad + 2;
		} else {
			fprintf(file, "%*s%s", pending + pad, "", text);
			pending = 2;
		}
	}
	fputs(how != OUTPUT_PLAIN ? "\033[0m\n" : "\n", file);
}

void table_print(struct table *t, FILE *file)
{
	int *widths = calloc(t->n_columns, sizeof(*widths));
	size_t rows = t->n_cells / t->n_columns;
	bool colour = isatty(fileno(file)) && !getenv("NO_COLOR");

	if (!widths)
		return;
	for (size_t c = 0; c < t->n_columns; c++) {
		if (!t->columns[c].title)
			continue;
		for (size_t r = 0; r < rows; r++) {
			const char *text = t->cells[r * t->n_columns + c];

			if (text && table_text_width(text) > widths[c])
				widths[c] = table_text_width(text);
		}
	}
	for (size_t r = 0; r < rows; r++) {
		char **row = t->cells + r * t->n_columns;

		if (row[0])
			table_print_row(t, file, row, widths,
					colour && r < t->n_emphasis ? t->emphasis[r] :
					OUTPUT_PLAIN);
		else
			fputc('\n', file);
	}
	for (size_t i = 0; i < t->n_reasons; i++)
		output_printf(file, i ? "- : %s\n" : "\n- : %s\n", t->reasons[i]);
	free(widths);
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	for (size_t i = 0; i < t->n_reasons; i++)
		free(t->reasons[i]);
	free(t->cells);
	free(t->reasons);
	free(t->emphasis);
	free(t);
}
