// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program in the guest sees of the chip: one verb for each promise, numbers as
 * "key value" lines on standard output. The tests selftests/vchip/test_chip_*.py
 * run it and judge. Needs root, and a guest booted with iomem=relaxed, so that the
 * registers can be mapped next to the driver.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

#include "interrupts.h"
#include "registers.h"
#include "work.h"

extern void mix_classes(uint64_t loops);
extern void mix_fault(void *page, uint64_t pages);
extern void mix_fetch(void *target);
extern void mix_rep(void *buffer, uint64_t length, uint64_t turns);
extern void mix_scan(void *buffer, uint64_t length, uint64_t turns);
extern void mix_unequal(uint64_t loops);
extern void mix_period(uint64_t loops);

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "chip: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void show(const char *key, uint64_t value)
{
	printf("%s %llu\n", key, (unsigned long long)value);
}

/* The caller sees to it that no governor writes the register meanwhile. */
static void set_frequency(unsigned int cpu, uint32_t khz)
{
	volatile struct vchip_cpu *regs = registers_cpu(cpu);
	uint64_t give_up = now_ns() + 1000000000;

	regs->req_khz = khz;
	while (regs->cur_khz != khz) {
		if (now_ns() > give_up) {
			fprintf(stderr, "chip: %u kHz not granted within a second\n", khz);
			exit(1);
		}
	}
}

struct reading {
	uint64_t wall, user, kernel, ref, instr_user;
};

static struct reading read_registers(unsigned int cpu)
{
	volatile struct vchip_cpu *r = registers_cpu(cpu);

	return (struct reading){
		.user = r->cycles_user,
		.kernel = r->cycles_kernel,
		.ref = r->ref_ns,
		.instr_user = r->instr_user,
	};
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

/*
 * What so many turns of a loop take, and to read that before and after. The clock is read outside
 * of the registers: it takes another six instructions where a second begins. Once more if an
 * interrupt came between the two.
 */
static struct reading spent(unsigned int cpu, const struct work *work, uint64_t loops)
{
	struct reading before, a, b, after;
	uint64_t begin, end;

	do {
		do {
			before = read_registers(cpu);
			begin = now_ns();
			a = read_registers(cpu);
		} while (before.kernel != a.kernel);
		work->run(loops);
		b = read_registers(cpu);
		end = now_ns();
		after = read_registers(cpu);
	} while (b.kernel != after.kernel);
	return (struct reading){
		.wall = end - begin,
		.user = b.user - a.user,
		.kernel = b.kernel - a.kernel,
		.ref = b.ref - a.ref,
		.instr_user = b.instr_user - a.instr_user,
	};
}

/*
 * speed CPU KHZ MS CLASS: turns of a loop of that class at a set frequency, for so long; what it
 * takes to read that is left out
 */
static void verb_speed(char **arg)
{
	unsigned int cpu = (unsigned int)number(arg[0]);
	const struct work *work = NULL;
	struct reading few, some, all;
	uint64_t loops;

	for (unsigned int w = 0; w < WORKS; w++)
		if (!strcmp(work_table[w].name, arg[3]))
			work = &work_table[w];
	if (!work) {
		fprintf(stderr, "chip: no work %s\n", arg[3]);
		exit(2);
	}
	pin(cpu);
	set_frequency(cpu, (uint32_t)number(arg[1]));
	spent(cpu, work, 1);
	few = spent(cpu, work, 1);
	some = spent(cpu, work, 11);
	loops = number(arg[2]) * number(arg[1]) * 10 / (some.user - few.user);
	/* whoever begins and ends this one and others has nothing to do meanwhile */
	usleep(500000);
	all = spent(cpu, work, loops + 1);
	usleep(500000);
	show("loops", loops);
	show("loop_cycles", all.user - few.user);
	show("loop_instr", all.instr_user - few.instr_user);
	show("wall_ns", all.wall - few.wall);
	show("cycles", all.user + all.kernel - few.user - few.kernel);
	show("ref_ns", all.ref - few.ref);
}

static void *fresh(size_t pages, int prot)
{
	void *p = mmap(NULL, pages * 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	/* Each page its own fault. */
	madvise(p, pages * 4096, MADV_NOHUGEPAGE);
	return p;
}

/* A page that begins with a ret, and that no page table has yet. */
static void *fresh_code(void)
{
	static int fd = -1;
	char page[4096] = { (char)0xc3 };
	void *p;

	if (fd < 0) {
		fd = memfd_create("code", 0);
		if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
			fail("memfd");
	}
	p = mmap(NULL, sizeof(page), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		fail("mmap code");
	return p;
}

/* mix LOOPS: known code between the marks "mix-begin" and "mix-end" */
static void verb_mix(char **arg)
{
	uint64_t loops = number(arg[0]);
	unsigned int cpu = 0;
	char *buffer;

	pin(cpu);
	buffer = fresh(257, PROT_READ | PROT_WRITE);
	memset(buffer, 0, 256 * 4096);
	registers_mark("mix-begin");
	mix_classes(loops);
	mix_fault(fresh(loops / 10, PROT_READ | PROT_WRITE), loops / 10);
	for (uint64_t i = 0; i < 20; i++)
		mix_fetch(fresh_code());
	mix_rep(buffer, 1000, 50);
	mix_rep(buffer, 0, 7);
	mix_rep(buffer, 1, 11);
	/* Long enough for several interrupts. */
	mix_rep(buffer, 256 * 4096, 2);
	/* Faults in the middle: four fresh pages. */
	mix_rep(fresh(4, PROT_READ | PROT_WRITE), 4 * 4096, 1);
	buffer[999] = 1;
	mix_scan(buffer, 1000, 13);
	buffer[999] = 0;
	mix_scan(buffer, 500, 17);
	registers_mark("mix-end");
	show("pid", (uint64_t)getpid());
}

static char *exact_buffer;

static void exact_classes(uint64_t n)
{
	mix_classes(n);
}

static void exact_fault(uint64_t n)
{
	mix_fault(exact_buffer, n);
}

static void exact_turns(uint64_t n)
{
	mix_rep(exact_buffer, 5000, n);
}

static void exact_length(uint64_t n)
{
	mix_rep(exact_buffer, n, 10);
}

static void exact_scan(uint64_t n)
{
	mix_scan(exact_buffer, 3000, n);
}

/*
 * User instructions that this CPU retires in a call; the least of several, which has no one else's.
 */
static uint64_t retired(void (*run)(uint64_t n), uint64_t n)
{
	volatile struct vchip_cpu *regs = registers_cpu(0);
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before, delta;

		exact_buffer = fresh(n + 1, PROT_READ | PROT_WRITE);
		before = regs->instr_user;
		run(n);
		delta = regs->instr_user - before;
		munmap(exact_buffer, (n + 1) * 4096);
		if (delta < least)
			least = delta;
	}
	return least;
}

/* exact: what a thousand more turns add to the retired user instructions, read from the page */
static void verb_exact(char **arg)
{
	(void)arg;
	pin(0);
	show("classes", retired(exact_classes, 2000) - retired(exact_classes, 1000));
	show("fault", retired(exact_fault, 2000) - retired(exact_fault, 1000));
	show("rep_turns", retired(exact_turns, 200) - retired(exact_turns, 100));
	show("rep_length", retired(exact_length, 200) - retired(exact_length, 100));
	show("scan", retired(exact_scan, 200) - retired(exact_scan, 100));
}

/* idle MS: what the first package does while everything sleeps */
static void verb_idle(char **arg)
{
	volatile struct vchip_pkg *pkg = registers_pkg(0);
	uint64_t energy, updates, chip, start;
	uint32_t raw;

	usleep(50000);
	start = now_ns();
	energy = pkg->energy_pkg_pj;
	updates = pkg->updates;
	chip = pkg->chip_ns;
	raw = pkg->energy_pkg_raw;
	usleep((useconds_t)number(arg[0]) * 1000);
	start = now_ns() - start;
	energy = pkg->energy_pkg_pj - energy;
	updates = pkg->updates - updates;
	chip = pkg->chip_ns - chip;
	raw = pkg->energy_pkg_raw - raw;
	show("wall_ns", start);
	show("energy_pj", energy);
	show("updates", updates);
	show("chip_ns", chip);
	show("raw", raw);
	show("temp_mc", (uint64_t)pkg->temp_mc);
	show("power_uw", pkg->power_uw);
}

/*
 * edges PACKAGE COUNT: the raw counters at their updates, as they move, and to when the energy in
 * picojoule is
 */
static void verb_edges(char **arg)
{
	volatile struct vchip_pkg *pkg = registers_pkg((unsigned int)number(arg[0]));

	for (uint64_t i = 0; i < number(arg[1]); i++) {
		uint64_t updates = pkg->updates, pkg_pj, core_pj, dram_pj, edge_ns, ns;

		while (pkg->updates == updates)
			;
		edge_ns = pkg->update_chip_ns;
		pkg_pj = pkg->energy_pkg_pj;
		core_pj = pkg->energy_core_pj;
		dram_pj = pkg->energy_dram_pj;
		ns = pkg->chip_ns;
		printf("edge raw %u core_raw %u pj %llu core_pj %llu edge_ns %llu chip_ns %llu updates %llu "
		       "dram_raw %u dram_pj %llu\n",
		       pkg->energy_pkg_raw, pkg->energy_core_raw, (unsigned long long)pkg_pj,
		       (unsigned long long)core_pj, (unsigned long long)edge_ns,
		       (unsigned long long)ns, (unsigned long long)pkg->updates,
		       pkg->energy_dram_raw, (unsigned long long)dram_pj);
	}
}

/*
 * marks COUNT: marks of the oracle, and what the packages' registers are right after each: those of
 * its very time, often
 */
static void verb_marks(char **arg)
{
	for (uint64_t i = 0; i < number(arg[0]); i++) {
		struct {
			uint64_t ns, pkg_pj, core_pj, dram_pj;
		} seen[VCHIP_MAX_PACKAGES];
		unsigned int packages = registers_head()->packages;
		char label[VCHIP_LABEL_LEN];

		snprintf(label, sizeof(label), "marks-%u", (unsigned int)i);
		registers_mark(label);
		for (unsigned int p = 0; p < packages; p++) {
			volatile struct vchip_pkg *pkg = registers_pkg(p);

			seen[p].pkg_pj = pkg->energy_pkg_pj;
			seen[p].core_pj = pkg->energy_core_pj;
			seen[p].dram_pj = pkg->energy_dram_pj;
			seen[p].ns = pkg->chip_ns;
		}
		for (unsigned int p = 0; p < packages; p++)
			printf("mark label %u package %u chip_ns %llu pkg_pj %llu core_pj %llu dram_pj %llu\n",
			       (unsigned int)i, p, (unsigned long long)seen[p].ns,
			       (unsigned long long)seen[p].pkg_pj,
			       (unsigned long long)seen[p].core_pj,
			       (unsigned long long)seen[p].dram_pj);
	}
}

static volatile bool sampled;

static void *sampled_work(void *data)
{
	char **arg = data;

	pin(0);
	set_frequency(0, (uint32_t)number(arg[1]));
	if (interrupts_on(number(arg[2]) * 1000))
		fail("perf_event_open");
	for (uint64_t end = now_ns() + number(arg[3]) * 1000000; now_ns() < end;) {
		if (!strcmp(arg[0], "unequal"))
			mix_unequal(2000);
		else
			mix_period(200);
	}
	sampled = true;
	return NULL;
}

/*
 * sample unequal|period KHZ PERIOD_US MS: CPU 0 works under interrupts, CPU 1 collects the
 * precise instruction pointers that the chip publishes
 */
static void verb_sample(char **arg)
{
	volatile struct vchip_cpu *regs = registers_cpu(0);
	static struct {
		uint64_t ip;
		uint64_t count;
	} seen[65536];
	uint32_t seq = regs->irq_seq;
	pthread_t thread;
	uint64_t all = 0;

	if (pthread_create(&thread, NULL, sampled_work, arg))
		fail("pthread_create");
	pin(1);
	while (!sampled) {
		uint64_t ip, h;
		uint32_t now = regs->irq_seq;

		if (now == seq)
			continue;
		seq = now;
		ip = regs->irq_ip;
		if ((regs->irq_flags & (VCHIP_IRQ_VALID | VCHIP_IRQ_KERNEL)) != VCHIP_IRQ_VALID ||
		    (uint32_t)(regs->irq_task >> 32) != (uint32_t)getpid() || regs->irq_seq != now)
			continue;
		all++;
		h = (ip * 0x9e3779b97f4a7c15ULL) >> 48;
		while (seen[h].ip && seen[h].ip != ip)
			h = (h + 1) % 65536;
		seen[h].ip = ip;
		seen[h].count++;
	}
	pthread_join(thread, NULL);
	show("samples", all);
	for (unsigned int i = 0; i < 65536; i++)
		if (seen[i].ip)
			printf("ip 0x%llx %llu\n", (unsigned long long)seen[i].ip,
			       (unsigned long long)seen[i].count);
}

static const struct {
	const char *name;
	int args;
	void (*run)(char **arg);
} verbs[] = {
	{ "speed", 4, verb_speed }, { "mix", 1, verb_mix }, { "exact", 0, verb_exact },
	{ "idle", 1, verb_idle }, { "edges", 2, verb_edges }, { "sample", 4, verb_sample },
	{ "marks", 1, verb_marks },
};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(argv[1], verbs[i].name) || argc - 2 != verbs[i].args)
			continue;
		registers_map();
		verbs[i].run(argv + 2);
		return 0;
	}
	fprintf(stderr, "usage: chip speed CPU KHZ MS CLASS | mix LOOPS | exact |\n"
			"            idle MS | edges PACKAGE N | sample unequal|period KHZ PERIOD_US MS | marks N\n");
	return 2;
}
