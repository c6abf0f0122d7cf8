// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures of frequency changes as in the paper: latency over the target frequency, a line for each frequency that
 * it begins with (its figures 1 to 3), and the loops around one change (its figure 4). See latency.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "latency.h"
#include "plot.h"

static int draw(const char *path, char *script, size_t len, struct kjoule_error *err)
{
	char why[256];
	int ret = plot_draw(script, len, why, sizeof(why));

	free(script);
	if (ret == -ENOENT)
		return kjoule_fail(err, ENOENT, "%s: there is no gnuplot; install it, the data is in the .csv beside", path);
	if (ret == -EIO)
		return kjoule_fail(err, EIO, "%s: gnuplot failed: %s", path, why);
	return ret ? kjoule_fail(err, -ret, "%s: %s", path, strerror(-ret)) : 0;
}

/* Open the data beside a picture; its name is the caller's to free. */
static FILE *open_data(const char *path, char **name, struct kjoule_error *err)
{
	FILE *f;

	*name = plot_data_path(path);
	f = *name ? fopen(*name, "we") : NULL;
	if (!f)
		kjoule_fail(err, *name ? errno : ENOMEM, "%s: %s", *name ? *name : path, *name ? strerror(errno) : "no memory");
	return f;
}

static int close_data(FILE *f, const char *name, struct kjoule_error *err)
{
	int bad = ferror(f);

	return fclose(f) || bad ? kjoule_fail(err, EIO, "%s: writing: %s", name, strerror(errno)) : 0;
}

static int write_latencies(const struct latency *l, const char *path, char **name, struct kjoule_error *err)
{
	FILE *f = open_data(path, name, err);

	if (!f)
		return -EIO;
	fprintf(f, "from_khz,to_khz,latency_us,lo_us,hi_us\n");
	for (size_t i = 0; i < l->n_pairs; i++) {
		const struct latency_pair *p = &l->pairs[i];
		const struct value *v = &p->result.last_ns;

		if (!latency_why(l, p))
			fprintf(f, "%u,%u,%.9g,%.9g,%.9g\n", l->f[p->from].khz, l->f[p->to].khz, v->v * 1e-3, v->lo * 1e-3,
				v->hi * 1e-3);
	}
	return close_data(f, *name, err);
}

/* Points of one line; what was not measured has none. */
static bool has_points(const struct latency *l, size_t from)
{
	for (size_t i = 0; i < l->n_pairs; i++)
		if (l->pairs[i].from == from && !latency_why(l, &l->pairs[i]))
			return true;
	return false;
}

int latency_plot(const struct latency *l, const char *path, struct kjoule_error *err)
{
	char *script = NULL, *data = NULL;
	bool first = true;
	size_t len;
	FILE *f;
	int ret = write_latencies(l, path, &data, err);

	f = ret ? NULL : open_memstream(&script, &len);
	if (!f) {
		free(data);
		return ret ? ret : kjoule_fail(err, ENOMEM, "no memory");
	}
	plot_begin(f, path, 900, 560);
	fprintf(f, "set datafile separator ','\nset xlabel 'target frequency, MHz'\nset ylabel 'latency, us'\nset yrange [0:*]\n"
		   "set key outside right title 'from, MHz'\nset grid\n");
	for (size_t from = 0; from < l->n_f; from++) {
		if (!has_points(l, from))
			continue;
		fprintf(f, "%s", first ? "plot " : ", \\\n");
		plot_string(f, data);
		fprintf(f, " every ::1 using ($1 == %u ? $2 / 1e3 : NaN):3:4:5 with yerrorlines pt %zu title '%.6g'", l->f[from].khz,
			from + 1, l->f[from].khz / 1e3);
		first = false;
	}
	/* gnuplot refuses a picture without a single point, unless it is told how large it is */
	fprintf(f, "%s\nset output\n", first ? "set xrange [0:1]\nset yrange [0:1]\nplot -1 notitle" : "");
	free(data);
	if (fclose(f))
		return kjoule_fail(err, ENOMEM, "no memory");
	return draw(path, script, len, err);
}

/* The pair with the longest way between its frequencies that has a good try, and that try. */
static bool choose_series(const struct latency *l, const struct latency_pair **pair, size_t *at)
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

int latency_plot_series(const struct latency *l, const char *path, struct kjoule_error *err)
{
	const struct latency_pair *p = NULL;
	const struct latency_loops *s;
	const struct transition_try *t;
	char *script = NULL, *data;
	size_t at = 0, len;
	FILE *f;
	int ret;

	if (!choose_series(l, &p, &at))
		return kjoule_fail(err, ENODATA, "%s: no try was good, so that there is no change to be shown", path);
	s = &p->series[at];
	t = &p->tries[at];
	f = open_data(path, &data, err);
	if (f) {
		fprintf(f, "start_us,loop_us\n");
		for (size_t i = 0; i < s->n; i++)
			fprintf(f, "%.9g,%.9g\n", s->list[i].start_ns * 1e-3, s->list[i].loop_ns * 1e-3);
		ret = close_data(f, data, err);
	} else {
		ret = -EIO;
	}
	f = ret ? NULL : open_memstream(&script, &len);
	if (!f) {
		free(data);
		return ret ? ret : kjoule_fail(err, ENOMEM, "no memory");
	}
	plot_begin(f, path, 900, 480);
	fprintf(f, "set datafile separator ','\nset xlabel 'time since the request, us'\nset ylabel 'a loop takes, us'\nset yrange [0:*]\nset grid\n");
	fprintf(f, "set title '%.6g MHz to %.6g MHz'\n", l->f[p->from].khz / 1e3, l->f[p->to].khz / 1e3);
	fprintf(f, "set arrow 1 from 0, graph 0 to 0, graph 1 nohead dt 2\nset label 1 'request' at 0, graph 0.95 offset 0.5,0\n");
	fprintf(f, "set arrow 2 from %.9g, graph 0 to %.9g, graph 1 nohead dt 2\nset label 2 'change' at %.9g, graph 0.95 offset 0.5,0\nplot ",
		t->last.ns * 1e-3, t->last.ns * 1e-3, t->last.ns * 1e-3);
	plot_string(f, data);
	fprintf(f, " every ::1 using 1:2 with points pt 7 ps 0.5 notitle\nset output\n");
	free(data);
	if (fclose(f))
		return kjoule_fail(err, ENOMEM, "no memory");
	return draw(path, script, len, err);
}
