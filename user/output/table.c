// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables for people; see table.h. Used by output.c.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/text.h"
#include "output/table.h"
#include "output/terminal.h"
#include "output/wrap.h"

/* Between columns; a name is not cut to less than that. */
#define TABLE_GAP	2
#define NAME_LEAST	12

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
	size_t *order;		/* numbers of the columns that are shown */
	size_t n_order;
	bool fits, untitled, quiet;
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

static void table_push_title(struct table *t, const char *title)
{
	static const char half[] = "\xc2\xb1";
	bool begins = !strncmp(title, half, strlen(half));
	char *text;

	if (asprintf(&text, "%s%s", begins ? output_half() : "",
		     title + (begins ? strlen(half) : 0)) < 0)
		text = NULL;
	if (text)
		kjoule_text_clean(text);
	table_push_cell(t, text);
}

struct table *table_new(const struct output_column *columns, size_t n)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->order = calloc(n + 1, sizeof(*t->order));
	if (!t->order) {
		free(t);
		return NULL;
	}
	t->columns = columns;
	t->n_columns = n;
	for (size_t c = 0; c < n; c++)
		if (columns[c].title)
			t->order[t->n_order++] = c;
	for (size_t c = 0; c < n; c++)
		table_push_title(t, columns[c].title ? columns[c].title : "");
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

void table_quiet(struct table *t)
{
	t->quiet = true;
}

/* Characters on the terminal: UTF-8 continuation bytes take no room. */
static int table_text_width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void table_layout(struct table *t, const size_t *order, size_t n, bool titles)
{
	t->n_order = n < t->n_columns ? n : t->n_columns;
	memcpy(t->order, order, t->n_order * sizeof(*order));
	t->untitled = !titles;
	t->fits = true;
}

bool table_shows_column(const struct table *t, size_t column)
{
	for (size_t i = 0; i < t->n_order; i++)
		if (t->order[i] == column)
			return true;
	return false;
}

/* Where less is shown than the column has: "begin..." */
static void table_print_text(FILE *file, const char *text, int width)
{
	int keep = table_text_width(text) <= width ? INT_MAX : width > 3 ? width - 3 : 0;

	for (; *text && keep; text++) {
		fputc(*text, file);
		keep -= ((unsigned char)text[1] & 0xc0) != 0x80;
	}
	if (*text)
		fprintf(file, "%.*s", width, "...");
}

/* The last name of a row has the room of the columns behind it, up to @most characters in all. */
static void table_print_row(struct table *t, FILE *file, char *const *cells, const int *widths,
			    int most, enum output_emphasis how)
{
	static const char *const colours[] = { [OUTPUT_WARM] = "33", [OUTPUT_HOT] = "1;31" };
	int pending = 0, column = 0;
	size_t last = 0;

	if (how != OUTPUT_PLAIN)
		fprintf(file, "\033[%sm", colours[how]);
	for (size_t i = 0; i < t->n_order; i++)
		last = *cells[t->order[i]] ? i : last;
	for (size_t i = 0; i < t->n_order; i++) {
		size_t c = t->order[i];
		const char *text = cells[c];
		int pad;

		pad = widths[c] - table_text_width(text);
		pad = pad < 0 ? 0 : pad;
		/* spaces only before something: none at the end of a line */
		if (!*text) {
			pending += widths[c] ? widths[c] + TABLE_GAP : 0;
		} else if (t->columns[c].left) {
			fprintf(file, "%*s", pending, "");
			table_print_text(file, text,
					 i == last && most - column > widths[c] ? most - column :
										  widths[c]);
			pending = pad + TABLE_GAP;
		} else {
			fprintf(file, "%*s%s", pending + pad, "", text);
			pending = TABLE_GAP;
		}
		column += widths[c] ? widths[c] + TABLE_GAP : 0;
	}
	fputs(how != OUTPUT_PLAIN ? "\033[0m\n" : "\n", file);
}

/* Names give way, the longest first: figures are never cut. */
static void table_fit_width(const struct table *t, int *widths, int most)
{
	int all = -TABLE_GAP;

	for (size_t i = 0; i < t->n_order; i++)
		all += widths[t->order[i]] ? widths[t->order[i]] + TABLE_GAP : 0;
	while (all > most) {
		int *widest = NULL;

		for (size_t i = 0; i < t->n_order; i++) {
			size_t c = t->order[i];

			if (t->columns[c].left && widths[c] > NAME_LEAST &&
			    (!widest || widths[c] > *widest))
				widest = &widths[c];
		}
		if (!widest)
			return;
		--*widest;
		all--;
	}
}

void table_print(struct table *t, FILE *file)
{
	int *widths = calloc(t->n_columns, sizeof(*widths));
	size_t rows = t->n_cells / t->n_columns;
	bool colour = file == stdout && terminal_has_colour();
	int most = !t->fits ? INT_MAX : file == stdout ? (int)terminal_width() : TERMINAL_WIDTH;

	if (!widths)
		return;
	for (size_t c = 0; c < t->n_columns; c++) {
		for (size_t r = t->untitled; r < rows; r++) {
			const char *text = t->cells[r * t->n_columns + c];

			if (text && table_text_width(text) > widths[c])
				widths[c] = table_text_width(text);
		}
	}
	table_fit_width(t, widths, most);
	for (size_t r = t->untitled; r < rows; r++) {
		char **row = t->cells + r * t->n_columns;

		if (row[0])
			table_print_row(t, file, row, widths, most,
					colour && r < t->n_emphasis ? t->emphasis[r] :
					OUTPUT_PLAIN);
		else
			fputc('\n', file);
	}
	for (size_t i = 0; i < t->n_reasons && !t->quiet; i++)
		wrap_footnote(file, "-", "%s", t->reasons[i]);
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
	free(t->order);
	free(t);
}
