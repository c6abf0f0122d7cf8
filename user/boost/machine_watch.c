// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See machine_watch.h. Ticks are counted into slices as they come; energies, temperatures and work
 * are points in time, between which slices are cut when they are asked for.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "boost/machine_watch.h"
#include "cli/cmd.h"
#include "lib/base/array.h"
#include "lib/base/cpus.h"
#include "lib/base/error.h"
#include "lib/base/now.h"
#include "lib/base/search.h"
#include "lib/control/control.h"
#include "lib/control/ring.h"
#include "lib/control/sources.h"
#include "machine/session_sources.h"

#define DRAIN_BYTES	(1u << 17)

/* Of a temperature, which changes slowly. */
#define TEMPERATURE_MS	100

/* What was seen at the ticks of a slice. */
struct ticks {
	double khz;
	uint32_t n_khz, busy, mine;
};

/* Of one CPU. */
struct cpu_ticks {
	float khz;			/* sum */
	uint8_t n;
};

/* A total at a moment, or a value. */
struct point {
	uint64_t ns;
	double v;
};

struct points {
	struct point *p;
	size_t n;
};

/* What the records of a CPU's ring go on from. */
struct ring_state {
	uint64_t tick;
	bool mine;
};

/* A counter of energy that is part of the package's power. */
struct counter {
	uint32_t source, domain, scope;
	double uj;
	/* of one that tells power: the last reading, and when that was */
	double w;
	uint64_t ns;
};

/* What a counter said. */
struct energy {
	uint64_t ns;
	struct counter said;
};

struct boost_watch {
	struct kjoule_ctl *ctl;
	struct kjoule_device *dev;
	struct session_sources *sources;
	struct kjoule_session_info session;
	struct kjoule_cpus cpus;
	uint64_t slice_ns, lost;
	uint8_t *buf;
	struct ring_state *streams;			/* by ring */
	bool per_cpu;
	struct cpu_ticks *cpu_ticks;		/* by slice and ring */
	struct ticks *ticks;			/* by slice */
	size_t n_ticks, room_ticks;
	bool (*mine)(pid_t tgid, const void *arg);	/* NULL: our own threads */
	const void *mine_arg;
	struct counter *counters;
	size_t n_counters;
	/* that have come since the last look, ring by ring */
	struct energy *energies;
	size_t n_energies;
	struct points energy, temperature, work;
	struct counter *meters;			/* that tell power */
	size_t n_meters;
	const char *power, *frequency, *warmth, *requested;
	uint32_t power_source, power_class, warmth_source, warmth_domain;
	struct boost_slice *slices;
	size_t room_slices;
	bool made;
};

static int watch_add_point(struct points *p, uint64_t ns, double v)
{
	struct point *one = kjoule_array_grow(&p->p, &p->n, sizeof(*one));

	if (!one)
		return -ENOMEM;
	/* those of several CPUs come in turn */
	if (p->n > 1 && ns < one[-1].ns)
		ns = one[-1].ns;
	*one = (struct point){ ns, v };
	return 0;
}

/* The slice of a tick, made if it has to be. */
static struct ticks *watch_find_slice(struct boost_watch *w, uint64_t tick)
{
	size_t i = tick / BOOST_WATCH_TICKS;

	if (i >= w->room_ticks) {
		size_t room = w->room_ticks ? w->room_ticks : 1024;
		struct ticks *more;

		while (room <= i)
			room *= 2;
		more = realloc(w->ticks, room * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + w->room_ticks, 0, (room - w->room_ticks) * sizeof(*more));
		w->ticks = more;
		if (w->per_cpu) {
			size_t rings = kjoule_device_rings(w->dev);
			struct cpu_ticks *each =
				realloc(w->cpu_ticks, room * rings * sizeof(*each));

			if (!each)
				return NULL;
			memset(each + w->room_ticks * rings, 0,
			       (room - w->room_ticks) * rings * sizeof(*each));
			w->cpu_ticks = each;
		}
		w->room_ticks = room;
	}
	if (i >= w->n_ticks)
		w->n_ticks = i + 1;
	return &w->ticks[i];
}

static uint64_t watch_widen_tick(struct ring_state *l, uint32_t tick)
{
	l->tick += (int32_t)(tick - (uint32_t)l->tick);
	return l->tick;
}

static int watch_count_sample(struct boost_watch *w, struct ring_state *l,
			      const struct kjoule_sample *s)
{
	struct ticks *t = watch_find_slice(w, watch_widen_tick(l, s->tick));
	struct cpu_ticks *one;

	if (!t)
		return -ENOMEM;
	if (s->rec.flags & KJOULE_SAMPLE_IDLE)
		return 0;
	t->busy++;
	t->mine += l->mine;
	/* what was asked for is not what there was */
	if (!s->freq_khz || s->rec.flags & KJOULE_SAMPLE_FREQ_REQUESTED)
		return 0;
	t->khz += s->freq_khz;
	t->n_khz++;
	if (!w->per_cpu)
		return 0;
	one = &w->cpu_ticks[(t - w->ticks) * kjoule_device_rings(w->dev) + (l - w->streams)];
	one->khz += s->freq_khz;
	one->n++;
	return 0;
}

/* The one in a list, at its end if it is new. */
static struct counter *watch_find_counter(struct counter **list, size_t *n, uint32_t source,
					  uint32_t domain, uint32_t scope)
{
	struct counter *c;

	for (size_t i = 0; i < *n; i++)
		if ((*list)[i].source == source && (*list)[i].domain == domain &&
		    (*list)[i].scope == scope)
			return &(*list)[i];
	c = kjoule_array_grow(list, n, sizeof(*c));
	if (c)
		*c = (struct counter){ .source = source, .domain = domain, .scope = scope };
	return c;
}

static const struct kjoule_domain_info *watch_find_domain(const struct boost_watch *w,
							  uint32_t source, uint32_t index)
{
	const struct kjoule_source_info *src = source < w->session.n_sources ?
					       &w->session.sources[source] : NULL;

	for (uint32_t d = 0; src && d < src->n_domains; d++)
		if (src->domains[d].index == index)
			return &src->domains[d];
	return NULL;
}

/*
 * Is it a part of what the package's power is taken from? Packages, or whatever there is instead.
 */
static bool watch_domain_is_counted(const struct boost_watch *w, uint32_t source, uint32_t index,
				    uint32_t quantity)
{
	const struct kjoule_domain_info *d = watch_find_domain(w, source, index);
	const char *meter;

	if (!d || !w->power || d->quantity != quantity || d->class != w->power_class ||
	    d->parent >= 0)
		return false;
	/* packages may have a source each */
	meter = w->session.sources[w->power_source].meter;
	return source == w->power_source ||
	       (*meter && !strcmp(meter, w->session.sources[source].meter));
}

static int watch_add_energy(struct boost_watch *w, uint64_t ns, uint32_t source, uint32_t domain,
			    uint32_t scope, double uj)
{
	struct energy *e = kjoule_array_grow(&w->energies, &w->n_energies, sizeof(*e));

	if (!e)
		return -ENOMEM;
	*e = (struct energy){ ns,
			      { .source = source, .domain = domain, .scope = scope, .uj = uj } };
	return 0;
}

static int watch_energy_by_time(const void *a, const void *b)
{
	const struct energy *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* CPUs take turns in reading a counter: in the order of time they are its course. */
static int watch_sum_energies(struct boost_watch *w)
{
	int ret = 0;

	qsort(w->energies, w->n_energies, sizeof(*w->energies), watch_energy_by_time);
	for (size_t i = 0; i < w->n_energies && !ret; i++) {
		const struct counter *said = &w->energies[i].said;
		struct counter *c = watch_find_counter(&w->counters, &w->n_counters, said->source,
						       said->domain, said->scope);
		double sum = 0;

		if (!c)
			return -ENOMEM;
		/* one that came after the last look is late */
		c->uj = fmax(c->uj, said->uj);
		for (size_t k = 0; k < w->n_counters; k++)
			sum += w->counters[k].uj;
		ret = watch_add_point(&w->energy, w->energies[i].ns, sum * 1e-6);
	}
	w->n_energies = 0;
	return ret;
}

static int watch_count_energy(struct boost_watch *w, struct ring_state *l,
			      const struct kjoule_energy *e)
{
	uint64_t ns = w->session.t0_ns + watch_widen_tick(l, e->tick) * w->session.interval_ns +
		      e->delay_ns;
	unsigned int at = 0;
	int ret = 0;

	for (unsigned int d = 0; d < KJOULE_MAX_DOMAINS && !ret; d++) {
		if (!(e->domains & 1u << d))
			continue;
		if (watch_domain_is_counted(w, e->rec.flags, d, KJOULE_QUANTITY_ENERGY))
			ret = watch_add_energy(w, ns, e->rec.flags, d, e->scope, e->energy_uj[at]);
		at++;
	}
	return ret;
}

/* What is between two readings of a power has the mean of both. */
static int watch_count_power(struct boost_watch *w, const struct kjoule_value *v)
{
	struct counter *c = watch_find_counter(&w->meters, &w->n_meters, v->rec.flags, v->domain,
					       0);
	double watt = v->value * 1e-6;

	if (!c)
		return -ENOMEM;
	if (c->ns)
		c->uj += (v->time_ns - c->ns) * 1e-3 * (c->w + watt) / 2;
	c->ns = v->time_ns;
	c->w = watt;
	return watch_add_energy(w, v->time_ns, v->rec.flags, v->domain, 0, c->uj);
}

static int watch_count_value(struct boost_watch *w, const struct kjoule_value *v)
{
	if (w->warmth && v->rec.flags == w->warmth_source && v->domain == w->warmth_domain)
		return watch_add_point(&w->temperature, v->time_ns, v->value * 1e-3);
	if (watch_domain_is_counted(w, v->rec.flags, v->domain, KJOULE_QUANTITY_ENERGY))
		return watch_add_energy(w, v->time_ns, v->rec.flags, v->domain, 0, v->value);
	return watch_domain_is_counted(w, v->rec.flags, v->domain, KJOULE_QUANTITY_POWER) ?
	       watch_count_power(w, v) : 0;
}

static bool watch_task_is_mine(const struct boost_watch *w, pid_t tgid)
{
	return w->mine ? w->mine(tgid, w->mine_arg) : tgid == getpid();
}

static int watch_count_record(struct boost_watch *w, struct ring_state *l,
			      const struct kjoule_record *rec)
{
	switch (rec->type) {
	case KJOULE_RECORD_SAMPLE:
		return watch_count_sample(w, l, (const struct kjoule_sample *)rec);
	case KJOULE_RECORD_TASK:
		l->mine = watch_task_is_mine(w, ((const struct kjoule_task *)rec)->tgid);
		return 0;
	case KJOULE_RECORD_ENERGY:
		return watch_count_energy(w, l, (const struct kjoule_energy *)rec);
	case KJOULE_RECORD_VALUE:
		return watch_count_value(w, (const struct kjoule_value *)rec);
	case KJOULE_RECORD_LOST:
		w->lost += ((const struct kjoule_lost *)rec)->records;
		return 0;
	default:
		return 0;
	}
}

int boost_watch_drain(struct boost_watch *w, struct kjoule_error *err)
{
	bool again = true;
	int ret = 0;

	while (again && !ret) {
		again = false;
		for (unsigned int i = 0; i < kjoule_device_rings(w->dev) && !ret; i++) {
			size_t used, off = 0;
			const struct kjoule_record *rec;
			int more = kjoule_ring_drain(kjoule_device_ring(w->dev, i), w->buf,
						     DRAIN_BYTES, &used);

			again |= more > 0;
			while (!ret && kjoule_record_next(w->buf, used, &off, &rec) > 0)
				ret = watch_count_record(w, &w->streams[i], rec);
		}
	}
	ret = ret ? ret : watch_sum_energies(w);
	return ret ? kjoule_fail(err, -ret, "no memory for what was measured") : 0;
}

void boost_watch_mine(struct boost_watch *w, bool (*mine)(pid_t tgid, const void *arg),
		      const void *arg)
{
	w->mine = mine;
	w->mine_arg = arg;
}

double boost_watch_now(const struct boost_watch *w)
{
	return (double)(int64_t)(kjoule_now_ns() - w->session.t0_ns) * 1e-9;
}

uint64_t boost_watch_ns(const struct boost_watch *w, double seconds)
{
	return w->session.t0_ns + (int64_t)(seconds * 1e9);
}

int boost_watch_work(struct boost_watch *w, uint64_t passes)
{
	return watch_add_point(&w->work, kjoule_now_ns(), passes);
}

/* The last point at @ns or before it; 0 if there is none. */
static size_t watch_point_before(const struct points *p, uint64_t ns)
{
	size_t n = kjoule_count_members(p->p, p->n, ns, ns);

	return n ? n - 1 : 0;
}

/*
 * What a total was at @ns, between the points around it; NAN outside of them. @at: where to go on
 * from
 */
static double watch_total_at(const struct points *p, size_t *at, uint64_t ns)
{
	const struct point *a, *b;

	while (*at + 1 < p->n && p->p[*at + 1].ns <= ns)
		++*at;
	if (*at + 1 >= p->n || p->p[*at].ns > ns)
		return NAN;
	a = &p->p[*at];
	b = a + 1;
	return a->v + (b->v - a->v) * (ns - a->ns) / (b->ns - a->ns);
}

/* Slices from the one numbered @first on. */
static void watch_fill_totals(const struct boost_watch *w, const struct points *p, size_t offset,
			      size_t first, size_t n)
{
	uint64_t ns = w->session.t0_ns + first * w->slice_ns;
	size_t at = watch_point_before(p, ns);
	double before = watch_total_at(p, &at, ns);

	for (size_t i = 0; i < n; i++) {
		double after = watch_total_at(p, &at, ns + (i + 1) * w->slice_ns);

		*(double *)((char *)&w->slices[i] + offset) =
			(after - before) / (w->slice_ns * 1e-9);
		before = after;
	}
}

static void watch_fill_temperatures(const struct boost_watch *w, size_t first, size_t n)
{
	uint64_t ns = w->session.t0_ns + first * w->slice_ns + w->slice_ns / 2;
	size_t at = watch_point_before(&w->temperature, ns);

	for (size_t i = 0; i < n; i++)
		w->slices[i].celsius = watch_total_at(&w->temperature, &at, ns + i * w->slice_ns);
}

double boost_watch_slice_s(const struct boost_watch *w)
{
	return w->slice_ns * 1e-9;
}

int boost_watch_slices(struct boost_watch *w, double from_s, double to_s,
		       const struct boost_slice **slices, size_t *n)
{
	double now = boost_watch_now(w), slice_s = boost_watch_slice_s(w);
	/* the tick at its end may still be on its way */
	size_t all = now > 0 ? now / slice_s : 0;
	size_t first = from_s > 0 ? ceil(from_s / slice_s - 1e-6) : 0;

	all = all > 1 ? all - 1 : 0;
	if (to_s < all * slice_s)
		all = to_s > 0 ? ceil(to_s / slice_s - 1e-6) : 0;
	first = first < all ? first : all;
	*n = all - first;
	if (*n > w->room_slices) {
		struct boost_slice *more = realloc(w->slices, 2 * *n * sizeof(*more));

		if (!more)
			return -ENOMEM;
		w->slices = more;
		w->room_slices = 2 * *n;
	}
	for (size_t i = 0; i < *n; i++) {
		const struct ticks none = { 0 };
		const struct ticks *t = first + i < w->n_ticks ? &w->ticks[first + i] : &none;

		w->slices[i] = (struct boost_slice){
			.t_s = (first + i) * slice_s,
			.len_s = slice_s,
			.w = NAN,
			.khz = t->n_khz ? t->khz / t->n_khz : NAN,
			.busy = (double)t->busy / BOOST_WATCH_TICKS,
			.mine = (double)t->mine / BOOST_WATCH_TICKS,
		};
	}
	watch_fill_totals(w, &w->energy, offsetof(struct boost_slice, w), first, *n);
	watch_fill_totals(w, &w->work, offsetof(struct boost_slice, work), first, *n);
	watch_fill_temperatures(w, first, *n);
	*slices = w->slices;
	return 0;
}

double boost_watch_cpu_khz(const struct boost_watch *w, int cpu, double from_s, double to_s)
{
	size_t rings = kjoule_device_rings(w->dev), n = 0;
	double slice_s = boost_watch_slice_s(w), sum = 0;

	for (size_t r = 0; w->per_cpu && r < rings; r++) {
		if (kjoule_device_ring(w->dev, r)->cpu != (uint32_t)cpu)
			continue;
		for (size_t i = from_s > 0 ? ceil(from_s / slice_s - 1e-6) : 0;
		     i < w->n_ticks && (i + 1) * slice_s <= to_s + 1e-9; i++) {
			sum += w->cpu_ticks[i * rings + r].khz;
			n += w->cpu_ticks[i * rings + r].n;
		}
	}
	return n ? sum / n : NAN;
}

uint64_t boost_watch_lost(const struct boost_watch *w)
{
	uint64_t lost = w->lost;

	for (unsigned int i = 0; i < kjoule_device_rings(w->dev); i++)
		lost += kjoule_device_ring(w->dev, i)->damaged;
	return lost;
}

const struct kjoule_cpus *boost_watch_cpus(const struct boost_watch *w)
{
	return &w->cpus;
}

const char *boost_watch_power_source(const struct boost_watch *w)
{
	return w->power;
}

const char *boost_watch_frequency_source(const struct boost_watch *w)
{
	return w->frequency;
}

const char *boost_watch_requested_frequency(const struct boost_watch *w)
{
	return w->requested;
}

const char *boost_watch_temperature_source(const struct boost_watch *w)
{
	return w->warmth;
}

/*
 * Sensors that are known to be in the processor, the best first: where one is, how it is called
 * there.
 */
static const struct {
	const char *name, *label;
} thermometers[] = {
	{ "hwmon:coretemp/", "Package id 0" },
	{ "hwmon:k10temp/", "Tdie" },
	{ "hwmon:k10temp/", "Tctl" },
	{ "hwmon:zenpower/", "Tdie" },
	{ "hwmon:vchip/", "package" },
	{ "thermal:x86_pkg_temp", NULL },
	{ "thermal:cpu-thermal", NULL },
	{ "thermal:cpu_thermal", NULL },
};

/* Return: 0 with "" where there is none; -ENOMEM */
static int watch_find_thermometer(char *name, size_t len)
{
	struct kjoule_found *found;
	size_t n;
	int ret = kjoule_sources_scan(KJOULE_SYSFS, &found, &n);

	name[0] = '\0';
	for (size_t i = 0; !ret && !name[0] && i < sizeof(thermometers) / sizeof(thermometers[0]);
	     i++) {
		for (size_t k = 0; k < n && !name[0]; k++) {
			const struct kjoule_source_info *info = &found[k].info;

			if (info->available && !strncmp(info->name, thermometers[i].name,
							strlen(thermometers[i].name)) &&
			    info->domains[0].quantity == KJOULE_QUANTITY_TEMPERATURE &&
			    (!thermometers[i].label ||
			     !strcmp(info->domains[0].name, thermometers[i].label)))
				snprintf(name, len, "%s@%dms", info->name, TEMPERATURE_MS);
		}
	}
	if (!ret)
		kjoule_sources_free(found, n);
	return ret;
}

/* The default is not named where it is the only one. */
static int watch_name_default(struct boost_watch *w, const struct kjoule_session_params *like,
			      char *names, size_t len)
{
	struct kjoule_source_info *kernel;
	struct session_sources *s = NULL;
	struct kjoule_error err;
	size_t n, at = 0;
	int code = session_sources_open(NULL, w->ctl, like, &s);

	names[0] = '\0';
	for (size_t i = 0; !code && i < s->n; i++)
		at += snprintf(names + at, at < len ? len - at : 0, "%s%s", i ? "," : "",
			       s->info[i].name);
	if (!code && !s->n) {
		if (kjoule_sources(w->ctl, &kernel, &n, &err))
			code = cmd_failed("%s", err.text);
		for (size_t i = 0; !code && i < n; i++)
			if (kernel[i].kind == KJOULE_KIND_ENERGY && kernel[i].available &&
			    kernel[i].is_default)
				at = snprintf(names, len, "%s", kernel[i].name);
		if (!code)
			free(kernel);
	}
	session_sources_free(s);
	return code || at < len ? code : cmd_failed("names of energy sources are too long; name one (--source)");
}

static int watch_choose_sources(struct boost_watch *w, const struct boost_watch_options *opt,
				const struct kjoule_session_params *like)
{
	char energy[512], warmth[KJOULE_NAME_LEN + 16], both[sizeof(energy) + sizeof(warmth)];
	int code = 0;

	if (opt->temperature)
		snprintf(warmth, sizeof(warmth), "%s", opt->temperature);
	else if (watch_find_thermometer(warmth, sizeof(warmth)))
		return cmd_failed("no memory");
	if (opt->source)
		snprintf(energy, sizeof(energy), "%s", opt->source);
	else
		code = watch_name_default(w, like, energy, sizeof(energy));
	if (code)
		return code;
	snprintf(both, sizeof(both), "%s%s%s", energy, energy[0] && warmth[0] ? "," : "", warmth);
	return session_sources_open(both, w->ctl, like, &w->sources);
}

/*
 * Choose the session's sources of power, frequency and temperature. @temperature: as asked for,
 * with or without a period; NULL: any
 */
static void watch_name_sources(struct boost_watch *w, const char *temperature)
{
	size_t len = temperature ? strcspn(temperature, "@") : 0;
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < w->session.n_sources; i++) {
		const struct kjoule_source_info *src = &w->session.sources[i];

		if (src->kind == KJOULE_KIND_FREQUENCY && src->requested_only)
			w->requested = src->name;
		else if (src->kind == KJOULE_KIND_FREQUENCY)
			w->frequency = src->name;
		for (uint32_t d = 0; d < src->n_domains; d++) {
			const struct kjoule_domain_info *of = &src->domains[d];
			bool power = of->quantity == KJOULE_QUANTITY_ENERGY ||
				     of->quantity == KJOULE_QUANTITY_POWER;
			uint32_t rank = of->class == KJOULE_DOMAIN_PACKAGE ? 0 : 1;

			if (of->quantity == KJOULE_QUANTITY_TEMPERATURE && !w->warmth &&
			    (!temperature ||
			     (strlen(src->name) == len && !strncmp(src->name, temperature, len)))) {
				w->warmth = src->name;
				w->warmth_source = i;
				w->warmth_domain = of->index;
			}
			if (src->kind == KJOULE_KIND_FREQUENCY || !power || of->parent >= 0 ||
			    rank >= best)
				continue;
			best = rank;
			w->power = src->name;
			w->power_source = i;
			w->power_class = of->class;
		}
	}
}

static int watch_begin_session(struct boost_watch *w, const struct kjoule_session_params *params,
			       const char *temperature, struct kjoule_error *err)
{
	struct kjoule_session_info started;
	int ret = kjoule_session_new(w->ctl, params, &w->session, err);

	if (ret)
		return ret;
	w->made = true;
	session_sources_describe(w->sources, &w->session);
	watch_name_sources(w, temperature);
	ret = kjoule_device_attach(w->dev, w->session.id, err);
	if (!ret)
		ret = kjoule_session_start(w->ctl, w->session.id, &started, err);
	if (ret)
		return ret;
	w->session.t0_ns = started.t0_ns;
	kjoule_session_info_clear(&started);
	w->streams = calloc(kjoule_device_rings(w->dev), sizeof(*w->streams));
	w->buf = malloc(DRAIN_BYTES);
	return w->streams && w->buf ? 0 : kjoule_fail(err, ENOMEM, "no memory");
}

static int watch_open_session(const struct boost_watch_options *opt, struct boost_watch *w)
{
	struct kjoule_session_params params = { .target = KJOULE_TARGET_SYSTEM };
	struct kjoule_error err;
	int code;

	if (kjoule_device_open(&w->dev, &err) || kjoule_ctl_open(&w->ctl, &err))
		return cmd_failed("%s", err.text);
	if (kjoule_cpus_online(&w->cpus))
		return cmd_failed("asking for the CPUs that are online failed");
	w->per_cpu = opt->per_cpu;
	params.interval_ns = kjoule_interval_out_of_step(opt->slice_ns / BOOST_WATCH_TICKS,
							 kjoule_device_info(w->dev));
	w->slice_ns = params.interval_ns * BOOST_WATCH_TICKS;
	params.cpus = &w->cpus;
	params.ring_bytes = kjoule_device_info(w->dev)->min_ring_bytes;
	code = watch_choose_sources(w, opt, &params);
	if (code)
		return code;
	params.ring_bytes = 0;
	params.energy_source = w->sources->energy_source;
	params.frequency_source = w->sources->frequency_source;
	params.specs = w->sources->spec;
	params.n_specs = w->sources->n;
	return watch_begin_session(w, &params, opt->temperature, &err) ?
	       cmd_failed("%s", err.text) : 0;
}

int boost_watch_open(const struct boost_watch_options *opt, struct boost_watch **out)
{
	struct boost_watch *w = calloc(1, sizeof(*w));
	int code;

	*out = NULL;
	if (!w)
		return cmd_failed("no memory");
	code = watch_open_session(opt, w);
	if (code)
		boost_watch_close(w);
	else
		*out = w;
	return code;
}

void boost_watch_close(struct boost_watch *w)
{
	if (!w)
		return;
	if (w->made)
		kjoule_session_del(w->ctl, w->session.id, NULL);
	kjoule_session_info_clear(&w->session);
	session_sources_free(w->sources);
	kjoule_device_close(w->dev);
	kjoule_ctl_close(w->ctl);
	free(w->buf);
	free(w->streams);
	free(w->ticks);
	free(w->cpu_ticks);
	free(w->meters);
	free(w->counters);
	free(w->energies);
	free(w->energy.p);
	free(w->temperature.p);
	free(w->work.p);
	free(w->slices);
	free(w);
}
