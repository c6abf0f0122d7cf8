// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sentences in lines of a terminal's width, and a JSON object's members as such lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "output/facts.h"
#include "output/wrap.h"
#include "tests/support/unit.h"

static char *text;
static size_t len;

static FILE *begin(void)
{
	free(text);
	text = NULL;
	return open_memstream(&text, &len);
}

static void expect(FILE *f, const char *expected)
{
	fclose(f);
	assert_string_equal(text, expected);
}

TEST(lines_end_before_column_100)
{
	char words[400] = "";
	FILE *f = begin();

	for (int i = 0; i < 39; i++)
		strcat(words, i ? " nine char" : "nine char");
	wrap_comment(f, "key", "%s", words);
	wrap_footnote(f, "*", "%s", words);
	wrap_line(f, "%s", words);
	fclose(f);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 100);
}

TEST(what_follows_begins_below_the_text)
{
	FILE *f = begin();

	wrap_comment(f, "key", "%s %s",
		     "the first line has ninety characters with what is before it, which is "
		     "the key and", "the_second_one_the_rest");
	wrap_footnote(f, "**", "%s",
		      "as wide as it may be, this begins with a mark that has its place in front "
		      "of all the lines it is of");
	expect(f, "# key        the first line has ninety characters with what is before it, which is the key and\n"
		  "#            the_second_one_the_rest\n"
		  "\n"
		  "** : as wide as it may be, this begins with a mark that has its place in front of all the lines it\n"
		  "     is of\n");
}

/*
 * Two bytes that are one character, a word wider than any line, and a name that would steer the
 * terminal.
 */
TEST(odd_texts_stay_lines)
{
	char word[160], expected[400];
	FILE *f = begin();

	memset(word, 'w', 150);
	word[150] = '\0';
	wrap_comment(f, "key", "%s a\nb\033[2J", word);
	wrap_comment(f, "key", "%s", "");
	snprintf(expected, sizeof(expected),
		 "# key        %s\n#            a?b?[2J\n# key        \n", word);
	expect(f, expected);
	/* 49 characters of two bytes each, and as many again behind the word that fills the line */
	f = begin();
	for (int i = 0; i < 49; i++)
		strcpy(word + 2 * i, "\xc2\xb1");
	wrap_comment(f, "key", "%s %s", word, "thirty-seven characters of it, all so");
	fclose(f);
	assert_int_equal(strlen(text), 13 + 98 + 38 + 1);
	assert_string_equal(strchr(text, '\n'), "\n");
	f = begin();
	fclose(f);
}

static void facts_of(const char *json, const char *expected)
{
	struct json_object *o = json_tokener_parse(json);
	FILE *f = begin();

	assert_non_null(o);
	facts_print(f, "all", o);
	json_object_put(o);
	expect(f, expected);
}

TEST(units_are_in_the_names)
{
	facts_of("{\"a_ns\": 2500, \"b_ns\": 1500000000, \"c_s\": 0.02, \"d_j\": 12.5, \"e_uj\": 80.5, \"f_w\": 0.25}",
		 "# all        a 2.5 us, b 1.5 s, c 20 ms, d 12.5 J, e 80.5 uJ, f 250 mW\n");
	facts_of("{\"a_khz\": 2400000, \"b_part\": 0.015, \"part\": 1.5, \"c_bytes\": 163216, \"d_hz\": 1000, \"e_c\": 45.5, \"s_s\": 86400}",
		 "# all        a 2400 MHz, b 1.5 %, part 150 %, c 163.22 kB, d 1000 Hz, e 45.5 C, s 86400 s\n");
	setenv("TZ", "UTC", 1);
	facts_of("{\"start_unix_ns\": 1700000000000000000}",
		 "# all        start 2023-11-14 22:13:20\n");
}

TEST(what_is_not_known_is_left_out)
{
	facts_of(
		"{\"a\": null, \"b\": 0, \"c\": false, \"d\": \"\", \"e\": [], \"f\": [null, 0], \"g\": {\"h\": 0}}",
		"");
	facts_of("{\"is_so\": true, \"text\": \"two words\", \"word\": \"one\", \"list\": [1, 2], \"minus\": -3}",
		 "# all        is so, text \"two words\", word one, list 1 2, minus -3\n");
}

TEST(groups_and_elements_have_lines)
{
	facts_of("{\"n\": 1, \"group_of\": {\"x\": 2, \"cpus\": [{\"cpu\": 0, \"t_s\": 1}, {\"cpu\": 1, \"t_s\": 0}]},"
		 " \"runs\": [{\"file\": \"a b\", \"ok\": true, \"in\": [{\"name\": \"z\", \"v\": 9}]}], \"m\": 4}",
		 "# all        n 1, m 4\n"
		 "# group of   x 2\n"
		 "# group of cpus cpu 0: t 1 s\n"
		 "# group of cpus cpu 1\n"
		 "# runs       \"a b\": ok\n"
		 "# runs in    z: v 9\n");
}

static int done(void **state)
{
	(void)state;
	free(text);
	return 0;
}

int main(void)
{
	return tests_run(NULL, done);
}
