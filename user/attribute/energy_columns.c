// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From series of readings to the packages of a profile; see energy_columns.h. Called by
 * blocks.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/energy_columns.h"
#include "lib/base/array.h"
#include "lib/base/hash_index.h"
#include "lib/control/sources.h"

/* What 64 bits hold; files may say anything. */
#define MOST_UJ	1.8e19

static bool energy_source_is_usable(const struct kjoule_source_info *src)
{
	for (uint32_t d = 0; d < src->n_domains; d++)
		if (src->domains[d].quantity == KJOULE_QUANTITY_ENERGY ||
		    src->domains[d].quantity == KJOULE_QUANTITY_POWER)
			return src->kind != KJOULE_KIND_FREQUENCY;
	return false;
}

/* "a, b": what there would have been to choose from */
static const char *energy_source_names(const struct kjoule_session_info *s, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < s->n_sources && at < len; i++)
		if (energy_source_is_usable(&s->sources[i]))
			at += snprintf(buf + at, len - at, "%s%s", at ? ", " : "",
				       s->sources[i].name);
	return buf[0] ? buf : "none of energy";
}

static int energy_source_choose(const struct kjoule_session_info *s, const char *name, size_t len,
				bool *chosen, struct kjoule_error *err)
{
	bool found = false, energy = false;
	char names[256];

	for (uint32_t i = 0; i < s->n_sources; i++) {
		const struct kjoule_source_info *src = &s->sources[i];

		if ((strlen(src->name) != len || strncmp(src->name, name, len)) &&
		    (strlen(src->meter) != len || strncmp(src->meter, name, len)))
			continue;
		found = true;
		if (energy_source_is_usable(src))
			energy = chosen[i] = true;
	}
	if (!found)
		return kjoule_fail(err, ENOENT, "--source %.*s: not in this recording; it has %s",
				   (int)len, name, energy_source_names(s, names, sizeof(names)));
	if (!energy)
		return kjoule_fail(err, EINVAL, "--source %.*s: it tells of no energy; this recording has %s",
				   (int)len, name, energy_source_names(s, names, sizeof(names)));
	return 0;
}

int energy_columns_choose(const struct view *v, const char *wanted, bool chosen[KJOULE_MAX_SOURCES],
		  struct kjoule_error *err)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;
	uint32_t first = 0;
	int ret = 0;

	memset(chosen, 0, KJOULE_MAX_SOURCES * sizeof(*chosen));
	while (wanted && !ret) {
		size_t len = kjoule_source_name_len(wanted);

		ret = energy_source_choose(s, wanted, len, chosen, err);
		wanted = wanted[len] ? wanted + len + 1 : NULL;
		if (!wanted)
			return ret;
	}
	if (ret)
		return ret;
	while (first < s->n_sources && !energy_source_is_usable(&s->sources[first]))
		first++;
	for (uint32_t i = first; i < s->n_sources; i++)
		chosen[i] = i == first || (s->sources[first].meter[0] &&
					   energy_source_is_usable(&s->sources[i]) &&
					   !strcmp(s->sources[i].meter, s->sources[first].meter));
	return 0;
}

/*
 * Some drivers tell what a battery gives as negative, some as positive. A recording
 * begins while it gives: the first reading tells which. The other sign is power
 * that comes in, and none that is drawn.
 */
static int energy_power_sign(const struct timeline_series *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->readings[i].value)
			return s->readings[i].value < 0 ? -1 : 1;
	return 1;
}

void energy_columns_uj(const struct timeline_series *s, double *uj)
{
	int sign = energy_power_sign(s);

	for (size_t i = 0; i < s->n; i++) {
		const struct timeline_reading *r = &s->readings[i];

		if (s->quantity != KJOULE_QUANTITY_POWER)
			uj[i] = r->value;
		else if (!i)
			uj[i] = 0;
		else
			uj[i] = uj[i - 1] + fmax((double)r->value * sign, 0) * 1e-9 *
				(r->time_ns - r[-1].time_ns);
	}
}

static const struct kjoule_domain_info *energy_domain_of(const struct kjoule_source_info *src,
							 uint32_t index)
{
	for (uint32_t d = 0; d < src->n_domains; d++)
		if (src->domains[d].index == index)
			return &src->domains[d];
	return NULL;
}

/*
 * The CPUs of the session by what they share: a source's counters or, where it has no scopes,
 * their package. A file may have counters of each possible CPU, which rules out a scan for each
 * series.
 * @head,@next: of a scope, or a package's number, and from one CPU to a higher one, each + 1
 */
struct sharing {
	uint16_t head[KJOULE_MAX_CPUS], next[KJOULE_MAX_CPUS];
	struct kjoule_hash_index by_package;
	uint32_t n_packages, packages[KJOULE_MAX_CPUS];
};

/*
 * Of a column while it is made: the CPUs that are in it so far.
 * @recorder:	the CPUs whose counters have the recorder; see energy_find_recorder()
 * @cpus:	of the series at hand
 * @by_stream:	packages by their first stream, and the next to try for a column without streams
 */
struct making {
	const struct view *v;
	struct energy_columns *m;
	struct kjoule_cpus covered[PROFILE_DOMAINS], recorder;
	unsigned int n_recorder;
	struct sharing sharing;		/* of the source at hand */
	uint16_t stream[KJOULE_MAX_CPUS];	/* of each CPU, + 1 */
	uint16_t cpus[KJOULE_MAX_CPUS];
	size_t n_cpus;
	struct kjoule_hash_index by_stream;
	size_t without_stream[PROFILE_DOMAINS];
};

/* Return: its number, KJOULE_MAX_CPUS: it has no CPU of the session */
static uint32_t sharing_package_number(const struct sharing *s, uint32_t package)
{
	uint64_t hash = kjoule_hash_text(package, "");
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&s->by_package, hash, &probe)) != KJOULE_HASH_INDEX_NONE)
		if (s->packages[i] == package)
			return i;
	return KJOULE_MAX_CPUS;
}

static int sharing_find_cpus(struct making *mk, uint32_t source)
{
	const struct kjoule_session_info *session = &mk->v->rec.meta.session;
	const struct kjoule_source_info *src = &session->sources[source];
	struct sharing *s = &mk->sharing;

	kjoule_hash_index_free(&s->by_package);
	memset(s, 0, sizeof(*s));
	for (uint32_t cpu = KJOULE_MAX_CPUS; cpu-- > 0;) {
		uint32_t package = kjoule_recording_package(&mk->v->rec, cpu);
		uint32_t with = kjoule_scope(src, cpu);

		if (!kjoule_cpus_has(&session->cpus, cpu))
			continue;
		if (!src->scopes) {
			with = sharing_package_number(s, package);
			if (with == KJOULE_MAX_CPUS) {
				with = s->n_packages++;
				s->packages[with] = package;
				if (kjoule_hash_index_add(&s->by_package,
						     kjoule_hash_text(package, ""), with))
					return -ENOMEM;
			}
		}
		if (with >= KJOULE_MAX_CPUS)
			continue;
		s->next[cpu] = s->head[with];
		s->head[with] = cpu + 1;
	}
	return 0;
}

/* The lowest CPU whose counters a series tells, and the next ones; -1: no more. */
static int sharing_next_cpu(const struct making *mk, const struct timeline_series *series, int cpu)
{
	const struct kjoule_session_info *session = &mk->v->rec.meta.session;
	const struct kjoule_source_info *src = &session->sources[series->source];
	const struct sharing *s = &mk->sharing;
	uint32_t with = series->scope;

	if (series->scope == TIMELINE_NO_SCOPE) {
		do {
			cpu = kjoule_cpus_next(&session->cpus, cpu + 1);
		} while (cpu >= 0 && src->scopes && kjoule_scope(src, cpu) == KJOULE_NO_SCOPE);
		return cpu;
	}
	if (cpu >= 0)
		return s->next[cpu] - 1;
	if (!src->scopes)
		with = sharing_package_number(s,
					      kjoule_recording_package(&mk->v->rec, series->scope));
	return with < KJOULE_MAX_CPUS ? s->head[with] - 1 : -1;
}

static bool energy_series_overlaps(const struct making *mk, const struct timeline_series *s,
				   const struct kjoule_cpus *covered)
{
	for (int cpu = sharing_next_cpu(mk, s, -1); cpu >= 0; cpu = sharing_next_cpu(mk, s, cpu))
		if (kjoule_cpus_has(covered, cpu))
			return true;
	return false;
}

static int energy_column_named(const struct energy_columns *m, const char *name)
{
	for (unsigned int d = 0; d < m->n; d++)
		if (!strcmp(m->info[d].name, name))
			return d;
	return -1;
}

/* Has this domain a column already, for other CPUs or for a source of the same meter? */
static int energy_column_find(const struct making *mk, const struct timeline_series *s,
			      const struct kjoule_domain_info *dom)
{
	const struct kjoule_source_info *sources = mk->v->rec.meta.session.sources;

	for (unsigned int d = 0; d < mk->m->n; d++) {
		const struct kjoule_source_info *first = &sources[mk->m->source[d]];
		bool same = mk->m->source[d] == s->source && mk->m->info[d].index == s->domain;
		bool alike = mk->m->source[d] != s->source && first->meter[0] &&
			     !strcmp(first->meter, sources[s->source].meter) &&
			     !strcmp(mk->m->info[d].name, dom->name);

		if ((same || alike) && !energy_series_overlaps(mk, s, &mk->covered[d]))
			return d;
	}
	return -1;
}

/* Its number in the calibration, -1: the power of a tick is not known for it. */
static int energy_column_calibration(const struct view *v, uint32_t source, uint32_t domain)
{
	const struct kjoule_calibration *cal = &v->rec.cal;

	for (uint32_t d = 0; d < cal->n_domains; d++)
		if (cal->source[d] == source && cal->domain[d] == domain)
			return d;
	return -1;
}

/* Until all columns are there their info keeps the source's own index and parent. */
static int energy_column_new(struct making *mk, const struct timeline_series *s,
			     const struct kjoule_domain_info *dom)
{
	const struct kjoule_source_info *src = &mk->v->rec.meta.session.sources[s->source];
	struct energy_columns *m = mk->m;

	_Static_assert(KJOULE_MAX_DOMAINS <= 16, "left_out has a bit for each");
	if (m->n == PROFILE_DOMAINS) {
		m->left_out[s->source] |= 1u << dom->index;
		return -1;
	}
	m->info[m->n] = *dom;
	if (energy_column_named(m, dom->name) >= 0)
		snprintf(m->info[m->n].name, sizeof(m->info[0].name), "%.40s %.20s", src->name,
			 dom->name);
	m->source[m->n] = s->source;
	m->power[m->n] = dom->quantity == KJOULE_QUANTITY_POWER;
	m->calibrated[m->n] = energy_column_calibration(mk->v, s->source, dom->index);
	return m->n++;
}

/*
 * Which counters have the recorder's energy? It is mostly on one CPU. If that has no samples, those
 * of its package, unless there are several.
 */
static void energy_find_recorder(struct making *mk)
{
	const struct kjoule_recording *rec = &mk->v->rec;
	const struct kjoule_cpus *all = &rec->meta.session.cpus;
	uint32_t cpu, package;

	if (rec->meta.session.target == KJOULE_TARGET_SYSTEM || !rec->n_wakeups)
		return;
	cpu = rec->wakeups[0].cpu;
	package = kjoule_recording_package(rec, cpu);
	if (kjoule_cpus_has(all, cpu))
		kjoule_cpus_add(&mk->recorder, cpu);
	else
		for (int c = kjoule_cpus_next(all, 0); c >= 0; c = kjoule_cpus_next(all, c + 1))
			if (kjoule_recording_package(rec, c) == package)
				kjoule_cpus_add(&mk->recorder, c);
	mk->n_recorder = kjoule_cpus_count(&mk->recorder);
}

/*
 * The streams of the series' CPUs, and of the recorder; blocks_streams.c puts that after the CPUs'.
 */
static int energy_package_streams(const struct making *mk, uint32_t **streams, size_t *n)
{
	unsigned int recorder = 0;

	*streams = calloc(mk->n_cpus + 2, sizeof(**streams));
	*n = 0;
	if (!*streams)
		return -ENOMEM;
	for (size_t i = 0; i < mk->n_cpus; i++) {
		if (mk->stream[mk->cpus[i]])
			(*streams)[(*n)++] = mk->stream[mk->cpus[i]] - 1;
		recorder += kjoule_cpus_has(&mk->recorder, mk->cpus[i]);
	}
	if (recorder && recorder == mk->n_recorder)
		(*streams)[(*n)++] = mk->v->tl.n_cpus;
	return 0;
}

/*
 * A package of these streams without this column. Return: its number, or that of a new one
 */
static size_t energy_package_find_free(struct making *mk, const uint32_t *streams, size_t n,
				       unsigned int column)
{
	const struct energy_columns *m = mk->m;
	size_t *from = &mk->without_stream[column], probe = 0;
	const struct profile_package *p;
	uint64_t hash;
	uint32_t i;

	if (!n) {
		for (; *from < m->n_packages; ++*from) {
			p = &m->packages[*from];
			if (!p->n_streams && !p->readings[column])
				break;
		}
		return *from;
	}
	hash = kjoule_hash_text(streams[0], "");
	while ((i = kjoule_hash_index_next(&mk->by_stream, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE) {
		p = &m->packages[i];
		if (p->n_streams == n && !memcmp(p->streams, streams, n * sizeof(*streams)) &&
		    !p->readings[column])
			return i;
	}
	return m->n_packages;
}

static int energy_package_find_or_add(struct making *mk, unsigned int column,
				      struct profile_package **out)
{
	struct energy_columns *m = mk->m;
	uint32_t *streams;
	size_t n, i;
	int ret = energy_package_streams(mk, &streams, &n);

	if (ret)
		return ret;
	i = energy_package_find_free(mk, streams, n, column);
	if (i < m->n_packages) {
		free(streams);
		*out = &m->packages[i];
		return 0;
	}
	*out = kjoule_array_grow(&m->packages, &m->n_packages, sizeof(**out));
	if (*out && n)
		ret = kjoule_hash_index_add(&mk->by_stream, kjoule_hash_text(streams[0], ""), i);
	if (!*out || ret) {
		m->n_packages = i;
		free(streams);
		return -ENOMEM;
	}
	(*out)->streams = streams;
	(*out)->n_streams = n;
	return 0;
}

static int energy_package_add_readings(const struct timeline_series *s, struct profile_package *p,
				       unsigned int column, double period_ns)
{
	struct cpm_reading *r = calloc(s->n + 1, sizeof(*r));
	double *uj = calloc(s->n + 1, sizeof(*uj));
	int ret = r && uj ? 0 : -ENOMEM;

	if (ret) {
		free(r);
	} else {
		energy_columns_uj(s, uj);
		for (size_t i = 0; i < s->n; i++)
			r[i] = (struct cpm_reading){ s->readings[i].tick,
						     fmin(fmax(uj[i], 0), MOST_UJ) };
		p->readings[column] = r;
		p->n_readings[column] = s->n;
		p->periods_ns[column] = period_ns;
	}
	free(uj);
	return ret;
}

static int energy_columns_add_series(struct making *mk, const struct timeline_series *s)
{
	const struct kjoule_source_info *src = &mk->v->rec.meta.session.sources[s->source];
	const struct kjoule_domain_info *dom = energy_domain_of(src, s->domain);
	struct profile_package *p = NULL;
	int column, ret;

	if (!dom || (s->quantity != KJOULE_QUANTITY_ENERGY && s->quantity != KJOULE_QUANTITY_POWER))
		return 0;
	column = energy_column_find(mk, s, dom);
	if (column < 0)
		column = energy_column_new(mk, s, dom);
	if (column < 0)
		return 0;
	mk->n_cpus = 0;
	for (int cpu = sharing_next_cpu(mk, s, -1); cpu >= 0; cpu = sharing_next_cpu(mk, s, cpu)) {
		kjoule_cpus_add(&mk->covered[column], cpu);
		mk->cpus[mk->n_cpus++] = cpu;
	}
	ret = energy_package_find_or_add(mk, column, &p);
	return ret ? ret : energy_package_add_readings(s, p, column, dom->update_period_ns);
}

/* A domain without a reading has a column all the same: it says that nothing is known. */
static void energy_columns_add_unread(struct making *mk, uint32_t source)
{
	const struct kjoule_source_info *src = &mk->v->rec.meta.session.sources[source];

	for (uint32_t d = 0; d < src->n_domains; d++) {
		struct timeline_series s = { .source = source, .domain = src->domains[d].index };
		bool there = false;

		if (src->domains[d].quantity != KJOULE_QUANTITY_ENERGY &&
		    src->domains[d].quantity != KJOULE_QUANTITY_POWER)
			continue;
		for (unsigned int c = 0; c < mk->m->n; c++) {
			const struct kjoule_source_info *of =
				&mk->v->rec.meta.session.sources[mk->m->source[c]];

			/* its own, or that of its meter */
			there |= of == src ? mk->m->info[c].index == s.domain :
				 src->meter[0] && !strcmp(of->meter, src->meter) &&
				 !strcmp(mk->m->info[c].name, src->domains[d].name);
		}
		for (size_t i = 0; i < mk->v->tl.n_series; i++)
			there |= mk->v->tl.series[i].source == source &&
				 mk->v->tl.series[i].domain == s.domain;
		if (!there)
			energy_column_new(mk, &s, &src->domains[d]);
	}
}

/* Index and parent become numbers of columns. */
static void energy_columns_number(const struct view *v, struct energy_columns *m)
{
	const struct kjoule_source_info *sources = v->rec.meta.session.sources;
	int parents[PROFILE_DOMAINS];

	for (unsigned int d = 0; d < m->n; d++) {
		const struct kjoule_source_info *src = &sources[m->source[d]];

		parents[d] = -1;
		for (unsigned int p = 0; p < m->n; p++)
			if ((m->source[p] == m->source[d] && m->info[d].parent >= 0 &&
			     m->info[p].index == (uint32_t)m->info[d].parent) ||
			    (src->inside[0] && !strcmp(sources[m->source[p]].name, src->inside)))
				parents[d] = p;
	}
	for (unsigned int d = 0; d < m->n; d++) {
		m->info[d].index = d;
		m->info[d].parent = parents[d];
	}
}

/* Columns in the order of the sources and their domains, whatever was read first. */
static int energy_columns_add_source(struct making *mk, uint32_t source)
{
	const struct kjoule_source_info *src = &mk->v->rec.meta.session.sources[source];
	int ret = sharing_find_cpus(mk, source);

	for (uint32_t d = 0; d < src->n_domains; d++)
		for (size_t i = 0; i < mk->v->tl.n_series && !ret; i++)
			if (mk->v->tl.series[i].source == source &&
			    mk->v->tl.series[i].domain == src->domains[d].index)
				ret = energy_columns_add_series(mk, &mk->v->tl.series[i]);
	energy_columns_add_unread(mk, source);
	return ret;
}

int energy_columns_new(const struct view *v, struct energy_columns *m)
{
	struct making *mk = calloc(1, sizeof(*mk));
	bool chosen[KJOULE_MAX_SOURCES];
	int ret = mk ? 0 : -ENOMEM;

	memset(m, 0, sizeof(*m));
	if (ret)
		return ret;
	mk->v = v;
	mk->m = m;
	for (size_t i = 0; i < v->tl.n_cpus; i++)
		if (v->tl.cpus[i].cpu < KJOULE_MAX_CPUS)
			mk->stream[v->tl.cpus[i].cpu] = i + 1;
	energy_find_recorder(mk);
	energy_columns_choose(v, v->source, chosen, NULL);
	for (uint32_t i = 0; i < v->rec.meta.session.n_sources && !ret; i++)
		if (chosen[i])
			ret = energy_columns_add_source(mk, i);
	kjoule_hash_index_free(&mk->sharing.by_package);
	kjoule_hash_index_free(&mk->by_stream);
	free(mk);
	energy_columns_number(v, m);
	/* vectors are made all the same, of everything */
	if (!ret && !m->n_packages &&
	    !kjoule_array_grow(&m->packages, &m->n_packages, sizeof(*m->packages)))
		ret = -ENOMEM;
	if (ret)
		energy_columns_free(m);
	return ret;
}

void energy_columns_release(struct view *v, const struct energy_columns *m)
{
	for (size_t i = 0; i < v->tl.n_series; i++) {
		struct timeline_series *s = &v->tl.series[i];
		bool column = false;

		for (unsigned int d = 0; d < m->n; d++)
			column |= m->source[d] == s->source;
		if (!column ||
		    (s->quantity != KJOULE_QUANTITY_ENERGY && s->quantity != KJOULE_QUANTITY_POWER))
			continue;
		free(s->readings);
		s->readings = NULL;
		s->n = 0;
	}
}

void energy_columns_free(struct energy_columns *m)
{
	for (size_t i = 0; i < m->n_packages; i++) {
		free((void *)m->packages[i].streams);
		for (unsigned int d = 0; d < PROFILE_DOMAINS; d++)
			free((void *)m->packages[i].readings[d]);
	}
	free(m->packages);
	memset(m, 0, sizeof(*m));
}
