/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enumerators of the interface by name, as files and verbs call them.
 */
#ifndef KJOULE_NAMES_H
#define KJOULE_NAMES_H

#include <stdint.h>

/* In the order of their values. */
struct kjoule_names {
	uint32_t n;
	const char *const *list;
};

extern const struct kjoule_names kjoule_kind_names, kjoule_origin_names, kjoule_quantity_names,
	kjoule_target_names;

/* "unknown" for others */
const char *kjoule_target_name(uint32_t target);
const char *kjoule_class_name(uint32_t class);		/* of a domain */
const char *kjoule_kind_name(uint32_t kind);		/* of a source */
const char *kjoule_origin_name(uint32_t origin);
const char *kjoule_quantity_name(uint32_t quantity);

#endif /* KJOULE_NAMES_H */
