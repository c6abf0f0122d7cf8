// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that are written under another name and renamed into place; output_file.h says why. All
 * names are looked up in one folder's descriptor, so that the folder cannot be exchanged in
 * between.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "lib/base/output_file.h"
#include "lib/base/privilege.h"

/* Unguessable names collide by chance only. */
#define TEMP_TRIES	8

static int target_fail(const struct kjoule_output_file *f, int code, const char *found,
		       bool removable, struct kjoule_error *err)
{
	kjoule_privilege_note(-code);
	return kjoule_fail(err, code, "cannot write '%s': %s; %sname another file%s", f->path,
			   found, removable ? "remove it or " : "",
			   f->flags & KJOULE_OUTPUT_RECORDING ? " with -o" : "");
}

static int folder_open(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, slash + 1 - path) : strdup(".");
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int ret = fd < 0 ? -errno : fd;

	free(folder);
	return ret;
}

/* May what is there be replaced? @st: out: what is there, if @f->replaces */
static int target_check(struct kjoule_output_file *f, struct stat *st, struct kjoule_error *err)
{
	const char *name = basename(f->path);
	char found[100];

	f->replaces = false;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return target_fail(f, EISDIR, strerror(EISDIR), false, err);
	if (fstatat(f->folder, name, st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : target_fail(f, errno, strerror(errno), false, err);
	f->replaces = true;
	if (S_ISDIR(st->st_mode))
		return target_fail(f, EISDIR, strerror(EISDIR), false, err);
	if (S_ISLNK(st->st_mode))
		return target_fail(f, ELOOP, "is a symbolic link", false, err);
	if (!S_ISREG(st->st_mode))
		return target_fail(f, EINVAL, "is not a regular file", false, err);
	if (st->st_uid != geteuid()) {
		snprintf(found, sizeof(found), "belongs to user %u, not to user %u", st->st_uid,
			 geteuid());
		return target_fail(f, EPERM, found, true, err);
	}
	if (st->st_nlink > 1) {
		snprintf(found, sizeof(found), "is known by %ju names (hard links)",
			 (uintmax_t)st->st_nlink);
		return target_fail(f, EMLINK, found, true, err);
	}
	if (f->flags & KJOULE_OUTPUT_KEEP)
		return kjoule_fail(err, EEXIST, "cannot write '%s': exists already; "
				   "remove it, name another file, or replace it with --force",
				   f->path);
	return 0;
}

/* Return: 0 with the folder open and @f->path set; kjoule_output_file_close() in any case */
static int target_find(struct kjoule_output_file *f, int folder, const char *path,
		       unsigned int flags, struct stat *st, struct kjoule_error *err)
{
	*f = (struct kjoule_output_file){ .fd = -1, .folder = -1, .flags = flags };
	f->path = strdup(path);
	if (!f->path)
		return kjoule_fail(err, ENOMEM, "no memory");
	f->folder = folder == AT_FDCWD ? folder_open(path) : fcntl(folder, F_DUPFD_CLOEXEC, 0);
	if (f->folder < 0) {
		int code = folder == AT_FDCWD ? -f->folder : errno;

		return target_fail(f, code, strerror(code), false, err);
	}
	return target_check(f, st, err);
}

/* A file's replacement is not readable by more users. */
static mode_t replaced_mode(const struct stat *old, int fd)
{
	struct stat st;

	return old->st_mode & (!fstat(fd, &st) && st.st_gid == old->st_gid ? 0666 : 0606);
}

static int temp_create(struct kjoule_output_file *f, const struct stat *old)
{
	mode_t mode = f->replaces || f->flags & KJOULE_OUTPUT_RECORDING ? 0600 : 0666;
	char name[sizeof(f->temp)];
	uint64_t random;

	for (int i = 0; i < TEMP_TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -errno;
		snprintf(name, sizeof(name), ".kjoule-%016llx", (unsigned long long)random);
		f->fd = openat(f->folder, name,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (f->fd >= 0 || errno != EEXIST)
			break;
	}
	if (f->fd < 0)
		return -errno;
	memcpy(f->temp, name, sizeof(name));
	/* a folder's default ACL does not apply to a replacement */
	if (f->replaces || f->flags & KJOULE_OUTPUT_RECORDING)
		fremovexattr(f->fd, "system.posix_acl_access");
	/* the umask applies to new files only */
	if (f->flags & KJOULE_OUTPUT_RECORDING ? fchmod(f->fd, 0600) :
	    f->replaces && fchmod(f->fd, replaced_mode(old, f->fd)))
		return -errno;
	f->stream = fdopen(f->fd, "w");
	return f->stream ? 0 : -errno;
}

int kjoule_output_file_open(struct kjoule_output_file *f, int folder, const char *path,
			    unsigned int flags, struct kjoule_error *err)
{
	struct stat old;
	int ret = target_find(f, folder, path, flags, &old, err);

	if (!ret) {
		ret = temp_create(f, &old);
		/* the folder is there: it is one of /proc or the like */
		if (ret)
			target_fail(f, -ret, ret == -ENOENT ? "its folder takes no new files" :
				    strerror(-ret), false, err);
	}
	if (ret)
		kjoule_output_file_close(f, NULL);
	return ret;
}

int kjoule_output_file_check(const char *path, unsigned int flags, struct kjoule_error *err)
{
	struct kjoule_output_file f;
	struct stat old;
	int ret = target_find(&f, AT_FDCWD, path, flags, &old, err);

	if (!ret && faccessat(f.folder, ".", W_OK | X_OK, AT_EACCESS))
		ret = target_fail(&f, errno, strerror(errno), false, err);
	kjoule_output_file_close(&f, NULL);
	return ret;
}

int kjoule_output_file_commit(struct kjoule_output_file *f, struct kjoule_error *err)
{
	struct stat old;
	int ret;

	errno = 0;
	if (fflush(f->stream) || ferror(f->stream)) {
		ret = errno ? errno : EIO;
		return kjoule_fail(err, ret, "%s: writing: %s", f->path, strerror(ret));
	}
	/* a file that came since is left alone; a later one renameat() replaces, unwritten */
	ret = target_check(f, &old, err);
	if (ret)
		return ret;
	if (renameat(f->folder, f->temp, f->folder, basename(f->path)))
		return target_fail(f, errno, strerror(errno), false, err);
	f->temp[0] = '\0';
	return 0;
}

int kjoule_output_file_close(struct kjoule_output_file *f, struct kjoule_error *err)
{
	int ret = 0;

	if (f->temp[0])
		unlinkat(f->folder, f->temp, 0);
	if (f->stream ? fclose(f->stream) : f->fd >= 0 && close(f->fd))
		ret = kjoule_fail(err, errno, "%s: closing: %s", f->path, strerror(errno));
	if (f->folder >= 0)
		close(f->folder);
	free(f->path);
	*f = (struct kjoule_output_file){ .fd = -1, .folder = -1 };
	return ret;
}

int kjoule_output_file_finish(struct kjoule_output_file *f, struct kjoule_error *err)
{
	int ret = kjoule_output_file_commit(f, err);
	int closed = kjoule_output_file_close(f, ret ? NULL : err);

	return ret ? ret : closed;
}
