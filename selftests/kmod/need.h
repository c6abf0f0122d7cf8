/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the module's selftests need of the machine that they run on. What is missing is
 * a skip of the whole program whose reason says what to provide. Called first of all by
 * each test in this folder and by silicon/.
 */
#ifndef KJOULE_SELFTESTS_NEED_H
#define KJOULE_SELFTESTS_NEED_H

#include <stdbool.h>

/* The module, of this interface, that lets us in, with no session of anybody else. */
void need_module(void);

/* Two CPUs online; returns the second one's number, the first's is cpu_first(). */
unsigned int need_second_cpu(const char *what_for);

/* The same, and the second one can be taken off and on. */
unsigned int need_hotplug(void);

/*
 * The virtual chip with its driver and its source: for tests that compare with what is
 * known of it, or that make it say anything. No silicon has that.
 */
void need_chip(void);
const char *lacks_chip(void);		/* what it would say, NULL if nothing */

/*
 * A machine, or the virtual chip: for tests of what ticks leave to others. What an interrupt
 * takes in another virtual machine is its host's, and the tick cannot see it. Only x86 tells
 * that it is one.
 */
void need_machine(void);

/* Root, to become others and give up capabilities. */
void need_root(void);

/* Reasons for a skip of single results, NULL if there is none. */
const char *lacks_module(void);		/* what need_module() would say */
const char *lacks_debugfs(void);	/* the module's folder in debugfs can be read */
/* no other process holds the module, and its file is known */
const char *lacks_reload(void);

#endif
