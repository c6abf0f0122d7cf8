// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures of frequency changes as in the paper: latency over the target frequency, a line for each frequency that
 * it begins with (its figures 1 to 3), and the loops around one change (its figure 4). See latency.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "latency/latency.h"
#include "output/picture.h"
#include "output/plot.h"

static void latency_plot_write_points(const struct latency *l, FILE *f)
{
	fprintf(f, "from_khz,to_khz,latency_us,lo_us,hi_us\n");
	for (size_t i = 0; i < l->n_pairs; i++) {
		const struct latency_pair *p = &l->pairs[i];
		const struct value *v = &p->result.last_ns;

		if (!latency_why(l, p))
			fprintf(f, "%u,%u,%.9g,%.9g,%.9g\n", l->f[p->from].khz, l->f[p->to].khz, v->v * 1e-3, v->lo * 1e-3,
				v->hi * 1e-3);
	}
}

/* Points of one line; what was not measured has none. */
static bool latency_plot_has_points(const struct latency *l, size_t from)
{
	for (size_t i = 0; i < l->n_pairs; i++)
		if (l->pairs[i].from == from && !latency_why(l, &l->pairs[i]))
			return true;
	return false;
}

static void latency_plot_write_script(const struct latency *l, const struct picture *p)
{
	FILE *f = p->script;
	bool first = true;

	plot_begin(f, p->path, 900, 560);
	fprintf(f, "set datafile separator ','\nset xlabel 'target frequency, MHz'\nset ylabel 'latency, us'\nset yrange [0:*]\n"
		   "set key outside right title 'from, MHz'\nset grid\n");
	for (size_t from = 0; from < l->n_f; from++) {
		if (!latency_plot_has_points(l, from))
			continue;
		fprintf(f, "%s", first ? "plot " : ", \\\n");
		plot_string(f, p->data_path);
		fprintf(f, " every ::1 using ($1 == %u ? $2 / 1e3 : NaN):3:4:5 with yerrorlines pt %zu title '%.6g'", l->f[from].khz,
			from + 1, l->f[from].khz / 1e3);
		first = false;
	}
	/* gnuplot refuses a picture without a single point, unless it is told how large it is */
	fprintf(f, "%s\n", first ? "set xrange [0:1]\nset yrange [0:1]\nplot -1 notitle" : "");
}

int latency_plot(const struct latency *l, const char *path, struct kjoule_error *err)
{
	struct picture p;

	if (!picture_open(&p, path, l->opt->force, err)) {
		latency_plot_write_points(l, p.data);
		if (!picture_script(&p, err))
			latency_plot_write_script(l, &p);
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

	plot_begin(f, picture->path, 900, 480);
	fprintf(f, "set datafile separator ','\nset xlabel 'time since the request, us'\nset ylabel 'a loop takes, us'\nset yrange [0:*]\nset grid\n");
	fprintf(f, "set title '%.6g MHz to %.6g MHz'\n", l->f[p->from].khz / 1e3, l->f[p->to].khz / 1e3);
	fprintf(f, "set arrow 1 from 0, graph 0 to 0, graph 1 nohead dt 2\nset label 1 'request' at 0, graph 0.95 offset 0.5,0\n");
	fprintf(f, "set arrow 2 from %.9g, graph 0 to %.9g, graph 1 nohead dt 2\nset label 2 'change' at %.9g, graph 0.95 offset 0.5,0\nplot ",
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
			fprintf(picture.data, "%.9g,%.9g\n", s->list[i].start_ns * 1e-3, s->list[i].loop_ns * 1e-3);
		if (!picture_script(&picture, err))
			latency_series_write_script(l, p, at, &picture);
	}
	return picture_close(&picture, err);
}
