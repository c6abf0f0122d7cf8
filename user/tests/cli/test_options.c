// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table of options: what goes where, what is refused, and how that is said. The verbs' own
 * tables are in selftests/user/test_options.py.
 */
#include <errno.h>
#include <string.h>
#include "cli/options.h"
#include "output/output.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

enum fruit { APPLE, NONE, PEAR };

/* What the table below fills. */
struct got {
	bool all, keep, named, sized;
	enum output_format format;
	enum fruit fruit;
	const char *name, *picture, *source;
	uint32_t number, khz;
	uint64_t ns, interval_ns;
	double percent, watt, seconds;
	struct kjoule_cpus cpus;
	unsigned int edge;
};

static int call_edge(void *context, const char *arg, const char **why)
{
	*(unsigned int *)context = arg ? strlen(arg) : 99;
	*why = arg && !strcmp(arg, "dull") ? "it has to be sharp" : NULL;
	return arg && (*why || !strcmp(arg, "blunt")) ? -EINVAL : 0;
}

/* Return: as options_parse(); @said: what was said, the caller's to free */
static int parse(const char *line, bool command, struct got *got, char **said)
{
	const struct options_verb verb = { "fruit", "[OPTION]...", "About.", "  x\n", command };
	const struct options_row rows[] = {
		{ 'a', "all", NULL, "x", OPT_FLAG(&got->all), .not_with = "name" },
		{ 0, "no-keep", NULL, "x", OPT_CLEAR(&got->keep) },
		{ 0, "fruit", "WORD", "x",
		  OPT_WORD(&got->fruit, [APPLE] = "apple", [PEAR] = "pear") },
		{ 'n', "name", "NAME", "x", OPT_TEXT(&got->name), .given = &got->named,
		  .not_with = "name", .needs = "picture g" },
		{ 'g', NULL, NULL, "x", OPT_FLAG(&got->sized) },
		{ 0, "picture", "FILE", "x", OPT_PICTURE(&got->picture) },
		{ 0, "source", "NAME", "x", OPT_SOURCES(&got->source) },
		{ 0, "number", "N", "x", OPT_NUMBER(&got->number, 2, 9) },
		{ 0, "percent", "P", "x", OPT_PERCENT(&got->percent) },
		{ 0, "power", "W", "x", OPT_POWER(&got->watt) },
		{ 0, "time", "TIME", "x", OPT_TIME(&got->ns, 1000, 2000, 5000),
		  .expected = "2us to 5us" },
		{ 0, "seconds", "TIME", "x", OPT_SECONDS(&got->seconds) },
		{ 0, "rate", "HZ", "x", OPT_RATE(&got->interval_ns) },
		{ 0, "freq", "FREQ", "x", OPT_FREQUENCY(&got->khz) },
		{ 'C', "cpus", "LIST", "x", OPT_CPUS(&got->cpus) },
		{ 0, "edge", "[=HOW]", "x", OPT_CALL(call_edge, &got->edge),
		  .expected = "an edge" },
		OPT_JSON(&got->format),
		OPT_CSV(&got->format),
		{ 0 }
	};
	static char copy[300];		/* what is got points into it */
	char *rest = copy, *argv[20] = { "fruit" };
	int argc = 1, ret;

	snprintf(copy, sizeof(copy), "%s", line);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	*got = (struct got){ .keep = true };
	stderr_capture();
	ret = options_parse(&verb, rows, argc, argv);
	*said = stderr_release();
	return ret;
}

TEST(values_go_where_the_table_says)
{
	struct got got;
	char *said;

	assert_int_equal(parse("--all --no-keep --fruit pear --number=9 --percent 1% --power 500mW "
			       "--time 3 --seconds 2m --rate 4k", false, &got, &said), 16);
	assert_string_equal(said, "");
	assert_true(got.all && !got.keep && !got.named && got.fruit == PEAR && got.number == 9);
	assert_true(got.percent == 1 && got.watt == 0.5 && got.ns == 3000 && got.seconds == 120);
	assert_int_equal(got.interval_ns, 250000);
	assert_int_equal(parse("-gnx --freq 1.2GHz -C0-3 --source a,b --edge --json", false, &got,
			       &said), 9);
	assert_true(got.sized && got.named && !strcmp(got.name, "x") && got.khz == 1200000);
	assert_int_equal(kjoule_cpus_count(&got.cpus), 4);
	assert_true(!strcmp(got.source, "a,b") && got.edge == 99 && got.format == OUTPUT_JSON);
	/* abbreviated; an argument between options, and one that looks like an option */
	assert_int_equal(parse("--num 3 file --edge=abc -- --all", false, &got, &said), 5);
	assert_true(got.number == 3 && got.edge == 3 && !got.all);
	/* a command's options are its own */
	assert_int_equal(parse("-a run -g", true, &got, &said), 2);
	assert_true(got.all && !got.sized);
}

TEST(what_is_refused_is_said)
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{ "--nonsense", "unknown option '--nonsense'" },
		{ "-gx", "unknown option '-x'" },
		{ "--number", "option '--number' needs a value" },
		{ "-n", "option '-n' needs a value" },
		{ "--all=1", "option '--all=1' takes no value" },
		{ "--number 1", "--number '1': out of range; expected a number from 2 to 9" },
		{ "--number x", "--number 'x': not understood; expected a number from 2 to 9" },
		{ "--fruit plum", "--fruit 'plum': not understood; expected apple or pear" },
		{ "--time 6", "--time '6': out of range; expected 2us to 5us" },
		{ "--seconds 0s", "--seconds '0s': out of range; expected a time" },
		{ "--name=", "--name '': not understood; expected NAME" },
		{ "-C 3-1", "-C '3-1': not understood; expected CPUs like 0-3,8" },
		{ "--cpus=", "--cpus '': not understood" },
		{ "--picture x.gif", "--picture 'x.gif': not understood; expected a file" },
		{ "--source a,,b", "--source 'a,,b': not understood; expected names" },
		{ "--percent 101", "--percent '101': out of range" },
		{ "--power 2MW", "--power '2MW': not understood; expected watts like 2W" },
		{ "--rate 0", "--rate '0': out of range; expected a rate" },
		{ "--freq fast", "--freq 'fast': not understood; expected a frequency" },
		{ "--edge=dull", "--edge 'dull': it has to be sharp" },
		{ "--edge=blunt", "--edge 'blunt': not understood; expected an edge" },
		{ "--json --csv", "options '--json' and '--csv' cannot be used together" },
		{ "--csv --json", "options '--json' and '--csv' cannot be used together" },
		{ "-g -n x --all", "options '--all' and '--name' cannot be used together" },
		{ "-g -n x --name y", "option '--name' can be given once only" },
		{ "-n x", "option '--name' needs '--picture' or '-g'" },
	};
	struct got got;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *said, wanted[200];
		int ret = parse(cases[i].line, false, &got, &said);

		snprintf(wanted, sizeof(wanted), "kjoule fruit: %s", cases[i].said);
		if (ret != -2 || strncmp(said, wanted, strlen(wanted)) ||
		    !strstr(said, "; see `kjoule fruit --help`\n"))
			fail_msg("%s: %d, %s", cases[i].line, ret, said);
	}
}
