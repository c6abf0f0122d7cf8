// SPDX-License-Identifier: GPL-2.0-only
/* Generated from Documentation/netlink/specs/kjoule.yaml by scripts/gen-netlink; do not edit. */

#include "netlink/gen.h"

const struct nla_policy kjoule_source_spec_policy[KJOULE_A_SPEC_MAX + 1] = {
	[KJOULE_A_SPEC_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 3),
	[KJOULE_A_SPEC_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[KJOULE_A_SPEC_CLASS] = NLA_POLICY_MAX(NLA_U32, 5),
	[KJOULE_A_SPEC_QUANTITY] = NLA_POLICY_MAX(NLA_U32, 3),
	[KJOULE_A_SPEC_UNIT_MULT] = { .type = NLA_U64 },
	[KJOULE_A_SPEC_UNIT_SHIFT] = { .type = NLA_U32 },
	[KJOULE_A_SPEC_RANGE] = { .type = NLA_U64 },
	[KJOULE_A_SPEC_PERIOD_NS] = { .type = NLA_U64 },
	[KJOULE_A_SPEC_FD] = { .type = NLA_U32 },
	[KJOULE_A_SPEC_PERF_TYPE] = { .type = NLA_U32 },
	[KJOULE_A_SPEC_PERF_CONFIG] = { .type = NLA_U64 },
};
