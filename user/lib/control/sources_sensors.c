// SPDX-License-Identifier: GPL-2.0-or-later
/* Sensors in sysfs: hwmon, thermal zones, power supplies; see sources_scan.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/control/sources_scan.h"

/* "hwmon:NAME/VALUE", with the device's number where another one has that name. */
static void hwmon_set_name(struct kjoule_scan *s, struct kjoule_found *f, const char *chip,
			   const char *value, const char *entry)
{
	char name[KJOULE_NAME_LEN];

	snprintf(name, sizeof(name), "hwmon:%.30s/%.20s", chip, value);
	if (kjoule_scan_find(s, name))
		snprintf(name, sizeof(name), "hwmon:%.30s@%.6s/%.16s", chip,
			 entry + strcspn(entry, "0123456789"), value);
	kjoule_scan_set_name(f, name);
}

/*
 * Sensors that are known to measure the processor, each a package. Any chip may call a value of its
 * own "pkg" or "power1", above all a graphics card: others may measure anything.
 */
static void hwmon_classify(struct kjoule_scan *s, struct kjoule_found *f, const char *chip,
			   const char *value, const char *label)
{
	char zone[KJOULE_NAME_LEN], rest;
	unsigned int package;

	if (!strcmp(chip, "amd_energy") && sscanf(label, "Esocket%u%c", &package, &rest) == 1) {
		snprintf(zone, sizeof(zone), "package-%u", package);
		kjoule_scan_cpus(s, f, zone);
		/* its other counters are of a core each */
		snprintf(f->info.meter, sizeof(f->info.meter), "hwmon:%.50s", chip);
	} else if (strcmp(chip, "fam15h_power") || strcmp(value, "power1")) {
		return;
	}
	kjoule_scan_set_class(f, KJOULE_DOMAIN_PACKAGE);
	snprintf(f->info.domains[0].name, sizeof(f->info.domains[0].name), "package");
}

static int hwmon_add_value(struct kjoule_scan *s, const char *folder, const char *entry,
			   const char *file)
{
	char chip[KJOULE_NAME_LEN], label[KJOULE_NAME_LEN], value[32], path[64];
	size_t digits = strcspn(file, "0123456789");
	const char *suffix = file + digits + strspn(file + digits, "0123456789");
	struct kjoule_found *f;
	uint32_t quantity;
	int32_t rating = 0;

	if (!strncmp(file, "energy", digits) && digits == 6) {
		quantity = KJOULE_QUANTITY_ENERGY;
		rating = KJOULE_RATING_HWMON_ENERGY;
	} else if (!strncmp(file, "power", digits) && digits == 5) {
		quantity = KJOULE_QUANTITY_POWER;
		rating = KJOULE_RATING_HWMON_POWER;
	} else if (!strncmp(file, "temp", digits) && digits == 4) {
		quantity = KJOULE_QUANTITY_TEMPERATURE;
	} else {
		return 0;
	}
	if (suffix == file + digits || suffix - file >= (ptrdiff_t)sizeof(value))
		return 0;
	snprintf(value, sizeof(value), "%.*s", (int)(suffix - file), file);
	if (strcmp(suffix, "_input")) {
		/* an average only if there is nothing else */
		snprintf(path, sizeof(path), "%s_input", value);
		if (strcmp(suffix, "_average") || quantity != KJOULE_QUANTITY_POWER ||
		    kjoule_scan_read(folder, path, label, sizeof(label)) != -ENOENT)
			return 0;
	}
	if (kjoule_scan_read(folder, "name", chip, sizeof(chip)) <= 0)
		snprintf(chip, sizeof(chip), "%.60s", entry);
	snprintf(path, sizeof(path), "%s_label", value);
	if (kjoule_scan_read(folder, path, label, sizeof(label)) <= 0)
		snprintf(label, sizeof(label), "%s", value);
	f = kjoule_scan_add(s, quantity, rating, label);
	if (!f)
		return -ENOMEM;
	hwmon_set_name(s, f, chip, value, entry);
	if (quantity != KJOULE_QUANTITY_TEMPERATURE)
		hwmon_classify(s, f, chip, value, label);
	snprintf(f->path, sizeof(f->path), "%.200s/%.50s", folder, file);
	kjoule_scan_try(f);
	return 0;
}

int kjoule_scan_hwmon(struct kjoule_scan *s, const char *entry)
{
	struct dirent **files;
	char folder[300];
	int n, ret = 0;

	snprintf(folder, sizeof(folder), "%s/class/hwmon/%s", s->sysfs, entry);
	n = scandir(folder, &files, kjoule_scan_no_dots, versionsort);
	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = hwmon_add_value(s, folder, entry, files[i]->d_name);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	return ret;
}

int kjoule_scan_thermal(struct kjoule_scan *s, const char *entry)
{
	char folder[300], type[KJOULE_NAME_LEN], name[KJOULE_NAME_LEN];
	struct kjoule_found *f;

	snprintf(folder, sizeof(folder), "%s/class/thermal/%s", s->sysfs, entry);
	if (strncmp(entry, "thermal_zone", 12))
		return 0;
	if (kjoule_scan_read(folder, "type", type, sizeof(type)) <= 0)
		snprintf(type, sizeof(type), "%.60s", entry);
	f = kjoule_scan_add(s, KJOULE_QUANTITY_TEMPERATURE, 0, type);
	if (!f)
		return -ENOMEM;
	snprintf(name, sizeof(name), "thermal:%.50s", entry);
	kjoule_scan_set_name(f, name);
	snprintf(f->path, sizeof(f->path), "%.250s/temp", folder);
	kjoule_scan_try(f);
	return 0;
}

/* The kernel reads it by its name; this only checks that it can. */
int kjoule_scan_supply(struct kjoule_scan *s, const char *entry)
{
	char folder[300], text[KJOULE_NAME_LEN], name[KJOULE_NAME_LEN];
	struct kjoule_found *f = kjoule_scan_add(s, KJOULE_QUANTITY_POWER, KJOULE_RATING_SUPPLY,
						 "supply");
	bool power, product;

	if (!f)
		return -ENOMEM;
	snprintf(folder, sizeof(folder), "%s/class/power_supply/%s", s->sysfs, entry);
	snprintf(name, sizeof(name), "supply:%.50s", entry);
	kjoule_scan_set_name(f, name);
	/* by this name the kernel looks for it */
	snprintf(f->spec.name, sizeof(f->spec.name), "%.60s", entry);
	f->info.origin = f->spec.origin = KJOULE_ORIGIN_POWER_SUPPLY;
	kjoule_scan_set_class(f, KJOULE_DOMAIN_PSYS);
	power = kjoule_scan_number(folder, "power_now", INT64_MIN) != INT64_MIN;
	product = kjoule_scan_number(folder, "voltage_now", INT64_MIN) != INT64_MIN &&
		  kjoule_scan_number(folder, "current_now", INT64_MIN) != INT64_MIN;
	f->info.available = false;
	kjoule_scan_read(folder, "scope", text, sizeof(text));
	if (!strcmp(text, "Device"))
		snprintf(f->info.reason, sizeof(f->info.reason), "it feeds a device, not the machine");
	else if (!power && !product)
		snprintf(f->info.reason, sizeof(f->info.reason), "it has neither power nor current and voltage");
	else if (kjoule_scan_read(folder, "status", text, sizeof(text)) > 0 &&
		 strcmp(text, "Discharging"))
		snprintf(f->info.reason, sizeof(f->info.reason),
			 "it is not discharging (%.40s): it does not measure what the machine draws",
			 text);
	else
		f->info.available = true;
	return 0;
}
