// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recorder's side of the memory that programs mark their regions in; see mark_ring.h. Programs
 * may write anything there: the state of this side is in its own memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "lib/region/mark_ring.h"

/* Taken at once, so that endless writers do not keep us from other work. */
#define DRAIN_UNITS	(8u * 1024 * 1024 / sizeof(struct kjoule_region_unit))

/* The command gets it under a number that neither shells nor their scripts use. */
#define FD_FROM		230

/* Nothing is executed from there. May be newer than the C library's headers, and the kernel. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	0x0008u
#endif

/* State of a ring. */
struct side {
	uint64_t tail;
	uint64_t lost, left_out;	/* as last reported */
	uint64_t quiet;			/* unchanged since the last read */
};

struct kjoule_region_area {
	int fd;
	uint64_t inode;
	pid_t pid;			/* who made it */
	uid_t user;			/* its owner */
	struct kjoule_region_head *head;
	struct kjoule_region_unit *units;
	struct kjoule_region_unit *copy;
	struct side sides[KJOULE_REGION_RINGS];
	uint32_t first;			/* ring that is read first: in turn */
	uint64_t damaged;
};

static uint64_t recorder_namespace(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

int kjoule_region_area_new(struct kjoule_region_area **out)
{
	struct kjoule_region_area *a = calloc(1, sizeof(*a));
	struct stat st;
	void *p;
	int ret;

	*out = NULL;
	if (!a)
		return -ENOMEM;
	a->pid = getpid();
	a->user = geteuid();
	a->copy = malloc(KJOULE_REGION_UNITS * sizeof(*a->copy));
	a->fd = memfd_create("kjoule-regions", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (a->fd < 0 && errno == EINVAL)
		a->fd = memfd_create("kjoule-regions", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (!a->copy || a->fd < 0) {
		ret = a->copy ? -errno : -ENOMEM;
		goto err_free;
	}
	/* programs may write into it, but not shrink it under others' mappings */
	if (ftruncate(a->fd, KJOULE_REGION_BYTES) ||
	    fcntl(a->fd, F_ADD_SEALS, KJOULE_REGION_SEALS) || fstat(a->fd, &st))
		goto err_close;
	p = mmap(NULL, KJOULE_REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	if (p == MAP_FAILED)
		goto err_close;
	a->inode = st.st_ino;
	a->head = p;
	a->units = (struct kjoule_region_unit *)(a->head + 1);
	a->head->magic = KJOULE_REGION_MAGIC;
	a->head->head_bytes = sizeof(*a->head);
	a->head->pid_namespace = recorder_namespace("/proc/self/ns/pid");
	a->head->time_namespace = recorder_namespace("/proc/self/ns/time");
	*out = a;
	return 0;

err_close:
	ret = -errno;
	close(a->fd);
err_free:
	free(a->copy);
	free(a);
	return ret;
}

void kjoule_region_area_free(struct kjoule_region_area *a)
{
	if (!a)
		return;
	munmap(a->head, KJOULE_REGION_BYTES);
	close(a->fd);
	free(a->copy);
	free(a);
}

int kjoule_region_area_hand_over(const struct kjoule_region_area *a)
{
	pid_t other_pid = a->pid;
	int other_fd = a->fd, fd = fcntl(a->fd, F_DUPFD, FD_FROM);
	char text[96];

	/* with a limit use what there is */
	if (fd < 0)
		fd = fcntl(a->fd, F_DUPFD, 10);
	if (fd < 0)
		return -errno;
	/*
	 * A program that has lost the descriptor looks elsewhere: not in another user's recorder,
	 * nor in one with capabilities, as the kernel shows the descriptors of these to root only.
	 * The command itself has it as well.
	 */
	if (geteuid() != a->user || prctl(PR_GET_DUMPABLE) != 1) {
		other_pid = getpid();
		other_fd = fd;
	}
	snprintf(text, sizeof(text), "%d:%llu:%d:%d", fd, (unsigned long long)a->inode, other_pid,
		 other_fd);
	return setenv(KJOULE_REGION_ENV, text, 1) ? -errno : 0;
}

/* Units [@from, @from + @n) of a ring, which may wrap. */
static void ring_copy_units(const struct kjoule_region_area *a, uint32_t ring, uint64_t from,
			    size_t n)
{
	const struct kjoule_region_unit *units = a->units + (size_t)ring * KJOULE_REGION_UNITS;
	size_t at = from & (KJOULE_REGION_UNITS - 1), first = KJOULE_REGION_UNITS - at;

	if (first > n)
		first = n;
	memcpy(a->copy, units + at, first * sizeof(*units));
	memcpy(a->copy + first, units, (n - first) * sizeof(*units));
}

static int ring_drain_marks(struct kjoule_region_area *a, uint32_t i, size_t most,
			    kjoule_region_sink sink, void *arg, size_t *waited)
{
	struct kjoule_region_ring *ring = &a->head->rings[i];
	struct side *s = &a->sides[i];
	struct kjoule_region_batch batch = { .ring = i, .first = s->tail };
	/* B, pairs with A in region.c */
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	uint64_t n = head - s->tail;

	batch.lost = __atomic_load_n(&ring->lost, __ATOMIC_RELAXED);
	batch.left_out = __atomic_load_n(&ring->left_out, __ATOMIC_RELAXED);
	*waited = 0;
	/* for a moment it may be behind, if a signal handler has marked something in between */
	if ((int64_t)n < 0)
		n = 0;
	if (n > KJOULE_REGION_UNITS) {
		a->damaged++;
		s->tail = head;
		__atomic_store_n(&ring->tail, head, __ATOMIC_RELEASE);
		return 0;
	}
	*waited = n;
	/* do not split a record: take it the next time */
	if (n > most)
		n = 0;
	if (!n && batch.lost == s->lost && batch.left_out == s->left_out)
		return 0;
	ring_copy_units(a, i, s->tail, n);
	batch.units = n;
	s->tail += n;
	s->lost = batch.lost;
	s->left_out = batch.left_out;
	s->quiet = 0;
	/* C, pairs with D in region.c */
	__atomic_store_n(&ring->tail, s->tail, __ATOMIC_RELEASE);
	return sink(arg, &batch, a->copy);
}

/* Most rings have no owner. */
static bool ring_has_nothing_new(const struct kjoule_region_ring *ring, const struct side *s)
{
	return __atomic_load_n(&ring->head, __ATOMIC_RELAXED) == s->tail &&
	       __atomic_load_n(&ring->lost, __ATOMIC_RELAXED) == s->lost &&
	       __atomic_load_n(&ring->left_out, __ATOMIC_RELAXED) == s->left_out;
}

int kjoule_region_area_drain(struct kjoule_region_area *a, kjoule_region_sink sink, void *arg,
			     double *fullest)
{
	size_t left = DRAIN_UNITS, most = 0, waited, taken;
	int ret = 0;

	for (uint32_t k = 0; k < KJOULE_REGION_RINGS && !ret; k++) {
		uint32_t i = (a->first + k) % KJOULE_REGION_RINGS;

		if (!left) {
			a->first = i;
			break;
		}
		if (ring_has_nothing_new(&a->head->rings[i], &a->sides[i]))
			continue;
		ret = ring_drain_marks(a, i, left, sink, arg, &waited);
		taken = waited < left ? waited : left;
		left -= taken;
		if (waited > most)
			most = waited;
	}
	*fullest = (double)most / KJOULE_REGION_UNITS;
	return ret ? ret : !left;
}

void kjoule_region_area_reap(struct kjoule_region_area *a)
{
	for (uint32_t i = 0; i < KJOULE_REGION_RINGS; i++) {
		uint64_t owner = __atomic_load_n(&a->head->owners[i], __ATOMIC_ACQUIRE);
		pid_t pid = owner >> 32, tid = owner;

		if (!owner || !a->sides[i].quiet++)
			continue;
		/* its units stay to be read: the next owner goes on after them */
		if (pid <= 0 || tid <= 0 || (syscall(SYS_tgkill, pid, tid, 0) && errno == ESRCH))
			__atomic_compare_exchange_n(&a->head->owners[i], &owner, 0, false,
						    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
}

void kjoule_region_area_end(struct kjoule_region_area *a)
{
	__atomic_store_n(&a->head->over, 1, __ATOMIC_RELAXED);
}

void kjoule_region_area_counters(const struct kjoule_region_area *a,
				 struct kjoule_region_counters *counters)
{
	*counters = (struct kjoule_region_counters){
		.foreign = __atomic_load_n(&a->head->foreign, __ATOMIC_RELAXED),
		.refused = __atomic_load_n(&a->head->refused, __ATOMIC_RELAXED),
		.unmapped = __atomic_load_n(&a->head->unmapped, __ATOMIC_RELAXED),
		.damaged = a->damaged,
	};
	for (uint32_t i = 0; i < KJOULE_REGION_RINGS; i++) {
		const struct kjoule_region_ring *ring = &a->head->rings[i];
		uint64_t next = __atomic_load_n(&ring->next, __ATOMIC_RELAXED);

		counters->lost += a->sides[i].lost;
		counters->left_out += a->sides[i].left_out;
		if (next - a->sides[i].tail <= KJOULE_REGION_UNITS)
			counters->unfinished += next - a->sides[i].tail;
	}
}
