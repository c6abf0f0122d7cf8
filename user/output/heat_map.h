/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heat maps for gnuplot: coloured cells with their numbers. A cell without a figure is grey and has
 * the letter of its reason, which is written below the picture. Of a picture: all maps' cells
 * first, then the notes, then each map where its panel is.
 */
#ifndef KJOULE_HEAT_MAP_H
#define KJOULE_HEAT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Reasons of a picture: as many as there are letters. */
#define HEAT_MAP_REASONS	26

/**
 * struct heat_map_notes - what is written below a picture
 * @text:	reasons of cells without a figure, each once
 */
struct heat_map_notes {
	const char *text[HEAT_MAP_REASONS];
	size_t n;
};

/**
 * struct heat_map - the cells of one map, @number in its picture
 * @columns:	with many cells have no room for numbers
 * @known:	a cell has a figure
 * @lo,@hi:	of the scale
 */
struct heat_map {
	FILE *script;
	struct heat_map_notes *notes;
	size_t number, columns;
	bool known;
	double lo, hi;
};

/**
 * heat_map_note() - what stands where no figure is
 * @why:	the reason, up to its first colon or semicolon; it stays until the notes are written
 * Return: its letter
 */
char heat_map_note(struct heat_map_notes *notes, const char *why);
/** heat_map_open() - cells follow. @notes: of all maps of a picture together, at first none */
struct heat_map heat_map_open(FILE *script, struct heat_map_notes *notes, size_t number,
			      size_t columns);
/** heat_map_add() - a cell. @why: it has no figure, see heat_map_note(); NULL: it has */
void heat_map_add(struct heat_map *m, size_t x, size_t y, double v, const char *why);
/** heat_map_close() - there are no more cells */
void heat_map_close(struct heat_map *m);
/**
 * heat_map_begin() - plot_begin() of a picture with this map alone, with its notes
 * @rows:	downwards
 * @left:	pixels of their names
 */
void heat_map_begin(const struct heat_map *m, const char *path, size_t rows, unsigned int left);
/** heat_map_notes_height() - pixels that they take */
unsigned int heat_map_notes_height(const struct heat_map_notes *notes);
/** heat_map_write_notes() - for the next panel that is drawn. @height: of the picture, pixels */
void heat_map_write_notes(FILE *script, const struct heat_map_notes *notes, unsigned int height);
/** heat_map_plot() - draw its panel, as titles and axes are then */
void heat_map_plot(const struct heat_map *m);

#endif /* KJOULE_HEAT_MAP_H */
