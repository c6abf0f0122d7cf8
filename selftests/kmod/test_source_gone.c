// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device whose file and power supply are read by a session goes away meanwhile: nothing
 * holds its driver back, each reading from then on is counted as an error, and the session
 * goes on. The chip's driver is unloaded for that and loaded again from where it was built.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * boot: own
 * timeout: 60
 */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "chip.h"
#include "guest.h"
#include "module.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	2000000
#define PERIOD_NS	10000000

static struct nl nl;
static struct nl_session info;
static struct device d;
static char folder[PATH_MAX];	/* of the driver's modules */

static const struct nl_use *use(unsigned int i)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info);
	return &info.use[i];
}

/* Let the thread read at least twice more: the second of these began after the call. */
static void let_read(unsigned int source)
{
	uint64_t reads = use(source)->reads, limit = now_ns() + PATIENCE_NS;

	while (use(source)->reads < reads + 2 && now_ns() < limit)
		sleep_ms(2);
}

/* Where the driver can be loaded from again. */
static bool find_driver(void)
{
	char ko[PATH_MAX], file[PATH_MAX + 32];

	snprintf(ko, sizeof(ko), "%s", module_path());
	snprintf(folder, sizeof(folder), "%.4000s/../vchip", dirname(ko));
	snprintf(file, sizeof(file), "%s/vchip_source.ko", folder);
	return !access(file, R_OK);
}

static void check_gone(void)
{
	struct nl_spec specs[2] = { {
		.given = GIVE_FILE | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_VALUE_FILE, .name = "file",
		.quantity = KJOULE_QUANTITY_POWER, .period_ns = PERIOD_NS, .fd = test_file() }, {
		.given = GIVE_NAMED | GIVE(PERIOD_NS), .origin = KJOULE_ORIGIN_POWER_SUPPLY,
		.name = "vchip", .period_ns = PERIOD_NS } };
	uint64_t errors[2], reads[2];
	unsigned int i;

	test_file_says("5\n");
	if (nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .specs = specs,
						     .n_specs = 2, .frequency = "" }, &info) ||
	    device_open(&d, info.id) ||
	    nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info)) {
		ktap_not_ok("a session: %s", nl.why);
		return;
	}
	let_read(0);
	let_read(1);
	ktap_check(!use(0)->errors && !use(1)->errors && info.use[0].reads && info.use[1].reads,
		   "a file and a power supply of a device are read");
	if (system("rmmod vchip_source && rmmod vchip")) {
		ktap_not_ok("the device's driver can be unloaded while they are used");
		return;
	}
	ktap_ok("the device's driver can be unloaded while they are used");
	let_read(0);
	let_read(1);
	for (i = 0; i < 2; i++) {
		errors[i] = use(i)->errors;
		reads[i] = info.use[i].reads;
	}
	await(use(0)->reads >= reads[0] + 10);
	await(use(1)->reads >= reads[1] + 10);
	for (i = 0; i < 2; i++)
		ktap_check(use(i)->errors - errors[i] > 5 &&
			   info.use[i].errors - errors[i] <= info.use[i].reads - reads[i] + 1,
			   "source %u: without its device each reading is counted as an error", i);
	ktap_check_equal(KJOULE_SESSION_RUNNING, info.state, "the session goes on");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	device_close(&d);
	close(specs[0].fd);
}

static void load_again(void)
{
	char command[2 * sizeof(folder) + 64];

	snprintf(command, sizeof(command), "insmod %s/vchip.ko && insmod %s/vchip_source.ko", folder, folder);
	ktap_check_equal(0, system(command), "the driver can be loaded again");
}

int main(void)
{
	need_module();
	need_root();
	need_chip();
	if (!find_driver())
		ktap_skip_all("unloads the chip's driver, and vchip_source.ko is not there to load it again: "
			      "run it in kjoule's tree, selftests/run.sh");
	if (nl_open(&nl)) {
		ktap_not_ok("the family: %s", nl.why);
		return ktap_end();
	}
	check_gone();
	load_again();
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
