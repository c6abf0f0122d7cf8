// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The model of power, as a header has it; see header.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <json-c/json.h>
#include "attribute/inseparable.h"
#include "header/header.h"
#include "output/output.h"
#include "output/wrap.h"

/* Edge windows take a while to begin, and end a little before a recording does. */
#define WITHOUT_LEAST	0.1

/* Part of the time that is before the first window of use or after the last. */
static double header_part_without_windows(const struct blocks *b,
					  const struct profile_package *package)
{
	double first = NAN, last = NAN;

	for (size_t i = 0; i < package->n_windows; i++) {
		const struct edge_window *w = &package->windows[i];

		if (w->failed)
			continue;
		first = isnan(first) ? w->seek_ns : first;
		last = w->b_ns + w->paused_ns;
	}
	return isnan(last) ?
		       1 :
		       fmax(1 - (last - first) / (b->input.end_tick * b->input.interval_ns), 0);
}

/* What is wrong with the windows of a package; @e: NULL: no power follows from them. */
static void header_print_edge_doubts(FILE *f, const struct blocks *b,
				     const struct profile_package *package,
				     const struct edge_result *e, bool too_many)
{
	double without = header_part_without_windows(b, package);

	if (!e && too_many) {
		wrap_comment(f, "windows",
			     "%zu, with more than %u million ticks in and between them, which is more than the model looks at: --from and --to take a part of the recording",
			     package->n_windows, EDGE_TICKS_MOST >> 20);
		return;
	}
	if (!e) {
		wrap_comment(f, "windows",
			     "%zu, too few consistent windows to solve for power; record for longer",
			     package->n_windows);
		return;
	}
	if (without > WITHOUT_LEAST)
		wrap_comment(f, "windows",
			     "none in %.1f %% of the time, before the first and after the last: code that ran there is taken to draw what it drew in the rest, and intervals are too narrow",
			     100 * without);
}

static void header_print_even_grid(FILE *f, const struct power_model *m)
{
	if (m->in_step)
		wrap_comment(f, "fit",
			     "ticks were on an even grid: code that repeats itself within two ticks may look slower than it is; record with --jitter of nearly the interval");
}

void header_model_doubts_print(FILE *f, const struct power_model *m, const struct blocks *b,
			       const struct profile *p)
{
	for (size_t i = 0; m->used == MODEL_EDGE && i < b->input.n_packages; i++)
		if (b->input.packages[i].n_windows)
			header_print_edge_doubts(f, b, &b->input.packages[i], profile_edge(p, i),
						 profile_edge_too_many(p, i));
	if (m->used == MODEL_MIXTURE)
		header_print_even_grid(f, m);
}

static struct json_object *header_edge_json(const struct blocks *b,
					    const struct profile_package *package,
					    const struct edge_result *e, bool too_many)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "recorded", json_object_new_uint64(package->n_windows));
	json_object_object_add(o, "time_without_part",
			       output_json_real(header_part_without_windows(b, package)));
	json_object_object_add(o, "too_many_ticks", json_object_new_boolean(too_many));
	json_object_object_add(o, "used", json_object_new_uint64(e ? e->windows : 0));
	json_object_object_add(o, "spins", json_object_new_uint64(e ? e->spins : 0));
	json_object_object_add(o, "left_out", json_object_new_uint64(e ? e->wild : 0));
	json_object_object_add(o, "spins_left_out", json_object_new_uint64(e ? e->wild_spins : 0));
	json_object_object_add(o, "spin_w", output_json_real(e ? e->spin_w.v : NAN));
	json_object_object_add(o, "spin_w_lo", output_json_real(e ? e->spin_w.lo : NAN));
	json_object_object_add(o, "spin_w_hi", output_json_real(e ? e->spin_w.hi : NAN));
	json_object_object_add(o, "residual_uj", output_json_real(e ? e->residual_uj : NAN));
	json_object_object_add(o, "extra_uj", output_json_real(e ? e->extra_uj : NAN));
	return o;
}

/* The blocks that a row of several is made of, all of them. */
static struct json_object *header_merged_json(const struct blocks *b, const struct power_model *m)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t u = 0; m->fate && u < m->n_fates; u++) {
		struct json_object *one, *parts;

		if (m->fate[u] == SEPARABILITY_ALONE)
			continue;
		parts = json_object_new_array();

		for (uint32_t i = 0; i < m->n_merged; i++) {
			const struct blocks_function *f = &b->functions[i];

			if (!power_model_is_part(b, m, i, u))
				continue;
			one = json_object_new_object();
			json_object_object_add(one, "function", output_json_str(f->symbol));
			json_object_object_add(one, "object", output_json_str(f->object));
			json_object_object_add(one, "comm",
					       output_json_str(b->processes[f->process].comm));
			json_object_object_add(one, "pid",
					       json_object_new_int64(b->processes[f->process].pid));
			json_object_object_add(one, "samples", json_object_new_uint64(f->samples));
			json_object_array_add(parts, one);
		}
		if (!json_object_array_length(parts)) {
			json_object_put(parts);
			continue;
		}
		one = json_object_new_object();
		json_object_object_add(one, "function", output_json_str(b->functions[u].symbol));
		json_object_object_add(one, "members", parts);
		json_object_array_add(list, one);
	}
	return list;
}

struct json_object *header_model_json(const struct power_model *m, const struct blocks *b,
				      const struct profile *p)
{
	struct json_object *o = json_object_new_object();
	bool fitted = m->used == MODEL_MIXTURE;

	json_object_object_add(o, "name", json_object_new_string(power_model_name(m)));
	json_object_object_add(o, "requested", json_object_new_string(power_model_asked(m)));
	json_object_object_add(o, "reason", m->reason[0] ? output_json_str(m->reason) : NULL);
	json_object_object_add(o, "windows", fitted ? json_object_new_uint64(m->windows) : NULL);
	json_object_object_add(o, "windows_left_out",
			       fitted ? json_object_new_uint64(m->left_out) : NULL);
	json_object_object_add(o, "window_ticks",
			       fitted ? output_json_real(m->window_ticks) : NULL);
	json_object_object_add(o, "reliability", fitted ? output_json_real(m->reliability) : NULL);
	json_object_object_add(o, "even_grid", fitted ? json_object_new_boolean(m->in_step) : NULL);
	json_object_object_add(o, "not_separable",
			       fitted ? json_object_new_uint64(m->n_inseparable) : NULL);
	json_object_object_add(o, "merged", fitted ? header_merged_json(b, m) : NULL);
	if (m->used == MODEL_EDGE) {
		struct json_object *list = json_object_new_array();

		for (size_t i = 0; i < b->input.n_packages; i++)
			if (b->input.packages[i].n_windows)
				json_object_array_add(
					list, header_edge_json(b, &b->input.packages[i],
							       profile_edge(p, i),
							       profile_edge_too_many(p, i)));
		json_object_object_add(o, "edge_windows", list);
	}
	return o;
}
