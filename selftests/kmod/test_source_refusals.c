// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source that is not there, does not move or cannot be read is refused by name when
 * the session is made, never shown as 0 W; so is a specification that does not make sense.
 * Nothing is borrowed from whoever opened a socket. Who is killed while he looks has found
 * nothing. Descriptors of other things: test_descriptors.c.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * timeout: 120
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "caps.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000

static struct nl nl;

static int try_specs(struct nl *who, const char *energy, uint64_t cpus, const struct nl_spec *specs,
		     unsigned int n)
{
	return nl_session_try(who, &(struct nl_config){ .interval_ns = INTERVAL_NS,
							.energy = energy, .cpus = cpus,
							.specs = specs, .n_specs = n });
}

static void check_outcome(const char *what, int want, int got, const char *named)
{
	if (!ktap_check(got == -want, "%s: %s", what, want ? strerrorname_np(want) : "accepted"))
		ktap_diag("got %s: %s", got ? strerrorname_np(-got) : "success", nl.why);
	if (want)
		ktap_check(named ? !!strstr(nl.why, named) : !!nl.why[0], "%s: the words name it", what);
	if (named && want && !strstr(nl.why, named))
		ktap_diag("\"%s\"", nl.why);
}

/* Refused as the only source, and behind one that is fine. */
static void refuse(const char *what, struct nl_spec spec, int want)
{
	static const struct nl_spec fine = { .given = GIVE_NAMED,
					     .origin = KJOULE_ORIGIN_POWER_SUPPLY,
					     .name = "vchip" };
	/* a name that is too long is refused before anybody has looked at it */
	const char *name = spec.given & GIVE(NAME) && spec.name[0] && strlen(spec.name) < 32 ?
			   spec.name : NULL;

	check_outcome(what, want, try_specs(&nl, NULL, 0, &spec, 1), name);
	check_outcome(what, want, try_specs(&nl, "vchip", 0, (struct nl_spec[]){ fine, spec }, 2),
		      name);
}

static void refuse_text(const char *what, const char *text, uint32_t quantity, int want)
{
	test_file_says(text);
	refuse(what, (struct nl_spec){ .given = GIVE_FILE, .origin = KJOULE_ORIGIN_VALUE_FILE,
				       .name = "file", .quantity = quantity, .fd = test_file() },
	       want);
}

static volatile bool counting;
static volatile unsigned int counted;

static void *count(void *slow)
{
	char text[24];
	unsigned int i;

	for (i = 0; counting; i++) {
		snprintf(text, sizeof(text), "%u\n", i);
		test_file_says(text);
		counted = i;
		sleep_ms(slow ? 150 : 5);
	}
	return NULL;
}

static void with_counter(const char *what, bool slow, int want)
{
	struct nl_spec spec = { .given = GIVE_FILE, .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "energy of a file",
				.quantity = KJOULE_QUANTITY_ENERGY, .fd = test_file() };
	pthread_t t;

	counting = true;
	counted = 0;
	pthread_create(&t, NULL, count, slow ? &t : NULL);
	while (counted < 3)
		sleep_ms(5);
	check_outcome(what, want, try_specs(&nl, NULL, 0, &spec, 1), NULL);
	counting = false;
	pthread_join(t, NULL);
	close(spec.fd);
}

static void check_values(void)
{
	uint64_t begin;

	refuse_text("text", "lots\n", KJOULE_QUANTITY_POWER, ENODEV);
	refuse_text("a number with a unit", "12 mW\n", KJOULE_QUANTITY_POWER, ENODEV);
	refuse_text("two numbers", "12 13\n", KJOULE_QUANTITY_POWER, ENODEV);
	refuse_text("a hexadecimal number", "0x12\n", KJOULE_QUANTITY_POWER, ENODEV);
	refuse_text("a fraction", "1.5\n", KJOULE_QUANTITY_POWER, ENODEV);
	refuse_text("a newline", "\n", KJOULE_QUANTITY_POWER, ENODEV);
	refuse_text("two newlines", "12\n\n", KJOULE_QUANTITY_POWER, ENODEV);
	refuse_text("a number of more than 64 bits", "9223372036854775808\n", KJOULE_QUANTITY_POWER,
		    ENODEV);
	refuse_text("a number that does not end", "0000000000000000000000000000000000000001\n",
		    KJOULE_QUANTITY_POWER, ENODEV);
	refuse_text("a counter below zero", "-1\n", KJOULE_QUANTITY_COUNT, ENODEV);
	refuse_text("energy that is stuck", "77\n", KJOULE_QUANTITY_ENERGY, ENODEV);
	begin = now_ns();
	refuse_text("energy that is stuck at zero", "0\n", KJOULE_QUANTITY_ENERGY, ENODEV);
	ktap_check(now_ns() - begin >= 600000000, "it was given 300 ms to move");
	with_counter("energy that moves", false, 0);
	with_counter("energy that moves every 150 ms", true, 0);
	test_file_fails(EIO);
	refuse_text("a gauge that fails", "77\n", KJOULE_QUANTITY_POWER, ENODEV);
	test_file_fails(0);
	test_file_says("77");
	check_outcome("a number without newline", 0,
		      try_specs(&nl, NULL, 0, &(struct nl_spec){ .given = GIVE_FILE, .name = "file",
				.origin = KJOULE_ORIGIN_VALUE_FILE,
				.quantity = KJOULE_QUANTITY_POWER, .fd = test_file() }, 1), NULL);
}

static void check_sense(void)
{
	const struct nl_spec file = { .given = GIVE_FILE, .origin = KJOULE_ORIGIN_VALUE_FILE,
				      .name = "file", .quantity = KJOULE_QUANTITY_COUNT,
				      .fd = test_file() };
	const struct nl_spec pmu = { .given = GIVE_PMU, .origin = KJOULE_ORIGIN_PERF_PMU, .name = "pmu",
				     .perf_type = pmu_type("power"),
				     .perf_config = POWER_ENERGY_PKG };
	const struct nl_spec supply =
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_POWER_SUPPLY, .name = "vchip" };
	const struct nl_spec meter =
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_REGISTERED, .name = "vchip-meter" };
	struct nl_spec s, nine[9];
	unsigned int i;

	check_outcome("the file as it should be", 0, try_specs(&nl, NULL, 0, &file, 1), NULL);
	check_outcome("the PMU as it should be", 0, try_specs(&nl, NULL, 0, &pmu, 1), NULL);
#define REFUSE(what, like, change, want) do { s = like; change; refuse(what, s, want); } while (0)
	REFUSE("no origin", file, s.given &= ~GIVE(ORIGIN); s.name = "", EINVAL);
	REFUSE("an unknown origin", file, s.origin = 4; s.name = "", ERANGE);
	REFUSE("an unknown quantity", file, s.quantity = 4; s.name = "", ERANGE);
	REFUSE("an unknown class", file, s.given |= GIVE(CLASS); s.class = 6; s.name = "", ERANGE);
	REFUSE("an empty name", file, s.name = "", EINVAL);
	REFUSE("a name of 32 bytes", file, s.name = "abcdefghijklmnopqrstuvwxyzabcdef";
	       s.given |= GIVE(CLASS), EINVAL);
	REFUSE("a file without name", file, s.given &= ~GIVE(NAME), EINVAL);
	REFUSE("a file without descriptor", file, s.given &= ~GIVE(FD), EINVAL);
	REFUSE("a unit of zero", file, s.given |= GIVE(UNIT_MULT), EINVAL);
	REFUSE("a unit shifted by 65", file, s.given |= GIVE(UNIT_MULT) | GIVE(UNIT_SHIFT);
	       s.unit_mult = 1;
	       s.unit_shift = 65, EINVAL);
	REFUSE("a gauge with a range", file, s.given |= GIVE(RANGE); s.range = 5;
	       s.quantity = KJOULE_QUANTITY_POWER, EINVAL);
	REFUSE("a period below 1 ms", file, s.given |= GIVE(PERIOD_NS); s.period_ns = 999999,
	       ERANGE);
	REFUSE("a period above 1 h", file, s.given |= GIVE(PERIOD_NS); s.period_ns = 3600000000001,
	       ERANGE);
	REFUSE("a file with a PMU's type", file, s.given |= GIVE(PERF_TYPE), EINVAL);
	REFUSE("a value beyond its range", file, s.given |= GIVE(RANGE); s.range = 5;
	       test_file_says("6\n");
	       s.quantity = KJOULE_QUANTITY_ENERGY, ENODEV);
	REFUSE("a file that bears a registered source's name", file, s.name = "rapl-msr", EEXIST);
	REFUSE("a PMU's counter that bears a registered source's name", pmu, s.name = "vchip",
	       EEXIST);
	REFUSE("a power supply with a descriptor", supply, s.given |= GIVE(FD), EINVAL);
	REFUSE("a power supply with a unit", supply, s.given |= GIVE(UNIT_MULT); s.unit_mult = 1,
	       EINVAL);
	REFUSE("a power supply's energy", supply, s.given |= GIVE(QUANTITY), EINVAL);
	REFUSE("an unknown power supply", supply, s.name = "BAT77", ENODEV);
	REFUSE("an unknown source", meter, s.name = "nonsense", ENOENT);
	REFUSE("a frequency source", meter, s.name = "vchip-cycles", ENOENT);
	REFUSE("a source that does not work here", meter, s.name = "rapl-msr", ENODEV);
	REFUSE("a source with a quantity", meter, s.given |= GIVE(QUANTITY), EINVAL);
	REFUSE("a period for what is read in the tick", meter, s.name = "vchip";
	       s.given |= GIVE(PERIOD_NS);
	       s.period_ns = 10000000, EINVAL);
	REFUSE("a PMU without type", pmu, s.given &= ~GIVE(PERF_TYPE), EINVAL);
	REFUSE("a PMU with a period", pmu, s.given |= GIVE(PERIOD_NS); s.period_ns = 10000000,
	       EINVAL);
	REFUSE("a PMU's power", pmu, s.quantity = KJOULE_QUANTITY_POWER, EINVAL);
	REFUSE("an unknown PMU", pmu, s.perf_type = 12345, ENOENT);
	REFUSE("a counter that the PMU has not", pmu, s.perf_config = 77, EINVAL);
	REFUSE("energy of a counter that is stuck", pmu, s.perf_type = 1; s.perf_config = 9,
	       ENODEV);

	s = file;
	s.name = "a line\nanother";
	check_outcome("a name with a newline", EINVAL, try_specs(&nl, NULL, 0, &s, 1),
		      "control character");
	s.given |= GIVE(PERF_TYPE);
	s.name = "\x1b[2J";
	check_outcome("a name that clears the screen", EINVAL, try_specs(&nl, NULL, 0, &s, 1),
		      "control character");
	s = pmu;
	check_outcome("a PMU that is read on a CPU that is not of the session", ENXIO,
		      try_specs(&nl, NULL, 2, &s, 1),
		      "CPU 0");
	for (i = 0; i < 9; i++)
		nine[i] = supply;
	check_outcome("eight sources", 0, try_specs(&nl, NULL, 0, nine, 8), NULL);
	check_outcome("nine sources", EINVAL, try_specs(&nl, NULL, 0, nine, 9), NULL);
	check_outcome("eight sources and the energy source", EINVAL,
		      try_specs(&nl, "vchip", 0, nine, 8), NULL);
	check_outcome("seven sources and the energy source", 0, try_specs(&nl, "vchip", 0, nine, 7),
		      NULL);
	check_outcome("eight sources and no energy source", 0, try_specs(&nl, "", 0, nine, 8),
		      NULL);
	close(file.fd);
}

/* Words that do not fit are cut for who asked, and nothing of them gets into the kernel's log. */
static void check_log(void)
{
	static const char name[] = "31 letters of a user's choosing";
	struct nl_spec s = { .given = GIVE_PMU, .origin = KJOULE_ORIGIN_PERF_PMU, .name = name,
			     .perf_type = UINT32_MAX, .perf_config = UINT64_MAX };
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unsigned int found = 0;
	char line[8192];
	ssize_t got;

	if (log < 0 || lseek(log, 0, SEEK_END) < 0) {
		ktap_not_ok("the kernel's log");
		return;
	}
	if (!ktap_check(try_specs(&nl, NULL, 0, &s, 1) < 0 &&
			!strncmp(nl.why, name, strlen(name)) &&
			strlen(nl.why) >= 79, "a long name, a long number: the words go as far as they can"))
		ktap_diag("\"%s\"", nl.why);
	while ((got = read(log, line, sizeof(line) - 1)) > 0) {
		line[got] = '\0';
		found += strstr(line, name) || strstr(line, "truncated");
	}
	ktap_check_equal(0, found, "nothing of them is in the kernel's log");
	close(log);
}

/* Who may not look at energy does not get it through another process's socket, nor by a file. */
static void check_borrowed(void)
{
	const struct nl_spec specs[] = {
		{ .given = GIVE_PMU, .origin = KJOULE_ORIGIN_PERF_PMU, .name = "power",
		  .perf_type = pmu_type("power"), .perf_config = POWER_ENERGY_PKG },
		{ .given = GIVE_FILE, .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "energy",
		  .fd = chip_energy() },
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_POWER_SUPPLY, .name = "vchip" },
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_REGISTERED, .name = "vchip-meter" },
	};
	unsigned int i, refused[2] = { 0 };
	int tell[2], status;
	struct nl own;
	pid_t pid;

	if (pipe(tell))
		return;
	pid = fork();
	if (!pid) {
		if (!caps_keep(0) || nl_open(&own))
			_exit(1);
		for (i = 0; i < 4; i++) {
			refused[0] += try_specs(&nl, NULL, 0, &specs[i], 1) == -EPERM;
			refused[1] += try_specs(&own, NULL, 0, &specs[i], 1) == -EPERM;
		}
		_exit(write(tell[1], refused, sizeof(refused)) != sizeof(refused));
	}
	close(tell[1]);
	status = read(tell[0], refused, sizeof(refused)) != sizeof(refused);
	waitpid(pid, NULL, 0);
	ktap_check(!status && refused[0] == 4, "without CAP_PERFMON, on root's socket: every source is refused");
	ktap_check(!status && refused[1] == 4, "without CAP_PERFMON, on a socket of its own: every source is refused");
	close(tell[0]);
	close(specs[1].fd);
}

/* A file that asks who reads: its opener's rights count, not those of the thread that reads it. */
static void check_opener(void)
{
	static const char path[] = "/sys/class/misc/kjoule/sources/vchip/package-0/value";
	struct nl_spec spec = { .given = GIVE_FILE, .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "file",
				.quantity = KJOULE_QUANTITY_COUNT };
	bool good;

	spec.fd = open(path, O_RDONLY);
	check_outcome("a file that asks for CAP_PERFMON, opened with it", 0,
		      try_specs(&nl, NULL, 0, &spec, 1), NULL);
	close(spec.fd);
	good = caps_use(0);
	spec.fd = open(path, O_RDONLY);
	good &= caps_use(CAP_ALL) && (int)spec.fd >= 0;
	ktap_check(good, "the same can be opened without");
	refuse("a file that asks for CAP_PERFMON, opened without", spec, ENODEV);
	close(spec.fd);
}

static void freeze(const char *domains)
{
	set_parameter("vchip_source", "frozen", domains);
}

static bool is_available(const char *name)
{
	static struct nl_source sources[32];
	int n = nl_source_dump(&nl, sources, 32), i;

	for (i = 0; i < n; i++) {
		if (!strcmp(sources[i].name, name))
			return sources[i].available;
	}
	return false;
}

static uint32_t domains_told;

static void see_energy(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	(void)w;
	(void)tick;
	domains_told |= e->domains;
}

/* How many domains a session of the default source says that it has, and which its records tell. */
static unsigned int domains_of_session(uint32_t *told)
{
	static struct walk walk[NL_MAX_CPUS];
	struct nl_session info;
	struct device d;
	unsigned int i;

	domains_told = 0;
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
						     .flags = KJOULE_FLAG_WAKE_IDLE }, &info,
			   &d, walk))
		return 0;
	for (i = 0; i < d.n; i++)
		walk[i].on_energy = see_energy;
	sleep_ms(100);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_stats("domains", &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	*told = domains_told;
	return strcmp(info.use[0].name, "vchip") ? 0 : info.use[0].domains;
}

/* A fast source that another module has registered, without a probe of its own. */
static void check_frozen(void)
{
	const struct nl_spec named =
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_REGISTERED, .name = "vchip" };
	uint32_t told;

	ktap_check(domains_of_session(&told) == 2 && told == 3, "two domains that move are reported");
	freeze("3");
	ktap_check(!is_available("vchip"),
		   "a source none of whose counters moves is not available");
	ktap_check(domains_of_session(&told) == 0 && !told, "nor is it the default");
	check_outcome("a registered source that is stuck", ENODEV,
		      try_specs(&nl, NULL, 0, &named, 1), "vchip");
	check_outcome("the same as a session's energy source", ENODEV,
		      try_specs(&nl, "vchip", 0, NULL, 0), NULL);
	freeze("2");
	ktap_check(is_available("vchip"), "a source of which one counter moves is available");
	ktap_check(domains_of_session(&told) == 1 && told == 1, "the domain that is stuck is not there");
	freeze("1");
	ktap_check(domains_of_session(&told) == 1 && told == 2, "whichever it is");
	freeze("8");
	ktap_check(domains_of_session(&told) == 2 && told == 3, "a domain that moves again is there again");
	freeze("0");
}

/* At 1 kW a counter of 32 bits of 2^-16 J goes round in 65.5 s, one of 40 kJ in 40 s. */
static void check_periods(void)
{
	struct nl_spec hub = { .given = GIVE_NAMED | GIVE(PERIOD_NS),
			       .origin = KJOULE_ORIGIN_REGISTERED, .name = "vchip-hub",
			       .period_ns = 32000000000 };
	struct nl_spec file = { .given = GIVE_FILE | GIVE(RANGE) | GIVE(PERIOD_NS),
				.origin = KJOULE_ORIGIN_VALUE_FILE, .name = "energy of a file",
				.range = 40000000000, .period_ns = 20000000000,
				.fd = chip_energy() };

	check_outcome("a counter that is read twice while it goes round", 0,
		      try_specs(&nl, NULL, 0, &hub, 1), NULL);
	hub.period_ns = 33000000000;
	check_outcome("one that is not", ERANGE, try_specs(&nl, NULL, 0, &hub, 1), "vchip-hub");
	check_outcome("a range that is read twice while it goes round", 0,
		      try_specs(&nl, NULL, 0, &file, 1), NULL);
	file.period_ns = 20001000000;
	check_outcome("one that is not", ERANGE, try_specs(&nl, NULL, 0, &file, 1),
		      "energy of a file");
	file.quantity = KJOULE_QUANTITY_COUNT;
	check_outcome("events, whose range is not known", 0, try_specs(&nl, NULL, 0, &file, 1),
		      NULL);
	close(file.fd);
}

/* The same of one that a thread reads: it is looked at when it is chosen, whichever way. */
static void check_frozen_slow(void)
{
	const struct nl_spec named =
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_REGISTERED, .name = "vchip-hub" };

	check_outcome("energy for a thread to read", 0, try_specs(&nl, NULL, 0, &named, 1), NULL);
	check_outcome("the same as a session's energy source", 0,
		      try_specs(&nl, "vchip-hub", 0, NULL, 0), NULL);
	freeze("4");
	check_outcome("energy for a thread that is stuck", ENODEV,
		      try_specs(&nl, NULL, 0, &named, 1), "vchip-hub");
	check_outcome("the same as a session's energy source", ENODEV,
		      try_specs(&nl, "vchip-hub", 0, NULL, 0),
		      "vchip-hub");
	freeze("0");
}

#define VCHIP	"/sys/class/misc/kjoule/sources/vchip/"

static bool can_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32];
	bool can = fd >= 0 && read(fd, text, sizeof(text)) > 0;

	close(fd);
	return can;
}

#define ANSWER_NS	200000000	/* so long the chip's counters are given to move */

/*
 * Who is killed while he waits for counters to move has not found that they are stuck. Where a
 * kernel takes its time he may have waited for long enough.
 */
static void check_killed(void)
{
	unsigned int i, tries = 0, killed = 0, there = 0;
	uint64_t begin;
	int status;
	pid_t pid;

	for (i = 0; i < 5; i++) {
		freeze("3");
		begin = now_ns();
		pid = fork();
		if (!pid)
			_exit(can_read(VCHIP "available"));
		sleep_ms(20 + 10 * i);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		if (kernel_full_of_checkers() && now_ns() - begin >= ANSWER_NS)
			continue;
		tries++;
		killed += WIFSIGNALED(status);
		there += can_read(VCHIP "package-0/value") && can_read(VCHIP "core-0/value");
	}
	if (!tries) {
		ktap_skip("who asks whether counters move can be killed",
			  "all takes longer here than they are given");
	} else {
		ktap_check_equal(tries, killed, "who asks whether counters move can be killed");
		ktap_check_equal(killed, there, "and they are there for others as before");
	}
	ktap_check(can_read(VCHIP "available") && !can_read(VCHIP "package-0/value"),
		   "who waits long enough finds that they are stuck");
	freeze("0");
}

#define ASKERS	16

/* How long until all have their answer, or are killed after @ms. */
static uint64_t ask_together(unsigned int ms)
{
	uint64_t begin = now_ns();
	pid_t pid[ASKERS];
	unsigned int i;

	for (i = 0; i < ASKERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(can_read(VCHIP "available"));
	}
	sleep_ms(ms);
	for (i = 0; i < ASKERS && ms; i++)
		kill(pid[i], SIGKILL);
	for (i = 0; i < ASKERS; i++)
		waitpid(pid[i], NULL, 0);
	return now_ns() - begin;
}

/* One at a time looks whether counters move; the others take what he finds, and can be killed. */
static void check_together(void)
{
	uint64_t forks, alone, together, killed;

	forks = ask_together(0);	/* counters that move are found to within no time */
	freeze("3");
	alone = now_ns();
	can_read(VCHIP "available");
	alone = now_ns() - alone;
	together = ask_together(0);
	killed = ask_together(10);
	freeze("0");
	ktap_diag("one has the answer after %.0f ms, %u at once after %.0f ms, killed soon %.0f ms; making them took %.0f ms",
		  alone / 1e6, ASKERS, together / 1e6, killed / 1e6, forks / 1e6);
	ktap_check(together < forks + ASKERS / 2 * alone, "who ask at once do not wait for each other");
	ktap_check(killed < forks + ASKERS / 2 * alone, "and can be killed while they wait");
}

int main(void)
{
	need_module();
	need_root();
	need_chip();
	if (nl_open(&nl)) {
		ktap_not_ok("the family");
		return ktap_end();
	}
	check_values();
	check_sense();
	check_log();
	check_borrowed();
	check_opener();
	check_frozen();
	check_periods();
	check_frozen_slow();
	check_killed();
	check_together();
	ktap_check_equal(0, session_count(), "what was refused left no session");
	nl_close(&nl);
	return ktap_end();
}
