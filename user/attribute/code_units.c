// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Units of code; see code_units.h. Called by blocks_lookup.c for each sampled address, so results
 * are cached: units by address, control flow by function.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/flow/flow.h"
#include "attribute/code_units.h"
#include "lib/base/array.h"

/* A larger function is none; and so many bytes of all functions together are decoded. */
#define DECODE_MOST	(1u << 18)
#define DECODE_MOST_ALL	(64u << 20)

struct address {
	uint64_t address;
	const char *symbol;		/* the view's */
	struct code_unit *unit;
	struct user_blocks_part *part;
};

struct function {
	uint64_t start, end;
	struct flow flow;		/* without blocks: it could not be decoded */
};

struct object {
	char *path;
	struct kjoule_code *code;	/* NULL: there is no file */
	size_t n_addresses, n_functions;
	struct address *addresses;
	struct function **functions;	/* allocated one by one: their flow is handed out */
	struct kjoule_hash_index by_address, by_start;
};

struct code_units {
	enum code_unit_kind kind;
	struct user_blocks *named;
	bool lines;			/* are requested */
	size_t n_objects, n_units;
	struct object *objects;
	struct code_unit **units;
	struct kjoule_hash_index by_path, by_name;
	uint64_t decoded;
};

/* What is being looked up. */
struct lookup {
	struct code_units *g;
	struct object *o;
	const struct view_place *place;
	struct kjoule_line lines[KJOULE_LINES_MOST];
	size_t n_lines;
};

static const char *unit_object_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && path[0] == '/' ? slash + 1 : path;
}

static bool unit_text_is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Code of the same name may be at several places: static functions, clones, files of one name. */
static bool unit_place_is_same(const struct code_unit *a, const struct code_unit *b)
{
	return a->start == b->start && a->end == b->end && a->around == b->around &&
	       a->line == b->line && a->outer_line == b->outer_line && a->miss == b->miss &&
	       unit_text_is_same(a->file, b->file) &&
	       unit_text_is_same(a->outer_file, b->outer_file);
}

/* The unit of a name and place in an object, made if necessary; takes @name. */
static int unit_find_or_add(struct code_units *g, char *name, const struct code_unit *like,
			    struct code_unit **out)
{
	uint64_t hash = kjoule_hash_text(kjoule_hash_text(like->kind, like->object),
					 name ? name : "");
	struct code_unit *unit, **slot;
	size_t probe = 0;
	uint32_t i;

	if (!name)
		return -ENOMEM;
	while ((i = kjoule_hash_index_next(&g->by_name, hash, &probe)) != KJOULE_HASH_INDEX_NONE) {
		unit = g->units[i];
		if (unit->kind == like->kind && !strcmp(unit->name, name) &&
		    !strcmp(unit->object, like->object) && unit_place_is_same(unit, like)) {
			free(name);
			*out = unit;
			return 0;
		}
	}
	unit = malloc(sizeof(*unit));
	if (!unit || kjoule_hash_index_add(&g->by_name, hash, g->n_units)) {
		free(unit);
		free(name);
		return -ENOMEM;
	}
	slot = kjoule_array_grow(&g->units, &g->n_units, sizeof(*slot));
	if (!slot) {
		free(unit);
		free(name);
		return -ENOMEM;
	}
	*unit = *like;
	unit->name = name;
	*slot = *out = unit;
	return 0;
}

static char *unit_format_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *unit_format_text(const char *fmt, ...)
{
	char *text;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

/* The whole function, if there is nothing finer. */
static int unit_of_function(struct lookup *l, enum code_unit_miss why, struct code_unit **unit)
{
	struct code_unit like = { .kind = CODE_UNIT_FUNCTION, .object = l->place->object,
				   .function = l->place->symbol, .start = l->place->start,
				   .end = l->place->end,
				   .around = l->place->start, .around_end = l->place->end,
				   .miss = why };

	return unit_find_or_add(l->g, strdup(l->place->symbol), &like, unit);
}

static int unit_of_object(struct lookup *l, struct code_unit **unit)
{
	struct code_unit like = { .kind = CODE_UNIT_OBJECT, .object = l->place->object,
				  .function = "" };

	return unit_find_or_add(l->g, strdup(unit_object_name(l->place->object)), &like, unit);
}

/* "a.c:12 inner <- a.c:30 outer": what was inlined, and where it was called. */
static int unit_of_line(struct lookup *l, struct code_unit **unit)
{
	struct code_unit like = { .kind = CODE_UNIT_LINE, .object = l->place->object,
				  .function = l->place->symbol, .around = l->place->start,
				  .around_end = l->place->end };
	char *text = NULL;
	size_t len;
	FILE *f;

	if (!l->n_lines || !l->lines[0].file)
		return unit_of_function(l, CODE_UNIT_NO_LINES, unit);
	like.file = l->lines[0].file;
	like.line = l->lines[0].line;
	like.outer_file = l->lines[l->n_lines - 1].file;
	like.outer_line = l->lines[l->n_lines - 1].line;
	f = open_memstream(&text, &len);
	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_lines; i++) {
		const struct kjoule_line *line = &l->lines[i];
		const char *function = line->function;

		if (i + 1 == l->n_lines && !function)
			function = l->place->symbol;
		fprintf(f, "%s%s:%u%s%s", i ? " <- " : "",
			line->file ? basename(line->file) : "?", line->line,
			function ? " " : "", function ? function : "");
	}
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	return unit_find_or_add(l->g, text, &like, unit);
}

/* The instructions of a function; the caller's to free. None, without an error, if unavailable. */
static int unit_decode_function(struct object *o, uint64_t start, uint64_t end,
				struct kjoule_insn **insns, size_t *n)
{
	const void *bytes;
	size_t len;
	int ret;

	*insns = NULL;
	*n = 0;
	bytes = kjoule_code_bytes(o->code, start, &len);
	if (!bytes || end - start > DECODE_MOST)
		return 0;
	if (len > end - start)
		len = end - start;
	ret = kjoule_disassemble(bytes, len, kjoule_code_machine(o->code), start, insns, n);
	return ret == -EOPNOTSUPP ? 0 : ret;
}

static int unit_find_function(struct code_units *g, struct object *o, uint64_t start, uint64_t end,
			      struct function **out)
{
	uint64_t hash = kjoule_hash_text(start, "");
	struct kjoule_insn *insns;
	struct function *f, **slot;
	size_t probe = 0, n;
	uint32_t i;
	int ret;

	while ((i = kjoule_hash_index_next(&o->by_start, hash, &probe)) != KJOULE_HASH_INDEX_NONE) {
		*out = o->functions[i];
		if ((*out)->start == start && (*out)->end == end)
			return 0;
	}
	if (kjoule_hash_index_add(&o->by_start, hash, o->n_functions))
		return -ENOMEM;
	f = calloc(1, sizeof(*f));
	slot = f ? kjoule_array_grow(&o->functions, &o->n_functions, sizeof(*slot)) : NULL;
	if (!slot) {
		free(f);
		return -ENOMEM;
	}
	*slot = f;
	f->start = start;
	f->end = end;
	*out = f;
	if (end - start > DECODE_MOST || end - start > DECODE_MOST_ALL - g->decoded)
		return 0;
	g->decoded += end - start;
	ret = unit_decode_function(o, start, end, &insns, &n);
	if (!ret)
		ret = flow_new(insns, n, &f->flow);
	free(insns);
	return ret;
}

/* " a.c:12", or nothing: where an address comes from. */
static char *unit_format_line(struct lookup *l, uint64_t address, struct code_unit *like)
{
	struct kjoule_line line;

	if (!kjoule_code_line(l->o->code, address, &line) || !line.file)
		return strdup("");
	like->file = line.file;
	like->line = line.line;
	return unit_format_text(" %s:%u", basename(line.file), line.line);
}

static int unit_of_flow(struct lookup *l, struct code_unit **unit)
{
	struct code_unit like = { .kind = l->g->kind, .object = l->place->object,
				  .function = l->place->symbol, .around = l->place->start,
				  .around_end = l->place->end };
	const struct view_place *p = l->place;
	const struct flow_loop *loop = NULL;
	struct function *f;
	uint32_t block;
	char *at, *name;
	int ret;

	if (!p->start)
		return unit_of_function(l, CODE_UNIT_NO_SYMBOL, unit);
	ret = unit_find_function(l->g, l->o, p->start, p->end, &f);
	if (ret)
		return ret;
	block = flow_block_at(&f->flow, p->address);
	if (block == FLOW_NONE)
		return unit_of_function(l, CODE_UNIT_NO_CODE, unit);
	like.start = f->flow.blocks[block].start;
	like.end = f->flow.blocks[block].end;
	if (like.kind == CODE_UNIT_LOOP) {
		if (f->flow.blocks[block].loop == FLOW_NONE) {
			like.start = like.end = 0;
			return unit_find_or_add(l->g,
						unit_format_text("%s, outside of loops", p->symbol),
						&like, unit);
		}
		loop = &f->flow.loops[f->flow.blocks[block].loop];
		like.start = loop->start;
		like.end = loop->end;
		like.depth = loop->depth;
	}
	at = unit_format_line(l, loop ? f->flow.blocks[loop->header].start : like.start, &like);
	if (!at)
		return -ENOMEM;
	name = unit_format_text("%s+0x%" PRIx64 "..0x%" PRIx64 "%s%s", p->symbol,
				like.start - p->start, like.end - p->start,
				loop ? " loop" : "", at);
	free(at);
	return unit_find_or_add(l->g, name, &like, unit);
}

static int unit_of_address(struct lookup *l, struct address *a)
{
	struct code_units *g = l->g;
	struct user_blocks_code code = { l->place->object, l->place->symbol, l->place->address,
					 l->lines, 0 };
	struct user_block *block = NULL;

	if (l->o->code && g->lines)
		l->n_lines = kjoule_code_lines(l->o->code, l->place->address, l->lines);
	code.n_lines = l->n_lines;
	if (g->named)
		block = user_blocks_find(g->named, &code, &a->part);
	if (block) {
		struct code_unit like = { .kind = CODE_UNIT_NAMED, .object = "", .function = "" };

		return unit_find_or_add(g, strdup(block->name), &like, &a->unit);
	}
	if (g->kind == CODE_UNIT_OBJECT)
		return unit_of_object(l, &a->unit);
	if (g->kind == CODE_UNIT_FUNCTION)
		return unit_of_function(l, CODE_UNIT_HIT, &a->unit);
	if (!l->o->code)
		return unit_of_function(l, CODE_UNIT_NO_FILE, &a->unit);
	return g->kind == CODE_UNIT_LINE ? unit_of_line(l, &a->unit) : unit_of_flow(l, &a->unit);
}

static struct object *unit_object_find(struct code_units *g, const char *name, bool kernel)
{
	uint64_t hash = kjoule_hash_text(kernel, name);
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&g->by_path, hash, &probe)) != KJOULE_HASH_INDEX_NONE)
		if (!strcmp(g->objects[i].path, name))
			return &g->objects[i];
	return NULL;
}

int code_units_code(struct code_units *g, const char *object, uint64_t start, uint64_t end,
		    struct code_units_code *code)
{
	struct object *o = unit_object_find(g, object, false);
	struct function *f;
	int ret;

	if (!o || !o->code || !start)
		return -ENODATA;
	*code = (struct code_units_code){ .file = o->code };
	ret = unit_find_function(g, o, start, end, &f);
	if (!ret && f->flow.n_blocks)
		ret = unit_decode_function(o, start, end, &code->insns, &code->n_insns);
	code->flow = ret ? NULL : &f->flow;
	return ret ? ret : code->n_insns ? 0 : -ENODATA;
}

static int unit_find_object(struct code_units *g, const struct view_place *place, bool kernel,
			    struct object **out)
{
	struct object *o;
	char *path;

	*out = unit_object_find(g, place->object, kernel);
	if (*out)
		return 0;
	path = strdup(place->object);
	if (!path || kjoule_hash_index_add(&g->by_path, kjoule_hash_text(kernel, place->object),
					   g->n_objects)) {
		free(path);
		return -ENOMEM;
	}
	o = kjoule_array_grow(&g->objects, &g->n_objects, sizeof(*o));
	if (!o) {
		kjoule_hash_index_free(&g->by_path);
		free(path);
		return -ENOMEM;
	}
	o->path = path;
	*out = o;
	/* a file that the view has refused has no addresses */
	if (!kernel && place->file && kjoule_code_open(place->file, &o->code) == -ENOMEM)
		return -ENOMEM;
	return 0;
}

int code_units_find(struct code_units *g, const struct view_place *place, bool kernel,
		    const struct code_unit **unit, struct user_blocks_part **part)
{
	struct lookup l = { .g = g, .place = place };
	/*
	 * without an address all of a function is one; the kernel's are known by their names only
	 */
	uint64_t key = place->address, hash;
	struct address found = { .address = key, .symbol = place->symbol }, *a;
	size_t probe = 0;
	uint32_t i;
	int ret;

	ret = unit_find_object(g, place, kernel, &l.o);
	if (ret)
		return ret;
	hash = kjoule_hash_text(key, key ? "" : place->symbol);
	while ((i = kjoule_hash_index_next(&l.o->by_address, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE) {
		a = &l.o->addresses[i];
		if (a->address == key && (key || !strcmp(a->symbol, place->symbol)))
			goto out;
	}
	ret = unit_of_address(&l, &found);
	if (ret)
		return ret;
	if (kjoule_hash_index_add(&l.o->by_address, hash, l.o->n_addresses))
		return -ENOMEM;
	a = kjoule_array_grow(&l.o->addresses, &l.o->n_addresses, sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = found;
out:
	*unit = a->unit;
	*part = a->part;
	return 0;
}

int code_units_new(enum code_unit_kind kind, struct user_blocks *named, struct code_units **out)
{
	struct code_units *g = calloc(1, sizeof(*g));

	*out = g;
	if (!g)
		return -ENOMEM;
	g->kind = kind;
	g->named = named && named->n ? named : NULL;
	g->lines = kind == CODE_UNIT_LINE || (g->named && user_blocks_needs_lines(g->named));
	return 0;
}

void code_units_free(struct code_units *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n_objects; i++) {
		struct object *o = &g->objects[i];

		for (size_t k = 0; k < o->n_functions; k++) {
			flow_free(&o->functions[k]->flow);
			free(o->functions[k]);
		}
		kjoule_hash_index_free(&o->by_address);
		kjoule_hash_index_free(&o->by_start);
		kjoule_code_close(o->code);
		free(o->addresses);
		free(o->functions);
		free(o->path);
	}
	for (size_t i = 0; i < g->n_units; i++) {
		free((char *)g->units[i]->name);
		free(g->units[i]);
	}
	kjoule_hash_index_free(&g->by_path);
	kjoule_hash_index_free(&g->by_name);
	free(g->objects);
	free(g->units);
	free(g);
}
