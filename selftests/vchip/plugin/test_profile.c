// SPDX-License-Identifier: GPL-2.0-only
/*
 * where: host
 *
 * Every shipped profile can be read; a faulty one is refused with file, line and reason.
 */
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "../../ktap.h"
#include "profile.h"

static char folder[] = "/tmp/vchip-profile-XXXXXX";

static const char *write_profile(const char *text)
{
	static char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/test.profile", folder);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	return path;
}

static const char good[] =
	"name = good\nfreq_khz = 10000 20000\nvoltage_mv = 500 1000\n"
	"latency_us.10000 = 0 100\nlatency_us.20000 = 50\nidle.0 = 1 2 500\n"
	"update_period_us = 1000\nbase_uw = 5\nleak_uw = 6\n"
	"class.int = 1 1000\nclass.mul = 1 1001\nclass.div = 1 1\nclass.load = 1 1\nclass.store = 1 1\n"
	"class.branch = 1 1\nclass.fp = 1 1\nclass.vector = 1 1\nclass.fpdiv = 1 1\nclass.atomic = 1 1\n"
	"class.string = 1 1\nclass.nop = 1 1\nclass.other = 1 1\nclass.slow = 1 1\nclass.io = 1 1\nclass.entry = 1 1\n";

static void refuses(const char *line, const char *reason)
{
	char text[4096], error[512] = "";
	struct profile p;
	bool kept;

	snprintf(text, sizeof(text), "%s%s\n", good, line);
	kept = profile_load(&p, write_profile(text), error, sizeof(error)) < 0 && strstr(error, reason);
	ktap_check(kept, "\"%s\" is refused: %s", line, reason);
	if (!kept)
		printf("# got: %s\n", error);
}

int main(void)
{
	char error[512] = "", shipped[512];
	struct profile p;
	glob_t found;
	int err;

	if (!mkdtemp(folder))
		return 1;
	err = profile_load(&p, write_profile(good), error, sizeof(error));
	ktap_check(!err, "a good profile is read");
	if (err)
		printf("# %s\n", error);
	ktap_check(p.vsq_q16[0] == 16384 && p.vsq_q16[1] == 65536, "energy follows the square of the voltage");
	ktap_check(profile_energy_pj(&p, CLASS_MUL, 0) == 250, "energy is rounded to the picojoule");
	ktap_check(p.latency_ns[0][1] == 100000 && p.latency_ns[1][0] == 50000, "latencies are read by pair");
	ktap_check(profile_max_latency_ns(&p) == 100000, "the largest latency is known");
	ktap_check(p.boot_pstate == 1, "the chip boots at its highest frequency");
	refuses("nonsense = 1", "unknown key");
	refuses("nonsense", "key = value");
	refuses("freq_khz = 20000 10000", "ascending");
	refuses("voltage_mv = 1", "one value for each");
	refuses("latency_us.15000 = 1", "does not name");
	refuses("latency_us.10000 = 1 2 3", "one latency for each");
	refuses("class.magic = 1 1", "no such instruction class");
	refuses("class.int = 0 1", "CYCLES");
	refuses("idle.3 = 1 2 3", "without gaps");
	refuses("esu = 40", "esu");
	refuses("base_uw = -5", "number expected");
	refuses("quantum_cycles = 5", "quantum_cycles");
	refuses("meter_lsb_uw = 0", "meter_lsb_uw");
	refuses("include = missing.profile", "cannot open");

	snprintf(shipped, sizeof(shipped), "%s*.profile", PROFILES);
	if (!glob(shipped, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			err = profile_load(&p, found.gl_pathv[i], error, sizeof(error));
			ktap_check(!err, "%s is read", strrchr(found.gl_pathv[i], '/') + 1);
			if (err)
				printf("# %s\n", error);
		}
		globfree(&found);
	}
	unlink(write_profile(good));
	rmdir(folder);
	return ktap_end();
}
