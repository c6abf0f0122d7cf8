// SPDX-License-Identifier: GPL-2.0-only
/*
 * See restore.h. The file comes as a descriptor that is open for writing, so that its opener's
 * permission counts and no path is looked up in the kernel; it is opened again for the module
 * alone. Owners are netlink sockets, see netlink/socket.c.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/magic.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "method/transition/restore.h"

/**
 * struct entry - a value to be restored
 * @node:	in @entries, the last one first
 * @owner:	its owner
 * @file:	the file, opened privately
 * @text:	what to write
 */
struct entry {
	struct list_head node;
	u64 owner;
	struct file *file;
	char text[KJOULE_RESTORE_LEN];
};

static DEFINE_MUTEX(entries_lock);	/* no lock nests inside, nothing is written under it */
static LIST_HEAD(entries);
static LIST_HEAD(waiting);		/* for their policy's CPUs, or memory */

static void restore_retry_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(again, restore_retry_work);

/* Not tuned: nothing waits for it, and the policy stays offline until a user changes that. */
#define AGAIN	HZ

/* Only .../cpufreq/policyN/NAME may be registered to be written later. */
static bool restore_is_policy_file(const struct file *file)
{
	struct dentry *policy = dget_parent(file->f_path.dentry), *cpufreq = dget_parent(policy);
	bool is = !strncmp(policy->d_name.name, "policy", 6) &&
		  !strcmp(cpufreq->d_name.name, "cpufreq");

	dput(cpufreq);
	dput(policy);
	return is;
}

/* The write uses the opener's credentials: the caller needs the same rights. */
static bool restore_has_rights_of(const struct cred *opener)
{
	return uid_eq(opener->euid, current_euid()) &&
	       cap_issubset(opener->cap_effective, current_cred()->cap_effective);
}

static const char *restore_refusal(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	if (inode->i_sb->s_magic != SYSFS_MAGIC || !S_ISREG(inode->i_mode) ||
	    !restore_is_policy_file(file))
		return "the descriptor is not of a file of a cpufreq policy in sysfs";
	if (!(file->f_mode & FMODE_WRITE))
		return "the descriptor is not open for writing";
	if (!restore_has_rights_of(file->f_cred))
		return "the file was opened by a user with other rights";
	return NULL;
}

static struct file *restore_reopen(unsigned int fd, const char **why)
{
	struct file *given = fget(fd), *file;

	if (!given) {
		*why = "there is no open file with that descriptor";
		return ERR_PTR(-EBADF);
	}
	*why = restore_refusal(given);
	file = *why ? ERR_PTR(-EINVAL) :
		      dentry_open(&given->f_path, O_WRONLY | O_NONBLOCK, given->f_cred);
	fput(given);
	return file;
}

static unsigned int restore_count_owned(u64 owner)
{
	struct entry *e;
	unsigned int n = 0;

	lockdep_assert_held(&entries_lock);
	list_for_each_entry(e, &entries, node)
		n += e->owner == owner;
	return n;
}

/**
 * kjoule_restore_add() - register a value to be written when the owner goes
 * @owner:	number of the owner
 * @fd:		of a file of sysfs, open for writing, one of the caller's descriptors
 * @text:	what to write
 * @why:	set to the reason of an error
 * Return: 0, -EBADF, -EINVAL (invalid file, or text too long), -EUSERS (too many), -ENOMEM, or the
 * error of opening the file
 */
int kjoule_restore_add(u64 owner, unsigned int fd, const char *text, const char **why)
{
	struct entry *e;
	int err;

	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return -ENOMEM;
	e->owner = owner;
	if (strscpy(e->text, text, sizeof(e->text)) < 0) {
		*why = "the value is too long";
		err = -EINVAL;
		goto err_free;
	}
	e->file = restore_reopen(fd, why);
	if (IS_ERR(e->file)) {
		err = PTR_ERR(e->file);
		goto err_free;
	}
	mutex_lock(&entries_lock);
	err = restore_count_owned(owner) < KJOULE_RESTORE_MAX ? 0 : -EUSERS;
	if (!err)
		list_add(&e->node, &entries);
	mutex_unlock(&entries_lock);
	if (!err)
		return 0;
	*why = "there are as many files to be restored as may be";
	fput(e->file);
err_free:
	kfree(e);
	return err;
}

/* Retry while all CPUs of a policy are offline (it takes no governor) and without memory. */
static bool restore_may_retry(int err)
{
	return err == -EBUSY || err == -ENOMEM;
}

/* Use the opener's credentials: the closing process may have fewer by now. */
static int restore_write_entry(struct entry *e)
{
	const struct cred *own = override_creds(e->file->f_cred);
	loff_t pos = 0;
	ssize_t put = kernel_write(e->file, e->text, strlen(e->text), &pos);

	revert_creds(own);
	if (put >= 0)
		return 0;
	if (!restore_may_retry(put))
		pr_notice_ratelimited("kjoule: %pd2 is not what it was, \"%*pE\" (error %zd)\n",
				      e->file->f_path.dentry, (int)strlen(e->text), e->text, -put);
	return put;
}

static void restore_defer_entry(struct entry *e)
{
	mutex_lock(&entries_lock);
	list_add_tail(&e->node, &waiting);
	mutex_unlock(&entries_lock);
	queue_delayed_work(system_dfl_wq, &again, AGAIN);
}

static void restore_free_entry(struct entry *e)
{
	fput(e->file);
	kfree(e);
}

static void restore_retry_work(struct work_struct *work)
{
	struct entry *e, *next;
	LIST_HEAD(some);

	mutex_lock(&entries_lock);
	list_splice_init(&waiting, &some);
	mutex_unlock(&entries_lock);
	list_for_each_entry_safe(e, next, &some, node) {
		list_del(&e->node);
		if (restore_may_retry(restore_write_entry(e)))
			restore_defer_entry(e);
		else
			restore_free_entry(e);
	}
}

static struct entry *restore_unlink_entry(u64 owner, bool any)
{
	struct entry *e;

	mutex_lock(&entries_lock);
	list_for_each_entry(e, &entries, node) {
		if (!any && e->owner != owner)
			continue;
		list_del(&e->node);
		mutex_unlock(&entries_lock);
		return e;
	}
	mutex_unlock(&entries_lock);
	return NULL;
}

static int restore_write_all(u64 owner, bool any)
{
	struct entry *e;
	int ret = 0, err;

	while ((e = restore_unlink_entry(owner, any))) {
		err = restore_write_entry(e);
		ret = ret ?: err;
		if (restore_may_retry(err) && !any)
			restore_defer_entry(e);
		else
			restore_free_entry(e);
	}
	return ret;
}

/*
 * kjoule_restore_owned() - write the values of an owner, the last one first. Context: process,
 * sleeps; without locks of the core and of the files' drivers. Return: 0, or the first error; the
 * others are written all the same. After -EBUSY (a policy's CPUs are offline) and -ENOMEM it is
 * retried; other errors are logged with the file.
 */
int kjoule_restore_owned(u64 owner)
{
	return restore_write_all(owner, false);
}

/** kjoule_restore_exit() - write all remaining values, at module exit */
void kjoule_restore_exit(void)
{
	struct entry *e, *next;

	restore_write_all(0, true);
	cancel_delayed_work_sync(&again);
	/* a policy that is still offline is left to the administrator: log its name */
	list_for_each_entry_safe(e, next, &waiting, node) {
		if (restore_write_entry(e))
			pr_notice("kjoule: %pd2 is left as it is\n", e->file->f_path.dentry);
		list_del(&e->node);
		restore_free_entry(e);
	}
}
