// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes what the module says over netlink. Called by session.c with the
 * attributes of one message.
 */
#include <errno.h>
#include <string.h>
#include <netlink/attr.h>
#include "lib/control/netlink.h"
#include "lib/kjoule.h"

static uint32_t get_u32(struct nlattr *attr, int *ret)
{
	if (nla_len(attr) == 4)
		return nla_get_u32(attr);
	*ret = -EBADMSG;
	return 0;
}

static uint64_t get_u64(struct nlattr *attr, int *ret)
{
	if (nla_len(attr) == 8)
		return nla_get_u64(attr);
	*ret = -EBADMSG;
	return 0;
}

static void get_string(struct nlattr *attr, char *buf, size_t len)
{
	size_t n = nla_len(attr) < 0 ? 0 : nla_len(attr);

	if (n >= len)
		n = len - 1;
	memcpy(buf, nla_data(attr), n);
	buf[n] = '\0';
}

static int parse_domain(struct nlattr *attrs, int len, struct kjoule_domain_info *dom)
{
	struct nlattr *a;
	int rest, ret = 0;

	dom->parent = -1;
	nla_for_each_attr(a, attrs, len, rest) {
		switch (nla_type(a)) {
		case KJOULE_A_DOMAIN_INDEX:
			dom->index = get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_NAME:
			get_string(a, dom->name, sizeof(dom->name));
			break;
		case KJOULE_A_DOMAIN_CLASS:
			dom->class = get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_WIDTH:
			dom->width = get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_UNIT_MULT:
			dom->unit_mult = get_u64(a, &ret);
			break;
		case KJOULE_A_DOMAIN_UNIT_SHIFT:
			dom->unit_shift = get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_PARENT:
			dom->parent = (int32_t)get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_UPDATE_PERIOD_NS:
			dom->update_period_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_DOMAIN_QUANTITY:
			dom->quantity = get_u32(a, &ret);
			break;
		case KJOULE_A_DOMAIN_RANGE:
			dom->range = get_u64(a, &ret);
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
			src->id = get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_NAME:
			get_string(a, src->name, sizeof(src->name));
			break;
		case KJOULE_A_SOURCE_KIND:
			src->kind = get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_RATING:
			src->rating = (int32_t)get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_AVAILABLE:
			src->available = get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_REASON:
			get_string(a, src->reason, sizeof(src->reason));
			break;
		case KJOULE_A_SOURCE_DEFAULT:
			src->is_default = get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_REQUESTED_ONLY:
			src->requested_only = get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_REFERENCE_KHZ:
			src->reference_khz = get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_READY_NS:
			src->ready_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_DOMAIN:
			if (src->n_domains == KJOULE_MAX_DOMAINS)
				return -EBADMSG;
			if (!ret)
				ret = parse_domain(nla_data(a), nla_len(a),
						   &src->domains[src->n_domains++]);
			break;
		case KJOULE_A_SOURCE_ORIGIN:
			src->origin = get_u32(a, &ret);
			break;
		case KJOULE_A_SOURCE_PERIOD_NS:
			src->period_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_READS:
			src->reads = get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_ERRORS:
			src->errors = get_u64(a, &ret);
			break;
		case KJOULE_A_SOURCE_OVERRUNS:
			src->overruns = get_u64(a, &ret);
			break;
		}
	}
	return ret;
}

/* Which CPUs share a source's counters: told in the order of the session's CPUs. */
static int parse_scopes(struct nlattr *attrs, int len, const struct kjoule_cpus *cpus,
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
static bool parse_vpm(struct nlattr *a, struct kjoule_vpm_info *vpm, int *ret)
{
	switch (nla_type(a)) {
	case KJOULE_A_SESSION_VPM_INTERVAL_NS:
		vpm->interval_ns = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_READY_NS:
		vpm->ready_ns = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_PEAK_UW:
		vpm->peak_uw = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_REST_UW:
		vpm->rest_uw = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_READINGS:
		vpm->readings = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_UNMET:
		vpm->unmet = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_UNENDED:
		vpm->unended = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_ELSEWHERE:
		vpm->elsewhere = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_SPOILT:
		vpm->spoilt = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_FAILED:
		vpm->failed = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_HELD_NS:
		vpm->held_ns = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_LONGEST_NS:
		vpm->longest_ns = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_ROUNDS:
		vpm->rounds = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_LEARNT:
		vpm->learnt = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_CUT:
		vpm->cut = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_CROWDED:
		vpm->crowded = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_SKIPPED:
		vpm->skipped = get_u64(a, ret);
		return true;
	case KJOULE_A_SESSION_VPM_SOURCE:
		get_string(a, vpm->source, sizeof(vpm->source));
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
			info->id = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_INTERVAL_NS:
			info->interval_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_JITTER_NS:
			info->jitter_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_TARGET:
			info->target = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_PID:
			info->pid = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_CPUS:
			if ((size_t)nla_len(a) > sizeof(info->cpus.bits))
				return -EBADMSG;
			memcpy(info->cpus.bits, nla_data(a), nla_len(a));
			break;
		case KJOULE_A_SESSION_RING_BYTES:
			info->ring_bytes = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_WAKEUP_BYTES:
			info->wakeup_bytes = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_FLAGS:
			info->flags = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_CHAIN_DEPTH:
			info->chain_depth = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_STACK_BYTES:
			info->stack_bytes = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_USER:
			info->user = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_DUTY:
			info->edge_duty = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_WINDOWS:
			info->edge.windows = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_SPINS:
			info->edge.spins = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_FAILED:
			info->edge.failed = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_HELD_NS:
			info->edge.held_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_LONGEST_NS:
			info->edge.longest_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_EDGE_PAUSED:
			info->edge.paused = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_STATE:
			info->state = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_T0_NS:
			info->t0_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_SEED:
			info->seed = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_STOP_NS:
			info->stop_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_SESSION_SOURCE_INFO:
			if (info->n_sources == KJOULE_MAX_SOURCES)
				return -EBADMSG;
			if (!ret)
				ret = kjoule_parse_source(nla_data(a), nla_len(a),
							  &info->sources[info->n_sources++]);
			break;
		case KJOULE_A_SESSION_CHILDREN:
			info->children = get_u32(a, &ret);
			break;
		case KJOULE_A_SESSION_CHILDREN_LOST:
			info->children_lost = get_u64(a, &ret);
			break;
		default:
			parse_vpm(a, &info->vpm, &ret);
			break;
		}
	}
	/* scopes speak of the session's CPUs, which may come after the sources */
	nla_for_each_attr(a, attrs, len, rest)
		if (nla_type(a) == KJOULE_A_SESSION_SOURCE_INFO && !ret)
			ret = parse_scopes(nla_data(a), nla_len(a), &info->cpus,
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
			stats->cpu = get_u32(a, &ret);
			break;
		case KJOULE_A_STATS_DUE:
			stats->due = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_PRODUCED:
			stats->produced = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_MISSED:
			stats->missed = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_PARKED:
			stats->parked = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_FILTERED:
			stats->filtered = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_RECORDS:
			stats->records = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_CONSUMED:
			stats->consumed = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_LOST:
			stats->lost = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_WAITING:
			stats->waiting = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_SAMPLES:
			stats->samples = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_TICK_NS:
			stats->tick_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_LATE_MAX_NS:
			stats->late_max_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_SOURCE_ERRORS:
			stats->source_errors = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_IDLE_NS:
			stats->idle_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_STATS_STACKS_WITHHELD:
			stats->stacks_withheld = get_u64(a, &ret);
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
			notice->event = get_u32(a, &ret);
			break;
		case KJOULE_A_NOTICE_TIME_NS:
			notice->time_ns = get_u64(a, &ret);
			break;
		case KJOULE_A_NOTICE_SESSION:
			notice->session = get_u32(a, &ret);
			break;
		case KJOULE_A_NOTICE_CPU:
			notice->cpu = (int32_t)get_u32(a, &ret);
			break;
		case KJOULE_A_NOTICE_SOURCE:
			get_string(a, notice->source, sizeof(notice->source));
			break;
		case KJOULE_A_NOTICE_COUNT:
			notice->count = get_u64(a, &ret);
			break;
		case KJOULE_A_NOTICE_USER:
			notice->user = get_u32(a, &ret);
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
			records->session = get_u32(a, &ret);
			break;
		case KJOULE_A_RECORDS_CPU:
			records->cpu = get_u32(a, &ret);
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
