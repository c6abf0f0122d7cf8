// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a block leaves its own code; see calls_out.h. For readings of blocks, whose latency and
 * power include all that runs from their entry to their end.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/mixture/calls_out.h"
#include "lib/base/search.h"

/* Instructions still to be followed, each at most once. */
struct ways {
	const struct kjoule_insn *insns;
	size_t n, n_waiting;
	bool *seen;
	size_t *waiting;
};

/* Return: false if no instruction of the block is at @address */
static bool ways_follow_address(struct ways *w, uint64_t address)
{
	size_t n = kjoule_count_members(w->insns, w->n, address, address);

	if (!n || w->insns[n - 1].address != address)
		return false;
	if (!w->seen[n - 1]) {
		w->seen[n - 1] = true;
		w->waiting[w->n_waiting++] = n - 1;
	}
	return true;
}

/* Follow one successor of @i. */
static enum calls_out_kind way_classify_target(struct ways *w, uint64_t to, bool returns)
{
	const struct kjoule_insn *last = &w->insns[w->n - 1];
	uint64_t end = last->address + last->size;

	if (ways_follow_address(w, to) || (!returns && to == end))
		return CALLS_OUT_NOT;
	/* the middle of an instruction is other code than was decoded */
	return to > w->insns[0].address && to < end ? CALLS_OUT_UNREADABLE : CALLS_OUT_JUMP;
}

static enum calls_out_kind insn_classify_leave(struct ways *w, const struct kjoule_insn *i,
					       bool returns)
{
	enum calls_out_kind kind = CALLS_OUT_NOT;

	switch (i->leave) {
	case KJOULE_LEAVE_CALL:
		return CALLS_OUT_CALL;
	case KJOULE_LEAVE_SYSTEM:
		return CALLS_OUT_SYSTEM;
	case KJOULE_LEAVE_RETURN:
		return returns ? CALLS_OUT_NOT : CALLS_OUT_RETURN;
	case KJOULE_LEAVE_UNKNOWN:
		return CALLS_OUT_UNREADABLE;
	default:
		break;
	}
	if (i->kind == KJOULE_INSN_INDIRECT)
		return CALLS_OUT_INDIRECT;
	if (i->kind == KJOULE_INSN_JUMP || i->kind == KJOULE_INSN_BRANCH)
		kind = way_classify_target(w, i->target, returns);
	if (!kind && (i->kind == KJOULE_INSN_PLAIN || i->kind == KJOULE_INSN_BRANCH))
		kind = way_classify_target(w, i->address + i->size, returns);
	return kind;
}

int calls_out_find(const struct kjoule_insn *insns, size_t n, bool returns, uint64_t *at)
{
	struct ways w = { .insns = insns, .n = n };
	int found = CALLS_OUT_NOT;

	*at = 0;
	if (!n)
		return CALLS_OUT_NOT;
	w.seen = calloc(n, sizeof(*w.seen));
	w.waiting = calloc(n, sizeof(*w.waiting));
	if (!w.seen || !w.waiting) {
		free(w.seen);
		free(w.waiting);
		return -ENOMEM;
	}
	ways_follow_address(&w, insns[0].address);
	while (w.n_waiting) {
		const struct kjoule_insn *i = &insns[w.waiting[--w.n_waiting]];
		enum calls_out_kind kind = insn_classify_leave(&w, i, returns);

		if (kind && (!found || i->address < *at)) {
			found = kind;
			*at = i->address;
		}
	}
	free(w.seen);
	free(w.waiting);
	return found;
}
