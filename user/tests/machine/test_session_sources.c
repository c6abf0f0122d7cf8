// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of the available sources a recording takes: a simulated sysfs and module. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cmd.h"
#include "lib/control/sources.h"
#include "record/record.h"
#include "tests/support/synthetic.h"
#include "tests/support/sysfs.h"
#include "tests/support/unit.h"

static struct kjoule_source_info kernel[2];
static struct sources_offer offer;
static struct session_sources *chosen;
static char *heard;		/* on standard error, by the last choice */

/* The module: refuses what has the name, or all that begins so. */
static const char *refused;
static int refused_with;
static unsigned int tries;

static int try(const struct kjoule_source_spec *spec, const char *what, void *arg,
	       struct kjoule_error *err)
{
	(void)arg;
	tries++;
	if (spec->origin == KJOULE_ORIGIN_VALUE_FILE)
		assert_true(spec->fd >= 0);
	if (!refused || strncmp(spec->name, refused, strlen(refused)))
		return 0;
	return kjoule_fail(err, refused_with, "%s: %s: the counter is stuck", what, spec->name);
}

/* Two packages with a core zone each, and ten sensors. */
static int make_machine(void **state)
{
	(void)state;
	sysfs_new();
	sysfs_put_zone("intel-rapl:0", "package-0\n", "123456\n");
	sysfs_put_zone("intel-rapl:0:0", "core\n", "3456\n");
	sysfs_put_zone("intel-rapl:1", "package-1\n", "223456\n");
	sysfs_put_zone("intel-rapl:1:0", "core\n", "4456\n");
	for (int i = 0; i < 10; i++)
		sysfs_put("40000\n", "class/thermal/thermal_zone%d/temp", i);
	memset(kernel, 0, sizeof(kernel));
	strcpy(kernel[0].name, "chip");
	kernel[0].kind = KJOULE_KIND_ENERGY;
	strcpy(kernel[1].name, "clock");
	kernel[1].kind = KJOULE_KIND_FREQUENCY;
	kernel[0].available = kernel[1].available = true;
	kernel[0].is_default = true;
	kernel[0].rating = 200;
	offer = (struct sources_offer){ .kernel = kernel, .n_kernel = 2, .sysfs = sysfs_root,
					.try = try };
	refused = NULL;
	refused_with = ENODEV;
	tries = 0;
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	session_sources_free(chosen);
	chosen = NULL;
	heard = NULL;
	return sysfs_remove();
}

static int choose(const char *wanted)
{
	int code;

	session_sources_free(chosen);
	stderr_capture();
	code = session_sources_choose(wanted, &offer, &chosen);
	heard = stderr_release();
	return code;
}

static bool says(const char *what)
{
	if (!strstr(heard, what))
		print_message("looked for: %s\nfound: %s\n", what, heard);
	return strstr(heard, what);
}

/* Their names, with commas between. */
static const char *names(void)
{
	static char text[1024];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < chosen->n; i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%s", i ? "," : "",
			       chosen->info[i].name);
	return text;
}

#define ZONE	"powercap:intel-rapl:"

TEST_WITH(a_part_that_stands_still_is_left_out_of_its_meter, make_machine, remove_machine)
{
	assert_int_equal(choose("powercap"), 0);
	assert_string_equal(names(), ZONE "0," ZONE "1," ZONE "0:0," ZONE "1:0");
	assert_string_equal(heard, "");
	refused = ZONE "1:0";
	assert_int_equal(choose("powercap"), 0);
	assert_string_equal(names(), ZONE "0," ZONE "1," ZONE "0:0");
	assert_string_equal(heard,
			    "kjoule: left out of powercap: " ZONE
			    "1:0: the counter is stuck\n");
	/* the first of them too; by default as well */
	refused = ZONE "0";
	kernel[0].available = false;
	assert_int_equal(choose(NULL), 0);
	assert_string_equal(names(), ZONE "1," ZONE "1:0");
	assert_true(says("left out of powercap: " ZONE "0: the counter is stuck\n"));
	assert_true(says("left out of powercap: " ZONE "0:0: the counter is stuck\n"));
}

TEST_WITH(a_meter_of_which_no_part_works_is_refused, make_machine, remove_machine)
{
	refused = ZONE;
	assert_int_equal(choose("powercap"), EXIT_FAILED);
	assert_true(says("kjoule: left out of powercap: " ZONE "1:0: the counter is stuck\n"));
	assert_true(says("kjoule: powercap: no part of it can be used"));
}

/* Without a request the next best one has its turn, and at last none. */
TEST_WITH(by_default_what_does_not_work_gives_way_to_the_next_best, make_machine, remove_machine)
{
	sysfs_put("24\n", "bus/event_source/devices/power/type");
	sysfs_put("0\n", "bus/event_source/devices/power/cpumask");
	sysfs_put("config:0-7\n", "bus/event_source/devices/power/format/event");
	sysfs_put("event=0x02\n", "bus/event_source/devices/power/events/energy-pkg");
	sysfs_put("Joules\n", "bus/event_source/devices/power/events/energy-pkg.unit");
	sysfs_put("2.3283064365386962890625e-10\n",
		  "bus/event_source/devices/power/events/energy-pkg.scale");
	kernel[0].available = false;
	assert_int_equal(choose(NULL), 0);
	assert_string_equal(names(), "perf:power/energy-pkg/");
	refused = "perf:power";
	assert_int_equal(choose(NULL), 0);
	assert_string_equal(names(), ZONE "0," ZONE "1," ZONE "0:0," ZONE "1:0");
	assert_true(says("left out of perf:power: perf:power/energy-pkg/: the counter is stuck\n"));
	refused = "p";		/* all that sysfs has of the processor */
	assert_int_equal(choose(NULL), 0);
	assert_int_equal(chosen->n, 0);
	assert_true(says("recording time and frequency only"));
	/* a default of the kernel's that is worse than what does not work */
	kernel[0].available = true;
	kernel[0].rating = 1;
	assert_int_equal(choose(NULL), 0);
	assert_int_equal(chosen->n, 0);
	assert_null(strstr(heard, "time and frequency only"));
}

/* A source requested by name is for the session to refuse. */
TEST_WITH(what_is_named_itself_is_not_left_out, make_machine, remove_machine)
{
	refused = ZONE "1:0";
	assert_int_equal(choose(ZONE "1," ZONE "1:0"), 0);
	assert_string_equal(names(), ZONE "1," ZONE "1:0");
	assert_int_equal(tries, 0);
}

/* That there is no room for a session says nothing of the source. */
TEST_WITH(a_module_without_room_refuses_no_part, make_machine, remove_machine)
{
	static const int full[] = { ENOMEM, EDQUOT, EUSERS };

	refused = ZONE;
	for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++) {
		refused_with = full[i];
		assert_int_equal(choose("powercap"), 0);
		assert_int_equal(chosen->n, 4);
	}
}

TEST_WITH(a_frequency_source_is_chosen_beside_the_others, make_machine, remove_machine)
{
	assert_int_equal(choose("powercap:intel-rapl:0,clock"), 0);
	assert_string_equal(chosen->frequency_source, "clock");
	assert_string_equal(names(), ZONE "0");
	/* energy is what it would be */
	assert_int_equal(choose("clock"), 0);
	assert_string_equal(chosen->frequency_source, "clock");
	assert_int_equal(chosen->n, 0);
	assert_null(chosen->energy_source);
	kernel[0].available = false;
	assert_int_equal(choose("clock"), 0);
	assert_int_equal(chosen->n, 4);
	assert_int_equal(choose("chip"), EXIT_FAILED);
	kernel[0].available = true;
	assert_int_equal(choose("chip,clock"), 0);
	assert_string_equal(chosen->energy_source, "chip");
	assert_int_equal(choose("clock,clock"), EXIT_FAILED);
	assert_true(says("of which a recording has one"));
	assert_int_equal(choose("clock@20ms"), EXIT_FAILED);
	assert_true(says("clock is read in the tick, it has no period"));
	kernel[1].available = false;
	strcpy(kernel[1].reason, "no counter");
	assert_int_equal(choose("clock"), EXIT_FAILED);
	assert_true(says("clock: this source cannot be used: no counter"));
}

TEST_WITH(slow_sources_are_read_as_often_as_is_said, make_machine, remove_machine)
{
	sysfs_put("board\n", "class/hwmon/hwmon1/name");
	sysfs_put("5000000\n", "class/hwmon/hwmon1/power1_input");
	sysfs_put("board\n", "class/hwmon/hwmon2/name");
	sysfs_put("5000000\n", "class/hwmon/hwmon2/power1_input");
	assert_int_equal(choose("hwmon:board/power1@20ms,thermal:thermal_zone0,hwmon:board@2/power1,"
				"hwmon:board@2/power1@1h"), EXIT_FAILED);
	assert_true(says("hwmon:board@2/power1 is named twice"));
	assert_int_equal(choose("hwmon:board/power1@20ms,thermal:thermal_zone0,hwmon:board@2/power1@1h,"
				"chip@50ms,powercap@2ms"), 0);
	assert_string_equal(names(), "hwmon:board/power1,thermal:thermal_zone0,hwmon:board@2/power1,chip,"
			    ZONE "0," ZONE "1," ZONE "0:0," ZONE "1:0");
	assert_int_equal(chosen->spec[0].period_ns, 20000000);
	assert_int_equal(chosen->spec[1].period_ns, 0);
	assert_int_equal(chosen->spec[2].period_ns, 3600000000000);
	assert_int_equal(chosen->spec[3].period_ns, 50000000);
	for (int i = 4; i < 8; i++)
		assert_int_equal(chosen->spec[i].period_ns, 2000000);
	/* what is registered says itself whether it has one */
	assert_int_equal(choose("chip@50ms"), 0);
	assert_null(chosen->energy_source);
	assert_int_equal(chosen->spec[0].period_ns, 50000000);
	refused = "chip";
	assert_int_equal(choose("chip@50ms"), EXIT_FAILED);
	assert_true(says("kjoule: --source chip@50ms: chip: "));
}

TEST_WITH(a_period_has_to_make_sense, make_machine, remove_machine)
{
	static const char *const bad[] = {
		"@", "@20", "@ms", "@-20ms", "@20 ms", "@0ms", "@999us", "@3601s", "@1e30s",
	};
	char name[64];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(name, sizeof(name), "thermal:thermal_zone0%s", bad[i]);
		assert_int_equal(choose(name), EXIT_USAGE);
		assert_true(says(name));
		assert_true(says("expected 1ms to 1h"));
	}
	assert_int_equal(choose("nothing@20ms"), EXIT_FAILED);
	assert_true(says("nothing: no such source; see `kjoule list`"));
	assert_int_equal(choose("hwmon:x@3/power9"), EXIT_FAILED);
	assert_true(says("hwmon:x@3/power9: no such source"));
	/* events are read in the tick */
	sysfs_put("24\n", "bus/event_source/devices/power/type");
	sysfs_put("config:0-7\n", "bus/event_source/devices/power/format/event");
	sysfs_put("event=0x02\n", "bus/event_source/devices/power/events/energy-pkg");
	sysfs_put("Joules\n", "bus/event_source/devices/power/events/energy-pkg.unit");
	sysfs_put("2.3283064365386962890625e-10\n",
		  "bus/event_source/devices/power/events/energy-pkg.scale");
	assert_int_equal(choose("perf:power/energy-pkg/"), 0);
	assert_int_equal(choose("perf:power/energy-pkg/@20ms"), EXIT_FAILED);
	assert_true(says("perf:power/energy-pkg/ is read in the tick, it has no period"));
	assert_int_equal(choose("perf:power@20ms"), EXIT_FAILED);
	assert_true(says("perf:power is read in the tick, it has no period"));
}

TEST_WITH(more_sources_than_a_session_takes_are_refused, make_machine, remove_machine)
{
	assert_int_equal(choose("thermal:thermal_zone0,thermal:thermal_zone1,thermal:thermal_zone2,"
				"thermal:thermal_zone3,thermal:thermal_zone4,thermal:thermal_zone5,"
				"thermal:thermal_zone6,thermal:thermal_zone7"), 0);
	assert_int_equal(chosen->n, 8);
	assert_int_equal(choose("thermal:thermal_zone0,thermal:thermal_zone1,thermal:thermal_zone2,"
				"thermal:thermal_zone3,thermal:thermal_zone4,thermal:thermal_zone5,"
				"thermal:thermal_zone6,thermal:thermal_zone7,thermal:thermal_zone8"),
				EXIT_FAILED);
	assert_true(says("these are more than 8 sources"));
	/* of a meter there is at least one */
	assert_int_equal(choose("thermal:thermal_zone0,thermal:thermal_zone1,thermal:thermal_zone2,"
				"thermal:thermal_zone3,thermal:thermal_zone4,thermal:thermal_zone5,"
				"thermal:thermal_zone6,thermal:thermal_zone7,powercap"),
				EXIT_FAILED);
	assert_true(says("these are more than 8 sources"));
	assert_int_equal(choose("thermal:thermal_zone0,thermal:thermal_zone1,thermal:thermal_zone2,"
				"thermal:thermal_zone3,thermal:thermal_zone4,thermal:thermal_zone5,powercap"),
				0);
	assert_true(says("2 domains of powercap are left out"));
}
