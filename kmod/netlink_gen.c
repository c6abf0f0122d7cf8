// SPDX-License-Identifier: GPL-2.0-only
/* Generated from Documentation/netlink/specs/kjoule.yaml by scripts/gen-netlink; do not edit. */

#include "netlink_gen.h"

static const struct nla_policy kjoule_source_get_policy[KJOULE_A_SOURCE_ID + 1] = {
	[KJOULE_A_SOURCE_ID] = { .type = NLA_U32 },
};

static const struct nla_policy kjoule_session_new_policy[KJOULE_A_SESSION_FLAGS + 1] = {
	[KJOULE_A_SESSION_ID] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_INTERVAL_NS] = { .type = NLA_U64 },
	[KJOULE_A_SESSION_JITTER_NS] = { .type = NLA_U64 },
	[KJOULE_A_SESSION_TARGET] = NLA_POLICY_MAX(NLA_U32, 1),
	[KJOULE_A_SESSION_PID] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_CPUS] = { .type = NLA_BINARY, .len = 1024 },
	[KJOULE_A_SESSION_RING_BYTES] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_WAKEUP_BYTES] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_ENERGY_SOURCE] = { .type = NLA_NUL_STRING, .len = 31 },
	[KJOULE_A_SESSION_FREQUENCY_SOURCE] = { .type = NLA_NUL_STRING, .len = 31 },
	[KJOULE_A_SESSION_FLAGS] = { .type = NLA_U64 },
};

static const struct nla_policy kjoule_session_start_policy[KJOULE_A_SESSION_ID + 1] = {
	[KJOULE_A_SESSION_ID] = { .type = NLA_U32 },
};

static const struct nla_policy kjoule_session_stop_policy[KJOULE_A_SESSION_ID + 1] = {
	[KJOULE_A_SESSION_ID] = { .type = NLA_U32 },
};

static const struct nla_policy kjoule_session_del_policy[KJOULE_A_SESSION_ID + 1] = {
	[KJOULE_A_SESSION_ID] = { .type = NLA_U32 },
};

static const struct nla_policy kjoule_session_get_policy[KJOULE_A_SESSION_ID + 1] = {
	[KJOULE_A_SESSION_ID] = { .type = NLA_U32 },
};

static const struct nla_policy kjoule_stats_get_policy[KJOULE_A_STATS_SESSION + 1] = {
	[KJOULE_A_STATS_SESSION] = { .type = NLA_U32 },
};

const struct genl_ops kjoule_ops[7] = {
	{
		.cmd = KJOULE_CMD_SOURCE_GET,
		.policy = kjoule_source_get_policy,
		.maxattr = KJOULE_A_SOURCE_ID,
		.doit = kjoule_source_get_doit,
		.start = kjoule_source_get_dump_start,
		.dumpit = kjoule_source_get_dumpit,
	},
	{
		.cmd = KJOULE_CMD_SESSION_NEW,
		.policy = kjoule_session_new_policy,
		.maxattr = KJOULE_A_SESSION_FLAGS,
		.doit = kjoule_session_new_doit,
	},
	{
		.cmd = KJOULE_CMD_SESSION_START,
		.policy = kjoule_session_start_policy,
		.maxattr = KJOULE_A_SESSION_ID,
		.doit = kjoule_session_start_doit,
	},
	{
		.cmd = KJOULE_CMD_SESSION_STOP,
		.policy = kjoule_session_stop_policy,
		.maxattr = KJOULE_A_SESSION_ID,
		.doit = kjoule_session_stop_doit,
	},
	{
		.cmd = KJOULE_CMD_SESSION_DEL,
		.policy = kjoule_session_del_policy,
		.maxattr = KJOULE_A_SESSION_ID,
		.doit = kjoule_session_del_doit,
	},
	{
		.cmd = KJOULE_CMD_SESSION_GET,
		.policy = kjoule_session_get_policy,
		.maxattr = KJOULE_A_SESSION_ID,
		.doit = kjoule_session_get_doit,
		.start = kjoule_session_get_dump_start,
		.dumpit = kjoule_session_get_dumpit,
	},
	{
		.cmd = KJOULE_CMD_STATS_GET,
		.policy = kjoule_stats_get_policy,
		.maxattr = KJOULE_A_STATS_SESSION,
		.start = kjoule_stats_get_dump_start,
		.dumpit = kjoule_stats_get_dumpit,
	},
};
