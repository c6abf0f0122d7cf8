// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session uses several sources at once, each record says which, and what they tell is
 * what the chip's registers show: energy that agrees with the others' and lies between
 * readings before and after, power and temperature that were there at that time.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * timeout: 120
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <linux/genetlink.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000
#define UPDATE_NS	10000000		/* of the chip's power, as its profile has it */
#define PERIOD_NS	20000000
#define RANGE_UJ	262143328850ULL
#define MAX_SOURCES	8
#define MAX_POLLS	4000
#define NEAR_NS		60000000

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/* What the chip showed while a session ran. */
static struct poll {
	uint64_t before_ns, after_ns;
	int64_t power, temperature;
} polls[MAX_POLLS];
static unsigned int n_polls;

static int power_fd, energy_fd, temperature_fd;

static void look(void)
{
	struct poll *p = &polls[n_polls];

	if (n_polls == MAX_POLLS)
		return;
	p->before_ns = now_ns();
	p->power = chip_number(power_fd);
	p->temperature = chip_number(temperature_fd);
	p->after_ns = now_ns();
	n_polls++;
}

/* Values of one domain of a source, in the order of the rings. */
static struct {
	unsigned int n, wrong_flags;
	uint64_t first_ns, last_ns;
	int64_t first, last;
	bool back;
	struct kjoule_value value[1024];
} seen[MAX_SOURCES][2];

/* Energy as reported by records of ticks, by source; the scopes are added up. */
static uint64_t energy[MAX_SOURCES][NL_MAX_CPUS];
static bool energy_back;
static unsigned int strange;

static void see_value(struct walk *w, const struct kjoule_value *v)
{
	(void)w;
	if (v->rec.flags >= MAX_SOURCES || v->domain > 1 ||
	    seen[v->rec.flags][v->domain].n == 1024) {
		strange++;
		return;
	}
	seen[v->rec.flags][v->domain].value[seen[v->rec.flags][v->domain].n++] = *v;
}

static void see_energy(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	(void)w;
	(void)tick;
	if (e->rec.flags >= MAX_SOURCES || e->scope >= NL_MAX_CPUS || !(e->domains & 1)) {
		strange += !(e->rec.flags < MAX_SOURCES && e->scope < NL_MAX_CPUS);
		return;
	}
	energy_back |= e->energy_uj[0] < energy[e->rec.flags][e->scope];
	energy[e->rec.flags][e->scope] = e->energy_uj[0];
}

/* Two rings, one thread that wanders between them: by time. */
static int by_time(const void *a, const void *b)
{
	const struct kjoule_value *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void sort_values(void)
{
	unsigned int i, j, k;

	for (i = 0; i < MAX_SOURCES; i++) {
		for (j = 0; j < 2; j++) {
			struct kjoule_value *v = seen[i][j].value;

			qsort(v, seen[i][j].n, sizeof(*v), by_time);
			for (k = 1; k < seen[i][j].n; k++)
				seen[i][j].back |= v[k].value < v[k - 1].value;
		}
	}
}

/*
 * A reading that took longer than its period has the next one come late; without such there is no
 * overrun.
 */
static void check_overruns(unsigned int source)
{
	const struct kjoule_value *v = seen[source][0].value;
	uint64_t late = 0, longer = 0, told = info.use[source].overruns;
	unsigned int k;

	for (k = 0; k < seen[source][0].n; k++) {
		longer += v[k].duration_ns > PERIOD_NS;
		late += k && v[k].time_ns - v[k - 1].time_ns > PERIOD_NS * 5ULL / 4;
	}
	if (!ktap_check(told >= longer && told <= late, "readings that took longer than the period are counted, no others"))
		ktap_diag("%" PRIu64 " reported, %" PRIu64 " took longer, %" PRIu64 " came late",
			  told, longer, late);
}

static bool begin(const struct nl_config *c)
{
	unsigned int i;

	memset(seen, 0, sizeof(seen));
	memset(energy, 0, sizeof(energy));
	energy_back = false;
	strange = n_polls = 0;
	if (!session_begin(&nl, c, &info, &d, walk))
		return false;
	for (i = 0; i < d.n; i++) {
		walk[i].on_value = see_value;
		walk[i].on_energy = see_energy;
	}
	return true;
}

static void end(const char *name)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	sort_values();
	check_stats(name, &nl, &info, &d, walk);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

static void run_for(unsigned int ms)
{
	uint64_t stop = now_ns() + ms * 1000000ULL;

	while (now_ns() < stop) {
		look();
		drain_map(&d, walk);
		sleep_ms(2);
	}
}

/*
 * Without draining, which takes so long on a kernel full of checkers that no look would be near a
 * reading.
 */
static void look_for(unsigned int ms)
{
	uint64_t stop = now_ns() + ms * 1000000ULL;

	while (now_ns() < stop) {
		look();
		sleep_ms(2);
	}
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median time from look to look. */
static uint64_t looks_apart_ns(void)
{
	static uint64_t apart[MAX_POLLS];
	unsigned int i;

	for (i = 1; i < n_polls; i++)
		apart[i - 1] = polls[i].before_ns - polls[i - 1].before_ns;
	if (n_polls < 2)
		return UINT64_MAX;
	qsort(apart, n_polls - 1, sizeof(*apart), by_length);
	return apart[(n_polls - 1) / 2];
}

static bool all_have_read(void)
{
	struct nl_session s;
	unsigned int i;

	if (nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &s))
		return false;
	for (i = 0; i < s.uses; i++) {
		if (s.use[i].period_ns && !s.use[i].reads)
			return false;
	}
	return true;
}

enum { UNKNOWN, THERE, ELSEWHERE };

/* Lies the value between those that the chip showed shortly before and after it was read? */
static int was_there(const struct kjoule_value *v, int64_t value, bool power)
{
	int64_t low = INT64_MAX, high = INT64_MIN;
	bool before = false, after = false;
	unsigned int i;

	for (i = 0; i < n_polls; i++) {
		const struct poll *p = &polls[i];
		int64_t shown = power ? p->power : p->temperature;

		if (p->after_ns + NEAR_NS < v->time_ns ||
		    p->before_ns > v->time_ns + v->duration_ns + NEAR_NS)
			continue;
		before |= p->after_ns <= v->time_ns;
		after |= p->before_ns >= v->time_ns + v->duration_ns;
		low = shown < low ? shown : low;
		high = shown > high ? shown : high;
	}
	if (!before || !after)
		return UNKNOWN;		/* this program was not running */
	return value >= low && value <= high ? THERE : ELSEWHERE;
}

/* @scale: what the source's value has to be multiplied with for the chip's. */
static void check_gauge(const char *name, unsigned int source, unsigned int domain, bool power,
			int scale)
{
	unsigned int i, n = seen[source][domain].n, there = 0, tried = 0;
	uint64_t apart_ns = looks_apart_ns();

	/*
	 * a kernel full of checkers does not come to look often enough for a value to be seen in
	 * between
	 */
	if (apart_ns > UPDATE_NS && kernel_full_of_checkers()) {
		ktap_skip(name, "the chip has to be looked at every 10 ms, as often as its values change");
		ktap_diag("looks came %" PRIu64 " ms apart", apart_ns / 1000000);
		return;
	}
	for (i = 0; i < n; i++) {
		const struct kjoule_value *v = &seen[source][domain].value[i];
		int where = was_there(v, v->value * scale, power);

		tried += where != UNKNOWN;
		there += where == THERE;
	}
	/* power moves every 10 ms, and a look may have come too late for its extreme */
	if (!ktap_check(tried >= 20 && there * 10 >= tried * 8, "%s: values are those that the chip showed", name))
		ktap_diag("%u values, %u of %u as on the chip", n, there, tried);
}

static void check_between(const char *name, uint64_t got, int64_t low, int64_t high)
{
	if (!ktap_check((int64_t)got >= low && (int64_t)got <= high, "%s: energy agrees with the chip's counter", name))
		ktap_diag("%" PRIu64 " uJ, between %" PRId64 " and %" PRId64, got, low, high);
}

static uint64_t last_value(unsigned int source)
{
	unsigned int n = seen[source][0].n;

	return n ? seen[source][0].value[n - 1].value : 0;
}

static void check_use(unsigned int i, const char *name, uint32_t origin, uint32_t kind,
		      uint32_t quantity, uint64_t period_ns)
{
	const struct nl_use *u = &info.use[i];

	if (!ktap_check(i < info.uses && !strcmp(u->name, name) && u->origin == origin &&
			u->kind == kind && u->quantity[0] == quantity && u->period_ns == period_ns,
			"source %u of the reply is %s", i, name))
		ktap_diag("%s, origin %u, kind %u, quantity %u, period %" PRIu64, u->name,
			  u->origin, u->kind, u->quantity[0], u->period_ns);
}

/* Eight at once: of the registry, a PMU, files and a power supply. */
static void check_several(void)
{
	const struct nl_spec specs[] = {
		{ .given = GIVE_PMU | GIVE(UNIT_MULT) | GIVE(UNIT_SHIFT) | GIVE(CLASS),
		  .origin = KJOULE_ORIGIN_PERF_PMU, .name = "power/energy-pkg/",
		  .class = KJOULE_DOMAIN_PACKAGE, .unit_mult = 1000000, .unit_shift = 32,
		  .perf_type = pmu_type("power"), .perf_config = POWER_ENERGY_PKG },
		{ .given = GIVE_FILE | GIVE(RANGE) | GIVE(PERIOD_NS),
		  .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "powercap package-0",
		  .range = RANGE_UJ, .period_ns = PERIOD_NS,
		  .fd = chip_open("/sys/class/powercap/intel-rapl:0/energy_uj", O_RDONLY) },
		{ .given = GIVE_FILE | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "hwmon power",
		  .quantity = KJOULE_QUANTITY_POWER, .period_ns = PERIOD_NS, .fd = power_fd },
		{ .given = GIVE_FILE | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "hwmon energy",
		  .period_ns = PERIOD_NS, .fd = energy_fd },
		{ .given = GIVE_FILE | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "temperature",
		  .quantity = KJOULE_QUANTITY_TEMPERATURE, .period_ns = PERIOD_NS,
		  .fd = temperature_fd },
		{ .given = GIVE_NAMED | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_POWER_SUPPLY,
		  .name = "vchip", .period_ns = PERIOD_NS },
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_REGISTERED, .name = "vchip-meter" },
	};
	int64_t before, started, ending, after;
	struct busy busy;

	before = chip_number(energy_fd);
	if (!begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .energy = "vchip",
					.specs = specs, .n_specs = 7,
					.flags = KJOULE_FLAG_WAKE_IDLE }))
		return;
	ktap_check(info.uses == 9, "the reply tells eight sources and that of the frequency");
	check_use(0, "vchip", KJOULE_ORIGIN_REGISTERED, KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY, 0);
	check_use(1, "power/energy-pkg/", KJOULE_ORIGIN_PERF_PMU, KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY, 0);
	check_use(2, "powercap package-0", KJOULE_ORIGIN_VALUE_FILE, KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY,
		  PERIOD_NS);
	check_use(3, "hwmon power", KJOULE_ORIGIN_VALUE_FILE, KJOULE_KIND_GAUGE, KJOULE_QUANTITY_POWER, PERIOD_NS);
	check_use(4, "hwmon energy", KJOULE_ORIGIN_VALUE_FILE, KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY, PERIOD_NS);
	check_use(5, "temperature", KJOULE_ORIGIN_VALUE_FILE, KJOULE_KIND_GAUGE, KJOULE_QUANTITY_TEMPERATURE,
		  PERIOD_NS);
	check_use(6, "vchip", KJOULE_ORIGIN_POWER_SUPPLY, KJOULE_KIND_GAUGE, KJOULE_QUANTITY_POWER, PERIOD_NS);
	check_use(7, "vchip-meter", KJOULE_ORIGIN_REGISTERED, KJOULE_KIND_GAUGE, KJOULE_QUANTITY_POWER, 20000000);
	ktap_check(info.use[8].kind == KJOULE_KIND_FREQUENCY, "the frequency source is reported last");
	ktap_check(info.use[2].range == RANGE_UJ && info.use[2].unit_mult == 1 &&
		   !info.use[2].unit_shift && info.use[1].unit_mult == 1000000 &&
		   info.use[1].unit_shift == 32,
		   "range and unit are those that were given");
	ktap_check(info.use[1].scopes == 2 && !info.use[1].scope[0] && !info.use[1].scope[1],
		   "both CPUs share the PMU's counter of the package");

	while (!all_have_read())
		sleep_ms(5);
	sleep_ms(10);
	started = chip_number(energy_fd);
	busy_start(&busy, 1);
	look_for(1500);
	busy_stop(&busy);
	ending = chip_number(energy_fd);
	look_for(20);
	end("eight sources");
	after = chip_number(energy_fd);

	ktap_check(!strange, "every record is of one of these sources");
	ktap_check(!energy_back && !seen[2][0].back && !seen[4][0].back, "no counter steps back");
	/* a count is 15 uJ */
	check_between("vchip", energy[0][0], ending - started - 16, after - before + 16);
	check_between("power PMU", energy[1][0], ending - started - 16, after - before + 16);
	check_between("powercap", last_value(2), ending - started - 16, after - before + 16);
	check_between("hwmon energy", last_value(4), ending - started - 16, after - before + 16);
	check_gauge("hwmon power", 3, 0, true, 1);
	check_gauge("temperature", 5, 0, false, 1);
	check_gauge("power supply", 6, 0, true, 1);
	check_gauge("registered meter's power", 7, 0, true, 1);
	check_gauge("registered meter's temperature", 7, 1, false, 1);
	ktap_check(seen[2][0].n && !seen[2][0].value[0].value && !seen[4][0].value[0].value,
		   "counters begin at 0 with the session");
	check_overruns(3);
	if (!ktap_check(info.use[3].reads == seen[3][0].n && !info.use[3].errors, "a gauge tells each of its readings"))
		ktap_diag("%" PRIu64 " readings, %u reported, %" PRIu64 " errors",
			  info.use[3].reads, seen[3][0].n, info.use[3].errors);
	ktap_check(info.use[7].reads == seen[7][0].n && seen[7][0].n == seen[7][1].n,
		   "a meter with two domains tells both in each of its readings");
	close(specs[1].fd);
}

/* A battery that tells current and voltage, and its current negative. */
static void check_cell(void)
{
	const struct nl_spec specs[] = {
		{ .given = GIVE_NAMED | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_POWER_SUPPLY,
		  .name = "vchip-cell", .period_ns = PERIOD_NS },
	};
	unsigned int i, good = 0, n;
	int64_t now;

	if (!begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = specs, .n_specs = 1 }))
		return;
	ktap_check(info.uses == 2 && !strcmp(info.use[0].name, "vchip-cell"),
		   "who names a source does not get the default one besides");
	run_for(600);
	now = chip_number(power_fd);
	end("a battery");
	n = seen[0][0].n;
	for (i = 0; i < n; i++)
		good += seen[0][0].value[i].value < 0 && -seen[0][0].value[i].value > now / 4 &&
			-seen[0][0].value[i].value < now * 4;
	if (!ktap_check(n >= 20 && good == n, "current times voltage is power, with its sign"))
		ktap_diag("%u of %u; last %" PRId64 " uW, the chip %" PRId64, good, n,
			  n ? (int64_t)seen[0][0].value[n - 1].value : 0, now);
}

/* A PMU that counts for each CPU apart. */
static void check_per_cpu(void)
{
	const struct nl_spec specs[] = {
		{ .given = GIVE_PMU, .origin = KJOULE_ORIGIN_PERF_PMU, .name = "vchip/instructions/",
		  .quantity = KJOULE_QUANTITY_COUNT, .perf_type = pmu_type("vchip"),
		  .perf_config = VCHIP_INSTRUCTIONS },
		{ .given = GIVE_NAMED, .origin = KJOULE_ORIGIN_REGISTERED, .name = "vchip" },
	};
	static const char *const reg[] = { "cpu0.instr_user", "cpu0.instr_kernel",
					   "cpu1.instr_user",
					   "cpu1.instr_kernel" };
	uint64_t before[4], started[4], ending[4], after[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		before[i] = chip_register(reg[i]);
	if (!begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = specs, .n_specs = 2,
					.flags = KJOULE_FLAG_WAKE_IDLE }))
		return;
	ktap_check(info.use[0].scopes == 2 && info.use[0].scope[0] == 0 &&
		   info.use[0].scope[1] == 1,
		   "each CPU has the counter for itself");
	check_use(1, "vchip", KJOULE_ORIGIN_REGISTERED, KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY, 0);
	sleep_ms(20);
	for (i = 0; i < 4; i++)
		started[i] = chip_register(reg[i]);
	run_for(800);
	for (i = 0; i < 4; i++)
		ending[i] = chip_register(reg[i]);
	sleep_ms(20);
	end("a counter for each CPU");
	for (i = 0; i < 4; i++)
		after[i] = chip_register(reg[i]);
	for (i = 0; i < 2; i++) {
		uint64_t low = ending[2 * i] + ending[2 * i + 1] - started[2 * i] -
			       started[2 * i + 1];
		uint64_t high = after[2 * i] + after[2 * i + 1] - before[2 * i] - before[2 * i + 1];

		if (!ktap_check(energy[0][i] >= low && energy[0][i] <= high, "instructions of CPU %u are the chip's", i))
			ktap_diag("%" PRIu64 ", between %" PRIu64 " and %" PRIu64, energy[0][i],
				  low, high);
	}
	ktap_check(!energy_back, "no counter steps back");
	ktap_check(energy[1][0] > 0, "a registered source that is specified is read in the tick");
}

/* One that minds where it is read has the kernel complain if that is not in a tick. */
static void check_mailbox(void)
{
	const struct nl_spec spec = { .given = GIVE_PMU, .origin = KJOULE_ORIGIN_PERF_PMU, .name = "mailbox",
				      .quantity = KJOULE_QUANTITY_COUNT, .perf_type = pmu_type("vchip_mailbox"),
				      .perf_config = VCHIP_INSTRUCTIONS };
	static struct nl_stats stats;
	unsigned int major, minor;
	struct utsname u;

	if (!uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major > 7 || (major == 7 && minor >= 2))) {
		ktap_skip("a PMU that is not read inside the scheduler",
			  "since 7.2 a tracepoint keeps preemption on, and the PMU does not notice where it is read");
		return;
	}
	if (!begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = &spec, .n_specs = 1 }))
		return;
	run_for(800);
	nl_stats_total(&nl, info.id, &stats);
	end("a PMU that is not read inside the scheduler");
	ktap_check(stats.skipped > 100 && energy[0][0] + energy[0][1] > 0, "it is read at ticks, while CPUs park and come back");
}

static void take_info(const struct nlmsghdr *message, void *id)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == KJOULE_A_SESSION_ID)
			*(uint32_t *)id = mnl_attr_get_u32(attr);
	}
}

/*
 * A dump tells of a session whose message is longer than the page that a dump begins with. The
 * kernel makes it larger for who has received much, so this socket has received nothing yet.
 */
static void check_dump(void)
{
	struct nl fresh = { .family = nl.family };
	struct nl_spec specs[MAX_SOURCES];
	struct nl_session s;
	uint32_t told = 0;
	unsigned int i;
	int err;

	for (i = 0; i < MAX_SOURCES; i++)
		specs[i] = (struct nl_spec){ .given = GIVE_NAMED,
					      .origin = KJOULE_ORIGIN_REGISTERED,
					      .name = "vchip-rails" };
	err = nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = specs,
						       .n_specs = MAX_SOURCES }, &s);
	fresh.socket = mnl_socket_open(NETLINK_GENERIC);
	if (err || !fresh.socket || mnl_socket_bind(fresh.socket, 0, MNL_SOCKET_AUTOPID)) {
		ktap_not_ok("a session of eight sources: %s", nl.why);
		return;
	}
	err = nl_talk(&fresh, nl_request(&fresh, KJOULE_CMD_SESSION_GET, NLM_F_DUMP), take_info,
		      &told);
	ktap_check(!err && told == s.id, "a dump tells of a session of eight sources with eight domains");
	nl_close(&fresh);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s.id, NULL);
}

int main(void)
{
	need_module();
	need_chip();
	power_fd = chip_power();
	energy_fd = chip_energy();
	temperature_fd = chip_temperature();
	if (nl_open(&nl) || power_fd < 0 || energy_fd < 0 || temperature_fd < 0) {
		ktap_not_ok("the family and the chip's files: %s", nl.why);
		return ktap_end();
	}
	check_several();
	check_cell();
	check_per_cpu();
	check_mailbox();
	check_dump();
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
