// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The settings of a sweep and what is run at them; see sweep.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "sweep/sweep.h"

/* @text with the number of threads where it is named; a copy. */
static char *sweep_fill_in_threads(const char *text, uint32_t threads)
{
	char *out = NULL;
	const char *at;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	if (!f)
		return NULL;
	for (; threads && (at = strstr(text, SWEEP_THREADS)); text = at + strlen(SWEEP_THREADS))
		fprintf(f, "%.*s%u", (int)(at - text), text, threads);
	fputs(text, f);
	if (fclose(f)) {
		free(out);
		return NULL;
	}
	return out;
}

char **sweep_command(int argc, char **argv, uint32_t threads)
{
	char **command = calloc(argc + 1, sizeof(*command));

	for (int i = 0; i < argc && command; i++) {
		command[i] = sweep_fill_in_threads(argv[i], threads);
		if (!command[i]) {
			sweep_command_free(command);
			return NULL;
		}
	}
	return command;
}

void sweep_command_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

const char *sweep_label(const struct sweep_setting *s, char *buf, size_t len)
{
	int n = 0;

	buf[0] = '\0';
	if (s->khz)
		n = snprintf(buf, len, "%.6g MHz", s->khz / 1e3);
	if (s->threads)
		snprintf(buf + n, len - n, "%s%u thread%s", n ? ", " : "", s->threads,
			 s->threads > 1 ? "s" : "");
	if (!s->khz && !s->threads)
		snprintf(buf, len, "as it is");
	return buf;
}

int sweep_plan_settings(struct sweep_plan *p, const uint32_t *khz, size_t n_khz,
			const uint32_t *threads, size_t n_threads)
{
	for (size_t i = 0; i < (n_khz ? n_khz : 1); i++) {
		for (size_t k = 0; k < (n_threads ? n_threads : 1); k++) {
			struct sweep_setting *s =
				kjoule_array_grow(&p->settings, &p->n_settings, sizeof(*s));

			if (!s)
				return -ENOMEM;
			s->khz = n_khz ? khz[i] : 0;
			s->threads = n_threads ? threads[k] : 0;
		}
	}
	return 0;
}

int sweep_plan_command(struct sweep_plan *p, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	p->argv = sweep_command(argc, argv, 0);
	p->argc = p->argv ? argc : 0;
	return p->argv ? 0 : -ENOMEM;
}

int sweep_plan_add(struct sweep_setting *s, const char *file, enum sweep_status status,
		   int exit_code)
{
	char *copy = strdup(file);
	struct sweep_run *run = copy ? kjoule_array_grow(&s->runs, &s->n_runs, sizeof(*run)) : NULL;

	if (!run) {
		free(copy);
		return -ENOMEM;
	}
	*run = (struct sweep_run){ copy, status, exit_code };
	return 0;
}

void sweep_plan_free(struct sweep_plan *p)
{
	for (size_t i = 0; i < p->n_settings; i++) {
		for (size_t k = 0; k < p->settings[i].n_runs; k++)
			free(p->settings[i].runs[k].file);
		free(p->settings[i].runs);
		free(p->settings[i].refused);
	}
	free(p->settings);
	sweep_command_free(p->argv);
	free(p->folder);
	memset(p, 0, sizeof(*p));
}

bool sweep_setting_has_failed(const struct sweep_setting *s)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].status == SWEEP_FAILED)
			return true;
	return s->refused;
}
