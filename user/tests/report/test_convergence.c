// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How sure figures become with more samples: beginnings of a recording, more and more recordings,
 * and the files.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <json-c/json.h>
#include "analysis/profile/prefix.h"
#include "output/plot.h"
#include "tests/support/drawn.h"
#include "tests/support/series.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

/* How many entries a stream has; @last: the last one. */
static size_t entries(const struct cpm_stream *stream, struct cpm_tick *last)
{
	struct tick_stream_cursor c;
	size_t n = 0;

	tick_stream_begin(&c, stream, NULL);
	for (; tick_stream_next(&c); n++)
		*last = c.t;
	return n;
}

TEST(a_beginning_has_what_was_before_its_end)
{
	static const struct cpm_tick busy[] = { { .tick = 0, .block = 0 },
						{ .tick = 1, .block = 0 },
						{ .tick = 5, .block = 1 },
						{ .tick = 9, .block = 0 } };
	static const struct cpm_tick idle[] = {
		{ .tick = 0, .block = 2, .skipped = 1, .more = 9 }
	};
	static const struct cpm_reading readings[] = {
		{ 0, 10 }, { 4, 20 }, { 6, 30 }, { 10, 40 }
	};
	const struct profile_stream streams[] = { { .stream = { .ticks = busy, .n = 4 } },
						  { .stream = { .ticks = idle, .n = 1 } } };
	const struct profile_package package = { .readings = { readings }, .n_readings = { 4 } };
	const struct profile_input in = { .end_tick = 10,
					  .n_streams = 2,
					  .streams = streams,
					  .n_packages = 1,
					  .packages = &package,
					  .n_domains = 1 };
	struct cpm_tick last = { 0 };
	struct prefix p;

	assert_int_equal(prefix_new(&in, 6, &p), 0);
	assert_int_equal(p.in.end_tick, 6);
	assert_int_equal(entries(&p.in.streams[0].stream, &last), 3);
	assert_int_equal(p.in.packages[0].n_readings[0], 3);
	/* an idle time that goes on is cut, and the recording is not touched */
	assert_int_equal(entries(&p.in.streams[1].stream, &last), 1);
	assert_int_equal(last.more, 5);
	assert_int_equal(idle[0].more, 9);
	prefix_free(&p);
	assert_int_equal(prefix_new(&in, 100, &p), 0);
	assert_int_equal(p.in.end_tick, 10);
	assert_int_equal(entries(&p.in.streams[1].stream, &last), 1);
	assert_int_equal(last.more, 9);
	prefix_free(&p);
	assert_int_equal(prefix_new(&in, 0, &p), 0);
	assert_int_equal(entries(&p.in.streams[0].stream, &last) +
				 entries(&p.in.streams[1].stream, &last),
			 0);
	prefix_free(&p);
	/* made up and parked ticks are no samples */
	assert_int_equal(prefix_samples(&in, 10), 4);
	assert_int_equal(prefix_samples(&in, 5), 2);
	assert_int_equal(prefix_tick(&in, 3), 6);
	assert_int_equal(prefix_tick(&in, 4), 10);
	assert_int_equal(prefix_tick(&in, 5), 10);
}

static struct json_object *at(struct json_object *doc, const char *function, size_t from_end)
{
	struct json_object *rows = member(doc, "rows"), *row;
	size_t i = json_object_array_length(rows);

	while (i--) {
		row = json_object_array_get_idx(rows, i);
		if (!strcmp(text_of(row, "function"), function) && !from_end--)
			return row;
	}
	return NULL;
}

static bool is_file_with(const char *name, const char *beginning)
{
	size_t len;
	char *data;
	bool good;

	if (access(temp_path(name), F_OK))
		return false;
	data = (char *)read_file(temp_path(name), &len);
	good = len > 100 && !strncmp(data, beginning, strlen(beginning));
	free(data);
	return good;
}

static bool no_gnuplot(void)
{
	char why[100];

	if (plot_draw("\n", 1, -1, -1, why, sizeof(why)) != -ENOENT)
		return false;
	print_message("# SKIP there is no gnuplot\n");
	return true;
}

static struct json_object *convergence(const char *picture, const char *files)
{
	return kjoule_json(0, "report --json --convergence \"%s\" %s", temp_path(picture), files);
}

/* Four times as many samples, half as wide. */
TEST(more_samples_are_surer)
{
	struct json_object *doc, *last, *quarter;
	char file[300];
	size_t i = 0;

	if (no_gnuplot())
		skip();
	snprintf(file, sizeof(file),
		 "%s", series_record(&(struct series_run){ .name = "long", .ticks = 40000,
									       .watt = 1 }));
	doc = convergence("long.svg", file);
	last = at(doc, "total", 0);
	assert_int_equal(number(last, "samples"), 40000);
	assert_true(near(number(last, "energy_j"), 60, 0.2));
	do
		quarter = at(doc, "total", ++i);
	while (quarter && number(quarter, "samples") > 10000);
	assert_non_null(quarter);
	assert_true(number(quarter, "samples") > 8000);
	assert_true(
		near(number(quarter, "energy_half_percent") / number(last, "energy_half_percent"),
		     sqrt(40000 / number(quarter, "samples")), 0.5));
	assert_true(near(number(last, "energy_half_percent"),
			 50 * (number(last, "energy_hi_j") - number(last, "energy_lo_j")) /
				 number(last, "energy_j"),
			 1e-6));
	/* a beginning is not the whole: off what it is is not known */
	assert_null(member(quarter, "energy_off_percent"));
	assert_true(is_file_with("long.svg", "<?xml"));
	assert_true(is_file_with("long.csv",
				 "block,comm,function,object,runs,samples,block_samples,time_s,"));
	assert_int_equal(kjoule("report --convergence %s --force %s", temp_path("long.png"), file),
			 0);
	assert_true(says(out, "longer and longer beginnings"));
	assert_true(is_file_with("long.png", "\x89PNG"));
}

TEST(more_runs_come_nearer)
{
	struct json_object *doc;

	if (no_gnuplot())
		skip();
	for (size_t i = 0; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "many.%zu", i + 1);
		series_record(&(struct series_run){
			.name = name, .ticks = 4000 + 100 * (i % 2), .watt = 1, .phase = 19 * i });
	}
	doc = convergence("it's.svg", series_files("many", 8));
	assert_int_equal(number(at(doc, "total", 0), "runs"), 8);
	assert_true(number(at(doc, "total", 0), "time_off_percent") == 0);
	assert_int_equal(number(at(doc, "total", 7), "runs"), 1);
	assert_int_equal(number(at(doc, "total", 7), "samples"), 4000);
	assert_true(near(number(at(doc, "total", 7), "time_off_percent"), 100 * (4.0 / 4.05 - 1),
			 1e-6));
	assert_true(fabs(number(at(doc, "total", 1), "time_off_percent")) < 0.2);
	assert_true(number(at(doc, "total", 0), "time_half_percent") <
		    number(at(doc, "total", 5), "time_half_percent") / 1.5);
	/* a quote in a name ends no string */
	assert_true(is_file_with("it's.svg", "<?xml"));
}

TEST(without_gnuplot_there_are_the_data)
{
	static const char nothing[] = "#!/bin/sh\nexit 127\n";
	char *before = strdup(getenv("PATH")), svg[300], path[4096], why[100];
	int code, drawn;

	series_record(&(struct series_run){ .name = "plain", .ticks = 4000, .watt = 1 });
	snprintf(svg, sizeof(svg), "%s", temp_path("none.svg"));
	/* as a shell reports a missing command: the tool itself may need the rest of the path */
	write_file(temp_path("gnuplot"), nothing, strlen(nothing));
	assert_int_equal(chmod(temp_path("gnuplot"), 0755), 0);
	snprintf(path, sizeof(path), "%s:%s", temp_path(""), before);
	setenv("PATH", path, 1);
	code = kjoule("report --csv --convergence %s %s", svg, temp_path("plain"));
	/* and as the system does */
	setenv("PATH", "/nonexistent", 1);
	drawn = plot_draw("\n", 1, -1, -1, why, sizeof(why));
	setenv("PATH", before, 1);
	free(before);
	assert_int_equal(code, 1);
	assert_int_equal(drawn, -ENOENT);
	assert_true(says(err, "there is no gnuplot to draw it; install gnuplot-nox; the data are in "));
	assert_true(is_file_with("none.csv", "block,"));
	assert_true(!strncmp(out, "block,", 6));
	assert_int_not_equal(access(svg, F_OK), 0);
}

TEST(panels_have_one_title_and_one_key)
{
	char *script, file[300], svg[300];

	series_record(&(struct series_run){ .name = "titled", .ticks = 4000, .watt = 1 });
	snprintf(file, sizeof(file), "%s", temp_path("titled"));
	snprintf(svg, sizeof(svg), "%s", temp_path("titled.svg"));
	drawn_begin();
	assert_int_equal(kjoule("report --convergence %s %s", svg, file), 0);
	script = drawn_end();
	assert_true(says(script, "layout 1,3 margins screen") &&
		    says(script, "title 'How sure figures become with more samples'"));
	assert_true(says(script, "set xlabel 'samples'") &&
		    says(script, "set ylabel 'half of the 95 % interval, %'"));
	assert_true(drawn_count(script, "\nplot ") == 3 && drawn_count(script, "set key ") == 1);
	assert_true(strstr(script, "set key ") < strstr(script, "\nplot "));
}

TEST(what_can_not_be_drawn_is_said)
{
	static const char *const wrong[] = {
		"report --convergence x.pdf",
		"report --convergence svg",
		"report --convergence x.svg --sort time",
		"report --force",
		"report --convergence x.svg -g",
		"report --convergence x.svg --percent-limit 1",
		"report --convergence x.svg --vectors",
	};
	char file[300];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(kjoule("%s", wrong[i]), 2);
		assert_string_equal(out, "");
	}
	snprintf(file, sizeof(file),
		 "%s", series_record(&(struct series_run){ .name = "short", .ticks = 10,
									       .watt = 1 }));
	assert_int_equal(kjoule("report --convergence %s %s", temp_path("few.svg"), file), 1);
	assert_true(says(err, "too few samples"));
	snprintf(file, sizeof(file),
		 "%s", series_record(&(struct series_run){ .name = "enough", .ticks = 1000,
									       .watt = 1 }));
	assert_int_equal(kjoule("report --convergence /nonexistent/x.svg %s", file), 1);
	assert_true(says(err, "cannot write '/nonexistent/x.csv': No such file or directory; name another file"));
	/* without energy there is still time */
	snprintf(file, sizeof(file), "%s",
		 series_record(&(struct series_run){
			 .name = "dark", .ticks = 1000, .watt = 1, .no_energy = true }));
	if (no_gnuplot())
		return;
	assert_int_equal(kjoule("report --convergence %s %s", temp_path("dark.svg"), file), 0);
}
