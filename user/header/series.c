// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See series.h. Called by report/cmd_report.c and diff/cmd_diff.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "cli/cmd.h"
#include "header/header.h"
#include "header/series.h"
#include "header/summary.h"
#include "lib/control/names.h"
#include "output/facts.h"
#include "output/wrap.h"

static const char *const figure_names[] = {
	[MERGE_TIME] = "time", [MERGE_ENERGY] = "energy", [MERGE_POWER] = "power"
};
static const char *const figure_units[] = {
	[MERGE_TIME] = "s", [MERGE_ENERGY] = "J", [MERGE_POWER] = "W"
};

/* "time 8.123 s is +8.2 % off the median of 7.51 s (31 times what runs usually differ by)" */
static void series_write_difference(FILE *out, const struct merge *m, const struct merge_run *r)
{
	const char *between = "";

	for (int f = 0; f < MERGE_FIGURES; f++) {
		const struct outlier *o = &r->outliers[f];

		if (!o->differs)
			continue;
		fprintf(out, "%s%s %.5g %s is %+.2g %% off the median of %.5g %s", between,
			figure_names[f], r->figures[f], figure_units[f],
			100 * o->difference / m->median[f], m->median[f], figure_units[f]);
		if (isfinite(o->score))
			fprintf(out,
				" (%.3g times what runs usually differ by, bound %.3g)", o->score,
				outliers_bound(m->judged));
		else
			fprintf(out, " (the others do not differ)");
		between = "; ";
	}
}

/* The same as a text; the caller's to free, NULL without memory. */
static char *series_difference_text(const struct merge *m, const struct merge_run *r)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	series_write_difference(f, m, r);
	fclose(f);
	return text;
}

static void series_write_differing(FILE *f, const struct merge *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct merge_run *r = &m->runs[i];
		char *text;

		if (!r->left_out && m->n_domains && isnan(r->figures[MERGE_ENERGY]))
			wrap_comment(f, "runs", "%s: its energy is not known", r->path);
		if (!r->differs)
			continue;
		text = series_difference_text(m, r);
		wrap_comment(f, "differs", "%s%s: %s", r->path, r->left_out ? " (left out)" : "",
			     text ? text : "");
		free(text);
	}
	if (m->has_outliers && m->kept == m->judged)
		wrap_comment(f, "",
			     "what differs is in the average all the same; --without-outliers leaves it out");
}

/* Of a domain, the part of the time without readings; of all runs that count. Return: the mean */
static double series_unmeasured_part(const struct merge *m, unsigned int d, double *most,
				     double *stuck_s)
{
	double sum = 0;
	size_t n = 0;

	*most = 0;
	*stuck_s = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct merge_run *r = &m->runs[i];

		if (r->left_out || isnan(r->unmeasured[d]))
			continue;
		sum += r->unmeasured[d];
		*most = fmax(*most, r->unmeasured[d]);
		*stuck_s = fmax(*stuck_s, r->still_s[d]);
		n++;
	}
	return n ? sum / n : 0;
}

static void series_write_unmeasured(FILE *f, const struct merge *m)
{
	struct header_gap gaps[PROFILE_DOMAINS];

	for (unsigned int d = 0; d < m->n_domains; d++) {
		gaps[d] = (struct header_gap){ .domain = m->domains[d].name };
		gaps[d].part = series_unmeasured_part(m, d, &gaps[d].most, &gaps[d].stuck_s);
	}
	header_gaps_print(f, gaps, m->n_domains);
}

/* Counters of all runs that count. */
struct series_counters {
	uint64_t samples, records, lost, lost_samples, missed, due, unattributed, interpolated,
		other_set_ticks;
	double other_set, off, unattributed_s, overhead;
	size_t uncalibrated;
	bool lost_unknown;
};

static struct series_counters series_sum_counters(const struct merge *m)
{
	struct series_counters b = { 0 };

	for (size_t i = 0; i < m->n; i++) {
		const struct merge_run *r = &m->runs[i];

		if (r->left_out)
			continue;
		b.samples += r->groups.total->samples;
		b.records += r->stats.records;
		b.lost += r->stats.lost;
		b.lost_samples += r->lost;
		b.missed += r->stats.missed;
		b.due += r->stats.due;
		b.interpolated += r->interpolated;
		b.unattributed += r->unattributed;
		b.unattributed_s += r->unattributed * 1e-9 * r->interval_ns;
		b.other_set_ticks += r->other_set_ticks;
		b.other_set += r->crowded / m->kept;
		if (r->calibrated)
			b.off = fmax(b.off, r->calibration_error);
		else
			b.uncalibrated++;
		b.overhead += r->overhead / m->kept;
		b.lost_unknown |= r->lost_unknown;
	}
	return b;
}

/* Of the whole machine what ran in gaps has a row of its own. */
static bool series_ticks_are_missing(const struct merge *m, const struct series_counters *b)
{
	return b->unattributed && m->runs[0].target != KJOULE_TARGET_SYSTEM;
}

static void series_write_counters(FILE *f, const struct merge *m)
{
	struct series_counters b = series_sum_counters(m);

	if (b.lost_samples)
		wrap_comment(f, "lost",
			     "%" PRIu64 " samples lost: code that ran there is in no figure",
			     b.lost_samples);
	if (series_ticks_are_missing(m, &b))
		wrap_comment(f, "missed",
			     "%" PRIu64
			     " ticks (%.3f CPU seconds) in long gaps are not attributed: no figure has that time",
			     b.unattributed, b.unattributed_s);
	if (b.lost_unknown)
		wrap_comment(f, "lost",
			     "parts of files are damaged; how many samples they had is not known");
	if (b.off > HEADER_NOISY)
		wrap_comment(f, "cost",
			     "a calibration was noisy: what ticks took is known to %.0f %% only, and the intervals are as wide",
			     100 * b.off);
	if (b.uncalibrated)
		wrap_comment(f, "cost",
			     "%zu of the recordings had no calibration, and the intervals are wider for it",
			     b.uncalibrated);
	header_other_sets_print(f, b.other_set_ticks, b.other_set);
}

static int series_note_counters(const struct merge *m, const char *label, struct merge_notes *notes)
{
	struct series_counters b = series_sum_counters(m);
	int ret = 0;

	if (b.lost_samples)
		ret = merge_note(
			notes,
			"%s: %" PRIu64 " of %" PRIu64
			" samples were lost: no figure has them; record at a lower rate",
			label, b.lost_samples, b.lost_samples + b.samples);
	if (!ret && series_ticks_are_missing(m, &b))
		ret = merge_note(
			notes,
			"%s: %" PRIu64
			" ticks (%.3f CPU seconds) in long gaps are not attributed: no figure has that time",
			label, b.unattributed, b.unattributed_s);
	if (!ret && b.off > HEADER_NOISY)
		ret = merge_note(notes, "%s: a calibration was noisy: what ticks took is known to %.0f %% only, and the intervals are as wide",
				 label, 100 * b.off);
	return ret;
}

static int series_note_differing(const struct merge *m, const char *label,
				 struct merge_notes *notes)
{
	int ret = 0;

	for (size_t i = 0; i < m->n && !ret; i++) {
		char *text;

		if (!m->runs[i].differs)
			continue;
		text = series_difference_text(m, &m->runs[i]);
		ret = merge_note(notes, "%s: %s differs from the other runs: %s", label,
				 m->runs[i].path, text ? text : "");
		free(text);
	}
	return ret;
}

int header_series_doubts(const struct merge *m, const char *label, struct merge_notes *notes)
{
	double most = 0, stuck_s = 0,
	       part = m->n_domains ? series_unmeasured_part(m, 0, &most, &stuck_s) : 0;
	int ret = series_note_counters(m, label, notes);
	uint64_t readings = 0;

	for (size_t i = 0; i < m->n; i++)
		readings += m->runs[i].left_out ? 0 : m->runs[i].readings[0];
	if (!ret && m->n_domains && !readings)
		ret = merge_note(notes, "%s: the counter %s was not seen to change twice, so its energy is not known", label,
				 m->domains[0].name);
	else if (!ret && part > HEADER_UNMEASURED)
		ret = merge_note(notes, "%s: of %.1f %% of the time there was no reading of %s: its energy is taken to be as in the rest",
				 label, 100 * part, m->domains[0].name);
	if (!ret && m->n_domains && stuck_s > 0)
		ret = merge_note(notes, "%s: the counter %s did not change in the last %.3f s: taken as no energy", label,
				 m->domains[0].name, stuck_s);
	return ret ? ret : series_note_differing(m, label, notes);
}

void header_series_warnings_print(FILE *f, const struct merge *m)
{
	series_write_unmeasured(f, m);
	series_write_counters(f, m);
	series_write_differing(f, m);
	for (size_t i = 0; i < m->notes.n; i++)
		wrap_comment(f, "note", "%s", m->notes.list[i]);
}

static double series_mean_duration_s(const struct merge *m)
{
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += m->runs[i].left_out ? 0 : m->runs[i].duration_s;
	return sum / m->kept;
}

static void series_print_summary(const struct merge *m, const char *warnings,
				 const struct header_series *h)
{
	const struct merge_run *first = &m->runs[0];
	struct series_counters b = series_sum_counters(m);
	const char *others[PROFILE_DOMAINS];
	struct summary s = {
		.subject = first->command[0] ? summary_command(first->command) :
					       kjoule_target_name(first->target),
		.of_command = first->command[0],
		.runs = m->kept,
		.duration_s = series_mean_duration_s(m),
		.host = first->host,
		.cpus = &first->cpus,
		.samples = b.samples,
		.interval_ns = first->interval_ns,
		.counted = true,
		.lost = b.lost,
		.lost_samples = b.lost_samples,
		.missed = b.missed,
		.due = b.due,
		.others = others,
		.runs_differ = m->kept >= RUNS_SPREAD,
		.slowdown = b.overhead,
		.outside_j = NAN,
		.verbose = h->verbose,
		.messages = m->damaged || m->warned,
		.warnings = warnings,
	};

	for (unsigned int d = 0; d < m->n_domains; d++) {
		if (d != h->shown_first) {
			others[s.n_others++] = m->domains[d].name;
			continue;
		}
		s.domain = m->domains[d].name;
		s.source = m->sources[d];
		s.update_period_ns = m->domains[d].update_period_ns;
	}
	summary_print(&s);
}

void header_series_facts_print(const struct merge *m, const struct header_series *h,
			       const char *name)
{
	struct json_object *facts = header_series_json(m, h);

	printf("#\n");
	facts_print(stdout, name, facts);
	json_object_put(facts);
}

void header_series_print(const struct merge *m, const struct header_series *h)
{
	char *warnings = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&warnings, &len);

	if (!f)
		return;
	header_series_warnings_print(f, m);
	fclose(f);
	series_print_summary(m, warnings, h);
	free(warnings);
	if (h->verbose)
		header_series_facts_print(m, h, "recordings");
}

void header_series_warn(const struct merge *m)
{
	for (size_t i = 0; i < m->notes.n; i++)
		cmd_warn("%s", m->notes.list[i]);
	for (size_t i = 0; i < m->n; i++) {
		char *text;

		if (!m->runs[i].differs)
			continue;
		text = series_difference_text(m, &m->runs[i]);
		cmd_warn("%s differs from the other runs%s: %s", m->runs[i].path,
			 m->runs[i].left_out ? " and is left out" : "",
			 text ? text : "");
		free(text);
	}
}

static void series_json_put(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add(o, key, v);
}

static struct json_object *series_text_or_null(const char *text)
{
	return text && text[0] ? output_json_str(text) : NULL;
}

/* A part of a run among whole ones. */
static bool series_run_is_unjudged(const struct merge_run *r)
{
	return r->partial && r->left_out;
}

static struct json_object *series_run_json(const struct merge *m, const struct merge_run *r)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	series_json_put(o, "file", output_json_str(r->path));
	series_json_put(o, "start_unix_ns", json_object_new_uint64(r->wall_ns));
	series_json_put(o, "duration_s", output_json_real(r->duration_s));
	series_json_put(o, "interval_ns", json_object_new_uint64(r->interval_ns));
	series_json_put(o, "exit_code",
			r->exit_code >= 0 ? json_object_new_int(r->exit_code) : NULL);
	series_json_put(o, "partial", series_text_or_null(r->partial));
	series_json_put(o, "samples", json_object_new_uint64(r->groups.total->samples));
	series_json_put(o, "records", json_object_new_uint64(r->stats.records));
	series_json_put(o, "lost", json_object_new_uint64(r->stats.lost));
	series_json_put(o, "due", json_object_new_uint64(r->stats.due));
	series_json_put(o, "missed", json_object_new_uint64(r->stats.missed));
	series_json_put(o, "missed_interpolated", json_object_new_uint64(r->interpolated));
	series_json_put(o, "missed_unattributed", json_object_new_uint64(r->unattributed));
	series_json_put(o, "calibrated", json_object_new_boolean(r->calibrated));
	series_json_put(o, "calibration_error",
			r->calibrated ? output_json_real(r->calibration_error) : NULL);
	series_json_put(o, "parallel_part", output_json_real(r->parallel));
	series_json_put(o, "other_set_ticks", json_object_new_uint64(r->other_set_ticks));
	series_json_put(o, "other_set_part", output_json_real(r->crowded));
	series_json_put(o, "overhead_part",
			isnan(r->overhead) ? NULL : output_json_real(r->overhead));
	for (unsigned int d = 0; d < m->n_domains; d++)
		json_object_array_add(list, json_object_new_uint64(r->readings[d]));
	series_json_put(o, "distinct_readings", list);
	list = json_object_new_array();
	for (unsigned int d = 0; d < m->n_domains; d++)
		json_object_array_add(list, output_json_real(r->unmeasured[d]));
	series_json_put(o, "unmeasured_part", list);
	list = json_object_new_array();
	for (unsigned int d = 0; d < m->n_domains; d++)
		json_object_array_add(list, output_json_real(r->still_s[d]));
	series_json_put(o, "stuck_s", list);
	series_json_put(o, "time_s", output_json_real(r->figures[MERGE_TIME]));
	series_json_put(o, "energy_j", output_json_real(r->figures[MERGE_ENERGY]));
	series_json_put(o, "power_w", output_json_real(r->figures[MERGE_POWER]));
	series_json_put(o, "differs",
			series_run_is_unjudged(r) ? NULL : json_object_new_boolean(r->differs));
	for (int f = 0; f < MERGE_FIGURES; f++) {
		char key[32];

		snprintf(key, sizeof(key), "%s_score", figure_names[f]);
		series_json_put(o, key, isnan(m->median[f]) || series_run_is_unjudged(r) ? NULL :
				output_json_real(r->outliers[f].score));
		snprintf(key, sizeof(key), "%s_differs", figure_names[f]);
		series_json_put(o, key, series_run_is_unjudged(r) ? NULL :
				json_object_new_boolean(r->outliers[f].differs));
	}
	series_json_put(o, "left_out", json_object_new_boolean(r->left_out));
	return o;
}

struct json_object *header_series_json(const struct merge *m, const struct header_series *h)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const struct merge_run *first = &m->runs[0];
	char cpus[512];

	series_json_put(o, "average_of", json_object_new_uint64(m->kept));
	series_json_put(o, "spread_known", json_object_new_boolean(m->kept >= RUNS_SPREAD));
	series_json_put(o, "command", series_text_or_null(first->command));
	series_json_put(o, "program", series_text_or_null(first->program));
	series_json_put(o, "build_id", series_text_or_null(first->build_id));
	series_json_put(o, "host", output_json_str(first->host));
	series_json_put(o, "kernel", output_json_str(first->kernel));
	series_json_put(o, "interval_ns", json_object_new_uint64(first->interval_ns));
	series_json_put(o, "target", json_object_new_string(kjoule_target_name(first->target)));
	series_json_put(o, "cpus", json_object_new_string(kjoule_cpus_format(&first->cpus, cpus,
									     sizeof(cpus))));
	series_json_put(o, "frequency_source", series_text_or_null(first->frequency));
	for (unsigned int d = 0; d < m->n_domains; d++) {
		struct json_object *one = json_object_new_object();

		series_json_put(one, "name", output_json_str(m->domains[d].name));
		series_json_put(one, "source", output_json_str(m->sources[d]));
		series_json_put(one, "update_period_ns",
				json_object_new_uint64(m->domains[d].update_period_ns));
		json_object_array_add(list, one);
	}
	series_json_put(o, "domains", list);
	series_json_put(o, "outlier_bound", m->judged >= OUTLIERS_LEAST ?
			output_json_real(outliers_bound(m->judged)) : NULL);
	list = json_object_new_array();
	for (size_t i = 0; i < m->n; i++)
		json_object_array_add(list, series_run_json(m, &m->runs[i]));
	series_json_put(o, "runs", list);
	list = json_object_new_array();
	for (size_t i = 0; i < m->notes.n; i++)
		json_object_array_add(list, output_json_str(m->notes.list[i]));
	series_json_put(o, "notes", list);
	if (h && h->model)
		series_json_put(o, "model", header_model_json(h->model, h->blocks, NULL));
	return o;
}
