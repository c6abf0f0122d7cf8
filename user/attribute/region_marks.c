// SPDX-License-Identifier: GPL-2.0-or-later
/* Requested regions, and what is missing of those that were marked; see region_marks.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/region_marks.h"
#include "lib/base/error.h"
#include "output/output.h"

#define NAMED	6	/* regions that a line names */

/*
 * "a, b, c and 3 more": of the paths for which @is. The caller's to free; NULL: none, or no memory
 */
static char *region_marks_list_paths(const struct view *v,
				     bool (*is)(const struct kjoule_regions_count *c))
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
		if (n++ < NAMED)
			fprintf(f, "%s%s", n > 1 ? ", " : "", r->paths[path].text);
	}
	if (f && n > NAMED)
		fprintf(f, " and %zu more", n - NAMED);
	free(seen);
	if (!f || fclose(f) || !n) {
		free(text);
		return NULL;
	}
	clean = output_clean(text);
	free(text);
	return clean;
}

static bool region_is_entered(const struct kjoule_regions_count *c)
{
	return c->entered > 0;
}

static bool region_is_unended(const struct kjoule_regions_count *c)
{
	return c->unended > 0;
}

static bool region_marks_are_possible(const struct view *v)
{
	return v->rec.meta.argc > 0;
}

int region_marks_check(const struct view *v, const char *path, struct kjoule_error *err)
{
	const struct kjoule_regions *r = v->regions;
	char *there;

	if (!v->region && !v->by_region)
		return 0;
	if (!r->marks)
		return kjoule_fail(err, ENOENT, "%s: no program has marked a region%s", path,
				   v->rec.end.regions.foreign ?
				   ": those that tried are in another namespace of processes or of time, where threads and clocks differ" :
				   region_marks_are_possible(v) ?
				   "; see kjoule_region(3) for how one does" :
				   ": only what `kjoule record -- COMMAND` starts can do so, not what runs already");
	for (size_t i = 0; v->region && i < r->n_counts; i++)
		if (kjoule_regions_inside(r, r->counts[i].path, v->region))
			return 0;
	if (!v->region)
		return 0;
	there = region_marks_list_paths(v, region_is_entered);
	kjoule_fail(err, ESRCH, "%s: --region %.100s: never entered in this recording; it has %s",
		    path, v->region, there ? there : "none");
	free(there);
	return -ESRCH;
}

char *region_marks_missing(const struct view *v)
{
	const struct kjoule_region_counters *b = &v->rec.end.regions;
	const struct kjoule_regions *r = v->regions;
	char *which, *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	if (r->unended) {
		which = region_marks_list_paths(v, region_is_unended);
		fprintf(f,
			"%" PRIu64
			" begun and not ended, when a thread, its program or the recording did: %s\n",
			r->unended, which ? which : "?");
		free(which);
	}
	if (r->unbegun)
		fprintf(f, "%" PRIu64 " ends without a begin\n", r->unbegun);
	if (r->lost || b->unfinished)
		fprintf(f,
			"%" PRIu64
			" marks lost: programs mark faster than record reads; times of unknown region are [marks lost]\n",
			r->lost + b->unfinished);
	if (r->left_out)
		fprintf(f,
			"%" PRIu64
			" left out, their time is with the one around: too deep, or too many different ones\n",
			r->left_out);
	if (b->refused)
		fprintf(f, "%u threads could mark none: there was no ring for them\n", b->refused);
	if (b->foreign)
		fprintf(f,
			"%u programs could mark none: they are in another namespace of processes or of time\n",
			b->foreign);
	if (b->unmapped)
		fprintf(f, "%u programs could mark none: they may not have so much address space\n",
			b->unmapped);
	if (r->damaged || b->damaged)
		fprintf(f, "%" PRIu64 " invalid marks of programs\n",
			r->damaged + b->damaged);
	if (fclose(f) || !len) {
		free(text);
		return NULL;
	}
	return text;
}
