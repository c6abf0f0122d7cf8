// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets of CPUs: the lists that users write, the bit mask that netlink takes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cpus.h"

bool kjoule_cpus_has(const struct kjoule_cpus *set, unsigned int cpu)
{
	return cpu < KJOULE_MAX_CPUS && (set->bits[cpu / 8] >> (cpu % 8) & 1);
}

void kjoule_cpus_add(struct kjoule_cpus *set, unsigned int cpu)
{
	if (cpu < KJOULE_MAX_CPUS)
		set->bits[cpu / 8] |= 1u << (cpu % 8);
}

unsigned int kjoule_cpus_count(const struct kjoule_cpus *set)
{
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(set->bits); i++)
		n += __builtin_popcount(set->bits[i]);
	return n;
}

int kjoule_cpus_next(const struct kjoule_cpus *set, unsigned int cpu)
{
	static const uint8_t none[8];

	while (cpu < KJOULE_MAX_CPUS) {
		unsigned int rest = set->bits[cpu / 8] >> (cpu % 8);

		if (rest)
			return cpu + __builtin_ctz(rest);
		cpu = (cpu | 7) + 1;
		/* most of them are not there on any machine */
		while (cpu % 64 == 0 && cpu < KJOULE_MAX_CPUS &&
		       !memcmp(set->bits + cpu / 8, none, sizeof(none)))
			cpu += 64;
	}
	return -1;
}

static int cpu_parse_number(const char **p, unsigned int *out)
{
	unsigned long v = 0;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	while (isdigit((unsigned char)**p)) {
		v = v * 10 + (unsigned long)(**p - '0');
		if (v >= KJOULE_MAX_CPUS)
			return -ERANGE;
		(*p)++;
	}
	*out = v;
	return 0;
}

/* By bytes: a text of some kilobytes can have a thousand times all CPUs. */
static void cpus_add_range(struct kjoule_cpus *set, unsigned int a, unsigned int b)
{
	for (; a <= b && a % 8; a++)
		kjoule_cpus_add(set, a);
	if (a <= b) {
		memset(set->bits + a / 8, 0xff, (b + 1) / 8 - a / 8);
		a += (b + 1) / 8 * 8 - a;
	}
	for (; a <= b; a++)
		kjoule_cpus_add(set, a);
}

int kjoule_cpus_parse(const char *text, struct kjoule_cpus *set)
{
	const char *p = text;
	int ret;

	memset(set, 0, sizeof(*set));
	for (;;) {
		unsigned int a, b;

		ret = cpu_parse_number(&p, &a);
		if (ret)
			return ret;
		b = a;
		if (*p == '-') {
			p++;
			ret = cpu_parse_number(&p, &b);
			if (ret)
				return ret;
			if (b < a)
				return -EINVAL;
		}
		cpus_add_range(set, a, b);
		if (*p == '\0' || *p == '\n')
			return 0;
		if (*p++ != ',')
			return -EINVAL;
	}
}

char *kjoule_cpus_format(const struct kjoule_cpus *set, char *buf, size_t len)
{
	size_t off = 0;
	int a = -1;

	if (!len)
		return buf;
	buf[0] = '\0';
	while ((a = kjoule_cpus_next(set, a + 1)) >= 0) {
		int b = a, n;

		while (kjoule_cpus_has(set, b + 1))
			b++;
		if (b > a)
			n = snprintf(buf + off, len - off, "%s%d-%d", off ? "," : "", a, b);
		else
			n = snprintf(buf + off, len - off, "%s%d", off ? "," : "", a);
		if (n < 0 || (size_t)n >= len - off)
			break;
		off += n;
		a = b;
	}
	return buf;
}

int kjoule_cpus_online(struct kjoule_cpus *set)
{
	char line[4096];
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	int ret = -EIO;

	if (!f)
		return -errno;
	if (fgets(line, sizeof(line), f))
		ret = kjoule_cpus_parse(line, set);
	fclose(f);
	return ret;
}
