// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves with netlink sockets: requests sent, alone or several at once, answers taken or left,
 * dumps begun and abandoned, sockets opened, set up oddly and closed. The kernel works on a
 * request while it is being sent, so that its answer is there afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <linux/kjoule_netlink.h>

#include "message.h"

#define BATCH		4
#define RECEIVES	200	/* of one answer; a dump of sessions that tick need not end soon */

/* Requests of one sending, whose answers are waited for. */
struct sent {
	struct message *m;
	unsigned int n;
	enum outcome outcome[BATCH];
	int socket;		/* its index, -1: it is the peer's */
	int fd;
};

static void learn_session(struct world *w, const struct nlmsghdr *head, size_t len, int socket)
{
	const struct genlmsghdr *genl = NLMSG_DATA(head);
	size_t at = NLMSG_HDRLEN + GENL_HDRLEN;
	uint32_t id = 0, state = 0;

	while (at + NLA_HDRLEN <= len) {
		const struct nlattr *attr = (const struct nlattr *)((const uint8_t *)head + at);

		if (attr->nla_len < NLA_HDRLEN || at + attr->nla_len > len)
			break;
		if (attr->nla_type == KJOULE_A_SESSION_ID && attr->nla_len == NLA_HDRLEN + 4)
			memcpy(&id, (const uint8_t *)attr + NLA_HDRLEN, 4);
		if (attr->nla_type == KJOULE_A_SESSION_STATE && attr->nla_len == NLA_HDRLEN + 4)
			memcpy(&state, (const uint8_t *)attr + NLA_HDRLEN, 4);
		at += NLA_ALIGN(attr->nla_len);
	}
	if (!id)
		return;
	if (genl->cmd == KJOULE_CMD_SESSION_NEW)
		session_add(w, id, socket);
	if (session_find(w, id))
		session_find(w, id)->state = state;
}

static void settle(struct sent *sent, uint32_t seq, bool accepted)
{
	unsigned int i;

	for (i = 0; sent && i < sent->n; i++) {
		if (sent->m[i].seq == seq)
			sent->outcome[i] = accepted ? ACCEPTED : REFUSED;
	}
}

static void learn(struct world *w, struct sent *sent, const uint8_t *data, size_t len, int socket)
{
	while (len >= NLMSG_HDRLEN) {
		const struct nlmsghdr *head = (const struct nlmsghdr *)data;
		size_t step = NLMSG_ALIGN(head->nlmsg_len);

		if (head->nlmsg_len < NLMSG_HDRLEN || head->nlmsg_len > len)
			break;
		if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE) {
			int err = 0;

			if (head->nlmsg_len >= NLMSG_HDRLEN + sizeof(err))
				memcpy(&err, NLMSG_DATA(head), sizeof(err));
			settle(sent, head->nlmsg_seq, err >= 0);
		} else if (head->nlmsg_type == w->family &&
			   head->nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN) {
			const struct genlmsghdr *genl = NLMSG_DATA(head);

			if (genl->cmd == KJOULE_CMD_NOTICE)
				count(&w->tally->notices);
			else if (genl->cmd >= KJOULE_CMD_SESSION_NEW &&
				 genl->cmd <= KJOULE_CMD_SESSION_GET)
				learn_session(w, head, head->nlmsg_len, socket);
			/* without an acknowledgement its answer is enough */
			if (genl->cmd != KJOULE_CMD_NOTICE)
				settle(sent, head->nlmsg_seq, true);
		}
		if (step >= len)
			break;
		data += step;
		len -= step;
	}
}

/* Take what waits, at most @times; the size of the buffer decides how much a dump puts in one. */
static void receive(struct world *w, struct sent *sent, int fd, int socket, unsigned int times)
{
	static const size_t sizes[] = { 16, 1024, 4096, 8192, 32768, 32768, 32768, 32768 };
	size_t size = sizes[dice_below(&w->dice, 8)];
	_Alignas(8) static __thread uint8_t buffer[32768];
	ssize_t got;

	while (times--) {
		got = recv(fd, buffer, size, MSG_DONTWAIT);
		if (got < 0 && errno != ENOBUFS)
			break;
		if (got > 0)
			learn(w, sent, buffer, got, socket);
	}
}

static void forget_session(struct world *w, uint32_t id)
{
	struct session *s = session_find(w, id);

	if (s)
		s->id = 0;
}

/* A session that was deleted is known no more. */
static void forget_deleted(struct world *w, const struct message *m)
{
	const struct genlmsghdr *genl = (const struct genlmsghdr *)(m->data + NLMSG_HDRLEN);
	uint32_t id;

	if (genl->cmd != KJOULE_CMD_SESSION_DEL ||
	    m->len < NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + 4)
		return;
	memcpy(&id, m->data + NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN, 4);
	forget_session(w, id);
}

static int pick_socket(struct world *w)
{
	unsigned int i, at = dice_below(&w->dice, SOCKETS);

	for (i = 0; i < SOCKETS; i++) {
		if (w->socket[(at + i) % SOCKETS] >= 0)
			return (at + i) % SOCKETS;
	}
	return -1;
}

/* The session that a request which is meant well is about, and its socket, if that is known. */
static int socket_for(struct world *w, const struct message *m, int otherwise)
{
	struct session *s;
	uint32_t id;

	if (m->shape != SHAPE_VALID || m->len < NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + 4 ||
	    dice_one_in(&w->dice, 16))
		return otherwise;
	memcpy(&id, m->data + NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN, 4);
	s = session_find(w, id);
	return s && s->socket >= 0 && w->socket[s->socket] >= 0 ? s->socket : otherwise;
}

/*
 * Where to send it: to the socket of the session that it is about, to any, at times to the peer's.
 */
static bool pick(struct world *w, struct sent *sent)
{
	bool of_peer = dice_one_in(&w->dice, 20);
	unsigned int i = dice_below(&w->dice, SOCKETS);

	sent->socket = socket_for(w, sent->m, pick_socket(w));
	sent->fd = sent->socket < 0 ? -1 : w->socket[sent->socket];
	if (of_peer && w->peer) {
		sent->socket = -1;
		sent->fd = __atomic_load_n(&w->peer->socket[i], __ATOMIC_RELAXED);
	}
	return sent->fd >= 0;
}

static void tell(struct world *w, const struct message *m, int socket)
{
	static const char *const shapes[] = { "valid", "value", "form", "bytes" };
	const struct nlmsghdr *head = (const struct nlmsghdr *)m->data;
	size_t i;

	if (!w->trace)
		return;
	fprintf(w->trace, "descriptor %d: %s (%s), %zu bytes, flags %#x:", socket, m->op->name,
		shapes[m->shape], m->len, head->nlmsg_flags);
	for (i = NLMSG_HDRLEN; i < m->len && i < 400; i++)
		fprintf(w->trace, "%s%02x", i % 4 ? "" : " ", m->data[i]);
	fputc('\n', w->trace);
}

static void tally(struct world *w, const struct sent *sent)
{
	unsigned int i;

	for (i = 0; i < sent->n; i++) {
		const struct message *m = &sent->m[i];

		count(&w->tally->messages);
		count(&w->tally->netlink[m->op->cmd < OPS ? m->op->cmd :
					 OPS][m->shape][sent->outcome[i]]);
		if (sent->outcome[i] == ACCEPTED)
			forget_deleted(w, m);
	}
}

/* Not more sessions, nor running ones, than leave time for the rest. */
static const struct rule_op *reasonable(struct world *w, const struct rule_op *op)
{
	unsigned int known = sessions_known(w);
	bool more = !dice_below(&w->dice, known + 1);

	if (op->cmd == KJOULE_CMD_SESSION_NEW && known >= SESSIONS - 4)
		return &rule_ops[KJOULE_CMD_SESSION_DEL - 1];
	/* what is asked of sessions needs some */
	if (more && op->cmd > KJOULE_CMD_SESSION_NEW && op->cmd <= KJOULE_CMD_RECORDS_GET)
		return &rule_ops[KJOULE_CMD_SESSION_NEW - 1];
	if (op->cmd == KJOULE_CMD_SESSION_START && sessions_running(w) >= RUNNING)
		return &rule_ops[KJOULE_CMD_SESSION_STOP - 1];
	return op;
}

static struct message *buffers(void)
{
	static __thread struct message m[BATCH];

	return m;
}

void control_message(struct world *w)
{
	struct sent sent = { .m = buffers(), .n = 1, .outcome = { UNANSWERED } };
	const struct rule_op *op = reasonable(w, message_op(w));
	struct message *m = sent.m;
	struct iovec parts[2];
	size_t cut;

	message_make(w, m, op, message_shape(w));
	if (!pick(w, &sent))
		return;
	tell(w, m, sent.fd);
	/* at times in two pieces, which are one message to the other side */
	cut = dice_one_in(&w->dice, 8) ? dice_below(&w->dice, m->len + 1) : m->len;
	parts[0] = (struct iovec){ m->data, cut };
	parts[1] = (struct iovec){ m->data + cut, m->len - cut };
	world_arm(w);
	if (writev(sent.fd, parts, 2) < 0)
		sent.outcome[0] = REFUSED;
	receive(w, &sent, sent.fd, sent.socket, RECEIVES);
	world_disarm(w);
	tally(w, &sent);
}

/* Several messages in one sending. */
void control_batch(struct world *w)
{
	struct sent sent = { .m = buffers(), .n = 2 + dice_below(&w->dice, BATCH - 1) };
	struct iovec parts[BATCH];
	unsigned int i;

	for (i = 0; i < sent.n; i++) {
		message_make(w, &sent.m[i], reasonable(w, message_op(w)), message_shape(w));
		parts[i] = (struct iovec){ sent.m[i].data, sent.m[i].len };
		sent.outcome[i] = UNANSWERED;
	}
	if (!pick(w, &sent))
		return;
	for (i = 0; i < sent.n; i++)
		tell(w, &sent.m[i], sent.fd);
	world_arm(w);
	if (writev(sent.fd, parts, sent.n) < 0)
		sent.outcome[0] = REFUSED;
	receive(w, &sent, sent.fd, sent.socket, RECEIVES);
	world_disarm(w);
	tally(w, &sent);
}

/*
 * A dump of which only a part is taken, or nothing; what becomes of it is the next mover's
 * business.
 */
void control_abandon(struct world *w)
{
	static const uint8_t dumps[] = { KJOULE_CMD_RECORDS_GET, KJOULE_CMD_RECORDS_GET,
					 KJOULE_CMD_SESSION_GET, KJOULE_CMD_STATS_GET,
					 KJOULE_CMD_SOURCE_GET };
	struct sent sent = { .m = buffers(), .n = 1, .outcome = { UNANSWERED } };
	struct message *m = sent.m;
	struct nlmsghdr *head = (struct nlmsghdr *)m->data;

	message_make(w, m, &rule_ops[dumps[dice_below(&w->dice, 5)] - 1], SHAPE_VALID);
	head->nlmsg_flags |= NLM_F_DUMP;
	if (!pick(w, &sent))
		return;
	tell(w, m, sent.fd);
	world_arm(w);
	if (write(sent.fd, m->data, m->len) < 0)
		sent.outcome[0] = REFUSED;
	receive(w, &sent, sent.fd, sent.socket, dice_below(&w->dice, 3));
	world_disarm(w);
	count(&w->tally->abandoned);
	tally(w, &sent);
}

void control_receive(struct world *w)
{
	int socket = pick_socket(w);

	if (socket >= 0)
		receive(w, NULL, w->socket[socket], socket, 1 + dice_below(&w->dice, 10));
}

static int socket_in(int net)
{
	int here, fd = -1;

	if (net < 0)
		return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	/* without rights it stays here */
	if (here >= 0 && !setns(net, CLONE_NEWNET)) {
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
		if (setns(here, CLONE_NEWNET))
			abort();
	}
	close(here);
	return fd;
}

static void close_socket(struct world *w, unsigned int i)
{
	unsigned int k;

	close(w->socket[i]);
	w->socket[i] = -1;
	for (k = 0; k < SESSIONS; k++) {
		if (w->session[k].socket == (int)i)
			w->session[k].id = 0;
	}
}

/* Open one, or close it with all that hangs on it. */
void control_socket(struct world *w)
{
	unsigned int i = dice_below(&w->dice, SOCKETS);
	bool elsewhere = dice_one_in(&w->dice, 12), bound = !dice_one_in(&w->dice, 4);
	bool closes = dice_one_in(&w->dice, 3);
	struct sockaddr_nl address =
		{ .nl_family = AF_NETLINK, .nl_groups = dice_one_in(&w->dice, 6) ? 1 : 0 };
	int on = 1;

	if (w->trace)
		fprintf(w->trace, "socket %u: %s\n", i, closes ? "close" : "open");
	if (w->socket[i] >= 0 && closes)
		close_socket(w, i);
	if (w->socket[i] >= 0 || closes)
		return;
	w->socket[i] = socket_in(elsewhere ? w->other_net : -1);
	if (w->socket[i] < 0)
		return;
	if (bound)
		bind(w->socket[i], (struct sockaddr *)&address, sizeof(address));
	setsockopt(w->socket[i], SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
}

void control_option(struct world *w)
{
	static const int options[] = { NETLINK_EXT_ACK, NETLINK_CAP_ACK, NETLINK_NO_ENOBUFS,
				       NETLINK_GET_STRICT_CHK, NETLINK_BROADCAST_ERROR,
				       NETLINK_PKTINFO, NETLINK_LISTEN_ALL_NSID };
	int i = pick_socket(w), on = dice_one_in(&w->dice, 2);
	int small = 1 << (8 + dice_below(&w->dice, 11));
	int group = dice_one_in(&w->dice, 4) ? (int)dice_below(&w->dice, 40) : (int)w->group;
	unsigned int what = dice_below(&w->dice, 16), option = dice_below(&w->dice, 7);

	if (i < 0)
		return;
	if (what < 7)
		setsockopt(w->socket[i], SOL_NETLINK,
			   on ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP, &group,
			   sizeof(group));
	else if (what < 12)
		setsockopt(w->socket[i], SOL_NETLINK, options[option], &on, sizeof(on));
	else
		setsockopt(w->socket[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
}
