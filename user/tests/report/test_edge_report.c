// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of a recording with edge windows: blocks whose power they do not tell, why, and where
 * among the others these stand; and energy of another source than the one that the windows are of.
 */
#include <math.h>
#include <string.h>
#include <json-c/json.h>
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define PROGRAM	"/nonexistent/program"
#define LIBRARY	"/nonexistent/library"
#define WINDOWS	1200
#define PERIOD	50		/* ticks between two moves of the counter */
#define TICK_NS	1000000ull
#define SPIN_W	150

enum { LOW, HIGH, ONE, OTHER, RARE, BLOCKS };

/* Two long blocks, two of two ticks at a time by turns, and one that hardly ever runs. */
static const struct block {
	uint64_t ip;
	uint32_t flags;
	double watt;
	const char *function, *object;
} blocks[BLOCKS] = {
	[LOW] = { 0x10001000, 0, 100, "[unknown]", PROGRAM },
	[HIGH] = { 0xffffffff81000000, KJOULE_SAMPLE_KERNEL, 300, "[unknown]", "[kernel]" },
	[ONE] = { 0, KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_IP_HIDDEN, 200, "[hidden]", "[kernel]" },
	[OTHER] = { 0x70000000, 0, 200, "[unknown]", "[unknown]" },
	[RARE] = { 0x30001000, 0, 200, "[unknown]", LIBRARY },
};

/* The program, which goes on only where it is not held: which block, for how many ticks. */
struct program {
	unsigned int at, left;
	uint64_t seed;
};

static unsigned int step(struct program *p)
{
	static const unsigned int turns[] = { LOW, HIGH,  ONE, OTHER, ONE, OTHER,
					      ONE, OTHER, ONE, OTHER, ONE, OTHER };
	static const unsigned int n = sizeof(turns) / sizeof(turns[0]);

	while (!p->left) {
		p->at = (p->at + 1) % n;
		p->left = p->at < 2 ? 8 + rnd(&p->seed) % 9 : 2;
	}
	p->left--;
	return rnd(&p->seed) % 500 ? turns[p->at] : RARE;
}

static void put_window(struct buffer *b, uint32_t j, uint64_t b_ns, bool spin, uint64_t a_uj,
		       uint64_t c_uj)
{
	uint64_t a_ns = 1000000000ull + j * PERIOD * TICK_NS - TICK_NS / 2,
		 c_ns = a_ns + PERIOD * TICK_NS;
	struct kjoule_window w = { .rec = { KJOULE_RECORD_WINDOW,
					    KJOULE_WINDOW_LEADER | (spin ? KJOULE_WINDOW_SPIN : 0),
					    sizeof(w) },
				   .tick = (j + 1) * PERIOD,
				   .number = j,
				   .poll_ns = a_ns,
				   .begin_ns = a_ns,
				   .run_ns = a_ns,
				   .pause_ns = spin ? a_ns : b_ns,
				   .end_ns = c_ns,
				   .begin_uj = a_uj,
				   .end_uj = c_uj };

	put_bytes(b, &w, sizeof(w));
}

/* The whole machine is recorded, whose CPU is idle while it is held, and now and then else. */
static bool idle;

static bool is_idle(uint32_t k, uint32_t held_from)
{
	return idle && (k >= held_from || k % PERIOD == 3);
}

/* @windows: there are so many; the counter has stopped after them */
static void record(const char *name, uint32_t windows)
{
	struct kjoule_calibration none = { 0 };
	struct program p = { .seed = 3 };
	struct buffer b = { 0 }, side_band = { 0 }, nothing = { 0 };
	struct kjoule_meta meta;
	double uj = 0, before = 0, noise = 0;

	make_meta(&meta, 1, TICK_NS, idle ? KJOULE_TARGET_SYSTEM : KJOULE_TARGET_PROCESS);
	meta.session.edge_duty = 50;
	meta.session.edge.windows = windows - windows / 8;
	meta.session.edge.spins = windows / 8;
	meta.session.edge.failed = 3;
	meta.session.edge.paused = windows < WINDOWS ? 2 : 0;
	meta.session.edge.held_ns = 12340000000;
	meta.session.edge.longest_ns = 21500000;
	add_source(&meta, "other", KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY, "machine");
	put_calibration(&none);
	put_map(&side_band, 100, 900000002, 0x30000000, 0x10000, 0, LIBRARY);
	put_regions(&nothing, &side_band);
	put_task(&b, 100, 100);
	for (uint32_t j = 1; j <= WINDOWS; j++) {
		uint32_t from = j * PERIOD, runs = j % 8 ? 5 + rnd(&p.seed) % (PERIOD - 10) : 0;

		if (j <= windows)
			put_energy(&b, from, 3, (uint64_t[]){ uj + noise, uj / 2 });
		put_energy_of(&b, 1, 0, from, 0, 1, &(uint64_t){ 2 * uj });
		for (uint32_t k = from; k < from + PERIOD; k++) {
			const struct block *now = &blocks[k < from + runs ? step(&p) : LOW];

			/* what stands where it was held is not looked at */
			put_sample(&b, k, now->ip,
				   now->flags | KJOULE_SAMPLE_PRECISE |
					   (is_idle(k, from + runs) ? KJOULE_SAMPLE_IDLE : 0),
				   1000000, 100);
			uj += (k < from + runs ? now->watt : SPIN_W) * TICK_NS * 1e-3;
		}
		noise = 100. * (rnd(&p.seed) % 2000);
		if (j <= windows)
			put_window(&b, j, 1000000000ull + (from + runs) * TICK_NS - TICK_NS / 2,
				   !runs, before, uj + noise);
		before = uj + noise;
	}
	write_recording(temp_path(name), &meta, &b, 1, PROGRAM, (WINDOWS + 1) * PERIOD);
}

static struct json_object *report(const char *options, int code)
{
	return kjoule_json(code, "report --json %s %s", options, temp_path("edge"));
}

static const char *text(struct json_object *o, const char *key)
{
	return text_of(o, key) ? text_of(o, key) : "";
}

/* Return: which row of all that of a block is, -1: none */
static int place_of(struct json_object *doc, unsigned int block)
{
	struct json_object *rows = member(doc, "rows");

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (!strcmp(text(row, "kind"), "function") &&
		    !strcmp(text(row, "function"), blocks[block].function) &&
		    !strcmp(text(row, "object"), blocks[block].object) &&
		    !strcmp(text(row, "mode"),
			    blocks[block].flags & KJOULE_SAMPLE_KERNEL ? "kernel" : "user"))
			return i;
	}
	return -1;
}

static struct json_object *row_of(struct json_object *doc, unsigned int block)
{
	int at = place_of(doc, block);

	if (at < 0)
		fail_msg("no row of block %u: %s", block, out);
	return json_object_array_get_idx(member(doc, "rows"), at);
}

TEST(long_blocks_have_a_power)
{
	struct json_object *doc = report("", 0);

	assert_string_equal(text(member(doc, "model"), "name"), "edge");
	for (unsigned int i = LOW; i <= HIGH; i++) {
		assert_true(fabs(number(row_of(doc, i), "power_package_w") / blocks[i].watt - 1) <
			    0.03);
		assert_null(member(row_of(doc, i), "model_note"));
	}
}

/* Of two short blocks by turns, and of one that hardly runs, no power is known, but why not. */
TEST(what_is_not_told_has_a_reason)
{
	static const struct {
		unsigned int block;
		const char *note, *reason;
	} unmeasured[] = {
		{ ONE, "runs too short for the rate",
		  "- : runs of fewer than 3 ticks, which ticks do not follow; record at a higher rate" },
		{ OTHER, "runs too short for the rate", "" },
		{ RARE, "too little time, or in too few windows, for a power of its own",
		  "- : less than 1 % of the time in edge windows" },
	};
	struct json_object *doc = report("--percent-limit 0", 0);

	for (size_t i = 0; i < sizeof(unmeasured) / sizeof(unmeasured[0]); i++) {
		struct json_object *row = row_of(doc, unmeasured[i].block);

		assert_null(figure_of(row, "energy_package_j"));
		assert_null(figure_of(row, "power_package_w"));
		assert_string_equal(text(row, "model_note"), unmeasured[i].note);
	}
	assert_false(isnan(number(find_row(doc, "total", NULL), "energy_package_j")));
	assert_int_equal(kjoule("report --percent-limit 0 %s", temp_path("edge")), 0);
	for (size_t i = 0; i < sizeof(unmeasured) / sizeof(unmeasured[0]); i++)
		assert_true(says(out, unmeasured[i].reason));
	assert_false(says(out, "mixture"));
	/* of a domain that is not shown there is nothing to explain */
	assert_null(strstr(out, "- : edge windows are of another domain"));
	assert_int_equal(kjoule("report --percent-limit 0 --domain all %s", temp_path("edge")), 0);
	assert_true(says(out, "- : edge windows are of another domain"));
}

/*
 * A quarter of the time is no thousandth of the energy because it is fewer seconds than all are
 * joules.
 */
TEST(what_is_not_told_stands_by_its_time)
{
	struct json_object *doc = report("--percent-limit 5", 0);

	/* at the mean power they are between the others */
	assert_true(place_of(doc, HIGH) >= 0 && place_of(doc, ONE) > place_of(doc, HIGH));
	assert_true(place_of(doc, OTHER) > place_of(doc, HIGH));
	assert_true(place_of(doc, LOW) > place_of(doc, ONE) &&
		    place_of(doc, LOW) > place_of(doc, OTHER));
	assert_int_equal(place_of(doc, RARE), -1);
}

/*
 * A tick of a held CPU is taken when it is let go, and no sample of what runs then: of those all
 * are exact, and not more than all.
 */
TEST(samples_of_held_ticks_are_nobodys)
{
	struct json_object *doc = report("", 0), *rows = member(doc, "rows");
	unsigned int n = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(text(row, "kind"), "function") ||
		    !strcmp(text(row, "function"), "[paused]"))
			continue;
		assert_true(near(number(row, "precise_percent"), 100, 1e-9));
		n++;
	}
	assert_int_equal(n, BLOCKS);
	/* an idle CPU runs no instruction that could be named, however many it was held at */
	idle = true;
	record("idle", WINDOWS);
	idle = false;
	doc = kjoule_json(0, "report --json --model cpm %s", temp_path("idle"));
	assert_true(number(find_named(doc, "[idle]"), "time_s") > 0.5);
	assert_true(near(number(find_named(doc, "[idle]"), "precise_percent"), 0, 1e-9));
}

/* What it did to the program, and what came to nothing. */
TEST(for_how_long_it_was_held_is_told)
{
	struct json_object *doc = report("", 0), *holds = member(doc, "pauses");

	assert_true(number(holds, "windows") == WINDOWS - WINDOWS / 8 &&
		    number(holds, "spins") == WINDOWS / 8);
	assert_true(number(holds, "failed") == 3 && number(holds, "paused") == 0);
	assert_true(near(number(holds, "paused_s"), 12.34, 1e-9) &&
		    near(number(holds, "longest_s"), 0.0215, 1e-9));
	kjoule("report -v %s", temp_path("edge"));
	assert_true(says(out, "failed 3, paused 12.34 s, longest 21.5 ms"));
	record("paused", WINDOWS / 2);
	kjoule("report -v %s", temp_path("paused"));
	assert_true(says(out, "failed 3, paused 2, paused "));
}

/* Where there are no windows the others are taken for them, which is said. */
TEST(a_counter_that_stopped_is_told)
{
	struct json_object *doc = report("", 0), *one;

	one = json_object_array_get_idx(member(member(doc, "model"), "edge_windows"), 0);
	assert_true(number(one, "time_without_part") < 0.01);
	kjoule("report -v %s", temp_path("edge"));
	assert_false(says(out, "# windows    none in"));
	record("stopped", WINDOWS / 2);
	assert_int_equal(kjoule("report %s", temp_path("stopped")), 0);
	assert_true(says(out, "# windows    none in 50.0 % of the time"));
}

/* A report without any energy is no success to a script. */
TEST(windows_that_tell_nothing_are_a_failure)
{
	record("brief", 16);
	assert_int_equal(kjoule("report -v %s", temp_path("brief")), 1);
	assert_true(says(out, "# windows    16, too few consistent windows"));
	assert_true(says(err, "no power follows from the edge windows, so no energy is known; record for longer, or see --model cpm"));
	assert_int_equal(kjoule("report -v --model cpm %s", temp_path("brief")), 0);
	assert_false(says(err, "edge windows") || says(err, "no energy"));
}

/*
 * Energy of one source by windows of another one: the model that fits, and why it is not that of
 * the windows.
 */
TEST(another_source_has_another_model)
{
	static const char *const ways[] = { "--source other", "--source other --model auto" };

	for (size_t i = 0; i < 2; i++) {
		struct json_object *doc = report(ways[i], 0), *model = member(doc, "model");

		assert_string_not_equal(text(model, "name"), "edge");
		assert_string_equal(text(model, "requested"), "auto");
		assert_true(says(
			text(model, "reason"),
			"not edge: the windows are of the recording's first source, and another one was asked for; "));
		assert_true(number(find_row(doc, "total", NULL), "energy_machine_j") > 0);
	}
	assert_int_equal(kjoule("report --source other --model edge %s", temp_path("edge")), 1);
	assert_true(says(err, "--model edge: the windows are of the recording's first source"));
}

static int setup(void **state)
{
	(void)state;
	record("edge", WINDOWS);
	return 0;
}

int main(void)
{
	return tests_run(setup, NULL);
}
