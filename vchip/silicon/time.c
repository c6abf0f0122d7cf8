// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread executes all CPUs, in turns. A turn lasts until a common limit, some microseconds
 * ahead or the next event, whatever comes first; when all have reached it, the events that are due
 * happen, in the order of time, and the next limit is set. So counters move, grants come and timers
 * expire exactly when they are due, whatever the build machine does, and the same run is the same
 * each time.
 *
 * The CPU that is most behind goes first. A CPU that is not due leaves its block before the first
 * instruction, as does one that an interrupt has come for.
 *
 * QEMU's main loop serves devices in a thread of its own. An interrupt from there comes before the
 * next block, whatever the two threads do meanwhile: the vCPU thread waits for the main loop after
 * each access to a device, and goes once through all CPUs then, so that those that were halted are
 * there again before any executes.
 */
#include "time.h"

#include <stdio.h>
#include <stdlib.h>

#include "package.h"
#include "random.h"

/*
 * The length of turns: CPUs may be so far apart. Each is drawn, or two CPUs that wait for each
 * other could keep step. 10 us on the average cost 0.2 host seconds for a second of two busy CPUs.
 */
#define TURN_MIN_NS	5000
#define TURN_MAX_NS	15000

/* An interrupt of a timer takes up to so long to reach its CPU. */
#define TIMER_JITTER_NS	200

struct core *time_executing;
fixns_t time_limit;
unsigned int time_running;
volatile bool time_interrupted;

static uint64_t now_ns;		/* what all CPUs have reached */
static uint64_t limit_ns;	/* time_limit */
static int64_t last_read_ns;	/* a CPU that is behind must not see time go back */
static struct core *turn;	/* whose it is */
/* QEMU is on its way through all CPUs, and comes back to this one */
static struct core *starter;
static bool all_halted;		/* by themselves */
static _Thread_local bool in_events;
static uint64_t noise;
static uint64_t timer_jitter_ns;

static _Thread_local bool is_vcpu;

uint64_t time_now(void)
{
	return now_ns;
}

void time_init(uint64_t seed)
{
	noise = random_seed(seed, 200);
	timer_jitter_ns = random_below(&noise, TIMER_JITTER_NS + 1);
}

/* When the interrupt of the guest's next timer reaches its CPU. */
static uint64_t next_timer(void)
{
	int64_t ns = qemu_next_timer_ns();

	if (ns == INT64_MAX)
		return UINT64_MAX;
	return (ns > 0 ? (uint64_t)ns : 0) + timer_jitter_ns;
}

static uint64_t next_event(void)
{
	uint64_t timer = next_timer(), chip_event = package_next_event();

	return timer < chip_event ? timer : chip_event;
}

static void set_limit(uint64_t ns)
{
	limit_ns = ns;
	time_limit = ns << FIXNS_SHIFT;
}

/* Everything that is due now. Return: whether a timer of the guest has expired. */
static bool run_events(void)
{
	bool expired = false;

	package_serve(now_ns);
	while (next_timer() <= now_ns) {
		in_events = true;
		qemu_timers_run();
		in_events = false;
		timer_jitter_ns = random_below(&noise, TIMER_JITTER_NS + 1);
		expired = true;
	}
	return expired;
}

/* All have reached the limit. */
static bool end_turns(void)
{
	uint64_t next, turn;
	bool expired;

	now_ns = limit_ns;
	for (unsigned int i = 0; i < core_count; i++)
		core_end_turn(&cores[i]);
	expired = run_events();
	turn = now_ns + TURN_MIN_NS + random_below(&noise, TURN_MAX_NS - TURN_MIN_NS);
	next = next_event();
	set_limit(turn < next ? turn : next);
	return expired;
}

/* A core that is paused goes on in time, without executing, up to the limit. */
static void pass_pause(struct core *c)
{
	fixns_t left = time_limit - c->time;

	if (left > c->pause)
		left = c->pause;
	c->pause -= left;
	core_pass_pause(c, left);
}

/* The CPU that is most behind, of those that have not reached the limit. */
static struct core *most_behind(void)
{
	struct core *first = NULL;

	for (unsigned int i = 0; i < core_count; i++) {
		struct core *c = &cores[i];

		if (!c->running || c->time >= time_limit)
			continue;
		if (c->pause)
			pass_pause(c);
		if (c->time < time_limit && (!first || c->time < first->time))
			first = c;
	}
	return first;
}

static void leave_to_next(struct core *c, uintptr_t ra)
{
	time_executing = NULL;
	qemu_cpu_yield(c->qemu);
	qemu_block_leave(c->qemu, ra);
}

/* QEMU goes once through all CPUs, and comes back to the same block of this one. */
static void go_around(struct core *c, uintptr_t ra)
{
	time_interrupted = false;
	starter = c;
	leave_to_next(c, ra);
}

/* When a CPU that is ready begins to execute. */
static uint64_t wake_time(const struct core *c)
{
	uint64_t at = c->wake_ns != NEVER ? c->wake_ns : now_ns;

	/* An interrupt that woke it only later is no reason to begin long ago. */
	for (unsigned int i = 0; i < core_count; i++)
		if (cores[i].running && at + TURN_MAX_NS < time_of(&cores[i]))
			at = time_of(&cores[i]) - TURN_MAX_NS;
	if (at < now_ns)
		at = now_ns;
	return at < time_of(c) ? time_of(c) : at;
}

/* Of those that have something to execute again, the one that was woken first. */
static struct core *first_ready(void)
{
	struct core *first = NULL;

	for (unsigned int i = 0; i < core_count; i++)
		if (cores[i].ready && (!first || cores[i].wake_ns < first->wake_ns))
			first = &cores[i];
	return first;
}

static void wake_ready(void)
{
	struct core *c;

	while ((c = first_ready())) {
		uint64_t at = wake_time(c);

		if (time_of(c) < at)
			c->time = at << FIXNS_SHIFT;
		c->wake_ns = NEVER;
		c->ready = false;
		c->running = true;
		time_running++;
		all_halted = false;
		core_wake(c);
	}
}

/* The very first block is about to be executed. */
static void meet_cpus(void)
{
	is_vcpu = true;
	for (unsigned int i = 0; i < core_count; i++)
		cores[i].qemu = qemu_cpu(i);
	if (core_count > 1 && !qemu_kick_timer_remove()) {
		fprintf(stderr, "vchip: QEMU has no timer that changes its CPUs; the chip needs Debian 12's QEMU 7.2\n");
		exit(1);
	}
}

void time_look_up(struct core *c, uintptr_t ra)
{
	bool leave = false;
	struct core *first;

	if (!c->running) {
		if (!c->qemu)
			meet_cpus();
		c->ready = true;
	}
	if (qemu_device_touched)
		qemu_io_drain();
	if (starter && starter != c)
		leave_to_next(c, ra);
	starter = NULL;
	if (time_interrupted)
		go_around(c, ra);
	wake_ready();
	time_expect(next_timer());
	while (!(first = most_behind()))
		leave |= end_turns();
	if (!turn || !turn->running || turn->pause || turn->time >= time_limit)
		turn = first;
	if (time_interrupted)
		go_around(c, ra);
	if (turn != c)
		leave_to_next(c, ra);
	time_executing = c;
	if (leave)
		qemu_block_leave(c->qemu, ra);
}

void time_expect(uint64_t ns)
{
	if (ns < limit_ns)
		set_limit(ns > now_ns ? ns : now_ns);
}

void time_agree(const struct core *c)
{
	for (unsigned int i = 0; i < core_count; i++)
		if (cores[i].running && time_of(&cores[i]) < time_of(c))
			time_expect(time_of(c));
}

void time_halt(struct core *c)
{
	/* its last block may have gone beyond an event */
	uint64_t at = time_of(c) < limit_ns ? time_of(c) : limit_ns;

	c->running = false;
	time_executing = NULL;
	time_running--;
	core_halt(c);
	if (time_running) {
		/*
		 * An interrupt that came before, while they were off, wakes it at once: QEMU has to
		 * look.
		 */
		time_interrupted = true;
		return;
	}
	if (at > now_ns)
		now_ns = at;
	all_halted = true;
}

void time_pause(struct core *c, uint64_t ns)
{
	c->pause += ns << FIXNS_SHIFT;
}

/* Until a CPU has something to do. */
static bool on_go_on(void)
{
	while (qemu_idle()) {
		uint64_t next = next_event();

		if (next == UINT64_MAX)
			return false;	/* only the world outside can wake it up */
		if (next > now_ns)
			now_ns = next;
		run_events();
		set_limit(now_ns);
	}
	return true;
}

/* QEMU's own waits are at its start, and while the machine is suspended. */
static bool on_may_go_on(void)
{
	return all_halted;
}

static void on_suspend(void)
{
	for (unsigned int i = 0; i < core_count; i++)
		if (cores[i].running)
			time_halt(&cores[i]);
	all_halted = false;
}

/*
 * The time of whoever asks. A CPU's is its own, at the end of the block that it executes. The
 * main loop never finds that a timer is due: it would run it between ours, or not, as the threads
 * race.
 */
static int64_t on_clock(void)
{
	int64_t ns = (int64_t)now_ns, timer_ns;

	if (in_events)
		return ns;
	if (is_vcpu) {
		if (turn && turn->running && (int64_t)time_of(turn) > ns)
			ns = (int64_t)time_of(turn);
		if (ns > last_read_ns)
			last_read_ns = ns;
		return last_read_ns;
	}
	/* read once, the vCPU thread may run that timer meanwhile */
	timer_ns = qemu_next_timer_ns();
	return timer_ns <= ns ? timer_ns - 1 : ns;
}

/* A halted CPU wakes up at the time at which its interrupt was raised. */
static void on_interrupt(struct CPUState *cpu)
{
	for (unsigned int i = 0; i < core_count; i++) {
		struct core *c = &cores[i];

		if (c->qemu != cpu)
			continue;
		c->interrupt_ns = (uint64_t)on_clock();
		if (!c->running && c->wake_ns == NEVER)
			c->wake_ns = c->interrupt_ns;
		time_interrupted |= !c->running || !is_vcpu;
		return;
	}
}

static void on_kick(void)
{
	time_interrupted = true;
}

static const struct qemu_hooks hooks = {
	.clock_ns	= on_clock,
	.interrupt	= on_interrupt,
	.kick		= on_kick,
	.may_go_on	= on_may_go_on,
	.go_on		= on_go_on,
	.suspend	= on_suspend,
};

int time_attach(char *error, unsigned int error_size)
{
	return qemu_attach(&hooks, error, error_size);
}
