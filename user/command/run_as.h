/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user that a command runs as (--user): looked up and tried before anything is started, and
 * what the forked child gives up before it executes the command. Used by the verbs that run one,
 * and by child.c.
 */
#ifndef KJOULE_RUN_AS_H
#define KJOULE_RUN_AS_H

#include <stdbool.h>
#include <sys/types.h>
#include "lib/base/error.h"

struct kjoule_user;

/**
 * kjoule_user_find() - look up a user with all groups
 * @name:	or a user id that the user database has
 * @user:	out: kjoule_user_free()'s; NULL on failure
 * Return: 0 or -errno with the reason in @err
 */
int kjoule_user_find(const char *name, struct kjoule_user **user, struct kjoule_error *err);
/** kjoule_user_free() - NULL is fine */
void kjoule_user_free(struct kjoule_user *user);
/**
 * kjoule_user_check() - can this process become that user, and end what runs as such?
 *
 * A child tries it.
 *
 * Return: 0 or -errno with the reason in @err
 */
int kjoule_user_check(const struct kjoule_user *user, struct kjoule_error *err);
/**
 * kjoule_user_become() - give up everything but what @user has; for a child that is to execute
 *
 * Groups, all user and group ids and all capabilities change, which is final; HOME, USER, LOGNAME
 * and SHELL are set; descriptors above 2 are closed by exec.
 *
 * Return: 0, or -errno: then the caller must not execute anything
 */
int kjoule_user_become(const struct kjoule_user *user);
/**
 * kjoule_user_choose() - what --user says, for a verb that runs a command: looked up and checked.
 *			  Without it a line says that the command runs as root, if sudo was used
 * @name:	NULL: not given, and there is no user then
 * @quiet:	without that line
 * Return: 0, or the exit code after saying why not
 */
int kjoule_user_choose(const char *name, bool quiet, struct kjoule_user **user);

#endif /* KJOULE_RUN_AS_H */
