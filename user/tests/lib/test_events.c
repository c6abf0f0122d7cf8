// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Notices and records by netlink: valid messages are decoded, others refused; and in a guest, with
 * the module, libkjoule gets both.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include "lib/base/error.h"
#include "lib/control/control.h"
#include "lib/control/netlink.h"
#include "lib/control/ring.h"
#include "tests/support/unit.h"

static struct nlattr *attrs(struct nl_msg *msg, int *len)
{
	*len = nlmsg_datalen(nlmsg_hdr(msg));
	return nlmsg_data(nlmsg_hdr(msg));
}

TEST(a_notice_is_understood)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct kjoule_notice n = { .event = 0 };
	struct nlattr *a;
	int len;

	nla_put_u32(msg, KJOULE_A_NOTICE_EVENT, KJOULE_EVENT_SOURCE_LOST);
	nla_put_u64(msg, KJOULE_A_NOTICE_TIME_NS, 1ULL << 40);
	nla_put_u32(msg, KJOULE_A_NOTICE_SESSION, 7);
	nla_put_u32(msg, KJOULE_A_NOTICE_CPU, 3);
	nla_put_string(msg, KJOULE_A_NOTICE_SOURCE, "vchip");
	nla_put_u64(msg, KJOULE_A_NOTICE_COUNT, 99);
	nla_put_u32(msg, KJOULE_A_NOTICE_MAX + 1, 1);	/* of a newer module */
	a = attrs(msg, &len);
	assert_int_equal(0, kjoule_parse_notice(a, len, &n));
	assert_int_equal(KJOULE_EVENT_SOURCE_LOST, n.event);
	assert_int_equal(1ULL << 40, n.time_ns);
	assert_int_equal(7, n.session);
	assert_int_equal(3, n.cpu);
	assert_string_equal("vchip", n.source);
	assert_int_equal(99, n.count);
	assert_string_equal("source-lost", kjoule_event_name(n.event));
	assert_string_equal("unknown", kjoule_event_name(1000));
	nlmsg_free(msg);
}

TEST(a_notice_without_a_cpu_is_of_none)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct kjoule_notice n = { .cpu = 5 };
	struct nlattr *a;
	int len;

	nla_put_u32(msg, KJOULE_A_NOTICE_EVENT, KJOULE_EVENT_SESSION_ENDED);
	a = attrs(msg, &len);
	assert_int_equal(0, kjoule_parse_notice(a, len, &n));
	assert_int_equal(-1, n.cpu);
	assert_string_equal("", n.source);
	assert_int_equal(UINT32_MAX, n.user);
	nla_put_u32(msg, KJOULE_A_NOTICE_USER, 0);
	a = attrs(msg, &len);
	assert_int_equal(0, kjoule_parse_notice(a, len, &n));
	assert_int_equal(0, n.user);
	nlmsg_free(msg);
}

TEST(lengths_that_are_wrong_are_refused)
{
	struct kjoule_records r = { .data = NULL };
	struct nl_msg *msg = nlmsg_alloc();
	struct kjoule_notice n;
	struct nlattr *a;
	int len;

	nla_put_u32(msg, KJOULE_A_NOTICE_COUNT, 1);
	a = attrs(msg, &len);
	assert_int_equal(-EBADMSG, kjoule_parse_notice(a, len, &n));
	nlmsg_free(msg);

	msg = nlmsg_alloc();
	nla_put(msg, KJOULE_A_RECORDS_DATA, 12, "twelve bytes");
	a = attrs(msg, &len);
	assert_int_equal(-EBADMSG, kjoule_parse_records(a, len, &r));
	nlmsg_free(msg);
}

TEST(a_source_has_flags_and_strings_of_any_length)
{
	struct kjoule_source_info src = { .rating = 1 };
	struct nl_msg *msg = nlmsg_alloc();
	char reason[1000];
	struct nlattr *a;
	int len;

	memset(reason, 'r', sizeof(reason));
	nla_put_u32(msg, KJOULE_A_SOURCE_RATING, (uint32_t)-3);
	nla_put_u32(msg, KJOULE_A_SOURCE_AVAILABLE, 256);
	nla_put(msg, KJOULE_A_SOURCE_REASON, sizeof(reason), reason);	/* no end, and too long */
	nla_put_u64(msg, KJOULE_A_SOURCE_READY_NS, 1ULL << 40);
	a = attrs(msg, &len);
	assert_int_equal(0, kjoule_parse_source(a, len, &src));
	assert_int_equal(-3, src.rating);
	assert_true(src.available);
	assert_false(src.is_default);
	assert_int_equal(sizeof(src.reason) - 1, strlen(src.reason));
	assert_int_equal(1ULL << 40, src.ready_ns);
	assert_string_equal("", src.name);
	nla_put_u64(msg, KJOULE_A_SOURCE_AVAILABLE, 1);
	a = attrs(msg, &len);
	assert_int_equal(-EBADMSG, kjoule_parse_source(a, len, &src));
	nlmsg_free(msg);
}

/* What came of a session's records. */
struct taken {
	unsigned int samples, records, broken, calls;
	int stop_after;
};

static int take(uint32_t cpu, const void *buf, size_t len, void *arg)
{
	const struct kjoule_record *rec;
	struct taken *t = arg;
	size_t off = 0;
	int ret;

	t->broken += cpu >= 1024 || (uintptr_t)buf % 8;
	while ((ret = kjoule_record_next(buf, len, &off, &rec)) > 0) {
		t->records += rec->type != KJOULE_RECORD_PAD;
		t->samples += rec->type == KJOULE_RECORD_SAMPLE;
	}
	t->broken += ret < 0;
	return ++t->calls == (unsigned int)t->stop_after ? -ECANCELED : 0;
}

/* Wait for the next notice of a session. */
static int next_notice(struct kjoule_events *ev, uint32_t session, struct kjoule_notice *n)
{
	struct pollfd p = { .fd = kjoule_events_fd(ev), .events = POLLIN };
	int ret;

	do {
		ret = kjoule_events_next(ev, n, NULL);
		if (!ret && poll(&p, 1, 2000) <= 0)
			return 0;
	} while (!ret || (ret == 1 && n->session != session));
	return ret;
}

static void the_module_s_notices_and_records_arrive(void **state)
{
	struct kjoule_session_params params = { .interval_ns = 1000000 };
	struct taken t = { 0 }, stopped = { .stop_after = 1 };
	struct kjoule_session_info info, *list;
	struct kjoule_cpu_stats stats;
	struct kjoule_events *ev;
	struct kjoule_notice n;
	struct kjoule_error err;
	struct kjoule_ctl *ctl;
	bool listed = false;
	size_t sessions;

	(void)state;
	assert_int_equal(0, kjoule_ctl_open(&ctl, &err));
	assert_int_equal(0, kjoule_events_open(&ev, &err));
	assert_int_equal(0, kjoule_events_next(ev, &n, &err));
	assert_int_equal(0, kjoule_session_new(ctl, &params, &info, &err));
	assert_int_equal(0, kjoule_session_start(ctl, info.id, &info, &err));
	assert_int_equal(1, next_notice(ev, info.id, &n));
	assert_int_equal(KJOULE_EVENT_SESSION_STARTED, n.event);
	usleep(300000);
	assert_int_equal(0, kjoule_session_records(ctl, info.id, take, &t, &err));
	assert_true(t.records && !t.broken);
	usleep(100000);
	assert_int_equal(-ECANCELED, kjoule_session_records(ctl, info.id, take, &stopped, &err));
	assert_int_equal(1, stopped.calls);
	assert_int_equal(0, kjoule_session_stop(ctl, info.id, &info, &err));
	assert_int_equal(0, kjoule_session_records(ctl, info.id, take, &t, &err));
	assert_int_equal(0, kjoule_stats_total(ctl, info.id, &stats, &err));
	assert_true(stats.due && stats.due == stats.produced + stats.missed + stats.parked);
	assert_true(stats.consumed >= t.records && stats.consumed == stats.records &&
		    !stats.waiting);
	assert_int_equal(0, kjoule_sessions(ctl, &list, &sessions, &err));
	while (sessions--)
		listed |= list[sessions].id == info.id &&
			  list[sessions].state == KJOULE_SESSION_STOPPED;
	assert_true(listed);
	free(list);
	assert_int_equal(0, kjoule_session_del(ctl, info.id, &err));
	do
		assert_int_equal(1, next_notice(ev, info.id, &n));
	while (n.event != KJOULE_EVENT_SESSION_ENDED);
	kjoule_events_close(ev);
	kjoule_ctl_close(ctl);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(the_module_s_notices_and_records_arrive),
	};

	/* selftests/cli/test_library.sh runs it in a guest */
	if (getenv("KJOULE_VM"))
		return cmocka_run_group_tests(live, NULL, NULL);
	return tests_run(NULL, NULL);
}
