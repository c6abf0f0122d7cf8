// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A record as a line, for people or for programs; see script.h. Called by
 * cmd_script.c in the order of the records.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/control/names.h"
#include "script/script.h"

/* One line, in whatever format. NULL or ~0 where something does not apply. */
struct line {
	uint64_t time_ns;
	const char *type;
	uint32_t cpu, pid, tid;
	const char *comm, *mode;
	bool has_ip;
	uint64_t ip;
	struct view_place place;
	uint32_t freq_khz;
	uint32_t late_ns;
	bool sampled, precise;
	const struct kjoule_energy *energy;
	const struct kjoule_value *value;
	uint64_t duration_ns;	/* idle, or taken by a reading; 0: does not apply */
	bool counted;
	uint64_t count;		/* ticks of a gap, records lost */
	const char *text;
	const struct view_frame *frames;	/* callers, innermost first */
	size_t n_frames;
	bool cut;				/* there were more, or may have been */
};

/* The place of a caller. */
static void script_resolve_frame(struct script_printer *s, const struct line *l,
				 const struct view_frame *f, struct view_place *place)
{
	view_resolve_at(s->v, l->pid, l->time_ns, f->at, f->kernel, place);
	place->offset += f->ip - f->at;
}

static struct json_object *script_frames_json(struct script_printer *s, const struct line *l)
{
	struct json_object *list = json_object_new_array(), *o;
	struct view_place place;
	char hex[24];

	for (size_t i = 0; i < l->n_frames; i++) {
		script_resolve_frame(s, l, &l->frames[i], &place);
		snprintf(hex, sizeof(hex), "0x%" PRIx64, l->frames[i].ip);
		o = json_object_new_object();
		json_object_object_add(o, "ip", json_object_new_string(hex));
		json_object_object_add(o, "mode",
				       json_object_new_string(l->frames[i].kernel ? "k" : "u"));
		json_object_object_add(o, "symbol", output_json_str(place.symbol));
		json_object_object_add(o, "object", output_json_str(place.object));
		json_object_object_add(o, "offset", json_object_new_uint64(place.offset));
		json_object_array_add(list, o);
	}
	return list;
}

/* "inner;...;outer" */
static char *script_frames_text(struct script_printer *s, const struct line *l)
{
	struct view_place place;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; f && i < l->n_frames; i++) {
		script_resolve_frame(s, l, &l->frames[i], &place);
		fprintf(f, "%s%s", i ? ";" : "", place.symbol);
	}
	if (f && fclose(f)) {
		free(text);
		text = NULL;
	}
	return text;
}

static void script_print_frames(struct script_printer *s, const struct line *l)
{
	char *text;

	if (!l->frames) {
		output_none(s->out, NULL);
		output_none(s->out, NULL);
	} else if (s->json) {
		output_json(s->out, NULL, script_frames_json(s, l));
		output_bool(s->out, l->cut);
	} else {
		text = script_frames_text(s, l);
		output_str(s->out, text ? text : "");
		output_bool(s->out, l->cut);
		free(text);
	}
}

static void script_text_or_none(struct output *out, const char *text)
{
	if (text)
		output_str(out, text);
	else
		output_none(out, NULL);
}

/* Return: whether the record tells of this domain, with *@v what it says */
static bool script_value_of(const struct line *l, const struct script_value *c, int64_t *v)
{
	uint32_t bit = 1u << c->domain->index;

	if (l->value && l->value->rec.flags == c->source && l->value->domain == c->domain->index) {
		*v = l->value->value;
		return true;
	}
	if (!l->energy || l->energy->rec.flags != c->source || !(l->energy->domains & bit))
		return false;
	*v = ((const uint64_t *)l->energy->energy_uj)[__builtin_popcount(l->energy->domains &
									 (bit - 1))];
	return true;
}

static void script_print_value_cells(struct script_printer *s, const struct line *l)
{
	int64_t v;

	for (unsigned int i = 0; i < s->n_values; i++) {
		if (script_value_of(l, &s->values[i], &v))
			output_i64(s->out, v);
		else
			output_none(s->out, NULL);
	}
}

static const char *script_source_name(const struct script_printer *s, uint32_t source)
{
	const struct kjoule_session_info *session = &s->v->rec.meta.session;

	return source < session->n_sources ? session->sources[source].name : "?";
}

static void script_print_cells(struct script_printer *s, const struct line *l)
{
	struct output *out = s->out;
	char hex[24];

	output_u64(out, l->time_ns);
	output_str(out, l->type);
	if (l->cpu == SCRIPT_NO_CPU)
		output_none(out, NULL);
	else
		output_u64(out, l->cpu);
	if (l->comm) {
		output_u64(out, l->pid);
		output_u64(out, l->tid);
	} else {
		output_none(out, NULL);
		output_none(out, NULL);
	}
	script_text_or_none(out, l->comm);
	script_text_or_none(out, l->mode);
	snprintf(hex, sizeof(hex), "0x%" PRIx64, l->ip);
	script_text_or_none(out, l->has_ip ? hex : NULL);
	script_text_or_none(out, l->sampled ? l->place.symbol : NULL);
	script_text_or_none(out, l->sampled ? l->place.object : NULL);
	if (l->sampled)
		output_u64(out, l->place.offset);
	else
		output_none(out, NULL);
	if (l->sampled)
		output_bool(out, l->precise);
	else
		output_none(out, NULL);
	if (l->freq_khz)
		output_u64(out, l->freq_khz);
	else
		output_none(out, NULL);
	if (l->sampled || l->energy)
		output_u64(out, l->late_ns);
	else
		output_none(out, NULL);
	if (l->energy || l->value)
		output_str(out, script_source_name(s, l->energy ? l->energy->rec.flags :
						   l->value->rec.flags));
	else
		output_none(out, NULL);
	if (l->energy)
		output_u64(out, l->energy->scope);
	else
		output_none(out, NULL);
	if (l->duration_ns)
		output_u64(out, l->duration_ns);
	else
		output_none(out, NULL);
	script_print_value_cells(s, l);
	if (l->counted)
		output_u64(out, l->count);
	else
		output_none(out, NULL);
	script_text_or_none(out, l->text);
	if (s->frames)
		script_print_frames(s, l);
	output_row(out);
}

/* Do not all CPUs of the session share the counters of this record? */
static bool script_energy_is_of_some(const struct script_printer *s, const struct kjoule_energy *e)
{
	const struct kjoule_session_info *session = &s->v->rec.meta.session;
	const struct kjoule_source_info *src = NULL;
	int cpu = -1;

	if (e->rec.flags < session->n_sources)
		src = &session->sources[e->rec.flags];
	/* not reported: the lowest CPU mostly stands for all */
	if (!src || !src->scopes)
		return e->scope;
	while ((cpu = kjoule_cpus_next(&session->cpus, cpu + 1)) >= 0)
		if (kjoule_scope(src, cpu) != e->scope)
			return true;
	return false;
}

static void script_print_values(struct script_printer *s, const struct line *l)
{
	static const char *const units[] = { "uJ", "uW", "mC", "counts" };
	uint32_t source = l->energy ? l->energy->rec.flags : l->value ? l->value->rec.flags : 0;
	int64_t v;

	if (source) {
		putchar(' ');
		output_text(stdout, script_source_name(s, source));
	}
	for (unsigned int i = 0; i < s->n_values; i++) {
		const struct kjoule_domain_info *dom = s->values[i].domain;

		if (!script_value_of(l, &s->values[i], &v))
			continue;
		putchar(' ');
		output_text(stdout, dom->name);
		printf(" %" PRId64 " %s", v, units[dom->quantity < 4 ? dom->quantity : 3]);
	}
	if (l->energy && script_energy_is_of_some(s, l->energy))
		printf(" of CPU %u", l->energy->scope);
}

static void script_print_plain(struct script_printer *s, const struct line *l)
{
	char cpu[16] = "---";

	if (l->cpu != SCRIPT_NO_CPU)
		snprintf(cpu, sizeof(cpu), "%03" PRIu32, l->cpu);
	printf("%6" PRIu64 ".%09" PRIu64 " [%s] %-7s", l->time_ns / 1000000000,
	       l->time_ns % 1000000000, cpu, l->type);
	if (l->comm) {
		putchar(' ');
		output_text(stdout, l->comm);
		printf(" %" PRIu32 "/%" PRIu32, l->pid, l->tid);
	}
	if (l->sampled) {
		printf(" %s%s %16" PRIx64 " ", l->mode, l->precise ? "!" : " ", l->ip);
		output_text(stdout, l->place.symbol);
		printf("+0x%" PRIx64 " (", l->place.offset);
		output_text(stdout, l->place.object);
		printf(")");
		if (l->freq_khz)
			printf(" %" PRIu32 ".%03" PRIu32 " MHz", l->freq_khz / 1000,
			       l->freq_khz % 1000);
	}
	script_print_values(s, l);
	if (l->counted)
		printf(" %" PRIu64, l->count);
	if (l->text) {
		putchar(' ');
		output_text(stdout, l->text);
	}
	putchar('\n');
	for (size_t i = 0; i < l->n_frames; i++) {
		struct view_place place;

		script_resolve_frame(s, l, &l->frames[i], &place);
		printf("%42" PRIx64 " ", l->frames[i].ip);
		output_text(stdout, place.symbol);
		printf("+0x%" PRIx64 " (", place.offset);
		output_text(stdout, place.object);
		printf(")\n");
	}
	if (l->n_frames && l->cut)
		printf("%42s [there may be more]\n", "");
}

static void script_print_line(struct script_printer *s, const struct line *l)
{
	if (s->out)
		script_print_cells(s, l);
	else
		script_print_plain(s, l);
}

static void script_describe_sample(struct script_printer *s, const struct script_cursor *c,
				   struct line *l)
{
	const struct kjoule_sample *rec = (const struct kjoule_sample *)c->rec;
	struct timeline_sample t = {
		.tick = c->tick, .ip = rec->ip, .pid = c->pid, .tgid = c->tgid,
		.freq_khz = rec->freq_khz, .late_ns = rec->delay_ns, .flags = rec->rec.flags };

	l->type = "sample";
	l->sampled = true;
	l->pid = c->tgid;
	l->tid = c->pid;
	l->comm = view_comm(s->v, c->tgid, c->pid, c->time_ns);
	l->mode = t.flags & KJOULE_SAMPLE_IDLE ? "i" : t.flags & KJOULE_SAMPLE_KERNEL ? "k" : "u";
	l->has_ip = !(t.flags & KJOULE_SAMPLE_IP_HIDDEN);
	l->ip = rec->ip;
	l->precise = t.flags & KJOULE_SAMPLE_PRECISE;
	l->text = t.flags & KJOULE_SAMPLE_SWITCH ? "at a switch" : NULL;
	l->freq_khz = rec->freq_khz;
	l->late_ns = rec->delay_ns;
	view_resolve(s->v, &t, &l->place);
	if (s->frames && (c->callers.chain || c->callers.stack)) {
		l->frames = s->frames;
		l->n_frames =
			view_callers(s->v, c->stream->cpu, &t, &c->callers, s->frames, &l->cut);
	}
}

/* Times after the edge that it begins with. */
static void script_describe_window(const struct kjoule_window *w, char *text, size_t len)
{
	int n = snprintf(text, len, "%u%s%s, ran from %.3f us, held from %.3f to %.3f us",
			 w->number, w->rec.flags & KJOULE_WINDOW_SPIN ? " (spin)" : "",
			 w->rec.flags & KJOULE_WINDOW_FAILED ? " (failed)" : "",
			 (int64_t)(w->run_ns - w->begin_ns) * 1e-3,
			 (int64_t)(w->pause_ns - w->begin_ns) * 1e-3,
			 (int64_t)(w->end_ns - w->begin_ns) * 1e-3);

	if (w->rec.flags & KJOULE_WINDOW_LEADER)
		snprintf(text + n, len - n, ", %llu uJ",
			 (unsigned long long)(w->end_uj - w->begin_uj));
}

/* Times after the start of the meter. */
static void script_describe_reading(const struct view *v, const struct kjoule_vpm_reading *r,
				    char *text, size_t len)
{
	const struct kjoule_vpm_info *vpm = &v->rec.meta.session.vpm;
	uint8_t flags = r->rec.flags;
	int n = snprintf(text, len, "%u of %.64s, %s%s%s, waited %.3f ms, ran %.3f us", r->number,
			 r->block < vpm->n_blocks ? vpm->block[r->block].name : "[unknown]",
			 flags & KJOULE_READING_PAUSED ? "held" :
			 flags & KJOULE_READING_DELAYED ? "delayed" : "undelayed",
			 flags & KJOULE_READING_DISTURBED ? " (moved)" : "",
			 flags & KJOULE_READING_LATE ? " (late)" : "",
			 (r->hit_ns - r->armed_ns) * 1e-6, (r->stop_ns - r->hit_ns) * 1e-3);

	if (n > 0 && (size_t)n < len && r->others_ns)
		n += snprintf(text + n, len - n, " and others %.3f us", r->others_ns * 1e-3);
	if (n > 0 && (size_t)n < len && !(flags & KJOULE_READING_LATE))
		n += snprintf(text + n, len - n, ", %llu uW", (unsigned long long)r->power_uw);
	if (n > 0 && (size_t)n < len && !(flags & KJOULE_READING_LATE) && r->rec.size >= sizeof(*r))
		snprintf(text + n, len - n, ", other CPUs busy for %.3f us", r->busy_ns * 1e-3);
}

void script_print_record(struct script_printer *s, const struct script_cursor *c)
{
	struct line l = { .time_ns = c->time_ns, .cpu = c->stream->cpu };
	const struct kjoule_idle *parked;
	const struct kjoule_lost *lost;
	const struct kjoule_window *window;
	const struct kjoule_vpm_reading *reading;
	char text[256];

	switch (c->rec->type) {
	case KJOULE_RECORD_SAMPLE:
		script_describe_sample(s, c, &l);
		break;
	case KJOULE_RECORD_ENERGY:
		l.type = "energy";
		l.energy = (const struct kjoule_energy *)c->rec;
		l.late_ns = l.energy->delay_ns;
		break;
	case KJOULE_RECORD_GAP:
		l.type = "gap";
		l.counted = true;
		l.count = ((const struct kjoule_gap *)c->rec)->count;
		l.text = c->rec->flags & KJOULE_GAP_SUSPENDED ? "ticks: the machine slept" :
			 c->rec->flags & KJOULE_GAP_OFFLINE ? "ticks: the CPU was offline" :
			 "ticks missed";
		break;
	case KJOULE_RECORD_IDLE:
		parked = (const struct kjoule_idle *)c->rec;
		l.type = "skipped";
		l.counted = true;
		l.count = parked->count;
		l.duration_ns = parked->end_ns - parked->begin_ns;
		snprintf(text, sizeof(text), "ticks, idle for %.3f ms", l.duration_ns * 1e-6);
		l.text = text;
		break;
	case KJOULE_RECORD_VALUE:
		l.type = "value";
		l.value = (const struct kjoule_value *)c->rec;
		l.duration_ns = l.value->duration_ns;
		break;
	case KJOULE_RECORD_WINDOW:
		window = (const struct kjoule_window *)c->rec;
		l.type = "window";
		l.duration_ns = window->end_ns - window->begin_ns;
		script_describe_window(window, text, sizeof(text));
		l.text = text;
		break;
	case KJOULE_RECORD_READING:
		reading = (const struct kjoule_vpm_reading *)c->rec;
		l.type = "reading";
		l.pid = reading->tgid;
		l.tid = reading->pid;
		l.comm = view_comm(s->v, reading->tgid, reading->pid, c->time_ns);
		l.duration_ns = reading->ready_ns - reading->hit_ns;
		script_describe_reading(s->v, reading, text, sizeof(text));
		l.text = text;
		break;
	case KJOULE_RECORD_LOST:
		lost = (const struct kjoule_lost *)c->rec;
		l.type = "lost";
		if (c->rec->flags & KJOULE_LOST_IN_FILE) {
			l.text = "damaged part of the file";
			break;
		}
		l.counted = true;
		l.count = lost->records;
		snprintf(text, sizeof(text), "records, %llu of them samples",
			 (unsigned long long)lost->samples);
		l.text = text;
		break;
	}
	script_print_line(s, &l);
}

void script_print_event(struct script_printer *s, const struct kjoule_event *ev)
{
	struct line l = { .time_ns = ev->time_ns, .cpu = ev->cpu, .pid = ev->pid, .tid = ev->tid };
	char text[128];

	l.comm = view_comm(s->v, ev->pid, ev->tid, ev->time_ns);
	switch (ev->type) {
	case KJOULE_EVENT_COMM:
		l.type = ev->exec ? "exec" : "comm";
		l.text = ev->text;
		break;
	case KJOULE_EVENT_MAP:
		l.type = "map";
		l.has_ip = true;
		l.ip = ev->start;
		l.counted = true;
		l.count = ev->len;
		l.text = ev->text;
		break;
	case KJOULE_EVENT_FORK:
		l.type = "fork";
		snprintf(text, sizeof(text), "from %" PRIu32, ev->ppid);
		l.text = text;
		break;
	case KJOULE_EVENT_EXIT:
		l.type = "exit";
		break;
	case KJOULE_EVENT_REGION:
		l.type = "region";
		l.text = ev->text;
		break;
	case KJOULE_EVENT_LOST:
		l.type = "lost";
		l.comm = NULL;
		l.counted = true;
		l.count = ev->lost;
		l.text = "side band records";
		break;
	default:
		return;
	}
	script_print_line(s, &l);
}

static void script_add_column(struct script_printer *s, const char *name)
{
	s->columns[s->n_columns++] = (struct output_column){ name, NULL, false };
}

/* "energy_core_uj" of the first source, "powercap_intel_rapl_0_package_uj" of others. */
static void script_add_value_column(struct script_printer *s, uint32_t source,
				    const struct kjoule_domain_info *dom)
{
	static const char *const units[] = { "uj", "uw", "mc", "count" };
	struct script_value *c;
	char name[160];

	if (s->n_values == SCRIPT_VALUES)
		return;
	c = &s->values[s->n_values++];
	c->source = source;
	c->domain = dom;
	snprintf(name, sizeof(name), "%s_%s_%s",
		 source ? script_source_name(s, source) : kjoule_quantity_name(dom->quantity),
		 dom->name, units[dom->quantity < 4 ? dom->quantity : 3]);
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	strcpy(c->name, name);
	script_add_column(s, c->name);
}

static void script_make_columns(struct script_printer *s)
{
	static const char *const before[] = {
		"time_ns", "type", "cpu", "pid", "tid", "comm", "mode", "ip", "symbol", "object",
		"offset", "precise", "freq_khz", "late_ns", "source", "scope", "duration_ns" };
	const struct kjoule_session_info *session = &s->v->rec.meta.session;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		script_add_column(s, before[i]);
	for (uint32_t i = 0; i < session->n_sources; i++) {
		const struct kjoule_source_info *src = &session->sources[i];

		for (uint32_t d = 0; d < src->n_domains && src->kind != KJOULE_KIND_FREQUENCY; d++)
			script_add_value_column(s, i, &src->domains[d]);
	}
	script_add_column(s, "count");
	script_add_column(s, "text");
	if (s->frames) {
		script_add_column(s, "callers");
		script_add_column(s, "callers_cut");
	}
}

int script_printer_init(struct script_printer *s, struct view *v, enum output_format format)
{
	int ret;

	memset(s, 0, sizeof(*s));
	s->v = v;
	s->json = format == OUTPUT_JSON_LINES;
	if (view_has_callers(v)) {
		s->frames = calloc(VIEW_FRAMES, sizeof(*s->frames));
		ret = s->frames ? view_unwind(v) : -ENOMEM;
		if (ret)
			return ret;
	}
	script_make_columns(s);
	if (format == OUTPUT_TABLE)
		return 0;
	s->out = output_open(stdout, format, s->columns, s->n_columns);
	return s->out ? 0 : -ENOMEM;
}

void script_printer_exit(struct script_printer *s)
{
	if (s->out)
		output_close(s->out, NULL, NULL);
	free(s->frames);
}
