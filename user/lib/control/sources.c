// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks through sysfs for values that a session can be given as a file; see
 * sources.h. Events of PMUs are found by sources_perf.c, sensors by sources_sensors.c.
 * Called by list and record.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/grow.h"
#include "lib/control/names.h"
#include "lib/control/sources_scan.h"

int kjoule_sources_read(const char *path, char *buf, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, buf, len - 1);
	ret = n < 0 ? -errno : 0;
	close(fd);
	if (ret)
		return ret;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return strlen(buf);
}

int kjoule_scan_read(const char *folder, const char *name, char *buf, size_t len)
{
	char path[512];

	buf[0] = '\0';
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return -ENAMETOOLONG;
	return kjoule_sources_read(path, buf, len);
}

int64_t kjoule_scan_number(const char *folder, const char *name, int64_t otherwise)
{
	char text[64], *end;
	int64_t v;

	if (kjoule_scan_read(folder, name, text, sizeof(text)) <= 0)
		return otherwise;
	v = strtoll(text, &end, 10);
	return end == text || *end ? otherwise : v;
}

int kjoule_scan_no_dots(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void set_reason(struct kjoule_found *f, int error)
{
	f->info.available = false;
	if (error == EACCES || error == EPERM)
		snprintf(f->info.reason, sizeof(f->info.reason),
			 "may not be read; run it with sudo");
	else
		snprintf(f->info.reason, sizeof(f->info.reason), "reading it: %s", strerror(error));
}

void kjoule_scan_try(struct kjoule_found *f)
{
	char text[64], *end;
	int ret = kjoule_sources_read(f->path, text, sizeof(text));

	f->info.available = true;
	if (ret < 0) {
		set_reason(f, -ret);
		return;
	}
	strtoll(text, &end, 10);
	if (end == text || *end) {
		f->info.available = false;
		snprintf(f->info.reason, sizeof(f->info.reason), "its file holds no number: %.40s", text);
	}
}

struct kjoule_found *kjoule_scan_add(struct kjoule_scan *s, uint32_t quantity, int32_t rating, const char *domain)
{
	struct kjoule_found *f = kjoule_grow(s->list, s->n, sizeof(*f));
	struct kjoule_domain_info *dom;

	if (!f)
		return NULL;
	f->info.kind = quantity == KJOULE_QUANTITY_ENERGY ? KJOULE_KIND_ENERGY : KJOULE_KIND_GAUGE;
	f->info.origin = KJOULE_ORIGIN_VALUE_FILE;
	f->info.rating = rating;
	f->info.n_domains = 1;
	dom = &f->info.domains[0];
	snprintf(dom->name, sizeof(dom->name), "%s", domain);
	dom->parent = -1;
	dom->quantity = quantity;
	dom->unit_mult = 1;
	dom->width = 64;
	f->spec.origin = KJOULE_ORIGIN_VALUE_FILE;
	f->spec.quantity = quantity;
	f->spec.unit_mult = 1;
	f->spec.fd = -1;
	return f;
}

void kjoule_scan_set_name(struct kjoule_found *f, const char *name)
{
	snprintf(f->info.name, sizeof(f->info.name), "%s", name);
	snprintf(f->spec.name, sizeof(f->spec.name), "%s", name);
}

void kjoule_scan_set_class(struct kjoule_found *f, uint32_t class)
{
	f->info.domains[0].class = class;
	f->spec.class = class;
}

/*
 * powercap
 */

void kjoule_scan_cpus(const struct kjoule_scan *s, struct kjoule_found *f, const char *zone)
{
	unsigned int package, die;
	bool has_die = sscanf(zone, "package-%u-die-%u", &package, &die) == 2;
	char folder[300];

	if (!has_die && sscanf(zone, "package-%u", &package) != 1)
		return;
	for (unsigned int cpu = 0; cpu < KJOULE_MAX_CPUS; cpu++) {
		snprintf(folder, sizeof(folder), "%s/devices/system/cpu/cpu%u/topology", s->sysfs, cpu);
		if (kjoule_scan_number(folder, "physical_package_id", -2) != package ||
		    (has_die && kjoule_scan_number(folder, "die_id", -2) != die)) {
			/* CPUs are numbered without large gaps; most numbers are of none */
			if (cpu >= 1024 && access(folder, F_OK))
				break;
			continue;
		}
		if (kjoule_scope_set(&f->info, cpu, 0))
			return;
	}
}

static uint32_t zone_class(const char *zone)
{
	static const struct {
		const char *name;
		uint32_t class;
	} names[] = {
		{ "package", KJOULE_DOMAIN_PACKAGE }, { "core", KJOULE_DOMAIN_CORE },
		{ "uncore", KJOULE_DOMAIN_UNCORE }, { "dram", KJOULE_DOMAIN_DRAM },
		{ "psys", KJOULE_DOMAIN_PSYS },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i].name);

		if (!strncmp(zone, names[i].name, len) && (!zone[len] || zone[len] == '-'))
			return names[i].class;
	}
	return KJOULE_DOMAIN_OTHER;
}

struct kjoule_found *kjoule_scan_find(const struct kjoule_scan *s, const char *name)
{
	for (size_t i = 0; i < *s->n; i++)
		if (!strcmp((*s->list)[i].info.name, name))
			return &(*s->list)[i];
	return NULL;
}

static int add_zone(struct kjoule_scan *s, const char *entry)
{
	size_t type_len = strcspn(entry, ":");
	char folder[300], zone[KJOULE_NAME_LEN], name[KJOULE_NAME_LEN];
	struct kjoule_found *f;
	uint32_t class;
	int64_t range;

	snprintf(folder, sizeof(folder), "%s/class/powercap/%s", s->sysfs, entry);
	if (!entry[type_len] || faccessat(AT_FDCWD, folder, F_OK, 0))
		return 0;
	if (kjoule_scan_read(folder, "name", zone, sizeof(zone)) <= 0)
		snprintf(zone, sizeof(zone), "%.60s", entry);
	class = zone_class(zone);
	f = kjoule_scan_add(s, KJOULE_QUANTITY_ENERGY, KJOULE_RATING_POWERCAP, class ? kjoule_class_name(class) : zone);
	if (!f)
		return -ENOMEM;
	snprintf(f->path, sizeof(f->path), "%.240s/energy_uj", folder);
	if (access(f->path, F_OK)) {
		--*s->n;	/* a zone without a counter */
		return 0;
	}
	snprintf(name, sizeof(name), "powercap:%.50s", entry);
	kjoule_scan_set_name(f, name);
	kjoule_scan_set_class(f, class);
	if (!strncmp(entry, "intel-rapl", type_len))
		snprintf(f->info.meter, sizeof(f->info.meter), "powercap");
	else if (!strncmp(entry, "intel-rapl-", 11))
		snprintf(f->info.meter, sizeof(f->info.meter), "powercap-%.*s", (int)type_len - 11,
			 entry + 11);
	else
		snprintf(f->info.meter, sizeof(f->info.meter), "powercap-%.*s", (int)type_len, entry);
	range = kjoule_scan_number(folder, "max_energy_range_uj", 0);
	f->info.domains[0].range = f->spec.range = range > 0 ? range : 0;
	kjoule_scan_cpus(s, f, zone);
	kjoule_scan_try(f);
	if (f->info.available && !kjoule_scan_number(folder, "energy_uj", 1)) {
		f->info.available = false;
		snprintf(f->info.reason, sizeof(f->info.reason), "the counter stands at 0");
	}
	return 0;
}

/*
 * What a zone lies in: the zone above it, whose counter has it; the machine where there is one.
 * Zones that do not name their CPUs have those of the one that they are listed below.
 */
static int nest_zones(struct kjoule_scan *s, size_t first)
{
	const struct kjoule_found *psys = NULL;
	int ret = 0;

	for (size_t i = first; i < *s->n; i++)
		if ((*s->list)[i].spec.class == KJOULE_DOMAIN_PSYS)
			psys = &(*s->list)[i];
	/* a zone comes after the one above it */
	for (size_t i = first; i < *s->n && !ret; i++) {
		struct kjoule_found *f = &(*s->list)[i];
		const struct kjoule_found *below;
		char above[KJOULE_NAME_LEN];
		char *colon;

		snprintf(above, sizeof(above), "%s", f->info.name);
		colon = strrchr(above, ':');
		*colon = '\0';
		below = kjoule_scan_find(s, above);
		if (below && !f->info.scopes)
			ret = kjoule_scopes_copy(&f->info, &below->info);
		/* memory is listed below its package, but not counted with it */
		if (f->spec.class != KJOULE_DOMAIN_DRAM && below)
			strcpy(f->info.inside, above);
		else if (psys && psys != f && !strcmp(psys->info.meter, f->info.meter))
			strcpy(f->info.inside, psys->info.name);
	}
	return ret;
}

/* The same registers by way of memory: the same zones once more. */
static void mark_duplicates(struct kjoule_scan *s, size_t first)
{
	for (size_t i = first; i < *s->n; i++) {
		struct kjoule_found *f = &(*s->list)[i];
		char name[KJOULE_NAME_LEN];

		if (strcmp(f->info.meter, "powercap-mmio"))
			continue;
		snprintf(name, sizeof(name), "powercap:intel-rapl%s", strchr(f->info.name + 9, ':'));
		if (kjoule_scan_find(s, name)) {
			strcpy(f->info.same_as, name);
			f->info.rating = KJOULE_RATING_DUPLICATE;
		}
	}
}

static int scan_class(struct kjoule_scan *s, const char *class, int (*take)(struct kjoule_scan *, const char *))
{
	struct dirent **entries;
	char folder[300];
	int n, ret = 0;

	snprintf(folder, sizeof(folder), "%s/class/%s", s->sysfs, class);
	n = scandir(folder, &entries, kjoule_scan_no_dots, versionsort);
	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = take(s, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return ret;
}

int kjoule_sources_scan(const char *sysfs, struct kjoule_found **list, size_t *n)
{
	struct kjoule_scan s = { .sysfs = sysfs, .list = list, .n = n };
	size_t zones;
	int ret;

	*list = NULL;
	*n = 0;
	ret = kjoule_sources_add_perf(sysfs, list, n);
	zones = *n;
	if (!ret)
		ret = scan_class(&s, "powercap", add_zone);
	if (!ret)
		ret = nest_zones(&s, zones);
	mark_duplicates(&s, zones);
	if (!ret)
		ret = scan_class(&s, "hwmon", kjoule_scan_hwmon);
	if (!ret)
		ret = scan_class(&s, "power_supply", kjoule_scan_supply);
	if (!ret)
		ret = scan_class(&s, "thermal", kjoule_scan_thermal);
	if (ret) {
		kjoule_sources_free(*list, *n);
		*list = NULL;
		*n = 0;
	}
	return ret;
}

void kjoule_sources_free(struct kjoule_found *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i].info.scopes);
	free(list);
}

static bool is_power(const struct kjoule_source_info *info)
{
	return info->domains[0].quantity == KJOULE_QUANTITY_ENERGY ||
	       info->domains[0].quantity == KJOULE_QUANTITY_POWER;
}

bool kjoule_source_unclear(const struct kjoule_source_info *info)
{
	return info->origin == KJOULE_ORIGIN_VALUE_FILE && info->n_domains && is_power(info) &&
	       info->domains[0].class == KJOULE_DOMAIN_OTHER;
}

size_t kjoule_sources_unclear(const struct kjoule_found *list, size_t n, char *buf, size_t len)
{
	size_t found = 0, at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct kjoule_source_info *info = &list[i].info;

		if (!info->available || !kjoule_source_unclear(info))
			continue;
		found++;
		if (at < len)
			at += snprintf(buf + at, len - at, "%s%s (%s)", at ? ", " : "", info->name,
				       info->domains[0].name);
	}
	return found;
}

const struct kjoule_found *kjoule_sources_best(const struct kjoule_found *list, size_t n, int32_t than)
{
	const struct kjoule_found *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct kjoule_source_info *info = &list[i].info;

		if (!info->available || info->rating <= than || (best && info->rating <= best->info.rating))
			continue;
		if (is_power(info) && !kjoule_source_unclear(info))
			best = &list[i];
	}
	return best;
}

bool kjoule_sources_goes_with(const struct kjoule_found *f, const struct kjoule_found *with)
{
	return f->info.available &&
	       (!strcmp(f->info.name, with->info.name) ||
		(f->info.meter[0] && !strcmp(f->info.meter, with->info.meter) &&
		 f->info.domains[0].quantity == with->info.domains[0].quantity));
}

size_t kjoule_source_name_len(const char *names)
{
	const char *slash = !strncmp(names, "perf:", 5) ? strchr(names, '/') : NULL;

	if (slash && strchr(slash + 1, '/')) {
		slash = strchr(slash + 1, '/') + 1;
		return slash - names + (*slash == '@' ? strcspn(slash, ",") : 0);
	}
	return strcspn(names, ",");
}
