// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracle's counters. Owns their tables, one set for each CPU, and the file to which
 * report.c writes them at marks.
 */
#include "oracle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "package.h"
#include "report.h"
#include "time.h"

#define FIRST_SLOTS	(1u << 19)
#define MAX_CHUNKS	4096

/* More (block, task) pairs than a run can sensibly have: later ones share this task. */
#define MAX_COUNTS	(2u << 20)
#define TASK_OTHER	UINT64_C(0xfffffffffffffffe)

static FILE *file;

static void out_of_memory(void)
{
	fprintf(stderr, "vchip: out of memory for the oracle\n");
	abort();
}

static void table_init(struct table *t, size_t size)
{
	t->size = size;
	t->chunk = calloc(MAX_CHUNKS, sizeof(*t->chunk));
	if (!t->chunk)
		out_of_memory();
}

static void *table_add(struct table *t)
{
	size_t chunk = t->used / TABLE_CHUNK;

	if (chunk >= MAX_CHUNKS)
		out_of_memory();
	if (chunk == t->chunks) {
		t->chunk[chunk] = aligned_alloc(64, TABLE_CHUNK * t->size);
		if (!t->chunk[chunk])
			out_of_memory();
		memset(t->chunk[chunk], 0, TABLE_CHUNK * t->size);
		t->chunks++;
	}
	return table_at(t, t->used++);
}

/* Anonymous memory in large pages: a miss is the price of cold code, two would be worse. */
static struct slot *new_slots(size_t slots)
{
	size_t size = slots * sizeof(struct slot);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		out_of_memory();
	madvise(p, size, MADV_HUGEPAGE);
	return p;
}

struct oracle_core *oracle_core_new(void)
{
	struct oracle_core *o = calloc(1, sizeof(*o));

	if (!o)
		out_of_memory();
	o->slots = FIRST_SLOTS;
	o->slot = new_slots(o->slots);
	table_init(&o->table[TABLE_COUNT], sizeof(struct count));
	table_init(&o->table[TABLE_LINKS], sizeof(struct count_links));
	table_init(&o->table[TABLE_CORRECTION], sizeof(struct entry));
	table_init(&o->table[TABLE_PAUSE], sizeof(struct entry));
	return o;
}

static struct count_links *links_of(const struct oracle_core *o, const struct count *count)
{
	return table_at(&o->table[TABLE_LINKS], count->index);
}

static uint64_t hash_of(const struct block *b, uint64_t task, uint32_t pstate)
{
	uint64_t h = ((uintptr_t)b >> 6) * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 32) ^ task) * 0xc2b2ae3d27d4eb4fULL;
	h = (h ^ (h >> 29) ^ pstate) * 0x165667b19e3779f9ULL;
	h ^= h >> 32;
	return h ? h : 1;
}

static void grow(struct oracle_core *o)
{
	size_t slots = o->slots * 2;
	struct slot *slot = new_slots(slots);

	for (size_t i = 0; i < o->slots; i++) {
		size_t k = o->slot[i].hash & (slots - 1);

		if (!o->slot[i].hash)
			continue;
		while (slot[k].hash)
			k = (k + 1) & (slots - 1);
		slot[k] = o->slot[i];
	}
	munmap(o->slot, o->slots * sizeof(*o->slot));
	o->slot = slot;
	o->slots = slots;
}

struct count *oracle_count(struct core *c, struct block *b, uint64_t task)
{
	struct oracle_core *o = c->oracle;
	struct table *t = &o->table[TABLE_COUNT];
	struct count *count;
	uint64_t h;
	size_t i;

	if (t->used >= MAX_COUNTS)
		task = TASK_OTHER;
	h = hash_of(b, task, c->pstate);
	for (i = h & (o->slots - 1); o->slot[i].hash; i = (i + 1) & (o->slots - 1)) {
		count = o->slot[i].count;
		if (o->slot[i].hash == h && count->block == b && count->task == task &&
		    count->pstate == c->pstate)
			goto out;
	}
	count = table_add(t);
	count->task = task;
	count->block = b;
	count->pstate = c->pstate;
	count->index = (uint32_t)(t->used - 1);
	table_add(&o->table[TABLE_LINKS]);
	o->slot[i] = (struct slot){ h, count };
	if (t->used * 2 > o->slots)
		grow(o);
out:
	*block_slot(b, c->index) = count;
	return count;
}

static uint64_t *entry_value(struct table *t, struct entry **list, struct count *count,
			     unsigned int pos)
{
	struct entry *e;

	for (e = *list; e; e = e->next)
		if (e->pos == pos)
			return e->value;
	e = table_add(t);
	e->count = count;
	e->pos = pos;
	e->next = *list;
	*list = e;
	return e->value;
}

void oracle_take_back(struct core *c, unsigned int pos, uint64_t static_fj)
{
	struct count *count = c->prev_count;
	uint64_t *value;

	value = entry_value(&c->oracle->table[TABLE_CORRECTION],
			    &links_of(c->oracle, count)->corrections, count, pos);
	value[VALUE_EXEC + c->prev_alone]++;
	value[VALUE_STATIC] += static_fj;
	if (!pos)
		value[VALUE_CONTINUES + c->prev_alone] += c->prev_continues;
}

void oracle_pause(struct core *c, uint64_t ns, unsigned int alone, uint64_t static_fj)
{
	struct count *count = c->prev_count;
	uint64_t *value;

	if (!c->prev || !ns)
		return;
	value = entry_value(&c->oracle->table[TABLE_PAUSE], &links_of(c->oracle, count)->pauses,
			    count, c->prev->insns - 1u);
	value[PAUSE_NS + alone] += ns;
	value[PAUSE_STATIC] += static_fj;
}

int oracle_open(const char *path)
{
	if (!path)
		return 0;
	file = fopen(path, "we");
	if (!file)
		return -errno;
	setvbuf(file, NULL, _IOFBF, 1 << 20);
	report_header(file);
	return 0;
}

static void write_section(uint32_t seq, const char *label, uint64_t now)
{
	package_advance_all(now);
	report_section(file, seq, label, now);
	fflush(file);
}

void oracle_mark(struct core *c)
{
	char label[VCHIP_LABEL_LEN];

	c->seen_mark = page_read(page.head->mark_seq);
	/* another CPU has seen it before */
	if (c->seen_mark == page_read(page.head->mark_ack))
		return;
	memcpy(label, page.head->mark_label, sizeof(label));
	label[sizeof(label) - 1] = '\0';
	if (file)
		write_section(c->seen_mark, label, time_of(c));
	__atomic_store_n(&page.head->mark_ack, c->seen_mark, __ATOMIC_RELEASE);
}

void oracle_close(void)
{
	if (!file)
		return;
	write_section(page_read(page.head->mark_seq), "end", time_now());
	fclose(file);
	file = NULL;
}
