// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record --vpm FILE:FROM-TO: lines of this file, in functions that no compiler mixes with others,
 * and what they become.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "record/record.h"
#include "tests/support/looped.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#ifdef __clang__
#define AS_WRITTEN __attribute__((noinline, optnone))
#else
#define AS_WRITTEN __attribute__((noinline, optimize("O0")))
#endif

/* Where the lines are that the tests are about. */
static struct {
	unsigned int loop, into, early, both, inlined, never;
} lines;

/* Three lines that are one block. */
AS_WRITTEN static int with_a_loop(volatile int *p, int n)
{
	lines.loop = __LINE__ + 2;
	p[0] = 1;
	p[1] = n;
	for (int i = 0; i < n; i++)
		p[2] += p[1] ^ i;
	p[3] = 2;
	return p[3];
}

/* Two lines, the second of which is jumped to. */
AS_WRITTEN static int jumped_into(volatile int *p, int n)
{
	lines.into = __LINE__ + 1;
	p[1] += n;
	do {
		p[2] += n;
	} while (p[2] < 5);
	return p[0];
}

/* Two lines after which it goes on elsewhere, always. */
AS_WRITTEN static int left_early(volatile int *p, int n)
{
	if (n > 3) {
		lines.early = __LINE__ + 1;
		p[1] += n;
		goto out;
	}
	p[2] += n;
out:
	p[3] += n;
	return p[3];
}

static inline __attribute__((always_inline)) void inlined(volatile int *p)
{
	lines.inlined = __LINE__ + 1;
	p[3] += p[2];
}

AS_WRITTEN static int with_others_between(volatile int *p, int n)
{
	lines.both = __LINE__ + 1;
	p[0] = n;
	inlined(p);
	p[1] = n;
	inlined(p);
	/* no code is of this line */
	lines.never = __LINE__ - 1;
	return p[1];
}

static struct kjoule_error why;

/* What lines @from to @to become. */
static int resolve(unsigned int from, unsigned int to, struct kjoule_vpm_place *place)
{
	struct user_blocks named = { 0 };
	const char *what;
	char text[80];
	int ret;

	memset(place, 0, sizeof(*place));
	memset(&why, 0, sizeof(why));
	snprintf(text, sizeof(text), "it=test_lines.c:%u-%u", from, to);
	assert_int_equal(record_block_add(&named, text, &what), 0);
	ret = record_block_resolve(&named.blocks[0], looped_path(), place, NULL, &why);
	user_blocks_free(&named);
	return ret;
}

/* All of the code is of these lines, and what is around it is not. */
TEST(one_stretch_is_a_block)
{
	struct kjoule_line of[KJOULE_LINES_MOST];
	struct kjoule_vpm_place place;
	struct kjoule_code *code;

	/* the line before the loop, so that it does not begin with the loop's jump */
	assert_int_equal(resolve(lines.loop + 1, lines.loop + 3, &place), 0);
	assert_string_equal(why.text, "");
	assert_true(place.start < place.next && place.next < place.end);
	assert_int_equal(kjoule_code_open(looped_path(), &code), 0);
	for (uint64_t a = place.start; a < place.end; a++) {
		assert_true(kjoule_code_lines(code, a, of) > 0);
		assert_true(!of[0].line ||
			    (of[0].line > lines.loop && of[0].line <= lines.loop + 3));
	}
	assert_true(kjoule_code_lines(code, place.start - 1, of) && of[0].line == lines.loop);
	assert_true(kjoule_code_lines(code, place.end, of) && of[0].line == lines.loop + 4);
	kjoule_code_close(code);
}

TEST(what_is_entered_twice_is_none)
{
	struct kjoule_vpm_place place;

	assert_int_equal(resolve(lines.into, lines.into + 2, &place), -EINVAL);
	assert_true(says(why.text, "it is entered not only at 0x") &&
		    says(why.text, "of jumped_into jumps to 0x"));
	assert_true(says(why.text, "it (test_lines.c:") && says(why.text, "kjoule annotate"));
	/* each for itself is entered at its beginning only */
	assert_int_equal(resolve(lines.into, lines.into, &place), 0);
	assert_int_equal(resolve(lines.into + 2, lines.into + 2, &place), 0);
	/* that of a loop with all of it is passed many times a run */
	assert_int_equal(resolve(lines.into + 1, lines.into + 3, &place), -EINVAL);
	assert_true(says(why.text, "head of a loop"));
}

TEST(what_is_never_left_at_its_end_is_none)
{
	struct kjoule_vpm_place place;

	assert_int_equal(resolve(lines.early, lines.early + 1, &place), -EINVAL);
	assert_true(says(why.text, "never gets from it to the code behind it"));
	assert_int_equal(resolve(lines.early, lines.early, &place), 0);
}

TEST(several_stretches_are_none)
{
	struct kjoule_vpm_place place;

	/* inlined at two places, and there of one function */
	assert_int_equal(resolve(lines.inlined, lines.inlined, &place), -EINVAL);
	assert_true(says(why.text, "they are not one stretch of code") &&
		    says(why.text, "of with_others_between"));
	/* with what is inlined between them they are one */
	assert_int_equal(resolve(lines.both, lines.both + 3, &place), 0);
	/* two functions */
	assert_int_equal(resolve(lines.loop, lines.into, &place), -EINVAL);
	assert_true(says(why.text, "they are code of several functions"));
}

TEST(lines_without_code_are_none)
{
	struct kjoule_vpm_place place;

	assert_int_equal(resolve(lines.never, lines.never, &place), -ENOENT);
	assert_true(says(why.text, "nothing in ") && says(why.text, "is it built with -g"));
	assert_int_equal(resolve(100000, 100001, &place), -ENOENT);
}

/* Each function has reported where its lines are when it has run. */
static int run_all(void **state)
{
	volatile int some[4] = { 0 };

	(void)state;
	return !(with_a_loop(some, 3) + jumped_into(some, 2) + left_early(some, 5) +
		 with_others_between(some, 1));
}

int main(void)
{
	return tests_run(run_all, NULL);
}
