/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A picture and, next to it, the file of data that it is drawn from: first the data are written,
 * then gnuplot's script, then it is drawn. Both are new files (see lib/base/output_file.h); one
 * with data that the user has not named is replaced with --force only.
 */
#ifndef KJOULE_PICTURE_H
#define KJOULE_PICTURE_H

#include <stdio.h>
#include "lib/base/output_file.h"

/**
 * struct picture - one that is being made
 * @data:	to be written to after picture_open()
 * @script:	to be written to after picture_script()
 * @data_path:	what the script reads, see plot_string()
 */
struct picture {
	const char *path;
	FILE *data, *script;
	const char *data_path;
	struct kjoule_output_file files[2];	/* the data, and the picture */
	char *text;
	size_t len;
	int ret;
};

/**
 * picture_open() - begin, with the data
 * @force:	replace data that are there
 * Return: 0, or -errno with the reason in @err; picture_close() in any case
 */
int picture_open(struct picture *p, const char *path, bool force, struct kjoule_error *err);
/**
 * picture_check() - would picture_open() succeed? For what is drawn long after it was asked for.
 * Return: the same
 */
int picture_check(const char *path, bool force, struct kjoule_error *err);
/**
 * picture_script() - the data are written: the script is next, which begins with plot_begin().
 * Return: the same
 */
int picture_script(struct picture *p, struct kjoule_error *err);
/**
 * picture_close() - draw it, unless something failed before. Return: the first that failed, or 0
 */
int picture_close(struct picture *p, struct kjoule_error *err);

#endif /* KJOULE_PICTURE_H */
