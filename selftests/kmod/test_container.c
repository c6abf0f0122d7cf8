// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Capabilities that a container gives are worth nothing here: root of a user namespace, with or
 * without a network namespace of its own, is refused every command, dump, the group of notices,
 * the device, the statistics in sysfs and in debugfs, though their modes be opened to everybody,
 * and so is who has CAP_NET_ADMIN alone.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ktap.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"
#include "who.h"

#define MAX_OPENED	8

/* Files and folders that everybody may try for the time being, and the modes to go back to. */
static struct opened {
	char path[128];
	mode_t mode;
} opened[MAX_OPENED];
static unsigned int n_opened;

static char due[64];		/* the session's ticks, in sysfs */
static const char *no_debugfs;	/* why there are no tables to open */
static int device = -1;		/* opened by root */

/* As an administrator might: more bits for everybody. */
static void open_to_all(const char *path, mode_t bits)
{
	struct opened *o = &opened[n_opened];
	struct stat st;

	if (n_opened == MAX_OPENED || stat(path, &st) || chmod(path, (st.st_mode & 07777) | bits)) {
		ktap_not_ok("%s is opened to everybody", path);
		return;
	}
	snprintf(o->path, sizeof(o->path), "%s", path);
	o->mode = st.st_mode & 07777;
	n_opened++;
}

static void close_again(void)
{
	while (n_opened--)
		chmod(opened[n_opened].path, opened[n_opened].mode);
}

static void check_files(const char *who)
{
	struct kjoule_info info = { .size = sizeof(info) };

	check_errno(EPERM, try_open(KJOULE_DEVICE, O_RDWR), who, "open of the device, mode 0666");
	check_errno(EPERM, try_open(KJOULE_DEVICE, O_RDONLY), who, "open of the device for reading");
	check_errno(EPERM, try_read(due), who, "a session's statistics in sysfs, mode 0444");
	check_errno(0, try_read("/sys/class/misc/kjoule/sessions"), who,
		    "what is for everybody in sysfs");
	if (no_debugfs)
		ktap_skip("open of the tables", no_debugfs);
	else
		check_errno(EPERM, try_open(STATISTICS, O_RDONLY), who, "open of the tables, mode 0444");
	/* a descriptor that was handed in lets see the limits, and no session */
	check_errno(0, ioctl(device, KJOULE_IOC_INFO, &info) ? -errno : 0, who, "limits by root's open device");
	check_errno(EACCES, device_attach(device, theirs, NULL), who, "attaching root's open device");
}

static void in_user_namespace(void)
{
	struct nl own;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    unshare(CLONE_NEWUSER)) {
		ktap_skip("root of a user namespace", NO_USER_NAMESPACE);
		return;
	}
	check_errno(0, nl_open(&own), "root of a user namespace", "the family can be found");
	check_commands(&own, "root of a user namespace");
	check_commands(&nl, "root of a user namespace with a socket of root's");
	check_join(&own, "root of a user namespace");
	check_files("root of a user namespace");
}

/* The container's CAP_NET_ADMIN is that of its own network. */
static void in_container(void)
{
	struct nl own;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		ktap_skip("a container", NO_USER_NAMESPACE ", and CONFIG_NET_NS");
		return;
	}
	check_errno(ENOENT, nl_open(&own), "root of a container", "the family is not there");
	check_commands(&nl, "root of a container with a socket of root's");
	check_join(&nl, "root of a container with a socket of root's");
	check_files("root of a container");
}

/* The same of the machine's own network: it configures networks, not energy. */
static void with_net_admin(void)
{
	struct nl own;

	if (!become(NOBODY, CAP(CAP_NET_ADMIN) | CAP(CAP_DAC_OVERRIDE)) || nl_open(&own)) {
		ktap_not_ok("becoming a user with CAP_NET_ADMIN");
		return;
	}
	check_commands(&own, "CAP_NET_ADMIN alone");
	check_commands(&nl, "CAP_NET_ADMIN with a socket of root's");
	check_join(&own, "CAP_NET_ADMIN alone");
	check_files("CAP_NET_ADMIN alone");
}

int main(void)
{
	struct nl_session s;

	need_module();
	need_root();
	no_debugfs = lacks_debugfs();
	device = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC);
	if (nl_open(&nl) ||
	    nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000 }, &s) || device < 0) {
		ktap_not_ok("a session to be refused: %s", nl.why);
		return ktap_end();
	}
	theirs = s.id;
	has_group = find_group();
	snprintf(due, sizeof(due), "/sys/class/misc/kjoule/session%u/due", theirs);
	open_to_all(KJOULE_DEVICE, 0666);
	open_to_all(due, 0444);
	if (!no_debugfs) {
		open_to_all("/sys/kernel/debug", 0555);
		open_to_all("/sys/kernel/debug/kjoule", 0555);
		open_to_all(STATISTICS, 0444);
	}
	in_child(in_user_namespace);
	in_child(in_container);
	in_child(with_net_admin);
	close_again();
	ktap_check(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, theirs, &s) &&
		   s.state == KJOULE_SESSION_NEW,
		   "the session that was asked for is as it was");
	ktap_check_equal(1, session_count(), "no other session is left");
	close(device);
	nl_close(&nl);
	return ktap_end();
}
