// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints a sweep; see sweep.h. A figure that is not known is "-", never 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <json-c/json.h>
#include "cli/cmd.h"
#include "output/columns.h"
#include "output/wrap.h"
#include "sweep/sweep.h"

static const char half[] = "\xc2\xb1";

/* The first setting that was measured: its merge tells what all have in common. */
static const struct merge *sweep_first_merge(const struct sweep *s)
{
	for (size_t i = 0; i < s->plan.n_settings; i++)
		if (s->merges[i].n)
			return &s->merges[i];
	return NULL;
}

static const char *sweep_domain_name(const struct sweep *s)
{
	return s->has_energy ? sweep_first_merge(s)->domains[0].name : "";
}

static const struct blocks_function *sweep_block_function(const struct sweep *s,
							  const struct sweep_block *b)
{
	return b->function == UINT32_MAX ? NULL : &s->names.b.functions[b->function];
}

/* "50 MHz, 2 threads"; "-" where there is none */
static const char *sweep_setting_label(const struct sweep *s, size_t setting, char *buf, size_t len)
{
	if (setting == SWEEP_NONE)
		snprintf(buf, len, "-");
	else
		sweep_label(&s->plan.settings[setting], buf, len);
	return buf;
}

static void sweep_print_real(struct output *out, double v, int digits)
{
	if (isnan(v))
		output_none(out, NULL);
	else
		output_real(out, v, digits);
}

/* A figure and half of its interval, in tables only. */
static void sweep_print_figure(struct output *out, const struct value *v, int digits)
{
	sweep_print_real(out, v->v, digits);
	sweep_print_real(out, (v->hi - v->lo) / 2, digits);
}

static int sweep_digits_of(const struct sweep_block *b, size_t n, size_t offset)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		const struct value *v = (const struct value *)((const char *)&b->at[i] + offset);

		most = fmax(most, isnan(v->v) ? 0 : v->v);
	}
	return columns_digits(most);
}

#define DIGITS(s, b, member) \
	sweep_digits_of(b, (s)->plan.n_settings, offsetof(struct sweep_figures, member))

/* How good a setting is: the least, not significantly more, or neither. */
static const char *sweep_best_mark(const struct sweep_best *b, const bool *equal, size_t setting)
{
	return b->setting == setting ? "least" : equal[setting] ? "=" : "";
}

static int sweep_print_settings(const struct sweep *s)
{
	struct columns *c = columns_new(NULL);
	struct output *out;
	char text[64];

	if (!c)
		return -ENOMEM;
	columns_add(c, NULL, "SETTING", true);
	columns_add(c, NULL, "RUNS", false);
	columns_add(c, NULL, "TIME s", false);
	columns_add(c, NULL, half, false);
	if (s->has_energy) {
		columns_add(c, NULL, columns_text(c, "%.32s J", sweep_domain_name(s)), false);
		columns_add(c, NULL, half, false);
		columns_add(c, NULL, "", true);
		columns_add(c, NULL, "W", false);
		columns_add(c, NULL, half, false);
		columns_add(c, NULL, columns_text(c, "%.32s J s", sweep_domain_name(s)), false);
		columns_add(c, NULL, half, false);
		columns_add(c, NULL, "", true);
	}
	columns_add(c, NULL, "MHz", false);
	out = output_open(stdout, OUTPUT_TABLE, c->list, c->n);
	for (size_t i = 0; out && i < s->plan.n_settings; i++) {
		const struct sweep_figures *f = &s->all.at[i];

		output_str(out, sweep_setting_label(s, i, text, sizeof(text)));
		output_u64(out, s->merges[i].kept);
		sweep_print_figure(out, &f->delay_s, DIGITS(s, &s->all, delay_s));
		if (s->has_energy) {
			sweep_print_figure(out, &f->j, DIGITS(s, &s->all, j));
			output_str(out, sweep_best_mark(&s->all.energy, s->all.energy_equal, i));
			sweep_print_figure(out, &f->w, DIGITS(s, &s->all, w));
			sweep_print_figure(out, &f->product, DIGITS(s, &s->all, product));
			output_str(out, sweep_best_mark(&s->all.product, s->all.product_equal, i));
		}
		sweep_print_real(out, f->khz / 1e3, 1);
		output_row(out);
	}
	if (out)
		output_close(out, NULL, NULL);
	free(c);
	return out ? 0 : -ENOMEM;
}

/* "3 of 7": others that are not significantly above the least, of those that are known */
static void sweep_print_alike(struct output *out, const struct sweep_best *b)
{
	char text[48];

	if (b->setting == SWEEP_NONE) {
		output_none(out, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%zu of %zu", b->equal + b->unknown, b->known - 1);
	output_str(out, text);
}

static void sweep_print_best(struct output *out, const struct sweep *s, const struct sweep_best *b,
			     const struct sweep_block *block, bool product)
{
	char text[64];

	if (b->setting == SWEEP_NONE) {
		columns_none(out, 4);
		return;
	}
	output_str(out, sweep_setting_label(s, b->setting, text, sizeof(text)));
	if (product)
		sweep_print_figure(out, &block->at[b->setting].product, DIGITS(s, block, product));
	else
		sweep_print_figure(out, &block->at[b->setting].j, DIGITS(s, block, j));
	sweep_print_alike(out, b);
}

static bool sweep_has_mixed(const struct sweep *s)
{
	for (size_t i = 0; i < s->n_blocks; i++)
		if (s->blocks[i].mixed)
			return true;
	return false;
}

static int sweep_print_blocks(const struct sweep *s)
{
	struct columns *c = columns_new(NULL);
	bool mixed = sweep_has_mixed(s);
	struct output *out;

	if (!c)
		return -ENOMEM;
	columns_add(c, NULL, "FUNCTION", true);
	columns_add(c, NULL, "OBJECT", true);
	if (mixed)
		columns_add(c, NULL, "", true);
	columns_add(c, NULL, "LEAST J AT", true);
	columns_add(c, NULL, "J", false);
	columns_add(c, NULL, half, false);
	columns_add(c, NULL, "ALIKE", false);
	columns_add(c, NULL, "AT BEST SINGLE J", false);
	columns_add(c, NULL, half, false);
	columns_add(c, NULL, "LEAST J s AT", true);
	columns_add(c, NULL, "J s", false);
	columns_add(c, NULL, half, false);
	columns_add(c, NULL, "ALIKE", false);
	out = output_open(stdout, OUTPUT_TABLE, c->list, c->n);
	for (size_t i = 0; out && i <= s->n_blocks; i++) {
		const struct sweep_block *b = i < s->n_blocks ? &s->blocks[i] : &s->all;
		const struct blocks_function *f = sweep_block_function(s, b);

		if (i == s->n_blocks)
			output_rule(out);
		output_str(out, sweep_block_name(s, b));
		output_str(out, f ? basename(f->object) : "");
		if (mixed)
			output_str(out, b->mixed ? "~" : "");
		sweep_print_best(out, s, &b->energy, b, false);
		if (s->saving.single != SWEEP_NONE)
			sweep_print_figure(out, &b->at[s->saving.single].j, DIGITS(s, b, j));
		else
			columns_none(out, 2);
		sweep_print_best(out, s, &b->product, b, true);
		output_row(out);
	}
	if (out)
		output_close(out, NULL, NULL);
	free(c);
	return out ? 0 : -ENOMEM;
}

static void sweep_print_command(const struct sweep *s)
{
	struct kjoule_meta meta = { .argc = s->plan.argc, .argv = s->plan.argv };
	char *command = kjoule_meta_command_line(&meta);

	wrap_comment(stdout, "command", "%s", command ? command : "?");
	free(command);
}

static void sweep_print_header(const struct sweep *s)
{
	const struct sweep_plan *p = &s->plan;
	time_t t = p->wall_ns / 1000000000ull;
	char when[64] = "";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	wrap_comment(stdout, "sweep", "%s: %s on %s, %.60s", p->folder, when, p->host, p->kernel);
	sweep_print_command(s);
	wrap_comment(stdout, "settings", "%zu, %u run%s of each%s", p->n_settings, p->runs,
		     p->runs > 1 ? "s" : "", p->finished ? "" : "; it was not brought to its end");
	if (p->driver[0])
		wrap_comment(stdout, "frequency", "held through cpufreq (%s)", p->driver);
	if (s->has_energy)
		wrap_comment(stdout, "energy", "%s: %s", sweep_first_merge(s)->sources[0],
			     sweep_domain_name(s));
	else
		wrap_comment(stdout, "energy",
			     "none: no source was used, so there is time and frequency only");
	for (size_t i = 0; i < s->notes.n; i++)
		wrap_comment(stdout, "note", "%s", s->notes.list[i]);
	wrap_line(stdout, "figures are of an average run without ticks and other interrupts; %s is half a 95 %% interval",
		  output_half());
	printf("\n");
}

static double sweep_percent_of(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

/* What blocks would save at frequencies of their own; @all_j: of all at the best single setting. */
static void sweep_print_moved(const struct sweep *s, double all_j)
{
	const struct sweep_saving *v = &s->saving;
	bool other_threads = v->threads != s->plan.settings[v->single].threads;
	char threads[64] = "", cost[200];

	if (!v->moved) {
		wrap_footnote(stdout, "",
			      "own frequency for each block: no block has another one: nothing is saved");
		return;
	}
	if (v->threads && other_threads)
		snprintf(threads, sizeof(threads), ", at %u threads", v->threads);
	if (s->plan.latency_ns)
		snprintf(cost, sizeof(cost),
			 "the driver says that one takes up to %.4g us: %.3g s and %.3g J of them, not taken off",
			 s->plan.latency_ns / 1e3, s->changes_s, s->changes_j);
	else
		snprintf(cost, sizeof(cost),
			 "what one takes is not known: the driver does not say");
	wrap_footnote(stdout, "",
		      "own frequency for each block%s: %.4g %s %.2g J (%.3g %%) less at most, %+.3g s; %zu block%s with another one%s; of it %.4g J are of the %zu block%s for which the difference is significant",
		      other_threads ? ", with another number of threads" : "", v->saved_j.v,
		      output_half(), (v->saved_j.hi - v->saved_j.lo) / 2,
		      sweep_percent_of(v->saved_j.v, all_j), v->delay_s, v->moved,
		      v->moved > 1 ? "s" : "", threads, v->sure_j, v->sure,
		      v->sure == 1 ? "" : "s");
	wrap_footnote(stdout, "",
		      "that is an upper bound: the least of uncertain figures is too low on the average, and changes cost something; changes of frequency: %.0f or more in a run; %s",
		      s->changes, cost);
}

static void sweep_print_saving(const struct sweep *s)
{
	const struct sweep_saving *v = &s->saving;
	const struct sweep_best *b = &s->all.energy;
	const struct value *all;
	char text[64], others[96];

	if (v->single == SWEEP_NONE)
		return;
	all = &s->all.at[v->single].j;
	if (b->known < 2)
		snprintf(others, sizeof(others), "there is no other to compare it with");
	else if (b->equal + b->unknown)
		snprintf(others, sizeof(others),
			 "%zu of the %zu others are not significantly different from it",
			 b->equal + b->unknown, b->known - 1);
	else
		snprintf(others, sizeof(others), "every other one takes more");
	wrap_footnote(stdout, "best single", "%s: %.5g %s %.2g J; %s",
		      sweep_setting_label(s, v->single, text, sizeof(text)), all->v, output_half(),
		      (all->hi - all->lo) / 2, others);
	sweep_print_moved(s, all->v);
}

static void sweep_print_footnotes(const struct sweep *s)
{
	wrap_footnote(stdout, "ALIKE",
		      "others that are not significantly different from the least: the interval that holds for all of them together includes 0; = : the same of a setting");
	wrap_footnote(
		stdout, "J s",
		"energy times the time by the clock in which it was at work; the least is the best of both");
	if (s->has_energy)
		wrap_footnote(
			stdout, "J, W",
			"while the program runs on some CPU, not while it waits; W is J in the TIME by the clock, whatever number of CPUs it takes");
	if (sweep_has_mixed(s))
		wrap_footnote(stdout, "~",
			      "runs too shortly between two updates of the energy counter, at one setting at least; its energy is mixed with its neighbours', and which setting is the least is not known");
	if (s->runs_least < RUNS_SPREAD)
		wrap_footnote(stdout, "",
			      "the intervals know how sure the figures of these recordings are, not how much runs differ: for that, sweep with --runs %d or more",
			      RUNS_SPREAD);
	if (s->n_hidden)
		wrap_footnote(stdout, "",
			      "functions below the limit at all settings, not shown: %zu (--percent-limit)",
			      s->n_hidden);
}

static void sweep_json_put(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add(o, key, v);
}

static struct json_object *sweep_real_json(double v)
{
	return isnan(v) ? NULL : output_json_real(v);
}

static struct json_object *sweep_uint_json(uint64_t v)
{
	return v ? json_object_new_uint64(v) : NULL;
}

/* A setting by what it is; null: none. */
static struct json_object *sweep_setting_json(const struct sweep *s, size_t setting)
{
	struct json_object *o;

	if (setting == SWEEP_NONE)
		return NULL;
	o = json_object_new_object();
	sweep_json_put(o, "freq_khz", sweep_uint_json(s->plan.settings[setting].khz));
	sweep_json_put(o, "threads", sweep_uint_json(s->plan.settings[setting].threads));
	return o;
}

static struct json_object *sweep_best_json(const struct sweep *s, const struct sweep_best *b)
{
	struct json_object *o = sweep_setting_json(s, b->setting);

	if (!o)
		return NULL;
	sweep_json_put(o, "known", json_object_new_uint64(b->known));
	sweep_json_put(o, "alike", json_object_new_uint64(b->equal));
	sweep_json_put(o, "unknown", json_object_new_uint64(b->unknown));
	return o;
}

static struct json_object *sweep_block_json(const struct sweep *s, const struct sweep_block *b,
					    size_t chosen)
{
	const struct blocks_function *f = sweep_block_function(s, b);
	struct json_object *o = json_object_new_object();

	sweep_json_put(o, "comm",
		       f ? output_json_str(s->names.b.processes[f->process].comm) : NULL);
	sweep_json_put(o, "function", output_json_str(sweep_block_name(s, b)));
	sweep_json_put(o, "object", f ? output_json_str(f->object) : NULL);
	sweep_json_put(o, "mixed", json_object_new_boolean(b->mixed));
	sweep_json_put(o, "least_energy", sweep_best_json(s, &b->energy));
	sweep_json_put(o, "least_energy_delay", sweep_best_json(s, &b->product));
	sweep_json_put(o, "own_frequency", sweep_setting_json(s, chosen));
	return o;
}

static struct json_object *sweep_saving_json(const struct sweep *s)
{
	const struct sweep_saving *v = &s->saving;
	struct json_object *o;

	if (v->single == SWEEP_NONE)
		return NULL;
	o = json_object_new_object();
	sweep_json_put(o, "upper_bound", json_object_new_boolean(true));
	sweep_json_put(o, "threads", sweep_uint_json(v->threads));
	sweep_json_put(o, "energy_j", sweep_real_json(v->saved_j.v));
	sweep_json_put(o, "energy_lo_j", sweep_real_json(v->saved_j.lo));
	sweep_json_put(o, "energy_hi_j", sweep_real_json(v->saved_j.hi));
	sweep_json_put(o, "part", sweep_real_json(v->saved_j.v / s->all.at[v->single].j.v));
	sweep_json_put(o, "known_j", sweep_real_json(v->sure_j));
	sweep_json_put(o, "longer_s", sweep_real_json(v->delay_s));
	sweep_json_put(o, "blocks", json_object_new_uint64(v->moved));
	sweep_json_put(o, "blocks_known", json_object_new_uint64(v->sure));
	sweep_json_put(o, "of_energy_j", sweep_real_json(v->base_j));
	sweep_json_put(o, "blocks_mixed", json_object_new_uint64(s->mixed));
	sweep_json_put(o, "changes_at_least", sweep_real_json(s->changes));
	sweep_json_put(o, "change_s",
		       s->plan.latency_ns ? sweep_real_json(s->plan.latency_ns * 1e-9) : NULL);
	sweep_json_put(o, "changes_s", s->plan.latency_ns ? sweep_real_json(s->changes_s) : NULL);
	sweep_json_put(o, "changes_j", s->plan.latency_ns ? sweep_real_json(s->changes_j) : NULL);
	return o;
}

static struct json_object *sweep_header_json(const struct sweep *s)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	sweep_json_put(o, "folder", output_json_str(s->plan.folder));
	for (int i = 0; i < s->plan.argc; i++)
		json_object_array_add(list, output_json_str(s->plan.argv[i]));
	sweep_json_put(o, "command", list);
	sweep_json_put(o, "host", output_json_str(s->plan.host));
	sweep_json_put(o, "kernel", output_json_str(s->plan.kernel));
	sweep_json_put(o, "driver", s->plan.driver[0] ? output_json_str(s->plan.driver) : NULL);
	sweep_json_put(o, "start_unix_ns", json_object_new_uint64(s->plan.wall_ns));
	sweep_json_put(o, "finished", json_object_new_boolean(s->plan.finished));
	sweep_json_put(o, "runs", json_object_new_uint64(s->plan.runs));
	sweep_json_put(o, "source",
		       s->has_energy ? output_json_str(sweep_first_merge(s)->sources[0]) : NULL);
	sweep_json_put(o, "domain", s->has_energy ? output_json_str(sweep_domain_name(s)) : NULL);
	list = json_object_new_array();
	for (size_t i = 0; i < s->plan.n_settings; i++) {
		const struct sweep_setting *p = &s->plan.settings[i];
		struct json_object *one = sweep_setting_json(s, i);
		bool failed = false;

		for (size_t k = 0; k < p->n_runs; k++)
			failed |= p->runs[k].status == SWEEP_FAILED;
		sweep_json_put(one, "runs", json_object_new_uint64(s->merges[i].n));
		sweep_json_put(one, "failed", json_object_new_boolean(failed));
		sweep_json_put(one, "refused", p->refused ? output_json_str(p->refused) : NULL);
		json_object_array_add(list, one);
	}
	sweep_json_put(o, "settings", list);
	sweep_json_put(o, "best_single", sweep_setting_json(s, s->saving.single));
	sweep_json_put(o, "saving", sweep_saving_json(s));
	list = json_object_new_array();
	for (size_t i = 0; i < s->n_blocks; i++)
		json_object_array_add(list, sweep_block_json(s, &s->blocks[i],
							     s->saving.chosen ?
							     s->saving.chosen[i] : SWEEP_NONE));
	sweep_json_put(o, "blocks", list);
	sweep_json_put(o, "total", sweep_block_json(s, &s->all, SWEEP_NONE));
	list = json_object_new_array();
	for (size_t i = 0; i < s->notes.n; i++)
		json_object_array_add(list, output_json_str(s->notes.list[i]));
	sweep_json_put(o, "notes", list);
	return o;
}

static void sweep_add_figure(struct columns *c, const char *what, const char *of, const char *unit)
{
	static const char *const ends[] = { "", "_lo", "_hi" };

	for (int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%s", what, ends[i]);
		if (of) {
			columns_add_of(c, name, of, unit, NULL);
			continue;
		}
		columns_add(c, columns_text(c, "%s_%s", name, unit), NULL, false);
	}
}

static void sweep_print_interval(struct output *out, const struct value *v)
{
	sweep_print_real(out, v->v, 9);
	sweep_print_real(out, v->lo, 9);
	sweep_print_real(out, v->hi, 9);
}

/* Numbers of settings and blocks are for the picture. */
static void sweep_print_row(struct output *out, const struct sweep *s, const struct sweep_block *b,
			    size_t block, size_t i, size_t chosen)
{
	const struct blocks_function *f = sweep_block_function(s, b);
	const struct sweep_setting *p = &s->plan.settings[i];
	const struct sweep_figures *at = &b->at[i];
	double least = b->energy.setting == SWEEP_NONE ? NAN : b->at[b->energy.setting].j.v;

	output_str(out, f ? "function" : "total");
	output_u64(out, block);
	output_str(out, f ? s->names.b.processes[f->process].comm : "");
	output_str(out, sweep_block_name(s, b));
	output_str(out, f ? f->object : "");
	if (p->khz)
		output_u64(out, p->khz);
	else
		output_none(out, NULL);
	if (p->threads)
		output_u64(out, p->threads);
	else
		output_none(out, NULL);
	output_u64(out, s->merges[i].kept);
	output_u64(out, at->samples);
	sweep_print_interval(out, &at->time_s);
	sweep_print_interval(out, &at->delay_s);
	if (s->has_energy) {
		sweep_print_interval(out, &at->j);
		sweep_print_interval(out, &at->w);
		sweep_print_interval(out, &at->product);
		sweep_print_real(out, at->j.v / least, 9);
		output_str(out, sweep_best_mark(&b->energy, b->energy_equal, i));
		output_str(out, sweep_best_mark(&b->product, b->product_equal, i));
		output_bool(out, chosen == i);
		sweep_print_real(out, at->share, 3);
	}
	sweep_print_real(out, at->khz, 9);
	output_row(out);
}

int sweep_rows(const struct sweep *s, FILE *file, enum output_format format,
	       struct json_object *head)
{
	struct columns *c = columns_new(NULL);
	struct output *out;

	if (!c) {
		json_object_put(head);
		return -ENOMEM;
	}
	columns_add(c, "kind", NULL, true);
	columns_add(c, "block", NULL, false);
	columns_add(c, "comm", NULL, true);
	columns_add(c, "function", NULL, true);
	columns_add(c, "object", NULL, true);
	columns_add(c, "freq_khz", NULL, false);
	columns_add(c, "threads", NULL, false);
	columns_add(c, "runs", NULL, false);
	columns_add(c, "samples", NULL, false);
	sweep_add_figure(c, "time", NULL, "s");
	sweep_add_figure(c, "delay", NULL, "s");
	if (s->has_energy) {
		sweep_add_figure(c, "energy", sweep_domain_name(s), "j");
		sweep_add_figure(c, "power", sweep_domain_name(s), "w");
		sweep_add_figure(c, "energy_delay", sweep_domain_name(s), "js");
		columns_add(c, "energy_over_least", NULL, false);
		columns_add(c, "least_energy", NULL, true);
		columns_add(c, "least_energy_delay", NULL, true);
		columns_add(c, "own_frequency", NULL, true);
		columns_add(c, "window_share", NULL, false);
	}
	columns_add(c, "measured_khz", NULL, false);
	out = output_open(file, format, c->list, c->n);
	if (!out) {
		json_object_put(head);
		free(c);
		return -ENOMEM;
	}
	for (size_t b = 0; b <= s->n_blocks; b++) {
		size_t chosen = b && s->saving.chosen ? s->saving.chosen[b - 1] : SWEEP_NONE;

		for (size_t i = 0; i < s->plan.n_settings; i++)
			sweep_print_row(out, s, b ? &s->blocks[b - 1] : &s->all, b, i, chosen);
	}
	output_close(out, head, "rows");
	free(c);
	return 0;
}

int sweep_print(const struct sweep *s)
{
	int ret;

	if (s->opt->format != OUTPUT_TABLE) {
		for (size_t i = 0; i < s->notes.n; i++)
			cmd_warn("%s", s->notes.list[i]);
		return sweep_rows(s, stdout, s->opt->format,
				  s->opt->format == OUTPUT_JSON ? sweep_header_json(s) : NULL);
	}
	sweep_print_header(s);
	ret = sweep_print_settings(s);
	if (!ret && s->has_energy) {
		printf("\n");
		ret = sweep_print_blocks(s);
	}
	if (!ret) {
		sweep_print_saving(s);
		sweep_print_footnotes(s);
	}
	return ret;
}
