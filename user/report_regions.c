// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What report and annotate say of regions besides their figures: whether there are those that were
 * asked for, how the marks went, and what was entered without being sampled. See report.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "cmd.h"
#include "report.h"

#define TOLD	6	/* regions that a line names */

/* "a, b, c and 3 more": of the paths for which @is. The caller's to free; NULL: none, or no memory */
static char *name_some(const struct view *v, bool (*is)(const struct kjoule_regions_count *c))
{
	const struct kjoule_regions *r = v->regions;
	bool *seen = calloc(r->n_paths, sizeof(*seen));
	char *text = NULL, *clean;
	size_t len, n = 0;
	FILE *f = seen ? open_memstream(&text, &len) : NULL;

	for (size_t i = 0; f && i < r->n_counts; i++) {
		uint32_t path = r->counts[i].path;

		if (path <= KJOULE_REGIONS_UNKNOWN || seen[path] || !is(&r->counts[i]))
			continue;
		seen[path] = true;
		if (n++ < TOLD)
			fprintf(f, "%s%s", n > 1 ? ", " : "", r->paths[path].text);
	}
	if (f && n > TOLD)
		fprintf(f, " and %zu more", n - TOLD);
	free(seen);
	if (!f || fclose(f) || !n) {
		free(text);
		return NULL;
	}
	clean = output_clean(text);
	free(text);
	return clean;
}

static bool is_entered(const struct kjoule_regions_count *c)
{
	return c->entered > 0;
}

static bool is_unended(const struct kjoule_regions_count *c)
{
	return c->unended > 0;
}

static bool could_be_marked(const struct view *v)
{
	return v->rec.meta.argc > 0;
}

int report_regions_check(const struct view *v, const char *path)
{
	const struct kjoule_regions *r = v->regions;
	char *there;

	if (!v->region && !v->by_region)
		return 0;
	if (!r->marks) {
		cmd_warn("%s: no program has marked a region%s", path, v->rec.end.regions.foreign ?
			 ": those that tried are in another namespace of processes or of time, where threads and clocks are others" :
			 could_be_marked(v) ? "; see kjoule_region(3) for how one does" :
			 ": only what `kjoule record -- COMMAND` starts can do so, not what runs already");
		return -ENOENT;
	}
	for (size_t i = 0; v->region && i < r->n_counts; i++)
		if (kjoule_regions_inside(r, r->counts[i].path, v->region))
			return 0;
	if (!v->region)
		return 0;
	there = name_some(v, is_entered);
	cmd_warn("%s: --region %s: never entered in this recording; it has %s", path, v->region, there ? there : "none");
	free(there);
	return -ENOENT;
}

int report_regions_nobody(const struct view *v, const char *path)
{
	const struct kjoule_regions *r = v->regions;
	uint64_t entered = 0, marked_ns = 0;

	for (size_t i = 0; i < r->n_counts; i++) {
		if (!kjoule_regions_inside(r, r->counts[i].path, v->region))
			continue;
		entered += r->counts[i].entered;
		marked_ns += r->counts[i].marked_ns;
	}
	cmd_warn("%s: --region %s: entered %" PRIu64 " times, for %.6g s in all, but no sample of what was asked for fell into it: record for longer, or faster (-F)",
		 path, v->region, entered, marked_ns * 1e-9);
	return -ENOENT;
}

static size_t paths_entered(const struct kjoule_regions *r)
{
	bool *seen = calloc(r->n_paths, sizeof(*seen));
	size_t n = 0;

	for (size_t i = 0; seen && i < r->n_counts; i++) {
		uint32_t path = r->counts[i].path;

		n += path > KJOULE_REGIONS_UNKNOWN && !seen[path];
		seen[path] = true;
	}
	free(seen);
	return n;
}

/* What is missing, and why: a line each. */
static void print_missing(const struct view *v)
{
	const struct kjoule_region_books *b = &v->rec.end.regions;
	const struct kjoule_regions *r = v->regions;
	char *which;

	if (r->unended) {
		which = name_some(v, is_unended);
		printf("# regions    %" PRIu64 " begun and not ended, when a thread, its program or the recording did: %s\n",
		       r->unended, which ? which : "?");
		free(which);
	}
	if (r->unbegun)
		printf("# regions    %" PRIu64 " ends without a begin\n", r->unbegun);
	if (r->lost || b->unfinished)
		printf("# regions    %" PRIu64 " marks lost: programs mark faster than record reads; where nobody knows is [marks lost]\n",
		       r->lost + b->unfinished);
	if (r->left_out)
		printf("# regions    %" PRIu64 " left out, their time is with the one around: too deep, or too many different ones\n",
		       r->left_out);
	if (b->refused)
		printf("# regions    %u threads could mark none: there was no ring for them\n", b->refused);
	if (b->foreign)
		printf("# regions    %u programs could mark none: they are in another namespace of processes or of time\n",
		       b->foreign);
	if (b->unmapped)
		printf("# regions    %u programs could mark none: they may not have so much address space\n", b->unmapped);
	if (r->damaged || b->damaged)
		printf("# regions    %" PRIu64 " times what programs wrote made no sense\n", r->damaged + b->damaged);
}

void report_regions_print(const struct view *v)
{
	const struct kjoule_regions *r = v->regions;

	if (r->marks)
		printf("# regions    %zu by name and nesting, entered %" PRIu64 " times by %" PRIu64 " threads\n", paths_entered(r), r->entered,
		       r->threads);
	print_missing(v);
}

struct json_object *report_regions_json(const struct view *v)
{
	const struct kjoule_region_books *b = &v->rec.end.regions;
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

void report_regions_columns(struct columns *c)
{
	columns_add(c, "entered", "ENTERED", false);
	columns_add(c, "unended", NULL, false);
	columns_add(c, "marked_s", "MARKED s", false);
}

void report_regions_cells(struct output *out, const struct view *v, const struct blocks *b,
			  const struct report_row *row, int digits)
{
	const struct blocks_function *f = &b->functions[row->function];
	const struct kjoule_regions_count *c = NULL;

	if (row->kind == ROW_FUNCTION && f->unit && f->region > KJOULE_REGIONS_UNKNOWN)
		c = kjoule_regions_count(v->regions, b->processes[row->process].pid, f->region);
	if (!c) {
		output_none(out, NULL);
		output_none(out, NULL);
		output_none(out, NULL);
		return;
	}
	output_u64(out, c->entered);
	output_u64(out, c->unended);
	output_real(out, c->marked_ns * 1e-9, digits);
}

void report_regions_footnote(const struct view *v, const struct blocks *b)
{
	const struct kjoule_regions *r = v->regions;
	bool *sampled = calloc(r->n_paths, sizeof(*sampled));
	size_t n = 0;
	char *clean;

	for (size_t i = 0; sampled && i < b->n_functions; i++)
		if (b->functions[i].unit && b->functions[i].samples)
			sampled[b->functions[i].region] = true;
	for (size_t i = 0; sampled && i < r->n_counts; i++) {
		const struct kjoule_regions_count *c = &r->counts[i];

		if (c->path <= KJOULE_REGIONS_UNKNOWN || sampled[c->path] || !c->entered)
			continue;
		if (n++ < TOLD) {
			clean = output_clean(r->paths[c->path].text);
			printf("\nentered %" PRIu64 " times, for %.3g s in all, and never met by a sample: %s\n", c->entered,
			       c->marked_ns * 1e-9, clean ? clean : "?");
			free(clean);
		}
	}
	if (n > TOLD)
		printf("\nand %zu more regions that were entered and never met by a sample\n", n - TOLD);
	free(sampled);
}
