// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report says of the overhead: what ticks took of each CPU, for how long the recorder was
 * awake there, and the bound that record was given. See analysis/profile/overhead.h.
 */
#include <math.h>
#include <stdlib.h>
#include <json-c/json.h>
#include "attribute/overhead_cpus.h"
#include "header/header.h"
#include "output/output.h"
#include "output/wrap.h"

/* More of a CPU than its code took: there was hardly any, and the recorder ran there. */
#define PART_MOST	1

/*
 * For how long CPUs were held for edge windows, or for readings of blocks, which is none of the
 * overhead.
 */
static double overhead_paused_s(const struct view *v)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;

	return (s->edge.held_ns + s->vpm.held_ns) * 1e-9;
}

void header_overhead_missed_print(FILE *f, const struct view *v, const struct blocks *b)
{
	double bound = v->rec.meta.overhead_ppm * 1e-6;
	struct overhead_cpu *cpus;
	size_t n = overhead_cpus_gather(v, b, &cpus);

	if (bound > 0 && overhead_all(cpus, n) > bound)
		wrap_comment(f, "overhead",
			     "record was asked for %.6g %% at most, which was missed: %s",
			     100 * bound,
			     overhead_ticks(cpus, n) > bound ?
				     "ticks cost more than when they were calibrated" :
				     "the recorder had to share the program's CPUs");
	free(cpus);
}

static struct json_object *overhead_real_json(double v)
{
	return isnan(v) ? NULL : output_json_real(v);
}

struct json_object *header_overhead_json(const struct view *v, const struct blocks *b)
{
	struct json_object *o, *list = json_object_new_array();
	double bound = v->rec.meta.overhead_ppm * 1e-6, all;
	struct overhead_cpu *cpus;
	size_t n = overhead_cpus_gather(v, b, &cpus);

	if (!n) {
		json_object_put(list);
		free(cpus);
		return NULL;
	}
	o = json_object_new_object();
	all = overhead_all(cpus, n);
	json_object_object_add(o, "part", overhead_real_json(all));
	json_object_object_add(o, "ticks_part", overhead_real_json(overhead_ticks(cpus, n)));
	json_object_object_add(o, "paused_s", overhead_real_json(overhead_paused_s(v)));
	json_object_object_add(o, "requested_part", bound > 0 ? overhead_real_json(bound) : NULL);
	json_object_object_add(
		o, "met", bound > 0 && !isnan(all) ? json_object_new_boolean(all <= bound) : NULL);
	for (size_t i = 0; i < n; i++) {
		struct json_object *c = json_object_new_object();
		double part = overhead_part(&cpus[i]);

		json_object_object_add(c, "cpu", json_object_new_uint64(cpus[i].cpu));
		json_object_object_add(c, "part",
				       overhead_real_json(part > PART_MOST ? NAN : part));
		json_object_object_add(c, "ticks", json_object_new_uint64(cpus[i].ticks));
		json_object_object_add(c, "taken_s", overhead_real_json(cpus[i].taken_s));
		json_object_object_add(c, "busy_s",
				       overhead_real_json(cpus[i].time_s - cpus[i].idle_s));
		json_object_object_add(
			c, "recorder_awake_s",
			overhead_real_json(overhead_cpus_recorder_s(v, cpus[i].cpu)));
		json_object_array_add(list, c);
	}
	json_object_object_add(o, "cpus", list);
	free(cpus);
	return o;
}
