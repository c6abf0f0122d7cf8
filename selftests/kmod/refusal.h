/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that are refused for one fault each: the valid input that a fault is put into,
 * and what has to hold afterwards. The valid input is accepted first and last, so that a refusal
 * is due to its fault. Included once, by a test of netlink, as stats.h is.
 */
#ifndef KJOULE_SELFTESTS_REFUSAL_H
#define KJOULE_SELFTESTS_REFUSAL_H

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "../ktap.h"
#include "guest.h"
#include "need.h"
#include "nl.h"

#define NEW	KJOULE_CMD_SESSION_NEW
#define START	KJOULE_CMD_SESSION_START
#define STOP	KJOULE_CMD_SESSION_STOP
#define DEL	KJOULE_CMD_SESSION_DEL
#define GET	KJOULE_CMD_SESSION_GET
#define STATS	KJOULE_CMD_STATS_GET
#define SOURCE	KJOULE_CMD_SOURCE_GET
#define RECORDS	KJOULE_CMD_RECORDS_GET
#define LISTEN	KJOULE_CMD_NOTICE_LISTEN
#define DUMP	NLM_F_DUMP

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

static inline unsigned int base_of(uint8_t cmd, uint16_t flags, unsigned int how,
				   struct attr *attrs)
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
	case KJOULE_CMD_RECORDS_GET:
		attrs[0] = (struct attr){ KJOULE_A_RECORDS_SESSION, 4, &mine };
		return 1;
	case KJOULE_CMD_NOTICE_LISTEN:
		return 0;
	case KJOULE_CMD_SOURCE_GET:
		attrs[0] = (struct attr){ KJOULE_A_SOURCE_ID, 4, &source };
		return (flags & NLM_F_DUMP) != NLM_F_DUMP;
	default:
		attrs[0] = (struct attr){ KJOULE_A_SESSION_ID, 4, &mine };
		return (flags & NLM_F_DUMP) != NLM_F_DUMP;
	}
}

static inline struct nlmsghdr *make_request(struct nl *from, const struct refusal *r)
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

static inline void take_id(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == KJOULE_A_SESSION_ID)
			*(uint32_t *)data = mnl_attr_get_u32(attr);
	}
}

/* Nothing was made, and the session that there was is what it was. */
static inline bool nothing_changed(int sessions)
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

static inline void check_outcome(struct nl *from, const char *what, int want, bool must_tell,
				 int got,
			  int sessions)
{
	char why[sizeof(from->why)];
	bool good = got == -want && (!must_tell || from->why[0]);

	memcpy(why, from->why, sizeof(why));
	good &= nothing_changed(sessions);
	if (!ktap_check(good, "%s: %s", what, strerrorname_np(want)))
		ktap_diag("got %s, \"%s\"", got ? strerrorname_np(-got) : "success", why);
}

static inline void refuse(const struct refusal *r)
{
	int sessions = session_count();
	uint32_t made = 0;
	int got = nl_talk(&nl, make_request(&nl, r), take_id, &made);

	check_outcome(&nl, r->what, r->want, r->how & MUST_TELL, got, sessions);
	if (!got && r->cmd == KJOULE_CMD_SESSION_NEW)
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, made, NULL);
}

/* The valid request of every command is accepted. */
static inline void check_accepted(const char *when)
{
	static const struct {
		const char *name;
		uint8_t cmd;
		uint16_t flags;
		unsigned int how;
	} valid[] = {
		{ "session-new of the system", KJOULE_CMD_SESSION_NEW, 0, 0 },
		{ "session-new of a process", KJOULE_CMD_SESSION_NEW, 0, OF_PROCESS },
		{ "session-get", KJOULE_CMD_SESSION_GET, 0, 0 },
		{ "session-get dump", KJOULE_CMD_SESSION_GET, NLM_F_DUMP, 0 },
		{ "stats-get", KJOULE_CMD_STATS_GET, 0, 0 },
		{ "stats-get dump", KJOULE_CMD_STATS_GET, NLM_F_DUMP, 0 },
		{ "records-get", KJOULE_CMD_RECORDS_GET, NLM_F_DUMP, 0 },
		{ "source-get", KJOULE_CMD_SOURCE_GET, 0, 0 },
		{ "source-get dump", KJOULE_CMD_SOURCE_GET, NLM_F_DUMP, 0 },
	};
	struct nl_session s;
	unsigned int i;
	uint32_t made;
	int got;

	for (i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
		struct refusal r =
			{ .cmd = valid[i].cmd, .flags = valid[i].flags, .how = valid[i].how };

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

/* A session that is there from now on, and is asked for in valid requests. */
static inline bool refusals_begin(const struct nl_config *c, struct nl_session *s)
{
	need_module();
	if (session_count() != 0 || nl_open(&nl) || nl_open(&other) || nl_session_new(&nl, c, s)) {
		ktap_not_ok("a family, a session, and no other one: %s", nl.why);
		return false;
	}
	mine = s->id;
	check_accepted("first");
	return true;
}

static inline int refusals_end(void)
{
	check_accepted("last");
	nl_close(&other);
	ktap_check_equal(1, session_count(), "closing another socket ends no session");
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "closing the socket ends its session");
	return ktap_end();
}

#endif
