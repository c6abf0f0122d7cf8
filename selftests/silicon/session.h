/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session of silicon_summary's: made, read while it runs, ended. Called by ticks.c and
 * frequencies.c, which say what to do with a record.
 */
#ifndef KJOULE_SELFTESTS_SESSION_H
#define KJOULE_SELFTESTS_SESSION_H

#include "../kmod/ring.h"

struct session {
	struct nl *nl;
	struct nl_session info;
	struct device d;
	uint64_t tick[NL_MAX_CPUS];	/* of the last record of a ring, all its bits */
	uint32_t pid[NL_MAX_CPUS];	/* whose samples come */
};

/* @tick: of records that have one, otherwise of the one before. */
typedef void session_visit(const struct session *se, unsigned int ring, uint64_t tick,
			   const struct kjoule_record *rec, void *data);

/* Return 0 or -errno. No @mask: all CPUs. */
int session_open(struct session *se, struct nl *nl, uint64_t interval_ns, const void *mask,
		 unsigned int bytes);
int session_start(struct session *se);
void session_read(struct session *se, session_visit *visit, void *data);
int session_run(struct session *se, unsigned int ms, session_visit *visit, void *data);
void session_stop(struct session *se, session_visit *visit, void *data);
void session_close(struct session *se);

#endif
