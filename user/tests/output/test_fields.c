// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The choice of a table's fields: their order, what "+" adds, and what is refused with which words.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "output/fields.h"
#include "tests/support/unit.h"

static const struct output_field known[] = {
	{ "energy", true }, { "power", false },	  { "time", true },
	{ "pid", false },   { "function", true },
};

static struct fields fields_of(const char *chosen)
{
	return (struct fields){ known, sizeof(known) / sizeof(known[0]), chosen };
}

/* "a,b": the keys of what is chosen */
static const char *fields_listed(const char *chosen)
{
	struct fields f = fields_of(chosen);
	struct kjoule_error err = { "" };
	const char *keys[FIELDS_MOST];
	static char text[256];
	size_t n, at = 0;

	if (fields_check(&f, &err))
		print_message("%s: %s\n", chosen, err.text);
	assert_int_equal(fields_check(&f, NULL), 0);
	n = fields_list(&f, keys);
	for (size_t i = 0; i < n; i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%s", i ? "," : "", keys[i]);
	return text;
}

TEST(without_a_choice_the_default_ones_are_shown)
{
	assert_string_equal(fields_listed(NULL), "energy,time,function");
}

TEST(a_choice_has_its_own_order)
{
	assert_string_equal(fields_listed("function,energy"), "function,energy");
	assert_string_equal(fields_listed("energy,function"), "energy,function");
	assert_string_equal(fields_listed("pid"), "pid");
	assert_string_equal(fields_listed("function,pid,time,power,energy"),
			    "function,pid,time,power,energy");
}

/* What is added stands where the verb has it; what is shown already may be named. */
TEST(plus_adds_to_the_default_ones)
{
	assert_string_equal(fields_listed("+pid"), "energy,time,pid,function");
	assert_string_equal(fields_listed("+pid,power"), "energy,power,time,pid,function");
	assert_string_equal(fields_listed("+time"), "energy,time,function");
}

TEST(what_is_wrong_is_named)
{
	static const struct {
		const char *chosen, *says;
	} wrong[] = {
		{ "", "--fields: '': no field;" },
		{ "+", "--fields: '': no field;" },
		{ "energy,colour", "--fields: 'colour': no such field;" },
		{ "+colour", "--fields: 'colour': no such field;" },
		{ "energ", "--fields: 'energ': no such field;" },
		{ "energyx", "--fields: 'energyx': no such field;" },
		{ "energy,,time", "--fields: '': no such field;" },
		{ "energy,", "--fields: '': no field;" },
		{ ",energy", "--fields: '': no such field;" },
		{ "time,energy,time", "--fields: 'time': given twice;" },
		{ "+pid,pid", "--fields: 'pid': given twice;" },
		{ "energy,+pid", "--fields: '+pid': no such field;" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct fields f = fields_of(wrong[i].chosen);
		struct kjoule_error err = { "" };

		assert_int_equal(fields_check(&f, &err), -EINVAL);
		if (strncmp(err.text, wrong[i].says, strlen(wrong[i].says)))
			fail_msg("%s: %s", wrong[i].chosen, err.text);
		/* and which there are */
		assert_non_null(strstr(err.text, "there are energy, power, time, pid, function"));
	}
}
