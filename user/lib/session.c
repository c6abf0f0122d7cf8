// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Control of the module over generic netlink: sources, sessions and their books.
 * What the attributes mean is decoded in netlink.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include "kjoule.h"
#include "netlink.h"

struct kjoule_ctl {
	struct nl_sock *sock;
	int family;
};

/* One request and everything that comes back. */
struct call {
	int (*parse)(struct nlattr *attrs, int len, void *arg);
	void *arg;
	int done;
	int error;		/* -errno */
	char text[256];		/* the kernel's own words, if it had any */
};

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *gnlh = nlmsg_data(nlmsg_hdr(msg));
	struct call *call = arg;

	if (call->parse && !call->error)
		call->error = call->parse(genlmsg_attrdata(gnlh, 0), genlmsg_attrlen(gnlh, 0),
					  call->arg);
	return NL_OK;
}

static int on_done(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;

	(void)msg;
	call->done = 1;
	return NL_STOP;
}

/* The extended acknowledgement follows the error, and the request if it was not cut off. */
static void ext_ack(const struct nlmsghdr *nlh, const struct nlmsgerr *e, char *text, size_t len)
{
	size_t skip = sizeof(*e);
	struct nlattr *attr;
	int rest;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && e->msg.nlmsg_len > sizeof(e->msg))
		skip += NLMSG_ALIGN(e->msg.nlmsg_len - sizeof(e->msg));
	if (NLMSG_LENGTH(skip) > nlh->nlmsg_len)
		return;
	attr = (struct nlattr *)((char *)e + skip);
	rest = nlh->nlmsg_len - NLMSG_LENGTH(skip);
	while (nla_ok(attr, rest)) {
		if (nla_type(attr) == NLMSGERR_ATTR_MSG)
			nla_strlcpy(text, attr, len);
		attr = nla_next(attr, &rest);
	}
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct call *call = arg;
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);

	(void)from;
	call->done = 1;
	call->error = e->error;
	ext_ack(nlh, e, call->text, sizeof(call->text));
	return NL_STOP;
}

static int call_kernel(struct kjoule_ctl *ctl, struct nl_msg *msg, struct call *call)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	if (!cb)
		return -ENOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, call);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_done, call);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_done, call);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, call);
	ret = nl_send_auto(ctl->sock, msg);
	while (ret >= 0 && !call->done)
		ret = nl_recvmsgs(ctl->sock, cb);
	nl_cb_put(cb);
	if (call->error)
		return call->error;
	return ret < 0 ? -EIO : 0;
}

static struct nl_msg *new_message(struct kjoule_ctl *ctl, int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, ctl->family, 0, flags, cmd,
				KJOULE_FAMILY_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* What went wrong, in words that say what to do next. */
static int explain(struct kjoule_error *err, int ret, const char *what, const struct call *call)
{
	const char *said = call->text[0] ? call->text : strerror(-ret);

	switch (ret) {
	case 0:
		return 0;
	case -EPERM:
	case -EACCES:
		return kjoule_fail(err, -ret, "%s: %s; it needs CAP_PERFMON: run it with sudo",
				   what, said);
	case -ESRCH:
		return kjoule_fail(err, ESRCH, "%s: %s; the process is gone, see `ps`", what, said);
	default:
		return kjoule_fail(err, -ret, "%s: %s", what, said);
	}
}

static int run(struct kjoule_ctl *ctl, struct nl_msg *msg, struct call *call, const char *what,
	       struct kjoule_error *err)
{
	int ret;

	if (!msg)
		return kjoule_fail(err, ENOMEM, "%s: no memory", what);
	ret = call_kernel(ctl, msg, call);
	nlmsg_free(msg);
	return explain(err, ret, what, call);
}

int kjoule_ctl_open(struct kjoule_ctl **out, struct kjoule_error *err)
{
	struct kjoule_ctl *ctl = calloc(1, sizeof(*ctl));
	int on = 1, ret;

	*out = NULL;
	if (!ctl)
		return kjoule_fail(err, ENOMEM, "no memory");
	ctl->sock = nl_socket_alloc();
	if (!ctl->sock) {
		free(ctl);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	ret = genl_connect(ctl->sock);
	if (ret < 0) {
		ret = kjoule_fail(err, EIO, "generic netlink: %s", nl_geterror(ret));
		goto err_free;
	}
	nl_socket_set_buffer_size(ctl->sock, 1 << 20, 0);
	setsockopt(nl_socket_get_fd(ctl->sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	ctl->family = genl_ctrl_resolve(ctl->sock, KJOULE_FAMILY_NAME);
	if (ctl->family < 0) {
		ret = kjoule_fail(err, ENODEV, "%s: no such device; load the module with `sudo modprobe kjoule`",
				  KJOULE_DEVICE);
		goto err_free;
	}
	*out = ctl;
	return 0;

err_free:
	nl_socket_free(ctl->sock);
	free(ctl);
	return ret;
}

void kjoule_ctl_close(struct kjoule_ctl *ctl)
{
	if (!ctl)
		return;
	nl_socket_free(ctl->sock);
	free(ctl);
}

/* A growing array for what a dump brings. */
struct list {
	void *items;
	size_t n, size;
};

static void *list_add(struct list *list)
{
	void *items = realloc(list->items, (list->n + 1) * list->size);

	if (!items)
		return NULL;
	list->items = items;
	items = (char *)items + list->n++ * list->size;
	memset(items, 0, list->size);
	return items;
}

static int add_source(struct nlattr *attrs, int len, void *arg)
{
	struct kjoule_source_info *src = list_add(arg);

	return src ? kjoule_parse_source(attrs, len, src) : -ENOMEM;
}

static int add_stats(struct nlattr *attrs, int len, void *arg)
{
	struct kjoule_cpu_stats *stats = list_add(arg);

	return stats ? kjoule_parse_stats(attrs, len, stats) : -ENOMEM;
}

static int one_session(struct nlattr *attrs, int len, void *arg)
{
	return arg ? kjoule_parse_session(attrs, len, arg) : 0;
}

int kjoule_sources(struct kjoule_ctl *ctl, struct kjoule_source_info **out, size_t *n,
		   struct kjoule_error *err)
{
	struct list list = { .size = sizeof(**out) };
	struct call call = { .parse = add_source, .arg = &list };
	int ret = run(ctl, new_message(ctl, KJOULE_CMD_SOURCE_GET, NLM_F_DUMP), &call,
		      "list the sources", err);

	if (ret) {
		free(list.items);
		return ret;
	}
	*out = list.items;
	*n = list.n;
	return 0;
}

static int put_params(struct nl_msg *msg, const struct kjoule_session_params *p)
{
	int ret = nla_put_u64(msg, KJOULE_A_SESSION_INTERVAL_NS, p->interval_ns);

	if (!ret && p->jitter_ns)
		ret = nla_put_u64(msg, KJOULE_A_SESSION_JITTER_NS, p->jitter_ns);
	if (!ret)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_TARGET, p->target);
	if (!ret && p->target == KJOULE_TARGET_PROCESS)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_PID, p->pid);
	if (!ret && p->cpus) {
		size_t len = sizeof(p->cpus->bits);

		while (len > 1 && !p->cpus->bits[len - 1])
			len--;
		ret = nla_put(msg, KJOULE_A_SESSION_CPUS, len, p->cpus->bits);
	}
	if (!ret && p->ring_bytes)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_RING_BYTES, p->ring_bytes);
	if (!ret && p->wakeup_bytes)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_WAKEUP_BYTES, p->wakeup_bytes);
	if (!ret && p->energy_source)
		ret = nla_put_string(msg, KJOULE_A_SESSION_ENERGY_SOURCE, p->energy_source);
	if (!ret && p->frequency_source)
		ret = nla_put_string(msg, KJOULE_A_SESSION_FREQUENCY_SOURCE, p->frequency_source);
	return ret;
}

int kjoule_session_new(struct kjoule_ctl *ctl, const struct kjoule_session_params *params,
		       struct kjoule_session_info *info, struct kjoule_error *err)
{
	struct call call = { .parse = one_session, .arg = info };
	struct nl_msg *msg = new_message(ctl, KJOULE_CMD_SESSION_NEW, 0);

	memset(info, 0, sizeof(*info));
	if (msg && put_params(msg, params)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return run(ctl, msg, &call, "make a session", err);
}

static int session_call(struct kjoule_ctl *ctl, int cmd, uint32_t id, const char *what,
			struct kjoule_session_info *info, struct kjoule_error *err)
{
	struct call call = { .parse = one_session, .arg = info };
	struct nl_msg *msg = new_message(ctl, cmd, 0);

	if (info)
		memset(info, 0, sizeof(*info));
	if (msg && nla_put_u32(msg, KJOULE_A_SESSION_ID, id)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return run(ctl, msg, &call, what, err);
}

int kjoule_session_start(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_session_info *info,
			 struct kjoule_error *err)
{
	return session_call(ctl, KJOULE_CMD_SESSION_START, id, "start the session", info, err);
}

int kjoule_session_stop(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_session_info *info,
			struct kjoule_error *err)
{
	return session_call(ctl, KJOULE_CMD_SESSION_STOP, id, "stop the session", info, err);
}

int kjoule_session_get(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_session_info *info,
		       struct kjoule_error *err)
{
	return session_call(ctl, KJOULE_CMD_SESSION_GET, id, "ask for the session", info, err);
}

int kjoule_session_del(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_error *err)
{
	return session_call(ctl, KJOULE_CMD_SESSION_DEL, id, "end the session", NULL, err);
}

int kjoule_stats(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_cpu_stats **out, size_t *n,
		 struct kjoule_error *err)
{
	struct list list = { .size = sizeof(**out) };
	struct call call = { .parse = add_stats, .arg = &list };
	struct nl_msg *msg = new_message(ctl, KJOULE_CMD_STATS_GET, NLM_F_DUMP);
	int ret;

	if (msg && nla_put_u32(msg, KJOULE_A_STATS_SESSION, id)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	ret = run(ctl, msg, &call, "read the books", err);
	if (ret) {
		free(list.items);
		return ret;
	}
	*out = list.items;
	*n = list.n;
	return 0;
}
