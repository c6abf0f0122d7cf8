// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sources that come with the module, in the order in which they are registered; Kbuild leaves
 * out those that the kernel's configuration has nothing for.
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

/**
 * kjoule_builtin_init() - register the sources that come with the module
 *
 * Context: process, module init.
 * Return: 0 or -errno.
 */
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

/**
 * kjoule_builtin_exit() - undo kjoule_builtin_init()
 *
 * Context: process, module exit.
 */
void kjoule_builtin_exit(void)
{
	if (IS_ENABLED(CONFIG_CPU_FREQ))
		kjoule_cpufreq_exit();
	builtin_msr_exit();
}
