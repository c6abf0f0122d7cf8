// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See probe.h.
 */
#include <stdio.h>
#include <string.h>

#include <linux/genetlink.h>
#include "probe.h"

static void take_answer(const struct nlmsghdr *message, void *data)
{
	struct probe_answer *a = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		const uint32_t *u32 = mnl_attr_get_payload(attr);

		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_TRANSITION_ID: a->id = *u32; break;
		case KJOULE_A_TRANSITION_CPU: a->cpu = *u32; break;
		case KJOULE_A_TRANSITION_WAY: a->way = *u32; break;
		case KJOULE_A_TRANSITION_MIN_KHZ: a->min_khz = *u32; break;
		case KJOULE_A_TRANSITION_MAX_KHZ: a->max_khz = *u32; break;
		case KJOULE_A_TRANSITION_OUTCOME: a->outcome = *u32; break;
		case KJOULE_A_TRANSITION_COUNT: a->count = *u32; break;
		case KJOULE_A_TRANSITION_BREAKS: a->cut = *u32; break;
		case KJOULE_A_TRANSITION_REQUESTED_NS: a->asked_ns = mnl_attr_get_u64(attr); break;
		case KJOULE_A_TRANSITION_REQUEST_NS: a->request_ns = mnl_attr_get_u64(attr); break;
		case KJOULE_A_TRANSITION_IRQS_OFF_NS:
			a->irqs_off_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_TRANSITION_IRQS_OFF_FROM_NS:
			a->irqs_off_from_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_TRANSITION_REFERENCE_KHZ:
			a->reference_khz = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_TRANSITION_COUNTER:
			snprintf(a->counter, sizeof(a->counter), "%s", mnl_attr_get_str(attr));
			break;
		case KJOULE_A_TRANSITION_CPUS: a->cpus = *(const uint8_t *)u32; break;
		case KJOULE_A_TRANSITION_DRIVER:
			snprintf(a->driver, sizeof(a->driver), "%s", mnl_attr_get_str(attr));
			break;
		}
	}
}

static void take_loops(const struct nlmsghdr *message, void *data)
{
	struct probe_loops *to = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		unsigned int n = mnl_attr_get_payload_len(attr) / sizeof(to->list[0]);

		if (mnl_attr_get_type(attr) != KJOULE_A_TRANSITION_DATA || to->n + n > 65536)
			continue;
		memcpy(&to->list[to->n], mnl_attr_get_payload(attr), n * sizeof(to->list[0]));
		to->n += n;
	}
}

int probe_talk(struct nl *from, const struct probe_ask *ask, struct probe_answer *a)
{
	const struct { uint16_t type; uint32_t value; } numbers[] = {
		{ KJOULE_A_TRANSITION_ID, ask->id }, { KJOULE_A_TRANSITION_WAY, ask->way },
		{ KJOULE_A_TRANSITION_ADDS, ask->adds },
		{ KJOULE_A_TRANSITION_FROM_KHZ, ask->from_khz },
		{ KJOULE_A_TRANSITION_TO_KHZ, ask->to_khz },
		{ KJOULE_A_TRANSITION_FROM_LO_NS, ask->from_lo },
		{ KJOULE_A_TRANSITION_FROM_HI_NS, ask->from_hi },
		{ KJOULE_A_TRANSITION_TO_LO_NS, ask->to_lo },
		{ KJOULE_A_TRANSITION_TO_HI_NS, ask->to_hi },
		{ KJOULE_A_TRANSITION_LEAD, ask->lead },
		{ KJOULE_A_TRANSITION_LOOPS, ask->loops },
		{ KJOULE_A_TRANSITION_CONFIRM, ask->confirm } };
	struct nlmsghdr *r = nl_request(from, ask->cmd, 0);
	bool is_new = ask->cmd == KJOULE_CMD_TRANSITION_NEW;

	memset(a, 0, sizeof(*a));
	if (is_new && !ask->no_cpu)
		mnl_attr_put_u32(r, KJOULE_A_TRANSITION_CPU, ask->cpu);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].value)
			mnl_attr_put_u32(r, numbers[i].type, numbers[i].value);
	if (ask->timeout_ns)
		mnl_attr_put_u64(r, KJOULE_A_TRANSITION_TIMEOUT_NS, ask->timeout_ns);
	if (ask->slice_ns)
		mnl_attr_put_u64(r, KJOULE_A_TRANSITION_SLICE_NS, ask->slice_ns);
	return nl_talk(from, r, take_answer, a);
}

int probe_get_loops(struct nl *from, uint32_t id, struct probe_loops *to)
{
	struct nlmsghdr *r = nl_request(from, KJOULE_CMD_TRANSITION_LOOPS_GET, NLM_F_DUMP);

	to->n = 0;
	mnl_attr_put_u32(r, KJOULE_A_TRANSITION_ID, id);
	return nl_talk(from, r, take_loops, to);
}

int probe_new(struct nl *from, uint32_t cpu, uint32_t way, struct probe_answer *a)
{
	return probe_talk(from, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_NEW, .cpu = cpu,
						     .way = way }, a);
}

int probe_restore_add(struct nl *from, int fd, const char *value)
{
	struct nlmsghdr *r = nl_request(from, KJOULE_CMD_RESTORE_ADD, 0);

	mnl_attr_put_u32(r, KJOULE_A_RESTORE_FD, fd);
	mnl_attr_put_strz(r, KJOULE_A_RESTORE_VALUE, value);
	return nl_talk(from, r, NULL, NULL);
}
