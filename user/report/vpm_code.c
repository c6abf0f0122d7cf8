// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report --model vpm: the code of a block that there are readings of, and whether the ticks that
 * fall into it are all of its time: latency and power are from its first instruction to its end
 * with all that runs in between, ticks are of its own code. See report.h. Called by vpm.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/mixture/calls_out.h"
#include "lib/code/code.h"
#include "report/report.h"

/* A block of more bytes is none. */
#define MOST	(1u << 18)

#define NOT_OWN	"latency and power are with all that runs there, and ticks count the block's own code only (--model cpm)"

/*
 * Of a function, in a recording of before that was recorded: as its file has it, if it is the same
 * one.
 */
static uint64_t report_vpm_block_end(struct view *v, const struct kjoule_vpm_block *info)
{
	const struct kjoule_symbol *symbol;
	const char *file;

	if (info->end)
		return info->end;
	if (info->code_end)
		return info->code_end;
	if (view_code(v, info->object, info->start, &file, &symbol) || !symbol ||
	    symbol->start != info->start)
		return 0;
	return symbol->end;
}

bool report_vpm_code(struct view *v, const struct kjoule_vpm_block *info, uint64_t *start,
		     uint64_t *end)
{
	*start = info->start;
	*end = report_vpm_block_end(v, info);
	return *start && *end > *start && *end - *start <= MOST && info->object[0];
}

static int report_vpm_explain_calls(enum calls_out_kind kind, uint64_t at, const char *file,
				    struct report_vpm_why *why)
{
	static const char *const what[] = {
		[CALLS_OUT_CALL] = "it calls other code at",
		[CALLS_OUT_SYSTEM] = "it calls the kernel at",
		[CALLS_OUT_JUMP] = "it goes on in other code from",
		[CALLS_OUT_INDIRECT] = "it is not known where it goes on, in other code perhaps, from",
		[CALLS_OUT_RETURN] = "it returns before its end at",
	};

	if (kind == CALLS_OUT_UNREADABLE)
		snprintf(why->text, sizeof(why->text),
			 "it is not known whether it runs other code: at 0x%" PRIx64
			 " of %.200s there is no instruction that is known", at, file);
	else if (kind != CALLS_OUT_NOT)
		snprintf(why->text, sizeof(why->text),
			 "%s 0x%" PRIx64 " of %.200s: " NOT_OWN, what[kind], at, file);
	return 0;
}

static int report_vpm_check_calls(const struct kjoule_vpm_block *info, const char *file,
				  uint64_t start, uint64_t end, struct report_vpm_why *why)
{
	struct kjoule_insn *insns = NULL;
	struct kjoule_code *code;
	const void *bytes;
	uint64_t at = 0;
	size_t len, n;
	int ret = kjoule_code_open(file, &code);

	if (ret)
		return ret;
	bytes = kjoule_code_bytes(code, start, &len);
	ret = !bytes || len < end - start ? -ENODATA :
	      kjoule_disassemble(bytes, end - start, kjoule_code_machine(code), start, &insns, &n);
	if (!ret)
		ret = calls_out_find(insns, n, !info->end, &at);
	if (ret > 0)
		ret = report_vpm_explain_calls(ret, at, info->object, why);
	free(insns);
	kjoule_code_close(code);
	return ret;
}

int report_vpm_time(struct view *v, const struct kjoule_vpm_block *info, struct report_vpm_why *why)
{
	const struct kjoule_symbol *symbol;
	uint64_t start, end;
	const char *file;
	int ret;

	why->text[0] = '\0';
	if (!info->start || !info->object[0]) {
		snprintf(why->text, sizeof(why->text),
			 "the recording does not have where its code is, so it is not known whether it runs other code");
		return 0;
	}
	ret = view_code(v, info->object, info->start, &file, &symbol);
	if (!ret && !report_vpm_code(v, info, &start, &end)) {
		snprintf(why->text, sizeof(why->text),
			 "it is not known where its code ends, and so whether it runs other code: at 0x%" PRIx64
			 " of %.200s there is no function that begins there",
			 info->start, info->object);
		return 0;
	}
	if (!ret)
		ret = report_vpm_check_calls(info, file, start, end, why);
	if (ret == -ENOMEM || !ret)
		return ret;
	snprintf(
		why->text, sizeof(why->text),
		"its code cannot be read, so it is not known whether it runs other code: %.200s: %s",
		info->object,
		ret == -ENODATA	   ? "it has none there, or no symbols" :
		ret == -EOPNOTSUPP ? "it is of no machine that is known" :
				     view_why_missing(ret));
	return 0;
}
