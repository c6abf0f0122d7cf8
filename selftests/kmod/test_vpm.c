// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Readings of single blocks: the meter starts with the block, the program is held until it is
 * ready, and in half of them the block has run before, for as long as it takes; who may have them,
 * where they cannot be had, what becomes of rounds that come to nothing, of a block whose end
 * others pass, of several threads, of CPUs that come and go; and no CPU is left with a debug
 * register.
 *
 * where: guest
 * vm: --profile exynos --cpus 2
 * timeout: 240
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "caps.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define METER		"/sys/class/misc/kjoule/sources/vchip-ina"
#define INTERVAL_NS	4000000
#define READY_NS	20000000.0	/* of the exynos chip's meter */
#define EVERY_NS	60000000ULL
#define PASSES		60000		/* of the block's loop: some milliseconds */
#define PASSES_LONG	2000000		/* more than four intervals of the meter */
#define BY		500		/* times that its end is passed before it is called */
#define BY_FAR		2000000		/* and more often than is borne */

/*
 * A block whose first instruction is one byte long, on a page of its own; and one that is never
 * called.
 */
void test_block(uint64_t passes);
extern const char test_block_next[];
void test_unmet(void);
/* Calls it in the last one of @times turns: that returns to where each of them comes by. */
void test_last(uint64_t passes, uint64_t times);
asm(".text\n.balign 4096\n.globl test_block\n.type test_block, @function\ntest_block:\n\tnop\n"
    ".globl test_block_next\ntest_block_next:\n\tmov %rdi, %rcx\n1:\tadd %rcx, %rax\n\txor %rax, %rdx\n\tdec %rcx\n\tjnz 1b\n\tret\n"
    ".globl test_unmet\n.type test_unmet, @function\ntest_unmet:\n\tnop\n\tnop\n\tret\n.balign 4096\n"
    ".globl test_last\n.type test_last, @function\ntest_last:\n\tpush %rbx\n\tmov %rsi, %rbx\n1:\tdec %rbx\n\tjnz 2f\n\tcall test_block\n"
    "2:\ttest %rbx, %rbx\n\tjnz 1b\n\tpop %rbx\n\tret\n.balign 4096\n");

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/*
 * What the program and the test both see: how long a run of the block takes without anybody
 * looking.
 */
static struct shared {
	volatile double run_ns;
	volatile uint64_t runs;
	volatile uint64_t times;	/* it passes the block's end in a run */
	volatile uint64_t passes;	/* of the block's loop, 0: PASSES */
	volatile pid_t tid[2];
} *shared;

/* What the records tell. */
static struct seen {
	uint64_t readings, delayed, undelayed, held, moved, late;
	uint64_t long_ones;	/* delayed, that ran for much longer than the block takes */
	uint64_t of_thread[2];
	double ran_delayed, ran_undelayed, longest_ran, longest_hold;
	double watched_ns, busy_ns;	/* until readings were ready; the other CPUs were busy */
	uint64_t ready_ns[NL_MAX_CPUS];	/* of the last one, there */
	char fault[120];
} seen;

#define FAULT(...) \
	(seen.fault[0] ? (void)0 : (void)snprintf(seen.fault, sizeof(seen.fault), __VA_ARGS__))

static void see_reading(struct walk *w, const struct kjoule_vpm_reading *r)
{
	uint8_t flags = r->rec.flags;
	double ran = r->stop_ns - r->hit_ns;
	uint64_t *last = &seen.ready_ns[w - walk];

	seen.readings++;
	/* rounds without a reading are in between */
	if (*last && r->armed_ns < *last + EVERY_NS / 2)
		FAULT("reading %u: armed %.3f ms after the last one was ready", r->number,
		      (r->armed_ns - (double)*last) * 1e-6);
	*last = r->ready_ns;
	if (r->armed_ns > r->hit_ns || r->hit_ns > r->stop_ns || r->stop_ns > r->ready_ns)
		FAULT("reading %u: times are not in order", r->number);
	if (r->block)
		FAULT("reading %u is of block %u", r->number, r->block);
	if (r->tgid != info.pid)
		FAULT("reading %u is of process %u", r->number, r->tgid);
	seen.moved += !!(flags & KJOULE_READING_DISTURBED);
	seen.late += !!(flags & KJOULE_READING_LATE);
	seen.of_thread[0] += (pid_t)r->pid == shared->tid[0];
	seen.of_thread[1] += (pid_t)r->pid == shared->tid[1];
	if (flags & KJOULE_READING_LATE && (r->stop_ns - r->hit_ns < READY_NS || r->power_uw))
		FAULT("reading %u is late after %.3f ms", r->number, ran * 1e-6);
	if (flags & (KJOULE_READING_DISTURBED | KJOULE_READING_LATE))
		return;
	if (r->power_uw < 100000 || r->power_uw > 20000000)
		FAULT("reading %u: %llu uW", r->number, (unsigned long long)r->power_uw);
	if (r->ready_ns - r->hit_ns < 0.98 * READY_NS)
		FAULT("reading %u was ready after %.3f ms", r->number,
		      (r->ready_ns - r->hit_ns) * 1e-6);
	if (r->busy_ns > (NL_MAX_CPUS - 1) * (r->ready_ns - r->hit_ns))
		FAULT("reading %u: other CPUs busy for %llu ns", r->number,
		      (unsigned long long)r->busy_ns);
	seen.watched_ns += r->ready_ns - r->hit_ns;
	seen.busy_ns += r->busy_ns;
	if (r->ready_ns - r->stop_ns > seen.longest_hold)
		seen.longest_hold = r->ready_ns - r->stop_ns;
	if (flags & KJOULE_READING_PAUSED) {
		seen.held++;
		if (ran)
			FAULT("reading %u: held, and ran for %.0f ns", r->number, ran);
	} else if (flags & KJOULE_READING_DELAYED) {
		seen.delayed++;
		seen.ran_delayed += ran;
		if (ran - r->others_ns > seen.longest_ran)
			seen.longest_ran = ran - r->others_ns;
		seen.long_ones += ran - r->others_ns > 1.8 * shared->run_ns;
	} else {
		seen.undelayed++;
		seen.ran_undelayed += ran;
	}
}

static void run_blocks(void) __attribute__((noreturn, noinline));
static void run_blocks(void)
{
	for (;;) {
		uint64_t begin = now_ns();
		double ns;

		test_last(shared->passes ?: PASSES, shared->times ?: 1);
		ns = now_ns() - begin;
		/* the shortest is without interrupts */
		if (!shared->run_ns || ns < shared->run_ns)
			shared->run_ns = ns;
		shared->runs++;
		for (volatile int i = 0; i < 3000; i++)
			;
	}
}

static void forget_runs(void)
{
	memset(shared, 0, sizeof(*shared));
}

/* A process that does nothing but run the block, on one CPU, with pauses between. */
static pid_t start_program(void)
{
	pid_t pid;

	forget_runs();
	pid = fork();
	if (pid)
		return pid;
	pin_to(cpu_first());
	run_blocks();
}

static void *run_on_second(void *unused)
{
	(void)unused;
	pin_to(cpu_second());
	shared->tid[1] = gettid();
	run_blocks();
}

/* One with two threads, each on a CPU of its own, that run the same block. */
static pid_t start_threads(void)
{
	pthread_t thread;
	pid_t pid;

	forget_runs();
	pid = fork();
	if (pid)
		return pid;
	if (pthread_create(&thread, NULL, run_on_second, NULL))
		_exit(1);
	pin_to(cpu_first());
	shared->tid[0] = gettid();
	run_blocks();
}

static void stop_program(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const struct nl_config usual = { .interval_ns = INTERVAL_NS, .target = KJOULE_TARGET_PROCESS,
					.vpm = true, .vpm_interval_ns = EVERY_NS,
					.vpm_source = "vchip-ina" };

/* On the CPUs of that mask, 0 for all. */
static bool begin_on(uint64_t cpus, pid_t pid)
{
	struct nl_config c = usual;
	unsigned int i;

	memset(&seen, 0, sizeof(seen));
	c.pid = pid;
	c.cpus = cpus;
	if (!session_begin(&nl, &c, &info, &d, walk))
		return false;
	for (i = 0; i < d.n; i++)
		walk[i].on_reading = see_reading;
	return true;
}

static bool begin(pid_t pid)
{
	return begin_on(0, pid);
}

/* Each round has come to something, and is counted once. */
static void check_rounds(const char *name)
{
	uint64_t sum = info.vpm_readings + info.vpm_learnt + info.vpm_unmet + info.vpm_unended +
		       info.vpm_elsewhere +
		       info.vpm_crowded + info.vpm_failed + info.vpm_cut;

	if (!ktap_check(info.vpm_rounds && info.vpm_rounds == sum && info.vpm_cut <= 1, "%s: each round is accounted for",
			name))
		ktap_diag("%llu rounds: %llu readings, %llu learnt, %llu unmet, %llu unended, %llu elsewhere, %llu crowded, %llu failed, %llu cut",
			  (unsigned long long)info.vpm_rounds,
			  (unsigned long long)info.vpm_readings,
			  (unsigned long long)info.vpm_learnt, (unsigned long long)info.vpm_unmet,
			  (unsigned long long)info.vpm_unended,
			  (unsigned long long)info.vpm_elsewhere,
			  (unsigned long long)info.vpm_crowded, (unsigned long long)info.vpm_failed,
			  (unsigned long long)info.vpm_cut);
}

static void end(const char *name)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_stats(name, &nl, &info, &d, walk);
	check_rounds(name);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	device_close(&d);
}

static struct nl_block block_of(pid_t pid)
{
	return (struct nl_block){ .pid = pid, .start = (uintptr_t)test_block,
				  .next = (uintptr_t)test_block_next };
}

static void check_readings(void)
{
	struct nl_block block;
	double latency;
	pid_t pid = start_program();

	ktap_check(await(shared->runs > 50), "the program runs its block");
	if (!begin(pid))
		goto out;
	block = block_of(pid);
	ktap_check(!nl_session_block(&nl, info.id, &block), "the session gets a block");
	drain_until(&d, walk, 12000, &seen.readings, 60);
	end("readings");
	ktap_check(!seen.fault[0], "readings are in order");
	ktap_diag("%s", seen.fault);
	ktap_diag("other CPUs were busy for %.4f of the time", seen.busy_ns / seen.watched_ns);
	/* the test itself wakes up there, to drain */
	ktap_check(seen.busy_ns < 0.2 * seen.watched_ns, "other CPUs are idle in them");
	ktap_diag("%llu readings: %llu delayed, %llu undelayed, %llu held, %llu moved, %llu late",
		  (unsigned long long)seen.readings, (unsigned long long)seen.delayed,
		  (unsigned long long)seen.undelayed, (unsigned long long)seen.held,
		  (unsigned long long)seen.moved, (unsigned long long)seen.late);
	ktap_check(seen.readings >= 60, "there are readings");
	ktap_check(seen.delayed >= seen.readings / 4 && seen.undelayed >= seen.readings / 4 &&
		   seen.held >= seen.readings / 20,
		   "of each kind");
	latency = seen.ran_delayed / seen.delayed - seen.ran_undelayed / seen.undelayed;
	ktap_diag("the block takes %.1f us by itself, %.1f us by the readings; until it is held %.1f us pass besides",
		  shared->run_ns * 1e-3, latency * 1e-3,
		  seen.ran_undelayed / seen.undelayed * 1e-3);
	/*
	 * interrupts, and switches to threads of the kernel, are not in the one, but in the other
	 */
	ktap_check(latency > 0.95 * shared->run_ns && latency < 1.35 * shared->run_ns, "they tell how long the block takes");
	ktap_check(seen.longest_hold < 1.2 * READY_NS, "no CPU is held for longer than the meter takes");
	ktap_check(info.vpm_readings == seen.readings && info.vpm_longest_ns < 1.5 * READY_NS &&
		   info.vpm_ready_ns == READY_NS && info.vpm_spoilt == seen.moved + seen.late, "the session counts them");
	ktap_diag("%llu unmet, %llu unended, %llu elsewhere, %llu failed",
		  (unsigned long long)info.vpm_unmet, (unsigned long long)info.vpm_unended,
		  (unsigned long long)info.vpm_elsewhere, (unsigned long long)info.vpm_failed);
	ktap_check(info.vpm_unmet + info.vpm_unended + info.vpm_elsewhere +
		   info.vpm_failed <= seen.readings / 5,
		   "few rounds come to nothing");
	ktap_check(info.vpm_learnt >= 1 && info.vpm_learnt <= 3, "where it returns to is learnt first, and soon");
	ktap_check(info.vpm_rest_uw > 100000 && info.vpm_peak_uw > info.vpm_rest_uw, "and of the meter");
out:
	stop_program(pid);
}

/*
 * A call under a condition, in a loop: each turn passes where it returns to, most of them without a
 * call.
 */
static void check_passed(void)
{
	pid_t pid = start_program();
	struct nl_block block;

	shared->times = BY;
	ktap_check(await(shared->runs > 50), "the program passes the block's end");
	if (begin(pid)) {
		block = block_of(pid);
		nl_session_block(&nl, info.id, &block);
		drain_until(&d, walk, 6000, &seen.readings, 30);
		end("an end that is passed");
		ktap_check(!seen.fault[0], "an end that is passed: readings are in order");
		ktap_diag("%s", seen.fault);
		ktap_diag("%llu readings, %llu of them delayed; %llu unended, %llu crowded",
			  (unsigned long long)seen.readings, (unsigned long long)seen.delayed,
			  (unsigned long long)info.vpm_unended,
			  (unsigned long long)info.vpm_crowded);
		ktap_check(seen.delayed >= seen.readings / 4 &&
			   info.vpm_unended <= seen.readings / 10,
			   "a block whose end is passed %u times before it has readings of each kind", BY);
	}
	shared->times = BY_FAR;
	if (begin(pid)) {
		block = block_of(pid);
		nl_session_block(&nl, info.id, &block);
		ktap_check(await(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info) &&
				 info.vpm_crowded >= 2),
			   "rounds are given up where it is passed too often");
		end("an end that is passed too often");
		ktap_diag("%llu crowded, %llu unended", (unsigned long long)info.vpm_crowded,
			  (unsigned long long)info.vpm_unended);
	}
	stop_program(pid);
}

/*
 * One that has not ended when the trial is over is reported as one that was late: else only its
 * short runs were.
 */
static void check_long(void)
{
	pid_t pid = start_program();
	struct nl_block block;

	shared->passes = PASSES_LONG;
	ktap_check(await(shared->runs > 2), "the program runs a long block");
	if (begin(pid)) {
		block = block_of(pid);
		nl_session_block(&nl, info.id, &block);
		drain_until(&d, walk, 8000, &seen.late, 5);
		end("a long block");
		ktap_check(!seen.fault[0], "a long block: readings are in order");
		ktap_diag("%s", seen.fault);
		ktap_diag("%llu readings, %llu delayed in time, %llu late; %llu spoilt, %llu unended",
			  (unsigned long long)seen.readings, (unsigned long long)seen.delayed,
			  (unsigned long long)seen.late, (unsigned long long)info.vpm_spoilt,
			  (unsigned long long)info.vpm_unended);
		ktap_check(seen.late >= 5 && !seen.delayed && !info.vpm_unended &&
			   info.vpm_readings == seen.readings,
			   "a block that has not ended after four intervals is reported as late");
	}
	stop_program(pid);
}

/* All four of a CPU's debug registers are to be had. */
static bool registers_free(int cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr),
					.bp_type = HW_BREAKPOINT_X,
					.bp_addr = (uintptr_t)test_unmet, .bp_len = sizeof(long),
					.exclude_kernel = 1 };
	int fd[4], i, n = 0;

	for (i = 0; i < 4; i++) {
		fd[i] = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
		n += fd[i] >= 0;
	}
	for (i = 0; i < 4; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return n == 4;
}

/* A CPU that the program may not run on is left alone: its debug registers are not taken. */
static void check_elsewhere(void)
{
	struct nl_block block =
		{ .start = (uintptr_t)test_unmet, .next = (uintptr_t)test_unmet + 1 };
	unsigned int i, taken[2] = { 0, 0 };
	int second = cpu_second();
	pid_t pid;

	if (second < 0) {
		ktap_skip("where the program may not run there is no waiting",
			  "there is no second CPU");
		return;
	}
	pid = start_program();
	if (begin(pid)) {
		block.pid = pid;
		nl_session_block(&nl, info.id, &block);
		for (i = 0; i < 100; i++) {
			taken[0] += !registers_free(cpu_first());
			taken[1] += !registers_free(second);
			sleep_ms(25);
		}
		ktap_diag("registers in use at %u of 100 looks where it runs, at %u where it may not",
			  taken[0], taken[1]);
		ktap_check(taken[0] >= 50 && !taken[1], "where the program may not run there is no waiting");
		end("on one CPU");
	}
	stop_program(pid);
}

/*
 * Both are in the block most of the time: a round is of the one that came by first, from its first
 * to its last.
 */
static void check_threads(void)
{
	struct nl_block block;
	double latency;
	pid_t pid;

	if (cpu_second() < 0) {
		ktap_skip("two threads in one block have readings of their own",
			  "there is no second CPU");
		return;
	}
	pid = start_threads();
	ktap_check(await(shared->runs > 50 && shared->tid[0] && shared->tid[1]), "two threads run the block");
	if (begin(pid)) {
		block = block_of(pid);
		nl_session_block(&nl, info.id, &block);
		drain_until(&d, walk, 8000, &seen.readings, 40);
		end("two threads");
		ktap_check(!seen.fault[0], "two threads: readings are in order");
		ktap_diag("%s", seen.fault);
		ktap_check(fabs(seen.busy_ns / seen.watched_ns - 1) < 0.01, "two threads: the other CPU is busy in them");
		ktap_diag("%llu readings, %llu of the first and %llu of the second thread; %llu moved, %llu late",
			  (unsigned long long)seen.readings, (unsigned long long)seen.of_thread[0],
			  (unsigned long long)seen.of_thread[1], (unsigned long long)seen.moved,
			  (unsigned long long)seen.late);
		ktap_check(seen.of_thread[0] >= seen.readings / 5 &&
			   seen.of_thread[1] >= seen.readings / 5 &&
			   seen.of_thread[0] + seen.of_thread[1] == seen.readings, "two threads in one block have readings of their own");
		/*
		 * each on a CPU of its own: a stop of the other one's would be on another CPU than
		 * the start
		 */
		ktap_check(info.vpm_failed + info.vpm_unended + seen.moved <= seen.readings / 20,
			   "two threads: neither comes into the other's rounds");
		ktap_diag("%llu failed, %llu unended", (unsigned long long)info.vpm_failed,
			  (unsigned long long)info.vpm_unended);
		latency = seen.ran_delayed / seen.delayed - seen.ran_undelayed / seen.undelayed;
		ktap_diag("the block takes %.1f us by itself, %.1f us by the readings",
			  shared->run_ns * 1e-3, latency * 1e-3);
		ktap_check(latency > 0.95 * shared->run_ns && latency < 1.35 * shared->run_ns,
			   "two threads: they tell how long it takes each of them");
	}
	stop_program(pid);
}

static void run_only_on(pid_t pid, unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(pid, sizeof(set), &set);
}

/*
 * A program that ends its block where nothing waits, and is back for the next one. A third of the
 * readings are of such.
 */
static void check_away(void)
{
	struct nl_block block;
	unsigned int i;
	int second = cpu_second();
	pid_t pid;

	if (second < 0) {
		ktap_skip("a reading of a program that was away is of no use",
			  "there is no second CPU");
		return;
	}
	pid = start_program();
	ktap_check(await(shared->runs > 50), "the program runs its block");
	if (begin_on(1ULL << cpu_first(), pid)) {
		block = block_of(pid);
		nl_session_block(&nl, info.id, &block);
		for (i = 0; i < 1000; i++) {
			run_only_on(pid, second);
			sleep_ms(2);
			run_only_on(pid, cpu_first());
			sleep_ms(6);
			if (i % 25 == 0)
				drain_map(&d, walk);
		}
		end("away and back");
		ktap_check(!seen.fault[0], "away and back: readings are in order");
		ktap_diag("%s", seen.fault);
		ktap_diag("%llu readings, %llu moved; the block takes %.1f us by itself, at most %.1f us by the %llu delayed of the others, %llu far more",
			  (unsigned long long)seen.readings, (unsigned long long)seen.moved,
			  shared->run_ns * 1e-3, seen.longest_ran * 1e-3,
			  (unsigned long long)seen.delayed, (unsigned long long)seen.long_ones);
		ktap_check(seen.moved >= 3 && seen.delayed >= 3 && !seen.long_ones,
			   "a reading of a program that was away is of no use");
	}
	stop_program(pid);
}

/* Breakpoints are on the CPUs that there are; who was on one that goes is met on the others. */
static void check_hotplug(void)
{
	struct nl_block block;
	unsigned int i, moves = 0;
	uint64_t before;
	int second = cpu_second();
	pid_t pid;

	if (second < 0) {
		ktap_skip("readings go on while a CPU goes and comes", "there is no second CPU");
		return;
	}
	pid = start_threads();
	ktap_check(await(shared->runs > 50), "the program runs its block");
	if (begin(pid)) {
		block = block_of(pid);
		nl_session_block(&nl, info.id, &block);
		for (i = 0; i < 10; i++) {
			sleep_ms(300);
			moves += cpu_online(second, false);
			sleep_ms(300);
			moves += cpu_online(second, true);
			drain_map(&d, walk);
		}
		ktap_check(moves == 20, "a CPU goes and comes ten times");
		before = seen.readings;
		ktap_check(drain_until(&d, walk, 2000, &seen.readings, before + 5), "readings go on while a CPU goes and comes");
		end("a CPU goes and comes");
		ktap_check(!seen.fault[0] && before >= 10, "and are in order");
		ktap_diag("%s", seen.fault);
		ktap_diag("%llu readings, %llu before, %llu moved; %llu rounds, %llu unended, %llu failed",
			  (unsigned long long)seen.readings, (unsigned long long)before,
			  (unsigned long long)seen.moved, (unsigned long long)info.vpm_rounds,
			  (unsigned long long)info.vpm_unended,
			  (unsigned long long)info.vpm_failed);
	}
	stop_program(pid);
}

/* It is never reached; then the process ends, and that is no fault of anybody's. */
static void check_nothing(void)
{
	struct nl_block block =
		{ .start = (uintptr_t)test_unmet, .next = (uintptr_t)test_unmet + 1 };
	pid_t pid = start_program();
	struct nl_session s;
	uint64_t unmet;

	if (!begin(pid))
		goto out;
	block.pid = pid;
	nl_session_block(&nl, info.id, &block);
	ktap_check(await(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &s) &&
			 s.vpm_unmet >= 2),
		   "a block that is not reached is reported as unmet");
	stop_program(pid);
	pid = 0;
	sleep_ms(1500);
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &s);
	unmet = s.vpm_unmet;
	sleep_ms(2500);
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &s);
	ktap_check(s.vpm_unmet == unmet, "one whose process has ended is waited for no more");
	end("nothing");
	ktap_check(!seen.readings, "and there is no reading");
out:
	if (pid)
		stop_program(pid);
}

static void check_refused(const char *name, const struct nl_config *c, int want)
{
	struct nl_session s;
	int err = nl_session_new(&nl, c, &s);

	if (!ktap_check(err == want && nl.why[0], "refused: %s", name))
		ktap_diag("%d: %s", err, nl.why);
	if (!err)
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s.id, NULL);
}

static void check_block_refused(const char *name, const struct nl_block *block, int want)
{
	int err = nl_session_block(&nl, info.id, block);

	if (!ktap_check(err == want && nl.why[0], "refused: %s", name))
		ktap_diag("%d: %s", err, nl.why);
}

/* A block of a process that the session does not sample would never be met. */
static void check_target(void)
{
	struct nl_config c = usual;
	pid_t other = start_program(), child;
	struct nl_block block;

	c.pid = getpid();
	if (!ktap_check(!nl_session_new(&nl, &c, &info), "a session of this process"))
		goto out;
	block = block_of(other);
	check_block_refused("a process that is not its target", &block, -EINVAL);
	ktap_check(strstr(nl.why, "target"), "and the reason is given");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);

	c.flags = KJOULE_FLAG_INHERIT;
	if (!ktap_check(!nl_session_new(&nl, &c, &info), "a session of it and its children"))
		goto out;
	check_block_refused("one that was forked before", &block, -EINVAL);
	child = start_program();
	block = block_of(child);
	ktap_check(!nl_session_block(&nl, info.id, &block), "one that it has forked since is taken");
	stop_program(child);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);

	c.flags = 0;
	c.target = KJOULE_TARGET_THREAD;
	c.pid = other;
	if (!ktap_check(!nl_session_new(&nl, &c, &info), "a session of a thread"))
		goto out;
	block = block_of(getpid());
	check_block_refused("a process that the thread is not of", &block, -EINVAL);
	block = block_of(other);
	ktap_check(!nl_session_block(&nl, info.id, &block), "its own is taken");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);

	c.target = KJOULE_TARGET_SYSTEM;
	c.pid = 0;
	if (!ktap_check(!nl_session_new(&nl, &c, &info), "a session of the whole system"))
		goto out;
	ktap_check(!nl_session_block(&nl, info.id, &block), "takes any process");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
out:
	stop_program(other);
}

static void check_refusals(void)
{
	struct nl_config c = usual, other;
	struct nl_block block, good;
	pid_t pid;
	int status, i;

	c.pid = getpid();
	good = block_of(getpid());
	other = c;
	other.vpm_interval_ns = 1000000;
	check_refused("far too often", &other, -ERANGE);
	other.vpm_interval_ns = UINT64_MAX;
	check_refused("hardly ever", &other, -ERANGE);
	other = c;
	other.vpm_source = "nonsense";
	check_refused("an unknown meter", &other, -ENOENT);
	other.vpm_source = "vchip-meter";
	check_refused("one that does not start on command", &other, -EOPNOTSUPP);
	other = c;
	other.vpm = false;
	check_refused("a meter without readings", &other, -EINVAL);
	other = c;
	other.edges = true;
	other.edge_duty = 250;
	check_refused("with edge windows", &other, -EINVAL);
	pid = fork();
	if (!pid) {
		struct nl_session s;

		caps_keep(CAP(CAP_PERFMON));
		nl_open(&nl);
		_exit(nl_session_new(&nl, &c, &s) == -EPERM && strstr(nl.why, "CAP_SYS_NICE") ? 0 : 1);
	}
	ktap_check(waitpid(pid, &status, 0) == pid && status == 0, "refused: without CAP_SYS_NICE");

	other = c;
	other.vpm = false;
	other.vpm_source = NULL;
	if (!ktap_check(!nl_session_new(&nl, &other, &info), "a session without readings"))
		return;
	check_block_refused("a block in it", &good, -EINVAL);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);

	if (!ktap_check(!nl_session_new(&nl, &c, &info), "a session with readings"))
		return;
	check_refused("a second one", &c, -EBUSY);
	block = good;
	block.pid = 0;
	check_block_refused("no process", &block, -EINVAL);
	block.pid = 4194303;
	check_block_refused("a process that is not there", &block, -ESRCH);
	block = good;
	block.start = 0xffffffff81000000;
	block.next = block.start + 1;
	check_block_refused("the kernel's code", &block, -EINVAL);
	block = good;
	block.next = block.start;
	check_block_refused("a second instruction that is the first", &block, -EINVAL);
	block.next = block.start + 16;
	check_block_refused("one that is too far off", &block, -EINVAL);
	block = good;
	block.end = block.next;
	check_block_refused("a block of one instruction", &block, -EINVAL);
	block = good;
	block.end_is_said = true;
	check_block_refused("an end that is said to be 0", &block, -EINVAL);
	for (i = 0; i < 16; i++)
		if (nl_session_block(&nl, info.id, &good) != i)
			break;
	ktap_check(i == 16, "16 blocks have their numbers");
	check_block_refused("one more", &good, -ENOSPC);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	ktap_check(!nl_session_new(&nl, &c, &info), "another session when the first has ended");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

int main(void)
{
	if (access(METER, F_OK))
		ktap_skip_all("there is no virtual chip with a meter that starts on command: run it in a guest of kjoule's "
			      "tree with --profile exynos");
	need_module();
	need_chip();
	/* a governor that slows a CPU down makes a block longer */
	cpus_at_full_speed();
	nl_open(&nl);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	check_refusals();
	check_target();
	check_readings();
	check_nothing();
	check_passed();
	check_long();
	check_elsewhere();
	check_threads();
	check_away();
	check_hotplug();
	ktap_check(registers_free(cpu_first()) &&
		   (cpu_second() < 0 || registers_free(cpu_second())),
		   "no debug register is left in use");
	ktap_check(!session_count(), "no session is left");
	return ktap_end();
}
