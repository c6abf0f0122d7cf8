/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources that a session can ask for on any machine, whatever it can measure: what they say
 * is of no interest, only that they are made, read and ended. Used by the tests of what may
 * happen to a session.
 */
#ifndef KJOULE_SELFTESTS_ANY_SOURCE_H
#define KJOULE_SELFTESTS_ANY_SOURCE_H

#include <stdbool.h>

#include "nl.h"

/* Of perf, read in the tick: the time of each CPU, as if it were its energy. */
struct nl_spec any_counter(void);

/*
 * Of sysfs, read by a thread: a number that only grows. Its file is opened anew, and the
 * caller's to close; -1 where there is none.
 */
struct nl_spec any_file(void);

/* The power supply that CONFIG_TEST_POWER makes up; whether there is one. */
bool any_supply(struct nl_spec *spec);

#endif
