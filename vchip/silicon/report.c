// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes what the oracle knows: one section a mark, with every counter that has changed since
 * the section before. Owns the file's format, which ../README describes and ../oracle.py
 * reads; counters stay what they are here, the reader makes instructions of blocks.
 * Called by oracle.c.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "oracle.h"
#include "package.h"

/* What the file has of an entry: a hash of its values, in the order of the table. */
struct written {
	uint64_t *hash;
	size_t room;
};

static struct written written[VCHIP_MAX_CPUS][TABLES];
static uint8_t *block_written;
static size_t block_room;

static uint64_t cycle_fixns(unsigned int pstate)
{
	return ((1000000ULL << FIXNS_SHIFT) + chip->freq_khz[pstate] / 2) / chip->freq_khz[pstate];
}

static void out_of_memory(void)
{
	fprintf(stderr, "vchip: out of memory for the oracle's report\n");
	abort();
}

static void *grow(void *p, size_t *room, size_t need, size_t size)
{
	size_t to = need * 2 + 1024;
	char *q = p;

	if (need <= *room)
		return p;
	q = realloc(p, to * size);
	if (!q)
		out_of_memory();
	memset(q + *room * size, 0, (to - *room) * size);
	*room = to;
	return q;
}

/* printf would take most of the time that a mark takes. */
static char *put(char *p, uint64_t v)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	*p++ = ',';
	while (n)
		*p++ = digits[--n];
	return p;
}

static void put_line(FILE *file, char *line, char *end)
{
	*end++ = '\n';
	fwrite(line, 1, (size_t)(end - line), file);
}

/* Has an entry changed since it was written? Then it is about to be. */
static bool changed(struct written *w, size_t i, const uint64_t *value)
{
	uint64_t h = 0x27d4eb2f165667c5ULL;

	for (unsigned int k = 0; k < VALUE_STRIDE; k++) {
		h = (h ^ value[k]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	/* 0 is of those that were never written */
	h |= !h;
	if (w->hash[i] == h)
		return false;
	w->hash[i] = h;
	return true;
}

static void write_block(FILE *file, const struct block *b)
{
	block_written = grow(block_written, &block_room, b->id + 1u, 1);
	if (block_written[b->id])
		return;
	block_written[b->id] = 1;
	fprintf(file, "block,%u,0x%" PRIx64, b->id, b->vaddr);
	for (unsigned int i = 0; i < b->insns; i++)
		fprintf(file, ",%u:%u", b->insn[i].offset, b->insn[i].class);
	fputc('\n', file);
}

static void write_counts(FILE *file, unsigned int cpu, const struct table *t)
{
	struct written *w = &written[cpu][TABLE_COUNT];

	w->hash = grow(w->hash, &w->room, t->used, sizeof(*w->hash));
	for (size_t i = 0; i < t->used; i++) {
		const struct count *c = table_at(t, i);
		char line[256] = "count", *p = line + 5;

		if (!changed(w, i, c->value))
			continue;
		write_block(file, c->block);
		p = put(p, cpu);
		p = put(p, i);
		p = put(p, (uint32_t)c->task);
		p = put(p, c->task >> 32);
		p = put(p, c->block->id);
		p = put(p, c->pstate);
		for (unsigned int k = 0; k < VALUE_STRIDE; k++)
			p = put(p, c->value[k]);
		put_line(file, line, p);
	}
}

static void write_entries(FILE *file, const char *name, unsigned int cpu, enum oracle_table which)
{
	const struct table *t = &cores[cpu].oracle->table[which];
	struct written *w = &written[cpu][which];

	w->hash = grow(w->hash, &w->room, t->used, sizeof(*w->hash));
	for (size_t i = 0; i < t->used; i++) {
		const struct entry *e = table_at(t, i);
		char line[256], *p = line;

		if (!changed(w, i, e->value))
			continue;
		p = stpcpy(line, name);
		p = put(p, cpu);
		p = put(p, i);
		p = put(p, e->count->index);
		p = put(p, e->pos);
		for (unsigned int k = 0; k < VALUE_STRIDE; k++)
			p = put(p, e->value[k]);
		put_line(file, line, p);
	}
}

/* The time alone that counters stand for, and its static energy. */
struct alone {
	uint64_t fix;
	uint64_t paused_ns;
	uint64_t static_fj;
};

static void sum_alone(struct alone *a, const struct oracle_core *o)
{
	const struct table *counts = &o->table[TABLE_COUNT],
		*corrections = &o->table[TABLE_CORRECTION],
			   *pauses = &o->table[TABLE_PAUSE];

	for (size_t i = 0; i < counts->used; i++) {
		const struct count *c = table_at(counts, i);

		a->fix += c->value[VALUE_EXEC + 1] * c->block->cycles * cycle_fixns(c->pstate);
		a->static_fj += c->value[VALUE_STATIC];
	}
	for (size_t i = 0; i < corrections->used; i++) {
		const struct entry *e = table_at(corrections, i);

		for (unsigned int k = e->pos; k < e->count->block->insns; k++)
			a->fix -= e->value[VALUE_EXEC + 1] * e->count->block->insn[k].cycles *
				  cycle_fixns(e->count->pstate);
		a->static_fj -= e->value[VALUE_STATIC];
	}
	for (size_t i = 0; i < pauses->used; i++) {
		const struct entry *e = table_at(pauses, i);

		a->paused_ns += e->value[PAUSE_NS + 1];
		a->static_fj += e->value[PAUSE_STATIC];
	}
}

static void write_vector(const struct package *p, const struct vector *v, void *data)
{
	FILE *file = data;

	fprintf(file, "vector,%td,%" PRIu64 ",%" PRIu64 ",%" PRId64, p - packages, v->time_ns,
		v->static_pj, v->dynamic_pj);
	for (int i = 0; i < __builtin_popcount(p->cpus); i++) {
		if (v->task[i] == VECTOR_IDLE)
			fprintf(file, ",-");
		else
			fprintf(file, ",%u:%u", (uint32_t)v->task[i], (uint32_t)(v->task[i] >> 32));
	}
	fprintf(file, "\n");
}

static void write_package(FILE *file, const struct package *p)
{
	const struct package_books *b = &p->books;
	uint64_t alone_ns = 0, alone_pj = 0;
	unsigned int index = (unsigned int)(p - packages);
	struct alone a = { 0 };

	fprintf(file, "package,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		index, b->static_pj + b->dynamic_pj, b->dynamic_pj, b->static_pj,
		b->dram_static_pj + b->dram_dynamic_pj, b->dram_dynamic_pj);
	fprintf(file, "idle,%u,%" PRIu64 ",%" PRIu64 "\n", index, b->idle_ns, b->idle_static_pj);
	fprintf(file, "shared,%u,%" PRIu64 ",%" PRIu64 "\n", index, b->shared_ns,
		b->shared_static_pj);
	for (unsigned int i = 0; i < core_count; i++) {
		if (cores[i].package != p)
			continue;
		fprintf(file, "alone,%u,%" PRIu64 ",%" PRIu64 "\n", i, b->alone_ns[i],
			b->alone_static_pj[i]);
		alone_ns += b->alone_ns[i];
		alone_pj += b->alone_static_pj[i];
		sum_alone(&a, cores[i].oracle);
	}
	/*
	 * What the package's time says, less what the instructions' and the pauses' say: CPUs are
	 * up to a turn apart.
	 */
	fprintf(file, "residual,%u,%" PRId64 ",%" PRId64 "\n", index,
		(int64_t)(alone_ns - (a.fix >> FIXNS_SHIFT) - a.paused_ns),
		(int64_t)(alone_pj - a.static_fj / 1000));
	package_for_each_vector(p, write_vector, file);
}

void report_header(FILE *file)
{
	fprintf(file, "vchip-oracle,4,%s,%u,%u\n", chip->name, core_count, chip->clock_scale);
	for (unsigned int p = 0; p < chip->pstates; p++)
		fprintf(file, "pstate,%u,%u,%" PRIu64 "\n", p, chip->freq_khz[p], cycle_fixns(p));
	for (unsigned int c = 0; c < CLASSES; c++) {
		fprintf(file, "class,%u,%s,%u", c, class_name(c), chip->cycles[c]);
		for (unsigned int p = 0; p < chip->pstates; p++)
			fprintf(file, ",%" PRIu64, profile_energy_pj(chip, c, p));
		fputc('\n', file);
	}
	fprintf(file, "dram,%" PRIu64, chip->dram_base_uw);
	for (unsigned int c = 0; c < CLASSES; c++)
		fprintf(file, ",%u", chip->dram_pj[c]);
	fputc('\n', file);
	fflush(file);
}

static void write_mark(FILE *file, uint32_t seq, const char *name, uint64_t now)
{
	char label[VCHIP_LABEL_LEN];

	snprintf(label, sizeof(label), "%s", name);
	for (char *p = label; *p; p++)
		if (*p == ',' || *p == '\n')
			*p = '_';
	fprintf(file, "mark,%u,%s,%" PRIu64 ",%" PRIu64 "\n", seq, label, now,
		page_read(page.head->mark_guest_ns));
	for (unsigned int i = 0; i < core_count; i++) {
		const struct vchip_cpu *r = cores[i].regs;

		fprintf(file,
			"cpu,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",%" PRIu64 ",%u\n", i, r->cycles_user, r->cycles_kernel,
			r->instr_user, r->instr_kernel, r->ref_ns, r->energy_pj, r->grants,
			r->cur_khz);
	}
}

void report_section(FILE *file, uint32_t seq, const char *name, uint64_t now)
{
	write_mark(file, seq, name, now);
	for (unsigned int i = 0; i < package_count; i++)
		write_package(file, &packages[i]);
	for (unsigned int i = 0; i < core_count; i++) {
		write_counts(file, i, &cores[i].oracle->table[TABLE_COUNT]);
		write_entries(file, "back", i, TABLE_CORRECTION);
		write_entries(file, "paused", i, TABLE_PAUSE);
	}
	log_write(file);
	fprintf(file, "done,%u\n", seq);
}
