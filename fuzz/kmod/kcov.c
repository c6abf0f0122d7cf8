// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collects the places of the module that a thread passes; see coverage.h. What happens in
 * interrupts is not counted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kcov.h>

#include "coverage.h"

#define WORDS	(1 << 16)

bool kcov_begin(struct kcov *k)
{
	k->area = MAP_FAILED;
	k->fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (k->fd >= 0 && !ioctl(k->fd, KCOV_INIT_TRACE, WORDS))
		k->area = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, k->fd, 0);
	return k->area != MAP_FAILED && !ioctl(k->fd, KCOV_ENABLE, KCOV_TRACE_PC);
}

void kcov_end(struct kcov *k)
{
	ioctl(k->fd, KCOV_DISABLE, 0);
	munmap(k->area, WORDS * 8);
	close(k->fd);
}

static bool take(struct cover *c, uint64_t pc)
{
	unsigned int i;

	for (i = 0; i < c->n; i++) {
		struct cover_section *s = &c->section[i];

		if (s->address && pc - s->address < s->size) {
			__atomic_store_n(&s->seen[pc - s->address], 1, __ATOMIC_RELAXED);
			return s->site[pc - s->address];
		}
	}
	return false;
}

/* What this thread has passed since the last time. */
void kcov_take(struct kcov *k, struct cover *c)
{
	uint64_t n = __atomic_load_n(&k->area[0], __ATOMIC_RELAXED), i;

	for (i = 1; i <= n; i++) {
		if (!take(c, k->area[i]))
			__atomic_fetch_add(&c->strays, 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&k->area[0], 0, __ATOMIC_RELAXED);
}

bool cover_locate(struct cover *c)
{
	unsigned int i, found = 0;
	char path[128];

	for (i = 0; i < c->n; i++) {
		struct cover_section *s = &c->section[i];
		unsigned long long at = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/sys/module/kjoule/sections/%s", s->name);
		f = fopen(path, "r");
		if (f && fscanf(f, "%llx", &at) != 1)
			at = 0;
		if (f)
			fclose(f);
		s->address = at;
		found += !!at;
	}
	return found;
}
