// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes what `scripts/bench analyse` measures with: the same samples of one made-up program as a
 * recording of kjoule and as one of perf. Called by bench/analyse.py.
 *
 *	recordings source FUNCTIONS		the program, in assembler, to standard output
 *	recordings samples ELF N KJOULE [PERF M] N samples into KJOULE, and the first M of them into
 *	PERF
 *
 * The program has two threads, each on a CPU of its own, and phases of some hundred ticks. In each
 * phase a thread is among a few functions, some of them more often, and stays in one for some
 * ticks. A phase has a frequency, and the counter moves every millisecond by what the functions
 * draw. Numbers come from a fixed seed: all runs are alike.
 */
#include <assert.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/file/datafile.h"
#include "lib/file/meta.h"
#include "lib/file/pack.h"
#include "tests/support/synthetic.h"

#define CPUS		2
#define INTERVAL_NS	50000ull	/* 20 kHz */
#define UPDATE_TICKS	20		/* the counter moves every millisecond */
#define T0_NS		1000000000ull
#define PID		100
#define PHASE_TICKS	2000
#define OWN		25		/* functions of a phase */
#define COMMON		8		/* functions of all phases */
#define BESIDE		8		/* functions of the second thread in a phase */
#define STAYS		2		/* of 4: the next tick is in the same function */
#define LUMP		(1u << 20)	/* packed records of a chunk, as record has them */
#define ROUND		20000		/* samples of perf between two ends of a round */

/* The program */

struct function {
	uint64_t start, size;
	double watts;
};

struct program {
	const char *path;
	uint64_t load, offset, len;	/* of its code */
	size_t n;
	struct function *functions;
};

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void read_segments(struct program *p, Elf *elf)
{
	size_t n;

	assert(!elf_getphdrnum(elf, &n));
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		assert(gelf_getphdr(elf, i, &ph));
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		p->load = ph.p_vaddr & ~4095ull;
		p->offset = ph.p_offset & ~4095ull;
		p->len = (ph.p_vaddr + ph.p_memsz - p->load + 4095) & ~4095ull;
	}
	assert(p->len);
}

static void read_functions(struct program *p, Elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		GElf_Shdr sh;

		assert(gelf_getshdr(scn, &sh));
		if (sh.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		p->functions = calloc(sh.sh_size / sh.sh_entsize, sizeof(*p->functions));
		assert(data && p->functions);
		for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
			GElf_Sym sym;

			assert(gelf_getsym(data, i, &sym));
			if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_size)
				p->functions[p->n++] =
					(struct function){ sym.st_value, sym.st_size, 0 };
		}
	}
	assert(p->n > OWN + COMMON + BESIDE);
	qsort(p->functions, p->n, sizeof(*p->functions), by_start);
}

static void read_program(struct program *p, const char *path)
{
	int fd = open(path, O_RDONLY);
	uint64_t state = 7;
	Elf *elf;

	*p = (struct program){ .path = realpath(path, NULL) };
	elf_version(EV_CURRENT);
	elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (!elf || !p->path) {
		fprintf(stderr, "recordings: %s: cannot be read as an ELF file\n", path);
		exit(1);
	}
	read_segments(p, elf);
	read_functions(p, elf);
	for (size_t i = 0; i < p->n; i++)
		p->functions[i].watts = 1 + 2 * rnd_unit(&state);
	elf_end(elf);
	close(fd);
}

static void print_source(unsigned int functions)
{
	uint64_t state = 3;

	puts("\t.text\n\t.globl _start\n_start:");
	for (unsigned int i = 0; i < functions; i++)
		printf("\t.globl function_%u\n\t.type function_%u, @function\nfunction_%u:\n\t.fill %u, 1, 0x90\n\tret\n"
		       "\t.size function_%u, .-function_%u\n", i, i, i,
		       31 + 16 * (unsigned int)(rnd(&state) % 24), i, i);
}

/* What runs */

struct thread {
	uint64_t state;
	uint32_t function;
	uint32_t khz;
};

struct world {
	const struct program *program;
	uint64_t state;
	size_t phase, phases;
	uint32_t base_khz;
	struct thread threads[CPUS];
	double uj;
};

/* Of @n, the first ones more often. */
static uint32_t often(uint64_t *state, uint32_t n)
{
	double u = rnd_unit(state);

	return (uint32_t)(u * u * u * n);
}

static void step_thread(struct world *w, unsigned int cpu)
{
	struct thread *t = &w->threads[cpu];
	uint64_t dice = rnd(&t->state);
	uint32_t first = w->phase * OWN, k;

	if (dice % 4 >= STAYS) {
		k = often(&t->state, cpu ? BESIDE : OWN + COMMON);
		t->function = k < OWN ? (COMMON + first + k) % w->program->n : k - OWN;
	}
	/* mostly as asked for */
	t->khz = dice >> 8 & 7 ? w->base_khz : w->base_khz - (dice >> 12) % 4000;
}

static void step(struct world *w, uint64_t tick)
{
	if (tick % PHASE_TICKS == 0) {
		w->phase = (tick / PHASE_TICKS < w->phases ? tick / PHASE_TICKS : rnd(&w->state)) %
			   w->phases;
		w->base_khz = 2000000 + 400000 * (rnd(&w->state) % 4);
	}
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		step_thread(w, cpu);
		w->uj += w->program->functions[w->threads[cpu].function].watts * INTERVAL_NS * 1e-3;
	}
}

/* kjoule's */

struct stream {
	struct kjoule_packer packer;
	uint8_t data[LUMP + 4096];
	size_t len;
	struct kjoule_cpu_stats books;
};

static void flush(struct kjoule_writer *w, struct stream *s, unsigned int cpu)
{
	struct kjoule_task task =
		{ .rec = { KJOULE_RECORD_TASK, 0, sizeof(task) }, .pid = PID + cpu, .tgid = PID };

	if (s->len && kjoule_writer_chunk(w, KJOULE_CHUNK_RING, cpu, s->data, s->len, NULL)) {
		fputs("recordings: the recording cannot be written; is the disk full?\n", stderr);
		exit(1);
	}
	memset(&s->packer, 0, sizeof(s->packer));
	s->len = kjoule_pack(&s->packer, &task.rec, s->data);
}

static void put(struct stream *s, const struct kjoule_record *rec)
{
	s->len += kjoule_pack(&s->packer, rec, s->data + s->len);
	s->books.records++;
	s->books.consumed++;
}

static void put_reading(struct stream *s, uint64_t tick, double uj)
{
	const struct kjoule_energy e = { .rec = { KJOULE_RECORD_ENERGY, 0, sizeof(e) + 8 },
					 .tick = tick, .delay_ns = 900, .domains = 1 };
	uint64_t record[sizeof(e) / 8 + 1];

	memcpy(record, &e, sizeof(e));
	record[sizeof(e) / 8] = uj;
	put(s, (const struct kjoule_record *)record);
}

static void put_text(struct kjoule_writer *w, enum kjoule_chunk_type type, char *text)
{
	assert(text && !kjoule_writer_chunk(w, type, 0, text, strlen(text), NULL));
	free(text);
}

static struct kjoule_writer *begin_kjoule(const char *path, const struct program *p)
{
	struct kjoule_calibration cal = { .cpu = 0, .ticks = 20000, .tick_ns = 900,
		.tick_error_ns = 5, .handler_ns = 400, .handler_spread_ns = 20, .entry_ns = 500,
		.freq_khz = 2600000, .other_part = 0.002, .n_domains = 1, .irq_uw = { 2e6 },
		.irq_error_uw = { 1e4 }, .loop_uw = { 2e6 }, .idle_uj = { NAN },
		.idle_uw = { NAN } };
	struct kjoule_error err = { "" };
	struct buffer side = { 0 };
	struct kjoule_writer *w;
	struct kjoule_meta meta;

	if (kjoule_writer_open(path, &w, &err)) {
		fprintf(stderr, "recordings: %s\n", err.text);
		exit(1);
	}
	make_meta(&meta, CPUS, INTERVAL_NS, KJOULE_TARGET_PROCESS);
	meta.session.sources[0].n_domains = 1;
	meta.session.sources[0].domains[0].update_period_ns = UPDATE_TICKS * INTERVAL_NS;
	put_text(w, KJOULE_CHUNK_META, kjoule_meta_encode(&meta));
	put_text(w, KJOULE_CHUNK_CALIBRATION, kjoule_calibration_encode(&cal));
	put_exec_event(&side, T0_NS - 2, PID, PID);
	put_map(&side, PID, T0_NS - 1, p->load, p->len, p->offset, p->path);
	assert(!kjoule_writer_chunk(w, KJOULE_CHUNK_SIDE_BAND, 0, side.data, side.len, NULL));
	free(side.data);
	return w;
}

static void end_kjoule(struct kjoule_writer *w, struct stream *streams, uint64_t ticks)
{
	struct kjoule_end end = { .reason = "command ended", .start_ns = T0_NS,
				  .stop_ns = T0_NS + ticks * INTERVAL_NS };
	struct kjoule_cpu_stats books[CPUS];

	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		flush(w, &streams[cpu], cpu);
		books[cpu] = streams[cpu].books;
	}
	put_text(w, KJOULE_CHUNK_STATS, kjoule_stats_encode(books, CPUS));
	put_text(w, KJOULE_CHUNK_END, kjoule_end_encode(&end));
	assert(!kjoule_writer_close(w, NULL));
}

/* perf's: as perf.data-file-format.txt of the kernel's documentation has it */

struct perf_header {
	char magic[8];
	uint64_t size, attr_size;
	uint64_t attrs_at, attrs_len, data_at, data_len, types_at, types_len;
	uint64_t features[4];
};

struct perf_attr {
	struct perf_event_attr attr;
	uint64_t ids_at, ids_len;
};

#define PERF_ROUND	68	/* user space's record: what came before can be put in order */

struct perf_file {
	FILE *f;
	uint64_t len, samples;
};

static void put_perf(struct perf_file *p, const void *record, size_t len)
{
	if (fwrite(record, 1, len, p->f) != len) {
		fputs("recordings: perf's file cannot be written; is the disk full?\n", stderr);
		exit(1);
	}
	p->len += len;
}

static void begin_perf(struct perf_file *p, const char *path, const struct program *program)
{
	struct perf_attr attr = { .attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr.attr),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = INTERVAL_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.sample_id_all = 1, .mmap = 1, .mmap2 = 1, .comm = 1 } };
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		char comm[16];
		uint32_t id_pid, id_tid;
		uint64_t time, cpu;
	} comm = { .h = { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(comm) }, .pid = PID,
		   .tid = PID, .comm = "program", .id_pid = PID, .id_tid = PID, .time = T0_NS - 2 };
	struct buffer map = { 0 };

	p->f = fopen(path, "wb");
	if (!p->f) {
		perror(path);
		exit(1);
	}
	/* the header is written when the length is known */
	fseek(p->f, sizeof(struct perf_header), SEEK_SET);
	assert(fwrite(&attr, sizeof(attr), 1, p->f) == 1);
	put_perf(p, &comm, sizeof(comm));
	/* what follows the name is laid out as in the side band: thread, time, CPU */
	put_map(&map, PID, T0_NS - 1, program->load, program->len, program->offset, program->path);
	put_perf(p, map.data, map.len);
	free(map.data);
}

static void perf_sample(struct perf_file *p, uint64_t ip, unsigned int cpu, uint64_t time_ns)
{
	struct {
		struct perf_event_header h;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t period;
	} s = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(s) }, ip, PID, PID, time_ns,
		cpu, 0, INTERVAL_NS };
	struct perf_event_header round = { PERF_ROUND, 0, sizeof(round) };

	put_perf(p, &s, sizeof(s));
	if (++p->samples % ROUND == 0)
		put_perf(p, &round, sizeof(round));
}

static void end_perf(struct perf_file *p)
{
	struct perf_header h = { .magic = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
		.size = sizeof(h), .attr_size = sizeof(struct perf_attr), .attrs_at = sizeof(h),
		.attrs_len = sizeof(struct perf_attr),
		.data_at = sizeof(h) + sizeof(struct perf_attr), .data_len = p->len };

	rewind(p->f);
	if (fwrite(&h, sizeof(h), 1, p->f) != 1 || fclose(p->f)) {
		perror("recordings: perf's file");
		exit(1);
	}
}

static void make_samples(const struct program *p, uint64_t n, const char *path,
			 const char *perf_path, uint64_t perf_n)
{
	struct world w = { .program = p, .state = 11, .phases = p->n / OWN,
			   .threads = { { .state = 21 }, { .state = 22 } } };
	struct stream *streams = calloc(CPUS, sizeof(*streams));
	struct kjoule_writer *writer = begin_kjoule(path, p);
	struct perf_file perf = { 0 };
	uint64_t ticks = n / CPUS;

	assert(streams);
	if (perf_path)
		begin_perf(&perf, perf_path, p);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		streams[cpu].books.cpu = cpu;
		flush(writer, &streams[cpu], cpu);
	}
	for (uint64_t tick = 0; tick < ticks; tick++) {
		if (tick % UPDATE_TICKS == 0)
			put_reading(&streams[0], tick, w.uj);
		step(&w, tick);
		for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
			struct stream *s = &streams[cpu];
			const struct function *f = &p->functions[w.threads[cpu].function];
			uint64_t dice = rnd(&w.threads[cpu].state);
			struct kjoule_sample sample = {
				.rec = { KJOULE_RECORD_SAMPLE, 0, sizeof(sample) }, .tick = tick,
				.delay_ns = 700 + (dice & 511) + (dice >> 10 & 511),
				.freq_khz = w.threads[cpu].khz,
				.ip = f->start + (dice >> 32) % f->size };

			put(s, &sample.rec);
			s->books.samples++;
			s->books.due++;
			s->books.produced++;
			s->books.tick_ns += 400;
			if (s->len >= LUMP)
				flush(writer, s, cpu);
			if (perf.samples < perf_n)
				perf_sample(&perf, sample.ip, cpu,
					    T0_NS + tick * INTERVAL_NS + sample.delay_ns);
		}
	}
	end_kjoule(writer, streams, ticks);
	if (perf_path)
		end_perf(&perf);
	free(streams);
}

int main(int argc, char **argv)
{
	struct program p;

	if (argc == 3 && !strcmp(argv[1], "source")) {
		print_source(atoi(argv[2]));
		return 0;
	}
	if ((argc != 5 && argc != 7) || strcmp(argv[1], "samples")) {
		fputs("recordings source FUNCTIONS | recordings samples ELF N KJOULE [PERF M]\n", stderr);
		return 2;
	}
	read_program(&p, argv[2]);
	make_samples(&p, strtoull(argv[3], NULL, 10), argv[4], argc == 7 ? argv[5] : NULL,
		     argc == 7 ? strtoull(argv[6], NULL, 10) : 0);
	free(p.functions);
	free((char *)p.path);
	return 0;
}
