// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Made-up recordings; see synthetic.h.
 */
#include <assert.h>
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "datafile.h"
#include "pack.h"
#include "synthetic.h"

void put_bytes(struct buffer *b, const void *data, size_t len)
{
	if (b->room - b->len < len) {
		b->room = b->room ? b->room : 4096;
		while (b->room - b->len < len)
			b->room *= 2;
		b->data = realloc(b->data, b->room);
		assert(b->data);
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

void put_sample(struct buffer *b, uint32_t tick, uint64_t ip, uint32_t flags, uint32_t khz,
		uint32_t late_ns)
{
	struct kjoule_sample s = { .rec = { KJOULE_RECORD_SAMPLE, flags, sizeof(s) },
				   .tick = tick, .late_ns = late_ns, .freq_khz = khz, .ip = ip };

	put_bytes(b, &s, sizeof(s));
}

void put_task(struct buffer *b, uint32_t pid, uint32_t tgid)
{
	struct kjoule_task t = { .rec = { KJOULE_RECORD_TASK, 0, sizeof(t) },
				 .pid = pid, .tgid = tgid };

	put_bytes(b, &t, sizeof(t));
}

void put_energy(struct buffer *b, uint32_t tick, uint32_t domains, const uint64_t *uj)
{
	unsigned int n = __builtin_popcount(domains);
	struct kjoule_energy e = { .rec = { KJOULE_RECORD_ENERGY, 0, sizeof(e) + 8 * n },
				   .tick = tick, .domains = domains };

	put_bytes(b, &e, sizeof(e));
	put_bytes(b, uj, 8 * n);
}

void put_gap(struct buffer *b, uint32_t tick, uint64_t count)
{
	struct kjoule_gap g = { .rec = { KJOULE_RECORD_GAP, 0, sizeof(g) },
				.tick = tick, .count = count };

	put_bytes(b, &g, sizeof(g));
}

void put_lost(struct buffer *b, uint32_t tick, uint64_t records, uint64_t samples)
{
	struct kjoule_lost l = { .rec = { KJOULE_RECORD_LOST, 0, sizeof(l) },
				 .tick = tick, .records = records, .samples = samples };

	put_bytes(b, &l, sizeof(l));
}

static char *command[] = { (char *)"./program", (char *)"an argument", NULL };

void make_meta(struct kjoule_meta *meta, uint32_t n_cpus, uint64_t interval_ns, uint32_t target)
{
	static struct kjoule_cpu_place places[16];
	struct kjoule_source_info *src;

	memset(meta, 0, sizeof(*meta));
	strcpy(meta->version, "test");
	meta->abi = KJOULE_ABI_VERSION;
	meta->argc = target == KJOULE_TARGET_PROCESS ? 2 : 0;
	meta->argv = command;
	strcpy(meta->host, "host");
	strcpy(meta->kernel, "Linux test");
	strcpy(meta->boot_id, "none");
	meta->wall_ns = 1700000000000000000ull;
	meta->n_places = n_cpus;
	meta->places = places;
	meta->session.interval_ns = interval_ns;
	meta->session.target = target;
	meta->session.pid = target == KJOULE_TARGET_PROCESS ? 100 : 0;
	meta->session.t0_ns = 1000000000ull;
	for (uint32_t i = 0; i < n_cpus; i++) {
		places[i] = (struct kjoule_cpu_place){ i, 0 };
		kjoule_cpus_add(&meta->session.cpus, i);
	}
	meta->session.n_sources = 2;
	src = &meta->session.sources[0];
	strcpy(src->name, "test");
	src->kind = KJOULE_KIND_ENERGY;
	src->n_domains = 2;
	src->domains[0] = (struct kjoule_domain_info){ .index = 0, .name = "package",
		.class = KJOULE_DOMAIN_PACKAGE, .parent = -1, .update_period_ns = 10000000 };
	src->domains[1] = (struct kjoule_domain_info){ .index = 1, .name = "core",
		.class = KJOULE_DOMAIN_CORE, .parent = 0, .update_period_ns = 10000000 };
	strcpy(meta->session.sources[1].name, "test-cycles");
	meta->session.sources[1].kind = KJOULE_KIND_FREQUENCY;
}

/* perf records as the kernel writes them: mmap2 of @exe and a comm, of process 100 */
static void side_band(struct buffer *b, const char *exe)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		char comm[16];
		uint32_t id_pid, id_tid;
		uint64_t time;
		uint32_t cpu, reserved;
	} comm = { .h = { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(comm) },
		   .pid = 100, .tid = 100, .comm = "program", .id_pid = 100, .id_tid = 100,
		   .time = 900000000 };
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t start, len, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
	} map = { .h = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 }, .pid = 100, .tid = 100,
		  .start = 0x10000000, .len = 0x10000000 };
	struct {
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
	} id = { 100, 100, 900000001, 0, 0 };
	char name[4096] = "";
	size_t len = (strlen(exe) + 8) & ~7ul;

	snprintf(name, sizeof(name), "%s", exe);
	put_bytes(b, &comm, sizeof(comm));
	map.h.size = sizeof(map) + len + sizeof(id);
	put_bytes(b, &map, sizeof(map));
	put_bytes(b, name, len);
	put_bytes(b, &id, sizeof(id));
}

static void text_chunk(struct kjoule_writer *w, enum kjoule_chunk_type type, char *text)
{
	assert(!kjoule_writer_chunk(w, type, 0, text, strlen(text), NULL));
	free(text);
}

void write_recording(const char *path, const struct kjoule_meta *meta, const struct buffer *streams,
		     uint32_t n, const char *exe, uint64_t end_tick)
{
	struct kjoule_calibration cal = { .ticks = 100, .tick_ns = 3000, .handler_ns = 2000,
					  .entry_ns = 1000, .freq_khz = 1000000 };
	struct kjoule_cpu_stats stats[16] = { 0 };
	struct kjoule_end end = { .reason = "command ended", .exit_code = 0,
		.stop_ns = meta->session.t0_ns + end_tick * meta->session.interval_ns };
	struct buffer side = { 0 };
	struct kjoule_writer *w;

	assert(!kjoule_writer_open(path, &w, NULL));
	text_chunk(w, KJOULE_CHUNK_META, kjoule_meta_encode(meta));
	text_chunk(w, KJOULE_CHUNK_CALIBRATION, kjoule_calibration_encode(&cal));
	side_band(&side, exe);
	assert(!kjoule_writer_chunk(w, KJOULE_CHUNK_SIDE_BAND, 0, side.data, side.len, NULL));
	free(side.data);
	for (uint32_t i = 0; i < n; i++) {
		const struct kjoule_record *rec;
		struct kjoule_packer packer = { 0 };
		struct buffer b = { 0 };
		uint8_t item[65536 + 8];
		size_t off = 0, since = 0;

		stats[i].cpu = i;
		while (kjoule_record_next(streams[i].data, streams[i].len, &off, &rec) > 0) {
			stats[i].samples += rec->type == KJOULE_RECORD_SAMPLE;
			stats[i].records++;
			since += rec->size;
			put_bytes(&b, item, kjoule_pack(&packer, rec, item));
			if (since >= 4096 || off == streams[i].len) {
				assert(!kjoule_writer_chunk(w, KJOULE_CHUNK_RING, i, b.data, b.len,
							    NULL));
				memset(&packer, 0, sizeof(packer));
				b.len = 0;
				since = 0;
			}
		}
		free(b.data);
		stats[i].due = stats[i].produced = end_tick;
		stats[i].consumed = stats[i].records;
		stats[i].tick_ns = 2000 * end_tick;
	}
	text_chunk(w, KJOULE_CHUNK_STATS, kjoule_stats_encode(stats, n));
	text_chunk(w, KJOULE_CHUNK_END, kjoule_end_encode(&end));
	assert(!kjoule_writer_close(w, NULL));
}

uint8_t *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;

	assert(f);
	fseek(f, 0, SEEK_END);
	*len = ftell(f);
	rewind(f);
	data = malloc(*len + 1);
	assert(data && fread(data, 1, *len, f) == *len);
	fclose(f);
	return data;
}

void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert(f);
	assert(fwrite(data, 1, len, f) == len);
	assert(!fclose(f));
}

static char temp_dir[64];

static void remove_temp(void)
{
	DIR *dir = opendir(temp_dir);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(temp_dir);
}

const char *temp_path(const char *name)
{
	static char path[256];

	if (!temp_dir[0]) {
		strcpy(temp_dir, "/tmp/kjoule-test-XXXXXX");
		assert(mkdtemp(temp_dir));
		atexit(remove_temp);
	}
	snprintf(path, sizeof(path), "%s/%s", temp_dir, name);
	return path;
}

uint64_t rnd(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

double rnd_unit(uint64_t *state)
{
	return (rnd(state) >> 11) * 0x1p-53;
}
