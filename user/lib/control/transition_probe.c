// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See transition_probe.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include "lib/control/ctl.h"
#include "lib/control/transition_probe.h"

/* The answers of these operations. */
struct answer {
	struct kjoule_transition_probe *probe;
	struct kjoule_transition_probe_result *result;
};

struct loops {
	struct kjoule_loop *list;
	size_t n;
};

static int probe_parse_cpus(const struct nlattr *a, struct kjoule_cpus *cpus)
{
	size_t len = nla_len(a);

	memset(cpus, 0, sizeof(*cpus));
	if (len > sizeof(cpus->bits))
		return -EBADMSG;
	memcpy(cpus->bits, nla_data(a), len);
	return 0;
}

static int probe_parse_attr(const struct nlattr *a, struct kjoule_transition_probe *p)
{
	switch (nla_type(a)) {
	case KJOULE_A_TRANSITION_ID:
		p->id = nla_get_u32(a);
		return 0;
	case KJOULE_A_TRANSITION_CPU:
		p->cpu = nla_get_u32(a);
		return 0;
	case KJOULE_A_TRANSITION_WAY:
		p->way = nla_get_u32(a);
		return 0;
	case KJOULE_A_TRANSITION_DRIVER:
		nla_strlcpy(p->driver, a, sizeof(p->driver));
		return 0;
	case KJOULE_A_TRANSITION_CPUS:
		return probe_parse_cpus(a, &p->cpus);
	case KJOULE_A_TRANSITION_MIN_KHZ:
		p->min_khz = nla_get_u32(a);
		return 0;
	case KJOULE_A_TRANSITION_MAX_KHZ:
		p->max_khz = nla_get_u32(a);
		return 0;
	}
	return 0;
}

static void result_parse_attr(const struct nlattr *a, struct kjoule_transition_probe_result *r)
{
	switch (nla_type(a)) {
	case KJOULE_A_TRANSITION_OUTCOME:
		r->outcome = nla_get_u32(a);
		break;
	case KJOULE_A_TRANSITION_COUNT:
		r->count = nla_get_u32(a);
		break;
	case KJOULE_A_TRANSITION_BREAKS:
		r->cut = nla_get_u32(a);
		break;
	case KJOULE_A_TRANSITION_REQUESTED_NS:
		r->asked_ns = nla_get_u64(a);
		break;
	case KJOULE_A_TRANSITION_REQUEST_NS:
		r->request_ns = nla_get_u64(a);
		break;
	case KJOULE_A_TRANSITION_IRQS_OFF_NS:
		r->irqs_off_ns = nla_get_u64(a);
		break;
	case KJOULE_A_TRANSITION_IRQS_OFF_FROM_NS:
		r->irqs_off_from_ns = nla_get_u64(a);
		break;
	case KJOULE_A_TRANSITION_COUNTER:
		nla_strlcpy(r->counter, a, sizeof(r->counter));
		break;
	case KJOULE_A_TRANSITION_REFERENCE_KHZ:
		r->reference_khz = nla_get_u64(a);
		break;
	case KJOULE_A_TRANSITION_MIN_KHZ:
		r->min_khz = nla_get_u32(a);
		break;
	case KJOULE_A_TRANSITION_MAX_KHZ:
		r->max_khz = nla_get_u32(a);
		break;
	}
}

/* Numbers of any other length are invalid. */
static bool attr_is_whole(const struct nlattr *a)
{
	switch (nla_type(a)) {
	case KJOULE_A_TRANSITION_DRIVER:
	case KJOULE_A_TRANSITION_COUNTER:
	case KJOULE_A_TRANSITION_CPUS:
	case KJOULE_A_TRANSITION_DATA:
		return true;
	}
	return nla_len(a) == sizeof(uint32_t) || nla_len(a) == sizeof(uint64_t) || !nla_type(a);
}

static int answer_parse_attrs(struct nlattr *attrs, int len, void *arg)
{
	struct answer *to = arg;
	struct nlattr *a;
	int rest, ret = 0;

	nla_for_each_attr(a, attrs, len, rest) {
		if (!attr_is_whole(a))
			return -EBADMSG;
		if (to->probe)
			ret = probe_parse_attr(a, to->probe);
		if (ret)
			return ret;
		if (to->result)
			result_parse_attr(a, to->result);
	}
	return 0;
}

static int loops_parse_attrs(struct nlattr *attrs, int len, void *arg)
{
	struct nlattr *a = nla_find(attrs, len, KJOULE_A_TRANSITION_DATA);
	struct loops *to = arg;
	struct kjoule_loop *list;
	size_t n;

	if (!a || nla_len(a) % sizeof(*list))
		return -EBADMSG;
	n = nla_len(a) / sizeof(*list);
	list = realloc(to->list, (to->n + n + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list + to->n, nla_data(a), n * sizeof(*list));
	to->list = list;
	to->n += n;
	return 0;
}

static struct nl_msg *message_put_u32(struct nl_msg *msg, int type, uint32_t value)
{
	if (msg && !nla_put_u32(msg, type, value))
		return msg;
	if (msg)
		nlmsg_free(msg);
	return NULL;
}

static struct nl_msg *message_put_u64(struct nl_msg *msg, int type, uint64_t value)
{
	if (msg && !nla_put_u64(msg, type, value))
		return msg;
	if (msg)
		nlmsg_free(msg);
	return NULL;
}

static struct nl_msg *message_for_probe(struct kjoule_ctl *ctl,
					const struct kjoule_transition_probe *p, int cmd, int flags)
{
	return message_put_u32(kjoule_ctl_message(ctl, cmd, flags), KJOULE_A_TRANSITION_ID, p->id);
}

int kjoule_transition_probe_new(struct kjoule_ctl *ctl, uint32_t cpu, uint32_t way,
				struct kjoule_transition_probe *p, struct kjoule_error *err)
{
	struct nl_msg *msg = kjoule_ctl_message(ctl, KJOULE_CMD_TRANSITION_NEW, 0);
	struct answer to = { .probe = p };

	memset(p, 0, sizeof(*p));
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_CPU, cpu);
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_WAY, way);
	return kjoule_ctl_call(ctl, msg, answer_parse_attrs, &to, "measure frequency changes", err);
}

int kjoule_transition_probe_calibrate(struct kjoule_ctl *ctl,
				      const struct kjoule_transition_probe *p, uint32_t adds,
				      uint32_t khz, uint32_t loops, uint64_t wait_ns,
				      uint64_t slice_ns, struct kjoule_transition_probe_result *r,
				      struct kjoule_error *err)
{
	struct nl_msg *msg = message_for_probe(ctl, p, KJOULE_CMD_TRANSITION_CALIBRATE, 0);
	struct answer to = { .result = r };

	memset(r, 0, sizeof(*r));
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_ADDS, adds);
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_TO_KHZ, khz);
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_LOOPS, loops);
	msg = message_put_u64(msg, KJOULE_A_TRANSITION_TIMEOUT_NS, wait_ns);
	msg = message_put_u64(msg, KJOULE_A_TRANSITION_SLICE_NS, slice_ns);
	return kjoule_ctl_call(ctl, msg, answer_parse_attrs, &to, "time loops at a frequency", err);
}

int kjoule_transition_probe_try(struct kjoule_ctl *ctl, const struct kjoule_transition_probe *p,
				const struct kjoule_transition_probe_try *t,
				struct kjoule_transition_probe_result *r, struct kjoule_error *err)
{
	const struct { int type; uint32_t value; } numbers[] = {
		{ KJOULE_A_TRANSITION_ADDS, t->adds },
		{ KJOULE_A_TRANSITION_FROM_KHZ, t->from_khz },
		{ KJOULE_A_TRANSITION_TO_KHZ, t->to_khz },
		{ KJOULE_A_TRANSITION_FROM_LO_NS, t->from_lo_ns },
		{ KJOULE_A_TRANSITION_FROM_HI_NS, t->from_hi_ns },
		{ KJOULE_A_TRANSITION_TO_LO_NS, t->to_lo_ns },
		{ KJOULE_A_TRANSITION_TO_HI_NS, t->to_hi_ns },
		{ KJOULE_A_TRANSITION_LEAD, t->lead }, { KJOULE_A_TRANSITION_LOOPS, t->loops },
		{ KJOULE_A_TRANSITION_CONFIRM, t->confirm } };
	struct nl_msg *msg = message_for_probe(ctl, p, KJOULE_CMD_TRANSITION_TRY, 0);
	struct answer to = { .result = r };

	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		msg = message_put_u32(msg, numbers[i].type, numbers[i].value);
	msg = message_put_u64(msg, KJOULE_A_TRANSITION_TIMEOUT_NS, t->timeout_ns);
	msg = message_put_u64(msg, KJOULE_A_TRANSITION_SLICE_NS, t->slice_ns);
	return kjoule_ctl_call(ctl, msg, answer_parse_attrs, &to, "measure a frequency change",
			       err);
}

int kjoule_transition_probe_loops(struct kjoule_ctl *ctl, const struct kjoule_transition_probe *p,
				  struct kjoule_loop **loops, size_t *n, struct kjoule_error *err)
{
	struct loops to = { 0 };
	int ret = kjoule_ctl_call(ctl, message_for_probe(ctl, p, KJOULE_CMD_TRANSITION_LOOPS_GET,
							 NLM_F_DUMP), loops_parse_attrs, &to,
				  "fetch the loops", err);

	*loops = NULL;
	*n = 0;
	if (ret) {
		free(to.list);
		return ret;
	}
	*loops = to.list;
	*n = to.n;
	return 0;
}

int kjoule_restore_add(struct kjoule_ctl *ctl, int fd, const char *value, struct kjoule_error *err)
{
	struct nl_msg *msg = message_put_u32(kjoule_ctl_message(ctl, KJOULE_CMD_RESTORE_ADD, 0),
					     KJOULE_A_RESTORE_FD, fd);

	if (msg && nla_put_string(msg, KJOULE_A_RESTORE_VALUE, value)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return kjoule_ctl_call(ctl, msg, NULL, NULL, "have a setting restored", err);
}

int kjoule_restore_now(struct kjoule_ctl *ctl, struct kjoule_error *err)
{
	return kjoule_ctl_call(ctl, kjoule_ctl_message(ctl, KJOULE_CMD_RESTORE_NOW, 0), NULL, NULL,
			       "restore settings", err);
}
