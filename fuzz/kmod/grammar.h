/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The generic netlink family as tables, made from its specification at build time by
 * `scripts/gen-netlink --grammar`: what there is, not what it means (values.c). Used by
 * message.c.
 */
#ifndef KJOULE_FUZZ_GRAMMAR_H
#define KJOULE_FUZZ_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

enum rule_kind {
	RULE_U32,
	RULE_S32,
	RULE_U64,
	RULE_STRING,
	RULE_BINARY,
	RULE_NEST,
};

struct rule_set;

struct rule_attr {
	const char *name;
	uint16_t type;
	enum rule_kind kind;
	bool multi;
	unsigned int max_len;		/* 0: none is given */
	unsigned int entries;		/* of its enum, 0: it has none */
	const struct rule_set *nested;
};

struct rule_set {
	const char *name;
	unsigned int n;
	const struct rule_attr *attrs;	/* by their types, from 1 */
};

struct rule_op {
	const char *name;
	uint8_t cmd;
	const struct rule_set *set;
	bool has_do;
	bool has_dump;
	uint64_t do_may;		/* bits of the types that a request may have */
	uint64_t dump_may;
};

extern const struct rule_set rule_sets[];
extern const unsigned int rule_set_count;
extern const struct rule_op rule_ops[];
extern const unsigned int rule_op_count;

#endif
