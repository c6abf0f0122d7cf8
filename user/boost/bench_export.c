// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runs in the layouts that users of other benchmark runners already parse: JSON and CSV with hyperfine's names, and a
 * table in Markdown. See bench.h.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "boost/bench.h"
#include "cli/cmd.h"
#include "lib/base/json.h"
#include "lib/base/output_file.h"

static struct json_object *bench_result_json(const struct boost_bench *b, size_t command)
{
	struct json_object *o = json_object_new_object(), *times = json_object_new_array(), *codes = json_object_new_array();
	const struct boost_bench_mean *m = &b->means[command];
	char text[4096];

	json_object_object_add(o, "command", output_json_str(boost_bench_text(b, command, text, sizeof(text))));
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
		json_object_array_add(times, output_json_real(b->runs[i].judged.seconds / b->runs[i].times));
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
	return code;
}
