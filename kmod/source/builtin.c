// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers the sources of this module; Kbuild leaves out those that the kernel's configuration
 * does not support.
 */
#include <linux/kconfig.h>

#include "source/source.h"

static int builtin_cpufreq_init(void)
{
	return IS_ENABLED(CONFIG_CPU_FREQ) ? kjoule_cpufreq_init() : 0;
}

static int builtin_msr_init(void)
{
	int err;

	if (!IS_ENABLED(CONFIG_X86))
		return 0;
	err = kjoule_rapl_init();
	if (err)
		return err;
	err = kjoule_aperf_init();
	if (err)
		kjoule_rapl_exit();
	return err;
}

static void builtin_msr_exit(void)
{
	if (!IS_ENABLED(CONFIG_X86))
		return;
	kjoule_aperf_exit();
	kjoule_rapl_exit();
}

/** kjoule_builtin_init() - register the sources of this module */
int kjoule_builtin_init(void)
{
	int err = builtin_msr_init();

	if (err)
		return err;
	err = builtin_cpufreq_init();
	if (err)
		builtin_msr_exit();
	return err;
}

/** kjoule_builtin_exit() - undo kjoule_builtin_init() */
void kjoule_builtin_exit(void)
{
	if (IS_ENABLED(CONFIG_CPU_FREQ))
		kjoule_cpufreq_exit();
	builtin_msr_exit();
}
