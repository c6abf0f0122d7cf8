// SPDX-License-Identifier: GPL-2.0-only
/* Fills in a source with one value from its specification. */
#include <linux/string.h>

#include "source/spec.h"

/*
 * kjoule_spec_describe() - fill in a source with one value from its specification. @src: zeroed;
 * its name is that of @spec.
 */
void kjoule_spec_describe(const struct kjoule_spec *spec, struct kjoule_source *src)
{
	static const char *const names[] = {
		[KJOULE_DOMAIN_PACKAGE] = "package",
		[KJOULE_DOMAIN_CORE] = "core",
		[KJOULE_DOMAIN_UNCORE] = "uncore",
		[KJOULE_DOMAIN_DRAM] = "dram",
		[KJOULE_DOMAIN_PSYS] = "psys",
	};
	struct kjoule_domain *d = &src->domains[0];

	src->name = spec->name;
	src->origin = spec->origin;
	src->kind = kjoule_spec_is_counter(spec) ? KJOULE_KIND_ENERGY : KJOULE_KIND_GAUGE;
	src->n_domains = 1;
	strscpy(d->name, names[spec->class] ?: spec->name, sizeof(d->name));
	d->class = spec->class;
	d->quantity = spec->quantity;
	d->width = 64;
	d->range = spec->range;
	d->unit_mult = spec->unit_mult ?: 1;
	d->unit_shift = spec->unit_shift;
	d->parent = -1;
}
