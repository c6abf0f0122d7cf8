// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's table of interrupts.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/control/interrupts.h"
#include "tests/support/unit.h"

/* CPU 1 is offline. */
static const char table[] =
	"           CPU0       CPU2       CPU12      \n"
	"  0:         20          3          0   IO-APIC   2-edge      timer\n"
	" 24:          1          0          7  PCI-MSI 1-edge      virtio0-config 99\n"
	"NMI:          0          4          0   Non-maskable interrupts\n"
	"LOC:    4000000000 4000000000     50   Local timer interrupts\n"
	"ERR:          5\n"
	"MIS:          6\n";

static int parse(const char *text, unsigned int cpu, uint64_t *count)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int ret;

	assert_non_null(f);
	ret = kjoule_interrupts_parse(f, cpu, count);
	fclose(f);
	return ret;
}

TEST(a_column_is_summed)
{
	uint64_t n;

	assert_int_equal(parse(table, 0, &n), 0);
	assert_int_equal(n, 4000000021);
	assert_int_equal(parse(table, 2, &n), 0);
	assert_int_equal(n, 4000000007);
	assert_int_equal(parse(table, 12, &n), 0);
	assert_int_equal(n, 57);
}

TEST(no_column_no_count)
{
	uint64_t n;

	assert_int_equal(parse(table, 1, &n), -ENXIO);
	assert_int_equal(parse("\n", 0, &n), -ENXIO);
	assert_int_equal(parse("CPU0\nno numbers\n 5:\n 6: x\n 7: 4", 0, &n), 0);
	assert_int_equal(n, 4);
}
