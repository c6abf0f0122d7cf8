// SPDX-License-Identifier: GPL-2.0-only
/*
 * Front end for control: the generic netlink family, which translates messages to calls of the
 * core. Attribute policies and the table of operations are generated from its specification
 * (gen.c). Every operation checks CAP_PERFMON of the sender; dumps do it themselves.
 */
#include <linux/netlink.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "compat/compat.h"
#include "netlink/gen.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "session/session.h"

static int family_pre_doit(const KJOULE_GENL_PRE_DOIT_OPS *ops, struct sk_buff *skb,
			   struct genl_info *info)
{
	return kjoule_netlink_check(skb, info->extack);
}

static void family_end_owned(u64 owner)
{
	kjoule_session_end_owned(owner);
	kjoule_netlink_methods_released(owner);
}

static int family_socket_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC &&
	    net_eq(notify->net, &init_net))
		kjoule_socket_released(notify->portid, family_end_owned);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = { .notifier_call = family_socket_notify };

/** kjoule_netlink_init() - register the family */
int __init kjoule_netlink_init(void)
{
	int err = netlink_register_notifier(&socket_notifier);

	if (err)
		return err;
	kjoule_netlink_notice_init();
	kjoule_family.pre_doit = family_pre_doit;
	kjoule_family.ops = kjoule_ops;
	kjoule_family.n_ops = ARRAY_SIZE(kjoule_ops);
	kjoule_family.mcgrps = kjoule_groups;
	kjoule_family.n_mcgrps = KJOULE_GENL_GROUPS(kjoule_groups);
	err = genl_register_family(&kjoule_family);
	if (err) {
		kjoule_netlink_notice_exit();
		netlink_unregister_notifier(&socket_notifier);
	}
	return err;
}

/** kjoule_netlink_exit() - undo kjoule_netlink_init() */
void kjoule_netlink_exit(void)
{
	genl_unregister_family(&kjoule_family);
	netlink_unregister_notifier(&socket_notifier);
	kjoule_netlink_notice_exit();
	kjoule_socket_exit();
}
