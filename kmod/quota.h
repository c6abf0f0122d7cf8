/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much memory for rings each user has in all his sessions, and may have. Asked when
 * a session is made; sessions know nothing of the limit.
 */
#ifndef KJOULE_QUOTA_H
#define KJOULE_QUOTA_H

#include <linux/types.h>
#include <linux/uidgid.h>

int kjoule_quota_take(kuid_t user, u64 bytes, char *words, size_t len);
void kjoule_quota_give(kuid_t user, u64 bytes);

#endif /* KJOULE_QUOTA_H */
