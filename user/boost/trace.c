// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule boost trace: from a clean history, load the CPUs until they have slowed down and stayed
 * so, and tell what was seen: powers, frequencies, how long the boost lasts (the paper's figure 1),
 * and whether the limits of powercap explain it. See boost.h.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/boost/budget.h"
#include "boost/boost.h"
#include "cli/cmd.h"
#include "output/columns.h"

/* Within it the limits explain a boost's length. */
#define EXPLAINED	0.05

struct trace {
	const struct boost_options *opt;
	struct boost_lab lab;
	double from_s, to_s;
	struct boost_level idle;
	struct boost_course course;
	double predicted_s;		/* by the limits; NAN: they do not say */
	uint64_t lost;
};

static void trace_predict_boost(struct trace *t)
{
	t->predicted_s = t->course.verdict == BOOST_ENDS ?
			 budget_full(t->lab.limits.tau_s, t->idle.w.v, t->course.boost.w.v,
				     t->lab.limits.pl1_w) : NAN;
}

static int trace_measure_load(struct trace *t, struct kjoule_error *err)
{
	int ret = boost_lab_clean(&t->lab, &t->idle, err);

	if (!ret)
		ret = boost_lab_course(&t->lab, &t->course, &t->from_s, &t->to_s, err);
	t->lost = boost_watch_lost(t->lab.watch);
	trace_predict_boost(t);
	return ret;
}

static const struct output_column columns[] = {
	{ "phase", "PHASE", true },
	{ "from_s", "FROM s", false }, { "to_s", "TO s", false },
	{ "power_w", "POWER W", false }, { NULL, "\xc2\xb1", false }, { "power_lo_w", NULL, false },
	{ "power_hi_w", NULL, false },
	{ "freq_khz", NULL, false }, { NULL, NULL, false }, { "freq_lo_khz", NULL, false },
	{ "freq_hi_khz", NULL, false },
	{ NULL, "FREQ MHz", false }, { NULL, "\xc2\xb1", false }, { NULL, NULL, false },
	{ NULL, NULL, false },
	{ "passes_per_s", "PASSES/s", false }, { NULL, "\xc2\xb1", false },
	{ "passes_lo_per_s", NULL, false }, { "passes_hi_per_s", NULL, false },
	{ "celsius", "TEMP \u00b0C", false },
};

static void trace_print_row(struct output *out, const char *phase, const struct boost_level *l,
			    double zero_s, bool loaded)
{
	static const struct value unknown = { NAN, NAN, NAN };
	static const char unclocked[] = "idle, or no source of frequency";
	const struct value *khz = loaded ? &l->khz : &unknown;

	output_str(out, phase);
	output_real(out, l->from_s - zero_s, 2);
	output_real(out, l->to_s - zero_s, 2);
	columns_value(out, &l->w, 1, 3, "no source of power", "no source of power");
	columns_value(out, khz, 1, 0, unclocked, unclocked);
	columns_value(out, khz, 1e-3, 1, unclocked, unclocked);
	columns_value(out, loaded ? &l->work : &unknown, 1, 1, NULL, NULL);
	output_known(out, l->celsius.v, 1, "no source of temperature");
	output_row(out);
}

static const char *trace_phase_name(const struct boost_course *c, size_t i, char *buf, size_t len)
{
	if (c->verdict == BOOST_LASTS)
		return "load";
	if (!i)
		return c->verdict == BOOST_ENDS ? "boost" : "slow";
	if (i + 1 == c->n_levels && c->n_levels < BOOST_LEVELS)
		return c->verdict == BOOST_ENDS ? "sustained" : "last";
	snprintf(buf, len, "step %zu", i);
	return buf;
}

/* Of one CPU, in the time of a level. */
static double trace_cpu_khz(const struct trace *t, int cpu, const struct boost_level *l)
{
	return boost_watch_cpu_khz(t->lab.watch, cpu, l->from_s, l->to_s);
}

/* People want to know which is slow, if any is; programs have all of them in any case. */
static void trace_print_cpus(const struct trace *t)
{
	const struct boost_level *levels[] = { &t->course.boost, &t->course.sustained };

	for (unsigned int i = 0; i < (t->course.verdict == BOOST_ENDS ? 2 : 1); i++) {
		double least = INFINITY, most = -INFINITY;
		int slowest = -1, fastest = -1;

		for (int cpu = kjoule_cpus_next(&t->lab.cpus, 0); cpu >= 0;
		     cpu = kjoule_cpus_next(&t->lab.cpus, cpu + 1)) {
			double khz = trace_cpu_khz(t, cpu, levels[i]);

			if (khz < least) {
				least = khz;
				slowest = cpu;
			}
			if (khz > most) {
				most = khz;
				fastest = cpu;
			}
		}
		if (slowest >= 0 && least < (1 - BOOST_LEAST) * most)
			output_printf(stdout, "per CPU    %s: %.1f MHz (CPU %d) to %.1f MHz (CPU %d)\n",
				      i ? "sustained" : "boost", least / 1e3, slowest, most / 1e3,
				      fastest);
	}
}

static void trace_print_verdict(const struct trace *t)
{
	const struct boost_course *c = &t->course;

	switch (c->verdict) {
	case BOOST_ENDS:
		output_printf(stdout, "the boost lasts %.3f s %s%.3f; r = %.4f by %s", c->tb_s.v,
			      output_half(), (c->tb_s.hi - c->tb_s.lo) / 2, c->r,
			      c->by_work ? "throughput" : "frequency");
		if (!c->by_work && !isnan(c->r_work))
			printf(", %.4f by throughput", c->r_work);
		putchar('\n');
		break;
	case BOOST_LASTS:
		printf("one speed for all of the %.1f s: the chip does not boost under this load, or for longer than that (--duration)\n",
		       t->to_s - t->from_s);
		break;
	case BOOST_RISES:
		printf("the load was slower at first: this is no boost that ends; was the chip still throttled (--idle), or does the governor take its time?\n");
		break;
	default:
		return;
	}
	trace_print_cpus(t);
	if (isnan(t->lab.limits.pl1_w)) {
		printf("limits     powercap tells none\n");
		return;
	}
	printf("limits     PL1 %.4g W over %.4g s", t->lab.limits.pl1_w, t->lab.limits.tau_s);
	if (!isnan(t->lab.limits.pl2_w))
		printf(", PL2 %.4g W", t->lab.limits.pl2_w);
	if (!isnan(t->predicted_s))
		output_printf(stdout, ": a weighted budget would boost for %.3f s, %s",
			      t->predicted_s, fabs(t->predicted_s / c->tb_s.v - 1) <= EXPLAINED ?
			      "which explains it" : "which does not explain it");
	else if (c->verdict == BOOST_ENDS && c->boost.w.v <= t->lab.limits.pl1_w)
		printf(": the boost draws less than that, so they are not why it ends");
	putchar('\n');
}

static void trace_print_header(const struct trace *t)
{
	const struct boost_lab *lab = &t->lab;
	const char *power = boost_watch_power_source(lab->watch);
	const char *khz = boost_watch_frequency_source(lab->watch);
	const char *warmth = boost_watch_temperature_source(lab->watch);
	const char *requested = boost_watch_requested_frequency(lab->watch);
	char cpus[256], load[512];

	output_printf(stdout, "# boost      %s on CPUs %s for %.1f s, after %.1f s of idleness\n",
		      boost_lab_load(lab, load, sizeof(load)),
		      kjoule_cpus_format(&lab->cpus, cpus, sizeof(cpus)), t->to_s - t->from_s,
		      t->idle.to_s - t->idle.from_s);
	if (lab->command.times > 1)
		printf("# started    %u times, as it ended: the chip rested a little between\n",
		       lab->command.times);
	output_printf(stdout, "# sources    power %s, frequency %s, temperature %s\n",
		      power ? power : "-", khz ? khz : "-", warmth ? warmth : "-");
	if (requested)
		output_printf(stdout, "# frequency  %s has only what was asked for: levels are those of the throughput\n", requested);
	if (t->lost)
		printf("# lost       %llu records: what they had is missing\n",
		       (unsigned long long)t->lost);
	putchar('\n');
}

static struct json_object *trace_text_or_null(const char *text)
{
	return text ? output_json_str(text) : NULL;
}

static struct json_object *trace_cpus_json(const struct trace *t)
{
	struct json_object *list = json_object_new_array();

	for (int cpu = kjoule_cpus_next(&t->lab.cpus, 0); cpu >= 0;
	     cpu = kjoule_cpus_next(&t->lab.cpus, cpu + 1)) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "cpu", json_object_new_int(cpu));
		json_object_object_add(o, "boost_khz",
				       output_json_real(
					       t->course.n_levels ?
					       trace_cpu_khz(t, cpu, &t->course.boost) :
					       NAN));
		json_object_object_add(o, "sustained_khz",
				       output_json_real(
					       t->course.n_levels ?
					       trace_cpu_khz(t, cpu, &t->course.sustained) :
					       NAN));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *trace_header_json(const struct trace *t)
{
	struct json_object *o = json_object_new_object();
	const struct boost_course *c = &t->course;
	char cpus[1024];

	boost_lab_load_json(&t->lab, o);
	json_object_object_add(o, "cpus",
			       json_object_new_string(kjoule_cpus_format(&t->lab.cpus, cpus,
									 sizeof(cpus))));
	json_object_object_add(o, "power_source",
			       trace_text_or_null(boost_watch_power_source(t->lab.watch)));
	json_object_object_add(o, "frequency_source",
			       trace_text_or_null(boost_watch_frequency_source(t->lab.watch)));
	json_object_object_add(o, "temperature_source",
			       trace_text_or_null(boost_watch_temperature_source(t->lab.watch)));
	json_object_object_add(o, "slice_s", output_json_real(boost_watch_slice_s(t->lab.watch)));
	json_object_object_add(o, "lost_records", json_object_new_uint64(t->lost));
	json_object_object_add(o, "idle_s", output_json_real(t->idle.to_s - t->idle.from_s));
	json_object_object_add(o, "load_s", output_json_real(t->to_s - t->from_s));
	json_object_object_add(o, "verdict",
			       json_object_new_string(boost_verdict_name(c->verdict)));
	json_object_object_add(o, "busy", output_json_real(c->busy));
	json_object_object_add(o, "idle_w", output_json_real(t->idle.w.v));
	json_object_object_add(o, "boost_w", output_json_real(c->n_levels ? c->boost.w.v : NAN));
	json_object_object_add(o, "sustained_w",
			       output_json_real(c->n_levels ? c->sustained.w.v : NAN));
	json_object_object_add(o, "boost_khz",
			       output_json_real(c->n_levels ? c->boost.khz.v : NAN));
	json_object_object_add(o, "sustained_khz",
			       output_json_real(c->n_levels ? c->sustained.khz.v : NAN));
	json_object_object_add(o, "by_cpu", trace_cpus_json(t));
	json_object_object_add(o, "boost_s", output_json_real(c->tb_s.v));
	json_object_object_add(o, "boost_lo_s", output_json_real(c->tb_s.lo));
	json_object_object_add(o, "boost_hi_s", output_json_real(c->tb_s.hi));
	json_object_object_add(o, "last_s", output_json_real(c->last_s));
	json_object_object_add(o, "r", output_json_real(c->r));
	json_object_object_add(o, "r_throughput", output_json_real(c->r_work));
	json_object_object_add(o, "pl1_w", output_json_real(t->lab.limits.pl1_w));
	json_object_object_add(o, "pl2_w", output_json_real(t->lab.limits.pl2_w));
	json_object_object_add(o, "tau_s", output_json_real(t->lab.limits.tau_s));
	json_object_object_add(o, "limits_boost_s", output_json_real(t->predicted_s));
	json_object_object_add(o, "limits_explain", isnan(t->predicted_s) ? NULL :
			       json_object_new_boolean(fabs(t->predicted_s / c->tb_s.v - 1) <=
						       EXPLAINED));
	return o;
}

static int trace_print_all(const struct trace *t)
{
	const struct boost_course *c = &t->course;
	bool people = t->opt->format == OUTPUT_TABLE;
	struct output *out;
	char name[32];

	if (people)
		trace_print_header(t);
	out = output_open(stdout, t->opt->format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out)
		return cmd_failed("no memory");
	trace_print_row(out, "idle", &t->idle, t->from_s, false);
	for (size_t i = 0; i < c->n_levels; i++)
		trace_print_row(out, trace_phase_name(c, i, name, sizeof(name)), &c->levels[i],
				t->from_s, true);
	output_close(out, t->opt->format == OUTPUT_JSON ? trace_header_json(t) : NULL, "rows");
	if (people) {
		putchar('\n');
		trace_print_verdict(t);
	}
	return c->verdict == BOOST_IDLE || c->verdict == BOOST_UNKNOWN ?
	       boost_lab_no_boost(&t->lab, c) : EXIT_DONE;
}

/* As the paper's figure 1. */
static int trace_draw_picture(struct trace *t, const char *path)
{
	struct boost_drawn one = { "load", t->idle.from_s, t->from_s, t->to_s, t->course.tb_s.v };

	return boost_draw(&t->lab, path, &one, 1, -0.1 * (t->to_s - t->from_s));
}

int boost_trace(const struct boost_options *opt)
{
	struct trace t = { .opt = opt, .predicted_s = NAN };
	struct kjoule_error err;
	int code = boost_lab_open(opt, &t.lab), ret = 0;

	if (!code) {
		ret = trace_measure_load(&t, &err);
		code = ret ? cmd_failed("%s", err.text) : trace_print_all(&t);
		if (opt->plot && !ret && trace_draw_picture(&t, opt->plot))
			code = EXIT_FAILED;
		if (opt->output && boost_lab_save(&t.lab, opt->output))
			code = EXIT_FAILED;
	}
	code = boost_lab_close(&t.lab, code);
	return code;
}
