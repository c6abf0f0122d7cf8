// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is known of a recording besides its figures: with which sources it was made, how completely,
 * and what the measurement cost; and what of that makes figures doubtful. Used by report and
 * annotate.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "attribute/missed_ticks.h"
#include "attribute/overhead_cpus.h"
#include "header/header.h"
#include "header/summary.h"
#include "lib/control/names.h"
#include "output/facts.h"
#include "output/wrap.h"

/*
 * Where the time of other interrupts is not known to this part of all time, a line says why
 * intervals are wide.
 */
#define OTHER_NOISY	0.005

/*
 * Ticks that did not happen because a CPU was offline, or the machine suspended; the counters have
 * them as missed.
 */
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

static void header_print_gap(FILE *f, const char *names, const struct header_gap *gap)
{
	static const char rest[] = "there was no reading: the energy is taken to be as in the rest, intervals are wider, and code that mostly ran then has no interval";

	if (gap->unread)
		wrap_comment(f, "unmeasured",
			     "%s: not seen to change twice, so the energy is not known", names);
	else if (gap->part > HEADER_UNMEASURED && gap->most > gap->part + HEADER_UNMEASURED)
		wrap_comment(f, "unmeasured",
			     "%s: of %.1f %% of the time (of %.1f %% of that of one of them) %s",
			     names, 100 * gap->part, 100 * gap->most, rest);
	else if (gap->part > HEADER_UNMEASURED)
		wrap_comment(f, "unmeasured",
			     "%s: of %.1f %% of the time %s", names, 100 * gap->part, rest);
	if (!gap->unread && gap->stuck_s > 0)
		wrap_comment(f, "stuck",
			     "%s: the counter did not change in the last %.3f s, though it was read: taken as no energy",
			     names, gap->stuck_s);
}

/* So that they are printed alike. */
static bool header_gaps_are_same(const struct header_gap *a, const struct header_gap *b)
{
	return a->unread == b->unread && (a->unread || (fabs(a->part - b->part) < 0.0005 &&
							fabs(a->most - b->most) < 0.0005 &&
							fabs(a->stuck_s - b->stuck_s) < 0.0005));
}

void header_gaps_print(FILE *f, const struct header_gap *gaps, size_t n)
{
	bool done[PROFILE_DOMAINS] = { false };

	for (size_t d = 0; d < n; d++) {
		char names[256] = "";

		for (size_t i = d; i < n && !done[d]; i++) {
			if (!header_gaps_are_same(&gaps[d], &gaps[i]))
				continue;
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 i == d ? "" : ", ", gaps[i].domain);
			done[i] = i != d;
		}
		if (!done[d])
			header_print_gap(f, names, &gaps[d]);
	}
}

static void header_print_lost(FILE *f, const struct blocks *b, const struct kjoule_cpu_stats *s)
{
	if (s->lost)
		wrap_comment(f, "lost",
			     "%" PRIu64 " of %" PRIu64 " records lost", s->lost, s->records);
	if (b->lost)
		wrap_comment(f, "lost",
			     "%" PRIu64 " samples lost: code that ran there is in no figure",
			     b->lost);
}

static void header_print_not_attributed(FILE *f, const struct view *v, const struct blocks *b,
					const struct kjoule_cpu_stats *s)
{
	double all = s->samples + b->interpolated + b->unattributed;

	/* where the whole system is recorded they have a row */
	if (b->unattributed && v->rec.meta.session.target != KJOULE_TARGET_SYSTEM)
		wrap_comment(
			f, "missed",
			"%" PRIu64
			" ticks (%.3f CPU seconds) in gaps of more than %d are not attributed: up to %.1f %% of all is not in the figures",
			b->unattributed, b->unattributed * 1e-9 * v->rec.meta.session.interval_ns,
			MISSED_TICKS_INTERPOLATED_MOST, 100.0 * b->unattributed / all);
}

static void header_print_failed(FILE *f, const struct view *v, const struct kjoule_cpu_stats *s)
{
	if (s->source_errors)
		wrap_comment(f, "sources", "%" PRIu64 " readings failed", s->source_errors);
	if (v->rec.meta.session.children_lost)
		wrap_comment(f, "children",
			     "%" PRIu64
			     " could not be followed for want of memory: what they and theirs did is missing",
			     v->rec.meta.session.children_lost);
}

static void header_print_left_out_ticks(FILE *f, const struct blocks *b)
{
	if (b->left_out)
		wrap_comment(f,
			     "left out", "%" PRIu64
			     " ticks without a sample: too many for a file of this size",
			     b->left_out);
}

/* Of edge windows: recordings from before they were counted have no count. */
static bool header_has_pauses(const struct kjoule_session_info *s)
{
	return s->edge_duty && s->edge.windows + s->edge.spins + s->edge.failed + s->edge.paused;
}

/* @ticks_cost: there is something to be taken out for them */
static void header_print_noise(FILE *f, const struct blocks *b, bool ticks_cost)
{
	if (ticks_cost && b->input.calibration_error > HEADER_NOISY)
		wrap_comment(f, "cost",
			     "the calibration was noisy: what ticks took is known to %.0f %% only, and the intervals are as wide; record again on a quieter machine",
			     100 * b->input.calibration_error);
	if (b->input.other_error <= OTHER_NOISY)
		return;
	if (!(b->input.other > 0)) {
		wrap_comment(f, "cost",
			     "what other interrupts took is not known, at most %.1f %% of all time, and the intervals are as wide",
			     100 * b->input.other_error);
		return;
	}
	if (b->other_unsure > OTHER_NOISY)
		wrap_comment(f, "cost",
			     "the calibration was noisy: what other interrupts took is known to %.1f %% of all time only, and the intervals are as wide; record again on a quieter machine",
			     100 * b->input.other_error);
	else
		wrap_comment(f, "cost",
			     "few ticks waited for other interrupts: what these took is known to %.1f %% of all time only, and the intervals are as wide; record for longer",
			     100 * b->input.other_error);
}

static double header_most_tick_ns(const struct blocks *b)
{
	double most = 0;

	for (size_t i = 0; i < b->input.n_streams; i++)
		most = fmax(most, b->streams[i].tick_ns);
	return most;
}

static void header_print_unmeasured(FILE *f, const struct blocks *b, const struct profile *p)
{
	struct header_gap gaps[PROFILE_DOMAINS];

	for (unsigned int d = 0; d < b->n_domains; d++) {
		double part = profile_unmeasured_part(p, d);

		gaps[d] = (struct header_gap){ b->domains[d]->name, part, part,
					       b->meters.power[d] ? 0 : profile_still_s(p, d),
					       !profile_readings(p, d) };
	}
	header_gaps_print(f, gaps, b->n_domains);
}

static void header_print_withheld(FILE *f, const struct view *v)
{
	const uint64_t withheld = view_stats(v).stacks_withheld;

	if (withheld)
		wrap_comment(f, "withheld",
			     "%" PRIu64
			     " stacks of processes that the recording user could not trace (ptrace)",
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

void header_doubts_print(FILE *f, const struct header *h)
{
	const struct view *v = h->view;
	const struct blocks *b = h->blocks;
	struct kjoule_cpu_stats s = view_stats(v);

	header_print_unmeasured(f, b, h->profile);
	header_print_lost(f, b, &s);
	header_print_not_attributed(f, v, b, &s);
	header_print_failed(f, v, &s);
	header_print_left_out_ticks(f, b);
	if (v->rec.cal.ticks)
		header_print_noise(f, b, header_most_tick_ns(b) > 0);
	else if (header_most_tick_ns(b) > 0)
		wrap_comment(f, "cost",
			     "there was no calibration, and the intervals are wider for it");
	header_overhead_missed_print(f, v, b);
	if (v->by_region || v->region)
		header_regions_missing_print(f, v);
	if (h->callers)
		header_print_withheld(f, v);
	if (h->callers && 2 * h->callers->cut > h->callers->samples)
		wrap_comment(f, "callers",
			     "possibly incomplete for %.0f %% of the samples: build with -fno-omit-frame-pointer, or record --call-graph dwarf",
			     100.0 * h->callers->cut / h->callers->samples);
	if (h->callers && header_stacks_are_short(v))
		wrap_comment(f, "stacks",
			     "copies of %u bytes were short: record with --call-graph dwarf,BYTES",
			     v->rec.meta.session.stack_bytes);
	if (h->model)
		header_model_doubts_print(f, h->model, b, h->profile);
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

void header_other_sets_print(FILE *f, uint64_t ticks, double part)
{
	if (ticks)
		wrap_comment(f, "corunning",
			     "at %" PRIu64
			     " busy ticks (%.1f %%) ran what rarely ran together: more different sets than %lu MB hold; their power is that of all such ticks with as many busy CPUs, times are exact; --by object or process, or --from and --to, have fewer sets",
			     ticks, 100 * part, CPM_VECTORS_ROOM >> 20);
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
	/* The streams of the recorder and the like come after those of the CPUs. */
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
		json_object_array_add(
			list, output_json_real(b->input.irq_w[d] - b->input.tick_less_w[d]));
	header_json_put(o, "ticks_w", list);
	list = json_object_new_array();
	for (unsigned int d = 0; d < b->n_domains; d++)
		json_object_array_add(list, output_json_real(b->input.idle_uj[d]));
	header_json_put(o, "idle_tick_uj", list);
	return o;
}

/* The name of the domain that has the energy of this one, too. */
static struct json_object *header_parent_json(const struct blocks *b,
					      const struct kjoule_domain_info *dom)
{
	for (unsigned int d = 0; d < b->n_domains && dom->parent >= 0; d++)
		if (b->domains[d]->index == (uint32_t)dom->parent)
			return output_json_str(b->domains[d]->name);
	return NULL;
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
		header_json_put(column, "inside", header_parent_json(b, dom));
		header_json_put(column, "from_power", json_object_new_boolean(b->meters.power[d]));
		header_json_put(column, "parent",
				dom->parent < 0 ? NULL : json_object_new_int(dom->parent));
		header_json_put(column, "index", json_object_new_int(dom->index));
		header_json_put(column, "update_period_ns",
				json_object_new_uint64(dom->update_period_ns));
		header_json_put(column, "distinct_readings",
				json_object_new_uint64(profile_readings(p, d)));
		header_json_put(column, "unmeasured_part",
				output_json_real(profile_unmeasured_part(p, d)));
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

struct json_object *header_json(const struct header *h)
{
	const struct view *v = h->view;
	const struct blocks *b = h->blocks;
	const struct profile *p = h->profile;
	const struct kjoule_meta *meta = &v->rec.meta;
	const struct kjoule_session_info *s = &meta->session;
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const char *kind, *name = NULL;
	char cpus[512];

	header_json_put(o, "file", output_json_str(h->path));
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
	header_json_put(o, "start_clock_ns", json_object_new_uint64(view_start_ns(v)));
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
	header_json_put(o, "model", header_model_json(h->model, b, p));
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
	header_json_put(o, "callers", h->callers ? header_callers_json(v, h->callers) : NULL);
	header_json_put(o, "parallel_part", output_json_real(profile_parallel(p)));
	header_json_put(o, "other_set_ticks", json_object_new_uint64(profile_other_set_ticks(p)));
	header_json_put(o, "other_set_part", output_json_real(profile_other_set_part(p)));
	return o;
}

static void header_write_warnings(FILE *f, const struct header *h)
{
	const struct view *v = h->view;

	if (!v->rec.ended || v->rec.damage.truncated)
		wrap_comment(f, "cut short",
			     "the recording has no end: these figures are of what came before");
	if (h->blocks->lost_unknown)
		wrap_comment(f, "lost",
			     "parts of the file are damaged; how many samples they had is not known");
	if (v->rec.end.side_band_lost)
		wrap_comment(f, "sideband", "%" PRIu64 " records lost: some code may be [unknown]",
			     v->rec.end.side_band_lost);
	if (!h->samples)
		wrap_comment(f, "samples", "none");
	header_doubts_print(f, h);
	header_other_sets_print(f, profile_other_set_ticks(h->profile),
				profile_other_set_part(h->profile));
}

static double header_slowdown(const struct header *h)
{
	struct overhead_cpu *cpus;
	size_t n = overhead_cpus_gather(h->view, h->blocks, &cpus);
	double all = overhead_all(cpus, n);

	free(cpus);
	return all;
}

static void header_print_summary(const struct header *h, const char *warnings)
{
	const struct kjoule_meta *meta = &h->view->rec.meta;
	struct kjoule_cpu_stats stats = view_stats(h->view);
	char *command = kjoule_meta_command_line(meta), target[640];
	size_t object = 0;
	int why;
	const struct blocks *b = h->blocks;
	const char *others[PROFILE_DOMAINS];
	struct summary s = {
		.of_command = meta->argc && command,
		.duration_s = view_duration_s(h->view),
		.host = meta->host,
		.cpus = &meta->session.cpus,
		.samples = h->samples,
		.interval_ns = meta->session.interval_ns,
		.counted = h->view->rec.n_stats,
		.lost = stats.lost,
		.lost_samples = b->lost,
		.missed = stats.missed,
		.due = stats.due,
		.others = others,
		.model = h->model && h->model->used != MODEL_CPM ? power_model_name(h->model) :
								   NULL,
		.slowdown = header_slowdown(h),
		.outside_j = h->outside_j,
		.verbose = h->verbose,
		.warnings = warnings,
		.messages = view_missing(h->view, &object, &why) || view_is_damaged(h->view),
	};

	s.subject = s.of_command ? summary_command(command) :
				   header_target_text(h->view, target, sizeof(target));
	for (unsigned int d = 0; d < b->n_domains; d++) {
		if (d != b->shown_first) {
			others[s.n_others++] = b->domains[d]->name;
			continue;
		}
		s.domain = b->domains[d]->name;
		s.source = meta->session.sources[b->meters.source[d]].name;
		s.update_period_ns = b->domains[d]->update_period_ns;
	}
	summary_print(&s);
	free(command);
}

void header_print(const struct header *h)
{
	const struct view *v = h->view;
	struct json_object *facts;
	char *warnings = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&warnings, &len);

	if (!f)
		return;
	header_write_warnings(f, h);
	fclose(f);
	header_print_summary(h, warnings);
	free(warnings);
	if (v->cut)
		printf("# shown: %.9g s to %.9g s of it; lost and missed ticks are of all of it\n",
		       v->from_ns * 1e-9, v->to_ns * 1e-9);
	if (h->verbose) {
		facts = header_json(h);
		printf("#\n");
		facts_print(stdout, "recording", facts);
		json_object_put(facts);
	}
}
