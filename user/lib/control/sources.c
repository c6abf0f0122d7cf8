// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scans sysfs for values that a session can use as files; see sources.h. Events of PMUs are found
 * by sources_perf.c, sensors by sources_sensors.c. Called by list and record.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/control/names.h"
#include "lib/control/sources_scan.h"

/*
 * powercap
 */

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

static int zone_add(struct kjoule_scan *s, const char *entry)
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
	f = kjoule_scan_add(s, KJOULE_QUANTITY_ENERGY, KJOULE_RATING_POWERCAP,
			    class ? kjoule_class_name(class) : zone);
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
		snprintf(f->info.meter, sizeof(f->info.meter), "powercap-%.*s",
			 (int)type_len, entry);
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
 * The parent of a zone: the zone above it, which includes it; the machine if there is one. Zones
 * without CPUs of their own have their parent's.
 */
static int zones_nest(struct kjoule_scan *s, size_t first)
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
static void zones_mark_duplicates(struct kjoule_scan *s, size_t first)
{
	for (size_t i = first; i < *s->n; i++) {
		struct kjoule_found *f = &(*s->list)[i];
		char name[KJOULE_NAME_LEN];

		if (strcmp(f->info.meter, "powercap-mmio"))
			continue;
		snprintf(name, sizeof(name), "powercap:intel-rapl%s",
			 strchr(f->info.name + 9, ':'));
		if (kjoule_scan_find(s, name)) {
			strcpy(f->info.same_as, name);
			f->info.rating = KJOULE_RATING_DUPLICATE;
		}
	}
}

static int class_scan(struct kjoule_scan *s, const char *class,
		      int (*take)(struct kjoule_scan *, const char *))
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
		ret = class_scan(&s, "powercap", zone_add);
	if (!ret)
		ret = zones_nest(&s, zones);
	zones_mark_duplicates(&s, zones);
	if (!ret)
		ret = class_scan(&s, "hwmon", kjoule_scan_hwmon);
	if (!ret)
		ret = class_scan(&s, "power_supply", kjoule_scan_supply);
	if (!ret)
		ret = class_scan(&s, "thermal", kjoule_scan_thermal);
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

static bool source_is_power(const struct kjoule_source_info *info)
{
	return info->domains[0].quantity == KJOULE_QUANTITY_ENERGY ||
	       info->domains[0].quantity == KJOULE_QUANTITY_POWER;
}

bool kjoule_source_unclear(const struct kjoule_source_info *info)
{
	return info->origin == KJOULE_ORIGIN_VALUE_FILE && info->n_domains &&
	       source_is_power(info) && info->domains[0].class == KJOULE_DOMAIN_OTHER;
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

const struct kjoule_found *kjoule_sources_best(const struct kjoule_found *list, size_t n,
					       int32_t than)
{
	const struct kjoule_found *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct kjoule_source_info *info = &list[i].info;

		if (!info->available || info->rating <= than ||
		    (best && info->rating <= best->info.rating))
			continue;
		if (source_is_power(info) && !kjoule_source_unclear(info))
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
