// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a chip's description. Owns the text format and its checks; knows
 * nothing of what the values are used for. Called once, at installation.
 */
#include "profile.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turbo.h"

#define MAX_VALUES	VCHIP_MAX_PSTATES
#define MAX_DEPTH	4

/* cpufreq keeps a latency in 32 bits of nanoseconds. */
#define MAX_LATENCY_NS	4000000000ULL
#define RESET_LEAST_KHZ	1000
#define RESET_MOST_KHZ	10000000

struct reader {
	struct profile *profile;
	const char *path;
	unsigned int line;
	unsigned int depth;
	char *error;
	unsigned int error_size;
};

static int fail(const struct reader *r, const char *what, const char *detail)
{
	snprintf(r->error, r->error_size, "%s:%u: %s%s%s", r->path, r->line, what,
		 detail ? ": " : "", detail ? detail : "");
	return -EINVAL;
}

/* Numbers apart by blanks, or latencies: "never" is one. Return: how many, or -1. */
static int parse_values(const char *text, uint64_t *values, int max, bool latencies)
{
	int n = 0;

	for (;;) {
		char *end;

		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			return n;
		if (n == max)
			return -1;
		if (latencies && !strncmp(text, "never", 5) &&
		    (!text[5] || isspace((unsigned char)text[5]))) {
			values[n++] = LATENCY_NEVER;
			text += 5;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			return -1;
		errno = 0;
		values[n++] = strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
		if (errno || (*end && !isspace((unsigned char)*end)))
			return -1;
		text = end;
	}
}

static int parse_numbers(const char *text, uint64_t *values, int max)
{
	return parse_values(text, values, max, false);
}

/* The P-state of the frequency that a text names. Return: its index, -1 if it names none */
static int pstate_named(const struct profile *p, const char *text)
{
	uint64_t khz;

	return parse_numbers(text, &khz, 1) == 1 && khz <= UINT32_MAX ?
	       profile_pstate(p, (uint32_t)khz) : -1;
}

struct scalar {
	const char *key;
	size_t offset;
	unsigned int size;
	uint64_t multiply;
};

#define SCALAR(text, field, by)                                                                   \
	{ text, offsetof(struct profile, field), sizeof(((struct profile *)0)->field), by }

static const struct scalar scalars[] = {
	SCALAR("clock_scale", clock_scale, 1),
	SCALAR("packages", packages, 1),
	SCALAR("cores", cores, 1),
	SCALAR("threads", threads, 1),
	SCALAR("reset_khz", reset_khz, 1),
	SCALAR("pause_ns", pause_ns, 1),
	SCALAR("grant_grid_us", grant_grid_ns, 1000),
	SCALAR("latency_jitter_percent", latency_jitter_percent, 1),
	SCALAR("step_us", step_ns, 1000),
	SCALAR("step_pstates", step_pstates, 1),
	SCALAR("smi_every_us", smi_every_ns, 1000),
	SCALAR("base_uw", base_uw, 1),
	SCALAR("leak_uw", leak_uw, 1),
	SCALAR("dram_base_uw", dram_base_uw, 1),
	SCALAR("esu", esu, 1),
	SCALAR("raw_init_pkg", raw_init_pkg, 1),
	SCALAR("raw_init_core", raw_init_core, 1),
	SCALAR("update_period_us", update_period_ns, 1000),
	SCALAR("update_jitter_us", update_jitter_ns, 1000),
	SCALAR("ambient_mc", ambient_mc, 1),
	SCALAR("tjmax_mc", tjmax_mc, 1),
	SCALAR("thermal_mc_per_w", thermal_mc_per_w, 1),
	SCALAR("thermal_off_mc_per_w", thermal_off_mc_per_w, 1),
	SCALAR("thermal_tau_ms", thermal_tau_ns, 1000000),
	SCALAR("pl1_uw", pl1_uw, 1),
	SCALAR("pl2_uw", pl2_uw, 1),
	SCALAR("tau_us", tau_us, 1),
	SCALAR("turbo_hold_us", turbo_hold_ns, 1000),
	SCALAR("turbo_return_uw", turbo_return_uw, 1),
	SCALAR("turbo_trip_mc", turbo_trip_mc, 1),
	SCALAR("turbo_return_mc", turbo_return_mc, 1),
	SCALAR("turbo_time_us", turbo_time_ns, 1000),
	SCALAR("turbo_rest_us", turbo_rest_ns, 1000),
	SCALAR("turbo_moment_us", turbo_moment_ns, 1000),
	SCALAR("meter_us", meter_ns, 1000),
	SCALAR("meter_lsb_uw", meter_lsb_uw, 1),
};

static int set_scalar(const struct reader *r, const struct scalar *s, const char *text)
{
	uint64_t value;
	char *field = (char *)r->profile + s->offset;

	if (parse_numbers(text, &value, 1) != 1 || value > UINT64_MAX / s->multiply)
		return fail(r, "one number expected", text);
	value *= s->multiply;
	if (s->size == sizeof(uint32_t)) {
		if (value > UINT32_MAX)
			return fail(r, "number too large", text);
		memcpy(field, &(uint32_t){ value }, sizeof(uint32_t));
	} else {
		memcpy(field, &value, sizeof(value));
	}
	return 0;
}

static int class_of(const char *name)
{
	for (int i = 0; i < CLASSES; i++)
		if (!strcmp(name, class_name(i)))
			return i;
	return -1;
}

static int set_list(const struct reader *r, uint32_t *list, const char *text, bool defines_count)
{
	uint64_t values[MAX_VALUES];
	int n = parse_numbers(text, values, MAX_VALUES);

	if (n < 1)
		return fail(r, "a list of numbers expected", text);
	if (defines_count)
		r->profile->pstates = n;
	else if ((unsigned int)n != r->profile->pstates)
		return fail(r, "one value for each entry of freq_khz expected", text);
	for (int i = 0; i < n; i++) {
		if (!values[i] || values[i] > UINT32_MAX ||
		    (defines_count && i && values[i] <= values[i - 1]))
			return fail(r, "values must be positive, frequencies ascending", text);
		list[i] = values[i];
	}
	return 0;
}

/* latency_us.FROM = one value for each target; the diagonal is ignored. */
static int set_latency_row(const struct reader *r, const char *from, const char *text)
{
	uint64_t values[MAX_VALUES];
	int n = parse_values(text, values, MAX_VALUES, true);
	int row = pstate_named(r->profile, from);

	if (row < 0)
		return fail(r, "latency_us of a frequency that freq_khz does not name", from);
	if (n == 1)
		for (n = 1; (unsigned int)n < r->profile->pstates; n++)
			values[n] = values[0];
	if ((unsigned int)n != r->profile->pstates)
		return fail(r, "one latency for each entry of freq_khz expected", text);
	for (int i = 0; i < n; i++) {
		if (values[i] != LATENCY_NEVER && values[i] > MAX_LATENCY_NS / 1000)
			return fail(r, "no latency may be above 4 s", text);
		r->profile->latency_ns[row][i] = values[i] == LATENCY_NEVER ? LATENCY_NEVER :
						 values[i] * 1000;
	}
	return 0;
}

/* granted_khz.ASKED = what the chip makes of it. */
static int set_granted(const struct reader *r, const char *asked, const char *text)
{
	int from = pstate_named(r->profile, asked);
	int to = pstate_named(r->profile, text);

	if (from < 0)
		return fail(r, "granted_khz of a frequency that freq_khz does not name", asked);
	if (to < 0)
		return fail(r, "granted_khz is none of freq_khz", text);
	r->profile->granted[from] = to;
	return 0;
}

/* A P-state of the chip by its frequency. */
static int set_pstate(const struct reader *r, uint32_t *pstate, const char *key, const char *text)
{
	char what[64];
	int found = pstate_named(r->profile, text);

	snprintf(what, sizeof(what), "%s is none of freq_khz", key);
	if (found < 0)
		return fail(r, what, text);
	*pstate = found;
	return 0;
}

/* turbo_khz = the highest with one CPU at work, with two, ...; the last one is for more, too */
static int set_turbo(const struct reader *r, const char *text)
{
	struct profile *p = r->profile;
	uint64_t values[VCHIP_MAX_CPUS];
	int n = parse_numbers(text, values, VCHIP_MAX_CPUS);

	if (n < 1)
		return fail(r, "turbo_khz = a frequency for each number of CPUs at work expected", text);
	for (int i = 0; i < VCHIP_MAX_CPUS; i++) {
		int pstate = profile_pstate(p, values[i < n ? i : n - 1]);

		if (pstate < 0)
			return fail(r, "turbo_khz is none of freq_khz", text);
		p->turbo_by_active[i] = pstate;
	}
	p->has_turbo = true;
	return 0;
}

/* turbo_ends = what ends a boost: power, temperature, time; none of them where it never ends */
static int set_turbo_ends(const struct reader *r, const char *text)
{
	static const char *const names[] = { "power", "temperature", "time" };
	const char *rest = text;

	r->profile->turbo_ends = 0;
	while (*rest) {
		size_t len = strcspn(rest, " \t"), i = 0;

		while (i < sizeof(names) / sizeof(names[0]) &&
		       (strlen(names[i]) != len || strncmp(names[i], rest, len)))
			i++;
		if (i < sizeof(names) / sizeof(names[0]))
			r->profile->turbo_ends |= 1u << i;
		else if (len != 4 || strncmp(rest, "none", 4))
			return fail(r, "turbo_ends is of power, temperature, time, or none", text);
		rest += len + strspn(rest + len, " \t");
	}
	return 0;
}

/* dram.CLASS = picojoules that the memory takes for an instruction */
static int set_dram(const struct reader *r, const char *name, const char *text)
{
	uint64_t pj;
	int class = class_of(name);

	if (class < 0)
		return fail(r, "no such instruction class", name);
	if (parse_numbers(text, &pj, 1) != 1 || pj > 100000000)
		return fail(r, "dram.NAME = PICOJOULES expected", text);
	r->profile->dram_pj[class] = pj;
	return 0;
}

static int set_smi(const struct reader *r, const char *text)
{
	uint64_t v[2];

	if (parse_numbers(text, v, 2) != 2 || !v[0] || v[0] > v[1] || v[1] > 1000000)
		return fail(r, "smi_us = LEAST MOST expected, up to a second", text);
	r->profile->smi_min_ns = v[0] * 1000;
	r->profile->smi_max_ns = v[1] * 1000;
	return 0;
}

static int set_idle(const struct reader *r, const char *index, const char *text)
{
	uint64_t i, v[3];

	if (parse_numbers(index, &i, 1) != 1 || i >= VCHIP_MAX_IDLE || i > r->profile->idle_states)
		return fail(r, "idle states are numbered from 0 without gaps", index);
	if (parse_numbers(text, v, 3) != 3 || v[2] > 1000)
		return fail(r, "idle.N = LATENCY_NS RESIDENCY_NS LEAK_PERMILLE expected", text);
	r->profile->idle[i] = (struct idle_state){ v[0], v[1], v[2] };
	if (i == r->profile->idle_states)
		r->profile->idle_states++;
	return 0;
}

static int read_file(struct reader *r);

static int include(const struct reader *r, const char *name)
{
	char path[PATH_MAX];
	const char *slash = strrchr(r->path, '/');
	struct reader inner = *r;

	if (r->depth >= MAX_DEPTH)
		return fail(r, "include goes too deep", name);
	snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - r->path + 1) : 0, r->path,
		 name);
	inner.path = path;
	inner.line = 0;
	inner.depth++;
	return read_file(&inner);
}

static int set(const struct reader *r, const char *key, const char *text)
{
	struct profile *p = r->profile;
	int class;

	for (unsigned int i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
		if (!strcmp(key, scalars[i].key))
			return set_scalar(r, &scalars[i], text);
	if (!strcmp(key, "name")) {
		if (!*text || strlen(text) >= sizeof(p->name))
			return fail(r, "name empty or too long", text);
		memset(p->name, 0, sizeof(p->name));
		strcpy(p->name, text);
		return 0;
	}
	if (!strcmp(key, "include"))
		return include(r, text);
	if (!strcmp(key, "freq_khz")) {
		/* What an included file said of its own frequencies is void. */
		p->has_turbo = false;
		p->base_pstate = p->sustained_pstate = UINT32_MAX;
		memset(p->latency_ns, 0, sizeof(p->latency_ns));
		memset(p->voltage_mv, 0, sizeof(p->voltage_mv));
		p->boot_pstate = UINT32_MAX;
		for (unsigned int i = 0; i < VCHIP_MAX_PSTATES; i++)
			p->granted[i] = i;
		return set_list(r, p->freq_khz, text, true);
	}
	if (!strcmp(key, "voltage_mv"))
		return set_list(r, p->voltage_mv, text, false);
	if (!strcmp(key, "boot_khz")) {
		int pstate = pstate_named(p, text);

		if (pstate < 0)
			return fail(r, "boot_khz is none of freq_khz", text);
		p->boot_pstate = pstate;
		return 0;
	}
	if (!strncmp(key, "latency_us.", 11))
		return set_latency_row(r, key + 11, text);
	if (!strncmp(key, "granted_khz.", 12))
		return set_granted(r, key + 12, text);
	if (!strcmp(key, "turbo_khz"))
		return set_turbo(r, text);
	if (!strcmp(key, "turbo_ends"))
		return set_turbo_ends(r, text);
	if (!strcmp(key, "base_khz"))
		return set_pstate(r, &p->base_pstate, key, text);
	if (!strcmp(key, "sustained_khz"))
		return set_pstate(r, &p->sustained_pstate, key, text);
	if (!strcmp(key, "smi_us"))
		return set_smi(r, text);
	if (!strncmp(key, "idle.", 5))
		return set_idle(r, key + 5, text);
	if (!strncmp(key, "dram.", 5))
		return set_dram(r, key + 5, text);
	if (!strncmp(key, "class.", 6)) {
		uint64_t v[2];

		class = class_of(key + 6);
		if (class < 0)
			return fail(r, "no such instruction class", key + 6);
		if (parse_numbers(text, v, 2) != 2 || !v[0] || v[0] > 10000 || v[1] > 100000000)
			return fail(r, "class.NAME = CYCLES PICOJOULES expected", text);
		p->cycles[class] = v[0];
		p->energy_pj[class] = v[1];
		return 0;
	}
	return fail(r, "unknown key", key);
}

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

static int read_file(struct reader *r)
{
	char line[1024];
	FILE *file = fopen(r->path, "re");
	int err = 0;

	if (!file) {
		err = -errno;
		fail(r, "cannot open", strerror(-err));
		return err;
	}
	while (!err && fgets(line, sizeof(line), file)) {
		char *hash = strchr(line, '#');
		char *equals;

		r->line++;
		if (hash)
			*hash = '\0';
		if (!*trim(line))
			continue;
		equals = strchr(line, '=');
		if (!equals) {
			err = fail(r, "key = value expected", trim(line));
			break;
		}
		*equals = '\0';
		err = set(r, trim(line), trim(equals + 1));
	}
	fclose(file);
	return err;
}

static int check(struct reader *r)
{
	struct profile *p = r->profile;
	uint64_t top;

	r->line = 0;
	if (!p->name[0])
		return fail(r, "name is missing", NULL);
	if (!p->pstates)
		return fail(r, "freq_khz is missing", NULL);
	if (!p->idle_states)
		return fail(r, "idle.0 is missing", NULL);
	if (!p->update_period_ns || p->update_jitter_ns * 2 > p->update_period_ns)
		return fail(r, "update_period_us missing, or update_jitter_us above its half", NULL);
	if (!p->packages || p->packages > VCHIP_MAX_PACKAGES)
		return fail(r, "packages: 1 or 2 are possible", NULL);
	if (!p->threads || (uint64_t)p->packages * p->cores * p->threads > VCHIP_MAX_CPUS)
		return fail(r, "packages, cores and threads: 1 to 8 CPUs are possible", NULL);
	if (p->packages > 1 && !p->cores)
		return fail(r, "packages without cores", NULL);
	if (p->packages > 1 && p->meter_ns)
		return fail(r, "meter_us: the meter is of a chip with one package", NULL);
	if (p->reset_khz < RESET_LEAST_KHZ || p->reset_khz > RESET_MOST_KHZ)
		return fail(r, "reset_khz: 1000 to 10000000 are possible", NULL);
	if (!p->meter_lsb_uw)
		return fail(r, "meter_lsb_uw is 0", NULL);
	if (p->esu > 31)
		return fail(r, "esu above 31", NULL);
	if (p->latency_jitter_percent > 100)
		return fail(r, "latency_jitter_percent above 100", NULL);
	if (!p->step_pstates)
		return fail(r, "step_pstates is 0", NULL);
	if (!p->clock_scale)
		return fail(r, "clock_scale is 0", NULL);
	if (p->step_ns > MAX_LATENCY_NS || p->pause_ns > MAX_LATENCY_NS ||
	    p->grant_grid_ns > MAX_LATENCY_NS || profile_max_latency_ns(p) > MAX_LATENCY_NS)
		return fail(r, "a latency is above 4 s with its steps, jitter and pause", NULL);
	if (p->smi_every_ns && (!p->smi_max_ns || p->smi_every_ns < p->smi_max_ns))
		return fail(r, "smi_us is missing, or longer than smi_every_us", NULL);
	if (p->has_turbo && (p->base_pstate == UINT32_MAX || p->sustained_pstate == UINT32_MAX))
		return fail(r, "turbo_khz without base_khz or sustained_khz", NULL);
	if (p->turbo_ends & TURBO_POWER && (!p->tau_us || !p->pl1_uw))
		return fail(r, "turbo_ends = power without tau_us or pl1_uw", NULL);
	if (p->turbo_ends & TURBO_TEMPERATURE && !p->turbo_trip_mc)
		return fail(r, "turbo_ends = temperature without turbo_trip_mc", NULL);
	if (p->turbo_ends & TURBO_TIME && (!p->turbo_time_ns || !p->turbo_rest_ns))
		return fail(r, "turbo_ends = time without turbo_time_us or turbo_rest_us", NULL);
	for (unsigned int c = 0; c < CLASSES; c++)
		if (!p->cycles[c])
			return fail(r, "no class line for", class_name(c));
	p->has_dram = p->dram_base_uw;
	for (unsigned int c = 0; c < CLASSES; c++)
		p->has_dram |= p->dram_pj[c] > 0;
	top = p->voltage_mv[p->pstates - 1];
	if (!top || !p->voltage_mv[0])
		return fail(r, "voltage_mv is missing", NULL);
	for (unsigned int i = 0; i < p->pstates; i++)
		p->vsq_q16[i] = (p->voltage_mv[i] * p->voltage_mv[i] * 65536ULL + top * top / 2) /
				(top * top);
	return 0;
}

int profile_load(struct profile *profile, const char *path, char *error, unsigned int error_size)
{
	struct reader r =
		{ .profile = profile, .path = path, .error = error, .error_size = error_size };
	int err;

	*profile = (struct profile){
		.clock_scale = 1,
		.packages = 1,
		.threads = 1,
		.reset_khz = 1000000,
		.esu = 16,
		.meter_lsb_uw = 1,
		.step_pstates = 1,
		.thermal_tau_ns = 1000000000,
		.tjmax_mc = 100000,
		.ambient_mc = 35000,
		.boot_pstate = UINT32_MAX,
	};
	err = read_file(&r);
	if (err)
		return err;
	err = check(&r);
	if (err)
		return err;
	if (profile->boot_pstate == UINT32_MAX)
		profile->boot_pstate = profile->pstates - 1;
	return 0;
}

uint64_t profile_max_latency_ns(const struct profile *profile)
{
	uint64_t max = 0;

	for (unsigned int i = 0; i < profile->pstates; i++) {
		for (unsigned int j = 0; j < profile->pstates; j++) {
			uint64_t ns = profile->latency_ns[i][j];

			if (i == j || ns == LATENCY_NEVER)
				continue;
			if (i < j)
				ns += (j - i - 1) / profile->step_pstates * profile->step_ns;
			if (ns > max)
				max = ns;
		}
	}
	return max + max * profile->latency_jitter_percent / 100 + profile->grant_grid_ns +
	       profile->pause_ns;
}

int profile_pstate(const struct profile *profile, uint32_t khz)
{
	for (unsigned int i = 0; i < profile->pstates; i++)
		if (profile->freq_khz[i] == khz)
			return i;
	return -1;
}
