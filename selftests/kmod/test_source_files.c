// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How the thread of a slow source reads: a counter goes on over its wrap and never steps
 * back, a value that cannot be is an error and counted, a file that is slow is counted
 * as an overrun and holds up no other source, a device that hangs holds up nothing, periods do not
 * drift, the last reading is at the session's end, and a thread without its CPUs counts what it
 * cannot tell.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * timeout: 120
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	2000000
#define MS		1000000ULL
#define MAX_VALUES	2048
#define HANG_MS		4000

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/* Values of two sources, by time. */
static struct kjoule_value value[2][MAX_VALUES];
static unsigned int n[2];
static unsigned int cpu_of[2][NL_MAX_CPUS];	/* how many came from which ring */

static void see(struct walk *w, const struct kjoule_value *v)
{
	unsigned int i = v->rec.flags & 1;

	if (n[i] < MAX_VALUES)
		value[i][n[i]++] = *v;
	cpu_of[i][w->cpu]++;
}

static int by_time(const void *a, const void *b)
{
	const struct kjoule_value *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void drain(void)
{
	unsigned int i;

	drain_map(&d, walk);
	for (i = 0; i < 2; i++)
		qsort(value[i], n[i], sizeof(value[i][0]), by_time);
}

static bool begin(const struct nl_spec *specs, unsigned int count, uint64_t cpus)
{
	unsigned int i;

	memset(n, 0, sizeof(n));
	memset(cpu_of, 0, sizeof(cpu_of));
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .cpus = cpus,
						     .specs = specs, .n_specs = count,
						     .flags = KJOULE_FLAG_WAKE_IDLE },
			   &info, &d, walk))
		return false;
	for (i = 0; i < d.n; i++)
		walk[i].on_value = see;
	return true;
}

static void stop(void)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain();
}

static void end(const char *name)
{
	stop();
	check_stats(name, &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

static const struct nl_use *use(unsigned int i)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info);
	return &info.use[i];
}

/* Let the thread read at least twice more: the second of these began after the call. */
static bool let_read_so_often(unsigned int source, unsigned int times)
{
	uint64_t reads = use(source)->reads, limit = now_ns() + PATIENCE_NS;

	while (use(source)->reads < reads + times && now_ns() < limit)
		sleep_ms(2);
	return info.use[source].reads >= reads + times;
}

static void let_read(unsigned int source)
{
	let_read_so_often(source, 2);
}

static void say(const char *text)
{
	test_file_says(text);
	let_read(0);
}

/* The values are exactly these, and so many reads failed. */
static void check_values(const char *name, const int64_t *want, unsigned int count,
			 uint64_t errors_min)
{
	unsigned int i;
	bool good = n[0] == count;

	for (i = 0; i < count && good; i++)
		good = value[0][i].value == want[i];
	if (!ktap_check(good, "%s: values are as they should be", name)) {
		for (i = 0; i < n[0] || i < count; i++)
			ktap_diag("%u: %" PRId64 ", wanted %" PRId64, i,
				  i < n[0] ? (int64_t)value[0][i].value : -1,
				  i < count ? want[i] : -1);
	}
	if (errors_min)
		ktap_check(info.use[0].errors >= errors_min, "%s: what could not be is counted", name);
	else
		ktap_check_equal(0, info.use[0].errors, "nothing failed");
}

static struct nl_spec file_spec(uint32_t quantity, uint64_t period_ns)
{
	return (struct nl_spec){ .given = GIVE_FILE | GIVE(PERIOD_NS),
				 .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "file",
				 .quantity = quantity, .period_ns = period_ns, .fd = test_file() };
}

static void check_range(void)
{
	struct nl_spec spec = file_spec(KJOULE_QUANTITY_COUNT, 5 * MS);

	spec.given |= GIVE(RANGE);
	spec.range = 999;
	test_file_says("900\n");
	if (!begin(&spec, 1, 0))
		return;
	let_read(0);
	say("950\n");
	say("20\n");		/* 49 to the end, one around it, 20 */
	say("20");		/* the same, not reported again */
	say("10\n");
	ktap_check_equal(0, use(0)->errors, "nothing failed until here");
	say("1000\n");		/* beyond */
	say("-1\n");
	say("ten\n");
	say("999\n");
	say("0\n");
	end("a range of 0 to 999");
	check_values("a range of 0 to 999", (int64_t[]){ 0, 50, 120, 1110, 2099, 2100 }, 6, 3);
	close(spec.fd);
}

static void check_no_range(void)
{
	struct nl_spec spec = file_spec(KJOULE_QUANTITY_COUNT, 5 * MS);

	spec.given |= GIVE(UNIT_MULT) | GIVE(UNIT_SHIFT);
	spec.unit_mult = 5;
	spec.unit_shift = 1;	/* 2.5 */
	test_file_says("9223372036854775000\n");
	if (!begin(&spec, 1, 0))
		return;
	let_read(0);
	say("9223372036854775807\n");	/* + 807 */
	say("100\n");			/* reset: what it had counted is not known */
	ktap_check_equal(1, use(0)->errors, "a counter that steps back is one error");
	say("110\n");
	test_file_fails(EIO);
	let_read(0);
	let_read(0);
	test_file_says("210\n");
	test_file_fails(0);
	let_read(0);
	end("no range");
	check_values("no range", (int64_t[]){ 0, 2017, 2042, 2292 }, 4, 2);
	close(spec.fd);
}

static void check_gauge(void)
{
	struct nl_spec spec = file_spec(KJOULE_QUANTITY_TEMPERATURE, 50 * MS);
	unsigned int i, bad = 0;
	bool low = false, high = false;

	spec.given |= GIVE(UNIT_MULT) | GIVE(UNIT_SHIFT);
	spec.unit_mult = 1000;
	spec.unit_shift = 3;
	test_file_says("-3\n");
	if (!begin(&spec, 1, 0))
		return;
	let_read(0);
	say("17");
	end("a gauge");
	for (i = 0; i < n[0]; i++) {
		low |= value[0][i].value == -375;
		high |= value[0][i].value == 2125;
		bad += value[0][i].value != -375 && value[0][i].value != 2125;
	}
	ktap_check(low && high && !bad, "a gauge has its sign and unit");
	ktap_check(n[0] == info.use[0].reads && !info.use[0].errors, "it is reported at each reading");
	close(spec.fd);
}

/* Of the second source's values those that came, by the period, at most so much after this one. */
static unsigned int within(const struct kjoule_value *first, uint64_t period_ns, uint64_t most_ns)
{
	unsigned int i, count = 0;

	for (i = 0; i < n[1]; i++)
		count += (value[1][i].time_ns - first->time_ns + (1 << 16) * period_ns) %
			 period_ns < most_ns;
	return count;
}

/* A slow one and a quick one. */
static void check_slow(void)
{
	struct nl_spec specs[2] = { file_spec(KJOULE_QUANTITY_POWER, 10 * MS), {
		.given = GIVE_FILE | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "temperature",
		.quantity = KJOULE_QUANTITY_TEMPERATURE, .period_ns = 10 * MS,
		.fd = chip_temperature() } };
	unsigned int i, took = 0, over = 0, nearly = 0;
	unsigned int prompt = 0, there;
	uint64_t begun;

	test_file_says("5\n");
	if (!begin(specs, 2, 0))
		return;
	let_read(0);
	test_file_waits(55);
	begun = now_ns();
	while (now_ns() < begun + 1500 * MS) {
		sleep_ms(20);
		drain();
	}
	test_file_waits(0);
	let_read(0);
	end("a slow file");
	for (i = 0; i < n[0]; i++) {
		took += value[0][i].duration_ns >= 55 * MS;
		over += value[0][i].duration_ns > 10 * MS;
		nearly += value[0][i].duration_ns > 9 * MS;
	}
	/* the first may have begun before, 1500 / 60 of 55 ms and what sleeping adds */
	if (!ktap_check(took >= 10 && took <= 28, "a file that takes 55 ms is read one time after the other"))
		ktap_diag("%u readings of 55 ms", took);
	if (!ktap_check(info.use[0].overruns >= over && info.use[0].overruns <= nearly,
			"each reading that takes longer than the period is counted as an overrun"))
		ktap_diag("%" PRIu64 " overruns, %u to %u", info.use[0].overruns, over, nearly);
	/*
	 * a slow reading takes 55 ms or more, a quick one comes each 10 ms; in turn there would be
	 * as many of both
	 */
	if (!ktap_check(info.use[1].reads == n[1] && n[1] > 60 && n[1] > 4 * took, "another source is read at its own pace"))
		ktap_diag("%u values of %" PRIu64 " readings", n[1], info.use[1].reads);
	/*
	 * Most begin shortly after their grid point, to the end; if periods drifted a third would.
	 * The prompt ones tell where the grid is, the first may have been late.
	 */
	for (i = 0; i < n[1]; i++) {
		there = within(&value[1][i], 10 * MS, 3 * MS);
		prompt = there > prompt ? there : prompt;
	}
	if (!ktap_check(prompt * 10 >= n[1] * 7, "its periods do not drift"))
		ktap_diag("%u of %u within 3 ms of the grid", prompt, n[1]);
	close(specs[0].fd);
	close(specs[1].fd);
}

/* Long periods: the first reading is at the start, the last one at the stop. */
static void check_ends(void)
{
	struct nl_spec spec = file_spec(KJOULE_QUANTITY_COUNT, 3600 * 1000 * MS);
	uint64_t begun;

	test_file_says("40\n");
	if (!begin(&spec, 1, 0))
		return;
	await(use(0)->reads >= 1);
	test_file_says("47\n");
	begun = now_ns();
	end("a period of an hour");
	ktap_check(now_ns() - begun < 1000 * MS, "a session with it stops at once");
	check_values("a period of an hour", (int64_t[]){ 0, 7 }, 2, 0);
	ktap_check_equal(2, info.use[0].reads, "it was read at the start and at the stop");
	ktap_check(n[0] == 2 && value[0][1].time_ns <= info.stop_ns, "the last reading is before the end");
	begun = now_ns();
	if (!nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = &spec,
						      .n_specs = 1 }, &info))
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	ktap_check(now_ns() - begun < 1000 * MS, "a session that was never started ends at once");
	close(spec.fd);
}

/* The records are in the ring of the CPU that the thread is on; without its CPUs it has none. */
static void check_offline(void)
{
	struct nl_spec spec = file_spec(KJOULE_QUANTITY_POWER, 10 * MS);
	uint64_t reads, errors, before;

	test_file_says("5\n");
	if (!begin(&spec, 1, 2))
		return;
	let_read_so_often(0, 11);
	before = use(0)->reads;
	ktap_check(before > 10 && !info.use[0].errors, "a session of CPU 1: the thread reads");
	cpu_online(1, false);
	let_read(0);
	reads = use(0)->reads;
	errors = info.use[0].errors;
	let_read_so_often(0, 11);
	reads = use(0)->reads - reads;
	errors = info.use[0].errors - errors;
	if (!ktap_check(reads > 10 && errors == reads, "while CPU 1 is offline each reading is counted as an error"))
		ktap_diag("%" PRIu64 " readings, %" PRIu64 " errors", reads, errors);
	cpu_online(1, true);
	let_read(0);
	errors = use(0)->errors;
	ktap_check(let_read_so_often(0, 20) && errors == info.use[0].errors, "when it is back there are no more");
	end("CPU 1 off and on");
	ktap_check(cpu_of[0][1] == n[0] && n[0] == info.use[0].reads - info.use[0].errors,
		   "readings are reported in the ring of CPU 1, or counted as errors");
	close(spec.fd);
}

/* Wait until no reading is late any more, so that the file is as it was. */
static void let_go(void)
{
	test_file_waits(0);
	sleep_ms(HANG_MS);
}

static bool begin_hanging(struct nl_spec *spec)
{
	test_file_says("5\n");
	test_file_waits(0);
	if (!begin(spec, 1, 0))
		return false;
	let_read(0);
	test_file_waits(HANG_MS);
	sleep_ms(200);		/* a reading begins within a period */
	return true;
}

/* A device that hangs holds up neither the stop, nor the end, nor who closes the socket. */
static void check_hanging(void)
{
	struct nl_spec spec = file_spec(KJOULE_QUANTITY_POWER, 10 * MS);
	uint64_t begun, errors;

	if (!begin_hanging(&spec))
		return;
	begun = now_ns();
	stop();
	ktap_check(now_ns() - begun < 2500 * MS, "a device that hangs does not hold up the stop");
	errors = use(0)->errors;
	ktap_check(info.state == KJOULE_SESSION_STOPPED && errors == 1, "the reading that was cut off is an error");
	check_stats("a device that hangs", &nl, &info, &d, walk);
	let_go();
	drain();
	check_stats("after the device has answered", &nl, &info, &d, walk);
	ktap_check(use(0)->errors == errors, "and its errors are as they were");
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);

	if (!begin_hanging(&spec))
		return;
	begun = now_ns();
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	ktap_check(now_ns() - begun < 2500 * MS && !session_count(), "nor the end");
	let_go();
	drain();
	device_close(&d);

	if (!begin_hanging(&spec))
		return;
	device_close(&d);
	begun = now_ns();
	nl_close(&nl);
	ktap_check(now_ns() - begun < 500 * MS && !session_count(), "nor who closes the socket");
	let_go();
	close(spec.fd);
	ktap_check(!nl_open(&nl), "the family answers afterwards");
}

int main(void)
{
	need_module();
	need_chip();
	if (nl_open(&nl)) {
		ktap_not_ok("the family");
		return ktap_end();
	}
	check_range();
	check_no_range();
	check_gauge();
	check_slow();
	check_ends();
	check_offline();
	check_hanging();
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
