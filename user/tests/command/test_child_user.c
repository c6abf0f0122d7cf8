// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --user: a command has that user's ids, groups and environment, no capability and no descriptor of
 * ours, and what cannot be done is refused before anything is started.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command/child.h"
#include "command/run_as.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define WHO	"nobody"

/* Of the ids and capabilities that a process has. */
#define STATUS	"grep -E '^(Uid|Gid|Groups|Cap(Inh|Prm|Eff|Amb))' /proc/self/status"

static void need_root(void)
{
	if (!geteuid())
		return;
	print_message("# SKIP only root can become another user\n");
	skip();
}

/* What a command writes that runs as @user; the caller's to free. */
static char *said_as(const struct kjoule_user *user, const char *script,
		     const struct kjoule_region_area *area)
{
	char *command[] = { "sh", "-c", (char *)script, NULL };
	struct child child;
	sigset_t none;

	begin_to_read();
	sigemptyset(&none);
	assert_int_equal(child_start(&child, command, &none, area, user), 0);
	assert_int_equal(child_go(&child), 0);
	assert_true(child_reap(&child, true));
	assert_int_equal(child_code(&child), 0);
	return end_to_read();
}

static struct kjoule_user *find(const char *name)
{
	struct kjoule_user *user;
	struct kjoule_error error;

	assert_int_equal(kjoule_user_find(name, &user, &error), 0);
	assert_int_equal(kjoule_user_check(user, &error), 0);
	return user;
}

static void assert_status(const char *text)
{
	static const char *const sets[] = { "Inh", "Prm", "Eff", "Amb" };
	const struct passwd *account = getpwnam(WHO);
	char line[128];

	snprintf(line, sizeof(line), "Uid:\t%1$u\t%1$u\t%1$u\t%1$u\n", account->pw_uid);
	assert_non_null(strstr(text, line));
	snprintf(line, sizeof(line), "Gid:\t%1$u\t%1$u\t%1$u\t%1$u\n", account->pw_gid);
	assert_non_null(strstr(text, line));
	snprintf(line, sizeof(line), "Groups:\t%u \n", account->pw_gid);
	assert_non_null(strstr(text, line));
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		snprintf(line, sizeof(line), "Cap%s:\t0000000000000000\n", sets[i]);
		assert_non_null(strstr(text, line));
	}
}

TEST(a_command_has_the_rights_of_its_user_only)
{
	gid_t before[64], more[] = { 0, 4, 27 };
	int n = getgroups(64, before);
	struct kjoule_user *user;
	char *text;

	need_root();
	assert_int_equal(setgroups(3, more), 0);
	user = find(WHO);
	text = said_as(user, STATUS, NULL);
	assert_status(text);
	kjoule_user_free(user);
	/* and we are who we were */
	assert_int_equal(geteuid(), 0);
	assert_int_equal(setgroups(n, before), 0);
}

/* Who possesses a key may read it, whatever user he becomes. */
TEST(a_command_has_no_key_of_the_recorders)
{
	struct kjoule_user *user;
	char *text;

	need_root();
	if (access("/proc/keys", R_OK) ||
	    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
	    syscall(SYS_add_key, "user", "kjoule-test", "secret", 6,
		    KEY_SPEC_SESSION_KEYRING) < 0) {
		print_message("# SKIP this kernel keeps no keys\n");
		skip();
	}
	assert_int_equal(system("grep -q kjoule-test /proc/keys"), 0);
	user = find(WHO);
	text = said_as(user, "grep -c kjoule-test /proc/keys; true", NULL);
	assert_string_equal(text, "0\n");
	kjoule_user_free(user);
}

/* In a process of its own, as none of it can be undone. */
static _Noreturn void keep_capabilities_and_run(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3];
	struct kjoule_user *user;
	char *text;

	if (syscall(SYS_capget, &head, all))
		_exit(2);
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		all[i].inheritable = all[i].permitted;
	if (syscall(SYS_capset, &head, all) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0) ||
	    prctl(PR_SET_SECUREBITS,
		  SECBIT_NO_SETUID_FIXUP | SECBIT_KEEP_CAPS | SECBIT_KEEP_CAPS_LOCKED))
		_exit(3);
	user = find(WHO);
	text = said_as(user, STATUS, NULL);
	assert_status(text);
	kjoule_user_free(user);
	_exit(0);
}

TEST(no_securebit_keeps_a_capability)
{
	int status;
	pid_t pid;

	need_root();
	pid = fork();
	if (!pid)
		keep_capabilities_and_run();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(a_command_has_the_environment_of_its_user)
{
	const struct passwd *account = getpwnam(WHO);
	char number[16], wanted[1024];
	struct kjoule_user *user;
	char *text;

	need_root();
	setenv("KJOULE_TEST_KEPT", "kept", 1);
	snprintf(number, sizeof(number), "%u", account->pw_uid);
	snprintf(wanted, sizeof(wanted), "%s %s %s %s kept %s", account->pw_dir, WHO, WHO,
		 account->pw_shell, getenv("PATH"));
	user = find(number);
	text = said_as(user, "printf %s \"$HOME $USER $LOGNAME $SHELL $KJOULE_TEST_KEPT $PATH\"",
		       NULL);
	assert_string_equal(text, wanted);
	kjoule_user_free(user);
}

TEST(a_command_has_no_descriptor_but_the_usual_ones)
{
	int secret = open("/etc/shadow", O_RDONLY), low, high;
	struct kjoule_user *user;
	char *text;

	need_root();
	assert_true(secret >= 0);
	low = fcntl(secret, F_DUPFD, 20);
	high = fcntl(secret, F_DUPFD, 300);
	user = find(WHO);
	text = said_as(user, "for n in $(seq 3 400); do readlink /proc/self/fd/$n; done; true",
		       NULL);
	assert_string_equal(text, "");
	/* without a user it is as it was: what was inherited by us is inherited by it */
	text = said_as(NULL, "readlink /proc/self/fd/20 /proc/self/fd/300", NULL);
	assert_string_equal(text, "/etc/shadow\n/etc/shadow\n");
	kjoule_user_free(user);
	close(high);
	close(low);
	close(secret);
}

/* As lib/region.c looks for it. */
TEST(regions_can_be_marked_by_another_user)
{
	struct kjoule_region_area *area;
	struct kjoule_user *user;
	char *text;

	need_root();
	user = find(WHO);
	assert_int_equal(kjoule_region_area_new(&area), 0);
	text = said_as(user, "IFS=: read fd inode pid other <<END\n$KJOULE_REGIONS\nEND\n"
		       "[ -w /proc/self/fd/$fd ] && echo inherited\n"
		       /* where what the command has started has it closed */
		       "sh -c \": <>/proc/$pid/fd/$other && echo opened\" 2>&1", area);
	assert_string_equal(text, "inherited\nopened\n");
	kjoule_region_area_free(area);
	kjoule_user_free(user);
}

/* As with file capabilities: the kernel shows our descriptors to no other process of our user. */
TEST(regions_are_found_where_the_recorder_is_hidden)
{
	static const char script[] = "IFS=: read fd inode pid other <<END\n$KJOULE_REGIONS\nEND\n"
		"[ $pid = $$ ] && : <>/proc/$pid/fd/$other && echo opened";
	struct kjoule_region_area *area;
	char *text;

	assert_int_equal(kjoule_region_area_new(&area), 0);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 0), 0);
	text = said_as(NULL, script, area);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
	assert_string_equal(text, "opened\n");
	kjoule_region_area_free(area);
}

TEST(an_unknown_user_is_refused_before_anything)
{
	static const char *const names[] = { "no-such-user", "4294967295", "4294967294", "-1",
					     "1000000000000" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(kjoule("record --user %s -o %s -- true", names[i],
					temp_path("none")), 1);
		assert_true(says(err, "no such user; see `getent passwd`"));
		assert_int_equal(access(temp_path("none"), F_OK), -1);
	}
	assert_int_equal(kjoule("record --user '' -o %s -- true", temp_path("none")), 2);
	assert_true(says(err, "--user '': not understood; expected NAME"));
	assert_int_equal(access(temp_path("none"), F_OK), -1);
	assert_int_equal(kjoule("sweep --user no-such-user -o %s -- true", temp_path("none")), 1);
	assert_true(says(err, "cannot run the command as 'no-such-user'"));
	assert_int_equal(access(temp_path("none"), F_OK), -1);
	assert_int_equal(kjoule("boost run --user no-such-user -- true"), 1);
	assert_true(says(err, "cannot run the command as 'no-such-user'"));
	assert_int_equal(kjoule("boost trace --user no-such-user -- true"), 1);
	assert_true(says(err, "cannot run the command as 'no-such-user'"));
}

TEST(a_user_without_a_command_is_a_usage_error)
{
	assert_int_equal(kjoule("record --user " WHO " -a"), 2);
	assert_true(says(err, "--user needs a command"));
	assert_int_equal(kjoule("record --user " WHO " -p 1"), 2);
	assert_int_equal(kjoule("sweep --user " WHO " --restore"), 2);
	assert_int_equal(kjoule("boost trace --user " WHO), 2);
	assert_true(says(err, "--user needs a command"));
	assert_int_equal(kjoule("boost cause --user " WHO), 2);
}

TEST(who_may_not_become_another_user_hears_that_before)
{
	static const char wanted[] = "cannot run the command as 'root': Operation not permitted; "
		"run kjoule as root, with sudo";
	struct kjoule_user *user;
	struct kjoule_error error;
	int status;
	pid_t pid;

	assert_int_equal(kjoule_user_find("root", &user, &error), 0);
	pid = fork();
	if (!pid) {
		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(2);
		_exit(kjoule_user_check(user, &error) != -EPERM || strcmp(error.text, wanted));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	kjoule_user_free(user);
}

static char *noted(const char *sudo_user, const char *name, bool quiet)
{
	struct kjoule_user *user;
	int code;

	if (sudo_user)
		setenv("SUDO_USER", sudo_user, 1);
	else
		unsetenv("SUDO_USER");
	stderr_capture();
	code = kjoule_user_choose(name, quiet, &user);
	unsetenv("SUDO_USER");
	assert_int_equal(code, 0);
	assert_int_equal(!user, !name);
	kjoule_user_free(user);
	return stderr_release();
}

TEST(sudo_is_noted)
{
	char *text;

	need_root();
	text = noted("alice", NULL, false);
	assert_string_equal(text, "kjoule: the command runs as root; run it as yourself with "
			    "--user alice\n");
#define NOTHING(...) do {		\
	text = noted(__VA_ARGS__);	\
	assert_string_equal(text, "");	\
} while (0)
	NOTHING("alice", NULL, true);
	NOTHING("alice", WHO, false);
	NOTHING("root", NULL, false);
	NOTHING("", NULL, false);
	NOTHING(NULL, NULL, false);
}
