// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures of frequency changes: latency from each frequency to each other as a heat map, of two
 * frequencies as dots with intervals, and the loops around one change (the paper's figure 4). See
 * latency.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "latency/latency.h"
#include "output/heat_map.h"
#include "output/picture.h"
#include "output/plot.h"

static void latency_plot_write_points(const struct latency *l, FILE *f)
{
	fprintf(f, "from_khz,to_khz,latency_us,lo_us,hi_us\n");
	for (size_t i = 0; i < l->n_pairs; i++) {
		const struct latency_pair *p = &l->pairs[i];
		const struct value *v = &p->result.last_ns;

		if (!latency_why(l, p))
			fprintf(f, "%u,%u,%.9g,%.9g,%.9g\n", l->f[p->from].khz, l->f[p->to].khz,
				v->v * 1e-3, v->lo * 1e-3, v->hi * 1e-3);
	}
}

static void latency_plot_write_title(const struct latency *l, FILE *f, const char *what)
{
	char title[200];

	snprintf(title, sizeof(title), "%s: CPU %u, %s engine, driver %.60s", what, l->opt->cpu,
		 l->engine->name, l->policy->driver);
	fputs("set title ", f);
	plot_string(f, title);
	fputc('\n', f);
}

static void latency_plot_write_axis(const struct latency *l, FILE *f, char axis, const char *name)
{
	fprintf(f, "set %clabel '%s'\nset %ctics (", axis, name, axis);
	for (size_t i = 0; i < l->n_f; i++)
		fprintf(f, "%s'%.6g' %zu", i ? ", " : "", l->f[i].khz / 1e3, i);
	fputs(")\n", f);
}

/* As latency_print() has the matrix: from downwards, to across. */
static void latency_plot_write_map(const struct latency *l, FILE *f, const char *path)
{
	struct heat_map_notes notes = { .n = 0 };
	struct heat_map m = heat_map_open(f, &notes, 0, l->n_f);

	for (size_t i = 0; i < l->n_pairs; i++) {
		const struct latency_pair *p = &l->pairs[i];

		heat_map_add(&m, p->to, p->from, p->result.last_ns.v * 1e-3, latency_why(l, p));
	}
	heat_map_close(&m);
	heat_map_begin(&m, path, l->n_f, 90);
	latency_plot_write_title(l, f, "Latency of frequency changes");
	latency_plot_write_axis(l, f, 'x', "to, MHz");
	latency_plot_write_axis(l, f, 'y', "from, MHz");
	fputs("set cblabel 'latency, \u00b5s'\n", f);
	heat_map_plot(&m);
}

/* Two frequencies are no map: a dot with its interval for each direction. */
static void latency_plot_write_dots(const struct latency *l, const struct picture *p)
{
	struct heat_map_notes notes = { .n = 0 };
	unsigned int height, below;
	FILE *f = p->script;
	bool any = false;

	for (size_t i = 0; i < l->n_pairs; i++) {
		const char *why = latency_why(l, &l->pairs[i]);

		any |= !why;
		if (why)
			fprintf(f, "set label %zu '%c' at %zu, graph 0.5 center\n",
				HEAT_MAP_REASONS + 1 + i, heat_map_note(&notes, why), i);
	}
	below = 64 + heat_map_notes_height(&notes);
	height = 420 + below;
	plot_begin(f, p->path, PLOT_WIDTH, height);
	latency_plot_write_title(l, f, "Latency of frequency changes");
	fprintf(f,
		"set bmargin at screen %.4f\nset grid y\nset xlabel 'change, MHz'\n"
		"set ylabel 'latency and its 95 %% interval, \u00b5s'\n",
		(double)below / height);
	fprintf(f, "set xrange [-0.5:%zu.5]\nset yrange [0:%s]\nset xtics scale 0 (",
		l->n_pairs - 1, any ? "*" : "1");
	for (size_t i = 0; i < l->n_pairs; i++)
		fprintf(f, "%s'%.6g to %.6g' %zu", i ? ", " : "", l->f[l->pairs[i].from].khz / 1e3,
			l->f[l->pairs[i].to].khz / 1e3, i);
	fputs(")\n", f);
	heat_map_write_notes(f, &notes, height);
	fputs("plot NaN notitle", f);
	for (size_t i = 0; i < l->n_pairs; i++) {
		uint32_t from = l->f[l->pairs[i].from].khz, to = l->f[l->pairs[i].to].khz;

		if (latency_why(l, &l->pairs[i]))
			continue;
		fputs(", \\\n", f);
		plot_string(f, p->data_path);
		fprintf(f,
			" every ::1 using ($1 == %u && $2 == %u ? %zu : NaN):3:4:5 with yerrorbars "
			"pt 7 lw 2 lc 1 notitle, ",
			from, to, i);
		plot_string(f, p->data_path);
		fprintf(f,
			" every ::1 using ($1 == %u && $2 == %u ? %zu : NaN):3:"
			"(sprintf('%%.1f \u00b1 %%.1f', $3, ($5 - $4) / 2)) "
			"with labels left offset 2,0 notitle",
			from, to, i);
	}
	fputc('\n', f);
}

int latency_plot(const struct latency *l, const char *path, struct kjoule_error *err)
{
	struct picture p;

	if (!picture_open(&p, path, l->opt->force, err)) {
		latency_plot_write_points(l, p.data);
		if (!picture_script(&p, err)) {
			if (l->n_f > 2)
				latency_plot_write_map(l, p.script, p.path);
			else
				latency_plot_write_dots(l, &p);
		}
	}
	return picture_close(&p, err);
}

/* The pair with the longest way between its frequencies that has a good try, and that try. */
static bool latency_choose_series(const struct latency *l, const struct latency_pair **pair,
				  size_t *at)
{
	double most = 0;

	for (size_t i = 0; i < l->n_pairs; i++) {
		const struct latency_pair *p = &l->pairs[i];
		double way = fabs((double)l->f[p->to].khz - l->f[p->from].khz);

		if (way <= most)
			continue;
		for (size_t k = 0; k < p->n; k++) {
			if (p->verdicts[k] != TRANSITION_GOOD)
				continue;
			*pair = p;
			*at = k;
			most = way;
			break;
		}
	}
	return most > 0;
}

static void latency_series_write_script(const struct latency *l, const struct latency_pair *p,
					size_t at, const struct picture *picture)
{
	double change_us = p->tries[at].last.ns * 1e-3;
	FILE *f = picture->script;
	char what[80];

	plot_begin(f, picture->path, 900, 480);
	snprintf(what, sizeof(what), "Loops around a change from %.6g to %.6g MHz",
		 l->f[p->from].khz / 1e3, l->f[p->to].khz / 1e3);
	latency_plot_write_title(l, f, what);
	fprintf(f, "set xlabel 'time since the request, \u00b5s'\n"
		   "set ylabel 'time of a loop, \u00b5s'\nset yrange [0:*]\nset grid\n");
	/* above the points; nor are the two written over each other */
	fprintf(f, "set offsets 0,0,graph 0.12,0\n"
		   "set arrow 1 from 0, graph 0 to 0, graph 1 nohead dt 2\n"
		   "set label 1 'request' at 0, graph 0.96 right offset -0.5,0\n");
	fprintf(f,
		"set arrow 2 from %.9g, graph 0 to %.9g, graph 1 nohead dt 2\n"
		"set label 2 'change' at %.9g, graph 0.96 offset 0.5,0\nplot ",
		change_us, change_us, change_us);
	plot_string(f, picture->data_path);
	fprintf(f, " every ::1 using 1:2 with points pt 7 ps 0.5 notitle\n");
}

int latency_plot_series(const struct latency *l, const char *path, struct kjoule_error *err)
{
	const struct latency_pair *p = NULL;
	const struct latency_loops *s;
	struct picture picture;
	size_t at = 0;

	if (!latency_choose_series(l, &p, &at))
		return kjoule_fail(err, ENODATA, "%s: no try was good, so that there is no change to be shown", path);
	s = &p->series[at];
	if (!picture_open(&picture, path, l->opt->force, err)) {
		fprintf(picture.data, "start_us,loop_us\n");
		for (size_t i = 0; i < s->n; i++)
			fprintf(picture.data, "%.9g,%.9g\n", s->list[i].start_ns * 1e-3,
				s->list[i].loop_ns * 1e-3);
		if (!picture_script(&picture, err))
			latency_series_write_script(l, p, at, &picture);
	}
	return picture_close(&picture, err);
}
