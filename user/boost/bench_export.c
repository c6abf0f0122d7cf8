// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files of `kjoule boost run`: the layouts that users of other benchmark runners already parse
 * (JSON and CSV with hyperfine's names, a table in Markdown), and the picture of how much slower
 * each run was than at the boosted speed. See bench.h.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "boost/bench.h"
#include "cli/cmd.h"
#include "lib/base/json.h"
#include "lib/base/output_file.h"
#include "output/picture.h"
#include "output/plot.h"

/* The picture's scale has so many per cent at least: what is less is not the chip's. */
#define BENCH_SLOWER_LEAST	1.0

/* Numbers of runs that there is room for below their bars. */
#define BENCH_RUN_TICS		15

static struct json_object *bench_result_json(const struct boost_bench *b, size_t command)
{
	struct json_object *o = json_object_new_object(), *times = json_object_new_array();
	struct json_object *codes = json_object_new_array();
	const struct boost_bench_mean *m = &b->means[command];
	char text[4096];

	json_object_object_add(o, "command",
			       output_json_str(boost_bench_text(b, command, text, sizeof(text))));
	json_object_object_add(o, "mean", output_json_real(m->seconds.v));
	json_object_object_add(o, "stddev", output_json_real(m->sd));
	json_object_object_add(o, "median", output_json_real(m->median));
	json_object_object_add(o, "user", output_json_real(m->user_s));
	json_object_object_add(o, "system", output_json_real(m->system_s));
	json_object_object_add(o, "min", output_json_real(m->least));
	json_object_object_add(o, "max", output_json_real(m->most));
	for (size_t i = 0; i < b->n; i++) {
		if (b->runs[i].command != command)
			continue;
		json_object_array_add(times, output_json_real(b->runs[i].judged.seconds /
							      b->runs[i].times));
		json_object_array_add(codes, json_object_new_int(b->runs[i].exit_code));
	}
	json_object_object_add(o, "times", times);
	json_object_object_add(o, "exit_codes", codes);
	return o;
}

static int bench_export_json(const struct boost_bench *b, const char *path)
{
	struct json_object *o = json_object_new_object(), *results = json_object_new_array();
	struct kjoule_error err;
	int code = 0;

	for (size_t i = 0; i < b->opt->run.n_commands; i++)
		json_object_array_add(results, bench_result_json(b, i));
	json_object_object_add(o, "results", results);
	if (kjoule_json_write(o, AT_FDCWD, path, 0, JSON_C_TO_STRING_PRETTY, &err))
		code = cmd_failed("%s", err.text);
	json_object_put(o);
	return code;
}

static void bench_write_csv_number(FILE *f, double v)
{
	fputc(',', f);
	if (!isnan(v))
		fprintf(f, "%.9g", v);
}

static void bench_write_csv(const struct boost_bench *b, FILE *f)
{
	char text[4096];

	fprintf(f, "command,mean,stddev,median,user,system,min,max\n");
	for (size_t i = 0; i < b->opt->run.n_commands; i++) {
		const struct boost_bench_mean *m = &b->means[i];

		output_csv_cell(f, boost_bench_text(b, i, text, sizeof(text)));
		bench_write_csv_number(f, m->seconds.v);
		bench_write_csv_number(f, m->sd);
		bench_write_csv_number(f, m->median);
		bench_write_csv_number(f, m->user_s);
		bench_write_csv_number(f, m->system_s);
		bench_write_csv_number(f, m->least);
		bench_write_csv_number(f, m->most);
		fputc('\n', f);
	}
}

/* A bar in a command would end its cell. */
static void bench_write_markdown_cell(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			fputc('\\', f);
		fputc(*text, f);
	}
}

static void bench_write_markdown(const struct boost_bench *b, FILE *f)
{
	double fastest = INFINITY;
	char text[4096];

	for (size_t i = 0; i < b->opt->run.n_commands; i++)
		fastest = fmin(fastest, b->means[i].seconds.v);
	fprintf(f, "| Command | Mean [s] | Min [s] | Max [s] | Relative |\n|:---|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < b->opt->run.n_commands; i++) {
		const struct boost_bench_mean *m = &b->means[i];

		fprintf(f, "| `");
		bench_write_markdown_cell(f, boost_bench_text(b, i, text, sizeof(text)));
		if (!m->n) {
			fputs("` | - | - | - | - |\n", f);
			continue;
		}
		fprintf(f, "` | %.3f", m->seconds.v);
		if (!isnan(m->sd))
			fprintf(f, " \xc2\xb1 %.3f", m->sd);
		fprintf(f, " | %.3f | %.3f | %.2f |\n", m->least, m->most, m->seconds.v / fastest);
	}
}

static int bench_export_text(const struct boost_bench *b, const char *path,
			     void (*write)(const struct boost_bench *b, FILE *f))
{
	struct kjoule_output_file f;
	struct kjoule_error err;

	if (kjoule_output_file_open(&f, AT_FDCWD, path, 0, &err))
		return cmd_failed("%s", err.text);
	write(b, f.stream);
	return kjoule_output_file_finish(&f, &err) ? cmd_failed("%s", err.text) : 0;
}

/* Than boosted; where that is not known, than the fastest run of its command. */
static double bench_run_slowdown(const struct boost_bench *b, const struct boost_bench_run *r)
{
	double boosted = r->judged.as_boosted_s.v / r->times, took = r->judged.seconds / r->times;

	return 1 - (isnan(boosted) ? b->means[r->command].least : boosted) / took;
}

/* In the order in which they were made (the paper's figure 6). */
static void bench_plot_runs(const struct boost_bench *b, const struct picture *p)
{
	size_t commands = b->opt->run.n_commands, runs = (b->n + commands - 1) / commands;
	FILE *f = p->script;
	char text[48];

	fprintf(f, "set xlabel 'run'\nset xrange [0.5:%zu.5]\nset xtics %zu,%zu\nplot ", runs,
		runs > BENCH_RUN_TICS ? (size_t)0 : 1,
		(runs + BENCH_RUN_TICS - 1) / BENCH_RUN_TICS);
	for (size_t i = 0; i < commands; i++) {
		fputs(i ? ", " : "", f);
		plot_string(f, p->data_path);
		fprintf(f,
			" every ::1 using ($1 == %zu ? $2 + %.9g : NaN):4 with boxes lc %zu title ",
			i + 1, (i + 0.5) * 0.8 / commands - 0.4, i + 1);
		plot_string(f, boost_bench_text(b, i, text, sizeof(text)));
	}
	fputc('\n', f);
}

/* Over how long they took, with what the equations say (its figure 4). */
static void bench_plot_lengths(const struct boost_bench *b, const struct picture *p)
{
	double r = b->speeds.boosted / b->speeds.sustained, tb = b->speeds.tb_s;
	FILE *f = p->script;

	fputs("set xlabel 'length of the run, s'\nset xrange [0:*]\nset xtics autofreq\nplot ", f);
	for (size_t i = 0; i < b->opt->run.n_commands; i++) {
		fputs(i ? ", " : "", f);
		plot_string(f, p->data_path);
		fprintf(f,
			" every ::1 using ($1 == %zu ? $3 : NaN):4 with points pt 7 lc %zu notitle",
			i + 1, i + 1);
	}
	if (r > 1 && tb > 0)
		fprintf(f,
			", (x > %.9g ? 100 * %.9g * (x - %.9g) / x : 0) lc rgb 'black' dt 2 title "
			"'equations, from a clean history'",
			tb, 1 - 1 / r, tb);
	fputc('\n', f);
}

static void bench_write_plot(const struct boost_bench *b, const struct picture *p)
{
	size_t commands = b->opt->run.n_commands, known = 0;
	double width = 1200, height = 460 + 20 * commands, below = 70 + 20 * commands;
	double least = 0, most = BENCH_SLOWER_LEAST;
	const char *than = "at the boosted speed";
	FILE *f = p->script;

	for (size_t i = 0; i < b->n; i++) {
		double percent = 100 * bench_run_slowdown(b, &b->runs[i]);

		known += !isnan(b->runs[i].judged.as_boosted_s.v);
		least = fmin(least, percent);
		most = fmax(most, percent);
	}
	if (!known)
		than = "the fastest of their command (the boosted speed is not known)";
	else if (known < b->n)
		than = "at the boosted speed, or where that is not known the fastest of their command";
	/* nor is what is not seen on that scale a reason to go below zero */
	least = least < -0.01 * most ? 1.05 * least : 0;
	plot_begin(f, p->path, width, height);
	fprintf(f,
		"set multiplot layout 1,2 margins screen %.4f,%.4f,%.4f,%.4f spacing screen %.4f,0 "
		"title 'How much slower runs were than %s'\n",
		80 / width, 1 - 30 / width, below / height, 1 - 60 / height, 90 / width, than);
	fprintf(f,
		"set ylabel 'slower, %%'\nset yrange [%.9g:%.9g]\nset grid y\n"
		"set style fill solid 0.7\nset boxwidth %.9g\n"
		"set key outside below left vertical maxcols 1 Left reverse\n",
		least, 1.05 * most, 0.8 / commands);
	bench_plot_runs(b, p);
	bench_plot_lengths(b, p);
	fputs("unset multiplot\n", f);
}

static int bench_export_picture(const struct boost_bench *b, const char *path)
{
	struct kjoule_error err;
	struct picture p;

	if (!picture_open(&p, path, b->opt->force, &err)) {
		fprintf(p.data, "command,run,seconds,slower_percent,class\n");
		for (size_t i = 0; i < b->n; i++) {
			const struct boost_bench_run *r = &b->runs[i];

			fprintf(p.data, "%zu,%zu,%.9g,%.9g,%s\n", r->command + 1,
				i / b->opt->run.n_commands + 1, r->judged.seconds,
				100 * bench_run_slowdown(b, r), boost_bench_class(b, &r->judged));
		}
		if (!picture_script(&p, &err))
			bench_write_plot(b, &p);
	}
	return picture_close(&p, &err) ? cmd_failed("%s", err.text) : 0;
}

int boost_bench_export(const struct boost_bench *b)
{
	const struct boost_run_options *o = &b->opt->run;
	int code = 0;

	if (o->json && bench_export_json(b, o->json))
		code = EXIT_FAILED;
	if (o->csv && bench_export_text(b, o->csv, bench_write_csv))
		code = EXIT_FAILED;
	if (o->markdown && bench_export_text(b, o->markdown, bench_write_markdown))
		code = EXIT_FAILED;
	if (b->opt->plot && bench_export_picture(b, b->opt->plot))
		code = EXIT_FAILED;
	return code;
}
