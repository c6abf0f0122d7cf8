// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See frequency_guard.h.
 */
#include <errno.h>
#include <syslog.h>
#include "cli/cmd.h"
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
	if (g->fd >= 0)
		return 0;
	return guardian_start(g, frequency_guard_restore, f, "the CPUs' frequencies", err);
}

int frequency_guard_end(struct guardian *g, struct kjoule_frequency *f, struct kjoule_error *err)
{
	int ret;

	if (g->fd < 0)
		return 0;
	ret = kjoule_frequency_restore(f, err);
	if (!ret && err->text[0])
		cmd_warn("%s", err->text);
	guardian_end(g);
	return ret;
}
