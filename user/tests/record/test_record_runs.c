// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record --runs without the module: what a run is called, and what becomes of the others when one
 * fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "record/record.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

static void is_called(const char *output, unsigned int run, unsigned int runs, const char *wanted)
{
	char *path = record_runs_path(output, run, runs);

	assert_string_equal(path, wanted);
	free(path);
}

TEST(runs_have_names_in_order)
{
	is_called("kjoule.data", 1, 3, "kjoule.1.data");
	is_called("kjoule.data", 3, 10, "kjoule.03.data");
	is_called("kjoule.data", 10, 10, "kjoule.10.data");
	is_called("kjoule.data", 0, 10, "kjoule.*.data");
	is_called("a.b/c.d.data", 2, 2, "a.b/c.d.2.data");
	/* a dot of a folder, or at the beginning, ends nothing */
	is_called("a.b/c", 2, 2, "a.b/c.2");
	is_called(".hidden", 2, 2, ".hidden.2");
	is_called("/x/.hidden", 0, 2, "/x/.hidden.*");
}

/* What the made-up recordings do, and what was asked of them. */
static struct {
	unsigned int fails_at, stopped_at, calls;
	int code, calibrated;
	bool nothing, unwell, not_written;
	char read[64];
	sigset_t mask;
	bool nohup;
} fake;

/* What a command does that reads its input to the end. */
static void read_some(void)
{
	size_t at = strlen(fake.read);
	ssize_t n = read(STDIN_FILENO, fake.read + at, sizeof(fake.read) - at - 1);

	fake.read[at + (n > 0 ? n : 0)] = '\0';
}

static int once(const struct record_options *opt, struct record_result *result)
{
	fake.calls++;
	assert_int_equal(opt->run, fake.calls);
	assert_non_null(opt->mask);
	/* the command begins with the signals that we have, while we have them blocked */
	assert_int_equal(sigismember(opt->mask, SIGINT), 0);
	sigprocmask(SIG_SETMASK, NULL, &fake.mask);
	assert_int_equal(sigismember(&fake.mask, SIGINT), 1);
	assert_int_equal(sigismember(&fake.mask, SIGHUP), !fake.nohup);
	fake.calibrated += !opt->cal;
	result->cal.ticks = 7;
	if (fake.calls == fake.fails_at && fake.nothing)
		return fake.code;
	write_file(opt->output, "x", 1);
	result->reason = "command ended";
	read_some();
	if (!fake.unwell)
		result->exit_code = fake.calls == fake.fails_at && !fake.not_written ? fake.code :
				    0;
	if (fake.calls == fake.stopped_at) {
		result->reason = "signal";
		result->signal = SIGINT;
	}
	return fake.calls == fake.fails_at ? fake.code : 0;
}

static const char *said;

static int run_with(const char *name, unsigned int runs, const char *exits)
{
	struct record_options opt = { .verb = "record", .runs = runs };
	const char *output = temp_path(name);
	int code;

	if (exits)
		assert_int_equal(exit_codes_parse(&opt.exits, exits, NULL), 0);

	opt.output = output;
	fake.calls = 0;
	fake.calibrated = 0;
	stderr_capture();
	code = record_runs(&opt, once);
	said = stderr_release();
	free(opt.exits.list);
	return code;
}

static int run(const char *name, unsigned int runs)
{
	return run_with(name, runs, NULL);
}

static int nothing_asked(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	return 0;
}

static bool is_there(const char *name)
{
	return !access(temp_path(name), F_OK);
}

TEST_WITH(all_runs_are_made_and_calibrated_once, nothing_asked, NULL)
{
	sigset_t after;

	assert_int_equal(run("good.data", 11), 0);
	assert_int_equal(fake.calls, 11);
	assert_int_equal(fake.calibrated, 1);
	assert_true(is_there("good.01.data") && is_there("good.11.data") && !is_there("good.data"));
	assert_non_null(strstr(said, "kjoule: 11 of 11 runs recorded; see `kjoule report "));
	assert_non_null(strstr(said, "/good.*.data`"));
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&after, SIGINT), 0);
}

/* As nohup(1) has it: who blocks a signal and waits for it gets it although it is ignored. */
TEST_WITH(what_nohup_ignores_stays_so, nothing_asked, NULL)
{
	fake.nohup = true;
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(run("nohup.data", 1), 0);
	signal(SIGHUP, SIG_DFL);
	assert_int_equal(fake.calls, 1);
}

/* A script's shell ignores SIGINT in what it starts in the background, and ends it by that. */
TEST_WITH(in_the_background_of_a_script_sigint_ends_it, nothing_asked, NULL)
{
	signal(SIGINT, SIG_IGN);
	/* the fake run looks at what is waited for */
	assert_int_equal(run("script.data", 1), 0);
	signal(SIGINT, SIG_DFL);
	assert_int_equal(fake.calls, 1);
}

TEST_WITH(a_run_that_fails_is_the_last, nothing_asked, NULL)
{
	fake.fails_at = 3;
	fake.code = 42;
	assert_int_equal(run("bad.data", 5), 42);
	assert_int_equal(fake.calls, 3);
	assert_true(is_there("bad.2.data") && is_there("bad.3.data") && !is_there("bad.4.data"));
	assert_non_null(strstr(said, "run 3 of 5 ended with exit code 42"));
	assert_non_null(strstr(said, "2 of 5 runs recorded"));
	/* nothing came of the first one */
	fake.fails_at = 1;
	fake.code = 1;
	fake.nothing = true;
	assert_int_equal(run("none.data", 5), 1);
	assert_non_null(strstr(said, "run 1 of 5 was not recorded"));
	assert_null(strstr(said, "runs recorded"));
}

/* A command that takes the signal and ends well is stopped all the same. */
TEST_WITH(a_signal_ends_the_series_and_keeps_what_is_whole, nothing_asked, NULL)
{
	fake.stopped_at = 2;
	assert_int_equal(run("stop.data", 5), 128 + SIGINT);
	assert_int_equal(fake.calls, 2);
	assert_true(is_there("stop.1.data") && is_there("stop.2.data"));
	assert_non_null(strstr(said, "run 2 of 5 was stopped by signal 2"));
	assert_non_null(strstr(said, "no whole run"));
	assert_non_null(strstr(said, "1 of 5 runs recorded"));
}

/* "kjoule report kjoule.*.data" would take in what an earlier, longer series has left. */
TEST_WITH(what_is_older_is_told, nothing_asked, NULL)
{
	char *first;

	assert_int_equal(run("old.data", 10), 0);
	assert_int_equal(run("old.data", 2), 0);
	assert_non_null(strstr(said, "and others: not of these runs, but `kjoule report "));
	assert_int_equal(record_runs_others(temp_path("old.data"), 10, 10, &first), 2);
	assert_true(strstr(first, "/old.1.data") || strstr(first, "/old.2.data"));
	free(first);
	assert_int_equal(record_runs_others(temp_path("older.data"), 3, 3, &first), 0);
	assert_null(first);
}

static void put_input(int fd)
{
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
}

static void put_nothing(void)
{
	put_input(open("/dev/null", O_RDONLY));
}

/* Solvers, for one, end with 10 or 20 when they are well. */
TEST_WITH(exit_codes_that_are_no_failure_end_nothing, nothing_asked, NULL)
{
	struct record_options opt = { .verb = "record" };

	fake.fails_at = 2;
	fake.code = 20;
	assert_int_equal(run_with("solver.data", 3, "10,20"), 0);
	assert_int_equal(fake.calls, 3);
	assert_int_equal(run_with("other.data", 3, "10"), 20);
	assert_int_equal(fake.calls, 2);
	assert_non_null(strstr(said, "say so by --exit-code"));
	/* the code of a recording that failed by itself is another matter */
	fake.unwell = true;
	fake.code = 1;
	assert_int_equal(run_with("full.data", 3, "1"), 1);
	assert_int_equal(fake.calls, 2);
	assert_null(strstr(said, "--exit-code"));
	/*
	 * nor is a command that ended well an answer to a file that could not be written to its end
	 */
	fake.unwell = false;
	fake.not_written = true;
	assert_int_equal(run_with("lost.data", 3, "1"), 1);
	assert_int_equal(fake.calls, 2);
	assert_int_equal(exit_codes_parse(&opt.exits, "0", NULL), -ERANGE);
	assert_int_equal(exit_codes_parse(&opt.exits, "126", NULL), -ERANGE);
	/* and no message asks to name one that is refused */
	assert_non_null(strstr(exit_codes_advice(125), "--exit-code"));
	assert_string_equal(exit_codes_advice(126), "");
	assert_string_equal(exit_codes_advice(0), "");
	assert_int_equal(exit_codes_parse(&opt.exits, "ten", NULL), -EINVAL);
}

/*
 * All runs have one file open: without going back the first one would read it, and the others
 * nothing.
 */
TEST_WITH(each_run_reads_the_same_input, nothing_asked, NULL)
{
	int fd;

	write_file(temp_path("input"), "abcdef", 6);
	fd = open(temp_path("input"), O_RDONLY);
	assert_int_equal(lseek(fd, 2, SEEK_SET), 2);
	put_input(fd);
	assert_int_equal(run("input.data", 3), 0);
	assert_string_equal(fake.read, "cdefcdefcdef");
	put_nothing();
}

TEST_WITH(a_pipe_is_for_one_run, nothing_asked, NULL)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	put_input(fds[0]);
	assert_int_equal(write(fds[1], "abc", 3), 3);
	assert_int_equal(run("pipe.data", 2), 1);
	assert_int_equal(fake.calls, 0);
	assert_non_null(strstr(said, "standard input is a pipe, which only the first of 2 runs could read"));
	close(fds[1]);
	assert_int_equal(run("pipe.data", 1), 0);
	assert_string_equal(fake.read, "abc");
	/* at its end there is nothing in it for anybody */
	assert_int_equal(run("pipe.data", 2), 0);
	put_nothing();
}

int main(void)
{
	put_nothing();

	/* a shell starts what runs in the background with some of them ignored */
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	return tests_run(NULL, NULL);
}
