// SPDX-License-Identifier: GPL-2.0-only
/*
 * Source specifications in a request for a session: converts attributes to struct kjoule_spec.
 * source/spec.c checks them.
 */
#include <net/genetlink.h>

#include "netlink/gen.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "source/spec.h"

static int spec_parse(const struct nlattr *nest, struct kjoule_spec *spec,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[KJOULE_A_SPEC_MAX + 1];
	unsigned int i;
	int err;

	err = nla_parse_nested(attrs, KJOULE_A_SPEC_MAX, nest, kjoule_source_spec_policy, extack);
	if (err)
		return err;
	if (!attrs[KJOULE_A_SPEC_ORIGIN]) {
		NL_SET_ERR_MSG(extack, "a source's origin is missing");
		return -EINVAL;
	}
	memset(spec, 0, sizeof(*spec));
	for (i = 0; i <= KJOULE_A_SPEC_MAX; i++) {
		if (attrs[i])
			spec->given |= BIT(i);
	}
	spec->origin = nla_get_u32(attrs[KJOULE_A_SPEC_ORIGIN]);
	if (attrs[KJOULE_A_SPEC_NAME])
		nla_strscpy(spec->name, attrs[KJOULE_A_SPEC_NAME], sizeof(spec->name));
	spec->class = kjoule_attr_u32(attrs, KJOULE_A_SPEC_CLASS);
	spec->quantity = kjoule_attr_u32(attrs, KJOULE_A_SPEC_QUANTITY);
	spec->unit_mult = kjoule_attr_u64(attrs, KJOULE_A_SPEC_UNIT_MULT);
	spec->unit_shift = kjoule_attr_u32(attrs, KJOULE_A_SPEC_UNIT_SHIFT);
	spec->range = kjoule_attr_u64(attrs, KJOULE_A_SPEC_RANGE);
	spec->period_ns = kjoule_attr_u64(attrs, KJOULE_A_SPEC_PERIOD_NS);
	spec->fd = kjoule_attr_u32(attrs, KJOULE_A_SPEC_FD);
	spec->perf_type = kjoule_attr_u32(attrs, KJOULE_A_SPEC_PERF_TYPE);
	spec->perf_config = kjoule_attr_u64(attrs, KJOULE_A_SPEC_PERF_CONFIG);
	return 0;
}

/*
 * kjoule_msg_get_specs() - parse the sources that a request for a session specifies. Return: their
 * number, or -EINVAL
 */
int kjoule_msg_get_specs(struct genl_info *info, struct kjoule_spec *specs, unsigned int max)
{
	struct nlattr *attr;
	unsigned int n = 0;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != KJOULE_A_SESSION_SOURCE)
			continue;
		if (n == max) {
			NL_SET_ERR_MSG(info->extack, "a session uses at most 8 sources");
			return -EINVAL;
		}
		err = spec_parse(attr, &specs[n++], info->extack);
		if (err)
			return err;
	}
	return n;
}
