// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows and picture of how sure figures become with more samples; see convergence.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output/columns.h"
#include "output/picture.h"
#include "output/plot.h"
#include "report/convergence.h"

static const char *convergence_block_name(const struct convergence *c, size_t block)
{
	uint32_t f = c->blocks[block].function;

	return f == UINT32_MAX ? "total" : c->names->functions[f].symbol;
}

/* "symbol (process)" where several processes are followed. */
static void convergence_block_title(const struct convergence *c, size_t block, char *buf,
				    size_t len)
{
	uint32_t f = c->blocks[block].function;

	if (f == UINT32_MAX)
		snprintf(buf, len, "total");
	else
		snprintf(buf, len, "%.60s (%.20s)", convergence_block_name(c, block),
			 c->names->processes[c->names->functions[f].process].comm);
}

/* Half of the interval, of the figure. */
static double convergence_half_percent(const struct value *v)
{
	return v->v > 0 ? 100 * (v->hi - v->lo) / 2 / v->v : NAN;
}

static double convergence_off_percent(const struct convergence *c, const struct value *v,
				      const struct value *last)
{
	return c->several && last->v > 0 ? 100 * (v->v / last->v - 1) : NAN;
}

static void convergence_print_cell(struct output *out, double v, int digits)
{
	if (isnan(v))
		output_none(out, NULL);
	else
		output_real(out, v, digits);
}

static void convergence_add_columns(struct columns *cols, const char *const names[5],
				    const char *title, const char *unit)
{
	columns_add(cols, names[0], title, false);
	columns_add(cols, names[1], NULL, false);
	columns_add(cols, names[2], NULL, false);
	columns_add(cols, names[3], "\xc2\xb1 %", false);
	columns_add(cols, names[4], unit, false);
}

/* Of what no sample has fallen into nothing is known yet. */
static void convergence_print_figure(struct output *out, const struct convergence *c,
				     const struct value *v, const struct value *last,
				     uint64_t samples)
{
	if (!samples) {
		columns_none(out, 5);
		return;
	}
	convergence_print_cell(out, v->v, columns_digits(last->v));
	convergence_print_cell(out, v->lo, 9);
	convergence_print_cell(out, v->hi, 9);
	convergence_print_cell(out, convergence_half_percent(v), 3);
	convergence_print_cell(out, convergence_off_percent(c, v, last), 3);
}

int convergence_write(const struct convergence *c, FILE *file, enum output_format format,
		      struct json_object *head)
{
	static const char *const time[] = { "time_s", "time_lo_s", "time_hi_s", "time_half_percent",
					    "time_off_percent" };
	static const char *const energy[] = { "energy_j", "energy_lo_j", "energy_hi_j",
					      "energy_half_percent", "energy_off_percent" };
	static const char *const power[] = { "power_w", "power_lo_w", "power_hi_w",
					     "power_half_percent", "power_off_percent" };
	const char *off = c->several ? "OFF %" : NULL;
	struct columns *cols = columns_new(NULL);
	struct output *out;

	if (!cols)
		return -ENOMEM;
	columns_add(cols, "block", NULL, false);
	columns_add(cols, "comm", NULL, true);
	columns_add(cols, "function", "FUNCTION", true);
	columns_add(cols, "object", NULL, true);
	columns_add(cols, "runs", c->several ? "RUNS" : NULL, false);
	columns_add(cols, "samples", "SAMPLES", false);
	columns_add(cols, "block_samples", "OF IT", false);
	convergence_add_columns(cols, time, "TIME s", off);
	if (c->n_domains) {
		convergence_add_columns(cols, energy, "J", off);
		convergence_add_columns(cols, power, "W", off);
	}
	columns_add(cols, "readings", NULL, false);
	out = output_open(file, format, cols->list, cols->n);
	if (!out) {
		free(cols);
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->n_blocks; i++) {
		const struct convergence_block *b = &c->blocks[i];
		const struct blocks_function *f =
			b->function == UINT32_MAX ? NULL : &c->names->functions[b->function];

		for (size_t k = 0; k < c->n_points; k++) {
			const struct profile_group *g = &c->at[k * c->n_blocks + i];

			output_u64(out, i);
			output_str(out, f ? c->names->processes[f->process].comm : "");
			output_str(out, convergence_block_name(c, i));
			output_str(out, f ? f->object : "");
			output_u64(out, c->runs[k]);
			output_u64(out, c->samples[k]);
			output_u64(out, g->samples);
			convergence_print_figure(out, c, &g->time_s, &b->last.time_s, g->samples);
			if (c->n_domains) {
				convergence_print_figure(out, c, &g->energy[0].j,
							 &b->last.energy[0].j, g->samples);
				convergence_print_figure(out, c, &g->energy[0].w,
							 &b->last.energy[0].w, g->samples);
				output_u64(out, g->energy[0].readings);
			} else {
				output_none(out, NULL);
			}
			output_row(out);
		}
		output_rule(out);
	}
	output_close(out, head, "rows");
	free(cols);
	return 0;
}

static const struct value *convergence_value_of(const struct profile_group *g, const char *what)
{
	return !strcmp(what, "time")   ? &g->time_s :
	       !strcmp(what, "energy") ? &g->energy[0].j :
					 &g->energy[0].w;
}

/* Is there anything above 0, which has a place on a logarithmic axis? */
static bool convergence_is_drawable(const struct convergence *c, const char *what)
{
	for (size_t k = 0; k < c->n_points; k++) {
		for (size_t i = 0; i < c->n_blocks; i++) {
			const struct profile_group *g = &c->at[k * c->n_blocks + i];

			if (g->samples &&
			    convergence_half_percent(convergence_value_of(g, what)) > 0)
				return true;
		}
	}
	return false;
}

/*
 * One of the panels: half of the interval as lines; of several recordings how far off as points as
 * well.
 */
static void convergence_write_panel(FILE *s, const struct convergence *c, const char *data,
				    const char *what, bool drawable, bool key)
{
	char name[128];

	if (!drawable) {
		fprintf(s,
			"set title '%s: no interval above 0'\nunset key\n"
			"plot 1 with dots lc rgb 'white' notitle\n",
			what);
		return;
	}
	fprintf(s, "set title '%s'\n%s\nplot ", what,
		key ? "set key outside below left vertical maxcols 1 Left reverse" : "unset key");
	for (size_t i = 0; i < c->n_blocks; i++) {
		convergence_block_title(c, i, name, sizeof(name));
		plot_string(s, data);
		fprintf(s,
			" using (column('block') == %zu ? column('samples') : NaN):(column('%s_half_percent')) with lines lw 2 lc %zu title ",
			i, what, i + 1);
		plot_string(s, name);
		fprintf(s, ", ");
		if (!c->several)
			continue;
		plot_string(s, data);
		fprintf(s,
			" using (column('block') == %zu && abs(column('%s_off_percent')) > 0 ? column('samples') : NaN):(abs(column('%s_off_percent'))) with points pt 7 ps 0.5 lc %zu notitle, ",
			i, what, what, i + 1);
	}
	fputs("\n", s);
}

static void convergence_write_script(FILE *s, const struct convergence *c, const char *path,
				     const char *data)
{
	static const char *const panel_names[] = { "time", "energy", "power" };
	unsigned int panels = c->n_domains ? 3 : 1;
	bool key = true;
	double width = PLOT_WIDTH + 370 * (panels - 1);
	double below = 72 + 20 * c->n_blocks, height = 440 + below;

	plot_begin(s, path, width, height);
	fputs("set datafile columnheaders\nset logscale xy\nset grid\nset xlabel 'samples'\n"
	      "set format x '%.0s%c'\nset format y '%g'\n", s);
	fprintf(s, "set ylabel '%s'\n", c->several ? "%" : "half of the 95 % interval, %");
	fprintf(s,
		"set multiplot layout 1,%u margins screen %.4f,%.4f,%.4f,%.4f spacing screen "
		"%.4f,0 title '%s'\n",
		panels, 90 / width, 1 - 30 / width, below / height, 1 - 70 / height, 90 / width,
		c->several ? "How sure figures become (lines: half of the 95 % interval; "
			     "points: distance from the figure of all recordings)" :
			     "How sure figures become with more samples");
	for (unsigned int i = 0; i < panels; i++) {
		bool drawable = convergence_is_drawable(c, panel_names[i]);

		convergence_write_panel(s, c, data, panel_names[i], drawable, key);
		key &= !drawable;
	}
	fputs("unset multiplot\n", s);
}

int convergence_draw(const struct convergence *c, const char *path, bool force,
		     struct kjoule_error *err)
{
	struct picture p;
	int ret = picture_open(&p, path, force, err);

	if (!ret) {
		ret = convergence_write(c, p.data, OUTPUT_CSV, NULL);
		if (ret)
			p.ret = kjoule_fail(err, -ret, "%s: %s", path, strerror(-ret));
		else if (!picture_script(&p, err))
			convergence_write_script(p.script, c, path, p.data_path);
	}
	return picture_close(&p, err);
}

int convergence_show(const struct convergence *c, const struct attribute_options *opt,
		     struct json_object *head, struct kjoule_error *err)
{
	int ret = convergence_draw(c, opt->convergence, opt->force, err);

	if (opt->format == OUTPUT_TABLE && !opt->quiet)
		output_printf(stdout, "# %s of %s: half of the 95 %% interval (%s %%)%s\n\n",
			      opt->convergence,
			      c->several ? "more and more recordings" :
					   "longer and longer beginnings of the recording",
			      output_half(),
			      c->several ? ", and how far off the estimate of all (OFF %)" : "");
	if (convergence_write(c, stdout, opt->format, head) && !ret)
		ret = -ENOMEM;
	return ret;
}
