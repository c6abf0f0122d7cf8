// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Errors of a report that was asked for what the recording does not have: processes, blocks; see
 * report.h. Called by run.c and several.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cmd.h"
#include "report/report.h"

#define NAMED	6	/* processes that an error names */

int report_process_not_found(const struct blocks *b, const struct groups *g, const char *path,
			     const struct attribute_options *opt, struct kjoule_error *err)
{
	struct attribute_options everybody = { .sort = opt->sort };
	char asked[128], *there = NULL;
	struct report all;
	size_t len;
	FILE *f;
	int ret = report_new(b, g, &everybody, &all);

	if (ret)
		return ret;
	f = open_memstream(&there, &len);
	for (size_t i = 0; f && i < all.n_processes && i < NAMED; i++) {
		const struct blocks_process *of = &b->processes[all.processes[i].total.process];

		fprintf(f, "%s%s", i ? ", " : "", of->comm);
		if (of->pid)
			fprintf(f, " (pid %u)", of->pid);
	}
	if (f && all.n_processes > NAMED)
		fprintf(f, " and %zu more", all.n_processes - NAMED);
	if (f && fclose(f)) {
		free(there);
		there = NULL;
	}
	snprintf(asked, sizeof(asked),
		 "%s%.64s%s", opt->comm ? "--comm " : "", opt->comm ? opt->comm : "",
		 opt->comm && opt->pid ? " " : "");
	if (opt->pid)
		snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "--pid %u",
			 opt->pid);
	kjoule_fail(err, ESRCH, "%s: %s: no such process in this recording; it has %s", path, asked,
		    !all.n_processes ? "none" : there ? there : "others");
	free(there);
	report_free(&all);
	return -ESRCH;
}

/* Is a block of this name a part of the one that the row shows? */
static bool report_block_is_part(const struct blocks *b, const struct power_model *m, uint32_t row,
				 const char *name)
{
	for (uint32_t i = 0; m->merged && i < m->n_merged; i++) {
		const struct blocks_function *f = &b->functions[i];

		if (m->merged[i] == row && f->unit && f->unit->kind == CODE_UNIT_NAMED &&
		    f->samples && !strcmp(f->symbol, name))
			return true;
	}
	return false;
}

static bool report_has_block_row(const struct report *r, const struct blocks *b,
				 const struct power_model *m, const char *name)
{
	for (size_t i = 0; i < r->n_processes; i++) {
		const struct report_process *p = &r->processes[i];

		for (size_t k = 0; k < p->n_rows; k++) {
			const struct blocks_function *f = &b->functions[p->rows[k].function];

			if (p->rows[k].kind != ROW_FUNCTION)
				continue;
			if (f->unit && f->unit->kind == CODE_UNIT_NAMED && !strcmp(f->symbol, name))
				return true;
			if (report_block_is_part(b, m, p->rows[k].function, name))
				return true;
		}
	}
	return false;
}

int report_blocks_check(const struct report *r, const struct blocks *b,
			const struct power_model *m, const struct user_blocks *named,
			struct kjoule_error *err)
{
	char missing[400] = "";

	for (size_t i = 0; i < named->n; i++) {
		const struct user_block *block = &named->blocks[i];

		if (!report_has_block_row(r, b, m, block->name)) {
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing),
				 "%s%.100s", *missing ? ", " : "", block->name);
			continue;
		}
		for (size_t k = 0; k < block->n; k++) {
			const struct user_blocks_part *p = &block->parts[k];

			if (!p->samples)
				cmd_warn("--block %s: no sample fell into %s%s", block->name,
					 p->where,
					 p->kind == USER_BLOCKS_LINES ? ", these lines of it" :
					 p->kind == USER_BLOCKS_ADDRESSES ?
									", these addresses of it" :
									"");
		}
	}
	if (!*missing)
		return 0;
	return kjoule_fail(err, ENOENT, "--block %s: no sample of what was asked for fell into it",
			   missing);
}
