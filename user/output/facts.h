/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known besides the figures, for people: the members of a JSON document's head, so that
 * text and JSON say the same.
 */
#ifndef KJOULE_FACTS_H
#define KJOULE_FACTS_H

#include <stdio.h>

struct json_object;

/**
 * facts_print() - the members of an object, as lines beginning with #
 * @name:	of the line of those members that are no objects nor lists of them
 *
 * Each member that is an object has a line, each list of objects a line for each of them. A unit at
 * the end of a name ("_ns", "_part", see facts.c) is printed with the figure, in a size that people
 * read. What is null, false or zero is left out.
 */
void facts_print(FILE *file, const char *name, struct json_object *facts);

#endif /* KJOULE_FACTS_H */
