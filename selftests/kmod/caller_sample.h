/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampling a child that runs code whose callers are known (caller.h), and what is expected
 * of each of its samples. Included once, by a test of call chains, as stats.h is.
 */
#ifndef KJOULE_SELFTESTS_CALLER_SAMPLE_H
#define KJOULE_SELFTESTS_CALLER_SAMPLE_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "../ktap.h"
#include "stats.h"
#include "caller.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define CHAINS	(KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN)
#define STACK	KJOULE_FLAG_USER_STACK
#define DEPTH	10		/* of the recursion */
#define ENOUGH	40		/* samples */
#define PAGE	4096UL

static unsigned int second;	/* the CPU that the children are on */
static struct nl nl;
static struct walk walk[NL_MAX_CPUS];

/* Memory that parent and children have at the same place. */
static uint8_t *pages;		/* two, and a third that is not there */
static uint8_t *low;		/* below 4 GiB: code, frames */

/* What is expected of each sample, and what came. */
struct expect {
	const char *what;
	uint64_t ip[DEPTH + 4];
	unsigned int n;
	uint8_t flags;		/* of the chain */
	unsigned int bytes;	/* of the stack */
	/* what came */
	unsigned int seen, good, stacks, good_stacks;
	char odd[200];
};

static inline void expect_chain(struct walk *w, const struct kjoule_chain *c)
{
	struct expect *e = w->data;
	bool same;

	if (w->sample.rec.flags & KJOULE_SAMPLE_KERNEL)
		return;		/* an interrupt there */
	same = !c->kernel && c->user == e->n && c->rec.flags == e->flags &&
	       !memcmp(c->ip, e->ip, e->n * sizeof(*e->ip));
	e->seen++;
	e->good += same;
	if (!same && !e->odd[0])
		snprintf(e->odd, sizeof(e->odd), "at %#llx: %u frames instead of %u, flags %#x instead of %#x, first %#llx",
			 (unsigned long long)w->sample.ip, c->user, e->n, c->rec.flags, e->flags,
			 c->user ? (unsigned long long)c->ip[0] : 0);
}

static inline void expect_bytes(struct walk *w, const struct kjoule_stack *s)
{
	struct expect *e = w->data;

	if (w->sample.rec.flags & KJOULE_SAMPLE_KERNEL)
		return;
	e->stacks++;
	e->good_stacks += s->bytes == e->bytes;
	if (s->bytes != e->bytes && !e->odd[0])
		snprintf(e->odd, sizeof(e->odd), "%u bytes instead of %u", s->bytes, e->bytes);
}

/* Milliseconds for which a process has been running. */
static inline uint64_t ran_ms(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static inline pid_t child_start(void (*body)(const void *arg), const void *arg)
{
	volatile unsigned int sum = 0;
	volatile bool *there;
	unsigned long at;
	uint64_t ran;
	pid_t pid;

	there = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin_to(second);
		/* only what a process has used of its memory can be read without waiting */
		for (at = 0; at < 2 * PAGE; at += PAGE)
			sum += pages[at] + low[0];
		*there = true;
		body(arg);
		_exit(1);
	}
	if (!await(*there))
		ktap_not_ok("the child is on CPU %u", second);
	ran = ran_ms(pid);
	if (!await(ran_ms(pid) > ran + 10))	/* then it is where it will stay */
		ktap_not_ok("the child runs");
	munmap((void *)there, PAGE);
	return pid;
}

static inline void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Sample a child on the second CPU that does @body until there is enough; its statistics have to be
 * good.
 */
static inline bool sample_child(const char *name, void (*body)(const void *arg), const void *arg,
			 struct nl_config config,
			 void (*on_chain)(struct walk *, const struct kjoule_chain *),
			 void (*on_stack)(struct walk *, const struct kjoule_stack *), void *data)
{
	static struct nl_stats stats[NL_MAX_CPUS];
	uint64_t until = now_ns() + PATIENCE_NS;
	struct nl_session info;
	struct device d;
	bool good;

	config.interval_ns = 1000000;
	config.target = KJOULE_TARGET_PROCESS;
	config.cpus = 1ULL << second;
	config.energy = config.frequency = "";
	config.pid = child_start(body, arg);
	if (!session_begin(&nl, &config, &info, &d, walk)) {
		child_end(config.pid);
		return false;
	}
	walk->on_chain = on_chain;
	walk->on_stack = on_stack;
	walk->data = data;
	do {
		sleep_ms(20);
		drain_map(&d, walk);
	} while (walk->samples < ENOUGH && now_ns() < until);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	good = nl_stats(&nl, info.id, stats, NL_MAX_CPUS) == 1 && stats_balance(stats) &&
	       stats->samples == walk->samples && stats->records == walk->records + stats->lost;
	if (walk->fault[0])
		ktap_diag("%s: %s", name, walk->fault);
	good &= !walk->fault[0] && walk->samples >= ENOUGH;
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	child_end(config.pid);
	return good;
}

static inline void expect(struct expect *e, void (*body)(const void *arg), const void *arg,
		   uint64_t flags, uint32_t depth, uint32_t bytes)
{
	bool good = sample_child(e->what, body, arg,
				 (struct nl_config){ .flags = flags, .chain_depth = depth,
						     .stack_bytes = bytes },
				 expect_chain, expect_bytes, e);

	if (flags & CHAINS)
		good &= e->seen && e->good == e->seen;
	if (flags & STACK)
		good &= e->stacks && e->good_stacks == e->stacks;
	if (!ktap_check(good, "%s", e->what))
		ktap_diag("%u of %u chains, %u of %u stacks: %s", e->good, e->seen, e->good_stacks,
			  e->stacks, e->odd);
}

/* Memory, a socket, and a CPU for the children; ends the program where they cannot be had. */
static inline void caller_begin(void)
{
	unsigned int i;

	need_module();
	need_root();
	second = need_second_cpu("which cannot watch another");
	pin_to(cpu_first());
	pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (pages == MAP_FAILED || low == MAP_FAILED ||
	    mprotect(pages + 2 * PAGE, 2 * PAGE, PROT_NONE) || nl_open(&nl)) {
		ktap_not_ok("memory and a socket");
		exit(ktap_end());
	}
	for (i = 0; i < 2 * PAGE; i++)
		pages[i] = i * 7 + (i >> 8);
}

static inline int caller_end(void)
{
	ktap_check_equal(0, session_count(), "no session is left");
	nl_close(&nl);
	return ktap_end();
}

#endif
