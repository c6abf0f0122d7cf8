// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What record decides before anything is started.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/code/buildid.h"
#include "lib/code/vdso.h"
#include "lib/file/recording.h"
#include "lib/region/region_timeline.h"
#include "record/loop.h"
#include "record/ring.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define MIB	(1ull << 20)
#define GIB	(1ull << 30)

TEST(rings_of_stacks_have_a_limit_together)
{
	static const struct {
		uint32_t stack;
		unsigned int cpus;
		uint64_t memory;
		uint32_t wanted, ring;
	} cases[] = {
		{ 0, 2, 16 * GIB, 8 * MIB, 8 * MIB }, { 8192, 32, 64 * GIB, 8 * MIB, 8 * MIB },
		{ 65384, 32, 64 * GIB, 32 * MIB, 32 * MIB },
		{ 65384, 33, 64 * GIB, 32 * MIB, 16 * MIB },
		{ 8192, 129, 64 * GIB, 8 * MIB, 4 * MIB },
		{ 8192, 1024, 64 * GIB, 8 * MIB, 1 * MIB },
		/* a small machine; and never less than a ring has without stacks */
		{ 8192, 4, 256 * MIB, 8 * MIB, 4 * MIB }, { 8192, 1024, 1 * GIB, 8 * MIB, MIB / 2 },
		{ 8192, 1024, 0, 8 * MIB, MIB / 2 }, { 64, 4, 16 * GIB, MIB / 2, MIB / 2 },
	};
	const struct kjoule_info info =
		{ .default_ring_bytes = MIB / 2, .max_ring_bytes = 64 * MIB };
	uint32_t wanted;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record_options opt = { .stack_bytes = cases[i].stack };

		assert_int_equal(record_ring_for_stacks(&opt, &info, cases[i].cpus, cases[i].memory,
							&wanted),
				 cases[i].ring);
		assert_int_equal(wanted, cases[i].wanted);
	}
}

TEST(refused_rings_are_halved_unless_they_were_asked_for)
{
	const struct kjoule_info info =
		{ .default_ring_bytes = MIB / 2, .min_ring_bytes = MIB / 4 };
	struct record_options opt = { .ring_bytes = 8 * MIB };

	assert_int_equal(record_ring_smaller(&opt, &info, 8 * MIB), 4 * MIB);
	assert_int_equal(record_ring_smaller(&opt, &info, 0), MIB / 4);
	assert_int_equal(record_ring_smaller(&opt, &info, MIB / 4), 0);
	opt.ring_given = true;
	assert_int_equal(record_ring_smaller(&opt, &info, 8 * MIB), 0);
}

TEST(what_sources_could_not_tell_is_said)
{
	static struct kjoule_session_info session = { .n_sources = 3 };
	char *text;

	strcpy(session.sources[0].name, "good");
	strcpy(session.sources[1].name, "broken");
	strcpy(session.sources[2].name, "slow");
	for (uint32_t i = 0; i < 3; i++) {
		session.sources[i].reads = 40;
		session.sources[i].period_ns = 20000000;
	}
	stderr_capture();
	session_sources_warn(&session, 0);
	text = stderr_release();
	assert_string_equal(text, "");
	session.sources[1].errors = 79;
	session.sources[2].overruns = 3;
	stderr_capture();
	session_sources_warn(&session, 5);
	text = stderr_release();
	assert_non_null(strstr(text, "kjoule: broken: 79 values not got in 40 readings"));
	assert_non_null(strstr(text, "kjoule: slow: 3 of 40 readings took longer than the 20 ms between two"));
	assert_non_null(strstr(text, "kjoule: 5 readings at ticks failed"));
	assert_null(strstr(text, "good"));
}

static char *end_of(struct record_loop *l, uint64_t samples, uint64_t failed)
{
	struct kjoule_cpu_stats stats[2] = { { .samples = samples, .source_errors = failed } };

	l->stats = stats;
	l->n_stats = 2;
	stderr_capture();
	record_warn_at_end(l);
	l->stats = NULL;
	return stderr_release();
}

TEST(a_quiet_recording_says_what_is_missing_too)
{
	const struct record_options process = { .quiet = true };
	const struct record_options thread = { .quiet = true, .thread = true };
	const struct record_options system = { .quiet = true, .system = true };
	const struct record_options cgroup = { .quiet = true, .cgroup = "a" };
	static struct record_loop l;
	char *text;

	l.opt = &process;
	text = end_of(&l, 1, 0);
	assert_string_equal(text, "");
	l.session.children_lost = 3;
	text = end_of(&l, 1, 4);
	assert_non_null(strstr(text, "kjoule: 3 children could not be followed"));
	assert_non_null(strstr(text, "kjoule: 4 readings at ticks failed"));
	assert_null(strstr(text, "no sample"));
	l.session.children_lost = 0;
#define SAYS(whom)	do {					\
	l.opt = &whom;						\
	text = end_of(&l, 0, 0);				\
	assert_non_null(strstr(text, "no sample: the " #whom));	\
} while (0)
	SAYS(process);
	SAYS(thread);
	SAYS(cgroup);
	l.opt = &system;
	text = end_of(&l, 0, 0);
	assert_non_null(strstr(text, "no sample: the machine"));
}

/* Ctrl-C reaches the command too, which is dead before anybody has looked. */
TEST(a_signal_that_ends_the_command_too_is_the_reason)
{
	const struct record_options command = { .duration_ns = 1 };
	struct pollfd fds[FD_PROCESS + 1] =
		{ [FD_DEVICE] = { .fd = -1 }, [FD_PROCESS] = { .fd = -1 } };
	struct record_loop l =
		{ .opt = &command, .fds = fds, .n_fds = FD_PROCESS + 1, .started = true };
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int with = 0; with < 2; with++) {
		siginfo_t info;

		l.reason = NULL;
		l.command_gone = false;
		l.child = (struct child){ .pid = fork(), .running = true };
		if (!l.child.pid)
			_exit(3);
		assert_true(l.child.pid > 0);
		assert_int_equal(waitid(P_PID, l.child.pid, &info, WEXITED | WNOWAIT), 0);
		fds[FD_SIGNAL] = (struct pollfd){ .fd = signalfd(-1, &set, SFD_NONBLOCK) };
		if (with) {
			kill(getpid(), SIGINT);
			fds[FD_SIGNAL].revents = POLLIN;
		}
		record_check_ends(&l, 1);
		assert_string_equal(l.reason, with ? "signal" : "command ended");
		assert_true(l.child.reaped);
		assert_int_equal(l.signal, with ? SIGINT : 0);
		close(fds[FD_SIGNAL].fd);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* What a command's environment says of regions. */
static char *told_to_a_command(const struct kjoule_region_area *area)
{
	char *command[] =
		{ "sh", "-c", "printf %s \"$KJOULE_REGIONS\" >$OUT; [ -z \"$KJOULE_REGIONS\" ] ||"
		  " readlink /proc/self/fd/${KJOULE_REGIONS%%:*} >>$OUT", NULL };
	struct child child;
	sigset_t none;

	sigemptyset(&none);
	setenv("OUT", temp_path("printed"), 1);
	assert_int_equal(child_start(&child, command, &none, area, NULL), 0);
	assert_int_equal(child_go(&child), 0);
	assert_true(child_reap(&child, true));
	return kept_text(temp_path("printed"));
}

TEST(the_command_is_told_where_to_mark_regions)
{
	struct kjoule_region_area *area;
	char *text;

	assert_int_equal(kjoule_region_area_new(&area), 0);
	text = told_to_a_command(area);
	assert_in_range(atoi(text), 230, 300);
	assert_non_null(strstr(text, "/memfd:kjoule-regions"));
	assert_null(getenv(KJOULE_REGION_ENV));
	kjoule_region_area_free(area);
	/* another recorder's, around this one, is not for it */
	setenv(KJOULE_REGION_ENV, "4:5:6:7", 1);
	text = told_to_a_command(NULL);
	assert_string_equal(text, "");
	unsetenv(KJOULE_REGION_ENV);
}

/* One that waits for its turn. */
static void start_true(struct child *child)
{
	char *command[] = { "true", NULL };
	sigset_t none;

	sigemptyset(&none);
	assert_int_equal(child_start(child, command, &none, NULL, NULL), 0);
}

TEST(a_command_that_was_killed_before_it_began_is_told)
{
	struct child child;
	siginfo_t info;

	start_true(&child);
	assert_int_equal(kill(child.pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, child.pid, &info, WEXITED | WNOWAIT), 0);
	/* and we are not, by SIGPIPE */
	assert_int_equal(child_go(&child), -EPIPE);
	assert_true(child_reap(&child, true));
	assert_int_equal(child_code(&child), 128 + SIGKILL);
}

TEST(who_ignores_children_sees_the_command_end_all_the_same)
{
	struct child child;
	void (*before)(int) = signal(SIGCHLD, SIG_IGN);

	start_true(&child);
	assert_int_equal(child_go(&child), 0);
	assert_true(child_reap(&child, true));
	assert_int_equal(child_code(&child), 0);
	/* another process waits for all there is: it is gone, and how is not known */
	start_true(&child);
	assert_int_equal(child_go(&child), 0);
	assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
	assert_true(child_reap(&child, false));
	assert_false(child.running);
	assert_int_equal(child_code(&child), 127);
	signal(SIGCHLD, before);
}

#define MANY	6	/* full rings: more than one chunk */

TEST(marks_of_before_the_first_tick_are_in_the_file_too)
{
	static const struct kjoule_region_unit units[2] = {
		{ 1000, 0, KJOULE_REGION_START, 2, 0 }, { 5 | 7ull << 32, 0, 0, 0, 0 } };
	const struct kjoule_region_batch before = { .ring = 3, .units = 2 };
	const struct kjoule_region_batch after =
		{ .ring = 3, .units = 1, .first = 2 + MANY * KJOULE_REGION_UNITS };
	const struct kjoule_region_unit end = { 200000, 0, KJOULE_REGION_UNBEGUN, 1, 0 };
	const struct kjoule_region_counters counters = { .lost = 6, .unmapped = 1 };
	const struct record_options opt = { .output = temp_path("marks") };
	static struct kjoule_session_info session = { .interval_ns = 1000000, .stop_ns = 5000 };
	static struct kjoule_calibration none;
	struct kjoule_recording rec;
	struct kjoule_regions *r;
	struct record_writer *w;

	static struct kjoule_region_unit many[KJOULE_REGION_UNITS];
	uint64_t empty;

	assert_int_equal(record_writer_open(AT_FDCWD, temp_path("marks"), &w, NULL), 0);
	empty = record_writer_bytes(w);
	assert_int_equal(record_writer_regions(w, &before, units), 0);
	for (uint32_t i = 0; i < KJOULE_REGION_UNITS; i++)
		many[i] = (struct kjoule_region_unit){ 1000 + i, 0, KJOULE_REGION_UNBEGUN, 1, 0 };
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(record_writer_regions(w, &(struct kjoule_region_batch){
			.ring = 3, .units = KJOULE_REGION_UNITS,
			.first = 2 + i * KJOULE_REGION_UNITS }, many), 0);
	/* until the recording begins what was in the file before stays */
	assert_int_equal(record_writer_bytes(w), empty);
	assert_int_equal(record_writer_start(w, &opt, &session, &none, NULL), 0);
	assert_int_equal(record_writer_flush(w, NULL), 0);
	assert_int_equal(record_writer_regions(w, &after, &end), 0);
	assert_int_equal(record_writer_finish(w, &session, "test", 0, 0, 0, 0, &counters, NULL), 0);
	assert_int_equal(record_writer_close(w, NULL), 0);
	assert_int_equal(kjoule_recording_load(temp_path("marks"), &rec, NULL), 0);
	assert_int_equal(rec.regions_len, (2 + MANY) * sizeof(before) + sizeof(units) +
			 sizeof(end) + MANY * sizeof(many));
	assert_memory_equal(&rec.end.regions, &counters, sizeof(counters));
	assert_int_equal(kjoule_regions_new(rec.regions, rec.regions_len, NULL, 0, 0, 5000, &r), 0);
	assert_int_equal(r->unbegun, 1 + MANY * KJOULE_REGION_UNITS);
	assert_int_equal(r->lost + r->damaged, 0);
	kjoule_regions_free(r);
	kjoule_recording_free(&rec);
}

/* A file like @like, but for what is in @build_id. */
static void write_program(const char *path, const char *like, const char *build_id)
{
	char hex[KJOULE_BUILD_ID_HEX];
	uint8_t id[KJOULE_BUILD_ID_HEX / 2], *data, *at;
	size_t len, n;

	assert_int_equal(kjoule_build_id(like, hex), 0);
	for (n = 0; hex[2 * n]; n++)
		assert_int_equal(sscanf(hex + 2 * n, "%2hhx", &id[n]), 1);
	data = read_file(like, &len);
	at = memmem(data, len, id, n);
	assert_non_null(at);
	memset(at, build_id[0], n);
	unlink(path);
	write_file(path, data, len);
	free(data);
}

/* What lies at the path when the recording ends may have been put there meanwhile. */
TEST(a_build_id_is_that_of_the_file_that_was_mapped)
{
	const struct record_options opt = { .output = temp_path("replaced") };
	static struct kjoule_session_info session = { .interval_ns = 1000000, .stop_ns = 5000 };
	static struct kjoule_calibration none;
	struct kjoule_recording rec;
	struct buffer side = { 0 };
	struct record_writer *w;
	const char *program = temp_path("program");
	const char *id;

	write_program(program, "/proc/self/exe", "\x11");
	put_map(&side, 100, 1000, 0x10000000, 0x10000, 0, program);
	put_map(&side, 100, 1000, 0x20000000, 0x10000, 0, "/nonexistent/program");
	assert_int_equal(record_writer_open(AT_FDCWD, temp_path("replaced"), &w, NULL), 0);
	assert_int_equal(record_writer_start(w, &opt, &session, &none, NULL), 0);
	assert_int_equal(record_writer_side_band(w, side.data, side.len), 0);
	write_program(program, "/proc/self/exe", "\x22");
	assert_int_equal(record_writer_side_band(w, side.data, side.len), 0);
	assert_int_equal(record_writer_finish(w, &session, "test", 0, 0, 0, 0, NULL, NULL), 0);
	assert_int_equal(record_writer_close(w, NULL), 0);
	free(side.data);
	assert_int_equal(kjoule_recording_load(temp_path("replaced"), &rec, NULL), 0);
	id = kjoule_build_ids_find(rec.build_ids, program);
	assert_non_null(id);
	assert_memory_equal(id, "1111", 4);
	assert_null(kjoule_build_ids_find(rec.build_ids, "/nonexistent/program"));
	kjoule_recording_free(&rec);
}

/* Readers parse no text of any length. */
TEST(what_a_program_has_many_of_is_read_back)
{
	static char argument[1 << 19];
	static char *command[] = { (char *)"prog", argument, argument, argument, argument, NULL };
	const struct record_options opt = { .output = temp_path("many"), .command = command };
	static struct kjoule_session_info session = { .interval_ns = 1000000, .stop_ns = 5000 };
	static struct kjoule_calibration none;
	const uint8_t id[20] = { 1, 2, 3 };
	struct kjoule_recording rec;
	struct buffer side = { 0 };
	struct record_writer *w;
	char path[4000];

	/* a control character is six in JSON */
	memset(argument, 7, sizeof(argument) - 1);
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	for (uint32_t i = 0; i < 2500; i++) {
		snprintf(path + 3990, sizeof(path) - 3990, "%08u", i);
		put_map_of(&side, 100, 1000 + i, 0x10000000, 0x10000, 0, path, id, sizeof(id));
	}
	assert_int_equal(record_writer_open(AT_FDCWD, temp_path("many"), &w, NULL), 0);
	assert_int_equal(record_writer_start(w, &opt, &session, &none, NULL), 0);
	assert_int_equal(record_writer_side_band(w, side.data, side.len), 0);
	assert_int_equal(record_writer_finish(w, &session, "test", 0, 0, 0, 0, NULL, NULL), 0);
	assert_int_equal(record_writer_close(w, NULL), 0);
	free(side.data);
	assert_int_equal(kjoule_recording_load(temp_path("many"), &rec, NULL), 0);
	assert_int_equal(rec.unpackable, 0);
	assert_non_null(kjoule_build_ids_find(rec.build_ids, path));
	snprintf(path + 3990, sizeof(path) - 3990, "%08u", 0);
	assert_non_null(kjoule_build_ids_find(rec.build_ids, path));
	assert_string_equal(rec.meta.argv[0], "prog");
	assert_int_equal(strlen(rec.meta.argv[1]), sizeof(argument) - 1);
	assert_string_equal(rec.meta.argv[rec.meta.argc - 1], "...");
	kjoule_recording_free(&rec);
}

static unsigned int left_out(const struct record_writer *w)
{
	struct record_jit_left_out out = record_writer_jit_left_out(w);

	return out.full + out.foreign + out.gone + out.unreadable;
}

/* A process of @uid. It lives until the end of @end is closed. */
static pid_t somebody(uid_t uid, int *end)
{
	int fds[2], ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds) + pipe(ready), 0);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (setuid(uid) || prctl(PR_SET_DUMPABLE, 1) || write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(fds[0], &byte, 1) != 0);
	}
	close(fds[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*end = fds[1];
	return pid;
}

/* Who records another user's command has its names, though it has ended when they are read. */
TEST(names_of_a_process_of_somebody_else_are_kept)
{
	const struct record_options opt = { .output = temp_path("foreign") };
	static struct kjoule_session_info session = { .interval_ns = 1000000, .stop_ns = 5000 };
	static struct kjoule_calibration none;
	const uid_t nobody = 65534;

	if (getuid())
		skip();
	/* seen while it was there, by a file of its own and by a third one's; and too late */
	for (int kind = 0; kind < 3; kind++) {
		struct kjoule_recording rec;
		struct buffer side = { 0 };
		struct record_writer *w;
		char path[64];
		int end, status;
		pid_t pid = somebody(nobody, &end);

		snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
		write_file(path, "10001000 800 app.js:hot\n", 24);
		assert_int_equal(chown(path, kind == 1 ? nobody - 1 : nobody, nobody), 0);
		put_map(&side, pid, 1000, 0x10000000, 0x10000, 0, "//anon");
		assert_int_equal(record_writer_open(AT_FDCWD, temp_path("foreign"), &w, NULL), 0);
		assert_int_equal(record_writer_start(w, &opt, &session, &none, NULL), 0);
		if (kind < 2)
			assert_int_equal(record_writer_side_band(w, side.data, side.len), 0);
		close(end);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		if (kind == 2)
			assert_int_equal(record_writer_side_band(w, side.data, side.len), 0);
		assert_int_equal(record_writer_finish(w, &session, "test", 0, 0, 0, 0, NULL, NULL), 0);
		assert_int_equal(left_out(w), kind > 0);
		assert_int_equal(record_writer_jit_left_out(w).foreign, kind == 1);
		assert_int_equal(record_writer_jit_left_out(w).gone, kind == 2);
		assert_int_equal(record_writer_close(w, NULL), 0);
		free(side.data);
		unlink(path);
		assert_int_equal(kjoule_recording_load(temp_path("foreign"), &rec, NULL), 0);
		assert_int_equal(kjoule_jitmaps_find(rec.jitmaps, pid, 0x10001004) != NULL,
				 kind == 0);
		kjoule_recording_free(&rec);
	}
}

/* By this process so far; 0 where the kernel does not count it. */
static uint64_t bytes_read(void)
{
	FILE *f = fopen("/proc/self/io", "re");
	uint64_t n = 0;

	if (f && fscanf(f, "rchar: %" SCNu64, &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/*
 * A program can have any number of children, each with a link to the same large map: no more is
 * read than there is room for.
 */
TEST(maps_that_there_is_no_room_for_are_not_read)
{
	const struct record_options opt = { .output = temp_path("full") };
	static struct kjoule_session_info session = { .interval_ns = 1000000, .stop_ns = 5000 };
	static struct kjoule_calibration none;
	const uint32_t first = 2147480000, n = 40;	/* more than there can be */
	struct buffer side = { 0 }, map = { 0 };
	char path[64], link_path[64], line[64];
	struct kjoule_recording rec;
	struct record_writer *w;
	uint64_t before;

	while (map.len < 10 << 20)
		put_bytes(&map, line, snprintf(line, sizeof(line), "%zx 10 f%zu\n", map.len * 16,
					       map.len));
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", first);
	write_file(path, map.data, map.len);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(link_path, sizeof(link_path), "/tmp/perf-%u.map", first + i);
		assert_int_equal(i ? link(path, link_path) : 0, 0);
		put_map(&side, first + i, 1000, 0x10000000, 0x10000, 0, "//anon");
	}
	/* and a small one behind them, which there is room for */
	snprintf(link_path, sizeof(link_path), "/tmp/perf-%u.map", first + n);
	write_file(link_path, "10001000 800 app.js:hot\n", 24);
	put_map(&side, first + n, 1000, 0x10000000, 0x10000, 0, "//anon");
	assert_int_equal(record_writer_open(AT_FDCWD, temp_path("full"), &w, NULL), 0);
	assert_int_equal(record_writer_start(w, &opt, &session, &none, NULL), 0);
	assert_int_equal(record_writer_side_band(w, side.data, side.len), 0);
	before = bytes_read();
	assert_int_equal(record_writer_finish(w, &session, "test", 0, 0, 0, 0, NULL, NULL), 0);
	before = bytes_read() - before;
	for (uint32_t i = 0; i <= n; i++) {
		snprintf(link_path, sizeof(link_path), "/tmp/perf-%u.map", first + i);
		unlink(link_path);
	}
	assert_true(before <= KJOULE_JITMAPS_MAX + (1 << 20));
	assert_int_equal(record_writer_jit_left_out(w).full, n - 1);
	assert_int_equal(left_out(w), n - 1);
	assert_int_equal(record_writer_close(w, NULL), 0);
	free(side.data);
	free(map.data);
	assert_int_equal(kjoule_recording_load(temp_path("full"), &rec, NULL), 0);
	assert_non_null(kjoule_jitmaps_find(rec.jitmaps, first, 0));
	assert_null(kjoule_jitmaps_find(rec.jitmaps, first + 1, 0));
	assert_non_null(kjoule_jitmaps_find(rec.jitmaps, first + n, 0x10001004));
	kjoule_recording_free(&rec);
}

/*
 * The map of this process's code, if there is one, goes into a recording that has met code of no
 * file in it.
 */
TEST(names_of_code_made_at_run_time_are_in_the_file)
{
	const struct record_options opt = { .output = temp_path("jit") };
	static struct kjoule_session_info session = { .interval_ns = 1000000, .stop_ns = 5000 };
	static struct kjoule_calibration none;
	const struct kjoule_jit_symbol *s;
	char path[64], hex[KJOULE_BUILD_ID_HEX];
	struct kjoule_recording rec;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	for (int kind = 0; kind < 3; kind++) {
		struct buffer side = { 0 };
		struct record_writer *w;

		if (kind)
			write_file(path, "10001000 800 app.js:hot\n", 24);
		put_map(&side, getpid(), 1000, 0x10000000, 0x10000, 0,
			kind == 2 ? "/bin/none" : "//anon");
		assert_int_equal(record_writer_open(AT_FDCWD, temp_path("jit"), &w, NULL), 0);
		assert_int_equal(record_writer_start(w, &opt, &session, &none, NULL), 0);
		assert_int_equal(record_writer_side_band(w, side.data, side.len), 0);
		assert_int_equal(record_writer_finish(w, &session, "test", 0, 0, 0, 0, NULL, NULL), 0);
		assert_int_equal(left_out(w), 0);
		assert_int_equal(record_writer_close(w, NULL), 0);
		free(side.data);
		assert_int_equal(kjoule_recording_load(temp_path("jit"), &rec, NULL), 0);
		s = kjoule_jitmaps_find(rec.jitmaps, getpid(), 0x10001004);
		if (kind == 1)
			assert_string_equal(s ? s->name : "none", "app.js:hot");
		else
			assert_null(s);
		/*
		 * and what is in no file of this process is there as well, if it has that: valgrind
		 * hides it
		 */
		assert_int_equal(rec.vdso_len > 1000, !kjoule_vdso_build_id(hex));
		kjoule_recording_free(&rec);
	}
	unlink(path);
}
