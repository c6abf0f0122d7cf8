// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See looped.h.
 */
#include <link.h>
#include <unistd.h>
#include "lib/code/code.h"
#include "lib/code/symbols.h"
#include "tests/support/looped.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

struct looped looped;

__attribute__((noinline)) int a_loop_and_more(volatile int *p, int n)
{
	looped.loop_line = __LINE__ + 2;
	for (int i = 0; i < n; i++)
		p[i & 3] += i ^ n;
	looped.after_line = __LINE__ + 1;
	return p[0] * 3;
}

/* An instruction of a line, and where it is in the file. */
struct place {
	uint64_t address, offset;
};

struct finding {
	uintptr_t base;
	uint64_t to_offset;		/* of code: added to an address */
};

static int look_at_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct finding *f = arg;

	(void)size;
	f->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t function = (uintptr_t)a_loop_and_more - f->base;

		if (ph->p_type == PT_LOAD && function - ph->p_vaddr < ph->p_memsz)
			f->to_offset = ph->p_offset - ph->p_vaddr;
	}
	return 1;	/* the program itself is the first */
}

static struct place find_line(unsigned int line)
{
	struct kjoule_line lines[KJOULE_LINES_MOST];
	const struct kjoule_symbol *s;
	struct kjoule_code *code;
	struct place p = { 0 };
	struct kjoule_elf *elf;
	struct finding f;

	dl_iterate_phdr(look_at_program, &f);
	assert_int_equal(kjoule_elf_open("/proc/self/exe", NULL, &elf), 0);
	assert_int_equal(kjoule_code_open("/proc/self/exe", &code), 0);
	s = kjoule_elf_find(elf, (uintptr_t)a_loop_and_more - f.base);
	for (uint64_t a = s->start; a < s->end && !p.address; a++)
		if (kjoule_code_lines(code, a, lines) && lines[0].line == line)
			p = (struct place){ a, a + f.to_offset };
	kjoule_code_close(code);
	kjoule_elf_close(elf);
	assert_true(p.address);
	return p;
}

const char *looped_path(void)
{
	static char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = 0;
	return path;
}

static struct place loop, after;

struct looped_code looped_function(const char *name)
{
	const struct kjoule_symbol *s;
	struct looped_code code;
	struct kjoule_elf *elf;
	bool several;

	assert_int_equal(kjoule_elf_open(looped_path(), NULL, &elf), 0);
	s = kjoule_elf_named(elf, name, &several);
	assert_true(s && !several);
	code = (struct looped_code){ s->start, s->end, s->start - looped.loop +
				     looped.loop_offset };
	kjoule_elf_close(elf);
	return code;
}

void looped_record(const char *name, const char *exe, uint32_t flags)
{
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 }, noise = 1;

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 9000; k++) {
		unsigned int which = k / 100 % 3;

		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		if (which == 2)
			put_sample(&b, k, 0xffffffff81000000, KJOULE_SAMPLE_KERNEL, 1000000, 100);
		else
			put_sample(&b, k, 0x10000000 + (which ? after.offset : loop.offset), flags,
				   1000000, 100);
		uj[0] += (which == 1 ? 2000 : 1000) + (int64_t)(200 * rnd_unit(&noise)) - 100;
		uj[1] += 500;
	}
	write_recording(temp_path(name), &meta, &b, 1, exe, 9000);
}

int looped_setup(void **state)
{
	volatile int some[4] = { 0 };

	(void)state;
	a_loop_and_more(some, 3);
	loop = find_line(looped.loop_line);
	after = find_line(looped.after_line);
	looped.loop = loop.address;
	looped.after = after.address;
	looped.loop_offset = loop.offset;
	looped.after_offset = after.offset;
	looped_record("usual", looped_path(), 0);
	looped_record("precise", looped_path(), KJOULE_SAMPLE_PRECISE);
	return 0;
}
