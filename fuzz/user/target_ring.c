// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: what record does with rings of any content. The input is a program that
 * writes records, good and bad, into a ring and a perf buffer, sets their heads, drains
 * them, and changes a page between two looks of the reader at it, as a kernel could. What
 * was drained goes through record's writer into a data file, which must come out of the
 * loader as it went in. The reader's source is included to get between its looks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz/user/capture.h"
#include "fuzz/user/target.h"
#include "lib/code/kallsyms.h"
#include "lib/file/meta.h"
#include "lib/file/recording.h"
#include "record/record.h"

static void race(void);

static void *racy_copy(void *to, const void *from, size_t len)
{
	race();
	return __builtin_memcpy(to, from, len);
}

#define memcpy(to, from, len)	racy_copy(to, from, len)
#define __atomic_load_n(p, order)	(race(), *(p))
#include "lib/control/ring.c"
#include "lib/sideband/sideband.c"
#undef memcpy
#undef __atomic_load_n

int __wrap_kjoule_meta_gather(struct kjoule_meta *meta);
int __wrap_kjoule_kallsyms_read(struct kjoule_kallsyms **out);
int __wrap_kjoule_build_ids_meet(struct kjoule_build_ids *ids, const struct kjoule_event *map);

int __wrap_kjoule_meta_gather(struct kjoule_meta *meta)
{
	strcpy(meta->boot_id, "fuzz");
	meta->clock_ns = 1;
	return 0;
}

int __wrap_kjoule_kallsyms_read(struct kjoule_kallsyms **out)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 t one\n";

	return kjoule_kallsyms_parse(text, sizeof(text) - 1, out);
}

int __wrap_kjoule_build_ids_meet(struct kjoule_build_ids *ids, const struct kjoule_event *map)
{
	return kjoule_build_ids_add(ids, map->text, NULL);
}

#define MOST_RING	(64u << 10)
#define MOST_ROOM	(64u << 10)
#define PERF_BYTES	(8u << 10)
#define RACES		8

/* Bytes of the input, zeros when it has ended. */
struct program {
	const uint8_t *at, *end;
};

struct change {
	unsigned int after;		/* so many looks */
	size_t offset;
	uint64_t value;
};

struct bytes {
	uint8_t *data;
	size_t len, room;
};

static struct {
	struct kjoule_ring_head head;
	struct kjoule_ring_tail tail;
	uint8_t data[MOST_RING] __attribute__((aligned(8)));
	struct perf_event_mmap_page perf_page;
	uint8_t perf_data[PERF_BYTES] __attribute__((aligned(8)));
} shared;

static struct change changes[RACES];
static size_t n_changes;
static bool draining;

static uint64_t take(struct program *p, unsigned int n)
{
	uint64_t v = 0;

	if ((size_t)(p->end - p->at) < n)
		n = p->end - p->at;
	memcpy(&v, p->at, n);
	p->at += n;
	return v;
}

/* A look at shared memory: whatever is due to change changes before it. */
static void race(void)
{
	for (size_t i = 0; draining && i < n_changes; i++) {
		struct change *c = &changes[i];

		if (c->after-- == 0)
			memcpy((uint8_t *)&shared + c->offset % (sizeof(shared) - 8), &c->value, 8);
	}
}

static void add(struct bytes *b, const void *data, size_t len)
{
	if (!len)
		return;
	if (b->room - b->len < len) {
		b->room = 2 * (b->room + len);
		b->data = realloc(b->data, b->room);
		if (!b->data)
			abort();
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

/* As the module writes: never split, a pad before it where it would be. */
static void produce(struct program *p, uint64_t size, __u64 *head, uint8_t *data)
{
	struct kjoule_record rec = { take(p, 1), take(p, 1), 8 * (1 + take(p, 1) % 32) };
	uint64_t at = *head & (size - 1) & ~7ull, body;

	if (rec.size > size)
		return;
	if (size - at < rec.size) {
		struct kjoule_record pad = { KJOULE_RECORD_PAD, 0, size - at };

		memcpy(data + at, &pad, sizeof(pad));
		*head += size - at;
		at = 0;
	}
	memcpy(data + at, &rec, sizeof(rec));
	for (size_t i = 4; i < rec.size; i += 4) {
		body = take(p, 4);
		memcpy(data + at + i, &body, 4);
	}
	*head += rec.size;
}

/* The same for perf: records may wrap. */
static void produce_perf(struct program *p, __u64 *head, uint8_t *data)
{
	struct perf_event_header h = { take(p, 1), take(p, 2), 8 * (1 + take(p, 1) % 32) };
	uint8_t rec[256];

	memcpy(rec, &h, sizeof(h));
	for (size_t i = sizeof(h); i < h.size; i++)
		rec[i] = take(p, 1);
	for (size_t i = 0; i < h.size; i++)
		data[(*head + i) % PERF_BYTES] = rec[i];
	*head += h.size;
}

static void drain_ring(struct kjoule_ring_reader *ring, size_t room, struct record_writer *w,
		       struct bytes *drained)
{
	uint8_t *buf = malloc(room);	/* of that very size */
	uint64_t pos = ring->pos, damaged = ring->damaged;
	const struct kjoule_record *rec;
	size_t used, off = 0;
	int more, ret;

	if (!buf)
		abort();
	draining = true;
	more = kjoule_ring_drain(ring, buf, room, &used);
	draining = false;
	must_hold(used <= room, "the reader stays in its buffer");
	must_hold(shared.tail.tail == ring->pos || ring->pos == pos, "the tail is what was consumed");
	must_hold(more != 1 || ring->pos != pos, "a reader that hears of more gets on");
	must_hold((more == -EBADMSG) == (ring->damaged != damaged), "damage is counted");
	while ((ret = kjoule_record_next(buf, used, &off, &rec)) > 0)
		must_hold(rec->type != KJOULE_RECORD_PAD, "pads stay in the ring");
	must_hold(!ret, "what comes out of the reader is whole records");
	must_hold(!record_writer_ring(w, ring->cpu, buf, used, NULL), "records can be written");
	add(drained, buf, used);
	free(buf);
}

static int sink(void *arg, const void *records, size_t len)
{
	must_hold(len <= PERF_BYTES, "perf's buffer holds no more than it is large");
	return record_writer_side_band(arg, records, len);
}

static void drain_perf(struct record_writer *w)
{
	static uint8_t copy[PERF_BYTES];
	struct buffer buffer = { .fd = -1, .page = &shared.perf_page, .data = shared.perf_data,
				 .size = PERF_BYTES };
	struct kjoule_sideband sb = { .n = 1, .copy = copy, .buffers = &buffer };

	draining = true;
	must_hold(!kjoule_sideband_drain(&sb, sink, w), "side band can be written");
	draining = false;
}

static void run(struct program *p, struct record_writer *w, struct bytes *drained)
{
	struct kjoule_ring_reader ring = { .cpu = 1, .head = &shared.head, .tail = &shared.tail,
					   .data = shared.data };
	struct change *c;

	memset(&shared, 0, sizeof(shared));
	n_changes = 0;
	ring.size = 64u << take(p, 1) % 11;
	ring.pos = shared.head.head = shared.tail.tail = take(p, 1) % 4 ? 0 : take(p, 8);
	/* what the device says of a ring, the reader has in a place of its own */
	while (p->at < p->end) {
		switch (take(p, 1) % 10) {
		case 0:
		case 1:
		case 2:
			produce(p, ring.size, &shared.head.head, shared.data);
			break;
		case 3:
			c = &changes[0];
			c->value = take(p, 8);
			memcpy(shared.data + take(p, 2) % (ring.size - 7), &c->value, 8);
			break;
		case 4:
			shared.head.head = take(p, 1) % 2 ? ring.pos + take(p, 3) : take(p, 8);
			break;
		case 5:
			c = &changes[n_changes++ % RACES];
			*c = (struct change){ take(p, 1), take(p, 3), take(p, 8) };
			n_changes = n_changes > RACES ? RACES : n_changes;
			break;
		case 6:
			produce_perf(p, &shared.perf_page.data_head, shared.perf_data);
			break;
		case 7:
			if (take(p, 1) % 4 == 0)
				shared.perf_page.data_head = take(p, 8);
			drain_perf(w);
			break;
		case 8:
			must_hold(!record_writer_flush(w, NULL), "the file can be written");
			break;
		default:
			drain_ring(&ring, 64 + take(p, 2) % (MOST_ROOM - 64), w, drained);
			break;
		}
	}
	drain_ring(&ring, MOST_ROOM, w, drained);
}

/* Copies of stacks that the loader leaves in the file, with their numbers in their places. */
struct stacks {
	const struct bytes *drained;
	size_t at;
	uint64_t n;
};

static bool is_left(const struct kjoule_record *rec)
{
	return rec->type == KJOULE_RECORD_STACK && rec->size >= sizeof(struct kjoule_stack) + 8;
}

/* All that the record says, and where its stack is to be found. */
static bool stands_for(const struct kjoule_record *rec, const struct kjoule_record *drained,
		       uint64_t number)
{
	struct kjoule_stack stack;

	memcpy(&stack, drained, sizeof(stack));
	stack.rec.size = sizeof(stack) + sizeof(number);
	stack.rec.flags = KJOULE_STACK_IN_FILE;
	stack.bytes = sizeof(number);
	return rec->size == stack.rec.size && !memcmp(rec, &stack, sizeof(stack)) &&
	       !memcmp((const uint8_t *)rec + sizeof(stack), &number, sizeof(number));
}

static int is_next_stack(void *arg, uint32_t cpu, uint64_t number, const struct kjoule_stack *stack)
{
	const struct kjoule_record *rec;
	struct stacks *s = arg;

	while (kjoule_record_next(s->drained->data, s->drained->len, &s->at, &rec) > 0) {
		if (!is_left(rec))
			continue;
		must_hold(cpu == 1 && number == s->n && rec->size == stack->rec.size &&
			  !memcmp(rec, stack, rec->size), "the file has the stacks that were drained");
		s->n++;
		return 0;
	}
	must_hold(false, "the file has no stack that was not drained");
	return 0;
}

/* A chunk begins with the task at hand: more tasks than were drained, and nothing else. */
static void compare(const struct kjoule_recording *rec, const struct bytes *drained)
{
	const struct kjoule_record *a, *b, *task = NULL;
	struct stacks stacks = { drained, 0, 0 };
	size_t at = 0, from = 0;
	uint64_t left = 0;

	must_hold(rec->n_streams <= 1, "one CPU makes one stream");
	while (rec->n_streams && kjoule_record_next(rec->streams[0].records, rec->streams[0].len,
						    &at, &a) > 0) {
		size_t next = from;

		if (kjoule_record_next(drained->data, drained->len, &next, &b) > 0 &&
		    (is_left(b) ? stands_for(a, b, left) :
		     a->size == b->size && !memcmp(a, b, a->size))) {
			from = next;
			left += is_left(b);
			if (b->type == KJOULE_RECORD_TASK)
				task = b;
			continue;
		}
		must_hold(task && a->type == KJOULE_RECORD_TASK && !memcmp(a + 1, task + 1, 12),
			  "the file has what was drained");
	}
	must_hold(!rec->n_streams || at == rec->streams[0].len, "the file has whole records");
	must_hold(from == drained->len, "the file has all that was drained");
	must_hold(!kjoule_recording_stacks(rec, is_next_stack, &stacks) && stacks.n == left,
		  "the file has all stacks that were drained");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct record_options opt = { .system = true };
	static const struct kjoule_calibration cal;
	static char path[64];
	struct kjoule_session_info session = { .id = 1, .interval_ns = 1000000 };
	struct program p = { data, data + len };
	struct bytes drained = { 0 };
	struct kjoule_cpu_stats stats = { 0 };
	struct kjoule_recording rec;
	struct kjoule_error err;
	struct record_writer *w;

	must_end_soon(len);
	snprintf(path, sizeof(path), "/dev/shm/kjoule-fuzz-%d", getpid());
	if (record_writer_open(AT_FDCWD, path, &w, &err) ||
	    record_writer_start(w, &opt, &session, &cal, &err))
		abort();
	run(&p, w, &drained);
	record_writer_awake(w, 1, 5, 6);
	must_hold(!record_writer_stats(w, &stats, 1, &err), "the statistics can be written");
	must_hold(!record_writer_finish(w, &session, "fuzz", -1, 0, 0, 0, NULL, &err),
		  "the end can be written");
	record_writer_close(w, &err);

	must_hold(!kjoule_recording_load(path, &rec, &err), "what record writes can be loaded");
	must_hold(rec.ended && !rec.damage.chunks && !rec.damage.missing && !rec.unpackable,
		  "what record writes is whole");
	compare(&rec, &drained);
	kjoule_recording_free(&rec);
	unlink(path);
	free(drained.data);
	return 0;
}
