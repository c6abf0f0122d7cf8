/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for rings of each user, in all sessions, and its limit; limits of the number of sessions
 * and listeners. Checked when a session is created or a socket begins to listen.
 */
#ifndef KJOULE_QUOTA_H
#define KJOULE_QUOTA_H

#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * Maximum of sessions, and of listeners; of a user without CAP_SYS_ADMIN, and reserved for users
 * with it. Part of the ABI (Documentation/abi/netlink.rst), not tuned: tick_percent bounds what
 * ticks take of a CPU however many sessions there are.
 */
#define KJOULE_SHARE_ALL	64
#define KJOULE_SHARE_USER	16
#define KJOULE_SHARE_RESERVED	16

/**
 * struct kjoule_share - the existing sessions or listeners
 * @n:		their number, KJOULE_SHARE_ALL at most
 * @user:	the user of each
 */
struct kjoule_share {
	unsigned int n;
	kuid_t user[KJOULE_SHARE_ALL];
};

int kjoule_share_check(const struct kjoule_share *share, kuid_t user, bool admin,
		       const char *things, char *words, size_t len);
int kjoule_quota_charge(kuid_t user, u64 bytes, char *words, size_t len);
void kjoule_quota_uncharge(kuid_t user, u64 bytes);

#endif
