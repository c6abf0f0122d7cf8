/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which sources a session uses: the requested ones, or the best. */
#ifndef KJOULE_SESSION_SOURCES_H
#define KJOULE_SESSION_SOURCES_H

#include "lib/base/error.h"
#include "lib/control/control.h"

/*
 * @info of each spec: user space's knowledge; @energy_source, @frequency_source: see struct
 *   kjoule_session_params
 */
struct session_sources {
	const char *energy_source, *frequency_source;
	char frequency[KJOULE_NAME_LEN];
	size_t n;
	struct kjoule_source_spec spec[KJOULE_MAX_SOURCES];
	struct kjoule_source_info info[KJOULE_MAX_SOURCES];
};

/**
 * struct sources_offer - available sources
 * @kernel: those of the module
 * @sysfs: KJOULE_SYSFS, or a folder that looks like it
 * @try: would the module accept a source? Return: 0, or -errno with the reason in @err, which
 *		begins with @what
 * @arg: for @try
 */
struct sources_offer {
	const struct kjoule_source_info *kernel;
	size_t n_kernel;
	const char *sysfs;
	int (*try)(const struct kjoule_source_spec *spec, const char *what, void *arg,
		   struct kjoule_error *err);
	void *arg;
};

/**
 * session_sources_choose() - find the requested ones and open them
 * @wanted: names, optionally with periods, separated by commas, "" for none, NULL for the default
 * Return: 0, or the exit code after a message; @out is to be freed in any case
 */
int session_sources_choose(const char *wanted, const struct sources_offer *offer,
			  struct session_sources **out);
/**
 * session_sources_open() - the same of this machine's
 * @like: a session that would have them: its interval, CPUs and rings
 */
int session_sources_open(const char *wanted, struct kjoule_ctl *ctl,
			 const struct kjoule_session_params *like, struct session_sources **out);
/** session_sources_describe() - add user space's knowledge to a session's description */
void session_sources_describe(const struct session_sources *s, struct kjoule_session_info *session);
/**
 * session_sources_warn() - report for each source what could not be read, or not in time
 * @session: as it was stopped
 * @in_ticks: readings at ticks that failed, by the counters
 */
void session_sources_warn(const struct kjoule_session_info *session, uint64_t in_ticks);
void session_sources_free(struct session_sources *s);

#endif /* KJOULE_SESSION_SOURCES_H */
