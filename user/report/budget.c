// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report --power-budget: which rows draw more power than that, and how many of them; see report.h.
 * Called by rows.c for rows that are not shown, and by print.c.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include "output/wrap.h"
#include "report/report.h"

/* Where fewer of the ticks had several busy CPUs of a package, that changes no answer. */
#define PARALLEL_LEAST	0.0005

enum report_over report_over_power(const struct value *w, double share, double budget_w)
{
	if (isnan(w->v))
		return OVER_UNKNOWN;
	/*
	 * Without an interval, or with one that knows nothing of what the neighbours have put into
	 * it, a power above is a hint, and one below is none.
	 */
	if (isnan(w->lo) || share < GROUPS_PURE)
		return w->v > budget_w ? OVER_PERHAPS : OVER_UNKNOWN;
	return w->lo > budget_w ? OVER_YES : w->hi > budget_w ? OVER_PERHAPS : OVER_NO;
}

enum report_over report_over(const struct blocks *b, const struct report_row *r, double budget_w)
{
	if (!(budget_w > 0) || r->kind != ROW_FUNCTION || !b->n_domains)
		return OVER_NO_QUESTION;
	return report_over_power(&r->g.energy[b->shown_first].w, r->g.energy[b->shown_first].share,
				 budget_w);
}

const char *report_over_name(enum report_over over)
{
	static const char *const names[] = {
		[OVER_NO] = "no", [OVER_PERHAPS] = "perhaps", [OVER_YES] = "yes"
	};

	return over > OVER_YES ? NULL : names[over];
}

const char *report_over_mark(enum report_over over)
{
	static const char *const marks[OVER_KINDS] = { [OVER_NO] = "",
						       [OVER_PERHAPS] = "?",
						       [OVER_YES] = "!",
						       [OVER_UNKNOWN] = "-",
						       [OVER_NO_QUESTION] = "" };

	return marks[over];
}

void report_over_count(struct report_overs *o, const struct blocks *b, const struct report_row *r,
		       const struct attribute_options *opt)
{
	struct report_row row = *r;

	if (opt->worst_case)
		profile_worst_case(&row.g, b->n_domains);
	o->n[report_over(b, &row, opt->budget_w)]++;
	o->time_s[report_over(b, &row, opt->budget_w)] += row.g.time_s.v;
}

static bool report_overs_are_any(const struct report_overs *o)
{
	return o->n[OVER_YES] || o->n[OVER_PERHAPS] || o->n[OVER_UNKNOWN];
}

void report_overs_print(const struct blocks *b, double budget_w, const struct report_overs *o,
			const struct report_overs *hidden)
{
	if (!b->n_domains) {
		wrap_footnote(stdout, "",
			      "without energy there is no power to compare with a budget");
		return;
	}
	wrap_footnote(stdout, "!", "draws more %s power than the budget of %g W: %zu, for %.4g s",
		      b->domains[b->shown_first]->name, budget_w, o->n[OVER_YES],
		      o->time_s[OVER_YES]);
	wrap_footnote(stdout, "?",
		      "may draw more: the budget is inside of its interval, or it has none, or it is mixed (~): %zu, for %.4g s",
		      o->n[OVER_PERHAPS], o->time_s[OVER_PERHAPS]);
	if (o->n[OVER_UNKNOWN])
		wrap_footnote(stdout, "-",
			      "not known: it has no power or no interval, or it is mixed (~): %zu, for %.4g s",
			      o->n[OVER_UNKNOWN], o->time_s[OVER_UNKNOWN]);
	if (report_overs_are_any(hidden))
		wrap_footnote(
			stdout, "",
			"of what is below the limit and not shown: draws more: %zu, for %.4g s; perhaps: %zu, for %.4g s; not known: %zu, for %.4g s (--percent-limit)",
			hidden->n[OVER_YES], hidden->time_s[OVER_YES], hidden->n[OVER_PERHAPS],
			hidden->time_s[OVER_PERHAPS], hidden->n[OVER_UNKNOWN],
			hidden->time_s[OVER_UNKNOWN]);
}

void report_budget_print(const struct report *r, const struct blocks *b,
			 const struct attribute_options *opt)
{
	struct report_overs o = { 0 };

	if (!opt->budget_w)
		return;
	for (size_t i = 0; i < r->n_processes; i++) {
		if (r->processes[i].outside && !opt->verbose)
			continue;
		for (size_t k = 0; k < r->processes[i].n_rows; k++) {
			const struct report_row *row = &r->processes[i].rows[k];
			enum report_over over = report_over(b, row, opt->budget_w);

			o.n[over]++;
			o.time_s[over] += row->g.time_s.v;
		}
	}
	report_overs_print(b, opt->budget_w, &o, &r->hidden_over);
	if (r->parallel > PARALLEL_LEAST)
		wrap_footnote(stdout, "",
			      "at %.1f %% of the ticks several CPUs of a package were busy, and a row's power is its share then: --vectors compares what they draw together with a budget",
			      100 * r->parallel);
}

struct json_object *report_overs_json(const struct report_overs *hidden)
{
	static const char *const names[] = {
		[OVER_PERHAPS] = "perhaps", [OVER_YES] = "yes", [OVER_UNKNOWN] = "unknown"
	};
	struct json_object *o = json_object_new_object();

	for (int i = OVER_PERHAPS; i <= OVER_UNKNOWN; i++) {
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "blocks", json_object_new_uint64(hidden->n[i]));
		json_object_object_add(one, "time_s", output_json_real(hidden->time_s[i]));
		json_object_object_add(o, names[i], one);
	}
	return o;
}
