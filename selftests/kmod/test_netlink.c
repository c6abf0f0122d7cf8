// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every netlink attribute that can be wrong is refused: one result a refusal, each
 * with otherwise valid input, each with its errno, nothing made and nothing changed
 * by it, and words that say why where the module has any. The valid input is
 * accepted before and after, so that a refusal is due to its one fault.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "../ktap.h"
#include "guest.h"
#include "nl.h"

/* An attribute as bytes. */
struct attr {
	uint16_t type;
	uint16_t len;
	const void *data;
};

#define ATTR(type_, ...)	{ (type_), sizeof(__VA_ARGS__), (const void *)&(__VA_ARGS__) }
#define U32(type_, value)	ATTR(type_, (const uint32_t){ value })
#define U64(type_, value)	ATTR(type_, (const uint64_t){ value })
#define TEXT(type_, text)	{ (type_), sizeof(text), (text) }
#define NOTHING(type_)		{ (type_), 0, "" }
#define BYTES(type_, n)		{ (type_), (n), zeros }

static const uint8_t zeros[2048];
static uint8_t far_cpu[1024] = { [1000] = 1 };	/* CPU 8000 */

static struct nl nl, other;
static uint32_t mine;		/* a session of nl, never started */
static uint32_t gone;		/* the id of a session that was deleted */

/* What a valid request of each command has. */
static const struct attr new_base[] = {
	U64(KJOULE_A_SESSION_INTERVAL_NS, 1000000),
	U64(KJOULE_A_SESSION_JITTER_NS, 100000),
	U32(KJOULE_A_SESSION_TARGET, KJOULE_TARGET_SYSTEM),
	U32(KJOULE_A_SESSION_PID, 0),
	ATTR(KJOULE_A_SESSION_CPUS, (const uint8_t){ 1 }),
	U32(KJOULE_A_SESSION_RING_BYTES, 65536),
	U32(KJOULE_A_SESSION_WAKEUP_BYTES, 8192),
	NOTHING(0),	/* makes room for the sources, see new_request() */
	NOTHING(0),
	U64(KJOULE_A_SESSION_FLAGS, 0),
};

enum { MUST_TELL = 1, OF_PROCESS = 2, ENDS = 4 };

/* One fault: @fault replaces the attribute of its type, or is added. */
struct refusal {
	const char *what;
	uint8_t cmd;
	uint16_t flags;		/* of the netlink header, beyond request and ack */
	struct attr fault;
	bool drop;		/* leave the attribute out instead */
	int want;
	unsigned int how;	/* MUST_TELL: with words; OF_PROCESS: target process, own pid */
};

static unsigned int base_of(uint8_t cmd, uint16_t flags, unsigned int how, struct attr *attrs)
{
	static uint32_t process = KJOULE_TARGET_PROCESS, self, source = 1;
	unsigned int n = sizeof(new_base) / sizeof(new_base[0]);

	switch (cmd) {
	case KJOULE_CMD_SESSION_NEW:
		memcpy(attrs, new_base, sizeof(new_base));
		attrs[7] = (struct attr)TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "");
		attrs[8] = (struct attr)TEXT(KJOULE_A_SESSION_FREQUENCY_SOURCE, "");
		if (how & OF_PROCESS) {
			self = getpid();
			attrs[2] = (struct attr){ KJOULE_A_SESSION_TARGET, 4, &process };
			attrs[3] = (struct attr){ KJOULE_A_SESSION_PID, 4, &self };
		}
		return n;
	case KJOULE_CMD_STATS_GET:
		attrs[0] = (struct attr){ KJOULE_A_STATS_SESSION, 4, &mine };
		return 1;
	case KJOULE_CMD_SOURCE_GET:
		attrs[0] = (struct attr){ KJOULE_A_SOURCE_ID, 4, &source };
		return (flags & NLM_F_DUMP) != NLM_F_DUMP;
	default:
		attrs[0] = (struct attr){ KJOULE_A_SESSION_ID, 4, &mine };
		return (flags & NLM_F_DUMP) != NLM_F_DUMP;
	}
}

static struct nlmsghdr *make_request(struct nl *from, const struct refusal *r)
{
	struct nlmsghdr *request = nl_request(from, r->cmd, r->flags);
	unsigned int n, i;
	struct attr attrs[16];
	bool replaced = false;

	n = base_of(r->cmd, r->flags, r->how, attrs);
	for (i = 0; i < n; i++) {
		const struct attr *a = &attrs[i];

		if (r->fault.data && a->type == r->fault.type) {
			replaced = true;
			if (r->drop)
				continue;
			a = &r->fault;
		}
		mnl_attr_put(request, a->type, a->len, a->data);
	}
	if (r->fault.data && !replaced && !r->drop)
		mnl_attr_put(request, r->fault.type, r->fault.len, r->fault.data);
	return request;
}

static void take_id(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == KJOULE_A_SESSION_ID)
			*(uint32_t *)data = mnl_attr_get_u32(attr);
	}
}

/* Nothing was made, and the session that there was is what it was. */
static bool nothing_changed(int sessions)
{
	struct nl_session s;

	if (session_count() != sessions) {
		ktap_diag("there were %d sessions, now there are %d", sessions, session_count());
		return false;
	}
	if (nl_session_do(&nl, KJOULE_CMD_SESSION_GET, mine, &s) || s.state != KJOULE_SESSION_NEW) {
		ktap_diag("the session that was there is gone or was started");
		return false;
	}
	return true;
}

static void check_outcome(struct nl *from, const char *what, int want, bool must_tell, int got,
			  int sessions)
{
	char why[sizeof(from->why)];
	bool good = got == -want && (!must_tell || from->why[0]);

	memcpy(why, from->why, sizeof(why));
	good &= nothing_changed(sessions);
	if (!ktap_check(good, "%s: %s", what, strerrorname_np(want)))
		ktap_diag("got %s, \"%s\"", got ? strerrorname_np(-got) : "success", why);
}

static void refuse(const struct refusal *r)
{
	int sessions = session_count();
	uint32_t made = 0;
	int got = nl_talk(&nl, make_request(&nl, r), take_id, &made);

	check_outcome(&nl, r->what, r->want, r->how & MUST_TELL, got, sessions);
	if (!got && r->cmd == KJOULE_CMD_SESSION_NEW)
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, made, NULL);
}

/* The valid request of every command is accepted. */
static void check_accepted(const char *when)
{
	static const struct { const char *name; uint8_t cmd; uint16_t flags; unsigned int how; } valid[] = {
		{ "session-new of the system", KJOULE_CMD_SESSION_NEW, 0, 0 },
		{ "session-new of a process", KJOULE_CMD_SESSION_NEW, 0, OF_PROCESS },
		{ "session-get", KJOULE_CMD_SESSION_GET, 0, 0 },
		{ "session-get dump", KJOULE_CMD_SESSION_GET, NLM_F_DUMP, 0 },
		{ "stats-get", KJOULE_CMD_STATS_GET, NLM_F_DUMP, 0 },
		{ "source-get", KJOULE_CMD_SOURCE_GET, 0, 0 },
		{ "source-get dump", KJOULE_CMD_SOURCE_GET, NLM_F_DUMP, 0 },
	};
	struct nl_session s;
	unsigned int i;
	uint32_t made;
	int got;

	for (i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
		struct refusal r = { .cmd = valid[i].cmd, .flags = valid[i].flags, .how = valid[i].how };

		made = 0;
		got = nl_talk(&nl, make_request(&nl, &r), take_id, &made);
		if (!ktap_check(!got, "%s: a valid %s is accepted", when, valid[i].name))
			ktap_diag("got %s, \"%s\"", strerrorname_np(-got), nl.why);
		if (valid[i].cmd != KJOULE_CMD_SESSION_NEW || got)
			continue;
		if (valid[i].how & OF_PROCESS)
			nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, made, NULL);
		else
			gone = made;
	}
	ktap_check_equal(0, nl_session_do(&nl, KJOULE_CMD_SESSION_START, gone, &s), "a valid start is accepted");
	ktap_check_equal(KJOULE_SESSION_RUNNING, s.state, "it says that the session is running");
	ktap_check_equal(0, nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, gone, &s), "a valid stop is accepted");
	ktap_check_equal(KJOULE_SESSION_STOPPED, s.state, "it says that the session is stopped");
	ktap_check_equal(0, nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, gone, NULL), "a valid del is accepted");
	ktap_check_equal(1, session_count(), "the session of these is gone");
}

#define NEW	KJOULE_CMD_SESSION_NEW
#define START	KJOULE_CMD_SESSION_START
#define STOP	KJOULE_CMD_SESSION_STOP
#define DEL	KJOULE_CMD_SESSION_DEL
#define GET	KJOULE_CMD_SESSION_GET
#define STATS	KJOULE_CMD_STATS_GET
#define SOURCE	KJOULE_CMD_SOURCE_GET
#define DUMP	NLM_F_DUMP

/* Sizes that a number must not have; @n is the right one. */
static void refuse_sizes(uint8_t cmd, uint16_t flags, const char *name, uint16_t type, unsigned int n)
{
	static const unsigned int sizes[] = { 0, 1, 2, 4, 8, 12 };
	char what[128];
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] == n)
			continue;
		snprintf(what, sizeof(what), "%s of %u bytes", name, sizes[i]);
		refuse(&(struct refusal){ what, cmd, flags, BYTES(type, sizes[i]), false, EINVAL, MUST_TELL });
	}
}

static void check_sizes(void)
{
	refuse_sizes(NEW, 0, "interval", KJOULE_A_SESSION_INTERVAL_NS, 8);
	refuse_sizes(NEW, 0, "jitter", KJOULE_A_SESSION_JITTER_NS, 8);
	refuse_sizes(NEW, 0, "target", KJOULE_A_SESSION_TARGET, 4);
	refuse_sizes(NEW, 0, "pid", KJOULE_A_SESSION_PID, 4);
	refuse_sizes(NEW, 0, "ring bytes", KJOULE_A_SESSION_RING_BYTES, 4);
	refuse_sizes(NEW, 0, "wake-up bytes", KJOULE_A_SESSION_WAKEUP_BYTES, 4);
	refuse_sizes(NEW, 0, "flags", KJOULE_A_SESSION_FLAGS, 8);
	refuse_sizes(START, 0, "id of start", KJOULE_A_SESSION_ID, 4);
	refuse_sizes(STOP, 0, "id of stop", KJOULE_A_SESSION_ID, 4);
	refuse_sizes(DEL, 0, "id of del", KJOULE_A_SESSION_ID, 4);
	refuse_sizes(GET, 0, "id of get", KJOULE_A_SESSION_ID, 4);
	refuse_sizes(STATS, DUMP, "session of stats", KJOULE_A_STATS_SESSION, 4);
	refuse_sizes(SOURCE, 0, "id of a source", KJOULE_A_SOURCE_ID, 4);
}

static const struct refusal refusals[] = {
	/* missing */
	{ "interval missing", NEW, 0, BYTES(KJOULE_A_SESSION_INTERVAL_NS, 0), true, EINVAL, MUST_TELL },
	{ "pid missing with target process", NEW, 0, BYTES(KJOULE_A_SESSION_PID, 0), true, EINVAL,
	  MUST_TELL | OF_PROCESS },
	{ "target missing with a pid", NEW, 0, BYTES(KJOULE_A_SESSION_TARGET, 0), true, EINVAL,
	  MUST_TELL | OF_PROCESS },
	{ "id missing in start", START, 0, BYTES(KJOULE_A_SESSION_ID, 0), true, EINVAL, MUST_TELL },
	{ "id missing in stop", STOP, 0, BYTES(KJOULE_A_SESSION_ID, 0), true, EINVAL, MUST_TELL },
	{ "id missing in del", DEL, 0, BYTES(KJOULE_A_SESSION_ID, 0), true, EINVAL, MUST_TELL },
	{ "id missing in get", GET, 0, BYTES(KJOULE_A_SESSION_ID, 0), true, EINVAL, MUST_TELL },
	{ "session missing in stats", STATS, DUMP, BYTES(KJOULE_A_STATS_SESSION, 0), true, EINVAL, 0 },
	{ "id missing in source-get", SOURCE, 0, BYTES(KJOULE_A_SOURCE_ID, 0), true, EINVAL, MUST_TELL },

	/* out of range */
	{ "interval 0", NEW, 0, U64(KJOULE_A_SESSION_INTERVAL_NS, 0), false, ERANGE, MUST_TELL },
	{ "interval below 10 us", NEW, 0, U64(KJOULE_A_SESSION_INTERVAL_NS, 9999), false, ERANGE, MUST_TELL },
	{ "interval above 4 s", NEW, 0, U64(KJOULE_A_SESSION_INTERVAL_NS, 4000000001), false, ERANGE, MUST_TELL },
	{ "interval of 2^64 - 1", NEW, 0, U64(KJOULE_A_SESSION_INTERVAL_NS, UINT64_MAX), false, ERANGE, MUST_TELL },
	{ "jitter equal to the interval", NEW, 0, U64(KJOULE_A_SESSION_JITTER_NS, 1000000), false, EINVAL, MUST_TELL },
	{ "jitter of 2^64 - 1", NEW, 0, U64(KJOULE_A_SESSION_JITTER_NS, UINT64_MAX), false, EINVAL, MUST_TELL },
	{ "target 2", NEW, 0, U32(KJOULE_A_SESSION_TARGET, 2), false, ERANGE, MUST_TELL },
	{ "target 2^32 - 1", NEW, 0, U32(KJOULE_A_SESSION_TARGET, UINT32_MAX), false, ERANGE, MUST_TELL },
	{ "pid 0 with target process", NEW, 0, U32(KJOULE_A_SESSION_PID, 0), false, EINVAL, MUST_TELL | OF_PROCESS },
	{ "a pid with target system", NEW, 0, U32(KJOULE_A_SESSION_PID, 1), false, EINVAL, MUST_TELL },
	{ "pid 2^32 - 1", NEW, 0, U32(KJOULE_A_SESSION_PID, UINT32_MAX), false, ESRCH, MUST_TELL | OF_PROCESS },
	{ "pid 2^31", NEW, 0, U32(KJOULE_A_SESSION_PID, 1U << 31), false, ESRCH, MUST_TELL | OF_PROCESS },
	{ "pid beyond pid_max", NEW, 0, U32(KJOULE_A_SESSION_PID, 1 << 30), false, ESRCH, MUST_TELL | OF_PROCESS },
	{ "ring of 2 KiB", NEW, 0, U32(KJOULE_A_SESSION_RING_BYTES, 2048), false, EINVAL, MUST_TELL },
	{ "ring of 65528 bytes", NEW, 0, U32(KJOULE_A_SESSION_RING_BYTES, 65528), false, EINVAL, MUST_TELL },
	{ "ring of 512 MiB", NEW, 0, U32(KJOULE_A_SESSION_RING_BYTES, 512 << 20), false, EINVAL, MUST_TELL },
	{ "ring of 2^31 bytes", NEW, 0, U32(KJOULE_A_SESSION_RING_BYTES, 1U << 31), false, EINVAL, MUST_TELL },
	{ "wake-up mark beyond the ring", NEW, 0, U32(KJOULE_A_SESSION_WAKEUP_BYTES, 65537), false, EINVAL, MUST_TELL },
	{ "wake-up mark beyond the default ring", NEW, 0, U32(KJOULE_A_SESSION_WAKEUP_BYTES, UINT32_MAX),
	  false, EINVAL, MUST_TELL },
	{ "a CPU mask of no bytes", NEW, 0, BYTES(KJOULE_A_SESSION_CPUS, 0), false, EINVAL, MUST_TELL },
	{ "a CPU mask without a CPU", NEW, 0, BYTES(KJOULE_A_SESSION_CPUS, 8), false, EINVAL, MUST_TELL },
	{ "a CPU mask of 1025 bytes", NEW, 0, BYTES(KJOULE_A_SESSION_CPUS, 1025), false, ERANGE, MUST_TELL },
	{ "CPU 2 of 2", NEW, 0, ATTR(KJOULE_A_SESSION_CPUS, (const uint8_t){ 5 }), false, EINVAL, MUST_TELL },
	{ "CPU 8000", NEW, 0, { KJOULE_A_SESSION_CPUS, sizeof(far_cpu), far_cpu }, false, EINVAL, MUST_TELL },
	{ "flag 1", NEW, 0, U64(KJOULE_A_SESSION_FLAGS, 1), false, EINVAL, MUST_TELL },
	{ "flag 2^63", NEW, 0, U64(KJOULE_A_SESSION_FLAGS, 1ULL << 63), false, EINVAL, MUST_TELL },

	/* names */
	{ "energy source of no bytes", NEW, 0, NOTHING(KJOULE_A_SESSION_ENERGY_SOURCE), false, EINVAL, MUST_TELL },
	{ "energy source without its zero", NEW, 0, { KJOULE_A_SESSION_ENERGY_SOURCE, 4, "rapl-msr" }, false,
	  EINVAL, MUST_TELL },
	{ "energy source of 32 letters", NEW, 0, TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "abcdefghijklmnopqrstuvwxyzabcdef"),
	  false, EINVAL, MUST_TELL },
	{ "energy source that goes on for 100 bytes", NEW, 0, BYTES(KJOULE_A_SESSION_ENERGY_SOURCE, 100), false,
	  ERANGE, MUST_TELL },
	{ "unknown energy source", NEW, 0, TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "nonsense"), false, ENOENT, MUST_TELL },
	{ "the beginning of a name as energy source", NEW, 0, TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "rapl"), false,
	  ENOENT, MUST_TELL },
	{ "frequency source of no bytes", NEW, 0, NOTHING(KJOULE_A_SESSION_FREQUENCY_SOURCE), false, EINVAL, MUST_TELL },
	{ "frequency source without its zero", NEW, 0, { KJOULE_A_SESSION_FREQUENCY_SOURCE, 5, "aperf" }, false,
	  EINVAL, MUST_TELL },
	{ "frequency source of 32 letters", NEW, 0,
	  TEXT(KJOULE_A_SESSION_FREQUENCY_SOURCE, "abcdefghijklmnopqrstuvwxyzabcdef"), false, EINVAL, MUST_TELL },
	{ "frequency source that goes on for 100 bytes", NEW, 0, BYTES(KJOULE_A_SESSION_FREQUENCY_SOURCE, 100),
	  false, ERANGE, MUST_TELL },
	{ "unknown frequency source", NEW, 0, TEXT(KJOULE_A_SESSION_FREQUENCY_SOURCE, "nonsense"), false, ENOENT,
	  MUST_TELL },
	{ "frequency source as energy source", NEW, 0, TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "aperf"), false, ENOENT,
	  MUST_TELL },
	{ "energy source as frequency source", NEW, 0, TEXT(KJOULE_A_SESSION_FREQUENCY_SOURCE, "rapl-msr"), false,
	  ENOENT, MUST_TELL },

	/* ids */
	{ "session 0 in start", START, 0, U32(KJOULE_A_SESSION_ID, 0), false, ENOENT, MUST_TELL },
	{ "session 2^32 - 1 in start", START, 0, U32(KJOULE_A_SESSION_ID, UINT32_MAX), false, ENOENT, MUST_TELL },
	{ "session 0 in stop", STOP, 0, U32(KJOULE_A_SESSION_ID, 0), false, ENOENT, MUST_TELL },
	{ "session 2^32 - 1 in stop", STOP, 0, U32(KJOULE_A_SESSION_ID, UINT32_MAX), false, ENOENT, MUST_TELL },
	{ "session 0 in del", DEL, 0, U32(KJOULE_A_SESSION_ID, 0), false, ENOENT, MUST_TELL },
	{ "session 2^32 - 1 in del", DEL, 0, U32(KJOULE_A_SESSION_ID, UINT32_MAX), false, ENOENT, MUST_TELL },
	{ "session 0 in get", GET, 0, U32(KJOULE_A_SESSION_ID, 0), false, ENOENT, MUST_TELL },
	{ "session 2^32 - 1 in get", GET, 0, U32(KJOULE_A_SESSION_ID, UINT32_MAX), false, ENOENT, MUST_TELL },
	{ "session 0 in stats", STATS, DUMP, U32(KJOULE_A_STATS_SESSION, 0), false, ENOENT, 0 },
	{ "session 2^32 - 1 in stats", STATS, DUMP, U32(KJOULE_A_STATS_SESSION, UINT32_MAX), false, ENOENT, 0 },
	{ "source 0", SOURCE, 0, U32(KJOULE_A_SOURCE_ID, 0), false, ENOENT, MUST_TELL },
	{ "source 2^32 - 1", SOURCE, 0, U32(KJOULE_A_SOURCE_ID, UINT32_MAX), false, ENOENT, MUST_TELL },

	/* the wrong kind of call */
	{ "session-new as a dump", NEW, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "start as a dump", START, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "stop as a dump", STOP, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "del as a dump", DEL, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "stats not as a dump", STATS, 0, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "session dump with an id", GET, DUMP, U32(KJOULE_A_SESSION_ID, 1), false, EINVAL, 0 },
	{ "source dump with an id", SOURCE, DUMP, U32(KJOULE_A_SOURCE_ID, 1), false, EINVAL, 0 },
	{ "session-new with NLM_F_CREATE", NEW, NLM_F_CREATE, NOTHING(0), true, EINVAL, MUST_TELL },
	{ "start with NLM_F_REPLACE", START, NLM_F_REPLACE, NOTHING(0), true, EINVAL, MUST_TELL },

	{ "command 0", 0, 0, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "the command after the last", KJOULE_CMD_MAX + 1, 0, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "command 255", 255, 0, NOTHING(0), true, EOPNOTSUPP, 0 },
};

/* Attributes that a command does not take, with the size that they have elsewhere. */
static void check_foreign(void)
{
	static const struct { const char *name; uint8_t cmd; uint16_t flags; unsigned int from, to; } takes[] = {
		{ "session-new", NEW, 0, KJOULE_A_SESSION_STATE, KJOULE_A_SESSION_MAX + 1 },
		{ "start", START, 0, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "stop", STOP, 0, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "del", DEL, 0, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "session-get", GET, 0, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "session-get dump", GET, DUMP, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "stats-get", STATS, DUMP, KJOULE_A_STATS_SESSION + 1, KJOULE_A_STATS_MAX + 1 },
		{ "source-get", SOURCE, 0, KJOULE_A_SOURCE_ID + 1, KJOULE_A_SOURCE_MAX + 1 },
		{ "source-get dump", SOURCE, DUMP, KJOULE_A_SOURCE_ID + 1, KJOULE_A_SOURCE_MAX + 1 },
	};
	unsigned int i, type;
	char what[128];

	refuse(&(struct refusal){ "session-new with an id", NEW, 0, U32(KJOULE_A_SESSION_ID, 7), false, EINVAL,
				  MUST_TELL });
	for (i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		for (type = takes[i].from; type <= takes[i].to; type++) {
			snprintf(what, sizeof(what), "%s with attribute %u", takes[i].name, type);
			refuse(&(struct refusal){ what, takes[i].cmd, takes[i].flags, BYTES(type, 4), false,
						  EINVAL, MUST_TELL });
		}
		snprintf(what, sizeof(what), "%s with attribute 1000", takes[i].name);
		refuse(&(struct refusal){ what, takes[i].cmd, takes[i].flags, BYTES(1000, 4), false, EINVAL,
					  MUST_TELL });
		snprintf(what, sizeof(what), "%s with attribute 0", takes[i].name);
		refuse(&(struct refusal){ what, takes[i].cmd, takes[i].flags, BYTES(0, 4), false, EINVAL,
					  MUST_TELL });
	}
}

/* Headers that are wrong around valid attributes. */
static void check_headers(void)
{
	static const uint8_t cmds[] = { NEW, START, STOP, DEL, GET, STATS, SOURCE };
	struct nlmsghdr *request;
	int sessions = session_count(), got;
	struct genlmsghdr *genl;
	struct nlattr *last;
	char what[64];
	unsigned int i;

	for (i = 0; i < sizeof(cmds); i++) {
		struct refusal r = { .cmd = cmds[i], .flags = cmds[i] == STATS ? DUMP : 0 };

		request = make_request(&nl, &r);
		genl = mnl_nlmsg_get_payload(request);
		genl->reserved = 1;
		got = nl_talk(&nl, request, NULL, NULL);
		snprintf(what, sizeof(what), "reserved field of command %u not zero", cmds[i]);
		check_outcome(&nl, what, EINVAL, true, got, sessions);
	}

	request = make_request(&nl, &(struct refusal){ .cmd = NEW });
	memset((char *)request + request->nlmsg_len, 0, 4);
	request->nlmsg_len += 2;
	got = nl_talk(&nl, request, NULL, NULL);
	check_outcome(&nl, "bytes after the last attribute", EINVAL, true, got, sessions);

	request = make_request(&nl, &(struct refusal){ .cmd = START });
	last = mnl_nlmsg_get_payload_offset(request, sizeof(*genl));
	last->nla_len = 200;
	got = nl_talk(&nl, request, NULL, NULL);
	check_outcome(&nl, "an attribute that is longer than the message", EINVAL, true, got, sessions);

	request = make_request(&nl, &(struct refusal){ .cmd = START });
	last = mnl_nlmsg_get_payload_offset(request, sizeof(*genl));
	last->nla_len = 2;
	got = nl_talk(&nl, request, NULL, NULL);
	check_outcome(&nl, "an attribute that is shorter than its header", EINVAL, true, got, sessions);

	request = nl_request(&nl, START, 0);
	request->nlmsg_len = sizeof(*request) + 2;
	got = nl_talk(&nl, request, NULL, NULL);
	check_outcome(&nl, "a message without command", EINVAL, false, got, sessions);
}

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

	while (n < most && !nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000, .ring_bytes = 4096,
								   .cpus = 1 }, &s[n]))
		n++;
	ktap_check_equal(most, n, "64 sessions in all can be made");
	refuse(&(struct refusal){ "one session more", NEW, 0, { 0 }, false, EUSERS, MUST_TELL });
	while (n--)
		nl_session_do(&nl, DEL, s[n].id, NULL);
}

static void check_cpus(void)
{
	static const uint8_t both = 3;
	struct nl_session s;

	if (!cpu_online(1, false)) {
		ktap_skip("a CPU that is offline", "CPU 1 can not be taken off");
		return;
	}
	refuse(&(struct refusal){ "a CPU that is offline", NEW, 0, { KJOULE_A_SESSION_CPUS, 1, &both }, false, ENXIO,
				  MUST_TELL });
	ktap_check(!nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000 }, &s) && s.cpus == 1,
		   "without a CPU mask the session is of those that are online");
	nl_session_do(&nl, DEL, s.id, NULL);
	cpu_online(1, true);
	ktap_check(!nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000, .cpus = 3 }, &s) && s.cpus == 3,
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
		uint16_t type = sources[i].kind == KJOULE_KIND_ENERGY ? KJOULE_A_SESSION_ENERGY_SOURCE :
									KJOULE_A_SESSION_FREQUENCY_SOURCE;
		char what[128];

		if (sources[i].available)
			continue;
		unusable++;
		snprintf(what, sizeof(what), "source %s, which does not work here", sources[i].name);
		refuse(&(struct refusal){ what, NEW, 0, { type, strlen(sources[i].name) + 1, sources[i].name },
					  false, ENODEV, MUST_TELL });
		ktap_check(sources[i].why, "source-get says why %s does not work", sources[i].name);
	}
	ktap_check(unusable, "there is a source that does not work here");
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

int main(void)
{
	struct nl_session s, again, all[8];
	unsigned int i;

	if (session_count() < 0)
		ktap_skip_all("the module is not loaded");
	if (session_count() != 0 || nl_open(&nl) || nl_open(&other) ||
	    nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000, .jitter_ns = 5, .cpus = 2,
						     .ring_bytes = 8192, .wakeup_bytes = 100 }, &s)) {
		ktap_not_ok("a family, a session, and no other one: %s", nl.why);
		return ktap_end();
	}
	mine = s.id;
	ktap_check(!nl_session_do(&other, GET, mine, &again) && !memcmp(&s, &again, sizeof(s)) &&
		   s.interval_ns == 1000000 && s.jitter_ns == 5 && s.cpus == 2 && s.ring_bytes == 8192 &&
		   s.wakeup_bytes == 100 && s.state == KJOULE_SESSION_NEW && !s.target && !s.pid,
		   "session-get tells what was asked for");
	ktap_check(nl_session_dump(&other, all, 8) == 1 && all[0].id == mine, "the dump tells the one session");

	check_accepted("first");
	check_sizes();
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		refuse(&refusals[i]);
	check_foreign();
	check_headers();
	check_pids();
	check_number();
	check_cpus();
	check_sources();
	check_states();
	check_accepted("last");

	nl_close(&other);
	ktap_check_equal(1, session_count(), "closing another socket ends no session");
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "closing the socket ends its session");
	return ktap_end();
}
