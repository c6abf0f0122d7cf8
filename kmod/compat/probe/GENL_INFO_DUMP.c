// SPDX-License-Identifier: GPL-2.0-only
#include <net/genetlink.h>

struct nlattr **probe(struct netlink_callback *cb);
struct nlattr **probe(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
