/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much memory for rings each user has in all his sessions, and may have; and how many he
 * may have of what there are few of. Asked when a session is made or a socket begins to listen;
 * they know nothing of the limits.
 */
#ifndef KJOULE_QUOTA_H
#define KJOULE_QUOTA_H

#include <linux/types.h>
#include <linux/uidgid.h>

/* Of sessions, and of listeners: so many in all, ... */
#define KJOULE_SHARE_ALL	64
/* ... so many for a user without CAP_SYS_ADMIN, and so many kept for who has it. */
#define KJOULE_SHARE_USER	16
#define KJOULE_SHARE_RESERVED	16

/**
 * struct kjoule_share - how many there are of something, and whose they are
 * @n:		so many, KJOULE_SHARE_ALL at most
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

#endif /* KJOULE_QUOTA_H */
