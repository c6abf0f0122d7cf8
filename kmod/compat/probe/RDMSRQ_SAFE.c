// SPDX-License-Identifier: GPL-2.0-only
#include <asm/msr.h>

int probe(u64 *value);
int probe(u64 *value)
{
	return rdmsrq_safe(0x606, value);
}
