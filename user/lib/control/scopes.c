// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which CPUs share a source's counters: a table by CPU, up to the highest one. Filled by netlink.c,
 * lib/file/meta.c and sources.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cpus.h"
#include "lib/control/control.h"

struct kjoule_scopes {
	uint32_t n;
	uint16_t of[];
};

uint16_t kjoule_scope(const struct kjoule_source_info *src, uint32_t cpu)
{
	return src->scopes && cpu < src->scopes->n ? src->scopes->of[cpu] : KJOULE_NO_SCOPE;
}

int kjoule_scope_set(struct kjoule_source_info *src, uint32_t cpu, uint16_t scope)
{
	uint32_t n = src->scopes ? src->scopes->n : 0;

	if (cpu >= KJOULE_MAX_CPUS)
		return -ERANGE;
	if (cpu >= n) {
		struct kjoule_scopes *s =
		realloc(src->scopes, sizeof(*s) + (cpu + 1) * sizeof(s->of[0]));

		if (!s)
			return -ENOMEM;
		for (s->n = n; s->n <= cpu; s->n++)
			s->of[s->n] = KJOULE_NO_SCOPE;
		src->scopes = s;
	}
	src->scopes->of[cpu] = scope;
	return 0;
}

int kjoule_scopes_copy(struct kjoule_source_info *to, const struct kjoule_source_info *from)
{
	int ret = 0;

	to->scopes = NULL;
	/* the highest one first: then there is room for all */
	for (uint32_t cpu = from->scopes ? from->scopes->n : 0; cpu-- > 0 && !ret;)
		ret = kjoule_scope_set(to, cpu, from->scopes->of[cpu]);
	return ret;
}

void kjoule_session_info_clear(struct kjoule_session_info *info)
{
	for (uint32_t i = 0; i < info->n_sources; i++) {
		free(info->sources[i].scopes);
		info->sources[i].scopes = NULL;
	}
}
