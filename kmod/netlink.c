// SPDX-License-Identifier: GPL-2.0-only
/*
 * Front end for control: the generic netlink family. It turns messages into
 * calls of the core and back; the attribute policies and the table of
 * operations are generated from the family's specification (netlink_gen.c).
 *
 * A session's owner is the netlink port that made it. CAP_PERFMON is asked of
 * the sender in every operation, dumps included.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/security.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "frontend.h"
#include "netlink_gen.h"
#include "netlink_msg.h"
#include "session.h"

static int check_sender(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	int err;

	if (!netlink_capable(skb, CAP_PERFMON) && !netlink_capable(skb, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG(extack, "CAP_PERFMON is needed");
		return -EPERM;
	}
	err = security_locked_down(LOCKDOWN_PERF);
	if (err)
		NL_SET_ERR_MSG(extack, "the kernel is locked down");
	return err;
}

static void refuse(struct genl_info *info, const char *why)
{
	if (why && info->extack)
		info->extack->_msg = why;
}

static int missing(struct genl_info *info, const char *why)
{
	refuse(info, why);
	return -EINVAL;
}

static struct kjoule_msg_to to_sender(const struct genl_info *info)
{
	return (struct kjoule_msg_to){ .portid = info->snd_portid, .seq = info->snd_seq };
}

static struct kjoule_msg_to to_dumper(const struct netlink_callback *cb)
{
	return (struct kjoule_msg_to){
		.portid = NETLINK_CB(cb->skb).portid,
		.seq = cb->nlh->nlmsg_seq,
		.flags = NLM_F_MULTI,
	};
}

static int reply_session(struct genl_info *info, struct kjoule_session *s)
{
	struct kjoule_msg_to to = to_sender(info);
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	int err;

	if (!skb)
		return -ENOMEM;
	err = kjoule_msg_session(skb, &to, info->genlhdr->cmd, s);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	return genlmsg_reply(skb, info);
}

/* Sources */

struct source_walk {
	struct sk_buff *skb;
	struct kjoule_msg_to to;
	u32 id;		/* only this one, if not 0 */
	u32 after;	/* only those with a greater id */
	bool found;
};

static int visit_source(struct kjoule_source *src, int unavailable, const char *why,
			bool is_default, void *data)
{
	struct source_walk *w = data;
	int err;

	if (w->id ? src->id != w->id : src->id <= w->after)
		return 0;
	err = kjoule_msg_source(w->skb, &w->to, src, unavailable, why, is_default);
	if (err)
		return err;
	w->found = true;
	w->after = src->id;
	return 0;
}

/**
 * kjoule_source_get_doit() - KJOULE_CMD_SOURCE_GET of one source
 * @skb:	the request
 * @info:	its attributes
 *
 * Context: process.
 * Return: 0, -EINVAL without id, -ENOENT for an unknown one.
 */
int kjoule_source_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct source_walk w = { .to = to_sender(info) };
	int err;

	if (!info->attrs[KJOULE_A_SOURCE_ID])
		return missing(info, "source id is missing");
	w.id = nla_get_u32(info->attrs[KJOULE_A_SOURCE_ID]);
	w.skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!w.skb)
		return -ENOMEM;
	/* id 0 would mean all */
	err = w.id ? kjoule_source_for_each(visit_source, &w) : 0;
	if (!err && !w.found) {
		refuse(info, "there is no source with that id");
		err = -ENOENT;
	}
	if (err) {
		nlmsg_free(w.skb);
		return err;
	}
	return genlmsg_reply(w.skb, info);
}

static int refuse_dump(struct netlink_callback *cb, int err, const char *why)
{
	if (cb->extack)
		cb->extack->_msg = why;
	return err;
}

static int start_dump(struct netlink_callback *cb)
{
	return check_sender(cb->skb, cb->extack);
}

/**
 * kjoule_source_get_dump_start() - begin a dump of sources
 * @cb:	of the dump
 *
 * Context: process.
 * Return: 0, -EPERM, or -EINVAL when an id is given: a dump is of all.
 */
int kjoule_source_get_dump_start(struct netlink_callback *cb)
{
	int err = start_dump(cb);

	if (!err && kjoule_dump_attrs(cb)[KJOULE_A_SOURCE_ID])
		err = refuse_dump(cb, -EINVAL, "a dump is of all, without an id");
	return err;
}

/**
 * kjoule_source_get_dumpit() - dump the sources
 * @skb:	the answer
 * @cb:		of the dump; args[0] is the last id told
 *
 * Context: process.
 * Return: length, or 0 at the end.
 */
int kjoule_source_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct source_walk w = {
		.skb = skb,
		.to = to_dumper(cb),
		.after = cb->args[0],
	};
	int err = kjoule_source_for_each(visit_source, &w);

	cb->args[0] = w.after;
	return err && err != -EMSGSIZE ? err : skb->len;
}

/* Sessions */

/* Little endian bytes to a cpumask; -EINVAL if a CPU is named that can not be. */
static int get_cpus(const struct nlattr *attr, struct cpumask *mask)
{
	const u8 *bytes = nla_data(attr);
	int i;

	for (i = 0; i < nla_len(attr) * 8; i++) {
		if (!(bytes[i / 8] & 1 << i % 8))
			continue;
		if (i >= nr_cpu_ids)
			return -EINVAL;
		cpumask_set_cpu(i, mask);
	}
	return 0;
}

static const char *get_name(struct nlattr **attrs, int type)
{
	return attrs[type] ? nla_data(attrs[type]) : NULL;
}

static u32 get_u32(struct nlattr **attrs, int type)
{
	return attrs[type] ? nla_get_u32(attrs[type]) : 0;
}

static u64 get_u64(struct nlattr **attrs, int type)
{
	return attrs[type] ? nla_get_u64(attrs[type]) : 0;
}

/**
 * kjoule_session_new_doit() - KJOULE_CMD_SESSION_NEW
 * @skb:	the request
 * @info:	its attributes
 *
 * Context: process.
 * Return: 0 or -errno, see kjoule_session_create().
 */
int kjoule_session_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct kjoule_session_config config = {
		.interval_ns = get_u64(attrs, KJOULE_A_SESSION_INTERVAL_NS),
		.jitter_ns = get_u64(attrs, KJOULE_A_SESSION_JITTER_NS),
		.target = get_u32(attrs, KJOULE_A_SESSION_TARGET),
		.pid = get_u32(attrs, KJOULE_A_SESSION_PID),
		.ring_bytes = get_u32(attrs, KJOULE_A_SESSION_RING_BYTES),
		.wakeup_bytes = get_u32(attrs, KJOULE_A_SESSION_WAKEUP_BYTES),
		.energy = get_name(attrs, KJOULE_A_SESSION_ENERGY_SOURCE),
		.frequency = get_name(attrs, KJOULE_A_SESSION_FREQUENCY_SOURCE),
		.kernel_ip = netlink_capable(skb, CAP_PERFMON) || netlink_capable(skb, CAP_SYSLOG),
	};
	struct kjoule_session *s;
	const char *why = NULL;
	cpumask_var_t cpus;
	int err = 0;

	if (!attrs[KJOULE_A_SESSION_INTERVAL_NS])
		return missing(info, "interval is missing");
	if (get_u64(attrs, KJOULE_A_SESSION_FLAGS))
		return missing(info, "unknown flag");
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	if (attrs[KJOULE_A_SESSION_CPUS]) {
		err = get_cpus(attrs[KJOULE_A_SESSION_CPUS], cpus);
		config.cpus = cpus;
		if (err)
			why = "a CPU is named that does not exist";
	}
	if (!err) {
		s = kjoule_session_create(&config, info->snd_portid, &why);
		err = PTR_ERR_OR_ZERO(s);
	}
	free_cpumask_var(cpus);
	if (err) {
		refuse(info, why);
		return err;
	}
	err = reply_session(info, s);
	if (err)
		kjoule_session_end(s);
	kjoule_session_put(s);
	return err;
}

/* The session that a request names, with a reference; @own: it has to be the sender's. */
static struct kjoule_session *find_session(struct genl_info *info, bool own)
{
	struct kjoule_session *s;

	if (!info->attrs[KJOULE_A_SESSION_ID])
		return ERR_PTR(missing(info, "session id is missing"));
	s = kjoule_session_get(nla_get_u32(info->attrs[KJOULE_A_SESSION_ID]));
	if (!s) {
		refuse(info, "there is no session with that id");
		return ERR_PTR(-ENOENT);
	}
	if (own && s->owner != info->snd_portid) {
		kjoule_session_put(s);
		refuse(info, "the session belongs to another socket");
		return ERR_PTR(-EPERM);
	}
	return s;
}

static int change_session(struct genl_info *info,
			  int (*change)(struct kjoule_session *s, const char **why))
{
	struct kjoule_session *s = find_session(info, true);
	const char *why = NULL;
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = change(s, &why);
	refuse(info, why);
	if (!err)
		err = reply_session(info, s);
	kjoule_session_put(s);
	return err;
}

/**
 * kjoule_session_start_doit() - KJOULE_CMD_SESSION_START
 * @skb:	the request
 * @info:	its attributes
 *
 * Context: process.
 * Return: 0 or -errno, see kjoule_session_start().
 */
int kjoule_session_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_session(info, kjoule_session_start);
}

/**
 * kjoule_session_stop_doit() - KJOULE_CMD_SESSION_STOP
 * @skb:	the request
 * @info:	its attributes
 *
 * Context: process.
 * Return: 0 or -errno, see kjoule_session_stop().
 */
int kjoule_session_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_session(info, kjoule_session_stop);
}

/**
 * kjoule_session_del_doit() - KJOULE_CMD_SESSION_DEL
 * @skb:	the request
 * @info:	its attributes
 *
 * Context: process.
 * Return: 0, -EINVAL without id, -ENOENT for an unknown one, -EPERM for somebody else's.
 */
int kjoule_session_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_session *s = find_session(info, true);

	if (IS_ERR(s))
		return PTR_ERR(s);
	kjoule_session_end(s);
	kjoule_session_put(s);
	return 0;
}

/**
 * kjoule_session_get_doit() - KJOULE_CMD_SESSION_GET of one session
 * @skb:	the request
 * @info:	its attributes
 *
 * Context: process.
 * Return: 0, -EINVAL without id, -ENOENT for an unknown one.
 */
int kjoule_session_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_session *s = find_session(info, false);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = reply_session(info, s);
	kjoule_session_put(s);
	return err;
}

/**
 * kjoule_session_get_dump_start() - begin a dump of sessions
 * @cb:	of the dump
 *
 * Context: process.
 * Return: 0, -EPERM, or -EINVAL when an id is given: a dump is of all.
 */
int kjoule_session_get_dump_start(struct netlink_callback *cb)
{
	int err = start_dump(cb);

	if (!err && kjoule_dump_attrs(cb)[KJOULE_A_SESSION_ID])
		err = refuse_dump(cb, -EINVAL, "a dump is of all, without an id");
	return err;
}

/**
 * kjoule_session_get_dumpit() - dump the sessions
 * @skb:	the answer
 * @cb:		of the dump; args[0] is the id to go on with
 *
 * Context: process.
 * Return: length, or 0 at the end.
 */
int kjoule_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kjoule_msg_to to = to_dumper(cb);
	struct kjoule_session *s;

	while ((s = kjoule_session_get_next(cb->args[0]))) {
		int err = kjoule_msg_session(skb, &to, KJOULE_CMD_SESSION_GET, s);

		if (!err)
			cb->args[0] = s->id + 1;
		kjoule_session_put(s);
		if (err)
			break;
	}
	return skb->len;
}

/**
 * kjoule_stats_get_dump_start() - begin a dump of a session's books
 * @cb:	of the dump; args[0] becomes the session's id
 *
 * Context: process.
 * Return: 0, -EPERM, -EINVAL without session, -ENOENT for an unknown one.
 */
int kjoule_stats_get_dump_start(struct netlink_callback *cb)
{
	struct nlattr *attr = kjoule_dump_attrs(cb)[KJOULE_A_STATS_SESSION];
	struct kjoule_session *s;
	int err = start_dump(cb);

	if (err)
		return err;
	if (!attr)
		return refuse_dump(cb, -EINVAL, "session id is missing");
	s = kjoule_session_get(nla_get_u32(attr));
	if (!s)
		return refuse_dump(cb, -ENOENT, "there is no session with that id");
	cb->args[0] = s->id;
	kjoule_session_put(s);
	return 0;
}

/**
 * kjoule_stats_get_dumpit() - dump the books, a message for each CPU
 * @skb:	the answer
 * @cb:		of the dump; args[1] is the sampler to go on with
 *
 * Context: process.
 * Return: length, or 0 at the end.
 */
int kjoule_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kjoule_session *s = kjoule_session_get(cb->args[0]);
	struct kjoule_msg_to to = to_dumper(cb);

	if (!s)
		return 0;
	while (cb->args[1] < s->n && !kjoule_msg_stats(skb, &to, s, s->sampler[cb->args[1]]))
		cb->args[1]++;
	kjoule_session_put(s);
	return skb->len;
}

/* The family */

static int before_doit(const KJOULE_GENL_PRE_DOIT_OPS *ops, struct sk_buff *skb,
		       struct genl_info *info)
{
	return check_sender(skb, info->extack);
}

struct genl_family kjoule_family __ro_after_init = {
	.name = KJOULE_FAMILY_NAME,
	.version = KJOULE_FAMILY_VERSION,
	.module = THIS_MODULE,
	.pre_doit = before_doit,
	.parallel_ops = true,	/* the core has locks of its own */
	.ops = kjoule_ops,
	.n_ops = ARRAY_SIZE(kjoule_ops),
	.resv_start_op = 1,
};

/* A socket was closed: its sessions end. */
static int socket_released(struct notifier_block *nb, unsigned long event, void *data)
{
	struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC &&
	    net_eq(notify->net, &init_net))
		kjoule_session_end_owned(notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = { .notifier_call = socket_released };

/**
 * kjoule_netlink_init() - register the family
 *
 * Context: process, module init.
 * Return: 0 or -errno.
 */
int kjoule_netlink_init(void)
{
	int err = netlink_register_notifier(&socket_notifier);

	if (err)
		return err;
	err = genl_register_family(&kjoule_family);
	if (err)
		netlink_unregister_notifier(&socket_notifier);
	return err;
}

/**
 * kjoule_netlink_exit() - undo kjoule_netlink_init()
 *
 * Context: process, module exit.
 */
void kjoule_netlink_exit(void)
{
	genl_unregister_family(&kjoule_family);
	netlink_unregister_notifier(&socket_notifier);
}
