// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session whose end waits for a slow device still ticks, and is still notified of a CPU that goes
 * offline: from then on none of that CPU's ticks is taken anywhere.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * timeout: 60
 */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "chip.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000
#define PERIOD_NS	20000000
#define SLOW_MS		900	/* less than what an end waits for devices */

static struct nl nl;
static struct nl_session info;
static struct device d;
static volatile bool ended;

static void *end_session(void *data)
{
	int *err = data;

	*err = nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	ended = true;
	return NULL;
}

static uint64_t taken(unsigned int cpu)
{
	return __atomic_load_n(&d.ring[cpu].head->taken, __ATOMIC_RELAXED);
}

static void check_end(unsigned int second)
{
	unsigned int at = d.ring[1].cpu == second;
	uint64_t first, gone, later;
	pthread_t thread;
	bool in_time;
	int err = -1;

	test_file_waits(SLOW_MS);
	sleep_ms(3 * PERIOD_NS / 1000000);
	first = taken(at);
	if (pthread_create(&thread, NULL, end_session, &err)) {
		ktap_not_ok("a thread");
		return;
	}
	while (taken(at) == first && !ended)
		sleep_ms(2);
	ktap_check(taken(at) > first, "while its end waits for a device it goes on");
	ktap_check(cpu_online(second, false), "a CPU goes offline meanwhile");
	gone = taken(at);
	sleep_ms(50);
	later = taken(at);
	in_time = !ended;
	pthread_join(thread, NULL);
	test_file_waits(0);
	if (!in_time)
		ktap_skip("its ticks are taken nowhere from then on",
			  "the session had ended before the CPU was gone: a faster machine is needed");
	else
		ktap_check_equal(gone, later, "its ticks are taken nowhere from then on");
	ktap_check_equal(0, err, "the session ends");
	ktap_check_equal(later, taken(at), "with no tick more of that CPU");
	ktap_check(cpu_online(second, true), "the CPU comes back");
}

int main(void)
{
	struct nl_spec spec = {
		.given = GIVE_FILE | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "file",
		.quantity = KJOULE_QUANTITY_POWER, .period_ns = PERIOD_NS,
	};
	unsigned int second;

	need_module();
	need_chip();
	second = need_hotplug();
	spec.fd = test_file();
	test_file_says("5\n");
	if (nl_open(&nl) ||
	    nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = &spec,
						     .n_specs = 1, .flags = KJOULE_FLAG_WAKE_IDLE },
			   &info) ||
	    device_open(&d, info.id) || device_map(&d) ||
	    nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info)) {
		ktap_not_ok("a session: %s", nl.why);
		return ktap_end();
	}
	sleep_ms(100);
	check_end(second);
	device_close(&d);
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
