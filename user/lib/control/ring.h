/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings of records, as /dev/kjoule maps them, and when their ticks are due.
 */
#ifndef KJOULE_RING_H
#define KJOULE_RING_H

#include <stddef.h>
#include <stdint.h>
#include <linux/kjoule.h>
#include "lib/base/error.h"

struct kjoule_device;

/* The reader's side of one CPU's ring. Fields are for lib/control/ring.c and tests. */
struct kjoule_ring_reader {
	uint32_t cpu;
	const struct kjoule_ring_head *head;
	struct kjoule_ring_tail *tail;
	const uint8_t *data;
	uint64_t size;			/* a power of two */
	uint64_t pos;			/* consumed so far */
	uint64_t damaged;		/* times that the content was invalid */
	void *map;
	size_t map_len;
};

/** kjoule_device_open() - Return: 0, -ENODEV not loaded, -EPROTO other ABI, -EACCES, -errno */
int kjoule_device_open(struct kjoule_device **dev, struct kjoule_error *err);
void kjoule_device_close(struct kjoule_device *dev);
const struct kjoule_info *kjoule_device_info(const struct kjoule_device *dev);
/** kjoule_device_fd() - to be polled for POLLIN */
int kjoule_device_fd(const struct kjoule_device *dev);
/** kjoule_device_attach() - become the session's reader and map its rings. Return: 0 or -errno */
int kjoule_device_attach(struct kjoule_device *dev, uint32_t session, struct kjoule_error *err);
unsigned int kjoule_device_rings(const struct kjoule_device *dev);
struct kjoule_ring_reader *kjoule_device_ring(struct kjoule_device *dev, unsigned int i);

/**
 * kjoule_ring_drain() - take the waiting records
 * @ring: the ring
 * @buf,@len: for whole records, without pads; at least 64 KiB makes sense
 * @used: out: bytes written to @buf
 *
 * Return: 0 when the ring is empty, 1 when more waits, -EBADMSG for invalid content: what was good
 *   before it is in @buf and the rest was skipped.
 */
int kjoule_ring_drain(struct kjoule_ring_reader *ring, void *buf, size_t len, size_t *used);

/**
 * kjoule_record_next() - iterate over a buffer of records
 * @off: in and out: where to read, 0 at first
 * @rec: out: the record, its size checked against its type
 * Return: 1 for a record, 0 at the end, -EBADMSG for an invalid record
 */
int kjoule_record_next(const void *buf, size_t len, size_t *off, const struct kjoule_record **rec);

/** kjoule_chain_ips() - the addresses of a chain: first @kernel, then @user of them */
static inline const uint64_t *kjoule_chain_ips(const struct kjoule_chain *c)
{
	return (const uint64_t *)((const char *)c + sizeof(*c));
}

/**
 * kjoule_jitter() - how long after the grid the tick @k is due
 * Return: nanoseconds, below @jitter_ns; 0 if @jitter_ns is 0
 */
uint64_t kjoule_jitter(uint64_t seed, uint64_t k, uint64_t jitter_ns);
/**
 * kjoule_interval_out_of_step() - a slightly longer interval, if within the module's limits
 *
 * A round rate is in step with the kernel's tick and other periodic code: what runs right after it
 * is sampled always, or never. A little slower, ticks pass over all phases in turn.
 */
uint64_t kjoule_interval_out_of_step(uint64_t interval_ns, const struct kjoule_info *info);

#endif /* KJOULE_RING_H */
