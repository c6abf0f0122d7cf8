// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The chunk of the data file for what was recorded, as JSON, both ways; see meta.h. Counters and
 * measurements are in meta_stats.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/json.h"
#include "lib/control/names.h"
#include "lib/file/meta.h"

/* Any list of CPUs, each a number of four digits at most. */
#define CPUS_TEXT	(5 * KJOULE_MAX_CPUS)

#define N_MEMBERS(list)	(sizeof(list) / sizeof((list)[0]))

static void json_put_name(struct json_object *o, const char *key, const struct kjoule_names *names,
			  uint32_t value)
{
	kjoule_json_put_str(o, key, names->list[value < names->n ? value : 0]);
}

/* Return: 0, the first, if missing or unknown */
static uint32_t json_get_name(struct json_object *o, const char *key,
			      const struct kjoule_names *names)
{
	char text[32];

	kjoule_json_get_str(o, key, text, sizeof(text));
	for (uint32_t i = 0; i < names->n; i++)
		if (!strcmp(text, names->list[i]))
			return i;
	return 0;
}

/*
 * A list of CPUs for each scope, by its lowest one; NULL if none of the session's CPUs is in one.
 */
static struct json_object *scopes_to_json(const struct kjoule_source_info *src,
					  const struct kjoule_cpus *cpus)
{
	struct json_object *list = json_object_new_array();
	char text[CPUS_TEXT];

	for (int cpu = kjoule_cpus_next(cpus, 0); cpu >= 0; cpu = kjoule_cpus_next(cpus, cpu + 1)) {
		struct kjoule_cpus shared = { 0 };

		if (kjoule_scope(src, cpu) != cpu)
			continue;
		for (int c = cpu; c >= 0; c = kjoule_cpus_next(cpus, c + 1))
			if (kjoule_scope(src, c) == cpu)
				kjoule_cpus_add(&shared, c);
		json_object_array_add(list, json_object_new_string(
			kjoule_cpus_format(&shared, text, sizeof(text))));
	}
	if (!json_object_array_length(list)) {
		json_object_put(list);
		return NULL;
	}
	return list;
}

/* A CPU is in one scope only, which limits lists of any length. */
static int scopes_from_json(struct json_object *list, struct kjoule_source_info *src)
{
	size_t n = list ? json_object_array_length(list) : 0;

	if (n > KJOULE_MAX_CPUS)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		struct json_object *text = json_object_array_get_idx(list, i);
		struct kjoule_cpus shared = { 0 };
		int scope;

		if (!json_object_is_type(text, json_type_string) ||
		    json_object_get_string_len(text) >= CPUS_TEXT ||
		    kjoule_cpus_parse(json_object_get_string(text), &shared))
			return -EBADMSG;
		scope = kjoule_cpus_next(&shared, 0);
		for (int cpu = scope; cpu >= 0; cpu = kjoule_cpus_next(&shared, cpu + 1))
			if (kjoule_scope(src, cpu) != KJOULE_NO_SCOPE)
				return -EBADMSG;
			else if (kjoule_scope_set(src, cpu, scope))
				return -ENOMEM;
	}
	return 0;
}

static const struct kjoule_json_member domain_members[] = {
#define MEMBER(name, type) KJOULE_JSON_MEMBER(kjoule_domain_info, name, type)
	MEMBER(index, U32), MEMBER(name, STR), MEMBER(class, U32), MEMBER(width, U32),
	MEMBER(unit_mult, U64), MEMBER(unit_shift, U32), MEMBER(update_period_ns, U64),
	MEMBER(range, U64),
#undef MEMBER
};

static const struct kjoule_json_member source_members[] = {
#define MEMBER(name, type) KJOULE_JSON_MEMBER(kjoule_source_info, name, type)
	MEMBER(name, STR), MEMBER(period_ns, U64), MEMBER(reads, U64), MEMBER(errors, U64),
	MEMBER(overruns, U64), MEMBER(meter, STR), MEMBER(inside, STR), MEMBER(same_as, STR),
	MEMBER(reference_khz, U64),
#undef MEMBER
};

static struct json_object *source_to_json(const struct kjoule_source_info *src,
					  const struct kjoule_cpus *cpus)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	struct json_object *scopes = scopes_to_json(src, cpus);

	kjoule_json_put_members(o, source_members, N_MEMBERS(source_members), src);
	json_put_name(o, "kind", &kjoule_kind_names, src->kind);
	json_put_name(o, "origin", &kjoule_origin_names, src->origin);
	if (scopes)
		json_object_object_add(o, "scopes", scopes);
	json_object_object_add(o, "requested_only", json_object_new_boolean(src->requested_only));
	for (uint32_t i = 0; i < src->n_domains; i++) {
		const struct kjoule_domain_info *dom = &src->domains[i];
		struct json_object *d = json_object_new_object();

		kjoule_json_put_members(d, domain_members, N_MEMBERS(domain_members), dom);
		kjoule_json_put_i64(d, "parent", dom->parent);
		json_put_name(d, "quantity", &kjoule_quantity_names, dom->quantity);
		json_object_array_add(list, d);
	}
	json_object_object_add(o, "domains", list);
	return o;
}

static int source_from_json(struct json_object *o, struct kjoule_source_info *src)
{
	struct json_object *list = kjoule_json_get(o, "domains", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;

	kjoule_json_get_members(o, source_members, N_MEMBERS(source_members), src);
	src->kind = json_get_name(o, "kind", &kjoule_kind_names);
	src->origin = json_get_name(o, "origin", &kjoule_origin_names);
	src->available = true;
	src->requested_only = kjoule_json_get_bool(o, "requested_only");
	if (n > KJOULE_MAX_DOMAINS)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		struct json_object *d = json_object_array_get_idx(list, i);
		struct kjoule_domain_info *dom = &src->domains[src->n_domains];

		kjoule_json_get_members(d, domain_members, N_MEMBERS(domain_members), dom);
		if (dom->index >= KJOULE_MAX_DOMAINS)
			return -EBADMSG;
		dom->parent = kjoule_json_get_i64(d, "parent", -1);
		dom->quantity = json_get_name(d, "quantity", &kjoule_quantity_names);
		src->n_domains++;
	}
	return scopes_from_json(kjoule_json_get(o, "scopes", json_type_array), src);
}

static const struct kjoule_json_member vpm_members[] = {
#define U64(name) KJOULE_JSON_MEMBER(kjoule_vpm_info, name, U64)
	KJOULE_JSON_MEMBER(kjoule_vpm_info, source, STR),
	U64(interval_ns), U64(ready_ns), U64(peak_uw), U64(rest_uw), U64(readings), U64(unmet),
	U64(unended), U64(elsewhere), U64(spoilt), U64(failed), U64(held_ns), U64(longest_ns),
	U64(rounds), U64(learnt), U64(cut), U64(crowded), U64(skipped),
#undef U64
};

/* Of windows at updates of the counter. */
static const struct kjoule_json_member edge_members[] = {
#define U64(name) KJOULE_JSON_MEMBER(kjoule_edge_counters, name, U64)
	U64(windows), U64(spins), U64(failed), U64(paused), U64(held_ns), U64(longest_ns),
#undef U64
};

static const struct kjoule_json_member vpm_block_members[] = {
#define MEMBER(name, type) KJOULE_JSON_MEMBER(kjoule_vpm_block, name, type)
	MEMBER(name, STR), MEMBER(part, STR), MEMBER(object, STR), MEMBER(start, U64),
	MEMBER(end, U64), MEMBER(code_end, U64), MEMBER(pid, U32),
#undef MEMBER
};

static struct json_object *vpm_to_json(const struct kjoule_vpm_info *vpm)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	kjoule_json_put_members(o, vpm_members, N_MEMBERS(vpm_members), vpm);
	for (uint32_t i = 0; i < vpm->n_blocks; i++) {
		struct json_object *one = json_object_new_object();

		kjoule_json_put_members(one, vpm_block_members, N_MEMBERS(vpm_block_members),
					&vpm->block[i]);
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "blocks", list);
	return o;
}

static void vpm_from_json(struct json_object *o, struct kjoule_vpm_info *vpm)
{
	struct json_object *list = o ? kjoule_json_get(o, "blocks", json_type_array) : NULL;
	size_t n = list ? json_object_array_length(list) : 0;

	if (!o)
		return;
	kjoule_json_get_members(o, vpm_members, N_MEMBERS(vpm_members), vpm);
	/* no module has a meter that takes longer */
	if (!vpm->interval_ns || !vpm->ready_ns || vpm->ready_ns > 1000000000) {
		memset(vpm, 0, sizeof(*vpm));
		return;
	}
	for (size_t i = 0; i < n && i < KJOULE_VPM_BLOCKS; i++) {
		kjoule_json_get_members(json_object_array_get_idx(list, i), vpm_block_members,
					N_MEMBERS(vpm_block_members), &vpm->block[vpm->n_blocks++]);
	}
}

static const struct kjoule_json_member session_members[] = {
#define MEMBER(name, type) KJOULE_JSON_MEMBER(kjoule_session_info, name, type)
	MEMBER(id, U32), MEMBER(interval_ns, U64), MEMBER(jitter_ns, U64), MEMBER(pid, U32),
	MEMBER(ring_bytes, U32), MEMBER(wakeup_bytes, U32), MEMBER(flags, U64),
	MEMBER(children_lost, U64), MEMBER(chain_depth, U32), MEMBER(stack_bytes, U32),
	MEMBER(edge_duty, U32), MEMBER(t0_ns, U64), MEMBER(seed, U64), MEMBER(stop_ns, U64),
#undef MEMBER
};

static struct json_object *session_to_json(const struct kjoule_session_info *s)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	char cpus[CPUS_TEXT];

	kjoule_json_put_members(o, session_members, N_MEMBERS(session_members), s);
	json_put_name(o, "target", &kjoule_target_names, s->target);
	kjoule_json_put_str(o, "cpus", kjoule_cpus_format(&s->cpus, cpus, sizeof(cpus)));
	if (s->edge_duty) {
		struct json_object *edge = json_object_new_object();

		kjoule_json_put_members(edge, edge_members, N_MEMBERS(edge_members), &s->edge);
		json_object_object_add(o, "edge", edge);
	}
	if (s->vpm.interval_ns)
		json_object_object_add(o, "vpm", vpm_to_json(&s->vpm));
	for (uint32_t i = 0; i < s->n_sources; i++)
		json_object_array_add(list, source_to_json(&s->sources[i], &s->cpus));
	json_object_object_add(o, "sources", list);
	return o;
}

static int session_from_json(struct json_object *o, struct kjoule_session_info *s)
{
	struct json_object *list = kjoule_json_get(o, "sources", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;
	char text[CPUS_TEXT];
	int ret = 0;

	kjoule_json_get_members(o, session_members, N_MEMBERS(session_members), s);
	s->target = json_get_name(o, "target", &kjoule_target_names);
	kjoule_json_get_str(o, "cpus", text, sizeof(text));
	if (text[0])
		ret = kjoule_cpus_parse(text, &s->cpus);
	kjoule_json_get_members(kjoule_json_get(o, "edge", json_type_object), edge_members,
				N_MEMBERS(edge_members), &s->edge);
	vpm_from_json(kjoule_json_get(o, "vpm", json_type_object), &s->vpm);
	/* no module takes an interval outside of these */
	if (ret || n > KJOULE_MAX_SOURCES || s->interval_ns < 1000 ||
	    s->interval_ns > 3600000000000ull)
		return -EBADMSG;
	/* and no jitter that would reorder ticks */
	if (s->jitter_ns > s->interval_ns)
		return -EBADMSG;
	for (size_t i = 0; i < n && !ret; i++)
		ret = source_from_json(json_object_array_get_idx(list, i),
				       &s->sources[s->n_sources++]);
	return ret;
}

static const struct kjoule_json_member meta_members[] = {
#define MEMBER(name, type) KJOULE_JSON_MEMBER(kjoule_meta, name, type)
	KJOULE_JSON_MEMBER_AS("kjoule", kjoule_meta, version, STR), MEMBER(abi, U32),
	MEMBER(host, STR), MEMBER(kernel, STR), MEMBER(machine, STR), MEMBER(boot_id, STR),
	MEMBER(page_size, U32), MEMBER(recorder_pid, U32), MEMBER(clock_ns, U64),
	MEMBER(wall_ns, U64), MEMBER(cgroup, STR), MEMBER(overhead_ppm, U32),
#undef MEMBER
};

char *kjoule_meta_encode(const struct kjoule_meta *meta)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	kjoule_json_put_members(o, meta_members, N_MEMBERS(meta_members), meta);
	for (int i = 0; i < meta->argc; i++)
		json_object_array_add(list, json_object_new_string(meta->argv[i]));
	json_object_object_add(o, "command", list);
	kjoule_json_put_str(o, "clock", "monotonic");
	list = json_object_new_array();
	for (uint32_t i = 0; i < meta->n_places; i++) {
		struct json_object *p = json_object_new_object();

		kjoule_json_put_u64(p, "cpu", meta->places[i].cpu);
		kjoule_json_put_u64(p, "package", meta->places[i].package);
		json_object_array_add(list, p);
	}
	json_object_object_add(o, "cpus", list);
	json_object_object_add(o, "session", session_to_json(&meta->session));
	return kjoule_json_finish(o);
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

	if (n > KJOULE_MAX_CPUS)
		return -EBADMSG;
	meta->places = calloc(n + 1, sizeof(*meta->places));
	if (!meta->places)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *p = json_object_array_get_idx(list, i);

		meta->places[i].cpu = kjoule_json_get_u64(p, "cpu");
		meta->places[i].package = kjoule_json_get_u64(p, "package");
		meta->n_places++;
	}
	return 0;
}

int kjoule_meta_decode(const char *text, size_t len, struct kjoule_meta *meta)
{
	struct json_object *o = kjoule_json_parse(text, len), *session;
	int ret = -EBADMSG;

	memset(meta, 0, sizeof(*meta));
	if (!o)
		return -EBADMSG;
	kjoule_json_get_members(o, meta_members, N_MEMBERS(meta_members), meta);
	session = kjoule_json_get(o, "session", json_type_object);
	if (session)
		ret = session_from_json(session, &meta->session);
	if (!ret)
		ret = command_from_json(kjoule_json_get(o, "command", json_type_array), meta);
	if (!ret)
		ret = places_from_json(kjoule_json_get(o, "cpus", json_type_array), meta);
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
	kjoule_session_info_clear(&meta->session);
	memset(meta, 0, sizeof(*meta));
}

/* "a b 'c d'": roughly as it could be typed again. */
char *kjoule_meta_command_line(const struct kjoule_meta *meta)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (int i = 0; i < meta->argc; i++) {
		const char *a = meta->argv[i];
		size_t plain_len = strspn(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789-_./=:,+@%");
		bool plain = *a && !a[plain_len];

		if (i)
			fputc(' ', f);
		if (plain) {
			fputs(a, f);
			continue;
		}
		fputc('\'', f);
		for (; *a; a++) {
			if (*a == '\'')
				fputs("'\\''", f);
			else
				fputc(*a, f);
		}
		fputc('\'', f);
	}
	fclose(f);
	return text;
}
