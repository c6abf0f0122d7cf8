// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Holding a frequency and restoring it, in a simulated sysfs: cpufreq's files are plain files that
 * keep what is written to them. Refusals of the kernel are simulated by their modes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/machine/frequency_state.h"
#include "tests/support/synthetic.h"
#include "tests/support/sysfs.h"
#include "tests/support/unit.h"

#define CPUFREQ	"devices/system/cpu/cpufreq"

static const char *state;
static char said[512];
static struct kjoule_error why;

static void put_policy(unsigned int number, const char *cpus, uint32_t low, uint32_t high,
		       const char *table, const char *latency)
{
	char text[32];

	sysfs_put(cpus, CPUFREQ "/policy%u/affected_cpus", number);
	sysfs_put("made-up\n", CPUFREQ "/policy%u/scaling_driver", number);
	sysfs_put("schedutil\n", CPUFREQ "/policy%u/scaling_governor", number);
	sysfs_put(latency, CPUFREQ "/policy%u/cpuinfo_transition_latency", number);
	snprintf(text, sizeof(text), "%u\n", low);
	sysfs_put(text, CPUFREQ "/policy%u/cpuinfo_min_freq", number);
	sysfs_put(text, CPUFREQ "/policy%u/scaling_min_freq", number);
	snprintf(text, sizeof(text), "%u\n", high);
	sysfs_put(text, CPUFREQ "/policy%u/cpuinfo_max_freq", number);
	sysfs_put(text, CPUFREQ "/policy%u/scaling_max_freq", number);
	if (table)
		sysfs_put(table, CPUFREQ "/policy%u/scaling_available_frequencies", number);
}

static char *path_of(unsigned int policy, const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/" CPUFREQ "/policy%u/%s", sysfs_root, policy, name);
	return path;
}

static uint32_t limit(unsigned int policy, const char *name)
{
	return strtoul(kept_text(path_of(policy, name)), NULL, 10);
}

static bool limits_are(unsigned int policy, uint32_t min, uint32_t max)
{
	if (limit(policy, "scaling_min_freq") == min && limit(policy, "scaling_max_freq") == max)
		return true;
	print_message("policy%u has %u to %u\n", policy, limit(policy, "scaling_min_freq"),
		      limit(policy, "scaling_max_freq"));
	return false;
}

/*
 * A file keeps the rest of what was longer: a number is written as sysfs takes it, at the
 * beginning.
 */
static int begin(void **s)
{
	(void)s;
	sysfs_new();
	state = temp_path("frequency-state");
	unlink(state);
	put_policy(0, "0 1\n", 100000, 900000, "900000 500000 100000 \n", "80000\n");
	put_policy(2, "2 3\n", 100000, 900000, "100000 500000 900000 \n", "240000\n");
	return 0;
}

static int end(void **s)
{
	(void)s;
	return sysfs_remove();
}

static struct kjoule_frequency *open_it(void)
{
	struct kjoule_frequency *f;

	assert_int_equal(kjoule_frequency_open(sysfs_root, state, &f, &why), 0);
	return f;
}

TEST_WITH(policies_are_read, begin, end)
{
	struct kjoule_frequency *f = open_it();
	const struct kjoule_policy *p;
	char cpus[32];
	uint32_t *list;
	size_t n;

	p = kjoule_frequency_policies(f, &n);
	assert_int_equal(n, 2);
	assert_int_equal(p[1].number, 2);
	assert_string_equal(kjoule_cpus_format(&p[1].cpus, cpus, sizeof(cpus)), "2-3");
	assert_string_equal(p[0].driver, "made-up");
	assert_int_equal(kjoule_frequency_latency_ns(f), 240000);
	assert_int_equal(kjoule_frequency_list(f, &list, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(list[0], 100000);
	assert_int_equal(list[2], 900000);
	free(list);
	assert_int_equal(kjoule_frequency_check(f, 500000, &why), 0);
	assert_int_equal(kjoule_frequency_check(f, 600000, &why), -ERANGE);
	assert_non_null(strstr(why.text, "600 MHz is none of the frequencies of CPUs 0-1: 100, 500, 900 MHz"));
	assert_int_equal(kjoule_frequency_check(f, 1000000, &why), -ERANGE);
	assert_non_null(strstr(why.text, "1000 MHz is out of range: CPUs 0-1 can be clocked at 100 to 900 MHz"));
	/* looking changes nothing */
	assert_true(limits_are(0, 100000, 900000) && access(state, F_OK));
	kjoule_frequency_close(f);
}

/* One that the others do not have is not offered; an unknown latency is not guessed. */
TEST_WITH(what_all_have_is_offered, begin, end)
{
	struct kjoule_frequency *f;
	uint32_t *list;
	size_t n;

	put_policy(4, "4\n", 300000, 700000, NULL, "4294967295\n");
	f = open_it();
	assert_int_equal(kjoule_frequency_latency_ns(f), 0);
	assert_int_equal(kjoule_frequency_list(f, &list, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(list[0], 500000);
	free(list);
	kjoule_frequency_close(f);
}

/* As intel_pstate has it: limits, and no list. */
TEST_WITH(drivers_without_a_list_have_steps, begin, end)
{
	struct kjoule_frequency *f;
	uint32_t *list;
	size_t n;

	assert_int_equal(sysfs_remove(), 0);
	sysfs_new();
	put_policy(0, "0\n", 800000, 4700000, NULL, "0\n");
	f = open_it();
	assert_int_equal(kjoule_frequency_list(f, &list, &n), 0);
	assert_int_equal(n, KJOULE_FREQUENCY_STEPS);
	assert_int_equal(list[0], 800000);
	assert_int_equal(list[1], 1400000);
	assert_int_equal(list[n - 1], 4700000);
	free(list);
	assert_int_equal(kjoule_frequency_check(f, 1234000, &why), 0);
	kjoule_frequency_close(f);
}

TEST_WITH(boost_is_offered_where_it_is_on, begin, end)
{
	struct kjoule_frequency *f;
	uint32_t *list;
	size_t n;

	/* 1 GHz is on here, 1.2 GHz is not: more than the highest there is */
	for (unsigned int i = 0; i < 4; i += 2) {
		sysfs_put("1000000 1200000\n", CPUFREQ "/policy%u/scaling_boost_frequencies", i);
		sysfs_put("1000000\n", CPUFREQ "/policy%u/cpuinfo_max_freq", i);
	}
	f = open_it();
	assert_int_equal(kjoule_frequency_list(f, &list, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(list[3], 1000000);
	free(list);
	kjoule_frequency_close(f);
}

TEST_WITH(a_frequency_is_held_and_restored, begin, end)
{
	struct kjoule_frequency *f;

	/* another user's limits, lower than the requested ones */
	sysfs_put("100000\n", CPUFREQ "/policy2/scaling_min_freq");
	sysfs_put("500000\n", CPUFREQ "/policy2/scaling_max_freq");
	f = open_it();
	assert_int_equal(kjoule_frequency_hold(f, 900000, &why), 0);
	assert_true(limits_are(0, 900000, 900000) && limits_are(2, 900000, 900000));
	assert_int_equal(access(state, F_OK), 0);
	assert_int_equal(kjoule_frequency_hold(f, 100000, &why), 0);
	assert_true(limits_are(0, 100000, 100000));
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_true(limits_are(0, 100000, 900000) && limits_are(2, 100000, 500000));
	assert_int_equal(access(state, F_OK), -1);
	/* once is enough */
	sysfs_put("500000\n", CPUFREQ "/policy0/scaling_max_freq");
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_true(limits_are(0, 100000, 500000));
	kjoule_frequency_close(f);
}

static void hold_and_die(uint32_t khz)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct kjoule_frequency *f = open_it();

		if (kjoule_frequency_hold(f, 500000, &why) || kjoule_frequency_hold(f, khz, &why))
			_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

TEST_WITH(what_a_killed_process_has_left_is_restored, begin, end)
{
	hold_and_die(100000);
	assert_true(limits_are(0, 100000, 100000));
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 1);
	assert_non_null(strstr(said, "was killed while it held the CPUs at 100 MHz: the limits from before are restored at 2 of 2 policies"));
	assert_true(limits_are(0, 100000, 900000) && limits_are(2, 100000, 900000));
	assert_int_equal(access(state, F_OK), -1);
}

/* Killed between two writes: one limit is still that of the frequency before. */
TEST_WITH(a_half_done_change_is_restored, begin, end)
{
	hold_and_die(900000);
	sysfs_put("500000\n", CPUFREQ "/policy2/scaling_min_freq");
	sysfs_put("100000\n", CPUFREQ "/policy0/scaling_min_freq");
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 1);
	assert_true(limits_are(0, 100000, 900000) && limits_are(2, 100000, 900000));
}

/* A limit by itself: the other one of its policy is restored. */
TEST_WITH(limits_set_by_others_are_left_alone, begin, end)
{
	hold_and_die(900000);
	sysfs_put("700000\n", CPUFREQ "/policy2/scaling_max_freq");
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 1);
	assert_true(limits_are(0, 100000, 900000) && limits_are(2, 100000, 700000));
	assert_non_null(strstr(said, "are restored at 2 of 2 policies; changed since by another program, or by heat, and left alone (kHz before): policy2 max 900000; to have these back"));
	assert_int_equal(access(state, F_OK), -1);
	/* the lower one, and nothing is restored of a policy with both */
	hold_and_die(500000);
	sysfs_put("300000\n", CPUFREQ "/policy0/scaling_min_freq");
	sysfs_put("600000\n", CPUFREQ "/policy2/scaling_min_freq");
	sysfs_put("800000\n", CPUFREQ "/policy2/scaling_max_freq");
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 1);
	assert_true(limits_are(0, 300000, 900000) && limits_are(2, 600000, 800000));
	assert_non_null(strstr(said, "at 1 of 2 policies; "));
	assert_non_null(strstr(said, ": policy0 min 100000, policy2 min 100000, policy2 max 700000; "));
}

/* By its owner: minimums of 1 and 1.2 GHz are restored where another one has set a maximum. */
TEST_WITH(a_maximum_set_by_others_keeps_no_minimum, begin, end)
{
	struct kjoule_frequency *f;

	put_policy(0, "0 1\n", 1000000, 3400000, "1000000 3000000 3400000\n", "80000\n");
	put_policy(2, "2 3\n", 1200000, 3600000, "1200000 3000000 3600000\n", "80000\n");
	f = open_it();
	assert_int_equal(kjoule_frequency_hold(f, 3000000, &why), 0);
	sysfs_put("2400000\n", CPUFREQ "/policy0/scaling_max_freq");
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_true(limits_are(0, 1000000, 2400000) && limits_are(2, 1200000, 3600000));
	assert_non_null(strstr(why.text, "left alone (kHz before): policy0 max 3400000; to have"));
	assert_int_equal(access(state, F_OK), -1);
	/* all of them are named */
	assert_int_equal(kjoule_frequency_hold(f, 3000000, &why), 0);
	sysfs_put("2200000\n", CPUFREQ "/policy0/scaling_max_freq");
	sysfs_put("2000000\n", CPUFREQ "/policy2/scaling_max_freq");
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_true(limits_are(0, 1000000, 2200000) && limits_are(2, 1200000, 2000000));
	assert_non_null(strstr(why.text, ": policy0 max 2400000, policy2 max 3600000; "));
	kjoule_frequency_close(f);
}

/* As heat does: the kernel shows the minimum that was set no higher than the maximum. */
TEST_WITH(a_minimum_that_is_read_lower_is_restored, begin, end)
{
	struct kjoule_frequency *f = open_it();

	assert_int_equal(kjoule_frequency_hold(f, 900000, &why), 0);
	sysfs_put("700000\n", CPUFREQ "/policy2/scaling_min_freq");
	sysfs_put("700000\n", CPUFREQ "/policy2/scaling_max_freq");
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_true(limits_are(0, 100000, 900000) && limits_are(2, 100000, 700000));
	assert_non_null(strstr(why.text, "left alone (kHz before): policy2 max 900000; to have"));
	assert_int_equal(access(state, F_OK), -1);
	/* nothing of ours is that high */
	assert_int_equal(kjoule_frequency_hold(f, 500000, &why), 0);
	sysfs_put("700000\n", CPUFREQ "/policy0/scaling_min_freq");
	sysfs_put("700000\n", CPUFREQ "/policy0/scaling_max_freq");
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_true(limits_are(0, 700000, 700000) && limits_are(2, 100000, 700000));
	assert_non_null(strstr(why.text, ": policy0 min 100000, policy0 max 900000; "));
	kjoule_frequency_close(f);
}

/* A message has room for some of them. */
TEST_WITH(messages_of_many_policies_have_an_end, begin, end)
{
	struct kjoule_frequency *f;

	for (unsigned int i = 4; i < 40; i++)
		put_policy(i, "4\n", 100000, 900000, NULL, "80000\n");
	f = open_it();
	assert_int_equal(kjoule_frequency_hold(f, 900000, &why), 0);
	for (unsigned int i = 4; i < 40; i++)
		sysfs_put("700000\n", CPUFREQ "/policy%u/scaling_max_freq", i);
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_non_null(strstr(why.text, "policy4 max 900000, policy5 max 900000, "));
	assert_non_null(strstr(why.text, " and 29 more; to have these back, write"));
	for (unsigned int i = 4; i < 40; i++)
		assert_true(limits_are(i, 100000, 700000));
	kjoule_frequency_close(f);
}

/* A policy that was not held may be set by others, or be offline. */
TEST_WITH(policies_that_were_not_held_are_let_be, begin, end)
{
	struct kjoule_frequency *f = open_it();

	assert_int_equal(kjoule_frequency_hold_one(f, 0, 500000, &why), 0);
	sysfs_put("700000\n", CPUFREQ "/policy2/scaling_max_freq");
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_string_equal(why.text, "");
	assert_true(limits_are(0, 100000, 900000) && limits_are(2, 100000, 700000));
	kjoule_frequency_close(f);
}

/*
 * As one is of which all CPUs are offline: its folder stays, and cannot be read. The others have
 * theirs back.
 */
TEST_WITH(limits_that_cannot_be_restored_now_are_kept, begin, end)
{
	hold_and_die(900000);
	unlink(path_of(0, "scaling_max_freq"));
	assert_int_equal(mkdir(path_of(0, "scaling_max_freq"), 0755), 0);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why),
			 -EISDIR);
	assert_non_null(strstr(why.text, "cannot restore the limits of policy0 (100000 to 900000 kHz): Is a directory; bring their CPUs online"));
	assert_non_null(strstr(said, "are restored at 1 of 2 policies"));
	assert_true(limits_are(2, 100000, 900000));
	assert_int_equal(access(state, F_OK), 0);
	/* they are back */
	assert_int_equal(rmdir(path_of(0, "scaling_max_freq")), 0);
	sysfs_put("900000\n", CPUFREQ "/policy0/scaling_max_freq");
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 1);
	assert_true(limits_are(0, 100000, 900000));
	assert_int_equal(access(state, F_OK), -1);
	/* one that there is no more is not waited for */
	hold_and_die(900000);
	unlink(path_of(0, "scaling_max_freq"));
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 1);
	assert_true(limits_are(2, 100000, 900000));
	assert_int_equal(access(state, F_OK), -1);
}

/* Between the check and the hold, and while it is held. */
TEST_WITH(limits_set_meanwhile_count, begin, end)
{
	struct kjoule_frequency *f = open_it();

	sysfs_put("500000\n", CPUFREQ "/policy0/scaling_max_freq");
	assert_int_equal(kjoule_frequency_hold(f, 900000, &why), 0);
	sysfs_put("700000\n", CPUFREQ "/policy2/scaling_max_freq");
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_true(limits_are(0, 100000, 500000) && limits_are(2, 100000, 700000));
	assert_non_null(strstr(why.text, "left alone (kHz before): policy2 max 900000; to have"));
	assert_int_equal(access(state, F_OK), -1);
	/* and again, from there */
	assert_int_equal(kjoule_frequency_hold(f, 500000, &why), 0);
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_string_equal(why.text, "");
	assert_true(limits_are(0, 100000, 500000) && limits_are(2, 100000, 700000));
	kjoule_frequency_close(f);
}

/* Changes bytes of the state file. */
static void put_state(size_t at, const void *bytes, size_t n)
{
	size_t len;
	uint8_t *text = read_file(state, &len);

	assert_true(at + n <= len);
	memcpy(text + at, bytes, n);
	write_file(state, text, len);
	free(text);
}

/* Of another boot, of before anything was changed, damaged. */
TEST_WITH(other_states_restore_nothing, begin, end)
{
	static const char damaged[] = "kjoule-frequency 1\nsomething else\n";

	hold_and_die(900000);
	put_state(offsetof(struct frequency_saved, boot), "another", 8);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 0);
	assert_int_equal(access(state, F_OK), -1);
	assert_true(limits_are(0, 900000, 900000));
	hold_and_die(500000);
	put_state(offsetof(struct frequency_saved, n), "\0\0\0", 4);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 0);
	assert_int_equal(access(state, F_OK), -1);
	assert_true(limits_are(0, 500000, 500000));
	/* as it is made, and cut */
	hold_and_die(500000);
	assert_int_equal(truncate(state, sizeof(struct frequency_saved) + 1), 0);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why),
			 -EBADMSG);
	write_file(state, damaged, strlen(damaged));
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why),
			 -EBADMSG);
	assert_non_null(strstr(why.text, "it should have the limits"));
	assert_int_equal(access(state, F_OK), 0);
	assert_true(limits_are(0, 500000, 500000));
}

/* What is left by one that was killed counts as no limits from before. */
TEST_WITH(nothing_is_held_before_a_recovery, begin, end)
{
	struct kjoule_frequency *f;

	hold_and_die(900000);
	f = open_it();
	assert_int_equal(kjoule_frequency_hold(f, 500000, &why), -EEXIST);
	assert_non_null(strstr(why.text, "restore them by `kjoule sweep --restore`"));
	assert_true(limits_are(0, 900000, 900000));
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why), 1);
	assert_int_equal(kjoule_frequency_hold(f, 500000, &why), 0);
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_true(limits_are(0, 100000, 900000));
	kjoule_frequency_close(f);
}

/* More frequencies than the file has room for, twice. */
TEST_WITH(a_long_sweep_is_restored, begin, end)
{
	struct kjoule_frequency *f = open_it();

	for (unsigned int i = 0; i < 2 * (FREQUENCY_MADE + 50); i++) {
		uint32_t khz = 200000 + i % (FREQUENCY_MADE + 50) * 1000;

		assert_int_equal(kjoule_frequency_hold_one(f, 0, khz, &why), 0);
	}
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_string_equal(why.text, "");
	assert_true(limits_are(0, 100000, 900000) && limits_are(2, 100000, 900000));
	kjoule_frequency_close(f);
}

TEST_WITH(one_holds_at_a_time, begin, end)
{
	struct kjoule_frequency *f = open_it(), *other = open_it();

	assert_int_equal(kjoule_frequency_hold(f, 500000, &why), 0);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why),
			 -EBUSY);
	assert_int_equal(kjoule_frequency_hold(other, 900000, &why), -EBUSY);
	assert_non_null(strstr(why.text, "holds the CPUs at a frequency"));
	assert_true(limits_are(0, 500000, 500000));
	assert_int_equal(kjoule_frequency_restore(f, &why), 0);
	assert_int_equal(kjoule_frequency_hold(other, 900000, &why), 0);
	assert_int_equal(kjoule_frequency_restore(other, &why), 0);
	kjoule_frequency_close(f);
	kjoule_frequency_close(other);
}

TEST_WITH(a_state_file_of_another_user_is_refused, begin, end)
{
	const char *target = temp_path("target");

	write_file(target, "", 0);
	assert_int_equal(symlink(target, state), 0);
	assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said), &why),
			 -ELOOP);
	unlink(state);
	if (!geteuid()) {
		write_file(state, "", 0);
		assert_int_equal(chown(state, 65534, 65534), 0);
		assert_int_equal(kjoule_frequency_recover(sysfs_root, state, said, sizeof(said),
							  &why), -EPERM);
		assert_non_null(strstr(why.text, "is not a file of yours"));
	}
}

/*
 * What cannot be set is reported, and what was set before is restored; a machine without cpufreq is
 * reported, too.
 */
TEST_WITH(refusals_have_messages, begin, end)
{
	struct kjoule_frequency *f = open_it();

	unlink(path_of(2, "scaling_max_freq"));
	assert_int_equal(mkdir(path_of(2, "scaling_max_freq"), 0755), 0);
	assert_int_equal(kjoule_frequency_hold(f, 500000, &why), -EISDIR);
	assert_non_null(strstr(why.text, "holding policy2 at 500 MHz: Is a directory"));
	assert_int_equal(kjoule_frequency_restore(f, &why), -EISDIR);
	assert_non_null(strstr(why.text, "cannot restore the limits of policy2 (100000 to 900000 kHz)"));
	assert_true(limit(0, "scaling_max_freq") == 900000);
	/* it is there for the next one */
	assert_int_equal(access(state, F_OK), 0);
	kjoule_frequency_close(f);
	assert_int_equal(kjoule_frequency_open("/nonexistent", state, &f, &why), -ENODEV);
	assert_non_null(strstr(why.text, "has no policy"));
}
