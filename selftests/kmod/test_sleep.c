// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine sleeps while a session runs: what was due is counted and reported as missed for
 * that reason, the ticks come back on their grid, energy totals never step back and have
 * nothing in them that was not measured. The kernel's own suspend test wakes up by itself;
 * it goes all the way down where the machine's files survive that, which those that a guest has
 * over 9p do not. In a guest without them: vm/test_sleep.py.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * boot: own
 * timeout: 120
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000
#define TEST_NS		5000000000ULL		/* as long as the kernel's suspend test waits */

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static uint64_t suspended, offline;

/* Energy as the records of all rings reported it. */
static struct told {
	uint64_t time_ns, uj;
	uint32_t source, scope;
} told[1 << 16];
static unsigned int n_told;

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (!done)
		ktap_diag("%s to %s: %s", text, path, strerrorname_np(errno));
	close(fd);
	return done;
}

/* What the walker does not tell: the reasons of gaps. */
static void look_for_reasons(const struct ring *r)
{
	const struct kjoule_record *rec;
	const struct kjoule_gap *g;
	uint64_t at;

	for (at = r->tail->tail; at < r->head->head; at += rec->size) {
		rec = (const void *)(r->data + (at & (r->size - 1)));
		g = (const void *)rec;
		if (rec->type != KJOULE_RECORD_GAP)
			continue;
		suspended += rec->flags & KJOULE_GAP_SUSPENDED ? g->count : 0;
		offline += rec->flags & KJOULE_GAP_OFFLINE ? g->count : 0;
	}
}

static void see_energy(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	if (e->domains & 1 && n_told < sizeof(told) / sizeof(told[0]))
		told[n_told++] = (struct told){ .time_ns = walk_due_ns(w->session, tick) +
						e->delay_ns, .uj = e->energy_uj[0],
						.source = e->rec.flags, .scope = e->scope };
}

static int by_time(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Over all rings, because who reads a counter changes while CPUs come and go. */
static unsigned int steps_back(void)
{
	unsigned int i, j, n = 0;

	qsort(told, n_told, sizeof(told[0]), by_time);
	for (i = 0; i < n_told; i++) {
		for (j = i; j-- > 0;) {
			if (told[j].source != told[i].source || told[j].scope != told[i].scope)
				continue;
			if (told[i].uj < told[j].uj && n++ < 3)
				ktap_diag("%" PRIu64 " uJ at %" PRIu64 " ns, after %" PRIu64
					  " at %" PRIu64, told[i].uj, told[i].time_ns, told[j].uj,
					  told[j].time_ns);
			break;
		}
	}
	return n;
}

/* What the records add while the machine slept and the chip went on. */
static double told_across(uint64_t before, uint64_t after)
{
	uint64_t low = 0, high = 0;
	unsigned int i;

	for (i = 0; i < n_told; i++) {
		if (told[i].time_ns < before)
			low = told[i].uj;
		if (told[i].time_ns > after) {
			high = told[i].uj;
			break;
		}
	}
	return (high - low) / 1e6;
}

/* Is there energy to be measured at all? */
static bool has_energy(void)
{
	unsigned int i;

	for (i = 0; i < info.uses; i++) {
		if (info.use[i].kind == KJOULE_KIND_ENERGY)
			return true;
	}
	return false;
}

static uint64_t boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void check_sleep(const char *state, const char *test)
{
	uint64_t before, after, slept_ns, ticks, least, asleep_ns, pj;
	unsigned int i;
	char name[64];

	snprintf(name, sizeof(name), "%s, down to %s", state, test);
	suspended = offline = n_told = 0;
	if (!write_to("/sys/power/pm_test", test)) {
		ktap_skip(name, "this kernel has no suspend test (CONFIG_PM_DEBUG)");
		return;
	}
	if (!session_begin(&nl,
			   &(struct nl_config){ .interval_ns = INTERVAL_NS, .ring_bytes = 1 << 22,
						.flags = KJOULE_FLAG_WAKE_IDLE }, &info, &d, walk))
		return;
	for (i = 0; i < d.n; i++)
		walk[i].on_energy = see_energy;
	sleep_ms(500);
	pj = chip_register("pkg.energy_pkg_pj");
	before = now_ns();
	asleep_ns = boot_ns() - before;
	ktap_check(write_to("/sys/power/state", state), "%s: the machine sleeps and wakes", name);
	after = now_ns();
	pj = chip_register("pkg.energy_pkg_pj") - pj;
	asleep_ns = boot_ns() - after - asleep_ns;
	sleep_ms(1000);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	for (i = 0; i < d.n; i++)
		look_for_reasons(&d.ring[i]);
	drain_map(&d, walk);
	check_stats(name, &nl, &info, &d, walk);
	slept_ns = after - before;
	ticks = slept_ns / INTERVAL_NS;
	ktap_diag("%s: %.3f s by the clock, which stood for %.3f s; %" PRIu64
		  " ticks missed for it on %u CPUs, %" PRIu64
		  " reported as offline; %u energy records", name, slept_ns / 1e9, asleep_ns / 1e9,
		  suspended, d.n, offline, n_told);
	/*
	 * The module hears of the sleep after it has begun and of the end before it is one. On a
	 * kernel full of checkers that may take longer than the sleep itself, if the clock does not
	 * stand for it.
	 */
	least = ticks * 8 / 10;
	if (kernel_full_of_checkers() && least > TEST_NS / INTERVAL_NS * 19 / 20)
		least = TEST_NS / INTERVAL_NS * 19 / 20;
	ktap_check(suspended > d.n * least && suspended <= d.n * (ticks + 2),
		   "%s: the ticks due meanwhile are reported as missed for that", name);
	if (has_energy()) {
		ktap_check_equal(0, steps_back(), "energy never steps back, whoever reads it");
		ktap_check(n_told > 10 && told[0].time_ns < before &&
			   told[n_told - 1].time_ns > after,
			   "and is measured before and after");
		if (pj && !ktap_check(told_across(before, after) < pj / 1e12 / 2, "and has not in it what was not measured"))
			ktap_diag("%.3f J reported over the sleep, the chip spent %.3f J",
				  told_across(before, after), pj / 1e12);
	} else {
		ktap_skip("energy never steps back, whoever reads it",
			  "no source of energy: load its driver");
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	device_unmap(&d);
	device_close(&d);
	write_to("/sys/power/pm_test", "none");
}

/* Does a file system hang on a device that does not come back from sleep? */
static bool needs_9p(void)
{
	FILE *f = fopen("/proc/mounts", "r");
	char line[512];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found |= !!strstr(line, " 9p ");
	if (f)
		fclose(f);
	return found;
}

int main(void)
{
	need_module();
	need_root();
	nl_open(&nl);
	check_sleep("freeze", needs_9p() ? "freezer" : "devices");
	check_sleep("mem", needs_9p() ? "freezer" : "core");
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
