// SPDX-License-Identifier: GPL-2.0-or-later
/* Sources, sessions and their counters over generic netlink; netlink.c decodes attributes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include "lib/base/error.h"
#include "lib/control/control.h"
#include "lib/control/ctl.h"
#include "lib/control/netlink.h"

#define SPEC_NAME_LEN	32	/* as the module takes it */

struct kjoule_ctl {
	struct nl_sock *sock;
	int family;
};

/* A request and its answer. */
struct call {
	int (*parse)(struct nlattr *attrs, int len, void *arg);
	void *arg;
	int done;
	int error;		/* -errno */
	char text[256];		/* the kernel's message, if any */
};

static int message_on_valid(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *gnlh = nlmsg_data(nlmsg_hdr(msg));
	struct call *call = arg;

	if (call->parse && !call->error)
		call->error = call->parse(genlmsg_attrdata(gnlh, 0), genlmsg_attrlen(gnlh, 0),
					  call->arg);
	return NL_OK;
}

static int message_on_done(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;

	(void)msg;
	call->done = 1;
	return NL_STOP;
}

/* The extended acknowledgement follows the error, and the request if it was not cut off. */
static void message_read_ext_ack(const struct nlmsghdr *nlh, const struct nlmsgerr *e, char *text,
				 size_t len)
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

static int message_on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct call *call = arg;
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);

	(void)from;
	call->done = 1;
	call->error = e->error;
	message_read_ext_ack(nlh, e, call->text, sizeof(call->text));
	return NL_STOP;
}

static int call_send(struct kjoule_ctl *ctl, struct nl_msg *msg, struct call *call)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	if (!cb)
		return -ENOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, message_on_valid, call);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, message_on_done, call);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, message_on_done, call);
	nl_cb_err(cb, NL_CB_CUSTOM, message_on_error, call);
	ret = nl_send_auto(ctl->sock, msg);
	while (ret >= 0 && !call->done)
		ret = nl_recvmsgs(ctl->sock, cb);
	nl_cb_put(cb);
	if (call->error)
		return call->error;
	return ret < 0 ? -EIO : 0;
}

static struct nl_msg *message_new(struct kjoule_ctl *ctl, int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, ctl->family, 0, flags, cmd,
				KJOULE_FAMILY_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* The error, with what to do next. */
static int call_explain_error(struct kjoule_error *err, int ret, const char *what,
			      const struct call *call)
{
	const char *said = call->text[0] ? call->text : strerror(-ret);

	switch (ret) {
	case 0:
		return 0;
	case -EPERM:
	case -EACCES:
		return kjoule_refused(err, -ret, what, call->text[0] ? call->text : NULL,
				      KJOULE_LOCKDOWN);
	case -ESRCH:
		return kjoule_fail(err, ESRCH, "%s: %s; the process is gone, see `ps`", what, said);
	default:
		return kjoule_fail(err, -ret, "%s: %s", what, said);
	}
}

static int call_run(struct kjoule_ctl *ctl, struct nl_msg *msg, struct call *call, const char *what,
		    struct kjoule_error *err)
{
	int ret;

	if (!msg)
		return kjoule_fail(err, ENOMEM, "%s: no memory", what);
	ret = call_send(ctl, msg, call);
	nlmsg_free(msg);
	return call_explain_error(err, ret, what, call);
}

/* The device is visible by its node, but the family is not in every network namespace. */
static int family_explain_missing(struct kjoule_error *err)
{
	int fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	bool loaded = fd >= 0 || errno == EPERM;

	if (fd >= 0)
		close(fd);
	if (loaded)
		return kjoule_fail(err, ENODEV,
				   "%s is there, but not its control over netlink, which is in the initial network namespace only: run it there, for example with `sudo nsenter --target 1 --net kjoule ...`",
				   KJOULE_DEVICE);
	return kjoule_fail(err, ENODEV, "%s: no such device; load the module with `sudo modprobe kjoule`",
			   KJOULE_DEVICE);
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
	/* a message of records may be as long as that */
	nl_socket_set_msg_buf_size(ctl->sock, 1 << 16);
	setsockopt(nl_socket_get_fd(ctl->sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	ctl->family = genl_ctrl_resolve(ctl->sock, KJOULE_FAMILY_NAME);
	if (ctl->family < 0) {
		ret = family_explain_missing(err);
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

static int list_add_source(struct nlattr *attrs, int len, void *arg)
{
	struct kjoule_source_info *src = list_add(arg);

	return src ? kjoule_parse_source(attrs, len, src) : -ENOMEM;
}

static int list_add_stats(struct nlattr *attrs, int len, void *arg)
{
	struct kjoule_cpu_stats *stats = list_add(arg);

	return stats ? kjoule_parse_stats(attrs, len, stats) : -ENOMEM;
}

static int session_parse_attrs(struct nlattr *attrs, int len, void *arg)
{
	return arg ? kjoule_parse_session(attrs, len, arg) : 0;
}

int kjoule_sources(struct kjoule_ctl *ctl, struct kjoule_source_info **out, size_t *n,
		   struct kjoule_error *err)
{
	struct list list = { .size = sizeof(**out) };
	struct call call = { .parse = list_add_source, .arg = &list };
	int ret = call_run(ctl, message_new(ctl, KJOULE_CMD_SOURCE_GET, NLM_F_DUMP), &call,
			   "list the sources", err);

	if (ret) {
		free(list.items);
		return ret;
	}
	*out = list.items;
	*n = list.n;
	return 0;
}

static int message_put_spec(struct nl_msg *msg, const struct kjoule_source_spec *spec)
{
	struct nlattr *nest = nla_nest_start(msg, KJOULE_A_SESSION_SOURCE);
	char name[SPEC_NAME_LEN];
	int ret = nest ? 0 : -NLE_NOMEM;

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, spec->name);
	if (!ret)
		ret = nla_put_u32(msg, KJOULE_A_SPEC_ORIGIN, spec->origin);
	if (!ret)
		ret = nla_put_string(msg, KJOULE_A_SPEC_NAME, name);
	if (!ret && spec->period_ns)
		ret = nla_put_u64(msg, KJOULE_A_SPEC_PERIOD_NS, spec->period_ns);
	if (!ret && spec->origin == KJOULE_ORIGIN_REGISTERED)
		return nla_nest_end(msg, nest);
	if (!ret)
		ret = nla_put_u32(msg, KJOULE_A_SPEC_CLASS, spec->class);
	if (!ret)
		ret = nla_put_u32(msg, KJOULE_A_SPEC_QUANTITY, spec->quantity);
	if (!ret && spec->unit_mult) {
		ret = nla_put_u64(msg, KJOULE_A_SPEC_UNIT_MULT, spec->unit_mult);
		if (!ret)
			ret = nla_put_u32(msg, KJOULE_A_SPEC_UNIT_SHIFT, spec->unit_shift);
	}
	if (!ret && spec->range)
		ret = nla_put_u64(msg, KJOULE_A_SPEC_RANGE, spec->range);
	if (!ret && spec->origin == KJOULE_ORIGIN_VALUE_FILE)
		ret = nla_put_u32(msg, KJOULE_A_SPEC_FD, spec->fd);
	if (!ret && spec->origin == KJOULE_ORIGIN_PERF_PMU) {
		ret = nla_put_u32(msg, KJOULE_A_SPEC_PERF_TYPE, spec->perf_type);
		if (!ret)
			ret = nla_put_u64(msg, KJOULE_A_SPEC_PERF_CONFIG, spec->perf_config);
	}
	return ret ? ret : nla_nest_end(msg, nest);
}

static int message_put_params(struct nl_msg *msg, const struct kjoule_session_params *p)
{
	int ret = nla_put_u64(msg, KJOULE_A_SESSION_INTERVAL_NS, p->interval_ns);

	if (!ret && p->jitter_ns)
		ret = nla_put_u64(msg, KJOULE_A_SESSION_JITTER_NS, p->jitter_ns);
	if (!ret)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_TARGET, p->target);
	if (!ret && (p->target == KJOULE_TARGET_PROCESS || p->target == KJOULE_TARGET_THREAD))
		ret = nla_put_u32(msg, KJOULE_A_SESSION_PID, p->pid);
	if (!ret && p->target == KJOULE_TARGET_CGROUP)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_CGROUP_FD, p->cgroup_fd);
	if (!ret && p->flags)
		ret = nla_put_u64(msg, KJOULE_A_SESSION_FLAGS, p->flags);
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
	if (!ret && p->chain_depth)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_CHAIN_DEPTH, p->chain_depth);
	if (!ret && p->stack_bytes)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_STACK_BYTES, p->stack_bytes);
	if (!ret && p->edge_duty)
		ret = nla_put_u32(msg, KJOULE_A_SESSION_EDGE_DUTY, p->edge_duty);
	if (!ret && p->vpm)
		ret = nla_put_u64(msg, KJOULE_A_SESSION_VPM_INTERVAL_NS, p->vpm_interval_ns);
	if (!ret && p->vpm && p->vpm_source)
		ret = nla_put_string(msg, KJOULE_A_SESSION_VPM_SOURCE, p->vpm_source);
	for (size_t i = 0; i < p->n_specs && !ret; i++)
		ret = message_put_spec(msg, &p->specs[i]);
	return ret;
}

/* Drop the results of a refused call. */
static int call_run_for_info(struct kjoule_ctl *ctl, struct nl_msg *msg, struct call *call,
			     const char *what, struct kjoule_session_info *info,
			     struct kjoule_error *err)
{
	int ret = call_run(ctl, msg, call, what, err);

	if (ret && info)
		kjoule_session_info_clear(info);
	return ret;
}

static int session_make(struct kjoule_ctl *ctl, const struct kjoule_session_params *params,
			const char *what, struct kjoule_session_info *info,
			struct kjoule_error *err)
{
	struct call call = { .parse = session_parse_attrs, .arg = info };
	struct nl_msg *msg = message_new(ctl, KJOULE_CMD_SESSION_NEW, 0);
	int ret;

	memset(info, 0, sizeof(*info));
	if (msg && message_put_params(msg, params)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	ret = call_run_for_info(ctl, msg, &call, what, info, err);
	/* the kernel has room for the figures alone */
	if (ret == -EUSERS && call.text[0])
		kjoule_fail(err, EUSERS, "%s: %s; see 'kjoule list --sessions'", what, call.text);
	return ret;
}

int kjoule_session_new(struct kjoule_ctl *ctl, const struct kjoule_session_params *params,
		       struct kjoule_session_info *info, struct kjoule_error *err)
{
	return session_make(ctl, params, "make a session", info, err);
}

static int session_call(struct kjoule_ctl *ctl, int cmd, uint32_t id, const char *what,
			struct kjoule_session_info *info, struct kjoule_error *err)
{
	struct call call = { .parse = session_parse_attrs, .arg = info };
	struct nl_msg *msg = message_new(ctl, cmd, 0);

	if (info)
		memset(info, 0, sizeof(*info));
	if (msg && nla_put_u32(msg, KJOULE_A_SESSION_ID, id)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return call_run_for_info(ctl, msg, &call, what, info, err);
}

int kjoule_session_try(const struct kjoule_session_params *params, const char *what,
		       struct kjoule_error *err)
{
	struct kjoule_session_info info = { .n_sources = 0 };
	struct kjoule_ctl *ctl;
	int ret = kjoule_ctl_open(&ctl, err);

	if (ret)
		return ret;
	ret = session_make(ctl, params, what, &info, err);
	/* not only by closing the socket, which may leave the end to a work item */
	if (!ret)
		kjoule_session_del(ctl, info.id, NULL);
	kjoule_session_info_clear(&info);
	kjoule_ctl_close(ctl);
	return ret;
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

int kjoule_session_del(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_error *err)
{
	return session_call(ctl, KJOULE_CMD_SESSION_DEL, id, "end the session", NULL, err);
}

static int block_parse_attr(struct nlattr *attrs, int len, void *arg)
{
	struct nlattr *a = nla_find(attrs, len, KJOULE_A_SESSION_BLOCK);

	if (!a || nla_len(a) < (int)sizeof(uint32_t))
		return -EBADMSG;
	*(uint32_t *)arg = nla_get_u32(a);
	return 0;
}

int kjoule_session_block(struct kjoule_ctl *ctl, uint32_t id, const struct kjoule_vpm_place *place,
			 uint32_t *number, struct kjoule_error *err)
{
	struct call call = { .parse = block_parse_attr, .arg = number };
	struct nl_msg *msg = message_new(ctl, KJOULE_CMD_SESSION_BLOCK, 0);

	if (msg && (nla_put_u32(msg, KJOULE_A_SESSION_ID, id) ||
		    nla_put_u32(msg, KJOULE_A_SESSION_BLOCK_PID, place->pid) ||
		    nla_put_u64(msg, KJOULE_A_SESSION_BLOCK_START, place->start) ||
		    nla_put_u64(msg, KJOULE_A_SESSION_BLOCK_NEXT, place->next) ||
		    (place->end && nla_put_u64(msg, KJOULE_A_SESSION_BLOCK_END, place->end)))) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return call_run(ctl, msg, &call, "have readings of a block", err);
}

int kjoule_stats(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_cpu_stats **out, size_t *n,
		 struct kjoule_error *err)
{
	struct list list = { .size = sizeof(**out) };
	struct call call = { .parse = list_add_stats, .arg = &list };
	struct nl_msg *msg = message_new(ctl, KJOULE_CMD_STATS_GET, NLM_F_DUMP);
	int ret;

	if (msg && nla_put_u32(msg, KJOULE_A_STATS_SESSION, id)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	ret = call_run(ctl, msg, &call, "read the counters", err);
	if (ret) {
		free(list.items);
		return ret;
	}
	*out = list.items;
	*n = list.n;
	return 0;
}

static int stats_parse_attrs(struct nlattr *attrs, int len, void *arg)
{
	return kjoule_parse_stats(attrs, len, arg);
}

int kjoule_stats_total(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_cpu_stats *stats,
		       struct kjoule_error *err)
{
	struct call call = { .parse = stats_parse_attrs, .arg = stats };
	struct nl_msg *msg = message_new(ctl, KJOULE_CMD_STATS_GET, 0);

	memset(stats, 0, sizeof(*stats));
	if (msg && nla_put_u32(msg, KJOULE_A_STATS_SESSION, id)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return call_run(ctl, msg, &call, "read the session's counters", err);
}

static int list_add_session(struct nlattr *attrs, int len, void *arg)
{
	struct kjoule_session_info *info = list_add(arg);

	return info ? kjoule_parse_session(attrs, len, info) : -ENOMEM;
}

int kjoule_sessions(struct kjoule_ctl *ctl, struct kjoule_session_info **out, size_t *n,
		    struct kjoule_error *err)
{
	struct list list = { .size = sizeof(**out) };
	struct call call = { .parse = list_add_session, .arg = &list };
	int ret = call_run(ctl, message_new(ctl, KJOULE_CMD_SESSION_GET, NLM_F_DUMP), &call,
			   "list the sessions", err);

	if (ret) {
		free(list.items);
		return ret;
	}
	*out = list.items;
	*n = list.n;
	return 0;
}

/* For the other parts of the library */

struct nl_msg *kjoule_ctl_message(struct kjoule_ctl *ctl, int cmd, int flags)
{
	return message_new(ctl, cmd, flags);
}

int kjoule_ctl_call(struct kjoule_ctl *ctl, struct nl_msg *msg, kjoule_ctl_parse *parse, void *arg,
		    const char *what, struct kjoule_error *err)
{
	struct call call = { .parse = parse, .arg = arg };

	return call_run(ctl, msg, &call, what, err);
}

struct nl_sock *kjoule_ctl_socket(struct kjoule_ctl *ctl, int *family)
{
	if (family)
		*family = ctl->family;
	return ctl->sock;
}
