/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures, drawn by gnuplot from a data file, both of them files that are open already.
 */
#ifndef KJOULE_PLOT_H
#define KJOULE_PLOT_H

#include <stdio.h>

/* Pixels of a picture that need not be wider: a title of its own line fits. */
#define PLOT_WIDTH	760

/** plot_kind() - "svg" or "png", by a file's name; NULL if it ends otherwise */
const char *plot_kind(const char *path);
/**
 * plot_data_path() - the data file next to a picture: its name with .csv instead. The caller's to
 * free
 */
char *plot_data_path(const char *path);
/** plot_string() - a text in quotes, cleaned: a control character would make the SVG invalid XML */
void plot_string(FILE *script, const char *text);
/**
 * plot_begin() - the first lines of a script: kind of picture, size, colours, how data are read;
 * nothing in strings has a meaning
 * @path:	of the picture: its ending is the kind
 * @width,@height: pixels
 */
void plot_begin(FILE *script, const char *path, unsigned int width, unsigned int height);
/*
 * What a script calls the data file: gnuplot opens none by a name that another program could
 * have taken.
 */
#define PLOT_DATA	"/proc/self/fd/3"

/**
 * plot_draw() - have gnuplot run a script
 * @picture:	a descriptor, where it goes to; -1: the script draws nothing
 * @data:	a descriptor of the file that is PLOT_DATA; -1: there is none
 * @why:	out: of -EIO, gnuplot's own words, cut short
 * Return: 0; -ENOENT there is no gnuplot; -EIO it failed; -errno
 */
int plot_draw(const char *script, size_t len, int picture, int data, char *why, size_t why_len);

#endif /* KJOULE_PLOT_H */
