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
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include <linux/userfaultfd.h>

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
	return nl_session_try(&nl, &(struct nl_config){ .interval_ns = 1000000, .energy = "",
							.specs = specs, .n_specs = n });
}

/* Takes the descriptor. */
static int of_file(int fd)
{
	struct nl_spec specs[] = { any_counter(), any_file() };
	int alone, behind;

	close(specs[1].fd);
	specs[1].fd = fd;
	specs[1].name = "mine";
	alone = try_specs(&specs[1], 1);
	behind = try_specs(specs, 2);
	close(fd);
	if (alone != behind)
		ktap_diag("alone %d, behind another source %d", alone, behind);
	return alone == behind ? alone : -EDOM;
}

/* Takes the descriptor. */
static void refuse(const char *what, int fd, int want)
{
	int got = of_file(fd);

	if (!ktap_check(got == -want, "%s: %s", what, strerrorname_np(want)))
		ktap_diag("descriptor %d, got %s: %s", fd, got ? strerrorname_np(-got) : "success",
			  nl.why);
	ktap_check(strstr(nl.why, "mine"), "%s: the words name the source", what);
}

static void refuse_file(const char *what, const char *path, int flags, int want)
{
	refuse(what, open(path, flags | O_CLOEXEC), want);
}

/* Of a file system that need not be mounted at @root: only then there is nothing to refuse. */
static void refuse_file_of(const char *what, const char *root, long magic, const char *path,
			   int want)
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
	refuse_file_of("a file of debugfs", "/sys/kernel/debug", DEBUGFS_MAGIC,
		       "/sys/kernel/debug/kjoule/statistics", EINVAL);
	refuse_file("a file of procfs", "/proc/sys/kernel/pid_max", O_RDONLY, EINVAL);
	refuse_file_of("a file of tracefs", "/sys/kernel/tracing", TRACEFS_MAGIC,
		       "/sys/kernel/tracing/buffer_size_kb", EINVAL);
	refuse_file_of("a file of cgroup", "/sys/fs/cgroup", CGROUP2_SUPER_MAGIC,
		       "/sys/fs/cgroup/cgroup.controllers", EINVAL);
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

/* A page that comes on request. */
struct late_page {
	int fd;
	void *page;
	int file;		/* that is read into it */
};

static bool late_page_make(struct late_page *l)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register whole =
		{ .mode = UFFDIO_REGISTER_MODE_MISSING, .range.len = getpagesize() };

	l->fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	l->page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	whole.range.start = (uintptr_t)l->page;
	return l->fd >= 0 && l->page != MAP_FAILED && !ioctl(l->fd, UFFDIO_API, &api) &&
	       !ioctl(l->fd, UFFDIO_REGISTER, &whole);
}

static void *read_late(void *arg)
{
	struct late_page *l = arg;

	return (void *)(intptr_t)pread(l->file, l->page, 64, 0);
}

struct deadline {
	pthread_mutex_t lock;
	pthread_cond_t over;
	const struct late_page *l;
	bool done, missed;
};

/* Gives the page at last, so that the test ends whatever happens. */
static void *give_late(void *arg)
{
	struct deadline *d = arg;
	struct uffdio_zeropage zero = { .range = { (uintptr_t)d->l->page, getpagesize() } };
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_NS / 1000000000;
	pthread_mutex_lock(&d->lock);
	while (!d->done && !d->missed)
		d->missed = pthread_cond_timedwait(&d->over, &d->lock, &end);
	pthread_mutex_unlock(&d->lock);
	ioctl(d->l->fd, UFFDIO_ZEROPAGE, &zero);
	return NULL;
}

/* Sysfs keeps a file's lock while what it says is copied to who reads it. */
static void check_held(void)
{
	struct deadline d = { .lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER,
			      .l = NULL };
	struct late_page l = { .file = open(SYSFS_FILE, O_RDONLY | O_CLOEXEC) };
	struct pollfd fault;
	pthread_t reader, giver;
	void *got;
	int made;

	if (!late_page_make(&l)) {
		ktap_skip("a file that another process reads and does not let go",
			  "needs userfaultfd of kernel faults: CONFIG_USERFAULTFD, and vm.unprivileged_userfaultfd or root");
		return;
	}
	d.l = &l;
	pthread_create(&reader, NULL, read_late, &l);
	fault = (struct pollfd){ .fd = l.fd, .events = POLLIN };
	ktap_check(poll(&fault, 1, PATIENCE_NS / 1000000) == 1, "a process reads a file and waits for its memory");
	pthread_create(&giver, NULL, give_late, &d);
	made = of_file(dup(l.file));
	pthread_mutex_lock(&d.lock);
	d.done = true;
	pthread_cond_signal(&d.over);
	pthread_mutex_unlock(&d.lock);
	pthread_join(giver, NULL);
	pthread_join(reader, &got);
	ktap_check(!made && !d.missed, "meanwhile it is taken as a source, without waiting for him");
	ktap_check((intptr_t)got > 0, "and he has what he read");
	close(l.file);
	close(l.fd);
	munmap(l.page, getpagesize());
}

/*
 * Who has a lease on a file is asked to give it up before another opens it, and has 45 s for that.
 */
static void check_lease(void)
{
	int fd = open(SYSFS_FILE, O_RDONLY | O_CLOEXEC);
	uint64_t begun;

	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_WRLCK)) {
		ktap_skip("a file with a lease on it",
			  "this kernel gives no lease on a file of sysfs");
		close(fd);
		return;
	}
	begun = now_ns();
	ktap_check_equal(-EWOULDBLOCK, of_file(dup(fd)), "a file with a lease on it is refused");
	ktap_check(now_ns() - begun < PATIENCE_NS, "without waiting for him");
	close(fd);
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
	check_held();
	check_lease();
	ktap_check_equal(0, session_count(), "what was refused left no session");
	nl_close(&nl);
	return ktap_end();
}
