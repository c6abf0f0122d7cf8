// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timer interrupts at a chosen rate, by perf's software clock. A file of its own,
 * because the kernel's type names are not those of the register page's header.
 */
#include "interrupts.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int interrupts_on(uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_IP,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		return -1;
	/* The timer only runs for an event that can be read. */
	return mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 :
	       0;
}
