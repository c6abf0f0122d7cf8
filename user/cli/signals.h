/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals by which a user ends a run.
 */
#ifndef KJOULE_SIGNALS_H
#define KJOULE_SIGNALS_H

#include <signal.h>

/**
 * signals_ends() - SIGINT, SIGTERM and SIGHUP
 * @ends:	out: without SIGHUP where it is ignored, as nohup(1) does; a signal that is blocked
 *		and waited for would be taken all the same. SIGINT is: scripts' shells ignore it in
 *		what they start in the background, and end a recorder by it.
 */
static inline void signals_ends(sigset_t *ends)
{
	struct sigaction now;

	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	if (sigaction(SIGHUP, NULL, &now) || now.sa_handler != SIG_IGN)
		sigaddset(ends, SIGHUP);
}

#endif /* KJOULE_SIGNALS_H */
