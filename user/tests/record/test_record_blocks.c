// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where `kjoule record --vpm` finds its blocks: what users call them, in a file, and where the
 * loader has put that; the test's own code.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "record/record.h"
#include "tests/support/looped.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static struct user_block *only(struct user_blocks *named, const char *text)
{
	const char *why;

	memset(named, 0, sizeof(*named));
	assert_int_equal(record_block_add(named, text, &why), 0);
	return &named->blocks[0];
}

/* What the user says becomes a block. */
TEST(test_command_line)
{
	struct user_blocks named;
	const char *why;

	only(&named, "a_loop_and_more");
	assert_string_equal(named.blocks[0].name, "a_loop_and_more");
	assert_int_equal(named.blocks[0].parts[0].kind, USER_BLOCKS_FUNCTION);
	assert_int_equal(record_block_add(&named, "second=lib.so:0x1000-0x1040", &why), 0);
	assert_int_equal(named.n, 2);
	assert_int_equal(named.blocks[1].parts[0].kind, USER_BLOCKS_ADDRESSES);
	assert_int_equal(record_block_add(&named, "second=other", &why), -EINVAL);
	assert_true(says(why, "a name of its own"));
	user_blocks_free(&named);
	memset(&named, 0, sizeof(named));
	assert_int_equal(record_block_add(&named, "two=one,another", &why), -EINVAL);
	user_blocks_free(&named);
	only(&named, "x=file.c:10-20");
	assert_int_equal(named.blocks[0].parts[0].kind, USER_BLOCKS_LINES);
	user_blocks_free(&named);
}

/* A function's first and second instruction, and what is no block. */
TEST(test_resolve)
{
	struct kjoule_vpm_place place = { .pid = 7 };
	struct kjoule_error error = { 0 };
	struct user_blocks named;
	char text[600];

	assert_int_equal(record_block_resolve(only(&named, "a_loop_and_more"), looped_path(),
					      &place, NULL, &error), 0);
	assert_int_equal(place.pid, 7);
	assert_int_equal(place.end, 0);
	assert_true(place.start <= looped.loop && place.start + 200 > looped.loop);
	assert_in_range(place.next - place.start, 1, 15);
	user_blocks_free(&named);
	assert_int_equal(record_block_resolve(only(&named, "no_such_function"), looped_path(),
					      &place, NULL, &error), -ENOENT);
	assert_true(says(error.text, "no such function"));
	user_blocks_free(&named);
	assert_int_equal(record_block_resolve(only(&named, "main"), "/etc/passwd", &place, NULL,
					      &error), -ENOEXEC);
	user_blocks_free(&named);
	/* the block is where the user says; it must have two instructions */
	snprintf(text, sizeof(text), "x=%s:0x%llx-0x%llx", looped_path(),
		 (unsigned long long)looped.loop, (unsigned long long)looped.loop + 1);
	assert_int_not_equal(record_block_resolve(only(&named, text), looped_path(), &place, NULL,
						  &error), 0);
	assert_true(says(error.text, "first instruction after which the second one runs"));
	user_blocks_free(&named);
	snprintf(text, sizeof(text), "x=%s:0x10-0x20", looped_path());
	assert_int_equal(record_block_resolve(only(&named, text), looped_path(), &place, NULL,
					      &error), -EINVAL);
	assert_true(says(error.text, "there is no code"));
	user_blocks_free(&named);
}

/* Code in assembly, so that it is what it is. */
void blocks_leaf(void);
asm(".text\n.globl blocks_leaf\n.type blocks_leaf, @function\nblocks_leaf:\n"
    "\tnop\n\tnop\n1:\tdec %rdi\n\tjnz 1b\n\tret\n.size blocks_leaf, . - blocks_leaf\n");

/* The recording says where the code is that was found, and where it ends, even of a function. */
TEST(test_known)
{
	struct kjoule_vpm_place place = { .pid = 7 };
	struct kjoule_error error = { 0 };
	struct looped_code at = looped_function("blocks_leaf");
	struct kjoule_vpm_block known;
	char text[600], path[600];
	struct user_blocks named;

	assert_int_equal(record_block_resolve(only(&named, "it=blocks_leaf"), looped_path(), &place,
					      &known, &error), 0);
	assert_string_equal(known.name, "it");
	assert_string_equal(known.part, "blocks_leaf");
	assert_string_equal(known.object, looped_path());
	assert_true(known.start == at.start && known.end == 0 && known.code_end == at.end);
	user_blocks_free(&named);
	snprintf(text, sizeof(text), "x=%s:0x%llx-0x%llx", looped_path(),
		 (unsigned long long)at.start, (unsigned long long)at.start + 2);
	assert_int_equal(record_block_resolve(only(&named, text), looped_path(), &place, &known,
					      &error), 0);
	assert_true(known.start == at.start && known.end == at.start + 2 &&
		    known.code_end == at.start + 2);
	user_blocks_free(&named);
	/* a path that there is no room for would be that of another file */
	snprintf(path, sizeof(path), "%0256d%s", 0, looped_path());
	memset(path, '/', 256);
	assert_int_equal(record_block_resolve(only(&named, "blocks_leaf"), path, &place, &known,
					      &error), -ENAMETOOLONG);
	assert_true(says(error.text, "a recording has room for 255"));
	user_blocks_free(&named);
}

/*
 * A copy of the test's file whose first segment reaches into the page at which its code begins, as
 * linkers may have it.
 */
static const char *share_a_page(uint64_t *code)
{
	size_t len;
	uint8_t *image = read_file(looped_path(), &len);
	Elf64_Ehdr *e = (Elf64_Ehdr *)image;
	Elf64_Phdr *ph = (Elf64_Phdr *)(image + e->e_phoff), *first = NULL;

	for (int i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		first = first ? first : &ph[i];
		if (!(ph[i].p_flags & PF_X))
			continue;
		*code = ph[i].p_offset & -4096ull;
		assert_true(first != &ph[i]);
		/* they are a page apart in memory then: the code's page is mapped a second time */
		first->p_filesz = first->p_memsz = *code + 64 - first->p_offset;
		first->p_vaddr -= 4096;
		break;
	}
	write_file(temp_path("shared"), image, len);
	free(image);
	return temp_path("shared");
}

/* Where the loader has put it. */
TEST(test_relocate)
{
	struct kjoule_vpm_place place = { .pid = getpid() };
	struct kjoule_error error = { 0 };
	uint64_t start, code = 0, len = looped.loop_offset + 4096;
	struct user_blocks named;
	const char *path;
	uint8_t *map;
	int fd;

	assert_int_equal(record_block_resolve(only(&named, "a_loop_and_more"), looped_path(),
					      &place, NULL, &error), 0);
	start = place.start;
	assert_int_equal(record_block_relocate(getpid(), looped_path(), "it", &place, &error), 0);
	assert_true(place.start == (uintptr_t)a_loop_and_more && place.end == 0);
	place.start = place.next = start;
	place.start += 1ull << 40;
	assert_int_not_equal(record_block_relocate(getpid(), looped_path(), "it", &place, &error),
			     0);
	assert_true(says(error.text, "not in the code"));
	path = share_a_page(&code);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	map = mmap(NULL, len - code, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, code);
	assert_true(map != MAP_FAILED);
	close(fd);
	/* as the file's code counts */
	place = (struct kjoule_vpm_place){ .start = looped.loop, .next = looped.loop + 4,
					   .end = looped.loop + 8 };
	assert_int_equal(record_block_relocate(getpid(), path, "it", &place, &error), 0);
	assert_true(place.start == (uintptr_t)map + looped.loop_offset - code);
	assert_true(place.next == place.start + 4 && place.end == place.start + 8);
	munmap(map, len - code);
	user_blocks_free(&named);
}

/* Blocks of code that would not do: in assembly, so that they are what they are. */
void blocks_loop_head(void);
void blocks_call_first(void);
asm(".text\n.globl blocks_loop_head\n.type blocks_loop_head, @function\nblocks_loop_head:\n"
    "\tdec %rdi\n\tnop\n\tjnz blocks_loop_head\n\tret\n.size blocks_loop_head, . - blocks_loop_head\n"
    ".globl blocks_call_first\n.type blocks_call_first, @function\nblocks_call_first:\n"
    "\tcall blocks_loop_head\n\tnop\n\tret\n.size blocks_call_first, . - blocks_call_first\n");

TEST(test_no_blocks)
{
	struct kjoule_vpm_place place = { 0 };
	struct kjoule_error error = { 0 };
	struct user_blocks named;

	assert_int_equal(record_block_resolve(only(&named, "blocks_loop_head"), looped_path(),
					      &place, NULL, &error), -EINVAL);
	assert_true(says(error.text, "head of a loop"));
	user_blocks_free(&named);
	assert_int_equal(record_block_resolve(only(&named, "blocks_call_first"), looped_path(),
					      &place, NULL, &error), -EINVAL);
	assert_true(says(error.text, "first instruction after which the second one runs"));
	user_blocks_free(&named);
}

TEST(test_usage)
{
	assert_int_equal(kjoule("record --vpm main -a"), 2);
	assert_true(says(err, "--vpm is of one process"));
	assert_int_equal(kjoule("record --vpm main --edge -- true"), 2);
	assert_int_equal(kjoule("record --vpm-meter x -- true"), 2);
	assert_int_equal(kjoule("record --vpm main --vpm-meter x@nonsense -- true"), 2);
	assert_int_equal(kjoule("record --vpm a=b.c:2-1 -- true"), 2);
	assert_true(says(err, "the lines have to rise"));
}

int main(void)
{
	return tests_run(looped_setup, NULL);
}
