// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An idle CPU is left alone: with a session at 4 kHz it is woken no more often than without,
 * its idle governor chooses as without, its power is the same, and its time is in the statistics.
 * A session that asks for it wakes it all the same. Where only one CPU can read the package's
 * counter, it ticks while another is awake, and no longer. Without the chip: no tick on an idle
 * CPU.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * timeout: 180
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	250000
/*
 * A tick takes a kernel full of checkers longer than 1 ms; no multiple of what its own timers wake
 * at.
 */
#define SLOW_NS		9700000
#define PART_MS		3000
#define ROUNDS		9	/* the guest has its own work now and then: medians */
#define PMU_ROUNDS	5

/* What the guest's own frameworks say of its idle CPUs between two looks. */
struct idle {
	double watt;
	double deep;		/* part of the idle time in the deepest state */
	double chosen;		/* part of the entries that were into it */
	double entries;		/* into any state, per second: how often a CPU was woken */
	double idle_s;		/* by the kernel's accounting */
};

struct look {
	uint64_t ns, pj, us[2], usage[2], idle_ms;
};

static uint64_t interval_ns;
static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static uint64_t idle_samples, idle_samples_of[NL_MAX_CPUS];

static uint64_t number_of(const char *path)
{
	int64_t value;

	return chip_read(path, &value) ? value : 0;
}

/* Both are the chip's, however late this program is; of a machine there is only the time. */
static void look_at_energy(struct look *l)
{
	l->ns = now_ns();
	if (lacks_chip())
		return;
	l->ns = chip_register("pkg.chip_ns");
	l->pj = chip_register("pkg.energy_pkg_pj");
}

static uint64_t kernel_idle_ms(void)
{
	unsigned long long idle = 0, iowait = 0;
	FILE *f = fopen("/proc/stat", "r");

	if (f) {
		if (fscanf(f, "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2)
			ktap_not_ok("idle time in /proc/stat");
		fclose(f);
	}
	return (idle + iowait) * 1000 / sysconf(_SC_CLK_TCK);
}

static void look_at_cpus(struct look *l)
{
	unsigned int cpu, state;
	char path[96];

	l->idle_ms = kernel_idle_ms();
	for (cpu = 0; cpu < cpu_count(); cpu++) {
		for (state = 0; state < 2; state++) {
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/time",
				 cpu, state);
			l->us[state] += number_of(path);
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/usage",
				 cpu, state);
			l->usage[state] += number_of(path);
		}
	}
}

/* How often it has gone idle so far. */
static uint64_t entries_of(unsigned int cpu)
{
	uint64_t entries = 0;
	char path[96];

	for (unsigned int state = 0; state < 2; state++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/usage", cpu, state);
		entries += number_of(path);
	}
	return entries;
}

static struct idle watch(void)
{
	struct look a = { 0 }, b = { 0 };
	uint64_t entries;
	struct idle i;

	/* reading the CPUs' files is work of its own, and not to be measured */
	look_at_cpus(&a);
	look_at_energy(&a);
	sleep_ms(PART_MS);
	look_at_energy(&b);
	look_at_cpus(&b);
	entries = b.usage[0] - a.usage[0] + b.usage[1] - a.usage[1];
	i.watt = (b.pj - a.pj) / 1e3 / (b.ns - a.ns);
	i.idle_s = (b.idle_ms - a.idle_ms) / 1e3;
	i.deep = (double)(b.us[1] - a.us[1]) / (b.us[0] - a.us[0] + b.us[1] - a.us[1]);
	i.chosen = (double)(b.usage[1] - a.usage[1]) / entries;
	i.entries = entries * 1e9 / (b.ns - a.ns);
	return i;
}

static void on_sample(struct walk *w, uint64_t tick, const struct kjoule_sample *s)
{
	(void)tick;
	idle_samples += !!(s->rec.flags & KJOULE_SAMPLE_IDLE);
	idle_samples_of[w - walk] += !!(s->rec.flags & KJOULE_SAMPLE_IDLE);
}

/*
 * An idle CPU ticks only for others that are awake: not more often than those are due, and once
 * more for each time that one of them goes idle again, as it may have been awake for less than a
 * tick.
 * @entries: of each CPU, since before the session began
 */
static void check_ticks_for_others(const struct nl_stats *stats, int n, const uint64_t *entries)
{
	uint64_t awake = 0, woken = 0;
	int c;

	for (c = 0; c < n; c++) {
		awake += stats[c].due - stats[c].skipped;
		woken += entries[c];
	}
	for (c = 0; c < n; c++) {
		uint64_t others = awake - (stats[c].due - stats[c].skipped);
		uint64_t wakes = woken - entries[c];

		ktap_check(idle_samples_of[c] <= others + wakes,
			   "idle, CPU %u ticks only for others (%" PRIu64
			   " times; they had %" PRIu64
			   " ticks, and went idle %" PRIu64 " times)", stats[c].cpu,
			   idle_samples_of[c], others, wakes);
	}
}

static struct idle watch_with(uint64_t flags, const struct nl_spec *pmu, const char *name)
{
	struct nl_stats stats[NL_MAX_CPUS];
	uint64_t due = 0, skipped = 0, missed = 0, idle_ns = 0, told_ns = 0;
	uint64_t begun_ms = kernel_idle_ms();
	uint64_t entries[NL_MAX_CPUS];
	struct idle i = { 0 };
	double around_s;
	int n, c;

	for (c = 0; c < (int)cpu_count() && c < NL_MAX_CPUS; c++)
		entries[c] = entries_of(c);
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = interval_ns, .flags = flags,
						     .specs = pmu, .n_specs = !!pmu },
			   &info, &d, walk))
		return i;
	for (c = 0; c < (int)d.n; c++)
		walk[c].on_sample = on_sample;
	idle_samples = 0;
	memset(idle_samples_of, 0, sizeof(idle_samples_of));
	i = watch();
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	around_s = (kernel_idle_ms() - begun_ms) / 1e3;
	for (c = 0; c < (int)cpu_count() && c < NL_MAX_CPUS; c++)
		entries[c] = entries_of(c) - entries[c];
	drain_map(&d, walk);
	check_stats(name, &nl, &info, &d, walk);
	n = nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	for (c = 0; c < n; c++) {
		due += stats[c].due;
		skipped += stats[c].skipped;
		missed += stats[c].missed;
		idle_ns += stats[c].idle_ns;
		told_ns += walk[c].parked_ns;
	}
	ktap_diag("%s: %.4f W, %.1f entries a second, %.2f %% of them into the deep state, %.2f %% of %.2f s; of %"
		  PRIu64 " ticks %.2f %% skipped, %" PRIu64 " missed, %" PRIu64 " idle samples",
		  name, i.watt, i.entries, 100 * i.chosen, 100 * i.deep, i.idle_s, due,
		  100.0 * skipped / due, missed, idle_samples);
	if (pmu) {
		/* each of these ticks wakes its CPU too */
		i.entries = fmax(0, i.entries - idle_samples / (PART_MS / 1e3));
		check_ticks_for_others(stats, n, entries);
	}
	if (!pmu && !(flags & KJOULE_FLAG_WAKE_IDLE))
		ktap_check_equal(0, idle_samples, "no tick on an idle CPU");
	/* by the kernel's word, not by the statistics that are to be judged */
	if (!(flags & KJOULE_FLAG_WAKE_IDLE) && lacks_chip() && i.idle_s < 1) {
		ktap_skip("idle time is in the statistics",
			  "the CPUs were hardly ever idle: end what runs on this machine");
	} else if (!(flags & KJOULE_FLAG_WAKE_IDLE)) {
		/* each spell has a tick more or less than its length */
		ktap_check(fabs((double)skipped * interval_ns - idle_ns) <
			   0.02 * idle_ns + 2 * sqrt(i.entries * PART_MS / 1e3) * interval_ns,
			   "the ticks of idle time are in the statistics, as skipped (%.3f s of %.3f s)",
			   skipped * (interval_ns / 1e9), idle_ns / 1e9);
		/*
		 * the session begins before it is watched and ends after, and the kernel counts
		 * both ways around
		 */
		ktap_check(idle_ns / 1e9 > 0.95 * i.idle_s - 0.05 &&
			   idle_ns / 1e9 < 1.05 * around_s + 0.05,
			   "idle time by the statistics is the kernel's (%.3f s; %.3f s watched, %.3f s around)",
			   idle_ns / 1e9, i.idle_s, around_s);
		/* a machine with work of its own may have any number of such */
		ktap_check(told_ns <= idle_ns && (lacks_chip() || told_ns > idle_ns * 9 / 10),
			   "and is reported in the records, but for what is shorter than a tick");
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	device_unmap(&d);
	device_close(&d);
	return i;
}

static int by_size(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static double median(double *x, int n)
{
	qsort(x, n, sizeof(*x), by_size);
	return x[n / 2];
}

/* What was found in each round, and the medians. */
struct rounds {
	double watt[ROUNDS], deep[ROUNDS], chosen[ROUNDS], entries[ROUNDS];
};

static void note(struct rounds *all, int r, const struct idle *i)
{
	all->watt[r] = i->watt;
	all->deep[r] = i->deep;
	all->chosen[r] = i->chosen;
	all->entries[r] = i->entries;
}

static struct idle medians(struct rounds *all, int n)
{
	return (struct idle){ .watt = median(all->watt, n), .deep = median(all->deep, n),
			      .chosen = median(all->chosen, n),
			      .entries = median(all->entries, n) };
}

static void look_without(struct rounds *all, int r)
{
	struct idle i = watch();

	ktap_diag("without: %.4f W, %.1f entries a second, %.2f %% of them into the deep state, %.2f %% of the time",
		  i.watt, i.entries, 100 * i.chosen, 100 * i.deep);
	note(all, r, &i);
}

static void check_left_alone(void)
{
	const struct nl_spec pmu = { .given = GIVE_PMU | GIVE(UNIT_MULT) | GIVE(UNIT_SHIFT),
				     .origin = KJOULE_ORIGIN_PERF_PMU, .name = "power/energy-pkg/",
				     .unit_mult = 1000000, .unit_shift = 32, .perf_type = pmu_type("power"),
				     .perf_config = POWER_ENERGY_PKG };
	static struct rounds all[3];
	/* where a wake-up and a read take that much longer, so does what follows from them */
	const bool checkers = kernel_full_of_checkers();
	/* a second: of what all CPUs have an eighth */
	const double ticks_at_least = 1e9 / interval_ns / 4;
	struct idle i, without, with, one;
	int r;

	for (r = 0; r < ROUNDS; r++) {
		/* in turns first, so that what drifts is in both */
		if (r % 2 == 0)
			look_without(&all[0], r);
		i = watch_with(0, NULL, "idle left alone");
		note(&all[1], r, &i);
		if (r < PMU_ROUNDS) {
			i = watch_with(0, &pmu, "one CPU reads");
			note(&all[2], r, &i);
		}
		if (r % 2)
			look_without(&all[0], r);
	}
	without = medians(&all[0], ROUNDS);
	with = medians(&all[1], ROUNDS);
	one = medians(&all[2], PMU_ROUNDS);
	ktap_check(fabs(with.watt / without.watt - 1) < (checkers ? 0.05 : 0.01),
		   "idle power is that without a session (%.4f and %.4f W)", with.watt,
		   without.watt);
	/* each time that one wakes for work of its own the other one does, to read */
	ktap_check(fabs(one.watt / without.watt - 1) < (checkers ? 0.1 : 0.02),
		   "so idle power is, nearly, where only one CPU can read (%.4f and %.4f W)",
		   one.watt, without.watt);
	/* a timer of any rate that fires on idle CPUs adds its rate; the rest is chance */
	ktap_check(with.entries < 1.25 * without.entries + 5,
		   "idle CPUs are woken no more often (%.1f and %.1f times a second)", with.entries,
		   without.entries);
	ktap_check(one.entries < 2 * (1.25 * without.entries + 5),
		   "nor, ticks left out, more than twice as often where only one can read (%.1f times a second)",
		   one.entries);
	ktap_check(fabs(with.deep - without.deep) < 0.01,
		   "they are in the deep state for as long as without a session (%.2f and %.2f %% of the time)",
		   100 * with.deep, 100 * without.deep);
	ktap_check(fabs(with.chosen - without.chosen) < 0.1,
		   "the idle governor chooses it as often (%.2f and %.2f %% of the entries)",
		   100 * with.chosen, 100 * without.chosen);
	i = watch_with(KJOULE_FLAG_WAKE_IDLE, NULL, "idle CPUs woken");
	ktap_check(idle_samples > ticks_at_least * PART_MS / 1e3,
		   "asked for, idle CPUs tick (%" PRIu64 ")", idle_samples);
	ktap_check(i.watt > without.watt * (checkers ? 1.05 : 1.01),
		   "which costs what is saved otherwise (%.4f W)", i.watt);
	ktap_check(i.entries > with.entries + ticks_at_least,
		   "and is woken for it (%.1f times a second)", i.entries);
}

/*
 * A machine that has work of its own is never as idle twice: only what the statistics say is
 * judged.
 */
static void check_parked(void)
{
	watch_with(0, NULL, "idle left alone");
	ktap_skip("idle power, how often CPUs are woken and the choice of idle states are those without a session",
		  lacks_chip());
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	need_module();
	nl_open(&nl);
	interval_ns = kernel_full_of_checkers() ? SLOW_NS : INTERVAL_NS;
	ktap_diag("a tick each %" PRIu64 " us", interval_ns / 1000);
	if (!lacks_chip())
		cpus_at_full_speed();
	if (lacks_chip())
		check_parked();
	else
		check_left_alone();
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
