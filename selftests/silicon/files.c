// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel's own frameworks tell about energy, power and frequency of this machine:
 * powercap zones, hwmon sensors, perf's power PMU, power supplies, cpufreq policies. Needs
 * no module; part of silicon_summary, see summary.h.
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "summary.h"

/* The first line of a file, "" if there is none; whether it could be read. */
bool file_read(const char *path, char *text, int size)
{
	FILE *f = fopen(path, "r");
	bool got = f && fgets(text, size, f);

	if (f)
		fclose(f);
	if (got)
		text[strcspn(text, "\n")] = '\0';
	else
		text[0] = '\0';
	return got;
}

/* @path with another last part. */
static bool read_beside(const char *path, const char *name, char *text, int size)
{
	const char *end = strrchr(path, '/');
	char beside[300];

	snprintf(beside, sizeof(beside), "%.*s/%s", (int)(end - path), path, name);
	return file_read(beside, text, size);
}

static struct file *add(struct summary *s, const char *kind, const char *path, const char *name)
{
	struct file *f = &s->file[s->n_files];

	if (s->n_files == MAX_FILES)
		return NULL;
	s->n_files++;
	f->kind = kind;
	snprintf(f->path, sizeof(f->path), "%s", path);
	snprintf(f->name, sizeof(f->name), "%s", name);
	return f;
}

static void for_each(struct summary *s, const char *pattern,
		     void (*visit)(struct summary *s, const char *path))
{
	glob_t found;
	size_t i;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		visit(s, found.gl_pathv[i]);
	globfree(&found);
}

static void see_zone(struct summary *s, const char *path)
{
	char name[64], range[32], energy[32];
	struct file *f;

	read_beside(path, "name", name, sizeof(name));
	read_beside(path, "max_energy_range_uj", range, sizeof(range));
	f = add(s, "powercap", path, name);
	if (!f)
		return;
	if (file_read(path, energy, sizeof(energy)))
		snprintf(f->value, sizeof(f->value), "%s uJ of %s", energy, range);
	else
		snprintf(f->value, sizeof(f->value), "cannot be read: run as root");
}

static void see_sensor(struct summary *s, const char *path)
{
	char chip[32], label[32], beside[64], value[32];
	const char *base = strrchr(path, '/') + 1;
	struct file *f;
	char name[64];

	snprintf(beside, sizeof(beside), "%.*s_label", (int)strcspn(base, "_"), base);
	read_beside(path, "name", chip, sizeof(chip));
	read_beside(path, beside, label, sizeof(label));
	snprintf(name, sizeof(name), "%s%s%s", chip, label[0] ? " " : "", label);
	f = add(s, "hwmon", path, name);
	if (!f)
		return;
	if (file_read(path, value, sizeof(value)))
		snprintf(f->value, sizeof(f->value), "%s %s", value, base[0] == 'e' ? "uJ" : "uW");
	else
		snprintf(f->value, sizeof(f->value), "cannot be read");
}

static void see_event(struct summary *s, const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	char config[64], scale[32], unit[32], beside[96];
	struct file *f;

	if (strchr(base, '.'))	/* .unit and .scale */
		return;
	file_read(path, config, sizeof(config));
	snprintf(beside, sizeof(beside), "%.64s.scale", base);
	read_beside(path, beside, scale, sizeof(scale));
	snprintf(beside, sizeof(beside), "%.64s.unit", base);
	read_beside(path, beside, unit, sizeof(unit));
	f = add(s, "perf_pmu", path, base);
	if (f)
		snprintf(f->value, sizeof(f->value), "%s, one count is %s %s", config, scale, unit);
}

static void see_supply(struct summary *s, const char *path)
{
	static const char *const values[] =
		{ "power_now", "current_now", "voltage_now", "energy_now", "charge_now" };
	char dir[160], type[32], text[32];
	struct file *f;
	unsigned int i;
	size_t at;

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	file_read(path, type, sizeof(type));
	f = add(s, "power_supply", dir, strrchr(dir, '/') + 1);
	if (!f)
		return;
	at = snprintf(f->value, sizeof(f->value), "%s", type);
	for (i = 0; i < sizeof(values) / sizeof(values[0]) && at < sizeof(f->value); i++) {
		if (read_beside(path, values[i], text, sizeof(text)))
			at += snprintf(f->value + at, sizeof(f->value) - at, ", %s %s", values[i],
				       text);
	}
}

static void see_policy(struct summary *s, const char *path)
{
	char driver[32], governor[32], low[24], high[24], cpus[48], dir[160];
	struct file *f;

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	file_read(path, driver, sizeof(driver));
	read_beside(path, "scaling_governor", governor, sizeof(governor));
	read_beside(path, "scaling_min_freq", low, sizeof(low));
	read_beside(path, "scaling_max_freq", high, sizeof(high));
	read_beside(path, "affected_cpus", cpus, sizeof(cpus));
	f = add(s, "cpufreq", dir, strrchr(dir, '/') + 1);
	if (f)
		snprintf(f->value, sizeof(f->value), "%s, governor %s, %s to %s kHz, CPUs %.40s", driver, governor, low, high, cpus);
	if (!s->cpufreq_driver[0])
		snprintf(s->cpufreq_driver, sizeof(s->cpufreq_driver), "%s", driver);
}

static void see_machine(struct summary *s)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	struct utsname u;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		snprintf(s->model, sizeof(s->model), "%.90s", value + (value[1] == ' ' ? 2 : 1));
		break;
	}
	if (f)
		fclose(f);
	if (!uname(&u))
		snprintf(s->kernel, sizeof(s->kernel), "%.60s %.30s", u.release, u.machine);
	file_read("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  s->clocksource, sizeof(s->clocksource));
	file_read("/sys/kernel/security/lockdown", s->lockdown, sizeof(s->lockdown));
}

void files_list(struct summary *s)
{
	see_machine(s);
	for_each(s, "/sys/class/powercap/*/energy_uj", see_zone);
	for_each(s, "/sys/class/hwmon/hwmon*/energy[0-9]*_input", see_sensor);
	for_each(s, "/sys/class/hwmon/hwmon*/power[0-9]*_input", see_sensor);
	for_each(s, "/sys/class/hwmon/hwmon*/power[0-9]*_average", see_sensor);
	for_each(s, "/sys/bus/event_source/devices/power*/events/*", see_event);
	for_each(s, "/sys/class/power_supply/*/type", see_supply);
	for_each(s, "/sys/devices/system/cpu/cpufreq/policy*/scaling_driver", see_policy);
}

/* The first of a kind, from a place in the list on; NULL if there is none. */
const struct file *file_of(const struct summary *s, const char *kind, unsigned int from)
{
	for (; from < s->n_files; from++) {
		if (!strcmp(s->file[from].kind, kind))
			return &s->file[from];
	}
	return NULL;
}
