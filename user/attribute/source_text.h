/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of source files, if available. */
#ifndef KJOULE_SOURCE_TEXT_H
#define KJOULE_SOURCE_TEXT_H

#include <stddef.h>
#include <sys/types.h>

struct source_file {
	char *path;
	uid_t owner;
	size_t n;
	char **lines;			/* NULL: the file cannot be read */
};

/* Zeroed at first. */
struct source_text {
	size_t n;
	struct source_file *files;
};

/**
 * source_text_file() - a file, read once
 * @owner: of the ELF file that names it: root sees only what this user may read
 * Return: NULL without memory
 */
const struct source_file *source_text_file(struct source_text *s, const char *path, uid_t owner);
/** source_text_line() - a line from 1 on; NULL: not there */
const char *source_text_line(const struct source_file *f, unsigned int line);
void source_text_free(struct source_text *s);

#endif /* KJOULE_SOURCE_TEXT_H */
