// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See frequency_guard.h.
 */
#include <errno.h>
#include <syslog.h>
#include "machine/frequency_guard.h"

/* As the next sweep would: what others hold or have restored by then is not touched. */
static void frequency_guard_restore(const void *what)
{
	const struct kjoule_frequency *f = what;
	struct kjoule_error err = { 0 };
	char said[512];
	int ret = kjoule_frequency_inherit(f, said, sizeof(said), &err);

	openlog("kjoule", LOG_PID, LOG_USER);
	if (said[0])
		syslog(LOG_WARNING, "%s", said);
	/* another sweep that holds them has restored them before */
	if (ret < 0 && ret != -EBUSY)
		syslog(LOG_ERR, "%s", err.text);
}

int frequency_guard_start(struct guardian *g, const struct kjoule_frequency *f,
			  struct kjoule_error *err)
{
	return guardian_start(g, frequency_guard_restore, f, "the CPUs' frequencies", err);
}
