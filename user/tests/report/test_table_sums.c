// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report's table promises: its rows add up to the total to the last digit that is shown,
 * whatever is hidden; what is outside of the total has no share of it; the choice of columns; its
 * width.
 */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "output/output.h"
#include "tests/support/series.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define MS	1000000ull
#define OBJECTS	24
#define TICKS	12000u
#define SEED	5

/*
 * Three processes with OBJECTS objects each, of which each is half as long as the one before in
 * turns of some ticks, so that the last have few samples; the kernel between them. @system: the
 * machine, with a second CPU that is idle. Kjoule's recorder runs now and then.
 */
static void record_several(const char *name, bool system)
{
	static struct kjoule_meta meta;
	struct buffer b[2] = { { 0 } }, side = { 0 }, none = { 0 };
	uint64_t dice = SEED;
	uint32_t pid = 0, until = 0;
	unsigned int object = 0;
	double uj = 0;

	make_meta(&meta, 2, MS, system ? KJOULE_TARGET_SYSTEM : KJOULE_TARGET_PROCESS);
	for (uint32_t p = 1; p <= 3; p++) {
		char text[80];

		snprintf(text, sizeof(text), "worker%u", p);
		put_name_event(&side, 0, 100 * p, 100 * p, text, true);
		for (unsigned int i = 0; i < OBJECTS; i++) {
			snprintf(text, sizeof(text),
				 "/nonexistent/worker%u/lib_with_a_name_of_its_own_%02u.so", p, i);
			put_map(&side, 100 * p, 0, 0x40000000 + (i << 20), 1 << 20, 0, text);
		}
	}
	for (uint32_t k = 0; k < TICKS; k++) {
		if (k >= until) {
			until = k + 5 + rnd(&dice) % 30;
			object = 0;
			while (object < OBJECTS - 1 && rnd(&dice) % 2)
				object++;
			if (rnd(&dice) % 3 == 0 || !pid) {
				pid = 100 * (1 + rnd(&dice) % 3);
				put_task(&b[0], pid, pid);
			}
		}
		if (k % 10 == 0)
			put_energy(&b[0], k, 3, (uint64_t[]){ uj, uj / 3 });
		if (k % 1000 == 500)
			put_wakeup(1, 1000 * MS + k * MS, 1000 * MS + (k + 30) * MS);
		if (rnd(&dice) % 50)
			put_sample(&b[0], k, 0x40000000 + (object << 20) + 16, 0, 2000000, 100);
		else
			put_sample(&b[0], k, 0xffffffff81000000, KJOULE_SAMPLE_KERNEL, 2000000,
				   100);
		uj += 1000 * (1 + object % 5 + 0.3 * rnd_unit(&dice));
	}
	if (system)
		put_task(&b[1], 0, 0);
	for (uint32_t k = 0; k < TICKS && system; k++)
		put_sample(&b[1], k, 0xffffffff81200000, KJOULE_SAMPLE_IDLE | KJOULE_SAMPLE_KERNEL,
			   0, 100);
	put_regions(&none, &side);
	write_recording(temp_path(name), &meta, b, 2, "/nonexistent/program", TICKS);
}

static int record_all(void **state)
{
	(void)state;
	record_several("several", false);
	record_several("system", true);
	series_record(&(struct series_run){ .name = "one", .ticks = 10000, .watt = 1.3 });
	series_record(
		&(struct series_run){ .name = "mixed", .ticks = 10000, .turn = 2, .watt = 1 });
	series_record(&(struct series_run){
		.name = "dark", .ticks = 3000, .watt = 1, .no_source = true });
	series_record(&(struct series_run){
		.name = "paused", .ticks = 10000, .watt = 1, .paused = true });
	return 0;
}

/* @digits: after the point; -1: there is no figure */
struct figure {
	double v;
	int digits;
};

#define FIGURES	8

struct table_row {
	struct figure figures[FIGURES];
	char name[200];
};

/*
 * The figures at the beginning of a row, and the rest of it, which is a name. Return: false: it is
 * no row
 */
static bool row_read(const char *line, size_t n_figures, struct table_row *row)
{
	for (size_t i = 0; i < n_figures; i++) {
		size_t len;

		line += strspn(line, " ");
		len = strcspn(line, " \n");
		row->figures[i] = (struct figure){ 0, -1 };
		if (len == 1 && *line == '-') {
			line += len;
			continue;
		}
		if (!isdigit((unsigned char)*line))
			return false;
		row->figures[i].v = strtod(line, NULL);
		row->figures[i].digits =
			memchr(line, '.', len) ? line + len - 1 - strchr(line, '.') : 0;
		line += len;
	}
	line += strspn(line, " ");
	snprintf(row->name, sizeof(row->name), "%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

/*
 * table_adds_up() - are the total's figures at @at the sums of what is above them?
 * @n_figures:	of a row, before its name
 * Return: how many rows there are above the total
 */
static size_t table_adds_up(const char *what, size_t n_figures, const size_t *at, size_t n_at)
{
	double sums[FIGURES] = { 0 };
	size_t n = 0;

	for (const char *line = out; *line; line = strchr(line, '\n') + 1) {
		struct table_row row;

		if (row_read(line, n_figures, &row) && strcmp(row.name, "total")) {
			for (size_t i = 0; i < n_at; i++)
				sums[i] += row.figures[at[i]].v;
			n++;
		} else if (row_read(line, n_figures, &row)) {
			for (size_t i = 0; i < n_at; i++) {
				struct figure total = row.figures[at[i]];
				double rounded =
					(n + 1) * 0.5 * pow(10, -total.digits) * (1 + 1e-9);

				if (!(fabs(sums[i] - total.v) <= rounded))
					fail_msg("%s: rows add up to %.9g, the total is %.9g:\n%s",
						 what, sums[i], total.v, out);
			}
			return n;
		}
		if (!strchr(line, '\n'))
			break;
	}
	fail_msg("%s: no total:\n%s", what, out);
	return 0;
}

static const char *const recordings[] = { "one", "mixed", "several", "system", "paused" };

#define RECORDINGS	(sizeof(recordings) / sizeof(recordings[0]))

/* Of a recording with few edge windows the model has to be named. */
static const char *model_for(const char *name)
{
	return strcmp(name, "paused") ? "" : "--model cpm";
}

static int report(const char *options, const char *name)
{
	return kjoule("report %s %s %s", options, model_for(name), temp_path(name));
}

static struct json_object *json_of(const char *options, const char *name)
{
	return kjoule_json(0, "report --json %s %s %s", options, model_for(name),
			   temp_path(name));
}

TEST(rows_add_up_to_the_total)
{
	static const char *const options[] = {
		"",
		"-v",
		"-q",
		"--percent-limit 0",
		"--percent-limit 0 --min-samples 1",
		"--percent-limit 0 --min-samples 40",
		"--percent-limit 7.5",
		"--percent-limit 100",
		"--min-samples 1000000",
		"--by object",
		"--by process",
		"--by process --percent-limit 36",
		"--raw",
		"--raw --percent-limit 3",
		"--sort name",
		"--sort time --min-samples 100",
		"--model mixture",
		"--interval worst-case",
		"--by line",
		"--from 1s --to 2.5s",
	};
	/* energy, percent and time of: energy ± % power ± time ± MHz */
	static const size_t at[] = { 0, 2, 5 };

	for (size_t r = 0; r < RECORDINGS; r++) {
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
			char what[100];

			snprintf(what, sizeof(what), "%s %s", recordings[r], options[i]);
			if (strstr(options[i], "--model") && !strcmp(recordings[r], "paused"))
				continue;
			if (report(options[i], recordings[r]))
				fail_msg("%s: %s", what, err);
			table_adds_up(what, 8, at, 3);
		}
	}
}

/* The same of each domain, and of time where there is no energy. */
TEST(rows_of_each_domain_add_up)
{
	/* of: energy ± % of two domains, time ± */
	static const size_t at[] = { 0, 2, 3, 5, 6 }, time_at[] = { 0 };

	for (size_t r = 0; r < RECORDINGS; r++) {
		assert_int_equal(
			report("--domain all --fields energy,percent,time,function", recordings[r]),
			0);
		table_adds_up(recordings[r], 8, at, 5);
		assert_int_equal(report("--domain package,core --fields energy,percent,time,function --percent-limit 5",
					recordings[r]), 0);
		table_adds_up(recordings[r], 8, at, 5);
	}
	assert_int_equal(kjoule("report --fields time,function %s", temp_path("dark")), 0);
	table_adds_up("dark", 2, time_at, 1);
}

/* A program that reads the whole, and a table: the same rows, however many of them are one. */
TEST(hidden_rows_are_counted)
{
	static const char *const limits[] = { "", "--percent-limit 0 --min-samples 40",
					      "--percent-limit 7.5", "--percent-limit 100" };

	for (size_t r = 0; r < RECORDINGS; r++) {
		struct json_object *doc, *rows;
		size_t functions = 0;

		doc = json_of("--raw", recordings[r]);
		rows = member(doc, "rows");
		for (size_t i = 0; i < json_object_array_length(rows); i++) {
			struct json_object *row = json_object_array_get_idx(rows, i);
			const char *comm = text_of(row, "comm");

			functions += !strcmp(text_of(row, "kind"), "function") &&
				strcmp(comm, "[kjoule record]") && strcmp(comm, "[paused]");
		}
		for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
			const char *hidden;
			char options[100];
			size_t n, counted = 0;

			snprintf(options, sizeof(options),
				 "--raw --fields time,function %s", limits[i]);
			assert_int_equal(report(options, recordings[r]), 0);
			n = table_adds_up(limits[i], 2, (size_t[]){ 0 }, 1);
			hidden = strchr(out, '\n') ? strstr(strstr(out, "FUNCTION"), " (") : NULL;
			if (hidden) {
				counted = strtoul(hidden + 2, NULL, 10);
				assert_true(counted > 0);
				n--;
			}
			if (n + counted != functions)
				fail_msg("%s %s: %zu shown, %zu hidden, of %zu:\n%s", recordings[r],
					 limits[i], n, counted, functions, out);
		}
	}
	assert_int_equal(report("--fields time,function --min-samples 400", "several"), 0);
	assert_true(says(out, " more rows below 1 % or 400 samples)"));
	assert_int_equal(
		kjoule("report --fields time,function --min-samples 1 %s", temp_path("several")),
		0);
	assert_true(says(out, " more rows below 1 %)"));
	/* the total is the same, whatever is hidden; and of all that programs read */
	assert_int_equal(
		kjoule("report --percent-limit 0 --min-samples 1 %s", temp_path("several")), 0);
	assert_null(strstr(out, " more rows"));
	assert_null(strstr(out, " samples)"));
}

/* Below the total, with -v only, and without a share of it. */
TEST(what_is_outside_the_total_has_no_share)
{
	static const struct {
		const char *recording, *name;
	} outside[] = { { "several", "[kjoule record]" }, { "paused", "[paused]" } };

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		const char *total, *line;
		char shown[10];
		struct table_row row;
		struct json_object *doc, *found;

		/* which may be cut in a table */
		snprintf(shown, sizeof(shown), "%s", outside[i].name);
		assert_int_equal(report("", outside[i].recording), 0);
		assert_null(strstr(out, shown));
		assert_int_equal(report("-q --percent-limit 0", outside[i].recording), 0);
		assert_null(strstr(out, shown));
		assert_int_equal(report("-v", outside[i].recording), 0);
		total = strstr(out, " total\n");
		assert_non_null(total);
		line = strstr(total, shown);
		if (!line)
			fail_msg("%s is not below the total of:\n%s", outside[i].name, out);
		while (line[-1] != '\n')
			line--;
		assert_true(row_read(line, 8, &row));
		assert_true(row.figures[5].v > 0);
		assert_int_equal(row.figures[2].digits, -1);
		doc = json_of("", outside[i].recording);
		found = find_named(doc, outside[i].name);
		assert_non_null(found);
		assert_true(isnan(number(found, "energy_package_percent")));
		assert_true(near(number(find_row(doc, "total", NULL), "energy_package_percent"),
				 100, 1e-6));
	}
}

/* Widths depend on figures, and on titles: one space for many, none at the ends of lines. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++)
		if (*p != ' ' ||
		    (to != text && to[-1] != '\n' && p[1] != ' ' && p[1] != '\n' && p[1]))
			*to++ = *p;
	*to = '\0';
}

/* The first line of the table. */
static const char *titles_of(const char *args, const char *name)
{
	static char titles[400];

	assert_int_equal(kjoule("report -q %s %s", args, temp_path(name)), 0);
	snprintf(titles, sizeof(titles), "%.*s", (int)strcspn(out, "\n"), out);
	squeeze(titles);
	return titles;
}

TEST(fields_are_chosen_and_ordered)
{
	static const struct {
		const char *args, *titles;
	} choices[] = {
		{ "", "ENERGY J +- % POWER W +- TIME s +- MHz FUNCTION OBJECT" },
		{ "--fields function,time", "FUNCTION TIME s +-" },
		{ "--fields time,function", "TIME s +- FUNCTION" },
		{ "--fields energy", "ENERGY J +-" },
		{ "--fields +pid", "ENERGY J +- % POWER W +- TIME s +- MHz PID FUNCTION OBJECT" },
		{ "--fields +samples,mode",
		  "ENERGY J +- % POWER W +- TIME s +- MHz SAMPLES MODE FUNCTION OBJECT" },
		{ "--domain core", "core J +- % core W +- TIME s +- MHz FUNCTION OBJECT" },
		{ "--domain all --fields energy,function", "package J +- core J +- FUNCTION" },
		{ "--domain core,package --fields power,function",
		  "package W +- core W +- FUNCTION" },
		{ "--domain all --fields percent,time,energy",
		  "% % TIME s +- package J +- core J +-" },
	};

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		assert_string_equal(titles_of(choices[i].args, "one"), choices[i].titles);
	/* of several processes each row says of which it is */
	assert_string_equal(titles_of("", "several"),
			    "ENERGY J +- % POWER W +- TIME s +- MHz COMMAND FUNCTION OBJECT");
	assert_string_equal(titles_of("--by process", "several"),
			    "ENERGY J +- % POWER W +- TIME s +- MHz PROCESS");
}

/* Refused before anything is printed, with those that there are. */
TEST(wrong_choices_are_refused)
{
	static const struct {
		const char *args, *says;
		int code;
	} wrong[] = {
		{ "--fields colour",
		  "--fields: 'colour': no such field; there are energy, percent, power", 2 },
		{ "--fields time,time", "--fields: 'time': given twice", 2 },
		{ "--fields ''", "--fields", 2 },
		{ "--fields +", "--fields: '': no field", 2 },
		{ "--domain dram",
		  "--domain 'dram': there is no such domain; there are package, core", 1 },
		{ "--domain core,nothing",
		  "--domain 'nothing': there is no such domain; there are package, core", 1 },
		{ "--domain ''", "--domain", 2 },
		{ "--json --fields time", "--fields", 2 },
		{ "--csv --domain core", "--domain", 2 },
		{ "-q -v", "--quiet", 2 },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int code = kjoule("report %s %s", wrong[i].args, temp_path("one"));

		if (code != wrong[i].code || !strstr(err, wrong[i].says) || *out)
			fail_msg("report %s: exit code %d, %s%s", wrong[i].args, code, err, out);
	}
}

static size_t lines_with(const char *with)
{
	size_t n = 0;

	for (const char *line = out; (line = strstr(line, with)); line++)
		n += line == out || line[-1] == '\n';
	return n;
}

/* Three lines, all, none; and the titles can go as well. */
TEST(headers_are_as_long_as_asked_for)
{
	char with[8192];

	for (size_t r = 0; r < 2; r++) {
		assert_int_equal(kjoule("report %s", temp_path(recordings[r])), 0);
		assert_int_equal(lines_with("# "), 3);
		assert_true(says(out, "details: -v\n"));
		assert_int_equal(kjoule("report -v %s", temp_path(recordings[r])), 0);
		assert_true(lines_with("# ") > 6);
		assert_int_equal(kjoule("report -q %s", temp_path(recordings[r])), 0);
		assert_int_equal(lines_with("#"), 0);
		/* nothing below either */
		assert_non_null(strstr(out, " total\n"));
		assert_string_equal(strstr(out, " total\n"), " total\n");
		assert_true(says(out, "ENERGY J"));
		snprintf(with, sizeof(with), "%s", strchr(out, '\n') + 1);
		squeeze(with);
		assert_int_equal(kjoule("report -q --no-header %s", temp_path(recordings[r])), 0);
		assert_null(strstr(out, "ENERGY J"));
		assert_non_null(strstr(out, " total\n"));
		squeeze(out);
		assert_string_equal(out, with);
	}
}

static int columns_of(const char *line, size_t len)
{
	int n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)line[i] & 0xc0) != 0x80;
	return n;
}

/* In a pipe no line of a table is wider than 100 columns, and what gives way are names. */
TEST(tables_have_a_hundred_columns_in_a_pipe)
{
	static const char *const options[] = { "-q", "", "-q --by object", "-q --percent-limit 0" };

	for (size_t r = 0; r < RECORDINGS; r++) {
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
			assert_int_equal(kjoule("report %s %s %s | cat", options[i],
						r == RECORDINGS - 1 ? "--model cpm" : "",
						temp_path(recordings[r])),
					 0);
			for (const char *line = out; *line; line = strchr(line, '\n') + 1)
				if (columns_of(line, strcspn(line, "\n")) > 100 &&
				    strncmp(line, "- : ", 4))
					fail_msg("report %s: %.*s", options[i],
						 (int)strcspn(line, "\n"), line);
		}
	}
	assert_int_equal(kjoule("report -q --by object %s | cat", temp_path("several")), 0);
	assert_true(says(out, "..."));
	/* programs get all of them */
	assert_int_equal(kjoule("report --csv --by object %s", temp_path("several")), 0);
	assert_true(says(out, "/nonexistent/worker2/lib_with_a_name_of_its_own_00.so"));
}

/* Only a locale of UTF-8 has the sign, and numbers have a point in each. */
TEST(the_sign_of_intervals_fits_the_locale)
{
	static const char *const utf8[] = { "C.UTF-8", "C.utf8", "en_US.UTF-8" };

	setenv("LC_ALL", "C", 1);
	assert_int_equal(kjoule("report %s", temp_path("one")), 0);
	assert_null(strstr(out, "\xc2\xb1"));
	assert_true(says(out, "+- is half a 95 % interval"));
	for (const char *p = out; *p; p++)
		assert_true((unsigned char)*p < 0x80);
	for (size_t i = 0; i < sizeof(utf8) / sizeof(utf8[0]); i++) {
		if (!setlocale(LC_CTYPE, utf8[i]))
			continue;
		setenv("LC_ALL", utf8[i], 1);
		assert_int_equal(kjoule("report %s", temp_path("one")), 0);
		assert_true(says(out, "\xc2\xb1 is half a 95 % interval"));
		assert_null(strstr(out, "+-"));
	}
	setlocale(LC_CTYPE, "C");
	setenv("LC_ALL", "C", 1);
}

/*
 * "format" is that of this output, and each row has its domains by name, in the order of the
 * recording.
 */
TEST(json_has_a_format_and_domains)
{
	static const char *const keys[] = { "name",	   "energy_j",	     "energy_lo_j",
					    "energy_hi_j", "energy_percent", "power_w",
					    "power_lo_w",  "power_hi_w" };
	static const char *const names[] = { "package", "core" };
	struct json_object *doc, *rows, *list;

	for (size_t r = 0; r < RECORDINGS; r++) {
		doc = json_of("", recordings[r]);
		assert_int_equal(json_object_get_int(member(doc, "format")), OUTPUT_JSON_FORMAT);
		rows = member(doc, "rows");
		assert_true(json_object_array_length(rows) > 2);
		for (size_t i = 0; i < json_object_array_length(rows); i++) {
			struct json_object *row = json_object_array_get_idx(rows, i);

			list = member(row, "domains");
			assert_int_equal(json_object_array_length(list), 2);
			for (size_t d = 0; d < 2; d++) {
				struct json_object *domain = json_object_array_get_idx(list, d);

				assert_string_equal(text_of(domain, "name"), names[d]);
				for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
					assert_true(
						json_object_object_get_ex(domain, keys[k], NULL));
			}
			assert_false(json_object_object_get_ex(row, "energy_package_j", NULL));
		}
	}
	/* without a source there is no domain, and no invented one */
	doc = kjoule_json(0, "report --json %s", temp_path("dark"));
	assert_int_equal(json_object_get_int(member(doc, "format")), OUTPUT_JSON_FORMAT);
	list = member(json_object_array_get_idx(member(doc, "rows"), 0), "domains");
	assert_true(!list || !json_object_array_length(list));
}

int main(void)
{
	setenv("LC_ALL", "C", 1);
	return tests_run(record_all, NULL);
}
