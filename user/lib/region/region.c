// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marks regions; linked into programs; see kjoule/region.h for the interface and mark_ring.h for
 * the memory. A library of its own, libkjoule-region.a.
 *
 * A thread has a table of its regions, by the names around them: each is defined once, in the
 * thread's own ring, and a mark is a time and a number. A mark has the thread's position, so that a
 * lost one affects nothing after the next. All that a signal handler with own marks can interrupt
 * is written in an order that allows it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <kjoule/region.h>
#include "lib/region/mark_ring.h"

#define NODES		(KJOULE_REGION_PATHS_MAX + 1)	/* 0: in no region */
#define SLOTS		(2 * NODES)			/* a power of two */
#define NAME_BYTES	(KJOULE_REGION_NAME_MAX + 1)
/* Kept free for signal handlers between the check for room and its use. */
#define MARGIN		64

#define barrier()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

struct node {
	uint16_t parent, depth;
	uint32_t epoch;			/* in which its ring was claimed */
	char name[NAME_BYTES];
};

struct thread {
	uint32_t generation;		/* of the process: another one after a fork */
	uint32_t epoch;			/* counts the rings that it has had */
	struct kjoule_region_ring *ring;	/* NULL: none was free */
	struct kjoule_region_unit *units;
	uint64_t *owner;
	uint32_t current;		/* node that it is in */
	uint32_t skipped;		/* begun inside of that and left out */
	int nest;			/* writers: the thread, and handlers that interrupted it */
	bool busy;			/* the table is being changed */
	bool started;			/* the ring has its owner */
	uint64_t lost_ns;		/* since when marks are lost, 0: none are */
	uint32_t lost;
	uint32_t n_nodes;
	uint16_t slots[SLOTS];		/* by parent and name: node, 0: free */
	struct node nodes[NODES];
};

int kjoule_region_wanted = 1;

static struct kjoule_region_head *area;
static uint32_t *generation;		/* a page that a fork empties */
static uint32_t generations;
static uint64_t image;	/* when it was looked for: different for each executed program */
static pthread_key_t key;
static bool has_key;
static __thread struct thread *self __attribute__((tls_model("initial-exec")));

static uint64_t region_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

static uint64_t program_namespace(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

/*
 * The process
 */

/* Is that the file named by the environment? The number may be another file's by now. */
static bool area_is_valid(int fd, uint64_t inode)
{
	struct stat st;

	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & KJOULE_REGION_SEALS) == KJOULE_REGION_SEALS &&
	       !fstat(fd, &st) &&
	       st.st_ino == inode && st.st_size == (off_t)KJOULE_REGION_BYTES;
}

static struct kjoule_region_head *area_map(int fd)
{
	void *p = mmap(NULL, KJOULE_REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct kjoule_region_head *head = p;

	if (p == MAP_FAILED) {
		/* its first page, to be checked */
		p = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			return NULL;
		head = p;
		__atomic_fetch_add(&head->unmapped, 1, __ATOMIC_RELAXED);
		munmap(p, sysconf(_SC_PAGESIZE));
		return NULL;
	}
	if (head->magic == KJOULE_REGION_MAGIC && head->head_bytes == sizeof(*head) &&
	    !__atomic_load_n(&head->over, __ATOMIC_RELAXED))
		return head;
	munmap(p, KJOULE_REGION_BYTES);
	return NULL;
}

/* If the descriptor was closed meanwhile, the recorder has another one. */
static struct kjoule_region_head *area_find(const char *text)
{
	unsigned long long inode;
	struct kjoule_region_head *head = NULL;
	int fd, pid, theirs;
	char path[64];

	if (sscanf(text, "%d:%llu:%d:%d", &fd, &inode, &pid, &theirs) != 4)
		return NULL;
	if (area_is_valid(fd, inode))
		return area_map(fd);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, theirs);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (area_is_valid(fd, inode))
		head = area_map(fd);
	close(fd);
	return head;
}

/* Threads of other namespaces have other numbers for the sampler, and clocks may differ. */
static bool area_is_foreign(const struct kjoule_region_head *head)
{
	uint64_t time = program_namespace("/proc/self/ns/time");
	uint64_t pid = program_namespace("/proc/self/ns/pid");

	return (pid && pid != head->pid_namespace) || (time && time != head->time_namespace);
}

/* A page in which a child of a fork finds 0. */
static uint32_t *generation_make(void)
{
	long page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (!madvise(p, page, MADV_WIPEONFORK))
		return p;
	munmap(p, page);
	return NULL;
}

static void thread_release_ring(void *arg);

/* Races are harmless: the loser's work is dropped. */
static void area_look_for(void)
{
	/* not in programs that run with more rights than their caller */
	const char *text = secure_getenv(KJOULE_REGION_ENV);
	struct kjoule_region_head *head = text ? area_find(text) : NULL, *none = NULL;
	uint32_t *page = head ? generation_make() : NULL, *no_page = NULL;
	uint64_t no_image = 0;

	if (page && !area_is_foreign(head)) {
		__atomic_compare_exchange_n(&image, &no_image, region_now_ns(), false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (!__atomic_compare_exchange_n(&generation, &no_page, page, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			munmap(page, sysconf(_SC_PAGESIZE));
		if (!__atomic_compare_exchange_n(&area, &none, head, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			munmap(head, KJOULE_REGION_BYTES);
		return;
	}
	if (page)
		munmap(page, sysconf(_SC_PAGESIZE));
	if (head) {
		__atomic_fetch_add(&head->foreign, 1, __ATOMIC_RELAXED);
		munmap(head, KJOULE_REGION_BYTES);
	}
	__atomic_store_n(&kjoule_region_wanted, 0, __ATOMIC_RELAXED);
}

/* Before there are threads, and before what was inherited is closed or the environment emptied. */
static void __attribute__((constructor)) region_process_begin(void)
{
	int error = errno;

	if (!area && kjoule_region_wanted)
		area_look_for();
	if (area && !has_key)
		has_key = !pthread_key_create(&key, thread_release_ring);
	errno = error;
}

/* Before this is unloaded with a shared object, remove what is called when a thread ends. */
static void __attribute__((destructor)) region_process_end(void)
{
	if (has_key)
		pthread_key_delete(key);
	has_key = false;
}

int kjoule_region_recorded(void)
{
	if (!__atomic_load_n(&kjoule_region_wanted, __ATOMIC_RELAXED))
		return 0;
	region_process_begin();
	return __atomic_load_n(&kjoule_region_wanted, __ATOMIC_RELAXED);
}

/*
 * A thread's ring
 */

/* Room for a record of @n units. Return: its place, or UINT64_MAX if there is none */
static uint64_t ring_take_units(struct thread *t, unsigned int n)
{
	struct kjoule_region_ring *r = t->ring;
	/* D, pairs with C in mark_ring.c */
	uint64_t tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
	uint64_t next = __atomic_load_n(&r->next, __ATOMIC_RELAXED);

	if (next + n - tail > KJOULE_REGION_UNITS - MARGIN)
		return UINT64_MAX;
	return __atomic_fetch_add(&r->next, n, __ATOMIC_RELAXED);
}

static struct kjoule_region_unit *ring_unit_at(struct thread *t, uint64_t at)
{
	return &t->units[at & (KJOULE_REGION_UNITS - 1)];
}

/*
 * If this is the thread, or a handler that did not interrupt its writing, all allocated units are
 * written. A handler between the two lines publishes more than we know of.
 */
static void ring_publish(struct thread *t)
{
	struct kjoule_region_ring *r = t->ring;
	uint64_t next;

	barrier();
	if (--t->nest > 0)
		return;
	/* a child that was forked in a handler, in the middle of this, began anew there */
	t->nest = 0;
	do {
		next = __atomic_load_n(&r->next, __ATOMIC_RELAXED);
		/* A, pairs with B in mark_ring.c */
		__atomic_store_n(&r->head, next, __ATOMIC_RELEASE);
		barrier();
	} while (next != __atomic_load_n(&r->next, __ATOMIC_RELAXED));
}

static bool ring_put_mark(struct thread *t, enum kjoule_region_kind kind, uint64_t time_ns,
			  uint32_t node)
{
	uint64_t at;

	t->nest++;
	barrier();
	at = ring_take_units(t, 1);
	if (at != UINT64_MAX)
		*ring_unit_at(t, at) = (struct kjoule_region_unit){ time_ns, node, kind, 1, 0 };
	ring_publish(t);
	return at != UINT64_MAX;
}

static bool ring_put_start(struct thread *t, uint64_t time_ns)
{
	const struct kjoule_region_who who = { getpid(), syscall(SYS_gettid), 0 };
	uint64_t at;

	t->nest++;
	barrier();
	at = ring_take_units(t, 2);
	if (at != UINT64_MAX) {
		*ring_unit_at(t, at) = (struct kjoule_region_unit){ time_ns, 0, KJOULE_REGION_START,
								    2, 0 };
		memcpy(ring_unit_at(t, at + 1), &who, sizeof(who));
	}
	ring_publish(t);
	return at != UINT64_MAX;
}

static bool ring_put_definition(struct thread *t, uint32_t node)
{
	const struct node *n = &t->nodes[node];
	unsigned int texts = strlen(n->name) / sizeof(struct kjoule_region_unit) + 1;
	uint64_t at;

	t->nest++;
	barrier();
	at = ring_take_units(t, 1 + texts);
	if (at != UINT64_MAX) {
		*ring_unit_at(t, at) = (struct kjoule_region_unit){ 0, node, KJOULE_REGION_DEFINE,
								    1 + texts, n->parent };
		for (unsigned int i = 0; i < texts; i++)
			memcpy(ring_unit_at(t, at + 1 + i),
			       n->name + i * sizeof(struct kjoule_region_unit),
			       sizeof(struct kjoule_region_unit));
	}
	ring_publish(t);
	return at != UINT64_MAX;
}

/* Define a region and those around it, if its ring does not have them: outer ones first. */
static bool ring_define_node(struct thread *t, uint32_t node)
{
	while (t->nodes[node].epoch != t->epoch && node) {
		uint32_t outer = node;

		while (t->nodes[outer].parent && t->nodes[t->nodes[outer].parent].epoch != t->epoch)
			outer = t->nodes[outer].parent;
		if (!ring_put_definition(t, outer))
			return false;
		t->nodes[outer].epoch = t->epoch;
	}
	return true;
}

/* Owner, and what was lost, come first in a ring. */
static bool ring_get_ready(struct thread *t, uint64_t time_ns)
{
	if (!t->started) {
		t->started = true;
		t->started = ring_put_start(t, time_ns);
	}
	if (t->started && t->lost_ns && ring_put_mark(t, KJOULE_REGION_LOST, t->lost_ns, t->lost)) {
		t->lost_ns = 0;
		t->lost = 0;
	}
	return t->started && !t->lost_ns;
}

static void thread_lose_mark(struct thread *t, uint64_t time_ns)
{
	if (!t->lost_ns)
		t->lost_ns = time_ns;
	t->lost++;
	__atomic_store_n(&t->ring->lost, t->ring->lost + 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&area->over, __ATOMIC_RELAXED))
		__atomic_store_n(&kjoule_region_wanted, 0, __ATOMIC_RELAXED);
}

/* From now on the thread is in @node. */
static void thread_mark(struct thread *t, enum kjoule_region_kind kind, uint32_t node)
{
	uint64_t time_ns = region_now_ns();

	if (__builtin_expect((!t->started || t->lost_ns) && !ring_get_ready(t, time_ns), 0)) {
		thread_lose_mark(t, time_ns);
		return;
	}
	if (!ring_define_node(t, node) || !ring_put_mark(t, kind, time_ns, node))
		thread_lose_mark(t, time_ns);
}

/*
 * Threads
 */

/* A free ring, or that of the program which this thread was before it executed this one. */
static bool thread_claim_ring(struct thread *t)
{
	uint32_t pid = getpid(), tid = syscall(SYS_gettid), first = tid % KJOULE_REGION_RINGS;
	uint64_t mine = (uint64_t)pid << 32 | tid;
	uint32_t found = KJOULE_REGION_RINGS;

	bool other = false;

	for (uint32_t i = 0; i < KJOULE_REGION_RINGS; i++) {
		if (__atomic_load_n(&area->owners[i], __ATOMIC_ACQUIRE) != mine)
			continue;
		/* another copy of this library has it, and it is unknown which is right */
		other |= area->rings[i].image == image;
		found = i;
	}
	for (uint32_t i = 0; i < KJOULE_REGION_RINGS && found == KJOULE_REGION_RINGS; i++) {
		uint32_t at = (first + i) % KJOULE_REGION_RINGS;
		uint64_t nobody = 0;

		if (!__atomic_load_n(&area->owners[at], __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&area->owners[at], &nobody, mine, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			found = at;
	}
	if (other || found == KJOULE_REGION_RINGS) {
		__atomic_fetch_add(&area->refused, 1, __ATOMIC_RELAXED);
		return false;
	}
	t->ring = &area->rings[found];
	t->units = (struct kjoule_region_unit *)(area + 1) + (size_t)found * KJOULE_REGION_UNITS;
	t->owner = &area->owners[found];
	t->ring->image = image;
	/* a fault here would kill the program */
	__atomic_store_n(&t->ring->next, __atomic_load_n(&t->ring->head, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	return true;
}

/* The thread ends. Later marks, in other destructors, begin anew. */
static void thread_release_ring(void *arg)
{
	struct thread *t = arg;

	if (generation && t->generation == *generation && t->ring) {
		thread_mark(t, KJOULE_REGION_CLOSE, 0);
		__atomic_store_n(t->owner, 0, __ATOMIC_RELEASE);
	}
	self = NULL;
	munmap(t, sizeof(*t));
}

/* A ring for a thread without one: a new one, or the only one of a process that was just forked. */
static void thread_take_ring(struct thread *t)
{
	uint32_t new = __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED), none = 0;

	__atomic_compare_exchange_n(generation, &none, new, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
	t->generation = __atomic_load_n(generation, __ATOMIC_ACQUIRE);
	t->epoch++;
	t->started = false;
	t->nest = 0;
	t->busy = false;
	t->lost_ns = 0;
	t->lost = 0;
	t->ring = NULL;
	thread_claim_ring(t);
}

static struct thread *thread_make(void)
{
	void *p = mmap(NULL, sizeof(struct thread), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct thread *t = p;

	if (p == MAP_FAILED) {
		__atomic_fetch_add(&area->refused, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	t->n_nodes = 1;
	if (has_key)
		pthread_setspecific(key, t);
	return t;
}

/* The calling thread with a ring, NULL: none is free. */
static struct thread *thread_with_ring(void)
{
	int error = errno;

	if (__builtin_expect(self && self->generation == *generation, 1))
		return self->ring ? self : NULL;
	region_process_begin();
	if (__atomic_load_n(&kjoule_region_wanted, __ATOMIC_RELAXED)) {
		if (!self)
			self = thread_make();
		if (self)
			thread_take_ring(self);
	}
	errno = error;
	return self && self->ring ? self : NULL;
}

/*
 * Regions
 */

/* Stored length of a name, not cut inside of a character. */
static size_t name_kept_length(const char *name)
{
	size_t len = strnlen(name, NAME_BYTES);

	if (len == NAME_BYTES)
		for (len--; len && ((unsigned char)name[len] & 0xc0) == 0x80; len--)
			;
	return len;
}

/* The node of a region in another one, 0 if there can be none. */
static uint32_t node_find_or_make(struct thread *t, uint32_t parent, const char *name)
{
	size_t len = name_kept_length(name);
	uint32_t hash = parent * 0x9e3779b1u + 1, at, node;
	struct node *n;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x01000193u;
	for (at = (hash ^ hash >> 15) % SLOTS; t->slots[at]; at = (at + 1) % SLOTS) {
		n = &t->nodes[t->slots[at]];
		if (n->parent == parent && !memcmp(n->name, name, len) && !n->name[len])
			return t->slots[at];
	}
	/* a handler that interrupts this cannot make new ones */
	if (t->busy || t->n_nodes == NODES || t->nodes[parent].depth == KJOULE_REGION_DEPTH_MAX)
		return 0;
	t->busy = true;
	barrier();
	node = t->n_nodes++;
	n = &t->nodes[node];
	n->parent = parent;
	n->depth = t->nodes[parent].depth + 1;
	n->epoch = 0;
	memcpy(n->name, name, len);
	n->name[len] = 0;
	barrier();
	t->slots[at] = node;
	barrier();
	t->busy = false;
	return node;
}

void kjoule_region_do_begin(const char *name)
{
	struct thread *t = thread_with_ring();
	uint32_t node;

	if (!t)
		return;
	node = t->skipped ? 0 : node_find_or_make(t, t->current,
						  name && *name ? name : "[unnamed]");
	if (!node) {
		t->skipped++;
		__atomic_store_n(&t->ring->left_out, t->ring->left_out + 1, __ATOMIC_RELAXED);
		return;
	}
	/* before the mark: a handler in between is inside of it, and returns to it */
	t->current = node;
	barrier();
	thread_mark(t, KJOULE_REGION_BEGIN, node);
}

void kjoule_region_do_end(void)
{
	struct thread *t = thread_with_ring();

	if (!t)
		return;
	if (t->skipped) {
		t->skipped--;
		return;
	}
	if (!t->current) {
		thread_mark(t, KJOULE_REGION_UNBEGUN, 0);
		return;
	}
	t->current = t->nodes[t->current].parent;
	barrier();
	thread_mark(t, KJOULE_REGION_END, t->current);
}
