// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of one CPU; see ring.h. The producer (reserve, count_lost, commit) is the sampler with
 * interrupts off on the ring's CPU, or the code that has cancelled that CPU's timer; readers are
 * the char device and netlink's dump.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "compat/compat.h"
#include "ring/ring.h"

/* Counts may be wrong if the reader is that fast: they are shown only. */
#define COUNT_ROUNDS	3

/* Records between two cond_resched(): a read of memory each, so tens of microseconds. */
#define COUNT_BATCH	4096

static void ring_free_pages(struct page **pages, unsigned long n)
{
	while (n--) {
		if (pages[n])
			__free_page(pages[n]);
	}
	kvfree(pages);
}

/*
 * Allocate @n zeroed pages near @node, one by one: no allocator for modules that knows nodes
 * charges the caller's memory cgroup.
 */
static struct page **ring_alloc_pages(int node, unsigned long n)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_HIGHMEM | __GFP_ZERO;
	struct page **pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	unsigned long i;
	int err = 0;

	if (!pages)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < n && !err; i++) {
		pages[i] = alloc_pages_node(node, gfp, 0);
		if (!pages[i])
			err = -ENOMEM;
		else if (fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	if (err) {
		ring_free_pages(pages, n);
		return ERR_PTR(err);
	}
	return pages;
}

/*
 * kjoule_ring_alloc() - allocate a ring near its CPU. @bytes: of data, a power of two, at least a
 * page. Return: 0, -ENOMEM, or -EINTR if the caller is being killed.
 */
int kjoule_ring_alloc(struct kjoule_ring_buffer *ring, unsigned int cpu, u64 bytes)
{
	unsigned long n = (bytes >> PAGE_SHIFT) + 2;
	struct page **pages = ring_alloc_pages(cpu_to_node(cpu), n);
	void *mem;

	if (IS_ERR(pages))
		return PTR_ERR(pages);
	mem = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	if (!mem) {
		ring_free_pages(pages, n);
		return -ENOMEM;
	}
	memset(ring, 0, sizeof(*ring));
	ring->pages = pages;
	ring->page = mem;
	ring->data = mem + PAGE_SIZE;
	ring->tail = mem + PAGE_SIZE + bytes;
	ring->size = bytes;
	ring->page->abi = KJOULE_ABI_VERSION;
	ring->page->cpu = cpu;
	ring->page->data_size = bytes;
	return 0;
}

/* kjoule_ring_free() - undo kjoule_ring_alloc(). @ring: no longer mapped or written. */
void kjoule_ring_free(struct kjoule_ring_buffer *ring)
{
	if (!ring->page)
		return;
	vunmap(ring->page);
	ring_free_pages(ring->pages, (ring->size >> PAGE_SHIFT) + 2);
	ring->page = NULL;
}

/* A valid tail does not step back, and is not beyond the published head. */
static bool ring_tail_is_sane(u64 tail, u64 seen, u64 head)
{
	return !(tail % 8) && tail - seen <= head - seen;
}

static u64 ring_tail(struct kjoule_ring_buffer *ring)
{
	u64 tail = smp_load_acquire(&ring->tail->tail);	/* A, pairs with D in kjoule_ring_read() */

	/* the published head: later records are not readable yet */
	if (ring_tail_is_sane(tail, ring->seen_tail, ring->page->head)) {
		/* G, pairs with H in ring_reader_tail() */
		smp_store_release(&ring->seen_tail, tail);
		smp_wmb();	/* I, pairs with J in kjoule_ring_waiting(): before overwriting */
	}
	return ring->seen_tail;
}

static __always_inline bool ring_fits(struct kjoule_ring_buffer *ring, u64 bytes)
{
	return ring->head - ring->seen_tail + bytes <= ring->size ||
	       ring->head - ring_tail(ring) + bytes <= ring->size;
}

/*
 * Is there room for @size contiguous bytes, after a pad if needed, with @spare bytes left after
 * them? NULL if not.
 */
static __always_inline void *ring_room(struct kjoule_ring_buffer *ring, u64 size, u64 spare)
{
	u64 at = ring->head & (ring->size - 1);
	u64 pad = at + size > ring->size ? ring->size - at : 0;
	struct kjoule_record *rec;

	if (!ring_fits(ring, pad + size + spare))
		return NULL;
	if (pad) {
		/* shorter than a record, so that the size fits in 16 bits */
		rec = (struct kjoule_record *)(ring->data + at);
		rec->type = KJOULE_RECORD_PAD;
		rec->flags = 0;
		rec->size = pad;
		ring->head += pad;
		at = 0;
	}
	ring->head += size;
	return ring->data + at;
}

static __always_inline void *ring_record(struct kjoule_ring_buffer *ring, u8 type, u8 flags,
					 u16 size, u64 spare)
{
	struct kjoule_record *rec = ring_room(ring, size, spare);

	if (!rec)
		return NULL;
	rec->type = type;
	rec->flags = flags;
	rec->size = size;
	ring->page->records++;
	return rec;
}

static void ring_find_clear(struct kjoule_ring_buffer *ring)
{
	u64 lap_end = (ring->head | (ring->size - 1)) + 1;

	ring->clear_to = ring->lost ? 0 :
			 min(lap_end, ring->seen_tail + ring->size - KJOULE_LOST_ROOM);
}

/** kjoule_ring_count_lost() - count a record for which there is no room */
void kjoule_ring_count_lost(struct kjoule_ring_buffer *ring, u8 type, u32 tick)
{
	if (!ring->lost++)
		ring->lost_tick = tick;
	if (type == KJOULE_RECORD_SAMPLE)
		ring->lost_samples++;
	ring->page->records++;
	ring->page->lost++;
	ring_find_clear(ring);
}

static void ring_write_lost(struct kjoule_ring_buffer *ring, struct kjoule_lost *lost)
{
	lost->tick = ring->lost_tick;
	lost->records = ring->lost;
	lost->samples = ring->lost_samples;
	ring->lost = 0;
	ring->lost_samples = 0;
}

/*
 * kjoule_ring_flush_lost() - write a pending loss record, when no more records will come. There is
 * always room for it.
 */
void kjoule_ring_flush_lost(struct kjoule_ring_buffer *ring)
{
	struct kjoule_lost *lost;

	if (!ring->lost)
		return;
	lost = ring_record(ring, KJOULE_RECORD_LOST, 0, sizeof(*lost), 0);
	if (!WARN_ON_ONCE(!lost))
		ring_write_lost(ring, lost);
}

/**
 * kjoule_ring_reserve() - begin a record
 * @ring:	the ring
 * @type:	KJOULE_RECORD_*
 * @flags:	of the record
 * @size:	of the record in bytes, a multiple of 8
 * @tick:	low 32 bits of the current tick, to count a loss
 *
 * The caller fills in what follows the header; readers see it after kjoule_ring_commit(). A pending
 * loss is written first, as a KJOULE_RECORD_LOST.
 * Return: the record, or NULL if there is no room (then it is counted as lost)
 */
void *kjoule_ring_reserve(struct kjoule_ring_buffer *ring, u8 type, u8 flags, u16 size, u32 tick)
{
	void *rec;

	if (unlikely(ring->lost)) {
		/* both or none: the next loss needs room for its record */
		if (!ring_fits(ring, KJOULE_LOST_ROOM + 2 * size + KJOULE_LOST_ROOM))
			goto lose;
		ring_write_lost(ring, ring_record(ring, KJOULE_RECORD_LOST, 0,
						  sizeof(struct kjoule_lost), 0));
	}
	rec = ring_record(ring, type, flags, size, KJOULE_LOST_ROOM);
	if (likely(rec)) {
		ring_find_clear(ring);
		return rec;
	}
lose:
	kjoule_ring_count_lost(ring, type, tick);
	return NULL;
}

/*
 * The reader's position, at most @head, as seen outside the producer. Ticks go on: @head may be old
 * and the reader past it.
 */
static u64 ring_reader_tail(struct kjoule_ring_buffer *ring, u64 head)
{
	/* read in this order, seen <= tail <= now unless the tail is invalid */
	u64 seen = smp_load_acquire(&ring->seen_tail);	/* H, pairs with G in ring_tail() */
	u64 tail = smp_load_acquire(&ring->tail->tail);	/* A, pairs with D in kjoule_ring_read() */
	/* C, pairs with B in kjoule_ring_commit() */
	u64 now = smp_load_acquire(&ring->page->head);

	if (!ring_tail_is_sane(tail, seen, now))
		tail = seen;
	return (s64)(tail - head) < 0 ? tail : head;
}

/*
 * Size of the record at @tail, 0 if a hostile tail points into the middle of one. Read it once:
 * under such a tail the producer may write there.
 */
static u16 ring_record_size(struct kjoule_ring_buffer *ring, u64 tail, u64 head)
{
	u64 at = tail & (ring->size - 1);
	u16 size = READ_ONCE(((struct kjoule_record *)(ring->data + at))->size);

	if (size < 8 || size % 8 || at + size > ring->size || size > head - tail)
		return 0;
	return size;
}

static bool ring_is_pad(struct kjoule_ring_buffer *ring, u64 tail)
{
	u64 at = tail & (ring->size - 1);

	return READ_ONCE(((struct kjoule_record *)(ring->data + at))->type) == KJOULE_RECORD_PAD;
}

/** kjoule_ring_head() - the published head: bytes written so far */
u64 kjoule_ring_head(struct kjoule_ring_buffer *ring)
{
	/* C, pairs with B in kjoule_ring_commit() */
	return smp_load_acquire(&ring->page->head);
}

/** kjoule_ring_unread() - bytes that wait for the reader, pads included */
u64 kjoule_ring_unread(struct kjoule_ring_buffer *ring)
{
	return kjoule_ring_unread_to(ring, kjoule_ring_head(ring));
}

/** kjoule_ring_unread_to() - bytes below @head that wait for the reader */
u64 kjoule_ring_unread_to(struct kjoule_ring_buffer *ring, u64 head)
{
	return head - ring_reader_tail(ring, head);
}

/*
 * kjoule_ring_waiting() - records below @head that wait, at most @written, pads not counted. Counts
 * them in the ring one by one; not exact if a (hostile) reader keeps advancing.
 */
u64 kjoule_ring_waiting(struct kjoule_ring_buffer *ring, u64 head, u64 written)
{
	unsigned int rounds = COUNT_ROUNDS;
	u64 first, tail, n;
	u16 size;

	do {
		first = ring_reader_tail(ring, head);
		for (tail = first, n = 0; tail != head; tail += size) {
			size = ring_record_size(ring, tail, head);
			if (!size)
				break;
			n += !ring_is_pad(ring, tail);
			if (!(n % COUNT_BATCH))
				cond_resched();
		}
		smp_rmb();	/* J, pairs with I in ring_tail() */
		/* retry if the reader advanced: counted records may be overwritten */
	} while (n && --rounds && (s64)(READ_ONCE(ring->seen_tail) - first) > 0);
	return min(n, written);
}

/*
 * kjoule_ring_longest() - size of the longest record below @head that waits. Return: bytes, 0 if
 * none waits
 */
u16 kjoule_ring_longest(struct kjoule_ring_buffer *ring, u64 head)
{
	u16 size, longest = 0;
	unsigned int n = 0;
	u64 tail;

	for (tail = ring_reader_tail(ring, head); tail != head; tail += size) {
		size = ring_record_size(ring, tail, head);
		if (!size)
			break;
		longest = max(longest, size);
		if (!(++n % COUNT_BATCH))
			cond_resched();
	}
	return longest;
}

/*
 * kjoule_ring_read() - copy whole records out and consume them. Context: process, may fault; the
 * caller serialises readers. Return: bytes copied (whole records, 0 if none waits or fits), or
 * -EFAULT if nothing could be copied.
 */
ssize_t kjoule_ring_read(struct kjoule_ring_buffer *ring, u64 head, struct iov_iter *to)
{
	u64 tail = ring_reader_tail(ring, head), end = tail;
	size_t bytes, copied;
	ssize_t done = 0;
	u16 size;

	while (tail != head) {
		for (end = tail; end != head; end += size) {
			size = ring_record_size(ring, end, head);
			if (!size) {
				/* an invalid tail: drop all records */
				if (end == tail) {
					/* D, pairs with A in ring_tail() */
					smp_store_release(&ring->tail->tail, head);
				}
				break;
			}
			if (end + size - tail > iov_iter_count(to))
				break;
			if (end != tail && !(end & (ring->size - 1)))
				break;
		}
		bytes = end - tail;
		if (!bytes)
			break;
		copied = copy_to_iter(ring->data + (tail & (ring->size - 1)), bytes, to);
		if (copied != bytes) {
			iov_iter_revert(to, copied);
			return done ? done : -EFAULT;
		}
		tail = end;
		done += bytes;
		smp_store_release(&ring->tail->tail, tail);	/* D, pairs with A in ring_tail() */
	}
	return done;
}

static int ring_map_pages(struct vm_area_struct *vma, struct page **pages, vm_flags_t clear)
{
	unsigned long at;
	int err;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYEXEC | clear);
	for (at = vma->vm_start; at < vma->vm_end; at += PAGE_SIZE) {
		err = vm_insert_page(vma, at, *pages++);
		if (err)
			return err;
	}
	return 0;
}

/*
 * kjoule_ring_map_data() - map head page and data, never writable. @vma: its offset has been
 * checked. Return: 0, -EPERM for a writable or executable mapping, -EINVAL for another length.
 */
int kjoule_ring_map_data(struct kjoule_ring_buffer *ring, struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (vma->vm_end - vma->vm_start != PAGE_SIZE + ring->size)
		return -EINVAL;
	return ring_map_pages(vma, ring->pages, VM_MAYWRITE);
}

/*
 * kjoule_ring_map_tail() - map the tail page. @vma: its offset has been checked. Return: 0, -EPERM
 * for an executable mapping, -EINVAL for another length or a private mapping.
 */
int kjoule_ring_map_tail(struct kjoule_ring_buffer *ring, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	return ring_map_pages(vma, ring->pages + (ring->size >> PAGE_SHIFT) + 1, 0);
}
