// SPDX-License-Identifier: GPL-2.0-only
#include <net/genetlink.h>

int probe(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info);
int probe(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info)
{
	struct genl_family family = { .pre_doit = probe };

	return family.version;
}
