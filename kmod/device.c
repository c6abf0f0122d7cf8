// SPDX-License-Identifier: GPL-2.0-only
/*
 * Front end for bulk data, /dev/kjoule: an open file is attached to one session and then maps,
 * polls or reads its rings. Sessions are controlled by netlink.c.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "device.h"
#include "sampler/callchain.h"
#include "session/list.h"
#include "session/session.h"
#include "sysfs/sysfs.h"

/**
 * struct reader - an open file
 * @lock:	serialises read() and attaching
 * @session:	NULL until attached, then for good
 * @turn:	the ring that the next read() begins with, so that none starves
 */
struct reader {
	struct mutex lock;	/* see above */
	struct kjoule_session *session;
	unsigned int turn;
};

/* Rings lie one after another in the file: head page, data, tail page. */
static u64 device_ring_stride(const struct kjoule_session *s)
{
	return s->config.ring_bytes + 2 * PAGE_SIZE;
}

static bool ready;

static int device_open(struct inode *inode, struct file *file)
{
	struct reader *r;
	int err;

	/* module init may still fail: no file may be open then */
	if (!smp_load_acquire(&ready))	/* pairs with kjoule_device_set_ready() */
		return -ENODEV;
	if (!perfmon_capable())
		return -EPERM;
	err = security_locked_down(LOCKDOWN_PERF);
	if (err)
		return err;
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return -ENOMEM;
	mutex_init(&r->lock);
	file->private_data = r;
	return nonseekable_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	struct reader *r = file->private_data;

	if (r->session) {
		kjoule_session_detach(r->session);
		kjoule_session_put(r->session);
	}
	mutex_destroy(&r->lock);
	kfree(r);
	return 0;
}

/* Copy in a structure that begins with its size. See copy_struct_from_user(). */
static int ioctl_copy_in(void *to, size_t known, const void __user *from, u32 *size)
{
	if (get_user(*size, (const u32 __user *)from))
		return -EFAULT;
	if (*size < 2 * sizeof(u32))
		return -EINVAL;
	if (*size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(to, known, from, *size);
}

static int ioctl_copy_out(void __user *to, void *from, size_t known, u32 size)
{
	*(u32 *)from = size;
	return copy_to_user(to, from, min_t(size_t, known, size)) ? -EFAULT : 0;
}

static int device_ioctl_info(void __user *arg)
{
	struct kjoule_info info;
	u32 size;
	int err = ioctl_copy_in(&info, sizeof(info), arg, &size);

	if (err)
		return err;
	if (memchr_inv((u8 *)&info + sizeof(u32), 0, sizeof(info) - sizeof(u32)))
		return -EINVAL;
	info = (struct kjoule_info){
		.abi = KJOULE_ABI_VERSION,
		.min_interval_ns = KJOULE_INTERVAL_MIN_NS,
		.max_interval_ns = KJOULE_INTERVAL_MAX_NS,
		.min_ring_bytes = KJOULE_RING_MIN,
		.max_ring_bytes = KJOULE_RING_MAX,
		.default_ring_bytes = KJOULE_RING_DEFAULT,
		.version = KJOULE_VERSION,
	};
	return ioctl_copy_out(arg, &info, sizeof(info), size);
}

/*
 * May the caller read the session's records? Another user with access to the device could consume
 * them and see what is measured.
 */
static int device_check_reader(const struct kjoule_session *s)
{
	if (!uid_eq(s->creator, current_euid()) && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	/* the creator may see kernel addresses: the reader needs the same rights */
	if (s->plan.kernel_ip && !capable(CAP_PERFMON) && !capable(CAP_SYSLOG))
		return -EPERM;
	/* likewise the stacks of all processes */
	if (s->plan.stacks.any && !capable(CAP_SYS_PTRACE) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	return 0;
}

static int device_ioctl_attach(struct reader *r, void __user *arg)
{
	struct kjoule_attach attach;
	struct kjoule_session *s;
	u32 size;
	int err = ioctl_copy_in(&attach, sizeof(attach), arg, &size);

	if (err)
		return err;
	if (attach.flags || attach.reserved || attach.cpus || attach.reserved2)
		return -EINVAL;
	mutex_lock(&r->lock);
	err = -EBUSY;
	if (r->session)
		goto out;
	err = -ENOENT;
	s = kjoule_session_get(attach.session);
	if (!s)
		goto out;
	err = device_check_reader(s) ?: kjoule_session_attach(s);
	if (err) {
		kjoule_session_put(s);
		goto out;
	}
	attach.cpus = s->n;
	err = ioctl_copy_out(arg, &attach, sizeof(attach), size);
	if (err) {
		kjoule_session_detach(s);
		kjoule_session_put(s);
		goto out;
	}
	/* A, pairs with B in device_reader_session(): the session is published fully attached */
	smp_store_release(&r->session, s);
out:
	mutex_unlock(&r->lock);
	return err;
}

/* Does not change once it is set. */
static struct kjoule_session *device_reader_session(struct reader *r)
{
	return smp_load_acquire(&r->session);	/* B, pairs with A in device_ioctl_attach() */
}

static int device_ioctl_ring(struct reader *r, void __user *arg)
{
	struct kjoule_session *s = device_reader_session(r);
	struct kjoule_ring ring;
	u32 size;
	int err = ioctl_copy_in(&ring, sizeof(ring), arg, &size);

	if (err)
		return err;
	if (!s)
		return -ENOTCONN;
	if (ring.index >= s->n || ring.cpu || ring.reserved || ring.head_offset ||
	    ring.tail_offset || ring.data_size)
		return -EINVAL;
	ring.cpu = s->sampler[ring.index]->cpu;
	ring.head_offset = ring.index * device_ring_stride(s);
	ring.tail_offset = ring.head_offset + PAGE_SIZE + s->config.ring_bytes;
	ring.data_size = s->config.ring_bytes;
	return ioctl_copy_out(arg, &ring, sizeof(ring), size);
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct reader *r = file->private_data;

	switch (cmd) {
	case KJOULE_IOC_INFO:
		return device_ioctl_info((void __user *)arg);
	case KJOULE_IOC_ATTACH:
		return device_ioctl_attach(r, (void __user *)arg);
	case KJOULE_IOC_RING:
		return device_ioctl_ring(r, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kjoule_session *s = device_reader_session(file->private_data);
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT, index, within;

	if (!s)
		return -ENOTCONN;
	index = div64_u64_rem(offset, device_ring_stride(s), &within);
	if (index >= s->n)
		return -EINVAL;
	if (!within)
		return kjoule_ring_map_data(&s->sampler[index]->ring, vma);
	if (within == PAGE_SIZE + s->config.ring_bytes)
		return kjoule_ring_map_tail(&s->sampler[index]->ring, vma);
	return -EINVAL;
}

static bool device_has_records(struct kjoule_session *s, u64 bytes)
{
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		if (kjoule_ring_unread(&s->sampler[i]->ring) >= bytes)
			return true;
	}
	return false;
}

static bool device_is_drained(struct kjoule_session *s)
{
	return READ_ONCE(s->state) == KJOULE_SESSION_STOPPED || READ_ONCE(s->over);
}

static __poll_t device_poll(struct file *file, poll_table *wait)
{
	struct kjoule_session *s = device_reader_session(file->private_data);
	__poll_t events = 0;

	if (!s)
		return EPOLLERR;
	poll_wait(file, &s->reader, wait);
	if (device_is_drained(s))
		events |= EPOLLHUP;
	if (device_has_records(s, device_is_drained(s) ? 1 : s->plan.wakeup_bytes))
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}

/* One ring's records, after a mark with the CPU; 0 if none waits or fits. */
static ssize_t device_read_ring(struct kjoule_sampler *sampler, struct iov_iter *to)
{
	struct kjoule_cpu_mark mark = {
		.rec = { .type = KJOULE_RECORD_CPU, .size = sizeof(mark) },
		.cpu = sampler->cpu,
	};
	ssize_t done;

	if (!kjoule_ring_unread(&sampler->ring) ||
	    iov_iter_count(to) < sizeof(mark) + sizeof(struct kjoule_sample))
		return 0;
	if (copy_to_iter(&mark, sizeof(mark), to) != sizeof(mark))
		return -EFAULT;
	done = kjoule_ring_read(&sampler->ring, kjoule_ring_head(&sampler->ring), to);
	if (done < 0)
		return done;
	return sizeof(mark) + done;
}

/* Return: 1 if a record waits, 0 if none will come any more, or -errno. */
static int device_wait_records(struct kjoule_session *s, bool nonblock)
{
	long err;

	for (;;) {
		/* before the check for records, so as not to miss the last ones */
		bool over = device_is_drained(s);

		if (device_has_records(s, 1))
			return 1;
		if (over)
			return 0;
		if (nonblock)
			return -EAGAIN;
		/*
		 * a slow session may never fill a ring to the mark: check from time to time, rarely
		 * enough that it is no load
		 */
		err = wait_event_interruptible_timeout(s->reader,
						       device_has_records(s, 1) ||
						       device_is_drained(s), HZ / 10);
		if (err < 0)
			return err;
	}
}

/* Read all rings. Return 0 if another reader was faster. */
static ssize_t device_read_rings(struct reader *r, struct iov_iter *to)
{
	struct kjoule_session *s = r->session;
	ssize_t done = 0, got = 0;
	unsigned int i;

	lockdep_assert_held(&r->lock);
	for (i = 0; i < s->n && got >= 0; i++) {
		got = device_read_ring(s->sampler[(r->turn + i) % s->n], to);
		if (got > 0)
			done += got;
	}
	r->turn = (r->turn + 1) % s->n;
	return done ?: got;
}

static ssize_t device_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct reader *r = file->private_data;
	struct kjoule_session *s = device_reader_session(r);
	bool nonblock = file->f_flags & O_NONBLOCK;
	size_t longest;
	ssize_t done;
	int err;

	if (!s)
		return -ENOTCONN;
	longest = max_t(size_t, sizeof(struct kjoule_energy) + KJOULE_MAX_DOMAINS * sizeof(u64),
			kjoule_callchain_largest(s->plan.chain, s->plan.chain_depth,
						 s->plan.stack_bytes));
	/* a mark and the longest record have to fit */
	if (iov_iter_count(to) < sizeof(struct kjoule_cpu_mark) + longest)
		return -EINVAL;
	do {
		err = device_wait_records(s, nonblock);
		if (err <= 0)
			return err;
		if (mutex_lock_interruptible(&r->lock))
			return -ERESTARTSYS;
		done = device_read_rings(r, to);
		mutex_unlock(&r->lock);
	} while (!done);
	return done;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = device_mmap,
	.poll = device_poll,
	.read_iter = device_read,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kjoule",
	.fops = &device_fops,
	.mode = 0600,
	.groups = kjoule_sysfs_groups,
};

/** kjoule_device_init() - create /dev/kjoule, which cannot be opened yet */
int kjoule_device_init(void)
{
	return misc_register(&device);
}

/** kjoule_device_set_ready() - let the device be opened, once nothing can fail any more */
void kjoule_device_set_ready(void)
{
	smp_store_release(&ready, true);	/* pairs with device_open() */
}

/** kjoule_device_kobj() - the device's folder in sysfs, valid between init and exit */
struct kobject *kjoule_device_kobj(void)
{
	return &device.this_device->kobj;
}

/** kjoule_device_exit() - undo kjoule_device_init() */
void kjoule_device_exit(void)
{
	misc_deregister(&device);
}
