// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks. The guest writes a label and a number; the first CPU that sees it starts a
 * snapshot, each running CPU copies its own counters at its next block, those of
 * halted CPUs are copied on the spot, and the last one wakes the writer, an
 * ordinary thread that makes text of it and then acknowledges the mark. Owns the one
 * snapshot buffer: a mark set before the last one is acknowledged is lost.
 */
#include "snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

static struct snapshot snapshot;
static uint32_t wanted;		/* CPUs that have still to copy; under the package lock */
static bool busy;		/* from the mark to the end of writing */
static FILE *file;
static sem_t ready;
static pthread_t thread;
static bool thread_runs;

static void allocate(struct table_copy *copy, const struct table *t, size_t entries)
{
	copy->room = entries;
	copy->entry = malloc(entries * t->size);
	if (!copy->entry)
		abort();
}

/*
 * Ahead of time and with its pages touched, so that a mark costs the copying alone.
 * Takes the package lock only to exchange one buffer for another.
 */
static void prepare(void)
{
	for (unsigned int i = 0; i < core_count; i++) {
		for (unsigned int k = 0; k < TABLES; k++) {
			struct table_copy *copy = &snapshot.core[i].table[k];
			const struct table *t = &cores[i].oracle->table[k];
			size_t used = __atomic_load_n(&t->used, __ATOMIC_RELAXED);
			struct table_copy fresh = { 0 };

			if (copy->room >= used + used / 2)
				continue;
			allocate(&fresh, t, used * 2 + 16 * TABLE_CHUNK);
			memset(fresh.entry, 0, fresh.room * t->size);
			package_lock();
			if (!busy) {
				char *old = copy->entry;

				*copy = fresh;
				fresh.entry = old;
			}
			package_unlock();
			free(fresh.entry);
		}
	}
}

static void copy_core(const struct core *c)
{
	struct core_copy *to = &snapshot.core[c->index];

	for (unsigned int k = 0; k < TABLES; k++) {
		const struct table *t = &c->oracle->table[k];
		struct table_copy *copy = &to->table[k];
		size_t done = 0;

		if (copy->room < t->used) {
			free(copy->entry);
			allocate(copy, t, t->used * 2);
		}
		copy->used = t->used;
		for (size_t chunk = 0; done < t->used; chunk++) {
			size_t n = t->used - done < TABLE_CHUNK ? t->used - done : TABLE_CHUNK;

			memcpy(copy->entry + done * t->size, t->chunk[chunk], n * t->size);
			done += n;
		}
	}
	to->regs = *c->regs;
}

/* The package lock is held: take the package's part and those of halted CPUs. */
static void begin(uint64_t now)
{
	package_advance(now);
	snapshot.seq = page_read(page.head->mark_seq);
	memcpy(snapshot.label, page.head->mark_label, sizeof(snapshot.label));
	snapshot.label[sizeof(snapshot.label) - 1] = '\0';
	snapshot.guest_ns = page_read(page.head->mark_guest_ns);
	snapshot.chip_ns = now;
	snapshot.cost_ns = 0;
	package_books(&snapshot.books);
	snapshot.vectors = package_vectors();
	wanted = 0;
	for (unsigned int i = 0; i < core_count; i++) {
		if (cores[i].running)
			wanted |= cores[i].bit;
		else
			copy_core(&cores[i]);
	}
	busy = true;
}

/* The package lock is held. */
static void contribute(struct core *c)
{
	uint64_t start = clock_now();
	uint64_t cost;

	if (!(wanted & c->bit))
		return;
	copy_core(c);
	cost = clock_now() - start;
	if (cost > snapshot.cost_ns)
		snapshot.cost_ns = cost;
	wanted &= ~c->bit;
	if (!wanted)
		sem_post(&ready);
}

void oracle_mark(struct core *c)
{
	if (!file) {
		c->seen_mark = page_read(page.head->mark_seq);
		page_write(page.head->mark_ack, c->seen_mark);
		return;
	}
	package_lock();
	c->seen_mark = page_read(page.head->mark_seq);
	/* A CPU that wakes up late may see a mark that is over and done with. */
	if (!busy && c->seen_mark != snapshot.seq)
		begin(clock_now());
	contribute(c);
	package_unlock();
}

void oracle_halting(struct core *c)
{
	contribute(c);
}

static void write_out(void)
{
	report_write(file, &snapshot);
	fflush(file);
	while (snapshot.vectors) {
		struct vector *next = snapshot.vectors->next;

		free(snapshot.vectors);
		snapshot.vectors = next;
	}
}

static void *writer(void *unused)
{
	(void)unused;
	for (;;) {
		struct timespec until;
		uint32_t seq;
		int err;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		err = sem_timedwait(&ready, &until);
		if (!__atomic_load_n(&thread_runs, __ATOMIC_RELAXED))
			return NULL;
		if (err) {
			/* Nothing to write: see to it that the next mark finds room. */
			prepare();
			continue;
		}
		write_out();
		package_lock();
		busy = false;
		seq = page_read(page.head->mark_seq);
		package_unlock();
		if (seq != snapshot.seq)
			fprintf(file, "lost,marks,%u\n", seq - snapshot.seq);
		prepare();
		__atomic_store_n(&page.head->mark_ack, seq, __ATOMIC_RELEASE);
	}
}

int snapshot_start(const char *path)
{
	int err;

	if (!path)
		return 0;
	file = fopen(path, "we");
	if (!file)
		return -errno;
	setvbuf(file, NULL, _IOFBF, 1 << 20);
	report_header(file);
	sem_init(&ready, 0, 0);
	prepare();
	thread_runs = true;
	err = pthread_create(&thread, NULL, writer, NULL);
	if (err)
		thread_runs = false;
	return -err;
}

void snapshot_stop(void)
{
	if (!thread_runs)
		return;
	__atomic_store_n(&thread_runs, false, __ATOMIC_RELAXED);
	sem_post(&ready);
	pthread_join(thread, NULL);
	/* Nothing runs any more: the end is one more snapshot. */
	if (busy && !wanted)
		write_out();
	begin(clock_now());
	strcpy(snapshot.label, "end");
	for (unsigned int i = 0; i < core_count; i++)
		copy_core(&cores[i]);
	write_out();
	fclose(file);
	file = NULL;
}
