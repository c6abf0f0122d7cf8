// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record --vpm: the blocks that there are to be readings of, from what the user says to addresses
 * in the process. Called by cmd_record.c for the command line, and by loop.c once the process has
 * mapped its files.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/code/code.h"
#include "lib/code/disassembler.h"
#include "lib/code/symbols.h"
#include "record/record.h"

int record_block_add(struct user_blocks *blocks, const char *text, const char **why)
{
	size_t before = blocks->n;
	char *both = NULL;
	int ret;

	*why = "";
	if (!strchr(text, '=')) {
		if (asprintf(&both, "%s=%s", text, text) < 0)
			return -ENOMEM;
		text = both;
	}
	ret = user_blocks_add(blocks, text, why);
	free(both);
	if (ret)
		return ret;
	if (blocks->n == before || blocks->blocks[before].n != 1) {
		*why = "a block has one place here, and a name of its own";
		return -EINVAL;
	}
	return 0;
}

/* What an instruction says, "" if it is none. */
static void record_insn_text(struct kjoule_code *code, uint64_t address,
			     char text[KJOULE_INSN_TEXT])
{
	size_t len;
	const void *bytes = kjoule_code_bytes(code, address, &len);

	if (!bytes ||
	    kjoule_disassemble_text(bytes, len, kjoule_code_machine(code), address, text) <= 0)
		text[0] = '\0';
}

/* Does anything of the block jump back to where it begins? Then that is not passed once a run. */
static bool record_block_is_loop_head(const struct kjoule_insn *insns, size_t n, uint64_t start)
{
	for (size_t i = 0; i < n; i++)
		if ((insns[i].kind == KJOULE_INSN_JUMP || insns[i].kind == KJOULE_INSN_BRANCH) &&
		    insns[i].target == start)
			return true;
	return false;
}

/* Do its first and second instruction identify the code in [start, end)? */
static int record_block_check_code(struct kjoule_code *code, const char *name, uint64_t end,
				   struct kjoule_vpm_place *place, struct kjoule_error *err)
{
	char text[KJOULE_INSN_TEXT];
	struct kjoule_insn *insns;
	const void *bytes;
	size_t len, n;
	int ret = 0;

	bytes = kjoule_code_bytes(code, place->start, &len);
	if (!bytes)
		return kjoule_fail(err, EINVAL, "--vpm %s: there is no code at 0x%" PRIx64
				   " of the file", name, place->start);
	if (end - place->start < len)
		len = end - place->start;
	if (kjoule_code_machine(code) != EM_X86_64)
		return kjoule_fail(err, EOPNOTSUPP, "--vpm %s: this is no code of an x86-64 CPU, and others' breakpoints are not known", name);
	ret = kjoule_disassemble(bytes, len, kjoule_code_machine(code), place->start, &insns, &n);
	if (ret)
		return kjoule_fail(err, -ret, "--vpm %s: decoding: %s", name, strerror(-ret));
	record_insn_text(code, place->start, text);
	if (n < 2 || insns[0].kind != KJOULE_INSN_PLAIN || !strncmp(text, "call", 4) ||
	    !strncmp(text, "syscall", 7))
		ret = kjoule_fail(err, EINVAL, "--vpm %s: a block needs a first instruction after which the second one runs; it has \"%s\": name a block that begins before or behind it",
				  name, text[0] ? text : "none");
	else if (record_block_is_loop_head(insns, n, place->start))
		ret = kjoule_fail(err, EINVAL, "--vpm %s: its first instruction is the head of a loop inside of it, and passed many times a run: name a block that begins before the loop",
				  name);
	else
		place->next = place->start + insns[0].size;
	free(insns);
	return ret;
}

static int record_block_find_function(const char *name, const char *path, uint64_t *start,
				      uint64_t *end, struct kjoule_error *err)
{
	const struct kjoule_symbol *symbol;
	struct kjoule_elf *elf;
	bool several;
	int ret = kjoule_elf_open(path, NULL, &elf);

	if (ret)
		return kjoule_fail(err, -ret, "--vpm %s: %s: %s", name, path,
				   ret == -ENODATA ?
				   "it has no symbols; give addresses, OBJECT:0xFROM-0xTO" :
				   strerror(-ret));
	symbol = kjoule_elf_named(elf, name, &several);
	if (!symbol)
		ret = kjoule_fail(err, ENOENT, "--vpm %s: %s has no such function; see `nm -C %s`, or give addresses, OBJECT:0xFROM-0xTO",
				  name, path, path);
	else if (several)
		ret = kjoule_fail(err, EINVAL, "--vpm %s: %s has several functions of that name; give addresses, OBJECT:0xFROM-0xTO",
				  name, path);
	if (!ret) {
		*start = symbol->start;
		*end = symbol->end;
	}
	kjoule_elf_close(elf);
	return ret;
}

/*
 * Whatever else has its name, or that of its object, is not what was read: a report goes by the
 * code's place.
 */
static int record_block_describe(const struct user_block *block, const char *path,
				 const struct kjoule_vpm_place *place, uint64_t code_end,
				 struct kjoule_vpm_block *known, struct kjoule_error *err)
{
	const struct user_blocks_part *part = &block->parts[0];

	*known = (struct kjoule_vpm_block){ .start = place->start, .end = place->end,
					    .code_end = code_end };
	if (strlen(path) >= sizeof(known->object))
		return kjoule_fail(err, ENAMETOOLONG, "--vpm %s: the path of its file has %zu characters, and a recording has room for %zu: start it from a folder nearer to the root",
				   block->name, strlen(path), sizeof(known->object) - 1);
	snprintf(known->name, sizeof(known->name), "%s", block->name);
	snprintf(known->object, sizeof(known->object), "%s", path);
	if (part->kind == USER_BLOCKS_FUNCTION)
		snprintf(known->part, sizeof(known->part), "%s", part->where);
	else
		snprintf(known->part, sizeof(known->part), "%.400s:0x%" PRIx64 "-0x%" PRIx64,
			 part->kind == USER_BLOCKS_LINES ? path : part->where, place->start,
			 place->end);
	return 0;
}

int record_block_resolve(const struct user_block *block, const char *path,
			 struct kjoule_vpm_place *place, struct kjoule_vpm_block *known,
			 struct kjoule_error *err)
{
	const struct user_blocks_part *part = &block->parts[0];
	struct kjoule_code *code;
	uint64_t end = part->to;
	int ret = 0;

	place->start = part->from;
	place->end = part->to;
	if (part->kind == USER_BLOCKS_FUNCTION) {
		ret = record_block_find_function(part->where, path, &place->start, &end, err);
		place->end = 0;
	}
	if (ret)
		return ret;
	ret = kjoule_code_open(path, &code);
	if (ret)
		return kjoule_fail(err, -ret, "--vpm %s: %s: %s", block->name, path,
				   strerror(-ret));
	if (part->kind == USER_BLOCKS_LINES) {
		ret = record_lines_resolve(block, path, code, &place->start, &end, err);
		place->end = end;
	}
	if (!ret)
		ret = record_block_check_code(code, block->name, end, place, err);
	if (!ret && known)
		ret = record_block_describe(block, path, place, end, known, err);
	kjoule_code_close(code);
	return ret;
}

/* Is it the path, or its last parts? */
static bool record_path_ends_in(const char *path, const char *end)
{
	size_t len = strlen(path), n = strlen(end);

	return len >= n && !strcmp(path + len - n, end) &&
	       (len == n || end[0] == '/' || path[len - n - 1] == '/');
}

struct mapping {
	uint64_t start, end, offset;
	char path[4096];
};

/* The next mapping of code; @maps as of /proc. Return: false if there is none any more */
static bool mapping_read_next(FILE *maps, struct mapping *m)
{
	char line[4300], rights[8];
	int at;

	while (fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m->start,
			   &m->end, rights, &m->offset, &at) < 4 || !at)
			continue;
		if (!strchr(rights, 'x') || line[at] != '/')
			continue;
		snprintf(m->path, sizeof(m->path), "%s", line + at);
		return true;
	}
	return false;
}

/* The mapping that a block is in: of the program itself, or of the object that was named. */
static bool mapping_find_part(uint32_t pid, const struct user_blocks_part *part, struct mapping *m)
{
	char name[64], program[4096];
	bool found = false;
	ssize_t n;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/exe", pid);
	n = readlink(name, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && !found && mapping_read_next(maps, m))
		found = part->kind == USER_BLOCKS_ADDRESSES ?
				record_path_ends_in(m->path, part->where) :
				!strcmp(m->path, program);
	if (maps)
		fclose(maps);
	return found;
}

/* The mapping of a file's code that a byte of it is in. */
static bool mapping_find_byte(uint32_t pid, const char *path, uint64_t offset, struct mapping *m)
{
	bool found = false;
	char name[64];
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && !found && mapping_read_next(maps, m))
		found = !strcmp(m->path, path) && offset >= m->offset &&
			offset - m->offset < m->end - m->start;
	if (maps)
		fclose(maps);
	return found;
}

/*
 * Segments may share a page of the file, which is mapped with each of them then: the block's own
 * segment says where in the file it is.
 */
int record_block_relocate(uint32_t pid, const char *path, const char *name,
			  struct kjoule_vpm_place *place, struct kjoule_error *err)
{
	struct mapping *m = malloc(sizeof(*m));
	struct kjoule_elf *elf;
	uint64_t offset, by;
	int ret = m ? kjoule_elf_open(path, NULL, &elf) : -ENOMEM;

	if (!ret) {
		ret = kjoule_elf_offset(elf, place->start, &offset);
		kjoule_elf_close(elf);
	}
	if (!ret && !mapping_find_byte(pid, path, offset, m))
		ret = -ENOENT;
	if (ret) {
		free(m);
		return kjoule_fail(err, -ret, "--vpm %s: it is not in the code of %s that is mapped", name, path);
	}
	by = m->start + (offset - m->offset) - place->start;
	place->start += by;
	place->next += by;
	place->end += place->end ? by : 0;
	free(m);
	return 0;
}

static int record_block_place_one(const struct user_block *block, struct kjoule_ctl *ctl,
				  uint32_t pid, const struct mapping *m,
				  struct kjoule_session_info *session, struct kjoule_error *err)
{
	struct kjoule_vpm_place place = { .pid = pid };
	struct kjoule_vpm_block known;
	uint32_t number;
	int ret = record_block_resolve(block, m->path, &place, &known, err);

	if (!ret)
		ret = record_block_relocate(pid, m->path, block->name, &place, err);
	if (!ret)
		ret = kjoule_session_block(ctl, session->id, &place, &number, err);
	if (ret)
		return ret;
	if (number >= KJOULE_VPM_BLOCKS)
		return kjoule_fail(err, EPROTO, "--vpm %s: the module calls it number %u",
				   block->name, number);
	known.pid = pid;
	session->vpm.block[number] = known;
	if (session->vpm.n_blocks <= number)
		session->vpm.n_blocks = number + 1;
	return 0;
}

int record_blocks_place(const struct user_blocks *blocks, struct kjoule_ctl *ctl, uint32_t pid,
			struct kjoule_session_info *session, uint32_t *done,
			struct kjoule_error *err)
{
	struct mapping *m = malloc(sizeof(*m));
	int ret = 0;

	if (!m)
		return kjoule_fail(err, ENOMEM, "no memory");
	for (size_t i = 0; i < blocks->n && !ret; i++) {
		if (*done & 1u << i || !mapping_find_part(pid, &blocks->blocks[i].parts[0], m))
			continue;
		ret = record_block_place_one(&blocks->blocks[i], ctl, pid, m, session, err);
		if (!ret)
			*done |= 1u << i;
	}
	free(m);
	return ret;
}
