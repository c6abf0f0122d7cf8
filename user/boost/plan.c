// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule boost plan: what a chip that boosts does to a benchmark, and how long runs have to be, by
 * the equations of analysis/boost/boost_equations.h. See boost.h.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/boost/boost_equations.h"
#include "boost/boost.h"
#include "cli/cmd.h"
#include "output/picture.h"
#include "output/plot.h"

static const struct output_column columns[] = {
	{ "run_s", "RUN s", false },
	{ "steady_error_percent", "OVER STEADY %", false },
	{ "slowdown_percent", "BELOW BOOST %", false },
	{ "observed_2x", "A TRUE 2x IS", false },
};

/* Of the boost's length. */
static const double lengths[] = { 0.2, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 40 };

/* Of a picture. */
#define DRAWN_TIMES	12
#define DRAWN_POINTS	600

#define N_LENGTHS	(sizeof(lengths) / sizeof(lengths[0]))

/* What a file of measurements has to be. */
#define MEASURED	"what `kjoule boost trace --json` or `kjoule boost window --json` printed"

/* All of a file up to its first zero, of which JSON has none. Return: NULL after saying why */
static char *plan_read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	if (!f) {
		cmd_failed("--from %s: %s; it is to be " MEASURED, path, strerror(errno));
		return NULL;
	}
	errno = 0;
	n = getdelim(&text, &room, '\0', f);
	if (n < 0) {
		cmd_failed("--from %s: %s; it is to be " MEASURED, path,
			   errno ? strerror(errno) : "is empty");
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

/* Return: an object, NULL after saying why there is none */
static struct json_object *plan_read_document(const char *path)
{
	struct json_tokener *tok;
	struct json_object *doc;
	char *text = plan_read_text(path);

	if (!text)
		return NULL;
	tok = json_tokener_new();
	if (!tok) {
		cmd_failed("no memory");
		free(text);
		return NULL;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	doc = json_tokener_parse_ex(tok, text, -1);
	if (!json_object_is_type(doc, json_type_object)) {
		enum json_tokener_error error = json_tokener_get_error(tok);

		cmd_failed("--from %s: %s; it is to be " MEASURED, path,
			   error == json_tokener_error_parse_eof ? "its JSON document is not whole" :
			   error == json_tokener_success ? "has a JSON document without names" :
			   "is no JSON document");
		json_object_put(doc);
		doc = NULL;
	}
	json_tokener_free(tok);
	free(text);
	return doc;
}

/* "; its verdict is ..." of a document that has one */
static const char *plan_verdict_text(struct json_object *doc, char *buf, size_t len)
{
	struct json_object *v;

	buf[0] = '\0';
	if (json_object_object_get_ex(doc, "verdict", &v) &&
	    json_object_is_type(v, json_type_string))
		snprintf(buf, len, "; its verdict is %s", json_object_to_json_string(v));
	return buf;
}

#define TIME_MOST_S	9.2e9	/* as args_duration() has it */

/* One that is taken: @least to @most; @given: by an option, which counts more. */
struct figure {
	const char *key, *option;
	double least, most, *value;
	bool given;
};

/* Return: 0, or the exit code after saying why */
static int plan_use_figure(const char *path, struct json_object *doc, struct json_object *v,
			   const struct figure *f)
{
	bool is_number = json_object_is_type(v, json_type_double) ||
			 json_object_is_type(v, json_type_int);
	double d = is_number ? json_object_get_double(v) : NAN;
	char verdict[96];

	if (!(d >= f->least && d <= f->most))
		return cmd_failed("--from %s: %s is %.64s, which cannot be%s; measure it anew, or leave the file out and give it by %s",
				  path, f->key, json_object_to_json_string(v),
				  plan_verdict_text(doc, verdict, sizeof(verdict)), f->option);
	if (!f->given)
		*f->value = d;
	return 0;
}

static int plan_use_file(const char *path, const struct figure *figures, size_t n)
{
	struct json_object *doc = plan_read_document(path), *v;
	unsigned int found = 0;
	char verdict[96];
	int code = 0;

	if (!doc)
		return EXIT_FAILED;
	for (size_t i = 0; i < n && !code; i++) {
		if (!json_object_object_get_ex(doc, figures[i].key, &v) || !v)
			continue;
		found++;
		code = plan_use_figure(path, doc, v, &figures[i]);
	}
	if (!found)
		code = cmd_failed("--from %s: has none of r, boost_s and window_s%s; it is to be "
				  MEASURED " of a boost that ends", path,
				  plan_verdict_text(doc, verdict, sizeof(verdict)));
	json_object_put(doc);
	return code;
}

/* What was measured, as far as it was not given. Return: 0, or the exit code after saying why */
static int plan_use_measured(struct boost_options *opt)
{
	struct figure figures[] = {
		{ "r", "--r", 1, BOOST_RATIO_MOST, &opt->r, !isnan(opt->r) },
		{ "boost_s", "--boost", 1e-9, TIME_MOST_S, &opt->tb_s, !isnan(opt->tb_s) },
		{ "window_s", "--window", 1e-9, TIME_MOST_S, &opt->window_s,
		  !isnan(opt->window_s) },
	};
	int code = 0;

	for (unsigned int i = 0; i < opt->n_from && !code; i++)
		code = plan_use_file(opt->from[i], figures, sizeof(figures) / sizeof(figures[0]));
	/* without the window it can be known, too */
	for (unsigned int i = 0; i < 2 && !code; i++)
		if (isnan(*figures[i].value))
			code = cmd_failed("--from %s: has no %s%s: was there a boost that ends? give it by %s",
					  opt->from[opt->n_from - 1], figures[i].key,
					  opt->n_from > 1 ? ", nor have the others" : "",
					  figures[i].option);
	return code;
}

static void plan_print_row(struct output *out, const struct boost_options *opt, double run_s)
{
	double work = boost_equations_work(opt->r, opt->tb_s, run_s);

	output_real(out, run_s, 1);
	output_real(out, 100 * boost_equations_steady(opt->r, opt->tb_s, run_s), 2);
	output_real(out, 100 * boost_equations_slowdown(opt->r, opt->tb_s, run_s), 2);
	output_real(out, boost_equations_observed(opt->r, opt->tb_s, work, 2), 4);
	output_row(out);
}

static struct json_object *plan_header_json(const struct boost_options *opt, const double *slower)
{
	struct json_object *o = json_object_new_object(), *runs = json_object_new_array();

	json_object_object_add(o, "r", output_json_real(opt->r));
	json_object_object_add(o, "boost_s", output_json_real(opt->tb_s));
	json_object_object_add(o, "window_s", output_json_real(opt->window_s));
	json_object_object_add(o, "bound", output_json_real(opt->bound));
	json_object_object_add(o, "length_s",
			       output_json_real(boost_equations_length(opt->r, opt->tb_s,
								       opt->bound)));
	json_object_object_add(o, "extrapolation_error", output_json_real(opt->r - 1));
	json_object_object_add(o, "speedup_error_2x",
			       output_json_real(boost_equations_speedup(2, opt->r)));
	json_object_object_add(o, "speedup_error_10x",
			       output_json_real(boost_equations_speedup(10, opt->r)));
	json_object_object_add(o, "observed_2x",
			       output_json_real(boost_equations_observed(opt->r, opt->tb_s, 2 *
									 opt->r * opt->tb_s, 2)));
	json_object_object_add(o, "run_s", output_json_real(opt->run_s));
	for (unsigned int i = 0; i < opt->runs; i++)
		json_object_array_add(runs, output_json_real(slower[i]));
	json_object_object_add(o, "back_to_back_slowdown", runs);
	return o;
}

static void plan_print_runs(const struct boost_options *opt, const double *slower)
{
	printf("\n%u runs of %.4g s, one right after the other, are slower than one that boosts to its end by",
	       opt->runs, opt->run_s);
	for (unsigned int i = 0; i < opt->runs; i++)
		output_printf(stdout, "%s %.1f", i ? "," : "", 100 * slower[i]);
	printf(" %%\n");
}

static void plan_print_advice(const struct boost_options *opt)
{
	double length = boost_equations_length(opt->r, opt->tb_s, opt->bound);

	printf("\na short run is %.3g %% faster than the chip is in the long run\n",
	       100 * (opt->r - 1));
	printf("a speed-up is overstated by %.3g %% at most where 2x is observed, by %.3g %% where 10x is (equation 3)\n",
	       100 * boost_equations_speedup(2, opt->r), 100 * boost_equations_speedup(10, opt->r));
	if (length > 0)
		printf("for %.3g %% of error at most: runs of %.5g s and longer", 100 * opt->bound,
		       length);
	else
		printf("every length is good for %.3g %% of error", 100 * opt->bound);
	printf(", or all shorter than %.4g s from a clean history\n", opt->tb_s);
	printf("for a clean history idle ");
	if (isnan(opt->window_s))
		printf("for the history window, which `kjoule boost window` measures, before each run");
	else
		printf("for %.4g s before each run", opt->window_s);
	printf("; for a saturated one load the chip until it has slowed down, %.4g s at most\n",
	       opt->tb_s);
}

/* The paper's figure 4 on the left, for one r its figure 5 on the right, to DRAWN_TIMES boosts. */
static void plan_write_script(const struct boost_options *opt, const struct picture *p)
{
	static const char *const titles[] =
		{ "slower than a run that boosts to its end, %", "faster than in the long run, %" };
	FILE *f = p->script;

	plot_begin(f, p->path, 1200, 480);
	fprintf(f,
		"set xlabel 'length of the run, s'\nset yrange [0:*]\nset grid\n"
		"set arrow 1 from %.9g, graph 0 to %.9g, graph 1 nohead dt 2\n"
		"set multiplot layout 1,2 title 'Runs from a clean history on a chip of r = %.6g "
		"whose boost lasts %.4g s (dashed)'\n",
		opt->tb_s, opt->tb_s, opt->r, opt->tb_s);
	for (unsigned int i = 0; i < 2; i++) {
		fprintf(f, "set ylabel '%s'\nplot ", titles[i]);
		plot_string(f, p->data_path);
		fprintf(f, " every ::1 using 1:%u with lines notitle\n", i + 2);
	}
	fputs("unset multiplot\n", f);
}

static int plan_draw_picture(const struct boost_options *opt)
{
	struct kjoule_error err;
	struct picture p;

	if (!picture_open(&p, opt->plot, opt->force, &err)) {
		fprintf(p.data, "run_s,slowdown_percent,steady_error_percent\n");
		for (unsigned int i = 1; i <= DRAWN_POINTS; i++) {
			double t = opt->tb_s * DRAWN_TIMES * i / DRAWN_POINTS;

			fprintf(p.data, "%.9g,%.9g,%.9g\n", t,
				100 * boost_equations_slowdown(opt->r, opt->tb_s, t),
				100 * boost_equations_steady(opt->r, opt->tb_s, t));
		}
		if (!picture_script(&p, &err))
			plan_write_script(opt, &p);
	}
	return picture_close(&p, &err) ? cmd_failed("%s", err.text) : 0;
}

int boost_plan(const struct boost_options *asked)
{
	struct boost_options filled = *asked, *opt = &filled;
	struct output *out;
	double *slower;
	int code = plan_use_measured(opt);

	if (code)
		return code;
	slower = calloc(opt->runs ? opt->runs : 1, sizeof(*slower));
	if (!slower)
		return cmd_failed("no memory");
	boost_equations_runs(opt->r, opt->tb_s, opt->run_s, slower, opt->runs);
	if (opt->format == OUTPUT_TABLE)
		printf("# plan       r = %.6g, a boost lasts %.4g s from a clean history\n\n",
		       opt->r, opt->tb_s);
	out = output_open(stdout, opt->format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out) {
		free(slower);
		return cmd_failed("no memory");
	}
	for (size_t i = 0; i < N_LENGTHS; i++)
		plan_print_row(out, opt, lengths[i] * opt->tb_s);
	output_close(out, opt->format == OUTPUT_JSON ? plan_header_json(opt, slower) : NULL,
		     "rows");
	if (opt->format == OUTPUT_TABLE) {
		plan_print_runs(opt, slower);
		plan_print_advice(opt);
	}
	free(slower);
	return opt->plot && plan_draw_picture(opt) ? EXIT_FAILED : EXIT_DONE;
}
