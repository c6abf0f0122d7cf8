// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who called: trees of chains, energy of ticks by their callers, and reports of a made-up
 * recording whose callers are known. KJOULE in the environment names the binary.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "analysis/cpm/cpm.h"
#include "analysis/profile/calltree.h"
#include "analysis/ticks/timeline.h"
#include "lib/control/ring.h"
#include "lib/file/recording.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static uint32_t path(struct calltree *t, const uint32_t *functions, unsigned int n)
{
	uint32_t node = CALLTREE_ROOT;

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(calltree_child(t, node, functions[i], &node), 0);
	return node;
}

#define PATH(t, ...) path(t, (const uint32_t[]){ __VA_ARGS__ }, \
			  sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

TEST(a_recursion_is_counted_once)
{
	struct calltree t;
	double weights[64] = { 0 }, sums[5];

	assert_int_equal(calltree_init(&t), 0);
	weights[PATH(&t, 0, 1, 2)] = 1;
	weights[PATH(&t, 0, 1, 1, 1, 2)] = 10;	/* 1 calls itself */
	weights[PATH(&t, 0, 3, 1, 3)] = 100;	/* round about */
	weights[PATH(&t, 0)] = 1000;
	assert_int_equal(PATH(&t, 0, 1, 2), PATH(&t, 0, 1, 2));
	assert_int_equal(calltree_cumulate(&t, weights, 5, sums), 0);
	assert_true(sums[0] == 1111 && sums[1] == 111 && sums[2] == 11 && sums[3] == 100 &&
		    sums[4] == 0);
	calltree_free(&t);
}

TEST(callers_are_the_tree_turned_round)
{
	uint32_t node_of[64], a, b, c, f;
	struct calltree t, callers;

	assert_int_equal(calltree_init(&t), 0);
	a = PATH(&t, 0, 1, 9);
	b = PATH(&t, 0, 2, 9);
	c = PATH(&t, 5, 1, 9);
	f = PATH(&t, 9, 9);
	assert_int_equal(calltree_callers(&t, 9, 10, &callers, node_of), 0);
	assert_int_equal(node_of[a], PATH(&callers, 9, 1, 0));
	assert_int_equal(node_of[b], PATH(&callers, 9, 2, 0));
	assert_int_equal(node_of[c], PATH(&callers, 9, 1, 5));
	assert_int_equal(node_of[f], PATH(&callers, 9, 9));
	assert_int_equal(node_of[PATH(&t, 0, 1)], CALLTREE_NONE);
	calltree_free(&callers);
	/* no further out than asked for */
	assert_int_equal(calltree_callers(&t, 9, 1, &callers, node_of), 0);
	assert_int_equal(node_of[a], PATH(&callers, 9, 1));
	assert_int_equal(node_of[a], node_of[c]);
	calltree_free(&callers);
	calltree_free(&t);
}

TEST(a_large_tree_finds_all_again)
{
	enum { N = 20000 };
	uint32_t *nodes = calloc(N, sizeof(*nodes)), again;
	uint64_t seed = 3;
	struct calltree t;

	assert_int_equal(calltree_init(&t), 0);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(calltree_child(&t, i ? nodes[rnd(&seed) % i] : 0, i, &nodes[i]),
				 0);
	assert_int_equal(t.n, N + 1);
	for (uint32_t i = 1; i <= N; i++) {
		assert_true(t.nodes[i].parent < i);
		assert_int_equal(calltree_child(&t, t.nodes[i].parent, t.nodes[i].function, &again),
				 0);
		assert_int_equal(again, i);
	}
	calltree_free(&t);
	free(nodes);
}

/* cpm_solve() of a counter that moves every @period ticks, 0: as it is at the tick. */
static void solve(const struct cpm_stream *streams, size_t n_streams, const uint8_t *kinds,
		  const struct cpm_reading *readings, size_t n, uint64_t end_tick,
		  unsigned int steps, const struct cpm_irq *irq, double period,
		  struct cpm_vectors *v, struct cpm_domain *d)
{
	struct cpm_edges edges = cpm_edges_of(period);
	struct cpm_making *m;

	assert_int_equal(
		cpm_making_new(v, readings, n, end_tick, irq, period > 0 ? &edges : NULL, d, &m),
		0);
	assert_int_equal(
		cpm_making_end(m, cpm_vectors_collect(streams, n_streams, kinds, 0, v, &m, 1)), 0);
	assert_int_equal(cpm_solve_windows(v, steps, NAN, d), 0);
}

/* Three CPUs with busy, idle and marginal blocks, windows known and not. */
TEST(labels_of_a_block_add_up_to_the_block)
{
	static const double periods[] = { 0, 10, 0.3 };
	enum { TICKS = 3000, BLOCKS = 6, LABELS = BLOCKS * 4 };
	static const uint8_t kinds[BLOCKS] = { CPM_BUSY, CPM_BUSY, CPM_BUSY, CPM_BUSY, CPM_MARGINAL,
					       CPM_IDLE };
	static struct cpm_tick ticks[3][TICKS];
	static uint32_t labels[3][TICKS];
	struct cpm_labelled streams[3];
	struct cpm_stream plain[3];
	struct cpm_reading readings[TICKS / 10];
	struct cpm_irq irq = { .busy_uj = 3, .idle_uj = 1, .n_cpus = 3 };
	struct cpm_group groups[BLOCKS];
	uint32_t group_of[BLOCKS];
	double sums[LABELS] = { 0 }, all = 0, sum;
	struct cpm_vectors v;
	struct cpm_domain d;
	uint64_t seed = 11, uj = 0;

	for (int l = 0; l < 3; l++) {
		size_t n = 0;

		for (uint32_t k = 0; k < TICKS; k++) {
			struct cpm_tick t = { .tick = k };

			if (rnd(&seed) % 50 == 0)
				continue;	/* silent */
			/* several ticks in one entry: idle, or missed and given to one block */
			if (k / 70 % 4 == 3) {
				t.block = BLOCKS - 1;
				t.skipped = true;
				t.more = rnd(&seed) % 60;
			} else {
				t.block = rnd(&seed) % 40 ? (k / 100 + l) % 4 : 4;
				t.more = rnd(&seed) % 8 ? 0 : rnd(&seed) % 15;
				t.interpolated = t.more;
			}
			if (k + t.more >= TICKS)
				t.more = 0;
			labels[l][n] = t.block * 4 + rnd(&seed) % 4;
			ticks[l][n++] = t;
			k += t.more;
		}
		plain[l] = (struct cpm_stream){ .ticks = ticks[l], .n = n };
		streams[l] = (struct cpm_labelled){ plain[l], labels[l] };
	}
	for (uint32_t i = 0; i < TICKS / 10; i++) {
		readings[i] = (struct cpm_reading){ i * 10 + 3, uj };
		uj += 5000 + rnd(&seed) % 5000;
	}
	for (uint32_t i = 0; i < BLOCKS; i++)
		group_of[i] = i;
	for (unsigned int i = 0; i < 3 * CPM_STEPS; i++) {
		solve(plain, 3, kinds, readings, TICKS / 10, TICKS, i % CPM_STEPS + 1, &irq,
		      periods[i / CPM_STEPS], &v, &d);
		assert_int_equal(cpm_groups(&v, &d, group_of, BLOCKS - 1, BLOCKS, groups), 0);
		memset(sums, 0, sizeof(sums));
		assert_int_equal(cpm_labels(&v, &d, streams, 3, (BLOCKS - 1) * 4, sums), 0);
		all = 0;
		for (uint32_t b = 0; b < BLOCKS; b++) {
			sum = 0;
			for (uint32_t label = 0; label < 4; label++)
				sum += sums[b * 4 + label];
			all += sum;
			assert_true(groups[b].uj > 0);
			assert_true(fabs(sum / groups[b].uj - 1) < 1e-9);
		}
		assert_true(all > 0.9 * uj);
		cpm_domain_free(&d);
		cpm_vectors_free(&v);
	}
}

TEST(callers_belong_to_the_sample_before_them)
{
	struct kjoule_stack stack = { .rec = { KJOULE_RECORD_STACK, 0, sizeof(stack) } };
	struct timeline tl = { 0 };
	struct buffer b = { 0 };

	put_chain(&b, 0, 0, 1, (uint64_t[]){ 1 });	/* of no sample */
	put_task(&b, 1, 1);
	put_sample(&b, 1, 0, 0, 0, 0);
	put_chain(&b, 0, 1, 2, (uint64_t[]){ 11, 12, 13 });
	put_bytes(&b, &stack, sizeof(stack));
	put_sample(&b, 2, 0, 0, 0, 0);
	put_sample(&b, 3, 0, 0, 0, 0);
	put_lost(&b, 3, 1, 0);				/* its chain */
	put_bytes(&b, &stack, sizeof(stack));
	put_sample(&b, 4, 0, 0, 0, 0);
	put_energy(&b, 5, 1, (uint64_t[]){ 10 });
	put_chain(&b, 0, 0, 0, (uint64_t[]){ 0 });	/* its sample was lost */
	assert_int_equal(timeline_add(&tl, 0, 0, b.data, b.len, UINT64_MAX), 0);
	timeline_finish(&tl);
	assert_int_equal(tl.cpus[0].n_samples, 4);
	assert_int_equal(tl.cpus[0].n_callers, 2);
	assert_int_equal(tl.cpus[0].samples[0].callers, 1);
	assert_int_equal(tl.cpus[0].callers[0].chain->kernel, 1);
	assert_int_equal(kjoule_chain_ips(tl.cpus[0].callers[0].chain)[2], 13);
	assert_non_null(tl.cpus[0].callers[0].stack);
	assert_int_equal(tl.cpus[0].samples[1].callers, 0);
	assert_int_equal(tl.cpus[0].samples[2].callers, 2);
	assert_null(tl.cpus[0].callers[1].chain);
	assert_non_null(tl.cpus[0].callers[1].stack);
	assert_int_equal(tl.cpus[0].samples[3].callers, 0);
	timeline_free(&tl);
	free(b.data);
}

/*
 * Reports
 */

/* Functions whose names are looked for; what they do does not matter. */
#define FUNCTION(name, value) \
	__attribute__((noinline, noclone, used)) static int name(volatile int *p) \
	{ \
		for (int i = 0; i < value; i++) \
			*p += i * value; \
		return *p; \
	}

FUNCTION(call_outer, 3)
FUNCTION(call_first, 5)
FUNCTION(call_second, 7)
FUNCTION(call_again, 11)
FUNCTION(work_shared, 13)
FUNCTION(work_alone, 17)

extern const char __executable_start[];

/* Where a function would be in the made-up process. */
static uint64_t at(int (*function)(volatile int *))
{
	return 0x10000000 + ((uintptr_t)function - (uintptr_t)__executable_start);
}

/* One that it calls returns there. */
static uint64_t in(int (*function)(volatile int *))
{
	return at(function) + 1;
}

/*
 * By turns 100 ms each: work_shared called by call_first at 1 W, by call_second at 3 W, and
 * work_alone called by call_again, which called itself three times, at 2 W. All in call_outer.
 */
#define ROUND	300
#define ROUNDS	40

static void record(const char *name)
{
	const uint64_t first[] = { in(call_first), in(call_outer) };
	const uint64_t second[] = { in(call_second), in(call_outer) };
	const uint64_t again[] = { in(call_again), in(call_again), in(call_again), in(call_outer) };
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };
	char exe[4096] = "";

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < ROUND * ROUNDS; k++) {
		unsigned int phase = k / 100 % 3;

		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, phase < 2 ? at(work_shared) + 4 : at(work_alone) + 4, 0, 1000000,
			   0);
		if (phase == 0)
			put_chain(&b, 0, 0, 2, first);
		else if (phase == 1)
			put_chain(&b, 0, 0, 2, second);
		else
			put_chain(&b, k % 2 ? KJOULE_CHAIN_USER_CUT : 0, 0, 4, again);
		uj[0] += phase == 0 ? 1000 : phase == 1 ? 3000 : 2000;
		uj[1] += 500;
	}
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	write_recording(temp_path(name), &meta, &b, 1, exe, ROUND * ROUNDS);
}

/* What the tool prints, messages behind. Return: its exit code */
static char *output;

static int run(const char *arguments, const char *file)
{
	int code = kjoule("%s %s", arguments, temp_path(file));

	free(output);
	assert_true(asprintf(&output, "%s%s", out, err) >= 0);
	return code;
}

/* To this part of it. */
static bool within(double a, double b, double by)
{
	return near(a, b, by * fabs(b));
}

static struct json_object *find(struct json_object *doc, const char *kind, const char *function)
{
	return function ? row_with(doc, "kind", kind, "function", function, NULL) :
	       row_with(doc, "kind", kind, NULL);
}

static const char children_j[] = "children_energy_package_j", self_j[] = "self_energy_package_j";

TEST(children_have_what_they_called)
{
	struct json_object *doc, *plain;
	double shared, alone, j;

	record("calls");
	doc = report_json("--children", "calls");
	plain = report_json("", "calls");
	shared = number(find(plain, "function", "work_shared"), "energy_package_j");
	alone = number(find(plain, "function", "work_alone"), "energy_package_j");
	/* the functions' own figures are those of the plain report */
	assert_true(within(number(find(doc, "function", "work_shared"), self_j), shared, 1e-6));
	assert_true(within(number(find(doc, "function", "work_shared"), children_j), shared, 1e-6));
	assert_true(within(number(find(doc, "function", "call_outer"), children_j), shared + alone,
			   1e-6));
	assert_true(within(number(find(doc, "function", "call_again"), children_j), alone, 1e-6));
	assert_true(number(find(doc, "function", "call_outer"), self_j) == 0);
	/* who calls what draws more has more, though it is as long */
	j = number(find(doc, "function", "call_second"), children_j);
	assert_true(within(j, 0.75 * shared, 0.02));
	assert_true(
		within(number(find(doc, "function", "call_first"), children_j) + j, shared, 1e-6));
	assert_true(within(number(find(doc, "function", "call_second"), "children_time_s"),
			 number(find(plain, "function", "work_shared"), "time_s") / 2, 0.01));
	assert_int_equal(number(find(doc, "function", "call_outer"), "children_samples"),
			 ROUND * ROUNDS);
	assert_int_equal(number(find(doc, "function", "call_first"), "children_samples"),
			 100 * ROUNDS);
	assert_int_equal(number(find(doc, "function", "call_first"), "self_samples"), 0);
	assert_int_equal(run("report --children -v", "calls"), 0);
	assert_non_null(strstr(output, "call_again"));
	assert_non_null(strstr(output, "# callers    samples 12000, with callers 12000, cut 2000"));
	assert_int_equal(run("report --children --csv", "calls"), 0);
}

/* Domains whose names begin alike, and have characters that a column's name has not. */
TEST(children_have_the_columns_of_the_plain_report)
{
	static const char *const domains[] = { "the.regulator(of+the board's first half):one",
					       "the.regulator(of+the board's first half):two" };
	struct json_object *children, *plain;
	struct kjoule_meta meta;
	struct buffer b = { 0 };
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	for (int d = 0; d < 2; d++)
		strcpy(meta.session.sources[0].domains[d].name, domains[d]);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 1000; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, 0x10001000, 0, 1000000, 0);
		put_chain(&b, 0, 0, 1, (uint64_t[]){ 0x10002000 });
		uj[0] += 1000;
		uj[1] += 300;
	}
	write_recording(temp_path("calls"), &meta, &b, 1, "/nonexistent/program", 1000);
	children = report_json("--children", "calls");
	plain = report_json("", "calls");
	for (int d = 0; d < 2; d++) {
		char name[96] = "energy_the_regulator_of_the_board_s_first_half__one_j", all[128];

		if (d)
			memcpy(strstr(name, "one"), "two", 3);
		snprintf(all, sizeof(all), "children_%s", name);
		assert_true(within(number(find(plain, "total", NULL), name), d ? 0.3 : 1, 0.05));
		assert_true(within(number(find(children, "total", NULL), all),
				 number(find(plain, "total", NULL), name), 1e-6));
	}
}

/* A program next to another one that runs for a hundredth of the time. */
TEST(what_the_limit_hides_is_told)
{
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_SYSTEM);
	for (uint32_t k = 0; k < 10000; k++) {
		if (k % 1000 == 0)
			put_task(&b, 100, 100);
		if (k % 1000 == 990)
			put_task(&b, 200, 200);
		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, k % 1000 < 985 ? 0x10001000 : 0xffffffff81000000,
			   k % 1000 < 985 ? 0 : KJOULE_SAMPLE_KERNEL, 1000000, 0);
		put_chain(&b, 0, 0, 1, (uint64_t[]){ 0x10002000 });
		uj[0] += 1000;
	}
	write_recording(temp_path("two"), &meta, &b, 1, "/nonexistent/program", 10000);
	assert_int_equal(run("report --percent-limit 5", "two"), 0);
	assert_non_null(strstr(output, "(2 more rows below 5 %)"));
	assert_int_equal(run("report --children --percent-limit 5", "two"), 0);
	assert_non_null(strstr(output, "\n3 more functions below 5 %\n"));
	for (int children = 0; children < 2; children++) {
		assert_int_equal(run(children ? "report --children --percent-limit 0" :
						"report --percent-limit 0",
				     "two"),
				 0);
		assert_null(strstr(output, " more "));
		assert_null(strstr(output, "samples)"));
	}
}

/* Lines of a folded output that begin so, added up. */
static double folded(const char *begin)
{
	double sum = 0;

	for (char *line = output; *line; line += strcspn(line, "\n") + 1)
		if (!strncmp(line, begin, strlen(begin)))
			sum += strtod(memrchr(line, ' ', strcspn(line, "\n")), NULL);
	return sum;
}

TEST(folded_lines_add_up_to_the_total)
{
	struct json_object *plain;
	double total, time;

	record("calls");
	plain = report_json("", "calls");
	total = number(find(plain, "total", NULL), "energy_package_j");
	time = number(find(plain, "total", NULL), "time_s");
	assert_int_equal(run("report --folded", "calls"), 0);
	assert_true(fabs(folded("") - total * 1e6) <= 1);
	assert_true(folded("program;call_outer;call_first;work_shared ") > 0);
	assert_true(within(folded("program;call_outer;call_second;work_shared "),
			 3 * folded("program;call_outer;call_first;work_shared "), 0.03));
	assert_true(folded("program;call_outer;call_again;call_again;call_again;work_alone ") > 0);
	assert_true(folded("program;[kjoule ticks] ") > 0);
	assert_int_equal(run("report --folded --weight time", "calls"), 0);
	assert_true(fabs(folded("") - time * 1e9) <= 1);
	assert_int_equal(run("report --folded --weight samples", "calls"), 0);
	assert_int_equal(folded(""), ROUND * ROUNDS);
	assert_int_equal(folded("program;call_outer;call_first;work_shared "), 100 * ROUNDS);
	assert_int_equal(run("report --folded --weight samples --comm other", "calls"), 1);
	assert_non_null(strstr(output, "--comm other: no such process in this recording"));
}

/* Two hundred stacks of a few microjoules and a half each. */
TEST(rounding_takes_nothing_from_the_total)
{
	struct json_object *plain;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	uint64_t again[200], uj[2] = { 0, 0 };
	char exe[4096] = "";

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (unsigned int i = 0; i < 200; i++)
		again[i] = in(call_again);
	for (uint32_t k = 0; k < 10000; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, at(work_alone) + 4, 0, 1000000, 0);
		put_chain(&b, 0, 0, 1 + k % 200, again);
		uj[0] += k % 10 == 9;	/* 1 uJ in 10 ticks */
	}
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	write_recording(temp_path("calls"), &meta, &b, 1, exe, 10000);
	plain = report_json("", "calls");
	assert_int_equal(run("report --folded", "calls"), 0);
	assert_true(fabs(folded("") -
			 number(find(plain, "total", NULL), "energy_package_j") * 1e6) <= 1);
	assert_true(folded("") > 900);
}

TEST(callers_are_below_each_function)
{
	struct json_object *doc, *rows = NULL, *row;
	char *shared, *first, *second;
	double parts = 0;
	size_t i = 0;

	record("calls");
	doc = report_json("-g", "calls");
	json_object_object_get_ex(doc, "rows", &rows);
	while (strcmp(text_of(json_object_array_get_idx(rows, i), "function"), "work_shared"))
		i++;
	row = json_object_array_get_idx(rows, i);
	for (i++; !strcmp(text_of(json_object_array_get_idx(rows, i), "kind"), "caller"); i++)
		if (number(json_object_array_get_idx(rows, i), "depth") == 1)
			parts += number(json_object_array_get_idx(rows, i), "energy_package_j");
	assert_true(within(parts, number(row, "energy_package_j"), 1e-6));
	assert_int_equal(run("report --call-graph", "calls"), 0);
	shared = strstr(output, "  work_shared ");
	first = strstr(output, "+- call_first");
	second = strstr(output, "+- call_second");
	assert_true(shared && first && second && shared < second && second < first);
	assert_non_null(strstr(second, "<- call_outer"));
	/* the recursion, one by one */
	shared = strstr(output, "  work_alone ");
	for (int k = 0; k < 3; k++) {
		shared = strstr(shared + 1, "<- call_again");
		assert_non_null(shared);
	}
	assert_int_equal(run("script --json", "calls"), 0);
	assert_non_null(strstr(output, "\"callers\":[{\"ip\":"));
	assert_non_null(strstr(output, "\"symbol\":\"call_again\""));
	assert_int_equal(run("script --csv", "calls"), 0);
	assert_non_null(strstr(output, "call_again;call_again;call_again;call_outer,1"));
	assert_int_equal(run("script", "calls"), 0);
	assert_non_null(strstr(output, " call_first+0x1 ("));
	assert_non_null(strstr(output, "[there may be more]"));
}

/* Of the energy call_first has a sixth and call_second a half. */
TEST(a_limit_that_is_given_holds_for_callers)
{
	record("limits");
	assert_int_equal(run("report -g --percent-limit 30", "limits"), 0);
	assert_non_null(strstr(output, "  work_shared "));
	assert_non_null(strstr(output, "- call_second"));
	assert_null(strstr(output, "- call_first"));
	assert_int_equal(run("report -g --percent-limit 10", "limits"), 0);
	assert_non_null(strstr(output, "- call_first"));
	assert_int_equal(run("report -g", "limits"), 0);
	assert_non_null(strstr(output, "- call_first"));
}

TEST(without_callers_it_says_how_to_record_them)
{
	struct buffer b = { 0 }, called = { 0 };
	struct kjoule_meta meta;

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 100; k++)
		put_sample(&b, k, 0x10001000, 0, 1000000, 0);
	put_bytes(&called, b.data, b.len);
	write_recording(temp_path("plain"), &meta, &b, 1, "/nonexistent", 100);
	assert_int_equal(run("report --children", "plain"), 1);
	assert_non_null(strstr(output, "--call-graph dwarf"));
	assert_int_equal(run("report --folded", "plain"), 1);
	assert_int_equal(run("script --json", "plain"), 0);
	assert_null(strstr(output, "callers"));
	/* callers, but no energy */
	put_chain(&called, 0, 0, 1, (uint64_t[]){ 0x10002000 });
	write_recording(temp_path("plain"), &meta, &called, 1, "/nonexistent", 100);
	assert_int_equal(run("report --folded", "plain"), 1);
	assert_non_null(strstr(output, "--weight time"));
	assert_int_equal(run("report --folded --weight samples", "plain"), 0);
	free(b.data);
	assert_int_equal(run("report --folded --json", "plain"), 2);
	assert_int_equal(run("report --weight time", "plain"), 2);
	assert_int_equal(run("report --folded --weight kilos", "plain"), 2);
	assert_int_equal(run("report -g --children", "plain"), 2);
}
