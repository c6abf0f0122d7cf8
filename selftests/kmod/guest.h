/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the module's selftests do to the guest around the module: CPUs off and on,
 * busy processes, time. Used by all tests in this folder.
 */
#ifndef KJOULE_SELFTESTS_GUEST_H
#define KJOULE_SELFTESTS_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BUSY_MAX_THREADS	1024

/* A process whose threads only compute. */
struct busy {
	pid_t pid;
	unsigned int threads;
	pid_t tid[BUSY_MAX_THREADS];
	int control;		/* a byte starts one more thread */
	int answer;		/* tells the ids of threads */
};

uint64_t now_ns(void);
void sleep_ms(unsigned int ms);

/* Wait for it, as long as a machine that has other things to do may need; whether it came. */
#define PATIENCE_NS	20000000000ULL
#define await(what) ({							\
	uint64_t until_ns = now_ns() + PATIENCE_NS;			\
	bool is_so;							\
									\
	while (!(is_so = (what)) && now_ns() < until_ns)		\
		sleep_ms(2);						\
	is_so;								\
})
unsigned int cpu_count(void);
unsigned int cpu_first(void);
int cpu_second(void);
unsigned int cpu_possible(void);
uint64_t cpu_online_mask(void);
bool cpu_online(unsigned int cpu, bool on);

/* All CPUs at their highest frequency, where a governor can be asked for that. */
void cpus_at_full_speed(void);

/* One such as the debug kernel, which takes ten times as long for everything. */
bool kernel_full_of_checkers(void);
void pin_to(unsigned int cpu);

/*
 * How much of a CPU; a result that is not ok if that cannot be set. The module's default is 40 %.
 */
void ticks_may_take(const char *percent);

bool busy_start(struct busy *b, unsigned int threads);
bool busy_add_thread(struct busy *b);
void busy_exec(struct busy *b);
void busy_forever(void) __attribute__((noreturn));
void busy_stop(struct busy *b);

#endif
