// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planted faults, one a load: does the debug kernel notice? `insmod fault.ko kind=NAME`.
 * Used by selftests/vm/test_planted.py only.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

static char *kind = "none";
module_param(kind, charp, 0400);

/* What the compiler may not see through. */
static volatile int forty = 40;
static void *volatile dropped;

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spinning);

struct timed {
	struct timer_list timer;
};

static void none(void)
{
}

static void sleep_in_atomic(void)
{
	spin_lock(&spinning);
	kfree(kmalloc(64, GFP_KERNEL));
	spin_unlock(&spinning);
}

static void lock_inversion(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void shift(void)
{
	forty = 1 << forty;
	forty = 40;
}

static void ring(struct timer_list *timer)
{
}

static void active_timer(void)
{
	struct timed *t = kmalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;
	timer_setup(&t->timer, ring, 0);
	mod_timer(&t->timer, jiffies + HZ * 100);
	kfree(t);
}

static void use_after_free(void)
{
	volatile char *p = kmalloc(64, GFP_KERNEL);

	kfree((void *)p);
	p[8] = 1;
}

static void out_of_bounds(void)
{
	volatile char *p = vmalloc(PAGE_SIZE / 2);

	if (p)
		p[PAGE_SIZE / 2 + 8] = 1;
	vfree((void *)p);
}

static void leak(void)
{
	dropped = kmalloc(1000, GFP_KERNEL);
	dropped = vmalloc(3 * PAGE_SIZE);
	dropped = NULL;
}

static const struct {
	const char *name;
	void (*plant)(void);
} faults[] = {
	{ "none", none },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "lock_inversion", lock_inversion },
	{ "shift", shift },
	{ "active_timer", active_timer },
	{ "use_after_free", use_after_free },
	{ "out_of_bounds", out_of_bounds },
	{ "leak", leak },
};

static int __init fault_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!strcmp(kind, faults[i].name)) {
			faults[i].plant();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit fault_exit(void)
{
}

module_init(fault_init);
module_exit(fault_exit);

MODULE_DESCRIPTION("Planted faults, to see them found");
MODULE_LICENSE("GPL");
