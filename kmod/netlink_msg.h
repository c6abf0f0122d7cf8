/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KJOULE_NETLINK_MSG_H
#define KJOULE_NETLINK_MSG_H

#include <linux/types.h>

struct genl_family;
struct kjoule_sampler;
struct kjoule_session;
struct kjoule_source;
struct sk_buff;

/**
 * struct kjoule_msg_to - who gets a message
 * @portid:	netlink port
 * @seq:	of the request
 * @flags:	NLM_F_MULTI in a dump
 */
struct kjoule_msg_to {
	u32 portid;
	u32 seq;
	int flags;
};

extern struct genl_family kjoule_family;

int kjoule_msg_source(struct sk_buff *skb, const struct kjoule_msg_to *to,
		      struct kjoule_source *src, int unavailable, const char *why, bool is_default);
int kjoule_msg_session(struct sk_buff *skb, const struct kjoule_msg_to *to, u8 cmd,
		       struct kjoule_session *s);
int kjoule_msg_stats(struct sk_buff *skb, const struct kjoule_msg_to *to,
		     struct kjoule_session *s, struct kjoule_sampler *sampler);

#endif /* KJOULE_NETLINK_MSG_H */
