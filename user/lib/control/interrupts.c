// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/control/interrupts.h"

/* Which column of the head is CPU @cpu's. Return: from 0, or -1 */
static int cpu_find_column(char *head, unsigned int cpu)
{
	char *save = NULL, *name = strtok_r(head, " \t\n", &save);

	for (int i = 0; name; i++, name = strtok_r(NULL, " \t\n", &save))
		if (!strncmp(name, "CPU", 3) && strtoul(name + 3, NULL, 10) == cpu)
			return i;
	return -1;
}

/* The number in column @column of a row; 0 if the row is shorter, as those of totals. */
static uint64_t row_read_cell(const char *row, int column)
{
	const char *p = strchr(row, ':');
	uint64_t value = 0;

	for (int i = 0; p && i <= column; i++) {
		char *end;

		p += strcspn(p, " \t");
		p += strspn(p, " \t");
		if (!isdigit((unsigned char)*p))
			return 0;
		value = strtoull(p, &end, 10);
		p = end;
	}
	return p ? value : 0;
}

static bool row_is_total(const char *row)
{
	row += strspn(row, " ");
	return !strncmp(row, "ERR:", 4) || !strncmp(row, "MIS:", 4);
}

int kjoule_interrupts_parse(FILE *f, unsigned int cpu, uint64_t *count)
{
	char *line = NULL;
	size_t room = 0;
	int column = -1;

	*count = 0;
	errno = 0;
	if (getline(&line, &room, f) > 0)
		column = cpu_find_column(line, cpu);
	while (column >= 0 && getline(&line, &room, f) > 0)
		if (!row_is_total(line))
			*count += row_read_cell(line, column);
	free(line);
	return errno == ENOMEM ? -ENOMEM : column < 0 ? -ENXIO : 0;
}

int kjoule_interrupts(unsigned int cpu, uint64_t *count)
{
	FILE *f = fopen("/proc/interrupts", "re");
	int ret;

	if (!f)
		return -errno;
	ret = kjoule_interrupts_parse(f, cpu, count);
	fclose(f);
	return ret;
}
