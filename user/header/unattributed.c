// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the sources of a recording measured that no code is charged by: the sums, means
 * and ranges of each domain. They stand next to the report's figures and are never
 * added to them, nor to each other: domains may lie inside one another.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "header/header.h"
#include "lib/control/names.h"

/* A domain of a source, all scopes together; they have no CPU in common. */
struct others {
	const struct kjoule_source_info *source;
	const struct kjoule_domain_info *domain;
	uint64_t readings;
	bool told;		/* a scope has two of them, and so a difference */
	double sum;		/* of energy in joules, of counts */
	double seconds;		/* covered by the readings, the longest of the scopes */
	double least, mean, most;	/* of temperatures */
};

static void unattributed_add_energy(struct others *b, const struct timeline_series *s)
{
	double *uj = calloc(s->n + 1, sizeof(*uj));

	if (!uj)
		return;
	energy_columns_uj(s, uj);
	b->sum += (uj[s->n - 1] - uj[0]) * (s->quantity == KJOULE_QUANTITY_COUNT ? 1 : 1e-6);
	free(uj);
}

static void unattributed_add_gauge(struct others *b, const struct timeline_series *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		b->least = fmin(b->least, s->readings[i].value);
		b->most = fmax(b->most, s->readings[i].value);
		sum += s->readings[i].value;
	}
	b->mean = (b->mean * b->readings + sum) / (b->readings + s->n);
}

static struct others unattributed_sum_domain(const struct view *v, uint32_t source, uint32_t domain)
{
	const struct kjoule_source_info *src = &v->rec.meta.session.sources[source];
	struct others b = { .source = src, .domain = &src->domains[domain],
			    .least = INFINITY, .most = -INFINITY };

	for (size_t i = 0; i < v->tl.n_series; i++) {
		const struct timeline_series *s = &v->tl.series[i];

		if (s->source != source || s->domain != b.domain->index || !s->n)
			continue;
		if (s->quantity == KJOULE_QUANTITY_TEMPERATURE)
			unattributed_add_gauge(&b, s);
		else
			unattributed_add_energy(&b, s);
		b.readings += s->n;
		b.told |= s->n > 1;
		b.seconds = fmax(b.seconds,
				 (s->readings[s->n - 1].time_ns - s->readings[0].time_ns) * 1e-9);
	}
	return b;
}

/* Is this domain a column of the report? */
static bool domain_is_attributed(const struct view *v, const bool *chosen, uint32_t source,
				 uint32_t domain)
{
	uint32_t quantity = v->rec.meta.session.sources[source].domains[domain].quantity;

	return chosen[source] && (quantity == KJOULE_QUANTITY_ENERGY ||
				  quantity == KJOULE_QUANTITY_POWER);
}

static struct json_object *unattributed_domain_json(const struct others *b)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "source", output_json_str(b->source->name));
	json_object_object_add(o, "domain", output_json_str(b->domain->name));
	json_object_object_add(o, "quantity", json_object_new_string(
		kjoule_quantity_name(b->domain->quantity)));
	json_object_object_add(o, "inside", b->source->inside[0] ?
			       output_json_str(b->source->inside) : NULL);
	json_object_object_add(o, "same_as", b->source->same_as[0] ?
			       output_json_str(b->source->same_as) : NULL);
	json_object_object_add(o, "readings", json_object_new_uint64(b->readings));
	json_object_object_add(o, "covered_s", output_json_real(b->seconds));
	if (b->domain->quantity == KJOULE_QUANTITY_TEMPERATURE) {
		json_object_object_add(o, "mean_c",
				       b->readings ? output_json_real(b->mean * 1e-3) : NULL);
		json_object_object_add(o, "min_c",
				       b->readings ? output_json_real(b->least * 1e-3) : NULL);
		json_object_object_add(o, "max_c",
				       b->readings ? output_json_real(b->most * 1e-3) : NULL);
	} else if (b->domain->quantity == KJOULE_QUANTITY_COUNT) {
		json_object_object_add(o, "count", b->told ? output_json_real(b->sum) : NULL);
	} else {
		json_object_object_add(o, "energy_j", b->told ? output_json_real(b->sum) : NULL);
		json_object_object_add(o, "power_w", b->told && b->seconds > 0 ?
				       output_json_real(b->sum / b->seconds) : NULL);
	}
	return o;
}

struct json_object *header_unattributed_json(const struct view *v)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;
	struct json_object *list = json_object_new_array();
	bool chosen[KJOULE_MAX_SOURCES];

	energy_columns_choose(v, v->source, chosen, NULL);
	for (uint32_t i = 0; i < s->n_sources; i++) {
		const struct kjoule_source_info *src = &s->sources[i];

		for (uint32_t d = 0; d < src->n_domains && src->kind != KJOULE_KIND_FREQUENCY;
		     d++) {
			struct others b;

			if (domain_is_attributed(v, chosen, i, d))
				continue;
			b = unattributed_sum_domain(v, i, d);
			json_object_array_add(list, unattributed_domain_json(&b));
		}
	}
	return list;
}

struct json_object *header_sources_json(const struct view *v)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < s->n_sources; i++) {
		const struct kjoule_source_info *src = &s->sources[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "name", output_json_str(src->name));
		json_object_object_add(o, "kind",
				       json_object_new_string(kjoule_kind_name(src->kind)));
		json_object_object_add(o, "origin", json_object_new_string(
			kjoule_origin_name(src->origin)));
		json_object_object_add(o, "period_ns", json_object_new_uint64(src->period_ns));
		json_object_object_add(o, "reads", json_object_new_uint64(src->reads));
		json_object_object_add(o, "errors", json_object_new_uint64(src->errors));
		json_object_object_add(o, "overruns", json_object_new_uint64(src->overruns));
		json_object_array_add(list, o);
	}
	return list;
}
