/* SPDX-License-Identifier: GPL-2.0-only */
/* For how long the build machine has held the chip's cores, in a file that others can look into. */
#ifndef VCHIP_HELD_H
#define VCHIP_HELD_H

#include <stdint.h>

/* Code that is slow to emulate takes less at once: who was held for more was not run. */
#define HELD_LEAST_NS	1000000

/** held_open() - go on from the number of nanoseconds in this file, if there is one. Return: 0 or -errno */
int held_open(const char *path);
/** held_add() - a core stood still for so long; what is less than HELD_LEAST_NS does not count */
void held_add(uint64_t ns);

#endif /* VCHIP_HELD_H */
