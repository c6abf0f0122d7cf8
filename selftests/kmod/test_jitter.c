// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times are what they say: a tick is never taken before it is due, and a reader that
 * looks on finds the records right after the times that they tell, with jitter (repeated
 * in user space from seed and tick) as without.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000
#define MAX_TICKS	2000
#define ENOUGH		1000
#define LOOK_NS		50000	/* from one look at the ring to the next */

struct look {
	uint64_t shift[MAX_TICKS];	/* due time against the grid */
	uint64_t late[MAX_TICKS];
	unsigned int n;
	uint64_t following[MAX_TICKS];	/* how late were those right after another one */
	unsigned int n_following;
	uint64_t last_ns, last_tick;
};

static void note(struct walk *w, uint64_t tick, const struct kjoule_sample *s)
{
	struct look *look = w->data;

	if (look->n < MAX_TICKS) {
		look->shift[look->n] = walk_due_ns(w->session, tick) - w->session->t0_ns -
				       tick * w->session->interval_ns;
		look->late[look->n++] = s->delay_ns;
		if (tick == look->last_tick + 1)
			look->following[look->n_following++] = s->delay_ns;
	}
	look->last_tick = tick;
	look->last_ns = walk_due_ns(w->session, tick) + s->delay_ns;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The value below which @tenths of ten lie. */
static uint64_t quantile(uint64_t *v, unsigned int n, unsigned int tenths)
{
	qsort(v, n, sizeof(*v), by_value);
	return n ? v[n * tenths / 10] : 0;
}

/*
 * How late this machine's timers are just then, whoever uses them: a thread of real-time
 * priority that sleeps to a grid of the same interval on the same CPU. A tick is taken in the
 * timer's interrupt, so it cannot be much later than that.
 */
struct sleeper {
	pthread_t thread;
	volatile bool end;
	bool prior;		/* it had its priority */
	uint64_t late[MAX_TICKS];
	unsigned int n;
};

static void *sleep_on_grid(void *data)
{
	const struct sched_param param = { .sched_priority = 50 };
	struct sleeper *s = data;
	uint64_t due = now_ns(), now;

	pin_to(cpu_first());
	s->prior = !pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	while (!s->end && s->n < MAX_TICKS) {
		struct timespec t;

		due += INTERVAL_NS;
		t = (struct timespec){ due / 1000000000, due % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		now = now_ns();
		s->late[s->n++] = now - due;
		/* as with ticks, the latest one due counts */
		if (now > due + INTERVAL_NS)
			due += (now - due) / INTERVAL_NS * INTERVAL_NS;
	}
	return NULL;
}

/*
 * Watch the first CPU from another without sleeping: when does a record appear, against its time?
 */
static void check_times(uint64_t jitter_ns, const char *name)
{
	static uint64_t delay[MAX_TICKS];
	static struct sleeper sleeper;
	static struct look look;
	uint64_t end, seen, empty, soonest_ns, tick_ns, sleep_ns, sum = 0, low = UINT64_MAX;
	uint64_t high = 0;
	unsigned int n = 0, early = 0, i;
	struct walk walk;
	struct nl_session info;
	struct device d;
	struct nl nl;
	int err;

	err = nl_open(&nl) ?: nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
								       .cpus = 1ULL << cpu_first(),
								       .jitter_ns = jitter_ns },
					     &info) ?:
	      device_open(&d, info.id) ?: device_map(&d) ?:
	      nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info);
	if (err) {
		ktap_not_ok("%s: a session: %s", name, strerrorname_np(-err));
		return;
	}
	memset(&look, 0, sizeof(look));
	memset(&sleeper, 0, sizeof(sleeper));
	pthread_create(&sleeper.thread, NULL, sleep_on_grid, &sleeper);
	walk_begin(&walk, &info, cpu_first());
	walk.on_sample = note;
	walk.data = &look;
	for (end = now_ns() + 8000000000, empty = 0; (seen = now_ns()) < end && look.n < ENOUGH;) {
		uint64_t last = look.last_ns;

		if (!ring_unread(&d.ring[0])) {
			empty = seen;
			continue;
		}
		drain_map(&d, &walk);
		if (look.last_ns == last || n == MAX_TICKS)
			continue;
		early += now_ns() < look.last_ns;
		/* on a shared machine a CPU is stopped at times: only what this one saw come */
		if (seen - empty < LOOK_NS)
			delay[n++] = seen > look.last_ns ? seen - look.last_ns : 0;
	}
	sleeper.end = true;
	pthread_join(sleeper.thread, NULL);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, &walk);
	check_stats(name, &nl, &info, &d, &walk);
	for (i = 0; i < look.n; i++) {
		sum += look.shift[i];
		low = look.shift[i] < low ? look.shift[i] : low;
		high = look.shift[i] > high ? look.shift[i] : high;
	}
	ktap_check(look.n >= ENOUGH, "%s: there are samples enough", name);
	ktap_check_equal(0, early, "no record tells a time that is still to come");
	if (!ktap_check(n > 50 && quantile(delay, n, 5) < INTERVAL_NS / 10,
			"%s: records appear at the times that they tell", name))
		ktap_diag("the median of %u is %" PRIu64 " ns after", n, delay[n / 2]);
	/*
	 * The same for the tick itself: half of them within a fifth of the interval, or as soon as
	 * what else sleeps here, because a busy machine delays both. A delay that the module itself
	 * adds is in the soonest as well, but for ticks so late that others were missed before.
	 */
	soonest_ns = quantile(look.following, look.n_following, 2);
	ktap_check(look.n_following > ENOUGH / 10 && soonest_ns < INTERVAL_NS / 10, "%s: nothing delays all ticks", name);
	tick_ns = quantile(look.late, look.n, 5);
	sleep_ns = quantile(sleeper.late, sleeper.n, 5);
	if (!sleeper.prior)
		ktap_skip("most ticks are taken as soon as timers here fire",
			  "no real-time priority to compare with: run as root");
	else
		ktap_check(look.n &&
			   (tick_ns < INTERVAL_NS / 5 || tick_ns < sleep_ns + INTERVAL_NS / 20),
			   "%s: most ticks are taken as soon as timers here fire", name);
	ktap_diag("%s: of %u ticks two tenths are at most %" PRIu64 " ns late, half %" PRIu64
		  "; half of a thread's %u sleeps %" PRIu64, name, look.n, soonest_ns, tick_ns,
		  sleeper.n, sleep_ns);
	if (jitter_ns && look.n &&
	    !ktap_check(high < jitter_ns && low < jitter_ns / 20 && high > jitter_ns / 20 * 19 &&
			sum / look.n > jitter_ns / 10 * 4 && sum / look.n < jitter_ns / 10 * 6,
			"%s: the delays on purpose fill their range evenly", name))
		ktap_diag("from %" PRIu64 " to %" PRIu64 ", mean %" PRIu64, low, high,
			  sum / look.n);
	device_close(&d);
	nl_close(&nl);
}

/* Phase and jitter are drawn anew for each session. */
static void check_draws(void)
{
	uint64_t seeds[8], phases[8], low = UINT64_MAX, high = 0;
	const uint64_t interval_ns = 100000000;
	bool differ = true;
	struct nl nl;
	unsigned int i, j;

	if (nl_open(&nl))
		return;
	for (i = 0; i < 8; i++) {
		struct nl_session s = { 0 };
		uint64_t before;

		nl_session_new(&nl, &(struct nl_config){ .interval_ns = interval_ns }, &s);
		before = now_ns();
		nl_session_do(&nl, KJOULE_CMD_SESSION_START, s.id, &s);
		seeds[i] = s.seed;
		phases[i] = s.t0_ns - before;
		low = phases[i] < low ? phases[i] : low;
		high = phases[i] > high ? phases[i] : high;
		for (j = 0; j < i; j++)
			differ &= seeds[i] != seeds[j];
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s.id, NULL);
	}
	ktap_check(differ, "every session draws its own seed");
	/* eight numbers within a tenth of the range by chance: 1 in a million */
	if (!ktap_check(high - low > interval_ns / 10 && high < interval_ns + 50000000,
			"the first tick comes at a random phase of the interval"))
		ktap_diag("from %" PRIu64 " to %" PRIu64 " ns after the start", low, high);
	nl_close(&nl);
}

int main(void)
{
	unsigned int second;
	struct busy load;

	need_module();
	second = need_second_cpu("which cannot watch another");
	pin_to(cpu_first());
	busy_start(&load, 1);
	pin_to(second);
	check_times(0, "without jitter");
	check_times(INTERVAL_NS - 1, "with jitter");
	busy_stop(&load);
	check_draws();
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
