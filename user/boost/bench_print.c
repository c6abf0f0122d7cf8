// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `kjoule boost run` prints of its runs: a line for each, the means, and what two commands
 * differ by, as observed and at one frequency. See bench.h.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include "analysis/boost/boost_equations.h"
#include "analysis/runs/difference.h"
#include "analysis/stats/outliers.h"
#include "boost/bench.h"
#include "output/columns.h"

/* A command that keeps other CPUs busy than the load, by such a part, may have other speeds. */
#define BUSY_DIFFERS	0.25

static const char *const histories[BOOST_HISTORIES] = { "clean", "saturated", "as-is" };

const char *boost_bench_text(const struct boost_bench *b, size_t command, char *buf, size_t len)
{
	return boost_command_text(b->opt->run.commands[command], buf, len);
}

const char *boost_bench_class(const struct boost_bench *b, const struct boost_run *r)
{
	return b->steady && (r->class == BOOST_THROTTLED || r->class == BOOST_BOOSTED) ? "steady" :
	       boost_class_name(r->class);
}

/* A mean with its interval; of one value there is none. */
static struct value bench_mean_of(const double *v, size_t n)
{
	struct value m = { NAN, NAN, NAN };
	double t;

	if (!n)
		return m;
	m.v = gsl_stats_mean(v, 1, n);
	if (n < 2)
		return m;
	t = interval_t(n - 1) * gsl_stats_sd(v, 1, n) / sqrt(n);
	m.lo = m.v - t;
	m.hi = m.v + t;
	return m;
}

/* Figures of a command's runs, one time of the command each. */
struct columns_of {
	double *seconds, *sustained, *boosted;
	size_t n, corrected;
};

static void bench_collect_runs(const struct boost_bench *b, size_t command, struct columns_of *c,
			       struct boost_bench_mean *m)
{
	c->n = c->corrected = 0;
	for (size_t i = 0; i < b->n; i++) {
		const struct boost_bench_run *r = &b->runs[i];

		if (r->command != command || r->exit_code)
			continue;
		c->seconds[c->n++] = r->judged.seconds / r->times;
		m->user_s += r->user_s / r->times;
		m->system_s += r->system_s / r->times;
		m->busy += r->judged.busy;
		if (isnan(r->judged.as_sustained_s.v))
			continue;
		c->sustained[c->corrected] = r->judged.as_sustained_s.v / r->times;
		c->boosted[c->corrected++] = r->judged.as_boosted_s.v / r->times;
	}
}

static int bench_mark_outliers(struct boost_bench *b, size_t command, const struct columns_of *c)
{
	struct outlier *found = calloc(c->n ? c->n : 1, sizeof(*found));
	double *sd = malloc((c->n ? c->n : 1) * sizeof(*sd));
	int ret = found && sd ? 0 : -ENOMEM;
	size_t at = 0;

	/* what a single time is good for is not known */
	for (size_t i = 0; i < c->n && !ret; i++)
		sd[i] = NAN;
	if (!ret)
		ret = outliers_find(c->seconds, sd, c->n, found, NULL);
	for (size_t i = 0; i < b->n && !ret; i++)
		if (b->runs[i].command == command && !b->runs[i].exit_code)
			b->runs[i].differs = found[at++].differs;
	free(found);
	free(sd);
	return ret;
}

static void bench_summarize_runs(const struct columns_of *c, struct boost_bench_mean *m)
{
	m->n = c->n;
	m->corrected = c->corrected;
	m->seconds = bench_mean_of(c->seconds, c->n);
	m->as_sustained = bench_mean_of(c->sustained, c->corrected);
	m->as_boosted = bench_mean_of(c->boosted, c->corrected);
	m->user_s /= c->n;
	m->system_s /= c->n;
	m->busy /= c->n;
	m->sd = c->n > 1 ? gsl_stats_sd(c->seconds, 1, c->n) : NAN;
	m->least = m->most = m->median = NAN;
	if (!c->n)
		return;
	gsl_sort(c->seconds, 1, c->n);
	m->least = c->seconds[0];
	m->most = c->seconds[c->n - 1];
	m->median = gsl_stats_median_from_sorted_data(c->seconds, 1, c->n);
}

int boost_bench_average(struct boost_bench *b)
{
	size_t room = b->n ? b->n : 1;
	struct columns_of c = { malloc(room * sizeof(double)), malloc(room * sizeof(double)),
				malloc(room * sizeof(double)), 0, 0 };
	int ret = c.seconds && c.sustained && c.boosted ? 0 : -ENOMEM;

	b->means = calloc(b->opt->run.n_commands, sizeof(*b->means));
	ret = b->means ? ret : -ENOMEM;
	for (size_t i = 0; i < b->opt->run.n_commands && !ret; i++) {
		bench_collect_runs(b, i, &c, &b->means[i]);
		ret = bench_mark_outliers(b, i, &c);
		if (!ret)
			bench_summarize_runs(&c, &b->means[i]);
	}
	free(c.seconds);
	free(c.sustained);
	free(c.boosted);
	return ret;
}

static const struct output_column columns[] = {
	{ "command", "COMMAND", false },
	{ "seconds", "TIME s", false },
	{ "class", "CLASS", true },
	{ "boosted_percent", "BOOSTED %", false },
	{ "as_boosted_s", "BOOSTED s", false }, { NULL, "\xc2\xb1", false },
	{ "as_boosted_lo_s", NULL, false }, { "as_boosted_hi_s", NULL, false },
	{ "as_sustained_s", "SUSTAINED s", false }, { NULL, "\xc2\xb1", false },
	{ "as_sustained_lo_s", NULL, false }, { "as_sustained_hi_s", NULL, false },
	{ "freq_khz", NULL, false }, { NULL, "FREQ MHz", false },
	{ "power_w", "POWER W", false },
	{ "energy_j", "ENERGY J", false },
	{ "busy_cpus", NULL, false },
	{ "others_percent", "OTHERS %", false },
	{ "user_s", NULL, false },
	{ "system_s", NULL, false },
	{ "times", NULL, false },
	{ "exit_code", NULL, false },
	{ "begin_ns", NULL, false },
	{ "end_ns", NULL, false },
	{ "history_as_asked", NULL, false },
	{ "lost_records", NULL, false },
	{ "outlier", NULL, false },
	{ NULL, "", true },
};

static void bench_print_row(struct output *out, const struct boost_bench *b,
			    const struct boost_bench_run *r)
{
	static const char uncorrected[] = "a run that was disturbed, or not judged, is not corrected; or the chip's boost is not known";
	const struct boost_run *j = &r->judged;

	output_u64(out, r->command + 1);
	output_known(out, j->seconds / r->times, 3, NULL);
	output_str(out, boost_bench_class(b, j));
	output_known(out, 100 * j->boosted_s / j->seconds, 1, "no frequency is known, or it was too short");
	columns_value(out, &j->as_boosted_s, 1.0 / r->times, 3, uncorrected, uncorrected);
	columns_value(out, &j->as_sustained_s, 1.0 / r->times, 3, uncorrected, uncorrected);
	output_known(out, j->khz, 0, "no source of frequency");
	output_known(out, j->khz / 1e3, 1, "no source of frequency");
	output_known(out, j->w, 3, "no source of power");
	output_known(out, r->energy_j / r->times, 3, "no source of power");
	output_known(out, j->busy, 2, NULL);
	output_known(out, 100 * j->others, 1, NULL);
	output_real(out, r->user_s / r->times, 3);
	output_real(out, r->system_s / r->times, 3);
	output_u64(out, r->times);
	output_u64(out, r->exit_code);
	output_u64(out, boost_watch_ns(b->lab.watch, r->from_s));
	output_u64(out, boost_watch_ns(b->lab.watch, r->to_s));
	output_bool(out, r->as_asked);
	output_u64(out, r->lost);
	output_bool(out, r->differs);
	output_str(out, !r->as_asked ? "not saturated" : r->lost ? "records lost" :
		   r->differs ? "differs" : "");
	output_row(out);
}

/* Of the first command over another: what it takes over what the other takes. */
static struct value bench_speedup_of(const struct value *a, const struct value *b, size_t n)
{
	return difference_of(b, a, 1, n > 2 ? n - 1 : 1).ratio;
}

static struct json_object *bench_value_json(const struct value *v)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "value", output_json_real(v->v));
	json_object_object_add(o, "lo", output_json_real(v->lo));
	json_object_object_add(o, "hi", output_json_real(v->hi));
	return o;
}

static struct json_object *bench_command_json(const struct boost_bench *b, size_t i)
{
	struct json_object *o = json_object_new_object();
	const struct boost_bench_mean *m = &b->means[i];
	char text[4096];

	json_object_object_add(o, "command",
			       output_json_str(boost_bench_text(b, i, text, sizeof(text))));
	json_object_object_add(o, "runs", json_object_new_uint64(m->n));
	json_object_object_add(o, "corrected_runs", json_object_new_uint64(m->corrected));
	json_object_object_add(o, "seconds", bench_value_json(&m->seconds));
	json_object_object_add(o, "sd_s", output_json_real(m->sd));
	json_object_object_add(o, "min_s", output_json_real(m->least));
	json_object_object_add(o, "max_s", output_json_real(m->most));
	json_object_object_add(o, "median_s", output_json_real(m->median));
	json_object_object_add(o, "as_boosted", bench_value_json(&m->as_boosted));
	json_object_object_add(o, "as_sustained", bench_value_json(&m->as_sustained));
	if (i) {
		struct value observed = bench_speedup_of(&b->means[0].seconds, &m->seconds, m->n);
		struct value fixed = bench_speedup_of(&b->means[0].as_sustained, &m->as_sustained,
						      m->corrected);
		double r = b->speeds.boosted / b->speeds.sustained;
		double s = fmax(observed.v, 1 / observed.v);

		json_object_object_add(o, "speedup", bench_value_json(&observed));
		json_object_object_add(o, "speedup_at_one_frequency", bench_value_json(&fixed));
		json_object_object_add(o, "speedup_error_bound",
				       output_json_real(boost_equations_speedup(s, r)));
	}
	return o;
}

static struct json_object *bench_header_json(const struct boost_bench *b)
{
	struct json_object *o = json_object_new_object(), *commands = json_object_new_array();

	json_object_object_add(o, "history",
			       json_object_new_string(histories[b->opt->run.history]));
	json_object_object_add(o, "boosted_khz", output_json_real(b->speeds.boosted));
	json_object_object_add(o, "sustained_khz", output_json_real(b->speeds.sustained));
	json_object_object_add(o, "boost_s", output_json_real(b->speeds.tb_s));
	json_object_object_add(o, "steady", json_object_new_boolean(b->steady));
	json_object_object_add(o, "steady_load_s",
			       output_json_real(b->steady && !b->opt->run.pin_khz ? b->steady_s :
						NAN));
	json_object_object_add(o, "lost_records",
			       json_object_new_uint64(boost_watch_lost(b->lab.watch)));
	for (size_t i = 0; i < b->opt->run.n_commands; i++)
		json_object_array_add(commands, bench_command_json(b, i));
	json_object_object_add(o, "commands", commands);
	return o;
}

static void bench_print_header(const struct boost_bench *b)
{
	const struct boost_run_options *o = &b->opt->run;
	char text[256];

	for (size_t i = 0; i < o->n_commands; i++)
		output_printf(stdout, "# command %zu  %s\n", i + 1,
			      boost_bench_text(b, i, text, sizeof(text)));
	output_printf(stdout, "# history    %s\n", histories[o->history]);
	if (o->pin_khz)
		printf("# chip       held at %.6g MHz\n", o->pin_khz / 1e3);
	else if (b->steady)
		printf("# chip       %.6g MHz for all of the %.3g s for which it was loaded: no boost, or one that lasts for longer\n",
		       b->speeds.sustained / 1e3, b->steady_s);
	else if (isnan(b->speeds.sustained))
		printf("# chip       what it boosts to and sustains is not known\n");
	else if (isnan(b->speeds.boosted))
		printf("# chip       sustains %.6g MHz; what it boosts to is not known\n",
		       b->speeds.sustained / 1e3);
	else
		printf("# chip       boosts to %.6g MHz, sustains %.6g MHz\n",
		       b->speeds.boosted / 1e3, b->speeds.sustained / 1e3);
	if (boost_watch_lost(b->lab.watch))
		printf("# lost       %llu records: what they had is missing\n",
		       (unsigned long long)boost_watch_lost(b->lab.watch));
	putchar('\n');
}

static void bench_print_mean(const char *what, const struct value *v)
{
	output_printf(stdout, "  %s %.4g s", what, v->v);
	if (!isnan(v->lo))
		output_printf(stdout, " %s%.2g", output_half(), (v->hi - v->lo) / 2);
}

static void bench_print_speedup(const char *what, const struct value *v)
{
	output_printf(stdout, "%s %.4g", what, v->v);
	if (!isnan(v->lo))
		printf(" (%.4g to %.4g)", v->lo, v->hi);
}

static void bench_print_means(const struct boost_bench *b)
{
	for (size_t i = 0; i < b->opt->run.n_commands; i++) {
		const struct boost_bench_mean *m = &b->means[i];
		size_t classes[BOOST_CLASSES] = { 0 };

		if (!m->n)
			continue;
		printf("\ncommand %zu: mean %.4g s", i + 1, m->seconds.v);
		if (m->n > 1)
			output_printf(stdout, " %s%.2g, deviation %.3g s, %.4g to %.4g s",
				      output_half(), (m->seconds.hi - m->seconds.lo) / 2, m->sd,
				      m->least, m->most);
		printf("; user %.3g s, system %.3g s\n", m->user_s, m->system_s);
		for (size_t k = 0; k < b->n; k++)
			if (b->runs[k].command == i)
				classes[b->runs[k].judged.class]++;
		printf("  %zu runs:", m->n);
		for (unsigned int c = 0; c < BOOST_CLASSES; c++)
			if (classes[c])
				output_printf(stdout, " %zu %s", classes[c],
					      boost_bench_class(b,
								&(struct boost_run){ .class = c }));
		putchar('\n');
		if (b->course.n_levels && !b->steady &&
		    fabs(m->busy - b->lab.loaded) > BUSY_DIFFERS * b->lab.loaded)
			printf("  keeps %.2g CPUs busy, and the load of which the chip's speeds are %u: what it sustains with so many may be another (-C, --threads)\n",
			       m->busy, b->lab.loaded);
		if (m->corrected && !b->steady) {
			if (!isnan(m->as_boosted.v))
				bench_print_mean("all boosted", &m->as_boosted);
			bench_print_mean("all sustained", &m->as_sustained);
			putchar('\n');
		}
	}
}

/* The first against each other one. */
static void bench_print_comparison(const struct boost_bench *b)
{
	double r = b->speeds.boosted / b->speeds.sustained;

	for (size_t i = 1; i < b->opt->run.n_commands; i++) {
		const struct boost_bench_mean *a = &b->means[0], *m = &b->means[i];
		struct value observed = bench_speedup_of(&a->seconds, &m->seconds, m->n);
		struct value fixed = bench_speedup_of(&a->as_sustained, &m->as_sustained,
						      m->corrected);
		double s = fmax(observed.v, 1 / observed.v);

		if (!a->n || !m->n)
			continue;
		printf("\ncommand %zu is", i + 1);
		bench_print_speedup("", &observed);
		printf(" times as fast as command 1, as observed");
		if (!b->steady && !isnan(fixed.v))
			bench_print_speedup("; at one frequency", &fixed);
		if (!b->steady && r > 1)
			printf("; the boost can make up for %.2g %% of it (equation 3)",
			       100 * boost_equations_speedup(s, r));
		putchar('\n');
	}
}

int boost_bench_print(const struct boost_bench *b)
{
	bool people = b->opt->format == OUTPUT_TABLE;
	struct output *out;

	if (people)
		bench_print_header(b);
	out = output_open(stdout, b->opt->format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < b->n; i++)
		bench_print_row(out, b, &b->runs[i]);
	output_close(out, b->opt->format == OUTPUT_JSON ? bench_header_json(b) : NULL, "rows");
	if (!people)
		return 0;
	bench_print_means(b);
	bench_print_comparison(b);
	return 0;
}
