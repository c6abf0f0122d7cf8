// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf takes a counter away with its CPU, or the PMU moves it to another one: either way
 * the source goes on when there is a CPU that can read it, and its totals never step back
 * and never tell more than the chip has counted. A CPU that was not there when the session was made
 * takes part when it comes; a CPU of which the PMU counts nothing does not keep the others from it.
 *
 * where: guest
 * vm: --profile plain --cpus 2 --append cpu0_hotplug
 * timeout: 120
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000

enum { POWER, INSTRUCTIONS };

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/* Totals by source and scope, and in whose ring they were reported last. */
static uint64_t total[2][2];
static unsigned int told_by[2][2];
static bool back;

static void see(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	unsigned int source = e->rec.flags & 1, scope = e->scope & 1;

	(void)tick;
	back |= e->energy_uj[0] < total[source][scope];
	total[source][scope] = e->energy_uj[0];
	told_by[source][scope] = w->cpu;
}

/* The rings one after the other: a CPU's last records come before the next CPU's first. */
static void drain(unsigned int first)
{
	struct device one = d;

	one.n = 1;
	one.ring[0] = d.ring[first];
	drain_map(&one, &walk[first]);
	one.ring[0] = d.ring[1 - first];
	drain_map(&one, &walk[1 - first]);
}

static uint64_t instructions(unsigned int cpu)
{
	char user[32], kernel[32];

	snprintf(user, sizeof(user), "cpu%u.instr_user", cpu);
	snprintf(kernel, sizeof(kernel), "cpu%u.instr_kernel", cpu);
	return chip_register(user) + chip_register(kernel);
}

/* Do totals grow in this time, reported by this CPU? */
static bool grows_in(uint64_t ns, unsigned int source, unsigned int scope, unsigned int cpu)
{
	uint64_t limit = now_ns() + ns, before;

	drain(1 - cpu);
	before = total[source][scope];
	while (now_ns() < limit) {
		sleep_ms(20);
		drain(1 - cpu);
		if (total[source][scope] > before && told_by[source][scope] == cpu)
			return true;
	}
	return false;
}

static bool grows(unsigned int source, unsigned int scope, unsigned int cpu)
{
	return grows_in(PATIENCE_NS, source, scope, cpu);
}

static bool stands(unsigned int source, unsigned int scope, unsigned int cpu)
{
	return !grows_in(3000000000, source, scope, cpu);
}

static void check_balance(const char *name)
{
	static struct nl_stats stats[NL_MAX_CPUS];

	ktap_check(nl_stats(&nl, info.id, stats, NL_MAX_CPUS) == 2 &&
		   stats_balance(&stats[0]) & stats_balance(&stats[1]), "%s: the statistics agree", name);
}

/*
 * An idle CPU counts its own events only where it is kept awake; the package's energy is read
 * anyhow.
 */
static bool awake;

static void cycle(unsigned int cpu, unsigned int i)
{
	if (!cpu_online(cpu, false)) {
		ktap_not_ok("CPU %u goes offline, time %u", cpu, i);
		return;
	}
	check_balance("offline");
	ktap_check(grows(POWER, 0, 1 - cpu), "CPU %u offline, time %u: the package's counter goes on", cpu, i);
	ktap_check(!awake || grows(INSTRUCTIONS, 1 - cpu, 1 - cpu), "CPU %u offline, time %u: so does the other CPU's", cpu, i);
	if (!cpu_online(cpu, true)) {
		ktap_not_ok("CPU %u comes back, time %u", cpu, i);
		return;
	}
	ktap_check(!awake || grows(INSTRUCTIONS, cpu, cpu), "CPU %u back, time %u: its own counter goes on", cpu, i);
	drain(cpu);
	ktap_check(grows(POWER, 0, told_by[POWER][0]), "CPU %u back, time %u: the package's counter goes on", cpu, i);
	check_balance("back");
}

static struct nl_spec power(void)
{
	return (struct nl_spec){ .given = GIVE_PMU | GIVE(UNIT_MULT) | GIVE(UNIT_SHIFT),
				 .origin = KJOULE_ORIGIN_PERF_PMU, .name = "power/energy-pkg/",
				 .unit_mult = 1000000, .unit_shift = 32, .perf_type = pmu_type("power"),
				 .perf_config = POWER_ENERGY_PKG };
}

static struct nl_spec instructions_counter(void)
{
	return (struct nl_spec){ .given = GIVE_PMU, .origin = KJOULE_ORIGIN_PERF_PMU, .name = "instructions",
				 .quantity = KJOULE_QUANTITY_COUNT, .perf_type = pmu_type("vchip"),
				 .perf_config = VCHIP_INSTRUCTIONS };
}

static void check_hotplug(uint64_t flags)
{
	const struct nl_spec specs[] =
		{ [POWER] = power(), [INSTRUCTIONS] = instructions_counter() };
	uint64_t before[3], after[3], begun, ending;
	int fd = chip_energy();
	unsigned int i;

	awake = flags & KJOULE_FLAG_WAKE_IDLE;
	memset(total, 0, sizeof(total));
	before[0] = chip_number(fd);
	before[1] = instructions(0);
	before[2] = instructions(1);
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = specs,
						     .n_specs = 2, .flags = flags,
						     .ring_bytes = 1 << 22 },
			   &info, &d, walk)) {
		ktap_not_ok("a session: %s", nl.why);
		return;
	}
	begun = chip_number(fd);
	walk[0].on_energy = walk[1].on_energy = see;
	ktap_check(grows(POWER, 0, told_by[POWER][0]) &&
		   (!awake || (grows(INSTRUCTIONS, 0, 0) && grows(INSTRUCTIONS, 1, 1))),
		   "with both CPUs: one CPU tells the package's counter, each CPU its own");
	for (i = 0; i < 3; i++)
		cycle(1, i);
	if (access("/sys/devices/system/cpu/cpu0/online", W_OK)) {
		ktap_skip("the CPU that reads the package's counter goes offline", "CPU 0 cannot");
	} else {
		for (i = 0; i < 3; i++)
			cycle(0, i);
	}
	ending = chip_number(fd);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain(told_by[POWER][0] ? 0 : 1);
	after[0] = chip_number(fd);
	after[1] = instructions(0);
	after[2] = instructions(1);
	ktap_check(!back, "no total ever steps back");
	ktap_check(total[POWER][0] <= after[0] - before[0] + 16 &&
		   total[INSTRUCTIONS][0] <= after[1] - before[1] && total[INSTRUCTIONS][1] <=
		   after[2] - before[2], "nothing is reported that the chip has not counted");
	/* what is lost: from when a CPU goes until the counter is there again */
	if (!ktap_check(total[POWER][0] >= (ending - begun) / 10 * 9, "little is lost while counters are moved"))
		ktap_diag("%" PRIu64 " of %" PRIu64 " uJ", total[POWER][0], ending - begun);
	check_stats("CPUs off and on", &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	close(fd);
}

/*
 * Which was made while CPU 0 was offline: when it is back it counts, and takes over from the other.
 */
static void check_joiner(void)
{
	const struct nl_spec specs[] =
		{ [POWER] = power(), [INSTRUCTIONS] = instructions_counter() };

	if (access("/sys/devices/system/cpu/cpu0/online", W_OK)) {
		ktap_skip("a CPU that was offline when the session was made", "CPU 0 cannot");
		return;
	}
	memset(total, 0, sizeof(total));
	if (!cpu_online(0, false) ||
	    !session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = specs,
						     .n_specs = 2, .flags = KJOULE_FLAG_WAKE_IDLE,
						     .ring_bytes = 1 << 22 },
			   &info, &d, walk)) {
		ktap_not_ok("a session while CPU 0 is offline: %s", nl.why);
		return;
	}
	walk[0].on_energy = walk[1].on_energy = see;
	ktap_check(grows(POWER, 1, 1) && grows(INSTRUCTIONS, 1, 1), "without CPU 0 the other tells both counters");
	ktap_check(cpu_online(0, true) && grows(INSTRUCTIONS, 0, 0), "CPU 0 comes: its own counter is reported");
	ktap_check(cpu_online(1, false) && grows(POWER, 1, 0), "CPU 1 goes: CPU 0 tells the package's");
	ktap_check(grows(INSTRUCTIONS, 0, 0), "and its own");
	ktap_check(cpu_online(1, true) && grows(INSTRUCTIONS, 1, 1) &&
		   grows(POWER, 1, told_by[POWER][1]),
		   "CPU 1 comes back: all go on");
	ktap_check(!total[POWER][0], "the package has one counter all the time");
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain(told_by[POWER][1] ? 0 : 1);
	ktap_check(!back, "no total ever steps back");
	ktap_check(info.use[POWER].scope[0] == 1 && info.use[POWER].scope[1] == 1 &&
		   info.use[INSTRUCTIONS].scope[0] == 0 && info.use[INSTRUCTIONS].scope[1] == 1,
		   "who shares which is reported at the end");
	check_stats("a CPU that joins", &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

/* As PMUs of one kind of CPU do, or those that are to be asked for on one CPU only. */
static void check_refused(void)
{
	const struct nl_spec spec = instructions_counter();
	uint64_t errors;

	set_parameter("vchip", "not_on", "1");
	memset(total, 0, sizeof(total));
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = &spec,
						     .n_specs = 1, .flags = KJOULE_FLAG_WAKE_IDLE,
						     .ring_bytes = 1 << 22 },
			   &info, &d, walk)) {
		ktap_not_ok("a session with a PMU that counts nothing of CPU 1: %s", nl.why);
		set_parameter("vchip", "not_on", "-1");
		return;
	}
	walk[0].on_energy = walk[1].on_energy = see;
	ktap_check(grows(0, 0, 0), "a PMU that counts nothing of CPU 1 counts on CPU 0");
	drain(0);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain(0);
	errors = info.use[0].errors;
	ktap_check(!total[0][1] && !errors, "and CPU 1 has nothing to tell, which is no error");
	check_stats("a PMU of one CPU", &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	ktap_check_equal(-EINVAL,
			 nl_session_try(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
									  .specs = &spec,
									  .n_specs = 1,
									  .cpus = 2 }),
			 "a session of CPU 1 alone is refused");
	ktap_check(strstr(nl.why, "on CPU 1"), "the words name the CPU");
	set_parameter("vchip", "not_on", "-1");
}

/* A counter that perf has squeezed out comes back when there is room again. */
static void check_squeezed(void)
{
	const struct nl_spec spec = instructions_counter();
	struct perf_event_attr other = { .type = pmu_type("vchip"), .size = sizeof(other),
					 .config = VCHIP_INSTRUCTIONS, .pinned = 1 };
	unsigned int i;
	int fd[2];

	memset(total, 0, sizeof(total));
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = &spec,
						     .n_specs = 1, .flags = KJOULE_FLAG_WAKE_IDLE,
						     .ring_bytes = 1 << 22 },
			   &info, &d, walk))
		return;
	walk[0].on_energy = walk[1].on_energy = see;
	ktap_check(grows(0, 0, 0) && grows(0, 1, 1), "counters that have room go on");
	set_parameter("vchip", "full", "1");
	/* another pinned counter: perf arranges all that a PMU has on a CPU anew */
	for (i = 0; i < 2; i++)
		fd[i] = syscall(SYS_perf_event_open, &other, -1, i, -1, 0);
	ktap_check(fd[0] >= 0 && fd[1] >= 0 && stands(0, 0, 0) && stands(0, 1, 1), "without room they stand");
	set_parameter("vchip", "full", "0");
	ktap_check(grows(0, 0, 0) && grows(0, 1, 1), "with room again they go on");
	ktap_check(!back, "and their totals never step back");
	close(fd[0]);
	close(fd[1]);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain(0);
	check_stats("counters without room", &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

/* Energy records whose tick was due in this time. */
static struct { uint64_t from_ns, until_ns; unsigned int told[NL_MAX_CPUS]; } counted;

static void count(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	uint64_t due_ns = walk_due_ns(&info, tick);

	(void)e;
	counted.told[w->cpu % NL_MAX_CPUS] += due_ns >= counted.from_ns &&
					      due_ns <= counted.until_ns;
}

static void count_from_now(void)
{
	drain_map(&d, walk);
	memset(&counted, 0, sizeof(counted));
	counted.from_ns = now_ns();
	counted.until_ns = UINT64_MAX;
}

/*
 * Energy records of CPU 1, its ticks and those that were due, while the chip's counter moves at
 * least four times.
 */
static void watch_second(unsigned int *records, uint64_t *ticks, uint64_t *due)
{
	static struct nl_stats stats[NL_MAX_CPUS];
	uint64_t end;

	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	*ticks = stats[1].taken;
	*due = now_ns();
	count_from_now();
	end = now_ns() + 40000000;
	while (now_ns() < end)
		;	/* awake: while both are idle there is nothing to read */
	drain_map(&d, walk);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	*ticks = stats[1].taken - *ticks;
	*due = (now_ns() - *due) / INTERVAL_NS;
	*records = counted.told[1];
}

/*
 * For 40 ticks all CPUs sleep, and so does the one that reads. A kernel full of checkers takes
 * several ticks to fall idle and to wake, in which there is something to read.
 */
static bool is_left_alone_asleep(void)
{
	static struct nl_stats before[NL_MAX_CPUS], after[NL_MAX_CPUS];
	uint64_t skipped;

	nl_stats(&nl, info.id, before, NL_MAX_CPUS);
	count_from_now();
	sleep_ms(40);
	counted.until_ns = now_ns();
	nl_stats(&nl, info.id, after, NL_MAX_CPUS);
	drain_map(&d, walk);
	skipped = after[1].skipped - before[1].skipped;
	if (skipped < 20 || counted.told[1] > 2)
		ktap_diag("idle for 40 ticks: %" PRIu64 " skipped, %u energy records", skipped,
			  counted.told[1]);
	return skipped >= 20 && (counted.told[1] <= 2 || kernel_full_of_checkers());
}

/*
 * Idle CPUs are left alone, but for the one on which the reading hangs, whichever it is at the
 * time.
 */
static void check_owner_moves(void)
{
	unsigned int records, i, reads = 0, alone = 0, asleep = 0, woken = 0;
	uint64_t ticks, due;

	pin_to(0);
	set_parameter("vchip_source", "owner", "0");
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .energy = "vchip",
						     .ring_bytes = 1 << 22 },
			   &info, &d, walk))
		return;
	walk[0].on_energy = walk[1].on_energy = count;
	for (i = 0; i < 20; i++) {
		set_parameter("vchip_source", "owner", "1");
		watch_second(&records, &ticks, &due);
		reads += records >= 2;
		set_parameter("vchip_source", "owner", "0");
		watch_second(&records, &ticks, &due);
		alone += !records && ticks < (kernel_full_of_checkers() ? due / 2 : 10);
	}
	/* now and then it has something to do of its own */
	set_parameter("vchip_source", "owner", "1");
	for (i = 0; i < 20; i++) {
		asleep += is_left_alone_asleep();
		watch_second(&records, &ticks, &due);
		woken += records >= 2;
	}
	if (!ktap_check(reads >= 18, "an idle CPU that has to read the package's counter does at once"))
		ktap_diag("%u of %u times", reads, i);
	if (!ktap_check(alone >= 16, "and is left alone as soon as it need not any more"))
		ktap_diag("%u of %u times; in the last %u energy records, %" PRIu64 " of %" PRIu64
			  " ticks", alone, i, records, ticks, due);
	if (!ktap_check(asleep >= 16, "and while all others are idle"))
		ktap_diag("%u of %u times", asleep, i);
	if (!ktap_check(woken >= 18, "until one of them wakes: then it reads again"))
		ktap_diag("%u of %u times", woken, i);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain(0);
	check_stats("the reader changes", &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	set_parameter("vchip_source", "owner", "-1");
}

int main(void)
{
	need_module();
	need_chip();
	if (nl_open(&nl)) {
		ktap_not_ok("the family");
		return ktap_end();
	}
	check_hotplug(KJOULE_FLAG_WAKE_IDLE);
	check_hotplug(0);
	check_joiner();
	check_refused();
	check_owner_moves();
	check_squeezed();
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
