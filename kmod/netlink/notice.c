// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notices over netlink: to the multicast group "events", which needs CAP_SYS_ADMIN to join, and to
 * sockets that have sent notice-listen, for which CAP_PERFMON is enough. In the initial network
 * namespace only. Notices never wait: one to a full socket is dropped, and the listener gets
 * ENOBUFS.
 */
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/security.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "compat/compat.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "source/spec.h"
#include "source/notifier.h"

/** kjoule_notice_listen_doit() - KJOULE_CMD_NOTICE_LISTEN. Return: 0, see kjoule_socket_listen() */
int kjoule_notice_listen_doit(struct sk_buff *skb, struct genl_info *info)
{
	char words[KJOULE_WORDS_LEN];
	int err = kjoule_socket_listen(skb, false, words, sizeof(words));

	/* check the capability last: a refusal is audited */
	if (err == -EUSERS && netlink_capable(skb, CAP_SYS_ADMIN))
		err = kjoule_socket_listen(skb, true, words, sizeof(words));
	if (err == -EUSERS)
		kjoule_netlink_refuse_words(info->extack, words);
	return err;
}

static struct sk_buff *notice_build_msg(const struct kjoule_event *n)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct kjoule_msg_to nobody = {};

	if (skb && kjoule_msg_notice(skb, &nobody, n)) {
		nlmsg_free(skb);
		skb = NULL;
	}
	return skb;
}

static void notice_send_group(const struct kjoule_event *n)
{
	struct sk_buff *skb;

	if (!kjoule_family.n_mcgrps ||
	    !genl_has_listeners(&kjoule_family, &init_net, KJOULE_NLGRP_EVENTS))
		return;
	skb = notice_build_msg(n);
	if (skb)
		genlmsg_multicast(&kjoule_family, skb, 0, KJOULE_NLGRP_EVENTS, GFP_KERNEL);
}

static void notice_send_listener(u32 portid, const struct kjoule_event *n)
{
	struct sk_buff *skb = notice_build_msg(n);

	if (skb)
		genlmsg_unicast(&init_net, skb, portid);
}

static void notice_send(const struct kjoule_event *n)
{
	if (security_locked_down(LOCKDOWN_PERF))
		return;
	notice_send_group(n);
	kjoule_socket_notify(notice_send_listener, n);
}

static struct kjoule_notifier notifier = { .event = notice_send };

/*
 * kjoule_netlink_notice_init() - send notices from now on; there are no sessions yet. Context:
 * process, module init; there are no sessions.
 */
void kjoule_netlink_notice_init(void)
{
	kjoule_notifier_add(&notifier);
}

/*
 * kjoule_netlink_notice_exit() - undo kjoule_netlink_notice_init(), after the last request.
 * Context: process, module exit; no requests for notices come any more.
 */
void kjoule_netlink_notice_exit(void)
{
	kjoule_notifier_remove(&notifier);
}
