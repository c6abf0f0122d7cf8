// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The JSON chunks of the data file, both ways; see meta.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "meta.h"

static void put_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void put_i64(struct json_object *o, const char *key, int64_t v)
{
	json_object_object_add(o, key, json_object_new_int64(v));
}

static void put_str(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

static void put_real(struct json_object *o, const char *key, double v)
{
	json_object_object_add(o, key, json_object_new_double(v));
}

/* The object as a string of the caller's; drops the object. */
static char *finish(struct json_object *o)
{
	char *text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));

	json_object_put(o);
	return text;
}

static struct json_object *get(struct json_object *o, const char *key, enum json_type type)
{
	struct json_object *v = NULL;

	if (!o || !json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, type))
		return NULL;
	return v;
}

static uint64_t get_u64(struct json_object *o, const char *key)
{
	struct json_object *v = get(o, key, json_type_int);

	return v ? json_object_get_uint64(v) : 0;
}

static int64_t get_i64(struct json_object *o, const char *key, int64_t otherwise)
{
	struct json_object *v = get(o, key, json_type_int);

	return v ? json_object_get_int64(v) : otherwise;
}

static double get_real(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	return json_object_get_double(v);
}

static void get_str(struct json_object *o, const char *key, char *buf, size_t len)
{
	struct json_object *v = get(o, key, json_type_string);

	strncpy(buf, v ? json_object_get_string(v) : "", len - 1);
	buf[len - 1] = '\0';
}

static bool get_bool(struct json_object *o, const char *key)
{
	struct json_object *v = get(o, key, json_type_boolean);

	return v && json_object_get_boolean(v);
}

/* Content comes from files that may be damaged: only an object will do. */
static struct json_object *parse(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o;

	if (!tok)
		return NULL;
	o = json_tokener_parse_ex(tok, text, len > 0x7fffffff ? 0x7fffffff : (int)len);
	if (json_tokener_get_error(tok) != json_tokener_success ||
	    !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	return o;
}

static struct json_object *source_to_json(const struct kjoule_source_info *src)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	put_str(o, "name", src->name);
	put_str(o, "kind", src->kind == KJOULE_KIND_ENERGY ? "energy" : "frequency");
	json_object_object_add(o, "requested_only", json_object_new_boolean(src->requested_only));
	put_u64(o, "reference_khz", src->reference_khz);
	for (uint32_t i = 0; i < src->n_domains; i++) {
		const struct kjoule_domain_info *dom = &src->domains[i];
		struct json_object *d = json_object_new_object();

		put_u64(d, "index", dom->index);
		put_str(d, "name", dom->name);
		put_u64(d, "class", dom->class);
		put_u64(d, "width", dom->width);
		put_u64(d, "unit_mult", dom->unit_mult);
		put_u64(d, "unit_shift", dom->unit_shift);
		put_i64(d, "parent", dom->parent);
		put_u64(d, "update_period_ns", dom->update_period_ns);
		json_object_array_add(list, d);
	}
	json_object_object_add(o, "domains", list);
	return o;
}

static int source_from_json(struct json_object *o, struct kjoule_source_info *src)
{
	struct json_object *list = get(o, "domains", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;
	char kind[16];

	get_str(o, "name", src->name, sizeof(src->name));
	get_str(o, "kind", kind, sizeof(kind));
	src->kind = strcmp(kind, "frequency") ? KJOULE_KIND_ENERGY : KJOULE_KIND_FREQUENCY;
	src->available = true;
	src->requested_only = get_bool(o, "requested_only");
	src->reference_khz = get_u64(o, "reference_khz");
	if (n > KJOULE_MAX_DOMAINS)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		struct json_object *d = json_object_array_get_idx(list, i);
		struct kjoule_domain_info *dom = &src->domains[src->n_domains];

		dom->index = get_u64(d, "index");
		if (dom->index >= KJOULE_MAX_DOMAINS)
			return -EBADMSG;
		get_str(d, "name", dom->name, sizeof(dom->name));
		dom->class = get_u64(d, "class");
		dom->width = get_u64(d, "width");
		dom->unit_mult = get_u64(d, "unit_mult");
		dom->unit_shift = get_u64(d, "unit_shift");
		dom->parent = get_i64(d, "parent", -1);
		dom->update_period_ns = get_u64(d, "update_period_ns");
		src->n_domains++;
	}
	return 0;
}

static struct json_object *session_to_json(const struct kjoule_session_info *s)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	char cpus[4096];

	put_u64(o, "id", s->id);
	put_u64(o, "interval_ns", s->interval_ns);
	put_u64(o, "jitter_ns", s->jitter_ns);
	put_str(o, "target", s->target == KJOULE_TARGET_PROCESS ? "process" : "system");
	put_u64(o, "pid", s->pid);
	put_str(o, "cpus", kjoule_cpus_format(&s->cpus, cpus, sizeof(cpus)));
	put_u64(o, "ring_bytes", s->ring_bytes);
	put_u64(o, "wakeup_bytes", s->wakeup_bytes);
	put_u64(o, "t0_ns", s->t0_ns);
	put_u64(o, "seed", s->seed);
	put_u64(o, "stop_ns", s->stop_ns);
	for (uint32_t i = 0; i < s->n_sources; i++)
		json_object_array_add(list, source_to_json(&s->sources[i]));
	json_object_object_add(o, "sources", list);
	return o;
}

static int session_from_json(struct json_object *o, struct kjoule_session_info *s)
{
	struct json_object *list = get(o, "sources", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;
	char text[4096];
	int ret = 0;

	s->id = get_u64(o, "id");
	s->interval_ns = get_u64(o, "interval_ns");
	s->jitter_ns = get_u64(o, "jitter_ns");
	get_str(o, "target", text, sizeof(text));
	s->target = strcmp(text, "process") ? KJOULE_TARGET_SYSTEM : KJOULE_TARGET_PROCESS;
	s->pid = get_u64(o, "pid");
	get_str(o, "cpus", text, sizeof(text));
	if (text[0])
		ret = kjoule_cpus_parse(text, &s->cpus);
	s->ring_bytes = get_u64(o, "ring_bytes");
	s->wakeup_bytes = get_u64(o, "wakeup_bytes");
	s->t0_ns = get_u64(o, "t0_ns");
	s->seed = get_u64(o, "seed");
	s->stop_ns = get_u64(o, "stop_ns");
	/* no module takes an interval outside of these */
	if (ret || n > KJOULE_MAX_SOURCES || s->interval_ns < 1000 || s->interval_ns > 3600000000000ull)
		return -EBADMSG;
	for (size_t i = 0; i < n && !ret; i++)
		ret = source_from_json(json_object_array_get_idx(list, i),
				       &s->sources[s->n_sources++]);
	return ret;
}

char *kjoule_meta_encode(const struct kjoule_meta *meta)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	put_str(o, "kjoule", meta->version);
	put_u64(o, "abi", meta->abi);
	for (int i = 0; i < meta->argc; i++)
		json_object_array_add(list, json_object_new_string(meta->argv[i]));
	json_object_object_add(o, "command", list);
	put_str(o, "host", meta->host);
	put_str(o, "kernel", meta->kernel);
	put_str(o, "machine", meta->machine);
	put_str(o, "boot_id", meta->boot_id);
	put_str(o, "clock", "monotonic");
	put_u64(o, "page_size", meta->page_size);
	put_u64(o, "recorder_pid", meta->recorder_pid);
	put_u64(o, "clock_ns", meta->clock_ns);
	put_u64(o, "wall_ns", meta->wall_ns);
	list = json_object_new_array();
	for (uint32_t i = 0; i < meta->n_places; i++) {
		struct json_object *p = json_object_new_object();

		put_u64(p, "cpu", meta->places[i].cpu);
		put_u64(p, "package", meta->places[i].package);
		json_object_array_add(list, p);
	}
	json_object_object_add(o, "cpus", list);
	json_object_object_add(o, "session", session_to_json(&meta->session));
	return finish(o);
}

static int command_from_json(struct json_object *list, struct kjoule_meta *meta)
{
	size_t n = list ? json_object_array_length(list) : 0;

	meta->argv = calloc(n + 1, sizeof(*meta->argv));
	if (!meta->argv)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));

		meta->argv[i] = strdup(text ? text : "");
		if (!meta->argv[i])
			return -ENOMEM;
		meta->argc++;
	}
	return 0;
}

static int places_from_json(struct json_object *list, struct kjoule_meta *meta)
{
	size_t n = list ? json_object_array_length(list) : 0;

	meta->places = calloc(n + 1, sizeof(*meta->places));
	if (!meta->places)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *p = json_object_array_get_idx(list, i);

		meta->places[i].cpu = get_u64(p, "cpu");
		meta->places[i].package = get_u64(p, "package");
		meta->n_places++;
	}
	return 0;
}

int kjoule_meta_decode(const char *text, size_t len, struct kjoule_meta *meta)
{
	struct json_object *o = parse(text, len), *session;
	int ret = -EBADMSG;

	memset(meta, 0, sizeof(*meta));
	if (!o)
		return -EBADMSG;
	get_str(o, "kjoule", meta->version, sizeof(meta->version));
	meta->abi = get_u64(o, "abi");
	get_str(o, "host", meta->host, sizeof(meta->host));
	get_str(o, "kernel", meta->kernel, sizeof(meta->kernel));
	get_str(o, "machine", meta->machine, sizeof(meta->machine));
	get_str(o, "boot_id", meta->boot_id, sizeof(meta->boot_id));
	meta->page_size = get_u64(o, "page_size");
	meta->recorder_pid = get_u64(o, "recorder_pid");
	meta->clock_ns = get_u64(o, "clock_ns");
	meta->wall_ns = get_u64(o, "wall_ns");
	session = get(o, "session", json_type_object);
	if (session)
		ret = session_from_json(session, &meta->session);
	if (!ret)
		ret = command_from_json(get(o, "command", json_type_array), meta);
	if (!ret)
		ret = places_from_json(get(o, "cpus", json_type_array), meta);
	json_object_put(o);
	if (ret)
		kjoule_meta_free(meta);
	return ret;
}

void kjoule_meta_free(struct kjoule_meta *meta)
{
	for (int i = 0; i < meta->argc; i++)
		free(meta->argv[i]);
	free(meta->argv);
	free(meta->places);
	memset(meta, 0, sizeof(*meta));
}

/* The books' members by name, for both ways. */
static const struct {
	const char *key;
	size_t offset;
} stats_members[] = {
#define MEMBER(name) { #name, offsetof(struct kjoule_cpu_stats, name) }
	MEMBER(due), MEMBER(produced), MEMBER(missed), MEMBER(parked), MEMBER(filtered),
	MEMBER(records), MEMBER(consumed), MEMBER(lost), MEMBER(waiting), MEMBER(samples),
	MEMBER(tick_ns), MEMBER(late_max_ns), MEMBER(source_errors),
#undef MEMBER
};

#define N_STATS_MEMBERS (sizeof(stats_members) / sizeof(stats_members[0]))

char *kjoule_stats_encode(const struct kjoule_cpu_stats *stats, size_t n)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	for (size_t i = 0; i < n; i++) {
		struct json_object *s = json_object_new_object();

		put_u64(s, "cpu", stats[i].cpu);
		for (size_t m = 0; m < N_STATS_MEMBERS; m++)
			put_u64(s, stats_members[m].key,
				*(const uint64_t *)((const char *)&stats[i] +
						    stats_members[m].offset));
		json_object_array_add(list, s);
	}
	json_object_object_add(o, "cpus", list);
	return finish(o);
}

int kjoule_stats_decode(const char *text, size_t len, struct kjoule_cpu_stats **out, size_t *n)
{
	struct json_object *o = parse(text, len), *list = get(o, "cpus", json_type_array);
	struct kjoule_cpu_stats *stats;
	size_t count = list ? json_object_array_length(list) : 0;

	if (!list) {
		json_object_put(o);
		return -EBADMSG;
	}
	stats = calloc(count + 1, sizeof(*stats));
	if (!stats) {
		json_object_put(o);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		struct json_object *s = json_object_array_get_idx(list, i);

		stats[i].cpu = get_u64(s, "cpu");
		for (size_t m = 0; m < N_STATS_MEMBERS; m++)
			*(uint64_t *)((char *)&stats[i] + stats_members[m].offset) =
				get_u64(s, stats_members[m].key);
	}
	json_object_put(o);
	*out = stats;
	*n = count;
	return 0;
}

/* NAN is written as null and read as NAN. */
static void put_reals(struct json_object *o, const char *name, const double *v, unsigned int n)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < n; i++)
		json_object_array_add(list, !isfinite(v[i]) ? NULL : json_object_new_double(v[i]));
	json_object_object_add(o, name, list);
}

static unsigned int get_reals(struct json_object *o, const char *name, double *v, unsigned int max)
{
	struct json_object *list = NULL;
	unsigned int n = 0;

	if (!json_object_object_get_ex(o, name, &list) || !json_object_is_type(list, json_type_array))
		return 0;
	for (; n < json_object_array_length(list) && n < max; n++) {
		struct json_object *e = json_object_array_get_idx(list, n);

		v[n] = e ? json_object_get_double(e) : NAN;
	}
	return n;
}

char *kjoule_calibration_encode(const struct kjoule_calibration *cal)
{
	struct json_object *o = json_object_new_object();

	put_u64(o, "cpu", cal->cpu);
	put_u64(o, "ticks", cal->ticks);
	put_real(o, "tick_ns", cal->tick_ns);
	put_real(o, "tick_error_ns", cal->tick_error_ns);
	put_real(o, "handler_ns", cal->handler_ns);
	put_real(o, "handler_spread_ns", cal->handler_spread_ns);
	put_real(o, "entry_ns", cal->entry_ns);
	put_real(o, "freq_khz", cal->freq_khz);
	put_real(o, "other_part", cal->other_part);
	put_reals(o, "irq_uw", cal->irq_uw, cal->n_domains);
	put_reals(o, "irq_error_uw", cal->irq_error_uw, cal->n_domains);
	put_reals(o, "loop_uw", cal->loop_uw, cal->n_domains);
	put_reals(o, "idle_uj", cal->idle_uj, cal->n_domains);
	return finish(o);
}

int kjoule_calibration_decode(const char *text, size_t len, struct kjoule_calibration *cal)
{
	struct json_object *o = parse(text, len);

	memset(cal, 0, sizeof(*cal));
	if (!o)
		return -EBADMSG;
	cal->cpu = get_u64(o, "cpu");
	cal->ticks = get_u64(o, "ticks");
	cal->tick_ns = get_real(o, "tick_ns");
	cal->tick_error_ns = get_real(o, "tick_error_ns");
	cal->handler_ns = get_real(o, "handler_ns");
	cal->handler_spread_ns = get_real(o, "handler_spread_ns");
	cal->entry_ns = get_real(o, "entry_ns");
	cal->freq_khz = get_real(o, "freq_khz");
	cal->other_part = get_real(o, "other_part");
	cal->n_domains = get_reals(o, "irq_uw", cal->irq_uw, KJOULE_MAX_DOMAINS);
	get_reals(o, "irq_error_uw", cal->irq_error_uw, KJOULE_MAX_DOMAINS);
	get_reals(o, "loop_uw", cal->loop_uw, KJOULE_MAX_DOMAINS);
	for (unsigned int d = get_reals(o, "idle_uj", cal->idle_uj, KJOULE_MAX_DOMAINS);
	     d < cal->n_domains; d++)
		cal->idle_uj[d] = NAN;
	json_object_put(o);
	return 0;
}

char *kjoule_end_encode(const struct kjoule_end *end)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "reason", end->reason);
	put_u64(o, "start_ns", end->start_ns);
	put_u64(o, "stop_ns", end->stop_ns);
	put_i64(o, "exit_code", end->exit_code);
	put_u64(o, "side_band_lost", end->side_band_lost);
	put_u64(o, "ring_damaged", end->ring_damaged);
	return finish(o);
}

int kjoule_end_decode(const char *text, size_t len, struct kjoule_end *end)
{
	struct json_object *o = parse(text, len);

	memset(end, 0, sizeof(*end));
	if (!o)
		return -EBADMSG;
	get_str(o, "reason", end->reason, sizeof(end->reason));
	end->start_ns = get_u64(o, "start_ns");
	end->stop_ns = get_u64(o, "stop_ns");
	end->exit_code = get_i64(o, "exit_code", -1);
	end->side_band_lost = get_u64(o, "side_band_lost");
	end->ring_damaged = get_u64(o, "ring_damaged");
	json_object_put(o);
	return 0;
}
