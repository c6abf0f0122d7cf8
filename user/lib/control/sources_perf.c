// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of perf PMUs as sources: from the names and terms in sysfs to the type and config that
 * open a counter. Part of sources.h.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/control/sources.h"

/* An event while its terms are combined. */
struct event {
	const char *pmu;
	char folder[200];		/* of the PMU */
	uint64_t config;
	char name[KJOULE_NAME_LEN];	/* of the named event, empty: only terms were given */
	struct kjoule_error *err;
};

/* Put @value into the bits of a format such as "config:0-7,32-35", lowest first. */
static int event_put_bits(struct event *e, const char *term, const char *format, uint64_t value)
{
	const char *at = format + 7;

	if (strncmp(format, "config:", 7))
		return kjoule_fail(e->err, EINVAL, "perf:%s/: the term %s goes into %.*s; only config can be handed over",
				   e->pmu, term, (int)strcspn(format, ":"), format);
	while (*at) {
		char *end;
		unsigned long low = strtoul(at, &end, 10), high = low;

		if (end == at)
			break;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (high > 63 || low > high)
			break;
		for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
			e->config = (e->config & ~(1ull << bit)) | (value & 1) << bit;
		at = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			break;
	}
	if (*at)
		return kjoule_fail(e->err, EINVAL, "perf:%s/: the format of the term %s is not understood: %s",
				   e->pmu, term, format);
	if (value)
		return kjoule_fail(e->err, EINVAL,
				   "perf:%s/: the value of the term %s is too large", e->pmu, term);
	return 0;
}

static int event_put_terms(struct event *e, const char *terms, bool named);

/* "event=0x02", "inv", or the name of an event, which stands for such terms. */
static int event_put_term(struct event *e, const char *term, size_t len, bool named)
{
	char name[KJOULE_NAME_LEN], path[400], text[256], *end = NULL;
	const char *equals = memchr(term, '=', len);
	size_t name_len = equals ? (size_t)(equals - term) : len;
	uint64_t value = 1;

	if (!name_len || name_len >= sizeof(name))
		return kjoule_fail(e->err, EINVAL, "perf:%s/: %.*s is no term", e->pmu,
				   (int)len, term);
	memcpy(name, term, name_len);
	name[name_len] = '\0';
	if (equals) {
		snprintf(text, sizeof(text), "%.*s", (int)(len - name_len - 1), equals + 1);
		errno = 0;
		value = strtoull(text, &end, 0);
		if (end == text || *end || errno || text[0] == '-')
			return kjoule_fail(e->err, EINVAL, "perf:%s/: %.*s: %s is no number",
					   e->pmu, (int)len, term, text);
		if (!strcmp(name, "config")) {
			e->config = value;
			return 0;
		}
	} else if (named && !strchr(name, '.') && !strchr(name, '/')) {
		snprintf(path, sizeof(path), "%s/events/%s", e->folder, name);
		if (kjoule_sources_read(path, text, sizeof(text)) > 0) {
			strcpy(e->name, name);
			return event_put_terms(e, text, false);
		}
	}
	snprintf(path, sizeof(path), "%s/format/%s", e->folder, name);
	if (strchr(name, '/') || kjoule_sources_read(path, text, sizeof(text)) <= 0)
		return kjoule_fail(e->err, EINVAL, "perf:%s/: no event and no term %s; see %s/events and format",
				   e->pmu, name, e->folder);
	return event_put_bits(e, name, text, value);
}

static int event_put_terms(struct event *e, const char *terms, bool named)
{
	int ret = *terms ? 0 : kjoule_fail(e->err, EINVAL, "perf:%s/: no event is named", e->pmu);

	while (*terms && !ret) {
		size_t len = strcspn(terms, ",");

		ret = event_put_term(e, terms, len, named);
		terms += len + !!terms[len];
	}
	return ret;
}

/* A factor as mult / 2^shift, as exact as a double has it. */
static void factor_to_fraction(double factor, uint64_t *mult, uint32_t *shift)
{
	int exponent;
	double mantissa = frexp(factor, &exponent);	/* 0.5 to 1 */
	uint64_t m = ldexp(mantissa, 53);

	exponent -= 53;
	while (m && !(m & 1)) {
		m >>= 1;
		exponent++;
	}
	for (; exponent > 0 && !(m >> 62); exponent--)
		m <<= 1;
	for (; exponent < -63; exponent++)
		m >>= 1;
	*mult = m ? m : 1;
	*shift = exponent < 0 ? -exponent : 0;
}

/* The unit of an event's count, by ".unit" and ".scale". */
static void event_read_unit(const struct event *e, struct kjoule_found *f)
{
	struct kjoule_domain_info *dom = &f->info.domains[0];
	char path[400], text[64];
	double scale = 1;

	snprintf(path, sizeof(path), "%s/events/%s.scale", e->folder, e->name);
	if (e->name[0] && kjoule_sources_read(path, text, sizeof(text)) > 0)
		scale = strtod(text, NULL);
	snprintf(path, sizeof(path), "%s/events/%s.unit", e->folder, e->name);
	dom->quantity = KJOULE_QUANTITY_COUNT;
	if (e->name[0] && kjoule_sources_read(path, text, sizeof(text)) > 0 &&
	    !strcmp(text, "Joules")) {
		dom->quantity = KJOULE_QUANTITY_ENERGY;
		scale *= 1e6;
	}
	if (!(scale > 0) || !isfinite(scale))
		scale = 1;
	factor_to_fraction(scale, &dom->unit_mult, &dom->unit_shift);
	f->spec.quantity = dom->quantity;
	f->spec.unit_mult = dom->unit_mult;
	f->spec.unit_shift = dom->unit_shift;
}

/* The kernel's RAPL PMU's names, and ours. */
static const struct {
	const char *event, *name, *inside;	/* @inside with the slash after it */
	uint32_t class;
} known[] = {
	{ "energy-pkg", "package", "energy-psys/", KJOULE_DOMAIN_PACKAGE },
	{ "energy-cores", "core", "energy-pkg/", KJOULE_DOMAIN_CORE },
	{ "energy-gpu", "uncore", "energy-pkg/", KJOULE_DOMAIN_UNCORE },
	{ "energy-ram", "dram", "energy-psys/", KJOULE_DOMAIN_DRAM },
	{ "energy-psys", "psys", NULL, KJOULE_DOMAIN_PSYS },
};

static void event_name_domain(const struct event *e, struct kjoule_found *f)
{
	struct kjoule_domain_info *dom = &f->info.domains[0];

	snprintf(dom->name, sizeof(dom->name), "%s", e->name[0] ? e->name : "count");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(e->name, known[i].event) || dom->quantity != KJOULE_QUANTITY_ENERGY)
			continue;
		snprintf(dom->name, sizeof(dom->name), "%s", known[i].name);
		dom->class = f->spec.class = known[i].class;
	}
}

int kjoule_sources_perf(const char *sysfs, const char *name, struct kjoule_found *f,
			struct kjoule_error *err)
{
	const char *slash = strncmp(name, "perf:", 5) ? NULL : strchr(name, '/'), *end;
	char pmu[KJOULE_NAME_LEN], terms[256], path[300], text[32];
	struct event e = { .pmu = pmu, .err = err };
	int ret;

	memset(f, 0, sizeof(*f));
	end = slash ? strchr(slash + 1, '/') : NULL;
	if (!end || end[1] || slash - name - 5 >= (ptrdiff_t)sizeof(pmu) || slash == name + 5 ||
	    end - slash > (ptrdiff_t)sizeof(terms) || name[5] == '.')
		return kjoule_fail(err, EINVAL, "%s: expected perf:PMU/EVENT/, such as perf:power/energy-pkg/",
				   name);
	snprintf(pmu, sizeof(pmu), "%.*s", (int)(slash - name - 5), name + 5);
	snprintf(terms, sizeof(terms), "%.*s", (int)(end - slash - 1), slash + 1);
	snprintf(e.folder, sizeof(e.folder), "%.100s/bus/event_source/devices/%.64s", sysfs, pmu);
	snprintf(path, sizeof(path), "%s/type", e.folder);
	if (kjoule_sources_read(path, text, sizeof(text)) <= 0)
		return kjoule_fail(err, EINVAL, "%s: there is no PMU %s; see %.100s/bus/event_source/devices",
				   name, pmu, sysfs);
	f->spec.perf_type = strtoul(text, NULL, 10);
	ret = event_put_terms(&e, terms, true);
	if (ret)
		return ret;
	f->spec.perf_config = e.config;
	f->spec.origin = f->info.origin = KJOULE_ORIGIN_PERF_PMU;
	f->spec.fd = -1;
	snprintf(f->spec.name, sizeof(f->spec.name), "%.63s", name);
	snprintf(f->info.name, sizeof(f->info.name), "%.63s", name);
	snprintf(f->info.meter, sizeof(f->info.meter), "perf:%.50s", pmu);
	f->info.kind = KJOULE_KIND_ENERGY;
	f->info.available = true;
	f->info.n_domains = 1;
	f->info.domains[0].parent = -1;
	f->info.domains[0].width = 64;
	event_read_unit(&e, f);
	event_name_domain(&e, f);
	if (f->info.domains[0].quantity == KJOULE_QUANTITY_ENERGY)
		f->info.rating = KJOULE_RATING_PERF;
	return 0;
}

static int entry_is_energy(const struct dirent *d)
{
	return !strncmp(d->d_name, "energy-", 7) && !strchr(d->d_name, '.');
}

static int entry_is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Which of a PMU's events includes which other one. */
static void events_nest(struct kjoule_found *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *inside = NULL;

		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (list[i].spec.class && list[i].spec.class == known[k].class)
				inside = known[k].inside;
		for (size_t j = 0; inside && j < n; j++)
			if (!strcmp(strchr(list[j].info.name, '/') + 1, inside))
				strcpy(list[i].info.inside, list[j].info.name);
	}
}

static int pmu_add_events(const char *sysfs, const char *pmu, struct kjoule_found **list, size_t *n)
{
	struct kjoule_found *one = malloc(sizeof(*one)), *f;
	struct dirent **events = NULL;
	char folder[300], name[300];
	size_t first = *n;
	int count, ret = one ? 0 : -ENOMEM;

	snprintf(folder, sizeof(folder), "%.100s/bus/event_source/devices/%.64s/events",
		 sysfs, pmu);
	count = scandir(folder, &events, entry_is_energy, alphasort);
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "perf:%.64s/%.100s/", pmu, events[i]->d_name);
		free(events[i]);
		if (ret || kjoule_sources_perf(sysfs, name, one, NULL) ||
		    one->info.domains[0].quantity != KJOULE_QUANTITY_ENERGY)
			continue;
		f = kjoule_array_grow(list, n, sizeof(*f));
		if (f)
			*f = *one;
		else
			ret = -ENOMEM;
	}
	free(events);
	free(one);
	/* the package first: code is charged by it */
	for (size_t i = first + 1; i < *n; i++) {
		if ((*list)[i].spec.class != KJOULE_DOMAIN_PACKAGE)
			continue;
		one = malloc(sizeof(*one));
		if (!one)
			return -ENOMEM;
		*one = (*list)[i];
		memmove(*list + first + 1, *list + first, (i - first) * sizeof(**list));
		(*list)[first] = *one;
		free(one);
	}
	events_nest(*list + first, *n - first);
	return ret;
}

int kjoule_sources_add_perf(const char *sysfs, struct kjoule_found **list, size_t *n)
{
	struct dirent **pmus = NULL;
	char folder[300];
	int count, ret = 0;

	snprintf(folder, sizeof(folder), "%.200s/bus/event_source/devices", sysfs);
	count = scandir(folder, &pmus, entry_is_visible, versionsort);
	for (int i = 0; i < count; i++) {
		if (!ret)
			ret = pmu_add_events(sysfs, pmus[i]->d_name, list, n);
		free(pmus[i]);
	}
	free(pmus);
	return ret;
}
