// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency source "cpufreq": what the policy believes, which is a request and
 * no proof that it was granted. The last resort, and marked as that in every
 * sample.
 */
#include <linux/cpufreq.h>
#include <linux/module.h>

#include "../source.h"

static u32 cpufreq_read_khz(struct kjoule_source *src)
{
	return cpufreq_quick_get(smp_processor_id());
}

static int cpufreq_probe(struct kjoule_source *src, char *why, size_t len)
{
	if (!cpufreq_quick_get(raw_smp_processor_id())) {
		strscpy(why, "no cpufreq driver", len);
		return -ENODEV;
	}
	return 0;
}

static const struct kjoule_source_ops cpufreq_ops = {
	.read_khz = cpufreq_read_khz,
	.probe = cpufreq_probe,
};

static struct kjoule_source cpufreq_source = {
	.name = "cpufreq",
	.kind = KJOULE_KIND_FREQUENCY,
	.owner = THIS_MODULE,
	.ops = &cpufreq_ops,
	.rating = 50,
	.requested_only = true,
};

/**
 * kjoule_cpufreq_init() - register the source
 *
 * Context: process, module init.
 * Return: 0 or -errno.
 */
int kjoule_cpufreq_init(void)
{
	return kjoule_source_register(&cpufreq_source);
}

/**
 * kjoule_cpufreq_exit() - undo kjoule_cpufreq_init()
 *
 * Context: process, module exit.
 */
void kjoule_cpufreq_exit(void)
{
	kjoule_source_unregister(&cpufreq_source);
}
