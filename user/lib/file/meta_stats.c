// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The chunks of the data file for counters and measurements, the calibration and the end, as JSON,
 * both ways; see meta.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/json.h"
#include "lib/file/meta.h"

static const struct kjoule_json_member stats_members[] = {
#define U64(name) KJOULE_JSON_MEMBER(kjoule_cpu_stats, name, U64)
	KJOULE_JSON_MEMBER(kjoule_cpu_stats, cpu, U32), U64(due), U64(produced), U64(missed),
	U64(parked), U64(filtered), U64(records), U64(consumed), U64(lost), U64(waiting),
	U64(samples), U64(tick_ns), U64(late_max_ns), U64(source_errors), U64(idle_ns),
	U64(stacks_withheld),
#undef U64
};

static const struct kjoule_json_member calibration_members[] = {
#define REAL(name) KJOULE_JSON_MEMBER(kjoule_calibration, name, REAL)
	KJOULE_JSON_MEMBER(kjoule_calibration, cpu, U32),
	KJOULE_JSON_MEMBER(kjoule_calibration, ticks, U32),
	REAL(tick_ns), REAL(tick_error_ns), REAL(handler_ns), REAL(handler_spread_ns),
	REAL(entry_ns), REAL(freq_khz), REAL(other_part), REAL(other_error), REAL(other_hz),
#undef REAL
};

static const struct kjoule_json_member end_members[] = {
#define U64(name) KJOULE_JSON_MEMBER(kjoule_end, name, U64)
	U64(start_ns), U64(stop_ns), U64(side_band_lost), U64(side_band_anew), U64(ring_damaged),
#undef U64
#define REGIONS(name, type) \
	KJOULE_JSON_MEMBER_AS("regions_" #name, kjoule_end, regions.name, type)
	REGIONS(lost, U64), REGIONS(left_out, U64), REGIONS(unfinished, U64), REGIONS(damaged, U64),
	REGIONS(foreign, U32), REGIONS(refused, U32), REGIONS(unmapped, U32),
#undef REGIONS
};

#define N_MEMBERS(list) (sizeof(list) / sizeof((list)[0]))

char *kjoule_stats_encode(const struct kjoule_cpu_stats *stats, size_t n)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	for (size_t i = 0; i < n; i++) {
		struct json_object *s = json_object_new_object();

		kjoule_json_put_members(s, stats_members, N_MEMBERS(stats_members), &stats[i]);
		json_object_array_add(list, s);
	}
	json_object_object_add(o, "cpus", list);
	return kjoule_json_finish(o);
}

int kjoule_stats_decode(const char *text, size_t len, struct kjoule_cpu_stats **out, size_t *n)
{
	struct json_object *o = kjoule_json_parse(text, len),
		*list = kjoule_json_get(o, "cpus", json_type_array);
	struct kjoule_cpu_stats *stats;
	size_t count = list ? json_object_array_length(list) : 0;

	if (!list || count > KJOULE_MAX_CPUS) {
		json_object_put(o);
		return -EBADMSG;
	}
	stats = calloc(count + 1, sizeof(*stats));
	if (!stats) {
		json_object_put(o);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		kjoule_json_get_members(json_object_array_get_idx(list, i), stats_members,
					N_MEMBERS(stats_members), &stats[i]);
	json_object_put(o);
	*out = stats;
	*n = count;
	return 0;
}

/* NAN is written as null and read as NAN. */
static void json_put_reals(struct json_object *o, const char *name, const double *v, unsigned int n)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < n; i++)
		json_object_array_add(list, !isfinite(v[i]) ? NULL : json_object_new_double(v[i]));
	json_object_object_add(o, name, list);
}

static unsigned int json_get_reals(struct json_object *o, const char *name, double *v,
				   unsigned int max)
{
	struct json_object *list = NULL;
	unsigned int n = 0;

	if (!json_object_object_get_ex(o, name, &list) ||
	    !json_object_is_type(list, json_type_array))
		return 0;
	for (; n < json_object_array_length(list) && n < max; n++) {
		struct json_object *e = json_object_array_get_idx(list, n);

		v[n] = e ? json_object_get_double(e) : NAN;
	}
	return n;
}

static void json_put_numbers(struct json_object *o, const char *name, const uint32_t *v,
			     unsigned int n)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < n; i++)
		json_object_array_add(list, json_object_new_int64(v[i]));
	json_object_object_add(o, name, list);
}

/* Older files only have the domains of the first source, in their order: @otherwise */
static void json_get_numbers(struct json_object *o, const char *name, uint32_t *v, unsigned int n,
			     bool otherwise)
{
	struct json_object *list = kjoule_json_get(o, name, json_type_array);

	for (unsigned int i = 0; i < n; i++) {
		struct json_object *e = list ? json_object_array_get_idx(list, i) : NULL;

		v[i] = e ? json_object_get_uint64(e) : otherwise ? i : 0;
	}
}

char *kjoule_calibration_encode(const struct kjoule_calibration *cal)
{
	struct json_object *o = json_object_new_object();

	kjoule_json_put_members(o, calibration_members, N_MEMBERS(calibration_members), cal);
	json_put_numbers(o, "source", cal->source, cal->n_domains);
	json_put_numbers(o, "domain", cal->domain, cal->n_domains);
	json_put_reals(o, "irq_uw", cal->irq_uw, cal->n_domains);
	json_put_reals(o, "irq_error_uw", cal->irq_error_uw, cal->n_domains);
	json_put_reals(o, "loop_uw", cal->loop_uw, cal->n_domains);
	json_put_reals(o, "idle_uj", cal->idle_uj, cal->n_domains);
	json_put_reals(o, "idle_uw", cal->idle_uw, cal->n_domains);
	return kjoule_json_finish(o);
}

/* What "idle_uw" was called: a word that the glossary has no more. */
#define OLD_IDLE_UW	"as" "leep_uw"

/* No measurement is larger, and what is computed from it stays finite. */
static bool reals_are_believable(const double *v, unsigned int n, bool may_be_unknown)
{
	for (unsigned int i = 0; i < n; i++)
		if (!(fabs(v[i]) <= 1e15) && !(may_be_unknown && isnan(v[i])))
			return false;
	return true;
}

static bool calibration_is_believable(const struct kjoule_calibration *cal)
{
	const double one[] = { cal->tick_ns, cal->tick_error_ns, cal->handler_ns,
			       cal->handler_spread_ns, cal->entry_ns, cal->freq_khz,
			       cal->other_part, cal->other_hz };

	return reals_are_believable(one, sizeof(one) / sizeof(one[0]), false) &&
	       reals_are_believable(&cal->other_error, 1, true) &&
	       reals_are_believable(cal->irq_uw, cal->n_domains, true) &&
	       reals_are_believable(cal->irq_error_uw, cal->n_domains, true) &&
	       reals_are_believable(cal->loop_uw, cal->n_domains, true) &&
	       reals_are_believable(cal->idle_uj, cal->n_domains, true) &&
	       reals_are_believable(cal->idle_uw, cal->n_domains, true);
}

int kjoule_calibration_decode(const char *text, size_t len, struct kjoule_calibration *cal)
{
	struct json_object *o = kjoule_json_parse(text, len);
	unsigned int n;

	memset(cal, 0, sizeof(*cal));
	if (!o)
		return -EBADMSG;
	kjoule_json_get_members(o, calibration_members, N_MEMBERS(calibration_members), cal);
	/* older files do not have this either */
	if (!json_object_object_get_ex(o, "other_error", NULL))
		cal->other_error = NAN;
	cal->n_domains = json_get_reals(o, "irq_uw", cal->irq_uw, KJOULE_MAX_DOMAINS);
	json_get_numbers(o, "source", cal->source, cal->n_domains, false);
	json_get_numbers(o, "domain", cal->domain, cal->n_domains, true);
	json_get_reals(o, "irq_error_uw", cal->irq_error_uw, KJOULE_MAX_DOMAINS);
	json_get_reals(o, "loop_uw", cal->loop_uw, KJOULE_MAX_DOMAINS);
	for (unsigned int d = json_get_reals(o, "idle_uj", cal->idle_uj, KJOULE_MAX_DOMAINS);
	     d < cal->n_domains; d++)
		cal->idle_uj[d] = NAN;
	n = json_get_reals(o, "idle_uw", cal->idle_uw, KJOULE_MAX_DOMAINS);
	n = n ? n : json_get_reals(o, OLD_IDLE_UW, cal->idle_uw, KJOULE_MAX_DOMAINS);
	for (unsigned int d = n; d < cal->n_domains; d++)
		cal->idle_uw[d] = NAN;
	json_object_put(o);
	if (calibration_is_believable(cal))
		return 0;
	memset(cal, 0, sizeof(*cal));
	return -EBADMSG;
}

char *kjoule_end_encode(const struct kjoule_end *end)
{
	struct json_object *o = json_object_new_object();

	kjoule_json_put_str(o, "reason", end->reason);
	kjoule_json_put_i64(o, "exit_code", end->exit_code);
	kjoule_json_put_members(o, end_members, N_MEMBERS(end_members), end);
	return kjoule_json_finish(o);
}

int kjoule_end_decode(const char *text, size_t len, struct kjoule_end *end)
{
	struct json_object *o = kjoule_json_parse(text, len);

	memset(end, 0, sizeof(*end));
	if (!o)
		return -EBADMSG;
	kjoule_json_get_str(o, "reason", end->reason, sizeof(end->reason));
	end->exit_code = kjoule_json_get_i64(o, "exit_code", -1);
	kjoule_json_get_members(o, end_members, N_MEMBERS(end_members), end);
	json_object_put(o);
	return 0;
}
