/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files that another user named: a recording, an ELF file, debug information or a recorded
 * program. For root, open(2) has effects: it arms a watchdog, rewinds a tape, waits at a FIFO. So a
 * file is checked first, and opened only if it is a regular file on a disk.
 */
#ifndef KJOULE_PLAIN_FILE_H
#define KJOULE_PLAIN_FILE_H

#include <stdint.h>
#include <sys/types.h>

/**
 * kjoule_plain_open() - open a regular file for reading
 * @dir: start of a relative @path, as for openat(2)
 *
 * Follows symbolic links. Virtual files of the kernel (procfs, sysfs, debugfs, cgroup and the like)
 * are refused: reading some has effects, others have no end.
 *
 * Return: a descriptor; -EINVAL: not a regular file on a disk; -errno
 */
int kjoule_plain_open(int dir, const char *path);

/* The user that has no files, by convention. */
#define KJOULE_NOBODY_UID	65534

/**
 * kjoule_plain_owner() - the user that a file belongs to; KJOULE_NOBODY_UID if a FUSE server claims
 * one
 * Return: 0 or -errno
 */
int kjoule_plain_owner(int fd, uid_t *owner);

/**
 * kjoule_plain_open_process() - open a regular file as a process sees it
 * @pid: the process, whose root and mounts may differ from ours
 * @folder: absolute path of a folder there, through symbolic links, which do not leave its root
 * @path: of the file in that folder, relative; no symbolic link is followed
 *
 * A process in a user namespace of its own can mount anything, such as a file system whose server
 * never answers: its root must be on the file system of ours, and no mount is crossed on the way
 * from there. Otherwise an administrator has made the mounts on the way to @folder, but any user
 * may have made one in it (fusermount): none is crossed there.
 *
 * Return: as kjoule_plain_open(); -ENOENT also without such a process; -EXDEV: a mount that may not
 *   be crossed; -ELOOP: a symbolic link
 */
int kjoule_plain_open_process(uint32_t pid, const char *folder, const char *path);

#endif /* KJOULE_PLAIN_FILE_H */
