/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capabilities of the calling thread, alone: libc's setters change all threads of a process.
 * Used by the tests of who may.
 */
#ifndef KJOULE_SELFTESTS_CAPS_H
#define KJOULE_SELFTESTS_CAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>

#define CAP(x)		(1ULL << (x))
#define CAP_ALL		(CAP(CAP_LAST_CAP + 1) - 1)

/* Why there is none of one's own. */
#define NO_USER_NAMESPACE	"none can be made here: it takes CONFIG_USER_NS, " \
				"user.max_user_namespaces above 0 and " \
				"kernel.unprivileged_userns_clone=1 where there is such"
#define NO_NET_NAMESPACE	"none can be made here: it takes CONFIG_NET_NS and CAP_SYS_ADMIN"

/* Keep only these, in all sets; they do not come back. */
static inline bool caps_keep(uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	return !syscall(SYS_capset, &header, data);
}

/* Those that are used now; none if that is not known. */
static inline uint64_t caps_used(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* Use only these of the permitted ones. */
static inline bool caps_use(uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return false;
	data[0].effective = caps & data[0].permitted;
	data[1].effective = caps >> 32 & data[1].permitted;
	return !syscall(SYS_capset, &header, data);
}

#endif
