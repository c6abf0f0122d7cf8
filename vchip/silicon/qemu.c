// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debian's QEMU exports its functions for its own modules, so that a plugin can call them and can
 * replace those by which QEMU reads its clock: the accelerator's get_virtual_clock and
 * get_elapsed_ticks, which plain TCG leaves empty. Owns the names and the places inside QEMU that
 * this needs. Names are looked up and places are checked when QEMU starts.
 *
 * The guest's timers are run by the vCPU thread, at the instruction at which they are due: the
 * main loop does not know of them. That thread is also where time goes on when no CPU runs. The
 * main loop still serves I/O.
 */
#define _GNU_SOURCE
#include "qemu.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QEMU_NEEDED	"7.2"
#define CLOCK_VIRTUAL	1	/* QEMU_CLOCK_VIRTUAL */
#define ATTR_ALL	(-1)

/* AccelOpsClass of 7.2, behind its ObjectClass. */
struct accel_ops {
	char parent[96];
	void *before[3];
	void (*kick_vcpu_thread)(struct CPUState *cpu);
	void *between[6];
	void (*handle_interrupt)(struct CPUState *cpu, int mask);
	int64_t (*get_virtual_clock)(void);
	int64_t (*get_elapsed_ticks)(void);
};

typedef void (*mutex_lock_func)(void *mutex, const char *file, int line);
typedef void (*cond_wait_func)(void *cond, void *mutex, const char *file, int line);

struct version_triple {
	int64_t major, minor, micro;
};

struct version_info {
	struct version_triple *qemu;
	char *package;
};

struct notifier {
	void (*notify)(struct notifier *notifier, void *data);
	void *link[2];
};

/* The requests of a ThreadPool of 7.2: checked by making one and looking. */
#define POOL_HEAD	184

struct qemu_timer_list *qemu_virtual_timers;
bool qemu_device_touched;

static struct qemu_timer_list **timer_lists;	/* main_loop_tlg */
static struct accel_ops *(*cpus_get_accel)(void);
static bool (*qemu_clock_run_timers)(int type);
static void (*qemu_clock_enable)(int type, bool enabled);
static void (*qemu_mutex_lock_iothread_impl)(const char *file, int line);
static void (*qemu_mutex_unlock_iothread)(void);
static bool (*qemu_mutex_iothread_locked)(void);
static bool (*all_cpu_threads_idle)(void);
static void (*cpu_exit)(struct CPUState *cpu);
static struct CPUState *(*qemu_get_cpu)(int index);
static void *(*qemu_get_aio_context)(void);
static void *(*aio_get_thread_pool)(void *ctx);
static int64_t (*aio_compute_timeout)(void *ctx);
static int (*aio_bh_poll)(void *ctx);
static void *(*qemu_bh_new_full)(void (*cb)(void *opaque), void *opaque, const char *name,
				 void *guard);
static void (*qemu_bh_schedule)(void *bh);
static mutex_lock_func *qemu_bql_mutex_lock_func;
static cond_wait_func *qemu_cond_wait_func;
static bool (*qemu_in_vcpu_thread)(void);
static void (*cpu_loop_exit_restore)(struct CPUState *cpu, uintptr_t ra);
static void (*qemu_timer_notify_cb)(void *opaque, int type);
static void (*tcg_handle_interrupt)(struct CPUState *cpu, int mask);
static struct version_info *(*qmp_query_version)(void **errp);
static void (*timer_init_full)(void *timer, void *group, int type, int scale, int attributes,
			       void (*cb)(void *opaque), void *opaque);
static void (*timer_mod_ns)(void *timer, int64_t expire);
static void (*timer_del)(void *timer);
static struct qemu_timer_list *(*timerlist_new)(int type, void (*notify)(void *opaque, int type),
						void *opaque);
static void *(*thread_pool_submit_aio)(void *pool, int (*func)(void *arg), void *arg,
				       void (*cb)(void *opaque, int ret), void *opaque);
static void (*qemu_register_suspend_notifier)(struct notifier *notifier);

static const struct symbol {
	const char *name;
	void *where;
} symbols[] = {
	{ "main_loop_tlg", &timer_lists },
	{ "cpus_get_accel", &cpus_get_accel },
	{ "qemu_clock_run_timers", &qemu_clock_run_timers },
	{ "qemu_clock_enable", &qemu_clock_enable },
	{ "qemu_mutex_lock_iothread_impl", &qemu_mutex_lock_iothread_impl },
	{ "qemu_mutex_unlock_iothread", &qemu_mutex_unlock_iothread },
	{ "qemu_mutex_iothread_locked", &qemu_mutex_iothread_locked },
	{ "all_cpu_threads_idle", &all_cpu_threads_idle },
	{ "cpu_exit", &cpu_exit },
	{ "qemu_get_cpu", &qemu_get_cpu },
	{ "qemu_get_aio_context", &qemu_get_aio_context },
	{ "aio_get_thread_pool", &aio_get_thread_pool },
	{ "aio_compute_timeout", &aio_compute_timeout },
	{ "aio_bh_poll", &aio_bh_poll },
	{ "qemu_bh_new_full", &qemu_bh_new_full },
	{ "qemu_bh_schedule", &qemu_bh_schedule },
	{ "qemu_bql_mutex_lock_func", &qemu_bql_mutex_lock_func },
	{ "qemu_cond_wait_func", &qemu_cond_wait_func },
	{ "qemu_in_vcpu_thread", &qemu_in_vcpu_thread },
	{ "cpu_loop_exit_restore", &cpu_loop_exit_restore },
	{ "qemu_timer_notify_cb", &qemu_timer_notify_cb },
	{ "qmp_query_version", &qmp_query_version },
	{ "timer_init_full", &timer_init_full },
	{ "timer_mod_ns", &timer_mod_ns },
	{ "timer_del", &timer_del },
	{ "timerlist_new", &timerlist_new },
	{ "thread_pool_submit_aio", &thread_pool_submit_aio },
	{ "qemu_register_suspend_notifier", &qemu_register_suspend_notifier },
};

static const struct qemu_hooks *qemu_hooks;
static void *aio_context, *sleep_bh;
static void *volatile *pool_requests;
static mutex_lock_func lock_original;
static cond_wait_func wait_original;
static struct notifier suspend_notifier;

/* The big lock, if this thread does not have it. Return: it has to be released. */
static bool lock_big(void)
{
	if (qemu_mutex_iothread_locked())
		return false;
	qemu_mutex_lock_iothread_impl(__FILE__, __LINE__);
	return true;
}

struct CPUState *qemu_cpu(unsigned int index)
{
	return qemu_get_cpu((int)index);
}

void qemu_timers_run(void)
{
	bool touched = qemu_device_touched, locked = lock_big();

	qemu_clock_run_timers(CLOCK_VIRTUAL);
	if (locked)
		qemu_mutex_unlock_iothread();
	qemu_device_touched = touched;
}

/*
 * A CPU takes the big lock to read or write a register of a device, and where QEMU changes to
 * another CPU.
 */
static void lock_noted(void *mutex, const char *file, int line)
{
	static const char *change;

	if (file != change && qemu_in_vcpu_thread()) {
		if (strstr(file, "accel-ops-rr"))
			change = file;
		else
			qemu_device_touched = true;
	}
	lock_original(mutex, file, line);
}

static bool main_loop_busy(void)
{
	return !aio_compute_timeout(aio_context) || *pool_requests;
}

void qemu_io_drain(void)
{
	bool busy = true;

	while (busy) {
		qemu_mutex_lock_iothread_impl(__FILE__, __LINE__);
		busy = main_loop_busy();
		qemu_mutex_unlock_iothread();
		if (busy)
			sched_yield();
	}
	qemu_device_touched = false;
}

/*
 * The vCPU thread waits for a CPU to have something to do: time goes on there and then, which takes
 * no change of threads. What the main loop has still to do comes first, an idle guest may wait for
 * just that.
 */
static void wait_noted(void *cond, void *mutex, const char *file, int line)
{
	if (qemu_in_vcpu_thread() && qemu_hooks->may_go_on()) {
		while (main_loop_busy()) {
			qemu_mutex_unlock_iothread();
			sched_yield();
			qemu_mutex_lock_iothread_impl(__FILE__, __LINE__);
		}
		if (!qemu_idle() || (qemu_hooks->may_go_on() && qemu_hooks->go_on()))
			return;
	}
	wait_original(cond, mutex, file, line);
}

void qemu_cpu_yield(struct CPUState *cpu)
{
	cpu_exit(cpu);
}

/*
 * QEMU looks for the instruction in whose code the call is, which is before the return address:
 * there the code of the next one may begin already, for one such as "xor %eax, %eax" needs none at
 * this place.
 */
void qemu_block_leave(struct CPUState *cpu, uintptr_t ra)
{
	cpu_loop_exit_restore(cpu, ra - 1);
	abort();
}

bool qemu_idle(void)
{
	return all_cpu_threads_idle();
}

/* From the main loop, while the machine is suspended and no vCPU thread waits for anything. */
static void sleep_callback(void *unused)
{
	(void)unused;
	if (main_loop_busy() || !qemu_idle()) {
		sched_yield();
		qemu_bh_schedule(sleep_bh);
		return;
	}
	qemu_hooks->go_on();
}

/*
 * QEMU stops its virtual clock with its CPUs; here it is the real-time clock that wakes the machine
 * up.
 */
static void suspended(struct notifier *notifier, void *data)
{
	(void)notifier;
	(void)data;
	qemu_clock_enable(CLOCK_VIRTUAL, true);
	qemu_hooks->suspend();
	qemu_bh_schedule(sleep_bh);
}

static void handle_interrupt(struct CPUState *cpu, int mask)
{
	qemu_hooks->interrupt(cpu);
	tcg_handle_interrupt(cpu, mask);
}

/* QEMU would have all CPUs leave their blocks, at a moment that is the build machine's. */
static void kick_vcpu_thread(struct CPUState *cpu)
{
	(void)cpu;
	qemu_hooks->kick();
}

static void notify_nobody(void *opaque, int type)
{
	(void)opaque;
	(void)type;
}

static void do_nothing(void *opaque)
{
	(void)opaque;
}

static int work_nothing(void *arg)
{
	(void)arg;
	return 0;
}

static void done_nothing(void *opaque, int ret)
{
	(void)ret;
	*(bool *)opaque = true;
}

/* Timers of the virtual clock: where the list is, and an expiry time in it. */
static bool timers_fit(void)
{
	static char timer[256] __attribute__((aligned(16)));	/* QEMUTimer has 48 bytes */
	static char later[sizeof(timer)] __attribute__((aligned(16)));
	struct qemu_timer_list *list = timer_lists[CLOCK_VIRTUAL];
	bool fits;

	if (list->notify != qemu_timer_notify_cb)
		return false;
	timer_init_full(timer, NULL, CLOCK_VIRTUAL, 1, 0, do_nothing, NULL);
	timer_init_full(later, NULL, CLOCK_VIRTUAL, 1, 0, do_nothing, NULL);
	timer_mod_ns(timer, 1);		/* before all others */
	timer_mod_ns(later, 2);
	fits = (void *)list->active == timer && list->active->expire_ns == 1 &&
	       list->active->list == list &&
	       list->active->cb == do_nothing && (void *)list->active->next == later;
	timer_del(timer);
	timer_del(later);
	return fits && (void *)list->active != timer;
}

/* The thread pool's requests: one that is made has to show, and be gone when it is done. */
static bool pool_fits(void *pool)
{
	bool done = false, fits;

	fits = !*pool_requests;
	thread_pool_submit_aio(pool, work_nothing, NULL, done_nothing, &done);
	fits = fits && *pool_requests;
	while (!done) {
		sched_yield();
		aio_bh_poll(aio_context);
	}
	return fits && !*pool_requests;
}

/*
 * With several CPUs TCG has a timer that makes it change to the next one. It is stopped and begun
 * anew when QEMU notices that all are idle, which is at times of the build machine; and whose turn
 * it is is ours to say. So it goes to a list that is never run.
 */
bool qemu_kick_timer_remove(void)
{
	Dl_info tcg, timer;

	if (!dladdr((void *)tcg_handle_interrupt, &tcg))
		return false;
	for (struct qemu_timer *t = qemu_virtual_timers->active; t; t = t->next) {
		if (!dladdr((void *)t->cb, &timer) || timer.dli_fbase != tcg.dli_fbase)
			continue;
		timer_del(t);
		t->list = timerlist_new(CLOCK_VIRTUAL, notify_nobody, NULL);
		return true;
	}
	return false;
}

/* TCG is a module of its own, whose names are known by address only. */
static bool is_function(void *function, const char *name)
{
	Dl_info info;

	return dladdr(function, &info) && info.dli_sname && !strcmp(info.dli_sname, name);
}

static int refuse(char *error, unsigned int error_size, const char *what)
{
	const char *package = "";
	char version[64] = "of an unknown version";

	if (qmp_query_version) {
		const struct version_info *info = qmp_query_version(NULL);

		package = info->package;
		snprintf(version, sizeof(version), "%lld.%lld.%lld", (long long)info->qemu->major,
			 (long long)info->qemu->minor, (long long)info->qemu->micro);
	}
	snprintf(error, error_size, "this QEMU is %s %s: %s; the chip needs Debian 12's QEMU " QEMU_NEEDED
		 ", run scripts/setup", version, package, what);
	return -ENOSYS;
}

int qemu_attach(const struct qemu_hooks *hooks, char *error, unsigned int error_size)
{
	struct accel_ops *ops;
	void *pool;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(RTLD_DEFAULT, symbols[i].name);

		memcpy(symbols[i].where, &address, sizeof(address));
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		char what[128];

		if (dlsym(RTLD_DEFAULT, symbols[i].name))
			continue;
		snprintf(what, sizeof(what), "it has no function %s", symbols[i].name);
		return refuse(error, error_size, what);
	}
	ops = cpus_get_accel();
	if (!ops || !is_function((void *)ops->handle_interrupt, "tcg_handle_interrupt") ||
	    !is_function((void *)ops->kick_vcpu_thread, "rr_kick_vcpu_thread") ||
	    ops->get_virtual_clock || ops->get_elapsed_ticks)
		return refuse(error, error_size, "its accelerator's operations are laid out otherwise, or it is not started with tcg,thread=single");
	if (!timers_fit())
		return refuse(error, error_size, "its timers are laid out otherwise");
	aio_context = qemu_get_aio_context();
	pool = aio_get_thread_pool(aio_context);
	pool_requests = (void *volatile *)((char *)pool + POOL_HEAD);
	if (!pool_fits(pool))
		return refuse(error, error_size, "its thread pool is laid out otherwise");

	qemu_hooks = hooks;
	qemu_virtual_timers = timer_lists[CLOCK_VIRTUAL];
	qemu_virtual_timers->notify = notify_nobody;
	sleep_bh = qemu_bh_new_full(sleep_callback, NULL, "vchip", NULL);
	suspend_notifier.notify = suspended;
	qemu_register_suspend_notifier(&suspend_notifier);
	tcg_handle_interrupt = ops->handle_interrupt;
	ops->handle_interrupt = handle_interrupt;
	ops->kick_vcpu_thread = kick_vcpu_thread;
	ops->get_virtual_clock = hooks->clock_ns;
	ops->get_elapsed_ticks = hooks->clock_ns;
	lock_original = *qemu_bql_mutex_lock_func;
	*qemu_bql_mutex_lock_func = lock_noted;
	wait_original = *qemu_cond_wait_func;
	*qemu_cond_wait_func = wait_noted;
	return 0;
}
