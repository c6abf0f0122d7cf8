// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory may run out at any moment: in each operation on the module every allocation (and
 * every copy from or to user space) fails once, one after another, as the kernel's fault
 * injection counts them. The operation reports it or does without, nothing is left behind,
 * and what follows works. What is allocated is not listed here: it is found by counting.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * boot: own
 * debug: only
 * timeout: 400
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "any_source.h"
#include "stats.h"
#include "caps.h"
#include "fail.h"
#include "faults.h"
#include "guest.h"
#include "module.h"
#include "nl.h"
#include "ring.h"

#define SYSFS	"/sys/class/misc/kjoule"
#define DEBUGFS	"/sys/kernel/debug/kjoule"

#define MAX_FILES	128

static const struct nl_config plain = { .interval_ns = 1000000, .ring_bytes = 1 << 16 };
static struct nl_session info;
static struct nl nl;
static struct device dev;
static void *image;
static size_t image_bytes;
static char file[MAX_FILES][160];	/* a session's with %u for its number */
static unsigned int n_files;
static const char *file_name;

/* Preparations; an operation has those of its own row and then is alone with the faults. */

static bool loaded(void)
{
	return !access("/sys/module/kjoule", F_OK);
}

static bool have_socket(void)
{
	struct timeval patience = { .tv_sec = 20 };

	/* an answer that never comes is a fault, not a reason to wait for ever */
	return !nl_open(&nl) &&
	       !setsockopt(mnl_socket_get_fd(nl.socket), SOL_SOCKET, SO_RCVTIMEO, &patience,
			   sizeof(patience));
}

static bool have_session(void)
{
	return have_socket() && !nl_session_new(&nl, &plain, &info);
}

static bool have_running(void)
{
	return have_session() && !nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info);
}

static bool have_file(void)
{
	dev.fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	return have_session() && dev.fd >= 0;
}

static bool have_reader(void)
{
	return have_session() && !device_open(&dev, info.id);
}

static bool have_records(void)
{
	if (!have_reader() || nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info))
		return false;
	sleep_ms(20);
	return true;
}

static int make_with_sources(void)
{
	struct nl_spec specs[3] = { any_counter(), any_file() };
	struct nl_config c = plain;
	int err;

	/* opened anew each time: the first reading is what allocates */
	if ((int)specs[1].fd < 0)
		return -errno;
	c.specs = specs;
	c.n_specs = 2 + any_supply(&specs[2]);
	err = nl_session_new(&nl, &c, &info);
	close(specs[1].fd);
	return err;
}

static bool have_sources(void)
{
	return have_socket() && !make_with_sources();
}

static bool have_running_sources(void)
{
	return have_sources() && !nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info);
}

static struct nl listener;

static bool have_listener(void)
{
	return !nl_open(&listener) &&
	       !nl_talk(&listener, nl_request(&listener, KJOULE_CMD_NOTICE_LISTEN, 0), NULL, NULL);
}

static bool have_socket_and_listener(void)
{
	return have_socket() && have_listener();
}

static bool have_sources_and_listener(void)
{
	return have_sources() && have_listener();
}

static bool have_running_and_listener(void)
{
	return have_sources_and_listener() &&
	       !nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info);
}

static bool have_family(void)
{
	struct nl_config c = plain;

	c.target = KJOULE_TARGET_PROCESS;
	c.pid = getpid();
	c.flags = KJOULE_FLAG_INHERIT;
	return have_socket() && !nl_session_new(&nl, &c, &info) &&
	       !nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info);
}

/* Whose memory is charged. */
static bool have_no_ipc_lock(void)
{
	return have_socket() && caps_use(CAP_ALL & ~CAP(CAP_IPC_LOCK));
}

static bool have_nothing(void)
{
	return true;
}

/*
 * Another process, with all the memory there is, which comes at the worst moment: it opens the
 * device that is not ready yet and keeps it, and reads the files of a session that is not made yet.
 */
static pthread_t onlooker;
static volatile bool looking;
static volatile bool has_opened;

static void read_session(const char *name)
{
	char path[300], text[64];
	int fd;

	snprintf(path, sizeof(path), SYSFS "/%s/state", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text)) < 0 && errno != ENODEV)
		ktap_diag("%s: %s", path, strerror(errno));
	close(fd);
}

static void *look_at_files(void *unused)
{
	struct dirent *d;
	DIR *dir;

	while (looking) {
		dir = opendir(SYSFS);
		while (dir && (d = readdir(dir))) {
			if (!strncmp(d->d_name, "session", 7) && strcmp(d->d_name, "sessions"))
				read_session(d->d_name);
		}
		if (dir)
			closedir(dir);
	}
	return unused;
}

static void *look_at_device(void *unused)
{
	int fd = -1;

	while (looking) {
		if (fd < 0)
			fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC);
		has_opened = fd >= 0;
	}
	close(fd);
	return unused;
}

static bool have_onlooker(void *(*look)(void *))
{
	has_opened = false;
	looking = true;
	return !pthread_create(&onlooker, NULL, look, NULL);
}

static void send_away(void)
{
	if (looking) {
		looking = false;
		pthread_join(onlooker, NULL);
	}
}

static bool have_opener(void)
{
	return have_onlooker(look_at_device);
}

static bool have_socket_and_reader(void)
{
	return have_socket() && have_onlooker(look_at_files);
}

/* Operations: 0 or -errno. What has been got is given back by tidy_up(). */

static int do_load(void)
{
	int err = module_load_image(image, image_bytes);

	if (err && has_opened)
		ktap_not_ok("no process has opened the device of a module that did not come up");
	return err;
}

static int do_open(void)
{
	dev.fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC);
	return dev.fd < 0 ? -errno : 0;
}

static int do_info(void)
{
	static struct kjoule_info answer;

	answer = (struct kjoule_info){ .size = sizeof(answer) };
	return ioctl(dev.fd, KJOULE_IOC_INFO, &answer) ? -errno : 0;
}

static int do_attach(void)
{
	return device_attach(dev.fd, info.id, NULL);
}

static int do_ring(void)
{
	static struct kjoule_ring answer;

	answer = (struct kjoule_ring){ .size = sizeof(answer) };
	return ioctl(dev.fd, KJOULE_IOC_RING, &answer) ? -errno : 0;
}

static int do_map(void)
{
	return device_map(&dev);
}

static int do_read(void)
{
	static uint8_t buffer[1 << 12];

	return read(dev.fd, buffer, sizeof(buffer)) < 0 ? -errno : 0;
}

static int do_session_new(void)
{
	return nl_session_new(&nl, &plain, &info);
}

static int do_session_new_named(void)
{
	struct nl_config c = plain;

	c.target = KJOULE_TARGET_PROCESS;
	c.pid = getpid();
	c.cpus = 1;
	c.energy = "";
	c.frequency = "";
	return nl_session_new(&nl, &c, &info);
}

static int do_session_new_family(void)
{
	struct nl_config c = plain;

	c.target = KJOULE_TARGET_PROCESS;
	c.pid = getpid();
	c.flags = KJOULE_FLAG_INHERIT;
	return nl_session_new(&nl, &c, &info);
}

static int do_session_new_cgroup(void)
{
	struct nl_config c = plain;
	int err;

	c.target = KJOULE_TARGET_CGROUP;
	c.cgroup_fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c.cgroup_fd < 0)
		return -errno;
	err = nl_session_new(&nl, &c, &info);
	close(c.cgroup_fd);
	return err;
}

static int do_session_new_chains(void)
{
	struct nl_config c = plain;

	c.flags = KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN | KJOULE_FLAG_USER_STACK;
	c.stack_bytes = 4096;
	return nl_session_new(&nl, &c, &info);
}

/*
 * What there is nothing for here, no counter that moves and no meter that starts: all is got, and
 * given back.
 */
static int unless_refused(int err)
{
	return err == -EOPNOTSUPP || err == -ENOENT || err == -EINVAL ? 0 : err;
}

static int do_session_new_edges(void)
{
	struct nl_config c = plain;

	c.edges = true;
	c.edge_duty = 100;
	return unless_refused(nl_session_new(&nl, &c, &info));
}

static int do_session_new_vpm(void)
{
	struct nl_config c = plain;

	c.vpm = true;
	return unless_refused(nl_session_new(&nl, &c, &info));
}

static int do_block(void)
{
	struct nl_block block =
		{ .pid = getpid(), .start = (uintptr_t)do_block, .next = (uintptr_t)do_block + 1 };
	int ret = nl_session_block(&nl, info.id, &block);

	return ret < 0 ? unless_refused(ret) : 0;
}

/*
 * A child that the session has to remember. It shares this one's memory: none of that is to fail.
 */
static int do_fork(void)
{
	pid_t pid = vfork();
	int err = pid < 0 ? errno : 0;

	if (!pid)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return err == EAGAIN ? -ENOMEM : -err;
}

static int do_command(uint8_t cmd)
{
	return nl_session_do(&nl, cmd, info.id, cmd == KJOULE_CMD_SESSION_DEL ? NULL : &info);
}

static int do_start(void)
{
	return do_command(KJOULE_CMD_SESSION_START);
}

static int do_stop(void)
{
	return do_command(KJOULE_CMD_SESSION_STOP);
}

static int do_get(void)
{
	return do_command(KJOULE_CMD_SESSION_GET);
}

static int do_del(void)
{
	return do_command(KJOULE_CMD_SESSION_DEL);
}

static int do_close(void)
{
	nl_close(&nl);
	return 0;
}

static int do_dump_sessions(void)
{
	static struct nl_session all[4];
	int n = nl_session_dump(&nl, all, 4);

	return n < 0 ? n : 0;
}

static int do_dump_stats(void)
{
	static struct nl_stats all[NL_MAX_CPUS];
	int n = nl_stats(&nl, info.id, all, NL_MAX_CPUS);

	return n < 0 ? n : 0;
}

static int do_dump_sources(void)
{
	static struct nl_source all[16];
	int n = nl_source_dump(&nl, all, 16);

	return n < 0 ? n : 0;
}

static int do_get_source(void)
{
	struct nlmsghdr *request = nl_request(&nl, KJOULE_CMD_SOURCE_GET, 0);

	mnl_attr_put_u32(request, KJOULE_A_SOURCE_ID, 1);
	return nl_talk(&nl, request, NULL, NULL);
}

static int do_drain(void)
{
	struct nlmsghdr *request = nl_request(&nl, KJOULE_CMD_RECORDS_GET, NLM_F_DUMP);

	mnl_attr_put_u32(request, KJOULE_A_RECORDS_SESSION, info.id);
	return nl_talk(&nl, request, NULL, NULL);
}

static int do_listen(void)
{
	return nl_talk(&nl, nl_request(&nl, KJOULE_CMD_NOTICE_LISTEN, 0), NULL, NULL);
}

/* That there is no value is no fault of memory. */
static bool is_told_by_value(int err)
{
	const char *base = strrchr(file_name, '/');

	return !strcmp(base, "/value") && (err == ENODATA || err == ENODEV || err == ENXIO);
}

static int do_read_file(void)
{
	static char text[1 << 14];
	char path[sizeof(file[0]) + 16];
	int fd, err = 0;
	ssize_t got;

	snprintf(path, sizeof(path), file_name, info.id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		got = read(fd, text, sizeof(text));
		if (got < 0)
			err = is_told_by_value(errno) ? 0 : -errno;
	} while (got > 0);
	close(fd);
	return err;
}

static int do_unload(void)
{
	return module_unload();
}

static const struct operation operations[] = {
	{ "loading the module", have_opener, .run = do_load, .without = true },
	{ "opening the device", have_nothing, .run = do_open },
	{ "asking for limits", have_file, .run = do_info },
	{ "attaching", have_file, .run = do_attach },
	{ "asking for a ring", have_reader, .run = do_ring },
	{ "mapping the rings", have_reader, .run = do_map },
	{ "reading", have_records, .run = do_read },
	{ "listing sources", have_socket, .run = do_dump_sources,
	  .command = KJOULE_CMD_SOURCE_GET },
	{ "asking for a source", have_socket, .run = do_get_source,
	  .command = KJOULE_CMD_SOURCE_GET },
	{ "making a session", have_socket_and_reader, .run = do_session_new,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "making a session of one process on one CPU", have_socket, .run = do_session_new_named,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "making a session that reads a counter and a file", have_socket, .run = make_with_sources,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "making a session of a process and its children", have_socket,
	  .run = do_session_new_family, .command = KJOULE_CMD_SESSION_NEW },
	{ "making a session of a cgroup", have_socket, .run = do_session_new_cgroup,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "making a session with callers", have_socket, .run = do_session_new_chains,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "making a session with edge windows", have_socket, .run = do_session_new_edges,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "making a session with readings of blocks", have_socket, .run = do_session_new_vpm,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "telling a session of a block", have_session, .run = do_block,
	  .command = KJOULE_CMD_SESSION_BLOCK },
	{ "making a session on an account", have_no_ipc_lock, .run = do_session_new,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "making a session with a listener", have_socket_and_listener, .run = do_session_new,
	  .command = KJOULE_CMD_SESSION_NEW },
	{ "forking below a session", have_family, .run = do_fork, .frugal = true },
	{ "starting a session with sources with a listener", have_sources_and_listener,
	  .run = do_start, .command = KJOULE_CMD_SESSION_START },
	{ "ending a session with sources with a listener", have_running_and_listener, .run = do_del,
	  .command = KJOULE_CMD_SESSION_DEL },
	{ "starting a session", have_session, .run = do_start,
	  .command = KJOULE_CMD_SESSION_START },
	{ "stopping a session", have_running, .run = do_stop, .command = KJOULE_CMD_SESSION_STOP },
	{ "asking for a session", have_running, .run = do_get, .command = KJOULE_CMD_SESSION_GET },
	{ "listing sessions", have_running, .run = do_dump_sessions,
	  .command = KJOULE_CMD_SESSION_GET },
	{ "listing a session's statistics", have_running, .run = do_dump_stats,
	  .command = KJOULE_CMD_STATS_GET },
	{ "draining a session", have_running, .run = do_drain, .command = KJOULE_CMD_RECORDS_GET },
	{ "asking for notices", have_socket, .run = do_listen,
	  .command = KJOULE_CMD_NOTICE_LISTEN },
	{ "ending a session", have_running, .run = do_del, .command = KJOULE_CMD_SESSION_DEL },
	{ "closing the socket of a session", have_running, .run = do_close, .frugal = true },
	{ "unloading the module", have_nothing, .run = do_unload, .unloads = true, .frugal = true },
};

/* Back to where each operation begins. */
static void tidy_up(void)
{
	caps_use(CAP_ALL);
	send_away();
	nl_close(&listener);
	if (dev.fd >= 0)
		device_close(&dev);
	nl_close(&nl);
	memset(&dev, 0, sizeof(dev));
	dev.fd = -1;
}

static bool file_has(const char *path, const char *text)
{
	static char all[1 << 14];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, all, sizeof(all) - 1);

	close(fd);
	all[got < 0 ? 0 : got] = '\0';
	return strstr(all, text);
}

/* What is there although it should not, or the other way round; NULL if all is well. */
static const char *left_behind(bool module)
{
	struct nl probe;
	int err;

	if (loaded() != module)
		return module ? "the module has gone" : "the module is in sysfs";
	if (module)
		return session_count() ? "a session is left" : NULL;
	if (!access(KJOULE_DEVICE, F_OK) || !access(SYSFS, F_OK))
		return "the device is left";
	if (!access(DEBUGFS, F_OK))
		return "the debugfs folder is left";
	if (file_has("/sys/devices/system/cpu/hotplug/states", "kjoule"))
		return "the CPU hotplug callback is left";
	err = nl_open(&probe);
	if (!err)
		nl_close(&probe);
	return err == -ENOENT ? NULL : "the netlink family is left";
}

static bool with_module(bool wanted)
{
	if (loaded() == wanted)
		return true;
	return !(wanted ? module_load_image(image, image_bytes) : module_unload());
}

static const struct bed bed = { with_module, tidy_up, left_behind };

static int find_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	char session[24];
	const char *rest;

	(void)at;
	/* what the driver core has of each device is not ours */
	if (type != FTW_F || !(st->st_mode & 0400) || strstr(path, "/power/"))
		return 0;
	if (n_files == MAX_FILES)
		return 1;
	/* each attempt has a session of its own */
	snprintf(session, sizeof(session), "/session%u/", info.id);
	rest = strstr(path, session);
	if (rest)
		snprintf(file[n_files++], sizeof(file[0]), "%.*s/session%%u/%s", (int)(rest - path),
			 path, rest + strlen(session));
	else
		snprintf(file[n_files++], sizeof(file[0]), "%s", path);
	return 0;
}

/* All files in a folder and below, while a session runs, so that no new one is forgotten. */
static void try_files(const char *folder)
{
	static const struct operation op =
		{ "reading a file", have_running_sources, .run = do_read_file };
	char name[sizeof(file[0]) + 16];
	bool all;

	n_files = 0;
	all = with_module(true) && have_running_sources() && !nftw(folder, find_file, 8, FTW_PHYS);
	tidy_up();
	if (!ktap_check(all && n_files, "%s has files, and room for them is here (%u)", folder, n_files))
		return;
	for (file_name = file[0]; file_name < file[n_files]; file_name += sizeof(file[0])) {
		snprintf(name, sizeof(name), "reading %s", file_name);
		faults_try(&op, name, &bed);
	}
}

static void check_session_afterwards(void)
{
	struct walk walk[NL_MAX_CPUS];
	unsigned int i;

	if (!ktap_check(with_module(true) && !nl_open(&nl), "the module can be used afterwards") ||
	    !session_begin(&nl, &plain, &info, &dev, walk))
		return;
	for (i = 0; i < 10; i++) {
		sleep_ms(20);
		drain_map(&dev, walk);
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&dev, walk);
	check_stats("a session afterwards", &nl, &info, &dev, walk);
	tidy_up();
}

/* With arguments only the operations that have one of them in their name. */
int main(int argc, char **argv)
{
	if (!fail_prepare())
		ktap_skip_all("the kernel cannot make allocations fail; see make check-debug");
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* who asks for a family that is not there makes the kernel start modprobe */
	fail_put("/proc/sys/kernel/modprobe", "\n");
	image = module_image(&image_bytes);
	dev.fd = -1;
	if (!image || !with_module(true)) {
		ktap_not_ok("the module, to load it");
		return ktap_end();
	}
	fail_begin();
	faults_try_all(operations, sizeof(operations) / sizeof(operations[0]), &bed, argc, argv);
	if (argc < 2) {
		try_files(SYSFS "/.");
		try_files(DEBUGFS);
		/*
		 * but for the one that is only reported, and those that need frequencies:
		 * test_alloc_probe
		 */
		ktap_check_equal((1 << KJOULE_CMD_TRANSITION_NEW) - 2 - (1 << KJOULE_CMD_NOTICE),
				 faults_commands(),
				 "every netlink command of sources and sessions was tried");
	}
	fail_end();
	check_session_afterwards();
	/* before its functions lose their names; the guest looks again after the module has gone */
	ktap_check(!faults_leaks(), "no memory was lost");
	ktap_check(with_module(false) && !left_behind(false), "unloaded, it leaves nothing");
	with_module(true);
	return ktap_end();
}
