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
#define NL_MAX_CPUS	1024

struct nl {
	struct mnl_socket *socket;
	unsigned int portid;
	unsigned int seq;
	uint16_t family;
	char why[256];			/* the kernel's words about the last refusal, or "" */
	char buffer[NL_BUFFER];		/* the request that is being built */
};

/* A source that is asked for; of the attributes those in @given, bits KJOULE_A_SPEC_*, are sent. */
struct nl_spec {
	uint32_t given;
	uint32_t origin;
	const char *name;
	uint32_t class;
	uint32_t quantity;
	uint64_t unit_mult;
	uint32_t unit_shift;
	uint64_t range;
	uint64_t period_ns;
	uint32_t fd;
	uint32_t perf_type;
	uint64_t perf_config;
};

/* What a session is asked for; what is 0 or NULL is left out of the request. */
struct nl_config {
	uint64_t interval_ns;
	uint64_t jitter_ns;
	uint32_t target;
	uint32_t pid;
	uint64_t cpus;			/* bit mask of the first 64 */
	uint64_t flags;			/* KJOULE_FLAG_* */
	int cgroup_fd;			/* 0: none */
	uint32_t ring_bytes;
	uint32_t wakeup_bytes;
	const char *energy;
	const char *frequency;
	const struct nl_spec *specs;
	unsigned int n_specs;
	uint32_t chain_depth;
	uint32_t stack_bytes;
	bool edges;			/* edge_duty is said, whatever it is */
	uint32_t edge_duty;
	bool vpm;			/* vpm_interval_ns is said, whatever it is */
	uint64_t vpm_interval_ns;
	const char *vpm_source;
};

/* Where a block is; what is 0 is left out of the request. */
struct nl_block {
	uint32_t pid;
	uint64_t start, next, end;
	bool end_is_said;	/* though it is 0 */
};

/* What the kernel tells about a source that is in use. */
struct nl_use {
	char name[64];
	uint32_t kind;
	uint32_t origin;
	uint64_t period_ns;
	uint64_t reads;
	uint64_t errors;
	uint64_t overruns;
	unsigned int domains;
	uint32_t quantity[16];		/* of each domain */
	uint64_t range;			/* of the first one */
	uint64_t unit_mult;
	uint32_t unit_shift;
	unsigned int scopes;
	uint32_t scope[NL_MAX_CPUS];	/* of each CPU */
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
	uint64_t flags;
	uint32_t chain_depth;
	uint32_t stack_bytes;
	uint32_t user;			/* UINT32_MAX: none reported */
	uint32_t edge_duty;
	uint64_t edge_windows, edge_spins, edge_failed, edge_paused;
	uint64_t edge_held_ns, edge_longest_ns;
	uint64_t vpm_interval_ns, vpm_ready_ns, vpm_rest_uw, vpm_peak_uw;
	uint64_t vpm_readings, vpm_unmet, vpm_unended, vpm_elsewhere, vpm_crowded, vpm_spoilt;
	uint64_t vpm_failed;
	uint64_t vpm_rounds, vpm_learnt, vpm_cut, vpm_skipped;
	uint64_t vpm_held_ns, vpm_longest_ns;
	uint64_t children_lost;
	uint32_t children;
	unsigned int uses;
	struct nl_use use[10];
};

struct nl_stats {
	uint32_t session;
	uint32_t cpu;
	uint64_t due;
	uint64_t taken;
	uint64_t missed;
	uint64_t skipped;
	uint64_t filtered;
	uint64_t records;
	uint64_t consumed;
	uint64_t lost;
	uint64_t waiting;
	uint64_t samples;
	uint64_t tick_ns;
	uint64_t delay_max_ns;
	uint64_t idle_ns;
	uint64_t stacks_withheld;
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

void nl_put_spec(struct nlmsghdr *request, const struct nl_spec *spec);
int nl_session_new(struct nl *nl, const struct nl_config *config, struct nl_session *session);
int nl_session_try(struct nl *nl, const struct nl_config *config);
/* Have readings of a block; its number, or -errno. */
int nl_session_block(struct nl *nl, uint32_t id, const struct nl_block *block);
int nl_session_do(struct nl *nl, uint8_t cmd, uint32_t id, struct nl_session *session);
int nl_session_dump(struct nl *nl, struct nl_session *sessions, unsigned int max);
int nl_stats(struct nl *nl, uint32_t id, struct nl_stats *stats, unsigned int max);
int nl_stats_total(struct nl *nl, uint32_t id, struct nl_stats *stats);
int nl_source_dump(struct nl *nl, struct nl_source *sources, unsigned int max);

/* Sessions that there are, as sysfs tells; -1 without the module. */
int session_count(void);

#endif
