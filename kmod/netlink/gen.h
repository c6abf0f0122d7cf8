/* SPDX-License-Identifier: GPL-2.0-only */
/* Generated from Documentation/netlink/specs/kjoule.yaml by scripts/gen-netlink; do not edit. */
#ifndef KJOULE_NETLINK_GEN_H
#define KJOULE_NETLINK_GEN_H

#include <net/genetlink.h>
#include <linux/kjoule_netlink.h>

int kjoule_method_doit(struct sk_buff *skb, struct genl_info *info);
int kjoule_method_dump_start(struct netlink_callback *cb);
int kjoule_method_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int kjoule_method_dump_done(struct netlink_callback *cb);
int kjoule_source_get_doit(struct sk_buff *skb, struct genl_info *info);
int kjoule_source_get_dump_start(struct netlink_callback *cb);
int kjoule_source_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int kjoule_session_new_doit(struct sk_buff *skb, struct genl_info *info);
int kjoule_session_start_doit(struct sk_buff *skb, struct genl_info *info);
int kjoule_session_stop_doit(struct sk_buff *skb, struct genl_info *info);
int kjoule_session_del_doit(struct sk_buff *skb, struct genl_info *info);
int kjoule_session_get_doit(struct sk_buff *skb, struct genl_info *info);
int kjoule_session_get_dump_start(struct netlink_callback *cb);
int kjoule_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int kjoule_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int kjoule_stats_get_dump_start(struct netlink_callback *cb);
int kjoule_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int kjoule_records_get_dump_start(struct netlink_callback *cb);
int kjoule_records_get_dump_done(struct netlink_callback *cb);
int kjoule_records_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int kjoule_notice_listen_doit(struct sk_buff *skb, struct genl_info *info);

extern const struct nla_policy kjoule_source_spec_policy[KJOULE_A_SPEC_MAX + 1];
extern const struct genl_ops kjoule_ops[17];

enum {
	KJOULE_NLGRP_EVENTS,
};

extern const struct genl_multicast_group kjoule_groups[1];

#endif /* KJOULE_NETLINK_GEN_H */
