// SPDX-License-Identifier: GPL-2.0-or-later
/* See source_text.h. The names are untrusted: only plain files of a sensible size are read. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "attribute/source_text.h"
#include "lib/base/array.h"
#include "lib/base/privilege.h"

#define BYTES_MOST	(16l << 20)

/* At most the file's size: some of the kernel's files have no end, and none of these has a size. */
static char *source_text_read_plain(const struct source_file *file, size_t *len)
{
	int fd = kjoule_privilege_open_plain_as(file->owner, file->path);
	char *text = NULL;
	struct stat st;
	ssize_t n = 1;

	*len = 0;
	kjoule_privilege_note(fd);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size <= BYTES_MOST)
		text = malloc(st.st_size);
	while (text && *len < (size_t)st.st_size &&
	       (n = read(fd, text + *len, st.st_size - *len)) > 0)
		*len += n;
	close(fd);
	return text;
}

/* Tabs as eight columns; the table cleans the rest for a terminal. */
static char *source_text_expand_tabs(const char *text, size_t n)
{
	size_t tabs = 0, at = 0;
	char *out;

	for (size_t i = 0; i < n; i++)
		tabs += text[i] == '\t';
	out = malloc(n + 7 * tabs + 1);
	for (size_t i = 0; out && i < n && text[i]; i++) {
		if (text[i] != '\t') {
			out[at++] = text[i];
			continue;
		}
		do
			out[at++] = ' ';
		while (at % 8);
	}
	if (out)
		out[at] = 0;
	return out;
}

static void source_text_read_lines(struct source_file *file)
{
	size_t len;
	char *text = source_text_read_plain(file, &len);

	for (size_t at = 0; text && at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		char **slot = kjoule_array_grow(&file->lines, &file->n, sizeof(*slot));

		if (!slot)
			break;
		*slot = source_text_expand_tabs(text + at,
						n && text[at + n - 1] == '\r' ? n - 1 : n);
		at += n + 1;
	}
	free(text);
}

const struct source_file *source_text_file(struct source_text *s, const char *path, uid_t owner)
{
	struct source_file *file;

	for (size_t i = 0; i < s->n; i++)
		if (s->files[i].owner == owner && !strcmp(s->files[i].path, path))
			return &s->files[i];
	file = kjoule_array_grow(&s->files, &s->n, sizeof(*file));
	if (!file)
		return NULL;
	file->owner = owner;
	file->path = strdup(path);
	if (!file->path) {
		s->n--;
		return NULL;
	}
	source_text_read_lines(file);
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
