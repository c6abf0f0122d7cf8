// SPDX-License-Identifier: GPL-2.0-or-later
/* See frequency.h. The state file for a killed process is in frequency_state.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/machine/frequency_state.h"

/* Latency of drivers that do not know it (CPUFREQ_ETERNAL). */
#define ETERNAL		UINT32_MAX

/* A limit may be read back rounded to the hardware's steps: by at most this. */
#define ROUNDED		0.03

/* Steps of drivers without a list: those of most processors. */
#define STEP_KHZ	100000

/* Limits are read back so often, with this delay, until they are the requested ones. */
#define TAKEN_LOOKS	50
#define TAKEN_WAIT_NS	2000000

static int policy_path(const char *sysfs, unsigned int policy, const char *name, char *path,
		       size_t len)
{
	int n = snprintf(path, len, "%s/devices/system/cpu/cpufreq/policy%u/%s", sysfs,
			 policy, name);

	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

/* One line. Return: 0 or -errno */
static int policy_read_text(const char *sysfs, unsigned int policy, const char *name, char *text,
			    size_t len)
{
	char path[FREQUENCY_PATH];
	int ret = policy_path(sysfs, policy, name, path, sizeof(path));
	ssize_t n;
	int fd;

	if (ret)
		return ret;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, len - 1);
	ret = n < 0 ? -errno : 0;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return ret;
}

int kjoule_frequency_read(const char *sysfs, unsigned int policy, const char *name, uint32_t *khz)
{
	char text[64], *end;
	unsigned long v;
	int ret = policy_read_text(sysfs, policy, name, text, sizeof(text));

	if (ret)
		return ret;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end || v > UINT32_MAX)
		return -EINVAL;
	*khz = v;
	return 0;
}

int kjoule_frequency_write(const char *sysfs, unsigned int policy, const char *name, uint32_t khz)
{
	char path[FREQUENCY_PATH], text[16];
	int ret = policy_path(sysfs, policy, name, path, sizeof(path)), fd;

	if (ret)
		return ret;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, snprintf(text, sizeof(text), "%u", khz)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* A limit that would cross the other one is refused, or ignored until that has moved. */
int kjoule_frequency_limits(const char *sysfs, unsigned int policy, uint32_t min_khz,
			    uint32_t max_khz)
{
	int first = kjoule_frequency_write(sysfs, policy, "scaling_max_freq", max_khz);
	int ret = kjoule_frequency_write(sysfs, policy, "scaling_min_freq", min_khz);

	if (first)
		first = kjoule_frequency_write(sysfs, policy, "scaling_max_freq", max_khz);
	return first ? first : ret;
}

static int khz_by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int policy_by_number(const void *a, const void *b)
{
	const struct kjoule_policy *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* The numbers of a list up to the current maximum: boost may be off. */
static int policy_add_available(struct kjoule_policy *p, const char *text)
{
	const char *at = text;
	char *end;

	for (;; at = end) {
		unsigned long v = strtoul(at, &end, 10);
		uint32_t *slot;

		if (end == at)
			return 0;
		if (!v || v > p->hardware_max_khz)
			continue;
		slot = kjoule_array_grow(&p->available, &p->n_available, sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		*slot = v;
	}
}

static int policy_read(const char *sysfs, unsigned int number, struct kjoule_policy *p)
{
	char text[4096];
	int ret;

	memset(p, 0, sizeof(*p));
	p->number = number;
	ret = kjoule_frequency_read(sysfs, number, "cpuinfo_min_freq", &p->hardware_min_khz);
	if (!ret)
		ret = kjoule_frequency_read(sysfs, number, "cpuinfo_max_freq",
					    &p->hardware_max_khz);
	if (!ret)
		ret = kjoule_frequency_read(sysfs, number, "scaling_min_freq", &p->min_khz);
	if (!ret)
		ret = kjoule_frequency_read(sysfs, number, "scaling_max_freq", &p->max_khz);
	if (ret)
		return ret;
	/* what follows may be missing */
	if (!policy_read_text(sysfs, number, "affected_cpus", text, sizeof(text))) {
		for (char *c = text; *c; c++)
			*c = *c == ' ' ? ',' : *c;
		if (kjoule_cpus_parse(text, &p->cpus))
			memset(&p->cpus, 0, sizeof(p->cpus));
	}
	policy_read_text(sysfs, number, "scaling_driver", p->driver, sizeof(p->driver));
	policy_read_text(sysfs, number, "scaling_governor", p->governor, sizeof(p->governor));
	if (!policy_read_text(sysfs, number, "cpuinfo_transition_latency", text, sizeof(text)))
		p->latency_ns = strtoull(text, NULL, 10);
	if (p->latency_ns >= ETERNAL)
		p->latency_ns = 0;
	if (!policy_read_text(sysfs, number, "scaling_available_frequencies", text, sizeof(text)))
		ret = policy_add_available(p, text);
	if (!ret && p->n_available && !policy_read_text(sysfs, number, "scaling_boost_frequencies",
							text, sizeof(text)))
		ret = policy_add_available(p, text);
	if (p->n_available)
		qsort(p->available, p->n_available, sizeof(*p->available), khz_by_size);
	return ret;
}

/* Policies with only offline CPUs cannot be read and are left out. */
static int policies_scan(struct kjoule_frequency *f)
{
	char path[FREQUENCY_PATH];
	struct dirent *e;
	DIR *dir;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpufreq", f->sysfs);
	dir = opendir(path);
	while (dir && !ret && (e = readdir(dir))) {
		struct kjoule_policy p, *slot;
		unsigned int number;
		int n = 0;

		if (sscanf(e->d_name, "policy%u%n", &number, &n) != 1 || e->d_name[n])
			continue;
		ret = policy_read(f->sysfs, number, &p);
		if (ret) {
			free(p.available);
			ret = ret == -ENOMEM ? ret : 0;
			continue;
		}
		slot = kjoule_array_grow(&f->policies, &f->n, sizeof(*slot));
		if (slot)
			*slot = p;
		else
			free(p.available);
		ret = slot ? 0 : -ENOMEM;
	}
	if (dir)
		closedir(dir);
	if (f->n)
		qsort(f->policies, f->n, sizeof(*f->policies), policy_by_number);
	return ret;
}

int kjoule_frequency_open(const char *sysfs, const char *state, struct kjoule_frequency **out,
			  struct kjoule_error *err)
{
	struct kjoule_frequency *f = calloc(1, sizeof(*f));
	int ret;

	*out = NULL;
	if (!f)
		return kjoule_fail(err, ENOMEM, "no memory");
	f->fd = -1;
	f->sysfs = strdup(sysfs);
	f->state = strdup(state);
	ret = f->sysfs && f->state ? policies_scan(f) : -ENOMEM;
	if (!ret && f->n) {
		*out = f;
		return 0;
	}
	kjoule_frequency_close(f);
	return ret ? kjoule_fail(err, -ret, "no memory") :
	       kjoule_fail(err, ENODEV, "%s/devices/system/cpu/cpufreq has no policy: this machine's kernel has no cpufreq driver for it, as in most virtual machines; measure where it has one, or sweep --threads alone",
			   sysfs);
}

void kjoule_frequency_close(struct kjoule_frequency *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free(f->policies[i].available);
	kjoule_frequency_forget(f);
	free(f->policies);
	free(f->sysfs);
	free(f->state);
	free(f);
}

const struct kjoule_policy *kjoule_frequency_policies(const struct kjoule_frequency *f, size_t *n)
{
	*n = f->n;
	return f->policies;
}

uint64_t kjoule_frequency_latency_ns(const struct kjoule_frequency *f)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (!f->policies[i].latency_ns)
			return 0;
		if (f->policies[i].latency_ns > longest)
			longest = f->policies[i].latency_ns;
	}
	return longest;
}

static bool policy_has_khz(const struct kjoule_policy *p, uint32_t khz)
{
	if (khz < p->hardware_min_khz || khz > p->hardware_max_khz)
		return false;
	for (size_t i = 0; i < p->n_available; i++)
		if (p->available[i] == khz)
			return true;
	return !p->n_available;
}

static bool policies_have_khz(const struct kjoule_frequency *f, uint32_t khz)
{
	for (size_t i = 0; i < f->n; i++)
		if (!policy_has_khz(&f->policies[i], khz))
			return false;
	return true;
}

int kjoule_frequency_list(const struct kjoule_frequency *f, uint32_t **list, size_t *n)
{
	uint32_t low = 0, high = UINT32_MAX, *slot;
	const struct kjoule_policy *table = NULL;

	*list = NULL;
	*n = 0;
	for (size_t i = 0; i < f->n; i++) {
		const struct kjoule_policy *p = &f->policies[i];

		if (p->n_available)
			table = p;
		low = p->hardware_min_khz > low ? p->hardware_min_khz : low;
		high = p->hardware_max_khz < high ? p->hardware_max_khz : high;
	}
	for (size_t i = 0; i < (table ? table->n_available : KJOULE_FREQUENCY_STEPS) && low <= high;
	     i++) {
		uint32_t khz = table ? table->available[i] :
			       low + (uint64_t)(high - low) * i / (KJOULE_FREQUENCY_STEPS - 1);

		if (!table && i && i + 1 < KJOULE_FREQUENCY_STEPS)
			khz = (khz + STEP_KHZ / 2) / STEP_KHZ * STEP_KHZ;
		if (!policies_have_khz(f, khz) || (*n && (*list)[*n - 1] >= khz))
			continue;
		slot = kjoule_array_grow(list, n, sizeof(*slot));
		if (!slot) {
			free(*list);
			return -ENOMEM;
		}
		*slot = khz;
	}
	return *n ? 0 : -ENOENT;
}

int kjoule_frequency_check(const struct kjoule_frequency *f, uint32_t khz, struct kjoule_error *err)
{
	char cpus[200], list[300] = "";
	size_t at = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct kjoule_policy *p = &f->policies[i];

		if (policy_has_khz(p, khz))
			continue;
		kjoule_cpus_format(&p->cpus, cpus, sizeof(cpus));
		if (khz < p->hardware_min_khz || khz > p->hardware_max_khz)
			return kjoule_fail(err, ERANGE, "%.6g MHz is out of range: CPUs %s can be clocked at %.6g to %.6g MHz",
					   khz / 1e3, cpus, p->hardware_min_khz / 1e3,
					   p->hardware_max_khz / 1e3);
		for (size_t k = 0; k < p->n_available && at < sizeof(list); k++)
			at += snprintf(list + at, sizeof(list) - at, "%s%.6g", k ? ", " : "",
				       p->available[k] / 1e3);
		return kjoule_fail(err, ERANGE,
				   "%.6g MHz is none of the frequencies of CPUs %s: %s MHz",
				   khz / 1e3, cpus, list);
	}
	return 0;
}

static bool khz_is_near(uint32_t a, uint32_t b)
{
	return a >= b * (1 - ROUNDED) && a <= b * (1 + ROUNDED);
}

/* Limits take effect in a worker of the kernel's, on a CPU that may be ours: wait. */
static int policy_read_limits(const struct kjoule_frequency *f, const struct kjoule_policy *p,
			      uint32_t khz, uint32_t *min_khz, uint32_t *max_khz)
{
	const struct timespec wait = { .tv_nsec = TAKEN_WAIT_NS };
	int ret = 0;

	for (int i = 0; i < TAKEN_LOOKS; i++) {
		ret = kjoule_frequency_read(f->sysfs, p->number, "scaling_min_freq", min_khz);
		if (!ret)
			ret = kjoule_frequency_read(f->sysfs, p->number,
						    "scaling_max_freq", max_khz);
		if (ret || (khz_is_near(*min_khz, khz) && khz_is_near(*max_khz, khz)))
			break;
		nanosleep(&wait, NULL);
	}
	return ret;
}

static int policy_hold(struct kjoule_frequency *f, size_t i, uint32_t khz, struct kjoule_error *err)
{
	struct frequency_kept *k = &f->saved->kept[i];
	const struct kjoule_policy *p = &f->policies[i];
	uint32_t min_khz, max_khz;
	int ret;

	/* a recovery must know our limits before they are set */
	kjoule_frequency_note(k, khz);
	ret = kjoule_frequency_limits(f->sysfs, p->number, khz, khz);
	if (ret == -EACCES || ret == -EPERM)
		return kjoule_fail(err, -ret, "holding policy%u at %.6g MHz: %s; run it with sudo",
				   p->number, khz / 1e3, strerror(-ret));
	if (ret)
		return kjoule_fail(err, -ret, "holding policy%u at %.6g MHz: %s", p->number,
				   khz / 1e3, strerror(-ret));
	ret = policy_read_limits(f, p, khz, &min_khz, &max_khz);
	if (ret)
		return kjoule_fail(err, -ret, "reading the limits of policy%u: %s", p->number,
				   strerror(-ret));
	kjoule_frequency_note(k, min_khz);
	kjoule_frequency_note(k, max_khz);
	if (!khz_is_near(min_khz, khz) || !khz_is_near(max_khz, khz))
		return kjoule_fail(err, ERANGE, "policy%u was asked for %.6g MHz and took limits of %.6g to %.6g MHz: firmware, heat or another program limits it",
				   p->number, khz / 1e3, min_khz / 1e3, max_khz / 1e3);
	return 0;
}

int kjoule_frequency_hold(struct kjoule_frequency *f, uint32_t khz, struct kjoule_error *err)
{
	int ret = kjoule_frequency_keep(f, err);

	for (size_t i = 0; i < f->n && !ret; i++)
		ret = policy_hold(f, i, khz, err);
	return ret;
}

int kjoule_frequency_hold_one(struct kjoule_frequency *f, unsigned int policy, uint32_t khz,
			      struct kjoule_error *err)
{
	int ret = kjoule_frequency_keep(f, err);

	for (size_t i = 0; i < f->n && !ret; i++)
		if (f->policies[i].number == policy)
			return policy_hold(f, i, khz, err);
	return ret ? ret : kjoule_fail(err, ENOENT, "there is no policy%u", policy);
}

int kjoule_frequency_set(struct kjoule_frequency *f, unsigned int policy, uint32_t khz)
{
	return kjoule_frequency_limits(f->sysfs, policy, khz, khz);
}
