// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zones of powercap from a simulated sysfs to the report: a recording's sources, which code is
 * charged by.
 */
#include <stdio.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/control/sources.h"
#include "record/record.h"
#include "tests/support/synthetic.h"
#include "tests/support/sysfs.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define MS	1000000ull
#define T0	1000000000ull
#define TICKS	1000

/* A zone, and what it draws. */
struct zone {
	const char *entry, *name;
	uint32_t mw;
};

/* The source's description as a recording from such a machine has it. */
static void describe(struct kjoule_meta *meta, const struct zone *zones, uint32_t n)
{
	static struct session_sources sources;
	struct kjoule_found *list;
	size_t n_found, found = 0;

	memset(&sources, 0, sizeof(sources));
	sysfs_new();
	for (uint32_t cpu = 0; cpu < meta->n_places; cpu++)
		sysfs_put(meta->places[cpu].package ? "1\n" : "0\n",
			  "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	for (uint32_t i = 0; i < n; i++)
		sysfs_put_zone(zones[i].entry, zones[i].name, "1000\n");
	assert_int_equal(kjoule_sources_scan(sysfs_root, &list, &n_found), 0);
	for (uint32_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n_found; k++) {
			if (strcmp(strchr(list[k].info.name, ':') + 1, zones[i].entry))
				continue;
			sources.info[i] = list[k].info;
			sources.spec[i] = list[k].spec;
			found++;
		}
	}
	assert_int_equal(found, n);
	sources.n = n;
	/* the module knows a file with a value; the frequency source comes last */
	meta->session.n_sources = n + 1;
	for (uint32_t i = 0; i < n; i++) {
		meta->session.sources[i] = (struct kjoule_source_info){
			.kind = KJOULE_KIND_ENERGY, .n_domains = 1,
			.domains[0] = { .name = "value", .parent = -1 } };
	}
	strcpy(meta->session.sources[n].name, "test-cycles");
	meta->session.sources[n].kind = KJOULE_KIND_FREQUENCY;
	meta->session.sources[n].n_domains = 0;
	session_sources_describe(&sources, &meta->session);
	kjoule_sources_free(list, n_found);
	assert_int_equal(sysfs_remove(), 0);
}

/*
 * A second on two CPUs: CPU 0 runs the program, CPU 1 the kernel. @packages: each CPU has a package
 * of its own.
 */
static struct json_object *report(const char *name, const struct zone *zones, uint32_t n,
				  bool packages)
{
	static struct kjoule_meta meta;
	struct buffer b[2] = { 0 };

	make_meta(&meta, 2, MS, KJOULE_TARGET_SYSTEM);
	meta.places[1].package = packages;
	describe(&meta, zones, n);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		put_task(&b[cpu], 100, 100);
	for (uint32_t k = 0; k < TICKS; k++) {
		for (uint32_t i = 0; i < n && k % 20 == 0; i++)
			put_value(&b[0], i, T0 + k * MS, (int64_t)k * zones[i].mw);
		put_sample(&b[0], k, 0x10001000, 0, 1000000, 0);
		put_sample(&b[1], k, 0x10002000, KJOULE_SAMPLE_KERNEL, 1000000, 0);
	}
	write_recording(temp_path(name), &meta, b, 2, "/nonexistent/program", TICKS);
	kjoule_session_info_clear(&meta.session);
	return report_json("--raw", name);
}

static double of(struct json_object *doc, const char *object, const char *key)
{
	return number(find_row(doc, object ? "function" : "total", object), key);
}

/* Two sockets with cores and memory: three columns, and each socket's code pays for its own. */
TEST(parts_of_a_package_are_charged_to_its_cpus)
{
	static const struct zone zones[] = {
		{ "intel-rapl:0", "package-0\n", 8000 }, { "intel-rapl:0:0", "core\n", 4000 },
		{ "intel-rapl:0:1", "dram\n", 3000 }, { "intel-rapl:1", "package-1\n", 2000 },
		{ "intel-rapl:1:0", "core\n", 1000 }, { "intel-rapl:1:1", "dram\n", 500 },
	};
	static const char program[] = "/nonexistent/program", kernel[] = "[kernel]";
	struct json_object *doc = report("sockets", zones, 6, true);

	assert_int_equal(json_object_array_length(member(member(doc, "energy"), "domains")), 3);
	assert_true(near(of(doc, program, "power_package_w"), 8, 0.08));
	assert_true(near(of(doc, program, "power_core_w"), 4, 0.04));
	assert_true(near(of(doc, program, "power_dram_w"), 3, 0.03));
	assert_true(near(of(doc, kernel, "power_package_w"), 2, 0.02));
	assert_true(near(of(doc, kernel, "power_core_w"), 1, 0.01));
	assert_true(near(of(doc, kernel, "power_dram_w"), 0.5, 0.005));
	assert_true(near(of(doc, NULL, "energy_core_j"), 5, 0.05));
}

static struct json_object *domain(struct json_object *doc, const char *name)
{
	struct json_object *o;

	for (size_t i = 0; (o = item_of(member(doc, "energy"), "domains", i)); i++)
		if (!strcmp(text_of(o, "name"), name))
			return o;
	return NULL;
}

/* What the domain of this name lies in, "" if in none. */
static const char *inside(struct json_object *doc, const char *name)
{
	struct json_object *parent = member(domain(doc, name), "parent");

	if (!parent)
		return "";
	return text_of(item_of(member(doc, "energy"), "domains", json_object_get_int(parent)),
		       "name");
}

/*
 * The machine has the package, the package its cores, only the machine the memory: what is counted
 * twice is in two columns, never in one sum.
 */
TEST(a_domain_is_never_added_to_what_it_lies_in)
{
	static const struct zone zones[] = {
		{ "intel-rapl:0", "package-0\n", 6000 }, { "intel-rapl:0:0", "core\n", 4000 },
		{ "intel-rapl:0:1", "dram\n", 1500 }, { "intel-rapl:1", "psys\n", 10000 },
	};
	static const char *const names[] = { "package", "core", "dram", "psys" };
	struct json_object *doc = report("nested", zones, 4, false);

	assert_int_equal(json_object_array_length(member(member(doc, "energy"), "domains")), 4);
	for (unsigned int d = 0; d < 4; d++) {
		char key[64];

		snprintf(key, sizeof(key), "energy_%s_j", names[d]);
		assert_true(near(of(doc, NULL, key), zones[d].mw * 1e-3, zones[d].mw * 1e-5));
		/* who shares a counter's energy shares all of it, and no other counter's */
		assert_true(near(of(doc, "/nonexistent/program", key) + of(doc, "[kernel]", key),
				 of(doc, NULL, key), 1e-6));
	}
	assert_string_equal(inside(doc, "psys"), "");
	assert_string_equal(inside(doc, "package"), "psys");
	assert_string_equal(inside(doc, "core"), "package");
	assert_string_equal(inside(doc, "dram"), "psys");
	assert_int_equal(json_object_array_length(member(doc, "unattributed")), 0);
	assert_int_equal(kjoule("report -v %s", temp_path("nested")), 0);
	assert_true(says(out, "package: source powercap:intel-rapl:0, inside psys, "));
	assert_true(says(out, "core: source powercap:intel-rapl:0:0, inside package, "));
	assert_true(says(out, "dram: source powercap:intel-rapl:0:1, inside psys, "));
}
