// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See series.h. Called by report/cmd_report.c and diff/cmd_diff.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <json-c/json.h>
#include "cli/cmd.h"
#include "header/header.h"
#include "header/series.h"
#include "lib/control/names.h"

static const char *const figure_names[] = { [MERGE_TIME] = "time", [MERGE_ENERGY] = "energy", [MERGE_POWER] = "power" };
static const char *const figure_units[] = { [MERGE_TIME] = "s", [MERGE_ENERGY] = "J", [MERGE_POWER] = "W" };

/* "time 8.123 s is +8.2 % off the median of 7.51 s (31 times what runs usually differ by)" */
static void series_write_difference(FILE *out, const struct merge *m, const struct merge_run *r)
{
	const char *between = "";

	for (int f = 0; f < MERGE_FIGURES; f++) {
		const struct outlier *o = &r->outliers[f];

		if (!o->differs)
			continue;
		fprintf(out, "%s%s %.5g %s is %+.2g %% off the median of %.5g %s", between, figure_names[f],
			r->figures[f],
			figure_units[f], 100 * o->difference / m->median[f], m->median[f], figure_units[f]);
		if (isfinite(o->score))
			fprintf(out, " (%.3g times what runs usually differ by, bound %.3g)", o->score,
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

static void series_print_runs(const struct merge *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct merge_run *r = &m->runs[i];
		time_t t = r->wall_ns / 1000000000ull;
		char when[64] = "";
		struct tm tm;

		if (localtime_r(&t, &tm))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		output_printf(stdout, "# run %-6zu %s: %s, %.3f s, %" PRIu64 " samples; ", i + 1, r->path, when, r->duration_s,
			      r->groups.total->samples);
		printf("%.5g s", r->figures[MERGE_TIME]);
		if (m->n_domains && !isnan(r->figures[MERGE_ENERGY]))
			printf(", %.5g J, %.5g W", r->figures[MERGE_ENERGY], r->figures[MERGE_POWER]);
		else if (m->n_domains)
			printf(", energy not known");
		output_printf(stdout, "%s%s%s\n", r->differs ? " -- differs" : "", r->partial ? " -- no whole run" : "",
			      r->left_out ? " -- left out" : "");
	}
}

static void series_print_differing(const struct merge *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!m->runs[i].differs)
			continue;
		output_printf(stdout, "# differs    %s%s: ", m->runs[i].path,
			      m->runs[i].left_out ? " (left out)" : "");
		series_write_difference(stdout, m, &m->runs[i]);
		printf("\n");
	}
	if (m->has_outliers && m->kept == m->judged)
		printf("#            what differs is in the average all the same; --without-outliers leaves it out\n");
	if (m->judged > 1 && m->judged < OUTLIERS_LEAST)
		printf("# differs    whether a run differs from the rest can be told from %d runs on\n",
		       OUTLIERS_LEAST);
}

static void series_print_energy(const struct merge *m)
{
	if (!m->n_domains) {
		printf("# energy     none: no source was used, so there is time and frequency only\n");
		return;
	}
	printf("# energy     ");
	for (unsigned int d = 0; d < m->n_domains; d++) {
		const struct kjoule_domain_info *dom = &m->domains[d];
		uint64_t readings = 0;

		for (size_t i = 0; i < m->n; i++)
			readings += m->runs[i].left_out ? 0 : m->runs[i].readings[d];
		if (!d || strcmp(m->sources[d], m->sources[d - 1]))
			output_printf(stdout, "%s%s:", d ? "; " : "", m->sources[d]);
		else
			printf(";");
		output_printf(stdout, " %s, %" PRIu64 " distinct readings", dom->name, readings);
		if (dom->update_period_ns)
			printf(" (moves every %.3g ms)", dom->update_period_ns / 1e6);
		for (unsigned int i = 0; i < m->n_domains && dom->parent >= 0; i++)
			if (m->domains[i].index == (uint32_t)dom->parent)
				output_printf(stdout, ", part of %s", m->domains[i].name);
	}
	printf("\n");
}

/* What readings do not tell of a domain, of all runs that count. Return: the mean part */
static double series_unmeasured_part(const struct merge *m, unsigned int d, double *most,
				     double *still_s)
{
	double sum = 0;
	size_t n = 0;

	*most = 0;
	*still_s = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct merge_run *r = &m->runs[i];

		if (r->left_out || isnan(r->unmeasured[d]))
			continue;
		sum += r->unmeasured[d];
		*most = fmax(*most, r->unmeasured[d]);
		*still_s = fmax(*still_s, r->still_s[d]);
		n++;
	}
	return n ? sum / n : 0;
}

static void series_print_unmeasured(const struct merge *m)
{
	for (unsigned int d = 0; d < m->n_domains; d++) {
		double most, still_s, part = series_unmeasured_part(m, d, &most, &still_s);

		header_untold_print(stdout, m->domains[d].name, part, most, still_s);
	}
}

/* Books of all runs that count. */
struct series_counters {
	uint64_t samples, records, lost, lost_samples, missed, due, unattributed, interpolated, crowds;
	double parallel, crowded, off, nobodys_s, overhead;
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
		b.nobodys_s += r->unattributed * 1e-9 * r->interval_ns;
		b.parallel += r->parallel / m->kept;
		b.crowds += r->other_set_ticks;
		b.crowded += r->crowded / m->kept;
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

static void series_print_counters(const struct merge *m)
{
	struct series_counters b = series_sum_counters(m);

	printf("# samples    %" PRIu64 "; %" PRIu64 " of %" PRIu64 " records lost; %" PRIu64 " of %" PRIu64
	       " ticks missed, %" PRIu64 " of them attributed to neighbouring samples\n", b.samples, b.lost, b.records, b.missed, b.due,
	       b.interpolated);
	if (series_ticks_are_missing(m, &b))
		printf("# missed     %" PRIu64 " ticks (%.3f CPU seconds) in long gaps are not attributed: what ran there is not in the figures\n",
		       b.unattributed, b.nobodys_s);
	if (b.lost_unknown)
		printf("# lost       parts of files are damaged; how many samples they had cannot be told\n");
	if (!isnan(b.overhead))
		printf("# overhead   the code took %.2f %% longer\n", 100 * b.overhead);
	if (b.off > HEADER_NOISY)
		printf("# cost       a calibration was noisy: what ticks took is known to %.0f %% only, and the intervals are as wide\n",
		       100 * b.off);
	if (b.uncalibrated)
		printf("# cost       %zu of the recordings had no calibration, and the intervals are wider for it\n", b.uncalibrated);
	if (b.parallel > HEADER_PARALLEL)
		printf("# parallel   at %.1f %% of the ticks several CPUs of a package were busy: their energy is divided by what each draws alone\n",
		       100 * b.parallel);
	header_crowds_print(stdout, b.crowds, b.crowded);
}

static int series_note_counters(const struct merge *m, const char *label, struct merge_notes *notes)
{
	struct series_counters b = series_sum_counters(m);
	int ret = 0;

	if (b.lost_samples)
		ret = merge_note(notes, "%s: %" PRIu64 " of %" PRIu64 " samples were lost: what ran there is in no figure; record at a lower rate",
				 label, b.lost_samples, b.lost_samples + b.samples);
	if (!ret && series_ticks_are_missing(m, &b))
		ret = merge_note(notes, "%s: %" PRIu64 " ticks (%.3f CPU seconds) in long gaps are not attributed: what ran there is not in the figures",
				 label, b.unattributed, b.nobodys_s);
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
		ret = merge_note(notes, "%s: %s differs from the other runs: %s", label, m->runs[i].path, text ? text : "");
		free(text);
	}
	return ret;
}

int header_series_doubts(const struct merge *m, const char *label, struct merge_notes *notes)
{
	double most = 0, still_s = 0,
	       part = m->n_domains ? series_unmeasured_part(m, 0, &most, &still_s) : 0;
	int ret = series_note_counters(m, label, notes);
	uint64_t readings = 0;

	for (size_t i = 0; i < m->n; i++)
		readings += m->runs[i].left_out ? 0 : m->runs[i].readings[0];
	if (!ret && m->n_domains && !readings)
		ret = merge_note(notes, "%s: the counter %s was not seen to move twice, so what was spent is not known", label,
				 m->domains[0].name);
	else if (!ret && part > HEADER_UNTOLD)
		ret = merge_note(notes, "%s: of %.1f %% of the time no reading tells the energy of %s, which is taken to be as in the rest",
				 label, 100 * part, m->domains[0].name);
	if (!ret && m->n_domains && still_s > 0)
		ret = merge_note(notes, "%s: the counter %s stood still for the last %.3f s, which is taken for no energy", label,
				 m->domains[0].name, still_s);
	return ret ? ret : series_note_differing(m, label, notes);
}

static void series_print_shown(const struct merge *m)
{
	if (m->kept == 1)
		return;
	output_printf(stdout, "# shown      an average run: times and energies are means over %zu runs, powers are those of all their samples;\n"
		      "#            SAMPLES%s are of all runs", m->kept,
		      m->opt->by_region ? " and ENTERED" : "");
	if (m->kept >= RUNS_SPREAD)
		output_printf(stdout, ", and %s counts how much runs differ\n", output_half());
	else
		output_printf(stdout, "; %s knows how sure the figures of these %zu runs are, not how much runs differ: that takes %d\n",
		       output_half(), m->kept, RUNS_SPREAD);
}

void header_series_print(const struct merge *m, const char *side)
{
	const struct merge_run *first = &m->runs[0];
	double shortest = INFINITY, longest = 0, sum = 0;
	char cpus[512];

	for (size_t i = 0; i < m->n; i++) {
		const struct merge_run *r = &m->runs[i];

		if (r->left_out)
			continue;
		shortest = fmin(shortest, r->duration_s);
		longest = fmax(longest, r->duration_s);
		sum += r->duration_s;
	}
	output_printf(stdout, "# %-11s%zu recording%s on %s, %.60s\n", side ? side : "files", m->n, m->n > 1 ? "s" : "", first->host,
		      first->kernel);
	if (first->command[0])
		output_printf(stdout, "# command    %s\n", first->command);
	printf("# recorded   %.3f s", sum / m->kept);
	if (m->kept > 1)
		printf(" on the mean, %.3f s to %.3f s,", shortest, longest);
	printf(" at %.6g Hz", 1e9 / first->interval_ns);
	if (first->jitter_ns)
		printf(" with %.1f us of jitter", first->jitter_ns / 1e3);
	output_printf(stdout, ": %s, CPUs %s\n",
		      first->target == KJOULE_TARGET_SYSTEM ? "whatever ran" : kjoule_target_name(first->target),
		      kjoule_cpus_format(&first->cpus, cpus, sizeof(cpus)));
	series_print_energy(m);
	series_print_unmeasured(m);
	output_printf(stdout, "# frequency  %s\n",
		      first->frequency ? first->frequency : "none: no source was used");
	series_print_runs(m);
	series_print_counters(m);
	series_print_differing(m);
	for (size_t i = 0; i < m->notes.n; i++)
		output_printf(stdout, "# note       %s\n", m->notes.list[i]);
	series_print_shown(m);
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

/* A part of a run beside whole ones. */
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

struct json_object *header_series_json(const struct merge *m)
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
	return o;
}
