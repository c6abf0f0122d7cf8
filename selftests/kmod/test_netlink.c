// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every netlink attribute that can be wrong is refused: one result a refusal, each
 * with otherwise valid input, each with its errno, nothing made and nothing changed
 * by it, and words that say why where the module has any. What depends on the machine or
 * on a session's state: test_netlink_state.c.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include "refusal.h"

#define BYTES(type_, n)		{ (type_), (n), zeros }

static const uint8_t zeros[2048];
static uint8_t far_cpu[1024] = { [1000] = 1 };	/* CPU 8000 */

/* Sizes that a number must not have; @n is the right one. */
static void refuse_sizes(uint8_t cmd, uint16_t flags, const char *name, uint16_t type,
			 unsigned int n)
{
	static const unsigned int sizes[] = { 0, 1, 2, 4, 8, 12 };
	char what[128];
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] == n)
			continue;
		snprintf(what, sizeof(what), "%s of %u bytes", name, sizes[i]);
		refuse(&(struct refusal){ what, cmd, flags, BYTES(type, sizes[i]), false, EINVAL,
					  MUST_TELL });
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
	refuse_sizes(STATS, 0, "session of stats in all", KJOULE_A_STATS_SESSION, 4);
	refuse_sizes(RECORDS, DUMP, "session of records", KJOULE_A_RECORDS_SESSION, 4);
	refuse_sizes(SOURCE, 0, "id of a source", KJOULE_A_SOURCE_ID, 4);
}

static const struct refusal refusals[] = {
	/* missing */
	{ "interval missing", NEW, 0, BYTES(KJOULE_A_SESSION_INTERVAL_NS, 0), true, EINVAL,
	  MUST_TELL },
	{ "pid missing with target process", NEW, 0, BYTES(KJOULE_A_SESSION_PID, 0), true, EINVAL,
	  MUST_TELL | OF_PROCESS },
	{ "target missing with a pid", NEW, 0, BYTES(KJOULE_A_SESSION_TARGET, 0), true, EINVAL,
	  MUST_TELL | OF_PROCESS },
	{ "id missing in start", START, 0, BYTES(KJOULE_A_SESSION_ID, 0), true, EINVAL, MUST_TELL },
	{ "id missing in stop", STOP, 0, BYTES(KJOULE_A_SESSION_ID, 0), true, EINVAL, MUST_TELL },
	{ "id missing in del", DEL, 0, BYTES(KJOULE_A_SESSION_ID, 0), true, EINVAL, MUST_TELL },
	{ "id missing in get", GET, 0, BYTES(KJOULE_A_SESSION_ID, 0), true, EINVAL, MUST_TELL },
	{ "session missing in stats", STATS, DUMP, BYTES(KJOULE_A_STATS_SESSION, 0), true, EINVAL,
	  0 },
	{ "session missing in stats in all", STATS, 0, BYTES(KJOULE_A_STATS_SESSION, 0), true,
	  EINVAL, MUST_TELL },
	{ "session missing in records", RECORDS, DUMP, BYTES(KJOULE_A_RECORDS_SESSION, 0), true,
	  EINVAL, 0 },
	{ "id missing in source-get", SOURCE, 0, BYTES(KJOULE_A_SOURCE_ID, 0), true, EINVAL,
	  MUST_TELL },

	/* out of range */
	{ "interval 0", NEW, 0, U64(KJOULE_A_SESSION_INTERVAL_NS, 0), false, ERANGE, MUST_TELL },
	{ "interval below 10 us", NEW, 0, U64(KJOULE_A_SESSION_INTERVAL_NS, 9999), false, ERANGE,
	  MUST_TELL },
	{ "interval above 4 s", NEW, 0, U64(KJOULE_A_SESSION_INTERVAL_NS, 4000000001), false,
	  ERANGE, MUST_TELL },
	{ "interval of 2^64 - 1", NEW, 0, U64(KJOULE_A_SESSION_INTERVAL_NS, UINT64_MAX), false,
	  ERANGE, MUST_TELL },
	{ "jitter equal to the interval", NEW, 0, U64(KJOULE_A_SESSION_JITTER_NS, 1000000), false,
	  EINVAL, MUST_TELL },
	{ "jitter of 2^64 - 1", NEW, 0, U64(KJOULE_A_SESSION_JITTER_NS, UINT64_MAX), false, EINVAL,
	  MUST_TELL },
	{ "target 4", NEW, 0, U32(KJOULE_A_SESSION_TARGET, 4), false, ERANGE, MUST_TELL },
	{ "target thread without an id", NEW, 0, U32(KJOULE_A_SESSION_TARGET, KJOULE_TARGET_THREAD),
	  false, EINVAL, MUST_TELL },
	{ "target cgroup without a descriptor", NEW, 0,
	  U32(KJOULE_A_SESSION_TARGET, KJOULE_TARGET_CGROUP), false, EINVAL, MUST_TELL },
	{ "a cgroup's descriptor with target system", NEW, 0, U32(KJOULE_A_SESSION_CGROUP_FD, 0),
	  false, EINVAL, MUST_TELL },
	{ "inherit with target system", NEW, 0, U64(KJOULE_A_SESSION_FLAGS, KJOULE_FLAG_INHERIT),
	  false, EINVAL, MUST_TELL },
	{ "target 2^32 - 1", NEW, 0, U32(KJOULE_A_SESSION_TARGET, UINT32_MAX), false, ERANGE,
	  MUST_TELL },
	{ "pid 0 with target process", NEW, 0, U32(KJOULE_A_SESSION_PID, 0), false, EINVAL,
	  MUST_TELL | OF_PROCESS },
	{ "a pid with target system", NEW, 0, U32(KJOULE_A_SESSION_PID, 1), false, EINVAL,
	  MUST_TELL },
	{ "pid 2^32 - 1", NEW, 0, U32(KJOULE_A_SESSION_PID, UINT32_MAX), false, ESRCH,
	  MUST_TELL | OF_PROCESS },
	{ "pid 2^31", NEW, 0, U32(KJOULE_A_SESSION_PID, 1U << 31), false, ESRCH,
	  MUST_TELL | OF_PROCESS },
	{ "pid beyond pid_max", NEW, 0, U32(KJOULE_A_SESSION_PID, 1 << 30), false, ESRCH,
	  MUST_TELL | OF_PROCESS },
	{ "ring of 2 KiB", NEW, 0, U32(KJOULE_A_SESSION_RING_BYTES, 2048), false, EINVAL,
	  MUST_TELL },
	{ "ring of 65528 bytes", NEW, 0, U32(KJOULE_A_SESSION_RING_BYTES, 65528), false, EINVAL,
	  MUST_TELL },
	{ "ring of 512 MiB", NEW, 0, U32(KJOULE_A_SESSION_RING_BYTES, 512 << 20), false, EINVAL,
	  MUST_TELL },
	{ "ring of 2^31 bytes", NEW, 0, U32(KJOULE_A_SESSION_RING_BYTES, 1U << 31), false, EINVAL,
	  MUST_TELL },
	{ "wake-up mark beyond the ring", NEW, 0, U32(KJOULE_A_SESSION_WAKEUP_BYTES, 65537), false,
	  EINVAL, MUST_TELL },
	{ "wake-up mark beyond the default ring", NEW, 0,
	  U32(KJOULE_A_SESSION_WAKEUP_BYTES, UINT32_MAX), false, EINVAL, MUST_TELL },
	{ "a CPU mask of no bytes", NEW, 0, BYTES(KJOULE_A_SESSION_CPUS, 0), false, EINVAL,
	  MUST_TELL },
	{ "a CPU mask without a CPU", NEW, 0, BYTES(KJOULE_A_SESSION_CPUS, 8), false, EINVAL,
	  MUST_TELL },
	{ "a CPU mask of 1025 bytes", NEW, 0, BYTES(KJOULE_A_SESSION_CPUS, 1025), false, ERANGE,
	  MUST_TELL },
	{ "CPU 8000", NEW, 0, { KJOULE_A_SESSION_CPUS, sizeof(far_cpu), far_cpu }, false, EINVAL,
	  MUST_TELL },
	{ "flag 32", NEW, 0, U64(KJOULE_A_SESSION_FLAGS, 32), false, EINVAL, MUST_TELL },
	{ "flag 2^63", NEW, 0, U64(KJOULE_A_SESSION_FLAGS, 1ULL << 63), false, EINVAL, MUST_TELL },

	/* names */
	{ "energy source of no bytes", NEW, 0, NOTHING(KJOULE_A_SESSION_ENERGY_SOURCE), false,
	  EINVAL, MUST_TELL },
	{ "energy source without its zero", NEW, 0,
	  { KJOULE_A_SESSION_ENERGY_SOURCE, 4, "rapl-msr" }, false, EINVAL, MUST_TELL },
	{ "energy source of 32 letters", NEW, 0,
	  TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "abcdefghijklmnopqrstuvwxyzabcdef"), false, EINVAL,
	  MUST_TELL },
	{ "energy source that goes on for 100 bytes", NEW, 0,
	  BYTES(KJOULE_A_SESSION_ENERGY_SOURCE, 100), false, ERANGE, MUST_TELL },
	{ "unknown energy source", NEW, 0, TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "nonsense"), false,
	  ENOENT, MUST_TELL },
	{ "the beginning of a name as energy source", NEW, 0,
	  TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "rapl"), false, ENOENT, MUST_TELL },
	{ "frequency source of no bytes", NEW, 0, NOTHING(KJOULE_A_SESSION_FREQUENCY_SOURCE), false,
	  EINVAL, MUST_TELL },
	{ "frequency source without its zero", NEW, 0,
	  { KJOULE_A_SESSION_FREQUENCY_SOURCE, 5, "aperf" }, false, EINVAL, MUST_TELL },
	{ "frequency source of 32 letters", NEW, 0,
	  TEXT(KJOULE_A_SESSION_FREQUENCY_SOURCE, "abcdefghijklmnopqrstuvwxyzabcdef"), false,
	  EINVAL, MUST_TELL },
	{ "frequency source that goes on for 100 bytes", NEW, 0,
	  BYTES(KJOULE_A_SESSION_FREQUENCY_SOURCE, 100), false, ERANGE, MUST_TELL },
	{ "unknown frequency source", NEW, 0, TEXT(KJOULE_A_SESSION_FREQUENCY_SOURCE, "nonsense"),
	  false, ENOENT, MUST_TELL },
	{ "frequency source as energy source", NEW, 0,
	  TEXT(KJOULE_A_SESSION_ENERGY_SOURCE, "aperf"), false, ENOENT, MUST_TELL },
	{ "energy source as frequency source", NEW, 0,
	  TEXT(KJOULE_A_SESSION_FREQUENCY_SOURCE, "rapl-msr"), false, ENOENT, MUST_TELL },

	/* ids */
	{ "session 0 in start", START, 0, U32(KJOULE_A_SESSION_ID, 0), false, ENOENT, MUST_TELL },
	{ "session 2^32 - 1 in start", START, 0, U32(KJOULE_A_SESSION_ID, UINT32_MAX), false,
	  ENOENT, MUST_TELL },
	{ "session 0 in stop", STOP, 0, U32(KJOULE_A_SESSION_ID, 0), false, ENOENT, MUST_TELL },
	{ "session 2^32 - 1 in stop", STOP, 0, U32(KJOULE_A_SESSION_ID, UINT32_MAX), false, ENOENT,
	  MUST_TELL },
	{ "session 0 in del", DEL, 0, U32(KJOULE_A_SESSION_ID, 0), false, ENOENT, MUST_TELL },
	{ "session 2^32 - 1 in del", DEL, 0, U32(KJOULE_A_SESSION_ID, UINT32_MAX), false, ENOENT,
	  MUST_TELL },
	{ "session 0 in get", GET, 0, U32(KJOULE_A_SESSION_ID, 0), false, ENOENT, MUST_TELL },
	{ "session 2^32 - 1 in get", GET, 0, U32(KJOULE_A_SESSION_ID, UINT32_MAX), false, ENOENT,
	  MUST_TELL },
	{ "session 0 in stats", STATS, DUMP, U32(KJOULE_A_STATS_SESSION, 0), false, ENOENT, 0 },
	{ "session 2^32 - 1 in stats", STATS, DUMP, U32(KJOULE_A_STATS_SESSION, UINT32_MAX), false,
	  ENOENT, 0 },
	{ "session 0 in stats in all", STATS, 0, U32(KJOULE_A_STATS_SESSION, 0), false, ENOENT,
	  MUST_TELL },
	{ "session 0 in records", RECORDS, DUMP, U32(KJOULE_A_RECORDS_SESSION, 0), false, ENOENT,
	  0 },
	{ "session 2^32 - 1 in records", RECORDS, DUMP, U32(KJOULE_A_RECORDS_SESSION, UINT32_MAX),
	  false, ENOENT, 0 },
	{ "source 0", SOURCE, 0, U32(KJOULE_A_SOURCE_ID, 0), false, ENOENT, MUST_TELL },
	{ "source 2^32 - 1", SOURCE, 0, U32(KJOULE_A_SOURCE_ID, UINT32_MAX), false, ENOENT,
	  MUST_TELL },

	/* the wrong kind of call */
	{ "session-new as a dump", NEW, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "start as a dump", START, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "stop as a dump", STOP, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "del as a dump", DEL, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "records not as a dump", RECORDS, 0, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "listen as a dump", LISTEN, DUMP, NOTHING(0), true, EOPNOTSUPP, 0 },
	{ "a notice asked for", KJOULE_CMD_NOTICE, 0, NOTHING(0), true, EOPNOTSUPP, 0 },
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
	static const struct {
		const char *name;
		uint8_t cmd;
		uint16_t flags;
		unsigned int from, to;
	} takes[] = {
		{ "session-new", NEW, 0, KJOULE_A_SESSION_STATE, KJOULE_A_SESSION_SOURCE_INFO },
		{ "session-new", NEW, 0, KJOULE_A_SESSION_CHILDREN,
		  KJOULE_A_SESSION_CHILDREN_LOST },
		{ "session-new", NEW, 0, KJOULE_A_SESSION_EDGE_WINDOWS,
		  KJOULE_A_SESSION_EDGE_PAUSED_MAX_NS },
		{ "session-new", NEW, 0, KJOULE_A_SESSION_VPM_READY_NS, KJOULE_A_SESSION_MAX + 1 },
		{ "start", START, 0, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "stop", STOP, 0, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "del", DEL, 0, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "session-get", GET, 0, KJOULE_A_SESSION_ID + 1, KJOULE_A_SESSION_MAX + 1 },
		{ "session-get dump", GET, DUMP, KJOULE_A_SESSION_ID + 1,
		  KJOULE_A_SESSION_MAX + 1 },
		{ "stats-get", STATS, DUMP, KJOULE_A_STATS_SESSION + 1, KJOULE_A_STATS_MAX + 1 },
		{ "records-get", RECORDS, DUMP, KJOULE_A_RECORDS_SESSION + 1,
		  KJOULE_A_RECORDS_MAX + 1 },
		{ "notice-listen", LISTEN, 0, 1, KJOULE_A_NOTICE_MAX + 1 },
		{ "source-get", SOURCE, 0, KJOULE_A_SOURCE_ID + 1, KJOULE_A_SOURCE_MAX + 1 },
		{ "source-get dump", SOURCE, DUMP, KJOULE_A_SOURCE_ID + 1,
		  KJOULE_A_SOURCE_MAX + 1 },
	};
	unsigned int i, type;
	char what[128];

	refuse(&(struct refusal){ "session-new with an id", NEW, 0, U32(KJOULE_A_SESSION_ID, 7),
				  false, EINVAL, MUST_TELL });
	for (i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		for (type = takes[i].from; type <= takes[i].to; type++) {
			snprintf(what, sizeof(what), "%s with attribute %u", takes[i].name, type);
			refuse(&(struct refusal){ what, takes[i].cmd, takes[i].flags,
						  BYTES(type, 4), false, EINVAL, MUST_TELL });
		}
		snprintf(what, sizeof(what), "%s with attribute 1000", takes[i].name);
		refuse(&(struct refusal){ what, takes[i].cmd, takes[i].flags, BYTES(1000, 4), false,
					  EINVAL, MUST_TELL });
		snprintf(what, sizeof(what), "%s with attribute 0", takes[i].name);
		refuse(&(struct refusal){ what, takes[i].cmd, takes[i].flags, BYTES(0, 4), false,
					  EINVAL, MUST_TELL });
	}
}

/* Headers that are wrong around valid attributes. */
static void check_headers(void)
{
	static const uint8_t cmds[] =
		{ NEW, START, STOP, DEL, GET, STATS, SOURCE, RECORDS, LISTEN };
	struct nlmsghdr *request;
	int sessions = session_count(), got;
	struct genlmsghdr *genl;
	struct nlattr *last;
	char what[64];
	unsigned int i;

	for (i = 0; i < sizeof(cmds); i++) {
		struct refusal r = { .cmd = cmds[i], .flags = cmds[i] == RECORDS ? DUMP : 0 };

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

int main(void)
{
	struct nl_session s;
	unsigned int i;

	if (!refusals_begin(&(struct nl_config){ .interval_ns = 1000000 }, &s))
		return ktap_end();
	check_sizes();
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		refuse(&refusals[i]);
	check_foreign();
	check_headers();
	return refusals_end();
}
