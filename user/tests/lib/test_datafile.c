// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The data file: what goes in comes out; whatever happens to the bytes, nothing wrong comes out and
 * what is good before damage is not lost.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/control/ring.h"
#include "lib/file/recording.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define CHUNKS	6

static const struct {
	enum kjoule_chunk_type type;
	uint32_t cpu;
	const char *text;
} contents[CHUNKS] = {
	{ KJOULE_CHUNK_META, 0, "{\"a\": 1}" },
	{ KJOULE_CHUNK_RING, 3, "ring of three" },
	{ KJOULE_CHUNK_SIDE_BAND, 0, "" },
	{ KJOULE_CHUNK_RING, 0, "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabc" },
	{ (enum kjoule_chunk_type)99, 0, "of a later version" },
	{ KJOULE_CHUNK_END, 0, "{}" },
};

static uint8_t *small_file(size_t *len)
{
	const char *path = temp_path("small");
	struct kjoule_writer *w;

	assert_int_equal(kjoule_writer_open(path, &w, NULL), 0);
	for (int i = 0; i < CHUNKS; i++)
		assert_int_equal(kjoule_writer_chunk(w, contents[i].type, contents[i].cpu,
						     contents[i].text, strlen(contents[i].text),
						     NULL), 0);
	assert_int_equal(kjoule_writer_close(w, NULL), 0);
	return read_file(path, len);
}

static bool same(const struct kjoule_chunk *c, int i)
{
	return c->type == contents[i].type && c->cpu == contents[i].cpu &&
	       c->sequence == (uint32_t)i && c->len == strlen(contents[i].text) &&
	       !memcmp(c->data, contents[i].text, c->len);
}

TEST(what_goes_in_comes_out)
{
	struct kjoule_reader *r;
	struct kjoule_chunk c;
	uint32_t major, minor;
	size_t len;
	uint8_t *data = small_file(&len);

	assert_int_equal(kjoule_reader_open_memory(data, len, "x", &r, NULL), 0);
	kjoule_reader_version(r, &major, &minor);
	assert_int_equal(major, KJOULE_FILE_MAJOR);
	for (int i = 0; i < CHUNKS; i++) {
		assert_int_equal(kjoule_reader_next(r, &c), 1);
		assert_true(same(&c, i));
	}
	assert_int_equal(kjoule_reader_next(r, &c), 0);
	assert_int_equal(kjoule_reader_damage(r)->chunks, 0);
	assert_int_equal(kjoule_reader_damage(r)->missing, 0);
	assert_false(kjoule_reader_damage(r)->truncated);
	kjoule_reader_close(r);
	free(data);
}

TEST(a_file_cut_anywhere_gives_its_whole_chunks)
{
	size_t len, ends[CHUNKS + 1], n_ends = 0;
	uint8_t *data = small_file(&len), *copy;
	struct kjoule_reader *r;
	struct kjoule_chunk c;

	/* where each chunk ends */
	assert_int_equal(kjoule_reader_open_memory(data, len, "x", &r, NULL), 0);
	while (kjoule_reader_next(r, &c) > 0)
		ends[n_ends++] = c.offset;
	ends[n_ends] = len;
	kjoule_reader_close(r);
	assert_int_equal(n_ends, CHUNKS);

	for (size_t cut = 0; cut <= len; cut++) {
		size_t whole = 0, got = 0;
		bool border;

		copy = malloc(cut + 1);	/* of that very size, so that tools see every overrun */
		memcpy(copy, data, cut);
		copy = realloc(copy, cut ? cut : 1);
		if (cut < 24) {
			assert_int_equal(kjoule_reader_open_memory(copy, cut, "x", &r, NULL),
					 -EBADMSG);
			free(copy);
			continue;
		}
		assert_int_equal(kjoule_reader_open_memory(copy, cut, "x", &r, NULL), 0);
		while (kjoule_reader_next(r, &c) > 0)
			assert_true(same(&c, got++));
		while (whole < CHUNKS && ends[whole + 1] <= cut)
			whole++;
		border = cut == ends[0];
		for (int i = 0; i <= CHUNKS; i++)
			border |= cut == ends[i];
		/* padding may be cut off as well: the chunk is whole without it */
		assert_in_range(got, whole, whole + 1);
		if (!border && got == whole)
			assert_true(kjoule_reader_damage(r)->truncated);
		assert_int_equal(kjoule_reader_damage(r)->chunks, 0);
		kjoule_reader_close(r);
		free(copy);
	}
	free(data);
}

TEST(no_flipped_bit_goes_unnoticed)
{
	size_t len;
	uint8_t *data = small_file(&len);
	struct kjoule_reader *r;
	struct kjoule_chunk c;

	for (size_t bit = 0; bit < 8 * len; bit++) {
		int next = 0, got = 0;

		data[bit / 8] ^= 1u << (bit % 8);
		if (kjoule_reader_open_memory(data, len, "x", &r, NULL)) {
			assert_true(bit < 24 * 8);
			data[bit / 8] ^= 1u << (bit % 8);
			continue;
		}
		assert_true(bit >= 24 * 8);
		while (kjoule_reader_next(r, &c) > 0) {
			/* each chunk is one that was written, in order */
			while (next < CHUNKS && !same(&c, next))
				next++;
			assert_true(next < CHUNKS);
			next++;
			got++;
		}
		if (got < CHUNKS)
			assert_true(kjoule_reader_damage(r)->chunks ||
				    kjoule_reader_damage(r)->truncated);
		assert_true(got >= CHUNKS - 1);
		kjoule_reader_close(r);
		data[bit / 8] ^= 1u << (bit % 8);
	}
	free(data);
}

/* @n chunks of @len bytes that do not compress. */
static void write_noise(const char *path, int n, size_t len)
{
	uint64_t *noise = malloc(len), seed = 3;
	struct kjoule_writer *w;

	for (size_t i = 0; i < len / 8; i++)
		noise[i] = rnd(&seed);
	assert_int_equal(kjoule_writer_open(path, &w, NULL), 0);
	for (int i = 0; i < n; i++)
		assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_RING, 0, noise, len, NULL), 0);
	assert_int_equal(kjoule_writer_close(w, NULL), 0);
	free(noise);
}

TEST(a_file_that_shrinks_while_it_is_read_ends_there)
{
	const char *path = temp_path("shrinks");
	static const off_t lens[] = { 0, 24, 100000, 200032, 250000 };
	struct kjoule_reader *r;
	struct kjoule_chunk c;

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		int got = 0;

		write_noise(path, 10, 100000);
		assert_int_equal(kjoule_reader_open(path, &r, NULL), 0);
		assert_int_equal(kjoule_reader_next(r, &c), 1);
		assert_int_equal(truncate(path, lens[i]), 0);
		while (kjoule_reader_next(r, &c) > 0)
			got++;
		assert_in_range(got, 0, lens[i] / 100000);
		assert_true(kjoule_reader_damage(r)->truncated);
		assert_true(kjoule_reader_damage(r)->shrunk);
		assert_int_equal(kjoule_reader_damage(r)->chunks, 0);
		kjoule_reader_close(r);
	}
	/* one that grows has grown for the next reader */
	write_noise(path, 2, 100000);
	assert_int_equal(kjoule_reader_open(path, &r, NULL), 0);
	assert_int_equal(truncate(path, 300000), 0);
	assert_int_equal(kjoule_reader_next(r, &c), 1);
	assert_int_equal(kjoule_reader_next(r, &c), 1);
	assert_int_equal(kjoule_reader_next(r, &c), 0);
	assert_false(kjoule_reader_damage(r)->truncated);
	kjoule_reader_close(r);
}

TEST(zeros_at_the_end_are_a_cut_not_damage)
{
	size_t len;
	uint8_t *data = small_file(&len), *more = calloc(1, len + 5000);
	struct kjoule_reader *r;
	struct kjoule_chunk c;
	int got = 0;

	memcpy(more, data, len);
	assert_int_equal(kjoule_reader_open_memory(more, len + 5000, "x", &r, NULL), 0);
	while (kjoule_reader_next(r, &c) > 0)
		got++;
	assert_int_equal(got, CHUNKS);
	assert_true(kjoule_reader_damage(r)->truncated);
	assert_int_equal(kjoule_reader_damage(r)->chunks, 0);
	kjoule_reader_close(r);
	free(more);
	free(data);
}

TEST(damage_in_the_middle_is_named_and_passed_over)
{
	size_t len, off = 0;
	uint8_t *data = small_file(&len);
	struct kjoule_reader *r;
	struct kjoule_chunk c;
	int got = 0;

	assert_int_equal(kjoule_reader_open_memory(data, len, "x", &r, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(kjoule_reader_next(r, &c), 1);
	off = c.offset;
	kjoule_reader_close(r);
	/* header and all of chunk 3 */
	memset(data + off, 0xee, 40);
	assert_int_equal(kjoule_reader_open_memory(data, len, "x", &r, NULL), 0);
	while (kjoule_reader_next(r, &c) > 0) {
		assert_true(same(&c, got < 3 ? got : got + 1));
		got++;
	}
	assert_int_equal(got, CHUNKS - 1);
	assert_int_equal(kjoule_reader_damage(r)->missing, 1);
	assert_int_equal(kjoule_reader_damage(r)->first_offset, off);
	kjoule_reader_close(r);
	free(data);
}

TEST(other_files_and_versions_are_refused)
{
	struct kjoule_file_header h;
	struct kjoule_error err;
	struct kjoule_reader *r;
	size_t len;
	uint8_t *data = small_file(&len);

	assert_int_equal(kjoule_reader_open_memory("", 0, "x", &r, &err), -EBADMSG);
	assert_int_equal(kjoule_reader_open_memory("PERFILE2xxxxxxxxxxxxxxxxxxxxx", 28, "x", &r,
						   &err), -EBADMSG);
	assert_non_null(strstr(err.text, "not a kjoule data file"));
	memcpy(&h, data, sizeof(h));
	h.major = KJOULE_FILE_MAJOR + 1;
	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_file_header, checksum));
	memcpy(data, &h, sizeof(h));
	assert_int_equal(kjoule_reader_open_memory(data, len, "x", &r, &err), -EPROTO);
	assert_non_null(strstr(err.text, "use a newer kjoule"));
	/* a later minor version can be read */
	h.major = KJOULE_FILE_MAJOR;
	h.minor = KJOULE_FILE_MINOR + 7;
	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_file_header, checksum));
	memcpy(data, &h, sizeof(h));
	assert_int_equal(kjoule_reader_open_memory(data, len, "x", &r, &err), 0);
	kjoule_reader_close(r);
	h.byte_order = __builtin_bswap32(h.byte_order);
	memcpy(data, &h, sizeof(h));
	assert_int_equal(kjoule_reader_open_memory(data, len, "x", &r, &err), -EPROTO);
	assert_int_equal(kjoule_reader_open("/nonexistent/file", &r, &err), -ENOENT);
	assert_int_equal(kjoule_reader_open("/tmp", &r, &err), -EINVAL);
	free(data);
}

static void set_largest(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Good ones; there is no damage. */
static int chunks_in(const char *path)
{
	struct kjoule_reader *r;
	struct kjoule_chunk c;
	int n = 0;

	assert_int_equal(kjoule_reader_open(path, &r, NULL), 0);
	while (kjoule_reader_next(r, &c) > 0)
		n++;
	assert_int_equal(kjoule_reader_damage(r)->chunks, 0);
	assert_false(kjoule_reader_damage(r)->truncated);
	kjoule_reader_close(r);
	return n;
}

TEST(a_full_disk_leaves_whole_chunks)
{
	const char *path = temp_path("full");
	static uint8_t noise[100000];
	struct kjoule_error err;
	struct kjoule_writer *w;
	uint64_t seed = 7;

	for (size_t i = 0; i < sizeof(noise); i += 8) {
		uint64_t v = rnd(&seed);

		memcpy(noise + i, &v, 8);
	}
	/* of what the kernel takes no more of, the limit of a file's size is had without a disk */
	set_largest(10);
	assert_int_equal(kjoule_writer_open(path, &w, &err), -EFBIG);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, "-o"));
	set_largest(250000);
	assert_int_equal(kjoule_writer_open(path, &w, &err), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_RING, 0, noise, sizeof(noise),
						     &err), 0);
	assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_RING, 0, noise, sizeof(noise), &err),
			 -EFBIG);
	assert_non_null(strstr(err.text, "what was written before is kept"));
	set_largest(RLIM_INFINITY);
	assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_END, 0, "{}", 2, &err), -EFBIG);
	assert_int_equal(kjoule_writer_close(w, &err), 0);
	assert_int_equal(chunks_in(path), 2);
	assert_int_equal(kjoule_writer_open("/nonexistent/x", &w, &err), -ENOENT);
	assert_non_null(strstr(err.text, "-o"));
}

/*
 * A disk that the old recording fills has room for a new one in its place; nothing else can be put
 * there.
 */
TEST(a_full_disk_gives_the_room_of_what_is_replaced)
{
	char path[310];
	const char *folder = temp_path("small-disk");
	struct kjoule_error err;
	struct kjoule_writer *w;

	snprintf(path, sizeof(path), "%s/data", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	if (mount("tmpfs", folder, "tmpfs", 0, "size=64k"))
		skip();
	write_noise(path, 1, 64000);
	assert_int_equal(kjoule_writer_open(path, &w, &err), 0);
	assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_META, 0, "{}", 2, &err), 0);
	assert_int_equal(kjoule_writer_close(w, &err), 0);
	assert_int_equal(chunks_in(path), 1);
	write_noise(path, 1, 64000);
	/* the same of what it does not replace */
	snprintf(path, sizeof(path), "%s/other", folder);
	assert_int_equal(kjoule_writer_open(path, &w, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "No space left on device; name another file with -o"));
	assert_int_equal(umount(folder), 0);
}

/* Killed at any time, a recorder leaves what it has written under the name that it was to have. */
TEST(what_a_killed_recorder_wrote_can_be_read)
{
	const char *path = temp_path("killed");

	for (int chunks = 0; chunks < 3; chunks++) {
		int status;
		pid_t pid;

		unlink(path);
		write_noise(path, 5, 1000);
		pid = fork();
		if (!pid) {
			struct kjoule_writer *w;

			if (kjoule_writer_open(path, &w, NULL))
				_exit(1);
			for (int i = 0; i < chunks; i++)
				kjoule_writer_chunk(w, KJOULE_CHUNK_RING, 0, "x", 1, NULL);
			raise(SIGKILL);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(chunks_in(path), chunks ? chunks : 5);
	}
}

TEST(what_was_there_stays_until_there_is_more)
{
	const char *path = temp_path("kept");
	struct kjoule_error err;
	struct kjoule_writer *w;
	uint8_t *data;
	size_t len;

	write_file(path, "old", 3);
	assert_int_equal(kjoule_writer_open(path, &w, &err), 0);
	assert_int_equal(kjoule_writer_close(w, &err), 0);
	data = read_file(path, &len);
	assert_int_equal(len, 3);
	free(data);
	assert_int_equal(kjoule_writer_open(path, &w, &err), 0);
	assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_META, 0, "{}", 2, &err), 0);
	assert_int_equal(kjoule_writer_close(w, &err), 0);
	data = read_file(path, &len);
	assert_memory_equal(data, KJOULE_FILE_MAGIC, sizeof(KJOULE_FILE_MAGIC) - 1);
	free(data);
	/* of one that stays empty nothing is left, under no name */
	assert_int_equal(mkdir(temp_path("unused"), 0700), 0);
	path = temp_path("unused/data");
	assert_int_equal(kjoule_writer_open(path, &w, &err), 0);
	assert_int_equal(kjoule_writer_close(w, &err), 0);
	assert_int_equal(rmdir(temp_path("unused")), 0);
}

TEST(crc_is_the_one_of_ieee)
{
	assert_int_equal(kjoule_crc32("123456789", 9), 0xcbf43926u);
	assert_int_equal(kjoule_crc32("", 0), 0);
}

TEST(json_chunks_go_both_ways)
{
	struct kjoule_cpu_stats stats[2] = {
		{ .cpu = 0, .due = 1, .produced = 2, .missed = 3, .parked = 4, .filtered = 5,
		  .records = 6, .consumed = 7, .lost = 8, .waiting = 9, .samples = 10,
		  .tick_ns = UINT64_MAX, .late_max_ns = 12, .source_errors = 13 }, { .cpu = 7 } };
	struct kjoule_calibration cal = { .cpu = 1, .ticks = 99, .tick_ns = 1234.5,
		.handler_ns = 1000.25, .entry_ns = 234.25, .freq_khz = 1e6,
		.other_part = 0.01, .other_error = 0.002, .other_hz = 250, .n_domains = 2,
		.irq_uw = { 2.5e6, 1e6 },
		.source = { 0, 1 }, .domain = { 1, 0 }, .loop_uw = { 1.5e6, 0.5e6 },
		.idle_uw = { 4e5, 2e5 } }, cal2;
	struct kjoule_end end = { .reason = "signal", .start_ns = 1, .stop_ns = 2,
		.exit_code = 130, .side_band_lost = 3, .side_band_anew = 5,
		.ring_damaged = 4 }, end2;
	struct kjoule_cpu_stats *stats2;
	struct kjoule_meta meta, meta2;
	char *text;
	size_t n;

	text = kjoule_stats_encode(stats, 2);
	assert_int_equal(kjoule_stats_decode(text, strlen(text), &stats2, &n), 0);
	assert_int_equal(n, 2);
	assert_memory_equal(stats, stats2, sizeof(stats));
	free(stats2);
	free(text);

	text = kjoule_calibration_encode(&cal);
	assert_int_equal(kjoule_calibration_decode(text, strlen(text), &cal2), 0);
	assert_memory_equal(&cal, &cal2, sizeof(cal));
	free(text);

	/* older files have the first source's domains, in their order */
	static const char old[] = "{\"ticks\":99,\"tick_ns\":1,\"irq_uw\":[2500000.0,null]}";
	assert_int_equal(kjoule_calibration_decode(old, strlen(old), &cal2), 0);
	assert_int_equal(cal2.n_domains, 2);
	assert_int_equal(cal2.source[1], 0);
	assert_true(isnan(cal2.idle_uw[0]));
	assert_int_equal(cal2.domain[1], 1);
	assert_true(isnan(cal2.other_error));
	assert_true(cal2.other_hz == 0);

	/* what cannot have been measured is not believed */
	cal.entry_ns = NAN;
	text = kjoule_calibration_encode(&cal);
	assert_int_equal(kjoule_calibration_decode(text, strlen(text), &cal2), -EBADMSG);
	assert_int_equal(cal2.ticks, 0);
	free(text);
	cal.entry_ns = 1;
	cal.irq_uw[1] = 1e300;
	text = kjoule_calibration_encode(&cal);
	assert_int_equal(kjoule_calibration_decode(text, strlen(text), &cal2), -EBADMSG);
	free(text);

	text = kjoule_end_encode(&end);
	assert_int_equal(kjoule_end_decode(text, strlen(text), &end2), 0);
	assert_string_equal(end2.reason, "signal");
	assert_int_equal(end2.exit_code, 130);
	assert_int_equal(end2.side_band_anew, 5);
	free(text);

	make_meta(&meta, 2, 250000, KJOULE_TARGET_PROCESS);
	meta.session.seed = UINT64_MAX;
	meta.session.sources[0].domains[1].unit_mult = 1000000;
	text = kjoule_meta_encode(&meta);
	assert_int_equal(kjoule_meta_decode(text, strlen(text), &meta2), 0);
	assert_int_equal(meta2.argc, 2);
	assert_string_equal(meta2.argv[1], "an argument");
	assert_int_equal(meta2.session.seed, UINT64_MAX);
	assert_int_equal(meta2.session.target, KJOULE_TARGET_PROCESS);
	assert_int_equal(meta2.session.n_sources, 2);
	assert_int_equal(meta2.session.sources[0].domains[1].parent, 0);
	assert_int_equal(meta2.n_places, 2);
	assert_memory_equal(&meta.session.cpus, &meta2.session.cpus, sizeof(meta.session.cpus));
	kjoule_meta_free(&meta2);
	/* cut or changed anywhere, it is refused or read as something: no crash, no leak */
	n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		char *copy = malloc(n);

		memcpy(copy, text, n);
		if (!kjoule_meta_decode(copy, i, &meta2))
			kjoule_meta_free(&meta2);
		copy[i] ^= 4;
		if (!kjoule_meta_decode(copy, n, &meta2))
			kjoule_meta_free(&meta2);
		free(copy);
	}
	free(text);
}

TEST(a_lost_chunk_leaves_a_hole_in_every_stream)
{
	struct buffer streams[2] = { { 0 } };
	struct kjoule_recording rec;
	struct kjoule_meta meta;
	struct kjoule_reader *r;
	struct kjoule_chunk c;
	struct kjoule_error err;
	size_t len, off, holes = 0;
	const struct kjoule_record *record;
	uint8_t *data;
	int rings = 0;

	make_meta(&meta, 2, 1000000, KJOULE_TARGET_SYSTEM);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		put_task(&streams[cpu], 100, 100);
		for (uint32_t k = 0; k < 1000; k++)
			put_sample(&streams[cpu], k, 0x10001000, 0, 1000, 0);
	}
	write_recording(temp_path("holes"), &meta, streams, 2, "/bin/none", 1000);
	data = read_file(temp_path("holes"), &len);
	assert_int_equal(kjoule_reader_open_memory(data, len, "x", &r, NULL), 0);
	while (kjoule_reader_next(r, &c) > 0)
		if (c.type == KJOULE_CHUNK_RING && ++rings == 3)
			break;
	off = c.offset + sizeof(struct kjoule_chunk_header) + 20;
	kjoule_reader_close(r);
	data[off] ^= 0xff;
	assert_int_equal(kjoule_recording_load_memory(data, len, "x", &rec, &err), 0);
	assert_int_equal(rec.damage.chunks, 1);
	assert_true(rec.ended);
	assert_int_equal(rec.n_streams, 2);
	off = 0;
	while (kjoule_record_next(rec.streams[0].records, rec.streams[0].len, &off, &record) > 0)
		holes += record->type == KJOULE_RECORD_LOST;
	assert_int_equal(holes, 1);
	kjoule_recording_free(&rec);
	free(data);
}

struct seen_stacks {
	uint64_t n[2];
	bool good;
};

static int see_stack(void *arg, uint32_t cpu, uint64_t number, const struct kjoule_stack *stack)
{
	struct seen_stacks *s = arg;
	const uint8_t *data = (const uint8_t *)stack + sizeof(*stack);

	s->good &= number == s->n[cpu]++ && stack->reg[16] == number * 2 + cpu &&
		   stack->bytes == 64 + 8 * (number % 100);
	for (uint32_t i = 0; i < stack->bytes; i++)
		s->good &= data[i] == (uint8_t)(number + i);
	return 0;
}

TEST(stacks_stay_in_the_file_until_they_are_asked_for)
{
	struct seen_stacks seen = { .good = true };
	struct buffer streams[2] = { { 0 } };
	struct kjoule_recording rec;
	struct kjoule_meta meta;
	struct kjoule_error err;
	size_t found = 0;

	make_meta(&meta, 2, 1000000, KJOULE_TARGET_SYSTEM);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		put_task(&streams[cpu], 100, 100);
		for (uint32_t k = 0; k < 500; k++) {
			struct {
				struct kjoule_stack head;
				uint8_t data[1024];
			} s = { .head = { .rec = { KJOULE_RECORD_STACK, 0, 0 },
					  .bytes = 64 + 8 * (k % 100), .reg[16] = k * 2 + cpu } };

			for (uint32_t i = 0; i < s.head.bytes; i++)
				s.data[i] = k + i;
			s.head.rec.size = sizeof(s.head) + s.head.bytes;
			put_sample(&streams[cpu], k, 0x10001000, 0, 1000, 0);
			put_bytes(&streams[cpu], &s, s.head.rec.size);
		}
	}
	write_recording(temp_path("stacks"), &meta, streams, 2, "/bin/none", 500);
	assert_int_equal(kjoule_recording_load(temp_path("stacks"), &rec, &err), 0);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const struct kjoule_record *record;
		uint64_t number, expected = 0;
		size_t off = 0;

		assert_int_equal(rec.streams[cpu].stacks, 500);
		/* what is in memory is small, and says which one it was */
		assert_true(rec.streams[cpu].len < 500 * 200);
		while (kjoule_record_next(rec.streams[cpu].records, rec.streams[cpu].len, &off,
					  &record) > 0) {
			if (record->type != KJOULE_RECORD_STACK)
				continue;
			assert_int_equal(record->flags, KJOULE_STACK_IN_FILE);
			memcpy(&number, (const char *)record + sizeof(struct kjoule_stack), 8);
			assert_int_equal(number, expected++);
			found++;
		}
	}
	assert_int_equal(found, 1000);
	assert_int_equal(kjoule_recording_stacks(&rec, see_stack, &seen), 0);
	assert_true(seen.good && seen.n[0] == 500 && seen.n[1] == 500);
	kjoule_recording_free(&rec);
}

/* How well a recording compresses is up to the programs in it: by more than a reader believes. */
TEST(what_compresses_too_well_is_read_all_the_same)
{
	const uint64_t keep_most = kjoule_recording_keep_most;
	static uint8_t samples[2 << 20];	/* packed, of two bytes each */
	struct buffer side = { 0 };
	struct kjoule_recording rec;
	struct kjoule_meta meta;
	struct kjoule_writer *w;
	struct kjoule_error err;
	char path[4000], *text;

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (uint32_t i = 0; side.len < 1 << 20; i++)
		put_map(&side, 100 + i, 1000000 + i, 0x10000000, 0x10000, 0, path);
	for (size_t i = 0; i < sizeof(samples); i += 2)
		samples[i] = 0x80;
	make_meta(&meta, 1, 1000000, KJOULE_TARGET_SYSTEM);
	text = kjoule_meta_encode(&meta);
	for (int kind = 0; kind < 2; kind++) {
		assert_int_equal(kjoule_writer_open(temp_path("flat"), &w, NULL), 0);
		assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_META, 0, text, strlen(text),
						     NULL), 0);
		for (int i = 0; i < 120 && !kind; i++)
			assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_SIDE_BAND, 0,
							     side.data, side.len, NULL), 0);
		for (int i = 0; i < 3 && kind; i++)
			assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_RING, 0, samples,
							     sizeof(samples), NULL), 0);
		/* the end of the file may never be written */
		assert_int_equal(kjoule_writer_close(w, NULL), 0);
		kjoule_recording_keep_most = UINT64_MAX;
		assert_int_equal(kjoule_recording_load(temp_path("flat"), &rec, &err), 0);
		kjoule_recording_keep_most = keep_most;
		assert_int_equal(rec.side_band_len, kind ? 0 : 120 * side.len);
		assert_int_equal(rec.records_len,
				 kind ? 3 * sizeof(samples) / 2 * sizeof(struct kjoule_sample) : 0);
		assert_int_equal(rec.damage.chunks + rec.unpackable, 0);
		kjoule_recording_free(&rec);
	}
	free(text);
	free(side.data);
}
