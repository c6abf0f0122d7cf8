// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A summary of the silicon as results, with their figures in lines of diagnosis, and what
 * is taken for agreement. Part of silicon_summary, see summary.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <linux/kjoule.h>

#include "../ktap.h"
#include "summary.h"

const char *source_kind(const struct source *source)
{
	return source->kind == KJOULE_KIND_ENERGY ? "energy" :
	       source->kind == KJOULE_KIND_FREQUENCY ? "frequency" : "other";
}

double domain_unit_uj(const struct domain *d)
{
	return ldexp(d->mult, -(int)d->shift);
}

/* How far a measured period is from the nominal one, in percent; 0 if that is not known. */
static double period_off(const struct period *p)
{
	if (!p->domain->period_ns || !p->ns.n)
		return 0;
	return 100.0 * p->ns.p50 / p->domain->period_ns - 100;
}

/* Long times are rather hidden by missing ticks than short ones, so few may be. */
bool period_told(const struct period *p)
{
	return p->domain->period_ns && p->ns.n >= 10 && p->holes * 100 <= p->ns.n * PERIOD_HOLES;
}

bool period_agrees(const struct period *p)
{
	double slack = p->domain->period_ns ? 100.0 * p->resolution_ns / p->domain->period_ns : 0;

	return fabs(period_off(p)) <= PERIOD_AGREES + slack;
}

/* Lowest and highest of those that measured it. Return: how many they are. */
unsigned int references_measured(const struct summary *s, const struct reference **low,
				 const struct reference **high)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->n_references; i++) {
		const struct reference *w = &s->reference[i];

		if (!w->measured || !w->khz)
			continue;
		*low = !n || w->khz < (*low)->khz ? w : *low;
		*high = !n || w->khz > (*high)->khz ? w : *high;
		n++;
	}
	return n;
}

double references_apart(const struct reference *low, const struct reference *high)
{
	return 100.0 * high->khz / low->khz - 100;
}

static void ktap_machine(const struct summary *s)
{
	static const char *const kinds[] =
		{ "powercap", "hwmon", "perf_pmu", "power_supply", "cpufreq" };
	static const char *const lack[] = {
		"no zone: load intel_rapl_msr or the driver of the firmware's interface",
		"no energy or power sensor", "no power PMU: load the module rapl",
		"none", "no driver",
	};
	unsigned int k, i;

	ktap_diag("machine: %s, %u CPUs online, Linux %s", s->model, s->cpus, s->kernel);
	ktap_diag("clocksource %s, lockdown %s", s->clocksource,
		  s->lockdown[0] ? s->lockdown : "not built in");
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (!file_of(s, kinds[k], 0))
			ktap_diag("%s: %s", kinds[k], lack[k]);
		for (i = 0; i < s->n_files; i++) {
			const struct file *f = &s->file[i];

			if (!strcmp(f->kind, kinds[k]))
				ktap_diag("%s %s: %s (%s)", f->kind, f->name, f->value, f->path);
		}
	}
	ktap_check(s->model[0] && s->kernel[0] && s->cpus, "the machine is described: %u places that tell energy, power "
		   "or frequency", s->n_files);
}

static void ktap_sources(const struct summary *s)
{
	unsigned int i, k, defaults[2] = { 0 }, best[2] = { 0 };
	int rating[2] = { INT32_MIN, INT32_MIN };
	bool reasons = true, right = true;

	if (s->lacks) {
		ktap_skip("the module's sources", s->lacks);
		return;
	}
	for (i = 0; i < s->n_sources; i++) {
		const struct source *source = &s->source[i];

		ktap_diag("source %s: %s, rating %d, %s%s%s", source->name, source_kind(source),
			  source->rating, source->available ? "available" : "not available: ",
			  source->available ? "" : source->reason,
			  source->is_default ? ", the default" : "");
		for (k = 0; k < MAX_DOMAINS; k++) {
			const struct domain *d = &source->domain[k];

			if (d->there)
				ktap_diag("  domain %u %s: one count is %g uJ, %u bits, in domain %d, nominal period %g ms", k,
					  d->name, domain_unit_uj(d), d->width, d->parent,
					  d->period_ns / 1e6);
		}
		reasons &= source->available || source->reason[0];
		if (source->kind > KJOULE_KIND_FREQUENCY)
			continue;
		defaults[source->kind] += source->is_default;
		right &= !source->is_default || source->available;
		if (source->available && source->rating > rating[source->kind]) {
			rating[source->kind] = source->rating;
			best[source->kind] = i;
		}
	}
	for (k = 0; k < 2; k++) {
		bool some = rating[k] != INT32_MIN;

		right &= defaults[k] == some && (!some || s->source[best[k]].is_default);
	}
	ktap_check(s->n_sources && reasons, "each source is available or says why not");
	ktap_check(right, "of each kind the best one that is available is the default");
}

static void ktap_periods(const struct summary *s)
{
	bool moves = true, back = false, package = false;
	unsigned int i;

	if (s->lacks || !s->n_periods) {
		ktap_skip("the energy counters' own periods", s->lacks ?: s->no_periods);
		return;
	}
	for (i = 0; i < s->n_periods; i++) {
		const struct period *p = &s->period[i];

		ktap_diag("energy %s %s on CPU %u: %.6g W; %" PRIu64
			  " moves, period median %.4g ms, p5 %.4g, p95 %.4g "
			  "(ticks every %.4g)", s->energy->name, p->domain->name, p->cpu,
			  p->time_ns ? 1e3 * p->energy_uj / p->time_ns : 0, p->ns.n,
			  p->ns.p50 / 1e6, p->ns.p5 / 1e6, p->ns.p95 / 1e6, p->resolution_ns / 1e6);
		if (!p->ns.n)
			ktap_diag("  it did not move");
		else if (!p->domain->period_ns)
			ktap_diag("  nominal: not known");
		else if (!period_told(p))
			ktap_diag("  nominal %.4g ms: too many ticks are missing to compare them",
				  p->domain->period_ns / 1e6);
		else
			ktap_diag("  nominal %.4g ms: %s, %+.1f %%", p->domain->period_ns / 1e6,
				  period_agrees(p) ? "agrees" : "DIFFERS", period_off(p));
		if (p->holes)
			ktap_diag("  %" PRIu64 " times not used, because ticks are missing in them",
				  p->holes);
		back |= p->back;
		if (p->domain->class != KJOULE_DOMAIN_PACKAGE)
			continue;
		package = true;
		moves &= p->ns.n >= 10;
	}
	ktap_check(!back, "no energy counter goes backwards");
	if (package)
		ktap_check(moves, "the packages' energy counters move, and how often is measured");
}

static void ktap_ticks(const struct summary *s, const struct ticks *t, const char *name)
{
	char what[96];

	snprintf(what, sizeof(what), "ticks on %s CPUs", name);
	if (s->lacks || !t->done) {
		if (s->lacks)
			ktap_skip(what, s->lacks);
		else
			ktap_not_ok("%s: %s", what, t->why);
		return;
	}
	ktap_diag("%s: %" PRIu64 " due on %u CPUs, %" PRIu64 " missed, %" PRIu64
		  " records lost, %.3g us in the module each", what, t->due, t->cpus, t->missed,
		  t->lost, t->tick_ns / 1e3);
	ktap_diag("  late: p50 %.3g us, p95 %.3g, p99 %.3g, max %.3g", t->late_ns.p50 / 1e3,
		  t->late_ns.p95 / 1e3, t->late_ns.p99 / 1e3, t->late_ns.max / 1e3);
	if (t->skew_ns.n)
		ktap_diag("  skew between CPUs: p50 %.3g us, p99 %.3g, max %.3g, of %" PRIu64
			  " ticks", t->skew_ns.p50 / 1e3, t->skew_ns.p99 / 1e3,
			  t->skew_ns.max / 1e3, t->skew_ns.n);
	else
		ktap_diag("  skew between CPUs: %s",
			  t->cpus < 2 ? "one CPU only" : "no tick was taken on two CPUs");
	ktap_check(t->produced && t->cpus == s->cpus && t->cpus_seen == t->cpus, "%s come on each of them", what);
}

static void ktap_references(const struct summary *s)
{
	const struct reference *low = NULL, *high = NULL;
	unsigned int i, n = references_measured(s, &low, &high);

	ktap_diag("frequency of CPU %u under load:", s->reference_cpu);
	for (i = 0; i < s->n_references; i++) {
		const struct reference *w = &s->reference[i];

		if (w->khz)
			ktap_diag("  %s: %" PRIu64 " kHz%s (%s)", w->name, w->khz,
				  w->measured ? "" : ", a request", w->note);
		else
			ktap_diag("  %s: - (%s)", w->name, w->note);
	}
	ktap_diag("tsc: %" PRIu64 " kHz by the clock%s", s->tsc_khz, s->tsc_khz ? "" : ": none");
	for (i = 0; i < s->n_sources; i++) {
		if (s->source[i].reference_khz)
			ktap_diag("  reference of %s: %" PRIu64 " kHz", s->source[i].name,
				  s->source[i].reference_khz);
	}
	if (!s->n_references || !s->reference[0].khz || !s->reference[0].measured) {
		ktap_skip("frequency references agree under load",
			  s->lacks ?: !s->n_references || s->reference[0].khz ?
			  "no frequency source measures it: a CPU with APERF and MPERF is needed" :
			  s->reference[0].note);
		return;
	}
	if (n < 2) {
		ktap_skip("frequency references agree under load", "there is one only");
		return;
	}
	ktap_diag("  %u of them measure it, %.2g %% apart", n, references_apart(low, high));
	ktap_check(references_apart(low, high) <= REFERENCE_AGREES, "frequency references agree under load within %d %%", REFERENCE_AGREES);
}

int print_ktap(const struct summary *s)
{
	printf("KTAP version 1\n");
	ktap_machine(s);
	ktap_sources(s);
	ktap_periods(s);
	ktap_ticks(s, &s->idle, "idle");
	ktap_ticks(s, &s->loaded, "busy");
	ktap_references(s);
	return ktap_end();
}
