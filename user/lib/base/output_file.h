/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that the user has named and that kjoule writes: a new file under a name of its own, which
 * takes the wanted name when there is something in it. What was there before is replaced, never
 * opened for writing. Recordings (lib/file/datafile.c), the manifest of a sweep, pictures, their data and
 * exports are written this way.
 *
 * Who runs kjoule is root mostly, in folders of others too. Whoever can write to the folder can
 * remove, rename and replace names in it, before and after; no more: what is written goes to the new
 * file's descriptor, so that it never ends up in a file of somebody else, and a recording can be
 * read by no user but the one who made it. The path to the folder is the caller's choice, and its
 * symbolic links are followed.
 */
#ifndef KJOULE_OUTPUT_FILE_H
#define KJOULE_OUTPUT_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include "lib/base/error.h"

/*
 * Mode 0600 whatever the umask is, and -o in messages; else the umask's mode, or that of the file
 * that is replaced.
 */
#define KJOULE_OUTPUT_RECORDING	1
/* A file of that name is refused, and --force named in the message. */
#define KJOULE_OUTPUT_KEEP	2

/**
 * struct kjoule_output_file - one that is being written
 * @stream:	to be written to; flushed by kjoule_output_file_commit()
 * @fd:		its descriptor
 * @path:	as the caller named it, for messages
 * @replaces:	a file of that name was there when it was last looked for
 */
struct kjoule_output_file {
	FILE *stream;
	int fd;
	char *path;
	bool replaces;
	/* private: */
	int folder;
	unsigned int flags;
	char temp[32];		/* its name until it has the wanted one, then "" */
};

/**
 * kjoule_output_file_open() - begin a new file that is to be called @path
 * @folder:	AT_FDCWD, or the descriptor of the folder that it is made in: of @path only the last
 *		part counts then
 * @flags:	KJOULE_OUTPUT_*
 * Return: 0; -errno with the reason in @err, above all if there is something that must not be
 * replaced: what is no regular file, belongs to somebody else or has other links. Then nothing was
 * made, and closing it does no harm.
 */
int kjoule_output_file_open(struct kjoule_output_file *f, int folder, const char *path,
			    unsigned int flags, struct kjoule_error *err);
/**
 * kjoule_output_file_commit() - give it its name; it can be written on
 * It does not wait for the disk: a recording begins meanwhile. Who has to be sure syncs @fd before.
 * Return: 0; -errno with the reason in @err if it could not be written, or of the name as
 * kjoule_output_file_open()
 */
int kjoule_output_file_commit(struct kjoule_output_file *f, struct kjoule_error *err);
/**
 * kjoule_output_file_close() - it goes away if it was given no name
 * Return: 0 or -errno with the reason in @err
 */
int kjoule_output_file_close(struct kjoule_output_file *f, struct kjoule_error *err);
/** kjoule_output_file_finish() - commit and close. Return: the first that failed */
int kjoule_output_file_finish(struct kjoule_output_file *f, struct kjoule_error *err);
/**
 * kjoule_output_file_check() - would kjoule_output_file_open() succeed?
 * For what is written long after it was asked for.
 * Return: as kjoule_output_file_open()
 */
int kjoule_output_file_check(const char *path, unsigned int flags, struct kjoule_error *err);

#endif /* KJOULE_OUTPUT_FILE_H */
