// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kthread.h>

struct kthread_worker *probe(int cpu);
struct kthread_worker *probe(int cpu)
{
	return kthread_run_worker_on_cpu(cpu, 0, "probe");
}
