// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The user that a command runs as; see user.h. Names are looked up before the fork: a child
 * should not have to load what the user database asks for.
 */
#include <errno.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "command/run_as.h"

/* As many groups as Linux lets a process have. */
#define GROUPS_MOST	65536

#define DEFAULT_SHELL	"/bin/sh"

#define CANNOT		"cannot run the command as '%s': "

struct kjoule_user {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int n_groups;
	char *name, *home, *shell;
};

/* A name of digits only is a name, where there is such a user. */
static struct passwd *user_find_account(const char *name)
{
	struct passwd *account;
	uint32_t uid;

	errno = 0;
	account = getpwnam(name);
	/* UINT32_MAX stands for "unchanged" in setresuid() */
	if (account || args_number(name, 0, UINT32_MAX - 1, &uid))
		return account;
	errno = 0;
	return getpwuid(uid);
}

/* Return: 0 or -ENOMEM */
static int user_find_groups(struct kjoule_user *u)
{
	int room = 32, n;

	for (;;) {
		gid_t *more = reallocarray(u->groups, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		u->groups = more;
		n = room;
		if (getgrouplist(u->name, u->gid, u->groups, &n) >= 0)
			break;
		/* some C libraries do not say how many there are */
		room = n > room ? n : 2 * room;
		if (room > GROUPS_MOST)
			return -ENOMEM;
	}
	u->n_groups = n;
	return 0;
}

int kjoule_user_find(const char *name, struct kjoule_user **user, struct kjoule_error *err)
{
	struct passwd *account = user_find_account(name);
	struct kjoule_user *u;

	*user = NULL;
	/* what getpwnam() leaves in errno where there is no such user differs between databases */
	if (!account && (errno == EIO || errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return kjoule_fail(err, errno, "cannot look up user '%s': %s", name,
				   strerror(errno));
	if (!account)
		return kjoule_fail(err, ENOENT, CANNOT "no such user; see `getent passwd`", name);
	u = calloc(1, sizeof(*u));
	if (!u)
		return kjoule_fail(err, ENOMEM, "no memory");
	u->uid = account->pw_uid;
	u->gid = account->pw_gid;
	u->name = strdup(account->pw_name);
	u->home = strdup(account->pw_dir);
	u->shell = strdup(*account->pw_shell ? account->pw_shell : DEFAULT_SHELL);
	if (!u->name || !u->home || !u->shell || user_find_groups(u)) {
		kjoule_user_free(u);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	*user = u;
	return 0;
}

void kjoule_user_free(struct kjoule_user *user)
{
	if (!user)
		return;
	free(user->groups);
	free(user->name);
	free(user->home);
	free(user->shell);
	free(user);
}

/* Return: 0 or -errno */
static int user_drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* the ambient set, which exec would keep, can have no more than the permitted one */
	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

static bool user_has_capability(unsigned int capability)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return !syscall(SYS_capget, &head, data) &&
	       data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

int kjoule_user_become(const struct kjoule_user *u)
{
	int ret = 0;

	if (close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC))
		return -errno;
	/*
	 * else the keys of who records are possessed by the command; a kernel without keys has none
	 */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		return -errno;
	/* groups first: afterwards there is no right to change them */
	if (setgroups(u->n_groups, u->groups) || setresgid(u->gid, u->gid, u->gid) ||
	    setresuid(u->uid, u->uid, u->uid))
		return -errno;
	/* securebits may have kept some, or a caller had them without being root */
	if (u->uid)
		ret = user_drop_capabilities();
	if (!ret && (setenv("HOME", u->home, 1) || setenv("USER", u->name, 1) ||
		     setenv("LOGNAME", u->name, 1) || setenv("SHELL", u->shell, 1)))
		ret = -ENOMEM;
	return ret;
}

int kjoule_user_check(const struct kjoule_user *user, struct kjoule_error *err)
{
	int status = 0, ret = 0;
	pid_t pid;

	/* who cannot end a command could not end a recording either */
	if (!user_has_capability(CAP_KILL))
		ret = EPERM;
	/* there is no status of children where SIGCHLD is ignored, as our parent may have done */
	signal(SIGCHLD, SIG_DFL);
	pid = ret ? 0 : fork();
	if (!ret && !pid)
		_exit(-kjoule_user_become(user));
	if (pid < 0 || (pid > 0 && TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) < 0))
		return kjoule_fail(err, errno, CANNOT "%s", user->name, strerror(errno));
	if (pid)
		ret = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	if (ret == EPERM)
		return kjoule_fail(err, ret, CANNOT "%s; run kjoule as root, with sudo",
				   user->name, strerror(ret));
	return ret ? kjoule_fail(err, ret, CANNOT "%s", user->name, strerror(ret)) : 0;
}

/* Who has called sudo; NULL: only root, or this is not root any more. */
static const char *user_sudo_caller(void)
{
	const char *caller = getenv("SUDO_USER");

	return !geteuid() && caller && *caller && strcmp(caller, "root") ? caller : NULL;
}

int kjoule_user_choose(const char *name, bool quiet, struct kjoule_user **user)
{
	const char *caller = user_sudo_caller();
	struct kjoule_error err;
	int ret;

	*user = NULL;
	if (!name) {
		if (caller && !quiet)
			cmd_warn("the command runs as root; run it as yourself with --user %s",
				 caller);
		return 0;
	}
	ret = kjoule_user_find(name, user, &err);
	if (!ret)
		ret = kjoule_user_check(*user, &err);
	if (!ret)
		return 0;
	kjoule_user_free(*user);
	*user = NULL;
	return cmd_failed("%s", err.text);
}
