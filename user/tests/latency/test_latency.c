// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What kjoule latency shows of results that are made up: numbers where they are known, reasons
 * where they are not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "latency/latency.h"
#include "tests/support/drawn.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static const struct kjoule_policy policy =
	{ .driver = "made-up", .governor = "any", .min_khz = 1000, .max_khz = 3000 };
static struct latency_options opt;
static struct latency l;

/* A try that is good has ten loops around a change 50 us after the request. */
static void one_try(struct latency_pair *p, size_t k, enum transition_verdict verdict)
{
	struct latency_loops *s = &p->series[k];

	s->list = calloc(10, sizeof(*s->list));
	assert_non_null(s->list);
	s->n = 10;
	s->request_ns = 2000;
	s->asked_ns = 123456789012;
	for (int i = 0; i < 10; i++)
		s->list[i] = (struct transition_loop){ (i - 5) * 10000.0, 9000 };
	p->tries[k] = (struct transition_try){ .verdict = verdict, .first.ns = NAN, .last.ns = NAN,
					       .pause_ns = NAN };
	if (verdict == TRANSITION_GOOD)
		p->tries[k].first.ns = p->tries[k].last.ns = 50000;
	p->verdicts[k] = verdict;
}

static struct value around(double v)
{
	return (struct value){ .v = v, .lo = v - 1000, .hi = v + 1000 };
}

static void new_pair(size_t from, size_t to, enum transition_state state,
		     enum transition_verdict verdict)
{
	struct latency_pair *p = &l.pairs[l.n_pairs++];

	*p = (struct latency_pair){ .from = from, .to = to, .measured = true, .n = 2 };
	p->tries = calloc(p->n, sizeof(*p->tries));
	p->series = calloc(p->n, sizeof(*p->series));
	p->verdicts = calloc(p->n, sizeof(*p->verdicts));
	assert_true(p->tries && p->series && p->verdicts);
	for (size_t k = 0; k < p->n; k++)
		one_try(p, k, verdict);
	p->result = (struct transition_pair){ .state = state, .why = verdict, .tries = p->n,
					      .speed_ratio = NAN, .changes = 1,
					      .request_ns = around(2000) };
	p->result.verdicts[verdict] = p->n;
	p->result.first_ns = p->result.last_ns = p->result.settled_ns = p->result.pause_ns =
		(struct value){ NAN, NAN, NAN };
	if (state != TRANSITION_KNOWN)
		return;
	p->result.first_ns = p->result.last_ns = around(50000);
	p->result.settled_ns = around(60000);
	p->result.pause_ns = around(9000);
}

/* Three frequencies, one way known, the others not, each for a reason of its own. */
static int make_up(void **state)
{
	(void)state;
	opt = (struct latency_options){ .repeats = 31, .timeout_ns = 1000000 };
	l = (struct latency){ .opt = &opt, .engine = &latency_kernel, .policy = &policy,
			      .way = "asking", .adds = 640, .n_f = 3, .irqs_off_ns = 700000,
			      .seconds = 1.5, .guard.fd = -1 };
	for (size_t i = 0; i < l.n_f; i++) {
		l.f[i].khz = 1000 * (i + 1);
		l.f[i].counted_khz = NAN;
		l.f[i].level =
			(struct transition_level){ .n = 10000, .mean_ns = around(9000),
						   .median_ns = 9000.0 / (i + 1), .sd_ns = 5 };
	}
	l.pairs = calloc(6, sizeof(*l.pairs));
	assert_non_null(l.pairs);
	new_pair(0, 1, TRANSITION_KNOWN, TRANSITION_GOOD);
	new_pair(0, 2, TRANSITION_FAILED, TRANSITION_NEVER);
	new_pair(1, 0, TRANSITION_FAILED, TRANSITION_ELSEWHERE);
	new_pair(1, 2, TRANSITION_KNOWN, TRANSITION_GOOD);
	l.pairs[3].apart = TRANSITION_TWINS;
	new_pair(2, 0, TRANSITION_MORE, TRANSITION_GOOD);
	new_pair(2, 1, TRANSITION_FAILED, TRANSITION_DISTURBED);
	return 0;
}

static int let_go(void **state)
{
	(void)state;
	latency_free(&l);
	return 0;
}

static char *print(enum output_format format)
{
	opt.format = format;
	begin_to_read();
	assert_int_equal(latency_print(&l), 0);
	return end_to_read();
}

TEST_WITH(what_has_no_number_has_a_reason_of_its_own, make_up, let_go)
{
	assert_null(latency_why(&l, &l.pairs[0]));
	for (size_t i = 1; i < l.n_pairs; i++) {
		assert_non_null(latency_why(&l, &l.pairs[i]));
		for (size_t k = 1; k < i; k++)
			assert_string_not_equal(latency_why(&l, &l.pairs[i]),
						latency_why(&l, &l.pairs[k]));
	}
	/* every verdict that a pair can fail with */
	for (int v = 1; v < TRANSITION_VERDICTS; v++) {
		l.pairs[1].result.why = v;
		assert_non_null(latency_why(&l, &l.pairs[1]));
	}
	l.pairs[1].elsewhere = true;
	assert_true(says(latency_why(&l, &l.pairs[1]), "another speed"));
	l.f[1].why = "no level";
	assert_string_equal(latency_why(&l, &l.pairs[0]), "no level");
}

TEST_WITH(json_has_a_number_or_a_reason, make_up, let_go)
{
	static const char *const figures[] = { "latency_us", "latency_lo_us", "latency_hi_us",
					       "first_us", "settled_us", "changes", "pause_us" };
	char *text = print(OUTPUT_JSON);
	struct json_object *doc = json_tokener_parse(text), *rows;

	assert_non_null(doc);
	assert_string_equal(text_of(doc, "engine"), "kernel");
	assert_true(near(number(doc, "irqs_off_max_us"), 700, 1e-9) &&
		    near(number(doc, "seconds"), 1.5, 1e-9));
	rows = member(doc, "rows");
	assert_int_equal(json_object_array_length(rows), 6);
	for (size_t i = 0; i < 6; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		for (size_t k = 0; k < sizeof(figures) / sizeof(figures[0]); k++)
			assert_int_equal(isnan(number(row, figures[k])), i != 0);
		assert_int_equal(!!member(row, "why"), i != 0);
	}
	assert_true(near(number(json_object_array_get_idx(rows, 0), "latency_us"), 50, 1e-9));
	assert_true(near(number(json_object_array_get_idx(rows, 0), "latency_hi_us"), 51, 1e-9));
	json_object_put(doc);
}

TEST_WITH(people_see_a_matrix_and_each_reason_once, make_up, let_go)
{
	const char *never;
	char *text, *at;

	/* two that failed for the same reason */
	l.pairs[5].result.why = TRANSITION_NEVER;
	never = latency_why(&l, &l.pairs[1]);
	text = print(OUTPUT_TABLE);
	assert_true(says(text, "kernel engine") && says(text, "made-up") &&
		    says(text, "interrupts off for 700.0 us"));
	assert_true(says(text, "from (down) to (across), in MHz:") && says(text, "upwards: ") &&
		    says(text, "downwards: "));
	/* one unit for people, whatever programs have */
	assert_true(says(text, "FROM MHz  TO MHz  LATENCY us") &&
		    says(text, "\n       1       2        50.0"));
	assert_true(says(text, "us at 1 MHz") && !strstr(text, "kHz"));
	/* with as many digits as tell them apart */
	l.f[1].khz = 2250;
	text = print(OUTPUT_TABLE);
	assert_true(says(text, "\n    1.00    2.25        50.0") &&
		    says(text, "\n                1.00      2.25      3.00\n"));
	at = strstr(text, "\n- : ");
	assert_non_null(at);
	at = strstr(at, never);
	assert_non_null(at);
	assert_true(says(at, "(2 of 6, 1 to 3 MHz the first one)"));
	at = strstr(at + 1, "\n- : ");
	assert_non_null(at);
	assert_null(strstr(at, never));
	assert_null(strstr(text, "nan"));
}

TEST_WITH(csv_has_a_line_for_each_pair, make_up, let_go)
{
	char *text = print(OUTPUT_CSV);
	size_t lines = 0;

	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 7);
	assert_true(says(text, "from_khz,to_khz,latency_us,latency_lo_us,latency_hi_us,first_us"));
	assert_null(strstr(text, "nan"));
}

TEST_WITH(a_saved_file_has_every_loop, make_up, let_go)
{
	char path[] = "/tmp/kjoule-latency-XXXXXX";
	struct kjoule_error why;
	struct json_object *doc, *pairs, *one;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	/* one whose CPU had a counter of cycles */
	l.pairs[2].series[1].counted = calloc(10, sizeof(struct latency_counted));
	assert_non_null(l.pairs[2].series[1].counted);
	l.pairs[2].series[1].counted[9] = (struct latency_counted){ 4711, 42 };
	l.pairs[2].series[1].reference_khz = 1000000;
	assert_int_equal(latency_save(&l, path, &why), 0);
	doc = json_object_from_file(path);
	unlink(path);
	assert_non_null(doc);
	pairs = member(doc, "pairs");
	assert_int_equal(json_object_array_length(pairs), 6);
	for (size_t i = 0; i < 6; i++) {
		one = member(json_object_array_get_idx(pairs, i), "tries");
		assert_int_equal(json_object_array_length(one), 2);
		one = json_object_array_get_idx(one, 1);
		assert_string_equal(text_of(one, "verdict"),
				    transition_verdict_name(l.pairs[i].verdicts[1]));
		assert_true(json_object_get_int64(member(one, "asked_ns")) == 123456789012);
		assert_int_equal(json_object_array_length(member(one, "loop_ns")), 10);
		assert_int_equal(json_object_get_int64(json_object_array_get_idx(member(one, "start_ns"), 0)),
				 -50000);
		if (i == 2) {
			struct json_object *cycles = member(one, "cycles");
			struct json_object *reference = member(one, "reference");

			cycles = json_object_array_get_idx(cycles, 9);
			reference = json_object_array_get_idx(reference, 9);
			assert_int_equal(json_object_get_int64(cycles), 4711);
			assert_int_equal(json_object_get_int64(reference), 42);
			assert_int_equal(json_object_get_int64(member(one, "reference_khz")), 1000000);
		} else {
			assert_true(!member(one, "cycles") && !member(one, "reference") &&
				    !member(one, "reference_khz"));
		}
		assert_int_equal(isnan(number(one, "last_us")),
				 l.pairs[i].verdicts[1] != TRANSITION_GOOD);
	}
	json_object_put(doc);
	assert_true(latency_save(&l, "/nowhere/file", &why) < 0);
	assert_true(says(why.text, "/nowhere/file"));
}

TEST_WITH(what_the_cpu_counts_is_told_where_it_does, make_up, let_go)
{
	struct json_object *doc, *list;
	char *text = print(OUTPUT_TABLE);

	assert_null(strstr(text, "# counter"));
	for (size_t i = 0; i < l.n_f; i++)
		snprintf(l.f[i].counter, sizeof(l.f[i].counter), "made-up-cycles");
	/* not measured yet */
	text = print(OUTPUT_TABLE);
	assert_null(strstr(text, "# counter"));
	l.f[0].counted_khz = 1002;
	l.f[2].counted_khz = 2970;
	text = print(OUTPUT_TABLE);
	assert_true(!strstr(text, "every frequency") && says(text, "at 1 MHz the CPU made") &&
		    says(text, "at 3 MHz the CPU made"));
	assert_true(!strstr(text, "at 2 MHz the CPU made") && !strstr(text, "nan"));
	l.f[1].counted_khz = 2000;
	text = print(OUTPUT_TABLE);
	assert_true(says(text, "cycles by made-up-cycles agree with every frequency to within 1.0 %"));
	l.f[2].counted_khz = 2004;
	text = print(OUTPUT_TABLE);
	assert_true(says(text, "at 3 MHz the CPU made the cycles of 2.004 MHz, by made-up-cycles"));
	assert_true(says(text, "at 1 MHz the CPU made the cycles of 1.002 MHz") &&
		    !strstr(text, "every frequency"));
	text = print(OUTPUT_JSON);
	doc = json_tokener_parse(text);
	list = member(doc, "frequencies");
	assert_true(near(number(json_object_array_get_idx(list, 2), "counted_khz"), 2004, 1e-9));
	assert_string_equal(text_of(json_object_array_get_idx(list, 2), "counter"),
			    "made-up-cycles");
	json_object_put(doc);
}

/*
 * Loops of 9 us; every other calibration has one in ten that takes twice as long, and there are
 * counters if @counts.
 */
static size_t calibrations;
static bool counts;

static int made_up_calibrate(struct latency *of, uint32_t adds, uint32_t khz, uint32_t loops,
			     uint64_t wait_ns, struct latency_loops *to, struct kjoule_error *why)
{
	bool disturbed = calibrations++ % 2 == 0;

	(void)of, (void)adds, (void)wait_ns, (void)why;
	*to = (struct latency_loops){ .list = calloc(loops, sizeof(*to->list)), .n = loops,
				      .reference_khz = 100000, .done = true,
				      .counter = "made-up-cycles" };
	to->counted = counts ? calloc(loops, sizeof(*to->counted)) : NULL;
	assert_true(to->list && (to->counted || !counts));
	for (size_t i = 0; i < loops; i++) {
		to->list[i] = (struct transition_loop){ 10000.0 * i, 9000 + i % 7 +
							(disturbed && i % 8 == 0) * 9000 };
		/* steps of a counter that are longer than a loop */
		if (counts && i % 10 == 9)
			to->counted[i] = (struct latency_counted){ khz * 9 / 100, 9000 };
		/* and one that goes back */
		if (counts && i == 500)
			to->counted[i] = (struct latency_counted){ -1000, 9000 };
	}
	return 0;
}

TEST_WITH(a_calibration_is_made_again_and_says_what_was_counted, make_up, let_go)
{
	static const struct latency_engine interpolated =
		{ .name = "made-up", .calibrate = made_up_calibrate };
	struct latency_frequency f = { .khz = 200000 };
	struct kjoule_error why;

	l.engine = &interpolated;
	calibrations = 0;
	counts = false;
	assert_int_equal(latency_level(&l, &f, 640, 1000, &why), 0);
	assert_int_equal(calibrations, 2);
	assert_true(!f.why && near(f.level.median_ns, 9003, 1e-4) && isnan(f.counted_khz));
	assert_true(near(f.gap_ns, 997, 1e-2));
	counts = true;
	assert_int_equal(latency_level(&l, &f, 640, 1000, &why), 0);
	assert_true(!f.why && near(f.counted_khz, 200000, 1e-9));
	assert_string_equal(f.counter, "made-up-cycles");
}

/* The data file of a picture, which is there even without gnuplot. */
static char *picture(int (*plot)(const struct latency *l, const char *path,
				 struct kjoule_error *why))
{
	const char *image = temp_path("it's.svg");
	struct kjoule_error why;
	char *text;
	int ret;

	ret = plot(&l, image, &why);
	if (ret)
		assert_true(says(why.text, "there is no gnuplot"));
	else
		assert_int_equal(access(image, R_OK), 0);
	text = kept_text(temp_path("it's.csv"));
	assert_int_not_equal(text[0], 0);
	unlink(temp_path("it's.csv"));
	unlink(image);
	return text;
}

TEST_WITH(a_picture_has_what_is_known_only, make_up, let_go)
{
	char *text = picture(latency_plot);

	assert_string_equal(text, "from_khz,to_khz,latency_us,lo_us,hi_us\n1000,2000,50,49,51\n");
}

TEST_WITH(a_picture_of_nothing_is_one_all_the_same, make_up, let_go)
{
	char *text;

	l.f[0].why = l.f[1].why = l.f[2].why = "no level";
	text = picture(latency_plot);
	assert_string_equal(text, "from_khz,to_khz,latency_us,lo_us,hi_us\n");
}

/* What gnuplot is given to draw; the caller's to free. */
static char *drawn(int (*plot)(const struct latency *l, const char *path, struct kjoule_error *why))
{
	drawn_begin();
	free(picture(plot));
	return drawn_end();
}

TEST_WITH(three_frequencies_are_a_map_with_a_title, make_up, let_go)
{
	static const char *const words[] = {
		"Latency of frequency changes: CPU 0, kernel engine, driver made-up",
		"set xlabel 'to, MHz'",
		"set ylabel 'from, MHz'",
		"set cblabel 'latency, \u00b5s'",
		"set xtics ('1' 0, '2' 1, '3' 2)",
		"set ytics ('1' 0, '2' 1, '3' 2)",
		"set yrange [2.5:-0.5]",
	};
	char *script;

	for (size_t i = 0; i < l.n_pairs; i++) {
		l.pairs[i].result.state = TRANSITION_KNOWN;
		l.pairs[i].apart = TRANSITION_APART;
		l.pairs[i].result.last_ns = around(10000.0 * (i + 1));
	}
	script = drawn(latency_plot);
	assert_int_equal(drawn_figures(script), 6);
	assert_int_equal(drawn_letters(script, 0), 0);
	/* from 2 to 3 is in the second row from above, and the third column */
	assert_true(says(script, "\n2,1,40,0,40.0\n"));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_true(says(script, words[i]));
}

TEST_WITH(a_cell_without_a_number_has_its_reason, make_up, let_go)
{
	char *script = drawn(latency_plot), line[200];

	assert_int_equal(drawn_figures(script), 1);
	for (size_t i = 1; i < l.n_pairs; i++) {
		const char *why = latency_why(&l, &l.pairs[i]);

		assert_int_equal(drawn_letters(script, 'a' + i - 1), 1);
		snprintf(line, sizeof(line), "set label %zu '%c: %.*s'", i, (char)('a' + i - 1),
			 (int)strcspn(why, ":;"), why);
		assert_true(says(script, line));
	}
}

TEST_WITH(two_frequencies_are_a_dot_for_each_direction, make_up, let_go)
{
	struct latency_pair back = l.pairs[2];
	size_t all = l.n_pairs;
	char *script;

	l.pairs[2] = l.pairs[1];
	l.pairs[1] = back;
	l.n_f = l.n_pairs = 2;
	script = drawn(latency_plot);
	assert_true(says(script, "'1 to 2' 0, '2 to 1' 1") && says(script, "driver made-up") &&
		    says(script, "set xlabel 'change, MHz'"));
	assert_true(
		says(script,
		     "every ::1 using ($1 == 1000 && $2 == 2000 ? 0 : NaN):3:4:5 with yerrorbars"));
	assert_int_equal(drawn_count(script, "with yerrorbars"), 1);
	assert_true(says(script, "'a' at 1, graph 0.5") &&
		    says(script, "'a: the CPU settles at another speed"));
	l.n_pairs = all;
}

TEST_WITH(a_series_is_that_of_a_good_try, make_up, let_go)
{
	struct kjoule_error why;
	char *text;
	size_t lines = 0;

	text = picture(latency_plot_series);
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 11);
	assert_true(says(text, "start_us,loop_us\n-50,9\n"));
	for (size_t i = 0; i < l.n_pairs; i++)
		for (size_t k = 0; k < l.pairs[i].n; k++)
			l.pairs[i].verdicts[k] = TRANSITION_DISTURBED;
	assert_true(latency_plot_series(&l, "/tmp/kjoule-no-such.svg", &why) < 0);
	assert_true(says(why.text, "no try was good"));
}
