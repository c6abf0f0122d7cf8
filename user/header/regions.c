// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions, as a header has them; see header.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "attribute/region_marks.h"
#include "header/header.h"
#include "output/output.h"
#include "output/wrap.h"

void header_regions_missing_print(FILE *f, const struct view *v)
{
	char *missing = region_marks_missing(v), *rest = missing, *line;

	while ((line = strsep(&rest, "\n")))
		if (line[0])
			wrap_comment(f, "regions", "%s", line);
	free(missing);
}

struct json_object *header_regions_json(const struct view *v)
{
	const struct kjoule_region_counters *b = &v->rec.end.regions;
	const struct kjoule_regions *r = v->regions;
	struct json_object *o, *list;

	if (!r->marks && !r->lost && !b->refused && !b->foreign && !b->unmapped)
		return NULL;
	o = json_object_new_object();
	list = json_object_new_array();
	json_object_object_add(o, "marks", json_object_new_uint64(r->marks));
	json_object_object_add(o, "threads", json_object_new_uint64(r->threads));
	json_object_object_add(o, "entered", json_object_new_uint64(r->entered));
	json_object_object_add(o, "unended", json_object_new_uint64(r->unended));
	json_object_object_add(o, "unbegun", json_object_new_uint64(r->unbegun));
	json_object_object_add(o, "marks_lost", json_object_new_uint64(r->lost + b->unfinished));
	json_object_object_add(o, "left_out", json_object_new_uint64(r->left_out));
	json_object_object_add(o, "threads_refused", json_object_new_uint64(b->refused));
	json_object_object_add(o, "programs_foreign", json_object_new_uint64(b->foreign));
	json_object_object_add(o, "programs_without_room", json_object_new_uint64(b->unmapped));
	json_object_object_add(o, "damaged", json_object_new_uint64(r->damaged + b->damaged));
	for (size_t i = 0; i < r->n_counts; i++) {
		const struct kjoule_regions_count *c = &r->counts[i];
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "region", output_json_str(r->paths[c->path].text));
		json_object_object_add(one, "pid", json_object_new_int64(c->pid));
		json_object_object_add(one, "entered", json_object_new_uint64(c->entered));
		json_object_object_add(one, "unended", json_object_new_uint64(c->unended));
		json_object_object_add(one, "marked_s", output_json_real(c->marked_ns * 1e-9));
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "list", list);
	return o;
}
