// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two short memories of events on the chip: frequency grants and stalls by the
 * build machine. Owns the rings; clock.c and grants.c add, the oracle writes out.
 */
#include "log.h"

#include <inttypes.h>
#include <pthread.h>

#include "clock.h"

#define ENTRIES	65536

struct grant {
	unsigned int cpu;
	uint32_t from_khz;
	uint32_t to_khz;
	uint64_t requested_ns;
	uint64_t granted_ns;
};

struct stall {
	unsigned int cpu;
	uint64_t end_ns;
	uint64_t ns;
	uint64_t task;
	uint64_t ip;
	const char *why;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct grant grants[ENTRIES];
static struct stall stalls[ENTRIES];
static uint64_t grant_head, grant_tail;
static uint64_t stall_head, stall_tail;

void log_grant(const struct core *c, uint32_t from_khz, uint64_t requested_ns, uint64_t granted_ns)
{
	pthread_mutex_lock(&lock);
	grants[grant_head++ % ENTRIES] = (struct grant){
		c->index, from_khz, chip->freq_khz[c->pstate], requested_ns, granted_ns,
	};
	pthread_mutex_unlock(&lock);
}

void log_stall(const struct core *c, uint64_t ns, const char *why)
{
	pthread_mutex_lock(&lock);
	stalls[stall_head++ % ENTRIES] = (struct stall){
		c->index, clock_now(), ns, c->prev_task, c->prev ? c->prev->vaddr : 0, why,
	};
	pthread_mutex_unlock(&lock);
}

void log_write(FILE *file)
{
	pthread_mutex_lock(&lock);
	if (grant_head - grant_tail > ENTRIES) {
		fprintf(file, "lost,grants,%" PRIu64 "\n", grant_head - grant_tail - ENTRIES);
		grant_tail = grant_head - ENTRIES;
	}
	for (; grant_tail != grant_head; grant_tail++) {
		const struct grant *g = &grants[grant_tail % ENTRIES];

		fprintf(file, "grant,%u,%u,%u,%" PRIu64 ",%" PRIu64 "\n", g->cpu, g->from_khz, g->to_khz,
			g->requested_ns, g->granted_ns);
	}
	if (stall_head - stall_tail > ENTRIES) {
		fprintf(file, "lost,stalls,%" PRIu64 "\n", stall_head - stall_tail - ENTRIES);
		stall_tail = stall_head - ENTRIES;
	}
	for (; stall_tail != stall_head; stall_tail++) {
		const struct stall *s = &stalls[stall_tail % ENTRIES];

		fprintf(file, "stall,%u,%" PRIu64 ",%" PRIu64 ",%u,%u,0x%" PRIx64 ",%s\n", s->cpu,
			s->end_ns, s->ns, (uint32_t)s->task, (uint32_t)(s->task >> 32), s->ip, s->why);
	}
	pthread_mutex_unlock(&lock);
}
