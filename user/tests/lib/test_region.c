// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marking regions, from both sides: this program executes itself as one that marks, in a memory
 * that the test has made and reads as record does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <kjoule/region.h>
#include "lib/base/now.h"
#include "lib/region/mark_ring.h"
#include "lib/region/region_timeline.h"
#include "tests/support/marking.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

static struct buffer batches;
static struct kjoule_regions *regions;
static struct kjoule_region_counters counters;
static struct reported *reported;
static size_t n_reported;

static int sink(void *arg, const struct kjoule_region_batch *batch,
		const struct kjoule_region_unit *units)
{
	(void)arg;
	put_bytes(&batches, batch, sizeof(*batch));
	if (batch->units)
		put_bytes(&batches, units, batch->units * sizeof(*units));
	return 0;
}

static void drain(struct kjoule_region_area *area)
{
	double fullest;
	int ret;

	while ((ret = kjoule_region_area_drain(area, sink, NULL, &fullest)) > 0)
		;
	assert_int_equal(ret, 0);
}

static pid_t start(const struct kjoule_region_area *area, const char *program, int in, int out)
{
	char path[512] = "";
	pid_t pid;

	/* under valgrind the link leads here, but what is executed behind it is valgrind */
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	pid = fork();
	if (!pid) {
		dup2(in, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		if (area && kjoule_region_area_hand_over(area))
			_exit(8);
		execl(path, path, program, NULL);
		_exit(8);
	}
	assert_true(pid > 0);
	return pid;
}

/* That reports nothing. */
static int exit_code_of(const struct kjoule_region_area *area, const char *program)
{
	int status;

	waitpid(start(area, program, 0, 1), &status, 0);
	return WEXITSTATUS(status);
}

/* Compare what was reported with what was read. */
static void take(struct kjoule_region_area *area, const struct buffer *side_band, uint64_t begin_ns)
{
	drain(area);
	kjoule_region_area_counters(area, &counters);
	kjoule_regions_free(regions);
	assert_int_equal(kjoule_regions_new(batches.data, batches.len, side_band ? side_band->data :
					    NULL, side_band ? side_band->len : 0, begin_ns,
					    kjoule_now_ns(), &regions), 0);
}

/*
 * Run a program to its end, with @each called while it runs. Return: its exit code, 128 + a signal
 */
static int run(const char *program, void (*each)(struct kjoule_region_area *area, int stdin_fd,
						 size_t bytes))
{
	struct kjoule_region_area *area;
	uint64_t begin_ns = kjoule_now_ns();
	int in[2], out[2], status;
	char bytes[16384];
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	batches.len = 0;
	assert_int_equal(kjoule_region_area_new(&area), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	pid = start(area, program, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	while ((n = read(out[0], bytes + len, sizeof(bytes) - len)) != 0) {
		if (n > 0)
			len += n;
		else
			usleep(1000);
		assert_true(len < sizeof(bytes));
		if (each)
			each(area, in[1], len);
	}
	waitpid(pid, &status, 0);
	close(in[1]);
	close(out[0]);
	take(area, NULL, begin_ns);
	kjoule_region_area_free(area);
	free(reported);
	reported = malloc(len + 1);
	memcpy(reported, bytes, len);
	n_reported = len / sizeof(*reported);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Where the thread was when it reported. */
static const char *at(size_t i)
{
	assert_true(i < n_reported);
	return regions->paths[kjoule_regions_find(regions, reported[i].tid,
						  reported[i].time_ns)].text;
}

static uint32_t path_of(const char *text)
{
	for (uint32_t i = 0; i < regions->n_paths; i++)
		if (!strcmp(regions->paths[i].text, text))
			return i;
	fail_msg("there is no region %s", text);
	return 0;
}

static uint64_t entered(const char *text)
{
	uint32_t path = path_of(text);
	uint64_t n = 0;

	for (size_t i = 0; i < regions->n_counts; i++)
		n += regions->counts[i].path == path ? regions->counts[i].entered : 0;
	return n;
}

static void nothing_is_lost(void)
{
	assert_int_equal(regions->lost, 0);
	assert_int_equal(regions->damaged, 0);
	assert_int_equal(counters.unfinished + counters.damaged + counters.foreign +
			 counters.refused + counters.lost, 0);
}

TEST(a_mark_is_where_it_was_made)
{
	static const char *const where[] = { "[outside of regions]", "outer", "outer/inner",
					     "outer", "[outside of regions]", "outer/other",
					     "[unnamed]" };

	assert_int_equal(run("nested", NULL), 0);
	assert_int_equal(n_reported, 7);
	for (size_t i = 0; i < n_reported; i++)
		assert_string_equal(at(i), where[i]);
	nothing_is_lost();
	assert_int_equal(regions->entered, 5);
	assert_int_equal(regions->unended, 1);
	assert_int_equal(regions->unbegun, 1);
	assert_int_equal(regions->threads, 1);
	assert_int_equal(entered("outer"), 2);
	assert_int_equal(entered("outer/inner"), 1);
	assert_true(kjoule_regions_inside(regions, path_of("outer/inner"), "inner"));
	assert_true(kjoule_regions_inside(regions, path_of("outer/inner"), "outer"));
	assert_true(kjoule_regions_inside(regions, path_of("outer/inner"), "outer/inner"));
	assert_false(kjoule_regions_inside(regions, path_of("outer"), "inner"));
	assert_false(kjoule_regions_inside(regions, path_of("outer/inner"), "inn"));
	assert_false(kjoule_regions_inside(regions, path_of("outer/inner"), "outer/in"));
	assert_false(kjoule_regions_inside(regions, 0, "outside of regions"));
}

TEST(times_between_marks_are_reported)
{
	const struct kjoule_regions_count *c;
	uint64_t outer, least;

	assert_int_equal(run("nested", NULL), 0);
	c = kjoule_regions_count(regions, reported[0].tid, path_of("outer/inner"));
	assert_non_null(c);
	/* begun between the second and the third, ended between that and the fourth */
	assert_true(c->marked_ns <= reported[3].time_ns - reported[1].time_ns);
	outer = kjoule_regions_count(regions, reported[0].tid, path_of("outer"))->marked_ns;
	least = reported[3].time_ns - reported[1].time_ns - c->marked_ns;
	assert_true(outer >= least && outer <= reported[5].time_ns - reported[0].time_ns);
	assert_null(kjoule_regions_count(regions, reported[0].tid + 1, path_of("outer")));
}

TEST(each_thread_has_its_own)
{
	assert_int_equal(run("threads", NULL), 0);
	assert_int_equal(n_reported, 9);
	nothing_is_lost();
	assert_int_equal(regions->threads, 9);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(strlen(at(i)), 1);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(at(i), at(k));
	}
	assert_string_equal(at(8), "main");
	assert_int_equal(entered("a/again"), 1000);
	assert_int_equal(regions->unended, 9);
}

static void reading(struct kjoule_region_area *area, int stdin_fd, size_t bytes)
{
	(void)stdin_fd;
	(void)bytes;
	drain(area);
}

TEST(rings_of_ended_threads_are_reused)
{
	assert_int_equal(run("many", reading), 0);
	assert_int_equal(n_reported, KJOULE_REGION_RINGS + 300);
	assert_int_equal(counters.refused, 0);
	assert_int_equal(regions->threads, KJOULE_REGION_RINGS + 300);
	assert_int_equal(regions->damaged, 0);
	/* where the reader did not keep up it says so */
	assert_true(entered("short/again") + regions->lost >= 1000u * (KJOULE_REGION_RINGS + 300));
}

TEST(a_forked_child_goes_on_where_it_was_forked)
{
	assert_int_equal(run("forks", NULL), 0);
	assert_int_equal(n_reported, 5);
	nothing_is_lost();
	assert_string_equal(at(0), "outer/inner/child's");
	assert_string_equal(at(1), "outer");
	assert_string_equal(at(2), "outer/inner");
	assert_string_equal(at(3), "outer");
	assert_string_equal(at(4), "outer/inner");
	/* of what was begun before a fork it is the parent who has not ended it */
	assert_int_equal(regions->unended, 2);
	assert_int_equal(regions->entered, 3);
	assert_int_equal(regions->unbegun, 0);
}

TEST(a_program_that_is_executed_is_in_no_region)
{
	assert_int_equal(run("exec", NULL), 0);
	nothing_is_lost();
	/*
	 * when that was is in the sideband, which is not here; the program itself begins again all
	 * the same
	 */
	assert_string_equal(at(2), "outer/inner");
	assert_string_equal(at(4), "[outside of regions]");
	assert_int_equal(regions->unended, 2);
	assert_int_equal(kjoule_regions_count(regions, reported[0].tid, path_of("before"))->unended,
			 1);
}

TEST(a_killed_program_leaves_what_it_has_marked)
{
	assert_int_equal(run("killed", NULL), 128 + SIGKILL);
	nothing_is_lost();
	assert_string_equal(at(0), "killed");
	assert_int_equal(regions->unended, 1);
}

/* An answer for each byte: it was read. */
static size_t answered;

static void read_and_answer(struct kjoule_region_area *area, int stdin_fd, size_t bytes)
{
	for (; answered < bytes; answered++) {
		drain(area);
		/* what it says at its end it does not wait for */
		if (write(stdin_fd, "x", 1) != 1)
			assert_int_equal(errno, EPIPE);
	}
}

TEST(handlers_may_mark_at_any_moment)
{
	uint64_t rounds, handlers;

	answered = 0;
	assert_int_equal(run("signals", read_and_answer), 0);
	memcpy(&rounds, (char *)reported + answered - 16, 8);
	memcpy(&handlers, (char *)reported + answered - 8, 8);
	assert_true(rounds > 100 && handlers > 100);
	nothing_is_lost();
	assert_int_equal(regions->left_out, 0);
	assert_int_equal(regions->entered, 2 * rounds + handlers + 2);
	assert_int_equal(regions->unended, 0);
	assert_int_equal(regions->unbegun, 0);
	print_message("%llu rounds, %llu handlers\n", (unsigned long long)rounds,
		      (unsigned long long)handlers);
}

static void read_when_told(struct kjoule_region_area *area, int stdin_fd, size_t bytes)
{
	static bool done;

	if (bytes < sizeof(struct reported) || done)
		return;
	drain(area);
	assert_int_equal(write(stdin_fd, "x", 1), 1);
	done = true;
}

static void their_area_free(struct kjoule_region_area *area, struct kjoule_region_head *head,
			    int fd)
{
	munmap(head, KJOULE_REGION_BYTES);
	close(fd);
	kjoule_region_area_free(area);
}

/* The descriptor that a child of this process has been handed. */
static struct kjoule_region_head *their_area(const struct kjoule_region_area *area, int *fd)
{
	void *p;

	assert_int_equal(kjoule_region_area_hand_over(area), 0);
	assert_int_equal(sscanf(getenv(KJOULE_REGION_ENV), "%d:", fd), 1);
	unsetenv(KJOULE_REGION_ENV);
	p = mmap(NULL, KJOULE_REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_true(p != MAP_FAILED);
	return p;
}

/* Have the program go @n instructions on. */
static void step(pid_t pid, int n)
{
	int status;

	while (n--) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	}
}

/* What a reader would find there now is whole. */
static void looks_whole(const struct kjoule_region_head *head, pid_t pid)
{
	const struct kjoule_region_unit *units = (const struct kjoule_region_unit *)(head + 1), *u;
	int i = 0;

	while (i < KJOULE_REGION_RINGS && head->owners[i] >> 32 != (uint64_t)pid)
		i++;
	assert_true(i < KJOULE_REGION_RINGS);
	for (uint64_t at = head->rings[i].tail; (int64_t)(head->rings[i].head - at) > 0;
	     at += u->units) {
		u = units + (size_t)i * KJOULE_REGION_UNITS + at % KJOULE_REGION_UNITS;
		assert_in_range(u->kind, KJOULE_REGION_START, KJOULE_REGION_CLOSE);
		assert_true(u->units > 0);
	}
}

TEST(handlers_may_mark_between_any_two_instructions)
{
	static uint64_t between[MARKING_STEPS], inside[MARKING_STEPS];
	int status, n = MARKING_STEPS_FIRST, looked = 0, fd, out[2];
	struct kjoule_region_head *head;
	struct kjoule_region_area *area;
	pid_t pid;

	/* valgrind has an idea of its own of what an instruction is */
	if (getenv("KJOULE_TEST_QUICK"))
		skip();
	batches.len = 0;
	assert_int_equal(kjoule_region_area_new(&area), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	head = their_area(area, &fd);
	pid = start(area, "stepped", 0, out[1]);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == SIGSTOP) {
			/* it goes with the test, whatever becomes of that */
			assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL), 0);
			/* all that it has marked so far can be read, and it is in no region */
			drain(area);
			kjoule_region_area_counters(area, &counters);
			assert_int_equal(counters.unfinished, 0);
			between[n - MARKING_STEPS_FIRST] = kjoule_now_ns();
			step(pid, n++);
			assert_int_equal(ptrace(PTRACE_CONT, pid, 0, SIGALRM), 0);
			continue;
		}
		looked += WSTOPSIG(status) == SIGUSR1;
		looks_whole(head, pid);
		assert_int_equal(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	}
	assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 99, 0);
	assert_int_equal(looked, MARKING_STEPS);
	take(area, NULL, 0);
	nothing_is_lost();
	assert_int_equal(regions->left_out, 0);
	assert_int_equal(regions->entered, 3 + (1 + 1) * MARKING_STEPS);
	assert_int_equal(regions->unbegun, 0);
	assert_int_equal(read(out[0], inside, sizeof(inside)), sizeof(inside));
	for (int i = 0; i < MARKING_STEPS; i++) {
		assert_int_equal(kjoule_regions_find(regions, pid, between[i]),
				 KJOULE_REGIONS_OUTSIDE);
		assert_int_equal(kjoule_regions_find(regions, pid, inside[i]), path_of("a"));
	}
	close(out[0]);
	close(out[1]);
	assert_int_equal(regions->unended, 0);
	their_area_free(area, head, fd);
}

TEST(lost_marks_are_reported_and_others_stay_right)
{
	const struct kjoule_regions_count *c;

	assert_int_equal(run("too-much", read_when_told), 0);
	assert_int_equal(n_reported, 3);
	assert_string_equal(at(0), "[marks lost]");
	assert_string_equal(at(1), "whole/late");
	assert_string_equal(at(2), "[outside of regions]");
	/*
	 * 2 for its start, 2 and 2 for the names, 1 for the whole; an end, a begin or both by two
	 * more
	 */
	assert_in_range(regions->lost, 2 * KJOULE_REGION_UNITS - (KJOULE_REGION_UNITS - 64 - 7) - 2,
			2 * KJOULE_REGION_UNITS - (KJOULE_REGION_UNITS - 64 - 7) + 2);
	assert_int_equal(counters.lost, regions->lost);
	c = kjoule_regions_count(regions, reported[0].tid, KJOULE_REGIONS_UNKNOWN);
	assert_true(c && c->marked_ns > 0);
	assert_int_equal(regions->unended, 0);
}

TEST(excess_depth_stays_with_the_enclosing_region)
{
	char around[8 * KJOULE_REGION_DEPTH_MAX] = "deep";

	for (int i = 1; i < KJOULE_REGION_DEPTH_MAX; i++)
		strcat(around, "/deep");
	assert_int_equal(run("too-deep", NULL), 0);
	assert_string_equal(at(0), around);
	assert_string_equal(at(1), "[outside of regions]");
	/* eight too deep; of the others the deep ones have 32, so that 32 find no room */
	assert_int_equal(regions->left_out, 8 + KJOULE_REGION_DEPTH_MAX);
	assert_int_equal(regions->unended, 0);
	nothing_is_lost();
}

TEST(a_long_name_is_cut_between_characters)
{
	assert_int_equal(run("long", NULL), 0);
	assert_int_equal(strlen(at(0)), KJOULE_REGION_NAME_MAX - 1);
	assert_int_equal(strspn(at(0), "x"), KJOULE_REGION_NAME_MAX - 1);
}

TEST(without_a_session_nothing_happens)
{
	struct kjoule_region_area *area;
	int fd;
	char text[64];
	struct stat st;

	unsetenv(KJOULE_REGION_ENV);
	assert_int_equal(exit_code_of(NULL, "recorded"), 6);
	/* a number that is another file now, and no recorder to be asked */
	fd = open("/proc/self/exe", O_RDONLY);
	assert_int_equal(fstat(fd, &st), 0);
	snprintf(text, sizeof(text), "%d:%llu:%d:%d", fd, (unsigned long long)st.st_ino, -1, 0);
	setenv(KJOULE_REGION_ENV, text, 1);
	assert_int_equal(exit_code_of(NULL, "recorded"), 6);
	close(fd);
	setenv(KJOULE_REGION_ENV, "rubbish", 1);
	assert_int_equal(exit_code_of(NULL, "recorded"), 6);
	/* a recording that is over */
	assert_int_equal(kjoule_region_area_new(&area), 0);
	kjoule_region_area_end(area);
	assert_int_equal(exit_code_of(area, "recorded"), 6);
	kjoule_region_area_free(area);
	/*
	 * and one that is on, found by the recorder's own number where the inherited one was closed
	 */
	assert_int_equal(kjoule_region_area_new(&area), 0);
	assert_int_equal(exit_code_of(area, "recorded"), 5);
	assert_int_equal(kjoule_region_area_hand_over(area), 0);
	assert_int_equal(sscanf(getenv(KJOULE_REGION_ENV), "%d:", &fd), 1);
	close(fd);
	assert_int_equal(exit_code_of(NULL, "recorded"), 5);
	unsetenv(KJOULE_REGION_ENV);
	kjoule_region_area_free(area);
}

TEST(a_program_without_room_is_counted)
{
	struct kjoule_region_area *area;

	/* under a sanitizer or valgrind no program can be so small */
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	if (getenv("KJOULE_TEST_QUICK"))
		skip();
	assert_int_equal(kjoule_region_area_new(&area), 0);
	assert_int_equal(exit_code_of(area, "cramped"), 6);
	kjoule_region_area_counters(area, &counters);
	assert_int_equal(counters.unmapped, 1);
	kjoule_region_area_free(area);
}

TEST(a_program_of_another_namespace_is_counted)
{
	struct kjoule_region_area *area;
	struct kjoule_region_head *head;
	int fd;

	assert_int_equal(kjoule_region_area_new(&area), 0);
	head = their_area(area, &fd);
	head->pid_namespace++;
	assert_int_equal(exit_code_of(area, "recorded"), 6);
	kjoule_region_area_counters(area, &counters);
	assert_int_equal(counters.foreign, 1);
	their_area_free(area, head, fd);
}

TEST(rings_of_the_dead_are_given_to_others)
{
	struct kjoule_region_area *area;
	struct kjoule_region_head *head;
	int fd, status, owners = 0;

	batches.len = 0;
	assert_int_equal(kjoule_region_area_new(&area), 0);
	head = their_area(area, &fd);
	for (int i = 0; i < 3; i++) {
		pid_t pid = start(area, "forever", 0, 1);

		/* in the middle of whatever it is at */
		for (size_t before = batches.len; batches.len < before + 1000;
		     usleep(7000 + 1000 * i))
			drain(area);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		drain(area);
	}
	/* no thread has such a number; and one that lives */
	for (int i = 0, n = 0; n < 2; i++)
		if (!head->owners[i])
			head->owners[i] = n++ ? (uint64_t)getpid() << 32 |
					  (uint32_t)getpid() : UINT64_MAX;
	for (int i = 0; i < KJOULE_REGION_RINGS; i++)
		owners += head->owners[i] != 0;
	assert_int_equal(owners, 5);
	/* once they are quiet */
	kjoule_region_area_reap(area);
	kjoule_region_area_reap(area);
	owners = 0;
	for (int i = 0; i < KJOULE_REGION_RINGS; i++)
		owners += head->owners[i] != 0;
	assert_int_equal(owners, 1);
	take(area, NULL, 0);
	assert_int_equal(regions->damaged, 0);
	assert_true(regions->entered > 100);
	their_area_free(area, head, fd);
}

TEST(full_tables_are_reported)
{
	struct kjoule_region_area *area;
	struct kjoule_region_head *head;
	int fd, status;

	assert_int_equal(kjoule_region_area_new(&area), 0);
	head = their_area(area, &fd);
	for (int i = 0; i < KJOULE_REGION_RINGS; i++)
		head->owners[i] = (uint64_t)getpid() << 32 | (uint32_t)getpid();
	waitpid(start(area, "killed", 0, open("/dev/null", O_WRONLY | O_CLOEXEC)), &status, 0);
	kjoule_region_area_counters(area, &counters);
	assert_int_equal(counters.refused, 1);
	their_area_free(area, head, fd);
}

/* Rubbish of all kinds, while it is read, by a process that is killed in the middle of it. */
TEST(a_writer_of_garbage_harms_only_itself)
{
	struct kjoule_region_area *area;
	struct kjoule_region_head *head;
	uint64_t seed = 20, end = kjoule_now_ns() + 400000000;
	int fd, status;
	double fullest;
	pid_t pid;

	batches.len = 0;
	assert_int_equal(kjoule_region_area_new(&area), 0);
	head = their_area(area, &fd);
	/* it cannot be made smaller */
	assert_int_equal(ftruncate(fd, 4096), -1);
	assert_int_equal(errno, EPERM);
	pid = fork();
	if (!pid) {
		uint64_t *words = (uint64_t *)head;

		for (;;) {
			struct kjoule_region_ring *r = &head->rings[rnd(&seed) % 4];
			struct kjoule_region_unit *u = (struct kjoule_region_unit *)(head + 1) +
						       rnd(&seed) % (4 * KJOULE_REGION_UNITS);

			*u = (struct kjoule_region_unit){ rnd(&seed) >> rnd(&seed) % 64,
							  rnd(&seed) % 8, rnd(&seed) % 10,
							  1 + rnd(&seed) % 4, rnd(&seed) % 4 };
			r->head += rnd(&seed) % 8;
			if (!(rnd(&seed) & 1023))
				words[rnd(&seed) % (sizeof(*head) / 8)] =
					rnd(&seed) >> rnd(&seed) % 64;
		}
	}
	while (kjoule_now_ns() < end && batches.len < 64 << 20) {
		int ret = kjoule_region_area_drain(area, sink, NULL, &fullest);

		assert_true(ret == 0 || ret == 1);
		assert_true(fullest >= 0 && fullest <= 1);
		kjoule_region_area_reap(area);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	take(area, NULL, 0);
	assert_true(regions->damaged > 0);
	assert_true(counters.damaged > 0);
	assert_true(regions->n_paths <= KJOULE_REGIONS_MOST);
	their_area_free(area, head, fd);
}

/* In a program that is not recorded it costs no more than a check. */
TEST(without_a_session_a_call_is_a_look)
{
	enum { ROUNDS = 1000000 };
	uint64_t best = UINT64_MAX;
	struct timespec from, to;

	kjoule_region_begin("x");
	kjoule_region_end();
	assert_int_equal(kjoule_region_wanted, 0);
	for (int k = 0; k < 5; k++) {
		uint64_t took;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		for (int i = 0; i < ROUNDS; i++) {
			kjoule_region_begin("x");
			kjoule_region_end();
		}
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		took = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
		best = took < best ? took : best;
	}
	print_message("%.2f ns a call\n", best / (2.0 * ROUNDS));
	/* valgrind and sanitizers take their time */
	if (!getenv("KJOULE_TEST_QUICK"))
		assert_true(best / (2.0 * ROUNDS) < 30);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return marking_run(argv[1]);
	signal(SIGPIPE, SIG_IGN);
	return tests_run(NULL, NULL);
}
