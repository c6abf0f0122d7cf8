/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that the user has named and that kjoule writes: a new file under another name, which takes
 * the final name when it has content. A file of that name is replaced, never opened for writing.
 * Recordings (lib/file/datafile.c), the manifest of a sweep, pictures, their data and exports are
 * written this way.
 *
 * kjoule mostly runs as root, and also in other users' folders. Whoever can write to the folder can
 * remove, rename and replace names in it, before and after; no more: the content goes to the new
 * file's descriptor, so that it never ends up in another user's file, and a recording is readable
 * only by its owner. The path to the folder is the caller's choice, and its symbolic links are
 * followed.
 */
#ifndef KJOULE_OUTPUT_FILE_H
#define KJOULE_OUTPUT_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include "lib/base/error.h"

/* Mode 0600 whatever the umask, and -o in messages; else the umask's or the replaced file's. */
#define KJOULE_OUTPUT_RECORDING	1
/* A file of that name is refused, and --force named in the message. */
#define KJOULE_OUTPUT_KEEP	2

/**
 * struct kjoule_output_file - one that is being written
 * @stream: to be written to; flushed by kjoule_output_file_commit()
 * @fd: its descriptor
 * @path: the caller's, for messages
 * @replaces: a file of that name existed at the last check
 */
struct kjoule_output_file {
	FILE *stream;
	int fd;
	char *path;
	bool replaces;
	/* private: */
	int folder;
	unsigned int flags;
	char temp[32];		/* temporary name, "" after the rename */
};

/**
 * kjoule_output_file_open() - begin a new file to be called @path
 * @folder: AT_FDCWD, or the descriptor of the folder that it is made in: only the last part of
 *   @path counts then
 * @flags: KJOULE_OUTPUT_*
 * Return: 0; -errno with the reason in @err, for example if something must not be replaced: not a
 *   regular file, another user's, or with other links. Nothing was made then, and closing it is
 *   harmless.
 */
int kjoule_output_file_open(struct kjoule_output_file *f, int folder, const char *path,
			    unsigned int flags, struct kjoule_error *err);
/**
 * kjoule_output_file_commit() - rename it to its final name; it can still be written to
 * Does not sync: a recording begins meanwhile. Sync @fd before, if needed.
 * Return: 0; -errno with the reason in @err if it could not be written, or of the name as
 *   kjoule_output_file_open()
 */
int kjoule_output_file_commit(struct kjoule_output_file *f, struct kjoule_error *err);
/**
 * kjoule_output_file_close() - removes it if it was not committed
 * Return: 0 or -errno with the reason in @err
 */
int kjoule_output_file_close(struct kjoule_output_file *f, struct kjoule_error *err);
/** kjoule_output_file_finish() - commit and close. Return: the first that failed */
int kjoule_output_file_finish(struct kjoule_output_file *f, struct kjoule_error *err);
/**
 * kjoule_output_file_check() - would kjoule_output_file_open() succeed? For output that is written
 * much later. Return: as kjoule_output_file_open()
 */
int kjoule_output_file_check(const char *path, unsigned int flags, struct kjoule_error *err);

#endif /* KJOULE_OUTPUT_FILE_H */
