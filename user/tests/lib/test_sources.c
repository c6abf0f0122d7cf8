// SPDX-License-Identifier: GPL-2.0-or-later
/* Sources in simulated sysfs folders. */
#include <errno.h>
#include <string.h>
#include "lib/control/sources.h"
#include "tests/support/sysfs.h"
#include "tests/support/unit.h"

static int make_machine(void **state)
{
	(void)state;
	sysfs_new();
	/* two packages of two CPUs each, interleaved */
	for (int cpu = 0; cpu < 4; cpu++)
		sysfs_put(cpu % 2 ? "1\n" : "0\n",
			  "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
	sysfs_put("1\n", "class/powercap/intel-rapl/enabled");
	sysfs_put_zone("intel-rapl:0", "package-0\n", "123456\n");
	sysfs_put_zone("intel-rapl:0:0", "core\n", "3456\n");
	sysfs_put_zone("intel-rapl:0:1", "dram\n", "456\n");
	sysfs_put_zone("intel-rapl:1", "package-1\n", "789\n");
	sysfs_put_zone("intel-rapl:1:0", "core\n", "78\n");
	sysfs_put_zone("intel-rapl:1:1", "dram\n", "79\n");
	sysfs_put_zone("intel-rapl:2", "psys\n", "99999\n");
	sysfs_put_zone("intel-rapl-mmio:0", "package-0\n", "123456\n");
	sysfs_put_zone("intel-rapl:10", "package-2\n", "0\n");
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	return sysfs_remove();
}

static struct kjoule_found *list;
static size_t n;

static void scan(void)
{
	kjoule_sources_free(list, n);
	assert_int_equal(kjoule_sources_scan(sysfs_root, &list, &n), 0);
}

static const struct kjoule_found *find(const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].info.name, name))
			return &list[i];
	print_message("there is no %s\n", name);
	for (size_t i = 0; i < n; i++)
		print_message("  %s\n", list[i].info.name);
	return NULL;
}

TEST_WITH(zones_of_powercap_are_found_and_nested, make_machine, remove_machine)
{
	const struct kjoule_found *f;

	scan();
	f = find("powercap:intel-rapl:0");
	assert_non_null(f);
	assert_true(f->info.available);
	assert_string_equal(f->info.meter, "powercap");
	assert_string_equal(f->info.domains[0].name, "package");
	assert_int_equal(f->info.domains[0].class, KJOULE_DOMAIN_PACKAGE);
	assert_int_equal(f->info.domains[0].quantity, KJOULE_QUANTITY_ENERGY);
	assert_int_equal(f->spec.origin, KJOULE_ORIGIN_VALUE_FILE);
	assert_int_equal(f->spec.range, 262143328850);
	assert_int_equal(f->spec.class, KJOULE_DOMAIN_PACKAGE);
	assert_non_null(strstr(f->path, "/class/powercap/intel-rapl:0/energy_uj"));
	/* the machine has the package, the package its cores, and only the machine the memory */
	assert_string_equal(f->info.inside, "powercap:intel-rapl:2");
	assert_string_equal(find("powercap:intel-rapl:0:0")->info.inside, "powercap:intel-rapl:0");
	assert_string_equal(find("powercap:intel-rapl:0:1")->info.inside, "powercap:intel-rapl:2");
	assert_string_equal(find("powercap:intel-rapl:2")->info.inside, "");
	assert_false(find("powercap:intel-rapl:10")->info.available);
	assert_string_equal(find("powercap:intel-rapl:10")->info.reason, "the counter stands at 0");
}

TEST_WITH(a_package_counts_its_own_cpus_only, make_machine, remove_machine)
{
	/* what is listed below a package is of its CPUs, too, though its name does not have them */
	static const char *const zones[] = { "powercap:intel-rapl:1", "powercap:intel-rapl:1:0",
					     "powercap:intel-rapl:1:1" };

	scan();
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		const struct kjoule_found *f = find(zones[i]);

		assert_non_null(f->info.scopes);
		for (uint32_t cpu = 0; cpu < 5; cpu++)
			assert_int_equal(kjoule_scope(&f->info, cpu) != KJOULE_NO_SCOPE,
					 cpu == 1 || cpu == 3);
	}
	assert_int_not_equal(kjoule_scope(&find("powercap:intel-rapl:0:0")->info, 2),
			     KJOULE_NO_SCOPE);
	assert_null(find("powercap:intel-rapl:2")->info.scopes);
}

TEST_WITH(the_same_registers_are_told_to_be_the_same, make_machine, remove_machine)
{
	const struct kjoule_found *f;

	scan();
	f = find("powercap:intel-rapl-mmio:0");
	assert_string_equal(f->info.same_as, "powercap:intel-rapl:0");
	assert_string_equal(f->info.meter, "powercap-mmio");
	assert_true(f->info.rating < find("powercap:intel-rapl:0")->info.rating);
	assert_false(kjoule_sources_goes_with(f, find("powercap:intel-rapl:0")));
	assert_true(kjoule_sources_goes_with(find("powercap:intel-rapl:0:0"),
					     find("powercap:intel-rapl:0")));
	assert_false(kjoule_sources_goes_with(find("powercap:intel-rapl:10"),
					      find("powercap:intel-rapl:0")));
}

TEST_WITH(values_of_hwmon_have_names_of_their_own, make_machine, remove_machine)
{
	const struct kjoule_found *f;

	for (int i = 0; i < 2; i++) {
		sysfs_put("nvme\n", "class/hwmon/hwmon%d/name", i);
		sysfs_put("34850\n", "class/hwmon/hwmon%d/temp1_input", i);
		sysfs_put("Composite\n", "class/hwmon/hwmon%d/temp1_label", i);
	}
	sysfs_put("ina231\n", "class/hwmon/hwmon10/name");
	sysfs_put("2500000\n", "class/hwmon/hwmon10/power1_input");
	sysfs_put("2400000\n", "class/hwmon/hwmon10/power1_average");
	sysfs_put("1700000\n", "class/hwmon/hwmon10/power2_average");
	sysfs_put("9000\n", "class/hwmon/hwmon10/power1_max");
	sysfs_put("123\n", "class/hwmon/hwmon10/energy1_input");
	sysfs_put("CPU rail\n", "class/hwmon/hwmon10/energy1_label");
	sysfs_put("on\n", "class/hwmon/hwmon10/energy2_input");
	scan();
	f = find("hwmon:nvme/temp1");
	assert_int_equal(f->info.domains[0].quantity, KJOULE_QUANTITY_TEMPERATURE);
	assert_string_equal(f->info.domains[0].name, "Composite");
	assert_int_equal(f->info.kind, KJOULE_KIND_GAUGE);
	assert_non_null(find("hwmon:nvme@1/temp1"));
	f = find("hwmon:ina231/power1");
	assert_non_null(strstr(f->path, "power1_input"));
	assert_int_equal(f->info.domains[0].quantity, KJOULE_QUANTITY_POWER);
	assert_non_null(strstr(find("hwmon:ina231/power2")->path, "power2_average"));
	f = find("hwmon:ina231/energy1");
	assert_string_equal(f->info.domains[0].name, "CPU rail");
	assert_int_equal(f->info.kind, KJOULE_KIND_ENERGY);
	assert_true(f->info.rating > find("hwmon:ina231/power1")->info.rating);
	f = find("hwmon:ina231/energy2");
	assert_false(f->info.available);
	assert_string_equal(f->info.reason, "its file holds no number: on");
	for (size_t i = 0, same = 0; i < n; i++) {
		same += !strncmp(list[i].info.name, "hwmon:ina231/power1", 19);
		assert_true(same <= 1);
	}
}

TEST_WITH(thermal_zones_are_never_the_default, make_machine, remove_machine)
{
	static struct kjoule_found only;
	const struct kjoule_found *f;

	sysfs_put("x86_pkg_temp\n", "class/thermal/thermal_zone0/type");
	sysfs_put("41000\n", "class/thermal/thermal_zone0/temp");
	sysfs_put("1\n", "class/thermal/cooling_device0/type");
	scan();
	f = find("thermal:thermal_zone0");
	assert_true(f->info.available);
	assert_string_equal(f->info.domains[0].name, "x86_pkg_temp");
	only = *f;
	assert_null(kjoule_sources_best(&only, 1, INT32_MIN));
}

/* The best of these is what is recorded when nothing is named. */
static const char *best_name(void)
{
	const struct kjoule_found *best = kjoule_sources_best(list, n, INT32_MIN);

	return best ? best->info.name : "none";
}

TEST_WITH(what_may_be_anything_is_never_the_default, make_machine, remove_machine)
{
	char names[256];

	sysfs_remove();
	sysfs_new();
	sysfs_put("amdgpu\n", "class/hwmon/hwmon0/name");
	sysfs_put("35000000\n", "class/hwmon/hwmon0/power1_average");
	sysfs_put("PPT\n", "class/hwmon/hwmon0/power1_label");
	/* a graphics card has a package as well */
	sysfs_put("xe\n", "class/hwmon/hwmon1/name");
	sysfs_put("123456\n", "class/hwmon/hwmon1/energy1_input");
	sysfs_put("pkg\n", "class/hwmon/hwmon1/energy1_label");
	sysfs_put("nothing\n", "class/hwmon/hwmon1/energy2_input");
	scan();
	assert_string_equal(best_name(), "none");
	assert_int_equal(kjoule_sources_unclear(list, n, names, sizeof(names)), 2);
	assert_string_equal(names, "hwmon:amdgpu/power1 (PPT), hwmon:xe/energy1 (pkg)");
	kjoule_sources_unclear(list, n, names, 10);
	assert_string_equal(names, "hwmon:amd");

	sysfs_put("fam15h_power\n", "class/hwmon/hwmon2/name");
	sysfs_put("9000000\n", "class/hwmon/hwmon2/power1_input");
	scan();
	assert_string_equal(best_name(), "hwmon:fam15h_power/power1");
	assert_string_equal(find("hwmon:fam15h_power/power1")->info.domains[0].name, "package");
}

TEST_WITH(sockets_and_no_single_core_are_the_default, make_machine, remove_machine)
{
	static const char *const labels[] = { "Ecore000\n", "Ecore001\n", "Esocket0\n",
					      "Esocket1\n" };
	const struct kjoule_found *f;

	sysfs_remove();
	sysfs_new();
	for (int cpu = 0; cpu < 4; cpu++)
		sysfs_put(cpu % 2 ? "1\n" : "0\n",
			  "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
	sysfs_put("amd_energy\n", "class/hwmon/hwmon3/name");
	for (int i = 0; i < 4; i++) {
		sysfs_put("123456\n", "class/hwmon/hwmon3/energy%d_input", i + 1);
		sysfs_put(labels[i], "class/hwmon/hwmon3/energy%d_label", i + 1);
	}
	scan();
	assert_string_equal(best_name(), "hwmon:amd_energy/energy3");
	f = find("hwmon:amd_energy/energy3");
	assert_int_equal(f->spec.class, KJOULE_DOMAIN_PACKAGE);
	/* both sockets, each for its CPUs; no core with them */
	assert_true(kjoule_sources_goes_with(find("hwmon:amd_energy/energy4"), f));
	assert_false(kjoule_sources_goes_with(find("hwmon:amd_energy/energy1"), f));
	assert_int_equal(kjoule_scope(&f->info, 1), KJOULE_NO_SCOPE);
	assert_int_not_equal(kjoule_scope(&f->info, 2), KJOULE_NO_SCOPE);
	assert_int_equal(kjoule_scope(&find("hwmon:amd_energy/energy4")->info, 2), KJOULE_NO_SCOPE);
}

TEST_WITH(supplies_say_when_they_cannot_tell, make_machine, remove_machine)
{
	sysfs_put("Battery\n", "class/power_supply/BAT0/type");
	sysfs_put("Discharging\n", "class/power_supply/BAT0/status");
	sysfs_put("9000000\n", "class/power_supply/BAT0/power_now");
	sysfs_put("Charging\n", "class/power_supply/BAT1/status");
	sysfs_put("9000000\n", "class/power_supply/BAT1/voltage_now");
	sysfs_put("900000\n", "class/power_supply/BAT1/current_now");
	sysfs_put("Mains\n", "class/power_supply/AC/type");
	sysfs_put("Device\n", "class/power_supply/mouse/scope");
	sysfs_put("1\n", "class/power_supply/mouse/power_now");
	scan();
	assert_true(find("supply:BAT0")->info.available);
	assert_string_equal(find("supply:BAT0")->spec.name, "BAT0");
	assert_int_equal(find("supply:BAT0")->spec.origin, KJOULE_ORIGIN_POWER_SUPPLY);
	assert_non_null(strstr(find("supply:BAT1")->info.reason, "Charging"));
	assert_non_null(strstr(find("supply:AC")->info.reason, "neither power nor"));
	assert_non_null(strstr(find("supply:mouse")->info.reason, "not the machine"));
}

static void put_pmu(void)
{
	sysfs_put("24\n", "bus/event_source/devices/power/type");
	sysfs_put("config:0-7\n", "bus/event_source/devices/power/format/event");
	sysfs_put("event=0x01\n", "bus/event_source/devices/power/events/energy-cores");
	sysfs_put("Joules\n", "bus/event_source/devices/power/events/energy-cores.unit");
	sysfs_put("2.3283064365386962890625e-10\n",
		  "bus/event_source/devices/power/events/energy-cores.scale");
	sysfs_put("event=0x02\n", "bus/event_source/devices/power/events/energy-pkg");
	sysfs_put("Joules\n", "bus/event_source/devices/power/events/energy-pkg.unit");
	sysfs_put("2.3283064365386962890625e-10\n",
		  "bus/event_source/devices/power/events/energy-pkg.scale");
	sysfs_put("4\n", "bus/event_source/devices/cpu/type");
	sysfs_put("config:0-7\n", "bus/event_source/devices/cpu/format/event");
	sysfs_put("config:8-15\n", "bus/event_source/devices/cpu/format/umask");
	sysfs_put("config:23\n", "bus/event_source/devices/cpu/format/inv");
	sysfs_put("config:0-7,32-35\n", "bus/event_source/devices/cpu/format/split");
	sysfs_put("config1:0-15\n", "bus/event_source/devices/cpu/format/ldlat");
	sysfs_put("event=0xc0,umask=0x3\n", "bus/event_source/devices/cpu/events/instructions");
}

TEST_WITH(energy_events_of_pmus_are_found, make_machine, remove_machine)
{
	const struct kjoule_found *f;

	put_pmu();
	scan();
	f = find("perf:power/energy-pkg/");
	assert_int_equal(f->spec.origin, KJOULE_ORIGIN_PERF_PMU);
	assert_int_equal(f->spec.perf_type, 24);
	assert_int_equal(f->spec.perf_config, 2);
	assert_string_equal(f->info.domains[0].name, "package");
	assert_string_equal(f->info.meter, "perf:power");
	/* 2^-32 joule, in microjoule, without a loss */
	assert_int_equal(f->spec.unit_mult, 15625);
	assert_int_equal(f->spec.unit_shift, 26);
	assert_string_equal(find("perf:power/energy-cores/")->info.inside,
			    "perf:power/energy-pkg/");
	/* the package is the first of the meter */
	assert_ptr_equal(f, list);
	for (size_t i = 0; i < n; i++)
		assert_null(strstr(list[i].info.name, "instructions"));
	assert_ptr_equal(kjoule_sources_best(list, n, INT32_MIN), f);
	assert_ptr_equal(kjoule_sources_best(list, n, 149), f);
	assert_null(kjoule_sources_best(list, n, 150));
}

TEST_WITH(any_event_can_be_named, make_machine, remove_machine)
{
	static const struct {
		const char *name;
		uint64_t config;
	} good[] = {
		{ "perf:cpu/instructions/", 0x3c0 },
		{ "perf:cpu/event=0x3c,umask=1,inv/", 0x80013c },
		{ "perf:cpu/config=0x12345678/", 0x12345678 },
		{ "perf:cpu/split=0xabc/", 0xa000000bcull },
		{ "perf:cpu/instructions,umask=0/", 0xc0 },
	};
	static const struct {
		const char *name, *says;
	} bad[] = {
		{ "perf:cpu/instructions", "expected perf:PMU/EVENT/" },
		{ "perf:cpu//", "no event is named" }, { "perf:/event=1/", "expected perf:PMU" },
		{ "perf:gpu/x/", "there is no PMU gpu" }, { "perf:../x/", "expected perf:PMU" },
		{ "perf:cpu/nonsense/", "no event and no term nonsense" },
		{ "perf:cpu/event=0x100/", "too large" }, { "perf:cpu/event=x/", "x is no number" },
		{ "perf:cpu/event=-1/", "-1 is no number" },
		{ "perf:cpu/ldlat=3/", "config1; only config can be handed over" },
		{ "perf:cpu/event=1,,/", "is no term" },
	};
	struct kjoule_found f;
	struct kjoule_error err;

	put_pmu();
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (kjoule_sources_perf(sysfs_root, good[i].name, &f, &err))
			fail_msg("%s: %s", good[i].name, err.text);
		assert_int_equal(f.spec.perf_config, good[i].config);
		assert_int_equal(f.spec.perf_type, 4);
		assert_int_equal(f.spec.quantity, KJOULE_QUANTITY_COUNT);
		assert_int_equal(f.spec.unit_mult, 1);
		assert_int_equal(f.spec.unit_shift, 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(kjoule_sources_perf(sysfs_root, bad[i].name, &f, &err), -EINVAL);
		if (!strstr(err.text, bad[i].says))
			fail_msg("%s: %s", bad[i].name, err.text);
	}
}

TEST_WITH(names_end_at_the_comma_between_them, make_machine, remove_machine)
{
	assert_int_equal(kjoule_source_name_len("vchip"), 5);
	assert_int_equal(kjoule_source_name_len("vchip,powercap"), 5);
	assert_int_equal(kjoule_source_name_len("perf:cpu/event=1,umask=2/,vchip"), 25);
	assert_int_equal(kjoule_source_name_len("perf:power"), 10);
	assert_int_equal(kjoule_source_name_len("perf:cpu/event=1,umask=2/@20ms,vchip"), 30);
	assert_int_equal(kjoule_source_name_len(",x"), 0);
}

TEST_WITH(an_empty_machine_has_none, make_machine, remove_machine)
{
	kjoule_sources_free(list, n);
	assert_int_equal(kjoule_sources_scan("/nonexistent", &list, &n), 0);
	assert_int_equal(n, 0);
}
