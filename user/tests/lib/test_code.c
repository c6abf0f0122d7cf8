// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code and source lines of ELF files: of this very program, and of others that make it hard.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include "lib/code/code.h"
#include "lib/code/symbols.h"
#include "tests/support/unit.h"

unsigned int around_it(unsigned int x);

static int first_line, last_line;

static inline __attribute__((always_inline)) unsigned int put_inside(unsigned int x)
{
	for (unsigned int i = 0; i < x; i++)
		x ^= x << 3 ^ i;
	return x;
}

__attribute__((noinline)) unsigned int around_it(unsigned int x)
{
	first_line = __LINE__ - 2;
	x = put_inside(x + 1);
	last_line = __LINE__ + 2;
	return x * 3;
}

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;	/* the program itself is the first */
}

TEST(code_is_that_of_the_file)
{
	uintptr_t base = 0;
	struct kjoule_code *code;
	const void *bytes;
	size_t len;

	dl_iterate_phdr(find_base, &base);
	assert_int_equal(kjoule_code_open("/proc/self/exe", &code), 0);
	assert_int_equal(kjoule_code_machine(code), EM_X86_64);
	bytes = kjoule_code_bytes(code, (uintptr_t)around_it - base, &len);
	assert_non_null(bytes);
	assert_true(len > 16);
	assert_memory_equal(bytes, (const void *)(uintptr_t)around_it, 16);
	assert_null(kjoule_code_bytes(code, 1, &len));
	assert_int_equal(len, 0);
	assert_null(kjoule_code_bytes(code, (uintptr_t)&first_line - base, &len));	/* data */
	kjoule_code_close(code);
}

TEST(lines_name_inlined_functions)
{
	struct kjoule_line lines[KJOULE_LINES_MOST];
	const struct kjoule_symbol *symbol;
	unsigned int inside = 0, outside = 0;
	struct kjoule_code *code;
	struct kjoule_elf *elf;
	uintptr_t base = 0;

	around_it(3);
	dl_iterate_phdr(find_base, &base);
	assert_int_equal(kjoule_elf_open("/proc/self/exe", NULL, &elf), 0);
	assert_int_equal(kjoule_code_open("/proc/self/exe", &code), 0);
	symbol = kjoule_elf_find(elf, (uintptr_t)around_it - base);
	assert_non_null(symbol);
	for (uint64_t a = symbol->start; a < symbol->end; a++) {
		size_t n = kjoule_code_lines(code, a, lines);

		assert_true(n >= 1 && n <= KJOULE_LINES_MOST);
		assert_non_null(strstr(lines[0].file, "test_code.c"));
		assert_int_equal(lines[0].file[0], '/');
		if (!lines[0].function)
			continue;
		if (!strcmp(lines[0].function, "put_inside")) {
			inside++;
			assert_int_equal(n, 2);
			assert_string_equal(lines[1].function, "around_it");
			assert_non_null(strstr(lines[1].file, "test_code.c"));
			assert_true((int)lines[1].line > first_line &&
				    (int)lines[1].line < last_line);
			assert_true(!lines[0].line || (int)lines[0].line < first_line);
		} else {
			outside++;
			assert_int_equal(n, 1);
			assert_string_equal(lines[0].function, "around_it");
			assert_true(!lines[0].line || ((int)lines[0].line >= first_line - 1 &&
						       (int)lines[0].line <= last_line));
		}
	}
	assert_true(inside > 4 && outside > 4);
	assert_int_equal(kjoule_code_lines(code, 1, lines), 0);
	kjoule_code_close(code);
	kjoule_elf_close(elf);
}

TEST(what_is_no_program_is_refused)
{
	struct kjoule_code *code;

	assert_int_equal(kjoule_code_open("/nonexistent", &code), -ENOEXEC);
	assert_null(code);
	assert_int_equal(kjoule_code_open("/proc/self/comm", &code), -ENOEXEC);
	kjoule_code_close(NULL);
}
