// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module's sources with their domains, as netlink tells them; part of silicon_summary,
 * see summary.h.
 */
#include <stdio.h>
#include <string.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "summary.h"

static void text(char *to, size_t size, const struct nlattr *attr)
{
	snprintf(to, size, "%.*s", (int)mnl_attr_get_payload_len(attr), mnl_attr_get_str(attr));
}

static void take_domain(const struct nlattr *nest, struct source *source)
{
	struct domain d = { .there = true, .parent = -1 };
	const struct nlattr *attr;
	uint32_t index = MAX_DOMAINS;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_DOMAIN_INDEX:
			index = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_DOMAIN_NAME:
			text(d.name, sizeof(d.name), attr);
			break;
		case KJOULE_A_DOMAIN_CLASS:
			d.class = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_DOMAIN_WIDTH:
			d.width = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_DOMAIN_UNIT_MULT:
			d.mult = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_DOMAIN_UNIT_SHIFT:
			d.shift = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_DOMAIN_PARENT:
			d.parent = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_DOMAIN_UPDATE_PERIOD_NS:
			d.period_ns = mnl_attr_get_u64(attr);
			break;
		}
	}
	if (index < MAX_DOMAINS)
		source->domain[index] = d;
}

static void take_source(const struct nlmsghdr *message, void *data)
{
	struct summary *s = data;
	struct source *source = &s->source[s->n_sources];
	const struct nlattr *attr;

	if (s->n_sources == MAX_SOURCES)
		return;
	s->n_sources++;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_SOURCE_NAME:
			text(source->name, sizeof(source->name), attr);
			break;
		case KJOULE_A_SOURCE_KIND:
			source->kind = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_RATING:
			source->rating = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_AVAILABLE:
			source->available = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_REASON:
			text(source->reason, sizeof(source->reason), attr);
			break;
		case KJOULE_A_SOURCE_DEFAULT:
			source->is_default = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_REQUESTED_ONLY:
			source->requested_only = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_SOURCE_REFERENCE_KHZ:
			source->reference_khz = mnl_attr_get_u64(attr);
			break;
		case KJOULE_A_SOURCE_DOMAIN:
			take_domain(attr, source);
			break;
		}
	}
}

/* Why there is no source of a kind, and what to provide. */
void sources_lack(const struct summary *s, uint32_t kind, char *why, size_t size)
{
	const struct source *best = NULL;
	unsigned int i;

	for (i = 0; i < s->n_sources; i++) {
		if (s->source[i].kind == kind && (!best || s->source[i].rating > best->rating))
			best = &s->source[i];
	}
	snprintf(why, size, "no %s source can be used (%s: %s): %s",
		 kind == KJOULE_KIND_ENERGY ? "energy" : "frequency", best ? best->name :
		 "the module", best ? best->reason : "knows none", kind == KJOULE_KIND_ENERGY ?
		 "a CPU with RAPL, not behind a hypervisor, or a module that registers a source is needed" :
		 "a CPU with APERF and MPERF, or a cpufreq driver, is needed");
}

int sources_ask(struct nl *nl, struct summary *s)
{
	int err = nl_talk(nl, nl_request(nl, KJOULE_CMD_SOURCE_GET, NLM_F_DUMP), take_source, s);
	unsigned int i;

	for (i = 0; i < s->n_sources; i++) {
		const struct source *source = &s->source[i];

		if (source->is_default && source->kind == KJOULE_KIND_ENERGY)
			s->energy = source;
		if (source->is_default && source->kind == KJOULE_KIND_FREQUENCY)
			s->frequency = source;
	}
	return err;
}
