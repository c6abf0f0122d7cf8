// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A command as a load: it runs as long as it is to, is started again when it ends, and nothing of
 * it is left behind.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "boost/boost.h"
#include "tests/support/unit.h"

#define WAIT_MS	10000

static sigset_t none;

static void rest(void)
{
	nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
}

/* Tend to it until it was started so often, or has failed. */
static int tend_until(struct boost_command_load *l, unsigned int times, struct kjoule_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < WAIT_MS / 10 && !ret && l->times < times; i++) {
		ret = boost_command_load_tend(l, true, err);
		rest();
	}
	return ret;
}

TEST(it_is_started_again_and_ended)
{
	char *shortly[] = { "true", NULL }, *all[] = { "sleep", "60", NULL };
	struct boost_command_load l = { .command = shortly, .mask = &none };
	struct boost_command_load endless = { .command = all, .mask = &none };
	struct kjoule_error err;
	pid_t pid;

	assert_int_equal(tend_until(&l, 3, &err), 0);
	assert_int_equal(l.times, 3);
	assert_int_equal(boost_command_load_tend(&l, false, &err), 0);
	assert_false(l.runs);

	assert_int_equal(boost_command_load_tend(&endless, true, &err), 0);
	assert_int_equal(boost_command_load_tend(&endless, true, &err), 0);
	assert_int_equal(endless.times, 1);
	pid = endless.child.pid;
	assert_true(boost_command_load_is(&endless, pid));
	assert_false(boost_command_load_is(&endless, getpid()));
	assert_false(boost_command_load_is(&endless, getppid()));
	assert_int_equal(boost_command_load_tend(&endless, false, &err), 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_false(boost_command_load_is(&endless, pid));
	/* there is nothing to end */
	assert_int_equal(boost_command_load_tend(&endless, false, &err), 0);
}

static bool group_lives(pid_t group)
{
	for (unsigned int i = 0; i < WAIT_MS / 10; i++) {
		if (kill(-group, 0))
			return false;
		rest();
	}
	return true;
}

TEST(nothing_of_it_is_left)
{
	char deaf[] = "/tmp/kjoule-deaf-XXXXXX";
	/* one that will not hear, and says when, and what it has started */
	char *stubborn[] =
		{ "sh", "-c",
		  "trap '' TERM; : >\"$0\"; sleep 60 & sleep 60 & while :; do sleep 0.05; done",
		  deaf, NULL };
	/* one that ends before what it has started */
	char *leaves[] = { "sh", "-c", "sleep 60 & exit 0", NULL };
	struct boost_command_load l = { .command = stubborn, .mask = &none };
	struct boost_command_load left = { .command = leaves, .mask = &none };
	struct kjoule_error err;
	pid_t group;
	int fd;

	fd = mkstemp(deaf);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unlink(deaf), 0);
	assert_int_equal(boost_command_load_tend(&l, true, &err), 0);
	group = l.child.pid;
	for (unsigned int i = 0; i < WAIT_MS / 10 && access(deaf, F_OK); i++)
		rest();
	assert_int_equal(unlink(deaf), 0);
	assert_int_equal(boost_command_load_tend(&l, false, &err), 0);
	/* it did not end when asked to */
	assert_true(WIFSIGNALED(l.child.status) && WTERMSIG(l.child.status) == SIGKILL);
	assert_false(group_lives(group));

	assert_int_equal(boost_command_load_tend(&left, true, &err), 0);
	group = left.child.pid;
	assert_int_equal(tend_until(&left, 2, &err), 0);
	assert_false(group_lives(group));
	assert_int_equal(boost_command_load_tend(&left, false, &err), 0);
	assert_false(group_lives(left.child.pid));
}

/*
 * In a process of its own: a load that has begun for the second time, whose group is known, and
 * then a kill.
 */
static _Noreturn void load_and_die(pid_t *group)
{
	char *endless[] = { "sh", "-c", "sleep 60 & sleep 60", NULL };
	struct boost_command_load l = { .command = endless, .mask = &none };
	struct kjoule_error err;

	if (boost_command_load_open(&l, &err) || boost_command_load_tend(&l, true, &err) ||
	    boost_command_load_tend(&l, false, &err) || boost_command_load_tend(&l, true, &err))
		_exit(1);
	*group = l.child.pid;
	kill(getpid(), SIGKILL);
	_exit(1);
}

TEST(it_does_not_outlive_a_process_that_was_killed)
{
	pid_t *group = mmap(NULL, sizeof(*group), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0), pid;
	int status;

	assert_true(group != MAP_FAILED);
	pid = fork();
	if (!pid)
		load_and_die(group);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(*group > 0);
	assert_false(group_lives(*group));
	munmap(group, sizeof(*group));
}

TEST(a_load_that_has_ended_is_nobody_s_to_end)
{
	char *all[] = { "sleep", "60", NULL }, *shortly[] = { "true", NULL };
	char *missing[] = { "/nowhere/at/all", NULL };
	struct boost_command_load l = { .command = all, .mask = &none };
	struct kjoule_error err;
	pid_t group, guardian;

	assert_int_equal(boost_command_load_open(&l, &err), 0);
	guardian = l.guard.pid;
	assert_int_equal(*l.group, 0);
	assert_int_equal(boost_command_load_tend(&l, true, &err), 0);
	assert_int_equal(*l.group, l.child.pid);
	assert_int_equal(boost_command_load_tend(&l, false, &err), 0);
	assert_int_equal(*l.group, 0);
	l.command = missing;
	assert_int_equal(boost_command_load_tend(&l, true, &err), -ENOENT);
	assert_int_equal(*l.group, 0);
	l.command = shortly;
	assert_int_equal(tend_until(&l, l.times + 2, &err), 0);
	/* one that still runs is ended by closing */
	l.command = all;
	assert_int_equal(tend_until(&l, l.times + 1, &err), 0);
	group = l.child.pid;
	boost_command_load_close(&l);
	assert_false(group_lives(group));
	assert_int_equal(kill(guardian, 0), -1);
	assert_null(l.group);
	/* one that was not opened */
	assert_int_equal(boost_command_load_tend(&l, true, &err), 0);
	group = l.child.pid;
	boost_command_load_close(&l);
	assert_false(group_lives(group));
}

TEST(one_that_was_killed_before_it_began_is_told)
{
	char *command[] = { "true", NULL };
	struct child child;
	struct kjoule_error err;
	siginfo_t info;
	int code = 0;

	assert_int_equal(boost_command_start(&child, command, false, &none, NULL, &err), 0);
	assert_int_equal(kill(child.pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(boost_command_go(&child, command[0], &code, &err), -EPIPE);
	assert_string_equal(err.text, "true: the command was killed before it began");
	assert_int_equal(code, 128 + SIGKILL);
}

TEST(one_that_fails_is_told)
{
	char *fails[] = { "sh", "-c", "exit 7", NULL }, *missing[] = { "/nowhere/at/all", NULL };
	struct boost_command_load l = { .command = fails, .mask = &none };
	struct boost_command_load gone = { .command = missing, .mask = &none };
	struct kjoule_error err;

	assert_int_equal(tend_until(&l, 2, &err), -ECHILD);
	assert_int_equal(l.failed, 7);
	assert_int_equal(l.times, 1);
	assert_non_null(strstr(err.text, "exit code 7"));
	assert_int_equal(boost_command_load_tend(&gone, true, &err), -ENOENT);
	assert_false(gone.runs);
	assert_int_equal(gone.failed, 127);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
}

TEST(it_stays_on_its_cpus)
{
	char *asks[] = { "sh", "-c", "[ $(nproc) = 1 ]", NULL };
	struct boost_command_load l = { .command = asks, .mask = &none };
	struct kjoule_cpus cpus;
	struct kjoule_error err;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip();
	assert_int_equal(kjoule_cpus_parse("1", &cpus), 0);
	l.cpus = &cpus;
	assert_int_equal(tend_until(&l, 2, &err), 0);
	assert_int_equal(boost_command_load_tend(&l, false, &err), 0);
}

TEST(its_words_are_told)
{
	char *command[] = { "stress", "-c", "4", NULL }, text[64], little[10];
	char *quoted[] = { "sh", "-c", "echo it's $1", "", "a@b%c+d=e:f,g./_-", "\xc3\xa4", NULL };
	char *wide[] = { "xyzuv\xc3\xa4\xc3\xa4", NULL };

	assert_string_equal(boost_command_text(command, text, sizeof(text)), "stress -c 4");
	assert_string_equal(boost_command_text(command, text, sizeof("stress -c 4")),
			    "stress -c 4");
	assert_string_equal(boost_command_text(command, little, sizeof(little)), "stress...");
	assert_string_equal(boost_command_text(command, little, 3), "..");
	assert_string_equal(boost_command_text(quoted, text, sizeof(text)), "sh -c 'echo it'\\''s $1' '' a@b%c+d=e:f,g./_- '\xc3\xa4'");
	/* no half of a character */
	assert_string_equal(boost_command_text(wide, text, 11), "'xyzuv...");
}

int main(void)
{
	sigemptyset(&none);
	return tests_run(NULL, NULL);
}
