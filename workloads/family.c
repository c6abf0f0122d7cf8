// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose work is done by short-lived children, one after the other: three kinds,
 * known by the names that they give themselves, of different work and length, some 5, 10
 * and 20 ms at the chip's highest frequency, in random order. Says who was of which kind. Used by
 * selftests/cli/test_short_lived.py.
 *
 * usage: family CHILDREN_OF_EACH_KIND
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KINDS 3
#define NOINLINE __attribute__((noinline, noclone))
#define X4(a) a a a a

static uint64_t buffer[1024];

static NOINLINE void work_integer(uint64_t n)
{
	for (; n; n--)
		asm volatile(X4("add %%rcx, %%rax; xor %%rax, %%rdx; lea 3(%%rdx), %%rcx; sub $7, %%rax;")
			     ::: "rax", "rcx", "rdx", "cc");
}

static NOINLINE void work_store(uint64_t n)
{
	for (; n; n--)
		asm volatile(X4("mov %%rax, (%0); mov %%rax, 64(%0); mov %%rax, 128(%0);")
			     :: "r"(&buffer[n % 512]) : "memory");
}

static NOINLINE void work_float(uint64_t n)
{
	for (; n; n--)
		asm volatile(X4("mulpd %%xmm1, %%xmm0; addpd %%xmm1, %%xmm2;") ::: "xmm0", "xmm2");
}

static const struct {
	const char *name;
	void (*work)(uint64_t n);
	uint64_t rounds;
} kind[KINDS] = {
	{ "kid-integer", work_integer, 24000 },
	{ "kid-store", work_store, 24000 },
	{ "kid-float", work_float, 20000 },
};

int main(int argc, char **argv)
{
	unsigned int each = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, left[KINDS], i;
	uint64_t random_state = 88172645463325252u;

	if (!each) {
		fprintf(stderr, "usage: family CHILDREN_OF_EACH_KIND\n");
		return 2;
	}
	for (i = 0; i < KINDS; i++)
		left[i] = each;
	for (i = 0; i < KINDS * each; i++) {
		unsigned int k;
		pid_t pid;

		do {
			random_state ^= random_state << 13;
			random_state ^= random_state >> 7;
			random_state ^= random_state << 17;
			k = (random_state >> 33) % KINDS;
		} while (!left[k]);
		left[k]--;
		pid = fork();
		if (!pid) {
			prctl(PR_SET_NAME, kind[k].name);
			kind[k].work(kind[k].rounds);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
		printf("%s %d\n", kind[k].name, pid);
	}
	return 0;
}
