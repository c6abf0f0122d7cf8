// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records perf's sideband: one event that counts nothing on each CPU, whose ring has mmap, comm,
 * fork and exit records with CLOCK_MONOTONIC. They are decoded by sideband_parse.c.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/cpus.h"
#include "lib/base/array.h"
#include "lib/sideband/sideband.h"

#define DATA_PAGES	32	/* per CPU, a power of two */

struct buffer {
	int fd;			/* -1: the CPU is offline */
	int cpu;
	bool own;		/* of the process, independent of CPUs */
	bool going, dead;	/* its CPU goes offline; has been, and is back */
	bool unavailable;		/* cannot be opened, and was counted for it */
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;
};

struct kjoule_sideband {
	size_t n;
	size_t map_len;
	uint64_t lost;
	uint8_t *copy;		/* records that wrap are passed on in one piece */
	struct buffer *buffers;
};

static int event_open(uint32_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.inherit = pid != 0,
		.exclude_kernel = 1,
		.mmap = 1,
		.mmap2 = 1,
		/* build id of the file: the path may be another file here than in a container */
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
	};

	attr.wakeup_watermark = DATA_PAGES * sysconf(_SC_PAGESIZE) / 2;
	return syscall(SYS_perf_event_open, &attr, pid ? (pid_t)pid : -1, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static int buffer_open(struct kjoule_sideband *sb, struct buffer *b, uint32_t pid, int cpu)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *map;

	b->cpu = cpu;
	b->own = pid;
	b->fd = event_open(pid, cpu);
	if (b->fd < 0)
		return -errno;
	map = mmap(NULL, sb->map_len, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	if (map == MAP_FAILED) {
		int ret = -errno;

		close(b->fd);
		b->fd = -1;
		return ret;
	}
	b->page = map;
	b->data = (const uint8_t *)map + page;
	b->size = DATA_PAGES * page;
	return 0;
}

static void buffer_close(struct kjoule_sideband *sb, struct buffer *b)
{
	if (b->fd < 0)
		return;
	munmap(b->page, sb->map_len);
	close(b->fd);
	b->fd = -1;
	b->going = b->dead = false;
}

int kjoule_sideband_open(uint32_t pid, struct kjoule_sideband **out, struct kjoule_error *err)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct kjoule_sideband *sb;
	struct kjoule_cpus online;
	int cpu = -1, ret;

	*out = NULL;
	ret = kjoule_cpus_online(&online);
	if (ret)
		return kjoule_fail(err, -ret, "asking for the CPUs that are online: %s",
				   strerror(-ret));
	sb = calloc(1, sizeof(*sb));
	if (!sb)
		return kjoule_fail(err, ENOMEM, "no memory");
	sb->map_len = (1 + DATA_PAGES) * page;
	sb->copy = malloc(DATA_PAGES * page);
	if (!sb->copy) {
		kjoule_sideband_close(sb);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	while ((cpu = kjoule_cpus_next(&online, cpu + 1)) >= 0) {
		struct buffer *b = kjoule_array_grow(&sb->buffers, &sb->n, sizeof(*b));

		ret = b ? buffer_open(sb, b, pid, cpu) : -ENOMEM;
		if (ret) {
			sb->n -= !!b;
			kjoule_sideband_close(sb);
			return kjoule_fail(err, -ret, "listening to perf's side band on CPU %d: %s%s",
					   cpu, strerror(-ret),
					   ret == -EACCES || ret == -EPERM ?
					   "; it needs CAP_PERFMON, and CAP_SYS_ADMIN where kernel.perf_event_paranoid is above 2: run it with sudo" :
					   ret == -ESRCH ? "; the process is gone" : "");
		}
	}
	*out = sb;
	return 0;
}

void kjoule_sideband_close(struct kjoule_sideband *sb)
{
	if (!sb)
		return;
	for (size_t i = 0; i < sb->n; i++)
		buffer_close(sb, &sb->buffers[i]);
	free(sb->buffers);
	free(sb->copy);
	free(sb);
}

unsigned int kjoule_sideband_poll(const struct kjoule_sideband *sb, struct pollfd *fds,
				  unsigned int n)
{
	for (size_t i = 0; i < sb->n && i < n; i++) {
		fds[i].fd = sb->buffers[i].fd;
		fds[i].events = POLLIN;
	}
	return sb->n;
}

uint64_t kjoule_sideband_lost(const struct kjoule_sideband *sb)
{
	return sb->lost;
}

static void events_count_lost(struct kjoule_sideband *sb, const void *records, size_t len)
{
	struct kjoule_event ev;
	size_t off = 0;

	while (kjoule_event_next(records, len, &off, &ev) > 0)
		if (ev.type == KJOULE_EVENT_LOST)
			sb->lost += ev.lost;
}

static int buffer_drain(struct kjoule_sideband *sb, struct buffer *b, kjoule_sideband_sink sink,
			void *arg)
{
	uint64_t head, tail, n, at, first;
	int ret;

	if (b->fd < 0)
		return 0;
	head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
	tail = b->page->data_tail;
	n = head - tail;
	at = tail & (b->size - 1);
	first = b->size - at < n ? b->size - at : n;
	if (!n || n > b->size)
		return 0;
	memcpy(sb->copy, b->data + at, first);
	memcpy(sb->copy + first, b->data, n - first);
	__atomic_store_n(&b->page->data_tail, head, __ATOMIC_RELEASE);
	events_count_lost(sb, sb->copy, n);
	ret = sink(arg, sb->copy, n);
	return ret;
}

int kjoule_sideband_drain(struct kjoule_sideband *sb, kjoule_sideband_sink sink, void *arg)
{
	int ret = 0;

	for (size_t i = 0; i < sb->n && !ret; i++)
		ret = buffer_drain(sb, &sb->buffers[i], sink, arg);
	return ret;
}

static struct buffer *buffer_find(struct kjoule_sideband *sb, int cpu)
{
	for (size_t i = 0; i < sb->n; i++)
		if (sb->buffers[i].cpu == cpu)
			return &sb->buffers[i];
	return NULL;
}

void kjoule_sideband_notice(struct kjoule_sideband *sb, int cpu, bool back)
{
	struct buffer *b = buffer_find(sb, cpu);

	if (!b || b->own || b->fd < 0)
		return;
	/* until the CPU is offline, or was, its ring is valid */
	b->dead |= back && b->going;
	b->going = !back;
}

/* Open an event on an online CPU. Return: 1 if there was none before, 0, -errno */
static int cpu_follow(struct kjoule_sideband *sb, int cpu, kjoule_sideband_sink sink, void *arg)
{
	struct buffer *b = buffer_find(sb, cpu);
	int ret;

	if (b && b->fd >= 0 && !b->dead)
		return 0;
	if (!b) {
		b = kjoule_array_grow(&sb->buffers, &sb->n, sizeof(*b));
		if (!b)
			return -ENOMEM;
		b->fd = -1;
		b->cpu = cpu;
	}
	ret = buffer_drain(sb, b, sink, arg);
	if (ret)
		return ret;
	buffer_close(sb, b);
	/* of all processes: this one has children by now, which an event of its own would miss */
	ret = buffer_open(sb, b, 0, cpu);
	/* the CPU may be offline again: retry at the next call */
	if (ret && ret != -ENODEV && !b->unavailable)
		sb->lost++;
	b->unavailable = ret && ret != -ENODEV;
	return !ret;
}

int kjoule_sideband_follow(struct kjoule_sideband *sb, kjoule_sideband_sink sink, void *arg)
{
	struct kjoule_cpus online;
	int cpu = -1, n = 0, ret = 0;

	if (kjoule_cpus_online(&online))
		return 0;
	for (size_t i = 0; i < sb->n && !ret; i++) {
		struct buffer *b = &sb->buffers[i];

		if (b->own || kjoule_cpus_has(&online, b->cpu))
			continue;
		ret = buffer_drain(sb, b, sink, arg);
		buffer_close(sb, b);
	}
	while (!ret && (cpu = kjoule_cpus_next(&online, cpu + 1)) >= 0) {
		ret = cpu_follow(sb, cpu, sink, arg);
		if (ret > 0) {
			n++;
			ret = 0;
		}
	}
	return ret ? ret : n;
}
