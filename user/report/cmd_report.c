// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule report: which processes and functions spent the time and the energy of
 * a recording, or of several runs. What was asked; it is done by run.c.
 */
#include "cli/cmd.h"
#include "output/picture.h"
#include "output/terminal.h"
#include "report/report.h"
#include "verbs.h"

static const struct options_verb report_verb = {
	.name = "report",
	.usage = "[OPTION]... [FILE]...",
	.about =
	"Time, energy, mean power and mean frequency of each process and function in a\n"
	"recording (default kjoule.data), with 95 % intervals, and what the measurement\n"
	"itself took; several recordings of one program are shown as an average run.",
	.examples =
	"  kjoule report\n"
	"  kjoule report --by line --percent-limit 2 --comm mix\n"
	"  kjoule report --csv run.1.data run.2.data run.3.data > mean.csv\n",
};

/* Percent of everything: what is below is not shown to people unless they say so. */
#define FUNCTIONS_LIMIT	1.0
#define CALLERS_LIMIT	0.5

/* Rows of fewer samples say next to nothing: a table has their sum. */
#define LEAST_SAMPLES	3

/*
 * What a recording gives power to is a matter of the recording, and may be several blocks that it
 * does not tell apart.
 */
static bool report_model_is_fitted(const struct attribute_options *opt)
{
	return opt->model == MODEL_MIXTURE || opt->model == MODEL_EDGE || opt->model == MODEL_VPM;
}

/* What knows of one recording only. */
static int report_check_several(const struct attribute_options *opt, const struct report_files *of)
{
	size_t files = of->n;

	if (files < 2 && of->without_outliers)
		return cmd_usage("report",
				 "--without-outliers is of several recordings; there is one");
	if (files < 2)
		return 0;
	if (opt->callers)
		return cmd_usage("report",
				 "-g, --children and --folded are of one recording; there are %zu", files);
	if (opt->vectors)
		return cmd_usage("report", "--vectors is of one recording; there are %zu", files);
	if (report_model_is_fitted(opt))
		return cmd_usage("report",
				 "--model mixture, edge and vpm are for one recording; there are %zu: report each by itself, or take cpm",
				 files);
	if (opt->cut)
		return cmd_usage("report",
				 "--from and --to are of one recording; there are %zu", files);
	if (opt->pid)
		return cmd_usage("report",
				 "--pid is of one recording, other runs have other process ids: take --comm");
	return 0;
}

/* What does not go together by its values. Return: 0, or the exit code after saying so */
static int report_check_options(struct attribute_options *opt, const struct report_files *files)
{
	bool table = opt->format == OUTPUT_TABLE && opt->callers != CALLERS_FOLDED;
	int ret = attribute_options_check("report", opt);
	struct kjoule_error err;

	if (ret)
		return ret;
	if (opt->callers && (opt->units || opt->processes || opt->by_region))
		return cmd_usage("report",
				 "-g, --children and --folded are of functions: leave out --by");
	if (opt->from_ns >= opt->to_ns)
		return cmd_usage("report", "--to has to be after --from");
	if (opt->cut && opt->by_region)
		return cmd_usage("report",
				 "--by region counts the marks of all of a recording: leave out --from and --to, or take --region NAME");
	if ((opt->model == MODEL_EDGE || opt->model == MODEL_VPM) && opt->vectors)
		return cmd_usage("report",
				 "--model edge and vpm do not go with --vectors: take mixture, or cpm");
	if (report_model_is_fitted(opt) && opt->raw)
		return cmd_usage("report",
				 "--model mixture, edge and vpm do not go with --raw, which is cpm as ALEA has it");
	if (report_model_is_fitted(opt) && opt->convergence)
		return cmd_usage("report",
				 "--convergence goes with --model cpm only: mixture, edge and vpm need all of a recording");
	if (opt->model == MODEL_VPM &&
	    (opt->callers || opt->by_given || opt->sort_given || opt->region || opt->budget_w ||
	     opt->worst_case || opt->comm || opt->pid))
		return cmd_usage("report",
				 "--model vpm is of the blocks that the recording has readings of: of what chooses or orders rows it goes with --block only");
	if (opt->model == MODEL_AUTO && (opt->raw || opt->convergence))
		opt->model = MODEL_CPM;
	if (opt->processes && opt->budget_w && !opt->vectors)
		return cmd_usage("report",
				 "--power-budget is for what is finer than a process: take another --by");
	if (opt->convergence && opt->processes)
		return cmd_usage("report",
				 "--convergence is for what is finer than a process: take another --by");
	ret = opt->vectors		       ? report_vectors_fields_check(opt, &err) :
	      opt->callers == CALLERS_CHILDREN ? callers_fields_check(opt, &err) :
						 report_fields_check(opt, &err);
	if (ret)
		return cmd_usage("report", "%s", err.text);
	if (files->n < 2 && fields_has(opt->fields, "runs"))
		return cmd_usage("report", "--fields runs is of several recordings; there is one");
	if (!opt->by_region && fields_has(opt->fields, "regions"))
		return cmd_usage("report", "--fields regions goes with --by region");
	ret = report_check_several(opt, files);
	if (ret)
		return ret;
	if (opt->callers == CALLERS_FOLDED && opt->percent_limit > 0)
		return cmd_usage("report",
				 "--percent-limit does not go with --folded: its lines add up to the total");
	opt->callers_limit = opt->percent_limit;
	if (opt->percent_limit < 0) {
		opt->callers_limit = table ? CALLERS_LIMIT : 0;
		opt->percent_limit = table ? FUNCTIONS_LIMIT : 0;
	}
	if (!opt->least_samples && table && opt->percent_limit > 0)
		opt->least_samples = LEAST_SAMPLES;
	return 0;
}

static int report_recordings(int argc, char **argv, struct attribute_options *opt)
{
	const char *unnamed = NULL;
	struct kjoule_error err;
	struct report_files files = { 1, &unnamed, false };
	const struct options_row options[] = {
		ATTRIBUTE_OPT_BY(opt),
		ATTRIBUTE_OPT_BLOCK(opt),
		{ 'g', "call-graph", NULL, "below each function who called it",
		  OPT_SET(&opt->callers, CALLERS_GRAPH),
		  .not_with = "children folded block" },
		{ 0, "children", NULL, "each function with all that it called",
		  OPT_SET(&opt->callers, CALLERS_CHILDREN),
		  .not_with = "folded block sort min-samples" },
		{ 0, "folded", NULL, "a line for each stack, for flame graphs",
		  OPT_SET(&opt->callers, CALLERS_FOLDED),
		  .not_with = "json csv block fields domain verbose no-header sort min-samples" },
		{ 0, "weight", "KEY", "of --folded: energy (uJ, default), time (ns), samples",
		  OPT_WORD(&opt->weight, [WEIGHT_ENERGY] = "energy", [WEIGHT_TIME] = "time",
		  [WEIGHT_SAMPLES] = "samples"),
		  .needs = "folded" },
		{ 0, "sort", "KEY", "energy (default), time, power, freq, samples, name",
		  OPT_WORD(&opt->sort, [SORT_ENERGY] = "energy", [SORT_TIME] = "time",
		  [SORT_POWER] = "power", [SORT_FREQ] = "freq",
			   [SORT_SAMPLES] = "samples", [SORT_NAME] = "name"),
			  .given = &opt->sort_given },
		ATTRIBUTE_OPT_LIMIT(&opt->percent_limit,
				    "sum what is below P % (default 1; callers 0.5)"),
		{ 0, "min-samples", "N", "sum rows of fewer samples (3; 1 with --percent-limit 0)",
		  OPT_NUMBER(&opt->least_samples, 1, UINT32_MAX) },
		{ 0, "vectors", NULL, "sets of blocks that ran at once on the CPUs",
		  OPT_FLAG(&opt->vectors),
		  .not_with = "region call-graph children folded pid comm block sort interval "
			      "min-samples" },
		{ 0, "power-budget", "POWER", "mark what draws more than that: 2W, 500mW",
		  OPT_POWER(&opt->budget_w), .not_with = "children folded" },
		ATTRIBUTE_OPT_REGION(&opt->region),
		{ 0, "from", "TIME", "leave out what was before, from the start on: 10s",
		  OPT_TIME(&opt->from_ns, 0, 0, UINT64_MAX), .given = &opt->cut },
		{ 0, "to", "TIME", "leave out what was after",
		  OPT_TIME(&opt->to_ns, 0, 0, UINT64_MAX), .given = &opt->cut },
		ATTRIBUTE_OPT_PID(&opt->pid),
		ATTRIBUTE_OPT_COMM(&opt->comm),
		ATTRIBUTE_OPT_SOURCE(&opt->source),
		{ 0, "model", "MODEL",
		  "of energy: cpm (default), mixture, edge, vpm, auto",
		  OPT_WORD(&opt->model, [MODEL_CPM] = "cpm", [MODEL_MIXTURE] = "mixture",
		  [MODEL_EDGE] = "edge", [MODEL_VPM] = "vpm",
			   [MODEL_AUTO] = "auto"), .given = &opt->model_given },
		ATTRIBUTE_OPT_INTERVAL(&opt->worst_case),
		{ 0, "convergence", "FILE",
		  "how sure figures get with more samples (.svg, .png)",
		  OPT_PICTURE(&opt->convergence),
		  .not_with = "call-graph children folded vectors power-budget pid comm region "
			      "interval sort percent-limit min-samples fields no-header "
			      "domain" },
		OPT_FORCE(&opt->force, "convergence"),
		{ 0, "without-outliers", NULL, "leave out recordings that differ too much",
		  OPT_FLAG(&files.without_outliers) },
		ATTRIBUTE_OPT_RAW(&opt->raw),
		ATTRIBUTE_OPT_TABLE(opt),
		OPT_JSON(&opt->format),
		OPT_CSV(&opt->format),
		{ 0 }
	};
	int code, first = options_parse(&report_verb, options, argc, argv);

	if (first <= 0)
		return -first;
	if (first < argc) {
		files.n = argc - first;
		files.paths = (const char **)argv + first;
	}
	code = report_check_options(opt, &files);
	if (!code)
		code = cmd_privilege_drop(argv + first, argc - first);
	if (code)
		return code;
	terminal_start_pager();
	/* before it takes its time */
	if (opt->convergence && picture_check(opt->convergence, opt->force, &err))
		return cmd_failed("%s", err.text);
	return files.n > 1 ? report_several(&files, opt) : report_one(files.paths[0], opt);
}

int cmd_report(int argc, char **argv)
{
	struct attribute_options opt = { .percent_limit = -1, .to_ns = UINT64_MAX };
	int code = report_recordings(argc, argv, &opt);

	user_blocks_free(&opt.named);
	return code;
}
