// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel symbols, see kallsyms.h. record stores the part it needs, report finds functions in it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/search.h"
#include "lib/code/kallsyms.h"

/* Where the last function of a table is taken to end. */
#define LAST_LEN	4096

struct kjoule_kallsyms {
	char *text;
	size_t n, room;
	struct kjoule_kernel_symbol *symbols;	/* by start, end from the successor */
};

static int kernel_symbol_by_start(const void *a, const void *b)
{
	const struct kjoule_kernel_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of aliases the plainest name: fewest leading underscores, then alphabetic. */
	if (strspn(x->name, "_") != strspn(y->name, "_"))
		return strspn(x->name, "_") < strspn(y->name, "_") ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int kallsyms_add_symbol(struct kjoule_kallsyms *k, uint64_t start, const char *name,
			       const char *module)
{
	if (k->n == k->room) {
		size_t room = k->room ? 2 * k->room : 1024;
		void *p = realloc(k->symbols, room * sizeof(*k->symbols));

		if (!p)
			return -ENOMEM;
		k->symbols = p;
		k->room = room;
	}
	k->symbols[k->n++] = (struct kjoule_kernel_symbol){
		.start = start, .name = name, .module = module };
	return 0;
}

/* "ffffffff81000000 T name\t[module]"; cuts the line into strings. */
static int kallsyms_parse_line(struct kjoule_kallsyms *k, char *line, unsigned int *hidden)
{
	char *end, *name, *module = NULL;
	uint64_t start = strtoull(line, &end, 16);

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return 0;
	/* Code only; data symbols would end functions early or name what is none. */
	if (!strchr("tTwW", end[1]))
		return 0;
	name = end + 3;
	end = name + strcspn(name, "\t ");
	if (*end) {
		module = strchr(end, '[');
		*end = '\0';
		if (module) {
			module++;
			module[strcspn(module, "]")] = '\0';
		}
	}
	if (!*name)
		return 0;
	if (!start) {
		++*hidden;
		return 0;
	}
	return kallsyms_add_symbol(k, start, name, module);
}

static void kallsyms_set_ends(struct kjoule_kallsyms *k)
{
	size_t out = 0;

	qsort(k->symbols, k->n, sizeof(*k->symbols), kernel_symbol_by_start);
	for (size_t i = 0; i < k->n; i++)
		if (!out || k->symbols[out - 1].start != k->symbols[i].start)
			k->symbols[out++] = k->symbols[i];
	k->n = out;
	for (size_t i = 0; i < k->n; i++)
		k->symbols[i].end = i + 1 < k->n ? k->symbols[i + 1].start :
						   k->symbols[i].start + LAST_LEN;
}

int kjoule_kallsyms_parse(const char *text, size_t len, struct kjoule_kallsyms **out)
{
	struct kjoule_kallsyms *k = calloc(1, sizeof(*k));
	unsigned int hidden = 0;
	char *line, *next;
	int ret = 0;

	*out = NULL;
	if (!k)
		return -ENOMEM;
	k->text = malloc(len + 1);
	if (!k->text) {
		free(k);
		return -ENOMEM;
	}
	memcpy(k->text, text, len);
	k->text[len] = '\0';
	for (line = k->text; line && !ret; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		ret = kallsyms_parse_line(k, line, &hidden);
	}
	if (!ret && !k->n && hidden)
		ret = -EPERM;
	if (ret) {
		kjoule_kallsyms_free(k);
		return ret;
	}
	if (k->n)
		kallsyms_set_ends(k);
	*out = k;
	return 0;
}

int kjoule_kallsyms_read(struct kjoule_kallsyms **out)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char *text = NULL;
	size_t len = 0, room = 0, n;
	int ret;

	*out = NULL;
	if (!f)
		return -errno;
	do {
		if (room - len < 65536) {
			char *p = realloc(text, room ? 2 * room : 1 << 20);

			if (!p) {
				fclose(f);
				free(text);
				return -ENOMEM;
			}
			text = p;
			room = room ? 2 * room : 1 << 20;
		}
		n = fread(text + len, 1, room - len, f);
		len += n;
	} while (n);
	fclose(f);
	ret = kjoule_kallsyms_parse(text, len, out);
	free(text);
	return ret;
}

void kjoule_kallsyms_free(struct kjoule_kallsyms *k)
{
	if (!k)
		return;
	free(k->symbols);
	free(k->text);
	free(k);
}

static size_t kallsyms_index_of(const struct kjoule_kallsyms *k, uint64_t ip)
{
	size_t n = kjoule_count_members(k->symbols, k->n, start, ip);

	return n ? n - 1 : SIZE_MAX;
}

const struct kjoule_kernel_symbol *kjoule_kallsyms_find(const struct kjoule_kallsyms *k,
							uint64_t ip)
{
	size_t i = k && k->n ? kallsyms_index_of(k, ip) : SIZE_MAX;

	return i != SIZE_MAX && ip < k->symbols[i].end ? &k->symbols[i] : NULL;
}

int kjoule_kallsyms_subset(const struct kjoule_kallsyms *k, const uint64_t *ips, size_t n,
			   char **text, size_t *len)
{
	uint8_t *wanted = calloc(k->n + 2, 1);
	FILE *f = open_memstream(text, len);

	if (!wanted || !f) {
		free(wanted);
		if (f)
			fclose(f);
		return -ENOMEM;
	}
	/* The function and its successor, for its end. */
	for (size_t i = 0; i < n; i++) {
		const struct kjoule_kernel_symbol *s = kjoule_kallsyms_find(k, ips[i]);

		if (s) {
			wanted[s - k->symbols] = 1;
			wanted[s - k->symbols + 1] = 1;
		}
	}
	for (size_t i = 0; i < k->n; i++) {
		const struct kjoule_kernel_symbol *s = &k->symbols[i];

		if (wanted[i])
			fprintf(f, s->module ? "%" PRIx64 " t %s\t[%s]\n" : "%" PRIx64 " t %s\n",
				s->start, s->name, s->module);
	}
	free(wanted);
	return fclose(f) ? -ENOMEM : 0;
}
