// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A summary of the silicon as one JSON object, for programs; what is not known is null.
 * Part of silicon_summary, see summary.h.
 */
#include <stdio.h>

#include <linux/kjoule_netlink.h>

#include "summary.h"

static bool first;	/* nothing stands before in this object or list */

static void key(const char *name)
{
	printf("%s", first ? "" : ", ");
	if (name)
		printf("\"%s\": ", name);
	first = false;
}

static void open_with(const char *name, char c)
{
	key(name);
	putchar(c);
	first = true;
}

static void close_with(char c)
{
	putchar(c);
	first = false;
}

static void text(const char *name, const char *value)
{
	key(name);
	if (!value || !value[0]) {
		printf("null");
		return;
	}
	putchar('"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			printf("\\%c", *value);
		else if ((unsigned char)*value < 0x20)
			printf("\\u%04x", *value);
		else
			putchar(*value);
	}
	putchar('"');
}

static void number(const char *name, double value)
{
	key(name);
	printf("%.15g", value);
}

static void number_or_null(const char *name, double value)
{
	key(name);
	if (value)
		printf("%.15g", value);
	else
		printf("null");
}

static void truth(const char *name, bool value)
{
	key(name);
	printf("%s", value ? "true" : "false");
}

static void spread(const char *name, const struct spread *v)
{
	if (!v->n) {
		key(name);
		printf("null");
		return;
	}
	open_with(name, '{');
	number("n", v->n);
	number("p5", v->p5);
	number("p50", v->p50);
	number("p95", v->p95);
	number("p99", v->p99);
	number("max", v->max);
	close_with('}');
}

static void json_source(const struct source *source)
{
	unsigned int i;

	open_with(NULL, '{');
	text("name", source->name);
	text("kind", source_kind(source));
	number("rating", source->rating);
	truth("available", source->available);
	text("reason", source->reason);
	truth("default", source->is_default);
	if (source->kind == KJOULE_KIND_FREQUENCY) {
		truth("requested_only", source->requested_only);
		number_or_null("reference_khz", source->reference_khz);
	}
	open_with("domains", '[');
	for (i = 0; i < MAX_DOMAINS; i++) {
		const struct domain *d = &source->domain[i];

		if (!d->there)
			continue;
		open_with(NULL, '{');
		number("index", i);
		text("name", d->name);
		number("class", d->class);
		number("width", d->width);
		number("unit_uj", domain_unit_uj(d));
		number("parent", d->parent);
		number_or_null("nominal_period_ns", d->period_ns);
		close_with('}');
	}
	close_with(']');
	close_with('}');
}

static void json_ticks(const char *name, const struct ticks *t)
{
	if (!t->done) {
		key(name);
		printf("null");
		return;
	}
	open_with(name, '{');
	number("interval_ns", t->interval_ns);
	number("cpus", t->cpus);
	number("due", t->due);
	number("produced", t->produced);
	number("missed", t->missed);
	number("lost", t->lost);
	number("tick_ns", t->tick_ns);
	spread("late_ns", &t->late_ns);
	spread("skew_ns", &t->skew_ns);
	close_with('}');
}

void print_json(const struct summary *s)
{
	const struct reference *low = NULL, *high = NULL;
	unsigned int i, n = references_measured(s, &low, &high);

	first = true;
	open_with(NULL, '{');
	text("model", s->model);
	text("kernel", s->kernel);
	number("cpus", s->cpus);
	text("clocksource", s->clocksource);
	text("lockdown", s->lockdown);
	text("module_lacks", s->lacks);
	open_with("sources", '[');
	for (i = 0; i < s->n_sources; i++)
		json_source(&s->source[i]);
	close_with(']');
	open_with("files", '[');
	for (i = 0; i < s->n_files; i++) {
		open_with(NULL, '{');
		text("kind", s->file[i].kind);
		text("name", s->file[i].name);
		text("path", s->file[i].path);
		text("value", s->file[i].value);
		close_with('}');
	}
	close_with(']');
	open_with("energy", '[');
	for (i = 0; i < s->n_periods; i++) {
		const struct period *p = &s->period[i];

		open_with(NULL, '{');
		text("source", s->energy->name);
		text("domain", p->domain->name);
		number("cpu", p->cpu);
		number_or_null("nominal_period_ns", p->domain->period_ns);
		spread("period_ns", &p->ns);
		number("resolution_ns", p->resolution_ns);
		number("not_used", p->holes);
		key("agrees");
		printf("%s", !period_told(p) ? "null" : period_agrees(p) ? "true" : "false");
		number_or_null("power_w", p->time_ns ? 1e3 * p->energy_uj / p->time_ns : 0);
		close_with('}');
	}
	close_with(']');
	json_ticks("ticks_idle", &s->idle);
	json_ticks("ticks_busy", &s->loaded);
	open_with("frequency", '{');
	number("cpu", s->reference_cpu);
	open_with("references", '[');
	for (i = 0; i < s->n_references; i++) {
		open_with(NULL, '{');
		text("name", s->reference[i].name);
		number_or_null("khz", s->reference[i].khz);
		truth("measured", s->reference[i].measured);
		text("note", s->reference[i].note);
		close_with('}');
	}
	close_with(']');
	number_or_null("tsc_khz", s->tsc_khz);
	key("agree");
	printf("%s", n < 2 || !s->reference[0].khz || !s->reference[0].measured ? "null" :
	       references_apart(low, high) <= REFERENCE_AGREES ? "true" : "false");
	close_with('}');
	close_with('}');
	putchar('\n');
}
