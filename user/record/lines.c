// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record --vpm FILE:FROM-TO: from lines of source to the one stretch of code that they became, if
 * it is one, entered at its beginning only and left at its end. See record.h; called by blocks.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/code/disassembler.h"
#include "lib/code/symbols.h"
#include "record/record.h"

#define OTHERWISE	"; give addresses, OBJECT:0xFROM-0xTO (`kjoule annotate` shows them), or a function"

/* The function that the lines are in, and what of it they are. */
struct stretch {
	const struct user_block *block;
	const char *path;
	char name[160];			/* "a (file.c:10-20)" */
	const struct kjoule_symbol *symbol;
	size_t n, first, last;		/* instructions; of these those of the lines */
	struct kjoule_insn *insns;
};

static bool lines_have_line(const struct kjoule_line *line, const void *arg)
{
	/* the named blocks' words are matched, so that the block is that of report --block */
	const struct user_blocks_code code = { .symbol = "", .lines = line, .n_lines = 1 };
	const struct user_blocks named = { 1, (struct user_block *)arg };
	struct user_blocks_part *part;

	return user_blocks_find(&named, &code, &part);
}

/* Does an instruction come from the lines? @known: out: it comes from some */
static bool lines_have_address(struct kjoule_code *code, const struct user_block *block,
			       uint64_t address, bool *known)
{
	struct kjoule_line lines[KJOULE_LINES_MOST];
	struct user_blocks_code at = { .symbol = "", .lines = lines,
				       .n_lines = kjoule_code_lines(code, address, lines) };
	const struct user_blocks named = { 1, (struct user_block *)block };
	struct user_blocks_part *part;

	*known = at.n_lines && lines[0].line;
	return user_blocks_find(&named, &at, &part);
}

static int lines_find_function(struct stretch *s, struct kjoule_code *code,
			       const struct kjoule_elf *elf, struct kjoule_error *err)
{
	uint64_t *addresses;
	size_t n;
	int ret = kjoule_code_find(code, lines_have_line, s->block, &addresses, &n);

	if (ret)
		return kjoule_fail(err, -ret, "--vpm %s: %s", s->name, strerror(-ret));
	if (!n)
		ret = kjoule_fail(err, ENOENT, "--vpm %s: nothing in %s comes from these lines: is it built with -g, and are they statements of its own, not of a library?",
				  s->name, s->path);
	s->symbol = n ? kjoule_elf_find(elf, addresses[0]) : NULL;
	if (!ret && !s->symbol)
		ret = kjoule_fail(err, ENOENT, "--vpm %s: the code at 0x%" PRIx64
				  " of %s is in no function that has a name" OTHERWISE, s->name,
				  addresses[0], s->path);
	for (size_t i = 1; i < n && !ret; i++) {
		const struct kjoule_symbol *other = kjoule_elf_find(elf, addresses[i]);

		if (other != s->symbol)
			ret = kjoule_fail(err, EINVAL, "--vpm %s: they are code of several functions, %s and %s: a block is entered at one place" OTHERWISE,
					  s->name, s->symbol->name, other ? other->name : "one without a name");
	}
	free(addresses);
	return ret;
}

static int lines_decode_function(struct stretch *s, struct kjoule_code *code,
				 struct kjoule_error *err)
{
	size_t len, all = s->symbol->end - s->symbol->start;
	const void *bytes = kjoule_code_bytes(code, s->symbol->start, &len);
	int ret;

	if (!bytes)
		return kjoule_fail(err, EINVAL, "--vpm %s: there is no code at 0x%" PRIx64 " of %s",
				   s->name, s->symbol->start, s->path);
	ret = kjoule_disassemble(bytes, len < all ? len : all, kjoule_code_machine(code),
				 s->symbol->start, &s->insns, &s->n);
	return ret ? kjoule_fail(err, -ret, "--vpm %s: decoding: %s", s->name, strerror(-ret)) : 0;
}

/* Instructions of no line in particular belong to those around them. */
static int lines_find_range(struct stretch *s, struct kjoule_code *code, struct kjoule_error *err)
{
	bool any = false, apart = false, known, inside;

	for (size_t i = 0; i < s->n; i++) {
		inside = lines_have_address(code, s->block, s->insns[i].address, &known);
		if (inside && any && apart)
			return kjoule_fail(err, EINVAL, "--vpm %s: they are not one stretch of code: at 0x%" PRIx64
					   " and at 0x%" PRIx64
					   " of %s, with other lines between" OTHERWISE, s->name,
					   s->insns[s->first].address, s->insns[i].address,
					   s->symbol->name);
		if (inside) {
			s->first = any ? s->first : i;
			s->last = i;
			any = true;
		} else {
			apart |= any && known;
		}
	}
	return any ? 0 : kjoule_fail(err, ENOENT, "--vpm %s: no instruction of %s is left of these lines" OTHERWISE,
				     s->name, s->symbol->name);
}

static uint64_t lines_end_address(const struct stretch *s)
{
	return s->insns[s->last].address + s->insns[s->last].size;
}

/* An address that is inside, but where the stretch begins. */
static bool lines_address_is_middle(const struct stretch *s, uint64_t address)
{
	return address > s->insns[s->first].address && address < lines_end_address(s);
}

static bool lines_insn_has_target(const struct kjoule_insn *insn)
{
	return insn->kind == KJOULE_INSN_JUMP || insn->kind == KJOULE_INSN_BRANCH;
}

/* Does anything inside go to it? */
static bool lines_insn_is_reached(const struct stretch *s, size_t to)
{
	const struct kjoule_insn *before = &s->insns[to - 1];

	if (before->kind == KJOULE_INSN_PLAIN || before->kind == KJOULE_INSN_BRANCH)
		return true;
	for (size_t i = s->first; i <= s->last; i++)
		if ((lines_insn_has_target(&s->insns[i]) &&
		     s->insns[i].target == s->insns[to].address) ||
		    s->insns[i].kind == KJOULE_INSN_INDIRECT)
			return true;
	return false;
}

/* Nothing outside may go to its middle. */
static int lines_check_entry(const struct stretch *s, struct kjoule_error *err)
{
	for (size_t i = 0; i < s->n; i++)
		if ((i < s->first || i > s->last) && lines_insn_has_target(&s->insns[i]) &&
		    lines_address_is_middle(s, s->insns[i].target))
			return kjoule_fail(err, EINVAL,
					   "--vpm %s: it is entered not only at 0x%" PRIx64
					   ": 0x%" PRIx64 " of %s jumps to 0x%" PRIx64 OTHERWISE,
					   s->name, s->insns[s->first].address, s->insns[i].address,
					   s->symbol->name, s->insns[i].target);
	for (size_t i = s->first + 1; i <= s->last; i++)
		if (!lines_insn_is_reached(s, i))
			return kjoule_fail(err, EINVAL, "--vpm %s: nothing of it leads to 0x%"
					   PRIx64 " of %s: it is entered by a jump table, or not only at its beginning" OTHERWISE,
					   s->name, s->insns[i].address, s->symbol->name);
	return 0;
}

/* It ends where the instruction behind it is come to. */
static int lines_check_end(const struct stretch *s, struct kjoule_error *err)
{
	const struct kjoule_insn *last = &s->insns[s->last];
	uint64_t end = lines_end_address(s);

	/* behind the function's last one is nothing that is come to */
	if (s->last + 1 < s->n) {
		if (last->kind == KJOULE_INSN_PLAIN || last->kind == KJOULE_INSN_BRANCH)
			return 0;
		for (size_t i = s->first; i <= s->last; i++)
			if (lines_insn_has_target(&s->insns[i]) && s->insns[i].target == end)
				return 0;
	}
	return kjoule_fail(err, EINVAL, "--vpm %s: the program never gets from it to the code behind it, at 0x%" PRIx64
			   " of %s, so that its end is not seen" OTHERWISE, s->name, end,
			   s->symbol->name);
}

int record_lines_resolve(const struct user_block *block, const char *path, struct kjoule_code *code,
			 uint64_t *start, uint64_t *end, struct kjoule_error *err)
{
	const struct user_blocks_part *part = &block->parts[0];
	struct stretch s = { .block = block, .path = path };
	struct kjoule_elf *elf;
	int ret = kjoule_elf_open(path, NULL, &elf);

	snprintf(s.name, sizeof(s.name), "%.60s (%.60s:%" PRIu64 "-%" PRIu64 ")", block->name,
		 part->where, part->from, part->to);
	if (ret)
		return kjoule_fail(err, -ret, "--vpm %s: %s: %s", s.name, path,
				   ret == -ENODATA ? "it has no symbols" OTHERWISE :
				   strerror(-ret));
	ret = lines_find_function(&s, code, elf, err);
	if (!ret)
		ret = lines_decode_function(&s, code, err);
	if (!ret)
		ret = lines_find_range(&s, code, err);
	if (!ret)
		ret = lines_check_entry(&s, err);
	if (!ret)
		ret = lines_check_end(&s, err);
	if (!ret) {
		*start = s.insns[s.first].address;
		*end = lines_end_address(&s);
	}
	free(s.insns);
	kjoule_elf_close(elf);
	return ret;
}
