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
#include "lib/control/netlink.h"
#include "lib/control/transition_probe.h"

struct loops {
	struct kjoule_loop *list;
	size_t n;
};

static const struct kjoule_field probe_fields[] = {
#define FIELD(attr, name) KJOULE_FIELD(TRANSITION_##attr, kjoule_transition_probe, name)
	FIELD(ID, id), FIELD(CPU, cpu), FIELD(WAY, way), FIELD(DRIVER, driver),
	FIELD(MIN_KHZ, min_khz), FIELD(MAX_KHZ, max_khz),
#undef FIELD
};

static const struct kjoule_field result_fields[] = {
#define FIELD(attr, name) KJOULE_FIELD(TRANSITION_##attr, kjoule_transition_probe_result, name)
	FIELD(OUTCOME, outcome), FIELD(COUNT, count), FIELD(BREAKS, cut),
	FIELD(REQUESTED_NS, asked_ns), FIELD(REQUEST_NS, request_ns),
	FIELD(IRQS_OFF_NS, irqs_off_ns), FIELD(IRQS_OFF_FROM_NS, irqs_off_from_ns),
	FIELD(COUNTER, counter), FIELD(REFERENCE_KHZ, reference_khz),
	FIELD(MIN_KHZ, min_khz), FIELD(MAX_KHZ, max_khz),
#undef FIELD
};

static int probe_parse_attrs(struct nlattr *attrs, int len, void *arg)
{
	const struct nlattr *cpus = nla_find(attrs, len, KJOULE_A_TRANSITION_CPUS);
	struct kjoule_transition_probe *p = arg;

	if (cpus && (size_t)nla_len(cpus) > sizeof(p->cpus.bits))
		return -EBADMSG;
	if (cpus)
		memcpy(p->cpus.bits, nla_data(cpus), nla_len(cpus));
	return KJOULE_PARSE(attrs, len, probe_fields, p);
}

static int result_parse_attrs(struct nlattr *attrs, int len, void *arg)
{
	return KJOULE_PARSE(attrs, len, result_fields, arg);
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

	memset(p, 0, sizeof(*p));
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_CPU, cpu);
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_WAY, way);
	return kjoule_ctl_call(ctl, msg, probe_parse_attrs, p, "measure frequency changes", err);
}

int kjoule_transition_probe_calibrate(struct kjoule_ctl *ctl,
				      const struct kjoule_transition_probe *p, uint32_t adds,
				      uint32_t khz, uint32_t loops, uint64_t wait_ns,
				      uint64_t slice_ns, struct kjoule_transition_probe_result *r,
				      struct kjoule_error *err)
{
	struct nl_msg *msg = message_for_probe(ctl, p, KJOULE_CMD_TRANSITION_CALIBRATE, 0);

	memset(r, 0, sizeof(*r));
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_ADDS, adds);
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_TO_KHZ, khz);
	msg = message_put_u32(msg, KJOULE_A_TRANSITION_LOOPS, loops);
	msg = message_put_u64(msg, KJOULE_A_TRANSITION_TIMEOUT_NS, wait_ns);
	msg = message_put_u64(msg, KJOULE_A_TRANSITION_SLICE_NS, slice_ns);
	return kjoule_ctl_call(ctl, msg, result_parse_attrs, r, "time loops at a frequency", err);
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

	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		msg = message_put_u32(msg, numbers[i].type, numbers[i].value);
	msg = message_put_u64(msg, KJOULE_A_TRANSITION_TIMEOUT_NS, t->timeout_ns);
	msg = message_put_u64(msg, KJOULE_A_TRANSITION_SLICE_NS, t->slice_ns);
	return kjoule_ctl_call(ctl, msg, result_parse_attrs, r, "measure a frequency change", err);
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
