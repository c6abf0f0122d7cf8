/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops root's rights where they are not needed: analyses read a recording, and the files that it
 * names. Recordings, ELF files and DWARF may be any user's, and so are the files that they name.
 */
#ifndef KJOULE_PRIVILEGE_H
#define KJOULE_PRIVILEGE_H

#include <stddef.h>
#include <sys/types.h>

/**
 * kjoule_privilege_drop() - before an analysis: keep no more rights than it needs
 * @named: recordings, or folders of them, that were named on the command line
 *
 * If the effective user is root, the process becomes, for good, the user who called sudo
 * (SUDO_UID). Otherwise it opens files with the rights of the owner of a recording that is not
 * root's, and may then raise root's right to read any file. Otherwise see kjoule_privilege_limit().
 * Users other than root keep the capability to see kernel addresses, if the program's file gives
 * it. No program executed afterwards has more.
 *
 * This limits the effect of a mistake. It does not confine a process that was taken over: that
 * still has a user id of root's, or the right to read.
 *
 * Return: 0, or -errno: rights could not be dropped
 */
int kjoule_privilege_drop(char *const *named, size_t n);

/**
 * kjoule_privilege_limit() - stay root, with the capabilities to read and write files, to see
 * kernel
 *			      addresses and to open a source file as its reader, and no others
 * Return: 0 or -errno
 */
int kjoule_privilege_limit(void);

/**
 * kjoule_privilege_raise() - to open a recording that the user named: root's right to read any file
 */
void kjoule_privilege_raise(void);
/** kjoule_privilege_lower() - and back */
void kjoule_privilege_lower(void);

/** kjoule_privilege_note() - a file could not be opened; for kjoule_privilege_refused() */
void kjoule_privilege_note(int error);
/** kjoule_privilege_refused() - the user who was refused what root might open; 0: none */
uid_t kjoule_privilege_refused(void);

/**
 * kjoule_privilege_open_plain_as() - kjoule_plain_open() with the rights of another user
 * @uid: root's process opens what this user may open; any other process what it may open itself
 * Return: a descriptor, or -errno
 */
int kjoule_privilege_open_plain_as(uid_t uid, const char *path);

#endif /* KJOULE_PRIVILEGE_H */
