/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of functions as their source has them, where a compiler has made them longer (C++, Rust).
 */
#ifndef KJOULE_DEMANGLE_H
#define KJOULE_DEMANGLE_H

#include <stdbool.h>

/**
 * kjoule_demangle() - "_ZN1a1bEi" to "a::b(int)"
 * Return: the caller's to free; NULL: it is as it is, would be longer than 4 KiB, or there is no memory
 */
char *kjoule_demangle(const char *name);
/**
 * kjoule_name_is() - is it what somebody means by @wanted?
 * @name:	of a function, demangled
 * @wanted:	the same; or without its parameters and what it returns, "a::b", which is all functions of that name; or mangled
 */
bool kjoule_name_is(const char *name, const char *wanted);

/** kjoule_name_is_part() - of what a compiler has split off a function: "a::b(int) [clone .cold]", "b.cold" */
bool kjoule_name_is_part(const char *name);

#endif /* KJOULE_DEMANGLE_H */
