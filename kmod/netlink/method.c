// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of the family that methods implement. The generated table (gen.c) has them come here;
 * each method adds its own at module init, before the family is registered.
 */
#include <linux/bug.h>
#include <net/genetlink.h>

#include "netlink/gen.h"
#include "netlink/netlink.h"

/* More than there are (vpm and transition); kjoule_netlink_add_method() warns of others. */
#define METHODS_MAX	4

static const struct kjoule_netlink_method *methods[METHODS_MAX];
static unsigned int n_methods;

/*
 * kjoule_netlink_add_method() - add the operations of a method, before kjoule_netlink_init().
 * Context: process, module init, before kjoule_netlink_init().
 */
void kjoule_netlink_add_method(const struct kjoule_netlink_method *method)
{
	if (!WARN_ON(n_methods == METHODS_MAX))
		methods[n_methods++] = method;
}

static const struct kjoule_netlink_op *method_find_op(u8 cmd)
{
	unsigned int i, j;

	for (i = 0; i < n_methods; i++) {
		for (j = 0; j < methods[i]->n_ops; j++) {
			if (methods[i]->ops[j].cmd == cmd)
				return &methods[i]->ops[j];
		}
	}
	return NULL;
}

static const struct kjoule_netlink_op *method_dump_op(const struct netlink_callback *cb)
{
	const struct genlmsghdr *head = nlmsg_data(cb->nlh);

	return method_find_op(head->cmd);
}

static const char unavailable[] = "the module was built for a kernel without what this needs";

/*
 * kjoule_method_doit() - an operation of a method. Return: the method's result, or -EOPNOTSUPP if
 * it was not built
 */
int kjoule_method_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct kjoule_netlink_op *op = method_find_op(info->genlhdr->cmd);

	if (op)
		return op->doit(skb, info);
	kjoule_netlink_refuse(info, unavailable);
	return -EOPNOTSUPP;
}

/** kjoule_method_dump_start() - begin a dump of a method. Return: as kjoule_method_doit() */
int kjoule_method_dump_start(struct netlink_callback *cb)
{
	const struct kjoule_netlink_op *op = method_dump_op(cb);

	return op ? op->dump_start(cb) : kjoule_netlink_refuse_dump(cb, -EOPNOTSUPP, unavailable);
}

/** kjoule_method_dumpit() - continue a dump of a method */
int kjoule_method_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return method_dump_op(cb)->dumpit(skb, cb);
}

/** kjoule_method_dump_done() - end a dump of a method */
int kjoule_method_dump_done(struct netlink_callback *cb)
{
	const struct kjoule_netlink_op *op = method_dump_op(cb);

	return op->dump_done ? op->dump_done(cb) : 0;
}

/* kjoule_netlink_methods_released() - a socket was closed. @owner: number of its objects' owner. */
void kjoule_netlink_methods_released(u64 owner)
{
	unsigned int i;

	for (i = 0; i < n_methods; i++) {
		if (methods[i]->released)
			methods[i]->released(owner);
	}
}
