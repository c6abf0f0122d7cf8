// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command itself: exit codes, messages, and reports of made-up recordings.
 * KJOULE in the environment names the binary.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "lib/file/recording.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

TEST(wrong_command_lines_are_2)
{
	static const char *const lines[] = {
		"",
		"nonsense",
		"--nonsense",
		"help nonsense",
		"list --nonsense",
		"list x",
		"list --end 1",
		"list --sessions --end",
		"list --sessions --end 0",
		"list --sessions --end x",
		"list --sessions --end 1 --json",
		"list -x",
		"record",
		"record --nonsense -- true",
		"record -F",
		"record -F 0 -- true",
		"record -F fast -- true",
		"record -i 500 -- true",
		"record -i 0us -- true",
		"record -F 10 -i 1ms -- true",
		"record -C x -- true",
		"record -C 1-0 -- true",
		"record -p 0",
		"record -p 1 -a",
		"record -p 1 -- true",
		"record --duration 0 -a",
		"record --duration 1parsec -a",
		"record --ring-bytes 1000 -a",
		"record --jitter 1ms -F 1000 -a",
		"report --sort colour",
		"report -g a b",
		"report --percent-limit 101",
		"report --percent-limit x",
		"report --pid x",
		"script a b",
		"script --xml",
		"record --call-graph lbr -- true",
		"record --call-graph dwarf,0 -- true",
		"record --call-graph dwarf,100 -- true",
		"record --call-graph dwarf,128K -- true",
		"record --call-graph dwarfs -- true",
		"record --max-stack 5 -- true",
		"record -g --max-stack 0 -- true",
		"record -g --max-stack 1025 -- true",
		"record -g --max-stack many -- true",
		"record --runs 3 -a",
		"record --runs 3 -p 1",
		"record --runs 0 -- true",
		"record --runs 10000 -- true",
		"record --runs -1 -- true",
		"record --runs some -- true",
		"report --folded --csv",
		"report --weight time",
		"report -g --folded",
		"report --source ''",
		"report --source ,",
		"report --source test,",
		"report --source test,,core",
		"report --source ,test",
		"record --source , -- true",
		"record --source powercap, -- true",
		"record --source ,powercap -- true",
		"record --source powercap,,vchip -- true",
		"record --source perf:cpu/event=1,umask=2/, -- true",
		"report --json --csv",
		"annotate --csv --json",
		"diff --json --csv a b",
		"script --json --csv",
		"list --json --csv",
		"sweep --json --csv --from x",
		"latency --csv --json",
		"boost trace --json --csv",
		"boost window --json --csv",
		"boost cause --json --csv",
		"boost run --json --csv true",
		"boost plan --r 2 --boost 1s --json --csv",
		"report --json=yes",
		"report --jso=1",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int code = kjoule("%s", lines[i]);

		if (code != 2)
			print_message("%s: %d\n%s", lines[i], code, err);
		assert_int_equal(code, 2);
		assert_string_equal(out, "");
		assert_true(says(err, "kjoule"));
	}
}

TEST(help_is_output_and_0)
{
	static const char *const lines[] = {
		"--help", "help", "-h", "help list", "help record", "help report", "help script",
		"list --help", "record --help", "record -h", "report --help", "script --help",
		"--version",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(kjoule("%s", lines[i]), 0);
		assert_string_equal(err, "");
		assert_true(says(out, "kjoule"));
	}
	assert_int_equal(kjoule("--version"), 0);
	assert_true(says(out, KJOULE_VERSION));
}

TEST(without_the_module_it_says_what_to_do)
{
	if (!access(KJOULE_DEVICE, F_OK)) {
		print_message("# SKIP the module is loaded\n");
		skip();
	}
	assert_int_equal(kjoule("list"), 1);
	assert_true(says(err, "kjoule: /dev/kjoule: no such device; load the module with `sudo modprobe kjoule`"));
	assert_int_equal(kjoule("record -o %s -- true", temp_path("never")), 1);
	assert_true(says(err, "sudo modprobe kjoule"));
	assert_int_equal(kjoule("record -a --duration 1 -o %s", temp_path("never")), 1);
	assert_true(says(err, "sudo modprobe kjoule"));
	/* no source is no mistake, unlike a list that lacks a name */
	assert_int_equal(kjoule("record --source '' -- true"), 1);
	/* nothing was written, nothing was run */
	assert_int_not_equal(access(temp_path("never"), F_OK), 0);
	assert_int_equal(kjoule("record -- sh -c 'echo ran'"), 1);
	assert_string_equal(out, "");
}

TEST(commands_that_can_not_run_have_the_shell_s_codes)
{
	assert_int_equal(kjoule("record -- nonexistent-command"), 127);
	assert_true(says(err, "nonexistent-command: no such command in PATH"));
	assert_int_equal(kjoule("record -- /nonexistent/command"), 127);
	assert_int_equal(kjoule("record -- /etc/passwd"), 126);
	assert_int_equal(kjoule("record -- /tmp"), 126);
	assert_int_equal(kjoule("record -p 2147483000"), 1);
	assert_true(says(err, "there is no such process"));
}

TEST(files_that_are_not_ours_are_1)
{
	assert_int_equal(kjoule("report /nonexistent/file"), 1);
	assert_true(says(err, "No such file"));
	assert_int_equal(kjoule("report /etc/passwd"), 1);
	assert_true(says(err, "not a kjoule data file"));
	assert_int_equal(kjoule("script /etc/passwd"), 1);
	write_file(temp_path("empty"), "", 0);
	assert_int_equal(kjoule("report %s", temp_path("empty")), 1);
	assert_true(says(err, "not a kjoule data file"));
	assert_string_equal(out, "");
}

/*
 * Two functions of this program, 100 ticks each by turns: 1.0 W and 2.0 W, a
 * counter that moves every 10 ticks; 1 kHz.
 */
static void record_two(const char *name, uint64_t ticks, uint32_t target)
{
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, 1000000, target);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < ticks; k++) {
		bool second = k / 100 % 2;

		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, second ? 0x10002000 : 0x10001000,
			   second ? KJOULE_SAMPLE_KERNEL : 0, second ? 2000000 : 1000000, 100);
		uj[0] += second ? 2000 : 1000;
		uj[1] += second ? 1500 : 500;
	}
	write_recording(temp_path(name), &meta, &b, 1, "/nonexistent/program", ticks);
}

TEST(a_report_tells_the_truth)
{
	struct json_object *doc, *row;

	record_two("two", 10000, KJOULE_TARGET_PROCESS);
	doc = kjoule_json(0, "report --json %s", temp_path("two"));
	assert_string_equal(text_of(doc, "frequency_kind"), "measured");
	row = find_row(doc, "function", "/nonexistent/program");
	assert_non_null(row);
	/* A tick's own time is 2 us on the mean; entry and exit are 1 us at 1 GHz and half of
	 * that at 2 GHz, 0.75 us on the mean. 2.75 us times 4/3 are taken at 1 GHz. */
	assert_true(near(number(row, "time_s"), 5 * (1 - 0.0036667), 1e-3));
	assert_true(near(number(row, "power_package_w"), 1, 1e-3));
	assert_true(near(number(row, "power_core_w"), 0.5, 1e-3));
	assert_true(near(number(row, "freq_mhz"), 1000, 1e-6));
	assert_true(number(row, "energy_lo_package_j") <= 5 * (1 - 0.0036667));
	assert_true(number(row, "energy_hi_package_j") >= 5 * (1 - 0.0036667));
	assert_true(number(row, "window_share") > 0.99);
	row = find_row(doc, "function", "[kernel]");
	assert_true(near(number(row, "power_package_w"), 2, 2e-3));
	assert_true(near(number(row, "freq_mhz"), 2000, 1e-6));
	row = find_row(doc, "ticks", NULL);
	assert_true(near(number(row, "time_s"), 10 * 0.00275, 1e-4));
	row = find_row(doc, "process", NULL);
	assert_true(near(number(row, "time_s"), 10, 1e-6));
	assert_true(near(number(row, "energy_package_j"), 15, 0.03));
	assert_string_equal(text_of(row, "comm"), "program");
	row = find_row(doc, "total", NULL);
	assert_true(near(number(row, "energy_package_j"), 15, 0.03));
	/* the object cannot be read: said once, and not a failure */
	assert_true(says(err, "/nonexistent/program: no symbols"));
}

TEST(parts_add_up_to_the_whole)
{
	struct json_object *doc, *rows;
	double time = 0, energy = 0, process_time = 0, process_energy = 0;

	record_two("sum", 3333, KJOULE_TARGET_PROCESS);
	doc = kjoule_json(0, "report --json %s", temp_path("sum"));
	rows = member(doc, "rows");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		const char *kind = text_of(row, "kind");

		if (!strcmp(kind, "process")) {
			process_time += number(row, "time_s");
			process_energy += number(row, "energy_package_j");
		} else if (strcmp(kind, "total")) {
			time += number(row, "time_s");
			energy += number(row, "energy_package_j");
		}
	}
	assert_true(near(time, process_time, 1e-6));
	assert_true(near(energy, process_energy, 1e-6));
}

TEST(every_format_and_sort_works)
{
	static const char *const sorts[] = { "energy", "time", "power", "freq", "samples", "name" };

	record_two("formats", 2000, KJOULE_TARGET_SYSTEM);
	for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
		assert_int_equal(kjoule("report --sort %s %s", sorts[i], temp_path("formats")), 0);
	assert_true(says(out, "[kernel]"));
	assert_int_equal(kjoule("report --by process -v %s", temp_path("formats")), 0);
	assert_true(says(out, "program (pid 100)"));
	assert_true(says(out, "# counters   due 2000, taken 2000"));
	assert_int_equal(kjoule("report --csv %s", temp_path("formats")), 0);
	assert_true(!strncmp(out, "kind,pid,comm,", 14));
	assert_int_equal(kjoule("report --pid 100 --percent-limit 50 %s", temp_path("formats")), 0);
	assert_true(says(out, "(1 more row below 50 %)"));
	assert_int_equal(kjoule("report --raw %s", temp_path("formats")), 0);
	assert_null(strstr(out, "[kjoule ticks]"));
	assert_int_equal(kjoule("script %s", temp_path("formats")), 0);
	assert_true(says(out, "program 100/100 u"));
	assert_true(says(out, " uJ core "));
	assert_int_equal(kjoule("script --json %s", temp_path("formats")), 0);
	assert_true(says(out, "\"type\":\"sample\""));
	assert_int_equal(kjoule("script --csv %s", temp_path("formats")), 0);
	assert_true(!strncmp(out, "time_ns,type,cpu,", 17));
}

/* The whole machine's total would be taken for theirs. */
TEST(nobody_who_was_asked_for_is_1)
{
	static const char *const how[] = { "--comm NOPE", "--pid 4711", "--comm program --pid 4711",
					   "--comm NOPE --json", "--pid 4711 --csv" };

	record_two("nobody", 400, KJOULE_TARGET_SYSTEM);
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		assert_int_equal(kjoule("report %s %s", how[i], temp_path("nobody")), 1);
		assert_string_equal(out, "");
		assert_true(says(err, "no such process in this recording; it has program (pid 100)"));
	}
	assert_int_equal(kjoule("report --comm NOPE %s", temp_path("nobody")), 1);
	assert_true(says(err, "--comm NOPE: no such process"));
	assert_int_equal(kjoule("report --comm program --pid 4711 %s", temp_path("nobody")), 1);
	assert_true(says(err, "--comm program --pid 4711: no such process"));
	assert_int_equal(kjoule("report --comm program --pid 100 %s", temp_path("nobody")), 0);
}

TEST(a_file_cut_short_is_reported_and_1)
{
	size_t len;
	uint8_t *data;

	record_two("whole", 20000, KJOULE_TARGET_PROCESS);
	data = read_file(temp_path("whole"), &len);
	write_file(temp_path("cut"), data, len / 2 + 3);
	assert_int_equal(kjoule("report %s", temp_path("cut")), 1);
	assert_true(says(err, "cut short"));
	assert_true(says(out, "[kernel]"));
	/* nothing but the header and half a meta */
	write_file(temp_path("cut"), data, 60);
	assert_int_equal(kjoule("report %s", temp_path("cut")), 1);
	assert_true(says(err, "does not say what was recorded"));
	free(data);
}

TEST(damage_inside_is_reported_and_1)
{
	size_t len;
	uint8_t *data;

	record_two("flip", 20000, KJOULE_TARGET_PROCESS);
	data = read_file(temp_path("flip"), &len);
	/* more than the padding between two chunks */
	for (size_t i = 0; i < 16; i++)
		data[len / 2 + i] ^= 0x10;
	write_file(temp_path("flip"), data, len);
	assert_int_equal(kjoule("report %s", temp_path("flip")), 1);
	assert_true(says(err, "damaged"));
	assert_true(says(err, "at byte"));
	assert_true(says(out, "[kernel]"));
	assert_int_equal(kjoule("script %s", temp_path("flip")), 1);
	assert_true(says(out, "damaged part of the file"));
	free(data);
}

/* Every byte of a small recording, through everything that report does. */
TEST(no_damage_crashes_a_report)
{
	bool quick = getenv("KJOULE_TEST_QUICK");
	size_t len, step;
	uint8_t *data;

	record_two("small", 50, KJOULE_TARGET_PROCESS);
	data = read_file(temp_path("small"), &len);
	step = quick ? len / 5 : len / 100 + 1;
	for (size_t at = 0; at < len; at += step) {
		int code;

		data[at] ^= 0x41;
		write_file(temp_path("small"), data, len);
		code = kjoule("report --json %s", temp_path("small"));
		assert_in_range(code, 0, 1);
		data[at] ^= 0x41;
		write_file(temp_path("small"), data, at);
		code = kjoule("report %s", temp_path("small"));
		assert_in_range(code, 0, 1);
	}
	free(data);
}

TEST(what_can_not_be_told_is_no_zero)
{
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	struct json_object *doc, *row;

	/* no energy reading, no frequency */
	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 100; k++)
		put_sample(&b, k, 0x10001000, 0, 0, 0);
	write_recording(temp_path("bare"), &meta, &b, 1, "/nonexistent/program", 100);
	doc = kjoule_json(0, "report --json %s", temp_path("bare"));
	row = find_row(doc, "process", NULL);
	assert_null(figure_of(row, "energy_package_j"));
	assert_null(member(row, "freq_mhz"));
	assert_int_equal(kjoule("report %s", temp_path("bare")), 0);
	assert_true(says(out, "- : the energy counter was not seen to move twice"));
	assert_true(says(out, "- : no frequency source"));
}

TEST(lost_and_missed_have_their_lines)
{
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	struct json_object *doc, *row;

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 100; k++)
		put_sample(&b, k, 0x10001000, 0, 0, 0);
	put_gap(&b, 100, 10);
	for (uint32_t k = 110; k < 200; k++)
		put_sample(&b, k, 0x10001000, 0, 0, 0);
	put_lost(&b, 200, 60, 50);
	for (uint32_t k = 250; k < 300; k++)
		put_sample(&b, k, 0x10001000, 0, 0, 0);
	write_recording(temp_path("lost"), &meta, &b, 1, "/nonexistent/program", 300);
	doc = kjoule_json(0, "report --raw --json %s", temp_path("lost"));
	/* missed ticks between two of its samples are its own */
	row = find_row(doc, "function", "/nonexistent/program");
	assert_true(near(number(row, "time_s"), 0.250, 1e-9));
	assert_true(near(number(row, "samples"), 240, 0));
	row = find_row(doc, "function", "");
	assert_true(near(number(row, "time_s"), 0.050, 1e-9));
	assert_string_equal(text_of(row, "function"), "[lost]");
	assert_int_equal(kjoule("script %s", temp_path("lost")), 0);
	assert_true(says(out, "gap     10 ticks missed"));
	assert_true(says(out, "lost    60 records, 50 of them samples"));
}

TEST(samples_at_a_switch_say_so)
{
	struct buffer b = { 0 };
	struct kjoule_meta meta;

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	put_sample(&b, 0, 0x10001000, 0, 0, 0);
	put_sample(&b, 1, 0xffffffff81000000, KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_SWITCH, 0, 0);
	put_sample(&b, 2, 0xffffffff81000000, KJOULE_SAMPLE_KERNEL, 0, 0);
	write_recording(temp_path("switched"), &meta, &b, 1, "/nonexistent/program", 10);
	assert_int_equal(kjoule("script %s", temp_path("switched")), 0);
	assert_true(says(out, " at a switch\n"));
	assert_null(strstr(strstr(out, "at a switch") + 1, "at a switch"));
	assert_int_equal(kjoule("script --json %s", temp_path("switched")), 0);
	assert_true(says(out, "\"text\":\"at a switch\""));
}

/* CPU 1 goes away: what was not seen of it takes no energy from the program on CPU 0. */
TEST(a_cpu_that_is_away_takes_nothing)
{
	struct buffer b[2] = { 0 };
	struct kjoule_meta meta;
	struct json_object *doc, *row;

	make_meta(&meta, 2, 1000000, KJOULE_TARGET_SYSTEM);
	put_task(&b[0], 100, 100);
	for (uint32_t k = 0; k < 300; k++) {
		if (!(k % 10))
			put_energy(&b[0], k, 1, &(uint64_t){ k * 10000ull });
		put_sample(&b[0], k, 0x10001000, 0, 0, 0);
	}
	for (uint32_t k = 0; k < 50; k++)
		put_sample(&b[1], k, 0, KJOULE_SAMPLE_IDLE, 0, 0);
	put_gap(&b[1], 50, 250);
	write_recording(temp_path("away"), &meta, b, 2, "/nonexistent/program", 300);
	doc = kjoule_json(0, "report --raw --json %s", temp_path("away"));
	row = find_row(doc, "function", "/nonexistent/program");
	assert_true(near(number(row, "energy_package_j"), 3, 0.05));
	row = find_named(doc, "[missed]");
	assert_non_null(row);
	assert_true(near(number(row, "time_s"), 0.250, 1e-9));
}

TEST(absurd_gaps_and_losses_end)
{
	struct buffer b = { 0 };
	struct kjoule_meta meta;

	for (int i = 0; i < 2; i++) {
		make_meta(&meta, 1, 1000000, i ? KJOULE_TARGET_PROCESS : KJOULE_TARGET_SYSTEM);
		b.len = 0;
		put_task(&b, 100, 100);
		put_sample(&b, 0, 0x10001000, 0, 1000, 0);
		put_gap(&b, 1, 1ull << 60);
		put_sample(&b, 1, 0x10001000, 0, 1000, 0);
		put_lost(&b, 5, UINT64_MAX, UINT64_MAX);
		put_sample(&b, 4, 0x10001000, 0, 1000, 0);
		write_recording(temp_path("absurd"), &meta, &b, 1, "/x", (1ull << 62) / 1000000);
		assert_in_range(kjoule("report %s", temp_path("absurd")), 0, 1);
		assert_in_range(kjoule("script %s", temp_path("absurd")), 0, 1);
	}
}
