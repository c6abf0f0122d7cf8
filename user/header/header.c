// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report says before its figures: what was recorded, with which sources,
 * how completely, and what the measurement cost. See report/report.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <json-c/json.h>
#include "attribute/missed_ticks.h"
#include "header/header.h"
#include "lib/control/names.h"

/* What other interrupts took is known to this part of all time at least, or the reader is told why the intervals are wide. */
#define OTHER_NOISY	0.005

/* Ticks that did not happen because a CPU was offline, or all slept; missed, by the books. */
static uint64_t header_away_ticks(const struct view *v, bool suspended)
{
	uint64_t n = 0;

	for (size_t i = 0; i < v->tl.n_cpus; i++)
		n += timeline_away(&v->tl.cpus[i], suspended);
	return n;
}

const char *header_target_text(const struct view *v, char *buf, size_t len)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;
	char cpus[512];

	kjoule_cpus_format(&s->cpus, cpus, sizeof(cpus));
	if (s->target == KJOULE_TARGET_PROCESS)
		snprintf(buf, len, "process %u%s, CPUs %s", s->pid,
			 s->flags & KJOULE_FLAG_INHERIT ? " and its children" : "", cpus);
	else if (s->target == KJOULE_TARGET_THREAD)
		snprintf(buf, len, "thread %u, CPUs %s", s->pid, cpus);
	else if (s->target == KJOULE_TARGET_CGROUP)
		snprintf(buf, len, "cgroup %.100s, CPUs %s", v->rec.meta.cgroup, cpus);
	else
		snprintf(buf, len, "whatever ran on CPUs %s", cpus);
	return buf;
}

/* "a, b": the sources whose domains are columns. */
static const char *header_energy_sources(const struct view *v, const struct blocks *b, char *buf,
					 size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned int d = 0; d < b->n_domains && at < len; d++) {
		const char *name = v->rec.meta.session.sources[b->meters.source[d]].name;

		if (!d || b->meters.source[d] != b->meters.source[d - 1])
			at += snprintf(buf + at, len - at, "%s%s", at ? ", " : "", name);
	}
	return buf;
}

/* The next domain from *@source, *@d on that found no column, NULL if there is none. */
static const struct kjoule_domain_info *header_next_left_out(const struct view *v,
							     const struct blocks *b,
							     uint32_t *source, uint32_t *d)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;

	for (; *source < s->n_sources; ++*source, *d = 0) {
		const struct kjoule_source_info *src = &s->sources[*source];

		while (*d < src->n_domains) {
			const struct kjoule_domain_info *dom = &src->domains[(*d)++];

			if (b->meters.left_out[*source] & 1u << dom->index)
				return dom;
		}
	}
	return NULL;
}

static void header_print_left_out(FILE *f, const struct view *v, const struct blocks *b)
{
	const struct kjoule_domain_info *dom;
	uint32_t source = 0, d = 0, n = 0;

	while ((dom = header_next_left_out(v, b, &source, &d)))
		output_printf(f, "%s%s (%s)", n++ ? ", " : "# left out   ", dom->name,
			      v->rec.meta.session.sources[source].name);
	if (n)
		fprintf(f, ": a report has %u columns of energy; choose others with --source\n", PROFILE_DOMAINS);
}

static void header_print_energy(FILE *f, const struct view *v, const struct blocks *b,
				const struct profile *p)
{
	char names[256];

	if (!b->n_domains) {
		fprintf(f, "# energy     none: no source was used, so there is time and frequency only\n");
		return;
	}
	output_printf(f, "# energy     %s:", header_energy_sources(v, b, names, sizeof(names)));
	for (unsigned int d = 0; d < b->n_domains; d++) {
		const struct kjoule_domain_info *dom = b->domains[d];

		output_printf(f, "%s %s, %" PRIu64 " distinct readings", d ? ";" : "", dom->name,
			      profile_readings(p, d));
		if (!profile_readings(p, d))
			fprintf(f, ", so what was spent is not known");
		else if (dom->update_period_ns)
			fprintf(f, " (moves every %.3g ms)", dom->update_period_ns / 1e6);
		if (b->meters.power[d])
			fprintf(f, ", of power that holds for the time since the one before");
		for (unsigned int i = 0; i < b->n_domains && dom->parent >= 0; i++)
			if (b->domains[i]->index == (uint32_t)dom->parent)
				output_printf(f, ", part of %s", b->domains[i]->name);
	}
	fprintf(f, "\n");
}

void header_untold_print(FILE *f, const char *domain, double part, double most, double still_s)
{
	if (part > HEADER_UNTOLD) {
		output_printf(f, "# unmeasured %s: of %.1f %% of the time", domain,
			      100 * part);
		if (most > part + HEADER_UNTOLD)
			fprintf(f, " (of %.1f %% of that of one of them)", 100 * most);
		fprintf(f, " there was no reading: the energy is taken to be as in the rest, intervals are wider, and what ran mostly then has none\n");
	}
	if (still_s > 0)
		output_printf(f, "# stuck      %s: the counter did not change in the last %.3f s, though it was read: taken as no energy\n",
			      domain, still_s);
}

static void header_print_samples(FILE *f, const struct blocks *b, const struct kjoule_cpu_stats *s)
{
	fprintf(f, "# samples    %" PRIu64 "; %" PRIu64 " of %" PRIu64 " records lost; %" PRIu64
	       " missed ticks attributed to neighbouring samples\n", s->samples, s->lost, s->records, b->interpolated);
}

static void header_print_not_attributed(FILE *f, const struct view *v, const struct blocks *b,
					const struct kjoule_cpu_stats *s)
{
	/* where the whole system is recorded they have a row */
	if (b->unattributed && v->rec.meta.session.target != KJOULE_TARGET_SYSTEM)
		fprintf(f, "# missed     %" PRIu64 " ticks (%.3f CPU seconds) in gaps of more than %d are not attributed: up to %.1f %% of all is not in the figures\n",
		       b->unattributed, b->unattributed * 1e-9 * v->rec.meta.session.interval_ns, MISSED_TICKS_INTERPOLATED_MOST,
		       100.0 * b->unattributed / (s->samples + b->interpolated + b->unattributed));
}

static void header_print_failed(FILE *f, const struct view *v, const struct kjoule_cpu_stats *s)
{
	if (s->source_errors)
		fprintf(f, "# sources    %" PRIu64 " readings failed\n", s->source_errors);
	if (v->rec.meta.session.children_lost)
		fprintf(f, "# children   %" PRIu64 " could not be followed for want of memory: what they and theirs did is missing\n",
			v->rec.meta.session.children_lost);
}

static void header_print_left_out_ticks(FILE *f, const struct blocks *b)
{
	if (b->left_out)
		fprintf(f, "# left out   %" PRIu64 " ticks without a sample: too many for a file of this size\n",
			b->left_out);
}

static void header_print_counters(FILE *f, const struct view *v, const struct blocks *b)
{
	struct kjoule_cpu_stats s = view_stats(v);
	uint64_t offline = header_away_ticks(v, false), asleep = header_away_ticks(v, true);

	if (!v->rec.n_stats) {
		fprintf(f, "# ticks      the counters are missing: the recording ended within its first second\n");
		return;
	}
	fprintf(f, "# ticks      %" PRIu64 " due: %" PRIu64 " taken, %" PRIu64 " missed, %" PRIu64
	       " skipped on idle CPUs", s.due, s.produced, s.missed > offline + asleep ? s.missed - offline - asleep : 0, s.parked);
	if (offline)
		fprintf(f, ", %" PRIu64 " of CPUs that were offline", offline);
	if (asleep)
		fprintf(f, ", %" PRIu64 " while suspended", asleep);
	fprintf(f, "; %" PRIu64 " found other processes\n", s.filtered);
	header_print_samples(f, b, &s);
	header_print_not_attributed(f, v, b, &s);
	fprintf(f, "# delay      %.1f us at most", s.late_max_ns / 1e3);
	if (v->tl.skew_ticks)
		fprintf(f, "; between CPUs at one tick %.1f us (p99), %.1f us at most", v->tl.p99_skew_ns / 1e3,
		       v->tl.max_skew_ns / 1e3);
	fprintf(f, "\n");
	header_print_failed(f, v, &s);
}

/* Of edge windows: a recording of before they were counted tells nothing. */
static bool header_has_pauses(const struct kjoule_session_info *s)
{
	return s->edge_duty && s->edge.windows + s->edge.spins + s->edge.failed + s->edge.paused;
}

static void header_print_pauses(FILE *f, const struct kjoule_session_info *s)
{
	if (!header_has_pauses(s))
		return;
	fprintf(f, "# paused     the CPUs for %.2f s, %.3f ms at a time at most, for %" PRIu64 " windows, %" PRIu64 " more of held CPUs alone, and %" PRIu64 " that came to nothing\n",
	       s->edge.held_ns * 1e-9, s->edge.longest_ns * 1e-6, s->edge.windows, s->edge.spins, s->edge.failed);
	if (s->edge.paused)
		fprintf(f, "#            %" PRIu64 " times windows could not begin or go on: a CPU that the recording is not of was online, or the counter's reader away\n",
		       s->edge.paused);
}

/* Where the energy of ticks is taken out at the power of what they interrupt. */
static void header_print_unknown_power(FILE *f, const struct blocks *b)
{
	bool any = false;

	for (unsigned int d = 0; d < b->n_domains; d++) {
		if (!isnan(b->input.irq_w[d]))
			continue;
		output_printf(f, "%s%s",
			      any ? ", " : "# cost       power of a tick not known for ", b->domains[d]->name);
		any = true;
	}
	if (any)
		fprintf(f, ": taken to be that of the code that it interrupts\n");
}

/* @ticks_cost: there is something to be taken out for them */
static void header_print_noise(FILE *f, const struct blocks *b, bool ticks_cost)
{
	if (ticks_cost && b->input.calibration_error > HEADER_NOISY)
		fprintf(f, "# cost       the calibration was noisy: what ticks took is known to %.0f %% only, and the intervals are as wide; record again on a quieter machine\n",
		       100 * b->input.calibration_error);
	if (!(b->input.other > 0) || b->input.other_error <= OTHER_NOISY)
		return;
	if (b->other_unsure > OTHER_NOISY)
		fprintf(f, "# cost       the calibration was noisy: what other interrupts took is known to %.1f %% of all time only, and the intervals are as wide; record again on a quieter machine\n",
		       100 * b->input.other_error);
	else
		fprintf(f, "# cost       few ticks waited for other interrupts: what these took is known to %.1f %% of all time only, and the intervals are as wide; record for longer\n",
		       100 * b->input.other_error);
}

static double header_most_tick_ns(const struct blocks *b)
{
	double most = 0;

	for (size_t i = 0; i < b->input.n_streams; i++)
		most = fmax(most, b->streams[i].tick_ns);
	return most;
}

static void header_print_cost(FILE *f, const struct view *v, const struct blocks *b)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	struct kjoule_cpu_stats s = view_stats(v);
	double own = s.produced ? (double)s.tick_ns / s.produced : 0, most = header_most_tick_ns(b);

	if (!cal->ticks) {
		fprintf(f, "# cost       %.2f us a tick, without entry and exit of the interrupt: there was no calibration, and the intervals are wider for it; ",
		       own / 1e3);
		if (b->input.other > 0)
			fprintf(f, "other interrupts %.2f %%\n", 100 * b->input.other);
		else
			fprintf(f, "what other interrupts took is not known\n");
		return;
	}
	fprintf(f, "# cost       %.2f us a tick (%.2f us of it entry and exit of the interrupt): %.2f %% of a busy CPU",
	       most / 1e3, cal->entry_ns / 1e3, 100 * most / v->rec.meta.session.interval_ns);
	if (b->input.other > 0)
		fprintf(f, "; other interrupts %.2f %%", 100 * b->input.other);
	else if (b->input.other_error > OTHER_NOISY)
		fprintf(f, "; other interrupts could not be told, at most %.1f %%, and the intervals are as wide", 100 * b->input.other_error);
	if (b->n_domains && !isnan(b->input.irq_w[0]))
		output_printf(f, "; both at %.2f W %s", b->input.irq_w[0],
			      b->domains[0]->name);
	if (b->n_domains && !isnan(b->input.idle_uj[0]) &&
	    (v->rec.meta.session.flags & KJOULE_FLAG_WAKE_IDLE))
		fprintf(f, "; %.1f uJ a tick on an idle CPU", b->input.idle_uj[0]);
	fprintf(f, "\n");
	if (most > 0)
		header_print_unknown_power(f, b);
	header_print_noise(f, b, most > 0);
}

static void header_print_unmeasured(FILE *f, const struct blocks *b, const struct profile *p)
{
	for (unsigned int d = 0; d < b->n_domains; d++) {
		double part = profile_unmeasured_part(p, d);

		header_untold_print(f, b->domains[d]->name, part, part, b->meters.power[d] ? 0 : profile_still_s(p, d));
	}
}

static void header_print_withheld(FILE *f, const struct view *v)
{
	const uint64_t withheld = view_stats(v).stacks_withheld;

	if (withheld)
		fprintf(f, "# withheld   %" PRIu64 " stacks of processes that the recording user could not trace (ptrace)\n",
			withheld);
}

static uint64_t header_count_stacks(const struct view *v)
{
	uint64_t stacks = 0;

	for (unsigned int i = 0; i < KJOULE_UNWOUND_KINDS; i++)
		stacks += v->unwound[i];
	return stacks;
}

static bool header_stacks_are_short(const struct view *v)
{
	return 10 * v->unwound[KJOULE_UNWOUND_SHORT] > header_count_stacks(v);
}

static void header_print_short_stacks(FILE *f, const struct view *v, const char *key)
{
	fprintf(f, "%scopies of %u bytes were short: record with --call-graph dwarf,BYTES\n", key,
		v->rec.meta.session.stack_bytes);
}

void header_doubts_print(FILE *f, const struct view *v, const struct blocks *b,
			 const struct profile *p, const struct callgraph *c,
			 const struct power_model *m)
{
	struct kjoule_cpu_stats s = view_stats(v);
	bool energy = true;

	for (unsigned int d = 0; d < b->n_domains; d++)
		energy &= profile_readings(p, d) > 0;
	if (!energy)
		header_print_energy(f, v, b, p);
	header_print_unmeasured(f, b, p);
	if (s.lost || b->lost)
		header_print_samples(f, b, &s);
	if (b->lost)
		fprintf(f, "# lost       %" PRIu64 " samples lost: what ran there is in no figure\n", b->lost);
	header_print_not_attributed(f, v, b, &s);
	header_print_failed(f, v, &s);
	header_print_left_out_ticks(f, b);
	if (v->rec.cal.ticks)
		header_print_noise(f, b, header_most_tick_ns(b) > 0);
	header_overhead_missed_print(f, v, b);
	if (v->by_region || v->region)
		header_regions_missing_print(f, v);
	if (c)
		header_print_withheld(f, v);
	if (c && header_stacks_are_short(v))
		header_print_short_stacks(f, v, "# stacks     ");
	if (m)
		header_model_doubts_print(f, m, b, p);
}

/* Who called is known of how many samples, and what became of the stacks. */
static void header_print_callers(FILE *f, const struct view *v, const struct callgraph *c)
{
	const uint64_t *u = v->unwound, stacks = header_count_stacks(v);

	header_print_withheld(f, v);
	fprintf(f, "# callers    of %" PRIu64 " of %" PRIu64 " samples; of %" PRIu64 " of these possibly truncated\n",
	       c->with, c->samples, c->cut);
	if (!stacks)
		return;
	fprintf(f, "# stacks     %" PRIu64 ": %" PRIu64 " unwound to the outermost frame, %" PRIu64
	       " to the end of the copy, %" PRIu64 " to code that cannot be unwound, %" PRIu64
	       " to the largest depth\n", stacks, u[KJOULE_UNWOUND_WHOLE], u[KJOULE_UNWOUND_SHORT],
	       u[KJOULE_UNWOUND_BLIND], u[KJOULE_UNWOUND_DEEP]);
	if (header_stacks_are_short(v))
		header_print_short_stacks(f, v, "#            ");
}

static const char *header_frequency_kind(const struct view *v, const char **name)
{
	const struct kjoule_source_info *f = kjoule_recording_source(&v->rec,
								     KJOULE_KIND_FREQUENCY);

	if (!f)
		return NULL;
	*name = f->name;
	return f->requested_only ? "requested" : "measured";
}

void header_crowds_print(FILE *f, uint64_t ticks, double part)
{
	if (ticks)
		fprintf(f, "# corunning  at %" PRIu64 " busy ticks (%.1f %%) ran what rarely ran together: more different sets than %lu MB hold; their power is that of all such ticks with as many busy CPUs, times are exact; --by object or process, or --from and --to, have fewer sets\n",
		       ticks, 100 * part, CPM_VECTORS_ROOM >> 20);
}

void header_print(const struct view *v, const struct blocks *b, const struct profile *p,
		       uint64_t samples, const struct callgraph *c, const struct power_model *m,
		       const char *path)
{
	const struct kjoule_meta *meta = &v->rec.meta;
	const struct kjoule_session_info *s = &meta->session;
	char *command = kjoule_meta_command_line(meta), text[640], when[64] = "";
	const char *kind, *name = NULL;
	FILE *f = stdout;
	time_t t = meta->wall_ns / 1000000000ull;
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	output_printf(f, "# file       %s: %s on %s, %.60s\n", path, when, meta->host,
		      meta->kernel);
	if (meta->argc)
		output_printf(f, "# command    %s\n", command ? command : "?");
	fprintf(f, "# recorded   %.3f s at %.6g Hz", view_duration_s(v), 1e9 / s->interval_ns);
	if (s->jitter_ns)
		fprintf(f, " with %.1f us of jitter", s->jitter_ns / 1e3);
	output_printf(f, ": %s%s%s\n", header_target_text(v, text, sizeof(text)),
		      v->rec.ended ? "; ended: " : "", v->rec.end.reason);
	if (!v->rec.ended || v->rec.damage.truncated)
		fprintf(f, "# cut short  the recording has no end: all here is of what is whole before; what came after is not known\n");
	if (v->cut)
		fprintf(f, "# shown      %.9g s to %.9g s of it; what ticks, lost records, lateness and cost are told of here is all of it\n",
		       v->from_ns * 1e-9, v->to_ns * 1e-9);
	header_print_energy(f, v, b, p);
	header_print_left_out(f, v, b);
	header_print_unmeasured(f, b, p);
	header_print_pauses(f, &v->rec.meta.session);
	header_model_print(m, b, p);
	header_unattributed_print(v);
	kind = header_frequency_kind(v, &name);
	if (kind)
		output_printf(f, "# frequency  %s: %s\n", name, strcmp(kind, "measured") ?
			      "requested; what the hardware ran at is not known" :
			      "measured, from cycles over time");
	else
		fprintf(f, "# frequency  none: no source was used\n");
	header_print_counters(f, v, b);
	header_print_cost(f, v, b);
	header_overhead_print(v, b);
	header_regions_print(v);
	if (c)
		header_print_callers(f, v, c);
	if (profile_parallel(p) > HEADER_PARALLEL)
		fprintf(f, "# parallel   at %.1f %% of the ticks several CPUs of a package were busy: their energy is divided by what each draws alone\n",
		       100 * profile_parallel(p));
	header_crowds_print(f, profile_other_set_ticks(p), profile_other_set_part(p));
	if (b->lost_unknown)
		fprintf(f, "# lost       parts of the file are damaged; how many samples they had cannot be told\n");
	header_print_left_out_ticks(f, b);
	if (v->rec.end.side_band_lost)
		fprintf(f, "# sideband   %" PRIu64 " records lost: some code may be [unknown]\n",
		       v->rec.end.side_band_lost);
	if (v->rec.end.side_band_anew)
		fprintf(f, "# sideband   restarted %" PRIu64 " times on CPUs that came back: what had begun there was read from /proc\n",
		       v->rec.end.side_band_anew);
	if (!samples)
		fprintf(f, "# there is no sample in it\n");
	fprintf(f, "# %s is half of a 95 %% interval\n\n", output_half());
	free(command);
}

static void header_json_put(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add(o, key, v);
}

static struct json_object *header_pauses_json(const struct kjoule_session_info *s)
{
	struct json_object *o = header_has_pauses(s) ? json_object_new_object() : NULL;

	if (!o)
		return NULL;
	header_json_put(o, "windows", json_object_new_uint64(s->edge.windows));
	header_json_put(o, "spins", json_object_new_uint64(s->edge.spins));
	header_json_put(o, "failed", json_object_new_uint64(s->edge.failed));
	header_json_put(o, "paused", json_object_new_uint64(s->edge.paused));
	header_json_put(o, "paused_s", output_json_real(s->edge.held_ns * 1e-9));
	header_json_put(o, "longest_s", output_json_real(s->edge.longest_ns * 1e-9));
	return o;
}

static struct json_object *header_counters_json(const struct view *v)
{
	struct kjoule_cpu_stats s = view_stats(v);
	struct json_object *o;
	uint64_t bytes = 0;

	if (!v->rec.n_stats)
		return NULL;
	for (size_t i = 0; i < v->rec.n_streams; i++)
		bytes += v->rec.streams[i].len;
	o = json_object_new_object();
	header_json_put(o, "due", json_object_new_uint64(s.due));
	header_json_put(o, "taken", json_object_new_uint64(s.produced));
	header_json_put(o, "missed", json_object_new_uint64(s.missed));
	header_json_put(o, "offline", json_object_new_uint64(header_away_ticks(v, false)));
	header_json_put(o, "suspended", json_object_new_uint64(header_away_ticks(v, true)));
	header_json_put(o, "skipped", json_object_new_uint64(s.parked));
	header_json_put(o, "idle_ns", json_object_new_uint64(s.idle_ns));
	header_json_put(o, "stacks_withheld", json_object_new_uint64(s.stacks_withheld));
	header_json_put(o, "filtered", json_object_new_uint64(s.filtered));
	header_json_put(o, "records", json_object_new_uint64(s.records));
	header_json_put(o, "lost", json_object_new_uint64(s.lost));
	header_json_put(o, "samples", json_object_new_uint64(s.samples));
	header_json_put(o, "tick_ns", json_object_new_uint64(s.tick_ns));
	header_json_put(o, "delay_max_ns", json_object_new_uint64(s.late_max_ns));
	header_json_put(o, "skew_ticks", json_object_new_uint64(v->tl.skew_ticks));
	header_json_put(o, "skew_p99_ns",
			v->tl.skew_ticks ? json_object_new_uint64(v->tl.p99_skew_ns) : NULL);
	header_json_put(o, "skew_max_ns",
			v->tl.skew_ticks ? json_object_new_uint64(v->tl.max_skew_ns) : NULL);
	header_json_put(o, "source_errors", json_object_new_uint64(s.source_errors));
	header_json_put(o, "ring_bytes", json_object_new_uint64(bytes));
	return o;
}

static struct json_object *header_cost_json(const struct view *v, const struct blocks *b)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	header_json_put(o, "calibrated", json_object_new_boolean(cal->ticks > 0));
	/* The recorder's own lane and the like come after those of the CPUs. */
	for (size_t i = 0; i < v->tl.n_cpus; i++) {
		struct json_object *c = json_object_new_object();

		header_json_put(c, "cpu", json_object_new_uint64(v->tl.cpus[i].cpu));
		header_json_put(c, "tick_ns", output_json_real(b->streams[i].tick_ns));
		json_object_array_add(list, c);
	}
	header_json_put(o, "cpus", list);
	header_json_put(o, "calibrated_tick_ns",
			cal->ticks ? output_json_real(cal->tick_ns) : NULL);
	header_json_put(o, "calibrated_handler_ns",
			cal->ticks ? output_json_real(cal->handler_ns) : NULL);
	header_json_put(o, "calibrated_handler_spread_ns",
			cal->ticks ? output_json_real(cal->handler_spread_ns) : NULL);
	header_json_put(o, "calibrated_entry_ns",
			cal->ticks ? output_json_real(cal->entry_ns) : NULL);
	header_json_put(o, "calibration_error",
			cal->ticks ? output_json_real(b->input.calibration_error) : NULL);
	header_json_put(o, "other_interrupts_part", output_json_real(b->input.other));
	header_json_put(o, "other_interrupts_error", cal->ticks && !isnan(cal->other_error) ?
			output_json_real(b->input.other_error) : NULL);
	list = json_object_new_array();
	for (unsigned int d = 0; d < b->n_domains; d++)
		json_object_array_add(list, output_json_real(b->input.irq_w[d]));
	header_json_put(o, "interrupts_w", list);
	list = json_object_new_array();
	for (unsigned int d = 0; d < b->n_domains; d++)
		json_object_array_add(list, output_json_real(b->input.irq_w[d] - b->input.tick_less_w[d]));
	header_json_put(o, "ticks_w", list);
	list = json_object_new_array();
	for (unsigned int d = 0; d < b->n_domains; d++)
		json_object_array_add(list, output_json_real(b->input.idle_uj[d]));
	header_json_put(o, "idle_tick_uj", list);
	return o;
}

static struct json_object *header_energy_json(const struct view *v, const struct blocks *b,
					      const struct profile *p)
{
	struct json_object *o, *list = json_object_new_array();
	const struct kjoule_domain_info *dom;
	uint32_t source = 0, index = 0;
	char names[256];

	if (!b->n_domains) {
		json_object_put(list);
		return NULL;
	}
	o = json_object_new_object();
	header_json_put(o, "source",
			output_json_str(header_energy_sources(v, b, names, sizeof(names))));
	for (unsigned int d = 0; d < b->n_domains; d++) {
		struct json_object *column = json_object_new_object();

		dom = b->domains[d];
		header_json_put(column, "name", output_json_str(dom->name));
		header_json_put(column, "source", output_json_str(
			v->rec.meta.session.sources[b->meters.source[d]].name));
		header_json_put(column, "from_power", json_object_new_boolean(b->meters.power[d]));
		header_json_put(column, "parent",
				dom->parent < 0 ? NULL : json_object_new_int(dom->parent));
		header_json_put(column, "index", json_object_new_int(dom->index));
		header_json_put(column, "update_period_ns",
				json_object_new_uint64(dom->update_period_ns));
		header_json_put(column, "distinct_readings",
				json_object_new_uint64(profile_readings(p, d)));
		header_json_put(column, "unmeasured_part", output_json_real(profile_unmeasured_part(p, d)));
		header_json_put(column, "stuck_s",
				output_json_real(b->meters.power[d] ? 0 : profile_still_s(p, d)));
		json_object_array_add(list, column);
	}
	header_json_put(o, "domains", list);
	list = json_object_new_array();
	while ((dom = header_next_left_out(v, b, &source, &index))) {
		struct json_object *one = json_object_new_object();

		header_json_put(one, "name", output_json_str(dom->name));
		header_json_put(one, "source",
				output_json_str(v->rec.meta.session.sources[source].name));
		json_object_array_add(list, one);
	}
	header_json_put(o, "left_out", list);
	return o;
}

static struct json_object *header_callers_json(const struct view *v, const struct callgraph *c)
{
	struct json_object *o = json_object_new_object();

	header_json_put(o, "samples", json_object_new_uint64(c->samples));
	header_json_put(o, "with_callers", json_object_new_uint64(c->with));
	header_json_put(o, "cut", json_object_new_uint64(c->cut));
	header_json_put(o, "stacks_whole",
			json_object_new_uint64(v->unwound[KJOULE_UNWOUND_WHOLE]));
	header_json_put(o, "stacks_short",
			json_object_new_uint64(v->unwound[KJOULE_UNWOUND_SHORT]));
	header_json_put(o, "stacks_blind",
			json_object_new_uint64(v->unwound[KJOULE_UNWOUND_BLIND]));
	header_json_put(o, "stacks_deep", json_object_new_uint64(v->unwound[KJOULE_UNWOUND_DEEP]));
	return o;
}

struct json_object *header_json(const struct view *v, const struct blocks *b,
				     const struct profile *p, const struct callgraph *c,
				     const struct power_model *m, const char *path)
{
	const struct kjoule_meta *meta = &v->rec.meta;
	const struct kjoule_session_info *s = &meta->session;
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const char *kind, *name = NULL;
	char cpus[512];

	header_json_put(o, "file", output_json_str(path));
	for (int i = 0; i < meta->argc; i++)
		json_object_array_add(list, output_json_str(meta->argv[i]));
	header_json_put(o, "command", list);
	header_json_put(o, "host", output_json_str(meta->host));
	header_json_put(o, "kernel", output_json_str(meta->kernel));
	header_json_put(o, "start_unix_ns", json_object_new_uint64(meta->wall_ns));
	header_json_put(o, "complete", json_object_new_boolean(v->rec.ended));
	header_json_put(o, "ended", v->rec.ended ? output_json_str(v->rec.end.reason) : NULL);
	header_json_put(o, "damaged_chunks",
			json_object_new_uint64(v->rec.damage.missing > v->rec.damage.chunks ?
						       v->rec.damage.missing :
						       v->rec.damage.chunks));
	header_json_put(o, "truncated", json_object_new_boolean(v->rec.damage.truncated));
	header_json_put(o, "ring_damaged", json_object_new_uint64(v->rec.end.ring_damaged));
	header_json_put(o, "sideband_lost", json_object_new_uint64(v->rec.end.side_band_lost));
	header_json_put(o, "sideband_restarted", json_object_new_uint64(v->rec.end.side_band_anew));
	header_json_put(o, "readings_left_out", json_object_new_uint64(v->tl.backwards));
	header_json_put(o, "exit_code", v->rec.ended && v->rec.end.exit_code >= 0 ?
			json_object_new_int(v->rec.end.exit_code) : NULL);
	header_json_put(o, "duration_s", output_json_real(view_duration_s(v)));
	header_json_put(o, "start_ns", json_object_new_uint64(view_start_ns(v)));
	header_json_put(o, "from_s", v->cut ? output_json_real(v->from_ns * 1e-9) : NULL);
	header_json_put(o, "to_s", v->cut ? output_json_real(v->to_ns * 1e-9) : NULL);
	header_json_put(o, "interval_ns", json_object_new_uint64(s->interval_ns));
	header_json_put(o, "jitter_ns", json_object_new_uint64(s->jitter_ns));
	header_json_put(o, "target", json_object_new_string(kjoule_target_name(s->target)));
	header_json_put(o, "pid", s->target == KJOULE_TARGET_PROCESS ||
			s->target == KJOULE_TARGET_THREAD ?
			json_object_new_uint64(s->pid) : NULL);
	header_json_put(o, "cgroup", s->target == KJOULE_TARGET_CGROUP ?
			output_json_str(v->rec.meta.cgroup) : NULL);
	header_json_put(o, "inherit", json_object_new_boolean(s->flags & KJOULE_FLAG_INHERIT));
	header_json_put(o, "wake_idle", json_object_new_boolean(s->flags & KJOULE_FLAG_WAKE_IDLE));
	header_json_put(o, "children_lost", json_object_new_uint64(s->children_lost));
	header_json_put(o, "cpus",
			json_object_new_string(kjoule_cpus_format(&s->cpus, cpus, sizeof(cpus))));
	header_json_put(o, "energy", header_energy_json(v, b, p));
	header_json_put(o, "pauses", header_pauses_json(s));
	header_json_put(o, "model", header_model_json(m, b, p));
	header_json_put(o, "unattributed", header_unattributed_json(v));
	header_json_put(o, "sources", header_sources_json(v));
	kind = header_frequency_kind(v, &name);
	header_json_put(o, "frequency_source", name ? output_json_str(name) : NULL);
	header_json_put(o, "frequency_kind", kind ? json_object_new_string(kind) : NULL);
	header_json_put(o, "counters", header_counters_json(v));
	header_json_put(o, "missed_interpolated", json_object_new_uint64(b->interpolated));
	header_json_put(o, "missed_unattributed", json_object_new_uint64(b->unattributed));
	header_json_put(o, "ticks_left_out", json_object_new_uint64(b->left_out));
	header_json_put(o, "cost", header_cost_json(v, b));
	header_json_put(o, "overhead", header_overhead_json(v, b));
	header_json_put(o, "regions", header_regions_json(v));
	header_json_put(o, "callers", c ? header_callers_json(v, c) : NULL);
	header_json_put(o, "parallel_part", output_json_real(profile_parallel(p)));
	header_json_put(o, "other_set_ticks", json_object_new_uint64(profile_other_set_ticks(p)));
	header_json_put(o, "other_set_part", output_json_real(profile_other_set_part(p)));
	return o;
}
