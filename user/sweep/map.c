// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heat map of a sweep (Mukhanov et al., ACM TACO 14(1), 2017, figure 13): of the whole program and of the blocks of
 * most energy the energy over frequency and threads; with one number of threads, a line for each block. See
 * sweep.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output/picture.h"
#include "output/plot.h"
#include "sweep/sweep.h"

/* Panels of a picture, and lines of one. */
#define PANELS	6
#define LINES	24

/* Different numbers of one kind among the settings: in the order in which they are there, ascending. */
struct axis {
	size_t n;
	uint32_t v[SWEEP_SETTINGS];
};

static size_t sweep_map_find_place(const struct axis *a, uint32_t v)
{
	size_t i = 0;

	while (i < a->n && a->v[i] != v)
		i++;
	return i;
}

static void sweep_map_make_axes(const struct sweep *s, struct axis *khz, struct axis *threads)
{
	khz->n = threads->n = 0;
	for (size_t i = 0; i < s->plan.n_settings; i++) {
		const struct sweep_setting *p = &s->plan.settings[i];

		if (sweep_map_find_place(khz, p->khz) == khz->n)
			khz->v[khz->n++] = p->khz;
		if (sweep_map_find_place(threads, p->threads) == threads->n)
			threads->v[threads->n++] = p->threads;
	}
}

static void sweep_map_write_tics(FILE *f, char which, const struct axis *a, double unit)
{
	fprintf(f, "set %ctics (", which);
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i])
			fprintf(f, "%s'%.6g' %zu", i ? ", " : "", a->v[i] / unit, i);
		else
			fprintf(f, "%s'as it is' %zu", i ? ", " : "", i);
	}
	fprintf(f, ")\nset %crange [-0.5:%.1f]\n", which, a->n - 0.5);
}

static const struct sweep_block *sweep_map_block(const struct sweep *s, size_t block)
{
	return block ? &s->blocks[block - 1] : &s->all;
}

/* Joules of each field; what was not measured stays empty. */
static void sweep_map_write_panel(FILE *f, const struct sweep *s, size_t block,
				  const struct axis *khz, const struct axis *threads)
{
	const struct sweep_block *b = sweep_map_block(s, block);
	size_t best = b->energy.setting;
	char title[160];

	snprintf(title, sizeof(title), "%.60s%s, J", block ? sweep_block_name(s, b) : "whole program", b->mixed ? " ~" : "");
	fprintf(f, "set title ");
	plot_string(f, title);
	fprintf(f, "\n$map%zu << EOD\n", block);
	for (size_t i = 0; i < s->plan.n_settings; i++) {
		const struct sweep_setting *p = &s->plan.settings[i];

		if (isnan(b->at[i].j.v))
			fprintf(f, "%zu,%zu,NaN\n", sweep_map_find_place(threads, p->threads),
				sweep_map_find_place(khz, p->khz));
		else
			fprintf(f, "%zu,%zu,%.9g\n", sweep_map_find_place(threads, p->threads),
				sweep_map_find_place(khz, p->khz), b->at[i].j.v);
	}
	fprintf(f, "EOD\nunset label\n");
	if (best != SWEEP_NONE)
		fprintf(f, "set label 1 'least' at %zu,%zu center front tc rgb 'black'\n",
			sweep_map_find_place(threads, s->plan.settings[best].threads),
			sweep_map_find_place(khz, s->plan.settings[best].khz));
	fprintf(f, "plot $map%zu using 1:2:3 with image notitle\n", block);
}

static void sweep_map_write_panels(FILE *f, const struct sweep *s, const char *path,
				   const struct axis *khz, const struct axis *threads)
{
	size_t n = s->n_blocks + 1 < PANELS ? s->n_blocks + 1 : PANELS;
	size_t across = n < 3 ? n : 3, down = (n + across - 1) / across;

	plot_begin(f, path, 120 + 420 * across, 60 + 400 * down);
	fprintf(f, "set palette defined (0 '#fff3c4', 0.5 '#e8743b', 1 '#3b0f4f')\nset xlabel 'threads'\nset ylabel 'MHz'\n");
	sweep_map_write_tics(f, 'x', threads, 1);
	sweep_map_write_tics(f, 'y', khz, 1e3);
	fprintf(f, "set multiplot layout %zu,%zu\n", down, across);
	for (size_t i = 0; i < n; i++)
		sweep_map_write_panel(f, s, i, khz, threads);
	fputs("unset multiplot\n", f);
}

/* Each block's energy over its own least. */
static void sweep_map_write_lines(FILE *f, const struct sweep *s, const char *path,
				  const struct axis *khz)
{
	size_t n = s->n_blocks + 1 < LINES ? s->n_blocks + 1 : LINES;

	plot_begin(f, path, 320 + 70 * khz->n, 160 + 34 * n);
	fprintf(f, "set palette defined (0 '#fff3c4', 0.5 '#e8743b', 1 '#3b0f4f')\nset xlabel 'MHz'\n");
	fprintf(f, "set title 'energy over the least of the same block'\n");
	sweep_map_write_tics(f, 'x', khz, 1e3);
	fprintf(f, "set yrange [%.1f:-0.5]\nset ytics (", n - 0.5);
	for (size_t b = 0; b < n; b++) {
		char name[160];

		snprintf(name, sizeof(name), "%.40s%s",
			 b ? sweep_block_name(s, sweep_map_block(s, b)) : "whole program",
			 sweep_map_block(s, b)->mixed ? " ~" : "");
		fputs(b ? ", " : "", f);
		plot_string(f, name);
		fprintf(f, " %zu", b);
	}
	fprintf(f, ")\n$map << EOD\n");
	for (size_t b = 0; b < n; b++) {
		const struct sweep_block *block = sweep_map_block(s, b);
		double least = block->energy.setting == SWEEP_NONE ? NAN : block->at[block->energy.setting].j.v;

		for (size_t i = 0; i < s->plan.n_settings; i++) {
			double over = block->at[i].j.v / least;

			if (isnan(over))
				fprintf(f, "%zu,%zu,NaN\n",
					sweep_map_find_place(khz, s->plan.settings[i].khz), b);
			else
				fprintf(f, "%zu,%zu,%.9g\n",
					sweep_map_find_place(khz, s->plan.settings[i].khz), b,
					over);
		}
	}
	fprintf(f, "EOD\nplot $map using 1:2:3 with image notitle, $map using 1:2:(sprintf('%%.2f', $3)) with labels tc rgb '#606060' notitle\n");
}

static void sweep_map_write_script(FILE *f, const struct sweep *s, const char *path)
{
	static struct axis khz, threads;

	sweep_map_make_axes(s, &khz, &threads);
	if (threads.n > 1)
		sweep_map_write_panels(f, s, path, &khz, &threads);
	else
		sweep_map_write_lines(f, s, path, &khz);
}

int sweep_draw(const struct sweep *s, const char *path, bool force, struct kjoule_error *err)
{
	struct picture p;
	int ret;

	if (!s->has_energy)
		return kjoule_fail(err, ENODATA, "%s: there is no energy to draw", path);
	ret = picture_open(&p, path, force, err);
	if (!ret) {
		ret = sweep_rows(s, p.data, OUTPUT_CSV, NULL);
		if (ret)
			p.ret = kjoule_fail(err, -ret, "%s: %s", path, strerror(-ret));
		else if (!picture_script(&p, err))
			sweep_map_write_script(p.script, s, path);
	}
	return picture_close(&p, err);
}
