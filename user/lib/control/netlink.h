/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From netlink attributes, whose length is checked, to libkjoule's structures. */
#ifndef KJOULE_NETLINK_PARSE_H
#define KJOULE_NETLINK_PARSE_H

#include <stddef.h>
#include <stdint.h>

struct nlattr;
struct kjoule_source_info;
struct kjoule_session_info;
struct kjoule_cpu_stats;
struct kjoule_notice;

/* The records of one message, where they lie in it. */
struct kjoule_records {
	uint32_t session;
	uint32_t cpu;
	const void *data;
	size_t len;
};

int kjoule_parse_source(struct nlattr *attrs, int len, struct kjoule_source_info *src);
int kjoule_parse_session(struct nlattr *attrs, int len, struct kjoule_session_info *info);
int kjoule_parse_stats(struct nlattr *attrs, int len, struct kjoule_cpu_stats *stats);
int kjoule_parse_notice(struct nlattr *attrs, int len, struct kjoule_notice *notice);
int kjoule_parse_records(struct nlattr *attrs, int len, struct kjoule_records *records);

#endif /* KJOULE_NETLINK_PARSE_H */
