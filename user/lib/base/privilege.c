// SPDX-License-Identifier: GPL-2.0-or-later
/* See privilege.h. Verbs that analyse call kjoule_privilege_drop() first, with one thread. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/plain_file.h"
#include "lib/base/privilege.h"

/* More groups than the kernel lets a process have. */
#define GROUPS_MOST	65536

#define CAPABILITIES_MOST	8

static bool raisable;		/* with another user's rights, and may still read any file */
static uid_t became;		/* that user; 0: none */
static bool refused;

static int capabilities_set(const cap_value_t *effective, int n_effective,
			    const cap_value_t *permitted, int n_permitted)
{
	cap_t caps = cap_init();
	int ret = -ENOMEM;

	if (!caps)
		return ret;
	ret = 0;
	if ((n_permitted && cap_set_flag(caps, CAP_PERMITTED, n_permitted, permitted, CAP_SET)) ||
	    (n_effective && cap_set_flag(caps, CAP_EFFECTIVE, n_effective, effective, CAP_SET)) ||
	    cap_set_proc(caps))
		ret = -errno;
	cap_free(caps);
	return ret;
}

static bool sudo_user(uid_t *uid)
{
	const char *text = secure_getenv("SUDO_UID");
	unsigned long number;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	/* the last number stands for no user */
	if (errno || *end || !number || number >= (uid_t)-1)
		return false;
	*uid = number;
	return true;
}

static bool foreign_owner(char *const *named, size_t n, uid_t *uid)
{
	struct stat st;

	for (size_t i = 0; i < n; i++) {
		if (stat(named[i], &st) || !st.st_uid)
			continue;
		*uid = st.st_uid;
		return true;
	}
	return false;
}

/* The groups of a user. Return: how many, or -errno */
static int user_groups(uid_t uid, gid_t *gid, gid_t **groups)
{
	const struct passwd *pw = getpwuid(uid);
	int n = GROUPS_MOST;

	*groups = NULL;
	/* an unlisted user has no group either: use that of "nobody", which has no files */
	*gid = pw ? pw->pw_gid : KJOULE_NOBODY_UID;
	if (!pw)
		return 0;
	*groups = calloc(n, sizeof(**groups));
	if (!*groups)
		return -ENOMEM;
	return getgrouplist(pw->pw_name, pw->pw_gid, *groups, &n) < 0 ? -E2BIG : n;
}

/*
 * Of the @n capabilities of a list the available ones, for a container has fewer; the first
 * @n_effective in effect.
 */
static int capabilities_keep(const cap_value_t *list, int n, int n_effective)
{
	cap_value_t kept[CAPABILITIES_MOST];
	cap_t caps = cap_get_proc();
	int n_kept = 0, effective = 0;

	if (!caps)
		return -errno;
	for (int i = 0; i < n; i++) {
		cap_flag_value_t has;

		if (cap_get_flag(caps, list[i], CAP_PERMITTED, &has) || has != CAP_SET)
			continue;
		kept[n_kept++] = list[i];
		effective += i < n_effective;
	}
	cap_free(caps);
	return capabilities_set(kept, effective, kept, n_kept);
}

/* Set some of the permitted capabilities. Return: 0 or -errno */
static int capabilities_effect(const cap_value_t *list, int n, cap_flag_value_t value)
{
	cap_t caps = cap_get_proc();
	int ret = 0;

	if (!caps || cap_set_flag(caps, CAP_EFFECTIVE, n, list, value) || cap_set_proc(caps))
		ret = -errno;
	cap_free(caps);
	return ret;
}

/*
 * The first is for kjoule_privilege_raise(), those after it for kjoule_privilege_open_plain_as().
 */
static const cap_value_t of_root[] = { CAP_DAC_READ_SEARCH, CAP_SETUID, CAP_SETGID };

/* With another user's rights: of root's, the first @n of the list can be raised. */
static int rights_limit(uid_t uid, int n)
{
	became = uid;
	raisable = true;
	return capabilities_keep(of_root, n, 0);
}

static int user_become(uid_t uid)
{
	gid_t *groups, gid;
	int n = user_groups(uid, &gid, &groups), ret = n < 0 ? n : 0;

	if (!ret && (setgroups(n, groups) || setresgid(gid, gid, gid) ||
		     prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setresuid(uid, uid, uid)))
		ret = -errno;
	free(groups);
	if (ret)
		return ret;
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	return rights_limit(uid, 1);
}

/*
 * Open files with another user's rights, but stay root: that user could trace a process of his own,
 * or what it executes, and type into root's terminal. His FUSE server could block it, which the
 * kernel prevents for processes that are not all his.
 */
static int user_fs_become(uid_t uid)
{
	gid_t *groups, gid;
	int n = user_groups(uid, &gid, &groups), ret = n < 0 ? n : 0;

	if (!ret && setgroups(n, groups))
		ret = -errno;
	free(groups);
	if (ret)
		return ret;
	setfsgid(gid);
	setfsuid(uid);
	if (setfsgid(-1) != (int)gid || setfsuid(-1) != (int)uid)
		return -EPERM;
	return rights_limit(uid, 3);
}

int kjoule_privilege_limit(void)
{
	static const cap_value_t list[] = { CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, CAP_SYSLOG,
					    CAP_SETUID, CAP_SETGID };

	/* else exec restores root's capabilities, for gnuplot for instance */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return capabilities_keep(list, 5, 3);
}

int kjoule_privilege_drop(char *const *named, size_t n)
{
	static const cap_value_t syslog = CAP_SYSLOG;
	int ret = -EPERM;
	uid_t uid;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* the program may have capabilities of its own, by setcap(8) */
	if (geteuid())
		return capabilities_keep(&syslog, 1, 1);
	if (sudo_user(&uid))
		ret = user_become(uid);
	else if (foreign_owner(named, n, &uid))
		ret = user_fs_become(uid);
	/* there are no other users in some user namespaces */
	return ret == -EPERM || ret == -EINVAL ? kjoule_privilege_limit() : ret;
}

void kjoule_privilege_note(int error)
{
	if (became && error == -EACCES)
		refused = true;
}

uid_t kjoule_privilege_refused(void)
{
	return refused ? became : 0;
}

void kjoule_privilege_raise(void)
{
	/* where it is not permitted files are opened without */
	if (raisable)
		capabilities_effect(of_root, 1, CAP_SET);
}

void kjoule_privilege_lower(void)
{
	if (raisable && capabilities_effect(of_root, 1, CAP_CLEAR))
		abort();
}

/* Path and file are looked up with the other user's rights. */
static int path_open_as(uid_t uid, const char *path)
{
	gid_t *groups, gid, *own;
	int n = user_groups(uid, &gid, &groups), n_own = getgroups(0, NULL), fd = -EPERM;
	int own_uid = setfsuid(-1), own_gid = setfsgid(-1);

	own = n_own >= 0 ? calloc(n_own + 1, sizeof(*own)) : NULL;
	if (n >= 0 && own && getgroups(n_own, own) == n_own && !setgroups(n, groups)) {
		setfsgid(gid);
		/* also drops the capabilities to read any file */
		setfsuid(uid);
		if (setfsuid(-1) == (int)uid && setfsgid(-1) == (int)gid)
			fd = kjoule_plain_open(AT_FDCWD, path);
		setfsuid(own_uid);
		setfsgid(own_gid);
		if (setgroups(n_own, own))
			abort();
	}
	free(groups);
	free(own);
	return fd;
}

int kjoule_privilege_open_plain_as(uid_t uid, const char *path)
{
	cap_t before;
	int fd;

	if (geteuid() || !uid)
		return kjoule_plain_open(AT_FDCWD, path);
	before = cap_get_proc();
	fd = before ? capabilities_effect(of_root + 1, 2, CAP_SET) : -errno;
	if (!fd)
		fd = path_open_as(uid, path);
	if (before && cap_set_proc(before))
		abort();
	cap_free(before);
	return fd;
}
