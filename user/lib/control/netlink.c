// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes the module's netlink messages, by tables of the members that attributes set; their
 * lengths are generated from the specification. Called by session.c with the attributes of one
 * message.
 */
#include <errno.h>
#include <string.h>
#include <netlink/attr.h>
#include "lib/base/cpus.h"
#include "lib/control/control.h"
#include "lib/control/netlink.h"

static void field_set_string(const struct kjoule_field *f, const struct nlattr *a, char *to)
{
	size_t n = nla_len(a) < 0 ? 0 : nla_len(a);

	if (n >= f->size)
		n = f->size - 1;
	memcpy(to, nla_data(a), n);
	to[n] = '\0';
}

static int field_set(const struct kjoule_field *f, const struct nlattr *a, void *to)
{
	uint64_t number = 0;

	if (!f->len) {
		field_set_string(f, a, to);
		return 0;
	}
	if (nla_len(a) != f->len)
		return -EBADMSG;
	memcpy(&number, nla_data(a), f->len);
	if (f->size == sizeof(bool))
		*(bool *)to = number;
	else
		memcpy(to, &number, f->size);
	return 0;
}

int kjoule_parse_fields(struct nlattr *attrs, int len, const struct kjoule_field *fields, int n,
			void *to)
{
	struct nlattr *a;
	int rest, ret = 0;

	nla_for_each_attr(a, attrs, len, rest) {
		int type = nla_type(a);

		if (!ret && type < n && fields[type].size)
			ret = field_set(&fields[type], a, (char *)to + fields[type].offset);
	}
	return ret;
}

static const struct kjoule_field domain_fields[] = {
#define FIELD(attr, name) KJOULE_FIELD(DOMAIN_##attr, kjoule_domain_info, name)
	FIELD(INDEX, index), FIELD(NAME, name), FIELD(CLASS, class), FIELD(WIDTH, width),
	FIELD(UNIT_MULT, unit_mult), FIELD(UNIT_SHIFT, unit_shift), FIELD(PARENT, parent),
	FIELD(UPDATE_PERIOD_NS, update_period_ns), FIELD(QUANTITY, quantity), FIELD(RANGE, range),
#undef FIELD
};

static const struct kjoule_field source_fields[] = {
#define FIELD(attr, name) KJOULE_FIELD(SOURCE_##attr, kjoule_source_info, name)
	FIELD(ID, id), FIELD(NAME, name), FIELD(KIND, kind), FIELD(RATING, rating),
	FIELD(AVAILABLE, available), FIELD(REASON, reason), FIELD(DEFAULT, is_default),
	FIELD(REQUESTED_ONLY, requested_only), FIELD(REFERENCE_KHZ, reference_khz),
	FIELD(READY_NS, ready_ns), FIELD(ORIGIN, origin), FIELD(PERIOD_NS, period_ns),
	FIELD(READS, reads), FIELD(ERRORS, errors), FIELD(OVERRUNS, overruns),
#undef FIELD
};

static const struct kjoule_field session_fields[] = {
#define FIELD(attr, name) KJOULE_FIELD(SESSION_##attr, kjoule_session_info, name)
	FIELD(ID, id), FIELD(INTERVAL_NS, interval_ns), FIELD(JITTER_NS, jitter_ns),
	FIELD(TARGET, target), FIELD(PID, pid), FIELD(RING_BYTES, ring_bytes),
	FIELD(WAKEUP_BYTES, wakeup_bytes), FIELD(FLAGS, flags), FIELD(CHAIN_DEPTH, chain_depth),
	FIELD(STACK_BYTES, stack_bytes), FIELD(USER, user), FIELD(STATE, state),
	FIELD(T0_NS, t0_ns), FIELD(SEED, seed), FIELD(STOP_NS, stop_ns),
	FIELD(CHILDREN, children), FIELD(CHILDREN_LOST, children_lost),
	FIELD(EDGE_DUTY, edge_duty), FIELD(EDGE_WINDOWS, edge.windows),
	FIELD(EDGE_SPINS, edge.spins), FIELD(EDGE_FAILED, edge.failed),
	FIELD(EDGE_PAUSED_NS, edge.held_ns), FIELD(EDGE_PAUSED_MAX_NS, edge.longest_ns),
	FIELD(EDGE_BLOCKED, edge.paused),
	FIELD(VPM_INTERVAL_NS, vpm.interval_ns), FIELD(VPM_SOURCE, vpm.source),
	FIELD(VPM_READY_NS, vpm.ready_ns), FIELD(VPM_MAX_UW, vpm.peak_uw),
	FIELD(VPM_MIN_UW, vpm.rest_uw), FIELD(VPM_READINGS, vpm.readings),
	FIELD(VPM_NO_HIT, vpm.unmet), FIELD(VPM_NO_END, vpm.unended),
	FIELD(VPM_MISMATCHED, vpm.elsewhere), FIELD(VPM_UNUSABLE, vpm.spoilt),
	FIELD(VPM_FAILED, vpm.failed), FIELD(VPM_PAUSED_NS, vpm.held_ns),
	FIELD(VPM_PAUSED_MAX_NS, vpm.longest_ns), FIELD(VPM_TRIALS, vpm.rounds),
	FIELD(VPM_LEARNT, vpm.learnt), FIELD(VPM_ABORTED, vpm.cut),
	FIELD(VPM_OVERRUN, vpm.crowded), FIELD(VPM_SKIPPED, vpm.skipped),
#undef FIELD
};

static const struct kjoule_field stats_fields[] = {
#define FIELD(attr, name) KJOULE_FIELD(STATS_##attr, kjoule_cpu_stats, name)
	FIELD(CPU, cpu), FIELD(DUE, due), FIELD(TAKEN, produced), FIELD(MISSED, missed),
	FIELD(SKIPPED, parked), FIELD(FILTERED, filtered), FIELD(RECORDS, records),
	FIELD(CONSUMED, consumed), FIELD(LOST, lost), FIELD(WAITING, waiting),
	FIELD(SAMPLES, samples), FIELD(TICK_NS, tick_ns), FIELD(DELAY_MAX_NS, late_max_ns),
	FIELD(SOURCE_ERRORS, source_errors), FIELD(IDLE_NS, idle_ns),
	FIELD(STACKS_WITHHELD, stacks_withheld),
#undef FIELD
};

static const struct kjoule_field notice_fields[] = {
#define FIELD(attr, name) KJOULE_FIELD(NOTICE_##attr, kjoule_notice, name)
	FIELD(EVENT, event), FIELD(TIME_NS, time_ns), FIELD(SESSION, session), FIELD(CPU, cpu),
	FIELD(SOURCE, source), FIELD(COUNT, count), FIELD(USER, user),
#undef FIELD
};

static const struct kjoule_field records_fields[] = {
	KJOULE_FIELD(RECORDS_SESSION, kjoule_records, session),
	KJOULE_FIELD(RECORDS_CPU, kjoule_records, cpu),
};

static int domain_parse_attrs(struct nlattr *attrs, int len, struct kjoule_domain_info *dom)
{
	int ret;

	dom->parent = -1;
	ret = KJOULE_PARSE(attrs, len, domain_fields, dom);
	return dom->index < KJOULE_MAX_DOMAINS ? ret : -EBADMSG;
}

int kjoule_parse_source(struct nlattr *attrs, int len, struct kjoule_source_info *src)
{
	int ret = KJOULE_PARSE(attrs, len, source_fields, src);
	struct nlattr *a;
	int rest;

	nla_for_each_attr(a, attrs, len, rest) {
		if (ret || nla_type(a) != KJOULE_A_SOURCE_DOMAIN)
			continue;
		if (src->n_domains == KJOULE_MAX_DOMAINS)
			return -EBADMSG;
		ret = domain_parse_attrs(nla_data(a), nla_len(a), &src->domains[src->n_domains++]);
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

int kjoule_parse_session(struct nlattr *attrs, int len, struct kjoule_session_info *info)
{
	int ret = KJOULE_PARSE(attrs, len, session_fields, info);
	uint32_t source = 0;
	struct nlattr *a;
	int rest;

	nla_for_each_attr(a, attrs, len, rest) {
		if (nla_type(a) == KJOULE_A_SESSION_CPUS) {
			if ((size_t)nla_len(a) > sizeof(info->cpus.bits))
				return -EBADMSG;
			memcpy(info->cpus.bits, nla_data(a), nla_len(a));
		} else if (nla_type(a) == KJOULE_A_SESSION_SOURCE_INFO && !ret) {
			if (info->n_sources == KJOULE_MAX_SOURCES)
				return -EBADMSG;
			ret = kjoule_parse_source(nla_data(a), nla_len(a),
						  &info->sources[info->n_sources++]);
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
	return KJOULE_PARSE(attrs, len, stats_fields, stats);
}

int kjoule_parse_notice(struct nlattr *attrs, int len, struct kjoule_notice *notice)
{
	notice->cpu = -1;
	notice->user = UINT32_MAX;
	return KJOULE_PARSE(attrs, len, notice_fields, notice);
}

int kjoule_parse_records(struct nlattr *attrs, int len, struct kjoule_records *records)
{
	int ret = KJOULE_PARSE(attrs, len, records_fields, records);
	struct nlattr *a = nla_find(attrs, len, KJOULE_A_RECORDS_DATA);

	if (a) {
		records->data = nla_data(a);
		records->len = nla_len(a);
	}
	/* records are multiples of 8 bytes */
	return records->len % 8 ? -EBADMSG : ret;
}
