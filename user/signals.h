/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals by which a user ends a run.
 */
#ifndef KJOULE_SIGNALS_H
#define KJOULE_SIGNALS_H

#include <signal.h>

/**
 * signals_ends() - SIGINT, SIGTERM and SIGHUP
 * @ends:	out: without those that are ignored, as nohup(1) does; one that is blocked and waited for would be taken
 *		all the same
 */
static inline void signals_ends(sigset_t *ends)
{
	static const int which[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;

	sigemptyset(ends);
	for (unsigned int i = 0; i < sizeof(which) / sizeof(which[0]); i++)
		if (sigaction(which[i], NULL, &now) || now.sa_handler != SIG_IGN)
			sigaddset(ends, which[i]);
}

#endif /* KJOULE_SIGNALS_H */
