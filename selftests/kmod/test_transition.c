// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of frequency changes: who may have one and what is refused, loops that tell the frequency,
 * a change that is followed, and settings that are as before whatever ends a measurement: the
 * socket closed, its process killed, the governor taken away, the CPU gone.
 *
 * where: guest
 * vm: --profile ivybridge --cpus 2
 * boot: own
 * timeout: 120
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/kjoule.h>
#include "../ktap.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "probe.h"

#define POLICY		"/sys/devices/system/cpu/cpufreq/policy"
#define LOW_KHZ		47059
#define HIGH_KHZ	100000
#define ADDS		2000
#define LOOPS		2000
#define SLICE_NS	600000
#define PAUSE_NS	323000	/* of the profile */
#define UP_NS		2108000
#define TIMEOUT_NS	100000000
#define FAILING_CYCLES	"/sys/module/vchip_source/parameters/failing_cycles"

static struct nl nl, other;

static void policy_path(char *path, size_t len, unsigned int cpu, const char *name)
{
	snprintf(path, len, POLICY "%u/%s", cpu, name);
}

static const char *says(unsigned int cpu, const char *name)
{
	static char text[256];
	char path[128];
	ssize_t n;
	int fd;

	policy_path(path, sizeof(path), cpu, name);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static int set(unsigned int cpu, const char *name, const char *value)
{
	char path[128];
	int fd, err;

	policy_path(path, sizeof(path), cpu, name);
	fd = open(path, O_WRONLY);
	err = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

/* Have the governor restored, and take it. */
static int take_governor(struct nl *from, unsigned int cpu, const char *restored)
{
	char path[128];
	int fd, err;

	policy_path(path, sizeof(path), cpu, "scaling_governor");
	fd = open(path, O_WRONLY);
	err = probe_restore_add(from, fd, restored);
	close(fd);
	return err ?: set(cpu, "scaling_governor", "kjoule");
}

static int by_time(const void *a, const void *b)
{
	const struct kjoule_loop *x = a, *y = b;

	return x->loop_ns < y->loop_ns ? -1 : x->loop_ns > y->loop_ns;
}

static const struct probe_ask calibrate = {
	.cmd = KJOULE_CMD_TRANSITION_CALIBRATE, .adds = ADDS, .to_khz = LOW_KHZ, .loops = LOOPS,
	.timeout_ns = 20000000, .slice_ns = SLICE_NS };

/*
 * Median of loops at a frequency, and what they are between unless something came into them.
 * Quantiles far out would not do: on a busy host those of one frequency reach into the other's.
 */
struct level {
	uint32_t median, lo, hi;
	double within;	/* a part of the loops */
};

static int level_at(uint32_t id, uint32_t khz, struct level *level, struct probe_answer *a)
{
	static struct probe_loops loops;
	struct probe_ask ask = calibrate;
	int err;

	ask.id = id;
	ask.to_khz = khz;
	err = probe_talk(&nl, &ask, a) ?: probe_get_loops(&nl, id, &loops);
	if (err < 0 || loops.n != a->count || !loops.n)
		return err ?: -EBADMSG;
	for (unsigned int i = 1; i < loops.n; i++)
		if (loops.list[i].start_ns < loops.list[i - 1].start_ns + loops.list[i - 1].loop_ns)
			return -ERANGE;
	qsort(loops.list, loops.n, sizeof(loops.list[0]), by_time);
	level->median = loops.list[loops.n / 2].loop_ns;
	level->lo = level->median - level->median / 4;
	level->hi = level->median + level->median / 4;
	level->within = 0;
	for (unsigned int i = 0; i < loops.n; i++)
		level->within += (loops.list[i].loop_ns >= level->lo &&
				  loops.list[i].loop_ns <= level->hi) / (double)loops.n;
	return 0;
}

static struct probe_ask try_of(uint32_t id, const struct level *low, const struct level *high)
{
	return (struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_TRY, .id = id, .adds = ADDS,
			     .from_khz = LOW_KHZ, .to_khz = HIGH_KHZ, .from_lo = low->lo,
			     .from_hi = low->hi, .to_lo = high->lo, .to_hi = high->hi, .lead = 8,
			     .loops = 8192, .confirm = 100, .timeout_ns = TIMEOUT_NS,
			     .slice_ns = SLICE_NS };
}

static void check_refused(const struct probe_ask *ask, int want, const char *what)
{
	struct probe_answer a;
	int got = probe_talk(&nl, ask, &a);
	bool kept = got == -want && nl.why[0];

	if (!ktap_check(kept, "%s: %s, with words", what, strerrorname_np(want)))
		ktap_diag("got %s, \"%s\"", got ? strerrorname_np(-got) : "success", nl.why);
}

/* One fault of a request that is good otherwise. */
struct fault {
	const char *what;
	int want;
	size_t offset;		/* in struct probe_ask */
	bool is_u64;
	uint64_t value;
};

static void check_jobs_refused(uint32_t id)
{
#define F32(name) offsetof(struct probe_ask, name), false
#define F64(name) offsetof(struct probe_ask, name), true
	const struct fault faults[] = {
		{ "63 adds", EINVAL, F32(adds), 63 },
		{ "a million adds and one", EINVAL, F32(adds), 1000001 },
		{ "no loops", EINVAL, F32(loops), 0 },
		{ "more loops than there is room for", EINVAL, F32(loops), 32769 },
		{ "more loops before it", EINVAL, F32(lead), 16385 },
		{ "no loop before it", EINVAL, F32(lead), 0 },
		{ "no slice", EINVAL, F64(slice_ns), 0 },
		{ "interrupts off for more than 1 ms", EINVAL, F64(slice_ns), 1000001 },
		{ "no time", EINVAL, F64(timeout_ns), 0 },
		{ "more than 10 s", EINVAL, F64(timeout_ns), 10000000001 },
		{ "limits the wrong way round", EINVAL, F32(to_lo), 200000 },
		{ "a frequency below the limits", ERANGE, F32(from_khz), LOW_KHZ - 1 },
		{ "a frequency above the limits", ERANGE, F32(to_khz), HIGH_KHZ + 1 },
		{ "no probe", ENOENT, F32(id), id + 1000 },
		{ "no id", EINVAL, F32(id), 0 },
		{ "another governor", EPERM, F32(confirm), 100 },
	};
#undef F32
#undef F64
	const struct level level = { .median = 90000, .lo = 80000, .hi = 100000 };

	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct probe_ask ask = try_of(id, &level, &level);
		char *at = (char *)&ask + faults[i].offset;

		if (faults[i].is_u64)
			*(uint64_t *)at = faults[i].value;
		else
			*(uint32_t *)at = faults[i].value;
		check_refused(&ask, faults[i].want, faults[i].what);
	}
}

static int end_probe(struct nl *from, uint32_t id)
{
	struct probe_answer a;

	return probe_talk(from, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL, .id = id },
			  &a);
}

static void check_refusals(void)
{
	struct probe_answer a, b;
	struct probe_loops loops;
	int err;

	check_refused(&(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_NEW, .no_cpu = true },
		      EINVAL, "a probe of no CPU");
	check_refused(&(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_NEW, .cpu = 4711 }, ENODEV, "a probe of a CPU that is not");
	ktap_check(!strstr(says(0, "scaling_available_governors"), "kjoule") &&
		   set(0, "scaling_governor", "kjoule") == -EINVAL,
		   "there is no governor kjoule before a probe needs it");
	ktap_check(!probe_new(&nl, 0, KJOULE_TRANSITION_WAY_LIMITS, &a) && !end_probe(&nl, a.id) &&
		   !strstr(says(0, "scaling_available_governors"), "kjoule"),
		   "a probe by limits does not need it");
	ktap_check(!probe_new(&nl, 0, KJOULE_TRANSITION_WAY_FAST, &a) && !end_probe(&nl, a.id) &&
		   strstr(says(0, "scaling_available_governors"), "kjoule"), "a fast one does");
	err = set(0, "scaling_governor", "kjoule");
	ktap_check(!err && await(atoi(says(0, "scaling_cur_freq")) == HIGH_KHZ),
		   "the governor kjoule without a probe runs at the most");
	set(0, "scaling_governor", "schedutil");
	ktap_check_equal(0, probe_new(&nl, 0, KJOULE_TRANSITION_WAY_FAST, &a), "there is a probe");
	ktap_check(a.id && a.cpu == 0 && a.min_khz == LOW_KHZ && a.max_khz == HIGH_KHZ &&
		   a.cpus == 1 && !strcmp(a.driver, "vchip"),
		   "it tells its CPU, policy, limits and driver");
	check_refused(&(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_NEW }, EBUSY, "a second one of the same policy");
	ktap_check_equal(-EBUSY, probe_new(&other, 0, KJOULE_TRANSITION_WAY_LIMITS, &b), "nor another socket's");
	ktap_check(!probe_new(&other, 1, KJOULE_TRANSITION_WAY_LIMITS, &b), "another policy may have one");
	ktap_check_equal(-EPERM,
			 probe_talk(&other, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL,
								 .id = a.id }, &b),
			 "another socket cannot end it");
	ktap_check_equal(-EPERM, probe_get_loops(&other, a.id, &loops), "nor see its loops");
	check_jobs_refused(a.id);
	ktap_check_equal(0,
			 probe_talk(&nl, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL,
							      .id = a.id }, &b), "it can be ended");
	ktap_check_equal(-ENOENT,
			 probe_talk(&nl, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL,
							      .id = a.id }, &b), "once");
}

static void check_restore_refused(void)
{
	char path[128], text[80];
	int fd;

	ktap_check_equal(-EBADF, probe_restore_add(&nl, 4711, "x"),
			 "nothing is restored in a file that is not open");
	policy_path(path, sizeof(path), 0, "scaling_governor");
	fd = open(path, O_RDONLY);
	ktap_check_equal(-EINVAL, probe_restore_add(&nl, fd, "x"), "nor in one that is only read");
	close(fd);
	fd = open("/tmp/plain", O_WRONLY | O_CREAT, 0600);
	ktap_check_equal(-EINVAL, probe_restore_add(&nl, fd, "x"),
			 "nor in one that is not of sysfs");
	close(fd);
	fd = open("/sys/module/printk/parameters/time", O_WRONLY);
	ktap_check_equal(-EINVAL, probe_restore_add(&nl, fd, "Y"),
			 "nor in one of sysfs that is no policy's");
	close(fd);
	memset(text, 'x', sizeof(text));
	text[64] = '\0';
	fd = open(path, O_WRONLY);
	ktap_check(probe_restore_add(&nl, fd, text) < 0, "nor so long a value");
	ktap_check_equal(0, probe_restore_add(&nl, fd, "no such governor"),
			 "what is written is seen only then");
	close(fd);
	ktap_check(nl_talk(&nl, nl_request(&nl, KJOULE_CMD_RESTORE_NOW, 0), NULL,
			   NULL) == -EINVAL && nl.why[0],
		   "what could not be restored is reported");
	ktap_check_equal(0, nl_talk(&nl, nl_request(&nl, KJOULE_CMD_RESTORE_NOW, 0), NULL, NULL), "once");
}

static bool near(double a, double b, double part)
{
	return a > b * (1 - part) && a < b * (1 + part);
}

/* When the loops of a try become those of the second frequency. */
static int64_t change_ns(const struct probe_loops *loops, const struct level *low,
			 const struct level *high)
{
	uint32_t middle = (low->median + high->median) / 2;

	for (unsigned int i = 0; i + 5 < loops->n; i++) {
		unsigned int k = 0;

		while (k < 5 && loops->list[i + k].loop_ns < middle)
			k++;
		if (k == 5 && loops->list[i].start_ns > 0)
			return loops->list[i].start_ns;
	}
	return -1;
}

/* When a loop began. */
static uint64_t loop_start_ns(const struct probe_loops *loops, const struct probe_answer *a,
			      unsigned int i)
{
	return a->asked_ns + loops->list[i].start_ns;
}

/* How many of five tries come to this. */
static unsigned int tries_with(const struct probe_ask *ask, uint32_t outcome)
{
	struct probe_answer a = { 0 };
	unsigned int n = 0;
	int err;

	for (int i = 0; i < 5; i++) {
		err = probe_talk(&nl, ask, &a);
		if (!err && a.outcome == outcome)
			n++;
		else
			ktap_diag("%d, outcome %u", err, a.outcome);
	}
	return n;
}

static void check_change(uint32_t id)
{
	static struct probe_loops loops;
	struct level low, high;
	unsigned int followed = 0, started = 0, bounded = 0, dated = 0;
	struct probe_answer a;
	struct probe_ask ask;
	uint64_t since = now_ns();

	ktap_check(!level_at(id, LOW_KHZ, &low, &a) &&
		   a.outcome == KJOULE_TRANSITION_OUTCOME_DONE && a.count == LOOPS,
		   "loops are timed, one after the other");
	ktap_check(!level_at(id, HIGH_KHZ, &high, &a), "and at another frequency");
	ktap_check(low.within > 0.9 && high.within > 0.9,
		   "most are as long as each other (%.1f and %.1f %%)", 100 * low.within,
		   100 * high.within);
	ktap_check(near((double)low.median / high.median, (double)HIGH_KHZ / LOW_KHZ, 0.05), "they take as long as the frequency says");
	ask = try_of(id, &low, &high);
	for (int i = 0; i < 10; i++) {
		int64_t at;

		if (probe_talk(&nl, &ask, &a) || probe_get_loops(&nl, id, &loops) < 0 ||
		    loops.n != a.count)
			break;
		/* a slice does not end before two loops after a long one */
		bounded += a.irqs_off_ns && a.irqs_off_ns < SLICE_NS + PAUSE_NS + 4 * low.median;
		/*
		 * it may be while the first frequency is waited for, whose loops are not reported
		 */
		dated += a.irqs_off_from_ns > since &&
			 a.irqs_off_from_ns <= loop_start_ns(&loops, &a, loops.n - 1);
		since = a.asked_ns;
		at = change_ns(&loops, &low, &high);
		/* as long as the chip takes, its pause, and a loop or two */
		followed += a.outcome == KJOULE_TRANSITION_OUTCOME_DONE && at > UP_NS &&
			    at < UP_NS + 2 * PAUSE_NS;
		started += loops.list[0].start_ns < 0 && loops.n > 100 && a.asked_ns &&
			   a.request_ns;
	}
	ktap_check_equal(10, started, "each try tells its request, and loops from before it on");
	ktap_check_equal(10, dated, "and when interrupts were off the longest, since the one before");
	ktap_check_equal(10, followed, "a change is followed: after as long as the chip takes");
	ktap_check_equal(10, bounded, "interrupts are off for no longer than a slice and a change");
	ask.timeout_ns = UP_NS / 2;
	followed = tries_with(&ask, KJOULE_TRANSITION_OUTCOME_TIMEOUT);
	ktap_check_equal(5, followed, "a change that takes longer than the time-out is reported");
	/*
	 * neither the loops before the request nor those that confirm the change are in it, which
	 * take longer
	 */
	ask.timeout_ns = UP_NS + 1500000;
	ask.lead = 40;
	followed = 0;
	for (int i = 0; i < 5; i++)
		followed += !probe_talk(&nl, &ask, &a) &&
			    a.outcome == KJOULE_TRANSITION_OUTCOME_DONE && a.count > 140;
	ktap_check_equal(5, followed, "one that takes less than it is followed, and confirmed beyond it");
	ask = try_of(id, &low, &high);
	ask.from_lo = ask.from_hi = 1;
	ask.timeout_ns = 10000000;
	ktap_check(!probe_talk(&nl, &ask, &a) && a.outcome == KJOULE_TRANSITION_OUTCOME_NOT_AT_FROM,
		   "as is a CPU that does not come to the first frequency");
	ask = try_of(id, &low, &high);
	ask.loops = 10;
	followed = tries_with(&ask, KJOULE_TRANSITION_OUTCOME_LOOPS);
	ktap_check_equal(5, followed, "and a change for which the loops do not last");
	ask.adds = 1000000;
	ask.cmd = KJOULE_CMD_TRANSITION_CALIBRATE;
	ktap_check_equal(-EDOM,
			 probe_talk(&nl,
				    &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_CALIBRATE,
							.id = id, .adds = 1000000,
							.to_khz = LOW_KHZ, .loops = 1,
							.timeout_ns = 1000, .slice_ns = SLICE_NS },
				    &a), "a loop that takes too long is refused");
}

/* The frequency by the cycles of all loops, a multiple of whose steps they last together. */
static double counted_khz(uint32_t id, uint32_t khz, struct probe_answer *a)
{
	static struct probe_loops loops;
	struct probe_ask ask = calibrate;
	double cycles = 0, reference = 0;

	ask.id = id;
	ask.to_khz = khz;
	if (probe_talk(&nl, &ask, a) || probe_get_loops(&nl, id, &loops) < 0 || !loops.n)
		return -1;
	for (unsigned int i = 0; i < loops.n; i++) {
		cycles += loops.list[i].cycles;
		reference += loops.list[i].reference;
	}
	return reference > 0 ? cycles / reference * a->reference_khz : 0;
}

static void fail_cycles(bool fail)
{
	int fd = open(FAILING_CYCLES, O_WRONLY);

	if (fd < 0 || write(fd, fail ? "1" : "0", 1) != 1)
		ktap_diag(FAILING_CYCLES ": %s", strerrorname_np(errno));
	close(fd);
}

static void *one_job(void *data)
{
	static struct probe_answer a;

	return probe_talk(&nl, data, &a) ? NULL : &a;
}

/* A second long. */
static void check_pinned(uint32_t id)
{
	struct probe_ask ask = calibrate;
	struct probe_answer *a;
	pthread_t thread;
	bool kept;
	void *got;

	ask.id = id;
	ask.timeout_ns = 1000000000;
	pthread_create(&thread, NULL, one_job, &ask);
	sleep_ms(300);
	kept = syscall(SYS_delete_module, "vchip_source", O_NONBLOCK) && errno == EWOULDBLOCK;
	pthread_join(thread, &got);
	a = got;
	ktap_check(kept && a && !strcmp(a->counter, "vchip-cycles"),
		   "the counter's module stays as long as a job does");
}

static void check_counter(uint32_t id)
{
	struct probe_answer a;
	double khz;

	khz = counted_khz(id, LOW_KHZ, &a);
	ktap_check(!strcmp(a.counter, "vchip-cycles") && near(khz, LOW_KHZ, 0.01),
		   "loops have the cycles of their frequency (%.0f kHz by %s)", khz, a.counter);
	khz = counted_khz(id, HIGH_KHZ, &a);
	ktap_check(near(khz, HIGH_KHZ, 0.01), "at both of them (%.0f kHz)", khz);
	fail_cycles(true);
	khz = counted_khz(id, HIGH_KHZ, &a);
	ktap_check(a.outcome == KJOULE_TRANSITION_OUTCOME_DONE && a.count == LOOPS &&
		   !a.counter[0] && !a.reference_khz && !khz,
		   "a counter that fails is none, and loops are timed all the same");
	fail_cycles(false);
	khz = counted_khz(id, HIGH_KHZ, &a);
	ktap_check(near(khz, HIGH_KHZ, 0.01), "until it works again (%.0f kHz)", khz);
	check_pinned(id);
}

static void check_fast(void)
{
	struct probe_answer a;
	struct probe_ask ask = calibrate;

	ktap_check_equal(0, probe_new(&nl, 0, KJOULE_TRANSITION_WAY_FAST, &a), "fast: there is a probe");
	ask.id = a.id;
	ktap_check(!take_governor(&nl, 0, "schedutil") &&
		   !strcmp(says(0, "scaling_governor"), "kjoule"), "its owner takes the governor");
	check_change(a.id);
	check_counter(a.id);
	set(0, "scaling_governor", "performance");
	ktap_check(probe_talk(&nl, &ask, &a) == -EPERM && strstr(nl.why, "governor"),
		   "who takes the governor away ends the measurement");
	ktap_check_equal(0, nl_talk(&nl, nl_request(&nl, KJOULE_CMD_RESTORE_NOW, 0), NULL, NULL), "what was changed is restored when asked");
	ktap_check(!strcmp(says(0, "scaling_governor"), "schedutil"), "to what it was");
	probe_talk(&nl, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL, .id = ask.id }, &a);
}

static void check_limits(void)
{
	struct level low, high;
	struct probe_answer a;
	struct probe_ask ask;

	set(0, "scaling_governor", "performance");
	ktap_check_equal(0, probe_new(&nl, 0, KJOULE_TRANSITION_WAY_LIMITS, &a), "limits: there is a probe");
	ktap_check(!level_at(a.id, LOW_KHZ, &low, &a) && !level_at(a.id, HIGH_KHZ, &high, &a) &&
		   near((double)low.median / high.median, (double)HIGH_KHZ / LOW_KHZ, 0.05), "limits: frequencies are had under another governor");
	ask = try_of(a.id, &low, &high);
	ktap_check(!probe_talk(&nl, &ask, &a) && a.outcome == KJOULE_TRANSITION_OUTCOME_DONE, "limits: a change is followed");
	ktap_check(atoi(says(0, "scaling_min_freq")) == LOW_KHZ &&
		   atoi(says(0, "scaling_max_freq")) == HIGH_KHZ,
		   "limits: they are as before when it is done");
	set(0, "scaling_max_freq", "70588");
	ktap_check_equal(-ERANGE, probe_talk(&nl, &ask, &a), "limits: held by another process");
	set(0, "scaling_max_freq", "100000");
	probe_talk(&nl, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL, .id = ask.id }, &a);
	set(0, "scaling_governor", "schedutil");
}

/* A process that measures for ever, and is killed. */
static void measure_for_ever(int ready)
{
	struct probe_answer a;
	struct probe_ask ask = calibrate;

	if (nl_open(&nl) || probe_new(&nl, 0, KJOULE_TRANSITION_WAY_FAST, &a) ||
	    take_governor(&nl, 0, "powersave"))
		_exit(1);
	ask.id = a.id;
	ask.timeout_ns = 10000000000;
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		if (probe_talk(&nl, &ask, &a))
			_exit(1);
}

static void check_killed(void)
{
	int ends[2], status = 0;
	uint64_t since;
	char byte;
	pid_t pid;

	if (pipe(ends))
		return;
	pid = fork();
	if (!pid)
		measure_for_ever(ends[1]);
	ktap_check(read(ends[0], &byte, 1) == 1 && !strcmp(says(0, "scaling_governor"), "kjoule"),
		   "a process measures");
	sleep_ms(100);
	since = now_ns();
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ktap_check(WIFSIGNALED(status) && await(!strcmp(says(0, "scaling_governor"), "powersave")),
		   "it is killed, and its governor restored");
	/* ten seconds are what it would have gone on for */
	ktap_check(now_ns() - since < 5000000000, "without waiting for what it was about");
	set(0, "scaling_governor", "schedutil");
	close(ends[0]);
	close(ends[1]);
}

static void *measure_on_second(void *data)
{
	struct probe_ask *ask = data;
	static struct probe_answer a;

	ask->loops = 65536;
	for (int i = 0; i < 50; i++) {
		int err = probe_talk(&nl, ask, &a);

		if (err)
			return (void *)(long)-err;
	}
	return NULL;
}

static void check_hotplug(void)
{
	struct probe_ask ask = calibrate;
	struct probe_answer a;
	pthread_t thread;
	void *got = NULL;

	ktap_check(!probe_new(&nl, 1, KJOULE_TRANSITION_WAY_FAST, &a) &&
		   !take_governor(&nl, 1, "schedutil"), "a probe of the second CPU");
	ask.id = a.id;
	pthread_create(&thread, NULL, measure_on_second, &ask);
	sleep_ms(300);
	ktap_check(cpu_online(1, false), "its CPU can go offline while it measures");
	pthread_join(thread, &got);
	ktap_check((long)got == ENODEV || (long)got == EPERM,
		   "which ends the measurement with an error (%s)", strerrorname_np((long)got));
	ktap_check(cpu_online(1, true), "and come back");
	probe_talk(&nl, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL, .id = ask.id }, &a);
	ktap_check(!nl_talk(&nl, nl_request(&nl, KJOULE_CMD_RESTORE_NOW, 0), NULL, NULL) &&
		   !strcmp(says(1, "scaling_governor"), "schedutil"),
		   "its governor is restored all the same");
	ktap_check(!probe_new(&nl, 1, KJOULE_TRANSITION_WAY_FAST, &a) &&
		   !take_governor(&nl, 1, "schedutil") && cpu_online(1, false),
		   "its CPU goes away once more");
	ktap_check_equal(-EBUSY, nl_talk(&nl, nl_request(&nl, KJOULE_CMD_RESTORE_NOW, 0), NULL,
					 NULL), "a governor cannot be restored then");
	probe_talk(&nl, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL, .id = a.id }, &a);
	ktap_check(cpu_online(1, true) && await(!strcmp(says(1, "scaling_governor"), "schedutil")),
		   "it is when the CPU is back, without a probe as well");
}

static void check_closed(void)
{
	struct probe_answer a;

	ktap_check(!probe_new(&nl, 0, KJOULE_TRANSITION_WAY_FAST, &a) &&
		   !take_governor(&nl, 0, "schedutil"), "one more, and its governor");
	ktap_check(syscall(SYS_delete_module, "kjoule", O_NONBLOCK) &&
		   (errno == EWOULDBLOCK || errno == EBUSY),
		   "the module stays while a policy has its governor");
	nl_close(&nl);
	ktap_check(!strcmp(says(0, "scaling_governor"), "schedutil"),
		   "the socket is closed, and the governor restored");
	ktap_check(!nl_open(&nl) && !probe_new(&nl, 0, KJOULE_TRANSITION_WAY_FAST, &a), "the policy is free again");
	nl_close(&nl);
}

/* Frequencies and latencies are those of one chip. */
static void need_ivybridge(void)
{
	if (atoi(says(0, "cpuinfo_min_freq")) != LOW_KHZ ||
	    atoi(says(0, "cpuinfo_max_freq")) != HIGH_KHZ ||
	    strcmp(says(0, "scaling_driver"), "vchip"))
		ktap_skip_all("there is no virtual chip with the frequencies of an Ivy Bridge: run it in a guest of kjoule's tree with --profile ivybridge");
}

int main(void)
{
	need_ivybridge();
	need_module();
	set(0, "scaling_governor", "schedutil");
	if (nl_open(&nl) || nl_open(&other)) {
		ktap_not_ok("the family is there");
		return ktap_end();
	}
	pin_to(1);
	check_refusals();
	check_restore_refused();
	check_fast();
	check_limits();
	nl_close(&other);
	check_hotplug();
	nl_close(&nl);
	check_killed();
	if (!nl_open(&nl))
		check_closed();
	return ktap_end();
}
