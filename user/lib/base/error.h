/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An error as a sentence: what was requested, what failed, what to do next. Functions of libkjoule
 * print nothing and never exit; they return 0 (or a count) or -errno. An error pointer may be NULL.
 */
#ifndef KJOULE_ERROR_H
#define KJOULE_ERROR_H


struct kjoule_error {
	char text[512];
};

/**
 * kjoule_fail() - set a message and return the error
 * @err: may be NULL
 * @code: a positive errno
 * Return:	-@code
 */
int kjoule_fail(struct kjoule_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define KJOULE_LOCKDOWN		"/sys/kernel/security/lockdown"

/**
 * kjoule_refused() - the same for missing rights, with fitting advice
 * @code: EPERM or EACCES
 * @what: was requested
 * @said: the kernel's message, NULL: it had none
 * @lockdown: KJOULE_LOCKDOWN, or a file that looks like it
 * Return:	-@code
 */
int kjoule_refused(struct kjoule_error *err, int code, const char *what, const char *said,
		   const char *lockdown);

#endif /* KJOULE_ERROR_H */
