// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of functions of C++ and Rust: as they are shown, and what people may call them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/code/demangle.h"
#include "tests/support/unit.h"

static void becomes(const char *name, const char *wanted)
{
	char *text = kjoule_demangle(name);

	if (wanted)
		assert_string_equal(text ? text : "(as it is)", wanted);
	else
		assert_null(text);
	free(text);
}

TEST(names_are_as_in_the_source)
{
	becomes("_ZN1a1bEi", "a::b(int)");
	becomes("_ZN1a1bEi.cold", "a::b(int) [clone .cold]");
	becomes("_Z1fIiEvT_", "void f<int>(int)");
	becomes("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	becomes("_RNvC6_123foo3bar", "123foo::bar");
	becomes("main", NULL);
	becomes("_start", NULL);
	becomes("_Z", NULL);
	becomes("", NULL);
}

/*
 * foo<int, int>, then of each what was before, twice: a few hundred characters that stand for more
 * than there is memory.
 */
TEST(endless_names_stay_as_they_are)
{
	char name[4096] = "_Z1f3fooIiiE", digits[2] = "0", *long_one;

	for (int i = 0; i < 35; i++) {
		digits[0] = i < 10 ? '0' + i : 'A' + i - 10;
		sprintf(name + strlen(name), "S_IS%s_S%s_E", digits, digits);
		if (i == 1)
			becomes(name, "f(foo<int, int>, foo<foo<int, int>, foo<int, int> >, foo<foo<foo<int, int>, foo<int, int> >, foo<foo<int, int>, foo<int, int> > >)");
	}
	becomes(name, NULL);
	/* nested as deep as it likes */
	strcpy(name, "_Z1f");
	memset(name + 4, 'P', 2000);
	strcpy(name + 2004, "i");
	free(kjoule_demangle(name));
	long_one = malloc(1 << 20);
	assert_non_null(long_one);
	memset(long_one, 'P', (1 << 20) - 1);
	memcpy(long_one, "_Z1f", 4);
	long_one[(1 << 20) - 1] = '\0';
	becomes(long_one, NULL);
	free(long_one);
}

TEST(functions_are_found_by_what_they_are_called)
{
	assert_true(kjoule_name_is("main", "main"));
	assert_false(kjoule_name_is("main", "mai"));
	assert_true(kjoule_name_is("a::b(int)", "a::b(int)"));
	assert_true(kjoule_name_is("a::b(int)", "a::b"));
	assert_true(kjoule_name_is("a::b(int)", "_ZN1a1bEi"));
	assert_false(kjoule_name_is("a::b(int)", "b"));
	assert_false(kjoule_name_is("a::b(int)", "a::b(long)"));
	assert_false(kjoule_name_is("a::b(int)", "_ZN1a1bEl"));
	assert_false(kjoule_name_is("a::b(int)", ""));
	assert_true(kjoule_name_is("a::b(int) const [clone .cold]", "a::b"));
	assert_true(kjoule_name_is("a::b(void (*)(int), int)", "a::b"));
	assert_true(kjoule_name_is("void f<a b, int>(a, b)", "f<a b, int>"));
	assert_true(kjoule_name_is("a::operator()(int) const", "a::operator()"));
	assert_true(kjoule_name_is("(anonymous namespace)::f(int)", "(anonymous namespace)::f"));
	assert_true(kjoule_name_is("main::{lambda(int)#1}::operator()(int) const",
				   "main::{lambda(int)#1}::operator()"));
	assert_true(kjoule_name_is("core::fmt::write", "core::fmt::write"));
	assert_false(kjoule_name_is("(", "x"));
	assert_false(kjoule_name_is(")(", "x"));
	assert_false(kjoule_name_is("())", "x"));
}
