// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's idle states as a cpuidle driver. Entering one is telling the chip which
 * and then halting. The kernel has one cpuidle driver at most: where another one was
 * first (intel_idle, ACPI, haltpoll), this one says so and stands back, and the chip
 * sees plain halts in its shallowest state; idle=nomwait or intel_idle.max_cstate=0
 * or blacklisting the other driver on the guest's command line makes room.
 */

#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "vchip.h"

static const struct vchip *cpuidle_chip;
static bool cpuidle_registered;

/*
 * Called with interrupts off and RCU not watching; returns with interrupts off, after
 * the interrupt that ended the halt was served.
 */
static notrace int vchip_idle_enter(struct cpuidle_device *dev,
				    struct cpuidle_driver *drv, int index)
{
	struct vchip_cpu *regs = vchip_cpu(cpuidle_chip, dev->cpu);

	WRITE_ONCE(regs->idle_req, index);
	raw_safe_halt();
	raw_local_irq_disable();
	WRITE_ONCE(regs->idle_req, 0);
	return index;
}

/* No owner: each CPU's device would pin the module, and only its exit unregisters them. */
static struct cpuidle_driver vchip_cpuidle_driver = {
	.name = "vchip",
};

/**
 * vchip_cpuidle_init() - register the driver and a device for each CPU
 * @chip:	the chip
 *
 * Return: 0, also when another driver is there; or -errno.
 */
int vchip_cpuidle_init(struct vchip *chip)
{
	struct cpuidle_driver *drv = &vchip_cpuidle_driver;
	const struct cpuidle_driver *other = cpuidle_get_driver();
	const struct vchip_head *head = chip->head;
	struct cpuidle_state *state;
	unsigned int i;
	int ret;

	if (!head->idle_states)
		return 0;
	if (other) {
		dev_notice(&chip->pdev->dev, "idle states unused: the cpuidle driver \"%s\" was first\n",
			   other->name);
		return 0;
	}
	cpuidle_chip = chip;
	for (i = 0; i < head->idle_states; i++) {
		state = &drv->states[i];
		memset(state, 0, sizeof(*state));
		snprintf(state->name, sizeof(state->name), "VC%u", i + 1);
		snprintf(state->desc, sizeof(state->desc), "virtual chip, %s",
			 !i ? "shallow" : i == head->idle_states - 1 ? "deep" : "middle");
		state->exit_latency_ns = head->idle_latency_ns[i];
		state->target_residency_ns = head->idle_residency_ns[i];
		state->enter = vchip_idle_enter;
	}
	drv->state_count = head->idle_states;
	drv->cpumask = (struct cpumask *)cpu_present_mask;
	ret = cpuidle_register(drv, NULL);
	cpuidle_registered = !ret;
	if (ret == -ENODEV) {
		dev_notice(&chip->pdev->dev, "idle states unused: cpuidle is off in this guest\n");
		return 0;
	}
	return ret;
}

/**
 * vchip_cpuidle_exit() - unregister; every CPU has left our enter callback afterwards
 * @chip:	the chip
 */
void vchip_cpuidle_exit(struct vchip *chip)
{
	if (cpuidle_registered)
		cpuidle_unregister(&vchip_cpuidle_driver);
	cpuidle_registered = false;
}
