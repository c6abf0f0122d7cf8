// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: the kernel's text files with any content: /proc/kallsyms,
 * /proc/interrupts and lists of CPUs. The input is the text.
 */
#include <stdio.h>
#include <string.h>
#include "fuzz/user/capture.h"
#include "fuzz/user/target.h"
#include "lib/base/cpus.h"
#include "lib/code/kallsyms.h"
#include "lib/control/interrupts.h"

/* What is kept of the table for an address finds the same function again. */
static void kallsyms(const uint8_t *data, size_t len)
{
	struct kjoule_kallsyms *all, *part;
	uint64_t ips[64];
	size_t n = 0, text_len;
	char *text;

	if (kjoule_kallsyms_parse((const char *)data, len, &all))
		return;
	for (size_t i = 0; i + 8 <= len && n < 62; i += 1 + len / 64) {
		char word[17] = "";

		memcpy(&ips[n++], data + i, 8);
		memcpy(word, data + i, len - i < 16 ? len - i : 16);
		ips[n++] = strtoull(word, NULL, 16) + i;
	}
	ips[n++] = UINT64_MAX;
	if (kjoule_kallsyms_subset(all, ips, n, &text, &text_len))
		abort();
	must_hold(!kjoule_kallsyms_parse(text, text_len, &part), "a part of the table is a table");
	for (size_t i = 0; i < n; i++) {
		const struct kjoule_kernel_symbol *a = kjoule_kallsyms_find(all, ips[i]);
		const struct kjoule_kernel_symbol *b = kjoule_kallsyms_find(part, ips[i]);

		if (!a)
			continue;
		must_hold(a->start <= ips[i] && ips[i] < a->end, "a function has the address");
		must_hold(b && b->start == a->start && !strcmp(a->name, b->name),
			  "a part of the table finds what it was made for");
		must_hold(!a->module == !b->module && (!a->module || !strcmp(a->module, b->module)),
			  "modules are kept");
	}
	free(text);
	kjoule_kallsyms_free(part);
	kjoule_kallsyms_free(all);
}

static void interrupts(const uint8_t *data, size_t len)
{
	FILE *f = len ? fmemopen((void *)data, len, "r") : NULL;
	uint64_t count;

	if (!f)
		return;
	for (unsigned int cpu = 0; cpu < 3; cpu++) {
		rewind(f);
		kjoule_interrupts_parse(f, cpu, &count);
	}
	fclose(f);
}

static void cpus(const uint8_t *data, size_t len)
{
	struct kjoule_cpus set, again;
	char *text = strndup((const char *)data, len);
	char small[24], large[4 * KJOULE_MAX_CPUS + 1024];

	if (!text)
		abort();
	if (!kjoule_cpus_parse(text, &set)) {
		kjoule_cpus_format(&set, small, sizeof(small));
		kjoule_cpus_format(&set, large, sizeof(large));
		must_hold(kjoule_cpus_count(&set), "a list has CPUs");
		must_hold(!kjoule_cpus_parse(large, &again) && !memcmp(&set, &again, sizeof(set)),
			  "a list of CPUs goes both ways");
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	must_end_soon(len);
	kallsyms(data, len);
	interrupts(data, len);
	cpus(data, len);
	return 0;
}
