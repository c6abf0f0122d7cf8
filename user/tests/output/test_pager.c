// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What standard output is shown on: who gets the output when it is a terminal, how wide lines are,
 * and when there are colours.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/support/series.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define MARK		"sed 's/^/paged: /'"
#define LONG_NAME	"/nonexistent/a_program_of_a_name_that_is_longer_than_what_a_narrow_terminal_has_room_for"

static char path[300];

static int pager_setup(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s", series_record(&(struct series_run){
		.name = "run", .ticks = 2000, .watt = 1, .exe = LONG_NAME }));
	setenv("LC_ALL", "C", 1);
	setenv("TERM", "dumb", 1);
	return 0;
}

/* NULL: not set */
static void pagers_set(const char *own, const char *usual)
{
	own ? setenv("KJOULE_PAGER", own, 1) : unsetenv("KJOULE_PAGER");
	usual ? setenv("PAGER", usual, 1) : unsetenv("PAGER");
}

/* Lines of the output that begin like that, of how many. */
static size_t lines_beginning(const char *with, size_t *all)
{
	size_t n = 0;

	*all = 0;
	for (const char *line = out; *line; line = strchr(line, '\n') + 1) {
		n += !strncmp(line, with, strlen(with));
		++*all;
		if (!strchr(line, '\n'))
			break;
	}
	return n;
}

static void assert_paged(bool paged)
{
	size_t all, n = lines_beginning("paged: ", &all);

	if (n != (paged ? all : 0) || all < 5)
		print_message("%zu of %zu lines are paged:\n%s\n", n, all, out);
	assert_true(all >= 5 && says(out, "total"));
	assert_int_equal(n, paged ? all : 0);
}

TEST(a_pager_gets_the_output)
{
	static const char *const verbs[] = { "report", "report -v", "script", "diff" };
	char other[300];

	snprintf(other, sizeof(other), "%s", series_record(&(struct series_run){
		.name = "other", .ticks = 2000, .watt = 1, .exe = LONG_NAME }));
	pagers_set(MARK, NULL);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		size_t all, n;

		assert_int_equal(
			kjoule_on_terminal(100, "%s %s %s", verbs[i], path, i == 3 ? other : ""),
			0);
		n = lines_beginning("paged: ", &all);
		assert_true(all >= 5);
		assert_int_equal(n, all);
	}
	/* the usual one of the system, if there is none for kjoule */
	pagers_set(NULL, MARK);
	assert_int_equal(kjoule_on_terminal(100, "report %s", path), 0);
	assert_paged(true);
	pagers_set("sed 's/^/own: /'", MARK);
	assert_int_equal(kjoule_on_terminal(100, "report %s", path), 0);
	assert_paged(false);
	assert_true(says(out, "own: "));
}

TEST(none_is_between_where_none_is_wanted)
{
	static const char *const none[] = { "cat", "", "/nonexistent/pager",
					    "nosuchpager --of-it" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		pagers_set(none[i], MARK);
		assert_int_equal(kjoule_on_terminal(100, "report %s", path), 0);
		assert_paged(false);
		assert_null(strstr(err, "not found"));
	}
	pagers_set(MARK, NULL);
	assert_int_equal(kjoule_on_terminal(100, "--no-pager report %s", path), 0);
	assert_paged(false);
	/* a file or a pipe */
	assert_int_equal(kjoule("report %s", path), 0);
	assert_paged(false);
	assert_int_equal(kjoule("report %s | cat", path), 0);
	assert_paged(false);
}

/* The exit code is kjoule's own, and a pager that ends early is no error message. */
TEST(the_exit_code_is_not_the_pagers)
{
	size_t all;

	pagers_set("cat >/dev/null; exit 3 #", NULL);
	assert_int_equal(kjoule_on_terminal(100, "report %s", path), 0);
	assert_string_equal(out, "");
	pagers_set(MARK, NULL);
	assert_int_equal(kjoule_on_terminal(100, "report /nonexistent/x"), 1);
	assert_true(says(err, "/nonexistent/x: No such file"));
	pagers_set("head -n 1", NULL);
	kjoule_on_terminal(100, "script %s", path);
	lines_beginning("", &all);
	assert_int_equal(all, 1);
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t n = strcspn(line, "\n");

		widest = n > widest ? n : widest;
		if (!line[n])
			break;
	}
	return widest;
}

/* Each figure of a table. */
static void assert_has_figures(const char *of)
{
	char *copy = strdup(of), *rest = copy, *word;

	while ((word = strsep(&rest, " \n")))
		if (isdigit((unsigned char)*word) && !strstr(out, word))
			fail_msg("%s is not in:\n%s", word, out);
	free(copy);
}

/* Only names give way: each figure of the wide table is in the narrow one. */
TEST(names_are_cut_and_figures_are_not)
{
	static const unsigned short columns[] = { 260, 100, 96, 92 };
	char *figures = NULL;

	pagers_set("cat", NULL);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		assert_int_equal(kjoule_on_terminal(columns[i], "report -q --by object %s", path), 0);
		if (widest_line(out) > columns[i])
			fail_msg("%zu characters of %u:\n%s", widest_line(out), columns[i], out);
		if (!i) {
			assert_true(says(out, LONG_NAME + strlen("/nonexistent/")));
			figures = strdup(out);
			continue;
		}
		assert_true(says(out, "a_program"));
		assert_true(says(out, "..."));
		assert_has_figures(figures);
	}
	free(figures);
	/* behind a pager it is the terminal's width, and in a pipe 100 */
	pagers_set(MARK, NULL);
	assert_int_equal(kjoule_on_terminal(92, "report -q %s", path), 0);
	assert_true(widest_line(out) <= 92 + strlen("paged: "));
	assert_true(says(out, "..."));
	assert_int_equal(kjoule("report -q %s | cat", path), 0);
	assert_true(widest_line(out) <= 100);
	assert_true(says(out, "..."));
	/* so narrow that no name could give way further: figures are whole all the same */
	pagers_set("cat", NULL);
	assert_int_equal(kjoule_on_terminal(20, "report -q %s", path), 0);
	assert_true(says(out, "100.0") && says(out, "total"));
}

/* What names no program, or one that cannot be run, does not swallow the report. */
TEST(pagers_that_fail_are_reported)
{
	static const char *const none[] = { " ", "LESS=", "LESS=R", "#", "no-such-pager" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		pagers_set(none[i], NULL);
		assert_int_equal(kjoule_on_terminal(100, "report -q %s", path), 0);
		assert_true(says(out, "total"));
	}
	pagers_set("true; exit 127", NULL);
	assert_int_equal(kjoule_on_terminal(100, "report -q %s", path), 1);
	assert_true(says(err, "the pager failed"));
	/* its standard input is not the one that was closed */
	pagers_set(MARK, NULL);
	assert_int_equal(kjoule_on_terminal(100, "report -q %s <&-", path), 0);
	assert_true(says(out, "total"));
}

TEST(colours_are_for_terminals)
{
	static const char red[] = "\033[1;31m";

	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	for (int paged = 0; paged < 2; paged++) {
		pagers_set(paged ? MARK : "cat", NULL);
		assert_int_equal(kjoule_on_terminal(100, "report --power-budget 500mW %s", path), 0);
		assert_true(says(out, red));
		setenv("NO_COLOR", "1", 1);
		assert_int_equal(kjoule_on_terminal(100, "report --power-budget 500mW %s", path), 0);
		assert_null(strchr(out, '\033'));
		/* set to nothing it is not set */
		setenv("NO_COLOR", "", 1);
		assert_int_equal(kjoule_on_terminal(100, "report --power-budget 500mW %s", path), 0);
		assert_true(says(out, red));
		unsetenv("NO_COLOR");
	}
	setenv("TERM", "dumb", 1);
	assert_int_equal(kjoule_on_terminal(100, "report --power-budget 500mW %s", path), 0);
	assert_null(strchr(out, '\033'));
	assert_int_equal(kjoule("report --power-budget 500mW %s", path), 0);
	assert_null(strchr(out, '\033'));
}

int main(void)
{
	return tests_run(pager_setup, NULL);
}
