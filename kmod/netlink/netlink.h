/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the generic netlink family: permissions, refusals, replies with a session,
 * and sockets that own objects.
 */
#ifndef KJOULE_NETLINK_H
#define KJOULE_NETLINK_H

#include <linux/netlink.h>
#include <net/netlink.h>

#include "netlink/msg.h"

/**
 * struct kjoule_netlink_op - an operation of the family that a method implements
 * @cmd:	KJOULE_CMD_*
 * @doit:	see struct genl_ops; the others belong to a dump
 * @dump_start:	likewise
 * @dumpit:	likewise
 * @dump_done:	likewise, or NULL
 */
struct kjoule_netlink_op {
	u8 cmd;
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*dump_start)(struct netlink_callback *cb);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	int (*dump_done)(struct netlink_callback *cb);
};

/**
 * struct kjoule_netlink_method - operations that a method adds to the family
 * @ops:	its operations
 * @n_ops:	their number
 * @released:	a socket was closed: end its objects; or NULL
 */
struct kjoule_netlink_method {
	const struct kjoule_netlink_op *ops;
	unsigned int n_ops;
	void (*released)(u64 owner);
};

void kjoule_netlink_add_method(const struct kjoule_netlink_method *method);
int kjoule_netlink_init(void);
void kjoule_netlink_exit(void);

int kjoule_netlink_check(struct sk_buff *skb, struct netlink_ext_ack *extack);
void kjoule_netlink_refuse(struct genl_info *info, const char *why);
void kjoule_netlink_refuse_words(struct netlink_ext_ack *extack, const char *words);
int kjoule_netlink_refuse_unknown(struct netlink_ext_ack *extack, u32 id);
struct kjoule_session *kjoule_netlink_find_session(struct genl_info *info, int id,
						   const struct sk_buff *own);
int kjoule_netlink_reply_session(struct genl_info *info, struct kjoule_session *s);
int kjoule_netlink_refuse_dump(struct netlink_callback *cb, int err, const char *why);
struct kjoule_session *kjoule_netlink_dump_session(struct netlink_callback *cb,
						   const struct nlattr *id);

void kjoule_netlink_methods_released(u64 owner);
void kjoule_netlink_notice_init(void);
void kjoule_netlink_notice_exit(void);

u64 kjoule_socket_owner(const struct sk_buff *skb);
bool kjoule_socket_owns(const struct sk_buff *skb, u64 owner);
int kjoule_socket_listen(const struct sk_buff *skb, bool admin, char *words, size_t len);
void kjoule_socket_notify(void (*send)(u32 portid, const struct kjoule_event *n),
			  const struct kjoule_event *n);
void kjoule_socket_released(u32 portid, void (*end)(u64 owner));
void kjoule_socket_exit(void);

/* Numbers of a request; 0 if left out. */
static inline u32 kjoule_attr_u32(struct nlattr *const *attrs, int type)
{
	return attrs[type] ? nla_get_u32(attrs[type]) : 0;
}

static inline u64 kjoule_attr_u64(struct nlattr *const *attrs, int type)
{
	return attrs[type] ? nla_get_u64(attrs[type]) : 0;
}

static inline struct kjoule_msg_to kjoule_netlink_dumper(const struct netlink_callback *cb)
{
	return (struct kjoule_msg_to){
		.portid = NETLINK_CB(cb->skb).portid,
		.seq = cb->nlh->nlmsg_seq,
		.flags = NLM_F_MULTI,
	};
}

#endif
