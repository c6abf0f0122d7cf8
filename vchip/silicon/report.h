/* SPDX-License-Identifier: GPL-2.0-only */
/* The oracle as text. */
#ifndef VCHIP_REPORT_H
#define VCHIP_REPORT_H

#include <stdint.h>
#include <stdio.h>

/* The file's first lines: what the profile makes of classes and P-states. */
void report_header(FILE *file);

/* What the oracle knows now, under a mark's number and name. */
void report_section(FILE *file, uint32_t seq, const char *name, uint64_t now);

#endif /* VCHIP_REPORT_H */
