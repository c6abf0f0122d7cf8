// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See source_text.h. The names come from debug information of any file: only plain files are read,
 * and no more of them than anybody writes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "grow.h"
#include "source_text.h"

#define BYTES_MOST	(64l << 20)

static FILE *open_plain(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *f = NULL;

	if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode) && st->st_size <= BYTES_MOST)
		f = fdopen(fd, "r");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* A line as it is shown: tabs as eight columns, and nothing that a terminal takes for a command. */
static char *plain(const char *text)
{
	size_t n = strcspn(text, "\r\n"), at = 0;
	char *out = malloc(8 * n + 1);

	for (size_t i = 0; out && i < n; i++) {
		if (text[i] == '\t')
			do
				out[at++] = ' ';
			while (at % 8);
		else
			out[at++] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	}
	if (out)
		out[at] = 0;
	return out;
}

static void read_lines(struct source_file *file)
{
	struct stat st;
	FILE *f = open_plain(file->path, &st);
	char *line = NULL;
	size_t room = 0;

	if (!f)
		return;
	file->changed = st.st_mtime;
	while (getline(&line, &room, f) >= 0) {
		char **slot = kjoule_grow(&file->lines, &file->n, sizeof(*slot));

		if (!slot)
			break;
		*slot = plain(line);
	}
	free(line);
	fclose(f);
}

const struct source_file *source_text_file(struct source_text *s, const char *path)
{
	struct source_file *file;

	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->files[i].path, path))
			return &s->files[i];
	file = kjoule_grow(&s->files, &s->n, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	if (!file->path) {
		s->n--;
		return NULL;
	}
	read_lines(file);
	return file;
}

const char *source_text_line(const struct source_file *f, unsigned int line)
{
	return f && line && line <= f->n ? f->lines[line - 1] : NULL;
}

void source_text_free(struct source_text *s)
{
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->files[i].n; k++)
			free(s->files[i].lines[k]);
		free(s->files[i].lines);
		free(s->files[i].path);
	}
	free(s->files);
	memset(s, 0, sizeof(*s));
}
