// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule annotate: which lines, blocks and instructions of a function spent its time and its
 * energy.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/annotate.h"
#include "attribute/region_marks.h"
#include "cli/cmd.h"
#include "header/header.h"
#include "output/columns.h"
#include "output/terminal.h"
#include "verbs.h"

static const struct options_verb annotate_verb = {
	.name = "annotate",
	.usage = "[OPTION]... [FILE]",
	.about =
	"The code of the functions that spent most in a recording (default kjoule.data),\n"
	"with time, energy, power and frequency of each basic block, or line of source.",
	.examples =
	"  kjoule annotate\n"
	"  kjoule annotate -f work_float --no-source\n"
	"  kjoule annotate --by line --percent-limit 1 kjoule.data\n",
};

#define FUNCTIONS_LIMIT	5

static int annotate_recording(struct view *v, const char *path, const struct annotate_options *opt,
			      struct kjoule_error *err)
{
	const struct power_model model = { .asked = MODEL_CPM, .used = MODEL_CPM };
	struct code_units *grain = NULL;
	const char *names[PROFILE_DOMAINS];
	struct profile *p = NULL;
	struct annotate a;
	struct blocks b;
	int ret;

	ret = code_units_new(opt->lines ? CODE_UNIT_LINE : CODE_UNIT_BLOCK, NULL, &grain);
	if (ret)
		return ret;
	ret = blocks_new(v, grain, false, &b);
	if (ret) {
		code_units_free(grain);
		return ret;
	}
	if (blocks_paused_by(&b))
		cmd_warn(BLOCKS_PAUSED, path, blocks_paused_by(&b));
	ret = columns_check_domains(opt->domains, names, blocks_domain_names(&b, names), err);
	b.shown_first = columns_shown_first(opt->domains, names, blocks_domain_names(&b, names));
	if (!ret)
		ret = profile_new(&b.input, &p);
	if (!ret)
		ret = annotate_new(v, &b, p, opt, &a);
	if (!ret) {
		const struct header header = { v, &b, p, NULL, &model, path, a.total.samples, NAN,
					       opt->verbose };

		if (a.n && opt->format == OUTPUT_TABLE && !opt->quiet)
			header_print(&header);
		if (a.n)
			ret = annotate_print(&a, &b, opt, opt->format == OUTPUT_JSON ?
					     header_json(&header) : NULL);
		else if (opt->function)
			ret = kjoule_fail(err, ESRCH,
					  "%s: no sample in function '%s'; `kjoule report` lists the functions, --by line those that were inlined",
					  path, opt->function);
		else
			ret = kjoule_fail(err, ESRCH,
					  "%s: no function with readable code has %g %% of the energy; try a lower --percent-limit",
					  path, opt->percent_limit);
		annotate_free(&a);
	}
	profile_free(p);
	blocks_free(&b);
	code_units_free(grain);
	return ret;
}

int cmd_annotate(int argc, char **argv)
{
	struct annotate_options opt = { .percent_limit = -1, .source = true };
	const struct options_row options[] = {
		{ 'f', "function", "NAME", "only functions of this name", OPT_TEXT(&opt.function) },
		{ 0, "by", "UNIT", "block (default), line",
		  OPT_WORD(&opt.lines, "block", "line") },
		{ 0, "no-source", NULL, "leave out the source among instructions",
		  OPT_CLEAR(&opt.source) },
		ATTRIBUTE_OPT_LIMIT(&opt.percent_limit,
				    "leave out functions below P % (default 5; 0 with -f)"),
		ATTRIBUTE_OPT_REGION(&opt.region),
		ATTRIBUTE_OPT_PID(&opt.pid),
		ATTRIBUTE_OPT_COMM(&opt.comm),
		ATTRIBUTE_OPT_SOURCE(&opt.energy),
		ATTRIBUTE_OPT_TABLE(&opt),
		OPT_JSON(&opt.format),
		OPT_CSV(&opt.format),
		{ 0 }
	};
	int code, ret, first = options_parse(&annotate_verb, options, argc, argv);
	bool chosen[KJOULE_MAX_SOURCES];
	struct kjoule_error err = { 0 };
	const char *path;
	struct view v;

	if (first <= 0)
		return -first;
	path = argv[first];
	if (opt.lines && !opt.source)
		return cmd_usage("annotate", "--no-source leaves nothing of --by line");
	if (argc - first > 1)
		return cmd_usage("annotate", "expected one file; found '%s' as well",
				 argv[first + 1]);
	if (annotate_fields_check(opt.fields, &err))
		return cmd_usage("annotate", "%s", err.text);
	if (opt.percent_limit < 0)
		opt.percent_limit = opt.function ? 0 : FUNCTIONS_LIMIT;
	code = cmd_privilege_drop(argv + first, argc - first);
	if (code)
		return code;
	terminal_start_pager();
	if (view_open(path, &v, &err))
		return cmd_failed("%s", err.text);
	path = path ? path : KJOULE_DATA_FILE;
	v.source = opt.energy;
	v.region = opt.region;
	if (region_marks_check(&v, path, &err)) {
		cmd_warn("%s", err.text);
		if (!view_load(&v))
			view_complain(&v, path);
		view_close(&v);
		return EXIT_FAILED;
	}
	if (energy_columns_choose(&v, opt.energy, chosen, &err)) {
		view_close(&v);
		return cmd_failed("%s: %s", path, err.text);
	}
	ret = annotate_recording(&v, path, &opt, &err);
	code = view_complain(&v, path) ? EXIT_FAILED : EXIT_DONE;
	if (ret && err.text[0])
		code = cmd_failed("%s", err.text);
	else if (ret)
		code = cmd_failed("%s: %s", path, view_why_not(ret));
	view_close(&v);
	return code;
}
