// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule script: the records of a recording as they are, one a line, in the order
 * of their time.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "output.h"
#include "sideband.h"
#include "view.h"

static const char help[] =
"Usage: kjoule script [--json|--csv] [FILE]\n"
"\n"
"Prints the records of a recording (default kjoule.data) one a line, by time: samples,\n"
"energy counters that have moved, ticks that were missed, records that were lost, and\n"
"the side band (names, mappings, forks and exits).\n"
"\n"
"      --json   a JSON object a line\n"
"      --csv    as CSV\n"
"  -h, --help\n";

#define MAX_DOMAINS	8

/* What is written next, of one CPU. */
struct cursor {
	const struct kjoule_stream *stream;
	size_t off;
	const struct kjoule_record *rec;	/* NULL: nothing left */
	uint64_t tick, time_ns;
	uint32_t pid, tgid;
};

struct script {
	struct view v;
	struct output *out;			/* NULL: plain lines */
	struct output_column columns[24 + MAX_DOMAINS];
	size_t n_columns;
	char names[MAX_DOMAINS][64];
	unsigned int n_domains;
	const struct kjoule_domain_info *domains[MAX_DOMAINS];
	size_t n_cursors;
	struct cursor *cursors;
	size_t n_events, next_event;
	struct kjoule_event *events;
};

static uint32_t u32_at(const struct kjoule_record *rec, size_t off)
{
	uint32_t v;

	memcpy(&v, (const char *)rec + off, sizeof(v));
	return v;
}

/* Step to the next record that is to be written. */
static void step(struct script *s, struct cursor *c)
{
	uint32_t late = 0;

	while (kjoule_record_next(c->stream->records, c->stream->len, &c->off, &c->rec) > 0) {
		switch (c->rec->type) {
		case KJOULE_RECORD_TASK:
			c->pid = u32_at(c->rec, offsetof(struct kjoule_task, pid));
			c->tgid = u32_at(c->rec, offsetof(struct kjoule_task, tgid));
			continue;
		case KJOULE_RECORD_SAMPLE:
		case KJOULE_RECORD_ENERGY:
			late = u32_at(c->rec, offsetof(struct kjoule_sample, late_ns));
			break;
		case KJOULE_RECORD_GAP:
			break;
		case KJOULE_RECORD_LOST:
			if (c->rec->flags & KJOULE_LOST_IN_FILE)
				return;	/* it has no tick: just after the one before */
			break;
		default:
			continue;
		}
		/* all of them have their tick in the same place */
		c->tick += (uint32_t)(u32_at(c->rec, 4) - (uint32_t)c->tick);
		c->time_ns = view_time(&s->v, c->tick, late);
		if (c->rec->type == KJOULE_RECORD_GAP)
			c->tick += ((const struct kjoule_gap *)c->rec)->count - 1;
		return;
	}
	c->rec = NULL;
}

static int by_time(const void *a, const void *b)
{
	const struct kjoule_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->text > y->text) - (x->text < y->text);
}

static int read_events(struct script *s)
{
	struct kjoule_event ev;
	size_t off = 0, room = 0;

	while (kjoule_event_next(s->v.rec.side_band, s->v.rec.side_band_len, &off, &ev) > 0) {
		if (s->n_events == room) {
			void *p = realloc(s->events, (room ? 2 * room : 256) * sizeof(*s->events));

			if (!p)
				return -ENOMEM;
			s->events = p;
			room = room ? 2 * room : 256;
		}
		s->events[s->n_events++] = ev;
	}
	if (s->n_events)
		qsort(s->events, s->n_events, sizeof(*s->events), by_time);
	return 0;
}

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
	bool counted;
	uint64_t count;		/* ticks of a gap, records lost */
	const char *text;
};

static void text_or_none(struct output *out, const char *text)
{
	if (text)
		output_str(out, text);
	else
		output_none(out, NULL);
}

static void energy_cells(struct script *s, const struct line *l)
{
	const uint64_t *uj = l->energy ? (const uint64_t *)l->energy->energy_uj : NULL;

	for (unsigned int d = 0; d < s->n_domains; d++) {
		uint32_t bit = 1u << s->domains[d]->index;

		if (uj && (l->energy->domains & bit))
			output_u64(s->out, uj[__builtin_popcount(l->energy->domains & (bit - 1))]);
		else
			output_none(s->out, NULL);
	}
}

static void print_cells(struct script *s, const struct line *l)
{
	struct output *out = s->out;
	char hex[24];

	output_u64(out, l->time_ns);
	output_str(out, l->type);
	output_u64(out, l->cpu);
	if (l->comm) {
		output_u64(out, l->pid);
		output_u64(out, l->tid);
	} else {
		output_none(out, NULL);
		output_none(out, NULL);
	}
	text_or_none(out, l->comm);
	text_or_none(out, l->mode);
	snprintf(hex, sizeof(hex), "0x%" PRIx64, l->ip);
	text_or_none(out, l->has_ip ? hex : NULL);
	text_or_none(out, l->sampled ? l->place.symbol : NULL);
	text_or_none(out, l->sampled ? l->place.object : NULL);
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
	energy_cells(s, l);
	if (l->counted)
		output_u64(out, l->count);
	else
		output_none(out, NULL);
	text_or_none(out, l->text);
	output_row(out);
}

/* Names from a file may hold anything; a line is a line. */
static void put_name(const char *name)
{
	for (; *name; name++)
		putchar((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
}

static void print_plain(struct script *s, const struct line *l)
{
	printf("%6" PRIu64 ".%09" PRIu64 " [%03" PRIu32 "] %-7s", l->time_ns / 1000000000,
	       l->time_ns % 1000000000, l->cpu, l->type);
	if (l->comm) {
		putchar(' ');
		put_name(l->comm);
		printf(" %" PRIu32 "/%" PRIu32, l->pid, l->tid);
	}
	if (l->sampled) {
		printf(" %s%s %16" PRIx64 " ", l->mode, l->precise ? "!" : " ", l->ip);
		put_name(l->place.symbol);
		printf("+0x%" PRIx64 " (", l->place.offset);
		put_name(l->place.object);
		printf(")");
		if (l->freq_khz)
			printf(" %" PRIu32 ".%03" PRIu32 " MHz", l->freq_khz / 1000,
			       l->freq_khz % 1000);
	}
	if (l->energy) {
		const uint64_t *uj = (const uint64_t *)l->energy->energy_uj;

		for (uint32_t bits = l->energy->domains; bits; bits &= bits - 1, uj++) {
			const char *name = "?";

			for (unsigned int d = 0; d < s->n_domains; d++)
				if (s->domains[d]->index == (uint32_t)__builtin_ctz(bits))
					name = s->domains[d]->name;
			printf(" %s %" PRIu64 " uJ", name, *uj);
		}
	}
	if (l->counted)
		printf(" %" PRIu64, l->count);
	if (l->text) {
		putchar(' ');
		put_name(l->text);
	}
	putchar('\n');
}

static void print_line(struct script *s, const struct line *l)
{
	if (s->out)
		print_cells(s, l);
	else
		print_plain(s, l);
}

static void sample(struct script *s, const struct cursor *c, struct line *l)
{
	const struct kjoule_sample *rec = (const struct kjoule_sample *)c->rec;
	struct timeline_sample t = {
		.tick = c->tick, .ip = rec->ip, .pid = c->pid, .tgid = c->tgid,
		.freq_khz = rec->freq_khz, .late_ns = rec->late_ns, .flags = rec->rec.flags };

	l->type = "sample";
	l->sampled = true;
	l->pid = c->tgid;
	l->tid = c->pid;
	l->comm = view_comm(&s->v, c->tgid, c->pid, c->time_ns);
	l->mode = t.flags & KJOULE_SAMPLE_IDLE ? "i" : t.flags & KJOULE_SAMPLE_KERNEL ? "k" : "u";
	l->has_ip = !(t.flags & KJOULE_SAMPLE_IP_HIDDEN);
	l->ip = rec->ip;
	l->precise = t.flags & KJOULE_SAMPLE_PRECISE;
	l->freq_khz = rec->freq_khz;
	l->late_ns = rec->late_ns;
	view_resolve(&s->v, &t, &l->place);
}

static void record(struct script *s, struct cursor *c)
{
	struct line l = { .time_ns = c->time_ns, .cpu = c->stream->cpu };
	const struct kjoule_lost *lost;
	char text[64];

	switch (c->rec->type) {
	case KJOULE_RECORD_SAMPLE:
		sample(s, c, &l);
		break;
	case KJOULE_RECORD_ENERGY:
		l.type = "energy";
		l.energy = (const struct kjoule_energy *)c->rec;
		l.late_ns = l.energy->late_ns;
		break;
	case KJOULE_RECORD_GAP:
		l.type = "gap";
		l.counted = true;
		l.count = ((const struct kjoule_gap *)c->rec)->count;
		l.text = "ticks missed";
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
	print_line(s, &l);
}

static void event(struct script *s, const struct kjoule_event *ev)
{
	struct line l = { .time_ns = ev->time_ns, .cpu = ev->cpu, .pid = ev->pid, .tid = ev->tid };
	char text[128];

	l.comm = view_comm(&s->v, ev->pid, ev->tid, ev->time_ns);
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
	print_line(s, &l);
}

static void run(struct script *s)
{
	for (;;) {
		struct cursor *first = NULL;

		for (size_t i = 0; i < s->n_cursors; i++) {
			struct cursor *c = &s->cursors[i];

			if (c->rec && (!first || c->time_ns < first->time_ns))
				first = c;
		}
		if (s->next_event < s->n_events &&
		    (!first || s->events[s->next_event].time_ns <= first->time_ns)) {
			event(s, &s->events[s->next_event++]);
			continue;
		}
		if (!first || ferror(stdout))
			return;
		record(s, first);
		step(s, first);
	}
}

static void add_column(struct script *s, const char *name)
{
	s->columns[s->n_columns++] = (struct output_column){ name, NULL, false };
}

static void make_columns(struct script *s)
{
	static const char *const before[] = {
		"time_ns", "type", "cpu", "pid", "tid", "comm", "mode", "ip", "symbol", "object",
		"offset", "precise", "freq_khz", "late_ns" };
	const struct kjoule_source_info *src = kjoule_recording_source(&s->v.rec,
								       KJOULE_KIND_ENERGY);

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		add_column(s, before[i]);
	for (uint32_t i = 0; src && i < src->n_domains && s->n_domains < MAX_DOMAINS; i++) {
		snprintf(s->names[s->n_domains], sizeof(s->names[0]), "energy_%.32s_uj",
			 src->domains[i].name);
		add_column(s, s->names[s->n_domains]);
		s->domains[s->n_domains++] = &src->domains[i];
	}
	add_column(s, "count");
	add_column(s, "text");
}

static int prepare(struct script *s, enum output_format format)
{
	int ret = read_events(s);

	if (ret)
		return ret;
	s->cursors = calloc(s->v.rec.n_streams + 1, sizeof(*s->cursors));
	if (!s->cursors)
		return -ENOMEM;
	for (s->n_cursors = 0; s->n_cursors < s->v.rec.n_streams; s->n_cursors++) {
		struct cursor *c = &s->cursors[s->n_cursors];

		c->stream = &s->v.rec.streams[s->n_cursors];
		c->pid = c->tgid = TIMELINE_NO_TASK;
		c->time_ns = s->v.rec.meta.session.t0_ns;
		step(s, c);
	}
	make_columns(s);
	if (format == OUTPUT_TABLE)
		return 0;
	s->out = output_open(stdout, format, s->columns, s->n_columns);
	return s->out ? 0 : -ENOMEM;
}

int cmd_script(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "csv", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	enum output_format format = OUTPUT_TABLE;
	const char *path = "kjoule.data";
	struct kjoule_error err;
	struct script s = { 0 };
	int c, code;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			format = OUTPUT_JSON_LINES;
			break;
		case 'c':
			format = OUTPUT_CSV;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return cmd_getopt_error("script", c, optopt, argv[optind - 1]);
		}
	}
	if (argc - optind > 1)
		return cmd_usage("script", "one file, please; found %s as well", argv[optind + 1]);
	if (optind < argc)
		path = argv[optind];
	if (view_open(path, &s.v, &err))
		return cmd_failed("%s", err.text);
	code = prepare(&s, format);
	if (code) {
		code = cmd_failed("%s: %s", path, strerror(-code));
	} else {
		run(&s);
		code = view_complain(&s.v, path);
	}
	if (s.out)
		output_close(s.out, NULL, NULL);
	free(s.cursors);
	free(s.events);
	view_close(&s.v);
	return code;
}
