// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a view to the input of analyses; see blocks.h. Conventions are documented where samples get
 * their blocks (blocks_lookup.c) and where streams are made of them (blocks_streams.c).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/blocks_costs.h"
#include "attribute/blocks_interrupts.h"
#include "attribute/blocks_streams.h"
#include "attribute/blocks_lookup.h"
#include "lib/base/array.h"

/* The edge windows, with the cost of interrupts around the pauses. */
static int blocks_make_windows(struct blocks *b, const struct view *v, bool raw)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	struct edge_windows_cost cost = { 0 };
	double error;

	if (!raw && cal->ticks) {
		cost.entry_ns = fmax(cal->tick_ns - cal->handler_ns, 0);
		cost.tick_ns = fmax(cal->tick_ns, 0);
		blocks_other_interrupts(v, &cost.other, &error);
		cost.other_hz = cal->other_hz;
		/* as long as the report believes them */
		cost.entry_ns = fmin(cost.entry_ns, v->rec.meta.session.interval_ns);
		cost.tick_ns = fmin(cost.tick_ns, v->rec.meta.session.interval_ns);
	}
	return edge_windows_new(&v->tl, &cost, &b->windows);
}

/* So is a CPU while a reading of a block is waited for. */
static int blocks_add_reading_pauses(struct blocks *b, const struct view *v)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;
	uint64_t begin = s->t0_ns, end = timeline_due(s, v->tl.end_tick) + EDGE_WINDOWS_LONGEST_NS;

	for (size_t i = 0; i < v->tl.n_cpus; i++) {
		const struct timeline_cpu *cpu = &v->tl.cpus[i];
		struct edge_windows_cpu *c = &b->windows.cpus[i];
		uint64_t until = 0;

		for (size_t k = 0; k < cpu->n_readings; k++) {
			const struct kjoule_vpm_reading *r = &cpu->readings[k];
			struct edge_windows_pause *h;

			if (r->stop_ns < until || r->stop_ns == r->ready_ns ||
			    r->ready_ns - r->stop_ns > EDGE_WINDOWS_LONGEST_NS ||
			    r->ready_ns < begin || r->ready_ns > end)
				continue;
			h = kjoule_array_grow(&c->pauses, &c->n, sizeof(*h));
			if (!h)
				return -ENOMEM;
			*h = (struct edge_windows_pause){ r->stop_ns, r->ready_ns };
			until = r->ready_ns;
			b->n_readings++;
		}
	}
	return 0;
}

/* The column of a domain of the session's first source; -1 if the report has none. */
static int blocks_energy_column(const struct view *v, const struct energy_columns *m,
				uint32_t domain)
{
	const struct kjoule_source_info *src = &v->rec.meta.session.sources[0];

	for (uint32_t i = 0; i < src->n_domains && v->rec.meta.session.n_sources; i++)
		for (unsigned int c = 0; c < m->n; c++)
			if (src->domains[i].index == domain && !m->source[c] &&
			    !strcmp(src->domains[i].name, m->info[c].name))
				return c;
	return -1;
}

/* Give each package the edge windows of its CPUs. */
static void blocks_place_windows(struct blocks *b, const struct view *v)
{
	for (size_t i = 0; i < b->meters.n_packages; i++) {
		struct profile_package *p = &b->meters.packages[i];

		for (size_t l = 0; l < p->n_streams && !p->windows; l++) {
			const struct edge_windows_scope *s = p->streams[l] < v->tl.n_cpus ?
				edge_windows_of(&b->windows, &v->tl.cpus[p->streams[l]]) : NULL;
			int column = s ? blocks_energy_column(v, &b->meters, s->domain) : -1;

			if (column < 0)
				continue;
			p->windows = s->windows;
			p->n_windows = s->n;
			p->window_domain = column;
		}
	}
}

int blocks_seal(struct blocks *b)
{
	uint8_t *kinds = calloc(b->n_functions + 1, sizeof(*kinds));

	if (!kinds || blocks_costs_compare(b)) {
		free(kinds);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < b->n_functions; i++)
		kinds[i] = b->processes[b->functions[i].process].kind;
	free(b->kinds);
	b->kinds = kinds;
	b->input.kinds = kinds;
	b->input.n_blocks = b->n_functions;
	return 0;
}

int blocks_names_new(struct blocks *b)
{
	memset(b, 0, sizeof(*b));
	b->other = b->bystander = b->recorder = b->paused = UINT32_MAX;
	return blocks_lookup_init(b, NULL);
}

int blocks_new(struct view *v, struct code_units *units, bool raw, struct blocks *b)
{
	int ret;

	memset(b, 0, sizeof(*b));
	b->bystander = b->recorder = UINT32_MAX;
	b->units = units;
	b->input.interval_ns = v->rec.meta.session.interval_ns;
	b->input.session = &v->rec.meta.session;
	ret = blocks_lookup_init(b, v);
	if (!ret)
		ret = blocks_make_windows(b, v, raw);
	if (!ret && !b->windows.n)
		ret = blocks_add_reading_pauses(b, v);
	if (!ret)
		ret = blocks_streams_make(b, v, raw);
	if (!ret && !raw)
		blocks_interrupts_find(b, v);
	if (!ret)
		ret = energy_columns_new(v, &b->meters);
	if (!ret)
		ret = blocks_seal(b);
	if (ret) {
		blocks_free(b);
		return ret;
	}
	blocks_place_windows(b, v);
	for (size_t i = 0; i < b->n_functions; i++)
		view_count_samples(v, b->functions[i].object, b->functions[i].symbol,
				   b->functions[i].samples);
	if (v->rec.left_in_file)	/* too large for the stack */
		energy_columns_release(v, &b->meters);
	b->n_domains = b->meters.n;
	for (unsigned int d = 0; d < b->n_domains; d++)
		b->domains[d] = &b->meters.info[d];
	b->input.jitter = (double)v->rec.meta.session.jitter_ns / v->rec.meta.session.interval_ns;
	b->input.end_tick = v->tl.end_tick;
	b->input.calibration_error = blocks_calibration_error(v, &b->meters);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		int index = b->meters.calibrated[d];
		bool known = !raw && index >= 0;

		b->input.irq_w[d] = known ? v->rec.cal.irq_uw[index] * 1e-6 : NAN;
		b->input.idle_uj[d] = known ? v->rec.cal.idle_uj[index] : NAN;
		b->input.idle_w[d] = known ? v->rec.cal.idle_uw[index] * 1e-6 : NAN;
		b->input.tick_less_w[d] = blocks_tick_less(v, b->input.irq_w[d],
							   b->input.idle_w[d]);
	}
	b->input.paused = b->paused;
	b->input.streams = b->streams;
	b->input.n_packages = b->meters.n_packages;
	b->input.packages = b->meters.packages;
	b->input.n_domains = b->n_domains;
	b->input.steps = raw ? 1 : CPM_STEPS;
	return 0;
}

void blocks_free(struct blocks *b)
{
	for (size_t i = 0; i < b->input.n_streams; i++)
		missed_ticks_free(&b->ticks[i]);
	free(b->ticks);
	free(b->streams);
	free(b->counts.of);
	free(b->others.of);
	energy_columns_free(&b->meters);
	edge_windows_free(&b->windows);
	free(b->kinds);
	free(b->costs);
	free(b->functions);
	free(b->processes);
	for (size_t i = 0; i < b->n_names; i++)
		free(b->names[i]);
	free(b->names);
	free(b->loose);
	free(b->unknown);
	blocks_lookup_exit(b);
	memset(b, 0, sizeof(*b));
}

const char *blocks_paused_by(const struct blocks *b)
{
	return b->windows.n ? "--edge" : b->n_readings ? "--vpm" : NULL;
}

size_t blocks_domain_names(const struct blocks *b, const char *names[PROFILE_DOMAINS])
{
	for (unsigned int d = 0; d < b->n_domains; d++)
		names[d] = b->domains[d]->name;
	return b->n_domains;
}
