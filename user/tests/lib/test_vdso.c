// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples in the vDSO have names, by the copy of it in the recording. */
#include <string.h>
#include <unistd.h>
#include <gelf.h>
#include <json-c/json.h>
#include "lib/code/vdso.h"
#include "lib/sideband/sideband.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define BASE	0x7ffd12340000ull

/* Where the image has a function that all of them have. */
static uint64_t clock_gettime_at(const void *image, size_t len)
{
	Elf *elf;
	Elf_Scn *scn = NULL;
	uint64_t at = 0;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image, len);
	assert_non_null(elf);
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Shdr sh;
		GElf_Sym sym;

		assert_non_null(gelf_getshdr(scn, &sh));
		for (size_t i = 0; sh.sh_type == SHT_DYNSYM && i < sh.sh_size / sh.sh_entsize; i++)
			if (gelf_getsym(data, i, &sym) &&
			    !strcmp(elf_strptr(elf, sh.sh_link, sym.st_name), "__vdso_clock_gettime"))
				at = sym.st_value;
	}
	elf_end(elf);
	return at;
}

static const char *record(const char *name, const void *image, size_t len, uint64_t base,
			  uint64_t at)
{
	struct buffer b = { 0 }, side = { 0 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 1000; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, k % 100 < 50 ? base + at + k % 4 : 0x10001000,
			   KJOULE_SAMPLE_PRECISE, 1000000, 100);
		uj[0] += 1000;
		uj[1] += 500;
	}
	put_map(&side, 100, 900000002, base, 0x2000, 0, "[vdso]");
	put_regions(NULL, &side);
	if (image)
		put_vdso(image, len);
	write_recording(temp_path(name), &meta, &b, 1, "/nonexistent/program", 1000);
	return temp_path(name);
}

static bool has_function(const char *path, const char *function)
{
	struct json_object *doc = kjoule_json(0, "report --json %s", path);
	struct json_object *row = row_with(doc, "function", function, "object", "[vdso]", NULL);

	if (row)
		assert_int_equal(json_object_get_int(member(row, "samples")), 500);
	return row;
}

TEST(a_sample_in_the_vdso_has_a_name)
{
	size_t len;
	const void *image = kjoule_vdso_image(&len);
	uint64_t at;

	if (!image)
		skip();
	at = clock_gettime_at(image, len);
	assert_true(at);
	assert_true(has_function(record("vdso", image, len, BASE, at), "__vdso_clock_gettime"));
	/* and its code can be looked at */
	assert_int_equal(kjoule("annotate --json -f __vdso_clock_gettime %s", temp_path("vdso")),
			 0);
	assert_true(says(out, "\"instruction\""));
	kjoule("report --by block --csv %s", temp_path("vdso"));
	assert_true(says(out, "__vdso_clock_gettime+"));
}

TEST(without_a_copy_the_sample_is_located)
{
	size_t len;
	const void *image = kjoule_vdso_image(&len);

	if (!image)
		skip();
	assert_false(has_function(record("none", NULL, 0, BASE, 0x900), "__vdso_clock_gettime"));
	assert_true(has_function(temp_path("none"), "[unknown]"));
	/* what is no ELF file, and what is none of the sort that the copy is */
	assert_true(has_function(record("text", "no image", 8, BASE, 0x900), "[unknown]"));
	assert_true(has_function(record("narrow", image, len, 0xf7fc0000,
					clock_gettime_at(image, len)), "[unknown]"));
}

TEST(its_build_id_is_that_of_the_copy)
{
	struct kjoule_build_ids *ids;
	char hex[KJOULE_BUILD_ID_HEX];

	if (kjoule_vdso_build_id(hex))
		skip();
	ids = kjoule_build_ids_new();
	assert_int_equal(kjoule_build_ids_meet(ids,
					       &(struct kjoule_event){ .pid = getpid(),
								       .text = "[vdso]" }), 0);
	assert_string_equal(kjoule_build_ids_find(ids, "[vdso]"), hex);
	assert_true(strlen(hex) >= 16);
	kjoule_build_ids_free(ids);
}
