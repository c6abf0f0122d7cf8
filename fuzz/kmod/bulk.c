// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves with /dev/kjoule: opened and closed in the middle, ioctls with structures of any
 * size and content at addresses good and bad, also of other files; mappings of any place,
 * length and protection, what is in them read, the tail page written with lies; read and poll.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/kjoule.h>

#include "world.h"

#define PAGE	4096UL

static struct device *pick_device(struct world *w)
{
	unsigned int i, at = dice_below(&w->dice, DEVICES);

	for (i = 0; i < DEVICES; i++) {
		if (w->device[(at + i) % DEVICES].fd >= 0)
			return &w->device[(at + i) % DEVICES];
	}
	return NULL;
}

/* Its descriptor, or, at times, any that is open. */
static int pick_fd(struct world *w, const struct device *d)
{
	int fd = any_fd(w);

	return dice_one_in(&w->dice, 16) ? fd : d->fd;
}

void bulk_open(struct world *w)
{
	struct device *d = &w->device[dice_below(&w->dice, DEVICES)];
	int flags = dice_one_in(&w->dice, 6) ? (int)dice_below(&w->dice, 4) : O_RDWR;
	bool blocks = dice_one_in(&w->dice, 8);

	if (d->fd >= 0)
		return;
	memset(d, 0, sizeof(*d));
	world_arm(w);
	d->fd = open(KJOULE_DEVICE, flags | O_CLOEXEC | (blocks ? 0 : O_NONBLOCK));
	world_disarm(w);
}

void bulk_close(struct world *w)
{
	struct device *d = pick_device(w);

	if (!d)
		return;
	close(d->fd);
	memset(d, 0, sizeof(*d));
	d->fd = -1;
}

static uint32_t drawn_size(struct world *w, uint32_t right)
{
	static const uint32_t sizes[] =
		{ 0, 4, 7, 8, 12, 16, 24, 32, 33, 40, 64, 88, 96, 128, 4096, 4097, 65536 };

	if (dice_one_in(&w->dice, 8))
		return dice_number(&w->dice);
	return dice_one_in(&w->dice, 4) ? sizes[dice_below(&w->dice, 17)] : right;
}

/*
 * The argument: a structure at a good address for the most part, or at the end of what is mapped.
 */
static void *argument(struct world *w, uint8_t *page, uint32_t size)
{
	switch (dice_below(&w->dice, 16)) {
	case 0:
		return w->bad[dice_below(&w->dice, 4)];
	case 1:
		return w->read_only;
	case 2:		/* ends with what is mapped, or a little beyond it */
		size = size > PAGE ? PAGE : size;
		size -= size && dice_one_in(&w->dice, 2);
		memmove(page + PAGE - size, page, size);
		return page + PAGE - size;
	default:
		return page;
	}
}

static int pick_ioctl_fd(struct world *w, struct device **d)
{
	*d = NULL;
	if (dice_one_in(&w->dice, 12))
		return any_fd(w);
	*d = pick_device(w);
	return *d ? (*d)->fd : -1;
}

/* What the attributes of a structure are, right for the most part. */
static void fill(struct world *w, uint8_t *page, enum ioctl_kind kind, uint32_t *size)
{
	struct kjoule_attach *attach = (struct kjoule_attach *)page;
	struct kjoule_ring *ring = (struct kjoule_ring *)page;
	unsigned int i;

	memset(page, 0, PAGE);
	switch (kind) {
	case IOCTL_INFO:
		*size = drawn_size(w, sizeof(struct kjoule_info));
		break;
	case IOCTL_ATTACH:
		*size = drawn_size(w, sizeof(*attach));
		attach->session = any_session(w);
		break;
	default:
		*size = drawn_size(w, sizeof(*ring));
		ring->index = dice_one_in(&w->dice, 6) ? dice_number(&w->dice) :
			      dice_below(&w->dice, 2);
		break;
	}
	if (dice_one_in(&w->dice, 6)) {
		for (i = 1 + dice_below(&w->dice, 3); i; i--)
			page[dice_below(&w->dice, dice_one_in(&w->dice, 2) ? 96 : PAGE)] =
				dice_bits(&w->dice);
	}
	memcpy(page, size, 4);
}

static void learn(struct device *d, enum ioctl_kind kind, const uint8_t *page, uint32_t size)
{
	const struct kjoule_attach *attach = (const struct kjoule_attach *)page;
	const struct kjoule_ring *ring = (const struct kjoule_ring *)page;

	if (kind == IOCTL_ATTACH) {
		d->session = attach->session;
		d->rings = size >= sizeof(*attach) ? attach->cpus : 1;
	} else if (kind == IOCTL_RING && size >= sizeof(*ring)) {
		d->ring_bytes = ring->data_size;
	}
}

void bulk_ioctl(struct world *w)
{
	static const unsigned long known[] =
		{ KJOULE_IOC_INFO, KJOULE_IOC_ATTACH, KJOULE_IOC_RING };
	enum ioctl_kind kind = dice_below(&w->dice, 12);
	uint8_t *page = w->argument;
	unsigned long cmd;
	struct device *d;
	uint32_t size;
	void *at;
	int fd, err;

	/* attached, a file only knows the others */
	kind = kind < 2 ? IOCTL_INFO : kind < 6 ? IOCTL_ATTACH : kind < 11 ? IOCTL_RING :
	       IOCTL_OTHER;
	fd = pick_ioctl_fd(w, &d);
	fill(w, page, kind, &size);
	at = argument(w, page, size);
	cmd = kind == IOCTL_OTHER ? dice_one_in(&w->dice, 2) ?
	      _IO(KJOULE_IOC_MAGIC, dice_below(&w->dice, 256)) :
	      dice_bits(&w->dice) : known[kind];
	world_arm(w);
	if (cmd == KJOULE_IOC_INFO || cmd == KJOULE_IOC_ATTACH || cmd == KJOULE_IOC_RING || d)
		err = ioctl(fd, cmd, at);
	else
		/* nothing else of files that are not the module's */
		err = ioctl(fd, known[0], at);
	world_disarm(w);
	if (w->trace)
		fprintf(w->trace, "ioctl %#lx of %d, size %u: %d\n", cmd, fd, size, err);
	if (!err && d && at == page)
		learn(d, kind, page, size);
	count(&w->tally->messages);
	count(&w->tally->ioctl[d ? kind : IOCTL_OTHER][err ? REFUSED : ACCEPTED]);
}

/* A ring as it should be, or anything. */
void bulk_map(struct world *w)
{
	static const int prots[] = { PROT_READ, PROT_READ, PROT_READ | PROT_WRITE,
				     PROT_READ | PROT_WRITE, PROT_EXEC, PROT_READ | PROT_EXEC,
				     PROT_NONE, PROT_WRITE };
	static const int kinds[] = { MAP_SHARED, MAP_SHARED, MAP_SHARED, MAP_PRIVATE };
	struct mapping *m = &w->mapping[dice_below(&w->dice, MAPPINGS)];
	struct device *d = pick_device(w);
	uint64_t ring = d && d->ring_bytes ? d->ring_bytes : PAGE << dice_below(&w->dice, 4);
	uint64_t offset = dice_below(&w->dice, 3) * (ring + 2 * PAGE);
	bool tail = dice_one_in(&w->dice, 2), right = !dice_one_in(&w->dice, 4);
	size_t bytes = tail ? PAGE : PAGE + ring;
	int prot = right ? tail ? PROT_READ | PROT_WRITE : PROT_READ :
		   prots[dice_below(&w->dice, 8)];
	int fd, kind;
	void *at;

	if (dice_one_in(&w->dice, 2))
		offset = 0;
	offset += tail ? PAGE + ring : 0;
	if (!right && dice_one_in(&w->dice, 2))
		bytes = PAGE * dice_below(&w->dice, 40) + dice_below(&w->dice, 2);
	if (!right && dice_one_in(&w->dice, 3))
		offset = dice_number(&w->dice) & ~(PAGE - 1);
	if (!d)
		return;
	kind = right ? MAP_SHARED : kinds[dice_below(&w->dice, 4)];
	fd = pick_fd(w, d);
	world_arm(w);
	at = mmap(NULL, bytes, prot, kind, fd, offset);
	world_disarm(w);
	count(&w->tally->mmap[at == MAP_FAILED]);
	if (w->trace)
		fprintf(w->trace, "mmap of %d, %zu bytes at %#llx, prot %d: %s\n", fd, bytes,
			(unsigned long long)offset, prot, at == MAP_FAILED ? strerror(errno) : "done");
	if (at == MAP_FAILED)
		return;
	if (m->at)
		world_forget_mapping(m);
	/* whole pages are mapped, and only those of a whole number can be taken away again */
	*m = (struct mapping){ at, (bytes + PAGE - 1) & ~(PAGE - 1), prot };
}

static struct mapping *pick_mapping(struct world *w)
{
	unsigned int i, at = dice_below(&w->dice, MAPPINGS);

	for (i = 0; i < MAPPINGS; i++) {
		if (w->mapping[(at + i) % MAPPINGS].at)
			return &w->mapping[(at + i) % MAPPINGS];
	}
	return NULL;
}

/* Unmapped, in part, moved, or with another protection. */
void bulk_unmap(struct world *w)
{
	struct mapping *m = pick_mapping(w);
	unsigned int what = dice_below(&w->dice, 8), prot = dice_below(&w->dice, 8);
	void *at;

	if (!m)
		return;
	switch (what) {
	case 0:
		mprotect(m->at, m->bytes, prot);
		m->prot = 0;	/* whatever it is now, nothing here relies on it */
		break;
	case 1:
		at = mremap(m->at, m->bytes, m->bytes + PAGE, MREMAP_MAYMOVE);
		if (at != MAP_FAILED)
			*m = (struct mapping){ at, m->bytes + PAGE, 0 };
		break;
	case 2:
		madvise(m->at, m->bytes, dice_one_in(&w->dice, 2) ? MADV_DONTNEED : MADV_DOFORK);
		m->prot = 0;
		break;
	case 3:		/* a hole at its end */
		if (m->bytes > PAGE) {
			m->bytes -= PAGE;
			world_unmap((uint8_t *)m->at + m->bytes, PAGE);
		}
		break;
	default:
		world_forget_mapping(m);
		break;
	}
}

/* Read in a mapping as a reader would who walks the records. */
void bulk_touch(struct world *w)
{
	struct mapping *m = pick_mapping(w);
	volatile uint64_t sum = 0;
	size_t at;

	if (!m || !(m->prot & PROT_READ))
		return;
	for (at = 0; at < m->bytes; at += 512)
		sum += *(volatile uint64_t *)((uint8_t *)m->at + at);
}

/* Say that so much was read. */
void bulk_tail(struct world *w)
{
	struct mapping *m = pick_mapping(w);
	uint64_t number = dice_number(&w->dice), small = dice_below(&w->dice, 512) * 8;
	unsigned int what = dice_below(&w->dice, 4);
	volatile uint64_t *tail;

	if (!m || !(m->prot & PROT_WRITE))
		return;
	tail = m->at;
	*tail = what == 0 ? number : what == 1 ? *tail + small : what == 2 ? *tail + 1 : 0;
}

static struct iovec *buffers(struct world *w, unsigned int *n)
{
	static __thread uint8_t buffer[1 << 17];
	static __thread struct iovec parts[4];
	size_t size = dice_one_in(&w->dice, 3) ? dice_below(&w->dice, 4096) :
		      1024UL << dice_below(&w->dice, 7);
	unsigned int i;

	*n = dice_one_in(&w->dice, 6) ? 1 + dice_below(&w->dice, 4) : 1;
	for (i = 0; i < *n; i++)
		parts[i] = (struct iovec){ buffer + i * 4096,
					   i + 1 < *n ? dice_below(&w->dice, 200) : size };
	if (dice_one_in(&w->dice, 10))
		parts[dice_below(&w->dice, *n)].iov_base = w->bad[dice_below(&w->dice, 4)];
	/* a buffer that ends where nothing is mapped, so that a part can be copied */
	if (dice_one_in(&w->dice, 12)) {
		size = 32 + dice_below(&w->dice, 600);
		parts[*n - 1] = (struct iovec){ (uint8_t *)w->bad[3] + PAGE - size, 8192 };
	}
	return parts;
}

void bulk_read(struct world *w)
{
	struct device *d = pick_device(w);
	unsigned int n, how = dice_below(&w->dice, 10);
	struct iovec *parts = buffers(w, &n);
	uint64_t number = dice_number(&w->dice);
	int pipe_fd[2] = { -1, -1 }, fd;
	ssize_t got;

	if (!d)
		return;
	fd = pick_fd(w, d);
	/* no signal while copies may fail: that to its frame would, and end the program */
	if (w->nth)
		how = 0;
	if (how == 2 && pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK))
		return;
	if (how)
		world_hurry(w);
	world_arm(w);
	if (how == 0)
		got = preadv2(fd, parts, n, -1, RWF_NOWAIT);
	else if (how == 1)
		got = pread(fd, parts[0].iov_base, parts[0].iov_len, number);
	else if (how == 2)
		got = splice(fd, NULL, pipe_fd[1], NULL, 65536, SPLICE_F_NONBLOCK);
	else
		got = readv(fd, parts, n);
	world_disarm(w);
	count(&w->tally->read[got < 0]);
	if (w->trace)
		fprintf(w->trace, "read of %d: %zd, %s\n", fd, got,
			got < 0 ? strerror(errno) : "done");
	world_relax(w);
	if (how == 2) {
		close(pipe_fd[0]);
		close(pipe_fd[1]);
	}
}

void bulk_poll(struct world *w)
{
	struct device *d = pick_device(w);
	struct pollfd p = { .events = dice_bits(&w->dice) };
	struct epoll_event event = { .events = EPOLLIN | EPOLLET }, got[4];
	bool epoll = dice_one_in(&w->dice, 4);
	int wait = dice_one_in(&w->dice, 8) ? 2 : 0, fd;

	if (!d)
		return;
	p.fd = d->fd;
	if (!epoll) {
		poll(&p, 1, wait);
		return;
	}
	fd = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(fd, EPOLL_CTL_ADD, d->fd, &event);
	epoll_wait(fd, got, 4, wait);
	close(fd);
}

/* What else can be done to an open file. */
void bulk_file(struct world *w)
{
	struct device *d = pick_device(w);
	uint64_t number = dice_number(&w->dice);
	unsigned int what = dice_below(&w->dice, 6);
	char byte = 0;
	int copy;

	if (!d)
		return;
	switch (what) {
	case 0:
		lseek(d->fd, number, number & 3);
		break;
	case 1:
		if (write(d->fd, &byte, 1) >= 0)
			abort();	/* the device is never written */
		break;
	case 2:		/* there for a moment, so that the first close is not the last one */
		copy = dup(d->fd);
		close(d->fd);
		d->fd = copy;
		break;
	case 3:
		fcntl(d->fd, F_SETFL, fcntl(d->fd, F_GETFL) ^ (number & 1 ? O_NONBLOCK : O_ASYNC));
		break;
	case 4:
		fsync(d->fd);
		break;
	default:
		fcntl(d->fd, F_SETFL, O_NONBLOCK);
		break;
	}
}
