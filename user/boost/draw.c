// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads over their time: power above, then frequency, throughput, and the temperature below, as in the paper's figures 1 and 2. See
 * boost.h.
 */
#include <math.h>
#include "boost/boost.h"
#include "cli/cmd.h"
#include "output/picture.h"
#include "output/plot.h"

/* Of a point: the counter moves less often than there are slices. */
#define SLICES	5

#define PANELS	4

/* @known: out: panels that have a point */
static void boost_draw_write_points(struct boost_lab *lab, const struct boost_drawn *d,
				    size_t number, bool known[PANELS], FILE *f)
{
	const struct boost_slice *s;
	size_t n;

	if (boost_watch_slices(lab->watch, d->begin_s, d->to_s, &s, &n))
		return;
	for (size_t i = 0; i + SLICES <= n && s[i + SLICES - 1].t_s + s[i].len_s <= d->to_s + 1e-9; i += SLICES) {
		struct boost_level l = boost_level(s, n, s[i].t_s, s[i + SLICES - 1].t_s + s[i].len_s);

		known[0] |= !isnan(l.w.v);
		known[1] |= !isnan(l.khz.v);
		known[2] |= !isnan(l.work.v);
		known[3] |= !isnan(l.celsius.v);
		fprintf(f, "%zu,%s,%.6f,%.9g,%.9g,%.9g,%.9g\n", number, d->name, l.from_s - d->from_s, l.w.v, l.khz.v * 1e-3, l.work.v,
			l.celsius.v);
	}
}

static void boost_draw_write_script(const struct picture *p, const struct boost_drawn *drawn,
				    size_t n, const bool known[PANELS], double left_s)
{
	static const char *const labels[PANELS] = { "power, W", "frequency, MHz", "throughput, passes/s", "temperature, \u00b0C" };
	unsigned int panels = known[0] + known[1] + known[2] + known[3];
	bool first = true;
	FILE *f = p->script;

	plot_begin(f, p->path, 900, 300 * panels);
	fprintf(f, "set datafile separator ','\nset xlabel 'time, s'\nset grid\nset xrange [%.9g:*]\nset yrange [0:*]\n"
		   "set multiplot layout %u,1\n", left_s, panels);
	for (size_t i = 0; i < n; i++)
		if (!isnan(drawn[i].boost_s))
			fprintf(f, "set arrow %zu from %.9g, graph 0 to %.9g, graph 1 nohead dt 2 lc %zu\n", i + 1, drawn[i].boost_s,
				drawn[i].boost_s, i + 1);
	for (unsigned int k = 0; k < PANELS; k++) {
		/* gnuplot draws no panel without a point, and nothing else then */
		if (!known[k])
			continue;
		fprintf(f, "set ylabel '%s'\nplot ", labels[k]);
		for (size_t i = 0; i < n; i++) {
			fputs(i ? ", " : "", f);
			plot_string(f, p->data_path);
			fprintf(f, " every ::1 using ($1 == %zu ? $3 : NaN):%u with lines lc %zu ", i + 1, k + 4, i + 1);
			if (n > 1 && first) {
				fputs("title ", f);
				plot_string(f, drawn[i].name);
			} else {
				fputs("notitle", f);
			}
		}
		fputc('\n', f);
		first = false;
	}
	fputs("unset multiplot\n", f);
}

int boost_draw(struct boost_lab *lab, const char *path, const struct boost_drawn *drawn, size_t n, double left_s)
{
	bool known[PANELS] = { false }, any = false;
	struct kjoule_error err;
	struct picture p;

	if (!picture_open(&p, path, lab->opt->force, &err)) {
		fprintf(p.data, "load,name,time_s,power_w,freq_mhz,passes_per_s,celsius\n");
		for (size_t i = 0; i < n; i++)
			boost_draw_write_points(lab, &drawn[i], i + 1, known, p.data);
		for (unsigned int k = 0; k < PANELS; k++)
			any |= known[k];
		if (any && !picture_script(&p, &err))
			boost_draw_write_script(&p, drawn, n, known, left_s);
	}
	if (picture_close(&p, &err))
		return cmd_failed("%s", err.text);
	return any ? 0 : cmd_failed("%s: neither power nor frequency nor temperature is known, there is nothing to draw", path);
}
