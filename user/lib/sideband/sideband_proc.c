// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names and mappings of processes that ran before the sideband began, read from /proc and written
 * as the records that perf would have made.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "lib/sideband/sideband.h"

/* What follows every record: PERF_SAMPLE_TID, _TIME and _CPU. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
	struct sample_id id;
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, len, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	/* the file's name, zero padded to 8 bytes, and a struct sample_id */
};

_Static_assert(sizeof(struct comm_record) == 56, "comm");
_Static_assert(sizeof(struct mmap2_record) == 72, "mmap2");

struct walk {
	uint64_t time_ns, since_ns;
	kjoule_sideband_sink sink;
	void *arg;
};

/* When a process began, by CLOCK_MONOTONIC, rounded up to some ms. 0: unknown */
static uint64_t process_began_ns(uint32_t pid)
{
	int64_t step_ns = 1000000000 / sysconf(_SC_CLK_TCK), ticks = 0, began;
	struct timespec boot, mono;
	char path[64], line[1024];
	const char *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	/* after the name, which may contain anything, it is the 20th */
	p = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	for (int i = 0; p && i < 20; i++)
		p = strchr(p + 1, ' ');
	fclose(f);
	if (!p || sscanf(p, "%" SCNd64, &ticks) != 1)
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	began = (ticks + 1) * step_ns - (boot.tv_sec - mono.tv_sec) * 1000000000ll -
		(boot.tv_nsec - mono.tv_nsec);
	return began > 0 ? began : 0;
}

static int thread_put_comm(const struct walk *w, uint32_t pid, uint32_t tid)
{
	struct comm_record r = {
		.header = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_USER,
			    .size = sizeof(r) },
		.pid = pid, .tid = tid,
		.id = { .pid = pid, .tid = tid, .time = w->time_ns },
	};
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(r.comm, 1, sizeof(r.comm) - 1, f);
	fclose(f);
	if (n && r.comm[n - 1] == '\n')
		r.comm[n - 1] = '\0';
	return w->sink(w->arg, &r, sizeof(r));
}

static int process_put_map(const struct walk *w, uint32_t pid, char *line)
{
	union {
		struct mmap2_record r;
		char bytes[sizeof(struct mmap2_record) + PATH_MAX + 8 + sizeof(struct sample_id)];
	} u = { .r = { .header = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER },
		       .pid = pid, .tid = pid } };
	struct sample_id id = { .pid = pid, .tid = pid, .time = w->time_ns };
	uint64_t start, end, offset, inode;
	unsigned int major, minor;
	char perm[8];
	size_t len;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &start,
		   &end, perm, &offset, &major, &minor, &inode, &at) < 7 || !at)
		return 0;
	if (!strchr(perm, 'x'))
		return 0;
	u.r.start = start;
	u.r.len = end - start;
	u.r.offset = offset;
	u.r.major = major;
	u.r.minor = minor;
	u.r.inode = inode;
	u.r.prot = PROT_EXEC | (perm[0] == 'r' ? PROT_READ : 0) | (perm[1] == 'w' ? PROT_WRITE : 0);
	u.r.flags = perm[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	len = snprintf(u.bytes + sizeof(u.r), PATH_MAX, "%s", line[at] ? line + at : "//anon");
	if (len >= PATH_MAX)
		return 0;
	len = sizeof(u.r) + ((len + 8) & ~(size_t)7);
	memcpy(u.bytes + len, &id, sizeof(id));
	u.r.header.size = len + sizeof(id);
	return w->sink(w->arg, &u, u.r.header.size);
}

static int process_put_maps(const struct walk *w, uint32_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	int ret = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!ret && getline(&line, &room, f) > 0)
		ret = process_put_map(w, pid, line);
	free(line);
	fclose(f);
	return ret;
}

/* After the fork, which perf may have recorded, and not later than now. */
static void process_set_time(struct walk *w, uint32_t pid, uint64_t now_ns)
{
	uint64_t ns = w->since_ns < UINT64_MAX ? process_began_ns(pid) : 0;

	w->time_ns = ns > w->since_ns && ns < now_ns ? ns : now_ns;
}

static int process_put_records(const struct walk *all, uint32_t pid)
{
	struct walk one = *all, *w = &one;
	char path[64];
	struct dirent *e;
	int ret = 0;
	DIR *dir;

	process_set_time(w, pid, all->time_ns);

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	while (!ret && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			ret = thread_put_comm(w, pid, strtoul(e->d_name, NULL, 10));
	closedir(dir);
	return ret ? ret : process_put_maps(w, pid);
}

int kjoule_sideband_proc(uint32_t pid, uint64_t time_ns, uint64_t since_ns,
			 kjoule_sideband_sink sink, void *arg)
{
	struct walk w = { .time_ns = time_ns, .since_ns = since_ns, .sink = sink, .arg = arg };
	struct dirent *e;
	int ret = 0;
	DIR *dir;

	if (pid)
		return process_put_records(&w, pid);
	dir = opendir("/proc");
	if (!dir)
		return -errno;
	while (!ret && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		ret = process_put_records(&w, strtoul(e->d_name, NULL, 10));
		/* Processes come and go, and some may not be read. */
		if (ret == -ESRCH || ret == -EACCES || ret == -EPERM)
			ret = 0;
	}
	closedir(dir);
	return ret;
}
