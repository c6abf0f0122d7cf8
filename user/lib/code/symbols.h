/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of ELF files: from an offset in a file, as mapped, to a name.
 */
#ifndef KJOULE_SYMBOLS_H
#define KJOULE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kjoule_elf;

/*
 * A function; one from the unwinding table is named by its address. @start and @end are addresses
 * as in the file.
 */
struct kjoule_symbol {
	uint64_t start, end;
	char *name;
};

/**
 * kjoule_elf_open() - read a file's symbol table, and that of its separate debug file if there is
 * one
 * @build_id: in hex; a file with another one is refused. NULL: any
 * Return: 0; -ESTALE: another file by now; -ENODATA: no functions at all; -ENOEXEC: no ELF file;
 *   -errno
 */
int kjoule_elf_open(const char *path, const char *build_id, struct kjoule_elf **elf);
void kjoule_elf_close(struct kjoule_elf *elf);
/** kjoule_elf_address() - the file's own address of a byte @offset in it. Return: 0 or -ENOENT */
int kjoule_elf_address(const struct kjoule_elf *elf, uint64_t offset, uint64_t *address);
/** kjoule_elf_offset() - the inverse: offset in the file of an address. Return: 0 or -ENOENT */
int kjoule_elf_offset(const struct kjoule_elf *elf, uint64_t address, uint64_t *offset);
/** kjoule_elf_find() - the function around an address, or NULL */
const struct kjoule_symbol *kjoule_elf_find(const struct kjoule_elf *elf, uint64_t address);
/** kjoule_elf_find_around() - the same, and the addresses [@low, @high) with the same answer */
const struct kjoule_symbol *kjoule_elf_find_around(const struct kjoule_elf *elf, uint64_t address,
						   uint64_t *low, uint64_t *high);

/**
 * kjoule_elf_named() - the function of a name, or NULL; @several: out: others have that name as
 * well
 */
const struct kjoule_symbol *kjoule_elf_named(const struct kjoule_elf *elf, const char *name,
					     bool *several);

#endif /* KJOULE_SYMBOLS_H */
