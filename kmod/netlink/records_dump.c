// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drains a session by a dump (records-get), for readers that cannot map its rings. A dump is the
 * session's reader while it lasts, as an open device, and has the records that were there when it
 * began, so that it ends even in a fast session.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "compat/compat.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "session/session.h"

#define MESSAGE_ROOM	(NLMSG_HDRLEN + GENL_HDRLEN + 2 * (NLA_HDRLEN + sizeof(u32)) + NLA_HDRLEN)

/**
 * struct drain - state of a dump
 * @session:	attached
 * @at:		index of the current ring
 * @head:	of each ring, when the dump began
 */
struct drain {
	struct kjoule_session *session;
	unsigned int at;
	u64 head[];
};

/* Kernel addresses: the creator may see them; the user of the socket needs the same rights. */
static bool drain_may_see_kernel(struct netlink_callback *cb, const struct kjoule_session *s)
{
	return !s->plan.kernel_ip || netlink_capable(cb->skb, CAP_PERFMON) ||
	       netlink_capable(cb->skb, CAP_SYSLOG);
}

/* Likewise the stacks of all processes. */
static bool drain_may_see_stacks(struct netlink_callback *cb, const struct kjoule_session *s)
{
	return !s->plan.stacks.any || netlink_capable(cb->skb, CAP_SYS_PTRACE) ||
	       netlink_capable(cb->skb, CAP_SYS_ADMIN);
}

static int drain_check(struct netlink_callback *cb, const struct kjoule_session *s)
{
	if (!kjoule_socket_owns(cb->skb, s->owner))
		return kjoule_netlink_refuse_dump(cb, -EPERM,
						  "the session belongs to another socket");
	if (!drain_may_see_kernel(cb, s))
		return kjoule_netlink_refuse_dump(cb, -EPERM,
						  "CAP_PERFMON or CAP_SYSLOG is needed");
	if (!drain_may_see_stacks(cb, s))
		return kjoule_netlink_refuse_dump(cb, -EPERM,
						  "CAP_SYS_PTRACE or CAP_SYS_ADMIN is needed");
	return 0;
}

static int drain_mark_heads(struct netlink_callback *cb, struct drain *d)
{
	struct kjoule_session *s = d->session;
	u32 longest = 0;
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		d->head[i] = kjoule_ring_head(&s->sampler[i]->ring);
		longest = max_t(u32, longest,
				kjoule_ring_longest(&s->sampler[i]->ring, d->head[i]));
	}
	if (longest + MESSAGE_ROOM > U16_MAX)
		return kjoule_netlink_refuse_dump(cb, -EMSGSIZE,
						  "a record is too long for a message: read the device");
	cb->min_dump_alloc = longest + MESSAGE_ROOM;
	return 0;
}

/*
 * kjoule_records_get_dump_start() - begin a dump of records. @cb: of the dump; args[0] becomes its
 * state. Return: 0, -EPERM, -EINVAL without session, -ENOENT for an unknown one, -EBUSY if it has a
 * reader, -EMSGSIZE, -ENOMEM.
 */
int kjoule_records_get_dump_start(struct netlink_callback *cb)
{
	struct kjoule_session *s;
	struct drain *d;
	int err;

	s = kjoule_netlink_dump_session(cb, kjoule_dump_attrs(cb)[KJOULE_A_RECORDS_SESSION]);
	if (IS_ERR(s))
		return PTR_ERR(s);
	err = drain_check(cb, s);
	if (err)
		goto err_put;
	err = kjoule_session_attach(s);
	if (err) {
		kjoule_netlink_refuse_dump(cb, err, "the session has a reader");
		goto err_put;
	}
	err = -ENOMEM;
	d = kvzalloc(struct_size(d, head, s->n), GFP_KERNEL_ACCOUNT);
	if (!d)
		goto err_detach;
	d->session = s;
	err = drain_mark_heads(cb, d);
	if (err)
		goto err_free;
	cb->args[0] = (long)d;
	return 0;

err_free:
	kvfree(d);
err_detach:
	kjoule_session_detach(s);
err_put:
	kjoule_session_put(s);
	return err;
}

/*
 * kjoule_records_get_dumpit() - fill a buffer with messages of records. Return: length, or 0 at the
 * end
 */
int kjoule_records_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kjoule_msg_to to = kjoule_netlink_dumper(cb);
	struct drain *d = (struct drain *)cb->args[0];
	struct kjoule_session *s = d->session;

	while (d->at < s->n) {
		struct kjoule_sampler *sampler = s->sampler[d->at];
		u64 head = d->head[d->at];

		if (kjoule_ring_unread_to(&sampler->ring, head) &&
		    !kjoule_msg_records(skb, &to, s, sampler, head) &&
		    kjoule_ring_unread_to(&sampler->ring, head))
			return skb->len ?: -EMSGSIZE;	/* no room for another message */
		if (!kjoule_ring_unread_to(&sampler->ring, head))
			d->at++;
	}
	return skb->len;
}

/** kjoule_records_get_dump_done() - end a dump; also called if its socket was closed */
int kjoule_records_get_dump_done(struct netlink_callback *cb)
{
	struct drain *d = (struct drain *)cb->args[0];

	kjoule_session_detach(d->session);
	kjoule_session_put(d->session);
	kvfree(d);
	return 0;
}
