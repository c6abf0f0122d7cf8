// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sched.h>

bool probe(const struct task_struct *task);
bool probe(const struct task_struct *task)
{
	return task->exec_state;
}
