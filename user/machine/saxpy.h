/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * y = a x + y over two vectors that fit into any first-level cache: the work of a load, and of
 * programs that must draw the same, to the instruction.
 */
#ifndef KJOULE_SAXPY_H
#define KJOULE_SAXPY_H

#include <stdint.h>

#define SAXPY_VECTORS	256	/* of four floats, in each of x and y: 4 KiB each */

typedef float v4 __attribute__((vector_size(16)));

struct saxpy {
	v4 x[SAXPY_VECTORS], y[SAXPY_VECTORS];
};

static inline void saxpy_start(struct saxpy *s)
{
	for (unsigned int i = 0; i < SAXPY_VECTORS; i++)
		s->x[i] = s->y[i] = (v4){ i, i + 0.25f, i + 0.5f, i + 0.75f };
}

/** saxpy_pass() - once over all of it; the sign alternates with @pass, so that y stays bounded */
static inline void saxpy_pass(struct saxpy *s, uint64_t pass)
{
	const float f = pass & 1 ? 0.5f : -0.5f;
	const v4 a = { f, f, f, f };

	for (unsigned int i = 0; i < SAXPY_VECTORS; i++)
		s->y[i] = a * s->x[i] + s->y[i];
	/* the unused result is computed all the same */
	__asm__ volatile("" : : "r" (s->y) : "memory");
}

#endif /* KJOULE_SAXPY_H */
