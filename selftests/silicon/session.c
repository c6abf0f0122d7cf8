// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session of silicon_summary's; see session.h.
 */
#include <errno.h>
#include <string.h>
#include <linux/genetlink.h>

#include "../kmod/guest.h"
#include "session.h"

static void take_id(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == KJOULE_A_SESSION_ID)
			*(uint32_t *)data = mnl_attr_get_u32(attr);
	}
}

int session_open(struct session *se, struct nl *nl, uint64_t interval_ns, const void *mask,
		 unsigned int bytes)
{
	struct nlmsghdr *request = nl_request(nl, KJOULE_CMD_SESSION_NEW, 0);
	uint32_t id = 0;
	int err;

	memset(se, 0, sizeof(*se));
	se->nl = nl;
	mnl_attr_put_u64(request, KJOULE_A_SESSION_INTERVAL_NS, interval_ns);
	/* ticks themselves are looked at, on idle CPUs too, which would be left alone otherwise */
	mnl_attr_put_u64(request, KJOULE_A_SESSION_FLAGS, KJOULE_FLAG_WAKE_IDLE);
	if (mask)
		mnl_attr_put(request, KJOULE_A_SESSION_CPUS, bytes, mask);
	err = nl_talk(nl, request, take_id, &id);
	if (err)
		return err;
	se->info.id = id;
	err = device_open(&se->d, id) ?: device_map(&se->d);
	if (err)
		session_close(se);
	return err;
}

int session_start(struct session *se)
{
	return nl_session_do(se->nl, KJOULE_CMD_SESSION_START, se->info.id, &se->info);
}

/* The tick of a record that has one: each has it behind its head. */
static uint64_t tick_of(uint64_t last, const struct kjoule_record *rec)
{
	uint32_t low;

	switch (rec->type) {
	case KJOULE_RECORD_SAMPLE:
	case KJOULE_RECORD_ENERGY:
	case KJOULE_RECORD_GAP:
		memcpy(&low, rec + 1, sizeof(low));
		return last + (uint32_t)(low - (uint32_t)last);
	default:
		return last;
	}
}

void session_read(struct session *se, session_visit *visit, void *data)
{
	unsigned int i;

	for (i = 0; i < se->d.n; i++) {
		struct ring *r = &se->d.ring[i];
		/* C */
		uint64_t head = __atomic_load_n(&r->head->head, __ATOMIC_ACQUIRE);
		uint64_t tail = r->tail->tail;

		while (tail != head) {
			const struct kjoule_record *rec =
				(const void *)(r->data + (tail & (r->size - 1)));

			if (rec->size < 8 || rec->size > head - tail)
				break;
			se->tick[i] = tick_of(se->tick[i], rec);
			if (rec->type == KJOULE_RECORD_TASK)
				se->pid[i] = ((const struct kjoule_task *)rec)->pid;
			visit(se, i, se->tick[i], rec, data);
			tail += rec->size;
		}
		__atomic_store_n(&r->tail->tail, head, __ATOMIC_RELEASE);	/* D */
	}
}

void session_stop(struct session *se, session_visit *visit, void *data)
{
	nl_session_do(se->nl, KJOULE_CMD_SESSION_STOP, se->info.id, &se->info);
	session_read(se, visit, data);
}

int session_run(struct session *se, unsigned int ms, session_visit *visit, void *data)
{
	int err = session_start(se);
	uint64_t end;

	if (err)
		return err;
	for (end = now_ns() + ms * 1000000ULL; now_ns() < end; sleep_ms(5))
		session_read(se, visit, data);
	session_stop(se, visit, data);
	return 0;
}

void session_close(struct session *se)
{
	device_close(&se->d);
	nl_session_do(se->nl, KJOULE_CMD_SESSION_DEL, se->info.id, NULL);
}
