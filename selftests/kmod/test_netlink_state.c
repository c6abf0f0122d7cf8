// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests that are valid by themselves are refused where they do not fit: processes, CPUs
 * and sources that the machine has not, sessions beyond their number, of other sockets, or in
 * another state. A session is of the socket that made it, not of a port number, and tells
 * what was asked for. Attributes: test_netlink.c.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "caps.h"
#include "refusal.h"

/* With it a session of another socket can be ended. */
#define NO_ADMIN	(CAP_ALL & ~CAP(CAP_SYS_ADMIN))

static void refuse_pid(const char *what, pid_t pid)
{
	uint32_t value = pid;

	refuse(&(struct refusal){ what, NEW, 0, { KJOULE_A_SESSION_PID, 4, &value }, false, ESRCH,
				  MUST_TELL | OF_PROCESS });
}

static int hold[2];

static void *wait_in_thread(void *data)
{
	char c;

	*(pid_t *)data = gettid();
	if (write(hold[1], "!", 1) != 1 || read(hold[0], &c, 1) < 0)
		pause();
	pause();
	return NULL;
}

static void check_pids(void)
{
	pid_t child = fork(), thread = 0;
	siginfo_t ended;
	int ready[2];
	pthread_t t;
	char c;

	if (!child)
		_exit(0);
	waitid(P_PID, child, &ended, WEXITED | WNOWAIT);
	refuse_pid("pid of a process that has ended and not been waited for", child);
	waitpid(child, NULL, 0);
	refuse_pid("pid of a process that is gone", child);

	if (pipe(ready) || pipe(hold))
		return;
	hold[1] = ready[1];
	if (pthread_create(&t, NULL, wait_in_thread, &thread) || read(ready[0], &c, 1) != 1)
		return;
	refuse_pid("pid of a thread that is no process", thread);
}

static void check_number(void)
{
	static struct nl_session s[64];
	unsigned int n = 0, most = 64 - session_count();

	while (n < most &&
	       !nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000, .ring_bytes = 4096,
								   .cpus = 1ULL << cpu_first() },
			       &s[n]))
		n++;
	ktap_check_equal(most, n, "64 sessions in all can be made");
	refuse(&(struct refusal){ "one session more", NEW, 0, { 0 }, false, EUSERS, MUST_TELL });
	while (n--)
		nl_session_do(&nl, DEL, s[n].id, NULL);
}

static void check_cpus(void)
{
	const uint64_t online = cpu_online_mask();
	unsigned int first = cpu_first(), beyond = cpu_possible();
	int second = cpu_second();
	uint8_t mask[1024] = { 0 };
	struct nl_session s;
	uint64_t both;

	mask[first / 8] |= 1 << first % 8;
	mask[beyond / 8] |= 1 << beyond % 8;
	refuse(&(struct refusal){ "the CPU after the last", NEW, 0,
				  { KJOULE_A_SESSION_CPUS, beyond / 8 + 1, mask }, false, EINVAL,
				  MUST_TELL });
	if (second < 0 || second > 63 || !cpu_online(second, false)) {
		ktap_skip("a CPU that is offline",
			  second < 0 ? "one CPU only: bring another one online" :
			  "the second CPU cannot be taken off: a kernel with CONFIG_HOTPLUG_CPU is needed");
		return;
	}
	both = 1ULL << first | 1ULL << second;
	refuse(&(struct refusal){ "a CPU that is offline", NEW, 0,
				  { KJOULE_A_SESSION_CPUS, sizeof(both), &both }, false, ENXIO,
				  MUST_TELL });
	ktap_check(!nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000 }, &s) &&
		   s.cpus == online, "without a CPU mask the session is of all, who is offline included");
	nl_session_do(&nl, DEL, s.id, NULL);
	cpu_online(second, true);
	ktap_check(!nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000, .cpus = both },
				   &s) && s.cpus == both,
		   "the same CPU is accepted when it is online");
	nl_session_do(&nl, DEL, s.id, NULL);
}

/* A source that is known but does not work here is refused by name, with a reason. */
static void check_sources(void)
{
	struct nl_source sources[16];
	int n = nl_source_dump(&nl, sources, 16), i, unusable = 0;

	ktap_check(n >= 3, "the dump tells the sources that are built in");
	for (i = 0; i < n; i++) {
		uint16_t type = sources[i].kind == KJOULE_KIND_ENERGY ?
				KJOULE_A_SESSION_ENERGY_SOURCE :
				KJOULE_A_SESSION_FREQUENCY_SOURCE;
		char what[128];

		if (sources[i].available)
			continue;
		unusable++;
		snprintf(what, sizeof(what), "source %s, which does not work here",
			 sources[i].name);
		refuse(&(struct refusal){ what, NEW, 0,
					  { type, strlen(sources[i].name) + 1, sources[i].name },
					  false, ENODEV, MUST_TELL });
		ktap_check(sources[i].why, "source-get says why %s does not work", sources[i].name);
	}
	if (!unusable)
		ktap_skip("a source that does not work here",
			  "all work here: such a machine has nothing to provide");
}

static void state_refused(struct nl *from, const char *what, uint8_t cmd, uint32_t id, int want)
{
	int sessions = session_count();
	int got = nl_session_do(from, cmd, id, NULL);

	check_outcome(from, what, want, true, got, sessions);
}

/* What does not fit the session's state, or its owner. */
static void check_states(void)
{
	struct nl_session s;

	state_refused(&nl, "start of a session that was deleted", START, gone, ENOENT);
	state_refused(&nl, "stop of a session that was deleted", STOP, gone, ENOENT);
	state_refused(&nl, "del of a session that was deleted", DEL, gone, ENOENT);
	state_refused(&nl, "get of a session that was deleted", GET, gone, ENOENT);
	state_refused(&nl, "stop of a session that was not started", STOP, mine, EINVAL);
	state_refused(&other, "start of another socket's session", START, mine, EPERM);
	state_refused(&other, "stop of another socket's session", STOP, mine, EPERM);
	state_refused(&other, "del of another socket's session", DEL, mine, EPERM);
	ktap_check(!nl_session_do(&other, GET, mine, &s) && s.id == mine, "another socket may look at a session");

	if (nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000 }, &s)) {
		ktap_not_ok("a session to start and stop");
		return;
	}
	ktap_check_equal(0, nl_session_do(&nl, START, s.id, NULL), "the first start is accepted");
	state_refused(&nl, "start of a session that runs", START, s.id, EBUSY);
	state_refused(&other, "stop of another socket's session that runs", STOP, s.id, EPERM);
	ktap_check(!nl_session_do(&nl, GET, s.id, &s) && s.state == KJOULE_SESSION_RUNNING,
		   "it runs all the same");
	ktap_check_equal(0, nl_session_do(&nl, STOP, s.id, NULL), "the first stop is accepted");
	state_refused(&nl, "stop of a session that is stopped", STOP, s.id, EINVAL);
	state_refused(&nl, "start of a session that is stopped", START, s.id, EBUSY);
	ktap_check_equal(0, nl_session_do(&nl, DEL, s.id, NULL), "del of a stopped session is accepted");
}

#define OF_FIRST	48
#define LISTENERS	60

static void *close_socket(void *socket)
{
	nl_close(socket);
	return NULL;
}

/* A socket with a port number of one's own choice, as soon as it is free again. */
static bool open_as(struct nl *as, unsigned int portid, uint16_t family)
{
	uint64_t until = now_ns() + 5000000000;
	int err;

	memset(as, 0, sizeof(*as));
	as->family = family;
	as->socket = mnl_socket_open(NETLINK_GENERIC);
	do
		err = mnl_socket_bind(as->socket, 0, portid);
	while (err && now_ns() < until);
	return !err;
}

/*
 * A port number is free again before the sessions of the socket that had it have ended: those of
 * the next one that has it are its own, and stay.
 */
static void check_port_again(void)
{
	static struct nl_session s[OF_FIRST + 1];
	static struct nl listener[LISTENERS];
	const struct nl_config c = { .interval_ns = 10000000, .ring_bytes = 4096, .energy = "",
				     .frequency = "", .cpus = 1ULL << cpu_first() };
	struct nl_session again;
	unsigned int i, ended = 0;
	struct nl first, next;
	pthread_t closing;
	bool taken;

	if (nl_open(&first))
		return;
	for (i = 0; i < OF_FIRST; i++) {
		if (nl_session_new(&first, &c, &s[i]) ||
		    nl_session_do(&first, START, s[i].id, NULL))
			ktap_not_ok("a session to be ended: %s", first.why);
	}
	/* who have to be notified of each that ends, so that it takes its time */
	for (i = 0; i < LISTENERS; i++) {
		if (nl_open(&listener[i]) ||
		    nl_talk(&listener[i], nl_request(&listener[i], LISTEN, 0), NULL, NULL))
			ktap_not_ok("a listener: %s", listener[i].why);
	}
	pthread_create(&closing, NULL, close_socket, &first);
	if (!open_as(&next, first.portid, first.family) ||
	    nl_session_new(&next, &c, &s[OF_FIRST])) {
		ktap_not_ok("a session of another socket with the same number: %s", next.why);
		return;
	}
	/* it is its number, but not its session */
	caps_use(NO_ADMIN);
	taken = !nl_session_do(&next, DEL, s[OF_FIRST - 1].id, NULL);
	caps_use(CAP_ALL);
	pthread_join(closing, NULL);
	for (i = 0; i < LISTENERS; i++)
		nl_close(&listener[i]);
	ktap_check(!taken, "the next socket with a number has no say in the sessions of the one before");
	ktap_check_equal(0, nl_session_do(&next, GET, s[OF_FIRST].id, &again), "its own go on when that one's end");
	for (i = 0; i < OF_FIRST; i++)
		ended += nl_session_do(&next, GET, s[i].id, &again) == -ENOENT;
	ktap_check_equal(OF_FIRST, ended, "which they do");
	nl_close(&next);
	ktap_check_equal(-ENOENT, nl_session_do(&nl, GET, s[OF_FIRST].id, &again), "and end with the socket");
}

int main(void)
{
	int second = cpu_second();
	uint64_t last = 1ULL << (second > 0 && second < 64 ? second : (int)cpu_first());
	struct nl_session s, again, all[8];

	if (!refusals_begin(&(struct nl_config){ .interval_ns = 1000000, .jitter_ns = 5,
						 .cpus = last, .ring_bytes = 8192,
						 .wakeup_bytes = 100 }, &s))
		return ktap_end();
	ktap_check(!nl_session_do(&other, GET, mine, &again) && !memcmp(&s, &again, sizeof(s)) &&
		   s.interval_ns == 1000000 && s.jitter_ns == 5 && s.cpus == last &&
		   s.ring_bytes == 8192 && s.wakeup_bytes == 100 && s.state == KJOULE_SESSION_NEW &&
		   !s.target && !s.pid,
		   "session-get tells what was asked for");
	ktap_check(nl_session_dump(&other, all, 8) == 1 && all[0].id == mine, "the dump tells the one session");
	check_pids();
	check_number();
	check_port_again();
	check_cpus();
	check_sources();
	caps_use(NO_ADMIN);
	check_states();
	caps_use(CAP_ALL);
	return refusals_end();
}
