// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On the debug kernel a thread can see which code of the module it has passed, and what
 * was compared there: a fuzzer needs that.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * debug: only
 * timeout: 60
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kcov.h>

#include "../ktap.h"
#include "ring.h"

#define WORDS	(1 << 14)

static uint64_t *area;
static int kcov;

/* An ioctl that succeeds, and one that does not, watched; how many words were written. */
static uint64_t watch(int fd, unsigned int mode, uint32_t size)
{
	struct kjoule_info info = { .size = size };

	if (ioctl(kcov, KCOV_ENABLE, mode))
		return 0;
	__atomic_store_n(&area[0], 0, __ATOMIC_RELAXED);
	ioctl(fd, KJOULE_IOC_INFO, &info);
	ioctl(kcov, KCOV_DISABLE, 0);
	return area[0];
}

/* From the module's first function to its last, as /proc/kallsyms has them. */
static bool module_range(uint64_t *first, uint64_t *last)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long at;
	char line[512];

	*first = UINT64_MAX;
	*last = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "\t[kjoule]") || !strstr(line, " t ") ||
		    sscanf(line, "%llx", &at) != 1)
			continue;
		*first = at < *first ? at : *first;
		*last = at > *last ? at : *last;
	}
	if (f)
		fclose(f);
	return *first < *last;
}

int main(void)
{
	uint64_t n, good, bad, first, last, i, inside = 0, with_size = 0;
	int fd;

	kcov = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (kcov < 0)
		ktap_skip_all("the kernel has no KCOV; see make check-debug");
	ktap_plan(5);
	fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC);
	area = ioctl(kcov, KCOV_INIT_TRACE, WORDS) ? MAP_FAILED :
	       mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, kcov, 0);
	if (!ktap_check(fd >= 0 && area != MAP_FAILED && module_range(&first, &last), "device and coverage are there"))
		return ktap_end();

	good = watch(fd, KCOV_TRACE_PC, sizeof(struct kjoule_info));
	for (i = 1; i <= good; i++)
		inside += area[i] >= first && area[i] < last + 4096;
	ktap_check(good > 5, "what an ioctl passes is seen");
	ktap_check(good && inside == good, "and lies in the module, where alone it is looked for");
	bad = watch(fd, KCOV_TRACE_PC, 4);
	ktap_check(bad && bad < good, "a refused one passes less of it");
	ktap_diag("%llu and %llu places", (unsigned long long)good, (unsigned long long)bad);

	n = watch(fd, KCOV_TRACE_CMP, 12345);
	for (i = 0; i < n; i++)
		with_size += area[1 + i * 4 + 1] == 12345 || area[1 + i * 4 + 2] == 12345;
	ktap_check(with_size, "what the request is compared with is seen");
	return ktap_end();
}
