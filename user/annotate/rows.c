// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows of an annotated function; see annotate.h. Figures are those of basic blocks or of lines;
 * a single instruction has samples only, since energy is not known so finely.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/annotate.h"
#include "attribute/groups.h"
#include "attribute/source_text.h"
#include "lib/base/array.h"
#include "lib/code/demangle.h"

/* More lines in a row that no code was made from are left out. */
#define GAP_MOST	40

/* A unit of a function that was sampled; units of several processes may be one. */
struct piece {
	uint32_t function;		/* index into found */
	uint64_t start;			/* of a block */
	const char *file;		/* of a line */
	unsigned int line;		/* neither: of the function, but it is not known where */
};

struct found {
	const char *name, *object;
	uint64_t start, end;
	bool wanted;
	struct code_units_code code;
	/* by byte of the function; NULL: there is no code to be shown */
	uint64_t *samples;
	uint64_t precise;
};

struct making {
	struct view *v;
	struct blocks *b;
	const struct profile *p;
	const struct annotate_options *opt;
	struct annotate *a;
	struct kjoule_hash_index by_name, by_piece;
	size_t n_found, n_pieces;
	struct found *found;
	struct piece *pieces;
	uint32_t *function_of, *piece_of;	/* for each of the blocks */
	struct profile_group *functions, *figures;
	struct source_text text;
};

static bool annotate_block_is_wanted(const struct making *m, uint32_t block)
{
	const struct blocks_process *p = &m->b->processes[m->b->functions[block].process];

	return !p->outside && (!m->opt->pid || p->pid == m->opt->pid) &&
	       (!m->opt->comm || !strcmp(p->comm, m->opt->comm));
}

/* UINT32_MAX: there is none such. */
static uint32_t annotate_function_at(const struct making *m, uint64_t start, const char *object,
				     const char *name)
{
	uint64_t hash = kjoule_hash_text(kjoule_hash_text(start, object), name);
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&m->by_name, hash, &probe)) != KJOULE_HASH_INDEX_NONE) {
		const struct found *f = &m->found[i];

		if (f->start == start && !strcmp(f->name, name) && !strcmp(f->object, object))
			return i;
	}
	return UINT32_MAX;
}

static int annotate_find_function(struct making *m, const struct code_unit *u, uint32_t *out)
{
	struct found *f;

	*out = annotate_function_at(m, u->around, u->object, u->function);
	if (*out != UINT32_MAX)
		return 0;
	*out = m->n_found;
	if (kjoule_hash_index_add(&m->by_name,
				  kjoule_hash_text(kjoule_hash_text(u->around, u->object),
						   u->function),
			     m->n_found))
		return -ENOMEM;
	f = kjoule_array_grow(&m->found, &m->n_found, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct found){ .name = u->function, .object = u->object, .start = u->around,
			     .end = u->around_end };
	return 0;
}

static uint64_t piece_hash(uint32_t function, uint64_t start, const char *file, unsigned int line)
{
	return kjoule_hash_text((uint64_t)function << 32 ^ start ^ (uint64_t)line << 20, file);
}

/* UINT32_MAX: it was not sampled. */
static uint32_t piece_at(const struct making *m, uint32_t function, uint64_t start,
			 const char *file, unsigned int line)
{
	uint64_t hash = piece_hash(function, start, file, line);
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&m->by_piece, hash, &probe)) != KJOULE_HASH_INDEX_NONE) {
		const struct piece *p = &m->pieces[i];

		if (p->function == function && p->start == start && p->line == line &&
		    !strcmp(p->file, file))
			return i;
	}
	return UINT32_MAX;
}

static int piece_find_or_add(struct making *m, const struct code_unit *u, uint32_t function,
			     uint32_t *out)
{
	bool line = u->kind == CODE_UNIT_LINE && u->outer_file && u->outer_line;
	struct piece like =
		{ .function = function, .start = u->kind == CODE_UNIT_BLOCK ? u->start : 0,
		  .file = line ? u->outer_file : "", .line = line ? u->outer_line : 0 };
	struct piece *p;

	*out = piece_at(m, function, like.start, like.file, like.line);
	if (*out != UINT32_MAX)
		return 0;
	*out = m->n_pieces;
	if (kjoule_hash_index_add(&m->by_piece,
				  piece_hash(function, like.start, like.file, like.line),
				  m->n_pieces))
		return -ENOMEM;
	p = kjoule_array_grow(&m->pieces, &m->n_pieces, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = like;
	return 0;
}

static int annotate_assign_blocks(struct making *m)
{
	int ret = 0;

	m->function_of = malloc((m->b->n_functions + 1) * sizeof(*m->function_of));
	m->piece_of = malloc((m->b->n_functions + 1) * sizeof(*m->piece_of));
	if (!m->function_of || !m->piece_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->b->n_functions && !ret; i++) {
		const struct blocks_function *f = &m->b->functions[i];

		m->function_of[i] = m->piece_of[i] = UINT32_MAX;
		if (!f->unit || !annotate_block_is_wanted(m, i))
			continue;
		ret = annotate_find_function(m, f->unit, &m->function_of[i]);
		if (!ret)
			ret = piece_find_or_add(m, f->unit, m->function_of[i], &m->piece_of[i]);
		if (!ret)
			m->found[m->function_of[i]].precise += f->precise;
	}
	return ret;
}

static int annotate_compute_figures(struct making *m)
{
	uint32_t *all = calloc(m->b->n_functions + 1, sizeof(*all));
	int ret = -ENOMEM;

	m->functions = calloc(m->n_found + 1, sizeof(*m->functions));
	m->figures = calloc(m->n_pieces + 1, sizeof(*m->figures));
	if (all && m->functions && m->figures) {
		for (uint32_t i = 0; i < m->b->n_functions; i++)
			all[i] = blocks_is_unattributed(m->b, i) || i == m->b->recorder ||
				 i == m->b->paused ? UINT32_MAX : 0;
		ret = profile_groups(m->p, all, 1, &m->a->total);
	}
	free(all);
	if (!ret)
		ret = profile_groups(m->p, m->function_of, m->n_found, m->functions);
	if (!ret)
		ret = profile_groups(m->p, m->piece_of, m->n_pieces, m->figures);
	for (size_t i = 0; i < m->n_found && !ret; i++)
		profile_net(&m->functions[i], m->b->n_domains);
	for (size_t i = 0; i < m->n_pieces && !ret; i++)
		profile_net(&m->figures[i], m->b->n_domains);
	return ret;
}

static double annotate_group_weight(const struct making *m, const struct profile_group *g)
{
	return groups_weight(g, &m->a->total, m->b->n_domains, m->b->shown_first);
}

/* Which functions are shown, and room to count their samples in where there is code to be shown. */
static int annotate_choose_functions(struct making *m)
{
	double limit = annotate_group_weight(m, &m->a->total) * m->opt->percent_limit / 100;
	int ret = 0;

	for (size_t i = 0; i < m->n_found && !ret; i++) {
		struct found *f = &m->found[i];

		/* the kernel's code is shown where it is asked for, to say that there is none */
		if (m->opt->function ? !kjoule_name_is(f->name, m->opt->function) :
		    !f->start || annotate_group_weight(m, &m->functions[i]) < limit) {
			m->a->hidden += m->functions[i].samples > 0;
			continue;
		}
		f->wanted = true;
		ret = code_units_code(m->b->units, f->object, f->start, f->end, &f->code);
		if (ret == -ENODATA) {
			ret = 0;
			continue;
		}
		if (!ret)
			f->samples = calloc(f->end - f->start + 1, sizeof(*f->samples));
		if (!f->samples)
			ret = -ENOMEM;
	}
	return ret;
}

static bool annotate_sample_is_wanted(const struct making *m, const struct timeline_sample *s)
{
	if (m->opt->pid && s->tgid != m->opt->pid)
		return false;
	if (m->v->region) {
		uint64_t ns = view_time(m->v, s->tick, s->late_ns);

		if (!kjoule_regions_inside(m->v->regions,
					   kjoule_regions_find(m->v->regions, s->pid, ns),
					   m->v->region))
			return false;
	}
	return !m->opt->comm ||
	       !strcmp(view_comm(m->v, s->tgid, s->tgid, view_time(m->v, s->tick, s->late_ns)),
		       m->opt->comm);
}

/* Of the instruction that was sampled; NULL: it is in none of the functions. */
static uint64_t *annotate_counter_of(struct making *m, const struct timeline_sample *s)
{
	struct view_place place;
	struct found *f;
	uint32_t i;

	view_resolve(m->v, s, &place);
	i = place.start ? annotate_function_at(m, place.start, place.object, place.symbol) :
			  UINT32_MAX;
	if (i == UINT32_MAX)
		return NULL;
	f = &m->found[i];
	return f->samples && place.address < f->end ? &f->samples[place.address - f->start] : NULL;
}

/*
 * Samples by instruction. What an address belongs to is remembered: most samples hit few of them.
 */
static int annotate_count_samples(struct making *m)
{
	enum { SLOTS = 4096 };
	struct {
		uint64_t ip;
		uint32_t pid, layout;
		bool used;
		uint64_t *counter;
	} *seen = calloc(SLOTS, sizeof(*seen));
	uint64_t nobody = 0;
	int ret = seen ? 0 : -ENOMEM;

	for (size_t c = 0; c < m->v->tl.n_cpus && !ret; c++) {
		const struct edge_windows_cpu *holds = &m->b->windows.cpus[c];
		const struct timeline_sample *s;
		struct view_samples *samples;
		uint64_t next = 0;
		size_t hold = 0;

		ret = view_samples_open(m->v, c, &samples);
		while (!ret && (ret = view_samples_next(samples, &s)) > 0) {
			size_t slot = (s->ip ^ s->ip >> 12 ^ s->tgid) % SLOTS;
			uint32_t layout;

			ret = 0;
			if (s->tick < next)
				continue;	/* a tick has one sample */
			next = s->tick + 1;
			if (holds->n &&
			    edge_windows_is_paused(holds, timeline_due(&m->v->rec.meta.session,
								       s->tick), &hold))
				continue;	/* the tick is the hold's, and so is the sample */
			if (s->flags & (KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_IDLE) ||
			    !annotate_sample_is_wanted(m, s))
				continue;
			layout = kjoule_maps_layout(m->v->maps, s->tgid,
						    view_time(m->v, s->tick, s->late_ns));
			if (!seen[slot].used || seen[slot].ip != s->ip ||
			    seen[slot].pid != s->tgid || seen[slot].layout != layout) {
				seen[slot].used = true;
				seen[slot].layout = layout;
				seen[slot].ip = s->ip;
				seen[slot].pid = s->tgid;
				seen[slot].counter = annotate_counter_of(m, s);
			}
			++*(seen[slot].counter ? seen[slot].counter : &nobody);
		}
		view_samples_close(samples);
	}
	free(seen);
	return ret;
}

static struct annotate_row *annotate_add_row(struct annotate_function *f, enum annotate_kind kind)
{
	struct annotate_row *row = kjoule_array_grow(&f->rows, &f->n_rows, sizeof(*row));

	if (row)
		row->kind = kind;
	return row;
}

static int annotate_note_missing(struct annotate *a, const char *path)
{
	char **slot;

	for (size_t i = 0; i < a->n_missing; i++)
		if (!strcmp(a->missing[i], path))
			return 0;
	slot = kjoule_array_grow(&a->missing, &a->n_missing, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	*slot = strdup(path);
	if (*slot)
		return 0;
	a->n_missing--;
	return -ENOMEM;
}

/* A line of source, with its text where the file is there. */
static int annotate_add_line(struct making *m, struct annotate_function *f, enum annotate_kind kind,
			     const struct code_units_code *code, const char *file,
			     unsigned int line, struct annotate_row **out)
{
	const struct source_file *source =
		source_text_file(&m->text, file, kjoule_code_owner(code->file));
	struct annotate_row *row = annotate_add_row(f, kind);
	const char *text;

	if (!source || !row)
		return -ENOMEM;
	*out = row;
	row->file = file;
	row->line = line;
	text = source_text_line(source, line);
	row->text = strdup(text ? text : "");
	if (!row->text)
		return -ENOMEM;
	return source->lines ? 0 : annotate_note_missing(m->a, file);
}

static void annotate_set_figures(const struct making *m, struct annotate_row *row, uint32_t piece)
{
	if (piece == UINT32_MAX)
		return;
	row->has = m->figures[piece].samples;
	row->g = m->figures[piece];
}

static int annotate_add_instruction(const struct making *m, struct annotate_function *f,
				    const struct code_units_code *code,
				    const struct kjoule_insn *insn, uint32_t function)
{
	struct annotate_row *row = annotate_add_row(f, ANNOTATE_INSTRUCTION);
	char text[KJOULE_INSN_TEXT];
	const void *bytes;
	size_t len;

	if (!row)
		return -ENOMEM;
	row->address = insn->address;
	for (unsigned int i = 0; i < insn->size && insn->address + i < f->end; i++)
		row->samples += m->found[function].samples[insn->address + i - f->start];
	bytes = kjoule_code_bytes(code->file, insn->address, &len);
	if (!bytes || kjoule_disassemble_text(bytes, len, kjoule_code_machine(code->file),
					      insn->address, text) <= 0)
		strcpy(text, "(no instruction)");
	row->text = strdup(text);
	return row->text ? 0 : -ENOMEM;
}

/* Blocks in the order of their addresses, the source above what it became. */
static int annotate_add_blocks(struct making *m, struct annotate_function *f, uint32_t function,
			       const struct code_units_code *code)
{
	const char *file = NULL;
	unsigned int line = 0;
	uint32_t block = FLOW_NONE;
	int ret = 0;

	for (size_t i = 0; i < code->n_insns && !ret; i++) {
		const struct kjoule_insn *insn = &code->insns[i];
		uint32_t at = flow_block_at(code->flow, insn->address);
		struct annotate_row *row;
		struct kjoule_line in_source;

		if (at != block) {
			const struct flow_block *in = &code->flow->blocks[at];

			block = at;
			row = annotate_add_row(f, ANNOTATE_BLOCK);
			if (!row)
				return -ENOMEM;
			row->address = in->start;
			row->depth = in->loop == FLOW_NONE ? 0 : code->flow->loops[in->loop].depth;
			annotate_set_figures(m, row, piece_at(m, function, in->start, "", 0));
		}
		if (m->opt->source && kjoule_code_line(code->file, insn->address, &in_source) &&
		    in_source.file && in_source.line &&
		    (in_source.line != line || in_source.file != file)) {
			file = in_source.file;
			line = in_source.line;
			ret = annotate_add_line(m, f, ANNOTATE_SOURCE, code, file, line, &row);
		}
		if (!ret)
			ret = annotate_add_instruction(m, f, code, insn, function);
	}
	return ret;
}

struct outer {
	const char *file;
	unsigned int line;
};

static int outer_line_by_place(const void *a, const void *b)
{
	const struct outer *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	return c ? c : (x->line > y->line) - (x->line < y->line);
}

/*
 * Lines that code was made from, and those between where there is a text and no large gap. What was
 * sampled and has no line comes last: figures of the lines are to add up to the function's.
 */
static int annotate_add_lines(struct making *m, struct annotate_function *f, uint32_t function,
			      const struct code_units_code *code)
{
	struct outer *lines = NULL, *slot;
	uint32_t rest;
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; i < code->n_insns && !ret; i++) {
		struct kjoule_line at[KJOULE_LINES_MOST];
		size_t depth = kjoule_code_lines(code->file, code->insns[i].address, at);

		if (!depth || !at[depth - 1].file || !at[depth - 1].line)
			continue;
		slot = kjoule_array_grow(&lines, &n, sizeof(*slot));
		if (!slot)
			ret = -ENOMEM;
		else
			*slot = (struct outer){ at[depth - 1].file, at[depth - 1].line };
	}
	if (!ret && !n)
		f->miss = ANNOTATE_NO_LINES;
	if (n)
		qsort(lines, n, sizeof(*lines), outer_line_by_place);
	for (size_t i = 0; i < n && !ret; i++) {
		unsigned int next = i + 1 < n && !strcmp(lines[i + 1].file, lines[i].file) ?
				    lines[i + 1].line :
				    lines[i].line + 1;
		const struct source_file *source = source_text_file(&m->text, lines[i].file,
								     kjoule_code_owner(code->file));

		for (unsigned int line = lines[i].line; line < next && !ret; line++) {
			struct annotate_row *row;

			/* what no code was made from is shown where there is a text to be shown */
			if (line > lines[i].line &&
			    (next - lines[i].line > GAP_MOST || !source || !source->lines))
				break;
			ret = annotate_add_line(m, f, ANNOTATE_LINE, code, lines[i].file, line,
						&row);
			if (!ret)
				annotate_set_figures(m, row,
						     piece_at(m, function, 0, lines[i].file, line));
		}
	}
	free(lines);
	rest = piece_at(m, function, 0, "", 0);
	if (!ret && !f->miss && rest != UINT32_MAX && m->figures[rest].samples) {
		struct annotate_row *row = annotate_add_row(f, ANNOTATE_LINE);

		if (!row)
			return -ENOMEM;
		row->text = strdup("(no line)");
		if (!row->text)
			return -ENOMEM;
		annotate_set_figures(m, row, rest);
	}
	return ret;
}

static int annotate_make_function(struct making *m, uint32_t i)
{
	struct annotate_function *f = kjoule_array_grow(&m->a->functions, &m->a->n, sizeof(*f));
	const struct found *from = &m->found[i];

	if (!f)
		return -ENOMEM;
	*f = (struct annotate_function){ .name = from->name, .object = from->object,
					 .start = from->start, .end = from->end,
					 .g = m->functions[i], .precise = from->precise };
	f->samples = f->g.samples;
	if (!from->samples) {
		f->miss = ANNOTATE_NO_CODE;
		return 0;
	}
	return m->opt->lines ? annotate_add_lines(m, f, i, &from->code) :
			       annotate_add_blocks(m, f, i, &from->code);
}

static const struct making *sort_by;

static int annotate_function_by_weight(const void *a, const void *b)
{
	double x = annotate_group_weight(sort_by, &((const struct annotate_function *)a)->g);
	double y = annotate_group_weight(sort_by, &((const struct annotate_function *)b)->g);
	const struct annotate_function *f = a, *g = b;
	int c = strcmp(f->name, g->name);

	if (x != y)
		return x < y ? 1 : -1;
	return c ? c : (f->start > g->start) - (f->start < g->start);
}

int annotate_new(struct view *v, struct blocks *b, const struct profile *p,
		 const struct annotate_options *opt, struct annotate *a)
{
	struct making m = { .v = v, .b = b, .p = p, .opt = opt, .a = a };
	int ret;

	memset(a, 0, sizeof(*a));
	ret = annotate_assign_blocks(&m);
	if (!ret)
		ret = annotate_compute_figures(&m);
	if (!ret)
		ret = annotate_choose_functions(&m);
	if (!ret)
		ret = annotate_count_samples(&m);
	for (uint32_t i = 0; i < m.n_found && !ret; i++)
		if (m.found[i].wanted)
			ret = annotate_make_function(&m, i);
	sort_by = &m;
	if (a->n)
		qsort(a->functions, a->n, sizeof(*a->functions), annotate_function_by_weight);
	for (size_t i = 0; i < m.n_found; i++) {
		free(m.found[i].samples);
		free(m.found[i].code.insns);
	}
	free(m.found);
	free(m.pieces);
	free(m.function_of);
	free(m.piece_of);
	free(m.functions);
	free(m.figures);
	kjoule_hash_index_free(&m.by_name);
	kjoule_hash_index_free(&m.by_piece);
	source_text_free(&m.text);
	if (ret)
		annotate_free(a);
	return ret;
}

void annotate_free(struct annotate *a)
{
	for (size_t i = 0; i < a->n; i++) {
		for (size_t k = 0; k < a->functions[i].n_rows; k++)
			free(a->functions[i].rows[k].text);
		free(a->functions[i].rows);
	}
	for (size_t i = 0; i < a->n_missing; i++)
		free(a->missing[i]);
	free(a->missing);
	free(a->functions);
	memset(a, 0, sizeof(*a));
}
