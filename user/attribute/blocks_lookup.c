// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes, functions and the blocks of samples; see blocks_lookup.h. The conventions:
 *
 * - A process is a process id with a name; after an exec it is another one.
 * - What a thread did outside of the selected region is another process's, so that all of it still
 *   has its part of the energy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/blocks_lookup.h"
#include "lib/base/array.h"
#include "lib/base/hash_index.h"

#define KNOWN		64
#define STRETCHES	32768

/* Finds processes and functions by content; strings are the view's. */
struct blocks_index {
	struct kjoule_hash_index processes;
	uint32_t *slots;	/* function + 1 */
	uint32_t room;
	/* the process of a number and name, until the next event of any process */
	struct known_process {
		uint32_t tgid, process, layout;
		bool used;
	} known[KNOWN];
	uint64_t known_from, known_until;
	/* cache by address range: most samples hit few functions */
	struct code_range {
		uint64_t start;
		uint32_t len, process, layout, function;
	} stretches[STRETCHES][2];
	/* the same for one address, without a range */
	struct {
		uint64_t ip;
		uint32_t tgid;
		uint32_t process;
		uint32_t layout;
		uint32_t function;
		struct user_blocks_part *part;
		bool kernel, used;
	} cache[4096];
};

int blocks_process(struct blocks *b, const struct blocks_process *like, uint32_t *out)
{
	uint64_t hash = kjoule_hash_text(like->pid, like->comm);
	struct blocks_process *p;
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&b->index->processes, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE) {
		p = &b->processes[i];
		if (p->pid == like->pid && p->kind == like->kind && p->outside == like->outside &&
		    !strcmp(p->comm, like->comm)) {
			*out = i;
			return 0;
		}
	}
	if (kjoule_hash_index_add(&b->index->processes, hash, b->n_processes))
		return -ENOMEM;
	p = kjoule_array_grow(&b->processes, &b->n_processes, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = *like;
	*out = b->n_processes - 1;
	return 0;
}

static uint64_t lookup_hash_block(uint32_t process, const char *symbol, const char *object,
				  const struct code_unit *unit)
{
	uint64_t h = kjoule_hash_text(process ^ (uintptr_t)unit >> 4, "");

	for (; *symbol; symbol++)
		h = (h ^ (unsigned char)*symbol) * 0x100000001b3ull;
	for (; *object; object++)
		h = (h ^ (unsigned char)*object) * 0x100000001b3ull;
	return h ^ h >> 31;
}

static int lookup_grow_index(struct blocks *b)
{
	uint32_t room = b->index->room ? 2 * b->index->room : 1024;
	uint32_t *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_functions; i++) {
		const struct blocks_function *f = &b->functions[i];
		uint64_t at = lookup_hash_block(f->process, f->symbol, f->object, f->unit) &
			      (room - 1);

		while (slots[at])
			at = (at + 1) & (room - 1);
		slots[at] = i + 1;
	}
	free(b->index->slots);
	b->index->slots = slots;
	b->index->room = room;
	return 0;
}

int blocks_find(struct blocks *b, const struct blocks_function *like, uint32_t *out)
{
	struct blocks_function *f;
	uint64_t at;

	if (2 * (b->n_functions + 1) > b->index->room && lookup_grow_index(b))
		return -ENOMEM;
	at = lookup_hash_block(like->process, like->symbol, like->object, like->unit) &
	     (b->index->room - 1);
	while (b->index->slots[at]) {
		f = &b->functions[b->index->slots[at] - 1];
		if (f->process == like->process && f->unit == like->unit &&
		    !strcmp(f->symbol, like->symbol) && !strcmp(f->object, like->object)) {
			*out = b->index->slots[at] - 1;
			return 0;
		}
		at = (at + 1) & (b->index->room - 1);
	}
	f = kjoule_array_grow(&b->functions, &b->n_functions, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = *like;
	*out = b->n_functions - 1;
	b->index->slots[at] = b->n_functions;
	return 0;
}

int blocks_function(struct blocks *b, uint32_t process, const char *symbol, const char *object,
		    bool kernel, uint32_t *out)
{
	return blocks_find(b, &(struct blocks_function){ .process = process, .symbol = symbol,
							 .object = object, .kernel = kernel }, out);
}

bool blocks_process_is_outside(const struct blocks_process *p)
{
	return !p->pid && (p->kind == CPM_MARGINAL || !strcmp(p->comm, BLOCKS_PAUSED_CPUS));
}

/* A row for something that is no program, and so in no region. */
int blocks_pseudo(struct blocks *b, const char *name, enum cpm_kind kind, uint32_t *out)
{
	struct blocks_process like = { .comm = name, .kind = kind, .outside = true };
	uint32_t process;
	int ret = blocks_process(b, &like, &process);

	return ret ? ret : blocks_function(b, process, name, "", false, out);
}

/* Cached ranges of code, two for each 128 bytes: the last used comes first. */
static struct code_range *lookup_ranges_of(struct blocks *b, uint64_t ip, uint32_t process)
{
	uint64_t key = (ip >> 7 ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15ull;

	return b->index->stretches[key >> 49];
}

static bool lookup_range_has(const struct code_range *s, uint64_t ip, uint32_t process,
			     uint32_t layout)
{
	return ip - s->start < s->len && s->process == process && s->layout == layout;
}

/* Return: NULL if unknown */
static const struct code_range *lookup_find_range(struct blocks *b, uint64_t ip, uint32_t process,
					       uint32_t layout)
{
	const struct code_range *two = lookup_ranges_of(b, ip, process);

	return lookup_range_has(two, ip, process, layout) ||
	       lookup_range_has(++two, ip, process, layout) ? two : NULL;
}

static void lookup_keep_range(struct blocks *b, uint64_t ip, const struct code_range *code_range)
{
	struct code_range *two = lookup_ranges_of(b, ip, code_range->process);

	two[1] = two[0];
	two[0] = *code_range;
}

/* The block of an address of a process. */
static int lookup_find_block(struct blocks *b, struct view *v, const struct timeline_sample *s,
			     uint32_t process, uint32_t layout, uint32_t *out,
			     struct user_blocks_part **part)
{
	bool kernel = s->flags & KJOULE_SAMPLE_KERNEL;
	const struct code_unit *unit;
	struct view_place place;
	int ret;

	*part = NULL;
	view_resolve(v, s, &place);
	if (!b->units) {
		ret = blocks_function(b, process, place.symbol, place.object, kernel, out);
		if (!ret && place.same_len && place.same_len < UINT32_MAX)
			lookup_keep_range(b, s->ip,
					  &(struct code_range){ place.same_start, place.same_len,
							     process, layout, *out });
		return ret;
	}
	ret = code_units_find(b->units, &place, kernel, &unit, part);
	return ret ?
	       ret :
	       blocks_find(b, &(struct blocks_function){ .process = process, .symbol = unit->name,
							 .object = unit->object, .kernel = kernel,
							 .unit = unit }, out);
}

/* The units of regions, one for each path. */
static int lookup_make_regions(struct blocks *b, const struct view *v)
{
	const struct kjoule_regions *r = v->regions;

	b->regions = calloc(r->n_paths, sizeof(*b->regions));
	if (!b->regions)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_paths; i++)
		b->regions[i] = (struct code_unit){ .kind = CODE_UNIT_REGION,
						    .name = r->paths[i].text, .object = "",
						    .function = "", .depth = r->paths[i].depth };
	return 0;
}

static int lookup_find_region(struct blocks *b, const struct timeline_sample *s, uint32_t process,
			      uint32_t region, uint32_t *out)
{
	const struct code_unit *unit = &b->regions[region];
	int ret = blocks_find(b,
			      &(struct blocks_function){ .process = process, .symbol = unit->name,
							 .object = "", .unit = unit,
							 .region = region }, out);

	if (ret)
		return ret;
	b->functions[*out].samples++;
	b->functions[*out].precise += !!(s->flags & KJOULE_SAMPLE_PRECISE);
	return 0;
}

const struct kjoule_regions_count *blocks_marks(const struct blocks *b,
						const struct kjoule_regions *r, uint32_t function)
{
	const struct blocks_function *f = &b->functions[function];

	if (!f->unit || f->unit->kind != CODE_UNIT_REGION || f->region <= KJOULE_REGIONS_UNKNOWN)
		return NULL;
	return kjoule_regions_count(r, b->processes[f->process].pid, f->region);
}

/* The process of a sample, and what it had mapped then. */
static int lookup_find_process(struct blocks *b, const struct view *v,
			       const struct timeline_sample *s, uint64_t time_ns, bool outside,
			       uint32_t *process, uint32_t *layout)
{
	struct known_process *k = &b->index->known[s->tgid % KNOWN];
	struct blocks_process like = { .pid = s->tgid, .kind = CPM_BUSY, .outside = outside };
	int ret;

	if (time_ns < b->index->known_from || time_ns >= b->index->known_until) {
		memset(b->index->known, 0, sizeof(b->index->known));
		kjoule_maps_quiet(v->maps, time_ns, &b->index->known_from, &b->index->known_until);
	}
	if (k->used && k->tgid == s->tgid && !outside) {
		*process = k->process;
		*layout = k->layout;
		return 0;
	}
	*layout = kjoule_maps_layout(v->maps, s->tgid, time_ns);
	like.comm = view_comm(v, s->tgid, s->tgid, time_ns);
	if (s->tgid && s->tgid == v->rec.meta.recorder_pid)
		like.kind = CPM_MARGINAL;
	ret = blocks_process(b, &like, process);
	if (!ret && !outside)
		*k = (struct known_process){ s->tgid, *process, *layout, true };
	return ret;
}

int blocks_of_sample(struct blocks *b, struct view *v, const struct timeline_sample *s,
		     struct blocks_near *near, uint32_t *out)
{
	bool kernel = s->flags & KJOULE_SAMPLE_KERNEL, outside = false;
	uint64_t time_ns = view_time(v, s->tick, s->late_ns);
	uint32_t region = KJOULE_REGIONS_OUTSIDE;
	struct user_blocks_part *part;
	const struct code_range *code_range;
	uint32_t process, layout, slot;
	int ret;

	near->len = 0;
	if (s->flags & KJOULE_SAMPLE_IDLE)
		return blocks_pseudo(b, "[idle]", CPM_IDLE, out);
	if (v->region || b->regions)
		region = kjoule_regions_find(v->regions, s->pid, time_ns);
	if (v->region)
		outside = !kjoule_regions_inside(v->regions, region, v->region);
	ret = lookup_find_process(b, v, s, time_ns, outside, &process, &layout);
	if (ret)
		return ret;
	if (b->regions)
		return lookup_find_region(b, s, process, region, out);
	if (v->by_process) {
		ret = blocks_function(b, process, b->processes[process].comm, "", false, out);
		if (!ret) {
			b->functions[*out].samples++;
			b->functions[*out].precise += !!(s->flags & KJOULE_SAMPLE_PRECISE);
		}
		return ret;
	}
	slot = (s->ip ^ s->ip >> 12 ^ process) % 4096;
	code_range = kernel ? NULL : lookup_find_range(b, s->ip, process, layout);
	if (code_range) {
		*out = code_range->function;
		part = NULL;
		if (!v->region)
			*near = (struct blocks_near){ code_range->start, code_range->len,
						      b->index->known_from, b->index->known_until,
						      s->tgid, *out };
	} else if (b->index->cache[slot].used && b->index->cache[slot].ip == s->ip &&
	    b->index->cache[slot].process == process && b->index->cache[slot].layout == layout &&
	    b->index->cache[slot].kernel == kernel &&
	    s->ip) {
		*out = b->index->cache[slot].function;
		part = b->index->cache[slot].part;
	} else {
		ret = lookup_find_block(b, v, s, process, layout, out, &part);
		if (ret)
			return ret;
		b->index->cache[slot].part = part;
		b->index->cache[slot].used = true;
		b->index->cache[slot].ip = s->ip;
		b->index->cache[slot].process = process;
		b->index->cache[slot].layout = layout;
		b->index->cache[slot].kernel = kernel;
		b->index->cache[slot].function = *out;
	}
	if (part && !outside)
		part->samples++;
	b->functions[*out].samples++;
	b->functions[*out].precise += !!(s->flags & KJOULE_SAMPLE_PRECISE);
	return 0;
}

/* Rebuild both by new numbers. */
static int lookup_rebuild_index(struct blocks *b)
{
	struct blocks_index *index = b->index;
	int ret;

	kjoule_hash_index_free(&index->processes);
	memset(index->known, 0, sizeof(index->known));
	memset(index->stretches, 0, sizeof(index->stretches));
	memset(index->cache, 0, sizeof(index->cache));
	index->room /= 2;
	ret = lookup_grow_index(b);
	for (size_t i = 0; i < b->n_processes && !ret; i++)
		ret = kjoule_hash_index_add(&index->processes,
				       kjoule_hash_text(b->processes[i].pid, b->processes[i].comm),
				       i);
	return ret;
}

int blocks_reorder(struct blocks *b, const uint32_t *to)
{
	struct blocks_function *functions = malloc((b->n_functions + 1) * sizeof(*functions));
	struct blocks_process *processes = malloc((b->n_processes + 1) * sizeof(*processes));
	uint32_t *of = malloc((b->n_processes + 1) * sizeof(*of)), n = 0;
	int ret = functions && processes && of ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->n_functions && !ret; i++)
		functions[to[i]] = b->functions[i];
	for (size_t i = 0; i < b->n_processes && !ret; i++) {
		processes[i] = b->processes[i];
		of[i] = UINT32_MAX;
	}
	for (size_t i = 0; i < b->n_functions && !ret; i++) {
		uint32_t process = functions[i].process;

		if (of[process] == UINT32_MAX) {
			of[process] = n;
			b->processes[n++] = processes[process];
		}
		b->functions[i] = functions[i];
		b->functions[i].process = of[process];
	}
	free(functions);
	free(processes);
	free(of);
	return ret ? ret : lookup_rebuild_index(b);
}

int blocks_lookup_init(struct blocks *b, const struct view *v)
{
	b->index = calloc(1, sizeof(*b->index));
	if (!b->index)
		return -ENOMEM;
	return v && v->by_region ? lookup_make_regions(b, v) : 0;
}

void blocks_lookup_exit(struct blocks *b)
{
	if (b->index) {
		kjoule_hash_index_free(&b->index->processes);
		free(b->index->slots);
	}
	free(b->index);
	free(b->regions);
}
