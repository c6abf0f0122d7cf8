// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See plain_file.h. A descriptor of O_PATH opens nothing: no driver and no other end of a FIFO
 * notices it. The file behind it cannot be exchanged, so the file that is read is the one that was
 * checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "lib/base/plain_file.h"

/* Of these <linux/magic.h> of Debian 12 has no names. */
#define MQUEUE_MAGIC	0x19800202
#define CONFIGFS_MAGIC	0x62656570
#define NFSD_MAGIC	0x6e667364
#define FUSE_MAGIC	0x65735546

static bool filesystem_is_generated(const struct statfs *fs)
{
	static const uint32_t magics[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC,
		CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, CONFIGFS_MAGIC, EFIVARFS_MAGIC, BPF_FS_MAGIC, BINFMTFS_MAGIC,
		RDTGROUP_SUPER_MAGIC,
		PSTOREFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC, MQUEUE_MAGIC, NFSD_MAGIC, NSFS_MAGIC,
	};

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((uint32_t)fs->f_type == magics[i])
			return true;
	return false;
}

int kjoule_plain_owner(int fd, uid_t *owner)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -errno;
	/* a FUSE server can claim any owner */
	*owner = (uint32_t)fs.f_type == FUSE_MAGIC ? KJOULE_NOBODY_UID : st.st_uid;
	return 0;
}

static int file_check_plain(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (fstatfs(fd, &fs))
		return -errno;
	return filesystem_is_generated(&fs) ? -EINVAL : 0;
}

/* Consumes @look, a descriptor of O_PATH or -errno. */
static int file_reopen_plain(int look)
{
	char path[32];
	int ret, fd;

	if (look < 0)
		return look;
	ret = file_check_plain(look);
	if (ret) {
		close(look);
		return ret;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", look);
	/*
	 * a lease of another process on the file would make the open wait: O_NONBLOCK fails instead
	 */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ret = fd >= 0 ? fd : errno == ENOENT ? -ENOSYS : -errno;	/* /proc is not mounted */
	close(look);
	return ret;
}

int kjoule_plain_open(int dir, const char *path)
{
	int look = openat(dir, path, O_PATH | O_CLOEXEC);

	return file_reopen_plain(look < 0 ? -errno : look);
}

/* glibc of Debian 12 has no function for it. */
static int path_look_at(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = resolve | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	/* a concurrent rename, anywhere */
	do
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN);
	return fd < 0 ? -errno : fd;
}

/*
 * Were the mounts that a process sees made by an administrator of our user namespace? Return: 1 or
 * 0; -errno: there is no such process any more
 */
static int mounts_are_administered(uint32_t pid)
{
	struct stat ours, theirs;
	bool same = false;
	char path[48];
	int ns, owner;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/mnt", pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		return -errno;
	owner = ioctl(ns, NS_GET_USERNS);
	close(ns);
	if (owner < 0)
		return 0;
	same = !fstat(owner, &theirs) && !stat("/proc/self/ns/user", &ours) &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
	close(owner);
	return same;
}

int kjoule_plain_open_process(uint32_t pid, const char *folder, const char *path)
{
	uint64_t resolve = RESOLVE_IN_ROOT;
	struct stat ours, theirs;
	char root_path[32];
	int root, dir, look, administered;

	snprintf(root_path, sizeof(root_path), "/proc/%" PRIu32 "/root", pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	/* after the root was opened: a process cannot come back to the administrator's mounts */
	administered = mounts_are_administered(pid);
	/* a root of its own may be of any file system */
	if (!administered &&
	    (fstat(root, &theirs) || stat("/", &ours) || theirs.st_dev != ours.st_dev))
		administered = -EXDEV;
	if (administered < 0) {
		close(root);
		return administered;
	}
	if (!administered)
		resolve |= RESOLVE_NO_XDEV;
	dir = path_look_at(root, folder, O_DIRECTORY, resolve);
	close(root);
	if (dir < 0)
		return dir;
	look = path_look_at(dir, path, 0, RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
	close(dir);
	return file_reopen_plain(look);
}
