// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule list: the sources of the module and of sysfs, a line for each domain, and
 * why some cannot be used. Its sessions are sessions.c's.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cmd.h"
#include "cli/options.h"
#include "lib/control/names.h"
#include "lib/control/ring.h"
#include "lib/file/meta.h"
#include "list/list.h"
#include "verbs.h"

static const struct options_verb list_verb = {
	.name = "list",
	.usage = "[OPTION]...",
	.about =
	"Lists the sources of energy, power, temperature and frequency, those that the\n"
	"module knows and what sysfs has, a line for each domain: the unit of a count,\n"
	"how often it is updated, what it is inside of, and which source a recording\n"
	"would use. A source that cannot be used says why. Other events of PMUs can be\n"
	"named as perf:PMU/EVENT/.",
	.examples =
	"  kjoule list\n"
	"  kjoule list --json\n"
	"  sudo kjoule list --sessions --end 3\n",
};

static const struct output_column columns[] = {
	{ "source", "SOURCE", true },
	{ "kind", "KIND", true },
	{ "origin", NULL, true },
	{ "meter", NULL, true },
	{ "domain", "DOMAIN", true },
	{ "class", NULL, true },
	{ "inside", "INSIDE", true },
	{ "same_as", NULL, true },
	{ "unit", NULL, false },
	{ "unit_uj", NULL, false },
	{ NULL, "UNIT", false },
	{ "width_bits", "BITS", false },
	{ "range", NULL, false },
	{ "update_period_ns", NULL, false },
	{ NULL, "UPDATE ms", false },
	{ "reference_khz", NULL, false },
	{ "starts_on_command", NULL, false },
	{ "ready_ns", NULL, false },
	{ "granted", NULL, false },
	{ "rating", "RATING", false },
	{ "available", NULL, false },
	{ "default", NULL, false },
	{ "reason", NULL, true },
	{ NULL, "USE", true },
};

static const char *list_domain_name(const struct kjoule_source_info *src, int index)
{
	for (uint32_t i = 0; i < src->n_domains; i++)
		if (src->domains[i].index == (uint32_t)index)
			return src->domains[i].name;
	return NULL;
}

static void list_text_or_none(struct output *out, const char *text, const char *why)
{
	if (text && text[0])
		output_str(out, text);
	else
		output_none(out, why);
}

static void list_print_unit(struct output *out, const struct kjoule_domain_info *dom)
{
	static const char *const units[] = { " uJ", " uW", " mC", "" };
	double unit = ldexp((double)dom->unit_mult, -(int)dom->unit_shift);
	char text[64];

	output_real(out, unit, 3);
	if (dom->quantity == KJOULE_QUANTITY_ENERGY)
		output_real(out, unit, 3);
	else
		output_none(out, NULL);
	snprintf(text, sizeof(text), "%.*f%s", unit == floor(unit) ? 0 : unit < 0.01 ? 6 : 3, unit,
		 units[dom->quantity < 4 ? dom->quantity : 3]);
	output_str(out, text);
}

static void list_print_domain(struct output *out, const struct kjoule_source_info *src,
			      const struct kjoule_domain_info *dom)
{
	const char *inside;

	if (!dom) {
		for (int i = 0; i < 11; i++)
			output_none(out, NULL);
		return;
	}
	output_str(out, dom->name);
	output_str(out, kjoule_class_name(dom->class));
	inside = dom->parent < 0 ? src->inside : list_domain_name(src, dom->parent);
	list_text_or_none(out, inside, NULL);
	list_text_or_none(out, src->same_as, NULL);
	list_print_unit(out, dom);
	output_u64(out, dom->width);
	if (dom->range)
		output_u64(out, dom->range);
	else
		output_none(out, NULL);
	if (dom->update_period_ns) {
		output_u64(out, dom->update_period_ns);
		output_real(out, dom->update_period_ns / 1e6, 3);
	} else {
		output_none(out, NULL);
		output_none(out, "the source does not know how often its counter moves");
	}
}

static void list_use_text(const struct kjoule_source_info *src, char *use, size_t len)
{
	char starts[64] = "";

	if (src->ready_ns)
		snprintf(starts, sizeof(starts), "; starts on command, mean over %.6g ms",
			 src->ready_ns / 1e6);
	if (!src->available)
		snprintf(use, len, "no: %s", src->reason[0] ? src->reason : "no reason given");
	else
		snprintf(use, len, "%s%s%s%s%s", src->is_default ? "used" : "available",
			 src->requested_only ? " (what was requested, not what was granted)" :
			 kjoule_source_unclear(src) ?
			 " (only when named: whose it is is not known)" : "",
			 src->same_as[0] ? ", the same as " : "", src->same_as, starts);
}

static void list_print_row(struct output *out, const struct kjoule_source_info *src,
			   const struct kjoule_domain_info *dom)
{
	char use[256];

	output_str(out, src->name);
	output_str(out, src->kind == KJOULE_KIND_FREQUENCY || !dom ? kjoule_kind_name(src->kind) :
		   kjoule_quantity_name(dom->quantity));
	output_str(out, kjoule_origin_name(src->origin));
	list_text_or_none(out, src->meter, NULL);
	list_print_domain(out, src, dom);
	if (src->reference_khz)
		output_u64(out, src->reference_khz);
	else
		output_none(out, NULL);
	output_bool(out, src->ready_ns);
	if (src->ready_ns)
		output_u64(out, src->ready_ns);
	else
		output_none(out, NULL);
	if (src->kind == KJOULE_KIND_FREQUENCY)
		output_bool(out, !src->requested_only);
	else
		output_none(out, NULL);
	output_i64(out, src->rating);
	output_bool(out, src->available);
	output_bool(out, src->is_default);
	if (src->available)
		output_none(out, NULL);
	else
		output_str(out, src->reason);
	list_use_text(src, use, sizeof(use));
	output_str(out, use);
	output_row(out);
}

/*
 * What a recording takes that names none: the kernel's best, or one of user space that is better.
 */
static void list_mark_default(struct list_sources *s)
{
	const struct kjoule_found *best;
	int32_t rating = INT32_MIN;

	for (size_t i = 0; i < s->n_kernel; i++) {
		struct kjoule_source_info *src = &s->kernel[i];

		/* the kernel has a default of each kind, but takes no gauge unasked */
		if (src->kind == KJOULE_KIND_GAUGE)
			src->is_default = false;
		if (src->kind == KJOULE_KIND_ENERGY && src->is_default && src->available)
			rating = src->rating;
	}
	best = kjoule_sources_best(s->found, s->n_found, rating);
	if (!best)
		return;
	for (size_t i = 0; i < s->n_kernel; i++)
		if (s->kernel[i].kind == KJOULE_KIND_ENERGY)
			s->kernel[i].is_default = false;
	for (size_t i = 0; i < s->n_found; i++)
		s->found[i].info.is_default = kjoule_sources_goes_with(&s->found[i], best);
}

static int list_find_sources(struct list_sources *s)
{
	struct kjoule_error err;
	struct kjoule_device *dev;
	struct kjoule_ctl *ctl;
	int ret;

	/* The device knows the module's version; a foreign one would not understand us. */
	if (kjoule_device_open(&dev, &err))
		return cmd_failed("%s", err.text);
	kjoule_device_close(dev);
	if (kjoule_ctl_open(&ctl, &err))
		return cmd_failed("%s", err.text);
	ret = kjoule_sources(ctl, &s->kernel, &s->n_kernel, &err);
	kjoule_ctl_close(ctl);
	if (ret)
		return cmd_failed("%s", err.text);
	if (kjoule_sources_scan(KJOULE_SYSFS, &s->found, &s->n_found))
		return cmd_failed("no memory");
	list_mark_default(s);
	return 0;
}

static void list_print_rows(struct output *out, const struct kjoule_source_info *src)
{
	if (!src->n_domains)
		list_print_row(out, src, NULL);
	for (uint32_t d = 0; d < src->n_domains; d++)
		list_print_row(out, src, &src->domains[d]);
}

int list_sources_print(const struct list_sources *s, enum output_format format)
{
	struct output *out =
		output_open(stdout, format, columns, sizeof(columns) / sizeof(columns[0]));

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_kernel; i++)
		list_print_rows(out, &s->kernel[i]);
	for (size_t i = 0; i < s->n_found; i++)
		list_print_rows(out, &s->found[i].info);
	output_close(out, NULL, NULL);
	return 0;
}

int cmd_list(int argc, char **argv)
{
	enum output_format format = OUTPUT_TABLE;
	struct list_sources s = { 0 };
	bool sessions = false;
	uint32_t end = 0;
	const struct options_row options[] = {
		{ 0, "sessions", NULL, "the sessions there are instead, with their counters",
		  OPT_FLAG(&sessions) },
		{ 0, "end", "ID", "with --sessions: end that one; it takes CAP_SYS_ADMIN",
		  OPT_NUMBER(&end, 1, INT32_MAX), .needs = "sessions", .not_with = "json csv",
		  .expected = "the number of a session, see `kjoule list --sessions`" },
		OPT_JSON(&format),
		OPT_CSV(&format),
		{ 0 }
	};
	int code, first = options_parse(&list_verb, options, argc, argv);

	if (first <= 0)
		return -first;
	if (first < argc)
		return cmd_usage("list", "it takes no argument, found '%s'", argv[first]);
	if (end)
		return list_session_end(end);
	if (sessions)
		return list_sessions(format);
	code = list_find_sources(&s);
	if (!code && list_sources_print(&s, format))
		code = cmd_failed("no memory");
	if (!code && !s.n_kernel && !s.n_found)
		cmd_warn("there is no source on this machine; see `dmesg | grep kjoule`");
	free(s.kernel);
	kjoule_sources_free(s.found, s.n_found);
	return code;
}
