// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule boost cause: does the temperature decide when a boost ends, what the chip drew before, or
 * the time? Boosts under the same load, a weaker one, from a warm start shortly after a load, and
 * with the fan slowed down; what was the same at the end of all of them is the cause, see
 * analysis/boost/boost_cause.h. See boost.h.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "analysis/boost/boost_cause.h"
#include "boost/boost.h"
#include "cli/cmd.h"
#include "lib/base/array.h"

/*
 * The weaker load draws what is in the middle between the boost and what is sustained; without any
 * power, this part of the time.
 */
#define WEAKER		0.5
#define WEAKER_PART	0.9

/*
 * A warm start: what the chip is loaded for until it is slow, and then rests for such a part of a
 * boost.
 */
#define WARM_REST	0.5

/* Boosts of fewer slices tell of how the chip begins one, not of why it ends. */
#define LEAST_SLICES	5

/* A temperature is that of so long before and behind the boost's end. */
#define AROUND_S	0.1

enum condition { AS_IT_IS, WEAK, WARM, HOT, CONDITIONS };

static const char *const condition_names[CONDITIONS] =
	{ "as it is", "weaker", "warm start", "hotter" };

/*
 * When a boost ended, or was given up, by the watch's clock, and how long it was; NAN: it did not
 * end.
 */
struct lasted {
	double until_s, boost_s;
};

struct cause {
	const struct boost_options *opt;
	struct boost_lab lab;
	struct boost_fan fan;
	struct boost_level idle;
	struct boost_course course;
	struct boost_speeds speeds;
	double weak_part, tau_s;
	bool tau_told;			/* by powercap */
	struct boost_end *ends;
	struct lasted *lasted;		/* of each of them */
	struct boost_drawn *drawn;
	size_t n, n_lasted, n_drawn, never, too_short;
	enum boost_cause cause;
	struct boost_why why[BOOST_QUANTITIES];
};

/* What the chip's past is to be like. */
static int cause_prepare_boost(struct cause *c, enum condition condition, struct kjoule_error *err)
{
	double unused[3];
	struct boost_level idle;
	int ret;

	if (condition != WARM)
		return boost_lab_clean(&c->lab, &idle, err);
	ret = boost_lab_until_slow(&c->lab, &c->speeds, 1, "warming up", &unused[0], &unused[1],
				   &unused[2], err);
	return ret ? ret : boost_lab_spend(&c->lab, 0, WARM_REST * c->speeds.tb_s, "resting, for a warm start", NULL, NULL, NULL, NULL, err);
}

static int cause_measure_boost(struct cause *c, enum condition condition, struct kjoule_error *err)
{
	double part = condition == WEAK ? c->weak_part : 1, from_s, to_s, boost_s, until_s;
	struct boost_drawn *drawn;
	struct lasted *lasted;
	struct boost_end *end;
	int ret = 0;

	if (condition == HOT)
		ret = boost_fan_set(&c->fan, c->opt->fan_slow, err);
	if (!ret)
		ret = cause_prepare_boost(c, condition, err);
	if (!ret)
		ret = boost_lab_until_slow(&c->lab, &c->speeds, part, condition_names[condition],
					   &from_s, &to_s, &boost_s, err);
	if (condition == HOT && boost_fan_reset(&c->fan, ret ? NULL : err) && !ret)
		ret = -EIO;
	if (ret)
		return ret;
	drawn = kjoule_array_grow(&c->drawn, &c->n_drawn, sizeof(*drawn));
	if (!drawn)
		return kjoule_fail(err, ENOMEM, "no memory");
	*drawn = (struct boost_drawn){ condition_names[condition], from_s, from_s, to_s, boost_s };
	c->never += isnan(boost_s);
	if (boost_s < LEAST_SLICES * boost_watch_slice_s(c->lab.watch)) {
		c->too_short++;
		return 0;
	}
	/* first: there is one of each end, whatever fails */
	lasted = kjoule_array_grow(&c->lasted, &c->n_lasted, sizeof(*lasted));
	if (!lasted)
		return kjoule_fail(err, ENOMEM, "no memory");
	end = kjoule_array_grow(&c->ends, &c->n, sizeof(*end));
	if (!end)
		return kjoule_fail(err, ENOMEM, "no memory");
	*end = (struct boost_end){ .condition = condition, .ended = !isnan(boost_s),
				   .at = { NAN, NAN, NAN } };
	until_s = end->ended ? from_s + boost_s : to_s;
	/* a time that has been used up in part says nothing of how long it is */
	if (condition != WARM)
		end->at[BOOST_TIME] = until_s - from_s;
	*lasted = (struct lasted){ until_s, boost_s };
	return 0;
}

/* By the boosts that ended. NAN: there is none, or no memory */
static double cause_fit_tau(const struct cause *c, const struct boost_slice *s, size_t n)
{
	double *until_s = malloc((c->n ? c->n : 1) * sizeof(*until_s)), tau = NAN;
	size_t ended = 0;

	for (size_t i = 0; until_s && i < c->n; i++)
		if (c->ends[i].ended)
			until_s[ended++] = c->lasted[i].until_s;
	if (ended)
		tau = boost_tau(s, n, c->idle.w.v, until_s, ended, c->speeds.tb_s);
	free(until_s);
	return tau;
}

/* What was measured meanwhile, when all is over. */
static int cause_fill_in_ends(struct cause *c, struct kjoule_error *err)
{
	const struct boost_slice *s;
	double idle_w = c->idle.w.v;
	size_t n;

	if (boost_watch_slices(c->lab.watch, 0, INFINITY, &s, &n))
		return kjoule_fail(err, ENOMEM, "no memory");
	if (!c->tau_told)
		c->tau_s = isnan(idle_w) ? NAN : cause_fit_tau(c, s, n);
	for (size_t i = 0; i < c->n; i++) {
		struct boost_level around = boost_level(s, n, c->lasted[i].until_s - AROUND_S,
							c->lasted[i].until_s + AROUND_S);

		c->ends[i].at[BOOST_TEMPERATURE] = around.celsius.v;
		if (!isnan(c->tau_s) && !isnan(idle_w))
			c->ends[i].at[BOOST_POWER] =
				boost_weighted(s, n, c->tau_s, idle_w, c->lasted[i].until_s);
	}
	return 0;
}

static int cause_measure_boosts(struct cause *c, struct kjoule_error *err)
{
	double from_s, to_s, weak_w;
	int ret = boost_lab_clean(&c->lab, &c->idle, err);

	if (!ret)
		ret = boost_lab_course(&c->lab, &c->course, &from_s, &to_s, err);
	if (ret || c->course.verdict != BOOST_ENDS)
		return ret;
	c->speeds = boost_speeds_of(&c->course);
	weak_w = c->course.sustained.w.v + WEAKER * (c->course.boost.w.v - c->course.sustained.w.v);
	c->weak_part = (weak_w - c->idle.w.v) / (c->course.boost.w.v - c->idle.w.v);
	if (!(c->weak_part > 0 && c->weak_part < 1))
		c->weak_part = WEAKER_PART;
	for (unsigned int i = 0; i < c->opt->runs && !ret; i++)
		for (unsigned int k = 0; k < CONDITIONS && !ret; k++)
			if (k != HOT || c->opt->fan)
				ret = cause_measure_boost(c, k, err);
	return ret;
}

static int cause_judge_boosts(struct cause *c, struct kjoule_error *err)
{
	double idle[BOOST_QUANTITIES];
	int ret = cause_fill_in_ends(c, err);

	if (ret)
		return ret;
	idle[BOOST_POWER] = c->idle.w.v;
	idle[BOOST_TEMPERATURE] = c->idle.celsius.v;
	idle[BOOST_TIME] = 0;
	c->cause = boost_cause_of(c->ends, c->n, idle, !c->tau_told, c->why);
	return 0;
}

static const struct output_column columns[] = {
	{ "condition", "CONDITION", true },
	{ "boost_s", "BOOST s", false },
	{ "weighted_w", "WEIGHTED W", false },
	{ "celsius", "TEMP \u00b0C", false },
};

static void cause_print_row(struct output *out, const struct boost_end *e, double boost_s)
{
	output_str(out, condition_names[e->condition]);
	output_known(out, boost_s, 3, "it did not end");
	output_known(out, e->at[BOOST_POWER], 3, "no source of power");
	output_known(out, e->at[BOOST_TEMPERATURE], 1, "no source of temperature");
	output_row(out);
}

static struct json_object *cause_why_json(const struct boost_why *w)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "limit", output_json_real(w->limit));
	json_object_object_add(o, "near", output_json_real(w->near));
	json_object_object_add(o, "explained", json_object_new_uint64(w->explained));
	json_object_object_add(o, "known", json_object_new_uint64(w->known));
	json_object_object_add(o, "f", output_json_real(w->f));
	json_object_object_add(o, "p", output_json_real(w->p));
	return o;
}

static struct json_object *cause_header_json(const struct cause *c)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "verdict",
			       json_object_new_string(boost_verdict_name(c->course.verdict)));
	json_object_object_add(o, "cause",
			       c->n ? json_object_new_string(boost_cause_name(c->cause)) : NULL);
	json_object_object_add(o, "boosts", json_object_new_uint64(c->n));
	json_object_object_add(o, "never_ended", json_object_new_uint64(c->never));
	json_object_object_add(o, "too_short", json_object_new_uint64(c->too_short));
	json_object_object_add(o, "boost_s", output_json_real(c->course.tb_s.v));
	json_object_object_add(o, "tau_s", output_json_real(c->tau_s));
	json_object_object_add(o, "tau_of_powercap", json_object_new_boolean(c->tau_told));
	json_object_object_add(o, "idle_w", output_json_real(c->idle.w.v));
	json_object_object_add(o, "idle_celsius", output_json_real(c->idle.celsius.v));
	for (unsigned int q = 0; q < BOOST_QUANTITIES && c->n; q++)
		json_object_object_add(o, boost_quantity_name(q), cause_why_json(&c->why[q]));
	return o;
}

static void cause_print_why(const struct cause *c)
{
	static const char *const what[BOOST_QUANTITIES] = { "mean power", "temperature", "time" };
	static const char *const units[BOOST_QUANTITIES] = { "W", "\u00b0C", "s" };

	putchar('\n');
	for (unsigned int q = 0; q < BOOST_QUANTITIES; q++) {
		const struct boost_why *w = &c->why[q];

		if (!w->known) {
			output_printf(stdout, "%-12s is not known\n", what[q]);
			continue;
		}
		output_printf(stdout, "%-12s was %.4g %s at the end at most; within %.2g it explains %zu of %zu boosts",
			      what[q], w->limit, units[q], w->near, w->explained, c->n);
		if (!isnan(w->p))
			printf("; that it does not depend on the condition: p = %.2g", w->p);
		putchar('\n');
	}
}

static void cause_print_verdict(const struct cause *c)
{
	static const char *const what[BOOST_CAUSES] = {
		[BOOST_BY_POWER] = "what the chip drew before ends the boost",
		[BOOST_BY_TEMPERATURE] = "the temperature ends the boost",
		[BOOST_BY_TIME] = "the boost has its time, whatever the chip draws and however hot it is",
		[BOOST_BY_BOTH] = "what the chip drew before ends the boost, or the temperature, whichever comes first",
		[BOOST_BY_ONE_OF] = "more than one thing explains all boosts, or one that might is not known: no cause can be named",
		[BOOST_BY_OTHER] = "nothing that was looked at explains all boosts",
	};

	cause_print_why(c);
	output_printf(stdout, "\n%s", what[c->cause]);
	if (c->cause == BOOST_BY_ONE_OF && !c->opt->fan)
		printf("; give it a fan to slow down (--fan)");
	putchar('\n');
	if (c->never)
		printf("%zu boosts did not end while they were looked at: what was beyond its limit then is not the cause\n",
		       c->never);
	if (c->too_short)
		printf("%zu boosts were too short to tell why they ended\n", c->too_short);
}

static int cause_print_all(const struct cause *c)
{
	bool people = c->opt->format == OUTPUT_TABLE, ends = c->course.verdict == BOOST_ENDS;
	struct output *out;
	char load[64];

	if (people && !ends)
		return boost_lab_no_boost(&c->lab, &c->course);
	if (people)
		output_printf(stdout, "# cause      %s; weaker: %.0f %% of the time%s%s\n",
			      boost_lab_load(&c->lab, load, sizeof(load)), 100 * c->weak_part,
			      c->opt->fan ? "; hotter: " : "", c->opt->fan ? c->opt->fan : "");
	if (people && !isnan(c->tau_s))
		output_printf(stdout, "# weighted   over %.4g s, %s\n", c->tau_s,
			      c->tau_told ? "as powercap says" : "with which it differs least");
	if (people)
		putchar('\n');
	out = output_open(stdout, c->opt->format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out)
		return cmd_failed("no memory");
	for (size_t i = 0; i < c->n; i++)
		cause_print_row(out, &c->ends[i], c->lasted[i].boost_s);
	output_close(out, c->opt->format == OUTPUT_JSON ? cause_header_json(c) : NULL, "rows");
	if (!ends)
		return boost_lab_no_boost(&c->lab, &c->course);
	if (people && c->n)
		cause_print_verdict(c);
	return c->n && c->cause != BOOST_BY_ONE_OF && c->cause != BOOST_BY_OTHER ? EXIT_DONE :
	       EXIT_FAILED;
}

int boost_cause(const struct boost_options *opt)
{
	struct cause c = { .opt = opt, .fan.guard.fd = -1, .tau_s = NAN };
	struct kjoule_error err, unjudged;
	int code, ret;

	/* while there is little that the guardian would have a copy of */
	if (opt->fan && boost_fan_open(opt->fan, &c.fan, &err)) {
		boost_fan_close(&c.fan);
		return cmd_failed("%s", err.text);
	}
	code = boost_lab_open(opt, &c.lab);
	if (!code) {
		c.tau_s = c.lab.limits.tau_s;
		c.tau_told = !isnan(c.tau_s);
		ret = cause_measure_boosts(&c, &err);
		/* what was measured until then is printed */
		if (c.n && cause_judge_boosts(&c, &unjudged))
			code = cmd_failed("%s", unjudged.text);
		else if (c.n || !ret)
			code = cause_print_all(&c);
		if (ret)
			code = cmd_failed("%s", err.text);
		/* as the paper's figure 2 */
		if (opt->plot && c.n_drawn && boost_draw(&c.lab, opt->plot, c.drawn, c.n_drawn, 0))
			code = EXIT_FAILED;
		if (opt->output && boost_lab_save(&c.lab, opt->output))
			code = EXIT_FAILED;
	}
	boost_fan_close(&c.fan);
	code = boost_lab_close(&c.lab, code);
	free(c.ends);
	free(c.lasted);
	free(c.drawn);
	return code;
}
