// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency source "aperf": IA32_APERF counts cycles, IA32_MPERF counts at the base clock's rate,
 * both only while the CPU is not halted, so their ratio is the mean busy frequency.
 */
#include <linux/module.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>

#include "compat/compat.h"
#include "source/source.h"

static int aperf_read(struct kjoule_source *src, struct kjoule_cycles *c)
{
	rdmsrq(MSR_IA32_APERF, c->cycles);
	rdmsrq(MSR_IA32_MPERF, c->reference);
	return 0;
}

static int aperf_probe(struct kjoule_source *src, char *why, size_t len)
{
	struct kjoule_cycles c;

	if (!boot_cpu_has(X86_FEATURE_APERFMPERF)) {
		strscpy(why, "CPUID shows no APERF and MPERF", len);
		return -ENODEV;
	}
	if (!cpu_khz) {
		strscpy(why, "the kernel does not know the base clock", len);
		return -ENODEV;
	}
	aperf_read(src, &c);
	if (!c.cycles || !c.reference) {
		strscpy(why, "APERF or MPERF reads 0", len);
		return -ENODEV;
	}
	return 0;
}

static const struct kjoule_source_ops aperf_ops = {
	.read_cycles = aperf_read,
	.probe = aperf_probe,
};

static struct kjoule_source aperf = {
	.name = "aperf",
	.kind = KJOULE_KIND_FREQUENCY,
	.owner = THIS_MODULE,
	.ops = &aperf_ops,
	.rating = 200,
};

/** kjoule_aperf_init() - register the source */
int kjoule_aperf_init(void)
{
	/*
	 * the rate of MPERF is the base clock, not always the TSC's; see the kernel's
	 * arch_freq_get_on_cpu()
	 */
	aperf.reference_khz = cpu_khz ?: 1;
	return kjoule_source_register(&aperf);
}

/** kjoule_aperf_exit() - undo kjoule_aperf_init() */
void kjoule_aperf_exit(void)
{
	kjoule_source_unregister(&aperf);
}
