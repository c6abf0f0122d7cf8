/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kjoule command as the tests run it. KJOULE in the environment names the binary;
 * without it the one that was built with the test is taken.
 */
#ifndef KJOULE_TEST_TOOL_H
#define KJOULE_TEST_TOOL_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

/* What the last run said. */
extern char *out, *err;

/* Run "kjoule" with these arguments. Return: exit code */
int kjoule(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, with standard output on a terminal of so many columns. */
int kjoule_on_terminal(unsigned short columns, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Run "kjoule" with these arguments, which ends with @code and prints JSON. Return: what it
 * printed, which is not to be freed
 */
struct json_object *kjoule_json(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same of "kjoule report --json OPTIONS", of temp_path(name). */
struct json_object *report_json(const char *options, const char *name);
/* Is it in the text, as it is or wrapped? */
bool says(const char *text, const char *what);
struct json_object *member(struct json_object *o, const char *key);
/* A member that is a text; "" if it is not there. */
const char *text_of(struct json_object *o, const char *key);
/* The @i-th of an array in it; NULL beyond the last, and if there is no array. */
struct json_object *item_of(struct json_object *o, const char *key, size_t i);
/* The first row with these texts: keys, each with its text, and NULL. */
struct json_object *row_with(struct json_object *doc, const char *key, ...)
	__attribute__((sentinel));
/* The first row of a kind, and of an object if that is not NULL. */
struct json_object *find_row(struct json_object *doc, const char *kind, const char *object);
/* The row of a function. */
struct json_object *find_named(struct json_object *doc, const char *function);
/*
 * A row's member, or the figure of one of its domains by the name that CSV has, "energy_package_j".
 * There has to be one, or null.
 */
struct json_object *figure_of(struct json_object *row, const char *key);
/* The same as a number; NAN if it is not known, or not there. */
double number(struct json_object *row, const char *key);
bool near(double a, double b, double by);

#endif /* KJOULE_TEST_TOOL_H */
