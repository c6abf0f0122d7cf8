// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes the module's netlink messages. Called by session.c with the attributes of one message. */
#include <errno.h>
#include <string.h>
#include <netlink/attr.h>
#include "lib/base/cpus.h"
#include "lib/control/control.h"
#include "lib/control/netlink.h"

static uint32_t attr_get_u32(struct nlattr *attr, int *ret)
{
	if (nla_len(attr) == 4)
		return nla_get_u32(attr);
	*ret = -EBADMSG;
	return 0;
}

static uint64_t attr_get_u64(struct nlattr *attr, int *ret)
{
	if (nla_len(attr) == 8)
		return nla_get_u64(attr);
	*ret = -EBADMSG;
	return 0;
}

static void attr_get_string(struct nlattr *attr, char *buf, size_t len)
{
	size_t n = nla_len(attr) < 0 ? 0 : nla_len(attr);

	if (n >= len)
		n = len - 1;
	memcpy(buf, nla_data(attr), n);
	buf[n] = '\0';
}

static int domain_parse_attrs(struct nlattr *attrs, int len, struct kjoule_domain_info *dom)
{
	struct nlattr *a;
	int rest, ret = 0;

	dom->parent = -1;
	nla_for_each_attr(a, attrs, len, rest) {
		switch (nla_type(a)) {
		case KJOULE_A_DOMAIN_INDEX:
			dom->index = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_NAME:
			attr_get_string(a, dom->name, sizeof(dom->name));
			break;
		case KJOULE_A_DOMAIN_CLASS:
			dom->class = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_WIDTH:
			dom->width = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_UNIT_MULT:
			dom->unit_mult = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_DOMAIN_UNIT_SHIFT:
			dom->unit_shift = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_PARENT:
			dom->parent = (int32_t)attr_get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_UPDATE_PERIOD_NS:
			dom->update_period_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_DOMAIN_QUANTITY:
			dom->quantity = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_RANGE:
			dom->range = attr_get_u64(a, &ret);
			break;
		}
	}
	return dom->index < KJOULE_MAX_DOMAINS ? ret : -EBADMSG;
}

int kjoule_parse_source(struct nlattr *attrs, int len, struct kjoule_source_info *src)
{
	struct nlattr *a;
	int rest, ret = 0;

	nla_for_each_attr(a, attrs, len, rest) {
		switch (nla_type(a)) {
		case KJOULE_A_SOURCE_ID:
			src->id = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_NAME:
			attr_get_string(a, src->name, sizeof(src->name));
			break;
		case KJOULE_A_SOURCE_KIND:
			src->kind = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_RATING:
			src->rating = (int32_t)attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_AVAILABLE:
			src->available = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_REASON:
			attr_get_string(a, src->reason, sizeof(src->reason));
			break;
		case KJOULE_A_SOURCE_DEFAULT:
			src->is_default = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_REQUESTED_ONLY:
			src->requested_only = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_REFERENCE_KHZ:
			src->reference_khz = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_READY_NS:
			src->ready_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_DOMAIN:
			if (src->n_domains == KJOULE_MAX_DOMAINS)
				return -EBADMSG;
			if (!ret)
				ret = domain_parse_attrs(nla_data(a), nla_len(a),
							 &src->domains[src->n_domains++]);
			break;
		case KJOULE_A_SOURCE_ORIGIN:
			src->origin = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_PERIOD_NS:
			src->period_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_READS:
			src->reads = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_ERRORS:
			src->errors = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_OVERRUNS:
			src->overruns = attr_get_u64(a, &ret);
			break;
		}
	}
	return ret;
}

/* Which CPUs share a source's counters: in the order of the session's CPUs. */
static int scopes_parse_attrs(struct nlattr *attrs, int len, const struct kjoule_cpus *cpus,
			      struct kjoule_source_info *src)
{
	int cpu = -1, rest, n;
	struct nlattr *a;
	uint32_t scope;

	nla_for_each_attr(a, attrs, len, rest) {
		if (nla_type(a) != KJOULE_A_SOURCE_SCOPES)
			continue;
		n = nla_len(a) / (int)sizeof(scope);
		for (int i = 0; i < n; i++) {
			cpu = kjoule_cpus_next(cpus, cpu + 1);
			memcpy(&scope, (char *)nla_data(a) + i * sizeof(scope), sizeof(scope));
			if (cpu < 0 || scope >= KJOULE_MAX_CPUS)
				return -EBADMSG;
			if (kjoule_scope_set(src, cpu, scope))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Of readings of blocks. Return: false if it is something else */
static bool vpm_parse_attr(struct nlattr *a, struct kjoule_vpm_info *vpm, int *ret)
{
	switch (nla_type(a)) {
	case KJOULE_A_SESSION_VPM_INTERVAL_NS:
		vpm->interval_ns = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_READY_NS:
		vpm->ready_ns = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_MAX_UW:
		vpm->peak_uw = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_MIN_UW:
		vpm->rest_uw = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_READINGS:
		vpm->readings = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_NO_HIT:
		vpm->unmet = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_NO_END:
		vpm->unended = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_MISMATCHED:
		vpm->elsewhere = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_UNUSABLE:
		vpm->spoilt = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_FAILED:
		vpm->failed = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_PAUSED_NS:
		vpm->held_ns = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_PAUSED_MAX_NS:
		vpm->longest_ns = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_TRIALS:
		vpm->rounds = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_LEARNT:
		vpm->learnt = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_ABORTED:
		vpm->cut = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_OVERRUN:
		vpm->crowded = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_SKIPPED:
		vpm->skipped = attr_get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_SOURCE:
		attr_get_string(a, vpm->source, sizeof(vpm->source));
		return true;
	}
	return false;
}

int kjoule_parse_session(struct nlattr *attrs, int len, struct kjoule_session_info *info)
{
	uint32_t source = 0;
	struct nlattr *a;
	int rest, ret = 0;

	nla_for_each_attr(a, attrs, len, rest) {
		switch (nla_type(a)) {
		case KJOULE_A_SESSION_ID:
			info->id = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_INTERVAL_NS:
			info->interval_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_JITTER_NS:
			info->jitter_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_TARGET:
			info->target = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_PID:
			info->pid = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_CPUS:
			if ((size_t)nla_len(a) > sizeof(info->cpus.bits))
				return -EBADMSG;
			memcpy(info->cpus.bits, nla_data(a), nla_len(a));
			break;
		case KJOULE_A_SESSION_RING_BYTES:
			info->ring_bytes = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_WAKEUP_BYTES:
			info->wakeup_bytes = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_FLAGS:
			info->flags = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_CHAIN_DEPTH:
			info->chain_depth = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_STACK_BYTES:
			info->stack_bytes = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_USER:
			info->user = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_DUTY:
			info->edge_duty = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_WINDOWS:
			info->edge.windows = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_SPINS:
			info->edge.spins = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_FAILED:
			info->edge.failed = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_PAUSED_NS:
			info->edge.held_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_PAUSED_MAX_NS:
			info->edge.longest_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_BLOCKED:
			info->edge.paused = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_STATE:
			info->state = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_T0_NS:
			info->t0_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_SEED:
			info->seed = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_STOP_NS:
			info->stop_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_SOURCE_INFO:
			if (info->n_sources == KJOULE_MAX_SOURCES)
				return -EBADMSG;
			if (!ret)
				ret = kjoule_parse_source(nla_data(a), nla_len(a),
							  &info->sources[info->n_sources++]);
			break;
		case KJOULE_A_SESSION_CHILDREN:
			info->children = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_CHILDREN_LOST:
			info->children_lost = attr_get_u64(a, &ret);
			break;
		default:
			vpm_parse_attr(a, &info->vpm, &ret);
			break;
		}
	}
	/* scopes refer to the session's CPUs, which may come after the sources */
	nla_for_each_attr(a, attrs, len, rest)
		if (nla_type(a) == KJOULE_A_SESSION_SOURCE_INFO && !ret)
			ret = scopes_parse_attrs(nla_data(a), nla_len(a), &info->cpus,
						 &info->sources[source++]);
	return ret;
}

int kjoule_parse_stats(struct nlattr *attrs, int len, struct kjoule_cpu_stats *stats)
{
	struct nlattr *a;
	int rest, ret = 0;

	nla_for_each_attr(a, attrs, len, rest) {
		switch (nla_type(a)) {
		case KJOULE_A_STATS_CPU:
			stats->cpu = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_STATS_DUE:
			stats->due = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_TAKEN:
			stats->produced = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_MISSED:
			stats->missed = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_SKIPPED:
			stats->parked = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_FILTERED:
			stats->filtered = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_RECORDS:
			stats->records = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_CONSUMED:
			stats->consumed = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_LOST:
			stats->lost = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_WAITING:
			stats->waiting = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_SAMPLES:
			stats->samples = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_TICK_NS:
			stats->tick_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_DELAY_MAX_NS:
			stats->late_max_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_SOURCE_ERRORS:
			stats->source_errors = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_IDLE_NS:
			stats->idle_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_STACKS_WITHHELD:
			stats->stacks_withheld = attr_get_u64(a, &ret);
			break;
		}
	}
	return ret;
}

int kjoule_parse_notice(struct nlattr *attrs, int len, struct kjoule_notice *notice)
{
	struct nlattr *a;
	int rest, ret = 0;

	notice->cpu = -1;
	notice->user = UINT32_MAX;
	nla_for_each_attr(a, attrs, len, rest) {
		switch (nla_type(a)) {
		case KJOULE_A_NOTICE_EVENT:
			notice->event = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_NOTICE_TIME_NS:
			notice->time_ns = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_NOTICE_SESSION:
			notice->session = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_NOTICE_CPU:
			notice->cpu = (int32_t)attr_get_u32(a, &ret);
			break;
		case KJOULE_A_NOTICE_SOURCE:
			attr_get_string(a, notice->source, sizeof(notice->source));
			break;
		case KJOULE_A_NOTICE_COUNT:
			notice->count = attr_get_u64(a, &ret);
			break;
		case KJOULE_A_NOTICE_USER:
			notice->user = attr_get_u32(a, &ret);
			break;
		}
	}
	return ret;
}

int kjoule_parse_records(struct nlattr *attrs, int len, struct kjoule_records *records)
{
	struct nlattr *a;
	int rest, ret = 0;

	nla_for_each_attr(a, attrs, len, rest) {
		switch (nla_type(a)) {
		case KJOULE_A_RECORDS_SESSION:
			records->session = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_RECORDS_CPU:
			records->cpu = attr_get_u32(a, &ret);
			break;
		case KJOULE_A_RECORDS_DATA:
			records->data = nla_data(a);
			records->len = nla_len(a);
			break;
		}
	}
	/* records are multiples of 8 bytes */
	return records->len % 8 ? -EBADMSG : ret;
}
