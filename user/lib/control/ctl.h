/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of the module's netlink family, for other parts of libkjoule. Implemented in session.c. */
#ifndef KJOULE_CTL_H
#define KJOULE_CTL_H

#include "lib/base/error.h"
#include "lib/control/control.h"

struct nl_msg;
struct nlattr;

/* Called for each message of an answer. Return: 0 or -errno, which ends the call. */
typedef int kjoule_ctl_parse(struct nlattr *attrs, int len, void *arg);

/** kjoule_ctl_message() - begin a request. Return: NULL without memory */
struct nl_msg *kjoule_ctl_message(struct kjoule_ctl *ctl, int cmd, int flags);

/**
 * kjoule_ctl_call() - send a request and read the whole answer
 * @msg: is freed; NULL: there was no memory
 * @what: for messages
 * Return:	0 or -errno
 */
int kjoule_ctl_call(struct kjoule_ctl *ctl, struct nl_msg *msg, kjoule_ctl_parse *parse, void *arg,
		    const char *what, struct kjoule_error *err);

/** kjoule_ctl_socket() - the socket, and in *@family the number of the family */
struct nl_sock *kjoule_ctl_socket(struct kjoule_ctl *ctl, int *family);

#endif /* KJOULE_CTL_H */
