// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report --model vpm: the power of the blocks that there are readings of; see report.h and
 * analysis/vpm/vpm.h. Their times are those of their ticks, as with every model, where these tell
 * all of it (vpm_code.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/vpm/vpm.h"
#include "attribute/recorder_wakeups.h"
#include "cli/cmd.h"
#include "lib/base/array.h"
#include "output/wrap.h"
#include "report/report.h"

/* Part of what ticks draw by which other interrupts may differ: 4 % on the virtual chip. */
#define OTHERS_POWER	0.15
/* The kernel's clock tick at CONFIG_HZ=250, its default; no recording says what it was. */
#define KERNEL_TICK_S	4e-3

/* Readings of a block, and what they tell. */
struct block {
	const struct kjoule_vpm_block *info;
	size_t n, late, moved;
	size_t moved_delayed;		/* of @moved */
	size_t with_recorder;		/* readings while the recorder was awake, of no use */
	struct vpm_reading *readings;
	struct vpm_result result;
	struct value time_s, energy_j;
	double off_s; /* of the time, as far as calibration knows what interrupts took */
	struct report_vpm_why no_time;	/* why the time, and with it the energy, is not known */
};

size_t report_vpm_readings(const struct view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->tl.n_cpus; i++)
		n += v->tl.cpus[i].n_readings;
	return n;
}

static bool report_vpm_has_readings(const struct view *v, const char *name)
{
	const struct kjoule_vpm_info *vpm = &v->rec.meta.session.vpm;

	for (size_t i = 0; i < v->tl.n_cpus; i++) {
		const struct timeline_cpu *c = &v->tl.cpus[i];

		for (size_t k = 0; k < c->n_readings; k++)
			if (c->readings[k].block < vpm->n_blocks &&
			    !strcmp(vpm->block[c->readings[k].block].name, name))
				return true;
	}
	return false;
}

bool report_vpm_has(const struct view *v, const struct user_blocks *named)
{
	for (size_t i = 0; i < named->n; i++)
		if (!report_vpm_has_readings(v, named->blocks[i].name))
			return false;
	return true;
}

/* Was it asked for? */
static bool report_vpm_is_wanted(const struct user_blocks *named, const char *name)
{
	for (size_t i = 0; i < named->n; i++)
		if (!strcmp(named->blocks[i].name, name))
			return true;
	return !named->n;
}

/* "a, b": the blocks of the recording. */
static void report_vpm_list_blocks(const struct kjoule_vpm_info *vpm, char *text, size_t len)
{
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < vpm->n_blocks && at < len; i++)
		at += snprintf(text + at, len - at, "%s%s", i ? ", " : "", vpm->block[i].name);
}

int report_vpm_blocks(struct view *v, struct attribute_options *opt, struct kjoule_error *err)
{
	const struct kjoule_vpm_info *vpm = &v->rec.meta.session.vpm;
	struct user_blocks asked = opt->named;
	char there[1024];
	int ret = 0;

	report_vpm_list_blocks(vpm, there, sizeof(there));
	for (size_t i = 0; i < asked.n; i++) {
		bool known = false;

		for (uint32_t k = 0; k < vpm->n_blocks; k++)
			known |= !strcmp(vpm->block[k].name, asked.blocks[i].name);
		if (!known)
			return kjoule_fail(err, ENOENT,
					   "--block %s: there are no readings of it; the recording has those of %.300s",
					   asked.blocks[i].name, there);
	}
	/* what they are is as recorded, whatever was said here */
	memset(&opt->named, 0, sizeof(opt->named));
	for (uint32_t k = 0; k < vpm->n_blocks && !ret; k++) {
		uint64_t start, end;

		if (!report_vpm_is_wanted(&asked, vpm->block[k].name))
			continue;
		/* what is not known has no sample */
		if (!report_vpm_code(v, &vpm->block[k], &start, &end))
			start = end = 0;
		ret = user_blocks_add_code(&opt->named, vpm->block[k].name, vpm->block[k].object,
					   start, end);
	}
	user_blocks_free(&asked);
	opt->units = true;
	return ret;
}

/*
 * Whatever the recorder spends while the meter senses is in the reading, on any CPU, and on the
 * block's own one it keeps the block waiting. When it wakes up has nothing to do with how long the
 * block runs, so that the readings without it are no choice of these; that is why it is the meter's
 * interval that is looked at, which always takes as long.
 */
static int report_vpm_add_reading(struct block *blocks, size_t n,
				  const struct kjoule_vpm_reading *r, struct block *held,
				  const struct recorder_wakeups *recorder_wakeups,
				  uint64_t interval_ns)
{
	uint8_t flags = r->rec.flags;
	struct vpm_reading *to;
	struct block *b = r->block < n ? &blocks[r->block] : NULL;

	if (!b)
		return 0;
	if (recorder_wakeups_within(recorder_wakeups, r->hit_ns, r->hit_ns + interval_ns)) {
		b->with_recorder++;
		return 0;
	}
	if (flags & KJOULE_READING_DISTURBED) {
		b->moved++;
		b->moved_delayed += !!(flags & KJOULE_READING_DELAYED);
		return 0;
	}
	if (flags & KJOULE_READING_LATE) {
		b->late += !!(flags & KJOULE_READING_DELAYED);
		return 0;
	}
	if (flags & KJOULE_READING_PAUSED)
		b = held;
	to = kjoule_array_grow(&b->readings, &b->n, sizeof(*to));
	if (!to)
		return -ENOMEM;
	*to = (struct vpm_reading){
		.kind = flags & KJOULE_READING_PAUSED ? VPM_PAUSED :
			flags & KJOULE_READING_DELAYED ? VPM_DELAYED : VPM_UNDELAYED,
		/* what others spent meanwhile counts as if they had been held */
		.ran_s = (r->stop_ns - r->hit_ns - r->others_ns) * 1e-9,
		.power_w = r->power_uw * 1e-6,
		.busy_s = r->busy_ns * 1e-9 };
	return 0;
}

/* What is held is the same, whichever block was met. */
static int report_vpm_add_paused(struct block *b, const struct block *held)
{
	for (size_t i = 0; i < held->n; i++) {
		struct vpm_reading *to = kjoule_array_grow(&b->readings, &b->n, sizeof(*to));

		if (!to)
			return -ENOMEM;
		*to = held->readings[i];
	}
	return 0;
}

/*
 * Time that the ticks have seen in them, without interrupts. A process that had two names is two
 * here, and what it ran under either of them is the block's.
 */
static int report_vpm_find_times(const struct blocks *b, const struct profile *p,
				 struct block *blocks, uint32_t n)
{
	uint32_t *group_of = malloc((b->n_functions + 1) * sizeof(*group_of));
	struct profile_group *groups = calloc(n + 1, sizeof(*groups));
	int ret = group_of && groups ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < b->n_functions && !ret; i++) {
		const struct blocks_function *f = &b->functions[i];

		group_of[i] = UINT32_MAX;
		for (uint32_t k = 0; k < n && f->unit && f->unit->kind == CODE_UNIT_NAMED; k++)
			if (!strcmp(f->symbol, blocks[k].info->name) &&
			    b->processes[f->process].pid == blocks[k].info->pid)
				group_of[i] = k;
	}
	if (!ret)
		ret = profile_groups(p, group_of, n, groups);
	for (uint32_t k = 0; k < n && !ret; k++) {
		blocks[k].time_s = groups[k].samples ? groups[k].net_s :
						       (struct value){ NAN, NAN, NAN };
		blocks[k].off_s = groups[k].off_s;
	}
	free(groups);
	free(group_of);
	return ret;
}

/* A block before it that has some of its code: ticks there are that one's. NULL: none */
static const struct kjoule_vpm_block *report_vpm_find_overlap(struct view *v,
							      const struct attribute_options *opt,
							      uint32_t k)
{
	const struct kjoule_vpm_block *blocks = v->rec.meta.session.vpm.block;
	uint64_t start, end, from, to;

	if (!report_vpm_code(v, &blocks[k], &start, &end))
		return NULL;
	for (uint32_t i = 0; i < k; i++)
		if (report_vpm_is_wanted(&opt->named, blocks[i].name) &&
		    !strcmp(blocks[i].object, blocks[k].object) &&
		    report_vpm_code(v, &blocks[i], &from, &to) && from < end && start < to)
			return &blocks[i];
	return NULL;
}

/* Times that are not all of it are none. */
static int report_vpm_judge_times(struct view *v, const struct attribute_options *opt,
				  struct block *blocks, uint32_t n)
{
	int ret = 0;

	for (uint32_t k = 0; k < n && !ret; k++) {
		struct block *b = &blocks[k];
		const struct kjoule_vpm_block *other;

		if (!report_vpm_is_wanted(&opt->named, b->info->name))
			continue;
		ret = report_vpm_time(v, b->info, &b->no_time);
		if (ret || b->no_time.text[0])
			goto none;
		other = report_vpm_find_overlap(v, opt, k);
		if (other)
			snprintf(b->no_time.text, sizeof(b->no_time.text),
				 "some of its code is that of %.100s as well, which has the ticks: ask for it alone (--block %.100s=%.100s)",
				 other->name, b->info->name, b->info->name);
		else if (isnan(b->time_s.v))
			snprintf(b->no_time.text, sizeof(b->no_time.text), "no tick fell into it");
none:
		if (b->no_time.text[0])
			b->time_s = (struct value){ NAN, NAN, NAN };
	}
	return ret;
}

static double report_vpm_half_interval(const struct value *v)
{
	return (v->hi - v->lo) / 2;
}

/* Equation 3, with both intervals. */
static void report_vpm_find_energy(struct block *b)
{
	b->energy_j = vpm_energy(&b->result, &b->time_s, b->off_s);
	if (!isnan(b->energy_j.lo))
		b->energy_j.lo = fmax(b->energy_j.lo, 0);
}

static const char *report_vpm_why_not(const struct block *b)
{
	switch (b->result.why) {
	case VPM_FEW:
		return "too few readings; record for longer, or more often (--vpm-meter NAME@TIME)";
	case VPM_LONG:
		return "it takes longer than the meter's interval, or is left by another way than its end; --model cpm is for it";
	case VPM_LOST:
		return "in more than 5 % of its runs it takes longer than the meter's interval, is left by another way than its end, or its thread sleeps or changes its CPU: readings would be of the others alone; --model cpm is for it, or pin the program (taskset)";
	case VPM_SHORT:
		return "its latency cannot be separated from 0; record for longer";
	case VPM_VAGUE:
		return "the readings are as uncertain as the machine's whole power; record for longer";
	case VPM_OUTSIDE:
		return "the readings contradict the bounds: their power is below what the machine draws at rest, or above its peak";
	case VPM_KNOWN:
		break;
	}
	return NULL;
}

static const struct output_column columns[] = {
	{ "kind", NULL, true },
	{ "function", "BLOCK", true },
	{ "pid", NULL, false },
	{ "readings", "READINGS", false },
	{ "delayed", NULL, false },
	{ "undelayed", NULL, false },
	{ "paused", NULL, false },
	{ "left_out", "LEFT OUT", false },
	{ "left_out_delayed", NULL, false },
	{ "left_out_undelayed", NULL, false },
	{ "left_out_paused", NULL, false },
	{ "late", NULL, false },
	{ "moved", NULL, false },
	{ "recorder_awake", "RECORDER", false },
	{ "latency_us", "LATENCY us", false },
	{ NULL, "\xc2\xb1", false },
	{ "latency_lo_us", NULL, false },
	{ "latency_hi_us", NULL, false },
	{ "time_s", "TIME s", false },
	{ NULL, "\xc2\xb1", false },
	{ "time_lo_s", NULL, false },
	{ "time_hi_s", NULL, false },
	{ "power_w", "POWER W", false },
	{ NULL, "\xc2\xb1", false },
	{ "power_lo_w", NULL, false },
	{ "power_hi_w", NULL, false },
	{ "bounded", NULL, false },
	{ "scattered", NULL, false },
	{ "energy_j", "ENERGY J", false },
	{ NULL, "\xc2\xb1", false },
	{ "energy_lo_j", NULL, false },
	{ "energy_hi_j", NULL, false },
	{ "execution_uj", "EXECUTION uJ", false },
	{ NULL, "\xc2\xb1", false },
	{ "execution_lo_uj", NULL, false },
	{ "execution_hi_uj", NULL, false },
	{ "why", NULL, true },
	{ "time_why", NULL, true },
	{ "object", NULL, true },
};

static void report_vpm_print_row(struct output *out, const struct block *b)
{
	const struct vpm_result *r = &b->result;
	const char *why = report_vpm_why_not(b);

	output_str(out, "block");
	output_str(out, b->info->name);
	output_u64(out, b->info->pid);
	output_u64(out, r->n[VPM_DELAYED] + r->n[VPM_UNDELAYED]);
	output_u64(out, r->n[VPM_DELAYED]);
	output_u64(out, r->n[VPM_UNDELAYED]);
	output_u64(out, r->n[VPM_PAUSED]);
	output_u64(out, vpm_left_out(r));
	output_u64(out, r->left_out[VPM_DELAYED]);
	output_u64(out, r->left_out[VPM_UNDELAYED]);
	output_u64(out, r->left_out[VPM_PAUSED]);
	output_u64(out, b->late);
	output_u64(out, b->moved);
	output_u64(out, b->with_recorder);
	columns_value(out, &r->latency_s, 1e6, 1, why, why);
	columns_value(out, &b->time_s, 1, 4, NULL, "too few ticks fell into it");
	columns_value(out, &r->power_w, 1, 4, why, why);
	output_bool(out, r->bounded);
	output_bool(out, r->scattered);
	columns_value(out, &b->energy_j, 1, 4, why, why);
	columns_value(out, &r->energy_j, 1e6, 2, why, why);
	if (why)
		output_str(out, why);
	else
		output_none(out, NULL);
	if (b->no_time.text[0])
		output_str(out, b->no_time.text);
	else
		output_none(out, NULL);
	output_str(out, b->info->object);
	output_row(out);
}

static void report_vpm_print_header(const struct kjoule_vpm_info *vpm, const struct vpm_input *in,
				    const struct value *paused_w, bool cut)
{
	char paused[64] = "", peak[64] = "";

	if (!isnan(paused_w->v))
		snprintf(paused, sizeof(paused), ", %.4f W +-%.4f while the program is paused",
			 paused_w->v, report_vpm_half_interval(paused_w));
	if (!isnan(in->peak_w))
		snprintf(peak, sizeof(peak), "; no more than %.3f W", in->peak_w);
	wrap_comment(stdout, "source",
		     "%s, ready after %.3f ms; %.3f W when the session was made%s%s",
		     vpm->source, vpm->ready_ns * 1e-6, vpm->rest_uw * 1e-6, paused, peak);
	wrap_comment(stdout, "readings",
		     "%" PRIu64 ", %" PRIu64 " of them of no use; %" PRIu64
		     " trials without a hit of the breakpoint, %" PRIu64
		     " where the block did not end, %" PRIu64
		     " where it was called from elsewhere, %" PRIu64
		     " where its end was passed too often, %" PRIu64 " that failed",
		     vpm->readings, vpm->spoilt, vpm->unmet, vpm->unended, vpm->elsewhere,
		     vpm->crowded, vpm->failed);
	/* a recording of before they were counted has none */
	if (vpm->rounds)
		wrap_comment(stdout, "trials",
			     "%" PRIu64 ": these, %" PRIu64
			     " that only looked where a block returns to, %" PRIu64
			     " that the end cut off",
			     vpm->rounds, vpm->learnt, vpm->cut);
	if (vpm->skipped)
		wrap_comment(stdout, "",
			     "%" PRIu64
			     " more were not begun: no CPU of the recording was online, one was on its way, or the program ended",
			     vpm->skipped);
	wrap_comment(stdout, "paused",
		     "the CPU for %.2f s, %.3f ms at a time at most; that is in no figure",
		     vpm->held_ns * 1e-9, vpm->longest_ns * 1e-6);
	if (cut)
		wrap_comment(stdout, "",
			     "these counts are of all of the recording, what is below of the part that was asked for");
}

static struct json_object *report_vpm_header_json(const struct kjoule_vpm_info *vpm,
						  const struct vpm_input *in,
						  const struct value *paused_w)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "source", output_json_str(vpm->source));
	json_object_object_add(o, "interval_s", output_json_real(in->interval_s));
	json_object_object_add(o, "idle_w", output_json_real(in->idle_w));
	json_object_object_add(o, "peak_w", output_json_real(in->peak_w));
	json_object_object_add(o, "held_w", output_json_real(paused_w->v));
	json_object_object_add(o, "held_lo_w", output_json_real(paused_w->lo));
	json_object_object_add(o, "held_hi_w", output_json_real(paused_w->hi));
	json_object_object_add(o, "rounds",
			       vpm->rounds ? json_object_new_uint64(vpm->rounds) : NULL);
	json_object_object_add(o, "readings", json_object_new_uint64(vpm->readings));
	json_object_object_add(o, "learnt",
			       vpm->rounds ? json_object_new_uint64(vpm->learnt) : NULL);
	json_object_object_add(o, "spoilt", json_object_new_uint64(vpm->spoilt));
	json_object_object_add(o, "unmet", json_object_new_uint64(vpm->unmet));
	json_object_object_add(o, "unended", json_object_new_uint64(vpm->unended));
	json_object_object_add(o, "elsewhere", json_object_new_uint64(vpm->elsewhere));
	json_object_object_add(o, "crowded", json_object_new_uint64(vpm->crowded));
	json_object_object_add(o, "failed", json_object_new_uint64(vpm->failed));
	json_object_object_add(o, "cut", vpm->rounds ? json_object_new_uint64(vpm->cut) : NULL);
	json_object_object_add(o, "skipped",
			       vpm->rounds ? json_object_new_uint64(vpm->skipped) : NULL);
	json_object_object_add(o, "paused_s", output_json_real(vpm->held_ns * 1e-9));
	json_object_object_add(o, "longest_s", output_json_real(vpm->longest_ns * 1e-9));
	return o;
}

static int report_vpm_print_blocks(const struct block *blocks, size_t n,
				   const struct kjoule_vpm_info *vpm, const struct vpm_input *in,
				   const struct attribute_options *opt, struct json_object *head)
{
	const struct value unknown = { NAN, NAN, NAN };
	const struct value *paused_w = n ? &blocks[0].result.paused_w : &unknown;
	struct output *out;

	for (size_t i = 0; i < n; i++)
		paused_w = isnan(blocks[i].result.paused_w.v) ? paused_w :
								&blocks[i].result.paused_w;
	if (opt->format == OUTPUT_TABLE)
		report_vpm_print_header(vpm, in, paused_w, opt->cut);
	if (head)
		json_object_object_add(head, "vpm", report_vpm_header_json(vpm, in, paused_w));
	out = output_open(stdout, opt->format, columns, sizeof(columns) / sizeof(columns[0]));
	if (!out) {
		json_object_put(head);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		if (report_vpm_is_wanted(&opt->named, blocks[i].info->name))
			report_vpm_print_row(out, &blocks[i]);
	output_close(out, head, "rows");
	for (size_t i = 0; i < n && opt->format == OUTPUT_TABLE; i++) {
		if (!report_vpm_is_wanted(&opt->named, blocks[i].info->name))
			continue;
		if (report_vpm_why_not(&blocks[i]))
			output_printf(stdout, "\n%s : %s\n", blocks[i].info->name,
				      report_vpm_why_not(&blocks[i]));
		else if (blocks[i].result.scattered)
			output_printf(stdout,
				      "\n%s : more than 10 %% of the readings of a kind are far from the others; intervals reach to what follows from all of them together\n",
				      blocks[i].info->name);
		if (!report_vpm_why_not(&blocks[i]) && blocks[i].result.bounded)
			output_printf(stdout,
				      "\n%s : its power without bounds would be below what the machine draws at rest, or above its peak\n",
				      blocks[i].info->name);
		if (blocks[i].no_time.text[0])
			output_printf(stdout, "\n%s : without time and energy: %s\n",
				      blocks[i].info->name, blocks[i].no_time.text);
	}
	return 0;
}

/*
 * What ticks and other interrupts take of all that runs, as far as it was calibrated, and how far
 * off that may be. Only the power of ticks was calibrated; that others draw as much is an
 * assumption.
 */
static void report_vpm_find_interrupts(const struct view *v, const struct blocks *b,
				       struct vpm_input *in)
{
	double tick = 0, off = fmax(b->input.calibration_error, PROFILE_CALIBRATION_ERROR),
	       error_w = NAN, others;
	int d = b->n_domains ? b->meters.calibrated[0] : -1;

	for (size_t i = 0; i < b->input.n_streams; i++)
		tick = fmax(tick, b->streams[i].tick_ns / b->input.interval_ns);
	in->irq_w = b->n_domains ? b->input.irq_w[0] : NAN;
	in->irq_part = tick + (1 - tick) * b->input.other;
	in->irq_part_error = hypot(off * in->irq_part, (1 - tick) * b->input.other_error);
	in->irq_interval_s = fmin(b->input.interval_ns * 1e-9, KERNEL_TICK_S);
	if (d >= 0)
		error_w = 2 * v->rec.cal.irq_error_uw[d] * 1e-6;
	others = in->irq_part > 0 ? (1 - tick) * b->input.other / in->irq_part : 0;
	in->irq_w_error = isfinite(error_w) ? hypot(error_w, OTHERS_POWER * others * in->irq_w) :
					      OTHERS_POWER * in->irq_w;
}

int report_vpm(struct view *v, const struct blocks *b, const struct profile *p,
	       const struct attribute_options *opt, struct json_object *head,
	       struct kjoule_error *err)
{
	const struct kjoule_vpm_info *vpm = &v->rec.meta.session.vpm;
	struct block *blocks = calloc(vpm->n_blocks + 1, sizeof(*blocks)), held = { 0 };
	struct recorder_wakeups recorder_wakeups = { 0 };
	struct vpm_input in = {
		.interval_s = vpm->ready_ns * 1e-9,
		/* a process that ran already did so while that was measured */
		.idle_w = v->rec.meta.argc ? vpm->rest_uw * 1e-6 : 0,
		.peak_w = vpm->peak_uw ? vpm->peak_uw * 1e-6 : NAN };
	bool told = false;
	int ret = blocks ? 0 : -ENOMEM;

	report_vpm_find_interrupts(v, b, &in);
	if (!ret)
		ret = recorder_wakeups_find(&v->rec, &recorder_wakeups);
	for (size_t i = 0; i < v->tl.n_cpus && !ret; i++)
		for (size_t k = 0; k < v->tl.cpus[i].n_readings && !ret; k++)
			ret = report_vpm_add_reading(blocks, vpm->n_blocks,
						     &v->tl.cpus[i].readings[k], &held,
						     &recorder_wakeups, vpm->ready_ns);
	for (uint32_t i = 0; i < vpm->n_blocks && !ret; i++) {
		struct block *block = &blocks[i];

		block->info = &vpm->block[i];
		ret = report_vpm_add_paused(block, &held);
		in.readings = block->readings;
		in.n = block->n;
		in.late = block->late;
		in.moved = block->moved_delayed;
		if (!ret)
			ret = vpm_solve(&in, &block->result);
		told |= !block->result.why && report_vpm_is_wanted(&opt->named, block->info->name);
	}
	if (!ret)
		ret = report_vpm_find_times(b, p, blocks, vpm->n_blocks);
	if (!ret)
		ret = report_vpm_judge_times(v, opt, blocks, vpm->n_blocks);
	for (uint32_t i = 0; i < vpm->n_blocks && !ret; i++)
		report_vpm_find_energy(&blocks[i]);
	if (!ret) {
		ret = report_vpm_print_blocks(blocks, vpm->n_blocks, vpm, &in, opt, head);
		if (!ret && !told)
			ret = kjoule_fail(err, ENODATA,
					  "no power of a block is known: the table has the reasons");
	} else {
		json_object_put(head);
	}
	for (uint32_t i = 0; blocks && i < vpm->n_blocks; i++)
		free(blocks[i].readings);
	recorder_wakeups_free(&recorder_wakeups);
	free(held.readings);
	free(blocks);
	return ret;
}
