// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edge windows: from a move of the energy counter to a later one, CPUs held in between for no
 * longer than was asked for, all of a package at the same time; who may have them; and what becomes
 * of them when a CPU goes and comes.
 *
 * where: guest
 * vm: --cpus 2
 * timeout: 180
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
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
#define PERIOD_NS	10000000.0	/* of the plain chip's counter */
#define DUTY		250
#define STUCK_MS	1500
#define SELDOM		30
/* no CPU is held for longer, whatever becomes of the leader: six, and then some */
#define HOLD_NS		(8 * PERIOD_NS)
#define STALL_MS	"200"
#define MOST_W		10.0	/* more than the chip can draw */

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/* What the records of a CPU reported. */
struct seen {
	uint32_t number;
	uint64_t windows, spins, failed, leads;
	uint64_t led[3];	/* windows, spins, failed ones, of who leads */
	uint64_t c_ns, held_ns;
	uint64_t longest_ns[2];	/* hold, failed ones with it: of who does not lead, of who does */
	uint64_t uj;
	char fault[120];
};

#define FAULT(s, ...) \
	((s)->fault[0] ? (void)0 : (void)snprintf((s)->fault, sizeof((s)->fault), __VA_ARGS__))

/* Windows by their number, as their leader and the other CPU have reported them. */
#define MANY	8192
static struct kjoule_window told[2][MANY];
static struct seen seen[2];

static void see_window(struct walk *w, const struct kjoule_window *v)
{
	struct seen *s = w->data;
	unsigned int i = s - seen;
	bool spin = v->rec.flags & KJOULE_WINDOW_SPIN, leads = v->rec.flags & KJOULE_WINDOW_LEADER;

	s->led[v->rec.flags & KJOULE_WINDOW_FAILED ? 2 : spin] += leads;
	/* who came late to it is let go after its end */
	if (v->end_ns > v->pause_ns && v->end_ns - v->pause_ns > s->longest_ns[leads])
		s->longest_ns[leads] = v->end_ns - v->pause_ns;
	if (v->rec.flags & KJOULE_WINDOW_FAILED) {
		s->failed++;
		s->number = v->number;
		return;
	}
	if (v->poll_ns > v->begin_ns || v->begin_ns > v->run_ns || v->run_ns > v->pause_ns ||
	    v->pause_ns > v->end_ns)
		FAULT(s, "window %u: times are not in order", v->number);
	if (v->begin_ns < s->c_ns)
		FAULT(s, "window %u begins before the one before has ended", v->number);
	if (!spin && s->number && (int32_t)(v->number - s->number) <= 0)
		FAULT(s, "window %u after %u", v->number, s->number);
	if (leads && v->end_uj <= v->begin_uj)
		FAULT(s, "window %u spent nothing", v->number);
	if (leads && v->end_uj - v->begin_uj > MOST_W * 1e-3 * (v->end_ns - v->begin_ns))
		FAULT(s, "window %u spent %llu uJ in %llu ns", v->number,
		      (unsigned long long)(v->end_uj - v->begin_uj),
		      (unsigned long long)(v->end_ns - v->begin_ns));
	if (!leads && (v->begin_uj || v->end_uj || spin))
		FAULT(s, "window %u tells what only the leader may", v->number);
	s->number = v->number;
	s->c_ns = v->end_ns;
	s->held_ns += v->end_ns - v->pause_ns + (v->run_ns - v->poll_ns);
	s->leads += leads;
	s->uj += v->end_uj - v->begin_uj;
	if (spin)
		s->spins++;
	else if (s->windows++ < MANY)
		told[i][s->windows - 1] = *v;
}

static bool begin_on(uint64_t cpus, uint32_t duty)
{
	unsigned int i;

	memset(seen, 0, sizeof(seen));
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .cpus = cpus,
						     .edges = true, .edge_duty = duty },
			   &info, &d, walk))
		return false;
	for (i = 0; i < d.n && i < 2; i++) {
		walk[i].on_window = see_window;
		walk[i].data = &seen[i];
	}
	return true;
}

static bool begin(uint32_t duty)
{
	return begin_on(0, duty);
}

static uint64_t longest_ns(bool leads)
{
	return seen[0].longest_ns[leads] > seen[1].longest_ns[leads] ? seen[0].longest_ns[leads] :
	       seen[1].longest_ns[leads];
}

static void end(const char *name)
{
	static const char * const kinds[] = { "windows", "of held CPUs alone", "failed ones" };
	uint64_t books[3];
	unsigned int i;

	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	books[0] = info.edge_windows;
	books[1] = info.edge_spins;
	books[2] = info.edge_failed;
	drain_map(&d, walk);
	check_stats(name, &nl, &info, &d, walk);
	for (i = 0; i < 3; i++) {
		uint64_t led = seen[0].led[i] + seen[1].led[i];

		if (!ktap_check(led == books[i], "%s: as many %s as the session counts", name,
				kinds[i]))
			ktap_diag("%llu, the session says %llu", (unsigned long long)led,
				  (unsigned long long)books[i]);
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	device_close(&d);
}

/* Both CPUs have held the same windows, at about the same time. */
static void check_together(void)
{
	uint64_t both = 0, apart = 0, i, k = 0;

	for (i = 0; i < seen[0].windows && i < MANY; i++) {
		const struct kjoule_window *a = &told[0][i], *b;

		while (k < seen[1].windows && k < MANY &&
		       (int32_t)(told[1][k].number - a->number) < 0)
			k++;
		b = &told[1][k];
		if (k == seen[1].windows || k == MANY || b->number != a->number)
			continue;
		both++;
		/*
		 * held from the same instant on, as far as their timers go, and until the same edge
		 */
		apart += b->end_ns != a->end_ns || b->begin_ns != a->begin_ns ||
			 (b->pause_ns > a->pause_ns ? b->pause_ns - a->pause_ns :
			  a->pause_ns - b->pause_ns) > PERIOD_NS / 10;
	}
	ktap_diag("%llu windows of both CPUs, %llu of them not together", (unsigned long long)both,
		  (unsigned long long)apart);
	ktap_check(both >= 0.95 * seen[0].windows && both >= 0.95 * seen[1].windows, "each window has both CPUs");
	ktap_check(apart <= both / 20, "and holds them at the same time");
}

static void check_windows(void)
{
	struct nl_session after;
	uint64_t began, lasted, failed;
	struct busy busy;
	double part;

	busy_start(&busy, 1);
	if (!begin(DUTY))
		return;
	began = now_ns();
	drain_until(&d, walk, 8000, &seen[0].windows, 150);
	lasted = now_ns() - began;
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &after);
	busy_stop(&busy);
	end("edge windows");
	ktap_check(!seen[0].fault[0] && !seen[1].fault[0], "the windows are in order");
	ktap_diag("%s %s", seen[0].fault, seen[1].fault);
	ktap_diag("%llu windows, %llu spins, %llu failed, held %.3f of %.3f s, %.3f ms at most",
		  (unsigned long long)seen[0].windows,
		  (unsigned long long)(seen[0].spins + seen[1].spins),
		  (unsigned long long)seen[0].failed, seen[0].held_ns * 1e-9, lasted * 1e-9,
		  after.edge_longest_ns * 1e-6);
	ktap_check(seen[0].windows > 150, "there are windows");
	ktap_check(seen[0].spins + seen[1].spins >= seen[0].windows / 20, "and some in which nothing ran");
	/* each CPU tells of each */
	failed = seen[0].failed > seen[1].failed ? seen[0].failed : seen[1].failed;
	ktap_check(failed <= seen[0].windows / 10 + 2, "few fail");
	ktap_check(!seen[0].leads != !seen[1].leads, "one CPU leads");
	check_together();
	part = (double)(seen[0].held_ns > seen[1].held_ns ? seen[0].held_ns : seen[1].held_ns) /
	       lasted;
	ktap_diag("held %.1f %% of the time, asked for %.1f %%", 100 * part, DUTY / 10.0);
	ktap_check(part < 1.25 * DUTY / 1000 && part > 0.5 * DUTY / 1000, "the CPUs are held for as long as was asked for");
	ktap_check(longest_ns(false) > 0 && longest_ns(false) < HOLD_NS &&
		   longest_ns(true) < HOLD_NS &&
		   info.edge_longest_ns < HOLD_NS, "and never for long");
	ktap_check(info.edge_longest_ns + PERIOD_NS / 100 >= longest_ns(false) &&
		   info.edge_longest_ns + PERIOD_NS / 100 >= longest_ns(true),
		   "the session tells the longest hold of any of them");
	ktap_check(after.edge_duty == DUTY && after.edge_windows > 0 &&
		   after.edge_windows + after.edge_failed >= seen[0].windows / 2,
		   "the session counts them");
}

/* The leader's search for the edge after a long gap is in what it may be held as well. */
static void check_seldom(void)
{
	uint64_t none = 0, began, lasted;
	struct busy busy;
	double part;

	busy_start(&busy, 1);
	if (!begin(SELDOM))
		return;
	began = now_ns();
	drain_until(&d, walk, 15000, &none, 1);
	lasted = now_ns() - began;
	busy_stop(&busy);
	end("seldom windows");
	part = (double)(seen[0].held_ns > seen[1].held_ns ? seen[0].held_ns : seen[1].held_ns) /
	       lasted;
	ktap_diag("%llu windows, held %.2f %% of the time, asked for %.2f %%",
		  (unsigned long long)seen[0].windows, 100 * part, SELDOM / 10.0);
	ktap_check(seen[0].windows > 10, "there are windows where they are to be seldom");
	ktap_check(part < 1.25 * SELDOM / 1000 && part > 0.5 * SELDOM / 1000, "and the CPUs are held for no longer than was asked for");
}

static void check_hotplug(void)
{
	uint64_t before;
	int second = cpu_second();

	if (second < 0) {
		ktap_skip("windows go on while a CPU goes and comes", "there is no second CPU");
		return;
	}
	if (!begin(400))
		return;
	drain_until(&d, walk, 300, &seen[0].windows, 10);
	ktap_check(cpu_online(second, false), "the second CPU goes");
	drain_map(&d, walk);
	before = seen[0].windows;
	ktap_check(drain_until(&d, walk, 300, &seen[0].windows, before + 10), "the other one has windows of its own");
	ktap_check(cpu_online(second, true), "the second CPU comes");
	drain_map(&d, walk);
	before = seen[1].windows;
	ktap_check(drain_until(&d, walk, 300, &seen[1].windows, before + 10), "and takes part again");
	end("a CPU goes and comes");
	ktap_check(!seen[0].fault[0] && !seen[1].fault[0], "the windows stay in order");
	ktap_diag("%s %s", seen[0].fault, seen[1].fault);
}

/*
 * One that is not held would spend energy in them: there are none while it is there, and it is
 * reported.
 */
static void check_outsider(void)
{
	struct nl_session s;
	uint64_t before;
	int second = cpu_second();

	if (second < 0) {
		ktap_skip("there are no windows while a CPU outside the session is online",
			  "there is no second CPU");
		return;
	}
	cpu_online(second, false);
	if (!begin_on(1ULL << cpu_first(), 400)) {
		cpu_online(second, true);
		return;
	}
	ktap_check(drain_until(&d, walk, 3000, &seen[0].windows, 10), "the CPUs of the session that are there have windows");
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &s);
	ktap_check(!s.edge_paused, "and nothing stands in their way");
	cpu_online(second, true);
	drain_map(&d, walk);
	before = seen[0].windows;
	drain_until(&d, walk, 500, &seen[0].windows, before + 1);
	ktap_check(seen[0].windows == before, "there are no windows while a CPU outside the session is online");
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &s);
	ktap_check(s.edge_paused > 0, "and the session says so");
	cpu_online(second, false);
	ktap_check(drain_until(&d, walk, 3000, &seen[0].windows, before + 10), "they go on when it has gone");
	end("a CPU outside the session");
	cpu_online(second, true);
}

#define TRACING	"/sys/kernel/tracing/"
#define MOVES	10

/* From when on a CPU is on its way until it is there or gone: the module's two steps of hotplug. */
static struct moves {
	unsigned int n;
	uint64_t ns[2 * MOVES];
} moves;

static bool trace(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return done;
}

static void read_moves(int cpu)
{
	FILE *f = fopen(TRACING "trace", "re");
	char line[512], what[64];

	snprintf(what, sizeof(what), "cpuhp_enter: cpu: %04d", cpu);
	moves.n = 0;
	while (f && fgets(line, sizeof(line), f)) {
		char *event = strstr(line, what), *at = event;
		bool begins;

		if (!event || !strstr(event, "[kjoule]") || moves.n == 2 * MOVES)
			continue;
		begins = strstr(event, "(sessions_cpu_offline ") ||
			 strstr(event, "(sessions_cpu_prepare ");
		/* the files in sysfs are notified of CPUs as well */
		if (begins != !(moves.n % 2))
			continue;
		/* seconds: before the event's name */
		while (at > line && !isspace((unsigned char)at[-2]))
			at--;
		moves.ns[moves.n++] = strtod(at - 1, NULL) * 1e9;
	}
	if (f)
		fclose(f);
}

/* A window that began there would have in it what a CPU spent that could not be paused. */
static unsigned int windows_on_the_way(void)
{
	unsigned int n = 0, i, k, m;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < seen[i].windows && k < MANY; k++) {
			for (m = 0; m + 1 < moves.n; m += 2)
				n += told[i][k].begin_ns > moves.ns[m] &&
				     told[i][k].begin_ns < moves.ns[m + 1];
		}
	}
	return n;
}

static void check_on_the_way(void)
{
	const char *name = "there is no window while a CPU comes or goes";
	uint64_t way_ns = 0, before = 0;
	int second = cpu_second();
	unsigned int i, inside;
	bool traced;

	if (second < 0) {
		ktap_skip(name, "there is no second CPU");
		return;
	}
	traced = trace(TRACING "trace_clock", "mono") && trace(TRACING "trace", "0") &&
		 trace(TRACING "events/cpuhp/cpuhp_enter/enable", "1");
	if (!traced) {
		ktap_skip(name, "this kernel does not trace CPU hotplug");
		return;
	}
	if (!begin(500))
		return;
	for (i = 0; i < MOVES; i++) {
		before = seen[0].windows + seen[1].windows;
		drain_until(&d, walk, 100, &seen[0].windows, seen[0].windows + 3);
		if (!cpu_online(second, i % 2))
			break;
		drain_map(&d, walk);
	}
	trace(TRACING "events/cpuhp/cpuhp_enter/enable", "0");
	read_moves(second);
	end("on the way");
	trace(TRACING "trace_clock", "local");
	for (i = 0; i + 1 < moves.n; i += 2)
		way_ns += moves.ns[i + 1] - moves.ns[i];
	inside = windows_on_the_way();
	ktap_diag("%u steps, %.1f ms on the way in all; %u windows began there, %llu elsewhere",
		  moves.n, way_ns * 1e-6, inside,
		  (unsigned long long)(seen[0].windows + seen[1].windows - inside));
	ktap_check(moves.n == 2 * MOVES && before > 0, "the second CPU goes and comes");
	/* too soon for any to fall into it */
	if (way_ns < 5 * PERIOD_NS)
		ktap_skip(name, "it is on its way for too short a time");
	else
		ktap_check(!inside, "%s", name);
}

/*
 * No CPU is held much for a counter that does not move, or cannot be read; and windows go on when
 * it does.
 */
static void check_stuck(const char *parameter)
{
	struct nl_session before, after;
	struct busy busy;
	uint64_t windows;

	busy_start(&busy, 1);
	if (!begin(DUTY))
		return;
	ktap_check(drain_until(&d, walk, 3000, &seen[0].windows, 20), "%s: there are windows", parameter);
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &before);
	set_parameter("vchip_source", parameter, "1");
	drain_map(&d, walk);
	windows = seen[0].windows;
	drain_until(&d, walk, STUCK_MS, &seen[0].windows, UINT64_MAX);
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &after);
	set_parameter("vchip_source", parameter, "0");
	ktap_check(after.edge_failed > before.edge_failed, "%s: windows fail", parameter);
	ktap_check(seen[0].windows <= windows + 2, "%s: and none is reported as if there were edges", parameter);
	ktap_check(after.edge_held_ns - before.edge_held_ns < 1.25e3 * DUTY * STUCK_MS,
		   "%s: the CPUs are not held for longer than else", parameter);
	ktap_check(after.edge_longest_ns < HOLD_NS && longest_ns(false) < HOLD_NS &&
		   longest_ns(true) < HOLD_NS,
		   "%s: and never for long", parameter);
	windows = seen[0].windows;
	ktap_check(drain_until(&d, walk, 10000, &seen[0].windows, windows + 20), "%s: they go on", parameter);
	busy_stop(&busy);
	end(parameter);
	ktap_check(!seen[0].fault[0] && !seen[1].fault[0], "%s: what is reported is right", parameter);
	ktap_diag("%s %s", seen[0].fault, seen[1].fault);
}

/* Who leads is stuck, with interrupts off: the others are let go all the same. */
static void check_stalled(void)
{
	struct busy busy;
	unsigned int i;

	if (cpu_second() < 0) {
		ktap_skip("a CPU whose leader is stuck is let go", "there is no second CPU");
		return;
	}
	busy_start(&busy, 1);
	set_parameter("vchip_source", "stalling", "1");
	if (!begin(DUTY))
		return;
	for (i = 0; i < 3; i++) {
		uint64_t windows = seen[0].windows;

		if (!drain_until(&d, walk, 5000, &seen[0].windows, windows + 10))
			break;
		set_parameter("vchip_source", "stall_ms", STALL_MS);
	}
	drain_until(&d, walk, 5000, &seen[0].windows, seen[0].windows + 10);
	busy_stop(&busy);
	end("a leader that is stuck");
	set_parameter("vchip_source", "stalling", "0");
	ktap_check(i == 3, "windows go on when who leads was stuck");
	ktap_diag("held for %.1f ms at most, who leads for %.1f ms; the session says %.1f ms",
		  longest_ns(false) * 1e-6, longest_ns(true) * 1e-6, info.edge_longest_ns * 1e-6);
	ktap_check(longest_ns(false) > 5 * PERIOD_NS && longest_ns(false) < HOLD_NS,
		   "a CPU whose leader is stuck is let go");
	ktap_check(info.edge_longest_ns + PERIOD_NS / 100 >= longest_ns(false), "and how long that took is reported");
	ktap_check(!seen[0].fault[0] && !seen[1].fault[0], "a leader that is stuck: what is reported is right");
	ktap_diag("%s %s", seen[0].fault, seen[1].fault);
}

/* What a counter that was set back seems to have counted is in no window. */
static void check_reset(void)
{
	unsigned int i;
	struct busy busy;

	busy_start(&busy, 1);
	if (!begin(DUTY))
		return;
	for (i = 0; i < 5; i++) {
		uint64_t windows = seen[0].windows;

		set_parameter("vchip_source", "reset", "1");
		if (!drain_until(&d, walk, 5000, &seen[0].windows, windows + 10))
			break;
	}
	busy_stop(&busy);
	ktap_check(i == 5, "windows go on when the counter is set back");
	end("a counter that is set back");
	set_parameter("vchip_source", "frozen", "0");
	ktap_check(!seen[0].fault[0] && !seen[1].fault[0], "and what it seems to have counted is in none");
	ktap_diag("%s %s", seen[0].fault, seen[1].fault);
}

static void check_refused(const char *name, const struct nl_config *c, int want)
{
	struct nl_session s;
	int err = nl_session_new(&nl, c, &s);

	if (!ktap_check(err == want && (err == -EPERM || nl.why[0]), "refused: %s", name))
		ktap_diag("%d: %s", err, nl.why);
	if (!err)
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s.id, NULL);
}

static void check_refusals(void)
{
	struct nl_config c = { .interval_ns = INTERVAL_NS, .edges = true, .edge_duty = DUTY };
	struct nl_config other = c;
	pid_t pid;
	int status;

	other.edge_duty = 0;
	check_refused("no time at all", &other, -ERANGE);
	other.edge_duty = 29;
	check_refused("too little", &other, -ERANGE);
	ktap_check(strstr(nl.why, "30 to 500"), "and the range is reported");
	other.edge_duty = 501;
	check_refused("more than half", &other, -ERANGE);
	other.edge_duty = UINT32_MAX;
	check_refused("far too much", &other, -ERANGE);
	other = c;
	other.energy = "";
	check_refused("no energy", &other, -EOPNOTSUPP);
	if (cpu_second() >= 0) {
		other = c;
		other.cpus = 1ULL << cpu_first();
		check_refused("a part of a package", &other, -EINVAL);
	}
	/* who may have sessions, but not keep CPUs */
	pid = fork();
	if (!pid) {
		struct nl_session s;

		caps_keep(CAP(CAP_PERFMON));
		nl_open(&nl);
		_exit(nl_session_new(&nl, &c, &s) == -EPERM && strstr(nl.why, "CAP_SYS_NICE") ? 0 : 1);
	}
	ktap_check(waitpid(pid, &status, 0) == pid && status == 0, "refused: without CAP_SYS_NICE");
	/* two would wait for one another */
	if (!ktap_check(!nl_session_new(&nl, &c, &info), "a session with windows"))
		return;
	check_refused("a second one", &c, -EBUSY);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	ktap_check(!nl_session_new(&nl, &c, &info), "not when the first has ended");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

int main(void)
{
	need_module();
	need_chip();
	nl_open(&nl);
	check_refusals();
	check_windows();
	check_seldom();
	check_hotplug();
	check_outsider();
	check_on_the_way();
	check_stuck("frozen");
	check_stuck("failing");
	check_stalled();
	check_reset();
	ktap_check(!session_count(), "no session is left");
	return ktap_end();
}
