// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See heat_map.h. A cell is a box of its own, so that a map may have one row or one column, and any
 * cell be without a figure.
 */
#include <math.h>
#include <string.h>
#include "output/heat_map.h"
#include "output/plot.h"

/* From pale to dark: brightness alone says which is more, whatever colours the eye tells apart. */
#define HEAT_MAP_PALETTE	"(0 '#fff3c4', 0.5 '#e8743b', 1 '#3b0f4f')"

/* From this part of the scale on colours are so dark that letters are white. */
#define HEAT_MAP_DARK		0.6

/* What a scale spans at least, of the least figure. */
#define HEAT_MAP_SPAN		0.05

/* Columns of a map whose cells have room for numbers. */
#define HEAT_MAP_NUMBERS	16

/* Pixels: of a line of notes; of the title above a map, the axis below, the scale to the right. */
#define HEAT_MAP_LINE		18
#define HEAT_MAP_ABOVE		80
#define HEAT_MAP_BELOW		64
#define HEAT_MAP_RIGHT		110

struct heat_map heat_map_open(FILE *script, struct heat_map_notes *notes, size_t number,
			      size_t columns)
{
	fprintf(script, "$map%zu << EOD\n", number);
	return (struct heat_map){ .script = script, .notes = notes, .number = number,
				  .columns = columns, .lo = INFINITY, .hi = -INFINITY };
}

/* Three digits, as many as a cell has room for. */
static void heat_map_write_number(FILE *script, double v)
{
	double size = fabs(v);
	int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;

	fprintf(script, ",%.*f\n", digits, v);
}

char heat_map_note(struct heat_map_notes *notes, const char *why)
{
	size_t i = 0;

	while (i < notes->n && strcmp(notes->text[i], why))
		i++;
	if (i == notes->n && i < HEAT_MAP_REASONS)
		notes->text[notes->n++] = why;
	return i < HEAT_MAP_REASONS ? 'a' + i : '?';
}

void heat_map_add(struct heat_map *m, size_t x, size_t y, double v, const char *why)
{
	if (why) {
		/* below all figures, so that its letter is black */
		fprintf(m->script, "%zu,%zu,-1e300,1,%c\n", x, y, heat_map_note(m->notes, why));
		return;
	}
	m->known = true;
	m->lo = fmin(m->lo, v);
	m->hi = fmax(m->hi, v);
	fprintf(m->script, "%zu,%zu,%.9g,0", x, y, v);
	heat_map_write_number(m->script, v);
}

void heat_map_close(struct heat_map *m)
{
	fputs("EOD\n", m->script);
	if (!m->known)
		m->lo = m->hi = 0;
	/* figures that are as good as equal look so */
	if (m->hi - m->lo < HEAT_MAP_SPAN * fabs(m->lo))
		m->hi = m->lo + HEAT_MAP_SPAN * fabs(m->lo);
	if (!(m->hi > m->lo))
		m->hi = m->lo + 1;
}

void heat_map_begin(const struct heat_map *m, const char *path, size_t rows, unsigned int left)
{
	bool numbers = m->columns <= HEAT_MAP_NUMBERS;
	/* names of many columns stand upright */
	unsigned int axis = HEAT_MAP_BELOW + (numbers ? 0 : 32);
	double below = axis + heat_map_notes_height(m->notes);
	double wide = fmax((numbers ? 64 : 24) * m->columns, PLOT_WIDTH - left - HEAT_MAP_RIGHT);
	double high = fmax((numbers ? 36 : 24) * rows, 180);
	double width = left + wide + HEAT_MAP_RIGHT, height = HEAT_MAP_ABOVE + high + below;
	FILE *f = m->script;

	plot_begin(f, path, width, height);
	fprintf(f,
		"set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
		"set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
		left / width, (left + wide) / width, 1 - HEAT_MAP_ABOVE / height, below / height);
	fprintf(f,
		"set colorbox user origin screen %.4f, screen %.4f size screen %.4f, screen %.4f\n",
		(left + wide + 16) / width, below / height, 18 / width, high / height);
	fprintf(f,
		"set xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n"
		"set xtics scale 0 %s\nset ytics scale 0\n",
		m->columns - 1, rows - 1, numbers ? "norotate" : "rotate");
	heat_map_write_notes(f, m->notes, height);
}

unsigned int heat_map_notes_height(const struct heat_map_notes *notes)
{
	return HEAT_MAP_LINE * notes->n;
}

void heat_map_write_notes(FILE *script, const struct heat_map_notes *notes, unsigned int height)
{
	char line[160];

	for (size_t i = 0; i < notes->n; i++) {
		snprintf(line, sizeof(line), "%c: %.*s", (char)('a' + i),
			 (int)strcspn(notes->text[i], ":;"), notes->text[i]);
		fprintf(script, "set label %zu ", i + 1);
		plot_string(script, line);
		fprintf(script, " at character 2, screen %.4f\n",
			(HEAT_MAP_LINE * (notes->n - i) - 6.0) / height);
	}
}

void heat_map_plot(const struct heat_map *m)
{
	FILE *f = m->script;

	fprintf(f, "%sset palette defined " HEAT_MAP_PALETTE "\nset cbrange [%.9g:%.9g]\n",
		m->known ? "" : "unset colorbox\n", m->lo, m->hi);
	fprintf(f,
		"plot $map%zu using ($4 == 1 ? NaN : $1):2:(0.5):(0.5):3 with boxxyerror fs solid "
		"border lc rgb 'white' fc palette notitle, \\\n",
		m->number);
	fprintf(f,
		"$map%zu using ($4 == 1 ? $1 : NaN):2:(0.5):(0.5) with boxxyerror fs solid border "
		"lc rgb 'white' fc rgb '#dddddd' notitle, \\\n",
		m->number);
	fprintf(f,
		"$map%zu using (%s ? $1 : NaN):2:5:($3 < %.9g ? 0 : 0xffffff) with labels tc rgb "
		"variable notitle\n",
		m->number, m->columns <= HEAT_MAP_NUMBERS ? "1" : "$4 == 1",
		m->lo + HEAT_MAP_DARK * (m->hi - m->lo));
}
