// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See privilege.h. The verbs that analyse call kjoule_privilege_drop() first of all, while there is one
 * thread.
 */
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
#include "plain_file.h"
#include "privilege.h"

/* More groups than the kernel lets a process have. */
#define GROUPS_MOST	65536

#define CAPABILITIES_MOST	8

static bool raisable;		/* another user by now, and may still read any file */
static uid_t became;		/* that user; 0: none */
static bool refused;

static int capabilities_set(const cap_value_t *effective, int n_effective, const cap_value_t *permitted,
			    int n_permitted)
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
	/* who is in no list has no group of his own either: that of nobody, which has no files */
	*gid = pw ? pw->pw_gid : 65534;
	if (!pw)
		return 0;
	*groups = calloc(n, sizeof(**groups));
	if (!*groups)
		return -ENOMEM;
	return getgrouplist(pw->pw_name, pw->pw_gid, *groups, &n) < 0 ? -E2BIG : n;
}

static int user_become(uid_t uid)
{
	static const cap_value_t read_all[] = { CAP_DAC_READ_SEARCH };
	gid_t *groups, gid;
	int n = user_groups(uid, &gid, &groups), ret = n < 0 ? n : 0;

	if (!ret && (setgroups(n, groups) || setresgid(gid, gid, gid) ||
		     prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setresuid(uid, uid, uid)))
		ret = -errno;
	free(groups);
	if (ret)
		return ret;
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	ret = capabilities_set(NULL, 0, read_all, 1);
	became = uid;
	/* without that right in the first place there is none to raise */
	raisable = !ret;
	return ret == -EPERM ? capabilities_set(NULL, 0, NULL, 0) : ret;
}

/* Of the @n capabilities of a list those that there are, for a container has fewer; the first @n_effective in effect. */
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

int kjoule_privilege_drop(char *const *named, size_t n)
{
	/* the last two are for kjoule_privilege_open_plain_as() */
	static const cap_value_t of_root[] = { CAP_SYSLOG, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, CAP_SETUID, CAP_SETGID };
	uid_t uid;

	/* exec gives root's capabilities back, to gnuplot for instance, unless this is set */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* the program may have capabilities of its own, by setcap(8) */
	if (geteuid())
		return capabilities_keep(of_root, 1, 1);
	if (sudo_user(&uid) || foreign_owner(named, n, &uid))
		return user_become(uid);
	return capabilities_keep(of_root, 5, 3);
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
	static const cap_value_t read_all[] = { CAP_DAC_READ_SEARCH };

	if (raisable)
		capabilities_set(read_all, 1, read_all, 1);
}

void kjoule_privilege_lower(void)
{
	static const cap_value_t read_all[] = { CAP_DAC_READ_SEARCH };

	if (raisable)
		capabilities_set(NULL, 0, read_all, 1);
}

/* CAP_SETUID and CAP_SETGID are used for this only. */
static int identity_raise(cap_t *before)
{
	static const cap_value_t ids[] = { CAP_SETUID, CAP_SETGID };
	cap_t caps;
	int ret = 0;

	*before = cap_get_proc();
	caps = *before ? cap_dup(*before) : NULL;
	if (!caps || cap_set_flag(caps, CAP_EFFECTIVE, 2, ids, CAP_SET) || cap_set_proc(caps))
		ret = -errno;
	cap_free(caps);
	return ret;
}

/* Path and file are looked up with the other user's rights: the kernel asks them as it would for him. */
static int open_as(uid_t uid, const char *path)
{
	gid_t *groups, gid, *own;
	int n = user_groups(uid, &gid, &groups), n_own = getgroups(0, NULL), fd = -EPERM;

	own = n_own >= 0 ? calloc(n_own + 1, sizeof(*own)) : NULL;
	if (n >= 0 && own && getgroups(n_own, own) == n_own && !setgroups(n, groups)) {
		setfsgid(gid);
		/* takes the capabilities to read any file with it */
		setfsuid(uid);
		if (setfsuid(-1) == (int)uid && setfsgid(-1) == (int)gid)
			fd = kjoule_plain_open(AT_FDCWD, path);
		setfsuid(geteuid());
		setfsgid(getegid());
		setgroups(n_own, own);
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
	fd = identity_raise(&before);
	if (!fd)
		fd = open_as(uid, path);
	if (before)
		cap_set_proc(before);
	cap_free(before);
	return fd;
}
