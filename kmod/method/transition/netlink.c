// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of probes of frequency changes (transition.c), and of restoring files when a
 * socket is closed (restore.c). Only the socket that created a probe may use it.
 */
#include <linux/capability.h>
#include <linux/cpufreq.h>
#include <linux/cpumask.h>
#include <linux/netlink.h>
#include <net/genetlink.h>

#include "compat/compat.h"
#include "method/transition/restore.h"
#include "method/transition/transition.h"
#include "netlink/netlink.h"

/*
 * A message with loops has this size, whatever the reader's buffer is: 24 KB of the 64 KiB that
 * readers are to have (Documentation/abi/netlink.rst).
 */
#define LOOPS_A_MESSAGE		1000U
#define LOOPS_ROOM	(NLMSG_HDRLEN + GENL_HDRLEN + 2 * (NLA_HDRLEN + sizeof(u32)) + NLA_HDRLEN)

static struct kjoule_transition *transition_find_probe(struct sk_buff *skb, const struct nlattr *id,
						       const char **why)
{
	struct kjoule_transition *t = id ? kjoule_transition_get(nla_get_u32(id)) : NULL;

	if (!t) {
		*why = id ? "there is no probe with that id" : "the probe's id is missing";
		return ERR_PTR(id ? -ENOENT : -EINVAL);
	}
	if (kjoule_socket_owns(skb, t->owner))
		return t;
	kjoule_transition_put(t);
	*why = "the probe belongs to another socket";
	return ERR_PTR(-EPERM);
}

static struct kjoule_transition *transition_find_or_refuse(struct sk_buff *skb,
							   struct genl_info *info)
{
	struct kjoule_transition *t;
	const char *why = NULL;

	t = transition_find_probe(skb, info->attrs[KJOULE_A_TRANSITION_ID], &why);
	kjoule_netlink_refuse(info, why);
	return t;
}

static int transition_put_cpus(struct sk_buff *skb, const struct cpumask *cpus)
{
	unsigned int len = DIV_ROUND_UP(cpumask_last(cpus) + 1, 8), cpu;
	struct nlattr *attr = nla_reserve(skb, KJOULE_A_TRANSITION_CPUS, len);
	u8 *bytes;

	if (!attr)
		return -EMSGSIZE;
	bytes = nla_data(attr);
	memset(bytes, 0, len);
	for_each_cpu(cpu, cpus)
		bytes[cpu / 8] |= 1 << cpu % 8;
	return 0;
}

static int transition_put_policy(struct sk_buff *skb, unsigned int cpu, bool cpus)
{
	struct cpufreq_policy *policy = cpufreq_cpu_get(cpu);
	int err;

	if (!policy)
		return 0;
	err = nla_put_u32(skb, KJOULE_A_TRANSITION_MIN_KHZ, policy->min) ?:
	      nla_put_u32(skb, KJOULE_A_TRANSITION_MAX_KHZ, policy->max) ?:
	      (cpus ? transition_put_cpus(skb, policy->related_cpus) : 0);
	cpufreq_cpu_put(policy);
	return err;
}

static int transition_put_probe(struct sk_buff *skb, const struct kjoule_transition *t)
{
	const char *driver = cpufreq_get_current_driver();

	return nla_put_u32(skb, KJOULE_A_TRANSITION_ID, t->id) ?:
	       nla_put_u32(skb, KJOULE_A_TRANSITION_CPU, t->cpu) ?:
	       nla_put_u32(skb, KJOULE_A_TRANSITION_WAY, t->way) ?:
	       (driver ? nla_put_string(skb, KJOULE_A_TRANSITION_DRIVER, driver) : 0) ?:
	       transition_put_policy(skb, t->cpu, true);
}

static int transition_put_counter(struct sk_buff *skb, const struct kjoule_transition_job *job)
{
	if (!job->counter[0])
		return 0;
	return nla_put_string(skb, KJOULE_A_TRANSITION_COUNTER, job->counter) ?:
	       nla_put_u64_64bit(skb, KJOULE_A_TRANSITION_REFERENCE_KHZ, job->reference_khz, 0);
}

static int transition_put_result(struct sk_buff *skb, const struct kjoule_transition *t,
				 const struct kjoule_transition_job *job)
{
	return nla_put_u32(skb, KJOULE_A_TRANSITION_ID, t->id) ?:
	       nla_put_u32(skb, KJOULE_A_TRANSITION_OUTCOME, job->outcome) ?:
	       nla_put_u32(skb, KJOULE_A_TRANSITION_COUNT, job->count) ?:
	       nla_put_u64_64bit(skb, KJOULE_A_TRANSITION_REQUESTED_NS, job->requested_ns, 0) ?:
	       nla_put_u64_64bit(skb, KJOULE_A_TRANSITION_REQUEST_NS, job->request_ns, 0) ?:
	       nla_put_u64_64bit(skb, KJOULE_A_TRANSITION_IRQS_OFF_NS, job->irqs_off_ns, 0) ?:
	       nla_put_u64_64bit(skb, KJOULE_A_TRANSITION_IRQS_OFF_FROM_NS, job->irqs_off_from_ns,
				 0) ?:
	       nla_put_u32(skb, KJOULE_A_TRANSITION_BREAKS, job->breaks) ?:
	       transition_put_counter(skb, job) ?:
	       transition_put_policy(skb, t->cpu, false);
}

static int transition_reply(struct genl_info *info, const struct kjoule_transition *t,
			    const struct kjoule_transition_job *job)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *head;
	int err;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put_reply(skb, info, &kjoule_family, 0, info->genlhdr->cmd);
	err = !head ? -EMSGSIZE :
	      job ? transition_put_result(skb, t, job) : transition_put_probe(skb, t);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

static int transition_new(struct sk_buff *skb, struct genl_info *info)
{
	u32 way = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_WAY);
	struct kjoule_transition *t;
	const char *why = NULL;
	u64 owner;
	int err = 0;

	if (!info->attrs[KJOULE_A_TRANSITION_CPU]) {
		kjoule_netlink_refuse(info, "the CPU is missing");
		return -EINVAL;
	}
	/* a FIFO thread, interrupts off, and a frequency that affects all tasks */
	if (!netlink_capable(skb, CAP_SYS_NICE) && !netlink_capable(skb, CAP_SYS_ADMIN)) {
		kjoule_netlink_refuse(info, "CAP_SYS_NICE is needed besides");
		return -EPERM;
	}
	owner = kjoule_socket_owner(skb);
	if (!owner)
		return -ENOMEM;
	t = kjoule_transition_new(owner, kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_CPU), way,
				  &why);
	if (!IS_ERR(t) && way == KJOULE_TRANSITION_WAY_FAST)
		err = kjoule_governor_get(&why);
	kjoule_netlink_refuse(info, why);
	if (IS_ERR(t))
		return PTR_ERR(t);
	err = err ?: transition_reply(info, t, NULL);
	if (err)
		kjoule_transition_end(t);
	kjoule_transition_put(t);
	return err;
}

/*
 * KJOULE_CMD_TRANSITION_DEL. Return: 0, -EINVAL without id, -ENOENT for an unknown one, -EPERM for
 * another socket's probe.
 */
static int transition_del(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_transition *t = transition_find_or_refuse(skb, info);

	if (IS_ERR(t))
		return PTR_ERR(t);
	kjoule_transition_end(t);
	kjoule_transition_put(t);
	return 0;
}

static int transition_do_job(struct sk_buff *skb, struct genl_info *info,
			     struct kjoule_transition_job *job)
{
	struct kjoule_transition *t = transition_find_or_refuse(skb, info);
	const char *why = NULL;
	int err;

	if (IS_ERR(t))
		return PTR_ERR(t);
	err = kjoule_transition_do(t, job, &why);
	kjoule_netlink_refuse(info, why);
	if (!err)
		err = transition_reply(info, t, job);
	kjoule_transition_put(t);
	return err;
}

static int transition_calibrate(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_transition_job job = {
		.adds = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_ADDS),
		.to_khz = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_TO_KHZ),
		.loops = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_LOOPS),
		.timeout_ns = kjoule_attr_u64(info->attrs, KJOULE_A_TRANSITION_TIMEOUT_NS),
		.slice_ns = kjoule_attr_u64(info->attrs, KJOULE_A_TRANSITION_SLICE_NS),
	};

	return transition_do_job(skb, info, &job);
}

static int transition_try(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_transition_job job = {
		.measure = true,
		.adds = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_ADDS),
		.from_khz = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_FROM_KHZ),
		.to_khz = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_TO_KHZ),
		.from = { kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_FROM_LO_NS),
			  kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_FROM_HI_NS) },
		.to = { kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_TO_LO_NS),
			kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_TO_HI_NS) },
		.lead = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_LEAD),
		.loops = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_LOOPS),
		.confirm = kjoule_attr_u32(info->attrs, KJOULE_A_TRANSITION_CONFIRM),
		.timeout_ns = kjoule_attr_u64(info->attrs, KJOULE_A_TRANSITION_TIMEOUT_NS),
		.slice_ns = kjoule_attr_u64(info->attrs, KJOULE_A_TRANSITION_SLICE_NS),
	};

	return transition_do_job(skb, info, &job);
}

static int loops_get_start(struct netlink_callback *cb)
{
	struct kjoule_transition *t;
	const char *why = NULL;
	int err = kjoule_netlink_check(cb->skb, cb->extack);

	if (err)
		return err;
	t = transition_find_probe(cb->skb, kjoule_dump_attrs(cb)[KJOULE_A_TRANSITION_ID], &why);
	if (IS_ERR(t))
		return kjoule_netlink_refuse_dump(cb, PTR_ERR(t), why);
	cb->args[0] = (long)t;
	cb->min_dump_alloc = LOOPS_ROOM + LOOPS_A_MESSAGE * sizeof(struct kjoule_loop);
	return 0;
}

static int loops_put(struct sk_buff *skb, const struct netlink_callback *cb,
		     struct kjoule_transition *t, u32 from)
{
	struct kjoule_msg_to to = kjoule_netlink_dumper(cb);
	u32 n = min(t->n - from, LOOPS_A_MESSAGE);
	void *head;

	if (skb_tailroom(skb) < LOOPS_ROOM + n * sizeof(*t->loops))
		return -EMSGSIZE;
	head = genlmsg_put(skb, to.portid, to.seq, &kjoule_family, to.flags,
			   KJOULE_CMD_TRANSITION_LOOPS_GET);
	if (!head)
		return -EMSGSIZE;
	if (nla_put_u32(skb, KJOULE_A_TRANSITION_ID, t->id) ||
	    nla_put_u32(skb, KJOULE_A_TRANSITION_COUNT, t->n) ||
	    nla_put(skb, KJOULE_A_TRANSITION_DATA, n * sizeof(*t->loops), &t->loops[from])) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return n;
}

/*
 * Fill a buffer with messages of loops. A concurrent job of the same socket replaces the loops:
 * there may be fewer. Return: length, or 0 at the end.
 */
static int loops_get(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kjoule_transition *t = (struct kjoule_transition *)cb->args[0];
	int n = 0;

	mutex_lock(&t->lock);
	while (cb->args[1] < t->n) {
		n = loops_put(skb, cb, t, cb->args[1]);
		if (n < 0)
			break;
		cb->args[1] += n;
	}
	mutex_unlock(&t->lock);
	return skb->len ?: min(n, 0);
}

static int loops_get_done(struct netlink_callback *cb)
{
	kjoule_transition_put((struct kjoule_transition *)cb->args[0]);
	return 0;
}

static int restore_add(struct sk_buff *skb, struct genl_info *info)
{
	const char *why = NULL;
	u64 owner;
	int err;

	if (!info->attrs[KJOULE_A_RESTORE_FD] || !info->attrs[KJOULE_A_RESTORE_VALUE]) {
		kjoule_netlink_refuse(info, "the file's descriptor or its value is missing");
		return -EINVAL;
	}
	owner = kjoule_socket_owner(skb);
	if (!owner)
		return -ENOMEM;
	err = kjoule_restore_add(owner, kjoule_attr_u32(info->attrs, KJOULE_A_RESTORE_FD),
				 nla_data(info->attrs[KJOULE_A_RESTORE_VALUE]), &why);
	kjoule_netlink_refuse(info, why);
	return err;
}

/*
 * KJOULE_CMD_RESTORE_NOW. Return: 0, -ENOMEM, or the first error of a file that could not be
 * written.
 */
static int restore_now(struct sk_buff *skb, struct genl_info *info)
{
	u64 owner = kjoule_socket_owner(skb);
	int err = owner ? kjoule_restore_owned(owner) : -ENOMEM;

	if (err)
		kjoule_netlink_refuse(info, "not all could be written, see the kernel's log");
	return err;
}

static const struct kjoule_netlink_op ops[] = {
	{ .cmd = KJOULE_CMD_TRANSITION_NEW, .doit = transition_new },
	{ .cmd = KJOULE_CMD_TRANSITION_DEL, .doit = transition_del },
	{ .cmd = KJOULE_CMD_TRANSITION_CALIBRATE, .doit = transition_calibrate },
	{ .cmd = KJOULE_CMD_TRANSITION_TRY, .doit = transition_try },
	{
		.cmd = KJOULE_CMD_TRANSITION_LOOPS_GET,
		.dump_start = loops_get_start,
		.dumpit = loops_get,
		.dump_done = loops_get_done,
	},
	{ .cmd = KJOULE_CMD_RESTORE_ADD, .doit = restore_add },
	{ .cmd = KJOULE_CMD_RESTORE_NOW, .doit = restore_now },
};

static void transition_socket_released(u64 owner)
{
	/* fast probes must be done before their governor is restored */
	kjoule_transition_end_owned(owner);
	kjoule_restore_owned(owner);
}

const struct kjoule_netlink_method kjoule_transition_netlink = {
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.released = transition_socket_released,
};
