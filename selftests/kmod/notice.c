// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Notices for the module's selftests; see notice.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "notice.h"

struct group {
	const char *name;
	uint32_t id;
};

static void visit_group(const struct nlattr *nest, struct group *group)
{
	const struct nlattr *attr;
	uint32_t id = 0;
	bool found = false;

	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
			id = mnl_attr_get_u32(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
			found = !strcmp(mnl_attr_get_str(attr), group->name);
	}
	if (found)
		group->id = id;
}

static void visit_family(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr, *nest;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != CTRL_ATTR_MCAST_GROUPS)
			continue;
		mnl_attr_for_each_nested(nest, attr)
			visit_group(nest, data);
	}
}

/* Become a member of the group: -ENOENT if the family has none of that name. */
int notice_join(struct nl *nl)
{
	struct group group = { .name = KJOULE_MCGRP_EVENTS };
	uint16_t family = nl->family;
	struct nlmsghdr *request;
	int err;

	nl->family = GENL_ID_CTRL;
	request = nl_request(nl, CTRL_CMD_GETFAMILY, 0);
	nl->family = family;
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, KJOULE_FAMILY_NAME);
	err = nl_talk(nl, request, visit_family, &group);
	if (err)
		return err;
	if (!group.id)
		return -ENOENT;
	return mnl_socket_setsockopt(nl->socket, NETLINK_ADD_MEMBERSHIP, &group.id,
				     sizeof(group.id)) ? -errno : 0;
}

int notice_listen(struct nl *nl)
{
	return nl_talk(nl, nl_request(nl, KJOULE_CMD_NOTICE_LISTEN, 0), NULL, NULL);
}

static void take_notice(const struct nlmsghdr *message, struct notice *n)
{
	const struct nlattr *attr;

	memset(n, 0, sizeof(*n));
	n->event = UINT32_MAX;
	n->cpu = -1;
	n->user = UINT32_MAX;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_NOTICE_EVENT:
			n->event = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_NOTICE_TIME_NS:
			n->time_ns = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_NOTICE_SESSION:
			n->session = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_NOTICE_CPU:
			n->cpu = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_NOTICE_SOURCE:
			snprintf(n->source, sizeof(n->source), "%s", mnl_attr_get_str(attr));
			break;
		case KJOULE_A_NOTICE_COUNT:
			n->count = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_NOTICE_USER:
			n->user = mnl_attr_get_u32(attr);
			break;
		}
	}
}

int notice_wait(struct nl *nl, struct notice *n, unsigned int timeout_ms)
{
	struct pollfd p = { .fd = mnl_socket_get_fd(nl->socket), .events = POLLIN };
	char buffer[1 << 12];
	struct nlmsghdr *message = (struct nlmsghdr *)buffer;
	ssize_t got;

	if (poll(&p, 1, timeout_ms) <= 0)
		return 0;
	got = mnl_socket_recvfrom(nl->socket, buffer, sizeof(buffer));
	if (got < 0)
		return -errno;
	if (!mnl_nlmsg_ok(message, got) || message->nlmsg_type != nl->family ||
	    ((struct genlmsghdr *)mnl_nlmsg_get_payload(message))->cmd != KJOULE_CMD_NOTICE)
		return -EBADMSG;
	take_notice(message, n);
	return 1;
}
