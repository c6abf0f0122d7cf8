// SPDX-License-Identifier: GPL-2.0-only
/*
 * where: host
 *
 * The time for which cores were held is added up in a file, from one chip to the next; short times are not in it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../../ktap.h"
#include "held.h"

static char path[] = "/tmp/vchip-held-XXXXXX";

static unsigned long long told(void)
{
	unsigned long long ns = 0;
	FILE *f = fopen(path, "r");

	if (f && fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

int main(void)
{
	close(mkstemp(path));
	ktap_check(held_open("/nowhere/file") < 0, "a file that can not be made is told");
	held_add(5 * HELD_LEAST_NS);
	ktap_check(!held_open(path) && !told(), "none is there before a core was held");
	held_add(HELD_LEAST_NS - 1);
	ktap_check(!told(), "a short time does not count");
	held_add(HELD_LEAST_NS);
	held_add(3 * HELD_LEAST_NS);
	ktap_check(told() == 4 * HELD_LEAST_NS, "longer ones are added up (%llu)", told());
	held_open(path);
	held_add(2 * HELD_LEAST_NS);
	ktap_check(told() == 6 * HELD_LEAST_NS, "and gone on from by the next chip (%llu)", told());
	unlink(path);
	return ktap_end();
}
