// SPDX-License-Identifier: GPL-2.0-only
#include <linux/netlink.h>

size_t probe(struct netlink_ext_ack *extack);
size_t probe(struct netlink_ext_ack *extack)
{
	return sizeof(extack->_msg_buf);
}
