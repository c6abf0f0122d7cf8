/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KJOULE_NOW_H
#define KJOULE_NOW_H

#include <stdint.h>

/** kjoule_now_ns() - CLOCK_MONOTONIC */
uint64_t kjoule_now_ns(void);

#endif /* KJOULE_NOW_H */
