// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ring when its reader is slow, absent or lying: what finds no room is counted and
 * reported by a record once there is room again, and whatever the tail page says, the module
 * believes a sane tail only and its statistics stay sane.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static struct nl_stats stats[NL_MAX_CPUS];

/* A running session at 4 kHz with the smallest ring, mapped. */
static bool begin(const struct nl_config *c)
{
	return session_begin(&nl, c, &info, &d, walk);
}

static void end(void)
{
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

static int get_stats(void)
{
	return nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
}

/* Until something more is lost on every CPU. */
static bool wait_lost(void)
{
	uint64_t until = now_ns() + PATIENCE_NS, before[NL_MAX_CPUS];
	unsigned int i, full;

	get_stats();
	for (i = 0; i < d.n; i++)
		before[i] = stats[i].lost;
	do {
		sleep_ms(5);
		get_stats();
		for (i = 0, full = 0; i < d.n; i++)
			full += stats[i].lost > before[i];
	} while (full < d.n && now_ns() < until);
	return full == d.n;
}

static const struct nl_config small =
	{ .interval_ns = 250000, .flags = KJOULE_FLAG_WAKE_IDLE, .ring_bytes = 4096 };

static void check_overrun(long (*drain)(struct device *d, struct walk *walk), const char *how)
{
	uint64_t lost, told = 0, losts = 0;
	unsigned int i, round;
	bool good = true;
	char name[64];

	if (!begin(&small))
		return;
	/* overrun it three times, and let it come to itself in between */
	for (round = 0; round < 3; round++) {
		good &= wait_lost();
		lost = stats[0].lost;
		good &= stats[0].waiting <= 4096 / 16;
		for (i = 0; i < d.n; i++)
			good &= stats_balance(&stats[i]);
		good &= wait_lost() && stats[0].lost > lost;
		for (i = 0; i < 20; i++) {
			good &= drain(&d, walk) >= 0;
			sleep_ms(2);
		}
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain(&d, walk);
	get_stats();
	for (i = 0, lost = 0; i < d.n; i++) {
		lost += stats[i].lost;
		told += walk[i].lost_records;
		losts += walk[i].losts;
	}
	snprintf(name, sizeof(name), "overrun, read through %s", how);
	ktap_check(good, "%s: while it lasts, what is lost is counted and the statistics agree", name);
	ktap_check(losts >= 3, "%s: a record tells the loss once there is room", name);
	if (!ktap_check(lost && told == lost, "%s: every loss is reported", name))
		ktap_diag("%" PRIu64 " lost, %" PRIu64 " reported", lost, told);
	check_stats(name, &nl, &info, &d, walk);
	end();
}

/* Nothing is read until the end: what is in the ring is whole, the rest is in the statistics. */
static void check_unread(void)
{
	unsigned int i;
	bool good = true;

	if (!begin(&small))
		return;
	good &= wait_lost();
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	get_stats();
	for (i = 0; i < d.n; i++) {
		good &= stats_balance(&stats[i]) && !stats[i].consumed && stats[i].lost;
		/* up to the room for telling the loss, and for one record that did not fit */
		good &= ring_unread(&d.ring[i]) <= 4096 && ring_unread(&d.ring[i]) > 4096 - 96 - 48;
	}
	ktap_check(good, "a ring that is not read is filled up and loses the rest");
	drain_map(&d, walk);
	for (i = 0; i < d.n; i++)
		good &= walk[i].lost_records == stats[i].lost && walk[i].losts == 1;
	ktap_check(good, "what was lost is reported at the end, though there never was room again");
	check_stats("read only after the stop", &nl, &info, &d, walk);
	end();
}

/* What each lie makes of the true tail, given head and tail. */
static uint64_t beyond_by_8(uint64_t head, uint64_t tail)
{
	(void)tail;
	return head + 8;
}

static uint64_t beyond_by_ring(uint64_t head, uint64_t tail)
{
	(void)tail;
	return head + 4096;
}

static uint64_t beyond_by_2_40(uint64_t head, uint64_t tail)
{
	(void)tail;
	return head + (1ULL << 40);
}

static uint64_t beyond_by_2_63(uint64_t head, uint64_t tail)
{
	(void)tail;
	return head + (1ULL << 63);
}

static uint64_t highest(uint64_t head, uint64_t tail)
{
	(void)head;
	(void)tail;
	return UINT64_MAX;
}

static uint64_t odd(uint64_t head, uint64_t tail)
{
	(void)head;
	return tail + 1;
}

static uint64_t odd_at_head(uint64_t head, uint64_t tail)
{
	(void)tail;
	return head - 1;
}

static uint64_t zero(uint64_t head, uint64_t tail)
{
	(void)head;
	(void)tail;
	return 0;
}

static uint64_t back_by_8(uint64_t head, uint64_t tail)
{
	(void)head;
	return tail - 8;
}

static uint64_t back_by_ring(uint64_t head, uint64_t tail)
{
	(void)head;
	return tail - 4096;
}

/*
 * Fill the ring so that the module has to look for the tail, lie to it for a while, tell
 * the truth again: all that it had written is still there, and all that it lost is reported.
 */
static void check_lie(uint64_t (*lie)(uint64_t head, uint64_t tail), const char *what)
{
	uint64_t truth[NL_MAX_CPUS], until;
	bool good = true;
	unsigned int i;

	if (!begin(&small))
		return;
	/* a few laps, so that the module has believed a tail that is not 0 */
	for (i = 0; i < 40; i++) {
		sleep_ms(3);
		drain_map(&d, walk);
	}
	/* full, so that the head stays and what lies beyond it goes on to be a lie */
	if (!wait_lost()) {
		ktap_not_ok("a ring that is full");
		return;
	}
	for (i = 0; i < d.n; i++)
		truth[i] = d.ring[i].tail->tail;
	for (until = now_ns() + 80000000; now_ns() < until; sleep_ms(1)) {
		for (i = 0; i < d.n; i++) {
			uint64_t head = __atomic_load_n(&d.ring[i].head->head, __ATOMIC_ACQUIRE);

			__atomic_store_n(&d.ring[i].tail->tail, lie(head, truth[i]),
					 __ATOMIC_RELEASE);
		}
		good &= get_stats() == (int)d.n;
		for (i = 0; i < d.n; i++)
			good &= stats_balance(&stats[i]) && stats[i].waiting <= 4096 / 8;
	}
	for (i = 0; i < d.n; i++) {
		uint64_t head = __atomic_load_n(&d.ring[i].head->head, __ATOMIC_ACQUIRE);

		/* the truth was believed last, so no more than a ring was written since */
		if (head - truth[i] > d.ring[i].size) {
			ktap_diag("%" PRIu64 " bytes written beyond the tail", head - truth[i]);
			good = false;
		}
		__atomic_store_n(&d.ring[i].tail->tail, truth[i], __ATOMIC_RELEASE);
	}
	for (i = 0; i < 10; i++) {
		good &= drain_map(&d, walk) >= 0;
		sleep_ms(2);
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	good &= drain_map(&d, walk) >= 0;
	get_stats();
	for (i = 0; i < d.n; i++) {
		good &= stats_balance(&stats[i]) & records_agree(&stats[i], &walk[i]) &
			head_agrees(&stats[i], d.ring[i].head, walk[i].bytes);
		if (walk[i].fault[0])
			ktap_diag("CPU %u: %s", walk[i].cpu, walk[i].fault);
		good &= !walk[i].fault[0];
	}
	ktap_check(good, "a tail %s is ignored, and nothing is written over", what);
	end();
}

static volatile bool lying;

/* Any number that comes to mind, near the truth and far from it. */
static void *lie_at_random(void *data)
{
	unsigned int seed = 1;
	unsigned int i;

	(void)data;
	while (lying) {
		for (i = 0; i < d.n; i++) {
			uint64_t head = __atomic_load_n(&d.ring[i].head->head, __ATOMIC_ACQUIRE);
			uint64_t tail;

			switch (rand_r(&seed) % 4) {
			case 0:
				tail = head + rand_r(&seed) % 64 - 32;
				break;
			case 1:
				tail = head - rand_r(&seed) % 4096 / 8 * 8;
				break;
			case 2:
				tail = ((uint64_t)rand_r(&seed) << 33) ^ rand_r(&seed);
				break;
			default:
				tail = head;
			}
			__atomic_store_n(&d.ring[i].tail->tail, tail, __ATOMIC_RELEASE);
		}
	}
	return NULL;
}

/*
 * Numbers at random while the statistics are asked for and the rings read: nothing that is read
 * means anything, but every call comes back, and the ticks are booked.
 */
static void check_random_lies(void)
{
	static uint8_t buffer[4096];
	uint64_t until, due = 0;
	bool good = true;
	pthread_t t;
	unsigned int i;
	ssize_t got;

	if (!begin(&(struct nl_config){ .interval_ns = 50000, .flags = KJOULE_FLAG_WAKE_IDLE,
					.ring_bytes = 4096 }))
		return;
	lying = true;
	pthread_create(&t, NULL, lie_at_random, NULL);
	for (until = now_ns() + 1500000000; now_ns() < until;) {
		good &= get_stats() == (int)d.n;
		for (i = 0; i < d.n; i++)
			good &= stats_balance(&stats[i]);
		got = read(d.fd, buffer, sizeof(buffer));
		if (got < 0 ? errno != EAGAIN : got % 8 || got > (ssize_t)sizeof(buffer)) {
			ktap_diag("read gives %zd", got);
			good = false;
		}
	}
	ktap_check(good, "tails at random: every read comes back, the statistics agree");
	lying = false;
	pthread_join(t, NULL);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	while (read(d.fd, buffer, sizeof(buffer)) > 0)
		;
	get_stats();
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info);
	for (i = 0, good = true; i < d.n; i++) {
		good &= stats_balance(&stats[i]) & due_agrees(&stats[i], &info) & !stats[i].waiting;
		due += stats[i].due;
	}
	ktap_check(good && due, "afterwards the ticks are all booked and the ring can be read to its end");
	end();
}

static void *consume(void *data)
{
	while (lying) {
		drain_map(&d, walk);
		(void)data;
	}
	return NULL;
}

/* The statistics are asked for while another thread reads: what was consumed never goes back. */
static void check_racing_reader(void)
{
	uint64_t last[NL_MAX_CPUS] = { 0 }, until;
	unsigned int i, back = 0;
	pthread_t t;

	if (!begin(&(struct nl_config){ .interval_ns = 50000, .flags = KJOULE_FLAG_WAKE_IDLE,
					.ring_bytes = 8192 }))
		return;
	lying = true;
	pthread_create(&t, NULL, consume, NULL);
	for (until = now_ns() + 1500000000; now_ns() < until;) {
		get_stats();
		for (i = 0; i < d.n; i++) {
			back += stats[i].consumed < last[i] || !stats_balance(&stats[i]);
			last[i] = stats[i].consumed;
		}
	}
	lying = false;
	pthread_join(t, NULL);
	ktap_check_equal(0, back, "with a fast reader, the number of records consumed never goes back");
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_stats("at 20 kHz with a fast reader", &nl, &info, &d, walk);
	end();
}

int main(void)
{
	need_module();
	if (nl_open(&nl)) {
		ktap_not_ok("a netlink family");
		return ktap_end();
	}
	check_overrun(drain_map, "mmap");
	check_overrun(drain_read, "read");
	check_unread();
	check_lie(beyond_by_8, "8 bytes beyond the head");
	check_lie(beyond_by_ring, "a ring beyond the head");
	check_lie(beyond_by_2_40, "2^40 beyond the head");
	check_lie(beyond_by_2_63, "2^63 beyond the head");
	check_lie(highest, "of 2^64 - 1");
	check_lie(odd, "that is odd");
	check_lie(odd_at_head, "that is odd just before the head");
	check_lie(zero, "of 0");
	check_lie(back_by_8, "8 bytes back");
	check_lie(back_by_ring, "a ring back");
	check_random_lies();
	check_racing_reader();
	ktap_check_equal(0, session_count(), "no session is left");
	nl_close(&nl);
	return ktap_end();
}
