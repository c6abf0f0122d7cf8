// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parsing of command line values; see args.h. Used by the verbs.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli/args.h"
#include "lib/control/sources.h"

struct unit {
	const char *name;
	double factor;
};

/* A plain decimal number; strtod() alone would take hex, inf and nan. */
static int args_parse_number(const char *text, double *value, const char **end)
{
	char *e;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	errno = 0;
	*value = strtod(text, &e);
	if (e == text)
		return -EINVAL;
	if (errno == ERANGE || !isfinite(*value))
		return -ERANGE;
	*end = e;
	return 0;
}

static int args_parse_unit(const char *text, const struct unit *units, size_t n, double bare,
			   double *out)
{
	const char *end;
	double v;
	int ret = args_parse_number(text, &v, &end);

	if (ret)
		return ret;
	if (!*end) {
		if (bare <= 0)
			return -EINVAL;
		*out = v * bare;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (!strcasecmp(end, units[i].name)) {
			*out = v * units[i].factor;
			return 0;
		}
	}
	return -EINVAL;
}

int args_duration(const char *text, uint64_t bare, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "\xc2\xb5s", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		{ "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 },
	};
	double v;
	int ret = args_parse_unit(text, units, sizeof(units) / sizeof(units[0]), bare, &v);

	if (ret)
		return ret;
	if (v >= 9.2e18)
		return -ERANGE;
	*ns = llround(v);
	return 0;
}

int args_rate(const char *text, uint64_t *interval_ns)
{
	static const struct unit units[] = {
		{ "hz", 1 }, { "k", 1e3 }, { "khz", 1e3 }, { "mhz", 1e6 },
	};
	double hz;
	int ret = args_parse_unit(text, units, sizeof(units) / sizeof(units[0]), 1, &hz);

	if (ret)
		return ret;
	if (hz <= 1e-9 || hz > 1e9)
		return -ERANGE;
	*interval_ns = llround(1e9 / hz);
	return 0;
}

int args_bytes(const char *text, uint32_t *bytes)
{
	static const struct unit units[] = {
		{ "k", 1024 }, { "kib", 1024 }, { "m", 1048576 }, { "mib", 1048576 },
		{ "g", 1073741824.0 },
	};
	double v;
	int ret = args_parse_unit(text, units, sizeof(units) / sizeof(units[0]), 1, &v);

	if (ret)
		return ret;
	if (v != floor(v))
		return -EINVAL;
	if (v > UINT32_MAX)
		return -ERANGE;
	*bytes = v;
	return 0;
}

int args_number(const char *text, uint32_t least, uint32_t most, uint32_t *value)
{
	unsigned long v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno || v < least || v > most)
		return -ERANGE;
	*value = v;
	return 0;
}

int args_pid(const char *text, uint32_t *pid)
{
	return args_number(text, 1, INT_MAX, pid) ? -EINVAL : 0;
}

int args_power(const char *text, double *watt)
{
	static const struct unit units[] = { { "w", 1 }, { "mw", 1e-3 }, { "kw", 1e3 } };
	int ret = args_parse_unit(text, units, sizeof(units) / sizeof(units[0]), 1, watt);

	/* units have no case, but a megawatt is no milliwatt */
	if (ret || strchr(text, 'M'))
		return ret ? ret : -EINVAL;
	return *watt > 0 && *watt <= 1e6 ? 0 : -ERANGE;
}

int args_percent(const char *text, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	end += end != text && *end == '%';
	if (end == text || *end || isnan(*percent))
		return -EINVAL;
	return *percent >= 0 && *percent <= 100 ? 0 : -ERANGE;
}

int args_frequency(const char *text, uint32_t low, uint32_t high, uint32_t *khz)
{
	static const struct unit units[] = { { "kHz", 1 }, { "MHz", 1e3 }, { "GHz", 1e6 } };
	double v;
	int ret;

	if ((low && !strcmp(text, "min")) || (high && !strcmp(text, "max"))) {
		*khz = strcmp(text, "min") ? high : low;
		return 0;
	}
	ret = args_parse_unit(text, units, sizeof(units) / sizeof(units[0]), 1, &v);
	if (ret)
		return ret;
	if (v < 1 || v >= UINT32_MAX)
		return -ERANGE;
	*khz = llround(v);
	return 0;
}

int args_sources(const char *text)
{
	for (;;) {
		size_t len = kjoule_source_name_len(text);

		if (!len)
			return -EINVAL;
		/* what follows an event without a comma is reported with its name, later */
		if (text[len] != ',')
			return 0;
		text += len + 1;
	}
}
