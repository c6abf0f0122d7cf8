// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a block leaves its own code; see leaves.h. Used for readings of blocks, whose latency and power are with all
 * that runs from their entry to their end.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/mixture/leaves.h"

/* What is left to be followed, by number of the instruction; each is in it once at most. */
struct ways {
	const struct kjoule_insn *insns;
	size_t n, n_waiting;
	bool *met;
	size_t *waiting;
};

/* Return: false if @address is of no instruction of the block */
static bool follow(struct ways *w, uint64_t address)
{
	size_t low = 0, high = w->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->insns[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == w->n || w->insns[low].address != address)
		return false;
	if (!w->met[low]) {
		w->met[low] = true;
		w->waiting[w->n_waiting++] = low;
	}
	return true;
}

/* One way on from @i. */
static enum leaves_kind go(struct ways *w, uint64_t to, bool returns)
{
	const struct kjoule_insn *last = &w->insns[w->n - 1];
	uint64_t end = last->address + last->size;

	if (follow(w, to) || (!returns && to == end))
		return LEAVES_NOT;
	/* into the middle of an instruction is other code than was decoded */
	return to > w->insns[0].address && to < end ? LEAVES_UNREADABLE : LEAVES_JUMP;
}

static enum leaves_kind look(struct ways *w, const struct kjoule_insn *i, bool returns)
{
	enum leaves_kind kind = LEAVES_NOT;

	switch (i->leave) {
	case KJOULE_LEAVE_CALL:
		return LEAVES_CALL;
	case KJOULE_LEAVE_SYSTEM:
		return LEAVES_SYSTEM;
	case KJOULE_LEAVE_RETURN:
		return returns ? LEAVES_NOT : LEAVES_RETURN;
	case KJOULE_LEAVE_UNKNOWN:
		return LEAVES_UNREADABLE;
	default:
		break;
	}
	if (i->kind == KJOULE_INSN_INDIRECT)
		return LEAVES_INDIRECT;
	if (i->kind == KJOULE_INSN_JUMP || i->kind == KJOULE_INSN_BRANCH)
		kind = go(w, i->target, returns);
	if (!kind && (i->kind == KJOULE_INSN_PLAIN || i->kind == KJOULE_INSN_BRANCH))
		kind = go(w, i->address + i->size, returns);
	return kind;
}

int leaves_find(const struct kjoule_insn *insns, size_t n, bool returns, uint64_t *at)
{
	struct ways w = { .insns = insns, .n = n };
	int found = LEAVES_NOT;

	*at = 0;
	if (!n)
		return LEAVES_NOT;
	w.met = calloc(n, sizeof(*w.met));
	w.waiting = calloc(n, sizeof(*w.waiting));
	if (!w.met || !w.waiting) {
		free(w.met);
		free(w.waiting);
		return -ENOMEM;
	}
	follow(&w, insns[0].address);
	while (w.n_waiting) {
		const struct kjoule_insn *i = &insns[w.waiting[--w.n_waiting]];
		enum leaves_kind kind = look(&w, i, returns);

		if (kind && (!found || i->address < *at)) {
			found = kind;
			*at = i->address;
		}
	}
	free(w.met);
	free(w.waiting);
	return found;
}
