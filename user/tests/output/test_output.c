// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables, CSV and JSON: what is escaped, what "cannot be told" looks like.
 */
#include <math.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "output/output.h"
#include "tests/support/unit.h"

static const struct output_column columns[] = {
	{ "name", "NAME", true },
	{ "energy_j", "J", false },
	{ "hidden", NULL, false },
	{ NULL, "NOTE", true },
};

static char *render(enum output_format format)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct output *out = output_open(f, format, columns, 4);

	output_str(out, "a \"b\", c\nd");
	output_real(out, 1.5, 3);
	output_u64(out, UINT64_MAX);
	output_str(out, "first");
	output_row(out);
	output_str(out, "\xc2\xb5joule");
	output_none(out, "because");
	output_i64(out, -3);
	output_row(out);
	output_str(out, "x");
	output_real(out, NAN, 2);
	output_row(out);
	output_close(out, NULL, NULL);
	fclose(f);
	return text;
}

TEST(csv_is_rfc_4180)
{
	char *text = render(OUTPUT_CSV);

	assert_string_equal(text, "name,energy_j,hidden\r\n"
			    "\"a \"\"b\"\", c\nd\",1.5,18446744073709551615\r\n"
			    "\xc2\xb5joule,,-3\r\n"
			    "x,,\r\n");
	free(text);
}

TEST(json_can_be_read_again)
{
	char *text = render(OUTPUT_JSON);
	struct json_object *o = json_tokener_parse(text), *row, *v;

	assert_int_equal(json_object_array_length(o), 3);
	row = json_object_array_get_idx(o, 0);
	assert_true(json_object_object_get_ex(row, "name", &v));
	assert_string_equal(json_object_get_string(v), "a \"b\", c\nd");
	assert_true(json_object_object_get_ex(row, "hidden", &v));
	assert_int_equal(json_object_get_uint64(v), UINT64_MAX);
	row = json_object_array_get_idx(o, 1);
	assert_true(json_object_object_get_ex(row, "energy_j", &v));
	assert_null(v);
	row = json_object_array_get_idx(o, 2);
	assert_true(json_object_object_get_ex(row, "energy_j", &v));
	assert_null(v);
	json_object_put(o);
	free(text);
	/* an object a line, without what is not known */
	text = render(OUTPUT_JSON_LINES);
	assert_non_null(strstr(text, "\n{\"name\":\"\xc2\xb5joule\",\"hidden\":-3}\n"));
	free(text);
}

TEST(tables_align_and_tell_why)
{
	char *text = render(OUTPUT_TABLE);

	assert_string_equal(text, "NAME            J  NOTE\n"
			    "a \"b\", c?d  1.500  first\n"
			    "\xc2\xb5joule          -\n"
			    "x               -\n"
			    "\n- : because\n\n- : the number is not finite\n");
	free(text);
}

TEST(surplus_cells_are_dropped)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct output *out = output_open(f, OUTPUT_JSON, columns, 1);

	output_str(out, "a");
	output_str(out, "b");
	output_real(out, 1, 1);
	output_row(out);
	output_close(out, json_object_new_object(), "rows");
	fclose(f);
	assert_non_null(strstr(text, "\"rows\""));
	assert_null(strstr(text, "\"b\""));
	free(text);
}

/* What a terminal gets to see of three rows, the second of which stands out. */
static void show(char *text, size_t room)
{
	int master, slave, usual;
	struct output *out;
	size_t len = 0;
	ssize_t n;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	fflush(stdout);
	usual = dup(STDOUT_FILENO);
	dup2(slave, STDOUT_FILENO);
	out = output_open(stdout, OUTPUT_TABLE, columns, 4);
	output_str(out, "plain");
	output_row(out);
	output_rule(out);
	output_str(out, "hot\033[2J\xc2\x9b");
	output_emphasis(out, OUTPUT_HOT);
	output_row(out);
	output_str(out, "cold");
	output_row(out);
	output_close(out, NULL, NULL);
	fflush(stdout);
	dup2(usual, STDOUT_FILENO);
	close(usual);
	/* a terminal hands on what it has so far */
	do {
		n = read(master, text + len, room - 1 - len);
		assert_true(n > 0);
		len += n;
		text[len] = 0;
	} while (!strstr(text, "cold\r\n"));
	close(slave);
	close(master);
}

TEST(a_terminal_shows_what_stands_out)
{
	char text[512];

	unsetenv("NO_COLOR");
	show(text, sizeof(text));
	assert_non_null(strstr(text, "plain\r\n\r\n\033[1;31mhot?[2J??\033[0m\r\ncold\r\n"));
	setenv("NO_COLOR", "1", 1);
	show(text, sizeof(text));
	assert_non_null(strstr(text, "plain\r\n\r\nhot?[2J??\r\ncold\r\n"));
}
