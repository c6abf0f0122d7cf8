/* SPDX-License-Identifier: GPL-2.0-only */
/* The messages of the generic netlink family, for netlink.c, records_dump.c and notice.c. */
#ifndef KJOULE_NETLINK_MSG_H
#define KJOULE_NETLINK_MSG_H

#include <linux/types.h>

struct genl_family;
struct genl_info;
struct kjoule_stats;
struct kjoule_event;
struct kjoule_sampler;
struct kjoule_session;
struct kjoule_source;
struct kjoule_spec;
struct sk_buff;

/**
 * struct kjoule_msg_to - receiver of a message
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
size_t kjoule_msg_source_size(void);
size_t kjoule_msg_session_size(const struct kjoule_session *s);
int kjoule_msg_session(struct sk_buff *skb, const struct kjoule_msg_to *to, u8 cmd,
		       struct kjoule_session *s);
int kjoule_msg_stats(struct sk_buff *skb, const struct kjoule_msg_to *to, u32 session, int cpu,
		     const struct kjoule_stats *b);
ssize_t kjoule_msg_records(struct sk_buff *skb, const struct kjoule_msg_to *to,
			   struct kjoule_session *s, struct kjoule_sampler *sampler, u64 head);
int kjoule_msg_notice(struct sk_buff *skb, const struct kjoule_msg_to *to,
		      const struct kjoule_event *n);

int kjoule_msg_get_specs(struct genl_info *info, struct kjoule_spec *specs, unsigned int max);

#endif
