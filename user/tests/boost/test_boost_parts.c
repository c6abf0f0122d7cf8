// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `kjoule boost` works with: loads, limits of powercap, a fan that is given back whatever
 * comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "boost/boost.h"
#include "machine/cpu_load.h"
#include "tests/support/synthetic.h"
#include "tests/support/sysfs.h"
#include "tests/support/unit.h"

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static double cpu_s(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_utime.tv_sec + use.ru_utime.tv_usec * 1e-6 + use.ru_stime.tv_sec +
	       use.ru_stime.tv_usec * 1e-6;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* A file of the made-up sysfs. */
static const char *put(const char *name, const char *text)
{
	static char path[512];

	sysfs_put(text, "%s", name);
	snprintf(path, sizeof(path), "%s/%s", sysfs_root, name);
	return path;
}

static bool has(const char *path, const char *text)
{
	char found[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	if (!fgets(found, sizeof(found), f))
		found[0] = '\0';
	fclose(f);
	return !strcmp(found, text);
}

TEST(loads_work_when_they_are_told)
{
	struct kjoule_cpus online;
	struct kjoule_error err;
	struct cpu_load *l;

	assert_int_equal(kjoule_cpus_online(&online), 0);
	for (unsigned int kind = 0; kind < CPU_LOAD_KINDS; kind++) {
		uint64_t before = 0;

		assert_non_null(cpu_load_names[kind]);
		assert_int_equal(cpu_load_new(kind, &online, 1, &l, &err), 0);
		assert_int_equal(cpu_load_threads(l), 1);
		sleep_ms(5);
		assert_int_equal(cpu_load_passes(l), 0);
		cpu_load_go(l, 1);
		for (unsigned int i = 0; i < 1000 && cpu_load_passes(l) < 10; i++)
			sleep_ms(5);
		assert_true(cpu_load_passes(l) >= 10);
		cpu_load_go(l, 0);
		/* the pass under way is finished, which may take long with other work */
		for (unsigned int i = 0; i < 100 && before != cpu_load_passes(l); i++) {
			before = cpu_load_passes(l);
			sleep_ms(50);
		}
		assert_int_equal(before, cpu_load_passes(l));
		cpu_load_free(l);
	}
	cpu_load_free(NULL);
}

TEST(a_load_of_half_the_time_rests_for_the_other_half)
{
	struct kjoule_cpus online;
	struct kjoule_error err;
	double took, cpu;
	struct cpu_load *l;

	/* where programs run a hundred times slower a pass takes longer than a turn */
	if (getenv("KJOULE_TEST_QUICK"))
		skip();
	assert_int_equal(kjoule_cpus_online(&online), 0);
	assert_int_equal(cpu_load_new(CPU_LOAD_MULTIPLY, &online, 1, &l, &err), 0);
	cpu_load_go(l, 0.5);
	took = now_s();
	cpu = cpu_s();
	sleep_ms(800);
	cpu = cpu_s() - cpu;
	took = now_s() - took;
	assert_true(cpu_load_passes(l) > 0);
	cpu_load_free(l);
	/* a machine with other work may give it less, and never more */
	assert_true(cpu < 0.8 * took);
}

TEST(limits_are_those_of_powercap)
{
	struct boost_limits l = boost_limits_read(sysfs_root);

	assert_true(isnan(l.pl1_w) && isnan(l.pl2_w) && isnan(l.tau_s));
	put("class/powercap/intel-rapl:0/constraint_0_name", "long_term\n");
	put("class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "15000000\n");
	put("class/powercap/intel-rapl:0/constraint_0_time_window_us", "28300000\n");
	put("class/powercap/intel-rapl:0/constraint_1_name", "short_term\n");
	put("class/powercap/intel-rapl:0/constraint_1_power_limit_uw", "nonsense\n");
	l = boost_limits_read(sysfs_root);
	assert_true(l.pl1_w == 15 && fabs(l.tau_s - 28.3) < 1e-9 && isnan(l.pl2_w));
	put("class/powercap/intel-rapl:0/constraint_1_power_limit_uw", "25000000\n");
	l = boost_limits_read(sysfs_root);
	assert_true(l.pl2_w == 25);
}

/* A zone's limits in microwatt, with a time window of so many microseconds. */
static void put_limits(const char *zone, const char *name, const char *pl1, const char *pl2,
		       const char *tau)
{
	sysfs_put_zone(zone, name, "1\n");
	sysfs_put("long_term\n", "class/powercap/%s/constraint_0_name", zone);
	sysfs_put(pl1, "class/powercap/%s/constraint_0_power_limit_uw", zone);
	sysfs_put(tau, "class/powercap/%s/constraint_0_time_window_us", zone);
	sysfs_put("short_term\n", "class/powercap/%s/constraint_1_name", zone);
	sysfs_put(pl2, "class/powercap/%s/constraint_1_power_limit_uw", zone);
}

TEST(limits_of_all_packages_are_summed)
{
	struct boost_limits l;

	put_limits("intel-rapl:0", "package-0\n", "15000000\n", "25000000\n", "28000000\n");
	put_limits("intel-rapl:1", "package-1\n", "20000000\n", "30000000\n", "28000000\n");
	/* what has limits besides */
	put_limits("intel-rapl:2", "psys\n", "90000000\n", "90000000\n", "1000000\n");
	put_limits("intel-rapl:0:0", "package-of-no-kind\n", "90000000\n", "90000000\n",
		   "1000000\n");
	put_limits("intel-rapl-mmio:0", "package-0\n", "90000000\n", "90000000\n", "1000000\n");
	l = boost_limits_read(sysfs_root);
	assert_true(l.pl1_w == 35 && l.pl2_w == 55 && l.tau_s == 28);
	put("class/powercap/intel-rapl:1/enabled", "1\n");
	put("class/powercap/intel-rapl:1/constraint_0_time_window_us", "8000000\n");
	l = boost_limits_read(sysfs_root);
	assert_true(l.pl1_w == 35 && l.pl2_w == 55 && isnan(l.tau_s));
	put("class/powercap/intel-rapl:1/constraint_0_time_window_us", "28000000\n");
	put("class/powercap/intel-rapl:1/enabled", "0\n");
	l = boost_limits_read(sysfs_root);
	assert_true(isnan(l.pl1_w) && isnan(l.pl2_w) && isnan(l.tau_s));
	put("class/powercap/intel-rapl:1/enabled", "1\n");
	put("class/powercap/intel-rapl:1/constraint_1_power_limit_uw", "nonsense\n");
	l = boost_limits_read(sysfs_root);
	assert_true(l.pl1_w == 35 && isnan(l.pl2_w) && l.tau_s == 28);
}

TEST(a_fan_is_slowed_down_and_given_back)
{
	const char *path = put("pwm1", "200");
	struct kjoule_error err;
	struct boost_fan fan;

	assert_int_equal(boost_fan_open(path, &fan, &err), 0);
	assert_int_equal(boost_fan_set(&fan, 85, &err), 0);
	assert_true(has(path, "85"));
	assert_int_equal(boost_fan_reset(&fan, &err), 0);
	assert_true(has(path, "200"));
	/* one that is not is given back at the end */
	assert_int_equal(boost_fan_set(&fan, 85, &err), 0);
	boost_fan_close(&fan);
	assert_true(has(path, "200"));
	path = put("pwm2", "\n");
	assert_int_equal(boost_fan_open(path, &fan, &err), -EINVAL);
	boost_fan_close(&fan);
	assert_int_equal(boost_fan_open("/nowhere/pwm1", &fan, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/pwm1"));
	boost_fan_close(&fan);
}

/*
 * A terminal in the place of a fan: what is read from it is what the test has typed, whatever is
 * written to it.
 */
struct typed {
	int master, slave;
	char path[64];
};

static bool typed_open(struct typed *t)
{
	struct termios mode;

	t->master = posix_openpt(O_RDWR | O_NOCTTY);
	if (t->master < 0 || grantpt(t->master) || unlockpt(t->master) ||
	    ptsname_r(t->master, t->path, sizeof(t->path)))
		return false;
	/* what was typed stays as long as a process has it open */
	t->slave = open(t->path, O_RDWR | O_NOCTTY);
	assert_true(t->slave >= 0);
	assert_int_equal(tcgetattr(t->slave, &mode), 0);
	mode.c_lflag &= ~ECHO;
	assert_int_equal(tcsetattr(t->slave, TCSANOW, &mode), 0);
	return true;
}

static void type(const struct typed *t, const char *line)
{
	assert_int_equal(write(t->master, line, strlen(line)), strlen(line));
}

/* All that was written to it by now is this. */
static void assert_written(const struct typed *t, const char *all)
{
	char text[64] = "";
	size_t len = 0;

	while (len < strlen(all)) {
		ssize_t n = read(t->master, text + len, sizeof(text) - 1 - len);

		assert_true(n > 0);
		len += n;
	}
	assert_string_equal(text, all);
}

TEST(a_fan_that_does_as_it_likes_is_told)
{
	struct kjoule_error err;
	struct boost_fan fan;
	struct typed t;

	if (!typed_open(&t))
		skip();
	type(&t, "200\n");
	assert_int_equal(boost_fan_open(t.path, &fan, &err), 0);
	type(&t, "190\n");
	assert_int_equal(boost_fan_set(&fan, 85, &err), -EBUSY);
	assert_non_null(strstr(err.text, "85 was written, and it reads 190"));
	assert_non_null(strstr(err.text, "pwm1_enable = 1"));
	/* nothing is left to be given back */
	assert_false(fan.slowed);
	assert_int_equal(boost_fan_reset(&fan, &err), 0);
	boost_fan_close(&fan);
	assert_written(&t, "85" "200");
	close(t.slave);
	close(t.master);
}

TEST(a_fan_that_can_not_be_given_back_is_left_to_the_guardian)
{
	struct kjoule_error err;
	struct boost_fan fan;
	struct typed t;
	char *told;

	if (!typed_open(&t))
		skip();
	type(&t, "200\n");
	assert_int_equal(boost_fan_open(t.path, &fan, &err), 0);
	type(&t, "85\n");
	assert_int_equal(boost_fan_set(&fan, 85, &err), 0);
	type(&t, "86\n");
	stderr_capture();
	boost_fan_close(&fan);
	told = stderr_release();
	assert_non_null(strstr(told, "200 was written, and it reads 86"));
	/* once here, once there */
	assert_written(&t, "85" "200" "200");
	close(t.slave);
	close(t.master);
}

TEST(a_fan_that_was_not_touched_is_left_alone)
{
	/* a number that not even root may write */
	const char *fixed = "/proc/sys/kernel/ngroups_max", *path = put("pwm4", "200");
	struct kjoule_error err;
	struct boost_fan fan;
	char *told;

	assert_int_equal(boost_fan_open(fixed, &fan, &err), 0);
	assert_int_equal(boost_fan_set(&fan, 85, &err), -EACCES);
	stderr_capture();
	boost_fan_close(&fan);
	told = stderr_release();
	assert_string_equal(told, "");
	/* by another process */
	assert_int_equal(boost_fan_open(path, &fan, &err), 0);
	put("pwm4", "100");
	boost_fan_close(&fan);
	assert_true(has(path, "100"));
}

TEST(a_fan_is_given_back_for_a_process_that_was_killed)
{
	const char *path = put("pwm3", "200");
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct kjoule_error err;
		struct boost_fan fan;

		if (!boost_fan_open(path, &fan, &err) && !boost_fan_set(&fan, 100, &err))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (unsigned int i = 0; i < 1000 && !has(path, "200"); i++)
		sleep_ms(5);
	assert_true(has(path, "200"));
}

static int make_sysfs(void **state)
{
	(void)state;
	sysfs_new();
	return 0;
}

static int remove_sysfs(void **state)
{
	(void)state;
	return sysfs_remove();
}

int main(void)
{
	return tests_run(make_sysfs, remove_sysfs);
}
