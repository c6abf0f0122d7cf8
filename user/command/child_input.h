/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command's standard input, of which each of several runs is to find the same.
 */
#ifndef KJOULE_CHILD_INPUT_H
#define KJOULE_CHILD_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "lib/base/error.h"

/**
 * struct child_input - the command's standard input, of which each of several runs is to find the
 * same
 * @file:	it is a file that is read from @at on; else it never ends, or there is none
 */
struct child_input {
	bool file;
	off_t at;
};

/**
 * child_input_open() - can so many runs read it?
 * Return: 0, or -ESPIPE (what is read of a pipe or a socket is gone for the next run), with the
 * reason in @err
 */
int child_input_open(struct child_input *in, size_t runs, struct kjoule_error *err);

/** child_input_rewind() - the next run is to read what the first one did. Return: 0 or -errno */
int child_input_rewind(const struct child_input *in, struct kjoule_error *err);

#endif /* KJOULE_CHILD_INPUT_H */
