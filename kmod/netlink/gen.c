// SPDX-License-Identifier: GPL-2.0-only
/* Generated from Documentation/netlink/specs/kjoule.yaml by scripts/gen-netlink; do not edit. */

#include "compat/compat.h"
#include "netlink/gen.h"

static const struct nla_policy kjoule_source_get_policy[KJOULE_A_SOURCE_ID + 1] = {
	[KJOULE_A_SOURCE_ID] = { .type = NLA_U32 },
};

static const struct nla_policy kjoule_session_new_policy[KJOULE_A_SESSION_VPM_SOURCE + 1] = {
	[KJOULE_A_SESSION_ID] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_INTERVAL_NS] = { .type = NLA_U64 },
	[KJOULE_A_SESSION_JITTER_NS] = { .type = NLA_U64 },
	[KJOULE_A_SESSION_TARGET] = NLA_POLICY_MAX(NLA_U32, 3),
	[KJOULE_A_SESSION_PID] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_CPUS] = { .type = NLA_BINARY, .len = 1024 },
	[KJOULE_A_SESSION_RING_BYTES] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_WAKEUP_BYTES] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_ENERGY_SOURCE] = { .type = NLA_NUL_STRING, .len = 31 },
	[KJOULE_A_SESSION_FREQUENCY_SOURCE] = { .type = NLA_NUL_STRING, .len = 31 },
	[KJOULE_A_SESSION_FLAGS] = { .type = NLA_U64 },
	[KJOULE_A_SESSION_STATE] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_T0_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_SEED] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_STOP_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_SOURCE_INFO] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_CGROUP_FD] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_SOURCE] = NLA_POLICY_NESTED(kjoule_source_spec_policy),
	[KJOULE_A_SESSION_CHAIN_DEPTH] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_STACK_BYTES] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_CHILDREN] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_CHILDREN_LOST] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_DUTY] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_EDGE_WINDOWS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_SPINS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_FAILED] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_PAUSED_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_PAUSED_MAX_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_INTERVAL_NS] = { .type = NLA_U64 },
	[KJOULE_A_SESSION_VPM_SOURCE] = { .type = NLA_NUL_STRING, .len = 31 },
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

static const struct nla_policy kjoule_records_get_policy[KJOULE_A_RECORDS_SESSION + 1] = {
	[KJOULE_A_RECORDS_SESSION] = { .type = NLA_U32 },
};

static const struct nla_policy kjoule_session_block_policy[KJOULE_A_SESSION_BLOCK_END + 1] = {
	[KJOULE_A_SESSION_ID] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_INTERVAL_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_JITTER_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_TARGET] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_PID] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_CPUS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_RING_BYTES] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_WAKEUP_BYTES] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_ENERGY_SOURCE] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_FREQUENCY_SOURCE] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_FLAGS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_STATE] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_T0_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_SEED] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_STOP_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_SOURCE_INFO] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_CGROUP_FD] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_SOURCE] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_CHAIN_DEPTH] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_STACK_BYTES] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_CHILDREN] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_CHILDREN_LOST] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_DUTY] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_WINDOWS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_SPINS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_FAILED] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_PAUSED_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_EDGE_PAUSED_MAX_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_INTERVAL_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_SOURCE] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_READY_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_MAX_UW] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_MIN_UW] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_READINGS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_NO_HIT] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_NO_END] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_MISMATCHED] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_UNUSABLE] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_FAILED] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_PAUSED_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_VPM_PAUSED_MAX_NS] = { .type = NLA_REJECT },
	[KJOULE_A_SESSION_BLOCK_PID] = { .type = NLA_U32 },
	[KJOULE_A_SESSION_BLOCK_START] = { .type = NLA_U64 },
	[KJOULE_A_SESSION_BLOCK_NEXT] = { .type = NLA_U64 },
	[KJOULE_A_SESSION_BLOCK_END] = { .type = NLA_U64 },
};

static const struct nla_policy kjoule_transition_new_policy[KJOULE_A_TRANSITION_WAY + 1] = {
	[KJOULE_A_TRANSITION_ID] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_CPU] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_WAY] = NLA_POLICY_MAX(NLA_U32, 1),
};

static const struct nla_policy kjoule_transition_del_policy[KJOULE_A_TRANSITION_ID + 1] = {
	[KJOULE_A_TRANSITION_ID] = { .type = NLA_U32 },
};

static const struct nla_policy
kjoule_transition_calibrate_policy[KJOULE_A_TRANSITION_SLICE_NS + 1] = {
	[KJOULE_A_TRANSITION_ID] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_CPU] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_WAY] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_ADDS] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_DRIVER] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_CPUS] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_MIN_KHZ] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_MAX_KHZ] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_COUNTER] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_REFERENCE_KHZ] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_FROM_KHZ] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_TO_KHZ] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_FROM_LO_NS] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_FROM_HI_NS] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_TO_LO_NS] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_TO_HI_NS] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_LEAD] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_LOOPS] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_CONFIRM] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_TIMEOUT_NS] = { .type = NLA_U64 },
	[KJOULE_A_TRANSITION_SLICE_NS] = { .type = NLA_U64 },
};

static const struct nla_policy kjoule_transition_try_policy[KJOULE_A_TRANSITION_SLICE_NS + 1] = {
	[KJOULE_A_TRANSITION_ID] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_CPU] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_WAY] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_ADDS] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_DRIVER] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_CPUS] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_MIN_KHZ] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_MAX_KHZ] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_COUNTER] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_REFERENCE_KHZ] = { .type = NLA_REJECT },
	[KJOULE_A_TRANSITION_FROM_KHZ] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_TO_KHZ] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_FROM_LO_NS] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_FROM_HI_NS] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_TO_LO_NS] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_TO_HI_NS] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_LEAD] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_LOOPS] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_CONFIRM] = { .type = NLA_U32 },
	[KJOULE_A_TRANSITION_TIMEOUT_NS] = { .type = NLA_U64 },
	[KJOULE_A_TRANSITION_SLICE_NS] = { .type = NLA_U64 },
};

static const struct nla_policy kjoule_transition_loops_get_policy[KJOULE_A_TRANSITION_ID + 1] = {
	[KJOULE_A_TRANSITION_ID] = { .type = NLA_U32 },
};

static const struct nla_policy kjoule_restore_add_policy[KJOULE_A_RESTORE_VALUE + 1] = {
	[KJOULE_A_RESTORE_FD] = { .type = NLA_U32 },
	[KJOULE_A_RESTORE_VALUE] = { .type = NLA_NUL_STRING, .len = 63 },
};

const struct genl_ops kjoule_ops[17] = {
	{
		.cmd = KJOULE_CMD_SOURCE_GET,
		.policy = kjoule_source_get_policy,
		.maxattr = KJOULE_A_SOURCE_ID,
		.doit = kjoule_source_get_doit,
		.dumpit = kjoule_source_get_dumpit,
		.start = kjoule_source_get_dump_start,
	},
	{
		.cmd = KJOULE_CMD_SESSION_NEW,
		.policy = kjoule_session_new_policy,
		.maxattr = KJOULE_A_SESSION_VPM_SOURCE,
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
		.dumpit = kjoule_session_get_dumpit,
		.start = kjoule_session_get_dump_start,
	},
	{
		.cmd = KJOULE_CMD_STATS_GET,
		.policy = kjoule_stats_get_policy,
		.maxattr = KJOULE_A_STATS_SESSION,
		.doit = kjoule_stats_get_doit,
		.dumpit = kjoule_stats_get_dumpit,
		.start = kjoule_stats_get_dump_start,
	},
	{
		.cmd = KJOULE_CMD_RECORDS_GET,
		.policy = kjoule_records_get_policy,
		.maxattr = KJOULE_A_RECORDS_SESSION,
		.dumpit = kjoule_records_get_dumpit,
		.start = kjoule_records_get_dump_start,
		.done = kjoule_records_get_dump_done,
	},
	{
		.cmd = KJOULE_CMD_NOTICE_LISTEN,
		.doit = kjoule_notice_listen_doit,
	},
	{
		.cmd = KJOULE_CMD_SESSION_BLOCK,
		.policy = kjoule_session_block_policy,
		.maxattr = KJOULE_A_SESSION_BLOCK_END,
		.doit = kjoule_method_doit,
	},
	{
		.cmd = KJOULE_CMD_TRANSITION_NEW,
		.policy = kjoule_transition_new_policy,
		.maxattr = KJOULE_A_TRANSITION_WAY,
		.doit = kjoule_method_doit,
	},
	{
		.cmd = KJOULE_CMD_TRANSITION_DEL,
		.policy = kjoule_transition_del_policy,
		.maxattr = KJOULE_A_TRANSITION_ID,
		.doit = kjoule_method_doit,
	},
	{
		.cmd = KJOULE_CMD_TRANSITION_CALIBRATE,
		.policy = kjoule_transition_calibrate_policy,
		.maxattr = KJOULE_A_TRANSITION_SLICE_NS,
		.doit = kjoule_method_doit,
	},
	{
		.cmd = KJOULE_CMD_TRANSITION_TRY,
		.policy = kjoule_transition_try_policy,
		.maxattr = KJOULE_A_TRANSITION_SLICE_NS,
		.doit = kjoule_method_doit,
	},
	{
		.cmd = KJOULE_CMD_TRANSITION_LOOPS_GET,
		.policy = kjoule_transition_loops_get_policy,
		.maxattr = KJOULE_A_TRANSITION_ID,
		.dumpit = kjoule_method_dumpit,
		.start = kjoule_method_dump_start,
		.done = kjoule_method_dump_done,
	},
	{
		.cmd = KJOULE_CMD_RESTORE_ADD,
		.policy = kjoule_restore_add_policy,
		.maxattr = KJOULE_A_RESTORE_VALUE,
		.doit = kjoule_method_doit,
	},
	{
		.cmd = KJOULE_CMD_RESTORE_NOW,
		.doit = kjoule_method_doit,
	},
};

const struct genl_multicast_group kjoule_groups[1] = {
	[KJOULE_NLGRP_EVENTS] = { .name = KJOULE_MCGRP_EVENTS, .flags = KJOULE_GENL_GROUP_FLAGS },
};
