// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unwinding of stack copies with elfutils' libdwfl; see unwind.h. Each address space has a Dwfl
 * with its files, added as frames are found in them. Stacks are untrusted: an address counts only
 * if mapped, files must be the recorded ones, and the number of frames is limited.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <elfutils/libdwfl.h>
#include "lib/base/array.h"
#include "lib/code/dwfl.h"
#include "lib/code/unwind.h"
#include "lib/code/vdso.h"

/* Cached address spaces; the least recently used one goes. */
#define SPACES		16

/* A read so far above the copy is most likely still of the stack. */
#define STACK_LIMIT	(64u << 20)

struct segment {
	uint64_t offset, len, address;
	bool writable;
};

struct file {
	const char *path;	/* of the maps */
	int error;		/* why it cannot be used */
	size_t n_segments;
	struct segment *segments;
};

struct space {
	struct kjoule_unwinder *u;
	uint64_t id;
	uint64_t used;		/* when, counted in stacks */
	Dwfl *dwfl;
	bool attached;
};

struct kjoule_unwinder {
	const struct kjoule_maps *maps;
	const struct kjoule_build_ids *build_ids;
	int vdso;		/* a file with it, -1: none */
	int exe;		/* our own program, for libdwfl to know the machine */
	Elf *machine;
	struct space spaces[SPACES];
	size_t n_files;
	struct file *files;
	uint64_t stacks;
	/* of the current stack */
	struct space *space;
	uint32_t pid;
	uint64_t time_ns;
	const struct kjoule_stack *stack;
	uint64_t *ip;
	size_t n, room;
	bool failed;		/* memory was read, since the last frame, that is unavailable */
	bool beyond;		/* some was above the copy: later frames may need it */
	bool ended;		/* the last frame returns to 0: as outermost ones are marked */
	bool lost;		/* a frame is where nothing was mapped, or no file is */
};

/* What is mapped of a file, and its address in the file. */
static int file_read_segments(struct file *f, int fd)
{
	Elf *e = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	int ret = -ENOEXEC;
	GElf_Ehdr eh;
	size_t n;

	/* a 32-bit program has other registers */
	if (!e || !gelf_getehdr(e, &eh) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_machine != EM_X86_64 || elf_getphdrnum(e, &n))
		goto out;
	f->segments = calloc(n + 1, sizeof(*f->segments));
	ret = f->segments ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(e, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		f->segments[f->n_segments++] = (struct segment){
			ph.p_offset, ph.p_filesz, ph.p_vaddr, ph.p_flags & PF_W };
	}
out:
	elf_end(e);
	return ret;
}

static int object_open(const struct kjoule_unwinder *u, const char *path)
{
	int fd;

	if (!kjoule_vdso_is(path))
		return kjoule_elf_file_open(path);
	fd = dup(u->vdso);
	return fd < 0 ? -errno : fd;
}

static int file_check(const struct kjoule_unwinder *u, struct file *f)
{
	const char *wanted = u->build_ids ? kjoule_build_ids_find(u->build_ids, f->path) : NULL;
	bool is_vdso = kjoule_vdso_is(f->path);
	char hex[KJOULE_BUILD_ID_HEX];
	int fd, ret;

	if (!is_vdso && (f->path[0] != '/' || f->path[1] == '/'))
		return -ENODATA;
	fd = object_open(u, f->path);
	if (fd < 0)
		return fd;
	if (!is_vdso && wanted && (kjoule_build_id_of(fd, hex) || strcmp(hex, wanted)))
		ret = -ESTALE;
	else
		ret = file_read_segments(f, fd);
	close(fd);
	return ret;
}

static struct file *file_find(struct kjoule_unwinder *u, const char *path)
{
	struct file *f;

	for (size_t i = 0; i < u->n_files; i++)
		if (u->files[i].path == path || !strcmp(u->files[i].path, path))
			return &u->files[i];
	f = kjoule_array_grow(&u->files, &u->n_files, sizeof(*f));
	if (!f)
		return NULL;
	f->path = path;
	f->error = file_check(u, f);
	return f;
}

/* Bias of the file's own addresses. Return: false if it is not mapped so */
static bool file_find_bias(const struct file *f, const struct kjoule_map *map, uint64_t *bias)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct segment *s = &f->segments[i];

		/* a mapping begins with a whole page */
		if (map->offset < s->offset + s->len && map->offset + map->len > s->offset) {
			*bias = map->start - map->offset + s->offset - s->address;
			return true;
		}
	}
	return false;
}

static void space_end(struct space *s)
{
	dwfl_end(s->dwfl);
	memset(s, 0, sizeof(*s));
}

static bool space_begin(struct space *s, struct kjoule_unwinder *u, uint64_t id)
{
	space_end(s);
	s->u = u;
	s->id = id;
	s->dwfl = dwfl_begin(&kjoule_dwfl_callbacks);
	return s->dwfl;
}

static const char *module_path(Dwfl_Module *mod)
{
	return dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* Report the file around an address to libdwfl. Return: false if there is none that can be used */
static bool space_add_module(struct kjoule_unwinder *u, uint64_t ip)
{
	const struct kjoule_map *map = kjoule_maps_find(u->maps, u->pid, u->time_ns, ip);
	Dwfl_Module *mod = dwfl_addrmodule(u->space->dwfl, ip);
	struct file *f;
	uint64_t bias;
	int fd;

	if (!map || mod)
		return map;
	f = file_find(u, map->path);
	if (!f || f->error || !file_find_bias(f, map, &bias))
		return false;
	fd = object_open(u, f->path);
	return fd >= 0 && kjoule_dwfl_report(u->space->dwfl, f->path, fd, bias, true);
}

/* Another mapping replaced the file: begin anew. */
static bool space_is_outdated(struct kjoule_unwinder *u, uint64_t ip)
{
	const struct kjoule_map *map = kjoule_maps_find(u->maps, u->pid, u->time_ns, ip);
	Dwfl_Module *mod = u->space->dwfl ? dwfl_addrmodule(u->space->dwfl, ip) : NULL;

	return map && mod && strcmp(map->path, module_path(mod));
}

static pid_t unwind_next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct space *s = arg;

	(void)dwfl;
	/* there is but one */
	if (*thread_arg)
		return 0;
	*thread_arg = s;
	return 1;
}

static bool unwind_get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	*thread_arg = arg;
	return tid == 1;
}

static bool unwind_set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct space *s = arg;
	Dwarf_Word reg[KJOULE_STACK_REGS];

	memcpy(reg, s->u->stack->reg, sizeof(reg));
	return dwfl_thread_state_registers(thread, 0, KJOULE_STACK_REGS, reg);
}

/* A word of a file that no program writes to. */
static bool module_read_word(struct kjoule_unwinder *u, Dwarf_Addr addr, Dwarf_Word *result)
{
	Dwfl_Module *mod = dwfl_addrmodule(u->space->dwfl, addr);
	Elf *e = NULL;
	struct file *f = NULL;
	GElf_Addr bias;
	size_t len;
	char *raw;

	if (mod)
		e = dwfl_module_getelf(mod, &bias);
	if (e)
		f = file_find(u, module_path(mod));
	for (size_t i = 0; f && i < f->n_segments; i++) {
		const struct segment *s = &f->segments[i];
		uint64_t at = addr - bias - s->address;

		if (s->writable || at >= s->len || s->len - at < sizeof(*result))
			continue;
		raw = elf_rawfile(e, &len);
		if (!raw || s->offset + at > len || len - s->offset - at < sizeof(*result))
			return false;
		memcpy(result, raw + s->offset + at, sizeof(*result));
		return true;
	}
	return false;
}

static bool unwind_read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	struct kjoule_unwinder *u = ((struct space *)arg)->u;
	uint64_t at = addr - u->stack->reg[7], bytes = u->stack->bytes;

	(void)dwfl;
	if (at < bytes && bytes - at >= sizeof(*result)) {
		memcpy(result, (const char *)u->stack + sizeof(*u->stack) + at, sizeof(*result));
		return true;
	}
	if (module_read_word(u, addr, result))
		return true;
	u->failed = true;
	u->beyond |= at < STACK_LIMIT;
	return false;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = unwind_next_thread,
	.get_thread = unwind_get_thread,
	.memory_read = unwind_read_memory,
	.set_initial_registers = unwind_set_registers,
};

static int frame_add(Dwfl_Frame *frame, void *arg)
{
	struct kjoule_unwinder *u = arg;
	bool activation;
	Dwarf_Addr pc, at;

	if (!dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	if (u->n && !pc) {
		u->ended = true;
		return DWARF_CB_ABORT;
	}
	at = pc - (u->n && !activation);
	if (u->n && !kjoule_maps_find(u->maps, u->pid, u->time_ns, at)) {
		u->lost = true;
		return DWARF_CB_ABORT;
	}
	if (u->n == u->room)
		return DWARF_CB_ABORT;
	u->ip[u->n] = pc + (u->n && activation);
	u->n++;
	u->failed = false;
	/*
	 * libdwfl needs the file before it looks for the frame's caller; without it that is a guess
	 */
	u->lost = !space_add_module(u, at);
	return u->lost ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static struct space *space_find(struct kjoule_unwinder *u, uint64_t id)
{
	struct space *oldest = &u->spaces[0];

	for (size_t i = 0; i < SPACES; i++) {
		if (u->spaces[i].dwfl && u->spaces[i].id == id)
			return &u->spaces[i];
		if (u->spaces[i].used < oldest->used)
			oldest = &u->spaces[i];
	}
	return space_begin(oldest, u, id) ? oldest : NULL;
}

enum kjoule_unwound kjoule_unwind(struct kjoule_unwinder *u, uint32_t pid, uint64_t time_ns,
				  const struct kjoule_stack *stack, uint64_t *ip, size_t *n)
{
	uint64_t id = kjoule_maps_space(u->maps, pid, time_ns);
	int ret;

	u->pid = pid;
	u->time_ns = time_ns;
	u->stack = stack;
	u->ip = ip;
	u->room = *n;
	u->n = 0;
	u->failed = u->beyond = u->ended = u->lost = false;
	ip[0] = stack->reg[16];
	*n = 1;
	u->space = id ? space_find(u, id) : NULL;
	if (!u->space)
		return KJOULE_UNWOUND_BLIND;
	u->space->used = ++u->stacks;
	if (space_is_outdated(u, ip[0]) && !space_begin(u->space, u, id))
		return KJOULE_UNWOUND_BLIND;
	u->space->used = u->stacks;
	space_add_module(u, ip[0]);
	if (!u->space->attached)
		u->space->attached = dwfl_attach_state(u->space->dwfl, u->machine, 1,
						       &thread_callbacks, u->space);
	if (!u->space->attached)
		return KJOULE_UNWOUND_BLIND;
	ret = dwfl_getthread_frames(u->space->dwfl, 1, frame_add, u);
	*n = u->n ? u->n : 1;
	/* libdwfl treats an unreadable register as that of the outermost frame */
	if (u->ended || (!ret && !u->failed && !u->beyond))
		return KJOULE_UNWOUND_WHOLE;
	if (u->beyond)
		return KJOULE_UNWOUND_SHORT;
	return u->n == u->room && !u->lost ? KJOULE_UNWOUND_DEEP : KJOULE_UNWOUND_BLIND;
}

/* The vDSO is in no file: make one of our own process's. */
static int vdso_copy(void)
{
	size_t len;
	const void *image = kjoule_vdso_image(&len);

	return image ? kjoule_vdso_file(image, len) : -1;
}

struct kjoule_unwinder *kjoule_unwinder_new(const struct kjoule_maps *maps,
					    const struct kjoule_build_ids *build_ids,
					    bool this_kernel)
{
	struct kjoule_unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	elf_version(EV_CURRENT);
	u->maps = maps;
	u->build_ids = build_ids;
	u->vdso = this_kernel ? vdso_copy() : -1;
	u->exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	u->machine = u->exe < 0 ? NULL : elf_begin(u->exe, ELF_C_READ_MMAP, NULL);
	return u;
}

void kjoule_unwinder_vdso(struct kjoule_unwinder *u, int fd)
{
	if (u->vdso >= 0)
		close(u->vdso);
	u->vdso = dup(fd);
}

void kjoule_unwinder_free(struct kjoule_unwinder *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < SPACES; i++)
		space_end(&u->spaces[i]);
	for (size_t i = 0; i < u->n_files; i++)
		free(u->files[i].segments);
	free(u->files);
	elf_end(u->machine);
	if (u->exe >= 0)
		close(u->exe);
	if (u->vdso >= 0)
		close(u->vdso);
	free(u);
}
