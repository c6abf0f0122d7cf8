// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops timed by this process, the paper's own way: no module is needed, and interrupts and other
 * tasks come in between. A frequency is requested by the policy's limits (lib/machine/frequency.h),
 * which are given back by a guardian if this process is killed. See latency.h.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include "latency/latency.h"

/* Loops in a row that look like the second frequency, before those that confirm it are counted. */
#define STREAK		10u
#define LOOPS_MOST	65536u

struct state {
	cpu_set_t allowed;
	struct transition_loop *loops;
	size_t n;
};

struct range {
	uint32_t lo, hi;
};

static double user_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static __attribute__((noinline)) void user_run_adds(uint32_t n)
{
	unsigned long sum = 0;

	for (n /= 16; n; n--)
		__asm__ volatile("add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
				 "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
				 "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
				 "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0"
				 : "+r" (sum) : : "cc");
}

static double user_time_loop(struct state *s, uint32_t n, bool keep)
{
	double start = user_now_ns(), end;

	user_run_adds(n);
	end = user_now_ns();
	if (keep && s->n < LOOPS_MOST)
		s->loops[s->n++] = (struct transition_loop){ start, end - start };
	return end - start;
}

static int user_close(struct latency *l, struct kjoule_error *err)
{
	struct state *s = l->state;
	int ret;

	if (!s)
		return 0;
	ret = frequency_guard_end(&l->guard, l->frequency, err);
	sched_setaffinity(0, sizeof(s->allowed), &s->allowed);
	free(s->loops);
	free(s);
	l->state = NULL;
	return ret;
}

static int user_stay_on_cpu(unsigned int cpu, struct kjoule_error *err)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return kjoule_fail(err, errno, "running on CPU %u: %s", cpu, strerror(errno));
	/*
	 * no real-time priority: limits come about in a worker of the kernel's on this CPU, which
	 * would have to wait for us
	 */
	return 0;
}

static int user_open(struct latency *l, struct kjoule_error *err)
{
	struct state *s = calloc(1, sizeof(*s));
	struct kjoule_error other;
	int ret = 0;

	if (!s)
		return kjoule_fail(err, ENOMEM, "no memory");
	l->state = s;
	s->loops = calloc(LOOPS_MOST, sizeof(*s->loops));
	if (!s->loops)
		ret = kjoule_fail(err, ENOMEM, "no memory");
	if (!ret && sched_getaffinity(0, sizeof(s->allowed), &s->allowed))
		ret = kjoule_fail(err, errno, "asking where to run: %s", strerror(errno));
	if (!ret)
		ret = frequency_guard_start(&l->guard, l->frequency, err);
	if (!ret)
		ret = user_stay_on_cpu(l->opt->cpu, err);
	if (ret)
		user_close(l, &other);
	snprintf(l->way, sizeof(l->way), "the policy's limits in sysfs");
	return ret;
}

/* The loops so far, from @origin on. */
static int user_copy_loops(const struct state *s, double origin, struct latency_loops *to,
			   struct kjoule_error *err)
{
	to->list = calloc(s->n + 1, sizeof(*to->list));
	if (!to->list)
		return kjoule_fail(err, ENOMEM, "no memory");
	for (size_t i = 0; i < s->n; i++)
		to->list[i] = (struct transition_loop){ s->loops[i].start_ns - origin,
							s->loops[i].loop_ns };
	to->n = s->n;
	return 0;
}

static int user_calibrate(struct latency *l, uint32_t n, uint32_t khz, uint32_t loops,
			  uint64_t wait_ns, struct latency_loops *to, struct kjoule_error *err)
{
	struct state *s = l->state;
	double until;
	int ret = kjoule_frequency_hold_one(l->frequency, l->policy->number, khz, err);

	if (ret)
		return ret;
	s->n = 0;
	*to = (struct latency_loops){ .done = true };
	for (until = user_now_ns() + wait_ns; user_now_ns() < until;)
		user_time_loop(s, n, false);
	for (uint32_t i = 0; i < loops; i++)
		user_time_loop(s, n, true);
	return user_copy_loops(s, s->n ? s->loops[0].start_ns : 0, to, err);
}

/*
 * Loops until a row of them is within @like, or the time is up, or there are as many as may be.
 * Return: is it?
 */
static bool user_wait_for_level(struct state *s, uint32_t n, const struct range *like, double until,
				uint32_t most, bool keep)
{
	uint32_t streak = 0;

	while (streak < STREAK && user_now_ns() < until && most--) {
		double ns = user_time_loop(s, n, keep);

		streak = ns >= like->lo && ns <= like->hi ? streak + 1 : 0;
	}
	return streak == STREAK;
}

static uint32_t user_random_below(uint32_t n)
{
	uint32_t v = 0;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v = (uint32_t)user_now_ns();
	return n ? v % n : 0;
}

static int user_attempt(struct latency *l, const struct latency_ask *ask, struct latency_loops *to,
			struct kjoule_error *err)
{
	const struct range from = { ask->from_lo_ns, ask->from_hi_ns };
	const struct range at = { ask->to_lo_ns, ask->to_hi_ns };
	struct state *s = l->state;
	uint32_t lead = ask->lead + user_random_below(ask->lead + 1);
	double asked;
	int ret;

	/* both were held before, by calibration */
	ret = kjoule_frequency_set(l->frequency, l->policy->number, ask->from_khz);

	if (ret)
		return kjoule_fail(err, -ret, "holding policy%u at %.6g MHz: %s",
				   l->policy->number, ask->from_khz / 1e3, strerror(-ret));
	s->n = 0;
	*to = (struct latency_loops){ 0 };
	user_wait_for_level(s, ask->adds, &from, user_now_ns() + ask->timeout_ns, UINT32_MAX,
			    false);
	for (uint32_t i = 0; i <= lead; i++)
		user_time_loop(s, ask->adds, true);
	asked = user_now_ns();
	ret = kjoule_frequency_set(l->frequency, l->policy->number, ask->to_khz);
	if (ret)
		return kjoule_fail(err, -ret, "holding policy%u at %.6g MHz: %s",
				   l->policy->number, ask->to_khz / 1e3, strerror(-ret));
	to->asked_ns = asked;
	to->request_ns = user_now_ns() - asked;
	user_run_adds(user_random_below(ask->adds));
	to->done = user_wait_for_level(s, ask->adds, &at, asked + ask->timeout_ns, ask->loops,
				       true);
	for (uint32_t i = STREAK; to->done && i < ask->confirm + 1; i++)
		user_time_loop(s, ask->adds, true);
	return user_copy_loops(s, asked, to, err);
}

const struct latency_engine latency_user = {
	.name = "user", .open = user_open, .calibrate = user_calibrate, .attempt = user_attempt,
	.close = user_close };
