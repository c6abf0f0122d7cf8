// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule list: the module's sources, a line for each domain, and why some can
 * not be used.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "kjoule.h"
#include "output.h"

static const char help[] =
"Usage: kjoule list [--json|--csv]\n"
"\n"
"Lists the sources of energy and frequency: their domains, the unit of a raw count,\n"
"how often the counter moves, and which source a recording would use. A source that\n"
"can not be used says why.\n"
"\n"
"      --json   as one JSON document\n"
"      --csv    as CSV\n"
"  -h, --help\n";

static const struct output_column columns[] = {
	{ "source", "SOURCE", true },
	{ "kind", "KIND", true },
	{ "domain", "DOMAIN", true },
	{ "class", NULL, true },
	{ "inside", NULL, true },
	{ "unit_uj", "UNIT uJ", false },
	{ "width_bits", "BITS", false },
	{ "update_period_ns", NULL, false },
	{ NULL, "UPDATE ms", false },
	{ "reference_khz", NULL, false },
	{ "granted", NULL, false },
	{ "available", NULL, false },
	{ "default", NULL, false },
	{ "reason", NULL, true },
	{ NULL, "USE", true },
};

static const char *class_name(uint32_t class)
{
	static const char *const names[] = { "other", "package", "core", "uncore", "dram", "psys" };

	return class < sizeof(names) / sizeof(names[0]) ? names[class] : "unknown";
}

static const char *domain_name(const struct kjoule_source_info *src, int index)
{
	for (uint32_t i = 0; i < src->n_domains; i++)
		if (src->domains[i].index == (uint32_t)index)
			return src->domains[i].name;
	return NULL;
}

static void domain_cells(struct output *out, const struct kjoule_source_info *src,
			 const struct kjoule_domain_info *dom)
{
	const char *inside;

	if (!dom) {
		output_none(out, NULL);
		output_none(out, NULL);
		output_none(out, NULL);
		output_none(out, NULL);
		output_none(out, NULL);
		output_none(out, NULL);
		output_none(out, NULL);
		return;
	}
	output_str(out, dom->name);
	output_str(out, class_name(dom->class));
	inside = dom->parent < 0 ? NULL : domain_name(src, dom->parent);
	if (inside)
		output_str(out, inside);
	else
		output_none(out, "in no other domain");
	output_real(out, (double)dom->unit_mult / (double)(1ull << (dom->unit_shift & 63)), 3);
	output_u64(out, dom->width);
	if (dom->update_period_ns) {
		output_u64(out, dom->update_period_ns);
		output_real(out, dom->update_period_ns / 1e6, 3);
	} else {
		output_none(out, NULL);
		output_none(out, "the source does not know how often its counter moves");
	}
}

static void row(struct output *out, const struct kjoule_source_info *src,
		const struct kjoule_domain_info *dom)
{
	char use[256];

	output_str(out, src->name);
	output_str(out, src->kind == KJOULE_KIND_ENERGY ? "energy" : "frequency");
	domain_cells(out, src, dom);
	if (src->reference_khz)
		output_u64(out, src->reference_khz);
	else
		output_none(out, NULL);
	if (src->kind == KJOULE_KIND_FREQUENCY)
		output_bool(out, !src->requested_only);
	else
		output_none(out, NULL);
	output_bool(out, src->available);
	output_bool(out, src->is_default);
	if (src->available) {
		output_none(out, NULL);
		snprintf(use, sizeof(use), "%s%s", src->is_default ? "used" : "available",
			 src->requested_only ? " (what was requested, not what was granted)" : "");
	} else {
		output_str(out, src->reason);
		snprintf(use, sizeof(use), "no: %s", src->reason[0] ? src->reason : "no reason given");
	}
	output_str(out, use);
	output_row(out);
}

int cmd_list(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "csv", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	enum output_format format = OUTPUT_TABLE;
	struct kjoule_source_info *list;
	struct kjoule_error err;
	struct kjoule_device *dev;
	struct kjoule_ctl *ctl;
	struct output *out;
	size_t n;
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			format = OUTPUT_JSON;
			break;
		case 'c':
			format = OUTPUT_CSV;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return cmd_getopt_error("list", c, optopt, argv[optind - 1]);
		}
	}
	if (optind < argc)
		return cmd_usage("list", "it takes no argument, found %s", argv[optind]);

	/* The device knows the module's version; a foreign one would not understand us. */
	if (kjoule_device_open(&dev, &err))
		return cmd_failed("%s", err.text);
	kjoule_device_close(dev);
	if (kjoule_ctl_open(&ctl, &err))
		return cmd_failed("%s", err.text);
	if (kjoule_sources(ctl, &list, &n, &err)) {
		kjoule_ctl_close(ctl);
		return cmd_failed("%s", err.text);
	}
	out = output_open(stdout, format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out) {
		free(list);
		kjoule_ctl_close(ctl);
		return cmd_failed("no memory");
	}
	for (size_t i = 0; i < n; i++) {
		if (!list[i].n_domains)
			row(out, &list[i], NULL);
		for (uint32_t d = 0; d < list[i].n_domains; d++)
			row(out, &list[i], &list[i].domains[d]);
	}
	output_close(out, NULL, NULL);
	if (!n)
		cmd_warn("the module knows no source on this machine; see `dmesg | grep kjoule`");
	free(list);
	kjoule_ctl_close(ctl);
	return EXIT_DONE;
}
