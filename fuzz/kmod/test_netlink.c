// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whatever is sent to the netlink family and whatever is done to the device, right or wrong:
 * the debug kernel has no complaint, nothing is left behind, the module can be unloaded. By
 * the coverage that KCOV tells, a short run reaches most of the lines of what answers there.
 * Runs that are longer are scripts/fuzz's (target netlink), with this program's options.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * boot: own
 * debug: only
 * timeout: 60
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kmod/guest.h"
#include "kmod/module.h"
#include "ktap.h"
#include "fuzz.h"

#define SHORT_RUN	20000	/* messages */
#define LEAST		90	/* percent of the lines of each file */
#define SAME_MOVES	500
#define ROUND		4000	/* moves of the first thread */

/*
 * What is to be reached: all that answers messages and what is done to the device. A short run: the
 * first.
 */
static const char *const aims[] = { "netlink/netlink.c", "device.c", "netlink/session_new.c",
				    "netlink/spec.c",
				    "netlink/msg.c", "netlink/socket.c", "netlink/records_dump.c",
				    "netlink/notice.c" };
#define AIMS		(sizeof(aims) / sizeof(aims[0]))
#define SHORT_AIMS	2

static double percent(unsigned int part, unsigned int whole)
{
	return whole ? 100. * part / whole : 0;
}

static double show_file(const struct cover *c, const char *file, bool lines)
{
	struct cover_count n = cover_lines(c, file, lines);

	ktap_diag("%-18s %5.1f %% of its lines (%u of %u), %5.1f %% of its blocks (%u of %u)", file,
		  percent(n.reached, n.lines), n.reached, n.lines, percent(n.passed, n.blocks),
		  n.passed, n.blocks);
	return percent(n.reached, n.lines);
}

static void check_coverage(const struct cover *c, unsigned int least, bool lines, unsigned int held)
{
	unsigned int i;
	double reached;

	for (i = 0; i < AIMS; i++) {
		reached = show_file(c, aims[i], lines);
		if (i < held)
			ktap_check(reached >= least, "%u %% of the lines of %s are reached", least,
				   aims[i]);
	}
}

static void show_netlink(const struct tally *t)
{
	static const char *const shapes[] = { "valid", "any value", "odd form", "odd bytes" };
	unsigned int op, shape, i;
	uint64_t sum[SHAPES][OUTCOMES] = { 0 };

	ktap_diag("%-18s %9s %9s %9s", "", "accepted", "refused", "no answer");
	for (op = 0; op < rule_op_count; op++) {
		uint64_t n[OUTCOMES] = { 0 };

		for (shape = 0; shape < SHAPES; shape++) {
			for (i = 0; i < OUTCOMES; i++) {
				n[i] += t->netlink[rule_ops[op].cmd][shape][i];
				sum[shape][i] += t->netlink[rule_ops[op].cmd][shape][i];
			}
		}
		ktap_diag("%-18s %9lu %9lu %9lu", rule_ops[op].name, n[ACCEPTED], n[REFUSED],
			  n[UNANSWERED]);
	}
	for (shape = 0; shape < SHAPES; shape++)
		ktap_diag("all %-14s %9lu %9lu %9lu", shapes[shape], sum[shape][ACCEPTED],
			  sum[shape][REFUSED], sum[shape][UNANSWERED]);
}

static void show(const struct fuzz_result *r)
{
	static const char *const names[] =
		{ "ioctl info", "ioctl attach", "ioctl ring", "ioctl other" };
	const struct tally *t = r->tally;
	unsigned int i;

	show_netlink(t);
	for (i = 0; i < IOCTLS; i++)
		ktap_diag("%-18s %9lu %9lu", names[i], t->ioctl[i][ACCEPTED], t->ioctl[i][REFUSED]);
	ktap_diag("%-18s %9lu %9lu", "mmap", t->mmap[0], t->mmap[1]);
	ktap_diag("%-18s %9lu %9lu", "read", t->read[0], t->read[1]);
	ktap_diag("%lu messages in %lu moves; %lu allocations failed, %lu children, %lu times with less rights,",
		  t->messages, r->moves, t->faults, t->children, t->stripped);
	ktap_diag("%lu dumps left in the middle, %lu notices, the module unloaded and loaded %lu times",
		  t->abandoned, t->notices, t->reloads);
}

static bool run(const struct fuzz_run *run, const struct cover *c)
{
	uint64_t begin = now_ns();
	struct fuzz_result r;

	fuzz_run(run, &r);
	show(&r);
	ktap_diag("seed %lu, %lu s", run->seed, (now_ns() - begin) / 1000000000);
	if (r.fault)
		ktap_diag("%s", r.fault);
	ktap_check(!r.fault && r.tally->messages >= run->messages,
		   "%lu messages: nothing is left behind, the module can be unloaded each time",
		   run->messages);
	return ktap_check_equal(0, c->strays, "what was passed is where the module's file has it");
}

static void check_seed(uint64_t seed)
{
	struct fuzz_run once =
		{ .seed = seed, .moves = SAME_MOVES, .round = SAME_MOVES, .alone = true };
	struct fuzz_result first, second, other;

	fuzz_run(&once, &first);
	fuzz_run(&once, &second);
	once.seed++;
	fuzz_run(&once, &other);
	ktap_check(!first.fault && first.path == second.path && first.moves == second.moves,
		   "one thread alone tries the same with the same seed");
	ktap_check(first.path != other.path, "and something else with another one");
}

static void usage(void)
{
	fputs("Usage: test_netlink [--messages N] [--seed N] [--alone] [--coverage FILE] [--trace FILE] [--lines]\n"
	      "       test_netlink --read FILE... [--lines]\n"
	      "  --coverage FILE  write there what of the module was reached\n"
	      "  --read           fuzz nothing: tell what the runs that wrote FILEs reach together\n"
	      "  --lines          show the lines that were not reached\n"
	      "  --least N        percent of the lines that have to be (90)\n"
	      "  --alone          one thread, no children, no failing memory\n"
	      "  --trace FILE     tell each move there\n", stderr);
	exit(2);
}

struct options {
	struct fuzz_run run;
	const char *coverage;
	unsigned int least, held;	/* percent, and of how many of the aims */
	bool lines, merge, longer;
};

static void take_options(int argc, char **argv, struct options *o)
{
	static const struct option known[] = {
		{ "messages", 1, NULL, 'm' }, { "seed", 1, NULL, 's' }, { "alone", 0, NULL, 'a' },
		{ "coverage", 1, NULL, 'c' }, { "trace", 1, NULL, 't' }, { "lines", 0, NULL, 'l' },
		{ "read", 0, NULL, 'r' }, { "least", 1, NULL, 'b' }, { 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		switch (c) {
		case 'm':
			o->run.messages = strtoull(optarg, NULL, 0);
			o->longer = true;
			o->held = AIMS;
			break;
		case 's':
			o->run.seed = strtoull(optarg, NULL, 0);
			break;
		case 'a':
			o->run.alone = true;
			break;
		case 'c':
			o->coverage = optarg;
			break;
		case 't':
			o->run.trace = fopen(optarg, "w");
			if (o->run.trace)
				setvbuf(o->run.trace, NULL, _IOLBF, 0);
			break;
		case 'l':
			o->lines = true;
			break;
		case 'r':
			o->merge = true;
			o->held = AIMS;
			break;
		case 'b':
			o->least = strtoul(optarg, NULL, 0);
			break;
		default:
			usage();
		}
	}
	if (!o->merge != (optind == argc))
		usage();
}

int main(int argc, char **argv)
{
	struct options o = { .run = { .seed = 1, .messages = SHORT_RUN, .round = ROUND },
			     .least = LEAST, .held = SHORT_AIMS };
	static struct cover cover;

	if (argc > 1 && !strcmp(argv[1], "compute"))
		busy_forever();
	take_options(argc, argv, &o);
	if (!o.merge && access("/sys/kernel/debug/kcov", F_OK))
		ktap_skip_all("the kernel has no KCOV; see make check-debug");
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!ktap_check(cover_load(&cover, module_path()), "the module's file tells its lines"))
		return ktap_end();
	if (o.merge) {
		for (; optind < argc; optind++)
			ktap_check(cover_read(&cover, argv[optind]), "%s", argv[optind]);
		check_coverage(&cover, o.least, o.lines, o.held);
		return ktap_end();
	}
	if (!ktap_check(fuzz_prepare(&cover), "the module, its file and KCOV are there"))
		return ktap_end();
	if (!o.longer)
		check_seed(o.run.seed + 1000);
	run(&o.run, &cover);
	fuzz_done();
	if (o.coverage)
		ktap_check(cover_write(&cover, o.coverage), "%s is written", o.coverage);
	/* one of many runs need not reach all that they reach together */
	if (!o.longer || o.lines)
		check_coverage(&cover, o.least, o.lines, o.held);
	return ktap_end();
}
