// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operation session-new: converts attributes to struct kjoule_session_config. Parameters are
 * checked by the session, attributes of methods included; specified sources are parsed in spec.c.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "compat/compat.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "session/session.h"

/* Convert little endian bytes to a cpumask; -EINVAL if it has an impossible CPU. */
static int request_get_cpus(const struct nlattr *attr, struct cpumask *mask)
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

static int request_refuse(struct genl_info *info, const char *why)
{
	kjoule_netlink_refuse(info, why);
	return -EINVAL;
}

static const char *request_get_name(struct nlattr **attrs, int type)
{
	return attrs[type] ? nla_data(attrs[type]) : NULL;
}

struct request {
	struct kjoule_session_config config;
	cpumask_var_t cpus;
	struct kjoule_spec specs[KJOULE_METERS_MAX];
	char words[KJOULE_WORDS_LEN];
};

static void request_parse_numbers(struct kjoule_session_config *c, struct nlattr **attrs)
{
	*c = (struct kjoule_session_config){
		.interval_ns = kjoule_attr_u64(attrs, KJOULE_A_SESSION_INTERVAL_NS),
		.jitter_ns = kjoule_attr_u64(attrs, KJOULE_A_SESSION_JITTER_NS),
		.target = kjoule_attr_u32(attrs, KJOULE_A_SESSION_TARGET),
		.pid = kjoule_attr_u32(attrs, KJOULE_A_SESSION_PID),
		.has_cgroup = attrs[KJOULE_A_SESSION_CGROUP_FD],
		.cgroup_fd = kjoule_attr_u32(attrs, KJOULE_A_SESSION_CGROUP_FD),
		.flags = kjoule_attr_u64(attrs, KJOULE_A_SESSION_FLAGS),
		.chain_depth = kjoule_attr_u32(attrs, KJOULE_A_SESSION_CHAIN_DEPTH),
		.stack_bytes = kjoule_attr_u32(attrs, KJOULE_A_SESSION_STACK_BYTES),
		.attrs = attrs,
		.ring_bytes = kjoule_attr_u32(attrs, KJOULE_A_SESSION_RING_BYTES),
		.wakeup_bytes = kjoule_attr_u32(attrs, KJOULE_A_SESSION_WAKEUP_BYTES),
		.energy = request_get_name(attrs, KJOULE_A_SESSION_ENERGY_SOURCE),
		.frequency = request_get_name(attrs, KJOULE_A_SESSION_FREQUENCY_SOURCE),
	};
}

static int request_parse(struct sk_buff *skb, struct genl_info *info, struct request *r)
{
	struct nlattr **attrs = info->attrs;
	int n;

	if (!attrs[KJOULE_A_SESSION_INTERVAL_NS])
		return request_refuse(info, "interval is missing");
	request_parse_numbers(&r->config, attrs);
	r->config.kernel_ip = netlink_capable(skb, CAP_PERFMON) || netlink_capable(skb, CAP_SYSLOG);
	r->config.may_pause = netlink_capable(skb, CAP_SYS_NICE);
	r->config.any_memory = netlink_capable(skb, CAP_IPC_LOCK);
	r->config.admin = netlink_capable(skb, CAP_SYS_ADMIN);
	r->config.any_stack = r->config.flags & KJOULE_FLAG_USER_STACK &&
			      (r->config.admin || netlink_capable(skb, CAP_SYS_PTRACE));
	r->config.words = r->words;
	n = kjoule_msg_get_specs(info, r->specs, KJOULE_METERS_MAX);
	if (n < 0)
		return n;
	r->config.n_specs = n;
	r->config.specs = r->specs;
	if (!attrs[KJOULE_A_SESSION_CPUS])
		return 0;
	r->config.cpus = r->cpus;
	if (request_get_cpus(attrs[KJOULE_A_SESSION_CPUS], r->cpus))
		return request_refuse(info, "a CPU is named that does not exist");
	return 0;
}

static struct kjoule_session *request_create_session(struct sk_buff *skb, struct genl_info *info,
						     struct request *r)
{
	struct kjoule_session *s;
	const char *why = NULL;
	int err = request_parse(skb, info, r);
	u64 owner;

	if (err)
		return ERR_PTR(err);
	owner = kjoule_socket_owner(skb);
	if (!owner)
		return ERR_PTR(-ENOMEM);
	s = kjoule_session_create(&r->config, owner, &why);
	if (why == r->words)
		kjoule_netlink_refuse_words(info->extack, why);
	else
		kjoule_netlink_refuse(info, why);
	return s;
}

/** kjoule_session_new_doit() - KJOULE_CMD_SESSION_NEW. Return: see kjoule_session_create() */
int kjoule_session_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct request *r = kzalloc(sizeof(*r), GFP_KERNEL);
	struct kjoule_session *s;
	int err;

	if (!r)
		return -ENOMEM;
	if (!zalloc_cpumask_var(&r->cpus, GFP_KERNEL)) {
		kfree(r);
		return -ENOMEM;
	}
	s = request_create_session(skb, info, r);
	free_cpumask_var(r->cpus);
	kfree(r);
	if (IS_ERR(s))
		return PTR_ERR(s);
	err = kjoule_netlink_reply_session(info, s);
	if (err)
		kjoule_session_end(s);
	kjoule_session_put(s);
	return err;
}
