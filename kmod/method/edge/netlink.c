// SPDX-License-Identifier: GPL-2.0-only
/* Edge windows as a method of sessions: attributes of requests and of the session's message. */
#include <linux/cpu.h>
#include <net/netlink.h>

#include "method/edge/edge.h"
#include "session/session.h"

static int edges_make(struct kjoule_session *s, const struct kjoule_session_config *c, void **made,
		      const char **why)
{
	const struct nlattr *duty = c->attrs[KJOULE_A_SESSION_EDGE_DUTY];
	struct kjoule_edges *edges = NULL;
	int err;

	if (!duty)
		return 0;
	if (!c->may_pause) {
		*why = "edge windows pause CPUs: CAP_SYS_NICE is needed";
		return -EPERM;
	}
	cpus_read_lock();
	err = kjoule_edges_new(&edges, s->n_sources ? s->source[0] : NULL, s->stuck[0],
			       nla_get_u32(duty), s->sampler, s->n, why);
	cpus_read_unlock();
	*made = edges;
	return err;
}

static int edges_start(void *made, const char **why)
{
	kjoule_edges_run(made);
	return 0;
}

static void edges_halt(void *made)
{
	kjoule_edges_halt(made);
}

static void edges_resume(void *made)
{
	kjoule_edges_run(made);
}

static int edges_put_attrs(void *made, struct sk_buff *skb)
{
	struct kjoule_edge_stats b;

	kjoule_edges_get_stats(made, &b);
	return nla_put_u32(skb, KJOULE_A_SESSION_EDGE_DUTY, kjoule_edges_duty(made)) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_EDGE_WINDOWS, b.windows, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_EDGE_SPINS, b.spins, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_EDGE_FAILED, b.failed, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_EDGE_PAUSED_NS, b.paused_ns, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_EDGE_PAUSED_MAX_NS, b.paused_max_ns, 0) ||
	       nla_put_u64_64bit(skb, KJOULE_A_SESSION_EDGE_BLOCKED, b.blocked, 0);
}

static void edges_free(void *made)
{
	kjoule_edges_free(made);
}

const struct kjoule_method_ops kjoule_edge_method = {
	.make = edges_make,
	.start = edges_start,
	.halt = edges_halt,
	.suspend = edges_halt,
	.resume = edges_resume,
	.put_attrs = edges_put_attrs,
	.free = edges_free,
};
