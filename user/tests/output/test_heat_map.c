// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Heat maps: which cells have a colour, a number or a letter, and what the scale is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "output/heat_map.h"
#include "tests/support/drawn.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

/* The script of a map of so many columns, with figures in its row; NAN: for this reason none. */
static char *map(size_t columns, const double *v, size_t n, const char *const *why)
{
	struct heat_map_notes notes = { .n = 0 };
	struct heat_map m;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	m = heat_map_open(f, &notes, 7, columns);
	for (size_t i = 0; i < n; i++)
		heat_map_add(&m, i, 0, v[i], isnan(v[i]) ? why[i] : NULL);
	heat_map_close(&m);
	heat_map_begin(&m, "x.svg", 1, 100);
	heat_map_plot(&m);
	fclose(f);
	return text;
}

TEST(numbers_have_three_digits)
{
	const double v[] = { 1234.4, 99.96, 12.34, 9.996, 1.005, 0.12345, 0 };
	char *text = map(7, v, 7, NULL);

	assert_true(says(text, "0,0,1234.4,0,1234\n1,0,99.96,0,100\n"
			       "2,0,12.34,0,12.3\n3,0,9.996,0,10.0\n"));
	assert_true(says(text, "4,0,1.005,0,1.00\n5,0,0.12345,0,0.123\n6,0,0,0,0.000\n"));
	assert_true(says(text, "set cbrange [0:1234.4]\n") &&
		    says(text, "set xrange [-0.5:6.5]\nset yrange [0.5:-0.5]"));
	free(text);
}

TEST(a_reason_is_written_once_up_to_its_advice)
{
	static const char *const why[] = { "it is too hot; cool it", NULL, "nothing is known: why?",
					  "it is too hot; cool it" };
	const double v[] = { NAN, 5, NAN, NAN };
	char *text = map(4, v, 4, why);

	assert_true(drawn_figures(text) == 1 && drawn_letters(text, 'a') == 2 &&
		    drawn_letters(text, 'b') == 1);
	assert_true(says(text, "'a: it is too hot' at") && says(text, "'b: nothing is known' at") &&
		    drawn_count(text, "set label") == 2);
	assert_int_equal(drawn_count(text, "unset colorbox"), 0);
	free(text);
}

TEST(figures_that_are_as_good_as_equal_look_so)
{
	static const char *const why[] = { "none" };
	const double v[] = { 100, 100.1 }, zero[] = { 0, 0 }, none[] = { NAN };
	char *text = map(2, v, 2, NULL);

	assert_true(says(text, "set cbrange [100:105]\n"));
	free(text);
	text = map(2, zero, 2, NULL);
	assert_true(says(text, "set cbrange [0:1]\n"));
	free(text);
	/* nor has what is not known a scale */
	text = map(1, none, 1, why);
	assert_true(says(text, "unset colorbox\n"));
	free(text);
}

/* Cells of many columns are narrow: colours say it, and the data. */
TEST(many_columns_have_no_numbers)
{
	const double v[] = { 1, 2 };
	char *text = map(16, v, 2, NULL);

	assert_true(says(text, "using (1 ? $1 : NaN):2:5:") &&
		    says(text, "set xtics scale 0 norotate"));
	free(text);
	text = map(17, v, 2, NULL);
	assert_true(says(text, "using ($4 == 1 ? $1 : NaN):2:5:") &&
		    says(text, "set xtics scale 0 rotate"));
	free(text);
}
