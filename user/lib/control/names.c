// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Enumerators of the interface by name; see names.h. The names are generated from the netlink
 * specification.
 */
#include "lib/control/attributes.h"
#include "lib/control/names.h"

#define NAMES(...) { sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
		     (const char *const[]){ __VA_ARGS__ } }

const struct kjoule_names kjoule_kind_names = NAMES(KJOULE_SOURCE_KIND_NAMES);
const struct kjoule_names kjoule_origin_names = NAMES(KJOULE_ORIGIN_NAMES);
const struct kjoule_names kjoule_quantity_names = NAMES(KJOULE_QUANTITY_NAMES);
const struct kjoule_names kjoule_target_names = NAMES(KJOULE_TARGET_KIND_NAMES);
static const struct kjoule_names class_names = NAMES(KJOULE_DOMAIN_CLASS_NAMES);

static const char *names_find(const struct kjoule_names *names, uint32_t value)
{
	return value < names->n ? names->list[value] : "unknown";
}

const char *kjoule_target_name(uint32_t target)
{
	return names_find(&kjoule_target_names, target);
}

const char *kjoule_class_name(uint32_t class)
{
	return names_find(&class_names, class);
}

const char *kjoule_kind_name(uint32_t kind)
{
	return names_find(&kjoule_kind_names, kind);
}

const char *kjoule_origin_name(uint32_t origin)
{
	return names_find(&kjoule_origin_names, origin);
}

const char *kjoule_quantity_name(uint32_t quantity)
{
	return names_find(&kjoule_quantity_names, quantity);
}
