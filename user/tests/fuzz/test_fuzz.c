// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What fuzzing has found stays mended: every file in fuzz/user/regressions/TARGET is run
 * through its target once more, within the time and the memory that one input may take.
 * Wants no libFuzzer: fuzz/replay-TARGET is in the build folder, too.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/support/unit.h"

#define MOST_SECONDS	300	/* for what waits; a target watches the CPU time itself */
#define MOST_KIB	(2048l << 10)

/* One input, all that its target has to say of it on our standard error. */
static bool survives(const char *replay, const char *path)
{
	struct rusage use;
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		setenv("KJOULE_FUZZ_THOROUGH", "1", 1);
		alarm(MOST_SECONDS);
		execl(replay, replay, path, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(wait4(pid, &status, 0, &use), pid);
	if (status)
		print_message("%s: %s %d\n", path, WIFSIGNALED(status) ? "signal" : "exit code",
			      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (use.ru_maxrss > MOST_KIB)
		print_message("%s: took %ld MiB of memory\n", path, use.ru_maxrss >> 10);
	return !status && use.ru_maxrss <= MOST_KIB;
}

static void regressions(const char *target)
{
	char dir[4096], path[8192], replay[4096];
	ssize_t n = readlink("/proc/self/exe", replay, sizeof(replay) - 64);
	struct dirent **list;
	int files, bad = 0;

	if (getenv("KJOULE_TEST_QUICK")) {
		puts("# SKIP make check has them: they take as long as all other unit tests");
		skip();
	}
#ifndef __SANITIZE_ADDRESS__
	if (!getenv("KJOULE_TEST_PLAIN")) {
		puts("# SKIP make check-asan has them, where more is seen; here with KJOULE_TEST_PLAIN=1");
		skip();
	}
#endif
	assert_true(n > 0);
	for (int up = 0; up < 2;)
		up += replay[--n] == '/';
	snprintf(replay + n, sizeof(replay) - n, "/fuzz/replay-%s", target);
	assert_int_equal(access(replay, X_OK), 0);
	snprintf(dir, sizeof(dir), FUZZ_DIR "/regressions/%s", target);
	files = scandir(dir, &list, NULL, alphasort);
	for (int i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		if (list[i]->d_name[0] != '.')
			bad += !survives(replay, path);
		free(list[i]);
	}
	if (files >= 0)
		free(list);
	assert_int_equal(bad, 0);
}

TEST(data_files_that_once_broke_report_or_script)
{
	regressions("datafile");
}

TEST(rings_that_once_broke_record)
{
	regressions("ring");
}

TEST(elf_files_that_once_broke_symbols)
{
	regressions("elf");
}

TEST(texts_that_once_broke_a_parser)
{
	regressions("text");
}

TEST(side_bands_that_once_broke_the_maps)
{
	regressions("sideband");
}

TEST(marks_that_once_broke_the_regions)
{
	regressions("regions");
}
