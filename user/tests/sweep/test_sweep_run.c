// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a sweep runs and at which settings, in a made-up sysfs and without the module: whatever ends
 * it, by its guardian if it has to be, frequencies are given back, and nothing is written where it
 * was not meant to be.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/file/datafile.h"
#include "machine/frequency_guard.h"
#include "sweep/sweep.h"
#include "tests/support/synthetic.h"
#include "tests/support/sysfs.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static struct kjoule_error why;
/* What the sweep was, said at the end, and which signal has ended it. */
static struct sweep_plan plan, again;
static const char *said;
static int ended_by;

/*
 * Runs without the module
 */

static struct {
	unsigned int calls, fails_at, killed_at, calibrated, refused_at, raises_at;
	int raises;
	enum { LEFT, STOPPED, KILLED } guardian;	/* what happens to it in that run */
	bool leaves;			/* the command runs on then */
	/* the folder, which is replaced by a link to another one in the first run */
	const char *moves;
	int code;
	char said[4096], read[64];
	uint32_t min_khz;
} fake;

static uint32_t limit_now(void)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpufreq/policy0/scaling_max_freq", sysfs_root);
	return strtoul(kept_text(path), NULL, 10);
}

/*
 * Another process puts a link to a folder "trap" in the folder's place, which is "moved" from then
 * on.
 */
static void move_away(const char *folder)
{
	const char *trap = temp_path("trap"), *moved = temp_path("moved");

	assert_int_equal(mkdir(trap, 0700), 0);
	assert_int_equal(rename(folder, moved), 0);
	assert_int_equal(symlink(trap, folder), 0);
}

/* As record_once() makes its file. */
static void put_into(const struct record_options *opt)
{
	struct kjoule_writer *w;

	assert_int_equal(kjoule_writer_open_at(opt->output_folder, opt->output, &w, &why), 0);
	assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_END, 0, "x", 1, &why), 0);
	assert_int_equal(kjoule_writer_close(w, &why), 0);
}

/* What a process that is killed can still tell. */
static struct {
	pid_t guardian, command;
} *seen;

/* The one child there is, by the name that ps(1) shows. 0: there is none */
static pid_t find_guardian(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		char path[300], comm[40], text[400];
		FILE *f;
		int ppid;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		if (fgets(text, sizeof(text), f) &&
		    sscanf(text, "%*d (%39[^)]) %*c %d", comm, &ppid) == 2 && ppid == getpid() &&
		    !strcmp(comm, GUARDIAN)) {
			assert_int_equal(found, 0);
			found = atoi(e->d_name);
		}
		fclose(f);
	}
	closedir(dir);
	return found;
}

/* Return: 0: it is that one's name */
static int comm_of(pid_t pid, const char *name)
{
	char path[40], comm[40] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f || !fgets(comm, sizeof(comm), f))
		comm[0] = '\0';
	if (f)
		fclose(f);
	comm[strcspn(comm, "\n")] = '\0';
	return strcmp(comm, name);
}

/* It is in a session of its own, and has nothing of the sweep's but its end of the line. */
static void look_at_guardian(void)
{
	struct dirent *e;
	char path[300];
	DIR *dir;

	seen->guardian = find_guardian();
	assert_true(seen->guardian > 0);
	assert_int_equal(getsid(seen->guardian), seen->guardian);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)seen->guardian);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		char target[300] = "";

		assert_true(readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1) >= 0 ||
			    e->d_name[0] == '.');
		assert_true(atoi(e->d_name) > 2 || e->d_name[0] == '.' || !strcmp(target, "/dev/null"));
		/* the folder, and what is made in it */
		assert_null(strstr(target, "kjoule-test"));
	}
	closedir(dir);
}

/* A signal comes, and to the guardian perhaps another one before. */
static void befall(void)
{
	if (fake.leaves) {
		pid_t pid = fork();

		if (!pid) {
			execlp("sleep", "sleep", "60", NULL);
			_exit(127);
		}
		seen->command = pid;
		/* not as long as it still is what was forked */
		for (int i = 0; i < 500 && comm_of(seen->command, "sleep"); i++)
			usleep(10000);
	}
	if (fake.guardian != LEFT)
		kill(seen->guardian, fake.guardian == KILLED ? SIGKILL : SIGSTOP);
	if (fake.raises)
		raise(fake.raises);
}

static int once(const struct record_options *opt, struct record_result *result)
{
	size_t at = strlen(fake.said), had = strlen(fake.read);
	ssize_t n = read(STDIN_FILENO, fake.read + had, sizeof(fake.read) - had - 1);

	fake.read[had + (n > 0 ? n : 0)] = '\0';
	fake.calls++;
	fake.calibrated += !opt->cal;
	result->cal.ticks = 7;
	result->reason = "command ended";
	snprintf(fake.said + at, sizeof(fake.said) - at, "%s %s %u %s\n",
		 strrchr(opt->output, '/') + 1, opt->command[1], limit_now(),
		 getenv("OMP_NUM_THREADS") ? getenv("OMP_NUM_THREADS") : "-");
	if (fake.calls == fake.refused_at) {
		result->reason = NULL;
		return 1;
	}
	/* what the command says is no part of what the sweep says */
	printf("said by run %u\n", fake.calls);
	fflush(stdout);
	if (fake.calls == 1 && fake.moves)
		move_away(fake.moves);
	put_into(opt);
	if (fake.calls == 1)
		look_at_guardian();
	if (fake.calls == fake.raises_at)
		befall();
	if (fake.calls == fake.killed_at) {
		result->reason = "signal";
		result->signal = SIGTERM;
		return 0;
	}
	result->exit_code = fake.calls == fake.fails_at ? fake.code : 0;
	return result->exit_code;
}

static void make_cpufreq(void)
{
	sysfs_new();
	sysfs_put("100000\n", "devices/system/cpu/cpufreq/policy0/cpuinfo_min_freq");
	sysfs_put("900000\n", "devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq");
	sysfs_put("100000\n", "devices/system/cpu/cpufreq/policy0/scaling_min_freq");
	sysfs_put("800000\n", "devices/system/cpu/cpufreq/policy0/scaling_max_freq");
}

static int run_it(const char *folder, unsigned int runs)
{
	static const uint32_t khz[] = { 100000, 900000 }, threads[] = { 1, 2 };
	char *argv[] = { (char *)"program", (char *)"-n{threads}x{threads}", NULL };
	struct record_options opt = { .quiet = true, .output_folder = AT_FDCWD };
	struct kjoule_frequency *f;
	int code, fd;

	assert_int_equal(kjoule_frequency_open(sysfs_root, temp_path("state"), &f, &why), 0);
	sweep_plan_free(&plan);
	ended_by = 0;
	plan.runs = runs;
	plan.folder = strdup(temp_path(folder));
	fd = sweep_folder_new(plan.folder, &why);
	assert_true(fd >= 0);
	assert_int_equal(sweep_plan_settings(&plan, khz, 2, threads, 2), 0);
	assert_int_equal(sweep_plan_command(&plan, argv), 0);
	setenv("OMP_NUM_THREADS", "77", 1);
	code = sweep_run(&plan, fd, f, &opt, once, &ended_by);
	assert_string_equal(getenv("OMP_NUM_THREADS"), "77");
	close(fd);
	kjoule_frequency_close(f);
	return code;
}

static int run(const char *folder, unsigned int runs)
{
	int code;

	make_cpufreq();
	stderr_capture();
	code = run_it(folder, runs);
	said = stderr_release();
	/* given back, whatever came, and the guardian is gone */
	assert_int_equal(limit_now(), 800000);
	assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	assert_int_equal(access(temp_path("state"), F_OK), -1);
	assert_int_equal(sysfs_remove(), 0);
	return code;
}

static int nothing_asked(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	return 0;
}

static int plans_free(void **state)
{
	(void)state;
	sweep_plan_free(&plan);
	sweep_plan_free(&again);
	return 0;
}

TEST_WITH(settings_take_turns, nothing_asked, plans_free)
{
	assert_int_equal(run("turns", 2), 0);
	assert_string_equal(fake.said,
			    "f100000.t1.1.data -n1x1 100000 1\nf100000.t2.1.data -n2x2 100000 2\n"
			    "f900000.t1.1.data -n1x1 900000 1\nf900000.t2.1.data -n2x2 900000 2\n"
			    "f100000.t1.2.data -n1x1 100000 1\nf100000.t2.2.data -n2x2 100000 2\n"
			    "f900000.t1.2.data -n1x1 900000 1\nf900000.t2.2.data -n2x2 900000 2\n");
	/* what a tick takes is another thing at another frequency, and only there */
	assert_int_equal(fake.calibrated, 2);
	assert_string_equal(said, "");
	assert_string_equal(kept_text(temp_path("turns/f900000.t2.1.data.out")),
			    "said by run 4\n");
	assert_int_equal(sweep_folder_read(plan.folder, &again, &why), 0);
	assert_true(again.finished && again.runs == 2 && again.n_settings == 4 &&
		    again.settings[3].n_runs == 2);
	assert_true(again.settings[3].khz == 900000 && again.settings[3].threads == 2 &&
		    again.argc == 2);
	assert_string_equal(again.argv[1], "-n{threads}x{threads}");
	assert_string_equal(again.settings[3].runs[1].file, "f900000.t2.2.data");
	/* what is there is not written over */
	assert_int_equal(sweep_folder_new(plan.folder, &why), -EEXIST);
	assert_true(says(why.text, "has a sweep already"));
}

static void put_input(const char *path)
{
	int fd = open(path, O_RDONLY);

	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
}

/* The setting that does the work and those that find nothing to do are not to be compared. */
TEST_WITH(each_setting_reads_the_same_input, nothing_asked, plans_free)
{
	int fds[2];

	write_file(temp_path("input"), "abc", 3);
	put_input(temp_path("input"));
	assert_int_equal(run("input.sweep", 1), 0);
	assert_string_equal(fake.read, "abcabcabcabc");
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	fake.calls = 0;
	assert_int_equal(run("pipe.sweep", 1), 1);
	assert_int_equal(fake.calls, 0);
	assert_true(says(said, "standard input is a pipe, which only the first of 4 runs could read"));
	close(fds[0]);
	close(fds[1]);
	put_input("/dev/null");
}

TEST_WITH(a_setting_that_fails_is_left_out_and_the_others_go_on, nothing_asked, plans_free)
{
	fake.fails_at = 2;
	fake.code = 42;
	assert_int_equal(run("fails", 2), 0);
	assert_true(says(said, "100 MHz, 2 threads, run 1: ended with exit code 42"));
	assert_int_equal(fake.calls, 7);
	assert_int_equal(sweep_folder_read(plan.folder, &again, &why), 0);
	assert_true(again.settings[1].runs[0].status == SWEEP_FAILED &&
		    again.settings[1].runs[0].exit_code == 42);
	assert_true(again.finished && again.settings[0].n_runs == 2);
}

/* Without the module, say: that is no matter of the setting. */
TEST_WITH(a_recording_that_can_not_be_made_ends_it, nothing_asked, plans_free)
{
	fake.refused_at = 2;
	assert_int_equal(run("refused", 1), 1);
	assert_int_equal(fake.calls, 2);
	assert_true(says(said, "100 MHz, 2 threads, run 1: the recording could not be made, and the sweep ends here"));
	assert_true(!plan.finished && plan.settings[0].n_runs == 1 && !plan.settings[1].n_runs);
}

TEST_WITH(a_signal_ends_it_and_gives_back, nothing_asked, plans_free)
{
	fake.killed_at = 3;
	assert_int_equal(run("killed", 1), 128 + SIGTERM);
	assert_int_equal(ended_by, SIGTERM);
	assert_int_equal(fake.calls, 3);
	assert_true(says(said, "stopped by signal 15 after 2 of 4 runs"));
	assert_int_equal(sweep_folder_read(plan.folder, &again, &why), 0);
	/* what was not a whole run is none */
	assert_true(!again.finished && again.settings[1].n_runs == 1 && !again.settings[2].n_runs);
	assert_int_equal(access(temp_path("killed/f900000.t1.1.data"), F_OK), -1);
}

/* Ctrl-C that comes while nothing waits for it is there between two runs. */
TEST_WITH(a_signal_between_runs_ends_it_and_gives_back, nothing_asked, plans_free)
{
	fake.raises_at = 2;
	fake.raises = SIGINT;
	assert_int_equal(run("interrupted", 1), 128 + SIGINT);
	assert_int_equal(ended_by, SIGINT);
	assert_int_equal(fake.calls, 2);
	assert_true(says(said, "stopped by signal 2 after 2 of 4 runs"));
	/* these two were whole ones */
	assert_int_equal(sweep_folder_read(plan.folder, &again, &why), 0);
	assert_true(!again.finished && again.settings[1].n_runs == 1 && !again.settings[2].n_runs);
}

/* A process that sweeps, in which @sig comes in its third run, at 900 MHz. */
static void die_by(int sig, const char *folder)
{
	struct rlimit none = { 0, 0 };
	int status;
	pid_t pid;

	fake.calls = 0;
	fake.said[0] = '\0';
	fake.raises_at = 3;
	fake.raises = sig;
	make_cpufreq();
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		/* cmocka has handlers of its own for some */
		sigaction(sig, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		run_it(folder, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == sig);
}

/* The guardian of a process that is gone is ours, and gone within this time. */
static void guardian_ends(unsigned int seconds)
{
	int status = -1;
	pid_t got = 0;

	for (unsigned int i = 0; i < 100 * seconds && !got; i++) {
		got = waitpid(seen->guardian, &status, WNOHANG);
		if (!got)
			usleep(10000);
	}
	assert_int_equal(got, seen->guardian);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Signals that nothing waits for end it as they would anything, and the guardian gives back. */
TEST_WITH(deadly_signals_give_back, nothing_asked, plans_free)
{
	static const int signals[] = { SIGQUIT, SIGSEGV, SIGABRT, SIGUSR1, SIGALRM, SIGXCPU };
	char folder[20];

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		snprintf(folder, sizeof(folder), "deadly%zu", i);
		die_by(signals[i], folder);
		guardian_ends(1);
		assert_int_equal(limit_now(), 800000);
		assert_int_equal(access(temp_path("state"), F_OK), -1);
		assert_int_equal(sysfs_remove(), 0);
	}
}

/* SIGKILL is for the guardian, whether the command that was started goes on or not. */
TEST_WITH(what_sigkill_leaves_is_given_back_by_the_guardian, nothing_asked, plans_free)
{
	fake.leaves = true;
	die_by(SIGKILL, "guarded");
	guardian_ends(1);
	assert_int_equal(limit_now(), 800000);
	assert_int_equal(access(temp_path("state"), F_OK), -1);
	assert_int_equal(comm_of(seen->command, "sleep"), 0);
	kill(seen->command, SIGKILL);
	assert_int_equal(waitpid(seen->command, NULL, 0), seen->command);
	assert_int_equal(sysfs_remove(), 0);
}

/*
 * One that comes too late finds that another sweep has them, or that they were set since, and does
 * nothing.
 */
TEST_WITH(a_late_guardian_leaves_what_others_have_set, nothing_asked, plans_free)
{
	struct kjoule_frequency *f;
	char recovered[512];

	fake.guardian = STOPPED;
	die_by(SIGKILL, "late");
	assert_int_equal(limit_now(), 900000);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, temp_path("state"), recovered,
						  sizeof(recovered), &why), 1);
	assert_int_equal(kjoule_frequency_open(sysfs_root, temp_path("state"), &f, &why), 0);
	assert_int_equal(kjoule_frequency_hold(f, 100000, &why), 0);
	kill(seen->guardian, SIGCONT);
	guardian_ends(10);
	assert_int_equal(limit_now(), 100000);
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_int_equal(limit_now(), 800000);
	kjoule_frequency_close(f);
	assert_int_equal(sysfs_remove(), 0);
	die_by(SIGKILL, "later");
	assert_int_equal(kjoule_frequency_recover(sysfs_root, temp_path("state"), recovered,
						  sizeof(recovered), &why), 1);
	/* one that the sweep has set, too */
	sysfs_put("900000\n", "devices/system/cpu/cpufreq/policy0/scaling_max_freq");
	kill(seen->guardian, SIGCONT);
	guardian_ends(10);
	assert_int_equal(limit_now(), 900000);
	assert_int_equal(sysfs_remove(), 0);
}

/* A sweep whose guardian was killed comes to its end all the same. */
TEST_WITH(a_guardian_that_is_killed_is_not_missed, nothing_asked, plans_free)
{
	fake.guardian = KILLED;
	fake.raises_at = 2;
	assert_int_equal(run("alone", 1), 0);
	assert_true(plan.finished && fake.calls == 4 && !ended_by);
	assert_string_equal(said, "");
}

/* Both killed: they are as they are, and the next one learns what they were. */
TEST_WITH(what_sigkill_leaves_is_given_back_by_the_next, nothing_asked, plans_free)
{
	char recovered[512];

	fake.guardian = KILLED;
	die_by(SIGKILL, "sigkill");
	assert_int_equal(waitpid(seen->guardian, NULL, 0), seen->guardian);
	assert_int_equal(limit_now(), 900000);
	assert_int_equal(access(temp_path("state"), F_OK), 0);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, temp_path("state"), recovered,
						  sizeof(recovered), &why), 1);
	assert_int_equal(limit_now(), 800000);
	assert_int_equal(access(temp_path("state"), F_OK), -1);
	/* the manifest is that of before the run */
	assert_int_equal(sweep_folder_read(temp_path("sigkill"), &again, &why), 0);
	assert_true(!again.finished && again.settings[1].n_runs == 1 && !again.settings[2].n_runs);
	assert_int_equal(sysfs_remove(), 0);
}

/* The command killed, by whomever: its setting is left out. */
TEST_WITH(a_command_that_is_killed_is_a_setting_that_fails, nothing_asked, plans_free)
{
	fake.fails_at = 3;
	fake.code = 128 + SIGKILL;
	assert_int_equal(run("child", 1), 0);
	assert_int_equal(ended_by, 0);
	assert_int_equal(fake.calls, 4);
	assert_true(says(said, "900 MHz, 1 thread, run 1: ended with exit code 137"));
	assert_true(plan.finished && plan.settings[2].runs[0].status == SWEEP_FAILED &&
		    plan.settings[3].runs[0].status == SWEEP_GOOD);
}

/* The folder is the one that was looked at, whatever its path leads to later. */
TEST_WITH(a_link_in_the_place_of_the_folder_leads_nowhere, nothing_asked, plans_free)
{
	const char *folder = temp_path("replaced");

	fake.moves = folder;
	assert_int_equal(run("replaced", 1), 0);
	assert_int_equal(rmdir(temp_path("trap")), 0);	/* it is empty */
	assert_int_equal(sweep_folder_read(temp_path("moved"), &again, &why), 0);
	assert_true(again.finished && again.settings[3].n_runs == 1);
	assert_int_equal(access(temp_path("moved/f900000.t2.1.data"), F_OK), 0);
	assert_int_equal(access(temp_path("moved/f900000.t2.1.data.out"), F_OK), 0);
}

TEST_WITH(other_folders_are_refused, nothing_asked, plans_free)
{
	static const char *const bad[] = {
		"", "[]", "{}", "{ \"kjoule_sweep\": 2, \"settings\": [ {} ] }",
		"{ \"kjoule_sweep\": 1, \"settings\": [] }",
		"{ \"kjoule_sweep\": 1, \"settings\": [ { \"runs\": [ { \"file\": \"../x.data\" } ] } ] }",
		"{ \"kjoule_sweep\": 1, \"settings\": [ { \"runs\": [ { \"file\": 7 } ] } ] }",
		"{ \"kjoule_sweep\": 1, \"settings\": [ { \"runs\": [ {} ] } ] }",
	};

	assert_int_equal(sweep_folder_read("/nonexistent", &again, &why), -ENOENT);
	assert_true(says(why.text, "there is no sweep in it"));
	assert_int_equal(sweep_folder_new("/nonexistent/x", &why), -ENOENT);
	mkdir(temp_path("bad"), 0755);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_file(temp_path("bad/sweep.json"), bad[i], strlen(bad[i]));
		assert_int_equal(sweep_folder_read(temp_path("bad"), &again, &why), -EBADMSG);
		sweep_plan_free(&again);
	}
}

/*
 * A sweep runs as root mostly: who else can write to a folder does not tell it where its files go.
 */
TEST_WITH(folders_of_others_are_refused, nothing_asked, plans_free)
{
	const char *link = temp_path("link"), *folder = temp_path("others");
	int fd;

	assert_int_equal(mkdir(folder, 0700), 0);
	fd = sweep_folder_new(folder, &why);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(folder, 0770), 0);
	assert_int_equal(sweep_folder_new(folder, &why), -EPERM);
	assert_true(says(why.text, "can be written to by others (mode 770)") &&
		    says(why.text, "chmod go-w"));
	assert_int_equal(chmod(folder, 0702), 0);
	assert_int_equal(sweep_folder_new(folder, &why), -EPERM);
	assert_int_equal(chmod(folder, 0755), 0);
	fd = sweep_folder_new(folder, &why);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink(folder, link), 0);
	assert_int_equal(sweep_folder_new(link, &why), -ENOTDIR);
	assert_true(says(why.text, "is a symbolic link, or no folder"));
	if (!geteuid()) {
		assert_int_equal(chown(folder, 65534, 65534), 0);
		assert_int_equal(sweep_folder_new(folder, &why), -EPERM);
		assert_true(says(why.text, "belongs to user 65534"));
	}
}

/* What lies there already, links to somewhere else even, is replaced and not written to. */
TEST_WITH(links_in_the_folder_lead_nowhere, nothing_asked, plans_free)
{
	static const char *const names[] =
		{ "sweep.json.new", "f100000.t1.1.data", "f100000.t1.1.data.out" };
	char path[400];
	const char *target = temp_path("precious"), *folder = temp_path("links");

	write_file(target, "precious", 8);
	assert_int_equal(mkdir(folder, 0700), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(symlink(target, path), 0);
	}
	assert_int_equal(run("links", 1), 0);
	assert_string_equal(kept_text(target), "precious");
}

int main(void)
{
	/* a shell starts what runs in the background with it ignored */
	signal(SIGINT, SIG_DFL);
	put_input("/dev/null");
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* what is left by a process that was killed is ours */
	if (seen == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 1;
	return tests_run(NULL, NULL);
}
