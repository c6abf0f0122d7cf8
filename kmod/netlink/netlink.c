// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of the generic netlink family on sources, sessions and statistics, and what all of its
 * operations share. Called by the table of operations (gen.c), by those in other files, and by
 * methods. A session's owner is the socket that created it (socket.c), but CAP_SYS_ADMIN may end
 * any.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/netlink.h>
#include <linux/security.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>
#include <net/netlink.h>

#include "compat/compat.h"
#include "compat/extack.h"
#include "netlink/gen.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "session/list.h"
#include "session/session.h"

/** kjoule_netlink_check() - check the sender's permission. Return: 0 or -EPERM */
int kjoule_netlink_check(struct sk_buff *skb, struct netlink_ext_ack *extack)
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

/* kjoule_netlink_refuse() - set the error text of a request. @why: a constant text, or NULL. */
void kjoule_netlink_refuse(struct genl_info *info, const char *why)
{
	if (why && info->extack)
		info->extack->_msg = why;
}

/*
 * kjoule_netlink_refuse_words() - set a formatted error text of a request or a dump. @words:
 * formatted for this request.
 */
void kjoule_netlink_refuse_words(struct netlink_ext_ack *extack, const char *words)
{
	kjoule_extack_words(extack, words);
}

static int netlink_refuse_missing(struct genl_info *info, const char *why)
{
	kjoule_netlink_refuse(info, why);
	return -EINVAL;
}

static struct kjoule_msg_to msg_to_sender(const struct genl_info *info)
{
	return (struct kjoule_msg_to){ .portid = info->snd_portid, .seq = info->snd_seq };
}

/** kjoule_netlink_reply_session() - reply with the properties of a session */
int kjoule_netlink_reply_session(struct genl_info *info, struct kjoule_session *s)
{
	struct kjoule_msg_to to = msg_to_sender(info);
	struct sk_buff *skb = genlmsg_new(kjoule_msg_session_size(s), GFP_KERNEL);
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

struct source_walk {
	struct sk_buff *skb;
	struct kjoule_msg_to to;
	u32 id;		/* only this one, if not 0 */
	u32 after;	/* only those with a greater id */
	bool found;
};

static int netlink_dump_source(struct kjoule_source *src, int unavailable, const char *why,
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

/** kjoule_source_get_doit() - KJOULE_CMD_SOURCE_GET of one source */
int kjoule_source_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct source_walk w = { .to = msg_to_sender(info) };
	int err;

	if (!info->attrs[KJOULE_A_SOURCE_ID])
		return netlink_refuse_missing(info, "source id is missing");
	w.id = nla_get_u32(info->attrs[KJOULE_A_SOURCE_ID]);
	w.skb = genlmsg_new(kjoule_msg_source_size(), GFP_KERNEL);
	if (!w.skb)
		return -ENOMEM;
	/* id 0 would mean all */
	err = w.id ? kjoule_source_for_each(netlink_dump_source, &w) : 0;
	if (!err && !w.found) {
		kjoule_netlink_refuse(info, "there is no source with that id");
		err = -ENOENT;
	}
	if (err) {
		nlmsg_free(w.skb);
		return err;
	}
	return genlmsg_reply(w.skb, info);
}

/** kjoule_netlink_refuse_dump() - refuse a dump with an error text; returns @err */
int kjoule_netlink_refuse_dump(struct netlink_callback *cb, int err, const char *why)
{
	if (cb->extack)
		cb->extack->_msg = why;
	return err;
}

/*
 * kjoule_source_get_dump_start() - begin a dump of sources. Return: 0, -EPERM, or -EINVAL with an
 * id: a dump is of all
 */
int kjoule_source_get_dump_start(struct netlink_callback *cb)
{
	int err = kjoule_netlink_check(cb->skb, cb->extack);

	if (!err && kjoule_dump_attrs(cb)[KJOULE_A_SOURCE_ID])
		err = kjoule_netlink_refuse_dump(cb, -EINVAL, "a dump is of all, without an id");
	cb->min_dump_alloc = kjoule_msg_source_size();
	return err;
}

/*
 * kjoule_source_get_dumpit() - dump the sources; args[0] is the last id sent. Return: length, or 0
 * at the end
 */
int kjoule_source_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct source_walk w = {
		.skb = skb,
		.to = kjoule_netlink_dumper(cb),
		.after = cb->args[0],
	};
	int err = kjoule_source_for_each(netlink_dump_source, &w);

	cb->args[0] = w.after;
	if (err && err != -EMSGSIZE)
		return err;
	/* an empty message would end the dump */
	return skb->len ?: err;
}

/*
 * kjoule_netlink_refuse_unknown() - refuse an unknown session id, or one that has ended. Return:
 * -ENOENT.
 */
int kjoule_netlink_refuse_unknown(struct netlink_ext_ack *extack, u32 id)
{
	kuid_t by = kjoule_session_ended_by(id);
	char words[KJOULE_WORDS_LEN];

	if (uid_valid(by)) {
		snprintf(words, sizeof(words), "the session was ended by uid %u",
			 from_kuid_munged(&init_user_ns, by));
		kjoule_netlink_refuse_words(extack, words);
	} else {
		NL_SET_ERR_MSG(extack, "there is no session with that id");
	}
	return -ENOENT;
}

/**
 * kjoule_netlink_find_session() - find the session of a request
 * @info:	the request
 * @id:		its attribute
 * @own:	NULL, or the request, whose sender has to own it
 * Return: the session with a reference, or an ERR_PTR: -EINVAL without @id, -ENOENT for an unknown
 * one, -EPERM for another socket's
 */
struct kjoule_session *kjoule_netlink_find_session(struct genl_info *info, int id,
						   const struct sk_buff *own)
{
	struct kjoule_session *s;
	u32 nr;

	if (!info->attrs[id])
		return ERR_PTR(netlink_refuse_missing(info, "session id is missing"));
	nr = nla_get_u32(info->attrs[id]);
	s = kjoule_session_get(nr);
	if (!s)
		return ERR_PTR(kjoule_netlink_refuse_unknown(info->extack, nr));
	if (own && !kjoule_socket_owns(own, s->owner)) {
		kjoule_session_put(s);
		kjoule_netlink_refuse(info, "the session belongs to another socket");
		return ERR_PTR(-EPERM);
	}
	return s;
}

static int netlink_change_session(struct sk_buff *skb, struct genl_info *info,
				  int (*change)(struct kjoule_session *s, const char **why))
{
	struct kjoule_session *s = kjoule_netlink_find_session(info, KJOULE_A_SESSION_ID, skb);
	const char *why = NULL;
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = change(s, &why);
	if (err == -ENOENT)
		kjoule_netlink_refuse_unknown(info->extack, s->id);
	kjoule_netlink_refuse(info, why);
	if (!err)
		err = kjoule_netlink_reply_session(info, s);
	kjoule_session_put(s);
	return err;
}

/** kjoule_session_start_doit() - KJOULE_CMD_SESSION_START */
int kjoule_session_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	return netlink_change_session(skb, info, kjoule_session_start);
}

/** kjoule_session_stop_doit() - KJOULE_CMD_SESSION_STOP */
int kjoule_session_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return netlink_change_session(skb, info, kjoule_session_stop);
}

/*
 * kjoule_session_del_doit() - KJOULE_CMD_SESSION_DEL. Return: 0, -EINVAL without id, -ENOENT for an
 * unknown one, -EPERM for another socket's without CAP_SYS_ADMIN
 */
int kjoule_session_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_session *s = kjoule_netlink_find_session(info, KJOULE_A_SESSION_ID, NULL);
	int err = 0;

	if (IS_ERR(s))
		return PTR_ERR(s);
	/* check the capability last: a refusal is audited */
	if (kjoule_socket_owns(skb, s->owner)) {
		kjoule_session_end(s);
	} else if (netlink_capable(skb, CAP_SYS_ADMIN)) {
		kjoule_session_end_by(s, current_euid());
	} else {
		kjoule_netlink_refuse(info,
				      "the session is another's; ending it takes CAP_SYS_ADMIN");
		err = -EPERM;
	}
	kjoule_session_put(s);
	return err;
}

/** kjoule_session_get_doit() - KJOULE_CMD_SESSION_GET of one session */
int kjoule_session_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_session *s = kjoule_netlink_find_session(info, KJOULE_A_SESSION_ID, NULL);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = kjoule_netlink_reply_session(info, s);
	kjoule_session_put(s);
	return err;
}

/* Message size of the largest session; a larger one that is created later gets -EMSGSIZE. */
static u32 netlink_session_size_max(void)
{
	struct kjoule_session *s;
	size_t size = 0;
	u32 id = 0;

	while ((s = kjoule_session_get_next(id))) {
		id = s->id + 1;
		size = max(size, kjoule_msg_session_size(s));
		kjoule_session_put(s);
	}
	return size;
}

/*
 * kjoule_session_get_dump_start() - begin a dump of sessions. Return: 0, -EPERM, or -EINVAL with an
 * id: a dump is of all
 */
int kjoule_session_get_dump_start(struct netlink_callback *cb)
{
	int err = kjoule_netlink_check(cb->skb, cb->extack);

	if (!err && kjoule_dump_attrs(cb)[KJOULE_A_SESSION_ID])
		err = kjoule_netlink_refuse_dump(cb, -EINVAL, "a dump is of all, without an id");
	if (!err)
		cb->min_dump_alloc = netlink_session_size_max();
	return err;
}

/*
 * kjoule_session_get_dumpit() - dump the sessions; args[0] is the id to continue with. Return:
 * length, 0 at the end, or -EMSGSIZE if no message fits
 */
int kjoule_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kjoule_msg_to to = kjoule_netlink_dumper(cb);
	struct kjoule_session *s;
	int err = 0;

	while (!err && (s = kjoule_session_get_next(cb->args[0]))) {
		err = kjoule_msg_session(skb, &to, KJOULE_CMD_SESSION_GET, s);
		if (!err)
			cb->args[0] = s->id + 1;
		kjoule_session_put(s);
	}
	return skb->len ?: err;
}

/*
 * kjoule_netlink_dump_session() - find the session of a dump. @id: its attribute, or NULL. Return:
 * the session with a reference, or an ERR_PTR: -EPERM, -EINVAL without @id, -ENOENT for an unknown
 * one.
 */
struct kjoule_session *kjoule_netlink_dump_session(struct netlink_callback *cb,
						   const struct nlattr *id)
{
	struct kjoule_session *s;
	int err = kjoule_netlink_check(cb->skb, cb->extack);

	if (!err && !id)
		err = kjoule_netlink_refuse_dump(cb, -EINVAL, "session id is missing");
	if (err)
		return ERR_PTR(err);
	s = kjoule_session_get(nla_get_u32(id));
	if (!s)
		err = kjoule_netlink_refuse_unknown(cb->extack, nla_get_u32(id));
	return s ?: ERR_PTR(err);
}

/** kjoule_stats_get_doit() - KJOULE_CMD_STATS_GET of a whole session */
int kjoule_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_session *s = kjoule_netlink_find_session(info, KJOULE_A_STATS_SESSION, NULL);
	struct kjoule_msg_to to = msg_to_sender(info);
	struct kjoule_stats b;
	struct sk_buff *answer;
	u32 id;
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	id = s->id;
	kjoule_session_get_stats(s, &b);
	kjoule_session_put(s);
	answer = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	err = kjoule_msg_stats(answer, &to, id, -1, &b);
	if (err) {
		nlmsg_free(answer);
		return err;
	}
	return genlmsg_reply(answer, info);
}

/**
 * kjoule_stats_get_dump_start() - begin a dump of a session's statistics
 * @cb:	of the dump; args[0] becomes the session's id
 * Return: 0, -EPERM, -EINVAL without session, -ENOENT for an unknown one
 */
int kjoule_stats_get_dump_start(struct netlink_callback *cb)
{
	struct kjoule_session *s;

	s = kjoule_netlink_dump_session(cb, kjoule_dump_attrs(cb)[KJOULE_A_STATS_SESSION]);
	if (IS_ERR(s))
		return PTR_ERR(s);
	cb->args[0] = s->id;
	kjoule_session_put(s);
	return 0;
}

/** kjoule_stats_get_dumpit() - a message for each CPU; args[1] is the sampler to continue with */
int kjoule_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kjoule_session *s = kjoule_session_get(cb->args[0]);
	struct kjoule_msg_to to = kjoule_netlink_dumper(cb);
	int err = 0;

	if (!s)
		return 0;
	for (; cb->args[1] < s->n; cb->args[1]++) {
		struct kjoule_sampler *sampler = s->sampler[cb->args[1]];
		struct kjoule_stats b;

		kjoule_sampler_get_stats(sampler, &b);
		err = kjoule_msg_stats(skb, &to, s->id, sampler->cpu, &b);
		if (err)
			break;
	}
	kjoule_session_put(s);
	return skb->len ?: err;
}
