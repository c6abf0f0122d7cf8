/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code whose frames and addresses are known (caller.c).
 * Used by the tests of call chains, whose children run it; caller_sample.h samples these.
 */
#ifndef KJOULE_SELFTESTS_CALLER_H
#define KJOULE_SELFTESTS_CALLER_H

#include <stddef.h>
#include <stdint.h>

void enter(unsigned int n, int fd, void *buffer, size_t size);
void pointers(uint64_t bp, uint64_t sp);
void narrow(const void *to, uint64_t bp, uint64_t sp);
void registers(uint64_t sp);
extern const char entered[], called[], spin[], left[], pointed[], held[];

#endif
