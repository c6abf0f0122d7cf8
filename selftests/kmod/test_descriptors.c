// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A descriptor that is handed over for a source is refused by name unless it is of a file of
 * sysfs, open for reading, with a number in it, whether it is the only source or comes behind one
 * that is fine; what was refused leaves nothing behind. On any machine.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "../ktap.h"
#include "any_source.h"
#include "guest.h"
#include "need.h"
#include "nl.h"

#define SYSFS_FILE	"/sys/class/misc/kjoule/sessions"
#define SYSFS_WORDS	"/sys/class/misc/kjoule/version"
#define SYSFS_WRITABLE	"/sys/module/kjoule/uevent"

static struct nl nl;

static int try_specs(const struct nl_spec *specs, unsigned int n)
{
	return nl_session_try(&nl, &(struct nl_config){ .interval_ns = 1000000, .energy = "", .specs = specs, .n_specs = n });
}

static int of_file(int fd)
{
	struct nl_spec specs[] = { any_counter(), any_file() };
	int alone, behind;

	close(specs[1].fd);
	specs[1].fd = fd;
	specs[1].name = "mine";
	alone = try_specs(&specs[1], 1);
	behind = try_specs(specs, 2);
	if (alone != behind)
		ktap_diag("alone %d, behind another source %d", alone, behind);
	return alone == behind ? alone : -EDOM;
}

/* Takes the descriptor. */
static void refuse(const char *what, int fd, int want)
{
	int got = of_file(fd);

	if (!ktap_check(got == -want, "%s: %s", what, strerrorname_np(want)))
		ktap_diag("descriptor %d, got %s: %s", fd, got ? strerrorname_np(-got) : "success", nl.why);
	ktap_check(strstr(nl.why, "mine"), "%s: the words name the source", what);
	if (fd >= 0)
		close(fd);
}

static void refuse_file(const char *what, const char *path, int flags, int want)
{
	refuse(what, open(path, flags | O_CLOEXEC), want);
}

/* Of a file system that need not be mounted at @root: only then there is nothing to refuse. */
static void refuse_file_of(const char *what, const char *root, long magic, const char *path, int want)
{
	struct statfs fs;
	char reason[160];

	if (!statfs(root, &fs) && fs.f_type == magic) {
		refuse_file(what, path, O_RDONLY, want);
		return;
	}
	snprintf(reason, sizeof(reason), "nothing of that kind is mounted at %s: mount it", root);
	ktap_skip(what, reason);
}

static void check_other_file_systems(void)
{
	int tmp = memfd_create("value", MFD_CLOEXEC), fds[2];
	FILE *f = tmpfile();

	dprintf(tmp, "123\n");
	refuse("a file in memory", tmp, EINVAL);
	if (f) {
		fprintf(f, "123\n");
		fflush(f);
		refuse("a file of another file system", dup(fileno(f)), EINVAL);
		fclose(f);
	}
	refuse_file_of("a file of debugfs", "/sys/kernel/debug", DEBUGFS_MAGIC, "/sys/kernel/debug/kjoule/books", EINVAL);
	refuse_file("a file of procfs", "/proc/sys/kernel/pid_max", O_RDONLY, EINVAL);
	refuse_file_of("a file of tracefs", "/sys/kernel/tracing", TRACEFS_MAGIC, "/sys/kernel/tracing/buffer_size_kb",
		       EINVAL);
	refuse_file_of("a file of cgroup", "/sys/fs/cgroup", CGROUP2_SUPER_MAGIC, "/sys/fs/cgroup/cgroup.controllers",
		       EINVAL);
	refuse_file("a device", "/dev/zero", O_RDONLY, EINVAL);
	refuse_file("the module's own device", "/dev/kjoule", O_RDWR, EINVAL);
	refuse("a socket", socket(AF_UNIX, SOCK_STREAM, 0), EINVAL);
	refuse("an eventfd", eventfd(1, 0), EINVAL);
	if (!pipe(fds)) {
		refuse("a pipe", fds[0], EINVAL);
		close(fds[1]);
	}
}

static void check_sysfs(void)
{
	int closed = dup(1);

	refuse_file("a directory of sysfs", "/sys/class", O_RDONLY | O_DIRECTORY, EINVAL);
	refuse_file("a file of sysfs that is open for writing only", SYSFS_WRITABLE, O_WRONLY, EINVAL);
	refuse_file("a file of sysfs that is only located", SYSFS_FILE, O_PATH, EBADF);
	refuse_file("a file of sysfs with words", SYSFS_WORDS, O_RDONLY, ENODEV);
	close(closed);
	refuse("a descriptor that is closed", closed, EBADF);
	refuse("descriptor -1", -1, EBADF);
	ktap_check_equal(0, of_file(open(SYSFS_FILE, O_RDONLY | O_CLOEXEC)), "and one with a number is taken");
}

int main(void)
{
	need_module();
	if (nl_open(&nl)) {
		ktap_not_ok("the family");
		return ktap_end();
	}
	check_other_file_systems();
	check_sysfs();
	ktap_check_equal(0, session_count(), "what was refused left no session");
	nl_close(&nl);
	return ktap_end();
}
