// SPDX-License-Identifier: GPL-2.0-only
/*
 * where: host
 *
 * Every shipped profile can be read; a faulty one is refused with file, line and reason.
 */
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "../../selftests/ktap.h"
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

static bool load(struct profile *p, const char *path)
{
	char error[512] = "";
	bool read = !profile_load(p, path, error, sizeof(error));

	if (!read)
		printf("# %s\n", error);
	return read;
}

static bool load_with(struct profile *p, const char *line)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s\n", good, line);
	return load(p, write_profile(text));
}

static bool load_shipped(struct profile *p, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s.profile", PROFILES, name);
	return load(p, path);
}

static void misbehaves_when_told(void)
{
	struct profile p;

	ktap_check(load_with(&p, "") && !p.latency_jitter_percent && !p.step_ns &&
		   !p.smi_every_ns &&
			   p.granted[0] == 0 && p.granted[1] == 1,
		   "a chip that is not set to misbehave does not");
	ktap_check(load_with(&p, "latency_us.20000 = never") &&
		   p.latency_ns[1][0] == LATENCY_NEVER &&
			   profile_max_latency_ns(&p) == 100000,
		   "a change that is never granted is no latency");
	ktap_check(load_with(&p, "latency_us.20000 = 70 never") && p.latency_ns[1][0] == 70000 &&
			   p.latency_ns[1][1] == LATENCY_NEVER,
		   "it stands in a row among others");
	ktap_check(load_with(&p, "granted_khz.10000 = 20000") && p.granted[0] == 1 &&
		   p.granted[1] == 1,
		   "another frequency is granted for the one that is asked for");
	ktap_check(load_with(&p,
			     "granted_khz.10000 = 20000\nfreq_khz = 5000 6000\nvoltage_mv = 1 2") &&
			   p.granted[0] == 0,
		   "not where the frequencies are replaced");
	ktap_check(load_with(&p, "latency_jitter_percent = 20") &&
		   profile_max_latency_ns(&p) == 120000,
		   "the largest latency has its jitter");
	ktap_check(load_with(&p, "smi_every_us = 5000\nsmi_us = 10 20") &&
		   p.smi_every_ns == 5000000 &&
			   p.smi_min_ns == 10000 && p.smi_max_ns == 20000,
		   "a core stops at times");
	ktap_check(load_shipped(&p, "stepped") && p.step_ns && p.step_pstates == 2 &&
			   profile_max_latency_ns(&p) == p.latency_ns[0][7] + 3 * p.step_ns,
		   "the largest latency has its steps");
}

/* Changes downwards all take the same, and less than any upwards. */
static bool flat_down(const struct profile *p)
{
	for (unsigned int i = 1; i < p->pstates; i++)
		for (unsigned int j = 0; j < i; j++)
			if (p->latency_ns[i][j] != p->latency_ns[1][0] ||
			    p->latency_ns[i][j] >= p->latency_ns[j][i])
				return false;
	return true;
}

/*
 * Changes upwards go by the target alone and never shrink with it. Return: different latencies; 0:
 * they do.
 */
static unsigned int levels_up(const struct profile *p)
{
	unsigned int levels = 1;

	for (unsigned int j = 2; j < p->pstates; j++) {
		levels += p->latency_ns[0][j] != p->latency_ns[0][j - 1];
		if (p->latency_ns[0][j] < p->latency_ns[0][j - 1])
			return 0;
		for (unsigned int i = 1; i < j; i++)
			if (p->latency_ns[i][j] != p->latency_ns[0][j])
				return 0;
	}
	return levels;
}

/* Do latencies upwards lie on a line over the target frequency, within 2 %? */
static bool linear_up(const struct profile *p)
{
	const uint64_t *ns = p->latency_ns[0];
	unsigned int last = p->pstates - 1;
	double slope = ((double)ns[last] - (double)ns[1]) / (p->freq_khz[last] - p->freq_khz[1]);

	for (unsigned int j = 1; j < last; j++) {
		double want = (double)ns[1] + slope * (p->freq_khz[j] - p->freq_khz[1]);

		if ((double)ns[j] < 0.98 * want || (double)ns[j] > 1.02 * want)
			return false;
	}
	return slope > 0;
}

static bool stretched(const struct profile *p, double lowest_ghz, double highest_ghz)
{
	double low = lowest_ghz * 1e6 / p->clock_scale / p->freq_khz[0];
	double high = highest_ghz * 1e6 / p->clock_scale / p->freq_khz[p->pstates - 1];

	return p->pstates >= 8 && low > 0.995 && low < 1.005 && high > 0.995 && high < 1.005 &&
	       p->freq_khz[p->pstates - 1] > 95000 && p->freq_khz[p->pstates - 1] < 101000 &&
	       p->pause_ns == 9500ULL * p->clock_scale;
}

static void shaped_like_the_paper(void)
{
	struct profile p;

	ktap_check(load_shipped(&p, "westmere") && stretched(&p, 1.59, 2.66) && flat_down(&p) &&
		   levels_up(&p) >= 3 &&
			   levels_up(&p) < p.pstates - 2,
		   "westmere: up in three steps or more, down flat");
	ktap_check(load_shipped(&p, "sandybridge") && stretched(&p, 1.6, 3.3) && flat_down(&p) &&
			   levels_up(&p) == p.pstates - 1 && linear_up(&p),
		   "sandybridge: up by the target frequency, down flat");
	ktap_check(load_shipped(&p, "ivybridge") && stretched(&p, 1.6, 3.4) && flat_down(&p) &&
		   levels_up(&p) >= 3 &&
			   levels_up(&p) < p.pstates - 2,
		   "ivybridge: up in three steps or more, down flat");
}

static void has_packages(void)
{
	struct profile p;

	ktap_check(load_with(&p, "") && !profile_package(&p, 7) && !p.has_dram,
		   "without a word on packages and memory there is one package, and no counter of memory");
	ktap_check(load_with(&p, "cores = 4\nthreads = 1") && !profile_package(&p, 7),
		   "whatever CPUs it has");
	ktap_check(load_with(&p, "packages = 2\ncores = 2\nthreads = 2") &&
		   !profile_package(&p, 3) &&
			   profile_package(&p, 4) == 1 && profile_package(&p, 7) == 1 &&
			   profile_package(&p, 8) == 2,
		   "a package has its cores' threads, in their order");
	ktap_check(load_with(&p, "dram.store = 7") && p.has_dram && p.dram_pj[CLASS_STORE] == 7 &&
		   !p.dram_pj[CLASS_LOAD],
		   "memory takes energy by class");
	ktap_check(load_with(&p, "dram_base_uw = 7") && p.has_dram && p.dram_base_uw == 7,
		   "or always");
}

static void refuses(const char *line, const char *reason)
{
	char text[4096], shown[128], error[512] = "";
	struct profile p;
	bool kept;

	snprintf(text, sizeof(text), "%s%s\n", good, line);
	kept = profile_load(&p, write_profile(text), error, sizeof(error)) < 0 &&
	       strstr(error, reason);
	snprintf(shown, sizeof(shown), "%s", line);
	for (char *end = shown; (end = strchr(end, '\n'));)
		*end = ';';
	ktap_check(kept, "\"%s\" is refused: %s", shown, reason);
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
	refuses("meter_lsb_uw = 0", "meter_lsb_uw");
	refuses("latency_us.10000 = sometimes", "one latency for each");
	refuses("latency_us.10000 = 0 neverever", "one latency for each");
	refuses("latency_us.10000 = 0 4000001", "above 4 s");
	refuses("base_uw = never", "number expected");
	refuses("granted_khz.15000 = 10000", "does not name");
	refuses("granted_khz.10000 = 15000", "none of freq_khz");
	refuses("latency_jitter_percent = 101", "latency_jitter_percent");
	refuses("step_pstates = 0", "step_pstates");
	refuses("step_us = 5000000", "above 4 s");
	refuses("latency_us.10000 = 0 4000000\nlatency_jitter_percent = 1", "above 4 s");
	refuses("reset_khz = 999", "reset_khz");
	refuses("smi_us = 10", "LEAST MOST");
	refuses("smi_us = 20 10", "LEAST MOST");
	refuses("smi_every_us = 1000", "smi_us is missing");
	refuses("smi_every_us = 1000\nsmi_us = 10 2000", "longer than");
	refuses("turbo_khz = 20000", "without base_khz");
	refuses("turbo_ends = power", "without tau_us");
	refuses("turbo_ends = temperature", "without turbo_trip_mc");
	refuses("turbo_ends = time\nturbo_time_us = 5", "or turbo_rest_us");
	refuses("turbo_ends = time\nturbo_rest_us = 5", "without turbo_time_us");
	refuses("turbo_ends = luck", "none");
	refuses("packages = 3\ncores = 1", "packages");
	refuses("packages = 0", "packages");
	refuses("packages = 2", "without cores");
	refuses("packages = 2\ncores = 5", "1 to 8 CPUs");
	refuses("packages = 2\ncores = 1\nmeter_us = 5", "meter");
	refuses("dram.magic = 1", "no such instruction class");
	refuses("dram.load = 1 2", "PICOJOULES");
	refuses("include = missing.profile", "cannot open");

	misbehaves_when_told();
	has_packages();
	shaped_like_the_paper();

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
