/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From netlink attributes, whose length is checked, to libkjoule's structures. */
#ifndef KJOULE_NETLINK_PARSE_H
#define KJOULE_NETLINK_PARSE_H

#include <stddef.h>
#include <stdint.h>
#include "lib/control/attributes.h"

struct nlattr;
struct kjoule_source_info;
struct kjoule_session_info;
struct kjoule_cpu_stats;
struct kjoule_notice;

/**
 * struct kjoule_field - the member of a structure that an attribute sets
 * @len: of the attribute: of a number; 0: a string, which is cut to the member
 * @offset: of the member
 * @size: of the member; 0: the attribute sets none. A number of any length may set a bool
 */
struct kjoule_field {
	uint16_t len;
	uint16_t size;
	uint32_t offset;
};

/* An entry of an array by number of the attribute: KJOULE_A_@attr sets @name of struct @of. */
#define KJOULE_FIELD(attr, of, name) \
	[KJOULE_A_##attr] = { KJOULE_A_##attr##_LEN, sizeof(((struct of *)NULL)->name), \
			      offsetof(struct of, name) }

/* The records of one message, where they lie in it. */
struct kjoule_records {
	uint32_t session;
	uint32_t cpu;
	const void *data;
	size_t len;
};

/**
 * kjoule_parse_fields() - set the members of @to; others are left alone
 * @fields,@n: by number of the attribute; attributes without an entry are skipped
 * Return: 0, or -EBADMSG for a number of another length
 */
int kjoule_parse_fields(struct nlattr *attrs, int len, const struct kjoule_field *fields, int n,
			void *to);
#define KJOULE_PARSE(attrs, len, fields, to) \
	kjoule_parse_fields(attrs, len, fields, sizeof(fields) / sizeof((fields)[0]), to)

int kjoule_parse_source(struct nlattr *attrs, int len, struct kjoule_source_info *src);
int kjoule_parse_session(struct nlattr *attrs, int len, struct kjoule_session_info *info);
int kjoule_parse_stats(struct nlattr *attrs, int len, struct kjoule_cpu_stats *stats);
int kjoule_parse_notice(struct nlattr *attrs, int len, struct kjoule_notice *notice);
int kjoule_parse_records(struct nlattr *attrs, int len, struct kjoule_records *records);

#endif /* KJOULE_NETLINK_PARSE_H */
