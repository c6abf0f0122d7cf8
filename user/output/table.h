/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of text set in columns; the widths are known only at the end.
 */
#ifndef KJOULE_TABLE_H
#define KJOULE_TABLE_H

#include <stdio.h>
#include "output/output.h"

struct table;

struct table *table_new(const struct output_column *columns, size_t n);
/** table_layout() - see output_layout(). @order stays until table_print() */
void table_layout(struct table *t, const size_t *order, size_t n, bool titles);
/** table_shows_column() - is a column in it? */
bool table_shows_column(const struct table *t, size_t column);
void table_cell(struct table *t, const char *text);
/** table_emphasis() - of the row that is being written */
void table_emphasis(struct table *t, enum output_emphasis how);
void table_row(struct table *t);
void table_rule(struct table *t);
/** table_reason() - why some cell is "-": printed once below the table */
void table_reason(struct table *t, const char *why);
/** table_quiet() - they are not printed */
void table_quiet(struct table *t);
void table_print(struct table *t, FILE *file);
void table_free(struct table *t);

#endif /* KJOULE_TABLE_H */
