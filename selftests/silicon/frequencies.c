// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How fast a CPU is clocked under load, by all who claim to know: the module's frequency
 * source, the cpufreq policy, perf's cycle counter, and a loop of additions that depend on
 * each other, one a cycle, which asks no one. Part of silicon_summary, see summary.h.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/kjoule.h>

#include "../kmod/guest.h"
#include "session.h"
#include "summary.h"

#define RUN_NS		1500000000ULL
#define BATCH_NS	2000000ULL
#define ADDS		256	/* in a round of the loop, whose own cycle is hidden behind them */
#define MAX_VALUES	20000

struct values {
	uint64_t v[MAX_VALUES];
	uint64_t n;
};

static void keep(struct values *values, uint64_t v)
{
	if (values->n < MAX_VALUES)
		values->v[values->n++] = v;
}

static uint64_t median(struct values *values)
{
	return spread_of(values->v, values->n).p50;
}

#ifdef __x86_64__
#include <x86intrin.h>

static void add_rounds(uint64_t rounds)
{
	uint64_t a = 1, b = 3;

	/* register to register: additions of constants are folded by some cores */
	asm volatile("1:\n\t.rept 256\n\tadd %2, %1\n\t.endr\n\tdec %0\n\tjnz 1b"
		     : "+r" (rounds), "+r" (a) : "r" (b) : "cc");
}

static uint64_t read_tsc(void)
{
	return __rdtsc();
}
#else
static void add_rounds(uint64_t rounds)
{
	(void)rounds;
}

static uint64_t read_tsc(void)
{
	return 0;
}
#endif

static int open_cycles(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1, .exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* What the source reported of the CPU while it computed for us in user mode. */
struct told {
	struct values *khz;
	uint32_t pid;
};

static void see_sample(const struct session *se, unsigned int ring, uint64_t tick,
		       const struct kjoule_record *rec, void *data)
{
	const struct kjoule_sample *s = (const void *)rec;
	struct told *t = data;

	(void)tick;
	if (rec->type == KJOULE_RECORD_SAMPLE && se->pid[ring] == t->pid &&
	    !(rec->flags & KJOULE_SAMPLE_KERNEL) && s->freq_khz)
		keep(t->khz, s->freq_khz);
}

static struct reference *add(struct summary *s, const char *name, bool measured, uint64_t khz,
			     const char *note)
{
	struct reference *w = &s->reference[s->n_references++];

	w->name = name;
	w->measured = measured;
	w->khz = khz;
	snprintf(w->note, sizeof(w->note), "%s", note);
	return w;
}

static void read_policy(unsigned int cpu, struct values *khz)
{
	char path[96], text[24];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
	if (file_read(path, text, sizeof(text)) && atoll(text) > 0)
		keep(khz, atoll(text));
}

void references_ask(struct nl *nl, struct summary *s)
{
	static struct values source, policy, adds, cycles;
	unsigned int cpu = cpu_second() < 0 ? cpu_first() : (unsigned int)cpu_second(), batch = 0;
	struct told told = { .khz = &source, .pid = gettid() };
	uint64_t rounds = 1000, begin, now, end, tsc, count[3], before[3] = { 0 };
	bool session = !s->lacks && s->frequency;
	uint8_t mask[128] = { 0 };
	struct session se;
	uint64_t khz;
	char note[320];
	int fd;

	s->reference_cpu = cpu;
	mask[cpu / 8 % sizeof(mask)] = 1 << cpu % 8;
	pin_to(cpu);
	if (session && session_open(&se, nl, 1000000, mask, cpu / 8 + 1))
		session = false;
	/* warm up: governors take their time; and find out how long a round lasts */
	for (begin = now_ns(), end = begin + RUN_NS / 3; (now = now_ns()) < end;) {
		add_rounds(rounds);
		if (now_ns() - now < BATCH_NS && rounds < 1ULL << 40)
			rounds *= 2;
	}
	fd = open_cycles();
	if (session && session_start(&se)) {
		session_close(&se);
		session = false;
	}
	begin = now_ns();
	tsc = read_tsc();
	for (end = begin + RUN_NS; now_ns() < end; batch++) {
		/* perf's time is that of the task on the CPU, so what else ran does not count */
		bool counted = fd >= 0 && read(fd, before, sizeof(before)) == sizeof(before);

		now = now_ns();
		add_rounds(rounds);
		now = now_ns() - now;
		if (now)
			keep(&adds, rounds * ADDS * 1000000 / now);
		if (counted && read(fd, count, sizeof(count)) == sizeof(count) &&
		    count[2] > before[2] && count[0] > before[0])
			keep(&cycles, (count[0] - before[0]) * 1000000 / (count[2] - before[2]));
		if (batch % 16 == 0)
			read_policy(cpu, &policy);
	}
	now = now_ns();
	s->tsc_khz = (read_tsc() - tsc) * 1000000 / (now - begin);
	if (session) {
		session_stop(&se, see_sample, &told);
		session_close(&se);
	}
	if (s->frequency)
		snprintf(note, sizeof(note), "%s, %lu samples", s->frequency->name,
			 (unsigned long)source.n);
	else if (s->lacks)
		snprintf(note, sizeof(note), "%s", s->lacks);
	else
		sources_lack(s, KJOULE_KIND_FREQUENCY, note, sizeof(note));
	add(s, "source", s->frequency && !s->frequency->requested_only, median(&source), note);
	snprintf(note, sizeof(note), "%s",
		 s->cpufreq_driver[0] ? s->cpufreq_driver : "no cpufreq driver");
	add(s, "cpufreq", false, median(&policy), note);
	if (fd < 0)
		snprintf(note, sizeof(note), "perf counts no cycles: %s", strerror(errno));
	else
		snprintf(note, sizeof(note), "user mode, %lu readings", (unsigned long)cycles.n);
	add(s, "perf cycles", true, median(&cycles), note);
	/* the clock tells how long a batch took, so those that were not interrupted count */
	khz = spread_of(adds.v, adds.n).p95;
	snprintf(note, sizeof(note), "one a cycle, %lu batches", (unsigned long)adds.n);
	add(s, "additions", true, khz, adds.n ? note : "not on this architecture");
	if (fd >= 0)
		close(fd);
}
