// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a recording does not have is said plainly, by every view of it and never as a number that
 * looks measured: a block that was never sampled or hardly ever, no source of energy or one that
 * did not move, samples lost in the middle, recordings of different programs, a program that is
 * gone or another one by now.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <json-c/json.h>
#include "tests/support/looped.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define TICKS	4000

static const char *asked = "";	/* the view at hand */

/* With what was said instead. */
#define told(what)	do { \
	if (!(what)) \
		fail_msg("%s: %s\nwarned: %.600s", asked, #what, err); \
} while (0)

/* What is wrong with a recording. */
struct recipe {
	const char *exe;		/* NULL: one that is not there */
	const char *build_id;
	bool no_source, still, lost;
	/* from this tick on the counter is not read any more, or does not move; 0: never */
	uint32_t stops, stands;
	bool noise;			/* windows differ a little */
	unsigned int few;		/* samples of a third block */
	uint64_t at;			/* where the code is; 0: usual */
	const char *then;		/* @exe only begins this program, by an exec */
	const char *later; /* lies at the same addresses from the middle of the recording on */
};

static const char *record(const char *name, const struct recipe *r)
{
	uint64_t base = r->at ? r->at : 0x10001000, uj[2] = { 0, 0 }, seed = 7, noise;
	struct buffer b = { 0 };
	struct kjoule_meta meta;

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	if (r->no_source) {
		meta.session.sources[0] = meta.session.sources[1];
		meta.session.n_sources = 1;
	}
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < TICKS; k++) {
		bool rare = r->few && k % 500 == 250 && k / 500 < r->few, hot = k / 50 % 2;

		if (k % 10 == 0 && !r->no_source && !(r->stops && k > r->stops))
			put_energy(&b, k, 3, uj);
		if (r->lost && k == TICKS / 2) {
			put_lost(&b, k, 300, 300);
			k += 299;
			uj[0] += 300 * 2000;
			uj[1] += 300 * 1000;
			continue;
		}
		put_sample(&b, k,
			   rare ? base + 0x3000 :
			   hot	? base + 0x1000 :
				  base,
			   KJOULE_SAMPLE_PRECISE, 1000000, 100);
		noise = r->noise ? rnd(&seed) % 200 : 0;
		if (r->stands && k >= r->stands)
			continue;
		uj[0] += r->still ? 0 : (hot ? 3000 : 1000) + noise;
		uj[1] += r->still ? 0 : (hot ? 2000 : 500) + noise;
	}
	if (r->build_id)
		put_program(0, r->build_id);
	if (r->later) {
		struct buffer more = { 0 };

		put_map(&more, 100, meta.session.t0_ns + TICKS / 2 * 1000000ull, 0x10000000,
			0x10000000, 0, r->later);
		put_regions(&(struct buffer){ 0 }, &more);
	}
	if (r->then) {
		struct buffer more = { 0 };

		put_exec_event(&more, 900000002, 100, 100);
		put_map(&more, 100, 900000003, 0x10000000, 0x10000000, 0, r->then);
		put_regions(&(struct buffer){ 0 }, &more);
	}
	write_recording(temp_path(name), &meta, &b, 1, r->exe ? r->exe : "/nonexistent/program", TICKS);
	return temp_path(name);
}

/* Every way of looking at one recording that gives figures. */
static const char *const views[] = {
	"report",
	"report --raw",
	"report --by block",
	"report --by line",
	"report --by process",
	"report --vectors",
	"report --interval worst-case",
	"report --model mixture",
	"report --model edge",
	"report --model auto",
	"annotate",
	"annotate --by line",
};

#define VIEWS	(sizeof(views) / sizeof(views[0]))

static bool is_number(struct json_object *row, const char *key)
{
	return !isnan(number(row, key));
}

static struct json_object *look(const char *view, const char *path)
{
	struct json_object *doc;

	asked = view;
	kjoule("%s --json %s", view, path);
	doc = out[0] ? json_tokener_parse(out) : NULL;
	/* either figures, or why there are none */
	if (!doc)
		told(err[0]);
	return doc;
}

/* No row of any view has an energy or a power. */
static void no_energy_anywhere(const char *name, const char *words)
{
	char path[300];

	snprintf(path, sizeof(path), "%s", name);
	for (size_t v = 0; v < VIEWS; v++) {
		struct json_object *doc = look(views[v], path), *rows;

		if (!doc)
			continue;	/* a model that needs it has said so */
		rows = member(doc, "rows");
		for (size_t i = 0; i < json_object_array_length(rows); i++) {
			struct json_object *row = json_object_array_get_idx(rows, i);

			told(!is_number(row, "energy_package_j"));
			told(!is_number(row, "power_package_w"));
			told(!is_number(row, "energy_core_j"));
			told(!is_number(row, "window_share"));
		}
		json_object_put(doc);
		asked = views[v];
		kjoule("%s %s", views[v], path);
		told(says(out, words) || says(err, words) || (!out[0] && err[0]));
		/* nor is it mixed with anything */
		told(!strchr(out, '~') && !strstr(out, "mixed with"));
	}
}

TEST(without_a_source_there_is_no_energy)
{
	no_energy_anywhere(record("none", &(struct recipe){ .no_source = true }), "energy");
	kjoule("report %s", temp_path("none"));
	told(says(out, "# energy: no source was used"));
	assert_int_equal(kjoule("report --model mixture %s", temp_path("none")), 1);
	told(says(err, "there is no energy in the recording"));
	assert_int_equal(kjoule("report --model edge %s", temp_path("none")), 1);
}

TEST(a_source_that_stood_still_is_no_zero)
{
	no_energy_anywhere(record("still", &(struct recipe){ .still = true }),
			   "the energy is not known");
	kjoule("report %s", temp_path("still"));
	told(says(out, "# unmeasured package, core: not seen to change twice"));
	assert_int_equal(kjoule("report --model mixture %s", temp_path("still")), 1);
}

/* The rows of a view that are of a kind, with the member @key. */
static double figure(const char *view, const char *kind, const char *key, const char *path)
{
	struct json_object *doc = look(view, path);
	double v = number(find_row(doc, kind, NULL), key);

	json_object_put(doc);
	return v;
}

static double untold_part(const char *key, const char *path)
{
	struct json_object *doc = look("report", path);
	double v =
		number(json_object_array_get_idx(member(member(doc, "energy"), "domains"), 0), key);

	json_object_put(doc);
	return v;
}

/*
 * Energy that no reading tells is made up: a little of it with wider intervals, most of it not at
 * all.
 */
TEST(what_a_counter_that_stopped_did_not_tell)
{
	double whole[2], part[2], j;
	char path[300], again[300];

	snprintf(path, sizeof(path), "%s", record("stops", &(struct recipe){ .noise = true }));
	snprintf(again, sizeof(again), "%s", temp_path("again"));
	whole[0] = figure("report", "total", "energy_package_j", path);
	whole[1] = figure("report", "total", "energy_hi_package_j", path) - whole[0];
	assert_true(untold_part("unmeasured_part", path) < 0.01);
	kjoule("report %s", path);
	told(!says(out, "# unmeasured") && !says(out, "# stuck"));

	record("stops", &(struct recipe){ .noise = true, .stops = TICKS * 7 / 10 });
	record("again", &(struct recipe){ .noise = true, .stops = TICKS * 7 / 10 });
	assert_true(near(untold_part("unmeasured_part", path), 0.305, 0.02));
	kjoule("report %s", path);
	told(says(out, "# unmeasured package, core: of 30.2 % of the time there was no reading"));
	part[0] = figure("report", "total", "energy_package_j", path);
	part[1] = figure("report", "total", "energy_hi_package_j", path) - part[0];
	assert_true(near(part[0], whole[0], 0.05));
	/* of 0.7 of the windows, and all of them off as much: 1.2 times as wide */
	told(part[1] > 1.1 * whole[1]);
	kjoule("report %s %s", path, again);
	told(says(out, "# unmeasured package, core: of 30.2 % of the time there was no reading"));

	record("stops", &(struct recipe){ .noise = true, .stops = TICKS / 10 });
	record("again", &(struct recipe){ .noise = true, .stops = TICKS / 10 });
	assert_true(near(untold_part("unmeasured_part", path), 0.905, 0.02));
	for (size_t v = 0; v < VIEWS; v++) {
		if (strstr(views[v], "--model") || strstr(views[v], "vectors") ||
		    strstr(views[v], "annotate"))
			continue;
		j = figure(views[v], "total", "energy_package_j", path);
		told(isnan(j));
		kjoule("%s %s", views[v], path);
		told(says(out, "# unmeasured package, core: of 90.") &&
		     says(out, "no energy was measured in most of its time"));
	}
	kjoule("report %s %s", path, again);
	told(says(out, "its energy is not known") &&
	     says(out, "# unmeasured package, core: of 90."));
	told(says(out, "no energy was measured in most of its time"));
}

/* A counter that is read and does not move has spent nothing, or is broken: it is reported. */
TEST(a_counter_that_stands_still_at_the_end_is_told)
{
	char path[300], again[300];

	snprintf(path, sizeof(path),
		 "%s", record("stands", &(struct recipe){ .noise = true, .stands = TICKS / 10 }));
	snprintf(again, sizeof(again),
		 "%s", record("again", &(struct recipe){ .noise = true, .stands = TICKS / 10 }));
	assert_true(near(untold_part("stuck_s", path), 3.6, 0.02));
	kjoule("report %s", path);
	told(says(out, "# stuck      package, core: the counter did not change in the last 3.590 s, though it was read"));
	kjoule("report %s %s", path, again);
	told(says(out, "# stuck      package, core: the counter did not change in the last 3.590 s, though it was read"));
	/* as long as it usually did is not reported */
	record("stands", &(struct recipe){ .noise = true, .stands = TICKS * 97 / 100 });
	assert_true(untold_part("stuck_s", path) == 0);
}

/* A value has an interval of some width, or none. */
static void no_false_sureness(const char *view, struct json_object *row)
{
	static const char *const keys[][3] = {
		{ "energy_package_j", "energy_lo_package_j", "energy_hi_package_j" },
		{ "power_package_w", "power_lo_package_w", "power_hi_package_w" },
	};

	for (size_t i = 0; i < 2; i++) {
		if (!is_number(row, keys[i][0]) || !is_number(row, keys[i][1]))
			continue;
		if (!(number(row, keys[i][1]) < number(row, keys[i][0]) &&
		      number(row, keys[i][0]) < number(row, keys[i][2])))
			fail_msg("%s: %s is taken for sure: %s", view, keys[i][0],
				 json_object_to_json_string(row));
	}
}

TEST(a_block_of_few_samples_is_not_sure)
{
	/* under valgrind the fewest and the most */
	unsigned int step = getenv("KJOULE_TEST_QUICK") ? 4 : 1;
	char block[400];

	looped_setup(NULL);
	/* addresses count as the file has them: it has to be there */
	snprintf(block, sizeof(block), " --block few=%s:0x%lx-0x%lx", looped_path(),
		 looped.loop + 0x3000, looped.loop + 0x3010);
	for (unsigned int few = 1; few <= 5; few += step) {
		record("few", &(struct recipe){ .few = few,
						.noise = true,
						.exe = looped_path(),
						.at = 0x10000000 + looped.loop_offset });
		for (size_t v = 0; v < VIEWS; v++) {
			bool named = !strncmp(views[v], "report", 6) &&
				     !strstr(views[v], "vectors") && !strstr(views[v], "process");
			struct json_object *doc, *rows;
			unsigned int seen = 0;
			char view[500];

			snprintf(view, sizeof(view), "%s%s", views[v], named ? block : "");
			doc = look(view, temp_path("few"));
			if (!doc)
				continue;
			rows = member(doc, "rows");
			for (size_t i = 0; i < json_object_array_length(rows); i++) {
				struct json_object *row = json_object_array_get_idx(rows, i);

				if (is_number(row, "samples") && number(row, "samples") > 0 &&
				    number(row, "samples") <= 5) {
					no_false_sureness(view, row);
					seen++;
				}
				/* one window tells nothing of how much windows differ */
				if (few == 1 && is_number(row, "samples") &&
				    number(row, "samples") == 1)
					told(!is_number(row, "power_lo_package_w"));
			}
			/* the mixture, which fits here, has it among others */
			if (named && !strstr(view, "mixture") && !strstr(view, "auto"))
				told(seen == 1);
			json_object_put(doc);
		}
	}
}

TEST(a_block_that_never_ran_has_no_row)
{
	static const char *const ways[] = { "",	     "--model mixture", "--model auto",
					    "--raw", "--by line",	"--interval worst-case" };
	char a[300], b[300];

	snprintf(a, sizeof(a), "%s", record("a", &(struct recipe){ 0 }));
	snprintf(b, sizeof(b), "%s", record("b", &(struct recipe){ 0 }));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (int files = 1; files <= 2; files++) {
			if (files == 2 && strstr(ways[i], "--model"))
				continue;
			assert_int_equal(
				kjoule("report --json %s --block cold=program:0x9000-0x9100 %s %s",
				       ways[i], a, files == 2 ? b : ""),
				1);
			told(says(err, "--block cold: no sample of what was asked for fell into it"));
			told(!says(out, "\"function\": \"cold\""));
		}
	}
	assert_int_equal(kjoule("annotate -f cold %s", a), 1);
	told(says(err, "no sample in function 'cold'"));
	asked = "diff";
	assert_int_equal(kjoule("diff --block cold=program:0x9000-0x9100 %s %s", a, b), 1);
	told(says(err, "cold"));
}

TEST(lost_samples_are_told_and_nobodys)
{
	struct json_object *doc, *rows;
	double time = 0, energy = 0;

	record("lost", &(struct recipe){ .lost = true });
	for (size_t v = 0; v < VIEWS; v++) {
		if (strncmp(views[v], "report", 6) || strstr(views[v], "edge") ||
		    strstr(views[v], "mixture"))
			continue;
		asked = views[v];
		kjoule("%s %s", views[v], temp_path("lost"));
		told(says(out, "[lost]"));
		told(says(out, "lost"));
	}
	kjoule("report --json %s", temp_path("lost"));
	doc = json_tokener_parse(out);
	rows = member(doc, "rows");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(text_of(row, "kind"), "function") ||
		    says(json_object_get_string(row), "[lost]"))
			continue;
		time += number(row, "time_s");
		energy += number(row, "energy_package_j");
	}
	/* what was lost is of none of the two blocks, nor is what it spent */
	assert_true(near(time, (TICKS - 300) * 1e-3, 0.03));
	assert_true(near(energy, (TICKS - 300) * 2e-3, 0.03));
	json_object_put(doc);
	/* the mixture leaves the windows out */
	if (!kjoule("report --json --model mixture %s", temp_path("lost"))) {
		doc = json_tokener_parse(out);
		told(says(out, "[lost]"));
		json_object_put(doc);
	}
}

/*
 * A library that was unloaded leaves its addresses to the next one: what was found there before is
 * not asked again, but does not hold.
 */
TEST(code_that_another_library_has_taken_the_place_of)
{
	char path[300];

	snprintf(path, sizeof(path),
		 "%s", record("later", &(struct recipe){ .later = "/nonexistent/library" }));
	for (size_t v = 0; v < 4; v++) {
		struct json_object *doc = look(views[v], path);
		double first = 0, second = 0;

		for (size_t i = 0; i < json_object_array_length(member(doc, "rows")); i++) {
			struct json_object *row = json_object_array_get_idx(member(doc, "rows"), i);
			const char *object = text_of(row, "object");

			if (!strcmp(text_of(row, "kind"), "process") ||
			    !strcmp(text_of(row, "kind"), "total"))
				continue;
			first += object && !strcmp(object, "/nonexistent/program") ?
					 number(row, "time_s") :
					 0;
			second += object && !strcmp(object, "/nonexistent/library") ?
					  number(row, "time_s") :
					  0;
		}
		told(near(first, second, 0.01 * first) && first > 0);
		json_object_put(doc);
	}
}

TEST(different_programs_are_not_averaged)
{
	char a[300], b[300];

	snprintf(a, sizeof(a), "%s", record("one", &(struct recipe){ .exe = "/nonexistent/one" }));
	snprintf(b, sizeof(b), "%s", record("two", &(struct recipe){ .exe = "/nonexistent/two" }));
	assert_int_equal(kjoule("report %s %s", a, b), 1);
	told(says(err, "/nonexistent/one") && says(err, "/nonexistent/two"));
	told(!says(out, "[unknown]"));
	kjoule("diff %s %s", a, b);
	told(says(err, "program") || says(out, "program"));

	/* what began them is the same */
	snprintf(a, sizeof(a), "%s",
		 record("one",
			&(struct recipe){ .exe = "/usr/bin/taskset", .then = "/nonexistent/one" }));
	snprintf(b, sizeof(b), "%s",
		 record("two",
			&(struct recipe){ .exe = "/usr/bin/taskset", .then = "/nonexistent/two" }));
	assert_int_equal(kjoule("report %s %s", a, b), 1);
	told(says(err, "/nonexistent/one") && says(err, "/nonexistent/two"));
	/* and is not what they are */
	snprintf(b, sizeof(b), "%s",
		 record("two",
			&(struct recipe){ .exe = "/usr/bin/nice", .then = "/nonexistent/one" }));
	assert_int_equal(kjoule("report %s %s", a, b), 0);
}

TEST(a_program_that_is_gone_or_another_one_is_named)
{
	static const struct {
		struct recipe r;
		const char *words;
	} cases[] = {
		{ { .exe = "/nonexistent/program" },
		  "/nonexistent/program: no symbols: No such file" },
		{ { .exe = "/proc/self/exe",
		    .build_id = "00112233445566778899aabbccddeeff00112233" },
		  "no symbols: " },
		{ { .exe = "/bin/sh", .build_id = "00112233445566778899aabbccddeeff00112233" },
		  "/bin/sh: no symbols: its build id differs from the recorded file's; it was replaced, or a container has another file at this path" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char a[300], b[300];

		snprintf(a, sizeof(a), "%s", record("bin", &cases[i].r));
		snprintf(b, sizeof(b), "%s", record("bin2", &cases[i].r));
		for (size_t v = 0; v < VIEWS; v++) {
			if (!strcmp(views[v], "report --model edge"))
				continue;	/* has said why it cannot be used */
			kjoule("%s %s", views[v], a);
			told(says(err, cases[i].words));
			/* addresses of it have no names that another file would give them */
			told(!says(out, "main"));
		}
		kjoule("report %s %s", a, b);
		told(says(err, cases[i].words));
		kjoule("diff %s %s", a, b);
		told(says(err, cases[i].words));
	}
}

extern char __executable_start;

TEST(a_stripped_program_is_told_how_to_get_names)
{
	char command[900], path[300], own[300] = "";
	struct recipe r = { .exe = path,
			    .at = 0x10000000 + ((char *)different_programs_are_not_averaged -
						&__executable_start) };

	snprintf(path, sizeof(path), "%s", temp_path("stripped"));
	/* under valgrind only the test itself finds its file by this link */
	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	snprintf(command, sizeof(command), "objcopy --strip-all '%s' %s 2>/dev/null", own, path);
	if (system(command))
		skip();
	asked = "stripped";
	kjoule("report %s", record("names", &r));
	told(says(out, " 0x") && says(err, "no symbols for some functions"));
	assert_true(says(err, "install its debug symbols"));
	/* one that has them is not */
	r.exe = own;
	kjoule("report --fields time,function %s", record("names", &r));
	told(says(out, "different_programs_are_not_averaged") && !says(err, "no symbols"));
}

/* Without a build id only its time tells that a file may be another one by now. */
TEST(a_newer_file_without_a_build_id_is_not_sure)
{
	static const char words[] = "it has no build id and is newer than the recording";
	struct timespec times[2] = { { .tv_sec = 1700000000 - 60 }, { .tv_sec = 1700000000 - 60 } };
	struct recipe r = { .exe = NULL, .at = 0x10000000 + looped.loop_offset };
	char path[300], command[900];

	snprintf(path, sizeof(path), "%s", temp_path("newer"));
	snprintf(command, sizeof(command), "cp '%s' %s", looped_path(), path);
	if (system(command))
		skip();
	r.exe = path;
	asked = "newer";
	for (size_t v = 0; v < VIEWS; v++) {
		if (!strcmp(views[v], "report --model edge"))
			continue;
		kjoule("%s %s", views[v], record("written", &r));
		told(says(err, words));
	}
	/* one that is as old, or whose build id tells */
	r.build_id = "00112233445566778899aabbccddeeff00112233";
	kjoule("report %s", record("written", &r));
	told(!says(err, words));
	r.build_id = NULL;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	kjoule("report %s", record("written", &r));
	told(!says(err, words) && says(out, "newer"));
}
