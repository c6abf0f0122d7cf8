// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule list --sessions: the sessions that there are, whoever made them, with
 * their counters; and the end of one of them. Called by cmd_list.c.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include "cli/cmd.h"
#include "lib/base/cpus.h"
#include "lib/base/error.h"
#include "lib/control/attributes.h"
#include "lib/control/control.h"
#include "lib/control/names.h"
#include "lib/control/ring.h"
#include "lib/file/meta.h"
#include "list/list.h"

static const struct output_column columns[] = {
	{ "session", "SESSION", false },
	{ "uid", NULL, false },
	{ "user", "USER", true },
	{ "state", "STATE", true },
	{ "target", "TARGET", true },
	{ "pid", "PID", false },
	{ "cpus", "CPUS", true },
	{ "interval_ns", NULL, false },
	{ NULL, "INTERVAL ms", false },
	{ "due", "DUE", false },
	{ "taken", "PRODUCED", false },
	{ "missed", "MISSED", false },
	{ "skipped", "PARKED", false },
	{ "filtered", "FILTERED", false },
	{ "samples", "SAMPLES", false },
	{ "records", "RECORDS", false },
	{ "consumed", "CONSUMED", false },
	{ "lost", "LOST", false },
	{ "waiting", "WAITING", false },
	{ "tick_ns", NULL, false },
	{ "delay_max_ns", NULL, false },
	{ "source_errors", NULL, false },
	{ "idle_ns", NULL, false },
	{ "stacks_withheld", NULL, false },
};

static const char *sessions_state_name(uint32_t state)
{
	static const char *const names[] = { KJOULE_SESSION_STATE_NAMES };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

/* A user without a name has a number. */
static void sessions_print_user(struct output *out, uint32_t uid)
{
	const struct passwd *user = getpwuid(uid);
	char number[16];

	snprintf(number, sizeof(number), "%u", uid);
	output_u64(out, uid);
	output_str(out, user ? user->pw_name : number);
}

static void sessions_print_row(struct output *out, const struct kjoule_session_info *s,
			       const struct kjoule_cpu_stats *b)
{
	char cpus[256];

	output_u64(out, s->id);
	sessions_print_user(out, s->user);
	output_str(out, sessions_state_name(s->state));
	output_str(out, kjoule_target_name(s->target));
	if (s->pid)
		output_u64(out, s->pid);
	else
		output_none(out, "the session is not of a task");
	output_str(out, kjoule_cpus_format(&s->cpus, cpus, sizeof(cpus)));
	output_u64(out, s->interval_ns);
	output_real(out, s->interval_ns / 1e6, 3);
	output_u64(out, b->due);
	output_u64(out, b->produced);
	output_u64(out, b->missed);
	output_u64(out, b->parked);
	output_u64(out, b->filtered);
	output_u64(out, b->samples);
	output_u64(out, b->records);
	output_u64(out, b->consumed);
	output_u64(out, b->lost);
	output_u64(out, b->waiting);
	output_u64(out, b->tick_ns);
	output_u64(out, b->late_max_ns);
	output_u64(out, b->source_errors);
	output_u64(out, b->idle_ns);
	output_u64(out, b->stacks_withheld);
	output_row(out);
}

static int sessions_list_all(struct kjoule_ctl *ctl, enum output_format format)
{
	struct kjoule_session_info *list;
	struct kjoule_cpu_stats books;
	struct kjoule_error err;
	struct output *out;
	size_t n;
	int ret;

	if (kjoule_sessions(ctl, &list, &n, &err))
		return cmd_failed("%s", err.text);
	out = output_open(stdout, format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out) {
		free(list);
		return cmd_failed("no memory");
	}
	for (size_t i = 0; i < n; i++) {
		ret = kjoule_stats_total(ctl, list[i].id, &books, &err);
		if (!ret)
			sessions_print_row(out, &list[i], &books);
		else if (ret != -ENOENT)	/* it has ended meanwhile */
			cmd_warn("session %u: %s", list[i].id, err.text);
	}
	output_close(out, NULL, NULL);
	free(list);
	return EXIT_DONE;
}

/* The device knows the module's version; a foreign one would not understand us. */
static int sessions_open_module(struct kjoule_ctl **ctl)
{
	struct kjoule_device *dev;
	struct kjoule_error err;

	if (kjoule_device_open(&dev, &err))
		return cmd_failed("%s", err.text);
	kjoule_device_close(dev);
	return kjoule_ctl_open(ctl, &err) ? cmd_failed("%s", err.text) : EXIT_DONE;
}

int list_session_end(uint32_t id)
{
	struct kjoule_error err;
	struct kjoule_ctl *ctl;
	int code = sessions_open_module(&ctl);

	if (code)
		return code;
	if (kjoule_session_del(ctl, id, &err))
		code = cmd_failed("cannot end session %u: %s", id, err.text);
	kjoule_ctl_close(ctl);
	return code;
}

int list_sessions(enum output_format format)
{
	struct kjoule_ctl *ctl;
	int code = sessions_open_module(&ctl);

	if (code)
		return code;
	code = sessions_list_all(ctl, format);
	kjoule_ctl_close(ctl);
	return code;
}
