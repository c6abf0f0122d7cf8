// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nothing that a stranger named reaches the terminal raw: the cleaner itself, what prints through
 * it, and all verbs on recordings in which every name has bytes that steer a terminal.
 */
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <json-c/json.h>
#include "cli/cmd.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/file/datafile.h"
#include "lib/region/mark_ring.h"
#include "output/output.h"
#include "output/plot.h"
#include "tests/support/looped.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

/*
 * The cleaner
 */

static const struct {
	const char *raw, *clean;
} texts[] = {
	{ "", "" },
	{ "plain ~ text", "plain ~ text" },
	{ "\xc2\xb5J \xc2\xa0 \xe2\x82\xac \xf0\x9f\x94\x8b",
	  "\xc2\xb5J \xc2\xa0 \xe2\x82\xac \xf0\x9f\x94\x8b" },
	/* C0, DEL */
	{ "a\x01\t\n\r\033[31mb\x1f\x7f", "a?????[31mb??" },
	/* C1, as a character and as a byte */
	{ "\xc2\x80\xc2\x9b\xc2\x9f", "??????" },
	{ "a\x9b""31mb\x80\x9d", "a?31mb??" },
	/* what reorders a line or ends one */
	{ "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf",
	  "\xe2\x80\xa7????????????\xe2\x80\xaf" },
	{ "\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\xe2\x81\xa5??????\xe2\x81\xaa" },
	/* no UTF-8: alone, cut short, overlong, surrogates, beyond the last, too long */
	{ "\xff\xfe\xc0\xc1", "????" },
	{ "a\xe2\x82", "a??" },
	{ "\xe2\x82z\xf0\x9f\x94", "??z???" },
	{ "\xc0\x9b\xc1\xbf\xe0\x80\x9b\xe0\x9f\xbf\xf0\x80\x80\x9b\xf0\x8f\xbf\xbf",
	  "??????????????????" },
	{ "\xed\xa0\x80\xed\xbf\xbf\xed\x9f\xbf\xee\x80\x80", "??????\xed\x9f\xbf\xee\x80\x80" },
	{ "\xf4\x8f\xbf\xbf\xf4\x90\x80\x80\xf5\x80\x80\x80\xf8\x88\x80\x80\x80",
	  "\xf4\x8f\xbf\xbf?????????????" },
	/* XML has none of these */
	{ "\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf", "\xef\xbf\xbd??????" },
};

TEST(each_class_is_cleaned)
{
	char copy[80];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		strcpy(copy, texts[i].raw);
		kjoule_text_clean(copy);
		assert_string_equal(copy, texts[i].clean);
		/* once is enough */
		assert_int_equal(kjoule_text_safe_len(copy), strlen(copy));
	}
}

/* What is left is UTF-8, by another reader, and no control character. */
static void look_at(const char *what, const char *text, size_t len, const char *keep)
{
	uint32_t *codes = malloc(4 * len + 4);
	char *to = (char *)codes, *from = (char *)text;
	size_t left = len, room = 4 * len;
	iconv_t cd = iconv_open("UTF-32LE", "UTF-8");

	assert_true(cd != (iconv_t)-1 && codes);
	if (iconv(cd, &from, &left, &to, &room) == (size_t)-1)
		fail_msg("%s: no UTF-8: ...%.80s", what, from > text + 40 ? from - 40 : text);
	iconv_close(cd);
	for (uint32_t *c = codes; (char *)c < to; c++)
		if ((*c < 0x20 && !(*c && strchr(keep, *c))) || (*c >= 0x7f && *c < 0xa0) ||
		    (*c >= 0x2028 && *c <= 0x202e) || (*c >= 0x2066 && *c <= 0x2069) ||
		    *c == 0x61c || *c == 0x200e || *c == 0x200f)
			fail_msg("%s: U+%04X at character %zu of: %.200s", what, *c,
				 (size_t)(c - codes), text);
	free(codes);
}

TEST(all_that_two_bytes_can_be_is_cleaned)
{
	for (unsigned int i = 0; i < 0x10000; i++) {
		char copy[] = "aa..";

		if (i >> 8)
			copy[0] = i >> 8;
		if (i & 0xff)
			copy[1] = i & 0xff;
		kjoule_text_clean(copy);
		look_at("two bytes", copy, strlen(copy), "");
	}
}

TEST(what_is_read_is_clean)
{
	struct json_object *o = json_object_new_object();
	char text[24];

	json_object_object_add(
		o, "a", json_object_new_string("x\033\xc2\x9b\x9b\xff\xe2\x80\xae\xe2\x80\x8f"));
	kjoule_json_get_str(o, "a", text, sizeof(text));
	assert_string_equal(text, "x???????????");
	/* and is not cut within a character */
	json_object_object_add(o, "a", json_object_new_string("12345\xe2\x82\xac"));
	kjoule_json_get_str(o, "a", text, 8);
	assert_string_equal(text, "12345??");
	json_object_put(o);
}

/*
 * What prints
 */

static char *text;
static size_t text_len;
static FILE *file;

static FILE *begin(void)
{
	free(text);
	text = NULL;
	file = open_memstream(&text, &text_len);
	return file;
}

static const char *printed(void)
{
	fclose(file);
	return text;
}

TEST(lines_keep_their_own_line_feeds)
{
	output_printf(begin(), "\n%s: %d %%\n", "a\033\x9b\xc2\x9b", 5);
	assert_string_equal(printed(), "\na????: 5 %\n");
	output_printf(begin(), "\nfirst \xc2\xb1\nsecond %s\n\n", "x");
	assert_string_equal(printed(), "\nfirst \xc2\xb1\nsecond x\n\n");
	/* a name that would begin a line */
	output_printf(begin(), "# host %s\n", "h\n# forged\n");
	assert_string_equal(printed(), "# host h?# forged?\n");
	output_printf(begin(), "%s", "\nall of it\n");
	assert_string_equal(printed(), "?all of it?");
	output_printf(begin(), "\n");
	assert_string_equal(printed(), "\n");
	output_printf(begin(), "%.3s|%3s|", "ab\xc2\xb5", "");
	assert_string_equal(printed(), "ab?|   |");
	output_text(begin(), "a\tb\n\033");
	assert_string_equal(printed(), "a?b??");
}

static const char evil_title[] = "T\033\xc2\x9b\n", evil_name[] = "=n\033\xc2\x9b\x9b";

static void render(enum output_format format)
{
	const struct output_column columns[] = {
		{ evil_name, evil_title, true }, { "b", "B", false },
	};
	struct output *o = output_open(begin(), format, columns, 2);

	output_str(o, "=1+\"\033\x9b\xc2\x9b\xe2\x80\xae");
	output_i64(o, -5);
	output_row(o);
	output_str(o, "x\ty\nz\rw");
	output_real(o, -1.5, 1);
	output_row(o);
	output_str(o, "plain");
	output_none(o, "why\033\n");
	output_row(o);
	output_close(o, NULL, NULL);
	printed();
}

TEST(tables_are_clean)
{
	render(OUTPUT_TABLE);
	assert_string_equal(text, "T????           B\n"
			    "=1+\"???????    -5\n"
			    "x?y?z?w      -1.5\n"
			    "plain           -\n"
			    "\n- : why??\n");
}

TEST(csv_is_clean_and_no_formula)
{
	static const struct {
		const char *raw, *cell;
	} cells[] = {
		{ "=1+2", "\"'=1+2\"" }, { "+1", "\"'+1\"" },
		{ "-1", "\"'-1\"" }, { "@a", "\"'@a\"" },
		{ "=\"a\"", "\"'=\"\"a\"\"\"" }, { "\t=1", "\"'\t=1\"" }, { "\r=1", "\"'?=1\"" },
		{ "a=1", "a=1" }, { " =1", "\" =1\"" }, { "'=1", "\"''=1\"" },
		{ "", "" }, { "a,b", "\"a,b\"" },
		{ "a\x9b\xc2\x9b\033", "a????" }, { "\xc2\xb5", "\xc2\xb5" },
	};

	render(OUTPUT_CSV);
	assert_string_equal(text, "\"'=n????\",b\r\n"
			    "\"'=1+\"\"???????\",-5\r\n"
			    "\"x\ty\nz?w\",-1.5\r\n"
			    "plain,\r\n");
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		output_csv_cell(begin(), cells[i].raw);
		assert_string_equal(printed(), cells[i].cell);
	}
}

TEST(json_is_clean_and_says_the_same)
{
	struct json_object *doc, *row;

	for (int lines = 0; lines < 2; lines++) {
		render(lines ? OUTPUT_JSON_LINES : OUTPUT_JSON);
		look_at("JSON", text, text_len, "\n");
		assert_non_null(strstr(text, "\\u009b"));
		assert_non_null(strstr(text, "\\u202e"));
		doc = json_tokener_parse(text);
		row = lines ? doc : json_object_array_get_idx(doc, 0);
		/* a byte that is no UTF-8 has no place in JSON; all others have */
		assert_string_equal(text_of(row, "=n\033\xc2\x9b?"),
				    "=1+\"\033?\xc2\x9b\xe2\x80\xae");
		json_object_put(doc);
	}
}

TEST(messages_are_clean)
{
	char *heard;

	stderr_capture();
	cmd_warn("%s: bad\n", "a\033\xc2\x9b\x9b\xff");
	cmd_failed("%s", "b\x7f\n");
	cmd_usage("report", "--by %s", "c\033\xc2\x9b\n");
	heard = stderr_release();
	assert_string_equal(heard, "kjoule: a?????: bad?\nkjoule: b??\n"
			    "kjoule report: --by c????; see `kjoule report --help`\n");
}

TEST(titles_of_pictures_are_clean)
{
	plot_string(begin(), "it's \xc2\x9b\033\xff\xef\xbf\xbf \xc2\xb5");
	assert_string_equal(printed(), "'it''s ??????? \xc2\xb5'");
}

/*
 * All verbs
 */

/* Each class, and a formula; short enough for a thread's name. */
#define EVIL	"=1+\033[7m\x9b\xc2\x9b\xff\x7f\n"
#define LONG	EVIL "\xe2\x80\xae\xe2\x81\xa6\t\r\xed\xa0\x80"

/* In a copy of this program its name and that of its source file are others. */
#define EVIL_FUNCTION	"_a\033[7m\x9b\xc2\x9b\xff\x7f_made_evil"
#define EVIL_SOURCE	"test_\033[7m\x9b\xff\xc2\x9b.c"

int a_function_that_is_made_evil(volatile int *p, int n);

__attribute__((noinline)) int a_function_that_is_made_evil(volatile int *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i & 3] += i ^ n;
	return p[0] * 3;
}

static void replace_all(uint8_t *data, size_t len, const char *from, const char *to)
{
	size_t n = strlen(from);
	uint8_t *at = data;

	assert_int_equal(n, strlen(to));
	while ((at = memmem(at, data + len - at, from, n)))
		memcpy(at, to, n);
}

static const char *path_of(const char *name)
{
	static char paths[4][300];
	static unsigned int i;

	i = (i + 1) % 4;
	return strcpy(paths[i], temp_path(name));
}

static void write_program(const char *path)
{
	size_t len;
	uint8_t *data = read_file(looped_path(), &len);

	replace_all(data, len, "a_function_that_is_made_evil", "a_funct" EVIL_FUNCTION);
	replace_all(data, len, "test_terminal.c", EVIL_SOURCE);
	write_file(path, data, len);
	free(data);
}

/* A copy of a recording that has names of the kernel's code and of code made at run time too. */
static void add_names(const char *from, const char *to)
{
	static const char kernel[] = "ffffffff81000000 t ke" "\033\x9b\xc2\x9b\xff" "rnel\t"
				     "[mo" "\033\x9b\xc2\x9b\xff" "dule]\n"
				     "ffffffff82000000 t end\n";
	static const char jit[] = "process 100\n60000000 1000 =j\033\x9b\xc2\x9b\xff" "it\n";
	struct kjoule_reader *r;
	struct kjoule_writer *w;
	struct kjoule_chunk c;

	assert_int_equal(kjoule_reader_open(from, &r, NULL), 0);
	assert_int_equal(kjoule_writer_open(to, &w, NULL), 0);
	while (kjoule_reader_next(r, &c) > 0) {
		if (c.type == KJOULE_CHUNK_END) {
			assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_KALLSYMS, 0, kernel,
							     sizeof(kernel) - 1, NULL), 0);
			assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_JITMAP, 0, jit,
							     sizeof(jit) - 1, NULL), 0);
		}
		assert_int_equal(kjoule_writer_chunk(w, c.type, c.cpu, c.data, c.len, NULL), 0);
	}
	kjoule_reader_close(r);
	assert_int_equal(kjoule_writer_close(w, NULL), 0);
}

static void put_names(struct kjoule_meta *meta)
{
	static char *argv[] = { (char *)LONG, (char *)"-x" LONG, (char *)"'" LONG };
	struct kjoule_source_info *src;

	meta->argc = meta->argc ? 3 : 0;
	meta->argv = argv;
	strcpy(meta->host, LONG);
	strcpy(meta->kernel, LONG);
	strcpy(meta->session.sources[0].name, "s" LONG);
	strcpy(meta->session.sources[0].domains[0].name, "p" LONG);
	strcpy(meta->session.sources[0].domains[1].name, "c" LONG);
	strcpy(meta->session.sources[1].name, "f" LONG);
	src = add_source(meta, "b" LONG, KJOULE_KIND_ENERGY, 0, "d" LONG);
	strcpy(src->inside, LONG);
	strcpy(src->same_as, LONG);
}

/* By turns: our program, the kernel, code made at run time, a library that is not there. */
static const char *write_evil(const char *name, uint32_t target, uint64_t seed)
{
	struct buffer b = { 0 }, more = { 0 }, units = { 0 }, batches = { 0 };
	const char *program = path_of("pro" LONG), *plain = path_of("plain");
	uint64_t uj[2] = { 0, 0 }, offset;
	struct kjoule_meta meta;

	write_program(program);
	offset = looped_function("a_function_that_is_made_evil").offset;
	make_meta(&meta, 1, 1000000, target);
	put_names(&meta);
	meta.session.seed = seed;
	meta.session.t0_ns += seed;
	if (target == KJOULE_TARGET_CGROUP)
		strcpy(meta.cgroup, LONG);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 6000; k++) {
		unsigned int which = k / 50 % 4;
		const uint64_t at[] = { 0x10000000 + offset, 0xffffffff81000010, 0x60000010,
					0x70000010 };
		uint64_t callers[] = { at[(which + 2) % 4], at[(which + 3) % 4] };

		if (k % 10 == 0) {
			put_energy(&b, k, 3, uj);
			put_energy_of(&b, 1, 0, k, 0, 1, uj);
		}
		put_sample(&b, k, at[which],
			   which == 1 ? KJOULE_SAMPLE_KERNEL : KJOULE_SAMPLE_PRECISE, 1000000, 100);
		if (k % 3 == 0)
			put_chain(&b, 0, 0, 2, callers);
		uj[0] += 1000 * (which + 1) + rnd(&seed) % 100;
		uj[1] += 500 * (which + 1) + rnd(&seed) % 100;
	}
	put_name_event(&more, meta.session.t0_ns - 1, 100, 100, EVIL, true);
	put_map(&more, 100, meta.session.t0_ns - 1, 0x10000000, 0x10000000, 0, program);
	put_map(&more, 100, meta.session.t0_ns - 1, 0x60000000, 0x1000, 0, "//anon");
	put_map(&more, 100, meta.session.t0_ns - 1, 0x70000000, 0x1000, 0, "/lib" LONG);
	put_region_start(&units, meta.session.t0_ns - 1000, 100, 100);
	put_region_define(&units, 1, 0, "=r" EVIL);
	put_region_define(&units, 2, 1, LONG);
	put_region_mark(&units, KJOULE_REGION_BEGIN, meta.session.t0_ns + 500000, 1);
	put_region_mark(&units, KJOULE_REGION_BEGIN, meta.session.t0_ns + 600000, 2);
	put_region_mark(&units, KJOULE_REGION_END, meta.session.t0_ns + 600001, 1);
	put_region_batch(&batches, 0, 0, &units, 0);
	put_regions(&batches, &more);
	write_recording(plain, &meta, &b, 1, program, 6000);
	add_names(plain, path_of(name));
	free(units.data);
	return path_of(name);
}

static void write_sweep(void)
{
	char path[300], *manifest;
	struct json_object *o;

	mkdir(temp_path("sweep"), 0755);
	write_evil("sweep/f100000.1.data", KJOULE_TARGET_PROCESS, 11);
	write_evil("sweep/f50000.1.data", KJOULE_TARGET_PROCESS, 12);
	o = json_tokener_parse("{ \"kjoule_sweep\": 1, \"runs\": 1, \"finished\": true,"
		"\"latency_ns\": 1000, \"settings\": [ { \"freq_khz\": 50000, \"runs\": ["
		"{ \"file\": \"f50000.1.data\", \"status\": \"good\" } ] },"
		"{ \"freq_khz\": 75000, \"runs\": [] }, { \"freq_khz\": 100000, \"runs\": ["
		"{ \"file\": \"f100000.1.data\", \"status\": \"good\" } ] } ] }");
	json_object_object_add(o, "host", json_object_new_string(LONG));
	json_object_object_add(o, "kernel", json_object_new_string(LONG));
	json_object_object_add(o, "driver", json_object_new_string(EVIL));
	json_object_object_add(o, "command", json_object_new_array());
	json_object_array_add(member(o, "command"), json_object_new_string("./" LONG));
	json_object_object_add(json_object_array_get_idx(member(o, "settings"), 1), "refused",
			       json_object_new_string(LONG));
	snprintf(path, sizeof(path), "%s", temp_path("sweep/sweep.json"));
	manifest = strdup(json_object_to_json_string(o));
	write_file(path, manifest, strlen(manifest));
	free(manifest);
	json_object_put(o);
}

static char one[300], two[300], cgroup[300];

static int setup(void **state)
{
	looped_setup(state);
	strcpy(one, write_evil("one" EVIL, KJOULE_TARGET_PROCESS, 1));
	strcpy(two, write_evil("two" EVIL, KJOULE_TARGET_PROCESS, 2));
	strcpy(cgroup, write_evil("cgroup", KJOULE_TARGET_CGROUP, 3));
	write_sweep();
	return 0;
}

/* The tool's answers to one command line: @keep are control characters that the format has. */
__attribute__((format(printf, 3, 4)))
static void ask(int code, const char *keep, const char *fmt, ...)
{
	char args[1024], what[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	strcpy(what, args);
	kjoule_text_clean(what);
	if (kjoule("%s", args) != code)
		fail_msg("%s: exit code is not %d: %s", what, code, err);
	look_at(what, out, strlen(out), keep);
	look_at(what, err, strlen(err), "\n");
	/* it did say something */
	assert_true(out[0] || err[0]);
}

static const char *const views[] = {
	"report", "report --raw", "report --by process", "report --by region",
	"report --by block", "report --by line", "report --vectors", "report --children",
	"report --interval worst-case", "report --model mixture", "report --power-budget 2W",
	"annotate", "annotate --by line", "script",
};

TEST(every_view_is_clean)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		ask(0, "\n", "%s '%s'", views[i], one);
		ask(0, "\n", "%s --json '%s'", views[i], one);
		ask(0, "\r\t\n", "%s --csv '%s'", views[i], one);
		/* no cell is a formula; figures below 0 are none */
		assert_null(strstr(out, ",="));
		assert_null(strstr(out, ",\"="));
		assert_null(strstr(out, "\n="));
		assert_null(strstr(out, "\n\"="));
	}
	ask(0, "\n", "report --folded '%s'", one);
	ask(0, "\n", "report '%s'", cgroup);
	ask(0, "\n", "report --json '%s'", cgroup);
	ask(0, "\n", "report '%s' '%s'", one, two);
	ask(0, "\r\t\n", "report --csv '%s' '%s'", one, two);
	ask(0, "\n", "report --json '%s' '%s'", one, two);
	ask(0, "\n", "diff '%s' '%s'", one, two);
	ask(0, "\r\t\n", "diff --csv '%s' '%s'", one, two);
	ask(0, "\n", "diff --json '%s' '%s'", one, two);
	ask(1, "\n", "sweep --from %s", temp_path("sweep"));
	ask(1, "\r\t\n", "sweep --csv --from %s", temp_path("sweep"));
	ask(1, "\n", "sweep --json --from %s", temp_path("sweep"));
}

TEST(names_are_there)
{
	struct json_object *doc, *row;

	ask(0, "\r\t\n", "report --csv '%s'", one);
	assert_non_null(strstr(out, "\"'=1+?[7m????"));
	ask(0, "\n", "report --json '%s'", one);
	doc = json_tokener_parse(out);
	assert_non_null(doc);
	/* all but bytes that are no UTF-8 is as it was */
	row = find_named(doc, "a_funct_a\033[7m?\xc2\x9b?\x7f_made_evil");
	assert_non_null(row);
	assert_string_equal(text_of(row, "comm"), "=1+\033[7m?\xc2\x9b?\x7f\n");
	assert_non_null(find_named(doc, "=j\033?\xc2\x9b?it"));
	json_object_put(doc);
	ask(0, "\n", "annotate '%s'", one);
	assert_non_null(strstr(out, "a_funct_a?[7m?????_made_evil"));
	ask(0, "\n", "report --folded '%s'", one);
	assert_non_null(strstr(out, "=1+?[7m"));
	ask(0, "\n", "script '%s'", one);
	assert_non_null(strstr(out, " =1+?[7m"));
}

TEST(messages_of_verbs_are_clean)
{
	static const char *const verbs[] = {
		"report", "annotate", "script", "diff one", "sweep --from one", "list", "record",
		"boost", "latency",
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		ask(2, "\n", "%s --by'%s'", verbs[i], LONG);
	for (size_t i = 0; i < 4; i++)
		ask(1, "\n", "%s '/nonexistent/%s'", verbs[i], LONG);
	ask(1, "\n", "sweep --from '/nonexistent/%s'", LONG);
	ask(2, "\n", "'%s'", LONG);
	ask(2, "\n", "'-%s'", LONG);
	ask(2, "\n", "help '%s'", LONG);
	ask(2, "\n", "report --by '%s' '%s'", LONG, one);
	ask(1, "\n", "report --source '%s' '%s'", LONG, one);
	ask(1, "\n", "report --region '%s' '%s'", LONG, one);
	ask(2, "\n", "annotate '%s' '%s'", one, LONG);
	write_file(path_of("no" EVIL), "\033\x9b\xc2\x9b", 4);
	ask(1, "\n", "report '%s'", path_of("no" EVIL));
}

TEST(pictures_are_clean)
{
	char picture[300];
	char *svg;
	size_t len;

	if (system("gnuplot --version >/dev/null 2>&1")) {
		print_message("# SKIP there is no gnuplot\n");
		return;
	}
	snprintf(picture, sizeof(picture), "%s", path_of("a.svg"));
	ask(0, "\n", "report --convergence %s '%s'", picture, one);
	svg = (char *)read_file(picture, &len);
	look_at("convergence", svg, len, "\t\n");
	free(svg);
	ask(1, "\n", "sweep --map %s --from %s", picture, path_of("sweep"));
	svg = (char *)read_file(picture, &len);
	look_at("map", svg, len, "\t\n");
	free(svg);
}

int main(void)
{
	return tests_run(setup, NULL);
}
