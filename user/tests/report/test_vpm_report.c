// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of recordings with readings of blocks, and what script shows of them: made-up recordings
 * whose truth is known, of the test's own code.
 */
#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "analysis/profile/profile.h"
#include "lib/code/code.h"
#include "lib/code/disassembler.h"
#include "lib/file/recording.h"
#include "report/report.h"
#include "tests/support/looped.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define MS		1000000ull
#define T0		1000000000ull
#define READY_MS	20
#define HELD_W		1.9
#define LOOP_W		2.47
#define OWN_MS		0.2
#define OWN_W		1.4
#define LATENCY_MS	5
#define CYCLE		200		/* ticks: half of them in the loop */
#define BESIDE_MS	4
#define BESIDE_W	1.2
#define TWIN		0x30000000ull	/* where another object is mapped */

static uint32_t made_beside;		/* one of so many readings has the recorder awake in it */

/*
 * What the next recordings are of. @function: the block is one, of this name; NULL: some code of
 * the loop
 * @older: the recording does not say where its code ends, nor how busy other CPUs were. @placeless:
 *   nor where it is
 * @twin: every other of its ticks is in another object instead, in the function of the same name
 * @object: the file that it is said to be of; NULL: the test's own
 */
static struct {
	const char *function, *object, *twin;
	bool older, placeless;
	const char *second; /* one more block, which is this function, without readings */
} made;

/*
 * A program that spends every other 100 ms in the loop, in runs of 5 ms. In each of these times
 * there is a reading of it: delayed, undelayed, and sometimes held. The loop's run is what follows
 * the reading's start where it is delayed; then the CPU is held, and ticks are missed.
 */
static void put_reading(struct buffer *b, uint32_t k, uint32_t number, uint32_t *held_from,
			uint8_t more)
{
	uint8_t flags = number % 8 == 7 ? KJOULE_READING_PAUSED :
			number % 2	? KJOULE_READING_DELAYED :
					  0;
	double ran = flags & KJOULE_READING_PAUSED ?
			     0 :
			     OWN_MS + (flags ? LATENCY_MS + 0.1 * (number % 5 - 2.0) : 0);
	/* a thread of the kernel, which draws what holding does */
	double others = flags & KJOULE_READING_DELAYED && number % 5 == 1 ? 0.3 : 0;
	bool beside = made_beside && number % made_beside == 1;
	double own = ran > 0 ? OWN_MS : 0, j = own * OWN_W + (ran - own) * LOOP_W +
					       (READY_MS - ran) * HELD_W +
					       (beside ? BESIDE_MS * BESIDE_W : 0);
	uint64_t hit = T0 + k * MS + 300000;
	struct kjoule_vpm_reading r = {
		.rec = { KJOULE_RECORD_READING, flags | more, sizeof(r) },
		.tick = k + READY_MS,
		.number = number,
		.pid = 100,
		.tgid = 100,
		.armed_ns = hit - 3 * MS,
		.hit_ns = hit,
		.stop_ns = hit + (uint64_t)((ran + others) * MS),
		.ready_ns = hit + READY_MS * MS,
		.others_ns = (uint64_t)(others * MS),
		/* 0.3 % off, up and down */
		.power_uw = more & KJOULE_READING_LATE ?
				    0 :
				    1e6 * j / READY_MS * (1 + 0.003 * (number / 2 % 3 - 1.0))
	};

	if (beside)
		put_wakeup(1, hit + 18 * MS, hit + (18 + BESIDE_MS) * MS);
	else if (made_beside)
		put_wakeup(1, hit + 21 * MS, hit + 22 * MS);	/* soon after it: no matter */
	*held_from = k + 1 + (flags & KJOULE_READING_DELAYED ? LATENCY_MS : 0);
	if (made.older)
		r.rec.size = offsetof(struct kjoule_vpm_reading, busy_ns);
	put_bytes(b, &r, r.rec.size);
}

/* The first instruction of the loop: what is no jump and no call has itself alone. */
static struct looped_code loop_at(void)
{
	struct looped_code at = { .start = looped.loop, .offset = looped.loop_offset };
	char text[KJOULE_INSN_TEXT];
	struct kjoule_code *code;
	const void *bytes;
	size_t len;
	int size;

	assert_int_equal(kjoule_code_open(looped_path(), &code), 0);
	bytes = kjoule_code_bytes(code, at.start, &len);
	size = kjoule_disassemble_text(bytes, len, EM_X86_64, at.start, text);
	assert_true(size > 0 && text[0] != 'j' && strncmp(text, "call", 4));
	at.end = at.start + size;
	kjoule_code_close(code);
	return at;
}

static void describe(struct kjoule_vpm_block *b, const char *name, const char *function,
		     struct looped_code at)
{
	snprintf(b->name, sizeof(b->name), "%s", name);
	snprintf(b->object, sizeof(b->object), "%.255s", made.object ? made.object : looped_path());
	if (function)
		snprintf(b->part, sizeof(b->part), "%s", function);
	else
		snprintf(b->part, sizeof(b->part),
			 "%.400s:0x%llx-0x%llx", looped_path(), (unsigned long long)at.start,
			 (unsigned long long)at.end);
	b->start = made.placeless ? 0 : at.start;
	b->end = function || made.placeless ? 0 : at.end;
	b->code_end = made.older || made.placeless ? 0 : at.end;
	b->pid = 100;
}

/* @readings of them; of these, every @late-th delayed one is late. Return: ticks in the loop */
static uint32_t record(const char *name, uint32_t readings, uint32_t late, uint32_t every)
{
	static struct kjoule_meta meta;
	struct kjoule_vpm_info *vpm;
	char *argv[] = { (char *)"./program", NULL };
	uint32_t number = 0, end = 60 * CYCLE, held_from = 0, held_to = 0, in_loop = 0;
	struct looped_code at = made.function ? looped_function(made.function) : loop_at();
	struct buffer b = { 0 };
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, MS, KJOULE_TARGET_PROCESS);
	meta.argv = argv;
	meta.argc = 1;
	vpm = &meta.session.vpm;
	if (every) {
		*vpm = (struct kjoule_vpm_info){ .interval_ns = 100 * MS,
						 .source = "meter",
						 .ready_ns = READY_MS * MS,
						 .peak_uw = 20000000,
						 .rest_uw = 600000,
						 .rounds = readings + 11,
						 .readings = readings,
						 .learnt = 1,
						 .unmet = 3,
						 .elsewhere = 2,
						 .crowded = 4,
						 .cut = 1,
						 .held_ns = 4 * T0,
						 .longest_ns = 21 * MS,
						 .n_blocks = 1 };
		describe(&vpm->block[0], "loop", made.function, at);
		if (made.second)
			describe(&vpm->block[vpm->n_blocks++], "second", made.second,
				 looped_function(made.second));
	}
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < end; k++) {
		bool in = k % CYCLE < CYCLE / 2;

		if (k >= held_from && k < held_to) {
			put_gap(&b, k, held_to - k);
			k = held_to - 1;
			continue;
		}
		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		if (in && made.twin && k % 2)
			put_sample(&b, k, TWIN + at.offset, KJOULE_SAMPLE_PRECISE, 1000000, 100);
		else
			put_sample(&b, k, 0x10000000 + (in ? at.offset : looped.after_offset),
				   KJOULE_SAMPLE_PRECISE, 1000000, 100);
		in_loop += in && (!made.twin || k % 2 == 0);
		uj[0] += in ? 2470 : 1500;
		if (every && k % CYCLE % every == 5 && in && number < readings) {
			bool is_late = late && number % 2 && number % (2 * late) == 1;

			put_reading(&b, k, number++, &held_from, is_late ? KJOULE_READING_LATE : 0);
			held_to = k + READY_MS + 1;
		}
	}
	if (made.twin) {
		struct buffer none = { 0 }, side = { 0 };

		put_map(&side, 100, 900000002, TWIN, 0x10000000, 0, made.twin);
		put_regions(&none, &side);
	}
	write_recording(temp_path(name), &meta, &b, 1, made.object ? made.object : looped_path(),
			end);
	return in_loop;
}

static struct json_object *report(const char *options, const char *name, int code)
{
	return kjoule_json(code, "report --json %s %s", options, temp_path(name));
}

static void check_loop(struct json_object *doc, uint32_t in_loop)
{
	struct json_object *row = find_row(doc, "block", NULL), *vpm = member(doc, "vpm");

	assert_non_null(row);
	assert_string_equal(text_of(row, "function"), "loop");
	assert_string_equal(text_of(member(doc, "model"), "name"), "vpm");
	assert_true(near(number(row, "power_w"), LOOP_W, 0.01 * LOOP_W));
	assert_true(number(row, "power_lo_w") <= LOOP_W && number(row, "power_hi_w") >= LOOP_W);
	assert_true(near(number(row, "latency_us"), 1000 * LATENCY_MS, 25));
	assert_true(near(number(row, "time_s"), in_loop * 1e-3, 0.02 * in_loop * 1e-3));
	assert_true(near(number(row, "energy_j"), number(row, "power_w") * number(row, "time_s"),
			 1e-6));
	assert_true(near(number(row, "execution_uj"),
			 number(row, "power_w") * number(row, "latency_us"), 1e-3));
	assert_true(near(number(vpm, "held_w"), HELD_W, 0.01));
	assert_true(near(number(vpm, "idle_w"), 0.6, 1e-9));
	assert_true(near(number(vpm, "unmet"), 3, 0) && near(number(vpm, "elsewhere"), 2, 0));
	assert_true(near(number(vpm, "crowded"), 4, 0));
	assert_true(near(number(vpm, "learnt"), 1, 0) && near(number(vpm, "cut"), 1, 0));
	assert_true(near(number(vpm, "rounds"),
			 number(vpm, "readings") + number(vpm, "learnt") + number(vpm, "unmet") +
				 number(vpm, "unended") + number(vpm, "elsewhere") +
				 number(vpm, "crowded") + number(vpm, "failed") +
				 number(vpm, "cut"),
			 0));
}

TEST(test_report)
{
	uint32_t in_loop = record("readings", 240, 0, 25);
	struct json_object *doc;

	doc = report("--model vpm", "readings", 0);
	check_loop(doc, in_loop);
	/* whoever has had them made wants them */
	doc = report("", "readings", 0);
	check_loop(doc, in_loop);
	doc = report("--model auto --block loop=whatever", "readings", 0);
	check_loop(doc, in_loop);
	assert_int_equal(kjoule("report %s", temp_path("readings")), 0);
	assert_true(says(out, "POWER W") && says(out, "LATENCY us") && says(out, "LEFT OUT") &&
		    says(out, "3 trials without a hit of the breakpoint"));
	assert_int_equal(kjoule("report --csv %s", temp_path("readings")), 0);
	assert_true(says(out, "block,loop,100,"));
	assert_true(says(out, ",left_out,left_out_delayed,left_out_undelayed,left_out_paused,late,"));
}

/*
 * Half of the power's interval by a calibration that knows all exactly; @part: that interrupts
 * besides ticks take of the time, out: as they are counted, ticks being late
 */
static double half_with_others(double *part)
{
	const struct kjoule_calibration cal = { .ticks = 1000,
						.tick_ns = 3000,
						.handler_ns = 2000,
						.freq_khz = 1000000,
						.other_part = *part,
						.other_error = 1e-6,
						.n_domains = 1,
						.irq_uw = { 1e6 * LOOP_W },
						.irq_error_uw = { 1000 },
						.loop_uw = { 3e6 } };
	struct json_object *doc, *row;
	double half;

	put_calibration(&cal);
	record("others", 240, 0, 25);
	doc = report("--model vpm", "others", 0);
	row = find_row(doc, "block", NULL);
	half = number(row, "power_hi_w") - number(row, "power_w");
	*part = number(member(doc, "cost"), "other_interrupts_part");
	return half;
}

/*
 * It is not known what interrupts other than ticks draw, however exactly the ticks' power is
 * known.
 */
TEST(test_others_power)
{
	double none = 1e-4, some = 0.1, few, many, want;

	few = half_with_others(&none);
	many = half_with_others(&some);
	/* dP/dI of interrupts_take_out() */
	want = 0.15 * LOOP_W * some / (1 - some);
	assert_true(some > 10 * none);
	assert_true(near(sqrt(many * many - few * few), want, 0.05 * want));
}

/* What the recorder draws is in no reading that counts: when it was awake is known. */
TEST(test_unattributed)
{
	uint32_t in_loop;
	struct json_object *doc, *row;

	made_beside = 4;
	in_loop = record("awake", 240, 0, 25);
	made_beside = 0;
	doc = report("--model vpm", "awake", 0);
	check_loop(doc, in_loop);
	row = find_row(doc, "block", NULL);
	assert_true(near(number(row, "recorder_awake"), 60, 0) && number(row, "left_out") <= 3);
	assert_true(near(number(row, "readings") + number(row, "paused") + number(row, "left_out"),
			 180, 0));
}

/*
 * A process that is given another name is the same one, and the block's time is that under all of
 * its names.
 */
TEST(test_renamed)
{
	struct buffer none = { 0 }, side = { 0 };
	struct json_object *doc;
	uint32_t in_loop;

	/* for a fifth of the time, in the middle */
	put_name_event(&side, T0 + 24 * CYCLE * MS, 100, 100, "worker", false);
	put_name_event(&side, T0 + 36 * CYCLE * MS, 100, 100, "program", false);
	put_regions(&none, &side);
	in_loop = record("renamed", 240, 0, 25);
	doc = report("--model cpm", "renamed", 0);
	assert_non_null(find_row(doc, "process", NULL));
	assert_true(says(out, "\"worker\"") && says(out, "\"program\""));
	doc = report("", "renamed", 0);
	check_loop(doc, in_loop);
}

/* A large recording's records are read from the file, a chunk at a time. */
TEST(test_large)
{
	uint64_t usual = kjoule_recording_keep_most;
	struct kjoule_error error = { "" };
	struct view kept, left;

	record("large", 240, 0, 25);
	assert_int_equal(view_open(temp_path("large"), &kept, &error), 0);
	kjoule_recording_keep_most = 0;
	assert_int_equal(view_open(temp_path("large"), &left, &error), 0);
	kjoule_recording_keep_most = usual;
	assert_true(left.rec.left_in_file && !kept.rec.left_in_file);
	assert_int_equal(report_vpm_readings(&kept), 240);
	assert_int_equal(report_vpm_readings(&left), 240);
	assert_true(left.rec.meta.session.vpm.block[0].code_end == loop_at().end);
	for (size_t i = 0; i < 240; i++) {
		const struct kjoule_vpm_reading *x = &kept.tl.cpus[0].readings[i],
						*y = &left.tl.cpus[0].readings[i];

		assert_int_equal(x->number, i);
		assert_memory_equal(x, y, sizeof(*x));
	}
	view_close(&left);
	view_close(&kept);
}

/* Does the report come to @model? */
static void check_model(const char *options, const char *model)
{
	struct json_object *doc = report(options, "chosen", 0);

	assert_string_equal(text_of(member(doc, "model"), "name"), model);
}

/* What has no readings is reported by the model that knows of it, unless vpm was asked for. */
TEST(test_chosen)
{
	static const char *const others[] = { "--pid 100",
					      "--comm program",
					      "--interval worst-case",
					      "--sort time",
					      "--sort energy",
					      "--by function",
					      "--by object",
					      "--block loop=main --block other=main" };
	char options[200];

	record("chosen", 240, 0, 25);
	check_model("", "vpm");
	check_model("--model auto", "vpm");
	check_model("--block loop=whatever", "vpm");
	for (size_t i = 0; i < 7; i++) {
		check_model(others[i], "cpm");
		snprintf(options, sizeof(options), "%s --model auto", others[i]);
		check_model(options, "mixture");
		snprintf(options, sizeof(options), "--model vpm %s", others[i]);
		assert_int_equal(kjoule("report %s %s", options, temp_path("chosen")), 2);
		assert_true(says(err, "it goes with --block only"));
	}
	/*
	 * one of these has readings, the other one has not: neither has a power by vpm; and this
	 * model finds no main
	 */
	assert_int_equal(kjoule("report %s %s", others[7], temp_path("chosen")), 1);
	assert_true(says(err, "no sample of what was asked for fell into it"));
	/*
	 * how sure figures become is of the constant power model, which is said whether there is
	 * gnuplot or not
	 */
	snprintf(options, sizeof(options), "%s", temp_path("chosen.svg"));
	kjoule("report --convergence %s %s", options, temp_path("chosen"));
	assert_true(says(err, "was recorded with --vpm: its CPUs were held again and again"));
}

/* A part of the time has the readings that were made in it, and the counters of all of it. */
TEST(test_part)
{
	struct json_object *doc, *row;

	record("part", 240, 0, 25);
	doc = report("--model vpm --from 2s --to 8s", "part", 0);
	row = find_row(doc, "block", NULL);
	/* four in each 200 ms */
	assert_in_range(number(row, "readings") + number(row, "paused"), 118, 120);
	assert_true(near(number(row, "power_w"), LOOP_W, 0.02 * LOOP_W));
	assert_int_equal(kjoule("report --from 2s --to 8s %s", temp_path("part")), 0);
	assert_true(says(out, "these counts are of all of the recording"));
	assert_int_equal(kjoule("report %s", temp_path("part")), 0);
	assert_null(strstr(out, "these counts are of all of the recording"));
	assert_int_equal(kjoule("report --model vpm --from 110ms --to 180ms %s", temp_path("part")),
			 1);
	assert_true(says(err, "between --from and --to"));
}

/* The other models know nothing of readings; what was held is in no total. */
TEST(test_other_models)
{
	uint32_t in_loop = record("others", 240, 0, 25);
	struct json_object *doc;

	doc = report("--model cpm --raw", "others", 0);
	assert_null(find_row(doc, "block", NULL));
	assert_true(near(number(find_row(doc, "total", NULL), "time_s"),
			 in_loop * 1e-3 + 60 * CYCLE / 2 * 1e-3, 0.05 * in_loop * 1e-3));
}

TEST(test_refused)
{
	record("plain", 0, 0, 0);
	assert_int_equal(kjoule("report --model vpm %s", temp_path("plain")), 1);
	assert_true(says(err, "kjoule record --vpm"));
	assert_int_equal(kjoule("report --model auto %s", temp_path("plain")), 0);
	/* they were asked for, and none came */
	record("none", 0, 0, 25);
	assert_int_equal(kjoule("report --model vpm %s", temp_path("none")), 1);
	assert_true(says(err, "3 trials without a hit of the breakpoint"));
	/* without being asked the report has another model, and says why */
	assert_int_equal(kjoule("report %s", temp_path("none")), 0);
	assert_true(says(err, "has no reading of a block, so the model is cpm: 3 trials without a hit of the breakpoint"));
	assert_int_equal(kjoule("report --model cpm %s", temp_path("none")), 0);
	assert_false(says(err, "has no reading of a block"));
	assert_int_equal(kjoule("report %s", temp_path("plain")), 0);
	assert_false(says(err, "has no reading of a block"));
	record("some", 240, 0, 25);
	assert_int_equal(kjoule("report --model vpm --block other=main %s", temp_path("some")), 1);
	assert_true(says(err, "no readings of it") && says(err, "loop"));
	assert_int_equal(kjoule("report --model vpm --vectors %s", temp_path("some")), 2);
	assert_int_equal(kjoule("report --model vpm --by region %s", temp_path("some")), 2);
	assert_int_equal(kjoule("report --model vpm %s %s", temp_path("some"), temp_path("some")),
			 2);
}

/* What pausing takes of a program is none of the ticks' overhead, and reported on its own. */
TEST(test_held_is_no_overhead)
{
	struct json_object *doc;

	record("some", 240, 0, 25);
	assert_int_equal(kjoule("report -v --model cpm %s", temp_path("some")), 0);
	assert_true(says(out, ", paused 4 s"));
	doc = report("--model cpm", "some", 0);
	assert_true(near(number(member(doc, "overhead"), "paused_s"), 4, 1e-9));
	record("plain", 0, 0, 0);
	assert_int_equal(kjoule("report -v %s", temp_path("plain")), 0);
	assert_true(says(out, "# overhead") && !says(out, ", paused"));
}

TEST(test_not_told)
{
	struct json_object *doc, *row;

	record("few", 16, 0, 25);
	doc = report("", "few", 1);
	row = find_row(doc, "block", NULL);
	assert_true(isnan(number(row, "power_w")) && isnan(number(row, "energy_j")));
	assert_true(says(text_of(row, "why"), "too few readings"));
	record("long", 240, 4, 25);
	doc = report("", "long", 1);
	row = find_row(doc, "block", NULL);
	assert_true(isnan(number(row, "power_w")));
	assert_true(number(row, "late") > 10);
	assert_true(says(text_of(row, "why"), "longer than the meter's interval"));
	assert_int_equal(kjoule("report %s", temp_path("long")), 1);
	assert_true(says(out, "longer than the meter's interval"));
}

/* Blocks of code in assembly, so that they are what they are. */
void readings_leaf(void);
void readings_calls(void);
void readings_calls_plt(void);
void readings_calls_kernel(void);
void readings_goes_on(void);
void readings_goes_anywhere(void);
asm(".text\n"
#define FUNCTION(name, body)                                                            \
	".globl " #name "\n.type " #name ", @function\n" #name ":\n\tnop\n\tnop\n" body \
	".size " #name ", . - " #name "\n"
    FUNCTION(readings_leaf, "1:\tdec %rdi\n\tjnz 1b\n\tret\n\tcall readings_calls\n")
	    FUNCTION(readings_calls, "\tcall readings_leaf\n\tret\n")
		    FUNCTION(readings_calls_plt, "\tcall getpid@PLT\n\tret\n")
			    FUNCTION(readings_calls_kernel, "\tsyscall\n\tret\n")
				    FUNCTION(readings_goes_on, "\tjmp readings_leaf\n")
					    FUNCTION(readings_goes_anywhere, "\tjmp *%rax\n"));

/* Of a recording of @made; @in_loop ticks are of the block. */
static struct json_object *check_made(const char *what, uint32_t *in_loop)
{
	struct json_object *doc;

	*in_loop = record("made", 240, 0, 25);
	doc = report("", "made", 0);
	if (!find_row(doc, "block", NULL))
		print_message("%s: no row\n", what);
	assert_non_null(find_row(doc, "block", NULL));
	return doc;
}

/* What its latency and power are of, its time is not; it has no energy that looks measured. */
static void check_no_time(struct json_object *row, const char *why)
{
	assert_true(near(number(row, "power_w"), LOOP_W, 0.01 * LOOP_W));
	assert_true(near(number(row, "latency_us"), 1000 * LATENCY_MS, 25));
	assert_true(near(number(row, "execution_uj"),
			 number(row, "power_w") * number(row, "latency_us"), 1e-3));
	assert_null(member(row, "why"));
	assert_null(member(row, "time_s"));
	assert_null(member(row, "time_lo_s"));
	assert_null(member(row, "energy_j"));
	assert_null(member(row, "energy_hi_j"));
	assert_non_null(member(row, "time_why"));
	assert_true(says(text_of(row, "time_why"), why));
}

/*
 * Ticks in the block's own code are not all of the time that its latency and power are of, where it
 * runs other code.
 */
TEST(test_callers)
{
	static const struct { const char *function, *why; } cases[] = {
		{ "readings_calls", "it calls other code at 0x" },
		{ "readings_calls_plt", "it calls other code at 0x" },
		{ "readings_calls_kernel", "it calls the kernel at 0x" },
		{ "readings_goes_on", "it goes on in other code from 0x" },
		{ "readings_goes_anywhere", "it is not known where it goes on" },
	};
	struct json_object *doc;
	uint32_t in_loop;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int older = 0; older < 2; older++) {
			made.function = cases[i].function;
			made.older = older;
			doc = check_made(cases[i].function, &in_loop);
			check_no_time(find_row(doc, "block", NULL), cases[i].why);
		}
	}
	assert_int_equal(kjoule("report %s", temp_path("made")), 0);
	assert_true(says(out, "loop : without time and energy: it is not known where it goes on"));
	assert_int_equal(kjoule("report --csv %s", temp_path("made")), 0);
	assert_true(says(out, ",why,time_why,object"));
	/* what is behind its return is none of it */
	made.function = "readings_leaf";
	for (int older = 0; older < 2; older++) {
		made.older = older;
		doc = check_made("readings_leaf", &in_loop);
		check_loop(doc, in_loop);
		assert_null(member(find_row(doc, "block", NULL), "time_why"));
	}
	memset(&made, 0, sizeof(made));
}

/* Where the code cannot be read it is not known what it calls. */
TEST(test_unreadable)
{
	struct json_object *doc;
	uint32_t in_loop;

	made.function = "readings_leaf";
	made.object = "/nonexistent/program";
	doc = check_made("no file", &in_loop);
	check_no_time(
		find_row(doc, "block", NULL),
		"its code cannot be read, so it is not known whether it runs other code: /nonexistent/program");
	made.older = true;
	doc = check_made("no file, no end", &in_loop);
	check_no_time(find_row(doc, "block", NULL), "its code cannot be read");
	made.object = NULL;
	made.placeless = true;
	doc = check_made("no place", &in_loop);
	check_no_time(find_row(doc, "block", NULL), "does not have where its code is");
	memset(&made, 0, sizeof(made));
}

/* A function of the same name in another object is another function. */
TEST(test_twins)
{
	struct json_object *doc;
	uint32_t in_loop;
	uint8_t *image;
	size_t len;

	image = read_file(looped_path(), &len);
	write_file(temp_path("twin"), image, len);
	free(image);
	made.function = "readings_leaf";
	made.twin = temp_path("twin");
	for (int older = 0; older < 2; older++) {
		made.older = older;
		doc = check_made("twins", &in_loop);
		check_loop(doc, in_loop);
	}
	memset(&made, 0, sizeof(made));
}

/* Of two blocks that have the same code one has the ticks. */
TEST(test_overlap)
{
	struct json_object *doc, *rows, *row;
	uint32_t in_loop;

	made.function = made.second = "readings_leaf";
	doc = check_made("overlap", &in_loop);
	check_loop(doc, in_loop);
	rows = member(doc, "rows");
	assert_int_equal(json_object_array_length(rows), 2);
	row = json_object_array_get_idx(rows, 1);
	assert_null(member(row, "time_s"));
	assert_true(says(text_of(row, "time_why"), "some of its code is that of loop as well"));
	/* by itself it has them, though no power: there are no readings of it */
	doc = report("--model vpm --block second=second", "made", 1);
	row = find_row(doc, "block", NULL);
	assert_true(near(number(row, "time_s"), in_loop * 1e-3, 0.02 * in_loop * 1e-3));
	assert_null(member(row, "time_why"));
	memset(&made, 0, sizeof(made));
}

TEST(test_script)
{
	record("script", 20, 5, 25);
	assert_int_equal(kjoule("script %s", temp_path("script")), 0);
	assert_true(says(out, "reading"));
	assert_true(says(out, "0 of loop, undelayed, waited 3.000 ms, ran 200.000 us"));
	assert_true(says(out, "7 of loop, held, waited 3.000 ms, ran 0.000 us"));
	assert_true(says(out, "1 of loop, delayed (late)"));
	assert_true(says(out, "and others 300.000 us"));
}

int main(void)
{
	return tests_run(looped_setup, NULL);
}
