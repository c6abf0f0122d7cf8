// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What users may write on a command line, and what is refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "lib/base/cpus.h"
#include "tests/support/unit.h"

TEST(durations_have_units)
{
	uint64_t ns;

	assert_int_equal(args_duration("500us", 0, &ns), 0);
	assert_int_equal(ns, 500000);
	assert_int_equal(args_duration("1.5ms", 0, &ns), 0);
	assert_int_equal(ns, 1500000);
	assert_int_equal(args_duration("2S", 0, &ns), 0);
	assert_int_equal(ns, 2000000000ull);
	assert_int_equal(args_duration("3", 1000000000, &ns), 0);
	assert_int_equal(ns, 3000000000ull);
	assert_int_equal(args_duration("1h", 0, &ns), 0);
	assert_int_equal(ns, 3600000000000ull);
	assert_int_equal(args_duration("3", 0, &ns), -EINVAL);
	assert_int_equal(args_duration("", 1, &ns), -EINVAL);
	assert_int_equal(args_duration("-1s", 1, &ns), -EINVAL);
	assert_int_equal(args_duration("1s2", 1, &ns), -EINVAL);
	assert_int_equal(args_duration("nan", 1, &ns), -EINVAL);
	assert_int_equal(args_duration("inf", 1, &ns), -EINVAL);
	assert_int_equal(args_duration("0x10s", 1, &ns), -EINVAL);
	assert_int_equal(args_duration("1e300s", 1, &ns), -ERANGE);
	assert_int_equal(args_duration("1e999", 1, &ns), -ERANGE);
}

TEST(rates_become_intervals)
{
	uint64_t ns;

	assert_int_equal(args_rate("1000", &ns), 0);
	assert_int_equal(ns, 1000000);
	assert_int_equal(args_rate("4kHz", &ns), 0);
	assert_int_equal(ns, 250000);
	assert_int_equal(args_rate("2.5k", &ns), 0);
	assert_int_equal(ns, 400000);
	assert_int_equal(args_rate("0.5", &ns), 0);
	assert_int_equal(ns, 2000000000ull);
	assert_int_equal(args_rate("0", &ns), -ERANGE);
	assert_int_equal(args_rate("2e9", &ns), -ERANGE);
	assert_int_equal(args_rate("fast", &ns), -EINVAL);
	assert_int_equal(args_rate("-5", &ns), -EINVAL);
}

TEST(sizes_and_pids)
{
	uint32_t v;

	assert_int_equal(args_bytes("64K", &v), 0);
	assert_int_equal(v, 65536);
	assert_int_equal(args_bytes("1M", &v), 0);
	assert_int_equal(v, 1048576);
	assert_int_equal(args_bytes("4G", &v), -ERANGE);
	assert_int_equal(args_bytes("1.5", &v), -EINVAL);
	assert_int_equal(args_pid("1", &v), 0);
	assert_int_equal(args_pid("0", &v), -EINVAL);
	assert_int_equal(args_pid("-4", &v), -EINVAL);
	assert_int_equal(args_pid("12a", &v), -EINVAL);
	assert_int_equal(args_pid("4294967297", &v), -EINVAL);
}

TEST(whole_numbers_have_bounds)
{
	uint32_t v = 7;

	assert_int_equal(args_number("6", 6, 100, &v), 0);
	assert_int_equal(v, 6);
	assert_int_equal(args_number("100", 6, 100, &v), 0);
	assert_int_equal(args_number("5", 6, 100, &v), -ERANGE);
	assert_int_equal(args_number("101", 6, 100, &v), -ERANGE);
	assert_int_equal(args_number("99999999999999999999", 0, UINT32_MAX, &v), -ERANGE);
	assert_int_equal(args_number("", 0, 1, &v), -EINVAL);
	assert_int_equal(args_number("1x", 0, 1, &v), -EINVAL);
	assert_int_equal(args_number("-1", 0, 1, &v), -EINVAL);
	assert_int_equal(v, 100);
}

TEST(cpu_lists_go_both_ways)
{
	struct kjoule_cpus set;
	char text[64];

	assert_int_equal(kjoule_cpus_parse("0-2,5,7-8", &set), 0);
	assert_int_equal(kjoule_cpus_count(&set), 6);
	assert_string_equal(kjoule_cpus_format(&set, text, sizeof(text)), "0-2,5,7-8");
	assert_true(kjoule_cpus_has(&set, 5));
	assert_false(kjoule_cpus_has(&set, 6));
	assert_int_equal(kjoule_cpus_next(&set, 3), 5);
	assert_int_equal(kjoule_cpus_next(&set, 9), -1);
	/* at the ends of words, and in the last one */
	assert_int_equal(kjoule_cpus_parse("0,63,64,200,8191", &set), 0);
	assert_int_equal(kjoule_cpus_next(&set, 0), 0);
	assert_int_equal(kjoule_cpus_next(&set, 1), 63);
	assert_int_equal(kjoule_cpus_next(&set, 64), 64);
	assert_int_equal(kjoule_cpus_next(&set, 65), 200);
	assert_int_equal(kjoule_cpus_next(&set, 201), 8191);
	assert_int_equal(kjoule_cpus_next(&set, 8192), -1);
	assert_int_equal(kjoule_cpus_parse("8191", &set), 0);
	assert_int_equal(kjoule_cpus_parse("8192", &set), -ERANGE);
	assert_int_equal(kjoule_cpus_parse("99999999999", &set), -ERANGE);
	assert_int_equal(kjoule_cpus_parse("", &set), -EINVAL);
	assert_int_equal(kjoule_cpus_parse("3-1", &set), -EINVAL);
	assert_int_equal(kjoule_cpus_parse("1,,2", &set), -EINVAL);
	assert_int_equal(kjoule_cpus_parse("1,", &set), -EINVAL);
	assert_int_equal(kjoule_cpus_parse("all", &set), -EINVAL);
	/* a buffer that is too short holds a shorter list, and no more */
	assert_int_equal(kjoule_cpus_parse("0,2,4,6,8", &set), 0);
	assert_true(strlen(kjoule_cpus_format(&set, text, 4)) < 4);
}

TEST(a_list_of_sources_has_no_empty_name)
{
	static const char *const good[] = { "vchip", "powercap,vchip", "perf:cpu/event=1,umask=2/",
					    "perf:cpu/event=1,umask=2/,vchip" };
	static const char *const bad[] = {
		"", ",", "vchip,", ",vchip", "a,,b", "perf:cpu/event=1/,"
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(args_sources(good[i]), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(args_sources(bad[i]), -EINVAL);
}

TEST(lists_of_numbers_and_frequencies)
{
	uint32_t *list;
	size_t n;

	assert_int_equal(args_list("4,1-2,2", 8, &list, &n), 0);
	assert_true(n == 3 && list[0] == 1 && list[1] == 2 && list[2] == 4);
	free(list);
	assert_int_equal(args_list("0", 8, &list, &n), -ERANGE);
	assert_int_equal(args_list("9", 8, &list, &n), -ERANGE);
	assert_int_equal(args_list("1,", 8, &list, &n), -EINVAL);
	assert_int_equal(args_list("3-1", 8, &list, &n), -EINVAL);
	assert_int_equal(args_list("", 8, &list, &n), -EINVAL);
	assert_int_equal(args_frequencies("1.2GHz,800MHz,50000,max,min", 100, 2000000, &list, &n),
			 0);
	assert_true(n == 5 && list[0] == 100 && list[1] == 50000 && list[2] == 800000);
	assert_true(list[3] == 1200000 && list[4] == 2000000);
	free(list);
	assert_int_equal(args_frequencies("1.2W", 1, 2, &list, &n), -EINVAL);
	assert_int_equal(args_frequencies("0x10", 1, 2, &list, &n), -EINVAL);
	assert_int_equal(args_frequencies("99999GHz", 1, 2, &list, &n), -ERANGE);
	assert_int_equal(args_frequencies("0", 1, 2, &list, &n), -ERANGE);
}
