// SPDX-License-Identifier: GPL-2.0-only
/*
 * where: host
 *
 * What a request comes to, by the log, on chips that do what is requested and on such that do not;
 * when a core stops by itself. Time is the test's own, that of a halted CPU;
 * selftests/vchip/test_chip_grants_*.py see the same in guests.
 */
#include <inttypes.h>
#include <string.h>

#include "../../selftests/ktap.h"
#include "grants.h"
#include "log.h"
#include "package.h"
#include "shipped.h"
#include "smi.h"
#include "time.h"
#include "turbo.h"

#define US	UINT64_C(1000)
#define TRIES	400

struct page page;
struct core cores[VCHIP_MAX_CPUS];
unsigned int core_count = 1;
const struct profile *chip;

static struct profile profile;
static struct vchip_cpu regs;
static struct vchip_pkg pkg;
static struct package package;
static uint64_t now = 1000000 * US;
static uint64_t paused_ns;
static char text[1 << 16];

/* The rest of the chip, as far as it is needed. */
void core_set_pstate(struct core *c, unsigned int pstate, uint64_t at_ns)
{
	(void)at_ns;
	c->pstate = pstate;
	c->regs->cur_khz = chip->freq_khz[pstate];
}

void time_pause(struct core *c, uint64_t ns)
{
	(void)c;
	paused_ns = ns;
}

void time_expect(uint64_t ns)
{
	(void)ns;
}

void package_power_changed(struct package *p)
{
	(void)p;
}

/* A chip that was just switched on, with an empty log. */
static struct core *start(const char *name, uint32_t khz)
{
	struct core *c = &cores[0];

	shipped(&profile, name);
	chip = &profile;
	regs = (struct vchip_cpu){ 0 };
	pkg = (struct vchip_pkg){ 0 };
	page.pkg[0] = &pkg;
	turbo_init(&package.turbo, 0);
	*c = (struct core){ .regs = &regs, .whims = 1, .bit = 1, .package = &package,
			    .ceiling = turbo_ceiling(&package.turbo) };
	c->asked = profile_pstate(chip, khz);
	core_set_pstate(c, profile_pstate(chip, khz), now);
	smi_init(c);
	return c;
}

static void ask(struct core *c, uint32_t khz)
{
	regs.req_khz = khz;
	grants_serve(c, now);
}

/* From one grant that is due to the next. */
static void wait_us(struct core *c, uint64_t us)
{
	uint64_t end = now + us * US;

	while (now < end) {
		uint64_t next = grants_next(c);

		now = next < end ? next : end;
		grants_serve(c, now);
	}
}

static double in_us(uint64_t ns)
{
	return (double)ns / (double)US;
}

/* The log since the last call, its times less @zero in us, each line with a blank behind. */
static const char *logged(uint64_t zero)
{
	FILE *file = tmpfile();
	char line[256], *p = text;

	log_write(file);
	rewind(file);
	*p = '\0';
	while (fgets(line, sizeof(line), file)) {
		uint64_t asked_ns, at;
		unsigned int from, to, asked, left;
		char why[16];

		if (sscanf(line, "grant,0,%u,%u,%" SCNu64 ",%" SCNu64 ",%u,%u", &from, &to,
			   &asked_ns, &at, &asked, &left) == 6)
			p += sprintf(p, "%u>%u@%.10g-%.10g for %u, %u left; ", from, to,
				     in_us(asked_ns - zero), in_us(at - zero), asked, left);
		else if (sscanf(line, "refusal,0,%u,%u,%" SCNu64 ",%15s", &from, &asked, &asked_ns,
				why) == 4)
			p += sprintf(p, "%u no %u@%.10g: %s; ", from, asked, in_us(asked_ns - zero),
				     why);
		else
			p += sprintf(p, "%s; ", line);
	}
	fclose(file);
	return text;
}

static void comes_to(struct core *c, uint32_t khz, const char *want, const char *promise)
{
	uint64_t zero = now;
	const char *got;

	ask(c, khz);
	wait_us(c, 5000);
	got = logged(zero);
	ktap_check(!strcmp(got, want), "%s", promise);
	if (strcmp(got, want))
		printf("# wanted: %s\n# got:    %s\n", want, got);
}

static void tame(void)
{
	struct core *c = start("plain", 25000);

	comes_to(c, 100000, "25000>100000@0-240 for 100000, 0 left; ",
		 "a change is granted after its latency");
	comes_to(c, 12345, "", "what is no P-state is no request");
	comes_to(c, 100000, "", "nor is the present frequency");
	ktap_check(!paused_ns && !c->smi_ref, "and the core does not stop");
}

static void never(void)
{
	struct core *c = start("nevergrants", 25000);
	uint64_t zero;

	comes_to(c, 60000, "25000 no 60000@0: never; ",
		 "a change that is never granted is not, and the log says so");
	zero = now;
	ask(c, 100000);
	wait_us(c, 100);
	ask(c, 60000);
	wait_us(c, 5000);
	ktap_check(!strcmp(logged(zero), "25000 no 60000@100: never; "),
		   "it replaces a request that is pending");
	comes_to(c, 75000, "25000>75000@0-180 for 75000, 0 left; ", "others are granted after it");
	comes_to(c, 60000, "75000>60000@0-80 for 60000, 0 left; ",
		 "the same frequency from another one, too");
}

static void other(void)
{
	struct core *c = start("othergrant", 100000);

	comes_to(c, 90000, "100000>80000@0-80 for 90000, 0 left; ",
		 "another frequency is granted, and the log has both");
	comes_to(c, 90000, "", "a request that was made is none");
	ask(c, 80000);
	comes_to(c, 90000, "80000 no 90000@0: same; ",
		 "where the other one runs already nothing comes of it");
	comes_to(c, 25000, "80000>25000@0-80 for 25000, 0 left; ",
		 "others are granted as they are");
	comes_to(c, 60000, "25000>75000@0-180 for 60000, 0 left; ",
		 "the latency is that of what is granted");
}

static void stepped(void)
{
	struct core *c = start("stepped", 25000);
	uint64_t zero;

	comes_to(c, 100000,
		 "25000>50000@0-240 for 100000, 3 left; 50000>75000@0-840 for 100000, 2 left; "
		 "75000>90000@0-1440 for 100000, 1 left; 90000>100000@0-2040 for 100000, 0 left; ",
		 "upwards steps are granted one after another");
	comes_to(c, 25000, "100000>25000@0-80 for 25000, 0 left; ", "downwards it is one");
	comes_to(c, 40000, "25000>40000@0-120 for 40000, 0 left; ", "less than a step is one");
	zero = now;
	ask(c, 100000);
	wait_us(c, 700);
	ask(c, 25000);
	wait_us(c, 5000);
	ktap_check(!strcmp(logged(zero), "40000>60000@0-80 for 100000, 2 left; 60000>80000@0-680 for 100000, 1 left; "
					 "80000>25000@700-780 for 25000, 0 left; "),
		   "another request ends them where they are");
	zero = now;
	ask(c, 100000);
	wait_us(c, 300);
	ask(c, 50000);
	wait_us(c, 5000);
	ktap_check(!strcmp(logged(zero), "25000>50000@0-240 for 100000, 3 left; "),
		   "so does one for the frequency of the step");
}

static void grid(void)
{
	struct core *c = start("client", 800000);

	now = 1000000 * US;
	comes_to(c, 2400000, "800000>2400000@0-500 for 2400000, 0 left; ",
		 "a change is granted when the grid comes next");
	now = 2000480 * US;
	comes_to(c, 800000, "2400000>800000@0-20 for 800000, 0 left; ", "which may be soon");
	now = 3000495 * US;
	comes_to(c, 2000000, "800000>2000000@0-505 for 2000000, 0 left; ",
		 "but not before its latency is over");
}

static void slow(void)
{
	struct core *c = start("slowgrant", 40000);
	uint64_t zero = now;

	ask(c, 90000);
	wait_us(c, 1999999);
	ktap_check(c->pending && !*logged(zero), "a slow change is not granted early");
	wait_us(c, 1);
	ktap_check(!strcmp(logged(zero), "40000>90000@0-2000000 for 90000, 0 left; "), "nor late");
}

static void jitter(void)
{
	struct core *c = start("jitter", 47059);
	uint64_t least = UINT64_MAX, most = 0, sum = 0;

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t us;

		ask(c, 100000);
		us = (c->due_ns - now) / US;
		sum += us;
		least = us < least ? us : least;
		most = us > most ? us : most;
		ask(c, 47059);
	}
	/* 2108 us, 10 % of that either way */
	ktap_check(least >= 1897 && least < 1910 && most <= 2318 && most > 2305, "latencies are spread over the jitter");
	ktap_check(sum / TRIES > 2080 && sum / TRIES < 2136, "around what the profile says");
	logged(0);
}

static void smi(void)
{
	struct core *c = start("smi", 100000);
	unsigned int times = 0, long_apart = 0;
	uint64_t least = UINT64_MAX, most = 0, last = 0, count = 0;

	c->running = c->charging = true;
	while (times < TRIES) {
		c->time = smi_next(c) << FIXNS_SHIFT;
		c->ref = c->time;
		paused_ns = 0;
		smi_serve(c);
		times++;
		least = paused_ns < least ? paused_ns : least;
		most = paused_ns > most ? paused_ns : most;
		long_apart += time_of(c) - last > 60000 * US;
		last = time_of(c);
	}
	/* 60 ms in the mean; of an exponential distribution 1 / e is longer */
	ktap_check(last / TRIES > 60000 * US * 8 / 10 && last / TRIES < 60000 * US * 12 / 10, "a core stops as often as the profile says");
	ktap_check(long_apart > TRIES * 28 / 100 && long_apart < TRIES * 46 / 100, "at moments that nothing can keep step with");
	ktap_check(least >= 300 * US && least < 400 * US && most <= 3000 * US && most > 2900 * US, "for as long as the profile says");
	for (const char *p = logged(0); (p = strstr(p, "smi,0,")); p++)
		count++;
	ktap_check(count == TRIES, "each time is in the log");
}

int main(void)
{
	tame();
	never();
	other();
	stepped();
	grid();
	slow();
	jitter();
	smi();
	return ktap_end();
}
