// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for addresses: ELF files (this very program is one), kernel symbols, build ids, address
 * spaces over time.
 */
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/now.h"
#include "lib/code/buildid.h"
#include "lib/code/kallsyms.h"
#include "lib/code/maps.h"
#include "lib/code/symbols.h"
#include "lib/sideband/sideband.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

int a_function_to_be_found(int x);

__attribute__((noinline)) int a_function_to_be_found(int x)
{
	for (int i = 0; i < 10; i++)
		x += x << 1;
	return x;
}

/* Side band of ourselves, as record would take it. */
static int collect(void *arg, const void *records, size_t len)
{
	put_bytes(arg, records, len);
	return 0;
}

TEST(own_functions_are_found_wherever_they_are_loaded)
{
	uint64_t ip = (uintptr_t)a_function_to_be_found + 4, address;
	const struct kjoule_symbol *symbol;
	const struct kjoule_map *map;
	struct kjoule_maps *maps;
	struct kjoule_elf *elf;
	struct buffer b = { 0 };
	char hex[KJOULE_BUILD_ID_HEX];
	size_t skipped, len;
	char *comm;
	int ret;

	assert_int_equal(kjoule_sideband_proc(getpid(), 5, UINT64_MAX, collect, &b), 0);
	assert_int_equal(kjoule_maps_new(b.data, b.len, &maps, &skipped), 0);
	assert_int_equal(skipped, 0);
	map = kjoule_maps_find(maps, getpid(), 10, ip);
	assert_non_null(map);
	assert_non_null(strstr(map->path, "test_symbols"));
	assert_null(kjoule_maps_find(maps, getpid(), 10, 8));
	assert_null(kjoule_maps_find(maps, getpid(), 4, ip));
	comm = (char *)read_file("/proc/self/comm", &len);	/* another one under valgrind */
	assert_non_null(kjoule_maps_comm(maps, getpid(), getpid(), 10));
	if (len)
		assert_memory_equal(kjoule_maps_comm(maps, getpid(), getpid(), 10), comm, len - 1);
	free(comm);
	ret = kjoule_build_id(map->path, hex);
	assert_int_equal(ret == 0, hex[0] != 0);
	assert_int_equal(kjoule_elf_open(map->path, hex[0] ? hex : NULL, &elf), 0);
	assert_int_equal(kjoule_elf_address(elf, ip - map->start + map->offset, &address), 0);
	symbol = kjoule_elf_find(elf, address);
	assert_non_null(symbol);
	assert_string_equal(symbol->name, "a_function_to_be_found");
	assert_int_equal(address - symbol->start, 4);
	assert_null(kjoule_elf_find(elf, 1));
	kjoule_elf_close(elf);
	/* the C library: a shared object, with its dynamic symbols at least */
	map = kjoule_maps_find(maps, getpid(), 10, (uintptr_t)getenv);
	if (map && !kjoule_elf_open(map->path, NULL, &elf)) {
		assert_int_equal(kjoule_elf_address(elf, (uintptr_t)getenv - map->start +
						    map->offset, &address), 0);
		symbol = kjoule_elf_find(elf, address);
		assert_non_null(symbol);
		kjoule_elf_close(elf);
	}
	kjoule_maps_free(maps);
	free(b.data);
}

TEST(another_file_of_that_name_is_refused)
{
	struct kjoule_elf *elf;

	assert_int_equal(kjoule_elf_open("/proc/self/exe", "0123", &elf), -ESTALE);
	assert_int_equal(kjoule_elf_open("/nonexistent", NULL, &elf), -ENOENT);
	assert_int_equal(kjoule_elf_open("/dev/null", NULL, &elf), -ENOEXEC);
	write_file(temp_path("noelf"), "not an ELF file", 15);
	assert_int_equal(kjoule_elf_open(temp_path("noelf"), NULL, &elf), -ENOEXEC);
	write_file(temp_path("half"), "\177ELF\2\1\1", 7);
	assert_int_equal(kjoule_elf_open(temp_path("half"), NULL, &elf), -ENOEXEC);
}

static void shell(const char *command)
{
	if (system(command))
		fail_msg("%s", command);
}

/* Under valgrind /proc/PID/exe is valgrind for others than ourselves. */
static const char *own_path(void)
{
	static char path[512];

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	return path;
}

/* elfutils would unpack it, to gigabytes if it is made so. */
TEST(a_compressed_file_is_not_unpacked)
{
	char command[1024];
	struct kjoule_elf *elf;

	snprintf(command, sizeof(command), "gzip -c %s >%s", own_path(), temp_path("gz"));
	shell(command);
	assert_int_equal(kjoule_elf_open(temp_path("gz"), NULL, &elf), -ENOEXEC);
}

TEST(files_that_the_kernel_makes_up_are_not_read)
{
	int fd = kjoule_elf_file_open("/proc/self/exe");	/* this one is on a disk */

	assert_true(fd >= 0);
	close(fd);
	if (!access("/proc/kcore", R_OK))		/* begins as an ELF file does */
		assert_int_equal(kjoule_elf_file_open("/proc/kcore"), -ENOEXEC);
	assert_int_equal(kjoule_elf_file_open("/proc/self/environ"), -ENOEXEC);
	assert_int_equal(kjoule_elf_file_open("/sys/kernel/uevent_seqnum"), -ENOEXEC);
}

static bool has_function(const char *path, const char *name)
{
	const struct kjoule_symbol *symbol;
	struct kjoule_elf *elf;
	bool found = false;

	if (kjoule_elf_open(path, NULL, &elf))
		return false;
	for (uint64_t address = 0; address < 1 << 22 && !found; address += 4) {
		symbol = kjoule_elf_find(elf, address);
		found = symbol && !strcmp(symbol->name, name);
	}
	kjoule_elf_close(elf);
	return found;
}

TEST(a_debug_file_is_named_and_not_a_way_to_any_file)
{
	char command[4096], *p;
	const char *dir = temp_path("");
	uint8_t *data;
	size_t len;

	snprintf(command, sizeof(command),
		 "cp %s %sfull && cd %s && objcopy --only-keep-debug -R .note.gnu.build-id full sub_debug && "
		 "objcopy -S -R .note.gnu.build-id --add-gnu-debuglink=sub_debug full bare",
		 own_path(), dir, dir);
	shell(command);
	assert_true(has_function(temp_path("full"), "a_function_to_be_found"));
	assert_true(has_function(temp_path("bare"), "a_function_to_be_found"));
	/* the same debug file, by a path */
	data = read_file(temp_path("bare"), &len);
	while ((p = memmem(data, len, "sub_debug", 9)))	/* our own strings as well */
		p[3] = '/';
	write_file(temp_path("bare"), data, len);
	free(data);
	snprintf(command, sizeof(command), "cd %s && mkdir sub && mv sub_debug sub/debug", dir);
	shell(command);
	assert_false(has_function(temp_path("bare"), "a_function_to_be_found"));
	snprintf(command, sizeof(command), "rm -r %ssub", dir);
	shell(command);
}

TEST(kernel_functions_are_found_in_a_part_of_the_table)
{
	static const char text[] =
		"ffffffff81000000 T _text\nffffffff81000000 T startup_64\n"
		"ffffffff81000100 t early\nffffffff81000200 T __x64_sys_read\n"
		"ffffffff81000200 T sys_read\nffffffff81000300 D some_data\n"
		"ffffffff81000400 T last\nnonsense\n"
		"ffffffffc0000000 t init\t[mod]\nffffffffc0000040 t fini\t[mod]\n";
	const uint64_t ips[] = { 0xffffffff81000210, 0xffffffffc0000010 };
	struct kjoule_kallsyms *k, *part;
	const struct kjoule_kernel_symbol *s;
	char *sub;
	size_t len;

	assert_int_equal(kjoule_kallsyms_parse(text, strlen(text), &k), 0);
	s = kjoule_kallsyms_find(k, 0xffffffff81000350);
	assert_string_equal(s->name, "sys_read");	/* data does not end code */
	assert_null(s->module);
	assert_null(kjoule_kallsyms_find(k, 0x1000));
	assert_string_equal(kjoule_kallsyms_find(k, 0xffffffffc0000040)->module, "mod");
	assert_int_equal(kjoule_kallsyms_subset(k, ips, 2, &sub, &len), 0);
	assert_int_equal(kjoule_kallsyms_parse(sub, len, &part), 0);
	assert_string_equal(kjoule_kallsyms_find(part, ips[0])->name, "sys_read");
	assert_string_equal(kjoule_kallsyms_find(part, ips[1])->name, "init");
	assert_int_equal(kjoule_kallsyms_find(part, ips[1])->end, 0xffffffffc0000040);
	/* what was not requested is not invented */
	assert_null(kjoule_kallsyms_find(part, 0xffffffff81000100));
	free(sub);
	kjoule_kallsyms_free(part);
	kjoule_kallsyms_free(k);
	assert_int_equal(kjoule_kallsyms_parse("0000000000000000 T a\n", 21, &k), -EPERM);
	assert_int_equal(kjoule_kallsyms_parse("", 0, &k), 0);
	assert_null(kjoule_kallsyms_find(k, 5));
	kjoule_kallsyms_free(k);
}

TEST(address_spaces_follow_fork_exec_and_remap)
{
	struct kjoule_maps *m;
	struct buffer b = { 0 };
	size_t skipped;

	/* not in order of time: rings of several CPUs come one after another */
	put_map(&b, 10, 500, 0x1000, 0x1000, 0, "/new");	/* hides /old from then on */
	put_name_event(&b, 1, 10, 10, "parent", false);
	put_map(&b, 10, 100, 0x1000, 0x2000, 0, "/old");
	put_fork_event(&b, 300, 10, 10, 20, 20);
	put_name_event(&b, 400, 20, 20, "child", true);		/* exec */
	put_map(&b, 20, 401, 0x9000, 0x1000, 0, "/other");
	put_name_event(&b, 450, 10, 11, "thread", false);
	put_fork_event(&b, 900, 10, 10, 20, 20);				/* the pid again */
	assert_int_equal(kjoule_maps_new(b.data, b.len, &m, &skipped), 0);

	assert_null(kjoule_maps_find(m, 10, 50, 0x1800));
	assert_string_equal(kjoule_maps_find(m, 10, 200, 0x1800)->path, "/old");
	assert_string_equal(kjoule_maps_find(m, 10, 600, 0x1800)->path, "/new");
	assert_string_equal(kjoule_maps_find(m, 10, 600, 0x2800)->path, "/old");
	assert_null(kjoule_maps_find(m, 10, 600, 0x3000));
	/* inherited until the exec */
	assert_string_equal(kjoule_maps_find(m, 20, 350, 0x1800)->path, "/old");
	assert_string_equal(kjoule_maps_comm(m, 20, 20, 350), "parent");
	assert_null(kjoule_maps_find(m, 20, 410, 0x1800));
	assert_string_equal(kjoule_maps_find(m, 20, 410, 0x9800)->path, "/other");
	assert_string_equal(kjoule_maps_comm(m, 20, 20, 410), "child");
	/* the next process of that id is its own */
	assert_null(kjoule_maps_find(m, 20, 950, 0x9800));
	assert_string_equal(kjoule_maps_find(m, 20, 950, 0x1800)->path, "/new");
	/* threads */
	assert_string_equal(kjoule_maps_comm(m, 10, 11, 460), "thread");
	assert_string_equal(kjoule_maps_comm(m, 10, 12, 460), "parent");
	assert_null(kjoule_maps_comm(m, 77, 77, 460));
	/* what was found at an address holds until something is mapped, or it is another process */
	assert_int_equal(kjoule_maps_layout(m, 10, 200), kjoule_maps_layout(m, 10, 499));
	assert_int_not_equal(kjoule_maps_layout(m, 10, 499), kjoule_maps_layout(m, 10, 500));
	assert_int_not_equal(kjoule_maps_layout(m, 20, 350), kjoule_maps_layout(m, 20, 400));
	assert_int_not_equal(kjoule_maps_layout(m, 20, 400), kjoule_maps_layout(m, 20, 401));
	assert_int_not_equal(kjoule_maps_layout(m, 20, 401), kjoule_maps_layout(m, 20, 900));
	assert_int_not_equal(kjoule_maps_layout(m, 10, 950), kjoule_maps_layout(m, 20, 950));
	assert_int_equal(kjoule_maps_layout(m, 77, 950), 0);
	kjoule_maps_free(m);
	free(b.data);
}

/* The same in plain words: look through everything, latest first. */
struct event {
	enum { EVENT_MAP, EVENT_COMM, EVENT_EXEC, EVENT_FORK } what;
	uint32_t pid, other;	/* thread of a name, parent of a fork */
	uint64_t time, start, len;
	char text[16];
};

/* Events of @pid's process at @time lie in (*from, *to); 0, n if it was there before. */
static void life_of(const struct event *t, int n, uint32_t pid, uint64_t time, int *from, int *to)
{
	int forks[64], n_forks = 0, at = -1;

	for (int i = 0; i < n; i++)
		if (t[i].what == EVENT_FORK && t[i].pid == pid)
			forks[n_forks++] = i;
	for (int i = 0; i < n_forks; i++)
		if (t[forks[i]].time <= time)
			at = i;
	/* before its first fork: the earlier process with that pid, if any */
	for (int i = 0; at < 0 && n_forks && i <= forks[0]; i++) {
		if (i == forks[0])
			at = 0;
		else if (t[i].pid == pid || (t[i].what == EVENT_FORK && t[i].other == pid))
			break;
	}
	*from = at < 0 ? -1 : forks[at];
	*to = at + 1 < n_forks ? forks[at + 1] : n;
}

static const struct event *map_of(const struct event *t, int n, uint32_t pid, uint64_t time,
				  uint64_t ip)
{
	for (int depth = 0; depth < 64; depth++) {
		uint64_t exec = 0;
		int from, to;

		life_of(t, n, pid, time, &from, &to);
		for (int i = from + 1; i < to; i++)
			if (t[i].what == EVENT_EXEC && t[i].pid == pid && t[i].time <= time)
				exec = t[i].time;
		for (int i = to - 1; i > from; i--)
			if (t[i].what == EVENT_MAP && t[i].pid == pid && t[i].time <= time &&
			    ip - t[i].start < t[i].len)
				return t[i].time >= exec ? &t[i] : NULL;
		if (exec || from < 0)
			return NULL;
		/* its parent as it was then, and not a later one of that pid */
		pid = t[from].other;
		time = t[from].time < time ? t[from].time : time;
		n = from;
	}
	return NULL;
}

static const char *comm_of(const struct event *t, int n, uint32_t pid, uint32_t tid, uint64_t time)
{
	for (int depth = 0; depth < 64; depth++) {
		int from, to;

		life_of(t, n, pid, time, &from, &to);
		for (int leader = 0; leader < 2; leader++)
			for (int i = to - 1; i > from; i--)
				if ((t[i].what == EVENT_COMM || t[i].what == EVENT_EXEC) &&
				    t[i].pid == pid && t[i].other == (leader ? pid : tid) &&
				    t[i].time <= time)
					return t[i].text;
		if (from < 0)
			return NULL;
		pid = tid = t[from].other;
		time = t[from].time < time ? t[from].time : time;
		n = from;
	}
	return NULL;
}

TEST(maps_answer_as_if_all_events_were_looked_through)
{
	uint64_t seed = 5;

	for (int round = 0; round < 300; round++) {
		struct event t[60];
		struct buffer b = { 0 };
		struct kjoule_maps *m;
		size_t skipped;
		uint64_t time = 1;

		for (int i = 0; i < 60; i++) {
			uint64_t kind = rnd(&seed) % 16;

			time += 1 + rnd(&seed) % 3;
			t[i] = (struct event){ .what = kind < 10 ? EVENT_MAP : kind < 13 ?
					       EVENT_COMM : kind < 14 ? EVENT_EXEC : EVENT_FORK,
					       .pid = 1 + rnd(&seed) % 3, .time = time };
			snprintf(t[i].text, sizeof(t[i].text), "n%u", i % 100u);
			t[i].start = rnd(&seed) % 40 - 5;	/* some wrap */
			t[i].len = rnd(&seed) % 20;
			t[i].other = t[i].what == EVENT_FORK ? 1 + (t[i].pid + rnd(&seed) % 2) % 3 :
				     t[i].what == EVENT_EXEC ? t[i].pid : 1 + rnd(&seed) % 4;
			if (t[i].what == EVENT_MAP)
				put_map(&b, t[i].pid, time, t[i].start, t[i].len, 0, t[i].text);
			else if (t[i].what == EVENT_FORK)
				put_fork_event(&b, time, t[i].other, t[i].other, t[i].pid,
					       t[i].pid);
			else
				put_name_event(&b, time, t[i].pid, t[i].other, t[i].text,
					       t[i].what == EVENT_EXEC);
		}
		assert_int_equal(kjoule_maps_new(b.data, b.len, &m, &skipped), 0);
		assert_int_equal(skipped, 0);
		for (int i = 0; i < 200; i++) {
			uint32_t pid = 1 + rnd(&seed) % 3, tid = 1 + rnd(&seed) % 4;
			uint64_t at = rnd(&seed) % (time + 2), ip = rnd(&seed) % 60 - 8;
			const struct kjoule_map *map = kjoule_maps_find(m, pid, at, ip);
			const struct event *found = map_of(t, 60, pid, at, ip);
			const char *comm = kjoule_maps_comm(m, pid, tid, at);
			const char *name = comm_of(t, 60, pid, tid, at);

			assert_string_equal(map ? map->path : "none", found ? found->text : "none");
			assert_string_equal(comm ? comm : "none", name ? name : "none");
		}
		kjoule_maps_free(m);
		free(b.data);
	}
}

TEST(sideband_of_any_content_never_crashes)
{
	uint64_t seed = 11, v;

	for (int round = 0; round < 5000; round++) {
		struct buffer b = { 0 };
		struct kjoule_maps *m;
		size_t skipped;

		put_map(&b, 1, 1, 1, 1, 0, "/x");
		for (int i = 0; i < 40; i++) {
			/* type, misc and a size that fits more often than not */
			v = rnd(&seed);
			v = (v & 0x0000ffff0000000full) | (v >> 8 & 0x38) << 48 | 40ull << 48;
			put_bytes(&b, &v, 8);
			for (int k = 0; k < 5; k++) {
				v = rnd(&seed) & rnd(&seed);
				put_bytes(&b, &v, 8);
			}
		}
		assert_int_equal(kjoule_maps_new(b.data, b.len, &m, &skipped), 0);
		kjoule_maps_find(m, 1, 5, 1);
		kjoule_maps_free(m);
		free(b.data);
	}
}

TEST(a_perf_event_brings_what_we_map)
{
	struct kjoule_sideband *sb;
	struct buffer b = { 0 };
	struct kjoule_event ev;
	struct kjoule_error err;
	size_t off = 0;
	int execs = 0;
	pid_t pid;
	int ret;

	ret = kjoule_sideband_open(0, &sb, &err);
	if (ret == -EACCES || ret == -EPERM || ret == -ENOENT || ret == -ENOSYS) {
		print_message("# SKIP this user may not open perf events, or the kernel has none\n");
		skip();
	}
	assert_int_equal(ret, 0);
	pid = fork();
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(kjoule_sideband_drain(sb, collect, &b), 0);
	while (kjoule_event_next(b.data, b.len, &off, &ev) > 0)
		execs += ev.type == KJOULE_EVENT_COMM && ev.exec && (pid_t)ev.pid == pid;
	assert_int_equal(off, b.len);
	assert_int_equal(execs, 1);
	kjoule_sideband_close(sb);
	free(b.data);
}

/* What waits is handed over before, what comes later is heard: on a CPU that was away. */
TEST(a_cpu_back_online_is_recorded_again)
{
	struct kjoule_cpus online;
	struct kjoule_sideband *sb;
	struct buffer b = { 0 };
	struct kjoule_event ev;
	struct kjoule_error err;
	size_t off = 0;
	int seen = 0;
	pid_t pid[2];

	if (kjoule_sideband_open(0, &sb, &err)) {
		print_message("# SKIP this user may not open perf events, or the kernel has none\n");
		skip();
	}
	assert_int_equal(kjoule_cpus_online(&online), 0);
	/* one that is still going is not away, and one that was not away has not come back */
	for (int cpu = kjoule_cpus_next(&online, 0); cpu >= 0;
	     cpu = kjoule_cpus_next(&online, cpu + 1)) {
		assert_int_equal(kjoule_sideband_follow(sb, collect, &b), 0);
		kjoule_sideband_notice(sb, cpu, true);
		assert_int_equal(kjoule_sideband_follow(sb, collect, &b), 0);
		kjoule_sideband_notice(sb, cpu, false);
	}
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		assert_int_equal(waitpid(pid[i], NULL, 0), pid[i]);
		if (i)
			break;
		for (int cpu = kjoule_cpus_next(&online, 0); cpu >= 0;
		     cpu = kjoule_cpus_next(&online, cpu + 1))
			kjoule_sideband_notice(sb, cpu, true);
		assert_int_equal(kjoule_sideband_follow(sb, collect, &b),
				 kjoule_cpus_count(&online));
		assert_int_equal(kjoule_sideband_follow(sb, collect, &b), 0);
	}
	assert_int_equal(kjoule_sideband_drain(sb, collect, &b), 0);
	while (kjoule_event_next(b.data, b.len, &off, &ev) > 0)
		for (int i = 0; i < 2; i++)
			seen += ev.type == KJOULE_EVENT_COMM && ev.exec && (pid_t)ev.pid == pid[i];
	assert_int_equal(seen, 2);
	assert_int_equal(kjoule_sideband_poll(sb, NULL, 0), kjoule_cpus_count(&online));
	kjoule_sideband_close(sb);
	free(b.data);
}

/*
 * A process that began before the sideband is known from its beginning, not from when it was found.
 */
TEST(processes_started_before_are_known_from_their_start)
{
	uint64_t before = kjoule_now_ns(), after, found, times[2];
	struct kjoule_event ev;
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	after = kjoule_now_ns();
	usleep(300000);
	found = kjoule_now_ns();
	for (int i = 0; i < 2; i++) {
		struct buffer b = { 0 };
		size_t off = 0;

		assert_int_equal(kjoule_sideband_proc(pid, found, i ? found : before, collect, &b),
				 0);
		assert_int_equal(kjoule_event_next(b.data, b.len, &off, &ev), 1);
		times[i] = ev.time_ns;
		while (kjoule_event_next(b.data, b.len, &off, &ev) > 0)
			assert_int_equal(ev.time_ns, times[i]);
		free(b.data);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* in ticks of the kernel's, of 10 ms */
	assert_in_range(times[0], before, after + 20000000);
	assert_int_equal(times[1], found);
}

TEST(build_ids_go_both_ways)
{
	struct kjoule_build_ids *a = kjoule_build_ids_new(), *b = kjoule_build_ids_new();
	char *text;

	assert_int_equal(kjoule_build_ids_add(a, "/a \"file\"", "00ff"), 0);
	assert_int_equal(kjoule_build_ids_add(a, "/a \"file\"", "11"), 0);	/* once is enough */
	assert_int_equal(kjoule_build_ids_meet(a,
					       &(struct kjoule_event){ .pid = getpid(),
								       .text = "[heap]" }), 0);
	text = kjoule_build_ids_encode(a, &(size_t){ 0 });
	assert_int_equal(kjoule_build_ids_decode(text, strlen(text), b), 0);
	assert_string_equal(kjoule_build_ids_find(b, "/a \"file\""), "00ff");
	assert_null(kjoule_build_ids_find(b, "[heap]"));
	assert_int_equal(kjoule_build_ids_decode("[1]", 3, b), -EBADMSG);
	assert_int_equal(kjoule_build_ids_decode("{\"a\":", 5, b), -EBADMSG);
	free(text);
	kjoule_build_ids_free(a);
	kjoule_build_ids_free(b);
}

static void meet(struct kjoule_build_ids *ids, const char *path, const char *id, uint8_t len)
{
	struct buffer b = { 0 };
	struct kjoule_event ev;
	size_t off = 0;

	put_map_of(&b, getpid(), 1, 0x1000, 0x1000, 0, path, (const uint8_t *)id, len);
	assert_int_equal(kjoule_event_next(b.data, b.len, &off, &ev), 1);
	assert_int_equal(kjoule_build_ids_meet(ids, &ev), 0);
	free(b.data);
}

/*
 * A path is one file to us and another one in a container: what the kernel says of it counts, not
 * what lies there.
 */
TEST(build_ids_are_of_the_file_that_was_mapped)
{
	struct kjoule_build_ids *ids = kjoule_build_ids_new();
	char own[512] = "", hex[KJOULE_BUILD_ID_HEX];

	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	assert_int_equal(kjoule_build_id(own, hex), 0);
	meet(ids, own, "\x12\x34\xab", 3);
	assert_string_equal(kjoule_build_ids_find(ids, own), "1234ab");
	meet(ids, own, "\x12\x34\xab", 3);
	assert_string_equal(kjoule_build_ids_find(ids, own), "1234ab");
	/* to another process it is another one: code of both would have the names of one */
	meet(ids, own, "\x12\x34\xac", 3);
	assert_string_equal(kjoule_build_ids_find(ids, own), KJOULE_BUILD_ID_SEVERAL);
	meet(ids, own, "\x12\x34\xab", 3);
	assert_string_equal(kjoule_build_ids_find(ids, own), KJOULE_BUILD_ID_SEVERAL);
	/* what is longer than there is room for is none */
	meet(ids, "/nonexistent", (const char[21]){ 1 }, 21);
	assert_null(kjoule_build_ids_find(ids, "/nonexistent"));
	kjoule_build_ids_free(ids);
	/* without an event it is looked for */
	ids = kjoule_build_ids_new();
	meet(ids, own, NULL, 0);
	assert_string_equal(kjoule_build_ids_find(ids, own), hex);
	/* again if it is another file by its number */
	assert_int_equal(kjoule_build_ids_meet(ids,
					       &(struct kjoule_event){ .pid = getpid(), .text = own,
								       .inode = 7 }), 0);
	assert_string_equal(kjoule_build_ids_find(ids, own), hex);
	kjoule_build_ids_free(ids);
}

/* C++ at -O2 has parts split off its functions, and Rust several functions of one name. */
TEST(functions_are_found_by_name)
{
	static const char source[] =
		"__attribute__((noinline)) int split(int x) asm(\"_ZN1a1cEi\"); int split(int x) { return x + 2; }\n"
		"__attribute__((noinline)) int cold(int x) asm(\"_ZN1a1cEi.cold\"); int cold(int x) { return x + 3; }\n"
		"__attribute__((noinline)) int d1(int x) asm(\"_ZN1a1dEi\"); int d1(int x) { return x + 4; }\n"
		"__attribute__((noinline)) int d2(int x) asm(\"_ZN1a1dEl\"); int d2(int x) { return x + 5; }\n"
		"__attribute__((noinline)) int r1(int x) asm(\"_ZN1r1f17h0123456789abcdefE\"); int r1(int x) { return x + 6; }\n"
		"__attribute__((noinline)) int r2(int x) asm(\"_ZN1r1f17h123456789abcdef0E\"); int r2(int x) { return x + 7; }\n"
		"__attribute__((noinline)) int k2(int x) asm(\"_ZN1a1kEi.constprop.0.cold\"); int k2(int x) { return x + 8; }\n"
		"__attribute__((noinline)) int k1(int x) asm(\"_ZN1a1kEi.constprop.0\"); int k1(int x) { return x + 9; }\n"
		"static __attribute__((noinline)) int own(int) asm(\"_ZL4stepi\"); static int own(int x) { return x * 3; }\n"
		"int other(int);\n"
		"int main(int argc, char **argv)\n"
		"{ (void)argv; return split(argc) + cold(argc) + d1(argc) + d2(argc) + r1(argc) + r2(argc) + k2(argc) + k1(argc) + own(argc) + other(argc); }\n";
	static const char second[] =
		"static __attribute__((noinline)) int own(int) asm(\"_ZL4stepi\"); static int own(int x) { return x * 5; }\n"
		"int other(int x) { return own(x) + 1; }\n";
	static const struct {
		const char *name, *shown;
		bool several;
	} wanted[] = {
		{ "a::c", "a::c(int)", false }, { "a::c(int) [clone .cold]", NULL, false },
		{ "a::d", NULL, true }, { "_ZN1a1dEl", "a::d(long)", false },
		{ "r::f", NULL, true }, { "_ZN1r1f17h0123456789abcdefE", NULL, false },
		{ "_ZN1r1f17h123456789abcdef0E", NULL, false }, { "main", NULL, false },
		/* a copy for one caller is the function, and comes behind its unlikely part */
		{ "a::k", "a::k(int) [clone .constprop.0]", false },
		/* static ones of two files */
		{ "_ZL4stepi", NULL, true }, { "step", NULL, true },
	};
	const struct kjoule_symbol *symbol;
	struct kjoule_elf *elf;
	char command[1200];
	const char *other = temp_path("other.c"), *file = temp_path("names.c");
	uint64_t one;
	bool several;

	/* names are given to the assembler: a compiler of C will do */
	write_file(file, source, strlen(source));
	write_file(other, second, strlen(second));
	snprintf(command, sizeof(command), "gcc -O1 -o %s %s %s", temp_path("names"), file, other);
	assert_int_equal(system(command), 0);
	assert_int_equal(kjoule_elf_open(temp_path("names"), NULL, &elf), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		symbol = kjoule_elf_named(elf, wanted[i].name, &several);
		if (!symbol || several != wanted[i].several)
			fail_msg("%s: %s", wanted[i].name, symbol ? "one or several" : "none");
		if (wanted[i].shown)
			assert_string_equal(symbol->name, wanted[i].shown);
	}
	/* these have one name, and are separated by what the file calls them */
	one = kjoule_elf_named(elf, "_ZN1r1f17h0123456789abcdefE", &several)->start;
	symbol = kjoule_elf_named(elf, "_ZN1r1f17h123456789abcdef0E", &several);
	assert_true(symbol->start != one);
	assert_null(kjoule_elf_named(elf, "a::e", &several));
	kjoule_elf_close(elf);
}

/* Without its symbols a file still has a table for unwinding. */
TEST(functions_of_stripped_files_have_addresses)
{
	const struct kjoule_symbol *symbol;
	struct kjoule_elf *whole, *stripped;
	uint64_t start = 0, end = 0;
	char command[800], name[32], own[512] = "";

	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	snprintf(command, sizeof(command), "objcopy --strip-all '%s' %s 2>/dev/null", own,
		 temp_path("stripped"));
	if (system(command)) {
		print_message("# SKIP there is no objcopy\n");
		skip();
	}
	assert_int_equal(kjoule_elf_open("/proc/self/exe", NULL, &whole), 0);
	for (uint64_t a = 0x1000; a < 0x1000000 && !start; a += 16) {
		symbol = kjoule_elf_find(whole, a);
		if (symbol && !strcmp(symbol->name, "a_function_to_be_found")) {
			start = symbol->start;
			end = symbol->end;
		}
	}
	assert_true(start);
	assert_int_equal(kjoule_elf_open(temp_path("stripped"), NULL, &stripped), 0);
	symbol = kjoule_elf_find(stripped, start + 4);
	assert_non_null(symbol);
	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)start);
	assert_string_equal(symbol->name, name);
	assert_int_equal(symbol->start, start);
	assert_true(symbol->end >= end && symbol->end < end + 16);
	kjoule_elf_close(stripped);
	kjoule_elf_close(whole);
}
