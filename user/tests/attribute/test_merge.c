// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several recordings as one report: simulated runs of a program whose figures, and whose
 * differences, are known.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "tests/support/looped.h"
#include "tests/support/series.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static void series(const char *name, const uint32_t *ticks, const double *watt, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char one[64];

		snprintf(one, sizeof(one), "%s.%zu", name, i + 1);
		series_record(&(struct series_run){ .name = one, .ticks = ticks[i], .watt = watt[i],
						    .phase = 7 * i });
	}
}

static double half(struct json_object *row, const char *what)
{
	const char *unit = strcmp(what, "time") ? "package_j" : "s";
	char lo[64], hi[64];

	snprintf(lo, sizeof(lo), "%s_lo_%s", what, unit);
	snprintf(hi, sizeof(hi), "%s_hi_%s", what, unit);
	return (number(row, hi) - number(row, lo)) / 2;
}

/*
 * The mean of each figure, samples of all, energy = power times time, and code joined wherever it
 * was loaded.
 */
TEST(several_runs_are_an_average_run)
{
	static const uint32_t ticks[] = { 10000, 10200, 9800 };
	static const double watt[] = { 1, 1, 1 };
	struct json_object *doc, *row, *runs;

	series("avg", ticks, watt, 3);
	doc = kjoule_json(0, "report --json %s", series_files("avg", 3));
	assert_int_equal(number(doc, "average_of"), 3);
	runs = member(doc, "runs");
	assert_int_equal(json_object_array_length(runs), 3);
	row = find_row(doc, "total", NULL);
	assert_int_equal(number(row, "samples"), 30000);
	assert_int_equal(number(row, "runs"), 3);
	assert_true(near(number(row, "time_s"), 10, 1e-9));
	assert_true(near(number(row, "energy_package_j"), 15, 0.05));
	assert_true(near(number(row, "power_package_w") * number(row, "time_s"),
			 number(row, "energy_package_j"), 1e-6));
	/* 0.2 s is what the times differ by, and that is known to a tick */
	assert_true(near(number(row, "time_between_s"), 0.2, 0.002));
	row = find_row(doc, "function", SERIES_OBJECT);
	assert_true(near(number(row, "power_package_w"), 1, 0.005));
	assert_true(near(number(row, "time_s"), 5 * (1 - 0.003), 0.02));
	row = find_row(doc, "function", "[kernel]");
	assert_true(near(number(row, "power_package_w"), 2, 0.01));
	assert_int_equal(number(row, "runs"), 3);
	/* process ids are no name */
	row = find_row(doc, "process", NULL);
	assert_null(member(row, "pid"));
	assert_int_equal(kjoule("report %s", series_files("avg", 3)), 0);
	assert_true(says(out, ": 3 runs of "));
	assert_true(says(out, "which includes how runs differ"));
	assert_true(says(out, "  [kernel]") && says(out, "  total\n"));
	assert_null(strstr(out, "pid 100"));
	assert_int_equal(kjoule("report --by process %s", series_files("avg", 3)), 0);
	assert_true(says(out, "  program\n"));
	assert_null(strstr(out, "pid 100"));
	assert_int_equal(kjoule("report --csv %s", series_files("avg", 3)), 0);
	assert_true(says(out, ",runs,time_s,"));
}

/* Runs that do not differ: nine of them know three times as much as one. */
TEST(more_runs_are_narrower)
{
	struct json_object *doc;
	double one, nine;

	for (size_t i = 0; i < 9; i++) {
		char name[16];

		snprintf(name, sizeof(name), "more.%zu", i + 1);
		series_record(&(struct series_run){ .name = name, .ticks = 10000, .watt = 1,
						    .phase = 11 * i });
	}
	doc = kjoule_json(0, "report --json %s", series_files("more", 1));
	one = half(find_row(doc, "total", NULL), "energy");
	doc = kjoule_json(0, "report --json %s", series_files("more", 9));
	nine = half(find_row(doc, "total", NULL), "energy");
	print_message("half of the interval of 1 run: %.4f J, of 9: %.4f J\n", one, nine);
	assert_true(nine < one / 1.8 && nine > one / 4);
}

/* Times of 9.5 to 10.5 s: no run knows that of itself. */
TEST(the_spread_between_runs_is_in_the_interval)
{
	static const uint32_t ticks[] = { 9500, 10500, 10000, 9700, 10300 };
	static const double watt[] = { 1, 1, 1, 1, 1 };
	struct json_object *doc, *row;

	series("spread", ticks, watt, 5);
	doc = kjoule_json(0, "report --json %s", series_files("spread", 1));
	assert_true(half(find_row(doc, "total", NULL), "time") < 0.01);
	doc = kjoule_json(0, "report --json %s", series_files("spread", 5));
	row = find_row(doc, "total", NULL);
	/* t(4) * S / sqrt(5), S = 0.4123 */
	assert_true(near(half(row, "time"), 2.776 * 0.4123 / sqrt(5), 0.003));
	assert_true(near(half(row, "energy"), 2.776 * 0.4123 / sqrt(5) * 1.5, 0.05));
	/* of two it is unknown, and that is reported */
	doc = kjoule_json(0, "report --json %s", series_files("spread", 2));
	row = find_row(doc, "total", NULL);
	assert_true(half(row, "time") < 0.01);
	assert_null(member(row, "time_between_s"));
	assert_false(json_object_get_boolean(member(doc, "spread_known")));
	assert_int_equal(kjoule("report %s", series_files("spread", 2)), 0);
	assert_true(says(out, "without how runs differ: that takes 3"));
}

TEST(a_run_that_differs_is_named_and_left_out_when_asked)
{
	static const uint32_t ticks[] = { 10000, 10010, 9990, 10005, 9995, 13000 };
	static const double watt[] = { 1, 1, 1, 1.6, 1, 1 };
	struct json_object *doc, *runs;

	series("odd", ticks, watt, 6);
	doc = kjoule_json(0, "report --json %s", series_files("odd", 6));
	runs = member(doc, "runs");
	for (size_t i = 0; i < 6; i++) {
		struct json_object *run = json_object_array_get_idx(runs, i);

		assert_int_equal(json_object_get_boolean(member(run, "differs")), i == 3 || i == 5);
		assert_int_equal(json_object_get_boolean(member(run, "time_differs")), i == 5);
		assert_int_equal(json_object_get_boolean(member(run, "power_differs")), i == 3);
		assert_false(json_object_get_boolean(member(run, "left_out")));
	}
	assert_true(near(number(find_row(doc, "total", NULL), "time_s"), 10.5, 1e-9));
	assert_true(says(err, "odd.6 differs from the other runs: time 13 s is +30 % off the median"));
	doc = kjoule_json(0, "report --without-outliers --json %s", series_files("odd", 6));
	assert_int_equal(number(doc, "average_of"), 4);
	assert_true(near(number(find_row(doc, "total", NULL), "time_s"), 9.99875, 1e-9));
	assert_int_equal(number(find_row(doc, "total", NULL), "samples"), 39995);
	assert_int_equal(kjoule("report %s", series_files("odd", 6)), 0);
	assert_true(says(out, "# differs    "));
	assert_true(says(out, "--without-outliers leaves it out"));
}

/* Code that only some runs have met counts as 0 in the others. */
TEST(code_missing_in_a_run_counts_as_zero)
{
	struct json_object *doc, *row;

	series_record(&(struct series_run){ .name = "met.1", .ticks = 10000, .watt = 1 });
	series_record(&(struct series_run){ .name = "met.2", .ticks = 100, .watt = 1 });
	series_record(&(struct series_run){ .name = "met.3", .ticks = 100, .watt = 1 });
	series_record(&(struct series_run){ .name = "met.4", .ticks = 100, .watt = 1 });
	doc = kjoule_json(0, "report --json %s", series_files("met", 4));
	row = find_row(doc, "function", "[kernel]");
	assert_int_equal(number(row, "runs"), 1);
	assert_true(near(number(row, "time_s"), 5 * (1 - 0.003) / 4, 0.003));
	/* its power is that of the one run; no more are known */
	assert_true(near(number(row, "power_package_w"), 2, 0.01));
	/* t(3) * S / sqrt(4), S of 5, 0, 0 and 0 s; less than nothing it cannot be */
	assert_true(near(number(row, "time_hi_s"), 1.246 + 3.182 * 2.5 / 2, 0.02));
	assert_true(number(row, "time_lo_s") == 0);
}

TEST(different_measurements_are_not_averaged)
{
	char link[320];
	const char *a = temp_path("a");

	series_record(&(struct series_run){ .name = "a", .ticks = 1000, .watt = 1 });
	series_record(&(struct series_run){ .name = "other", .ticks = 1000, .watt = 1,
					    .exe = "/nonexistent/another" });
	assert_int_equal(kjoule("report %s /nonexistent/x", a), 1);
	assert_true(says(err, "/nonexistent/x: No such file"));
	assert_int_equal(kjoule("report %s /etc/passwd", a), 1);
	assert_true(says(err, "not a kjoule data file"));
	assert_int_equal(kjoule("report %s %s", a, temp_path("other")), 1);
	assert_string_equal(out, "");
	assert_true(says(err, "different programs are no one average"));
	/* twice the same, also by another name */
	snprintf(link, sizeof(link), "%s.link", a);
	assert_int_equal(symlink(a, link), 0);
	assert_int_equal(kjoule("report %s %s", a, link), 1);
	assert_true(says(err, "is the same recording as"));
	assert_int_equal(kjoule("report %s %s", a, a), 1);
}

TEST(acceptable_differences_are_reported)
{
	const char *a = temp_path("note.1");

	series_record(&(struct series_run){ .name = "note.1", .ticks = 1000, .watt = 1 });
	series_record(&(struct series_run){ .name = "note.2", .ticks = 1000, .watt = 1,
					    .argument = "another" });
	assert_int_equal(kjoule("report %s %s", a, temp_path("note.2")), 0);
	assert_true(says(out, "# note "));
	assert_true(says(out, "was run as `./program another`"));
	series_record(&(struct series_run){ .name = "note.2", .ticks = 500, .watt = 1,
					    .interval_ns = 2000000 });
	assert_int_equal(kjoule("report --csv %s %s", a, temp_path("note.2")), 0);
	assert_true(says(err, "was recorded at 500 Hz"));
	series_record(&(struct series_run){ .name = "note.2", .ticks = 1000, .watt = 1,
					    .cpus = 2 });
	assert_int_equal(kjoule("report %s %s", a, temp_path("note.2")), 0);
	assert_true(says(out, "was recorded on CPUs 0-1"));
}

/* A stuck counter in one run: that run has a time, and the others' energy. */
TEST(a_run_without_energy_takes_none_from_the_others)
{
	struct json_object *doc, *row;

	series_record(&(struct series_run){ .name = "dark.1", .ticks = 10000, .watt = 1 });
	series_record(&(struct series_run){ .name = "dark.2", .ticks = 10000, .watt = 1 });
	series_record(&(struct series_run){ .name = "dark.3", .ticks = 10000, .watt = 1,
					    .no_energy = true });
	doc = kjoule_json(0, "report --json %s", series_files("dark", 3));
	row = find_row(doc, "total", NULL);
	assert_true(near(number(row, "time_s"), 10, 1e-9));
	assert_true(near(number(row, "energy_package_j"), 15, 0.05));
	assert_true(near(number(row, "power_package_w"), 1.5, 0.005));
	assert_null(member(json_object_array_get_idx(member(doc, "runs"), 2), "energy_j"));
	/* nor does one that has not met the code at all, and was there before the others */
	series_record(&(struct series_run){ .name = "dim.1", .ticks = 10000, .no_energy = true,
					    .kernel_only = true });
	series_record(&(struct series_run){ .name = "dim.2", .ticks = 10000, .watt = 1 });
	series_record(&(struct series_run){ .name = "dim.3", .ticks = 10000, .watt = 1 });
	doc = kjoule_json(0, "report --json %s", series_files("dim", 3));
	row = find_row(doc, "function", SERIES_OBJECT);
	assert_true(near(number(row, "energy_package_j"), 5 * (1 - 0.003), 0.05));
	assert_true(near(number(row, "time_s"), 10.0 / 3 * (1 - 0.003), 0.02));
	assert_int_equal(kjoule("report %s", series_files("dark", 3)), 0);
	assert_true(says(out, "dark.3: its energy is not known"));
}

/*
 * No source at all: times, and nothing that looks like an energy. With and without one are no one
 * measurement.
 */
TEST(without_a_source_there_is_time)
{
	struct json_object *doc, *row;

	series_record(&(struct series_run){ .name = "bare.1", .ticks = 1000, .no_source = true });
	series_record(&(struct series_run){ .name = "bare.2", .ticks = 3000, .no_source = true });
	doc = kjoule_json(0, "report --json %s", series_files("bare", 2));
	row = find_row(doc, "total", NULL);
	assert_true(near(number(row, "time_s"), 2, 1e-9));
	assert_true(isnan(number(row, "energy_package_j")));
	assert_null(member(json_object_array_get_idx(member(doc, "runs"), 0), "energy_j"));
	assert_int_equal(kjoule("report %s", series_files("bare", 2)), 0);
	assert_true(says(out, "# energy: no source was used"));
	series_record(&(struct series_run){ .name = "with", .ticks = 1000, .watt = 1 });
	assert_int_equal(kjoule("report %s %s", temp_path("bare.1"),
				temp_path("with")), 1);
	assert_true(says(err, "cannot average different sources"));
	assert_string_equal(out, "");
}

/* Where the whole machine is recorded only the command names a program. */
TEST(of_the_machine_the_commands_are_compared)
{
	const char *a = temp_path("sys.1");

	series_record(&(struct series_run){ .name = "sys.1", .ticks = 1000, .watt = 1,
					    .system = true, .argument = "1" });
	series_record(&(struct series_run){ .name = "sys.2", .ticks = 1000, .watt = 1,
					    .system = true, .argument = "2" });
	assert_int_equal(kjoule("report %s %s", a, temp_path("sys.2")), 0);
	assert_true(says(out, "was run as `./program 2`"));
	/* and a process is no machine */
	series_record(&(struct series_run){ .name = "sys.2", .ticks = 1000, .watt = 1,
					    .argument = "1" });
	assert_int_equal(kjoule("report %s %s", a, temp_path("sys.2")), 1);
	assert_true(says(err, "they measure different things"));
}

TEST(what_is_of_one_recording_stays_so)
{
	static const char *const lines[] = {
		"report -g a b", "report --vectors a b", "report --pid 1 a b",
		"report --children a b", "report --folded a b",
		"report --without-outliers a", "report --without-outliers",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(kjoule("%s", lines[i]), 2);
		assert_string_equal(out, "");
	}
}

static void series_with_codes(int first, int second)
{
	put_exit_code(first);
	series_record(&(struct series_run){ .name = "code.1", .ticks = 20000, .watt = 1 });
	put_exit_code(second);
	series_record(&(struct series_run){ .name = "code.2", .ticks = 20000, .watt = 1 });
	assert_int_equal(kjoule("report %s", series_files("code", 2)), 0);
}

/* Who failed is named, the first one as well; what always ends so is said once. */
TEST(exit_codes_are_reported)
{
	series_with_codes(3, 0);
	assert_true(says(out, "code.1 ended with exit code 3") && !says(out, "code.2 ended"));
	series_with_codes(3, 4);
	assert_true(says(out, "code.1 ended with exit code 3") &&
		    says(out, "code.2 ended with exit code 4"));
	series_with_codes(10, 10);
	assert_true(says(out, "the command of all recordings ended with exit code 10") &&
		    !says(out, "code.1 ended"));
	series_with_codes(0, 0);
	assert_false(says(out, "exit code"));
}

TEST(damaged_and_cut_files_are_reported)
{
	const char *a = temp_path("whole"), *b = temp_path("cut too");
	char part[20];
	struct json_object *doc, *run;
	uint8_t *data;
	size_t len;

	series_record(&(struct series_run){ .name = "whole", .ticks = 20000, .watt = 1 });
	series_record(&(struct series_run){ .name = "cut", .ticks = 20000, .watt = 1 });
	data = read_file(temp_path("cut"), &len);
	write_file(temp_path("cut"), data, len / 2 + 3);
	assert_int_equal(kjoule("report %s %s", a, temp_path("cut")), 1);
	assert_true(says(out, "cut is not a whole run and is left out: it was cut short"));
	assert_true(says(out, "1 run of 20 s on"));
	doc = kjoule_json(1, "report --json %s %s", a, temp_path("cut"));
	run = json_object_array_get_idx(member(doc, "runs"), 1);
	assert_true(json_object_get_boolean(member(run, "left_out")));
	assert_true(!member(run, "differs") && !member(run, "time_score") &&
		    !member(run, "energy_differs"));
	run = json_object_array_get_idx(member(doc, "runs"), 0);
	assert_true(member(run, "differs") && member(run, "energy_differs"));
	/* nor is a whole run judged by parts, however many they are */
	for (int i = 0; i < 3; i++) {
		snprintf(part, sizeof(part), "part.%d", i);
		write_file(temp_path(part), data, len / 2 + 3 + i);
	}
	assert_int_equal(kjoule("report --without-outliers %s %s.0 %s.1 %s.2", a, temp_path("part"),
				temp_path("part"), temp_path("part")), 1);
	assert_true(!says(out, "differs") && says(out, "1 run of 20 s on"));
	/* where none is whole they are all there is */
	write_file(b, data, len / 2 + 3);
	assert_int_equal(kjoule("report %s '%s'", temp_path("cut"), b), 1);
	assert_true(!says(out, "left out") &&
		    says(out, "is not a whole run: it was cut short"));
	for (size_t i = 0; i < 16; i++)
		data[len / 2 + i] ^= 0x10;
	write_file(temp_path("cut"), data, len);
	assert_int_equal(kjoule("report %s %s", a, temp_path("cut")), 1);
	assert_true(says(err, "damaged"));
	assert_true(says(out, "[kernel]"));
	free(data);
}

/* Models that need the windows of one recording are of one; pauses for them are reported. */
TEST(models_of_one_recording_stay_so)
{
	static const char *const models[] = { "mixture", "edge" };
	const char *plain = temp_path("model.1"), *paused = temp_path("model.held");
	struct json_object *doc, *model;

	series_record(&(struct series_run){ .name = "model.1", .ticks = 20000, .watt = 1 });
	series_record(&(struct series_run){ .name = "model.2", .ticks = 20000, .watt = 1 });
	series_record(&(struct series_run){ .name = "model.held", .ticks = 20000, .watt = 1,
					    .paused = true });
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(kjoule("report --model %s %s", models[i],
					series_files("model", 2)), 2);
		assert_true(says(err, "--model mixture, edge and vpm are for one recording; there are 2"));
		assert_int_equal(kjoule("report --model %s --convergence x.svg %s", models[i],
					plain), 2);
		assert_true(says(err, "--convergence goes with --model cpm only"));
	}
	assert_int_equal(kjoule("report -v --model auto %s", series_files("model", 2)), 0);
	assert_true(says(out, "name cpm, requested auto, reason \"of several recordings it is the only one\""));
	assert_null(strstr(out, "--edge"));
	doc = kjoule_json(0, "report --json --model auto %s", series_files("model", 2));
	model = member(doc, "model");
	assert_string_equal(text_of(model, "name"), "cpm");
	assert_string_equal(text_of(model, "requested"), "auto");
	assert_string_equal(text_of(find_row(doc, "total", NULL), "model"), "cpm");

	assert_int_equal(kjoule("report %s %s", plain, paused), 0);
	assert_true(says(out, "model.held was recorded with --edge, "));
	assert_true(says(out, "model.1 without: only the former's CPUs were held again and again, which took time"));
	doc = kjoule_json(0, "report --json %s %s", plain, paused);
	assert_true(says(err, "model.held was recorded with --edge"));
	/* 4 % of the one */
	assert_true(near(number(find_row(doc, "total", NULL), "time_s"), 20 * 0.98, 0.1));
	series_record(&(struct series_run){ .name = "model.3", .ticks = 20000, .watt = 1,
					    .paused = true });
	assert_int_equal(kjoule("report %s %s", paused, temp_path("model.3")), 0);
	assert_true(says(out, "model.held was recorded with --edge: its CPUs were held again and again"));
	assert_true(says(out, "figures are those of the constant power model"));
	assert_null(strstr(out, "model.3 was recorded"));
	assert_int_equal(kjoule("diff %s %s", plain, paused), 0);
	assert_true(says(out, "only B was recorded with --edge: its CPUs were held again and again"));
	assert_int_equal(kjoule("diff --model cpm %s %s", plain, paused), 2);
}

/* The same instruction, loaded at another place in each run, at every granularity. */
TEST(code_is_joined_wherever_it_was_loaded)
{
	static const char *const kinds[] = { "object", "function", "line", "loop", "block" };
	struct json_object *doc, *row;

	for (size_t i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "aslr.%zu", i + 1);
		series_record(&(struct series_run){ .name = name, .ticks = 10000, .watt = 1,
						    .exe = looped_path(),
						    .start = 0x550000000000ull + i * 0x1000000,
						    .offset = looped.loop_offset });
	}
	for (size_t g = 0; g < 5; g++) {
		size_t units = 0;

		doc = kjoule_json(0, "report --json --by %s %s", kinds[g],
				  series_files("aslr", 3));
		for (size_t i = 0; (row = item_of(doc, "rows", i)); i++) {
			if (strcmp(text_of(row, "kind"), kinds[g]) ||
			    strcmp(text_of(row, "object"), looped_path()))
				continue;
			units++;
			assert_int_equal(number(row, "runs"), 3);
			assert_true(near(number(row, "samples"), 15000, 300));
		}
		assert_int_equal(units, 1);
	}
	/* what the user has named, too */
	doc = kjoule_json(0, "report --json --block hot=looped.c:%d %s", looped.loop_line,
			  series_files("aslr", 3));
	assert_int_equal(number(find_row(doc, "named", NULL), "runs"), 3);
}

int main(void)
{
	return tests_run(looped_setup, NULL);
}
