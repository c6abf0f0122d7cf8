// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Settings of frequency and threads: the course of a program, which setting is the least and whether that can be told,
 * what blocks of their own frequency save, what is run, and what `kjoule sweep --from` makes of recordings whose truth
 * is known.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <json-c/json.h>
#include "course.h"
#include "datafile.h"
#include "plot.h"
#include "sweep_cmd.h"
#include "frequency_guard.h"
#include "synthetic.h"
#include "sysfs.h"
#include "tool.h"

#define MS	1000000ull

static gsl_rng *rng;
static struct kjoule_error why;

/* Blocks 0 and 1 are groups of their own, 2 is not looked at. */
static void the_course_is_by_the_clock(void **state)
{
	static const struct cpm_tick first[] = { { .tick = 0, .block = 0 }, { .tick = 1, .block = 0 },
						 { .tick = 2, .block = 1 }, { .tick = 3, .block = 2 },
						 { .tick = 4, .block = 0 }, { .tick = 9, .block = 1 } };
	static const struct cpm_tick second[] = { { .tick = 1, .block = 0 }, { .tick = 2, .block = 0 },
						  { .tick = 5, .block = 1, .more = 4 }, { .tick = 10, .block = 0 } };
	const struct cpm_lane lanes[] = { { .ticks = first, .n = 6 }, { .ticks = second, .n = 4 } };
	const uint32_t group_of[] = { 0, 1, COURSE_NONE };
	struct course_step *steps;
	double ticks[2];
	size_t n;

	(void)state;
	assert_int_equal(course_elapsed(lanes, 2, group_of, 2, ticks), 0);
	/* 0, 1, 2, 4, 10; 2, 5 to 9 */
	assert_true(ticks[0] == 5 && ticks[1] == 6);
	assert_int_equal(course_steps(lanes, 2, group_of, &steps, &n), 0);
	assert_int_equal(n, 2);
	/* each CPU went 0, 1, 0, 1 or 0, 1, 0 */
	assert_true(steps[0].from == 0 && steps[0].to == 1 && steps[0].n == 3);
	assert_true(steps[1].from == 1 && steps[1].to == 0 && steps[1].n == 2);
	free(steps);
}

/* As many pairs as are met have room, and each is there once, in order. */
static void many_steps_are_counted(void **state)
{
	enum { GROUPS = 60, TICKS = 20000 };
	static struct cpm_tick ticks[TICKS];
	static unsigned int wanted[GROUPS][GROUPS];
	uint32_t group_of[GROUPS];
	struct course_step *steps;
	size_t n, pairs = 0;

	(void)state;
	for (uint32_t i = 0; i < GROUPS; i++)
		group_of[i] = i;
	for (unsigned int i = 0; i < TICKS; i++) {
		ticks[i] = (struct cpm_tick){ .tick = i, .block = gsl_rng_uniform_int(rng, GROUPS) };
		if (i && ticks[i].block != ticks[i - 1].block)
			pairs += !wanted[ticks[i - 1].block][ticks[i].block]++;
	}
	assert_int_equal(course_steps(&(struct cpm_lane){ .ticks = ticks, .n = TICKS }, 1, group_of, &steps, &n), 0);
	assert_true(n == pairs && n > 3000);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(steps[i].n, wanted[steps[i].from][steps[i].to]);
		assert_true(!i || steps[i - 1].from < steps[i].from ||
			    (steps[i - 1].from == steps[i].from && steps[i - 1].to < steps[i].to));
	}
	free(steps);
}

static struct value value(double v, double half)
{
	return (struct value){ v, v - half, v + half };
}

/* The interval of E t holds, where t is uncertain in both: simulated. */
static void a_product_knows_that_time_is_in_it_twice(void **state)
{
	unsigned int inside = 0, n = 20000;
	double width = 0, spread = 0;

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		double t = 10 + gsl_ran_gaussian(rng, 0.2), p = 3 + gsl_ran_gaussian(rng, 0.03);
		struct value delay = value(t, 1.96 * 0.2), j = value(p * t, 1.96 * p * t * hypot(0.2 / 10, 0.03 / 3));
		struct value product = sweep_product(&j, &delay);

		inside += product.lo <= 300 && product.hi >= 300;
		width += (product.hi - product.lo) / 2 / 1.96 / n;
		spread += pow(product.v - 300, 2) / n;
	}
	assert_in_range(inside, 0.94 * n, 0.96 * n);
	assert_true(near(width / sqrt(spread), 1, 0.03));
	/* of what is not known nothing is said */
	assert_true(isnan(sweep_product(&(struct value){ 1, NAN, NAN }, &(struct value){ 2, 1, 3 }).lo));
}

/* Of settings that do not differ one seems to in one sweep of twenty, and in no more. */
static void the_least_is_alike_with_what_does_not_differ(void **state)
{
	unsigned int n = 4000, wrong = 0, found = 0;

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		struct value figures[8];
		struct sweep_best b;

		for (int k = 0; k < 8; k++)
			figures[k] = value(10 + gsl_ran_gaussian(rng, 0.1), 0.196);
		b = sweep_least(figures, 8, 1e6, NULL);
		wrong += b.equal < 7;
		/* and one that does is found */
		figures[3] = value(9 + gsl_ran_gaussian(rng, 0.1), 0.196);
		b = sweep_least(figures, 8, 1e6, NULL);
		found += b.setting == 3 && !b.equal;
	}
	assert_in_range(wrong, 0.02 * n, 0.05 * n);
	assert_in_range(found, 0.97 * n, n);
}

static void what_is_not_known_is_no_least(void **state)
{
	const struct value figures[] = { value(NAN, 0), value(5, 0.1), { 4, NAN, NAN }, value(NAN, 0) };
	const struct value one[] = { value(NAN, 0), value(2, 1) };
	bool equal[4];
	struct sweep_best b = sweep_least(figures, 4, 39, equal);

	(void)state;
	assert_true(b.setting == 2 && b.next == 1 && b.known == 2 && b.equal == 0 && b.unknown == 1);
	assert_true(equal[1] && equal[2] && !equal[0]);
	b = sweep_least(one, 2, 39, NULL);
	assert_true(b.setting == 1 && b.next == SWEEP_NONE && b.known == 1 && !b.equal);
	b = sweep_least(one, 1, 39, NULL);
	assert_true(b.setting == SWEEP_NONE && !b.known);
}

/*
 * The paper's case: a block that is best at the highest frequency, one that is best at the lowest; a third one that is
 * not met everywhere, and a setting that failed.
 */
static void each_block_at_its_own_frequency_saves(void **state)
{
	static const uint32_t khz[] = { 50, 75, 100, 50, 75, 100 }, threads[] = { 1, 1, 1, 2, 2, 2 };
	const struct value all[] = { value(10.2, 0.1), value(9.2, 0.1), value(10.1, 0.1), value(11, 0.1), value(NAN, 0),
				     value(12, 0.1) };
	const struct value j[] = {
		value(7, 0.1), value(5, 0.1), value(4, 0.1), value(8, 0.1), value(NAN, 0), value(5, 0.1),
		value(3, 0.1), value(4, 0.1), value(6, 0.1), value(2.9, 0.1), value(NAN, 0), value(6, 0.1),
		value(0.2, 0.01), value(0.2, 0.01), value(NAN, 0), value(NAN, 0), value(NAN, 0), value(1, 0.01),
	};
	const struct value delay[] = {
		value(2, 0), value(1.5, 0), value(1, 0), value(1, 0), value(NAN, 0), value(0.5, 0),
		value(1, 0), value(0.9, 0), value(0.8, 0), value(1, 0), value(NAN, 0), value(1, 0),
		value(1, 0), value(1, 0), value(NAN, 0), value(NAN, 0), value(NAN, 0), value(1, 0),
	};
	const struct sweep_table t = { 6, 3, khz, threads, all, j, delay };
	struct value vague[18];
	struct sweep_saving s;

	(void)state;
	assert_int_equal(sweep_save(&t, 39, &s), 0);
	assert_true(s.single == 1 && s.threads == 1);
	/* 5 + 4 becomes 4 + 3, and takes 0.5 s less and 0.1 s more */
	assert_true(s.chosen[0] == 2 && s.chosen[1] == 0 && s.chosen[2] == SWEEP_NONE);
	assert_true(near(s.saved_j.v, 2, 1e-9) && near(s.base_j, 9, 1e-9));
	/* four figures with 0.1 each */
	assert_true(near(s.saved_j.hi - s.saved_j.v, 0.2, 1e-9));
	assert_true(s.moved == 2 && s.sure == 2 && near(s.sure_j, 2, 1e-9));
	assert_true(near(s.delay_s, -0.4, 1e-9));
	free(s.chosen);
	/* one without an interval stays where it is */
	memcpy(vague, j, sizeof(j));
	vague[6].lo = vague[6].hi = NAN;
	vague[9] = value(3.5, 0.1);
	assert_int_equal(sweep_save(&(struct sweep_table){ 6, 3, khz, threads, all, vague, delay }, 39, &s), 0);
	assert_true(s.chosen[1] == SWEEP_NONE && s.moved == 1 && near(s.saved_j.v, 1, 1e-9) && s.saved_j.hi > s.saved_j.v);
	free(s.chosen);
	assert_int_equal(sweep_save(&(struct sweep_table){ 1, 0, khz, threads, &all[4], j, delay }, 39, &s), -ENODATA);
}

/* What can not be told apart saves something on paper only, and is not counted as told. */
static void chance_saves_nothing_that_is_told(void **state)
{
	static const uint32_t khz[] = { 50, 75, 100 }, threads[] = { 1, 1, 1 };
	unsigned int n = 2000, told = 0;
	double saved = 0;

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		struct value j[30], delay[30], all[3];
		struct sweep_saving s;

		for (int k = 0; k < 30; k++) {
			j[k] = value(1 + gsl_ran_gaussian(rng, 0.05), 0.098);
			delay[k] = value(1, 0);
		}
		for (int k = 0; k < 3; k++)
			all[k] = value(10 + gsl_ran_gaussian(rng, 0.1), 0.2);
		assert_int_equal(sweep_save(&(struct sweep_table){ 3, 10, khz, threads, all, j, delay }, 1e6, &s), 0);
		saved += s.saved_j.v / n;
		told += s.sure > 0;
		free(s.chosen);
	}
	/* the mean of the least of three normals is 0.846 deviations low */
	assert_true(near(saved, 10 * 0.846 * 0.05, 0.02));
	/* all that is told of ten blocks and three settings together is wrong in one of twenty sweeps */
	assert_in_range(told, 0, 0.05 * n);
}

static void lists_are_read(void **state)
{
	uint32_t *list;
	size_t n;

	(void)state;
	assert_int_equal(sweep_parse_list("4,1-2,2", 8, &list, &n), 0);
	assert_true(n == 3 && list[0] == 1 && list[1] == 2 && list[2] == 4);
	free(list);
	assert_int_equal(sweep_parse_list("0", 8, &list, &n), -ERANGE);
	assert_int_equal(sweep_parse_list("9", 8, &list, &n), -ERANGE);
	assert_int_equal(sweep_parse_list("1,", 8, &list, &n), -EINVAL);
	assert_int_equal(sweep_parse_list("3-1", 8, &list, &n), -EINVAL);
	assert_int_equal(sweep_parse_list("", 8, &list, &n), -EINVAL);
	assert_int_equal(sweep_parse_khz("1.2GHz,800MHz,50000,max,min", 100, 2000000, &list, &n), 0);
	assert_true(n == 5 && list[0] == 100 && list[1] == 50000 && list[2] == 800000);
	assert_true(list[3] == 1200000 && list[4] == 2000000);
	free(list);
	assert_int_equal(sweep_parse_khz("1.2W", 1, 2, &list, &n), -EINVAL);
	assert_int_equal(sweep_parse_khz("0x10", 1, 2, &list, &n), -EINVAL);
	assert_int_equal(sweep_parse_khz("99999GHz", 1, 2, &list, &n), -ERANGE);
	assert_int_equal(sweep_parse_khz("0", 1, 2, &list, &n), -ERANGE);
}

/*
 * Runs without the module
 */

static struct {
	unsigned int calls, fails_at, killed_at, calibrated, refused_at, raises_at;
	int raises;
	enum { LEFT, STOPPED, KILLED } guardian;	/* what happens to it in that run */
	bool leaves;			/* the command runs on then */
	const char *moves;		/* the folder, which is replaced by a link to another one in the first run */
	int code;
	char said[4096];
	uint32_t min_khz;
} fake;

static uint32_t limit_now(void)
{
	char path[400];
	size_t len;
	uint8_t *text;
	uint32_t v;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpufreq/policy0/scaling_max_freq", sysfs_root);
	text = read_file(path, &len);
	v = strtoul((char *)text, NULL, 10);
	free(text);
	return v;
}

/* Somebody puts a link to a folder "trap" in the folder's place, which is "moved" from then on. */
static void move_away(const char *folder)
{
	char moved[300], trap[300];

	snprintf(moved, sizeof(moved), "%s", temp_path("moved"));
	snprintf(trap, sizeof(trap), "%s", temp_path("trap"));
	assert_int_equal(mkdir(trap, 0700), 0);
	assert_int_equal(rename(folder, moved), 0);
	assert_int_equal(symlink(trap, folder), 0);
}

/* As record_once() makes its file. */
static void put_into(const struct record_options *opt)
{
	struct kjoule_writer *w;

	assert_int_equal(kjoule_writer_open_at(opt->output_folder, opt->output, &w, &why), 0);
	assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_END, 0, "x", 1, &why), 0);
	assert_int_equal(kjoule_writer_close(w, &why), 0);
}

/* What a process that is killed can still tell. */
static struct {
	pid_t guardian, command;
} *seen;

/* The one child there is, by the name that ps(1) shows. 0: there is none */
static pid_t find_guardian(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		char path[300], comm[40], text[400];
		FILE *f;
		int ppid;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		if (fgets(text, sizeof(text), f) && sscanf(text, "%*d (%39[^)]) %*c %d", comm, &ppid) == 2 && ppid == getpid() &&
		    !strcmp(comm, FREQUENCY_GUARDIAN)) {
			assert_int_equal(found, 0);
			found = atoi(e->d_name);
		}
		fclose(f);
	}
	closedir(dir);
	return found;
}

/* Return: 0: it is that one's name */
static int comm_of(pid_t pid, const char *name)
{
	char path[40], comm[40] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f || !fgets(comm, sizeof(comm), f))
		comm[0] = '\0';
	if (f)
		fclose(f);
	comm[strcspn(comm, "\n")] = '\0';
	return strcmp(comm, name);
}

/* It is in a session of its own, and has nothing of the sweep's but its end of the line. */
static void look_at_guardian(void)
{
	struct dirent *e;
	char path[300];
	DIR *dir;

	seen->guardian = find_guardian();
	assert_true(seen->guardian > 0);
	assert_int_equal(getsid(seen->guardian), seen->guardian);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)seen->guardian);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		char target[300] = "";

		assert_true(readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1) >= 0 || e->d_name[0] == '.');
		assert_true(atoi(e->d_name) > 2 || e->d_name[0] == '.' || !strcmp(target, "/dev/null"));
		/* the folder, and what is made in it */
		assert_null(strstr(target, "kjoule-test"));
	}
	closedir(dir);
}

/* A signal comes, and to the guardian perhaps another one before. */
static void befall(void)
{
	if (fake.leaves) {
		pid_t pid = fork();

		if (!pid) {
			execlp("sleep", "sleep", "60", NULL);
			_exit(127);
		}
		seen->command = pid;
		/* not as long as it still is what was forked */
		for (int i = 0; i < 500 && comm_of(seen->command, "sleep"); i++)
			usleep(10000);
	}
	if (fake.guardian != LEFT)
		kill(seen->guardian, fake.guardian == KILLED ? SIGKILL : SIGSTOP);
	if (fake.raises)
		raise(fake.raises);
}

static int once(const struct record_options *opt, struct record_result *result)
{
	size_t at = strlen(fake.said);

	fake.calls++;
	fake.calibrated += !opt->cal;
	result->cal.ticks = 7;
	result->reason = "command ended";
	snprintf(fake.said + at, sizeof(fake.said) - at, "%s %s %u %s\n", strrchr(opt->output, '/') + 1, opt->command[1], limit_now(),
		 getenv("OMP_NUM_THREADS") ? getenv("OMP_NUM_THREADS") : "-");
	if (fake.calls == fake.refused_at) {
		result->reason = NULL;
		return 1;
	}
	/* what the command says is no part of what the sweep says */
	printf("said by run %u\n", fake.calls);
	fflush(stdout);
	if (fake.calls == 1 && fake.moves)
		move_away(fake.moves);
	put_into(opt);
	if (fake.calls == 1)
		look_at_guardian();
	if (fake.calls == fake.raises_at)
		befall();
	if (fake.calls == fake.killed_at) {
		result->reason = "signal";
		result->signal = SIGTERM;
		return 0;
	}
	return fake.calls == fake.fails_at ? fake.code : 0;
}

static void make_cpufreq(void)
{
	sysfs_new();
	sysfs_put("100000\n", "devices/system/cpu/cpufreq/policy0/cpuinfo_min_freq");
	sysfs_put("900000\n", "devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq");
	sysfs_put("100000\n", "devices/system/cpu/cpufreq/policy0/scaling_min_freq");
	sysfs_put("800000\n", "devices/system/cpu/cpufreq/policy0/scaling_max_freq");
}

static int run_it(struct sweep_plan *p, const char *folder, unsigned int runs, int *signal)
{
	static const uint32_t khz[] = { 100000, 900000 }, threads[] = { 1, 2 };
	char *argv[] = { (char *)"program", (char *)"-n{threads}x{threads}", NULL };
	struct record_options opt = { .quiet = true, .output_folder = AT_FDCWD };
	struct kjoule_frequency *f;
	int code, fd;

	assert_int_equal(kjoule_frequency_open(sysfs_root, temp_path("state"), &f, &why), 0);
	memset(p, 0, sizeof(*p));
	p->runs = runs;
	p->folder = strdup(temp_path(folder));
	fd = sweep_folder_new(p->folder, &why);
	assert_true(fd >= 0);
	assert_int_equal(sweep_plan_settings(p, khz, 2, threads, 2), 0);
	assert_int_equal(sweep_plan_command(p, argv), 0);
	setenv("OMP_NUM_THREADS", "77", 1);
	code = sweep_run(p, fd, f, &opt, once, signal);
	assert_string_equal(getenv("OMP_NUM_THREADS"), "77");
	close(fd);
	kjoule_frequency_close(f);
	return code;
}

static int run(struct sweep_plan *p, const char *folder, unsigned int runs, int *signal, char **said)
{
	int code;

	make_cpufreq();
	begin_to_hear();
	code = run_it(p, folder, runs, signal);
	*said = end_to_hear();
	/* given back, whatever came, and the guardian is gone */
	assert_int_equal(limit_now(), 800000);
	assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	assert_int_equal(access(temp_path("state"), F_OK), -1);
	assert_int_equal(sysfs_remove(), 0);
	return code;
}

static void settings_take_turns(void **state)
{
	struct sweep_plan p, again = { 0 };
	char *said, *text;
	size_t len;
	int signal;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	assert_int_equal(run(&p, "turns", 2, &signal, &said), 0);
	assert_string_equal(fake.said,
			    "f100000.t1.1.data -n1x1 100000 1\nf100000.t2.1.data -n2x2 100000 2\n"
			    "f900000.t1.1.data -n1x1 900000 1\nf900000.t2.1.data -n2x2 900000 2\n"
			    "f100000.t1.2.data -n1x1 100000 1\nf100000.t2.2.data -n2x2 100000 2\n"
			    "f900000.t1.2.data -n1x1 900000 1\nf900000.t2.2.data -n2x2 900000 2\n");
	/* what a tick takes is another thing at another frequency, and only there */
	assert_int_equal(fake.calibrated, 2);
	assert_string_equal(said, "");
	text = (char *)read_file(temp_path("turns/f900000.t2.1.data.out"), &len);
	assert_int_equal(strncmp(text, "said by run 4\n", len), 0);
	free(text);
	assert_int_equal(sweep_folder_read(p.folder, &again, &why), 0);
	assert_true(again.finished && again.runs == 2 && again.n_settings == 4 && again.settings[3].n_runs == 2);
	assert_true(again.settings[3].khz == 900000 && again.settings[3].threads == 2 && again.argc == 2);
	assert_string_equal(again.argv[1], "-n{threads}x{threads}");
	assert_string_equal(again.settings[3].runs[1].file, "f900000.t2.2.data");
	/* what is there is not written over */
	assert_int_equal(sweep_folder_new(p.folder, &why), -EEXIST);
	assert_true(says(why.text, "has a sweep already"));
	sweep_plan_free(&again);
	sweep_plan_free(&p);
	free(said);
}

static void a_setting_that_fails_is_left_out_and_the_others_go_on(void **state)
{
	struct sweep_plan p, again = { 0 };
	char *said;
	int signal;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.fails_at = 2;
	fake.code = 42;
	assert_int_equal(run(&p, "fails", 2, &signal, &said), 0);
	assert_true(says(said, "100 MHz, 2 threads, run 1: ended with exit code 42"));
	assert_int_equal(fake.calls, 7);
	assert_int_equal(sweep_folder_read(p.folder, &again, &why), 0);
	assert_true(again.settings[1].runs[0].status == SWEEP_FAILED && again.settings[1].runs[0].exit_code == 42);
	assert_true(again.finished && again.settings[0].n_runs == 2);
	sweep_plan_free(&again);
	sweep_plan_free(&p);
	free(said);
}

/* Without the module, say: that is no matter of the setting. */
static void a_recording_that_can_not_be_made_ends_it(void **state)
{
	struct sweep_plan p;
	char *said;
	int signal;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.refused_at = 2;
	assert_int_equal(run(&p, "refused", 1, &signal, &said), 1);
	assert_int_equal(fake.calls, 2);
	assert_true(says(said, "100 MHz, 2 threads, run 1: the recording could not be made, and the sweep ends here"));
	assert_true(!p.finished && p.settings[0].n_runs == 1 && !p.settings[1].n_runs);
	sweep_plan_free(&p);
	free(said);
}

static void a_signal_ends_it_and_gives_back(void **state)
{
	struct sweep_plan p, again = { 0 };
	char *said;
	int signal;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.killed_at = 3;
	assert_int_equal(run(&p, "killed", 1, &signal, &said), 128 + SIGTERM);
	assert_int_equal(signal, SIGTERM);
	assert_int_equal(fake.calls, 3);
	assert_true(says(said, "stopped by signal 15 after 2 of 4 runs"));
	assert_int_equal(sweep_folder_read(p.folder, &again, &why), 0);
	/* what was not a whole run is none */
	assert_true(!again.finished && again.settings[1].n_runs == 1 && !again.settings[2].n_runs);
	assert_int_equal(access(temp_path("killed/f900000.t1.1.data"), F_OK), -1);
	sweep_plan_free(&again);
	sweep_plan_free(&p);
	free(said);
}

/* Ctrl-C that comes while nothing waits for it is there between two runs. */
static void a_signal_between_runs_ends_it_and_gives_back(void **state)
{
	struct sweep_plan p, again = { 0 };
	char *said;
	int signal;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.raises_at = 2;
	fake.raises = SIGINT;
	assert_int_equal(run(&p, "interrupted", 1, &signal, &said), 128 + SIGINT);
	assert_int_equal(signal, SIGINT);
	assert_int_equal(fake.calls, 2);
	assert_true(says(said, "stopped by signal 2 after 2 of 4 runs"));
	/* these two were whole ones */
	assert_int_equal(sweep_folder_read(p.folder, &again, &why), 0);
	assert_true(!again.finished && again.settings[1].n_runs == 1 && !again.settings[2].n_runs);
	sweep_plan_free(&again);
	sweep_plan_free(&p);
	free(said);
}

/* A process that sweeps, in which @sig comes in its third run, at 900 MHz. */
static void die_by(int sig, const char *folder)
{
	struct rlimit none = { 0, 0 };
	struct sweep_plan p;
	int signal, status;
	pid_t pid;

	fake.calls = 0;
	fake.said[0] = '\0';
	fake.raises_at = 3;
	fake.raises = sig;
	make_cpufreq();
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		/* cmocka has handlers of its own for some */
		sigaction(sig, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		run_it(&p, folder, 1, &signal);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == sig);
}

/* The guardian of a process that is gone is ours, and gone within this time. */
static void guardian_ends(unsigned int seconds)
{
	int status = -1;
	pid_t got = 0;

	for (unsigned int i = 0; i < 100 * seconds && !got; i++) {
		got = waitpid(seen->guardian, &status, WNOHANG);
		if (!got)
			usleep(10000);
	}
	assert_int_equal(got, seen->guardian);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Signals that nobody waits for end it as they would anything, after the frequencies were given back. */
static void deadly_signals_give_back(void **state)
{
	static const int signals[] = { SIGQUIT, SIGSEGV, SIGABRT, SIGUSR1, SIGALRM, SIGXCPU };
	char folder[20];

	(void)state;
	memset(&fake, 0, sizeof(fake));
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		snprintf(folder, sizeof(folder), "deadly%zu", i);
		die_by(signals[i], folder);
		assert_int_equal(limit_now(), 800000);
		assert_int_equal(access(temp_path("state"), F_OK), -1);
		guardian_ends(1);
		assert_int_equal(sysfs_remove(), 0);
	}
}

/* SIGKILL is for the guardian, whether the command that was started goes on or not. */
static void what_sigkill_leaves_is_given_back_by_the_guardian(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.leaves = true;
	die_by(SIGKILL, "guarded");
	guardian_ends(1);
	assert_int_equal(limit_now(), 800000);
	assert_int_equal(access(temp_path("state"), F_OK), -1);
	assert_int_equal(comm_of(seen->command, "sleep"), 0);
	kill(seen->command, SIGKILL);
	assert_int_equal(waitpid(seen->command, NULL, 0), seen->command);
	assert_int_equal(sysfs_remove(), 0);
}

/* One that comes too late finds that another sweep has them, or that somebody has set them since, and does nothing. */
static void a_late_guardian_leaves_what_others_have_set(void **state)
{
	struct kjoule_frequency *f;
	char said[512];

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.guardian = STOPPED;
	die_by(SIGKILL, "late");
	assert_int_equal(limit_now(), 900000);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, temp_path("state"), said, sizeof(said), &why), 1);
	assert_int_equal(kjoule_frequency_open(sysfs_root, temp_path("state"), &f, &why), 0);
	assert_int_equal(kjoule_frequency_hold(f, 100000, &why), 0);
	kill(seen->guardian, SIGCONT);
	guardian_ends(10);
	assert_int_equal(limit_now(), 100000);
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_int_equal(limit_now(), 800000);
	kjoule_frequency_close(f);
	assert_int_equal(sysfs_remove(), 0);
	die_by(SIGKILL, "later");
	assert_int_equal(kjoule_frequency_recover(sysfs_root, temp_path("state"), said, sizeof(said), &why), 1);
	/* one that the sweep has set, too */
	sysfs_put("900000\n", "devices/system/cpu/cpufreq/policy0/scaling_max_freq");
	kill(seen->guardian, SIGCONT);
	guardian_ends(10);
	assert_int_equal(limit_now(), 900000);
	assert_int_equal(sysfs_remove(), 0);
}

/* A sweep whose guardian was killed comes to its end all the same. */
static void a_guardian_that_is_killed_is_not_missed(void **state)
{
	struct sweep_plan p;
	char *said;
	int signal;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.guardian = KILLED;
	fake.raises_at = 2;
	assert_int_equal(run(&p, "alone", 1, &signal, &said), 0);
	assert_true(p.finished && fake.calls == 4 && !signal);
	assert_string_equal(said, "");
	sweep_plan_free(&p);
	free(said);
}

/* Both killed: they are as they are, and the next one is told what they were. */
static void what_sigkill_leaves_is_given_back_by_the_next(void **state)
{
	struct sweep_plan again = { 0 };
	char said[512];

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.guardian = KILLED;
	die_by(SIGKILL, "sigkill");
	assert_int_equal(waitpid(seen->guardian, NULL, 0), seen->guardian);
	assert_int_equal(limit_now(), 900000);
	assert_int_equal(access(temp_path("state"), F_OK), 0);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, temp_path("state"), said, sizeof(said), &why), 1);
	assert_int_equal(limit_now(), 800000);
	assert_int_equal(access(temp_path("state"), F_OK), -1);
	/* the manifest is that of before the run */
	assert_int_equal(sweep_folder_read(temp_path("sigkill"), &again, &why), 0);
	assert_true(!again.finished && again.settings[1].n_runs == 1 && !again.settings[2].n_runs);
	sweep_plan_free(&again);
	assert_int_equal(sysfs_remove(), 0);
}

/* The command killed, by whomever: its setting is left out. */
static void a_command_that_is_killed_is_a_setting_that_fails(void **state)
{
	struct sweep_plan p;
	char *said;
	int signal;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.fails_at = 3;
	fake.code = 128 + SIGKILL;
	assert_int_equal(run(&p, "child", 1, &signal, &said), 0);
	assert_int_equal(signal, 0);
	assert_int_equal(fake.calls, 4);
	assert_true(says(said, "900 MHz, 1 thread, run 1: ended with exit code 137"));
	assert_true(p.finished && p.settings[2].runs[0].status == SWEEP_FAILED && p.settings[3].runs[0].status == SWEEP_GOOD);
	sweep_plan_free(&p);
	free(said);
}

/* The folder is the one that was looked at, whatever its path leads to later. */
static void a_link_in_the_place_of_the_folder_leads_nowhere(void **state)
{
	struct sweep_plan p, again = { 0 };
	char folder[300], *said;
	int signal;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", temp_path("replaced"));
	memset(&fake, 0, sizeof(fake));
	fake.moves = folder;
	assert_int_equal(run(&p, "replaced", 1, &signal, &said), 0);
	assert_int_equal(rmdir(temp_path("trap")), 0);	/* it is empty */
	assert_int_equal(sweep_folder_read(temp_path("moved"), &again, &why), 0);
	assert_true(again.finished && again.settings[3].n_runs == 1);
	assert_int_equal(access(temp_path("moved/f900000.t2.1.data"), F_OK), 0);
	assert_int_equal(access(temp_path("moved/f900000.t2.1.data.out"), F_OK), 0);
	sweep_plan_free(&again);
	sweep_plan_free(&p);
	free(said);
}

static void other_folders_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "[]", "{}", "{ \"kjoule_sweep\": 2, \"settings\": [ {} ] }", "{ \"kjoule_sweep\": 1, \"settings\": [] }",
		"{ \"kjoule_sweep\": 1, \"settings\": [ { \"runs\": [ { \"file\": \"../x.data\" } ] } ] }",
		"{ \"kjoule_sweep\": 1, \"settings\": [ { \"runs\": [ { \"file\": 7 } ] } ] }",
		"{ \"kjoule_sweep\": 1, \"settings\": [ { \"runs\": [ {} ] } ] }",
	};
	struct sweep_plan p = { 0 };

	(void)state;
	assert_int_equal(sweep_folder_read("/nonexistent", &p, &why), -ENOENT);
	assert_true(says(why.text, "there is no sweep in it"));
	assert_int_equal(sweep_folder_new("/nonexistent/x", &why), -ENOENT);
	mkdir(temp_path("bad"), 0755);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_file(temp_path("bad/sweep.json"), bad[i], strlen(bad[i]));
		assert_int_equal(sweep_folder_read(temp_path("bad"), &p, &why), -EBADMSG);
		sweep_plan_free(&p);
	}
}

/* A sweep runs as root mostly: who else can write to a folder does not tell it where its files go. */
static void folders_of_others_are_refused(void **state)
{
	char folder[300], link[300];
	int fd;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", temp_path("others"));
	snprintf(link, sizeof(link), "%s", temp_path("link"));
	assert_int_equal(mkdir(folder, 0700), 0);
	fd = sweep_folder_new(folder, &why);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(folder, 0770), 0);
	assert_int_equal(sweep_folder_new(folder, &why), -EPERM);
	assert_true(says(why.text, "can be written to by others (mode 770)") && says(why.text, "chmod go-w"));
	assert_int_equal(chmod(folder, 0702), 0);
	assert_int_equal(sweep_folder_new(folder, &why), -EPERM);
	assert_int_equal(chmod(folder, 0755), 0);
	fd = sweep_folder_new(folder, &why);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink(folder, link), 0);
	assert_int_equal(sweep_folder_new(link, &why), -ENOTDIR);
	assert_true(says(why.text, "is a symbolic link, or no folder"));
	if (!geteuid()) {
		assert_int_equal(chown(folder, 65534, 65534), 0);
		assert_int_equal(sweep_folder_new(folder, &why), -EPERM);
		assert_true(says(why.text, "belongs to user 65534"));
	}
}

/* What lies there already, links to somewhere else even, is replaced and not written to. */
static void links_in_the_folder_lead_nowhere(void **state)
{
	static const char *const names[] = { "sweep.json.new", "f100000.t1.1.data", "f100000.t1.1.data.out" };
	char folder[300], target[300], path[400];
	struct sweep_plan p;
	char *said, *text;
	size_t len;
	int signal;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", temp_path("links"));
	snprintf(target, sizeof(target), "%s", temp_path("precious"));
	write_file(target, "precious", 8);
	assert_int_equal(mkdir(folder, 0700), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(symlink(target, path), 0);
	}
	memset(&fake, 0, sizeof(fake));
	assert_int_equal(run(&p, "links", 1, &signal, &said), 0);
	text = (char *)read_file(target, &len);
	assert_true(len == 8 && !memcmp(text, "precious", 8));
	free(text);
	sweep_plan_free(&p);
	free(said);
}

/*
 * Recordings whose truth is known: user code and the kernel by turns, so many ticks and watts of each
 */

/* So many ticks in a row of code that draws so much. */
struct part {
	enum { USER, KERNEL, NOWHERE } code;
	unsigned int ticks;
	double w;
};

/* Parts one after another, four times. */
static void write_parts(const char *folder, const char *name, const struct part *parts, size_t n, uint32_t khz,
			const char *build_id)
{
	static const uint64_t where[] = { [USER] = 0x10001000, [KERNEL] = 0xffffffff81000000, [NOWHERE] = 0x70000000 };
	static uint64_t random = 1;
	struct kjoule_meta meta;
	struct buffer b = { 0 };
	char file[80];
	uint32_t k = 0;
	double uj = 0;

	make_meta(&meta, 1, MS, KJOULE_TARGET_PROCESS);
	meta.session.seed = meta.session.t0_ns = rnd(&random) >> 20;
	put_task(&b, 100, 100);
	for (size_t i = 0; i < 4 * n; i++) {
		const struct part *p = &parts[i % n];

		for (unsigned int end = k + p->ticks; k < end; k++) {
			if (k % 10 == 0)
				put_energy(&b, k, 3, (uint64_t[]){ uj, uj / 2 });
			put_sample(&b, k, where[p->code], p->code == KERNEL ? KJOULE_SAMPLE_KERNEL : 0, khz, 100);
			uj += 1000 * p->w * (0.98 + 0.04 * rnd_unit(&random));
		}
	}
	put_energy(&b, k, 3, (uint64_t[]){ uj, uj / 2 });
	snprintf(file, sizeof(file), "%s/%s", folder, name);
	put_program(0x10000000, build_id);
	write_recording(temp_path(file), &meta, &b, 1, "/nonexistent/program", k);
	free(b.data);
}

static void write_run(const char *folder, const char *name, unsigned int user, double user_w, unsigned int kernel,
		      double kernel_w, uint32_t khz, const char *build_id)
{
	const struct part parts[] = { { USER, user, user_w }, { KERNEL, kernel, kernel_w } };

	write_parts(folder, name, parts, 2, khz, build_id);
}

/* At 100 MHz, at 50 and at 25, where it fails; a fourth one never came. */
static void write_sweep(const char *folder, const char *build_id, uint64_t latency_ns)
{
	char text[2000], path[80];

	mkdir(temp_path(folder), 0755);
	for (int i = 1; i <= 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f100000.%d.data", i);
		write_run(folder, name, 100, 3, 100, 3, 100000, "aa");
		snprintf(name, sizeof(name), "f50000.%d.data", i);
		write_run(folder, name, 200, 2, 100, 1.5, i == 3 ? 60000 : 50000, build_id);
	}
	snprintf(text, sizeof(text),
		 "{ \"kjoule_sweep\": 1, \"command\": [ \"./program\", \"a b\" ], \"host\": \"there\", \"kernel\": \"Linux\","
		 "\"driver\": \"made-up\", \"runs\": 3, \"finished\": true, \"latency_ns\": %llu, \"settings\": ["
		 "{ \"freq_khz\": 25000, \"runs\": [ { \"file\": \"f25000.1.data\", \"status\": \"failed\", \"exit_code\": 9 } ] },"
		 "{ \"freq_khz\": 50000, \"runs\": [ { \"file\": \"f50000.1.data\", \"status\": \"good\" },"
		 "{ \"file\": \"f50000.2.data\", \"status\": \"good\" }, { \"file\": \"f50000.3.data\", \"status\": \"good\" } ] },"
		 "{ \"freq_khz\": 75000, \"refused\": \"it was too hot\", \"runs\": [] },"
		 "{ \"freq_khz\": 100000, \"runs\": [ { \"file\": \"f100000.1.data\", \"status\": \"good\" },"
		 "{ \"file\": \"f100000.2.data\", \"status\": \"good\" }, { \"file\": \"f100000.3.data\", \"status\": \"good\" } ] } ] }",
		 (unsigned long long)latency_ns);
	snprintf(path, sizeof(path), "%s/sweep.json", folder);
	write_file(temp_path(path), text, strlen(text));
}

static struct json_object *row_of(struct json_object *doc, const char *kind, const char *object, unsigned int khz)
{
	struct json_object *rows = member(doc, "rows");

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (!strcmp(json_object_get_string(member(row, "kind")), kind) && number(row, "freq_khz") == khz &&
		    !strcmp(json_object_get_string(member(row, "object")), object))
			return row;
	}
	print_message("no row of %s at %u\n", object, khz);
	return NULL;
}

static bool is(struct json_object *o, const char *key, const char *text)
{
	const char *there = json_object_get_string(member(o, key));

	if (there && !strcmp(there, text))
		return true;
	print_message("%s is %s instead of %s\n", key, there ? there : "nothing", text);
	return false;
}

static struct json_object *sweep_json(const char *options, int code)
{
	struct json_object *doc;

	assert_int_equal(kjoule("sweep --raw --json %s", options), code);
	doc = json_tokener_parse(out);
	assert_non_null(doc);
	return doc;
}

static void each_block_has_its_best_setting(void **state)
{
	static const char user[] = "/nonexistent/program", kernel[] = "[kernel]";
	struct json_object *doc, *row, *saving;
	char options[400];

	(void)state;
	write_sweep("known", "aa", 240000);
	snprintf(options, sizeof(options), "--from %s", temp_path("known"));
	/* settings are missing: that is no success */
	doc = sweep_json(options, 1);
	/* 4 x 100 ticks at 3 W; 4 x 200 at 2 W */
	row = row_of(doc, "function", user, 100000);
	assert_true(near(number(row, "energy_package_j"), 1.2, 0.02) && near(number(row, "delay_s"), 0.4, 0.005));
	assert_true(near(number(row, "energy_delay_package_js"), 0.48, 0.01));
	assert_true(is(row, "least_energy", "least") && is(row, "least_energy_delay", "least"));
	assert_true(json_object_get_boolean(member(row, "own_frequency")));
	row = row_of(doc, "function", user, 50000);
	assert_true(near(number(row, "energy_package_j"), 1.6, 0.03) && is(row, "least_energy", ""));
	assert_true(near(number(row, "energy_over_least"), 1.333, 0.03));
	row = row_of(doc, "function", kernel, 50000);
	assert_true(near(number(row, "energy_package_j"), 0.6, 0.01) && is(row, "least_energy", "least"));
	assert_true(json_object_get_boolean(member(row, "own_frequency")));
	/* what failed has no figures */
	assert_true(isnan(number(row_of(doc, "function", kernel, 25000), "energy_package_j")));
	assert_int_equal(number(row_of(doc, "total", "", 25000), "runs"), 0);
	row = row_of(doc, "total", "", 50000);
	assert_true(near(number(row, "energy_package_j"), 2.2, 0.03) && is(row, "least_energy", "least"));
	assert_true(is(row_of(doc, "total", "", 100000), "least_energy_delay", "least"));
	assert_int_equal(number(member(doc, "best_single"), "freq_khz"), 50000);
	saving = member(doc, "saving");
	assert_true(near(number(saving, "energy_j"), 0.4, 0.03) && near(number(saving, "told_j"), 0.4, 0.03));
	assert_true(number(saving, "energy_lo_j") < number(saving, "energy_j") && near(number(saving, "longer_s"), -0.4, 0.01));
	assert_int_equal(number(saving, "blocks"), 1);
	/* by turns, four times: seven changes of 240 us */
	assert_true(near(number(saving, "changes_at_least"), 7, 1e-9) && near(number(saving, "changes_s"), 7 * 240e-6, 1e-9));
	json_object_put(doc);
	assert_true(says(err, "25 MHz takes no part: the command ended with exit code 9"));
	assert_true(says(err, "75 MHz was not measured: it was too hot"));
	assert_true(says(err, "50 MHz: the CPUs were clocked at 53.3333 MHz on the mean"));
}

static void people_are_told_the_same(void **state)
{
	(void)state;
	write_sweep("people", "aa", 0);
	assert_int_equal(kjoule("sweep --raw --from %s", temp_path("people")), 1);
	assert_true(says(out, "# command    ./program 'a b'\n"));
	assert_true(says(out, "# frequency  held through cpufreq (made-up)"));
	assert_true(says(out, "# note       25 MHz takes no part"));
	assert_true(says(out, "best single  50 MHz: 2."));
	assert_true(says(out, "every other one takes more"));
	assert_true(says(out, "own frequency for each block: 0."));
	assert_true(says(out, "that is an upper bound"));
	assert_true(says(out, "changes of frequency: 7 or more in a run; what one takes is not known: the driver does not say"));
	assert_null(strstr(out, "nan"));
	assert_int_equal(kjoule("sweep --raw --csv --from %s", temp_path("people")), 1);
	assert_null(strstr(out, "nan"));
	assert_int_equal(strncmp(out, "kind,block,comm,function,object,freq_khz,threads,runs,samples,time_s", 68), 0);
}

/* User code and the kernel by turns of two ticks, under a counter that moves every ten; then other code. */
static void write_fine_run(const char *folder, const char *name, unsigned int fine, double user_w, double kernel_w,
			   unsigned int other, double other_w, uint32_t khz)
{
	struct part parts[201];
	size_t n = 0;

	for (; n < fine / 2; n++)
		parts[n] = n % 2 ? (struct part){ KERNEL, 2, kernel_w } : (struct part){ USER, 2, user_w };
	parts[n++] = (struct part){ NOWHERE, other, other_w };
	write_parts(folder, name, parts, n, khz, "aa");
}

static struct json_object *block_of(struct json_object *doc, const char *object)
{
	struct json_object *blocks = member(doc, "blocks");

	for (size_t i = 0; i < json_object_array_length(blocks); i++)
		if (!strcmp(json_object_get_string(member(json_object_array_get_idx(blocks, i), "object")), object))
			return json_object_array_get_idx(blocks, i);
	print_message("no block of %s\n", object);
	return NULL;
}

/* What is mixed with its neighbours has no setting of its own, and saves nothing; what is not has, and does. */
static void what_is_mixed_has_no_least(void **state)
{
	static const char text[] = "{ \"kjoule_sweep\": 1, \"command\": [ \"./program\" ], \"host\": \"there\", \"kernel\": \"Linux\","
		"\"runs\": 1, \"finished\": true, \"settings\": ["
		"{ \"freq_khz\": 50000, \"runs\": [ { \"file\": \"f50000.1.data\", \"status\": \"good\" } ] },"
		"{ \"freq_khz\": 100000, \"runs\": [ { \"file\": \"f100000.1.data\", \"status\": \"good\" } ] } ] }";
	static const char user[] = "/nonexistent/program", kernel[] = "[kernel]", other[] = "[unknown]";
	const char *const mixed[] = { user, kernel };
	struct json_object *doc, *row, *saving;
	char options[400];

	(void)state;
	mkdir(temp_path("fine"), 0755);
	write_file(temp_path("fine/sweep.json"), text, strlen(text));
	write_fine_run("fine", "f50000.1.data", 200, 2, 1.5, 200, 1, 50000);
	write_fine_run("fine", "f100000.1.data", 100, 3, 1, 100, 3, 100000);
	snprintf(options, sizeof(options), "--from %s", temp_path("fine"));
	doc = sweep_json(options, 0);
	for (size_t i = 0; i < 2; i++) {
		row = row_of(doc, "function", mixed[i], 100000);
		assert_true(number(row, "purity") < 0.7 && !isnan(number(row, "energy_package_j")));
		for (unsigned int khz = 50000; khz <= 100000; khz += 50000) {
			row = row_of(doc, "function", mixed[i], khz);
			assert_true(is(row, "least_energy", "") && is(row, "least_energy_delay", ""));
			assert_false(json_object_get_boolean(member(row, "own_frequency")));
			assert_true(isnan(number(row, "energy_over_least")));
		}
		assert_true(json_object_get_boolean(member(block_of(doc, mixed[i]), "mixed")));
		assert_null(member(block_of(doc, mixed[i]), "least_energy"));
		assert_null(member(block_of(doc, mixed[i]), "least_energy_delay"));
	}
	/* 4 x 100 ticks at 3 W, 4 x 200 at 1 W */
	row = row_of(doc, "function", other, 50000);
	assert_true(number(row, "purity") > 0.95 && is(row, "least_energy", "least"));
	assert_true(json_object_get_boolean(member(row, "own_frequency")));
	assert_int_equal(number(member(doc, "best_single"), "freq_khz"), 100000);
	assert_true(is(row_of(doc, "total", "", 100000), "least_energy", "least"));
	saving = member(doc, "saving");
	assert_true(number(saving, "blocks") == 1 && number(saving, "blocks_mixed") == 2);
	assert_true(near(number(saving, "energy_j"), 0.4, 0.03) && near(number(saving, "of_energy_j"), 1.2, 0.03));
	json_object_put(doc);
	assert_true(says(err, "of the blocks of 1 % of the whole and more 2, with "));
	assert_true(says(err, " % of the energy at the best single setting, run for too short between two moves"));
	assert_int_equal(kjoule("sweep --raw %s", options), 0);
	assert_true(says(out, "# note       of the blocks of 1 %") && says(out, "\n~ : runs for too short between two moves of the energy counter"));
	assert_true(says(out, "program    ~  -") && says(out, "[kernel]   ~  -") && says(out, "own frequency for each block: 0.4"));
}

static void other_builds_are_no_sweep(void **state)
{
	(void)state;
	write_sweep("builds", "bb", 0);
	assert_int_equal(kjoule("sweep --from %s", temp_path("builds")), 1);
	assert_true(says(err, "are recordings of different programs or builds: sweep one program at a time"));
	assert_int_equal(out[0], 0);
	assert_int_equal(kjoule("sweep --comm nobody --from %s", temp_path("known")), 1);
	assert_true(says(err, "--comm nobody: no such process at any setting"));
	/* a recording that is gone is left out, and said */
	unlink(temp_path("known/f50000.2.data"));
	assert_int_equal(kjoule("sweep --raw --from %s", temp_path("known")), 1);
	assert_true(says(err, "f50000.2.data") && says(err, "this run is left out"));
	assert_true(says(out, "# note       50 MHz has 2 of 3 runs"));
}

static void a_map_is_drawn(void **state)
{
	char why_not[100], picture[300];
	uint8_t *data;
	size_t len;

	(void)state;
	if (plot_draw("\n", 1, why_not, sizeof(why_not)) == -ENOENT) {
		print_message("# SKIP there is no gnuplot\n");
		return;
	}
	write_sweep("drawn", "aa", 0);
	snprintf(picture, sizeof(picture), "%s", temp_path("map.svg"));
	assert_int_equal(kjoule("sweep --raw --map %s --from %s", picture, temp_path("drawn")), 1);
	data = read_file(picture, &len);
	assert_true(len > 1000 && !memcmp(data, "<?xml", 5));
	free(data);
	data = read_file(temp_path("map.csv"), &len);
	assert_int_equal(strncmp((char *)data, "kind,block,", 11), 0);
	free(data);
}

static void command_lines_are_checked(void **state)
{
	static const struct {
		const char *options, *words;
	} cases[] = {
		{ "", "sweep what?" }, { "--from x -- true", "--from looks at what was recorded" },
		{ "--from x --threads 1", "--from looks at" }, { "--from x -F 100", "--from looks at" },
		{ "--restore -- true", "--restore only gives back" }, { "--threads 0 -- true", "--threads 0: out of range" },
		{ "--threads x -- true", "not understood" }, { "--runs 1000 -- true", "out of range" },
		{ "--map x.gif -- true", ".svg or .png" }, { "--by process -- true", "the total says that" },
		{ "-F 100 --overhead 1 -- true", "--overhead chooses the interval" }, { "--jitter 2ms -- true", "--jitter must be less" },
		{ "--by x -- true", "--by x" },
		{ "--freq keep --threads 1,2 -- './bench-{threads}'", "settings of different ones are not compared" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(kjoule("sweep %s", cases[i].options), 2);
		assert_true(says(err, cases[i].words) && says(err, "kjoule sweep: "));
		assert_int_equal(out[0], 0);
	}
	assert_int_equal(kjoule("sweep --freq keep -- /nonexistent/program"), 127);
	assert_int_equal(kjoule("sweep --help"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_course_is_by_the_clock),
		cmocka_unit_test(many_steps_are_counted),
		cmocka_unit_test(a_product_knows_that_time_is_in_it_twice),
		cmocka_unit_test(the_least_is_alike_with_what_does_not_differ),
		cmocka_unit_test(what_is_not_known_is_no_least),
		cmocka_unit_test(each_block_at_its_own_frequency_saves),
		cmocka_unit_test(chance_saves_nothing_that_is_told),
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(settings_take_turns),
		cmocka_unit_test(a_setting_that_fails_is_left_out_and_the_others_go_on),
		cmocka_unit_test(a_recording_that_can_not_be_made_ends_it),
		cmocka_unit_test(a_signal_ends_it_and_gives_back),
		cmocka_unit_test(a_signal_between_runs_ends_it_and_gives_back),
		cmocka_unit_test(deadly_signals_give_back),
		cmocka_unit_test(what_sigkill_leaves_is_given_back_by_the_guardian),
		cmocka_unit_test(a_late_guardian_leaves_what_others_have_set),
		cmocka_unit_test(a_guardian_that_is_killed_is_not_missed),
		cmocka_unit_test(what_sigkill_leaves_is_given_back_by_the_next),
		cmocka_unit_test(a_command_that_is_killed_is_a_setting_that_fails),
		cmocka_unit_test(a_link_in_the_place_of_the_folder_leads_nowhere),
		cmocka_unit_test(other_folders_are_refused),
		cmocka_unit_test(folders_of_others_are_refused),
		cmocka_unit_test(links_in_the_folder_lead_nowhere),
		cmocka_unit_test(each_block_has_its_best_setting),
		cmocka_unit_test(people_are_told_the_same),
		cmocka_unit_test(what_is_mixed_has_no_least),
		cmocka_unit_test(other_builds_are_no_sweep),
		cmocka_unit_test(a_map_is_drawn),
		cmocka_unit_test(command_lines_are_checked),
	};
	int ret;

	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, 1);
	/* a shell starts what runs in the background with it ignored */
	signal(SIGINT, SIG_DFL);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* what is left by a process that was killed is ours */
	if (seen == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 1;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	gsl_rng_free(rng);
	return ret;
}
