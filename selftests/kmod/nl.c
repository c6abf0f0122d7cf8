// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Raw netlink for the module's selftests; see nl.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "nl.h"

static struct nlmsghdr *begin(struct nl *nl, uint16_t type, uint8_t cmd, uint8_t version,
			      uint16_t flags)
{
	struct nlmsghdr *request;
	struct genlmsghdr *genl;

	memset(nl->buffer, 0, sizeof(nl->buffer));
	request = mnl_nlmsg_put_header(nl->buffer);
	request->nlmsg_type = type;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	request->nlmsg_seq = ++nl->seq;
	genl = mnl_nlmsg_put_extra_header(request, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return request;
}

/* Begin a request to the family in the socket's buffer. */
struct nlmsghdr *nl_request(struct nl *nl, uint8_t cmd, uint16_t flags)
{
	return begin(nl, nl->family, cmd, KJOULE_FAMILY_VERSION, flags);
}

/* errno and words of an acknowledgement. */
static int take_error(struct nl *nl, const struct nlmsghdr *message)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
	unsigned int skip = sizeof(*error);
	const struct nlattr *attr;

	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		skip += error->msg.nlmsg_len - sizeof(struct nlmsghdr);
	if (message->nlmsg_flags & NLM_F_ACK_TLVS) {
		mnl_attr_for_each(attr, message, skip) {
			if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
				snprintf(nl->why, sizeof(nl->why), "%s", mnl_attr_get_str(attr));
		}
	}
	return error->error;
}

/* Send a request, show each message of the answer to @visit, return the outcome. */
int nl_talk(struct nl *nl, struct nlmsghdr *request, nl_visit *visit, void *data)
{
	char answer[1 << 15];
	struct nlmsghdr *message;
	ssize_t got;
	int left;

	nl->why[0] = '\0';
	/* without an address: with one, the kernel does not ask what the opener may do */
	if (send(mnl_socket_get_fd(nl->socket), request, request->nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		got = mnl_socket_recvfrom(nl->socket, answer, sizeof(answer));
		if (got < 0)
			return -errno;
		left = got;
		for (message = (struct nlmsghdr *)answer; mnl_nlmsg_ok(message, left);
		     message = mnl_nlmsg_next(message, &left)) {
			if (message->nlmsg_seq != request->nlmsg_seq)
				continue;
			if (message->nlmsg_type == NLMSG_ERROR)
				return take_error(nl, message);
			if (message->nlmsg_type == NLMSG_DONE)
				return *(int *)mnl_nlmsg_get_payload(message);
			if (visit)
				visit(message, data);
		}
	}
}

static void visit_family(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)data = mnl_attr_get_u16(attr);
	}
}

/* Open a socket and find the family: -ENOENT when the module is not there. */
int nl_open(struct nl *nl)
{
	struct nlmsghdr *request;
	int on = 1, err;

	memset(nl, 0, sizeof(*nl));
	nl->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->socket)
		return -errno;
	if (mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		err = -errno;
		goto err_close;
	}
	nl->portid = mnl_socket_get_portid(nl->socket);
	mnl_socket_setsockopt(nl->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	request = begin(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, KJOULE_FAMILY_NAME);
	err = nl_talk(nl, request, visit_family, &nl->family);
	if (!err)
		return 0;
err_close:
	nl_close(nl);
	return err;
}

void nl_close(struct nl *nl)
{
	if (nl->socket)
		mnl_socket_close(nl->socket);
	nl->socket = NULL;
}

static void see_domain(const struct nlattr *nest, struct nl_use *use)
{
	unsigned int i = use->domains++;
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_DOMAIN_QUANTITY:
			if (i < 16)
				use->quantity[i] = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_DOMAIN_RANGE:
			if (!i)
				use->range = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_DOMAIN_UNIT_MULT:
			if (!i)
				use->unit_mult = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_DOMAIN_UNIT_SHIFT:
			if (!i)
				use->unit_shift = mnl_attr_get_u32(attr);
			break;
		}
	}
}

static void see_use(const struct nlattr *nest, struct nl_use *use)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_SOURCE_NAME:
			snprintf(use->name, sizeof(use->name), "%s", mnl_attr_get_str(attr));
			break;
		case KJOULE_A_SOURCE_KIND:
			use->kind = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_ORIGIN:
			use->origin = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_PERIOD_NS:
			use->period_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SOURCE_READS:
			use->reads = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SOURCE_ERRORS:
			use->errors = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SOURCE_OVERRUNS:
			use->overruns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SOURCE_DOMAIN:
			see_domain(attr, use);
			break;
		case KJOULE_A_SOURCE_SCOPES:
			use->scopes = mnl_attr_get_payload_len(attr) / 4;
			if (use->scopes <= NL_MAX_CPUS)
				memcpy(use->scope, mnl_attr_get_payload(attr), 4 * use->scopes);
			break;
		}
	}
}

static void visit_session(const struct nlmsghdr *message, void *data)
{
	struct nl_session *s = data;
	const struct nlattr *attr;

	memset(s, 0, sizeof(*s));
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_SESSION_ID:
			s->id = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_INTERVAL_NS:
			s->interval_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_JITTER_NS:
			s->jitter_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_TARGET:
			s->target = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_PID:
			s->pid = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_CPUS:
			memcpy(&s->cpus, mnl_attr_get_payload(attr),
			       mnl_attr_get_payload_len(attr) < sizeof(s->cpus) ?
			       mnl_attr_get_payload_len(attr) : sizeof(s->cpus));
			break;
		case KJOULE_A_SESSION_RING_BYTES:
			s->ring_bytes = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_WAKEUP_BYTES:
			s->wakeup_bytes = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_STATE:
			s->state = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_T0_NS:
			s->t0_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_SEED:
			s->seed = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_STOP_NS:
			s->stop_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_FLAGS:
			s->flags = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_CHAIN_DEPTH:
			s->chain_depth = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_STACK_BYTES:
			s->stack_bytes = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_USER:
			s->user = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_EDGE_DUTY:
			s->edge_duty = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_EDGE_WINDOWS:
			s->edge_windows = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_EDGE_SPINS:
			s->edge_spins = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_EDGE_FAILED:
			s->edge_failed = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_EDGE_PAUSED_NS:
			s->edge_held_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_EDGE_PAUSED_MAX_NS:
			s->edge_longest_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_EDGE_BLOCKED:
			s->edge_paused = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_SKIPPED:
			s->vpm_skipped = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_INTERVAL_NS:
			s->vpm_interval_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_READY_NS:
			s->vpm_ready_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_MAX_UW:
			s->vpm_peak_uw = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_MIN_UW:
			s->vpm_rest_uw = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_READINGS:
			s->vpm_readings = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_NO_HIT:
			s->vpm_unmet = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_NO_END:
			s->vpm_unended = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_MISMATCHED:
			s->vpm_elsewhere = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_UNUSABLE:
			s->vpm_spoilt = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_FAILED:
			s->vpm_failed = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_PAUSED_NS:
			s->vpm_held_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_PAUSED_MAX_NS:
			s->vpm_longest_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_TRIALS:
			s->vpm_rounds = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_LEARNT:
			s->vpm_learnt = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_ABORTED:
			s->vpm_cut = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_VPM_OVERRUN:
			s->vpm_crowded = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_CHILDREN:
			s->children = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SESSION_CHILDREN_LOST:
			s->children_lost = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SESSION_SOURCE_INFO:
			if (s->uses < sizeof(s->use) / sizeof(s->use[0]))
				see_use(attr, &s->use[s->uses++]);
			break;
		}
	}
}

/* Put the attributes of a specification that it says are given. */
void nl_put_spec(struct nlmsghdr *request, const struct nl_spec *spec)
{
	const struct { unsigned int type; uint32_t value; } words[] = {
		{ KJOULE_A_SPEC_ORIGIN, spec->origin },
		{ KJOULE_A_SPEC_CLASS, spec->class },
		{ KJOULE_A_SPEC_QUANTITY, spec->quantity },
		{ KJOULE_A_SPEC_UNIT_SHIFT, spec->unit_shift },
		{ KJOULE_A_SPEC_FD, spec->fd },
		{ KJOULE_A_SPEC_PERF_TYPE, spec->perf_type },
	};
	const struct { unsigned int type; uint64_t value; } longs[] = {
		{ KJOULE_A_SPEC_UNIT_MULT, spec->unit_mult },
		{ KJOULE_A_SPEC_RANGE, spec->range },
		{ KJOULE_A_SPEC_PERIOD_NS, spec->period_ns },
		{ KJOULE_A_SPEC_PERF_CONFIG, spec->perf_config },
	};
	struct nlattr *nest = mnl_attr_nest_start(request, KJOULE_A_SESSION_SOURCE);
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (spec->given & 1U << words[i].type)
			mnl_attr_put_u32(request, words[i].type, words[i].value);
	}
	for (i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
		if (spec->given & 1U << longs[i].type)
			mnl_attr_put_u64(request, longs[i].type, longs[i].value);
	}
	if (spec->given & 1U << KJOULE_A_SPEC_NAME)
		mnl_attr_put_strz(request, KJOULE_A_SPEC_NAME, spec->name);
	mnl_attr_nest_end(request, nest);
}

int nl_session_new(struct nl *nl, const struct nl_config *c, struct nl_session *session)
{
	struct nlmsghdr *request = nl_request(nl, KJOULE_CMD_SESSION_NEW, 0);
	unsigned int i;

	if (c->interval_ns)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_INTERVAL_NS, c->interval_ns);
	if (c->jitter_ns)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_JITTER_NS, c->jitter_ns);
	if (c->target)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_TARGET, c->target);
	if (c->pid)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_PID, c->pid);
	if (c->cpus)
		mnl_attr_put(request, KJOULE_A_SESSION_CPUS, sizeof(c->cpus), &c->cpus);
	if (c->cgroup_fd)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_CGROUP_FD, c->cgroup_fd);
	if (c->ring_bytes)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_RING_BYTES, c->ring_bytes);
	if (c->wakeup_bytes)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_WAKEUP_BYTES, c->wakeup_bytes);
	if (c->energy)
		mnl_attr_put_strz(request, KJOULE_A_SESSION_ENERGY_SOURCE, c->energy);
	if (c->frequency)
		mnl_attr_put_strz(request, KJOULE_A_SESSION_FREQUENCY_SOURCE, c->frequency);
	if (c->flags)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_FLAGS, c->flags);
	for (i = 0; i < c->n_specs; i++)
		nl_put_spec(request, &c->specs[i]);
	if (c->chain_depth)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_CHAIN_DEPTH, c->chain_depth);
	if (c->stack_bytes)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_STACK_BYTES, c->stack_bytes);
	if (c->edges)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_EDGE_DUTY, c->edge_duty);
	if (c->vpm)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_VPM_INTERVAL_NS, c->vpm_interval_ns);
	if (c->vpm_source)
		mnl_attr_put_strz(request, KJOULE_A_SESSION_VPM_SOURCE, c->vpm_source);
	return nl_talk(nl, request, visit_session, session);
}

/* A command that takes a session's id; @session may be NULL, and is not written by a del. */
int nl_session_do(struct nl *nl, uint8_t cmd, uint32_t id, struct nl_session *session)
{
	struct nlmsghdr *request = nl_request(nl, cmd, 0);

	mnl_attr_put_u32(request, KJOULE_A_SESSION_ID, id);
	return nl_talk(nl, request, session ? visit_session : NULL, session);
}

static void visit_block(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == KJOULE_A_SESSION_BLOCK)
			*(int *)data = mnl_attr_get_u32(attr);
}

int nl_session_block(struct nl *nl, uint32_t id, const struct nl_block *block)
{
	struct nlmsghdr *request = nl_request(nl, KJOULE_CMD_SESSION_BLOCK, 0);
	int number = -EBADMSG, err;

	mnl_attr_put_u32(request, KJOULE_A_SESSION_ID, id);
	if (block->pid)
		mnl_attr_put_u32(request, KJOULE_A_SESSION_BLOCK_PID, block->pid);
	if (block->start)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_BLOCK_START, block->start);
	if (block->next)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_BLOCK_NEXT, block->next);
	if (block->end || block->end_is_said)
		mnl_attr_put_u64(request, KJOULE_A_SESSION_BLOCK_END, block->end);
	err = nl_talk(nl, request, visit_block, &number);
	return err ? err : number;
}

/* Make a session and end it at once; what came of making it. */
int nl_session_try(struct nl *nl, const struct nl_config *config)
{
	struct nl_session session;
	int err = nl_session_new(nl, config, &session);

	if (!err)
		nl_session_do(nl, KJOULE_CMD_SESSION_DEL, session.id, NULL);
	return err;
}

struct list {
	void *at;
	unsigned int n, max;
};

static void visit_session_of_list(const struct nlmsghdr *message, void *data)
{
	struct list *list = data;

	if (list->n < list->max)
		visit_session(message, (struct nl_session *)list->at + list->n);
	list->n++;
}

int nl_session_dump(struct nl *nl, struct nl_session *sessions, unsigned int max)
{
	struct list list = { .at = sessions, .max = max };
	int err = nl_talk(nl, nl_request(nl, KJOULE_CMD_SESSION_GET, NLM_F_DUMP),
			  visit_session_of_list, &list);

	return err ?: (int)list.n;
}

static void visit_stats(const struct nlmsghdr *message, void *data)
{
	static const size_t where[KJOULE_A_STATS_MAX + 1] = {
		[KJOULE_A_STATS_DUE] = offsetof(struct nl_stats, due),
		[KJOULE_A_STATS_TAKEN] = offsetof(struct nl_stats, taken),
		[KJOULE_A_STATS_MISSED] = offsetof(struct nl_stats, missed),
		[KJOULE_A_STATS_SKIPPED] = offsetof(struct nl_stats, skipped),
		[KJOULE_A_STATS_FILTERED] = offsetof(struct nl_stats, filtered),
		[KJOULE_A_STATS_RECORDS] = offsetof(struct nl_stats, records),
		[KJOULE_A_STATS_CONSUMED] = offsetof(struct nl_stats, consumed),
		[KJOULE_A_STATS_LOST] = offsetof(struct nl_stats, lost),
		[KJOULE_A_STATS_WAITING] = offsetof(struct nl_stats, waiting),
		[KJOULE_A_STATS_SAMPLES] = offsetof(struct nl_stats, samples),
		[KJOULE_A_STATS_TICK_NS] = offsetof(struct nl_stats, tick_ns),
		[KJOULE_A_STATS_DELAY_MAX_NS] = offsetof(struct nl_stats, delay_max_ns),
		[KJOULE_A_STATS_SOURCE_ERRORS] = offsetof(struct nl_stats, source_errors),
		[KJOULE_A_STATS_IDLE_NS] = offsetof(struct nl_stats, idle_ns),
		[KJOULE_A_STATS_STACKS_WITHHELD] = offsetof(struct nl_stats, stacks_withheld),
	};
	struct list *list = data;
	struct nl_stats *s = (struct nl_stats *)list->at + list->n;
	const struct nlattr *attr;

	if (list->n++ >= list->max)
		return;
	memset(s, 0xff, sizeof(*s));	/* what is not reported is no plausible number */
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		unsigned int type = mnl_attr_get_type(attr);

		if (type == KJOULE_A_STATS_SESSION)
			s->session = mnl_attr_get_u32(attr);
		else if (type == KJOULE_A_STATS_CPU)
			s->cpu = mnl_attr_get_u32(attr);
		else if (type <= KJOULE_A_STATS_MAX && where[type])
			*(uint64_t *)((char *)s + where[type]) = mnl_attr_get_u64(attr);
	}
}

/* The statistics of a session's CPUs, in their order. Return: how many CPUs, or -errno. */
int nl_stats(struct nl *nl, uint32_t id, struct nl_stats *stats, unsigned int max)
{
	struct list list = { .at = stats, .max = max };
	struct nlmsghdr *request = nl_request(nl, KJOULE_CMD_STATS_GET, NLM_F_DUMP);
	int err;

	mnl_attr_put_u32(request, KJOULE_A_STATS_SESSION, id);
	err = nl_talk(nl, request, visit_stats, &list);
	return err ?: (int)list.n;
}

/* The statistics of a session as a whole; the CPU is UINT32_MAX, because none is reported. */
int nl_stats_total(struct nl *nl, uint32_t id, struct nl_stats *stats)
{
	struct list list = { .at = stats, .max = 1 };
	struct nlmsghdr *request = nl_request(nl, KJOULE_CMD_STATS_GET, 0);

	mnl_attr_put_u32(request, KJOULE_A_STATS_SESSION, id);
	return nl_talk(nl, request, visit_stats, &list) ?: list.n == 1 ? 0 : -EBADMSG;
}

static void visit_source(const struct nlmsghdr *message, void *data)
{
	struct list *list = data;
	struct nl_source *s = (struct nl_source *)list->at + list->n;
	const struct nlattr *attr;

	if (list->n++ >= list->max)
		return;
	memset(s, 0, sizeof(*s));
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_SOURCE_ID:
			s->id = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_NAME:
			snprintf(s->name, sizeof(s->name), "%s", mnl_attr_get_str(attr));
			break;
		case KJOULE_A_SOURCE_KIND:
			s->kind = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_AVAILABLE:
			s->available = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_REASON:
			s->why = mnl_attr_get_str(attr)[0];
			break;
		}
	}
}

int nl_source_dump(struct nl *nl, struct nl_source *sources, unsigned int max)
{
	struct list list = { .at = sources, .max = max };
	int err = nl_talk(nl, nl_request(nl, KJOULE_CMD_SOURCE_GET, NLM_F_DUMP), visit_source,
			  &list);

	return err ?: (int)list.n;
}

int session_count(void)
{
	FILE *f = fopen("/sys/class/misc/kjoule/sessions", "r");
	int n = -1;

	if (f) {
		if (fscanf(f, "%d", &n) != 1)
			n = -1;
		fclose(f);
	}
	return n;
}
