/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kjoule list shows.
 */
#ifndef KJOULE_LIST_H
#define KJOULE_LIST_H

#include "lib/control/sources.h"
#include "output/output.h"

/**
 * struct list_sources - all of them
 * @kernel:	the module's
 * @found:	those that it can be given
 */
struct list_sources {
	struct kjoule_source_info *kernel;
	struct kjoule_found *found;
	size_t n_kernel, n_found;
};

/** list_sources_print() - a line for each domain of each. Return: 0 or -ENOMEM */
int list_sources_print(const struct list_sources *s, enum output_format format);
/** list_session_end() - end a session, whoever made it. Return: the exit code */
int list_session_end(uint32_t id);
/** list_sessions() - a line for each session. Return: the exit code */
int list_sessions(enum output_format format);

#endif /* KJOULE_LIST_H */
