// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plain values for scripts are true: version and abi are those of the headers,
 * sessions counts them, and debugfs' statistics are consistent at any moment, agree with what the
 * test has read, and are those that netlink tells once the session has stopped.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define VALUES	"/sys/class/misc/kjoule/"
#define STATISTICS	"/sys/kernel/debug/kjoule/statistics"
#define HEADING	"session cpu due taken missed skipped filtered records consumed lost waiting tick_ns delay_max_ns\n"

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/* A value is one line, which all may read and none may write. */
static void check_value(const char *name, const char *want)
{
	char path[64], text[64] = "", line[64];
	struct stat st = { 0 };
	FILE *f;

	snprintf(path, sizeof(path), VALUES "%s", name);
	snprintf(line, sizeof(line), "%s\n", want);
	f = fopen(path, "r");
	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	if (!ktap_check(!strcmp(text, line), "%s is %s", name, want))
		ktap_diag("got %s", text);
	ktap_check(!stat(path, &st) && (st.st_mode & 0777) == 0444, "%s may be read by everybody", name);
}

static void check_info(void)
{
	struct kjoule_info i = { .size = sizeof(i) };
	int fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC);

	ktap_check(!ioctl(fd, KJOULE_IOC_INFO, &i) && i.abi == KJOULE_ABI_VERSION &&
		   !strcmp(i.version, KJOULE_VERSION), "the device tells the same");
	close(fd);
}

/* The statistics as debugfs has them. Return: how many lines, -1 if they are not as documented. */
static int read_stats(struct nl_stats *stats, int max)
{
	char line[512];
	int n = 0;
	FILE *f = fopen(STATISTICS, "r");

	if (!f || !fgets(line, sizeof(line), f) || strcmp(line, HEADING)) {
		if (f)
			fclose(f);
		return -1;
	}
	for (; n >= 0 && n < max && fgets(line, sizeof(line), f); n++) {
		struct nl_stats *s = &stats[n];
		char more;

		memset(s, 0, sizeof(*s));
		if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 " %" SCNu64 "%c",
			   &s->session, &s->cpu, &s->due, &s->taken, &s->missed, &s->skipped,
			   &s->filtered, &s->records, &s->consumed, &s->lost, &s->waiting,
			   &s->tick_ns, &s->delay_max_ns, &more) != 14 || more != '\n')
			n = -2;
	}
	fclose(f);
	return n;
}

/* Each CPU has its line, it balances, and what was consumed is what was read here. */
static bool stats_hold(struct nl_stats *stats)
{
	int n = read_stats(stats, NL_MAX_CPUS), i;
	bool good = n == (int)d.n;

	for (i = 0; i < n; i++)
		good &= stats[i].session == info.id && stats[i].cpu == d.ring[i].cpu &&
			stats_balance(&stats[i]) &&
			stats_agree(&stats[i], "consumed, and records read", stats[i].consumed,
				    walk[i].records);
	return good;
}

static void check_stats_file(void)
{
	struct nl_stats sum;
	static struct nl_stats stats[NL_MAX_CPUS], told[NL_MAX_CPUS];
	unsigned int bad = 0, i, n;
	uint64_t due = 0, lost = 0, waiting = 0;
	bool same = true, good;

	const char *lacks = lacks_debugfs();

	if (lacks) {
		ktap_skip("the statistics", lacks);
		return;
	}
	ktap_check_equal(0, read_stats(stats, NL_MAX_CPUS), "without a session the statistics are a heading");
	if (nl_session_new(&nl, &(struct nl_config){ .interval_ns = 500000, .ring_bytes = 4096 },
			   &info) ||
	    device_open(&d, info.id) || device_map(&d) ||
	    nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info)) {
		ktap_not_ok("a session: %s", nl.why);
		return;
	}
	check_value("sessions", "1");
	for (i = 0; i < d.n; i++)
		walk_begin(&walk[i], &info, d.ring[i].cpu);
	for (i = 0; i < 20; i++) {
		sleep_ms(25);
		if (i % 2)
			drain_map(&d, walk);
		bad += !stats_hold(stats);
		due = due ?: stats[0].due;
	}
	/* the rings are full after 85 ms */
	await(!nl_stats_total(&nl, info.id, &sum) && sum.lost && sum.due > due + 1000);
	bad += !stats_hold(stats);
	ktap_check_equal(0, bad, "while it runs the statistics agree, at every look");
	/* by 1600, if nothing is held up */
	ktap_check(due && stats[0].due > due + 500, "and go on");
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	ktap_check(stats_hold(stats), "so they do when it has stopped");
	n = nl_stats(&nl, info.id, told, NL_MAX_CPUS);
	for (i = 0; i < d.n; i++) {
		lost += stats[i].lost;
		waiting += stats[i].waiting;
		/* not in this file */
		told[i].samples = told[i].source_errors = told[i].idle_ns = 0;
		same &= !memcmp(&stats[i], &told[i], sizeof(told[i]));
	}
	ktap_check(n == d.n && same, "each number is what netlink tells");
	ktap_check(lost && waiting, "with records lost and records waiting");
	drain_map(&d, walk);
	good = stats_hold(stats);
	for (i = 0; i < d.n; i++)
		good &= !stats[i].waiting;
	ktap_check(good, "and when all was read, with none waiting");
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	ktap_check_equal(0, read_stats(stats, NL_MAX_CPUS), "a session that was deleted has no statistics");
}

int main(void)
{
	struct busy load;
	char abi[16];

	need_module();
	if (nl_open(&nl) || !busy_start(&load, cpu_count())) {
		ktap_not_ok("a netlink family, and busy processes");
		return ktap_end();
	}
	snprintf(abi, sizeof(abi), "%d", KJOULE_ABI_VERSION);
	check_value("version", KJOULE_VERSION);
	check_value("abi", abi);
	check_value("sessions", "0");
	check_info();
	check_stats_file();
	check_value("sessions", "0");
	busy_stop(&load);
	nl_close(&nl);
	return ktap_end();
}
