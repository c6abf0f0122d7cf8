// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heat map of a sweep (Mukhanov et al., ACM TACO 14(1), 2017, figure 13): of the whole program
 * and of the blocks of most energy the energy over frequency and threads; with one number of
 * threads, a row for each block. See sweep.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output/heat_map.h"
#include "output/picture.h"
#include "output/plot.h"
#include "sweep/sweep.h"

/* Panels of a picture, and lines of one. */
#define PANELS	6
#define LINES	24

/* Letters of a block's name that there is room for. */
#define NAME_LEN	36

/*
 * Different numbers of one kind among the settings: in the order in which they are there,
 * ascending.
 */
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

static void sweep_map_write_tics(FILE *f, char which, const char *name, const struct axis *a,
				 double unit)
{
	fprintf(f, "set %clabel '%s'\nset %ctics (", which, name, which);
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

static void sweep_map_block_title(const struct sweep *s, size_t block, char *buf, size_t len)
{
	const struct sweep_block *b = sweep_map_block(s, block);
	const char *name = block ? sweep_block_name(s, b) : "whole program";
	bool cut = strlen(name) > NAME_LEN;

	snprintf(buf, len, "%.*s%s%s", cut ? NAME_LEN - 3 : NAME_LEN, name, cut ? "..." : "",
		 b->mixed ? " ~" : "");
}

/* Of a block at a setting there is no energy. NULL: there is. */
static const char *sweep_map_why(const struct sweep *s, const struct sweep_block *b, size_t setting)
{
	const struct sweep_setting *p = &s->plan.settings[setting];

	if (!isnan(b->at[setting].j.v))
		return NULL;
	if (p->refused)
		return "not measured, the frequency could not be set";
	if (sweep_setting_has_failed(p))
		return "not measured, the command failed";
	if (!s->merges[setting].n)
		return "not measured";
	return b->at[setting].met ? "the energy is not known" : "it did not run there";
}

/* What is drawn, of which program; and what the signs mean that are there. */
static void sweep_map_write_title(FILE *f, const struct sweep *s, size_t n, const char *command,
				  const char *what)
{
	struct kjoule_meta meta = { .argc = s->plan.argc, .argv = s->plan.argv };
	char *line = kjoule_meta_command_line(&meta), program[128];
	bool mixed = false;

	for (size_t i = 0; i < n; i++)
		mixed |= sweep_map_block(s, i)->mixed;
	snprintf(program, sizeof(program), "%.60s on %.30s", line ? line : "?", s->plan.host);
	free(line);
	fprintf(f, "%s '%s'.\"\\n\".", command, what);
	plot_string(f, program);
	fprintf(f, ".\"\\nframe: least%s\"",
		mixed ? "; ~: mixed with its neighbours, the least is not known" : "");
}

static void sweep_map_write_frame(FILE *f, size_t number, size_t x, size_t y)
{
	fprintf(f,
		"set object %zu rect from %zu-0.5,%zu-0.5 to %zu+0.5,%zu+0.5 front fs empty border "
		"lc rgb 'black' lw 3\n",
		number, x, y, x, y);
}

/* Joules of each cell. */
static struct heat_map sweep_map_of_block(FILE *f, const struct sweep *s, size_t block,
					  struct heat_map_notes *notes, const struct axis *khz,
					  const struct axis *threads)
{
	struct heat_map m = heat_map_open(f, notes, block, threads->n);
	const struct sweep_block *b = sweep_map_block(s, block);

	for (size_t i = 0; i < s->plan.n_settings; i++)
		heat_map_add(&m, sweep_map_find_place(threads, s->plan.settings[i].threads),
			     sweep_map_find_place(khz, s->plan.settings[i].khz), b->at[i].j.v,
			     sweep_map_why(s, b, i));
	heat_map_close(&m);
	return m;
}

static void sweep_map_write_panels(FILE *f, const struct sweep *s, const char *path,
				   const struct axis *khz, const struct axis *threads)
{
	size_t n = s->n_blocks + 1 < PANELS ? s->n_blocks + 1 : PANELS;
	size_t across = n < 3 ? n : 3, down = (n + across - 1) / across;
	unsigned int width = fmax(PLOT_WIDTH, across * fmax(420, 160 + 48 * threads->n));
	unsigned int height = 100 + down * fmax(300, 120 + 26 * khz->n);
	struct heat_map_notes notes = { .n = 0 };
	struct heat_map maps[PANELS];
	char title[64];

	for (size_t i = 0; i < n; i++)
		maps[i] = sweep_map_of_block(f, s, i, &notes, khz, threads);
	height += heat_map_notes_height(&notes);
	plot_begin(f, path, width, height);
	sweep_map_write_tics(f, 'x', "threads", threads, 1);
	sweep_map_write_tics(f, 'y', "frequency, MHz", khz, 1e3);
	fputs("set xtics scale 0\nset ytics scale 0\nset cblabel 'energy, J'\n", f);
	fprintf(f,
		"set multiplot layout %zu,%zu margins screen %.4f,%.4f,%.4f,%.4f spacing screen "
		"%.4f,%.4f",
		down, across, 80.0 / width, 1 - 100.0 / width,
		(64.0 + heat_map_notes_height(&notes)) / height, 1 - 120.0 / height, 190.0 / width,
		96.0 / height);
	sweep_map_write_title(f, s, n, " title", "Energy");
	fputc('\n', f);
	heat_map_write_notes(f, &notes, height);
	for (size_t i = 0; i < n; i++) {
		size_t best = sweep_map_block(s, i)->energy.setting;
		const struct sweep_setting *p = &s->plan.settings[best == SWEEP_NONE ? 0 : best];

		sweep_map_block_title(s, i, title, sizeof(title));
		fputs("set title ", f);
		plot_string(f, title);
		fputs("\nunset object\nset colorbox\n", f);
		if (best != SWEEP_NONE)
			sweep_map_write_frame(f, 1, sweep_map_find_place(threads, p->threads),
					      sweep_map_find_place(khz, p->khz));
		heat_map_plot(&maps[i]);
		fputs("unset label\n", f);
	}
	fputs("unset multiplot\n", f);
}

/* Of those that are known; of what is mixed as well. */
static double sweep_map_least_j(const struct sweep *s, const struct sweep_block *b)
{
	double least = NAN;

	for (size_t i = 0; i < s->plan.n_settings; i++)
		least = fmin(least, b->at[i].j.v);
	return least;
}

/* Each block's energy over its own least. */
static void sweep_map_write_lines(FILE *f, const struct sweep *s, const char *path,
				  const struct axis *khz)
{
	size_t n = s->n_blocks + 1 < LINES ? s->n_blocks + 1 : LINES;
	struct heat_map_notes notes = { .n = 0 };
	struct heat_map m = heat_map_open(f, &notes, 0, khz->n);
	char name[64];

	for (size_t b = 0; b < n; b++) {
		const struct sweep_block *block = sweep_map_block(s, b);
		double least = sweep_map_least_j(s, block);

		for (size_t i = 0; i < s->plan.n_settings; i++) {
			const char *why = sweep_map_why(s, block, i);

			if (!why && !(least > 0))
				why = "the least energy is not above 0";
			heat_map_add(&m, sweep_map_find_place(khz, s->plan.settings[i].khz), b,
				     block->at[i].j.v / least, why);
		}
	}
	heat_map_close(&m);
	heat_map_begin(&m, path, n, 300);
	sweep_map_write_tics(f, 'x', "frequency, MHz", khz, 1e3);
	fputs("set cblabel 'times the least'\nset ytics (", f);
	for (size_t b = 0; b < n; b++) {
		sweep_map_block_title(s, b, name, sizeof(name));
		fputs(b ? ", " : "", f);
		plot_string(f, name);
		fprintf(f, " %zu", b);
	}
	fputs(")\n", f);
	for (size_t b = 0; b < n; b++) {
		size_t best = sweep_map_block(s, b)->energy.setting;

		if (best == SWEEP_NONE)
			continue;
		best = sweep_map_find_place(khz, s->plan.settings[best].khz);
		sweep_map_write_frame(f, b + 1, best, b);
	}
	sweep_map_write_title(f, s, n, "set title", "Energy over the least of the same block");
	/* in the middle of the picture, not of the map */
	fputs(" offset character -10,0\n", f);
	heat_map_plot(&m);
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
