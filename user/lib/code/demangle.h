/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Function names as in their source, where a compiler mangled them (C++, Rust). */
#ifndef KJOULE_DEMANGLE_H
#define KJOULE_DEMANGLE_H

#include <stdbool.h>

/**
 * kjoule_demangle() - "_ZN1a1bEi" to "a::b(int)"
 * Return: the caller's to free; NULL: it is as it is, would be longer than 4 KiB, or there is no
 *   memory
 */
char *kjoule_demangle(const char *name);
/**
 * kjoule_name_is() - does @wanted mean this function?
 * @name: of a function, demangled
 * @wanted: the same; or without its parameters and return type, "a::b", which is all functions of
 *   that name; or mangled
 */
bool kjoule_name_is(const char *name, const char *wanted);

/** kjoule_name_is_part() - split off by a compiler: "a::b(int) [clone .cold]", "b.cold" */
bool kjoule_name_is_part(const char *name);

#endif /* KJOULE_DEMANGLE_H */
