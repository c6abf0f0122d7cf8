// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests by the grammar; see message.h. A request is put together attribute by attribute,
 * each of which may be wrong in the way that the message's shape says, and then perhaps cut or
 * scribbled on. At last what would only wear the guest out is taken back (tame()).
 */
#include <string.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <linux/kjoule_netlink.h>

#include "message.h"

#define MAX_RING	(1 << 20)	/* larger ones only use up the guest's memory */
#define MIN_INTERVAL	500000ULL	/* shorter ones leave it no time */
#define HEADERS		(NLMSG_HDRLEN + GENL_HDRLEN)

static void put_raw(struct message *m, unsigned int type, const void *data, size_t bytes)
{
	struct nlattr *attr = (struct nlattr *)(m->data + m->len);
	size_t room = NLA_ALIGN(NLA_HDRLEN + bytes);

	if (m->len + room > sizeof(m->data))
		return;
	memset(attr, 0, room);
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + bytes;
	memcpy((uint8_t *)attr + NLA_HDRLEN, data, bytes);
	m->len += room;
}

static void put_set(struct world *w, struct message *m, const struct rule_set *set, uint64_t may,
		    unsigned int depth);

static void put_nest(struct world *w, struct message *m, const struct rule_attr *rule,
		     unsigned int depth)
{
	size_t at = m->len;

	if (depth > 6)
		return;
	if (!strcmp(rule->nested->name, "source-spec"))
		value_plan_spec(w);
	put_raw(m, rule->type | (dice_one_in(&w->dice, 4) ? NLA_F_NESTED : 0), "", 0);
	if (m->len == at)
		return;
	put_set(w, m, rule->nested, UINT64_MAX, depth + 1);
	((struct nlattr *)(m->data + at))->nla_len = m->len - at;
}

/* An attribute as it should be, but for its value if that is to be anything. */
static void put_attr(struct world *w, struct message *m, const struct rule_set *set,
		     const struct rule_attr *rule, bool any, unsigned int depth)
{
	uint8_t bytes[64];
	const char *text;
	uint64_t number;
	uint32_t word;

	switch (rule->kind) {
	case RULE_U32:
	case RULE_S32:
		word = any ? dice_number(&w->dice) : value_number(w, set, rule);
		/* right at the border of an enum, at times */
		if (any && rule->entries && dice_one_in(&w->dice, 2))
			word = rule->entries - 1 + dice_below(&w->dice, 3);
		put_raw(m, rule->type, &word, sizeof(word));
		break;
	case RULE_U64:
		number = any ? dice_number(&w->dice) : value_number(w, set, rule);
		put_raw(m, rule->type, &number, sizeof(number));
		break;
	case RULE_STRING:
		text = value_text(w, set, rule);
		if (any && dice_one_in(&w->dice, 2)) {
			memset(bytes, 'x', sizeof(bytes));
			bytes[dice_below(&w->dice, 36)] = '\0';
			bytes[sizeof(bytes) - 1] = '\0';
			put_raw(m, rule->type, bytes, strlen((char *)bytes) + 1);
		} else {
			put_raw(m, rule->type, text, strlen(text) + 1);
		}
		break;
	case RULE_BINARY:
		if (any)
			dice_fill(&w->dice, bytes, sizeof(bytes));
		number = any ? dice_below(&w->dice, sizeof(bytes)) :
			 value_bytes(w, rule, bytes, sizeof(bytes));
		put_raw(m, rule->type, bytes, number);
		break;
	case RULE_NEST:
		put_nest(w, m, rule, depth);
		break;
	}
}

/* An attribute that is wrong in its form. */
static void put_odd(struct world *w, struct message *m, const struct rule_set *set,
		    const struct rule_attr *rule, unsigned int depth)
{
	uint8_t bytes[2048];
	size_t at = m->len;
	struct nlattr *attr;

	dice_fill(&w->dice, bytes, sizeof(bytes));
	switch (dice_below(&w->dice, 9)) {
	case 0:		/* any length */
		put_raw(m, rule->type, bytes, dice_below(&w->dice, 40));
		break;
	case 1:
		put_raw(m, rule->type, bytes, 0);
		break;
	case 2:		/* longer than a policy has it */
		put_raw(m, rule->type, bytes, 1000 + dice_below(&w->dice, 1048));
		break;
	case 3:		/* a type that is not known, or 0 */
		put_raw(m, dice_one_in(&w->dice, 3) ? 0 : set->n + 1 + dice_below(&w->dice, 100),
			bytes, 4);
		break;
	case 4:		/* twice */
		put_attr(w, m, set, rule, false, depth);
		put_attr(w, m, set, rule, dice_one_in(&w->dice, 2), depth);
		break;
	case 5:		/* no zero at the end of a text */
		memset(bytes, 'x', 64);
		put_raw(m, rule->type, bytes, dice_below(&w->dice, 64));
		break;
	case 6:		/* flags of the type that do not belong there */
		put_attr(w, m, set, rule, false, depth);
		attr = (struct nlattr *)(m->data + at);
		if (m->len > at)
			attr->nla_type ^= dice_one_in(&w->dice, 2) ? NLA_F_NESTED :
					  NLA_F_NET_BYTEORDER;
		break;
	case 7:		/* a length that is not true */
		put_attr(w, m, set, rule, false, depth);
		attr = (struct nlattr *)(m->data + at);
		if (m->len > at)
			attr->nla_len = dice_one_in(&w->dice, 2) ? dice_below(&w->dice, 8) :
					dice_bits(&w->dice);
		break;
	default:	/* a nest in a nest in a nest, or one with what belongs elsewhere */
		put_raw(m, rule->type | NLA_F_NESTED, "", 0);
		put_set(w, m, &rule_sets[dice_below(&w->dice, rule_set_count)], UINT64_MAX,
			depth + 1);
		attr = (struct nlattr *)(m->data + at);
		if (m->len > at)
			attr->nla_len = m->len - at;
		break;
	}
}

static void put_set(struct world *w, struct message *m, const struct rule_set *set, uint64_t may,
		    unsigned int depth)
{
	unsigned int i, times;

	if (depth > 6)
		return;
	for (i = 0; i < set->n; i++) {
		const struct rule_attr *rule = &set->attrs[i];
		bool odd = m->shape == SHAPE_FORM && dice_one_in(&w->dice, 3);
		bool any = m->shape == SHAPE_VALUE && dice_one_in(&w->dice, 3);
		int wanted = value_wanted(w, set, rule);

		/* left out although needed; there although not asked for */
		if ((odd || any) && dice_one_in(&w->dice, 3))
			wanted = -wanted;
		if (!(may & 1ULL << rule->type) && !(odd && dice_one_in(&w->dice, 8)))
			continue;
		/* a source takes its time, unless it is refused at once */
		if (wanted < 0 || (!wanted && !dice_one_in(&w->dice, rule->kind == RULE_NEST &&
							   m->shape == SHAPE_VALID ? 16 : 4)))
			continue;
		times = !rule->multi ? 1 : dice_one_in(&w->dice, 40) ? 10 :
			1 + dice_one_in(&w->dice, 4);
		while (times--) {
			if (odd)
				put_odd(w, m, set, rule, depth);
			else
				put_attr(w, m, set, rule, any, depth);
		}
	}
}

/* Everything about the headers that may be wrong. */
static void odd_header(struct world *w, struct message *m)
{
	struct nlmsghdr *head = (struct nlmsghdr *)m->data;
	struct genlmsghdr *genl = (struct genlmsghdr *)(m->data + NLMSG_HDRLEN);

	switch (dice_below(&w->dice, 5)) {
	case 0:
		head->nlmsg_flags = dice_bits(&w->dice);
		break;
	case 1:
		head->nlmsg_flags ^= 1 << dice_below(&w->dice, 12);
		break;
	case 2:
		genl->version = dice_number(&w->dice);
		break;
	case 3:
		genl->reserved = dice_number(&w->dice);
		break;
	case 4:
		genl->cmd = dice_one_in(&w->dice, 2) ? dice_below(&w->dice, rule_op_count + 3) :
			    dice_bits(&w->dice);
		break;
	}
}

static void scribble(struct world *w, struct message *m)
{
	struct nlmsghdr *head = (struct nlmsghdr *)m->data;
	unsigned int i;

	switch (dice_below(&w->dice, 5)) {
	case 0:		/* cut, and said so */
		m->len = dice_below(&w->dice, m->len + 1);
		head->nlmsg_len = m->len;
		break;
	case 1:		/* cut, and not said so */
		m->len = dice_below(&w->dice, m->len + 1);
		break;
	case 2:		/* something behind, in the message or after it */
		i = 1 + dice_below(&w->dice, 64);
		if (m->len + i > sizeof(m->data))
			break;
		dice_fill(&w->dice, m->data + m->len, i);
		m->len += i;
		if (dice_one_in(&w->dice, 2))
			head->nlmsg_len = m->len;
		break;
	case 3:
		head->nlmsg_len = dice_number(&w->dice);
		break;
	default:	/* some bytes changed, not those that say what it is */
		for (i = 1 + dice_below(&w->dice, 4); i && m->len > HEADERS; i--)
			m->data[HEADERS + dice_below(&w->dice, m->len - HEADERS)] =
				dice_bits(&w->dice);
		break;
	}
}

/* What would only wear the guest out: large rings, and ticks that leave no time for the rest. */
static void tame(struct world *w, struct message *m)
{
	const struct genlmsghdr *genl = (const struct genlmsghdr *)(m->data + NLMSG_HDRLEN);
	size_t at = HEADERS;

	if (m->len < HEADERS || genl->cmd != KJOULE_CMD_SESSION_NEW)
		return;
	while (at + NLA_HDRLEN <= m->len) {
		struct nlattr *attr = (struct nlattr *)(m->data + at);
		unsigned int type = attr->nla_type & NLA_TYPE_MASK;
		uint8_t *data = m->data + at + NLA_HDRLEN;
		uint64_t number = 0;

		if (attr->nla_len < NLA_HDRLEN || at + attr->nla_len > m->len)
			break;
		if (type == KJOULE_A_SESSION_RING_BYTES && attr->nla_len == NLA_HDRLEN + 4) {
			memcpy(&number, data, 4);
			number = number > MAX_RING && !(number & (number - 1)) ? MAX_RING : number;
			memcpy(data, &number, 4);
		} else if (type == KJOULE_A_SESSION_INTERVAL_NS &&
			   attr->nla_len == NLA_HDRLEN + 8) {
			memcpy(&number, data, 8);
			if (number < MIN_INTERVAL && number >= 10000 && !dice_one_in(&w->dice, 32))
				number = MIN_INTERVAL;
			memcpy(data, &number, 8);
		}
		at += NLA_ALIGN(attr->nla_len);
	}
}

void message_make(struct world *w, struct message *m, const struct rule_op *op, enum shape shape)
{
	bool dump = dice_one_in(&w->dice, 2) ? op->has_dump : !op->has_do && op->has_dump;
	uint64_t may = dump ? op->dump_may : op->do_may;
	struct nlmsghdr *head = (struct nlmsghdr *)m->data;
	struct genlmsghdr *genl = (struct genlmsghdr *)(m->data + NLMSG_HDRLEN);
	struct dice before = w->dice;

	/* how many draws this takes depends on what is there: they are none of the move's */
	dice_begin(&w->dice, before.state, w->thread, op->cmd);
	memset(m->data, 0, HEADERS);
	m->op = op;
	m->shape = shape;
	m->len = HEADERS;
	m->seq = ++w->seq;
	value_plan(w);
	w->wanted = op->cmd == KJOULE_CMD_SESSION_START ? KJOULE_SESSION_NEW :
		    op->cmd == KJOULE_CMD_SESSION_STOP ? KJOULE_SESSION_RUNNING : -1;
	/* at times with what the other mode takes, or with what only answers have */
	if (shape == SHAPE_VALUE && dice_one_in(&w->dice, 2))
		may = op->do_may | op->dump_may;
	if (shape == SHAPE_FORM && dice_one_in(&w->dice, 4))
		may = UINT64_MAX;
	put_set(w, m, op->set, may, 0);
	w->wanted = -1;
	head->nlmsg_type = w->family;
	head->nlmsg_flags = NLM_F_REQUEST | (dice_one_in(&w->dice, 16) ? 0 : NLM_F_ACK) |
			    (dump ? NLM_F_DUMP : 0);
	head->nlmsg_seq = m->seq;
	head->nlmsg_len = m->len;
	genl->cmd = op->cmd;
	genl->version = KJOULE_FAMILY_VERSION;
	if (shape == SHAPE_FORM && dice_one_in(&w->dice, 3))
		odd_header(w, m);
	if (shape == SHAPE_BYTES)
		scribble(w, m);
	tame(w, m);
	w->dice = before;
}

enum shape message_shape(struct world *w)
{
	unsigned int n = chosen(w, dice_below(&w->dice, 20));

	return n < 11 ? SHAPE_VALID : n < 14 ? SHAPE_VALUE : n < 18 ? SHAPE_FORM : SHAPE_BYTES;
}

const struct rule_op *message_op(struct world *w)
{
	return &rule_ops[chosen(w, dice_below(&w->dice, rule_op_count))];
}
