/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the chip takes over of QEMU: its virtual clock and TSC, the timers of that clock, the
 * interrupts of halted CPUs, the wait for the next event of an idle machine. Owns all that depends
 * on how QEMU is laid out inside; knows nothing of the chip. Called by time.c and plugin.c.
 */
#ifndef VCHIP_QEMU_H
#define VCHIP_QEMU_H

#include <stdbool.h>
#include <stdint.h>

/* A CPU of QEMU's. */
struct CPUState;

/* What QEMU asks of whoever keeps the time. */
struct qemu_hooks {
	/* The time in ns. Context: any thread. */
	int64_t (*clock_ns)(void);
	/* A CPU is about to get an interrupt. Context: the big lock is held. */
	void (*interrupt)(struct CPUState *cpu);
	/*
	 * The vCPU thread is to look for work: have it call qemu_cpu_yield(). Context: any thread.
	 */
	void (*kick)(void);
	/*
	 * The vCPU thread waits: because all CPUs have halted? Context: the vCPU thread, the big
	 * lock is held.
	 */
	bool (*may_go_on)(void);
	/*
	 * All CPUs wait for an interrupt and QEMU has no I/O left: go on to events until one has
	 * something to do.
	 * Return: false if there is no event. Context: the vCPU thread or the main loop, the big
	 * lock is held.
	 */
	bool (*go_on)(void);
	/*
	 * The machine was suspended: no CPU runs until a timer wakes it. Context: main loop, the
	 * big lock is held.
	 */
	void (*suspend)(void);
};

/**
 * qemu_attach() - take over the clock
 * @hooks: kept
 * @error: what was found and what is needed, when it fails
 *
 * Everything that is relied on is looked at first: a QEMU that is laid out otherwise is refused.
 *
 * Return: 0, -ENOSYS when it is not the QEMU that this was made for.
 * Context: once, before the first CPU runs, with the big lock held.
 */
int qemu_attach(const struct qemu_hooks *hooks, char *error, unsigned int error_size);

/* QEMU's CPU of an index. */
struct CPUState *qemu_cpu(unsigned int index);

/* The beginning of QEMUTimer and of QEMUTimerList; the rest is QEMU's. */
struct qemu_timer_list;

struct qemu_timer {
	int64_t expire_ns;
	struct qemu_timer_list *list;
	void (*cb)(void *opaque);
	void *opaque;
	struct qemu_timer *next;
};

struct qemu_timer_list {
	void *clock;
	char lock[48];
	struct qemu_timer *active;
	void *link[2];
	void (*notify)(void *opaque, int type);
	void *notify_opaque;
};

extern struct qemu_timer_list *qemu_virtual_timers;

/* When the guest's next timer is due, in ns; INT64_MAX: there is none. Context: any. */
static inline int64_t qemu_next_timer_ns(void)
{
	const struct qemu_timer *t =
		__atomic_load_n(&qemu_virtual_timers->active, __ATOMIC_RELAXED);

	return t ? t->expire_ns : INT64_MAX;
}

/*
 * Run the guest's timers that are due by clock_ns(). Context: the vCPU thread, or the big lock is
 * held.
 */
void qemu_timers_run(void);

/**
 * qemu_kick_timer_remove() - have QEMU not change from one CPU to another by itself
 * Return: whether the timer that does so was found.
 * Context: the vCPU thread, at its first block; there is such a timer with several CPUs only.
 */
bool qemu_kick_timer_remove(void);

/* The vCPU thread has been at a device since the last qemu_io_drain(). */
extern bool qemu_device_touched;

/*
 * Wait, in the build machine's time only, until the main loop has nothing left to do. Context: the
 * vCPU thread, without the big lock.
 */
void qemu_io_drain(void);

/* Have QEMU go on with another CPU. Context: the vCPU thread. */
void qemu_cpu_yield(struct CPUState *cpu);

/* Leave the present block before its first instruction. @ra: the return address of its callback. */
void qemu_block_leave(struct CPUState *cpu, uintptr_t ra) __attribute__((noreturn));

/* Does every CPU wait for an interrupt? Context: the big lock is held. */
bool qemu_idle(void);

#endif /* VCHIP_QEMU_H */
