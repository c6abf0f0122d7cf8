// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unwinding of stack copies: our own stack, of functions without frame pointers, taken as the
 * module takes it, must give the return addresses that the functions saw.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(at, bytes)
#endif
#include "lib/code/unwind.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define PID	100
#define DEPTH	6
#define MOST	(64u << 10)

#define PLAIN	__attribute__((noinline, noclone, optimize("omit-frame-pointer"), \
			       no_sanitize("address", "undefined")))

static struct {
	struct kjoule_stack head;
	uint8_t data[MOST];
} copy;
static uint64_t returns[DEPTH + 2];	/* innermost first */
static unsigned int n_returns;
static uint64_t stack_end;
static struct buffer side;
static struct kjoule_maps *maps;

/* Where we are, as the module would report it. */
static PLAIN void take(void)
{
	struct kjoule_stack *s = &copy.head;
	const volatile uint64_t *at;

	returns[n_returns++] = (uintptr_t)__builtin_return_address(0);
	asm volatile("mov %%rbx, %0; mov %%rbp, %1; mov %%rsp, %2" : "=m"(s->reg[3]),
		     "=m"(s->reg[6]), "=m"(s->reg[7]));
	asm volatile("mov %%r12, %0; mov %%r13, %1; mov %%r14, %2; mov %%r15, %3" :
		     "=m"(s->reg[12]), "=m"(s->reg[13]), "=m"(s->reg[14]), "=m"(s->reg[15]));
	asm volatile("lea 0f(%%rip), %%rax; mov %%rax, %0; 0:" : "=m"(s->reg[16]) : : "rax");
	s->bytes = stack_end - s->reg[7] < MOST ? stack_end - s->reg[7] : MOST;
	at = (const uint64_t *)s->reg[7];
	for (uint32_t i = 0; i < s->bytes / 8; i++)
		((uint64_t *)copy.data)[i] = at[i];
	/* a stack has unwritten holes; readers of a copy may see them */
	VALGRIND_MAKE_MEM_DEFINED(copy.data, s->bytes);
	s->rec = (struct kjoule_record){ KJOULE_RECORD_STACK, 0, 0 };
}

static volatile unsigned int work;

/* Frames of different size, with something saved on them. */
static PLAIN void recurse(unsigned int n)
{
	volatile char room[(DEPTH - n) * 40 + 8];

	room[0] = n;
	if (n)
		recurse(n - 1);
	else
		take();
	returns[n_returns++] = (uintptr_t)__builtin_return_address(0);
	work += room[0];
}

static PLAIN void take_all(void)
{
	n_returns = 0;
	recurse(DEPTH - 1);
}

static int read_maps(void **state)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	char line[4096], perm[8], path[4096];
	size_t skipped;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &start, &end, perm, &offset,
			   path) < 4)
			continue;
		/* by where we are on it: below valgrind the stack has no name */
		if (start <= (uintptr_t)line && (uintptr_t)line < end)
			stack_end = end;
		if (perm[2] == 'x' && path[0])
			put_map(&side, PID, 1000, start, end - start, offset, path);
	}
	fclose(f);
	assert_int_not_equal(stack_end, 0);
	take_all();
	return kjoule_maps_new(side.data, side.len, &maps, &skipped);
}

static int free_maps(void **state)
{
	(void)state;
	kjoule_maps_free(maps);
	free(side.data);
	return 0;
}

static void check_returns(const uint64_t *ip, size_t n)
{
	assert_int_equal(ip[0], copy.head.reg[16]);
	for (size_t i = 0; i + 1 < n && i < n_returns; i++)
		assert_int_equal(ip[i + 1], returns[i]);
}

TEST(frames_without_frame_pointers_are_found_to_the_outermost)
{
	struct kjoule_unwinder *u = kjoule_unwinder_new(maps, NULL, true);
	uint64_t ip[128];
	size_t n;

	/* twice: what was found out of the files stays */
	for (int i = 0; i < 2; i++) {
		n = 128;
		assert_int_equal(kjoule_unwind(u, PID, 2000, &copy.head, ip, &n),
				 KJOULE_UNWOUND_WHOLE);
		assert_true(n > DEPTH + 4);
		check_returns(ip, n);
	}
	kjoule_unwinder_free(u);
}

TEST(a_short_copy_is_used_and_marked_as_short)
{
	struct kjoule_unwinder *u = kjoule_unwinder_new(maps, NULL, true);
	uint32_t whole = copy.head.bytes;
	uint64_t ip[128];
	size_t n = 128, all, last = 0;

	kjoule_unwind(u, PID, 2000, &copy.head, ip, &n);
	all = n;
	for (uint32_t bytes = 0; bytes < whole && bytes < 4096; bytes += 64) {
		copy.head.bytes = bytes;
		n = 128;
		if (kjoule_unwind(u, PID, 2000, &copy.head, ip, &n) != KJOULE_UNWOUND_WHOLE)
			assert_true(n < all);
		assert_true(n >= last);
		check_returns(ip, n);
		last = n;
	}
	copy.head.bytes = 128;
	n = 128;
	assert_int_equal(kjoule_unwind(u, PID, 2000, &copy.head, ip, &n), KJOULE_UNWOUND_SHORT);
	assert_true(n < DEPTH + 2);
	copy.head.bytes = whole;
	kjoule_unwinder_free(u);
}

TEST(no_more_frames_than_there_is_room)
{
	struct kjoule_unwinder *u = kjoule_unwinder_new(maps, NULL, true);
	uint64_t ip[8] = { 0, 0, 0, 0, 77 };
	size_t n = 4;

	assert_int_equal(kjoule_unwind(u, PID, 2000, &copy.head, ip, &n), KJOULE_UNWOUND_DEEP);
	assert_int_equal(n, 4);
	check_returns(ip, n);
	assert_int_equal(ip[4], 77);
	kjoule_unwinder_free(u);
}

TEST(what_was_not_mapped_or_is_another_file_ends_it)
{
	struct kjoule_build_ids *ids = kjoule_build_ids_new();
	struct kjoule_unwinder *u = kjoule_unwinder_new(maps, NULL, true);
	struct kjoule_stack other = copy.head;
	char exe[4096] = "";
	uint64_t ip[128];
	size_t n = 128;

	/* a process of which nothing is known, and a time before all */
	assert_int_equal(kjoule_unwind(u, 7, 2000, &copy.head, ip, &n), KJOULE_UNWOUND_BLIND);
	assert_int_equal(n, 1);
	n = 128;
	assert_int_equal(kjoule_unwind(u, PID, 500, &copy.head, ip, &n), KJOULE_UNWOUND_BLIND);
	assert_int_equal(n, 1);
	/* nowhere, with an empty stack */
	other.reg[16] = 0x1234;
	other.bytes = 0;
	n = 128;
	assert_int_not_equal(kjoule_unwind(u, PID, 2000, &other, ip, &n), KJOULE_UNWOUND_WHOLE);
	assert_int_equal(n, 1);
	assert_int_equal(ip[0], 0x1234);
	kjoule_unwinder_free(u);
	/* our own program, but with another build id */
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_int_equal(kjoule_build_ids_add(ids, exe, "0123456789abcdef"), 0);
	u = kjoule_unwinder_new(maps, ids, true);
	n = 128;
	kjoule_unwind(u, PID, 2000, &copy.head, ip, &n);
	assert_true(n <= 2);
	kjoule_unwinder_free(u);
	kjoule_build_ids_free(ids);
}

/* Random registers and stacks: no crash, and it ends. */
TEST(nonsense_does_no_harm)
{
	static struct {
		struct kjoule_stack head;
		uint64_t data[256];
	} junk;
	struct kjoule_unwinder *u = kjoule_unwinder_new(maps, NULL, true);
	uint64_t seed = 1, ip[64];

	for (int round = 0; round < 3000; round++) {
		size_t n = 64;

		junk.head = copy.head;
		junk.head.bytes = rnd(&seed) % (sizeof(junk.data) + 1);
		memcpy(junk.data, copy.data, sizeof(junk.data));
		for (int i = rnd(&seed) % 20; i > 0; i--)
			junk.data[rnd(&seed) % 256] = rnd(&seed) % 2 ? rnd(&seed) :
				junk.head.reg[7] + rnd(&seed) % 4096;
		for (int i = rnd(&seed) % 3; i > 0; i--)
			junk.head.reg[rnd(&seed) % KJOULE_STACK_REGS] =
				rnd(&seed) >> rnd(&seed) % 64;
		if (rnd(&seed) % 2)
			junk.head.reg[16] = copy.head.reg[16] + rnd(&seed) % 4096 - 2048;
		kjoule_unwind(u, PID, 2000, &junk.head, ip, &n);
		assert_in_range(n, 1, 64);
	}
	kjoule_unwinder_free(u);
}

int main(void)
{
	return tests_run(read_maps, free_maps);
}
