/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw netlink with libmnl for the module's selftests: one socket, requests put
 * together attribute by attribute, answers with the kernel's errno and words.
 * Nothing here comes from libkjoule, so that a fault of the one does not hide one
 * of the other. Used by all tests in this folder.
 */
#ifndef KJOULE_SELFTESTS_NL_H
#define KJOULE_SELFTESTS_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <libmnl/libmnl.h>

#include <linux/kjoule_netlink.h>

#define NL_BUFFER	8192
#define NL_MAX_CPUS	64

struct nl {
	struct mnl_socket *socket;
	unsigned int portid;
	unsigned int seq;
	uint16_t family;
	char why[256];			/* the kernel's words about the last refusal, or "" */
	char buffer[NL_BUFFER];		/* the request that is being built */
};

/* What a session is asked for; what is 0 or NULL is left out of the request. */
struct nl_config {
	uint64_t interval_ns;
	uint64_t jitter_ns;
	uint32_t target;
	uint32_t pid;
	uint64_t cpus;			/* bit mask */
	uint32_t ring_bytes;
	uint32_t wakeup_bytes;
	const char *energy;
	const char *frequency;
};

/* What the kernel tells about one. */
struct nl_session {
	uint32_t id;
	uint64_t interval_ns;
	uint64_t jitter_ns;
	uint32_t target;
	uint32_t pid;
	uint64_t cpus;
	uint32_t ring_bytes;
	uint32_t wakeup_bytes;
	uint32_t state;
	uint64_t t0_ns;
	uint64_t seed;
	uint64_t stop_ns;
};

struct nl_stats {
	uint32_t session;
	uint32_t cpu;
	uint64_t due;
	uint64_t produced;
	uint64_t missed;
	uint64_t parked;
	uint64_t filtered;
	uint64_t records;
	uint64_t consumed;
	uint64_t lost;
	uint64_t waiting;
	uint64_t samples;
	uint64_t tick_ns;
	uint64_t late_max_ns;
	uint64_t source_errors;
};

struct nl_source {
	uint32_t id;
	char name[64];
	uint32_t kind;
	uint32_t available;
	bool why;			/* a reason was given */
};

typedef void nl_visit(const struct nlmsghdr *message, void *data);

/* All return 0 or -errno, nl_dump functions the number of messages. */
int nl_open(struct nl *nl);
void nl_close(struct nl *nl);
struct nlmsghdr *nl_request(struct nl *nl, uint8_t cmd, uint16_t flags);
int nl_talk(struct nl *nl, struct nlmsghdr *request, nl_visit *visit, void *data);

int nl_session_new(struct nl *nl, const struct nl_config *config, struct nl_session *session);
int nl_session_do(struct nl *nl, uint8_t cmd, uint32_t id, struct nl_session *session);
int nl_session_dump(struct nl *nl, struct nl_session *sessions, unsigned int max);
int nl_stats(struct nl *nl, uint32_t id, struct nl_stats *stats, unsigned int max);
int nl_source_dump(struct nl *nl, struct nl_source *sources, unsigned int max);

/* Sessions that there are, as sysfs tells; -1 without the module. */
int session_count(void);

#endif
