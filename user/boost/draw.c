// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads over their time: power above, then frequency, throughput, and the temperature below, as in
 * the paper's figures 1 and 2. See boost.h.
 */
#include <math.h>
#include <string.h>
#include "boost/boost.h"
#include "cli/cmd.h"
#include "output/picture.h"
#include "output/plot.h"

/* Of a point: the counter moves less often than there are slices. */
#define SLICES	5

#define PANELS	4

/* Pixels: of a panel, between two, left and right of them, above and below all. */
#define PANEL_HEIGHT	200
#define PANEL_GAP	18
#define PANEL_LEFT	120
#define PANEL_RIGHT	30
#define PANELS_ABOVE	72
#define PANELS_BELOW	60

/* Of the key, which is between the title and the panels. */
#define KEY_BELOW	36

/* @known: out: panels that have a point */
static void boost_draw_write_points(const struct boost_slice *s, size_t n,
				    const struct boost_drawn *d, size_t number, bool known[PANELS],
				    FILE *f)
{
	size_t i = 0;

	while (i < n && s[i].t_s < d->begin_s - 1e-9)
		i++;
	for (; i + SLICES <= n && s[i + SLICES - 1].t_s + s[i].len_s <= d->to_s + 1e-9;
	     i += SLICES) {
		struct boost_level l =
			boost_level(s, n, s[i].t_s, s[i + SLICES - 1].t_s + s[i].len_s);

		known[0] |= !isnan(l.w.v);
		known[1] |= !isnan(l.khz.v);
		known[2] |= !isnan(l.work.v);
		known[3] |= !isnan(l.celsius.v);
		fprintf(f, "%zu,%s,%.6f,%.9g,%.9g,%.9g,%.9g\n", number, d->name,
			l.from_s - d->from_s, l.w.v, l.khz.v * 1e-3, l.work.v, l.celsius.v);
	}
}

/* The first of those that have its name, and so one colour and one line of the key. */
static size_t boost_draw_kind(const struct boost_drawn *drawn, size_t i)
{
	size_t k = 0;

	while (strcmp(drawn[k].name, drawn[i].name))
		k++;
	return k;
}

static void boost_draw_write_panel(const struct picture *p, const struct boost_drawn *drawn,
				   size_t n, const char *label, unsigned int column, bool key)
{
	FILE *f = p->script;

	fprintf(f, "set ylabel '%s'\nplot ", label);
	for (size_t i = 0; i < n; i++) {
		size_t kind = boost_draw_kind(drawn, i);

		fputs(i ? ", " : "", f);
		plot_string(f, p->data_path);
		fprintf(f, " every ::1 using ($1 == %zu ? $3 : NaN):%u with lines lw 1.5 lc %zu ",
			i + 1, column, kind + 1);
		if (key && kind == i) {
			fputs("title ", f);
			plot_string(f, drawn[i].name);
		} else {
			fputs("notitle", f);
		}
	}
	fputc('\n', f);
}

/* One time axis: all have its margins and range, and it is labelled below the last of them. */
static void boost_draw_write_script(const struct picture *p, const char *load,
				    const struct boost_drawn *drawn, size_t n,
				    const bool known[PANELS], double left_s)
{
	static const char *const labels[PANELS] =
		{ "power, W", "frequency, MHz", "throughput, passes/s", "temperature, \u00b0C" };
	unsigned int panels = known[0] + known[1] + known[2] + known[3], left = panels;
	unsigned int inner = PANEL_HEIGHT * panels + PANEL_GAP * (panels - 1);
	double width = 900, height = PANELS_ABOVE + inner + PANELS_BELOW, right_s = 0;
	FILE *f = p->script;
	char title[160];

	plot_begin(f, p->path, width, height);
	fprintf(f,
		"set multiplot layout %u,1 margins screen %.4f,%.4f,%.4f,%.4f spacing screen "
		"0,%.4f title ",
		panels, PANEL_LEFT / width, 1 - PANEL_RIGHT / width, PANELS_BELOW / height,
		1 - PANELS_ABOVE / height, PANEL_GAP / height);
	snprintf(title, sizeof(title), "Boost under %.80s (dashed: its end)", load);
	plot_string(f, title);
	for (size_t i = 0; i < n; i++) {
		right_s = fmax(right_s, drawn[i].to_s - drawn[i].from_s);
		if (!isnan(drawn[i].boost_s))
			fprintf(f, "\nset arrow from %.9g, graph 0 to %.9g, graph 1 nohead dt 2 lc %zu",
				drawn[i].boost_s, drawn[i].boost_s, boost_draw_kind(drawn, i) + 1);
	}
	fprintf(f,
		"\nset grid\nset xrange [%.9g:%.9g]\nset yrange [0:*]\n"
		"set offsets 0,0,graph 0.05,0\n"
		"set format x ''\nset key horizontal center top at screen 0.5, screen %.4f\n",
		left_s, right_s, 1 - KEY_BELOW / height);
	for (unsigned int k = 0; k < PANELS; k++) {
		/* gnuplot draws no panel without a point, and nothing else then */
		if (!known[k])
			continue;
		if (!--left)
			fputs("set format x '%g'\nset xlabel 'time since the load began, s'\n", f);
		boost_draw_write_panel(p, drawn, n, labels[k], k + 4, n > 1 && left == panels - 1);
	}
	fputs("unset multiplot\n", f);
}

int boost_draw_slices(const char *path, bool force, const char *load, const struct boost_slice *s,
		      size_t n_s, const struct boost_drawn *drawn, size_t n, double left_s)
{
	bool known[PANELS] = { false }, any = false;
	struct kjoule_error err;
	struct picture p;

	if (!picture_open(&p, path, force, &err)) {
		fprintf(p.data, "load,name,time_s,power_w,freq_mhz,passes_per_s,celsius\n");
		for (size_t i = 0; i < n; i++)
			boost_draw_write_points(s, n_s, &drawn[i], i + 1, known, p.data);
		for (unsigned int k = 0; k < PANELS; k++)
			any |= known[k];
		if (any && !picture_script(&p, &err))
			boost_draw_write_script(&p, load, drawn, n, known, left_s);
	}
	if (picture_close(&p, &err))
		return cmd_failed("%s", err.text);
	return any ? 0 : cmd_failed("%s: neither power nor frequency nor temperature is known, there is nothing to draw", path);
}

int boost_draw(struct boost_lab *lab, const char *path, const struct boost_drawn *drawn, size_t n,
	       double left_s)
{
	const struct boost_slice *s;
	char load[512];
	size_t n_s;

	if (boost_watch_slices(lab->watch, 0, INFINITY, &s, &n_s))
		return cmd_failed("no memory");
	return boost_draw_slices(path, lab->opt->force, boost_lab_load(lab, load, sizeof(load)), s,
				 n_s, drawn, n, left_s);
}
