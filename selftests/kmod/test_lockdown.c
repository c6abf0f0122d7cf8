// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kernel that is locked down for confidentiality gives no instruction pointer and no energy to
 * anybody: root is refused every command, dump, the notices, the device, the statistics in sysfs
 * and in debugfs, also through what was opened before. Nothing but a boot undoes that, so only a
 * machine that was booted for it is locked down.
 *
 * where: guest
 * vm: --no-chip --cpus 2 --append lockdown_test_allowed=1
 * boot: own
 * timeout: 60
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "../ktap.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"
#include "who.h"

#define SECURITY	"/sys/kernel/security"
#define LOCKDOWN	SECURITY "/lockdown"
#define ALLOWED		"lockdown_test_allowed=1"

static void need_permission(void)
{
	char line[4096] = "";
	FILE *f = fopen("/proc/cmdline", "r");

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	if (!strstr(line, ALLOWED))
		ktap_skip_all("locking a kernel down lasts until the next boot: boot with "
			      ALLOWED " to allow it");
	if (access(LOCKDOWN, W_OK) && mount("securityfs", SECURITY, "securityfs", 0, NULL) &&
	    errno != EBUSY)
		ktap_skip_all("no securityfs: it takes CONFIG_SECURITYFS");
	if (access(LOCKDOWN, W_OK))
		ktap_skip_all("this kernel cannot be locked down: it takes CONFIG_SECURITY_LOCKDOWN_LSM, and lockdown in lsm=");
}

static bool lock_down(void)
{
	static const char how[] = "confidentiality";
	int fd = open(LOCKDOWN, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, how, strlen(how)) == (ssize_t)strlen(how);

	if (fd >= 0)
		close(fd);
	return done;
}

/* By the group: who may join it is the kernel's affair, what is reported is the module's. */
static void check_told(struct nl *member, bool want, const char *who)
{
	struct notice n;

	if (!has_group) {
		ktap_skip("notices", NO_GROUP);
		return;
	}
	ktap_check((notice_wait(member, &n, want ? 20000 : 500) == 1) == want, "%s: %s", who,
		   want ? "the group is notified of a session" : "the group gets nothing");
}

int main(void)
{
	static const char who[] = "root of a kernel that is locked down";
	char due[64];
	struct nl_session s;
	struct nl own, member;
	int sysfs;

	need_permission();
	need_module();
	need_root();
	has_group = !nl_open(&member) && !notice_join(&member);
	if (nl_open(&nl) ||
	    nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000 }, &s)) {
		ktap_not_ok("a session to be refused: %s", nl.why);
		return ktap_end();
	}
	theirs = s.id;
	snprintf(due, sizeof(due), "/sys/class/misc/kjoule/session%u/due", theirs);
	sysfs = open(due, O_RDONLY | O_CLOEXEC);
	check_errno(0, try_read(due), "root", "a session's statistics in sysfs");
	check_errno(0, try_open(KJOULE_DEVICE, O_RDWR), "root", "open of the device");
	nl_session_do(&nl, KJOULE_CMD_SESSION_START, theirs, &s);
	check_told(&member, true, "root");
	if (!ktap_check(lock_down(), "the kernel is locked down"))
		return ktap_end();

	check_errno(0, nl_open(&own), who, "the family can be found");
	check_commands(&own, who);
	check_commands(&nl, "the same with a socket of before");
	check_errno(EPERM, try_open(KJOULE_DEVICE, O_RDWR), who, "open of the device");
	check_errno(EPERM, try_open(KJOULE_DEVICE, O_RDONLY), who, "open of the device for reading");
	check_errno(EPERM, try_read(due), who, "a session's statistics in sysfs");
	check_errno(EPERM, pread(sysfs, due, 1, 0) < 0 ? -errno : 0, who, "the same by a file of before");
	check_errno(EPERM, try_open(STATISTICS, O_RDONLY), who, "open of the tables");
	check_errno(0, try_read("/sys/class/misc/kjoule/sessions"), who,
		    "what is for everybody in sysfs");
	close(sysfs);
	nl_close(&own);
	/* its session ends with it, which no one is notified of any more */
	nl_close(&nl);
	ktap_check(await(session_count() == 0), "the session of before ends with who made it");
	check_told(&member, false, who);
	return ktap_end();
}
