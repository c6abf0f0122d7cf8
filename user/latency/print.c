// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What kjoule latency shows: a line for each pair, the matrix of medians, what they look like
 * together; and all of it with the loops of every try as JSON in a file. See latency.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "latency/latency.h"
#include "lib/base/json.h"
#include "lib/base/output_file.h"
#include "output/columns.h"

/* Cycles that agree with a frequency. */
#define COUNTED_CLOSE	0.02

static const struct output_column columns[] = {
	{ "from_khz", NULL, false }, { NULL, "FROM MHz", false },
	{ "to_khz", NULL, false }, { NULL, "TO MHz", false },
	{ "latency_us", "LATENCY us", false }, { NULL, "\xc2\xb1", false },
	{ "latency_lo_us", NULL, false }, { "latency_hi_us", NULL, false },
	{ "first_us", "FIRST us", false }, { NULL, "\xc2\xb1", false },
	{ "first_lo_us", NULL, false }, { "first_hi_us", NULL, false },
	{ "settled_us", NULL, false }, { NULL, NULL, false },
	{ "settled_lo_us", NULL, false }, { "settled_hi_us", NULL, false },
	{ "changes", "STEPS", false },
	{ "pause_us", "PAUSE us", false }, { NULL, "\xc2\xb1", false },
	{ "pause_lo_us", NULL, false }, { "pause_hi_us", NULL, false },
	{ "request_us", "REQUEST us", false }, { NULL, "\xc2\xb1", false },
	{ "request_lo_us", NULL, false }, { "request_hi_us", NULL, false },
	{ "tries", "TRIES", false }, { "good", "GOOD", false },
	{ "disturbed", NULL, false }, { "hidden", NULL, false }, { "never", NULL, false },
	{ "elsewhere", NULL, false },
	{ "not_from", NULL, false }, { "other", NULL, false },
	{ "speed_ratio", NULL, false },
	{ "why", NULL, true },
};

static const char *const verdict_why[TRANSITION_VERDICTS] = {
	[TRANSITION_NEVER] = "the frequency did not change before the time-out; if it takes longer, give it more (--timeout)",
	[TRANSITION_ELSEWHERE] = "the CPU settles at another speed than that of the frequency that was asked for",
	[TRANSITION_UNCONFIRMED] = "the change came too near to the end of the time-out to be confirmed; give it more (--timeout)",
	[TRANSITION_NOT_FROM] = "the CPU does not come to the first frequency, or does not stay there",
	[TRANSITION_IN_CALL] = "the frequency has changed before the request's call returned: it takes no longer than the request",
	[TRANSITION_HIDDEN] = "the change falls between loops, where interrupts are let in",
	[TRANSITION_DISTURBED] = "something else runs at the change in most tries: see what takes CPU time, or whether the firmware does (SMIs)",
	[TRANSITION_VAGUE] = "loops are too noisy to place the change; make them longer (--adds)",
	[TRANSITION_TOO_NEAR] = "the two frequencies are not separable",
	[TRANSITION_BAD] = "the times of the loops make no sense",
};

const char *latency_why(const struct latency *l, const struct latency_pair *p)
{
	const char *from = l->f[p->from].why, *to = l->f[p->to].why;

	if (from || to)
		return from ? from : to;
	if (p->apart == TRANSITION_SAME)
		return "loops take equally long at both frequencies, within their noise: the chip does not separate them, or does not reach one of them";
	if (p->apart == TRANSITION_TWINS)
		return "loops at the two frequencies differ by less than the noise of a single one: a change cannot be followed; make them longer (--adds)";
	if (p->elsewhere)
		return "the CPU runs at another speed than was asked for at one of the two frequencies: its loops are not in their ratio (turbo, a limit, or what the chip grants instead)";
	if (!p->measured || p->result.state == TRANSITION_MORE)
		return "it was ended before";
	return p->result.state == TRANSITION_FAILED ? verdict_why[p->result.why] : NULL;
}

/* Of a number of MHz, so that no two frequencies look the same. */
static int latency_mhz_digits(const struct latency *l)
{
	static const uint32_t khz[] = { 1000, 100, 10, 1 };
	int digits = 0;

	for (size_t i = 0; i < l->n_f; i++)
		while (l->f[i].khz % khz[digits])
			digits++;
	return digits;
}

/* For programs as the kernel has it, for people in the unit that all verbs have. */
static void latency_print_frequency(struct output *out, const struct latency *l, size_t f)
{
	output_u64(out, l->f[f].khz);
	output_real(out, l->f[f].khz / 1e3, latency_mhz_digits(l));
}

static void latency_print_row(struct output *out, const struct latency *l,
			      const struct latency_pair *p)
{
	static const struct value unknown = { NAN, NAN, NAN };
	const struct transition_pair *r = &p->result;
	const char *why = latency_why(l, p);
	/* people have the reasons from latency_print_reasons(), with how many pairs have each */
	const char *note = l->opt->format == OUTPUT_TABLE ? NULL : why;
	const size_t *v = r->verdicts;
	size_t others = r->tries;

	latency_print_frequency(out, l, p->from);
	latency_print_frequency(out, l, p->to);
	columns_value(out, why ? &unknown : &r->last_ns, 1e-3, 1, note, note);
	columns_value(out, why ? &unknown : &r->first_ns, 1e-3, 1, note, note);
	columns_value(out, why ? &unknown : &r->settled_ns, 1e-3, 1, note, note);
	if (why)
		output_none(out, note);
	else
		output_real(out, r->changes, 0);
	columns_value(out, why ? &unknown : &r->pause_ns, 1e-3, 1, note, note);
	columns_value(out, r->tries ? &r->request_ns : &unknown, 1e-3, 1, note, note);
	output_u64(out, r->tries);
	output_u64(out, v[TRANSITION_GOOD]);
	output_u64(out, v[TRANSITION_DISTURBED]);
	output_u64(out, v[TRANSITION_HIDDEN]);
	output_u64(out, v[TRANSITION_NEVER]);
	output_u64(out, v[TRANSITION_ELSEWHERE]);
	output_u64(out, v[TRANSITION_NOT_FROM]);
	others -= v[TRANSITION_GOOD] + v[TRANSITION_DISTURBED] + v[TRANSITION_HIDDEN] +
		  v[TRANSITION_NEVER] +
		  v[TRANSITION_ELSEWHERE] + v[TRANSITION_NOT_FROM];
	output_u64(out, others);
	if (r->tries && isfinite(r->speed_ratio))
		output_real(out, r->speed_ratio, 4);
	else
		output_none(out, NULL);
	if (why)
		output_str(out, why);
	else
		output_none(out, NULL);
	output_row(out);
}

/* What the CPU itself counts is no judge of what was measured, but says what it granted. */
static void latency_print_counter(const struct latency *l)
{
	double worst = 0;
	bool all = true;

	for (size_t i = 0; i < l->n_f; i++) {
		all &= !isnan(l->f[i].counted_khz) && !strcmp(l->f[i].counter, l->f[0].counter);
		worst = fmax(worst, fabs(l->f[i].counted_khz / l->f[i].khz - 1));
	}
	if (all && worst < COUNTED_CLOSE) {
		output_printf(stdout, "# counter    cycles by %s agree with every frequency to within %.1f %%\n",
			      l->f[0].counter, 100 * worst);
		return;
	}
	for (size_t i = 0; i < l->n_f; i++)
		if (!isnan(l->f[i].counted_khz))
			output_printf(stdout, "# counter    at %.6g MHz the CPU made the cycles of %.6g MHz, by %s\n",
				      l->f[i].khz / 1e3, l->f[i].counted_khz / 1e3,
				      l->f[i].counter);
}

static void latency_print_header(const struct latency *l)
{
	const struct kjoule_policy *p = l->policy;
	char cpus[256];

	output_printf(stdout, "# latency    CPU %u, policy %u (CPUs %s), driver %s, governor %s; timed by the %s, requested by %s\n",
		      l->opt->cpu, p->number, kjoule_cpus_format(&p->cpus, cpus, sizeof(cpus)),
		      p->driver, p->governor, l->opt->user_engine ? "user engine" : "kernel engine",
		      l->way);
	printf("# loop       %u additions; %.1f us at %.6g MHz, %.1f us at %.6g MHz\n", l->adds,
	       l->f[0].level.median_ns * 1e-3, l->f[0].khz / 1e3,
	       l->f[l->n_f - 1].level.median_ns * 1e-3, l->f[l->n_f - 1].khz / 1e3);
	latency_print_counter(l);
	if (l->irqs_off_ns)
		printf("# interrupts off for %.1f us at a time at most\n", l->irqs_off_ns * 1e-3);
	if (kjoule_cpus_count(&p->cpus) > 1)
		output_printf(stdout, "# related    CPUs %s have one frequency: what others of them do may keep it up%s\n",
			      kjoule_cpus_format(&p->cpus, cpus, sizeof(cpus)),
			      l->opt->related ? "" : " (--related)");
	if (l->opt->load)
		printf("# load       all other CPUs were busy\n");
	printf("# took       %.1f s; \xc2\xb1 is half of a 95 %% interval\n\n", l->seconds);
}

static void latency_print_matrix(const struct latency *l)
{
	int digits = latency_mhz_digits(l);

	if (l->n_f < 3)
		return;
	output_printf(stdout, "\nLatency in us, from (down) to (across), in MHz:\n\n%10s", "");
	for (size_t to = 0; to < l->n_f; to++)
		printf(" %9.*f", digits, l->f[to].khz / 1e3);
	for (size_t from = 0; from < l->n_f; from++) {
		printf("\n%10.*f", digits, l->f[from].khz / 1e3);
		for (size_t to = 0; to < l->n_f; to++) {
			const struct latency_pair *p = NULL;

			for (size_t i = 0; i < l->n_pairs; i++)
				if (l->pairs[i].from == from && l->pairs[i].to == to)
					p = &l->pairs[i];
			if (p && !latency_why(l, p))
				printf(" %9.1f", p->result.last_ns.v * 1e-3);
			else
				output_printf(stdout, " %9s", p ? "-" : "");
		}
	}
	putchar('\n');
}

static void latency_print_trend(const char *direction, const struct transition_trend *t)
{
	output_printf(stdout, "%s: %s", direction, transition_shape_name(t->shape));
	if (t->shape == TRANSITION_FLAT)
		printf(", %.1f us +-%.1f", t->mean_ns.v * 1e-3,
		       (t->mean_ns.hi - t->mean_ns.lo) / 2e3);
	if (t->shape == TRANSITION_LINEAR)
		printf(", %.3g us +-%.2g more for each MHz", t->slope.v,
		       (t->slope.hi - t->slope.lo) / 2);
	for (size_t i = 0;
	     (t->shape == TRANSITION_STEPS || t->shape == TRANSITION_JUMP) && i < t->levels; i++)
		output_printf(stdout, "%s %.1f us from %.6g MHz on", i ? "," : ":",
			      t->level_ns[i] * 1e-3, t->level_khz[i] / 1e3);
	putchar('\n');
}

static struct json_object *latency_trend_json(const struct transition_trend *t)
{
	struct json_object *o = json_object_new_object(), *levels = json_object_new_array();

	json_object_object_add(o, "shape", json_object_new_string(transition_shape_name(t->shape)));
	json_object_object_add(o, "targets", json_object_new_uint64(t->targets));
	json_object_object_add(o, "mean_us", output_json_real(t->mean_ns.v * 1e-3));
	json_object_object_add(o, "slope_us_a_mhz", output_json_real(t->slope.v));
	for (size_t i = 0; i < t->levels; i++) {
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "from_khz", json_object_new_uint64(t->level_khz[i]));
		json_object_object_add(one, "us", output_json_real(t->level_ns[i] * 1e-3));
		json_object_array_add(levels, one);
	}
	json_object_object_add(o, "levels", levels);
	return o;
}

static struct json_object *latency_frequency_json(const struct latency_frequency *f)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "khz", json_object_new_uint64(f->khz));
	json_object_object_add(o, "loops", json_object_new_uint64(f->level.n));
	json_object_object_add(o, "left_out", json_object_new_uint64(f->level.left_out));
	json_object_object_add(o, "loop_us", output_json_real(f->level.mean_ns.v * 1e-3));
	json_object_object_add(o, "loop_lo_us", output_json_real(f->level.mean_ns.lo * 1e-3));
	json_object_object_add(o, "loop_hi_us", output_json_real(f->level.mean_ns.hi * 1e-3));
	json_object_object_add(o, "loop_median_us", output_json_real(f->level.median_ns * 1e-3));
	json_object_object_add(o, "loop_sd_us", output_json_real(f->level.sd_ns * 1e-3));
	json_object_object_add(o, "counted_khz", output_json_real(f->counted_khz));
	json_object_object_add(o, "counter",
			       f->counter[0] ? json_object_new_string(f->counter) : NULL);
	json_object_object_add(o, "why", f->why ? json_object_new_string(f->why) : NULL);
	return o;
}

static struct json_object *latency_header_json(const struct latency *l)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	char cpus[1024];

	json_object_object_add(o, "engine", json_object_new_string(l->engine->name));
	json_object_object_add(o, "cpu", json_object_new_uint64(l->opt->cpu));
	json_object_object_add(o, "policy_cpus",
			       json_object_new_string(kjoule_cpus_format(&l->policy->cpus, cpus,
									 sizeof(cpus))));
	json_object_object_add(o, "driver", output_json_str(l->policy->driver));
	json_object_object_add(o, "governor", output_json_str(l->policy->governor));
	json_object_object_add(o, "requested_by", output_json_str(l->way));
	json_object_object_add(o, "driver_latency_us",
			       output_json_real(l->policy->latency_ns ?
						l->policy->latency_ns * 1e-3 : NAN));
	json_object_object_add(o, "adds", json_object_new_uint64(l->adds));
	json_object_object_add(o, "repeats", json_object_new_uint64(l->opt->repeats));
	json_object_object_add(o, "timeout_us", output_json_real(l->opt->timeout_ns * 1e-3));
	json_object_object_add(o, "at_load", json_object_new_boolean(l->opt->load));
	json_object_object_add(o, "related", json_object_new_boolean(l->opt->related));
	json_object_object_add(o, "irqs_off_max_us",
			       output_json_real(l->irqs_off_ns ? l->irqs_off_ns * 1e-3 : NAN));
	json_object_object_add(o, "seconds", output_json_real(l->seconds));
	json_object_object_add(o, "stopped_by_signal",
			       l->stopped ? json_object_new_int(l->stopped) : NULL);
	for (size_t i = 0; i < l->n_f; i++)
		json_object_array_add(list, latency_frequency_json(&l->f[i]));
	json_object_object_add(o, "frequencies", list);
	json_object_object_add(o, "up", latency_trend_json(&l->up));
	json_object_object_add(o, "down", latency_trend_json(&l->down));
	return o;
}

/* Each reason once, whatever number of pairs has it. */
static void latency_print_reasons(const struct latency *l)
{
	for (size_t i = 0; i < l->n_pairs; i++) {
		const char *why = latency_why(l, &l->pairs[i]);
		size_t first = 0, n = 0;

		while (first < i && latency_why(l, &l->pairs[first]) != why)
			first++;
		if (!why || first < i)
			continue;
		for (size_t k = i; k < l->n_pairs; k++)
			n += latency_why(l, &l->pairs[k]) == why;
		output_printf(stdout, "\n- : %s (%zu of %zu, %.6g to %.6g MHz%s)\n", why, n,
			      l->n_pairs, l->f[l->pairs[i].from].khz / 1e3,
			      l->f[l->pairs[i].to].khz / 1e3, n > 1 ? " the first one" : "");
	}
}

int latency_print(const struct latency *l)
{
	bool people = l->opt->format == OUTPUT_TABLE;
	struct output *out;

	if (people)
		latency_print_header(l);
	out = output_open(stdout, l->opt->format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_pairs; i++)
		latency_print_row(out, l, &l->pairs[i]);
	output_close(out, l->opt->format == OUTPUT_JSON ? latency_header_json(l) : NULL, "rows");
	if (!people)
		return 0;
	latency_print_reasons(l);
	latency_print_matrix(l);
	if (l->n_pairs > 1) {
		putchar('\n');
		latency_print_trend("upwards", &l->up);
		latency_print_trend("downwards", &l->down);
	}
	return 0;
}

static struct json_object *latency_try_json(const struct transition_try *t,
					    enum transition_verdict verdict,
					    const struct latency_loops *s)
{
	struct json_object *o = json_object_new_object(), *starts = json_object_new_array_ext(s->n);
	struct json_object *times = json_object_new_array_ext(s->n);
	struct json_object *cycles = s->counted ? json_object_new_array_ext(s->n) : NULL;
	struct json_object *reference = s->counted ? json_object_new_array_ext(s->n) : NULL;

	json_object_object_add(o, "verdict",
			       json_object_new_string(transition_verdict_name(verdict)));
	json_object_object_add(o, "first_us", output_json_real(t->first.ns * 1e-3));
	json_object_object_add(o, "last_us", output_json_real(t->last.ns * 1e-3));
	json_object_object_add(o, "pause_us", output_json_real(t->pause_ns * 1e-3));
	json_object_object_add(o, "request_us", output_json_real(s->request_ns * 1e-3));
	json_object_object_add(o, "irqs_off_us",
			       output_json_real(s->irqs_off_ns ? s->irqs_off_ns * 1e-3 : NAN));
	json_object_object_add(o, "irqs_off_from_ns",
			       s->irqs_off_ns ? json_object_new_uint64(s->irqs_off_from_ns) : NULL);
	json_object_object_add(o, "asked_ns", json_object_new_uint64(s->asked_ns));
	for (size_t i = 0; i < s->n; i++) {
		json_object_array_add(starts, json_object_new_int64(s->list[i].start_ns));
		json_object_array_add(times, json_object_new_int64(s->list[i].loop_ns));
		if (!s->counted)
			continue;
		json_object_array_add(cycles, json_object_new_int64(s->counted[i].cycles));
		json_object_array_add(reference, json_object_new_int64(s->counted[i].reference));
	}
	json_object_object_add(o, "start_ns", starts);
	json_object_object_add(o, "loop_ns", times);
	json_object_object_add(o, "cycles", cycles);
	json_object_object_add(o, "reference", reference);
	json_object_object_add(o, "counter",
			       s->counted ? json_object_new_string(s->counter) : NULL);
	json_object_object_add(o, "reference_khz",
			       s->counted ? json_object_new_uint64(s->reference_khz) : NULL);
	return o;
}

int latency_save(const struct latency *l, const char *path, struct kjoule_error *err)
{
	struct json_object *o = latency_header_json(l), *pairs = json_object_new_array();
	int ret;

	for (size_t i = 0; i < l->n_pairs; i++) {
		const struct latency_pair *p = &l->pairs[i];
		struct json_object *one = json_object_new_object();
		struct json_object *tries = json_object_new_array();

		json_object_object_add(one, "from_khz", json_object_new_uint64(l->f[p->from].khz));
		json_object_object_add(one, "to_khz", json_object_new_uint64(l->f[p->to].khz));
		for (size_t k = 0; k < p->n; k++)
			json_object_array_add(tries, latency_try_json(&p->tries[k], p->verdicts[k],
								      &p->series[k]));
		json_object_object_add(one, "tries", tries);
		json_object_array_add(pairs, one);
	}
	json_object_object_add(o, "pairs", pairs);
	ret = kjoule_json_write(o, AT_FDCWD, path, 0, JSON_C_TO_STRING_PLAIN, err);
	json_object_put(o);
	return ret;
}
