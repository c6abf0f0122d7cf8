// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule boost window: how much of its past a chip remembers. The chip is loaded until it has used
 * its boost up, idles for some time, and is loaded again; for how long it boosts then, over the
 * time it idled, is the paper's figure 3. Two models of what it remembers are fitted to that, see
 * analysis/boost/budget.h. See boost.h.
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
#include "lib/base/array.h"
#include "output/picture.h"
#include "output/plot.h"

/*
 * Times of idleness that are tried: of the boost from a clean history, the first, and by how much
 * more the next.
 */
#define FIRST_PART	0.125
#define FACTOR		2.0

/* Then between the last that was too short and the first that was not. */
#define BISECTIONS	3

/* No idleness is longer than so many boosts, whatever comes. */
#define MOST_PART	64

/*
 * What is behind the end of a boost is held for as long again, so that nothing of what was before
 * is remembered.
 */
#define SATURATE_PART	1.0

/* Boosts of fewer slices tell of how the chip begins one, not of what it remembers. */
#define LEAST_SLICES	3

/* The kinds are separate if one is so many times as far from the points as the other. */
#define TELL_KINDS	1.5

struct window {
	const struct boost_options *opt;
	struct boost_lab lab;
	struct boost_level idle;
	struct boost_course full;
	struct boost_speeds speeds;
	struct budget_point *points;
	size_t n;
	struct budget fit[BUDGET_KINDS];
	int fitted[BUDGET_KINDS];	/* as budget_fit() returned */
};

static const char *const kind_names[BUDGET_KINDS] = { "weighted", "box" };

static double boost_window_slice_s(const struct window *w)
{
	return boost_watch_slice_s(w->lab.watch);
}

/* One point: saturate, idle, boost. */
static int boost_window_measure_after(struct window *w, double idle_s, double *boost_s,
				      struct kjoule_error *err)
{
	double unused_s, end_s, begin_s;
	struct budget_point *p;
	char what[64];
	int ret;

	ret = boost_lab_spend(&w->lab, 1, SATURATE_PART * w->full.tb_s.v, "saturating", NULL, NULL,
			      NULL, &end_s, err);
	snprintf(what, sizeof(what), "idle for %.3g s", idle_s);
	if (!ret)
		ret = boost_lab_spend(&w->lab, 0, idle_s, what, NULL, NULL, NULL, NULL, err);
	if (!ret)
		ret = boost_lab_until_slow(&w->lab, &w->speeds, 1, "boosting", &begin_s, &unused_s,
					   boost_s, err);
	if (ret)
		return ret;
	if (isnan(*boost_s))
		return kjoule_fail(err, ENODATA, "after %.3g s of idleness the boost has not ended while it should have four times over: something has changed",
				   idle_s);
	p = kjoule_array_grow(&w->points, &w->n, sizeof(*p));
	if (!p)
		return kjoule_fail(err, ENOMEM, "no memory");
	*p = (struct budget_point){ begin_s - end_s, *boost_s, boost_window_slice_s(w) / 2 };
	return 0;
}

/* First ever longer, until the boost is whole; then between. */
static int boost_window_search(struct window *w, struct kjoule_error *err)
{
	double idle = FIRST_PART * w->full.tb_s.v, low = 0, high = NAN, boost = 0;
	double whole = BUDGET_BACK * w->full.tb_s.v - boost_window_slice_s(w);
	int ret = 0;

	while (!ret && isnan(high) && idle <= MOST_PART * w->full.tb_s.v) {
		ret = boost_window_measure_after(w, idle, &boost, err);
		if (boost >= whole)
			high = idle;
		else
			low = idle;
		idle *= FACTOR;
	}
	for (unsigned int i = 0; !ret && !isnan(high) && low > 0 && i < BISECTIONS; i++) {
		idle = sqrt(low * high);
		ret = boost_window_measure_after(w, idle, &boost, err);
		if (boost >= whole)
			high = idle;
		else
			low = idle;
	}
	return ret;
}

static int boost_window_fit_models(struct window *w, struct kjoule_error *err)
{
	struct budget_point *list = NULL;
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		struct budget_point *p;

		if (w->points[i].boost < LEAST_SLICES * boost_window_slice_s(w))
			continue;
		p = kjoule_array_grow(&list, &n, sizeof(*p));
		if (!p) {
			free(list);
			return kjoule_fail(err, ENOMEM, "no memory");
		}
		*p = w->points[i];
	}
	for (unsigned int kind = 0; kind < BUDGET_KINDS; kind++)
		w->fitted[kind] = budget_fit(kind, list, n, &w->fit[kind]);
	free(list);
	return 0;
}

/* The model that is nearer to the points; BUDGET_KINDS: neither is. */
static enum budget_kind boost_window_better_model(const struct window *w)
{
	bool weighted = !w->fitted[BUDGET_WEIGHTED], box = !w->fitted[BUDGET_BOX];

	if (weighted && box)
		return w->fit[BUDGET_WEIGHTED].rms <= w->fit[BUDGET_BOX].rms ? BUDGET_WEIGHTED :
		       BUDGET_BOX;
	return weighted ? BUDGET_WEIGHTED : box ? BUDGET_BOX : BUDGET_KINDS;
}

/* It is known which of both it is. */
static bool boost_window_kind_is_known(const struct window *w)
{
	double a = w->fit[BUDGET_WEIGHTED].rms, b = w->fit[BUDGET_BOX].rms;

	if (w->fitted[BUDGET_WEIGHTED] || w->fitted[BUDGET_BOX])
		return boost_window_better_model(w) != BUDGET_KINDS;
	return fmax(a, b) > TELL_KINDS * fmin(a, b) && fmax(a, b) > TELL_KINDS;
}

static int boost_window_measure(struct window *w, struct kjoule_error *err)
{
	double from_s, to_s;
	int ret = boost_lab_clean(&w->lab, &w->idle, err);

	if (!ret)
		ret = boost_lab_course(&w->lab, &w->full, &from_s, &to_s, err);
	if (ret || w->full.verdict != BOOST_ENDS)
		return ret;
	w->speeds = boost_speeds_of(&w->full);
	return boost_window_search(w, err);
}

static const struct output_column columns[] = {
	{ "idle_s", "IDLE s", false },
	{ "boost_s", "BOOST s", false },
	{ "weighted_s", "WEIGHTED s", false },
	{ "box_s", "BOX s", false },
};

static void boost_window_print_model(struct output *out, const struct window *w,
				     enum budget_kind kind, double idle)
{
	if (w->fitted[kind])
		output_none(out, "the model cannot be fitted");
	else
		output_real(out, budget_boost(kind, w->fit[kind].tau.v, w->fit[kind].full.v, idle),
			    3);
}

static void boost_window_print_row(struct output *out, const struct window *w,
				   const struct budget_point *p)
{
	output_real(out, p->idle, 3);
	output_real(out, p->boost, 3);
	boost_window_print_model(out, w, BUDGET_WEIGHTED, p->idle);
	boost_window_print_model(out, w, BUDGET_BOX, p->idle);
	output_row(out);
}

static void boost_window_put_value(struct json_object *o, const char *name, const struct value *v)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_s", name);
	json_object_object_add(o, key, output_json_real(v->v));
	snprintf(key, sizeof(key), "%s_lo_s", name);
	json_object_object_add(o, key, output_json_real(v->lo));
	snprintf(key, sizeof(key), "%s_hi_s", name);
	json_object_object_add(o, key, output_json_real(v->hi));
}

static struct json_object *boost_window_fit_json(const struct budget *b)
{
	struct json_object *o = json_object_new_object();

	boost_window_put_value(o, "tau", &b->tau);
	boost_window_put_value(o, "full", &b->full);
	boost_window_put_value(o, "window", &b->window);
	json_object_object_add(o, "rms", output_json_real(b->rms));
	return o;
}

static struct json_object *boost_window_header_json(const struct window *w)
{
	struct json_object *o = json_object_new_object();
	enum budget_kind kind = boost_window_better_model(w);

	json_object_object_add(o, "verdict",
			       json_object_new_string(boost_verdict_name(w->full.verdict)));
	boost_lab_load_json(&w->lab, o);
	json_object_object_add(o, "boost_s", output_json_real(w->full.tb_s.v));
	json_object_object_add(o, "r", output_json_real(w->full.r));
	json_object_object_add(o, "lost_records",
			       json_object_new_uint64(boost_watch_lost(w->lab.watch)));
	json_object_object_add(o, "tau_s", output_json_real(w->lab.limits.tau_s));
	for (unsigned int k = 0; k < BUDGET_KINDS; k++)
		json_object_object_add(o, kind_names[k],
				       w->fitted[k] ? NULL : boost_window_fit_json(&w->fit[k]));
	json_object_object_add(o, "model", kind == BUDGET_KINDS || !boost_window_kind_is_known(w) ?
			       NULL : json_object_new_string(kind_names[kind]));
	json_object_object_add(o, "window_s", output_json_real(kind == BUDGET_KINDS ? NAN :
							       w->fit[kind].window.v));
	return o;
}

static void boost_window_print_fit(const struct window *w)
{
	static const char *const what[BUDGET_KINDS] =
		{ "an exponentially weighted mean, time constant", "a plain mean over the last" };
	enum budget_kind kind = boost_window_better_model(w);

	putchar('\n');
	if (kind == BUDGET_KINDS) {
		printf("the points tell no model of what the chip remembers\n");
		return;
	}
	for (unsigned int k = 0; k < BUDGET_KINDS; k++)
		if (!w->fitted[k])
			output_printf(stdout, "%-8s   %s %.4g s %s%.2g: %.1f standard deviations off the points\n",
				      kind_names[k], what[k], w->fit[k].tau.v, output_half(),
				      (w->fit[k].tau.hi - w->fit[k].tau.lo) / 2, w->fit[k].rms);
	if (boost_window_kind_is_known(w))
		output_printf(stdout, "the %s one is what the chip does", kind_names[kind]);
	else
		output_printf(stdout, "which of both it is the points do not tell; by the %s one",
			      kind_names[kind]);
	output_printf(stdout, ": the history window is %.4g s %s%.2g (the boost is back to %.0f %% of its %.4g s)\n",
		      w->fit[kind].window.v, output_half(),
		      (w->fit[kind].window.hi - w->fit[kind].window.lo) / 2, 100 * BUDGET_BACK,
		      w->fit[kind].full.v);
	if (!isnan(w->lab.limits.tau_s))
		printf("limits     powercap's time window is %.4g s\n", w->lab.limits.tau_s);
}

static int boost_window_print_all(const struct window *w)
{
	bool people = w->opt->format == OUTPUT_TABLE;
	struct output *out;
	char load[512];

	if (w->full.verdict != BOOST_ENDS && people)
		return boost_lab_no_boost(&w->lab, &w->full);
	if (people)
		output_printf(stdout, "# window     %s; from a clean history the boost lasts %.3f s, r = %.4f\n\n",
			      boost_lab_load(&w->lab, load, sizeof(load)), w->full.tb_s.v,
			      w->full.r);
	out = output_open(stdout, w->opt->format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out)
		return cmd_failed("no memory");
	for (size_t i = 0; i < w->n; i++)
		boost_window_print_row(out, w, &w->points[i]);
	output_close(out, w->opt->format == OUTPUT_JSON ? boost_window_header_json(w) : NULL,
		     "rows");
	if (people)
		boost_window_print_fit(w);
	return w->full.verdict == BOOST_ENDS ? EXIT_DONE : boost_lab_no_boost(&w->lab, &w->full);
}

static void boost_window_write_script(const struct window *w, const struct picture *p)
{
	FILE *f = p->script;

	plot_begin(f, p->path, 900, 560);
	fprintf(f, "set title 'How long a boost lasts after how much idleness'\n"
		   "set xlabel 'idle before, s'\nset ylabel 'boost, s'\n"
		   "set yrange [0:*]\nset xrange [0:*]\n"
		   "set grid\nset key bottom right\nplot ");
	plot_string(f, p->data_path);
	fprintf(f, " every ::1 using 1:2 with points pt 7 lc 1 title 'measured'");
	if (!w->fitted[BUDGET_WEIGHTED])
		fprintf(f, ", %.9g * log(1 + %.9g * (1 - exp(-x / %.9g))) lc 2 title 'weighted, %.3g s'",
			w->fit[BUDGET_WEIGHTED].tau.v,
			expm1(w->fit[BUDGET_WEIGHTED].full.v / w->fit[BUDGET_WEIGHTED].tau.v),
			w->fit[BUDGET_WEIGHTED].tau.v, w->fit[BUDGET_WEIGHTED].tau.v);
	if (!w->fitted[BUDGET_BOX])
		fprintf(f, ", (x * %.9g < %.9g ? x * %.9g : %.9g) dt 2 lc 3 title 'box, %.3g s'",
			w->fit[BUDGET_BOX].full.v /
			(w->fit[BUDGET_BOX].tau.v - w->fit[BUDGET_BOX].full.v),
			w->fit[BUDGET_BOX].full.v, w->fit[BUDGET_BOX].full.v /
			(w->fit[BUDGET_BOX].tau.v - w->fit[BUDGET_BOX].full.v),
			w->fit[BUDGET_BOX].full.v, w->fit[BUDGET_BOX].tau.v);
	fprintf(f, "\n");
}

static int boost_window_draw_picture(const struct window *w, const char *path)
{
	struct kjoule_error err;
	struct picture p;

	if (!picture_open(&p, path, w->opt->force, &err)) {
		fprintf(p.data, "idle_s,boost_s\n");
		for (size_t i = 0; i < w->n; i++)
			fprintf(p.data, "%.9g,%.9g\n", w->points[i].idle, w->points[i].boost);
		if (!picture_script(&p, &err))
			boost_window_write_script(w, &p);
	}
	return picture_close(&p, &err) ? cmd_failed("%s", err.text) : 0;
}

int boost_window(const struct boost_options *opt)
{
	struct window w = { .opt = opt, .fitted = { -ENODATA, -ENODATA } };
	struct kjoule_error err, unfit;
	int code = boost_lab_open(opt, &w.lab), ret;

	if (!code) {
		ret = boost_window_measure(&w, &err);
		/* what was measured until then is printed */
		if (w.n && boost_window_fit_models(&w, &unfit))
			code = cmd_failed("%s", unfit.text);
		else if (w.n || !ret)
			code = boost_window_print_all(&w);
		if (ret)
			code = cmd_failed("%s", err.text);
		if (opt->plot && w.n && boost_window_draw_picture(&w, opt->plot))
			code = EXIT_FAILED;
		if (opt->output && boost_lab_save(&w.lab, opt->output))
			code = EXIT_FAILED;
	}
	code = boost_lab_close(&w.lab, code);
	free(w.points);
	return code;
}
