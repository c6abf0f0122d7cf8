// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: symbols, build id, lines and control flow of an ELF file of any content. The input
 * is the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "analysis/flow/flow.h"
#include "fuzz/user/capture.h"
#include "fuzz/user/target.h"
#include "lib/code/buildid.h"
#include "lib/code/code.h"
#include "lib/code/symbols.h"

static void look(const struct kjoule_elf *elf, uint64_t address)
{
	const struct kjoule_symbol *s = kjoule_elf_find(elf, address);

	if (!s)
		return;
	must_hold(s->name && *s->name, "a symbol has a name");
	must_hold(s->start <= address && address < s->end, "a symbol has the address");
}

/* Lines and control flow of what the file says is its code. */
static void look_at_code(const char *path, const struct kjoule_elf *elf)
{
	struct kjoule_line lines[KJOULE_LINES_MOST];
	struct kjoule_code *code;

	if (kjoule_code_open(path, &code))
		return;
	for (unsigned int i = 0; i < 64; i++) {
		struct kjoule_insn *insns;
		uint64_t address;
		const void *bytes;
		size_t len, n;
		struct flow f;

		if (kjoule_elf_address(elf, 64 * i, &address))
			continue;
		must_hold(kjoule_code_lines(code, address, lines) <= KJOULE_LINES_MOST, "lines have room");
		bytes = kjoule_code_bytes(code, address, &len);
		if (!bytes || kjoule_disassemble(bytes, len < 4096 ? len : 4096,
						 kjoule_code_machine(code), address, &insns, &n))
			continue;
		if (!flow_new(insns, n, &f)) {
			for (size_t b = 0; b < f.n_blocks; b++)
				must_hold(f.blocks[b].start < f.blocks[b].end || !f.blocks[b].end,
					  "a block is not empty");
			flow_free(&f);
		}
		free(insns);
	}
	kjoule_code_close(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int fd = -1;
	static char path[64];
	char hex[KJOULE_BUILD_ID_HEX];
	struct kjoule_elf *elf;
	uint64_t address;

	must_end_soon(len);
	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		unsetenv("DEBUGINFOD_URLS");
	}
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, len, 0) != (ssize_t)len)
		abort();
	if (!kjoule_build_id(path, hex))
		must_hold(strspn(hex, "0123456789abcdef") == strlen(hex),
			  "a build id is hexadecimal");
	if (kjoule_elf_open(path, hex, &elf))
		return 0;
	for (unsigned int i = 0; i < 200; i++) {
		if (!kjoule_elf_address(elf, 32 * i, &address))
			look(elf, address);
		look(elf, 0x400000 + 32 * i);
		if (i < len / 8) {
			memcpy(&address, data + 8 * i, 8);
			look(elf, address);
		}
	}
	look(elf, 0);
	look(elf, UINT64_MAX);
	look_at_code(path, elf);
	kjoule_elf_close(elf);
	return 0;
}
