/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's symbols that a recording needs, as addresses change with every boot. */
#ifndef KJOULE_KALLSYMS_H
#define KJOULE_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

struct kjoule_kallsyms;

/* A function of the kernel; the strings live as long as the table. */
struct kjoule_kernel_symbol {
	uint64_t start, end;
	const char *name;
	const char *module;	/* NULL: the kernel itself */
};

/**
 * kjoule_kallsyms_parse() - from the text of /proc/kallsyms, or a part of it
 * Invalid lines are skipped. Return: 0, -ENOMEM, -EPERM if every address is 0
 */
int kjoule_kallsyms_parse(const char *text, size_t len, struct kjoule_kallsyms **out);
/** kjoule_kallsyms_read() - from /proc/kallsyms. Return: as above, or -errno */
int kjoule_kallsyms_read(struct kjoule_kallsyms **out);
void kjoule_kallsyms_free(struct kjoule_kallsyms *k);
/** kjoule_kallsyms_find() - the function around @ip, or NULL */
const struct kjoule_kernel_symbol *kjoule_kallsyms_find(const struct kjoule_kallsyms *k,
							uint64_t ip);
/**
 * kjoule_kallsyms_subset() - text for kjoule_kallsyms_parse() with what is needed for @ips
 * @text: the caller's to free
 * Return: 0 or -ENOMEM
 */
int kjoule_kallsyms_subset(const struct kjoule_kallsyms *k, const uint64_t *ips, size_t n,
			   char **text, size_t *len);

#endif /* KJOULE_KALLSYMS_H */
