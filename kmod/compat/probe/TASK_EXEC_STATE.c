// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sched.h>
#if __has_include(<linux/sched/exec_state.h>)
#include <linux/sched/exec_state.h>
#endif

int probe(const struct task_exec_state *state);
int probe(const struct task_exec_state *state)
{
	return state->dumpable == TASK_DUMPABLE_OWNER;
}
