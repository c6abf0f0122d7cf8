// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `kjoule sweep --from` makes of recordings whose truth is known: the best setting of each
 * block, for people and programs, the map, and command lines.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <json-c/json.h>
#include "lib/file/datafile.h"
#include "output/plot.h"
#include "sweep/sweep.h"
#include "tests/support/drawn.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define MS	1000000ull

/*
 * Recordings whose truth is known: user code and the kernel by turns, so many ticks and watts of
 * each
 */

/* So many ticks in a row of code that draws so much. */
struct part {
	enum { USER, KERNEL, NOWHERE } code;
	unsigned int ticks;
	double w;
};

/* Parts one after another, four times. */
static void write_parts(const char *folder, const char *name, const struct part *parts, size_t n,
			uint32_t khz, const char *build_id)
{
	static const uint64_t where[] =
		{ [USER] = 0x10001000, [KERNEL] = 0xffffffff81000000, [NOWHERE] = 0x70000000 };
	static uint64_t random = 1;
	struct kjoule_meta meta;
	struct buffer b = { 0 };
	char file[80];
	uint32_t k = 0;
	double uj = 0;

	make_meta(&meta, 1, MS, KJOULE_TARGET_PROCESS);
	meta.session.seed = meta.session.t0_ns = rnd(&random) >> 20;
	put_task(&b, 100, 100);
	for (size_t i = 0; i < 4 * n; i++) {
		const struct part *p = &parts[i % n];

		for (unsigned int end = k + p->ticks; k < end; k++) {
			if (k % 10 == 0)
				put_energy(&b, k, 3, (uint64_t[]){ uj, uj / 2 });
			put_sample(&b, k, where[p->code],
				   p->code == KERNEL ? KJOULE_SAMPLE_KERNEL : 0, khz, 100);
			uj += 1000 * p->w * (0.98 + 0.04 * rnd_unit(&random));
		}
	}
	put_energy(&b, k, 3, (uint64_t[]){ uj, uj / 2 });
	snprintf(file, sizeof(file), "%s/%s", folder, name);
	put_program(0x10000000, build_id);
	write_recording(temp_path(file), &meta, &b, 1, "/nonexistent/program", k);
}

static void write_run(const char *folder, const char *name, unsigned int user, double user_w,
		      unsigned int kernel, double kernel_w, uint32_t khz, const char *build_id)
{
	const struct part parts[] = { { USER, user, user_w }, { KERNEL, kernel, kernel_w } };

	write_parts(folder, name, parts, 2, khz, build_id);
}

/* At 100 MHz, at 50 and at 25, where it fails; a fourth one never came. */
static void write_sweep(const char *folder, const char *build_id, uint64_t latency_ns)
{
	char text[2000], path[80];

	mkdir(temp_path(folder), 0755);
	for (int i = 1; i <= 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f100000.%d.data", i);
		write_run(folder, name, 100, 3, 100, 3, 100000, "aa");
		snprintf(name, sizeof(name), "f50000.%d.data", i);
		write_run(folder, name, 200, 2, 100, 1.5, i == 3 ? 60000 : 50000, build_id);
	}
	snprintf(text, sizeof(text),
		 "{ \"kjoule_sweep\": 1, \"command\": [ \"./program\", \"a b\" ], \"host\": \"there\", \"kernel\": \"Linux\","
		 "\"driver\": \"made-up\", \"runs\": 3, \"finished\": true, \"latency_ns\": %llu, \"settings\": ["
		 "{ \"freq_khz\": 25000, \"runs\": [ { \"file\": \"f25000.1.data\", \"status\": \"failed\", \"exit_code\": 9 } ] },"
		 "{ \"freq_khz\": 50000, \"runs\": [ { \"file\": \"f50000.1.data\", \"status\": \"good\" },"
		 "{ \"file\": \"f50000.2.data\", \"status\": \"good\" }, { \"file\": \"f50000.3.data\", \"status\": \"good\" } ] },"
		 "{ \"freq_khz\": 75000, \"refused\": \"it was too hot\", \"runs\": [] },"
		 "{ \"freq_khz\": 100000, \"runs\": [ { \"file\": \"f100000.1.data\", \"status\": \"good\" },"
		 "{ \"file\": \"f100000.2.data\", \"status\": \"good\" }, { \"file\": \"f100000.3.data\", \"status\": \"good\" } ] } ] }",
		 (unsigned long long)latency_ns);
	snprintf(path, sizeof(path), "%s/sweep.json", folder);
	write_file(temp_path(path), text, strlen(text));
}

static struct json_object *row_of(struct json_object *doc, const char *kind, const char *object,
				  unsigned int khz)
{
	struct json_object *row;

	for (size_t i = 0; (row = item_of(doc, "rows", i)); i++)
		if (!strcmp(text_of(row, "kind"), kind) && number(row, "freq_khz") == khz &&
		    !strcmp(text_of(row, "object"), object))
			return row;
	print_message("no row of %s at %u\n", object, khz);
	return NULL;
}

static bool is(struct json_object *o, const char *key, const char *text)
{
	const char *there = text_of(o, key);

	if (member(o, key) && !strcmp(there, text))
		return true;
	print_message("%s is %s instead of %s\n", key, member(o, key) ? there : "nothing", text);
	return false;
}

TEST(each_block_has_its_best_setting)
{
	static const char user[] = "/nonexistent/program", kernel[] = "[kernel]";
	struct json_object *doc, *row, *saving;
	char options[400];

	write_sweep("known", "aa", 240000);
	snprintf(options, sizeof(options), "--from %s", temp_path("known"));
	/* settings are missing: that is no success */
	doc = kjoule_json(1, "sweep --raw --json %s", options);
	/* 4 x 100 ticks at 3 W; 4 x 200 at 2 W */
	row = row_of(doc, "function", user, 100000);
	assert_true(near(number(row, "energy_package_j"), 1.2, 0.02) &&
		    near(number(row, "delay_s"), 0.4, 0.005));
	assert_true(near(number(row, "energy_delay_package_js"), 0.48, 0.01));
	assert_true(is(row, "least_energy", "least") && is(row, "least_energy_delay", "least"));
	assert_true(json_object_get_boolean(member(row, "own_frequency")));
	row = row_of(doc, "function", user, 50000);
	assert_true(near(number(row, "energy_package_j"), 1.6, 0.03) &&
		    is(row, "least_energy", ""));
	assert_true(near(number(row, "energy_over_least"), 1.333, 0.03));
	row = row_of(doc, "function", kernel, 50000);
	assert_true(near(number(row, "energy_package_j"), 0.6, 0.01) &&
		    is(row, "least_energy", "least"));
	assert_true(json_object_get_boolean(member(row, "own_frequency")));
	/* what failed has no figures */
	assert_true(isnan(number(row_of(doc, "function", kernel, 25000), "energy_package_j")));
	assert_int_equal(number(row_of(doc, "total", "", 25000), "runs"), 0);
	row = row_of(doc, "total", "", 50000);
	assert_true(near(number(row, "energy_package_j"), 2.2, 0.03) &&
		    is(row, "least_energy", "least"));
	assert_true(is(row_of(doc, "total", "", 100000), "least_energy_delay", "least"));
	assert_int_equal(number(member(doc, "best_single"), "freq_khz"), 50000);
	saving = member(doc, "saving");
	assert_true(near(number(saving, "energy_j"), 0.4, 0.03) &&
		    near(number(saving, "known_j"), 0.4, 0.03));
	assert_true(number(saving, "energy_lo_j") < number(saving, "energy_j") &&
		    near(number(saving, "longer_s"), -0.4, 0.01));
	assert_int_equal(number(saving, "blocks"), 1);
	/* by turns, four times: seven changes of 240 us */
	assert_true(near(number(saving, "changes_at_least"), 7, 1e-9) &&
		    near(number(saving, "changes_s"), 7 * 240e-6, 1e-9));
	assert_true(says(err, "25 MHz takes no part: the command ended with exit code 9"));
	assert_true(says(err, "75 MHz was not measured: it was too hot"));
	assert_true(says(err, "50 MHz: the CPUs were clocked at 53.3333 MHz on the mean"));
}

TEST(people_are_told_the_same)
{
	write_sweep("people", "aa", 0);
	assert_int_equal(kjoule("sweep --raw --from %s", temp_path("people")), 1);
	assert_true(says(out, "# command    ./program 'a b'\n"));
	assert_true(says(out, "# frequency  held through cpufreq (made-up)"));
	assert_true(says(out, "# note       25 MHz takes no part"));
	assert_true(says(out, "best single : 50 MHz: 2."));
	assert_true(says(out, "every other one takes more"));
	assert_true(says(out, "own frequency for each block: 0."));
	assert_true(says(out, "that is an upper bound"));
	assert_true(says(out, "changes of frequency: 7 or more in a run; what one takes is not known: the driver does not say"));
	assert_null(strstr(out, "nan"));
	assert_int_equal(kjoule("sweep --raw --csv --from %s", temp_path("people")), 1);
	assert_null(strstr(out, "nan"));
	assert_int_equal(strncmp(out, "kind,block,comm,function,object,freq_khz,threads,runs,samples,time_s", 68), 0);
}

/*
 * User code and the kernel by turns of two ticks, under a counter that moves every ten; then other
 * code.
 */
static void write_fine_run(const char *folder, const char *name, unsigned int fine, double user_w,
			   double kernel_w, unsigned int other, double other_w, uint32_t khz)
{
	struct part parts[201];
	size_t n = 0;

	for (; n < fine / 2; n++)
		parts[n] = n % 2 ? (struct part){ KERNEL, 2, kernel_w } :
			   (struct part){ USER, 2, user_w };
	parts[n++] = (struct part){ NOWHERE, other, other_w };
	write_parts(folder, name, parts, n, khz, "aa");
}

/* Of each setting one run. */
static void write_fine_sweep(const char *folder)
{
	static const char text[] = "{ \"kjoule_sweep\": 1, \"command\": [ \"./program\" ], "
				   "\"host\": \"there\", \"kernel\": \"Linux\","
				   "\"runs\": 1, \"finished\": true, \"settings\": ["
				   "{ \"freq_khz\": 50000, \"runs\": [ { \"file\": "
				   "\"f50000.1.data\", \"status\": \"good\" } ] },"
				   "{ \"freq_khz\": 100000, \"runs\": [ { \"file\": "
				   "\"f100000.1.data\", \"status\": \"good\" } ] } ] }";
	char path[80];

	mkdir(temp_path(folder), 0755);
	snprintf(path, sizeof(path), "%s/sweep.json", folder);
	write_file(temp_path(path), text, strlen(text));
	write_fine_run(folder, "f50000.1.data", 200, 2, 1.5, 200, 1, 50000);
	write_fine_run(folder, "f100000.1.data", 100, 3, 1, 100, 3, 100000);
}

static struct json_object *block_of(struct json_object *doc, const char *object)
{
	struct json_object *block;

	for (size_t i = 0; (block = item_of(doc, "blocks", i)); i++)
		if (!strcmp(text_of(block, "object"), object))
			return block;
	print_message("no block of %s\n", object);
	return NULL;
}

/*
 * What is mixed with its neighbours has no setting of its own, and saves nothing; what is not has,
 * and does.
 */
TEST(what_is_mixed_has_no_least)
{
	static const char user[] = "/nonexistent/program", kernel[] = "[kernel]";
	static const char other[] = "[unknown]";
	const char *const mixed[] = { user, kernel };
	struct json_object *doc, *row, *saving;
	char options[400];

	write_fine_sweep("fine");
	snprintf(options, sizeof(options), "--from %s", temp_path("fine"));
	doc = kjoule_json(0, "sweep --raw --json %s", options);
	for (size_t i = 0; i < 2; i++) {
		row = row_of(doc, "function", mixed[i], 100000);
		assert_true(number(row, "window_share") < 0.7 &&
			    !isnan(number(row, "energy_package_j")));
		for (unsigned int khz = 50000; khz <= 100000; khz += 50000) {
			row = row_of(doc, "function", mixed[i], khz);
			assert_true(is(row, "least_energy", "") &&
				    is(row, "least_energy_delay", ""));
			assert_false(json_object_get_boolean(member(row, "own_frequency")));
			assert_true(isnan(number(row, "energy_over_least")));
		}
		assert_true(json_object_get_boolean(member(block_of(doc, mixed[i]), "mixed")));
		assert_null(member(block_of(doc, mixed[i]), "least_energy"));
		assert_null(member(block_of(doc, mixed[i]), "least_energy_delay"));
	}
	/* 4 x 100 ticks at 3 W, 4 x 200 at 1 W */
	row = row_of(doc, "function", other, 50000);
	assert_true(number(row, "window_share") > 0.95 && is(row, "least_energy", "least"));
	assert_true(json_object_get_boolean(member(row, "own_frequency")));
	assert_int_equal(number(member(doc, "best_single"), "freq_khz"), 100000);
	assert_true(is(row_of(doc, "total", "", 100000), "least_energy", "least"));
	saving = member(doc, "saving");
	assert_true(number(saving, "blocks") == 1 && number(saving, "blocks_mixed") == 2);
	assert_true(near(number(saving, "energy_j"), 0.4, 0.03) &&
		    near(number(saving, "of_energy_j"), 1.2, 0.03));
	assert_true(says(err, "of the blocks of 1 % of the whole and more 2, with "));
	assert_true(says(err, " % of the energy at the best single setting, run too shortly between two updates"));
	assert_int_equal(kjoule("sweep --raw %s", options), 0);
	assert_true(says(out, "# note       of the blocks of 1 %") &&
		    says(out, "\n~ : runs too shortly between two updates of the energy counter"));
	assert_true(says(out, "program    ~  -") && says(out, "[kernel]   ~  -") &&
		    says(out, "own frequency for each block: 0.4"));
}

/*
 * What makes a setting's figures doubtful is shown next to them, as a report of its recordings
 * does.
 */
TEST(doubtful_settings_are_told)
{
	struct kjoule_meta meta;
	struct buffer b = { 0 };
	uint64_t uj = 0;

	write_sweep("doubt", "aa", 0);
	make_meta(&meta, 1, MS, KJOULE_TARGET_PROCESS);
	meta.session.seed = 77;
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 1200; k++) {
		if (k == 500) {
			put_lost(&b, k, 100, 100);
			k += 99;
			continue;
		}
		/* its counter is read until the middle only */
		if (k % 10 == 0 && k < 700)
			put_energy(&b, k, 3, (uint64_t[]){ uj, uj / 2 });
		put_sample(&b, k, 0x10001000, 0, 50000, 100);
		uj += 2000;
	}
	put_program(0x10000000, "aa");
	write_recording(temp_path("doubt/f50000.2.data"), &meta, &b, 1, "/nonexistent/program",
			1200);
	assert_int_equal(kjoule("sweep --from %s", temp_path("doubt")), 1);
	assert_true(says(out, "# note       50 MHz: 100 of 3600 samples were lost"));
	assert_true(says(out, "# note       50 MHz: of 1") &&
		    says(out, " of the time there was no reading of package"));
	/* of its recordings there is only little that no reading tells */
	assert_false(says(out, "100 MHz: 100 of") || says(out, "100 MHz: the counter") ||
		     says(out, "100 MHz: of 15"));
}

TEST(other_builds_are_no_sweep)
{
	write_sweep("builds", "bb", 0);
	assert_int_equal(kjoule("sweep --from %s", temp_path("builds")), 1);
	assert_true(says(err, "are recordings of different programs or builds: sweep one program at a time"));
	assert_int_equal(out[0], 0);
	assert_int_equal(kjoule("sweep --comm absent --from %s", temp_path("known")), 1);
	assert_true(says(err, "--comm absent: no such process at any setting"));
	/* a recording that is gone is left out, and said */
	unlink(temp_path("known/f50000.2.data"));
	assert_int_equal(kjoule("sweep --raw --from %s", temp_path("known")), 1);
	assert_true(says(err, "f50000.2.data") && says(err, "this run is left out"));
	assert_true(says(out, "# note       50 MHz has 2 of 3 runs"));
}

TEST(a_map_is_drawn)
{
	char why_not[100];
	const char *picture = temp_path("map.svg");

	if (plot_draw("\n", 1, -1, -1, why_not, sizeof(why_not)) == -ENOENT) {
		print_message("# SKIP there is no gnuplot\n");
		return;
	}
	write_sweep("drawn", "aa", 0);
	assert_int_equal(kjoule("sweep --raw --map %s --from %s", picture, temp_path("drawn")), 1);
	assert_true(strlen(kept_text(picture)) > 1000);
	assert_int_equal(strncmp(kept_text(picture), "<?xml", 5), 0);
	assert_int_equal(strncmp(kept_text(temp_path("map.csv")), "kind,block,", 11), 0);
}

/* The script of the map that is drawn of a folder. */
static char *map_of(const char *folder, int code)
{
	const char *picture = temp_path("scripted.svg");

	drawn_begin();
	assert_int_equal(
		kjoule("sweep --raw --force --map %s --from %s", picture, temp_path(folder)), code);
	return drawn_end();
}

TEST(a_map_has_a_figure_or_a_reason_in_each_cell)
{
	char *script;

	write_sweep("cells", "aa", 0);
	script = map_of("cells", 1);
	/* the program, user code and the kernel, at 25, 50, 75 and 100 MHz */
	assert_true(drawn_figures(script) == 6 && drawn_letters(script, 'a') == 3 &&
		    drawn_letters(script, 'b') == 3);
	assert_true(says(script, "'a: not measured, the command failed'") &&
		    says(script, "'b: not measured, the frequency could not be set'"));
	assert_true(
		says(script,
		     "set xlabel 'frequency, MHz'\nset xtics ('25' 0, '50' 1, '75' 2, '100' 3)"));
	assert_true(says(script, "set title 'Energy over the least of the same block'") &&
		    says(script, "'./program ''a b'' on there'"));
	assert_true(says(script, "set cblabel 'times the least'") &&
		    says(script, "'whole program' 0"));
	/* the least of each has a frame */
	assert_int_equal(drawn_count(script, "rect from"), 3);
	assert_true(says(script, "set object 1 rect from 1-0.5,0-0.5") &&
		    says(script, "set object 2 rect from 3-0.5,1-0.5"));
	assert_int_equal(drawn_count(script, "~"), 0);
}

/* Of what is mixed no setting is the least, but it has figures all the same. */
TEST(what_is_mixed_is_coloured)
{
	char *script;

	write_fine_sweep("shades");
	script = map_of("shades", 0);
	assert_true(drawn_figures(script) == 8 && drawn_letters(script, 0) == 0);
	assert_int_equal(drawn_count(script, " ~' "), 2);
	assert_int_equal(drawn_count(script, "rect from"), 2);
	assert_true(says(script, "~: mixed with its neighbours, the least is not known"));
}

TEST(threads_make_a_panel_for_each_block)
{
	static const char text[] = "{ \"kjoule_sweep\": 1, \"command\": [ \"./program\" ], "
				   "\"host\": \"there\", \"kernel\": \"Linux\","
				   "\"runs\": 1, \"finished\": true, \"settings\": ["
				   "{ \"freq_khz\": 50000, \"threads\": 1, \"runs\": [ { \"file\": "
				   "\"f50000.1.data\", \"status\": \"good\" } ] },"
				   "{ \"freq_khz\": 50000, \"threads\": 2, \"runs\": [ { \"file\": "
				   "\"f50000.2.data\", \"status\": \"good\" } ] } ] }";
	char *script;

	write_sweep("panels", "aa", 0);
	write_file(temp_path("panels/sweep.json"), text, strlen(text));
	script = map_of("panels", 0);
	assert_int_equal(drawn_figures(script), 6);
	assert_true(drawn_count(script, "\nplot ") == 3 &&
		    says(script, "set multiplot layout 1,3 margins screen"));
	assert_true(says(script, " title 'Energy'.") && says(script, "set title 'whole program'") &&
		    says(script, "set cblabel 'energy, J'"));
	assert_true(says(script, "set xlabel 'threads'\nset xtics ('1' 0, '2' 1)") &&
		    says(script, "set ylabel 'frequency, MHz'\nset ytics ('50' 0)"));
}

TEST(command_lines_are_checked)
{
	static const struct {
		const char *options, *words;
	} cases[] = {
		{ "", "sweep what?" }, { "--from x -- true", "--from looks at what was recorded" },
		{ "--from x --threads 1", "'--from' and '--threads' cannot be" },
		{ "--from x -F 100", "'--from' and '--rate'" },
		{ "--restore -- true", "--restore only gives back" },
		{ "--threads 0 -- true", "--threads '0': out of range" },
		{ "--threads x -- true", "not understood" },
		{ "--runs 1000 -- true", "out of range" },
		{ "--map x.gif -- true", ".svg or .png" },
		{ "--by process -- true", "loop, block or region" },
		{ "-F 100 --overhead 1 -- true", "'--overhead' and '--rate' cannot be used" },
		{ "--jitter 2ms -- true", "--jitter must be less" },
		{ "--by x -- true", "--by 'x'" },
		{ "--freq keep --threads 1,2 -- './bench-{threads}'",
		  "settings of different ones are not compared" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(kjoule("sweep %s", cases[i].options), 2);
		assert_true(says(err, cases[i].words) && says(err, "kjoule sweep: "));
		assert_int_equal(out[0], 0);
	}
	assert_int_equal(kjoule("sweep --freq keep -- /nonexistent/program"), 127);
	assert_int_equal(kjoule("sweep --help"), 0);
}
