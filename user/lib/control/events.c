// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Notices about sessions, and records by netlink, without mapped rings. Messages are exchanged by
 * session.c and decoded in netlink.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include "lib/control/ctl.h"
#include "lib/control/netlink.h"

struct kjoule_events {
	struct kjoule_ctl *ctl;		/* of its own: no answer comes between */
};

int kjoule_events_open(struct kjoule_events **out, struct kjoule_error *err)
{
	struct kjoule_events *ev = calloc(1, sizeof(*ev));
	int ret;

	*out = NULL;
	if (!ev)
		return kjoule_fail(err, ENOMEM, "no memory");
	ret = kjoule_ctl_open(&ev->ctl, err);
	if (!ret) {
		/* not the multicast group, which needs more than CAP_PERFMON */
		ret = kjoule_ctl_call(ev->ctl,
				      kjoule_ctl_message(ev->ctl, KJOULE_CMD_NOTICE_LISTEN, 0),
				      NULL, NULL, "listen to notices", err);
	}
	if (ret) {
		kjoule_events_close(ev);
		return ret;
	}
	*out = ev;
	return 0;
}

void kjoule_events_close(struct kjoule_events *ev)
{
	if (!ev)
		return;
	kjoule_ctl_close(ev->ctl);
	free(ev);
}

int kjoule_events_fd(const struct kjoule_events *ev)
{
	return nl_socket_get_fd(kjoule_ctl_socket(ev->ctl, NULL));
}

int kjoule_events_next(struct kjoule_events *ev, struct kjoule_notice *notice,
		       struct kjoule_error *err)
{
	char buf[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	struct genlmsghdr *gnlh;
	int family, ret;
	ssize_t n;

	kjoule_ctl_socket(ev->ctl, &family);
	for (;;) {
		n = recv(kjoule_events_fd(ev), buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno == ENOBUFS)
			return kjoule_fail(err, ENOBUFS, "notices came faster than they were read: some were dropped");
		if (n < 0)
			return kjoule_fail(err, errno, "notices: %s", strerror(errno));
		if (!nlmsg_ok(nlh, n) || nlh->nlmsg_type != family || !genlmsg_valid_hdr(nlh, 0))
			continue;
		gnlh = nlmsg_data(nlh);
		if (gnlh->cmd != KJOULE_CMD_NOTICE)
			continue;
		memset(notice, 0, sizeof(*notice));
		ret = kjoule_parse_notice(genlmsg_attrdata(gnlh, 0),
					  genlmsg_attrlen(gnlh, 0), notice);
		if (ret)
			return kjoule_fail(err, -ret, "a notice makes no sense");
		return 1;
	}
}

const char *kjoule_event_name(uint32_t event)
{
	static const char *const names[] = { KJOULE_NOTICE_EVENT_NAMES };

	return event < sizeof(names) / sizeof(names[0]) ? names[event] : "unknown";
}

/* Where records of a dump go. */
struct taker {
	kjoule_records_fn *take;
	void *arg;
};

static int message_take_records(struct nlattr *attrs, int len, void *arg)
{
	const struct taker *taker = arg;
	struct kjoule_records records = { .data = NULL };
	void *copy;
	int ret = kjoule_parse_records(attrs, len, &records);

	if (ret || !records.len)
		return ret;
	/* attributes are aligned to 4 bytes, records to 8 */
	copy = malloc(records.len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, records.data, records.len);
	ret = taker->take(records.cpu, copy, records.len, taker->arg);
	free(copy);
	return ret;
}

int kjoule_session_records(struct kjoule_ctl *ctl, uint32_t id, kjoule_records_fn *take, void *arg,
			   struct kjoule_error *err)
{
	struct taker taker = { .take = take, .arg = arg };
	struct nl_msg *msg = kjoule_ctl_message(ctl, KJOULE_CMD_RECORDS_GET, NLM_F_DUMP);

	if (msg && nla_put_u32(msg, KJOULE_A_RECORDS_SESSION, id)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return kjoule_ctl_call(ctl, msg, message_take_records, &taker, "take the session's records",
			       err);
}
