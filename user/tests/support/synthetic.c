// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated recordings; see synthetic.h.
 */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/code/buildid.h"
#include "lib/control/ring.h"
#include "lib/file/datafile.h"
#include "lib/file/pack.h"
#include "lib/region/mark_ring.h"
#include "tests/support/synthetic.h"

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

void buffer_free(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){ 0 };
}

void put_sample(struct buffer *b, uint32_t tick, uint64_t ip, uint32_t flags, uint32_t khz,
		uint32_t late_ns)
{
	struct kjoule_sample s = { .rec = { KJOULE_RECORD_SAMPLE, flags, sizeof(s) },
				   .tick = tick, .delay_ns = late_ns, .freq_khz = khz, .ip = ip };

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
	put_energy_of(b, 0, 0, tick, 0, domains, uj);
}

void put_energy_of(struct buffer *b, uint32_t source, uint32_t scope, uint32_t tick,
		   uint32_t late_ns, uint32_t domains, const uint64_t *uj)
{
	unsigned int n = __builtin_popcount(domains);
	struct kjoule_energy e = { .rec = { KJOULE_RECORD_ENERGY, source, sizeof(e) + 8 * n },
				   .tick = tick, .delay_ns = late_ns, .domains = domains,
				   .scope = scope };

	put_bytes(b, &e, sizeof(e));
	put_bytes(b, uj, 8 * n);
}

void put_value(struct buffer *b, uint32_t source, uint64_t time_ns, int64_t value)
{
	struct kjoule_value v = { .rec = { KJOULE_RECORD_VALUE, source, sizeof(v) },
				  .duration_ns = 1000, .time_ns = time_ns, .value = value };

	put_bytes(b, &v, sizeof(v));
}

void put_skipped(struct buffer *b, uint32_t tick, uint64_t count, uint64_t begin_ns,
		 uint64_t end_ns)
{
	struct kjoule_idle p = { .rec = { KJOULE_RECORD_IDLE, 0, sizeof(p) }, .tick = tick,
				   .count = count, .begin_ns = begin_ns, .end_ns = end_ns };

	put_bytes(b, &p, sizeof(p));
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

void put_chain(struct buffer *b, uint32_t flags, unsigned int kernel, unsigned int user,
	       const uint64_t *ip)
{
	struct kjoule_chain c = { .rec = { KJOULE_RECORD_CHAIN, flags,
					   sizeof(c) + 8 * (kernel + user) },
				  .kernel = kernel, .user = user };

	put_bytes(b, &c, sizeof(c));
	put_bytes(b, ip, 8 * (kernel + user));
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
	/* counters that are as they are at the tick: without a period */
	src->domains[0] = (struct kjoule_domain_info){ .index = 0, .name = "package",
		.class = KJOULE_DOMAIN_PACKAGE, .parent = -1 };
	src->domains[1] = (struct kjoule_domain_info){ .index = 1, .name = "core",
		.class = KJOULE_DOMAIN_CORE, .parent = 0 };
	strcpy(meta->session.sources[1].name, "test-cycles");
	meta->session.sources[1].kind = KJOULE_KIND_FREQUENCY;
}

struct kjoule_source_info *add_source(struct kjoule_meta *meta, const char *name, uint32_t kind,
				      uint32_t quantity, const char *domain)
{
	struct kjoule_session_info *s = &meta->session;
	struct kjoule_source_info *src = &s->sources[s->n_sources - 1];

	s->sources[s->n_sources++] = *src;
	memset(src, 0, sizeof(*src));
	strcpy(src->name, name);
	src->kind = kind;
	src->n_domains = 1;
	strcpy(src->domains[0].name, domain);
	src->domains[0].parent = -1;
	src->domains[0].quantity = quantity;
	return src;
}

/* perf records as the kernel writes them */

struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

void put_map_of(struct buffer *b, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t len,
		uint64_t offset, const char *path, const uint8_t *build_id, uint8_t build_id_len)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t start, len, offset;
		union {
			struct {
				uint32_t major, minor;
				uint64_t inode, generation;
			};
			struct {
				uint8_t build_id_len, nothing[3], build_id[20];
			};
		};
		uint32_t prot, flags;
	} map = { .h = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 }, .pid = pid, .tid = pid,
		  .start = start, .len = len, .offset = offset };
	struct sample_id id = { pid, pid, time_ns, 0, 0 };
	char name[4096] = "";
	size_t name_len = (strlen(path) + 8) & ~7ul;

	snprintf(name, sizeof(name), "%s", path);
	if (build_id) {
		map.h.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		map.build_id_len = build_id_len;
		memcpy(map.build_id, build_id, build_id_len < 20 ? build_id_len : 20);
	}
	map.h.size = sizeof(map) + name_len + sizeof(id);
	put_bytes(b, &map, sizeof(map));
	put_bytes(b, name, name_len);
	put_bytes(b, &id, sizeof(id));
}

void put_map(struct buffer *b, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t len,
	     uint64_t offset, const char *path)
{
	put_map_of(b, pid, time_ns, start, len, offset, path, NULL, 0);
}

static struct {
	uint64_t start;
	const char *build_id;
} program;

static int exit_code;

void put_exit_code(int code)
{
	exit_code = code;
}

void put_program(uint64_t start, const char *build_id)
{
	program.start = start;
	program.build_id = build_id;
}

static void put_task_event(struct buffer *b, uint16_t type, uint64_t time_ns, uint32_t pid,
			   uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
		struct sample_id id;
	} r = { .h = { type, 0, sizeof(r) }, .pid = pid, .ppid = ppid, .tid = tid, .ptid = ptid,
		.time = time_ns, .id = { ppid, ptid, time_ns, 0, 0 } };

	put_bytes(b, &r, sizeof(r));
}

void put_fork_event(struct buffer *b, uint64_t time_ns, uint32_t ppid, uint32_t ptid, uint32_t pid,
		    uint32_t tid)
{
	put_task_event(b, PERF_RECORD_FORK, time_ns, pid, ppid, tid, ptid);
}

void put_exit_event(struct buffer *b, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	put_task_event(b, PERF_RECORD_EXIT, time_ns, pid, pid, tid, tid);
}

void put_name_event(struct buffer *b, uint64_t time_ns, uint32_t pid, uint32_t tid,
		    const char *name, bool exec)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		char comm[16];
		struct sample_id id;
	} comm = { .h = { PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, sizeof(comm) },
		   .pid = pid, .tid = tid, .id = { pid, tid, time_ns, 0, 0 } };

	snprintf(comm.comm, sizeof(comm.comm), "%s", name);
	put_bytes(b, &comm, sizeof(comm));
}

void put_exec_event(struct buffer *b, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	put_name_event(b, time_ns, pid, tid, "program", true);
}

void put_region_start(struct buffer *b, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	struct kjoule_region_unit u = { time_ns, 0, KJOULE_REGION_START, 2, 0 };
	struct kjoule_region_who who = { pid, tid, 0 };

	put_bytes(b, &u, sizeof(u));
	put_bytes(b, &who, sizeof(who));
}

void put_region_define(struct buffer *b, uint32_t node, uint32_t parent, const char *name)
{
	struct kjoule_region_unit u = { 0, node, KJOULE_REGION_DEFINE, 2 + strlen(name) / sizeof(u),
					parent };
	char text[16 * 16] = "";

	snprintf(text, sizeof(text), "%s", name);
	put_bytes(b, &u, sizeof(u));
	put_bytes(b, text, (u.units - 1) * sizeof(u));
}

void put_region_mark(struct buffer *b, unsigned int kind, uint64_t time_ns, uint32_t node)
{
	put_bytes(b, &(struct kjoule_region_unit){ time_ns, node, kind, 1, 0 },
		  sizeof(struct kjoule_region_unit));
}

void put_region_batch(struct buffer *b, uint32_t ring, uint64_t first, const struct buffer *units,
		      uint64_t lost)
{
	struct kjoule_region_batch batch =
		{ .ring = ring, .units = units->len / sizeof(struct kjoule_region_unit),
		  .first = first, .lost = lost };

	put_bytes(b, &batch, sizeof(batch));
	if (units->len)
		put_bytes(b, units->data, units->len);
}

/* a comm and an mmap2 of @exe, of process 100 */
static void side_band(struct buffer *b, const char *exe)
{
	put_name_event(b, 900000000, 100, 100, "program", true);
	put_map(b, 100, 900000001, program.start ? program.start : 0x10000000, 0x10000000, 0, exe);
}

static void text_chunk(struct kjoule_writer *w, enum kjoule_chunk_type type, char *text)
{
	assert(!kjoule_writer_chunk(w, type, 0, text, strlen(text), NULL));
	free(text);
}

/* It frees the buffer. */
static void chunk_write(struct kjoule_writer *w, enum kjoule_chunk_type type, uint32_t cpu,
			struct buffer *b)
{
	assert(!kjoule_writer_chunk(w, type, cpu, b->data, b->len, NULL));
	buffer_free(b);
}

static struct buffer wakeups;

void put_wakeup(uint32_t cpu, uint64_t begin_ns, uint64_t end_ns)
{
	put_bytes(&wakeups, &(struct kjoule_wakeup){ begin_ns, end_ns, cpu, 0 },
		  sizeof(struct kjoule_wakeup));
}

static struct buffer regions, more_side;

static void buffer_move(struct buffer *to, struct buffer *from)
{
	if (!from || !from->len)
		return;
	put_bytes(to, from->data, from->len);
	buffer_free(from);
}

void put_regions(struct buffer *batches, struct buffer *more_side_band)
{
	buffer_move(&regions, batches);
	buffer_move(&more_side, more_side_band);
}

static const void *vdso;
static size_t vdso_len;

void put_vdso(const void *image, size_t len)
{
	vdso = image;
	vdso_len = len;
}

static struct kjoule_calibration calibration;
static bool calibration_given;

void put_calibration(const struct kjoule_calibration *cal)
{
	calibration = *cal;
	calibration_given = true;
}

void write_recording(const char *path, const struct kjoule_meta *meta, struct buffer *streams,
		     uint32_t n, const char *exe, uint64_t end_tick)
{
	const struct kjoule_calibration usual = { .ticks = 100, .tick_ns = 3000, .handler_ns = 2000,
						  .entry_ns = 1000, .freq_khz = 1000000 };
	struct kjoule_cpu_stats stats[16] = { 0 };
	struct kjoule_end end = { .reason = "command ended", .exit_code = exit_code,
		.stop_ns = meta->session.t0_ns + end_tick * meta->session.interval_ns };
	struct buffer side = { 0 };
	struct kjoule_writer *w;

	exit_code = 0;
	assert(!kjoule_writer_open(path, &w, NULL));
	text_chunk(w, KJOULE_CHUNK_META, kjoule_meta_encode(meta));
	if (!calibration_given || calibration.ticks)
		text_chunk(w, KJOULE_CHUNK_CALIBRATION,
			   kjoule_calibration_encode(calibration_given ? &calibration : &usual));
	calibration_given = false;
	side_band(&side, exe);
	if (more_side.len)
		put_bytes(&side, more_side.data, more_side.len);
	buffer_free(&more_side);
	chunk_write(w, KJOULE_CHUNK_SIDE_BAND, 0, &side);
	if (program.build_id) {
		struct kjoule_build_ids *ids = kjoule_build_ids_new();

		assert(ids && !kjoule_build_ids_add(ids, exe, program.build_id));
		text_chunk(w, KJOULE_CHUNK_BUILD_IDS, kjoule_build_ids_encode(ids, &(size_t){ 0 }));
		kjoule_build_ids_free(ids);
	}
	memset(&program, 0, sizeof(program));
	if (vdso)
		assert(!kjoule_writer_chunk(w, KJOULE_CHUNK_VDSO, 0, vdso, vdso_len, NULL));
	vdso = NULL;
	if (wakeups.len)
		chunk_write(w, KJOULE_CHUNK_WAKEUPS, 0, &wakeups);
	if (regions.len)
		chunk_write(w, KJOULE_CHUNK_REGIONS, 0, &regions);
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
				chunk_write(w, KJOULE_CHUNK_RING, i, &b);
				memset(&packer, 0, sizeof(packer));
				since = 0;
			}
		}
		buffer_free(&streams[i]);
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

char *read_text(const char *path)
{
	size_t len;
	char *text = (char *)read_file(path, &len);

	text[len] = '\0';
	return text;
}

char *keep_text(char *text)
{
	static struct buffer kept;

	put_bytes(&kept, &text, sizeof(text));
	return text;
}

char *kept_text(const char *path)
{
	return keep_text(read_text(path));
}

static int divert(FILE *f, const char *name)
{
	int saved, fd = open(temp_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert(fd >= 0);
	fflush(f);
	saved = dup(fileno(f));
	dup2(fd, fileno(f));
	close(fd);
	return saved;
}

static char *bring_back(FILE *f, const char *name, int saved)
{
	fflush(f);
	dup2(saved, fileno(f));
	close(saved);
	return kept_text(temp_path(name));
}

static int stderr_fd, stdout_fd;

void stderr_capture(void)
{
	stderr_fd = divert(stderr, "stderr");
}

char *stderr_release(void)
{
	return bring_back(stderr, "stderr", stderr_fd);
}

void begin_to_read(void)
{
	stdout_fd = divert(stdout, "stdout");
}

char *end_to_read(void)
{
	return bring_back(stdout, "stdout", stdout_fd);
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
	static struct buffer kept;
	char **paths = (char **)kept.data, *path;

	if (!temp_dir[0]) {
		strcpy(temp_dir, "/tmp/kjoule-test-XXXXXX");
		assert(mkdtemp(temp_dir));
		atexit(remove_temp);
	}
	for (size_t i = 0; i < kept.len / sizeof(*paths); i++)
		if (!strcmp(paths[i] + strlen(temp_dir) + 1, name))
			return paths[i];
	assert(asprintf(&path, "%s/%s", temp_dir, name) > 0);
	put_bytes(&kept, &path, sizeof(path));
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
