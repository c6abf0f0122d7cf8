// SPDX-License-Identifier: GPL-2.0-or-later
/* See any_source.h. */
#include <fcntl.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include "any_source.h"
#include "chip.h"

#define PERIOD_NS	10000000

struct nl_spec any_counter(void)
{
	return (struct nl_spec){ .given = GIVE_PMU | GIVE(UNIT_MULT) | GIVE(UNIT_SHIFT),
				 .origin = KJOULE_ORIGIN_PERF_PMU, .name = "counter",
				 .quantity = KJOULE_QUANTITY_ENERGY, .unit_mult = 1,
				 .perf_type = PERF_TYPE_SOFTWARE,
				 .perf_config = PERF_COUNT_SW_CPU_CLOCK };
}

struct nl_spec any_file(void)
{
	int fd = open("/sys/kernel/uevent_seqnum", O_RDONLY | O_CLOEXEC);

	return (struct nl_spec){ .given = GIVE_FILE | GIVE(PERIOD_NS),
				 .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "file",
				 .quantity = KJOULE_QUANTITY_COUNT, .period_ns = PERIOD_NS,
				 .fd = fd };
}

bool any_supply(struct nl_spec *spec)
{
	*spec = (struct nl_spec){ .given = GIVE_NAMED | GIVE(PERIOD_NS),
				  .origin = KJOULE_ORIGIN_POWER_SUPPLY, .name = "test_battery",
				  .period_ns = PERIOD_NS };
	return !access("/sys/class/power_supply/test_battery", F_OK);
}
