// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readings of blocks as a method of sessions: attributes of requests and of the session's message,
 * and the operation session-block.
 */
#include <net/genetlink.h>
#include <net/netlink.h>

#include "method/vpm/vpm.h"
#include "netlink/netlink.h"
#include "session/session.h"

static int vpm_make(struct kjoule_session *s, const struct kjoule_session_config *c, void **made,
		    const char **why)
{
	const struct nlattr *interval = c->attrs[KJOULE_A_SESSION_VPM_INTERVAL_NS];
	const struct nlattr *source = c->attrs[KJOULE_A_SESSION_VPM_SOURCE];
	struct kjoule_vpm *vpm = NULL;
	int err;

	if (!interval) {
		if (source)
			*why = "a meter that starts on command goes with vpm-interval-ns";
		return source ? -EINVAL : 0;
	}
	if (!c->may_pause) {
		*why = "readings of blocks pause CPUs: CAP_SYS_NICE is needed";
		return -EPERM;
	}
	err = kjoule_vpm_new(&vpm, source ? nla_data(source) : NULL, nla_get_u64(interval),
			     &s->plan.target, s->sampler, s->n, why);
	*made = vpm;
	return err;
}

static int vpm_start(void *made, const char **why)
{
	int err = kjoule_vpm_run(made);

	if (err)
		*why = "no thread can be created for readings of blocks";
	return err;
}

static void vpm_halt(void *made)
{
	kjoule_vpm_halt(made);
}

static int vpm_put_attrs(void *made, struct sk_buff *skb)
{
	struct kjoule_vpm_meter m;
	struct kjoule_vpm_stats b;

	kjoule_vpm_get_stats(made, &b);
	kjoule_vpm_get_meter(made, &m);
	return nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_INTERVAL_NS, m.interval_ns, 0) ||
	       nla_put_string(skb, KJOULE_A_SESSION_VPM_SOURCE, m.name) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_READY_NS, m.ready_ns, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_MAX_UW, m.max_uw, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_MIN_UW, m.min_uw, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_READINGS, b.readings, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_NO_HIT, b.no_hit, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_NO_END, b.no_end, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_MISMATCHED, b.mismatched, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_UNUSABLE, b.unusable, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_FAILED, b.failed, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_PAUSED_NS, b.paused_ns, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_PAUSED_MAX_NS, b.paused_max_ns, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_TRIALS, b.trials, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_LEARNT, b.learnt, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_ABORTED, b.aborted, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_OVERRUN, b.overrun, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_VPM_SKIPPED, b.skipped, 0);
}

static void vpm_free(void *made)
{
	kjoule_vpm_free(made);
}

const struct kjoule_method_ops kjoule_vpm_method = {
	.make = vpm_make,
	.start = vpm_start,
	.halt = vpm_halt,
	.put_attrs = vpm_put_attrs,
	.free = vpm_free,
};

static int vpm_reply(struct genl_info *info, const struct kjoule_session *s, u32 block)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *head;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put_reply(skb, info, &kjoule_family, 0, info->genlhdr->cmd);
	if (!head || nla_put_u32(skb, KJOULE_A_SESSION_ID, s->id) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_BLOCK, block)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

/*
 * KJOULE_CMD_SESSION_BLOCK. Return: 0, -EINVAL (an address is missing, or the end is 0, or the
 * session has no readings of blocks), -ENOENT if it has ended, or -errno, see kjoule_vpm_add().
 */
static int vpm_session_block(struct sk_buff *skb, struct genl_info *info)
{
	struct kjoule_session *s = kjoule_netlink_find_session(info, KJOULE_A_SESSION_ID, skb);
	struct nlattr **attrs = info->attrs, *end = attrs[KJOULE_A_SESSION_BLOCK_END];
	struct kjoule_vpm_place place;
	const char *why = NULL;
	struct kjoule_vpm *vpm;
	int ret = -EINVAL;

	if (IS_ERR(s))
		return PTR_ERR(s);
	vpm = kjoule_method_of(s, &kjoule_vpm_method);
	if (!attrs[KJOULE_A_SESSION_BLOCK_PID] || !attrs[KJOULE_A_SESSION_BLOCK_START] ||
	    !attrs[KJOULE_A_SESSION_BLOCK_NEXT]) {
		why = "the block's process, first or second instruction is missing";
	} else if (!vpm) {
		why = "the session has no readings of blocks: make it with vpm-interval-ns";
	} else if (end && !nla_get_u64(end)) {
		why = "a block does not end at 0: leave that out for where its function returns to";
	} else if (kjoule_session_has_ended(s)) {
		ret = kjoule_netlink_refuse_unknown(info->extack, s->id);
	} else {
		place = (struct kjoule_vpm_place){
			.pid = nla_get_u32(attrs[KJOULE_A_SESSION_BLOCK_PID]),
			.start = nla_get_u64(attrs[KJOULE_A_SESSION_BLOCK_START]),
			.next = nla_get_u64(attrs[KJOULE_A_SESSION_BLOCK_NEXT]),
			.end = end ? nla_get_u64(end) : 0,
		};
		ret = kjoule_vpm_add(vpm, &place, &why);
	}
	kjoule_netlink_refuse(info, why);
	if (ret >= 0)
		ret = vpm_reply(info, s, ret);
	kjoule_session_put(s);
	return ret;
}

static const struct kjoule_netlink_op ops[] = {
	{ .cmd = KJOULE_CMD_SESSION_BLOCK, .doit = vpm_session_block },
};

const struct kjoule_netlink_method kjoule_vpm_netlink = { .ops = ops, .n_ops = ARRAY_SIZE(ops) };
