/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kjoule list shows besides sources.
 */
#ifndef KJOULE_LIST_H
#define KJOULE_LIST_H

#include "output.h"

/** list_sessions() - a line for each session. Return: the exit code */
int list_sessions(enum output_format format);

#endif /* KJOULE_LIST_H */
