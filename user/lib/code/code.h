/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is at an address of an ELF file: the code itself, and its lines of source. */
#ifndef KJOULE_CODE_H
#define KJOULE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kjoule_code;

/* A line of source. Strings live as long as the code. */
struct kjoule_line {
	const char *file;	/* its path where it was compiled; NULL: unknown */
	unsigned int line;	/* from 1; 0: the compiler made this for no line in particular */
	const char *function;	/* that the line is in, inlined or not; NULL: unknown */
};

/* Limit of functions inlined into each other. */
#define KJOULE_LINES_MOST	16

/** kjoule_code_open() - a file that kjoule_elf_open() has taken. Return: 0, -ENOEXEC, -ENOMEM */
int kjoule_code_open(const char *path, struct kjoule_code **code);
void kjoule_code_close(struct kjoule_code *code);
/** kjoule_code_owner() - the user that the file belongs to */
uid_t kjoule_code_owner(const struct kjoule_code *code);
/** kjoule_code_machine() - ELF's e_machine */
unsigned int kjoule_code_machine(const struct kjoule_code *code);
/**
 * kjoule_code_bytes() - the code itself
 * @address: the file's own
 * @len: out: how many bytes follow in the same section
 * Return: the bytes, NULL where there are none
 */
const void *kjoule_code_bytes(struct kjoule_code *code, uint64_t address, size_t *len);
/**
 * kjoule_code_line() - the line of an instruction, without its function. Return: false if unknown
 */
bool kjoule_code_line(struct kjoule_code *code, uint64_t address, struct kjoule_line *line);
/**
 * kjoule_code_lines() - where an instruction comes from
 * @lines: out: room for KJOULE_LINES_MOST; first the line itself, then, if it was inlined, the line
 *		of each call, outwards; the last one is in the function itself
 * Return: how many; 0 without debug information
 */
size_t kjoule_code_lines(struct kjoule_code *code, uint64_t address, struct kjoule_line *lines);
/**
 * kjoule_code_find() - where the code of some lines begins: all addresses of the line table, in no
 * order
 * @is: is it one of them? The line has no function; @arg: for @is
 * @addresses: out: the file's own, the caller's to free
 * Return: 0, also for none; -ENOMEM
 */
int kjoule_code_find(struct kjoule_code *code,
		     bool (*is)(const struct kjoule_line *line, const void *arg), const void *arg,
		     uint64_t **addresses, size_t *n);

#endif /* KJOULE_CODE_H */
