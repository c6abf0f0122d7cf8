/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of one CPU: memory that user space maps, one producer in hard interrupt context, one
 * reader. It knows records by their size only. Layout and barriers are described in the uapi
 * header.
 */
#ifndef KJOULE_RING_H
#define KJOULE_RING_H

#include <asm/barrier.h>
#include <linux/kjoule.h>
#include <linux/mm_types.h>
#include <linux/types.h>
#include <linux/uio.h>

/*
 * Bytes: a page; what has room for 40,000 samples of 24.5 bytes ("scripts/bench sample-bytes" in
 * Documentation/accuracy.rst), 40 s at 1 kHz; and what a u32 of the ABI can be. quota.c bounds what
 * a user may have.
 */
#define KJOULE_RING_MIN		(1UL << 12)
#define KJOULE_RING_DEFAULT	(1UL << 20)
#define KJOULE_RING_MAX		(1UL << 28)

/* Size of a lost record with a pad before it. */
#define KJOULE_LOST_ROOM	(2 * sizeof(struct kjoule_lost))

/**
 * struct kjoule_ring_buffer - kernel side of a ring
 * @pages:	head page, data, tail page
 * @page:	the head page that readers see
 * @data:	the records
 * @tail:	the page that the reader writes; never trusted
 * @size:	bytes of data, a power of two
 * @head:	bytes written; published in @page by commit
 * @seen_tail:	the last valid tail
 * @clear_to:	up to this head there is contiguous room, and no loss to be written first
 * @lost:	records lost since the last KJOULE_RECORD_LOST
 * @lost_samples: samples among them
 * @lost_tick:	tick of the first of them
 */
struct kjoule_ring_buffer {
	struct page **pages;
	struct kjoule_ring_head *page;
	u8 *data;
	struct kjoule_ring_tail *tail;
	u64 size;
	u64 head;
	u64 seen_tail;
	u64 clear_to;
	u64 lost;
	u64 lost_samples;
	u32 lost_tick;
};

int kjoule_ring_alloc(struct kjoule_ring_buffer *ring, unsigned int cpu, u64 bytes);
void kjoule_ring_free(struct kjoule_ring_buffer *ring);
void *kjoule_ring_reserve(struct kjoule_ring_buffer *ring, u8 type, u8 flags, u16 size, u32 tick);
void kjoule_ring_count_lost(struct kjoule_ring_buffer *ring, u8 type, u32 tick);
void kjoule_ring_flush_lost(struct kjoule_ring_buffer *ring);
u64 kjoule_ring_unread(struct kjoule_ring_buffer *ring);
u64 kjoule_ring_waiting(struct kjoule_ring_buffer *ring, u64 head, u64 written);
u64 kjoule_ring_head(struct kjoule_ring_buffer *ring);
u64 kjoule_ring_unread_to(struct kjoule_ring_buffer *ring, u64 head);
u16 kjoule_ring_longest(struct kjoule_ring_buffer *ring, u64 head);
ssize_t kjoule_ring_read(struct kjoule_ring_buffer *ring, u64 head, struct iov_iter *to);
int kjoule_ring_map_data(struct kjoule_ring_buffer *ring, struct vm_area_struct *vma);
int kjoule_ring_map_tail(struct kjoule_ring_buffer *ring, struct vm_area_struct *vma);

/*
 * kjoule_ring_reserve_fast() - kjoule_ring_reserve() for records of every tick, inline if there is
 * room without reading the reader's tail, which is nearly always.
 */
static __always_inline void *kjoule_ring_reserve_fast(struct kjoule_ring_buffer *ring, u8 type,
						      u8 flags, u16 size, u32 tick)
{
	u64 head = ring->head;
	struct kjoule_record *rec;

	if (unlikely(head + size > ring->clear_to))
		return kjoule_ring_reserve(ring, type, flags, size, tick);
	ring->head = head + size;
	ring->page->records++;
	rec = (struct kjoule_record *)(ring->data + (head & (ring->size - 1)));
	rec->type = type;
	rec->flags = flags;
	rec->size = size;
	return rec;
}

/** kjoule_ring_commit() - publish the records written so far */
static inline void kjoule_ring_commit(struct kjoule_ring_buffer *ring)
{
	/* B, pairs with C in kjoule_ring_head() */
	smp_store_release(&ring->page->head, ring->head);
}

/** kjoule_ring_shrink() - cut the last reserved record to @size, a multiple of 8 */
static inline void kjoule_ring_shrink(struct kjoule_ring_buffer *ring, struct kjoule_record *rec,
				      u16 size)
{
	ring->head -= rec->size - size;
	rec->size = size;
	/* the record ended with the memory: clear only to the end of the next lap */
	ring->clear_to = min(ring->clear_to, (ring->head | (ring->size - 1)) + 1);
}

#endif
