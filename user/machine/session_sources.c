// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which sources a recording uses: the requested ones, or the best. Files of sysfs are opened here
 * and passed to the session; what is known of them goes with the session's description into the
 * file. Also reports how they did. Called by record/once.c, record/loop.c and
 * boost/machine_watch.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "lib/control/sources.h"
#include "machine/session_sources.h"

#define PERIOD_MIN_NS	1000000ull		/* as the module takes it */
#define PERIOD_MAX_NS	(3600 * 1000000000ull)
#define SESSION_SOURCES	8u	/* limit of a session */

/* All available sources. */
struct offer {
	const struct sources_offer *from;
	struct kjoule_found *found;
	size_t n_found;
};

/* The request. */
struct wish {
	const char *text;		/* as it was written */
	char *name;
	uint64_t period_ns;		/* 0: the module's default */
};

static int session_source_refuse_period(const struct wish *w)
{
	return cmd_failed("--source %s: %s is read in the tick, it has no period; periods are for slow sources, see the manual page",
			  w->text, w->name);
}

static int session_sources_refuse_many(void)
{
	return cmd_failed("--source: these are more than %u sources, the most that a recording can have; name fewer",
			  SESSION_SOURCES);
}

static int session_sources_add(struct session_sources *s, const struct kjoule_source_spec *spec,
			       const struct kjoule_source_info *info)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->info[i].name, info->name))
			return cmd_failed("--source: %s is named twice", info->name);
	if (s->n == SESSION_SOURCES)
		return session_sources_refuse_many();
	s->info[s->n] = *info;
	s->spec[s->n] = *spec;
	s->spec[s->n].fd = -1;
	if (kjoule_scopes_copy(&s->info[s->n++], info))
		return cmd_failed("no memory");
	return 0;
}

static int session_sources_add_found(struct session_sources *s, const struct kjoule_found *f,
				     uint64_t period_ns)
{
	int ret = session_sources_add(s, &f->spec, &f->info);

	if (!ret)
		s->spec[s->n - 1].period_ns = period_ns;
	if (ret || f->spec.origin != KJOULE_ORIGIN_VALUE_FILE)
		return ret;
	s->spec[s->n - 1].fd = open(f->path, O_RDONLY | O_CLOEXEC);
	if (s->spec[s->n - 1].fd < 0)
		return cmd_failed("%s: opening %s: %s", f->info.name, f->path, strerror(errno));
	return 0;
}

static int session_source_refuse(const char *name, const char *reason)
{
	return cmd_failed("%s: this source cannot be used: %s; see `kjoule list`", name, reason);
}

/* It has a place of its own in the session. */
static int session_sources_add_frequency(struct session_sources *s,
					 const struct kjoule_source_info *info,
					 const struct wish *w)
{
	if (w->period_ns)
		return session_source_refuse_period(w);
	if (s->frequency_source)
		return cmd_failed("--source: %s and %s are both sources of frequency, of which a recording has one",
				  s->frequency_source, info->name);
	strcpy(s->frequency, info->name);
	s->frequency_source = s->frequency;
	return 0;
}

static int session_sources_add_kernel(struct session_sources *s, const struct offer *o,
				      const struct kjoule_source_info *info, const struct wish *w)
{
	struct kjoule_source_spec spec = { .origin = KJOULE_ORIGIN_REGISTERED,
					   .period_ns = w->period_ns };
	char what[96];
	struct kjoule_error err;
	int ret;

	if (!info->available)
		return session_source_refuse(info->name, info->reason);
	if (info->kind == KJOULE_KIND_FREQUENCY)
		return session_sources_add_frequency(s, info, w);
	strcpy(spec.name, info->name);
	/* which of these are slow only the module knows */
	snprintf(what, sizeof(what), "--source %.80s", w->text);
	ret = w->period_ns ? o->from->try(&spec, what, o->from->arg, &err) : 0;
	return ret ? cmd_failed("%s", err.text) : session_sources_add(s, &spec, info);
}

static void session_sources_drop_last(struct session_sources *s)
{
	size_t i = --s->n;

	if (s->spec[i].fd >= 0)
		close(s->spec[i].fd);
	free(s->info[i].scopes);
	memset(&s->info[i], 0, sizeof(s->info[i]));
}

/*
 * Does the module refuse the last source? A counter of a sleeping device may be stuck, and would
 * end the whole session. A lack of room is reported later.
 */
static bool session_source_is_refused(const struct session_sources *s, const struct offer *o,
				      const char *meter)
{
	struct kjoule_error err;
	const char *name = s->info[s->n - 1].name;
	char what[KJOULE_NAME_LEN + 16];
	int ret;

	snprintf(what, sizeof(what), strcmp(name, meter) ? "left out of %s" : "left out", meter);
	ret = o->from->try(&s->spec[s->n - 1], what, o->from->arg, &err);
	if (!ret || ret == -ENOMEM || ret == -EDQUOT || ret == -EUSERS)
		return false;
	cmd_warn("%s", err.text);
	return true;
}

static size_t session_sources_count_parts(const struct offer *o, const struct kjoule_found *with)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_found; i++)
		n += kjoule_sources_goes_with(&o->found[i], with);
	return n;
}

/*
 * Add all usable parts of a meter, packages first: large machines have more zones than a session's
 * limit. @with: an element of the meter. @try: ask the module for each.
 */
static int session_sources_add_usable(struct session_sources *s, const struct offer *o,
				      const struct kjoule_found *with, uint64_t period_ns, bool try)
{
	const char *meter = with->info.meter[0] ? with->info.meter : with->info.name;
	size_t left_out = 0;
	int ret = 0;

	if (s->n == SESSION_SOURCES)
		return session_sources_refuse_many();
	for (int pass = 0; pass < 2 && !ret; pass++) {
		for (size_t i = 0; i < o->n_found && !ret; i++) {
			const struct kjoule_found *f = &o->found[i];

			if (!kjoule_sources_goes_with(f, with) ||
			    (f->spec.class == KJOULE_DOMAIN_PACKAGE) != !pass)
				continue;
			if (s->n == SESSION_SOURCES) {
				left_out++;
				continue;
			}
			ret = session_sources_add_found(s, f, period_ns);
			if (!ret && try && session_source_is_refused(s, o, meter))
				session_sources_drop_last(s);
		}
	}
	if (left_out)
		cmd_warn("%zu domains of %s are left out: a session takes %u sources", left_out,
			 meter, SESSION_SOURCES);
	return ret;
}

/* Of a named meter. A single part is not tried: without it there is no session anyway. */
static int session_sources_add_parts(struct session_sources *s, const struct offer *o,
				     const struct kjoule_found *with, uint64_t period_ns)
{
	size_t n = s->n;
	int ret = session_sources_add_usable(s, o, with, period_ns,
					     session_sources_count_parts(o, with) > 1);

	if (!ret && s->n == n)
		return cmd_failed("%s: no part of it can be used; name another source, see `kjoule list`",
				  with->info.meter);
	return ret;
}

static int session_sources_add_meter(struct session_sources *s, const struct offer *o,
				     const struct wish *w)
{
	const struct kjoule_found *refused = NULL;

	for (size_t i = 0; i < o->n_found; i++) {
		const struct kjoule_found *f = &o->found[i];

		if (strcmp(f->info.meter, w->name))
			continue;
		if (w->period_ns && f->spec.origin == KJOULE_ORIGIN_PERF_PMU)
			return session_source_refuse_period(w);
		if (f->info.available)
			return session_sources_add_parts(s, o, f, w->period_ns);
		refused = f;
	}
	return refused ? session_source_refuse(w->name, refused->info.reason) :
			 cmd_failed("%s: no such source; see `kjoule list`", w->name);
}

static int session_sources_add_event(struct session_sources *s, const struct offer *o,
				     const struct wish *w)
{
	struct kjoule_found *f = malloc(sizeof(*f));
	struct kjoule_error err;
	int ret;

	if (!f)
		return cmd_failed("no memory");
	if (kjoule_sources_perf(o->from->sysfs, w->name, f, &err))
		ret = cmd_failed("%s", err.text);
	else
		ret = w->period_ns ? session_source_refuse_period(w) :
				     session_sources_add_found(s, f, 0);
	free(f);
	return ret;
}

static int session_sources_add_named(struct session_sources *s, const struct offer *o,
				     const struct wish *w)
{
	for (size_t i = 0; i < o->from->n_kernel; i++)
		if (!strcmp(o->from->kernel[i].name, w->name))
			return session_sources_add_kernel(s, o, &o->from->kernel[i], w);
	for (size_t i = 0; i < o->n_found; i++) {
		const struct kjoule_found *f = &o->found[i];

		if (strcmp(f->info.name, w->name))
			continue;
		if (w->period_ns && f->spec.origin == KJOULE_ORIGIN_PERF_PMU)
			return session_source_refuse_period(w);
		return f->info.available ? session_sources_add_found(s, f, w->period_ns) :
					   session_source_refuse(w->name, f->info.reason);
	}
	/* any event of any PMU */
	if (!strncmp(w->name, "perf:", 5) && strchr(w->name, '/'))
		return session_sources_add_event(s, o, w);
	return session_sources_add_meter(s, o, w);
}

/* Some names of sensors have an @ of their own. */
static bool session_source_is_known(const struct offer *o, const char *name)
{
	for (size_t i = 0; i < o->n_found; i++)
		if (!strcmp(o->found[i].info.name, name))
			return true;
	return false;
}

/* NAME or NAME@PERIOD */
static int session_sources_add_wish(struct session_sources *s, const struct offer *o,
				    const char *text)
{
	struct wish w = { .text = text, .name = strdup(text) };
	char *at = w.name ? strrchr(w.name, '@') : NULL;
	int ret = 0;

	if (!w.name)
		return cmd_failed("no memory");
	if (at && !strchr(at, '/') && !session_source_is_known(o, text)) {
		ret = args_duration(at + 1, 0, &w.period_ns);
		if (!ret && (w.period_ns < PERIOD_MIN_NS || w.period_ns > PERIOD_MAX_NS))
			ret = -ERANGE;
		*at = '\0';
		if (ret)
			ret = cmd_usage("record",
					"--source %s: the time between two readings is %s; expected 1ms to 1h, with a unit",
					text, ret == -ERANGE ? "out of range" : "not understood");
	}
	if (!ret)
		ret = session_sources_add_named(s, o, &w);
	free(w.name);
	return ret;
}

/* There may be sensors all the same, of the processor or of anything else. */
static void session_sources_warn_of_none(const struct offer *o)
{
	char names[256];
	size_t n = kjoule_sources_unclear(o->found, o->n_found, names, sizeof(names));

	if (n)
		cmd_warn("no source is known to measure the processor: recording time and frequency only. Whose these are is not known: %s; if one is the processor's, name it with --source (see `kjoule list`)",
			 names);
	else
		cmd_warn("no energy source can be used (see `kjoule list`): recording time and frequency only");
}

static void session_sources_drop_meter(struct offer *o, const struct kjoule_found *meter)
{
	for (size_t i = 0; i < o->n_found; i++)
		if (kjoule_sources_goes_with(&o->found[i], meter))
			o->found[i].info.available = false;
}

/* The default: the best working one of user space's, or the kernel's if that is better. */
static int session_sources_add_default(struct session_sources *s, struct offer *o)
{
	const struct kjoule_found *best;
	int32_t rating = INT32_MIN;
	int ret = 0;

	for (size_t i = 0; i < o->from->n_kernel; i++)
		if (o->from->kernel[i].kind == KJOULE_KIND_ENERGY && o->from->kernel[i].available &&
		    o->from->kernel[i].is_default)
			rating = o->from->kernel[i].rating;
	while (!ret && !s->n && (best = kjoule_sources_best(o->found, o->n_found, rating))) {
		ret = session_sources_add_usable(s, o, best, 0, true);
		if (!s->n)
			session_sources_drop_meter(o, best);
	}
	if (!ret && !s->n && rating == INT32_MIN)
		session_sources_warn_of_none(o);
	return ret;
}

static int session_sources_add_wanted(struct session_sources *s, struct offer *o,
				      const char *wanted)
{
	int ret = 0;

	if (!wanted)
		return session_sources_add_default(s, o);
	if (!wanted[0]) {
		s->energy_source = "";
		return 0;
	}
	for (bool more = true; more && !ret;) {
		size_t len = kjoule_source_name_len(wanted);
		char *name = strndup(wanted, len);

		if (!name)
			return cmd_failed("no memory");
		ret = session_sources_add_wish(s, o, name);
		free(name);
		more = wanted[len];
		if (more && wanted[len] != ',')
			return cmd_usage("record", "--source: a comma is missing before %s",
					 wanted + len);
		wanted += len + more;
	}
	/* other sources were not mentioned */
	if (!ret && !s->n)
		return session_sources_add_default(s, o);
	/* the usual case, which needs no specification */
	if (!ret && s->n == 1 && s->spec[0].origin == KJOULE_ORIGIN_REGISTERED &&
	    s->info[0].kind == KJOULE_KIND_ENERGY && !s->spec[0].period_ns) {
		s->energy_source = s->info[0].name;
		s->n = 0;
	}
	return ret;
}

int session_sources_choose(const char *wanted, const struct sources_offer *offer,
			  struct session_sources **out)
{
	struct offer o = { .from = offer };
	struct session_sources *s = calloc(1, sizeof(*s));
	int ret;

	*out = s;
	if (!s || kjoule_sources_scan(offer->sysfs, &o.found, &o.n_found))
		return cmd_failed("no memory");
	ret = session_sources_add_wanted(s, &o, wanted);
	kjoule_sources_free(o.found, o.n_found);
	return ret;
}

/* A session with only this source: a counter may need any of the CPUs. */
static int session_sources_try(const struct kjoule_source_spec *spec, const char *what, void *arg,
			       struct kjoule_error *err)
{
	struct kjoule_session_params params = *(const struct kjoule_session_params *)arg;

	params.target = KJOULE_TARGET_SYSTEM;
	params.frequency_source = "";
	params.specs = spec;
	params.n_specs = 1;
	return kjoule_session_try(&params, what, err);
}

int session_sources_open(const char *wanted, struct kjoule_ctl *ctl,
			 const struct kjoule_session_params *like, struct session_sources **out)
{
	struct kjoule_session_params params = { .interval_ns = like->interval_ns,
						.cpus = like->cpus,
						.ring_bytes = like->ring_bytes };
	struct sources_offer offer = { .sysfs = KJOULE_SYSFS, .try = session_sources_try,
				       .arg = &params };
	struct kjoule_source_info *kernel;
	struct kjoule_error err;
	int code;

	*out = NULL;
	if (kjoule_sources(ctl, &kernel, &offer.n_kernel, &err))
		return cmd_failed("%s", err.text);
	offer.kernel = kernel;
	code = session_sources_choose(wanted, &offer, out);
	free(kernel);
	return code;
}

/* The lowest CPU of the session that a source counts stands for all that it counts. */
static void session_sources_copy_scope(struct kjoule_source_info *to,
				       const struct kjoule_source_info *from,
				       const struct kjoule_cpus *cpus)
{
	int lowest = -1;

	for (int cpu = kjoule_cpus_next(cpus, 0); cpu >= 0; cpu = kjoule_cpus_next(cpus, cpu + 1)) {
		bool counted = kjoule_scope(from, cpu) != KJOULE_NO_SCOPE;

		if (counted && lowest < 0)
			lowest = cpu;
		if (kjoule_scope_set(to, cpu, counted ? lowest : KJOULE_NO_SCOPE))
			return;
	}
}

void session_sources_describe(const struct session_sources *s, struct kjoule_session_info *session)
{
	for (size_t i = 0; i < s->n && i < session->n_sources; i++) {
		const struct kjoule_source_info *from = &s->info[i];
		struct kjoule_source_info *to = &session->sources[i];

		if (s->spec[i].origin == KJOULE_ORIGIN_REGISTERED)
			continue;
		strcpy(to->name, from->name);
		strcpy(to->meter, from->meter);
		strcpy(to->inside, from->inside);
		strcpy(to->same_as, from->same_as);
		to->rating = from->rating;
		if (to->n_domains == 1) {
			strcpy(to->domains[0].name, from->domains[0].name);
			to->domains[0].class = from->domains[0].class;
		}
		if (from->scopes)
			session_sources_copy_scope(to, from, &session->cpus);
	}
}

void session_sources_warn(const struct kjoule_session_info *session, uint64_t in_ticks)
{
	for (uint32_t i = 0; i < session->n_sources; i++) {
		const struct kjoule_source_info *src = &session->sources[i];

		if (src->errors)
			cmd_warn("%s: %" PRIu64 " values not got in %" PRIu64
				 " readings: the report does not know what they were", src->name,
				 src->errors, src->reads);
		if (src->overruns)
			cmd_warn("%s: %" PRIu64 " of %" PRIu64
				 " readings took longer than the %g ms between two; give it more time (--source NAME@PERIOD)",
				 src->name, src->overruns, src->reads, src->period_ns * 1e-6);
	}
	if (in_ticks)
		cmd_warn("%" PRIu64
			 " readings at ticks failed: what sources counted meanwhile may be missing",
			 in_ticks);
}

void session_sources_free(struct session_sources *s)
{
	for (size_t i = 0; s && i < s->n; i++) {
		if (s->spec[i].fd >= 0)
			close(s->spec[i].fd);
		free(s->info[i].scopes);
	}
	free(s);
}
