/* SPDX-License-Identifier: GPL-2.0-only */
/* A consistent copy of everything the oracle knows, and how it becomes text. */
#ifndef VCHIP_SNAPSHOT_H
#define VCHIP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "oracle.h"
#include "package.h"

struct table_copy {
	char *entry;
	size_t room;	/* entries */
	size_t used;	/* entries */
};

struct core_copy {
	struct table_copy table[TABLES];
	struct vchip_cpu regs;
};

struct snapshot {
	uint32_t seq;
	char label[VCHIP_LABEL_LEN];
	uint64_t chip_ns;
	uint64_t guest_ns;
	uint64_t cost_ns;	/* the longest copy by a CPU */
	struct core_copy core[VCHIP_MAX_CPUS];
	struct package_books books;
	struct vector *vectors;
};

/* The text of it (report.c). Context: the writer, one at a time. */

/* The file's first lines: what the profile makes of classes and P-states. */
void report_header(FILE *file);

/* A section's first lines: the mark and the CPUs' registers. */
void report_mark(FILE *file, const struct snapshot *snapshot);

/* A whole section. */
void report_write(FILE *file, const struct snapshot *snapshot);

#endif /* VCHIP_SNAPSHOT_H */
