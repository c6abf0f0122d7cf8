// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Untrusted file names: a FIFO, a device, or a link to one of them at each place where the tool
 * reads a file that a recording, an ELF file, DWARF or a recorded program names. None may be
 * opened, which would arm a watchdog or wait at a FIFO; inotify reports every open.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "attribute/source_text.h"
#include "lib/base/plain_file.h"
#include "lib/base/privilege.h"
#include "lib/code/buildid.h"
#include "lib/code/code.h"
#include "lib/code/dwfl.h"
#include "lib/code/jitmap.h"
#include "lib/code/symbols.h"
#include "lib/file/datafile.h"
#include "sweep/sweep.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define NOBODY	65534

/* What hangs fails. */
#define SECONDS_MOST	60

enum trap { TRAP_FIFO, TRAP_DEVICE, TRAP_LINK, N_TRAPS };

static int watch = -1;

/* Put something at @path that must not be opened. Return: false where no device can be made */
static bool trap_make(enum trap trap, const char *path)
{
	char node[400];

	unlink(path);
	snprintf(node, sizeof(node), "%s%s", path, trap == TRAP_LINK ? ".node" : "");
	unlink(node);
	if (trap == TRAP_DEVICE ? mknod(node, S_IFCHR | 0666, makedev(1, 3)) : mkfifo(node, 0666))
		return false;
	if (trap == TRAP_LINK)
		assert_int_equal(symlink(node, path), 0);
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(watch >= 0);
	assert_true(inotify_add_watch(watch, node, IN_OPEN) >= 0);
	alarm(SECONDS_MOST);
	return true;
}

/* Was it opened since? */
static bool trap_is_sprung(void)
{
	char events[1024];
	bool sprung = read(watch, events, sizeof(events)) > 0;

	alarm(0);
	close(watch);
	watch = -1;
	return sprung;
}

static void shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *fmt, ...)
{
	char command[2000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	assert_int_equal(system(command), 0);
}

TEST(an_open_would_be_noticed)
{
	const char *path = temp_path("noticed");

	assert_true(trap_make(TRAP_FIFO, path));
	close(open(path, O_RDONLY | O_NONBLOCK));
	assert_true(trap_is_sprung());
}

TEST(only_regular_files_are_opened)
{
	const char *path = temp_path("plain"), *link = temp_path("link");
	char text[8];
	int fd;

	for (int trap = 0; trap < N_TRAPS; trap++) {
		if (!trap_make(trap, path))
			continue;
		assert_int_equal(kjoule_plain_open(AT_FDCWD, path), -EINVAL);
		assert_false(trap_is_sprung());
	}
	unlink(path);
	assert_int_equal(kjoule_plain_open(AT_FDCWD, path), -ENOENT);
	assert_int_equal(kjoule_plain_open(AT_FDCWD, "/"), -EINVAL);
	assert_int_equal(kjoule_plain_open(AT_FDCWD, "/proc/self/status"), -EINVAL);
	write_file(path, "text", 4);
	assert_int_equal(symlink(path, link), 0);
	fd = kjoule_plain_open(AT_FDCWD, link);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_int_equal(write(fd, text, 4), -1);
	close(fd);
	unlink(link);
}

TEST(objects_and_recordings)
{
	const char *path = temp_path("object");
	char hex[KJOULE_BUILD_ID_HEX];
	struct kjoule_reader *reader;
	struct kjoule_error error;
	struct kjoule_code *code;
	struct kjoule_elf *elf;

	for (int trap = 0; trap < N_TRAPS; trap++) {
		if (!trap_make(trap, path))
			continue;
		assert_int_equal(kjoule_elf_open(path, NULL, &elf), -ENOEXEC);
		assert_int_equal(kjoule_code_open(path, &code), -ENOEXEC);
		assert_int_equal(kjoule_build_id(path, hex), -ENOEXEC);
		assert_int_equal(kjoule_reader_open(path, &reader, &error), -EINVAL);
		assert_non_null(strstr(error.text, "not a regular file"));
		assert_false(trap_is_sprung());
	}
	unlink(path);
}

TEST(manifests_of_sweeps)
{
	struct sweep_plan plan = { 0 };
	struct kjoule_error error;
	char path[400];

	assert_int_equal(mkdir(temp_path("sweep"), 0700), 0);
	snprintf(path, sizeof(path), "%s/" SWEEP_MANIFEST, temp_path("sweep"));
	for (int trap = 0; trap < N_TRAPS; trap++) {
		if (!trap_make(trap, path))
			continue;
		assert_int_equal(sweep_folder_read(temp_path("sweep"), &plan, &error), -EBADMSG);
		assert_false(trap_is_sprung());
	}
	shell("rm -r %s", temp_path("sweep"));
}

static const char program[] = "static __attribute__((noinline)) int hidden(int x) { return x * 3; }\n"
			      "int main(int argc, char **argv) { (void)argv; return hidden(argc); }\n";

/* A program whose symbols are in a debug file only, in "linked.debug", which its link names. */
static void program_make(const char *flags)
{
	const char *folder = temp_path("elf");

	shell("rm -rf %s; mkdir %s", folder, folder);
	write_file(temp_path("elf/linked.c"), program, strlen(program));
	shell("cd %s && gcc -g -O1 -no-pie %s -o linked linked.c && objcopy --only-keep-debug linked linked.debug && "
	      "strip linked && objcopy --add-gnu-debuglink=linked.debug linked", folder, flags);
}

/* Are the names of the debug file known? */
static bool hidden_is_known(void)
{
	struct kjoule_elf *elf;
	bool known, several;

	if (kjoule_elf_open(temp_path("elf/linked"), NULL, &elf))
		return false;
	known = kjoule_elf_named(elf, "hidden", &several);
	kjoule_elf_close(elf);
	return known;
}

TEST(debug_links)
{
	const char *debug, *folder;

	debug = temp_path("elf/linked.debug");
	folder = temp_path("elf/.debug");
	for (int by_crc = 0; by_crc < 2; by_crc++) {
		program_make(by_crc ? "-Wl,--build-id=none" : "-Wl,--build-id");
		assert_true(hidden_is_known());
		shell("mkdir %s && mv %s %s/", folder, debug, folder);
		assert_true(hidden_is_known());
		shell("mv %s/linked.debug %s.kept", folder, debug);
		assert_false(hidden_is_known());
		for (int trap = 0; trap < N_TRAPS; trap++) {
			if (!trap_make(trap, debug))
				continue;
			assert_false(hidden_is_known());
			assert_false(trap_is_sprung());
		}
		/* another program's */
		unlink(debug);
		shell("cp %s.kept %s && printf x >>%s", debug, debug, debug);
		assert_int_equal(hidden_is_known(), !by_crc);
		if (!getuid()) {
			/* whoever may write next to root's program names nothing in it */
			shell("cp %s.kept %s", debug, debug);
			assert_true(hidden_is_known());
			assert_int_equal(chown(debug, NOBODY, NOBODY), 0);
			assert_false(hidden_is_known());
			assert_int_equal(chown(temp_path("elf/linked"), NOBODY, NOBODY), 0);
			assert_true(hidden_is_known());
		}
	}
}

/* A path is no name: it would lead anywhere. */
TEST(debug_links_with_a_path)
{
	const char *fifo;
	char link[500];
	uint32_t crc = 7;

	program_make("-Wl,--build-id");
	fifo = temp_path("elf/target");
	memset(link, 0, sizeof(link));
	snprintf(link, sizeof(link), "../../../../../../..%s", fifo);
	memcpy(link + ((strlen(link) + 4) & ~3ul), &crc, 4);
	write_file(temp_path("elf/section"), link, ((strlen(link) + 4) & ~3ul) + 4);
	shell("cd %s && objcopy --remove-section=.gnu_debuglink --add-section=.gnu_debuglink=section linked",
	      temp_path("elf"));
	unlink(temp_path("elf/linked.debug"));
	assert_true(trap_make(TRAP_FIFO, fifo));
	assert_false(hidden_is_known());
	assert_false(trap_is_sprung());
}

/* Have the debug information ask for what it shares with others. Return: was there any? */
static bool alternative_is_found(void)
{
	const char *path;
	Dwarf_Addr bias;
	Dwfl_Module *mod;
	Dwarf *dwarf, *alternative;
	Dwfl *dwfl;
	bool found = false;

	path = temp_path("elf/shared");
	assert_int_equal(kjoule_dwfl_open(path, kjoule_elf_file_open(path), &dwfl, &mod), 0);
	dwarf = dwfl_module_getdwarf(mod, &bias);
	assert_non_null(dwarf);
	alternative = dwarf_getalt(dwarf);
	if (alternative) {
		Dwarf_Off next;
		size_t header;

		found = !dwarf_nextcu(alternative, 0, &next, &header, NULL, NULL, NULL);
	}
	dwfl_end(dwfl);
	return found;
}

TEST(alternative_debug_files)
{
	static const char *const ways[] = { "alt.debug", "/proc/self/cwd/alt.debug", NULL };
	const char *alt;
	char section[500];

	alt = temp_path("elf/alt.debug");
	for (size_t i = 0; i < 3; i++) {
		const char *name = ways[i] ? ways[i] : alt;
		size_t len = strlen(name) + 1;

		program_make("-Wl,--build-id");
		/*
		 * a file of debug information with a build id that the section does not have, until
		 * it has
		 */
		snprintf(section, sizeof(section), "%s", name);
		memset(section + len, 0xab, 20);
		write_file(temp_path("elf/section"), section, len + 20);
		shell("cd %s && gcc -g -O1 -no-pie -Wl,--build-id=0x%s -o alt.kept linked.c && "
		      "gcc -g -O1 -no-pie -o shared linked.c && objcopy --add-section=.gnu_debugaltlink=section shared",
		      temp_path("elf"), "abababababababababababababababababababab");
		for (int trap = 0; trap < N_TRAPS; trap++) {
			if (!trap_make(trap, alt))
				continue;
			assert_false(alternative_is_found());
			assert_false(trap_is_sprung());
		}
		unlink(alt);
		shell("cd %s && cp alt.kept alt.debug", temp_path("elf"));
		/* a name next to the file, but no path to anywhere */
		assert_int_equal(alternative_is_found(), i == 0);
		shell("cd %s && cp linked alt.debug", temp_path("elf"));
		assert_false(alternative_is_found());
	}
}

/* libdw looks for a name by itself in what it was given, and where that is no debug information. */
TEST(alternatives_of_alternative_debug_files)
{
	const char *alt = temp_path("elf/alt.debug"), *trap = temp_path("elf/trap");
	char section[32] = "alt.debug";

	program_make("-Wl,--build-id");
	memset(section + 10, 0xab, 20);
	write_file(temp_path("elf/section"), section, 30);
	snprintf(section, sizeof(section), "trap");
	memset(section + 5, 0xcd, 20);
	write_file(temp_path("elf/second"), section, 25);
	shell("cd %s && gcc -g -O1 -no-pie -o shared linked.c && objcopy --add-section=.gnu_debugaltlink=section shared && "
	      "gcc -g -O1 -no-pie -Wl,--build-id=0xabababababababababababababababababababab -o alt.debug linked.c",
	      temp_path("elf"));
	assert_true(alternative_is_found());
	shell("cd %s && objcopy --add-section=.gnu_debugaltlink=second alt.debug",
	      temp_path("elf"));
	assert_true(trap_make(TRAP_FIFO, trap));
	assert_false(alternative_is_found());
	assert_false(trap_is_sprung());
	/* the folder that the program is named by, and the one that it is in */
	shell("cd %s && strip -g -R .gnu_debugaltlink alt.debug && mkdir real && mv shared real/ && ln -s real/shared shared",
	      temp_path("elf"));
	assert_true(trap_make(TRAP_FIFO, temp_path("elf/real/alt.debug")));
	assert_false(alternative_is_found());
	assert_false(trap_is_sprung());
	unlink(alt);
}

/* The debug file that a link names has a shared part, too. */
TEST(alternatives_of_linked_debug_files)
{
	char section[32] = "alt.debug";

	program_make("-Wl,--build-id");
	memset(section + 10, 0xab, 20);
	write_file(temp_path("elf/section"), section, 30);
	shell("cd %s && objcopy --add-section=.gnu_debugaltlink=section linked.debug && mv linked shared",
	      temp_path("elf"));
	assert_true(trap_make(TRAP_FIFO, temp_path("elf/alt.debug")));
	assert_false(alternative_is_found());
	assert_false(trap_is_sprung());
}

/* record asks for it while the program runs, which may have made any file. */
TEST(build_ids_cost_little)
{
	const char *path = temp_path("elf/sparse");
	char hex[KJOULE_BUILD_ID_HEX], whole[KJOULE_BUILD_ID_HEX];
	struct timespec begin, end;
	Elf64_Ehdr *head;
	Elf64_Phdr *note;
	uint8_t *data;
	size_t len;

	program_make("-Wl,--build-id");
	assert_int_equal(kjoule_build_id(temp_path("elf/linked"), whole), 0);
	assert_int_equal(strlen(whole), 40);
	data = read_file(temp_path("elf/linked"), &len);
	head = (Elf64_Ehdr *)data;
	note = (Elf64_Phdr *)(data + head->e_phoff);
	for (unsigned int i = 0; i < head->e_phnum; i++, note++) {
		if (note->p_type != PT_NOTE)
			continue;
		note->p_offset = 1 << 20;
		note->p_filesz = 1ull << 38;
	}
	write_file(path, data, len);
	free(data);
	assert_int_equal(truncate(path, (1ull << 38) + (2 << 20)), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	assert_int_equal(kjoule_build_id(path, hex), -ENODATA);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_true((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) /
		    1000000 < 50);
	unlink(path);
}

static bool no_line(const struct kjoule_line *line, const void *arg)
{
	(void)line, (void)arg;
	return false;
}

TEST(split_debug_information)
{
	struct kjoule_line lines[KJOULE_LINES_MOST], line;
	const struct kjoule_symbol *symbol;
	struct kjoule_code *code;
	struct kjoule_elf *elf;
	uint64_t *found;
	bool several;
	size_t n;

	program_make("-Wl,--build-id");
	for (int version = 4; version <= 5; version++) {
		const char *dwo = temp_path("elf/split-linked.dwo"), *file = temp_path("elf/split");

		shell("cd %s && rm -f *.dwo* && gcc -gdwarf-%d -gsplit-dwarf -O1 -no-pie -o split linked.c",
		      temp_path("elf"), version);
		assert_int_equal(access(dwo, F_OK), 0);
		assert_int_equal(kjoule_elf_open(file, NULL, &elf), 0);
		symbol = kjoule_elf_named(elf, "hidden", &several);
		assert_non_null(symbol);
		for (int trap = 0; trap < N_TRAPS; trap++) {
			if (!trap_make(trap, dwo))
				continue;
			assert_int_equal(kjoule_code_open(file, &code), 0);
			kjoule_code_line(code, symbol->start, &line);
			kjoule_code_lines(code, symbol->start, lines);
			if (!kjoule_code_find(code, no_line, NULL, &found, &n))
				free(found);
			kjoule_code_close(code);
			assert_false(trap_is_sprung());
		}
		kjoule_elf_close(elf);
	}
}

static bool source_is_shown(const char *path, uid_t owner)
{
	struct source_text text = { 0 };
	const struct source_file *file = source_text_file(&text, path, owner);
	bool shown = file && file->lines;

	source_text_free(&text);
	return shown;
}

TEST(sources)
{
	const char *path = temp_path("source.c");

	for (int trap = 0; trap < N_TRAPS; trap++) {
		if (!trap_make(trap, path))
			continue;
		assert_false(source_is_shown(path, getuid()));
		assert_false(source_is_shown(path, NOBODY));
		assert_false(trap_is_sprung());
	}
	unlink(path);
	write_file(path, "a line\n", 7);
	assert_true(source_is_shown(path, getuid()));
}

/* The program's owner chooses the name; root's annotate shows what he could read himself. */
TEST(sources_that_the_programs_owner_may_not_read)
{
	const char *path, *folder;
	gid_t before[64], after[64];
	int n;

	if (getuid())
		skip();
	folder = temp_path("sources");
	path = temp_path("sources/secret.c");
	shell("mkdir %s; chmod 711 %s/.. %s", folder, folder, folder);
	write_file(path, "a line\n", 7);
	n = getgroups(64, before);
	assert_int_equal(chmod(path, 0600), 0);
	assert_true(source_is_shown(path, 0));
	assert_false(source_is_shown(path, NOBODY));
	assert_int_equal(chown(path, NOBODY, 0), 0);
	assert_true(source_is_shown(path, NOBODY));
	/* of a group, and of everybody behind a door that is closed */
	assert_int_equal(chown(path, 0, NOBODY), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_true(source_is_shown(path, NOBODY));
	assert_int_equal(chown(path, 0, 0), 0);
	assert_false(source_is_shown(path, NOBODY));
	assert_int_equal(chmod(path, 0644), 0);
	assert_true(source_is_shown(path, NOBODY));
	assert_int_equal(chmod(folder, 0700), 0);
	assert_false(source_is_shown(path, NOBODY));
	/* and we are root again */
	assert_true(source_is_shown(path, 0));
	assert_int_equal(setfsuid(-1), 0);
	assert_int_equal(setfsgid(-1), 0);
	assert_int_equal(getgroups(64, after), n);
	assert_memory_equal(before, after, n * sizeof(*before));
}

static int jitmap_read(pid_t pid)
{
	struct kjoule_jitmaps *maps = kjoule_jitmaps_new();
	int ret = kjoule_jitmaps_read(maps, pid, NULL);

	kjoule_jitmaps_free(maps);
	return ret;
}

TEST(jit_maps)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	for (int trap = 0; trap < N_TRAPS; trap++) {
		if (!trap_make(trap, path))
			continue;
		assert_int_equal(jitmap_read(getpid()), trap == TRAP_LINK ? -ELOOP : -EPERM);
		assert_false(trap_is_sprung());
		unlink(path);
		strcat(path, ".node");
		unlink(path);
		path[strlen(path) - 5] = '\0';
	}
}

enum mounts { MOUNT_FOLDER, MOUNT_FILE, MOUNT_DEVICE, MOUNT_ROOT };

/*
 * A process with mounts of its own, and with a user namespace if it is no root. Return: its pid; 0:
 * there are none here
 */
static pid_t stranger_start(enum mounts mounts, bool user, int *stop)
{
	char path[64], ready = 0;
	int go[2], back[2];
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(back), 0);
	pid = fork();
	if (!pid) {
		int fd;

		close(go[1]);
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		ready = !unshare(CLONE_NEWNS | (user ? CLONE_NEWUSER : 0)) &&
			!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
		if (mounts == MOUNT_FOLDER)
			ready = ready && !mount("t", "/tmp", "tmpfs", 0, NULL);
		if (mounts == MOUNT_ROOT)
			ready = ready && !mount("t", "/mnt", "tmpfs", 0, NULL) &&
				!mkdir("/mnt/tmp", 0700) && !chroot("/mnt");
		fd = open(path, O_WRONLY | O_CREAT, 0600);
		ready = ready && fd >= 0 && write(fd, "1000 10 stranger\n", 17) == 17;
		if (mounts != MOUNT_FOLDER && mounts != MOUNT_ROOT)
			ready = ready &&
				!mount(mounts == MOUNT_DEVICE ? "/dev/null" : "/etc/passwd", path,
				       NULL, MS_BIND, NULL);
		if (write(back[1], &ready, 1) != 1 || read(go[0], &ready, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(go[0]);
	close(back[1]);
	assert_int_equal(read(back[0], &ready, 1), 1);
	close(back[0]);
	*stop = go[1];
	if (ready)
		return pid;
	close(go[1]);
	waitpid(pid, NULL, 0);
	return 0;
}

TEST(mounts_of_a_recorded_process)
{
	static const struct {
		enum mounts mounts;
		bool user;
		int expect;
	} cases[] = {
		/* a private /tmp that root has made, as of a service */
		{ MOUNT_FOLDER, false, 0 },
		{ MOUNT_FILE, false, -EXDEV },
		{ MOUNT_DEVICE, false, -EXDEV },
		/* what any user may have mounted there */
		{ MOUNT_FOLDER, true, -EXDEV },
		{ MOUNT_FILE, true, -EXDEV },
		{ MOUNT_DEVICE, true, -EXDEV },
		{ MOUNT_ROOT, true, -EXDEV },
	};
	unsigned int done = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int stop, status;
		pid_t pid = stranger_start(cases[i].mounts, cases[i].user, &stop);
		char path[64];

		if (!pid)
			continue;
		done++;
		assert_int_equal(jitmap_read(pid), cases[i].expect);
		close(stop);
		waitpid(pid, &status, 0);
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
		unlink(path);
	}
	if (!done)
		skip();
}

/*
 * In a child: does an analysis that root begins, of these recordings, have these rights? @fsuid: of
 * who opens files
 */
static void expect_rights(const char *sudo_uid, const char *recording, uid_t uid, uid_t fsuid,
			  const char *capabilities)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		char *named = (char *)recording, *text;
		uid_t r, e, s;

		if (sudo_uid)
			setenv("SUDO_UID", sudo_uid, 1);
		else
			unsetenv("SUDO_UID");
		if (kjoule_privilege_drop(&named, !!recording) || getresuid(&r, &e, &s))
			_exit(1);
		text = cap_to_text(cap_get_proc(), NULL);
		if (r != uid || e != uid || s != uid || (uid && setuid(0) != -1) ||
		    setfsuid(-1) != (int)fsuid || setfsgid(-1) != (int)fsuid ||
		    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
			_exit(2);
		/* what is executed has no more */
		if (system("grep -qE '^CapEff:[[:space:]]*(0{16}|00000000000000c4|00000004000000c6)$' /proc/self/status"))
			_exit(4);
		if (strcmp(text, capabilities)) {
			fprintf(stderr, "%s instead of %s\n", text, capabilities);
			_exit(3);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(analyses_give_up_roots_rights)
{
	const char *theirs = temp_path("theirs"), *ours = temp_path("ours");
	const char *files = "cap_dac_override,cap_dac_read_search,cap_syslog=ep cap_setgid,cap_setuid+p";

	if (getuid())
		skip();
	write_file(theirs, "", 0);
	write_file(ours, "", 0);
	assert_int_equal(chown(theirs, NOBODY, NOBODY), 0);
	expect_rights(NULL, NULL, 0, 0, files);
	expect_rights(NULL, ours, 0, 0, files);
	/* who made the recording could trace what is his, and type into our terminal by it */
	expect_rights(NULL, theirs, 0, NOBODY, "cap_dac_read_search,cap_setgid,cap_setuid=p");
	expect_rights("65534", ours, NOBODY, NOBODY, "cap_dac_read_search=p");
	expect_rights("65534", theirs, NOBODY, NOBODY, "cap_dac_read_search=p");
	/* no user at all */
	expect_rights("0", ours, 0, 0, files);
	expect_rights("4294967295", ours, 0, 0, files);
	expect_rights("-2", ours, 0, 0, files);
	expect_rights("12x", ours, 0, 0, files);
}

/* sudo kjoule report: root's recording is read, and nothing else that only root may read. */
TEST(sudo_reads_the_recording_only)
{
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	const char *elf;
	bool several;
	struct kjoule_elf *file;
	const struct kjoule_symbol *symbol;
	uint64_t offset, uj = 0;

	if (getuid())
		skip();
	program_make("-Wl,--build-id");
	elf = temp_path("elf/whole");
	shell("cd %s && gcc -O1 -no-pie -o whole linked.c && chmod 755 .. . whole",
	      temp_path("elf"));
	assert_int_equal(kjoule_elf_open(elf, NULL, &file), 0);
	symbol = kjoule_elf_named(file, "hidden", &several);
	assert_non_null(symbol);
	assert_int_equal(kjoule_elf_offset(file, symbol->start, &offset), 0);
	kjoule_elf_close(file);
	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 1000; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, (uint64_t[]){ uj, uj / 2 });
		put_sample(&b, k, 0x10000000 + offset, 0, 1000000, 100);
		uj += 1000;
	}
	shell("mkdir -m 700 %s", temp_path("closed"));
	write_recording(temp_path("closed/data"), &meta, &b, 1, elf, 1000);
	setenv("SUDO_UID", "65534", 1);
	/* its tracer may not look at who was root */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	assert_int_equal(kjoule("report %s", temp_path("closed/data")), 0);
	assert_true(says(out, "hidden"));
	assert_int_equal(chmod(elf, 0700), 0);
	assert_int_equal(kjoule("report %s", temp_path("closed/data")), 0);
	assert_null(strstr(out, "hidden"));
	unsetenv("SUDO_UID");
	unsetenv("ASAN_OPTIONS");
	assert_int_equal(kjoule("report %s", temp_path("closed/data")), 0);
	assert_true(says(out, "hidden"));
}
