// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quotas; see quota.h. The limit is like perf's: an allowance for each CPU and what the user may
 * lock anyway. It has its own account, not that of locked memory which perf keeps for each user,
 * because the user's perf buffers (sideband records) would find that used up.
 */
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <linux/user_namespace.h>

#include "session/quota.h"

/*
 * KJOULE_SHARE_USER sessions with rings of KJOULE_RING_DEFAULT and two pages each, or one or two
 * with copies of the stack.
 */
static unsigned int ring_kib_per_cpu = 16 * (1024 + 8);
module_param(ring_kib_per_cpu, uint, 0644);
MODULE_PARM_DESC(ring_kib_per_cpu,
		 "Memory for rings that each user without CAP_IPC_LOCK may have for each CPU, KiB");

struct account {
	struct list_head node;
	kuid_t user;
	u64 bytes;
};

static DEFINE_MUTEX(accounts_lock);
static LIST_HEAD(accounts);

static u64 quota_limit_bytes(void)
{
	u64 locked = rlimit(RLIMIT_MEMLOCK);
	u64 allowed = (u64)READ_ONCE(ring_kib_per_cpu) * SZ_1K * num_online_cpus();

	return locked == RLIM_INFINITY || locked + allowed < locked ? U64_MAX : locked + allowed;
}

static struct account *account_find(kuid_t user)
{
	struct account *a;

	lockdep_assert_held(&accounts_lock);
	list_for_each_entry(a, &accounts, node) {
		if (uid_eq(a->user, user))
			return a;
	}
	return NULL;
}

static struct account *account_get(kuid_t user)
{
	struct account *a = account_find(user);

	if (a)
		return a;
	a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	if (!a)
		return NULL;
	a->user = user;
	list_add_tail(&a->node, &accounts);
	return a;
}

static void account_free_if_empty(struct account *a)
{
	if (a->bytes)
		return;
	list_del(&a->node);
	kfree(a);
}

static unsigned int quota_count_user(const struct kjoule_share *share, kuid_t user)
{
	unsigned int i, n = 0;

	for (i = 0; i < share->n; i++)
		n += uid_eq(share->user[i], user);
	return n;
}

/**
 * kjoule_share_check() - may a user have one more of something?
 * @share:	existing ones; the caller's lock keeps others from adding
 * @user:	the user
 * @admin:	the user has CAP_SYS_ADMIN, and may use all
 * @things:	their name in the plural; nine letters at most, see KJOULE_WORDS_LEN
 * @words:	set to the reason of an error
 * @len:	of @words
 * Return: 0 or -EUSERS
 */
int kjoule_share_check(const struct kjoule_share *share, kuid_t user, bool admin,
		       const char *things, char *words, size_t len)
{
	unsigned int most = admin ? KJOULE_SHARE_ALL : KJOULE_SHARE_USER;
	unsigned int all = KJOULE_SHARE_ALL - (admin ? 0 : KJOULE_SHARE_RESERVED);
	unsigned int own = quota_count_user(share, user), i, n, greatest = 0;
	static const char kept[] = ", " __stringify(KJOULE_SHARE_RESERVED) " kept";
	kuid_t whose = user;

	if (own < most && share->n < all)
		return 0;
	for (i = 0; i < share->n; i++) {
		n = quota_count_user(share, share->user[i]);
		if (n > greatest) {
			greatest = n;
			whose = share->user[i];
		}
	}
	snprintf(words, len, "you have %u of %u %s, all %u of %u%s; uid %u has most: %u", own, most,
		 things, share->n, KJOULE_SHARE_ALL, admin ? "" : kept,
		 from_kuid_munged(&init_user_ns, whose), greatest);
	return -EUSERS;
}

/**
 * kjoule_quota_charge() - charge a user for memory of rings
 * @user:	the user; the caller's RLIMIT_MEMLOCK applies
 * @bytes:	at least 1
 * @words:	set to the reason of an error
 * @len:	of @words
 * Return: 0, -EDQUOT above the user's limit, -ENOMEM
 */
int kjoule_quota_charge(kuid_t user, u64 bytes, char *words, size_t len)
{
	u64 limit = quota_limit_bytes();
	struct account *a;
	int err = 0;

	mutex_lock(&accounts_lock);
	a = account_get(user);
	if (!a) {
		err = -ENOMEM;
	} else if (bytes > limit || a->bytes > limit - bytes) {
		snprintf(words, len,
			 "rings of %llu KiB: you may have %llu, %llu in use (ulimit -l)",
			 bytes / SZ_1K, limit / SZ_1K, a->bytes / SZ_1K);
		err = -EDQUOT;
		account_free_if_empty(a);
	} else {
		a->bytes += bytes;
	}
	mutex_unlock(&accounts_lock);
	return err;
}

/* kjoule_quota_uncharge() - undo kjoule_quota_charge(). @bytes: amount charged, or 0. */
void kjoule_quota_uncharge(kuid_t user, u64 bytes)
{
	struct account *a;

	if (!bytes)
		return;
	mutex_lock(&accounts_lock);
	a = account_find(user);
	if (!WARN_ON(!a)) {
		a->bytes -= bytes;
		account_free_if_empty(a);
	}
	mutex_unlock(&accounts_lock);
}
