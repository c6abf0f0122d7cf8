// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the searches of sysfs share; see sources_scan.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
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

static void source_set_reason(struct kjoule_found *f, int error)
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
		source_set_reason(f, -ret);
		return;
	}
	strtoll(text, &end, 10);
	if (end == text || *end) {
		f->info.available = false;
		snprintf(f->info.reason, sizeof(f->info.reason),
			 "its file holds no number: %.40s", text);
	}
}

struct kjoule_found *kjoule_scan_add(struct kjoule_scan *s, uint32_t quantity, int32_t rating,
				     const char *domain)
{
	struct kjoule_found *f = kjoule_array_grow(s->list, s->n, sizeof(*f));
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

void kjoule_scan_cpus(const struct kjoule_scan *s, struct kjoule_found *f, const char *zone)
{
	unsigned int package, die;
	bool has_die = sscanf(zone, "package-%u-die-%u", &package, &die) == 2;
	struct dirent *entry;
	char folder[300];
	DIR *cpus;

	if (!has_die && sscanf(zone, "package-%u", &package) != 1)
		return;
	snprintf(folder, sizeof(folder), "%s/devices/system/cpu", s->sysfs);
	cpus = opendir(folder);
	while (cpus && (entry = readdir(cpus))) {
		unsigned int cpu;
		int len = 0;

		if (sscanf(entry->d_name, "cpu%u%n", &cpu, &len) != 1 || entry->d_name[len] ||
		    cpu >= KJOULE_MAX_CPUS)
			continue;
		snprintf(folder, sizeof(folder), "%s/devices/system/cpu/cpu%u/topology",
			 s->sysfs, cpu);
		if (kjoule_scan_number(folder, "physical_package_id", -2) != package ||
		    (has_die && kjoule_scan_number(folder, "die_id", -2) != die))
			continue;
		if (kjoule_scope_set(&f->info, cpu, 0))
			break;
	}
	if (cpus)
		closedir(cpus);
}

struct kjoule_found *kjoule_scan_find(const struct kjoule_scan *s, const char *name)
{
	for (size_t i = 0; i < *s->n; i++)
		if (!strcmp((*s->list)[i].info.name, name))
			return &(*s->list)[i];
	return NULL;
}
