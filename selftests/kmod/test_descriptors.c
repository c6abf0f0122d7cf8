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
#include <unistd.h>

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
	struct nl_session s;
	int err = nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000, .energy = "", .specs = specs,
							   .n_specs = n }, &s);

	if (!err)
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s.id, NULL);
	return err;
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

/* Only a file system that is not mounted has none to refuse. */
static void refuse_file(const char *what, const char *path, int flags, int want)
{
	char name[160];
	int fd = open(path, flags | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT) {
		refuse(what, fd, want);
		return;
	}
	snprintf(name, sizeof(name), "%s: %s: %s", what, path, strerror(errno));
	ktap_skip(what, name);
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
	refuse_file("a file of debugfs", "/sys/kernel/debug/kjoule/books", O_RDONLY, EINVAL);
	refuse_file("a file of procfs", "/proc/sys/kernel/pid_max", O_RDONLY, EINVAL);
	refuse_file("a file of tracefs", "/sys/kernel/tracing/buffer_size_kb", O_RDONLY, EINVAL);
	refuse_file("a file of cgroup", "/sys/fs/cgroup/cgroup.controllers", O_RDONLY, EINVAL);
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
