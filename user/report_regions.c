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

int report_regions_check(const struct view *v, const char *path, struct kjoule_error *err)
{
	const struct kjoule_regions *r = v->regions;
	char *there;

	if (!v->region && !v->by_region)
		return 0;
	if (!r->marks)
		return kjoule_fail(err, ENOENT, "%s: no program has marked a region%s", path, v->rec.end.regions.foreign ?
				   ": those that tried are in another namespace of processes or of time, where threads and clocks are others" :
				   could_be_marked(v) ? "; see kjoule_region(3) for how one does" :
				   ": only what `kjoule record -- COMMAND` starts can do so, not what runs already");
	for (size_t i = 0; v->region && i < r->n_counts; i++)
		if (kjoule_regions_inside(r, r->counts[i].path, v->region))
			return 0;
	if (!v->region)
		return 0;
	there = name_some(v, is_entered);
	kjoule_fail(err, ESRCH, "%s: --region %.100s: never entered in this recording; it has %s", path, v->region,
		    there ? there : "none");
	free(there);
	return -ESRCH;
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

char *report_regions_missing(const struct view *v)
{
	const struct kjoule_region_books *b = &v->rec.end.regions;
	const struct kjoule_regions *r = v->regions;
	char *which, *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	if (r->unended) {
		which = name_some(v, is_unended);
		fprintf(f, "%" PRIu64 " begun and not ended, when a thread, its program or the recording did: %s\n",
			r->unended, which ? which : "?");
		free(which);
	}
	if (r->unbegun)
		fprintf(f, "%" PRIu64 " ends without a begin\n", r->unbegun);
	if (r->lost || b->unfinished)
		fprintf(f, "%" PRIu64 " marks lost: programs mark faster than record reads; where nobody knows is [marks lost]\n",
			r->lost + b->unfinished);
	if (r->left_out)
		fprintf(f, "%" PRIu64 " left out, their time is with the one around: too deep, or too many different ones\n",
			r->left_out);
	if (b->refused)
		fprintf(f, "%u threads could mark none: there was no ring for them\n", b->refused);
	if (b->foreign)
		fprintf(f, "%u programs could mark none: they are in another namespace of processes or of time\n", b->foreign);
	if (b->unmapped)
		fprintf(f, "%u programs could mark none: they may not have so much address space\n", b->unmapped);
	if (r->damaged || b->damaged)
		fprintf(f, "%" PRIu64 " times what programs wrote made no sense\n", r->damaged + b->damaged);
	if (fclose(f) || !len) {
		free(text);
		return NULL;
	}
	return text;
}

void report_regions_print(const struct view *v)
{
	const struct kjoule_regions *r = v->regions;
	char *missing = report_regions_missing(v), *rest = missing, *line;

	if (r->marks)
		printf("# regions    %zu by name and nesting, entered %" PRIu64 " times by %" PRIu64 " threads\n", paths_entered(r), r->entered,
		       r->threads);
	while ((line = strsep(&rest, "\n")))
		if (line[0])
			output_printf(stdout, "# regions    %s\n", line);
	free(missing);
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

void report_regions_cells(struct output *out, const struct report_row *row, int digits)
{
	if (!row->marks || !row->marks->known) {
		output_none(out, NULL);
		output_none(out, NULL);
		output_none(out, NULL);
		return;
	}
	output_u64(out, row->marks->entered);
	output_u64(out, row->marks->unended);
	output_real(out, row->marks->marked_s, digits);
}

void report_marks_add(struct report_marks *m, const struct kjoule_regions_count *c)
{
	if (!c)
		return;
	m->known = true;
	m->entered += c->entered;
	m->unended += c->unended;
	m->marked_s += c->marked_ns * 1e-9;
}

int report_regions_marks(const struct view *v, const struct blocks *b, struct report_groups *g)
{
	g->marks = calloc(b->n_functions + 1, sizeof(*g->marks));
	if (!g->marks)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_functions; i++)
		report_marks_add(&g->marks[i], blocks_marks(b, v->regions, i));
	return 0;
}

/* Of a region that no sample fell into. */
static void print_unmet(const char *name, uint64_t entered, double marked_s, const char *in)
{
	output_printf(stdout, "\nentered %" PRIu64 " times, for %.3g s in %s, and never met by a sample: %s\n", entered, marked_s, in,
		      name);
}

static void print_more_unmet(size_t n)
{
	if (n > TOLD)
		printf("\nand %zu more regions that were entered and never met by a sample\n", n - TOLD);
}

void report_regions_footnote_of_several(const struct blocks *b, const struct report_groups *g)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_functions; i++) {
		const struct grain_unit *unit = b->functions[i].unit;
		struct report_marks sum = { 0 };
		bool told = false;

		if (!g->marks[i].entered || g->functions[i].samples)
			continue;
		/* in whichever process */
		for (size_t k = 0; k < b->n_functions && !told; k++) {
			if (b->functions[k].unit != unit)
				continue;
			told = g->functions[k].samples || (k < i && g->marks[k].entered);
			sum.entered += g->marks[k].entered;
			sum.marked_s += g->marks[k].marked_s;
		}
		if (!told && n++ < TOLD)
			print_unmet(unit->name, sum.entered, sum.marked_s, "a run");
	}
	print_more_unmet(n);
}

void report_regions_footnote(const struct view *v, const struct blocks *b)
{
	const struct kjoule_regions *r = v->regions;
	bool *sampled = calloc(r->n_paths, sizeof(*sampled));
	size_t n = 0;

	for (size_t i = 0; sampled && i < b->n_functions; i++)
		if (b->functions[i].unit && b->functions[i].samples)
			sampled[b->functions[i].region] = true;
	for (size_t i = 0; sampled && i < r->n_counts; i++) {
		const struct kjoule_regions_count *c = &r->counts[i];

		if (c->path <= KJOULE_REGIONS_UNKNOWN || sampled[c->path] || !c->entered)
			continue;
		if (n++ < TOLD)
			print_unmet(r->paths[c->path].text, c->entered, c->marked_ns * 1e-9, "all");
	}
	print_more_unmet(n);
	free(sampled);
}
