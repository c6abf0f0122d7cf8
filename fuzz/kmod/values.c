// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What attributes mean, as far as a request that is meant well needs it: the specification
 * tells only their types. An attribute that is not named here gets any number or text, so a new
 * one is tried as well.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/kjoule.h>
#include <linux/kjoule_netlink.h>

#include "world.h"

#define MS		1000000ULL
#define SMALL_RING	4096
#define LARGE_RING	(1 << 20)
#define LARGE_STACK	65384		/* its record is just too long for a message of netlink */

static bool is(const struct rule_set *set, const struct rule_attr *attr, const char *set_name,
	       const char *name)
{
	return !strcmp(set->name, set_name) && !strcmp(attr->name, name);
}

/* What the attributes of a request for a session have to agree on. */
void value_plan(struct world *w)
{
	static const uint64_t interval[] =
		{ MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 1000 * MS, 4000 * MS };

	w->plan.target = dice_one_in(&w->dice, 2) ? KJOULE_TARGET_SYSTEM : dice_below(&w->dice, 4);
	w->plan.interval_ns = interval[dice_below(&w->dice, 8)];
	w->plan.flags = dice_bits(&w->dice) &
			(dice_one_in(&w->dice, 2) ? 0x1f : KJOULE_FLAG_WAKE_IDLE);
	if (w->plan.target != KJOULE_TARGET_PROCESS)
		w->plan.flags &= ~(uint64_t)KJOULE_FLAG_INHERIT;
	w->plan.big = w->plan.interval_ns >= 50 * MS && dice_one_in(&w->dice, 16);
	w->plan.holds = dice_one_in(&w->dice, 12) ? 1 + dice_below(&w->dice, 2) : HOLDS_NOBODY;
	/* somewhere in our own code */
	w->plan.block = (uintptr_t)value_plan + dice_below(&w->dice, 64);
}

void value_plan_spec(struct world *w)
{
	w->plan.origin = dice_below(&w->dice, 4);
	/* energy has to move within 300 ms, and here there is little that does */
	w->plan.quantity = dice_one_in(&w->dice, 40) ? KJOULE_QUANTITY_ENERGY :
			   KJOULE_QUANTITY_COUNT;
	if (w->plan.origin != KJOULE_ORIGIN_PERF_PMU && dice_one_in(&w->dice, 2))
		w->plan.quantity = KJOULE_QUANTITY_POWER + dice_below(&w->dice, 2);
}

static uint32_t a_pid(struct world *w)
{
	const uint32_t pids[] = { getpid(), w->tid, w->busy, getppid(), 1, 2, 99999 };

	return pids[dice_below(&w->dice, 7)];
}

static uint64_t number_of_session(struct world *w, const struct rule_attr *attr)
{
	const char *name = attr->name;

	if (!strcmp(name, "id"))
		return any_session(w);
	if (!strcmp(name, "interval-ns"))
		return w->plan.interval_ns;
	if (!strcmp(name, "jitter-ns"))
		return dice_bits(&w->dice) % w->plan.interval_ns;
	if (!strcmp(name, "target"))
		return w->plan.target;
	if (!strcmp(name, "pid"))
		return a_pid(w);
	if (!strcmp(name, "ring-bytes"))
		return w->plan.big ? LARGE_RING : SMALL_RING << dice_below(&w->dice, 6);
	if (!strcmp(name, "wakeup-bytes"))
		return dice_below(&w->dice, SMALL_RING + 1);
	if (!strcmp(name, "cgroup-fd"))
		return w->cgroup_fd;
	if (!strcmp(name, "chain-depth"))
		return 1 + dice_below(&w->dice, 127);
	if (!strcmp(name, "stack-bytes"))
		return w->plan.big ? LARGE_STACK : 8 * (1 + dice_below(&w->dice, 64));
	if (!strcmp(name, "flags"))
		return w->plan.flags;
	if (!strcmp(name, "edge-duty"))
		return 10 + dice_below(&w->dice, 491);
	if (!strcmp(name, "vpm-interval-ns"))
		return dice_below(&w->dice, 2) * (40 + dice_below(&w->dice, 100)) * MS;
	if (!strcmp(name, "block-pid"))
		return a_pid(w);
	if (!strcmp(name, "block-start"))
		return w->plan.block;
	if (!strcmp(name, "block-next"))
		return w->plan.block + 1 + dice_below(&w->dice, 15);
	if (!strcmp(name, "block-end"))
		return w->plan.block + 16 + dice_below(&w->dice, 4096);
	return dice_number(&w->dice);
}

static uint64_t number_of_spec(struct world *w, const struct rule_attr *attr)
{
	const char *name = attr->name;

	if (!strcmp(name, "origin"))
		return w->plan.origin;
	if (!strcmp(name, "quantity"))
		return w->plan.quantity;
	if (!strcmp(name, "class"))
		return dice_below(&w->dice, KJOULE_DOMAIN_PSYS + 1);
	if (!strcmp(name, "unit-mult"))
		return 1 + (dice_number(&w->dice) >> 1);
	if (!strcmp(name, "unit-shift"))
		return dice_below(&w->dice, 65);
	if (!strcmp(name, "range"))
		return w->plan.quantity == KJOULE_QUANTITY_COUNT ? dice_number(&w->dice) : 0;
	if (!strcmp(name, "period-ns"))
		return w->plan.origin == KJOULE_ORIGIN_REGISTERED ? 0 :
		       (1 + dice_below(&w->dice, 1000)) * MS;
	/* the first ones hold a number */
	if (!strcmp(name, "fd"))
		return w->stranger[dice_below(&w->dice,
					      dice_one_in(&w->dice, 3) ? w->strangers : 4)];
	if (!strcmp(name, "perf-type"))
		return dice_one_in(&w->dice, 3) ? dice_below(&w->dice, 8) : 1;	/* of software */
	if (!strcmp(name, "perf-config"))
		return dice_below(&w->dice, 12);
	return dice_number(&w->dice);
}

uint64_t value_number(struct world *w, const struct rule_set *set, const struct rule_attr *attr)
{
	if (!strcmp(set->name, "session"))
		return number_of_session(w, attr);
	if (!strcmp(set->name, "source-spec"))
		return number_of_spec(w, attr);
	if (!strcmp(attr->name, "session"))
		return any_session(w);
	if (is(set, attr, "source", "id"))
		return 1 + dice_below(&w->dice, 6);
	if (attr->entries)
		return dice_below(&w->dice, attr->entries);
	return dice_number(&w->dice);
}

const char *value_text(struct world *w, const struct rule_set *set, const struct rule_attr *attr)
{
	static const char *const sources[] =
		{ "", "rapl", "aperf", "cpufreq", "vchip", "power", "AC", "BAT0" };
	static const char *const names[] =
		{ "one", "two", "a source with a name of 31 bytes", "%s%n", "a/b", "." };

	/* by default nothing is asked for, which is all that there is here */
	if (!strcmp(set->name, "session"))
		return sources[dice_one_in(&w->dice, 10) ? dice_below(&w->dice, 8) : 0];
	if (is(set, attr, "source-spec", "name") && w->plan.origin != KJOULE_ORIGIN_REGISTERED)
		return names[dice_below(&w->dice, 6)];
	return sources[dice_below(&w->dice, 8)];
}

/* A mask of CPUs, or any bytes. */
size_t value_bytes(struct world *w, const struct rule_attr *attr, uint8_t *to, size_t room)
{
	size_t bytes = 1 + dice_below(&w->dice, 16);

	memset(to, 0, bytes < room ? bytes : room);
	if (!strcmp(attr->name, "cpus")) {
		to[0] = 1 + dice_below(&w->dice, 3);
		return dice_one_in(&w->dice, 3) ? 1 : bytes;
	}
	dice_fill(&w->dice, to, bytes);
	return bytes;
}

static int wanted_of_session(const struct world *w, const char *name)
{
	bool task = w->plan.target == KJOULE_TARGET_PROCESS ||
		    w->plan.target == KJOULE_TARGET_THREAD;

	if (!strcmp(name, "interval-ns") || !strcmp(name, "ring-bytes"))
		return 1;
	if (!strcmp(name, "target"))
		return w->plan.target ? 1 : 0;
	if (!strcmp(name, "pid"))
		return task ? 1 : -1;
	if (!strcmp(name, "cgroup-fd"))
		return w->plan.target == KJOULE_TARGET_CGROUP ? 1 : -1;
	if (!strcmp(name, "flags"))
		return w->plan.flags ? 1 : 0;
	if (!strcmp(name, "chain-depth"))
		return w->plan.flags & (KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN) ? 0 : -1;
	if (!strcmp(name, "stack-bytes"))
		return w->plan.flags & KJOULE_FLAG_USER_STACK ? 1 : -1;
	/*
	 * without a counter that moves, and a meter, these are refused: they must not spoil all the
	 * others
	 */
	if (!strcmp(name, "edge-duty"))
		return w->plan.holds == HOLDS_IN_WINDOWS ? 1 : -1;
	if (!strcmp(name, "vpm-interval-ns"))
		return w->plan.holds == HOLDS_AT_BLOCKS ? 1 : -1;
	if (!strcmp(name, "vpm-source"))
		return w->plan.holds == HOLDS_AT_BLOCKS ? 0 : -1;
	if (!strcmp(name, "block-pid") || !strcmp(name, "block-start") ||
	    !strcmp(name, "block-next"))
		return 1;
	return 0;
}

static int wanted_of_spec(const struct world *w, const char *name)
{
	bool file = w->plan.origin == KJOULE_ORIGIN_VALUE_FILE;
	bool pmu = w->plan.origin == KJOULE_ORIGIN_PERF_PMU;
	bool supply = w->plan.origin == KJOULE_ORIGIN_POWER_SUPPLY;

	if (!strcmp(name, "origin") || !strcmp(name, "name"))
		return 1;
	if (!strcmp(name, "quantity"))
		return file || pmu ? 1 : supply ? 0 : -1;
	if (!strcmp(name, "class"))
		return file || pmu || supply ? 0 : -1;
	if (!strcmp(name, "unit-mult") || !strcmp(name, "unit-shift"))
		return file || pmu ? 0 : -1;
	if (!strcmp(name, "range"))
		return file ? 0 : -1;
	if (!strcmp(name, "fd"))
		return file ? 1 : -1;
	if (!strcmp(name, "period-ns"))
		return pmu ? -1 : 0;
	if (!strcmp(name, "perf-type") || !strcmp(name, "perf-config"))
		return pmu ? 1 : -1;
	return 0;
}

int value_wanted(struct world *w, const struct rule_set *set, const struct rule_attr *attr)
{
	if (!strcmp(set->name, "source-spec"))
		return wanted_of_spec(w, attr->name);
	if (!strcmp(attr->name, "id") || !strcmp(attr->name, "session"))
		return 1;
	if (!strcmp(set->name, "session"))
		return wanted_of_session(w, attr->name);
	return 0;
}
