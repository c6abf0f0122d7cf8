/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notices for the module's selftests: join the multicast group or ask for them, and
 * receive them one by one.
 */
#ifndef KJOULE_SELFTESTS_NOTICE_H
#define KJOULE_SELFTESTS_NOTICE_H

#include <stdint.h>

#include "nl.h"

struct notice {
	uint32_t event;
	uint64_t time_ns;
	uint32_t session;
	int cpu;		/* -1: none reported */
	char source[32];	/* "": none reported */
	uint64_t count;
	uint32_t user;		/* UINT32_MAX: none reported */
};

/* All return 0 or -errno. */
int notice_join(struct nl *nl);
int notice_listen(struct nl *nl);

/* Return: 1 with a notice, 0 when none came in time, or -errno. */
int notice_wait(struct nl *nl, struct notice *n, unsigned int timeout_ms);

#endif
