// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes what the fuzz targets begin with: small good inputs that reach deep, out of the
 * unit tests' made-up recordings. "seeds DIR" fills DIR/TARGET for each target. Called by
 * scripts/fuzz.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fuzz/user/chunks.h"
#include "lib/file/meta.h"
#include "lib/region/mark_ring.h"
#include "tests/support/synthetic.h"

static const char *top;

static const char *name(const char *target, const char *seed)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", top, target);
	mkdir(top, 0755);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", top, target, seed);
	return path;
}

/* What a recording with all sorts of sources and an idle CPU has besides, at tick @k. */
static uint32_t make_rest(struct buffer *b, uint32_t cpu, uint32_t k, uint64_t uj)
{
	uint64_t now = 1000000000ull + k * 1000000ull;

	if (k % 25 == 5)
		put_value(b, 1, now, 5000000 + k);
	if (k % 25 == 6)
		put_value(b, 2, now, 40000 + k);
	if (k % 25 == 7)
		put_energy_of(b, 3, cpu, k, 300, 1, &(uint64_t){ 1000 * k });
	if (k % 60 != 50)
		return 0;
	put_energy_of(b, 0, cpu, k - 1, 600000, 1, &uj);
	put_skipped(b, k, 6, now - 400000, now + 5500000);
	return 6;
}

/* More sources: power, temperature and events, and CPUs that share no counters. */
static void more_sources(struct kjoule_meta *meta, uint32_t n_cpus)
{
	static const uint32_t quantities[] = { KJOULE_QUANTITY_POWER, KJOULE_QUANTITY_TEMPERATURE,
					       KJOULE_QUANTITY_COUNT };
	struct kjoule_session_info *s = &meta->session;

	for (size_t i = 0; i < 3; i++) {
		struct kjoule_source_info *src = &s->sources[s->n_sources - 1];

		s->sources[s->n_sources++] = *src;
		memset(src, 0, sizeof(*src));
		snprintf(src->name, sizeof(src->name), "more%zu", i);
		strcpy(src->meter, "more");
		src->kind = i < 2 ? KJOULE_KIND_GAUGE : KJOULE_KIND_ENERGY;
		src->n_domains = 1;
		strcpy(src->domains[0].name, "value");
		src->domains[0].parent = -1;
		src->domains[0].quantity = quantities[i];
	}
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		if (kjoule_scope_set(&s->sources[0], cpu, cpu))
			abort();
}

/* @cpu runs two functions in turn; energy moves every ten ticks on CPU 0. */
static void make_stream(struct buffer *b, uint32_t cpu, uint32_t ticks, bool rich)
{
	uint64_t uj[2] = { 0, 0 };

	put_task(b, 100 + cpu, 100);
	for (uint32_t k = 0; k < ticks; k++) {
		uint32_t flags = k % 40 == 39 ? KJOULE_SAMPLE_KERNEL : k % 7 ? 0 :
				 KJOULE_SAMPLE_PRECISE;

		if (!cpu && k % 10 == 0) {
			uj[0] += 5000 + 100 * (k % 3);
			uj[1] += 3000;
			put_energy(b, k, 3, uj);
		}
		if (rich) {
			uint32_t parked = make_rest(b, cpu, k, uj[0]);

			if (parked) {
				k += parked - 1;
				continue;
			}
		}
		if (k % 50 == 25)
			put_task(b, k % 100 == 25 ? 0 : 200, k % 100 == 25 ? 0 : 200);
		if (k % 50 == 30)
			put_task(b, 100 + cpu, 100);
		if (k % 50 >= 25 && k % 50 < 30)
			flags = k % 100 < 50 ? KJOULE_SAMPLE_IDLE | KJOULE_SAMPLE_KERNEL : 0;
		if (k % 60 == 40) {
			put_gap(b, k, 3);
			k += 2;
			continue;
		}
		if (k % 90 == 70) {
			put_lost(b, k, 4, 3);
			k += 3;
			continue;
		}
		put_sample(b, k, flags & KJOULE_SAMPLE_KERNEL ? 0xffffffff81000010 + 256 * (k % 2) :
			   0x10001000 + 64 * (k / 8 % 3), flags, cpu ? 0 : 1000000 + k,
			   100 + k % 5);
	}
}

/* Marks of two threads: regions in each other, and what may go wrong. */
static void make_regions(struct buffer *b)
{
	struct buffer u = { 0 };

	for (uint32_t tid = 100; tid < 102; tid++) {
		u.len = 0;
		put_region_start(&u, 1000000000, 100, tid);
		put_region_define(&u, 1, 0, "load");
		put_region_define(&u, 2, 1, "inner");
		put_region_mark(&u, KJOULE_REGION_BEGIN, 1010000000, 1);
		put_region_mark(&u, KJOULE_REGION_BEGIN, 1020000000, 2);
		put_region_mark(&u, KJOULE_REGION_END, 1040000000, 1);
		put_region_mark(&u, KJOULE_REGION_LOST, 1050000000, 3);
		put_region_mark(&u, KJOULE_REGION_END, 1060000000, 0);
		put_region_batch(b, tid - 100, 0, &u, 3);
		u.len = 0;
		put_region_mark(&u, KJOULE_REGION_UNBEGUN, 1070000000, 0);
		put_region_mark(&u, KJOULE_REGION_BEGIN, 1080000000, 2);
		put_region_mark(&u, KJOULE_REGION_CLOSE, 1090000000, 0);
		put_region_batch(b, tid - 100, 2 + 2 + 2 + 5, &u, 5);
	}
	free(u.data);
}

static void datafile(const char *seed, uint32_t n_cpus, uint32_t ticks, uint32_t target,
		     const char *boot_id, bool rich)
{
	static const char kallsyms[] = "ffffffff81000000 T one\nffffffff81000100 t two\t[module]\n";
	static const char build_ids[] = "{\"/fuzz/object\":\"00ff\",\"/b\":\"other\"}";
	struct kjoule_calibration cal = { .cpu = 0, .ticks = 100, .tick_ns = 3000,
		.tick_error_ns = 10, .handler_ns = 2000, .handler_spread_ns = 20, .entry_ns = 1000,
		.freq_khz = 1000000, .other_part = 0.01, .n_domains = 2, .irq_uw = { 2e6, 1e6 },
		.irq_error_uw = { 1e5, 1e5 }, .loop_uw = { 3e6, 2e6 }, .idle_uj = { 2, 1 },
		.idle_uw = { 5e5, 2e5 } };
	struct kjoule_wakeup awake[2] = { { 1000100000, 1003000000, 0, 0 },
					 { 1010000000, 1012000000, 1, 0 } };
	struct buffer streams[4] = { { 0 } }, regions = { 0 };
	struct kjoule_meta meta;
	struct chunks c;
	uint8_t *data, *out = malloc(1 << 20);
	char *text = kjoule_calibration_encode(&cal);
	size_t len;

	make_meta(&meta, n_cpus, 1000000, target);
	strcpy(meta.boot_id, boot_id);
	meta.recorder_pid = 200;
	meta.session.jitter_ns = rich ? 100000 : 0;
	for (uint32_t i = 0; i < n_cpus; i++) {
		meta.places[i].package = i / 2;
		make_stream(&streams[i], i, ticks, rich);
	}
	if (rich)
		more_sources(&meta, n_cpus);
	write_recording(name("datafile", seed), &meta, streams, n_cpus, "/fuzz/object", ticks);
	kjoule_session_info_clear(&meta.session);
	data = read_file(name("datafile", seed), &len);
	if (!out || chunks_decode(data, len, &c))
		abort();
	if (rich) {
		chunks_insert(&c, 1, KJOULE_CHUNK_CALIBRATION, 0, text, strlen(text));
		chunks_insert(&c, c.n - 1, KJOULE_CHUNK_KALLSYMS, 0, kallsyms,
			      sizeof(kallsyms) - 1);
		chunks_insert(&c, c.n - 1, KJOULE_CHUNK_BUILD_IDS, 0, build_ids,
			      sizeof(build_ids) - 1);
		chunks_insert(&c, c.n - 1, KJOULE_CHUNK_WAKEUPS, 0, awake, sizeof(awake));
		make_regions(&regions);
		chunks_insert(&c, c.n - 1, KJOULE_CHUNK_REGIONS, 0, regions.data, regions.len);
		free(regions.data);
	} else {
		chunks_remove(&c, c.n - 1);	/* no end */
	}
	for (size_t i = 0; i < c.n; i++)
		c.list[i].head.sequence = i;
	len = chunks_encode(&c, out, 1 << 20);
	write_file(name("datafile", seed), out, len);
	if (rich) {
		/* one chunk too few, and half of one */
		chunks_remove(&c, 4);
		len = chunks_encode(&c, out, 1 << 20);
		write_file(name("datafile", "hole"), out, len);
		write_file(name("datafile", "cut"), out, len - 20);
		out[len / 2] ^= 0x55;
		write_file(name("datafile", "damaged"), out, len);
	}
	chunks_free(&c);
	free(data);
	free(text);
	free(out);
}

/* Other people's files, and what a file system makes of ours. */
static void broken_files(void)
{
	struct kjoule_file_header h;
	size_t len;
	uint8_t *data = read_file(name("datafile", "rich"), &len), *more = calloc(1, len + 300);

	if (!more)
		abort();
	memcpy(more, data, len);
	write_file(name("datafile", "zeros"), more, len + 300);
	memset(more + len - 30, 0, 30);
	write_file(name("datafile", "unwritten"), more, len);
	write_file(name("datafile", "header"), data, 12);
	memcpy(&h, data, sizeof(h));
	h.major++;
	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_file_header, checksum));
	memcpy(more, &h, sizeof(h));
	write_file(name("datafile", "newer"), more, 100);
	h.checksum++;
	memcpy(more, &h, sizeof(h));
	write_file(name("datafile", "checksum"), more, 100);
	h.byte_order = __builtin_bswap32(h.byte_order);
	memcpy(more, &h, sizeof(h));
	write_file(name("datafile", "foreign"), more, 100);
	write_file(name("datafile", "other"), "PERFILE2........................", 32);
	free(more);
	free(data);
}

/* A program for target_ring.c: good records, drained now and then. */
static void ring(const char *seed, uint8_t size, bool perf)
{
	static const uint8_t sizes[] = { 0, 24, 16, 32, 16, 24, 8, 32 };
	struct buffer b = { 0 };
	uint8_t byte;

	put_bytes(&b, &size, 1);
	put_bytes(&b, "\1", 1);
	for (unsigned int i = 0; i < 60; i++) {
		uint8_t type = 1 + i % 7, op[4] = { 0, type, i % 5, sizes[type] / 8 - 1 };

		put_bytes(&b, op, 4);
		for (unsigned int at = 4; at < sizes[type]; at++) {
			byte = at == 4 ? i : at == 12 && type == 3 ? 3 : at > 20 ? 0xff : 0;
			put_bytes(&b, &byte, 1);
		}
		if (i % 9 == 8)
			put_bytes(&b, i % 2 ? "\11\100\0" : "\11\0\100", 3);
		if (perf && i % 4 == 0) {
			put_bytes(&b, "\6\3\0\0\6", 5);
			for (unsigned int at = 8; at < 56; at++)
				put_bytes(&b, at < 16 ? "\144" : at < 24 ? "c" : "\0", 1);
			put_bytes(&b, "\7\1", 2);
		}
		if (i % 20 == 19)
			put_bytes(&b, "\10", 1);
		if (perf && i % 13 == 12)
			put_bytes(&b, "\5\2\10\0\0\377\377\0\0\0\0\0\0", 13);
	}
	write_file(name("ring", seed), b.data, b.len);
	free(b.data);
}

static void text(void)
{
	static const char kallsyms[] =
		"ffffffff81000000 T _text\nffffffff81000000 t __alias\nffffffff81000100 t one\n"
		"ffffffff81000180 d data\nffffffffc0000000 t two\t[module]\n0000000000000000 t zero\n";
	static const char interrupts[] =
		"            CPU0       CPU1       \n   0:         12          3   IO-APIC   2-edge\n"
		" LOC:      12345      23456   Local timer interrupts\n ERR:          0\n";

	write_file(name("text", "kallsyms"), kallsyms, sizeof(kallsyms) - 1);
	write_file(name("text", "interrupts"), interrupts, sizeof(interrupts) - 1);
	write_file(name("text", "cpus"), "0-3,5,7-9,4095", 14);
}

/* Marks, and a family that forks, executes and ends among them. */
static void regions(void)
{
	struct buffer b = { 0 };
	uint8_t side;

	put_fork_event(&b, 1030000000, 100, 100, 200, 200);
	put_exec_event(&b, 1045000000, 200, 200);
	put_exit_event(&b, 1085000000, 100, 100);
	side = b.len / 8;
	b.len = 0;
	put_bytes(&b, &side, 1);
	put_fork_event(&b, 1030000000, 100, 100, 200, 200);
	put_exec_event(&b, 1045000000, 200, 200);
	put_exit_event(&b, 1085000000, 100, 100);
	make_regions(&b);
	write_file(name("regions", "family"), b.data, b.len);
	free(b.data);
}

/* The side band of the rich file, and a family: fork, exec, exit, lost. */
static void side_band(void)
{
	static const uint16_t types[] = { PERF_RECORD_FORK, PERF_RECORD_COMM, PERF_RECORD_MMAP,
					  PERF_RECORD_MMAP2, PERF_RECORD_EXIT, PERF_RECORD_LOST };
	struct buffer b = { 0 };
	struct chunks c;
	uint8_t *data;
	size_t len;

	for (uint32_t i = 0; i < 24; i++) {
		uint16_t type = types[i % 6];
		struct perf_event_header h = { type, i % 4 ? PERF_RECORD_MISC_COMM_EXEC : 0, 112 };
		uint64_t words[14] = { 0 };

		memcpy(words, &h, sizeof(h));
		words[1] = 100 + i / 6 + ((100ull + i / 12) << 32);
		words[2] = type == PERF_RECORD_COMM ? 0x656d616e :
			   type == PERF_RECORD_FORK ? words[1] :
			   0x400000 + 0x1000 * i;
		words[3] = 0x10000;
		words[type == PERF_RECORD_MMAP2 ? 9 : 5] = 0x612f;
		words[11] = words[1];
		words[12] = 1000 * i;
		put_bytes(&b, words, sizeof(words));
	}
	write_file(name("sideband", "family"), b.data, b.len);
	free(b.data);
	data = read_file(name("datafile", "rich"), &len);
	if (chunks_decode(data, len, &c))
		abort();
	for (size_t i = 0; i < c.n; i++)
		if (c.list[i].head.type == KJOULE_CHUNK_SIDE_BAND)
			write_file(name("sideband", "program"), c.list[i].data, c.list[i].len);
	chunks_free(&c);
	free(data);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	top = argv[1];
	datafile("rich", 4, 200, KJOULE_TARGET_SYSTEM, "none", true);
	datafile("process", 2, 150, KJOULE_TARGET_PROCESS, "none", true);
	datafile("live", 1, 60, KJOULE_TARGET_SYSTEM, "fuzz", false);
	datafile("short", 1, 3, KJOULE_TARGET_PROCESS, "fuzz", false);
	broken_files();
	ring("plain", 6, false);
	ring("tiny", 1, false);
	ring("perf", 3, true);
	text();
	side_band();
	regions();
	return 0;
}
