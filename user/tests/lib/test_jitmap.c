// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of code made at run time: perf's map files, as they are written, kept in a recording and
 * found again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "lib/code/jitmap.h"
#include "lib/file/datafile.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static const char text[] =
	"1000 100 LazyCompile:*hot app.js:12\n"
	"no line\n"
	"2000 0 empty\n"
	"ffffffffffffffff 10 around\n"
	"3000 zz what\n"
	"1000 100 hot, again\n"
	"4000 1000 large\n"
	"4100 10 small\n"
	"5000 10 last one without an end";

static const char *at(const struct kjoule_jitmaps *maps, uint32_t pid, uint64_t ip)
{
	const struct kjoule_jit_symbol *s = kjoule_jitmaps_find(maps, pid, ip);

	return s ? s->name : "";
}

static void check(const struct kjoule_jitmaps *maps)
{
	assert_string_equal(at(maps, 7, 0x1000), "hot, again");
	assert_string_equal(at(maps, 7, 0x10ff), "hot, again");
	assert_string_equal(at(maps, 7, 0x1100), "");
	assert_string_equal(at(maps, 7, 0xfff), "");
	assert_string_equal(at(maps, 7, 0x2000), "");
	assert_string_equal(at(maps, 7, 0x40ff), "large");
	assert_string_equal(at(maps, 7, 0x4100), "small");
	assert_string_equal(at(maps, 7, 0x4200), "large");
	assert_string_equal(at(maps, 7, 0x500f), "last one without an end");
	assert_string_equal(at(maps, 7, UINT64_MAX), "");
	assert_string_equal(at(maps, 8, 0x1000), "");
}

TEST(the_last_definition_counts)
{
	struct kjoule_jitmaps *maps = kjoule_jitmaps_new(), *again = kjoule_jitmaps_new();
	char *encoded;

	assert_int_equal(kjoule_jitmaps_add(maps, 7, text, strlen(text)), 0);
	check(maps);
	assert_int_equal(kjoule_jitmaps_add(maps, 7, "1000 100 other\n", 15), 0);
	check(maps);
	encoded = kjoule_jitmaps_encode(maps, 7);
	assert_int_equal(kjoule_jitmaps_decode(encoded, strlen(encoded), again), 0);
	check(again);
	free(encoded);
	encoded = kjoule_jitmaps_encode(maps, 8);
	assert_string_equal(encoded, "");
	free(encoded);
	kjoule_jitmaps_free(again);
	kjoule_jitmaps_free(maps);
}

TEST(what_is_no_map_is_refused)
{
	static const char *const wrong[] = { "", "process", "process \n", "process 7",
					     "process x\n1 1 a\n", "process 12345678901234567\n",
					     "1000 10 a\n" };
	struct kjoule_jitmaps *maps = kjoule_jitmaps_new();

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(kjoule_jitmaps_decode(wrong[i], strlen(wrong[i]), maps), -EBADMSG);
	assert_int_equal(kjoule_jitmaps_read(maps, 2147483000, NULL), -ENOENT);
	kjoule_jitmaps_free(maps);
}

TEST(a_process_s_own_file_is_read)
{
	struct kjoule_jitmaps *maps = kjoule_jitmaps_new();
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	assert_int_equal(kjoule_jitmaps_read(maps, getpid(), NULL), -ENOENT);
	/* a link may lead anywhere */
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(kjoule_jitmaps_read(maps, getpid(), NULL), -ELOOP);
	unlink(path);
	if (!getuid()) {	/* another user's, who may not name our code */
		write_file(path, "1000 10 not mine\n", 17);
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(kjoule_jitmaps_read(maps, getpid(), NULL), -EPERM);
		unlink(path);
	}
	write_file(path, "1000 10 mine\n", 13);
	assert_int_equal(kjoule_jitmaps_read(maps, getpid(), NULL), 0);
	unlink(path);
	assert_string_equal(at(maps, getpid(), 0x1004), "mine");
	kjoule_jitmaps_free(maps);
}

/* The owner of an ended process must be known from when it was seen. */
TEST(a_file_of_a_process_that_is_gone_is_its_owner_s)
{
	struct kjoule_jitmaps *maps = kjoule_jitmaps_new();
	const uid_t nobody = 65534, another = 65533;
	uint32_t pid = 2147483000;	/* more than there can be */
	uid_t owner = 1;
	char path[64];

	assert_int_equal(kjoule_jitmaps_owner(getpid(), &owner), 0);
	assert_int_equal(owner, geteuid());
	assert_int_equal(kjoule_jitmaps_owner(pid, &owner), -ENOENT);
	if (getuid()) {
		kjoule_jitmaps_free(maps);
		skip();
	}
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	write_file(path, "1000 10 theirs\n", 15);
	assert_int_equal(chown(path, nobody, nobody), 0);
	assert_int_equal(kjoule_jitmaps_read(maps, pid, NULL), -ESRCH);
	assert_int_equal(kjoule_jitmaps_read(maps, pid, &another), -EPERM);
	assert_int_equal(kjoule_jitmaps_read(maps, pid, &nobody), 0);
	unlink(path);
	assert_string_equal(at(maps, pid, 0x1004), "theirs");
	kjoule_jitmaps_free(maps);
}

/* 1 s of code in memory that is no file: half of it has a name. */
TEST(a_report_names_it)
{
	static const char map[] = "process 100\n10001000 800 app.js:hot\n";
	struct kjoule_writer *w;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	struct json_object *doc;
	struct kjoule_reader *r;
	struct kjoule_chunk c;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 1000; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, 0x10001000 + (k / 100 % 2) * 0x1000, 0, 1000000, 100);
		uj[0] += 1000;
		uj[1] += 500;
	}
	write_recording(temp_path("without"), &meta, &b, 1, "//anon", 1000);
	assert_int_equal(kjoule_reader_open(temp_path("without"), &r, NULL), 0);
	assert_int_equal(kjoule_writer_open(temp_path("with"), &w, NULL), 0);
	while (kjoule_reader_next(r, &c) > 0) {
		if (c.type == KJOULE_CHUNK_END)
			assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_JITMAP, 0, map,
							     strlen(map), NULL), 0);
		assert_int_equal(kjoule_writer_chunk(w, c.type, c.cpu, c.data, c.len, NULL), 0);
	}
	kjoule_reader_close(r);
	assert_int_equal(kjoule_writer_close(w, NULL), 0);
	doc = kjoule_json(0, "report --json %s", temp_path("with"));
	assert_non_null(find_named(doc, "app.js:hot"));
	assert_int_equal(number(find_named(doc, "app.js:hot"), "samples"), 500);
	assert_int_equal(number(find_named(doc, "[unknown]"), "samples"), 500);
}
