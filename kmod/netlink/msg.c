// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the generic netlink family: sources, sessions and statistics as attributes. netlink.c
 * decides when they are sent.
 */
#include <linux/module.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>

#include "netlink/msg.h"
#include "session/session.h"
#include "source/notifier.h"

/* family.c adds the operations, which send messages. */
struct genl_family kjoule_family __ro_after_init = {
	.name = KJOULE_FAMILY_NAME,
	.version = KJOULE_FAMILY_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,	/* the core has its own locks */
	.resv_start_op = 1,
};

static void *msg_begin(struct sk_buff *skb, const struct kjoule_msg_to *to, u8 cmd)
{
	return genlmsg_put(skb, to->portid, to->seq, &kjoule_family, to->flags, cmd);
}

static int msg_domain_parent(const struct kjoule_source *src, unsigned int domain, u32 stuck)
{
	int parent = src->domains[domain].parent;
	unsigned int i;

	for (i = 0; i < src->n_domains && parent >= 0 && stuck & BIT(parent); i++)
		parent = src->domains[parent].parent;
	return i < src->n_domains ? parent : -1;
}

static int msg_put_domain(struct sk_buff *skb, const struct kjoule_source *src, u32 index,
			  u32 stuck)
{
	const struct kjoule_domain *d = &src->domains[index];
	struct nlattr *nest = nla_nest_start(skb, KJOULE_A_SOURCE_DOMAIN);

	if (!nest || nla_put_u32(skb, KJOULE_A_DOMAIN_INDEX, index) ||
	    nla_put_string(skb, KJOULE_A_DOMAIN_NAME, d->name) ||
	    nla_put_u32(skb, KJOULE_A_DOMAIN_CLASS, d->class) ||
	    nla_put_u32(skb, KJOULE_A_DOMAIN_WIDTH, d->width) ||
	    nla_put_u64_64bit(skb, KJOULE_A_DOMAIN_UNIT_MULT, d->unit_mult, 0) ||
	    nla_put_u32(skb, KJOULE_A_DOMAIN_UNIT_SHIFT, d->unit_shift) ||
	    nla_put_s32(skb, KJOULE_A_DOMAIN_PARENT, msg_domain_parent(src, index, stuck)) ||
	    nla_put_u64_64bit(skb, KJOULE_A_DOMAIN_UPDATE_PERIOD_NS, d->update_period_ns, 0) ||
	    nla_put_u32(skb, KJOULE_A_DOMAIN_QUANTITY, d->quantity) ||
	    nla_put_u64_64bit(skb, KJOULE_A_DOMAIN_RANGE, d->range, 0))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int msg_put_source_info(struct sk_buff *skb, struct kjoule_source *src, u32 stuck)
{
	unsigned int i;
	int err;

	if (nla_put_u32(skb, KJOULE_A_SOURCE_ID, src->id) ||
	    nla_put_string(skb, KJOULE_A_SOURCE_NAME, src->name) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_KIND, src->kind) ||
	    nla_put_s32(skb, KJOULE_A_SOURCE_RATING, src->rating) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_REQUESTED_ONLY, src->requested_only) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SOURCE_REFERENCE_KHZ, src->reference_khz, 0) ||
	    (src->ops->start && nla_put_u64_64bit(skb, KJOULE_A_SOURCE_READY_NS, src->ready_ns, 0)))
		return -EMSGSIZE;
	for (i = 0; i < src->n_domains; i++) {
		err = stuck & BIT(i) ? 0 : msg_put_domain(skb, src, i, stuck);
		if (err)
			return err;
	}
	return 0;
}

static size_t msg_source_size(unsigned int domains)
{
	return KJOULE_A_SOURCE_MAX * nla_total_size(16) + nla_total_size(KJOULE_SOURCE_NAME_LEN) +
	       nla_total_size(KJOULE_WHY_LEN) +
	       domains * (nla_total_size(0) + KJOULE_A_DOMAIN_MAX * nla_total_size(16));
}

/** kjoule_msg_source_size() - maximum size of a source's message */
size_t kjoule_msg_source_size(void)
{
	return NLMSG_HDRLEN + GENL_HDRLEN + msg_source_size(KJOULE_MAX_DOMAINS);
}

/** kjoule_msg_source() - a source's message; @unavailable: 0, or the error that @why explains */
int kjoule_msg_source(struct sk_buff *skb, const struct kjoule_msg_to *to,
		      struct kjoule_source *src, int unavailable, const char *why, bool is_default)
{
	void *hdr = msg_begin(skb, to, KJOULE_CMD_SOURCE_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (msg_put_source_info(skb, src, READ_ONCE(src->stuck)) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_AVAILABLE, !unavailable) ||
	    (unavailable && nla_put_string(skb, KJOULE_A_SOURCE_REASON, why)) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_DEFAULT, is_default)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int msg_put_scopes(struct sk_buff *skb, struct kjoule_session *s, u32 index)
{
	struct nlattr *attr = nla_reserve(skb, KJOULE_A_SOURCE_SCOPES, s->n * sizeof(u32));
	unsigned int i, j, n;
	u32 *scope;

	if (!attr)
		return -EMSGSIZE;
	scope = nla_data(attr);
	for (i = 0; i < s->n; i++) {
		scope[i] = s->sampler[i]->cpu;
		/* pairs with sampler_add_meter_on_cpu(): meters may be added */
		n = smp_load_acquire(&s->sampler[i]->n_meters);
		for (j = 0; j < n; j++) {
			const struct kjoule_meter *m = READ_ONCE(s->sampler[i]->meter[j]);

			if (m->index == index)
				scope[i] = m->scope;
		}
	}
	return 0;
}

static int msg_put_poller(struct sk_buff *skb, const struct kjoule_poller *p)
{
	struct kjoule_poller_stats b;

	kjoule_poller_get_stats(p, &b);
	return nla_put_u64_64bit(skb, KJOULE_A_SOURCE_PERIOD_NS, p->period_ns, 0) ?:
	       nla_put_u64_64bit(skb, KJOULE_A_SOURCE_READS, b.reads, 0) ?:
	       nla_put_u64_64bit(skb, KJOULE_A_SOURCE_ERRORS, b.errors, 0) ?:
	       nla_put_u64_64bit(skb, KJOULE_A_SOURCE_OVERRUNS, b.overruns, 0);
}

static int msg_put_use(struct sk_buff *skb, struct kjoule_session *s, u32 index)
{
	if (s->poller[index])
		return msg_put_poller(skb, s->poller[index]);
	return nla_put_u64_64bit(skb, KJOULE_A_SOURCE_PERIOD_NS, 0, 0) ?:
	       msg_put_scopes(skb, s, index);
}

static int msg_put_sources(struct sk_buff *skb, struct kjoule_session *s)
{
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < s->n_sources; i++) {
		nest = nla_nest_start(skb, KJOULE_A_SESSION_SOURCE_INFO);
		if (!nest || msg_put_source_info(skb, s->source[i], s->stuck[i]) ||
		    nla_put_u32(skb, KJOULE_A_SOURCE_ORIGIN, s->source[i]->origin) ||
		    msg_put_use(skb, s, i))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	if (!s->plan.frequency)
		return 0;
	nest = nla_nest_start(skb, KJOULE_A_SESSION_SOURCE_INFO);
	if (!nest || msg_put_source_info(skb, s->plan.frequency, 0) ||
	    nla_put_u32(skb, KJOULE_A_SOURCE_ORIGIN, s->plan.frequency->origin))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int msg_put_cpus(struct sk_buff *skb, struct kjoule_session *s)
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

/** kjoule_msg_session_size() - maximum size of a session's message */
size_t kjoule_msg_session_size(const struct kjoule_session *s)
{
	unsigned int i;
	size_t size;

	size = NLMSG_HDRLEN + GENL_HDRLEN + KJOULE_A_SESSION_MAX * nla_total_size(16) +
	       nla_total_size(nr_cpu_ids / 8 + 1) + msg_source_size(0);
	for (i = 0; i < s->n_sources; i++)
		size += msg_source_size(s->source[i]->n_domains) +
			nla_total_size(s->n * sizeof(u32));
	return size;
}

/* kjoule_msg_session() - a session's message. @s: the session, with a reference. */
int kjoule_msg_session(struct sk_buff *skb, const struct kjoule_msg_to *to, u8 cmd,
		       struct kjoule_session *s)
{
	const struct kjoule_session_config *c = &s->config;
	const struct kjoule_family *family = s->plan.target.family;
	void *hdr = msg_begin(skb, to, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, KJOULE_A_SESSION_ID, s->id) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_INTERVAL_NS, c->interval_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_JITTER_NS, c->jitter_ns, 0) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_TARGET, c->target) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_PID, c->pid) ||
	    msg_put_cpus(skb, s) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_RING_BYTES, c->ring_bytes) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_WAKEUP_BYTES, s->plan.wakeup_bytes) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_FLAGS, c->flags, 0) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_STATE, READ_ONCE(s->state)) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_T0_NS, s->plan.t0_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_SEED, s->plan.seed, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_SESSION_STOP_NS, s->stop_ns, 0) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_CHAIN_DEPTH, c->chain_depth) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_STACK_BYTES, c->stack_bytes) ||
	    nla_put_u32(skb, KJOULE_A_SESSION_USER, from_kuid_munged(&init_user_ns, s->creator)) ||
	    msg_put_sources(skb, s) ||
	    kjoule_session_methods_put_attrs(s, skb) ||
	    (family && (nla_put_u32(skb, KJOULE_A_SESSION_CHILDREN, READ_ONCE(family->count)) ||
			nla_put_u64_64bit(skb, KJOULE_A_SESSION_CHILDREN_LOST,
					  READ_ONCE(family->lost), 0)))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* kjoule_msg_stats() - statistics of a session. @cpu: the CPU, -1: the sum. */
int kjoule_msg_stats(struct sk_buff *skb, const struct kjoule_msg_to *to, u32 session, int cpu,
		     const struct kjoule_stats *b)
{
	u64 consumed = b->records - b->lost - b->waiting;
	void *hdr = msg_begin(skb, to, KJOULE_CMD_STATS_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, KJOULE_A_STATS_SESSION, session) ||
	    (cpu >= 0 && nla_put_u32(skb, KJOULE_A_STATS_CPU, cpu)) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_DUE, b->due, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_TAKEN, b->taken, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_MISSED, b->missed, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_SKIPPED, b->skipped, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_FILTERED, b->filtered, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_RECORDS, b->records, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_CONSUMED, consumed, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_LOST, b->lost, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_WAITING, b->waiting, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_SAMPLES, b->samples, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_TICK_NS, b->tick_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_DELAY_MAX_NS, b->delay_max_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_SOURCE_ERRORS, b->source_errors, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_IDLE_NS, b->idle_ns, 0) ||
	    nla_put_u64_64bit(skb, KJOULE_A_STATS_STACKS_WITHHELD, b->stacks_withheld, 0)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/*
 * kjoule_msg_records() - move records from a ring to a message, up to @head, as many as fit.
 * Return: bytes; 0, and no message, if the next record does not fit or none waits.
 */
ssize_t kjoule_msg_records(struct sk_buff *skb, const struct kjoule_msg_to *to,
			   struct kjoule_session *s, struct kjoule_sampler *sampler, u64 head)
{
	void *hdr = msg_begin(skb, to, KJOULE_CMD_RECORDS_GET);
	struct nlattr *attr;
	struct iov_iter iter;
	struct kvec room;
	ssize_t bytes;

	if (!hdr)
		return 0;
	if (nla_put_u32(skb, KJOULE_A_RECORDS_SESSION, s->id) ||
	    nla_put_u32(skb, KJOULE_A_RECORDS_CPU, sampler->cpu) ||
	    skb_tailroom(skb) < NLA_HDRLEN)
		goto none;
	/* read straight into the message, then set its length */
	attr = (struct nlattr *)skb_tail_pointer(skb);
	room.iov_base = nla_data(attr);
	room.iov_len = min_t(size_t, skb_tailroom(skb), U16_MAX) - NLA_HDRLEN;
	iov_iter_kvec(&iter, READ, &room, 1, room.iov_len);
	bytes = kjoule_ring_read(&sampler->ring, head, &iter);
	if (bytes <= 0)
		goto none;
	__nla_reserve(skb, KJOULE_A_RECORDS_DATA, bytes);
	genlmsg_end(skb, hdr);
	return bytes;

none:
	genlmsg_cancel(skb, hdr);
	return 0;
}

/** kjoule_msg_notice() - an event of a session */
int kjoule_msg_notice(struct sk_buff *skb, const struct kjoule_msg_to *to,
		      const struct kjoule_event *n)
{
	void *hdr = msg_begin(skb, to, KJOULE_CMD_NOTICE);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, KJOULE_A_NOTICE_EVENT, n->event) ||
	    nla_put_u64_64bit(skb, KJOULE_A_NOTICE_TIME_NS, n->time_ns, 0) ||
	    nla_put_u32(skb, KJOULE_A_NOTICE_SESSION, n->session) ||
	    (n->cpu >= 0 && nla_put_u32(skb, KJOULE_A_NOTICE_CPU, n->cpu)) ||
	    (n->source && nla_put_string(skb, KJOULE_A_NOTICE_SOURCE, n->source)) ||
	    (n->count && nla_put_u64_64bit(skb, KJOULE_A_NOTICE_COUNT, n->count, 0)) ||
	    (uid_valid(n->user) &&
	     nla_put_u32(skb, KJOULE_A_NOTICE_USER, from_kuid_munged(&init_user_ns, n->user)))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}
