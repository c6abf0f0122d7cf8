// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the generic netlink family answers: sources, sessions and their books as
 * attributes. Owns their layout in a message; netlink.c decides who gets which.
 */
#include <net/genetlink.h>

#include "netlink_msg.h"
#include "session.h"

static void *begin(struct sk_buff *skb, const struct kjoule_msg_to *to, u8 cmd)
{
	return genlmsg_put(skb, to->portid, to->seq, &kjoule_family, to->flags, cmd);
}

static int put_domain(struct sk_buff *skb, const struct kjoule_domain *d, u32 index)
{
	struct nlattr *nest = nla_nest_start(skb, KJOULE_A_SOURCE_DOMAIN);

	if (!nest || nla_put_u32(skb, KJOULE_A_DOMAIN_INDEX, index) ||
	    nla_put_string(skb, KJOULE_A_DOMAIN_NAME, d->name) ||
	    nla_put_u32(skb, KJOULE_A_DOMAIN_CLASS, d->class) ||
	    nla_put_u32(skb, KJOULE_A_DOMAIN_WIDTH, d->width) ||
	    nla_put_u64_64bit(skb, KJOULE_A_DOMAIN_UNIT_MULT, d->unit_mult, 0) ||
	    nla_put_u32(skb, KJOULE_A_DOMAIN_UNIT_SHIFT, d->unit_shift) ||
	    nla_put_s32(skb, KJOULE_A_DOMAIN_PARENT, d->parent) ||
	    nla_put_u64_64bit(skb, KJOULE_A_DOMAIN_UPDATE_PERIOD_NS, d->update_period_ns, 0))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* What a source is; whether it can be used is kjoule_msg_source()'s. */
static int put_source_info(struct sk_buff *skb, struct kjoule_source *src)
{
	unsigned int i;
	int err;

	if (nla_put_u32(skb, KJOULE_A_SOURCE_ID, src->id) ||
	    nla_put_string(skb, KJOULE_A_SOURCE_NAME, src->name) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_KIND, src->kind) ||
	    nla_put_s32(skb, KJOULE_A_SOURCE_RATING, src->rating) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_REQUESTED_ONLY, src->requested_only) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SOURCE_REFERENCE_KHZ, src->reference_khz, 0))
		return -EMSGSIZE;
	for (i = 0; i < src->n_domains; i++) {
		err = put_domain(skb, &src->domains[i], i);
		if (err)
			return err;
	}
	return 0;
}

/**
 * kjoule_msg_source() - a source's message
 * @skb:	the answer
 * @to:		who gets it
 * @src:	the source
 * @unavailable: 0, or why it can not be used
 * @why:	the same in words
 * @is_default:	it is taken when none is asked for
 *
 * Context: process.
 * Return: 0 or -EMSGSIZE.
 */
int kjoule_msg_source(struct sk_buff *skb, const struct kjoule_msg_to *to,
		      struct kjoule_source *src, int unavailable, const char *why, bool is_default)
{
	void *hdr = begin(skb, to, KJOULE_CMD_SOURCE_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (put_source_info(skb, src) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_AVAILABLE, !unavailable) ||
	    (unavailable && nla_put_string(skb, KJOULE_A_SOURCE_REASON, why)) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_DEFAULT, is_default)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int put_source_nest(struct sk_buff *skb, struct kjoule_source *src)
{
	struct nlattr *nest;

	if (!src)
		return 0;
	nest = nla_nest_start(skb, KJOULE_A_SESSION_SOURCE_INFO);
	if (!nest || put_source_info(skb, src))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The CPUs of a session as a mask of little endian bytes. */
static int put_cpus(struct sk_buff *skb, struct kjoule_session *s)
{
	unsigned int bytes = s->sampler[s->n - 1]->cpu / 8 + 1, i;
	struct nlattr *attr = nla_reserve(skb, KJOULE_A_SESSION_CPUS, bytes);
	u8 *mask;

	if (!attr)
		return -EMSGSIZE;
	mask = nla_data(attr);
	memset(mask, 0, bytes);
	for (i = 0; i < s->n; i++)
		mask[s->sampler[i]->cpu / 8] |= 1 << s->sampler[i]->cpu % 8;
	return 0;
}

/**
 * kjoule_msg_session() - a session's message
 * @skb:	the answer
 * @to:		who gets it
 * @cmd:	what it answers
 * @s:		the session, with a reference
 *
 * Context: process.
 * Return: 0 or -EMSGSIZE.
 */
int kjoule_msg_session(struct sk_buff *skb, const struct kjoule_msg_to *to, u8 cmd,
		       struct kjoule_session *s)
{
	const struct kjoule_session_config *c = &s->config;
	void *hdr = begin(skb, to, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, KJOULE_A_SESSION_ID, s->id) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_INTERVAL_NS, c->interval_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_JITTER_NS, c->jitter_ns, 0) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_TARGET, c->target) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_PID, c->pid) ||
	    put_cpus(skb, s) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_RING_BYTES, c->ring_bytes) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_WAKEUP_BYTES, s->plan.wakeup_bytes) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_FLAGS, 0, 0) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_STATE, READ_ONCE(s->state)) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_T0_NS, s->plan.t0_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_SEED, s->plan.seed, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_STOP_NS, s->stop_ns, 0) ||
	    put_source_nest(skb, s->plan.energy) || put_source_nest(skb, s->plan.frequency)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * kjoule_msg_stats() - the books of one CPU of a session
 * @skb:	the answer
 * @to:		who gets it
 * @s:		the session, with a reference
 * @sampler:	the CPU's
 *
 * Context: process.
 * Return: 0 or -EMSGSIZE.
 */
int kjoule_msg_stats(struct sk_buff *skb, const struct kjoule_msg_to *to,
		     struct kjoule_session *s, struct kjoule_sampler *sampler)
{
	struct kjoule_books b;
	u64 waiting;
	void *hdr;

	kjoule_sampler_books(sampler, &b);
	waiting = kjoule_ring_waiting(&sampler->ring, b.head, b.records - b.lost);
	hdr = begin(skb, to, KJOULE_CMD_STATS_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, KJOULE_A_STATS_SESSION, s->id) ||
	    nla_put_u32(skb, KJOULE_A_STATS_CPU, sampler->cpu) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_DUE, b.due, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_PRODUCED, b.produced, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_MISSED, b.missed, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_PARKED, b.parked, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_FILTERED, b.filtered, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_RECORDS, b.records, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_CONSUMED, b.records - b.lost - waiting, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_LOST, b.lost, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_WAITING, waiting, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_SAMPLES, b.samples, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_TICK_NS, b.tick_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_LATE_MAX_NS, b.late_max_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_SOURCE_ERRORS, b.source_errors, 0)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}
